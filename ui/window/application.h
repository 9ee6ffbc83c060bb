#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace sonde::window {

/// Opens one window for each model (one with the start page if there is none) and returns when the last is closed.
int runApplication(int argc, char** argv, const std::vector<std::string>& models);

/// What `sonde window` does.
struct DriveOptions {
    std::string model;         ///< may be empty
    std::string screenshot;    ///< PNG to write at the end; may be empty
    std::string size;          ///< "1280x800"; empty: the usual size
    std::string script;        ///< file; empty: wait until the model is drawn
    bool allowNative = false;  ///< libraries with models are loaded without asking
    std::string theme;         ///< "light", "dark", "contrast"; empty: light
};

/// Drives the real window with fresh settings of its own, photographs it, and gives the exit status. Without a display
/// the window is drawn in memory. Errors: a line of the script failed (Usage, with its number), the model cannot be
/// opened.
base::Result<int> driveWindow(const DriveOptions& options);

}  // namespace sonde::window
