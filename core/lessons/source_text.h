#pragma once

#include <string>
#include <string_view>

#include "core/lessons/lesson.h"

namespace sonde::lessons {

/// Reads `kind convolution after $x`, `query QUERY`, `module PATTERN`, `input 0 of $x`, `$x` … An error in words;
/// empty: it is one.
std::string readSource(std::string_view text, Source& source);
/// What to say of a source in a sentence: "an operation of kind convolution".
std::string describe(const Source& source);
/// Every kind of operators that `kind` takes, for errors and help: "activation, attention, …".
std::string kindNames();

/// Cuts the first word off.
std::string_view takeWord(std::string_view& text);

}  // namespace sonde::lessons
