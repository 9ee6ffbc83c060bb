// Values of the language from those of traces and back, and what all of them can be asked.

#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/part_count.h"
#include "core/io/torchscript/python_index.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/script_value.h"
#include "core/io/torchscript/views.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;

namespace {

ScriptValue fromValue(const Value& value) {
    switch (value.kind()) {
        case ValueKind::Tensor: return makeCell(Var(value));
        case ValueKind::List:
        case ValueKind::Tuple:
        case ValueKind::Sequence: {
            std::vector<ScriptValue> items;
            for (const Value& item : value.items()) items.push_back(fromValue(item));
            return value.kind() == ValueKind::Tuple ? makeTuple(std::move(items)) : makeList(std::move(items));
        }
        case ValueKind::Dict: {
            auto dict = std::make_shared<DictValue>();
            for (const auto& [key, item] : value.dictItems()) dict->items.emplace_back(fromValue(key), fromValue(item));
            return dict;
        }
        case ValueKind::Object:
            if (const auto object = std::dynamic_pointer_cast<ScriptObject>(value.object())) return object->value();
            return Var(value);
        default: return Var(value);
    }
}

}  // namespace

ScriptValue fromVar(const Var& var) {
    switch (var.kind()) {
        case Var::Kind::Proxy:
            if (!var.tracer().recording().isTensor(var.node())) return var;
            break;
        case Var::Kind::Value:
            if (!var.value().isTensor()) return fromValue(var.value());
            break;
        case Var::Kind::Dict: {
            auto dict = std::make_shared<DictValue>();
            for (std::size_t i = 0; i < var.items().size(); ++i) {
                dict->items.emplace_back(fromValue(var.keys()[i]), fromVar(var.items()[i]));
            }
            return dict;
        }
        default: {
            std::vector<ScriptValue> items;
            for (const Var& item : var.items()) items.push_back(fromVar(item));
            return var.kind() == Var::Kind::List ? makeList(std::move(items)) : makeTuple(std::move(items));
        }
    }
    return makeCell(var);
}

namespace {

Var cellVar(TensorCell& named) {
    TensorCell& cell = shown(named);
    refresh(cell);
    if (cell.chain && cell.chain->extended) {
        Region::noteChange(cell, true);
        cell.var = trace::callFunction(kGetItem, {cell.chain->base, pythonIndex(cell.chain->index)});
        cell.chain = std::make_shared<IndexChain>(*cell.chain);
        cell.chain->extended = false;
    }
    // A parameter is a node of the graph as soon as it takes part in it.
    trace::Tracer* tracer = trace::Tracer::active();
    if (tracer && cell.var.slot() && cell.var.slot()->kind == trace::Slot::Kind::Parameter) {
        return tracer->parameterRead(cell.var.slot());
    }
    return cell.var;
}

/// A container's node has the parts that it was made of; one of them may have been written since.
bool fits(const Var& node, const std::vector<Var>& parts) {
    if (!node.isProxy()) return false;
    const graph::InternalGraph& graph = *node.tracer().recording().recordedGraph();
    const graph::Expr& maker = graph.expr(graph.node(node.node()).producer);
    const std::vector<graph::Argument>& made = maker.arguments;
    if (!maker.op.name.ends_with("Construct")) return true;  // a called module's
    if (made.size() != parts.size()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool isNode = made[i].kind == graph::Argument::Kind::Node && parts[i].isProxy();
        if (isNode && made[i].node != parts[i].node()) return false;
    }
    return true;
}

Var toVar(const ScriptValue& value, PartCount& parts) {
    if (const Var* var = value.plain()) return var->isProxy() ? currentOf(*var) : *var;
    if (TensorCell* cell = value.cell()) return cellVar(*cell);
    const PartCount::Level level(parts);
    std::vector<Var> items;
    // A node may have been made of what has no value.
    const auto partOf = [&parts](const ScriptValue& item, const Var& node) {
        return node.isProxy() && isUninitialized(item) ? Var() : toVar(item, parts);
    };
    if (const ListValue* list = value.list()) {
        if (list->symbolic.isProxy()) {
            checkKnown(*list);
            return list->symbolic;
        }
        for (const ScriptValue& item : list->items) items.push_back(partOf(item, list->node));
        return fits(list->node, items) ? list->node : Var::list(std::move(items));
    }
    if (const TupleValue* tuple = value.tuple()) {
        for (const ScriptValue& item : tuple->items) items.push_back(partOf(item, tuple->node));
        return fits(tuple->node, items) ? tuple->node : Var::tuple(std::move(items));
    }
    if (const DictValue* dict = value.dict()) {
        std::vector<std::pair<Value, Var>> entries;
        for (const auto& [key, item] : dict->items) {
            items.push_back(toVar(key, parts));
            items.push_back(partOf(item, dict->node));
            entries.emplace_back(items[items.size() - 2].toValue(), items.back());
        }
        return fits(dict->node, items) ? dict->node : Var::dict(std::move(entries));
    }
    if (ObjectsPass::active() &&
        (value.as<std::shared_ptr<InstanceValue>>() || value.as<std::shared_ptr<ScriptModule>>())) {
        return Var(Value::object(std::make_shared<ScriptObject>(value)));
    }
    throw TraceError(TraceErrorKind::Type, "a value of type " + typeName(value) + " cannot leave the script");
}

}  // namespace

