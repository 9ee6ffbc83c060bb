// Calls of operators on tensors: which overload, what the node is called, and what an in-place form changes.

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>

#include "core/io/torchscript/builtins.h"
#include "core/io/torchscript/dense.h"
#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/known_rank.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/number_nodes.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/views.h"
#include "core/io/torchscript/write_overlap.h"
#include "core/operators/names.h"
#include "core/operators/same_tensor.h"
#include "core/operators/traits.h"
#include "core/ops/registry/registry.h"
#include "core/trace/error.h"
#include "core/trace/record.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using ops::OpDef;
using ops::Parameter;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;

namespace {

using Named = std::vector<std::pair<std::string, ScriptValue>>;

/// Overloads of domain aten by the name before the dot; of domain torchvision by "torchvision.NAME".
const std::vector<const OpDef*>* overloadsOf(const std::string& name) {
    static const auto index = [] {
        std::unordered_map<std::string, std::vector<const OpDef*>> made;
        for (const OpDef* row : ops::Registry::all().rows()) {
            const std::string base(row->name.substr(0, row->name.find('.')));
            if (row->domain == "aten") made[base].push_back(row);
            if (row->domain == "torchvision") made["torchvision." + base].push_back(row);
        }
        return made;
    }();
    const auto found = index.find(name);
    return found == index.end() ? nullptr : &found->second;
}

bool isTensorList(const ScriptValue& value) {
    const std::vector<ScriptValue>* items = value.list()    ? &value.list()->items
                                            : value.tuple() ? &value.tuple()->items
                                                            : nullptr;
    return items && std::ranges::all_of(
                        *items, [](const ScriptValue& item) { return item.cell() || item.isProxy() || item.isNone(); });
}

bool isNumberList(const ScriptValue& value) {
    const std::vector<ScriptValue>* items = value.list()    ? &value.list()->items
                                            : value.tuple() ? &value.tuple()->items
                                                            : nullptr;
    return items &&
           std::ranges::all_of(*items, [](const ScriptValue& item) { return item.isNumber() || item.isProxy(); });
}

/// Whether a value can stand for a parameter of the schema's type. `lenient`: a number as a tensor, a tensor as a
/// number.
bool fits(std::string_view type, const ScriptValue& value, bool lenient) {
    if (type.ends_with("?")) {
        if (value.isNone()) return true;
        type.remove_suffix(1);
    }
    const bool isList = type.ends_with("]");
    if (type.starts_with("Tensor")) {
        if (isList) return value.isProxy() || isTensorList(value);
        return value.cell() || (lenient && (value.isNumber() || value.isProxy()));
    }
    if (type == "t[]") return value.list() || value.tuple();  // torch.tensor's data: lists in lists too
    if (isList) {
        const bool sized = type[type.size() - 2] != '[';
        return value.isProxy() || isNumberList(value) || (sized && value.isNumber()) || (lenient && value.cell());
    }
    if (type == "str") return value.isString();
    if (type == "bool")
        return value.isProxy() || (value.isNumber() && (lenient || value.plain()->value().kind() == ValueKind::Bool));
    const bool isBool = value.isNumber() && value.plain()->value().kind() == ValueKind::Bool;
    if (type == "int" || type == "SymInt")
        return value.isProxy() ||
               (value.isNumber() && value.plain()->value().kind() != ValueKind::Float && (lenient || !isBool));
    if (type == "Device") return !value.cell() && !value.list() && !value.isNumber();
    if (type == "Scalar" || type == "float") return value.isProxy() || value.isNumber() || (lenient && value.cell());
    return !value.cell() && !value.list() && !isBool;  // ScalarType, Layout, MemoryFormat, Generator
}

bool matches(const OpDef& row, const std::vector<ScriptValue>& arguments, const Named& keywords, bool lenient) {
    if (arguments.size() > row.parameters.size()) return false;
    for (std::size_t i = 0; i < row.parameters.size(); ++i) {
        const Parameter& parameter = row.parameters[i];
        if (i < arguments.size()) {
            if (parameter.keywordOnly || !fits(parameter.type, arguments[i], lenient)) return false;
            continue;
        }
        const auto named =
            std::ranges::find_if(keywords, [&](const auto& entry) { return entry.first == parameter.name; });
        if (named != keywords.end() ? !fits(parameter.type, named->second, lenient) : !parameter.fallback.has_value())
            return false;
    }
    return std::ranges::all_of(keywords, [&](const auto& entry) {
        return std::ranges::any_of(row.parameters,
                                   [&](const Parameter& parameter) { return parameter.name == entry.first; });
    });
}

const OpDef* choose(const std::vector<const OpDef*>& rows, const std::vector<ScriptValue>& arguments,
                    const Named& keywords) {
    for (const bool lenient : {false, true}) {
        for (const OpDef* row : rows) {
            if (matches(*row, arguments, keywords, lenient)) return row;
        }
    }
    return nullptr;
}

/// Names must outlive the graph's making; there are few different ones.
std::string_view interned(const std::string& text) {
    static std::mutex mutex;
    static std::set<std::string, std::less<>> names;
    const std::scoped_lock lock(mutex);
    return *names.insert(text).first;
}

/// Operators of Python on numbers of which one is symbolic.
std::string_view numberOperator(const std::string& name) {
    // clang-format off
    static const std::unordered_map<std::string, std::string_view> names{
        {"add", "add"}, {"sub", "sub"}, {"mul", "mul"}, {"div", "truediv"}, {"floordiv", "floordiv"}, {"floor_divide", "floordiv"},
        {"remainder", "mod"}, {"pow", "pow"}, {"neg", "neg"}, {"eq", "eq"}, {"ne", "ne"}, {"lt", "lt"}, {"le", "le"}, {"gt", "gt"},
        {"ge", "ge"}, {"sqrt", "sqrt"}};
    // clang-format on
    const auto found = names.find(name);
    return found == names.end() ? std::string_view{} : found->second;
}

/// Functions of Python's math on one number that is symbolic.
std::string_view mathOperator(const std::string& name) {
    static const std::unordered_map<std::string, std::string_view> names{
        {"floor", "Floor"}, {"ceil", "Ceil"},   {"round", "Round"}, {"abs", "Abs"}, {"prim.abs", "Abs"},
        {"fabs", "Abs"},    {"exp", "Exp"},     {"log", "Log"},     {"sin", "Sin"}, {"cos", "Cos"},
        {"tanh", "Tanh"},   {"isnan", "IsNaN"}, {"isinf", "IsInf"}};
    const auto found = names.find(name);
    return found == names.end() ? std::string_view{} : found->second;
}

void markDense(const ScriptValue& result) {
    if (TensorCell* cell = result.cell()) cell->isDense = true;
    if (!result.list()) return;
    for (const ScriptValue& item : result.list()->items) markDense(item);
}

/// Elements of a list of parts are views as well.
void markViews(const ScriptValue& result, const std::shared_ptr<TensorCell>& base,
               const std::shared_ptr<const ViewStep>& step) {
    if (TensorCell* cell = result.cell()) setBase(*cell, base, step);
    if (!result.list()) return;
    for (std::size_t i = 0; i < result.list()->items.size(); ++i) {
        std::shared_ptr<ViewStep> item = step ? std::make_shared<ViewStep>(*step) : nullptr;
        if (item) item->item = i;
        markViews(result.list()->items[i], base, item);
    }
}

/// What is in the result may show the memory of the roots. `repeats`: elements of it may be one place.
void shareParts(const ScriptValue& result, const std::vector<CellPtr>& roots, bool repeats) {
    if (result.isProxy()) shareNode(*result.plain(), roots);
    if (TensorCell* cell = result.cell()) {
        mayShare(*cell, roots);
        cell->repeats = repeats;
    }
    if (!result.list()) return;
    for (const ScriptValue& item : result.list()->items) shareParts(item, roots, repeats);
}

/// The tensor that an operator returns of a list of one.
const CellPtr* onlyTensor(const std::string& name, const ScriptValue& list) {
    const std::vector<ScriptValue>& items = list.list()->items;
    return operators::returnsItsOnlyTensor("aten", name) && items.size() == 1 ? items.front().as<CellPtr>() : nullptr;
}

/// An overload that takes them without a tensor for a number or the other way round.
bool takes(const std::string& name, const std::vector<ScriptValue>& arguments, const Named& keywords) {
    const std::vector<const OpDef*>* rows = overloadsOf(name);
    return rows &&
           std::ranges::any_of(*rows, [&](const OpDef* row) { return matches(*row, arguments, keywords, false); });
}

bool isKnownNumber(const ScriptValue& value) {
    if (!value.isProxy()) return value.isNumber();
    const Var& var = *value.plain();
    return numberKindOf(var) != NumberKind::Unknown || var.tracer().recording().isNumber(var.node());
}

/// No keywords, or alpha=1.
bool isPlainSum(const Named& keywords) {
    return std::ranges::all_of(keywords, [](const auto& entry) {
        return entry.first == "alpha" && entry.second.isNumber() && entry.second.plain()->value().number() == 1;
    });
}

std::optional<Var> constantNumber(const ScriptValue& value) {
    if (!value.cell() || !value.cell()->mayBeNumber || isSymbolic(value)) return std::nullopt;
    const tensor::Value now = toVar(value).toValue();
    return tensor::isFloating(now.tensor().dtype()) ? Var(now.tensor().toDouble(0)) : Var(now.tensor().toInt64(0));
}

/// The trace that a call of known arguments belongs to because it draws numbers: a graph draws them in each run, as
/// the script does. Null: it is computed at once.
trace::Tracer* drawingTracer(const OpDef& row, const std::vector<Var>& arguments) {
    const bool draws = operators::traitsOf(row.domain, row.name).is(operators::Trait::Random);
    if (!draws || runState().eager || std::ranges::any_of(arguments, &Var::hasProxy)) return nullptr;
    return trace::Tracer::active();
}

Var recordDraw(const trace::Tracer& tracer, const trace::Function& function, std::vector<Var> arguments,
               trace::Keywords keywords) {
    return tracer.recording().record(graph::ExprKind::CallFunction,
                                     {std::string(function.domain), std::string(function.op), 0},
                                     std::string(function.target), function.display, std::move(arguments),
                                     std::move(keywords), function.makesTensor, function.outputs);
}

std::string typesOf(const std::vector<ScriptValue>& arguments) {
    std::string text;
    for (const ScriptValue& argument : arguments) text += (text.empty() ? "" : ", ") + typeName(argument);
    return text;
}

}  // namespace

