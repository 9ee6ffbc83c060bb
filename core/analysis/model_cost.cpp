#include "core/analysis/model_cost.h"

#include <algorithm>

#include "core/analysis/operator_cost.h"
#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using operators::OpClass;
using operators::Sharing;
using tensor::Symbolic;
using tensor::SymbolicSum;
using tensor::TypeInfo;
using tensor::Value;

namespace {

Symbolic bytesOfType(const TypeInfo& type) {
    if (!type.kind) return {};
    if (type.isTensor()) {
        if (!type.shape || type.dtype == tensor::DType::Undefined || type.dtype == tensor::DType::String) return {};
        return tensor::product(*type.shape) * Symbolic::of(static_cast<std::int64_t>(tensor::itemSize(type.dtype)));
    }
    Symbolic sum = Symbolic::of(std::int64_t{0});
    for (const TypeInfo& element : type.elements) sum = sum + bytesOfType(element);
    return sum;
}

/// Whether the results are no memory of their own: views, what is written in place, what passes through.
bool sharesMemory(const Expr& expr, const operators::Cost& cost) {
    const operators::Traits& traits = graph::traitsOf(expr);
    return traits.memory.sharing != Sharing::Fresh || traits.isIdentityAtInference() || cost.bytes.constant() == 0;
}

/// Whether an operation of Python computes numbers, texts or lists of them and no tensor.
bool isPlain(const InternalGraph& graph, const Expr& expr) {
    const auto hasTensor = [](const TypeInfo& type, const auto& self) -> bool {
        return type.isTensor() ||
               std::ranges::any_of(type.elements, [&](const TypeInfo& element) { return self(element, self); });
    };
    const bool isTold = std::ranges::all_of(expr.outputs, [&](NodeId node) {
        const TypeInfo& type = graph.node(node).type;
        return type.kind && !hasTensor(type, hasTensor);
    });
    return isTold && !expr.outputs.empty();
}

/// For comparing branches whose cost has open dimensions in it: each is taken to be of this size.
constexpr std::int64_t kTypicalSize = 64;

std::int64_t costRank(const SymbolicSum& sum) {
    return sum.bound([](std::string_view) { return std::optional(kTypicalSize); }).value_or(0);
}

class CostCounter {
  public:
    CostCounter(const InternalGraph& graph, const graph::ModuleTree& modules, const BodyRuns* runs,
                const ops::Registry& registry)
        : m_graph(graph), m_modules(modules), m_runs(runs), m_registry(registry) {
        m_cost.ofExpr.resize(graph.exprCount());
        m_cost.ofModule.resize(modules.modules().size());
        m_isOwn.resize(graph.exprCount(), false);
    }

    ModelCost count() {
        // The sum of the main body is made below, in the order of the program and by module.
        for (const ExprId id : m_graph.main().order)
            m_cost.ofExpr[id.index()] = costOfExpr(m_graph.expr(id), Symbolic::of(std::int64_t{1}));
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
            const Expr& expr = m_graph.expr(id);
            const ExprCost& cost = m_cost.ofExpr[id.index()];
            if (cost.part == CostPart::NotCounted) {
                ++m_cost.notCounted[operatorTitle(expr)];
                m_cost.notCountedExprs.push_back(id);
            }
            // What is not counted is in the sums as a count of its own.
            if (cost.part != CostPart::Counted && cost.part != CostPart::NotCounted) continue;
            m_cost.total.add(cost.sum);
            m_cost.ofModule[m_modules.find(expr.qualname.value_or("")).value_or(0)].add(cost.sum);
        }
        for (std::size_t i = m_cost.ofModule.size(); i-- > 1;)
            m_cost.ofModule[m_modules.module(i).parent].add(m_cost.ofModule[i]);
        findPeak();
        return std::move(m_cost);
    }

  private:
    /// Also of a call that is left out of sums (`m_isLeftOut`), where no expr becomes a part.
    CostSum sumOf(const Body& body, const Symbolic& times) {
        CostSum sum;
        for (const ExprId id : body.order) {
            ExprCost& cost = m_cost.ofExpr[id.index()];
            cost = costOfExpr(m_graph.expr(id), times);
            if (cost.part != CostPart::None) sum.add(cost.sum);
        }
        return sum;
    }

