// Attention (ai.onnx since 23): Q [B, Hq, Sq, d] or [B, Sq, Hq·d], K and V likewise -> Y in Q's layout.

#include "core/ops/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/ops/attention/heads.h"
#include "core/ops/dependence/heads.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

using kernels::AttentionCall;

using tensor::Dim;

struct MaskWindow {
    bool causal = false;
    std::int64_t left = -1, right = -1;
};

/// What is added to the scores: the mask, and −Inf where causality, the window or the padding forbids.
struct Bias {
    Tensor mask;  ///< in the type of the computation; −Inf for false
    std::vector<std::int64_t> strides;
    std::int64_t maskKeys = 0;
    MaskWindow window;
    std::int64_t past = 0;
    std::vector<std::int64_t> valid;  ///< keys of each batch that are no padding; empty: all

    template <typename T>
    void apply(std::int64_t b, std::int64_t h, std::int64_t i, T* row, std::int64_t keys, std::int64_t queries) const {
        constexpr T kNever = -std::numeric_limits<T>::infinity();
        const bool padded = !valid.empty();
        const std::int64_t limit = padded ? valid[static_cast<std::size_t>(b)] : keys;
        const std::int64_t position = i + (padded ? limit - queries : past);
        for (std::int64_t j = 0; j < keys; ++j) {
            const bool forbidden = j >= limit || (window.causal && j > position) ||
                                   (window.left >= 0 && j < position - window.left) ||
                                   (window.right >= 0 && j > position + window.right);
            if (forbidden) {
                row[j] = kNever;
            } else if (mask.defined()) {
                row[j] += j < maskKeys
                              ? mask.data<T>()[b * strides[0] + h * strides[1] + i * strides[2] + j * strides[3]]
                              : kNever;
            }
        }
    }
};

base::Result<void> setMask(Bias& bias, const Tensor& mask, DType type, const Shape& scores) {
    if (mask.rank() > 4 || mask.rank() < 1)
        return opError("the mask " + mask.typeText() + " does not match the scores " + scores.text());
    if (mask.dtype() == DType::Bool) {
        SONDE_ASSIGN(bias.mask, Tensor::allocate(DType::Float64, mask.shape()));
        for (std::int64_t i = 0; i < mask.numel(); ++i) {
            bias.mask.mutableData<double>()[i] = mask.data<bool>()[i] ? 0.0 : -std::numeric_limits<double>::infinity();
        }
        SONDE_ASSIGN(bias.mask, bias.mask.cast(type));
    } else {
        SONDE_ASSIGN(bias.mask, mask.cast(type));
    }
    bias.maskKeys = mask.dim(mask.rank() - 1) == 1 ? scores[3] : mask.dim(mask.rank() - 1);
    Shape covered = scores;
    covered[3] = bias.maskKeys;
    if (bias.maskKeys > scores[3])
        return opError("the mask " + mask.typeText() + " does not match the scores " + scores.text());
    SONDE_ASSIGN(const Shape shape, broadcast(mask.shape(), covered));
    if (shape != covered) return opError("the mask " + mask.typeText() + " does not match the scores " + scores.text());
    bias.strides = broadcastStrides(mask.shape(), covered);
    return {};
}

