"""Cases of ai.onnx as it was in opsets 1 to 10: attributes that became inputs, broadcasting by axis, operators that are gone.
Values are formulas of docs/Changelog.md of ONNX where ONNX Runtime does not go back so far."""
import numpy as np
from generate import case, i64, normals

rng = np.random.default_rng(14)
f = normals(rng)


def old(op, opset, inputs, attrs=None, expected=None, **more):
    case(op, inputs, attrs, domain="", opset=opset, expected=expected, **more)


a, channel, tail = f(2, 3, 4), f(3), f(4)
spread = channel.reshape(1, 3, 1)
functions = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
for op, function in functions.items():
    for opset in (1, 6):
        old(op, opset, [a, channel], {"broadcast": 1, "axis": 1}, [function(a, spread)])
    old(op, 6, [a, tail], {"broadcast": 1}, [function(a, tail)])
    old(op, 1, [a, a + 1], {"consumed_inputs": [0, 0]}, [function(a, a + 1)])
p = np.abs(a) + np.float32(0.1)
old("Pow", 1, [p, channel], {"broadcast": 1, "axis": 1}, [np.power(p, spread)])
flags, other = a > 0, channel > 0
for op, function in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
    old(op, 1, [flags, other], {"broadcast": 1, "axis": 1}, [function(flags, other.reshape(1, 3, 1))])
old("Greater", 1, [a, channel], {"broadcast": 1, "axis": 1}, [a > spread])
old("Less", 1, [a, tail], {"broadcast": 1}, [a < tail])
n = i64(1, 2, 3, 1, 5, 6).reshape(2, 3)
old("Equal", 1, [n, i64(1, 5)], {"broadcast": 1, "axis": 0}, [n == i64(1, 5).reshape(2, 1)])
old("PRelu", 1, [a, channel], {}, [np.where(a < 0, a * spread, a)])
old("PRelu", 6, [a, np.asarray([0.25], np.float32)], {}, [np.where(a < 0, a * np.float32(0.25), a)])
old("PRelu", 7, [a, f(3, 1)])

# Attributes that became inputs
old("Reshape", 1, [a], {"shape": [0, -1]}, [a.reshape(2, 12)])
old("Clip", 1, [a], {"min": -0.5, "max": 0.25}, [np.clip(a, np.float32(-0.5), np.float32(0.25))])
old("Clip", 6, [a], {"max": 0.25}, [np.minimum(a, np.float32(0.25))])
old("Clip", 11, [a, np.asarray(-0.5, np.float32)])
old("Slice", 1, [a], {"starts": [1, -3], "ends": [3, 1000], "axes": [1, 2]}, [a[:, 1:3, -3:]])
old("Slice", 1, [a], {"starts": [0, 1], "ends": [1, 2]}, [a[0:1, 1:2]])
old("Split", 1, [a], {"axis": 2, "split": [1, 3]}, [a[:, :, :1], a[:, :, 1:]], outputs=2)
old("Split", 1, [a, i64(1, 2)], {"axis": 1}, [a[:, :1], a[:, 1:]], outputs=2)
old("Split", 2, [a], {"axis": 2}, [a[:, :, :2], a[:, :, 2:]], outputs=2)
old("Squeeze", 1, [a[:1]], {"axes": [0]}, [a[0]])
old("Unsqueeze", 1, [a], {"axes": [0, 3]}, [a[None, :, :, None]])
old("Pad", 1, [a[0]], {"paddings": [0, 1, 1, 0], "value": 2.0}, [np.pad(a[0], ((0, 1), (1, 0)), constant_values=2)])
old("Pad", 2, [a[0]], {"pads": [0, 1, 0, 2], "mode": "reflect"}, [np.pad(a[0], ((0, 0), (1, 2)), mode="reflect")])
order = np.argsort(-a, axis=2, kind="stable")[:, :, :2]
old("TopK", 1, [a], {"k": 2, "axis": 2}, [np.take_along_axis(a, order, 2), order.astype(np.int64)], outputs=2)
old("Tile", 1, [a, np.asarray(2, np.float32), np.asarray(1, np.float32)], {}, [np.tile(a, (1, 2, 1))])
old("Tile", 6, [a, i64(1, 2, 1)], {}, [np.tile(a, (1, 2, 1))])
old("Cast", 1, [a], {"to": "INT32"}, [a.astype(np.int32)])
old("Cast", 6, [a], {"to": 7}, [a.astype(np.int64)])
old("Cast", 1, [n], {"to": "FLOAT"}, [n.astype(np.float32)])
old("ReduceSum", 1, [a], {"axes": [1], "keepdims": 0}, [a.sum(1)])
old("ReduceMean", 11, [a], {"axes": [-1]})
old("Concat", 1, [a, a], {}, [np.concatenate([a, a], 1)])
image = f(1, 2, 2, 3)
twice = image.repeat(2, 2).repeat(2, 3)
old("Upsample", 1, [image], {"height_scale": 2.0, "width_scale": 2.0}, [twice])
old("Upsample", 7, [image], {"scales": [1.0, 1.0, 2.0, 2.0], "mode": "nearest"})
old("Upsample", 9, [image, np.asarray([1, 1, 2, 3], np.float32)], {"mode": "linear"})
old("Resize", 10, [image, np.asarray([1, 1, 1.5, 2], np.float32)], {"mode": "nearest"})
old("Dropout", 1, [a], {"is_test": 1, "ratio": 0.5}, [a])
old("Dropout", 7, [a], {"ratio": 0.5})
old("Scatter", 9, [a[0], i64(1, 0, 2, 1).reshape(1, 4), f(1, 4)], {"axis": 0})
old("Gather", 1, [a, i64(2, 0)], {"axis": 1}, [a[:, [2, 0]]])
old("OneHot", 9, [i64(1, 3, -1), np.asarray(4, np.int64), np.asarray([0, 5], np.float32)])
old("NonMaxSuppression", 10, [np.asarray([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 10, 1, 11]]], np.float32), np.asarray([[[0.9, 0.75, 0.6]]], np.float32), i64(3),
                              np.asarray([0.5], np.float32), np.asarray([0], np.float32)])