    ExprCost costOfExpr(const Expr& expr, const Symbolic& times) {
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || expr.kind == ExprKind::Constant ||
            expr.kind == ExprKind::GetAttr)
            return {};
        if (!expr.bodies.empty()) return costOfOwner(expr, times);
        if (!expr.op.name.empty() && isPlain(m_graph, expr)) return {CostPart::Counted, {}};
        operators::Cost once = costOf(m_graph, expr, m_registry);
        if (expr.op.name.empty() || !once.flops.known() || !once.multiplyAdds.known())
            return notCounted(once.multiplyAdds.known());
        ExprCost cost{CostPart::Counted, {}};
        const bool isOwn = !sharesMemory(expr, once);
        Symbolic read = std::move(once.bytesRead), written = std::move(once.bytesWritten);
        if (times.constant() != 1) {
            for (Symbolic* each : {&once.flops, &once.multiplyAdds, &read, &written}) *each = *each * times;
        }
        cost.sum.flops.add(once.flops);
        cost.sum.multiplyAdds.add(once.multiplyAdds);
        if (!cost.sum.flops.known() || !cost.sum.multiplyAdds.known()) return notCounted(false);
        if (written.known() && read.known()) {
            cost.sum.bytesWritten.add(written);
            cost.sum.bytesRead.add(read);
        } else {
            ++m_cost.bytesUnknown;
            cost.sum.unknownBytes = 1;
        }
        if (!isOwn) return cost;
        m_isOwn[expr.id.index()] = true;
        for (const NodeId node : expr.outputs)
            if (const Symbolic bytes = bytesOfType(m_graph.node(node).type); bytes.known())
                cost.sum.activationBytes.add(bytes);
        return cost;
    }

    /// Products are the multiply-adds: an operation of another kind has none, whatever its sizes are.
    static ExprCost notCounted(bool hasNoProducts) {
        ExprCost cost{CostPart::NotCounted, {}};
        cost.sum.unknownFlops = cost.sum.unknownBytes = 1;
        cost.sum.unknownMultiplyAdds = hasNoProducts ? 0 : 1;
        return cost;
    }

    ExprCost costOfOwner(const Expr& expr, const Symbolic& times) {
        ExprCost cost{CostPart::Owner, {}};
        const OpClass opClass = graph::traitsOf(expr).opClass;
        const bool isBranch = opClass == OpClass::If || opClass == OpClass::Conditional;
        if (!m_runs && isBranch) return costOfBranches(expr, times);
        for (const BodyId id : expr.bodies) {
            Symbolic inside = times;
            if (m_runs) inside = Symbolic::of(id.index() < m_runs->size() ? (*m_runs)[id.index()] : 0);
            else if (!expr.op.name.empty()) inside = times * iterations(expr);
            // A called module or function is no body of its own to the engine: it ran as often as what it is in.
            if (m_runs && expr.op.name.empty()) inside = times;
            const CostSum sum = sumOf(m_graph.body(id), inside);
            if (m_runs && inside.constant() == 0) leaveOut(m_graph.body(id));
            else cost.sum.add(sum);
        }
        return cost;
    }

    ExprCost costOfBranches(const Expr& expr, const Symbolic& times) {
        std::vector<CostSum> sums;
        for (const BodyId id : expr.bodies) sums.push_back(sumOf(m_graph.body(id), times));
        std::size_t most = 0;
        for (std::size_t i = 1; i < sums.size(); ++i) {
            const auto key = [&sums](std::size_t at) {
                return std::pair(costRank(sums[at].multiplyAdds), costRank(sums[at].flops));
            };
            if (key(i) > key(most)) most = i;
        }
        for (std::size_t i = 0; i < expr.bodies.size(); ++i)
            if (i != most) leaveOut(m_graph.body(expr.bodies[i]));
        const std::string& label = m_graph.body(expr.bodies[most]).label;
        m_cost.assumptions.push_back("'" + nameOf(expr) + "' counts by its costlier branch" +
                                     (label.empty() ? std::string() : ", " + label));
        return {CostPart::Owner, sums[most]};
    }

    void leaveOut(const Body& body) {
        for (const ExprId id : m_graph.recursiveOrder(body.id)) {
            ExprCost& cost = m_cost.ofExpr[id.index()];
            if (cost.part != CostPart::None) cost.part = CostPart::NotExecuted;
        }
    }

    std::string nameOf(const Expr& expr) const {
        return expr.outputs.empty() ? expr.target : m_graph.node(expr.outputs.front()).name;
    }

    /// Of a loop; of the other operators with bodies: once for each element of the sequences.
    Symbolic iterations(const Expr& expr) {
        Symbolic known;
        const OpClass opClass = graph::traitsOf(expr).opClass;
        if (opClass == OpClass::Loop) known = tripCount(expr);
        if (opClass == OpClass::Scan) known = scanLength(expr);
        if (known.known()) return known;
        const std::string name = nameOf(expr) + ".iterations";
        m_cost.assumptions.push_back("how often '" + nameOf(expr) + "' runs its body is not known before a run: '" +
                                     name + "'");
        return Symbolic::of(tensor::Dim::named(name));
    }

    Symbolic tripCount(const Expr& expr) const {
        const Body& body = m_graph.body(expr.bodies.front());
        if (expr.arguments.empty() || body.outputs.empty() || body.inputs.size() < 2) return {};
        const bool begins = expr.arguments.size() < 2 || expr.arguments[1].kind == Argument::Kind::Omitted ||
                            isTrue(constantOf(expr.arguments[1]));
        if (!begins || !staysTrue(body, body.outputs.front())) return {};
        const Value trips = constantOf(expr.arguments.front());
        // Less than 0 is none (ONNX, Loop).
        const auto times = [](double count) {
            return Symbolic::of(static_cast<std::int64_t>(std::clamp(count, 0.0, 0x1p62)));
        };
        if (trips.isNumber()) return times(static_cast<double>(trips.number()));
        if (trips.isTensor() && trips.tensor().numel() == 1) return times(trips.tensor().toDouble(0));
        return {};
    }

    /// The condition that a body gives is the one that it was given, or true.
    bool staysTrue(const Body& body, NodeId condition) const {
        for (std::size_t step = 0; step <= body.order.size(); ++step) {
            if (condition == body.inputs[1]) return true;
            const graph::Node& node = m_graph.node(condition);
            if (node.constant) return isTrue(*node.constant);
            const Expr& producer = m_graph.expr(node.producer);
            const bool passes = graph::traitsOf(producer).opClass == OpClass::Identity ||
                                graph::traitsOf(producer).opClass == OpClass::Cast;
            if (!passes || producer.inputs.empty()) return false;
            condition = producer.inputs.front();
        }
        return false;
    }

    Symbolic scanLength(const Expr& expr) const {
        const std::int64_t count = expr.attributes.getInt("num_scan_inputs", 0);
        const auto arguments = static_cast<std::int64_t>(expr.arguments.size());
        if (count < 1 || count > arguments) return {};
        const Argument& sequence = expr.arguments[static_cast<std::size_t>(arguments - count)];
        if (sequence.kind != Argument::Kind::Node) return {};
        const TypeInfo& type = m_graph.node(sequence.node).type;
        const std::vector<std::int64_t> axes = expr.attributes.getInts("scan_input_axes");
        // Version 8 has a batch in front.
        const std::int64_t first = axes.empty() ? (expr.op.version < 9 ? 1 : 0) : axes.front();
        const auto rank = static_cast<std::int64_t>(type.shape ? type.shape->size() : 0);
        const std::int64_t axis = first < 0 ? first + rank : first;
        if (axis < 0 || axis >= rank) return {};
        return Symbolic::of((*type.shape)[static_cast<std::size_t>(axis)]);
    }

    Value constantOf(const Argument& argument) const {
        if (argument.kind == Argument::Kind::Constant) return argument.constant;
        if (argument.kind != Argument::Kind::Node) return {};
        return m_graph.node(argument.node).constant.value_or(Value());
    }

    static bool isTrue(const Value& value) {
        if (value.isTensor()) return value.tensor().numel() == 1 && value.tensor().toDouble(0) != 0;
        return value.isNumber() && value.number() != 0;
    }

    /// Liveness of the main body, in its order.
    void findPeak() {
        const std::vector<ExprId>& order = m_graph.main().order;
        std::vector<NodeId> memory(m_graph.nodeCount());  // whose memory a node is
        std::vector<std::size_t> lastUse(m_graph.nodeCount(), 0);
        std::vector<std::int64_t> bytes(m_graph.nodeCount(), 0);
        for (std::size_t at = 0; at < order.size(); ++at) {
            const Expr& expr = m_graph.expr(order[at]);
            for (const NodeId node : expr.outputs) {
                const bool isView = !expr.inputs.empty() && expr.bodies.empty() && !isOwn(expr);
                memory[node.index()] = isView ? memory[expr.inputs.front().index()] : node;
                if (isView || m_graph.node(node).constant) continue;
                const auto size = bytesOfType(m_graph.node(node).type).constant();
                if (!size && m_graph.node(node).type.kind) return;
                bytes[node.index()] = size.value_or(0);
            }
        }
        const auto use = [&](NodeId node, std::size_t at) {
            if (!memory[node.index()].valid()) return;
            std::size_t& last = lastUse[memory[node.index()].index()];
            last = std::max(last, at);
        };
        for (std::size_t at = 0; at < order.size(); ++at) {
            for (const NodeId node : m_graph.expr(order[at]).outputs) use(node, at);
            for (const ExprId id : insideOf(order[at]))
                for (const NodeId node : m_graph.expr(id).inputs) use(node, at);
        }
        for (const NodeId node : m_graph.outputs()) use(node, order.size());
        std::vector<std::int64_t> freed(order.size() + 1, 0);
        for (std::size_t i = 0; i < bytes.size(); ++i) freed[std::min(lastUse[i], order.size())] += bytes[i];
        std::int64_t live = 0, peak = 0;
        for (std::size_t at = 0; at < order.size(); ++at) {
            for (const NodeId node : m_graph.expr(order[at]).outputs) live += bytes[node.index()];
            peak = std::max(peak, live);
            live -= freed[at];
        }
        m_cost.peakActivationBytes = peak;
    }

    /// An expr with all in its bodies, which capture values.
    std::vector<ExprId> insideOf(ExprId id) const {
        std::vector<ExprId> all{id};
        for (const BodyId body : m_graph.expr(id).bodies)
            for (const ExprId inner : m_graph.recursiveOrder(body)) all.push_back(inner);
        return all;
    }

    bool isOwn(const Expr& expr) const {
        return expr.kind == ExprKind::Input || expr.kind == ExprKind::Constant || expr.kind == ExprKind::GetAttr ||
               m_cost.ofExpr[expr.id.index()].part == CostPart::NotCounted || m_isOwn[expr.id.index()];
    }

    const InternalGraph& m_graph;
    const graph::ModuleTree& m_modules;
    const BodyRuns* m_runs;
    const ops::Registry& m_registry;
    ModelCost m_cost;
    std::vector<bool> m_isOwn;  ///< by expr: its results are memory of its own
};

}  // namespace

void CostSum::add(const CostSum& other) {
    flops.add(other.flops);
    multiplyAdds.add(other.multiplyAdds);
    bytesRead.add(other.bytesRead);
    bytesWritten.add(other.bytesWritten);
    activationBytes.add(other.activationBytes);
    unknownFlops += other.unknownFlops;
    unknownMultiplyAdds += other.unknownMultiplyAdds;
    unknownBytes += other.unknownBytes;
}

std::optional<double> CostSum::intensity() const {
    const auto work = flops.constant(), read = bytesRead.constant(), written = bytesWritten.constant();
    if (!work || !read || !written || *read + *written <= 0) return std::nullopt;
    return static_cast<double>(*work) / static_cast<double>(*read + *written);
}

std::string operatorTitle(const Expr& expr) {
    if (expr.op.name.empty()) return expr.moduleClass.empty() ? expr.target : expr.moduleClass;
    return expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name;
}

ModelCost costOfModel(const InternalGraph& graph, const graph::ModuleTree& modules, const BodyRuns* runs,
                      const ops::Registry& registry) {
    return CostCounter(graph, modules, runs, registry).count();
}

}  // namespace sonde::analysis
