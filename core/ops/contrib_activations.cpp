// com.microsoft: activations with what goes before them.

#include "core/ops/dependence/rules.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// x + bias for a bias that may be left out.
Tensor biased(Eager& e, const Tensor& x, Name bias = "bias") {
    return e.has(bias) ? e("add.Tensor", x, widened(e, bias)) : x;
}

Tensor gelu(Eager& e, const Tensor& x, const char* approximate) {
    return e.onnx("Gelu", {Value(x)}, {{"approximate", std::string(approximate)}});
}

EagerKernel biasedGelu(const char* approximate) {
    return [approximate](Eager& e) -> EagerResult {
        // BiasGelu calls them A and B, FastGelu X and bias.
        return e.as(gelu(e, biased(e, widened(e, {"X", "A"}), {"bias", "B"}), approximate),
                    e.tensor({"X", "A"}).dtype());
    };
}

/// x·sigmoid(alpha·x)
EagerResult quickGelu(Eager& e) {
    const double alpha = e.context().attributes().getFloat("alpha", 1.702);
    return e.as(e.onnx("Swish", {Value(widened(e, "X"))}, {{"alpha", alpha}}), e.tensor("X").dtype());
}

/// (x + bias) + skip
EagerResult biasAdd(Eager& e) {
    return e.as(e("add.Tensor", biased(e, widened(e, "X")), widened(e, "skip")), e.tensor("X").dtype());
}

/// x + bias in two halves along the last axis: left · gelu(right)
EagerResult biasSplitGelu(Eager& e) {
    const Tensor sum = biased(e, widened(e, "X"));
    if (sum.rank() < 1 || sum.dim(sum.rank() - 1) % 2) e.fail(sum.typeText() + " cannot be halved");
    const std::size_t last = sum.rank() - 1;
    const std::int64_t half = sum.dim(last) / 2;
    const Tensor left = sum.sliced(last, 0, half), right = sum.sliced(last, half, half);
    return e.as(e("mul.Tensor", left, gelu(e, e.get(right.contiguous()), "none")), e.tensor("X").dtype());
}

base::Result<void> inferHalved(InferContext& context) {
    std::optional<Dims> dims = context.in("X").shape;
    if (dims && !dims->empty()) dims->back() = dims->back().known() ? Dim::of(dims->back().value / 2) : Dim{};
    setLike(context, "X", std::move(dims));
    return {};
}

/// softmax over the axes from `axis` on, flattened, of data + bias. The bias lacks some of the axes before `axis`: the
/// last of them (is_inner_broadcast) or the first.
EagerResult biasSoftmax(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Tensor x = widened(e, "data");
    Tensor bias = widened(e, "bias");
    const std::size_t axis = e.axisOf(attributes.getInt("axis", 1), x.rank());
    if (attributes.getInt("is_inner_broadcast", 0) != 0 && bias.rank() < x.rank()) {
        // [batch…, softmax…]: ones are put in front of the part that softmax runs over.
        const std::size_t tail = x.rank() - axis;
        if (bias.rank() < tail) e.fail("bias " + bias.typeText() + " does not match " + x.typeText());
        std::vector<std::int64_t> dims = bias.shape().dims();
        dims.insert(dims.end() - static_cast<std::ptrdiff_t>(tail), x.rank() - bias.rank(), 1);
        bias = e.reshape(bias, Shape(std::move(dims)));
    }
    const Tensor sum = e("add.Tensor", x, bias);
    if (sum.shape() != x.shape()) e.fail("bias " + bias.typeText() + " does not match " + x.typeText());
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < x.rank(); ++i) (i < axis ? outer : inner) *= x.dim(i);
    return e.as(e.reshape(e("softmax.int", e.reshape(sum, Shape{outer, inner}), 1), x.shape()),
                e.tensor("data").dtype());
}

/// gelu(x·w + bias), by tanh
EagerResult gemmFastGelu(Eager& e) {
    return e.as(gelu(e, biased(e, e("matmul", widened(e, "X"), widened(e, "W"))), "tanh"), e.tensor("X").dtype());
}

base::Result<void> inferProduct(InferContext& context) { return inferAs(context, "", "MatMul", {"X", "W"}); }

}  // namespace

void define_contrib_activations(Registry& registry) {
    registry.add(contribRow("BiasGelu", "gelu(A + B), exactly", Category::Activation)
                     .in("A", kFloats, "T")
                     .in("B", kFloats, "T")
                     .out("C")
                     .runs(biasedGelu("none"), inferSame));
    registry.add(contribRow("FastGelu", "gelu(X + bias), by tanh", Category::Activation)
                     .in("X", kFloats, "T")
                     .optionalIn("bias", kFloats, "T")
                     .out("Y")
                     .runs(biasedGelu("tanh"), inferSame));
    registry.add(contribRow("QuickGelu", "x·sigmoid(alpha·x)", Category::Activation)
                     .in("X", kFloats, "T")
                     .out("Y")
                     .attrFloat("alpha", 1.702)
                     .runs(quickGelu, inferSame));
    registry.add(contribRow("BiasAdd", "X + bias + skip", Category::Elementwise)
                     .in("X", kFloats, "T")
                     .in("bias", kFloats, "T")
                     .in("skip", kFloats, "T")
                     .out("Y")
                     .runs(biasAdd, inferSame));
    registry.add(
        contribRow("BiasSplitGelu", "the left half of X + bias times gelu of its right half", Category::Activation)
            .in("X", kFloats, "T")
            .in("bias", kFloats, "T")
            .out("Y")
            .runs(biasSplitGelu, inferHalved));
    registry.add(contribRow("BiasSoftmax", "softmax(data + bias) over the axes from `axis` on", Category::Activation)
                     .in("data", kFloats, "T")
                     .in("bias", kFloats, "T")
                     .out("output")
                     .attrInt("axis", 1)
                     .required("is_inner_broadcast", AttributeKind::Int)
                     .runs(biasSoftmax, inferSame));
    registry.add(contribRow("GemmFastGelu", "gelu(X·W + bias), by tanh", Category::Layer)
                     .in("X", kContribFloats, "T")
                     .in("W", kContribFloats, "T")
                     .optionalIn("bias", kContribFloats, "T")
                     .out("Y")
                     .runs(gemmFastGelu, inferProduct));
    explain("com.microsoft", "BiasGelu FastGelu", dependence::elementWise);
    explain("com.microsoft", "QuickGelu", dependence::elementWise, "x * sigmoid(alpha * x)");
    explain("com.microsoft", "BiasAdd", dependence::elementWise, "x + y + z");
}

}  // namespace sonde::ops
