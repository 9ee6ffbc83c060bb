#include "ui/theme/theme.h"

namespace sonde::theme {
namespace {

// Written with role names in @…@; only what Fusion draws with more lines and gradients than a calm window wants.
constexpr const char* kSheet = R"(
QToolTip { background: @ToolTip@; color: @ToolTipText@; border: 1px solid @StrongBorder@; padding: 4px 6px; }
QMainWindow::separator { background: @Border@; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: @Accent@; }
QSplitter::handle { background: @Border@; }
QSplitter::handle:hover { background: @Accent@; }
QDockWidget::title { background: @Window@; padding: 5px 8px 4px 8px; border-bottom: 1px solid @Border@; text-align: left; }
QToolBar { background: @Window@; border: none; border-bottom: 1px solid @Border@; spacing: 2px; padding: 3px 6px; }
QToolBar::separator { background: @Border@; width: 1px; margin: 5px 5px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px; outline: none; }
QToolButton:hover { background: @Hover@; }
QToolButton:pressed { background: @Pressed@; }
QToolButton:checked { background: @AccentSoft@; color: @AccentSoftText@; }
QToolButton:focus { border-color: @FocusRing@; }
QToolButton:disabled { color: @DisabledText@; }
QToolButton[popupMode="1"] { padding-right: 14px; }
QToolButton::menu-button { border: none; width: 12px; }
QPushButton { background: @Raised@; color: @Text@; border: 1px solid @StrongBorder@; border-radius: 4px;
              padding: 4px 12px; min-height: 16px; outline: none; }
QPushButton:hover { background: @Hover@; }
QPushButton:pressed { background: @Pressed@; }
QPushButton:focus { border-color: @FocusRing@; }
QPushButton:default { background: @Accent@; color: @AccentText@; border-color: @Accent@; }
QPushButton:disabled { color: @DisabledText@; border-color: @Border@; background: @Window@; }
QPushButton:flat { background: transparent; border-color: transparent; }
QPushButton:flat:hover { background: @Hover@; }
QPushButton:flat:focus { border-color: @FocusRing@; }
QLineEdit { background: @Base@; color: @Text@; border: 1px solid @StrongBorder@; border-radius: 4px; padding: 3px 6px;
            selection-background-color: @Accent@; selection-color: @AccentText@; }
QLineEdit:focus { border-color: @FocusRing@; }
QLineEdit:disabled { color: @DisabledText@; border-color: @Border@; background: @Window@; }
QMenuBar { background: @Window@; border-bottom: 1px solid @Border@; }
QMenuBar::item { background: transparent; padding: 4px 8px; border-radius: 4px; }
QMenuBar::item:selected { background: @AccentSoft@; color: @AccentSoftText@; }
QMenu { background: @Panel@; border: 1px solid @StrongBorder@; padding: 4px; }
QMenu::item { padding: 4px 24px 4px 8px; border-radius: 4px; }
QMenu::icon { padding-left: 4px; }
QMenu::item:selected { background: @AccentSoft@; color: @AccentSoftText@; }
QMenu::item:disabled { color: @DisabledText@; }
QMenu::separator { height: 1px; background: @Border@; margin: 4px 6px; }
QHeaderView { background: @Window@; }
QHeaderView::section { background: @Window@; color: @MutedText@; border: none; border-right: 1px solid @Border@;
                       border-bottom: 1px solid @Border@; padding: 4px 3px 4px 4px; }
QTableView { gridline-color: @Border@; }
QTableCornerButton::section { background: @Window@; border: none; border-right: 1px solid @Border@;
                              border-bottom: 1px solid @Border@; }
QTreeView, QListView, QTableView { background: @Base@; alternate-background-color: @AlternateRow@; border: none;
    selection-background-color: @AccentSoft@; selection-color: @AccentSoftText@; }
QTreeView::item, QListView::item { padding: 2px; }
QTreeView::item:hover, QListView::item:hover { background: @Hover@; color: @Text@; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected { background: @AccentSoft@;
    color: @AccentSoftText@; }
QTabBar { qproperty-elideMode: ElideNone; }
QTabBar::tab { background: transparent; color: @MutedText@; padding: 5px 12px; border: none;
               border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: @Text@; background: @Hover@; }
QTabBar::tab:selected { color: @Text@; border-bottom: 2px solid @Accent@; }
QTabBar::tab:focus { background: @Hover@; }
QTabWidget::pane { border: none; border-top: 1px solid @Border@; }
QStatusBar { background: @Window@; border-top: 1px solid @Border@; }
QStatusBar::item { border: none; }
QProgressBar { background: @Hover@; border: none; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: @Accent@; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: @ScrollHandle@; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @ScrollHandleHover@; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }
)";

}  // namespace

QString Theme::styleSheet(Scheme scheme) {
    QString sheet = QString::fromLatin1(kSheet);
    for (const ColorRow& row : colorTable()) {
        const QString slot = QLatin1Char('@') + QLatin1String(row.name) + QLatin1Char('@');
        if (sheet.contains(slot)) sheet.replace(slot, color(row.role, scheme).name());
    }
    return sheet;
}

}  // namespace sonde::theme
