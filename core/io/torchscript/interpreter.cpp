#include "core/io/torchscript/interpreter.h"

#include <algorithm>

#include "core/io/torchscript/script_module.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;
using Kind = Expression::Kind;

namespace {

constexpr int kMaxCalls = 150;
constexpr std::int64_t kMaxStatements = 50'000'000;
/// A loop that is unrolled into a graph makes nodes; more than this cannot be looked at.
constexpr std::int64_t kMaxTracedStatements = 2'000'000;

thread_local int tDepth = 0;
thread_local std::int64_t tStatements = 0;

[[noreturn]] void fail(TraceErrorKind kind, const std::string& text) { throw TraceError(kind, text); }

/// Counts calls and, from the outermost one on, statements.
class CallGuard {
  public:
    CallGuard() {
        if (tDepth == 0) tStatements = 0;
        if (++tDepth > kMaxCalls) {
            --tDepth;
            fail(TraceErrorKind::Runtime, "functions call each other more than " + std::to_string(kMaxCalls) + " deep");
        }
    }
    ~CallGuard() { --tDepth; }
    CallGuard(const CallGuard&) = delete;
    CallGuard& operator=(const CallGuard&) = delete;
};

void countStatement() {
    const std::int64_t limit = trace::Tracer::active() ? kMaxTracedStatements : kMaxStatements;
    if (++tStatements > limit) fail(TraceErrorKind::Runtime, "the script ran " + std::to_string(limit) + " statements without an end");
}

bool onlyRaises(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
        if (statement.kind != Statement::Kind::Evaluate || statement.value.kind != Kind::Call) continue;
        const Expression& callee = statement.value.parts.front();
        if (callee.kind == Kind::Attribute && callee.text == "RaiseException") return true;
    }
    return false;
}

