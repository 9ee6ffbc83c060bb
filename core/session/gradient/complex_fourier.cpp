// Fourier transforms in ONNX operators on pairs of numbers.

#include "core/session/gradient/complex_fourier.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/ops/support/fourier_scale.h"

namespace sonde::session::gradient {

using exporting::LoweredCall;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;
using Results = ComplexForm::Results;
using Dims = std::vector<std::int64_t>;

namespace {

enum class Spectrum : std::uint8_t { Complex, HalfOfReal, RealOfHalf };

struct Transform {
    Spectrum kind;
    bool isInverse;
};

NodeId sliced(ComplexForm& f, NodeId x, std::int64_t start, std::int64_t end, std::int64_t axis) {
    const auto one = [&](std::int64_t value) { return f.call().integersNode({value}); };
    return f.make("Slice", {x, one(start), one(end), one(axis)});
}

/// The real part of the inverse transform of half a spectrum counts all but its ends twice: they stand for their
/// conjugates.
NodeId halfWeighted(ComplexForm& f, NodeId x, std::size_t axis, std::int64_t n) {
    Shape shape = f.call().shapeOf(x);
    const std::int64_t bins = std::min(shape[axis], n / 2 + 1);
    if (bins < shape[axis]) x = sliced(f, x, 0, bins, static_cast<std::int64_t>(axis));
    std::vector<double> weights;
    for (std::int64_t i = 0; i < bins; ++i) weights.push_back(i == 0 || 2 * i == n ? 1 : 2);
    Dims dims(shape.rank(), 1);
    dims[axis] = bins;
    return f.make("Mul", {x, f.call().cast(f.call().constant(Tensor::of<double>(Shape(dims), weights)), f.dtype())});
}

/// Along one dimension. `x`: pairs, for half a spectrum real numbers; gives pairs, or real numbers.
NodeId transformed(ComplexForm& f, NodeId x, const Transform& what, std::optional<std::int64_t> length,
                   std::int64_t dim, const std::string& norm) {
    const Shape shape = f.call().shapeOf(x);
    const auto rank = static_cast<std::int64_t>(shape.rank()) - (what.kind == Spectrum::HalfOfReal ? 0 : 1);
    const std::int64_t axis = dim < 0 ? dim + rank : dim;
    if (axis < 0 || axis >= rank) LoweredCall::fail("invalid axis " + std::to_string(dim));
    const std::int64_t own = shape[static_cast<std::size_t>(axis)];
    const std::int64_t n = length.value_or(what.kind == Spectrum::RealOfHalf ? 2 * (own - 1) : own);
    const auto scale = ops::fourierScale(norm, what.isInverse, n);
    if (n < 1 || !scale) LoweredCall::fail("a transform of length " + std::to_string(n));
    if (what.kind == Spectrum::HalfOfReal) x = f.make("Unsqueeze", {x, f.call().integersNode({-1})});
    if (what.kind == Spectrum::RealOfHalf) x = halfWeighted(f, x, static_cast<std::size_t>(axis), n);
    Shape spectrum = f.call().shapeOf(x);
    spectrum[spectrum.rank() - 1] = 2;
    spectrum[static_cast<std::size_t>(axis)] = what.kind == Spectrum::HalfOfReal ? n / 2 + 1 : n;
    NodeId y = f.call().opOf("DFT", {x, f.call().constant(Tensor::scalar<std::int64_t>(n))},
                             {{"axis", axis},
                              {"inverse", std::int64_t{what.isInverse}},
                              {"onesided", std::int64_t{what.kind == Spectrum::HalfOfReal}}},
                             f.dtype(), spectrum);
    if (*scale != 1) y = f.make("Mul", {y, f.real(*scale)});
    if (what.kind != Spectrum::RealOfHalf) return y;
    return f.make("Gather", {y, f.call().constant(Tensor::scalar<std::int64_t>(0))}, {{"axis", std::int64_t{-1}}});
}

/// (self, n, dim, norm)
Results alongOne(ComplexForm& f, const Transform& what) {
    const NodeId x = what.kind == Spectrum::HalfOfReal ? f.parts(0).real : f.pairs(0);
    LoweredCall& call = f.call();
    const auto length = call.has(1) ? std::optional(call.integer(1)) : std::nullopt;
    return exporting::one(transformed(f, x, what, length, call.integer(2), call.text(3)));
}

/// (self, s, dim, norm): along several dimensions; the real one is the last.
Results alongMany(ComplexForm& f, const Transform& what) {
    LoweredCall& call = f.call();
    NodeId x = what.kind == Spectrum::HalfOfReal ? f.parts(0).real : f.pairs(0);
    const std::size_t rank = call.shapeOf(x).rank() - (what.kind == Spectrum::HalfOfReal ? 0 : 1);
    const Dims sizes = call.integers(1);
    Dims dims = call.integers(2);
    if (dims.empty())
        for (std::size_t i = sizes.empty() ? 0 : rank - std::min(rank, sizes.size()); i < rank; ++i)
            dims.push_back(static_cast<std::int64_t>(i));
    if (dims.empty() || (!sizes.empty() && sizes.size() != dims.size())) LoweredCall::fail("its sizes do not match");
    for (std::int64_t& dim : dims) dim += dim < 0 ? static_cast<std::int64_t>(rank) : 0;
    const auto along = [&](std::size_t i, Spectrum kind) {
        const auto length = sizes.empty() || sizes[i] == -1 ? std::nullopt : std::optional(sizes[i]);
        x = transformed(f, x, {kind, what.isInverse}, length, dims[i], call.text(3));
    };
    const std::size_t last = dims.size() - 1;
    if (what.kind == Spectrum::HalfOfReal) along(last, what.kind);
    for (std::size_t i = 0; i < (what.kind == Spectrum::Complex ? dims.size() : last); ++i) along(i, Spectrum::Complex);
    if (what.kind == Spectrum::RealOfHalf) along(last, what.kind);
    return exporting::one(x);
}

// ---- frames of a signal

struct Frames {
    std::int64_t length = 0, hop = 0, count = 0;
    Tensor places() const {
        Dims at;
        for (std::int64_t frame = 0; frame < count; ++frame)
            for (std::int64_t i = 0; i < length; ++i) at.push_back(frame * hop + i);
        return Tensor::of<std::int64_t>({count, length}, at);
    }
};

/// (…, n_fft, hop_length, win_length, window): a window of n_fft numbers.
NodeId windowOf(ComplexForm& f, std::int64_t n) {
    LoweredCall& call = f.call();
    if (f.isPair(4)) LoweredCall::fail("a window of complex numbers");
    const std::int64_t length = call.has(3) ? call.integer(3) : n;
    NodeId window;
    if (call.has(4)) {
        window = f.parts(4).real;
    } else {
        const std::vector<double> ones(static_cast<std::size_t>(length), 1);
        window = call.cast(call.constant(Tensor::of<double>({length}, ones)), f.dtype());
    }
    if (length == n) return window;
    return f.make("Pad", {window, call.integersNode({(n - length) / 2, n - length - (n - length) / 2})});
}

/// (self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex): [.., L] -> [.., bins, frames]
Results stft(ComplexForm& f) {
    LoweredCall& call = f.call();
    const bool isComplex = f.isPair(0);
    NodeId x = isComplex ? f.pairs(0) : f.parts(0).real;
    const bool isSingle = call.shapeOf(x).rank() == (isComplex ? 2U : 1U);
    if (isSingle) x = f.make("Unsqueeze", {x, call.integersNode({0})});
    const std::int64_t n = call.integer(1), hop = call.has(2) ? call.integer(2) : n / 4;
    if (n < 1 || hop < 1) LoweredCall::fail("its frames are empty");
    const Frames frames{n, hop, (call.shapeOf(x)[1] - n) / hop + 1};
    NodeId window = windowOf(f, n);
    if (isComplex) window = f.make("Unsqueeze", {window, call.integersNode({-1})});
    x = f.make("Gather", {x, call.constant(frames.places())}, {{"axis", std::int64_t{1}}});
    x = f.make("Mul", {x, window});
    const bool isOneSided = call.has(6) ? call.flag(6) : !isComplex;
    if (!isOneSided && !isComplex) x = f.joined({x, NodeId()});
    const std::string norm = call.flag(5) ? "ortho" : "backward";
    x = transformed(f, x, {isOneSided ? Spectrum::HalfOfReal : Spectrum::Complex, false}, std::nullopt, 2, norm);
    x = call.permuted(x, {0, 2, 1, 3});
    return exporting::one(isSingle ? f.make("Squeeze", {x, call.integersNode({0})}) : x);
}

/// Frames [B, F, n] added up where they overlap: [B, total]
NodeId overlapped(ComplexForm& f, NodeId x, const Frames& frames) {
    LoweredCall& call = f.call();
    const std::int64_t batches = call.shapeOf(x)[0], total = frames.length + frames.hop * (frames.count - 1);
    const Tensor one = frames.places();
    Dims places;
    for (std::int64_t b = 0; b < batches; ++b)
        for (std::int64_t i = 0; i < one.numel(); ++i)
            places.push_back(one.span<std::int64_t>()[static_cast<std::size_t>(i)]);
    const auto zeros = Tensor::zeros(f.dtype(), {batches, total});
    if (!zeros) LoweredCall::fail(zeros.error().what);
    return f.make("ScatterElements",
                  {call.constant(*zeros), call.constant(Tensor::of<std::int64_t>({batches, one.numel()}, places)),
                   call.reshaped(x, {batches, one.numel()})},
                  {{"axis", std::int64_t{1}}, {"reduction", std::string("add")}});
}

/// (self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)
Results istft(ComplexForm& f) {
    LoweredCall& call = f.call();
    if (call.flag(9)) LoweredCall::fail("a complex signal of frames");
    // Pairs of a complex tensor, or real numbers that are pairs.
    NodeId x = call.tensor(0);
    const bool isSingle = call.shapeOf(x).rank() == 3;
    if (isSingle) x = f.make("Unsqueeze", {x, call.integersNode({0})});
    const std::int64_t n = call.integer(1), hop = call.has(2) ? call.integer(2) : n / 4;
    const bool isOneSided = call.has(7) ? call.flag(7) : call.shapeOf(x)[1] != n;
    const Frames frames{n, hop, call.shapeOf(x)[2]};
    const std::string norm = call.flag(6) ? "ortho" : "backward";
    x = transformed(f, call.permuted(x, {0, 2, 1, 3}), {isOneSided ? Spectrum::RealOfHalf : Spectrum::Complex, true}, n,
                    2, norm);
    if (!isOneSided)
        x = f.make("Gather", {x, call.constant(Tensor::scalar<std::int64_t>(0))}, {{"axis", std::int64_t{-1}}});
    const NodeId window = windowOf(f, n), squares = f.make("Mul", {window, window});
    const NodeId all = f.make("Expand", {squares, call.integersNode({1, frames.count, n})});
    const Shape& result = call.result().shape();
    const std::int64_t start = call.flag(5) ? n / 2 : 0, end = start + result[result.rank() - 1];
    const NodeId signal = sliced(f, overlapped(f, f.make("Mul", {x, window}), frames), start, end, 1);
    const NodeId weight = sliced(f, overlapped(f, all, frames), start, end, 1);
    return exporting::one(call.reshaped(f.make("Div", {signal, weight}), result));
}

using Form = Results (*)(ComplexForm&);

const std::unordered_map<std::string_view, Form>& fourierForms() {
    static constexpr Transform kForward{Spectrum::Complex, false}, kBack{Spectrum::Complex, true},
        kHalf{Spectrum::HalfOfReal, false}, kReal{Spectrum::RealOfHalf, true};
    static const std::unordered_map<std::string_view, Form> all{
        {"fft_fft", [](ComplexForm& f) { return alongOne(f, kForward); }},
        {"fft_ifft", [](ComplexForm& f) { return alongOne(f, kBack); }},
        {"fft_rfft", [](ComplexForm& f) { return alongOne(f, kHalf); }},
        {"fft_irfft", [](ComplexForm& f) { return alongOne(f, kReal); }},
        {"fft_fft2", [](ComplexForm& f) { return alongMany(f, kForward); }},
        {"fft_ifft2", [](ComplexForm& f) { return alongMany(f, kBack); }},
        {"fft_rfft2", [](ComplexForm& f) { return alongMany(f, kHalf); }},
        {"fft_irfft2", [](ComplexForm& f) { return alongMany(f, kReal); }},
        {"fft_fftn", [](ComplexForm& f) { return alongMany(f, kForward); }},
        {"fft_ifftn", [](ComplexForm& f) { return alongMany(f, kBack); }},
        {"fft_rfftn", [](ComplexForm& f) { return alongMany(f, kHalf); }},
        {"fft_irfftn", [](ComplexForm& f) { return alongMany(f, kReal); }},
        {"stft", stft},
        {"istft", istft}};
    return all;
}

}  // namespace

bool isFourierForm(std::string_view name) { return fourierForms().contains(name); }

Results fourierForm(ComplexForm& form, std::string_view name) {
    const auto found = fourierForms().find(name);
    return found == fourierForms().end() ? Results() : found->second(form);
}

}  // namespace sonde::session::gradient
