"""Cases of the operators on floating point: activations, normalisations, products, fused convolutions, tensors."""
import math

import numpy as np
from generate import Const, case, i32, i64, normals

rng = np.random.default_rng(11)
f = normals(rng)

erf = np.vectorize(math.erf)


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


# Activations
for dtype in (np.float32, np.float16):
    case("Gelu", [f(2, 3, 4, scale=2, dtype=dtype)])
    case("FastGelu", [f(2, 7, scale=2, dtype=dtype)])
    case("FastGelu", [f(2, 3, 5, scale=2, dtype=dtype), f(5, dtype=dtype)])
    case("QuickGelu", [f(3, 5, scale=2, dtype=dtype)])
    case("QuickGelu", [f(3, 5, scale=2, dtype=dtype)], {"alpha": 1.0})
case("BiasGelu", [f(2, 3, 4, scale=2), f(4)])
case("BiasGelu", [f(6, scale=2), f(6)])
x, b, s = f(2, 4, 6), f(6), f(2, 4, 6)
case("BiasAdd", [x, b, s], expected=[x + b + s])
x, b = f(2, 3, 8), f(8)
left, right = np.split((x + b).astype(np.float64), 2, axis=-1)
case("BiasSplitGelu", [x, b], expected=[(left * gelu(right)).astype(np.float32)])

# Normalisations
for axis, shape, norm in ((-1, (2, 3, 6), (6,)), (1, (2, 3, 4), (3, 4)), (2, (1, 2, 5), (5,))):
    case("LayerNormalization", [f(*shape), f(*norm), f(*norm)], {"axis": axis, "epsilon": 1e-5}, outputs=3, domain="", opset=12)
case("LayerNormalization", [f(2, 3, 6), f(6)], {"axis": -1}, domain="", opset=9)
case("LayerNormalization", [f(2, 8, dtype=np.float16), f(8, dtype=np.float16), f(8, dtype=np.float16)], {"axis": -1}, domain="", opset=13)
case("SimplifiedLayerNormalization", [f(2, 3, 6), f(6)], {"axis": -1, "epsilon": 1e-6}, outputs=2, domain="", opset=17)
case("SimplifiedLayerNormalization", [f(2, 3, 4), f(3, 4)], {"axis": 1}, domain="", opset=13)
case("SimplifiedLayerNormalization", [f(2, 3, 6, dtype=np.float16), f(6, dtype=np.float16)], {"axis": -1}, domain="", opset=17)
case("SkipLayerNormalization", [f(2, 3, 6), f(2, 3, 6), f(6), f(6)], {"epsilon": 1e-5})
case("SkipLayerNormalization", [f(2, 3, 6), f(2, 3, 6), f(6)])
case("SkipLayerNormalization", [f(2, 3, 6), f(2, 3, 6), f(6), f(6), f(6)], outputs=[True, False, False, True])
case("SkipLayerNormalization", [f(2, 3, 6), f(3, 6), f(6), f(6)], outputs=[True, False, False, True])
case("SkipLayerNormalization", [f(2, 3, 6), f(1, 3, 6), f(6), None, f(6)])
case("SkipLayerNormalization", [f(2, 3, 8, dtype=np.float16), f(2, 3, 8, dtype=np.float16), f(8, dtype=np.float16), f(8, dtype=np.float16)])
case("SkipSimplifiedLayerNormalization", [f(2, 3, 6), f(2, 3, 6), f(6)], {"epsilon": 1e-6})
case("SkipSimplifiedLayerNormalization", [f(2, 3, 6), f(2, 3, 6), f(6), f(6)], outputs=[True, False, False, True])
case("SkipSimplifiedLayerNormalization", [f(5, 6), f(5, 6), f(6)], outputs=[True, False, False, True])
case("SkipSimplifiedLayerNormalization", [f(2, 3, 8, dtype=np.float16), f(2, 3, 8, dtype=np.float16), f(8, dtype=np.float16)])

