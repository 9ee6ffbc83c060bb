// Derivatives of attention, by what it is made of: softmax(scale·Q·Kᵀ + mask)·V, with heads, pasts and windows.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;
using Dims = std::vector<std::int64_t>;

enum AttentionInput : std::size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

/// What attention is called with, in whichever vocabulary.
struct AttentionCall {
    std::array<NodeId, 7> inputs;               ///< by AttentionInput; invalid: left out
    std::int64_t queryHeads = 0, keyHeads = 0;  ///< of packed ones
    double scale = 0, softcap = 0;              ///< 0: 1/sqrt of a head's size; none
    bool isCausal = false;
    std::int64_t left = -1, right = -1;  ///< the window; -1: all
    std::size_t scoresStep = 0;          ///< 0 product, 1 capped, 2 masked, 3 softmax

    static AttentionCall of(const Expr& e) {
        AttentionCall call;
        for (std::size_t i = 0; i < call.inputs.size(); ++i) call.inputs[i] = inputOf(e, i);
        const auto number = [&](const char* name, std::int64_t fallback) {
            return e.attributes.getInt(name, fallback);
        };
        call.queryHeads = number("q_num_heads", 0), call.keyHeads = number("kv_num_heads", 0);
        call.scale = e.attributes.getFloat("scale", 0), call.softcap = e.attributes.getFloat("softcap", 0);
        call.isCausal = number("is_causal", 0) != 0;
        call.left = number("left_window_size", -1), call.right = number("right_window_size", -1);
        call.scoresStep = static_cast<std::size_t>(std::clamp<std::int64_t>(number("qk_matmul_output_mode", 0), 0, 3));
        return call;
    }
};

/// Writes one call; its dimensions must be known.
class WrittenAttention {
  public:
    WrittenAttention(GradientBuilder& b, AttentionCall call)
        : m_b(b), m_call(call), m_dtype(b.graph().node(call.inputs[kQuery]).type.dtype) {}

