#include "core/analysis/parameters.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>
#include <unordered_map>

#include "core/analysis/node_measures.h"
#include "core/analysis/weight_positions.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;

namespace {

StoredSum sizeOf(DType dtype, std::int64_t elements) {
    const auto bits = static_cast<std::int64_t>(tensor::bitsInFile(dtype));
    const std::int64_t bytes = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
    return {1, elements, bytes, {{dtype, elements}}};
}

/// The same memory under two names is one tensor, however it is seen (transposed, reshaped). The storage stands for its
/// memory: to ask for its address would read weights that are read on first use.
using Identity = std::tuple<const tensor::Storage*, std::int64_t, DType, std::int64_t>;

std::optional<Identity> identityOf(const Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() == 0 || tensor.dtype() == DType::String) return std::nullopt;
    return Identity(tensor.storage().get(), tensor.offsetElements(), tensor.dtype(), tensor.numel());
}

class Counter {
  public:
    Counter(const InternalGraph& graph, const graph::ModuleTree& modules) : m_graph(graph), m_modules(modules) {
        m_counts.ofExpr.assign(graph.exprCount(), 0);
        m_counts.ofModule.resize(modules.modules().size());
    }

    ModelCounts count(const InternalGraph* original) {
        readRegistered();
        readGraph();
        readOpaqueModules();
        if (original) dropReadBy(*original);
        sum();
        sumModules();
        return std::move(m_counts);
    }

  private:
    struct Entry {
        StoredTensor stored;
        bool isRead = false;
        bool isGone = false;
    };

    std::size_t entryOf(const std::optional<Identity>& identity) {
        if (identity) {
            const auto [known, isNew] = m_known.try_emplace(*identity, m_entries.size());
            if (!isNew) return known->second;
        }
        m_entries.emplace_back();
        return m_entries.size() - 1;
    }

    static void addName(StoredTensor& stored, std::string name, std::optional<std::size_t> module) {
        if (std::ranges::find(stored.names, name) == stored.names.end()) stored.names.push_back(std::move(name));
        if (module && std::ranges::find(stored.modules, *module) == stored.modules.end())
            stored.modules.push_back(*module);
    }

    void readRegistered() {
        for (std::size_t i = 0; i < m_modules.modules().size(); ++i) {
            const graph::ModuleInfo& module = m_modules.module(i);
            for (const graph::ParameterInfo& parameter : module.parameters) {
                const std::optional<tensor::Shape> shape =
                    parameter.value ? std::optional(parameter.value->shape()) : parameter.type.staticShape();
                if (!shape) continue;
                Entry& entry = m_entries[entryOf(parameter.value ? identityOf(*parameter.value) : std::nullopt)];
                if (entry.stored.names.empty()) {
                    entry.stored.kind = parameter.isBuffer ? StoredKind::Buffer : StoredKind::Parameter;
                    entry.stored.size =
                        sizeOf(parameter.value ? parameter.value->dtype() : parameter.type.dtype, shape->numel());
                }
                // Registered as both: the optimiser changes it.
                if (!parameter.isBuffer) entry.stored.kind = StoredKind::Parameter;
                addName(entry.stored, module.qualname.empty() ? parameter.name : module.qualname + '.' + parameter.name,
                        i);
                m_byName.emplace(entry.stored.names.back(), static_cast<std::size_t>(&entry - m_entries.data()));
            }
        }
    }

    /// The entry of a stored node: by its memory, else (a graph without values) by the name that it is registered
    /// under.
    std::optional<std::size_t> registered(const graph::Node& node) const {
        if (node.constant && node.constant->isTensor())
            if (const auto identity = identityOf(node.constant->tensor())) {
                const auto known = m_known.find(*identity);
                return known == m_known.end() ? std::nullopt : std::optional(known->second);
            }
        const Expr& producer = m_graph.expr(node.producer);
        const auto named = producer.isParameter ? m_byName.find(producer.target) : m_byName.end();
        return named == m_byName.end() ? std::nullopt : std::optional(named->second);
    }

