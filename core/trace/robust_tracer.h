#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "core/trace/module_path_tracer.h"

namespace sonde::trace {

/// Symbolic tracing that does not give up (reference 2): a submodule that cannot be traced becomes one opaque call, and
/// the whole trace is repeated until it succeeds. What failed and what was visited adds up over the traces of one object.
class RobustTracer : public ModulePathTracer {
  public:
    /// `asReference`: only tracing errors (control flow, iteration, conversion) of a submodule are absorbed; any other
    /// error reaches the root. Otherwise every error is absorbed, which covers more of the model.
    explicit RobustTracer(bool asReference = false) : m_asReference(asReference) {}

    /// Never fails for a tracing problem: a root that cannot be traced gives a graph without nodes and is marked failed.
    /// A leaf as root becomes placeholders, one call with an empty target, and the output (c4). Non-tensor defaults of
    /// the root's parameters are specialised as if they were given (c5).
    GraphPtr traceRobust(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete = {});

    /// Only the repeating: nothing is specialised, and what reaches the root is an error.
    base::Result<GraphPtr> traceRepeatedly(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete = {});

    bool isFailed(const Module& module) const { return m_failed.contains(&module); }
    /// "TraceError: …"; null if the module did not fail.
    const std::string* failureMessage(const Module& module) const;
    bool isUnvisited(const Module& module) const { return !m_seen.contains(&module); }

  protected:
    bool isLeafModule(const Module& module, std::string_view path) const override;
    bool absorbs(const Module& module, const TraceError& error) override;
    void moduleSeen(const Module& module) override { m_seen.insert(&module); }

  private:
    GraphPtr traceLeaf(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete);

    bool m_asReference;
    bool m_again = false;
    std::unordered_map<const Module*, std::string> m_failed;
    std::unordered_set<const Module*> m_seen;
    std::vector<std::shared_ptr<const Module>> m_alive;  ///< addresses are keys: nothing that was traced may go
};

/// The graphs of a model and of the children of everything that failed in it (reference 2, c3).
class GraphCollection {
  public:
    struct Entry {
        std::shared_ptr<Module> root;
        Tracer::GraphPtr graph;  ///< without nodes if the root failed
    };

    /// Starts anew: traces the model, then breadth-first the direct children of every failed module, each module once.
    /// `concrete` is for the model only.
    void recursiveTrace(const std::shared_ptr<Module>& model, const ConcreteArguments& concrete = {}, bool asReference = false);

    const std::vector<Entry>& entries() const { return m_entries; }  ///< in the order of tracing
    /// Null if the module was not traced as a root.
    const graph::InternalGraph* find(const Module& module) const;
    bool isFailed(const Module& module) const { return m_tracer && m_tracer->isFailed(module); }
    const std::string* failureMessage(const Module& module) const { return m_tracer ? m_tracer->failureMessage(module) : nullptr; }
    bool isUnvisited(const Module& module) const { return !m_tracer || m_tracer->isUnvisited(module); }

  private:
    std::unique_ptr<RobustTracer> m_tracer;
    std::vector<Entry> m_entries;
};

}  // namespace sonde::trace
