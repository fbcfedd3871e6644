"""The C interface from Python: an answer, an option, an error with its message, a check that fails; with NumPy and PyTorch where
they are."""
import array
import ctypes
import math
import operator
import os
import re
import subprocess
import sys
import tempfile

import attest_ctypes as attest

library = attest.load(os.environ["ATTEST_LIBRARY"])


def check(holds, what):
    if not holds:
        sys.exit(f"ctypes_test.py: {what}")


for letter, digits in (("d", 1e-15), ("f", 1e-6)):
    # Scores 0, ln 2, 0 of the one query: weights 1/4, 1/2, 1/4.
    q = attest.array_of(array.array(letter, [1]), (1, 1))
    k = attest.array_of(array.array(letter, [0, math.log(2), 0]), (3, 1))
    v = attest.array_of(array.array(letter, [1, 2, 6]), (3, 1))
    output = array.array(letter, [0])
    lse = array.array(letter, [0])
    inputs = attest.inputs(q, k, v)
    results = attest.results(attest.array_of(output, (1, 1)))
    library.attention(attest.STABLE, inputs, None, results)
    check(abs(output[0] - 11 / 4) < digits * 3, f"{output[0]} is not 11/4")

    options = attest.options(causal=1, corner=attest.BOTTOM_RIGHT, log_sum_exp_base=1)
    results = attest.results(attest.array_of(output, (1, 1)), log_sum_exp=attest.array_of(lse, (1, 1)))
    library.attention(attest.STABLE, inputs, options, results)
    check(abs(lse[0] - math.log(4)) < digits * 3, f"{lse[0]} is not log 4")
    options.corner = attest.TOP_LEFT
    library.attention(attest.STABLE, inputs, options, results)
    check(output[0] == 1 and lse[0] == 0, "the top left corner shows the first key alone")
    options.corner = 0
    try:
        library.attention(attest.STABLE, inputs, options, results)
        check(False, "a corner that is not said is no error")
    except attest.Error as error:
        check(attest.STATUS[error.status] == "option" and "set corner" in str(error), str(error))

# (1 + 2 w + 6) / (2 + w) with w = e^(the double below ln 2) lies 8.7e-18 above 11/4: tests/c/interface.c.
output, low = array.array("d", [0]), array.array("f", [0])
k = attest.array_of(array.array("d", [0, math.log(2), 0]), (3, 1))
inputs = attest.inputs(attest.array_of(array.array("d", [1]), (1, 1)), k, attest.array_of(array.array("d", [1, 2, 6]), (3, 1)))
results = attest.results(attest.array_of(output, (1, 1)), output_low=attest.array_of(low, (1, 1)))
counts = library.certified_attention(inputs, None, results)
check(output[0] == 2.75 and abs(low[0] - 8.6964e-18) < 1e-22, f"{output[0]} + {low[0]}")
check(sum(counts.settled) == 1 and counts.exact == counts.undecided == 0, "one element is settled")
library.certified_attention(inputs, None, results, attest.certified_options(direction=attest.UP))
check(output[0] == 2.75 + 2**-51, f"{output[0]} upward")

check(library.version() == "0.1.0", library.version())
check(ctypes.sizeof(attest.Array) == 32, "an array has no gaps")


def refused(call, what, kind=TypeError, *words):
    try:
        call()
    except kind as error:
        for word in words:
            check(word in str(error), f"{what}: {word!r} is not in {str(error)!r}")
        return
    check(False, what)


# Numbers and lists, where the structure has pointers and counts: with the scale 2, scores 0 and ln 4; a sink of score 0 as well.
q, v, output = (attest.array_of(array.array("d", x), (len(x), 1)) for x in ([1], [6, 12], [0]))
k = attest.array_of(array.array("d", [0, math.log(2)]), (2, 1))
library.attention(attest.STABLE, attest.inputs(q, k, v), attest.options(scale=2, sinks=[0.0]), attest.results(output))
check(abs(memoryview(output.keep[0])[0] - (6 + 4 * 12) / 6) < 1e-14, "a scale and a sink as numbers")

