#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/export/export_options.h"

namespace sonde::exporting {

/// A format with values of its options.
struct ExportChoice {
    ExportFormat format = ExportFormat::Dump;
    ExportSettings settings;

    /// Names and values (ExportOption::text) of the format's options that are not the default.
    std::vector<std::pair<std::string, std::string>> changed() const;
    /// Sets an option of the format. Errors (Usage): no option of that name in this format, a wrong value.
    base::Result<void> set(std::string_view name, std::string_view text);
    /// Sets an option as the command line spells it, with or without dashes in front: "maxerr=0.01", "no-assert",
    /// "enable_nchw88", "enable_io16xc32=false"; "option=enable_nchw88", too. Errors: those of set(); a value is
    /// missing, or neither true nor false.
    base::Result<void> setSpelled(std::string_view word);
};

/// Whether both write the same: the same format, and options of it with the same values.
bool operator==(const ExportChoice& a, const ExportChoice& b);

/// {"format": "dump", "options": {"layout": "nchw88", "arg-names": ["data"], "maxerr": 0.01}}: what is not the default.
std::string toJson(const ExportChoice& choice);
/// The way back. What is not named has the default. Errors (Usage): no JSON object, no such format or option, a value
/// of another type or out of range.
base::Result<ExportChoice> exportChoiceFrom(std::string_view json);

/// The options as the command line has them: {"--option", "enable_nchw88", "--maxerr", "0.01"}.
std::vector<std::string> argumentsOf(const ExportChoice& choice);
/// The command that writes the same of a model that was opened with `options`, quoted for a shell:
/// "sonde dump net.onnx -o net.dump --option enable_nchw88". `inputData`: what the model is run on by formats that run
/// it; may be empty.
std::string commandLineOf(const ExportChoice& choice, const std::string& model, const std::string& path,
                          const std::string& inputData = {}, const document::OpenOptions& options = {});

/// Values of some options that belong together.
struct ExportPreset {
    std::string_view id;    ///< "packed-x86"
    std::string_view name;  ///< "Packed for x86 (NCHW88)"
    std::string_view help;
    ExportFormat format;
    std::vector<std::pair<std::string_view, std::string_view>> values;  ///< option and value
};
/// All of them; the first of each format is what it begins with.
const std::vector<ExportPreset>& exportPresets();
/// Null: there is none of that id for the format.
const ExportPreset* findExportPreset(ExportFormat format, std::string_view id);
/// The ids of a format's presets: "as-it-is, optimised, older".
std::string exportPresetIds(ExportFormat format);
/// The choice with the values of a preset. Options that no preset of the format names and that do not change the graph
/// (names, test cases, files) stay as they are.
ExportChoice withPreset(ExportChoice choice, const ExportPreset& preset);
/// The preset whose values the choice has; null: none.
const ExportPreset* presetOf(const ExportChoice& choice);

/// One line of a preview: what a part of the options gives.
struct ExportStep {
    std::string label;  ///< "As it is", "Layout: nchw88"
    ExportChoice choice;
};
/// From the format without anything that changes the graph to the choice, one more option each time; the last step is
/// the choice. Options that have no effect because what they need is off are left out.
std::vector<ExportStep> exportSteps(const ExportChoice& choice);

}  // namespace sonde::exporting
