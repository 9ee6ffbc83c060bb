#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace sonde::ort {

// What Sonde and its helper process `sonde-ort` tell each other: files in a folder that is made for one run and removed
// after it. The helper gets request.json, the model and the inputs, and leaves values, times and reply.json.

inline constexpr const char* kModelFile = "model.onnx";
inline constexpr const char* kInputsFile = "inputs.npz";  ///< keys "0", "1" … in the order of Request::inputs
inline constexpr const char* kValuesFile = "values.npz";  ///< keys "0", "1" …: positions in Request::outputs
inline constexpr const char* kStageFile = "stage.txt";    ///< what the helper is doing: for when it crashes
inline constexpr const char* kLogFile = "log.txt";        ///< what the library prints

struct Request {
    std::string library;
    std::string hash;           ///< SHA-256 of the content that the user agreed to
    std::string weightsFolder;  ///< that the model's external data is relative to
    std::vector<std::string> inputs, outputs;
    int threads = 0;  ///< 0: the library's default
};

struct Reply {
    std::string failure;  ///< what the library or the helper says; empty: it ran
    std::string stage;    ///< in which of them, see Helper
    std::string version;  ///< of the library
    std::string profile;  ///< the file with times; empty: there is none
    std::vector<std::string> notes;
};

/// Errors (Run): the file cannot be written.
base::Result<void> write(const Request& request, const std::filesystem::path& folder);
base::Result<void> write(const Reply& reply, const std::filesystem::path& folder);
/// Errors (Run): there is no such file, or it is none of these.
base::Result<Request> readRequest(const std::filesystem::path& folder);
base::Result<Reply> readReply(const std::filesystem::path& folder);

}  // namespace sonde::ort
