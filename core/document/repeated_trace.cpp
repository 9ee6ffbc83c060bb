#include "core/document/repeated_trace.h"

#include <algorithm>
#include <exception>

#include "core/analysis/infer.h"
#include "core/analysis/profile.h"
#include "core/document/evaluator.h"
#include "core/document/inferred_values.h"
#include "core/document/model_passes.h"
#include "core/document/traced_model.h"
#include "core/exec/recompute.h"
#include "core/exec/runner.h"
#include "core/operators/traits.h"
#include "core/passes/pass.h"
#include "core/trace/concrete_run.h"
#include "core/trace/error.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/repetition.h"

namespace sonde::document {

namespace {

using graph::Argument;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;
using Values = std::vector<Value>;
using GraphPtr = std::shared_ptr<const InternalGraph>;

constexpr std::size_t kMinProfiledCalls = 2;
constexpr std::size_t kMaxForms = 8;  // compiled at a time, for functions that alternate what they return

/// Reads of shapes are answered with integers where the shapes follow from those of the inputs.
class FunctionTracer final : public trace::ModulePathTracer {
  public:
    explicit FunctionTracer(std::shared_ptr<InferredValues> shapes) : m_shapes(std::move(shapes)) {}

    std::optional<trace::Var> answer(std::string_view name, bool isCall,
                                     const std::vector<trace::Var>& arguments) override {
        using operators::ShapeQuery;
        if (!m_shapes) return std::nullopt;
        const ShapeQuery query = isCall            ? operators::traitsOf("aten", name).query
                                 : name == "shape" ? ShapeQuery::Shape
                                 : name == "ndim"  ? ShapeQuery::Rank
                                                   : ShapeQuery::None;
        if (query == ShapeQuery::None) return std::nullopt;
        const auto shape = m_shapes->shapeOf(arguments.front().node());
        if (!shape) return std::nullopt;
        if (query == ShapeQuery::Rank) return trace::Var(shape->rank());
        if (query == ShapeQuery::Count) return trace::Var(shape->numel());
        if (query != ShapeQuery::Shape) return std::nullopt;
        if (arguments.size() == 1) return trace::Var(shape->dims());
        return arguments[1].isProxy() ? std::nullopt : std::optional(trace::Var(shape->dims())[arguments[1]]);
    }

  private:
    std::shared_ptr<InferredValues> m_shapes;
};

/// Each operator runs by itself while somebody observes.
class OneByOne final : public exec::RunObserver {};

/// Nothing in it stands for data: numbers, texts, None and containers of them.
bool isPlain(const Value& value) {
    if (value.isTensor()) return false;
    if (value.isListLike()) return std::ranges::all_of(value.items(), isPlain);
    if (value.kind() != tensor::ValueKind::Dict) return value.kind() != tensor::ValueKind::Object;
    return std::ranges::all_of(value.dictItems(), [](const auto& item) { return isPlain(item.second); });
}

/// A plain argument, or none for one that is an input of the recording.
using PlainArguments = std::vector<std::optional<Value>>;

/// The function of the inputs that are not plain; an exception of its own that passes through is kept in `thrown`.
RepeatedTrace::Function boundFunction(const RepeatedTrace::Function& function, const PlainArguments& plain,
                                      std::exception_ptr& thrown) {
    return [&function, &plain, &thrown](std::span<const trace::Var> inputs) {
        std::vector<trace::Var> arguments;
        std::size_t next = 0;
        for (const auto& each : plain) arguments.push_back(each ? trace::Var(*each) : inputs[next++]);
        try {
            return function(arguments);
        } catch (const trace::TraceError&) {
            throw;
        } catch (...) {
            thrown = std::current_exception();
            throw;
        }
    };
}

/// The tensors that are neither inputs nor computed.
Values capturedTensors(const InternalGraph& graph) {
    Values captured;
    for (const graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        for (const NodeId node : graph.expr(id).outputs) {
            const auto& constant = graph.node(node).constant;
            if (constant && constant->isTensor()) captured.push_back(*constant);
        }
    }
    return captured;
}

bool isSameTensor(const Value& a, const Value& b) {
    const tensor::Tensor &left = a.tensor(), &right = b.tensor();
    const bool isSameMemory = left.storage() == right.storage() && left.offsetElements() == right.offsetElements() &&
                              left.dtype() == right.dtype() && left.shape() == right.shape() &&
                              left.strides() == right.strides();
    return isSameMemory || tensor::identical(left, right);
}

bool hasSameCaptures(const InternalGraph& a, const InternalGraph& b) {
    return std::ranges::equal(capturedTensors(a), capturedTensors(b), isSameTensor);
}

/// What a trace was compiled to.
struct CompiledForm {
    GraphPtr source;  ///< the recording with the tensors that were captured last
    GraphPtr graph;
    std::shared_ptr<const exec::Plan> plan;
    std::vector<passes::PassReport> reports;
};

/// Forms in the order of their last use, the latest first.
class CompiledForms {
  public:
    const CompiledForm* latest() const { return m_forms.empty() ? nullptr : &m_forms.front(); }

