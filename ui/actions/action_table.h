#pragma once

#include <QFlags>
#include <QString>
#include <QStringList>

#include <vector>

namespace sonde::actions {

/// What must be there for an action to make sense. The window states what is there; see ActionRegistry::setState.
enum class Need {
    Nothing = 0,
    Model = 1 << 0,      ///< a model is open
    Selection = 1 << 1,  ///< a node or module is selected
    Module = 1 << 2,     ///< the selection is a module, or is in one
    Idle = 1 << 3,       ///< nothing is running
    Running = 1 << 4,    ///< a run is under way
    Values = 1 << 5,     ///< the last run left values
    Value = 1 << 6,      ///< the selected node has a value
    CanGoBack = 1 << 7,
    CanGoForward = 1 << 8,
    SearchHits = 1 << 9,
    Watches = 1 << 10,                         ///< at least one watch point is set
    Ends = 1 << 11,                            ///< at least one end point is set
    OwnGraph = 1 << 12,                        ///< the selected module, or a part of it, was traced apart
    Part = 1 << 13,                            ///< one of the model's further graphs is shown
    Run = 1 << 14,                             ///< the selection is in one of several repeated blocks
    Several = 1 << 15,                         ///< more than one node is selected
    LeftOut = 1 << 16,                         ///< something is hidden, or something else drawn alone
    Bookmarks = 1 << 17,                       ///< at least one bookmark is set
    KeptRun = 1 << 18,                         ///< a run was kept for comparing
    Passes = 1 << 19,                          ///< passes changed the model
    Compared = 1 << 20,                        ///< differences from something are known
    TwoCanvases = 1 << 21,                     ///< the window is split
    Dump = 1 << 22,                            ///< the model is a dump
    Debugged = 1 << 23,                        ///< a run is debugged
    Moving = 1 << 24,                          ///< it goes on
    Asked = 1 << 26,                           ///< why an element has its value was asked
    Edited = 1 << 25,                          ///< a change of the edits can be undone
    Breakpoints = 1 << 27,                     ///< at least one breakpoint or log point is set
    Undone = 1 << 28,                          ///< a change of the edits can be done again
    Edits = 1 << 30,                           ///< at least one value is edited
    WhatIf = 1 << 29,                          ///< values of a run with edits are shown
    SecondModel = static_cast<int>(1U << 31),  ///< another model is compared beside this one
};
Q_DECLARE_FLAGS(Needs, Need)
Q_DECLARE_OPERATORS_FOR_FLAGS(Needs)

/// Where an action's keys are heard. Keys that controls need themselves (Space, Return, arrows) are heard in the canvas
/// alone.
enum class Scope { Window, Canvas, Values };

struct ActionInfo;
/// A part of the table.
std::vector<ActionInfo> otherRunActions();

/// One thing that a person can ask for: everything that menus, tool bars and the shortcut editor need to know of it.
struct ActionInfo {
    QString id;         ///< "run.start"; stable, settings are kept by it
    QString text;       ///< with the mnemonic: "&Run"
    QString menu;       ///< "Run", or with a submenu "View/Expand"; a '-' at the end puts a separator before the item
    QString toolTip;    ///< one sentence without a full stop
    QString icon;       ///< name for theme::icon, may be empty
    QString shortcuts;  ///< portable texts, parted by blanks: "Ctrl++ Ctrl+="
    Scope scope = Scope::Window;
    Needs needs = Need::Nothing;
    bool checkable = false;
};

/// Every action that does not belong to a single panel, in menu order.
const std::vector<ActionInfo>& actionTable();

/// The menus in the order in which the menu bar shows them.
QStringList menuOrder();

}  // namespace sonde::actions
