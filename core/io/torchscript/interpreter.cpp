#include "core/io/torchscript/interpreter.h"

#include <algorithm>
#include <functional>

#include "core/base/counted_text.h"
#include "core/base/current_stop.h"
#include "core/base/stack_room.h"
#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/python_forms.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/source_stack.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::Value;
using trace::TraceErrorKind;
using Kind = Expression::Kind;

namespace {

[[noreturn]] void failTooDeep() {
    fail(TraceErrorKind::Depth, "the script's functions, blocks and expressions nest too deeply for the stack");
}

constexpr int kMaxCalls = 150;
constexpr std::int64_t kMaxStatements = 50'000'000;
/// A loop that is unrolled into a graph makes nodes; more than this cannot be looked at.
constexpr std::int64_t kMaxTracedStatements = 2'000'000;
constexpr std::size_t kMaxTracedNodes = 150'000;

/// Counts calls and, from the outermost one on, statements.
class CallGuard {
  public:
    CallGuard() {
        if (m_run.depth == 0) m_run.statements = 0;
        if (++m_run.depth > kMaxCalls) {
            --m_run.depth;
            fail(TraceErrorKind::Runtime, "functions call each other more than " + std::to_string(kMaxCalls) + " deep");
        }
        // What a function's own nesting takes of the stack comes on top of its calls.
        if (base::stackIsLow()) {
            --m_run.depth;
            failTooDeep();
        }
    }
    ~CallGuard() { --m_run.depth; }
    CallGuard(const CallGuard&) = delete;
    CallGuard& operator=(const CallGuard&) = delete;

  private:
    RunState& m_run = runState();
};

bool onlyRaises(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
        if (statement.kind != Statement::Kind::Evaluate || statement.value.kind != Kind::Call) continue;
        const Expression& callee = statement.value.parts.front();
        if (callee.kind == Kind::Attribute && callee.text == "RaiseException") return true;
    }
    return false;
}

}  // namespace

void countStatement() {
    const std::int64_t limit = trace::Tracer::active() ? kMaxTracedStatements : kMaxStatements;
    RunState& run = runState();
    if (++run.statements > limit)
        fail(TraceErrorKind::Runtime,
             "the script ran " + std::to_string(limit) + " statements, or built as many elements, without an end");
    const trace::Tracer* tracer = trace::Tracer::active();
    const graph::InternalGraph* graph = tracer ? tracer->recording().recordedGraph() : nullptr;
    if (graph && graph->nodeCount() > kMaxTracedNodes) {
        fail(TraceErrorKind::Runtime, "the script creates more than " + std::to_string(kMaxTracedNodes) + " nodes");
    }
    if (run.statements % 64 == 0 && base::stopRequested()) fail(TraceErrorKind::Runtime, "cancelled");
}

void countWork(std::size_t statements) {
    runState().statements += static_cast<std::int64_t>(std::min(statements, static_cast<std::size_t>(kMaxStatements)));
    countStatement();
}

void countElements(std::size_t count) {
    constexpr std::size_t kStatementsOfAnElement = 8;  // what it takes in time and memory
    countWork(count * kStatementsOfAnElement);
}

void countCharacters(std::size_t count) { countElements(count / sizeof(ScriptValue)); }

bool isSymbolic(const ScriptValue& value) {
    return value.isProxy() || value.isSymbolicList() || (value.cell() && toVar(value).isProxy());
}

bool recordsControlFlow() { return trace::Tracer::active() && trace::Tracer::active()->recordsControlFlow(); }

bool toBool(const ScriptValue& value) {
    if (value.cell() || value.plain()) return toVar(value).toBool();
    if (value.isSymbolicList()) fail(TraceErrorKind::ControlFlow, trace::kControlFlowText);
    if (value.list()) return !value.list()->items.empty();
    if (value.tuple()) return !value.tuple()->items.empty();
    if (value.dict()) return !value.dict()->items.empty();
    return true;
}

