#include "core/ops/support/regex.h"

#include <algorithm>
#include <re2/re2.h>

#include "core/base/error.h"
#include "core/base/unicode.h"

namespace sonde::ops {

namespace {

/// RE2's own default, so that every pattern is accepted that ONNX Runtime accepts.
constexpr std::int64_t kMaxMemoryBytes = std::int64_t{8} << 20;
/// Instructions of the program times bytes of the text: at some 10 ns for each, where the automaton does not fit its
/// memory and RE2 follows all its states at once.
constexpr std::size_t kMaxSteps = std::size_t{1} << 28;
/// Of RE2's reason, which may repeat the whole pattern.
constexpr std::size_t kMaxReason = 120;

re2::StringPiece pieceOf(std::string_view text) { return {text.data(), text.size()}; }

bool matches(const re2::RE2& compiled, std::string_view text, re2::RE2::Anchor anchor) {
    return compiled.Match(pieceOf(text), 0, text.size(), anchor, nullptr, 0);
}

}  // namespace

base::Result<Regex> Regex::parse(std::string_view pattern, Case letters) {
    re2::RE2::Options options;
    options.set_max_mem(kMaxMemoryBytes);
    options.set_log_errors(false);  // to standard error, in words of its own
    options.set_case_sensitive(letters == Case::Sensitive);
    auto compiled = std::make_shared<const re2::RE2>(pieceOf(pattern), options);
    if (compiled->ok()) return Regex(std::move(compiled));
    std::string reason = compiled->error();
    if (reason.size() > kMaxReason) reason = std::string(base::utf8Prefix(reason, kMaxReason)) + "…";
    return base::runError("invalid regular expression: " + reason);
}

bool Regex::matchesAll(std::string_view text) const { return matches(*m_compiled, text, re2::RE2::ANCHOR_BOTH); }

bool Regex::matchesPart(std::string_view text) const { return matches(*m_compiled, text, re2::RE2::UNANCHORED); }

std::size_t Regex::maxTextSize() const {
    return kMaxSteps / static_cast<std::size_t>(std::max(m_compiled->ProgramSize(), 1));
}

}  // namespace sonde::ops
