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
    // Back to what is there already, mostly the module around, and from there on what is missing: without recursion,
    // for names may be of any depth.
    std::size_t known = qualname.size();
    std::optional<std::size_t> at = find(qualname);
    while (!at && known > 0) {
        const std::size_t dot = qualname.rfind('.', known - 1);
        known = dot == std::string_view::npos ? 0 : dot;
        at = known > 0 ? find(qualname.substr(0, known)) : std::nullopt;
    }
    std::size_t current = at.value_or(0);
    std::size_t begin = at ? known + 1 : 0;
    while (begin <= qualname.size()) {
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

namespace {

std::string reasonNotVisited(const ModuleTree& tree, std::size_t index,
                             const std::function<bool(const std::string&)>& isLeaf) {
    std::size_t above = tree.module(index).parent;
    while (above != 0 && !tree.module(above).visited) above = tree.module(above).parent;
    const ModuleInfo& caller = tree.module(above);
    const std::string name = caller.qualname.empty() ? "the model" : "'" + caller.qualname + "'";
    if (!caller.failure.empty()) return name + " could not be traced; the trace ended before it called this module";
    if (isLeaf(caller.qualname)) return "inside the leaf " + name + ", which is not traced into";
    return "the forward of " + name + " never calls it";
}

}  // namespace

void explainUnvisited(ModuleTree& tree, const std::function<bool(const std::string& qualname)>& isLeaf) {
    for (std::size_t i = tree.modules().size(); i-- > 1;) {
        if (tree.module(i).visited) tree.mutableModule(tree.module(i).parent).visited = true;
    }
    for (std::size_t i = 1; i < tree.modules().size(); ++i) {
        if (!tree.module(i).visited) tree.mutableModule(i).note = reasonNotVisited(tree, i, isLeaf);
    }
}

}  // namespace sonde::graph