ids, segments = i32(*rng.integers(0, 9, 8)).reshape(2, 4), i32(0, 0, 1, 1, 0, 1, 1, 1).reshape(2, 4)
word, position, segment, gamma, beta = f(9, 6), f(5, 6), f(2, 6), f(6), f(6)
mask = i32(1, 1, 1, 0, 0, 1, 1, 0).reshape(2, 4)
case("EmbedLayerNormalization", [ids, segments, word, position, segment, gamma, beta, mask], {"epsilon": 1e-6}, outputs=2)
case("EmbedLayerNormalization", [ids, None, word, position, None, gamma, beta], outputs=2)
case("EmbedLayerNormalization", [ids, segments, word, position, segment, gamma, beta, None, i32(3, 2, 1, 0).reshape(1, 4)], outputs=[True, True, True])
case("EmbedLayerNormalization", [ids, None, word, position, None, gamma, beta, mask, i32(0, 1, 2, 3, 4, 3, 2, 1).reshape(2, 4)], outputs=[True, True, True])
half = lambda a: a.astype(np.float16)
case("EmbedLayerNormalization", [ids, segments, half(word), half(position), half(segment), half(gamma), half(beta), mask], outputs=2)


def group_norm(x, gamma, beta, groups, eps, silu):
    """x [N, C, H, W] in double."""
    n, c, h, w = x.shape
    g = x.reshape(n, groups, -1).astype(np.float64)
    g = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + eps)
    y = g.reshape(x.shape) * gamma.reshape(1, -1, 1, 1) + beta.reshape(1, -1, 1, 1)
    return y / (1 + np.exp(-y)) if silu else y


x, g, b, skip, bias = f(2, 3, 2, 4), f(4), f(4), f(2, 3, 2, 4), f(4)
first, last = (0, 3, 1, 2), (0, 2, 3, 1)
case("GroupNorm", [x, g, b], {"activation": 1, "groups": 2, "epsilon": 1e-5},
     expected=[group_norm(x.transpose(first), g, b, 2, 1e-5, True).transpose(last).astype(np.float32)])
x2 = f(2, 4, 3, 2)
case("GroupNorm", [x2, g, b], {"activation": 0, "groups": 4, "channels_last": 0, "epsilon": 1e-5}, expected=[group_norm(x2, g, b, 4, 1e-5, False).astype(np.float32)])
total = x + skip + bias
case("SkipGroupNorm", [x, g, b, skip, bias], {"activation": 0, "groups": 2, "epsilon": 1e-5}, outputs=2,
     expected=[group_norm(total.transpose(first), g, b, 2, 1e-5, False).transpose(last).astype(np.float32), total])
flat = f(2, 4)
total = x + flat.reshape(2, 1, 1, 4)
case("SkipGroupNorm", [x, g, b, flat], {"activation": 1, "groups": 1, "epsilon": 1e-5}, outputs=2,
     expected=[group_norm(total.transpose(first), g, b, 1, 1e-5, True).transpose(last).astype(np.float32), total])

# Products
case("FusedMatMul", [f(2, 3, 4), f(2, 4, 5)], {"alpha": 0.5})
case("FusedMatMul", [f(2, 4, 3), f(4, 5)], {"transA": 1})
case("FusedMatMul", [f(2, 3, 4), f(2, 5, 4)], {"transB": 1, "alpha": 2.0})
case("FusedMatMul", [f(4, 3), f(5, 4)], {"transA": 1, "transB": 1})
case("FusedMatMul", [f(3, 2, 4), f(2, 4, 5)], {"transBatchA": 1})
case("FusedMatMul", [f(2, 3, 4), f(4, 2, 5)], {"transBatchB": 1})
case("FusedMatMul", [f(3, 2, 4), f(5, 2, 4)], {"transBatchA": 1, "transBatchB": 1, "transB": 1})
case("FusedMatMul", [f(4, 2, 3), f(4, 2, 5)], {"transBatchA": 1, "transA": 1, "transBatchB": 1})
case("FusedMatMul", [f(4), f(4, 5)], {"transA": 1})
case("FusedMatMul", [f(2, 3, 4, dtype=np.float64), f(2, 4, 5, dtype=np.float64)], {"alpha": 0.25})
case("TransposeMatMul", [f(2, 4, 3), f(2, 4, 5)], {"transA": 1, "alpha": 0.5})
for activation, parameters in (("Relu", {}), ("LeakyRelu", {"activation_alpha": 0.1}), ("Tanh", {}), ("Sigmoid", {}), ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4}),
                               ("Elu", {"activation_alpha": 0.7}), ("Selu", {"activation_alpha": 1.6, "activation_gamma": 1.05}), ("Softplus", {}), ("Softsign", {}),
                               ("ThresholdedRelu", {"activation_alpha": 0.2})):
    case("FusedGemm", [f(3, 4), f(4, 5), f(5)], {"activation": activation, "alpha": 0.5, "beta": 2.0, **parameters})
