"""The structures and functions of attest.h for Python's ctypes, without anything beyond the standard library.

    import attest_ctypes as attest
    library = attest.load()
    inputs, options, results = attest.inputs(q, k, v), attest.options(causal=1, scale=0.125), attest.results(output)
    library.attention(attest.FUSED, inputs, options, results)

A test of a kernel, whose message says by how much a result is off, and where:

    attest.check_attention(q, k, v, output, causal=True, weighted_v=2)

Arrays are whatever shares memory on the CPU, with any strides: by the buffer protocol (array.array, bytearray, memoryview,
NumPy) in the formats d, f, e, b, h, i, l, q, their unsigned forms and ?; or by DLPack (PyTorch, JAX), bfloat16 and float8
too. NumPy arrays of ml_dtypes are known by the names of their dtypes. Bits of any other origin are integers with their dtype:
array_of(x, dtype=attest.BFLOAT16). Integers of 16 bits need one, as they may be either: attest.INT16 for those that count.
Anything else in memory can be described with array(). A status that is not OK is raised as Error; what cannot be meant is a
TypeError, and a number out of its field's range a ValueError.
"""
import ctypes
import math
import operator

NAIVE, STABLE, FUSED = 1, 2, 3
STATUS = ("ok", "shape", "option", "unsupported", "value", "overflow", "argument", "out of memory", "interrupted", "internal")
(BOOLEAN, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT8_E4M3FNUZ,
 FLOAT8_E5M2FNUZ, BFLOAT16, BINARY16, BINARY32, BINARY64) = range(1, 18)
TOP_LEFT, BOTTOM_RIGHT = 1, 2
EMPTY_ROW_ZERO, EMPTY_ROW_NAN, EMPTY_ROW_ERROR = 1, 2, 3
BASE_E, BASE_TWO = 1, 2
MINUS_INFINITY, PLUS_INFINITY = 1, 2
ALL_PROCESSORS = -1


class Array(ctypes.Structure):
    """attest_array and attest_result, which differ in what may be written alone."""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class Inputs(ctypes.Structure):
    _fields_ = [("q", Array), ("k", Array), ("v", Array)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("scale", ctypes.POINTER(ctypes.c_double)), ("softcap", ctypes.c_double),
                ("bias", Array), ("alibi_slopes", ctypes.POINTER(ctypes.c_double)), ("alibi_slopes_count", ctypes.c_size_t),
                ("mask", Array), ("causal", ctypes.c_int32), ("corner", ctypes.c_int32),
                ("window_left", ctypes.POINTER(ctypes.c_uint64)), ("window_right", ctypes.POINTER(ctypes.c_uint64)),
                ("past_keys", ctypes.POINTER(ctypes.c_uint64)), ("key_lengths", ctypes.POINTER(ctypes.c_uint64)),
                ("key_lengths_count", ctypes.c_size_t), ("sinks", ctypes.POINTER(ctypes.c_double)),
                ("sinks_count", ctypes.c_size_t), ("log_sum_exp_base", ctypes.c_int32),
                ("empty_log_sum_exp", ctypes.c_int32), ("empty_row", ctypes.c_int32), ("threads", ctypes.c_int32)]


class Results(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, Array) for name in (
        "output", "weights", "log_sum_exp", "output_low", "weights_low", "log_sum_exp_low", "output_certificates",
        "weights_certificates", "log_sum_exp_certificates")]


NEAREST_EVEN, TOWARD_ZERO, UP, DOWN, TO_ODD = range(5)
CERTIFIED, EXACT, UNDECIDED = range(3)
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)


class CertifiedOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("direction", ctypes.c_int32), ("saturate", ctypes.c_int32),
                ("max_bits", ctypes.c_uint32), ("without_tiers", ctypes.c_uint32), ("first_row", ctypes.c_uint64),
                ("last_row", ctypes.c_uint64), ("progress", PROGRESS), ("user", ctypes.c_void_p)]


