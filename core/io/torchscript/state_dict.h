#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/tensor.h"

namespace sonde::io::script {

/// A file of torch.save that holds values and no program: `torch.save(model.state_dict(), …)`, in the zip form and in
/// the form from before version 1.6. No code of the pickle is run.
bool looksLikeStateDict(std::span<const std::byte> head, const std::filesystem::path& path);

/// Its tensors by name, in the file's order. A dict with the entry "state_dict" or "model" (a checkpoint of a training)
/// gives the tensors of that entry. Tensors are in the mapped file where alignment allows. Errors: a damaged file; a
/// pickled module or anything else without named tensors.
base::Result<std::vector<std::pair<std::string, tensor::Tensor>>> readStateDict(const std::filesystem::path& path);

}  // namespace sonde::io::script