template <typename T>
base::Result<void> run(KernelContext& context, const Tensor& q, const Tensor& k, const Tensor& v, const HeadLayout& lq,
                       const HeadLayout& lk, const HeadLayout& lv, const Bias& bias, DType outputType) {
    AttentionCall<T> call;
    call.batches = lq.batches, call.heads = lq.heads, call.keyHeads = lk.heads;
    call.queries = lq.rows, call.keys = lk.rows, call.headSize = lq.size, call.valueSize = lv.size;
    call.q = headsOf(q.data<T>(), lq);
    call.k = headsOf(k.data<T>(), lk);
    call.v = headsOf(v.data<T>(), lv);
    const Attributes& attributes = context.attributes();
    call.scale =
        attributes.has("scale") ? attributes.getFloat("scale", 1) : 1 / std::sqrt(static_cast<double>(lq.size));
    call.softcap = attributes.getFloat("softcap", 0);
    const HeadLayout ly{lq.batches, lq.heads, lq.rows, lv.size, lq.packed};
    const Shape shape =
        lq.packed ? Shape{ly.batches, ly.rows, ly.heads * ly.size} : Shape{ly.batches, ly.heads, ly.rows, ly.size};
    SONDE_ASSIGN(Tensor y, Tensor::zeros(tensor::dtypeOf<T>, shape));
    call.y = headsOf(y.mutableData<T>(), ly);
    call.bias = [&](std::int64_t b, std::int64_t h, std::int64_t i, T* row) {
        bias.apply(b, h, i, row, lk.rows, lq.rows);
    };
    Tensor scores;
    if (context.wants("qk_matmul_output")) {
        SONDE_ASSIGN(scores, Tensor::zeros(tensor::dtypeOf<T>, Shape{lq.batches, lq.heads, lq.rows, lk.rows}));
        const std::int64_t mode = attributes.getInt("qk_matmul_output_mode", 0);
        call.watch = [mode, target = scores.mutableData<T>(), heads = lq.heads, queries = lq.rows, keys = lk.rows](
                         std::int64_t b, std::int64_t h, int step, std::int64_t query, std::int64_t count,
                         const T* values) {
            if (step == mode)
                std::copy(values, values + count * keys, target + ((b * heads + h) * queries + query) * keys);
        };
    }
    kernels::attend(call, context.pool());
    SONDE_ASSIGN(y, y.cast(outputType));
    context.setOutput(Value(std::move(y)));
    if (scores.defined()) {
        SONDE_ASSIGN(scores, scores.cast(outputType));
        context.setOutput("qk_matmul_output", Value(std::move(scores)));
    }
    return {};
}

base::Result<void> attention(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    const std::int64_t keyHeads = attributes.getInt("kv_num_heads", 0);
    SONDE_ASSIGN(const HeadLayout lq, headLayoutOf(context.in("Q"), attributes.getInt("q_num_heads", 0)));
    SONDE_ASSIGN(HeadLayout lk, headLayoutOf(context.in("K"), keyHeads));
    SONDE_ASSIGN(HeadLayout lv, headLayoutOf(context.in("V"), keyHeads));
    Tensor k = context.in("K"), v = context.in("V");
    Bias bias;
    if (context.has("past_key") != context.has("past_value"))
        return opError("past_key and past_value must be given together");
    if (context.has("past_key") || context.wants("present_key") || context.wants("present_value")) {
        SONDE_ASSIGN(k, unpackedHeads(k, lk));
        SONDE_ASSIGN(v, unpackedHeads(v, lv));
        if (context.has("past_key")) {
            bias.past = context.in("past_key").rank() == 4 ? context.in("past_key").dim(2) : 0;
            SONDE_ASSIGN(k, appendedHeads(context.in("past_key"), k));
            SONDE_ASSIGN(v, appendedHeads(context.in("past_value"), v));
        }
        SONDE_ASSIGN(lk, headLayoutOf(k, 0));
        SONDE_ASSIGN(lv, headLayoutOf(v, 0));
        if (context.wants("present_key")) context.setOutput("present_key", Value(k));
        if (context.wants("present_value")) context.setOutput("present_value", Value(v));
    }
    const bool fits = lk.batches == lq.batches && lv.batches == lq.batches && lk.size == lq.size &&
                      lk.rows == lv.rows && lk.heads == lv.heads && lk.heads > 0 && lq.heads % lk.heads == 0;
    if (!fits)
        return opError("queries " + context.in("Q").typeText() + ", keys " + k.typeText() + " and values " +
                       v.typeText() + " are incompatible");
    const DType type = context.in("Q").dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
    const std::int64_t farthest = lq.rows + lk.rows;  // a window that reaches further sees all
    bias.window = {attributes.getInt("is_causal", 0) != 0,
                   std::min(attributes.getInt("left_window_size", -1), farthest),
                   std::min(attributes.getInt("right_window_size", -1), farthest)};
    if (context.has("attn_mask"))
        SONDE_TRY(setMask(bias, context.in("attn_mask"), type, Shape{lq.batches, lq.heads, lq.rows, lk.rows}));
    if (context.has("nonpad_kv_seqlen")) {
        SONDE_ASSIGN(bias.valid, intsOf(context.value("nonpad_kv_seqlen")));
        if (static_cast<std::int64_t>(bias.valid.size()) != lq.batches)
            return opError("nonpad_kv_seqlen must have one entry for each batch");
    }
    SONDE_ASSIGN(const Tensor q, context.in("Q").cast(type));
    SONDE_ASSIGN(k, k.cast(type));
    SONDE_ASSIGN(v, v.cast(type));
    if (type == DType::Float64) return run<double>(context, q, k, v, lq, lk, lv, bias, context.in("Q").dtype());
    return run<float>(context, q, k, v, lq, lk, lv, bias, context.in("Q").dtype());
}

