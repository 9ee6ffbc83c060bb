#include "ui/context/input_values.h"

namespace sonde::context {
namespace {

io::InputOptions optionsOf(const InputSpec& spec) {
    io::InputOptions options;
    if (const io::ImagePreset* preset = io::findImagePreset(spec.image.preset.toStdString())) options.image = preset->options;
    options.image.resize = spec.image.resize;
    return options;
}

}  // namespace

base::Result<tensor::Value> readInput(const ModelInput& input, const io::InputInfo& info, std::size_t index) {
    auto value = io::makeInput(input.spec.source.toStdString(), info, index, optionsOf(input.spec));
    if (!value) value.error().withNote("for input " + input.name.toStdString());
    return value;
}

}  // namespace sonde::context
