#include <algorithm>
#include <map>
#include <set>

#include "core/graph/purify.h"
#include "core/graph/set_item.h"
#include "core/passes/all_passes.h"
#include "core/passes/inplace.h"
#include "core/passes/inplace_walk.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

bool isCall(const Expr& expr) {
    if (expr.kind != ExprKind::CallFunction && expr.kind != ExprKind::CallMethod && expr.kind != ExprKind::CallModule &&
        expr.kind != ExprKind::Apply) {
        return false;
    }
    // ONNX operators compute values; there is nothing in place about them.
    return expr.op.name.empty() || familyOf(expr) != Family::Onnx;
}

class InplaceRemover {
  public:
    InplaceRemover(InternalGraph& graph, Notes& notes) : m_graph(graph), m_rewrite(graph, notes) {}

    /// The count that removeInplace gives. `effective`: writes that were read by an older name.
    base::Result<std::int64_t> run(bool recursive, std::set<ExprId>& effective);
    /// Writes that are only right where a check of a run says so.
    const std::set<ExprId>& guarded() const { return m_guarded; }

  private:
    base::Result<std::int64_t> clean(BodyId body);
    void eraseMarkers();
    void mergeAttributeReads();
    void eraseUnusedArithmetic();
    std::vector<ExprId> unusedCalls() const;
    bool isUnused(const Expr& expr) const;
    base::Result<void> prune(const InplaceWalk& walk);
    std::vector<ExprId> order() const { return m_graph.body(m_body).order; }

    InternalGraph& m_graph;
    Rewrite m_rewrite;
    BodyId m_body;
    std::set<ExprId> m_guarded;
};

base::Result<std::int64_t> InplaceRemover::run(bool recursive, std::set<ExprId>& effective) {
    std::int64_t count = 0;
    for (BodyId body : m_rewrite.bodies()) {
        if (body != m_graph.mainId() && !recursive) break;
        SONDE_ASSIGN(const std::int64_t cleaned, clean(body));
        count += cleaned;
    }
    std::set<ExprId> used;  // writes whose result is read: they count if others read it, too
    bool anyWrite = false;
    for (ExprId id : m_graph.recursiveOrder(m_graph.mainId())) {
        if (!mutates(m_graph.expr(id))) continue;
        anyWrite = true;
        if (!isUnused(m_graph.expr(id))) used.insert(id);
    }
    if (!anyWrite) return count;
    InplaceWalk walk(m_rewrite);
    SONDE_TRY(walk.run());
    effective = walk.effective();
    m_guarded = walk.guarded();
    for (ExprId id : effective) count += used.contains(id);
    SONDE_TRY(prune(walk));
    return count;
}

bool InplaceRemover::isUnused(const Expr& expr) const {
    return std::all_of(expr.outputs.begin(), expr.outputs.end(),
                       [this](NodeId node) { return m_graph.node(node).users.empty() && !m_rewrite.isResult(node); });
}

void InplaceRemover::eraseMarkers() {
    for (ExprId id : order()) {
        if (opClassOf(m_graph.expr(id)) == OpClass::Marker && isUnused(m_graph.expr(id)))
            m_rewrite.erase(id, "computes nothing");
    }
}

/// Calls that nobody reads: writes, and dead code.
std::vector<ExprId> InplaceRemover::unusedCalls() const {
    std::vector<ExprId> found;
    for (ExprId id : order()) {
        const Expr& expr = m_graph.expr(id);
        const OpClass opClass = opClassOf(expr);
        if (!isCall(expr) || expr.outputs.empty() || !isUnused(expr)) continue;
        if (opClass == OpClass::Index || opClass == OpClass::Assertion || opClass == OpClass::Marker) continue;
        if (expr.op.domain == "prim" && (opClass == OpClass::Or || opClass == OpClass::And)) continue;
        found.push_back(id);
    }
    return found;
}

/// Every read of one attribute gives the same tensor: a write to it is seen by the later reads.
void InplaceRemover::mergeAttributeReads() {
    std::map<std::string, NodeId> first;
    for (ExprId id : order()) {
        const Expr& expr = m_graph.expr(id);
        if (graph::isSetItem(expr)) {
            Expr& method = m_graph.mutableExpr(id);
            method.kind = ExprKind::CallFunction;
            method.op = {"prim", "setitem", 0};
            method.target = "operator.setitem";
        }
        if (expr.kind != ExprKind::GetAttr || expr.outputs.size() != 1 || !expr.arguments.empty()) continue;
        const auto [known, added] = first.emplace(expr.target, m_rewrite.output(id));
        if (added) continue;
        const std::string why = "the same attribute is read before";
        m_rewrite.replace(m_rewrite.output(id), known->second, why);
        m_rewrite.erase(id, why);
    }
}

