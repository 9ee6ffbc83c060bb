#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"

namespace sonde::analysis {

namespace {

constexpr std::int64_t kMinDenormals = 8;
constexpr const char* kDenormalWhy =
    "are denormal: they have few digits left, and many processors compute with them a hundred times slower";

bool areMany(std::int64_t denormal, std::int64_t count) {
    // A tensor without elements has none.
    return denormal > 0 && denormal >= std::min(kMinDenormals, count) && denormal * 100 >= count;
}

void findDenormals(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const StoredWeight& weight : model.weights)
        if (areMany(weight.denormal, weight.count))
            findings.push_back(findingAt(weight.node, base::Severity::Info, Confidence::High,
                                         fmt::format("{} of the elements of this weight {}",
                                                     percentText(weight.denormal, weight.count), kDenormalWhy),
                                         "set them to zero when the model is exported"));
    if (!model.run) return;
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId()))
        for (const graph::NodeId node : model.graph.expr(id).outputs) {
            const ObservedValue* const value = model.run->values.of(node);
            if (!value || !areMany(value->denormal, value->count)) continue;
            const auto hasMany = [&](graph::NodeId input) {
                const ObservedValue* const before = model.run->values.of(input);
                return before && areMany(before->denormal, before->count);
            };
            if (std::ranges::any_of(model.graph.expr(id).inputs, hasMany)) continue;  // they come from there
            findings.push_back(
                findingAt(node, base::Severity::Info, Confidence::Medium,
                          fmt::format("{} of the elements of {} {}", percentText(value->denormal, value->count),
                                      placeText(model.graph, node), kDenormalWhy),
                          "flush denormals to zero where the model is deployed, or rescale the layer"));
        }
}

}  // namespace

FindingChecker denormalChecker() {
    return {"denormal", FindingNeed::File,
            "Weights, and on a run values, that are smaller than the smallest normal number", findDenormals};
}

}  // namespace sonde::analysis