bool isCallOfModule(const std::string& name) {
    return name.starts_with("forward") && std::all_of(name.begin() + 7, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool truth(const ScriptValue& value) {
    if (value.cell() || value.plain()) return toVar(value).toBool();
    if (value.list()) return !value.list()->items.empty();
    if (value.tuple()) return !value.tuple()->items.empty();
    if (value.dict()) return !value.dict()->items.empty();
    return true;
}

ScriptValue Interpreter::call(const FunctionDef& function, std::vector<ScriptValue> arguments, bool withSelf,
                              const std::vector<std::pair<std::string, ScriptValue>>& keywords) {
    const CallGuard guard;
    Environment env;
    std::size_t next = 0;
    if (withSelf && !arguments.empty()) env["self"] = std::move(arguments[next++]);
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
    run(function.body, env, result);
    return result;
}

ScriptValue Interpreter::evaluateConstant(const Expression& expression) {
    Environment env;
    return evaluate(expression, env);
}

Interpreter::Flow Interpreter::run(const std::vector<Statement>& body, Environment& env, ScriptValue& result) {
    for (const Statement& statement : body) {
        countStatement();
        Flow flow = Flow::Next;
        switch (statement.kind) {
            case Statement::Kind::Pass: break;
            case Statement::Kind::Evaluate: evaluate(statement.value, env); break;
            case Statement::Kind::Assign: assignAll(statement, env); break;
            case Statement::Kind::Return:
                result = evaluate(statement.value, env);
                return Flow::Return;
            case Statement::Kind::If: flow = runIf(statement, env, result); break;
            case Statement::Kind::For: flow = runFor(statement, env, result); break;
            case Statement::Kind::While:
                while (flow == Flow::Next && truth(evaluate(statement.value, env))) {
                    countStatement();
                    flow = run(statement.body, env, result);
                }
                break;
        }
        if (flow == Flow::Return) return flow;
    }
    return Flow::Next;
}

Interpreter::Flow Interpreter::runIf(const Statement& statement, Environment& env, ScriptValue& result) {
    const ScriptValue condition = evaluate(statement.value, env);
    const bool symbolic = condition.isProxy() || (condition.cell() && toVar(condition).isProxy());
    if (symbolic) {
        if (onlyRaises(statement.body)) return run(statement.orElse, env, result);
        if (onlyRaises(statement.orElse)) return run(statement.body, env, result);
    }
    return run(truth(condition) ? statement.body : statement.orElse, env, result);
}

Interpreter::Flow Interpreter::runFor(const Statement& statement, Environment& env, ScriptValue& result) {
    const ScriptValue over = evaluate(statement.value, env);
    if (over.isProxy()) fail(TraceErrorKind::Iteration, trace::kIterationText);
    std::vector<ScriptValue> items;
    if (over.list()) items = over.list()->items;
    else if (over.tuple()) items = over.tuple()->items;
    else fail(TraceErrorKind::Type, "a value of type " + typeName(over) + " cannot be iterated");
    for (ScriptValue& item : items) {
        assign(statement.targets.front(), std::move(item), env);
        countStatement();
        if (run(statement.body, env, result) == Flow::Return) return Flow::Return;
    }
    return Flow::Next;
}

void Interpreter::assign(const Expression& target, ScriptValue value, Environment& env) {
    if (target.kind == Kind::Name) {
        env[target.text] = std::move(value);
    } else if (target.kind == Kind::Attribute) {
        const ScriptValue object = evaluate(target.parts.front(), env);
        if (const auto* instance = object.as<std::shared_ptr<InstanceValue>>()) {
            (*instance)->attributes[target.text] = std::move(value);
        } else {
            fail(TraceErrorKind::Attribute, "the attribute '" + target.text + "' of a " + typeName(object) + " cannot be set");
        }
    } else {
        fail(TraceErrorKind::Type, "line " + std::to_string(target.line) + " assigns to what is no variable");
    }
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

std::vector<ScriptValue> Interpreter::unpacked(const ScriptValue& value, std::size_t n) {
    std::vector<ScriptValue> items;
    if (value.list()) items = value.list()->items;
    else if (value.tuple()) items = value.tuple()->items;
    else if (value.isProxy()) {
        for (const Var& item : value.plain()->unpack(n)) items.push_back(fromVar(item));
    }
    if (items.size() != n) {
        fail(TraceErrorKind::Value, std::to_string(items.size()) + " values of a " + typeName(value) + " for " + std::to_string(n) + " names");
    }
    return items;
}

namespace {

/// "torch.nn.functional" of nested attribute reads that start at a name; empty for anything else.
std::string dottedPath(const Expression& expression) {
    if (expression.kind == Kind::Name) return expression.text;
    if (expression.kind != Kind::Attribute) return {};
    std::string head = dottedPath(expression.parts.front());
    return head.empty() ? head : head + '.' + expression.text;
}

ScriptValue constant(const Archive& archive, const std::string& name) {
    std::size_t index = 0;
    for (char c : name.substr(1)) {
        if (c < '0' || c > '9') fail(TraceErrorKind::Name, "there is no constant " + name);
        index = index * 10 + static_cast<std::size_t>(c - '0');
        if (index > archive.constants().size()) break;
    }
    if (index >= archive.constants().size()) fail(TraceErrorKind::Name, "there is no constant " + name);
    const Value& value = archive.constants()[index];
    // A number that met a tensor while tracing: it takes part like a plain number, without raising the tensor's type.
    const bool isNumber = value.isTensor() && value.tensor().rank() == 0;
    if (isNumber && value.tensor().dtype() == tensor::DType::Float64) return Var(value.tensor().toDouble(0));
    if (isNumber && value.tensor().dtype() == tensor::DType::Int64) return Var(value.tensor().toInt64(0));
    return fromVar(Var(value));
}

}  // namespace

ScriptValue Interpreter::evaluate(const Expression& expression, Environment& env) {
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
        case Kind::List: return makeList(all(expression.parts));
        case Kind::Tuple: return makeTuple(all(expression.parts));
        case Kind::Dict: {
            auto dict = std::make_shared<DictValue>();
            for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
                ScriptValue key = evaluate(expression.parts[i], env);
                dict->items.emplace_back(std::move(key), evaluate(expression.parts[i + 1], env));
            }
            return dict;
        }
        case Kind::Negative: {
            std::vector<ScriptValue> operand{evaluate(expression.parts.front(), env)};
            return callOperator("neg", std::move(operand), {});
        }
        case Kind::Subscript: {
            if (expression.parts.size() != 2) fail(TraceErrorKind::Type, "an index has one part");
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
                return GlobalValue{global->path + '.' + expression.text};
            }
            return attribute(object, expression.text);
        }
        case Kind::Call: return evaluateCall(expression, env);
    }
    return Var();
}

