#include "core/export/lowering/transcriber.h"

#include <algorithm>

#include "core/export/lowering/dropped_checks.h"
#include "core/graph/edit_origin.h"
#include "core/graph/guard.h"
#include "core/operators/names.h"

namespace sonde::exporting {

namespace {

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

/// What an in-place operator has computed before it was written back, if that had another dtype: c.add_(x) with c
/// float16 and x float32 adds float32. Only dtype and shape of it are asked for.
std::vector<Value> computedBefore(const InternalGraph& target, const Expr& expr, const std::vector<Argument>& arguments,
                                  std::span<const Value> outputs) {
    const std::string functional = expr.op.domain == "aten" && operators::isInPlaceName(expr.op.name)
                                       ? operators::outOfPlaceName(expr.op.name)
                                       : std::string();
    const ops::OpDef* row = functional.empty() ? nullptr : ops::Registry::all().find("aten", functional, 0);
    if (!row || outputs.size() != 1 || !outputs[0].isTensor()) return {};
    std::vector<TypeInfo> types;
    std::vector<Value> constants;
    for (const Argument& argument : arguments) {
        const bool isConstant = argument.kind == Argument::Kind::Constant;
        types.push_back(isConstant                              ? TypeInfo::of(argument.constant)
                        : argument.kind == Argument::Kind::Node ? target.node(argument.node).type
                                                                : TypeInfo());
        constants.push_back(isConstant ? argument.constant : Value());
    }
    const auto inferred = ops::infer(*row, types, constants, expr.attributes, 1);
    if (!inferred || inferred->types.empty()) return {};
    const DType dtype = inferred->types.front().dtype;
    if (dtype == DType::Undefined || dtype == outputs[0].tensor().dtype()) return {};
    auto cast = outputs[0].tensor().cast(dtype);
    return cast ? std::vector<Value>{Value(std::move(*cast))} : std::vector<Value>{};
}

}  // namespace

bool isRandom(const Expr& expr) {
    if (expr.op.name.empty()) return false;
    const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    return op && op->random;
}

Transcriber::Transcriber(const InternalGraph& source, std::shared_ptr<RunLog> log, BranchRunner branches)
    : m_source(source), m_checks(overlapChecks(source)), m_log(std::move(log)), m_branches(std::move(branches)) {
    m_s.body = m_s.target.mainId();
    m_s.target.name = source.name;
    for (std::size_t i = 1; i < source.scopeCount(); ++i) {
        const graph::Scope& scope = source.scope(graph::ScopeId(i));
        m_s.target.addScope(scope.parent, scope.qualname, scope.moduleClass, scope.call, scope.inferred);
    }
}

void Transcriber::addInput(NodeId node, const Value& value) {
    if (!value.isTensor()) {
        // Numbers that the model is given are fixed.
        m_s.standIns[node] = Argument::of(value);
        return;
    }
    const NodeId made =
        m_s.target.addInput(m_s.target.mainId(), m_source.node(node).name,
                            TypeInfo::tensor(value.tensor().dtype(), value.tensor().shape()), m_source.node(node).name);
    m_s.standIns[node] = Argument::of(made);
}

base::Result<std::shared_ptr<const InternalGraph>> Transcriber::finish(const std::vector<std::string>& outputNames) {
    if (!m_s.missing.empty()) {
        std::string list;
        for (const auto& [name, why] : m_s.missing) list += (list.empty() ? "" : "; ") + name + " (" + why + ")";
        return base::usageError("no ONNX form for " + list, m_source.name);
    }
    std::vector<Argument> results;
    collectResults(resolved(m_source.main().result), results);
    if (results.empty()) return base::usageError("the model returns no tensor", m_source.name);
    nameResults(results);
    // Parts of a structure have the names that the model's outputs have.
    if (results.size() > 1 && results.size() == outputNames.size()) {
        for (std::size_t i = 0; i < results.size(); ++i) {
            const NodeId other = m_s.target.findNode(outputNames[i]);
            if (other == results[i].node) continue;
            if (other.valid()) {
                if (m_s.target.expr(m_s.target.node(other).producer).kind == ExprKind::Input) continue;
                (void)m_s.target.rename(other, freeName(outputNames[i] + "_inner"));
            }
            (void)m_s.target.rename(results[i].node, outputNames[i]);
        }
    }
    openShapes();
    m_s.target.setResult(m_s.target.mainId(),
                         results.size() == 1 ? results.front() : Argument::container(Argument::Kind::Tuple, results));
    dropUnusedConstants();
    SONDE_TRY(m_s.target.validate());
    return std::make_shared<const InternalGraph>(std::move(m_s.target));
}

/// Weights that operators take in another form (those of an LSTM in ONNX's order of gates) are not needed as the model
/// has them.
void Transcriber::dropUnusedConstants() {
    const std::vector<ExprId> order = m_s.target.recursiveOrder(m_s.target.mainId());
    // What a body returns, a constant of the graph around it for one, is used by no expr.
    std::set<NodeId> returned(m_s.target.outputs().begin(), m_s.target.outputs().end());
    for (const ExprId id : order)
        for (const BodyId body : m_s.target.expr(id).bodies)
            returned.insert(m_s.target.body(body).outputs.begin(), m_s.target.body(body).outputs.end());
    for (const ExprId id : order) {
        const Expr& expr = m_s.target.expr(id);
        if (expr.kind != ExprKind::Constant) continue;
        const bool isUsed = std::ranges::any_of(
            expr.outputs, [&](NodeId node) { return !m_s.target.node(node).users.empty() || returned.contains(node); });
        if (!isUsed) m_s.target.erase(id);
    }
}

void Transcriber::walk(BodyId body) {
    for (ExprId id : m_source.body(body).order) visit(id);
}

void Transcriber::visit(ExprId id) {
    const Expr& expr = m_source.expr(id);
    if (expr.kind == ExprKind::Input || graph::isGuard(expr) || m_checks.contains(id) ||
        (!expr.outputs.empty() && m_source.node(expr.outputs[0]).constant))
        return;
    if (!expr.bodies.empty() && !isControl(expr)) {
        enterBody(expr);
        walk(expr.bodies[0]);
        return leaveCall(expr);
    }
    const std::size_t count = m_log->count(id);
    std::size_t& cursor = m_s.cursors[id];
    if (count == 0) return;
    const std::size_t at = std::min(cursor++, count - 1);
    if (!expr.bodies.empty()) return control(expr, at);
    const std::vector<Value>& outputs = m_log->outputs(id, at);
    if (expr.kind == ExprKind::Output) {
        if (!expr.outputs.empty() && !expr.arguments.empty())
            m_s.standIns[expr.outputs[0]] = resolved(expr.arguments[0]);
        return;
    }
    // Whether its result is read or not: it may write to its arguments, or fail.
    if (expr.op.name.empty()) return missing(expr, "it is one opaque node", outputs);
    std::vector<Argument> arguments;
    for (const Argument& argument : boundArguments(expr)) arguments.push_back(resolved(argument));
    const bool depends = std::any_of(arguments.begin(), arguments.end(), holdsNode);
    if (!depends && isRandom(expr)) return draw(expr, std::move(arguments), outputs);
    if (!depends) return keepValues(expr, outputs);
    lower(expr, std::move(arguments), outputs);
}

void Transcriber::enterBody(const Expr& expr) {
    const Body& body = m_source.body(expr.bodies[0]);
    for (std::size_t i = 0; i < body.inputs.size() && i < expr.inputs.size(); ++i)
        m_s.standIns[body.inputs[i]] = resolved(Argument::of(expr.inputs[i]));
}

void Transcriber::leaveCall(const Expr& expr) {
    const Argument result = resolved(m_source.body(expr.bodies[0]).result);
    if (expr.outputs.size() == 1) {
        m_s.standIns[expr.outputs[0]] = result;
    } else {
        for (std::size_t i = 0; i < expr.outputs.size() && i < result.items.size(); ++i)
            m_s.standIns[expr.outputs[i]] = result.items[i];
    }
}

DType Transcriber::dtypeOf(const Value& value) {
    switch (value.kind()) {
        case tensor::ValueKind::Tensor: return value.tensor().dtype();
        case tensor::ValueKind::Int: return DType::Int64;
        case tensor::ValueKind::Float: return DType::Float64;
        case tensor::ValueKind::Bool: return DType::Bool;
        default: return DType::Undefined;
    }
}

void Transcriber::keepValues(const Expr& expr, std::span<const Value> outputs) {
    for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i) {
        m_s.standIns[expr.outputs[i]] = Argument::of(outputs[i]);
        m_s.values[expr.outputs[i]] = outputs[i];
    }
}

