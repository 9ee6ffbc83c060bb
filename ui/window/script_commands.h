#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde::window {

/// One command of a window script. The table is what a script is checked against, and what help prints.
struct ScriptCommand {
    std::string_view name;
    std::string_view arguments;  ///< as help writes them: "NAME SPEC [PRESET]"
    std::string_view sentence;
    bool needsModel = true;
};

/// All commands, in the order in which help lists them.
std::span<const ScriptCommand> scriptCommands();
/// Null if there is none of that name.
const ScriptCommand* findScriptCommand(std::string_view name);
/// The table as text, a command a line.
std::string scriptHelp();
/// The words that `panel` and `color` take, from the tables of panels and columns: "comparison, inputs, log …".
std::string panelIds();
std::string colorIds();

}  // namespace sonde::window
