#include "core/trace/traced_module/fuse_conv_bn.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/operators/traits.h"
#include "core/trace/traced_module/builtin_graphs.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using operators::OpClass;
using tensor::Tensor;
using tensor::Value;
using Kind = TracedExpr::Kind;

namespace {

/// A call of a built-in module that does nothing but one operation.
struct Layer {
    TracedExpr* call;
    std::shared_ptr<TracedModule> module;  ///< with its graph
    std::size_t position;                  ///< of the operation in the body of the graph

    ModuleGraph& graph() const { return *module->entries().front().graph; }
    TracedExpr& operation() const { return *graph().body()[position]; }
    std::string path() const { return call->inputs().front()->expr().target(); }
};

const operators::Traits& traitsOf(const TracedExpr& expr) {
    return operators::traitsOf(expr.operation().op.domain, expr.operation().op.name);
}

/// Position of the one operation of a graph, beside reads, sizes and what checks them; nothing if there are others, or
/// if it is of another class.
std::optional<std::size_t> onlyOperation(const ModuleGraph& graph, OpClass opClass) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < graph.body().size(); ++i) {
        const TracedExpr& expr = *graph.body()[i];
        const bool isNumber = !expr.outputs().empty() && std::ranges::all_of(expr.outputs(), &TracedNode::isNumber);
        if (expr.kind() == Kind::GetAttr || expr.kind() == Kind::Constant || isNumber || isGuard(expr) ||
            isAssertion(expr)) {
            continue;
        }
        if (found || expr.isModuleCall() || traitsOf(expr).opClass != opClass) return std::nullopt;
        found = i;
    }
    const bool isResult = found && graph.outputs() == graph.body()[*found]->outputs() && graph.outputs().size() == 1;
    return isResult ? found : std::nullopt;
}

/// An argument by its position in the operator's schema or by its name; null if it was left out.
const Operand* argumentOf(const TracedExpr& expr, std::size_t index, std::string_view name) {
    for (const auto& [keyword, operand] : expr.keywords()) {
        if (keyword == name) return &operand;
    }
    return index < expr.args().size() ? &expr.args()[index] : nullptr;
}

bool isNone(const Operand* operand) {
    return !operand || (operand->kind == Operand::Kind::Constant && operand->constant.isNone());
}

bool isFalse(const Operand* operand) {
    return operand && operand->kind == Operand::Kind::Constant && operand->constant.kind() == tensor::ValueKind::Bool &&
           !operand->constant.toBool();
}

/// The stored tensor of a module that an argument reads; null if it is anything else.
std::shared_ptr<Slot> slotOf(const Layer& layer, const Operand* operand) {
    if (!operand || operand->kind != Operand::Kind::Node) return nullptr;
    const TracedExpr& read = operand->node->expr();
    if (read.kind() != Kind::GetAttr || read.inputs().front() != layer.graph().inputs().front()) return nullptr;
    for (const Module::NamedSlot& named : layer.module->ownTensors()) {
        if (named.name == read.target() && named.slot->value.defined()) return named.slot;
    }
    return nullptr;
}