/// [B, H, S, d] of a tensor in either form.
Dims headDims(const std::optional<Dims>& x, std::int64_t heads) {
    if (x && x->size() == 4) return *x;
    if (!x || x->size() != 3 || heads < 1) return unknownDims(4);
    return Dims{(*x)[0], Dim::of(heads), (*x)[1], x->back().known() ? Dim::of(x->back().value / heads) : Dim{}};
}

base::Result<void> inferAttention(InferContext& context) {
    const auto &q = context.in("Q").shape, &v = context.in("V").shape;
    std::optional<Dims> dims = q;
    const std::int64_t heads = context.attributes().getInt("q_num_heads", 0),
                       keyHeads = context.attributes().getInt("kv_num_heads", 0);
    if (q && v && q->size() == v->size()) {
        if (q->size() == 4) dims->back() = v->back();
        else dims->back() = v->back().known() && keyHeads > 0 ? Dim::of(v->back().value / keyHeads * heads) : Dim{};
    }
    setLike(context, "Q", std::move(dims));
    const Dims query = headDims(q, heads);
    Dim keys;
    const std::tuple<const char*, const char*, const char*> caches[] = {{"K", "past_key", "present_key"},
                                                                        {"V", "past_value", "present_value"}};
    for (const auto& [name, pastName, presentName] : caches) {
        Dims present = headDims(context.in(name).shape, keyHeads);
        if (context.has(pastName)) {
            const auto& past = context.in(pastName).shape;
            const bool known = past && past->size() == 4 && (*past)[2].known() && present[2].known();
            present[2] = known ? Dim::of((*past)[2].value + present[2].value) : Dim{};
        }
        keys = present[2];
        context.set(presentName, TypeInfo::tensor(context.in(name).dtype, std::move(present)));
    }
    context.set("qk_matmul_output", TypeInfo::tensor(context.in("Q").dtype, Dims{query[0], query[1], query[2], keys}));
    return {};
}

