#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/progress.h"
#include "core/base/result.h"

namespace sonde::document {

/// A form in which a model can be written: core/export knows how (exporting::exportForms()), core/session what comes of
/// it (session::previewExport()).
struct ExportForm {
    /// What `write` leaves: every file, the model first, and what a person should know.
    struct Files {
        std::vector<std::filesystem::path> paths;
        base::Diagnostics notes;
    };
    std::string label;  ///< "Layout: nchw88"
    std::function<base::Result<Files>(const std::filesystem::path& path, const base::WorkContext& work)> write;
};

}  // namespace sonde::document
