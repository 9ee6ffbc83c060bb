#include "core/analysis/weight_positions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "core/graph/traits.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

namespace {

using operators::InputRole;

/// PyTorch's operators name their inputs alike: what is said of no input in the operators' own traits.
struct NamedRow {
    std::string_view input;
    InputRole role;
};

// clang-format off
constexpr NamedRow kNamedRows[] = {
    {"weight", InputRole::Weight}, {"bias", InputRole::Weight}, {"running_mean", InputRole::Statistic}, {"running_var", InputRole::Statistic},
    {"params", InputRole::Weight}, {"weights", InputRole::Weight}, {"w_ih", InputRole::Weight}, {"w_hh", InputRole::Weight}, {"b_ih", InputRole::Weight},
    {"b_hh", InputRole::Weight}, {"mat1", InputRole::Weight}, {"mat2", InputRole::Weight}, {"batch1", InputRole::Weight}, {"batch2", InputRole::Weight},
    {"in_proj_weight", InputRole::Weight}, {"in_proj_bias", InputRole::Weight}, {"out_proj_weight", InputRole::Weight}, {"out_proj_bias", InputRole::Weight},
    {"hx", InputRole::Data}, {"attn_mask", InputRole::Data}, {"mask", InputRole::Data}, {"indices", InputRole::Data}, {"index", InputRole::Data},
};
// clang-format on

constexpr WeightPosition positionOf(InputRole role) {
    switch (role) {
        case InputRole::Weight: return WeightPosition::Weight;
        case InputRole::Embedding: return WeightPosition::Embedding;
        case InputRole::Quantized: return WeightPosition::Quantized;
        case InputRole::Statistic: return WeightPosition::Statistic;
        case InputRole::ChannelStatistic: return WeightPosition::ChannelStatistic;
        case InputRole::Affine: return WeightPosition::Affine;
        case InputRole::Through: return WeightPosition::Through;
        case InputRole::Operand:
        case InputRole::Unsaid: return WeightPosition::Operand;
        case InputRole::Data: break;
    }
    return WeightPosition::None;
}

bool isTorch(std::string_view domain) { return domain == "aten" || domain == "prim" || domain == "sonde"; }

WeightPosition ofTorch(const graph::Expr& expr, std::size_t index, std::string_view name) {
    const graph::OpKey& op = expr.op;
    const ops::OpDef* def = ops::Registry::all().find(op.domain, op.name, op.version);
    if (!name.empty() && def)
        index = static_cast<std::size_t>(std::ranges::find(def->parameters, name, &ops::Parameter::name) -
                                         def->parameters.begin());
    if (name.empty() && def && index < def->parameters.size()) name = def->parameters[index].name;
    const operators::Traits& traits = graph::traitsOf(expr);
    const InputRole role = def ? traits.inputRole(index) : InputRole::Unsaid;
    // What is written is no weight that is only read.
    const bool isWritten = index == 0 && traits.is(operators::Trait::InPlace);
    if (role != InputRole::Unsaid && !isWritten) return positionOf(role);
    const auto* row = std::ranges::find(kNamedRows, name, &NamedRow::input);
    return row == std::end(kNamedRows) ? WeightPosition::Operand : positionOf(row->role);
}

}  // namespace

WeightPosition weightPosition(const graph::Expr& expr, std::size_t index, std::string_view name) {
    if (isTorch(expr.op.domain)) return ofTorch(expr, index, name);
    return positionOf(graph::traitsOf(expr).inputRole(index));
}

std::int64_t weightsIn(const graph::Expr& expr, std::size_t index, tensor::DType dtype, std::int64_t elements) {
    if (expr.op.domain != "com.microsoft" || dtype != tensor::DType::UInt8) return elements;
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.packedBits == 0 || weightPosition(expr, index) != WeightPosition::Quantized) return elements;
    // A matrix says its size: what fills up the last block is no weight.
    const std::int64_t n = expr.attributes.getInt("N", 0), k = expr.attributes.getInt("K", 0);
    if (n > 0 && k > 0 && n <= INT64_MAX / k) return n * k;
    const std::int64_t bits = traits.bitsAttribute.empty()
                                  ? traits.packedBits
                                  : expr.attributes.getInt(traits.bitsAttribute, traits.packedBits);
    return bits > 0 && bits < 8 && 8 % bits == 0 ? elements * (8 / bits) : elements;
}

}  // namespace sonde::analysis
