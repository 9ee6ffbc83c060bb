// ATen's complex numbers and Fourier transforms.

#include <algorithm>
#include <complex>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/fourier_scale.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/complex_pairs.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops {

namespace {

using Ints = std::vector<std::int64_t>;
using Complex = std::complex<double>;

bool isComplex(const Tensor& x) { return tensor::isComplex(x.dtype()); }
/// A complex tensor's memory as real numbers, [..] -> [.., 2]; nothing is copied.
Tensor parts(Eager& e, const Tensor& x) {
    if (!isComplex(x)) e.fail("expected a complex tensor, not " + x.typeText());
    return tensor::pairsOf(x);
}

/// [.., 2] -> [..]
Tensor joined(Eager& e, const Tensor& given) { return e.get(tensor::complexOf(given)); }

Tensor pairOf(Eager& e, const Tensor& real, const Tensor& imaginary) {
    return joined(e, e("stack", std::vector<Tensor>{real, imaginary}, -1));
}

Tensor asComplex(Eager& e, const Tensor& x) {
    if (isComplex(x)) return x;
    const Tensor real = tensor::isFloating(x.dtype()) && x.dtype() != DType::Float16 && x.dtype() != DType::BFloat16
                            ? x
                            : e.as(x, DType::Float32);
    return pairOf(e, real, e("zeros_like", real));
}

Tensor part(Eager& e, const Tensor& x, std::int64_t which) {
    const Tensor both = parts(e, x);
    return both.selected(both.rank() - 1, which);
}

/// Element by element on complex numbers, in double precision.
template <typename F>
Tensor mapped(Eager& e, const Tensor& x, F f) {
    const Tensor in = e.as(e.get(x.contiguous()), DType::Complex128);
    Tensor out = e.get(Tensor::allocate(DType::Complex128, in.shape()));
    for (std::int64_t i = 0; i < in.numel(); ++i) out.mutableData<Complex>()[i] = f(in.data<Complex>()[i]);
    return e.as(out, x.dtype());
}

// Fourier transforms along single dimensions, by the ONNX operator on pairs.

enum class Kind : std::uint8_t { Complex, RealToHalf, HalfToReal };

double scaleOf(Eager& e, const std::string& norm, bool inverse, std::int64_t n) {
    const auto scale = fourierScale(norm, inverse, n);
    if (!scale) e.fail("there is no normalisation '" + norm + "'");
    return *scale;
}

Tensor transformed(Eager& e, const Tensor& given, Kind kind, std::optional<std::int64_t> length, std::int64_t dim,
                   const std::string& norm, bool inverse) {
    const Tensor x = kind == Kind::RealToHalf ? given : asComplex(e, given);
    if (kind == Kind::RealToHalf && isComplex(x)) e.fail("expected real numbers, not " + x.typeText());
    const std::size_t axis = e.axisOf(dim, x.rank());
    const std::int64_t n = length.value_or(kind == Kind::HalfToReal ? 2 * (x.dim(axis) - 1) : x.dim(axis));
    if (n < 1) e.fail("a Fourier transform of length " + std::to_string(n));
    Tensor pairs = kind == Kind::RealToHalf
                       ? (tensor::isFloating(x.dtype()) ? x : e.as(x, DType::Float32)).unsqueezed(x.rank())
                       : parts(e, x);
    if (kind == Kind::HalfToReal && x.dim(axis) > n / 2 + 1) pairs = pairs.sliced(axis, 0, n / 2 + 1);
    const Attributes attributes{{"inverse", std::int64_t{inverse}}, {"onesided", std::int64_t{kind != Kind::Complex}}};
    Tensor y = e.onnx("DFT",
                      {Value(pairs), Value(Tensor::scalar<std::int64_t>(n)),
                       Value(Tensor::scalar<std::int64_t>(static_cast<std::int64_t>(axis)))},
                      attributes);
    const double scale = scaleOf(e, norm, inverse, n);
    if (scale != 1) y = e("mul.Scalar", y, scale);
    if (kind == Kind::HalfToReal) return e.reshape(y, Shape(Ints(y.shape().begin(), y.shape().end() - 1)));
    return joined(e, y);
}

std::string normOf(Eager& e) { return e.has("norm") ? e.text("norm") : "backward"; }

/// (self, n, dim, norm)
EagerResult single(Eager& e, Kind kind, bool inverse) {
    return transformed(e, e.tensor("self"), kind, e.has("n") ? std::optional(e.integer("n")) : std::nullopt,
                       e.integer("dim"), normOf(e), inverse);
}

/// (self, s, dim, norm): along several dimensions; the real one is the last.
EagerResult several(Eager& e, Kind kind, bool inverse) {
    Tensor x = e.tensor("self");
    Ints sizes, dims;
    if (e.has("s")) sizes = e.integers("s");
    if (e.has("dim")) dims = e.integers("dim");
    else
        for (std::size_t i = e.has("s") ? x.rank() - std::min(x.rank(), sizes.size()) : 0; i < x.rank(); ++i)
            dims.push_back(static_cast<std::int64_t>(i));
    if (dims.empty() || (!sizes.empty() && sizes.size() != dims.size())) e.fail("expected a size for each dimension");
    const std::string norm = normOf(e);
    const auto length = [&](std::size_t i) {
        return sizes.empty() || sizes[i] == -1 ? std::nullopt : std::optional(sizes[i]);
    };
    if (kind == Kind::RealToHalf) x = transformed(e, x, kind, length(dims.size() - 1), dims.back(), norm, inverse);
    for (std::size_t i = 0; i + (kind == Kind::Complex ? 0 : 1) < dims.size(); ++i)
        x = transformed(e, x, Kind::Complex, length(i), dims[i], norm, inverse);
    if (kind == Kind::HalfToReal) x = transformed(e, x, kind, length(dims.size() - 1), dims.back(), norm, inverse);
    return x;
}

/// Half of the dimensions moved round, all or the named dimensions; back for ifftshift.
EagerResult shifted(Eager& e, bool back) {
    const Tensor x = e.tensor("self");
    Ints shifts, dims;
    for (std::size_t axis : e.axes("dim", x.rank())) {
        dims.push_back(static_cast<std::int64_t>(axis));
        shifts.push_back(back ? (x.dim(axis) + 1) / 2 : x.dim(axis) / 2);
    }
    return e("roll", x, shifts, dims);
}

/// Frequencies of the bins for a sample spacing d.
EagerResult frequencies(Eager& e, bool half) {
    const std::int64_t n = e.integer("n"), bins = half ? n / 2 + 1 : n;
    if (n < 1 || n > 1'000'000'000) e.fail("frequencies of " + std::to_string(n) + " bins");
    const double spacing = e.number("d");
    std::vector<double> f;
    for (std::int64_t i = 0; i < bins; ++i)
        f.push_back(static_cast<double>(!half && i > (n - 1) / 2 ? i - n : i) / (static_cast<double>(n) * spacing));
    return e.as(Tensor::of<double>({bins}, f), e.dtype("dtype", DType::Float32));
}

/// (self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex): [.., frames of L] -> [.., bins,
/// frames]
EagerResult stft(Eager& e) {
    Tensor x = e.tensor("self");
    const bool single = x.rank() == 1;
    if (single) x = x.unsqueezed(0);
    const std::int64_t n = e.integer("n_fft"), hop = e.has("hop_length") ? e.integer("hop_length") : n / 4,
                       length = e.has("win_length") ? e.integer("win_length") : n;
    if (x.rank() != 2 || n < 1 || hop < 1 || length < 1 || length > n || n > x.dim(1))
        e.fail("frames of " + std::to_string(n) + " every " + std::to_string(hop) + " do not fit " +
               e.tensor("self").typeText());
    Tensor window = e.has("window")
                        ? e.tensor("window")
                        : e("ones", Ints{length}, torchFromDType(isComplex(x) ? tensor::realOf(x.dtype()) : x.dtype()));
    if (window.rank() != 1 || window.numel() != length)
        e.fail("the window " + window.typeText() + " is not of length " + std::to_string(length));
    if (length < n) window = e("constant_pad_nd", window, Ints{(n - length) / 2, n - length - (n - length) / 2});
    const bool oneSided = e.has("onesided") ? e.flag("onesided") : !isComplex(x);
    const Tensor frames = e("mul.Tensor", e("unfold", x, 1, n, hop), window);
    Tensor y = transformed(e, frames, oneSided ? Kind::RealToHalf : Kind::Complex, std::nullopt, -1,
                           e.flag("normalized") ? "ortho" : "backward", false);
    y = e.get(y.transposed(1, 2).contiguous());
    if (single) y = y.selected(0, 0);
    return e.has("return_complex") && !e.flag("return_complex") ? parts(e, y) : y;
}

/// Frames [.., bins, frames] turned back and added up where they overlap, divided by the windows' squares.
EagerResult istft(Eager& e) {
    Tensor x = e.tensor("self");
    if (!isComplex(x)) x = joined(e, x);
    const bool single = x.rank() == 2;
    if (single) x = x.unsqueezed(0);
    const std::int64_t n = e.integer("n_fft"), hop = e.has("hop_length") ? e.integer("hop_length") : n / 4,
                       length = e.has("win_length") ? e.integer("win_length") : n;
    if (x.rank() != 3 || n < 1 || hop < 1 || length < 1 || length > n)
        e.fail("frames of " + std::to_string(n) + " every " + std::to_string(hop) + " do not fit " +
               e.tensor("self").typeText());
    const bool oneSided = e.has("onesided") ? e.flag("onesided") : x.dim(1) != n;
    const DType real = tensor::realOf(x.dtype());
    Tensor window = e.has("window") ? e.as(e.tensor("window"), real) : e("ones", Ints{length}, torchFromDType(real));
    if (window.numel() != length)
        e.fail("the window " + window.typeText() + " is not of length " + std::to_string(length));
    if (length < n) window = e("constant_pad_nd", window, Ints{(n - length) / 2, n - length - (n - length) / 2});
    const Tensor spectrum = e.get(x.transposed(1, 2).contiguous());
    Tensor frames = transformed(e, spectrum, oneSided ? Kind::HalfToReal : Kind::Complex, n, -1,
                                e.flag("normalized") ? "ortho" : "backward", true);
    if (!oneSided && !e.flag("return_complex")) frames = e.get(part(e, frames, 0).contiguous());
    frames = e.get(e("mul.Tensor", frames, window).contiguous());
    const std::int64_t batch = frames.dim(0), count = frames.dim(1), total = n + hop * (count - 1);
    const bool centred = e.flag("center");
    const std::int64_t start = centred ? n / 2 : 0;
    const std::int64_t wanted = e.has("length") ? e.integer("length") : total - (centred ? 2 * (n / 2) : 0);
    if (wanted < 0 || wanted > total - start || isComplex(frames))
        e.fail("a signal of length " + std::to_string(wanted) + " from " + e.tensor("self").typeText());
    std::vector<double> sums(static_cast<std::size_t>(batch * total)), weights(static_cast<std::size_t>(total));
    for (std::int64_t f = 0; f < count; ++f) {
        for (std::int64_t i = 0; i < n; ++i) {
            weights[static_cast<std::size_t>(f * hop + i)] += window.toDouble(i) * window.toDouble(i);
            for (std::int64_t b = 0; b < batch; ++b)
                sums[static_cast<std::size_t>(b * total + f * hop + i)] += frames.toDouble((b * count + f) * n + i);
        }
    }
    std::vector<double> signal;
    for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t i = start; i < start + wanted; ++i) {
            if (weights[static_cast<std::size_t>(i)] < 1e-11) e.fail("the windows leave gaps between the frames");
            signal.push_back(sums[static_cast<std::size_t>(b * total + i)] / weights[static_cast<std::size_t>(i)]);
        }
    }
    return e.as(Tensor::of<double>(single ? Shape{wanted} : Shape{batch, wanted}, signal), real);
}

