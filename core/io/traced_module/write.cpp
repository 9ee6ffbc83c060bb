#include <algorithm>
#include <fstream>
#include <optional>
#include <unordered_map>

#include "core/base/replaced_file.h"
#include "core/io/traced_module/codec.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/record.h"
#include "core/trace/traced_module/builtin_graphs.h"
#include "core/trace/tracer.h"

namespace sonde::io {

using tm::CodecError;
using tm::Json;
using trace::ModuleGraph;
using trace::TracedExpr;
using trace::TracedModule;
using trace::TracedNode;
using ExprKind = TracedExpr::Kind;

namespace {

class Writer {
  public:
    std::size_t module(const TracedModule& module) {
        if (const auto known = m_modules.find(&module); known != m_modules.end()) return known->second;
        Json children = Json::array();
        for (const trace::Module::Child& child : module.children()) {
            const auto* traced = dynamic_cast<const TracedModule*>(child.module.get());
            if (!traced) throw CodecError{base::usageError("module '" + child.name + "' cannot be saved")};
            children.push_back({child.name, this->module(*traced)});
        }
        Json slots = Json::array();
        for (const trace::Module::NamedSlot& named : module.ownTensors())
            slots.push_back({named.name, slot(*named.slot)});
        Json parameters = Json::array();
        for (const trace::ForwardParameter& parameter : module.signature()) {
            Json json{
                {"name", parameter.name}, {"keyword_only", parameter.keywordOnly}, {"tensor", parameter.isTensor}};
            if (parameter.collects) json["collects"] = true;
            if (parameter.isAdded) json["added"] = true;
            if (parameter.fallback) json["default"] = tm::toJson(*parameter.fallback, m_tensors);
            parameters.push_back(std::move(json));
        }
        Json entries = Json::array();
        for (const TracedModule::Entry& entry : module.entries()) {
            Json positional = Json::array();
            for (const trace::Structure& structure : entry.argDef.positional)
                positional.push_back(tm::toJson(structure, m_tensors));
            Json keywords = Json::array();
            for (const auto& [name, structure] : entry.argDef.keywords)
                keywords.push_back({name, tm::toJson(structure, m_tensors)});
            entries.push_back({{"forward", entry.forwardName},
                               {"positional", positional},
                               {"keywords", keywords},
                               {"result", tm::toJson(entry.outDef, m_tensors)},
                               {"graph", graph(*entry.graph)}});
        }
        m_moduleList.push_back({{"class", module.className()},
                                {"top", module.isTop()},
                                {"qat", module.isQat()},
                                {"builtin", module.isLibrary()},
                                {"training", module.isTraining()},
                                {"children", children},
                                {"tensors", slots},
                                {"parameters", parameters},
                                {"entries", entries}});
        m_modules[&module] = m_moduleList.size() - 1;
        return m_moduleList.size() - 1;
    }

    /// Graphs are written after all modules: their calls refer to graphs of modules that come later.
    void fillGraphs() {
        for (std::size_t i = 0; i < m_graphOrder.size(); ++i) m_graphList[i] = graphJson(*m_graphOrder[i]);
    }

    Json header(std::size_t root, std::string_view libraryVersion) {
        Json tensors = Json::array();
        std::uint64_t offset = 0;
        for (const tensor::Tensor& tensor : m_tensors.tensors()) {
            Json shape = Json::array();
            for (std::size_t axis = 0; axis < tensor.rank(); ++axis) shape.push_back(tensor.dim(axis));
            tensors.push_back(
                {{"dtype", std::string(tensor::name(tensor.dtype()))}, {"shape", shape}, {"offset", offset}});
            offset += (tensor.sizeBytes() + 63) / 64 * 64;
        }
        return {{"format", "sonde-traced-module"},
                {"version", kTracedModuleVersion},
                {"library", std::string(libraryVersion)},
                {"root", root},
                {"modules", m_moduleList},
                {"graphs", m_graphList},
                {"slots", m_slotList},
                {"tensors", tensors}};
    }
    const std::vector<tensor::Tensor>& tensors() const { return m_tensors.tensors(); }

