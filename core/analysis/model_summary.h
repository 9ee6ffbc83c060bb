#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/graph/internal_graph.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

/// The definition of the operator of `expr`; null if it has no operator, or one that is not known.
const ops::OpDef* definitionOf(const graph::Expr& expr);

/// Whether `expr` calls an operator without a kernel: it is drawn, but no run gets past it.
bool isUnsupported(const graph::Expr& expr);

/// Whether `expr` computes its results: it is no input, output or stored value.
bool computesValues(const graph::Expr& expr);

/// What a graph consists of, bodies of branches, loops and functions included.
struct ModelSummary {
    std::map<std::string, std::size_t> operators;  ///< how often: "Conv", "com.microsoft::FusedConv"
    std::set<std::string> unsupported;             ///< those of them that cannot be run
    std::size_t nodes = 0;                         ///< values that are computed
};
ModelSummary summaryOf(const graph::InternalGraph& graph);

/// Weights that operators make of constants (ConstantOfShape, random numbers), so that they are not in the file: they
/// have more elements than the stored tensors that they are made of. Of the main body.
struct ComputedWeights {
    std::size_t count = 0;
    std::int64_t elements = 0;  ///< of those whose shape is known
};
ComputedWeights computedWeights(const graph::InternalGraph& graph);

}  // namespace sonde::analysis
