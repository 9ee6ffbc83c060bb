#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/module.h"

namespace sonde::trace {

/// First paths of modules and tensors below a module, as namedModules and namedTensors have them. It looks no further
/// than it has to: a module's own children are found at once, however much is below them.
class PathIndex {
  public:
    explicit PathIndex(std::shared_ptr<Module> root);
    std::optional<std::string> of(const Module* module);
    std::optional<std::string> of(const Slot* slot);
    /// Looks at everything now: what is added below the module later has no path.
    void complete();

  private:
    struct Place {
        std::shared_ptr<Module> module;
        std::size_t parent;
        std::string name;
    };
    struct Step {
        std::size_t place;
        std::size_t next = 0;  ///< child to look at
    };
    void visit(std::shared_ptr<Module> module, std::size_t parent, std::string name);
    /// Looks at the next module in order. False: there is none.
    bool advance();
    std::string pathOf(std::size_t place) const;

    std::vector<Place> m_places;
    std::vector<Step> m_way;
    std::unordered_map<const Module*, std::size_t> m_modules;
    std::unordered_map<const Slot*, std::pair<std::size_t, std::string>> m_slots;
};

}  // namespace sonde::trace
