// Calls: of modules, methods and functions of the archive, of operators, and of the functions that the language itself
// has.

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/number_text.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/known_rank.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/number_nodes.h"
#include "core/io/torchscript/python_forms.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/source_stack.h"
#include "core/io/torchscript/views.h"
#include "core/io/torchscript/write_overlap.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using trace::TraceErrorKind;
using Kind = Expression::Kind;

namespace {

/// fx's words: users search for them.
constexpr const char* kLengthText =
    "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call torch.fx.wrap('len') at module scope";

/// forward, forward1 (a traced module's second call), forward__0 (an overload).
bool isCallOfModule(const std::string& name) {
    if (!name.starts_with("forward")) return false;
    const std::size_t digits = name.starts_with("forward__") ? 9 : 7;
    return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(digits), name.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
}

/// torch optimises a method's graph before it is inlined into its caller's.
bool inSubmodule() { return !trace::Tracer::active()->currentModuleQualifiedName().empty(); }

/// A number before an operator and a tensor after it go through functions of torch's own prelude: `1.0 - x` is
/// add(neg(x), 1.0) in the archive, `1.0 / x` is mul(reciprocal(x), 1.0). The tensor's expression; null for all else.
const Expression* behindNumber(const Expression& expression, std::string_view inner, std::string_view prelude) {
    if (expression.parts.size() != 3 || !expression.keywords.empty()) return nullptr;
    const Expression& first = expression.parts[1];
    if (first.kind != Kind::Call || first.parts.size() != 2 || dottedPath(first.parts[0]) != inner) return nullptr;
    return SourceFrame::placeOf(expression).text == prelude ? &first.parts[1] : nullptr;
}

}  // namespace

bool changesContainer(const std::string& name) {
    static const std::set<std::string, std::less<>> names{"append", "insert",    "pop",    "extend",  "reverse",
                                                          "sort",   "clear",     "remove", "popitem", "setdefault",
                                                          "update", "_set_item", "Delete"};
    return names.contains(name);
}

ScriptValue Interpreter::evaluateCall(const Expression& expression, Environment& env) {
    const Expression& callee = expression.parts.front();
    const std::string path = dottedPath(callee);
    if (callee.kind == Kind::Name && !env.contains(callee.text)) return callNamed(callee.text, expression, env);

    // A method's receiver, unless the path leads out of the function.
    const bool isMethod =
        callee.kind == Kind::Attribute && (path.empty() || env.contains(path.substr(0, path.find('.'))));
    ScriptValue receiver = isMethod                             ? evaluate(callee.parts.front(), env)
                           : path.empty() || env.contains(path) ? evaluate(callee, env)
                                                                : GlobalValue{path};
    std::vector<ScriptValue> arguments;
    if ((path == "torch.add" || path == "torch.mul") && trace::Tracer::active() && !recordsAll()) {
        const bool isSum = path == "torch.add";
        const Expression* operand = isSum ? behindNumber(expression, "torch.neg", "torch.neg(b) + a")
                                          : behindNumber(expression, "torch.reciprocal", "torch.reciprocal(b) * a");
        if (operand) {
            const ScriptValue tensor = evaluate(*operand, env);
            const ScriptValue number = evaluate(expression.parts[2], env);
            SourceFrame::at(expression);
            if (isSum) return callOperator("rsub", {tensor, number}, {});
            return makeCell(trace::callFunction(trace::Function{"truediv", "truediv", "operator.truediv", true, "prim"},
                                                {toVar(number), toVar(tensor)}));
        }
    }
    for (std::size_t i = 1; i < expression.parts.size(); ++i) arguments.push_back(evaluate(expression.parts[i], env));
    std::vector<std::pair<std::string, ScriptValue>> keywords;
    for (const auto& [key, value] : expression.keywords) keywords.emplace_back(key, evaluate(value, env));
    const auto* global = receiver.as<GlobalValue>();
    SourceFrame::at(expression);
    if (isMethod && !global) return callMethod(receiver, callee.text, std::move(arguments), std::move(keywords));
    if (global) {
        return callGlobal(isMethod ? global->path + '.' + callee.text : global->path, expression, std::move(arguments),
                          std::move(keywords));
    }
    fail(TraceErrorKind::Type, "a value of type " + typeName(receiver) + " cannot be called");
}

