// com.microsoft: attention with the projection of its input, and with queries, keys and values of their own.

#include "core/ops/attention/contrib_attention.h"

#include <algorithm>

#include "core/ops/attention/heads.h"
#include "core/ops/dependence/heads.h"
#include "core/ops/dependence/region.h"
#include "core/ops/kernels/move.h"

namespace sonde::ops {

namespace {

AttentionMask maskOf(Eager& e) {
    const Name mask{"mask_index", "key_padding_mask"};
    const Attributes& attributes = e.context().attributes();
    AttentionMask result;
    if (e.has(mask)) result.mask = e.as(e.tensor(mask), DType::Int32);
    if (e.has("attention_bias")) result.bias = e.as(e.tensor("attention_bias"), DType::Float32);
    result.hidden = attributes.getFloat("mask_filter_value", -10000);
    result.unidirectional = attributes.getInt("unidirectional", 0) != 0;
    return result;
}

/// Attention of the heads under the mask, and the scores before softmax if asked for.
std::pair<Tensor, Tensor> attend(Eager& e, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask,
                                 bool scores) {
    HeadAttention attention{q, k, v, e.context().attributes().getFloat("scale", 0)};
    if (q.rank() != 4 || k.rank() != 4) e.fail("expects heads");
    mask.check(e, q.dim(0), q.dim(1), q.dim(2), k.dim(2));
    attention.bias = [&mask, keys = k.dim(2), batches = q.dim(0)](std::int64_t b, std::int64_t h, std::int64_t i,
                                                                  float* row) {
        mask.apply(b, h, i, row, keys, batches);
    };
    attention.watchedStep = scores ? 2 : -1;
    return attendHeads(e, attention);
}

/// Keys and values behind the past ones: past and present are [2, B, H, L, d].
struct Cache {
    Tensor k, v, present;
};

Cache withPast(Eager& e, Tensor k, Tensor v) {
    if (e.has("past")) {
        const Tensor both = e.as(e.tensor("past"), DType::Float32);
        if (both.rank() != 5 || both.dim(0) != 2)
            e.fail("past must be [2, batch, heads, length, size], but is " + both.typeText());
        k = e.get(appendedHeads(both.selected(0, 0), k));
        v = e.get(appendedHeads(both.selected(0, 1), v));
    }
    Cache cache{k, v, {}};
    if (e.context().wants(1)) {
        if (k.shape() != v.shape()) e.fail("a present state expects keys and values of one size");
        cache.present = e("stack", std::vector<Tensor>{k, v}, 0);
    }
    return cache;
}

/// The heads of a call that projects them itself.
struct ProjectedHeads {
    Tensor q;
    Cache cache;
    AttentionMask mask;
};

/// projected [B, S, q + k + v]: heads of queries, keys and values.
ProjectedHeads projectedHeads(Eager& e, const Tensor& projected, const std::vector<std::int64_t>& sizes) {
    const std::int64_t heads = headCount(e);
    if (sizes.size() != 3 || sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0 || projected.rank() != 3 ||
        sizes[0] + sizes[1] + sizes[2] != projected.dim(2)) {
        e.fail("weights do not match the sizes of queries, keys and values");
    }
    Tensor parts[3];
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        parts[i] = splitHeads(e, e.get(projected.sliced(2, offset, sizes[i]).contiguous()), heads, {}, 0);
        offset += sizes[i];
    }
    AttentionMask mask = maskOf(e);
    if (e.has("past")) mask.past = e.tensor("past").rank() == 5 ? e.tensor("past").dim(3) : 0;
    return {parts[0], withPast(e, parts[1], parts[2]), std::move(mask)};
}

/// Then as both operators go on.
EagerResult attendProjected(Eager& e, const Tensor& projected, const std::vector<std::int64_t>& sizes, DType type) {
    const ProjectedHeads heads = projectedHeads(e, projected, sizes);
    const Tensor y = attend(e, heads.q, heads.cache.k, heads.cache.v, heads.mask, false).first;
    std::vector<Value> results{Value(e.as(y, type))};
    if (heads.cache.present.defined()) results.emplace_back(e.as(heads.cache.present, type));
    return results;
}

void refuseSharedBuffer(Eager& e) {
    if (e.context().attributes().getInt("past_present_share_buffer", 0) != 0)
        e.fail("past and present in one buffer are not supported");
    if (e.context().attributes().getInt("do_rotary", 0) != 0) e.fail("do_rotary has no tables of angles here");
}

std::vector<std::int64_t> projectedSizes(const Attributes& attributes, std::int64_t all) {
    return attributes.getInts("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
}

Tensor projectedInput(Eager& e) {
    Tensor projected = e("matmul", widened(e, "input"), widened(e, "weights"));
    if (e.has("bias")) projected = e("add.Tensor", projected, widened(e, "bias"));
    if (projected.rank() != 3) e.fail("expects [batch, sequence, hidden], but found " + e.tensor("input").typeText());
    return projected;
}

Tensor quantizedInput(Eager& e) {
    const Tensor product = e("matmul", e.get(centred(e.tensor("input"), e.optional("input_zero_point"), -1)),
                             e.get(centred(e.tensor("weight"), e.optional("weight_zero_point"), -1)));
    const Tensor factor =
        e("mul.Tensor", e.as(e.tensor("input_scale"), DType::Float64), e.as(e.tensor("weight_scale"), DType::Float64));
    const Tensor projected =
        e.as(e("add.Tensor", e("mul.Tensor", product, factor), e.as(e.tensor("bias"), DType::Float64)), DType::Float32);
    if (projected.shape() != product.shape()) e.fail("bias or scales do not match " + product.typeText());
    if (projected.rank() != 3) e.fail("expects [batch, sequence, hidden], but found " + e.tensor("input").typeText());
    return projected;
}

/// input [B, S, in], weights [in, q + k + v], bias, mask_index, past, attention_bias.
EagerResult projectedAttention(Eager& e) {
    refuseSharedBuffer(e);
    const Tensor projected = projectedInput(e);
    return attendProjected(e, projected, projectedSizes(e.context().attributes(), projected.dim(2)),
                           e.tensor("input").dtype());
}

/// What of both operators' calls are the same is asked of here: QAttention has bytes, scales and zero points.
bool isOfBytes(const KernelContext& context) { return tensor::isInteger(context.in("input").dtype()); }

EagerResult projectedScores(Eager& e) {
    const Tensor projected = isOfBytes(e.context()) ? quantizedInput(e) : projectedInput(e);
    const ProjectedHeads heads =
        projectedHeads(e, projected, projectedSizes(e.context().attributes(), projected.dim(2)));
    return attend(e, heads.q, heads.cache.k, heads.cache.v, heads.mask, true).second;
}

/// An element of a projection: rows of the input through a column of the weights. Of bytes both are less their zero
/// points, and the sum is scaled.
class ProjectedElement {
  public:
    ProjectedElement(Dependence& made, const ElementCall& call, std::int64_t column)
        : m_made(made), m_call(call), m_isOfBytes(isOfBytes(call.context)), m_column(column) {}

    /// Adds terms of "x" in a row, each weighed by `factor` too.
    base::Result<void> addRow(std::int64_t row, double factor) {
        const std::size_t input = m_call.op.position("input"), weights = m_call.op.position({"weights", "weight"});
        const Tensor& w = m_call.context.in(weights);
        const std::int64_t count = w.dim(0);
        if ((row + 1) * count > m_call.context.in(input).numel() || m_column >= w.dim(1))
            return opError("the weights do not match the input");
        const std::uint32_t part = m_made.listPart("x", "w");
        const double zero = ofColumn("weight_zero_point", 0);
        for (std::int64_t k = 0; k < count; ++k) {
            dependence::addElement(m_made, part, m_call, input, row * count + k);
            DependenceTerm& term = m_made.terms.back();
            const std::int64_t element = k * w.dim(1) + m_column;
            term.weight = factor * (w.toDouble(element) - zero);
            if (factor != 1 || zero != 0) continue;
            term.weightInput = static_cast<std::uint32_t>(weights), term.weightElement = element;
        }
        return {};
    }

    /// "sum(w * x)"
    std::string sum() {
        (void)m_made.listPart("x", "w");
        if (!m_isOfBytes) return "sum(w * x)";
        addNumber("input_zero_point"), addNumber("input_scale"), addNumber("weight_scale");
        return "input_scale * weight_scale * sum(w * (x - input_zero_point))";
    }

    /// "bias", or nothing.
    std::string bias() {
        const std::size_t bias = m_call.op.position("bias");
        if (!m_call.context.has(bias) || m_column >= m_call.context.in(bias).numel()) return {};
        dependence::addElement(m_made, m_made.part("bias"), m_call, bias, m_column);
        return "bias";
    }

  private:
    std::int64_t elementOf(const Tensor& x) const { return x.numel() == 1 ? 0 : m_column; }
    double ofColumn(std::string_view name, double fallback) const {
        const Value* const given = dependence::argumentOf(m_call, name);
        return given ? given->tensor().toDouble(elementOf(given->tensor())) : fallback;
    }
    void addNumber(std::string_view name) {
        const Value* const given = dependence::argumentOf(m_call, name);
        if (!given) return m_made.number(name, 0);
        dependence::addElement(m_made, m_made.part(name), m_call, m_call.op.position(Name(name)),
                               elementOf(given->tensor()));
    }

    Dependence& m_made;
    const ElementCall& m_call;
    bool m_isOfBytes;
    std::int64_t m_column;
};

/// Keys (or values) [2, B, H, L, d] for the next call: the past ones, and those of the input.
base::Result<Dependence> projectedPresent(const ElementCall& call, const std::vector<std::int64_t>& sizes) {
    const std::int64_t heads = call.result.dim(2), length = call.result.dim(3), size = call.result.dim(4),
                       rows = call.context.in(call.op.position("input")).dim(1), past = length - rows,
                       which = call.at[0], batch = call.at[1], head = call.at[2], row = call.at[3];
    if (row < past) {
        const std::int64_t line = ((which * call.result.dim(1) + batch) * heads + head) * past + row;
        const std::int64_t element = line * size + call.at[4];
        return dependence::sourceElement(call, call.op.position("past"), 0, element,
                                         call.context.in(call.op.position("past")).toDouble(element));
    }
    Dependence made;
    ProjectedElement projected(made, call, sizes[0] + which * sizes[1] + head * size + call.at[4]);
    SONDE_TRY(projected.addRow(batch * rows + row - past, 1));
    made.formula = projected.sum();
    const std::string bias = projected.bias();
    if (!bias.empty()) made.formula += " + " + bias;
    return made;
}

/// Values are projections of the input's rows, which also make the scores.
base::Result<Dependence> projectedTerms(const ElementCall& call) {
    const Attributes& attributes = call.context.attributes();
    const Tensor &x = call.context.in(call.op.position("input")),
                 &w = call.context.in(call.op.position({"weights", "weight"}));
    if (x.rank() != 3 || w.rank() != 2) return opError("the weights do not match the input");
    const std::vector<std::int64_t> sizes = projectedSizes(attributes, w.dim(1));
    if (sizes.size() != 3) return opError("the weights do not match the sizes of queries, keys and values");
    if (call.output == 1) return projectedPresent(call, sizes);
    const std::int64_t heads = attributes.getInt("num_heads", 1), rows = x.dim(1);
    SONDE_ASSIGN(const std::vector<Value> scores, runEager(call.context, projectedScores));
    SONDE_ASSIGN(const Tensor weights, dependence::softmaxOfScores(scores.front().tensor()));
    const dependence::HeadRows result = dependence::headRows(0, call.result, heads);
    const dependence::HeadPlace at = result.placeOf(call.element);
    const std::int64_t keys = weights.dim(3), past = keys - rows,
                       column = sizes[0] + sizes[1] + at.head * result.size + at.place;
    std::int64_t line = ((at.batch * heads + at.head) * result.rows + at.row) * keys;
    SONDE_TRY(dependence::checkTerms(rows * x.dim(2) + past));
    Dependence made;
    for (std::int64_t row = 0; row < past; ++row) {
        const std::int64_t values = call.context.in(call.op.position("past")).numel() / 2;
        dependence::addElement(made, made.listPart("past", "w_past"), call, call.op.position("past"),
                               values + ((at.batch * heads + at.head) * past + row) * result.size + at.place);
        made.terms.back().weight = weights.toDouble(line++);
    }
    ProjectedElement projected(made, call, column);
    double share = 0;  // of the rows that are projected
    for (std::int64_t row = 0; row < rows; ++row) {
        const double weight = weights.toDouble(line++);
        share += weight;
        if (weight != 0) SONDE_TRY(projected.addRow(at.batch * rows + row, weight));
    }
    made.formula = projected.sum();
    const std::string bias = projected.bias();
    if (!bias.empty()) made.formula += past > 0 ? " + share * " + bias : " + " + bias;
    if (past > 0) made.formula += " + sum(w_past * past)", made.number("share", share);
    return made;
}

/// The same on bytes: input, weights, bias, their scales, mask_index, their zero points, past.
EagerResult quantizedAttention(Eager& e) {
    refuseSharedBuffer(e);
    const Tensor projected = quantizedInput(e);
    return attendProjected(e, projected, projectedSizes({}, projected.dim(2)), e.tensor("bias").dtype());
}

base::Result<void> inferProjected(InferContext& context, DType type) {
    const auto &x = context.in("input").shape, &w = context.in({"weight", "weights"}).shape;
    const std::vector<std::int64_t> sizes = context.attributes().getInts("qkv_hidden_sizes");
    std::optional<Dims> dims = x;
    if (dims && dims->size() == 3) {
        if (sizes.size() == 3) dims->back() = Dim::of(sizes[2]);
        else dims->back() = w && w->size() == 2 && w->back().known() ? Dim::of(w->back().value / 3) : Dim{};
    }
    context.set(TypeInfo::tensor(type, std::move(dims)));
    context.set("present", TypeInfo::tensor(type, unknownDims(5)));
    return {};
}

/// Heads of queries, keys and values in all the forms that MultiHeadAttention takes.
struct Parts {
    Tensor q, k, v;
};

Parts partsOf(Eager& e) {
    const std::int64_t heads = headCount(e);
    const Tensor query = widened(e, "query"), bias = e.has("bias") ? e.tensor("bias") : Tensor();
    const auto packed = [&](const Tensor& x, std::int64_t i) {  // [B, S, H, n, d] -> [B, S, H·d]
        const Tensor part = e.get(x.selected(3, i).contiguous());
        return e.reshape(part, Shape{x.dim(0), x.dim(1), x.dim(2) * x.dim(4)});
    };
    if (query.rank() == 5) {
        if (query.dim(3) != 3)
            e.fail("packed queries, keys and values must be [batch, sequence, heads, 3, size], but are " +
                   query.typeText());
        const std::int64_t hidden = query.dim(2) * query.dim(4);
        return {splitHeads(e, packed(query, 0), heads, bias, 0), splitHeads(e, packed(query, 1), heads, bias, hidden),
                splitHeads(e, packed(query, 2), heads, bias, 2 * hidden)};
    }
    Parts parts{splitHeads(e, query, heads, bias, 0), {}, {}};
    const std::int64_t hidden = query.dim(2);
    if (!e.has("key")) {  // [B, S, 2·hidden + v]
        if (hidden % 3 != 0) e.fail("keys are missing");
        const auto part = [&](std::int64_t i) {
            return splitHeads(e, e.get(query.sliced(2, i * hidden / 3, hidden / 3).contiguous()), heads, bias,
                              i * hidden / 3);
        };
        return {part(0), part(1), part(2)};
    }
    const Tensor key = widened(e, "key");
    if (key.rank() == 5) {
        if (key.dim(3) != 2)
            e.fail("packed keys and values must be [batch, sequence, heads, 2, size], but are " + key.typeText());
        parts.k = splitHeads(e, packed(key, 0), heads, bias, hidden);
        parts.v = splitHeads(e, packed(key, 1), heads, bias, 2 * hidden);
        return parts;
    }
    if (!e.has("value")) e.fail("values are missing");
    if (key.rank() == 4) {  // what an encoder gave, with its bias in it
        parts.k = key;
        parts.v = widened(e, "value");
        return parts;
    }
    parts.k = splitHeads(e, key, heads, bias, hidden);
    parts.v = splitHeads(e, e.tensor("value"), heads, bias, 2 * hidden);
    return parts;
}

std::vector<Value> attentionResults(Eager& e, const std::pair<Tensor, Tensor>& attended, const Tensor& k,
                                    const Tensor& v) {
    const DType type = e.tensor("query").dtype();
    std::vector<Value> results{Value(e.as(attended.first, type)), Value(e.as(k, type)), Value(e.as(v, type))};
    if (attended.second.defined()) results.emplace_back(attended.second);
    return results;
}

/// query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value.
EagerResult contribMultiHead(Eager& e) {
    if (e.has("past_sequence_length") || e.has("cache_indirection"))
        e.fail("past and present in one buffer are not supported");
    Parts parts = partsOf(e);
    AttentionMask mask = maskOf(e);
    if (e.has("past_key") != e.has("past_value")) e.fail("past_key and past_value must be given together");
    if (e.has("past_key")) {
        mask.past = e.tensor("past_key").rank() == 4 ? e.tensor("past_key").dim(2) : 0;
        parts.k = e.get(appendedHeads(widened(e, "past_key"), parts.k));
        parts.v = e.get(appendedHeads(widened(e, "past_value"), parts.v));
    }
    return attentionResults(e, attend(e, parts.q, parts.k, parts.v, mask, e.context().wants(3)), parts.k, parts.v);
}

/// One token: query, key, value, mask_index, attention_bias, past_key, past_value, past_sequence_length, beam_width,
/// cache_indirection, bias. In a shared buffer the token's key and value are put behind those that count.
EagerResult decoderMultiHead(Eager& e) {
    if (e.has("cache_indirection")) e.fail("a beam search's cache_indirection is not supported");
    Parts parts = partsOf(e);
    AttentionMask mask = maskOf(e);
    Tensor k = parts.k, v = parts.v;
    if (e.has("past_key") != e.has("past_value")) e.fail("past_key and past_value must be given together");
    if (e.has("past_key") && e.context().attributes().getInt("past_present_share_buffer", 0) != 0) {
        if (!e.has("past_sequence_length")) e.fail("past_sequence_length is missing");
        const std::int64_t past = e.integer("past_sequence_length");
        k = e.get(widened(e, "past_key").clone());
        v = e.get(widened(e, "past_value").clone());
        const auto fits = [&](const Tensor& room, const Tensor& part) {
            return room.rank() == 4 && room.dim(0) == part.dim(0) && room.dim(1) == part.dim(1) &&
                   room.dim(3) == part.dim(3) && past >= 0 && past <= room.dim(2) - part.dim(2);
        };
        if (!fits(k, parts.k) || !fits(v, parts.v))
            e.fail("past_key " + k.typeText() + " has no room for " + parts.k.typeText() + " behind " +
                   std::to_string(past));
        kernels::copyInto(e.context().pool(), parts.k, k.sliced(2, past, parts.k.dim(2)));
        kernels::copyInto(e.context().pool(), parts.v, v.sliced(2, past, parts.v.dim(2)));
        mask.past = past;
        const Tensor seenK = e.get(k.sliced(2, 0, past + parts.k.dim(2)).contiguous()),
                     seenV = e.get(v.sliced(2, 0, past + parts.v.dim(2)).contiguous());
        return attentionResults(e, attend(e, parts.q, seenK, seenV, mask, e.context().wants(3)), k, v);
    }
    if (e.has("past_key")) {
        mask.past = e.tensor("past_key").rank() == 4 ? e.tensor("past_key").dim(2) : 0;
        k = e.get(appendedHeads(widened(e, "past_key"), parts.k));
        v = e.get(appendedHeads(widened(e, "past_value"), parts.v));
    }
    return attentionResults(e, attend(e, parts.q, k, v, mask, e.context().wants(3)), k, v);
}

/// Heads times what each has; unknown if either is, or if a file's numbers are absurd.
Dim times(const Dim& heads, const Dim& size) {
    std::int64_t product = 0;
    if (!heads.known() || !size.known() || __builtin_mul_overflow(heads.value, size.value, &product)) return {};
    return Dim::of(product);
}

base::Result<void> inferMultiHead(InferContext& context) {
    const auto &q = context.in("query").shape, &v = context.in("value").shape;
    const Dim heads = Dim::of(context.attributes().getInt("num_heads", 0));
    std::optional<Dims> dims;
    if (q && q->size() == 5) {
        dims = Dims{(*q)[0], (*q)[1], times(heads, (*q)[4])};
    } else if (q && q->size() == 3) {
        dims = q;
        if (!context.has("key")) dims->back() = dims->back().known() ? Dim::of(dims->back().value / 3) : Dim{};
        else if (v && v->size() == 3) dims->back() = v->back();
        else if (v && v->size() == 4) dims->back() = times(heads, v->back());
        else if (context.has("value")) dims->back() = Dim{};
    }
    const Dim batch = q && !q->empty() ? q->front() : Dim{};
    setLike(context, "query", std::move(dims));
    for (std::size_t i : {1U, 2U}) setLike(context, "query", Dims{batch, heads, Dim{}, Dim{}}, i);
    context.set("qk",
                TypeInfo::tensor(DType::Float32, Dims{batch, heads, q && q->size() > 1 ? (*q)[1] : Dim{}, Dim{}}));
    return {};
}

}  // namespace

void define_contrib_attention(Registry& registry) {
    const auto kAttention = Category::Attention;
    registry.add(contribRow("Attention", "heads of attention with the projection of their input", kAttention)
                     .in("input", kContribFloats, "T")
                     .in("weights", kContribFloats, "T")
                     .optionalIn("bias", kContribFloats, "T")
                     .optionalIn("mask_index", kInt32)
                     .optionalIn("past", kContribFloats, "T")
                     .optionalIn("attention_bias", kContribFloats, "T")
                     .optionalIn("past_sequence_length", kInt32)
                     .out("output")
                     .out("present", Arity::Optional)
                     .attrInt("do_rotary", 0)
                     .attrFloat("mask_filter_value", -10000)
                     .required("num_heads", AttributeKind::Int)
                     .attrInt("past_present_share_buffer", 0)
                     .attrInts("qkv_hidden_sizes")
                     .attr("rotary_embedding_dim", AttributeKind::Int)
                     .attr("scale", AttributeKind::Float)
                     .attrInt("unidirectional", 0)
                     .runs(projectedAttention,
                           [](InferContext& context) { return inferProjected(context, context.in("input").dtype); }));
    registry.add(contribRow("QAttention", "heads of attention with the projection of their quantised input", kAttention)
                     .in("input", kBytes)
                     .in("weight", kBytes)
                     .in("bias", kContribFloats)
                     .in("input_scale", kContribFloats)
                     .in("weight_scale", kContribFloats)
                     .optionalIn("mask_index", kInt32)
                     .optionalIn("input_zero_point", kBytes)
                     .optionalIn("weight_zero_point", kBytes)
                     .optionalIn("past", kContribFloats)
                     .out("output")
                     .out("present", Arity::Optional)
                     .attrInt("do_rotary", 0)
                     .attrFloat("mask_filter_value", -10000)
                     .required("num_heads", AttributeKind::Int)
                     .attrInt("past_present_share_buffer", 0)
                     .attr("scale", AttributeKind::Float)
                     .attrInt("unidirectional", 0)
                     .runs(quantizedAttention,
                           [](InferContext& context) { return inferProjected(context, context.in("bias").dtype); }));
    const auto headRow = [](std::string_view name, std::string_view summary) {
        Row row = contribRow(name, summary, Category::Attention);
        row.in("query", kContribFloats, "T")
            .optionalIn("key", kContribFloats, "T")
            .optionalIn("value", kContribFloats, "T")
            .attrFloat("mask_filter_value", -10000)
            .required("num_heads", AttributeKind::Int)
            .attr("scale", AttributeKind::Float);
        return row;
    };
    const auto outputs = [](Row row) {
        return row.out("output")
            .out("present_key", Arity::Optional)
            .out("present_value", Arity::Optional)
            .out("qk", Arity::Optional);
    };
    registry.add(outputs(headRow("MultiHeadAttention", "softmax(scale·Q·Kᵀ + masks)·V by heads, with a past")
                             .optionalIn("bias", kContribFloats, "T")
                             .optionalIn("key_padding_mask", kInt32)
                             .optionalIn("attention_bias", kContribFloats, "T")
                             .optionalIn("past_key", kContribFloats, "T")
                             .optionalIn("past_value", kContribFloats, "T")
                             .optionalIn("past_sequence_length", kInt32)
                             .optionalIn("cache_indirection", kInt32))
                     .attrInt("unidirectional", 0)
                     .runs(contribMultiHead, inferMultiHead));
    registry.add(outputs(headRow("DecoderMaskedMultiHeadAttention", "attention of one token, with a past")
                             .optionalIn("mask_index", kInt32)
                             .optionalIn("attention_bias", kContribFloats, "T")
                             .optionalIn("past_key", kContribFloats, "T")
                             .optionalIn("past_value", kContribFloats, "T")
                             .optionalIn("past_sequence_length", kInt32)
                             .optionalIn("beam_width", kInt32)
                             .optionalIn("cache_indirection", kInt32)
                             .optionalIn("bias", kContribFloats, "T"))
                     .attrInt("output_qk", 0)
                     .attrInt("past_present_share_buffer", 0)
                     .runs(decoderMultiHead, inferMultiHead));
    explain("com.microsoft", "Attention QAttention", projectedTerms);
    explain("com.microsoft", "MultiHeadAttention DecoderMaskedMultiHeadAttention", termsByHeads);
}

}  // namespace sonde::ops
