#include "core/analysis/weight_positions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "core/ops/registry/registry.h"

namespace sonde::analysis {

namespace {

/// One letter for each input; the last one stands for all that follow. Letters: see positionOf().
struct Row {
    std::string_view op;  ///< "Conv" of ai.onnx, "com.microsoft:QGemm" of others
    std::string_view inputs;
};

constexpr Row kRows[] = {
    // Layers.
    {"Conv", "-WW-"}, {"ConvTranspose", "-WW-"}, {"ConvInteger", "-Q-"}, {"QLinearConv", "---Q----Q-"}, {"DeformConv", "-W-W-"},
    {"Gemm", "W"}, {"MatMul", "W"}, {"MatMulInteger", "QQ-"}, {"QLinearMatMul", "Q--Q-"}, {"Einsum", "W"},
    {"LSTM", "-WWW---W-"}, {"GRU", "-WWW-"}, {"RNN", "-WWW-"}, {"Gather", "E-"}, {"GatherND", "E-"}, {"PRelu", "-W"},
    // Normalisation.
    {"BatchNormalization", "-WWSS-"}, {"InstanceNormalization", "-WW"}, {"LayerNormalization", "-WW"}, {"GroupNormalization", "-WW"},
    {"RMSNormalization", "-W"}, {"SimplifiedLayerNormalization", "-W"},
    // Operands.
    {"Add", "A"}, {"Mul", "A"}, {"Sub", "oM"}, {"Div", "oM"}, {"Pow", "o-"}, {"Where", "-o"},
    // What passes a tensor on.
    {"Identity", "T"}, {"Cast", "T"}, {"CastLike", "T-"}, {"Transpose", "T"}, {"Reshape", "T-"}, {"Squeeze", "T-"}, {"Unsqueeze", "T-"},
    {"Flatten", "T"}, {"Expand", "T-"}, {"Tile", "T-"}, {"Slice", "T-"}, {"Dropout", "T-"}, {"Pad", "T-"}, {"DepthToSpace", "T"},
    {"SpaceToDepth", "T"}, {"QuantizeLinear", "T-"}, {"DequantizeLinear", "T-"}, {"DynamicQuantizeLinear", "T"},
    // Numbers that say what to do.
    {"Shape", "-"}, {"Size", "-"}, {"Resize", "o-"}, {"Upsample", "o-"}, {"Clip", "o-"}, {"Range", "-"}, {"OneHot", "-"}, {"TopK", "o-"},
    {"NonMaxSuppression", "-"}, {"RoiAlign", "o-"}, {"MaxRoiPool", "o-"}, {"GridSample", "o-"}, {"AffineGrid", "-"}, {"CumSum", "o-"}, {"Trilu", "o-"},
    {"Less", "-"}, {"LessOrEqual", "-"}, {"Greater", "-"}, {"GreaterOrEqual", "-"}, {"Equal", "-"}, {"Mod", "o-"}, {"STFT", "o-"},
    {"DFT", "o-"}, {"MelWeightMatrix", "-"}, {"ConstantOfShape", "-"}, {"ReverseSequence", "o-"}, {"Compress", "o-"}, {"RotaryEmbedding", "o-"},
    {"If", "-"}, {"Loop", "-"}, {"Scan", "-"}, {"Attention", "-"},
    // com.microsoft.
    {"com.microsoft:FusedConv", "-WW-"}, {"com.microsoft:NhwcConv", "-WW"}, {"com.microsoft:NhwcFusedConv", "-WW-"}, {"com.microsoft:FusedGemm", "W"},
    {"com.microsoft:FusedMatMul", "W"}, {"com.microsoft:TransposeMatMul", "W"}, {"com.microsoft:Attention", "-WW-"}, {"com.microsoft:PackedAttention", "-WW-"},
    {"com.microsoft:LongformerAttention", "-WW-WW-"}, {"com.microsoft:QAttention", "-QW-"}, {"com.microsoft:MultiHeadAttention", "---W-"},
    {"com.microsoft:PackedMultiHeadAttention", "---W-"}, {"com.microsoft:DecoderMaskedMultiHeadAttention", "-"}, {"com.microsoft:GroupQueryAttention", "-"},
    {"com.microsoft:RotaryEmbedding", "o-"}, {"com.microsoft:EmbedLayerNormalization", "--WWWWW-"}, {"com.microsoft:QEmbedLayerNormalization", "--QQQQQ-"},
    {"com.microsoft:SkipLayerNormalization", "--WWW"}, {"com.microsoft:SkipSimplifiedLayerNormalization", "--WW"},
    {"com.microsoft:SimplifiedLayerNormalization", "-W"}, {"com.microsoft:GroupNorm", "-WW"}, {"com.microsoft:SkipGroupNorm", "-WW-W"},
    {"com.microsoft:BiasGelu", "-W"}, {"com.microsoft:FastGelu", "-W"}, {"com.microsoft:BiasAdd", "-W-"}, {"com.microsoft:BiasSplitGelu", "-W"},
    {"com.microsoft:BiasDropout", "-W-"}, {"com.microsoft:BiasSoftmax", "-"}, {"com.microsoft:RelativePositionBias", "W-"},
    {"com.microsoft:GatedRelativePositionBias", "-W-W"}, {"com.microsoft:WordConvEmbedding", "-W"}, {"com.microsoft:MoE", "--W"},
    {"com.microsoft:MatMulNBits", "-Q---W"}, {"com.microsoft:MatMulBnb4", "-Q-"}, {"com.microsoft:MatMulFpQ4", "-Q-"},
    {"com.microsoft:MatMulIntegerToFloat", "QQ----W"}, {"com.microsoft:MatMulInteger16", "Q"}, {"com.microsoft:DynamicQuantizeMatMul", "-Q--W"},
    {"com.microsoft:DynamicQuantizeLSTM", "-QQW---W-"}, {"com.microsoft:QGemm", "Q--Q--Q-"}, {"com.microsoft:QLinearConv", "---Q----Q-"},
    {"com.microsoft:QLinearAdd", "Q--Q-"}, {"com.microsoft:QLinearMul", "Q--Q-"}, {"com.microsoft:QMoE", "--Q-WQ-WQ-W-"},
    {"com.microsoft:GatherBlockQuantized", "Q-"}, {"com.microsoft:QuantizeLinear", "T-"}, {"com.microsoft:DequantizeLinear", "T-"},
};

/// PyTorch's operators name their inputs alike: one table for all of them. "*" stands for any operator.
struct NamedRow {
    std::string_view op;
    std::string_view input;
    char letter;
};

constexpr NamedRow kNamedRows[] = {
    {"*", "weight", 'W'}, {"*", "bias", 'W'}, {"*", "running_mean", 'S'}, {"*", "running_var", 'S'}, {"*", "params", 'W'},
    {"*", "weights", 'W'}, {"*", "w_ih", 'W'}, {"*", "w_hh", 'W'}, {"*", "b_ih", 'W'}, {"*", "b_hh", 'W'}, {"*", "mat1", 'W'}, {"*", "mat2", 'W'},
    {"*", "batch1", 'W'}, {"*", "batch2", 'W'}, {"*", "in_proj_weight", 'W'}, {"*", "in_proj_bias", 'W'}, {"*", "out_proj_weight", 'W'},
    {"*", "out_proj_bias", 'W'}, {"*", "hx", '-'}, {"*", "attn_mask", '-'}, {"*", "mask", '-'}, {"*", "indices", '-'}, {"*", "index", '-'},
    {"matmul", "self", 'W'}, {"matmul", "other", 'W'}, {"mm", "self", 'W'}, {"bmm", "self", 'W'}, {"mv", "self", 'W'}, {"mv", "vec", 'W'},
    {"addmm", "self", 'W'}, {"baddbmm", "self", 'W'}, {"einsum", "tensors", 'W'}, {"tensordot", "self", 'W'}, {"tensordot", "other", 'W'},
    {"bilinear", "input1", '-'}, {"embedding", "weight", 'W'}, {"index_select", "self", 'E'}, {"add", "self", 'A'}, {"add", "other", 'A'},
    {"add_", "other", 'A'}, {"mul", "self", 'A'}, {"mul", "other", 'A'}, {"mul_", "other", 'A'}, {"sub", "other", 'M'}, {"div", "other", 'M'},
    {"t", "self", 'T'}, {"transpose", "self", 'T'}, {"permute", "self", 'T'}, {"reshape", "self", 'T'}, {"view", "self", 'T'}, {"expand", "self", 'T'},
    {"unsqueeze", "self", 'T'}, {"squeeze", "self", 'T'}, {"contiguous", "self", 'T'}, {"to", "self", 'T'}, {"detach", "self", 'T'},
    {"clone", "self", 'T'}, {"slice", "self", 'T'}, {"select", "self", 'T'}, {"flatten", "self", 'T'}, {"type_as", "self", 'T'}, {"float", "self", 'T'},
    {"half", "self", 'T'}, {"dequantize", "self", 'T'}, {"repeat", "self", 'T'},
};

constexpr WeightPosition positionOf(char letter) {
    switch (letter) {
        case 'W': return WeightPosition::Weight;
        case 'E': return WeightPosition::Embedding;
        case 'Q': return WeightPosition::Quantized;
        case 'S': return WeightPosition::Statistic;
        case 'M': return WeightPosition::ChannelStatistic;
        case 'A': return WeightPosition::Affine;
        case 'T': return WeightPosition::Through;
        case 'o': return WeightPosition::Operand;
        default: return WeightPosition::None;
    }
}

bool isDefaultDomain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
bool isTorch(std::string_view domain) { return domain == "aten" || domain == "prim" || domain == "sonde"; }

WeightPosition ofTorch(const graph::OpKey& op, std::size_t index, std::string_view name) {
    if (name.empty()) {
        const ops::OpDef* def = ops::Registry::all().find(op.domain, op.name, op.version);
        if (!def || index >= def->parameters.size()) return WeightPosition::Operand;
        name = def->parameters[index].name;
    }
    const std::string_view base = std::string_view(op.name).substr(0, op.name.find('.'));
    const NamedRow* found = nullptr;
    for (const NamedRow& row : kNamedRows) {
        if (row.input != name || (row.op != "*" && row.op != base)) continue;
        if (!found || row.op == base) found = &row;
    }
    return found ? positionOf(found->letter) : WeightPosition::Operand;
}

/// Operators whose weights are packed into bytes, and where they say into how many bits each.
struct PackedRow {
    std::string_view op;
    std::string_view bits;  ///< attribute; empty: always the fallback
    std::int64_t fallback;
};
constexpr PackedRow kPackedRows[] = {
    {"MatMulNBits", "bits", 4}, {"MatMulBnb4", "", 4}, {"MatMulFpQ4", "", 4}, {"GatherBlockQuantized", "bits", 4}, {"QMoE", "expert_weight_bits", 4}};

}  // namespace

WeightPosition weightPosition(const graph::Expr& expr, std::size_t index, std::string_view name) {
    if (isTorch(expr.op.domain)) return ofTorch(expr.op, index, name);
    static const auto rows = [] {
        std::unordered_map<std::string_view, std::string_view> made;
        for (const Row& row : kRows) made.emplace(row.op, row.inputs);
        return made;
    }();
    const auto found = isDefaultDomain(expr.op.domain) ? rows.find(expr.op.name) : rows.find(expr.op.domain + ":" + expr.op.name);
    if (found == rows.end()) return WeightPosition::Operand;
    return positionOf(found->second[std::min(index, found->second.size() - 1)]);
}

std::int64_t weightsIn(const graph::Expr& expr, std::size_t index, tensor::DType dtype, std::int64_t elements) {
    if (expr.op.domain != "com.microsoft" || dtype != tensor::DType::UInt8) return elements;
    const auto* row = std::ranges::find(kPackedRows, expr.op.name, &PackedRow::op);
    if (row == std::end(kPackedRows) || weightPosition(expr, index) != WeightPosition::Quantized) return elements;
    // A matrix says its size: what fills up the last block is no weight.
    const std::int64_t n = expr.attributes.getInt("N", 0), k = expr.attributes.getInt("K", 0);
    if (n > 0 && k > 0 && n <= INT64_MAX / k) return n * k;
    const std::int64_t bits = row->bits.empty() ? row->fallback : expr.attributes.getInt(row->bits, row->fallback);
    return bits > 0 && bits < 8 && 8 % bits == 0 ? elements * (8 / bits) : elements;
}

}  // namespace sonde::analysis
