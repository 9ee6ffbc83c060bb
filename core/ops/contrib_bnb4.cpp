// com.microsoft: matrix product with weights of bitsandbytes, 4 bits each from a table, scaled by blocks.

#include "core/ops/dependence/region.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// FP4: sign, and one of eight sizes of a float with 2 bits of exponent and 1 of mantissa over 12 (bitsandbytes). NF4:
/// the quantiles of the normal distribution, of QLoRA (arXiv:2305.14314), appendix E.
constexpr float kCodebook[2][16] = {
    {0.0F, 0.0625F / 12, 8.0F / 12, 1.0F, 4.0F / 12, 6.0F / 12, 2.0F / 12, 3.0F / 12, -0.0F, -0.0625F / 12, -8.0F / 12,
     -1.0F, -4.0F / 12, -6.0F / 12, -2.0F / 12, -3.0F / 12},
    {-1.0F, -0.6961928009986877F, -0.5250730514526367F, -0.39491748809814453F, -0.28444138169288635F,
     -0.18477343022823334F, -0.09105003625154495F, 0.0F, 0.07958029955625534F, 0.16093020141124725F,
     0.24611230194568634F, 0.33791524171829224F, 0.44070982933044434F, 0.5626170039176941F, 0.7229568362236023F, 1.0F}};

float bnb4Weight(const Tensor& packed, const Tensor& factors, std::int64_t kind, std::int64_t block,
                 std::int64_t flat) {
    const std::uint8_t byte = packed.data<std::uint8_t>()[flat / 2];
    return kCodebook[kind][flat % 2 == 0 ? byte >> 4 : byte & 15] * factors.data<float>()[flat / block];
}

/// A [.., K] · Wᵀ for W [N, K], whose numbers lie in one row, two a byte, the first in the upper half; absmax [blocks]
/// are the factors of blocks of that row.
EagerResult bnb4Product(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const std::int64_t n = attributes.getInt("N", 0), k = attributes.getInt("K", 0),
                       block = attributes.getInt("block_size", 0), kind = attributes.getInt("quant_type", 0);
    constexpr std::int64_t kMax = std::int64_t{1} << 31;
    if (n < 1 || k < 1 || n > kMax || k > kMax || block < 1) e.fail("K, N or block_size are out of range");
    if (kind != 0 && kind != 1) e.fail("quant_type " + std::to_string(kind) + " is not defined");
    if (attributes.getInt("transB", 1) != 1) e.fail("weights that are not transposed are not defined");
    const Tensor packed = e.tensor("B"), factors = e.as(e.tensor("absmax"), DType::Float32),
                 a = e.as(e.tensor("A"), DType::Float32);
    if (packed.numel() != (n * k + 1) / 2 || factors.numel() != (n * k - 1) / block + 1) {
        e.fail("weights " + packed.typeText() + " and factors " + e.tensor("absmax").typeText() + " do not match N " +
               std::to_string(n) + " and K " + std::to_string(k));
    }
    if (a.rank() < 1 || a.dim(a.rank() - 1) != k)
        e.fail(a.typeText() + " does not have " + std::to_string(k) + " columns");
    Shape shape = a.shape();
    shape[shape.rank() - 1] = n;
    Tensor y = e.get(Tensor::allocate(DType::Float32, shape));
    const auto weight = [&](std::int64_t row, std::int64_t i) {
        return bnb4Weight(packed, factors, kind, block, row * k + i);
    };
    const kernels::PanelSource<float> source = [&](std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t nr,
                                                   float* target) {
        for (std::int64_t i = 0; i < kc; ++i) {
            for (std::int64_t j = 0; j < nr; ++j) target[i * nr + j] = n0 + j < n ? weight(n0 + j, k0 + i) : 0.0F;
        }
    };
    kernels::GemmCall<float> call;
    call.m = a.numel() / k, call.n = n, call.k = k;
    call.left = {a.data<float>(), k, 1};
    call.rightSource = &source;
    call.c = y.mutableData<float>();
    call.ldc = n;
    kernels::gemm(call, e.context().pool());
    return e.as(y, e.tensor("A").dtype());
}

/// The elements of a row of A, weighed by numbers of the table times their block's factor.
base::Result<Dependence> bnb4Terms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Attributes& attributes = context.attributes();
    const std::int64_t n = attributes.getInt("N", 1), k = attributes.getInt("K", 1),
                       block = attributes.getInt("block_size", 1);
    SONDE_ASSIGN(const Tensor factors, context.in(call.op.position("absmax")).cast(DType::Float32));
    const std::size_t a = context.position("A"), absmax = call.op.position("absmax");
    const std::int64_t row = call.element / n, column = call.element % n;
    if ((row + 1) * k > context.in(a).numel()) return opError("the result does not match A");
    SONDE_TRY(dependence::checkTerms(2 * k));
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w"), through = made.listPart("factor");
    for (std::int64_t i = 0; i < k; ++i) {
        dependence::addElement(made, part, call, a, row * k + i);
        made.terms.back().weight = static_cast<double>(bnb4Weight(
            context.in(call.op.position("B")), factors, attributes.getInt("quant_type", 0), block, column * k + i));
    }
    for (std::int64_t b = column * k / block; b <= (column * k + k - 1) / block; ++b) {
        dependence::addElement(made, through, call, absmax, b);
        made.terms.back().weight = 0;
    }
    return made;
}

base::Result<void> inferBnb4Product(InferContext& context) {
    std::optional<Dims> dims = context.in("A").shape;
    if (dims && !dims->empty()) dims->back() = Dim::of(context.attributes().getInt("N", 0));
    setLike(context, "A", std::move(dims));
    return {};
}

}  // namespace

void define_contrib_bnb4(Registry& registry) {
    registry.add(contribRow("MatMulBnb4", "matrix product with weights of 4 bits, FP4 or NF4", Category::Quantization)
                     .in("A", kContribFloats, "T")
                     .in("B", bit(DType::UInt8))
                     .in("absmax", kContribFloats, "T")
                     .out("Y")
                     .required("K", AttributeKind::Int)
                     .required("N", AttributeKind::Int)
                     .required("block_size", AttributeKind::Int)
                     .required("quant_type", AttributeKind::Int)
                     .attrInt("training_mode", 0)
                     .attrInt("transB", 1)
                     .runs(bnb4Product, inferBnb4Product));
    explain("com.microsoft", "MatMulBnb4", bnb4Terms);
}

}  // namespace sonde::ops