case("FusedGemm", [f(4, 3), f(5, 4)], {"activation": "Relu", "transA": 1, "transB": 1})
case("FusedConv", [f(1, 2, 5, 5), Const(f(3, 2, 3, 3)), f(3)], {"activation": "Relu", "pads": [1, 1, 1, 1]})
case("FusedConv", [f(2, 2, 6, 6), Const(f(4, 1, 3, 3))], {"activation": "LeakyRelu", "activation_params": [0.1], "group": 2, "strides": [2, 2]})
case("FusedConv", [f(1, 2, 5, 5), Const(f(3, 2, 1, 1)), f(3)], {"activation": "Clip", "activation_params": [-0.5, 0.5]})
case("FusedConv", [f(1, 2, 5, 5), Const(f(3, 2, 1, 1)), f(3)], {"activation": "HardSigmoid", "activation_params": [0.2, 0.5]})
case("FusedConv", [f(1, 2, 5, 5), Const(f(3, 2, 1, 1)), f(3)], {"activation": "Tanh"})
case("FusedConv", [f(1, 2, 5, 5), Const(f(3, 2, 1, 1)), f(3)], {"activation": "Sigmoid"})
case("FusedConv", [f(1, 2, 5, 5), Const(f(3, 2, 3, 3)), f(3), f(1, 3, 3, 3)], {"activation": "Relu"})
x, w = f(2, 3), f(3, 4)
case("FusedMatMulActivation", [x, w], {"activation": "Relu", "alpha": 0.5}, expected=[np.maximum(0, 0.5 * (x.astype(np.float64) @ w)).astype(np.float32)])
x, w, b = f(3, 4), f(4, 5), f(5)
y = (x.astype(np.float64) @ w + b)
case("GemmFastGelu", [x, w, b], expected=[(0.5 * y * (1 + np.tanh(0.797885 * y + 0.035677 * y ** 3))).astype(np.float32)], tol=1e-4)

