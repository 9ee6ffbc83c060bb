#include "core/io/inputs/tool_inputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/mapped_file.h"
#include "core/io/image/image.h"
#include "core/io/inputs/agreement.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Json = nlohmann::json;

constexpr std::string_view kDefaultName = "data";

std::string listOfNames(const std::vector<InputInfo>& inputs) {
    std::string names;
    for (const InputInfo& input : inputs) names += (names.empty() ? "" : ", ") + input.name;
    return "inputs of the model: " + names;
}

std::optional<std::size_t> inputNamed(std::string_view name, const std::vector<InputInfo>& inputs) {
    const auto found = std::ranges::find(inputs, name, &InputInfo::name);
    if (found == inputs.end()) return std::nullopt;
    return static_cast<std::size_t>(found - inputs.begin());
}

/// "y:[1,2]": data for an input of that name. No file is called so.
bool namesInput(std::string_view item) {
    const std::string_view name = item.substr(0, item.find(':'));
    if (name.empty() || name.size() == item.size() || name.find_first_of("/\\[{#,") != std::string_view::npos)
        return false;
    std::error_code ignored;
    return !std::filesystem::exists(item, ignored);
}

/// An item's input, where it names one, and its data. Of two names that fit, "y" and "y:expect", the longer one counts.
std::pair<std::optional<std::size_t>, std::string_view> nameAndData(std::string_view item,
                                                                    const std::vector<InputInfo>& inputs) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = inputs[i].name;
        const bool fits = item.size() > name.size() && item.starts_with(name) && item[name.size()] == ':';
        if (fits && (!best || name.size() > inputs[*best].name.size())) best = i;
    }
    if (!best) return {std::nullopt, item};
    return {best, item.substr(inputs[*best].name.size() + 1)};
}

/// Types of numbers in JSON files, with the integers that they hold.
struct JsonType {
    std::string_view name;
    DType dtype;
    double low = 0, high = 0;
};
constexpr std::array kJsonTypes{
    JsonType{"float32", DType::Float32},
    JsonType{"float", DType::Float32},
    JsonType{"int32", DType::Int32, -2147483648.0, 2147483647.0},
    JsonType{"int", DType::Int32, -2147483648.0, 2147483647.0},
    JsonType{"int8", DType::Int8, -128, 127},
    JsonType{"uint8", DType::UInt8, 0, 255},
};

/// One entry of a JSON file. `where` names it in errors.
Result<Tensor> jsonTensor(const Json& entry, const std::string& where) {
    const auto part = [&entry](const char* key, auto isKind) -> const Json* {
        if (!entry.is_object()) return nullptr;
        const auto found = entry.find(key);
        return found != entry.end() && isKind(*found) ? &*found : nullptr;
    };
    const auto isArray = [](const Json& json) { return json.is_array(); };
    const Json *shape = part("shape", isArray), *raw = part("raw", isArray),
               *type = part("type", [](const Json&json) { return json.is_string(); });
    if (!shape || !raw || !type)
        return usageError("an array \"shape\", a string \"type\" and an array \"raw\" are expected", where);
    const auto known = std::ranges::find(kJsonTypes, type->get<std::string>(), &JsonType::name);
    if (known == kJsonTypes.end())
        return usageError("unknown type '" + type->get<std::string>() + "'", where,
                          "types: float32, float, int32, int, int8, uint8");
    Shape dims;
    for (const Json& dim : *shape) {
        if (!dim.is_number_unsigned()) return usageError("a dimension is not a number: " + dim.dump(), where);
        dims.push_back(static_cast<std::int64_t>(dim.get<std::uint64_t>()));
    }
    const auto count = dims.checkedNumel();
    if (!count || static_cast<std::size_t>(*count) != raw->size())
        return usageError("shape " + dims.text() + " does not hold " + std::to_string(raw->size()) + " numbers", where);
    SONDE_ASSIGN(Tensor wide, Tensor::allocate(DType::Float64, dims));
    double* out = wide.mutableData<double>();
    for (const Json& number : *raw) {
        if (!number.is_number()) return usageError("not a number: " + number.dump(), where);
        double value = number.get<double>();
        if (known->dtype != DType::Float32) {
            value = std::round(value);
            if (!(value >= known->low && value <= known->high))
                return usageError(number.dump() + " does not fit " + std::string(known->name), where);
        }
        *out++ = value;
    }
    return wide.cast(known->dtype);
}

