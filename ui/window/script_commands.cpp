#include "ui/window/script_commands.h"

#include <algorithm>
#include <array>
#include <vector>

#include "ui/models/node_columns.h"
#include "ui/window/panel_table.h"

namespace sonde::window {

namespace {

constexpr bool kWithoutModel = false;

constexpr std::array kCommands{
    ScriptCommand{"open", "MODEL", "open a file or zoo:NAME, and wait until it is shown", kWithoutModel},
    ScriptCommand{"input", "NAME SPEC [PRESET]",
                  "give an input: input x photo.png imagenet, input ids [1,2,3], input x values.npz#key"},
    ScriptCommand{"run", "", "run, and wait for the end; an error if the inputs do not fit"},
    ScriptCommand{
        "compare", "FILE|ZOO|passes",
        "compare with reference values (.npz), another model, or the model before its passes; an error if it cannot be done"},
    ScriptCommand{"difference", "[next|previous|worst]",
                  "go to the first value that differs, then to the next, as F7; to the one before; to the worst"},
    ScriptCommand{"watch", "NODE", "keep the node's value in each run"},
    ScriptCommand{"end", "NODE", "stop runs at the node"},
    ScriptCommand{"clear", "", "forget all watch and end points"},
    ScriptCommand{"select", "NODE|QUALNAME", "select a node or a module and bring it into view"},
    ScriptCommand{"click", "NODE", "click the node with the mouse"},
    ScriptCommand{"doubleclick", "NODE", "the same twice: opens or closes a module"},
    ScriptCommand{"expand", "QUALNAME|all|depth N", "open a module, all of them, or the levels above N"},
    ScriptCommand{"collapse", "[QUALNAME]", "close a module; alone: all of them"},
    ScriptCommand{"search", "TEXT", "search the graph; an error if nothing is found"},
    ScriptCommand{"focus", "up|down|around|paths|only|hide|operator|all [DEPTH]",
                  "show a part of the graph, seen from what is selected"},
    ScriptCommand{"fold", "on|off", "draw repeated blocks once"},
    ScriptCommand{"instance", "N", "show the block N of the folded ones that are selected"},
    ScriptCommand{"graph", "[QUALNAME]", "show the graph of a module that was traced alone; alone: the model's"},
    ScriptCommand{"trace", "[tracer=ID] [leaf=CLASS] [concrete=NAME=VALUE] [pass=ID] [follow] [flatten]",
                  "trace the model again; follow: with the inputs as example"},
    ScriptCommand{"color", "category|COLUMN", "colour nodes by a column of the node list"},
    ScriptCommand{"edges", "size|plain", "width of edges by the size of what they carry"},
    ScriptCommand{"legend", "on|off", "show the scale of the colours"},
    ScriptCommand{"bookmark", "", "set or take away a bookmark at the selection"},
    ScriptCommand{"direction", "down|right", "direction of the data flow"},
    ScriptCommand{"zoom", "fit|in|out|FACTOR", "zoom the graph"},
    ScriptCommand{"view", "heatmap|histogram|table|image|channels|line", "show the selected tensor like that"},
    ScriptCommand{"iteration", "N", "show the value of iteration N of a loop"},
    ScriptCommand{"panel", "ID", "raise a panel", kWithoutModel},
    ScriptCommand{"help", "[operators]", "open the help, or the list of operators", kWithoutModel},
    ScriptCommand{"theme", "light|dark|contrast", "colours of the window", kWithoutModel},
    ScriptCommand{"size", "WxH", "size of the window", kWithoutModel},
    ScriptCommand{"key", "KEYS", "press keys: Ctrl+F, Escape", kWithoutModel},
    ScriptCommand{"wait", "[SECONDS]", "wait until nothing is at work; an error after so many seconds (60)",
                  kWithoutModel},
    ScriptCommand{"screenshot", "FILE", "write what the window shows as PNG", kWithoutModel},
    ScriptCommand{"quit", "", "end here", kWithoutModel},
};

}  // namespace

std::span<const ScriptCommand> scriptCommands() { return kCommands; }

const ScriptCommand* findScriptCommand(std::string_view name) {
    const auto found = std::ranges::find(kCommands, name, &ScriptCommand::name);
    return found == kCommands.end() ? nullptr : &*found;
}

namespace {

std::string listed(const std::vector<QString>& ids) {
    std::string text;
    for (const QString& id : ids) text += (text.empty() ? "" : ", ") + id.toStdString();
    return text;
}

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

std::string panelIds() {
    std::vector<QString> ids;
    for (const panels::PanelInfo& panel : panelTable()) ids.push_back(panel.id);
    return listed(ids);
}

std::string colorIds() {
    std::vector<QString> ids;
    for (const models::NodeColumn& column : models::nodeColumns()) ids.push_back(column.id);
    return listed(ids);
}

std::string scriptHelp() {
    std::string text =
        "A script has one command a line; # begins a comment. NODE is a name, #number, or QUALNAME: for a module's output. Files are\n"
        "relative to the script's folder.\n";
    for (const ScriptCommand& command : kCommands) {
        text += "  " + std::string(command.name) + (command.arguments.empty() ? "" : " ") +
                std::string(command.arguments) + "\n      " + std::string(command.sentence) + '\n';
        if (command.name == "panel") text += indented("IDs:", panelIds());
        if (command.name == "color") text += indented("Columns:", colorIds());
    }
    return text;
}

}  // namespace sonde::window
