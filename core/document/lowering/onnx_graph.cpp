#include "core/document/lowering/onnx_graph.h"

#include <algorithm>
#include <set>

#include "core/document/lowering/lowering.h"
#include "core/exec/run.h"
#include "core/graph/guard.h"

namespace sonde::document {

namespace {

using graph::Body;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using tensor::TypeInfo;

std::string baseName(std::string_view name) {
    std::string base(name.substr(0, name.find('.')));
    if (base.size() > 2 && base.back() == '_' && base.front() != '_') base.pop_back();
    return base;
}

bool holdsNode(const Argument& argument) {
    bool found = false;
    argument.forEachNode([&found](const NodeId&) { found = true; });
    return found;
}

/// Writes down what a run does while it does it.
class Transcriber final : public exec::RunObserver {
  public:
    explicit Transcriber(const InternalGraph& source) : m_source(source) {
        m_target.name = source.name;
        for (std::size_t i = 1; i < source.scopeCount(); ++i) {
            const graph::Scope& scope = source.scope(graph::ScopeId(i));
            m_target.addScope(scope.parent, scope.qualname, scope.moduleClass, scope.call, scope.inferred);
        }
    }

    void addInput(NodeId node, const Value& value) {
        if (!value.isTensor()) {
            // Numbers that the model is given are fixed.
            m_standIns[node] = Argument::of(value);
            return;
        }
        const NodeId made = m_target.addInput(m_target.mainId(), m_source.node(node).name, TypeInfo::tensor(value.tensor().dtype(), value.tensor().shape()), m_source.node(node).name);
        m_standIns[node] = Argument::of(made);
    }

    void exprStarted(ExprId id) override {
        const Expr& expr = m_source.expr(id);
        const ExprId owner = m_source.body(expr.body).owner;
        if (owner.valid() && isFirstOf(expr.body, id)) enterPass(m_source.expr(owner), expr.body);
        m_passes.erase(id);
        if (!expr.bodies.empty() && !isControl(expr)) enterBody(expr);
    }

    void exprFinished(ExprId id, std::span<const Value> outputs, std::int64_t) override {
        const Expr& expr = m_source.expr(id);
        if (expr.kind == ExprKind::Input || graph::isGuard(expr)) return;
        if (!expr.bodies.empty()) return leaveBodies(expr, outputs);
        if (expr.kind == ExprKind::Output) {
            if (!expr.outputs.empty() && !expr.arguments.empty()) m_standIns[expr.outputs[0]] = resolved(expr.arguments[0]);
            return;
        }
        std::vector<Argument> arguments;
        for (const Argument& argument : boundArguments(expr)) arguments.push_back(resolved(argument));
        const bool depends = std::any_of(arguments.begin(), arguments.end(), holdsNode);
        if (!depends) return keepValues(expr, outputs);
        lower(expr, std::move(arguments), outputs);
    }

    base::Result<std::shared_ptr<const InternalGraph>> finish() {
        if (!m_missing.empty()) {
            std::string list;
            for (const auto& [name, why] : m_missing) list += (list.empty() ? "" : "; ") + name + " (" + why + ")";
            return base::usageError("there is no ONNX form of " + list, m_source.name);
        }
        std::vector<Argument> results;
        collectResults(resolved(m_source.main().result), results);
        if (results.empty()) return base::usageError("no tensor comes out of the model", m_source.name);
        nameResults(results);
        if (m_openShapes) forgetShapes();
        m_target.setResult(m_target.mainId(), results.size() == 1 ? results.front() : Argument::container(Argument::Kind::Tuple, results));
        SONDE_TRY(m_target.validate());
        return std::make_shared<const InternalGraph>(std::move(m_target));
    }
    base::Diagnostics takeNotes() { return std::move(m_notes); }

  private:
    static bool isControl(const Expr& expr) { return !expr.op.name.empty(); }