ScriptValue Interpreter::attribute(const ScriptValue& object, const std::string& name) {
    if (const auto* module = object.as<std::shared_ptr<ScriptModule>>()) {
        ScriptValue value = (*module)->attribute(name);
        trace::Tracer* tracer = trace::Tracer::active();
        if (tracer && value.as<std::shared_ptr<ScriptModule>>()) tracer->moduleRead(**module, name);
        return value;
    }
    if (const auto* instance = object.as<std::shared_ptr<InstanceValue>>()) {
        if (const auto found = (*instance)->attributes.find(name); found != (*instance)->attributes.end()) return found->second;
    }
    if (const TupleValue* tuple = object.tuple(); tuple && tuple->type) {
        for (std::size_t i = 0; i < tuple->type->attributes.size() && i < tuple->items.size(); ++i) {
            if (tuple->type->attributes[i].name == name) return tuple->items[i];
        }
    }
    if (object.cell()) return callOperator("prim." + name, {object}, {});
    fail(TraceErrorKind::Attribute, "a value of type " + typeName(object) + " has no attribute '" + name + "'");
}

ScriptValue Interpreter::subscript(const ScriptValue& object, const ScriptValue& index) {
    if (object.isProxy()) return fromVar((*object.plain())[toVar(index)]);
    std::vector<ScriptValue> arguments{object, index};
    ScriptValue result;
    if (callBuiltin("__getitem__", arguments, result)) return result;
    fail(TraceErrorKind::Type, "a value of type " + typeName(object) + " cannot be indexed");
}

ScriptValue Interpreter::evaluateCall(const Expression& expression, Environment& env) {
    const Expression& callee = expression.parts.front();
    const std::string path = dottedPath(callee);
    if (callee.kind == Kind::Name && !env.contains(callee.text)) return callNamed(callee.text, expression, env);

    // A method's receiver, unless the path leads out of the function.
    const bool isMethod = callee.kind == Kind::Attribute && (path.empty() || env.contains(path.substr(0, path.find('.'))));
    ScriptValue receiver = isMethod ? evaluate(callee.parts.front(), env) : path.empty() || env.contains(path) ? evaluate(callee, env) : GlobalValue{path};
    std::vector<ScriptValue> arguments;
    for (std::size_t i = 1; i < expression.parts.size(); ++i) arguments.push_back(evaluate(expression.parts[i], env));
    std::vector<std::pair<std::string, ScriptValue>> keywords;
    for (const auto& [key, value] : expression.keywords) keywords.emplace_back(key, evaluate(value, env));
    const auto* global = receiver.as<GlobalValue>();
    if (isMethod && !global) return callMethod(receiver, callee.text, std::move(arguments), std::move(keywords));
    if (global) return callGlobal(isMethod ? global->path + '.' + callee.text : global->path, std::move(arguments), std::move(keywords));
    fail(TraceErrorKind::Type, "a value of type " + typeName(receiver) + " cannot be called");
}

ScriptValue Interpreter::callMethod(const ScriptValue& object, const std::string& name, std::vector<ScriptValue> arguments,
                                    std::vector<std::pair<std::string, ScriptValue>> keywords) {
    const ClassDef* type = nullptr;
    if (const auto* module = object.as<std::shared_ptr<ScriptModule>>()) {
        if (isCallOfModule(name)) return (*module)->callForward(name, std::move(arguments), std::move(keywords));
        type = &(*module)->type();
    } else if (const auto* instance = object.as<std::shared_ptr<InstanceValue>>()) {
        type = (*instance)->type;
    }
    const FunctionDef* method = type ? type->method(name) : nullptr;
    if (!method) fail(TraceErrorKind::Attribute, "a value of type " + typeName(object) + " has no method '" + name + "'");
    arguments.insert(arguments.begin(), object);
    return call(*method, std::move(arguments), true, keywords);
}