ScriptValue Interpreter::callMethod(const ScriptValue& object, const std::string& name,
                                    std::vector<ScriptValue> arguments,
                                    std::vector<std::pair<std::string, ScriptValue>> keywords) {
    const ClassDef* type = nullptr;
    if (const auto* module = object.as<std::shared_ptr<ScriptModule>>()) {
        if (isCallOfModule(name)) return (*module)->callForward(name, std::move(arguments), std::move(keywords));
        type = &(*module)->type();
    } else if (const auto* instance = object.as<std::shared_ptr<InstanceValue>>()) {
        type = (*instance)->type;
    }
    if (name == "tolist" && object.cell() && arguments.empty() && keywords.empty())
        return callOperator("prim.tolist", {object}, {});
    const FunctionDef* method = type ? type->method(name) : nullptr;
    if (!method)
        fail(TraceErrorKind::Attribute, "a value of type " + typeName(object) + " has no method '" + name + "'");
    arguments.insert(arguments.begin(), object);
    return call(*method, std::move(arguments), true, keywords);
}

namespace {

/// What a number was before NumToTensor; nothing for anything else.
std::optional<ScriptValue> beforeNumToTensor(const Var& var) {
    const graph::InternalGraph& graph = *var.tracer().recording().recordedGraph();
    const graph::Expr& maker = graph.expr(graph.node(var.node()).producer);
    if (maker.op.name != "NumToTensor" || maker.arguments.front().kind != graph::Argument::Kind::Node)
        return std::nullopt;
    return ScriptValue(Var::proxy(var.tracer(), maker.arguments.front().node));
}

/// A proxy that stands for a number: a dim size, or what was computed of dim sizes.
bool isNumberNode(const ScriptValue& value) {
    const trace::Tracer* tracer = value.isProxy() ? &value.plain()->tracer() : nullptr;
    if (!tracer || !tracer->recording().recordedGraph() || tracer->recording().isTensor(value.plain()->node()))
        return false;
    const graph::InternalGraph& graph = *tracer->recording().recordedGraph();
    const auto maker = [&graph](graph::NodeId node) -> const graph::Expr& {
        return graph.expr(graph.node(node).producer);
    };
    const graph::Expr& expr = maker(value.plain()->node());
    if (expr.op.name == "size.int") return true;
    if (expr.op.domain != "prim" || expr.arguments.empty()) return false;
    if (expr.op.name != "getitem")
        return expr.op.name == "add" || expr.op.name == "sub" || expr.op.name == "mul" || expr.op.name == "floordiv";
    const graph::Argument& whole = expr.arguments.front();
    return whole.kind == graph::Argument::Kind::Node && maker(whole.node).op.name == "size";
}

/// What int(text) and float(text) read: without blanks around it and without a plus sign.
std::string_view numberIn(std::string_view text) {
    const auto isBlank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
    while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    return text;
}

/// int(x), float(x), bool(x); int of an integer is that number, for sizes are numbers already.
ScriptValue converted(const std::string& name, const ScriptValue& value, bool recordsAll) {
    const Var var = toVar(value);
    if (var.isProxy()) {
        if (name == "int" && numberKindOf(var) == NumberKind::Whole) return var;
        if (name == "int" && recordsAll && inSubmodule()) {
            if (auto number = beforeNumToTensor(var)) return *number;
        }
        const std::string_view op = name == "int" ? "Int" : name == "float" ? "Float" : "Bool";
        return trace::callFunction(trace::Function{op, op, op, false, "prim"}, {var});
    }
    if (name == "bool") return Var(toBool(value));
    if (value.isString()) {
        const std::string& text = var.value().toString();
        const std::string_view digits = numberIn(text);
        if (name == "int") {
            if (const auto whole = base::parseNumber<std::int64_t>(digits)) return Var(*whole);
        } else if (const auto number = base::parseNumber<double>(digits)) {
            return Var(*number);
        }
        fail(TraceErrorKind::Value, "'" + text + "' is not a number");
    }
    return name == "int" ? Var(var.toInt()) : Var(var.toFloat());
}

/// A range that is more than walked through.
ScriptValue rangeAsList(const std::vector<ScriptValue>& arguments) {
    constexpr std::uint64_t kMaxElements = 10'000'000;
    const Range range = rangeOf(arguments);
    if (range.count > kMaxElements) fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
    std::vector<ScriptValue> items;
    for (std::uint64_t i = 0; i < range.count; ++i) items.emplace_back(Var(range.at(i)));
    return makeList(std::move(items));
}

/// "List[Tensor]" of a type that is where a value could.
std::string typeText(const Expression& type) {
    if (type.kind != Kind::Subscript) return type.kind == Kind::None ? "NoneType" : dottedPath(type);
    std::string text = typeText(type.parts.front()) + '[';
    for (std::size_t i = 1; i < type.parts.size(); ++i) text += (i > 1 ? "," : "") + typeText(type.parts[i]);
    return text + ']';
}

/// Whether a value is of a type, or of one of several. What only a run knows cannot be asked.
bool isInstance(const ScriptValue& value, const Expression& type) {
    if (type.kind == Kind::List || type.kind == Kind::Tuple) {
        return std::ranges::any_of(type.parts, [&](const Expression& one) { return isInstance(value, one); });
    }
    const std::string text = typeText(type);
    if (text.starts_with("Optional[")) return value.isNone() || isInstance(value, type.parts.at(1));
    const bool isPlain = value.plain() && value.plain()->kind() == Var::Kind::Value;
    const auto is = [&](tensor::ValueKind kind) { return isPlain && value.plain()->value().kind() == kind; };
    const bool isNumber = value.isProxy() && numberKindOf(*value.plain()) != NumberKind::Unknown;
    if (text == "Tensor" && (!value.isProxy() || isNumber || isSizeList(*value.plain())))
        return value.cell() != nullptr;
    if (value.isProxy()) fail(TraceErrorKind::ControlFlow, "isinstance() of a symbolic value");
    if (text == "int") return is(tensor::ValueKind::Int);
    if (text == "float") return is(tensor::ValueKind::Float);
    if (text == "bool") return is(tensor::ValueKind::Bool);
    if (text == "str") return value.isString();
    if (text == "NoneType") return value.isNone();
    if (text.starts_with("List") || text == "list") return value.list() != nullptr;
    if (text.starts_with("Dict") || text == "dict") return value.dict() != nullptr;
    if (text.starts_with("Tuple") || text == "tuple") return value.tuple() != nullptr;
    const auto* instance = value.as<std::shared_ptr<InstanceValue>>();
    const std::string name = instance ? (*instance)->typeName : typeName(value);
    return name == text || text.ends_with('.' + name);
}

}  // namespace

