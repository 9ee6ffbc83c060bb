#!/usr/bin/env python3
"""Writes cases.jsonl: calls of operators with small inputs, and the gradients that torch.autograd gives for them.

    /usr/bin/python3 make.py > cases.jsonl      (Debian 12: python3-torch 1.13)

One call a line, values as in ../aten: {"op": "relu", "in": [...], "kw": {...}, "g": [...], "grad": [...]}. "g" are the
gradients of the results (null: not differentiated), "grad" those of the floating-point arguments in their order, those
in lists too. Operators of ONNX are "onnx::NAME" with "version" and "attr"; the formula in PyTorch stands beside them.
"""
import json
import math
import sys

import torch
import torch.nn.functional as F

torch.manual_seed(11)
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.bool: "bool"}
failures = []


def number(v):
    if isinstance(v, (bool, int)):
        return int(v)
    if math.isnan(v) or math.isinf(v):
        return "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
    if v == int(v) and (v != 0 or math.copysign(1, v) > 0):
        return int(v)
    return float("%.8g" % v)


def encode(v):
    if isinstance(v, torch.Tensor):
        return {"t": NAMES[v.dtype], "s": list(v.shape), "v": [number(x) for x in v.detach().contiguous().flatten().tolist()]}
    if isinstance(v, bool) or v is None or isinstance(v, str):
        return v
    if isinstance(v, int):
        return {"i": v}
    if isinstance(v, float):
        return number(v)
    if isinstance(v, (list, tuple)):
        return [encode(x) for x in v]
    raise TypeError(type(v))


def leaves(args):
    for a in args:
        if isinstance(a, torch.Tensor) and a.is_floating_point():
            yield a
        elif isinstance(a, (list, tuple)):
            yield from leaves(a)


def fresh(a):
    if isinstance(a, torch.Tensor):
        return a.detach().clone().requires_grad_(a.is_floating_point())
    return [fresh(x) for x in a] if isinstance(a, (list, tuple)) else a


def write(line, args, call):
    """call(*args) is differentiated; each result is weighted by numbers of its own."""
    given = [fresh(a) for a in args]
    try:
        out = call(*[a.clone() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in given])
        outs = list(out) if isinstance(out, (list, tuple)) else [out]
        weights = [torch.round(torch.linspace(0.5, 1.75, o.numel(), dtype=o.dtype), decimals=3).reshape(o.shape) if o.requires_grad else None for o in outs]
        loss = sum((o * w).sum() for o, w in zip(outs, weights) if w is not None)
        wanted = list(leaves(given))
        found = torch.autograd.grad(loss, wanted, allow_unused=True)
    except Exception as error:  # noqa: BLE001
        failures.append("%s: %s" % (line["op"], str(error).split("\n")[0]))
        return
    line["in"] = [encode(a) for a in args]
    line["g"] = [encode(w) for w in weights]
    line["grad"] = [encode(f if f is not None else torch.zeros_like(x)) for x, f in zip(wanted, found)]
    line = {key: value for key, value in line.items() if value != {}}
    print(json.dumps(line, separators=(",", ":")))


def aten(op, *args, **kw):
    base, _, overload = op.partition(".")
    function = getattr(getattr(torch.ops.aten, base), overload or "default")
    write({"op": op, "kw": {k: encode(v) for k, v in kw.items()}}, args, lambda *a: function(*a, **kw))


def attribute(v):
    if isinstance(v, str):
        return {"s": v}
    if isinstance(v, float):
        return {"f": v}
    if isinstance(v, (list, tuple)):
        return {"is": list(v)} if all(isinstance(x, int) for x in v) else {"fs": list(v)}
    return {"i": int(v)}


def onnx(op, version, args, formula, **attributes):
    write({"op": "onnx::" + op, "version": version, "attr": {k: attribute(v) for k, v in attributes.items()}}, args, formula)


def f(*values):
    return torch.tensor(values, dtype=torch.float64)


def r(*shape):
    return torch.round(torch.randn(*shape, dtype=torch.float64), decimals=2)


def i(*values):
    return torch.tensor(values, dtype=torch.int64)


nan, inf = math.nan, math.inf
kinks = f(-3.5, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 6.0, 7.25)

# ---- element by element, at their kinks
for name in ("relu", "relu6", "abs", "sign", "hardswish", "hardsigmoid", "silu", "mish", "tanh", "sigmoid", "softplus", "exp", "sin",
             "cos", "atan", "sinh", "cosh", "asinh", "erf", "floor", "ceil", "round", "trunc", "neg", "square", "log_sigmoid", "selu",
             "celu", "expm1", "erfc", "relu_", "frac"):
    aten(name, kinks)
