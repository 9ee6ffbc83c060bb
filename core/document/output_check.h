#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::document {

/// A file that something is read from, and what it is: "the model file", "an input file".
struct FileRead {
    std::filesystem::path path;
    std::string_view role;
};

/// The file of a model as it is given to open(), before that.
std::vector<FileRead> modelFiles(const std::string& model);
/// The files that a document was read from: the model and its data files.
std::vector<FileRead> modelFiles(const Document& document);
/// What is read beside the model: its weights, its example, and what `inputData` names (see io::makeInputs), as far as
/// that is known before.
std::vector<FileRead> inputFiles(const OpenOptions& options, std::span<const std::string> inputData = {});

/// Whether two paths are one file, through links too. Of files that are not there yet: whether they would be one.
/// Devices are none.
bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b);

/// Error (Usage): writing `output`, which `option` names, would destroy one of the files, under its name or through a
/// hard or symbolic link. To be asked before anything runs.
base::Result<void> checkOutput(const std::filesystem::path& output, std::string_view option,
                               std::span<const FileRead> files);

}  // namespace sonde::document
