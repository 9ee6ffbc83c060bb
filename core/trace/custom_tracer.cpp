#include "core/trace/custom_tracer.h"

#include <algorithm>

#include "core/graph/purify.h"
#include "core/operators/traits.h"
#include "core/trace/function_module.h"

namespace sonde::trace {

using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Dim;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

namespace {

bool isContainer(const Value& value) {
    return value.kind() == ValueKind::List || value.kind() == ValueKind::Tuple || value.kind() == ValueKind::Dict;
}

void collectLeaves(const Value& value, std::vector<Value>& leaves) {
    if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) collectLeaves(item, leaves);
    } else if (isContainer(value)) {
        for (const Value& item : value.items()) collectLeaves(item, leaves);
    } else {
        leaves.push_back(value);
    }
}

std::vector<Value> leavesOf(const Value& value) {
    std::vector<Value> leaves;
    collectLeaves(value, leaves);
    return leaves;
}

/// A model with a placeholder for each leaf of its parameters. Its parts are the model's own, under their own names.
class TakenApart final : public Module {
  public:
    TakenApart(std::shared_ptr<Module> model, const ConcreteArguments& concrete)
        : m_model(std::move(model)), m_concrete(concrete) {
        for (const Child& child : m_model->children()) addChild(child.name, child.module);
        for (const NamedSlot& slot : m_model->ownTensors()) addSlot(slot.name, slot.slot);
    }
    std::string className() const override { return m_model->className(); }
    std::vector<ForwardParameter> signature() const override {
        std::vector<ForwardParameter> result;
        for (const ForwardParameter& parameter : m_model->signature()) {
            const Value& example = m_concrete.at(parameter.name);
            if (!isContainer(example)) {
                result.push_back(parameter);
                continue;
            }
            const std::vector<Value> leaves = leavesOf(example);
            for (std::size_t i = 0; i < leaves.size(); ++i)
                result.push_back({parameter.name + '_' + std::to_string(i), {}, false, leaves[i].isTensor()});
        }
        return result;
    }
    Var forward(std::span<const Var> in) override {
        std::vector<Var> arguments;
        std::size_t next = 0;
        for (const ForwardParameter& parameter : m_model->signature()) {
            const Value& example = m_concrete.at(parameter.name);
            const std::size_t count = isContainer(example) ? leavesOf(example).size() : 1;
            arguments.push_back(isContainer(example) ? treeUnflattenWithProxy(example, in.subspan(next, count))
                                                     : in[next]);
            next += count;
        }
        return m_model->forward(arguments);
    }

  private:
    std::shared_ptr<Module> m_model;
    ConcreteArguments m_concrete;
};

base::Result<void> checkConcrete(const Module& root, const ConcreteArguments& concrete) {
    std::string lacks;
    std::set<std::string> names;
    for (const ForwardParameter& parameter : root.signature()) {
        names.insert(parameter.name);
        if (!concrete.contains(parameter.name)) lacks += (lacks.empty() ? "" : ", ") + parameter.name;
    }
    std::string extra;
    for (const auto& [given, value] : concrete) {
        if (!names.contains(given)) extra += (extra.empty() ? "" : ", ") + given;
    }
    if (lacks.empty() && extra.empty()) return {};
    return base::usageError("AssertionError: Mismatch between the concrete values and the parameters of forward" +
                                (lacks.empty() ? "" : "; missing: " + lacks) +
                                (extra.empty() ? "" : "; unknown: " + extra),
                            root.className(), "provide a value for each parameter of forward, and no others");
}

/// The example's type with a symbol for each dim size that is neither 0 nor 1; equal dim sizes share one.
TypeInfo symbolicType(const Value& value, std::map<std::int64_t, std::string>& symbols) {
    TypeInfo type = TypeInfo::of(value);
    if (!type.shape) return type;
    for (Dim& dim : *type.shape) {
        if (dim.value < 2) continue;
        const auto symbol = symbols.try_emplace(dim.value, "s" + std::to_string(symbols.size())).first;
        dim = Dim::named(symbol->second);
    }
    return type;
}