  private:
    std::size_t slot(const trace::Slot& slot) {
        const auto [known, isNew] = m_slots.try_emplace(&slot, m_slotList.size());
        if (isNew) {
            m_slotList.push_back({{"kind", static_cast<int>(slot.kind)},
                                  {"tensor", slot.value.defined() ? Json(m_tensors.add(slot.value)) : Json()}});
        }
        return known->second;
    }

    std::size_t graph(const ModuleGraph& graph) {
        const auto [known, isNew] = m_graphs.try_emplace(&graph, m_graphOrder.size());
        if (isNew) {
            m_graphOrder.push_back(&graph);
            m_graphList.emplace_back();
        }
        return known->second;
    }

    Json graphJson(const ModuleGraph& graph) {
        std::unordered_map<const TracedNode*, std::size_t> numbers;
        const auto number = [&](const TracedNode& node) { return numbers.at(&node); };
        Json inputs = Json::array();
        for (const TracedNode* input : graph.inputs()) inputs.push_back(exprJson(input->expr(), number, numbers));
        Json body = Json::array();
        for (const TracedExpr* expr : graph.body()) body.push_back(exprJson(*expr, number, numbers));
        Json outputs = Json::array();
        for (const TracedNode* output : graph.outputs()) outputs.push_back(number(*output));
        const auto parent = graph.parent() ? m_graphs.find(graph.parent()) : m_graphs.end();
        return {{"name", graph.name()},
                {"qualname", graph.qualname()},
                {"parent", parent == m_graphs.end() ? Json() : Json(parent->second)},
                {"counters", {graph.counters().first, graph.counters().second}},
                {"inputs", inputs},
                {"body", body},
                {"outputs", outputs}};
    }

    Json exprJson(const TracedExpr& expr, const std::function<std::size_t(const TracedNode&)>& number,
                  std::unordered_map<const TracedNode*, std::size_t>& numbers) {
        Json args = Json::array();
        for (const trace::Operand& operand : expr.args()) args.push_back(tm::toJson(operand, number, m_tensors));
        Json keywords = Json::array();
        for (const auto& [name, operand] : expr.keywords())
            keywords.push_back({name, tm::toJson(operand, number, m_tensors)});
        Json outputs = Json::array();
        for (const TracedNode* node : expr.outputs()) {
            numbers.emplace(node, numbers.size());
            Json json{{"id", node->id()},
                      {"name", node->name()},
                      {"qualname", node->qualname()},
                      {"module", node->isModule()}};
            if (node->isModule()) json["class"] = node->moduleType();
            if (node->type().isTensor()) json["type"] = tm::toJson(node->type());
            if (const auto& q = node->quantParams()) json["quant"] = {q->scale, q->zeroPoint, q->mode, q->dtype};
            outputs.push_back(std::move(json));
        }
        const trace::TracedOperation& operation = expr.operation();
        Json json{{"id", expr.id()},
                  {"kind", static_cast<int>(expr.kind())},
                  {"target", expr.target()},
                  {"args", args},
                  {"keywords", keywords},
                  {"outputs", outputs},
                  {"result", tm::toJson(expr.outDef(), m_tensors)},
                  {"keep", !expr.mayRemove()}};
        if (!operation.op.name.empty()) {
            json["op"] = {operation.op.domain, operation.op.name,  operation.op.version, operation.display,
                          operation.target,    operation.isMethod, operation.swapped,    operation.outputs};
        }
        if (expr.isModuleCall()) json["forward"] = expr.forwardName();
        if (expr.innerGraph()) json["inner"] = m_graphs.at(expr.innerGraph().get());
        if (expr.kind() == ExprKind::Constant) {
            if (expr.constantModule()) {
                const auto* traced = dynamic_cast<const TracedModule*>(expr.constantModule().get());
                if (!traced)
                    throw CodecError{
                        base::usageError("a module that is a constant of the graph cannot be saved", expr.text())};
                json["constant_module"] = m_modules.at(traced);
            } else {
                json["constant"] = tm::toJson(expr.constant(), m_tensors);
            }
        }
        return json;
    }

