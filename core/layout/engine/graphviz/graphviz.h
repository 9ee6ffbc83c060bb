#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Calls Graphviz's `dot` in this process. Graphviz keeps global state, may run for hours, and crashes on some input:
/// only the layout helper process links this. One at a time, one thread.
class Graphviz {
  public:
    Graphviz();
    ~Graphviz();
    Graphviz(const Graphviz&) = delete;
    Graphviz& operator=(const Graphviz&) = delete;

    /// Box sizes are kept exactly; edges are `dot`'s splines with their ends moved to the borders and ports asked for.
    base::Result<BoxLayout> layout(const BoxGraph& graph);

  private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::layout