# Strides, and the bits of the bfloat16 numbers 1 and 2.
strided = attest.array_of(memoryview(array.array("d", [6, 7, 12, 7])).cast("B").cast("d", (2, 2)))
strided.shape[1] = 1  # the first column
library.attention(attest.STABLE, attest.inputs(q, k, strided), attest.options(scale=2, sinks=[0.0]), attest.results(output))
check(abs(memoryview(output.keep[0])[0] - 9) < 1e-14, "strides are those of the memory")
bits = attest.array_of(array.array("H", [0x3F80, 0x4000]), (2, 1), attest.BFLOAT16)
library.certified_attention(attest.inputs(q, attest.array_of(array.array("d", [0, 0]), (2, 1)), bits), None, attest.results(output))
check(memoryview(output.keep[0])[0] == 1.5, "the bits of bfloat16")

class Producer:
    """An array that shares its memory by DLPack alone, from dlpack.h of version 1.1: numbers in memory order."""

    def __init__(self, numbers, shape, strides=None, code=2, offset=0, device=1, flags=0, lanes=1, versioned=True, major=1):
        self.memory = numbers
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(shape))(*strides)
        self.device = device
        self.versioned = versioned
        self.freed = 0

        class Tensor(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]

        class Managed(ctypes.Structure):
            before = [("version", ctypes.c_uint32 * 2), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                      ("flags", ctypes.c_uint64)]
            after = [("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]
            _fields_ = before + [("tensor", Tensor)] if versioned else [("tensor", Tensor)] + after

        self.managed = Managed()
        if versioned:
            self.managed.version[:] = (major, 1)
            self.managed.flags = flags
        tensor = self.managed.tensor
        tensor.data = numbers.buffer_info()[0]
        tensor.device[:] = (device, 0)
        tensor.ndim, tensor.code, tensor.bits, tensor.lanes = len(shape), code, 8 * numbers.itemsize, lanes
        tensor.shape = ctypes.addressof(self.shape)
        tensor.strides = ctypes.addressof(self.strides) if strides else None
        tensor.byte_offset = offset

        def free(_):
            self.freed += 1
        self.destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(free)
        self.name = b"dltensor_versioned" if versioned else b"dltensor"

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **said):
        if said and not self.versioned:
            raise TypeError("unexpected keyword argument 'max_version'")
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), self.name, ctypes.cast(self.destructor, ctypes.c_void_p))


# What cannot be meant.
refused(lambda: attest.options(causall=1), "a misspelt option is taken")
refused(lambda: attest.results(output, lse=output), "a misspelt result is taken")
refused(lambda: attest.results(attest.array_of(memoryview(bytes(8)).cast("d"), (1, 1))), "a result that may only be read is taken",
        TypeError, "only be read")
refused(lambda: attest.array_of(bytes(8), (8, 1), attest.BINARY64), "bytes taken for as many doubles", TypeError, "8 bits")
refused(lambda: attest.array_of(array.array("d", [0]), (1, 1), "binary64"), "a name for a dtype", TypeError, "attest.BINARY64")

# The numbers of the enumerations are those of attest.h.
with open(os.path.join(os.path.dirname(__file__), "..", "..", "include", "attest.h"), encoding="utf-8") as header:
    said = dict(re.findall(r"\bATTEST_([A-Z0-9_]+) = (\d+)", header.read()))
for name in said:
    if hasattr(attest, name):
        check(getattr(attest, name) == int(said[name]), f"{name} is not {said[name]}")
named = {name: [constant.strip() for constant in constants.split(",")] for name, constants in attest._CONSTANTS.items()}
for name, constants in named.items():
    check(all(constant in said and hasattr(attest, constant) for constant in constants), f"constants of {name}")
    if name == "kernel":
        refused(lambda: library.attention("fused", inputs, None, results), "a name for a kernel", TypeError, "attest.FUSED")
    else:
        make = attest.certified_options if name == "direction" else attest.options
        refused(lambda: make(**{name: "top_left"}), f"a string for {name}", TypeError, f"{name} is one of attest.{constants[0]}")
check(attest.options(log_sum_exp_base=attest.BASE_TWO, empty_row=attest.EMPTY_ROW_NAN).empty_row == 2, "constants are kept")


class Scalar:
    """A number as NumPy, PyTorch and JAX have them: no int or float, and with no axes."""

    def __init__(self, value, axes=0):
        self.value, self.ndim = value, axes

    def __float__(self):
        return float(self.value)

    def __index__(self):
        return operator.index(self.value)

    def __bool__(self):
        return bool(self.value)


