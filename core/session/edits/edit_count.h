#pragma once

#include <algorithm>
#include <string>

#include "core/session/edits/edits.h"

namespace sonde::session {

/// Edits that change what runs compute.
inline std::size_t countingEdits(const Edits& edits) {
    return static_cast<std::size_t>(std::ranges::count_if(edits.all(), &Edits::Entry::counts));
}

/// "1 edit", "3 edits".
inline std::string editCountText(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " edit" : " edits");
}

}  // namespace sonde::session