void takeConstantsAsNumbers(const std::string& name, std::vector<ScriptValue>& arguments, const Named& keywords) {
    std::vector<std::pair<std::size_t, Var>> constants;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (const auto number = constantNumber(arguments[i])) constants.emplace_back(i, *number);
    }
    // where(c, 1., 2.) gives what two tensors give, no tensor of the default type.
    const auto behind = std::ranges::count_if(constants, [](const auto& each) { return each.first > 0; });
    for (const auto& [i, number] : constants) {
        const ScriptValue* const other = i < 2 && arguments.size() > 1 ? &arguments[1 - i] : nullptr;
        const bool isOfNumbers =
            other && (other->isNumber() || other->isProxy()) && (!numberOperator(name).empty() || name == "rsub");
        std::vector<ScriptValue> taken = arguments;
        taken[i] = number;
        if (isOfNumbers || (i > 0 && behind == 1 && (name == "copy_" || takes(name, taken, keywords))))
            arguments[i] = number;
    }
}

Var recordCall(const std::string& name, const std::vector<ScriptValue>& arguments, const Named& keywords) {
    std::vector<Var> vars;
    for (const ScriptValue& argument : arguments) vars.push_back(toVar(argument));
    trace::Keywords named;
    for (const auto& [key, value] : keywords) named.emplace_back(key, toVar(value));

    const bool anyTensor = std::ranges::any_of(arguments, [](const ScriptValue& v) { return v.cell() || v.list(); });
    // `b - a` of sizes read while tracing is rsub(a, b, 1).
    const bool isReversed = name == "rsub" && !anyTensor && keywords.empty() &&
                            (arguments.size() == 2 || (arguments.size() == 3 && arguments[2].isNumber() &&
                                                       arguments[2].plain()->value().number() == 1));
    if (isReversed)
        return trace::callFunction(trace::Function{"sub", "sub", "operator.sub", false, "prim"}, {vars[1], vars[0]});
    if (const std::string_view op = numberOperator(name); !op.empty() && !anyTensor && keywords.empty()) {
        const Var made = trace::callFunction(
            trace::Function{op, op, interned("operator." + std::string(op)), false, "prim"}, std::move(vars));
        // Python's power of integers is one; TorchScript's is a float.
        if (op != "pow" || !std::ranges::all_of(arguments, isKnownNumber)) return made;
        return trace::callFunction(trace::Function{"Float", "Float", "Float", false, "prim"}, {made});
    }
    if (const std::string_view op = mathOperator(name);
        !op.empty() && vars.size() == 1 && keywords.empty() && numberKindOf(vars[0]) != NumberKind::Unknown) {
        const std::string_view display = interned(name.substr(name.find('.') + 1));
        return trace::callFunction(
            trace::Function{op, display, interned("math." + std::string(display)), false, "prim"}, std::move(vars));
    }
    if (name == "div" && !anyTensor && keywords.size() == 1 && keywords[0].first == "rounding_mode" &&
        keywords[0].second.isString()) {
        const bool floors = toVar(keywords[0].second).value().toString() == "floor";
        const std::string_view op = floors ? "floordiv" : "truncdiv";
        return trace::callFunction(trace::Function{op, op, interned("operator." + std::string(op)), false, "prim"},
                                   std::move(vars));
    }
    // A size before a tensor, n * x: the operator of Python takes both as they come.
    if (const std::string_view op = numberOperator(name); !op.empty() && vars.size() == 2 &&
                                                          isKnownNumber(arguments[0]) && arguments[1].cell() &&
                                                          isPlainSum(keywords) && !takes(name, arguments, keywords)) {
        return trace::callFunction(trace::Function{op, op, interned("operator." + std::string(op)), true, "prim"},
                                   std::move(vars));
    }
    const bool isOfNumbers = !arguments.empty() && std::ranges::all_of(arguments, isKnownNumber);
    if (isOfNumbers && (mathBuiltins().contains(name) || name == "__lshift__" || name == "__rshift__"))
        fail(TraceErrorKind::ControlFlow, name + "() of a number that only a run knows");
    if (name == "prim.min" || name == "prim.max" || name == "prim.abs" || name == "prim.tolist")
        fail(TraceErrorKind::ControlFlow, name.substr(5) + "() of what only a run knows");
    if (name.starts_with("prim.")) {
        return trace::callFunction(trace::Function{"getattr", "getattr", "getattr", false, "prim"},
                                   {vars.at(0), name.substr(5)});
    }
    // `x += y` of the model's source is recorded as add_; in a graph it makes a new value like any other sum.
    const bool augmented = name == "add_" && arguments.size() > 1 && arguments[0].cell() && arguments[1].cell();
    // `1 - x` is recorded as rsub(x, 1).
    const std::string_view base = augmented ? "add" : name == "rsub" ? "sub" : interned(name);
    const std::vector<const OpDef*>* rows = overloadsOf(name);
    if (!rows) {
        // An operator that is not known still draws; it fails when it is run.
        if (std::ranges::none_of(vars, &Var::hasProxy))
            throw TraceError(TraceErrorKind::NotImplemented, "operator aten::" + name + " is not known");
        return trace::callFunction(trace::Function{base, base, interned("torch." + name)}, std::move(vars),
                                   std::move(named));
    }
    const OpDef* row = choose(*rows, arguments, keywords);
    if (!row)
        throw TraceError(TraceErrorKind::Type, "no overload of aten::" + name + " takes (" + typesOf(arguments) + ")");
    for (std::size_t i = 0; i < vars.size(); ++i) {
        const bool isTensor = row->parameters[i].type.starts_with("Tensor") && !row->parameters[i].type.ends_with("]");
        if (isTensor && isKnownNumber(arguments[i]) && (i == 0 || vars[i].isProxy())) {
            vars[i] = trace::callFunction(
                trace::Function{"NumToTensor", "NumToTensor", "prim.NumToTensor", true, "prim"}, {vars[i]});
        }
    }
    const std::size_t outputs = std::max<std::size_t>(row->outputs.size(), 1);
    const bool makesTensor = row->outputs.empty() || (row->outputs.front().name.starts_with("Tensor") &&
                                                      !row->outputs.front().name.ends_with("]"));
    const trace::Function function{row->name, base, interned("torch." + name), makesTensor, row->domain, outputs};
    if (trace::Tracer* const tracer = drawingTracer(*row, vars))
        return recordDraw(*tracer, function, std::move(vars), std::move(named));
    return trace::callFunction(function, std::move(vars), std::move(named));
}

