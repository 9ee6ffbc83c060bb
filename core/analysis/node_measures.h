#pragma once

#include <cstdint>
#include <optional>

#include "core/graph/internal_graph.h"

namespace sonde::analysis {

/// Elements of a tensor: of the value if there is one, else of the type if every dimension is known.
std::optional<std::int64_t> elementCount(const graph::Node& node, const tensor::Value* value = nullptr);
/// The same in bytes of memory.
std::optional<std::int64_t> byteCount(const graph::Node& node, const tensor::Value* value = nullptr);

}  // namespace sonde::analysis