base::Result<void> rotaryEmbedding(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    const Tensor& x = context.in("X");
    SONDE_ASSIGN(const HeadLayout layout, headLayoutOf(x, attributes.getInt("num_heads", 0)));
    const std::int64_t asked = attributes.getInt("rotary_embedding_dim", 0);
    Rotation rotation;
    rotation.rotated = asked > 0 ? asked : layout.size;
    rotation.interleaved = attributes.getInt("interleaved", 0) != 0;
    SONDE_ASSIGN(rotation.cosines, wide(context.in("cos_cache")));
    SONDE_ASSIGN(rotation.sines, wide(context.in("sin_cache")));
    const Tensor* positions = context.optionalIn("position_ids");
    const std::int64_t tokens = layout.batches * layout.rows;
    const std::int64_t entries = positions ? (rotation.cosines.rank() == 2 ? rotation.cosines.dim(0) : -1) : tokens;
    if (entries < 0 || rotation.cosines.numel() != entries * (rotation.rotated / 2) ||
        rotation.sines.numel() != rotation.cosines.numel() || (positions && positions->numel() != tokens)) {
        return opError("caches " + context.in("cos_cache").typeText() + " and " + context.in("sin_cache").typeText() +
                       " do not match " + x.typeText());
    }
    for (std::int64_t i = 0; i < tokens; ++i) rotation.positions.push_back(positions ? positions->toInt64(i) : i);
    SONDE_ASSIGN(Tensor y, rotatedHeads(x, layout, rotation));
    context.setOutput(Value(std::move(y)));
    return {};
}

/// Pairs of elements of a head, rotated by the angle of their position.
base::Result<Dependence> rotatedTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Attributes& attributes = context.attributes();
    const std::int64_t asked = attributes.getInt("rotary_embedding_dim", 0);
    dependence::RotatedPair pair;
    pair.x = dependence::headRows(context.position("X"), context.in("X"), attributes.getInt("num_heads", 0));
    pair.half = (asked > 0 ? asked : pair.x.size) / 2;
    pair.cosines = context.position("cos_cache"), pair.sines = context.position("sin_cache");
    pair.isInterleaved = attributes.getInt("interleaved", 0) != 0;
    const dependence::HeadPlace at = pair.x.placeOf(call.element);
    pair.entry = pair.position = at.batch * pair.x.rows + at.row;
    if (!context.has("position_ids")) return dependence::rotatedPair(call, pair);
    if (pair.position >= context.in("position_ids").numel()) return opError("the positions do not match");
    pair.positions = context.position("position_ids");
    pair.entry = context.in("position_ids").toInt64(pair.position);
    return dependence::rotatedPair(call, pair);
}

