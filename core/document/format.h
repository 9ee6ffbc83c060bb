#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document_types.h"

namespace sonde::document {

/// A format that can be opened: of files, or of models that have a name with a scheme before it, "zoo:NAME". One entry
/// in the table in formats.cpp for each.
struct Format {
    std::string_view id;                     ///< "onnx"
    std::string_view name;                   ///< "ONNX"
    std::string_view description;            ///< help text
    std::vector<std::string_view> suffixes;  ///< for file dialogs only
    /// Decides on content; `head` holds at least the first 4 KiB if the file has them. Null where there is a scheme.
    bool (*recognises)(std::span<const std::byte> head, const std::filesystem::path& path);
    /// `path` is the file, or the NAME of a model that is none. Null of files that name another model, which is opened.
    base::Result<std::shared_ptr<Document>> (*open)(const std::filesystem::path& path, const OpenOptions& options,
                                                    const base::WorkContext& work);
    bool takesWeights = false;     ///< OpenOptions::weights may be set: the file has architecture, not numbers
    std::string_view scheme = {};  ///< "zoo": what stands before the colon; empty for files
};

}  // namespace sonde::document