for name in ("log", "sqrt", "rsqrt", "reciprocal", "log1p", "log2", "log10"):
    aten(name, f(0.25, 1.0, 2.5))
aten("sqrt", f(0.0, 1.0))
for name in ("asin", "acos", "atanh", "tan"):
    aten(name, f(-0.75, 0.0, 0.25))
aten("acosh", f(1.25, 2.0))
aten("gelu", kinks)
aten("gelu", kinks, approximate="tanh")
aten("elu", kinks, 1.5)
aten("leaky_relu", kinks, 0.125)
aten("hardtanh", kinks, -1.0, 3.0)
aten("hardshrink", kinks, 0.5)
aten("softshrink", kinks, 0.5)
aten("threshold", kinks, 0.5, 2.0)
aten("clamp", kinks, -1.0, 1.0)
aten("clamp", kinks, None, 0.5)
aten("clamp_min", kinks, 0.5)
aten("clamp_max", kinks, 0.5)
aten("clamp.Tensor", f(1.0, 2.0, 3.0), f(1.0, 2.5, 0.0), f(1.0, 3.0, 3.0))
aten("prelu", r(2, 3, 2), f(0.25, -0.5, 0.0))
aten("prelu", f(-1.0, 0.0, 2.0), f(0.25))
aten("glu", r(2, 4), -1)

# ---- two values
for name in ("maximum", "minimum", "atan2", "fmax", "fmin"):
    aten(name, f(1.0, 2.0, 3.0, 0.5), f(2.0, 2.0, 1.0, 0.5))
aten("max.other", f(1.0, 2.0, 3.0), f(2.0, 2.0, 1.0))
aten("min.other", f(1.0, 2.0, 3.0), f(2.0, 2.0, 1.0))
aten("add.Tensor", r(2, 3), r(3), alpha=2.0)
aten("sub.Tensor", r(2, 1), r(3), alpha=0.5)
aten("mul.Tensor", r(2, 1, 3), r(4, 1))
aten("div.Tensor", r(2, 3), f(0.5, -2.0, 1.25))
aten("div.Tensor_mode", f(5.5, -5.5), f(2.0, 2.0), rounding_mode="floor")
aten("pow.Tensor_Scalar", f(-2.0, 0.0, 3.0), 2.0)
aten("pow.Tensor_Scalar", f(0.0, 0.5, 3.0), 0.5)
aten("pow.Tensor_Scalar", f(0.0, 2.0), 0.0)
aten("pow.Tensor_Tensor", f(0.5, 2.0, 3.0), f(2.0, -1.0, 0.5))
aten("pow.Scalar", 2.0, f(0.5, 2.0, -1.0))
aten("remainder.Tensor", f(5.5, -5.5, 3.25), f(2.0, 2.0, -1.5))
aten("fmod.Tensor", f(5.5, -5.5, 3.25), f(2.0, 2.0, -1.5))
aten("lerp.Scalar", r(3), r(3), 0.25)
aten("lerp.Tensor", r(3), r(3), f(0.25, 0.5, 0.75))
aten("addcmul", r(3), r(3), r(3), value=0.5)
aten("addcdiv", r(3), r(3), f(0.5, 2.0, -1.0), value=0.5)
aten("where.self", torch.tensor([True, False, True]), r(3), r(3))
aten("masked_fill.Scalar", r(2, 2), torch.tensor([True, False]), 7.0)

# ---- reductions
for name in ("sum", "mean", "prod", "amax", "amin", "logsumexp", "norm", "var", "std", "max", "min", "median"):
    x = f(3.0, 1.0, 3.0, 2.0, 1.0, 5.0).reshape(2, 3)
    if name in ("sum", "mean", "prod", "var", "std", "max", "min", "median"):
        aten(name, x)
aten("sum.dim_IntList", r(2, 3, 2), [0, -1], True)
aten("mean.dim", r(2, 3, 2), [1], False)
for values in ((2.0, 0.0, 5.0), (0.0, 0.0, 5.0), (2.0, 3.0, -1.0)):
    aten("prod", f(*values))
