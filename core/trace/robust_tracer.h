#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>

#include "core/trace/attempt.h"
#include "core/trace/module_path_tracer.h"

namespace sonde::trace {

/// Symbolic tracing that does not give up (robust-trace.md): a submodule that cannot be traced becomes one opaque call,
/// and the whole trace is repeated until it succeeds. What failed and what was visited adds up over the traces of one
/// object.
class RobustTracer : public ModulePathTracer {
  public:
    /// `asReference`: only tracing errors (control flow, iteration, conversion) of a submodule are absorbed; any other
    /// error reaches the root. Otherwise every error is absorbed, which covers more of the model.
    explicit RobustTracer(bool asReference = false) : m_asReference(asReference) {}

    /// Never fails and never throws: a root that cannot be traced gives a graph without nodes and is marked failed.
    /// A leaf as root becomes placeholders, one call with an empty target, and the output. Non-tensor defaults of
    /// the root's parameters are fixed as if they were given (robust-trace.md, "Fixed parameters").
    GraphPtr traceRobust(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete = {});
    /// What traceRobust gave last; null before.
    const GraphPtr& lastGraph() const { return m_last; }

    /// Only the repeating: nothing is specialised, and what reaches the root is an error.
    base::Result<GraphPtr> traceRepeatedly(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete = {});

    bool isFailed(const Module& module) const { return m_marks.failed.contains(&module); }
    /// "TraceError: …"; null if the module did not fail.
    const std::string* failureMessage(const Module& module) const;
    bool isUnvisited(const Module& module) const { return !m_marks.seen.contains(&module); }
    /// What was tried with a module that failed, or that runs on values, in order; what succeeded last is in the graph.
    /// Empty for any other module.
    const std::vector<Attempt>& attempts(const Module& module) const;

    // The same of what an expr calls: the callable of a module that runs on values, of any graph of this tracer, or
    // the target of an expr of the last one. Only modules are marked: any other callable (a function, what another
    // tracer made) has not failed and is unvisited.
    bool isFailed(const graph::Callable& callable) const;
    const std::string* failureMessage(const graph::Callable& callable) const;
    bool isUnvisited(const graph::Callable& callable) const;
    bool isFailed(const graph::Expr& expr) const;
    const std::string* failureMessage(const graph::Expr& expr) const;
    bool isUnvisited(const graph::Expr& expr) const;

    /// Marks a module visited; with an error also failed, and then the running trace is repeated. A later success does
    /// not take a failure back, and the first message stays.
    void recordCallModule(const Module& module, const TraceError* error = nullptr);

    // Classes whose modules are leaves for every robust tracer: one set for the process. Exactly the class, not those
    // derived from it. Thread-safe. Classes of archives have no C++ type: name them with addLeafClass.
    static void registerLeaf(std::type_index moduleClass);
    /// Error: the class is not registered ("KeyError").
    static base::Result<void> unregisterLeaf(std::type_index moduleClass);
    static bool isRegisteredLeaf(std::type_index moduleClass);
    static bool isRegisteredLeaf(const Module& module) { return isRegisteredLeaf(std::type_index(typeid(module))); }
    template <typename M>
    static void registerLeaf() {
        registerLeaf(std::type_index(typeid(M)));
    }
    template <typename M>
    static base::Result<void> unregisterLeaf() {
        return unregisterLeaf(std::type_index(typeid(M)));
    }
    template <typename M>
    static bool isRegisteredLeaf() {
        return isRegisteredLeaf(std::type_index(typeid(M)));
    }

    bool isLeafModule(const Module& module, std::string_view path) const override;

  protected:
    bool absorbs(const Module& module, const TraceError& error) override;
    void moduleSeen(const Module& module) override { m_marks.seen.insert(&module); }

  private:
    friend class GraphCollection;
    const Module* moduleOf(const graph::Callable& callable) const;
    const Module* moduleOf(const graph::Expr& expr) const;
    void noteAttempt(const Module& module, Attempt attempt);
    void noteForwardFailed(const Module& module, const TraceError& error);
    void noteCalls(const graph::InternalGraph& graph);
    void settleThrown();
    base::Result<GraphPtr> traceSpecialised(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete);
    base::Result<GraphPtr> traceLeaf(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete);
    std::optional<std::string> plainFailure(const std::shared_ptr<Module>& root, const ConcreteArguments& concrete);