ScriptValue Interpreter::callNamed(const std::string& name, const Expression& expression, Environment& env) {
    const auto argument = [&](std::size_t i) {
        if (expression.parts.size() <= i + 1) fail(TraceErrorKind::Type, name + "() lacks an argument");
        return evaluate(expression.parts[i + 1], env);
    };
    if (name == "annotate" || name == "unchecked_cast") {
        const ScriptValue value = argument(1);
        const std::string type = typeText(expression.parts[1]);
        if (value.list() && type == "List[Tensor]") value.list()->ofTensors = true;
        // A tensor where a number is requested is one.
        if (value.cell() && (type == "int" || type == "float" || type == "bool"))
            return converted(type, value, recordsAll());
        if (!value.isProxy() || type != "Tensor") return value;
        return tensorOf(*value.plain());
    }
    if (name == "uninitialized") return GlobalValue{kUninitialized};
    if (name == "unchecked_unwrap_optional") return argument(0);
    if (name == "isinstance") {
        const ScriptValue value = argument(0);
        if (expression.parts.size() != 3) fail(TraceErrorKind::Type, "isinstance() takes a value and a type");
        return Var(isInstance(value, expression.parts[2]));
    }
    if (name == "fork" && expression.parts.size() > 1) {
        // Nothing runs beside: the function is called at once, and waiting for it gives its result.
        Expression call = expression;
        call.parts.erase(call.parts.begin());
        return evaluate(call, env);
    }
    if (name == "int" || name == "float" || name == "bool") return converted(name, argument(0), recordsAll());
    if (name == "getattr") return attribute(argument(0), toVar(argument(1)).toValue().toString());
    std::vector<ScriptValue> arguments;
    for (std::size_t i = 1; i < expression.parts.size(); ++i) arguments.push_back(evaluate(expression.parts[i], env));
    if (name == "range") return rangeAsList(arguments);
    if (name == "print") return Var();
    ScriptValue result;
    if (callBuiltin(name, arguments, result)) return result;
    fail(TraceErrorKind::Name, "the function " + name + " is not known");
}