/// The bytes of a picture as the file has them.
Result<Tensor> pictureTensor(const std::string& path) {
    SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
    SONDE_ASSIGN(const Image image, readImage(path));
    // "P5" is grey and "P6" coloured; "P2" and "P3" are the same as text.
    const auto kind = file->window(1, 1);
    const bool isGrey =
        !kind.empty() && (std::to_integer<char>(kind[0]) == '5' || std::to_integer<char>(kind[0]) == '2');
    const std::int64_t channels = isGrey ? 1 : 3;
    SONDE_ASSIGN(Tensor tensor, Tensor::allocate(DType::UInt8, Shape{1, image.height, image.width, channels}));
    auto* out = tensor.mutableData<std::uint8_t>();
    for (std::size_t i = 0; i < image.rgb.size(); i += isGrey ? 3 : 1) *out++ = image.rgb[i];
    return tensor;
}

/// "1,2,3" is "[1,2,3]", and [1,2,3] for an input of two dimensions [[1,2,3]].
std::string completedLiteral(std::string_view data, const InputInfo& input) {
    std::string text(data);
    if (text.find(',') != std::string::npos && text.find_first_not_of("0123456789+-.eE, ") == std::string::npos)
        text = '[' + text + ']';
    // An error in what is written is told by its own column.
    const bool isWhole = std::ranges::count(text, '[') == std::ranges::count(text, ']');
    if (!text.starts_with('[') || !isWhole || !input.type.shape || input.isGuide) return text;
    const std::size_t rank = std::min(text.find_first_not_of("[ "), text.size());
    const auto depth =
        static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(rank), '['));
    for (std::size_t i = depth; i < input.type.shape->size(); ++i) text = '[' + text + ']';
    return text;
}

class ToolInputs {
  public:
    ToolInputs(const std::vector<InputInfo>& inputs, const InputOptions& options, const std::vector<InputInfo>& others)
        : m_inputs(inputs), m_options(options), m_isOnlyOne(inputs.size() == 1) {
        m_inputs.insert(m_inputs.end(), others.begin(), others.end());
        m_values.resize(m_inputs.size());
    }

    Result<void> add(std::string_view item) {
        auto [index, data] = nameAndData(item, m_inputs);
        if (data.ends_with(".json")) return addJson(std::string(data));
        if (!index && namesInput(item))
            return usageError("the model has no input '" + std::string(item.substr(0, item.find(':'))) + "'",
                              '\'' + std::string(item) + '\'', listOfNames(m_inputs));
        if (!index) index = inputNamed(kDefaultName, m_inputs);
        if (!index && m_isOnlyOne) index = 0;
        if (!index)
            return usageError("the model has no input for '" + std::string(item) + "'", "--input",
                              "write NAME:DATA; " + listOfNames(m_inputs));
        SONDE_ASSIGN(Value value, valueOf(std::string(data), *index));
        return set(*index, std::move(value));
    }

    Result<std::vector<Value>> take() {
        auto found = contradictions(m_inputs, m_values);
        if (!found.empty()) return std::move(found.front().error);
        return std::move(m_values);
    }

  private:
    Result<Value> valueOf(const std::string& data, std::size_t index) const {
        const InputInfo& input = m_inputs[index];
        if (!data.ends_with(".ppm") && !data.ends_with(".pgm"))
            return makeInput(completedLiteral(data, input), input, index, m_options);
        SONDE_ASSIGN(Tensor picture, pictureTensor(data));
        return fitted(std::move(picture), input, data);
    }

    Result<void> addJson(const std::string& path) {
        SONDE_ASSIGN(const std::shared_ptr<const base::MappedFile> file, base::MappedFile::open(path));
        const auto* text = reinterpret_cast<const char*>(file->bytes().data());
        const Json root = Json::parse(text, text + file->sizeBytes(), nullptr, false);
        SONDE_TRY(base::checkUnchanged({file}, "input file"));
        if (!root.is_object()) return usageError("not an object in JSON", path);
        for (const auto& [name, entry] : root.items()) {
            const auto index = inputNamed(name, m_inputs);
            if (!index) return usageError("the model has no input '" + name + "'", path, listOfNames(m_inputs));
            const std::string where = path + ", \"" + name + '"';
            SONDE_ASSIGN(Tensor tensor, jsonTensor(entry, where));
            SONDE_ASSIGN(Value value, fitted(std::move(tensor), m_inputs[*index], where));
            SONDE_TRY(set(*index, std::move(value)));
        }
        return {};
    }

    Result<void> set(std::size_t index, Value value) {
        if (!m_values[index].isNone())
            return usageError("input '" + m_inputs[index].name + "' is given twice", "--input");
        m_values[index] = std::move(value);
        return {};
    }

    std::vector<InputInfo> m_inputs;
    const InputOptions& m_options;
    bool m_isOnlyOne;
    std::vector<Value> m_values;
};

}  // namespace

Result<std::vector<Value>> toolInputs(std::string_view text, const std::vector<InputInfo>& inputs,
                                      const InputOptions& options, const std::vector<InputInfo>& others) {
    ToolInputs given(inputs, options, others);
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(';'));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        if (!item.empty()) SONDE_TRY(given.add(item));
    }
    return given.take();
}

}  // namespace sonde::io
