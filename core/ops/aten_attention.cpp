// Attention as ATen has it, from matrix products and softmax.

#include <array>
#include <cmath>
#include <limits>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/attention.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

Value ints(std::initializer_list<std::int64_t> values) {
    tensor::ValueList list;
    for (std::int64_t value : values) list.push_back(Value::ofInt(value));
    return Value::list(std::move(list));
}

/// beta input + alpha (batch1 batch2)
base::Result<void> baddbmm(KernelContext& context) {
    SONDE_ASSIGN(Tensor product, invokeAten(context, "bmm", {context.value("batch1"), context.value("batch2")}));
    SONDE_ASSIGN(Tensor scaled, invokeAten(context, "mul.Scalar", {Value(std::move(product)), context.value("alpha")}));
    SONDE_ASSIGN(const double beta, numberOf(context.value("beta")));
    if (beta == 0) {  // what is added counts for its shape only
        SONDE_ASSIGN(const Shape shape, broadcast(context.in("self").shape(), scaled.shape()));
        SONDE_ASSIGN(const Tensor spread, scaled.expanded(shape));
        SONDE_ASSIGN(Tensor whole, spread.contiguous());
        context.setOutput(Value(std::move(whole)));
        return {};
    }
    SONDE_ASSIGN(Tensor input, invokeAten(context, "mul.Scalar", {context.value("self"), context.value("beta")}));
    SONDE_ASSIGN(Tensor result, invokeAten(context, "add.Tensor", {Value(std::move(input)), Value(std::move(scaled))}));
    context.setOutput(Value(std::move(result)));
    return {};
}

/// softmax(q k^T / sqrt(d) + mask) v over the last two dimensions; also gives the weights.
base::Result<std::pair<Tensor, Tensor>> attend(KernelContext& context, const Tensor& q, const Tensor& k,
                                               const Tensor& v, const Value& mask, double scale) {
    SONDE_ASSIGN(const Tensor transposed, k.transposed(k.rank() - 2, k.rank() - 1).contiguous());
    SONDE_ASSIGN(Tensor scores, invokeAten(context, "matmul", {Value(q), Value(transposed)}));
    SONDE_ASSIGN(scores, invokeAten(context, "mul.Scalar", {Value(scores), Value::ofFloat(scale)}));
    if (mask.isTensor() && mask.tensor().dtype() == DType::Bool) {
        SONDE_ASSIGN(Tensor hidden, invokeAten(context, "logical_not", {mask}));
        SONDE_ASSIGN(scores, invokeAten(context, "masked_fill.Scalar",
                                        {Value(scores), Value(std::move(hidden)), Value::ofFloat(-INFINITY)}));
    } else if (mask.isTensor()) {
        SONDE_ASSIGN(scores, invokeAten(context, "add.Tensor", {Value(scores), mask}));
    }
    SONDE_ASSIGN(Tensor weights, invokeAten(context, "softmax.int", {Value(scores), Value::ofInt(-1)}));
    SONDE_ASSIGN(Tensor result, invokeAten(context, "matmul", {Value(weights), Value(v)}));
    return std::pair(std::move(result), std::move(weights));
}

/// Grouped queries: each head of keys or values serves several heads of queries [.., heads, L, E].
base::Result<Tensor> repeatedHeads(KernelContext& context, const Tensor& x, const Tensor& q) {
    if (q.rank() < 3 || x.rank() < 3) return opError("grouped heads need three dimensions");
    const std::int64_t heads = q.dim(q.rank() - 3), own = x.dim(x.rank() - 3);
    if (own < 1 || heads % own != 0)
        return opError(std::to_string(own) + " heads cannot serve " + std::to_string(heads));
    return invokeAten(context, "repeat_interleave.self_int", {Value(x), Value::ofInt(heads / own), Value::ofInt(-3)});
}

/// Whether kernels::attend takes them: [.., L, E], [.., S, E], [.., S, Ev] of one type, and a mask of that type or of
/// bools.
bool fitsBlocks(const Tensor& q, const Tensor& k, const Tensor& v, const Value& mask) {
    if ((q.dtype() != DType::Float32 && q.dtype() != DType::Float64) || k.dtype() != q.dtype() ||
        v.dtype() != q.dtype() || k.rank() != q.rank() || v.rank() != q.rank() || q.numel() == 0 || k.numel() == 0 ||
        v.numel() == 0)
        return false;
    for (std::size_t i = 0; i + 2 < q.rank(); ++i)
        if (k.dim(i) != q.dim(i) || v.dim(i) != q.dim(i)) return false;
    const std::size_t last = q.rank() - 1;
    if (k.dim(last) != q.dim(last) || v.dim(last - 1) != k.dim(last - 1)) return false;
    if (!mask.isTensor()) return true;
    Shape scores = q.shape();
    scores[last] = k.dim(last - 1);
    const auto together = broadcast(mask.tensor().shape(), scores);
    return together && *together == scores &&
           (mask.tensor().dtype() == DType::Bool || mask.tensor().dtype() == q.dtype());
}

