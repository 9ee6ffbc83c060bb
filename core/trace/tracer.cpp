#include "core/trace/tracer.h"

#include <utility>

#include "core/trace/function_module.h"
#include "core/trace/graph_recording.h"
#include "core/trace/leaf_recorder.h"
#include "core/trace/memory.h"
#include "core/trace/model_index.h"
#include "core/trace/pending_error.h"
#include "core/trace/root_recorder.h"
#include "core/trace/thread_state.h"

namespace sonde::trace {

using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

namespace {

/// Leaves in leaves: each is a body inside of the body of the one before, over which runs and readers recurse.
constexpr std::size_t kMaxBodies = 200;

template <typename T>
class Restore {
  public:
    explicit Restore(T& place) : m_place(place), m_before(place) {}
    ~Restore() { m_place = std::move(m_before); }
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;

  private:
    T& m_place;
    T m_before;
};

}  // namespace

/// What a tracer is put together from. They refer to each other, and to the tracer for its policy and its identity.
struct Tracer::Parts {
    /// `own`: instead of an InternalGraph; null: none.
    Parts(Tracer& tracer, Recording* own)
        : recorder(tracer, tracer, model, memory), graphRecording(recorder, model, memory),
          recording(own ? *own : graphRecording), memory(tracer, recording) {}

