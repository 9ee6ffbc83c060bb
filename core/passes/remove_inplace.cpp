#include <algorithm>
#include <map>

#include "core/passes/all_passes.h"
#include "core/passes/inplace.h"
#include "core/passes/view_chain.h"
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

/// Recorded from the operators and methods that users write, not from low-level operators.
bool isUserLevel(const Expr& expr) {
    return expr.kind == ExprKind::CallMethod || expr.op.domain == "prim" || expr.target.starts_with("operator.");
}

/// A tensor with memory of its own: nothing else shows what is written to it.
bool isFresh(const Expr& producer) {
    const Meaning meaning = meaningOf(producer);
    if (meaning == Meaning::Clone || meaning == Meaning::Create || mutates(producer)) return true;
    return producer.op.domain == "aten" && producer.op.name == "expand_as";
}

class InplaceRemover {
  public:
    InplaceRemover(InternalGraph& graph, Notes& notes) : m_graph(graph), m_rewrite(graph, notes) {}

    base::Result<std::int64_t> run(bool recursive) {
        std::int64_t count = 0;
        const std::vector<BodyId> bodies = m_rewrite.bodies();
        for (BodyId body : bodies) {
            if (body != m_graph.mainId() && !recursive) break;
            SONDE_ASSIGN(const std::int64_t handled, runBody(body));
            count += handled;
        }
        return count;
    }

  private:
    base::Result<std::int64_t> runBody(BodyId body);
    void eraseMarkers();
    void mergeAttributeReads();
    void eraseUnusedArithmetic();
    std::vector<ExprId> unusedCalls() const;
    bool isUnused(const Expr& expr) const;
    base::Result<bool> write(ExprId id);
    base::Result<void> writePart(ExprId id, const ViewChain& chain);
    base::Result<void> checkPart(ExprId id, const ViewChain& chain) const;
    base::Result<void> overwrite(ExprId id, NodeId target);
    using Levels = std::vector<std::pair<NodeId, Argument>>;
    Levels levelsOf(const ViewChain& chain) const;
    ExprId setItems(ExprId anchor, const Levels& levels, Argument value, std::string_view op);
    base::Result<void> retakeViews(ExprId anchor, NodeId root, NodeId renewed, ExprId written);
    base::Result<void> checkOutside(ExprId id, NodeId root) const;
    bool familyIsReadBehind(NodeId root, NodeId target, ExprId anchor) const;
    base::Error impossible(ExprId id, const std::string& what, const std::string& hint) const;
    std::vector<ExprId> order() const { return m_graph.body(m_body).order; }

    InternalGraph& m_graph;
    Rewrite m_rewrite;
    BodyId m_body;
};

bool InplaceRemover::isUnused(const Expr& expr) const {
    return std::all_of(expr.outputs.begin(), expr.outputs.end(),
                       [this](NodeId node) { return m_graph.node(node).users.empty() && !m_rewrite.isResult(node); });
}

base::Error InplaceRemover::impossible(ExprId id, const std::string& what, const std::string& hint) const {
    const Expr& expr = m_graph.expr(id);
    std::string where = "node '" + m_graph.node(expr.outputs.front()).name + "', operation " + std::to_string(m_rewrite.position(id)) +
                        ", " + operationText(expr);
    if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
    return base::runError("(inplace) " + what, std::move(where), hint);
}

void InplaceRemover::eraseMarkers() {
    for (ExprId id : order()) {
        if (meaningOf(m_graph.expr(id)) == Meaning::Marker && isUnused(m_graph.expr(id))) m_rewrite.erase(id, "computes nothing");
    }
}

/// Calls that nobody reads: writes, and dead code.
std::vector<ExprId> InplaceRemover::unusedCalls() const {
    std::vector<ExprId> found;
    for (ExprId id : order()) {
        const Expr& expr = m_graph.expr(id);
        const Meaning meaning = meaningOf(expr);
        if (!isCall(expr) || expr.outputs.empty() || !isUnused(expr)) continue;
        if (meaning == Meaning::Index || meaning == Meaning::Assertion || meaning == Meaning::Marker) continue;
        if (expr.op.domain == "prim" && (expr.op.name == "or_" || expr.op.name == "and_")) continue;
        found.push_back(id);
    }
    return found;
}

