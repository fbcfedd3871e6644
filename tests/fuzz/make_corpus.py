#!/usr/bin/env python3
"""Rewrites the seeds of the fuzzers of array files with the real NumPy and safetensors: python3 make_corpus.py [CORPUS]."""
import io
import os
import struct
import sys
import zipfile

import numpy as np
import safetensors.numpy

corpus = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def seed(target, outcome, name, data):
    folder = os.path.join(corpus, target, outcome)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def npy(array, version=None, **kwargs):
    b = io.BytesIO()
    np.lib.format.write_array(b, np.asanyarray(array), version=version, **kwargs)
    return b.getvalue()


def header(text, data=b"", magic=b"\x93NUMPY\x01\x00"):
    text = text.encode() + b"\n"
    return magic + struct.pack("<H", len(text)) + text + data


a = np.arange(6, dtype=np.float32).reshape(2, 3)
for name, data in {
    "float32": npy(a),
    "big_endian": npy(a.astype(">f8")),
    "fortran": npy(np.asfortranarray(a)),
    "number": npy(np.int64(-3)),
    "empty": npy(np.zeros((3, 0), np.float16)),
    "version2": npy(a, (2, 0)),
    "version3": npy(a, (3, 0)),
    "booleans": npy(a > 2),
    "bits": npy(np.arange(4, dtype=np.uint16)),
    "bytes_without_type": npy(np.zeros(2, "V2")),
}.items():
    seed("npy", "accepted", name, data)
for name, data in {
    "objects": npy(np.array([None], dtype=object), allow_pickle=True),
    "records": npy(np.zeros(1, [("a", "<f4")])),
    "truncated": npy(a)[:-1],
    "longer": npy(a) + b"\0",
    "huge": header("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"),
    "negative": header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"),
    "twice": header("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}", bytes(8)),
    "code": header("{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': ()}"),
    "version9": npy(a).replace(b"NUMPY\x01", b"NUMPY\x09"),
}.items():
    seed("npy", "refused", name, data)


def archive(members, method=zipfile.ZIP_STORED):
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w", method) as z:
        for name, data in members:
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, method)
    return b.getvalue()


small = npy(np.float32(1))
for name, data in {
    "stored": archive([("Q.npy", npy(a)), ("K.npy", small)]),
    "deflated": archive([("Q.npy", npy(a))], zipfile.ZIP_DEFLATED),
    "folder": archive([("layers/0/q.npy", small)]),
    "other_members": archive([("Q.npy", small), ("readme.txt", b"text")]),
    "dtypes": archive([("Q.npy", npy(np.zeros(2, np.uint16))), ("attest.json", b'{"dtypes": {"Q": "bfloat16"}, "attest": {"version": "attest-v1"}}')]),
    "no_member": archive([]),
}.items():
    seed("npz", "accepted", name, data)
for name, data in {
    "climbing": archive([("../Q.npy", small)]),
    "absolute": archive([("/Q.npy", small)]),
    "no_array": archive([("Q.npy", b"none")]),
    "bzip2": archive([("Q.npy", npy(a))], zipfile.ZIP_BZIP2),
    "truncated": archive([("Q.npy", npy(a))])[:-30],
    "check_sum": archive([("Q.npy", small)]).replace(struct.pack("<f", 1), struct.pack("<f", 2)),
    "not_json": archive([("Q.npy", small), ("attest.json", b"{")]),
    "empty": b"",
    "objects": archive([("Q.npy", npy(np.array([None], dtype=object), allow_pickle=True))]),
}.items():
    seed("npz", "refused", name, data)


def tensors(text, data=b""):
    return struct.pack("<Q", len(text)) + text + data


save = safetensors.numpy.save
entry = b'"%s":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]}'
for name, data in {
    "one": save({"Q": a}),
    "many": save({"Q": a, "mask": a > 2, "n": np.array(5)}, {"made": "by safetensors"}),
    "empty": save({"Q": np.zeros((0, 3), np.float16)}),
    "bfloat16": tensors(b'{"K":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}', b"\x80\x3f\x00\xc0"),
    "float8": tensors(b'{"K":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}  ', b"\x7e\x7f"),
    "provenance": tensors(b'{"__metadata__":{"attest":"{}"}}'),
}.items():
    seed("safetensors", "accepted", name, data)
