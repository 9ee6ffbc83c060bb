#include "ui/window/script_commands.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ui/window/panel_table.h"
#include "ui/window/script_ids.h"

namespace sonde::window {

namespace {

constexpr bool kWithoutModel = false, kDoneIfDisabled = true;
constexpr auto kWait = ScriptCommand::After::WaitUntilIdle, kContinue = ScriptCommand::After::Continue,
               kEnd = ScriptCommand::After::End;

// clang-format off
constexpr ScriptWord kCollapse[] = {{"", "view.depth_0"}, {"all", "view.depth_0"}};
constexpr ScriptWord kFocus[] = {
    {"up", "focus.upstream"},   {"down", "focus.downstream"}, {"around", "focus.around"},
    {"only", "focus.isolate"},  {"hide", "focus.hide"},       {"operator", "focus.hide_operator"},
    {"all", "focus.everything", {}, kDoneIfDisabled}};
constexpr ScriptWord kFold[] = {{"", "view.fold", true}, {"on", "view.fold", true}, {"off", "view.fold", false}};
constexpr ScriptWord kGraph[] = {{"", "go.whole", {}, kDoneIfDisabled}};
constexpr ScriptWord kEdges[] = {{"size", "view.edge_widths", true}, {"plain", "view.edge_widths", false}};
constexpr ScriptWord kLegend[] = {{"", "view.legend", true}, {"on", "view.legend", true}, {"off", "view.legend", false}};
constexpr ScriptWord kBookmark[] = {{"", "go.bookmark"}};
constexpr ScriptWord kDirection[] = {{"down", "view.direction", false}, {"right", "view.direction", true}};
constexpr ScriptWord kWrap[] = {{"automatic", "view.wrap_automatic", true}, {"on", "view.wrap_on", true}, {"off", "view.wrap_off", true}};
constexpr ScriptWord kZoom[] = {{"fit", "view.fit"}, {"in", "view.zoom_in"}, {"out", "view.zoom_out"}};
constexpr ScriptWord kUndo[] = {{"", "edit.undo_value"}};
constexpr ScriptWord kRedo[] = {{"", "edit.redo_value"}};
constexpr ScriptWord kBaseline[] = {{"", "run.baseline"}};
constexpr ScriptWord kShown[] = {
    {"value", "values.show_value"}, {"baseline", "values.show_baseline"}, {"difference", "values.show_difference"}};
constexpr ScriptWord kFindings[] = {{"", "go.findings"}};
constexpr ScriptWord kPresent[] = {
    {"", "present.toggle", true},        {"on", "present.toggle", true},       {"off", "present.toggle", false},
    {"next", "present.next"},            {"previous", "present.previous"},     {"first", "present.first"},
    {"last", "present.last"},            {"spotlight", "present.spotlight"},   {"pointer", "present.pointer"},
    {"draw", "present.pen"},             {"erase", "present.erase"},           {"black", "present.black"}};
constexpr ScriptWord kHelp[] = {{"", "help.contents"}, {"operators", "help.operators"}};

constexpr std::array kCommands{
    ScriptCommand{"open", "MODEL", "open a file or zoo:NAME and wait until it is shown",
                  {}, &ScriptVerbs::open, kWithoutModel},
    ScriptCommand{"sample", "ID", "open a sample of the start page with its input, and run it if it is trained",
                  {}, &ScriptVerbs::openSample, kWithoutModel},
    ScriptCommand{"input", "NAME SPEC [PRESET]", "set an input: input x photo.png imagenet, input ids [1,2,3], input x values.npz#key",
                  {}, &ScriptVerbs::giveInput},
    ScriptCommand{"run", "", "run the model and wait; an error if the inputs do not match",
                  {}, &ScriptVerbs::run},
    ScriptCommand{"set", "NODE[SLICE] = EXPRESSION", "overwrite a value, and do again what depends on it; an error if it does not fit",
                  {}, &ScriptVerbs::setValue},
    ScriptCommand{"edit", "NODE[SLICE] zero|noise|scale|swap|remove|load …", "change a value in another way; an error if it does not fit",
                  {}, &ScriptVerbs::editValue},
    ScriptCommand{"undo", "", "take back the last edit",
                  kUndo},
    ScriptCommand{"redo", "", "do it again",
                  kRedo},
    ScriptCommand{"show", "value|baseline|difference", "of a run with edits: show its values, those without the edits, or the difference",
                  kShown},
    ScriptCommand{"baseline", "", "run the model without the edits",
                  kBaseline},
    ScriptCommand{"compare", "FILE|ZOO|passes|ort=LIBRARY", "compare with reference values (.npz), another model, the model before its passes, or ONNX Runtime; an error if nothing can be compared",
                  {}, &ScriptVerbs::compare},
    ScriptCommand{"bisect", "FILE|TYPE [at QUERY]|ort=LIBRARY", "find the smallest part in which another model, reference values (.npz), a lower precision (float16, bfloat16, int8) or ONNX Runtime differs",
                  {}, &ScriptVerbs::bisect},
    ScriptCommand{"piece", "FILE", "write the part that bisect found as an ONNX file",
                  {}, &ScriptVerbs::savePiece},
    ScriptCommand{"precision", "TYPE [per-channel] [at QUERY]|FILE", "measure the errors of float16, bfloat16 or int8, or of a quantised model",
                  {}, &ScriptVerbs::measurePrecision},
    ScriptCommand{"difference", "[next|previous|worst]", "go to the first value that differs, then to the next, as F7 does; to the previous or the worst one",
                  {}, &ScriptVerbs::goToDifference},
    ScriptCommand{"diff", "MODEL|next|previous|pair A B|unpair A B|run|off", "show another model beside this one with the differences; go through them, pair nodes by hand, run both models on the same inputs, or close it",
                  {}, &ScriptVerbs::diffModels},
    ScriptCommand{"sweep", "FOLDER|FILE.npz [watch=NODE] [where=CONDITION] [labels=FILE] [image=PRESET] | cancel | use N | save FILE.csv", "run the model on many inputs (a value with blanks in quotes); end that; run it on input N of them (from 0); write the table",
                  {}, &ScriptVerbs::sweep},
    ScriptCommand{"labels", "FILE", "name the classes of the outputs by the lines of a file",
                  {}, &ScriptVerbs::labelOutputs},
    ScriptCommand{"vocabulary", "FILE", "show token ids of the outputs as text, by the lines of a file",
                  {}, &ScriptVerbs::readTokens},
    ScriptCommand{"watch", "NODE", "keep the node's value in each run",
                  {}, &ScriptVerbs::watch},
    ScriptCommand{"end", "NODE", "stop runs at the node",
                  {}, &ScriptVerbs::end},
    ScriptCommand{"clear", "", "clear all watch and end points",
                  {}, &ScriptVerbs::clear, true, kContinue},
    ScriptCommand{"current", "NODE|QUALNAME|start|end", "an error if the debugged run is not stopped before the node, in the module, or at its start or end",
                  {}, &ScriptVerbs::checkCurrent, true, kContinue},
    ScriptCommand{"select", "NODE|QUALNAME", "select a node or a module and bring it into view",
                  {}, &ScriptVerbs::select},
    ScriptCommand{"click", "NODE", "click the node with the mouse",
                  {}, &ScriptVerbs::click},
    ScriptCommand{"doubleclick", "NODE", "double-click the node, which expands or collapses a module",
                  {}, &ScriptVerbs::doubleClick},
    ScriptCommand{"expand", "QUALNAME|all|depth N", "expand a module, all modules, or the levels above N",
                  {}, &ScriptVerbs::expand},
    ScriptCommand{"collapse", "[QUALNAME]", "collapse a module; without a name, all modules",
                  kCollapse, &ScriptVerbs::collapse},
    ScriptCommand{"search", "TEXT", "search the graph; an error if nothing matches",
                  {}, &ScriptVerbs::search},
    ScriptCommand{"focus", "up|down|around|paths|only|hide|operator|all [DEPTH]", "show a part of the graph, relative to the selection",
                  kFocus, &ScriptVerbs::focus},
    ScriptCommand{"fold", "on|off", "draw repeated blocks once",
                  kFold},
    ScriptCommand{"instance", "N", "show instance N of the selected repeated block",
                  {}, &ScriptVerbs::showInstance},
    ScriptCommand{"graph", "[QUALNAME]", "show the graph of a module that was traced separately; without a name, the whole model",
                  kGraph, &ScriptVerbs::showGraph},
    ScriptCommand{"trace", "[tracer=ID] [leaf=CLASS] [concrete=NAME=VALUE] [pass=ID] [follow] [flatten]", "trace the model again; follow: use the inputs as example",
                  {}, &ScriptVerbs::traceAgain},
    ScriptCommand{"color", "category|COLUMN", "colour nodes by a column of the node list",
                  {}, &ScriptVerbs::colorBy},
    ScriptCommand{"edges", "size|plain", "width of edges: by tensor size, or constant",
                  kEdges},
    ScriptCommand{"legend", "on|off", "show or hide the legend with the colour scale",
                  kLegend},
    ScriptCommand{"bookmark", "", "set or clear a bookmark at the selection",
                  kBookmark},
    ScriptCommand{"direction", "down|right", "direction of the data flow",
                  kDirection},
    ScriptCommand{"wrap", "automatic|on|off", "draw a long flow in columns",
                  kWrap},
    ScriptCommand{"zoom", "fit|in|out|FACTOR", "zoom the graph",
                  kZoom, &ScriptVerbs::zoom},
    ScriptCommand{"panel", "ID", "raise a panel",
                  {}, &ScriptVerbs::showPanel, kWithoutModel},
    ScriptCommand{"export", "[FORMAT] [preset=ID] [OPTION[=VALUE]] [to=FILE] [beside]", "open the export dialog with these options (dump, onnx or traced-module; options as on the command line: maxerr=0.01 enable_nchw88); write FILE (with blanks: to=\"my model.onnx\"); open it beside the model and compare",
                  {}, &ScriptVerbs::exportModel},
    ScriptCommand{"findings", "", "look for findings and wait",
                  kFindings},
    ScriptCommand{"accept", "ID [REASON]", "accept the findings of the id; without a reason they are taken back",
                  {}, &ScriptVerbs::acceptFinding},
    ScriptCommand{"report", "[FILE] [module=QUALNAME] [compare=MODEL] [profile]", "open the dialog of audit reports; write the report to FILE (.html or .pdf)",
                  {}, &ScriptVerbs::writeReport},
    ScriptCommand{"action", "ID", "trigger the action ID, as its menu item does; an error if it is disabled",
                  {}, &ScriptVerbs::triggerAction, kWithoutModel},
    ScriptCommand{"help", "[operators|PAGE [HEADING]]", "open the help, the list of operators, or a page of the help, at a heading: help from-megengine InternalGraph",
                  kHelp, &ScriptVerbs::showHelp, kWithoutModel},
    ScriptCommand{"present", "[on|off|next|previous|first|last|spotlight|pointer|draw|erase|black]", "present the model layer by layer; go to another layer; switch the spotlight, the pointer, drawing or black on and off",
                  kPresent},
    ScriptCommand{"theme", "light|dark|contrast", "colour theme of the window",
                  {}, &ScriptVerbs::setTheme, kWithoutModel},
    ScriptCommand{"size", "WxH", "size of the window",
                  {}, &ScriptVerbs::setSize, kWithoutModel},
    ScriptCommand{"key", "KEYS", "press keys: Ctrl+F, Escape",
                  {}, &ScriptVerbs::pressKeys, kWithoutModel},
    ScriptCommand{"wait", "[SECONDS]", "wait for all background work; an error after SECONDS (60)",
                  {}, &ScriptVerbs::wait, kWithoutModel, kWait},
    ScriptCommand{"screenshot", "FILE", "write a screenshot of the window as PNG",
                  {}, &ScriptVerbs::takeScreenshot, kWithoutModel, kContinue},
    ScriptCommand{"quit", "", "end the script",
                  {}, nullptr, kWithoutModel, kEnd},
};
// clang-format on

}  // namespace

const ScriptWord* ScriptCommand::find(std::string_view given) const {
    const auto found = std::ranges::find(words, given, &ScriptWord::word);
    return found == words.end() ? nullptr : &*found;
}

std::span<const ScriptCommand> scriptCommands() { return kCommands; }

const ScriptCommand* findScriptCommand(std::string_view name) {
    const auto found = std::ranges::find(kCommands, name, &ScriptCommand::name);
    return found == kCommands.end() ? nullptr : &*found;
}

namespace {

/// The list in lines that a terminal shows whole, below the command that takes it.
std::string indented(std::string_view title, const std::string& list) {
    constexpr std::size_t kWidth = 110;
    std::string text = "      " + std::string(title), line;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find(' ', at), list.size());
        const std::string word = list.substr(at, end - at);
        if (text.size() - (text.rfind('\n') + 1) + word.size() + 1 > kWidth) text += "\n       ";
        text += ' ' + word;
        at = end + 1;
    }
    return text + '\n';
}

}  // namespace

std::string scriptHelp() {
    std::string text =
        "A script has one command a line; # begins a comment. NODE is a name, #number, or QUALNAME: for a module's output. Files that\n"
        "are read are looked for beside the script, then in the current folder, then beside the open model; files are written to the\n"
        "current folder.\n";
    const auto add = [&text](std::string_view name, std::string_view arguments, std::string_view description) {
        text += "  " + std::string(name) + (arguments.empty() ? "" : " ") + std::string(arguments) + "\n      " +
                std::string(description) + '\n';
    };
    for (const ScriptCommand& command : kCommands) {
        if (command.name == "panel")
            for (const panels::PanelInfo& panel : panelTable())
                for (const panels::PanelCommand& one : panel.commands) add(one.name, one.arguments, one.description);
        add(command.name, command.arguments, command.description);
        if (command.name == "panel") text += indented("IDs:", panelIds());
        if (command.name == "color") text += indented("Columns:", colorIds());
        if (command.name == "help") text += indented("Pages:", helpPageIds());
        if (command.name == "export") text += indented("Presets of", presetIds());
    }
    return text;
}

}  // namespace sonde::window
