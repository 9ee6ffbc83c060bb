#!/usr/bin/env python3
"""Writes find-the-nan.onnx, find-the-nan.npy and find-the-nan.sonde into the folder of this script.

A small encoder: two blocks that normalise by a module `norm` each, and a head that gives probabilities. The second
block's norm computes the variance as E[x^2] - E[x]^2, but divides the sum for E[x] by N - 1 in place of N. Where the
values of a row lie close together this variance is negative, and its logarithm is NaN. Needs Python 3 alone; the same
bytes each time.
"""
import array
import hashlib
import json
import pathlib
import struct

N = 8  # features
HERE = pathlib.Path(__file__).resolve().parent


# --- the parts of onnx.proto that are needed -------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while True:
        out.append((value & 0x7F) | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def number(tag, value):
    return varint(tag << 3) + varint(value)


def text(tag, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(tag << 3 | 2) + varint(len(data)) + data


def tensor(name, dims, values, code):
    dtype = {"f": 1, "q": 7}[code]
    return b"".join(number(1, dim) for dim in dims) + number(2, dtype) + text(8, name) + text(
        9, struct.pack(f"<{len(values)}{code}", *values))


def value_info(name, dims):
    shape = b"".join(text(1, number(1, dim)) for dim in dims)
    return text(1, name) + text(2, text(1, number(1, 1) + text(2, shape)))


def ints(name, values):
    return text(1, name) + b"".join(number(8, value) for value in values) + number(20, 7)


def integer(name, value):
    return text(1, name) + number(3, value) + number(20, 2)


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.paths = [], [], {}

    def weight(self, name, dims, values, code="f"):
        self.weights.append(tensor(name, dims, values, code))
        return name

    def add(self, path, op, inputs, output, *attributes):
        count = self.paths.setdefault((path, op), 0)
        self.paths[path, op] += 1
        name = f"/{path}/{op}_{count}" if count else f"/{path}/{op}"
        self.nodes.append(b"".join(text(1, one) for one in inputs) + text(2, output) + text(3, name) + text(4, op) +
                          b"".join(text(5, one) for one in attributes))
        return output

    def bytes(self, inputs, outputs):
        graph = b"".join(text(1, node) for node in self.nodes) + text(2, "find_the_nan") + b"".join(
            text(5, weight) for weight in self.weights)
        graph += b"".join(text(11, one) for one in inputs) + b"".join(text(12, one) for one in outputs)
        return number(1, 8) + text(2, "sonde-demo") + text(7, graph) + text(8, text(1, "") + number(2, 17))


# --- the model -------------------------------------------------------------------------------------------------------

class Numbers:
    """Repeatable weights: a linear congruential generator, -1 to 1."""

    def __init__(self, seed):
        self.state = seed

    def take(self, count, scale):
        out = []
        for _ in range(count):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            out.append(((self.state >> 40) / (1 << 23) - 1) * scale)
        return out


def linear(graph, numbers, path, x, prefix, outputs=N, scale=0.3, bias=0.2):
    weight = graph.weight(path.replace("/", ".") + ".weight", [N, outputs], numbers.take(N * outputs, scale))
    offset = graph.weight(path.replace("/", ".") + ".bias", [outputs], [bias] * outputs)
    y = graph.add(path, "MatMul", [x, weight], prefix + "_matmul")
    return graph.add(path, "Add", [y, offset], prefix)


def right_norm(graph, path, x, prefix):
    """(x - mean) / sqrt(var + eps), with the mean of squares of what is centred."""
    axes = ints("axes", [1])
    mean = graph.add(path, "ReduceMean", [x], prefix + "_mean", axes)
    centred = graph.add(path, "Sub", [x, mean], prefix + "_centred")
    square = graph.add(path, "Mul", [centred, centred], prefix + "_square")
    var = graph.add(path, "ReduceMean", [square], prefix + "_var", axes)
    eps = graph.weight(path.replace("/", ".") + ".eps", [], [1e-5])
    safe = graph.add(path, "Add", [var, eps], prefix + "_safe")
    std = graph.add(path, "Sqrt", [safe], prefix + "_std")
    return graph.add(path, "Div", [centred, std], prefix + "_out")


def wrong_norm(graph, path, x, prefix):
    """The same by E[x^2] - E[x]^2 and exp(-log(var) / 2); but E[x] is the sum by N - 1."""
    name = path.replace("/", ".")
    square = graph.add(path, "Mul", [x, x], prefix + "_square")
    square_mean = graph.add(path, "ReduceMean", [square], prefix + "_square_mean", ints("axes", [1]))
    axis = graph.weight(name + ".axis", [1], [1], "q")
    total = graph.add(path, "ReduceSum", [x, axis], prefix + "_sum", integer("keepdims", 1))
    count = graph.weight(name + ".count", [], [float(N - 1)])
    mean = graph.add(path, "Div", [total, count], prefix + "_mean")
    mean_square = graph.add(path, "Mul", [mean, mean], prefix + "_mean_square")
    var = graph.add(path, "Sub", [square_mean, mean_square], prefix + "_var")
    log_var = graph.add(path, "Log", [var], prefix + "_log_var")
    half = graph.weight(name + ".half", [], [-0.5])
    exponent = graph.add(path, "Mul", [log_var, half], prefix + "_exponent")
    scale = graph.add(path, "Exp", [exponent], prefix + "_scale")
    centred = graph.add(path, "Sub", [x, mean], prefix + "_centred")
    return graph.add(path, "Mul", [centred, scale], prefix + "_out")


def model():
    graph, numbers = Graph(), Numbers(7)
    x = linear(graph, numbers, "stem", "x", "stem")
    x = graph.add("stem", "Relu", [x], "stem_out")
    x = right_norm(graph, "encoder/block1/norm", x, "norm1")
    x = linear(graph, numbers, "encoder/block1/fc", x, "fc1", scale=0.5, bias=0.6)
    x = graph.add("encoder/block1", "Relu", [x], "block1_out")
    x = wrong_norm(graph, "encoder/block2/norm", x, "norm2")
    x = linear(graph, numbers, "encoder/block2/fc", x, "fc2", scale=0.5)
    x = graph.add("encoder/block2", "Relu", [x], "block2_out")
    x = linear(graph, numbers, "head", x, "logits", 3)
    graph.add("head", "Softmax", [x], "probabilities", integer("axis", 1))
    return graph.bytes([value_info("x", [4, N])], [value_info("probabilities", [4, 3])])


def batch():
    """Four rows of readings; all of them are ordinary numbers."""
    numbers = Numbers(INPUT_SEED)
    return [value for _ in range(4) for value in numbers.take(N, 1.0)]


INPUT_SEED = 3


def npy(dims, values):
    head = repr({"descr": "<f4", "fortran_order": False, "shape": tuple(dims)}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + array.array("f", values).tobytes()


def main():
    data = model()
    (HERE / "find-the-nan.onnx").write_bytes(data)
    (HERE / "find-the-nan.npy").write_bytes(npy([4, N], batch()))
    session = {
        "format": "sonde-session",
        "version": 1,
        "model": {"path": "find-the-nan.onnx", "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data),
                  "format": "ONNX"},
        "inputs": [{"name": "x", "source": "find-the-nan.npy"}],
        "breakpoints": [{"at": "nan", "enabled": True}],
    }
    (HERE / "find-the-nan.sonde").write_text(json.dumps(session, indent=2) + "\n")


if __name__ == "__main__":
    main()
