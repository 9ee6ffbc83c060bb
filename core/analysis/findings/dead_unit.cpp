#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"

namespace sonde::analysis {

namespace {

/// Elements of a channel that must be zero before the channel counts as dead.
constexpr std::int64_t kMinUnitSamples = 32;
/// On fewer inputs it may be what they happen to show.
constexpr std::int64_t kManySamples = 4096;
constexpr std::size_t kManyInputs = 4;

void findDeadUnits(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId()))
        for (const graph::NodeId node : model.graph.expr(id).outputs) {
            const UnitActivity* const activity = model.run->values.activity(node);
            if (!activity || activity->samples < kMinUnitSamples) continue;
            const auto units = static_cast<std::int64_t>(activity->isActive.size());
            const std::int64_t dead = std::ranges::count(activity->isActive, false);
            if (dead == 0) continue;
            const bool isMost = 2 * dead > units;
            const bool isSure = activity->samples >= kManySamples && model.run->inputs >= kManyInputs;
            findings.push_back(findingAt(
                node, isMost ? base::Severity::Warning : base::Severity::Info,
                isSure ? Confidence::Medium : Confidence::Low,
                fmt::format(
                    "{} of {} channels of {} are zero in all {} positions of {}{}: they take time and tell nothing",
                    dead, units, placeText(model.graph, node), activity->samples,
                    base::countedText(static_cast<std::int64_t>(model.run->inputs), "input"),
                    model.run->inputs < kManyInputs ? ", which are few to tell by" : ""),
                "run it on more inputs (--input-data, sonde sweep); channels that stay zero can be pruned, or the layer "
                "before has lost them to a large learning rate or bias"));
        }
}

FewSamples fewForDeadUnits(const CheckedModel& model) {
    FewSamples few{{}, fmt::format("fewer than {} positions of each channel", kMinUnitSamples)};
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId()))
        for (const graph::NodeId node : model.graph.expr(id).outputs)
            if (const UnitActivity* const activity = model.run->values.activity(node);
                activity && activity->samples < kMinUnitSamples)
                few.nodes.push_back(node);
    return few;
}

}  // namespace

FindingChecker deadUnitChecker() {
    return {"dead-unit", FindingNeed::Run, "Channels of a rectifier (ReLU, ReLU6) that are zero on every input",
            findDeadUnits, fewForDeadUnits};
}

}  // namespace sonde::analysis
