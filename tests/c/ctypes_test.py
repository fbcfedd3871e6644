"""The C interface from Python: an answer, an option, an error with its message."""
import array
import ctypes
import math
import os
import sys

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


def refused(call, what):
    try:
        call()
    except TypeError:
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

# What cannot be meant.
refused(lambda: attest.options(causall=1), "a misspelt option is taken")
refused(lambda: attest.results(output, lse=output), "a misspelt result is taken")
refused(lambda: attest.results(attest.array_of(bytes(8), (1, 1), attest.BINARY64)), "a result that may only be read is taken")


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
