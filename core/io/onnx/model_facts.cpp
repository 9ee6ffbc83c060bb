#include "core/io/onnx/model_facts.h"

#include <set>
#include <string_view>
#include <utility>

#include "core/io/onnx/proto.h"
#include "core/io/onnx/tensor_proto.h"
#include "core/io/onnx/wire.h"

namespace sonde::io {

namespace {

constexpr int kMaxDocDepth = 16;  // of graphs in graphs

/// The documentation in a file, in its order.
class DocStrings {
  public:
    explicit DocStrings(onnx::Wire& wire) : m_wire(wire) {}

    void addGraph(const onnx::GraphProto& graph, const std::string& title, int depth = 0) {
        add(title, graph.documentation);
        for (const onnx::ValueInfoProto& input : graph.inputs) add("input", input.name, input.documentation);
        for (const onnx::ValueInfoProto& output : graph.outputs) add("output", output.name, output.documentation);
        for (const onnx::ValueInfoProto& value : graph.valueInfo) add("value", value.name, value.documentation);
        for (const onnx::Bytes initializer : graph.initializers) addTensor(initializer);
        addNodes(graph.nodes, depth);
    }
    void addFunction(const onnx::FunctionProto& function) {
        add("function", function.name, function.documentation);
        addNodes(function.nodes, 0);
    }
    std::vector<std::pair<std::string, std::string>> take() { return std::move(m_texts); }

  private:
    void add(const std::string& where, onnx::Bytes text) {
        if (!text.empty()) m_texts.emplace_back(where, text);
    }
    void add(const char* kind, onnx::Bytes name, onnx::Bytes text) {
        if (!text.empty()) add(kind + (" '" + std::string(name) + "'"), text);
    }
    /// A TensorProto; its data is passed over.
    void addTensor(onnx::Bytes message) {
        onnx::Bytes name, text;
        onnx::MessageReader reader(m_wire, message);
        while (reader.next()) {
            switch (reader.tag()) {
                case 8: name = reader.bytes(); break;
                case 12: text = reader.bytes(); break;
                default: reader.skip();
            }
        }
        add("initializer", name, text);
    }
    void addNodes(const std::vector<onnx::NodeProto>& nodes, int depth) {
        for (const onnx::NodeProto& node : nodes) {
            const bool isNamed = !node.name.empty() || node.outputs.empty();
            add("node", isNamed ? node.name : node.outputs.front(), node.documentation);
            if (depth >= kMaxDocDepth) continue;
            for (const onnx::Bytes attribute : node.attributes)
                for (const onnx::Bytes graph : onnx::readAttribute(m_wire, attribute).graphs)
                    addGraph(onnx::readGraph(m_wire, graph), "graph in node '" + std::string(node.name) + "'",
                             depth + 1);
        }
    }

    onnx::Wire& m_wire;
    std::vector<std::pair<std::string, std::string>> m_texts;
};

std::vector<std::string> defaultsOf(onnx::Wire& wire, const onnx::GraphProto& graph) {
    std::set<std::string_view> inputs;
    for (const onnx::ValueInfoProto& input : graph.inputs) inputs.insert(input.name);
    onnx::TensorReader tensors(wire, nullptr);
    std::vector<std::string> defaults;
    for (const onnx::Bytes message : graph.initializers)
        if (const onnx::Bytes name = tensors.nameOf(message); inputs.contains(name)) defaults.emplace_back(name);
    return defaults;
}

}  // namespace

OnnxFacts onnxFacts(const base::MappedFile& file) {
    const onnx::Bytes bytes(reinterpret_cast<const char*>(file.bytes().data()), file.sizeBytes());
    onnx::Wire wire(bytes);
    const onnx::ModelProto model = onnx::readModel(wire, bytes);
    OnnxFacts facts;
    facts.producer = model.producer;
    facts.producerVersion = model.producerVersion;
    facts.domain = model.domain;
    facts.documentation = model.documentation;
    facts.irVersion = model.irVersion;
    facts.modelVersion = model.modelVersion;
    for (const auto& [domain, version] : model.opsets)
        facts.opsets.emplace_back(domain.empty() ? "ai.onnx" : domain, version);
    for (const auto& [key, value] : model.metadata) facts.metadata.emplace_back(key, value);
    for (const onnx::FunctionProto& function : model.functions)
        facts.functions.push_back((function.domain.empty() ? "ai.onnx" : std::string(function.domain)) +
                                  "::" + std::string(function.name));
    DocStrings texts(wire);
    if (model.graph) {
        const onnx::GraphProto graph = onnx::readGraph(wire, *model.graph);
        constexpr std::int64_t kFirstWithDefaults = 4;
        if (facts.irVersion >= kFirstWithDefaults) facts.defaults = defaultsOf(wire, graph);
        texts.addGraph(graph, "graph");
    }
    for (const onnx::FunctionProto& function : model.functions) texts.addFunction(function);
    facts.docStrings = texts.take();
    return facts;
}

}  // namespace sonde::io
