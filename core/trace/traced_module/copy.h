#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/trace/traced_module.h"

namespace sonde::trace {

using NodeMap = std::function<TracedNode*(const TracedNode*)>;

/// Adds the same expr (not an Input) at the end of another graph, with its nodes replaced and its outputs named by
/// `name`. A call of a traced module gets no inner graph.
TracedExpr* copyExpr(GraphBuilder& to, const TracedExpr& from, const NodeMap& nodes,
                     const std::function<std::string(const TracedNode&)>& name);
/// Types, quantisation and module type of a node.
void copyNode(TracedNode& to, const TracedNode& from);

/// Copies traced modules with their graphs; everything else is shared.
class ModuleCopier {
  public:
    std::shared_ptr<TracedModule> copy(const TracedModule& from, bool isTop);
    /// Fills the graphs of all copies; graphs whose parent was not copied get this one.
    void fillGraphs(ModuleGraph* parent);
    /// The copy of a graph; null if it was not copied.
    std::shared_ptr<ModuleGraph> copyOf(const ModuleGraph* graph) const;

  private:
    void fill(const ModuleGraph& from, ModuleGraph& to);

    std::unordered_map<const TracedModule*, std::shared_ptr<TracedModule>> m_modules;
    std::unordered_map<const ModuleGraph*, std::shared_ptr<ModuleGraph>> m_graphs;
    std::unordered_map<const ModuleGraph*, std::shared_ptr<TracedModule>> m_owners;
    std::vector<const ModuleGraph*> m_order;
    std::unordered_map<const TracedNode*, TracedNode*> m_nodes;
};

}  // namespace sonde::trace
