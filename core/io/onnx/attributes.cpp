#include "core/io/onnx/attributes.h"

namespace sonde::io::onnx {

namespace {

using base::Result;
using tensor::AttributeValue;
using tensor::Shape;
using tensor::Tensor;

Result<AttributeValue> tensorsValue(TensorReader& reader, const std::vector<Bytes>& messages, bool sparse) {
    std::vector<Tensor> tensors;
    for (Bytes message : messages) {
        SONDE_ASSIGN(Tensor tensor, sparse ? reader.readSparse(message) : reader.read(message));
        tensors.push_back(std::move(tensor));
    }
    return AttributeValue(std::move(tensors));
}

Shape vectorShape(std::size_t size) { return Shape{static_cast<std::int64_t>(size)}; }

}  // namespace

Result<AttributeValue> attributeValue(Wire& wire, TensorReader& tensors, const AttributeProto& attribute) {
    const auto lacks = [&attribute] {
        return base::unreadable("attribute '" + std::string(attribute.name) + "' has no value");
    };
    switch (attribute.type) {
        case AttributeType::Float: return AttributeValue(static_cast<double>(attribute.f));
        case AttributeType::Int: return AttributeValue(attribute.i);
        case AttributeType::String: return AttributeValue(std::string(attribute.s));
        case AttributeType::Floats: return AttributeValue(attribute.floats);
        case AttributeType::Ints: return AttributeValue(attribute.ints);
        case AttributeType::Strings:
            return AttributeValue(std::vector<std::string>(attribute.strings.begin(), attribute.strings.end()));
        case AttributeType::Tensor: {
            if (attribute.tensors.empty()) return lacks();
            SONDE_ASSIGN(Tensor tensor, tensors.read(attribute.tensors.front()));
            return AttributeValue(std::move(tensor));
        }
        case AttributeType::SparseTensor: {
            if (attribute.sparse.empty()) return lacks();
            SONDE_ASSIGN(Tensor tensor, tensors.readSparse(attribute.sparse.front()));
            return AttributeValue(std::move(tensor));
        }
        case AttributeType::Tensors: return tensorsValue(tensors, attribute.tensors, false);
        case AttributeType::SparseTensors: return tensorsValue(tensors, attribute.sparse, true);
        case AttributeType::TypeProto:
            if (attribute.types.empty()) return lacks();
            return AttributeValue(readType(wire, attribute.types.front()));
        case AttributeType::TypeProtos: {
            std::vector<tensor::TypeInfo> types;
            for (Bytes message : attribute.types) types.push_back(readType(wire, message));
            return AttributeValue(std::move(types));
        }
        case AttributeType::Graph:
        case AttributeType::Graphs:
        case AttributeType::Undefined: break;
    }
    return lacks();
}

std::optional<Tensor> constantValue(const tensor::Attributes& attributes) {
    if (auto value = attributes.getTensor("value")) return value;
    if (auto value = attributes.getTensor("sparse_value")) return value;
    if (attributes.has("value_float")) return Tensor::scalar(static_cast<float>(attributes.getFloat("value_float", 0)));
    if (attributes.has("value_int")) return Tensor::scalar(attributes.getInt("value_int", 0));
    if (attributes.has("value_string")) return Tensor::ofStrings(Shape{}, {attributes.getString("value_string", "")});
    if (attributes.has("value_ints")) {
        const std::vector<std::int64_t> values = attributes.getInts("value_ints");
        return Tensor::of(vectorShape(values.size()), values);
    }
    if (attributes.has("value_floats")) {
        const std::vector<double> wide = attributes.getFloats("value_floats");
        return Tensor::of(vectorShape(wide.size()), std::vector<float>(wide.begin(), wide.end()));
    }
    if (attributes.has("value_strings")) {
        std::vector<std::string> values = attributes.getStrings("value_strings");
        const Shape shape = vectorShape(values.size());
        return Tensor::ofStrings(shape, std::move(values));
    }
    return std::nullopt;
}

}  // namespace sonde::io::onnx