    void readGraph() {
        const std::vector<std::optional<StoredKind>> kinds = storedKinds(m_graph);
        std::vector<std::optional<std::size_t>> entryOfNode(m_graph.nodeCount());
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            if (isStored(expr)) {
                for (const NodeId node : expr.outputs)
                    entryOfNode[node.index()] = entryOfStored(node, kinds[node.index()]);
                continue;
            }
            if (expr.kind == ExprKind::Output) continue;
            for (const NodeId input : expr.inputs)
                if (const auto entry = entryOfNode[input.index()]) read(m_entries[*entry], id, input);
        }
        for (std::size_t i = 0; i < m_graph.bodyCount(); ++i)
            for (const NodeId output : m_graph.body(graph::BodyId(i)).outputs)
                if (const auto entry = entryOfNode[output.index()]) m_entries[*entry].stored.isResult = true;
    }

    std::optional<std::size_t> entryOfStored(NodeId id, std::optional<StoredKind> kind) {
        const graph::Node& node = m_graph.node(id);
        if (const auto known = registered(node)) return known;
        const bool isTensor = node.constant ? node.constant->isTensor() : node.type.isTensor();
        const auto elements = isTensor ? elementCount(node) : std::nullopt;
        if (!kind || !elements) return std::nullopt;
        // A model that registers its parameters has no others, but those that a pass made of them.
        const bool isOwnConstant = !m_byName.empty() && !m_graph.expr(node.producer).isParameter;
        if (isOwnConstant) kind = StoredKind::Constant;
        const Tensor* value = node.constant ? &node.constant->tensor() : nullptr;
        const std::size_t at = entryOf(value ? identityOf(*value) : std::nullopt);
        StoredTensor& stored = m_entries[at].stored;
        if (stored.names.empty()) {
            stored.kind = *kind;
            stored.size = sizeOf(value ? value->dtype() : node.type.dtype, *elements);
        } else if (*kind == StoredKind::Parameter) {
            stored.kind = *kind;
        }
        addName(stored, node.name, std::nullopt);
        return at;
    }

    void read(Entry& entry, ExprId reader, NodeId node) {
        if (entry.isRead) return;
        const Expr& expr = m_graph.expr(reader);
        entry.isRead = true;
        entry.stored.reader = reader;
        StoredTensor& stored = entry.stored;
        if (stored.modules.empty())
            stored.modules.push_back(expr.qualname ? m_modules.find(*expr.qualname).value_or(0) : 0);
        const std::int64_t held = stored.size.elements;
        for (std::size_t i = 0; i < expr.arguments.size(); ++i)
            if (expr.arguments[i].kind == graph::Argument::Kind::Node && expr.arguments[i].node == node)
                stored.size.elements =
                    std::max(stored.size.elements, weightsIn(expr, i, stored.size.byDType.begin()->first, held));
        stored.size.byDType.begin()->second = stored.size.elements;
        if (stored.kind == StoredKind::Parameter) m_counts.ofExpr[reader.index()] += stored.size.elements;
    }

    /// A module that was not traced into reads what it and those inside of it have.
    void readOpaqueModules() {
        std::map<std::size_t, ExprId> callOf;
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            if (expr.kind != ExprKind::CallModule || !expr.bodies.empty()) continue;
            if (const auto module = m_modules.find(expr.target)) callOf.try_emplace(*module, id);
        }
        if (callOf.empty()) return;
        for (Entry& entry : m_entries) {
            for (std::size_t i = 0; i < entry.stored.modules.size() && !entry.isRead; ++i) {
                std::size_t module = entry.stored.modules[i];
                while (module != 0 && !callOf.contains(module)) module = m_modules.module(module).parent;
                const auto call = callOf.find(module);
                if (call == callOf.end()) continue;
                entry.isRead = true;
                entry.stored.reader = call->second;
                if (entry.stored.kind == StoredKind::Parameter)
                    m_counts.ofExpr[call->second.index()] += entry.stored.size.elements;
            }
        }
    }

    /// What a pass took out of the graph (the norm that was folded into a convolution) is no parameter of it any more.
    void dropReadBy(const InternalGraph& original) {
        for (std::size_t i = 0; i < original.nodeCount(); ++i) {
            const graph::Node& node = original.node(NodeId(i));
            if (!node.constant || !node.constant->isTensor() || node.users.empty()) continue;
            const auto identity = identityOf(node.constant->tensor());
            const auto known = identity ? m_known.find(*identity) : m_known.end();
            if (known != m_known.end() && !m_entries[known->second].isRead) m_entries[known->second].isGone = true;
        }
    }

    void sum() {
        const auto before = [](const Entry& a, const Entry& b) {
            return a.stored.reader.valid() && (!b.stored.reader.valid() || a.stored.reader < b.stored.reader);
        };
        std::stable_sort(m_entries.begin(), m_entries.end(), before);
        for (Entry& entry : m_entries) {
            if (entry.isGone) continue;
            const StoredTensor& stored = entry.stored;
            StoredSum& total = stored.kind == StoredKind::Parameter ? m_counts.parameters
                               : stored.kind == StoredKind::Buffer  ? m_counts.buffers
                                                                    : m_counts.constants;
            total.add(stored.size);
            if (stored.kind == StoredKind::Parameter && !entry.isRead) m_counts.unread.add(stored.size);
            m_counts.tensors.push_back(std::move(entry.stored));
        }
    }

    /// Every module above any owner has the tensor once.
    void sumModules() {
        std::vector<std::size_t> seen(m_counts.ofModule.size(), SIZE_MAX);
        for (std::size_t i = 0; i < m_counts.tensors.size(); ++i) {
            const StoredTensor& stored = m_counts.tensors[i];
            if (stored.kind == StoredKind::Constant) continue;
            const bool isParameter = stored.kind == StoredKind::Parameter;
            for (std::size_t module : stored.modules) {
                for (;; module = m_modules.module(module).parent) {
                    if (seen[module] == i) break;
                    seen[module] = i;
                    ModuleSums& sums = m_counts.ofModule[module];
                    (isParameter ? sums.parameters : sums.buffers).add(stored.size);
                    if (isParameter && stored.modules.size() > 1) sums.tied += stored.size.elements;
                    if (module == 0) break;
                }
            }
        }
    }

    const InternalGraph& m_graph;
    const graph::ModuleTree& m_modules;
    std::vector<Entry> m_entries;
    std::map<Identity, std::size_t> m_known;
    std::unordered_map<std::string, std::size_t> m_byName;
    ModelCounts m_counts;
};

}  // namespace

