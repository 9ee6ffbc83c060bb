// Operators of ONNX, of com.microsoft and of torchvision.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits kNone{};
constexpr Traits kUnary{.bits = ElementWise | KeepsShape | KeepsDType | KeepsRank};
constexpr Traits kBinary{.bits = ElementWise | Broadcasts};
constexpr Traits kTest{.bits = ElementWise | Broadcasts, .inputs = "-"};
constexpr Traits kReduced{.opClass = OpClass::Reduce};
constexpr Traits kMoves{.bits = static_cast<std::uint32_t>(MovesData)};
constexpr Traits kRandom{.opClass = OpClass::Random, .bits = static_cast<std::uint32_t>(Random)};
constexpr Traits kConv{.bits = KeepsRank | Convolves};
constexpr Traits kProduct{.bits = static_cast<std::uint32_t>(Multiplies)};
constexpr Traits kAttention{.bits = static_cast<std::uint32_t>(Attends)};
constexpr Traits kNorm{.bits = KeepsShape | KeepsDType | KeepsRank};

/// The outputs hold elements of the inputs whose role is neither '-' nor ' ', and no others.
constexpr Row moving(const Row& row) { return special(row, Special::OnlyMovesElements); }

constexpr Row kRows[] = {
    // Functions of single elements.
    {"Abs Ceil Floor", kUnary.with(StaysSmall)},
    {"Acos Acosh Asin Asinh Atan Atanh BitwiseNot Celu Cos Cosh Elu Erf Gelu HardSigmoid HardSwish LogSigmoid Mish Round Selu Shrink Sign Sin Sinh Softplus Softsign "
     "Swish Tan Tanh ThresholdedRelu",
     kUnary},
    {"Exp", kUnary.as(OpClass::Exp)},
    {"Log", kUnary.as(OpClass::Log)},
    {"LeakyRelu", kUnary.as(OpClass::LeakyRelu)},
    {"Neg", kUnary.as(OpClass::Neg).with(StaysSmall)},
    {"Reciprocal", kUnary.as(OpClass::Reciprocal)},
    {"Relu", kUnary.as(OpClass::Relu)},
    {"Sigmoid", kUnary.as(OpClass::Sigmoid)},
    {"Sqrt", kUnary.as(OpClass::Sqrt).with(StaysSmall)},
    {"Clip", kUnary.as(OpClass::Clip).takes("o-")},
    {"Not IsNaN IsInf", kUnary.without(KeepsDType)},
    {"PRelu", kUnary.takes("-W")},
    {"Cast", kUnary.as(OpClass::Cast).without(KeepsDType).with(StaysSmall).takes("T")},
    {"CastLike", kUnary.as(OpClass::Cast).without(KeepsDType).takes("T-")},
    {"Add", kBinary.as(OpClass::Add).with(StaysSmall).takes("A")},
    {"Sub", kBinary.as(OpClass::Sub).with(StaysSmall).takes("oM")},
    {"Mul", kBinary.as(OpClass::Mul).with(StaysSmall).takes("A")},
    {"Div", kBinary.as(OpClass::Div).with(StaysSmall).takes("oM")},
    {"Pow", kBinary.as(OpClass::Pow).takes("o-")},
    {"Mod", kBinary.with(StaysSmall).takes("o-")},
    {"Max", kBinary.as(OpClass::Maximum).with(StaysSmall), CostRule::EachInput},
    {"Min", kBinary.as(OpClass::Minimum).with(StaysSmall), CostRule::EachInput},
    moving({"Where", kBinary.as(OpClass::Where).takes("-o")}),
    {"Equal", kTest.as(OpClass::Equal).with(StaysSmall)},
    {"Less LessOrEqual Greater GreaterOrEqual", kTest},
    {"And", kBinary.as(OpClass::And)},
    {"Or", kBinary.as(OpClass::Or)},
    {"Xor BitShift BitwiseAnd BitwiseOr BitwiseXor", kBinary},
    {"Sum", kBinary, CostRule::EachInput},
    {"Mean", kBinary, CostRule::MeanOfInputs},

    // Layers.
    {"Conv", kConv.as(OpClass::Conv).takes("-WW-")},
    {"ConvTranspose", kConv.as(OpClass::ConvTranspose).takes("-WW-")},
    {"ConvInteger", kConv.takes("-Q-"), CostRule::Convolution},
    {"QLinearConv", kConv.takes("---Q----Q-"), CostRule::Convolution},
    {"DeformConv", kConv.takes("-W-W-"), CostRule::Convolution},
    {"Gemm", kProduct.as(OpClass::AddMatrixProduct).takes("W")},
    {"MatMul", kProduct.as(OpClass::MatMul).takes("W")},
    {"MatMulInteger", kProduct.takes("QQ-"), CostRule::Product},
    {"QLinearMatMul", kProduct.takes("Q--Q-"), CostRule::Product},
    {"Einsum", kNone.takes("W"), CostRule::Einsum},
    {"LSTM", Traits{.opClass = OpClass::Recurrent, .inputs = "-WWW---W-"}},
    {"GRU RNN", Traits{.opClass = OpClass::Recurrent, .inputs = "-WWW-"}},
    {"Attention", kAttention.takes("-"), CostRule::Attention},
    {"LinearAttention", kAttention},
    {"Softmax", kNorm.as(OpClass::Softmax).with(Attends)},
    {"LogSoftmax", kNorm, CostRule::FivePerElement},
    {"Hardmax", kNorm, CostRule::PerInput},
    {"LpNormalization", kNorm, CostRule::ThreePerElement},
    {"MeanVarianceNormalization", kNorm, CostRule::FivePerElement},
    {"LRN", kNorm, CostRule::LocalNorm},
    {"BatchNormalization", kNorm.as(OpClass::BatchNorm).takes("-WWSS-")},
    {"LayerNormalization", kNorm.as(OpClass::LayerNorm).takes("-WW")},
    {"InstanceNormalization GroupNormalization", kNorm.takes("-WW"), CostRule::Norm},
    {"RMSNormalization SimplifiedLayerNormalization", kNorm.takes("-W"), CostRule::RmsNorm},
    {"MaxPool GlobalMaxPool", Traits{.opClass = OpClass::MaxPool, .bits = KeepsRank | KeepsChannels}},
    {"AveragePool GlobalAveragePool", Traits{.opClass = OpClass::AveragePool, .bits = KeepsRank | KeepsChannels}},
    {"Dropout", Traits{.opClass = OpClass::Dropout,
                       .bits = ElementWise | KeepsShape | KeepsDType | KeepsRank | Random,
                       .inputs = "T-"}},
    {"Resize Upsample", Traits{.opClass = OpClass::Resample, .inputs = "o-"}},

    // Reductions.
    {"ReduceSum", kReduced.as(OpClass::Sum)},
    {"ReduceMean", kReduced.as(OpClass::Mean)},
    {"ReduceMax ReduceMin ReduceProd", kReduced.with(StaysSmall)},
    {"ReduceLogSum", kReduced},
    {"ReduceL1 ReduceL2 ReduceSumSquare", kReduced, CostRule::TwoPerInput},
    {"ReduceLogSumExp", kReduced, CostRule::FourPerInput},

    // What moves elements.
    moving({"Identity", Traits{.opClass = OpClass::Identity,
                               .bits = KeepsShape | KeepsDType | KeepsRank | MovesData | StaysSmall,
                               .inputs = "T"}}),
    moving({"Transpose", kMoves.as(OpClass::Transpose).with(KeepsRank).with(KeepsDType).takes("T")}),
    moving({"Reshape", kMoves.as(OpClass::Reshape).takes("T-")}),
    moving({"Flatten", kMoves.as(OpClass::Reshape).takes("T")}),
    moving({"Squeeze", kMoves.as(OpClass::Reshape).with(StaysSmall).takes("T-")}),
    moving({"Unsqueeze", kMoves.as(OpClass::ExpandDims).with(StaysSmall).takes("T-")}),
    moving({"Concat", kMoves.as(OpClass::Concat).with(KeepsRank).with(StaysSmall).takes("o")}),
    moving({"Gather", kMoves.as(OpClass::Index).with(StaysSmall).takes("E-")}),
    moving({"GatherND", kMoves.takes("E-")}),
    moving({"Slice", kMoves.as(OpClass::Index).with(KeepsRank).with(StaysSmall).takes("T-")}),
    moving({"Expand Tile", kMoves.takes("T-")}),
    {"Pad", kMoves.takes("T-")},
    {"DepthToSpace SpaceToDepth", kMoves.with(KeepsRank).takes("T")},
    {"ReverseSequence Trilu", kMoves.takes("o-")},
    moving({"Compress", kMoves.takes("o-"), CostRule::Nothing, true}),
    moving({"Split GatherElements", kMoves.takes("o ")}),
    moving({"Scatter ScatterElements ScatterND", kMoves.takes("o o ")}),
    {"QuantizeLinear", kNone.takes("T-"), CostRule::TwoPerInput},
    {"DequantizeLinear", Traits{.opClass = OpClass::Dequantize, .inputs = "T-"}},
    {"DynamicQuantizeLinear", kNone.takes("T")},

    // Numbers that say what to do.
    {"Shape", Traits{.opClass = OpClass::Shape, .query = ShapeQuery::Shape, .inputs = "-"}},
    {"Size", Traits{.query = ShapeQuery::Count, .inputs = "-"}},
    {"Range", Traits{.opClass = OpClass::Range, .inputs = "-"}},
    {"NonMaxSuppression", kNone.takes("-"), CostRule::Unknown, true},
    {"NonZero Unique", kNone, CostRule::Unknown, true},
    {"OneHot AffineGrid MelWeightMatrix", kNone.takes("-")},
    {"ConstantOfShape", kNone.takes("-"), CostRule::Nothing},
    {"GridSample", Traits{.bits = KeepsRank | KeepsChannels, .inputs = "o-"}, CostRule::Fused},
    {"TopK RoiAlign MaxRoiPool CumSum STFT DFT", kNone.takes("o-")},
    {"RotaryEmbedding", kNone.takes("o-"), CostRule::Fused},
    {"Det LpPool GlobalLpPool", kNone, CostRule::Fused},
    {"RandomNormal RandomUniform RandomNormalLike RandomUniformLike Multinomial Bernoulli", kRandom},

    // Control.
    {"If", Traits{.opClass = OpClass::If, .inputs = "-"}},
    {"Loop", Traits{.opClass = OpClass::Loop, .inputs = "-"}},
    {"Scan", Traits{.opClass = OpClass::Scan, .inputs = "-"}},
    {"SequenceMap", Traits{.opClass = OpClass::SequenceMap}},
};

