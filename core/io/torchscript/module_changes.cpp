// What a run has changed of a module, asked by who would run it from the beginning.

#include <algorithm>

#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/script_module.h"

namespace sonde::io::script {

std::string ModuleState::changedPart(trace::Module& module) const {
    if (!hasChanged()) return {};
    for (const trace::NamedTensor& named : trace::namedTensors(module)) {
        const bool isWritten = std::ranges::any_of(m_written, [&](const auto& entry) {
            return entry.first == named.slot.get() || entry.first->value.storage() == named.slot->value.storage();
        });
        if (isWritten) return "tensor '" + named.path + '\'';
    }
    for (const auto& [path, each] : trace::namedModules(module)) {
        const auto* script = dynamic_cast<const ScriptModule*>(each);
        if (!script) continue;
        const auto assigned = m_assigned.find(script);
        if (assigned != m_assigned.end() && !assigned->second->attributes.empty())
            return "attribute '" + assigned->second->attributes.begin()->first + '\'';
        const bool isWritten = std::ranges::any_of(
            m_written, [](const auto& entry) { return entry.first->kind == trace::Slot::Kind::Plain; });
        if ((m_isChanged || isWritten) && script->holdsObjects()) return "lists or objects";
    }
    return {};
}

}  // namespace sonde::io::script