void StoredSum::add(const StoredSum& other) {
    tensors += other.tensors;
    elements += other.elements;
    bytes += other.bytes;
    for (const auto& [dtype, count] : other.byDType) byDType[dtype] += count;
}

ModelCounts countParameters(const InternalGraph& graph, const graph::ModuleTree& modules,
                            const InternalGraph* original) {
    return Counter(graph, modules).count(original);
}

std::vector<std::int64_t> parameterCounts(const InternalGraph& graph) {
    return countParameters(graph, graph::ModuleTree()).ofExpr;
}

void listParameters(const InternalGraph& graph, graph::ModuleTree& modules) {
    const std::vector<std::optional<StoredKind>> kinds = storedKinds(graph);
    std::map<Identity, StoredKind> kindOf;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const auto& constant = graph.node(NodeId(i)).constant;
        const auto identity =
            kinds[i] && constant && constant->isTensor() ? identityOf(constant->tensor()) : std::nullopt;
        if (!identity) continue;
        const auto [known, isNew] = kindOf.try_emplace(*identity, *kinds[i]);
        if (!isNew) known->second = std::min(known->second, *kinds[i]);
    }
    std::map<Identity, bool> listed;
    for (std::size_t i = 0; i < modules.modules().size(); ++i) {
        std::erase_if(modules.mutableModule(i).parameters, [&](graph::ParameterInfo& parameter) {
            const auto identity = parameter.value ? identityOf(*parameter.value) : std::nullopt;
            const auto kind = identity ? kindOf.find(*identity) : kindOf.end();
            if (kind == kindOf.end() || kind->second == StoredKind::Constant) return true;
            parameter.isBuffer = kind->second == StoredKind::Buffer;
            listed[*identity] = true;
            return false;
        });
    }
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (!isStored(expr)) continue;
        const graph::Node& node = graph.node(expr.outputs.front());
        const auto identity =
            node.constant && node.constant->isTensor() ? identityOf(node.constant->tensor()) : std::nullopt;
        const auto kind = identity ? kindOf.find(*identity) : kindOf.end();
        if (kind == kindOf.end() || kind->second == StoredKind::Constant || !listed.try_emplace(*identity, true).second)
            continue;
        // One without a reader is the result of a branch.
        const Expr& reader = node.users.empty() ? expr : graph.expr(node.users.front());
        const auto module = modules.find(reader.qualname.value_or(""));
        graph::ParameterInfo parameter{node.name, node.type, node.constant->tensor(),
                                       kind->second == StoredKind::Buffer};
        modules.mutableModule(module.value_or(0)).parameters.push_back(std::move(parameter));
    }
}

std::string dtypesText(const StoredSum& sum) {
    std::vector<std::pair<std::int64_t, DType>> most;
    for (const auto& [dtype, count] : sum.byDType) most.emplace_back(count, dtype);
    std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (std::size_t i = 0; i < most.size(); ++i)
        text += std::string(i == 0                 ? ""
                            : i + 1 == most.size() ? " and "
                                                   : ", ") +
                std::string(tensor::name(most[i].second));
    return text;
}

std::string bytesText(std::int64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    double size = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; size >= 1024 && unit < 4; ++unit) size /= 1024;
    return fmt::format("{:.1f} {}", size, std::array{"bytes", "KiB", "MiB", "GiB", "TiB"}[unit]);
}

}  // namespace sonde::analysis
