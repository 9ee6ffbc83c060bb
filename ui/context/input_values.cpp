#include "ui/context/input_values.h"

#include "core/io/inputs/inputs.h"

namespace sonde::context {
namespace {

bool isArchive(const std::string& source) { return source.substr(0, source.find('#')).ends_with(".npz"); }

io::InputOptions optionsOf(const InputSpec& spec) {
    io::InputOptions options;
    if (const io::ImagePreset* preset = io::findImagePreset(spec.image.preset.toStdString())) options.image = preset->options;
    options.image.resize = spec.image.resize;
    return options;
}

base::Result<tensor::Value> make(const ModelInput& input, std::size_t index, const base::WorkContext& work) {
    const std::string source = input.spec.source.toStdString();
    const io::InputInfo info{input.name.toStdString(), input.type, input.isDemanded};
    if (!source.starts_with('#') && isArchive(source)) {
        SONDE_ASSIGN(std::vector<io::InputCase> cases, io::makeInputs(source, {info}, optionsOf(input.spec), work));
        if (cases.empty() || cases.front().values.empty()) return base::usageError("the archive holds no value for this input", source);
        return cases.front().values.front();
    }
    return io::makeInput(source, info, index, optionsOf(input.spec));
}

}  // namespace

base::Result<tensor::Value> readInput(const ModelInput& input, std::size_t index, const base::WorkContext& work) {
    auto value = make(input, index, work);
    if (!value) value.error().withNote("for input " + input.name.toStdString());
    return value;
}

}  // namespace sonde::context
