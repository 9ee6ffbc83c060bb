#include "core/io/onnx/proto.h"

#include <algorithm>

namespace sonde::io::onnx {

namespace {

using tensor::Dim;
using tensor::DType;
using tensor::TypeInfo;
using tensor::ValueKind;

constexpr int kTypeDepth = 16;

NodeProto readNode(Wire& wire, Bytes message) {
    NodeProto node;
    node.message = message;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: node.inputs.push_back(reader.bytes()); break;
            case 2: node.outputs.push_back(reader.bytes()); break;
            case 3: node.name = reader.bytes(); break;
            case 4: node.op = reader.bytes(); break;
            case 5: node.attributes.push_back(reader.bytes()); break;
            case 6: node.documentation = reader.bytes(); break;
            case 7: node.domain = reader.bytes(); break;
            case 8: node.overload = reader.bytes(); break;
            case 9: node.metadata.push_back(readStringPair(wire, reader.bytes())); break;
            default: reader.skip();
        }
    }
    return node;
}

ValueInfoProto readValueInfo(Wire& wire, Bytes message) {
    ValueInfoProto info;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: info.name = reader.bytes(); break;
            case 2: info.type = reader.bytes(); break;
            case 3: info.documentation = reader.bytes(); break;
            default: reader.skip();
        }
    }
    return info;
}

void readOpset(Wire& wire, Bytes message, OpsetImports& imports) {
    Bytes domain;
    std::int64_t version = 0;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: domain = reader.bytes(); break;
            case 2: version = reader.int64(); break;
            default: reader.skip();
        }
    }
    imports[std::string(canonicalDomain(domain))] = version;
}

FunctionProto readFunction(Wire& wire, Bytes message) {
    FunctionProto function;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: function.name = reader.bytes(); break;
            case 4: function.inputs.push_back(reader.bytes()); break;
            case 5: function.outputs.push_back(reader.bytes()); break;
            case 6: function.attributeNames.push_back(reader.bytes()); break;
            case 7: function.nodes.push_back(readNode(wire, reader.bytes())); break;
            case 8: function.documentation = reader.bytes(); break;
            case 9: readOpset(wire, reader.bytes(), function.opsets); break;
            case 10: function.domain = reader.bytes(); break;
            case 11: function.attributeDefaults.push_back(reader.bytes()); break;
            case 13: function.overload = reader.bytes(); break;
            default: reader.skip();
        }
    }
    return function;
}

DType elementType(Wire& wire, std::int64_t number, Bytes message) {
    if (number >= 0 && number < tensor::kDTypeCount) return static_cast<DType>(number);
    wire.fail("unknown element type " + std::to_string(number), message.data());
    return DType::Undefined;
}

std::vector<Dim> readShape(Wire& wire, Bytes message) {
    std::vector<Dim> shape;
    MessageReader reader(wire, message);
    while (reader.next()) {
        if (reader.tag() != 1) {
            reader.skip();
            continue;
        }
        Dim dim;
        MessageReader inner(wire, reader.bytes());
        while (inner.next()) {
            switch (inner.tag()) {
                case 1: dim.value = std::max<std::int64_t>(inner.int64(), -1); break;
                case 2: dim.symbol = inner.bytes(); break;
                default: inner.skip();
            }
        }
        if (dim.known()) dim.symbol.clear();
        shape.push_back(std::move(dim));
    }
    return shape;
}

/// TypeProto.Tensor and TypeProto.SparseTensor.
TypeInfo readTensorType(Wire& wire, Bytes message) {
    TypeInfo type = TypeInfo::tensor(DType::Undefined);
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: type.dtype = elementType(wire, reader.int64(), message); break;
            case 2: type.shape = readShape(wire, reader.bytes()); break;
            default: reader.skip();
        }
    }
    return type;
}

/// TypeProto.Sequence and TypeProto.Optional: one element type.
TypeInfo readContainerType(Wire& wire, Bytes message, ValueKind kind, int depth) {
    TypeInfo type;
    type.kind = kind;
    MessageReader reader(wire, message);
    while (reader.next()) {
        if (reader.tag() == 1) type.elements = {readType(wire, reader.bytes(), depth + 1)};
        else reader.skip();
    }
    return type;
}

TypeInfo readMapType(Wire& wire, Bytes message, int depth) {
    TypeInfo type;
    type.kind = ValueKind::Dict;
    type.elements.resize(2);
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: {
                const DType key = elementType(wire, reader.int64(), message);
                type.elements[0].kind = key == DType::String ? ValueKind::String : ValueKind::Int;
                break;
            }
            case 2: type.elements[1] = readType(wire, reader.bytes(), depth + 1); break;
            default: reader.skip();
        }
    }
    return type;
}

/// Files of IR version 1 have no attribute type: the field that is filled tells.
AttributeType typeByContent(const AttributeProto& attribute) {
    if (!attribute.graphs.empty()) return AttributeType::Graph;
    if (!attribute.tensors.empty()) return AttributeType::Tensor;
    if (!attribute.floats.empty()) return AttributeType::Floats;
    if (!attribute.ints.empty()) return AttributeType::Ints;
    if (!attribute.strings.empty()) return AttributeType::Strings;
    if (!attribute.types.empty()) return AttributeType::TypeProto;
    return AttributeType::Undefined;
}

}  // namespace

std::pair<Bytes, Bytes> readStringPair(Wire& wire, Bytes message) {
    std::pair<Bytes, Bytes> pair;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: pair.first = reader.bytes(); break;
            case 2: pair.second = reader.bytes(); break;
            default: reader.skip();
        }
    }
    return pair;
}

