#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::exec {

/// Iterations of nested loops, outermost first, as names of values have them: "2.0".
inline std::string passText(const std::vector<std::int64_t>& iterations) {
    std::string text;
    for (const std::int64_t iteration : iterations) text += (text.empty() ? "" : ".") + std::to_string(iteration);
    return text;
}

}  // namespace sonde::exec
