#include "core/session/read_inputs.h"

#include <algorithm>
#include <filesystem>

#include "core/document/input_infos.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/noise.h"
#include "core/io/inputs/npz_inputs.h"
#include "core/io/inputs/text_input.h"
#include "core/session/default_spec.h"

namespace sonde::session {
namespace {

io::InputOptions optionsOf(const InputSpec& spec, const io::HasDefault& hasDefault) {
    io::InputOptions options;
    if (const io::ImagePreset* preset = io::findImagePreset(spec.image.preset)) options.image = preset->options;
    options.image.resize = spec.image.resize;
    options.hasDefault = hasDefault;
    return options;
}

/// Which of an archive's arrays an input gets depends on the others: they have theirs by name.
base::Result<io::GivenInput> readOne(const InputSpec& spec, const std::vector<io::InputInfo>& infos, std::size_t index,
                                     const io::HasDefault& hasDefault) {
    std::string item = spec.source;
    std::string note;
    if (spec.isArchive()) {
        SONDE_ASSIGN(const auto noise, io::noiseOf(item));
        item = io::withoutNoise(spec.source);
        SONDE_ASSIGN(io::ArchiveFill fill, io::fillFromArchive(item, infos, {{}, index, hasDefault}));
        if (fill.refused) return std::move(*fill.refused);
        if (fill.items[index] != item && !fill.notes.empty()) note = fill.notes.front();
        item = noise ? io::withNoise(fill.items[index], *noise) : fill.items[index];
    }
    auto given = io::giveInput(item, infos[index], index, optionsOf(spec, hasDefault));
    if (given && given->note.empty()) given->note = note;
    if (!given && given.error().what.find("input '") == std::string::npos)
        given.error().withNote("for input " + infos[index].name);
    return given;
}

/// Another spec than before: what was read is of the former one.
void setSpec(Input& input, InputSpec spec) {
    input.spec = std::move(spec);
    input.value.reset();
    input.error.reset();
}

/// The inputs that the archive has arrays for get it as their source.
void fill(std::vector<Input>& inputs, const ArchiveChoice& archive, const std::vector<io::InputInfo>& infos,
          const io::HasDefault& hasDefault, ReadInputsResult& result) {
    const std::string source(io::withoutNoise(archive.source));  // which is for its own input
    auto found = io::fillFromArchive(source, infos, {{}, archive.target, hasDefault});
    if (!found) {
        result.refused = std::move(found).error();
        return;
    }
    result.notes = std::move(found->notes);
    result.refused = std::move(found->refused);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (found->items[i].empty() && inputs[i].isDefault) result.lacking = found->lacking;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (found->items[i].empty() || (i < archive.isFree.size() && !archive.isFree[i])) continue;
        ++result.filled;
        if (i == archive.target) continue;
        setSpec(inputs[i], {source, inputs[i].spec.image});
        inputs[i].isDefault = false;
    }
}

/// What nobody chose has the sizes of what somebody did: a mask the batch of the image, or what goes with a text.
void resizeDefaults(std::vector<Input>& inputs, std::vector<io::InputInfo> infos,
                    const std::vector<tensor::Value>& values) {
    std::vector<std::string> texts;
    for (const Input& input : inputs) texts.push_back(input.isDefault ? std::string() : input.spec.source);
    io::fillFromText(texts, infos);
    io::agreeOnSymbols(infos, values);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].isDefault) continue;
        InputSpec spec = texts[i].empty() ? defaultSpec(infos[i]) : InputSpec{texts[i], {}};
        if (spec != inputs[i].spec) setSpec(inputs[i], std::move(spec));
    }
}

void read(const Input& input, const std::vector<io::InputInfo>& infos, std::size_t index,
          const io::HasDefault& hasDefault, ReadInput& result, tensor::Value& value) {
    result.spec = input.spec;
    result.isDefault = input.isDefault;
    if (input.value) value = *input.value;
    if (input.value || input.error || input.spec.source.empty()) return;
    auto given = readOne(input.spec, infos, index, hasDefault);
    if (!given) {
        const bool isGone = !input.files.empty() && given.error().kind == base::ErrorKind::Unreadable &&
                            !std::filesystem::exists(input.files.front()->path());
        if (isGone) given.error().what = "input file is gone";
        if (isGone) given.error().hint = "choose another file for input '" + infos[index].name + "'";
        result.value = std::move(given).error();
        return;
    }
    result.note = std::move(given->note);
    result.files = std::move(given->files);
    value = given->value;
    result.value = std::move(given->value);
}

}  // namespace

bool same(const tensor::Value& a, const tensor::Value& b) {
    if (a.kind() != b.kind()) return false;
    if (!a.isTensor()) return a.text() == b.text();
    const tensor::Tensor &one = a.tensor(), &other = b.tensor();
    const bool isShared = one.defined() && other.defined() && one.storage() == other.storage() &&
                          one.shape() == other.shape() && one.dtype() == other.dtype() &&
                          one.strides() == other.strides() && one.offsetElements() == other.offsetElements();
    return isShared || tensor::identical(one, other);
}

bool same(const std::vector<tensor::Value>& a, const std::vector<tensor::Value>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& one, const auto& other) { return same(one, other); });
}

ReadInputsResult readInputs(const document::Document& document, std::vector<Input> inputs,
                            const std::optional<ArchiveChoice>& archive, const base::WorkContext& work) {
    const std::vector<io::InputInfo> infos = document::requiredInputInfos(document);
    const io::HasDefault hasDefault = document::defaultsOf(document);
    ReadInputsResult result;
    for (const Input& input : inputs) result.inputs.push_back({input.spec, input.spec});
    if (archive) fill(inputs, *archive, infos, hasDefault, result);
    std::vector<tensor::Value> values(inputs.size());
    for (const bool isDefault : {false, true}) {
        if (isDefault) resizeDefaults(inputs, infos, values);
        for (std::size_t i = 0; i < inputs.size() && !work.cancelled(); ++i) {
            if (inputs[i].isDefault == isDefault) read(inputs[i], infos, i, hasDefault, result.inputs[i], values[i]);
        }
    }
    for (io::Contradiction& found : io::contradictions(infos, values))
        result.inputs[found.input].conflict = std::move(found.error);
    return result;
}

base::Result<std::vector<io::InputCase>> readCases(const document::Document& document, const InputData& data,
                                                   const base::WorkContext& work) {
    return readSizedCases(document, data, document::requiredInputInfos(document), work);
}

base::Result<std::vector<io::InputCase>> readSizedCases(const document::Document& document, const InputData& data,
                                                        const std::vector<io::InputInfo>& infos,
                                                        const base::WorkContext& work) {
    io::InputOptions options;
    options.seed = data.seed;
    if (const io::ImagePreset* preset = io::findImagePreset(data.preset)) options.image = preset->options;
    options.hasDefault = document::defaultsOf(document);
    return io::makeInputs(data.spec, infos, options, work);
}

}  // namespace sonde::session
