#include "core/lessons/source_text.h"

#include <charconv>

#include "core/analysis/query/query.h"
#include "core/base/trimmed.h"
#include "core/lessons/kinds.h"

namespace sonde::lessons {

namespace {

constexpr std::string_view kBlanks = " \t\r";

/// "$conv" becomes "conv". Whether it is a name.
bool takeName(std::string_view word, std::string& name) {
    if (word.size() < 2 || word.front() != '$' || !isNameStart(word[1])) return false;
    for (const char c : word.substr(1))
        if (!isNamePart(c)) return false;
    name = std::string(word.substr(1));
    return true;
}

/// `… after $x`, `… before $x` at the end of a text are cut off.
std::string takeLimits(std::string_view& text, Source& source) {
    for (;;) {
        const std::size_t name = text.find_last_of(kBlanks);
        if (name == std::string_view::npos || text[name + 1] != '$') return {};
        const std::string_view before = base::trimmed(text.substr(0, name));
        const std::size_t word = before.find_last_of(kBlanks);
        const std::string_view limit = before.substr(word == std::string_view::npos ? 0 : word + 1);
        if (limit != "after" && limit != "before") return {};
        if (!takeName(text.substr(name + 1), limit == "after" ? source.after : source.before))
            return "'" + std::string(text.substr(name + 1)) + "' is no name";
        text = word == std::string_view::npos ? std::string_view() : base::trimmed(before.substr(0, word));
    }
}

std::string readRelation(std::string_view rest, Source& source) {
    std::string_view word = takeWord(rest);
    if (word != "of") {
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), source.position);
        if (word.empty() || error != std::errc() || end != word.data() + word.size() || source.position > 1000)
            return "'" + std::string(word) + "' is no position";
        word = takeWord(rest);
    }
    if (word != "of" || !takeName(rest, source.of)) return "'of $NAME' is missing";
    return {};
}

struct Relation {
    std::string_view word;
    Source::Kind kind;
};
constexpr Relation kRelations[] = {{"input", Source::Kind::Input},
                                   {"weight", Source::Kind::Weight},
                                   {"user", Source::Kind::User},
                                   {"skip", Source::Kind::Skip},
                                   {"branch", Source::Kind::Branch}};

}  // namespace

std::string_view takeWord(std::string_view& text) {
    text = base::trimmed(text);
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text = base::trimmed(text.substr(word.size()));
    return word;
}

std::string kindNames() {
    std::string names;
    for (const OperatorKind& kind : operatorKinds()) names += (names.empty() ? "" : ", ") + std::string(kind.name);
    return names;
}

std::string readSource(std::string_view text, Source& source) {
    std::string_view rest = text;
    const std::string_view word = takeWord(rest);
    if (takeName(word, source.of)) {
        source.kind = Source::Kind::Name;
        return rest.empty() ? std::string() : "unexpected '" + std::string(rest) + "'";
    }
    for (const Relation& relation : kRelations) {
        if (relation.word != word) continue;
        source.kind = relation.kind;
        return readRelation(rest, source);
    }
    if (word != "kind" && word != "query" && word != "module")
        return "'" + std::string(word) + "' is none of kind, query, module, input, weight, user, skip, branch, $NAME";
    if (word != "module")
        if (std::string problem = takeLimits(rest, source); !problem.empty()) return problem;
    source.text = std::string(rest);
    if (rest.empty()) return std::string(word) + " needs a text";
    if (word == "module") {
        source.kind = Source::Kind::Module;
    } else if (word == "kind") {
        source.kind = Source::Kind::Operators;
        if (!operatorKind(rest)) return "there is no kind '" + source.text + "': " + kindNames();
    } else {
        source.kind = Source::Kind::Query;
        analysis::QueryProblem problem;
        const std::string numbered = replaceNames(rest, [](const std::string&) { return std::string("#0"); });
        if (!analysis::Query::parse(numbered, &problem)) return problem.what;
    }
    return {};
}

std::string describe(const Source& source) {
    std::string limits;
    if (!source.after.empty()) limits += " after $" + source.after;
    if (!source.before.empty()) limits += " before $" + source.before;
    switch (source.kind) {
        case Source::Kind::Operators: {
            const OperatorKind* const kind = operatorKind(source.text);
            return (kind ? std::string(kind->description) : source.text) + limits;
        }
        case Source::Kind::Query: return "a node that fits '" + source.text + "'" + limits;
        case Source::Kind::Module: return "a module '" + source.text + "'";
        case Source::Kind::Name: return "$" + source.of;
        case Source::Kind::Input: return "an input of $" + source.of;
        case Source::Kind::Weight: return "a weight of $" + source.of;
        case Source::Kind::User: return "an operation that reads $" + source.of;
        case Source::Kind::Skip:
        case Source::Kind::Branch: break;
    }
    return "a residual connection at $" + source.of;
}

}  // namespace sonde::lessons
