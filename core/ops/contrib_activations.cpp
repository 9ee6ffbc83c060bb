// com.microsoft: activations with what goes before them.

#include "core/ops/dependence/products.h"
#include "core/ops/dependence/region.h"
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

base::Result<Dependence> productGeluTerms(const ElementCall& call) {
    Dependence made;
    SONDE_TRY(dependence::addMatrixProduct(made, call, call.context.position("X"), call.context.position("W")));
    std::string x = "sum(w * x)";
    if (call.context.has(call.op.position("bias"))) {
        const std::int64_t element =
            dependence::broadcastElement(call.at, call.context.in(call.op.position("bias")).shape());
        if (element < 0) return opError("the bias does not match the product");
        dependence::addElement(made, made.part("bias"), call, call.op.position("bias"), element);
        x = "(sum(w * x) + bias)";
    }
    made.formula = dependence::geluFormula(x, true);
    return made;
}

/// The element, and the one half of the row behind it, with their biases.
base::Result<Dependence> splitGeluTerms(const ElementCall& call) {
    const std::size_t x = call.context.position("X"), bias = call.op.position("bias");
    const Shape& shape = call.context.in(x).shape();
    std::vector<std::int64_t> other = call.at;
    other.back() += call.result.dim(call.result.rank() - 1);
    Dependence made;
    for (const auto& [name, added, at] :
         {std::tuple("x", "b", &call.at), std::tuple("y", "c", &std::as_const(other))}) {
        const std::int64_t element = dependence::broadcastElement(*at, call.context.in(bias).shape());
        if (element < 0) return opError("the bias does not match the input");
        dependence::addElement(made, made.part(name), call, x, dependence::elementAt(*at, shape));
        dependence::addElement(made, made.part(added), call, bias, element);
    }
    made.formula = "(x + b) * " + dependence::geluFormula("(y + c)", false);
    return made;
}

/// Softmax of sums with a bias that is repeated.
base::Result<Dependence> biasedSoftmaxTerms(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    const std::size_t data = call.op.position("data"), bias = call.op.position("bias");
    const Shape& shape = call.context.in(data).shape();
    std::vector<std::int64_t> dims = call.context.in(bias).shape().dims();
    SONDE_ASSIGN(const std::size_t axis, axisOf(attributes.getInt("axis", 1), shape.rank()));
    const std::size_t tail = shape.rank() - axis;
    if (attributes.getInt("is_inner_broadcast", 0) != 0 && dims.size() >= tail && dims.size() < shape.rank())
        dims.insert(dims.end() - static_cast<std::ptrdiff_t>(tail), shape.rank() - dims.size(), 1);
    const Shape spread(dims);
    dependence::Region row = dependence::Region::only(call.at);
    for (std::size_t d = axis; d < shape.rank(); ++d) row.widen(d, shape);
    SONDE_TRY(dependence::checkTerms(2 * row.count()));
    Dependence made;
    made.formula = "exp(x + b - max(row + bias)) / sum(exp(row + bias - max(row + bias)))";
    dependence::addElement(made, made.part("x"), call, data, call.element);
    const std::int64_t own = dependence::broadcastElement(call.at, spread);
    if (own < 0) return opError("the bias does not match the input");
    dependence::addElement(made, made.part("b"), call, bias, own);
    const std::uint32_t rows = made.listPart("row"), biases = made.listPart("bias");
    dependence::forEach(row, shape, [&](const std::vector<std::int64_t>& at, std::int64_t element) {
        dependence::addElement(made, rows, call, data, element);
        dependence::addElement(made, biases, call, bias, dependence::broadcastElement(at, spread));
    });
    return made;
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
    explain("com.microsoft", "BiasGelu", dependence::gelu);
    explain("com.microsoft", "FastGelu", dependence::gelu, "tanh");
    explain("com.microsoft", "QuickGelu", dependence::elementWise, "x * sigmoid(alpha * x)");
    explain("com.microsoft", "BiasAdd", dependence::elementWise, "x + y + z");
    explain("com.microsoft", "BiasSplitGelu", splitGeluTerms);
    explain("com.microsoft", "BiasSoftmax", biasedSoftmaxTerms);
    explain("com.microsoft", "GemmFastGelu", productGeluTerms);
}

}  // namespace sonde::ops
