#pragma once

#include <cstdint>
#include <tuple>

#include "core/graph/internal_graph.h"

namespace sonde::session::diff {

/// A stored tensor of a graph; null: the value is none.
const tensor::Tensor* storedTensor(const graph::InternalGraph& graph, graph::NodeId node);

/// What a stored tensor is in: tied ones are one.
using StoredMemory = std::tuple<const tensor::Storage*, std::int64_t, tensor::DType, std::int64_t>;
StoredMemory memoryOf(const tensor::Tensor& tensor);

/// To the last bit, with one dtype and shape; false of strings.
bool areEqual(const tensor::Tensor& a, const tensor::Tensor& b);

}  // namespace sonde::session::diff
