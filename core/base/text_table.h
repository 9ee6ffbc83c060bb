#pragma once

#include <string>
#include <vector>

namespace sonde::base {

/// A line for each row, its cells in columns of equal width with two blanks between; the last cell of a row is as long
/// as it is, and no line ends with blanks. Widths are in Unicode characters of UTF-8. Rows may have different numbers
/// of cells.
std::vector<std::string> alignedRows(const std::vector<std::vector<std::string>>& rows);

}  // namespace sonde::base