bool Transcriber::hasTensor(const Value& value) {
    if (value.isTensor()) return true;
    if (!value.isListLike()) return false;
    return std::any_of(value.items().begin(), value.items().end(), hasTensor);
}

bool Transcriber::hasComplex(const Argument& argument) const {
    bool found = false;
    argument.forEachNode(
        [&](const NodeId& node) { found = found || tensor::isComplex(m_s.target.node(node).type.dtype); });
    return found;
}

void Transcriber::lower(const Expr& expr, std::vector<Argument> arguments, std::span<const Value> outputs) {
    const std::string name = baseName(expr.op.name);
    if (name == "append" && !expr.arguments.empty() && expr.arguments[0].kind == Argument::Kind::Node)
        return append(expr, arguments);
    // Numbers of shapes are what they were, unless the data decide on the shapes.
    static const std::set<std::string, std::less<>> kSizes{"size", "numel", "len", "shape", "sym_size"},
        kFacts{"dim", "dtype", "device", "is_floating_point", "stride", "getattr", "_assert", "is_cuda", "ndim"};
    if (std::none_of(outputs.begin(), outputs.end(), hasTensor)) {
        const bool isFixed =
            kFacts.contains(name) || (kSizes.contains(name) && (arguments.empty() || !isOpen(arguments[0])));
        if (isFixed || outputs.empty() || outputs[0].isNone()) return keepValues(expr, outputs);
        if (outputs.size() == 1 && (outputs[0].isNumber() || kSizes.contains(name)) &&
            lowerNumbers(expr, name, arguments, outputs[0]))
            return;
        if (m_attempts > 0) throw NoLowering{"a number that is not traced"};
        note(expr, "a number that depends on the data is fixed");
        return keepValues(expr, outputs);
    }
    if (isFixedFilling(name, arguments)) return keepValues(expr, outputs);
    for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i)
        m_s.values[expr.outputs[i]] = outputs[i];
    if (expr.op.domain.empty()) return copy(expr, arguments, outputs);
    if (std::any_of(outputs.begin(), outputs.end(), isComplex) ||
        std::any_of(arguments.begin(), arguments.end(), [this](const Argument& one) { return hasComplex(one); }))
        return missing(expr, "complex numbers", outputs);
    const LoweringRule rule = findLowering(name);
    if (!rule) return missing(expr, {}, outputs);
    std::string why = tryRule(expr, rule, arguments, outputs);
    if (!why.empty() && m_attempts == 0 && fixNumbers(arguments)) {
        note(expr, "a number that depends on the data is fixed");
        why = tryRule(expr, rule, arguments, outputs);
    }
    if (!why.empty()) missing(expr, why, outputs);
}

