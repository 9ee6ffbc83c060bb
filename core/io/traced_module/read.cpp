#include <algorithm>
#include <cstring>

#include "core/io/traced_module/codec.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/traced_module/upgrade.h"
#include "core/trace/tracer.h"

namespace sonde::io {

using tm::CodecError;
using tm::elementAt;
using tm::Json;
using trace::GraphBuilder;
using trace::ModuleGraph;
using trace::TracedExpr;
using trace::TracedModule;
using trace::TracedNode;
using ExprKind = TracedExpr::Kind;

namespace {

constexpr std::size_t kHeaderStart = 16;

[[noreturn]] void bad(const std::string& what) { throw CodecError{base::unreadable(what)}; }

class Reader {
  public:
    Reader(const Json& header, std::shared_ptr<const base::MappedFile> file, std::size_t blob)
        : m_header(header), m_file(std::move(file)), m_blob(blob) {}

    std::shared_ptr<TracedModule> run() {
        readTensors();
        for (const Json& json : m_header.at("slots")) readSlot(json);
        for (std::size_t i = 0; i < m_header.at("graphs").size(); ++i)
            m_graphs.push_back(std::make_shared<ModuleGraph>());
        m_owners.resize(m_graphs.size());
        for (const Json& json : m_header.at("modules")) readModule(json);
        const auto root = elementAt(m_modules, m_header.at("root"));
        placeGraphs();
        const Json& graphs = m_header.at("graphs");
        for (std::size_t i = 0; i < m_graphs.size(); ++i) {
            m_nodes.clear();
            readGraph(graphs[i], *m_graphs[i], i);
        }
        for (const auto& [call, inner] : m_inner) {
            if (inner->inputs().size() != call->inputs().size())
                bad("a call and its graph have different numbers of inputs");
            GraphBuilder(call->graph()).setInner(*call, inner);
        }
        for (std::size_t i = 0; i < m_graphs.size(); ++i) {
            if (m_graphs[i]->parent()) GraphBuilder(*m_graphs[i]->parent()).innerName(m_graphs[i]->name());
        }
        // Counters last: adding exprs counts.
        for (std::size_t i = 0; i < m_graphs.size(); ++i) {
            if (m_graphs[i]->parent()) continue;
            const Json& counters = graphs[i].at("counters");
            GraphBuilder(*m_graphs[i])
                .setCounters(counters.at(0).get<std::uint64_t>(), counters.at(1).get<std::uint64_t>());
        }
        for (const TracedModule::Entry& entry : root->entries()) {
            if (const auto valid = entry.graph->validate(); !valid) bad("the graph " + valid.error().text());
        }
        return root;
    }

  private:
    void readTensors() {
        for (const Json& json : m_header.at("tensors")) {
            const auto dtype = tensor::dtypeFromName(json.at("dtype").get<std::string>());
            if (!dtype || tensor::itemSize(*dtype) == 0) bad("unknown dtype of a tensor");
            tensor::Shape shape;
            std::uint64_t size = tensor::itemSize(*dtype);
            const std::uint64_t limit = m_file->sizeBytes();
            for (const Json& dim : json.at("shape")) {
                const auto dimSize = dim.get<std::uint64_t>();
                if (dimSize > limit || (dimSize > 0 && size > limit / dimSize)) bad("a tensor is larger than the file");
                size *= dimSize;
                shape.push_back(static_cast<std::int64_t>(dimSize));
            }
            const auto offset = json.at("offset").get<std::uint64_t>();
            if (offset % 64 != 0 || offset > limit || size > limit || m_blob + offset > limit ||
                size > limit - m_blob - offset) {
                bad("a tensor is outside the file");
            }
            const auto bytes = m_file->bytes().subspan(m_blob + offset, size);
            m_tensors.push_back(tm::tensorOn(bytes, *dtype, std::move(shape), m_file));
        }
    }

    void readSlot(const Json& json) {
        const int kind = json.at("kind").get<int>();
        if (kind < 0 || kind > 2) bad("unknown kind of a module's tensor");
        auto slot = std::make_shared<trace::Slot>();
        slot->kind = static_cast<trace::Slot::Kind>(kind);
        if (!json.at("tensor").is_null()) slot->value = elementAt(m_tensors, json.at("tensor"));
        m_slots.push_back(std::move(slot));
    }

