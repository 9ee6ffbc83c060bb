#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"

namespace sonde::analysis {

namespace {

constexpr std::size_t kMaxListed = 5;

/// "3, 4, 17 and 12 more".
std::string indexList(const std::vector<std::size_t>& indices) {
    std::string text;
    for (std::size_t i = 0; i < std::min(indices.size(), kMaxListed); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(indices[i]);
    if (indices.size() > kMaxListed) text += fmt::format(" and {} more", indices.size() - kMaxListed);
    return text;
}

std::string readerText(const CheckedModel& model, const StoredWeight& weight) {
    const graph::Expr& reader = model.graph.expr(weight.reader);
    return reader.outputs.empty() ? operatorText(reader) : placeText(model.graph, reader.outputs.front());
}

void findZeroFilters(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const StoredWeight& weight : model.weights) {
        if (!weight.isKernel || weight.zeroFilters.empty()) continue;
        const bool isAll = weight.zeroFilters.size() == weight.largest.size();
        findings.push_back(findingAt(
            weight.node, base::Severity::Warning, Confidence::High,
            fmt::format("{} of {} filters of {} are zero ({}): their channels are the bias alone, for every input",
                        weight.zeroFilters.size(), weight.largest.size(), readerText(model, weight),
                        indexList(weight.zeroFilters)),
            isAll ? "check where the weights come from: the layer does nothing"
                  : "remove them with their channels (pruning leaves them behind), or check whether they were loaded"));
    }
}

void findDuplicateFilters(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const StoredWeight& weight : model.weights) {
        if (!weight.isKernel || weight.duplicates.empty() || weight.fanIn < 2) continue;
        // All of them alike: an average, or an initialisation (suspicious-initialisation).
        if (weight.minimum == weight.maximum) continue;
        std::vector<std::size_t> filters;
        for (const auto& [filter, first] : weight.duplicates) filters.push_back(filter);
        const bool isMost = 2 * filters.size() > weight.largest.size();
        findings.push_back(findingAt(
            weight.node, isMost ? base::Severity::Warning : base::Severity::Info, Confidence::High,
            fmt::format(
                "{} of {} filters of {} are equal to another one ({}; {} is as {}): their channels are alike but "
                "for the bias, and are computed twice",
                filters.size(), weight.largest.size(), readerText(model, weight), indexList(filters),
                weight.duplicates.front().first, weight.duplicates.front().second),
            "merge them, or check whether weights were copied: a grey image's filters repeated for each colour are meant"));
    }
}

}  // namespace

FindingChecker zeroFilterChecker() {
    return {"zero-filter", FindingNeed::File, "Filters of a layer whose weights are all zero", findZeroFilters};
}

FindingChecker duplicateFilterChecker() {
    return {"duplicate-filter", FindingNeed::File, "Filters of one layer that are equal", findDuplicateFilters};
}

}  // namespace sonde::analysis