    bool isFirstOf(BodyId body, ExprId id) const {
        for (ExprId other : m_source.body(body).order) {
            const Expr& expr = m_source.expr(other);
            if (expr.kind == ExprKind::Input || (!expr.outputs.empty() && m_source.node(expr.outputs[0]).constant)) continue;
            return other == id;
        }
        return false;
    }

    /// A called module: its inputs are the call's nodes.
    void enterBody(const Expr& expr) {
        const Body& body = m_source.body(expr.bodies[0]);
        for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i) m_standIns[body.inputs[i]] = resolved(Argument::of(expr.inputs[i]));
    }

    /// One more pass of a loop: the body takes (i, condition, carried…).
    void enterPass(const Expr& owner, BodyId bodyId) {
        if (owner.op.name != "Loop") return;
        const Body& body = m_source.body(bodyId);
        const std::int64_t pass = m_passes[owner.id]++;
        std::vector<Argument> carried = pass == 0 ? initialState(owner) : bodyResults(body);
        for (std::size_t i = 0; i < body.inputs.size(); ++i) {
            if (i == 0) m_standIns[body.inputs[i]] = Argument::of(Value::ofInt(pass));
            else if (i == 1) m_standIns[body.inputs[i]] = Argument::of(Value::ofBool(true));
            else if (i - 2 < carried.size()) m_standIns[body.inputs[i]] = carried[i - 2];
        }
    }
    std::vector<Argument> initialState(const Expr& loop) {
        std::vector<Argument> state;
        for (std::size_t i = 2; i < loop.arguments.size(); ++i) state.push_back(resolved(loop.arguments[i]));
        return state;
    }
    /// (condition, carried…) without the condition.
    std::vector<Argument> bodyResults(const Body& body) {
        std::vector<Argument> results;
        for (std::size_t i = 1; i < body.outputs.size(); ++i) results.push_back(resolved(Argument::of(body.outputs[i])));
        return results;
    }

    void leaveBodies(const Expr& expr, std::span<const Value> outputs) {
        if (!isControl(expr)) {
            const Argument result = resolved(m_source.body(expr.bodies[0]).result);
            if (expr.outputs.size() == 1) {
                m_standIns[expr.outputs[0]] = result;
            } else {
                for (std::size_t i = 0; i < expr.outputs.size() && i < result.items.size(); ++i) m_standIns[expr.outputs[i]] = result.items[i];
            }
            return;
        }
        if (expr.op.name == "If") {
            const Argument condition = expr.arguments.empty() ? Argument() : resolved(expr.arguments[0]);
            if (holdsNode(condition)) note(expr, "the branch that was taken is fixed");
            const std::optional<bool> truth = truthOf(expr);
            if (!truth || expr.bodies.size() < 2) return missing(expr, "a branch that cannot be followed");
            const Body& body = m_source.body(expr.bodies[*truth ? 0 : 1]);
            for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i) m_standIns[expr.outputs[i]] = resolved(Argument::of(body.outputs[i]));
            return;
        }
        if (expr.op.name != "Loop") return missing(expr, "it has graphs inside");
        note(expr, "the loop is written out, " + std::to_string(m_passes[expr.id]) + " passes");
        const std::vector<Argument> state = m_passes[expr.id] == 0 ? initialState(expr) : bodyResults(m_source.body(expr.bodies[0]));
        for (std::size_t i = 0; i < expr.outputs.size() && i < state.size(); ++i) m_standIns[expr.outputs[i]] = state[i];
        (void)outputs;
    }

    /// The value that a condition had.
    std::optional<bool> truthOf(const Expr& expr) const {
        if (expr.arguments.empty()) return std::nullopt;
        const Argument& condition = expr.arguments[0];
        const Value* value = condition.kind == Argument::Kind::Constant ? &condition.constant : nullptr;
        if (condition.kind == Argument::Kind::Node) {
            if (const auto found = m_values.find(condition.node); found != m_values.end()) value = &found->second;
            else if (m_source.node(condition.node).constant) value = &*m_source.node(condition.node).constant;
        }
        if (value && value->isNumber()) return value->number() != 0;
        if (value && value->isTensor() && value->tensor().numel() == 1) return value->tensor().toDouble(0) != 0;
        return std::nullopt;
    }

