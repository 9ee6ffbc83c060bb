// If and Loop of ONNX for branches and loops of a model.

#include <algorithm>

#include "core/export/lowering/transcriber.h"
#include "core/graph/guard.h"

namespace sonde::exporting {

void Transcriber::control(const Expr& expr, std::size_t at) {
    const std::string& name = expr.op.name;
    if (name == "If" || name == "cond") branch(expr, at);
    else if (name == "Loop") loop(expr, at);
    else missing(expr, "it contains graphs");
    const std::vector<Value>& outputs = m_log->outputs(expr.id, at);
    for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) {
        m_s.values[expr.outputs[i]] = outputs[i];
        const auto found = m_s.standIns.find(expr.outputs[i]);
        if (found != m_s.standIns.end() && found->second.kind == Argument::Kind::Node && outputs[i].isNumber())
            isNumber(found->second.node, outputs[i]);
    }
}

bool Transcriber::attempt(const Expr& expr, std::size_t at, const std::function<void()>& write) {
    const auto log = m_log;
    // What was in vain inside of a branch is so again when that branch is written alone.
    const std::tuple failure{expr.id, at, log.get(), m_loops};
    if (m_failed.contains(failure)) return false;
    State before = m_s;
    ++m_attempts;
    std::string why;
    try {
        write();
        --m_attempts;
        return true;
    } catch (const NoLowering& problem) {
        why = problem.why;
    }
    --m_attempts;
    m_s = std::move(before);
    m_log = log;
    m_why[expr.id] = why;
    m_failed.insert(failure);
    return false;
}

void Transcriber::enterBranch(const Expr& expr, const Body& body) {
    if (expr.op.name != "cond" || expr.arguments.size() < 4) return;
    const Argument operands = resolved(expr.arguments[3]);
    for (std::size_t i = 0; i < body.inputs.size(); ++i) {
        if (operands.kind == Argument::Kind::Constant && operands.constant.isListLike() &&
            i < operands.constant.items().size())
            m_s.standIns[body.inputs[i]] = Argument::of(operands.constant.items()[i]);
        else if (i < operands.items.size()) m_s.standIns[body.inputs[i]] = operands.items[i];
    }
}

void Transcriber::branch(const Expr& expr, std::size_t at) {
    const Argument condition = expr.arguments.empty() ? Argument() : resolved(expr.arguments[0]);
    const std::optional<bool> isTrue = toBool(condition, expr);
    if (!isTrue || expr.bodies.size() < 2) return missing(expr, "a branch that cannot be traced");
    const std::size_t taken = *isTrue ? 0 : 1;
    if (condition.kind == Argument::Kind::Node) {
        if (attempt(expr, at, [&] { writeIf(expr, at, condition.node, taken); })) return;
        if (m_loops > 0) throw NoLowering{"a branch in it: " + m_why[expr.id]};
        note(expr, "the branch that was taken is fixed (" + m_why[expr.id] + ")");
    }
    const Body& body = m_source.body(expr.bodies[taken]);
    enterBranch(expr, body);
    walk(body.id);
    for (std::size_t i = 0; i < expr.outputs.size() && i < body.outputs.size(); ++i)
        m_s.standIns[expr.outputs[i]] = resolved(Argument::of(body.outputs[i]));
    if (body.outputs.empty() && expr.outputs.size() == 1) m_s.standIns[expr.outputs[0]] = resolved(body.result);
}

ExprId Transcriber::addControl(const Expr& expr, const char* name, std::vector<Argument> arguments,
                               const std::vector<std::pair<const char*, std::size_t>>& bodies) {
    const Expr placed = inModule(expr);
    Expr made;
    made.kind = ExprKind::Apply;
    made.body = m_s.body;
    made.scope = placed.scope;
    made.qualname = placed.qualname;
    made.moduleClass = placed.moduleClass;
    made.source = placed.source;
    made.origins = placed.origins;
    made.op = {"", name, 18};
    made.target = name;
    made.arguments = std::move(arguments);
    for (const auto& [attribute, index] : bodies) made.attributes.set(attribute, tensor::BodyRef{index});
    std::vector<std::string> names;
    for (NodeId output : expr.outputs) names.push_back(freeName(m_source.node(output).name, names));
    made.name = names.empty() ? name : names.front();
    return m_s.target.addExpr(std::move(made), names);
}