    /// Y, the keys and values with their pasts, and the scores of the step that is asked for.
    std::vector<NodeId> write() {
        const Part query = part(kQuery, {}, m_call.queryHeads), key = part(kKey, kPastKey, m_call.keyHeads),
                   value = part(kValue, kPastValue, m_call.keyHeads);
        if (!m_b.problem().empty()) return {};
        if (key.heads < 1 || query.heads % key.heads != 0 || value.heads != key.heads || value.rows != key.rows) {
            m_b.fail("the heads of Attention do not match");
            return {};
        }
        m_query = query, m_keys = key.rows;
        const NodeId keys = repeated(key), values = repeated(value);
        const Dims dims{query.batch, query.heads, query.rows, key.rows};
        const double scale = m_call.scale != 0
                                 ? m_call.scale
                                 : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(query.size, 1)));
        const NodeId turned = m_b.sized(m_b.op("Transpose", {keys}, {{"perm", Dims{0, 1, 3, 2}}}),
                                        {query.batch, query.heads, query.size, key.rows});
        std::vector<NodeId> steps{sizedScores(m_b.mul(m_b.op("MatMul", {query.node, turned}), number(scale)), dims)};
        steps.push_back(sizedScores(capped(steps.back()), dims));
        std::vector<NodeId> allowed;
        const NodeId biased = masked(steps.back(), allowed);
        steps.push_back(sizedScores(biased, dims));
        NodeId weights = sizedScores(m_b.op("Softmax", {biased}, {{"axis", std::int64_t{-1}}}), dims);
        // Where nothing may be seen, there is nothing.
        for (const NodeId condition : allowed) weights = gradientWhere(m_b, condition, weights);
        steps.push_back(sizedScores(weights, dims));
        NodeId y = m_b.op("MatMul", {steps.back(), values});
        if (query.isPacked)
            y = m_b.op("Reshape", {m_b.op("Transpose", {y}, {{"perm", Dims{0, 2, 1, 3}}}), m_b.integers({0, 0, -1})});
        return {y, key.node, value.node, steps[m_call.scoresStep]};
    }

  private:
    /// [batch, heads, rows, size]
    struct Part {
        NodeId node;
        std::int64_t batch = 0, heads = 0, rows = 0, size = 0;
        bool isPacked = false;
    };

    NodeId number(double value) const { return m_b.number(value, input(kQuery)); }
    NodeId input(std::size_t at) const { return m_call.inputs[at]; }
    NodeId sizedScores(NodeId node, const Dims& dims) const { return m_b.sized(node, dims); }

    Part part(std::size_t at, std::optional<std::size_t> past, std::int64_t heads) {
        const auto dims = m_b.dimSizesOf(input(at));
        Part made{input(at)};
        made.isPacked = dims && dims->size() == 3;
        if (!dims || dims->size() < 3 || dims->size() > 4 || (made.isPacked && heads < 1)) {
            m_b.fail("the dimensions of Attention are unknown");
            return made;
        }
        const Dims& d = *dims;
        made.batch = d[0], made.heads = made.isPacked ? heads : d[1], made.rows = made.isPacked ? d[1] : d[2];
        made.size = made.isPacked ? d[2] / heads : d[3];
        if (made.isPacked) {
            const NodeId split = m_b.op("Reshape", {made.node, m_b.integers({0, 0, heads, -1})});
            made.node = m_b.op("Transpose", {split}, {{"perm", Dims{0, 2, 1, 3}}});
        }
        sized(made);
        if (!past || !input(*past).valid()) return made;
        const auto before = m_b.dimSizesOf(input(*past));
        if (!before || before->size() != 4) {
            m_b.fail("the dimensions of Attention's past are unknown");
            return made;
        }
        m_past = (*before)[2];
        made.node = m_b.op("Concat", {input(*past), made.node}, {{"axis", std::int64_t{2}}});
        made.rows += m_past;
        sized(made);
        return made;
    }
    void sized(const Part& part) const { m_b.sized(part.node, {part.batch, part.heads, part.rows, part.size}); }

    /// Each head of keys or values serves several of the queries'.
    NodeId repeated(const Part& part) {
        const std::int64_t times = m_query.heads / part.heads;
        if (times == 1) return part.node;
        const Dims apart{part.batch, part.heads, times, part.rows, part.size},
            all{part.batch, m_query.heads, part.rows, part.size};
        const NodeId wide = m_b.op("Expand", {m_b.unsqueezed(part.node, 2), m_b.integers(apart)});
        return m_b.sized(m_b.op("Reshape", {wide, m_b.integers(all)}), all);
    }

    NodeId capped(NodeId scores) {
        const double cap = m_call.softcap;
        if (cap <= 0) return scores;
        return m_b.mul(m_b.op("Tanh", {m_b.div(scores, number(cap))}), number(cap));
    }

    /// With the mask, and a number in place of what may not be seen, of which there is no softmax if it is all of a
    /// row.
    NodeId masked(NodeId scores, std::vector<NodeId>& allowed) {
        NodeId mask = input(kMask);
        if (mask.valid()) {
            const auto dims = m_b.dimSizesOf(mask);
            if (!dims || dims->empty() || (dims->back() != m_keys && dims->back() != 1))
                m_b.fail("the mask of Attention is of another size than its keys");
            if (m_b.graph().node(mask).type.dtype == DType::Bool) {
                allowed.push_back(mask);
            } else {
                const NodeId hidden =
                    m_b.op("Equal", {mask, m_b.number(-std::numeric_limits<double>::infinity(), mask)});
                allowed.push_back(m_b.op("Not", {hidden}));
                scores = m_b.add(scores, m_b.castLike(m_b.op("Where", {hidden, m_b.number(0, mask), mask}), scores));
            }
        }
        if (const NodeId window = visible(); window.valid()) allowed.push_back(window);
        const NodeId lowest = number(m_dtype == DType::Float16 ? -6e4 : -1e30);
        for (const NodeId condition : allowed) scores = m_b.op("Where", {condition, scores, lowest});
        return scores;
    }

    /// What causality, windows and lengths let each query see; invalid: everything.
    NodeId visible() {
        const bool isCausal = m_call.isCausal;
        const std::int64_t left = m_call.left, right = m_call.right;
        const NodeId lengths = input(kLengths);
        if (!isCausal && left < 0 && right < 0 && !lengths.valid()) return {};
        const std::vector<double> valid = constantNumbers(m_b, lengths);
        if (lengths.valid() && static_cast<std::int64_t>(valid.size()) != m_query.batch)
            m_b.fail("the lengths of Attention's keys are not known");
        const std::int64_t batches = lengths.valid() ? m_query.batch : 1;
        std::vector<double> sees;
        for (std::int64_t n = 0; n < batches && m_b.problem().empty(); ++n) {
            const auto limit = lengths.valid() ? static_cast<std::int64_t>(valid[static_cast<std::size_t>(n)]) : m_keys;
            for (std::int64_t i = 0; i < m_query.rows; ++i) {
                const std::int64_t at = i + (lengths.valid() ? limit - m_query.rows : m_past);
                for (std::int64_t j = 0; j < m_keys; ++j) {
                    const bool isHidden = j >= limit || (isCausal && j > at) || (left >= 0 && j < at - left) ||
                                          (right >= 0 && j > at + right);
                    sees.push_back(isHidden ? 0 : 1);
                }
            }
        }
        if (!m_b.problem().empty()) return {};
        return m_b.constant(Tensor::of<double>({batches, 1, m_query.rows, m_keys}, sees).cast(DType::Bool).value());
    }

    GradientBuilder& m_b;
    const AttentionCall m_call;
    DType m_dtype;
    Part m_query;
    std::int64_t m_keys = 0, m_past = 0;
};

