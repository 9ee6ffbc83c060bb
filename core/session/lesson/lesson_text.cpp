#include "core/session/lesson/lesson_text.h"

#include <algorithm>
#include <cmath>

#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/exec/flatten.h"
#include "core/expression/expression.h"
#include "core/session/why/explanation.h"
#include "core/session/why/notable_element.h"
#include "core/session/why/place_text.h"

namespace sonde::session {

using base::Result;
using base::usageError;
using graph::NodeId;
using lessons::Block;
using lessons::BoundLesson;
using lessons::Placeholder;
using lessons::Question;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxListed = 8;
constexpr std::size_t kMaxFormula = 400, kMaxTerms = 1 << 16;
constexpr const char* kUnknown = "…";

/// Doubles are exact up to here, and so are counts.
constexpr double kMaxExact = 1e15;

/// Counts as they are, other numbers with four digits, of large ones those before the point.
std::string numberText(double number) {
    if (std::abs(number) < kMaxExact && std::trunc(number) == number)
        return std::to_string(static_cast<std::int64_t>(number));
    constexpr double kMaxPlain = 1e9;
    int digits = 4;
    for (double least = 1e4; least <= std::abs(number) && least < kMaxPlain; least *= 10) ++digits;
    return base::roundedText(number, digits);
}

/// The same to be read: counts in groups of three digits.
std::string shownNumber(double number) {
    if (std::abs(number) < kMaxExact && std::trunc(number) == number)
        return base::countText(static_cast<std::int64_t>(number));
    return numberText(number);
}

/// What somebody has typed: "0,5" is a half, "66,048" may also be a count in groups.
std::vector<double> readings(std::string given) {
    std::erase(given, ' ');
    if (given.starts_with('+')) given.erase(0, 1);
    std::vector<double> numbers;
    for (const bool isGrouped : {false, true}) {
        std::string text = given;
        if (isGrouped) std::erase(text, ',');
        else std::ranges::replace(text, ',', '.');
        const auto number = base::parseNumber<double>(text);
        if (!number || (isGrouped && !(std::abs(*number) < kMaxExact))) continue;
        if (!isGrouped || base::countText(static_cast<std::int64_t>(*number)) == given) numbers.push_back(*number);
    }
    return numbers;
}

/// "#12" as the node that it names; invalid if it is none of the graph.
NodeId nodeNumbered(std::string_view name, const graph::InternalGraph& graph) {
    if (!name.starts_with('#')) return {};
    const auto number = base::parseNumber<std::uint32_t>(name.substr(1));
    return number && *number < graph.nodeCount() ? NodeId(std::size_t{*number}) : NodeId();
}

Result<tensor::Tensor> computed(const BoundLesson& lesson, const std::string& text, const LessonValues& values,
                                const base::WorkContext& work) {
    SONDE_ASSIGN(const auto parsed, expression::parse(lesson.withNodes(text)));
    const auto names = [&](std::string_view name) -> Result<Value> {
        const NodeId node = nodeNumbered(name, lesson.graph());
        const auto found = values.find(node);
        if (node.valid() && found != values.end()) return found->second;
        return usageError("the value of '" + std::string(name) + "' is not known", {}, "run the model");
    };
    return expression::evaluateArray(parsed, names, work);
}

/// Of a question that asks for one.
Result<double> rightNumber(const BoundLesson& lesson, const Question& question, const LessonValues& values,
                           const base::WorkContext& work) {
    for (const std::string& name : lessons::namesIn(question.answer))
        if (!values.contains(lesson.node(name)))
            return atLine(usageError("the value of $" + name + " is not known", {}, "run the model"), lesson.lesson(),
                          question.line);
    const auto array = computed(lesson, question.answer, values, work);
    if (!array) return atLine(array.error(), lesson.lesson(), question.line);
    if (array->numel() != 1)
        return atLine(usageError("'" + question.answer + "' is not one number"), lesson.lesson(), question.line);
    return array->toDouble(0);
}

Result<std::string> shownText(const tensor::Tensor& array) {
    if (array.numel() > kMaxListed)
        return usageError(base::countText(array.numel()) + " numbers, of which at most " + std::to_string(kMaxListed) +
                          " are written");
    std::string text;
    for (std::int64_t i = 0; i < array.numel(); ++i) text += (i == 0 ? "" : ", ") + shownNumber(array.toDouble(i));
    return array.numel() == 1 ? text : "[" + text + "]";
}

/// Names of files are code: nothing in them is markup.
std::string codeText(std::string text) {
    std::erase(text, '`');
    return text.empty() ? std::string() : "`" + text + "`";
}

std::string shapeText(const BoundLesson& lesson, NodeId node, const LessonValues& values) {
    if (const auto found = values.find(node); found != values.end()) return found->second.typeText();
    return lesson.graph().node(node).type.text();
}

/// Of a called module its class: its target is where it is, which is another placeholder.
std::string operatorText(const graph::Expr& expr) {
    if (!expr.op.name.empty()) return expr.op.name;
    if (!expr.moduleClass.empty()) return expr.moduleClass.substr(expr.moduleClass.rfind('.') + 1);
    const bool isNamed = expr.kind == graph::ExprKind::Constant || expr.kind == graph::ExprKind::GetAttr;
    return expr.target.empty() || isNamed ? std::string(graph::name(expr.kind)) : expr.target;
}

/// Writes a part of a text; what is wrong with it is kept with its line.
class Writer {
  public:
    Writer(const BoundLesson& lesson, const LessonValues& values, const base::WorkContext& work)
        : m_lesson(lesson), m_values(values), m_work(work) {}