aten("prod.dim_int", f(2.0, 0.0, 5.0, 1.0, 2.0, 3.0).reshape(2, 3), 1, False)
aten("amax", f(3.0, 1.0, 3.0, 2.0, 2.0, 2.0).reshape(2, 3), [1], False)
aten("amin", f(3.0, 1.0, 1.0, 2.0, 2.0, 2.0).reshape(2, 3), [1], True)
aten("amax", f(3.0, 1.0, 3.0, 3.0).reshape(2, 2), [0, 1], False)
aten("max.dim", f(3.0, 1.0, 3.0, 2.0, 2.0, 2.0).reshape(2, 3), 1, False)
aten("min.dim", f(3.0, 1.0, 1.0, 2.0, 2.0, 2.0).reshape(2, 3), 1, False)
aten("logsumexp", r(2, 3), [1], False)
aten("var.dim", r(2, 4), [1], True, False)
aten("var.dim", r(2, 4), [1], False, True)
aten("std.dim", r(2, 4), [1], True, False)
aten("var_mean.correction", r(2, 4), [1], correction=0, keepdim=True)
aten("norm.ScalarOpt_dim", f(0.0, 0.0, 3.0, 4.0).reshape(2, 2), 2.0, [1], False)
aten("norm.ScalarOpt_dim", f(0.0, -2.0, 3.0, 4.0).reshape(2, 2), 1.0, [1], False)
aten("norm.Scalar", f(0.0, 0.0))
aten("linalg_vector_norm", f(0.0, 0.0, 3.0, 4.0).reshape(2, 2), 2.0, [1], False)
aten("linalg_vector_norm", f(1.0, -4.0, 4.0, 2.0).reshape(2, 2), inf, [1], False)
aten("cumsum", r(2, 3), 1)
aten("cumprod", f(2.0, 3.0, -1.0, 0.5).reshape(2, 2), 1)
aten("softmax.int", r(2, 3, 2), 1)
aten("log_softmax.int", r(2, 4), -1)
aten("cosine_similarity", r(2, 4), r(2, 4), 1)
aten("cdist", f(0.0, 0.0, 1.0, 2.0).reshape(2, 2), f(0.0, 0.0, 3.0, 1.0).reshape(2, 2), 2.0)

# ---- products
aten("matmul", r(2, 1, 2, 3), r(3, 3, 2))
aten("matmul", r(3), r(3))
aten("matmul", r(2, 3), r(3))
aten("matmul", r(3), r(3, 2))
aten("mm", r(2, 3), r(3, 2))
aten("bmm", r(2, 2, 3), r(2, 3, 2))
aten("mv", r(2, 3), r(3))
aten("dot", r(3), r(3))
aten("outer", r(2), r(3))
aten("addmm", r(2), r(2, 3), r(3, 2), beta=0.5, alpha=2.0)
aten("baddbmm", r(2, 2, 2), r(2, 2, 3), r(2, 3, 2))
aten("linear", r(2, 3, 4), r(5, 4), r(5))
aten("einsum", "bij,bjk->bik", [r(2, 2, 3), r(2, 3, 2)])
aten("einsum", "...ij,jk->...ik", [r(2, 2, 3), r(3, 2)])
aten("bilinear", r(2, 3), r(2, 2), r(2, 3, 2), r(2))
aten("embedding", r(4, 2), i(2, 0, 2))
aten("embedding", r(4, 2), i(2, 0, 2), 0)


def attention(q, k, v, mask):
    """What PyTorch 2 has as an operator."""
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) + mask, -1) @ v


triangle = torch.full((3, 3), -inf, dtype=torch.float64).triu(1)
write({"op": "scaled_dot_product_attention", "kw": {}}, [r(1, 2, 3, 2), r(1, 2, 3, 2), r(1, 2, 3, 2), r(3, 3)], attention)
write({"op": "scaled_dot_product_attention", "kw": {"is_causal": True}}, [r(1, 2, 3, 2), r(1, 2, 3, 2), r(1, 2, 3, 2)],
      lambda q, k, v: attention(q, k, v, triangle))

# ---- convolutions
aten("conv1d", r(2, 2, 6), r(3, 2, 3), r(3), [2], [1], [1], 1)
aten("conv1d", r(1, 4, 8), r(4, 1, 3), None, [1], [2], [2], 4)
aten("conv2d", r(1, 3, 5, 4), r(2, 3, 3, 2), r(2), [2, 1], [1, 0], [1, 1], 1)
aten("conv2d", r(1, 4, 6, 5), r(4, 2, 2, 2), r(4), [1, 2], [1, 1], [2, 1], 2)
aten("conv2d", r(1, 2, 7, 6), r(2, 2, 3, 2), None, [3, 2], [0, 0], [1, 1], 1)
aten("conv3d", r(1, 2, 3, 4, 3), r(2, 1, 2, 2, 2), r(2), [1, 2, 1], [0, 1, 0], [1, 1, 1], 2)
aten("conv_transpose1d", r(1, 2, 4), r(2, 3, 3), r(3), [2], [1], [1], 1, [1])
aten("conv_transpose2d.input", r(1, 4, 3, 2), r(4, 2, 2, 3), r(4), [2, 1], [0, 1], [1, 0], 2, [1, 2])
aten("conv_transpose3d.input", r(1, 1, 2, 2, 2), r(1, 2, 2, 2, 2), None, [1, 2, 1])
aten("_convolution", r(1, 4, 5, 5), r(4, 2, 3, 3), r(4), [1, 2], [2, 1], [2, 1], False, [0, 0], 2, False, False, False, False)