ScriptValue Interpreter::call(const FunctionDef& function, std::vector<ScriptValue> arguments, bool withSelf,
                              const std::vector<std::pair<std::string, ScriptValue>>& keywords) {
    const CallGuard guard;
    const SourceFrame frame(function);
    Environment env;
    std::size_t next = 0;
    if (withSelf && !arguments.empty()) env[function.self] = std::move(arguments[next++]);
    for (const FunctionParameter& parameter : function.parameters) {
        const auto named = std::ranges::find(keywords, parameter.name, &std::pair<std::string, ScriptValue>::first);
        if (next < arguments.size()) {
            env[parameter.name] = std::move(arguments[next++]);
        } else if (named != keywords.end()) {
            env[parameter.name] = named->second;
        } else if (parameter.hasDefault) {
            env[parameter.name] = evaluate(parameter.fallback, env);
        } else {
            fail(TraceErrorKind::Type, function.name + "() lacks its argument '" + parameter.name + "'");
        }
    }
    if (next < arguments.size()) fail(TraceErrorKind::Type, function.name + "() got too many arguments");
    ScriptValue result;
    const std::size_t firstNumber = m_numberTensors.size();
    try {
        run(function.body, env, result);
    } catch (...) {
        SourceFrame::rethrow();
    }
    for (; m_numberTensors.size() > firstNumber; m_numberTensors.pop_back()) {
        m_numberTensors.back().tracer().recorder().eraseUnused(m_numberTensors.back().node());
    }
    return result;
}

Range rangeOf(const std::vector<ScriptValue>& arguments) {
    if (arguments.empty() || arguments.size() > 3) fail(TraceErrorKind::Type, "range() takes one to three numbers");
    std::int64_t numbers[3] = {0, 0, 1};
    for (std::size_t i = 0; i < arguments.size(); ++i) numbers[i] = toVar(arguments[i]).toInt();
    if (arguments.size() == 1) std::swap(numbers[0], numbers[1]);
    const auto [start, stop, step] = numbers;
    if (step == 0) fail(TraceErrorKind::Value, "range() needs a step that is not 0");
    // As unsigned numbers the span fits whatever the bounds are.
    const bool isEmpty = step > 0 ? start >= stop : start <= stop;
    const std::uint64_t span = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                        : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
    const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    return {start, step, isEmpty ? 0 : (span - 1) / stride + 1};
}

ScriptValue Interpreter::evaluateConstant(const Expression& expression) {
    Environment env;
    return evaluate(expression, env);
}

Interpreter::Flow Interpreter::run(const std::vector<Statement>& body, Environment& env, ScriptValue& result) {
    if (base::stackIsLow()) failTooDeep();
    for (const Statement& statement : body) {
        countStatement();
        SourceFrame::at(statement);
        Flow flow = Flow::Next;
        switch (statement.kind) {
            case Statement::Kind::Pass: break;
            case Statement::Kind::Evaluate: evaluate(statement.value, env); break;
            case Statement::Kind::Assign: assignAll(statement, env); break;
            case Statement::Kind::Return: result = evaluate(statement.value, env); return Flow::Return;
            case Statement::Kind::If: flow = runIf(statement, env, result); break;
            case Statement::Kind::For: flow = runFor(statement, env, result); break;
            case Statement::Kind::While: flow = runWhile(statement, env, result); break;
            case Statement::Kind::With: enter(statement, env); break;
        }
        if (flow == Flow::Return) return flow;
    }
    return Flow::Next;
}

Interpreter::Flow Interpreter::runIf(const Statement& statement, Environment& env, ScriptValue& result) {
    const ScriptValue condition = evaluate(statement.value, env);
    SourceFrame::at(statement);
    if (isSymbolic(condition) && !trace::Tracer::active()->knowsValues()) {
        for (const bool whenTrue : {true, false}) {
            if (!onlyRaises(whenTrue ? statement.body : statement.orElse)) continue;
            recordAssertion(condition, !whenTrue, whenTrue ? statement.body : statement.orElse, env);
            return run(whenTrue ? statement.orElse : statement.body, env, result);
        }
        if (recordsControlFlow()) return recordIf(statement, condition, env, result);
    }
    return run(toBool(condition) ? statement.body : statement.orElse, env, result);
}