/// One token after the other: S ← decay·S + β·k ⊗ (v − Sᵀk), o = scale·Sᵀq. Inputs: q, k, v, past state, decay, beta.
base::Result<void> linearAttention(KernelContext& context) {
    const Attributes& attributes = context.attributes();
    const std::string rule = attributes.getString("update_rule", "gated_delta");
    const std::int64_t heads = attributes.getInt("q_num_heads", 0), keyHeads = attributes.getInt("kv_num_heads", 0);
    SONDE_ASSIGN(const HeadLayout lq, headLayoutOf(context.in("query"), heads));
    SONDE_ASSIGN(const HeadLayout lk, headLayoutOf(context.in("key"), keyHeads));
    SONDE_ASSIGN(const HeadLayout lv, headLayoutOf(context.in("value"), keyHeads));
    const bool packed = lq.packed && lk.packed && lv.packed;
    if (!packed || lq.size != lk.size || lq.rows != lk.rows || lk.rows != lv.rows || lq.batches != lk.batches ||
        lk.batches != lv.batches || heads % keyHeads != 0) {
        return opError("queries " + context.in("query").typeText() + ", keys " + context.in("key").typeText() +
                       " and values " + context.in("value").typeText() + " are incompatible");
    }
    const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
    if (!gated && !delta && rule != "linear") return opError("update_rule '" + rule + "' is not supported");
    if ((gated && !context.has("decay")) || (delta && !context.has("beta")))
        return opError("the update rule '" + rule + "' needs decay or beta");
    SONDE_ASSIGN(const Tensor q, wide(context.in("query")));
    SONDE_ASSIGN(const Tensor k, wide(context.in("key")));
    SONDE_ASSIGN(const Tensor v, wide(context.in("value")));
    const Shape stateShape{lk.batches, keyHeads, lk.size, lv.size};
    SONDE_ASSIGN(Tensor state, wideZeros(stateShape));
    if (context.has("past_state")) {
        if (context.in("past_state").shape() != stateShape) return opError("past_state must be " + stateShape.text());
        SONDE_ASSIGN(state, wide(context.in("past_state")));
        SONDE_ASSIGN(state, state.clone());
    }
    constexpr const char* kGates[] = {"decay", "beta"};
    Tensor gates[2];
    std::int64_t gateSize[2] = {0, 0};
    for (std::size_t i = 0; i < 2; ++i) {
        if (!context.has(kGates[i])) continue;
        SONDE_ASSIGN(gates[i], wide(context.in(kGates[i])));
        const std::int64_t each = lk.batches * lk.rows;
        gateSize[i] = each > 0 ? gates[i].numel() / each : 0;
        if (gateSize[i] != 1 && gateSize[i] != keyHeads && gateSize[i] != keyHeads * lk.size)
            return opError("decay or beta do not match " + std::to_string(keyHeads) + " heads");
    }
    const double asked = attributes.getFloat("scale", 0),
                 scale = asked != 0 ? asked : 1 / std::sqrt(static_cast<double>(lq.size));
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{lq.batches, lq.rows, heads * lv.size}));
    /// decay or beta of a token, head and row of the state.
    const auto gateAt = [&](int which, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) {
        const double* row = gates[which].data<double>() + (b * lk.rows + t) * gateSize[which];
        return gateSize[which] == 1 ? row[0] : gateSize[which] == keyHeads ? row[h] : row[h * lk.size + d];
    };
    for (std::int64_t b = 0; b < lq.batches; ++b) {
        for (std::int64_t h = 0; h < keyHeads; ++h) {
            double* s = state.mutableData<double>() + (b * keyHeads + h) * lk.size * lv.size;
            for (std::int64_t t = 0; t < lq.rows; ++t) {
                const double* key = k.data<double>() + (b * lk.rows + t) * keyHeads * lk.size + h * lk.size;
                const double* value = v.data<double>() + (b * lv.rows + t) * keyHeads * lv.size + h * lv.size;
                for (std::int64_t d = 0; gated && d < lk.size; ++d) {
                    for (std::int64_t e = 0; e < lv.size; ++e) s[d * lv.size + e] *= std::exp(gateAt(0, b, t, h, d));
                }
                for (std::int64_t e = 0; e < lv.size; ++e) {
                    double old = 0;
                    for (std::int64_t d = 0; delta && d < lk.size; ++d) old += s[d * lv.size + e] * key[d];
                    for (std::int64_t d = 0; d < lk.size; ++d) {
                        s[d * lv.size + e] += (delta ? gateAt(1, b, t, h, d) : 1.0) * key[d] * (value[e] - old);
                    }
                }
                for (std::int64_t g = 0; g < heads / keyHeads; ++g) {
                    const std::int64_t head = h * (heads / keyHeads) + g;
                    const double* query = q.data<double>() + (b * lq.rows + t) * heads * lq.size + head * lq.size;
                    double* out = y.mutableData<double>() + (b * lq.rows + t) * heads * lv.size + head * lv.size;
                    for (std::int64_t d = 0; d < lq.size; ++d) {
                        for (std::int64_t e = 0; e < lv.size; ++e) out[e] += scale * query[d] * s[d * lv.size + e];
                    }
                }
            }
        }
    }
    SONDE_TRY(setNarrow(context, 0, y, context.in("query").dtype()));
    return setNarrow(context, "present_state", state,
                     context.has("past_state") ? context.in("past_state").dtype() : context.in("query").dtype());
}

