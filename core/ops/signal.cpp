// Fourier transforms, windows, mel filters.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/kernels/fourier.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

using kernels::FourierLines;
using kernels::Spectrum;
using tensor::Dim;

struct Transform {
    std::size_t axis = 0;
    std::int64_t length = -1;  ///< -1: the axis' dimension
    bool inverse = false, oneSided = false;
};

/// float64 is computed as such, everything else in float32.
DType computedIn(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

/// A signal [outer, dimension, inner, parts] and its spectrum [outer, bins, inner, outParts]; parts are real and
/// imaginary.
struct Sizes {
    std::int64_t outer = 1, inner = 1, dimSize = 0, parts = 0, length = 0, bins = 0, outParts = 0;
    /// Where a line begins, in numbers.
    std::int64_t inAt(std::size_t line) const { return at(line, dimSize) * parts; }
    std::int64_t outAt(std::size_t line) const { return at(line, bins) * outParts; }

  private:
    std::int64_t at(std::size_t line, std::int64_t along) const {
        const auto l = static_cast<std::int64_t>(line);
        return l / inner * along * inner + l % inner;
    }
};

/// One line of x as `numbers` numbers, pairs unless `real`; zeros beyond its end.
template <typename T>
void loadLine(const T* x, const Sizes& sizes, bool real, std::int64_t numbers, T* line) {
    const std::int64_t step = sizes.inner * sizes.parts, width = real ? 1 : 2;
    const std::int64_t used = std::min(sizes.dimSize, numbers / width);
    for (std::int64_t t = 0; t < used; ++t) {
        line[t * width] = x[t * step];
        if (!real) line[t * width + 1] = sizes.parts == 2 ? x[t * step + 1] : T{};
    }
    std::fill(line + used * width, line + numbers, T{});
}

template <typename T>
base::Result<void> transformAs(KernelContext& context, const Tensor& in, const Sizes& sizes, const Transform& options,
                               Tensor& out) {
    const bool back = options.inverse && options.oneSided,
               fromReal = options.oneSided && !options.inverse && sizes.parts == 1;
    FourierLines<T> lines;
    lines.count = static_cast<std::size_t>(sizes.outer * sizes.inner);
    lines.length = sizes.length;
    lines.kind = back ? Spectrum::HalfToReal : fromReal ? Spectrum::RealToHalf : Spectrum::Complex;
    lines.inverse = options.inverse;
    const std::int64_t numbers = fromReal ? sizes.length : back ? 2 * (sizes.length / 2 + 1) : 2 * sizes.length;
    const T scale = options.inverse ? T{1} / static_cast<T>(sizes.length) : T{1};
    const T* x = in.data<T>();
    T* y = out.mutableData<T>();
    lines.load = [&, x](std::size_t line, T* target) {
        loadLine(x + sizes.inAt(line), sizes, fromReal, numbers, target);
    };
    lines.store = [&, y](std::size_t line, const T* result) {
        T* to = y + sizes.outAt(line);
        for (std::int64_t t = 0; t < sizes.bins; ++t, to += sizes.inner * sizes.outParts) {
            for (std::int64_t p = 0; p < sizes.outParts; ++p) to[p] = result[t * sizes.outParts + p] * scale;
        }
    };
    return kernels::transformLines(lines, context.pool(), context.environment().stop);
}

/// input [..., n, ..., 1 or 2] -> [..., length or its half, ..., 2] (or 1 for a one-sided inverse)
base::Result<void> transform(KernelContext& context, const Transform& options) {
    const Tensor& x = context.in("input");
    Sizes sizes;
    sizes.parts = x.dim(x.rank() - 1), sizes.dimSize = x.dim(options.axis);
    if (sizes.parts != 1 && sizes.parts != 2)
        return opError("the last dimension of " + x.typeText() + " must be 1 or 2");
    const bool back = options.inverse && options.oneSided;
    sizes.length = options.length >= 0 ? options.length : back ? 2 * (sizes.dimSize - 1) : sizes.dimSize;
    if (sizes.length < 1 || sizes.length > kernels::FourierTransform<double>::kMaxLength) {
        return opError("a length of " + std::to_string(sizes.length) + " is out of range");
    }
    sizes.bins = options.oneSided && !options.inverse ? sizes.length / 2 + 1 : sizes.length;
    sizes.outParts = back ? 1 : 2;
    for (std::size_t i = 0; i + 1 < x.rank(); ++i) {
        if (i != options.axis) (i < options.axis ? sizes.outer : sizes.inner) *= x.dim(i);
    }
    Shape shape = x.shape();
    shape[options.axis] = sizes.bins;
    shape[x.rank() - 1] = sizes.outParts;
    const DType dtype = computedIn(x.dtype());
    SONDE_ASSIGN(const Tensor in, x.cast(dtype));
    SONDE_ASSIGN(Tensor out, Tensor::allocate(dtype, shape));
    if (dtype == DType::Float64) SONDE_TRY(transformAs<double>(context, in, sizes, options, out));
    else SONDE_TRY(transformAs<float>(context, in, sizes, options, out));
    return setNarrow(context, 0, out, x.dtype());
}

/// The axis was an attribute (default 1) in 17 and is an input (default −2) since 20.
base::Result<Transform> transformOf(const KernelContext& context, bool axisIsInput) {
    const Tensor& x = context.in("input");
    if (x.rank() < 2) return opError("needs a signal and its real and imaginary parts, but has " + x.typeText());
    std::int64_t axis = axisIsInput ? -2 : context.attributes().getInt("axis", 1);
    if (axisIsInput && context.has("axis")) {
        SONDE_ASSIGN(axis, intOf(context.value("axis")));
    }
    Transform options;
    SONDE_ASSIGN(options.axis, axisOf(axis, x.rank()));
    if (options.axis + 1 == x.rank()) return opError("the last axis has real and imaginary parts");
    if (context.has("dft_length")) {
        SONDE_ASSIGN(options.length, intOf(context.value("dft_length")));
        if (options.length < 0) return opError("a length of " + std::to_string(options.length) + " is out of range");
    }
    options.inverse = context.attributes().getInt("inverse", 0) != 0;
    options.oneSided = context.attributes().getInt("onesided", 0) != 0;
    return options;
}

base::Result<void> dft(KernelContext& context, bool axisIsInput) {
    SONDE_ASSIGN(const Transform options, transformOf(context, axisIsInput));
    return transform(context, options);
}

/// A sum over the line, weighted by cosines and sines. Of the half of a spectrum that stands for all of it, what is not
/// at the ends counts for two.
base::Result<Dependence> spectrumTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor& x = context.in("input");
    SONDE_ASSIGN(const Transform options, transformOf(context, call.op.since >= 20));
    const std::int64_t parts = x.dim(x.rank() - 1), size = x.dim(options.axis);
    const bool isHalf = options.inverse && options.oneSided;
    const std::int64_t length = options.length >= 0 ? options.length : isHalf ? 2 * (size - 1) : size;
    const std::int64_t used = std::min(size, isHalf ? length / 2 + 1 : length), bin = call.at[options.axis];
    const bool isImaginary = call.at.back() == 1;
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w");
    SONDE_TRY(dependence::checkTerms(used * parts));
    std::vector<std::int64_t> at = call.at;
    for (std::int64_t t = 0; t < used; ++t) {
        // Of t * bin whole turns count for nothing.
        const double turns = static_cast<double>(t * bin % length) / static_cast<double>(length),
                     angle = (options.inverse ? 2 : -2) * std::numbers::pi * turns;
        double share = options.inverse ? 1 / static_cast<double>(length) : 1;
        if (isHalf && t > 0 && 2 * t != length) share *= 2;
        for (std::int64_t p = 0; p < std::min<std::int64_t>(parts, 2); ++p) {
            at[options.axis] = t, at.back() = p;
            dependence::addElement(made, part, call, context.position("input"), dependence::elementAt(at, x.shape()));
            const double real = p == 0 ? std::cos(angle) : -std::sin(angle),
                         imaginary = p == 0 ? std::sin(angle) : std::cos(angle);
            made.terms.back().weight = share * (isImaginary ? imaginary : real);
        }
    }
    return made;
}

