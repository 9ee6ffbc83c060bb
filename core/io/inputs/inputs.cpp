#include "core/io/inputs/inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <tuple>

#include "core/base/mapped_file.h"
#include "core/base/text_file.h"
#include "core/io/inputs/agreement.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/drawing.h"
#include "core/io/inputs/literal.h"
#include "core/io/inputs/masks.h"
#include "core/io/inputs/noise.h"
#include "core/io/inputs/npz_inputs.h"
#include "core/io/inputs/random_input.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/text_item.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

constexpr std::size_t kMaxCases = 100'000;

/// #zeros, #zeros(…) or #rand(…).
Result<Value> generated(std::string_view item, const InputInfo& input, std::size_t index, const InputOptions& options) {
    if (item != "#zeros") return randomValue(item, input, index, options.seed);
    const DType dtype = input.type.dtype == DType::Undefined ? DType::Float32 : input.type.dtype;
    SONDE_ASSIGN(Tensor zeros, Tensor::zeros(dtype, usualShape(input.type, input.usual)));
    return Value(std::move(zeros));
}

/// One number, truncated for int, for a parameter that is no tensor.
Result<Value> plainNumber(std::string_view item, const InputInfo& input, std::size_t index,
                          const InputOptions& options) {
    const tensor::ValueKind kind = *input.type.kind;
    if (kind != tensor::ValueKind::Int && kind != tensor::ValueKind::Float && kind != tensor::ValueKind::Bool) {
        return usageError("input '" + input.name + "' expects " + input.type.text() + ", which is not generated",
                          std::string(item), "write it as text: " + input.name + ":[1,2,3]");
    }
    const DType dtype = kind == tensor::ValueKind::Int    ? DType::Int64
                        : kind == tensor::ValueKind::Bool ? DType::Bool
                                                          : DType::Float64;
    SONDE_ASSIGN(const Value value, generated(item, {input.name, TypeInfo::tensor(dtype, Shape{})}, index, options));
    if (kind == tensor::ValueKind::Float) return Value::ofFloat(value.tensor().toDouble(0));
    if (kind == tensor::ValueKind::Bool) return Value::ofBool(value.tensor().toInt64(0) != 0);
    return Value::ofInt(value.tensor().toInt64(0));
}

/// np.repeat along axis 0: each sample repeated in place.
Result<Tensor> repeated(const Tensor& tensor, int times) {
    if (times <= 1 || tensor.rank() == 0) return tensor;
    std::vector<std::int64_t> dims(tensor.shape().begin(), tensor.shape().end());
    dims.insert(dims.begin() + 1, times);
    SONDE_ASSIGN(const Tensor wide, tensor.unsqueezed(1).expanded(Shape(dims)));
    dims.erase(dims.begin() + 1);
    dims[0] *= times;
    return wide.reshaped(Shape(dims));
}

Result<Value> fileValue(std::string_view item, const InputInfo& input, const InputOptions& options, std::string& note) {
    DataFile data;
    std::tie(data.path, data.part) = splitDataItem(item);
    SONDE_ASSIGN(data.file, base::MappedFile::open(data.path));
    const DataFileKind* kind =
        dataFileKindOf(data.path, data.file->window(0, std::min<std::size_t>(data.file->sizeBytes(), 4096)));
    if (!kind) kind = partedFileKindOf(data.path);
    if (!kind) return usageError("the file is of no kind that an input is read from", data.path, dataFileFormats());
    SONDE_ASSIGN(Tensor tensor, kind->read(data, input, options.image, note));
    SONDE_ASSIGN(tensor, repeated(tensor, options.repeat));
    return fitted(std::move(tensor), input, data.path);
}

/// A text for an input of numbers: it would be ids, and nothing says which.
bool lacksTokenizer(std::string_view item, const InputInfo& input) {
    const bool takesNumbers = tensor::isInteger(input.type.dtype) || tensor::isFloating(input.type.dtype);
    return takesNumbers && (item.starts_with('\'') || item.starts_with('"'));
}

/// No path of a file that is there, and nothing that a file would be called: a word or a number with a slip in it.
bool isWord(std::string_view item) {
    std::error_code ignored;
    return item.find_first_of("./\\") == std::string_view::npos && !std::filesystem::exists(item, ignored);
}

base::Error notAValue(std::string_view item, const InputInfo& input) {
    const auto& kind = input.type.kind;
    const bool isScalar = kind && (!input.type.isTensor() || (input.type.shape && input.type.shape->empty()));
    if (!isScalar) {
        return usageError("'" + std::string(item) + "' is neither numbers nor a file that exists",
                          "input '" + input.name + "'", "write a path, [1,2,3], #rand(0,1) or #zeros");
    }
    const bool isBool = kind == tensor::ValueKind::Bool || input.type.dtype == DType::Bool;
    return usageError("input '" + input.name + "' expects " + input.type.text() + ", got '" + std::string(item) + "'",
                      {},
                      isBool ? "write " + input.name + ":true or " + input.name + ":false"
                             : "write a number, as in " + input.name + ":16000");
}

