#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/parameters.h"
#include "core/analysis/weights/filters.h"
#include "core/analysis/weights/weight_reader.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"

namespace sonde::analysis {

/// One parameter or buffer of a model, once however many names it has.
struct WeightRow {
    std::string name;                ///< "layer1.0.conv1.weight", or what the file calls it
    std::vector<std::string> names;  ///< all of them; more than one: tied
    StoredKind kind = StoredKind::Parameter;
    std::size_t module = 0;  ///< its first owner in the tree
    std::string qualname;    ///< of that module, "" of the root
    tensor::DType dtype = tensor::DType::Undefined;
    tensor::Shape shape;
    std::int64_t elements = 0, bytes = 0;  ///< as ModelCounts has them
    tensor::Tensor value;                  ///< not defined: the model has no value for it
    std::shared_ptr<const WeightScale> scale;
    std::optional<FilterLayout> filters;
    graph::NodeId node;                ///< that stands for it in the graph; none: nothing reads it
    std::vector<graph::ExprId> users;  ///< operations that read it, in bodies of loops and functions too; each once
    std::string note;                  ///< why its figures are not those of weights; empty mostly
    bool isTied() const { return names.size() > 1; }
};

/// Every parameter and buffer, in the order of countParameters(): as they are read, then those that nothing reads.
/// Reads no value but scales of quantisation. Linear in the graph.
std::vector<WeightRow> weightRows(const graph::InternalGraph& graph, const graph::ModuleTree& modules,
                                  const ModelCounts& counts);

}  // namespace sonde::analysis
