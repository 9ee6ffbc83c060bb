// Fourier transforms, windows, mel filters.

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

using tensor::Dim;
using Complex = std::complex<double>;

/// Σ_n x[n]·e^(∓2πi·k·n/N), not scaled. Powers of two by halving (Cooley and Tukey 1965), others as written.
void fourier(std::vector<Complex>& x, bool inverse) {
    const std::size_t n = x.size();
    if (n <= 1) return;
    const double turn = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
    if (n % 2 == 0) {
        std::vector<Complex> even(n / 2), odd(n / 2);
        for (std::size_t i = 0; i < n / 2; ++i) {
            even[i] = x[2 * i];
            odd[i] = x[2 * i + 1];
        }
        fourier(even, inverse);
        fourier(odd, inverse);
        for (std::size_t k = 0; k < n / 2; ++k) {
            const Complex moved = std::polar(1.0, turn * static_cast<double>(k)) * odd[k];
            x[k] = even[k] + moved;
            x[k + n / 2] = even[k] - moved;
        }
        return;
    }
    std::vector<Complex> result(n);
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = 0; i < n; ++i) result[k] += x[i] * std::polar(1.0, turn * static_cast<double>(k * i % n));
    }
    x = std::move(result);
}

struct Transform {
    std::size_t axis = 0;
    std::int64_t length = -1;  ///< -1: the axis' extent
    bool inverse = false, oneSided = false;
};

/// input [..., n, ..., 1 or 2] -> [..., length or its half, ..., 2] (or 1 for a one-sided inverse)
base::Result<void> transform(KernelContext& context, const Transform& options) {
    const Tensor& x = context.in(0);
    const std::int64_t parts = x.dim(x.rank() - 1), extent = x.dim(options.axis);
    if (parts != 1 && parts != 2) return opError("the last dimension of " + x.typeText() + " must be 1 or 2");
    const bool back = options.inverse && options.oneSided;
    const std::int64_t length = options.length >= 0 ? options.length : back ? 2 * (extent - 1) : extent;
    if (length < 1 || length > std::int64_t{1} << 26) return opError("a length of " + std::to_string(length) + " is out of range");
    Shape shape = x.shape();
    const std::int64_t bins = options.oneSided && !options.inverse ? length / 2 + 1 : length;
    shape[options.axis] = bins;
    shape[x.rank() - 1] = back ? 1 : 2;
    SONDE_ASSIGN(const Tensor in, wide(x));
    SONDE_ASSIGN(Tensor out, wideZeros(shape));
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i + 1 < x.rank(); ++i) (i < options.axis ? outer : i > options.axis ? inner : outer) *= i == options.axis ? 1 : x.dim(i);
    const std::int64_t outParts = back ? 1 : 2;
    context.pool().parallelFor(static_cast<std::size_t>(outer * inner), 1, [&](std::size_t begin, std::size_t end) {
        std::vector<Complex> line(static_cast<std::size_t>(length));
        for (auto l = static_cast<std::int64_t>(begin); l < static_cast<std::int64_t>(end); ++l) {
            const std::int64_t o = l / inner, i = l % inner;
            line.assign(static_cast<std::size_t>(length), Complex{});
            for (std::int64_t t = 0; t < std::min(extent, length); ++t) {
                const double* from = in.data<double>() + ((o * extent + t) * inner + i) * parts;
                line[static_cast<std::size_t>(t)] = Complex(from[0], parts == 2 ? from[1] : 0);
            }
            // The missing half of a real signal's spectrum mirrors the first.
            for (std::int64_t t = length / 2 + 1; back && t < length; ++t) line[static_cast<std::size_t>(t)] = std::conj(line[static_cast<std::size_t>(length - t)]);
            fourier(line, options.inverse);
            const double scale = options.inverse ? 1.0 / static_cast<double>(length) : 1.0;
            for (std::int64_t t = 0; t < bins; ++t) {
                double* to = out.mutableData<double>() + ((o * bins + t) * inner + i) * outParts;
                to[0] = line[static_cast<std::size_t>(t)].real() * scale;
                if (outParts == 2) to[1] = line[static_cast<std::size_t>(t)].imag() * scale;
            }
        }
    });
    return setNarrow(context, 0, out, x.dtype());
}

