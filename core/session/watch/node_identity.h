#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::session {

/// What a node is known by beyond one graph: its name, its module, its position in there, and what is around it.
/// Everything but the name may be empty, of what was stored by an earlier version.
struct NodeIdentity {
    std::string name;
    std::string qualname;      ///< empty: of the root, or of no module
    std::string op;            ///< "conv": the same for an operator of ONNX and of ATen where they have one name
    std::uint32_t output = 0;  ///< of its operation
    std::uint32_t position = 0, count = 0;  ///< it is the position-th of `count` values of this operator in its module
    bool isModuleOutput = false;            ///< what a call of its module returns
    int call = 0;                           ///< that call's number
    /// Hashes of everything that it is computed from and that is computed from it, and of either; names and values of
    /// weights do not count. The counts are of nodes with the same hash. 0: not known.
    std::uint64_t structure = 0, upstream = 0, downstream = 0;
    std::uint32_t structureCount = 0, upstreamCount = 0, downstreamCount = 0;

    bool operator==(const NodeIdentity&) const = default;

    /// One line, for settings and files; of() reads what text() wrote, and the form "NAME<tab>QUALNAME" of earlier
    /// versions. Whatever else a text holds becomes a name.
    std::string text() const;
    static NodeIdentity of(std::string_view text);
};

/// How a node of another graph was found again.
enum class FoundBy : std::uint8_t { Missing, Name, Module, Structure };
std::string_view name(FoundBy found);  ///< "missing", "name", "module", "structure"

/// The nodes of a graph by all that a NodeIdentity says. Linear in the graph to make; lookups are not.
class IdentityIndex {
  public:
    explicit IdentityIndex(const graph::InternalGraph& graph);

    NodeIdentity of(graph::NodeId node) const;

    struct Found {
        graph::NodeId node;
        FoundBy by = FoundBy::Missing;
    };
    /// In this order: the same name, module and operator; the same operator at the same position in the module, or what
    /// its module returns; the only node with the same structure, or the same upstream or downstream if only one of
    /// these says something. What contradicts itself or is ambiguous is missing.
    Found find(const NodeIdentity& identity) const;

  private:
    using Place = std::tuple<std::string_view, std::string_view, std::uint32_t>;  ///< module, operator, output

    void hashStructure();
    void indexModules();
    bool contradicts(const NodeIdentity& identity, graph::NodeId node) const;
    bool isOther(const NodeIdentity& identity, graph::NodeId node) const;
    graph::NodeId byName(const NodeIdentity& identity) const;
    graph::NodeId byModule(const NodeIdentity& identity) const;
    graph::NodeId byStructure(const NodeIdentity& identity) const;
    const std::string& opOf(graph::NodeId node) const { return m_ops[m_graph.node(node).producer.index()]; }
    std::string_view qualnameOf(graph::NodeId node) const;

    const graph::InternalGraph& m_graph;
    std::vector<graph::ExprId> m_order;
    std::vector<std::string> m_ops;  ///< by expr
    /// Nodes by a hash of theirs.
    struct Hashes {
        std::vector<std::uint64_t> of;  ///< by node
        std::unordered_map<std::uint64_t, std::vector<graph::NodeId>> nodes;

        std::uint32_t count(graph::NodeId node) const {
            return static_cast<std::uint32_t>(nodes.at(of[node.index()]).size());
        }
        /// The node, if it is the only one here, as it was where it comes from.
        graph::NodeId only(std::uint64_t hash, std::uint32_t count) const;
    };
    Hashes m_structure, m_upstream, m_downstream;
    std::map<Place, std::vector<graph::NodeId>> m_places;
    std::map<std::pair<std::string_view, int>, graph::NodeId> m_moduleOutputs;  ///< by module and call
    std::unordered_map<graph::NodeId, int> m_callOfOutput;
};

}  // namespace sonde::session
