#include "core/lessons/views.h"

#include <array>

namespace sonde::lessons {

std::span<const std::string_view> viewWords() {
    static constexpr std::array<std::string_view, 13> kWords{"heatmap", "image",     "channels", "line",    "histogram",
                                                             "table",   "attention", "tokens",   "filters", "sparsity",
                                                             "pca",     "sound",     "bits"};
    return kWords;
}

std::string viewWordsText() {
    std::string text;
    for (const std::string_view word : viewWords()) text += (text.empty() ? "" : ", ") + std::string(word);
    return text;
}

}  // namespace sonde::lessons
