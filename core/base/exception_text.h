#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace sonde::base {

/// What is shown of a text that a model has thrown, in bytes.
inline constexpr std::size_t kMaxThrownText = 4000;

/// A text that a model has thrown, for one line; of a longer one the beginning, and how much is left out.
std::string thrownText(std::string_view text);

/// The message of an exception for one line, as thrownText() writes it; `fallback` if it is empty or, as a class of a
/// model's own may have it, null.
std::string exceptionText(const std::exception& exception, std::string_view fallback = "exception without a message");

}  // namespace sonde::base
