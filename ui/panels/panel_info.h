#pragma once

#include <QSize>
#include <QString>

#include <functional>
#include <vector>

#include "core/base/result.h"
#include "ui/context/window_hint.h"

class QWidget;

namespace sonde::actions {
class ActionRegistry;
}
namespace sonde::context {
class InspectorContext;
}

namespace sonde::panels {

class Panel;

/// Where a panel is docked at first.
enum class PanelArea { Left, Right, Bottom };

/// When a panel that the user has neither opened nor closed is there.
enum class PanelComing {
    WithContent,  ///< while it has content; behind the tab that is in front
    ToFront,      ///< the same, but in front: its content is what the user has just asked for
    OnDemand,     ///< never
};

/// What the window does for one panel. May be copied and kept as long as the panel.
struct PanelHost {
    actions::ActionRegistry& actions;
    std::function<void()> show;   ///< to the front, with the focus
    std::function<void()> raise;  ///< to the front if it is there; the focus stays
};

/// A command of window scripts that is about one panel.
struct PanelCommand {
    const char* name;
    const char* arguments;  ///< as help writes them: "N"
    const char* description;
    std::function<base::Result<void>(QWidget& panel, const PanelHost& host, const QString& arguments)> perform;
};

/// One dock panel: everything that the window needs to build it. The list of all panels is in
/// ui/window/panel_table.cpp. View menu, dock, shortcut and saved layout follow from it.
struct PanelInfo {
    QString id;     ///< "watch_list"; settings are kept by it
    QString title;  ///< "Watch List"
    QString icon;   ///< name for theme::icon
    PanelArea area = PanelArea::Right;
    QString shortcut;  ///< portable text: shows the panel and gives it the focus
    /// Makes the panel's widget, without a parent.
    std::function<Panel*(context::InspectorContext&)> factory;
    PanelComing coming = PanelComing::WithContent;
    QSize size = {};  ///< at first, in device-independent pixels; a side of 0 is left to the others
    /// Binds the actions that are the panel's, and says when it is to be raised. Called once; null: there are none.
    std::function<void(QWidget& panel, const PanelHost& host)> join = {};
    std::vector<PanelCommand> commands = {};
    /// What the panel offers in place of options of the command line, for the hints of errors.
    std::vector<context::CommandAdvice> advice = {};
};

}  // namespace sonde::panels
