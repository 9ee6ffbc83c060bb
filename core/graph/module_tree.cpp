#include "core/graph/module_tree.h"

namespace sonde::graph {

ModuleTree::ModuleTree() {
    m_modules.push_back(ModuleInfo{});
    m_index.emplace("", 0);
}

std::optional<std::size_t> ModuleTree::find(std::string_view qualname) const {
    const auto found = m_index.find(std::string(qualname));
    return found == m_index.end() ? std::nullopt : std::optional(found->second);
}

std::size_t ModuleTree::add(std::string_view qualname, std::string_view moduleClass) {
    // Walk the path from the root, adding what is missing, so that no depth of names can exhaust the stack.
    std::size_t current = 0;
    std::size_t begin = 0;
    while (!qualname.empty() && begin <= qualname.size()) {
        std::size_t end = qualname.find('.', begin);
        if (end == std::string_view::npos) end = qualname.size();
        const std::string path(qualname.substr(0, end));
        const auto [slot, added] = m_index.emplace(path, m_modules.size());
        if (added) {
            ModuleInfo module;
            module.qualname = path;
            module.parent = current;
            m_modules[current].children.push_back(m_modules.size());
            m_modules.push_back(std::move(module));
        }
        current = slot->second;
        begin = end + 1;
    }
    if (!moduleClass.empty()) m_modules[current].moduleClass = moduleClass;
    return current;
}

std::int64_t ModuleTree::parameterCount(std::size_t index, bool recursive) const {
    std::int64_t count = 0;
    std::vector<std::size_t> stack{index};
    while (!stack.empty()) {
        const ModuleInfo& module = m_modules[stack.back()];
        stack.pop_back();
        for (const ParameterInfo& parameter : module.parameters) {
            if (parameter.isBuffer) continue;
            if (const auto shape = parameter.type.staticShape()) count += shape->numel();
        }
        if (recursive) stack.insert(stack.end(), module.children.begin(), module.children.end());
    }
    return count;
}

}  // namespace sonde::graph