void attentionRule(GradientBuilder& b, const Expr& e) {
    if (b.version() < 13) return b.fail("the derivative of Attention needs version 13");
    b.through(e, [&] { return WrittenAttention(b, AttentionCall::of(e)).write(); });
}

/// The mask that hides keys by a number, and what is added to the scores; invalid: neither.
NodeId addedToScores(GradientBuilder& b, const Expr& e, NodeId query, NodeId hides, NodeId bias) {
    const auto dims = hides.valid() ? b.dimSizesOf(hides) : std::nullopt;
    if (!hides.valid()) return bias;
    if (!dims || dims->size() < 2 || dims->size() > 3) {
        b.fail("the derivative of " + e.op.name + " with this mask of keys is not supported");
        return {};
    }
    const Dims all =
        dims->size() == 2 ? Dims{(*dims)[0], 1, 1, (*dims)[1]} : Dims{(*dims)[0], 1, (*dims)[1], (*dims)[2]};
    const NodeId isHidden = b.op("Equal", {b.op("Reshape", {hides, b.integers(all)}), b.number(0, hides)});
    const NodeId low = b.number(e.attributes.getFloat("mask_filter_value", -10000), query);
    const NodeId added = b.sized(b.op("Where", {isHidden, low, b.number(0, query)}), all);
    if (!bias.valid()) return added;
    auto both = b.dimSizesOf(bias);
    if (!both || both->size() != 4) {
        b.fail("the dimensions of what " + e.op.name + " adds to its scores are unknown");
        return {};
    }
    for (std::size_t i = 0; i < 4; ++i) (*both)[i] = std::max((*both)[i], all[i]);
    return b.sized(b.add(added, bias), *both);
}

/// A tensor of attention, and its dimensions.
struct Operand {
    NodeId node;
    Dims dims;
};

/// `count` elements of the last axis.
Operand lastPart(GradientBuilder& b, const Operand& of, std::int64_t first, std::int64_t count) {
    Dims dims = of.dims;
    dims.back() = count;
    const NodeId part = b.op("Slice", {of.node, b.integers({first}), b.integers({first + count}),
                                       b.integers({static_cast<std::int64_t>(dims.size()) - 1})});
    return {b.sized(part, dims), dims};
}

/// One of those that are stacked in each head: [B, S, H, count, d] as [B, S, H·d].
Operand stackedPart(GradientBuilder& b, const Operand& of, std::int64_t at) {
    const Dims dims{of.dims[0], of.dims[1], of.dims[2] * of.dims[4]};
    const NodeId part = b.op("Slice", {of.node, b.integers({at}), b.integers({at + 1}), b.integers({3})});
    return {b.sized(b.op("Reshape", {part, b.integers(dims)}), dims), dims};
}

