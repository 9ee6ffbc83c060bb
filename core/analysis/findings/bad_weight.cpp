#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/findings/stored_mask.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"

namespace sonde::analysis {

FindingChecker badWeightChecker() {
    return {
        "bad-weight", FindingNeed::File, "A stored weight holds NaN or infinity",
        [](const CheckedModel& model, std::vector<Finding>& findings) {
            for (const StoredWeight& weight : model.weights) {
                if (weight.nan + weight.inf == 0 || isStoredMask(model.graph, weight.node)) continue;
                findings.push_back(findingAt(
                    weight.node, base::Severity::Error, Confidence::High,
                    fmt::format("{} of {} are NaN and {} infinite, and it is a weight of {}: whatever is computed from "
                                "them is lost",
                                weight.nan, base::countedText(weight.count, "element"), weight.inf,
                                operatorText(model.graph.expr(weight.reader))),
                    "take an earlier checkpoint: the training diverged, or a conversion to a narrower dtype "
                    "overflowed"));
            }
        }};
}

}  // namespace sonde::analysis