/// y[t] = Σ_i w[i]·x[t − k + 1 + i] + bias over the sequence with the state in front of it.
base::Result<void> causalConv(KernelContext& context) {
    const Tensor &x = context.in("input"), &w = context.in("weight");
    if (x.rank() != 3 || w.rank() != 3 || w.dim(0) != x.dim(1) || w.dim(1) != 1 || w.dim(2) < 1)
        return opError("cannot convolve " + x.typeText() + " with weights " + w.typeText());
    const std::int64_t batches = x.dim(0), channels = x.dim(1), length = x.dim(2), k = w.dim(2), state = k - 1;
    SONDE_ASSIGN(const Tensor in, wide(x));
    SONDE_ASSIGN(const Tensor weights, wide(w));
    SONDE_ASSIGN(Tensor sequence, wideZeros(Shape{batches, channels, length + state}));
    if (context.has("past_state")) {
        if (context.in("past_state").shape() != Shape{batches, channels, state})
            return opError("past_state " + context.in("past_state").typeText() + " does not match");
        SONDE_ASSIGN(const Tensor past, wide(context.in("past_state")));
        kernels::copyInto(context.pool(), past, sequence.sliced(2, 0, state));
    }
    kernels::copyInto(context.pool(), in, sequence.sliced(2, state, length));
    const Tensor* bias = context.optionalIn("bias");
    if (bias && bias->numel() != channels) return opError("bias " + bias->typeText() + " does not match");
    const std::string activation = context.attributes().getString("activation", "none");
    if (activation != "none" && activation != "silu" && activation != "swish")
        return opError("activation '" + activation + "' is not supported");
    SONDE_ASSIGN(Tensor y, wideZeros(x.shape()));
    for (std::int64_t row = 0; row < batches * channels; ++row) {
        const std::int64_t c = row % channels;
        for (std::int64_t t = 0; t < length; ++t) {
            double sum = bias ? bias->toDouble(c) : 0.0;
            for (std::int64_t i = 0; i < k; ++i)
                sum += weights.data<double>()[c * k + i] * sequence.data<double>()[row * (length + state) + t + i];
            y.mutableData<double>()[row * length + t] = activation == "none" ? sum : sum / (1 + std::exp(-sum));
        }
    }
    SONDE_TRY(setNarrow(context, 0, y, x.dtype()));
    if (!context.wants("present_state")) return {};
    SONDE_ASSIGN(const Tensor present, sequence.sliced(2, length, state).contiguous());
    return setNarrow(context, "present_state", present, x.dtype());
}

base::Result<void> inferLinearAttention(InferContext& context) {
    const std::int64_t heads = context.attributes().getInt("q_num_heads", 0),
                       keyHeads = context.attributes().getInt("kv_num_heads", 0);
    const Dims q = headDims(context.in("query").shape, heads), k = headDims(context.in("key").shape, keyHeads),
               v = headDims(context.in("value").shape, keyHeads);
    setLike(context, "query", Dims{q[0], q[2], v[3].known() && heads > 0 ? Dim::of(v[3].value * heads) : Dim{}});
    const DType state = context.in(context.has("past_state") ? "past_state" : "query").dtype;
    context.set("present_state", TypeInfo::tensor(state, Dims{k[0], k[1], k[3], v[3]}));
    return {};
}

base::Result<void> inferCausalConv(InferContext& context) {
    const auto &x = context.in("input").shape, &w = context.in("weight").shape;
    context.set(context.in("input"));
    const bool known = x && x->size() == 3 && w && w->size() == 3;
    setLike(context, "input",
            known ? Dims{(*x)[0], (*x)[1], w->back().known() ? Dim::of(w->back().value - 1) : Dim{}} : unknownDims(3),
            1);
    return {};
}

}  // namespace

