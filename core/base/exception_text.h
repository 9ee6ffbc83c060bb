#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace sonde::base {

/// The message of an exception for one line, as visibleText() writes it; `fallback` if it is empty or, as a class of a
/// model's own may have it, null.
std::string exceptionText(const std::exception& exception, std::string_view fallback = "exception without a message");

}  // namespace sonde::base