std::string Transcriber::freeName(const std::string& wanted, const std::vector<std::string>& others) const {
    std::string free = wanted;
    for (int number = 1;
         m_s.target.findNode(free).valid() || std::find(others.begin(), others.end(), free) != others.end(); ++number)
        free = wanted + "_" + std::to_string(number);
    return free;
}

NodeId Transcriber::bodyResult(const Expr& expr, const Argument& argument, DType dtype) {
    const Expr placed = inModule(expr);
    LoweredCall call =
        LoweredCall(m_s.target, m_s.known, placed, {}, {}, m_source.node(expr.outputs.front()).name, m_s.body);
    NodeId node = call.tensorOf(argument, dtype);
    if (dtype != DType::Undefined) node = call.cast(node, dtype);
    const Expr& producer = m_s.target.expr(m_s.target.node(node).producer);
    if (producer.body == m_s.body && producer.kind == ExprKind::Apply) return node;
    return call.opOf("Identity", {node}, {}, call.dtypeOf(node), call.shapeOf(node));
}

void Transcriber::writeIf(const Expr& expr, std::size_t at, NodeId condition, std::size_t taken) {
    const std::vector<Value>& outputs = m_log->outputs(expr.id, at);
    std::vector<DType> dtypes;
    for (const Value& value : outputs) {
        dtypes.push_back(dtypeOf(value));
        if (dtypes.back() == DType::Undefined) throw NoLowering{"it returns no tensor"};
    }
    const ExprId made = addControl(expr, "If", {Argument::of(condition)}, {{"then_branch", 0}, {"else_branch", 1}});
    const graph::BodyId outer = m_s.body;
    std::vector<graph::BodyId> bodies{m_s.target.addBody(made, "then_branch"), m_s.target.addBody(made, "else_branch")};
    std::vector<std::vector<NodeId>> results(2);
    for (std::size_t side : {taken, 1 - taken}) {
        const Body& body = m_source.body(expr.bodies[side]);
        const auto log = m_log;
        const auto cursors = m_s.cursors;
        if (side != taken && !wasRun(body)) {
            m_log = m_branches(expr.id, side);
            if (!m_log) throw NoLowering{"the other branch cannot be run"};
            for (ExprId inside : m_source.recursiveOrder(body.id)) m_s.cursors[inside] = 0;
        }
        m_s.body = bodies[side];
        enterBranch(expr, body);
        walk(body.id);
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            if (i >= body.outputs.size() && !(i == 0 && body.outputs.empty()))
                throw NoLowering{"branches with fewer results"};
            const Argument result = resolved(body.outputs.empty() ? body.result : Argument::of(body.outputs[i]));
            results[side].push_back(bodyResult(expr, result, dtypes[i]));
        }
        m_s.body = outer;
        setBodyResult(bodies[side], results[side]);
        m_log = log;
        if (side != taken) m_s.cursors = cursors;
    }
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        const TypeInfo &one = m_s.target.node(results[0][i]).type, &other = m_s.target.node(results[1][i]).type;
        if (one.dtype != other.dtype || one.shape != other.shape) throw NoLowering{"branches of different shapes"};
        const NodeId output = m_s.target.expr(made).outputs[i];
        m_s.target.setType(output, one);
        for (const auto& side : results) {
            if (const auto open = m_s.known.open.find(side[i]); open != m_s.known.open.end())
                m_s.known.open[output] = open->second;
        }
        m_s.standIns[expr.outputs[i]] = Argument::of(output);
    }
}

void Transcriber::setBodyResult(graph::BodyId body, const std::vector<NodeId>& nodes) {
    std::vector<Argument> items;
    for (NodeId node : nodes) items.push_back(Argument::of(node));
    m_s.target.setResult(body, Argument::container(Argument::Kind::Tuple, std::move(items)));
}

