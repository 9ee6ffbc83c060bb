#pragma once

#include <string>
#include <vector>

#include "core/session/watch/node_identity.h"

namespace sonde::session {

/// What a user has written on nodes, one text for each. Kept by identity as points are (see PointSet): what the present
/// graph has no node for is kept, and waits.
class Notes {
  public:
    static constexpr std::size_t kMaxNotes = 10'000;
    static constexpr std::size_t kMaxBytes = std::size_t{1} << 16;  ///< of one text; a longer one is cut off

    struct Entry {
        NodeIdentity identity;  ///< complete if the node is missing
        graph::NodeId node;     ///< none: missing
        std::string text;
    };
    /// In the order in which they were first written.
    const std::vector<Entry>& entries() const { return m_entries; }
    /// Empty: there is none.
    const std::string& of(graph::NodeId node) const;

    /// An empty text removes the note; whether anything changed. False also if there are kMaxNotes.
    bool set(graph::NodeId node, std::string text);
    void clear() { m_entries.clear(); }

    struct Kept {
        NodeIdentity identity;
        std::string text;
    };
    /// All of them, for keeping. Linear in the graph if there are any.
    std::vector<Kept> all(const graph::InternalGraph& graph) const;
    /// In place of those there are.
    void restore(const graph::InternalGraph& graph, const std::vector<Kept>& notes);
    /// Looks all of them up in another graph. `before`: the one that they were in; null if there was none.
    void bind(const graph::InternalGraph& graph, const graph::InternalGraph* before);

  private:
    std::vector<Entry> m_entries;
};

}  // namespace sonde::session
