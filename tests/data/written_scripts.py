"""Writes written_scripts.jsonl: TorchScript code of small models with two cases of inputs each, and what PyTorch gives
for both. The test writes an ONNX file from the first case and asks it for both.

python3 written_scripts.py written_scripts.jsonl (torch 1.13; a newer one is fine)"""

import json
import math
import re
import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CASES = []
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.int64: "i64", torch.int32: "i32",
         torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool"}


def case(*inputs, other=None, notes=0, traced=False):
    """Of a function that is scripted or traced: its inputs, those of the second case, how many notes the export makes."""

    def add(model):
        CASES.append((model, inputs, other or inputs, notes, traced))
        return model

    return add


def f(*values):
    return torch.tensor(values, dtype=torch.float32)


def i(*values):
    return torch.tensor(values, dtype=torch.int64)


X, Y = f([0.5, -1.25, 2.0], [1.5, 0.75, -0.5]), f([3.0, 0.25, 1.0], [-2.5, 0.125, 4.0])


# ---- loops in loops, branches in loops

@case(X, i(3), other=(Y, i(4)))
def loop_in_loop(x: Tensor, k: Tensor):
    y = x
    for a in range(int(k)):
        for b in range(a):
            y = y + x * float(b + 1)
    return y


@case(X, i(3), other=(Y, i(3)), notes=1)
def shapes_in_a_loop(x: Tensor, k: Tensor):
    y = x
    for a in range(int(k)):
        z = x
        if a % 2 == 0:
            z = x[:, :1]
        y = y + z
    return y


@case(X, i(3), other=(Y, i(3)), notes=1)
def growth_in_a_loop(x: Tensor, k: Tensor):
    y = x.sum()
    for a in range(int(k)):
        z = x
        for b in range(a):
            z = torch.cat([z, x], 0)
        y = y + z.sum()
    return y


# ---- values that depend on the data

@case(X, other=(Y,))
def full_like(x: Tensor):
    return torch.full_like(x, float(x.max())) + x


@case(X, other=(Y,))
def new_full(x: Tensor):
    return x.new_full((2,), float(x.sum()))


@case(X, i(3), other=(Y, i(2)))
def full_like_in_a_loop(x: Tensor, k: Tensor):
    for a in range(int(k)):
        x = x + torch.full_like(x, float(a))
    return x


@case(X, i(2), other=(Y, i(3)))
def reshape_by_number(x: Tensor, k: Tensor):
    return torch.zeros([int(k), 1]) + x.view(int(k), -1)


# ---- whole numbers beyond 2^53

@case(i(0, 1, 2))
def clamp_to_largest(x: Tensor):
    return x.clamp(max=9223372036854775807)


@case(i(0, 1, 2), torch.tensor([True, False, True]))
def largest_under_mask(x: Tensor, m: Tensor):
    return x.masked_fill(m, 9223372036854775807)


@case(i(0, 1, 2))
def add_beyond_doubles(x: Tensor):
    return x + 9007199254740993, x * 6364136223846793005


@case(i(0, 1, 2))
def number_beyond_doubles(x: Tensor):
    return x + 1, 9007199254740993


# ---- sizes that depend on the data

@case(X, other=(Y,))
def mean_under_mask(x: Tensor):
    y = x[x > 0]
    return y.sum() / y.numel()


@case(X, other=(Y,))
def deviation_under_mask(x: Tensor):
    return x[x > 0].std(), x[x > 0].var(0)


@case(X, other=(Y.abs(),))
def order_under_mask(x: Tensor):
    return x[x > 0].sort()[0], x[x > 0].argsort(descending=True)


@case(X, other=(Y.abs(),))
def median_under_mask(x: Tensor):
    return x[x > 0].median()


@case(X, torch.tensor([True, False]), other=(Y, torch.tensor([True, True])))
def sizes_under_mask(x: Tensor, m: Tensor):
    y = x[m]
    return y.reshape(-1), y.view(y.size(0), -1, 1), y.unsqueeze(0), torch.zeros_like(y) + 1, y.flatten(), len(y)


@case(X, torch.tensor([True, False]), other=(Y, torch.tensor([True, True])))
def parts_under_mask(x: Tensor, m: Tensor):
    y = x[m]
    return y.t(), y.transpose(0, 1).sum(1), y.narrow(1, 1, 2), y.unbind(1)[0], y.chunk(2, 1)[1]