/// Frames of a signal [batch, dimension, parts], frame f of all batches beginning at (f / perBatch, f % perBatch ·
/// hop).
struct Frames {
    std::int64_t dimSize = 0, parts = 0, length = 0, hop = 0, perBatch = 0, bins = 0;
    std::int64_t at(std::size_t frame) const {
        const auto f = static_cast<std::int64_t>(frame);
        return (f / perBatch * dimSize + f % perBatch * hop) * parts;
    }
};

template <typename T>
base::Result<void> framesAs(KernelContext& context, const Tensor& in, const Frames& frames, std::size_t count,
                            Tensor& out) {
    SONDE_ASSIGN(const Tensor window, context.has("window") ? context.in("window").cast(in.dtype()) : Tensor());
    const T* weights = context.has("window") ? window.data<T>() : nullptr;
    const T* x = in.data<T>();
    T* y = out.mutableData<T>();
    const bool real = frames.parts == 1 && frames.bins == frames.length / 2 + 1;
    const std::int64_t width = real ? 1 : 2;
    FourierLines<T> lines;
    lines.count = count;
    lines.length = frames.length;
    lines.kind = real ? Spectrum::RealToHalf : Spectrum::Complex;
    lines.load = [&, x, weights](std::size_t frame, T* target) {
        const T* from = x + frames.at(frame);
        for (std::int64_t t = 0; t < frames.length; ++t) {
            const T weight = weights ? weights[t] : T{1};
            target[t * width] = weight * from[t * frames.parts];
            if (!real) target[t * width + 1] = frames.parts == 2 ? weight * from[t * frames.parts + 1] : T{};
        }
    };
    lines.store = [&, y](std::size_t frame, const T* result) {
        std::copy(result, result + 2 * frames.bins, y + static_cast<std::int64_t>(frame) * 2 * frames.bins);
    };
    return kernels::transformLines(lines, context.pool(), context.environment().stop);
}

