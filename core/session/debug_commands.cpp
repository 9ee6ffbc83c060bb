#include "core/session/debug_commands.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/tensor_stats.h"
#include "core/base/nearest.h"
#include "core/document/found_nodes.h"
#include "core/exec/flatten.h"
#include "core/session/debug/accesses.h"
#include "core/session/debug/command_words.h"
#include "core/session/debug/missed_node.h"
#include "core/session/debug/timeline_json.h"
#include "core/session/debug/value_json.h"
#include "core/session/debug_state_json.h"
#include "core/session/debugged_problems.h"
#include "core/session/edit_commands.h"
#include "core/session/edits/edit_count.h"
#include "core/session/gradient_commands.h"
#include "core/session/precision_commands.h"
#include "core/session/problem_json.h"
#include "core/session/session_state.h"
#include "core/session/why_commands.h"

namespace sonde::session {

using debug::Breakpoint;
using debug::Direction;
using debug::Target;
using debug::unquoted;
using debug::Words;
using graph::NodeId;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxOutputs = 1'000;  ///< values that one answer lists

using Refusal = CommandError;

/// The name of a node, which may have blanks: the longest run of words that is one. Else the next word.
std::string_view nextNode(Words& words, const graph::InternalGraph& graph) {
    const std::string_view rest = words.rest();
    std::string_view name = rest;
    while (!graph.findNode(name).valid()) {
        const std::size_t blank = name.find_last_of(" \t");
        if (blank == std::string_view::npos) return words.next();
        name = name.substr(0, name.find_last_not_of(" \t", blank) + 1);
    }
    while (!words.atEnd() && words.rest().data() < name.data() + name.size()) (void)words.next();
    return name;
}

}  // namespace

/// One command that is being done: its words, and the answer.
struct DebugCommands::Call {
    Session& session;
    const base::WorkContext& work;
    Words words;
    ordered_json answer = ordered_json::object();
    std::optional<Refusal> refusal = std::nullopt;
    bool quits = false;

    Debugger& debugger() { return session.debugger(); }
    void refuse(base::Error error, std::size_t column) { refusal = Refusal{std::move(error), column}; }

    /// Nothing may follow.
    bool isComplete() {
        if (words.atEnd()) return true;
        refuse(base::usageError("unexpected '" + std::string(words.rest()) + "'"), words.column());
        return false;
    }
    Direction direction() { return words.takes("back") ? Direction::Back : Direction::Forward; }

    /// What `find` finds by the next name.
    template <typename Find>
    auto named(const Find& find) -> std::optional<typename decltype(find(std::string()))::value_type> {
        const std::size_t column = words.column();
        if (words.atEnd()) {
            refuse(base::usageError("the name of a node is missing"), column);
            return std::nullopt;
        }
        auto found = find(unquoted(nextNode(words, *session.document()->graph)));
        if (found) return std::move(*found);
        refuse(std::move(found).error(), column);
        return std::nullopt;
    }
    std::optional<NodeId> node() {
        return named([this](const std::string& name) { return session.document()->findNode(name); });
    }
    /// Of a module all that it returns.
    std::optional<std::vector<NodeId>> nodes() {
        return named([this](const std::string& name) { return document::findNodes(*session.document(), name); });
    }

    /// The rest of the line.
    std::optional<expression::Expression> expression() {
        const std::size_t column = words.column();
        auto parsed = expression::parse(words.rest());
        if (parsed) return *parsed;
        refuseExpression(std::move(parsed).error(), column);
        return std::nullopt;
    }
    void refuseExpression(base::Error error, std::size_t column) {
        const auto inside = expression::errorColumn(error);
        refuse(std::move(error), column + (inside ? *inside - 1 : 0));
    }

    std::optional<int> number(std::string_view of = "a breakpoint") {
        const std::size_t column = words.column();
        const std::string_view word = words.next();
        int number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (!word.empty() && error == std::errc() && end == word.data() + word.size()) return number;
        refuse(base::usageError(word.empty() ? "the number of " + std::string(of) + " is missing"
                                             : "'" + std::string(word.substr(0, 80)) + "' is not the number of " +
                                                   std::string(of)),
               column);
        return std::nullopt;
    }
    /// A number from 0 on.
    std::optional<std::size_t> count(const char* what) {
        const std::size_t column = words.column();
        const auto number = this->number(what);
        if (!number) return std::nullopt;
        if (*number >= 0) return static_cast<std::size_t>(*number);
        refuse(base::usageError("the number of " + std::string(what) + " is less than 0"), column);
        return std::nullopt;
    }

