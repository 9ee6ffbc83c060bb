// com.microsoft: rotary embedding and attention of grouped queries with a cache of keys and values.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/ops/attention/contrib_attention.h"
#include "core/ops/attention/heads.h"
#include "core/ops/dependence/heads.h"
#include "core/ops/kernels/move.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

/// Tables [positions, half] as a rotation; positions are added later.
Rotation tablesOf(Eager& e, bool interleaved) {
    const Tensor cosines = e.tensor("cos_cache"), sines = e.tensor("sin_cache");
    Rotation rotation;
    rotation.cosines = e.get(wide(cosines));
    rotation.sines = e.get(wide(sines));
    if (rotation.cosines.rank() != 2 || rotation.sines.shape() != rotation.cosines.shape()) {
        e.fail("caches " + cosines.typeText() + " and " + sines.typeText() + " are incompatible");
    }
    rotation.rotated = 2 * rotation.cosines.dim(1);
    rotation.interleaved = interleaved;
    return rotation;
}

/// input, position_ids ([B, S], or the first position), cos and sin tables.
EagerResult contribRotaryEmbedding(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    const Tensor x = e.tensor("input");
    Rotation rotation = tablesOf(e, attributes.getInt("interleaved", 0) != 0);
    const std::int64_t given = attributes.getInt("num_heads", 0), part = attributes.getInt("rotary_embedding_dim", 0);
    if (part > 0 && part != rotation.rotated)
        e.fail("rotary_embedding_dim " + std::to_string(part) + " does not match caches " +
               e.tensor("cos_cache").typeText());
    // Without a number of heads the tables say how large a head is.
    const std::int64_t heads = given > 0                               ? given
                               : x.rank() == 3 && rotation.rotated > 0 ? x.dim(2) / rotation.rotated
                                                                       : 1;
    const HeadLayout layout = e.get(headLayoutOf(x, heads));
    const Tensor ids = e.tensor("position_ids");
    const std::int64_t tokens = layout.batches * layout.rows;
    if (ids.numel() != 1 && ids.numel() != tokens)
        e.fail("position_ids " + ids.typeText() + " do not match " + x.typeText());
    for (std::int64_t i = 0; i < tokens; ++i)
        rotation.positions.push_back(ids.numel() == 1 ? ids.toInt64(0) + i % layout.rows : ids.toInt64(i));
    return e.get(rotatedHeads(x, layout, rotation));
}

base::Result<Dependence> contribRotatedTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Attributes& attributes = context.attributes();
    const std::size_t input = call.op.position("input");
    dependence::RotatedPair pair;
    pair.cosines = call.op.position("cos_cache"), pair.sines = call.op.position("sin_cache");
    pair.positions = call.op.position("position_ids");
    const Tensor &x = context.in(input), &ids = context.in(pair.positions);
    const Tensor& cosines = context.in(pair.cosines);
    if (cosines.rank() != 2 || cosines.dim(1) < 1) return opError("the tables of angles are no matrices");
    pair.half = cosines.dim(1);
    const std::int64_t given = attributes.getInt("num_heads", 0);
    pair.x = dependence::headRows(input, x, given > 0 || x.rank() != 3 ? given : x.dim(2) / (2 * pair.half));
    pair.isInterleaved = attributes.getInt("interleaved", 0) != 0;
    const dependence::HeadPlace at = pair.x.placeOf(call.element);
    const bool isFirst = ids.numel() == 1;  // the position of the first row
    pair.position = isFirst ? 0 : at.batch * pair.x.rows + at.row;
    if (pair.position >= ids.numel()) return opError("the positions do not match");
    pair.entry = ids.toInt64(pair.position) + (isFirst ? at.row : 0);
    return dependence::rotatedPair(call, pair);
}

/// One call of GroupQueryAttention. A batch entry has `past[b]` keys in the cache and `total[b]` with the new ones.
struct Groups {
    std::int64_t heads = 0, keyHeads = 0, batches = 0, rows = 0, size = 0;
    std::vector<std::int64_t> past, total;
    Tensor q, k, v;         ///< float32 [B, H, S, d]; k and v only the new rows
    Tensor cacheK, cacheV;  ///< float32 [B, Hk, L, d], the new rows in their places
    std::int64_t window = -1;
    bool causal = true;
    Tensor bias, sink;  ///< bias [B|1, H|1, S, keys]; sink [H]
    bool smooth = false;
};