void define_attention(Registry& registry) {
    registry.add(Row("Attention", 23, "softmax(scale·Q·Kᵀ + mask)·V", Category::Attention)
                     .in("Q", kFloats)
                     .in("K", kFloats)
                     .in("V", kFloats)
                     .optionalIn("attn_mask")
                     .optionalIn("past_key", kFloats)
                     .optionalIn("past_value", kFloats)
                     .optionalIn("nonpad_kv_seqlen", kInt64)
                     .out("Y")
                     .out("present_key", Arity::Optional)
                     .out("present_value", Arity::Optional)
                     .out("qk_matmul_output", Arity::Optional)
                     .attrInt("is_causal", 0)
                     .attr("kv_num_heads", AttributeKind::Int)
                     .attr("q_num_heads", AttributeKind::Int)
                     .attrInt("qk_matmul_output_mode", 0)
                     .attr("scale", AttributeKind::Float)
                     .attrFloat("softcap", 0)
                     .attr("softmax_precision", AttributeKind::Int)
                     .attrInt("left_window_size", -1)
                     .attrInt("right_window_size", -1)
                     .runs(attention, inferAttention));
    registry.add(Row("RotaryEmbedding", 23, "rotates pairs of elements by their position", Category::Attention)
                     .in("X", kFloats)
                     .in("cos_cache", kFloats)
                     .in("sin_cache", kFloats)
                     .optionalIn("position_ids", kInt64)
                     .out("Y")
                     .attrInt("interleaved", 0)
                     .attr("num_heads", AttributeKind::Int)
                     .attrInt("rotary_embedding_dim", 0)
                     .runs(rotaryEmbedding, inferSame));
    registry.add(Row("LinearAttention", 27, "attention by a state that each token updates", Category::Attention)
                     .in("query", kFloats)
                     .in("key", kFloats)
                     .in("value", kFloats)
                     .optionalIn("past_state", kFloats)
                     .optionalIn("decay", kFloats)
                     .optionalIn("beta", kFloats)
                     .out("output")
                     .out("present_state", Arity::Optional)
                     .attrInt("chunk_size", 64)
                     .required("kv_num_heads", AttributeKind::Int)
                     .required("q_num_heads", AttributeKind::Int)
                     .attrFloat("scale", 0)
                     .attrString("update_rule", "gated_delta")
                     .runs(linearAttention, inferLinearAttention));
    registry.add(Row("CausalConvWithState", 27, "depthwise convolution over previous elements", Category::Layer)
                     .in("input", kFloats)
                     .in("weight", kFloats)
                     .optionalIn("bias", kFloats)
                     .optionalIn("past_state", kFloats)
                     .out("output")
                     .out("present_state", Arity::Optional)
                     .attrString("activation", "none")
                     .runs(causalConv, inferCausalConv));
    for (std::string_view name : {"SwiGLU"}) {
        registry.add(Row(name, 28, "a·sigmoid(alpha·a)·b", Category::Activation)
                         .in("A", kFloats, "T")
                         .in("B", kFloats, "T")
                         .out("Y")
                         .attrFloat("alpha", 1)
                         .runs(
                             [](KernelContext& context) -> base::Result<void> {
                                 if (context.in("A").shape() != context.in("B").shape())
                                     return opError("both inputs must have the same shape");
                                 const double alpha = context.attributes().getFloat("alpha", 1);
                                 SONDE_ASSIGN(const Tensor a, wide(context.in("A")));
                                 SONDE_ASSIGN(const Tensor b, wide(context.in("B")));
                                 SONDE_ASSIGN(Tensor y, wideZeros(a.shape()));
                                 for (std::int64_t i = 0; i < a.numel(); ++i) {
                                     const double v = a.data<double>()[i];
                                     y.mutableData<double>()[i] = v / (1 + std::exp(-alpha * v)) * b.data<double>()[i];
                                 }
                                 return setNarrow(context, 0, y, context.in("A").dtype());
                             },
                             inferSame));
    }
    explain("", "Attention", dependence::attended, "V");
    explain("", "RotaryEmbedding", rotatedTerms);
    explain("", "SwiGLU", dependence::elementWise, "x * sigmoid(alpha * x) * y");
    explain("", "TensorScatter", dependence::moved, "past_cache update");
}

}  // namespace sonde::ops