    /// A text with its placeholders filled; `line` is that of its beginning.
    std::string text(const std::string& text, std::size_t line);
    std::string formula(const std::string& text, std::size_t line);
    bool isComplete() const { return m_isComplete; }
    std::vector<base::Error>& problems() { return m_problems; }

  private:
    std::string filled(const Placeholder& placeholder, std::size_t line);
    /// "… (line 12: why)".
    std::string failed(const base::Error& error, std::size_t line);
    std::string unknown() {
        m_isComplete = false;
        return kUnknown;
    }
    bool isKnown(const std::string& text) const {
        return std::ranges::all_of(lessons::namesIn(text),
                                   [&](const std::string& name) { return m_values.contains(m_lesson.node(name)); });
    }

    const BoundLesson& m_lesson;
    const LessonValues& m_values;
    const base::WorkContext& m_work;
    bool m_isComplete = true;
    std::vector<base::Error> m_problems;
};

std::string Writer::failed(const base::Error& error, std::size_t line) {
    m_problems.push_back(atLine(error, m_lesson.lesson(), line));
    return kUnknown + (" (" + codeText("line " + std::to_string(line) + ": " + error.what)) + ")";
}

std::string Writer::filled(const Placeholder& placeholder, std::size_t line) {
    if (placeholder.kind == Placeholder::Kind::Expression) {
        if (!isKnown(placeholder.text)) return unknown();
        const auto array = computed(m_lesson, placeholder.text, m_values, m_work);
        if (!array) return failed(array.error(), line);
        const auto shown = shownText(*array);
        return shown ? *shown : failed(shown.error(), line);
    }
    const NodeId node = m_lesson.node(placeholder.text);
    if (!node.valid()) return kUnknown;
    const graph::Expr& expr = m_lesson.graph().expr(m_lesson.graph().node(node).producer);
    switch (placeholder.kind) {
        case Placeholder::Kind::Operator: return codeText(operatorText(expr));
        case Placeholder::Kind::Module: return codeText(expr.qualname.value_or("").empty() ? "(root)" : *expr.qualname);
        case Placeholder::Kind::Shape: return codeText(shapeText(m_lesson, node, m_values));
        case Placeholder::Kind::Name:
        case Placeholder::Kind::Expression: break;
    }
    return codeText(m_lesson.graph().node(node).name);
}

/// The last line is one of a paragraph, which goes on in the next one.
bool endsInProse(std::string_view text) {
    constexpr std::string_view kOthers = "#|`>\n";  // headings, tables, code, quotations; an empty line
    if (!text.ends_with('\n')) return false;
    text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n') + 1;  // 0 of the first line
    return begin < text.size() && kOthers.find(text[begin]) == std::string_view::npos;
}

std::string Writer::text(const std::string& text, std::size_t line) {
    std::string written;
    lessons::forEachPart(
        text,
        [&](std::string_view plain) {
            written += plain;
            line += static_cast<std::size_t>(std::ranges::count(plain, '\n'));
        },
        [&](std::string_view inside) {
            Placeholder placeholder;
            if (!lessons::readPlaceholder(inside, placeholder).empty()) return;
            // A number and a stop at the beginning of a line would be an item of a list.
            if (endsInProse(written)) written.back() = ' ';
            written += filled(placeholder, line);
        });
    return written;
}

class KnownValues : public why::Reader {
  public:
    KnownValues(const BoundLesson& lesson, const LessonValues& values) : m_lesson(lesson), m_values(values) {}
    Result<Value> value(NodeId node) override {
        if (const auto found = m_values.find(node); found != m_values.end()) return found->second;
        if (const auto& constant = m_lesson.graph().node(node).constant) return *constant;
        m_isMissing = true;
        return usageError("the value of '" + m_lesson.graph().node(node).name + "' is not known");
    }
    /// One was asked for that is not known.
    bool isMissing() const { return m_isMissing; }