/// The axis was an attribute (default 1) in 17 and is an input (default −2) since 20.
base::Result<void> dft(KernelContext& context, bool axisIsInput) {
    const Tensor& x = context.in(0);
    if (x.rank() < 2) return opError("needs a signal and its real and imaginary parts, but has " + x.typeText());
    std::int64_t axis = axisIsInput ? -2 : context.attributes().getInt("axis", 1);
    if (axisIsInput && context.has(2)) {
        SONDE_ASSIGN(axis, intOf(context.value(2)));
    }
    Transform options;
    SONDE_ASSIGN(options.axis, axisOf(axis, x.rank()));
    if (options.axis + 1 == x.rank()) return opError("the last axis holds real and imaginary parts");
    if (context.has(1)) {
        SONDE_ASSIGN(options.length, intOf(context.value(1)));
        if (options.length < 0) return opError("a length of " + std::to_string(options.length) + " is out of range");
    }
    options.inverse = context.attributes().getInt("inverse", 0) != 0;
    options.oneSided = context.attributes().getInt("onesided", 0) != 0;
    return transform(context, options);
}

/// Frames of the signal [B, L, 1 or 2], each times the window and transformed: [B, frames, bins, 2].
base::Result<void> stft(KernelContext& context) {
    const Tensor& signal = context.in(0);
    if (signal.rank() != 3 || (signal.dim(2) != 1 && signal.dim(2) != 2)) return opError("the signal " + signal.typeText() + " must be [batch, length, 1 or 2]");
    SONDE_ASSIGN(const std::int64_t hop, intOf(context.value(1)));
    std::int64_t frame = context.has(2) ? context.in(2).numel() : signal.dim(1);
    if (context.has(3)) {
        SONDE_ASSIGN(frame, intOf(context.value(3)));
    }
    if (hop < 1 || frame < 1 || frame > signal.dim(1) || (context.has(2) && context.in(2).numel() != frame)) {
        return opError("frames of " + std::to_string(frame) + " every " + std::to_string(hop) + " do not fit " + signal.typeText());
    }
    const bool oneSided = context.attributes().getInt("onesided", 1) != 0;
    const std::int64_t frames = (signal.dim(1) - frame) / hop + 1, bins = oneSided ? frame / 2 + 1 : frame, parts = signal.dim(2);
    SONDE_ASSIGN(const Tensor in, wide(signal));
    SONDE_ASSIGN(Tensor out, wideZeros(Shape{signal.dim(0), frames, bins, 2}));
    std::vector<Complex> line(static_cast<std::size_t>(frame));
    for (std::int64_t f = 0; f < signal.dim(0) * frames; ++f) {
        if (context.cancelled()) return base::cancelled();
        const double* from = in.data<double>() + (f / frames * signal.dim(1) + f % frames * hop) * parts;
        for (std::int64_t t = 0; t < frame; ++t) {
            const double weight = context.has(2) ? context.in(2).toDouble(t) : 1.0;
            line[static_cast<std::size_t>(t)] = weight * Complex(from[t * parts], parts == 2 ? from[t * parts + 1] : 0);
        }
        fourier(line, false);
        for (std::int64_t t = 0; t < bins; ++t) {
            out.mutableData<double>()[(f * bins + t) * 2] = line[static_cast<std::size_t>(t)].real();
            out.mutableData<double>()[(f * bins + t) * 2 + 1] = line[static_cast<std::size_t>(t)].imag();
        }
        line.assign(static_cast<std::size_t>(frame), Complex{});
    }
    return setNarrow(context, 0, out, signal.dtype());
}

base::Result<DType> outputType(const Attributes& attributes) {
    const std::int64_t code = attributes.getInt("output_datatype", 1);
    if (code < 1 || code >= tensor::kDTypeCount) return opError("output_datatype " + std::to_string(code) + " is not known");
    return static_cast<DType>(code);
}

/// a0 − a1·cos(2πn/N) + a2·cos(4πn/N)
base::Result<void> window(KernelContext& context, double a0, double a1, double a2) {
    SONDE_ASSIGN(const std::int64_t size, intOf(context.value(0)));
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    if (size < 0) return opError("a window of " + std::to_string(size) + " cannot be");
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{size}));
    const auto period = static_cast<double>(context.attributes().getInt("periodic", 1) ? size : size - 1);
    for (std::int64_t i = 0; i < size; ++i) {
        const double phase = period > 0 ? 2 * std::numbers::pi * static_cast<double>(i) / period : 0;
        y.mutableData<double>()[i] = a0 - a1 * std::cos(phase) + a2 * std::cos(2 * phase);
    }
    return setNarrow(context, 0, y, dtype);
}

