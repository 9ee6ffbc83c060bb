#!/usr/bin/env python3
"""Writes cases.jsonl: calls of com.microsoft's operators with small inputs, and what ONNX Runtime 1.30 gives for them.

    npm install --ignore-scripts onnxruntime-node@1.30        (in some folder, say /tmp/ort)
    ORT_NODE=/tmp/ort /usr/bin/python3 generate.py            (Debian 12: python3-onnx, nodejs)

One call a line: {"op", "domain", "version", "attrs", "in", "out", "tol"}. Tensors are {"t": dtype, "s": shape, "v": numbers},
an input that is left out is null, so is an output that nobody reads; attributes are {"i": 1}, {"f": 0.5}, {"s": "x"},
{"is": []}, {"fs": []}. "tol" is relative and absolute at once; 0 means equal. "from" says where values come from if not
from ONNX Runtime (operators of which it has no kernel for CPUs): a formula written here with numpy.
The cases are in cases_*.py beside this file.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CODES = {"f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "bool": 9, "f16": 10, "f64": 11, "u32": 12, "u64": 13, "u4": 21, "i4": 22}
NUMPY = {np.dtype(t): n for t, n in ((np.float32, "f32"), (np.float64, "f64"), (np.float16, "f16"), (np.uint8, "u8"), (np.int8, "i8"), (np.uint16, "u16"),
                                     (np.int16, "i16"), (np.int32, "i32"), (np.int64, "i64"), (np.uint32, "u32"), (np.uint64, "u64"), (np.bool_, "bool"))}
cases = []


class Packed:
    """A tensor of 4-bit integers, which numpy lacks; always given as a constant."""

    def __init__(self, values, dtype):
        self.values, self.dtype = np.asarray(values, np.int64), dtype
        self.shape = self.values.shape


class Const:
    """An input that must be a constant of the model."""

    def __init__(self, value):
        self.value = value


def normals(rng):
    """f(*shape): normally distributed numbers with three digits behind the point."""
    def f(*shape, scale=1.0, dtype=np.float32):
        return np.round(rng.normal(0, scale, shape), 3).astype(dtype)
    return f


def i32(*values):
    return np.asarray(values, np.int32)


def i64(*values):
    return np.asarray(values, np.int64)


def dtype_of(x):
    return x.dtype if isinstance(x, Packed) else NUMPY[x.dtype]


def number(v, dtype):
    if dtype not in ("f32", "f64", "f16"):
        return int(v)
    v = float(v)
    if math.isnan(v) or math.isinf(v):
        return "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
    text = "%.7g" % v if dtype != "f64" else "%.15g" % v
    return int(float(text)) if float(text).is_integer() and abs(float(text)) < 1e6 else float(text)


def encode(x):
    if x is None:
        return None
    values = x.values if isinstance(x, Packed) else x
    dtype = dtype_of(x)
    return {"t": dtype, "s": list(x.shape), "v": [number(v, dtype) for v in values.flatten()]}


def encode_attribute(v):
    if isinstance(v, str):
        return {"s": v}
    if isinstance(v, (bool, int)):
        return {"i": int(v)}
    if isinstance(v, float):
        return {"f": v}
    return {"fs": list(v)} if any(isinstance(x, float) for x in v) else {"is": list(v)}


def initializer(name, x):
    if not isinstance(x, Packed):
        return numpy_helper.from_array(x, name)
    tensor = TensorProto(name=name, data_type=CODES[x.dtype], dims=list(x.shape))
    nibbles = [int(v) & 15 for v in x.values.flatten()] + [0] * (x.values.size % 2)
    tensor.raw_data = bytes(nibbles[i] | nibbles[i + 1] << 4 for i in range(0, len(nibbles), 2))
    return tensor


def case(op, inputs, attrs=None, outputs=1, domain="com.microsoft", version=1, opset=17, tol=None, expected=None, cast_output=None, run_as=None, types=None):
    """outputs: how many, or a list that says of each whether it is wanted. cast_output: the dtype of output 0, which
    Node cannot read: a Cast to int8 is put behind it. run_as: other inputs that mean the same, for forms that ONNX Runtime
    has for graphics cards only. types: dtypes of outputs by number, where ONNX Runtime cannot infer them."""
    wanted = [True] * outputs if isinstance(outputs, int) else outputs
    plain = [x.value if isinstance(x, Const) else x for x in inputs]
    if tol is None:
        kinds = {dtype_of(x) for x in plain if x is not None}
        tol = 4e-3 if "f16" in kinds else 2e-5
    cases.append({"op": op, "domain": domain, "version": version, "opset": opset, "attrs": attrs or {}, "inputs": inputs, "plain": plain, "wanted": wanted,
                  "tol": tol, "expected": expected, "cast": cast_output,
                  "given": run_as or inputs, "types": types or {}})


def result_info(c, i, name):
    return helper.make_tensor_value_info(name, CODES[c["types"][i]], None) if i in c["types"] else onnx.ValueInfoProto(name=name)


def write_model(c, folder, index):
    plain = [x.value if isinstance(x, Const) else x for x in c["given"]]
    names = ["x%d" % i if x is not None else "" for i, x in enumerate(plain)]
    while names and not names[-1]:
        names.pop()
    outputs = ["y%d" % i if w else "" for i, w in enumerate(c["wanted"])]
    nodes = [helper.make_node(c["op"], names, outputs, domain=c["domain"], **c["attrs"])]
    results = list(outputs)
    if c["cast"]:
        nodes.append(helper.make_node("Cast", ["y0"], ["z0"], to=CODES["i8"]))
        results[0] = "z0"
    infos, constants, feeds = [], [], {}
    for name, given, x in zip(names, c["given"], plain):
        if not name:
            continue
        if isinstance(x, Packed) or isinstance(given, Const):
            constants.append(initializer(name, x))
            continue
        infos.append(helper.make_tensor_value_info(name, CODES[dtype_of(x)], list(x.shape)))
        tensor = encode(x)
        if tensor["t"] == "f16":
            tensor["v"] = [int(v) for v in x.flatten().view(np.uint16)]
        feeds[name] = tensor
    graph = helper.make_graph(nodes, "g", infos, [result_info(c, i, r) for i, r in enumerate(results) if r], constants)
    opsets = [helper.make_opsetid("", c["opset"])] + ([helper.make_opsetid(c["domain"], c["version"])] if c["domain"] else [])
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8 if c["opset"] < 21 else 10
    path = os.path.join(folder, "%d.onnx" % index)
    onnx.save(model, path)
    return {"op": c["op"], "model": path, "inputs": feeds, "outputs": [r for r in results if r]}


def expected_values(c, result):
    given = iter(result["out"])
    values = []
    for i, wanted in enumerate(c["wanted"]):
        if not wanted:
            values.append(None)
            continue
        tensor = next(given)
        if tensor["t"] == "f16":
            tensor["v"] = np.asarray(tensor["v"], np.uint16).view(np.float16).tolist()
        if i == 0 and c["cast"]:
            tensor["t"] = c["cast"]
        tensor["v"] = [v if isinstance(v, str) else number(v, tensor["t"]) for v in tensor["v"]]
        values.append(tensor)
    return values


def line(c, out):
    record = {"op": c["op"], "domain": c["domain"], "version": c["version"] if c["domain"] else c["opset"], "attrs": {k: encode_attribute(v) for k, v in c["attrs"].items()},
              "in": [encode(x) for x in c["plain"]], "out": out, "tol": c["tol"]}
    if c["expected"] is not None:
        record["from"] = "formula"
    return json.dumps(record, separators=(",", ":"))


def run_all(jobs, folder, script):
    """One result a job. Some models end ONNX Runtime's process; the rest is run by another."""
    json.dump(jobs, open(os.path.join(folder, "jobs.json"), "w"))
    path = os.path.join(folder, "results.jsonl")
    open(path, "w").close()
    while True:
        done = sum(1 for _ in open(path))
        if done == len(jobs):
            return [json.loads(text) for text in open(path)]
        if subprocess.run(["node", script, os.path.join(folder, "jobs.json"), path, str(done)], stderr=subprocess.DEVNULL).returncode != 0:
            with open(path, "a") as file:
                file.write('{"error": "ONNX Runtime crashed"}\n')


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    sys.modules["generate"] = sys.modules["__main__"]
    for name in sorted(os.listdir(here)):
        if name.startswith("cases_") and name.endswith(".py"):
            __import__(name[:-3])
    lines, failed = [], []
    with tempfile.TemporaryDirectory() as folder:
        asked = [i for i, c in enumerate(cases) if c["expected"] is None]
        jobs = [write_model(cases[i], folder, i) for i in asked]
        results = dict(zip(asked, run_all(jobs, folder, os.path.join(here, "run.js"))))
    for i, c in enumerate(cases):
        if c["expected"] is not None:
            lines.append(line(c, [encode(x) for x in c["expected"]]))
        elif "error" in results[i]:
            failed.append("%d %s: %s" % (i, c["op"], results[i]["error"][:300]))
        else:
            lines.append(line(c, expected_values(c, results[i])))
    with open(os.path.join(here, "cases.jsonl"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("%d cases written" % len(lines))
    for text in failed:
        print("FAILED", text)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