Interpreter::Flow Interpreter::runWhile(const Statement& statement, Environment& env, ScriptValue& result) {
    while (true) {
        const ScriptValue condition = evaluate(statement.value, env);
        // Passes that are sure to happen are unrolled; from the first one on that depends on the data it is a loop.
        if (isSymbolic(condition) && recordsControlFlow()) {
            recordLoop(statement, Var(), toVar(condition), env);
            return Flow::Next;
        }
        if (!toBool(condition)) return Flow::Next;
        countStatement();
        if (run(statement.body, env, result) == Flow::Return) return Flow::Return;
    }
}

namespace {

/// The text that a block raises with, as far as it is known without running it.
std::string raisedText(const std::vector<Statement>& body, const std::unordered_map<std::string, ScriptValue>& env) {
    const std::function<std::string(const Expression&)> textOf = [&](const Expression& part) -> std::string {
        if (part.kind == Kind::String) return part.text;
        if (part.kind == Kind::Name) {
            const auto known = env.find(part.text);
            return known != env.end() && known->second.isString() ? known->second.plain()->value().toString()
                                                                  : std::string();
        }
        if (part.kind != Kind::Call || part.parts.size() < 2) return {};
        const std::string first = textOf(part.parts[1]);
        const bool isSum =
            part.parts[0].kind == Kind::Attribute && part.parts[0].text == "add" && part.parts.size() == 3;
        return isSum ? first + textOf(part.parts[2]) : first;
    };
    for (const Statement& statement : body) {
        if (statement.kind != Statement::Kind::Evaluate || statement.value.parts.size() < 2) continue;
        if (const std::string text = textOf(statement.value.parts[1]); !text.empty()) return text;
    }
    return "the model raises an error here";
}

}  // namespace

void Interpreter::recordAssertion(const ScriptValue& condition, bool wanted, const std::vector<Statement>& raising,
                                  Environment& env) {
    Var holds = toVar(condition);
    if (!wanted) holds = trace::callFunction(trace::Function{"not_", "not_", "operator.not_", false, "prim"}, {holds});
    trace::callFunction(trace::Function{"_assert", "_assert", "torch._assert", false, "prim"},
                        {holds, raisedText(raising, env)});
}

Interpreter::Flow Interpreter::runFor(const Statement& statement, Environment& env, ScriptValue& result) {
    const Expression& callee = statement.value.kind == Kind::Call ? statement.value.parts.front() : statement.value;
    if (callee.kind == Kind::Name && callee.text == "range" && statement.value.parts.size() == 2 &&
        recordsControlFlow()) {
        const ScriptValue trips = evaluate(statement.value.parts[1], env);
        if (isSymbolic(trips)) {
            recordLoop(statement, toVar(trips), Var(true), env);
            return Flow::Next;
        }
    }
    const auto pass = [&](ScriptValue item) {
        assign(statement.targets.front(), std::move(item), env);
        countStatement();
        return run(statement.body, env, result);
    };
    if (callee.kind == Kind::Name && callee.text == "range" && !env.contains("range")) {
        // Numbers one by one: a range may be longer than memory.
        std::vector<ScriptValue> bounds;
        for (std::size_t i = 1; i < statement.value.parts.size(); ++i)
            bounds.push_back(evaluate(statement.value.parts[i], env));
        const Range range = rangeOf(bounds);
        for (std::uint64_t i = 0; i < range.count; ++i) {
            if (pass(Var(range.at(i))) == Flow::Return) return Flow::Return;
        }
        return Flow::Next;
    }
    const ScriptValue over = evaluate(statement.value, env);
    if (over.isProxy() || over.isSymbolicList()) fail(TraceErrorKind::Iteration, trace::kIterationText);
    std::vector<ScriptValue> items;
    if (over.list()) items = over.list()->items;
    else if (over.tuple()) items = over.tuple()->items;
    else fail(TraceErrorKind::Type, "a value of type " + typeName(over) + " cannot be iterated");
    for (ScriptValue& item : items) {
        if (pass(std::move(item)) == Flow::Return) return Flow::Return;
    }
    return Flow::Next;
}

