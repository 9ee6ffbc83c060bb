#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// An ONNX model small enough for paper: y = x · w, z = relu(y), s = z + c, t = -x; x float32[2,2], w the identity,
/// c = [10, 20]. Its outputs are s and t.
inline std::string linearNetwork(const std::vector<float>& w = {1, 0, 0, 1}) {
    namespace onnx = onnxfile;
    const onnx::Graph graph{
        {{"MatMul", {"x", "w"}, {"y"}}, {"Relu", {"y"}, {"z"}}, {"Neg", {"x"}, {"t"}}, {"Add", {"z", "c"}, {"s"}}},
        {onnx::valueInfo("x", 1, {2, 2})},
        {onnx::valueInfo("s", 1, {2, 2}), onnx::valueInfo("t", 1, {2, 2})},
        {onnx::rawTensor("w", 1, {2, 2}, floatBytes(w)), onnx::rawTensor("c", 1, {2}, floatBytes({10, 20}))}};
    return onnx::model(graph);
}

inline void writeLinearNetwork(const std::string& path, const std::vector<float>& w = {1, 0, 0, 1}) {
    std::ofstream(path, std::ios::binary) << linearNetwork(w);
}

}  // namespace sonde::test
