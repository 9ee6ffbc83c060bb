#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/trimmed.h"
#include "core/expression/expression.h"
#include "core/lessons/lesson.h"
#include "core/lessons/source_text.h"
#include "core/lessons/views.h"

namespace sonde::lessons {

namespace {

/// `$x` as a name of the expression language, which is not resolved here.
std::string asExpression(std::string_view text) {
    return replaceNames(text, [](const std::string& name) { return "`" + name + "`"; });
}

std::string expressionProblem(std::string_view text) {
    const auto parsed = expression::parse(asExpression(text));
    return parsed ? std::string() : parsed.error().what + " in '" + std::string(text) + "'";
}

bool takePrefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text = base::trimmed(text.substr(prefix.size()));
    return true;
}

std::string joinedLines(std::string_view text) {
    std::string line;
    for (const char c : text)
        if (c != '\n' || (!line.empty() && line.back() != ' ')) line += c == '\n' ? ' ' : c;
    return std::string(base::trimmed(line));
}

class Parser {
  public:
    explicit Parser(std::string_view text) : m_text(text) {}

    std::optional<Lesson> run(LessonProblem& problem) {
        if (m_text.size() > kMaxLessonBytes) fail("the lesson is longer than 256 KiB");
        if (m_text.find('\0') != std::string_view::npos) fail("this is no text");
        m_text = base::withoutByteOrderMark(m_text);
        while (!m_problem && nextLine()) takeLine();
        if (!m_problem && m_fence != Fence::None) fail("the block that begins here has no end", m_fenceLine);
        if (!m_problem && m_lesson.title.empty()) fail("a lesson begins with '# TITLE'");
        if (!m_problem) endStep();
        if (!m_problem && m_lesson.steps.empty()) fail("there is no step", m_line, "each begins with '## TITLE'");
        if (m_problem) {
            problem = *m_problem;
            return std::nullopt;
        }
        return std::move(m_lesson);
    }

  private:
    enum class Fence { None, Sonde, Question, Other };

    void fail(std::string what, std::size_t line = 0, std::string hint = {}) {
        if (!m_problem) m_problem = LessonProblem{std::move(what), std::move(hint), line > 0 ? line : m_line};
    }

    bool nextLine() {
        if (m_at >= m_text.size()) return false;
        const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
        m_now = m_text.substr(m_at, end - m_at);
        if (m_now.ends_with('\r')) m_now.remove_suffix(1);
        m_at = end + 1;
        ++m_line;
        if (m_now.size() > kMaxLineBytes) fail("the line is longer than 4000 bytes");
        return !m_problem;
    }

    void takeLine() {
        if (m_now.starts_with("```")) return takeFence(base::trimmed(m_now.substr(3)));
        if (m_fence == Fence::Sonde) return takeStatement(base::trimmed(m_now));
        if (m_fence == Fence::Question) return takeQuestionLine(base::trimmed(m_now));
        if (m_fence == Fence::None && m_now.starts_with("# ")) {
            if (!m_lesson.title.empty()) return fail("a lesson has one title");
            m_lesson.title = std::string(base::trimmed(m_now.substr(2)));
            if (m_lesson.title.empty()) fail("the title is empty");
            return;
        }
        if (m_lesson.title.empty()) {
            if (!base::trimmed(m_now).empty()) fail("a lesson begins with '# TITLE'");
            return;
        }
        if (m_fence == Fence::None && m_now.starts_with("## ")) return beginStep(base::trimmed(m_now.substr(3)));
        addText(m_now);
    }

    void takeFence(std::string_view info) {
        if (m_fence == Fence::None) {
            m_fence = info == "sonde" ? Fence::Sonde : info == "question" ? Fence::Question : Fence::Other;
            m_fenceLine = m_line;
            if (m_fence == Fence::Other) addText(m_now);
            if (m_fence != Fence::Other && m_lesson.title.empty()) fail("a lesson begins with '# TITLE'");
            if (m_fence == Fence::Question) beginQuestion();
            return;
        }
        if (!info.empty()) return fail("a block begins inside of another one", m_line, "``` alone ends a block");
        if (m_fence == Fence::Other) addText(m_now);
        if (m_fence == Fence::Question) endQuestion();
        m_wasFenced = m_fence != Fence::Other;
        m_fence = Fence::None;
    }

    // --- text --------------------------------------------------------------------------------------------------------

