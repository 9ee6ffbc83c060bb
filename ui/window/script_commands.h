#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ui/window/script_verbs.h"

namespace sonde::window {

/// An argument for which a command does what an action of the menus does.
struct ScriptWord {
    std::string_view word;            ///< empty: the command alone
    const char* action;               ///< id in actions::actionTable()
    std::optional<bool> checks = {};  ///< of an action that can be checked: leaves it so
    bool isDoneIfDisabled = false;    ///< the action is possible only where there is something to undo
};

/// One command of a window script. The table is what a script is checked against and done by, and what help prints.
struct ScriptCommand {
    enum class After { WaitUntilIdle, Continue, End };

    std::string_view name;
    std::string_view arguments;  ///< as help writes them: "NAME SPEC [PRESET]"
    std::string_view description;
    std::span<const ScriptWord> words = {};
    /// For arguments that are none of the words; null: there are no others.
    ScriptVerbs::Done (ScriptVerbs::*perform)(const QString& arguments) = nullptr;
    bool needsModel = true;
    After after = After::WaitUntilIdle;

    /// Null if the arguments are none of the words.
    const ScriptWord* find(std::string_view arguments) const;
};

/// All commands but those of panels (panels::PanelInfo), in the order in which help lists them.
std::span<const ScriptCommand> scriptCommands();
/// Null if there is none of that name.
const ScriptCommand* findScriptCommand(std::string_view name);
/// The table as text, a command a line, with those of panels.
std::string scriptHelp();

}  // namespace sonde::window