/// Every read of one attribute gives the same tensor: a write to it is seen by the later reads.
void InplaceRemover::mergeAttributeReads() {
    std::map<std::string, NodeId> first;
    for (ExprId id : order()) {
        const Expr& expr = m_graph.expr(id);
        if (expr.kind == ExprKind::CallMethod && expr.target == "__setitem__") {
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
        const Meaning meaning = meaningOf(expr);
        const bool isArithmetic = meaning == Meaning::Add || meaning == Meaning::Sub || meaning == Meaning::Mul || meaning == Meaning::Arithmetic;
        if (isArithmetic && isUserLevel(expr) && !mutates(expr) && isUnused(expr)) m_rewrite.erase(exprs[i], "nobody reads it");
    }
}

base::Result<std::int64_t> InplaceRemover::runBody(BodyId body) {
    m_body = body;
    eraseMarkers();
    const auto candidates = static_cast<std::int64_t>(unusedCalls().size());
    bool anyWrite = false;
    for (ExprId id : order()) anyWrite = anyWrite || mutates(m_graph.expr(id)) || m_graph.expr(id).target == "__setitem__";
    if (candidates == 0 && !anyWrite) return 0;
    if (anyWrite) mergeAttributeReads();
    eraseUnusedArithmetic();
    if (unusedCalls().empty() && !anyWrite) return 0;
    // Dead code first; what only it reads goes with it.
    std::vector<ExprId> dead = unusedCalls();
    for (std::size_t i = dead.size(); i-- > 0;) {
        if (m_graph.isErased(dead[i]) || mutates(m_graph.expr(dead[i]))) continue;
        SONDE_TRY(eraseChain(m_rewrite, dead[i]));
    }
    std::int64_t usedWrites = 0;
    for (ExprId id : order()) {
        if (m_graph.isErased(id) || !mutates(m_graph.expr(id))) continue;
        const bool wasUnused = isUnused(m_graph.expr(id));
        SONDE_ASSIGN(const bool changed, write(id));
        if (changed && !wasUnused) ++usedWrites;
    }
    return candidates + usedWrites;
}

/// Anything but the written node itself that shares its memory is read behind the write.
bool InplaceRemover::familyIsReadBehind(NodeId root, NodeId target, ExprId anchor) const {
    if (root != target && m_rewrite.isReadBehind(root, anchor)) return true;
    for (ExprId id : order()) {
        const Expr& expr = m_graph.expr(id);
        if (!makesView(expr)) continue;
        for (NodeId node : expr.outputs) {
            // Views of the written node itself follow it.
            if (node == target || viewChainOf(m_rewrite, node).root != root) continue;
            const ViewChain chain = viewChainOf(m_rewrite, node);
            const bool ofTarget = std::any_of(chain.views.begin(), chain.views.end(), [&](ExprId view) {
                return m_graph.expr(view).arguments[0].node == target;
            });
            if (!ofTarget && m_rewrite.isReadBehind(node, anchor)) return true;
        }
    }
    return false;
}

/// A write inside a body to what comes from outside of it is lost there.
base::Result<void> InplaceRemover::checkOutside(ExprId id, NodeId root) const {
    const ExprId owner = m_graph.body(m_body).owner;
    if (!owner.valid()) return {};
    NodeId outer = root;
    const Expr& producer = m_rewrite.producer(root);
    if (producer.body == m_body) {
        if (producer.kind != ExprKind::Input) return {};
        const std::vector<NodeId>& inputs = m_graph.body(m_body).inputs;
        const auto at = static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), root) - inputs.begin());
        const Expr& call = m_graph.expr(owner);
        if (!call.op.name.empty() || at >= call.inputs.size()) return {};
        outer = call.inputs[at];
    }
    const NodeId outerRoot = viewChainOf(m_rewrite, outer).root;
    if (m_rewrite.isReadBehind(outer, owner) || (outerRoot != outer && m_rewrite.isReadBehind(outerRoot, owner))) {
        return impossible(id, "a module writes to a tensor of its caller, who reads it afterwards", "trace into the module (--leaf none)");
    }
    return {};
}

/// Handles one write. True if anything else than the write itself changed.
base::Result<bool> InplaceRemover::write(ExprId id) {
    const Expr& expr = m_graph.expr(id);
    if (expr.arguments.empty() || expr.arguments[0].kind != Argument::Kind::Node) return false;
    const NodeId target = expr.arguments[0].node;
    const NodeId result = m_rewrite.output(id);
    const ViewChain chain = viewChainOf(m_rewrite, target);
    SONDE_TRY(checkOutside(id, chain.root));
    const bool others = familyIsReadBehind(chain.root, target, id);
    const bool readAgain = others || m_rewrite.isReadBehind(target, id);
    if (!readAgain && isUnused(expr)) {
        SONDE_TRY(eraseChain(m_rewrite, id));
        return true;
    }
    if (!chain.views.empty() && others) {
        SONDE_TRY(writePart(id, chain));
        return true;
    }
    if (meaningOf(expr) == Meaning::Copy && expr.arguments.size() > 1) {
        if (chain.views.empty() && !isFresh(m_rewrite.producer(target))) {
            return impossible(id, "Unexpected predecessor: " + operationText(m_rewrite.producer(target)), "copy_ needs a clone to write to");
        }
        SONDE_TRY(overwrite(id, target));
        return true;
    }
    const bool changed = m_rewrite.replaceBehind(target, result, id) > 0;
    if (changed) m_rewrite.say(result, "later uses of " + m_graph.node(target).name + " read what was written to it");
    SONDE_TRY(retakeViews(id, target, result, id));
    return changed;
}