    void step() {
        Target::Kind kind = Target::Kind::Over;
        if (words.takes("into")) kind = Target::Kind::Into;
        else if (words.takes("out")) kind = Target::Kind::Out;
        else (void)words.takes("over");
        const Direction way = direction();
        if (isComplete()) debugger().step(kind, way);
    }
    void resume() {
        const Direction way = direction();
        if (isComplete()) debugger().resume(way);
    }
    void to() {
        const std::size_t column = words.column();
        const auto target = node();
        if (!target) return;
        const Direction way = direction();
        if (!isComplete()) return;
        if (auto gone = debugger().runTo(*target, way); !gone) return refuse(std::move(gone).error(), column);
        if (std::string missed = debug::whyMissed(debugger(), *target); !missed.empty())
            answer["missed"] = std::move(missed);
    }
    void goTo() {
        const std::size_t column = words.column();
        const auto position = count("a step");
        if (!position || !isComplete()) return;
        if (auto gone = debugger().goTo(static_cast<debug::ItemId>(*position)); !gone)
            refuse(std::move(gone).error(), column);
    }
    void timeline() {
        std::size_t first = 0, rows = kMaxOutputs;
        if (!words.atEnd()) {
            const auto from = count("a step");
            if (!from) return;
            first = *from;
        }
        if (!words.atEnd()) {
            const auto count = this->count("rows");
            if (!count) return;
            rows = *count;
        }
        if (isComplete())
            answer["timeline"] = debug::timelineJson(*session.document()->graph, debugger().timeline(), first, rows);
    }
    void accesses(bool areWrites) {
        const auto asked = node();
        if (!asked || !isComplete()) return;
        debug::AccessItems items;
        items.add(debugger().timeline(), debug::Accesses::of(*session.document()->graph, *asked));
        answer[areWrites ? "writes" : "reads"] = debug::positionsJson(areWrites ? items.writes : items.reads);
    }
    void memory() {
        if (isComplete()) answer["memory"] = debug::keptUseJson(debugger().keptUse());
    }
    void run() {
        if (words.atEnd()) return debugger().restart();
        const std::size_t column = words.column();
        std::string qualname = unquoted(words.next());
        if (!isComplete()) return;
        if (qualname.ends_with(':')) qualname.pop_back();
        auto alone = debugger().runModule(qualname, work);
        if (!alone) return refuse(std::move(alone).error(), column);
        const graph::InternalGraph& graph = *session.document()->graph;
        ordered_json values = ordered_json::object();
        for (std::size_t i = 0; i < alone->nodes.size() && i < kMaxOutputs; ++i)
            values[graph.node(alone->nodes[i]).name] = alone->values[i].typeText();
        ordered_json inputs = ordered_json::array();
        for (const NodeId input : alone->inputs) inputs.push_back(graph.node(input).name);
        answer["alone"] = {
            {"module", qualname}, {"inputs", std::move(inputs)}, {"nodes", std::move(values)}, {"same", alone->isSame}};
    }

