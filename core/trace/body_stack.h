#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/ids.h"
#include "core/trace/naming.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// A body that is recorded into: the main body, the inside of a leaf, a branch or the body of a loop.
struct OpenBody {
    graph::BodyId id;
    graph::ScopeId scope;
    std::string prefix;  ///< of node names: "conv1/" inside of the call named conv1
    FxNames names = {};
    std::unordered_map<const Slot*, graph::NodeId> parameters = {};  ///< that were read in it
    bool insideLeaf = false;

    std::string uniqueName(std::string_view candidate) { return prefix + names.unique(nameCandidate(candidate)); }
};

/// The bodies that are open, from the main body to the innermost one, into which operations are recorded. Bodies that
/// were left for a while (the branches of an If until their results are known) keep their names and reads.
class BodyStack {
  public:
    /// The main body alone; everything else is forgotten.
    void start(graph::BodyId main, graph::ScopeId scope) {
        m_open.clear();
        m_left.clear();
        m_open.push_back({.id = main, .scope = scope, .prefix = {}});
    }
    /// No body is open.
    void close() { m_open.clear(); }

    bool empty() const { return m_open.empty(); }
    std::size_t size() const { return m_open.size(); }
    OpenBody& top() { return m_open.back(); }
    const OpenBody& top() const { return m_open.back(); }
    bool isInMain() const { return m_open.size() == 1; }
    bool isInsideLeaf() const { return !m_open.empty() && m_open.back().insideLeaf; }

    void enter(OpenBody body) { m_open.push_back(std::move(body)); }
    void leave() { m_open.pop_back(); }
    /// Leaves those beyond a count, as after an error inside of them.
    void leaveBeyond(std::size_t count) {
        if (m_open.size() > count) m_open.erase(m_open.begin() + static_cast<std::ptrdiff_t>(count), m_open.end());
    }
    void leaveForNow() {
        m_left[top().id] = std::move(top());
        m_open.pop_back();
    }
    void resume(graph::BodyId id) {
        const auto left = m_left.find(id);
        m_open.push_back(std::move(left->second));
        m_left.erase(left);
    }

    /// Reads of parameters whose nodes were taken back.
    template <typename IsGone>
    void forgetReads(IsGone isGone) {
        for (OpenBody& body : m_open)
            std::erase_if(body.parameters, [&](const auto& entry) { return isGone(entry.second); });
    }

  private:
    std::vector<OpenBody> m_open;
    std::unordered_map<graph::BodyId, OpenBody> m_left;
};

}  // namespace sonde::trace
