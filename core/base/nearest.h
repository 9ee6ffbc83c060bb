#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::base {

/// The candidates that a mistyped name may have meant, best first: those that differ by few letters (Levenshtein,
/// without regard to case), then those that contain it. At most `count`, without repetition.
std::vector<std::string> nearestNames(std::string_view name, std::span<const std::string> candidates,
                                      std::size_t count = 3);

/// "did you mean relu, relu_1?", or empty text if nothing is near.
std::string didYouMean(std::string_view name, std::span<const std::string> candidates);

}  // namespace sonde::base
