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
