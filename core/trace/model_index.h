#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trace/module.h"

namespace sonde::trace {

/// The module that is traced: the first path of each module and tensor in it, and of the constants that its graph has
/// beside them.
class ModelIndex {
  public:
    void reset(std::shared_ptr<Module> root);
    const std::shared_ptr<Module>& root() const { return m_root; }
    /// Null if it is not installed below the root.
    const std::string* pathOf(const Module& module) const;
    const std::string* pathOf(const Slot* slot) const;
    /// The tensor of a module of the root that is there; null if there is none.
    std::shared_ptr<const Slot> slotOn(const tensor::Storage& storage) const;
    /// "_tensor_constant0": one path for one view of one storage.
    std::string constantPath(const tensor::Tensor& tensor);
    bool hasConstantOn(const tensor::Tensor& tensor) const;
    struct Constant {
        tensor::Tensor tensor;
        std::string path;
    };
    const std::vector<Constant>& constants() const { return m_constants; }

  private:
    std::shared_ptr<Module> m_root;
    std::unordered_map<const Module*, std::string> m_modulePaths;
    std::unordered_map<const Slot*, std::string> m_slotPaths;
    std::vector<Constant> m_constants;
};

}  // namespace sonde::trace
