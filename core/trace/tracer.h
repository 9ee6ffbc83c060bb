#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"
#include "core/trace/error.h"
#include "core/trace/follower.h"
#include "core/trace/module.h"
#include "core/trace/naming.h"
#include "core/trace/record.h"
#include "core/trace/var.h"

namespace sonde::trace {

class Memory;
struct MemoryMark;
struct OperatorCall;

/// Parameters of the root's forward with a fixed value (robust-trace.md, "Fixed parameters"): a number, text or None
/// becomes a constant in the body, and the graph checks at its beginning that it is given just that. A tensor stays
/// symbolic.
using ConcreteArguments = std::map<std::string, tensor::Value>;

/// Knows where in the model's own source the operation stands that is recorded now (modules that come from a file).
class SourceSite {
  public:
    virtual ~SourceSite() = default;
    virtual graph::Source source() const = 0;
};

/// Runs a module's forward on proxies and records an InternalGraph (symbolic-trace.md). Derived tracers say what is a
/// leaf and what happens when a module cannot be traced.
///
/// A leaf becomes one CallModule expr that owns a body: the operations of the leaf's own forward, so that it can be run
/// and looked into. If the leaf itself cannot be traced, the expr holds a Callable that runs it on values instead.
/// A leaf has no scope of its own: its call and what is in the body are in the scope of the caller.
///
/// One trace at a time per thread and tracer. What a trace leaves after (origins, visited modules) is readable until
/// the next one begins.
class Tracer {
  public:
    using GraphPtr = std::shared_ptr<graph::InternalGraph>;

    Tracer();
    virtual ~Tracer();
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

    /// The tracer that runs on this thread, or null.
    static Tracer* active();

    const std::shared_ptr<Module>& root() const { return m_root; }
    /// Name of the module whose forward runs now; "" at top level and when no trace runs.
    const std::string& currentModuleQualifiedName() const { return m_currentModule; }
    /// Module that a node came from: null for the output and for buffers and constants.
    const std::optional<std::string>& originOf(graph::NodeId node) const;
    /// First path of a module below the root; null if it is not installed there.
    const std::string* pathOf(const Module& module) const;
    /// Modules that were called or traced through, by first path.
    const std::unordered_set<std::string>& visited() const { return m_visited; }
    /// Why a module became opaque: it runs on values because its forward could not be followed. By path.
    const std::map<std::string, std::string>& failures() const { return m_failures; }
    /// What ended the last trace; nothing: it went well.
    const std::optional<TraceError>& failure() const { return m_failure; }
    /// The hierarchy of the last root with what this trace says of it.
    graph::ModuleTree tree() const;

