#include "core/expression/syntax.h"

#include "core/base/unicode.h"
#include "core/base/visible_text.h"

namespace sonde::expression {

namespace {

constexpr std::size_t kMaxShownText = 200;

std::size_t columnOf(std::string_view text, std::size_t at) {
    std::size_t column = 1;
    for (std::size_t i = 0; i < at && i < text.size(); ++column) i += base::firstCodePoint(text.substr(i)).bytes;
    return column;
}

}  // namespace

std::string_view name(Operator op) {
    constexpr std::string_view kNames[] = {
        "or", "and", "not", "<", "<=", ">", ">=", "==", "!=", "|", "^",       "&",
        "+",  "-",   "*",   "/", "//", "%", "**", "-",  "+",  "~", "minimum", "maximum"};
    static_assert(std::size(kNames) == static_cast<std::size_t>(Operator::Maximum) + 1);
    return kNames[static_cast<std::size_t>(op)];
}

base::Error errorOf(const LocatedProblem& located, std::string_view text) {
    std::string shown = base::visibleText(base::utf8Prefix(text, kMaxShownText));
    if (text.size() > kMaxShownText) shown += "…";
    return base::usageError(located.problem.what,
                            "column " + std::to_string(columnOf(text, located.at)) + " of '" + shown + "'",
                            located.problem.hint);
}

}  // namespace sonde::expression