    /// Makes the form that gives what the trace, which did not mismatch, returns the latest one. Where the same
    /// operations return other values, or the same in another order, or guards decided otherwise, a form does not.
    /// Those of tensors that were captured earlier go: they hold these tensors.
    bool use(const InternalGraph& trace) {
        std::erase_if(m_forms, [&](const CompiledForm& form) { return !hasSameCaptures(*form.source, trace); });
        const auto found = std::ranges::find_if(
            m_forms, [&](const CompiledForm& form) { return trace::repeatsResult(*form.source, trace, true); });
        if (found == m_forms.end()) return false;
        std::rotate(m_forms.begin(), found, found + 1);
        return true;
    }

    void add(CompiledForm form) {
        if (m_forms.size() == kMaxForms) m_forms.pop_back();
        m_forms.insert(m_forms.begin(), std::move(form));
    }

  private:
    std::vector<CompiledForm> m_forms;
};

bool returnsNothing(const Argument& result) {
    const bool isContainer = result.kind == Argument::Kind::List || result.kind == Argument::Kind::Tuple ||
                             result.kind == Argument::Kind::Dict;
    return result.kind == Argument::Kind::Omitted || (isContainer && result.items.empty()) ||
           (result.kind == Argument::Kind::Constant && result.constant.isNone());
}

/// With capture_as_const: a tensor, a flat list or tuple of tensors, or a dict of tensors by name.
base::Result<void> checkResult(const InternalGraph& graph) {
    const Argument& result = graph.main().result;
    if (returnsNothing(result)) return {};
    const auto isTensor = [&graph](const Argument& item) {
        if (item.kind == Argument::Kind::Constant) return item.constant.isTensor();
        if (item.kind != Argument::Kind::Node) return false;
        const auto& kind = graph.node(item.node).type.kind;
        return !kind || *kind == tensor::ValueKind::Tensor;
    };
    const bool isOne = result.kind == Argument::Kind::Node || result.kind == Argument::Kind::Constant;
    const bool hasNames =
        std::ranges::all_of(result.keys, [](const Value& key) { return key.kind() == tensor::ValueKind::String; });
    const bool isRight =
        isOne ? isTensor(result)
              : result.kind != Argument::Kind::Slice && hasNames && std::ranges::all_of(result.items, isTensor);
    if (isRight) return {};
    return base::usageError(
        "TypeError: with capture_as_const a function returns a tensor, a list or tuple of tensors, or a dict of "
        "tensors by name");
}

/// The leaves of what a function returns, in order: those that are no nodes as they are, nodes by their values in
/// order.
void collectResults(const Argument& result, std::span<const Value>& ofNodes, Values& into) {
    if (result.kind == Argument::Kind::Node) {
        into.push_back(ofNodes.front());
        ofNodes = ofNodes.subspan(1);
    } else if (result.kind == Argument::Kind::Constant) {
        into.push_back(result.constant);
    }
    for (const Argument& item : result.items) collectResults(item, ofNodes, into);
}

Values resultsOf(const InternalGraph& graph, std::span<const Value> outputs) {
    Values results;
    const Argument& result = graph.main().result;
    if (!returnsNothing(result)) collectResults(result, outputs, results);
    return results;
}

/// The types of the inputs, their shapes only if `keepsShapes`, and what follows from them.
void inferFrom(InternalGraph& graph, std::span<const Value> inputs, bool keepsShapes) {
    for (std::size_t i = 0; i < inputs.size() && i < graph.inputs().size(); ++i) {
        tensor::TypeInfo type = tensor::TypeInfo::of(inputs[i]);
        if (!keepsShapes && type.shape) type.shape = std::vector<tensor::Dim>(type.shape->size());
        graph.setType(graph.inputs()[i], std::move(type));
    }
    base::Diagnostics findings;
    analysis::inferTypes(graph, findings);
}

}  // namespace

struct RepeatedTrace::Impl {
    /// What a call of the function records.
    struct Traced {
        std::shared_ptr<InternalGraph> graph;
        graph::ModuleTree tree;
    };

