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

check(library.version() == "0.1.0", library.version())
check(ctypes.sizeof(attest.Array) == 32, "an array has no gaps")