void Interpreter::assignAll(const Statement& statement, Environment& env) {
    ScriptValue value = evaluate(statement.value, env);
    if (!statement.unpack) {
        assign(statement.targets.front(), std::move(value), env);
        return;
    }
    std::vector<ScriptValue> items = unpacked(value, statement.targets.size());
    for (std::size_t i = 0; i < items.size(); ++i) assign(statement.targets[i], std::move(items[i]), env);
}

namespace {

/// The elements as outputs of one node, prim::ListUnpack or prim::TupleUnpack.
std::vector<ScriptValue> unpackedByNode(const ScriptValue& value, const Var& node, std::size_t n) {
    const graph::InternalGraph& graph = *node.tracer().recording().recordedGraph();
    const graph::Expr maker = graph.expr(graph.node(node.node()).producer);  // a copy: recording moves the graph's own
    const bool isTuple = value.tuple() || maker.op.name == "TupleConstruct";
    const std::string op = isTuple ? "TupleUnpack" : "ListUnpack";
    // What is no tensor keeps its kind: tuples in tuples, numbers.
    std::vector<bool> isTensor(n, value.list() ? value.list()->ofTensors : !maker.op.name.starts_with("size"));
    for (std::size_t i = 0; i < n && maker.op.name == "TupleConstruct" && i < maker.arguments.size(); ++i) {
        const graph::Argument& part = maker.arguments[i];
        isTensor[i] = part.kind == graph::Argument::Kind::Node && node.tracer().recording().isTensor(part.node);
    }
    const bool all = std::ranges::all_of(isTensor, [](bool one) { return one; });
    const Var parts = node.tracer().recording().record(graph::ExprKind::CallFunction, {"prim", op, 0}, "prim." + op, op,
                                                       {node}, {}, all, n);
    std::vector<ScriptValue> items;
    for (const Var& part : parts.kind() == Var::Kind::Tuple ? parts.items() : std::vector<Var>{parts}) {
        items.push_back(isTensor[items.size()] ? makeCell(part) : ScriptValue(part));
    }
    if (!value.tuple() || value.tuple()->items.size() != n) return items;
    for (std::size_t i = 0; i < n; ++i) {
        const auto* held = value.tuple()->items[i].as<CellPtr>();
        // Another node, but the very tensor.
        if (held && items[i].cell()) setBase(*items[i].cell(), *held, std::make_shared<const ViewStep>());
        else items[i] = value.tuple()->items[i];
    }
    return items;
}

}  // namespace

/// Every node of the archive's own graph is recorded.
bool Interpreter::recordsAll() const {
    return m_archive.asWritten() && trace::Tracer::active() && trace::Tracer::active()->recording().recordedGraph();
}

/// A list, tuple or dict that was just made, with the node that makes it, if such nodes are recorded.
ScriptValue Interpreter::made(ScriptValue container, std::string_view op) {
    if (!recordsAll()) return container;
    std::vector<Var> parts;
    const auto isValue = [](const ScriptValue& part) {
        return part.plain() || part.cell() || part.list() || part.tuple() || part.dict();
    };
    const auto add = [&](const ScriptValue& part) {
        if (isValue(part)) parts.push_back(toVar(part));
        return isValue(part);
    };
    bool all = true;
    if (container.list()) {
        for (const ScriptValue& part : container.list()->items) all = all && add(part);
    } else if (container.tuple()) {
        for (const ScriptValue& part : container.tuple()->items) all = all && add(part);
    } else {
        for (const auto& [key, part] : container.dict()->items) all = all && add(key) && add(part);
    }
    if (!all) return container;
    const Var node =
        trace::Tracer::active()->recording().record(graph::ExprKind::CallFunction, {"prim", std::string(op), 0},
                                                    "prim." + std::string(op), op, std::move(parts), {}, false);
    if (container.list()) container.list()->node = node;
    else if (container.tuple()) container.tuple()->node = node;
    else container.dict()->node = node;
    return container;
}

