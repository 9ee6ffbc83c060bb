#pragma once

#include <string>

namespace sonde::window {

/// The words that `panel` and `color` take, from the tables of panels and columns: "comparison, inputs, log …".
std::string panelIds();
std::string colorIds();

}  // namespace sonde::window
