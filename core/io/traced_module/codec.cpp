#include "core/io/traced_module/codec.h"

#include <algorithm>

#include "core/base/number_text.h"
#include "core/tensor/bool_bytes.h"
#include "core/tensor/ellipsis_value.h"
#include "core/tensor/slice_value.h"

namespace sonde::io::tm {

using tensor::Value;
using tensor::ValueKind;
using trace::Operand;
using trace::Structure;

namespace {

constexpr int kMaxDepth = 200;

void checkDepth(int depth) {
    if (depth > kMaxDepth) throw CodecError{base::unreadable("values nest too deeply")};
}

[[noreturn]] void unknown(const char* what) {
    throw CodecError{base::unreadable(std::string("unknown form of a ") + what)};
}

Json objectJson(const Value& value, TensorTable& tensors) {
    if (dynamic_cast<const tensor::EllipsisValue*>(value.object().get())) return {{"e", 0}};
    if (const auto* slice = dynamic_cast<const tensor::SliceValue*>(value.object().get())) {
        return {
            {"s", {toJson(slice->start(), tensors), toJson(slice->stop(), tensors), toJson(slice->step(), tensors)}}};
    }
    const std::string type = value.object()->typeName();
    const trace::SupportedType* supported = trace::supportedType(type);
    if (!supported || !supported->save) {
        throw CodecError{base::usageError("a value of type " + type + " cannot be saved", {},
                                          "call registerSupportedType(\"" + type + "\") with save and load first")};
    }
    return {{"o", {type, supported->save(*value.object())}}};
}

template <typename Items, typename Text>
Json listJson(const Items& items, Text&& text) {
    Json list = Json::array();
    for (const auto& item : items) list.push_back(text(item));
    return list;
}

}  // namespace

std::size_t TensorTable::add(const tensor::Tensor& tensor) {
    std::vector<std::size_t>& begun = m_begins[{tensor.storage().get(), tensor.offsetElements()}];
    for (const std::size_t i : begun) {
        const tensor::Tensor& known = m_tensors[i];
        if (known.dtype() == tensor.dtype() && known.shape() == tensor.shape() && known.strides() == tensor.strides())
            return i;
    }
    m_tensors.push_back(tensor);
    return begun.emplace_back(m_tensors.size() - 1);
}

Json toJson(const Value& value, TensorTable& tensors) {
    const auto each = [&](const Value& item) { return toJson(item, tensors); };
    switch (value.kind()) {
        case ValueKind::None: return nullptr;
        case ValueKind::Bool: return value.toBool();
        case ValueKind::Int: return value.toInt();
        case ValueKind::Float: return {{"f", trace::pythonText(value)}};
        case ValueKind::String: return value.toString();
        case ValueKind::Tensor: return {{"x", tensors.add(value.tensor())}};
        case ValueKind::List: return {{"l", listJson(value.items(), each)}};
        case ValueKind::Tuple: return {{"t", listJson(value.items(), each)}};
        case ValueKind::Sequence: return {{"q", listJson(value.items(), each)}};
        case ValueKind::Optional: return {{"p", listJson(value.items(), each)}};
        case ValueKind::Dict:
            return {{"d", listJson(value.dictItems(), [&](const auto& entry) {
                         return Json::array({each(entry.first), each(entry.second)});
                     })}};
        case ValueKind::Object: break;
    }
    return objectJson(value, tensors);
}

Value valueFrom(const Json& json, const std::vector<tensor::Tensor>& tensors, int depth) {
    checkDepth(depth);
    if (json.is_null()) return {};
    if (json.is_boolean()) return Value::ofBool(json.get<bool>());
    if (json.is_number_integer()) return Value::ofInt(json.get<std::int64_t>());
    if (json.is_string()) return Value(json.get<std::string>());
    if (!json.is_object() || json.size() != 1) unknown("value");
    const std::string key = json.begin().key();
    const Json& body = json.begin().value();
    const auto items = [&] {
        tensor::ValueList list;
        for (const Json& item : body) list.push_back(valueFrom(item, tensors, depth + 1));
        return list;
    };
    if (key == "f") {
        const auto number = base::parseNumber<double>(body.get<std::string>());
        if (!number) unknown("number");
        return Value::ofFloat(*number);
    }
    if (key == "x") return Value(elementAt(tensors, body));
    if (key == "l") return Value::list(items());
    if (key == "t") return Value::tuple(items());
    if (key == "q") return Value::sequence(items());
    if (key == "p") {
        tensor::ValueList itemOrNothing = items();
        if (itemOrNothing.size() > 1) unknown("optional");
        return Value::optional(std::move(itemOrNothing));
    }
    if (key == "e") return Value::object(std::make_shared<tensor::EllipsisValue>());
    if (key == "s") {
        const tensor::ValueList parts = items();
        if (parts.size() != 3) unknown("slice");
        return Value::object(std::make_shared<tensor::SliceValue>(parts[0], parts[1], parts[2]));
    }
    if (key == "d") {
        tensor::ValueDict dict;
        for (const Json& entry : body)
            dict.emplace_back(valueFrom(entry.at(0), tensors, depth + 1), valueFrom(entry.at(1), tensors, depth + 1));
        return Value::dict(std::move(dict));
    }
    if (key == "o") {
        const auto type = body.at(0).get<std::string>();
        const trace::SupportedType* supported = trace::supportedType(type);
        if (!supported || !supported->load) {
            throw CodecError{base::unreadable("the file has a value of type " + type, {},
                                              "call registerSupportedType(\"" + type + "\") first")};
        }
        return supported->load(body.at(1).get<std::string>());
    }
    unknown("value");
}

Json toJson(const Structure& structure, TensorTable& tensors) {
    const auto each = [&](const Structure& item) { return toJson(item, tensors); };
    switch (structure.kind) {
        case Structure::Kind::Tensor: return "T";
        case Structure::Kind::Module: return "M";
        case Structure::Kind::Number: return "N";
        case Structure::Kind::Constant: return {{"c", toJson(structure.constant, tensors)}};
        case Structure::Kind::List: return {{"l", listJson(structure.items, each)}};
        case Structure::Kind::Tuple: return {{"t", listJson(structure.items, each)}};
        case Structure::Kind::Slice: return {{"s", listJson(structure.items, each)}};
        case Structure::Kind::Custom: return {{"o", {structure.typeName, listJson(structure.items, each)}}};
        case Structure::Kind::Dict: break;
    }
    Json entries = Json::array();
    for (std::size_t i = 0; i < structure.items.size(); ++i)
        entries.push_back({toJson(structure.keys[i], tensors), each(structure.items[i])});
    return {{"d", entries}};
}

Structure structureFrom(const Json& json, const std::vector<tensor::Tensor>& tensors, int depth) {
    checkDepth(depth);
    Structure structure;
    if (json == "T") return structure;
    if (json == "M" || json == "N") {
        structure.kind = json == "M" ? Structure::Kind::Module : Structure::Kind::Number;
        return structure;
    }
    if (!json.is_object() || json.size() != 1) unknown("structure");
    const std::string key = json.begin().key();
    const Json& body = json.begin().value();
    const auto addItems = [&](const Json& list) {
        for (const Json& item : list) structure.items.push_back(structureFrom(item, tensors, depth + 1));
    };
    if (key == "c") {
        structure.kind = Structure::Kind::Constant;
        structure.constant = valueFrom(body, tensors, depth + 1);
    } else if (key == "l" || key == "t" || key == "s") {
        structure.kind = key == "l"   ? Structure::Kind::List
                         : key == "t" ? Structure::Kind::Tuple
                                      : Structure::Kind::Slice;
        addItems(body);
        if (key == "s" && structure.items.size() != 3) unknown("slice");
    } else if (key == "o") {
        structure.kind = Structure::Kind::Custom;
        structure.typeName = body.at(0).get<std::string>();
        const trace::SupportedType* supported = trace::supportedType(structure.typeName);
        if (!supported || !supported->flatten) {
            throw CodecError{base::unreadable("the file takes arguments of type " + structure.typeName, {},
                                              "call registerSupportedType first")};
        }
        addItems(body.at(1));
    } else if (key == "d") {
        structure.kind = Structure::Kind::Dict;
        for (const Json& entry : body) {
            structure.keys.push_back(valueFrom(entry.at(0), tensors, depth + 1));
            structure.items.push_back(structureFrom(entry.at(1), tensors, depth + 1));
        }
    } else {
        unknown("structure");
    }
    return structure;
}

Json toJson(const Operand& operand, const std::function<std::size_t(const trace::TracedNode&)>& number,
            TensorTable& tensors) {
    const auto each = [&](const Operand& item) { return toJson(item, number, tensors); };
    switch (operand.kind) {
        case Operand::Kind::Node: return {{"n", number(*operand.node)}};
        case Operand::Kind::Constant: return {{"c", toJson(operand.constant, tensors)}};
        case Operand::Kind::List: return {{"l", listJson(operand.items, each)}};
        case Operand::Kind::Tuple: return {{"t", listJson(operand.items, each)}};
        case Operand::Kind::Slice: return {{"s", listJson(operand.items, each)}};
        case Operand::Kind::Dict: break;
    }
    Json entries = Json::array();
    for (std::size_t i = 0; i < operand.items.size(); ++i)
        entries.push_back({toJson(operand.keys[i], tensors), each(operand.items[i])});
    return {{"d", entries}};
}

Operand operandFrom(const Json& json, const std::vector<trace::TracedNode*>& nodes,
                    const std::vector<tensor::Tensor>& tensors, int depth) {
    checkDepth(depth);
    if (!json.is_object() || json.size() != 1) unknown("argument");
    const std::string key = json.begin().key();
    const Json& body = json.begin().value();
    if (key == "n") return Operand(elementAt(nodes, body));
    if (key == "c") {
        Operand operand;
        operand.constant = valueFrom(body, tensors, depth + 1);
        return operand;
    }
    std::vector<Operand> items;
    std::vector<Value> keys;
    if (key == "d") {
        for (const Json& entry : body) {
            keys.push_back(valueFrom(entry.at(0), tensors, depth + 1));
            items.push_back(operandFrom(entry.at(1), nodes, tensors, depth + 1));
        }
        return Operand::container(Operand::Kind::Dict, std::move(items), std::move(keys));
    }
    if (key != "l" && key != "t" && key != "s") unknown("argument");
    for (const Json& item : body) items.push_back(operandFrom(item, nodes, tensors, depth + 1));
    if (key == "s" && items.size() != 3) unknown("slice");
    return Operand::container(key == "l"   ? Operand::Kind::List
                              : key == "t" ? Operand::Kind::Tuple
                                           : Operand::Kind::Slice,
                              std::move(items));
}

Json toJson(const tensor::TypeInfo& type) {
    if (!type.kind) return nullptr;
    if (!type.isTensor()) return {{"kind", static_cast<int>(*type.kind)}};
    Json json{{"dtype", std::string(tensor::name(type.dtype))}};
    if (type.shape) {
        Json dims = Json::array();
        for (const tensor::Dim& dim : *type.shape) dims.push_back(dim.value);
        json["shape"] = dims;
    }
    return json;
}

tensor::TypeInfo typeFrom(const Json& json) {
    if (json.is_null()) return {};
    if (json.contains("kind")) {
        const int kind = json.at("kind").get<int>();
        if (kind < 0 || kind > static_cast<int>(tensor::ValueKind::Object)) unknown("type");
        tensor::TypeInfo type;
        type.kind = static_cast<tensor::ValueKind>(kind);
        return type;
    }
    const auto dtype = tensor::dtypeFromName(json.at("dtype").get<std::string>());
    std::optional<std::vector<tensor::Dim>> dims;
    if (json.contains("shape")) {
        dims.emplace();
        for (const Json& dim : json.at("shape")) {
            const auto dimSize = dim.get<std::int64_t>();
            dims->push_back(dimSize >= 0 ? tensor::Dim::of(dimSize) : tensor::Dim{});
        }
    }
    return tensor::TypeInfo::tensor(dtype.value_or(tensor::DType::Undefined), std::move(dims));
}

tensor::Tensor tensorOn(std::span<const std::byte> bytes, tensor::DType dtype, tensor::Shape shape,
                        const std::shared_ptr<const void>& owner) {
    const std::size_t item = tensor::itemSize(dtype), alignment = tensor::isComplex(dtype) ? item / 2 : item;
    const bool isAligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0;
    const bool isClean = dtype != tensor::DType::Bool || tensor::areBools(bytes);
    if (isAligned && isClean)
        return tensor::Tensor::onStorage(dtype, std::move(shape),
                                         tensor::Storage::view(bytes.data(), bytes.size(), owner));
    auto copy = tensor::Tensor::allocate(dtype, std::move(shape));
    if (!copy) throw CodecError{copy.error()};
    std::ranges::transform(bytes, copy->mutableBytes(),
                           [&](std::byte b) { return isClean || b == std::byte{0} ? b : std::byte{1}; });
    return std::move(*copy);
}

}  // namespace sonde::io::tm
