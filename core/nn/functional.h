#pragma once

#include "core/nn/module.h"

namespace sonde::nn {

// Functions as models call them, on values and on proxies. Each is one operator of the ATen set under its usual name;
// shapes and formulas stand with the layers and the operators. A bias or weight of None is left out.

Var relu(const Var& x);
Var sigmoid(const Var& x);
Var tanh(const Var& x);
Var gelu(const Var& x);
Var softmax(const Var& x, std::int64_t dim);
Var logSoftmax(const Var& x, std::int64_t dim);
Var linear(const Var& x, const Var& weight, const Var& bias);
Var flatten(const Var& x, std::int64_t startDim = 0, std::int64_t endDim = -1);
Var cat(std::vector<Var> tensors, std::int64_t dim);
/// Joins what a list with unknown length holds.
Var cat(const Var& tensors, std::int64_t dim);
Var stack(std::vector<Var> tensors, std::int64_t dim);
Var where(const Var& condition, const Var& x, const Var& y);
Var clamp(const Var& x, const Var& min, const Var& max);
Var dropout(const Var& x, double p, bool training);
/// Images [N,C,H,W] alone.
Var interpolate(const Var& x, double scale, const std::string& mode, const Var& alignCorners);
/// Signals, images and volumes; size and scaleFactor as in UpsampleOptions.
Var interpolate(const Var& x, const Var& size, const Var& scaleFactor, const std::string& mode, const Var& alignCorners = {});
Var pixelShuffle(const Var& x, std::int64_t factor);
Var pixelUnshuffle(const Var& x, std::int64_t factor);
Var channelShuffle(const Var& x, std::int64_t groups);
Var maskedFill(const Var& x, const Var& mask, double value);
Var onesLike(const Var& x);
Var sqrt(const Var& number);
Var exp(const Var& x);
Var sum(const Var& x);
/// softmax(q k^T / sqrt(d) + mask) v over the last two axes. A boolean mask is true where a key counts.
Var scaledDotProductAttention(const Var& q, const Var& k, const Var& v, const Var& mask = {}, double dropout = 0, bool causal = false);

// Methods of tensors; each is a CallMethod node.
Var view(const Var& x, std::vector<Var> shape);
Var reshape(const Var& x, std::vector<Var> shape);
Var reshape(const Var& x, const Var& shape);
Var unflatten(const Var& x, std::int64_t dim, const Var& sizes);
Var narrow(const Var& x, std::int64_t dim, const Var& start, const Var& length);
Var permute(const Var& x, const Ints& dims);
Var transpose(const Var& x, std::int64_t a, std::int64_t b);
Var contiguous(const Var& x);
Var size(const Var& x, std::int64_t dim);
Var size(const Var& x);
Var chunk(const Var& x, std::int64_t chunks, std::int64_t dim);
Var mean(const Var& x, const Ints& dims, bool keepDim = false);
Var unsqueeze(const Var& x, std::int64_t dim);
Var squeeze(const Var& x, std::int64_t dim);
Var expand(const Var& x, std::vector<Var> shape);
/// Zeros of x's dtype.
Var newZeros(const Var& x, const Var& shape);

}  // namespace sonde::nn
