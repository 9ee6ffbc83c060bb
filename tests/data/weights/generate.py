#!/usr/bin/env python3
"""Figures of weights by numpy and torch, for tst_weight_figures and tst_spectrum.

    python3 tests/data/weights/generate.py      # writes cases.json beside itself; needs python3-numpy, python3-torch

The elements of large cases are those of a linear congruential generator (MMIX), which the tests have, too:
x = (state >> 40) / 2^23 - 1, and its cube where "cubed" is said.
"""
import json
import os

import numpy as np
import torch

MASK = (1 << 64) - 1


def numbers(count, seed, cubed=False):
    values, state = np.empty(count), seed
    for i in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        values[i] = (state >> 40) / 8388608 - 1
    return values * values * values if cubed else values


def figures(values):
    """Of the elements as float64."""
    x = np.asarray(values, dtype=np.float64).ravel()
    finite = x[np.isfinite(x)]
    result = {"count": x.size, "nan": int(np.isnan(x).sum()), "inf": int(np.isinf(x).sum()), "zero": int((x == 0).sum())}
    if finite.size == 0:
        return result
    result.update(min=finite.min(), max=finite.max(), mean=finite.mean(), std=finite.std(),
                  histogram=np.histogram(finite, 32)[0].tolist())
    some = finite[finite != 0]
    if some.size:
        q = np.percentile(some, [25, 50, 75])
        spread = q[2] - q[0]
        low, high = q[0] - 3 * spread, q[2] + 3 * spread
        result.update(quartiles=q.tolist(), fences=[low, high], outliers=int(((some < low) | (some > high)).sum()))
    return result


def plain(values):
    return [None if np.isnan(x) else "inf" if x == np.inf else "-inf" if x == -np.inf else float(x)
            for x in np.asarray(values, dtype=np.float64).ravel()]


def case(name, values, dtype, **more):
    return {"name": name, "dtype": dtype, "values": plain(values), **figures(values), **more}


def statistics():
    x = (np.round(numbers(120, 1) * 64) / 64).astype(np.float32)  # few digits
    wild = x.copy()
    wild[[7, 50]] = [40, -31.5]
    bad = x.copy()
    bad[[0, 3, 9, 10]] = [np.nan, np.inf, -np.inf, np.nan]
    sparse = np.where(np.arange(120) % 10 == 0, x, 0).astype(np.float32)
    half = x.astype(np.float16)
    brain = torch.tensor(x).bfloat16().float().numpy()
    cases = [
        case("outliers", wild, "float32"), case("bad", bad, "float32"), case("all bad", [np.nan, np.inf], "float32"),
        case("empty", [], "float32"), case("constant", np.full(9, 0.25), "float32"), case("zeros", np.zeros(5), "float32"),
        case("sparse", sparse, "float32"), case("one", [3.5], "float32"), case("float16", half, "float16"),
        case("bfloat16", brain, "bfloat16"), case("float64", np.round(numbers(60, 3) * 64) * 1e100, "float64"),
        case("int8", np.round(x * 100), "int8"), case("uint8", np.round((x + 1) * 60), "uint8"),
        case("bool", x > 0, "bool"), case("tiny", np.round(numbers(40, 4) * 64) * 1e-42, "float64"),
    ]
    for name, count, cubed in [("large", 100_000, True), ("just sorted", 65_536, False), ("just not sorted", 65_537, False)]:
        values = numbers(count, count, cubed).astype(np.float32)
        cases.append({"name": name, "dtype": "float32", "generated": count, "cubed": cubed, **figures(values)})
    return cases


def quantised():
    """torch's own dequantisation of per-channel and per-tensor quantised weights."""
    x = torch.tensor(numbers(4 * 2 * 3, 5).reshape(4, 2, 3)).float()
    scales, zeros = torch.tensor([0.01, 0.02, 0.005, 0.04]), torch.tensor([0, 3, -2, 1])
    channels = torch.quantize_per_channel(x, scales, zeros, 0, torch.qint8)
    whole = torch.quantize_per_tensor(x, 0.013, 2, torch.quint8)
    return {
        "channels": {"stored": channels.int_repr().flatten().tolist(), "scales": scales.tolist(), "zeros": zeros.tolist(),
                     **figures(channels.dequantize().numpy())},
        "whole": {"stored": whole.int_repr().flatten().tolist(), "scale": 0.013, "zero_point": 2,
                  **figures(whole.dequantize().numpy())},
    }


