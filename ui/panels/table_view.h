#pragma once

class QHBoxLayout;
class QString;
class QTableView;
class QWidget;

namespace sonde::widgets {
class SearchField;
}

namespace sonde::panels {

/// A table as all panels have it: whole rows, no grid, sorted by a click on a heading, copied with Ctrl+C.
QTableView* makeTableView(const QString& accessibleName, QWidget* parent);

/// What filters a table: typed words, nothing to step through.
widgets::SearchField* makeTableFilter(const QString& placeholder, QWidget* parent);

/// The panel's only content: the table below a row of its filter and its count. Gives the row, for buttons behind them.
QHBoxLayout* stackTable(QWidget* panel, widgets::SearchField* filter, QWidget* count, QTableView* view);

}  // namespace sonde::panels
