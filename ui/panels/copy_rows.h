#pragma once

class QAbstractItemView;

namespace sonde::panels {

/// Lets Ctrl+C copy the selected rows of a list or table as text, columns parted by tabs.
void copyRowsOnShortcut(QAbstractItemView* view);

}  // namespace sonde::panels
