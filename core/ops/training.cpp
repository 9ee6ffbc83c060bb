// Optimiser steps of domain ai.onnx.preview.training. https://onnx.ai/onnx/operators/ (Momentum, Adagrad, Adam).

#include <cmath>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// Inputs R (rate), T (step), then groups of tensors: all X, all G, then the states. One call per tensor of the group.
struct Step {
    double rate;
    std::int64_t count;  ///< of updates made before
    std::size_t tensors;
};

base::Result<Step> stepOf(const KernelContext& context, std::size_t groups) {
    SONDE_ASSIGN(const double rate, numberOf(context.value("R")));
    SONDE_ASSIGN(const std::int64_t count, intOf(context.value("T")));
    const std::size_t first = context.position("inputs"), rest = context.inputCount() - first;
    if (rest == 0 || rest % groups != 0) return opError("takes groups of " + std::to_string(groups) + " tensors");
    const std::size_t tensors = rest / groups;
    for (std::size_t i = 0; i < rest; ++i) {
        const Tensor& tensor = context.in(first + i);
        const Tensor& updated = context.in(first + i % tensors);
        if (tensor.shape() != updated.shape() || tensor.dtype() != updated.dtype()) {
            return opError("a state is " + tensor.typeText() + " where the tensor is " + updated.typeText());
        }
    }
    return Step{rate, count, tensors};
}

/// Calls update(x, g, states …) for each element in double precision and stores the results. `Update` gets and changes
/// an array of [x, g, state1, state2].
template <typename Update>
base::Result<void> updateAll(KernelContext& context, const Step& step, std::size_t states, Update update) {
    const std::size_t first = context.position("inputs");
    for (std::size_t k = 0; k < step.tensors; ++k) {
        const Tensor& x = context.in(first + k);
        std::vector<Tensor> results;
        for (std::size_t s = 0; s <= states; ++s) {
            const std::size_t output = s * step.tensors + k;
            if (output >= context.outputCount()) return opError("has too few outputs");
            SONDE_ASSIGN(Tensor result, context.output(output, x.dtype(), x.shape()));
            results.push_back(std::move(result));
        }
        for (std::int64_t i = 0; i < x.numel(); ++i) {
            double values[4] = {};
            for (std::size_t s = 0; s < 2 + states; ++s)
                values[s] = context.in(first + s * step.tensors + k).toDouble(i);
            update(values);
            const double made[3] = {values[0], values[2], values[3]};
            for (std::size_t s = 0; s <= states; ++s) {
                if (x.dtype() == DType::Float32) results[s].mutableData<float>()[i] = static_cast<float>(made[s]);
                else results[s].mutableData<double>()[i] = made[s];
            }
        }
    }
    return {};
}

/// g' = norm·x + g; v' = alpha·v + beta·g' (beta is 1 at the first update); x' = x − r·v' (standard) or
/// x − r·(g' + alpha·v') (nesterov).
base::Result<void> momentum(KernelContext& context) {
    SONDE_ASSIGN(const Step step, stepOf(context, 3));
    const double alpha = context.attributes().getFloat("alpha", 0);
    const double beta = step.count > 0 ? context.attributes().getFloat("beta", 1) : 1.0;
    const double norm = context.attributes().getFloat("norm_coefficient", 0);
    const bool nesterov = context.attributes().getString("mode", "standard") == "nesterov";
    return updateAll(context, step, 1, [=](double* v) {
        const double gradient = norm * v[0] + v[1];
        v[2] = alpha * v[2] + beta * gradient;
        v[0] -= step.rate * (nesterov ? gradient + alpha * v[2] : v[2]);
    });
}

/// r' = r / (1 + t·decay); g' = norm·x + g; h' = h + g'²; x' = x − r'·g' / (sqrt(h') + epsilon).
base::Result<void> adagrad(KernelContext& context) {
    SONDE_ASSIGN(const Step step, stepOf(context, 3));
    const double rate =
        step.rate / (1 + static_cast<double>(step.count) * context.attributes().getFloat("decay_factor", 0));
    const double norm = context.attributes().getFloat("norm_coefficient", 0);
    const double epsilon = context.attributes().getFloat("epsilon", 0);
    return updateAll(context, step, 1, [=](double* v) {
        const double gradient = norm * v[0] + v[1];
        v[2] += gradient * gradient;
        v[0] -= rate * gradient / (std::sqrt(v[2]) + epsilon);
    });
}

