#include "core/trace/module.h"

#include <algorithm>
#include <unordered_set>

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

std::vector<ForwardParameter> Module::signature() const { return {{"input", std::nullopt, false}}; }

Var Module::forward(std::span<const Var>) {
    throw TraceError(TraceErrorKind::NotImplemented, "Module [" + className() + "] is missing the required \"forward\" function");
}

Var Module::call(std::vector<Var> args, Keywords keywords) {
    if (Tracer* tracer = Tracer::active()) return tracer->moduleCalled(*this, std::move(args), std::move(keywords));
    return forward(bound(std::move(args), keywords));
}

std::vector<Var> Module::bound(std::vector<Var> args, const Keywords& keywords) const {
    const std::vector<ForwardParameter> parameters = signature();
    const auto positional = static_cast<std::size_t>(
        std::count_if(parameters.begin(), parameters.end(), [](const auto& p) { return !p.keywordOnly; }));
    if (args.size() > positional) {
        throw TraceError(TraceErrorKind::Type, "forward() of " + className() + " takes " + std::to_string(positional) +
                                                   " positional arguments but " + std::to_string(args.size()) + " were given");
    }
    std::vector<bool> given(parameters.size(), false);
    std::fill_n(given.begin(), args.size(), true);
    args.resize(parameters.size());
    for (const auto& [name, value] : keywords) {
        const auto found = std::find_if(parameters.begin(), parameters.end(), [&name = name](const auto& p) { return p.name == name; });
        if (found == parameters.end()) {
            throw TraceError(TraceErrorKind::Type, "forward() of " + className() + " got an unexpected keyword argument '" + name + "'");
        }
        const auto index = static_cast<std::size_t>(found - parameters.begin());
        if (given[index]) {
            throw TraceError(TraceErrorKind::Type, "forward() of " + className() + " got multiple values for argument '" + name + "'");
        }
        given[index] = true;
        args[index] = value;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (given[i]) continue;
        if (!parameters[i].fallback) {
            throw TraceError(TraceErrorKind::Type,
                             "forward() of " + className() + " missing required argument '" + parameters[i].name + "'");
        }
        args[i] = Var(*parameters[i].fallback);
    }
    return args;
}

Module* Module::child(std::string_view name) const {
    for (const Child& child : m_children) {
        if (child.name == name) return child.module.get();
    }
    return nullptr;
}

Module* Module::find(std::string_view path) {
    Module* module = this;
    while (module && !path.empty()) {
        const std::size_t dot = path.find('.');
        module = module->child(path.substr(0, dot));
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    }
    return module;
}

Module& Module::use(std::string_view path) {
    Module* found = find(path);
    if (!found) throw TraceError(TraceErrorKind::Attribute, "'" + className() + "' has no attribute '" + std::string(path) + "'");
    if (Tracer* tracer = Tracer::active()) tracer->moduleRead(*this, path);
    return *found;
}

Var Module::callForward(std::string_view name, std::vector<Var> args, Keywords keywords) {
    if (name != "forward") throw TraceError(TraceErrorKind::Attribute, "'" + className() + "' has no attribute '" + std::string(name) + "'");
    return call(std::move(args), std::move(keywords));
}

void Module::setTraining(bool training) {
    m_training = training;
    for (const Child& child : m_children) child.module->setTraining(training);
}

void Module::addChild(std::string name, std::shared_ptr<Module> module) {
    if (Tracer* tracer = Tracer::active()) tracer->attributeAssigned(this, nullptr);
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
    if (Tracer* tracer = Tracer::active()) tracer->attributeAssigned(this, slot.get());
    for (NamedSlot& named : m_slots) {
        if (named.name == name) {
            named.slot = std::move(slot);
            return;
        }
    }
    m_slots.push_back({std::move(name), std::move(slot)});
}

Attribute Module::addAttribute(std::string name, Slot::Kind kind, tensor::Tensor value) {
    auto slot = std::make_shared<Slot>(Slot{kind, std::move(value)});
    addSlot(std::move(name), slot);
    return Attribute(std::move(slot));
}

namespace {

std::string joined(const std::string& prefix, const std::string& name) { return prefix.empty() ? name : prefix + '.' + name; }

void collectTensors(const Module& module, const std::string& path, std::vector<NamedTensor>& into) {
    for (const Module::NamedSlot& named : module.ownTensors()) into.push_back({joined(path, named.name), named.slot});
    for (const Module::Child& child : module.children()) collectTensors(*child.module, joined(path, child.name), into);
}

void collectModules(Module& module, const std::string& path, std::unordered_set<const Module*>& seen,
                    std::vector<std::pair<std::string, Module*>>& into) {
    if (!seen.insert(&module).second) return;
    into.emplace_back(path, &module);
    for (const Module::Child& child : module.children()) collectModules(*child.module, joined(path, child.name), seen, into);
}

void describe(const Module& module, const std::string& path, graph::ModuleTree& tree) {
    const std::size_t index = tree.add(path, module.className());
    graph::ModuleInfo& info = tree.mutableModule(index);
    info.moduleClass = module.className();
    for (const Module::NamedSlot& named : module.ownTensors()) {
        if (named.slot->kind == Slot::Kind::Plain) continue;
        const tensor::Tensor& value = named.slot->value;
        graph::ParameterInfo parameter;
        parameter.name = named.name;
        parameter.type = tensor::TypeInfo::tensor(value.dtype(), value.shape());
        parameter.value = value;
        parameter.isBuffer = named.slot->kind == Slot::Kind::Buffer;
        info.parameters.push_back(std::move(parameter));
    }
    for (const Module::Child& child : module.children()) describe(*child.module, joined(path, child.name), tree);
}

}  // namespace

std::vector<NamedTensor> namedTensors(const Module& root) {
    std::vector<NamedTensor> result;
    collectTensors(root, {}, result);
    return result;
}

std::vector<std::pair<std::string, Module*>> namedModules(Module& root) {
    std::vector<std::pair<std::string, Module*>> result;
    std::unordered_set<const Module*> seen;
    collectModules(root, {}, seen, result);
    return result;
}

base::Result<void> loadTensors(Module& root, const std::function<tensor::Tensor(const std::string&)>& take, bool strict) {
    for (const NamedTensor& named : namedTensors(root)) {
        if (named.slot->kind == Slot::Kind::Plain) continue;
        tensor::Tensor value = take(named.path);
        if (!value.defined()) {
            if (strict) return base::unreadable("there is no value for the parameter '" + named.path + "'");
            continue;
        }
        const tensor::Tensor& old = named.slot->value;
        if (value.dtype() != old.dtype() || value.shape() != old.shape()) {
            return base::unreadable("'" + named.path + "' is " + old.typeText() + " in the model and " + value.typeText() +
                                    " in the file");
        }
        named.slot->value = std::move(value);
    }
    return {};
}

graph::ModuleTree moduleTree(const Module& root) {
    graph::ModuleTree tree;
    describe(root, {}, tree);
    return tree;
}

}  // namespace sonde::trace