  private:
    bool m_isMissing = false;
    const BoundLesson& m_lesson;
    const LessonValues& m_values;
};

/// "$conv[0, 1]" as a place; the notable element without an index.
Result<why::Place> placeOf(const BoundLesson& lesson, const std::string& text, const LessonValues& values) {
    why::PlaceProblem problem;
    const auto read = why::readPlace(lesson.withNodes(text), problem);
    if (!read) return problem.error;
    const NodeId node = nodeNumbered(read->node, lesson.graph());
    if (!node.valid()) return usageError("'" + read->node + "' is no name of the lesson");
    why::Place place{node, {}, read->index};
    if (place.index.empty()) {
        const auto found = values.find(node);
        if (found == values.end() || !found->second.isTensor()) return usageError("the value is not known");
        if (auto index = why::notableIndex(found->second.tensor())) place.index = std::move(*index);
    }
    return place;
}

/// Of a sum of products those that count most, with their numbers: a letter stands for all of them in the formula.
std::string productsText(const why::Explanation& found) {
    constexpr std::string_view kProducts("sum(w * x)");
    constexpr std::size_t kMaxProducts = 3;
    if (!found.formula.starts_with(kProducts) || found.terms.size() < 2) return {};
    const auto signedText = [](double number) {
        return number < 0 ? "(" + numberText(number) + ")" : numberText(number);
    };
    std::string listed;
    double rest = found.restSum;
    std::size_t count = 0;
    for (const why::Term& term : found.terms) {
        if (term.part != "x") continue;  // the bias
        if (count++ < kMaxProducts)
            listed += (listed.empty() ? "" : ", ") + codeText(numberText(term.weight) + " * " + signedText(term.value));
        else rest += term.contribution();
    }
    const std::size_t all = count + found.restCount();
    if (all < 2) return {};
    std::string text =
        "\nThe largest of " + base::countText(static_cast<std::int64_t>(all)) + " products w * x: " + listed;
    if (all > kMaxProducts) text += "; the others add up to " + numberText(rest);
    return text + ".\n";
}

std::string Writer::formula(const std::string& text, std::size_t lineNumber) {
    const auto written = [&text](const std::string& value) { return "\n" + codeText(text) + " = " + value + "\n"; };
    if (!isKnown(text)) return written(unknown());
    const auto place = placeOf(m_lesson, text, m_values);
    KnownValues reader(m_lesson, m_values);
    const auto found = place ? why::explain(m_lesson.graph(), *place, reader, {.terms = kMaxTerms}, m_work)
                             : Result<why::Explanation>(place.error());
    if (!found) return written(reader.isMissing() ? unknown() : failed(found.error(), lineNumber));
    std::string index;
    for (const std::int64_t at : found->place.index) index += (index.empty() ? "" : ", ") + std::to_string(at);
    // A line each: hard breaks of Markdown.
    std::string line = "\n" + codeText(m_lesson.graph().node(place->node).name + "[" + index + "]");
    if (!found->formula.empty()) line += "  \n= " + codeText(found->formula);
    if (!found->withNumbers.empty() && found->withNumbers.size() <= kMaxFormula)
        line += "  \n= " + codeText(found->withNumbers);
    line += "  \n= **" + shownNumber(found->value) + "**\n\n";
    line += productsText(*found);
    if (found->formula.empty() && !found->note.empty()) line += "\n" + found->note + "\n";
    return line;
}

}  // namespace

