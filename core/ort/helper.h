#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/io/npz/npz.h"

namespace sonde::ort {

/// Which ONNX Runtime, and how it is run.
struct EngineOptions {
    std::filesystem::path library;  ///< libonnxruntime.so, as the user names it
    /// The user agreed to run its code. Without, only a library to whose content the user agreed before is loaded.
    bool allowNative = false;
    std::size_t threads = 0;            ///< 0: the library's default
    std::chrono::seconds timeout{600};  ///< for one run, with loading and opening
    std::filesystem::path helper;       ///< the program `sonde-ort`; empty: see findHelper()
};

/// A model and what it is run on.
struct EngineTask {
    std::string_view model;               ///< bytes of an ONNX file
    std::filesystem::path weightsFolder;  ///< that its external data is relative to
    std::vector<io::NamedTensor> inputs;
    std::vector<std::string> outputs;  ///< whose values are wanted
};

struct EngineRun {
    std::string version;                            ///< of the library
    std::map<std::string, tensor::Tensor> values;   ///< by output; some may be missing, see `notes`
    std::map<std::string, std::int64_t> elapsedNs;  ///< by operation, as the library calls it in its profile
    std::vector<std::string> notes;
};

/// Runs a model in ONNX Runtime, in a process of its own that is ended with the run, when time is over, and when a stop
/// is requested: whatever the library does, this process goes on. Errors: no consent, no helper, no library (those of
/// the library are Unreadable until the model is open, then Run); it crashed, or did not answer in time (Run);
/// Cancelled.
base::Result<EngineRun> runInEngine(const EngineTask& task, const EngineOptions& options,
                                    const base::WorkContext& work = {});

/// Where the helper is: `sonde-ort` named by the environment variable SONDE_ORT_HELPER, else beside the running
/// executable, in ../bin or ../libexec/sonde from there; empty if nowhere.
std::filesystem::path findHelper();

}  // namespace sonde::ort
