#include "core/passes/weights.h"

#include <algorithm>

#include "core/graph/replace_constant.h"

namespace sonde::passes {

std::vector<double> numbersOf(const Tensor& tensor) {
    std::vector<double> numbers(static_cast<std::size_t>(tensor.numel()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = tensor.toDouble(static_cast<std::int64_t>(i));
    return numbers;
}

base::Result<Tensor> tensorLike(const Tensor& like, const tensor::Shape& shape, const std::vector<double>& numbers) {
    SONDE_ASSIGN(Tensor wide, Tensor::allocate(tensor::DType::Float64, shape));
    std::copy(numbers.begin(), numbers.end(), wide.mutableData<double>());
    return wide.cast(like.dtype());
}

std::optional<KnownConv> knownConv(const InternalGraph& graph, ExprId id) {
    const Step step = stepOf(graph, id);
    if (step.opClass != OpClass::Conv) return std::nullopt;
    const Expr& expr = graph.expr(step.inner);
    if (expr.outputs.size() != 1) return std::nullopt;
    if (traitsOf(expr).is(Trait::MayTranspose) && boolOf(graph, argumentOf(expr, 6, "transposed"), true))
        return std::nullopt;
    const Argument* input = argumentOf(expr, 0, "input");
    const auto weight = tensorOf(graph, argumentOf(expr, 1, "weight"));
    if (!input || input->kind != Argument::Kind::Node || !weight || weight->tensor.rank() < 3 ||
        !tensor::isFloating(weight->tensor.dtype())) {
        return std::nullopt;
    }
    KnownConv conv{step, step.outside(graph, input->node), graph.expr(step.outer).outputs.front(), *weight,
                   std::nullopt};
    if (!conv.input.valid()) return std::nullopt;
    const Argument* bias = argumentOf(expr, 2, "bias");
    const Value* none = constantOf(graph, bias);
    if (bias && !(none && none->isNone())) {
        conv.bias = tensorOf(graph, bias);
        if (!conv.bias || conv.bias->tensor.rank() != 1 || conv.bias->tensor.dim(0) != weight->tensor.dim(0))
            return std::nullopt;
    }
    return conv;
}

void setKnownArgument(Rewrite& rewrite, ExprId id, std::size_t index, std::string_view keyword, Tensor value,
                      const std::string& wantedName, const std::string& why) {
    InternalGraph& graph = rewrite.graph();
    const Argument* argument = argumentOf(graph.expr(id), index, keyword);
    const bool isNode = argument && argument->kind == Argument::Kind::Node;
    const tensor::TypeInfo type = tensor::TypeInfo::tensor(value.dtype(), value.shape());
    if (isNode && rewrite.hasOneUse(argument->node)) {
        const NodeId node = argument->node;
        graph::replaceConstant(graph, node, Value(std::move(value)));
        graph.setType(node, type);
        // It is no longer what the model's attribute holds.
        graph.mutableExpr(graph.node(node).producer).kind = ExprKind::Constant;
        rewrite.say(node, why);
        return;
    }
    Expr expr;
    expr.kind = ExprKind::Constant;
    expr.isParameter = true;
    expr.target = wantedName;
    std::string name = wantedName;
    if (isNode) {
        const Expr& old = rewrite.producer(argument->node);
        expr.target = old.target;
        expr.qualname = old.qualname;
        expr.moduleClass = old.moduleClass;
        name = graph.node(argument->node).name;
    }
    const NodeId node = rewrite.output(rewrite.insertBefore(id, std::move(expr), name, why));
    graph.setConstant(node, Value(std::move(value)));
    graph.setType(node, type);
    std::vector<Argument> arguments = graph.expr(id).arguments;
    auto keywords = graph.expr(id).keywords;
    const auto named =
        std::find_if(keywords.begin(), keywords.end(), [&](const auto& each) { return each.first == keyword; });
    if (named != keywords.end()) {
        named->second = Argument::of(node);
    } else {
        if (arguments.size() <= index) arguments.resize(index + 1);
        arguments[index] = Argument::of(node);
    }
    graph.setArguments(id, std::move(arguments), std::move(keywords));
}

base::Result<void> scaleConv(Rewrite& rewrite, const KnownConv& conv, const std::vector<double>& scale,
                             const std::vector<double>& shift, const std::string& why) {
    InternalGraph& graph = rewrite.graph();
    const Tensor& weight = conv.weight.tensor;
    std::vector<double> numbers = numbersOf(weight);
    const std::size_t perChannel = scale.empty() ? 0 : numbers.size() / scale.size();
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= scale[i / perChannel];
    SONDE_ASSIGN(Tensor scaled, tensorLike(weight, weight.shape(), numbers));
    std::vector<double> bias(scale.size(), 0);
    if (conv.bias) bias = numbersOf(conv.bias->tensor);
    for (std::size_t k = 0; k < bias.size(); ++k) bias[k] = bias[k] * scale[k] + shift[k];
    SONDE_ASSIGN(Tensor moved, tensorLike(weight, {static_cast<std::int64_t>(bias.size())}, bias));

    // A module that is called elsewhere, too, keeps its weights there: this call gets a copy of it.
    Expr& outer = graph.mutableExpr(conv.step.outer);
    if (outer.kind == ExprKind::CallModule) {
        std::size_t calls = 0;
        for (ExprId id : graph.body(outer.body).order) {
            calls += graph.expr(id).kind == ExprKind::CallModule && graph.expr(id).target == outer.target ? 1 : 0;
        }
        if (calls > 1) outer.target += "_1";
    }
    const std::string weightName = graph.node(conv.weight.node).name;
    std::string biasName = graph.node(conv.output).name + "_bias";
    if (const std::size_t at = weightName.rfind("weight"); at != std::string::npos)
        biasName = weightName.substr(0, at) + "bias" + weightName.substr(at + 6);
    setKnownArgument(rewrite, conv.step.inner, 1, "weight", std::move(scaled), weightName, why);
    const bool allZero = std::all_of(bias.begin(), bias.end(), [](double each) { return each == 0; });
    if (conv.bias || !allZero) setKnownArgument(rewrite, conv.step.inner, 2, "bias", std::move(moved), biasName, why);
    rewrite.revalue(conv.output, why);
    const NodeId inside = graph.expr(conv.step.inner).outputs.front();
    if (inside != conv.output) rewrite.revalue(inside, why);
    return {};
}

}  // namespace sonde::passes