std::vector<double> numbersOf(const Tensor& tensor) {
    std::vector<double> numbers(static_cast<std::size_t>(tensor.numel()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = tensor.toDouble(static_cast<std::int64_t>(i));
    return numbers;
}

base::Result<std::shared_ptr<Slot>> slotWith(const std::vector<double>& numbers, const tensor::Shape& shape,
                                             tensor::DType dtype) {
    SONDE_ASSIGN(Tensor wide, Tensor::allocate(tensor::DType::Float64, shape));
    std::ranges::copy(numbers, wide.mutableData<double>());
    auto slot = std::make_shared<Slot>();
    slot->kind = Slot::Kind::Parameter;
    SONDE_ASSIGN(slot->value, wide.cast(dtype));
    return slot;
}

/// y = x·scale + shift by channel.
struct Affine {
    std::vector<double> scale, shift;
};

std::optional<Affine> affineOf(const Layer& norm) {
    const TracedExpr& expr = norm.operation();
    if (!isFalse(argumentOf(expr, 5, "training"))) return std::nullopt;
    const auto mean = slotOf(norm, argumentOf(expr, 3, "running_mean"));
    const auto variance = slotOf(norm, argumentOf(expr, 4, "running_var"));
    const Operand *weight = argumentOf(expr, 1, "weight"), *bias = argumentOf(expr, 2, "bias");
    const auto gamma = slotOf(norm, weight), beta = slotOf(norm, bias);
    if (!mean || !variance || (!gamma && !isNone(weight)) || (!beta && !isNone(bias))) return std::nullopt;
    const Operand* epsilon = argumentOf(expr, 7, "eps");
    if (!epsilon || epsilon->kind != Operand::Kind::Constant) return std::nullopt;
    const std::vector<double> means = numbersOf(mean->value), variances = numbersOf(variance->value);
    Affine affine{std::vector<double>(means.size(), 1), std::vector<double>(means.size(), 0)};
    if (gamma) affine.scale = numbersOf(gamma->value);
    if (beta) affine.shift = numbersOf(beta->value);
    if (variances.size() != means.size() || affine.scale.size() != means.size() || affine.shift.size() != means.size())
        return std::nullopt;
    for (std::size_t i = 0; i < means.size(); ++i) {
        affine.scale[i] /= std::sqrt(variances[i] + Var(epsilon->constant).toFloat());
        affine.shift[i] -= means[i] * affine.scale[i];
    }
    return affine;
}

/// What of a convolution's module can be given other numbers: its weight, and its bias if it has one.
struct ConvSlots {
    std::shared_ptr<Slot> weight, bias;
};

std::optional<ConvSlots> convSlots(const Layer& conv) {
    const TracedExpr& expr = conv.operation();
    const Operand* biasArgument = argumentOf(expr, 2, "bias");
    ConvSlots slots{slotOf(conv, argumentOf(expr, 1, "weight")), slotOf(conv, biasArgument)};
    const bool fits = slots.weight && slots.weight->value.rank() >= 3 && (slots.bias || isNone(biasArgument)) &&
                      tensor::isFloating(slots.weight->value.dtype());
    return fits ? std::optional(std::move(slots)) : std::nullopt;
}

/// A copy of the convolution's module with other numbers; it gets a bias if it has none. `conv` has convSlots().
std::shared_ptr<TracedModule> withNumbers(const Layer& conv, std::shared_ptr<Slot> newWeight,
                                          std::shared_ptr<Slot> newBias) {
    const Layer copy{conv.call, conv.module->clone(), conv.position};
    TracedExpr& operation = copy.operation();
    const std::string weightName = argumentOf(operation, 1, "weight")->node->expr().target();
    copy.module->addSlot(weightName, std::move(newWeight));
    if (!newBias) return copy.module;
    if (const Operand* bias = argumentOf(operation, 2, "bias"); !isNone(bias)) {
        copy.module->addSlot(bias->node->expr().target(), std::move(newBias));
        return copy.module;
    }
    const tensor::TypeInfo type = tensor::TypeInfo::of(Value(newBias->value));
    copy.module->addSlot("bias", std::move(newBias));
    ModuleGraph& graph = copy.graph();
    GraphBuilder builder(graph);
    TracedNode* read = builder.addGetAttr(graph.inputs().front(), "bias", graph.qualname() + ".bias", "bias", false);
    GraphBuilder::setType(*read, type);
    builder.moveTail(graph.body().size() - 1, 0);
    std::vector<Operand> args = operation.args();
    auto keywords = operation.keywords();
    const auto named = std::ranges::find(keywords, "bias", &std::pair<std::string, Operand>::first);
    if (named != keywords.end()) named->second = Operand(read);
    else if (args.size() > 2) args[2] = Operand(read);
    else args.emplace_back(read);
    builder.setArguments(operation, std::move(args), std::move(keywords));
    return copy.module;
}

/// A copy of the convolution's module with the scale and shift in its weight and bias; null if they are not stored.
base::Result<std::shared_ptr<TracedModule>> scaled(const Layer& conv, const Affine& affine) {
    const TracedExpr& expr = conv.operation();
    const bool mayTranspose = traitsOf(expr).is(operators::Trait::MayTranspose);
    const auto slots = convSlots(conv);
    const bool fits = slots && slots->weight->value.dim(0) == static_cast<std::int64_t>(affine.scale.size()) &&
                      (!mayTranspose || isFalse(argumentOf(expr, 6, "transposed")));
    if (!fits) return std::shared_ptr<TracedModule>();
    const Tensor& weight = slots->weight->value;
    std::vector<double> weights = numbersOf(weight), biases = affine.shift;
    const std::size_t perChannel = weights.size() / affine.scale.size();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= affine.scale[i / perChannel];
    if (slots->bias) {
        const std::vector<double> before = numbersOf(slots->bias->value);
        for (std::size_t i = 0; i < biases.size(); ++i) biases[i] += before[i] * affine.scale[i];
    }
    SONDE_ASSIGN(auto newWeight, slotWith(weights, weight.shape(), weight.dtype()));
    SONDE_ASSIGN(auto newBias, slotWith(biases, {static_cast<std::int64_t>(biases.size())}, weight.dtype()));
    return withNumbers(conv, std::move(newWeight), std::move(newBias));
}

/// Puts a module where the path leads, below the owner of a graph.
void install(ModuleGraph& graph, const std::string& path, std::shared_ptr<Module> module) {
    const std::size_t dot = path.rfind('.');
    const auto owner = graph.owner();
    Module* parent = dot == std::string::npos ? owner.get() : owner->find(std::string_view(path).substr(0, dot));
    if (parent) parent->addChild(dot == std::string::npos ? path : path.substr(dot + 1), std::move(module));
}

}  // namespace

class ConvBnFuser {
  public:
    explicit ConvBnFuser(TracedModule& module) : m_module(module), m_builtins(module) {}

    base::Result<void> run() {
        countCalls();
        return fuseIn(m_module);
    }

    void countCalls() { countCalls(m_module); }

    /// The call as a layer, if it is one of that class: of one tensor, read from the module that owns the graph.
    base::Result<std::optional<Layer>> layerOf(TracedExpr& call, OpClass opClass) {
        const bool isCall = call.isModuleCall() && !call.innerGraph() && call.outputs().size() == 1 &&
                            call.args().size() == 2 && call.args()[1].kind == Operand::Kind::Node &&
                            call.keywords().empty() && call.outDef().kind == Structure::Kind::Tensor;
        const TracedExpr* read = isCall ? &call.inputs().front()->expr() : nullptr;
        if (!read || read->kind() != Kind::GetAttr || read->inputs().front() != call.graph().inputs().front())
            return std::optional<Layer>();
        const auto owner = call.inputs().front()->owner();
        if (!owner || !owner->isLibrary()) return std::optional<Layer>();
        m_alive.push_back(owner);
        SONDE_ASSIGN(const auto inside, m_builtins.of(owner));
        const auto traced = std::dynamic_pointer_cast<TracedModule>(inside);
        if (!traced || traced->entries().size() != 1) return std::optional<Layer>();
        const auto position = onlyOperation(*traced->entries().front().graph, opClass);
        return position ? std::optional(Layer{&call, traced, *position}) : std::nullopt;
    }

    /// A call gets this convolution. Other calls of the one that it had keep that.
    void installConv(ModuleGraph& graph, const Layer& conv, std::shared_ptr<TracedModule> fused) {
        TracedNode* callee = conv.call->inputs().front();
        std::string path = conv.path();
        if (m_calls[callee->owner().get()] <= 1) {
            install(graph, path, std::move(fused));
            return;
        }
        --m_calls[callee->owner().get()];
        do path += "_1";
        while (graph.owner()->find(path));
        install(graph, path, std::move(fused));
        GraphBuilder builder(graph);
        TracedNode* read =
            builder.addGetAttr(graph.inputs().front(), path, callee->qualname() + "_1", callee->name(), true);
        GraphBuilder::setModuleType(*read, callee->moduleType());
        builder.moveTail(graph.body().size() - 1, 0);
        std::vector<Operand> args = conv.call->args();
        args.front() = Operand(read);
        builder.setArguments(*conv.call, std::move(args), conv.call->keywords());
    }

  private:
    void countCalls(const TracedModule& module) {
        if (module.isLibrary() || !m_counted.insert(&module).second) return;
        for (const TracedModule::Entry& entry : module.entries()) {
            for (const TracedExpr* expr : entry.graph->body()) {
                if (expr->isModuleCall()) ++m_calls[expr->inputs().front()->owner().get()];
            }
        }
        for (const Module::Child& child : module.children()) {
            if (const auto* traced = dynamic_cast<const TracedModule*>(child.module.get())) countCalls(*traced);
        }
    }

    base::Result<void> fuseIn(TracedModule& module) {
        if (module.isLibrary() || !m_fused.insert(&module).second) return {};
        for (const TracedModule::Entry& entry : module.entries()) {
            const std::vector<TracedExpr*> body = entry.graph->body();
            bool any = false;
            for (TracedExpr* expr : body) {
                SONDE_ASSIGN(const bool fused, fuse(*entry.graph, *expr));
                any = any || fused;
            }
            if (any) entry.graph->compile();
        }
        for (const Module::Child& child : std::vector(module.children())) {
            if (auto* traced = dynamic_cast<TracedModule*>(child.module.get())) SONDE_TRY(fuseIn(*traced));
        }
        return {};
    }

    base::Result<bool> fuse(ModuleGraph& graph, TracedExpr& expr) {
        if (!expr.isModuleCall() || expr.args().size() < 2 || expr.args()[1].kind != Operand::Kind::Node) return false;
        TracedNode* between = expr.args()[1].node;
        const bool hasOtherUse =
            between->users().size() != 1 || std::ranges::find(graph.outputs(), between) != graph.outputs().end();
        if (hasOtherUse || !between->expr().isModuleCall()) return false;
        SONDE_ASSIGN(const auto norm, layerOf(expr, OpClass::BatchNorm));
        if (!norm) return false;
        SONDE_ASSIGN(const auto conv, layerOf(between->expr(), OpClass::Conv));
        const auto affine = conv ? affineOf(*norm) : std::nullopt;
        if (!affine) return false;
        SONDE_ASSIGN(auto fused, scaled(*conv, *affine));
        if (!fused) return false;
        installConv(graph, *conv, std::move(fused));
        installIdentity(graph, *norm);
        SONDE_TRY(graph.replaceNode({{expr.outputs().front(), between}}));
        return true;
    }

    /// A norm that nothing else calls goes, and its numbers with it.
    void installIdentity(ModuleGraph& graph, const Layer& norm) {
        const auto owner = norm.call->inputs().front()->owner();
        if (m_calls[owner.get()] > 1) {
            --m_calls[owner.get()];
            return;
        }
        auto identity = std::make_shared<TracedModule>("Identity", owner->signature(), false);
        identity->setBuiltin(true);
        install(graph, norm.path(), std::move(identity));
    }

    TracedModule& m_module;
    BuiltinGraphs m_builtins;
    std::map<const Module*, std::size_t> m_calls;  ///< of modules, in all graphs
    std::vector<std::shared_ptr<Module>> m_alive;  ///< addresses are keys: what is replaced must not go
    std::set<const TracedModule*> m_counted, m_fused;
};

base::Result<std::shared_ptr<TracedModule>> fuseConvBn(const TracedModule& module) {
    auto copy = module.clone();
    SONDE_TRY(ConvBnFuser(*copy).run());
    SONDE_TRY(checkHierarchy(*copy));
    return copy;
}

struct LayerModules::Impl {
    ConvBnFuser layers;
};

LayerModules::LayerModules(TracedModule& module) : m_impl(std::make_unique<Impl>(Impl{ConvBnFuser(module)})) {
    m_impl->layers.countCalls();
}
LayerModules::~LayerModules() = default;

base::Result<std::optional<LayerCall>> LayerModules::of(TracedExpr& call) {
    SONDE_ASSIGN(std::optional<Layer> layer, m_impl->layers.layerOf(call, OpClass::Conv));
    if (layer && !convSlots(*layer)) return std::optional<LayerCall>();
    if (!layer) {
        SONDE_ASSIGN(layer, m_impl->layers.layerOf(call, OpClass::BatchNorm));
    }
    if (!layer || layer->graph().inputs().size() != 2) return std::optional<LayerCall>();
    LayerCall made{&layer->operation(), layer->graph().inputs()[1], {}};
    const auto add = [&](const Operand& operand) {
        if (auto slot = slotOf(*layer, &operand)) made.stored.emplace_back(operand.node, std::move(slot));
    };
    for (const Operand& operand : made.operation->args()) add(operand);
    for (const auto& [name, operand] : made.operation->keywords()) add(operand);
    return std::optional(std::move(made));
}

base::Result<void> LayerModules::setWeights(ModuleGraph& graph, TracedExpr& call, const Tensor& weight,
                                            const Tensor& bias) {
    SONDE_ASSIGN(const auto conv, m_impl->layers.layerOf(call, OpClass::Conv));
    const auto slots = conv ? convSlots(*conv) : std::nullopt;
    if (!slots) return base::usageError("a pass changed the weights of a module that is no convolution", graph.name());
    const auto slotOfTensor = [](const Tensor& tensor) {
        auto slot = std::make_shared<Slot>();
        slot->kind = Slot::Kind::Parameter;
        slot->value = tensor;
        return slot;
    };
    m_impl->layers.installConv(graph, *conv,
                               withNumbers(*conv, slotOfTensor(weight), bias.defined() ? slotOfTensor(bias) : nullptr));
    return {};
}

}  // namespace sonde::trace
