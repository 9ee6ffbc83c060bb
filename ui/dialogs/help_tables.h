#pragma once

class QTextDocument;

namespace sonde::dialogs {

/// A table whose columns of code do not fit beside each other gets two columns: the first one, and a line for each of
/// the others that begins with its title. Cells that are "–" get no line.
void foldWideTables(QTextDocument& page);

}  // namespace sonde::dialogs
