#include "core/trace/attempt.h"

#include <algorithm>

namespace sonde::trace {

std::string Attempt::text() const {
    std::string line = what + ": " + (failure.empty() ? "succeeded" : failure);
    std::ranges::replace(line, '\n', ' ');  // of a model's own message
    return line;
}

std::vector<Attempt> attemptsAsOneCall(const graph::Expr& call, const std::string* failure) {
    const char* inside = "record it as one call with its operations inside";
    if (!call.bodies.empty()) return {{inside, {}}};
    std::vector<Attempt> attempts;
    if (failure) attempts.push_back({inside, *failure});
    attempts.push_back({"record it as one call that runs on values", {}});
    return attempts;
}

std::string attemptsText(const std::vector<Attempt>& attempts) {
    std::string text;
    for (const Attempt& attempt : attempts) text += (text.empty() ? "" : "\n") + attempt.text();
    return text;
}

}  // namespace sonde::trace