bool Transcriber::holdsNumber(const Argument& argument) const {
    bool found = false;
    argument.forEachNode([&](const NodeId& node) { found = found || m_s.numbers.contains(node); });
    return found;
}

std::string Transcriber::tryRule(const Expr& expr, LoweringRule rule, const std::vector<Argument>& arguments,
                                 std::span<const Value> outputs) {
    const std::string label = m_source.node(expr.outputs.front()).name;
    const Expr placed = inModule(expr);
    const std::vector<Value> computed = computedBefore(m_s.target, expr, arguments, outputs);
    LoweredCall call(m_s.target, m_s.known, placed, arguments, computed.empty() ? outputs : computed, label, m_s.body);
    try {
        std::vector<Argument> results = rule(call);
        if (results.size() < expr.outputs.size()) throw NoLowering{"it returns fewer results"};
        if (!computed.empty())
            results[0] = Argument::of(call.cast(call.tensorOf(results[0]), outputs[0].tensor().dtype()));
        // Numbers that it has not looked at are not followed.
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            if (!call.wasRead(i) && holdsNumber(arguments[i])) throw NoLowering{"a number that is not traced"};
        }
        if (call.hasFixedSizes()) {
            if (m_loops > 0) throw NoLowering{"sizes that depend on the data"};
            note(expr, "sizes that depend on the data are fixed");
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            takeName(results[i], label, expr.outputs.size() == 1);
            m_s.standIns[expr.outputs[i]] = std::move(results[i]);
        }
    } catch (const NoLowering& problem) {
        return problem.why.empty() ? "no rule" : problem.why;
    }
    return {};
}

bool Transcriber::isOpen(const Argument& argument) const {
    return argument.kind == Argument::Kind::Node && m_s.known.open.contains(argument.node);
}

