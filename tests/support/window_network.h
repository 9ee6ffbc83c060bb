#pragma once

#include <string>
#include <vector>

#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// c = conv(x[1,1,6,6], ones of 3x3, stride 2, bias 0.5) [1,1,2,2]; a node of the given name = relu(c); f = flatten
/// [1,4]; y = f·w [1,1], w = 1, 2, 3, 4.
inline std::string windowNetwork(const std::string& relu = "r") {
    onnxfile::Graph graph{{{"Conv", {"x", "k", "b"}, {"c"}},
                           {"Relu", {"c"}, {relu}},
                           {"Flatten", {relu}, {"f"}},
                           {"MatMul", {"f", "w"}, {"y"}}},
                          {onnxfile::valueInfo("x", 1, {1, 1, 6, 6})},
                          {onnxfile::valueInfo("y", 1, {1, 1})},
                          {onnxfile::rawTensor("k", 1, {1, 1, 3, 3}, floatBytes(std::vector<float>(9, 1))),
                           onnxfile::rawTensor("b", 1, {1}, floatBytes({0.5F})),
                           onnxfile::rawTensor("w", 1, {4, 1}, floatBytes({1, 2, 3, 4}))}};
    graph.nodes[0].attributes.push_back(onnxfile::intsAttribute("strides", {2, 2}));
    return onnxfile::model(graph);
}

}  // namespace sonde::test
