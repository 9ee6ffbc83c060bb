// What operators with weights want of their input.

#include "core/analysis/requirements/requirements.h"
#include "core/operators/names.h"

namespace sonde::analysis::requirement {

using graph::Argument;
using graph::Expr;
using tensor::DType;
using tensor::Value;

namespace {

/// A linear layer whose input may have any rank gets a batch of vectors.
constexpr std::size_t kVectors = 2;

}  // namespace

void Requirements::collectOperator(const Expr& expr) {
    if (expr.arguments.empty() || expr.outputs.empty()) return;
    const Traits& traits = graph::traitsOf(expr);
    const Requirement result = of(expr);
    if (!collectLayer(expr, traits, result)) collectShaped(expr, traits, result);
}

bool Requirements::collectLayer(const Expr& expr, const Traits& traits, const Requirement& result) {
    switch (traits.opClass) {
        case OpClass::Conv:
        case OpClass::ConvTranspose: wantConvolved(expr, traits, result); return true;
        case OpClass::Recurrent:
            // The other overload takes a packed sequence.
            if (operators::overloadOf(expr.op.name) != "input") return false;
            wantRecurrent(expr);
            return true;
        case OpClass::Linear:
        case OpClass::MatMul:
        case OpClass::MatrixProduct:
        case OpClass::AddMatrixProduct: wantMultiplied(expr, traits.opClass, result); return true;
        case OpClass::LayerNorm: wantNormed(expr, result); return true;
        case OpClass::BatchNorm:
        case OpClass::BatchNormWithStatistics: wantBatchNormed(expr, result); return true;
        case OpClass::Embedding: wantIndices(expr, result); return true;
        case OpClass::EmbeddingBag: wantBags(expr); return true;
        case OpClass::MultiHeadAttention: wantAttended(expr, 3); return true;
        case OpClass::EncoderLayer: wantAttended(expr, 1); return true;
        default: return false;
    }
}

void Requirements::wantConvolved(const Expr& expr, const Traits& traits, const Requirement& result) {
    const auto weight = m_facts.shapeOf(Facts::argument(expr, "weight"));
    if (!weight || weight->size() < 3 || weight->size() > kHighestRank) return;
    const std::size_t axes = weight->size() - 2;
    bool transposed = traits.opClass == OpClass::ConvTranspose;
    if (traits.is(Trait::MayTranspose)) {
        const Value flag = m_facts.valueOf(Facts::argument(expr, "transposed"));
        if (!flag.isNumber()) return;
        transposed = flag.number() != 0;
    }
    Requirement requirement, y = result;
    requirement.dtype = m_facts.dtypeOf(Facts::argument(expr, "weight"));
    requirement.rank = y.rank = weight->size();
    requirement.put(0, y.at(0));
    const auto groups = m_facts.integer(Facts::argument(expr, "groups"));
    if (transposed) requirement.put(1, DimSize::of((*weight)[0]));
    else if (groups && *groups > 0 && *groups < (std::int64_t{1} << 31) && (*weight)[1] < (std::int64_t{1} << 31))
        requirement.put(1, DimSize::of((*weight)[1] * *groups));
    const Ints stride = m_facts.integersFor(Facts::argument(expr, "stride"), axes),
               dilation = m_facts.integersFor(Facts::argument(expr, "dilation"), axes);
    const Ints padding = m_facts.integersFor(Facts::argument(expr, "padding"), axes);
    const Ints outputPadding = m_facts.integersFor(Facts::argument(expr, "output_padding"), axes);
    const Value mode = m_facts.valueOf(Facts::argument(expr, "padding"));
    const bool isNamed = mode.kind() == tensor::ValueKind::String;
    for (std::size_t i = 0; i < axes && !stride.empty() && !dilation.empty() && (isNamed || !padding.empty()); ++i) {
        const auto axis = static_cast<std::int64_t>(i + 2);
        const Window window{(*weight)[i + 2], stride[i], isNamed ? 0 : padding[i], dilation[i]};
        if (isNamed && mode.toString() == "same") requirement.put(axis, y.at(axis));
        else if (transposed)
            requirement.put(axis,
                            beforeTransposedWindow(y.at(axis), window, outputPadding.empty() ? 0 : outputPadding[i]));
        else requirement.put(axis, beforeWindow(y.at(axis), window));
    }
    want(expr.arguments.front(), requirement);
}

/// x [N, L, I] with states [layers, N, H]; of rank 2 both are a single sequence.
void Requirements::wantRecurrent(const Expr& expr) {
    Requirement requirement;
    const Argument states = Facts::argument(expr, "hx"), weights = Facts::argument(expr, "params");
    const Argument* state = states.items.empty() ? &states : &states.items.front();
    requirement.rank = m_facts.rankOf(*state);
    if (!weights.items.empty()) {
        if (const auto weight = m_facts.shapeOf(weights.items.front()); weight && weight->size() == 2)
            requirement.put(-1, DimSize::of((*weight)[1]));
        requirement.dtype = m_facts.dtypeOf(weights.items.front());
    }
    want(expr.arguments.front(), requirement);
}

/// linear(x, w [K, I]), x @ w [I, K], addmm(b, x, w [I, K])
void Requirements::wantMultiplied(const Expr& expr, OpClass opClass, const Requirement& result) {
    const std::size_t at = opClass == OpClass::AddMatrixProduct ? 1 : 0;
    if (expr.arguments.size() < at + 2) return;
    const Argument& matrix = expr.arguments[at + 1];
    auto weight = m_facts.shapeOf(matrix);
    if (!weight || weight->size() != 2) return;
    if (opClass != OpClass::Linear) std::swap((*weight)[0], (*weight)[1]);
    Requirement y = result;
    if (opClass == OpClass::MatrixProduct || opClass == OpClass::AddMatrixProduct) y.rank = 2;
    wantLinear(expr.arguments[at], *weight, m_facts.dtypeOf(matrix), y);
}

void Requirements::wantLinear(const Argument& x, const Ints& weight, DType dtype, const Requirement& result) {
    Requirement requirement = result.rankShifted(0);
    requirement.dtype = dtype;
    if (requirement.usualRank == 0) requirement.usualRank = kVectors;
    requirement.put(-1, DimSize::of(weight[1]));
    for (std::size_t i = 0; result.rank && i + 1 < *result.rank; ++i)
        requirement.put(static_cast<std::int64_t>(i), result.at(static_cast<std::int64_t>(i)));
    for (std::size_t i = 1; !result.rank && i < result.back.size(); ++i)
        requirement.put(-1 - static_cast<std::int64_t>(i), result.back[i]);
    want(x, requirement);
}

void Requirements::wantNormed(const Expr& expr, const Requirement& result) {
    Requirement requirement = result;
    const Ints dimSizes = m_facts.integers(Facts::argument(expr, "normalized_shape"));
    for (std::size_t i = 0; i < dimSizes.size(); ++i)
        requirement.put(-1 - static_cast<std::int64_t>(i), DimSize::of(dimSizes[dimSizes.size() - 1 - i]));
    if (requirement.dtype == DType::Undefined) requirement.dtype = m_facts.dtypeOf(Facts::argument(expr, "weight"));
    if (requirement.usualRank == 0) requirement.usualRank = std::min(dimSizes.size() + 1, kHighestRank);
    want(expr.arguments.front(), requirement);
}

void Requirements::wantBatchNormed(const Expr& expr, const Requirement& result) {
    Requirement requirement = result;
    for (const std::string_view name : {"weight", "running_mean"}) {
        if (const auto channels = m_facts.shapeOf(Facts::argument(expr, name)); channels && channels->size() == 1)
            requirement.put(1, DimSize::of(channels->front()));
        if (requirement.dtype == DType::Undefined) requirement.dtype = m_facts.dtypeOf(Facts::argument(expr, name));
    }
    want(expr.arguments.front(), requirement);
}

/// embedding(weight, indices): one row for each index.
void Requirements::wantIndices(const Expr& expr, const Requirement& result) {
    Requirement requirement = result.rankShifted(-1);
    requirement.dtype = DType::Int64;
    for (std::size_t i = 0; requirement.rank && i < *requirement.rank; ++i)
        requirement.put(static_cast<std::int64_t>(i), result.at(static_cast<std::int64_t>(i)));
    for (std::size_t i = 1; !requirement.rank && i < result.back.size(); ++i)
        requirement.put(-static_cast<std::int64_t>(i), result.back[i]);
    want(Facts::argument(expr, "indices"), requirement);
}

/// embedding_bag(weight, indices [n], offsets [N])
void Requirements::wantBags(const Expr& expr) {
    Requirement requirement;
    requirement.dtype = DType::Int64;
    requirement.rank = 1;
    for (const std::string_view name : {"indices", "offsets"}) want(Facts::argument(expr, name), requirement);
}

/// The first arguments are queries, keys and values, or what all of them are made of: [N, L, E].
void Requirements::wantAttended(const Expr& expr, std::size_t count) {
    Requirement requirement;
    requirement.dtype = m_facts.dtypeOf(Facts::argument(expr, "qkv_weight"));
    requirement.rank = 3;
    requirement.put(-1, DimSize::of(m_facts.integer(Facts::argument(expr, "embed_dim")).value_or(-1)));
    for (std::size_t i = 0; i < count && i < expr.arguments.size(); ++i) want(expr.arguments[i], requirement);
}

}  // namespace sonde::analysis::requirement
