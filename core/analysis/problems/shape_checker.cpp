#include <algorithm>
#include <set>

#include "core/analysis/problems/checker.h"
#include "core/analysis/problems/contradictions.h"
#include "core/exec/dependants.h"
#include "core/exec/flatten.h"

namespace sonde::analysis {

using graph::NodeId;
using tensor::TypeInfo;

namespace {

/// Without inputs that are not as it was guessed, and what depends on them: nothing declares these types.
void leaveOutGuessed(const graph::InternalGraph& graph, ContradictingTypes& types) {
    exec::Edits others;
    for (const NodeId input : graph.inputs())
        if (types.contains(input)) others.inputs.push_back(input);
    if (others.empty()) return;
    const std::vector<bool> depends = exec::dependantsOf(graph, others).nodes;
    std::erase_if(types, [&depends](const auto& type) { return depends[type.first.index()]; });
}

/// What an observed run showed, and what the recording has kept.
ContradictingTypes allContradictions(const CheckedRun& run) {
    ContradictingTypes types = run.types;
    for (const auto& [node, values] : run.recording.kept)
        for (const tensor::Value& value : values) {
            if (!value.isTensor() || run.graph.expr(run.graph.node(node).producer).kind == graph::ExprKind::Input)
                continue;
            const TypeInfo actual = TypeInfo::of(value);
            if (!contradiction(run.graph.node(node).type, actual).empty()) types.try_emplace(node, actual);
        }
    leaveOutGuessed(run.graph, types);
    return types;
}

/// A node is an origin if none of its inputs contradicts: their sizes are handed on.
void findContradictions(const CheckedRun& run, std::vector<Problem>& problems) {
    const ContradictingTypes types = allContradictions(run);
    if (types.empty()) return;
    const std::vector<NodeId> sources = exec::valueSources(run.graph);
    std::set<NodeId> contradicting;
    for (const auto& [node, actual] : types) contradicting.insert(sources[node.index()]);
    for (const auto& [node, actual] : types) {
        const graph::Node& told = run.graph.node(node);
        const graph::Expr& expr = run.graph.expr(told.producer);
        const bool isHandedOn = std::ranges::any_of(
            expr.inputs, [&](NodeId input) { return contradicting.contains(sources[input.index()]); });
        const bool isCarrier = isHandedOn || sources[node.index()] != node;
        Problem problem =
            problemAt(run.graph, node, ProblemKind::Shape, isCarrier ? ProblemRole::Carrier : ProblemRole::Origin);
        if (!isCarrier) problem.severity = base::Severity::Warning;
        const std::string what = contradiction(told.type, actual);
        problem.message = "is " + actual.text() + ", and the model says " + told.type.text() +
                          (what.empty() ? std::string() : ": " + what);
        if (!isCarrier)
            problem.advice =
                "the shape was written down for other inputs: export the model with dynamic axes, or check "
                "what declares it (value_info, a constant size in a Reshape or Expand upstream)";
        problems.push_back(std::move(problem));
    }
}

}  // namespace

ProblemChecker shapeChecker() {
    return {"shape", "Values whose dtype or shape is not what the model declares", findContradictions};
}

}  // namespace sonde::analysis