# ---- pooling; equal elements
ties = f(1.0, 3.0, 3.0, 2.0, 3.0, 3.0, 0.0, 1.0, 2.0, 2.0, 5.0, 5.0, 1.0, 2.0, 5.0, 4.0).reshape(1, 1, 4, 4)
aten("max_pool1d", f(1.0, 1.0, 0.0, 2.0, 2.0, 1.0).reshape(1, 1, 6), [2], [1])
aten("max_pool2d", ties, [2, 2], [1, 1])
aten("max_pool2d", ties, [3, 3], [2, 2], [1, 1], [1, 1], True)
aten("max_pool2d", r(1, 2, 5, 5), [2, 2], [2, 1], [0, 0], [2, 2])
aten("max_pool3d", r(1, 1, 3, 4, 4), [2, 2, 2])
aten("avg_pool1d", r(1, 2, 5), [3], [2], [1])
aten("avg_pool2d", r(1, 2, 5, 4), [3, 2], [2, 2], [1, 1], True, False)
aten("avg_pool2d", r(1, 2, 5, 4), [3, 2], [2, 2], [1, 1], False, True)
aten("avg_pool2d", r(1, 1, 4, 4), [2, 2], [2, 2], [0, 0], False, True, 3)
aten("avg_pool3d", r(1, 1, 2, 4, 3), [2, 2, 2])
aten("adaptive_avg_pool1d", r(1, 2, 7), [3])
aten("adaptive_avg_pool2d", r(1, 2, 5, 7), [2, 3])
aten("adaptive_avg_pool2d", r(1, 2, 3, 5), [1, 1])
aten("adaptive_max_pool1d", r(1, 2, 6), [3])
aten("adaptive_max_pool2d", ties, [2, 2])
aten("adaptive_max_pool2d", ties, [1, 1])

# ---- normalisations
aten("batch_norm", r(2, 3, 4), r(3), r(3), running_mean=f(0.2, 0.5, 1.0), running_var=f(0.5, 1.0, 2.0), training=False, momentum=0.1,
     eps=1e-5, cudnn_enabled=False)
aten("layer_norm", r(2, 3, 4), [4], r(4), r(4), 1e-5)
aten("layer_norm", r(2, 3, 4), [3, 4])
aten("layer_norm", f(1.0, 1.0, 1.0, 1.0, 2.0, 3.0).reshape(2, 3), [3], None, None, 1e-5)
aten("group_norm", r(2, 4, 3), 2, r(4), r(4), 1e-5)
aten("instance_norm", r(2, 3, 4), r(3), r(3), None, None, True, 0.1, 1e-5, False)

# ---- resizing
for corners in (False, True):
    aten("upsample_linear1d.vec", r(1, 2, 4), [7], corners, None)
    aten("upsample_bilinear2d.vec", r(1, 2, 3, 4), [5, 7], corners, None)
    aten("upsample_bilinear2d.vec", r(1, 1, 5, 4), [3, 2], corners, None)
    aten("upsample_bilinear2d.vec", r(1, 1, 3, 4), None, corners, [1.5, 2.0])
    aten("upsample_bicubic2d.vec", r(1, 1, 4, 4), [7, 6], corners, None)
    aten("upsample_trilinear3d.vec", r(1, 1, 2, 2, 3), [3, 4, 4], corners, None)
    onnx("Resize", 13, [r(1, 1, 3, 4), None, None, i(1, 1, 5, 7)],
         lambda x, *_: F.interpolate(x, (5, 7), mode="bilinear", align_corners=corners), mode="linear",
         coordinate_transformation_mode="align_corners" if corners else "pytorch_half_pixel")
    aten("grid_sampler", r(1, 1, 3, 3), r(1, 2, 2, 2) * 0.5, 0, 0, corners)