void defineTransforms(Registry& registry) {
    struct Row {
        std::string_view schema, summary;
        Kind kind;
        bool inverse;
    };
    const Row ones[] = {
        {"fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
         "Fourier transform along a dimension", Kind::Complex, false},
        {"fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
         "inverse Fourier transform along a dimension", Kind::Complex, true},
        {"fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
         "first half of the Fourier transform of real numbers", Kind::RealToHalf, false},
        {"fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
         "real numbers from half of a Fourier transform", Kind::HalfToReal, true},
    };
    for (const Row& row : ones)
        registry.add(
            eagerRow(row.schema, row.summary, kMove, [row](Eager& e) { return single(e, row.kind, row.inverse); }));
    const Row many[] = {
        {"fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
         "Fourier transform of two dimensions", Kind::Complex, false},
        {"fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
         "inverse Fourier transform of two dimensions", Kind::Complex, true},
        {"fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
         "Fourier transform of two dimensions of real numbers", Kind::RealToHalf, false},
        {"fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
         "real numbers from a Fourier transform of two dimensions", Kind::HalfToReal, true},
        {"fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", "Fourier transform",
         Kind::Complex, false},
        {"fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
         "inverse Fourier transform", Kind::Complex, true},
        {"fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
         "Fourier transform of real numbers", Kind::RealToHalf, false},
        {"fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
         "real numbers from a Fourier transform", Kind::HalfToReal, true},
    };
    for (const Row& row : many)
        registry.add(
            eagerRow(row.schema, row.summary, kMove, [row](Eager& e) { return several(e, row.kind, row.inverse); }));
    registry.add(eagerRow(
        "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", "frequency 0 in the middle", kMove,
        [](Eager& e) { return shifted(e, false); }, inferSame));
    registry.add(eagerRow(
        "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", "frequency 0 at the beginning", kMove,
        [](Eager& e) { return shifted(e, true); }, inferSame));
    registry.add(eagerRow(
        "fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "frequencies of the bins", Category::Data, [](Eager& e) { return frequencies(e, false); }));
    registry.add(eagerRow(
        "fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "frequencies of the bins of half a transform", Category::Data, [](Eager& e) { return frequencies(e, true); }));
    registry.add(eagerRow(
        "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None) -> Tensor",
        "Fourier transforms of overlapping frames", kMove, stft));
    registry.add(eagerRow(
        "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
        "a signal from the transforms of overlapping frames", kMove, istft));
}

}  // namespace

void define_aten_fourier(Registry& registry) {
    defineTransforms(registry);
    registry.add(eagerRow("view_as_real(Tensor self) -> Tensor", "real and imaginary parts along a new dimension",
                          Category::Shape, [](Eager& e) -> EagerResult { return parts(e, e.tensor("self")); }));
    registry.add(eagerRow("view_as_complex(Tensor self) -> Tensor", "pairs as complex numbers", Category::Shape,
                          [](Eager& e) -> EagerResult { return joined(e, e.tensor("self")); }));
    registry.add(eagerRow("real(Tensor self) -> Tensor", "real parts", kEl, [](Eager& e) -> EagerResult {
        return isComplex(e.tensor("self")) ? part(e, e.tensor("self"), 0) : e.tensor("self");
    }));
    registry.add(eagerRow("imag(Tensor self) -> Tensor", "imaginary parts", kEl,
                          [](Eager& e) -> EagerResult { return part(e, e.tensor("self"), 1); }));
    registry.add(eagerRow("complex(Tensor real, Tensor imag) -> Tensor", "complex numbers of their parts", kEl,
                          [](Eager& e) -> EagerResult {
                              const Shape shape = e.get(broadcast(e.tensor("real").shape(), e.tensor("imag").shape()));
                              return pairOf(e, e.get(e.tensor("real").expanded(shape)),
                                            e.get(e.tensor("imag").expanded(shape)));
                          }));
    registry.add(eagerRow("polar(Tensor abs, Tensor angle) -> Tensor", "complex numbers of size and angle", kEl,
                          [](Eager& e) -> EagerResult {
                              return pairOf(e, e("mul.Tensor", e.tensor("abs"), e("cos", e.tensor("angle"))),
                                            e("mul.Tensor", e.tensor("abs"), e("sin", e.tensor("angle"))));
                          }));
    for (std::string_view schema : {"conj(Tensor self) -> Tensor", "_conj(Tensor self) -> Tensor",
                                    "conj_physical(Tensor self) -> Tensor", "_conj_physical(Tensor self) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "complex numbers with the other sign of the imaginary part", kEl,
            [](Eager& e) -> EagerResult {
                return isComplex(e.tensor("self")) ? mapped(e, e.tensor("self"), [](Complex z) { return std::conj(z); })
                                                   : e.tensor("self");
            },
            inferSame));
    }
    for (std::string_view schema : {"resolve_conj(Tensor self) -> Tensor", "resolve_neg(Tensor self) -> Tensor"}) {
        registry.add(eagerRow(
            schema, "x itself", Category::Shape, [](Eager& e) -> EagerResult { return e.tensor("self"); }, inferSame));
    }
    registry.add(eagerRow("angle(Tensor self) -> Tensor", "angles of complex numbers; π for negative ones", kEl,
                          [](Eager& e) -> EagerResult {
                              const Tensor x = e.tensor("self");
                              if (isComplex(x)) return e("atan2", part(e, x, 1), part(e, x, 0));
                              const Tensor real = tensor::isFloating(x.dtype()) ? x : e.as(x, DType::Float32);
                              return e("atan2", e("zeros_like", real), real);
                          }));
    registry.add(eagerRow("is_complex(Tensor self) -> bool", "whether x is complex", Category::Shape,
                          [](Eager& e) -> EagerResult { return Value::ofBool(isComplex(e.tensor("self"))); }));
    explain("aten", "fft_fftshift fft_ifftshift", dependence::moved, "self");
    explain("aten", "resolve_conj resolve_neg", dependence::moved, "self");
}

}  // namespace sonde::ops