void InplaceRemover::eraseUnusedArithmetic() {
    const std::vector<ExprId> exprs = order();
    for (std::size_t i = exprs.size(); i-- > 0;) {
        const Expr& expr = m_graph.expr(exprs[i]);
        const OpClass opClass = opClassOf(expr);
        const bool isComparison =
            familyOf(expr) == Family::Prim && (opClass == OpClass::Equal || opClass == OpClass::NotEqual);
        const bool isArithmetic = opClass == OpClass::Add || opClass == OpClass::Sub || opClass == OpClass::Mul ||
                                  opClass == OpClass::Arithmetic || isComparison;
        if (isArithmetic && isUserLevel(expr) && !mutates(expr) && isUnused(expr)) m_rewrite.erase(exprs[i], "unused");
    }
}

/// Takes out what does nothing. How many calls nobody read, before.
base::Result<std::int64_t> InplaceRemover::clean(BodyId body) {
    m_body = body;
    eraseMarkers();
    const auto candidates = static_cast<std::int64_t>(unusedCalls().size());
    const bool anyWrite = std::ranges::any_of(order(), [this](ExprId id) { return mutates(m_graph.expr(id)); });
    if (candidates == 0 && !anyWrite) return 0;
    if (anyWrite) mergeAttributeReads();
    eraseUnusedArithmetic();
    const std::vector<ExprId> unused = unusedCalls();
    if (unused.empty() && !anyWrite) return 0;
    // What only dead code reads goes with it.
    for (std::size_t i = unused.size(); i-- > 0;) {
        if (m_graph.isErased(unused[i]) || mutates(m_graph.expr(unused[i])) ||
            holdsEffect(m_graph, m_graph.expr(unused[i])))
            continue;
        SONDE_TRY(eraseChain(m_rewrite, unused[i]));
    }
    return candidates;
}

/// Takes out what nobody reads: what the walk has made for nothing, writes that were turned into something else or have
/// no effect, and views that only they needed.
base::Result<void> InplaceRemover::prune(const InplaceWalk& walk) {
    const std::set<ExprId> inserted(walk.inserted().begin(), walk.inserted().end());
    const std::vector<ExprId> order = m_graph.recursiveOrder(m_graph.mainId());
    for (std::size_t i = order.size(); i-- > 0;) {
        const ExprId id = order[i];
        if (m_graph.isErased(id) || m_graph.expr(id).outputs.empty() || !isUnused(m_graph.expr(id))) continue;
        if (mutates(m_graph.expr(id)) || walk.reformed().contains(id)) {
            SONDE_TRY(eraseChain(m_rewrite, id));
        } else if (inserted.contains(id)) {
            m_rewrite.erase(id, "");
        } else if (walk.writtenViews().contains(id)) {
            m_rewrite.erase(id, "used only by the removed write");
        }
    }
    return {};
}

}  // namespace

base::Result<std::int64_t> removeInplace(InternalGraph& graph, const RemoveInplaceOptions& options, Notes* notes) {
    InternalGraph copy = graph;
    Notes said;
    std::set<ExprId> effective;
    auto count = InplaceRemover(copy, said).run(options.recursive, effective);
    if (!count) {
        if (!options.fail) return -1;
        base::Error error = std::move(count).error();
        if (!options.program.empty()) error.notes.push_back("the graph was made from:\n" + options.program);
        return error;
    }
    if (!said.byNode.empty()) graph = std::move(copy);
    // Whatever a tracer has marked, a run sees every write now.
    for (std::size_t i = 0; i < graph.exprCount(); ++i)
        graph.mutableExpr(ExprId(i)).attributes.erase(graph::kWritesInPlace);
    if (notes) notes->byNode.insert(notes->byNode.end(), said.byNode.begin(), said.byNode.end());
    return *count;
}

base::Result<std::size_t> removeInplacePass(Rewrite& rewrite) {
    SONDE_ASSIGN(const std::int64_t count, removeInplace(rewrite.graph(), {}, &rewrite.notes()));
    return static_cast<std::size_t>(count);
}

namespace {

/// Writes that a run of the graph as it is would not see or not check; all, if that is not known.
std::set<ExprId> unseenWrites(const InternalGraph& graph) {
    InternalGraph copy = graph;
    Notes said;
    std::set<ExprId> effective;
    InplaceRemover remover(copy, said);
    if (remover.run(true, effective)) {
        effective.insert(remover.guarded().begin(), remover.guarded().end());
        return effective;
    }
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (mutates(graph.expr(id))) effective.insert(id);
    }
    return effective;
}

}  // namespace

}  // namespace sonde::passes

namespace sonde::graph {

base::Result<std::shared_ptr<InternalGraph>> purified(const InternalGraph& recorded, bool removeInPlace) {
    auto graph = std::make_shared<InternalGraph>(recorded);
    passes::removeUnnecessarySlices(*graph);
    if (removeInPlace) {
        SONDE_TRY(passes::removeInplace(*graph));
        return graph;
    }
    const std::size_t known = graph->exprCount();
    for (ExprId id : passes::unseenWrites(*graph)) {
        if (id.index() < known) graph->mutableExpr(id).attributes.set(kWritesInPlace, std::int64_t{1});
    }
    return graph;
}

}  // namespace sonde::graph
