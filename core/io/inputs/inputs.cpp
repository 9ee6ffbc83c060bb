#include "core/io/inputs/inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>

#include "core/base/mapped_file.h"
#include "core/base/nearest.h"
#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

constexpr std::string_view kNumberLetters = "-0123456789.";
constexpr std::int64_t kUsualPictureSize = 224;  ///< what networks for ImageNet take
constexpr std::size_t kMostCases = 100'000;

/// Numbers that depend on seed and position alone: splitmix64 (Steele, Lea, Flood 2014).
class Random {
  public:
    Random(std::uint64_t seed, std::size_t stream) : m_state(mixed(seed) ^ mixed(stream + 1)) {}
    /// Uniform in [0, 1), 53 bits.
    double next() {
        m_state += 0x9e3779b97f4a7c15u;
        return static_cast<double>(mixed(m_state) >> 11) * 0x1p-53;
    }

  private:
    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }
    std::uint64_t m_state;
};

struct RandSpec {
    double low = 0;
    double high = 1;
    bool hasShape = false;
    std::vector<std::int64_t> shape;
    bool continues = false;  ///< ends in "..."
};

base::Error badSpec(std::string_view item, std::string_view part = {}) {
    std::string what = "bad #rand specification";
    if (!part.empty()) what += ": '" + std::string(part) + "'";
    return usageError(what, std::string(item), "write #rand(min,max) or #rand(min,max,1,3,...); min and max of digits and a point, as 0.001 for 1e-3");
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::optional<double> plainNumber(std::string_view text) {
    if (text.empty() || text.find_first_not_of(kNumberLetters) != std::string_view::npos) return std::nullopt;
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// Grammar of trace-dump c1: no blank after the bracket, numbers without exponent, integers as extents.
Result<RandSpec> parseRand(std::string_view item) {
    if (!item.starts_with("#rand(") || !item.ends_with(')')) return badSpec(item);
    std::string_view rest = item.substr(6, item.size() - 7);
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t comma = rest.find(',');
        parts.push_back(rest.substr(0, comma));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    if (parts.size() < 2 || parts[0].starts_with(' ')) return badSpec(item, parts[0]);
    RandSpec spec;
    for (std::size_t i = 0; i < 2; ++i) {
        const std::optional<double> number = plainNumber(trimmed(parts[i]));
        if (!number) return badSpec(item, parts[i]);
        (i == 0 ? spec.low : spec.high) = *number;
    }
    for (std::size_t i = 2; i < parts.size(); ++i) {
        const std::string_view part = trimmed(parts[i]);
        if (part == "..." && i + 1 == parts.size()) {
            spec.continues = true;
            break;
        }
        std::int64_t extent = 0;
        const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), extent);
        if (part.empty() || code != std::errc() || end != part.data() + part.size() || extent < 0) return badSpec(item, parts[i]);
        spec.shape.push_back(extent);
    }
    spec.hasShape = parts.size() > 2;
    return spec;
}

/// A different number of dimensions is an error; a different extent is the model's own affair.
Result<void> checkRank(const Tensor& tensor, const InputInfo& input) {
    if (!input.type.shape || input.isGuide || tensor.rank() == input.type.shape->size()) return {};
    return usageError("input/data shapes mismatch: the data is " + tensor.typeText() + ", the input " + input.type.text(),
                      "input '" + input.name + "'");
}

