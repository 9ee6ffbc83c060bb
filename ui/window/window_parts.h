#pragma once

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

class QMainWindow;

namespace sonde::window {

class GraphSteps;
class Presentation;
class SearchBar;
class WindowCanvases;
class WindowDialogs;
class WindowDocks;
class WindowLinks;
class WindowOutput;

/// What a window is made of, for its actions and menus.
struct WindowParts {
    QMainWindow& window;
    context::InspectorContext& context;
    actions::ActionRegistry& actions;
    WindowCanvases& canvases;
    WindowDocks& docks;
    WindowDialogs& dialogs;
    WindowOutput& output;
    WindowLinks& links;
    GraphSteps& steps;
    SearchBar& search;
    Presentation& presentation;
};

}  // namespace sonde::window
