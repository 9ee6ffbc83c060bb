#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Lays out with Graphviz in helper processes that stay alive between requests. Graphviz has global state, and a
/// hostile graph can make it run for hours or crash; a process can be ended at any time.
///
/// Thread-safe; each of `processes` serves one caller at a time, others wait. Processes are started when first needed
/// and ended with this object. If the helper program is missing, every layout is done by the layered engine.
class LayoutWorkers {
  public:
    struct Options {
        std::filesystem::path program;  ///< the helper; empty: see findProgram()
        std::size_t processes = 2;
    };

    LayoutWorkers();
    explicit LayoutWorkers(Options options);
    ~LayoutWorkers();
    LayoutWorkers(const LayoutWorkers&) = delete;
    LayoutWorkers& operator=(const LayoutWorkers&) = delete;

    /// Starts the helpers already, so that the first layout need not wait for them to load Graphviz. Returns at once.
    void start();

    static constexpr std::chrono::milliseconds kDefaultBudget{600};

    /// Graphviz's picture, or within `budget` of wall time the layered engine's with `BoxLayout::note` saying why.
    /// Graphs that Graphviz could not do within the budget by all experience are not given to it. A stop request ends
    /// the helper at once (Cancelled). Fails also with Unreadable if the graph is invalid.
    base::Result<BoxLayout> layout(const BoxGraph& graph, const base::WorkContext& work = {},
                                   std::chrono::milliseconds budget = kDefaultBudget);

    /// How long Graphviz takes for a graph by experience, with the way to the helper and back; milliseconds. 0 for what
    /// it would not be given with such a budget.
    static double expectedMs(const BoxGraph& graph, std::chrono::milliseconds budget = kDefaultBudget);

    /// Where the helper is: `sonde-layout-worker` named by the environment variable SONDE_LAYOUT_WORKER, else beside
    /// the running executable, in ../bin or ../libexec/sonde from there; empty if nowhere.
    static std::filesystem::path findProgram();

    const std::filesystem::path& program() const;
    std::size_t processes() const;

    /// Process ids of the helpers that are alive, for tests and diagnostics.
    std::vector<int> processIds() const;

  private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

}  // namespace sonde::layout