    // Called by modules, vars and functions while a trace runs.
    virtual Var moduleCalled(Module& module, std::vector<Var> arguments, Keywords keywords);
    virtual Var parameterRead(const std::shared_ptr<const Slot>& slot);
    virtual Var record(graph::ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
                       std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs = 1);
    /// A program reads the module at `path` below `parent` (Module::use), to call it or to go on from there.
    virtual void moduleRead(Module& parent, std::string_view path) { (void)parent, (void)path; }
    /// A program assigns a tensor (or a child: null) of a module that may be part of what is traced. No graph can show
    /// that a tensor of the model is another one from here on: a TraceError.
    virtual void attributeAssigned(const Module* module, const Slot* slot);
    /// The list that exprs are recorded into now.
    graph::BodyId currentBody() const { return m_frames.back().body; }
    /// Known to be a tensor (else it may be anything).
    virtual bool isTensor(graph::NodeId node) const {
        return node.index() < m_isTensor.size() && m_isTensor[node.index()];
    }
    /// Known to be a number (or a list of numbers) that the size of a tensor decides, recorded as an expression.
    virtual bool isNumber(graph::NodeId node) const {
        (void)node;
        return false;
    }
    /// Records that what follows is only right while the value of the node, asked for like this, is `expected` (see
    /// core/graph/guard.h). `traced` may be empty. The guard's node.
    virtual graph::NodeId recordGuard(graph::NodeId node, KnownUse use, const tensor::AttributeValue& expected,
                                      const std::string& sentence, const std::string& traced);
    /// Someone who knows values goes along with the traces to come; null: nobody, as at first.
    void setFollower(std::shared_ptr<Follower> follower) { m_follower = std::move(follower); }
    /// Questions about values may be answered: decisions that depend on the data need not be recorded as such.
    virtual bool knowsValues() const { return m_follower != nullptr; }
    /// What a node (after in-place operations: what it means now) is worth to a program that asks; nothing: not known.
    std::optional<tensor::Value> valueOf(graph::NodeId node, KnownUse use);
    /// What a program that asks for a value gets where it is not known: to be thrown. Like all that the calls here
    /// throw into a forward, it ends the trace of the module even if the forward's own code catches it: what it does
    /// then was not decided by the values.
    TraceError refusal(TraceErrorKind kind, const std::string& text);
    /// Reads of attributes (`x.shape`) and calls of methods (`x.size(0)`) that need no node; nothing: they are
    /// recorded.
    virtual std::optional<Var> answer(std::string_view name, bool isCall, const std::vector<Var>& arguments);
    /// `x[i] = v` of a proxy may be recorded. If not, it is the TypeError that fx gives.
    virtual bool recordsSetItem() const { return false; }
    /// A program calls an operator on proxies. What it writes is followed through all that shares the memory (see
    /// Memory).
    Var called(OperatorCall call);
    /// An in-place operation on this value is part of the program: the graph shows the tensor, or a module owns it.
    virtual bool recordsWriteTo(const Var& var) const;
    /// What tensors of the trace share memory.
    Memory& memory() const { return *m_memory; }

    // What Memory asks.
    /// Tensor, int …, if it is known before a run.
    virtual std::optional<tensor::ValueKind> kindOf(graph::NodeId node) const;
    /// "node 'add_' (operation 3)": for messages.
    virtual std::string placeOf(graph::NodeId node) const;
    /// The node is of the body that is recorded into now.
    virtual bool isRecordedHere(graph::NodeId node) const;
    /// The node may be read in that body.
    virtual bool isReachable(graph::NodeId node) const {
        (void)node;
        return true;
    }
    /// A view with these shapes may show one element several times (expand). True if the shapes are not known.
    virtual bool mayRepeat(graph::NodeId view, graph::NodeId base) const;
    virtual std::size_t recordedExprs() const;
    /// The node of a tensor that is a value: a read of the module's tensor, or a constant.
    virtual graph::NodeId nodeOfValue(const Var& var);
    /// The tensor of a module of the root that is there; null if there is none.
    std::shared_ptr<const Slot> slotOn(const tensor::Storage& storage) const;
    /// Asked at each expr; null: nothing is known. Must outlive the trace.
    void setSourceSite(const SourceSite* site) { m_site = site; }

    /// Branches and loops on symbolic values may be recorded as exprs that own bodies: it was asked for, or what runs
    /// is the inside of a leaf (where no listing of fx looks). Otherwise they are the TraceError that fx gives; and
    /// where values are known they are followed.
    bool recordsControlFlow() const {
        return !knowsValues() && (m_recordsControlFlow || (!m_frames.empty() && m_frames.back().insideLeaf));
    }
    void setRecordsControlFlow(bool records) { m_recordsControlFlow = records; }
    /// Begins prim::If (arguments: condition) or prim::Loop (trip count or none, condition, carried values). Its bodies
    /// follow, each between enterBody and leaveBody; then, as what comes out is known when all of them are there, their
    /// results and the outputs, in the same order.
    graph::ExprId beginControl(std::string_view op, const std::vector<Var>& arguments);
    void enterBody(graph::ExprId owner, std::string label);
    Var bodyInput(std::string_view name, tensor::TypeInfo type, bool isTensor);
    void leaveBody();
    /// Leaves a body whose results are known already.
    void leaveBody(const std::vector<Var>& results);
    /// Goes on with a body that was left, until leaveBody.
    void resumeBody(graph::ExprId owner, std::size_t index);
    /// Constants and lists among the results become nodes of the body.
    void setBodyResults(graph::ExprId owner, std::size_t index, const std::vector<Var>& results);
    Var controlOutput(graph::ExprId owner, std::size_t index, bool isTensor);
    /// Takes back an expr and everything recorded after it.
    void abandon(graph::ExprId first) { abandon(first.index()); }
    /// The graph as far as it is recorded; null for tracers that keep a graph of their own.
    const graph::InternalGraph* recorded() const { return m_frames.empty() ? nullptr : m_graph.get(); }
    /// Gives the expr of a node other arguments, if it is the last one of the body that is recorded into and nothing
    /// uses it. False: it is not.
    bool amendLast(graph::NodeId node, const std::vector<Var>& arguments);
    /// Takes back the expr that made a node, if nothing uses it.
    void eraseUnused(graph::NodeId node);

