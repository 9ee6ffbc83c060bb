#include "core/session/diff/output_values.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/analysis/compared_values.h"
#include "core/exec/plan.h"
#include "core/session/diff/graph_side.h"

namespace sonde::session::diff {

using document::NamedNode;
using graph::NodeId;

namespace {

struct OutputPair {
    std::string name;  ///< "output 0", "output probabilities"
    NodeId a, b;
};

std::vector<OutputPair> pairedOutputs(const document::Document& first, const document::Document& second) {
    std::vector<OutputPair> paired;
    if (first.outputs.size() == second.outputs.size()) {
        for (std::size_t i = 0; i < first.outputs.size(); ++i)
            paired.push_back({"output " + std::to_string(i), first.outputs[i].node, second.outputs[i].node});
        return paired;
    }
    std::unordered_map<std::string_view, NodeId> byName;
    for (const NamedNode& each : second.outputs) byName.try_emplace(each.name, each.node);
    for (const NamedNode& each : first.outputs)
        if (const auto other = byName.find(each.name); other != byName.end())
            paired.push_back({"output " + each.name, each.node, other->second});
    return paired;
}

bool areCounterparts(const FlatGraph& first, const FlatGraph& second, const GraphPairs& pairs, const OutputPair& pair) {
    const graph::Node &a = first.graph.node(first.origin[pair.a.index()]),
                      &b = second.graph.node(second.origin[pair.b.index()]);
    const graph::ExprId match = pairs.ofFirst[a.producer.index()];
    return match.valid() && match == b.producer && a.outputIndex == b.outputIndex;
}

void compareOutput(const OutputPair& pair, const tensor::Value& ours, const tensor::Value& theirs,
                   const analysis::Tolerances& tolerances, OutputValues& values) {
    const auto x = analysis::asTensor(ours), y = analysis::asTensor(theirs);
    if (!x || !y) return;
    ++values.compared;
    if (x->shape() != y->shape()) {
        values.changed.push_back(
            {pair.a, pair.b, 0, 0, pair.name + ": shape " + x->shape().text() + " -> " + y->shape().text()});
        return;
    }
    const analysis::Difference found = analysis::difference(*y, *x, tolerances.of(y->dtype(), x->dtype()));
    if (!found.ok) values.changed.push_back({pair.a, pair.b, found.maxAbsolute, found.maxRelative, pair.name});
}

}  // namespace

base::Result<OutputValues> compareOutputs(const document::Document& first, const document::Document& second,
                                          const GraphPairs& pairs, const std::vector<tensor::Value> (&inputs)[2],
                                          const analysis::Tolerances& tolerances, exec::Runner& runner,
                                          const base::WorkContext& work) {
    OutputValues values;
    std::vector<OutputPair> open = pairedOutputs(first, second);
    const FlatGraph flatA(*first.graph, !pairs.isOneVocabulary), flatB(*second.graph, !pairs.isOneVocabulary);
    std::erase_if(open, [&](const OutputPair& pair) { return areCounterparts(flatA, flatB, pairs, pair); });
    if (open.empty()) return values;
    std::array<exec::Recording, 2> recordings;
    for (std::size_t side = 0; side < 2; ++side) {
        exec::PlanOptions options;
        for (const OutputPair& pair : open) options.watch.push_back(side == 0 ? pair.a : pair.b);
        SONDE_ASSIGN(const auto plan, exec::Plan::make((side == 0 ? first : second).graph, options));
        recordings[side] = runner.run(*plan, inputs[side], base::WorkContext{work.stop, {}});
        if (work.cancelled()) return base::cancelled("comparing outputs");
        if (recordings[side].error) return values;  // told of the comparison of all values
    }
    for (const OutputPair& pair : open) {
        const tensor::Value *const ours = recordings[0].value(pair.a, 0), *const theirs =
                                                                              recordings[1].value(pair.b, 0);
        if (ours && theirs) compareOutput(pair, *ours, *theirs, tolerances, values);
    }
    return values;
}

}  // namespace sonde::session::diff
