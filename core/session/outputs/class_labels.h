#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::session::outputs {

/// Names of classes, a line for each, or JSON (parseLabelJson()): any text, without blanks around it. Lines without a
/// name at the end are none; one before that is a class without a name. Errors: those of io::NameLines and
/// parseLabelJson(); no line has a name.
base::Result<std::vector<std::string>> parseLabels(std::string_view text, const std::string& where = {});
base::Result<std::vector<std::string>> readLabels(const std::filesystem::path& path);

/// The labels file that lies beside a model file and has its name, "net.labels.txt" of "net.onnx", else
/// "net.labels.json"; none if there is none, if the model is no file, or if its session file may not read it.
std::optional<std::filesystem::path> labelsBeside(const document::Document& document);
/// The vocabulary in the folder of a model file, vocab.txt, on the same conditions.
std::optional<std::filesystem::path> vocabularyBeside(const document::Document& document);

}  // namespace sonde::session::outputs