aten("upsample_nearest1d.vec", r(1, 1, 3), [7], None)
aten("upsample_nearest2d.vec", r(1, 2, 3, 3), [6, 5], None)
aten("upsample_nearest2d.vec", r(1, 1, 3, 2), None, [2.0, 3.0])

# ---- taking and putting
aten("gather", r(3, 3), 1, i(0, 2, 2, 1, 1, 0).reshape(3, 2))
aten("index_select", r(3, 2), 0, i(2, 0, 2))
aten("index.Tensor", r(3, 3), [i(0, 2, 2), None])
aten("index.Tensor", r(3, 3), [i(0, 2, 2), i(1, 0, 0)])
aten("scatter.src", r(3, 2), 0, i(2, 0, 1, 0).reshape(2, 2), r(2, 2))
aten("scatter.value", r(3, 2), 0, i(2, 0, 1, 0).reshape(2, 2), 0.5)
aten("scatter_add", r(3, 2), 0, i(2, 0, 2, 2).reshape(2, 2), r(2, 2))
aten("index_add", r(3, 2), 0, i(2, 0, 2), r(3, 2), alpha=2.0)
aten("index_put", r(3, 2), [i(2, 0)], r(2, 2), False)
aten("index_put", r(3, 2), [i(2, 0, 2)], r(3, 2), True)
aten("masked_scatter", r(2, 2), torch.tensor([[True, False], [False, True]]), r(3))
aten("masked_select", r(2, 2), torch.tensor([[True, False], [True, True]]))
aten("take", r(2, 3), i(4, 0, 4))
aten("topk", f(3.0, 1.0, 4.0, 1.5, 9.0), 3)
aten("topk", r(2, 5), 2, 1, False, True)
aten("sort", r(2, 4), -1, True)
aten("kthvalue", r(2, 4), 2)
aten("slice.Tensor", r(3, 4), 1, 1, 4, 2)
aten("select.int", r(3, 4), 1, -1)
aten("narrow", r(3, 4), 1, 1, 2)
aten("flip", r(2, 3), [0, 1])
aten("roll", r(2, 3), [1], [1])
aten("tril", r(3, 3), -1)
aten("triu", r(3, 3), 1)
aten("diagonal", r(3, 3), 1)
aten("diag_embed", r(2, 2))
aten("repeat", r(2, 2), [2, 1, 2])
aten("repeat_interleave.self_int", r(2, 2), 2, 1)
aten("expand", r(3, 1), [2, 3, 2])
aten("permute", r(2, 3, 2), [2, 0, 1])
aten("unfold", r(6), 0, 3, 2)
aten("im2col", r(1, 1, 3, 4), [2, 2], [1, 1], [0, 1], [1, 2])
aten("col2im", r(1, 4, 4), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1])
aten("pixel_shuffle", r(1, 4, 2, 2), 2)
aten("pixel_unshuffle", r(1, 1, 4, 4), 2)
aten("cat", [r(2, 2), r(2, 3)], 1)
aten("stack", [r(2, 2), r(2, 2)], 0)
aten("constant_pad_nd", r(2, 3), [1, 0, 0, 2], 0.5)
aten("constant_pad_nd", r(2, 3), [-1, 1], 0.0)
aten("reflection_pad2d", r(1, 1, 3, 3), [1, 2, 0, 1])
aten("replication_pad2d", r(1, 1, 2, 3), [1, 2, 0, 1])
aten("reflection_pad1d", r(1, 1, 4), [2, 1])

# ---- losses
aten("mse_loss", r(3), r(3))
aten("l1_loss", f(1.0, 2.0, 3.0), f(1.0, 3.0, 1.0))
aten("smooth_l1_loss", f(1.0, 2.0, 3.0), f(1.0, 3.0, 1.0))
aten("binary_cross_entropy_with_logits", r(3), f(0.0, 1.0, 0.5))
aten("nll_loss", r(3, 4), i(1, 0, 3))
aten("cross_entropy_loss", r(3, 4), i(1, 0, 3))

# ---- cells and layers with a state
aten("lstm_cell", r(2, 3), [r(2, 2), r(2, 2)], r(8, 3), r(8, 2), r(8), r(8))
aten("gru_cell", r(2, 3), r(2, 2), r(6, 3), r(6, 2), r(6), r(6))
aten("rnn_tanh_cell", r(2, 3), r(2, 2), r(2, 3), r(2, 2), r(2), r(2))


def s(*shape):
    """Sonde's layers take float32."""
    return torch.round(torch.randn(*shape), decimals=2)