    /// Modules refer only to those before them, so that they form no circles.
    void readModule(const Json& json) {
        std::vector<trace::ForwardParameter> parameters;
        for (const Json& item : json.at("parameters")) {
            trace::ForwardParameter parameter{item.at("name").get<std::string>(), std::nullopt,
                                              item.at("keyword_only").get<bool>(), item.at("tensor").get<bool>()};
            parameter.collects = item.value("collects", false);
            parameter.isAdded = item.value("added", false);
            const auto isBehind = [&](const auto& before) {
                return before.collects && before.keywordOnly == parameter.keywordOnly;
            };
            if (std::ranges::any_of(parameters, isBehind)) bad("a parameter follows one that collects");
            if (item.contains("default")) parameter.fallback = tm::valueFrom(item.at("default"), m_tensors);
            parameters.push_back(std::move(parameter));
        }
        auto module = std::make_shared<TracedModule>(json.at("class").get<std::string>(), std::move(parameters),
                                                     json.at("top").get<bool>(), json.at("qat").get<bool>());
        module->setBuiltin(json.at("builtin").get<bool>());
        for (const Json& item : json.at("tensors"))
            module->addSlot(item.at(0).get<std::string>(), elementAt(m_slots, item.at(1)));
        for (const Json& item : json.at("children"))
            module->addChild(item.at(0).get<std::string>(), elementAt(m_modules, item.at(1)));
        for (const Json& item : json.at("entries")) {
            TracedModule::Entry entry;
            entry.forwardName = item.at("forward").get<std::string>();
            for (const Json& part : item.at("positional"))
                entry.argDef.positional.push_back(tm::structureFrom(part, m_tensors));
            for (const Json& part : item.at("keywords")) {
                entry.argDef.keywords.emplace_back(part.at(0).get<std::string>(),
                                                   tm::structureFrom(part.at(1), m_tensors));
            }
            entry.outDef = tm::structureFrom(item.at("result"), m_tensors);
            const auto index = item.at("graph").get<std::uint64_t>();
            entry.graph = elementAt(m_graphs, item.at("graph"));
            if (m_owners[index]) bad("two modules own one graph");
            m_owners[index] = module;
            m_results.emplace(index, entry.outDef.leafCount());
            module->addEntry(std::move(entry));
        }
        m_modules.push_back(std::move(module));
    }

    void placeGraphs() {
        const Json& graphs = m_header.at("graphs");
        // A parent may come later in the file; going up must end.
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            std::size_t at = i;
            for (std::size_t steps = 0; !graphs[at].at("parent").is_null(); ++steps) {
                if (steps > graphs.size()) bad("graphs contain each other in a cycle");
                at = graphs[at].at("parent").get<std::size_t>();
                if (at >= graphs.size()) bad("a graph's parent does not exist");
            }
        }
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            const Json& parent = graphs[i].at("parent");
            if (!m_owners[i]) bad("a graph belongs to no module");
            GraphBuilder(*m_graphs[i])
                .place(graphs[i].at("name").get<std::string>(), graphs[i].at("qualname").get<std::string>(),
                       parent.is_null() ? nullptr : elementAt(m_graphs, parent).get(), m_owners[i]);
        }
    }

    void readGraph(const Json& json, ModuleGraph& graph, std::size_t index) {
        GraphBuilder builder(graph);
        for (const Json& item : json.at("inputs")) {
            const Json& output = item.at("outputs").at(0);
            const bool isModule = output.at("module").get<bool>();
            if (isModule != (&item == &json.at("inputs").front())) bad("only the first input of a graph is a module");
            TracedNode* node =
                builder.addInput(output.at("name").get<std::string>(), output.at("qualname").get<std::string>(),
                                 item.at("target").get<std::string>(), isModule, isModule ? "Module" : "");
            settle(builder, item, node->expr());
        }
        if (graph.inputs().empty()) bad("a graph has no inputs");
        for (const Json& item : json.at("body")) settle(builder, item, readExpr(builder, item, index));
        std::vector<TracedNode*> outputs;
        for (const Json& item : json.at("outputs")) outputs.push_back(elementAt(m_nodes, item));
        if (outputs.size() != m_results.at(index))
            bad("a graph has a different number of results than its module declares");
        builder.setOutputs(std::move(outputs));
    }