/// attend() without its weights, and without memory for them.
template <typename T>
base::Result<void> attendInBlocks(KernelContext& context, const Tensor& query, const Tensor& key, const Tensor& value,
                                  const Value& mask, bool isCausal, double scale) {
    SONDE_ASSIGN(const Tensor q, query.contiguous());
    SONDE_ASSIGN(const Tensor k, key.contiguous());
    SONDE_ASSIGN(const Tensor v, value.contiguous());
    const std::size_t last = q.rank() - 1;
    kernels::AttentionCall<T> call;
    call.queries = q.dim(last - 1), call.keys = k.dim(last - 1), call.headSize = q.dim(last),
    call.valueSize = v.dim(last);
    call.batches = 1, call.heads = call.keyHeads = q.numel() / (call.queries * call.headSize);
    call.q = {q.data<T>(), 0, call.queries * call.headSize, call.headSize};
    call.k = {k.data<T>(), 0, call.keys * call.headSize, call.headSize};
    call.v = {v.data<T>(), 0, call.keys * call.valueSize, call.valueSize};
    call.scale = scale;
    call.emptyRow = std::numeric_limits<T>::quiet_NaN();
    call.stop = &context.environment().stop;
    Shape shape = q.shape(), scores = q.shape();
    shape[last] = call.valueSize, scores[last] = call.keys;
    SONDE_ASSIGN(Tensor y, context.output(q.dtype(), shape));
    call.y = {y.mutableData<T>(), 0, call.queries * call.valueSize, call.valueSize};
    Tensor hidden;
    std::vector<std::int64_t> strides;
    if (mask.isTensor()) {
        SONDE_ASSIGN(hidden, mask.tensor().contiguous());
        strides = broadcastStrides(hidden.shape(), scores);
    }
    constexpr T kNever = -std::numeric_limits<T>::infinity();
    call.bias = [&](std::int64_t, std::int64_t head, std::int64_t row, T* line) {
        if (isCausal) std::fill(line + std::min(row + 1, call.keys), line + call.keys, kNever);
        if (!hidden.defined()) return;
        std::int64_t offset = row * strides[last - 1];
        for (std::size_t i = last - 1; i-- > 0; head /= scores[i]) offset += head % scores[i] * strides[i];
        for (std::int64_t j = 0; j < call.keys; ++j) {
            const std::int64_t at = offset + j * strides[last];
            if (hidden.dtype() != DType::Bool) line[j] += hidden.data<T>()[at];
            else if (!hidden.data<bool>()[at]) line[j] = kNever;
        }
    };
    if (!isCausal && !hidden.defined()) call.bias = nullptr;
    kernels::attend(call, context.pool());
    return {};
}

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
base::Result<void> scaledDotProduct(KernelContext& context) {
    const Tensor& q = context.in("query");
    const Tensor& k = context.in("key");
    if (q.rank() < 2 || k.rank() < 2) return opError("attention expects at least two dimensions");
    Value mask = context.value("attn_mask");
    SONDE_ASSIGN(const double causal, numberOf(context.value("is_causal")));
    if (causal != 0) mask = Value();
    double scale = 1 / std::sqrt(static_cast<double>(q.dim(q.rank() - 1)));
    if (context.has("scale")) {
        SONDE_ASSIGN(scale, numberOf(context.value("scale")));
    }
    Tensor key = k, value = context.in("value");
    if (context.has("enable_gqa")) {
        SONDE_ASSIGN(const double grouped, numberOf(context.value("enable_gqa")));
        if (grouped != 0) {
            SONDE_ASSIGN(key, repeatedHeads(context, key, q));
            SONDE_ASSIGN(value, repeatedHeads(context, value, q));
        }
    }
    if (fitsBlocks(q, key, value, mask)) {
        return q.dtype() == DType::Float32 ? attendInBlocks<float>(context, q, key, value, mask, causal != 0, scale)
                                           : attendInBlocks<double>(context, q, key, value, mask, causal != 0, scale);
    }
    if (causal != 0) {
        SONDE_ASSIGN(Tensor all, invokeAten(context, "ones",
                                            {ints({q.dim(q.rank() - 2), k.dim(k.rank() - 2)}),
                                             Value::ofInt(torchFromDType(DType::Bool))}));
        SONDE_ASSIGN(Tensor lower, invokeAten(context, "tril", {Value(std::move(all))}));
        mask = Value(std::move(lower));
    }
    SONDE_ASSIGN(auto result, attend(context, q, key, value, mask, scale));
    context.setOutput(Value(std::move(result.first)));
    return {};
}