void setExample(Expr& input, const Value& value, std::map<std::int64_t, std::string>& symbols) {
    switch (value.kind()) {
        case ValueKind::Tensor: input.attributes.set("example_value", value.tensor()); break;
        case ValueKind::Int: input.attributes.set("example_value", value.toInt()); break;
        case ValueKind::Bool: input.attributes.set("example_value", std::int64_t{value.toBool()}); break;
        case ValueKind::Float: input.attributes.set("example_value", value.toFloat()); break;
        default: input.attributes.set("example_value", value.text()); break;
    }
    input.attributes.set("val", symbolicType(value, symbols));
}

void annotate(graph::InternalGraph& graph, const Module& root, const ConcreteArguments& concrete) {
    std::map<std::string, Value> byPlaceholder;
    for (const ForwardParameter& parameter : root.signature()) {
        const Value& value = concrete.at(parameter.name);
        if (!isContainer(value)) {
            byPlaceholder.emplace(parameter.name, value);
            continue;
        }
        const std::vector<Value> leaves = leavesOf(value);
        for (std::size_t i = 0; i < leaves.size(); ++i)
            byPlaceholder.emplace(parameter.name + '_' + std::to_string(i), leaves[i]);
    }
    std::map<std::int64_t, std::string> symbols;
    for (NodeId node : graph.inputs()) {
        Expr& input = graph.mutableExpr(graph.node(node).producer);
        if (const auto found = byPlaceholder.find(input.target); found != byPlaceholder.end())
            setExample(input, found->second, symbols);
    }
}

/// cat's arguments by position and by name.
Var replacedCat(std::vector<Var> arguments, Keywords keywords) {
    std::optional<std::int64_t> dim, axis;
    Var out;
    const auto number = [](const Var& var) {
        return var.isNone() ? std::optional<std::int64_t>() : std::optional(var.toInt());
    };
    if (arguments.size() > 1) dim = number(arguments[1]);
    if (arguments.size() > 2) throw TraceError(TraceErrorKind::Type, "cat() takes two arguments by position");
    for (const auto& [name, value] : keywords) {
        if (name == "tensors" && arguments.empty()) arguments.push_back(value);
        else if (name == "dim") dim = number(value);
        else if (name == "axis") axis = number(value);
        else if (name == "out") out = value;
        else throw TraceError(TraceErrorKind::Type, "cat() got an unexpected keyword argument '" + name + "'");
    }
    if (arguments.empty()) throw TraceError(TraceErrorKind::Type, "cat() lacks its tensors");
    return CustomProxy::cat(arguments.front(), dim, out, axis);
}

}  // namespace

ReplacedFunctions::ReplacedFunctions()
    : m_cat("cat", replacedCat), m_cond("cond", [](std::vector<Var>, Keywords) -> Var {
          throw TraceError(TraceErrorKind::Type, "cond() takes a predicate, two functions and a list of operands");
      }) {}

base::Result<Tracer::GraphPtr> CustomTracer::trace(std::shared_ptr<Module> root, const ConcreteArguments& concrete) {
    CustomTraceOptions options;
    if (!concrete.empty()) options.concrete = concrete;
    return traceCustom(std::move(root), options);
}

base::Result<Tracer::GraphPtr> CustomTracer::trace(std::function<Var(std::span<const Var>)> function,
                                                   std::vector<ForwardParameter> parameters) {
    return traceCustom(std::move(function), std::move(parameters));
}

base::Result<Tracer::GraphPtr> CustomTracer::traceCustom(std::function<Var(std::span<const Var>)> function,
                                                         std::vector<ForwardParameter> parameters,
                                                         const CustomTraceOptions& options) {
    return traceCustom(std::make_shared<FunctionModule>(std::move(function), std::move(parameters), "Module"), options);
}

base::Result<Tracer::GraphPtr> CustomTracer::traceCustom(std::shared_ptr<Module> root,
                                                         const CustomTraceOptions& options) {
    try {
        return traceAndPurify(root, options);
    } catch (...) {  // of the model's own code before or after its forward
        return TraceError::ofCurrentException().toError({});
    }
}

