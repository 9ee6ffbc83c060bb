#pragma once

#include <QFile>
#include <QString>

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sonde::test::onnxfile {

// Writes small ONNX files field by field (onnx.proto), so that tests can make models that no exporter would.

using Pairs = std::vector<std::pair<std::string, std::string>>;

inline void addPairs(protozero::pbf_writer& writer, int tag, const Pairs& pairs) {
    for (const auto& [key, value] : pairs) {
        std::string entry;
        protozero::pbf_writer pair(entry);
        pair.add_string(1, key);
        pair.add_string(2, value);
        writer.add_message(static_cast<protozero::pbf_tag_type>(tag), entry);
    }
}

struct Node {
    std::string op;
    std::vector<std::string> inputs, outputs;
    std::string name = {};
    std::string domain = {};
    std::vector<std::string> attributes = {};  ///< serialised AttributeProto
    Pairs metadata = {};

    std::string bytes() const {
        std::string data;
        protozero::pbf_writer writer(data);
        for (const std::string& input : inputs) writer.add_string(1, input);
        for (const std::string& output : outputs) writer.add_string(2, output);
        writer.add_string(3, name);
        writer.add_string(4, op);
        for (const std::string& attribute : attributes) writer.add_message(5, attribute);
        writer.add_string(7, domain);
        addPairs(writer, 9, metadata);
        return data;
    }
};

inline std::string intAttribute(const std::string& name, std::int64_t value) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_int64(3, value);
    writer.add_enum(20, 2);
    return data;
}

inline std::string intsAttribute(const std::string& name, const std::vector<std::int64_t>& values) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    for (std::int64_t value : values) writer.add_int64(8, value);
    writer.add_enum(20, 7);
    return data;
}

inline std::string floatAttribute(const std::string& name, float value) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_float(2, value);
    writer.add_enum(20, 1);
    return data;
}

inline std::string stringAttribute(const std::string& name, const std::string& value) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_string(4, value);
    writer.add_enum(20, 3);
    return data;
}

inline std::string stringsAttribute(const std::string& name, const std::vector<std::string>& values) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    for (const std::string& value : values) writer.add_string(9, value);
    writer.add_enum(20, 8);
    return data;
}

inline std::string referenceAttribute(const std::string& name, const std::string& reference, int type) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_enum(20, type);
    writer.add_string(21, reference);
    return data;
}

inline std::string graphAttribute(const std::string& name, const std::string& graph) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_message(6, graph);
    writer.add_enum(20, 5);
    return data;
}

/// ValueInfoProto of a tensor; negative dim sizes are symbols "N".
inline std::string valueInfo(const std::string& name, int dtype, const std::vector<std::int64_t>& dims) {
    std::string shape;
    protozero::pbf_writer shapeWriter(shape);
    for (std::int64_t dim : dims) {
        std::string one;
        protozero::pbf_writer writer(one);
        if (dim < 0) writer.add_string(2, "N");
        else writer.add_int64(1, dim);
        shapeWriter.add_message(1, one);
    }
    std::string tensor;
    protozero::pbf_writer tensorWriter(tensor);
    tensorWriter.add_enum(1, dtype);
    tensorWriter.add_message(2, shape);
    std::string type;
    protozero::pbf_writer(type).add_message(1, tensor);
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, name);
    writer.add_message(2, type);
    return data;
}

/// TensorProto with raw data.
inline std::string rawTensor(const std::string& name, int dtype, const std::vector<std::int64_t>& dims,
                             const std::string& raw) {
    std::string data;
    protozero::pbf_writer writer(data);
    for (std::int64_t dim : dims) writer.add_int64(1, dim);
    writer.add_enum(2, dtype);
    writer.add_string(8, name);
    writer.add_bytes(9, raw);
    return data;
}

inline std::string externalTensor(const std::string& name, const std::vector<std::int64_t>& dims,
                                  const Pairs& external) {
    std::string data;
    protozero::pbf_writer writer(data);
    for (std::int64_t dim : dims) writer.add_int64(1, dim);
    writer.add_enum(2, 1);
    writer.add_string(8, name);
    addPairs(writer, 13, external);
    writer.add_enum(14, 1);
    return data;
}

struct Graph {
    std::vector<Node> nodes;
    std::vector<std::string> inputs, outputs;    ///< serialised ValueInfoProto
    std::vector<std::string> initializers = {};  ///< serialised TensorProto
    std::vector<std::string> sparse = {};
    std::string name = "graph";

    std::string bytes() const {
        std::string data;
        protozero::pbf_writer writer(data);
        for (const Node& node : nodes) writer.add_message(1, node.bytes());
        writer.add_string(2, name);
        for (const std::string& tensor : initializers) writer.add_message(5, tensor);
        for (const std::string& info : inputs) writer.add_message(11, info);
        for (const std::string& info : outputs) writer.add_message(12, info);
        for (const std::string& tensor : sparse) writer.add_message(15, tensor);
        return data;
    }
};

inline std::string opset(const std::string& domain, std::int64_t version) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_string(1, domain);
    writer.add_int64(2, version);
    return data;
}

struct Function {
    std::string name, domain;
    std::vector<std::string> inputs, outputs;
    std::vector<Node> nodes;
    std::vector<std::string> attributeNames = {};

    std::string bytes() const {
        std::string data;
        protozero::pbf_writer writer(data);
        writer.add_string(1, name);
        for (const std::string& input : inputs) writer.add_string(4, input);
        for (const std::string& output : outputs) writer.add_string(5, output);
        for (const std::string& attribute : attributeNames) writer.add_string(6, attribute);
        for (const Node& node : nodes) writer.add_message(7, node.bytes());
        writer.add_message(9, opset("", 16));
        writer.add_string(10, domain);
        return data;
    }
};

inline std::string model(const Graph& graph, const std::vector<Function>& functions = {},
                         const std::vector<std::string>& opsets = {opset("", 16)}) {
    std::string data;
    protozero::pbf_writer writer(data);
    writer.add_int64(1, 8);
    writer.add_string(2, "tests");
    writer.add_message(7, graph.bytes());
    for (const std::string& import : opsets) writer.add_message(8, import);
    for (const Function& function : functions) writer.add_message(25, function.bytes());
    return data;
}

inline bool write(const QString& path, const std::string& bytes) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) &&
           file.write(bytes.data(), static_cast<qint64>(bytes.size())) == static_cast<qint64>(bytes.size());
}

}  // namespace sonde::test::onnxfile