namespace {

/// int(x), float(x), bool(x): of a proxy that is no tensor the proxy itself, for sizes are numbers already.
ScriptValue converted(const std::string& name, const ScriptValue& value) {
    const Var var = toVar(value);
    if (var.isProxy()) {
        if (!var.tracer().isTensor(var.node())) return var;
        const std::string_view op = name == "int" ? "Int" : name == "float" ? "Float" : "Bool";
        return trace::callFunction(trace::Function{op, op, op, false, "prim"}, {var});
    }
    if (name == "bool") return Var(truth(value));
    if (value.isString()) {
        const std::string& text = var.value().toString();
        try {
            return name == "int" ? Var(static_cast<std::int64_t>(std::stoll(text))) : Var(std::stod(text));
        } catch (const std::exception&) {
            fail(TraceErrorKind::Value, "'" + text + "' is no number");
        }
    }
    return name == "int" ? Var(var.toInt()) : Var(var.toFloat());
}

ScriptValue rangeOf(const std::vector<ScriptValue>& arguments) {
    std::int64_t numbers[3] = {0, 0, 1};
    for (std::size_t i = 0; i < arguments.size() && i < 3; ++i) numbers[i] = toVar(arguments[i]).toInt();
    if (arguments.size() == 1) std::swap(numbers[0], numbers[1]);
    const auto [start, stop, step] = numbers;
    if (step == 0) fail(TraceErrorKind::Value, "range() needs a step that is not 0");
    std::vector<ScriptValue> items;
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        countStatement();
        items.emplace_back(Var(i));
        if (step > 0 ? i > stop - step : i < stop - step) break;  // the next one would pass the end, or overflow
    }
    return makeList(std::move(items));
}

}  // namespace

ScriptValue Interpreter::callNamed(const std::string& name, const Expression& expression, Environment& env) {
    const auto argument = [&](std::size_t i) {
        if (expression.parts.size() <= i + 1) fail(TraceErrorKind::Type, name + "() lacks an argument");
        return evaluate(expression.parts[i + 1], env);
    };
    if (name == "annotate" || name == "unchecked_cast") return argument(1);
    if (name == "uninitialized") return Var();
    if (name == "int" || name == "float" || name == "bool") return converted(name, argument(0));
    if (name == "getattr") return attribute(argument(0), toVar(argument(1)).toValue().toString());
    std::vector<ScriptValue> arguments;
    for (std::size_t i = 1; i < expression.parts.size(); ++i) arguments.push_back(evaluate(expression.parts[i], env));
    if (name == "range") return rangeOf(arguments);
    ScriptValue result;
    if (callBuiltin(name, arguments, result)) return result;
    fail(TraceErrorKind::Name, "the function " + name + " is not known");
}

ScriptValue Interpreter::callGlobal(const std::string& path, std::vector<ScriptValue> arguments,
                                    std::vector<std::pair<std::string, ScriptValue>> keywords) {
    if (path.starts_with("torch.")) return callOperator(path.substr(6), std::move(arguments), std::move(keywords));
    if (path.starts_with("ops.prim.")) return callOperator("prim." + path.substr(9), std::move(arguments), std::move(keywords));
    if (path.starts_with("ops.aten.")) return callOperator(path.substr(9), std::move(arguments), std::move(keywords));
    if (path.starts_with("ops.")) return callOperator(path.substr(4), std::move(arguments), std::move(keywords));
    const bool isNew = path.ends_with(".__new__");
    const std::string name = isNew ? path.substr(0, path.size() - 8) : path;
    auto function = m_archive.findFunction(name);
    if (!function) fail(TraceErrorKind::Runtime, function.error().text());
    if (*function) return call(**function, std::move(arguments), false, keywords);
    auto type = m_archive.findClass(name);
    if (!type) fail(TraceErrorKind::Runtime, type.error().text());
    if (!*type) fail(TraceErrorKind::Name, "the function " + path + " is not in the archive");
    if ((*type)->base == "NamedTuple") {
        if (arguments.size() != (*type)->attributes.size()) fail(TraceErrorKind::Type, name + "() got a wrong number of arguments");
        return makeTuple(std::move(arguments), *type);
    }
    return std::make_shared<InstanceValue>(InstanceValue{name, *type, {}});
}

}  // namespace sonde::io::script
