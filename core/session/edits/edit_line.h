#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/session/edits/edit.h"

namespace sonde::session {

/// An edit as it is written: NODE[SLICE] = EXPRESSION, or NODE[SLICE] OPERATION. Columns are from 1, in code points.
struct EditLine {
    std::string node;  ///< without backticks
    std::size_t nodeColumn = 1;
    Edit edit;  ///< without its target
    std::size_t sliceColumn = 1, valueColumn = 1;

    /// The column of an error in the line.
    std::size_t columnOf(const EditPlace& place) const;
};

/// Reads what follows `set`: NODE[SLICE] = EXPRESSION. Errors (Usage), with their column: what is missing.
base::Result<EditLine> parseSet(std::string_view text, std::size_t& column);

/// Reads what follows `edit`: NODE[SLICE] and one of
///     zero | noise DEVIATION [SEED] | scale FACTOR | swap AXIS I J [of PARTS] | remove AXIS I… [of PARTS] | load FILE
/// `file` is `load`. Errors (Usage), with their column.
base::Result<EditLine> parseEdit(std::string_view text, std::size_t& column);

/// The form of each operation, for help and errors.
std::string_view editForms();

}  // namespace sonde::session
