#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/tensor/type_info.h"

namespace sonde::graph {

/// A parameter or buffer of a module.
struct ParameterInfo {
    std::string name;  ///< within the module: "weight"
    tensor::TypeInfo type;
    std::optional<tensor::Tensor> value;
    bool isBuffer = false;
};

/// One module of the model's own hierarchy, called or not.
struct ModuleInfo {
    std::string qualname;     ///< "layer1.0.conv1", "" for the root
    std::string moduleClass;  ///< "Conv2d"; may be empty
    std::size_t parent = 0;   ///< index; the root is its own parent
    std::vector<std::size_t> children;
    std::vector<ParameterInfo> parameters;
    std::string failure;    ///< why it could not be traced; empty if it could
    bool visited = true;    ///< false: its forward was never reached while tracing
    std::string note;       ///< the reason, of one that was not visited; may be empty
    bool inferred = false;  ///< the file does not name it; read from names or repeated structure
};

/// The hierarchy as a flat list in registration order, parents before children. Index 0 is the root.
class ModuleTree {
  public:
    ModuleTree();

    const std::vector<ModuleInfo>& modules() const { return m_modules; }
    const ModuleInfo& module(std::size_t index) const { return m_modules[index]; }
    ModuleInfo& mutableModule(std::size_t index) { return m_modules[index]; }
    /// Index by qualname.
    std::optional<std::size_t> find(std::string_view qualname) const;
    /// Adds a module; missing ancestors ("a.b" for "a.b.c") are added as plain containers.
    std::size_t add(std::string_view qualname, std::string_view moduleClass);
    /// Parameters of the module itself; of it and everything below.
    std::int64_t parameterCount(std::size_t index, bool recursive) const;

  private:
    std::vector<ModuleInfo> m_modules;
    std::unordered_map<std::string, std::size_t> m_index;
};

/// Completes the marks of a tree in which the modules that were called are marked visited: those without a call of
/// their own that hold a visited one (lists, dicts) are visited, too; the others get the reason as their note.
void explainUnvisited(ModuleTree& tree, const std::function<bool(const std::string& qualname)>& isLeaf);

}  // namespace sonde::graph