namespace {

/// The node of a tuple, unless a tensor in it was written since.
Var currentNode(const ScriptValue& tuple) {
    if (!tuple.tuple()->node.isProxy()) return {};
    const Var now = toVar(tuple);
    return now.isProxy() ? now : Var();
}

}  // namespace

std::vector<ScriptValue> Interpreter::unpacked(const ScriptValue& value, std::size_t n) {
    std::vector<ScriptValue> items;
    const Var node = value.tuple()            ? currentNode(value)
                     : value.isSymbolicList() ? value.list()->symbolic
                     : value.isProxy()        ? *value.plain()
                                              : Var();
    if (node.isProxy() && recordsAll()) {
        items = unpackedByNode(value, node, n);
        for (std::size_t i = 0; i < items.size(); ++i) items[i] = partOf(node, i, std::move(items[i]));
        return items;
    }
    if (value.isSymbolicList() || value.isProxy()) {
        const std::vector<CellPtr> roots = rootsIn(value);
        if (value.list()) checkKnown(*value.list());
        else if (!partsOf(node)) toVar(value);
        for (const Var& item : node.unpack(n)) {
            const bool isTensor = value.list() && value.list()->ofTensors;
            items.push_back(partOf(node, items.size(), isTensor ? makeUncertain(item, roots) : fromVar(item)));
        }
    } else if (value.list()) {
        items = value.list()->items;
    } else if (value.tuple()) {
        items = value.tuple()->items;
    } else if (value.plain() && value.plain()->kind() == Var::Kind::Value && value.plain()->value().isListLike()) {
        // A tracer that keeps real values answers a size with the numbers themselves.
        for (const tensor::Value& item : value.plain()->value().items()) items.push_back(fromVar(Var(item)));
    }
    if (items.size() != n) {
        fail(TraceErrorKind::Value,
             std::to_string(items.size()) + " values of a " + typeName(value) + " for " + std::to_string(n) + " names");
    }
    return items;
}

namespace {

ScriptValue constant(const Archive& archive, const std::string& name) {
    std::size_t index = 0;
    for (char c : name.substr(1)) {
        if (c < '0' || c > '9') fail(TraceErrorKind::Name, "there is no constant " + name);
        index = index * 10 + static_cast<std::size_t>(c - '0');
        if (index > archive.constants().size()) break;
    }
    if (index >= archive.constants().size()) fail(TraceErrorKind::Name, "there is no constant " + name);
    const Value& value = archive.constants()[index];
    EagerRun* const run = EagerRun::current();
    ScriptValue made = run && value.isTensor() ? run->own(&value, value.tensor()) : fromVar(Var(value));
    if (TensorCell* cell = made.cell(); cell && value.tensor().rank() == 0) {
        const tensor::DType dtype = value.tensor().dtype();
        cell->mayBeNumber = dtype == tensor::DType::Float64 || dtype == tensor::DType::Int64;
    }
    return made;
}

}  // namespace