/// copy_(t, v) over a whole tensor: later uses read v in t's shape and dtype.
base::Result<void> InplaceRemover::overwrite(ExprId id, NodeId target) {
    Argument value = m_graph.expr(id).arguments[1];
    const std::string why = "is what copy_ wrote to " + m_graph.node(target).name;
    const auto call = [&](const std::string& name, std::vector<Argument> arguments) {
        Expr expr;
        expr.kind = ExprKind::CallFunction;
        expr.op = {"aten", name, 0};
        expr.target = "torch." + name;
        expr.arguments = std::move(arguments);
        return m_rewrite.insertBefore(id, std::move(expr), name, why);
    };
    const bool isNode = value.kind == Argument::Kind::Node;
    if (isNode) {
        const tensor::DType from = dtypeOf(m_graph, value.node);
        const tensor::DType to = dtypeOf(m_graph, target);
        const bool known = from != tensor::DType::Undefined && to != tensor::DType::Undefined;
        if (known && from != to) value = Argument::of(m_rewrite.output(call("type_as", {value, Argument::of(target)})));
    }
    const ExprId made = isNode ? call("expand_as", {value, Argument::of(target)}) : call("full_like", {Argument::of(target), value});
    m_rewrite.addOrigins(made, id);
    const NodeId renewed = m_rewrite.output(made);
    m_rewrite.replace(m_rewrite.output(id), renewed, "the copy became a value");
    m_rewrite.replaceBehind(target, renewed, id);
    SONDE_TRY(retakeViews(id, target, renewed, id));
    m_rewrite.erase(id, "the copy became a value");
    return {};
}

/// root with `value` in the region of each level, innermost first, behind `anchor`. The last expr made.
ExprId InplaceRemover::setItems(ExprId anchor, const Levels& levels, Argument value, std::string_view op) {
    ExprId last = anchor;
    for (const auto& [base, index] : levels) {
        Expr expr;
        expr.kind = ExprKind::CallFunction;
        expr.op = {"prim", std::string(op), 0};
        expr.target = op == "setitem" ? "operator.setitem" : std::string(op);
        expr.arguments = {Argument::of(base), index, std::move(value)};
        last = m_rewrite.insertAfter(last, std::move(expr), op, "a write to a part of " + m_graph.node(base).name + " as a value");
        m_rewrite.addOrigins(last, anchor);
        value = Argument::of(m_rewrite.output(last));
    }
    return last;
}

/// Which part of what is written: one index for the whole chain, or one for each view where they do not merge:
/// setitem(root, i1, setitem(root[i1], i2, value)). Empty: an axis is not known.
InplaceRemover::Levels InplaceRemover::levelsOf(const ViewChain& chain) const {
    if (auto index = mergedIndex(m_graph, chain)) return {{chain.root, std::move(*index)}};
    Levels levels;
    for (ExprId view : chain.views) {
        auto index = indexOf(m_graph, m_graph.expr(view));
        if (!index) return {};
        levels.emplace_back(m_graph.expr(view).arguments[0].node, std::move(*index));
    }
    return levels;
}

base::Result<void> InplaceRemover::checkPart(ExprId id, const ViewChain& chain) const {
    for (ExprId view : chain.views) {
        if (cutsPart(m_graph, m_graph.expr(view))) continue;
        return impossible(id, "in-place through view not supported: " + operationText(m_graph.expr(view)),
                          "write to the tensor itself, or to a clone of the view");
    }
    if (isFresh(m_rewrite.producer(chain.root))) return {};
    return impossible(id, "Unexpected predecessor: " + operationText(m_rewrite.producer(chain.root)),
                      "a part of a clone or of a new tensor can be written");
}