class Truth:
    """numpy.bool, which is no integer."""

    def __float__(self):
        return 1.0


check(attest.options(causal=Truth()).causal == 1, "a truth value")
given = attest.options(scale=Scalar(0.125), softcap=Scalar(2), causal=Scalar(True), corner=Scalar(2), window_left=Scalar(31),
                       sinks=[Scalar(0.5), 1], key_lengths=[Scalar(3)], past_keys=None, threads=Scalar(-1))
check((given.scale[0], given.softcap, given.causal, given.corner, given.window_left[0]) == (0.125, 2, 1, 2, 31), "scalars")
check((given.sinks[:2], given.sinks_count, given.key_lengths[0], given.threads) == ([0.5, 1], 2, 3, -1), "lists of scalars")
check(not given.past_keys and not given.window_right, "None is not said")
for said in (dict(scale=Scalar(1, 1)), dict(scale="1"), dict(softcap="1"), dict(causal="no"), dict(window_left=1.5), dict(threads=2.0),
             dict(sinks=1.0), dict(sinks="11"), dict(sinks=[[1.0]]), dict(key_lengths=[1.0])):
    refused(lambda: attest.options(**said), f"{said} is taken", TypeError, *said)
for said in (dict(window_left=-1), dict(window_right=-1), dict(past_keys=-1), dict(key_lengths=[2, -1]), dict(threads=2**31),
             dict(window_left=2**64)):
    refused(lambda: attest.options(**said), f"{said} is taken", ValueError, *said)
refused(lambda: attest.options(window_left=-1), "", ValueError, "leave it out for no limit")
refused(lambda: attest.certified_options(max_bits=-1), "a negative number of bits", ValueError, "max_bits")

# Integers of 16 bits: the bits of a float, or numbers, as is said. bfloat16 has 1 in 0x3F80 = 16256.
for letter, integer in (("h", attest.INT16), ("H", attest.UINT16)):
    shorts, output = array.array(letter, [0x3F80]), array.array("d", [0])
    one, zero = attest.array_of(array.array("d", [1]), (1, 1)), attest.array_of(array.array("d", [0]), (1, 1))
    for dtype, value in ((attest.BFLOAT16, 1), (integer, 0x3F80)):
        for x in (attest.array_of(shorts, (1, 1), dtype),
                  attest.array_of(Producer(shorts, (1, 1), code=int(letter == "H")), dtype=dtype)):
            library.certified_attention(attest.inputs(one, zero, x), None, attest.results(attest.array_of(output, (1, 1))))
            check(output[0] == value, f"{output[0]} is not {value}")
    refused(lambda: attest.array_of(shorts, (1, 1)), "16 bits of either kind", TypeError, "attest.BFLOAT16", "attest.INT16")
    refused(lambda: attest.inputs(one, zero, Producer(shorts, (1, 1), code=int(letter == "H"))), "16 bits of either kind by DLPack",
            TypeError, "attest.BFLOAT16", "attest.INT16")

# A log-sum-exp of [B, H, T] beside [B, H, T, d], with its low words and certificates: two rows whose one key has the score 0, 3.
queries = attest.array_of(array.array("d", [0, 3]), (1, 1, 2, 1))
one = attest.array_of(array.array("d", [1]), (1, 1, 1, 1))
for axes in ((1, 1, 2), (1, 1, 2, 1)):
    output, lse, lows, certificates = (array.array(letter, [7, 7]) for letter in "ddfB")
    results = attest.results(attest.array_of(output, (1, 1, 2, 1)), log_sum_exp=memoryview(lse).cast("B").cast("d", axes),
                             log_sum_exp_low=Producer(lows, axes), log_sum_exp_certificates=attest.array_of(certificates, axes))
    library.certified_attention(attest.inputs(queries, one, one), attest.options(log_sum_exp_base=attest.BASE_E), results)
    check(list(lse) == [0, 3] and list(lows) == [0, 0] and list(certificates) == [1, 1], f"log-sum-exp {list(lse)} by {axes}")
# [T] beside [T, d], every second element; and one that fits nothing.
lse = array.array("d", [7, 7, 7, 7])
lows = array.array("f", [7, 7])
results = attest.results(attest.array_of(array.array("d", [0, 0]), (2, 1)), log_sum_exp=memoryview(lse)[::2],
                         log_sum_exp_low=Producer(lows, (2,)), log_sum_exp_certificates=None)
