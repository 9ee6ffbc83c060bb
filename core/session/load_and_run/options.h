#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/dump/export_options.h"

namespace sonde::session {

/// Which values check_var_value compares with those of the first run: the first-th that an operation computes, and
/// every interval-th after it.
struct VarCheck {
    std::size_t interval = 1;
    std::size_t first = 0;
};

/// What load-and-run is told (dump.md, "Load and run"), with MegEngine's defaults.
struct LoadAndRunOptions {
    std::string input;           ///< see io::toolInputs; empty: the test cases
    std::int64_t batchSize = 0;  ///< samples along axis 0 of every input, which are repeated or cut; 0: as given
    std::size_t iterations = 10;
    std::size_t warmUps = 1;
    std::size_t threads = 1;
    double range = 0;  ///< magnitude that no float of a run may reach; 0: any
    std::optional<VarCheck> varCheck;
    std::string profile;           ///< file for the times of the last iteration
    std::string ioDump;            ///< file for all values as text
    std::string binIoDump;         ///< folder for all values
    std::string binOutDump;        ///< folder for the outputs
    std::string staticMemoryInfo;  ///< file that tells how long each value is needed, and how much memory that takes
    bool modelInfo = false;
    bool disableAssertThrow = false;
    std::string firstDifference;  ///< "unoptimised", or a model: values are compared with its; empty: with nothing
    bool optimize = false;        ///< before running, with these:
    io::dump::InferenceOptions inference;
    std::string layoutTransform;  ///< target whose layouts are tried: "cpu", "cuda", "unspec"; empty: none
    std::string layoutTransformDump;
    std::vector<std::string> withoutEffect;  ///< options that were given and change nothing here, in order

    /// An option as it is written on a command line, without dashes before it; '-' in it is '_'. `value`: "", "true" or
    /// "false" of a switch. Usage errors: no such option; a wrong value.
    base::Result<void> set(std::string_view name, std::string_view value);
};

/// One option for command lines and dialogs.
struct LoadAndRunOption {
    std::string_view name;       ///< "batch_size"
    std::string_view parameter;  ///< "N", "FILE"; empty: a switch
    std::string_view help;
    std::string_view noEffect;  ///< why it changes nothing on this engine; empty: it does what it says
    base::Result<void> (*set)(LoadAndRunOptions& options, std::string_view value);
};

/// All of them, those that have an effect first.
std::span<const LoadAndRunOption> loadAndRunOptions();

}  // namespace sonde::session