/// Queries, keys and values in the forms that MultiHeadAttention takes: of their own, keys and values stacked, or all
/// in one. Empty: another form.
std::vector<Operand> multiHeadOperands(GradientBuilder& b, const Expr& e) {
    std::vector<Operand> given;
    for (std::size_t i = 0; i < 3; ++i) {
        if (!inputOf(e, i).valid()) break;
        const auto dims = b.dimSizesOf(inputOf(e, i));
        if (!dims || dims->size() < 3 || dims->size() > 5) return {};
        given.push_back({inputOf(e, i), *dims});
    }
    if (given.empty()) return {};
    const Operand& query = given[0];
    if (query.dims.size() == 5) return {stackedPart(b, query, 0), stackedPart(b, query, 1), stackedPart(b, query, 2)};
    if (given.size() == 1) {
        const std::int64_t size = query.dims.back() / 3;
        return {lastPart(b, query, 0, size), lastPart(b, query, size, size), lastPart(b, query, 2 * size, size)};
    }
    if (given[1].dims.size() == 5) return {query, stackedPart(b, given[1], 0), stackedPart(b, given[1], 1)};
    if (given.size() < 3 || given[2].dims.size() != given[1].dims.size()) return {};
    return given;
}

/// query, key, value, a bias of all three, a mask of keys, what is added to the scores, and the past. Keys and values
/// of an encoder are [B, H, S, d], and have their bias.
void multiHeadRule(GradientBuilder& b, const Expr& e) {
    const NodeId query = inputOf(e, 0), bias = inputOf(e, 3);
    if (b.version() < 13) return b.fail("the derivative of " + e.op.name + " needs version 13");
    b.through(e, [&]() -> std::vector<NodeId> {
        std::vector<Operand> operands = multiHeadOperands(b, e);
        if (operands.empty()) {
            b.fail("the dimensions of " + e.op.name + " are unknown");
            return {};
        }
        AttentionCall call;
        call.inputs[kMask] = addedToScores(b, e, query, inputOf(e, 4), inputOf(e, 5));
        call.inputs[kPastKey] = inputOf(e, 6), call.inputs[kPastValue] = inputOf(e, 7);
        const bool isOfEncoder = operands[1].dims.size() == 4;
        std::int64_t first = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            Operand& own = operands[i];
            if (bias.valid() && (i == 0 || !isOfEncoder)) {
                const NodeId part =
                    b.op("Slice", {bias, b.integers({first}), b.integers({first + own.dims.back()}), b.integers({0})});
                own.node = b.sized(b.add(own.node, part), own.dims);
                first += own.dims.back();
            }
            call.inputs[i] = own.node;
        }
        call.queryHeads = call.keyHeads = e.attributes.getInt("num_heads", 1);
        call.scale = e.attributes.getFloat("scale", 0);
        call.isCausal = e.attributes.getInt("unidirectional", 0) != 0;
        call.scoresStep = 2;
        return WrittenAttention(b, call).write();
    });
}

/// A mask of Attention by the number of keys that count, [B], or with the first one that does behind, [2·B]: [B, keys]
/// of ones and zeros. Other forms stay as they are.
NodeId maskOfKeys(GradientBuilder& b, const Expr& e, std::int64_t batches, std::int64_t keys) {
    const NodeId given = inputOf(e, 3);
    const auto dims = given.valid() ? b.dimSizesOf(given) : std::nullopt;
    if (!dims || dims->size() != 1) return given;
    const std::vector<double> ends = constantNumbers(b, given);
    const auto count = static_cast<std::int64_t>(ends.size());
    if (count != batches && count != 2 * batches) {
        b.fail("the derivative of " + e.op.name + " with this mask is not supported");
        return {};
    }
    std::vector<std::int32_t> seen;
    for (std::int64_t n = 0; n < batches; ++n)
        for (std::int64_t j = 0; j < keys; ++j) {
            const auto at = static_cast<double>(j);
            const double first = count > batches ? ends[static_cast<std::size_t>(batches + n)] : 0;
            seen.push_back(at >= first && at < ends[static_cast<std::size_t>(n)] ? 1 : 0);
        }
    return b.constant(Tensor::of<std::int32_t>({batches, keys}, seen));
}