Result<Value> drawnValue(std::string_view item, const InputInfo& input, const InputOptions& options) {
    SONDE_ASSIGN(Tensor pixels, drawnTensor(item, input, options.image));
    SONDE_ASSIGN(pixels, repeated(pixels, options.repeat));
    return fitted(std::move(pixels), input, "the drawing");
}

Result<Value> plainValueOf(std::string_view item, const InputInfo& input, std::size_t index,
                           const InputOptions& options, std::string& note) {
    const ItemKind kind = kindOfItem(item);
    if (kind == ItemKind::Literal && lacksTokenizer(item, input))
        return parseTokenizerPart({}).error().at("input '" + input.name + "'");
    if (kind == ItemKind::Literal) return literalValue(item, input);
    if (isTextItem(item)) {
        SONDE_ASSIGN(Tensor ids, textItemTensor(item, input, note));
        return fitted(std::move(ids), input, "the text");
    }
    if (kind == ItemKind::Archive) return archiveValue(item, input, options.hasDefault, note);
    if (isDrawingItem(item)) return drawnValue(item, input, options);
    if (kind == ItemKind::File && isWord(item)) return notAValue(item, input);
    if (input.type.kind && !input.type.isTensor()) {
        if (kind != ItemKind::File) return plainNumber(item, input, index, options);
        return usageError(
            "input '" + input.name + "' expects " + input.type.text() + ", which no file of values provides",
            std::string(item), "write it as text: " + input.name + ":3");
    }
    return kind == ItemKind::File ? fileValue(item, input, options, note) : generated(item, input, index, options);
}

Result<Value> valueOf(std::string_view item, const InputInfo& input, std::size_t index, const InputOptions& options,
                      std::string& note) {
    SONDE_ASSIGN(const std::optional<Noise> noise, noiseOf(item));
    SONDE_ASSIGN(Value value, plainValueOf(withoutNoise(item), input, index, options, note));
    return noise ? addNoise(value, *noise, input, index) : Result<Value>(std::move(value));
}

std::string namesOf(const std::vector<InputInfo>& inputs) {
    std::string names;
    for (const InputInfo& input : inputs) names += (names.empty() ? "" : ", ") + input.name;
    return names;
}

/// What a case must give and what it gives, as MegEngine says it.
std::string namesAndData(const std::vector<InputInfo>& inputs, const std::vector<std::string_view>& items) {
    std::string data;
    for (const std::string_view item : items) data += (data.empty() ? "" : ", ") + std::string(item);
    return "required inputs: " + namesOf(inputs) + "; data paths: " + data;
}

/// Splits "name:data" at the first ':' after a known input name.
std::pair<std::optional<std::size_t>, std::string_view> splitItem(std::string_view item,
                                                                  const std::vector<InputInfo>& inputs) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = inputs[i].name;
        if (item.size() <= name.size() || !item.starts_with(name) || item[name.size()] != ':') continue;
        if (!best || name.size() < inputs[*best].name.size()) best = i;
    }
    if (!best) return {std::nullopt, item};
    return {best, item.substr(inputs[*best].name.size() + 1)};
}

/// What each input is given, before anything is read.
struct Sources {
    std::string caseName;
    std::vector<std::string> items;  ///< by input; empty: nothing yet
    std::vector<std::string> notes;
    std::optional<base::Error> lacking;  ///< what the last archive had nothing for, with both lists
};

/// An archive fills every input that nothing else is given for and that it has a key for.
Result<void> fillFrom(std::string_view archive, std::optional<std::size_t> target, Sources& sources,
                      const std::vector<InputInfo>& inputs, const InputOptions& options) {
    std::vector<bool> isOpen;
    for (const std::string& item : sources.items) isOpen.push_back(item.empty());
    SONDE_ASSIGN(const std::optional<Noise> noise, noiseOf(archive));
    SONDE_ASSIGN(ArchiveFill fill,
                 fillFromArchive(withoutNoise(archive), inputs, {std::move(isOpen), target, options.hasDefault}));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!sources.items[i].empty() && i != target) continue;
        sources.items[i] = fill.items[i];
        const bool isNoisy = i == target || (!target && takesNoise(inputs[i].type));
        if (noise && isNoisy) sources.items[i] = withNoise(fill.items[i], *noise);
    }
    sources.notes.insert(sources.notes.end(), fill.notes.begin(), fill.notes.end());
    if (fill.refused) return std::move(*fill.refused);
    sources.lacking = std::move(fill.lacking);
    if (!target) sources.caseName = fill.caseName;
    return {};
}