/// A cache of numbers with 8 or 4 bits: value = number·scale. int8 and float8 hold one an element, bytes of a 4-bit
/// cache two along the last axis, the first in the lower half, each with 8 added.
struct CacheFormat {
    DType dtype = DType::Undefined;  ///< Undefined: the cache is not quantised
    Tensor scale;                    ///< float32, of one element or [1, Hk, 1, d]
    bool pairs = false;

    static CacheFormat of(Eager& e, std::string_view type, Name past, Name scale, const Groups& g) {
        const Attributes& attributes = e.context().attributes();
        CacheFormat format;
        if (attributes.getString(type, "NONE") == "NONE") {
            if (e.has(past) && !tensor::isFloating(e.tensor(past).dtype()))
                e.fail("a cache " + e.tensor(past).typeText() + " expects " + std::string(type));
            return format;
        }
        if (!e.has(scale)) e.fail("a quantised cache expects its scale");
        const std::int64_t bits = attributes.getInt("kv_cache_bit_width", 8);
        if (bits != 8 && bits != 4) e.fail("a cache of " + std::to_string(bits) + " bits is not defined");
        format.pairs = bits == 4;
        format.dtype = e.has(past) ? e.tensor(past).dtype() : format.pairs ? DType::UInt8 : DType::Int8;
        const bool known = format.pairs ? format.dtype == DType::UInt8 && g.size % 2 == 0
                                        : format.dtype == DType::Int8 || format.dtype == DType::Float8E4M3FN;
        if (!known)
            e.fail("a cache of " + std::to_string(bits) + " bits cannot be " + std::string(tensor::name(format.dtype)));
        format.scale = e.as(e.tensor(scale), DType::Float32);
        if (format.scale.numel() != 1 && format.scale.numel() != g.keyHeads * g.size)
            e.fail("scale " + e.tensor(scale).typeText() + " does not match the cache");
        return format;
    }

    float scaleOf(std::int64_t flat, const Groups& g, std::int64_t rows) const {
        if (scale.numel() == 1) return scale.data<float>()[0];
        return scale.data<float>()[flat / (rows * g.size) % g.keyHeads * g.size + flat % g.size];
    }
    /// float32 [B, Hk, L, d].
    Tensor read(Eager& e, const Tensor& cache, const Groups& g) const {
        const std::int64_t rows = cache.dim(2);
        Tensor made = e.get(Tensor::allocate(DType::Float32, Shape{g.batches, g.keyHeads, rows, g.size}));
        for (std::int64_t i = 0; i < made.numel(); ++i) {
            const double number =
                pairs ? static_cast<double>(packedNumber(cache.data<std::uint8_t>() + i / 2, i % 2, 4)) - 8
                      : cache.toDouble(i);
            made.mutableData<float>()[i] = static_cast<float>(number) * scaleOf(i, g, rows);
        }
        return made;
    }
    /// The other way, to the nearest number, even ones at ties; by the reciprocal, as ONNX Runtime does.
    Tensor write(Eager& e, const Tensor& cache, const Groups& g) const {
        const std::int64_t rows = cache.dim(2);
        Tensor numbers = e.get(cache.clone());
        for (std::int64_t i = 0; i < numbers.numel(); ++i) {
            float& x = numbers.mutableData<float>()[i];
            x *= 1.0F / scaleOf(i, g, rows);
            if (dtype != DType::Float8E4M3FN)
                x = std::clamp(std::nearbyint(x), pairs ? -8.0F : -128.0F, pairs ? 7.0F : 127.0F);
        }
        if (!pairs) return e.as(numbers, dtype);
        Tensor made = e.get(Tensor::allocate(DType::UInt8, Shape{g.batches, g.keyHeads, rows, g.size / 2}));
        const float* from = numbers.data<float>();
        for (std::int64_t i = 0; i < made.numel(); ++i) {
            made.mutableData<std::uint8_t>()[i] = static_cast<std::uint8_t>(static_cast<int>(from[2 * i] + 8) |
                                                                            static_cast<int>(from[2 * i + 1] + 8) << 4);
        }
        return made;
    }
};

