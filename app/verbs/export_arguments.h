#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/export/export_choice.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// The options of a format on the command line, made of exporting::exportOptions().
struct ExportArguments {
    exporting::ExportChoice choice;
    bool isPreview = false;      ///< --preview: nothing is written
    bool isPreviewJson = false;  ///< --json

    explicit ExportArguments(exporting::ExportFormat format) { choice.format = format; }
    /// Adds them to a command that has its -o; they are filled in when the command line is parsed.
    void addTo(CLI::App& command);
    /// What --option says, with warnings on standard error. To be called once, after parsing.
    base::Result<void> finish();
    /// Warns of each option that is given, but for the one called `except`: "--repeat has no effect with --check".
    void tellUnused(std::string_view except, const std::string& why) const;
    /// Prints what the options change, for --preview: each step on its own. `inputs`: in the order of the graph's.
    base::Result<int> printPreview(const std::shared_ptr<const document::Document>& document,
                                   const std::vector<tensor::Value>& inputs) const;

  private:
    void addInference(CLI::App& command, const exporting::ExportOption& option);

    std::vector<std::string> m_inference;                 ///< what --option says
    std::vector<std::string> m_switches;                  ///< the same by a switch of its own: --enable_nchw88
    std::vector<const exporting::ExportOption*> m_given;  ///< the other options that are on the command line
};

}  // namespace sonde::app
