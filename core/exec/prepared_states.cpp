#include "core/exec/prepared_states.h"

#include <map>
#include <tuple>

namespace sonde::exec {

std::shared_ptr<PreparedStates> PreparedStates::of(const std::shared_ptr<const InternalGraph>& graph, bool exact) {
    // Another graph may come to the address of one that is gone: what owns it tells them apart.
    using Key = std::pair<std::weak_ptr<const InternalGraph>, bool>;
    struct Less {
        bool operator()(const Key& a, const Key& b) const {
            if (a.second != b.second) return b.second;
            return a.first.owner_before(b.first);
        }
    };
    static std::mutex mutex;
    static auto& all = *new std::map<Key, std::weak_ptr<PreparedStates>, Less>;  // runners may outlive statics
    const std::scoped_lock lock(mutex);
    std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
    std::weak_ptr<PreparedStates>& known = all[{graph, exact}];
    std::shared_ptr<PreparedStates> states = known.lock();
    if (!states) known = states = std::make_shared<PreparedStates>();
    return states;
}

std::optional<PreparedStates::State> PreparedStates::find(ExprId expr) const {
    const std::scoped_lock lock(m_mutex);
    const auto found = m_states.find(expr);
    return found == m_states.end() ? std::nullopt : std::optional(found->second);
}

PreparedStates::State PreparedStates::add(ExprId expr, State state) {
    const std::scoped_lock lock(m_mutex);
    return m_states.emplace(expr, std::move(state)).first->second;
}

}  // namespace sonde::exec