# Other behaviour
gemm = [f(3, 4), f(4, 5), f(5)]
old("Gemm", 1, gemm, {"broadcast": 1, "alpha": 0.5, "beta": 2.0}, [(0.5 * (gemm[0].astype(float) @ gemm[1]) + 2 * gemm[2]).astype(np.float32)])
x, scale, bias, mean, var = f(2, 3, 4), f(3), f(3), f(3), np.abs(f(3)) + np.float32(0.1)
normal = lambda s, b, m, v: ((x - m) / np.sqrt(v.astype(float) + 1e-5) * s + b).astype(np.float32)
column = lambda t: t.reshape(1, 3, 1)
old("BatchNormalization", 1, [x, scale, bias, mean, var], {"is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]}, [normal(*map(column, (scale, bias, mean, var)))])
old("BatchNormalization", 6, [x, scale, bias, mean, var], {"is_test": 1}, [normal(*map(column, (scale, bias, mean, var)))])
each = [f(3, 4), f(3, 4), f(3, 4), np.abs(f(3, 4)) + np.float32(0.1)]
old("BatchNormalization", 7, [x] + each, {"spatial": 0}, [normal(*each)])
old("Softmax", 9, [a], {"axis": 1})
old("LogSoftmax", 9, [a], {"axis": 0})
old("Hardmax", 9, [a], {"axis": 1})
old("Selu", 1, [a], {}, [np.where(a > 0, 1.0507 * a, 1.0507 * (1.6732 * np.exp(a) - 1.6732)).astype(np.float32)], tol=1e-4)
old("LpPool", 1, [image], {"kernel_shape": [2, 2], "p": 2.0}, [np.sqrt((image[:, :, :1, :2] ** 2 + image[:, :, :1, 1:] ** 2 + image[:, :, 1:, :2] ** 2 + image[:, :, 1:, 1:] ** 2))])
old("GlobalLpPool", 1, [image], {"p": 2.0}, [np.sqrt((image ** 2).sum((2, 3), keepdims=True))])
old("AveragePool", 1, [image], {"kernel_shape": [2, 2], "pads": [0, 1, 0, 0]}, [np.stack([image[..., 0:1].mean(2), image[..., 0:2].mean((2, 3))[..., None], image[..., 1:3].mean((2, 3))[..., None]], -1)
                                                                                    .reshape(1, 2, 1, 3)])
old("MaxPool", 1, [image], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"},
    [np.stack([np.stack([image[:, :, i:i + 2, j:j + 2].max((2, 3)) for j in range(3)], -1) for i in range(2)], 2)])
old("DepthToSpace", 1, [f(1, 4, 2, 3)], {"blocksize": 2})
old("ArgMax", 1, [a], {"axis": 2, "keepdims": 0}, [a.argmax(2).astype(np.int64)])
old("Max", 6, [a, a[::-1].copy()], {}, [np.maximum(a, a[::-1])])
old("Mean", 6, [a, a[::-1].copy()], {}, [(a + a[::-1]) / 2])
old("InstanceNormalization", 1, [x, scale, bias], {"epsilon": 1e-5},
    [((x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True).astype(float) + 1e-5) * column(scale) + column(bias)).astype(np.float32)])

# Operators that were an experiment, which old converters wrote and ONNX Runtime kept
old("Affine", 7, [a], {"alpha": 2.0, "beta": 0.5})
old("Crop", 7, [f(1, 2, 5, 6)], {"border": [1, 1, 2, 1]})
old("Crop", 7, [f(1, 2, 5, 6)], {"border": [1, 2, 0, 0], "scale": [2, 3]})
old("ImageScaler", 7, [image], {"scale": 0.5, "bias": [0.25, -1.0]})
old("ParametricSoftplus", 7, [a], {"alpha": 0.5, "beta": 2.0})
old("ScaledTanh", 7, [a], {"alpha": 0.5, "beta": 2.0})
old("ThresholdedRelu", 7, [a], {"alpha": 0.3})
old("MeanVarianceNormalization", 7, [f(2, 3, 4, 5)], {"across_channels": 0, "normalize_variance": 1}, tol=1e-4)
old("MeanVarianceNormalization", 7, [f(2, 3, 4, 5)], {"across_channels": 1, "normalize_variance": 0}, tol=1e-4)