# by the input and the states; the weights are constants
flags = dict(has_biases=True, num_layers=1, dropout=0.0, train=False, bidirectional=False, batch_first=False)
both = dict(flags, bidirectional=True, batch_first=True)
aten("lstm.input", s(3, 2, 2), [s(1, 2, 2), s(1, 2, 2)], params=[s(8, 2), s(8, 2), s(8), s(8)], **flags)
aten("lstm.input", s(2, 3, 2), [s(2, 2, 2), s(2, 2, 2)],
     params=[s(8, 2), s(8, 2), s(8), s(8), s(8, 2), s(8, 2), s(8), s(8)], **both)
aten("gru.input", s(3, 2, 2), s(1, 2, 2), params=[s(6, 2), s(6, 2), s(6), s(6)], **flags)
aten("rnn_tanh.input", s(3, 2, 2), s(1, 2, 2), params=[s(2, 2), s(2, 2), s(2), s(2)], **flags)


# ---- of ONNX, by the formula beside it
def lstm(x, w, rec, bias):
    """One direction; ONNX has the gates in the order i o f c."""
    h = c = torch.zeros(x.shape[1], 2, dtype=x.dtype)
    steps = []
    for one in x:
        gates = one @ w[0].T + h @ rec[0].T + bias[0, :8] + bias[0, 8:]
        a, o, forget, n = gates.chunk(4, 1)
        c = torch.sigmoid(forget) * c + torch.sigmoid(a) * torch.tanh(n)
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append(h)
    return torch.stack(steps)[:, None]


onnx("LSTM", 14, [r(3, 2, 3), r(1, 8, 3), r(1, 8, 2), r(1, 16)], lstm, hidden_size=2)
onnx("Relu", 14, [kinks], torch.relu)
onnx("Max", 13, [f(1.0, 2.0, 3.0), f(2.0, 2.0, 1.0)], torch.maximum)
onnx("Min", 13, [f(1.0, 2.0, 3.0), f(2.0, 2.0, 1.0)], torch.minimum)
onnx("Max", 13, [f(1.0, 2.0), f(2.0, 2.0), f(0.0, 2.0)], lambda *all: torch.stack(all).amax(0))
onnx("Clip", 13, [kinks, f(-1.0).reshape(()), f(3.0).reshape(())], torch.clamp)
onnx("Einsum", 12, [r(2, 2, 3), r(2, 3, 2)], lambda a, b: torch.einsum("...ij,...jk", a, b), equation="...ij,...jk")
onnx("Einsum", 12, [r(2, 2, 3), r(3)], lambda a, b: torch.einsum("b...j,j->...b", a, b), equation="b...j,j->...b")
onnx("HardSigmoid", 6, [kinks], F.hardsigmoid, alpha=1.0 / 6, beta=0.5)
onnx("HardSwish", 14, [kinks], F.hardswish)
onnx("Shrink", 9, [kinks], lambda x: F.hardshrink(x, 0.5), lambd=0.5, bias=0.0)
onnx("ThresholdedRelu", 10, [kinks], lambda x: F.threshold(x, 0.5, 0.0), alpha=0.5)
onnx("Gelu", 20, [kinks], F.gelu)
onnx("Mish", 18, [kinks], F.mish)
onnx("LpNormalization", 22, [f(3.0, 4.0, -1.0, 2.0).reshape(2, 2)], lambda x: F.normalize(x, dim=1), axis=1, p=2)
onnx("LayerNormalization", 17, [r(2, 3, 4), r(4), r(4)], lambda x, w, b: F.layer_norm(x, (4,), w, b, 1e-5), axis=-1, epsilon=1e-5)
onnx("LRN", 13, [r(1, 5, 2)], lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 1.5), size=3, alpha=0.5, beta=0.75, bias=1.5)
onnx("ReduceL2", 18, [f(0.0, 0.0, 3.0, 4.0).reshape(2, 2), i(1)], lambda x, _: torch.linalg.vector_norm(x, 2, 1), keepdims=0)
onnx("ReduceL1", 18, [f(0.0, -1.0, 3.0, 4.0).reshape(2, 2), i(1)], lambda x, _: x.abs().sum(1), keepdims=0)
onnx("ReduceMax", 18, [f(3.0, 1.0, 3.0, 2.0).reshape(2, 2), i(1)], lambda x, _: x.amax(1), keepdims=0)
onnx("ReduceProd", 18, [f(0.0, 1.0, 3.0, 2.0).reshape(2, 2), i(1)], lambda x, _: x.prod(1), keepdims=0)
onnx("MaxPool", 12, [ties], lambda x: F.max_pool2d(x, 2, 1), kernel_shape=[2, 2], strides=[1, 1])
onnx("GlobalMaxPool", 1, [ties], lambda x: F.adaptive_max_pool2d(x, 1))
onnx("ScatterElements", 18, [r(3, 2), i(2, 0, 1, 0).reshape(2, 2), r(2, 2)], lambda x, at, u: x.scatter(0, at, u), axis=0)
onnx("ScatterElements", 18, [f(1.0, 2.0, 3.0), i(0, 2, 0), f(2.0, -1.0, 4.0)],
     lambda x, at, u: x.scatter_reduce(0, at, u, "prod"), axis=0, reduction="mul")
