// Operators on numbers, bools and lists that only a run knows, as nodes.

#include <algorithm>

#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/known_rank.h"
#include "core/io/torchscript/views.h"
#include "core/trace/error.h"
#include "core/trace/record.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using trace::TraceError;
using trace::TraceErrorKind;

namespace {

Var record(std::string_view op, std::string_view target, std::vector<Var> arguments) {
    return trace::callFunction(trace::Function{op, op, target, false, "prim"}, std::move(arguments));
}

bool holdsSymbolic(const ScriptValue& value) {
    checkNesting();
    if (value.tuple()) return std::ranges::any_of(value.tuple()->items, holdsSymbolic);
    if (value.list()) return value.isSymbolicList() || std::ranges::any_of(value.list()->items, holdsSymbolic);
    return value.isProxy();
}

bool isContainer(const ScriptValue& value) { return value.list() || value.tuple(); }

/// list[i] = value, where a run knows i or the list.
void setElement(ListValue& list, const std::vector<ScriptValue>& in) {
    const Var before = toVar(in[0]);
    std::vector<CellPtr> roots = rootsIn(in[0]);
    std::ranges::copy(rootsIn(in[2]), std::back_inserter(roots));
    const Var made = record("setitem", "operator.setitem", {before, toVar(in[1]), toVar(in[2])});
    list.ofTensors = list.ofTensors || in[2].cell();
    list.symbolic = made;
    list.memory = makeSymbolicList(made, list.ofTensors, roots).list()->memory;
    list.items.clear();
    list.node = {};
}

/// Operators of a list whose elements only a run knows.
bool onList(const std::string& name, std::vector<ScriptValue>& in, ScriptValue& result) {
    const auto list = *in[0].as<std::shared_ptr<ListValue>>();
    checkKnown(*list);
    if (name == "append" && in.size() == 2) {
        list->symbolic = record("append", "list.append", {list->symbolic, toVar(in[1])});
        list->ofTensors = list->ofTensors || in[1].cell();
        if (!list->memory) list->memory = std::make_shared<TensorCell>();
        mayShare(*list->memory, rootsIn(in[1]));
        result = in[0];
    } else if (name == "len") {
        result = record("len", "len", {list->symbolic});
    } else if (name == "slice") {
        const auto bound = [&](std::size_t i) { return i < in.size() ? toVar(in[i]) : Var(); };
        result =
            makeSymbolicList(list->symbolic[Var::slice(bound(1), bound(2), bound(3))], list->ofTensors, rootsIn(in[0]));
    } else if (name == "list" || name == "copy") {
        result = makeSymbolicList(list->symbolic, list->ofTensors, rootsIn(in[0]));
    } else if (name == "_set_item" && in.size() == 3) {
        setElement(*list, in);
        result = in[0];
    } else if (name == "insert" || name == "pop" || name == "extend" || name == "reverse" || name == "sort" ||
               name == "clear" || name == "remove" || name == "Delete") {
        throw TraceError(TraceErrorKind::ControlFlow, "'" + name + "' of a list whose elements only a run knows");
    } else {
        return false;
    }
    return true;
}

}  // namespace

namespace {

/// What an operator has computed, and dim sizes: there is something. A parameter may be None, and so may what a branch
/// gives.
bool isNeverNone(const Var& var) {
    if (isSizeList(var)) return true;
    if (!var.tracer().recording().recordedGraph()) return false;
    const graph::InternalGraph& graph = *var.tracer().recording().recordedGraph();
    return graph.expr(graph.node(var.node()).producer).op.domain == "aten";
}

}  // namespace

std::optional<ScriptValue> sumOfNumbers(const ScriptValue& list) {
    const bool isWhole = list.list() && !list.isSymbolicList();
    if (!isWhole) {
        const bool isOfNumbers = list.isProxy() ? isSizeList(*list.plain()) : list.list() && !list.list()->ofTensors;
        if (!isOfNumbers) return std::nullopt;
        if (list.list()) checkKnown(*list.list());
        return ScriptValue(record("sum", "sum", {toVar(list)}));
    }
    const std::vector<ScriptValue>& items = list.list()->items;
    const bool isOfNumbers =
        std::ranges::all_of(items, [](const ScriptValue& item) { return item.isNumber() || item.isProxy(); });
    if (!isOfNumbers || std::ranges::none_of(items, &ScriptValue::isProxy)) return std::nullopt;
    ScriptValue total = items.front();
    for (std::size_t i = 1; i < items.size(); ++i)
        total = record("add", "operator.add", {toVar(total), toVar(items[i])});
    return total;
}

bool callSymbolic(const std::string& name, std::vector<ScriptValue>& in, ScriptValue& result) {
    if (in.empty()) return false;
    if (in[0].isSymbolicList() && onList(name, in, result)) return true;
    if (name == "_set_item" && in.size() == 3 && in[0].list() && in[1].isProxy()) {
        setElement(*in[0].list(), in);
        result = in[0];
        return true;
    }
    const bool isNoneTest = (name == "__is__" || name == "__isnot__") && in.size() == 2 && in[1].isNone();
    const bool isSomething =
        in[0].list() || in[0].tuple() || in[0].dict() || (in[0].isProxy() && isNeverNone(*in[0].plain()));
    if (isNoneTest && isSomething) {
        result = Var(name == "__isnot__");
        return true;
    }
    const bool any = std::ranges::any_of(in, holdsSymbolic);
    if (name == "len" && in.size() == 1 && (in[0].isProxy() || (in[0].cell() && toVar(in[0]).isProxy()))) {
        result = record("len", "len", {toVar(in[0])});
        return true;
    }
    if (!any) return false;
    if (name == "__not__" && in.size() == 1) {
        result = record("not_", "operator.not_", {toVar(in[0])});
        return true;
    }
    const bool noTensor = std::ranges::none_of(in, [](const ScriptValue& value) { return value.cell() != nullptr; });
    if (in.size() != 2) {
        if ((name != "prim.min" && name != "prim.max") || !noTensor || !in[0].list() || in[0].isSymbolicList())
            return false;
        // The smallest of a list: one after the other.
        ScriptValue best = in[0].list()->items.front();
        for (std::size_t i = 1; i < in[0].list()->items.size(); ++i) {
            best = record(name == "prim.min" ? "min" : "max", name.substr(5) == "min" ? "min" : "max",
                          {toVar(best), toVar(in[0].list()->items[i])});
        }
        result = best;
        return true;
    }
    if (!noTensor) return false;
    const Var a = toVar(in[0]);
    const Var b = toVar(in[1]);
    if (name == "__and__") result = record("and_", "operator.and_", {a, b});
    else if (name == "__or__") result = record("or_", "operator.or_", {a, b});
    else if (name == "__xor__") result = record("xor_", "operator.xor_", {a, b});
    else if (name == "__is__") result = record("is_", "operator.is_", {a, b});
    else if (name == "__isnot__") result = record("is_not", "operator.is_not", {a, b});
    else if (name == "__contains__" && (in[0].list() || in[0].tuple() || in[0].isProxy()))
        result = record("contains", "operator.contains", {a, b});
    else if (name == "prim.min" || name == "prim.max")
        result = record(name == "prim.min" ? "min" : "max", name == "prim.min" ? "min" : "max", {a, b});
    else if ((name == "eq" || name == "ne") && (isContainer(in[0]) || isContainer(in[1]))) {
        result = record(name == "eq" ? "eq" : "ne", name == "eq" ? "operator.eq" : "operator.ne", {a, b});
    } else {
        return false;
    }
    return true;
}

}  // namespace sonde::io::script
