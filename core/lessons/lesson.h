#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lessons: texts about networks that are read beside one. A lesson is Markdown; blocks of ```sonde and ```question in
/// it say what happens beside a step, and what is asked. It names no file: it binds its own names to nodes of whatever
/// model is open. resources/help/lessons.md describes the format.
namespace sonde::lessons {

/// What a name is bound to, and which nodes answer a question.
struct Source {
    enum class Kind : std::uint8_t {
        Operators,  ///< `kind convolution`: see kinds.h
        Query,      ///< `query op:conv and rank>=4`: see analysis::Query
        Module,     ///< `module encoder.*`: what the first call of a module gives whose qualname fits
        Name,       ///< `$conv`
        Input,      ///< `input 0 of $conv`: without weights and constants
        Weight,     ///< `weight 0 of $conv`
        User,       ///< `user 0 of $conv`: what an operation gives that reads it
        Skip,       ///< `skip of $sum`: of a residual sum what goes around …
        Branch,     ///< `branch of $sum`: … and what is computed from that
    };
    Kind kind = Kind::Query;
    std::string text;           ///< kind, query with $NAMES, or pattern
    std::string of;             ///< the name that it is about
    std::size_t position = 0;   ///< of Input, Weight, User
    std::string after, before;  ///< of Operators, Query: only what is downstream, or upstream, of these names
};

/// `bind conv: first kind convolution | a convolution`.
struct BindingRule {
    enum class Pick : std::uint8_t { First, Middle, Last };
    std::string name;
    Pick pick = Pick::First;
    Source source;
    std::string purpose;      ///< what the model has to have; empty: what the source says
    bool isOptional = false;  ///< `maybe`: steps that use the name are left out if there is no such node
    std::size_t line = 0;
};

/// What happens when a step is shown.
struct Action {
    enum class Kind : std::uint8_t {
        Run,     ///< runs the model, unless its values are there
        Expand,  ///< opens the modules around a node
        Select,
        Focus,  ///< draws a node with what is up to `number` edges away alone
        Watch,
        Show,  ///< `text`: a view of the value, "channels"
        Set,   ///< `text`: `$x[0] = 0`, as `set` of `sonde debug`; undone when the step is left
        Edit,  ///< `text`: `$x[0] zero`, likewise
    };
    Kind kind = Kind::Run;
    std::string node;  ///< name
    std::string text;
    int number = 0;
    std::size_t line = 0;
};

struct Choice {
    std::string text;
    bool isRight = false;
};

struct Question {
    enum class Kind : std::uint8_t { Number, Choice, Node };
    Kind kind = Kind::Number;
    std::string ask;     ///< Markdown with {{placeholders}}, as `because`
    std::string answer;  ///< Number: an expression with $NAMES
    double tolerance = 0.01;
    bool isRelative = true;  ///< the tolerance is a share of the answer
    std::vector<Choice> choices;
    std::optional<Source> node;
    std::string because;  ///< said once it was answered
    std::size_t line = 0;
};

/// A part of what a step says.
struct Block {
    enum class Kind : std::uint8_t { Text, Formula };
    Kind kind = Kind::Text;
    std::string text;  ///< Text: Markdown with {{placeholders}}. Formula: `$conv[0, 0, 1, 1]`
    std::size_t line = 0;
};

struct Step {
    std::string title;
    std::vector<Block> blocks;
    std::vector<Action> actions;
    std::vector<Question> questions;
    std::vector<std::string> names;  ///< that it uses, each once
    std::size_t line = 0;
};

struct Lesson {
    std::string title;
    std::string summary;  ///< the first paragraph, in one line
    std::vector<BindingRule> bindings;
    std::vector<Step> steps;  ///< at least one
    bool needsNoNan = false;  ///< in a run of the model as it is: the lesson is of those that it makes itself
    std::string source;       ///< the file that it was read from, or its id: for messages
};

/// `{{ … }}` in a text.
struct Placeholder {
    enum class Kind : std::uint8_t { Expression, Name, Operator, Module, Shape };
    Kind kind = Kind::Expression;
    std::string text;  ///< expression with $NAMES, or the name
};

inline constexpr std::size_t kMaxLessonBytes = std::size_t{1} << 18, kMaxSteps = 100, kMaxBindings = 64,
                             kMaxStatements = 1000, kMaxLineBytes = 4000, kMaxPlaceholders = 500;

/// Reads a lesson. Errors (Unreadable): what is wrong, `where` is "line N". Never more than one: the first.
struct LessonProblem {
    std::string what, hint;
    std::size_t line = 0;
};
std::optional<Lesson> parse(std::string_view text, LessonProblem& problem);

/// Goes through a text: `plain(text)` for what is outside of placeholders, `filled(placeholder)` for each of them.
/// Placeholders that are not closed on their line are plain text.
template <typename Plain, typename Filled>
void forEachPart(std::string_view text, Plain plain, Filled filled);
/// What is between the braces. An error in words; empty: it is one.
std::string readPlaceholder(std::string_view inside, Placeholder& placeholder);

/// The text with `written(NAME)` in place of each $NAME.
template <typename Written>
std::string replaceNames(std::string_view text, Written written);
/// The names that occur behind a $, each once.
std::vector<std::string> namesIn(std::string_view text);

// --- templates -------------------------------------------------------------------------------------------------------

inline bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool isNamePart(char c) { return isNameStart(c) || (c >= '0' && c <= '9'); }

template <typename Written>
std::string replaceNames(std::string_view text, Written written) {
    std::string replaced;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '$' || i + 1 == text.size() || !isNameStart(text[i + 1])) {
            replaced += text[i++];
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && isNamePart(text[end])) ++end;
        replaced += written(std::string(text.substr(i + 1, end - i - 1)));
        i = end;
    }
    return replaced;
}

template <typename Plain, typename Filled>
void forEachPart(std::string_view text, Plain plain, Filled filled) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;  // of the line
        const std::string_view line = text.substr(0, end);
        const std::size_t open = line.find("{{");
        const std::size_t close = open == std::string_view::npos ? open : line.find("}}", open + 2);
        if (close == std::string_view::npos) {
            plain(line);
            text.remove_prefix(end);
            continue;
        }
        if (open > 0) plain(line.substr(0, open));
        filled(line.substr(open + 2, close - open - 2));
        text.remove_prefix(close + 2);
    }
}

}  // namespace sonde::lessons