    TracedExpr& readExpr(GraphBuilder& builder, const Json& json, std::size_t graphIndex) {
        const int kind = json.at("kind").get<int>();
        if (kind <= static_cast<int>(ExprKind::Input) || kind > static_cast<int>(ExprKind::Constant))
            bad("unknown kind of an expr");
        const auto as = static_cast<ExprKind>(kind);
        const auto target = json.at("target").get<std::string>();
        const Json& outputs = json.at("outputs");
        std::vector<trace::Operand> args;
        for (const Json& item : json.at("args")) args.push_back(tm::operandFrom(item, m_nodes, m_tensors));
        if (as == ExprKind::GetAttr || as == ExprKind::Constant) {
            const Json& output = outputs.at(0);
            const auto name = output.at("name").get<std::string>();
            const auto qualname = output.at("qualname").get<std::string>();
            if (as == ExprKind::GetAttr) {
                const bool fits =
                    args.size() == 1 && args[0].kind == trace::Operand::Kind::Node && args[0].node->isModule();
                if (!fits || target.empty()) bad("a read of an attribute has no module or no path");
                return builder.addGetAttr(args[0].node, target, qualname, name, output.at("module").get<bool>())
                    ->expr();
            }
            if (!json.contains("constant_module"))
                return builder.addConstant(tm::valueFrom(json.at("constant"), m_tensors), name, qualname)->expr();
            // Only modules before the owner: a module must not hold itself.
            const auto module = json.at("constant_module").get<std::size_t>();
            const auto owner = std::ranges::find(m_modules, m_owners[graphIndex]) - m_modules.begin();
            if (module >= static_cast<std::size_t>(owner)) bad("a module is a constant of its own graph");
            return builder.addModuleConstant(elementAt(m_modules, json.at("constant_module")), name, qualname)->expr();
        }
        std::vector<std::pair<std::string, trace::Operand>> keywords;
        for (const Json& item : json.at("keywords")) {
            keywords.emplace_back(item.at(0).get<std::string>(), tm::operandFrom(item.at(1), m_nodes, m_tensors));
        }
        trace::TracedOperation operation;
        if (json.contains("op")) {
            const Json& op = json.at("op");
            operation = {{op.at(0).get<std::string>(), op.at(1).get<std::string>(), op.at(2).get<int>()},
                         op.at(3).get<std::string>(),
                         op.at(4).get<std::string>(),
                         op.at(5).get<bool>(),
                         op.at(6).get<bool>(),
                         op.at(7).get<std::size_t>()};
        }
        if (as == ExprKind::CallMethod && args.empty()) bad("a method is called without an object");
        TracedExpr& expr = *builder.addCall(as, target, std::move(args), std::move(keywords), std::move(operation));
        for (const Json& output : outputs) {
            if (output.at("module").get<bool>()) bad("an operation cannot return a module");
            builder.addOutput(expr, output.at("name").get<std::string>(), output.at("qualname").get<std::string>());
        }
        GraphBuilder::setOutDef(expr, tm::structureFrom(json.at("result"), m_tensors));
        if (expr.outDef().leafCount() != expr.outputs().size())
            bad("an expr has a different number of outputs than it declares");
        if (json.contains("forward")) GraphBuilder::setForwardName(expr, json.at("forward").get<std::string>());
        if (json.contains("inner")) {
            if (!expr.isModuleCall()) bad("only calls of modules have graphs");
            m_inner.emplace_back(&expr, elementAt(m_graphs, json.at("inner")));
        }
        return expr;
    }