ScriptValue asReceiver(const std::string& name, const std::vector<ScriptValue>& arguments) {
    const ScriptValue& first = arguments.front();
    if (!first.isProxy() || isSizeList(*first.plain()) || !overloadsOf(name)) return first;
    const operators::Traits& traits = operators::traitsOf("aten", name);
    if (!traits.memory.writes && !traits.memory.reforms && !mayBeView(name, arguments)) return first;
    return tensorOf(*first.plain());
}

bool isViewInPlace(const std::string& name) {
    const operators::Traits& traits = operators::traitsOf("aten", name);
    return traits.memory.reforms && !traits.memory.writes && overloadsOf(name.substr(0, name.size() - 1)) &&
           (traits.form == operators::ViewForm::Unsqueeze || traits.form == operators::ViewForm::Squeeze ||
            traits.form == operators::ViewForm::Transpose);
}

namespace {

/// Running statistics that batch_norm and the like update in training. Their new values are in no result.
void loseStatistics(const std::string& name, const std::vector<ScriptValue>& arguments, const Var& made) {
    const std::vector<const OpDef*>* rows = overloadsOf(name);
    if (!rows) return;
    const std::vector<Parameter>& parameters = rows->front()->parameters;
    const auto given = [&](std::string_view parameter) -> const ScriptValue* {
        const auto at = std::ranges::find_if(parameters, [&](const Parameter& each) { return each.name == parameter; });
        const auto i = static_cast<std::size_t>(at - parameters.begin());
        return at != parameters.end() && i < arguments.size() ? &arguments[i] : nullptr;
    };
    const auto isSet = [&](std::string_view flag) {
        const ScriptValue* value = given(flag);
        return value && !value->isNone() && (!value->isNumber() || toBool(*value));
    };
    if (!given("running_mean") || (!isSet("training") && !isSet("train") && !isSet("use_input_stats"))) return;
    for (const char* statistics : {"running_mean", "running_var"}) {
        const ScriptValue* value = given(statistics);
        if (value && value->cell()) lose(rootOf(*value->cell()), made);
    }
}

/// f(…, out=c): c takes what f gives, in its own type.
ScriptValue callInto(const std::string& name, std::vector<ScriptValue> arguments, Named keywords,
                     const ScriptValue& out) {
    if (!out.cell())
        throw TraceError(TraceErrorKind::Type, name + " with out= of type " + typeName(out) + ": not supported");
    checkWriteOverlap(name, out, arguments, keywords);
    beforeWrite(*out.cell());
    const ScriptValue made = callOperator(name, std::move(arguments), std::move(keywords));
    if (!made.cell())
        throw TraceError(TraceErrorKind::Type, name + " with out= returns more than one tensor: not supported");
    const trace::Function writeOut{"write_out", interned(name), "write_out", true, "prim"};
    write(*out.cell(), trace::callFunction(writeOut, {toVar(made), toVar(out)}));
    return out;
}

}  // namespace

