// com.microsoft: matrix products and convolutions with what goes before and after them.

#include <algorithm>
#include <numeric>

#include "core/base/number_text.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/dependence/windows.h"
#include "core/ops/support/contrib.h"
#include "core/ops/support/conv_row.h"

namespace sonde::ops {

namespace {

const OpDef& onnxRow(std::string_view name) { return *Registry::all().find("", name, 0); }

/// How FusedMatMul turns an operand: `batch` moves the first axis behind the batch axes, then `swap` exchanges the last
/// two.
std::vector<std::size_t> turned(std::size_t rank, bool swap, bool batch) {
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    if (rank < 2) return axes;
    if (batch) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
    if (swap) std::swap(axes[rank - 2], axes[rank - 1]);
    return axes;
}

struct Turns {
    bool swap[2], batch[2];
    explicit Turns(const Attributes& a)
        : swap{a.getInt("transA", 0) != 0, a.getInt("transB", 0) != 0}, batch{a.getInt("transBatchA", 0) != 0,
                                                                              a.getInt("transBatchB", 0) != 0} {}
};

/// alpha·A'·B'
Tensor fusedProduct(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Turns turns(attributes);
    Tensor operands[2] = {widened(e, "A"), widened(e, "B")};
    for (std::size_t i = 0; i < 2; ++i) {
        const Tensor x = operands[i];
        operands[i] = e.get(x.permuted(turned(x.rank(), turns.swap[i], turns.batch[i])).contiguous());
    }
    const Tensor product = e("matmul", operands[0], operands[1]);
    const double alpha = attributes.getFloat("alpha", 1);
    return alpha == 1 ? product : e("mul.Scalar", product, alpha);
}

base::Result<void> inferFusedProduct(InferContext& context) {
    const Turns turns(context.attributes());
    TypeInfo operands[2] = {context.in("A"), context.in("B")};
    for (std::size_t i = 0; i < 2; ++i) {
        if (!operands[i].shape) continue;
        const Dims given = *operands[i].shape;
        const std::vector<std::size_t> axes = turned(given.size(), turns.swap[i], turns.batch[i]);
        for (std::size_t k = 0; k < axes.size(); ++k) (*operands[i].shape)[k] = given[axes[k]];
    }
    InferContext inner(operands, {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(onnxRow("MatMul")));
    context.set(inner.outputs()[0]);
    return {};
}

/// activation_alpha … of FusedGemm and FusedMatMulActivation by their ONNX names.
Attributes activationParameters(const Attributes& attributes) {
    Attributes result;
    for (std::string_view name : {"alpha", "beta", "gamma"}) {
        const std::string full = "activation_" + std::string(name);
        if (attributes.has(full)) result.set(std::string(name), attributes.getFloat(full, 0));
    }
    return result;
}

EagerResult fusedProductActivation(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const std::string name = attributes.getString("activation", "");
    const Tensor product = fusedProduct(e);
    const Tensor y = name == "Softmax" ? e("softmax.int", product, attributes.getInt("activation_axis", -1))
                                       : activated(e, product, name, activationParameters(attributes));
    return e.as(y, e.tensor("A").dtype());
}

/// The operator of ai.onnx on the inputs as they are, with its packed weights.
Tensor plain(Eager& e, std::string_view name) {
    e.check(e.context().runAs(onnxRow(name)));
    return e.taken();
}

EagerResult fusedGemm(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    return activated(e, plain(e, "Gemm"), attributes.getString("activation", ""), activationParameters(attributes));
}

/// activation_params: alpha of LeakyRelu, alpha and beta of HardSigmoid, the bounds of Clip.
Tensor convActivation(Eager& e, const Tensor& x) {
    const Attributes& attributes = e.context().attributes();
    const std::string name = attributes.getString("activation", "");
    const std::vector<double> given = attributes.getFloats("activation_params");
    if (name == "Clip") {
        if (given.size() != 2) e.fail("Clip expects two activation_params");
        return e("clamp", x, given[0], given[1]);
    }
    Attributes parameters;
    if (!given.empty()) parameters.set("alpha", given[0]);
    if (given.size() > 1) parameters.set("beta", given[1]);
    return activated(e, x, name, parameters);
}

/// activation(conv(X, W, B) + Z)
EagerResult fusedConv(Eager& e) {
    Tensor y = plain(e, "Conv");
    if (e.has("Z")) {
        if (e.tensor("Z").shape() != y.shape())
            e.fail("Z " + e.tensor("Z").typeText() + " does not match the result " + y.typeText());
        y = e("add.Tensor", y, e.tensor("Z"));
    }
    return convActivation(e, y);
}

/// Channels last in X, Z and Y.
EagerResult channelsLastConv(Eager& e) {
    const Tensor x = e.tensor("X");
    if (x.rank() < 3) e.fail("cannot convolve " + x.typeText());
    std::vector<std::int64_t> toFront{0, static_cast<std::int64_t>(x.rank()) - 1}, toBack{0};
    for (std::size_t i = 1; i + 1 < x.rank(); ++i) {
        toFront.push_back(static_cast<std::int64_t>(i));
        toBack.push_back(static_cast<std::int64_t>(i) + 1);
    }
    toBack.push_back(1);
    const Tensor front = e.get(e("permute", x, toFront).contiguous());
    Tensor y = e.onnx("Conv", {Value(front), e.value("W"), e.optional("B")}, e.context().attributes());
    y = e.get(e("permute", y, toBack).contiguous());
    if (e.has("Z")) {
        if (e.tensor("Z").shape() != y.shape())
            e.fail("Z " + e.tensor("Z").typeText() + " does not match the result " + y.typeText());
        y = e("add.Tensor", y, e.tensor("Z"));
    }
    return convActivation(e, y);
}

base::Result<void> inferChannelsLastConv(InferContext& context) {
    TypeInfo operands[2] = {context.in("X"), context.in("W")};
    if (!operands[0].shape || operands[0].shape->size() < 3) return {};
    Dims& dims = *operands[0].shape;
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    InferContext inner(operands, {}, context.attributes(), 1);
    SONDE_TRY(inner.inferAs(onnxRow("Conv")));
    TypeInfo result = inner.outputs()[0];
    if (result.shape && result.shape->size() > 1)
        std::rotate(result.shape->begin() + 1, result.shape->begin() + 2, result.shape->end());
    context.set(std::move(result));
    return {};
}

auto preparedAs(std::string_view name) {
    return [name](const Constants& constants, const Attributes& attributes, RunEnvironment& environment) {
        const OpDef& row = onnxRow(name);
        return row.prepare(constants.of(row), attributes, environment);
    };
}

auto inferredAs(std::string_view name) {
    return [name](InferContext& context) { return context.inferAs(onnxRow(name)); };
}

Row fusedConvRow(std::string_view name, std::string_view summary) {
    return withConvAttributes(contribRow(name, summary, Category::Layer)
                                  .in("X", kFloats, "T")
                                  .in("W", kFloats, "T")
                                  .optionalIn("B", kFloats, "T"));
}

Row withActivation(Row row) {
    return row.attr("activation", AttributeKind::String).attr("activation_params", AttributeKind::Floats);
}

void defineProducts(Registry& registry) {
    const auto product = [](std::string_view name, std::string_view summary) {
        Row row = contribRow(name, summary, Category::Layer);
        row.in("A", kFloats, "T")
            .in("B", kFloats, "T")
            .out("Y")
            .attrFloat("alpha", 1)
            .attrInt("transA", 0)
            .attrInt("transB", 0)
            .attrInt("transBatchA", 0)
            .attrInt("transBatchB", 0);
        return row;
    };
    for (std::string_view name : {"FusedMatMul", "TransposeMatMul"}) {
        registry.add(product(name, "alpha·A·B, either transposed first")
                         .runs([](Eager& e) -> EagerResult { return e.as(fusedProduct(e), e.tensor("A").dtype()); },
                               inferFusedProduct));
    }
    const auto parameters = [](Row row) {
        return row.attr("activation_alpha", AttributeKind::Float)
            .attr("activation_beta", AttributeKind::Float)
            .attr("activation_gamma", AttributeKind::Float);
    };
    registry.add(parameters(product("FusedMatMulActivation", "activation(alpha·A·B), either transposed first"))
                     .required("activation", AttributeKind::String)
                     .attr("activation_axis", AttributeKind::Int)
                     .runs(fusedProductActivation, inferFusedProduct));
    registry.add(parameters(contribRow("FusedGemm", "activation(alpha·A·B + beta·C)", Category::Layer))
                     .in("A", kNumbers, "T")
                     .in("B", kNumbers, "T")
                     .optionalIn("C", kNumbers, "T")
                     .out("Y")
                     .attrFloat("alpha", 1)
                     .attrFloat("beta", 1)
                     .attrInt("transA", 0)
                     .attrInt("transB", 0)
                     .attr("activation", AttributeKind::String)
                     .runs(fusedGemm, inferredAs("Gemm"))
                     .prepares(preparedAs("Gemm")));
}

/// The formula behind an activation that a fused operator names.
base::Result<std::string> activatedFormula(const std::string& x, const std::string& name,
                                           const Attributes& parameters) {
    const auto number = [&](std::string_view parameter, double fallback) {
        return base::shortestText(parameters.getFloat(parameter, fallback));
    };
    if (name.empty()) return x;
    if (name == "Relu") return "maximum(" + x + ", 0)";
    if (name == "Tanh") return "tanh(" + x + ")";
    if (name == "Sigmoid") return "sigmoid(" + x + ")";
    if (name == "LeakyRelu") return "maximum(" + x + ", 0) + " + number("alpha", 0.01) + " * minimum(" + x + ", 0)";
    if (name == "HardSigmoid")
        return "clip(" + number("alpha", 0.2) + " * (" + x + ") + " + number("beta", 0.5) + ", 0, 1)";
    if (name == "Clip") return "clip(" + x + ", " + number("alpha", 0) + ", " + number("beta", 0) + ")";
    if (name == "Softplus") return "maximum(" + x + ", 0) + log1p(exp(-abs(" + x + ")))";
    if (name == "Softsign") return "(" + x + ") / (1 + abs(" + x + "))";
    if (name == "Elu") return "maximum(" + x + ", 0) + " + number("alpha", 1) + " * expm1(minimum(" + x + ", 0))";
    return opError("the activation '" + name + "' has no formula");
}

/// activation_params of convolutions by the names that their ONNX operators have.
Attributes convParameters(const Attributes& attributes) {
    const std::vector<double> given = attributes.getFloats("activation_params");
    Attributes parameters;
    if (!given.empty()) parameters.set("alpha", given[0]);
    if (given.size() > 1) parameters.set("beta", given[1]);
    return parameters;
}

/// A convolution of ai.onnx, with channels first; what is added and the activation behind it.
base::Result<Dependence> fusedConvTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Shape &x = context.in("X").shape(), &w = context.in("W").shape();
    dependence::Convolution convolution;
    convolution.x = context.position("X"), convolution.w = context.position("W"),
    convolution.bias = context.position("B");
    convolution.hasBias = context.has("B");
    convolution.groups = context.attributes().getInt("group", 1);
    convolution.hasLastChannels = call.text == "last";
    if (x.rank() < 3 || w.rank() != x.rank()) return opError("the weights do not match the input");
    const std::size_t first = convolution.hasLastChannels ? 1 : 2;
    SONDE_ASSIGN(convolution.window, windowFromAttributes(context.attributes(), std::span(w.dims()).subspan(2),
                                                          std::span(x.dims()).subspan(first, x.rank() - 2)));
    SONDE_ASSIGN(Dependence made, dependence::convolved(call, convolution));
    if (context.has(call.op.position("Z"))) {
        dependence::addElement(made, made.part("z"), call, call.op.position("Z"), call.element);
        made.formula += " + z";
    }
    SONDE_ASSIGN(made.formula, activatedFormula(made.formula, context.attributes().getString("activation", ""),
                                                convParameters(context.attributes())));
    return made;
}

/// As Gemm without what it adds.
base::Result<Dependence> fusedProductTerms(const ElementCall& call) {
    const Turns turns(call.context.attributes());
    if (turns.batch[0] || turns.batch[1]) return opError("there is no formula where the first axis is moved");
    SONDE_ASSIGN(Dependence made, dependence::generalProduct(call));
    const Attributes& attributes = call.context.attributes();
    if (!attributes.has("activation")) return made;
    SONDE_ASSIGN(made.formula, activatedFormula(made.formula, attributes.getString("activation", ""),
                                                activationParameters(attributes)));
    return made;
}

}  // namespace

void define_contrib_matmul(Registry& registry) {
    defineProducts(registry);
    registry.add(withActivation(fusedConvRow("FusedConv", "activation(conv(X, W) + B + Z)"))
                     .optionalIn("Z", kFloats, "T")
                     .out("Y")
                     .runs(fusedConv, inferredAs("Conv"))
                     .prepares(preparedAs("Conv")));
    registry.add(withActivation(fusedConvRow("NhwcFusedConv", "activation(conv(X, W) + B + Z), channels last"))
                     .optionalIn("Z", kFloats, "T")
                     .out("Y")
                     .runs(channelsLastConv, inferChannelsLastConv));
    registry.add(fusedConvRow("NhwcConv", "convolution with channels last")
                     .out("Y")
                     .runs(channelsLastConv, inferChannelsLastConv));
    explain("com.microsoft", "FusedMatMul TransposeMatMul FusedMatMulActivation FusedGemm", fusedProductTerms);
    explain("com.microsoft", "FusedConv", fusedConvTerms);
    explain("com.microsoft", "NhwcFusedConv NhwcConv", fusedConvTerms, "last");
}

}  // namespace sonde::ops
