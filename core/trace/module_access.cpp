// What a program does with modules: it calls and changes them, and the tracer that runs is told.

#include <unordered_set>
#include <utility>

#include "core/base/stack_room.h"
#include "core/trace/module.h"
#include "core/trace/record.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

void Attribute::setValue(tensor::Tensor value) {
    if (Tracer* tracer = Tracer::active()) tracer->attributeAssigned(nullptr, m_slot.get());
    m_slot->value = std::move(value);
}

Var Attribute::read() const {
    if (!m_slot) return {};
    Tracer* tracer = Tracer::active();
    if (tracer && m_slot->kind == Slot::Kind::Parameter) return tracer->parameterRead(m_slot);
    return Var::ofSlot(m_slot);
}

Var Module::call(std::vector<Var> args, Keywords keywords) {
    if (base::stackIsLow()) throw TraceError(TraceErrorKind::Depth, "modules call each other too deeply for the stack");
    const WritesAsValues changes(false);  // whoever runs a graph or an archive says so again
    if (Tracer* tracer = Tracer::active()) return tracer->moduleCalled(*this, std::move(args), std::move(keywords));
    return forward(bound(std::move(args), keywords));
}

Module& Module::use(std::string_view path) {
    Module* found = find(path);
    if (!found)
        throw TraceError(TraceErrorKind::Attribute,
                         "'" + className() + "' has no attribute '" + std::string(path) + "'");
    if (Tracer* tracer = Tracer::active()) tracer->moduleRead(*this, path);
    return *found;
}

namespace {

/// As torch.nn.Module.add_module and register_parameter. Constructors come here, so no virtual function is called.
void checkName(const std::string& name, const std::string& what) {
    if (name.empty()) throw TraceError(TraceErrorKind::Key, "the name of a " + what + " cannot be empty");
}

/// Whether `part` is `whole` or anywhere below it.
bool contains(const Module& whole, const Module& part) {
    std::unordered_set<const Module*> seen{&whole};
    std::vector<const Module*> waiting{&whole};
    while (!waiting.empty()) {
        const Module* module = waiting.back();
        waiting.pop_back();
        if (module == &part) return true;
        for (const Module::Child& child : module->children()) {
            if (seen.insert(child.module.get()).second) waiting.push_back(child.module.get());
        }
    }
    return false;
}

}  // namespace

void Module::addChild(std::string name, std::shared_ptr<Module> module) {
    checkName(name, "child module");
    if (!module) throw TraceError(TraceErrorKind::Type, "the child module '" + name + "' is null");
    if (Tracer* tracer = Tracer::active()) {
        tracer->attributeAssigned(this, nullptr);
        if (contains(*module, *this))
            throw TraceError(TraceErrorKind::Value, "the child module '" + name + "' would be a part of itself");
    }
    module->m_installedAs = m_installedAs.empty() ? name : m_installedAs + '.' + name;
    for (Child& child : m_children) {
        if (child.name == name) {
            child.module = std::move(module);
            return;
        }
    }
    m_children.push_back({std::move(name), std::move(module)});
}

void Module::addSlot(std::string name, std::shared_ptr<Slot> slot) {
    checkName(name, "parameter or buffer");
    if (Tracer* tracer = Tracer::active()) tracer->attributeAssigned(this, slot.get());
    for (NamedSlot& named : m_slots) {
        if (named.name == name) {
            named.slot = std::move(slot);
            return;
        }
    }
    m_slots.push_back({std::move(name), std::move(slot)});
}

}  // namespace sonde::trace
