#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace sonde::operators {

/// A number among the arguments of a call, by its position or its name; `fallback` if it is left out, nothing if it is
/// not known. A bool is 0 or 1.
using NumberOfCall = std::function<std::optional<double>(std::size_t position, std::string_view name, double fallback)>;

/// Whether a call draws numbers: what is random by itself does, dropout and what has some inside (recurrent layers
/// between their layers, attention) only with a rate and while it trains, which its arguments say; a rate that is not
/// known is one. Nothing: whether it trains is not known.
std::optional<bool> drawsNumbers(std::string_view domain, std::string_view operatorName, const NumberOfCall& numberOf);

}  // namespace sonde::operators