/// Frames of the signal [B, L, 1 or 2], each times the window and transformed: [B, frames, bins, 2].
base::Result<void> stft(KernelContext& context) {
    const Tensor& signal = context.in("signal");
    if (signal.rank() != 3 || (signal.dim(2) != 1 && signal.dim(2) != 2))
        return opError("the signal " + signal.typeText() + " must be [batch, length, 1 or 2]");
    Frames frames;
    frames.dimSize = signal.dim(1), frames.parts = signal.dim(2);
    SONDE_ASSIGN(frames.hop, intOf(context.value("frame_step")));
    frames.length = context.has("window") ? context.in("window").numel() : signal.dim(1);
    if (context.has("frame_length")) {
        SONDE_ASSIGN(frames.length, intOf(context.value("frame_length")));
    }
    if (frames.hop < 1 || frames.length < 1 || frames.length > signal.dim(1) ||
        (context.has("window") && context.in("window").numel() != frames.length)) {
        return opError("frames of " + std::to_string(frames.length) + " every " + std::to_string(frames.hop) +
                       " do not match " + signal.typeText());
    }
    frames.perBatch = (signal.dim(1) - frames.length) / frames.hop + 1;
    frames.bins = context.attributes().getInt("onesided", 1) != 0 ? frames.length / 2 + 1 : frames.length;
    const DType dtype = computedIn(signal.dtype());
    SONDE_ASSIGN(const Tensor in, signal.cast(dtype));
    SONDE_ASSIGN(Tensor out, Tensor::allocate(dtype, Shape{signal.dim(0), frames.perBatch, frames.bins, 2}));
    const auto count = static_cast<std::size_t>(signal.dim(0) * frames.perBatch);
    if (dtype == DType::Float64) SONDE_TRY(framesAs<double>(context, in, frames, count, out));
    else SONDE_TRY(framesAs<float>(context, in, frames, count, out));
    return setNarrow(context, 0, out, signal.dtype());
}

