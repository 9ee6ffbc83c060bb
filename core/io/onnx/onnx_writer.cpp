#include "core/io/onnx/onnx_writer.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <set>
#include <vector>

#include "core/base/replaced_file.h"
#include "core/graph/edit_origin.h"
#include "core/io/onnx/node_metadata.h"
#include "core/io/onnx/proto.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using onnx::AttributeType;
using protozero::pbf_writer;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::ValueKind;

constexpr std::size_t kDataAlignment = 4096;  ///< of tensors in the data file, so that they can be mapped alone

/// Weights that go into the file beside the model.
struct DataFile {
    std::string name;
    std::ofstream stream;
    std::uint64_t size = 0;
};

/// Elements of fewer than eight bits share bytes, lowest bits first.
std::string rawBytes(const Tensor& tensor) {
    const std::size_t bits = tensor::bitsInFile(tensor.dtype());
    const auto* bytes = reinterpret_cast<const char*>(tensor.bytes());
    if (tensor.numel() == 0) return {};
    if (bits >= 8) return {bytes, tensor.sizeBytes()};
    const auto count = static_cast<std::size_t>(tensor.numel());
    std::string packed((count * bits + 7) / 8, '\0');
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned value = static_cast<unsigned char>(bytes[i]) & ((1u << bits) - 1);
        packed[i * bits / 8] =
            static_cast<char>(static_cast<unsigned char>(packed[i * bits / 8]) | value << (i * bits % 8));
    }
    return packed;
}

class Writer {
  public:
    Writer(const InternalGraph& graph, const OnnxWriteOptions& options, const base::WorkContext& work)
        : m_graph(graph), m_options(options), m_work(work) {}

    Result<std::string> model(DataFile* data) {
        m_data = data;
        SONDE_TRY(checkOperators());
        std::string graphBytes;
        pbf_writer graphWriter(graphBytes);
        SONDE_TRY(writeGraph(graphWriter, m_graph.mainId(), m_graph.name.empty() ? "graph" : m_graph.name));
        std::string bytes;
        pbf_writer writer(bytes);
        writer.add_int64(1, std::max(m_options.irVersion, m_irVersion));
        writer.add_string(2, std::string(kOnnxProducer));
        writer.add_message(7, graphBytes);
        if (m_opsets.empty()) m_opsets.emplace("", 16);
        for (const auto& [domain, version] : m_opsets) {
            std::string opset;
            pbf_writer opsetWriter(opset);
            opsetWriter.add_string(1, domain);
            opsetWriter.add_int64(2, version);
            writer.add_message(8, opset);
        }
        return bytes;
    }

