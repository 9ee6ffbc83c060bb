#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"
#include "core/trace/error.h"
#include "core/trace/module.h"
#include "core/trace/paused_tracing.h"
#include "core/trace/record.h"
#include "core/trace/recorder.h"
#include "core/trace/recording.h"
#include "core/trace/trace_policy.h"
#include "core/trace/var.h"

namespace sonde::trace {

class Memory;
class PendingError;
struct OperatorCall;

/// Parameters of the root's forward with a fixed value (robust-trace.md, "Fixed parameters"): a number, text or None
/// becomes a constant in the body, and the graph checks at its beginning that it is given just that. A tensor stays
/// symbolic.
using ConcreteArguments = std::map<std::string, tensor::Value>;

/// Runs a module's forward on proxies and records an InternalGraph (symbolic-trace.md): modules, variables and
/// functions come here, the policy decides (derived tracers override it), the recorder builds the graph, and Memory
/// follows what operations write to.
///
/// A leaf becomes one CallModule expr that owns a body: the operations of the leaf's own forward, so that it can be run
/// and looked into (see LeafRecorder). Other modules have a scope for each call.
///
/// One trace at a time per thread and tracer. What a trace leaves after (origins, visited modules) is readable until
/// the next one begins.
class Tracer : public TracePolicy {
  public:
    using GraphPtr = Recorder::GraphPtr;

    Tracer();
    ~Tracer() override;
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    /// Traces a module. Errors: what its forward did that cannot be followed, with the module where it happened.
    base::Result<GraphPtr> trace(std::shared_ptr<Module> root, const ConcreteArguments& concrete = {});
    /// Takes the root for a leaf: its parameters, one call with an empty target (named `_unnamed`), and the output
    /// (robust-trace.md, "A leaf as root"). What the call does is inside of it as with any leaf; if that cannot be
    /// traced, it runs on values.
    base::Result<GraphPtr> traceOpaque(std::shared_ptr<Module> root, const ConcreteArguments& concrete = {});
    /// Traces a function of as many parameters as names are given; it is wrapped in a module that holds its constants.
    base::Result<GraphPtr> trace(std::function<Var(std::span<const Var>)> function,
                                 std::vector<ForwardParameter> parameters);
    /// Knows values in the traces to come; null: nobody does, as at first.
    void setValueOracle(std::shared_ptr<ValueOracle> oracle);

    /// Whether branches and loops on symbolic values are recorded as exprs that own bodies.
    void setRecordsControlFlow(bool records) { m_recordsControlFlow = records; }

    /// The tracer that runs on this thread, or null.
    static Tracer* active();

    // What the last trace says of the model.
    const std::shared_ptr<Module>& root() const;
    /// Name of the module whose forward runs now; "" at top level and when no trace runs.
    const std::string& currentModuleQualifiedName() const;
    /// Module that a node came from: null for the output and for buffers and constants.
    const std::optional<std::string>& originOf(graph::NodeId node) const;
    /// First path of a module below the root; null if it is not installed there.
    const std::string* pathOf(const Module& module) const;
    /// Modules that were called or traced through, by first path.
    const std::unordered_set<std::string>& visited() const { return m_visited; }
    /// Why a module became opaque: it runs on values because its forward could not be followed. By path.
    const std::map<std::string, std::string>& failures() const { return m_failures; }
    /// What ended the last trace; nothing: it succeeded.
    const std::optional<TraceError>& failure() const { return m_failure; }
    /// The hierarchy of the last root with what this trace says of it.
    graph::ModuleTree tree() const;

    // What modules, variables and functions do while a trace runs. What these throw into a forward ends the trace of
    // its module, even if the forward's own code catches it.
    virtual Var moduleCalled(Module& module, std::vector<Var> arguments, Keywords keywords);
    virtual Var parameterRead(const std::shared_ptr<const Slot>& slot);
    /// A program reads the module at `path` below `parent` (Module::use), to call it or to go on from there.
    virtual void moduleRead(Module& parent, std::string_view path) { (void)parent, (void)path; }
    /// A program assigns a tensor (or a child: null) of a module that may be part of what is traced. No graph can show
    /// that a tensor of the model is another one from here on: a TraceError.
    virtual void attributeAssigned(const Module* module, const Slot* slot);
    /// A program calls an operator on proxies. What it writes is followed through all that shares the memory (see
    /// Memory).
    Var called(OperatorCall call);
    /// What a node (after in-place operations: what it means now) is worth to a program that asks; nothing: not known.
    std::optional<tensor::Value> valueOf(graph::NodeId node, KnownUse use);
    /// What a program that asks for a value gets where it is not known: to be thrown.
    TraceError refusal(TraceErrorKind kind, const std::string& text);
    /// Branches and loops on symbolic values may be recorded: it was set, or what runs is the inside of a leaf (where
    /// no listing of fx looks). Otherwise they are the TraceError that fx gives; where values are known, they are
    /// followed.
    bool recordsControlFlow() const;

    // Parts.
    /// What is recorded into and asked about nodes.
    Recording& recording() const;
    /// Builds the InternalGraph; not used by tracers that keep a graph of their own.
    Recorder& recorder() const;
    /// What tensors of the trace share memory.
    Memory& memory() const;

    bool knowsValues() const override;

  protected:
    /// A tracer that keeps a graph of its own. `recording` must live as long.
    explicit Tracer(Recording& recording);

    std::optional<tensor::Value> known(graph::NodeId node, KnownUse use) override;
    graph::InternalGraph& graph() const { return recorder().graph(); }
    /// What a node means now, after in-place operations. May record nodes.
    graph::NodeId current(graph::NodeId node) const;
    /// What was thrown into a forward and not handled by a tracer.
    PendingError& pendingError();

  private:
    struct Parts;
    explicit Tracer(Recording* recording);

    void begin(std::shared_ptr<Module> root);
    base::Result<GraphPtr> recordedBy(std::shared_ptr<Module> root, const std::function<void()>& recordAll);
    Var callThrough(Module& module, const std::string& path, std::vector<Var> arguments, Keywords keywords);
    Var callLeaf(Module& module, const std::string& path, const std::vector<Var>& arguments, const Keywords& keywords);
    /// Records a call as it is, without following what it writes.
    Var recordAsIs(OperatorCall call);

    std::unique_ptr<Parts> m_parts;
    std::size_t m_callDepth = 0;                   ///< calls of modules, one inside the other
    std::unordered_map<std::string, int> m_calls;  ///< how often each path was called
    std::unordered_set<std::string> m_visited;
    std::map<std::string, std::string> m_failures;
    std::optional<TraceError> m_failure;
    bool m_recordsControlFlow = false;
};

/// Makes a tracer the thread's active one; leaves its state clean however the trace ends.
class ActiveTracer {
  public:
    explicit ActiveTracer(Tracer& tracer);
    ~ActiveTracer();
    ActiveTracer(const ActiveTracer&) = delete;
    ActiveTracer& operator=(const ActiveTracer&) = delete;

  private:
    Tracer& m_tracer;
    Tracer* m_before;
};

}  // namespace sonde::trace