    void addText(std::string_view line) {
        const bool goesOn = !std::exchange(m_wasFenced, false);  // else its lines are not the next ones
        if (m_step.blocks.empty() || m_step.blocks.back().kind != Block::Kind::Text || !goesOn)
            m_step.blocks.push_back({Block::Kind::Text, {}, m_line});
        std::string& text = m_step.blocks.back().text;
        text += line;
        text += '\n';
        usePlaceholders(line);
    }

    void usePlaceholders(std::string_view text) {
        forEachPart(
            text, [](std::string_view) {},
            [this](std::string_view inside) {
                Placeholder placeholder;
                if (std::string problem = readPlaceholder(inside, placeholder); !problem.empty())
                    return fail(std::move(problem));
                if (++m_placeholders > kMaxPlaceholders) return fail("the lesson has more than 500 placeholders");
                useNames(placeholder.kind == Placeholder::Kind::Expression ? placeholder.text : "$" + placeholder.text);
            });
    }

    void useNames(std::string_view text) {
        for (const std::string& name : namesIn(text)) {
            if (std::ranges::find(m_lesson.bindings, name, &BindingRule::name) == m_lesson.bindings.end())
                return fail("$" + name + " is not bound", m_line, "bind " + name + ": … before the first step");
            if (std::ranges::find(m_step.names, name) == m_step.names.end()) m_step.names.push_back(name);
        }
    }

    void beginStep(std::string_view title) {
        endStep();
        if (title.empty()) return fail("the step has no title");
        if (m_lesson.steps.size() >= kMaxSteps) return fail("the lesson has more than 100 steps");
        m_step.title = std::string(title);
        m_step.line = m_line;
        m_hasSteps = true;
    }

    /// What comes before the first step is what the lesson is about; its names are none that a step uses.
    void endStep() {
        if (!m_hasSteps) {
            for (const Block& block : m_step.blocks) {
                if (block.kind != Block::Kind::Text || !m_lesson.summary.empty()) continue;
                std::string_view text = block.text;
                while (text.starts_with('\n')) text.remove_prefix(1);
                m_lesson.summary = joinedLines(text.substr(0, text.find("\n\n")));
            }
            if (!m_step.names.empty()) fail("only steps use names in their text", m_step.blocks.front().line);
            m_step = {};
            return;
        }
        m_lesson.steps.push_back(std::exchange(m_step, {}));
    }

    // --- statements --------------------------------------------------------------------------------------------------

    void takeStatement(std::string_view line) {
        if (line.empty() || line.starts_with('#')) return;
        if (++m_statements > kMaxStatements) return fail("the lesson has more than 1000 statements");
        std::string_view rest = line;
        const std::string_view word = takeWord(rest);
        if (word == "bind" || word == "maybe") return takeBinding(rest, word == "maybe");
        if (word == "needs") {
            if (m_hasSteps) return fail("what the lesson needs comes before the first step");
            if (rest != "no NaN") return fail("'" + std::string(rest) + "' cannot be needed", m_line, "needs no NaN");
            m_lesson.needsNoNan = true;
            return;
        }
        if (!m_hasSteps) return fail("'" + std::string(word) + "' comes in a step", m_line, "bind NAME: … comes here");
        if (word == "formula") {
            if (!rest.starts_with('$')) return fail("formula needs a place", m_line, "formula $conv[0, 0, 1, 1]");
            m_step.blocks.push_back({Block::Kind::Formula, std::string(rest), m_line});
            return useNames(rest);
        }
        takeAction(word, rest);
    }