given = attest.inputs(attest.array_of(array.array("d", [0, 3]), (2, 1)), *[attest.array_of(array.array("d", [1]), (1, 1))] * 2)
library.certified_attention(given, attest.options(log_sum_exp_base=attest.BASE_E), results)
check(list(lse) == [0, 7, 3, 7] and list(lows) == [0, 0], f"{list(lse)} by strides")
refused(lambda: attest.results(attest.array_of(array.array("d", [0, 0]), (2, 1)), log_sum_exp=lse), "a log-sum-exp of other rows")
refused(lambda: attest.results(attest.array_of(array.array("d", [0, 0]), (2, 1)), log_sum_exp=memoryview(bytes(16)).cast("d")),
        "a log-sum-exp that may only be read", TypeError, "only be read")

# The library that is installed, by the name that it has for the system's loader.
with tempfile.TemporaryDirectory() as folder:
    os.symlink(os.path.realpath(os.environ["ATTEST_LIBRARY"]), os.path.join(folder, "libattest.so.0"))
    subprocess.run([sys.executable, "-B", "-c", "import attest_ctypes; assert attest_ctypes.load().version() == '0.1.0'"],
                   check=True, env={**os.environ, "LD_LIBRARY_PATH": folder})


# Both kinds of capsule; the values 6 and 12 are the second column of two rows, from the second number on.
for versioned in (True, False):
    values = Producer(array.array("d", [0, 6, 7, 8, 12]), (2, 1), strides=(3, 1), offset=8, versioned=versioned)
    output = Producer(array.array("f", [0]), (1, 1), versioned=versioned)
    results = attest.results(output)
    given = attest.inputs(q, k, values)
    library.certified_attention(given, attest.options(scale=2), results)  # scores 0, ln 4: (6 + 4 · 12) / 5
    check(output.memory[0] == array.array("f", [10.8])[0], f"{output.memory[0]} by DLPack")
    check(values.freed == 0, "memory is given back before the call")
    del given
    check(values.freed == 1, "memory is not given back")

# The types that the buffer protocol lacks, in numbers of dlpack.h: bfloat16 1 and 2; the bytes of 1 in the float8 formats.
zeros = attest.array_of(array.array("d", [0, 0]), (2, 1))
one, output = attest.array_of(array.array("d", [0]), (1, 1)), array.array("d", [0])
for code, numbers, mean in ((4, array.array("H", [0x3F80, 0x4000]), 1.5), (10, array.array("B", [0x38, 0x40]), 1.5),
                            (11, array.array("B", [0x40, 0x48]), 1.5), (12, array.array("B", [0x3C, 0x40]), 1.5),
                            (13, array.array("B", [0x40, 0x44]), 1.5), (0, array.array("b", [-1, 4]), 1.5),
                            (1, array.array("I", [1, 2**32 - 2]), 2**31 - 0.5)):
    library.certified_attention(attest.inputs(one, zeros, Producer(numbers, (2, 1), code=code)), None,
                                attest.results(attest.array_of(output, (1, 1))))
    check(output[0] == mean, f"{output[0]} is not {mean}, of the DLPack type {code}")
mask = Producer(array.array("B", [0, 1]), (1, 2), code=6)
values = attest.array_of(array.array("d", [6, 12]), (2, 1))
library.certified_attention(attest.inputs(one, zeros, values), attest.options(mask=mask),
                            attest.results(attest.array_of(output, (1, 1))))
check(output[0] == 12, f"{output[0]} under a mask")
check(list(attest.array_of(Producer(array.array("d", [1, 2, 3, 4]), (4,)), (2, 2)).shape[:2]) == [2, 2], "another shape")
halves = attest.array_of(Producer(array.array("H", [0, 0]), (2, 1), code=1), dtype=attest.BFLOAT16)
check(halves.dtype == attest.BFLOAT16, "bits with their dtype")

two = array.array("d", [1, 2])
for producer, what in ((Producer(two, (2, 1), device=2), "memory of a device"), (Producer(two, (2, 1), code=5), "complex numbers"),
                       (Producer(two, (2, 1), lanes=2), "vectors"), (Producer(two, (2, 1), major=2), "another version"),
                       (Producer(two, (2,)), "one axis")):
    refused(lambda: attest.array_of(producer), f"{what} taken by DLPack")
