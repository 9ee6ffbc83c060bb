// Losses of classification: scores [N, C, D…], labels [N, D…].

#include <cmath>

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/normalize.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

/// loss = −weight[label]·logProbability[label], 0 where the label is ignored; then summed or averaged by weight.
base::Result<void> likelihood(KernelContext& context, const Tensor& logs, DType dtype) {
    const Tensor& labels = context.in({"labels", "target"});
    const Attributes& attributes = context.attributes();
    bool fits = logs.rank() >= 2 && labels.rank() + 1 == logs.rank() && labels.dim(0) == logs.dim(0);
    for (std::size_t i = 2; fits && i < logs.rank(); ++i) fits = logs.dim(i) == labels.dim(i - 1);
    if (!fits) return opError("labels " + labels.typeText() + " do not match scores " + logs.typeText());
    const std::int64_t classes = logs.dim(1), inner = labels.dim(0) > 0 ? labels.numel() / labels.dim(0) : 0;
    const Tensor* ofClasses = context.optionalIn({"weights", "weight"});
    if (ofClasses && ofClasses->numel() != classes)
        return opError("weights " + ofClasses->typeText() + " do not match " + std::to_string(classes) + " classes");
    const bool ignores = attributes.has("ignore_index");
    const std::int64_t ignored = attributes.getInt("ignore_index", 0);
    SONDE_ASSIGN(Tensor loss, wideZeros(labels.shape()));
    double total = 0, weights = 0;
    for (std::int64_t i = 0; i < labels.numel(); ++i) {
        const std::int64_t label = labels.toInt64(i);
        if (ignores && label == ignored) continue;
        if (label < 0 || label >= classes)
            return opError("label " + std::to_string(label) + " is outside " + std::to_string(classes) + " classes");
        const double weight = ofClasses ? ofClasses->toDouble(label) : 1.0;
        const double value = -weight * logs.data<double>()[(i / inner * classes + label) * inner + i % inner];
        loss.mutableData<double>()[i] = value;
        total += value;
        weights += weight;
    }
    const std::string reduction = attributes.getString("reduction", "mean");
    if (reduction == "none") return setNarrow(context, 0, loss, dtype);
    if (reduction != "sum" && reduction != "mean") return opError("reduction '" + reduction + "' is not supported");
    return setNarrow(context, 0, Tensor::scalar<double>(reduction == "sum" ? total : total / weights), dtype);
}

base::Result<void> crossEntropy(KernelContext& context) {
    const Tensor& scores = context.in("scores");
    if (scores.rank() < 2) return opError("scores " + scores.typeText() + " have no classes");
    SONDE_ASSIGN(const Tensor x, wide(scores));
    const Value inputs[] = {Value(x)};
    KernelContext inner(inputs, context.attributes(), 1, context.environment());
    SONDE_TRY(kernels::softmax(inner, x, 1, true));
    const std::vector<Value> logs = inner.takeOutputs();
    SONDE_TRY(setNarrow(context, "log_prob", logs[0].tensor(), scores.dtype()));
    return likelihood(context, logs[0].tensor(), scores.dtype());
}

base::Result<void> inferLoss(InferContext& context) {
    const bool none = context.attributes().getString("reduction", "mean") == "none";
    setLike(context, {"scores", "input"}, none ? context.in({"labels", "target"}).shape : std::optional(Dims{}));
    context.set(1, context.in({"scores", "input"}));
    return {};
}

}  // namespace

void define_losses(Registry& registry) {
    registry.add(Row("NegativeLogLikelihoodLoss", 12, "minus the log probability of the labels", Category::Reduction)
                     .in("input", kFloats, "T")
                     .in("target", kIndex)
                     .optionalIn("weight", kFloats, "T")
                     .out("loss")
                     .attr("ignore_index", AttributeKind::Int)
                     .attrString("reduction", "mean")
                     .runs(
                         [](KernelContext& context) -> base::Result<void> {
                             SONDE_ASSIGN(const Tensor logs, wide(context.in("input")));
                             return likelihood(context, logs, context.in("input").dtype());
                         },
                         inferLoss));
    registry.add(Row("SoftmaxCrossEntropyLoss", 12, "minus the log softmax of the labels", Category::Reduction)
                     .in("scores", kFloats, "T")
                     .in("labels", kIndex)
                     .optionalIn("weights", kFloats, "T")
                     .out("output")
                     .out("log_prob", Arity::Optional)
                     .attr("ignore_index", AttributeKind::Int)
                     .attrString("reduction", "mean")
                     .runs(crossEntropy, inferLoss));
    explain("", "NegativeLogLikelihoodLoss", dependence::likelihoodLoss);
    explain("", "SoftmaxCrossEntropyLoss", dependence::entropyLoss);
}

}  // namespace sonde::ops