void refuse(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    for (std::string_view name : {"k_quant_type", "v_quant_type"}) {
        const std::string type = attributes.getString(name, "NONE");
        if (type != "NONE" && type != "PER_TENSOR" && type != "PER_CHANNEL")
            e.fail("a cache quantised as " + type + " is not supported");
    }
    if (attributes.getInt("sliding_window_cache", 0) != 0) e.fail("a cache of the size of its window is not supported");
}

/// x over the root of its mean square by heads, times the weight.
Tensor headNorm(Eager& e, const Tensor& x, Name weight) {
    const Attributes options{{"axis", std::int64_t{-1}},
                             {"epsilon", e.context().attributes().getFloat("qk_norm_epsilon", 1e-6)}};
    return e.onnx("RMSNormalization", {Value(x), Value(e.as(e.tensor(weight), DType::Float32))}, options);
}

void readHeads(Eager& e, Groups& g) {
    const Tensor query = e.tensor("query");
    if (query.rank() != 3) e.fail("queries must be [batch, sequence, hidden], but are " + query.typeText());
    g.batches = query.dim(0), g.rows = query.dim(1);
    if (e.has("key") != e.has("value")) e.fail("key and value must be given together");
    if (e.has("key")) {
        g.q = splitHeads(e, query, g.heads, {}, 0);
        g.k = splitHeads(e, e.tensor("key"), g.keyHeads, {}, 0);
        g.v = splitHeads(e, e.tensor("value"), g.keyHeads, {}, 0);
    } else {
        const std::int64_t all = g.heads + 2 * g.keyHeads, size = query.dim(2) / all;
        if (query.dim(2) % all != 0) e.fail(std::to_string(all) + " heads do not match " + query.typeText());
        const auto part = [&](std::int64_t first, std::int64_t count) {
            return splitHeads(e, e.get(query.sliced(2, first * size, count * size).contiguous()), count, {}, 0);
        };
        g.q = part(0, g.heads);
        g.k = part(g.heads, g.keyHeads);
        g.v = part(g.heads + g.keyHeads, g.keyHeads);
    }
    g.size = g.q.dim(3);
    if (g.k.dim(0) != g.batches || g.k.dim(2) != g.rows || g.k.dim(3) != g.size || g.v.shape() != g.k.shape())
        e.fail("keys " + g.k.typeText() + " and values " + g.v.typeText() + " do not match");
    if (e.has("q_norm_weight") != e.has("k_norm_weight"))
        e.fail("q_norm_weight and k_norm_weight must be given together");
    if (e.has("q_norm_weight")) {
        g.q = headNorm(e, g.q, "q_norm_weight");
        g.k = headNorm(e, g.k, "k_norm_weight");
    }
}

/// seqlens_k holds the lengths with the new tokens, less 1. All tokens new: a prompt, its past is empty.
void readLengths(Eager& e, Groups& g, const CacheFormat& keys, const CacheFormat& values) {
    const std::vector<std::int64_t> lengths = e.integers("seqlens_k");
    const std::int64_t longest = e.integer("total_sequence_length");
    if (static_cast<std::int64_t>(lengths.size()) != g.batches || longest < g.rows)
        e.fail("seqlens_k or total_sequence_length do not match " + e.tensor("query").typeText());
    for (std::int64_t length : lengths) {
        const bool prompt = longest == g.rows;
        const std::int64_t total = length + 1, past = prompt ? 0 : total - g.rows;
        if (total < 1 || total > longest || past < 0)
            e.fail("seqlens_k " + std::to_string(length) + " does not match total_sequence_length " +
                   std::to_string(longest));
        g.total.push_back(total);
        g.past.push_back(past);
    }
    std::int64_t room = longest;
    if (e.has("past_key") != e.has("past_value")) e.fail("past_key and past_value must be given together");
    if (e.has("past_key")) {
        const Tensor pastK = e.tensor("past_key"), pastV = e.tensor("past_value");
        const auto fits = [&](const Tensor& past, const CacheFormat& format) {
            return past.rank() == 4 && past.dim(0) == g.batches && past.dim(1) == g.keyHeads &&
                   past.dim(2) == pastK.dim(2) && past.dim(3) == (format.pairs ? g.size / 2 : g.size);
        };
        if (!fits(pastK, keys) || !fits(pastV, values))
            e.fail("past_key " + pastK.typeText() + " and past_value " + pastV.typeText() + " do not match");
        room = std::max(room, pastK.dim(2));
    }
    const std::int64_t held = e.has("past_key") ? e.tensor("past_key").dim(2) : 0;
    // What is new may not lie beyond the cache, what is past must be in it.
    for (std::int64_t past : g.past) {
        if (past + g.rows > room || past > held) e.fail("the cache has no " + std::to_string(past) + " past keys");
    }
    const auto filled = [&](Name past, const Tensor& now, const CacheFormat& format) {
        Tensor cache = e.get(Tensor::zeros(DType::Float32, Shape{g.batches, g.keyHeads, room, g.size}));
        if (e.has(past)) {
            const Tensor before =
                format.dtype == DType::Undefined ? widened(e, past) : format.read(e, e.tensor(past), g);
            for (std::int64_t b = 0; b < g.batches; ++b) {
                const std::int64_t kept = g.past[static_cast<std::size_t>(b)];
                kernels::copyInto(e.context().pool(), before.sliced(0, b, 1).sliced(2, 0, kept),
                                  cache.sliced(0, b, 1).sliced(2, 0, kept));
            }
        }
        for (std::int64_t b = 0; b < g.batches; ++b) {
            kernels::copyInto(e.context().pool(), now.sliced(0, b, 1),
                              cache.sliced(0, b, 1).sliced(2, g.past[static_cast<std::size_t>(b)], g.rows));
        }
        return cache;
    };
    g.cacheK = filled("past_key", g.k, keys);
    g.cacheV = filled("past_value", g.v, values);
}