    /// What a module's own code threw last: it goes up, as a caller may handle it. Only if none does has the module
    /// failed.
    struct Thrown {
        const Module* module;
        TraceError error;
    };

    /// What traces have said of modules so far.
    struct Marks {
        std::unordered_map<const Module*, std::string> failed;
        std::unordered_set<const Module*> seen;
        std::unordered_map<const Module*, std::vector<Attempt>> attempts;
    };
    /// What runs a module on values, kept because its address is the key.
    struct Called {
        std::shared_ptr<const graph::Callable> callable;
        const Module* module;
    };

    bool m_asReference;
    bool m_again = false;
    std::optional<Thrown> m_thrown;
    GraphPtr m_last;
    Marks m_marks;
    std::unordered_map<const graph::Callable*, Called> m_called;
    std::vector<std::shared_ptr<const Module>> m_alive;  ///< addresses are keys: nothing that was traced may go
};

/// The graphs of a model and of the children of everything that failed in it (robust-trace.md, "Parts of a model").
class GraphCollection {
  public:
    struct Entry {
        std::shared_ptr<Module> root;
        Tracer::GraphPtr graph;  ///< without nodes if the root failed
        std::string failure;     ///< why it is without nodes; empty: it was traced
        bool isLeaf = false;     ///< the graph is one call of the root, which was not entered
    };
    using MakeTracer = std::function<std::unique_ptr<RobustTracer>()>;

    GraphCollection() : m_makeTracer([] { return std::make_unique<RobustTracer>(); }) {}
    /// With tracers that know more leaves, or only absorb tracing errors.
    explicit GraphCollection(MakeTracer makeTracer) : m_makeTracer(std::move(makeTracer)) {}

    /// Starts anew: traces the model, then breadth-first the direct children of every failed module, each module once.
    /// Of what nests too deeply to be traced it takes the parts with half as many levels instead.
    /// `concrete` is for the model only. Ends early, with what there is, once `stop` says so (asked before each root).
    void recursiveTrace(const std::shared_ptr<Module>& model, const ConcreteArguments& concrete = {},
                        const std::function<bool()>& stop = {});

    const std::vector<Entry>& entries() const { return m_entries; }  ///< in the order of tracing
    /// Null if the module was not traced as a root.
    const graph::InternalGraph* find(const Module& module) const;
    bool isFailed(const Module& module) const { return m_tracer && m_tracer->isFailed(module); }
    const std::string* failureMessage(const Module& module) const {
        return m_tracer ? m_tracer->failureMessage(module) : nullptr;
    }
    bool isUnvisited(const Module& module) const { return !m_tracer || m_tracer->isUnvisited(module); }
    const std::vector<Attempt>& attempts(const Module& module) const;

    // The same of what an expr calls: see RobustTracer. Exprs may be of any graph of the collection; the target of one
    // of another graph is taken as a path below the model.
    bool isFailed(const graph::Callable& callable) const { return m_tracer && m_tracer->isFailed(callable); }
    const std::string* failureMessage(const graph::Callable& callable) const {
        return m_tracer ? m_tracer->failureMessage(callable) : nullptr;
    }
    bool isUnvisited(const graph::Callable& callable) const { return !m_tracer || m_tracer->isUnvisited(callable); }
    bool isFailed(const graph::Expr& expr) const;
    const std::string* failureMessage(const graph::Expr& expr) const;
    bool isUnvisited(const graph::Expr& expr) const;

    /// The tracer that all graphs were made with; null before.
    const RobustTracer* tracer() const { return m_tracer.get(); }

  private:
    const Module* moduleOf(const graph::Expr& expr) const;

    MakeTracer m_makeTracer;
    std::unique_ptr<RobustTracer> m_tracer;
    std::vector<Entry> m_entries;
};

/// A new collection of the graphs of a model.
GraphCollection recursiveTrace(const std::shared_ptr<Module>& model, const ConcreteArguments& concrete = {});

}  // namespace sonde::trace