ScriptValue callOperator(const std::string& name, std::vector<ScriptValue> arguments, Named keywords) {
    if (EagerRun::current()) return callEagerly(name, std::move(arguments), std::move(keywords));
    const auto given = std::ranges::find(keywords, "out", &std::pair<std::string, ScriptValue>::first);
    if (given != keywords.end()) {
        const ScriptValue out = given->second;
        keywords.erase(given);
        if (!out.isNone()) return callInto(name, std::move(arguments), std::move(keywords), out);
    }
    ScriptValue result;
    if (keywords.empty() && callBuiltin(name, arguments, result)) return result;
    if (!arguments.empty()) arguments.front() = asReceiver(name, arguments);
    if (operators::readsWholeStorage("aten", name) && !arguments.empty() && arguments.front().cell()) {
        const ScriptValue whole = storageOf(arguments.front(), arguments.size() > 3 && !arguments[3].isNone());
        if (!operators::isInPlaceName(name)) arguments.front() = whole;
        else if (whole.cell() != arguments.front().cell())
            throw TraceError(TraceErrorKind::Runtime, name + " of a view: not supported; take a view by as_strided");
    }
    const auto* receiver = arguments.empty() ? nullptr : arguments.front().as<std::shared_ptr<TensorCell>>();
    const bool writes = receiver && operators::traitsOf("aten", name).memory.writes;
    if (writes) {
        checkWriteOverlap(name, arguments.front(), arguments, keywords);
        beforeWrite(**receiver);
    }
    // unsqueeze_ and the like are the views that they take, from now on under the tensor's own name.
    const std::string recorded = receiver && isViewInPlace(name) ? name.substr(0, name.size() - 1) : name;
    const Var made = recordCall(recorded, arguments, keywords);
    loseStatistics(name, arguments, made);
    const bool isInPlace = operators::isInPlaceName(name) || (name.ends_with('_') && !name.ends_with("__"));
    if (receiver && isInPlace) {
        const operators::Traits& traits = operators::traitsOf("aten", name);
        if (traits.form == operators::ViewForm::Same) return arguments.front();
        // Changes how a tensor is seen, not what is in it.
        if (traits.memory.reforms) reform(*receiver, name, arguments, made);
        else write(**receiver, made);
        return arguments.front();
    }
    result = fromVar(made);
    const auto list = std::ranges::find_if(arguments, [](const ScriptValue& each) { return each.list() != nullptr; });
    if (!receiver && list != arguments.end() && mayBeView(name, arguments)) {
        const bool repeats = operators::traitsOf("aten", name).is(operators::Trait::Overlaps);
        const bool mayBeItself = operators::mayReturnItsArgument("aten", name);
        const CellPtr* const only = mayBeItself ? onlyTensor(name, *list) : nullptr;
        if (only && result.cell()) {
            setBase(*result.cell(), *only, std::make_shared<const ViewStep>());
            noteOtherName(result);
        } else {
            shareParts(result, rootsIn(*list), repeats);
        }
        if (mayBeItself) noteOtherName(*list);
    }
    const auto choosesFormat = [](const auto& entry) {
        return entry.first == "memory_format" && !entry.second.isNone();
    };
    if (std::ranges::none_of(keywords, choosesFormat) && givesDense(name, arguments)) markDense(result);
    if (receiver && mayBeView(name, arguments)) {
        const auto step = viewStep(name, arguments);
        const CellPtr root = rootOf(**receiver).shared_from_this();
        // Parts that only a run knows; those of chunk() are known as such (noteParts).
        if (result.isProxy() && !step) shareParts(result, {root}, false);
        markViews(result, *receiver, step);
        if (result.cell() && operators::mayReturnItsArgument("aten", name))
            result.cell()->mayBeOther = shown(**receiver).mayBeOther = true;
    }
    return result;
}

}  // namespace sonde::io::script
