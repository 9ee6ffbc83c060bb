#include "core/io/torchscript/language.h"
#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/views.h"
#include "core/operators/traits.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using trace::TraceError;
using trace::TraceErrorKind;

namespace {

NodeMemory* memory() { return ModuleState::current() ? &ModuleState::current()->nodes() : nullptr; }

}  // namespace

CellPtr knownTensorOf(const Var& node) {
    NodeMemory* const nodes = node.isProxy() ? memory() : nullptr;
    if (!nodes) return nullptr;
    const auto found = nodes->tensors.find(node.node());
    return found == nodes->tensors.end() ? nullptr : found->second;
}

CellPtr tensorOf(const Var& node) {
    if (CellPtr known = knownTensorOf(node)) return known;
    const ScriptValue made = makeCell(node);
    const CellPtr cell = *made.as<CellPtr>();
    if (!node.isProxy() || !memory()) return cell;
    cell->serial = Region::serialOf(node);
    memory()->tensors[node.node()] = cell;
    return cell;
}

void shareNode(const Var& node, std::span<const CellPtr> roots) {
    if (node.isProxy() && !roots.empty()) mayShare(*tensorOf(node), roots);
}

void noteParts(const Var& list, const CellPtr& cell, const ViewStep& step) {
    if (NodeMemory* const nodes = list.isProxy() ? memory() : nullptr) {
        nodes->parts.insert_or_assign(list.node(),
                                      ListOfParts{shown(*cell).shared_from_this(), step, rootOf(*cell).version});
    }
}

const ListOfParts* partsOf(const Var& list) {
    NodeMemory* const nodes = list.isProxy() ? memory() : nullptr;
    if (!nodes) return nullptr;
    const auto found = nodes->parts.find(list.node());
    return found == nodes->parts.end() ? nullptr : &found->second;
}

ScriptValue partOf(const Var& list, std::size_t item, ScriptValue value) {
    const ListOfParts* const known = partsOf(list);
    if (!known) return anyPartOf(list, std::move(value));
    if (!value.cell()) value = makeCell(toVar(value));
    auto step = std::make_shared<ViewStep>(known->step);
    step->item = item;
    const bool isUnbind = operators::traitsOf("aten", step->name).form == operators::ViewForm::Unbind;
    const std::size_t dimAt = isUnbind ? 0 : 1;
    const bool isAlongFirst = step->arguments.size() <= dimAt || (step->arguments[dimAt].kind() == Var::Kind::Value &&
                                                                  step->arguments[dimAt].toInt() == 0);
    value.cell()->isDense = known->cell->isDense && isAlongFirst;
    setBase(*value.cell(), known->cell, std::move(step));
    value.cell()->seen = known->version;
    return value;
}

ScriptValue anyPartOf(const Var& list, ScriptValue value) {
    if (const ListOfParts* const known = partsOf(list)) {
        const CellPtr root = rootOf(*known->cell).shared_from_this();
        ScriptValue made = makeUncertain(toVar(value), {&root, 1});
        made.cell()->sharers.front().version = known->version;
        return made;
    }
    const CellPtr whole = knownTensorOf(list);
    if (!whole) return value;
    if (TensorCell* cell = value.cell()) mayShare(*cell, {&whole, 1});
    else if (value.isProxy()) shareNode(*value.plain(), {&whole, 1});
    return value;
}

Var currentOf(const Var& node) {
    if (const ListOfParts* const known = partsOf(node); known && rootOf(*known->cell).version != known->version) {
        // The same parts, cut out of what the tensor is now.
        std::vector<ScriptValue> arguments{ScriptValue(known->cell)};
        const ViewStep step = known->step;
        const CellPtr cell = known->cell;
        for (const Var& argument : step.arguments) arguments.push_back(fromVar(argument));
        const ScriptValue made = callOperator(step.name, std::move(arguments), {});
        if (made.isProxy()) noteParts(*made.plain(), cell, step);
        return toVar(made);
    }
    const CellPtr known = knownTensorOf(node);
    return known ? toVar(ScriptValue(known)) : node;
}

}  // namespace sonde::io::script