std::vector<NodeId> valuesFor(const BoundLesson& lesson, const lessons::Step& step) {
    std::vector<NodeId> nodes;
    const auto need = [&nodes](NodeId node) {
        if (node.valid() && std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
    };
    const auto needNames = [&](std::string_view text) {
        for (const std::string& name : lessons::namesIn(text)) need(lesson.node(name));
    };
    for (const Block& block : step.blocks) {
        if (block.kind == Block::Kind::Text)
            lessons::forEachPart(
                block.text, [](std::string_view) {}, [&](std::string_view inside) { needNames(inside); });
        if (block.kind != Block::Kind::Formula) continue;
        for (const std::string& name : lessons::namesIn(block.text)) {
            const NodeId node = lesson.node(name);
            if (!node.valid()) continue;
            // A called module is explained by the operation in it.
            const bool isCall = lesson.graph().expr(lesson.graph().node(node).producer).op.name.empty();
            const NodeId source = isCall ? exec::valueSources(lesson.graph())[node.index()] : node;
            for (const NodeId each : {node, source}) need(each);
            for (const NodeId input : lesson.graph().expr(lesson.graph().node(source).producer).inputs) need(input);
        }
    }
    for (const Question& question : step.questions)
        for (const std::string* const text : {&question.ask, &question.answer, &question.because}) needNames(*text);
    return nodes;
}

StepText textOf(const BoundLesson& lesson, const lessons::Step& step, const LessonValues& values,
                const base::WorkContext& work) {
    StepText text;
    Writer writer(lesson, values, work);
    for (const Block& block : step.blocks)
        text.markdown += block.kind == Block::Kind::Formula ? writer.formula(block.text, block.line)
                                                            : writer.text(block.text, block.line);
    for (const Question& question : step.questions) text.asks.push_back(writer.text(question.ask, question.line));
    text.isComplete = writer.isComplete();
    text.problems = std::move(writer.problems());
    return text;
}

base::Error atLine(base::Error error, const lessons::Lesson& lesson, std::size_t line) {
    const std::string place = lesson.source + (lesson.source.empty() ? "line " : ", line ") + std::to_string(line);
    error.where = place + (error.where.empty() ? "" : ": " + error.where);
    return error;
}

Result<LessonAnswer> solution(const BoundLesson& lesson, const Question& question, const LessonValues& values,
                              const base::WorkContext& work) {
    LessonAnswer answer;
    if (question.kind == Question::Kind::Number) {
        SONDE_ASSIGN(const double number, rightNumber(lesson, question, values, work));
        answer.number = numberText(number);
    } else if (question.kind == Question::Kind::Choice) {
        const auto right = std::ranges::find(question.choices, true, &lessons::Choice::isRight);
        answer.choice = static_cast<std::size_t>(right - question.choices.begin());
    } else {
        const std::vector<NodeId> nodes = lesson.nodes(*question.node);
        if (nodes.empty()) return usageError("no node of the model is the answer");
        answer.node = nodes.front();
    }
    return answer;
}

Result<LessonVerdict> check(const BoundLesson& lesson, const Question& question, const LessonAnswer& answer,
                            const LessonValues& values, const base::WorkContext& work) {
    LessonVerdict verdict;
    std::string right;
    if (question.kind == Question::Kind::Number) {
        SONDE_ASSIGN(const double expected, rightNumber(lesson, question, values, work));
        const std::vector<double> given = readings(answer.number);
        if (given.empty()) return usageError("'" + answer.number + "' is no number");
        const double tolerance = question.isRelative ? question.tolerance * std::abs(expected) : question.tolerance;
        verdict.isRight = std::ranges::any_of(
            given, [&](double number) { return std::abs(number - expected) <= tolerance || number == expected; });
        right = shownNumber(expected);
    } else if (question.kind == Question::Kind::Choice) {
        verdict.isRight = answer.choice < question.choices.size() && question.choices[answer.choice].isRight;
    } else {
        const std::vector<NodeId> nodes = lesson.nodes(*question.node);
        verdict.isRight = std::ranges::find(nodes, answer.node) != nodes.end();
    }
    verdict.text = !verdict.isRight ? "Not yet." : right.empty() ? "Right." : "Right: " + right + ".";
    if (verdict.isRight && !question.because.empty())
        verdict.text += " " + Writer(lesson, values, work).text(question.because, question.line);
    return verdict;
}

}  // namespace sonde::session