/// The input [B, S, I] times weights [I, queries + keys + values], by heads. Keys and values, with their past, are the
/// second result.
void projectedRule(GradientBuilder& b, const Expr& e) {
    const NodeId input = inputOf(e, 0), bias = inputOf(e, 2), past = inputOf(e, 4);
    const auto x = b.dimSizesOf(input), w = b.dimSizesOf(inputOf(e, 1));
    const auto before = past.valid() ? b.dimSizesOf(past) : std::nullopt;
    if (!x || !w || x->size() != 3 || w->size() != 2 || b.version() < 13 ||
        (past.valid() && (!before || before->size() != 5)))
        return b.fail("the derivative of " + e.op.name + " needs version 13 and known dimensions");
    const std::int64_t all = w->back();
    const Dims sizes = e.attributes.getInts("qkv_hidden_sizes", {all / 3, all / 3, all / 3});
    if (sizes.size() != 3) return b.fail("the sizes of " + e.op.name + " do not match");
    b.through(e, [&]() -> std::vector<NodeId> {
        NodeId projected = b.op("MatMul", {input, inputOf(e, 1)});
        if (bias.valid()) projected = b.add(projected, bias);
        const Dims dims{(*x)[0], (*x)[1], all};
        const Operand whole{b.sized(projected, dims), dims};
        AttentionCall call;
        std::int64_t first = 0;
        for (std::size_t i = 0; i < 3; first += sizes[i++]) call.inputs[i] = lastPart(b, whole, first, sizes[i]).node;
        for (std::size_t i = 0; past.valid() && i < 2; ++i) {
            const NodeId half =
                b.op("Gather", {past, b.integers({static_cast<std::int64_t>(i)})}, {{"axis", std::int64_t{0}}});
            const Dims own(before->begin() + 1, before->end());
            call.inputs[kPastKey + i] = b.sized(b.op("Reshape", {half, b.integers(own)}), own);
        }
        const std::int64_t keys = (*x)[1] + (before ? (*before)[3] : 0);
        call.inputs[kMask] = addedToScores(b, e, input, maskOfKeys(b, e, (*x)[0], keys), inputOf(e, 5));
        call.queryHeads = call.keyHeads = e.attributes.getInt("num_heads", 1);
        call.scale = e.attributes.getFloat("scale", 0);
        call.isCausal = e.attributes.getInt("unidirectional", 0) != 0;
        const std::vector<NodeId> made = WrittenAttention(b, call).write();
        if (made.empty() || e.outputs.size() < 2) return made.empty() ? made : std::vector<NodeId>{made[0]};
        std::vector<NodeId> kept;
        for (const std::size_t i : {1U, 2U}) {
            auto one = b.dimSizesOf(made[i]);
            if (one) one->insert(one->begin(), 1);
            kept.push_back(one ? b.sized(b.unsqueezed(made[i], 0), *one) : b.unsqueezed(made[i], 0));
        }
        return {made[0], b.op("Concat", kept, {{"axis", std::int64_t{0}}})};
    });
}

/// (a, b) -> (a·cos − b·sin, a·sin + b·cos) of pairs in the rotated part of each head.
struct Rotated {
    NodeId input, cosines, sines, positions;  ///< without positions the tables have a row for each of the input's
    std::int64_t heads = 1, rotated = 0;      ///< `heads`: of a packed input; `rotated`: of a head; 0: all
    bool isInterleaved = false;
};

NodeId writtenRotation(GradientBuilder& b, const Rotated& of, const Dims& x) {
    const bool isPacked = x.size() == 3, isInterleaved = of.isInterleaved;
    const std::int64_t heads = isPacked ? of.heads : x[1], rows = isPacked ? x[1] : x[2],
                       size = isPacked ? x[2] / std::max<std::int64_t>(heads, 1) : x[3],
                       rotated = of.rotated > 0 ? of.rotated : size;
    // [batch, rows, heads, size]
    NodeId split =
        b.op("Reshape", {of.input, b.integers({x[0], isPacked ? rows : heads, isPacked ? heads : rows, size})});
    if (!isPacked) split = b.op("Transpose", {split}, {{"perm", Dims{0, 2, 1, 3}}});
    const auto cut = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
        return b.op("Slice", {split, b.integers({begin}), b.integers({end}), b.integers({3}), b.integers({step})});
    };
    const auto angles = [&](NodeId table) {
        NodeId rowsOf = table;
        if (of.positions.valid()) rowsOf = b.op("Gather", {rowsOf, of.positions}, {{"axis", std::int64_t{0}}});
        return b.op("Reshape", {rowsOf, b.integers({x[0], rows, 1, rotated / 2})});
    };
    const NodeId first = isInterleaved ? cut(0, rotated, 2) : cut(0, rotated / 2, 1),
                 second = isInterleaved ? cut(1, rotated, 2) : cut(rotated / 2, rotated, 1),
                 cosines = angles(of.cosines), sines = angles(of.sines);
    const Dims half{x[0], rows, heads, rotated / 2}, paired{x[0], rows, heads, rotated / 2, 1};
    std::vector<NodeId> turned{b.sub(b.mul(cosines, first), b.mul(sines, second)),
                               b.add(b.mul(sines, first), b.mul(cosines, second))};
    for (NodeId& part : turned) part = b.sized(part, half);
    if (isInterleaved)
        for (NodeId& part : turned) part = b.sized(b.op("Reshape", {part, b.integers(paired)}), paired);
    const std::int64_t axis = isInterleaved ? 4 : 3;
    NodeId whole =
        b.op("Reshape", {b.op("Concat", turned, {{"axis", axis}}), b.integers({x[0], rows, heads, rotated})});
    if (rotated < size) {
        const NodeId rest = b.sized(cut(rotated, size, 1), {x[0], rows, heads, size - rotated});
        whole = b.op("Concat", {b.sized(whole, {x[0], rows, heads, rotated}), rest}, {{"axis", std::int64_t{3}}});
    }
    if (!isPacked) whole = b.op("Transpose", {whole}, {{"perm", Dims{0, 2, 1, 3}}});
    return b.sized(b.op("Reshape", {whole, b.integers(x)}), x);
}