@case(i(0, 2, 1), other=(i(0, 4, 1),))
def one_hot(k: Tensor):
    return F.one_hot(k), F.one_hot(k, 6)


@case(X, i(3), other=(Y, i(2)))
def parts_by_number(x: Tensor, k: Tensor):
    n = int(k)
    return x[:, :n], x[:, n - 2], x[:, -n:].sum()


@case(X, torch.tensor([True, False]), other=(Y, torch.tensor([True, True])))
def ends_under_mask(x: Tensor, m: Tensor):
    y = x[m]
    return y[:, 1:], y[-1], y[:2, 0], y[-1:], y[:, None, 1]


@case(torch.arange(24, dtype=torch.float32).reshape(2, 3, 4))
def parts(x: Tensor):
    a, b = x.chunk(2, 2)
    c, d = x.split([1, 2], 1)
    return (x[:, 1:], x[0], x[:, -1, ::2], x.transpose(0, 2), x.permute(1, 2, 0), x[1:1], x[:, :, -3:-1], a, b, c, d,
            x.unbind(1)[2], x.narrow(2, 1, 2), x[0].t(), x[-5:9])


# ---- comparisons: torch's common dtype

@case(torch.tensor([True, False, True]), torch.tensor([5, 0, 1], dtype=torch.int8))
def compare_with_int8(m: Tensor, k: Tensor):
    return m == k, (k > 0) == 2, (k > 0) > 0, (k > 0) < 1


@case(torch.tensor([200, 1, 44], dtype=torch.uint8), torch.tensor([-1, 0, 2], dtype=torch.int8), torch.tensor(300))
def compare_signs(a: Tensor, b: Tensor, c: Tensor):
    return a > b, a == c


@case(f(0.1, 0.2), torch.tensor(0.1, dtype=torch.float64))
def compare_with_one_double(x: Tensor, y: Tensor):
    return x == y, x != y


@case(f(-1, -1), other=(f(0, 0),))
def compare_numbers(x: Tensor):
    if 0.5 > int(x.sum()):
        y = x + 1
    else:
        y = x - 1
    return y


# ---- single operators

@case(f([0.5, -1.0, 2.0]), f([1.0, 2.0, 3.0], [0.25, -1.0, 0.5]))
def cosine_of_broadcast(a: Tensor, b: Tensor):
    return F.cosine_similarity(a, b, dim=0), F.cosine_similarity(a[0], b, dim=-1)


@case(torch.arange(9, dtype=torch.float32).reshape(3, 3))
def product_along_an_axis(x: Tensor):
    return torch.linalg.vecdot(x, x + 1, dim=0), torch.linalg.vecdot(x, x + 1)


@case(torch.arange(27, dtype=torch.float32).reshape(3, 3, 3), torch.arange(8, dtype=torch.float32).reshape(4, 2))
def filled_diagonals(x: Tensor, y: Tensor):
    return x.clone().fill_diagonal_(7.), y.clone().fill_diagonal_(-1.)


@case(X, torch.tensor(1), other=(Y, torch.tensor(0)))
def single_index(x: Tensor, k: Tensor):
    return x.index_select(0, k)


@case(X, other=(Y,))
def place_of_all(x: Tensor):
    return torch.argmax(x, keepdim=True), torch.argmin(x)


@case(i(2 ** 62 + 9, -2 ** 62 - 9, 5, -5), i(3, 3, 1, 63), torch.tensor([-5, 100, 7, 1], dtype=torch.int8))
def shifts(x: Tensor, k: Tensor, s: Tensor):
    return x >> 3, x >> k, x << 1, s >> 1, s << 2


@case(i(2 ** 33, 5), torch.tensor([1, 10], dtype=torch.int32))
def buckets(x: Tensor, b: Tensor):
    return torch.bucketize(x, b), torch.searchsorted(b, x, right=True)


@case(f(1e-8, -1e-8, 1e-5, -0.5, 3.0, 0.0), f(4.0, 2.5, -3.0, 0.0, 9.0, 1.0))
def near_zero(x: Tensor, y: Tensor):
    return torch.log1p(x) * 1e6, torch.expm1(x) * 1e6, torch.log1p(y), torch.expm1(y), torch.log(torch.erfc(y))


@case(f([[0.5, -1.0, 2.0, 4.0], [1.5, 0.25, -2.0, 1.0]]), traced=True)
def resampled_to_one(x: Tensor):
    square = x.unsqueeze(0)
    return (F.interpolate(square, size=[1, 1], mode="bilinear"), F.interpolate(square, size=[1, 3], mode="bicubic"),
            F.interpolate(x, size=[1], mode="linear"))