base::Result<Tracer::GraphPtr> CustomTracer::traceAndPurify(const std::shared_ptr<Module>& root,
                                                            const CustomTraceOptions& options) {
    if (!root) return trace(root);  // says so
    m_tracedModel = nullptr;
    m_kinds.clear();
    std::shared_ptr<Module> traced = root;
    if (options.concrete) {
        SONDE_TRY(checkConcrete(*root, *options.concrete));
        const bool anyContainer =
            std::ranges::any_of(*options.concrete, [](const auto& entry) { return isContainer(entry.second); });
        if (anyContainer) traced = m_tracedModel = std::make_shared<TakenApart>(root, *options.concrete);
    }
    GraphPtr recorded;
    {
        const ReplacedFunctions replaced;
        SONDE_ASSIGN(recorded, ModulePathTracer::trace(traced, options.fixed));
    }
    if (options.concrete) annotate(*recorded, *root, *options.concrete);
    SONDE_TRY(finishGraph(root, options));
    return recorder().sharedGraph();
}

base::Result<void> CustomTracer::finishGraph(const std::shared_ptr<Module>& root, const CustomTraceOptions& options) {
    if (options.updateModel) {
        for (const auto& [name, function] : m_callables) root->addFunction(name, function.call);
    }
    // Passes take a graph as it must be: one that uses what was taken back would end the program in them.
    SONDE_TRY(graph().validate());
    const auto purify = m_options.purify ? m_options.purify : graph::purified;
    SONDE_ASSIGN(GraphPtr pure, purify(graph(), options.removeInPlace));
    recorder().setGraph(std::move(pure));
    return graph().validate();
}

bool CustomTracer::isLeafModule(const Module& module, std::string_view path) const {
    if (ModulePathTracer::isLeafModule(module, path)) return true;
    const auto rule = m_options.moduleLeaves.find(module.className());
    return rule != m_options.moduleLeaves.end() && rule->second(module, std::string(path));
}

std::optional<Value> CustomTracer::known(NodeId node, KnownUse use) {
    if (auto value = ModulePathTracer::known(node, use)) return value;
    if (use == KnownUse::Length) {
        throw refusal(TraceErrorKind::Length,
                      "len(.) expects an integer, len needs to be replaced. You should use _len. In C++: "
                      "CustomProxy(x).length(), which is a node");
    }
    return std::nullopt;
}

const tensor::Tensor* CustomTracer::parameterValue(NodeId node) {
    const Expr& expr = graph().expr(graph().node(node).producer);
    const auto& constant = graph().node(node).constant;
    return expr.kind == ExprKind::GetAttr && expr.isParameter && constant && constant->isTensor() ? &constant->tensor()
                                                                                                  : nullptr;
}

std::optional<Var> CustomTracer::answer(std::string_view name, bool isCall, const std::vector<Var>& arguments) {
    if (!m_options.paramShapesConstant || !parameterValue(arguments.front().node())) return std::nullopt;
    const CustomParameterProxy parameter(arguments.front());
    if (!isCall) {
        if (name == "shape") return Var(parameter.shape());
        if (name == "ndim") return Var(parameter.ndim());
        return std::nullopt;
    }
    const operators::Traits& traits = operators::traitsOf("aten", name);
    if (traits.opClass == operators::OpClass::Shape) {
        if (arguments.size() == 1) return Var(parameter.size());
        return arguments[1].isProxy() ? std::nullopt : std::optional(Var(parameter.size(arguments[1].toInt())));
    }
    if (arguments.size() > 1) return std::nullopt;
    if (traits.query == operators::ShapeQuery::Rank) return Var(parameter.dim());
    if (traits.query == operators::ShapeQuery::Count) return Var(parameter.numel());
    return std::nullopt;
}

std::optional<InstanceKind> CustomTracer::instanceKind(NodeId node) const {
    const auto found = m_kinds.find(node);
    return found == m_kinds.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace sonde::trace