ModelProto readModel(Wire& wire, Bytes message) {
    ModelProto model;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: model.irVersion = reader.int64(); break;
            case 2: model.producer = reader.bytes(); break;
            case 3: model.producerVersion = reader.bytes(); break;
            case 4: model.domain = reader.bytes(); break;
            case 5: model.modelVersion = reader.int64(); break;
            case 6: model.documentation = reader.bytes(); break;
            case 7: model.graph = reader.bytes(); break;
            case 8: readOpset(wire, reader.bytes(), model.opsets); break;
            case 14: model.metadata.push_back(readStringPair(wire, reader.bytes())); break;
            case 25: model.functions.push_back(readFunction(wire, reader.bytes())); break;
            default: reader.skip();
        }
    }
    return model;
}

/// How many fields with that tag stand before the first error, which the reader of the message finds as well. Nodes
/// that are moved as their list grows cost more than a look at each field.
static std::size_t countFields(Bytes message, std::uint32_t tag) {
    Wire own(message);
    std::size_t count = 0;
    for (MessageReader fields(own, message); fields.next(); fields.skip()) count += fields.tag() == tag ? 1 : 0;
    return count;
}

GraphProto readGraph(Wire& wire, Bytes message) {
    GraphProto graph;
    graph.nodes.reserve(countFields(message, 1));
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: graph.nodes.push_back(readNode(wire, reader.bytes())); break;
            case 2: graph.name = reader.bytes(); break;
            case 5: graph.initializers.push_back(reader.bytes()); break;
            case 10: graph.documentation = reader.bytes(); break;
            case 11: graph.inputs.push_back(readValueInfo(wire, reader.bytes())); break;
            case 12: graph.outputs.push_back(readValueInfo(wire, reader.bytes())); break;
            case 13: graph.valueInfo.push_back(readValueInfo(wire, reader.bytes())); break;
            case 15: graph.sparseInitializers.push_back(reader.bytes()); break;
            case 16: graph.metadata.push_back(readStringPair(wire, reader.bytes())); break;
            default: reader.skip();
        }
    }
    return graph;
}

AttributeProto readAttribute(Wire& wire, Bytes message) {
    AttributeProto attribute;
    AttributeType scalar = AttributeType::Undefined;
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1: attribute.name = reader.bytes(); break;
            case 2:
                attribute.f = reader.float32();
                scalar = AttributeType::Float;
                break;
            case 3:
                attribute.i = reader.int64();
                scalar = AttributeType::Int;
                break;
            case 4:
                attribute.s = reader.bytes();
                scalar = AttributeType::String;
                break;
            case 5:
            case 10: attribute.tensors.push_back(reader.bytes()); break;
            case 6:
            case 11: attribute.graphs.push_back(reader.bytes()); break;
            case 7: reader.eachFloat32([&](float value) { attribute.floats.push_back(value); }); break;
            case 8: reader.eachInt64([&](std::int64_t value) { attribute.ints.push_back(value); }); break;
            case 9: attribute.strings.push_back(reader.bytes()); break;
            case 14:
            case 15: attribute.types.push_back(reader.bytes()); break;
            case 20: {
                const std::int64_t number = reader.int64();
                if (number < 0 || number > 14)
                    wire.fail("unknown attribute type " + std::to_string(number), message.data());
                else attribute.type = static_cast<AttributeType>(number);
                break;
            }
            case 21: attribute.reference = reader.bytes(); break;
            case 22:
            case 23: attribute.sparse.push_back(reader.bytes()); break;
            default: reader.skip();
        }
    }
    if (attribute.type == AttributeType::Undefined) {
        attribute.type = scalar != AttributeType::Undefined ? scalar : typeByContent(attribute);
    }
    return attribute;
}

TypeInfo readType(Wire& wire, Bytes message, int depth) {
    TypeInfo type;
    if (depth > kTypeDepth) {
        wire.fail("types nest too deeply", message.data());
        return type;
    }
    MessageReader reader(wire, message);
    while (reader.next()) {
        switch (reader.tag()) {
            case 1:
            case 8: type = readTensorType(wire, reader.bytes()); break;
            case 4: type = readContainerType(wire, reader.bytes(), ValueKind::Sequence, depth); break;
            case 5: type = readMapType(wire, reader.bytes(), depth); break;
            case 9: type = readContainerType(wire, reader.bytes(), ValueKind::Optional, depth); break;
            default: reader.skip();
        }
    }
    return type;
}

bool looksLikeModel(Bytes head, std::size_t fileSize) {
    // Field numbers of ModelProto with their wire types: 0 varint, 2 length-delimited.
    const auto wireType = [](std::uint32_t tag) -> int {
        switch (tag) {
            case 1:
            case 5: return 0;
            case 2:
            case 3:
            case 4:
            case 6:
            case 7:
            case 8:
            case 14:
            case 20:
            case 25:
            case 26: return 2;
            default: return -1;
        }
    };
    Wire wire(head);
    const char* at = head.data();
    const char* end = at + head.size();
    int fields = 0;
    while (at < end) {
        const char* start = at;
        try {
            const std::uint64_t key = protozero::decode_varint(&at, end);
            if (key > 1000 || static_cast<int>(key & 7) != wireType(static_cast<std::uint32_t>(key >> 3))) return false;
            const std::uint64_t value = protozero::decode_varint(&at, end);
            if ((key & 7) == 2) {
                // The length of the last field may reach past the head; past the file only if it is cut off, and
                // then the fields before it have to speak for themselves.
                if (value > fileSize - wire.offsetOf(at)) return fields > 0;
                if (value >= static_cast<std::uint64_t>(end - at)) return true;
                at += value;
            } else if (key >> 3 == 1 && value > 1000) {
                return false;
            }
            ++fields;
        } catch (const protozero::exception&) {
            return fields > 0 && start != head.data();
        }
    }
    return fields > 0;
}

}  // namespace sonde::io::onnx