class Certification(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("settled", ctypes.c_uint64 * 4), ("exact", ctypes.c_uint64),
                ("undecided", ctypes.c_uint64), ("most_bits", ctypes.c_uint64)]


class Tolerance(ctypes.Structure):
    _fields_ = [("absolute", ctypes.POINTER(ctypes.c_double)), ("ulp", ctypes.POINTER(ctypes.c_uint64)),
                ("weighted_v", ctypes.POINTER(ctypes.c_double)), ("weighted_v_dtype", ctypes.c_int32)]


class Candidate(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("output", Array), ("weights", Array), ("log_sum_exp", Array),
                ("output_tolerance", Tolerance), ("weights_tolerance", Tolerance), ("log_sum_exp_tolerance", Tolerance),
                ("saturate", ctypes.c_int32)]


PASSED, FAILED, EQUAL, NOT_JUDGED = range(1, 5)


class LargestError(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double), ("at", ctypes.c_uint64)]


class Comparison(ctypes.Structure):
    """attest_comparison: of an array that was not given, `judgement` is 0."""
    _fields_ = [("judgement", ctypes.c_int32), ("elements", ctypes.c_uint64), ("different", ctypes.c_uint64),
                ("failing", ctypes.c_uint64), ("absolute_error", LargestError), ("ulp_distance", LargestError),
                ("ulp_error", LargestError), ("weighted_error", LargestError)]


class CheckReport(ctypes.Structure):
    """attest_check_report; its text is what str() gives."""
    _fields_ = [("size", ctypes.c_size_t), ("passed", ctypes.c_int32), ("output", Comparison), ("weights", Comparison),
                ("log_sum_exp", Comparison)]
    text = ""

    def __str__(self):
        return self.text


class CheckFailed(AssertionError):
    """A kernel's result that is past its tolerance. Its text says by how much and where; `report` is the CheckReport."""

    def __init__(self, report):
        super().__init__(report.text)
        self.report = report


class Error(Exception):
    def __init__(self, status, message):
        super().__init__(f"{STATUS[status]}: {message}")
        self.status = status


_LETTERS = {"d": BINARY64, "f": BINARY32, "e": BINARY16, "?": BOOLEAN}


def _dtype(view):
    letter = view.format.lstrip("@=<")
    if letter in _LETTERS:
        return _LETTERS[letter]
    if len(letter) == 1 and letter in "bhilqBHILQ":
        return (INT8 if letter.islower() else UINT8) + (1, 2, 4, 8).index(view.itemsize)
    raise TypeError(f"elements of the format {view.format!r} are not known: describe the array with array()")


def array(address, dtype, shape, strides=None, keep=None):
    """An array at an address, with strides in elements. `keep` is what owns the memory."""
    numbers = ctypes.c_int64 * len(shape)
    result = Array(address, dtype, len(shape), numbers(*shape), numbers(*strides) if strides else None)
    result.keep = keep
    return result


def array_of(data, shape=None, dtype=None):
    """The array that an object offers to read or to write, with its own shape, or by rows with another of the same size.
    With a dtype its elements are the bits of that."""
    return _of_some_axes(_shared(data, shape, dtype))


def _of_some_axes(given):
    if given.rank not in (2, 3, 4):
        raise TypeError(f"an array has two, three or four axes, not {given.rank}: say its shape")
    return given


def _chosen(dtype, said):
    """The dtype that was said, or else that of the elements themselves."""
    if said is None and dtype in (INT16, UINT16):
        raise TypeError("integers of 16 bits may be numbers or the bits of bfloat16 or binary16: say which, as in "
                        "array_of(x, dtype=attest.BFLOAT16), or dtype=attest.INT16 or attest.UINT16 for numbers")
    if said is not None and said not in _BITS:
        raise TypeError(f"dtype is one of attest.BINARY64, attest.BFLOAT16, ..., not {said!r}")
    return dtype if said is None else said


