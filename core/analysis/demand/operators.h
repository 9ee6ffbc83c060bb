#pragma once

#include <algorithm>
#include <span>
#include <string_view>

// Operators of ATen by what they keep of their first argument x. Without overload and the underscore of their in-place form.

namespace sonde::analysis::demand {

/// y has x's shape and dtype.
inline constexpr std::string_view kSame[] = {
    "relu", "relu6", "gelu", "silu", "sigmoid", "tanh", "hardswish", "hardsigmoid", "hardtanh", "elu", "leaky_relu", "celu", "selu", "mish", "softplus",
    "dropout", "feature_dropout", "alpha_dropout", "contiguous", "clone", "detach", "alias", "softmax", "log_softmax", "abs", "neg", "exp", "log", "sqrt",
    "rsqrt", "square", "clamp", "clamp_min", "clamp_max", "group_norm", "instance_norm", "channel_shuffle", "flip", "prelu", "logit", "erf", "sin", "cos"};
/// y has x's shape.
inline constexpr std::string_view kSameShape[] = {"to", "type_as", "float", "double", "half", "add", "sub", "mul", "div", "pow", "rsub"};
/// y has x's rank, batch and channels; a window slides over the rest.
inline constexpr std::string_view kPooled[] = {"max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool2d_with_indices"};
/// y has x's rank, batch and channels.
inline constexpr std::string_view kSameChannels[] = {
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_bilinear2d", "upsample_bicubic2d", "upsample_linear1d", "upsample_trilinear3d"};
/// y has x's rank.
inline constexpr std::string_view kSameRank[] = {"constant_pad_nd", "pad", "reflection_pad2d", "replication_pad2d", "reflection_pad1d", "replication_pad1d",
                                                 "roll", "repeat_interleave", "cumsum", "pixel_shuffle", "pixel_unshuffle"};
/// Weights [K, C / groups, …] behind x.
inline constexpr std::string_view kConvolutions[] = {"conv1d", "conv2d", "conv3d", "_convolution", "convolution", "_convolution_mode"};
/// Weights [C, K / groups, …] behind x.
inline constexpr std::string_view kTransposed[] = {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};
inline constexpr std::string_view kRecurrent[] = {"lstm", "gru", "rnn_tanh", "rnn_relu"};

inline bool isOneOf(std::string_view name, std::span<const std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

}  // namespace sonde::analysis::demand