    void keepValues(const Expr& expr, std::span<const Value> outputs) {
        for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) {
            m_standIns[expr.outputs[i]] = Argument::of(outputs[i]);
            m_values[expr.outputs[i]] = outputs[i];
        }
    }

    static bool hasTensor(const Value& value) {
        if (value.isTensor()) return true;
        if (!value.isListLike()) return false;
        return std::any_of(value.items().begin(), value.items().end(), hasTensor);
    }

    static bool isComplex(const Value& value) { return value.isTensor() && tensor::isComplex(value.tensor().dtype()); }
    bool hasComplex(const Argument& argument) const {
        bool found = false;
        argument.forEachNode([&](const NodeId& node) { found = found || tensor::isComplex(m_target.node(node).type.dtype); });
        return found;
    }

    void lower(const Expr& expr, std::vector<Argument> arguments, std::span<const Value> outputs) {
        const std::string name = baseName(expr.op.name);
        if (name == "append" && !expr.arguments.empty() && expr.arguments[0].kind == Argument::Kind::Node) return append(expr, arguments);
        // Numbers: of shapes they always are what they were, of data they are now.
        if (std::none_of(outputs.begin(), outputs.end(), hasTensor)) {
            static const std::set<std::string, std::less<>> kShapes{"size", "dim", "numel", "len", "shape", "dtype", "device", "is_floating_point", "stride", "getattr", "_assert", "is_cuda", "sym_size", "ndim"};
            if (!kShapes.contains(name) && !outputs.empty() && !outputs[0].isNone()) note(expr, "a number that depends on the data is fixed");
            return keepValues(expr, outputs);
        }
        // Tensors that take nothing but the shape of another one.
        static const std::set<std::string, std::less<>> kFilled{"zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "empty_like", "new_empty", "zero"};
        if (kFilled.contains(name)) return keepValues(expr, outputs);
        for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) m_values[expr.outputs[i]] = outputs[i];
        if (expr.op.name.empty()) return missing(expr, "it is one opaque node", outputs);
        if (expr.op.domain.empty()) return copy(expr, arguments, outputs);
        if (std::any_of(outputs.begin(), outputs.end(), isComplex) || std::any_of(arguments.begin(), arguments.end(), [this](const Argument& one) { return hasComplex(one); })) return missing(expr, "complex numbers", outputs);
        const LoweringRule rule = findLowering(name);
        if (!rule) return missing(expr, {}, outputs);
        const std::string label = m_source.node(expr.outputs.front()).name;
        const Expr placed = inModule(expr);
        LoweredCall call(m_target, m_constants, placed, std::move(arguments), outputs, label);
        try {
            std::vector<Argument> results = rule(call);
            m_openShapes = m_openShapes || call.hasOpenShapes();
            if (results.size() < expr.outputs.size()) throw NoLowering{"it gives fewer results"};
            for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
                takeName(results[i], label, expr.outputs.size() == 1);
                m_standIns[expr.outputs[i]] = std::move(results[i]);
            }
        } catch (const NoLowering& problem) {
            missing(expr, problem.why, outputs);
        }
    }

    /// What a leaf module does has the module's qualname but stands in its caller's scope: here it gets one of its own.
    Expr inModule(const Expr& expr) {
        Expr placed = expr;
        if (!expr.qualname || m_target.scope(expr.scope).qualname == *expr.qualname) return placed;
        graph::ScopeId& scope = m_leaves[{expr.body, *expr.qualname}];
        if (!scope.valid()) scope = m_target.addScope(expr.scope, *expr.qualname, expr.moduleClass, m_leafCalls[*expr.qualname]++);
        placed.scope = scope;
        return placed;
    }

    /// The node that the model has keeps its name if it was made for this call.
    void takeName(const Argument& result, const std::string& label, bool only) {
        if (!only || result.kind != Argument::Kind::Node || m_target.findNode(label).valid()) return;
        if (m_target.node(result.node).name.starts_with(label + "/")) (void)m_target.rename(result.node, label);
    }

    void append(const Expr& expr, const std::vector<Argument>& arguments) {
        Argument list = arguments[0];
        if (list.kind == Argument::Kind::Constant && list.constant.isListLike()) {
            std::vector<Argument> items;
            for (const Value& item : list.constant.items()) items.push_back(Argument::of(item));
            // The run has appended already.
            if (!items.empty()) items.pop_back();
            list = Argument::container(Argument::Kind::List, std::move(items));
        }
        if (arguments.size() > 1) list.items.push_back(arguments[1]);
        m_standIns[expr.arguments[0].node] = list;
        for (NodeId output : expr.outputs) m_standIns[output] = list;
    }

    void copy(const Expr& expr, const std::vector<Argument>& arguments, std::span<const Value> outputs) {
        const Expr placed = inModule(expr);
        LoweredCall call(m_target, m_constants, placed, arguments, outputs, m_source.node(expr.outputs.front()).name);
        try {
            std::vector<NodeId> inputs;
            for (std::size_t i = 0; i < arguments.size(); ++i) inputs.push_back(call.has(i) ? call.tensor(i) : NodeId{});
            std::vector<std::pair<DType, Shape>> types;
            for (std::size_t i = 0; i < outputs.size(); ++i) types.emplace_back(call.result(i).dtype(), call.result(i).shape());
            const std::vector<NodeId> made = call.ops(expr.op.name, inputs, expr.attributes, types);
            for (std::size_t i = 0; i < made.size() && i < expr.outputs.size(); ++i) m_standIns[expr.outputs[i]] = Argument::of(made[i]);
        } catch (const NoLowering& problem) {
            missing(expr, problem.why, outputs);
        }
    }

    void missing(const Expr& expr, const std::string& why, std::span<const Value> outputs = {}) {
        std::string where = expr.outputs.empty() ? expr.target : "node '" + m_source.node(expr.outputs[0]).name + "'";
        if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
        m_missing.emplace(expr.op.name.empty() ? "module '" + expr.target + "'" : expr.op.domain + "::" + expr.op.name, where + (why.empty() ? "" : ": " + why));
        keepValues(expr, outputs);
    }
    void note(const Expr& expr, std::string what) {
        if (m_noted.insert(expr.id).second) {
            m_notes.push_back({base::Severity::Warning, std::move(what), expr.outputs.empty() ? expr.target : "node '" + m_source.node(expr.outputs[0]).name + "'", ""});
        }
    }

    /// Arguments in the order of the schema, keywords and defaults in their places.
    std::vector<Argument> boundArguments(const Expr& expr) const {
        std::vector<Argument> bound = expr.arguments;
        const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (!op || op->parameters.empty()) return bound;
        for (std::size_t i = bound.size(); i < op->parameters.size(); ++i) {
            const auto& parameter = op->parameters[i];
            const auto given = std::find_if(expr.keywords.begin(), expr.keywords.end(), [&](const auto& keyword) { return keyword.first == parameter.name; });
            bound.push_back(given != expr.keywords.end() ? given->second : parameter.fallback ? Argument::of(*parameter.fallback) : Argument::omitted());
        }
        return bound;
    }

    Argument resolved(const Argument& argument) {
        if (argument.kind == Argument::Kind::Node) return standIn(argument.node);
        if (argument.items.empty()) return argument;
        Argument made = argument;
        bool constant = argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple;
        for (Argument& item : made.items) {
            item = resolved(item);
            constant = constant && item.kind == Argument::Kind::Constant;
        }
        if (!constant) return made;
        tensor::ValueList items;
        for (const Argument& item : made.items) items.push_back(item.constant);
        return Argument::of(argument.kind == Argument::Kind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items)));
    }

    Argument standIn(NodeId node) {
        if (const auto found = m_standIns.find(node); found != m_standIns.end()) return found->second;
        const graph::Node& original = m_source.node(node);
        if (!original.constant) return Argument::of(Value());
        const Expr& producer = m_source.expr(original.producer);
        if (original.constant->isTensor() && producer.isParameter) {
            // Made once here, under the name that the model has for it.
            LoweredCall(m_target, m_constants, producer, {}, {}, original.name).constant(original.constant->tensor(), producer.target.empty() ? original.name : producer.target);
        }
        return m_standIns[node] = Argument::of(*original.constant);
    }

    void collectResults(const Argument& argument, std::vector<Argument>& results) {
        if (argument.kind == Argument::Kind::Node) {
            results.push_back(argument);
        } else if (argument.kind == Argument::Kind::Constant) {
            if (argument.constant.isTensor()) {
                const Expr none;
                results.push_back(Argument::of(LoweredCall(m_target, m_constants, none, {}, {}, "result").constant(argument.constant.tensor())));
            } else if (argument.constant.isListLike()) {
                for (const Value& item : argument.constant.items()) collectResults(Argument::of(item), results);
            }
        }
        for (const Argument& item : argument.items) collectResults(item, results);
    }

    /// Where extents depend on the data, those of this run hold for no other.
    void forgetShapes() {
        for (ExprId id : m_target.recursiveOrder(m_target.mainId())) {
            const Expr& expr = m_target.expr(id);
            if (expr.kind != ExprKind::Apply) continue;
            for (NodeId output : expr.outputs) m_target.setType(output, TypeInfo::tensor(m_target.node(output).type.dtype));
        }
    }

    /// A file's outputs are different nodes, and none of them an input or a weight.
    void nameResults(std::vector<Argument>& results) {
        std::set<NodeId> seen;
        for (Argument& result : results) {
            const graph::Node& node = m_target.node(result.node);
            const Expr& producer = m_target.expr(node.producer);
            if (seen.insert(result.node).second && producer.kind == ExprKind::Apply) continue;
            const TypeInfo type = node.type;
            const Expr none;
            LoweredCall call(m_target, m_constants, none, {}, {}, "result");
            result = Argument::of(call.opOf("Identity", {result.node}, {}, type.dtype, call.shapeOf(result.node)));
        }
    }

    const InternalGraph& m_source;
    InternalGraph m_target;
    std::map<NodeId, Argument> m_standIns;
    std::map<NodeId, Value> m_values;  ///< what nodes were in the run, for conditions
    std::map<ExprId, std::int64_t> m_passes;
    std::map<std::pair<const void*, std::string>, NodeId> m_constants;
    std::map<std::string, std::string> m_missing;
    std::map<std::pair<BodyId, std::string>, graph::ScopeId> m_leaves;
    std::map<std::string, int> m_leafCalls;
    bool m_openShapes = false;
    std::set<ExprId> m_noted;
    base::Diagnostics m_notes;
};