/// "y:[1,2]": given to an input by its name. No file is called so.
bool namesOther(std::string_view item) {
    const std::size_t colon = item.find(':');
    if (colon == std::string_view::npos || colon == 0 || kindOfItem(item) == ItemKind::Literal) return false;
    std::error_code ignored;
    // In a text, and behind the '#' of a file, a colon is no end of a name.
    if (isTextItem(item) || (givesText(item) && item.find('#') < colon)) return false;
    return item.front() != '#' && item.substr(0, colon).find_first_of("/\\") == std::string_view::npos &&
           !std::filesystem::exists(item, ignored);
}

Result<Sources> allGiven(Sources sources, const std::vector<InputInfo>& inputs,
                         const std::vector<std::string_view>& items) {
    const auto missing = std::ranges::find_if(sources.items, &std::string::empty);
    if (missing == sources.items.end()) return sources;
    return usageError(
        "no value for input '" + inputs[static_cast<std::size_t>(missing - sources.items.begin())].name + "'", {},
        sources.lacking ? sources.lacking->hint : namesAndData(inputs, items));
}

Result<Sources> sourcesOf(std::string_view text, const std::vector<InputInfo>& inputs, const InputOptions& options) {
    const std::vector<std::string_view> items = splitSpecification(text);
    Sources sources;
    sources.items.resize(inputs.size());
    if (text.empty()) {
        for (std::size_t i = 0; i < inputs.size(); ++i) sources.items[i] = defaultItem(inputs[i]);
        return sources;
    }
    if (items.size() == 1 && !splitItem(items.front(), inputs).first && !namesOther(items.front())) {
        const std::string_view item = items.front();
        if (kindOfItem(item) == ItemKind::Archive && !inputs.empty()) {
            SONDE_TRY(fillFrom(item, std::nullopt, sources, inputs, options));
            return sources;
        }
        if (item.starts_with('#') || inputs.size() == 1) {
            std::ranges::fill(sources.items, std::string(item));
            return sources;
        }
        const auto target = givesText(item) ? inputOfText(inputs) : std::nullopt;
        if (target) {
            sources.items[*target] = item;
            fillFromText(sources.items, inputs);
            return allGiven(std::move(sources), inputs, items);
        }
    }
    for (std::string_view item : items) {
        const auto [index, data] = splitItem(item, inputs);
        if (!index) {
            const bool isNamed = namesOther(item);
            const std::string name(item.substr(0, item.find(':')));
            // A parameter with a fixed value is called NAME_1 in the graph, as in fx.
            if (isNamed && options.hasDefault && (options.hasDefault(name) || options.hasDefault(name + "_1"))) {
                return usageError(
                    "the model has its own value for input '" + name + "'", "'" + std::string(item) + "'",
                    "required inputs: " + namesOf(inputs) +
                        "; initializers are part of the model; a parameter of a forward takes another value if the model is traced with --concrete " +
                        name + "=VALUE");
            }
            return usageError(isNamed ? "the model has no input '" + name + "'"
                                      : "the model has no input for '" + std::string(item) + "'",
                              isNamed ? "'" + std::string(item) + "'" : "",
                              "write NAME:DATA; " + namesAndData(inputs, items));
        }
        if (!sources.items[*index].empty()) return usageError("input '" + inputs[*index].name + "' is given twice");
        if (data.empty()) return usageError("no value for input '" + inputs[*index].name + "'", std::string(item));
        sources.items[*index] = data;
    }
    // Only now is known which inputs are left for the archives.
    const std::vector<std::string> named = sources.items;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (named[i].empty() || kindOfItem(named[i]) != ItemKind::Archive) continue;
        SONDE_TRY(fillFrom(named[i], i, sources, inputs, options));
    }
    fillFromText(sources.items, inputs);
    return allGiven(std::move(sources), inputs, items);
}

/// How much of its shape a value takes from the input: nothing, the dimensions after those that are given, all.
enum class ShapeSource { Given, Continued, Usual };

ShapeSource shapeSourceOf(std::string_view given) {
    const std::string_view item = withoutNoise(given);
    if (!item.starts_with('#')) return ShapeSource::Given;
    const auto spec = parseRand(item);
    if (!spec || spec->shape.empty()) return ShapeSource::Usual;
    return spec->continues ? ShapeSource::Continued : ShapeSource::Given;
}

/// Of several inputs the one that the error is of.
base::Error placed(base::Error error, const InputInfo& input) {
    const std::string place = "input '" + input.name + "'";
    if (error.where.empty() && error.what.find(place) == std::string::npos) error.where = place;
    return error;
}

