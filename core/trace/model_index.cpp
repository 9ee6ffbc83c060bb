#include "core/trace/model_index.h"

#include <algorithm>
#include <utility>

namespace sonde::trace {

void ModelIndex::reset(std::shared_ptr<Module> root) {
    m_root = std::move(root);
    m_modulePaths.clear();
    m_slotPaths.clear();
    m_constants.clear();
    for (const auto& [path, module] : namedModules(*m_root)) m_modulePaths.emplace(module, path);
    for (const NamedTensor& named : namedTensors(*m_root)) m_slotPaths.emplace(named.slot.get(), named.path);
}

const std::string* ModelIndex::pathOf(const Module& module) const {
    const auto found = m_modulePaths.find(&module);
    return found == m_modulePaths.end() ? nullptr : &found->second;
}

const std::string* ModelIndex::pathOf(const Slot* slot) const {
    const auto found = m_slotPaths.find(slot);
    return found == m_slotPaths.end() ? nullptr : &found->second;
}

std::shared_ptr<const Slot> ModelIndex::slotOn(const tensor::Storage& storage) const {
    if (!m_root) return nullptr;
    for (const NamedTensor& named : namedTensors(*m_root)) {  // a forward may have added some
        if (named.slot->value.storage().get() == &storage) return named.slot;
    }
    return nullptr;
}

std::string ModelIndex::constantPath(const tensor::Tensor& tensor) {
    for (const Constant& known : m_constants) {
        if (known.tensor.storage() == tensor.storage() && known.tensor.offsetElements() == tensor.offsetElements() &&
            known.tensor.shape() == tensor.shape() && known.tensor.strides() == tensor.strides()) {
            return known.path;
        }
    }
    std::string path = "_tensor_constant" + std::to_string(m_constants.size());
    m_constants.push_back({tensor, path});
    return path;
}

bool ModelIndex::hasConstantOn(const tensor::Tensor& tensor) const {
    return std::ranges::any_of(m_constants,
                               [&](const Constant& constant) { return constant.tensor.storage() == tensor.storage(); });
}

}  // namespace sonde::trace
