// Rules: which axes of its input each operator keeps, and what it reads along them.

#include "core/analysis/axis_reading.h"

#include <string_view>
#include <unordered_map>

#include "core/analysis/axis_rules.h"
#include "core/graph/traits.h"
#include "core/operators/names.h"

namespace sonde::analysis {

using operators::OpClass;
using operators::Trait;

namespace {

/// What no class tells, by the names of both vocabularies, without overloads and in-place marks.
const std::unordered_map<std::string_view, AxisRule>& rulesByName() {
    static const std::unordered_map<std::string_view, AxisRule> rules{
        {"ConvInteger", axes::convolved},
        {"QLinearConv", axes::convolved},
        {"FusedConv", axes::convolved},
        {"LpPool", axes::pooled},
        {"GlobalLpPool", axes::pooled},
        {"max_pool1d_with_indices", axes::pooled},
        {"max_pool2d_with_indices", axes::pooled},
        {"max_pool3d_with_indices", axes::pooled},
        {"adaptive_max_pool1d", axes::pooled},
        {"adaptive_max_pool2d", axes::pooled},
        {"adaptive_max_pool3d", axes::pooled},
        {"interpolate", axes::resampled},
        {"Pad", axes::padded},
        {"pad", axes::padded},
        {"constant_pad_nd", axes::padded},
        {"reflection_pad1d", axes::padded},
        {"reflection_pad2d", axes::padded},
        {"reflection_pad3d", axes::padded},
        {"replication_pad1d", axes::padded},
        {"replication_pad2d", axes::padded},
        {"replication_pad3d", axes::padded},
        {"InstanceNormalization", axes::perChannel},
        {"instance_norm", axes::perChannel},
        {"GroupNormalization", axes::perImage},
        {"group_norm", axes::perImage},
        {"native_group_norm", axes::perImage},
        {"native_batch_norm", axes::alike},
        {"LRN", axes::acrossChannels},
        {"local_response_norm", axes::acrossChannels},
        {"channel_shuffle", axes::acrossChannels},
        {"native_channel_shuffle", axes::acrossChannels},
        {"LogSoftmax", axes::alongAxis},
        {"Hardmax", axes::alongAxis},
        {"CumSum", axes::alongAxis},
        {"LpNormalization", axes::alongAxis},
        {"log_softmax", axes::alongAxis},
        {"_softmax", axes::alongAxis},
        {"_log_softmax", axes::alongAxis},
        {"cumsum", axes::alongAxis},
        {"glu", axes::alongAxis},
        {"RMSNormalization", axes::normalised},
        {"SimplifiedLayerNormalization", axes::normalised},
        {"SkipLayerNormalization", axes::normalised},
        {"SkipSimplifiedLayerNormalization", axes::normalised},
        {"native_layer_norm", axes::normalised},
        {"rms_norm", axes::normalised},
        {"Split", axes::alongAxis},
        {"Gather", axes::gathered},
        {"Slice", axes::sliced},
        {"slice", axes::sliced},
        {"select", axes::selected},
        {"narrow", axes::alongAxis},
        {"Expand", axes::broadcast},
        {"expand", axes::broadcast},
        {"expand_as", axes::broadcast},
        {"broadcast_to", axes::broadcast},
        {"Einsum", axes::einsum},
        {"DepthToSpace", axes::toBlocks},
        {"pixel_shuffle", axes::toBlocks},
        {"SpaceToDepth", axes::fromBlocks},
        {"pixel_unshuffle", axes::fromBlocks},
        {"MatMulInteger", axes::product},
        {"QLinearMatMul", axes::product},
        {"scaled_dot_product_attention", axes::attended},
        {"BiasGelu", axes::broadcast},
        {"FastGelu", axes::broadcast},
        {"QuantizeLinear", axes::firstAlike},
        {"getitem", axes::indexed},
    };
    return rules;
}

AxisRule ruleOfClass(OpClass opClass) {
    switch (opClass) {
        case OpClass::Conv:
        case OpClass::ConvTranspose: return axes::convolved;
        case OpClass::MaxPool:
        case OpClass::AveragePool: return axes::pooled;
        case OpClass::Resample: return axes::resampled;
        case OpClass::Linear: return axes::linear;
        case OpClass::MatMul:
        case OpClass::MatrixProduct:
        case OpClass::BatchMatrixProduct:
        case OpClass::AddMatrixProduct: return axes::product;
        case OpClass::BatchNorm:
        case OpClass::BatchNormWithStatistics:
        case OpClass::Dequantize: return axes::firstAlike;
        case OpClass::Identity:
        case OpClass::Dropout:
        case OpClass::Clone:
        case OpClass::Cast:
        case OpClass::Construct:
        case OpClass::ConstructTuple:
        case OpClass::Unpack:
        case OpClass::Append: return axes::alike;
        case OpClass::LayerNorm: return axes::normalised;
        case OpClass::Softmax: return axes::alongAxis;
        case OpClass::ListView:
        case OpClass::Concat: return axes::alongAxis;
        case OpClass::Stack: return axes::stacked;
        case OpClass::Sum:
        case OpClass::Mean:
        case OpClass::Reduce: return axes::reduced;
        case OpClass::Transpose: return axes::transposed;
        case OpClass::Reshape:
        case OpClass::ExpandDims: return axes::reshaped;
        case OpClass::Recurrent: return axes::recurrent;
        case OpClass::Embedding: return axes::embedded;
        case OpClass::Copy: return axes::broadcast;
        default: return nullptr;
    }
}

AxisRule ruleOf(const graph::Expr& expr) {
    std::string_view name = operators::withoutOverload(expr.op.name);
    if (expr.op.domain == "aten" && operators::isInPlaceName(name)) name.remove_suffix(1);
    if (expr.op.domain == "aten") name = operators::originalName(name);
    const auto found = rulesByName().find(name);
    if (found != rulesByName().end()) return found->second;
    const operators::Traits& traits = graph::traitsOf(expr);
    if (const AxisRule rule = ruleOfClass(traits.opClass)) return rule;
    if (traits.is(Trait::ElementWise)) return axes::broadcast;
    // The elements of a view are where they were, unless one of the rules above says otherwise.
    return traits.form == operators::ViewForm::Same || traits.form == operators::ViewForm::Converted ? axes::alike
                                                                                                     : nullptr;
}

}  // namespace

std::vector<AxisMove> axisMoves(const graph::InternalGraph& graph, const graph::Expr& expr, const Operand& operand) {
    if (!operand.type.shape || !operand.result.shape) return {};
    const AxisRule rule = ruleOf(expr);
    if (!rule) return {};
    std::vector<AxisMove> moves = rule(CallArguments(graph, expr), operand);
    // A rule sees what the file says: what it makes of that must be there.
    for (AxisMove& move : moves)
        if (move.axis && *move.axis >= operand.result.shape->size()) move.axis.reset();
    return moves;
}

}  // namespace sonde::analysis
