#pragma once

#include <string>
#include <string_view>

namespace sonde::session {

/// How the figure of a line of the summary is made, for people; empty if the line says it itself.
std::string infoFormula(std::string_view title);

}  // namespace sonde::session