base::Result<void> inferScaledDotProduct(InferContext& context) {
    std::optional<Dims> dims = context.in("query").shape;
    const auto& values = context.in("value").shape;
    if (dims && !dims->empty()) dims->back() = values && !values->empty() ? values->back() : Dim{};
    setLike(context, "query", std::move(dims));
    return {};
}

/// x [N,L,E] -> [N,heads,L,E / heads]
base::Result<Tensor> split(const Tensor& x, std::int64_t heads) {
    SONDE_ASSIGN(const Tensor parted, x.reshaped({x.dim(0), x.dim(1), heads, x.dim(2) / heads}));
    return parted.transposed(1, 2).contiguous();
}

/// The mask of _native_multi_head_attention, true where something is hidden, as one that is true where it is kept.
/// mask_type 0: [L,L] for all; 1: [N,L], keys that are padding; 2: as the scores are.
base::Result<Value> keptOf(KernelContext& context) {
    if (!context.has("mask")) return Value();
    SONDE_ASSIGN(Tensor kept, invokeAten(context, "logical_not", {context.value("mask")}));
    std::int64_t type = kept.rank() == 2 && kept.dim(0) != kept.dim(1) ? 1 : kept.rank() == 2 ? 0 : 2;
    if (context.has("mask_type")) {
        SONDE_ASSIGN(type, intOf(context.value("mask_type")));
    }
    if (type == 1 && kept.rank() == 2) {
        SONDE_ASSIGN(kept, kept.reshaped({kept.dim(0), 1, 1, kept.dim(1)}));
    }
    return Value(std::move(kept));
}

/// _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias,
/// mask, need_weights, average_attn_weights, mask_type): self-attention with one projection for the three inputs.
base::Result<void> multiHead(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t heads, intOf(context.value("num_head")));
    const Tensor& weight = context.in("qkv_weight");
    const Tensor& bias = context.in("qkv_bias");
    const std::int64_t embed = weight.rank() == 2 ? weight.dim(1) : 0;
    bool good = heads > 0 && embed > 0 && embed % heads == 0 && weight.dim(0) == 3 * embed && bias.rank() == 1 &&
                bias.dim(0) == 3 * embed;
    constexpr const char* kNames[] = {"query", "key", "value"};
    for (const char* name : kNames) good = good && context.in(name).rank() == 3 && context.in(name).dim(2) == embed;
    if (!good) return opError("the sizes of a multi-head attention are incompatible");
    SONDE_ASSIGN(const Value keep, keptOf(context));
    std::array<Tensor, 3> parts;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto start = static_cast<std::int64_t>(i) * embed;
        SONDE_ASSIGN(Tensor projected, invokeAten(context, "linear",
                                                  {context.value(kNames[i]), Value(weight.sliced(0, start, embed)),
                                                   Value(bias.sliced(0, start, embed))}));
        SONDE_ASSIGN(parts[i], split(projected, heads));
    }
    SONDE_ASSIGN(auto result, attend(context, parts[0], parts[1], parts[2], keep,
                                     1 / std::sqrt(static_cast<double>(embed / heads))));
    SONDE_ASSIGN(const Tensor joined, result.first.transposed(1, 2).contiguous());
    SONDE_ASSIGN(Tensor flat, joined.reshaped(context.in("query").shape()));
    SONDE_ASSIGN(Tensor output,
                 invokeAten(context, "linear",
                            {Value(std::move(flat)), context.value("proj_weight"), context.value("proj_bias")}));
    context.setOutput(Value(std::move(output)));
    if (context.wants(1)) {
        SONDE_ASSIGN(const double average, numberOf(context.value("average_attn_weights")));
        Tensor weights = result.second;
        if (average != 0) {
            SONDE_ASSIGN(weights, invokeAten(context, "mean.dim", {Value(weights), ints({1})}));
        }
        context.setOutput(1, Value(std::move(weights)));
    }
    return {};
}