onnx("ScatterElements", 18, [f(1.0, 2.0, 3.0), i(0, 2, 0), f(2.0, -1.0, 4.0)],
     lambda x, at, u: x.scatter_reduce(0, at, u, "amax"), axis=0, reduction="max")
onnx("GridSample", 16, [r(1, 1, 3, 3), r(1, 2, 2, 2) * 0.5], lambda x, at: F.grid_sample(x, at, align_corners=True),
     mode="bilinear", align_corners=1)
onnx("Col2Im", 18, [r(1, 4, 4), i(3, 3), i(2, 2)], lambda x, *_: F.fold(x, (3, 3), (2, 2)))

# ---- sampled images: at the ends and outside, at whole positions and between them
places = torch.tensor([[-1.6, 0.5], [-1.0, 1.0], [0.0, -0.35], [1.35, 0.9]], dtype=torch.float64).reshape(1, 2, 2, 2)
for mode, padding, corners in ((0, 1, False), (0, 2, True), (1, 0, False), (2, 2, False)):
    aten("grid_sampler", r(1, 1, 2, 3), places, mode, padding, corners)

# ---- running products and scattering, with zeros and equal ones
aten("cumprod", f(2.0, 0.0, 3.0, 0.0, 5.0), 0)
onnx("CumProd", 26, [f(2.0, 0.0, 3.0, 4.0), i(0).reshape(())],
     lambda x, _: torch.cat([torch.ones(1, dtype=x.dtype), x.cumprod(0)[:-1]]), exclusive=1)
for name in ("prod", "amax", "amin"):
    aten("scatter_reduce.two", f(2.0, 3.0, 0.0, 5.0), 0, i(0, 0, 0, 1, 2, 3), f(0.0, 5.0, 2.0, 0.0, 4.0, 5.0), name)
onnx("ScatterND", 18, [f(2.0, 3.0, 0.5), i(0, 2, 0).reshape(3, 1), f(0.0, 0.5, 4.0)],
     lambda x, at, u: x.scatter_reduce(0, at[:, 0], u, "prod"), reduction="mul")

# ---- losses of classes by weight, with labels that are ignored, of probabilities, and with smoothing
labels, weights = i(1, 0, 2), f(0.5, 1.0, 2.0)
aten("nll_loss", r(3, 3), labels, weight=weights, reduction=1, ignore_index=0)
aten("cross_entropy_loss", r(3, 3), labels, weight=weights, reduction=1, ignore_index=2)
for reduction in (0, 1, 2):
    aten("cross_entropy_loss", r(3, 3), labels, reduction=reduction, ignore_index=2, label_smoothing=0.125)
aten("cross_entropy_loss", r(3, 3), labels, weight=weights, label_smoothing=0.5)
aten("cross_entropy_loss", r(2, 3), torch.softmax(r(2, 3), 1), weight=weights, label_smoothing=0.25)
onnx("SoftmaxCrossEntropyLoss", 13, [r(1, 3, 2), i(0, 2).reshape(1, 2)], F.cross_entropy)

# ---- layers with a state by their weights
rest = True, 1, 0.0, False, False, False
aten("lstm.input", s(2, 1, 1), [s(1, 1, 1), s(1, 1, 1)], [s(4, 1), s(4, 1), s(4), s(4)], *rest)
aten("gru.input", s(1, 2, 1), s(2, 1, 1), [s(3, 1), s(3, 1), s(3), s(3), s(3, 1), s(3, 1), s(3), s(3)], *rest[:-2], True, True)

# ---- determinants and inverses
square = torch.tensor([[[2, 1, 0.5], [0.25, 3, 1], [1, 0.5, 2.5]], [[-1, 2, 0], [0.5, 1, 3], [2, 0, 1]]], dtype=torch.float64)
for name in ("linalg_det", "linalg_slogdet", "linalg_inv"):
    aten(name, square)