  protected:
    /// Where in the model's source the operation stands that is recorded now: "model.py:12". Empty: it is not known.
    std::string sourceText() const;
    virtual bool isLeafModule(const Module& module, std::string_view path) const;
    /// Asked when the forward of a traced-through module throws; true: the module becomes an opaque call instead.
    virtual bool absorbs(const Module& module, const TraceError& error) {
        (void)module, (void)error;
        return false;
    }
    /// In-place methods change what later uses of their receiver mean (needed for right values).
    virtual bool followsInPlace() const { return true; }
    /// A module is called in the main body (what a leaf calls inside of it does not count).
    virtual void moduleSeen(const Module& module) { (void)module; }
    /// The value of a node, for tracers that know it, or an answer that says enough. Overriders may record that it was
    /// asked for, or throw another TraceError than the usual one.
    virtual std::optional<tensor::Value> known(graph::NodeId node, KnownUse use);
    /// Goes along with the trace, or null.
    Follower* follower() const { return m_follower.get(); }
    const GraphPtr& sharedGraph() const { return m_graph; }
    /// The graph is what a pass has made of it.
    void setGraph(GraphPtr graph) { m_graph = std::move(graph); }
    /// Bodies that are being recorded, the main one included; leaving those beyond a number after one of them failed.
    std::size_t openBodies() const { return m_frames.size(); }
    void leaveBodiesBeyond(std::size_t count) { m_frames.resize(std::min(count, m_frames.size())); }
    /// What an expr runs on values when its turn comes, with the evaluator of now.
    static std::shared_ptr<const graph::Callable> runnable(std::function<Var(std::span<const Var>)> function);
    /// Whether the main body is being recorded, and not the inside of a leaf.
    bool inMainBody() const { return m_frames.size() == 1; }

    /// The name of a new node of the main body.
    virtual std::string makeName(FxNames& names, std::string_view candidate);
    graph::InternalGraph& graph() { return *m_graph; }
    graph::Argument toArgument(const Var& var);
    /// What a node means now, after in-place operations. May record nodes.
    graph::NodeId current(graph::NodeId node) const;
    /// An expr is recorded as it comes, without following what it writes.
    Var recordedRaw(OperatorCall call);

    /// `call`, whose error the program may catch, but not keep from ending the trace.
    template <typename Call>
    decltype(auto) raising(Call&& call) {
        try {
            return call();
        } catch (...) {
            noteRaised();
            throw;
        }
    }
    /// The exception that is being handled ends the trace, whoever catches it.
    void noteRaised();
    /// What is noted; and back to that, where what raised more is recorded in another way.
    const std::optional<TraceError>& raised() const { return m_raised; }
    void setRaised(std::optional<TraceError> raised) { m_raised = std::move(raised); }
    /// To be called when a forward has returned: throws what was raised in it and caught by the model's own code.
    void throwIfCaught();