ScriptValue Interpreter::evaluate(const Expression& expression, Environment& env) {
    if (base::stackIsLow()) failTooDeep();
    const auto all = [&](const std::vector<Expression>& parts) {
        std::vector<ScriptValue> items;
        for (const Expression& part : parts) items.push_back(evaluate(part, env));
        return items;
    };
    switch (expression.kind) {
        case Kind::Int: return Var(expression.integer);
        case Kind::Float: return Var(expression.number);
        case Kind::String: return Var(expression.text);
        case Kind::True: return Var(true);
        case Kind::False: return Var(false);
        case Kind::None: return Var();
        case Kind::List: return made(makeList(all(expression.parts)), "ListConstruct");
        case Kind::Tuple: return made(makeTuple(all(expression.parts)), "TupleConstruct");
        case Kind::Dict: {
            auto dict = std::make_shared<DictValue>();
            for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
                ScriptValue key = evaluate(expression.parts[i], env);
                ScriptValue value = evaluate(expression.parts[i + 1], env);
                countStatement();
                // Whether two keys are one only a run may know.
                if (isSymbolic(key)) dict->items.emplace_back(std::move(key), std::move(value));
                else setEntry(*dict, std::move(key), std::move(value));
            }
            return made(dict, "DictConstruct");
        }
        case Kind::Negative: {
            std::vector<ScriptValue> operand{evaluate(expression.parts.front(), env)};
            return callOperator("neg", std::move(operand), {});
        }
        case Kind::Subscript: {
            if (expression.parts.size() != 2) fail(TraceErrorKind::Type, "an index must have one part");
            const ScriptValue object = evaluate(expression.parts[0], env);
            return subscript(object, evaluate(expression.parts[1], env));
        }
        case Kind::Name: {
            if (const auto found = env.find(expression.text); found != env.end()) return found->second;
            return GlobalValue{expression.text};
        }
        case Kind::Attribute: {
            const ScriptValue object = evaluate(expression.parts.front(), env);
            if (const auto* global = object.as<GlobalValue>()) {
                if (global->path == "CONSTANTS") return constant(m_archive, expression.text);
                if (ScriptValue member = enumMember(m_archive, global->path, expression.text); !member.isNone())
                    return member;
                return GlobalValue{global->path + '.' + expression.text};
            }
            return attribute(object, expression.text);
        }
        case Kind::Call: return evaluateCall(expression, env);
    }
    return Var();
}

ScriptValue Interpreter::subscript(const ScriptValue& object, const ScriptValue& index) {
    if (object.isProxy()) {
        const Var& list = *object.plain();
        if (!partsOf(list)) toVar(object);  // what it holds must be known
        const Var item = list[toVar(index)];
        if (index.isNumber() && toVar(index).toInt() >= 0)
            return partOf(list, static_cast<std::size_t>(toVar(index).toInt()), fromVar(item));
        return anyPartOf(list, fromVar(item));  // only a run knows which one it is
    }
    if (object.list() && (object.isSymbolicList() || (index.isProxy() && recordsControlFlow()))) {
        const ListValue& list = *object.list();
        const bool ofTensors =
            list.symbolic.isProxy() ? list.ofTensors : !list.items.empty() && list.items.front().cell();
        const Var item = toVar(object)[toVar(index)];
        noteOtherName(object);
        if (!ofTensors) return fromVar(item);
        ScriptValue made = makeUncertain(item, rootsIn(object));
        made.cell()->repeats = mayRepeatElements(object);
        return made;
    }
    if (const Var* plain = object.plain(); plain && plain->kind() == Var::Kind::Value && plain->value().isListLike()) {
        const tensor::ValueList& items = plain->value().items();
        const std::int64_t size = static_cast<std::int64_t>(items.size());
        std::int64_t at = toVar(index).toInt();
        if (at < 0) at += size;
        if (at < 0 || at >= size)
            fail(TraceErrorKind::Value,
                 "index " + std::to_string(at) + " is out of range for " + base::countedText(size, "element"));
        return fromVar(Var(items[static_cast<std::size_t>(at)]));
    }
    std::vector<ScriptValue> arguments{object, index};
    ScriptValue result;
    if (callBuiltin("__getitem__", arguments, result)) return result;
    fail(TraceErrorKind::Type, "a value of type " + typeName(object) + " cannot be indexed");
}

}  // namespace sonde::io::script
