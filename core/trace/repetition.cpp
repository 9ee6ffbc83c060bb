#include "core/trace/repetition.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/guard.h"

namespace sonde::trace {

namespace {

using graph::Argument;
using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using Mismatch = std::optional<std::string>;

/// Numbers and constants are the program's own, whether or not a node makes them.
bool isConstant(const InternalGraph& graph, NodeId node) {
    const ExprKind kind = graph.expr(graph.node(node).producer).kind;
    return kind == ExprKind::Constant || kind == ExprKind::GetAttr;
}

bool isExternal(const InternalGraph& graph, NodeId node) {
    const Expr& producer = graph.expr(graph.node(node).producer);
    return isConstant(graph, node) || (producer.kind == ExprKind::Input && producer.body == graph.mainId());
}

class Comparison {
  public:
    Comparison(const InternalGraph& recorded, const InternalGraph& again, bool capturesMayChange)
        : m_recorded(recorded), m_again(again), m_capturesMayChange(capturesMayChange) {}

    Mismatch run() {
        if (Mismatch found = compareBodies(m_recorded.mainId(), m_again.mainId())) return found;
        for (const NodeId node : m_againReads) {
            if (!isExternal(m_again, node) && !m_readable.contains(m_sameAs[node])) return "data unreadable";
        }
        return std::nullopt;
    }

    /// After run(): what the functions return.
    bool hasSameResult() { return !compareArguments(m_recorded.main().result, m_again.main().result); }

    /// After run(): guards ask for the same of the same values.
    bool hasSameGuards() {
        return std::ranges::all_of(m_guards, [this](const auto& body) {
            return std::ranges::equal(body.first, body.second,
                                      [this](const Expr* a, const Expr* b) { return isSameGuard(*a, *b); });
        });
    }

  private:
    using Guards = std::vector<const Expr*>;

    Mismatch compareBodies(BodyId recorded, BodyId again) {
        const Body& left = m_recorded.body(recorded);
        const Body& right = m_again.body(again);
        if (left.inputs.size() != right.inputs.size()) return "operator mismatch";
        for (std::size_t i = 0; i < left.inputs.size(); ++i) {
            if (Mismatch found = compareTypes(left.inputs[i], right.inputs[i])) return found;
            m_sameAs[right.inputs[i]] = left.inputs[i];
        }
        const std::vector<const Expr*> wanted = stepsOf(m_recorded, left);
        const std::vector<const Expr*> given = stepsOf(m_again, right);
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (i >= wanted.size()) return "too many instructions";
            if (Mismatch found = compareSteps(*wanted[i], *given[i])) return found;
        }
        if (given.size() < wanted.size()) return "mismature end";
        m_guards.emplace_back(guardsOf(m_recorded, left), guardsOf(m_again, right));
        const auto noteReads = [](const InternalGraph& graph, const Body& body, auto&& note) {
            for (const NodeId node : body.outputs) note(node);
            for (const ExprId id : body.order) {
                if (graph::isGuard(graph.expr(id))) std::ranges::for_each(graph.expr(id).inputs, note);
            }
        };
        noteReads(m_recorded, left, [this](NodeId node) { m_readable.insert(node); });
        noteReads(m_again, right, [this](NodeId node) { m_againReads.push_back(node); });
        return std::nullopt;
    }

    static std::vector<const Expr*> stepsOf(const InternalGraph& graph, const Body& body) {
        std::vector<const Expr*> steps;
        for (const ExprId id : body.order) {
            const Expr& expr = graph.expr(id);
            const bool isStep = expr.kind != ExprKind::Input && expr.kind != ExprKind::Constant &&
                                expr.kind != ExprKind::GetAttr && expr.kind != ExprKind::Output;
            if (isStep && !graph::isGuard(expr)) steps.push_back(&expr);
        }
        return steps;
    }

    static Guards guardsOf(const InternalGraph& graph, const Body& body) {
        Guards guards;
        for (const ExprId id : body.order)
            if (graph::isGuard(graph.expr(id))) guards.push_back(&graph.expr(id));
        return guards;
    }

    bool isSameGuard(const Expr& recorded, const Expr& again) {
        const graph::Attributes &left = recorded.attributes, &right = again.attributes;
        return std::ranges::equal(recorded.arguments, again.arguments,
                                  [this](const Argument& a, const Argument& b) { return !compareArguments(a, b); }) &&
               left.getString(graph::kGuardKind, {}) == right.getString(graph::kGuardKind, {}) &&
               left.getInt(graph::kGuardExpected, 0) == right.getInt(graph::kGuardExpected, 0) &&
               left.getFloat(graph::kGuardExpected, 0) == right.getFloat(graph::kGuardExpected, 0);
    }

