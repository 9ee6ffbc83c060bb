#!/usr/bin/env python3
"""Writes qdq_net.onnx, a small network in QDQ form: convolutions with weights quantised by channel, a depthwise one, bounds, a
sum, a gate, a concatenation. Needs numpy and onnx. qdq_net.ort.npz then has what ONNX Runtime computes in the fused network:

    python3 make_qdq_net.py
    sonde save qdq_net.onnx --pass fuse-quantized -o fused.onnx
    sonde reference fused.onnx --ort libonnxruntime.so --allow-native --input-data '#rand(-2,2)' --seed 7 -o qdq_net.ort.npz
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(20261130)
nodes, stored = [], []


def constant(name, value):
    stored.append(numpy_helper.from_array(value, name))
    return name


def add(op, inputs, name, **attributes):
    nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
    return name


def quantise(x, scale, zero):
    name = x + "_q"
    return add("QuantizeLinear", [x, constant(name + "_s", np.float32(scale)), constant(name + "_z", np.uint8(zero))], name)


def real(x, scale, zero, dtype=np.uint8):
    name = "%s_dq%d" % (x, len(nodes))
    return add("DequantizeLinear", [x, constant(name + "_s", np.float32(scale)), constant(name + "_z", dtype(zero))], name)


def by_channel(name, stem, values, scales):
    inputs = [constant(name, values), constant(name + "_s", scales), constant(name + "_z", np.zeros(len(scales), values.dtype))]
    return add("DequantizeLinear", inputs, stem, axis=0)


def convolution(name, x, scale, inputs, outputs, kernel, stride=1, pad=0, group=1):
    spread = 1.2 / np.sqrt(inputs // group * kernel * kernel)
    w = rng.normal(0, spread, (outputs, inputs // group, kernel, kernel)).astype(np.float32)
    s = (np.abs(w).max((1, 2, 3)) / 127).astype(np.float32)
    b = rng.normal(0, 0.3, outputs)
    integers = np.clip(np.rint(w / s[:, None, None, None]), -127, 127).astype(np.int8)
    products = (s * np.float32(scale)).astype(np.float32)
    weight = by_channel(name + ".weight", name + "_w", integers, s)
    bias = by_channel(name + ".bias", name + "_b", np.rint(b / products).astype(np.int32), products)
    return add("Conv", [x, weight, bias], name, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=group)


IMAGE, FIRST, BOUNDED, POINT, SUM, STRIDED, GATED, MEAN = 0.0157, 0.0183, 6 / 255, 0.031, 0.0412, 0.0231, 0.02, 0.017
image = real(quantise("x", IMAGE, 117), IMAGE, 117)
convolution("conv1", image, IMAGE, 3, 16, 3, pad=1)
first = quantise(add("Relu", ["conv1"], "conv1_relu"), FIRST, 0)
pool = quantise(add("MaxPool", [real(first, FIRST, 0)], "pool", kernel_shape=[2, 2], strides=[2, 2]), FIRST, 0)
convolution("depthwise", real(pool, FIRST, 0), FIRST, 16, 16, 3, pad=1, group=16)
bounds = [constant("zero", np.float32(0)), constant("six", np.float32(6))]
clip = quantise(add("Clip", ["depthwise"] + bounds, "clip"), BOUNDED, 0)
point = quantise(convolution("pointwise", real(clip, BOUNDED, 0), BOUNDED, 16, 16, 1), POINT, 121)
total = quantise(add("Add", [real(point, POINT, 121), real(pool, FIRST, 0)], "sum"), SUM, 97)
convolution("strided", real(total, SUM, 97), SUM, 16, 24, 3, stride=2, pad=1)
strided = quantise(add("Relu", ["strided"], "strided_relu"), STRIDED, 0)
gate = quantise(add("Sigmoid", [real(strided, STRIDED, 0)], "gate"), 1 / 255, 0)
gated = quantise(add("Mul", [real(strided, STRIDED, 0), real(gate, 1 / 255, 0)], "gated"), GATED, 3)
both = quantise(add("Concat", [real(gated, GATED, 3), real(strided, STRIDED, 0)], "both", axis=1), STRIDED, 1)
mean = quantise(add("GlobalAveragePool", [real(both, STRIDED, 1)], "mean"), MEAN, 5)
flat = quantise(add("Flatten", [real(mean, MEAN, 5)], "flat"), MEAN, 5)
matrix = rng.normal(0, 0.2, (10, 48)).astype(np.float32)
step = np.float32(np.abs(matrix).max() / 127)
weight = real(constant("fc.weight", np.rint(matrix / step).astype(np.int8)), step, 0, np.int8)
add("Gemm", [real(flat, MEAN, 5), weight], "logits", transB=1)

graph = helper.make_graph(
    nodes, "quantized", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 16, 16])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10])], stored)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="sonde-tests")
onnx.checker.check_model(model)
onnx.save(model, "qdq_net.onnx")
