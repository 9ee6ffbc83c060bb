#pragma once

#include <map>
#include <unordered_map>

#include "core/trace/memory.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/path_index.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

/// What a guard says: "took the branch because sum(x) > 0 was true", and of a size "traced with size(0) = 1 of x".
struct GuardText {
    std::string description;
    std::string traced;
};

/// Runs a forward on proxies after which there are values, and records a ModuleGraph for each module that is not built
/// in (traced-module.md). Proxies are numbers of entries of a table: which node a value is, and what it is worth.
class TracedModuleTracer final : private Recording, public Tracer {
  public:
    explicit TracedModuleTracer(const TraceModuleOptions& options);

    /// What the first call of a module while this is the active tracer was made into; the call itself gives its result.
    const std::shared_ptr<TracedModule>& top() const { return m_top; }
    /// Goes on with a graph that is there; what is recorded comes after its body.
    void beginEditing(ModuleGraph& graph);
    Var varOf(TracedNode* node, std::optional<tensor::Value> value);
    /// Null for what is no proxy of this tracer. Records a node if what it shows was changed in place.
    TracedNode* nodeOf(const Var& var) const;
    /// Called for every value that gets a node.
    std::function<void(TracedNode&)> onNode;

    // Decisions.
    Var moduleCalled(Module& module, std::vector<Var> arguments, Keywords keywords) override;
    Var parameterRead(const std::shared_ptr<const Slot>& slot) override;
    void moduleRead(Module& parent, std::string_view path) override;
    void attributeAssigned(const Module* module, const Slot* slot) override;
    bool knowsValues() const override { return true; }
    bool recordsSetItem() const override { return true; }
    std::optional<Var> answer(std::string_view name, bool isCall, const std::vector<Var>& arguments) override;

  protected:
    std::optional<tensor::Value> known(graph::NodeId node, KnownUse use) override;

  private:
    // The graphs that it keeps, as programs and Memory see them.
    Var record(graph::ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
               std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs) override;
    graph::NodeId recordGuard(graph::NodeId node, KnownUse use, const tensor::AttributeValue& expected,
                              const std::string& description, const std::string& traced) override;
    graph::NodeId nodeOfValue(const Var& var) override;
    std::size_t recordedExprs() const override { return 0; }  // nothing is taken back
    bool isTensor(graph::NodeId node) const override { return !isNumber(node); }
    bool isNumber(graph::NodeId node) const override;
    std::optional<tensor::ValueKind> kindOf(graph::NodeId node) const override;
    std::string placeOf(graph::NodeId node) const override;
    bool isRecordedHere(graph::NodeId node) const override;
    bool isReachable(graph::NodeId node) const override { return isRecordedHere(node); }
    bool mayRepeat(graph::NodeId view, graph::NodeId base) const override;
    bool recordsWriteTo(const Var& var) const override;

    /// The module whose forward runs and the graph that is being recorded.
    struct Frame {
        std::shared_ptr<Module> source;
        std::shared_ptr<TracedModule> target;
        ModuleGraph* graph;
        std::unordered_map<std::string, TracedNode*> reads;  ///< of modules and tensors, by path below the source
        PathIndex paths;  ///< the first path of each module and tensor below the source
        std::unordered_map<const Module*, std::string> lastRead;  ///< path by which a module was read last
        std::unordered_map<const Module*, std::vector<std::string>>
            pendingReads;  ///< not called yet; the last is called first
        std::vector<std::pair<tensor::Tensor, TracedNode*>> constants;
        std::vector<std::pair<graph::NodeId, Var>> inputs;  ///< tensors, and what they are where it is called

