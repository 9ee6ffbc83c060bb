#pragma once

class QString;
class QTableView;
class QWidget;

namespace sonde::panels {

/// A table as all panels have it: whole rows, no grid, sorted by a click on a heading, copied with Ctrl+C.
QTableView* makeTableView(const QString& accessibleName, QWidget* parent);

}  // namespace sonde::panels
