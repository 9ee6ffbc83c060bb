#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/nn/module.h"
#include "core/tensor/type_info.h"

namespace sonde::zoo {

/// An input that a model can be run on.
struct InputExample {
    std::string name;
    tensor::TypeInfo type;  ///< float32[1,3,224,224]
};

/// A model that needs no file. One entry in the table for each.
struct ModelEntry {
    std::string_view name;      ///< "resnet18", opened as zoo:resnet18
    std::string_view sentence;  ///< help text
    std::shared_ptr<nn::Module> (*make)();
    std::vector<InputExample> inputs;  ///< in the order of forward's parameters
};

/// Every built-in model, in the order of the help text.
const std::vector<ModelEntry>& models();
const ModelEntry* find(std::string_view name);

/// Builds a model with weights from the seed (nn::initialize), in evaluation mode. Errors: an unknown name, with the
/// nearest ones as hint.
base::Result<std::shared_ptr<nn::Module>> makeModel(std::string_view name, std::uint64_t seed = 0);

}  // namespace sonde::zoo