    Impl(Function called, std::vector<trace::ForwardParameter> of, TraceOptions how)
        : function(std::move(called)), parameters(std::move(of)), options(how), runner(0) {}

    Function function;
    std::vector<trace::ForwardParameter> parameters;
    TraceOptions options;
    PlainArguments recordedPlain;                 ///< of the first call
    std::vector<tensor::TypeInfo> recordedTypes;  ///< of its other arguments
    GraphPtr recorded;
    graph::ModuleTree tree;
    CompiledForms forms;
    std::size_t compiledCalls = 0;
    std::optional<exec::Recording> profile;
    GraphPtr profiled;  ///< what it is of
    exec::Runner runner;

    base::Result<Values> call(std::span<const Value> given, const base::WorkContext& work);
    base::Result<void> checkArguments(std::span<const Value> values) const;
    base::Result<void> checkRepeated(std::span<const Value> values) const;
    base::Result<Traced> trace(const PlainArguments& plain, const Values& inputs) const;
    base::Result<void> compile(GraphPtr from, const Values& inputs, const base::WorkContext& work);
    base::Result<GraphPtr> withLessMemory(GraphPtr graph, const Values& inputs, const base::WorkContext& work);
    base::Result<Values> runCompiled(const Values& inputs, const base::WorkContext& work);
    base::Result<exec::Recording> run(const exec::Plan& of, const Values& inputs, bool fuses,
                                      const base::WorkContext& work);
};

base::Result<void> RepeatedTrace::Impl::checkArguments(std::span<const Value> values) const {
    for (std::size_t i = 0; i < values.size() && options.capturesConstants(); ++i) {
        if (!values[i].isTensor() && !parameters[i].keywordOnly)
            return base::usageError("Only support tensor type args when capture_as_const is enabled",
                                    parameters[i].name);
    }
    return {};
}

/// What only the function could see must be as it was when it was called.
base::Result<void> RepeatedTrace::Impl::checkRepeated(std::span<const Value> values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string where = "argument '" + parameters[i].name + "'";
        if (recordedPlain[i] || isPlain(values[i])) {
            if (recordedPlain[i] && tensor::identical(values[i], *recordedPlain[i])) continue;
            return base::runError("trace error because tensors not equals", where,
                                  "with without_host such arguments are those of the recording");
        }
        if (!values[i].isTensor()) continue;
        const tensor::TypeInfo type = tensor::TypeInfo::of(values[i]);
        if (type.dtype != recordedTypes[i].dtype) {
            return base::runError(
                "trace error because dtype mismatch: " + std::string(tensor::name(recordedTypes[i].dtype)) + " vs " +
                    std::string(tensor::name(type.dtype)),
                where);
        }
        if (!options.symbolicShape && type != recordedTypes[i]) {
            return base::runError("the recording has the integers of another shape: " + recordedTypes[i].text() +
                                      " was recorded, " + type.text() + " was given",
                                  where, "set symbolicShape");
        }
    }
    return {};
}