bool isOnnx(const InternalGraph& graph) {
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Constant) continue;
        if (expr.kind != ExprKind::Apply || expr.op.name.empty() || expr.op.domain == "aten") return false;
    }
    return true;
}

}  // namespace

base::Result<OnnxGraph> onnxGraph(const Document& document, std::span<const Value> inputs, const base::WorkContext& work) {
    if (isOnnx(*document.graph)) return OnnxGraph{document.graph, {}};
    // Parameters with a default may be left out.
    if (inputs.size() > document.graph->inputs().size() || (inputs.empty() && !document.graph->inputs().empty())) return base::usageError("the model is run to write it in ONNX operators, and needs its inputs", document.location);
    // Everything is watched, so that every operation runs by itself.
    SONDE_ASSIGN(const auto plan, exec::Plan::make(document.graph, {.watchAll = true}));
    Transcriber transcriber(*document.graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) transcriber.addInput(document.graph->inputs()[i], inputs[i]);
    exec::Runner runner;
    exec::Recording recording = runner.run(*plan, inputs, work, {.observer = &transcriber});
    if (recording.error) return std::move(*recording.error);
    OnnxGraph made;
    SONDE_ASSIGN(made.graph, transcriber.finish());
    made.notes = transcriber.takeNotes();
    return made;
}

}  // namespace sonde::document