std::optional<ScriptValue> Interpreter::sizeOfUnpacked(const Expression& expression, const ScriptValue& tensor) {
    if (const auto known = m_sizes.find(&expression); known != m_sizes.end()) {
        const ScriptValue size = known->second;
        m_sizes.erase(known);
        return size;
    }
    if (!trace::Tracer::active() || !tensor.cell() || !isSymbolic(tensor) || expression.parts[2].integer != 0)
        return std::nullopt;
    const std::vector<const Expression*> calls = unpackedSizes(*SourceFrame::function(), expression);
    if (calls.empty()) return std::nullopt;
    const Var sizes = trace::callFunction(trace::Function{"size", "size", "torch.size", false}, {toVar(tensor)});
    const std::vector<Var> parts = sizes.unpack(calls.size());
    for (std::size_t i = 1; i < calls.size(); ++i) m_sizes[calls[i]] = parts[i];
    return ScriptValue(parts[0]);
}

namespace {

std::shared_ptr<TensorCell> cellOf(const ScriptValue& value) {
    const auto* cell = value.as<std::shared_ptr<TensorCell>>();
    return cell ? *cell : nullptr;
}

/// `x[…] = 2` is x[…] = torch.tensor(2, dtype=x[…].dtype) in the archive. The number, if the value is made just so:
/// then nothing else knows that tensor.
std::optional<Var> assignedNumber(const Var& value, const Var& part) {
    if (!value.isProxy() || !part.isProxy() || !value.tracer().recording().recordedGraph()) return std::nullopt;
    const graph::InternalGraph& graph = *value.tracer().recording().recordedGraph();
    const auto maker = [&graph](graph::NodeId node) -> const graph::Expr& {
        return graph.expr(graph.node(node).producer);
    };
    const graph::Expr& tensor = maker(value.node());
    if (!tensor.op.name.starts_with("tensor.") || tensor.arguments.empty() || !graph.node(value.node()).users.empty())
        return std::nullopt;
    const bool likePart = std::ranges::any_of(tensor.inputs, [&](graph::NodeId input) {
        const graph::Expr& read = maker(input);
        return read.op.name == "getattr" && read.inputs.size() == 1 && read.inputs.front() == part.node();
    });
    const graph::Argument& number = tensor.arguments.front();
    if (!likePart || number.kind != graph::Argument::Kind::Constant || !number.constant.isNumber()) return std::nullopt;
    return Var(number.constant);
}

/// Takes back a tensor made of a number, and what was only asked for it (the dtype).
void eraseWithReads(const Var& value) {
    const graph::InternalGraph& graph = *value.tracer().recording().recordedGraph();
    const std::vector<graph::NodeId> inputs = graph.expr(graph.node(value.node()).producer).inputs;
    trace::Recorder& recorder = value.tracer().recorder();
    recorder.eraseUnused(value.node());
    for (const graph::NodeId input : inputs) {
        if (graph.expr(graph.node(input).producer).op.name == "getattr") recorder.eraseUnused(input);
    }
}

/// `x[…] = value` is copy_ or fill_ into a part; for people it is one node, setitem, made when something uses x.
bool assigned(const std::string& name, const std::vector<ScriptValue>& arguments) {
    const auto cell = arguments.empty() ? nullptr : cellOf(arguments.front());
    if (!cell || !trace::Tracer::active()) return false;
    const Var part = cell->var;
    bool done = false, isPart = false;
    if ((name == "copy_" || name == "fill_") && arguments.size() == 2) {
        checkWriteOverlap(name, arguments[0], arguments, {});
        const Var value = toVar(arguments[1]);
        const std::optional<Var> number = assignedNumber(value, part);
        isPart = value.isProxy() && part.isProxy() && value.node() == part.node();
        done = assignThrough(*cell, number.value_or(value), number ? ScriptValue() : arguments[1]);
        if (done && number) eraseWithReads(value);
    } else if (name == "zero_" && arguments.size() == 1) {
        done = assignThrough(*cell, Var(0));
    }
    // Nobody has read the part. (What was cut before a branch is there for the other one as well.)
    if (done && part.isProxy() && !isPart && part.tracer().recording().isRecordedHere(part.node()))
        part.tracer().recorder().eraseUnused(part.node());
    return done;
}

}  // namespace