        Frame(std::shared_ptr<Module> from, std::shared_ptr<TracedModule> into, ModuleGraph& recorded)
            : source(std::move(from)), target(std::move(into)), graph(&recorded), paths(source) {}
        /// Below the source: as last read, or the first there is.
        std::optional<std::string> pathOf(const Module& module);
    };
    /// What a graph does to the tensors that it is given: they come out as further results.
    struct GraphEffects {
        std::vector<std::size_t> inputs;                 ///< tensors that are written
        std::vector<Memory::Effects::Shared> shared;     ///< what the result shows of the tensors
        std::vector<std::shared_ptr<const Slot>> slots;  ///< of the module: written
        bool anyWrite() const { return !inputs.empty() || !slots.empty(); }
    };
    struct Known {
        TracedNode* node;
        std::optional<tensor::Value> value;
    };
    /// What has been recorded that later code depends on without naming it.
    struct Progress {
        std::size_t changes, reforms, guards;
        bool operator==(const Progress&) const = default;
    };
    Progress progress() const;
    Var traceTop(const std::shared_ptr<Module>& module, std::vector<Var> args, const Keywords& keywords);
    void enter(std::shared_ptr<Module> source, std::shared_ptr<TracedModule> target, ModuleGraph& graph);
    Frame& frame() { return m_modules.back(); }
    /// "block0.conv1" of the node or graph whose qualname is "Net.block0.conv1".
    std::string pathInModel(const std::string& qualname) const;
    std::shared_ptr<TracedModule> shellOf(Module& module, bool isTop);
    std::shared_ptr<TracedModule> tracedChild(const std::string& path, Module& module);
    CallArguments settled(Module& module, std::vector<Var> arguments, const Keywords& keywords) const;
    /// Records the forward as a graph of `target`, with inputs named after the parameters.
    const TracedModule::Entry& recordGraph(const std::shared_ptr<Module>& source,
                                           const std::shared_ptr<TracedModule>& target, std::string name,
                                           std::string qualname, ModuleGraph* parent, const CallArguments& arguments,
                                           const CallStructure& structure, tensor::Value& result);
    /// The recorded graph, whose forward has returned that, as an entry of `target`.
    const TracedModule::Entry& finishGraph(const std::string& className, const std::string& forwardName,
                                           const std::shared_ptr<TracedModule>& target,
                                           const std::shared_ptr<ModuleGraph>& graph, const CallStructure& structure,
                                           const Var& returned);
    Var inputsOf(const Var& argument, const std::string& name, bool isContainer, std::size_t& leaf);
    bool isOpaque(const Module& module) const;
    Var callModule(Module& module, TracedNode* callee, const CallArguments& arguments, ModuleGraph* inner,
                   const Structure* outDef, std::optional<tensor::Value> result);
    tensor::Value runPaused(Module& module, const CallArguments& arguments);
    /// What the graph of the frame has done to its inputs; they become further results.
    GraphEffects takeEffects(const MemoryMark& mark, Var& returned);
    /// The caller's tensors after a call: `made` without the further results.
    Var applied(const GraphEffects& effects, const CallArguments& arguments, const Var& made);
    void shareResults(const GraphEffects& effects, const std::vector<Var>& tensors, const Var& result);
    void checkTensors(Module& module);
    /// The tracer's nodes as Memory asks for them.
    std::vector<std::int64_t> dimsOf(graph::NodeId node) const;
    void keepSize(graph::NodeId node, std::size_t axis);
    void shareWithArguments(const Var& made, const CallArguments& arguments);
    void checkSameWrites(Module& module, const GraphEffects& effects, const CallArguments& arguments, const Var& made);
    Var external(Module& module, std::vector<Var> arguments, const Keywords& keywords);

