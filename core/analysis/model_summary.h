#pragma once

#include <cstddef>
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

/// What a graph consists of, bodies of branches, loops and functions included.
struct ModelSummary {
    std::map<std::string, std::size_t> operators;  ///< how often: "Conv", "com.microsoft::FusedConv"
    std::set<std::string> unsupported;             ///< those of them that cannot be run
    std::size_t nodes = 0;                         ///< values that are computed
};
ModelSummary summaryOf(const graph::InternalGraph& graph);

/// How many weights are made of constants by operators before them (ConstantOfShape, random numbers), so that nothing
/// of them is in the file. Of the main body.
std::size_t countComputedWeights(const graph::InternalGraph& graph);

}  // namespace sonde::analysis