def _shared(data, shape, dtype):
    """array_of() with any number of axes."""
    name = getattr(getattr(data, "dtype", None), "name", None)
    if dtype is None and name in _ML_DTYPES:
        data, dtype = data.view(f"u{data.dtype.itemsize}"), _ML_DTYPES[name]
    try:
        view = memoryview(data)
    except TypeError:
        if not hasattr(data, "__dlpack__"):
            raise
        return _from_dlpack(data, shape, dtype)
    if shape is not None:
        view = view.cast("B").cast(view.format.lstrip("@=<"), shape)
    dtype = _chosen(_dtype(view) if dtype is None else None, dtype)
    if 8 * view.itemsize != _BITS[dtype]:
        raise TypeError(f"elements of {8 * view.itemsize} bits are not those of the dtype")
    pointer = ctypes.py_object(view)
    buffer = _Buffer()
    # Any strides, and memory that may only be read.
    if ctypes.pythonapi.PyObject_GetBuffer(pointer, ctypes.byref(buffer), 0x10 | 0x8) != 0:
        raise TypeError("the object has no memory to share")
    address = buffer.buf
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    if any(step % view.itemsize for step in view.strides):
        raise TypeError("the strides are no multiples of the elements' size")
    result = array(address, dtype, view.shape,
                   [step // view.itemsize for step in view.strides], keep=(data, view))
    result.read_only = view.readonly
    return result


class _Buffer(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


# DLPack 1.0 (dlpack.h, and "Python Specification for DLPack"). Types by code and bits; those of 1.1 have codes of their own.
_CPU, _CUDA_HOST = 1, 3
_DLPACK_DTYPES = {(2, 64): BINARY64, (2, 32): BINARY32, (2, 16): BINARY16, (4, 16): BFLOAT16, (6, 8): BOOLEAN,
                  (10, 8): FLOAT8_E4M3FN, (11, 8): FLOAT8_E4M3FNUZ, (12, 8): FLOAT8_E5M2, (13, 8): FLOAT8_E5M2FNUZ,
                  (0, 8): INT8, (0, 16): INT16, (0, 32): INT32, (0, 64): INT64,
                  (1, 8): UINT8, (1, 16): UINT16, (1, 32): UINT32, (1, 64): UINT64}
_BITS = {dtype: bits for (_, bits), dtype in _DLPACK_DTYPES.items()}
_ML_DTYPES = {"bfloat16": BFLOAT16, "float8_e4m3fn": FLOAT8_E4M3FN, "float8_e5m2": FLOAT8_E5M2,
              "float8_e4m3fnuz": FLOAT8_E4M3FNUZ, "float8_e5m2fnuz": FLOAT8_E5M2FNUZ}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]


def _from_dlpack(data, shape, dtype):
    """array_of() of an object with __dlpack__. Its capsule is kept and not consumed: it frees what it holds."""
    if data.__dlpack_device__()[0] not in (_CPU, _CUDA_HOST):
        raise TypeError("the array is in the memory of a device: copy it to the host first, as .cpu() does")
    try:
        capsule = data.__dlpack__(max_version=(1, 1))
    except TypeError:  # from before versions
        capsule = data.__dlpack__()
    read_only = False
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    name = name_of(capsule)
    address = pointer_of(capsule, name)
    if name == b"dltensor_versioned":
        managed = _DLManagedTensorVersioned.from_address(address)
        if managed.major != 1:
            raise TypeError(f"DLPack {managed.major}.{managed.minor} is not known, only 1")
        read_only = bool(managed.flags & 1)
        tensor = managed.tensor
    else:
        tensor = _DLTensor.from_address(address)
    dtype = _chosen(_DLPACK_DTYPES.get((tensor.code, tensor.bits)), dtype)
    if dtype is None or tensor.lanes != 1 or tensor.bits != _BITS[dtype]:
        raise TypeError(f"elements of the DLPack type {tensor.code} with {tensor.lanes} × {tensor.bits} bits are not known"
                        if dtype is None else f"elements of {tensor.bits} bits are not those of the dtype")
    extents = [tensor.shape[axis] for axis in range(tensor.ndim)]
    by_rows = [math.prod(extents[axis + 1:]) for axis in range(tensor.ndim)]
    strides = [tensor.strides[axis] for axis in range(tensor.ndim)] if tensor.strides else by_rows
    if shape is not None:
        if math.prod(shape) != math.prod(extents) or any(n > 1 and a != b for n, a, b in zip(extents, strides, by_rows)):
            raise TypeError("another shape takes an array by rows, of the same size")
        extents, strides = list(shape), None
    result = array((tensor.data or 0) + tensor.byte_offset, dtype, extents, strides, keep=(data, capsule))
    result.read_only = read_only
    return result


def inputs(q, k, v):
    given = [x if isinstance(x, Array) else array_of(x) for x in (q, k, v)]
    result = Inputs(*given)
    result.keep = given
    return result


_CONSTANTS = {"corner": "TOP_LEFT, BOTTOM_RIGHT", "empty_row": "EMPTY_ROW_ZERO, EMPTY_ROW_NAN, EMPTY_ROW_ERROR",
              "log_sum_exp_base": "BASE_E, BASE_TWO", "empty_log_sum_exp": "MINUS_INFINITY, PLUS_INFINITY",
              "direction": "NEAREST_EVEN, TOWARD_ZERO, UP, DOWN, TO_ODD", "kernel": "NAIVE, STABLE, FUSED"}
_INTEGERS = {ctypes.c_int32: (-2**31, 2**31 - 1), ctypes.c_uint32: (0, 2**32 - 1), ctypes.c_uint64: (0, 2**64 - 1)}


def _number(name, kind, value):
    """A Python, NumPy, PyTorch or JAX scalar as the number of that kind of field."""
    if name in _CONSTANTS and not hasattr(value, "__index__"):
        constants = ", ".join("attest." + constant for constant in _CONSTANTS[name].split(", "))
        raise TypeError(f"{name} is one of {constants}, not {value!r}")
    if getattr(value, "ndim", 0) != 0 or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{name} takes numbers, each of them alone, not {value!r}")
    if kind is ctypes.c_double:
        return float(value)
    if name in ("causal", "saturate"):
        return int(bool(value))
    try:
        value = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} takes an integer, not {value!r}") from None
    least, most = _INTEGERS[kind]
    if not least <= value <= most:
        raise ValueError(f"{name} is {value}, and may be {least} to {most}" +
                         (": leave it out for no limit" if name.startswith("window") else ""))
    return value


def _structure(kind, said):
    """The structure with these fields. Numbers and lists become what its pointers point to; a list brings its count. None is
    not said."""
    result = kind(size=ctypes.sizeof(kind))
    result.keep = []
    types = dict(kind._fields_)
    for name, value in said.items():
        if name not in types:
            raise TypeError(f"{kind.__name__} has no {name!r}: there are {', '.join(n for n in types if n != 'size')}")
        if value is None:
            continue
        pointed = getattr(types[name], "_type_", None)
        if types[name] is Array:
            value = value if isinstance(value, Array) else array_of(value)
        elif hasattr(value, "contents"):
            pass
        elif name + "_count" in types:
            if not hasattr(value, "__iter__"):
                raise TypeError(f"{name} is a list of numbers, not {value!r}")
            value = [_number(name, pointed, x) for x in value]
            setattr(result, name + "_count", len(value))
            value = (pointed * len(value))(*value)
        elif pointed in (ctypes.c_double, ctypes.c_uint64):
            value = ctypes.pointer(pointed(_number(name, pointed, value)))
        elif types[name] is ctypes.c_double or types[name] in _INTEGERS:
            value = _number(name, types[name], value)
        result.keep.append(value)
        setattr(result, name, value)
    return result


def options(**said):
    """options(causal=1, scale=0.5, sinks=[1.0, 2.0], mask=array, ...): the fields of attest_options by their names."""
    return _structure(Options, said)


def certified_options(**said):
    """certified_options(direction=UP, ...): the fields of attest_certified_options by their names."""
    return _structure(CertifiedOptions, said)


def _extents(given):
    return [given.shape[axis] for axis in range(given.rank)]


def _with_last_axis(given):
    strides = [given.strides[axis] for axis in range(given.rank)] + [1] if given.strides else None
    result = array(given.data, given.dtype, _extents(given) + [1], strides, keep=given)
    result.read_only = getattr(given, "read_only", False)
    return result


def results(output, **further):
    """results(output, log_sum_exp=array, ...): the fields of attest_results by their names. A log-sum-exp, its low words and
    certificates may lack the last axis, of extent 1: [B, H, T] beside an output [B, H, T, d]."""
    output = output if isinstance(output, Array) else array_of(output)
    rows = _extents(output)[:-1]
    for name, given in further.items():
        if name.startswith("log_sum_exp") and given is not None:
            given = given if isinstance(given, Array) else _shared(given, None, None)
            further[name] = _of_some_axes(_with_last_axis(given) if _extents(given) == rows else given)
    result = _structure(Results, dict(output=output, **further))
    for array_to_write in result.keep:
        if getattr(array_to_write, "read_only", False):
            raise TypeError("a result is written to an array that may only be read")
    return result


_CHECKED = ("output", "log_sum_exp", "weights")
_TOLERANCES = ("absolute", "ulp", "weighted_v")


def _on_host(x):
    """A tensor of PyTorch on a device, or one that requires a gradient, as one that can be read."""
    return x.detach().cpu() if hasattr(x, "detach") and hasattr(x, "cpu") else x


def _tolerances(said):
    """Of each array its tolerances, by name, of {"ulp": 1, "absolute": {"log_sum_exp": 1e-5}}."""
    unnamed, named = {}, {}
    for kind, value in said.items():
        if value is None:
            continue
        if not isinstance(value, dict):
            value = {"output" if kind == "weighted_v" else None: value}
        for name, number in value.items():
            if name is not None and name not in _CHECKED:
                raise TypeError(f"{kind} names {name!r}: there are {', '.join(_CHECKED)}")
            (unnamed if name is None else named.setdefault(name, {}))[kind] = number
    return {name: named.get(name, unnamed) for name in _CHECKED}, named


def _candidate(query, arrays, said, saturate):
    """The Candidate of these arrays, each with its tolerance."""
    allowed, named = _tolerances(said)
    result = Candidate(size=ctypes.sizeof(Candidate), saturate=int(bool(saturate)))
    result.keep = []
    for name in named:
        if arrays.get(name) is None:
            raise TypeError(f"a tolerance names {name}, which is not given")
    for name, given in arrays.items():
        if given is None:
            continue
        given = given if isinstance(given, Array) else _shared(_on_host(given), None, None)
        if name == "log_sum_exp" and _extents(given) == _extents(query)[:-1]:
            given = _with_last_axis(given)
        if not allowed[name]:
            raise TypeError(f"no tolerance says how far {name} may be off: give ulp=0 for correctly rounded results, ulp=1, "
                            "weighted_v=2 or absolute=1e-3 (docs/check.md: Which tolerance), for all arrays or as "
                            f"ulp={{{name!r}: 1}}")
        tolerance = Tolerance()
        for kind, number in allowed[name].items():
            if kind == "weighted_v" and isinstance(number, tuple):
                number, tolerance.weighted_v_dtype = number
            field = dict(Tolerance._fields_)[kind]
            pointer = ctypes.pointer(field._type_(_number(kind, field._type_, number)))
            result.keep.append(pointer)
            setattr(tolerance, kind, pointer)
        setattr(result, name, _of_some_axes(given))
        setattr(result, name + "_tolerance", tolerance)
        result.keep.append(given)
    return result


class Library:
    def __init__(self, path):
        self.handle = ctypes.CDLL(path)
        self.handle.attest_last_error.restype = ctypes.c_char_p
        self.handle.attest_version.restype = ctypes.c_char_p
        self.handle.attest_last_report.restype = ctypes.c_char_p
        self.handle.attest_attention.argtypes = [ctypes.c_int32, ctypes.POINTER(Inputs), ctypes.POINTER(Options),
                                                 ctypes.POINTER(Results)]

        self.handle.attest_certified_attention.argtypes = [
            ctypes.POINTER(Inputs), ctypes.POINTER(Options), ctypes.POINTER(Results), ctypes.POINTER(CertifiedOptions),
            ctypes.POINTER(Certification)]
        self.handle.attest_check_attention.argtypes = [ctypes.POINTER(Inputs), ctypes.POINTER(Options),
                                                       ctypes.POINTER(Candidate), ctypes.POINTER(CheckReport)]

    def version(self):
        return self.handle.attest_version().decode()

    def attention(self, kernel, inputs, options, results):
        kernel = _number("kernel", ctypes.c_int32, kernel)
        self._check(self.handle.attest_attention(kernel, ctypes.byref(inputs), options and ctypes.byref(options),
                                                 ctypes.byref(results)))

    def certified_attention(self, inputs, options, results, certified=None):
        """Returns the Certification."""
        counts = Certification(size=ctypes.sizeof(Certification))
        self._check(self.handle.attest_certified_attention(
            ctypes.byref(inputs), options and ctypes.byref(options), ctypes.byref(results),
            certified and ctypes.byref(certified), ctypes.byref(counts)))
        return counts

    def check_attention(self, q, k, v, output=None, *, log_sum_exp=None, weights=None, ulp=None, weighted_v=None,
                        absolute=None, saturate=False, **said):
        """Compares what a kernel gave for q, k and v with the exact values, and raises CheckFailed where it is past its
        tolerance; otherwise returns the CheckReport. Tensors of PyTorch may be on a device and require gradients.

        ulp=1 is in numbers of the candidate's format from the correctly rounded one; weighted_v=2 of the output alone, in
        units of the weighted |V| in that format, weighted_v=(2, attest.BFLOAT16) in another; absolute=1e-3. They are for all
        arrays, or as ulp={"log_sum_exp": 4} for one, which then keeps to what names it alone. The rest are options of
        attention, causal=True, scale=0.125, ..., as options() has them."""
        inputs_ = inputs(*[x if isinstance(x, Array) else array_of(_on_host(x)) for x in (q, k, v)])
        said = {name: _on_host(value) if name in ("mask", "bias") else value for name, value in said.items()}
        said.setdefault("threads", ALL_PROCESSORS)
        options_ = options(**said)
        candidate = _candidate(inputs_.q, dict(output=output, log_sum_exp=log_sum_exp, weights=weights),
                               dict(absolute=absolute, ulp=ulp, weighted_v=weighted_v), saturate)
        report = CheckReport(size=ctypes.sizeof(CheckReport))
        self._check(self.handle.attest_check_attention(ctypes.byref(inputs_), ctypes.byref(options_), ctypes.byref(candidate),
                                                       ctypes.byref(report)))
        report.text = self.handle.attest_last_report().decode()
        if not report.passed:
            raise CheckFailed(report)
        return report

    def _check(self, status):
        if status != 0:
            raise Error(status, self.handle.attest_last_error().decode())


_loaded = None


def load(path="libattest.so.0"):
    """The library that is installed, found as the system finds shared libraries; or the one at a path, as in a build tree."""
    global _loaded
    _loaded = Library(path)
    return _loaded


def check_attention(*arrays, **said):
    """Library.check_attention of the library that was loaded last, or of the installed one."""
    return (_loaded or load()).check_attention(*arrays, **said)