  private:
    /// What is being recorded into: the main body, the inside of a leaf, a branch or the body of a loop.
    struct Frame {
        graph::BodyId body;
        graph::ScopeId scope;
        std::string prefix;  ///< of node names: "conv1/" inside of the call named conv1
        FxNames names;
        std::unordered_map<const Slot*, graph::NodeId> parameters;
        bool insideLeaf = false;
    };

    Var follow(OperatorCall call);
    /// kindOf without looking at how the arguments of its expr were made.
    std::optional<tensor::ValueKind> kindAlone(graph::NodeId node) const;
    void begin(std::shared_ptr<Module> root);
    base::Result<GraphPtr> recordedBy(std::shared_ptr<Module> root, const std::function<void()>& recordAll);
    std::vector<Var> placeholders(const ConcreteArguments& concrete);
    Var placeholder(const ForwardParameter& parameter, const std::string& candidate);
    Var specialised(const ForwardParameter& parameter, const tensor::Value& value);
    void finish(const Var& result);

    Var callThrough(Module& module, const std::string& path, std::vector<Var> arguments, Keywords keywords);
    Var callLeaf(Module& module, const std::string& path, std::vector<Var> arguments, Keywords keywords);
    void recordInside(Module& module, const std::string& path, graph::ExprId call, const std::vector<Var>& arguments,
                      const Keywords& keywords);
    /// Inputs of a body for the proxies in an argument; each is added to `inputs` with what it stands for.
    Var insideOf(const Var& outer, graph::BodyId body, const std::string& name,
                 std::vector<std::pair<graph::NodeId, Var>>& inputs);
    std::function<void()> finishCall(graph::ExprId call, const MemoryMark& mark,
                                     const std::vector<std::pair<graph::NodeId, Var>>& inputs, const Var& result,
                                     std::size_t depth);
    Var furtherOutput(graph::ExprId call);
    void makeOpaque(Module& module, graph::ExprId call, const std::vector<Var>& arguments, const Keywords& keywords);
    /// Takes back every expr from this one on.
    void abandon(std::size_t firstExpr);

    graph::ExprId addExpr(graph::Expr expr, std::string_view candidate, std::size_t outputs = 1);
    graph::NodeId constantNode(const tensor::Value& value);
    graph::NodeId attributeNode(const std::shared_ptr<const Slot>& slot, const std::string& path, bool withOrigin);
    std::string constantPath(const tensor::Tensor& tensor);

    std::shared_ptr<Module> m_root;
    GraphPtr m_graph;
    std::vector<Frame> m_frames;
    std::string m_currentModule;
    std::string m_currentClass;
    std::size_t m_callDepth = 0;  ///< calls of modules, one inside the other
    std::unordered_map<const Module*, std::string> m_paths;
    std::unordered_map<const Slot*, std::string> m_slotPaths;
    std::unordered_map<std::string, int> m_calls;  ///< how often each path was called
    std::unordered_set<std::string> m_visited;
    bool m_flatResult = false;  ///< a parameter was taken apart, so the result is, too
    std::map<std::string, std::string> m_failures;
    std::optional<TraceError> m_failure;
    std::optional<TraceError> m_raised;  ///< the first error that no tracer has handled
    std::vector<bool> m_isTensor;        ///< by node
    std::unique_ptr<Memory> m_memory;
    struct Constant {
        tensor::Tensor tensor;
        std::string path;
    };
    std::vector<Constant> m_constants;
    std::unordered_map<graph::BodyId, Frame> m_leftBodies;
    const SourceSite* m_site = nullptr;
    bool m_recordsControlFlow = false;
    std::shared_ptr<Follower> m_follower;
    friend class ActiveTracer;
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

/// While it lives no tracer is active on this thread: modules and functions compute at once.
class PausedTracing {
  public:
    PausedTracing();
    ~PausedTracing();
    PausedTracing(const PausedTracing&) = delete;
    PausedTracing& operator=(const PausedTracing&) = delete;

  private:
    Tracer* m_before;
};

}  // namespace sonde::trace