for name in ("det", "logdet", "inverse"):
    aten(name, square[0])

# ---- what matrices are taken apart into, what is solved with them, powers and exponentials
near = torch.tensor([[2, 0.5, -0.25], [0.5, 3, 1], [-0.25, 1, 1.5]], dtype=torch.float64)
wide = torch.tensor([[1, 0.5, -1], [0.25, 2, 0.75]], dtype=torch.float64)
for name in ("linalg_cholesky", "linalg_eigvalsh", "linalg_matrix_exp", "linalg_inv_ex"):
    aten(name, near)
aten("linalg_cholesky", torch.stack([near, 2 * near]), upper=True)
aten("linalg_eigvalsh", near, "U")
aten("linalg_matrix_exp", square)
for n in (3, 6, -2, 1):
    aten("linalg_matrix_power", square[0], n)
aten("linalg_solve", square, r(2, 3, 2))
aten("linalg_solve", square, r(2, 3))
aten("linalg_solve", square[0], r(2, 3), left=False)
aten("linalg_solve_triangular", square[0], r(3, 2), upper=True)
aten("linalg_solve_triangular", square[0], r(2, 3), upper=False, left=False, unitriangular=True)
for flags in ((True, False, False), (False, True, False), (False, False, True)):
    aten("triangular_solve", r(3, 2), square[0], *flags)
for matrix in (wide, wide.T.contiguous(), square[0]):
    aten("linalg_svdvals", matrix)
    aten("pinverse", matrix)
aten("linalg_qr", wide.T.contiguous())
aten("linalg_qr", square)
write({"op": "linalg_lu"}, [square[0]], lambda a: torch.ops.aten.linalg_lu(a))
rest = 1, 0.0, False, True, False
aten("lstm.input", s(2, 1, 2), [s(2, 1, 1), s(2, 1, 2)], [s(8, 2), s(8, 1), s(8), s(8), s(1, 2)] * 2, True, *rest)
aten("lstm.input", s(1, 2, 1), [s(2, 1, 1), s(2, 1, 2)],
     [s(8, 1), s(8, 1), s(1, 2), s(8, 1), s(8, 1), s(1, 2)], False, 2, 0.0, False, False, True)


def deform(x, w, at, bias=None, mask=None, stride=1, pad=0, groups=1):
    """torchvision.ops.deform_conv2d: each tap is a picture that grid_sample takes at its moved places."""
    n, channels, height, width = x.shape
    out, _, kh, kw = w.shape
    oh, ow = (height + 2 * pad - kh) // stride + 1, (width + 2 * pad - kw) // stride + 1
    sets, y = at.shape[1] // (2 * kh * kw), 0
    for t in range(kh * kw):
        rows = torch.arange(oh, dtype=x.dtype)[:, None] * stride - pad + t // kw
        columns = torch.arange(ow, dtype=x.dtype)[None] * stride - pad + t % kw
        parts = []
        for k in range(sets):
            move = at[:, 2 * (k * kh * kw + t):][:, :2]
            grid = torch.stack([2 * (columns + move[:, 1]) / (width - 1) - 1, 2 * (rows + move[:, 0]) / (height - 1) - 1], -1)
            part = F.grid_sample(x.chunk(sets, 1)[k], grid, align_corners=True)
            parts.append(part if mask is None else part * mask[:, k * kh * kw + t, None])
        y = y + F.conv2d(torch.cat(parts, 1), w[:, :, t // kw, t % kw, None, None], groups=groups)
    return y if bias is None else y + bias[:, None, None]


x, w, at, bias, mask = deformed = r(1, 2, 3, 3), r(2, 1, 2, 2), 0.7 * r(1, 8, 2, 2), r(2), r(1, 4, 2, 2)
onnx("DeformConv", 19, deformed, lambda *a: deform(*a, groups=2), group=2)
onnx("DeformConv", 19, [x, r(2, 2, 2, 2), 0.7 * r(1, 16, 2, 2)], lambda *a: deform(*a, stride=2, pad=1),
     strides=[2, 2], pads=[1, 1, 1, 1], offset_group=2)
write({"op": "torchvision::deform_conv2d"}, [x, w, at, mask, bias, 1, 1, 0, 0, 1, 1, 2, 1, True],
      lambda x, w, at, mask, bias, *rest: deform(x, w, at, bias, mask, groups=2))

sys.stderr.write("".join("not written: %s\n" % one for one in failures))
