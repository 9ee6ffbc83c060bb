"""Cases of the operators on quantised tensors. Tolerances of 0 mean equal, of 1 that a unit may be rounded the other way."""
import numpy as np
from generate import Const, Packed, case, i32, normals

rng = np.random.default_rng(12)
f = normals(rng)


def q(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -40000), min(info.max, 40000) + 1, shape).astype(dtype)


def s(value, dtype=np.float32):
    """A scalar."""
    return np.asarray(value, dtype)


u8, i8 = np.uint8, np.int8

# QuantizeLinear and DequantizeLinear
for dtype, scale, zero in ((u8, 0.017, 120), (i8, 0.02, -3), (np.uint16, 0.0001, 30000), (np.int16, 0.0002, 17)):
    case("QuantizeLinear", [f(2, 3, 4), s(scale), s(zero, dtype)], tol=0)
    case("DequantizeLinear", [q(dtype, 2, 3, 4), s(scale), s(zero, dtype)])
case("QuantizeLinear", [f(2, 3, 4), np.asarray([0.02, 0.1, 0.5], np.float32), np.asarray([0, 100, 255], u8)], {"axis": 1}, tol=0)
case("QuantizeLinear", [f(2, 5), s(0.02)], tol=0)
case("QuantizeLinear", [f(2, 5, dtype=np.float16), s(0.02, np.float16), s(4, u8)], tol=0)
case("DequantizeLinear", [q(i8, 2, 3), np.asarray([0.02, 0.1, 0.5], np.float32), np.asarray([0, 10, -5], i8)], {"axis": -1})
case("DequantizeLinear", [q(np.int32, 2, 3), s(0.002)])
case("DequantizeLinear", [q(u8, 2, 3), s(0.02, np.float16), s(100, u8)])
for name, low in (("i4", -8), ("u4", 0)):
    case("DequantizeLinear", [Packed(rng.integers(low, low + 16, (3, 5)), name), Const(s(0.25)), Packed(np.asarray(low + 5), name)])
    case("DequantizeLinear", [Packed(rng.integers(low, low + 16, (2, 3)), name), Const(np.asarray([0.5, 0.25, 2], np.float32)), Packed([low + 1, low, low + 9], name)], {"axis": 1})
    case("QuantizeLinear", [f(3, 5, scale=3), Const(s(0.6)), Packed(np.asarray(low + 7), name)], tol=0, opset=21, cast_output=name)

# Elementwise
for dtype, zeros in ((u8, (120, 3, 90)), (i8, (-3, 20, 5))):
    z = [s(v, dtype) for v in zeros]
    for op in ("QLinearAdd", "QLinearMul"):
        case(op, [q(dtype, 2, 3, 4), s(0.02113), z[0], q(dtype, 2, 3, 4), s(0.03731), z[1], s(0.10973), z[2]], tol=0)
        case(op, [q(dtype, 2, 3, 4), s(0.02113), z[0], q(dtype, 4), s(0.03731), z[1], s(0.09117), z[2]], tol=0)
    case("QLinearSigmoid", [q(dtype, 3, 7), s(0.05), z[0], s(0.0039), z[1]], tol=0)
    case("QLinearLeakyRelu", [q(dtype, 3, 7), s(0.05), z[0], s(0.06), z[1]], {"alpha": 0.1}, tol=0)
    case("QLinearWhere", [rng.integers(0, 2, (3, 4)).astype(bool), q(dtype, 3, 4), s(0.02), z[0], q(dtype, 4), s(0.05), z[1], s(0.06), z[2]], tol=0)
    case("QLinearConcat", [s(0.05), z[0], q(dtype, 2, 3), s(0.02), z[1], q(dtype, 2, 2), s(0.07), z[2]], {"axis": 1}, tol=0)
    case("QLinearSoftmax", [q(dtype, 3, 7), s(0.05), z[0], s(1 / 256), s(0 if dtype == u8 else -128, dtype)], {"axis": -1, "opset": 13}, tol=1)
    case("QLinearSoftmax", [q(dtype, 2, 3, 4), s(0.03), z[1], s(1 / 256), s(0 if dtype == u8 else -128, dtype)], {"axis": 1, "opset": 12}, tol=1)
    case("QLinearSoftmax", [q(dtype, 2, 3, 4), s(0.03), z[1], s(1 / 256), s(0 if dtype == u8 else -128, dtype)], {"axis": 1, "opset": 13}, tol=1)
case("QLinearAdd", [q(u8, 2, 3), s(0.02), s(3, u8), q(u8, 2, 3), s(0.03), s(9, u8), s(0.06)], tol=0)
case("QLinearMul", [q(i8, 1, 3), s(0.02), s(-3, i8), q(i8, 2, 1), s(0.03), s(9, i8), s(0.06)], tol=0)
case("QLinearSigmoid", [q(u8, 9), s(0.02), None, s(0.004), s(3, u8)], tol=0)
case("QLinearLeakyRelu", [q(i8, 9), s(0.02), None, s(0.02), s(3, i8)], tol=0)

