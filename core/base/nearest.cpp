#include "core/base/nearest.h"

#include <algorithm>
#include <numeric>

namespace sonde::base {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](char c) { return lower(c); });
    return result;
}

/// Letters to insert, remove or replace.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

constexpr std::size_t kMaxLength = 200;  ///< longer names are not compared letter by letter

}  // namespace

std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string> candidates,
                                      std::size_t count) {
    const std::string wanted = lower(name);
    const std::size_t farthest = std::max<std::size_t>(1, wanted.size() / 3);
    std::vector<std::pair<std::size_t, const std::string*>> found;
    for (const std::string& candidate : candidates) {
        if (candidate.size() > kMaxLength || wanted.size() > kMaxLength) continue;
        const std::string text = lower(candidate);
        const std::size_t lengths =
            text.size() > wanted.size() ? text.size() - wanted.size() : wanted.size() - text.size();
        const std::size_t apart = lengths > farthest ? lengths : distance(wanted, text);
        if (apart <= farthest) found.emplace_back(apart, &candidate);
        else if (wanted.size() > 1 && text.find(wanted) != std::string::npos)
            found.emplace_back(1000 + text.size(), &candidate);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> result;
    for (const auto& [rank, candidate] : found) {
        if (result.size() >= count) break;
        if (std::find(result.begin(), result.end(), *candidate) == result.end()) result.push_back(*candidate);
    }
    return result;
}

std::string didYouMean(std::string_view name, std::span<const std::string> candidates) {
    std::string text;
    for (const std::string& near : nearestNames(name, candidates))
        text += (text.empty() ? "did you mean " : ", ") + near;
    return text.empty() ? text : text + "?";
}

}  // namespace sonde::base
