#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/session/debug/kept_values.h"
#include "core/session/precision/simulation.h"

namespace sonde::session::precision {

/// How far a value is from the same one of the plain run. Decibels are 10·log10(Σ r² / Σ (a − r)²), infinite where both
/// are equal, NaN where one is not finite.
struct ValueError {
    double maxAbs = 0, maxRel = 0, sqnr = 0;
};
struct ChannelError {
    std::int64_t channel = 0;
    ValueError error;
};

struct NodeError {
    graph::NodeId node;      ///< of the plain run
    bool isRounded = false;  ///< the operation was chosen
    ValueError error;        ///< of all times that it was computed the largest
    /// The least decibels of what the operation read; infinite: all of that was equal; NaN: some of it is not finite.
    /// `sqnr` below it was lost here.
    double inputSqnr = 0;
    std::int64_t channelAxis = -1;
    std::vector<ChannelError> channels;  ///< the worst ones; of the worst nodes only
    std::string note;                    ///< why it was not compared; then nothing else counts
};

struct Report {
    std::vector<NodeError> nodes;  ///< that both runs computed, in execution order
    std::size_t chosen = 0;
    graph::NodeId begins;              ///< the first node with another value; invalid: all are the same
    std::vector<std::size_t> worst;    ///< of `nodes`, by decibels, the least first
    std::vector<std::size_t> growing;  ///< of `nodes` that lost decibels, the one that lost most first
    std::vector<std::string> notes;
};

struct Request {
    std::vector<tensor::Value> inputs;  ///< in the order of the graph's
    std::uint64_t seed = 0;
    std::size_t threads = 0;
    std::size_t worst = 10;         ///< nodes that `worst` and `growing` list, and that channels are looked at of
    std::size_t channels = 3;       ///< that each of them lists
    debug::KeptLimits limits = {};  ///< for the values of the plain run
};

/// Runs a document as it is and at a lower precision, and compares node by node. The document has no writes in place
/// (document::withoutWrites). Errors: those of the runs; chosenBy(); cancelled.
base::Result<Report> measure(const document::Document& document, const SimulationOptions& options,
                             const Request& request, const base::WorkContext& work = {});

/// A node of the plain run, and which output of an operation of another one has its value.
struct Counterpart {
    graph::NodeId node;
    std::size_t output = 0;
};
/// By expr of the other graph.
using Counterparts = std::unordered_map<graph::ExprId, std::vector<Counterpart>>;
/// The same of any two graphs that take the same inputs. `chosen`: exprs of the plain one that the other rounds at.
base::Result<Report> measureRuns(std::shared_ptr<const graph::InternalGraph> plain,
                                 std::shared_ptr<const graph::InternalGraph> other, Counterparts counterparts,
                                 const std::vector<graph::ExprId>& chosen, const Request& request,
                                 const base::WorkContext& work = {});

/// The keys of `sonde precision --json` but for "format", "version" and what was compared.
void addReport(nlohmann::ordered_json& answer, const Report& report, const graph::InternalGraph& graph);
/// For people: where it begins, where it grows, the worst nodes with their channels, the outputs.
std::string reportText(const Report& report, const document::Document& document, bool allNodes);

}  // namespace sonde::session::precision