    void addBreakpoint() {
        const std::size_t column = words.column();
        if (words.atEnd()) return refuse(base::usageError("what to break at is missing"), column);
        std::size_t expressionColumn = column;
        std::string where, condition;
        if (!words.takes("if")) {
            where = nextNode(words, *session.document()->graph);
            expressionColumn = words.column();
        } else {
            expressionColumn = words.column();
            condition = words.rest();
            if (condition.empty()) return refuse(base::usageError("the condition is missing"), expressionColumn);
            return added(debugger().addBreakpoint({}, condition), column, expressionColumn);
        }
        if (words.takes("if")) {
            expressionColumn = words.column();
            condition = words.rest();
            if (condition.empty()) return refuse(base::usageError("the condition is missing"), expressionColumn);
        } else if (!isComplete()) {
            return;
        }
        added(debugger().addBreakpoint(where, condition), column, expressionColumn);
    }
    void addLogPoint() {
        const std::size_t column = words.column();
        if (words.atEnd()) return refuse(base::usageError("the name of a node is missing"), column);
        const std::string where(nextNode(words, *session.document()->graph));
        const std::size_t expressionColumn = words.column();
        if (words.atEnd()) return refuse(base::usageError("what to write down is missing"), expressionColumn);
        added(debugger().addLogPoint(where, words.rest()), column, expressionColumn);
    }
    void added(base::Result<int> id, std::size_t column, std::size_t expressionColumn) {
        if (!id) {
            if (expression::errorColumn(id.error())) return refuseExpression(std::move(id).error(), expressionColumn);
            return refuse(std::move(id).error(), column);
        }
        answer["breakpoint"] = breakpoint(*std::ranges::find(debugger().breakpoints().all(), *id, &Breakpoint::id));
    }
    static ordered_json breakpoint(const Breakpoint& point) {
        ordered_json json{{"id", point.id}};
        if (point.kind != Breakpoint::Kind::Condition) json["at"] = point.text;
        if (point.isMissing) json["missing"] = true;
        if (point.ignored > 0) json["ignore"] = point.ignored;
        if (!point.expression.empty()) json[point.isLog ? "log" : "if"] = point.expression.text();
        json["enabled"] = point.isEnabled;
        json["hits"] = point.hits.size();
        if (point.error) json["problem"] = point.error->text();
        return json;
    }
    void listBreakpoints() {
        if (!isComplete()) return;
        answer["breakpoints"] = ordered_json::array();
        for (const Breakpoint& point : debugger().breakpoints().all())
            answer["breakpoints"].push_back(breakpoint(point));
    }
    void change(const std::function<bool(int)>& change) {
        const std::size_t column = words.column();
        const auto id = number();
        if (!id || !isComplete()) return;
        if (!change(*id)) refuse(base::usageError("there is no breakpoint " + std::to_string(*id)), column);
    }

    void setCondition() {
        const std::size_t column = words.column();
        const auto id = number();
        if (!id) return;
        const std::size_t expressionColumn = words.column();
        changed(*id, debugger().setBreakpointExpression(*id, words.rest()), column, expressionColumn);
    }
    void setIgnored() {
        const std::size_t column = words.column();
        const auto id = number();
        if (!id) return;
        const auto hits = number("hits to let pass");
        if (!hits || !isComplete()) return;
        changed(*id, debugger().setBreakpointIgnored(*id, static_cast<std::size_t>(std::max(0, *hits))), column,
                column);
    }
    void changed(int id, base::Result<void> done, std::size_t column, std::size_t expressionColumn) {
        if (done)
            answer["breakpoint"] = breakpoint(*std::ranges::find(debugger().breakpoints().all(), id, &Breakpoint::id));
        else if (expression::errorColumn(done.error())) refuseExpression(std::move(done).error(), expressionColumn);
        else refuse(std::move(done).error(), column);
    }

    void watch(bool isOn) {
        const auto watched = nodes();
        if (!watched || !isComplete()) return;
        for (const NodeId node : *watched) session.setWatched(node, isOn);
        answer["watches"] = names(session.points().watched.nodes());
    }
    void addExpression() {
        const std::size_t column = words.column();
        if (words.atEnd()) return refuse(base::usageError("the expression is missing"), column);
        const auto parsed = expression();
        if (!parsed) return;
        const auto id = session.expressionWatches().add(parsed->text());
        if (!id) return refuse(id.error(), column);
        answer["expression"] = *id;
    }
    void removeExpression() {
        const std::size_t column = words.column();
        const auto id = number("an expression");
        if (!id || !isComplete()) return;
        if (!session.expressionWatches().remove(*id))
            refuse(base::usageError("there is no expression " + std::to_string(*id)), column);
    }
    void end() {
        const auto nodes = this->nodes();
        if (!nodes || !isComplete()) return;
        for (const NodeId node : *nodes) session.setEnd(node, !session.points().ends.contains(node));
        answer["ends"] = names(session.points().ends.nodes());
    }
    ordered_json names(const std::vector<NodeId>& nodes) const {
        ordered_json list = ordered_json::array();
        for (const NodeId node : nodes) list.push_back(session.document()->graph->node(node).name);
        return list;
    }

