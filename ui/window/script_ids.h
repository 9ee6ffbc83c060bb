#pragma once

#include <string>

namespace sonde::window {

/// The words that `panel` and `color` take, from the tables of panels and columns: "comparison, inputs, log …".
std::string panelIds();
std::string colorIds();
/// The pages of the help.
std::string helpPageIds();
/// Those of preset= of `export`, format by format: "dump: optimised, as-it-is; onnx: …".
std::string presetIds();

}  // namespace sonde::window