    ModelIndex model;
    PendingError pending;
    Recorder recorder;
    GraphRecording graphRecording;
    Recording& recording;
    Memory memory;
};

ActiveTracer::ActiveTracer(Tracer& tracer) : m_tracer(tracer), m_before(std::exchange(threadState().tracer, &tracer)) {}
ActiveTracer::~ActiveTracer() {
    threadState().tracer = m_before;
    m_tracer.recorder().end();
}

Tracer::Tracer(Recording* recording) : m_parts(std::make_unique<Parts>(*this, recording)) {}
Tracer::Tracer() : Tracer(nullptr) {}
Tracer::Tracer(Recording& recording) : Tracer(&recording) {}
Tracer::~Tracer() = default;

Tracer* Tracer::active() { return threadState().tracer; }

Recording& Tracer::recording() const { return m_parts->recording; }
Recorder& Tracer::recorder() const { return m_parts->recorder; }
Memory& Tracer::memory() const { return m_parts->memory; }
PendingError& Tracer::pendingError() { return m_parts->pending; }
const std::shared_ptr<Module>& Tracer::root() const { return m_parts->model.root(); }
const std::string* Tracer::pathOf(const Module& module) const { return m_parts->model.pathOf(module); }
const std::string& Tracer::currentModuleQualifiedName() const { return recorder().place().module; }
const std::optional<std::string>& Tracer::originOf(NodeId node) const {
    return graph().expr(graph().node(node).producer).qualname;
}
void Tracer::setValueOracle(std::shared_ptr<ValueOracle> oracle) { recorder().setOracle(std::move(oracle)); }

// --- one trace ------------------------------------------------------------------------------------------------------

void Tracer::begin(std::shared_ptr<Module> root) {
    m_callDepth = 0;
    m_calls.clear();
    m_visited.clear();
    m_failures.clear();
    m_parts->model.reset(std::move(root));
    recorder().begin();
    memory().clear();
    if (ValueOracle* oracle = recorder().oracle()) oracle->began(*this, graph());
}

base::Result<Tracer::GraphPtr> Tracer::trace(std::function<Var(std::span<const Var>)> function,
                                             std::vector<ForwardParameter> parameters) {
    return trace(std::make_shared<FunctionModule>(std::move(function), std::move(parameters), "Function"));
}

base::Result<Tracer::GraphPtr> Tracer::trace(std::shared_ptr<Module> root, const ConcreteArguments& concrete) {
    return recordedBy(std::move(root), [&] {
        RootRecorder record(recorder(), memory());
        record.finish(this->root()->forward(record.parameters(this->root()->signature(), concrete)));
    });
}

base::Result<Tracer::GraphPtr> Tracer::traceOpaque(std::shared_ptr<Module> root, const ConcreteArguments& concrete) {
    return recordedBy(std::move(root), [&] {
        RootRecorder record(recorder(), memory());
        const std::vector<ForwardParameter> signature = this->root()->signature();
        const CallArguments given = spread(signature, record.parameters(signature, concrete));
        record.finish(callLeaf(*this->root(), {}, given.positional, given.keywords));
    });
}

/// Everything that a root does while it is traced happens in here: what it throws, of whatever type, is the error.
base::Result<Tracer::GraphPtr> Tracer::recordedBy(std::shared_ptr<Module> root,
                                                  const std::function<void()>& recordAll) {
    m_failure.reset();
    pendingError().reset();
    try {
        if (!root) throw TraceError(TraceErrorKind::Value, "there is no module to trace");
        SONDE_TRY(checkHierarchy(*root));
        begin(std::move(root));
        const ActiveTracer active(*this);
        callModel({}, recorder().place().moduleClass, [&] {
            recordAll();
            pendingError().throwIfCaught();
        });
        SONDE_TRY(checkHierarchy(*this->root()));  // a forward may have added children
        if (auto* function = dynamic_cast<FunctionModule*>(this->root().get())) {
            for (const ModelIndex::Constant& constant : m_parts->model.constants())
                function->keepConstant(constant.path, constant.tensor);
        }
    } catch (...) {
        m_failure = TraceError::ofCurrentException();
        return m_failure->toError({});
    }
    return recorder().sharedGraph();
}

graph::ModuleTree Tracer::tree() const {
    graph::ModuleTree tree = moduleTree(*root());
    for (std::size_t i = 0; i < tree.modules().size(); ++i) {
        graph::ModuleInfo& info = tree.mutableModule(i);
        info.visited = i == 0 || m_visited.contains(info.qualname);
        // A leaf of the library is one call anyway: that its inside is opaque is no failure of the model.
        const Module* module = root()->find(info.qualname);
        const auto failure = m_failures.find(info.qualname);
        if (failure != m_failures.end() && !(module && module->isLibrary())) info.failure = failure->second;
    }
    graph::explainUnvisited(tree, [this](const std::string& qualname) {
        const Module* module = root()->find(qualname);
        return !qualname.empty() && module && isLeafModule(*module, qualname);
    });
    return tree;
}

// --- modules --------------------------------------------------------------------------------------------------------

Var Tracer::moduleCalled(Module& module, std::vector<Var> arguments, Keywords keywords) {
    const std::string* path = pathOf(module);
    if (!path) throw refusal(TraceErrorKind::Name, "module is not installed as a submodule");
    if (m_callDepth >= kMaxModuleDepth) {
        throw refusal(TraceErrorKind::Depth,
                      "modules call each other more than " + std::to_string(kMaxModuleDepth) + " deep");
    }
    if (recorder().bodies().size() > kMaxBodies)
        throw refusal(TraceErrorKind::Depth,
                      "leaves are inside of each other more than " + std::to_string(kMaxBodies) + " deep");
    const Restore restoreDepth(m_callDepth);
    ++m_callDepth;
    const bool insideOfLeaf = !recorder().bodies().isInMain();
    m_visited.insert(*path);
    if (!insideOfLeaf) moduleSeen(module);
    CodePlace& place = recorder().place();
    const Restore restoreModule(place.module);
    const Restore restoreClass(place.moduleClass);
    place.module = *path;
    place.moduleClass = module.className();
    if (isLeafModule(module, *path)) return callLeaf(module, *path, arguments, keywords);
    const ExprId mark(graph().exprCount());
    const std::optional<TraceError> raisedBefore = pendingError().get();
    try {
        return callThrough(module, *path, arguments, keywords);
    } catch (...) {
        const TraceError error = TraceError::ofCurrentException();
        if (insideOfLeaf || !absorbs(module, error)) throw;
        pendingError().reset(raisedBefore);
        m_failures.emplace(*path, error.message());
    }
    recorder().abandon(mark);
    return callLeaf(module, *path, arguments, keywords);
}

Var Tracer::callThrough(Module& module, const std::string& path, std::vector<Var> arguments, Keywords keywords) {
    BodyStack& bodies = recorder().bodies();
    const std::string& moduleClass = recorder().place().moduleClass;
    const graph::ScopeId caller = bodies.top().scope;
    struct Leave {
        BodyStack& bodies;
        std::size_t depth;
        graph::ScopeId scope;
        ~Leave() {
            bodies.leaveBeyond(depth);
            bodies.top().scope = scope;
        }
    } leave{bodies, bodies.size(), caller};
    bodies.top().scope = graph().addScope(caller, path, moduleClass, m_calls[path]++);
    return callModel(path, moduleClass, [&] {
        const Var result = module.forward(module.bound(std::move(arguments), keywords));
        pendingError().throwIfCaught();
        return result;
    });
}

Var Tracer::callLeaf(Module& module, const std::string& path, const std::vector<Var>& arguments,
                     const Keywords& keywords) {
    const Var result =
        recorder().record(ExprKind::CallModule, {}, path, path, arguments, keywords, module.makesTensor());
    const ExprId call = graph().node(result.node()).producer;
    LeafRecorder leaf(recorder(), recording(), memory(), *this, pendingError());
    if (const auto failure = leaf.recordBody(module, path, call, arguments, keywords)) {
        m_failures.emplace(path, *failure);
        leaf.makeOpaque(module, call, arguments, keywords, &module == root().get());
    }
    return result;
}

Var Tracer::parameterRead(const std::shared_ptr<const Slot>& slot) { return recorder().readParameter(slot); }

void Tracer::attributeAssigned(const Module*, const Slot* slot) {
    const std::string* path = m_parts->model.pathOf(slot);
    if (path && !recorder().bodies().empty())
        throw refusal(TraceErrorKind::Type, "a forward assigns another tensor to '" + *path +
                                                "' of the model, for which a graph has no operation");
}

// --- values ---------------------------------------------------------------------------------------------------------

bool Tracer::knowsValues() const { return recorder().oracle() != nullptr; }

bool Tracer::recordsControlFlow() const {
    return !knowsValues() && (m_recordsControlFlow || recorder().bodies().isInsideLeaf());
}

std::optional<Value> Tracer::valueOf(NodeId node, KnownUse use) {
    return pendingError().noting([&] { return known(current(node), use); });
}

std::optional<Value> Tracer::known(NodeId node, KnownUse use) {
    ValueOracle* oracle = recorder().oracle();
    return oracle ? oracle->known(node, use) : std::nullopt;
}

NodeId Tracer::current(NodeId node) const { return memory().current(node); }

TraceError Tracer::refusal(TraceErrorKind kind, const std::string& text) { return pendingError().refusal(kind, text); }

}  // namespace sonde::trace