/// A result of the layer is linear in its values, given the attention: sum(w * v) + bias, with weights that come from
/// both projections and from the softmax.
base::Result<Dependence> multiHeadTerms(const ElementCall& call) {
    if (call.output != 0) return opError("the attention's weights have no formula");
    const KernelContext& context = call.context;
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < context.inputCount(); ++i) inputs.push_back(context.value(i));
    inputs[call.op.position("need_weights")] = Value::ofBool(true);
    inputs[context.position("average_attn_weights")] = Value::ofBool(false);
    SONDE_ASSIGN(const std::vector<Value> results,
                 ops::call(call.op, inputs, context.attributes(), 2, call.context.environment()));
    const Tensor &weights = results[1].tensor(), &v = context.in("value"), &qkv = context.in("qkv_weight"),
                 &qkvBias = context.in("qkv_bias"), &projection = context.in("proj_weight");
    const std::int64_t embed = v.dim(2), keys = v.dim(1), heads = weights.dim(1), size = embed / heads;
    const std::int64_t n = call.at[0], query = call.at[1], e = call.at[2];
    SONDE_TRY(dependence::checkTerms(3 * keys * embed));
    std::vector<double> perHead(static_cast<std::size_t>(heads * embed), 0);  // of an input, through each head
    double bias = context.in("proj_bias").toDouble(e);
    for (std::int64_t j = 0; j < embed; ++j) {
        const double out = projection.toDouble(e * embed + j);
        bias += out * qkvBias.toDouble(2 * embed + j);
        for (std::int64_t i = 0; i < embed; ++i)
            perHead[static_cast<std::size_t>(j / size * embed + i)] += out * qkv.toDouble((2 * embed + j) * embed + i);
    }
    Dependence dependence;
    dependence.formula = "sum(w * v) + bias";
    dependence.number("bias", bias);
    const std::uint32_t part = dependence.listPart("v", "w");
    for (std::int64_t key = 0; key < keys; ++key) {
        for (std::int64_t i = 0; i < embed; ++i) {
            dependence::addElement(dependence, part, call, context.position("value"), (n * keys + key) * embed + i);
            double weight = 0;
            for (std::int64_t h = 0; h < heads; ++h)
                weight += weights.toDouble(((n * heads + h) * call.result.dim(1) + query) * keys + key) *
                          perHead[static_cast<std::size_t>(h * embed + i)];
            dependence.terms.back().weight = weight;
        }
    }
    // What the softmax is made of acts through the weights.
    const auto addScored = [&](const char* name, std::int64_t begin, std::int64_t end) {
        const std::uint32_t scored = dependence.listPart(name);
        for (std::int64_t i = begin * embed; i < end * embed; ++i) {
            dependence::addElement(dependence, scored, call, context.position(name), i);
            dependence.terms.back().weight = 0;
        }
    };
    addScored("query", n * call.result.dim(1) + query, n * call.result.dim(1) + query + 1);
    addScored("key", n * keys, (n + 1) * keys);
    return dependence;
}

void add(Registry& registry, std::string_view schema, std::string_view summary, Category category,
         base::Result<void> (*kernel)(KernelContext&), base::Result<void> (*infer)(InferContext&)) {
    OpDef def = atenRow(schema, summary, category, kernel, infer);
    for (Formal& input : def.inputs) input.tensorOnly = false;
    registry.add(std::move(def));
}

}  // namespace

void define_aten_attention(Registry& registry) {
    add(registry, "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        "beta self + alpha batch1 batch2", Category::Layer, baddbmm, [](InferContext& c) {
            return inferAs(c, "aten", "bmm", {"batch1", "batch2"});
        });
    add(registry,
        "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
        "softmax(q k^T / sqrt(d) + mask) v", Category::Attention, scaledDotProduct, inferScaledDotProduct);
    add(registry,
        "_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, "
        "Tensor proj_bias, Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
        "self-attention with its projections", Category::Attention, multiHead, inferSame);
    explain("aten", "_native_multi_head_attention", multiHeadTerms);
    explain("aten", "baddbmm", dependence::generalProduct);
    explain("aten", "scaled_dot_product_attention", dependence::attended, "value");
}

}  // namespace sonde::ops