    Mismatch compareSteps(const Expr& recorded, const Expr& again) {
        const bool isSame =
            recorded.kind == again.kind && recorded.op.domain == again.op.domain && recorded.op.name == again.op.name &&
            recorded.target == again.target && recorded.arguments.size() == again.arguments.size() &&
            recorded.keywords.size() == again.keywords.size() && recorded.outputs.size() == again.outputs.size() &&
            recorded.bodies.size() == again.bodies.size();
        if (!isSame) return "operator mismatch";
        for (std::size_t i = 0; i < recorded.arguments.size(); ++i) {
            if (Mismatch found = compareArguments(recorded.arguments[i], again.arguments[i])) return found;
        }
        for (std::size_t i = 0; i < recorded.keywords.size(); ++i) {
            if (recorded.keywords[i].first != again.keywords[i].first) return "operator mismatch";
            if (Mismatch found = compareArguments(recorded.keywords[i].second, again.keywords[i].second)) return found;
        }
        for (std::size_t i = 0; i < recorded.bodies.size(); ++i) {
            if (Mismatch found = compareBodies(recorded.bodies[i], again.bodies[i])) return found;
        }
        for (std::size_t i = 0; i < recorded.outputs.size(); ++i) m_sameAs[again.outputs[i]] = recorded.outputs[i];
        return std::nullopt;
    }

    Mismatch compareArguments(const Argument& recorded, const Argument& again) {
        using Kind = Argument::Kind;
        const auto isValue = [](const Argument& argument) {
            return argument.kind == Kind::Node || argument.kind == Kind::Constant;
        };
        if (isValue(recorded) && isValue(again)) return compareValues(recorded, again);
        if (recorded.kind != again.kind || recorded.items.size() != again.items.size() ||
            recorded.keys.size() != again.keys.size())
            return "operator mismatch";
        if (!std::ranges::equal(recorded.keys, again.keys,
                                [](const auto& a, const auto& b) { return tensor::identical(a, b); }))
            return "operator mismatch";
        for (std::size_t i = 0; i < recorded.items.size(); ++i) {
            if (Mismatch found = compareArguments(recorded.items[i], again.items[i])) return found;
        }
        return std::nullopt;
    }

    Mismatch compareValues(const Argument& recorded, const Argument& again) {
        const auto isOutside = [](const InternalGraph& graph, const Argument& argument) {
            return argument.kind == Argument::Kind::Constant || isExternal(graph, argument.node);
        };
        const bool wantsExternal = isOutside(m_recorded, recorded), isGivenExternal = isOutside(m_again, again);
        if (wantsExternal != isGivenExternal)
            return wantsExternal ? "expect external node, got internal" : "expect internal node, got external";
        const tensor::Value* wanted = constantOf(m_recorded, recorded);
        const tensor::Value* given = constantOf(m_again, again);
        if (wanted && given && m_capturesMayChange && wanted->isTensor() && given->isTensor())
            return compareDTypes(wanted->tensor().dtype(), given->tensor().dtype());
        if (wanted && given) return tensor::identical(*wanted, *given) ? Mismatch() : Mismatch("tensors not equals");
        if (wanted || given) return "input id mismatch";
        const auto known = m_sameAs.find(again.node);
        if (known == m_sameAs.end() || known->second != recorded.node) return "input id mismatch";
        return compareTypes(recorded.node, again.node);
    }

    static const tensor::Value* constantOf(const InternalGraph& graph, const Argument& argument) {
        if (argument.kind == Argument::Kind::Constant) return &argument.constant;
        const auto& constant = graph.node(argument.node).constant;
        return isConstant(graph, argument.node) && constant ? &*constant : nullptr;
    }

    Mismatch compareTypes(NodeId recorded, NodeId again) const {
        return compareDTypes(m_recorded.node(recorded).type.dtype, m_again.node(again).type.dtype);
    }

    static Mismatch compareDTypes(tensor::DType wanted, tensor::DType given) {
        if (wanted == given || wanted == tensor::DType::Undefined || given == tensor::DType::Undefined)
            return std::nullopt;
        return "dtype mismatch: " + std::string(tensor::name(wanted)) + " vs " + std::string(tensor::name(given));
    }

    const InternalGraph& m_recorded;
    const InternalGraph& m_again;
    const bool m_capturesMayChange;
    std::unordered_map<NodeId, NodeId> m_sameAs;  ///< of the second trace -> of the recorded one
    std::unordered_set<NodeId> m_readable;        ///< of the recorded one
    std::vector<NodeId> m_againReads;
    std::vector<std::pair<Guards, Guards>> m_guards;  ///< of each body: recorded and again
};

}  // namespace

std::optional<std::string> repetitionMismatch(const InternalGraph& recorded, const InternalGraph& again,
                                              bool capturesMayChange) {
    return Comparison(recorded, again, capturesMayChange).run();
}

bool repeatsResult(const InternalGraph& recorded, const InternalGraph& again, bool capturesMayChange) {
    Comparison comparison(recorded, again, capturesMayChange);
    return !comparison.run() && comparison.hasSameResult() && comparison.hasSameGuards();
}

}  // namespace sonde::trace