/// [batch, frame, bin, real or imaginary]: the elements of the frame, turned and weighed by the window.
base::Result<Dependence> framedTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    const Tensor& signal = context.in("signal");
    const Tensor* const window = context.optionalIn("window");
    if (call.at.size() != 4 || signal.rank() != 3) return opError("the frames do not match the signal");
    SONDE_ASSIGN(const std::int64_t hop, intOf(context.value("frame_step")));
    std::int64_t length = window ? window->numel() : signal.dim(1);
    if (context.has("frame_length")) {
        SONDE_ASSIGN(length, intOf(context.value("frame_length")));
    }
    const std::int64_t parts = signal.dim(2), first = call.at[1] * hop;
    if (first < 0 || first + length > signal.dim(1) || (window && window->numel() != length))
        return opError("the frames do not match the signal");
    SONDE_TRY(dependence::checkTerms((parts + 1) * length));
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w");
    const bool isImaginary = call.at[3] == 1;
    for (std::int64_t t = 0; t < length; ++t) {
        const double phase = 2 * std::numbers::pi * static_cast<double>(t * call.at[2] % length) /
                             static_cast<double>(length),
                     scale = window ? window->toDouble(t) : 1;
        for (std::int64_t p = 0; p < parts; ++p) {
            const std::int64_t element = (call.at[0] * signal.dim(1) + first + t) * parts + p;
            dependence::addElement(made, part, call, context.position("signal"), element);
            // exp(−i·phase)·(x or i·x)
            const double turned = isImaginary == (p == 1) ? std::cos(phase)
                                  : p == 1                ? std::sin(phase)
                                                          : -std::sin(phase);
            made.terms.back().weight = scale * turned;
        }
    }
    if (!window) return made;
    const std::uint32_t through = made.listPart("window");  // it acts through the weights
    for (std::int64_t t = 0; t < length; ++t) {
        dependence::addElement(made, through, call, context.position("window"), t);
        made.terms.back().weight = 0;
    }
    return made;
}

base::Result<DType> outputType(const Attributes& attributes) {
    const std::int64_t code = attributes.getInt("output_datatype", 1);
    if (code < 1 || code >= tensor::kDTypeCount)
        return opError("output_datatype " + std::to_string(code) + " is not supported");
    return static_cast<DType>(code);
}

/// a0 − a1·cos(2πn/N) + a2·cos(4πn/N)
base::Result<void> window(KernelContext& context, double a0, double a1, double a2) {
    SONDE_ASSIGN(const std::int64_t size, intOf(context.value("size")));
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    if (size < 0) return opError("invalid window size " + std::to_string(size));
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
    SONDE_ASSIGN(const std::int64_t bins, intOf(context.value("num_mel_bins")));
    SONDE_ASSIGN(const std::int64_t length, intOf(context.value("dft_length")));
    SONDE_ASSIGN(const std::int64_t rate, intOf(context.value("sample_rate")));
    SONDE_ASSIGN(const double low, numberOf(context.value("lower_edge_hertz")));
    SONDE_ASSIGN(const double high, numberOf(context.value("upper_edge_hertz")));
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    if (bins < 1 || length < 1 || rate < 1 || bins > 1 << 20) return opError("sizes must be positive");
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double first = mel(low), step = (mel(high) - first) / static_cast<double>(bins + 2);
    const std::int64_t rows = length / 2 + 1;
    const auto edge = [&](std::int64_t i) {
        const double hertz = 700 * (std::pow(10, (first + static_cast<double>(i) * step) / 2595) - 1);
        return std::clamp<std::int64_t>(
            static_cast<std::int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))),
            0, rows);
    };
    SONDE_ASSIGN(Tensor y, wideZeros(Shape{rows, bins}));
    const auto at = [&](std::int64_t row, std::int64_t column) -> double& {
        return y.mutableData<double>()[std::min(row, rows - 1) * bins + column];
    };
    for (std::int64_t i = 0; i < bins; ++i) {
        const std::int64_t lower = edge(i), centre = edge(i + 1), upper = edge(i + 2);
        if (lower == centre) at(centre, i) = 1;
        for (std::int64_t j = lower; lower < centre && j <= centre; ++j)
            at(j, i) = static_cast<double>(j - lower) / static_cast<double>(centre - lower);
        for (std::int64_t j = centre; j < upper; ++j)
            at(j, i) = static_cast<double>(upper - j) / static_cast<double>(upper - centre);
    }
    return setNarrow(context, 0, y, dtype);
}