/// v' = alpha·v + (1−alpha)·g'; h' = beta·h + (1−beta)·g'²; the rate is corrected for the bias of the first updates.
base::Result<void> adam(KernelContext& context) {
    SONDE_ASSIGN(const Step step, stepOf(context, 4));
    const double alpha = context.attributes().getFloat("alpha", 0.9);
    const double beta = context.attributes().getFloat("beta", 0.999);
    const double norm = context.attributes().getFloat("norm_coefficient", 0);
    const double after = context.attributes().getFloat("norm_coefficient_post", 0);
    const double epsilon = context.attributes().getFloat("epsilon", 0);
    const auto t = static_cast<double>(step.count);
    const double rate =
        step.count > 0 ? step.rate * std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : step.rate;
    return updateAll(context, step, 2, [=](double* v) {
        const double gradient = norm * v[0] + v[1];
        v[2] = alpha * v[2] + (1 - alpha) * gradient;
        v[3] = beta * v[3] + (1 - beta) * gradient * gradient;
        v[0] = (1 - after) * (v[0] - rate * v[2] / (std::sqrt(v[3]) + epsilon));
    });
}

/// passes/gradient.cpp replaces a Gradient by operators when a model is opened.
base::Result<void> gradient(KernelContext&) {
    return opError("could not be written as operators when the model was opened; the findings about the model say why");
}

/// Tensors, then `states` of each, like the tensors; the inputs are rate, step, tensors, gradients, states.
template <std::size_t states>
base::Result<void> inferStep(InferContext& context) {
    const std::size_t tensors = context.outputCount() / (1 + states), first = context.position("inputs");
    for (std::size_t i = 0; tensors > 0 && i < context.outputCount(); ++i)
        context.set(i, context.in(first + i % tensors));
    return {};
}

/// One derivative, of the shape of what it is by, for each name in xs; these are the first inputs.
base::Result<void> inferGradient(InferContext& context) {
    for (std::size_t i = 0; i < context.outputCount() && i < context.attributes().getStrings("xs").size(); ++i)
        context.set(i, context.in(i));
    return {};
}

}  // namespace

void define_training(Registry& registry) {
    constexpr DTypeSet kTrained = bit(DType::Float32) | bit(DType::Float64);
    const auto row = [](std::string_view name, std::string_view summary) {
        Row made(name, 1, summary, Category::Other);
        made.domain("ai.onnx.preview.training")
            .in("R", kTrained)
            .in("T", kInt64)
            .variadicIn("inputs", kTrained)
            .out("outputs", Arity::Variadic)
            .attrFloat("norm_coefficient", 0);
        return made;
    };
    registry.add(Row("Gradient", 1, "Derivatives of a tensor of the graph by others", Category::Other)
                     .domain("ai.onnx.preview.training")
                     .variadicIn("inputs")
                     .out("outputs", Arity::Variadic)
                     .required("xs", AttributeKind::Strings)
                     .attr("zs", AttributeKind::Strings)
                     .required("y", AttributeKind::String)
                     .runs(gradient, inferGradient));
    registry.add(row("Momentum", "One step of stochastic gradient descent with momentum")
                     .required("alpha", AttributeKind::Float)
                     .required("beta", AttributeKind::Float)
                     .required("mode", AttributeKind::String)
                     .runs(momentum, inferStep<1>));
    registry.add(row("Adagrad", "One step of the adaptive gradient method")
                     .attrFloat("decay_factor", 0)
                     .attrFloat("epsilon", 0)
                     .runs(adagrad, inferStep<1>));
    registry.add(row("Adam", "One step of adaptive moment estimation")
                     .attrFloat("alpha", 0.9)
                     .attrFloat("beta", 0.999)
                     .attrFloat("epsilon", 0)
                     .attrFloat("norm_coefficient_post", 0)
                     .runs(adam, inferStep<2>));
}

}  // namespace sonde::ops