    void takeAction(std::string_view word, std::string_view rest) {
        struct Word {
            std::string_view word;
            Action::Kind kind;
            bool takesName, takesText;
        };
        static constexpr Word kWords[] = {
            {"run", Action::Kind::Run, false, false},      {"expand", Action::Kind::Expand, true, false},
            {"select", Action::Kind::Select, true, false}, {"focus", Action::Kind::Focus, true, false},
            {"watch", Action::Kind::Watch, true, false},   {"show", Action::Kind::Show, false, true},
            {"set", Action::Kind::Set, false, true},       {"edit", Action::Kind::Edit, false, true}};
        const auto* const found = std::ranges::find(kWords, word, &Word::word);
        if (found == std::end(kWords))
            return fail("there is no action '" + std::string(word) + "'", m_line,
                        "run, expand, select, focus, watch, show, set, edit, formula");
        Action action{found->kind, {}, {}, 0, m_line};
        if (found->takesName) {
            const std::string_view name = takeWord(rest);
            if (namesIn(name) !=
                std::vector<std::string>{std::string(name.substr(std::min<std::size_t>(1, name.size())))})
                return fail(std::string(word) + " needs a name", m_line, std::string(word) + " $conv");
            action.node = std::string(name.substr(1));
            useNames(name);
        }
        if (action.kind == Action::Kind::Focus) {
            const std::string_view number = takeWord(rest);
            action.number = 2;
            if (!number.empty() && (std::from_chars(number.data(), number.data() + number.size(), action.number).ptr !=
                                        number.data() + number.size() ||
                                    action.number < 1 || action.number > 100))
                return fail("'" + std::string(number) + "' is no count of edges", m_line, "focus $conv 2");
        }
        if (found->takesText) {
            if (rest.empty()) return fail(std::string(word) + " needs more");
            const bool changes = action.kind != Action::Kind::Show;
            if (changes && !rest.starts_with('$'))
                return fail(std::string(word) + " begins with a name", m_line, "set $x[0] = 0, edit $x zero");
            action.text = std::string(std::exchange(rest, {}));
            if (!changes && std::ranges::find(viewWords(), action.text) == viewWords().end())
                return fail("there is no view '" + action.text + "'", m_line, viewWordsText());
            useNames(action.text);
        }
        if (!rest.empty()) return fail("unexpected '" + std::string(rest) + "'");
        m_step.actions.push_back(std::move(action));
    }

    void takeBinding(std::string_view rest, bool isOptional) {
        if (m_hasSteps) return fail("names are bound before the first step");
        if (m_lesson.bindings.size() >= kMaxBindings) return fail("the lesson binds more than 64 names");
        const std::size_t colon = rest.find(':');
        if (colon == std::string_view::npos) return fail("':' is missing", m_line, "bind conv: kind convolution");
        BindingRule rule;
        rule.line = m_line;
        rule.isOptional = isOptional;
        rule.name = std::string(base::trimmed(rest.substr(0, colon)));
        if (namesIn("$" + rule.name) != std::vector<std::string>{rule.name})
            return fail("'" + rule.name + "' is no name", m_line, "letters, digits and _");
        if (std::ranges::find(m_lesson.bindings, rule.name, &BindingRule::name) != m_lesson.bindings.end())
            return fail("$" + rule.name + " is bound already");
        std::string_view source = base::trimmed(rest.substr(colon + 1));
        if (const std::size_t bar = source.rfind(" | "); bar != std::string_view::npos) {
            rule.purpose = std::string(base::trimmed(source.substr(bar + 3)));
            source = base::trimmed(source.substr(0, bar));
        }
        if (takePrefix(source, "first ")) rule.pick = BindingRule::Pick::First;
        else if (takePrefix(source, "middle ")) rule.pick = BindingRule::Pick::Middle;
        else if (takePrefix(source, "last ")) rule.pick = BindingRule::Pick::Last;
        if (std::string problem = takeSource(source, rule.source); !problem.empty()) return fail(std::move(problem));
        m_lesson.bindings.push_back(std::move(rule));
    }

    std::string takeSource(std::string_view text, Source& source) {
        if (std::string problem = readSource(text, source); !problem.empty()) return problem;
        std::vector<std::string> names{source.of, source.after, source.before};
        if (source.kind == Source::Kind::Query)
            for (std::string& name : namesIn(source.text)) names.push_back(std::move(name));
        for (const std::string& name : names)
            if (!name.empty() &&
                std::ranges::find(m_lesson.bindings, name, &BindingRule::name) == m_lesson.bindings.end())
                return "$" + name + " is not bound";
        return {};
    }

    // --- questions ---------------------------------------------------------------------------------------------------

    void beginQuestion() {
        if (!m_hasSteps) fail("questions are asked in steps");
        m_question = {};
        m_question.line = m_line;
        m_continued = nullptr;
    }

    void takeQuestionLine(std::string_view line) {
        if (line.empty()) return;
        if (++m_statements > kMaxStatements) return fail("the lesson has more than 1000 statements");
        const bool isRight = line.starts_with("[x]") || line.starts_with("[X]");
        if (isRight || line.starts_with("[ ]")) {
            m_question.choices.push_back({std::string(base::trimmed(line.substr(3))), isRight});
            m_continued = &m_question.choices.back().text;
            if (m_continued->empty()) fail("the choice is empty");
            return;
        }
        for (const auto& [key, text] : {std::pair{std::string_view("ask:"), &m_question.ask},
                                        std::pair{std::string_view("because:"), &m_question.because},
                                        std::pair{std::string_view("answer:"), &m_question.answer}}) {
            if (!takePrefix(line, key)) continue;
            *text = std::string(line);
            m_continued = text == &m_question.answer ? nullptr : text;
            return;
        }
        if (takePrefix(line, "tolerance:")) return takeTolerance(line);
        if (takePrefix(line, "node:")) {
            m_continued = nullptr;
            Source source;
            if (std::string problem = takeSource(line, source); !problem.empty()) return fail(std::move(problem));
            m_question.node = std::move(source);
            return;
        }
        if (!m_continued) return fail("a question has ask:, answer:, tolerance:, node:, because:, [ ] and [x]");
        *m_continued += ' ';
        *m_continued += line;
    }