base::Result<void> inferSpectrum(InferContext& context) {
    const auto& in = context.in("input").shape;
    setLike(context, "input", in ? std::optional(unknownDims(in->size())) : std::nullopt);
    return {};
}

/// A dimension that a scalar input gives; open if it is not known.
base::Result<Dim> dimSizeOf(InferContext& context, Name input) {
    if (context.constant(input).isNone()) return Dim{};
    SONDE_ASSIGN(const std::int64_t dimSize, intOf(context.constant(input)));
    return dimSize < 0 ? Dim{} : Dim::of(dimSize);
}

base::Result<void> inferWindow(InferContext& context) {
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    SONDE_ASSIGN(const Dim size, dimSizeOf(context, "size"));
    context.set(TypeInfo::tensor(dtype, Dims{size}));
    return {};
}

base::Result<void> inferMel(InferContext& context) {
    SONDE_ASSIGN(const DType dtype, outputType(context.attributes()));
    SONDE_ASSIGN(const Dim bins, dimSizeOf(context, "num_mel_bins"));
    SONDE_ASSIGN(const Dim length, dimSizeOf(context, "dft_length"));
    context.set(TypeInfo::tensor(dtype, Dims{length.known() ? Dim::of(length.value / 2 + 1) : Dim{}, bins}));
    return {};
}

}  // namespace

void define_signal(Registry& registry) {
    registry.add(Row("DFT", 17, "discrete Fourier transform along an axis", Category::Transform)
                     .in("input", kFloats)
                     .optionalIn("dft_length", kIndex)
                     .out("output")
                     .attrInt("axis", 1)
                     .attrInt("inverse", 0)
                     .attrInt("onesided", 0)
                     .runs([](KernelContext& context) { return dft(context, false); }, inferSpectrum));
    registry.add(Row("DFT", 20, "discrete Fourier transform along an axis", Category::Transform)
                     .in("input", kFloats)
                     .optionalIn("dft_length", kIndex)
                     .optionalIn("axis", kInt64)
                     .out("output")
                     .attrInt("inverse", 0)
                     .attrInt("onesided", 0)
                     .runs([](KernelContext& context) { return dft(context, true); }, inferSpectrum));
    registry.add(Row("STFT", 17, "Fourier transforms of overlapping frames", Category::Transform)
                     .in("signal", kFloats)
                     .in("frame_step", kIndex)
                     .optionalIn("window", kFloats)
                     .optionalIn("frame_length", kIndex)
                     .out("output")
                     .attrInt("onesided", 1)
                     .runs(stft, [](InferContext& context) -> base::Result<void> {
                         setLike(context, "signal", unknownDims(4));
                         return {};
                     }));
    const struct {
        std::string_view name, summary;
        double a0, a1, a2;
    } windows[] = {{"HannWindow", "Hann's window", 0.5, 0.5, 0},
                   {"HammingWindow", "Hamming's window", 25.0 / 46, 21.0 / 46, 0},
                   {"BlackmanWindow", "Blackman's window", 0.42, 0.5, 0.08}};
    for (const auto& row : windows) {
        registry.add(
            Row(row.name, 17, row.summary, Category::Data)
                .in("size", kIndex)
                .out("output")
                .attrInt("output_datatype", 1)
                .attrInt("periodic", 1)
                .runs([row](KernelContext& context) { return window(context, row.a0, row.a1, row.a2); }, inferWindow));
    }
    registry.add(Row("MelWeightMatrix", 17, "filters that sum a spectrum on the mel scale", Category::Data)
                     .in("num_mel_bins", kIndex)
                     .in("dft_length", kIndex)
                     .in("sample_rate", kIndex)
                     .in("lower_edge_hertz", kFloats)
                     .in("upper_edge_hertz", kFloats)
                     .out("output")
                     .attrInt("output_datatype", 1)
                     .runs(melWeights, inferMel));
    explain("", "DFT", spectrumTerms);
    explain("", "STFT", framedTerms);
    explain("", "HannWindow HammingWindow BlackmanWindow MelWeightMatrix", dependence::fixed);
}

}  // namespace sonde::ops
