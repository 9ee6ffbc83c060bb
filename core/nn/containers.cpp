#include "core/nn/containers.h"

#include "core/nn/functional.h"

namespace sonde::nn {

Sequential::Sequential(std::vector<std::shared_ptr<Module>> modules) {
    for (auto& module : modules) append(std::move(module));
}

void Sequential::append(std::shared_ptr<Module> module) {
    addChild(std::to_string(children().size()), std::move(module));
}

Var Sequential::forward(std::span<const Var> in) {
    Var x = in[0];
    for (const Child& child : children()) x = (*child.module)(x);
    return x;
}

ModuleList::ModuleList(std::vector<std::shared_ptr<Module>> modules) : Layer("ModuleList") {
    for (auto& module : modules) append(std::move(module));
}

void ModuleList::append(std::shared_ptr<Module> module) {
    addChild(std::to_string(children().size()), std::move(module));
}

ModuleDict::ModuleDict(std::vector<std::pair<std::string, std::shared_ptr<Module>>> modules) : Layer("ModuleDict") {
    for (auto& [key, module] : modules) addChild(std::move(key), std::move(module));
}

Module& ModuleDict::operator[](std::string_view key) const {
    if (Module* module = child(key)) return *module;
    throw trace::TraceError(trace::TraceErrorKind::Key, "'" + std::string(key) + "'");
}

ParameterList::ParameterList(std::vector<Tensor> values) : Layer("ParameterList") {
    for (Tensor& value : values) append(std::move(value));
}

ParameterDict::ParameterDict(std::vector<std::pair<std::string, Tensor>> values) : Layer("ParameterDict") {
    for (auto& [key, value] : values) addParameter(std::move(key), std::move(value));
}

Attribute ParameterDict::operator[](std::string_view key) const {
    for (const NamedSlot& named : ownTensors()) {
        if (named.name == key) return Attribute(named.slot);
    }
    throw trace::TraceError(trace::TraceErrorKind::Key, "'" + std::string(key) + "'");
}

Var Flatten::forward(std::span<const Var> in) { return flatten(in[0], m_start, m_end); }

std::string Flatten::extraText() const {
    return "start_dim=" + std::to_string(m_start) + ", end_dim=" + std::to_string(m_end);
}

Var Unflatten::forward(std::span<const Var> in) {
    return trace::callFunction(trace::Function{"unflatten.int", "unflatten", "torch.unflatten"},
                               {in[0], m_dim, m_sizes});
}

std::string Unflatten::extraText() const {
    return "dim=" + std::to_string(m_dim) + ", unflattened_size=" + Var(m_sizes).value().text();
}

}  // namespace sonde::nn
