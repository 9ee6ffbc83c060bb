#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// What the elements q of a quantised tensor stand for: (q − zero point) · scale.
struct Quantization {
    tensor::Tensor scale;              ///< one for all, one for each index of an axis, or one for each block
    tensor::Tensor zeroPoint;          ///< with the shape of `scale`; undefined: 0
    std::optional<std::int64_t> axis;  ///< that scales and blocks are along; none: the operator fixes it by the shape
    std::int64_t blockSize = 0;        ///< elements of the axis that share a scale; 0: no blocks
};

/// From the operators around a value, which name its scale after it: x, x_scale and x_zero_point of DequantizeLinear, y
/// of QLinearConv and others. The one that computes the value counts first, then those that use it. `valueOf` gives the
/// value of a scale, or null; without it nothing is known.
std::optional<Quantization> quantizationOf(const graph::InternalGraph& graph, graph::NodeId node,
                                           const std::function<const tensor::Value*(graph::NodeId)>& valueOf);

/// Which scale each element has: element (o, a, i) of [outer, size, inner] has (o · blocks + a / block) · inner + i, or
/// a alone if there is one for each index of the axis.
struct ScalePlaces {
    std::int64_t size = 1, inner = 1, block = 0, blocks = 1;
    bool isOne = true;

    std::int64_t of(std::int64_t element) const {
        if (isOne) return 0;
        const std::int64_t along = element / inner % size;
        if (block == 0) return along;
        return (element / (inner * size) * blocks + along / block) * inner + element % inner;
    }
};

/// Errors (Usage): scales that do not fit the shape.
base::Result<ScalePlaces> scalePlaces(const tensor::Tensor& quantized, const Quantization& by);

/// (q − zero point) · scale as float32. Errors (Usage): no quantised dtype, scales that do not fit the shape;
/// cancelled.
base::Result<tensor::Tensor> dequantized(const tensor::Tensor& quantized, const Quantization& by,
                                         const std::stop_token& stop = {});

/// "scale 0.0078, zero point 128"; of many "64 scales along axis 0".
std::string quantizationText(const Quantization& by);

/// Integers and floats of one byte, which are stored in place of other numbers.
bool isQuantizedType(tensor::DType dtype);

}  // namespace sonde::analysis