    tm::TensorTable m_tensors;
    std::unordered_map<const TracedModule*, std::size_t> m_modules;
    std::unordered_map<const trace::Slot*, std::size_t> m_slots;
    std::unordered_map<const ModuleGraph*, std::size_t> m_graphs;
    std::vector<const ModuleGraph*> m_graphOrder;
    std::vector<Json> m_moduleList;
    std::vector<Json> m_slotList;
    std::vector<Json> m_graphList;
};

base::Result<void> write(const std::filesystem::path& given, const std::string& header,
                         const std::vector<tensor::Tensor>& tensors, const base::MappedFiles& sources) {
    // Written beside and then moved: tensors may be read from the very file that is replaced.
    SONDE_ASSIGN(const std::filesystem::path path, base::placeToReplace(given));
    std::filesystem::path part = path;
    part += ".part";
    std::ofstream file(part, std::ios::binary | std::ios::trunc);
    std::uint64_t length = header.size();
    std::string lengthBytes;
    for (int i = 0; i < 8; ++i) lengthBytes += static_cast<char>(length >> (8 * i) & 0xff);
    file << kTracedModuleMagic << lengthBytes << header;
    const std::string padding(64, '\0');
    const auto align = [&](std::size_t size) {
        file.write(padding.data(), static_cast<std::streamsize>((64 - size % 64) % 64));
    };
    align(kTracedModuleMagic.size() + 8 + header.size());
    for (const tensor::Tensor& tensor : tensors) {
        SONDE_ASSIGN(const tensor::Tensor packed, tensor.contiguous());
        file.write(reinterpret_cast<const char*>(packed.bytes()), static_cast<std::streamsize>(packed.sizeBytes()));
        align(packed.sizeBytes());
    }
    file.close();
    const base::Result<void> unchanged = base::checkUnchanged(sources, "model file");
    std::error_code code, ignored;
    if (file && unchanged) std::filesystem::rename(part, path, code);
    if (file && unchanged && !code) return {};
    std::filesystem::remove(part, ignored);
    return unchanged ? base::runError("the file cannot be written", path.string()) : unchanged.error();
}

}  // namespace

base::Result<void> saveTracedModule(const TracedModule& module, const std::filesystem::path& path,
                                    std::string_view libraryVersion, const base::MappedFiles& sources) {
    try {
        // What built-in modules do is found by following them with the kernels of the trace.
        std::optional<trace::EvaluatorScope> kernels;
        if (!trace::EvaluatorScope::current() && module.evaluator()) kernels.emplace(module.evaluator());
        // A copy: the module itself keeps its built-in modules.
        const auto copy = module.clone();
        SONDE_TRY(trace::BuiltinGraphs(*copy).replaceBelow(*copy));
        Writer writer;
        const std::size_t root = writer.module(*copy);
        writer.fillGraphs();
        const Json header = writer.header(root, libraryVersion);
        for (const tensor::Tensor& tensor : writer.tensors()) {
            if (tensor.dtype() == tensor::DType::String) return base::usageError("tensors of strings cannot be saved");
        }
        return write(path, header.dump(-1, ' ', false, Json::error_handler_t::replace), writer.tensors(), sources);
    } catch (const CodecError& error) {
        return error.error;
    } catch (const trace::TraceError& error) {
        return error.toError(module.className());
    } catch (const nlohmann::json::exception& error) {
        return base::usageError(std::string("the module cannot be saved: ") + error.what());
    }
}

}  // namespace sonde::io
