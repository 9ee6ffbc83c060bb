#pragma once

#include <string>
#include <string_view>

namespace sonde::session {

/// How the figure of a line of the summary is made, for people; empty if the line says it itself. By its title there,
/// or by its key in JSON ("macs").
std::string infoFormula(std::string_view title);

}  // namespace sonde::session