refused(lambda: attest.array_of(Producer(two, (2, 1)), dtype=attest.BINARY32), "doubles taken for floats")
refused(lambda: attest.array_of(Producer(two, (1, 2), strides=(2, -1)), (2, 1)), "another shape of an array that is not by rows")
refused(lambda: attest.results(Producer(two, (1, 1), flags=1)), "a result that may only be read, by DLPack")


class Named:
    """What a NumPy array of ml_dtypes shows: no buffer, a dtype with a name, and its bits as integers."""

    class dtype:
        name, itemsize = "bfloat16", 2

    def view(self, kind):
        check(kind == "u2", kind)
        return memoryview(array.array("H", [0x3F80, 0x4000])).cast("B").cast("H", (2, 1))


library.certified_attention(attest.inputs(one, zeros, Named()), None, attest.results(attest.array_of(output, (1, 1))))
check(output[0] == 1.5, f"{output[0]}: bfloat16 by its name")


# A test of a kernel. Two keys of equal scores: outputs (1 - 1) / 2 = 0 and (3 + 1) / 2 = 2, weighted |V| 1 and 2, log-sum-exp ln 2.
def grid(letter, rows):
    numbers = array.array(letter, [x for row in rows for x in row])
    return memoryview(numbers).cast("B").cast(letter, (len(rows), len(rows[0])))


def fails(call, what, *words):
    try:
        call()
    except attest.CheckFailed as error:
        check(isinstance(error, AssertionError) and all(word in str(error) for word in words), f"{what}: {error}")
        return error.report
    sys.exit(f"ctypes_test.py: {what} passes")


case = grid("f", [[0]]), grid("f", [[0], [0]]), grid("f", [[1, 3], [-1, 1]])
report = attest.check_attention(*case, grid("f", [[0, 2]]), ulp=0)
check(report.passed == 1 and report.output.judgement == attest.PASSED and report.output.elements == 2, "a right answer")
check(str(report) == "output [1, 2] in binary32: passed, all 2 elements are equal", str(report))
wrong = grid("f", [[2**-7, 2]])
report = fails(lambda: attest.check_attention(*case, wrong, ulp=1), "an error of 2^-7",
               "output [1, 2] in binary32: failed, 1 of 2 elements differs, at [0, 0]\n", "\n  past ulp 1: 1, at [0, 0]\n",
               "candidate  0.0078125\n", "reference  0.0")
check((report.output.failing, report.output.absolute_error.value, report.output.absolute_error.at) == (1, 2**-7, 0), "where")
check(attest.check_attention(*case, wrong, weighted_v=(2, attest.BFLOAT16)).output.weighted_error.value == 2, "2 units")
fails(lambda: attest.check_attention(*case, wrong, weighted_v=(1.99, attest.BFLOAT16)), "1.99 units",
      "\n  past weighted_v 1.99 of bfloat16: 1, at [0, 0]\n")
fails(lambda: attest.check_attention(*case, wrong, weighted_v=2), "2 units of float")
attest.check_attention(*case, wrong, absolute=2**-7)
fails(lambda: attest.check_attention(*case, wrong, absolute=0.007), "0.007", "past absolute 0.007")

# All three arrays, a tolerance for each: what one names holds for that alone.
weights = grid("f", [[0.5, 0.5]])
said = dict(log_sum_exp=array.array("f", [0.6931]), weights=weights, log_sum_exp_base=attest.BASE_E)
report = attest.check_attention(*case, wrong, weighted_v=(2, attest.BFLOAT16), ulp=0, absolute={"log_sum_exp": 1e-4}, **said)
check(len(str(report).splitlines()) >= 3 and report.weights.judgement == report.log_sum_exp.judgement == attest.PASSED, str(report))
fails(lambda: attest.check_attention(*case, wrong, weighted_v=(2, attest.BFLOAT16), ulp=0, **said), "no tolerance for the sums",
      "log_sum_exp [1] in binary32: failed")
fails(lambda: attest.check_attention(*case, wrong, ulp={"output": 0, "weights": 0, "log_sum_exp": 2**20}, **said), "the output alone",
      "output [1, 2] in binary32: failed", "log_sum_exp [1] in binary32: passed", "weights [1, 2] in binary32: passed")
