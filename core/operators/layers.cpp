// Convolutions, products, normalisation, pooling, enlarging, recurrent layers and attention.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits kConv{.opClass = OpClass::Conv, .density = Density::LikeArguments, .bits = KeepsRank | Convolves};
constexpr Traits kTransposed{.opClass = OpClass::ConvTranspose, .bits = KeepsRank | Convolves};
constexpr Traits kMaxPool{
    .opClass = OpClass::MaxPool, .density = Density::LikeArguments, .bits = KeepsRank | KeepsChannels | SlidesWindow};
constexpr Traits kAveragePool = kMaxPool.as(OpClass::AveragePool);
constexpr Traits kAdaptiveAverage = kAveragePool.without(SlidesWindow);
constexpr Traits kAdaptiveMax{.bits = KeepsRank | KeepsChannels};
constexpr Traits kResample{.opClass = OpClass::Resample, .bits = KeepsRank | KeepsChannels};
constexpr Traits kNorm{.density = Density::LikeArguments, .bits = KeepsShape | KeepsDType | KeepsRank};
constexpr Traits kProduct{.density = Density::LikeArguments, .bits = static_cast<std::uint32_t>(Multiplies)};
constexpr Traits kAttention{.bits = static_cast<std::uint32_t>(Attends)};
constexpr Traits kPad{.bits = static_cast<std::uint32_t>(KeepsRank)};

constexpr Row kRows[] = {
    {"conv1d", kConv.dims(1)},
    {"conv2d", kConv.dims(2)},
    {"conv3d", kConv.dims(3)},
    {"_convolution convolution", kConv.with(MayTranspose).of(Density::Unknown)},
    {"_convolution_mode", kConv.of(Density::Unknown)},
    {"conv_transpose1d", kTransposed.dims(1)},
    {"conv_transpose2d", kTransposed.dims(2)},
    {"conv_transpose3d", kTransposed.dims(3)},

    {"linear", kProduct.as(OpClass::Linear).with(KeepsRank)},
    {"matmul", kProduct.as(OpClass::MatMul).takes("WW")},
    {"mm", kProduct.as(OpClass::MatrixProduct).takes("W ")},
    {"addmm", kProduct.as(OpClass::AddMatrixProduct).with(HasInPlaceForm).takes("W ")},
    {"bmm", kProduct.as(OpClass::BatchMatrixProduct).takes("W ")},
    {"baddbmm", kProduct.as(OpClass::BatchMatrixProduct).with(HasInPlaceForm).takes("W ").of(Density::Unknown)},
    {"mv", kProduct.takes("WW").of(Density::Unknown), CostRule::Product},
    {"addmv", kProduct.with(HasInPlaceForm).of(Density::Unknown), CostRule::Product},
    {"addbmm addr", kProduct.with(HasInPlaceForm).of(Density::Unknown)},
    special({"einsum", kProduct.takes(" W ").of(Density::Unknown), CostRule::Einsum}, Special::ReturnsOnlyTensor),
    special({"chain_matmul", Traits{}}, Special::ReturnsArgument | Special::ReturnsOnlyTensor),
    {"tensordot", kProduct.takes("WW ").of(Density::Unknown)},
    {"bilinear", kProduct.takes("- ").of(Density::Unknown), CostRule::Bilinear},
    {"dot vdot inner", kProduct.of(Density::Unknown), CostRule::Product},
    {"outer", kProduct.of(Density::Unknown), CostRule::Outer},

    {"max_pool1d", kMaxPool.dims(1)},
    {"max_pool2d", kMaxPool.dims(2)},
    {"max_pool2d_with_indices", Traits{.spatialDims = 2, .bits = KeepsRank | KeepsChannels | SlidesWindow},
     CostRule::Pool},
    {"max_pool3d", kMaxPool.dims(3)},
    {"avg_pool1d", kAveragePool.dims(1)},
    {"avg_pool2d", kAveragePool.dims(2)},
    {"avg_pool3d", kAveragePool.dims(3)},
    {"adaptive_avg_pool1d", kAdaptiveAverage.dims(1)},
    {"adaptive_avg_pool2d _adaptive_avg_pool2d", kAdaptiveAverage.dims(2)},
    {"adaptive_avg_pool3d _adaptive_avg_pool3d", kAdaptiveAverage.dims(3)},
    {"adaptive_max_pool1d", kAdaptiveMax.dims(1), CostRule::Pool},
    {"adaptive_max_pool2d", kAdaptiveMax.dims(2), CostRule::Pool},
    {"fractional_max_pool2d max_unpool2d", kAdaptiveMax.dims(2)},
    {"adaptive_max_pool3d", kAdaptiveMax.dims(3), CostRule::Pool},
    {"fractional_max_pool3d max_unpool3d", kAdaptiveMax.dims(3)},
    {"upsample_nearest1d", kResample.dims(1)},
    {"upsample_linear1d", kResample.dims(1), CostRule::Linear},
    {"upsample_nearest2d _upsample_nearest_exact2d", kResample.dims(2)},
    {"upsample_bilinear2d", kResample.dims(2), CostRule::Linear},
    {"upsample_bicubic2d", kResample.dims(2), CostRule::Cubic},
    // Each result takes as many neighbours as the scale says.
    {"_upsample_bilinear2d_aa _upsample_bicubic2d_aa", kResample.dims(2), CostRule::Unknown},
    {"upsample_nearest3d", kResample.dims(3)},
    {"upsample_trilinear3d", kResample.dims(3), CostRule::Linear},
    {"pad constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d",
     kPad, CostRule::Nothing},

    {"batch_norm", kNorm.as(OpClass::BatchNorm)},
    {"native_batch_norm", Traits{.opClass = OpClass::BatchNormWithStatistics}},
    {"layer_norm", kNorm.as(OpClass::LayerNorm)},
    {"native_layer_norm", Traits{}, CostRule::Norm},
    {"group_norm", kNorm, CostRule::Norm},
    {"instance_norm", kNorm.of(Density::Unknown), CostRule::Norm},
    {"rms_norm", Traits{}, CostRule::RmsNorm},
    {"local_response_norm", kNorm.of(Density::Unknown), CostRule::LocalNorm},

    {"lstm gru rnn_tanh rnn_relu", Traits{.opClass = OpClass::Recurrent}},
    {"embedding", Traits{.opClass = OpClass::Embedding, .density = Density::LikeArguments, .inputs = "W- "}},
    {"embedding_bag", Traits{.opClass = OpClass::EmbeddingBag}},
    {"_native_multi_head_attention", kAttention.as(OpClass::MultiHeadAttention)},
    {"_transformer_encoder_layer_fwd", kAttention.as(OpClass::EncoderLayer)},
    {"scaled_dot_product_attention _scaled_dot_product_attention", kAttention, CostRule::Attention},
};

}  // namespace

std::span<const Row> layerRows() { return kRows; }

}  // namespace sonde::operators
