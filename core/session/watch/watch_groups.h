#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/analysis/query/query.h"
#include "core/document/document.h"

namespace sonde::session {

/// A watch point on many nodes at once. Of a module that was not traced into, its call counts and not what is inside.
struct WatchGroup {
    enum class Kind : std::uint8_t {
        Module,      ///< what each call of a module returns; `text` is its qualname
        Inside,      ///< every node inside a module
        Call,        ///< every node inside one call of a module
        Everything,  ///< every node of the model but weights and constants
        Query        ///< the nodes that a query finds, see analysis::Query; `text` is the query
    };
    Kind kind = Kind::Module;
    std::string text;
    int call = 0;  ///< of Call

    bool operator==(const WatchGroup&) const = default;
    /// "layer1.0", "inside layer1.0", "inside layer1.0, call 2", "everything", "op:Conv".
    std::string title() const;
};

/// Stable words for files: "module", "inside", "call", "everything", "query".
std::string_view name(WatchGroup::Kind kind);
std::optional<WatchGroup::Kind> watchGroupKind(std::string_view name);

/// The groups of a session and their nodes in the present graph.
class WatchGroups {
  public:
    static constexpr std::size_t kMaxGroups = 256;

    struct Entry {
        WatchGroup group;
        std::vector<graph::NodeId> nodes;  ///< in the order of the program
        std::optional<base::Error> error;  ///< why it has none: no such module, or what is wrong with the query
    };
    const std::vector<Entry>& entries() const { return m_entries; }
    std::vector<WatchGroup> all() const;
    /// Of all groups, each once.
    const std::vector<graph::NodeId>& nodes() const { return m_nodes; }
    bool contains(graph::NodeId node) const { return m_isIn.contains(node); }

    /// What queries may ask about besides the graph. Used whenever nodes are looked for.
    using Facts = std::function<analysis::QueryFacts()>;

    /// Errors (Usage): what is wrong with the query, with its place; no such module; there are kMaxGroups; it is there
    /// already.
    base::Result<void> add(const document::Document& document, WatchGroup group, const Facts& facts);
    /// In place of the group at `index`, which there is.
    base::Result<void> change(const document::Document& document, std::size_t index, WatchGroup group,
                              const Facts& facts);
    bool remove(std::size_t index);
    /// Whether there were any.
    bool clear();
    /// In place of those there are. What cannot be found has an error. More than kMaxGroups are left out.
    void restore(std::vector<WatchGroup> groups);
    /// Looks for the nodes again, in this graph; whether any are others.
    bool bind(const document::Document& document, const Facts& facts);

  private:
    void collect();

    std::vector<Entry> m_entries;
    std::vector<graph::NodeId> m_nodes;
    std::unordered_set<graph::NodeId> m_isIn;
};

}  // namespace sonde::session