Var toVar(const ScriptValue& value) {
    PartCount parts;
    return toVar(value, parts);
}

std::string typeName(const ScriptValue& value) {
    if (value.cell()) return "Tensor";
    if (value.list()) return "List";
    if (value.tuple()) return value.tuple()->type ? value.tuple()->type->name : "Tuple";
    if (value.dict()) return "Dict";
    if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) return (*instance)->typeName;
    if (const auto* module = value.as<std::shared_ptr<ScriptModule>>()) return (*module)->className();
    if (const auto* global = value.as<GlobalValue>()) return global->path;
    const Var& var = *value.plain();
    return var.isProxy() ? "symbolic value" : std::string(tensor::name(var.toValue().kind()));
}

bool equalValues(const ScriptValue& a, const ScriptValue& b) {
    checkNesting();
    const auto equalLists = [](const std::vector<ScriptValue>& x, const std::vector<ScriptValue>& y) {
        if (x.size() != y.size()) return false;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (!equalValues(x[i], y[i])) return false;
        }
        return true;
    };
    if (a.isSymbolicList() || b.isSymbolicList())
        throw TraceError(TraceErrorKind::ControlFlow, trace::kControlFlowText);
    if (a.list() && b.list()) return equalLists(a.list()->items, b.list()->items);
    if (a.tuple() && b.tuple()) return equalLists(a.tuple()->items, b.tuple()->items);
    if (a.isNumber() && b.isNumber()) {
        const Value &first = a.plain()->value(), &second = b.plain()->value();
        const bool areWhole = first.kind() != ValueKind::Float && second.kind() != ValueKind::Float;
        return areWhole ? a.plain()->toInt() == b.plain()->toInt() : first.number() == second.number();
    }
    if (a.isString() && b.isString()) return a.plain()->value().toString() == b.plain()->value().toString();
    if (a.isNone() || b.isNone()) return a.isNone() && b.isNone();
    const auto* first = a.as<std::shared_ptr<InstanceValue>>();
    const auto* second = b.as<std::shared_ptr<InstanceValue>>();
    if (first && second) {
        // Members of an enumeration are equal if they have one name; other objects are what they are.
        if (*first == *second) return true;
        const bool areEnums =
            (*first)->type && (*first)->type->base == "Enum" && (*first)->typeName == (*second)->typeName;
        return areEnums && equalValues((*first)->attributes["name"], (*second)->attributes["name"]);
    }
    if (a.isProxy() || b.isProxy() || a.cell() || b.cell())
        throw TraceError(TraceErrorKind::ControlFlow, trace::kControlFlowText);
    return false;
}

}  // namespace sonde::io::script