    void print() {
        const std::size_t column = words.column();
        const auto parsed = expression();
        if (!parsed) return;
        const auto value = debugger().evaluate(*parsed, work);
        if (!value) return refuseExpression(value.error(), column);
        debug::addValue(answer, *value);
    }
    void done(std::optional<why::PlaceProblem> problem) {
        if (problem) refuse(std::move(problem->error), problem->column);
    }
    void stats() {
        const std::size_t column = words.column();
        const auto asked = node();
        if (!asked || !isComplete()) return;
        const auto value = debugger().value(*asked, work);
        if (!value) return refuse(value.error(), column);
        if (!value->isTensor())
            return refuse(base::usageError("'" + session.document()->graph->node(*asked).name + "' is " +
                                           value->typeText() + ", not a tensor"),
                          column);
        const ordered_json stats = debug::statsJson(value->tensor());
        answer["value"] = stats;
        answer.update(stats);
    }
    void problems() {
        if (!isComplete()) return;
        const std::vector<analysis::Problem> all =
            debugger().hasBegun() ? problemsSoFar(*debugger().run(), session.problems().accepted()).all
                                  : std::vector<analysis::Problem>();
        answer["problems"] = problemsJson(*session.document()->graph, all);
    }
    void compare() {
        const std::size_t column = words.column();
        Comparison& comparison = session.comparison();
        if (words.atEnd() && !comparison.canRepeat())
            return refuse(base::usageError("the name of the file is missing"), column);
        comparison.setCountsEdits(false);
        words.atEnd() ? comparison.again() : comparison.withFile(std::string(words.rest()));
        comparison.setCountsEdits(true);
        if (const auto error = comparisonError()) return refuse(*error, column);
        const std::size_t withoutEdits = comparison.differing();
        const std::size_t edits = countingEdits(session.edits());
        // What the session shows is the run with edits.
        if (edits > 0) comparison.again();
        if (auto error = comparisonError()) {
            error->what = "the run with edits cannot be compared: " + error->what;
            return refuse(std::move(*error), column);
        }
        const NodeId first = comparison.firstDiverging();
        answer["comparison"] = {{"with", comparison.referenceText()},
                                {"compared", comparison.compared()},
                                {"differing", comparison.differing()},
                                {"first", nullptr},
                                {"summary", comparison.summary()}};
        if (first.valid()) answer["comparison"]["first"] = session.document()->graph->node(first).name;
        if (edits == 0) return;
        answer["comparison"]["edits"] = edits;
        answer["comparison"]["differing_without_edits"] = withoutEdits;
    }
    /// Why there is no comparison of the present run.
    std::optional<base::Error> comparisonError() const {
        const Comparison& comparison = session.comparison();
        if (comparison.error()) return comparison.error();
        if (comparison.isKnown() && !comparison.isStale()) return std::nullopt;
        return session.runs().last().error.value_or(base::runError("nothing was compared"));
    }
    void note() {
        const auto noted = node();
        if (!noted) return;
        session.setNote(*noted, std::string(words.rest()));
        listed();
    }
    void listNotes() {
        if (isComplete()) listed();
    }
    void listed() {
        answer["notes"] = ordered_json::array();
        for (const Notes::Entry& note : session.notes().entries())
            answer["notes"].push_back(
                {{"node", note.node.valid() ? session.document()->graph->node(note.node).name : note.identity.name},
                 {"text", note.text}});
    }
    void save() {
        const std::size_t column = words.column();
        const std::string path(words.rest());
        if (path.empty()) return refuse(base::usageError("the name of the file is missing"), column);
        if (!path.ends_with(".sonde"))
            return refuse(base::usageError("a session file is named .sonde", {}, "save " + path + ".sonde"), column);
        if (auto saved = saveSession(session, path); !saved) return refuse(std::move(saved).error(), column);
        answer["saved"] = path;
    }
    void quit() {
        if (isComplete()) quits = true;
    }
    void help() {
        if (!isComplete()) return;
        answer["commands"] = ordered_json::array();
        for (const DebugCommandInfo& info : all()) answer["commands"].push_back(info.syntax);
    }
};

struct DebugCommands::Command {
    std::string_view name;
    DebugCommandInfo info;
    void (*run)(Call& call);
};

