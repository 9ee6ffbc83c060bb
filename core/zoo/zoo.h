#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/nn/module.h"
#include "core/tensor/type_info.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

/// An input that a model can be run on.
struct InputExample {
    std::string name;
    tensor::TypeInfo type;  ///< float32[1,3,224,224]
};

/// A model that needs no file. One entry in the table for each.
struct ModelEntry {
    std::string_view name;         ///< "resnet18", opened as zoo:resnet18
    std::string_view description;  ///< help text, of the usual settings
    std::shared_ptr<nn::Module> (*make)(const Settings& settings);
    std::vector<InputExample> inputs;  ///< in the order of forward's parameters, for the usual settings
    std::vector<Setting> settings;     ///< what can be chosen: zoo:resnet18?classes=10&width=0.5
    std::string_view tracer = {};      ///< which one shows best what the model does; empty: the usual one
    std::string_view family = {};      ///< what it is with any settings, without a number that they change
};

/// Every built-in model, in the order of the help text.
const std::vector<ModelEntry>& models();
/// By name; settings after the name are passed over.
const ModelEntry* find(std::string_view name);

/// What a model is. With other settings than the usual ones, those that it has:
/// "BERT encoder: layers 1, heads 12, dim 768, vocab 30522, positions 512". Errors as of makeModel.
base::Result<std::string> describe(std::string_view name);

/// Builds a model, "resnet18" or "resnet18?classes=10&width=0.5", with weights from the seed (nn::initialize), in
/// evaluation mode. Large weights are made when they are first read. Errors: an unknown name, with the nearest one as
/// hint; a setting that the model does not have, or out of its range.
base::Result<std::shared_ptr<nn::Module>> makeModel(std::string_view name, std::uint64_t seed = 0);

/// What the model of that name and settings runs on: pictures [N,3,S,S] have the chosen `image` as S, sentences [N,L]
/// are at most as long as there are `positions`. Errors as of makeModel.
base::Result<std::vector<InputExample>> inputsOf(std::string_view name);

}  // namespace sonde::zoo
