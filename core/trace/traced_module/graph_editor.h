#pragma once

#include <memory>
#include <string_view>

#include "core/trace/traced_module/module_graph.h"

namespace sonde::trace {

class TracedModuleTracer;

/// Adds to a graph (MegEngine's insert_exprs). While it lives it is the thread's active tracer: what is done with
/// its values is recorded, modules that are called and have no graph yet are traced in place. commit() (or the
/// destructor) puts the new exprs after the chosen one, but never before the producers of what they use; an exception
/// that passes through, or discard(), drops them.
class GraphEditor {
  public:
    GraphEditor(GraphEditor&&) noexcept;
    GraphEditor& operator=(GraphEditor&&) = delete;
    ~GraphEditor();

    /// A node of the graph as a value to compute with.
    Var operator[](TracedNode* node);
    /// The module at this path below the graph's own: the read is recorded.
    Module& module(std::string_view path);
    /// The node after a value that was made here. Null: it is none.
    TracedNode* node(const Var& value) const;
    void commit();
    void discard();

  private:
    friend class ModuleGraph;
    GraphEditor(ModuleGraph& graph, TracedExpr* after);

    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace sonde::trace
