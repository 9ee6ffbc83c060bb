#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde::lessons {

/// The views in which a step can show a value, as the command `view` of a window's scripts calls them.
std::span<const std::string_view> viewWords();
/// "heatmap, image, …".
std::string viewWordsText();

}  // namespace sonde::lessons