    void takeTolerance(std::string_view text) {
        m_question.isRelative = text.ends_with('%');
        if (m_question.isRelative) text = base::trimmed(text.substr(0, text.size() - 1));
        double number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(number) ||
            number < 0)
            return fail("'" + std::string(text) + "' is no tolerance", m_line, "tolerance: 0.5, tolerance: 2 %");
        m_question.tolerance = m_question.isRelative ? number / 100 : number;
    }

    void endQuestion() {
        Question& question = m_question;
        const int forms =
            (question.answer.empty() ? 0 : 1) + (question.choices.empty() ? 0 : 1) + (question.node ? 1 : 0);
        if (question.ask.empty()) return fail("the question asks nothing", question.line, "ask: …");
        if (forms != 1)
            return fail("a question has one of answer:, node: and choices", question.line, "[x] for the right choice");
        if (!question.answer.empty()) {
            if (std::string problem = expressionProblem(question.answer); !problem.empty())
                return fail(std::move(problem), question.line);
            useNames(question.answer);
        }
        if (!question.choices.empty()) {
            question.kind = Question::Kind::Choice;
            if (std::ranges::count(question.choices, true, &Choice::isRight) != 1 || question.choices.size() < 2)
                return fail("of at least two choices one is right", question.line, "[x] for the right choice");
        }
        if (question.node) {
            question.kind = Question::Kind::Node;
            for (const std::string& name : {question.node->of, question.node->after, question.node->before})
                if (!name.empty()) useNames("$" + name);
            if (question.node->kind == Source::Kind::Query) useNames(question.node->text);
        }
        usePlaceholders(question.ask);
        usePlaceholders(question.because);
        m_step.questions.push_back(std::exchange(m_question, {}));
        m_continued = nullptr;
    }

    std::string_view m_text, m_now;
    std::size_t m_at = 0, m_line = 0, m_fenceLine = 0, m_placeholders = 0, m_statements = 0;
    Fence m_fence = Fence::None;
    bool m_wasFenced = false;  ///< a block that is no text came before
    bool m_hasSteps = false;
    Lesson m_lesson;
    Step m_step;  // the one that is read; before the first, what the lesson is about
    Question m_question;
    std::string* m_continued = nullptr;  // what a line without a key goes on with
    std::optional<LessonProblem> m_problem;
};

}  // namespace

std::optional<Lesson> parse(std::string_view text, LessonProblem& problem) { return Parser(text).run(problem); }

std::string readPlaceholder(std::string_view inside, Placeholder& placeholder) {
    std::string_view rest = base::trimmed(inside);
    struct Word {
        std::string_view word;
        Placeholder::Kind kind;
    };
    static constexpr Word kWords[] = {{"name", Placeholder::Kind::Name},
                                      {"operator", Placeholder::Kind::Operator},
                                      {"module", Placeholder::Kind::Module},
                                      {"shape", Placeholder::Kind::Shape}};
    for (const Word& word : kWords) {
        if (!rest.starts_with(word.word) || rest.size() == word.word.size() || rest[word.word.size()] != ' ') continue;
        const std::string_view name = base::trimmed(rest.substr(word.word.size()));
        const std::vector<std::string> names = namesIn(name);
        if (names.size() != 1 || name != "$" + names.front())
            return "'" + std::string(word.word) + "' needs a name: {{" + std::string(word.word) + " $conv}}";
        placeholder = {word.kind, names.front()};
        return {};
    }
    if (std::string problem = expressionProblem(rest); !problem.empty()) return problem;
    placeholder = {Placeholder::Kind::Expression, std::string(rest)};
    return {};
}

std::vector<std::string> namesIn(std::string_view text) {
    std::vector<std::string> names;
    (void)replaceNames(text, [&names](const std::string& name) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        return std::string();
    });
    return names;
}

}  // namespace sonde::lessons
