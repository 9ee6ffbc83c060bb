#pragma once

#include <string>
#include <vector>

namespace sonde::test {

/// The bytes of float32 elements, as a tensor of an ONNX file has them.
inline std::string floatBytes(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace sonde::test
