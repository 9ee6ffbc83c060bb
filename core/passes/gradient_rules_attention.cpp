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
NodeId addedToScores(GradientBuilder& b, const Expr& e, NodeId query) {
    const NodeId hides = inputOf(e, 4), bias = inputOf(e, 5);
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

/// query, key, value [B, S, H·d], a bias of all three, a mask of keys, what is added to the scores, and the past. Keys
/// and values of an encoder are [B, H, S, d], and have their bias.
void multiHeadRule(GradientBuilder& b, const Expr& e) {
    const NodeId query = inputOf(e, 0), bias = inputOf(e, 3);
    const auto q = b.dimSizesOf(query), k = b.dimSizesOf(inputOf(e, 1)), v = b.dimSizesOf(inputOf(e, 2));
    if (!q || !k || !v || q->size() != 3 || (k->size() != 3 && k->size() != 4) || v->size() != k->size() ||
        b.version() < 13)
        return b.fail("the derivative of " + e.op.name +
                      " needs version 13, and queries, keys and values of their own of known dimensions");
    b.through(e, [&] {
        AttentionCall call;
        call.inputs = {query, inputOf(e, 1), inputOf(e, 2), addedToScores(b, e, query), inputOf(e, 6), inputOf(e, 7),
                       {}};
        const bool isOfEncoder = k->size() == 4;
        std::int64_t first = 0;
        for (std::size_t i = 0; bias.valid() && i < (isOfEncoder ? 1U : 3U); ++i) {
            const Dims& dims = i == 0 ? *q : i == 1 ? *k : *v;
            const NodeId part =
                b.op("Slice", {bias, b.integers({first}), b.integers({first + dims.back()}), b.integers({0})});
            call.inputs[i] = b.sized(b.add(call.inputs[i], part), dims);
            first += dims.back();
        }
        call.queryHeads = call.keyHeads = e.attributes.getInt("num_heads", 1);
        call.scale = e.attributes.getFloat("scale", 0);
        call.isCausal = e.attributes.getInt("unidirectional", 0) != 0;
        call.scoresStep = 2;
        return WrittenAttention(b, call).write();
    });
}

/// (a, b) -> (a·cos − b·sin, a·sin + b·cos) of pairs in the rotated part of each head.
std::vector<NodeId> writtenRotation(GradientBuilder& b, const Expr& e, const Dims& x) {
    const bool isPacked = x.size() == 3, isInterleaved = e.attributes.getInt("interleaved", 0) != 0;
    const std::int64_t heads = isPacked ? e.attributes.getInt("num_heads", 1) : x[1], rows = isPacked ? x[1] : x[2],
                       size = isPacked ? x[2] / std::max<std::int64_t>(heads, 1) : x[3],
                       asked = e.attributes.getInt("rotary_embedding_dim", 0), rotated = asked > 0 ? asked : size;
    // [batch, rows, heads, size]
    NodeId split =
        b.op("Reshape", {inputOf(e, 0), b.integers({x[0], isPacked ? rows : heads, isPacked ? heads : rows, size})});
    if (!isPacked) split = b.op("Transpose", {split}, {{"perm", Dims{0, 2, 1, 3}}});
    const auto cut = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
        return b.op("Slice", {split, b.integers({begin}), b.integers({end}), b.integers({3}), b.integers({step})});
    };
    const auto angles = [&](std::size_t input) {
        NodeId rowsOf = inputOf(e, input);
        if (inputOf(e, 3).valid()) rowsOf = b.op("Gather", {rowsOf, inputOf(e, 3)}, {{"axis", std::int64_t{0}}});
        return b.op("Reshape", {rowsOf, b.integers({x[0], rows, 1, rotated / 2})});
    };
    const NodeId first = isInterleaved ? cut(0, rotated, 2) : cut(0, rotated / 2, 1),
                 second = isInterleaved ? cut(1, rotated, 2) : cut(rotated / 2, rotated, 1), cosines = angles(1),
                 sines = angles(2);
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
    return {b.op("Reshape", {whole, b.integers(x)})};
}

void rotaryRule(GradientBuilder& b, const Expr& e) {
    const auto x = b.dimSizesOf(inputOf(e, 0));
    if (!x || (x->size() != 3 && x->size() != 4) || b.version() < 13)
        return b.fail("the derivative of RotaryEmbedding needs version 13 and known dimensions");
    b.through(e, [&] { return writtenRotation(b, e, *x); });
}

}  // namespace

void addAttentionGradients(GradientRules& rules) {
    rules.insert({{"Attention", attentionRule},
                  {"RotaryEmbedding", rotaryRule},
                  {"com.microsoft::MultiHeadAttention", multiHeadRule}});
}

}  // namespace sonde::passes