void rotate(Eager& e, Groups& g) {
    if (e.context().attributes().getInt("do_rotary", 0) == 0) return;
    if (!e.has("cos_cache") || !e.has("sin_cache")) e.fail("do_rotary expects cos_cache and sin_cache");
    Rotation rotation = tablesOf(e, e.context().attributes().getInt("rotary_interleaved", 0) != 0);
    const std::vector<std::int64_t> lengths = e.integers("seqlens_k");
    const std::int64_t longest = e.integer("total_sequence_length");
    if (static_cast<std::int64_t>(lengths.size()) != g.batches) e.fail("seqlens_k does not match");
    if (e.has("position_ids") && e.tensor("position_ids").numel() != g.batches * g.rows)
        e.fail("position_ids " + e.tensor("position_ids").typeText() + " do not match");
    const Tensor positions = e.has("position_ids") ? e.tensor("position_ids") : Tensor();
    for (std::int64_t i = 0; i < g.batches * g.rows; ++i) {
        const std::int64_t past = longest == g.rows ? 0 : lengths[static_cast<std::size_t>(i / g.rows)] + 1 - g.rows;
        // Padding behind a short prompt has no position of its own.
        rotation.positions.push_back(positions.defined() ? positions.toInt64(i)
                                                         : std::max<std::int64_t>(past + i % g.rows, 0));
    }
    g.q = e.get(rotatedHeads(g.q, e.get(headLayoutOf(g.q, 0)), rotation));
    g.k = e.get(rotatedHeads(g.k, e.get(headLayoutOf(g.k, 0)), rotation));
}

/// Adds to one row of scores; behind the keys there may be one more column: the sink, which takes part of the softmax.
void adjust(const Groups& g, std::int64_t b, std::int64_t h, std::int64_t query, float* row, std::int64_t keys,
            bool sink) {
    const std::int64_t position = g.past[static_cast<std::size_t>(b)] + query,
                       total = g.total[static_cast<std::size_t>(b)];
    const std::int64_t end = g.causal ? std::min(position + 1, total) : total;
    const std::int64_t first = g.window >= 0 ? std::max<std::int64_t>(0, position + 1 - g.window) : 0;
    const float* added = nullptr;
    if (g.bias.defined()) {
        added =
            g.bias.data<float>() +
            (((g.bias.dim(0) == 1 ? 0 : b) * g.bias.dim(1) + (g.bias.dim(1) == 1 ? 0 : h)) * g.bias.dim(2) + query) *
                g.bias.dim(3);
    }
    for (std::int64_t j = 0; j < keys; ++j) {
        if (j < first || j >= end) row[j] = -std::numeric_limits<float>::infinity();
        else if (added && j < g.bias.dim(3)) row[j] += added[j];
    }
    if (sink) row[keys] = g.sink.defined() ? g.sink.data<float>()[h] : 0.0F;
}

