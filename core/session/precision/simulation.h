#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"

/// Runs at a lower precision, and how far their values are from those of the plain run.
namespace sonde::session::precision {

enum class NumberType : std::uint8_t { Float16, BFloat16, Int8 };
std::string_view name(NumberType type);
/// "float16", "bfloat16", "int8". Usage error for others.
base::Result<NumberType> numberType(std::string_view text);

struct SimulationOptions {
    NumberType type = NumberType::Float16;
    /// int8: stored weights have a scale for each output channel instead of one for the tensor.
    bool perChannel = false;
    std::vector<std::string> queries;  ///< which operations, by their results (analysis::Query); empty: see chosenBy()
};

/// A graph in which chosen operations round what they read and what they give. Other nodes and exprs keep their ids.
struct Simulation {
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<graph::ExprId> chosen;  ///< in execution order
    /// The node that others read in place of a chosen operation's result: its rounded value.
    std::unordered_map<graph::NodeId, graph::NodeId> rounded;

    graph::NodeId readAs(graph::NodeId node) const {
        const auto found = rounded.find(node);
        return found == rounded.end() ? node : found->second;
    }
};

/// The operations that a run rounds at: those whose results a query finds; without queries all that compute
/// floating-point numbers. Operations that only move elements are never among them. Usage error: a query cannot be read
/// or finds no such operation.
base::Result<std::vector<graph::ExprId>> chosenBy(const graph::InternalGraph& graph,
                                                  const std::vector<std::string>& queries);

/// Of each chosen operation every floating-point tensor that it reads (activations and weights) and every one that it
/// gives is rounded to the nearest number of the type; in between its kernel computes, and accumulates, in the dtype of
/// the model, float32 as a rule. int8 is symmetric: multiples of max |x| / 127, with the maximum of the value itself;
/// stored tensors of one dimension (biases) are not rounded. Without chosen operations the graph is the one given.
Simulation simulate(const std::shared_ptr<const graph::InternalGraph>& graph, std::vector<graph::ExprId> chosen,
                    const SimulationOptions& options);

}  // namespace sonde::session::precision