base::Result<RepeatedTrace::Impl::Traced> RepeatedTrace::Impl::trace(const PlainArguments& plain,
                                                                     const Values& inputs) const {
    std::vector<trace::ForwardParameter> open;
    std::map<std::string, Value> examples;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (plain[i]) continue;
        examples.emplace(parameters[i].name, inputs[open.size()]);
        open.push_back(parameters[i]);
    }
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    const auto run =
        options.isSymbolic() ? nullptr : std::make_shared<trace::ConcreteRun>(std::move(examples), kernelEvaluator());
    const auto inferred = std::make_shared<InferredValues>(inputs, kernelEvaluator(), run);
    FunctionTracer tracer(options.symbolicShape ? nullptr : inferred);
    tracer.setValueOracle(inferred);
    // Tracers make an error of whatever a model throws; what this function throws is its caller's.
    std::exception_ptr thrown;
    auto traced = tracer.trace(boundFunction(function, plain, thrown), std::move(open));
    if (thrown) std::rethrow_exception(thrown);
    SONDE_ASSIGN(auto graph, std::move(traced));
    if (run) run->finish(*graph);
    else inferFrom(*graph, inputs, !options.symbolicShape);
    return Traced{std::move(graph), tracer.tree()};
}

base::Result<void> RepeatedTrace::Impl::compile(GraphPtr from, const Values& inputs, const base::WorkContext& work) {
    passes::PassContext context;
    context.evaluate = passEvaluator();
    const std::vector<std::string> ids =
        options.imperative ? std::vector<std::string>() : passesOfLevel(options.level());
    SONDE_ASSIGN(passes::PassResult made, passes::runPasses(*from, ids, context, work));
    SONDE_ASSIGN(GraphPtr graph, withLessMemory(std::move(made.graph), inputs, work));
    SONDE_ASSIGN(auto plan, exec::Plan::make(graph, {}));
    forms.add({std::move(from), std::move(graph), std::move(plan), std::move(made.reports)});
    return {};
}

/// What values take is measured on these inputs.
base::Result<GraphPtr> RepeatedTrace::Impl::withLessMemory(GraphPtr graph, const Values& inputs,
                                                           const base::WorkContext& work) {
    if (!options.sublinearMemoryConfig && !options.dtrConfig) return graph;
    SONDE_ASSIGN(const auto whole, exec::Plan::make(graph, {}));
    SONDE_ASSIGN(const exec::Measurement measurement, exec::measure(runner, *whole, inputs, work));
    SONDE_ASSIGN(exec::Recomputed less,
                 options.dtrConfig ? exec::recomputeDtr(*whole, measurement, *options.dtrConfig)
                                   : exec::recomputeSublinear(*whole, measurement, *options.sublinearMemoryConfig));
    return std::move(less.graph);
}

base::Result<exec::Recording> RepeatedTrace::Impl::run(const exec::Plan& of, const Values& inputs, bool fuses,
                                                       const base::WorkContext& work) {
    OneByOne single;
    exec::RunOptions how;
    if (!fuses) how.observer = &single;
    exec::Recording recording = runner.run(of, inputs, work, how);
    if (recording.error) return *recording.error;
    return recording;
}

base::Result<Values> RepeatedTrace::Impl::runCompiled(const Values& inputs, const base::WorkContext& work) {
    const bool fuses = !options.imperative && options.level() >= kFusingLevel;
    const CompiledForm& form = *forms.latest();
    SONDE_ASSIGN(exec::Recording recording, run(*form.plan, inputs, fuses, work));
    if (options.optLevel < 0) {
        auto same = outputComparer({inputs}, work)(form.source, form.graph);
        if (!same) return std::move(same).error().withNote("opt_level " + std::to_string(options.optLevel));
    }
    ++compiledCalls;
    Values outputs = resultsOf(*form.graph, recording.outputs);
    if (options.profiling) {
        profile = std::move(recording);
        profiled = form.graph;
    }
    return outputs;
}