    TracedNode* moduleNode(const std::string& path);
    TracedNode* slotNode(const Slot& slot, const std::string& path);
    TracedNode* constantNode(const tensor::Tensor& tensor);
    Operand operandOf(const Var& var);
    Operand operandOf(const tensor::Value& value);
    tensor::Value valueIn(const Var& var) const;
    bool hasNumber(const Var& var) const;
    /// What the operation gives is a number that the size of a tensor decides.
    bool dependsOnSize(const graph::OpKey& op, const std::vector<Var>& arguments, const Keywords& keywords) const;
    /// The program was told the value of a node, or the length of one: any other is another program.
    void addGuard(TracedNode& node, KnownUse use, const tensor::Value& value);
    /// A graph further in has the tensor as a constant.
    void guardCaptured(TracedNode& node, const tensor::Value& tensor);
    void addGuardExpr(TracedNode& node, KnownUse use, const tensor::Value& asked, const GuardText& text);
    /// The operation reads elements of a tensor that may be others in another run: item, equal, bool(x).
    bool readsData(const graph::OpKey& op, const std::vector<Var>& arguments, const Keywords& keywords);
    bool hasData(const Var& var);
    bool hasUnknown(const Var& var) const;
    /// Nodes for the tensors of a result, and the proxies for them.
    Var outputsOf(TracedExpr& expr, const tensor::Value& result, const std::string& base, const std::string& qualname,
                  Structure& structure);
    Var numberOutput(TracedExpr& expr, const tensor::Value& result, const std::string& base,
                     const std::string& qualname, Structure& structure);
    Var recordSizeQuery(graph::OpKey op, std::vector<Var> arguments, Keywords keywords);
    Var unknownOutput(TracedExpr& expr, const std::string& base, const std::string& qualname);
    void checkAgain(const graph::OpKey& op, const std::vector<tensor::Value>& values,
                    const std::vector<std::pair<std::string, tensor::Value>>& named, std::size_t outputs,
                    const std::vector<tensor::Value>& results, const std::string& what);

    TraceModuleOptions m_options;
    std::shared_ptr<TracedModule> m_top;
    std::vector<Frame> m_modules;
    std::vector<Known> m_known;
    std::set<std::pair<const TracedNode*, KnownUse>> m_guarded;
    std::set<const TracedNode*> m_guardedCaptures;
    std::set<std::pair<const TracedNode*, std::size_t>> m_guardedSizes;
    std::set<const TracedNode*> m_read;  ///< numbers that are elements of tensors
    std::map<std::pair<const TracedModule*, std::string>, std::shared_ptr<TracedModule>> m_children;
    std::set<const Module*> m_shells;  ///< modules that this trace made
    std::map<const ModuleGraph*, GraphEffects> m_effects;
};

/// `came`: what the program was told of the node. `isOfSize`: sizes decide it, and not the data of a tensor.
GuardText guardText(const TracedNode& node, KnownUse use, const tensor::AttributeValue& came, bool isOfSize);
/// How a program asks for a number of that kind.
KnownUse plainUseOf(const tensor::Value& number);
/// Asks for nothing but the size of a tensor: size, shape, dim, numel, len.
bool isSizeQuery(const graph::OpKey& op, const std::vector<Var>& arguments);
/// Expr of a graph that stands for no value: a number must be what it was in the trace. Its arguments: the node, the
/// expected value, the kind of the guard, its sentence, and "traced with size(0) = 1 of x" (empty for what no size
/// decides).
bool isGuard(const TracedExpr& expr);
/// Throws TraceError (RuntimeError) unless the value is the expected one; of a proxy it is recorded.
void checkGuard(const TracedExpr& expr, const Var& value);
/// An assertion of the model: stands for no value, and is run for its effect.
bool isAssertion(const TracedExpr& expr);
/// The parts of a tensor that a symbolic tracer took from a list: another number of them is another program.
void guardParts(const TracedExpr& expr, const Var& list);

/// The function that a wrapped name stands for; null if there is none.
const std::function<Var(std::span<const Var>)>* wrappedFunction(const std::string& name);

/// What is expected and what came differ by more than this part of the larger (and are not both NaN); numbers below
/// `smallest` count as if they were that large.
base::Result<void> compareResults(const tensor::Value& expected, const tensor::Value& actual, double relative,
                                  double smallest = 0);

}  // namespace sonde::trace
