"""Cases for generate.py at the edges of operators: NaN, empty axes, factors of zero, integers that overflow. ONNX Runtime gives
what it has; the others are numpy's."""
import numpy as np

from generate import Const, case, i32, i64

nan = np.nan


def odd(op, opset, inputs, attrs=None, expected=None, tol=1e-6):
    case(op, inputs, attrs, domain="", version=opset, opset=opset, tol=tol, expected=expected)


lines = np.asarray([[1, nan, 2], [nan, nan, 0], [3, 1, 3]], np.float32)
# ONNX Runtime gives the one or the other, by how many there are: numpy and PyTorch take the first NaN.
odd("ArgMax", 13, [lines], {"axis": 1}, [lines.argmax(1, keepdims=True)])
odd("ArgMin", 13, [lines], {"axis": 1}, [lines.argmin(1, keepdims=True)])
odd("ArgMax", 13, [np.asarray([[2, nan, nan]], np.float32)], {"axis": 1, "select_last_index": 1}, [i64(1).reshape(1, 1)])
odd("ReduceLogSumExp", 13, [lines], {"axes": [1]})
odd("ReduceLogSumExp", 13, [np.asarray([[1000, 1000], [-1000, -1001]], np.float32)], {"axes": [1]})
odd("LogSoftmax", 13, [np.asarray([[1e6, 1e6], [1e4, 9999], [-1e5, -1e5 - 1]], np.float32)], {"axis": 1})
odd("Hardmax", 13, [lines], {"axis": 1}, [np.asarray([[0, 1, 0], [1, 0, 0], [1, 0, 0]], np.float32)])

# Integers wrap as numpy's do.
most = np.iinfo(np.int64).max
odd("ReduceSum", 11, [i64(most, 2)], {"axes": [0]}, [i64(most, 2).sum(keepdims=True)])
odd("ReduceProd", 11, [i64(1 << 40, 3 << 30)], {"axes": [0]}, [i64(1 << 40, 3 << 30).prod(keepdims=True)])
odd("ReduceSumSquare", 11, [i64(1 << 33, 3)], {"axes": [0]}, [(i64(1 << 33, 3) ** 2).sum(keepdims=True)])
odd("ReduceL1", 11, [i64(-most - 1, 1)], {"axes": [0]}, [np.abs(i64(-most - 1, 1)).sum(keepdims=True)])
odd("Pow", 13, [i64(3, -7, 2, 1), i32(39, 21, 62, -5)], {}, [i64(3**39, -(7**21), 2**62, 1)])

# Nothing in, nothing out; the extents are what was asked for.
empty = np.zeros((0, 3, 4, 4), np.float32)
odd("Resize", 13, [empty, None, None, Const(i64(0, 3, 8, 8))], {"mode": "linear"})
odd("Resize", 13, [empty, None, Const(np.asarray([1, 1, 2, 2], np.float32))], {"mode": "nearest"})
odd("Resize", 13, [np.zeros((1, 3, 4, 4), np.float32), None, None, Const(i64(1, 3, 0, 8))], {"mode": "linear"}, [np.zeros((1, 3, 0, 8), np.float32)])
# A cubic overshoots the range of its bytes and stays at its end: (x + 0.5) / 2 - 0.5 = 1.25 lies between 0 and 0, before 255, …
step = np.asarray([[[[0, 0, 255, 255, 0, 0]]]], np.uint8)


def keys(distance, a=-0.75):
    d = abs(distance)
    return (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0.0


def cubic_twice(row):
    n = len(row)
    out = []
    for i in range(2 * n):
        x = (i + 0.5) / 2 - 0.5
        at = int(np.floor(x))
        out.append(sum(keys(k - x) * float(row[min(max(k, 0), n - 1)]) for k in range(at - 1, at + 3)))
    return np.clip(np.rint(out), 0, 255).astype(np.uint8)


odd("Resize", 13, [step, None, Const(np.asarray([1, 1, 1, 2], np.float32))], {"mode": "cubic"}, [cubic_twice(step.flatten()).reshape(1, 1, 1, 12)])

# Factors of zero: not even a NaN comes through.
left, right, added = np.asarray([[1, 2], [3, 4]], np.float32), np.asarray([[5, 6], [7, 8]], np.float32), np.asarray([[nan, 1], [2, nan]], np.float32)
odd("Gemm", 13, [left, right, added], {"beta": 0.0}, [left @ right])
odd("Gemm", 13, [added, right, left], {"alpha": 0.0, "beta": 2.0}, [2 * left])
odd("Gemm", 13, [added, right], {"alpha": 0.0}, [np.zeros((2, 2), np.float32)])
