#pragma once

#include <span>

class QHBoxLayout;
class QString;
class QTableView;
class QWidget;

namespace sonde::widgets {
class SearchField;
}

namespace sonde::panels {

/// A table as all panels have it: whole rows, no grid, sorted by a click on a heading, copied with Ctrl+C, left by Tab.
QTableView* makeTableView(const QString& accessibleName, QWidget* parent);

/// The widths of the columns from the first on, in pixels; a column is at least as wide as its heading.
void setColumnWidths(QTableView* view, std::span<const int> widths);

/// What filters a table: typed words, nothing to step through.
widgets::SearchField* makeTableFilter(const QString& placeholder, QWidget* parent);

/// The panel's only content: the table below a row of its filter and its count. Gives the row, for buttons behind them.
QHBoxLayout* stackTable(QWidget* panel, widgets::SearchField* filter, QWidget* count, QTableView* view);

}  // namespace sonde::panels