  private:
    /// What an ONNX file cannot say is found before anything is written.
    Result<void> checkOperators() {
        std::size_t wrong = 0;
        std::string first;
        for (ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || isInitializer(expr)) continue;
            const bool foreign = expr.op.domain == "aten" || expr.op.domain == "prim" || expr.op.domain == "torch";
            if (expr.op.name.empty() || foreign || !expr.keywords.empty()) {
                if (wrong++ == 0)
                    first = expr.target +
                            (expr.outputs.empty() ? "" : " '" + m_graph.node(expr.outputs.front()).name + "'");
                continue;
            }
            const auto [known, added] = m_opsets.emplace(expr.op.domain, expr.op.version);
            if (!added && known->second != expr.op.version) {
                return usageError("the graph uses two versions of the operators of domain '" + expr.op.domain + "'",
                                  first, "an ONNX file has one version for each domain");
            }
        }
        if (wrong == 0) return {};
        return usageError(std::to_string(wrong) + " operations of the graph are not ONNX operators", first,
                          "only graphs of ONNX operators can be saved as ONNX");
    }

    /// Constants that stand for themselves: weights, and what no Constant operator of the file made.
    bool isInitializer(const Expr& expr) const {
        return (expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr) && expr.op.name.empty() &&
               !expr.outputs.empty() && m_graph.node(expr.outputs.front()).constant &&
               m_graph.node(expr.outputs.front()).constant->isTensor();
    }

    Result<void> writeGraph(pbf_writer& writer, BodyId bodyId, const std::string& name) {
        const graph::Body& body = m_graph.body(bodyId);
        for (ExprId id : body.order) {
            if (m_work.cancelled()) return base::cancelled("writing the model");
            const Expr& expr = m_graph.expr(id);
            if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || isInitializer(expr)) continue;
            SONDE_ASSIGN(const std::string node, nodeBytes(expr));
            writer.add_message(1, node);
        }
        writer.add_string(2, name);
        for (ExprId id : body.order) {
            const Expr& expr = m_graph.expr(id);
            if (!isInitializer(expr)) continue;
            const graph::Node& node = m_graph.node(expr.outputs.front());
            SONDE_ASSIGN(std::string bytes, tensorBytes(node.constant->tensor(), node.name, true));
            if (const std::string edited = graph::editedWeightOf(expr); !edited.empty()) {
                pbf_writer tensor(bytes);
                addMetadata(tensor, onnx::kTensorMetadata, onnx::kEditKey, edited);
            }
            writer.add_message(5, bytes);
        }
        for (NodeId input : body.inputs) writer.add_message(11, valueInfo(input));
        for (NodeId output : body.outputs) writer.add_message(12, valueInfo(output));
        for (ExprId id : body.order) {
            const Expr& expr = m_graph.expr(id);
            if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || expr.kind == ExprKind::Constant)
                continue;
            for (NodeId output : expr.outputs) {
                const bool isOutput = std::find(body.outputs.begin(), body.outputs.end(), output) != body.outputs.end();
                if (!isOutput && isSayable(m_graph.node(output).type)) writer.add_message(13, valueInfo(output));
            }
        }
        return {};
    }

    Result<std::string> nodeBytes(const Expr& expr) {
        std::string bytes;
        pbf_writer writer(bytes);
        for (const Argument& argument : expr.arguments) {
            if (argument.kind == Argument::Kind::Node) {
                writer.add_string(1, m_graph.node(argument.node).name);
            } else if (argument.kind == Argument::Kind::Omitted ||
                       (argument.kind == Argument::Kind::Constant && argument.constant.isNone())) {
                writer.add_string(1, "");
            } else {
                return usageError("an argument of '" + expr.target + "' is not a node of the graph", expr.name);
            }
        }
        for (NodeId output : expr.outputs) writer.add_string(2, m_graph.node(output).name);
        if (!expr.name.empty()) writer.add_string(3, uniqueName(expr.name));
        writer.add_string(4, expr.op.name);
        for (const tensor::Attribute& attribute : expr.attributes.items()) {
            SONDE_ASSIGN(const std::string attributeMessage, attributeBytes(expr, attribute));
            writer.add_message(5, attributeMessage);
        }
        if (!expr.op.domain.empty()) writer.add_string(7, expr.op.domain);
        if (m_options.keepModules) writeModules(writer, expr);
        if (const std::string edited = graph::editedNodeOf(expr); !edited.empty())
            addMetadata(writer, onnx::kNodeMetadata, onnx::kEditKey, edited);
        return bytes;
    }

    static void addMetadata(pbf_writer& writer, protozero::pbf_tag_type tag, std::string_view key,
                            const std::string& value) {
        std::string entry;
        pbf_writer pair(entry);
        pair.add_string(1, key.data(), key.size());
        pair.add_string(2, value);
        writer.add_message(tag, entry);
    }

    /// The modules around a node, outermost first, as lists in Python's notation.
    void writeModules(pbf_writer& writer, const Expr& expr) const {
        // Where others name modules, those of the root say that they have none: a reader would guess from their names.
        if (expr.scope == m_graph.rootScope() && m_graph.scopeCount() < 2) return;
        std::vector<const graph::Scope*> chain;
        for (graph::ScopeId scope = expr.scope; scope.valid(); scope = m_graph.scope(scope).parent) {
            chain.push_back(&m_graph.scope(scope));
        }
        std::ranges::reverse(chain);
        // Every level repeats the path of those above it; readers (qualnames.cpp among them) take no deeper ones.
        constexpr std::size_t kMaxLevels = 256;
        chain.resize(std::min(chain.size(), kMaxLevels));
        const auto quoted = [](const std::string& text) {
            std::string result = "'";
            for (char c : text) result += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
            return result + "'";
        };
        std::string names, classes;
        for (const graph::Scope* scope : chain) {
            names += quoted(scope->qualname + (scope->call > 0 ? "@" + std::to_string(scope->call) : "")) + ", ";
            classes += quoted(scope->moduleClass) + ", ";
        }
        addMetadata(writer, onnx::kNodeMetadata, "pkg.torch.onnx.name_scopes", "[" + names + quoted(expr.name) + "]");
        addMetadata(writer, onnx::kNodeMetadata, "pkg.torch.onnx.class_hierarchy",
                    "[" + classes + quoted(expr.op.name) + "]");
    }

    Result<std::string> attributeBytes(const Expr& expr, const tensor::Attribute& attribute) {
        std::string bytes;
        pbf_writer writer(bytes);
        writer.add_string(1, attribute.name);
        const auto type = [&writer](AttributeType value) { writer.add_enum(20, static_cast<int>(value)); };
        const tensor::AttributeValue& value = attribute.value;
        if (const auto* i = std::get_if<std::int64_t>(&value)) {
            writer.add_int64(3, *i);
            type(AttributeType::Int);
        } else if (const auto* f = std::get_if<double>(&value)) {
            writer.add_float(2, static_cast<float>(*f));
            type(AttributeType::Float);
        } else if (const auto* s = std::get_if<std::string>(&value)) {
            writer.add_bytes(4, *s);
            type(AttributeType::String);
        } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&value)) {
            writer.add_packed_int64(8, ints->begin(), ints->end());
            type(AttributeType::Ints);
        } else if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
            const std::vector<float> narrow(floats->begin(), floats->end());
            writer.add_packed_float(7, narrow.begin(), narrow.end());
            type(AttributeType::Floats);
        } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
            for (const std::string& text : *strings) writer.add_bytes(9, text);
            type(AttributeType::Strings);
        } else if (const auto* one = std::get_if<Tensor>(&value)) {
            SONDE_ASSIGN(const std::string message, tensorBytes(*one, "", expr.op.name == "Constant"));
            writer.add_message(5, message);
            type(AttributeType::Tensor);
        } else if (const auto* tensors = std::get_if<std::vector<Tensor>>(&value)) {
            for (const Tensor& tensor : *tensors) {
                SONDE_ASSIGN(const std::string message, tensorBytes(tensor, "", false));
                writer.add_message(10, message);
            }
            type(AttributeType::Tensors);
        } else if (const auto* typeInfo = std::get_if<TypeInfo>(&value)) {
            writer.add_message(14, typeBytes(*typeInfo));
            type(AttributeType::TypeProto);
        } else if (const auto* types = std::get_if<std::vector<TypeInfo>>(&value)) {
            for (const TypeInfo& info : *types) writer.add_message(15, typeBytes(info));
            type(AttributeType::TypeProtos);
        } else if (const auto* body = std::get_if<tensor::BodyRef>(&value)) {
            SONDE_TRY(addBody(writer, 6, expr, body->index, attribute.name));
            type(AttributeType::Graph);
        } else if (const auto* bodies = std::get_if<std::vector<tensor::BodyRef>>(&value)) {
            for (const tensor::BodyRef& reference : *bodies)
                SONDE_TRY(addBody(writer, 11, expr, reference.index, attribute.name));
            type(AttributeType::Graphs);
        } else {
            return usageError("attribute '" + attribute.name + "' refers to a function's attribute", expr.name);
        }
        return bytes;
    }

    Result<void> addBody(pbf_writer& writer, protozero::pbf_tag_type tag, const Expr& expr, std::size_t index,
                         const std::string& name) {
        if (index >= expr.bodies.size()) return usageError("attribute '" + name + "' names a missing body", expr.name);
        std::string bytes;
        pbf_writer graphWriter(bytes);
        SONDE_TRY(writeGraph(graphWriter, expr.bodies[index], name));
        writer.add_message(tag, bytes);
        return {};
    }

    Result<std::string> tensorBytes(const Tensor& source, const std::string& name, bool mayBeExternal) {
        SONDE_ASSIGN(const Tensor tensor, source.contiguous());
        if (tensor.dtype() > DType::Int4) m_irVersion = std::max<std::int64_t>(m_irVersion, 13);
        std::string bytes;
        pbf_writer writer(bytes);
        writer.add_packed_int64(1, tensor.shape().begin(), tensor.shape().end());
        writer.add_enum(2, static_cast<int>(tensor.dtype()));
        if (!name.empty()) writer.add_string(8, name);
        if (tensor.dtype() == DType::String) {
            for (const std::string& text : tensor.strings()) writer.add_bytes(6, text);
        } else if (mayBeExternal && m_data &&
                   static_cast<std::int64_t>(tensor.sizeBytes()) >= m_options.externalFromBytes) {
            writeExternal(writer, rawBytes(tensor));
        } else {
            writer.add_bytes(9, rawBytes(tensor));
        }
        return bytes;
    }

    void writeExternal(pbf_writer& writer, const std::string& raw) {
        const std::uint64_t offset = (m_data->size + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
        m_data->stream << std::string(offset - m_data->size, '\0');
        m_data->stream.write(raw.data(), static_cast<std::streamsize>(raw.size()));
        m_data->size = offset + raw.size();
        for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", m_data->name},
                                         {"offset", std::to_string(offset)},
                                         {"length", std::to_string(raw.size())}}) {
            std::string entry;
            pbf_writer pair(entry);
            pair.add_string(1, key);
            pair.add_string(2, value);
            writer.add_message(13, entry);
        }
        writer.add_enum(14, 1);
    }

    /// Readers want different names for all nodes; what was written out of a loop has the same ones.
    std::string uniqueName(const std::string& wanted) {
        std::string name = wanted;
        int& last = m_lastNumbers.try_emplace(wanted, 1).first->second;
        while (!m_names.insert(name).second) name = wanted + "_" + std::to_string(++last);
        return name;
    }

    /// A type that a file can say: an element type that is not known has no place in it.
    static bool isSayable(const TypeInfo& type) {
        if (!type.kind) return false;
        if (*type.kind == ValueKind::Tensor) return type.dtype != DType::Undefined;
        if (*type.kind == ValueKind::Dict) return type.elements.size() > 1 && isSayable(type.elements[1]);
        return !type.elements.empty() && isSayable(type.elements.front());
    }

    std::string valueInfo(NodeId id) const {
        const graph::Node& node = m_graph.node(id);
        std::string bytes;
        pbf_writer writer(bytes);
        writer.add_string(1, node.name);
        if (isSayable(node.type)) writer.add_message(2, typeBytes(node.type));
        return bytes;
    }

    std::string typeBytes(const TypeInfo& type) const {
        std::string bytes;
        pbf_writer writer(bytes);
        std::string inner;
        pbf_writer innerWriter(inner);
        if (!type.kind) return bytes;
        switch (*type.kind) {
            case ValueKind::Sequence:
            case ValueKind::List:
            case ValueKind::Optional:
                innerWriter.add_message(1, type.elements.empty() ? std::string() : typeBytes(type.elements.front()));
                writer.add_message(type.kind == ValueKind::Optional ? 9 : 4, inner);
                break;
            case ValueKind::Dict:
                innerWriter.add_enum(
                    1, static_cast<int>(!type.elements.empty() && type.elements[0].kind == ValueKind::String
                                            ? DType::String
                                            : DType::Int64));
                innerWriter.add_message(2, type.elements.size() > 1 ? typeBytes(type.elements[1]) : std::string());
                writer.add_message(5, inner);
                break;
            case ValueKind::Tensor:
                innerWriter.add_enum(1, static_cast<int>(type.dtype));
                if (type.shape) innerWriter.add_message(2, shapeBytes(*type.shape));
                writer.add_message(1, inner);
                break;
            default: break;
        }
        return bytes;
    }

    static std::string shapeBytes(const std::vector<tensor::Dim>& shape) {
        std::string bytes;
        pbf_writer writer(bytes);
        for (const tensor::Dim& dim : shape) {
            std::string one;
            pbf_writer dimWriter(one);
            if (dim.known()) dimWriter.add_int64(1, dim.value);
            else if (!dim.symbol.empty()) dimWriter.add_string(2, dim.symbol);
            writer.add_message(1, one);
        }
        return bytes;
    }

    const InternalGraph& m_graph;
    const OnnxWriteOptions& m_options;
    const base::WorkContext& m_work;
    DataFile* m_data = nullptr;
    std::set<std::string> m_names;
    std::map<std::string, int> m_lastNumbers;  ///< that were put behind a name
    std::map<std::string, int> m_opsets;
    std::int64_t m_irVersion = 0;
};

