#pragma once

#include <QString>

#include <string>

namespace sonde::context {

/// A hint of core in the words of the window. Its clauses are separated by "; ". One that names an option or a verb of
/// the command line is replaced by what does the same here, or left out; the others stay. May be empty.
QString windowHint(const std::string& hint);

/// Where an error is; empty for an option of the command line ("--tracer").
QString windowPlace(const std::string& where);

}  // namespace sonde::context
