#pragma once

#include <QString>

#include <vector>

#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// y = k ? other : taken with a convolution in each branch, of a picture x [1,1,8,8]; other comes first in the file.
/// Unless it is given, k is false.
inline bool writeConvolutionsInBranches(const QString& path) {
    namespace onnx = onnxfile;
    onnx::Graph other, taken;
    other.nodes = {{"Conv", {"x", "weight"}, {"other"}}};
    other.outputs = {onnx::valueInfo("other", 1, {1, 2, 6, 6})};
    taken.nodes = {{"Conv", {"x", "weight"}, {"taken"}}};
    taken.outputs = {onnx::valueInfo("taken", 1, {1, 2, 6, 6})};
    onnx::Graph graph;
    graph.nodes = {
        {"If",
         {"k"},
         {"y"},
         "",
         "",
         {onnx::graphAttribute("then_branch", other.bytes()), onnx::graphAttribute("else_branch", taken.bytes())}}};
    graph.inputs = {onnx::valueInfo("x", 1, {1, 1, 8, 8}), onnx::valueInfo("k", 9, {})};
    graph.outputs = {onnx::valueInfo("y", 1, {1, 2, 6, 6})};
    std::vector<float> weight;
    for (int i = 0; i < 18; ++i) weight.push_back(0.1F * static_cast<float>(i % 5) - 0.2F);
    graph.initializers = {onnx::rawTensor("weight", 1, {2, 1, 3, 3}, floatBytes(weight))};
    return onnx::write(path, onnx::model(graph));
}

}  // namespace sonde::test