void rotaryRule(GradientBuilder& b, const Expr& e) {
    const auto x = b.dimSizesOf(inputOf(e, 0));
    if (!x || (x->size() != 3 && x->size() != 4) || b.version() < 13)
        return b.fail("the derivative of RotaryEmbedding needs version 13 and known dimensions");
    const Rotated of{inputOf(e, 0),
                     inputOf(e, 1),
                     inputOf(e, 2),
                     inputOf(e, 3),
                     e.attributes.getInt("num_heads", 1),
                     e.attributes.getInt("rotary_embedding_dim", 0),
                     e.attributes.getInt("interleaved", 0) != 0};
    b.through(e, [&]() -> std::vector<NodeId> { return {writtenRotation(b, of, *x)}; });
}

/// Rows of tables for tokens [batch, rows] that count from `first` on.
NodeId countedPositions(GradientBuilder& b, std::int64_t batches, std::int64_t rows, std::int64_t first) {
    Dims positions;
    for (std::int64_t n = 0; n < batches; ++n)
        for (std::int64_t i = 0; i < rows; ++i) positions.push_back(first + i);
    return b.constant(Tensor::of<std::int64_t>({batches, rows}, positions));
}

/// The input, positions ([B, S], or that of the first token) and tables.
void contribRotaryRule(GradientBuilder& b, const Expr& e) {
    const NodeId ids = inputOf(e, 1);
    const auto x = b.dimSizesOf(inputOf(e, 0)), table = b.dimSizesOf(inputOf(e, 2)), given = b.dimSizesOf(ids);
    if (!x || (x->size() != 3 && x->size() != 4) || !table || table->size() != 2 || !given || b.version() < 13)
        return b.fail("the derivative of RotaryEmbedding needs version 13 and known dimensions");
    Rotated of{inputOf(e, 0),
               inputOf(e, 2),
               inputOf(e, 3),
               ids,
               e.attributes.getInt("num_heads", 0),
               2 * table->back(),
               e.attributes.getInt("interleaved", 0) != 0};
    if (of.heads == 0) of.heads = x->back() / std::max<std::int64_t>(of.rotated, 1);
    b.through(e, [&]() -> std::vector<NodeId> {
        const std::int64_t rows = x->size() == 3 ? (*x)[1] : (*x)[2];
        if (given->empty() || *given == Dims{1}) of.positions = b.add(countedPositions(b, (*x)[0], rows, 0), ids);
        return {writtenRotation(b, of, *x)};
    });
}