bool Transcriber::isFixedFilling(const std::string& name, const std::vector<Argument>& arguments) const {
    static const std::set<std::string, std::less<>> kFilled{
        "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "empty_like", "new_empty", "zero"};
    if (!kFilled.contains(name) || arguments.empty()) return false;
    const bool takesSizes = !name.starts_with("new");
    return std::none_of(arguments.begin() + 1, arguments.end(), holdsNode) && !(takesSizes && isOpen(arguments[0]));
}

void Transcriber::draw(const Expr& expr, std::vector<Argument> arguments, std::span<const Value> outputs) {
    for (std::size_t i = 0; i < expr.outputs.size() && i < outputs.size(); ++i)
        m_s.values[expr.outputs[i]] = outputs[i];
    const LoweringRule rule = findLowering(baseName(expr.op.name));
    if (rule && std::any_of(outputs.begin(), outputs.end(), hasTensor) &&
        tryRule(expr, rule, arguments, outputs).empty())
        return;
    note(expr, "its random numbers are fixed");
    keepValues(expr, outputs);
}

bool Transcriber::lowerNumbers(const Expr& expr, const std::string& name, const std::vector<Argument>& arguments,
                               const Value& numbers) {
    const LoweringRule rule = findLowering(name);
    if (!rule) return false;
    Value result = numbers;
    if (numbers.isNumber()) result = Value(LoweredCall::scalarOf(numbers, dtypeOf(numbers)));
    if (!tryRule(expr, rule, arguments, std::span(&result, 1)).empty()) return false;
    m_s.values[expr.outputs[0]] = numbers;
    areNumbers(m_s.standIns[expr.outputs[0]], numbers);
    return true;
}

void Transcriber::areNumbers(const Argument& made, const Value& value) {
    if (made.kind == Argument::Kind::Node && value.isNumber()) isNumber(made.node, value);
    for (std::size_t i = 0; i < made.items.size() && value.isListLike() && i < value.items().size(); ++i)
        areNumbers(made.items[i], value.items()[i]);
}

bool Transcriber::fixNumbers(std::vector<Argument>& arguments) const {
    bool any = false;
    for (Argument& argument : arguments) {
        if (argument.kind == Argument::Kind::Node && m_s.numbers.contains(argument.node)) {
            argument = Argument::of(m_s.numberValues.at(argument.node));
            any = true;
        } else if (!argument.items.empty()) {
            any = fixNumbers(argument.items) || any;
        }
    }
    return any;
}

Expr Transcriber::inModule(const Expr& expr) {
    Expr placed = expr;
    if (!expr.qualname || m_s.target.scope(expr.scope).qualname == *expr.qualname) return placed;
    graph::ScopeId& scope = m_s.leaves[{expr.body, *expr.qualname}];
    if (!scope.valid())
        scope = m_s.target.addScope(expr.scope, *expr.qualname, expr.moduleClass, m_s.leafCalls[*expr.qualname]++);
    placed.scope = scope;
    return placed;
}

void Transcriber::takeName(const Argument& result, const std::string& label, bool only) {
    if (!only || result.kind != Argument::Kind::Node || m_s.target.findNode(label).valid()) return;
    if (m_s.target.node(result.node).name.starts_with(label + "/")) (void)m_s.target.rename(result.node, label);
}

void Transcriber::append(const Expr& expr, const std::vector<Argument>& arguments) {
    Argument list = arguments[0];
    if (list.kind == Argument::Kind::Constant && list.constant.isListLike()) {
        std::vector<Argument> items;
        for (const Value& item : list.constant.items()) items.push_back(Argument::of(item));
        list = Argument::container(Argument::Kind::List, std::move(items));
    }
    if (arguments.size() > 1) list.items.push_back(arguments[1]);
    m_s.standIns[expr.arguments[0].node] = list;
    for (NodeId output : expr.outputs) m_s.standIns[output] = list;
}

void Transcriber::copy(const Expr& expr, const std::vector<Argument>& arguments, std::span<const Value> outputs) {
    const Expr placed = inModule(expr);
    LoweredCall call(m_s.target, m_s.known, placed, arguments, outputs, m_source.node(expr.outputs.front()).name,
                     m_s.body);
    try {
        std::vector<NodeId> inputs;
        for (std::size_t i = 0; i < arguments.size(); ++i) inputs.push_back(call.has(i) ? call.tensor(i) : NodeId{});
        std::vector<std::pair<DType, Shape>> types;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            types.emplace_back(call.result(i).dtype(), call.result(i).shape());
        const std::vector<NodeId> made = call.ops(expr.op.name, inputs, expr.attributes, types);
        for (std::size_t i = 0; i < made.size() && i < expr.outputs.size(); ++i)
            m_s.standIns[expr.outputs[i]] = Argument::of(made[i]);
    } catch (const NoLowering& problem) {
        missing(expr, problem.why, outputs);
    }
}

void Transcriber::missing(const Expr& expr, const std::string& why, std::span<const Value> outputs) {
    if (m_attempts > 0) throw NoLowering{why.empty() ? expr.op.name + " has no ONNX form" : why};
    std::string where = expr.outputs.empty() ? expr.target : "node '" + m_source.node(expr.outputs[0]).name + "'";
    if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
    m_s.missing.emplace(expr.op.name.empty() ? "module '" + expr.target + "'" : expr.op.domain + "::" + expr.op.name,
                        where + (why.empty() ? "" : ": " + why));
    keepValues(expr, outputs);
}

void Transcriber::note(const Expr& expr, std::string what) {
    if (m_s.noted.insert(expr.id).second) {
        m_s.notes.push_back({base::Severity::Warning, std::move(what),
                             expr.outputs.empty() ? expr.target : "node '" + m_source.node(expr.outputs[0]).name + "'",
                             ""});
    }
}

std::vector<Argument> Transcriber::boundArguments(const Expr& expr) const {
    std::vector<Argument> bound = expr.arguments;
    const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!op || op->parameters.empty()) return bound;
    for (std::size_t i = bound.size(); i < op->parameters.size(); ++i) {
        const auto& parameter = op->parameters[i];
        const auto given = std::find_if(expr.keywords.begin(), expr.keywords.end(),
                                        [&](const auto& keyword) { return keyword.first == parameter.name; });
        bound.push_back(given != expr.keywords.end() ? given->second
                        : parameter.fallback         ? Argument::of(*parameter.fallback)
                                                     : Argument::omitted());
    }
    return bound;
}