namespace {

/// A number, or a list of them, that is a node of a traced module: sizes of a tensor and what is computed of them.
bool isSizes(const ScriptValue& value) {
    if (!value.isProxy()) return false;
    const Var var = *value.plain();
    return var.tracer().recording().isNumber(var.node());
}

bool anySizes(const std::vector<ScriptValue>& values) { return std::ranges::any_of(values, isSizes); }

/// What ATen has for tensors only: sizes are compared as numbers and lists.
bool isOfPlainValues(const std::string& name) {
    return name == "__not__" || name == "eq" || name == "ne" || name == "__contains__";
}

/// Sizes as a list of numbers; there are as many as in the trace.
ScriptValue takenApart(const ScriptValue& value) {
    if (!isSizes(value)) return value;
    const Var list = *value.plain();
    const auto kind = list.tracer().recording().kindOf(list.node());
    if (kind != tensor::ValueKind::List && kind != tensor::ValueKind::Tuple) return value;
    std::vector<ScriptValue> items;
    const auto count = static_cast<std::int64_t>(list.length());
    for (std::int64_t i = 0; i < count; ++i) items.emplace_back(list[Var(i)]);
    return makeList(std::move(items));
}

/// x.size()[2:], list(x.size()), [n] + x.size(): ATen has these for tensors only.
void takeListsApart(const std::string& name, std::vector<ScriptValue>& arguments) {
    if (name != "slice" && name != "list" && name != "copy" && name != "add" && name != "sum") return;
    for (ScriptValue& argument : arguments) argument = takenApart(argument);
}

}  // namespace