Result<Value> randomValue(std::string_view item, const InputInfo& input, std::size_t index, const InputOptions& options) {
    SONDE_ASSIGN(const RandSpec spec, parseRand(item));
    Shape shape = usualShape(input.type, input.usual);
    if (spec.hasShape) {
        std::vector<std::int64_t> dims = spec.shape;
        if (spec.continues) {
            for (std::size_t axis = dims.size(); axis < shape.rank(); ++axis) dims.push_back(shape[axis]);
        }
        shape = Shape(std::move(dims));
    }
    auto tensor = Tensor::allocate(DType::Float64, shape);
    if (!tensor) return usageError(tensor.error().what, "input '" + input.name + "'");
    SONDE_TRY(checkRank(*tensor, input));
    Random random(options.seed, index);
    for (double& element : tensor->mutableSpan<double>()) element = spec.low + (spec.high - spec.low) * random.next();
    const DType wanted = input.type.dtype == DType::Undefined ? DType::Float32 : input.type.dtype;
    SONDE_ASSIGN(Tensor result, tensor->cast(wanted));
    // Rounding to float32 may reach max itself, which is not in the interval.
    if (wanted == DType::Float32 && spec.high > spec.low) {
        const float high = static_cast<float>(spec.high);
        for (float& element : result.mutableSpan<float>()) {
            if (element >= high) element = std::nextafter(high, static_cast<float>(spec.low));
        }
    }
    return Value(std::move(result));
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

/// A tensor as the input wants it.
Result<Value> fitted(Tensor tensor, const InputInfo& input, const std::string& where) {
    SONDE_TRY(checkRank(tensor, input));
    if (input.type.dtype != DType::Undefined && tensor.dtype() != input.type.dtype) {
        if (tensor.dtype() == DType::String || input.type.dtype == DType::String) {
            return usageError("the data is " + tensor.typeText() + ", the input " + input.type.text(), where);
        }
        SONDE_ASSIGN(tensor, tensor.cast(input.type.dtype));
    }
    return Value(std::move(tensor));
}

/// "file.npz": the array in.NAME or NAME; "file.npz#part": that of the case. Where just one input is meant, also the array of
/// the key `part`, or the only one.
Result<Value> npzValue(std::string_view item, const InputInfo& input, bool isAlone) {
    const std::size_t hash = item.rfind('#');
    const std::string path(item.substr(0, hash)), part(hash == std::string_view::npos ? std::string_view() : item.substr(hash + 1));
    SONDE_ASSIGN(const NpzFile file, NpzFile::open(path));
    const std::string prefix = part.empty() || part == "case0" ? std::string() : part + ".";
    std::string key = prefix + "in." + input.name;
    if (!file.has(key) && file.has(prefix + input.name)) key = prefix + input.name;
    if (isAlone && !file.has(key) && file.has(part)) key = part;
    if (isAlone && part.empty() && !file.has(key) && file.keys().size() == 1) key = file.keys().front();
    auto tensor = file.read(key);
    if (!tensor) return usageError(tensor.error().what, tensor.error().where, tensor.error().hint);
    return fitted(std::move(*tensor), input, std::string(item));
}

bool isNpz(std::string_view item) { return !item.starts_with('#') && item.substr(0, item.rfind('#')).ends_with(".npz"); }

Result<Value> fileValue(std::string_view item, const InputInfo& input, const InputOptions& options) {
    const std::string path(item);
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    const std::span<const std::byte> head = file->window(0, std::min<std::size_t>(file->sizeBytes(), 16));
    Tensor tensor;
    if (looksLikeNpy(head)) {
        SONDE_ASSIGN(tensor, readNpy(file->bytes(), file, path));
    } else {
        auto image = readImage(path);
        if (!image) {
            return usageError("this is neither a picture nor a .npy array", path,
                              "arrays: .npy, .npz, file.npz#key; pictures: PNG, JPEG, WebP, TIFF, BMP, GIF, PNM");
        }
        SONDE_ASSIGN(tensor, imageTensor(*image, input.type, options.image));
    }
    SONDE_ASSIGN(tensor, repeated(tensor, options.repeat));
    return fitted(std::move(tensor), input, path);
}

std::string namesOf(const std::vector<InputInfo>& inputs) {
    std::string names;
    for (const InputInfo& input : inputs) names += (names.empty() ? "" : ", ") + input.name;
    return names;
}

/// Every input of an npz file, by key `PREFIXin.NAME` or, without a case, `NAME`.
Result<InputCase> npzCase(const std::string& path, const std::string& caseName, const std::vector<InputInfo>& inputs) {
    SONDE_ASSIGN(const NpzFile file, NpzFile::open(path));
    const std::string item = path + (caseName.empty() ? "" : "#" + caseName);
    InputCase result{caseName, {}};
    for (const InputInfo& input : inputs) {
        SONDE_ASSIGN(Value value, npzValue(item, input, inputs.size() == 1));
        result.values.push_back(std::move(value));
    }
    return result;
}

/// Splits "name:data" at the first ':' behind a known input name.
std::pair<std::optional<std::size_t>, std::string_view> splitItem(std::string_view item, const std::vector<InputInfo>& inputs) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = inputs[i].name;
        if (item.size() <= name.size() || !item.starts_with(name) || item[name.size()] != ':') continue;
        if (!best || name.size() < inputs[*best].name.size()) best = i;
    }
    if (!best) return {std::nullopt, item};
    return {best, item.substr(inputs[*best].name.size() + 1)};
}