@case(torch.arange(49, dtype=torch.float32).reshape(1, 1, 49), torch.arange(22, dtype=torch.float32).reshape(1, 1, 22),
      torch.arange(5, dtype=torch.float32).reshape(1, 1, 5), traced=True)
def nearest(x: Tensor, y: Tensor, z: Tensor):
    return (F.interpolate(x, size=[7]), F.interpolate(x, size=[14]), F.interpolate(y, size=[50]),
            F.interpolate(y, size=[44]), F.interpolate(z, scale_factor=1.1), F.interpolate(x, size=[20], mode="nearest-exact"))


@case(torch.arange(14, dtype=torch.float32).reshape(1, 2, 7), torch.arange(35, dtype=torch.float32).reshape(1, 1, 5, 7), traced=True)
def adaptive(x: Tensor, y: Tensor):
    return F.adaptive_avg_pool1d(x, 3), F.adaptive_avg_pool2d(y, [2, 3]), F.adaptive_avg_pool1d(x, 9)


@case(X, f(1.0, 2.0, -1.0))
def linear_of_a_vector(x: Tensor, w: Tensor):
    return F.linear(x, w)


@case(X, f(1.0, 2.0, 3.0), torch.tensor([True, False]), f([4.0]),
      other=(Y, f(1.0, 2.0, 3.0), torch.tensor([True, True]), f([4.0])))
def written_under_mask(x: Tensor, v: Tensor, m: Tensor, w: Tensor):
    a, b, c = x.clone(), x.clone(), x.clone()
    a[m] = v
    b[m] = v.unsqueeze(0)
    c[m] = w
    return a, b, c


@case(X, torch.tensor([True, True]), f([4.0], [5.0]))
def written_under_mask_by_row(x: Tensor, m: Tensor, w: Tensor):
    a = x.clone()
    a[m] = w
    return a


@case(X.double(), torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64), traced=True)
def norm_without_weights(x: Tensor, m: Tensor, v: Tensor):
    return F.batch_norm(x, m, v), F.layer_norm(x, [3]), F.group_norm(x, 3)


@case(X, Y.t().contiguous())
def capitals(x: Tensor, y: Tensor):
    return torch.einsum("Ab,bC", [x, y]), torch.einsum("ab,bc", [x, y]), torch.einsum("bA,Ac", [x, y])


@case(X, torch.tensor([3, -7], dtype=torch.int16), torch.tensor([[1, -2], [3, 4]], dtype=torch.int8),
      torch.tensor([1, 200], dtype=torch.uint8))
def narrow_types(x: Tensor, s: Tensor, b: Tensor, u: Tensor):
    return ((x > 0).amax(1), torch.maximum(x > 0, x > 1), torch.isinf(x.half()), torch.nan_to_num(x.half()),
            torch.isnan(s), -u, torch.mm(b, b), s.amax(0), torch.maximum(s, s + 1), torch.clamp(s, min=0))


def source(model, inputs, traced):
    code = (torch.jit.trace(model, inputs) if traced else torch.jit.script(model)).code
    body = "\n".join("  " + line for line in code[code.index("def"):].splitlines())
    head = re.sub(r"def \w+\(", "def forward(self: __torch__.M, ", body.strip(), count=1)
    return "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  " + head + "\n"


def number(value):
    if isinstance(value, (bool, int)):
        return int(value)
    return str(value) if math.isnan(value) or math.isinf(value) else value


def text(value):
    if isinstance(value, Tensor):
        return {"t": NAMES[value.dtype], "s": list(value.shape), "v": [number(v) for v in value.flatten().tolist()]}
    if isinstance(value, (list, tuple)):
        return [text(item) for item in value]
    if isinstance(value, bool):
        return value
    return {"i": value} if isinstance(value, int) else value


def main(path):
    with open(path, "w") as out:
        for model, inputs, other, notes, traced in CASES:
            def results(given):
                made = model(*[value.clone() for value in given])
                return text(made if isinstance(made, tuple) else (made,))

            line = {"name": model.__name__, "code": source(model, inputs, traced), "notes": notes, "in": text(inputs),
                    "out": results(inputs)}
            if other is not inputs:
                line.update({"in2": text(other), "out2": results(other)})
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