# Pools and means
for dtype, zeros in ((u8, (120, 90)), (i8, (-3, 5))):
    z = [s(v, dtype) for v in zeros]
    quant = [s(0.05137), z[0], s(0.03171), z[1]]
    case("QLinearAveragePool", [q(dtype, 1, 2, 5, 6)] + quant, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}, tol=0)
    case("QLinearAveragePool", [q(dtype, 1, 2, 5, 6)] + quant, {"kernel_shape": [3, 2], "pads": [1, 0, 0, 1], "count_include_pad": 1}, tol=0)
    case("QLinearAveragePool", [q(dtype, 1, 5, 6, 3)] + quant, {"kernel_shape": [2, 2], "strides": [2, 2], "channels_last": 1, "ceil_mode": 1}, tol=0)
    case("QLinearGlobalAveragePool", [q(dtype, 2, 3, 4, 5)] + quant, {"channels_last": 0}, tol=0)
    case("QLinearGlobalAveragePool", [q(dtype, 2, 4, 5, 3)] + quant, {"channels_last": 1}, tol=0)
    x = q(dtype, 2, 3, 4)
    mean = ((x.astype(np.float32) - float(z[0])) * np.float32(0.05137)).mean((0, 2), keepdims=True)
    info = np.iinfo(dtype)
    case("QLinearReduceMean", [x] + quant, {"axes": [0, 2], "keepdims": 1}, tol=0, expected=[np.clip(np.rint(mean / np.float32(0.03171)) + float(z[1]), info.min, info.max).astype(dtype)])
    case("NhwcMaxPool", [q(dtype, 1, 5, 6, 3)], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}, tol=0)

# Products
for a, b in ((u8, i8), (u8, u8), (i8, i8)):
    za, zb = s(7, a), s(3, b)
    case("MatMulIntegerToFloat", [q(a, 3, 4), q(b, 4, 5), s(0.02), s(0.03), za, zb, f(5)])
    case("MatMulIntegerToFloat", [q(a, 2, 3, 4), q(b, 4, 5), s(0.02), np.abs(f(5)) + np.float32(0.01), za, q(b, 5)])
    case("DynamicQuantizeMatMul", [f(3, 4), q(b, 4, 5), s(0.03), zb, f(5)], tol=1e-4)
    case("QGemm", [q(a, 3, 4), s(0.02), za, q(b, 4, 5), s(0.03), zb, i32(100, -2000, 30, 4, 5), s(0.3), s(20, a)], {"alpha": 0.5}, tol=0)
    case("QGemm", [q(a, 4, 3), s(0.02), za, q(b, 5, 4), s(0.03), zb], {"transA": 1, "transB": 1})
case("QGemm", [q(u8, 3, 4), s(0.02), s(9, u8), q(i8, 4, 5), np.abs(f(5)) + np.float32(0.01), q(i8, 5), i32(100, -2000, 30, 4, 5)])
case("DynamicQuantizeMatMul", [f(2, 3, 4), q(i8, 4, 5), np.abs(f(5)) + np.float32(0.01), q(i8, 5)], tol=1e-4)
case("DynamicQuantizeMatMul", [f(3, 4), q(u8, 4, 5), s(0.03)], tol=1e-4)
case("MatMulInteger16", [q(np.int16, 2, 3), q(np.int16, 3, 4)], tol=0)
x, y = q(np.uint16, 2, 3), q(np.uint16, 3, 4)
case("MatMulInteger16", [x, y], expected=[(x.astype(np.int64) @ y.astype(np.int64)).astype(np.uint32)], tol=0)
x, y = q(u8, 2, 3), q(u8, 1, 3)
case("MulInteger", [x, s(5, u8), y, s(200, u8)], expected=[((x.astype(int) - 5) * (y.astype(int) - 200)).astype(np.int32)], tol=0)
x = q(i8, 2, 3)
case("ReduceSumInteger", [x], {"axes": [1], "keepdims": 0}, expected=[x.astype(np.int32).sum(1).astype(np.int32)], tol=0)
conv = [q(u8, 1, 2, 5, 5), s(0.02), s(100, u8), Const(q(i8, 3, 2, 3, 3)), s(0.01), s(0, i8), s(0.1), s(90, u8), i32(1000, -500, 20)]
case("QLinearConv", conv, {"pads": [1, 1, 1, 1]}, tol=0)
last = list(conv)
last[0] = q(u8, 1, 5, 5, 2)
case("QLinearConv", last, {"pads": [1, 1, 1, 1], "channels_last": 1, "strides": [2, 2]}, tol=0)

