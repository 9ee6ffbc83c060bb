#include "core/session/problem_count.h"

#include <algorithm>

namespace sonde::session {

std::string problemCountText(std::span<const analysis::Problem> problems) {
    const auto origins =
        static_cast<std::size_t>(std::ranges::count(problems, analysis::ProblemRole::Origin, &analysis::Problem::role));
    const std::size_t carriers = problems.size() - origins;
    const auto count = [](std::size_t number, const char* what) {
        return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
    };
    if (problems.empty()) return {};
    return count(origins, "origin") + (carriers > 0 ? ", " + count(carriers, "carrier") : "");
}

}  // namespace sonde::session