/// Data first: what has no shape of its own, or only a part of one, takes the sizes of its symbols from what has more.
Result<InputCase> makeCase(std::string_view text, const std::vector<InputInfo>& inputs, const InputOptions& options) {
    const base::MappedFilesScope files;  // an example's files are none of the model that is being opened with it
    SONDE_ASSIGN(Sources sources, sourcesOf(text, inputs, options));
    InputCase result{std::move(sources.caseName), std::vector<Value>(inputs.size()), std::move(sources.notes)};
    std::vector<InputInfo> sized = inputs;
    for (const ShapeSource source : {ShapeSource::Given, ShapeSource::Continued, ShapeSource::Usual}) {
        if (source != ShapeSource::Given) agreeOnSymbols(sized, result.values);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (shapeSourceOf(sources.items[i]) != source) continue;
            auto made = giveInput(sources.items[i], sized[i], i, options);
            if (!made) return placed(std::move(made).error(), sized[i]);
            GivenInput given = std::move(*made);
            result.values[i] = std::move(given.value);
            const bool isTold = given.note.empty() || std::ranges::find(result.notes, given.note) != result.notes.end();
            if (!isTold) result.notes.push_back(std::move(given.note));
        }
    }
    SONDE_TRY(base::checkUnchanged(files.files(), "input file"));
    if (auto found = contradictions(inputs, result.values); !found.empty()) return std::move(found.front().error);
    return result;
}

}  // namespace

InputOptions ofCase(const InputOptions& options, std::size_t index) {
    InputOptions own = options;
    own.seed += index;
    return own;
}

ItemKind kindOfItem(std::string_view given) {
    const std::string_view item = withoutNoise(given);
    if (item == "#zeros" || item.starts_with("#zeros(")) return ItemKind::Zeros;
    if (item.starts_with('#')) return ItemKind::Random;
    if (isLiteral(item) && !isTextItem(item)) return ItemKind::Literal;
    const bool isArchive = !isTextItem(item) && splitArchiveItem(item).first.ends_with(".npz");
    return isArchive ? ItemKind::Archive : ItemKind::File;
}

bool isMask(const InputInfo& input) {
    const DType dtype = input.type.dtype;
    return input.type.isTensor() && (tensor::isInteger(dtype) || dtype == DType::Bool) && input.name.ends_with("mask");
}

std::string defaultItem(const InputInfo& input) {
    const auto& kind = input.type.kind;
    const bool isScalar = input.type.isTensor() && input.type.shape && input.type.shape->empty();
    if (kind == tensor::ValueKind::Bool || (isScalar && input.type.dtype == DType::Bool)) return "false";
    if (kind == tensor::ValueKind::Int || (isScalar && tensor::isInteger(input.type.dtype))) return "0";
    if (kind == tensor::ValueKind::Float || (isScalar && tensor::isFloating(input.type.dtype))) return "0.5";
    // A mask lets everything pass: one that hides a whole row makes NaN, or everything alike.
    return input.type.dtype == DType::Bool || isMask(input) ? "#rand(1,1)" : "#rand(0,1)";
}

Result<GivenInput> giveInput(std::string_view item, const InputInfo& input, std::size_t index,
                             const InputOptions& options) {
    const base::MappedFilesScope files;
    GivenInput given;
    SONDE_ASSIGN(given.value, valueOf(item, input, index, options, given.note));
    SONDE_TRY(base::checkUnchanged(files.files(), "input file"));
    given.files = files.files();
    return given;
}

Result<Value> makeInput(std::string_view item, const InputInfo& input, std::size_t index, const InputOptions& options) {
    const base::MappedFilesScope files;
    std::string note;
    auto value = valueOf(item, input, index, options, note);
    SONDE_TRY(base::checkUnchanged(files.files(), "input file"));
    return value;
}

Result<std::vector<InputCase>> makeInputs(std::string_view spec, const std::vector<InputInfo>& inputs,
                                          const InputOptions& options, const base::WorkContext& work) {
    std::vector<InputCase> cases;
    if (!spec.starts_with('@')) {
        SONDE_ASSIGN(InputCase one, makeCase(spec, inputs, options));
        cases.push_back(std::move(one));
        return cases;
    }
    const std::string path(spec.substr(1));
    SONDE_ASSIGN(std::string text, base::readText(path, "the list"));
    std::istringstream list(std::move(text));
    std::string line;
    for (std::size_t number = 1; std::getline(list, line); ++number) {
        if (work.cancelled()) return base::cancelled("reading inputs");
        line.resize(line.find_last_not_of(" \t\r") + 1);
        if (line.empty()) continue;
        if (cases.size() >= kMaxCases) return usageError("the list has too many lines", path);
        auto one = makeCase(line, inputs, ofCase(options, cases.size()));
        if (!one) return std::move(one).error().withNote(path + ", line " + std::to_string(number));
        if (one->name.empty() && !cases.empty()) one->name = "case" + std::to_string(cases.size());
        cases.push_back(std::move(*one));
    }
    if (cases.empty()) return usageError("the list has no cases", path);
    return cases;
}

}  // namespace sonde::io
