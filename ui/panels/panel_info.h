#pragma once

#include <QString>

#include <functional>

class QWidget;

namespace sonde::context {
class InspectorContext;
}

namespace sonde::panels {

/// Where a panel is docked at first.
enum class PanelArea { Left, Right, Bottom };

/// One dock panel: everything that the window needs to build it. The list of all panels is in
/// ui/window/panel_table.cpp. View menu, dock, shortcut and saved layout follow from it.
struct PanelInfo {
    QString id;     ///< "watch_list"; settings are kept by it
    QString title;  ///< "Watch List"
    QString icon;   ///< name for theme::icon
    PanelArea area = PanelArea::Right;
    QString shortcut;  ///< portable text: shows the panel and gives it the focus
    /// Makes the panel's widget, without a parent.
    std::function<QWidget*(context::InspectorContext&)> factory;
    bool visibleAtFirst = true;
};

}  // namespace sonde::panels