const std::vector<DebugCommands::Command>& DebugCommands::commands() {
    static const std::vector<Command> all{
        {"run",
         {"run [MODULE]", "Run from the start to the first breakpoint; MODULE alone, on the inputs that it had"},
         [](Call& call) { call.run(); }},
        {"continue", {"continue [back]", "Go on to the next breakpoint"}, [](Call& call) { call.resume(); }},
        {"step",
         {"step [over|into|out] [back]", "Go to the next node at this level, inside, or outside of this"},
         [](Call& call) { call.step(); }},
        {"to", {"to NODE [back]", "Go on to a node"}, [](Call& call) { call.to(); }},
        {"goto", {"goto POSITION", "Go to a position of the run, back or on"}, [](Call& call) { call.goTo(); }},
        {"timeline",
         {"timeline [POSITION [COUNT]]", "List the steps of the run so far"},
         [](Call& call) { call.timeline(); }},
        {"reads", {"reads NODE", "Where the node's value was read so far"}, [](Call& call) { call.accesses(false); }},
        {"writes", {"writes NODE", "Where it was written"}, [](Call& call) { call.accesses(true); }},
        {"memory", {"memory", "How the values of the run are kept"}, [](Call& call) { call.memory(); }},
        {"break",
         {"break [NODE|MODULE|op:OPERATOR|nan|inf|overflow|zero] [if EXPRESSION]",
          "Stop there, or where a condition becomes true"},
         [](Call& call) { call.addBreakpoint(); }},
        {"log",
         {"log NODE EXPRESSION", "Write down a value each time that a node is computed"},
         [](Call& call) { call.addLogPoint(); }},
        {"breakpoints", {"breakpoints", "List breakpoints and log points"}, [](Call& call) { call.listBreakpoints(); }},
        {"condition",
         {"condition N [EXPRESSION]", "Give a breakpoint another condition, or a log point another expression"},
         [](Call& call) { call.setCondition(); }},
        {"ignore",
         {"ignore N COUNT", "Let so many hits of a breakpoint pass in each run"},
         [](Call& call) { call.setIgnored(); }},
        {"enable",
         {"enable N", "Let a breakpoint or log point count again"},
         [](Call& call) { call.change([&](int id) { return call.debugger().setBreakpointEnabled(id, true); }); }},
        {"disable",
         {"disable N", "Let a breakpoint or log point not count"},
         [](Call& call) { call.change([&](int id) { return call.debugger().setBreakpointEnabled(id, false); }); }},
        {"delete",
         {"delete N", "Remove a breakpoint or log point"},
         [](Call& call) { call.change([&](int id) { return call.debugger().removeBreakpoint(id); }); }},
        {"watch", {"watch NODE", "Show the node's value in each answer"}, [](Call& call) { call.watch(true); }},
        {"unwatch", {"unwatch NODE", "Show it no longer"}, [](Call& call) { call.watch(false); }},
        {"expression",
         {"expression EXPRESSION", "Show what the expression comes to in each answer"},
         [](Call& call) { call.addExpression(); }},
        {"unexpression",
         {"unexpression N", "Show expression N no longer"},
         [](Call& call) { call.removeExpression(); }},
        {"end",
         {"end NODE", "Set or remove an end point: the next run ends as soon as all are computed"},
         [](Call& call) { call.end(); }},
        {"print", {"print EXPRESSION", "The value of an expression at this place"}, [](Call& call) { call.print(); }},
        {"stats",
         {"stats NODE", "Minimum, maximum, mean and others of a node's value at this place"},
         [](Call& call) { call.stats(); }},
        {"why",
         {"why NODE[INDEX] [COUNT]", "The elements that an element of the node's value is made of, and the formula"},
         [](Call& call) { call.done(answerWhy(call.session, call.words, call.answer)); }},
        {"field",
         {"field NODE[INDEX]", "The elements of the inputs that reach an element of the node's value"},
         [](Call& call) { call.done(answerField(call.session, call.words, call.answer)); }},
        {"contributions",
         {"contributions NODE[INDEX] [COUNT]", "How large a part the elements of the inputs have in an element"},
         [](Call& call) { call.done(answerContributions(call.session, call.words, call.answer)); }},
        {"chain",
         {"chain NODE[INDEX] [against FILE|baseline|none]",
          "The largest term of an element, the largest of that, and so on; for NaN, to its origin; of what differs "
          "from a reference (.npz), or from the run without edits, back to where the difference is made"},
         [](Call& call) { call.done(answerChain(call.session, call.words, call.answer)); }},
        {"gradient",
         {"gradient [NODE[INDEX]] [to NODE]… [save FILE]",
          "How much an element, or the largest of the output, changes with those of inputs or other nodes"},
         [](Call& call) { call.done(answerGradient(call.session, call.words, call.answer)); }},
        {"precision",
         {"precision float16|bfloat16|int8 [QUERY]",
          "How far values are off if operations, all or those that a query finds, round to a type"},
         [](Call& call) { call.done(answerPrecision(call.session, call.words, call.answer, call.work)); }},
        {"problems", {"problems", "NaN, infinity and failures so far"}, [](Call& call) { call.problems(); }},
        {"compare",
         {"compare [FILE]", "Run on the inputs of reference values (.npz), or another model, and compare; again"},
         [](Call& call) { call.compare(); }},
        {"set",
         {"set NODE[SLICE] = EXPRESSION", "Overwrite a value, and do again what depends on it"},
         [](Call& call) { call.refusal = editValue(call.session, call.words, true, call.answer, call.work); }},
        {"edit",
         {"edit NODE[SLICE] zero|noise|scale|swap|remove|load …", "Change a value in another way"},
         [](Call& call) { call.refusal = editValue(call.session, call.words, false, call.answer, call.work); }},
        {"undo",
         {"undo", "Take back the last change of the edits"},
         [](Call& call) { call.refusal = undoEdit(call.session, call.words, call.answer); }},
        {"redo",
         {"redo", "Do it again"},
         [](Call& call) { call.refusal = redoEdit(call.session, call.words, call.answer); }},
        {"edits",
         {"edits [on N|off N|remove N]", "List the edits; switch one on or off, or remove it"},
         [](Call& call) { call.refusal = listEdits(call.session, call.words, call.answer, call.work); }},
        {"baseline",
         {"baseline EXPRESSION", "The value of an expression without the edits"},
         [](Call& call) { call.refusal = printBaseline(call.session, call.words, call.answer, call.work); }},
        {"difference",
         {"difference NODE", "How far a node's value is from the one without the edits"},
         [](Call& call) { call.refusal = printDifference(call.session, call.words, call.answer, call.work); }},
        {"note", {"note NODE [TEXT]", "Write a note on a node, or remove it"}, [](Call& call) { call.note(); }},
        {"notes", {"notes", "List the notes on nodes"}, [](Call& call) { call.listNotes(); }},
        {"save",
         {"save FILE.sonde", "Save model, inputs, points and notes as a session file"},
         [](Call& call) { call.save(); }},
        {"help", {"help", "List the commands"}, [](Call& call) { call.help(); }},
        {"quit", {"quit", "End the debugger"}, [](Call& call) { call.quit(); }}};
    return all;
}

