// FLOPs of operators that do the work of several, most of them of com.microsoft. Their inputs are those of ONNX
// Runtime's page "Contrib Operators". As elsewhere, what only quantises or dequantises on the way does not count.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "core/operators/cost_rules.h"

namespace sonde::operators {

using tensor::TypeInfo;
using tensor::Value;

namespace {

Work each(const CallReader& call, std::int64_t operations) { return Work::of(number(operations) * call.out()); }

std::int64_t oneIf(bool is) { return is ? 1 : 0; }

/// What an attribute says to come last.
Work activation(const CallReader& call) {
    const std::string name = call.attributeText("activation", "");
    return each(call, name == "Softmax" ? 5 : oneIf(!name.empty()));
}

/// activation(conv(X, W) + B + Z)
Work fusedConvolution(const CallReader& call) {
    return convolution(call) + each(call, oneIf(call.hasTensor(3))) + activation(call);
}

/// activation(A·B + C), with C at `summand`; 0: there is none.
Work fusedProduct(const CallReader& call, std::size_t summand) {
    return matrixProduct(call) + each(call, oneIf(summand > 0 && call.hasTensor(summand))) + activation(call);
}

/// (input [B, S, in], weights [in, q + k + v], bias at 2 …) with past [2, B, heads, L, size].
Work projectedAttention(const CallReader& call, std::size_t past, bool isMasked) {
    const TypeInfo& input = call.input(0);
    const std::int64_t heads = call.attribute("num_heads", 0);
    if (heads < 1 || call.rank(0) != 3) return {};
    const std::vector<std::int64_t> sizes = call.attributeInts("qkv_hidden_sizes");
    const Symbolic positions = rowsOf(call, input), columns = call.dim(call.input(1), -1),
                   queries = sizes.size() == 3 ? number(sizes[0]) : call.dim(call.output(), -1);
    const Symbolic own = call.dim(input, 1), keys = call.hasTensor(past) ? own + call.dim(call.input(past), 3) : own;
    const Work bias = Work::of(call.hasTensor(2) ? positions * columns : number(0));
    return Work::products(positions * call.dim(input, -1) * columns) + bias +
           attended(positions * queries * keys, call.out() * keys, positions * number(heads) * keys, isMasked);
}

std::optional<std::int64_t> oneInteger(const Value& value) {
    if (value.kind() == tensor::ValueKind::Int) return value.toInt();
    const bool isOne = value.isTensor() && value.tensor().numel() == 1 && tensor::isInteger(value.tensor().dtype());
    return isOne ? std::optional(static_cast<std::int64_t>(value.tensor().toDouble(0))) : std::nullopt;
}

/// (query [B, S, heads·size], key, value, past_key at 3 [B, heads, L, size], past_value, seqlens_k,
/// total_sequence_length at 6, cos_cache at 7 …, attention_bias at 10). Past keys may stand in a longer buffer: how
/// many there are says the total length alone.
Work groupedAttention(const CallReader& call) {
    const std::int64_t heads = call.attribute("num_heads", 0), groups = call.attribute("kv_num_heads", 0);
    if (heads < 1 || groups < 1 || call.rank(0) != 3) return {};
    const auto total = oneInteger(call.constant(6));
    const bool hasPast = call.hasTensor(3) && call.dim(call.input(3), 2) != number(0);
    if (!total && hasPast) return {};
    const Symbolic positions = rowsOf(call, call.input(0)), keys = total ? number(*total) : call.dim(call.input(0), 1),
                   products = call.out() * keys;
    Work work = attended(products, products, positions * number(heads) * keys, call.hasTensor(10));
    if (call.attribute("do_rotary", 0) == 0) return work;
    // Pairs by sine and cosine, of queries and keys; the table has one column for each pair.
    return work + Work::of(number(6 * (heads + groups)) * positions * call.dim(call.input(7), -1));
}

/// Two products and a sum for each number that is turned: of 3 or 4 dimensions, all of a head or its first part.
Work rotary(const CallReader& call) {
    const std::int64_t part = call.attribute("rotary_embedding_dim", 0), heads = call.attribute("num_heads", 0);
    if (part == 0) return each(call, 3);
    if (call.rank(0) == 4) return Work::of(number(3 * part) * rowsOf(call, call.input(0)));
    return heads > 0 && call.rank(0) == 3 ? Work::of(number(3 * part * heads) * rowsOf(call, call.input(0))) : Work{};
}

/// (input, router_probs, fc1, …): k experts for each token; weights are [experts, out, in], `step` inputs from each
/// other, several of a byte's numbers in each element.
Work experts(const CallReader& call, std::size_t step, std::int64_t packed) {
    const Symbolic tokens = rowsOf(call, call.input(0)) * number(call.attribute("k", 1));
    Symbolic products = number(0), sums = number(0);
    for (std::size_t layer = 0; layer < 3; ++layer) {
        const std::size_t weights = 2 + step * layer, bias = weights + step - 1;
        if (layer == 2 && !call.hasTensor(weights)) break;
        const Symbolic out = call.dim(call.input(weights), 1);
        products = products + out * call.dim(call.input(weights), 2) * number(packed);
        // The activation, or the product with what a third layer gives; and the bias.
        sums = sums + out * number(oneIf(layer != 1) + oneIf(call.hasTensor(bias)));
    }
    // The router's softmax, and what the experts give by their weights.
    const Work routed = Work::of(number(5) * call.in(1) + number(2 * call.attribute("k", 1)) * call.out());
    return Work::products(tokens * products) + Work::of(tokens * sums) + routed;
}

/// A multiply-add for each neighbour of a place between elements; the nearest one is only moved.
Work sampled(const CallReader& call, std::int64_t byDimension, std::size_t dimensions) {
    std::int64_t neighbours = byDimension > 1 ? 1 : 0;
    for (std::size_t i = 0; i < dimensions; ++i) neighbours *= byDimension;
    return each(call, 2 * neighbours);
}

Work gridSampled(const CallReader& call) {
    if (call.rank(0) < 3) return {};
    const std::string mode = call.attributeText("mode", "linear");
    const std::int64_t neighbours = mode == "nearest" ? 1 : mode == "cubic" || mode == "bicubic" ? 4 : 2;
    return sampled(call, neighbours, call.rank(0) - 2);
}

/// (X, W [D, I, 4·H], R [D, H, 4·H], B …): as LSTM.
Work quantizedLstm(const CallReader& call) {
    constexpr std::int64_t kGates = 4, kPointwise = 9;
    const Symbolic positions = rowsOf(call, call.input(0)), directions = call.dim(call.input(2), 0),
                   hidden = call.dim(call.input(2), 1);
    const std::int64_t sums = kGates * (call.hasTensor(3) ? 3 : 1);
    return Work::products(positions * (call.in(1) + call.in(2))) +
           Work::of(positions * directions * hidden * number(sums + kPointwise));
}

/// |x|^p and a sum for each element of a window, and the root.
Work powerPooled(const CallReader& call) {
    const Work taps = pooling(call);
    return taps + taps + each(call, 1);
}

/// Of each matrix [n, n]: Σ (n − k) quotients and (n − k)² products with differences of an elimination, then the
/// product of the diagonal.
Work determinant(const CallReader& call) {
    const auto size = call.dim(call.input(0), -1).constant();
    constexpr std::int64_t kLargest = 1'000'000;
    if (!size || *size < 1 || *size > kLargest) return {};
    const std::int64_t n = *size;
    return each(call, n * (n - 1) / 2 + n * (n - 1) * (2 * n - 1) / 3 + n - 1);
}

/// Of all inputs.
Work allInputs(const CallReader& call) {
    Symbolic sum = number(0);
    for (std::size_t i = 0; i < call.tensorCount(); ++i) sum = sum + call.in(i);
    return Work::of(sum);
}

/// Layer norms take 5 operations for each element, RMS norms 3; a weight and a bias one each.
constexpr std::int64_t kNormed = 7, kRmsNormed = 4;

struct Formula {
    std::string_view names;
    Work (*work)(const CallReader& call);
};

constexpr Formula kFormulas[] = {
    {"FusedConv NhwcFusedConv", fusedConvolution},
    {"FusedGemm", [](const CallReader& call) { return fusedProduct(call, 2); }},
    {"FusedMatMulActivation", [](const CallReader& call) { return fusedProduct(call, 0); }},
    {"QGemm", [](const CallReader& call) { return fusedProduct(call, 6); }},
    {"GemmFastGelu", [](const CallReader& call) { return fusedProduct(call, 2) + each(call, 1); }},
    {"Attention",
     [](const CallReader& call) { return projectedAttention(call, 4, call.hasTensor(3) || call.hasTensor(5)); }},
    {"QAttention", [](const CallReader& call) { return projectedAttention(call, 8, call.hasTensor(5)); }},
    {"DecoderMaskedMultiHeadAttention", [](const CallReader& call) { return attention(call, 5); }},
    {"GroupQueryAttention", groupedAttention},
    {"RotaryEmbedding", rotary},
    {"SkipLayerNormalization",  // input, skip, gamma, beta, bias
     [](const CallReader& call) {
         return each(call, 1 + oneIf(call.hasTensor(4)) + kNormed - 1 + oneIf(call.hasTensor(3)));
     }},
    {"SkipSimplifiedLayerNormalization",  // input, skip, gamma, bias
     [](const CallReader& call) { return each(call, 1 + oneIf(call.hasTensor(3)) + kRmsNormed); }},
    {"EmbedLayerNormalization QEmbedLayerNormalization",  // segments at 4
     [](const CallReader& call) { return each(call, 1 + oneIf(call.hasTensor(4)) + kNormed); }},
    {"GroupNorm", [](const CallReader& call) { return each(call, kNormed + call.attribute("activation", 0)); }},
    {"SkipGroupNorm",  // X, gamma, beta, skip, bias
     [](const CallReader& call) {
         return each(call, 1 + oneIf(call.hasTensor(4)) + kNormed + call.attribute("activation", 0));
     }},
    {"GatedRMSNorm", [](const CallReader& call) { return each(call, kRmsNormed + 2); }},
    {"BiasGelu FastGelu", [](const CallReader& call) { return each(call, 1 + oneIf(call.hasTensor(1))); }},
    {"BiasSplitGelu", [](const CallReader& call) { return Work::of(call.in()) + each(call, 2); }},
    {"BiasAdd GatedAdd", [](const CallReader& call) { return each(call, 2); }},
    {"BiasSoftmax", [](const CallReader& call) { return each(call, 6); }},
    {"GatherBlockQuantized", [](const CallReader& call) { return each(call, 2); }},
    {"CDist",
     [](const CallReader& call) {
         const std::int64_t root = oneIf(call.attributeText("metric", "sqeuclidean") == "euclidean");
         return Work::of(call.out() * (number(3) * call.dim(call.input(0), -1) + number(root)));
     }},
    {"IsAllFinite", allInputs},
    {"Det", determinant},
    {"LpPool GlobalLpPool", powerPooled},
    {"GridSample", gridSampled},
    {"CropAndResize",
     [](const CallReader& call) {
         return sampled(call, call.attributeText("mode", "bilinear") == "nearest" ? 1 : 2, 2);
     }},
    {"QLinearReduceMean QLinearGlobalAveragePool",
     [](const CallReader& call) { return Work::of(call.in() + call.out()); }},
    {"QLinearAveragePool", [](const CallReader& call) { return pooling(call) + each(call, 1); }},
    {"MoE", [](const CallReader& call) { return experts(call, 2, 1); }},
    {"QMoE",
     [](const CallReader& call) {
         return experts(call, 3, 8 / std::clamp<std::int64_t>(call.attribute("expert_weight_bits", 4), 1, 8));
     }},
    {"DynamicQuantizeLSTM", quantizedLstm},
};

}  // namespace

Work fused(const CallReader& call) {
    for (const Formula& formula : kFormulas)
        if (hasName(formula.names, call.name())) return formula.work(call);
    return {};
}

}  // namespace sonde::operators
