#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace CLI {
class App;
}

namespace sonde::app {

/// One verb of the command line. Adding one: a file in app/verbs and a line in verbs.cpp.
struct Verb {
    std::string_view id;           ///< "trace"
    std::string_view description;  ///< help text
    std::string_view example;      ///< a complete command line
    /// Adds the verb's options to its subcommand; the returned action runs it and gives the exit status. Errors are
    /// printed by main: base::Error::commandLineText.
    std::function<base::Result<int>()> (*setup)(CLI::App& command);
};

const std::vector<Verb>& verbs();

/// Opens the window on these models and returns when it is closed. Null in builds without a window.
using WindowOpener = int (*)(int argc, char** argv, const std::vector<std::string>& models);
WindowOpener windowOpener();

}  // namespace sonde::app