bool Transcriber::wasRun(const Body& body) const {
    for (ExprId id : body.order) {
        const Expr& expr = m_source.expr(id);
        const bool runs = expr.kind != ExprKind::Input && !graph::isGuard(expr) &&
                          (expr.outputs.empty() || !m_source.node(expr.outputs[0]).constant);
        if (runs && m_log->count(id) == 0) return false;
    }
    return true;
}

void Transcriber::loop(const Expr& expr, std::size_t at) {
    const Body& body = m_source.body(expr.bodies[0]);
    const std::int64_t passes = m_log->passes(expr.id, at);
    std::vector<Argument> state;
    for (std::size_t i = 2; i < expr.arguments.size(); ++i) state.push_back(resolved(expr.arguments[i]));
    const Argument trips = expr.arguments.empty() ? Argument() : resolved(expr.arguments[0]);
    const Argument begins = expr.arguments.size() < 2 ? Argument::of(Value::ofBool(true)) : resolved(expr.arguments[1]);
    const bool isCounted = !body.outputs.empty() && m_source.node(body.outputs[0]).constant &&
                           trips.kind == Argument::Kind::Constant && begins.kind == Argument::Kind::Constant;
    if (!isCounted) {
        const std::optional<std::size_t> run = runWithPasses(expr, at);
        ++m_loops;
        const bool isWritten = run && attempt(expr, at, [&] {
                                   rewind(expr, *run);
                                   writeLoop(expr, *run, trips, begins, state);
                               });
        --m_loops;
        if (isWritten) {
            for (const auto& [id, count] : m_log->countsAfter(expr.id, at)) m_s.cursors[id] = count;
            return;
        }
        if (m_loops > 0) throw NoLowering{"a loop in it: " + (run ? m_why[expr.id] : "its body did not run")};
        note(expr, "the loop is unrolled, " + std::to_string(passes) + " iterations (" +
                       (run ? m_why[expr.id] : "its body did not run") + ")");
    }
    for (std::int64_t pass = 0; pass < passes; ++pass) {
        for (std::size_t i = 0; i < body.inputs.size(); ++i) {
            if (i == 0) m_s.standIns[body.inputs[i]] = Argument::of(Value::ofInt(pass));
            else if (i == 1) m_s.standIns[body.inputs[i]] = Argument::of(Value::ofBool(true));
            else if (i - 2 < state.size()) m_s.standIns[body.inputs[i]] = state[i - 2];
        }
        walk(body.id);
        state.clear();
        for (std::size_t i = 1; i < body.outputs.size(); ++i) state.push_back(resolved(Argument::of(body.outputs[i])));
    }
    for (std::size_t i = 0; i < expr.outputs.size() && i < state.size(); ++i) m_s.standIns[expr.outputs[i]] = state[i];
}

