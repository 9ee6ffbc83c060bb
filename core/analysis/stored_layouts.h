#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/graph/internal_graph.h"
#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// Which values of a graph are stored in blocks of channels (dump.md, "Layouts"), as its operations say. Linear in the
/// graph.
class StoredLayouts {
  public:
    explicit StoredLayouts(const graph::InternalGraph& graph);

    /// A text of ops::Packing: "NCHW -> N C/8 H W C%8"; empty of a value that is stored as it is.
    const std::string& of(graph::NodeId node) const;

  private:
    std::unordered_map<graph::NodeId, std::string> m_packings;
};

/// Two values in one logical layout, without padding, where `packing` says that they are stored in another way. None if
/// no logical shape fits both, or both are stored alike: then they can be compared as they are.
std::optional<std::pair<tensor::Tensor, tensor::Tensor>> inOneLayout(const tensor::Tensor& a,
                                                                     const std::string& packingOfA,
                                                                     const tensor::Tensor& b,
                                                                     const std::string& packingOfB);

}  // namespace sonde::analysis