/// An operator torch.NAME of the archive.
ScriptValue Interpreter::callTorch(const std::string& name, const Expression& expression,
                                   std::vector<ScriptValue> arguments,
                                   std::vector<std::pair<std::string, ScriptValue>> keywords) {
    if (!arguments.empty() && changesContainer(name)) {
        if (const auto* list = arguments[0].as<std::shared_ptr<ListValue>>()) Region::noteChange(*list);
        if (const auto* dict = arguments[0].as<std::shared_ptr<DictValue>>()) Region::noteChange(*dict);
    }
    if (name == "wait" && arguments.size() == 1) return arguments[0];
    takeConstantsAsNumbers(name, arguments, keywords);
    if (name == "len" && arguments.size() == 1 && arguments[0].isProxy() && !recordsControlFlow() &&
        !trace::Tracer::active()->knowsValues()) {
        fail(TraceErrorKind::Length, kLengthText);
    }
    if ((name == "is_contiguous" || name == "stride") && !arguments.empty() && isSymbolic(arguments[0])) {
        const TensorCell* cell = arguments[0].cell();
        if (name == "is_contiguous" && arguments.size() == 1 && keywords.empty() && cell && cell->isDense)
            return ScriptValue(Var(true));
        fail(TraceErrorKind::ControlFlow, name + "() of a tensor whose order in memory only a run knows");
    }
    // A number that was a tensor when it was traced (x.shape[0] as NumToTensor).
    if (name == "detach" && arguments.size() == 1 && (arguments[0].isNumber() || arguments[0].isProxy()))
        return arguments[0];
    if (name == "_unwrap_optional" && arguments.size() == 1) {
        if (arguments[0].isNone()) fail(TraceErrorKind::Value, "a value that is None is used");
        return arguments[0];
    }
    if ((name == "item" || name == "ScalarImplicit" || name == "IntImplicit" || name == "FloatImplicit") &&
        arguments.size() == 1 && isSymbolic(arguments[0])) {
        return ScriptValue(
            trace::callFunction(trace::Function{"item", "item", "Tensor.item", false, "prim"}, {toVar(arguments[0])}));
    }
    if (keywords.empty()) takeListsApart(name, arguments);
    if (keywords.empty()) {
        if (auto known = formOf(name, arguments)) return *known;
    }
    if (name == "sum" && keywords.empty() && arguments.size() == 1) {
        if (auto total = sumOfNumbers(arguments.front())) return *total;
    }
    ScriptValue result;
    const bool isSymbolicCall = recordsControlFlow() || (isOfPlainValues(name) && anySizes(arguments));
    if (keywords.empty() && isSymbolicCall && callSymbolic(name, arguments, result)) return result;
    if (recordsAll()) {
        if (name == "prim.NumToTensor" && arguments.size() == 1 && isSymbolic(arguments[0])) {
            const Var tensor = trace::callFunction(
                trace::Function{"NumToTensor", "NumToTensor", "prim.NumToTensor", true, "prim"}, {toVar(arguments[0])});
            if (inSubmodule()) m_numberTensors.push_back(tensor);
            return makeCell(tensor);
        }
    } else if (keywords.empty()) {
        if (name == "size" && arguments.size() == 2) {
            if (auto size = sizeOfUnpacked(expression, arguments[0])) return *size;
        }
        if (auto python = asPython(name, arguments, expression)) return *python;
    }
    if (!recordsAll() && keywords.empty() && assigned(name, arguments)) return arguments.front();
    if (name == "to" && !arguments.empty() && isNumberNode(arguments[0])) {
        arguments[0] = makeCell(trace::callFunction(
            trace::Function{"NumToTensor", "NumToTensor", "prim.NumToTensor", true, "prim"}, {toVar(arguments[0])}));
    }
    if (!arguments.empty()) arguments.front() = asReceiver(name, arguments);
    const auto receiver = arguments.empty() ? nullptr : cellOf(arguments.front());
    auto step = receiver && mayBeView(name, arguments) ? viewStep(name, arguments) : nullptr;
    result = callOperator(name, std::move(arguments), std::move(keywords));
    // A list of parts that only a run knows: its elements will be views.
    if (step && step->kind == ViewStep::Kind::Item && result.isProxy()) noteParts(*result.plain(), receiver, *step);
    return result;
}