/// ai.onnx.preview
constexpr Row kPreview[] = {
    {"FlexAttention", kAttention},
};

constexpr Row kPreviewTraining[] = {
    {"Gradient", Traits{.opClass = OpClass::Gradient}},
};

constexpr Row kVision[] = {
    {"nms", kNone, CostRule::Unknown, true},
};

constexpr Row kContrib[] = {
    {"FusedConv NhwcFusedConv", kConv.takes("-WW-"), CostRule::Fused},
    {"NhwcConv", kConv.takes("-WW"), CostRule::Convolution},
    {"QLinearConv", kConv.takes("---Q----Q-"), CostRule::Convolution},
    {"WordConvEmbedding", kConv.takes("-W")},
    {"FusedGemm", kNone.takes("W"), CostRule::Fused},
    {"FusedMatMulActivation", kProduct, CostRule::Fused},
    {"GemmFastGelu", kNone, CostRule::Fused},
    {"FusedMatMul TransposeMatMul", kProduct.takes("W"), CostRule::Product},
    {"MatMulNBits", kProduct.takes("-Q---W").packed(4, "bits"), CostRule::PackedProduct},
    {"MatMulBnb4", kProduct.takes("-Q-").packed(4), CostRule::PackedProduct},
    {"MatMulFpQ4", kProduct.takes("-Q-").packed(4)},
    {"MatMulIntegerToFloat", kProduct.takes("QQ----W"), CostRule::Product},
    {"MatMulInteger16", kProduct.takes("Q"), CostRule::Product},
    {"DynamicQuantizeMatMul", kProduct.takes("-Q--W"), CostRule::Product},
    {"QGemm", kNone.takes("Q--Q--Q-"), CostRule::Fused},
    {"QLinearAdd QLinearMul", kNone.takes("Q--Q-"), CostRule::Outer},
    {"Attention", kAttention.takes("-WW-"), CostRule::Fused},
    {"PackedAttention", kAttention.takes("-WW-")},
    {"LongformerAttention", kAttention.takes("-WW-WW-")},
    {"QAttention", kAttention.takes("-QW-"), CostRule::Fused},
    {"MultiHeadAttention", kAttention.takes("---W-"), CostRule::Attention},
    {"PackedMultiHeadAttention", kAttention.takes("---W-")},
    {"DecoderMaskedMultiHeadAttention GroupQueryAttention", kAttention.takes("-"), CostRule::Fused},
    {"DecoderMaskedSelfAttention SparseAttention", kAttention},
    {"RotaryEmbedding", kNone.takes("o-"), CostRule::Fused},
    {"EmbedLayerNormalization", kNone.takes("--WWWWW-"), CostRule::Fused},
    {"QEmbedLayerNormalization", kNone.takes("--QQQQQ-"), CostRule::Fused},
    {"SkipLayerNormalization", kNone.takes("--WWW"), CostRule::Fused},
    {"SkipSimplifiedLayerNormalization", kNone.takes("--WW"), CostRule::Fused},
    {"LayerNormalization", kNorm.as(OpClass::LayerNorm).takes("-WW")},
    {"SimplifiedLayerNormalization", kNorm.takes("-W"), CostRule::RmsNorm},
    {"GatedRMSNorm", kNone, CostRule::Fused},
    {"GroupNorm", kNorm.takes("-WW"), CostRule::Fused},
    {"SkipGroupNorm", kNone.takes("-WW-W"), CostRule::Fused},
    {"Gelu QuickGelu", kUnary},
    {"BiasGelu FastGelu BiasSplitGelu", kNone.takes("-W"), CostRule::Fused},
    {"BiasAdd", kNone.takes("-W-"), CostRule::Fused},
    {"BiasDropout", kNone.takes("-W-")},
    {"BiasSoftmax", kNone.takes("-"), CostRule::Fused},
    {"GatedAdd CDist IsAllFinite CropAndResize GridSample", kNone, CostRule::Fused},
    {"ComplexMul ComplexMulConj", kNone, CostRule::ThreePerElement},
    {"Trilu Pad ExpandDims UnfoldTensor GatherND Range", kNone, CostRule::Nothing},
    {"TorchEmbedding", kNone.takes("E-"), CostRule::Nothing},
    {"NhwcMaxPool", kNone, CostRule::Pool},
    {"QLinearSigmoid QLinearLeakyRelu MulInteger", kNone, CostRule::Outer},
    {"QLinearSoftmax", kNone, CostRule::FivePerElement},
    {"QLinearReduceMean QLinearGlobalAveragePool QLinearAveragePool", kNone, CostRule::Fused},
    {"QLinearConcat QLinearWhere", kNone, CostRule::Nothing},
    {"ReduceSumInteger", kNone, CostRule::PerInput},
    {"RelativePositionBias", kNone.takes("W-")},
    {"GatedRelativePositionBias", kNone.takes("-W-W")},
    {"MoE", kNone.takes("--W"), CostRule::Fused},
    {"QMoE", kNone.takes("--Q-WQ-WQ-W-").packed(4, "expert_weight_bits"), CostRule::Fused},
    {"DynamicQuantizeLSTM", kNone.takes("-QQW---W-"), CostRule::Fused},
    {"Unique", kNone, CostRule::Unknown, true},
    {"GatherBlockQuantized", kNone.takes("Q-").packed(4, "bits"), CostRule::Fused},
    {"QuantizeLinear", kNone.takes("T-"), CostRule::TwoPerInput},
    {"DequantizeLinear", kNone.as(OpClass::Dequantize).takes("T-")},
};

}  // namespace

std::span<const Row> visionRows() { return kVision; }
std::span<const Row> onnxRows() { return kRows; }
std::span<const Row> previewRows() { return kPreview; }
std::span<const Row> previewTrainingRows() { return kPreviewTraining; }
std::span<const Row> contribRows() { return kContrib; }

}  // namespace sonde::operators