void Transcriber::writeLoop(const Expr& expr, std::size_t at, const Argument& trips, const Argument& begins,
                            const std::vector<Argument>& state) {
    const Body& body = m_source.body(expr.bodies[0]);
    const std::vector<Value>& outputs = m_log->outputs(expr.id, at);
    const Expr placed = inModule(expr);
    LoweredCall before(m_s.target, m_s.known, placed, {}, {},
                       m_source.node(expr.outputs.empty() ? body.inputs[0] : expr.outputs[0]).name, m_s.body);
    std::vector<Argument> arguments;
    const bool endless =
        trips.kind == Argument::Kind::Omitted || (trips.kind == Argument::Kind::Constant && trips.constant.isNone());
    arguments.push_back(endless ? Argument::omitted()
                                : Argument::of(before.cast(before.tensorOf(trips, DType::Int64), DType::Int64)));
    arguments.push_back(Argument::of(before.cast(before.tensorOf(begins, DType::Bool), DType::Bool)));
    std::vector<DType> dtypes;
    for (std::size_t i = 0; i < state.size(); ++i) {
        const DType dtype = i < outputs.size() ? dtypeOf(outputs[i]) : DType::Undefined;
        if (dtype == DType::Undefined) throw NoLowering{"its state is not a tensor"};
        dtypes.push_back(dtype);
        arguments.push_back(Argument::of(before.cast(before.tensorOf(state[i], dtype), dtype)));
    }
    const std::vector<Argument> inputs = arguments;
    const ExprId made = addControl(expr, "Loop", std::move(arguments), {{"body", 0}});
    const graph::BodyId outer = m_s.body, inner = m_s.target.addBody(made, "body");
    const auto addInput = [&](std::size_t i, const TypeInfo& type, const std::optional<Value>& number) {
        const NodeId node = m_s.target.addInput(inner, freeName(m_source.node(body.inputs[i]).name), type);
        m_s.standIns[body.inputs[i]] = Argument::of(node);
        if (number) isNumber(node, *number);
    };
    addInput(0, TypeInfo::tensor(DType::Int64, Shape{}), Value::ofInt(0));
    addInput(1, TypeInfo::tensor(DType::Bool, Shape{}), Value::ofBool(true));
    m_s.standIns[body.inputs[1]] = Argument::of(Value::ofBool(true));
    std::vector<TypeInfo> types;
    for (std::size_t i = 0; i < state.size() && i + 2 < body.inputs.size(); ++i) {
        types.push_back(m_s.target.node(inputs[i + 2].node).type);
        addInput(i + 2, types.back(), outputs[i].isNumber() ? std::optional(outputs[i]) : std::nullopt);
        const auto open = m_s.known.open.find(inputs[i + 2].node);
        if (open != m_s.known.open.end()) m_s.known.open[m_s.standIns[body.inputs[i + 2]].node] = open->second;
    }
    m_s.body = inner;
    walk(body.id);
    std::vector<NodeId> results;
    for (std::size_t i = 0; i < body.outputs.size(); ++i) {
        results.push_back(
            bodyResult(expr, resolved(Argument::of(body.outputs[i])), i == 0 ? DType::Bool : dtypes.at(i - 1)));
        const TypeInfo& type = m_s.target.node(results.back()).type;
        if (i == 0) continue;
        const bool opens = m_s.known.open.contains(results.back()) && !m_s.known.open.contains(inputs[i + 1].node);
        if (opens || type.shape != types.at(i - 1).shape) throw NoLowering{"its state changes its shape"};
    }
    m_s.body = outer;
    setBodyResult(inner, results);
    for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
        const NodeId output = m_s.target.expr(made).outputs[i];
        m_s.target.setType(output, types.at(i));
        m_s.standIns[expr.outputs[i]] = Argument::of(output);
        const auto open = m_s.known.open.find(inputs[i + 2].node);
        if (open != m_s.known.open.end()) m_s.known.open[output] = open->second;
    }
}

std::optional<std::size_t> Transcriber::runWithPasses(const Expr& loop, std::size_t at) const {
    if (m_log->passes(loop.id, at) > 0) return at;
    for (std::size_t run = 0; run < m_log->count(loop.id); ++run)
        if (m_log->passes(loop.id, run) > 0) return run;
    return std::nullopt;
}

void Transcriber::rewind(const Expr& loop, std::size_t run) {
    for (const ExprId inside : m_source.recursiveOrder(loop.bodies[0])) m_s.cursors[inside] = 0;
    if (run == 0) return;
    for (const auto& [id, count] : m_log->countsAfter(loop.id, run - 1)) m_s.cursors[id] = count;
}

void Transcriber::isNumber(NodeId node, const Value& value) {
    m_s.numbers.insert(node);
    m_s.numberValues[node] = value;
}

std::optional<bool> Transcriber::toBool(const Argument& condition, const Expr& expr) const {
    const Value* value = condition.kind == Argument::Kind::Constant ? &condition.constant : nullptr;
    if (!value && !expr.arguments.empty() && expr.arguments[0].kind == Argument::Kind::Node) {
        if (const auto found = m_s.values.find(expr.arguments[0].node); found != m_s.values.end())
            value = &found->second;
    }
    if (!value && condition.kind == Argument::Kind::Node) {
        if (const auto found = m_s.numberValues.find(condition.node); found != m_s.numberValues.end())
            value = &found->second;
    }
    if (value && value->isNumber()) return value->number() != 0;
    if (value && value->isTensor() && value->tensor().numel() == 1) return value->tensor().toDouble(0) != 0;
    return std::nullopt;
}

}  // namespace sonde::exporting