std::int64_t weightBytes(const InternalGraph& graph) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const auto& constant = graph.node(NodeId(i)).constant;
        if (constant && constant->isTensor()) total += static_cast<std::int64_t>(constant->tensor().sizeBytes());
    }
    return total;
}

/// Where a file is written before it takes its place.
std::filesystem::path partOf(std::filesystem::path path) { return path += ".part"; }

}  // namespace

Result<void> writeOnnx(const std::filesystem::path& given, const InternalGraph& graph, const OnnxWriteOptions& options,
                       const base::WorkContext& work) {
    SONDE_ASSIGN(const std::filesystem::path path, base::placeToReplace(given));
    const auto failure = [](const std::filesystem::path& file) {
        return base::runError("the file cannot be written", file.string());
    };
    std::optional<DataFile> data;
    std::filesystem::path dataPath = path;
    dataPath += ".data";
    SONDE_TRY(base::placeToReplace(dataPath));
    if (weightBytes(graph) > options.inlineLimitBytes) {
        data.emplace();
        data->name = dataPath.filename().string();
        data->stream.open(partOf(dataPath), std::ios::binary);
        if (!data->stream) return failure(dataPath);
    }
    // Both are written beside and then moved: the graph's weights may be read from the very files that are replaced.
    const auto bytes = Writer(graph, options, work).model(data ? &*data : nullptr);
    bool good = bytes.has_value();
    if (data) {
        data->stream.close();
        good = good && data->stream;
    }
    if (good) {
        std::ofstream stream(partOf(path), std::ios::binary);
        stream.write(bytes->data(), static_cast<std::streamsize>(bytes->size()));
        stream.close();
        good = bool(stream);
    }
    const Result<void> unchanged = base::checkUnchanged(options.sources, "model file");
    std::error_code code;
    if (good && unchanged && data) std::filesystem::rename(partOf(dataPath), dataPath, code);
    if (good && unchanged && !code) std::filesystem::rename(partOf(path), path, code);
    if (good && unchanged && !code) return {};
    std::error_code ignored;
    std::filesystem::remove(partOf(path), ignored);
    if (data) std::filesystem::remove(partOf(dataPath), ignored);
    if (!unchanged) return unchanged.error();
    return bytes ? failure(path) : bytes.error();
}

}  // namespace sonde::io