refused(lambda: attest.check_attention(*case, wrong), "no tolerance", TypeError, "no tolerance says how far output may be off", "ulp=0")
refused(lambda: attest.check_attention(*case, wrong, ulp={"out": 1}), "a misspelt array", TypeError, "'out'", "log_sum_exp")
refused(lambda: attest.check_attention(*case, wrong, ulp={"weights": 1}), "an array that is not there", TypeError, "weights")
refused(lambda: attest.check_attention(*case, wrong, ulp=1.5), "half an ulp", TypeError, "ulp takes an integer")
refused(lambda: attest.check_attention(*case, wrong, ulp=-1), "a negative number", ValueError, "ulp is -1")
refused(lambda: attest.check_attention(*case, wrong, ulp=1, causall=True), "a misspelt option", TypeError, "causall")
refused(lambda: attest.check_attention(*case, wrong, absolute=-1.0), "a negative tolerance", attest.Error, "not negative")
refused(lambda: attest.check_attention(*case, wrong, weighted_v=(1, attest.INT8)), "units of integers", attest.Error, "int8")
refused(lambda: attest.check_attention(*case, ulp=1), "nothing to check", attest.Error, "there is no candidate")

# What explains a failure: the first key instead of all three.
three = grid("d", [[0]]), grid("d", [[0], [0], [0]]), grid("d", [[1], [2], [6]])
fails(lambda: attest.check_attention(*three, grid("d", [[1]]), ulp=4, causal=True, corner=attest.BOTTOM_RIGHT), "the other corner",
      "\n  fits if: causal corner top_left instead of bottom_right")
attest.check_attention(*three, grid("d", [[1]]), ulp=0, causal=True, corner=attest.TOP_LEFT)
# What overflows float8_e4m3fn, whose largest number 448 is 0x7e.
huge = grid("f", [[0]]), grid("f", [[0]]), grid("f", [[1000]])
largest = attest.array_of(array.array("B", [0x7E]), (1, 1), attest.FLOAT8_E4M3FN)
attest.check_attention(*huge, largest, ulp=0, saturate=True)
fails(lambda: attest.check_attention(*huge, largest, ulp=0), "without saturate", "NaN in one of the two alone")


class Tensor(Producer):
    """A tensor on a device that requires a gradient: it is read once it is detached and copied."""

    def detach(self):
        return self

    def cpu(self):
        self.device = 1
        return self


attest.check_attention(*case[:2], Tensor(array.array("f", [1, 3, -1, 1]), (2, 2), device=2), Tensor(array.array("f", [0, 2]), (1, 2), device=2),
                       mask=Tensor(array.array("B", [1, 1]), (1, 2), code=6, device=2), ulp=0)

# NumPy and PyTorch themselves, where this Python has them.
try:
    import numpy
except ImportError:
    numpy = None
if numpy is not None:
    numbers = numpy.random.default_rng(0)
    q, k, v = (numbers.standard_normal((1, 2, 8, 4)).astype(numpy.float32) for _ in range(3))
    scores = q @ k.transpose(0, 1, 3, 2) / 2
    weights = numpy.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    attest.check_attention(q, k, v, weights @ v, weights=weights, weighted_v=16, ulp={"weights": 64})
    fails(lambda: attest.check_attention(q, k, v, weights @ v, causal=True, weighted_v=16), "a kernel that is not causal",
          "\n  fits if: not causal instead of causal")
    fails(lambda: attest.check_attention(q, k, v, (weights @ v).swapaxes(1, 2), weighted_v=16), "another layout",
          "the candidate's elements fit in the order [B, T, H, d]")
    attest.check_attention(*(x.swapaxes(1, 2).copy().swapaxes(1, 2) for x in (q, k, v)), weights @ v, weighted_v=numpy.float64(16))
try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 8, 4, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    attest.check_attention(q, k, v, output, causal=True, weighted_v=4)
    rounded = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True).to(torch.bfloat16)
    attest.check_attention(q, k, v, rounded, causal=True, ulp=1)
    fails(lambda: attest.check_attention(q, k, v, output, causal=True, scale=1.0, weighted_v=4), "another scale",
          "in bfloat16: failed", "fits if: scale")
    mask = torch.ones(1, 1, 8, 8, dtype=torch.bool).tril()
    attest.check_attention(q, k, v, output, mask=mask, weighted_v=4)