# Tensors
case("Trilu", [f(3, 4), i64(1).reshape(())])
case("Trilu", [f(2, 3, 4), i64(-1).reshape(())], {"upper": 0})
case("Trilu", [np.arange(12, dtype=np.int64).reshape(3, 4)])
case("ExpandDims", [f(2, 3), i32(1).reshape(())])
case("ExpandDims", [f(2, 3), i32(-1).reshape(())])
case("Inverse", [f(3, 3)], tol=1e-4)
case("Inverse", [f(2, 2, 4, 4)], tol=1e-3)
case("Inverse", [f(2, 3, 3, dtype=np.float64)])
case("Unique", [np.asarray([2, 1, 1, 3, 4, 3], np.float32)], outputs=3)
for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        case("GridSample", [f(1, 2, 4, 5), f(1, 3, 2, 2, scale=0.8)], {"mode": mode, "padding_mode": padding, "align_corners": 1 if padding == "border" else 0}, tol=1e-4)
boxes = np.asarray([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [-0.2, 0.1, 0.8, 1.3]], np.float32)
case("CropAndResize", [f(2, 2, 5, 6), boxes, i32(0, 1, 0), i32(3, 4)])
case("CropAndResize", [f(2, 2, 5, 6), boxes, i32(0, 1, 0), i32(3, 4)], {"mode": "nearest", "extrapolation_value": 2.5})
case("CropAndResize", [f(2, 2, 5, 6), boxes, i32(0, 1, 0), i32(1, 1)])
case("GatherND", [f(2, 3, 4), np.asarray([[0, 1], [1, 2]], np.int64)])
case("GatherND", [f(2, 3), np.asarray([[1, 2], [0, 0]], np.int32)])
case("Pad", [f(2, 3), i64(0, 1, 2, 0), f(1)])
case("Pad", [f(2, 3), i64(0, 2, 0, 1).reshape(1, 4)], {"mode": "reflect"})
case("Range", [np.float32(1).reshape(()), np.float32(4).reshape(()), np.float32(0.75).reshape(())])
case("Range", [np.int64(2).reshape(1), np.int64(9).reshape(1)])
case("Range", [np.int16(9).reshape(()), np.int16(1).reshape(()), np.int16(-3).reshape(())])
x = f(2, 8)
y = np.fft.rfft(x.astype(np.float64))
case("Rfft", [x], {"signal_ndim": 1, "onesided": 1, "normalized": 0}, expected=[np.stack([y.real, y.imag], -1).astype(np.float32)], tol=1e-4)
z = np.stack([y.real, y.imag], -1).astype(np.float32)
case("Irfft", [z], {"signal_ndim": 1, "onesided": 1, "normalized": 0}, expected=[x], tol=1e-4)
x = f(3, 4, 6)
y = np.fft.rfft2(x.astype(np.float64))
case("Rfft", [x], {"signal_ndim": 2}, expected=[np.stack([y.real, y.imag], -1).astype(np.float32)], tol=1e-4)
a, b = f(3, 4), f(3, 4)
p = (a[..., 0::2] + 1j * a[..., 1::2]), (b[..., 0::2] + 1j * b[..., 1::2])
pairs = lambda c: np.stack([c.real, c.imag], -1).reshape(3, 4).astype(np.float32)
case("ComplexMul", [a.reshape(3, 2, 2), b.reshape(3, 2, 2)], expected=[pairs(p[0] * p[1]).reshape(3, 2, 2)])
case("ComplexMulConj", [a.reshape(3, 2, 2), b.reshape(3, 2, 2)], expected=[pairs(p[0] * p[1].conj()).reshape(3, 2, 2)])
case("CDist", [f(3, 4), f(5, 4)], {"metric": "euclidean"}, tol=1e-4)
case("CDist", [f(3, 4), f(5, 4)], {"metric": "sqeuclidean"}, tol=1e-4)
x = f(2, 7)
case("UnfoldTensor", [x], {"dim": 1, "size": 3, "step": 2}, expected=[np.stack([x[:, i:i + 3] for i in (0, 2, 4)], 1)])
w, ids = f(6, 4), i64(0, 5, 2, 2).reshape(2, 2)
case("TorchEmbedding", [w, ids], expected=[w[ids]])
x, y, g = f(2, 3, 4), f(2, 3, 4), f(2, 3, 1)
case("GatedAdd", [x, y, g], expected=[x + y * g])
case("IsAllFinite", [f(3), f(2, 2)], expected=[np.asarray(True)])
case("IsAllFinite", [f(3), np.asarray([1, np.inf], np.float32)], expected=[np.asarray(False)])
case("IsAllFinite", [np.asarray([1, np.inf], np.float32)], {"isnan_only": 1}, expected=[np.asarray(True)])
x = f(2, 3, 8)
scale, gate = f(4), f(2, 3, 8)
r = x.reshape(2, 3, 2, 4).astype(np.float64)
r = r / np.sqrt((r * r).mean(-1, keepdims=True) + 1e-5) * scale
case("GatedRMSNorm", [x, scale, gate], {"epsilon": 1e-5}, expected=[(r.reshape(2, 3, 8) * (gate / (1 + np.exp(-gate.astype(np.float64))))).astype(np.float32)])


def softmax(x, axes):
    y = np.exp(x.astype(np.float64) - x.max(axes, keepdims=True))
    return (y / y.sum(axes, keepdims=True)).astype(np.float32)


x, b = f(2, 3, 4, 5), f(3, 4, 5)
case("BiasSoftmax", [x, b], {"axis": 2, "is_inner_broadcast": 0}, expected=[softmax(x + b, (2, 3))])
b = f(2, 5)
case("BiasSoftmax", [x, b], {"axis": 3, "is_inner_broadcast": 1}, expected=[softmax(x + b.reshape(2, 1, 1, 5), (3,))])