# Weights of few bits
def nbits(bits, n, k, block):
    blocks = -(-k // block)
    blob = block * bits // 8
    return q(u8, n, blocks, blob), np.abs(f(n, blocks)) * np.float32(0.1) + np.float32(0.01), blocks


for bits, n, k, block in ((4, 5, 32, 16), (4, 3, 40, 16), (8, 4, 32, 16), (2, 4, 32, 16)):
    w, scales, blocks = nbits(bits, n, k, block)
    attrs = {"K": k, "N": n, "bits": bits, "block_size": block}
    case("MatMulNBits", [f(3, k), Const(w), Const(scales)], attrs, tol=1e-4)
    zeros = q(u8, n, (blocks * bits + 7) // 8)
    case("MatMulNBits", [f(2, 2, k), Const(w), Const(scales), Const(zeros)], attrs, tol=1e-4)
w, scales, blocks = nbits(4, 5, 64, 32)
attrs = {"K": 64, "N": 5, "bits": 4, "block_size": 32}
case("MatMulNBits", [f(1, 64), Const(w), Const(scales), Const(f(5, 2, scale=4)), None, Const(f(5))], attrs, tol=1e-4)
case("MatMulNBits", [f(2, 64), Const(w), Const(scales.reshape(-1)), Const(q(u8, 5))], attrs, tol=1e-4)
case("MatMulNBits", [f(2, 64), Const(w), Const(scales), None, Const(i32(*[(i // 8) % 2 for i in range(64)]))], attrs, tol=1e-4)
for name, low in (("i4", -8), ("u4", 0)):
    data = Packed(rng.integers(low, low + 16, (6, 32)), name)
    scales = np.abs(f(6, 2)) + np.float32(0.1)
    case("GatherBlockQuantized", [data, np.asarray([[0, 5], [2, -1]], np.int64), Const(scales)], {"block_size": 16, "gather_axis": 0, "quantize_axis": 1})
    case("GatherBlockQuantized", [data, i32(3, 1), Const(scales), Packed(rng.integers(low, low + 16, (6, 2)), name)], {"block_size": 16, "gather_axis": 0, "quantize_axis": 1})
    case("GatherBlockQuantized", [data, i32(3, 30), Const(scales)], {"block_size": 16, "gather_axis": 1, "quantize_axis": 1})
data = Packed(rng.integers(0, 16, (32, 4)), "u4")
case("GatherBlockQuantized", [data, i32(3, 30, 16), Const(np.abs(f(2, 4)) + np.float32(0.1))], {"block_size": 16, "gather_axis": 0, "quantize_axis": 0})
case("GatherBlockQuantized", [Const(q(u8, 6, 16)), i32(3, 1), Const(np.abs(f(6, 2)) + np.float32(0.1))], {"block_size": 16, "bits": 4, "gather_axis": 0, "quantize_axis": 1})
case("GatherBlockQuantized", [Const(q(u8, 6, 16)), i32(3, 1), Const(np.abs(f(6, 2)) + np.float32(0.1)), Const(q(u8, 6, 1))],
     {"block_size": 16, "bits": 4, "gather_axis": 0, "quantize_axis": 1})
case("GatherBlockQuantized", [Const(q(u8, 6, 32)), i32(5, 0), Const(np.abs(f(6, 2)) + np.float32(0.1)), Const(q(u8, 6, 2))],
     {"block_size": 16, "bits": 8, "gather_axis": 0, "quantize_axis": 1})

# Embeddings
ids, segments = i32(*rng.integers(0, 9, 8)).reshape(2, 4), i32(0, 0, 1, 1, 0, 1, 1, 1).reshape(2, 4)
tables = [q(u8, 9, 6), q(u8, 5, 6), q(u8, 2, 6), q(u8, 6), q(u8, 6)]
scales = [s(v) for v in (0.011, 0.012, 0.013, 0.014, 0.015)]
zeros = [s(v, u8) for v in (120, 125, 130, 3, 140)]
mask = i32(1, 1, 1, 0, 1, 1, 0, 0).reshape(2, 4)
case("QEmbedLayerNormalization", [ids, segments, *tables, mask, *scales, *zeros], {"epsilon": 1e-6}, outputs=2, tol=1e-4)
none = lambda items: items[:2] + [None] + items[3:]
case("QEmbedLayerNormalization", [ids, None, *none(tables), None, *none(scales), *none(zeros)], outputs=2, tol=1e-4)

# Ties, which the order of the float32 operations decides: operands of one shape, and repeated along rows or along columns
for dtype, op, first, quant in (
    (i8, "QLinearAdd", 76, (0.219, -62, 0.073, 91, 0.438, 42)),
    (u8, "QLinearAdd", 50, (0.225, 147, 0.075, 191, 0.45, 233)),
    (i8, "QLinearAdd", 89, (0.126, 116, 0.042, 34, 0.252, -100)),
    (i8, "QLinearMul", 96, (0.21, 127, 0.07, -38, 0.4704, 101)),
    (u8, "QLinearMul", 108, (0.066, 149, 0.033, 106, 0.008712, 149)),
):
    line = np.arange(first, first + 12).astype(dtype)
    numbers = [s(v, np.float32 if i % 2 == 0 else dtype) for i, v in enumerate(quant)]
    pairs = [(np.repeat(line, 12), np.tile(line, 12)), (line[:, None], line[None, :]), (line[None, :], line[:, None])]
    for a, b in pairs if op == "QLinearAdd" else pairs[:1]:
        case(op, [a, *numbers[:2], b, *numbers[2:4], *numbers[4:]], tol=0)
