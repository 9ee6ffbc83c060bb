#include "core/session/sweep/sweep_classes.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace sonde::session {

void SweepClasses::add(const SweepRow& row) {
    for (const SweepSample& sample : row.samples) {
        Counts& counts = m_classes[sample.label];
        ++counts.count;
        if (sample.isCorrect()) ++counts.correct;
        else if (sample.predicted) ++counts.mistakes[*sample.predicted];
        else if (sample.isAllNan) ++counts.nan;
    }
}

std::vector<SweepClass> SweepClasses::worst() const {
    std::vector<SweepClass> classes;
    for (const auto& [label, counts] : m_classes) {
        SweepClass one{
            label, counts.count, counts.correct, {counts.mistakes.begin(), counts.mistakes.end()}, counts.nan};
        std::ranges::stable_sort(one.mistakes, std::greater(), &std::pair<std::int64_t, std::size_t>::second);
        classes.push_back(std::move(one));
    }
    std::ranges::stable_sort(classes, [](const SweepClass& a, const SweepClass& b) {
        return std::tuple(a.accuracy(), b.count) < std::tuple(b.accuracy(), a.count);
    });
    return classes;
}

}  // namespace sonde::session