std::optional<ScriptValue> Interpreter::formOf(const std::string& name, const std::vector<ScriptValue>& arguments) {
    if (arguments.empty() || !trace::Tracer::active() || !isSymbolic(arguments[0])) return std::nullopt;
    // x.shape[-2:], or [::-1] of any list that only a run knows: a tensor's slice has a dimension where this has its
    // start.
    const bool isList = arguments[0].isProxy() &&
                        (isSizeList(*arguments[0].plain()) || (arguments.size() > 1 && arguments[1].isNone()));
    if (name == "slice" && isList) {
        const auto bound = [&](std::size_t i, std::int64_t otherwise) {
            const Var var = i < arguments.size() ? toVar(arguments[i]) : Var();
            return var.kind() == Var::Kind::Value && var.value().isNumber() && var.toInt() == otherwise ? Var() : var;
        };
        return ScriptValue((*arguments[0].plain())[Var::slice(bound(1, 0), bound(2, kToTheEnd), bound(3, 1))]);
    }
    const bool asksRank = name == "dim" || name == "prim.ndim";
    if (arguments.size() != 1 || (!asksRank && name != "size") || !arguments[0].cell() || !recordsControlFlow())
        return std::nullopt;
    const FunctionDef* function = SourceFrame::function();
    const bool isLibraryFunction = function && function->unit && function->unit->source &&
                                   function->unit->source->file().find("/torch/nn/functional") != std::string::npos;
    const bool inLibrary = insideLeaf() || isLibraryFunction;
    if (!inLibrary) return std::nullopt;
    // The library's code branches on the number of dimensions and loops over them. Where the operators around say how
    // many there are, the way that is taken for that many is drawn, and the graph asserts it.
    const Var tensor = toVar(arguments[0]);
    const auto rank =
        tensor.isProxy() ? likelyRank(*tensor.tracer().recording().recordedGraph(), tensor.node()) : std::nullopt;
    if (!rank) return std::nullopt;
    if (m_ranks.emplace(tensor.node(), *rank).second) {
        const Var holds =
            trace::callFunction(trace::Function{"dim", "dim", "torch.dim", false}, {tensor}) == Var(*rank);
        const std::string text = "the model was drawn for a tensor of " + std::to_string(*rank) + " dimensions here";
        trace::callFunction(trace::Function{"_assert", "_assert", "torch._assert", false, "prim"}, {holds, text});
    }
    if (asksRank) return ScriptValue(Var(*rank));
    std::vector<ScriptValue> dimSizes;
    for (std::int64_t i = 0; i < *rank; ++i)
        dimSizes.push_back(callOperator("size", {arguments[0], ScriptValue(Var(i))}, {}));
    return makeList(std::move(dimSizes));
}

ScriptValue Interpreter::callGlobal(const std::string& path, const Expression& expression,
                                    std::vector<ScriptValue> arguments,
                                    std::vector<std::pair<std::string, ScriptValue>> keywords) {
    if (path.starts_with("torch."))
        return callTorch(path.substr(6), expression, std::move(arguments), std::move(keywords));
    if (path.starts_with("ops.prim."))
        return callTorch("prim." + path.substr(9), expression, std::move(arguments), std::move(keywords));
    if (path.starts_with("ops.aten."))
        return callTorch(path.substr(9), expression, std::move(arguments), std::move(keywords));
    if (path.starts_with("ops."))
        return callTorch(path.substr(4), expression, std::move(arguments), std::move(keywords));
    const bool isNew = path.ends_with(".__new__");
    const std::string name = isNew ? path.substr(0, path.size() - 8) : path;
    auto function = m_archive.findFunction(name);
    if (!function) fail(TraceErrorKind::Runtime, function.error().text());
    if (*function) return call(**function, std::move(arguments), false, keywords);
    auto type = m_archive.findClass(name);
    if (!type) fail(TraceErrorKind::Runtime, type.error().text());
    if (!*type) fail(TraceErrorKind::Name, "the function " + path + " is not in the archive");
    if ((*type)->base == "NamedTuple") {
        if (arguments.size() != (*type)->attributes.size())
            fail(TraceErrorKind::Type, name + "() got a wrong number of arguments");
        return makeTuple(std::move(arguments), *type);
    }
    return std::make_shared<InstanceValue>(InstanceValue{name, *type, {}});
}

}  // namespace sonde::io::script