/// Triangles that are evenly spaced on the mel scale, mel(f) = 2595·log10(1 + f/700): [dft_length/2 + 1, bins].
base::Result<void> melWeights(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t bins, intOf(context.value(0)));
    SONDE_ASSIGN(const std::int64_t length, intOf(context.value(1)));
    SONDE_ASSIGN(const std::int64_t rate, intOf(context.value(2)));
    SONDE_ASSIGN(const double low, numberOf(context.value(3)));
    SONDE_ASSIGN(const double high, numberOf(context.value(4)));
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    if (bins < 1 || length < 1 || rate < 1 || bins > 1 << 20) return opError("sizes must be positive");
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double first = mel(low), step = (mel(high) - first) / static_cast<double>(bins + 2);
    const std::int64_t rows = length / 2 + 1;
    const auto edge = [&](std::int64_t i) {
        const double hertz = 700 * (std::pow(10, (first + static_cast<double>(i) * step) / 2595) - 1);
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))), 0, rows);
    };
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{rows, bins}));
    const auto at = [&](std::int64_t row, std::int64_t column) -> double& { return y.mutableData<double>()[std::min(row, rows - 1) * bins + column]; };
    for (std::int64_t i = 0; i < bins; ++i) {
        const std::int64_t lower = edge(i), centre = edge(i + 1), upper = edge(i + 2);
        if (lower == centre) at(centre, i) = 1;
        for (std::int64_t j = lower; lower < centre && j <= centre; ++j) at(j, i) = static_cast<double>(j - lower) / static_cast<double>(centre - lower);
        for (std::int64_t j = centre; j < upper; ++j) at(j, i) = static_cast<double>(upper - j) / static_cast<double>(upper - centre);
    }
    return setNarrow(context, 0, y, dtype);
}

base::Result<void> inferSpectrum(InferContext& context) {
    const auto& in = context.in(0).shape;
    setLike(context, 0, in ? std::optional(unknownDims(in->size())) : std::nullopt);
    return {};
}

/// An extent that a scalar input gives; open if it is not known.
base::Result<Dim> extentOf(InferContext& context, std::size_t input) {
    if (context.constant(input).isNone()) return Dim{};
    SONDE_ASSIGN(const std::int64_t extent, intOf(context.constant(input)));
    return extent < 0 ? Dim{} : Dim::of(extent);
}

base::Result<void> inferWindow(InferContext& context) {
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    SONDE_ASSIGN(const Dim size, extentOf(context, 0));
    context.set(0, TypeInfo::tensor(dtype, Dims{size}));
    return {};
}

base::Result<void> inferMel(InferContext& context) {
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    SONDE_ASSIGN(const Dim bins, extentOf(context, 0));
    SONDE_ASSIGN(const Dim length, extentOf(context, 1));
    context.set(0, TypeInfo::tensor(dtype, Dims{length.known() ? Dim::of(length.value / 2 + 1) : Dim{}, bins}));
    return {};
}

}  // namespace

void define_signal(Registry& registry) {
    registry.add(Row("DFT", 17, "discrete Fourier transform along an axis", Category::Transform).in("input", kFloats).optionalIn("dft_length", kIndex).out("output").attrInt("axis", 1)
                     .attrInt("inverse", 0).attrInt("onesided", 0).runs([](KernelContext& context) { return dft(context, false); }, inferSpectrum));
    registry.add(Row("DFT", 20, "discrete Fourier transform along an axis", Category::Transform).in("input", kFloats).optionalIn("dft_length", kIndex).optionalIn("axis", kInt64)
                     .out("output").attrInt("inverse", 0).attrInt("onesided", 0).runs([](KernelContext& context) { return dft(context, true); }, inferSpectrum));
    registry.add(Row("STFT", 17, "Fourier transforms of overlapping frames", Category::Transform).in("signal", kFloats).in("frame_step", kIndex).optionalIn("window", kFloats)
                     .optionalIn("frame_length", kIndex).out("output").attrInt("onesided", 1).runs(stft, [](InferContext& context) -> base::Result<void> {
                         setLike(context, 0, unknownDims(4));
                         return {};
                     }));
    const struct {
        std::string_view name, summary;
        double a0, a1, a2;
    } windows[] = {{"HannWindow", "Hann's window", 0.5, 0.5, 0}, {"HammingWindow", "Hamming's window", 25.0 / 46, 21.0 / 46, 0}, {"BlackmanWindow", "Blackman's window", 0.42, 0.5, 0.08}};
    for (const auto& row : windows) {
        registry.add(Row(row.name, 17, row.summary, Category::Data).in("size", kIndex).out("output").attrInt("output_datatype", 1).attrInt("periodic", 1)
                         .runs([row](KernelContext& context) { return window(context, row.a0, row.a1, row.a2); }, inferWindow));
    }
    registry.add(Row("MelWeightMatrix", 17, "filters that sum a spectrum on the mel scale", Category::Data).in("num_mel_bins", kIndex).in("dft_length", kIndex).in("sample_rate", kIndex)
                     .in("lower_edge_hertz", kFloats).in("upper_edge_hertz", kFloats).out("output").attrInt("output_datatype", 1)
                     .runs(melWeights, inferMel));
}

}  // namespace sonde::ops
