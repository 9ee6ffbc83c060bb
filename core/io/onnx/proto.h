#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/io/onnx/wire.h"
#include "core/tensor/type_info.h"

namespace sonde::io::onnx {

// The messages of onnx.proto3 (IR version 13) as far as a reader needs them. Strings and inner messages point into the
// mapped file; tensors and subgraphs stay unread until they are requested.

using StringPairs = std::vector<std::pair<Bytes, Bytes>>;

/// AttributeProto.AttributeType.
enum class AttributeType : int {
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    TypeProto = 13,
    TypeProtos = 14,
};

struct AttributeProto {
    Bytes name;
    Bytes reference;  ///< ref_attr_name: the attribute of the enclosing function whose value this takes
    AttributeType type = AttributeType::Undefined;
    float f = 0;
    std::int64_t i = 0;
    Bytes s;
    std::vector<double> floats;
    std::vector<std::int64_t> ints;
    std::vector<Bytes> strings;
    std::vector<Bytes> tensors;  ///< TensorProto
    std::vector<Bytes> sparse;   ///< SparseTensorProto
    std::vector<Bytes> graphs;   ///< GraphProto
    std::vector<Bytes> types;    ///< TypeProto
};

struct NodeProto {
    Bytes message;
    Bytes name, op, domain, overload, documentation;
    std::vector<Bytes> inputs, outputs;
    std::vector<Bytes> attributes;  ///< AttributeProto
    StringPairs metadata;
};

struct ValueInfoProto {
    Bytes name;
    Bytes type;  ///< TypeProto
    Bytes documentation;
};

struct GraphProto {
    Bytes name, documentation;
    std::vector<NodeProto> nodes;
    std::vector<Bytes> initializers;        ///< TensorProto
    std::vector<Bytes> sparseInitializers;  ///< SparseTensorProto
    std::vector<ValueInfoProto> inputs, outputs, valueInfo;
    StringPairs metadata;
};

using OpsetImports = std::map<std::string, std::int64_t, std::less<>>;  ///< domain ("" for ai.onnx) → version

struct FunctionProto {
    Bytes name, domain, overload, documentation;
    std::vector<Bytes> inputs, outputs;
    std::vector<Bytes> attributeNames;
    std::vector<Bytes> attributeDefaults;  ///< AttributeProto
    std::vector<NodeProto> nodes;
    OpsetImports opsets;
};

struct ModelProto {
    std::int64_t irVersion = 0;
    std::int64_t modelVersion = 0;
    Bytes producer, producerVersion, domain, documentation;
    std::optional<Bytes> graph;  ///< GraphProto
    OpsetImports opsets;
    StringPairs metadata;
    std::vector<FunctionProto> functions;
};

/// StringStringEntryProto: key and value.
std::pair<Bytes, Bytes> readStringPair(Wire& wire, Bytes message);
ModelProto readModel(Wire& wire, Bytes message);
GraphProto readGraph(Wire& wire, Bytes message);
AttributeProto readAttribute(Wire& wire, Bytes message);
/// TypeProto; sequences of sequences and the like only to a depth of 16.
tensor::TypeInfo readType(Wire& wire, Bytes message, int depth = 0);

/// "" and "ai.onnx" are the same domain.
inline std::string_view canonicalDomain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

/// True if `head`, the beginning of a file of `fileSize` bytes, reads as a ModelProto as far as it goes.
bool looksLikeModel(Bytes head, std::size_t fileSize);

}  // namespace sonde::io::onnx