/// A write through slices, selections and indices of a fresh tensor.
base::Result<void> InplaceRemover::writePart(ExprId id, const ViewChain& chain) {
    SONDE_TRY(checkPart(id, chain));
    const Levels levels = levelsOf(chain);
    if (levels.empty()) return impossible(id, "the axis of a slice is not known", "");
    const Expr& expr = m_graph.expr(id);
    const NodeId target = expr.arguments[0].node;
    const NodeId result = m_rewrite.output(id);
    const std::string_view base = baseName(expr);
    const bool transforms = (base == "exp_" || base == "sigmoid_") && expr.arguments.size() == 1 && levels.size() == 1;
    // copy_ and fill_ have the new content of the region as their argument; of all others it is the result.
    const bool isPlain = (base == "copy_" || base == "fill_") && expr.arguments.size() > 1;
    ExprId last;
    if (transforms) {
        Argument step = Argument::container(Argument::Kind::Tuple, {Argument::of(Value(std::string(base.substr(0, base.size() - 1)))),
                                                                    Argument::container(Argument::Kind::Tuple, {})});
        Argument steps = Argument::container(Argument::Kind::Tuple, {std::move(step)});
        last = setItems(id, levels, std::move(steps), "setitem_with_transformation");
    } else {
        last = setItems(id, levels, isPlain ? expr.arguments[1] : Argument::of(result), "setitem");
    }
    const NodeId renewed = m_rewrite.output(last);
    m_rewrite.replaceBehind(chain.root, renewed, last);
    // Who reads the write's result reads the region, as it is then: a later write to it reaches the root, too.
    m_rewrite.replaceBehind(result, target, last);
    SONDE_TRY(retakeViews(last, chain.root, renewed, id));
    if (transforms || isPlain) {
        const std::string why = "the write became " + m_graph.node(renewed).name;
        m_rewrite.say(result, why, renewed);
        m_rewrite.erase(id, why);
    }
    for (ExprId view : chain.views) {
        if (!m_graph.isErased(view) && isUnused(m_graph.expr(view))) m_rewrite.erase(view, "only the write needed it");
    }
    return {};
}

/// Views taken before the write show the memory as it is after it: those that are read again are taken again.
base::Result<void> InplaceRemover::retakeViews(ExprId anchor, NodeId root, NodeId renewed, ExprId written) {
    std::map<NodeId, NodeId> again{{root, renewed}};
    std::vector<ExprId> made;
    ExprId last = anchor;
    for (ExprId id : order()) {
        if (id == anchor || id == written) break;
        const Expr& expr = m_graph.expr(id);
        if (!makesView(expr) || expr.outputs.size() != 1 || expr.arguments.empty() || expr.arguments[0].kind != Argument::Kind::Node) continue;
        const auto base = again.find(expr.arguments[0].node);
        if (base == again.end()) continue;
        const NodeId view = expr.outputs.front();
        if (expr.op.domain == "prim" && meaningOf(expr) == Meaning::Index && !cutsPart(m_graph, expr)) {
            if (viewChainOf(m_rewrite, view).root == view) continue;  // a copy, by a mask or a tensor of indices
            if (m_rewrite.isReadBehind(view, last)) {
                return impossible(written, "whether " + m_graph.node(view).name + " shares memory with what is written is not known", "");
            }
            continue;
        }
        Expr copy;
        copy.kind = expr.kind;
        copy.op = expr.op;
        copy.target = expr.target;
        copy.arguments = expr.arguments;
        copy.keywords = expr.keywords;
        copy.attributes = expr.attributes;
        copy.scope = expr.scope;
        copy.qualname = expr.qualname;
        copy.moduleClass = expr.moduleClass;
        copy.source = expr.source;
        copy.arguments[0] = Argument::of(base->second);
        const std::string name = m_graph.node(view).name;
        last = m_rewrite.insertAfter(last, std::move(copy), name, name + " as it is after the write");
        m_rewrite.addOrigins(last, id);
        m_graph.setType(m_rewrite.output(last), m_graph.node(view).type);
        made.push_back(last);
        again[view] = m_rewrite.output(last);
    }
    for (const auto& [before, after] : again) {
        if (before != root) m_rewrite.replaceBehind(before, after, last);
    }
    for (std::size_t i = made.size(); i-- > 0;) {
        if (isUnused(m_graph.expr(made[i]))) m_rewrite.erase(made[i], "");
    }
    return {};
}

}  // namespace

base::Result<std::int64_t> removeInplace(InternalGraph& graph, const RemoveInplaceOptions& options, Notes* notes) {
    InternalGraph copy = graph;
    Notes said;
    auto count = InplaceRemover(copy, said).run(options.recursive);
    if (!count) return options.fail ? base::Result<std::int64_t>(count.error()) : base::Result<std::int64_t>(-1);
    if (said.byNode.empty()) return *count;
    graph = std::move(copy);
    if (notes) notes->byNode.insert(notes->byNode.end(), said.byNode.begin(), said.byNode.end());
    return *count;
}

base::Result<std::size_t> removeInplacePass(Rewrite& rewrite) {
    SONDE_ASSIGN(const std::int64_t count, removeInplace(rewrite.graph(), {}, &rewrite.notes()));
    return static_cast<std::size_t>(count);
}

}  // namespace sonde::passes