for name, data in {
    "overlap": tensors(b"{" + entry % (b"a", 0, 4) + b"," + entry % (b"b", 2, 6) + b"}", bytes(6)),
    "hole": tensors(b"{" + entry % (b"a", 0, 4) + b"," + entry % (b"b", 8, 12) + b"}", bytes(12)),
    "twice": tensors(b"{" + entry % (b"a", 0, 4) + b"," + entry % (b"a", 4, 8) + b"}", bytes(8)),
    "backwards": tensors(b"{" + entry % (b"a", 4, 0) + b"}", bytes(4)),
    "truncated": save({"Q": a})[:-1],
    "trailing": save({"Q": a}) + b"\0",
    "huge_header": struct.pack("<Q", 2**63) + b"{}",
    "huge_shape": tensors(b'{"K":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}}', bytes(4)),
    "unknown_type": tensors(b'{"K":{"dtype":"F128","shape":[],"data_offsets":[0,16]}}', bytes(16)),
}.items():
    seed("safetensors", "refused", name, data)


# The sidecar, a zero byte, and the file.
def raw(sidecar, data=b""):
    return sidecar.encode() + b"\0" + data


one = '{"arrays": [{"name": "Q", "dtype": "%s", "shape": %s%s}]}'
for name, data in {
    "float32": raw(one % ("float32", "[1]", ', "byte_order": "little"'), a[0, :1].tobytes()),
    "big_endian": raw(one % ("int16", "[2]", ', "byte_order": "big"'), b"\0\1\0\2"),
    "int4": raw(one % ("int4", "[2, 2]", ""), b"\x21\xfe"),
    "fortran": raw(one % ("uint8", "[2, 3]", ', "order": "F"'), b"abcdef"),
    "offset": raw(one % ("float8_e5m2", "[2]", ', "offset": 3'), b"head\x3c\x3d"),
    "none": raw('{"version": "attest-raw-v1", "arrays": []}'),
}.items():
    seed("raw", "accepted", name, data)
for name, data in {
    "no_sidecar": b"abc",
    "truncated": raw(one % ("uint8", "[9]", ""), b"abc"),
    "no_order": raw(one % ("float32", "[0]", "")),
    "overlap": raw('{"arrays": [{"name": "a", "dtype": "uint8", "shape": [2], "offset": 0}, {"name": "b", "dtype": "uint8", "shape": [2], "offset": 1}]}', b"abc"),
    "huge": raw(one % ("uint8", "[9223372036854775807, 9]", "")),
    "unknown_key": raw('{"arrays": [], "array": []}'),
}.items():
    seed("raw", "refused", name, data)

for name, text in {
    "all": '{"scale": 0.125, "softcap": "0x1p+5", "causal": true, "corner": "top_left", "window": {"left": 3, "right": 0}, "past_keys": 2, '
    '"key_lengths": [1, 2], "alibi_slopes": [0.5], "sinks": [0, -1], "log_sum_exp": {"base": "e", "empty": "minus_infinity"}, "empty_row": "zero"}',
    "output": '{"output_dtype": "bf16", "direction": "up", "saturate": true, "low_word": true, "weights": false, "max_bits": 4096}',
    "none": "{}",
    "window": '{"window": {}}',
    "base": '{"log_sum_exp": {"base": "two"}}',
}.items():
    seed("options", "accepted", name, text.encode())
for name, text in {
    "unknown": '{"caussal": true}',
    "third": '{"scale": "1/3"}',
    "negative": '{"past_keys": -1}',
    "list": "[]",
    "base": '{"log_sum_exp": {}}',
    "dtype": '{"output_dtype": "int8"}',
}.items():
    seed("options", "refused", name, text.encode())