/// Queries in groups that share keys and values, behind a cache of which each batch uses as many rows.
void groupQueryRule(GradientBuilder& b, const Expr& e) {
    const auto number = [&](const char* name, std::int64_t fallback) { return e.attributes.getInt(name, fallback); };
    const std::int64_t heads = number("num_heads", 1), keyHeads = number("kv_num_heads", 1);
    const auto q = b.dimSizesOf(inputOf(e, 0));
    const std::vector<double> lengths = constantNumbers(b, inputOf(e, 5)), total = constantNumbers(b, inputOf(e, 6));
    const auto refuse = [&](const char* why) { b.fail("the derivative of " + e.op.name + " " + why); };
    if (!q || q->size() != 3 || lengths.empty() || total.empty() || b.version() < 13)
        return refuse("needs version 13, known dimensions and constant lengths");
    const auto rows = (*q)[1], longest = static_cast<std::int64_t>(total.front());
    if (std::ranges::any_of(lengths, [&](double length) { return length + 1 != total.front(); }))
        return refuse("with lengths that differ is not supported");
    for (const char* type : {"k_quant_type", "v_quant_type"})
        if (e.attributes.getString(type, "NONE") != "NONE") return refuse("with a quantised cache is not supported");
    if (number("smooth_softmax", 0) == 1 || inputOf(e, 11).valid() || inputOf(e, 14).valid())
        return refuse("with a sink or normalised heads is not supported");
    const std::int64_t past = longest - rows;
    b.through(e, [&]() -> std::vector<NodeId> {
        const std::int64_t size = q->back() / (inputOf(e, 1).valid() ? heads : heads + 2 * keyHeads);
        std::vector<Operand> operands{{inputOf(e, 0), *q}};
        if (inputOf(e, 1).valid()) {
            for (const std::size_t i : {1U, 2U}) operands.push_back({inputOf(e, i), {(*q)[0], rows, keyHeads * size}});
        } else {
            const Operand whole = operands.front();
            operands = {lastPart(b, whole, 0, heads * size), lastPart(b, whole, heads * size, keyHeads * size),
                        lastPart(b, whole, (heads + keyHeads) * size, keyHeads * size)};
        }
        if (number("do_rotary", 0) != 0) {
            const auto table = b.dimSizesOf(inputOf(e, 7));
            const NodeId positions = inputOf(e, 9).valid() ? inputOf(e, 9) : countedPositions(b, (*q)[0], rows, past);
            for (std::size_t i = 0; table && i < 2; ++i)
                operands[i].node = writtenRotation(
                    b,
                    {operands[i].node, inputOf(e, 7), inputOf(e, 8), positions, i == 0 ? heads : keyHeads,
                     2 * table->back(), number("rotary_interleaved", 0) != 0},
                    operands[i].dims);
        }
        AttentionCall call;
        for (std::size_t i = 0; i < 3; ++i) call.inputs[i] = operands[i].node;
        for (std::size_t i = 0; past > 0 && i < 2; ++i) {
            const NodeId room = inputOf(e, 3 + i);
            const Dims dims{(*q)[0], keyHeads, past, size};
            call.inputs[kPastKey + i] =
                b.sized(b.op("Slice", {room, b.integers({0}), b.integers({past}), b.integers({2})}), dims);
        }
        call.inputs[kMask] = inputOf(e, 10);
        call.queryHeads = heads, call.keyHeads = keyHeads;
        call.scale = e.attributes.getFloat("scale", 0), call.softcap = e.attributes.getFloat("softcap", 0);
        call.isCausal = number("causal", 1) != 0;
        if (const std::int64_t window = number("local_window_size", -1); window >= 0) call.left = window - 1;
        std::vector<NodeId> made = WrittenAttention(b, call).write();
        for (std::size_t i = 1; i < made.size() && i < e.outputs.size(); ++i) {
            const auto kept = b.dimSizesOf(e.outputs[i]);
            const bool isWhole = i < 3 && kept && kept->size() == 4 && (*kept)[2] == longest;
            if (!isWhole && b.gradientOf(e.outputs[i]).valid()) refuse("by what a larger cache keeps is not supported");
        }
        made.resize(std::min<std::size_t>(made.size(), 3));
        return made;
    });
}

}  // namespace

void addAttentionGradients(GradientRules& rules) {
    rules.insert({{"Attention", attentionRule},
                  {"RotaryEmbedding", rotaryRule},
                  {"com.microsoft::Attention", projectedRule},
                  {"com.microsoft::GroupQueryAttention", groupQueryRule},
                  {"com.microsoft::MultiHeadAttention", multiHeadRule},
                  {"com.microsoft::RotaryEmbedding", contribRotaryRule}});
}

}  // namespace sonde::passes