/// A cache with one row of zeros behind it.
Tensor withRow(Eager& e, const Tensor& cache) {
    Shape shape = cache.shape();
    shape[2] = 1;
    return e("cat", std::vector<Tensor>{cache, e.get(Tensor::zeros(DType::Float32, shape))}, 2);
}

EagerResult groupQuery(Eager& e) {
    refuse(e);
    const Attributes& attributes = e.context().attributes();
    Groups g;
    g.heads = headCount(e), g.keyHeads = headCount(e, "kv_num_heads");
    g.window = attributes.getInt("local_window_size", -1);
    g.causal = attributes.getInt("causal", 1) != 0;
    g.smooth = attributes.getInt("smooth_softmax", 0) == 1;
    readHeads(e, g);
    rotate(e, g);
    const CacheFormat keyFormat = CacheFormat::of(e, "k_quant_type", "past_key", "k_scale", g),
                      valueFormat = CacheFormat::of(e, "v_quant_type", "past_value", "v_scale", g);
    readLengths(e, g, keyFormat, valueFormat);
    // What is attended to is what the cache keeps.
    const auto kept = [&](Tensor& cache, const CacheFormat& format) {
        if (format.dtype == DType::Undefined) return e.as(cache, e.tensor("query").dtype());
        const Tensor present = format.write(e, cache, g);
        cache = format.read(e, present, g);
        return present;
    };
    const Tensor presentK = kept(g.cacheK, keyFormat), presentV = kept(g.cacheV, valueFormat);
    if (e.has("attention_bias")) {
        g.bias = e.as(e.tensor("attention_bias"), DType::Float32);
        const bool fits = g.bias.rank() == 4 && (g.bias.dim(0) == g.batches || g.bias.dim(0) == 1) &&
                          (g.bias.dim(1) == g.heads || g.bias.dim(1) == 1) && g.bias.dim(2) == g.rows;
        if (!fits) e.fail("attention_bias " + g.bias.typeText() + " does not match");
    }
    if (e.has("head_sink")) {
        g.sink = e.as(e.tensor("head_sink"), DType::Float32);
        if (g.sink.numel() != g.heads) e.fail("head_sink " + g.sink.typeText() + " does not match");
    }
    const bool sink = g.smooth || g.sink.defined();
    const std::int64_t keys = e.integer("total_sequence_length");
    const auto seen = [&](const Tensor& cache) {
        const Tensor part = e.get(cache.sliced(2, 0, keys).contiguous());
        return sink ? withRow(e, part) : part;
    };
    HeadAttention attention{g.q, seen(g.cacheK), seen(g.cacheV), attributes.getFloat("scale", 0),
                            attributes.getFloat("softcap", 0)};
    attention.bias = [&](std::int64_t b, std::int64_t h, std::int64_t i, float* row) {
        adjust(g, b, h, i, row, keys, sink);
    };
    const std::int64_t watched = attributes.getInt("qk_output", 0);
    if (e.context().wants(3)) attention.watchedStep = watched == 1 ? 2 : 3;
    auto [y, scores] = attendHeads(e, attention);
    const DType type = e.tensor("query").dtype();
    std::vector<Value> results{Value(e.as(y, type)), Value(presentK), Value(presentV)};
    if (scores.defined()) {
        if (sink) scores = e.get(scores.sliced(3, 0, keys).clone());
        // What may not be attended to has no score.
        for (float& score : scores.mutableSpan<float>()) score = std::isinf(score) ? 0.0F : score;
        results.emplace_back(e.as(scores, type));
    }
    return results;
}

