#include "core/session/edit_commands.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/number_text.h"
#include "core/session/debug/value_change.h"
#include "core/session/debug/value_json.h"
#include "core/session/edits/edit_line.h"

namespace sonde::session {

using debug::addValue;
using debug::unquoted;
using graph::NodeId;
using nlohmann::ordered_json;
using tensor::Value;

namespace {

std::optional<CommandError> unlessComplete(Words& words) {
    if (words.atEnd()) return std::nullopt;
    return CommandError{base::usageError("unexpected '" + std::string(words.rest()) + "'"), words.column()};
}

std::optional<CommandError> whileRunning(Session& session) {
    if (!session.debugger().isRunning()) return std::nullopt;
    return CommandError{base::usageError("the run goes on", {}, "pause it first"), 1};
}

ordered_json jsonOf(const Edits::Entry& entry) {
    ordered_json json{{"edit", editText(entry.edit)}, {"node", entry.edit.target.name}};
    if (!entry.edit.isEnabled) json["enabled"] = false;
    if (!entry.problem.empty()) json["missing"] = entry.problem;
    return json;
}

void addList(Session& session, ordered_json& answer) {
    ordered_json list = ordered_json::array();
    for (const Edits::Entry& entry : session.edits().all()) list.push_back(jsonOf(entry));
    answer["edits"] = std::move(list);
    std::size_t reached = 0;
    const graph::InternalGraph& graph = *session.document()->graph;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) reached += session.edits().reach(NodeId(i)) ? 1 : 0;
    answer["counterfactual"] = reached;
}

/// JSON has no infinity.
ordered_json numberOrText(double number) {
    if (std::isfinite(number)) return number;
    return std::isnan(number) ? "nan" : "inf";
}

}  // namespace

std::optional<CommandError> editValue(Session& session, Words& words, bool isSet, ordered_json& answer,
                                      const base::WorkContext& work) {
    const std::size_t before = words.column() - 1;
    std::size_t column = 1;
    auto line = isSet ? parseSet(words.rest(), column) : parseEdit(words.rest(), column);
    if (!line) return CommandError{std::move(line).error(), before + column};
    auto target = ReadyEdit::find(*session.document(), line->node);
    if (!target) return CommandError{std::move(target).error(), before + line->nodeColumn};
    EditPlace place;
    auto done = session.addEdit(*target, line->edit, place, work);
    if (!done) return CommandError{std::move(done).error(), before + line->columnOf(place)};
    addList(session, answer);
    return std::nullopt;
}

std::optional<CommandError> undoEdit(Session& session, Words& words, ordered_json& answer) {
    if (auto error = unlessComplete(words)) return error;
    if (auto error = whileRunning(session)) return error;
    if (!session.edits().undo()) return CommandError{base::usageError("there is no edit to undo"), 1};
    addList(session, answer);
    return std::nullopt;
}

std::optional<CommandError> redoEdit(Session& session, Words& words, ordered_json& answer) {
    if (auto error = unlessComplete(words)) return error;
    if (auto error = whileRunning(session)) return error;
    if (!session.edits().redo()) return CommandError{base::usageError("there is no edit to redo"), 1};
    addList(session, answer);
    return std::nullopt;
}

namespace {

/// on N, off N or remove N: the number of an edit, from 1.
std::optional<CommandError> changeList(Session& session, Words& words, ordered_json& answer,
                                       const base::WorkContext& work) {
    const std::size_t column = words.column();
    const std::string what(words.next());
    if (what != "on" && what != "off" && what != "remove")
        return CommandError{base::usageError("there is no edits '" + what.substr(0, 80) + "'", {},
                                             "edits, edits on N, edits off N or edits remove N"),
                            column};
    const std::size_t numberColumn = words.column();
    const auto number = base::parseNumber<std::size_t>(words.next());
    if (!number || *number == 0 || *number > session.edits().all().size())
        return CommandError{base::usageError("there is no edit of that number", {}, "edits lists them, from 1 on"),
                            numberColumn};
    if (auto error = unlessComplete(words)) return error;
    if (auto error = whileRunning(session)) return error;
    if (what == "remove") session.edits().remove(*number - 1, work);
    else session.edits().setEnabled(*number - 1, what == "on", work);
    addList(session, answer);
    return std::nullopt;
}

}  // namespace

std::optional<CommandError> listEdits(Session& session, Words& words, ordered_json& answer,
                                      const base::WorkContext& work) {
    if (!words.atEnd()) return changeList(session, words, answer, work);
    addList(session, answer);
    return std::nullopt;
}

std::optional<CommandError> printBaseline(Session& session, Words& words, ordered_json& answer,
                                          const base::WorkContext& work) {
    const std::size_t column = words.column();
    const auto failed = [column](base::Error error) {
        const auto inside = expression::errorColumn(error);
        return CommandError{std::move(error), column + (inside ? *inside - 1 : 0)};
    };
    auto parsed = expression::parse(words.rest());
    if (!parsed) return failed(std::move(parsed).error());
    const auto names = [&](std::string_view name) -> base::Result<Value> {
        SONDE_ASSIGN(const NodeId node, session.document()->findNode(name));
        return session.debugger().baselineValue(node, work);
    };
    auto value = expression::evaluate(*parsed, names, work);
    if (!value) return failed(std::move(value).error());
    addValue(answer, *value);
    return std::nullopt;
}

std::optional<CommandError> printDifference(Session& session, Words& words, ordered_json& answer,
                                            const base::WorkContext& work) {
    const std::size_t column = words.column();
    if (words.atEnd()) return CommandError{base::usageError("the name of a node is missing"), column};
    auto node = session.document()->findNode(unquoted(words.next()));
    if (!node) return CommandError{std::move(node).error(), column};
    if (auto error = unlessComplete(words)) return error;
    auto now = session.debugger().value(*node, work);
    if (!now) return CommandError{std::move(now).error(), column};
    auto before = session.debugger().baselineValue(*node, work);
    if (!before) return CommandError{std::move(before).error(), column};
    auto change = debug::valueChange(*now, *before, work);
    if (!change) return CommandError{std::move(change).error(), column};
    answer["difference"] = {{"max_abs", numberOrText(change->maxAbsolute)},
                            {"max_rel", numberOrText(change->maxRelative)},
                            {"changed", change->changed},
                            {"elements", change->elements}};
    return std::nullopt;
}

}  // namespace sonde::session