Result<InputCase> makeCase(std::string_view text, const std::vector<InputInfo>& inputs, const InputOptions& options) {
    std::vector<std::string_view> items;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t semicolon = rest.find(';');
        if (!rest.substr(0, semicolon).empty()) items.push_back(rest.substr(0, semicolon));
        rest = semicolon == std::string_view::npos ? std::string_view() : rest.substr(semicolon + 1);
    }
    if (items.size() == 1) {
        const std::string_view item = items.front();
        const std::size_t hash = item.rfind('#');
        const std::string_view file = hash == 0 ? item : item.substr(0, hash);
        const bool named = splitItem(item, inputs).first.has_value();
        if (!named && file.ends_with(".npz")) {
            return npzCase(std::string(file), hash == std::string_view::npos ? "" : std::string(item.substr(hash + 1)), inputs);
        }
        if (item.starts_with('#') || (inputs.size() == 1 && !named)) {
            InputCase result;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                SONDE_ASSIGN(Value value, makeInput(item, inputs[i], i, options));
                result.values.push_back(std::move(value));
            }
            return result;
        }
    }
    InputCase result;
    result.values.resize(inputs.size());
    std::vector<bool> given(inputs.size(), false);
    for (std::string_view item : items) {
        const auto [index, data] = splitItem(item, inputs);
        if (!index) {
            return usageError("the model has no input for '" + std::string(item) + "'", {},
                              "write NAME:DATA; required inputs: " + namesOf(inputs));
        }
        if (given[*index]) return usageError("input '" + inputs[*index].name + "' is given twice");
        given[*index] = true;
        SONDE_ASSIGN(result.values[*index], makeInput(data, inputs[*index], *index, options));
    }
    if (const auto lacking = std::find(given.begin(), given.end(), false); lacking != given.end()) {
        return usageError("nothing is given for input '" + inputs[static_cast<std::size_t>(lacking - given.begin())].name + "'", {},
                          "required inputs: " + namesOf(inputs));
    }
    return result;
}

}  // namespace

Shape usualShape(const TypeInfo& type, const tensor::ExtentHints& usual) {
    std::vector<std::int64_t> dims(type.shape ? type.shape->size() : usual.size(), -1);
    const bool hasHints = usual.size() == dims.size();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (type.shape && (*type.shape)[axis].known()) dims[axis] = (*type.shape)[axis].value;
        else if (hasHints) dims[axis] = usual[axis].likely;
    }
    const bool picture = dims.size() == 4 && (dims[1] == 1 || dims[1] == 3);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] >= 0) continue;
        dims[axis] = std::max(picture && axis >= 2 ? kUsualPictureSize : 1, hasHints ? usual[axis].least : 1);
    }
    return Shape(std::move(dims));
}

Result<Value> makeInput(std::string_view item, const InputInfo& input, std::size_t index, const InputOptions& options) {
    if (input.type.kind && !input.type.isTensor()) {
        return usageError("an input of type " + input.type.text() + " cannot be given by a file or by numbers", "input '" + input.name + "'");
    }
    if (item == "#zeros") {
        SONDE_ASSIGN(Tensor zeros, Tensor::zeros(input.type.dtype == DType::Undefined ? DType::Float32 : input.type.dtype, usualShape(input.type, input.usual)));
        return Value(std::move(zeros));
    }
    if (item.starts_with('#')) return randomValue(item, input, index, options);
    if (isNpz(item)) return npzValue(item, input, true);
    return fileValue(item, input, options);
}

Result<std::vector<InputCase>> makeInputs(std::string_view spec, const std::vector<InputInfo>& inputs,
                                          const InputOptions& options, const base::WorkContext& work) {
    std::vector<InputCase> cases;
    if (!spec.starts_with('@')) {
        SONDE_ASSIGN(InputCase one, makeCase(spec.empty() ? "#rand(0,1)" : spec, inputs, options));
        cases.push_back(std::move(one));
        return cases;
    }
    const std::string path(spec.substr(1));
    std::ifstream list(path);
    if (!list) return usageError("the list cannot be opened", path);
    std::string line;
    for (std::size_t number = 1; std::getline(list, line); ++number) {
        if (work.cancelled()) return base::cancelled("reading inputs");
        line.resize(line.find_last_not_of(" \t\r") + 1);
        if (line.empty()) continue;
        if (cases.size() >= kMostCases) return usageError("the list has too many lines", path);
        auto one = makeCase(line, inputs, options);
        if (!one) return std::move(one).error().withNote(path + ", line " + std::to_string(number));
        if (one->name.empty() && !cases.empty()) one->name = "case" + std::to_string(cases.size());
        cases.push_back(std::move(*one));
    }
    if (cases.empty()) return usageError("the list has no cases", path);
    return cases;
}

}  // namespace sonde::io