base::Result<void> inferGroupQuery(InferContext& context) {
    const auto& q = context.in("query").shape;
    const std::int64_t heads = context.attributes().getInt("num_heads", 0),
                       keyHeads = context.attributes().getInt("kv_num_heads", 0);
    std::optional<Dims> dims = q;
    Dim size;
    if (q && q->size() == 3 && q->back().known() && heads > 0 && keyHeads > 0 && heads < 1 << 20 &&
        keyHeads < 1 << 20) {
        size = Dim::of(q->back().value / (context.has("key") ? heads : heads + 2 * keyHeads));
        dims->back() = Dim::of(size.value * heads);
    } else if (dims && !dims->empty() && !context.has("key")) {
        dims->back() = Dim{};
    }
    const Dim batch = q && !q->empty() ? q->front() : Dim{};
    setLike(context, "query", std::move(dims));
    for (std::size_t i : {1U, 2U}) {
        const bool pairs = context.attributes().getInt("kv_cache_bit_width", 8) == 4,
                   quantized =
                       context.attributes().getString(i == 1 ? "k_quant_type" : "v_quant_type", "NONE") != "NONE";
        const Dim stored = quantized && pairs && size.known() ? Dim::of(size.value / 2) : size;
        const DType made = quantized ? (pairs ? DType::UInt8 : DType::Int8) : context.in("query").dtype;
        TypeInfo cache = TypeInfo::tensor(context.has("past_key") ? context.in("past_key").dtype : made,
                                          Dims{batch, Dim::of(keyHeads), Dim{}, stored});
        context.set(i, std::move(cache));
    }
    context.set("output_qk",
                TypeInfo::tensor(context.in("query").dtype,
                                 Dims{batch, Dim::of(heads), q && q->size() == 3 ? (*q)[1] : Dim{}, Dim{}}));
    return {};
}

}  // namespace

void define_contrib_group_attention(Registry& registry) {
    registry.add(contribRow("RotaryEmbedding", "rotates pairs of elements by their position", Category::Attention)
                     .in("input", kContribFloats, "T")
                     .in("position_ids", kInt64)
                     .in("cos_cache", kContribFloats, "T")
                     .in("sin_cache", kContribFloats, "T")
                     .out("output")
                     .attrInt("interleaved", 0)
                     .attrInt("is_packed_batching", 0)
                     .attrInt("num_heads", 0)
                     .attrInt("rotary_embedding_dim", 0)
                     .attrFloat("scale", 1)
                     .runs(contribRotaryEmbedding, inferSame));
    constexpr DTypeSet kCaches = kContribFloats | bit(DType::Int8) | bit(DType::UInt8) | bit(DType::Float8E4M3FN);
    registry.add(contribRow("GroupQueryAttention",
                            "attention of groups of queries that share keys and values, with a cache",
                            Category::Attention)
                     .in("query", kContribFloats, "T")
                     .optionalIn("key", kContribFloats, "T")
                     .optionalIn("value", kContribFloats, "T")
                     .optionalIn("past_key", kCaches)
                     .optionalIn("past_value", kCaches)
                     .in("seqlens_k", kInt32)
                     .in("total_sequence_length", kInt32)
                     .optionalIn("cos_cache", kContribFloats, "T")
                     .optionalIn("sin_cache", kContribFloats, "T")
                     .optionalIn("position_ids", kInt64)
                     .optionalIn("attention_bias", kContribFloats, "T")
                     .optionalIn("head_sink", kContribFloats, "T")
                     .optionalIn("k_scale", kFloat32)
                     .optionalIn("v_scale", kFloat32)
                     .optionalIn("q_norm_weight", kContribFloats, "T")
                     .optionalIn("k_norm_weight", kContribFloats, "T")
                     .out("output")
                     .out("present_key", Arity::Optional)
                     .out("present_value", Arity::Optional)
                     .out("output_qk", Arity::Optional)
                     .attrInt("causal", 1)
                     .attrInt("do_rotary", 0)
                     .attr("k_quant_type", AttributeKind::String)
                     .attr("kv_cache_bit_width", AttributeKind::Int)
                     .required("kv_num_heads", AttributeKind::Int)
                     .attrInt("local_window_size", -1)
                     .required("num_heads", AttributeKind::Int)
                     .attrFloat("qk_norm_epsilon", 1e-6)
                     .attrInt("qk_output", 0)
                     .attrInt("rotary_interleaved", 0)
                     .attr("scale", AttributeKind::Float)
                     .attrInt("sliding_window_cache", 0)
                     .attrInt("smooth_softmax", 0)
                     .attrFloat("softcap", 0)
                     .attr("v_quant_type", AttributeKind::String)
                     .runs(groupQuery, inferGroupQuery));
    explain("com.microsoft", "RotaryEmbedding", contribRotatedTerms);
    explain("com.microsoft", "GroupQueryAttention", termsByGroups);
}

}  // namespace sonde::ops