    /// Ids, names and types as they are in the file.
    void settle(GraphBuilder& builder, const Json& json, TracedExpr& expr) {
        GraphBuilder::setId(expr, json.at("id").get<std::uint64_t>());
        if (json.value("keep", false)) expr.disableRemove();
        const Json& outputs = json.at("outputs");
        for (std::size_t i = 0; i < expr.outputs().size(); ++i) {
            TracedNode& node = *expr.outputs()[i];
            const Json& output = outputs.at(i);
            GraphBuilder::setId(node, output.at("id").get<std::uint64_t>());
            builder.forceName(node, output.at("name").get<std::string>());
            if (output.contains("class")) GraphBuilder::setModuleType(node, output.at("class").get<std::string>());
            if (output.contains("type")) GraphBuilder::setType(node, tm::typeFrom(output.at("type")));
            if (output.contains("quant")) {
                const Json& q = output.at("quant");
                GraphBuilder::setQuantParams(
                    node, trace::QuantParams{q.at(0).get<double>(), q.at(1).get<std::int64_t>(),
                                             q.at(2).get<std::string>(), q.at(3).get<std::string>()});
            }
            m_nodes.push_back(&node);
        }
    }

    const Json& m_header;
    std::shared_ptr<const base::MappedFile> m_file;
    std::size_t m_blob;
    std::vector<tensor::Tensor> m_tensors;
    std::vector<std::shared_ptr<trace::Slot>> m_slots;
    std::vector<std::shared_ptr<TracedModule>> m_modules;
    std::vector<std::shared_ptr<ModuleGraph>> m_graphs;
    std::vector<std::shared_ptr<TracedModule>> m_owners;
    std::map<std::size_t, std::size_t> m_results;
    std::vector<TracedNode*> m_nodes;  ///< of the graph that is being read
    std::vector<std::pair<TracedExpr*, std::shared_ptr<ModuleGraph>>> m_inner;
};

base::Result<std::shared_ptr<TracedModule>> load(const std::shared_ptr<const base::MappedFile>& file) {
    const std::span<const std::byte> bytes = file->bytes();
    if (!looksLikeTracedModule(bytes) || bytes.size() < kHeaderStart)
        return base::unreadable("this is not a traced module file");
    std::uint64_t length = 0;
    for (int i = 0; i < 8; ++i)
        length |= static_cast<std::uint64_t>(bytes[kTracedModuleMagic.size() + static_cast<std::size_t>(i)]) << (8 * i);
    if (length > bytes.size() - kHeaderStart) return base::unreadable("the header is longer than the file");
    const auto* text = reinterpret_cast<const char*>(bytes.data() + kHeaderStart);
    try {
        const Json header = Json::parse(text, text + length, nullptr, false);
        if (!header.is_object() || header.value("format", "") != "sonde-traced-module")
            return base::unreadable("the header cannot be read");
        if (header.at("version").get<int>() != kTracedModuleVersion) {
            return base::unreadable("the file is of version " + std::to_string(header.at("version").get<int>()) +
                                    ", and this program reads version " + std::to_string(kTracedModuleVersion));
        }
        const std::size_t blob = (kHeaderStart + length + 63) / 64 * 64;
        const auto module = Reader(header, file, blob).run();
        SONDE_TRY(trace::checkHierarchy(*module));
        const auto library = header.at("library").get<std::string>();
        if (library != kTracedModuleLibrary) {
            trace::upgradeModule(*module, library);
            for (const TracedModule::Entry& entry : module->entries()) {
                if (const auto valid = entry.graph->validate(); !valid)
                    return base::unreadable("an upgrade broke the graph: " + valid.error().text());
            }
        }
        return module;
    } catch (const CodecError& error) {
        return error.error;
    } catch (const trace::TraceError& error) {
        return error.toError({});
    } catch (const nlohmann::json::exception& error) {
        return base::unreadable(std::string("the header is invalid: ") + tm::problemText(error));
    } catch (const std::bad_alloc&) {
        return base::unreadable("out of memory while reading");
    }
}

}  // namespace

bool looksLikeTracedModule(std::span<const std::byte> head) {
    return head.size() >= kTracedModuleMagic.size() &&
           std::memcmp(head.data(), kTracedModuleMagic.data(), kTracedModuleMagic.size()) == 0;
}

base::Result<std::shared_ptr<TracedModule>> loadTracedModule(const std::filesystem::path& path) {
    SONDE_ASSIGN(const auto file, base::MappedFile::open(path));
    auto module = load(file);
    if (!module) return module.error().at(path.string());
    return module;
}

}  // namespace sonde::io