std::vector<DebugCommandInfo> DebugCommands::all() {
    std::vector<DebugCommandInfo> infos;
    for (const Command& command : commands()) infos.push_back(command.info);
    return infos;
}

std::string DebugCommands::answer(std::string_view line) {
    Call call{m_session, m_work, Words(line.substr(0, kMaxLine))};
    if (call.words.atEnd() || call.words.rest().starts_with('#')) return {};
    const std::size_t column = call.words.column();
    const std::string name(call.words.next());
    const auto found = std::ranges::find(commands(), name, &Command::name);
    if (line.size() > kMaxLine) {
        call.refuse(base::usageError("the line is longer than " + std::to_string(kMaxLine) + " bytes"), kMaxLine);
    } else if (!m_session.document()) {
        call.refuse(base::usageError("no model is open"), column);
    } else if (found == commands().end()) {
        std::vector<std::string> names;
        for (const Command& command : commands()) names.emplace_back(command.name);
        call.refuse(base::usageError("there is no command '" + name.substr(0, 80) + "'", {},
                                     base::didYouMean(name.substr(0, 80), names)),
                    column);
    } else {
        found->run(call);
        m_hasQuit = m_hasQuit || call.quits;
    }
    if (call.refusal) {
        call.answer = {{"error", call.refusal->error.what}, {"column", call.refusal->column}};
        if (!call.refusal->error.hint.empty()) call.answer["hint"] = call.refusal->error.hint;
    }
    addLogTo(call.answer, m_session);
    ordered_json answer = debugStateJson(m_session, m_work);
    answer.update(call.answer);
    return answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace sonde::session