Argument Transcriber::resolved(const Argument& argument) {
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
    return Argument::of(argument.kind == Argument::Kind::List ? Value::list(std::move(items))
                                                              : Value::tuple(std::move(items)));
}

Argument Transcriber::standIn(NodeId node) {
    if (const auto found = m_s.standIns.find(node); found != m_s.standIns.end()) return found->second;
    const graph::Node& original = m_source.node(node);
    if (!original.constant) return Argument::of(Value());
    const Expr& producer = m_source.expr(original.producer);
    if (original.constant->isTensor() && producer.isParameter) {
        // Made once here, under the name that the model has for it.
        const NodeId made =
            LoweredCall(m_s.target, m_s.known, producer, {}, {}, original.name, m_s.body)
                .constant(original.constant->tensor(), producer.target.empty() ? original.name : producer.target);
        if (!graph::editedWeightOf(producer).empty())
            m_s.target.mutableExpr(m_s.target.node(made).producer).origins = producer.origins;
    }
    return m_s.standIns[node] = Argument::of(*original.constant);
}

void Transcriber::collectResults(const Argument& argument, std::vector<Argument>& results) {
    if (argument.kind == Argument::Kind::Node) {
        results.push_back(argument);
    } else if (argument.kind == Argument::Kind::Constant) {
        if (argument.constant.isNumber()) {
            collectResults(Argument::of(Value(LoweredCall::scalarOf(argument.constant, dtypeOf(argument.constant)))),
                           results);
        } else if (argument.constant.isTensor()) {
            const Expr none;
            results.push_back(Argument::of(
                LoweredCall(m_s.target, m_s.known, none, {}, {}, "result").constant(argument.constant.tensor())));
        } else if (argument.constant.isListLike()) {
            for (const Value& item : argument.constant.items()) collectResults(Argument::of(item), results);
        }
    }
    for (const Argument& item : argument.items) collectResults(item, results);
}

void Transcriber::openShapes() {
    for (const auto& [node, type] : m_s.known.open)
        if (!m_s.target.isErased(m_s.target.node(node).producer)) m_s.target.setType(node, type);
}

void Transcriber::nameResults(std::vector<Argument>& results) {
    std::set<NodeId> seen;
    for (Argument& result : results) {
        const graph::Node& node = m_s.target.node(result.node);
        const Expr& producer = m_s.target.expr(node.producer);
        if (seen.insert(result.node).second && producer.kind == ExprKind::Apply) continue;
        const TypeInfo type = node.type;
        const Expr none;
        LoweredCall call(m_s.target, m_s.known, none, {}, {}, "result");
        result = Argument::of(call.opOf("Identity", {result.node}, {}, type.dtype, call.shapeOf(result.node)));
    }
}

}  // namespace sonde::exporting
