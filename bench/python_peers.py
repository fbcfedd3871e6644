"""NumPy, and PyTorch where it is installed, beside the fused kernel called through the C interface; all in this process, one
thread each, repeats in turn. ./dev bench runs it.

    python_peers.py --library libattest.so --output FILE [--quick]

The file holds a group of results as attest_bench_arrays writes them. Every answer is checked against the certified reference
before it is timed.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import statistics
import sys
import time

for variable in [name for name in os.environ if name.startswith("OPENBLAS_")]:
    del os.environ[variable]
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy  # noqa: E402  (reads the variables above)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src" / "c"))
import attest_ctypes as attest  # noqa: E402

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

REPEATS = 9


def in_numpy(q, k, v):
    s = q @ k.T
    s *= q.dtype.type(1 / math.sqrt(q.shape[1]))
    s -= s.max(axis=1, keepdims=True)
    numpy.exp(s, out=s)
    total = s.sum(axis=1, keepdims=True)
    o = s @ v
    o /= total
    return o


def in_torch(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def methods_of(library, q, k, v):
    """Name, what to run, and where the answer is."""
    output = numpy.zeros_like(v, shape=(q.shape[0], v.shape[1]))
    inputs, results = attest.inputs(q, k, v), attest.results(output)
    yield "fused", lambda: library.attention(attest.FUSED, inputs, None, results), lambda: output
    answer = {}

    def numpy_run():
        answer["numpy"] = in_numpy(q, k, v)
    yield "NumPy", numpy_run, lambda: answer["numpy"]
    if torch:
        tensors = [torch.from_numpy(x)[None, None] for x in (q, k, v)]

        def torch_run():
            answer["torch"] = in_torch(*tensors)
        yield "PyTorch", torch_run, lambda: answer["torch"].numpy()[0, 0]


def certified(library, q, k, v):
    """The correctly rounded doubles."""
    exact = numpy.empty((q.shape[0], v.shape[1]))
    library.certified_attention(attest.inputs(q, k, v), attest.options(threads=attest.ALL_PROCESSORS),
                                attest.results(exact))
    return exact


def measure(library, dtype, length, width, shortest):
    generator = numpy.random.default_rng(length * 1000 + width)
    q, k, v = (generator.standard_normal((length, width)).astype(dtype) for _ in range(3))
    exact = certified(library, q, k, v)
    name = "binary64" if dtype == numpy.float64 else "binary32"
    unit = numpy.finfo(dtype).eps
    entries, right = [], []
    for method, run, answer in methods_of(library, q, k, v):
        entry = {"name": method}
        entries.append(entry)
        run()
        off = numpy.abs(answer().astype(numpy.float64) - exact)
        ulp = numpy.spacing(numpy.abs(exact.astype(dtype))).astype(numpy.float64)
        entry["largest_ulp_error"] = float((off / ulp).max())
        entry["correctly_rounded"] = float((answer() == exact.astype(dtype)).mean())
        # stable_bound() of docs/error-bounds.md, its small terms rounded up.
        score = float(numpy.linalg.norm(q, axis=1).max() * numpy.linalg.norm(k, axis=1).max()) / math.sqrt(width)
        bound = 1.1 * unit / 2 * float(numpy.abs(v).max()) * ((width + 2) * score + 2 * length + 2 * math.log(length) + 4)
        if not off.max() <= bound:
            entry["wrong"] = f"off by {off.max()}, which is more than {bound}"
            continue
        start = time.process_time()
        run()
        once = max(time.process_time() - start, 1e-7)
        right.append((entry, run, max(1, math.ceil(shortest / once)), []))
    for repeat in range(REPEATS):
        for i in range(len(right)):
            _, run, runs, seconds = right[(i + repeat) % len(right)]
            start = time.process_time()
            for _ in range(runs):
                run()
            seconds.append((time.process_time() - start) / runs)
    for entry, _, _, seconds in right:
        quartiles = statistics.quantiles(seconds, n=4, method="inclusive")
        entry["median"] = statistics.median(seconds)
        entry["spread"] = (quartiles[2] - quartiles[0]) / entry["median"]
        entry["seconds"] = seconds
    if not torch:
        entries.append({"name": "PyTorch", "missing": "PyTorch is not installed"})
    return {"name": f"Python, {name}, T = {length}, d = {width}", "dtype": name, "clock": "processor time",
            "methods": entries}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--library", required=True)
    options.add_argument("--output", required=True)
    options.add_argument("--quick", action="store_true")
    options = options.parse_args()
    library = attest.load(options.library)
    sizes = []
    for dtype in (numpy.float64, numpy.float32):
        for width in (64,) if options.quick else (64, 128):
            for length in (64, 512) if options.quick else (64, 512, 2048):
                sizes.append(measure(library, dtype, length, width, 0.002 if options.quick else 0.01))
    libraries = [f"Python {sys.version.split()[0]}", f"NumPy {numpy.__version__}"] + ([f"PyTorch {torch.__version__}"] if torch else [])
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump({"libraries": libraries, "sizes": sizes}, file)


if __name__ == "__main__":
    main()
