#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/parameters.h"
#include "core/analysis/weights/filters.h"
#include "core/analysis/weights/weight_reader.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"

namespace sonde::analysis {

/// One parameter or buffer of a model, or a stored tensor that nothing reads, once however many names it has.
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
    /// Along the first dimension, one for each direction of a recurrent layer: [directions, gates·hidden, features].
    std::int64_t matrices = 1;
    graph::NodeId node;  ///< that stands for it in the graph; none: nothing reads it
    /// Operations that read it, in bodies of loops and functions and behind casts too; each once.
    std::vector<graph::ExprId> users;
    std::string note;  ///< why its figures are not those of weights; empty mostly
    bool isTied() const { return names.size() > 1; }
};

/// No operation reads it, nor is it a result. A buffer of one number is not meant: training counts with it
/// (num_batches_tracked).
bool isUnused(const StoredTensor& tensor);

/// "parameter", "buffer", "constant" of what nothing reads: it might have been either.
std::string_view kindName(const WeightRow& row);

/// Every parameter and buffer, in the order of countParameters(): as they are read, then stored tensors that nothing
/// reads, whatever they are.
/// Reads no value but scales of quantisation. Linear in the graph.
std::vector<WeightRow> weightRows(const graph::InternalGraph& graph, const graph::ModuleTree& modules,
                                  const ModelCounts& counts);

}  // namespace sonde::analysis
