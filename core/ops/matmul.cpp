// Matrix products and linear layers.

#include "core/ops/kernels/matmul.h"

#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/elementwise.h"
#include "core/ops/kernels/epilogue.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<void> matmul(KernelContext& context) {
    SONDE_TRY(kernels::matmul(context, context.in(kLeft), context.in(kRight)));
    return {};
}

base::Result<void> inferMatmul(InferContext& context) {
    const TypeInfo &a = context.in(kLeft), &b = context.in(kRight);
    if (!a.shape || !b.shape || a.shape->empty() || b.shape->empty()) {
        setLike(context, {"self", "A"}, std::nullopt);
        return {};
    }
    const Dims& x = *a.shape;
    const Dims& y = *b.shape;
    const Dim &inner = x.back(), &other = y.size() > 1 ? y[y.size() - 2] : y[0];
    if (inner.known() && other.known() && inner.value != other.value) {
        return opError("matrices " + a.shapeText() + " and " + b.shapeText() + " do not match");
    }
    const Dims leadX(x.begin(), x.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(x.size())));
    const Dims leadY(y.begin(), y.end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(y.size())));
    SONDE_ASSIGN(Dims dims, broadcastDims(leadX, leadY));
    if (x.size() > 1) dims.push_back(x[x.size() - 2]);
    if (y.size() > 1) dims.push_back(y.back());
    setLike(context, {"self", "A"}, std::move(dims));
    return {};
}

/// Before opset 7 C was broadcast only if `broadcast` was set, which unidirectional broadcasting contains.
base::Result<void> gemm(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    const kernels::GemmOptions options{attributes.getInt("transA", 0) != 0, attributes.getInt("transB", 0) != 0,
                                       attributes.getFloat("alpha", 1), attributes.getFloat("beta", 1)};
    return kernels::generalProduct(context, context.in("A"), context.in("B"), context.optionalIn("C"), options);
}

base::Result<void> inferGemm(InferContext& context) {
    const TypeInfo &a = context.in("A"), &b = context.in("B");
    if (!a.shape || !b.shape || a.shape->size() != 2 || b.shape->size() != 2) {
        setLike(context, "A", unknownDims(2));
        return {};
    }
    const std::size_t row = context.attributes().getInt("transA", 0) ? 1 : 0,
                      column = context.attributes().getInt("transB", 0) ? 0 : 1;
    setLike(context, "A", Dims{(*a.shape)[row], (*b.shape)[column]});
    return {};
}

base::Result<void> linear(KernelContext& context) {
    return kernels::linear(context, context.in("input"), context.in("weight"), context.optionalIn("bias"));
}

base::Result<void> inferLinear(InferContext& context) {
    const TypeInfo &x = context.in("input"), &w = context.in("weight");
    if (!x.shape || !w.shape || x.shape->empty() || w.shape->size() != 2) {
        setLike(context, "input", std::nullopt);
        return {};
    }
    Dims dims = *x.shape;
    dims.back() = (*w.shape)[0];
    setLike(context, "input", std::move(dims));
    return {};
}

/// addmm: beta·self + alpha·mat1·mat2.
base::Result<void> addmm(KernelContext& context) {
    SONDE_ASSIGN(const double beta, numberOf(context.value("beta")));
    SONDE_ASSIGN(const double alpha, numberOf(context.value("alpha")));
    return kernels::generalProduct(context, context.in("mat1"), context.in("mat2"), &context.in("self"),
                                   {false, false, alpha, beta});
}

}  // namespace

void define_matmul(Registry& registry) {
    for (const char* name : {"MatMul", "Gemm"}) kernels::addEpilogueKernel("", name);
    for (const char* name : {"linear", "matmul", "mm", "bmm", "addmm"}) kernels::addEpilogueKernel("aten", name);
    registry.add(Row("MatMul", 1, "matrix product with numpy's rules", Category::Layer)
                     .in("A", kNumbers, "T")
                     .in("B", kNumbers, "T")
                     .out("Y")
                     .runs(matmul, inferMatmul)
                     .strided()
                     .prepares([](const Constants& constants, const Attributes&, RunEnvironment& environment) {
                         return kernels::prepareRight(constants["B"], false, environment);
                     }));
    registry.add(
        Row("Gemm", 1, "alpha·A·B + beta·C", Category::Layer)
            .in("A", kNumbers, "T")
            .in("B", kNumbers, "T")
            .optionalIn("C", kNumbers, "T")
            .out("Y")
            .attrFloat("alpha", 1)
            .attrFloat("beta", 1)
            .attrInt("transA", 0)
            .attrInt("transB", 0)
            .attrInt("broadcast", 0)
            .runs(gemm, inferGemm)
            .prepares([](const Constants& constants, const Attributes& attributes, RunEnvironment& environment) {
                return kernels::prepareRight(constants["B"], attributes.getInt("transB", 0) != 0, environment);
            }));
    OpDef layer = atenRow("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", "x·wᵀ + bias",
                          Category::Layer, linear, inferLinear);
    layer.prepare = [](const Constants& constants, const Attributes&, RunEnvironment& environment) {
        return kernels::prepareRight(constants["weight"], true, environment);
    };
    registry.add(std::move(layer));
    for (std::string_view schema :
         {"matmul(Tensor self, Tensor other) -> Tensor", "mm(Tensor self, Tensor mat2) -> Tensor",
          "bmm(Tensor self, Tensor mat2) -> Tensor", "mv(Tensor self, Tensor vec) -> Tensor",
          "dot(Tensor self, Tensor tensor) -> Tensor"}) {
        OpDef def = atenRow(schema, "matrix product", Category::Layer, matmul, inferMatmul);
        def.acceptsStrided = true;
        def.prepare = [](const Constants& constants, const Attributes&, RunEnvironment& environment) {
            return kernels::prepareRight(constants[kRight], false, environment);
        };
        registry.add(std::move(def));
    }
    registry.add(atenRow("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                         "beta·c + alpha·a·b", Category::Layer, addmm, [](InferContext& context) -> base::Result<void> {
                             const TypeInfo &a = context.in("mat1"), &b = context.in("mat2");
                             const bool known = a.shape && b.shape && a.shape->size() == 2 && b.shape->size() == 2;
                             setLike(context, "mat1", known ? Dims{(*a.shape)[0], (*b.shape)[1]} : unknownDims(2));
                             return {};
                         }));
    explain("", "MatMul", dependence::matrixProduct);
    explain("aten", "matmul mm bmm mv dot", dependence::matrixProduct);
    explain("", "Gemm", dependence::generalProduct);
    explain("aten", "addmm", dependence::generalProduct);
    explain("aten", "linear", dependence::linearLayer);
}

}  // namespace sonde::ops