base::Result<Values> RepeatedTrace::Impl::call(std::span<const Value> given, const base::WorkContext& work) {
    SONDE_TRY(options.check());
    if (given.size() != parameters.size()) {
        return base::usageError(std::to_string(given.size()) + " inputs for a function of " +
                                std::to_string(parameters.size()));
    }
    Values all(given.begin(), given.end()), inputs;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].isNone() && parameters[i].fallback) all[i] = *parameters[i].fallback;
    }
    SONDE_TRY(checkArguments(all));
    PlainArguments plain(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (isPlain(all[i])) plain[i] = all[i];
        else inputs.push_back(all[i]);
    }
    const bool isFirst = !recorded;
    Traced traced;
    GraphPtr uncompiled;  // what has no compiled form yet
    if (isFirst || !options.withoutHost) {
        SONDE_ASSIGN(traced, trace(plain, inputs));
        if (options.capturesConstants()) SONDE_TRY(checkResult(*traced.graph));
        if (recorded) {
            const auto reason = trace::repetitionMismatch(*recorded, *traced.graph, !options.capturesConstants());
            if (reason) return base::runError("trace error because " + *reason);
        }
        if (!forms.use(*traced.graph)) uncompiled = traced.graph;
    } else {
        SONDE_TRY(checkRepeated(all));
        if (!forms.latest()) uncompiled = recorded;
    }
    Values outputs;
    if (options.recordOnly) {
        // Nothing is run.
    } else if (isFirst && !options.symbolic) {
        SONDE_ASSIGN(const auto eager, exec::Plan::make(traced.graph, {}));
        SONDE_ASSIGN(exec::Recording recording, run(*eager, inputs, true, work));
        outputs = resultsOf(*traced.graph, recording.outputs);
    } else {
        if (uncompiled) SONDE_TRY(compile(std::move(uncompiled), inputs, work));
        SONDE_ASSIGN(outputs, runCompiled(inputs, work));
    }
    if (isFirst) {
        for (const Value& value : all) recordedTypes.push_back(tensor::TypeInfo::of(value));
        recordedPlain = std::move(plain);
        recorded = traced.graph;
        tree = std::move(traced.tree);
    }
    return outputs;
}

RepeatedTrace::RepeatedTrace(Function function, std::vector<trace::ForwardParameter> parameters, TraceOptions options)
    : m_impl(std::make_unique<Impl>(std::move(function), std::move(parameters), options)) {}
RepeatedTrace::~RepeatedTrace() = default;
RepeatedTrace::RepeatedTrace(RepeatedTrace&&) noexcept = default;
RepeatedTrace& RepeatedTrace::operator=(RepeatedTrace&&) noexcept = default;

base::Result<Values> RepeatedTrace::call(std::span<const Value> inputs, const base::WorkContext& work) {
    return m_impl->call(inputs, work);
}

const TraceOptions& RepeatedTrace::options() const { return m_impl->options; }
const GraphPtr& RepeatedTrace::recorded() const { return m_impl->recorded; }
GraphPtr RepeatedTrace::compiled() const {
    const CompiledForm* form = m_impl->forms.latest();
    return form ? form->graph : nullptr;
}
std::vector<passes::PassReport> RepeatedTrace::passReports() const {
    const CompiledForm* form = m_impl->forms.latest();
    return form ? form->reports : std::vector<passes::PassReport>();
}

base::Result<std::string> RepeatedTrace::getProfile() const {
    if (!m_impl->options.profiling)
        return base::usageError("there is no profile: profiling was off", {}, "set TraceOptions::profiling");
    if (m_impl->compiledCalls < kMinProfiledCalls) {
        return base::usageError("a profile needs " + std::to_string(kMinProfiledCalls) +
                                " calls of the compiled form, not " + std::to_string(m_impl->compiledCalls));
    }
    return analysis::profileJson(*m_impl->profiled, *m_impl->profile);
}

base::Result<std::shared_ptr<const Document>> RepeatedTrace::document(const base::WorkContext& work) const {
    const TraceOptions& options = m_impl->options;
    if (!options.capturesConstants())
        return base::usageError("ValueError: you must specify capture_as_const=True at __init__ to use dump", {},
                                "set TraceOptions::captureAsConst");
    if (!m_impl->recorded) return base::usageError("nothing is recorded: call the function first");
    if (returnsNothing(m_impl->recorded->main().result))
        return base::usageError("the traced function without return values cannot be dumped");
    TracedGraph traced{std::make_shared<InternalGraph>(*m_impl->recorded), m_impl->tree, {}, {}};
    std::shared_ptr<Document> made = documentOf(std::move(traced), {}, {}, work);
    made->title = made->location = m_impl->recorded->name;
    made->format = "recorded function";
    made->properties.emplace_back(kOptLevelProperty, std::to_string(options.level()));
    return std::shared_ptr<const Document>(std::move(made));
}

}  // namespace sonde::document