def filters():
    """Which output channels are zero or equal, by the operations themselves on unit impulses."""
    torch.manual_seed(0)

    def of(outputs):
        rows = outputs.reshape(outputs.shape[0], -1).numpy()
        zero = [i for i in range(len(rows)) if not rows[i].any()]
        same = []
        for i in range(len(rows)):
            first = next((j for j in range(i) if j not in zero and (rows[j] == rows[i]).all()), None)
            if i not in zero and first is not None and not any(i2 == i for i2, _ in same):
                same.append([i, first])
        return {"zero": zero, "duplicate": same}

    kernel = torch.tensor(numbers(6 * 2 * 3 * 3, 6).reshape(6, 2, 3, 3)).float()
    kernel[2] = 0
    kernel[5] = kernel[1]
    impulses = torch.eye(2 * 49).reshape(2 * 49, 2, 7, 7)
    conv = torch.nn.functional.conv2d(impulses, kernel, padding=1).permute(1, 0, 2, 3)

    # 2 groups of 2 inputs and 3 outputs: filter 3·g + f
    transposed = torch.tensor(numbers(4 * 3 * 2 * 2, 7).reshape(4, 3, 2, 2)).float()
    transposed[0:2, 1] = 0
    transposed[2:4, 2] = transposed[2:4, 0]
    impulses = torch.eye(4 * 25).reshape(4 * 25, 4, 5, 5)
    back = torch.nn.functional.conv_transpose2d(impulses, transposed, groups=2).permute(1, 0, 2, 3)
    # Filters of different groups read different inputs: they are equal as filters, not as channels.

    matrix = torch.tensor(numbers(5 * 7, 8).reshape(5, 7)).float()
    matrix[:, 4] = 0
    matrix[:, 6] = matrix[:, 0]
    product = (torch.eye(5) @ matrix).T
    return {"conv": {"values": plain(kernel), **of(conv)}, "transposed": {"values": plain(transposed), **of(back)},
            "product": {"values": plain(matrix), **of(product)}}


def ranks(matrix):
    matrix = np.asarray(matrix, dtype=np.float64)
    sigma = np.linalg.svd(matrix, compute_uv=False)
    p = sigma / sigma.sum() if sigma.sum() else sigma
    entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
    return {"sigma": [float(f"{s:.8g}") for s in sigma], "effective": float(np.exp(entropy)) if sigma.sum() else 0.0,
            "stable": float((sigma**2).sum() / sigma[0]**2) if sigma[0] else 0.0,
            "numerical": int(np.linalg.matrix_rank(matrix.astype(np.float32)))}


def spectra():
    small = numbers(40 * 70, 9).reshape(40, 70).astype(np.float32)
    tall = numbers(900 * 500, 10).reshape(900, 500).astype(np.float32)
    low = (numbers(60 * 5, 11).reshape(60, 5) @ numbers(5 * 50, 12).reshape(5, 50)).astype(np.float32)
    # Decaying values, as trained layers have them: rows scaled by 1/(1 + i/10).
    decay = numbers(300 * 200, 13).reshape(300, 200) / (1 + np.arange(300)[:, None] / 10)
    kernel = numbers(8 * 3 * 3 * 3, 14).reshape(8, 27).astype(np.float32)
    back = numbers(4 * 3 * 2 * 2, 7).reshape(4, 3, 4).transpose(1, 0, 2).reshape(3, 16).astype(np.float32)
    return {"small": ranks(small), "tall": ranks(tall), "low": ranks(low),
            "decay": ranks(decay.astype(np.float32)), "kernel": ranks(kernel), "transposed": ranks(back)}


def main():
    data = {"statistics": statistics(), "quantised": quantised(), "filters": filters(), "spectra": spectra()}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.json")
    with open(path, "w") as file:
        json.dump(data, file, separators=(",", ":"), allow_nan=False)
        file.write("\n")
    print(path, os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main()
