#include "core/trace/traced_module/path_index.h"

#include <algorithm>
#include <string_view>

namespace sonde::trace {

PathIndex::PathIndex(std::shared_ptr<Module> root) { visit(std::move(root), 0, {}); }

void PathIndex::visit(std::shared_ptr<Module> module, std::size_t parent, std::string name) {
    const std::size_t place = m_places.size();
    if (!m_modules.try_emplace(module.get(), place).second) return;
    for (const Module::NamedSlot& named : module->ownTensors())
        m_slots.try_emplace(named.slot.get(), place, named.name);
    m_places.push_back({std::move(module), parent, std::move(name)});
    m_way.push_back({place});
}

bool PathIndex::advance() {
    while (!m_way.empty()) {
        Step& here = m_way.back();
        const std::vector<Module::Child>& children = m_places[here.place].module->children();
        if (here.next >= children.size()) {
            m_way.pop_back();
            continue;
        }
        const Module::Child& child = children[here.next++];
        const std::size_t known = m_places.size();
        visit(child.module, here.place, child.name);
        if (m_places.size() > known) return true;
    }
    return false;
}

void PathIndex::complete() {
    while (advance()) {
    }
}

std::string PathIndex::pathOf(std::size_t place) const {
    std::vector<std::string_view> parts;
    for (; place != 0; place = m_places[place].parent) parts.push_back(m_places[place].name);
    std::string path;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (!path.empty()) path += '.';
        path += *part;
    }
    return path;
}

std::optional<std::string> PathIndex::of(const Module* module) {
    do {
        if (const auto found = m_modules.find(module); found != m_modules.end()) return pathOf(found->second);
    } while (advance());
    return std::nullopt;
}

std::optional<std::string> PathIndex::of(const Slot* slot) {
    do {
        const auto found = m_slots.find(slot);
        if (found == m_slots.end()) continue;
        const std::string path = pathOf(found->second.first);
        return path.empty() ? found->second.second : path + '.' + found->second.second;
    } while (advance());
    return std::nullopt;
}

}  // namespace sonde::trace
