// conv -> batch norm with known statistics is one conv: s = γ / sqrt(var + ε), w' = w·s by output channel,
// b' = β + γ (b − mean) / sqrt(var + ε).

#include <cmath>

#include "core/passes/all_passes.h"
#include "core/passes/shared_memory.h"
#include "core/passes/weights.h"

namespace sonde::passes {

namespace {

struct KnownNorm {
    Step step;
    NodeId input, output;  ///< in the caller's body
    std::vector<double> gamma, beta, mean, variance;
    double epsilon = 1e-5;
    std::vector<NodeId> constants;
};

/// A vector of `channels` numbers; `fallback` everywhere if it is left out. None: it is computed, or has another size.
std::optional<std::vector<double>> vectorOf(const InternalGraph& graph, const Argument* argument, std::size_t channels,
                                            double fallback, std::vector<NodeId>& constants) {
    const Value* value = constantOf(graph, argument);
    if (!argument || (value && value->isNone())) return std::vector<double>(channels, fallback);
    if (!value || !value->isTensor() || value->tensor().numel() != static_cast<std::int64_t>(channels))
        return std::nullopt;
    if (argument->kind == Argument::Kind::Node) constants.push_back(argument->node);
    return numbersOf(value->tensor());
}

std::optional<KnownNorm> knownNorm(const InternalGraph& graph, ExprId id) {
    const Step step = stepOf(graph, id);
    if (step.opClass != OpClass::BatchNorm) return std::nullopt;
    const Expr& expr = graph.expr(step.inner);
    const Argument* input = argumentOf(expr, 0, "input");
    if (!input || input->kind != Argument::Kind::Node || expr.outputs.size() != 1) return std::nullopt;
    KnownNorm norm{step, step.outside(graph, input->node), graph.expr(step.outer).outputs.front(), {}, {}, {}, {}, 1e-5,
                   {}};
    if (!norm.input.valid()) return std::nullopt;
    const bool onnx = familyOf(expr) == Family::Onnx;
    if (onnx) {
        if (expr.attributes.getInt("training_mode", 0) != 0 || expr.attributes.getInt("spatial", 1) != 1)
            return std::nullopt;
        norm.epsilon = expr.attributes.getFloat("epsilon", 1e-5);
    } else {
        if (boolOf(graph, argumentOf(expr, 5, "training"), true)) return std::nullopt;
        if (const auto epsilon = scalarOf(graph, argumentOf(expr, 7, "eps"))) norm.epsilon = *epsilon;
    }
    // Without statistics of its own a norm takes those of its input.
    const auto mean = tensorOf(graph, argumentOf(expr, 3, "running_mean"));
    const auto variance = tensorOf(graph, argumentOf(expr, 4, "running_var"));
    if (!mean || !variance) return std::nullopt;
    const auto channels = static_cast<std::size_t>(mean->tensor.numel());
    const auto gamma = vectorOf(graph, argumentOf(expr, 1, "weight"), channels, 1, norm.constants);
    const auto beta = vectorOf(graph, argumentOf(expr, 2, "bias"), channels, 0, norm.constants);
    const auto spread = vectorOf(graph, argumentOf(expr, 4, "running_var"), channels, 1, norm.constants);
    if (!gamma || !beta || !spread) return std::nullopt;
    norm.constants.push_back(mean->node);
    norm.gamma = *gamma;
    norm.beta = *beta;
    norm.mean = numbersOf(mean->tensor);
    norm.variance = *spread;
    return norm;
}

base::Result<bool> fuse(Rewrite& rewrite, const SharedMemory& memory, ExprId id) {
    InternalGraph& graph = rewrite.graph();
    const auto norm = knownNorm(graph, id);
    if (!norm) return false;
    const ExprId producer = graph.node(norm->input).producer;
    if (graph.expr(producer).body != graph.expr(id).body) return false;
    const auto conv = knownConv(graph, producer);
    if (!conv || conv->output != norm->input || !rewrite.hasOneUse(conv->output)) return false;
    const auto readsWritten = [&](const Step& step) {
        return memory.readsWrittenConstant(graph, graph.expr(step.inner));
    };
    if (readsWritten(norm->step) || readsWritten(conv->step)) return false;
    const auto channels = static_cast<std::size_t>(conv->weight.tensor.dim(0));
    if (channels != norm->mean.size()) return false;
    std::vector<double> scale(channels), shift(channels);
    for (std::size_t k = 0; k < channels; ++k) {
        scale[k] = norm->gamma[k] / std::sqrt(norm->variance[k] + norm->epsilon);
        shift[k] = norm->beta[k] - norm->mean[k] * scale[k];
    }
    const std::string normName = graph.node(norm->output).name;
    const std::string why = "includes the scale and shift of " + normName;
    rewrite.addOrigins(producer, id);
    SONDE_TRY(scaleConv(rewrite, *conv, scale, shift, why));
    const std::string gone =
        "its scale and shift were folded into the weight and bias of " + graph.node(conv->output).name;
    rewrite.replace(norm->output, conv->output, gone);
    rewrite.erase(id, gone);
    if (norm->step.outer == norm->step.inner) {
        for (NodeId constant : norm->constants) {
            if (!graph.isErased(graph.node(constant).producer)) rewrite.eraseIfUnusedConstant(constant, gone);
        }
    }
    return true;
}

}  // namespace

base::Result<std::size_t> fuseConvBn(Rewrite& rewrite) {
    const SharedMemory memory(rewrite.graph());
    std::size_t count = 0;
    for (BodyId body : rewrite.bodies()) {
        const std::vector<ExprId> order = rewrite.graph().body(body).order;
        for (ExprId id : order) {
            if (rewrite.graph().isErased(id)) continue;
            SONDE_ASSIGN(const bool fused, fuse(rewrite, memory, id));
            count += fused ? 1 : 0;
        }
    }
    return count;
}

}  // namespace sonde::passes
