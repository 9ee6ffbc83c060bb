#pragma once

#include <filesystem>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/trace/module.h"

namespace sonde::document {

/// Replaces a module's parameters and buffers by those of the same names in a file, recognised by its content:
///   .npz         arrays by key
///   state dict   tensors of a file of torch.save, new or old form
///   TorchScript  parameters and buffers of the archive's modules
///   ONNX         initializers of the main graph
/// The file must have just what the model has, with the same shapes and dtypes; only BatchNorm's counters
/// (num_batches_tracked), which no result depends on, may be missing. Tensors stay where they are in the file.
/// Errors: the file's own; else one that lists what is missing, what is unexpected and what does not fit.
base::Result<void> loadWeights(trace::Module& root, const std::filesystem::path& path,
                               const base::WorkContext& work = {});

}  // namespace sonde::document
