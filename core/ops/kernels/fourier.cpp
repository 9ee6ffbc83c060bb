#include "core/ops/kernels/fourier.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <string>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "core/tensor/storage.h"

namespace sonde::ops::kernels {

namespace {

/// KissFFT takes any other prime factor p in p² steps.
bool isSmooth(std::int64_t length) {
    for (std::int64_t p : {2, 3, 5, 7, 11, 13}) {
        while (length % p == 0) length /= p;
    }
    return length == 1;
}

/// The least length from `least` on of a few forms that KissFFT takes mostly in steps of 4.
std::int64_t quickLength(std::int64_t least) {
    std::int64_t best = 0;
    for (std::int64_t odd : {1, 3, 5, 9, 15}) {
        std::int64_t length = odd;
        while (length < least) length *= 2;
        best = best == 0 ? length : std::min(best, length);
    }
    return best;
}

}  // namespace

template <typename T>
class FourierTransform<T>::MixedRadix {
  public:
    explicit MixedRadix(std::int64_t length) : m_length(static_cast<Eigen::Index>(length)) {
        m_fft.SetFlag(Eigen::FFT<T>::Unscaled);
        m_fft.SetFlag(Eigen::FFT<T>::HalfSpectrum);
    }

    void forward(const Complex* x, Complex* y) {
        if (m_length == 1) *y = *x;  // KissFFT does not know it
        else m_fft.fwd(y, x, m_length);
    }
    void inverse(const Complex* x, Complex* y) {
        if (m_length == 1) *y = *x;
        else m_fft.inv(y, x, m_length);
    }
    /// Whether there is a way for real numbers that takes half of the time.
    bool halves() const { return m_length % 4 == 0; }
    void forwardReal(const T* x, Complex* half) { m_fft.fwd(half, x, m_length); }
    void inverseReal(const Complex* half, T* y) { m_fft.inv(y, half, m_length); }

  private:
    Eigen::FFT<T> m_fft;  // makes its tables at the first call
    Eigen::Index m_length;
};

/// L. I. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", IEEE Transactions
/// on Audio and Electroacoustics 18(4), 1970: k·n = (k² + n² − (k − n)²)/2 makes of the transform a convolution with a
/// chirp,
///   X[k] = w[k] · Σ_n (x[n]·w[n]) · conj(w[k − n]),  w[n] = e^(−πi·n²/N),
/// which is the product of transforms of a convenient length M ≥ 2N − 1.
template <typename T>
class FourierTransform<T>::Bluestein {
  public:
    Bluestein(std::int64_t length, std::stop_token stop)
        : m_stop(std::move(stop)), m_size(static_cast<std::size_t>(quickLength(2 * length - 1))),
          m_transform(static_cast<std::int64_t>(m_size)), m_chirp(static_cast<std::size_t>(length)), m_filter(m_size),
          m_first(m_size), m_second(m_size) {
        for (std::int64_t n = 0; n < length; ++n) {
            // n² modulo 2N, so that the angle is below a turn and exact but for one rounding.
            const double angle =
                -std::numbers::pi * static_cast<double>(n * n % (2 * length)) / static_cast<double>(length);
            m_chirp[static_cast<std::size_t>(n)] =
                Complex(static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle)));
        }
        m_first[0] = std::conj(m_chirp[0]);
        for (std::size_t n = 1; n < m_chirp.size(); ++n) m_first[n] = m_first[m_size - n] = std::conj(m_chirp[n]);
        m_transform.forward(m_first.data(), m_filter.data());
        const T scale = T{1} / static_cast<T>(m_size);  // of the inverse transform below
        for (Complex& factor : m_filter) factor *= scale;
    }

    /// The inverse is the conjugate of the transform of the conjugate.
    void run(const Complex* x, Complex* y, bool inverse) {
        for (std::size_t n = 0; n < m_chirp.size(); ++n) m_first[n] = (inverse ? std::conj(x[n]) : x[n]) * m_chirp[n];
        std::fill(m_first.begin() + static_cast<std::ptrdiff_t>(m_chirp.size()), m_first.end(), Complex{});
        m_transform.forward(m_first.data(), m_second.data());
        if (m_stop.stop_requested()) return;
        for (std::size_t n = 0; n < m_size; ++n) m_second[n] *= m_filter[n];
        m_transform.inverse(m_second.data(), m_first.data());
        for (std::size_t n = 0; n < m_chirp.size(); ++n) {
            const Complex result = m_first[n] * m_chirp[n];
            y[n] = inverse ? std::conj(result) : result;
        }
    }

  private:
    std::stop_token m_stop;
    std::size_t m_size;  ///< M
    MixedRadix m_transform;
    std::vector<Complex> m_chirp, m_filter;  ///< w[N]; the transform of its conjugate, divided by M
    std::vector<Complex> m_first, m_second;  ///< working memory of M
};

template <typename T>
FourierTransform<T>::FourierTransform(std::int64_t length, std::stop_token stop) : m_length(length) {
    if (isSmooth(length)) m_mixedRadix = std::make_unique<MixedRadix>(length);
    else m_bluestein = std::make_unique<Bluestein>(length, std::move(stop));
}

template <typename T>
FourierTransform<T>::~FourierTransform() = default;

template <typename T>
std::size_t FourierTransform<T>::workBytes(std::int64_t length) {
    // Of N: the lines of real transforms. KissFFT has twiddle factors for each direction and as many for real numbers.
    std::size_t complexNumbers = 2 * static_cast<std::size_t>(length);
    if (isSmooth(length)) complexNumbers += 3 * static_cast<std::size_t>(length);
    else complexNumbers += static_cast<std::size_t>(length + 5 * quickLength(2 * length - 1));
    return complexNumbers * sizeof(Complex);
}

template <typename T>
void FourierTransform<T>::forward(const Complex* x, Complex* y) {
    if (m_mixedRadix) m_mixedRadix->forward(x, y);
    else m_bluestein->run(x, y, false);
}

template <typename T>
void FourierTransform<T>::inverse(const Complex* x, Complex* y) {
    if (m_mixedRadix) m_mixedRadix->inverse(x, y);
    else m_bluestein->run(x, y, true);
}

template <typename T>
void FourierTransform<T>::forwardReal(const T* x, Complex* half) {
    if (m_mixedRadix && m_mixedRadix->halves()) return m_mixedRadix->forwardReal(x, half);
    const auto n = static_cast<std::size_t>(m_length);
    if (!m_line) m_line = std::make_unique<Complex[]>(n);
    if (!m_spectrum) m_spectrum = std::make_unique<Complex[]>(n);
    std::copy(x, x + n, m_line.get());
    forward(m_line.get(), m_spectrum.get());
    std::copy(m_spectrum.get(), m_spectrum.get() + n / 2 + 1, half);
}

template <typename T>
void FourierTransform<T>::inverseReal(const Complex* half, T* y) {
    if (m_mixedRadix && m_mixedRadix->halves()) return m_mixedRadix->inverseReal(half, y);
    const auto n = static_cast<std::size_t>(m_length);
    if (!m_line) m_line = std::make_unique<Complex[]>(n);
    if (!m_spectrum) m_spectrum = std::make_unique<Complex[]>(n);
    std::copy(half, half + n / 2 + 1, m_spectrum.get());
    for (std::size_t k = n / 2 + 1; k < n; ++k) m_spectrum[k] = std::conj(half[n - k]);
    inverse(m_spectrum.get(), m_line.get());
    for (std::size_t k = 0; k < n; ++k) y[k] = m_line[k].real();
}

namespace {

/// Transforms with their tables, as many as work at the same time.
template <typename T>
class Workers {
  public:
    struct Worker {
        Worker(std::int64_t length, const std::stop_token& stop, std::size_t in, std::size_t out)
            : transform(length, stop), x(in), y(out) {}
        FourierTransform<T> transform;
        std::vector<T> x, y;
    };

    Workers(const FourierLines<T>& lines, const std::stop_token& stop) : m_length(lines.length), m_stop(stop) {
        const auto all = static_cast<std::size_t>(2 * lines.length),
                   half = static_cast<std::size_t>(2 * (lines.length / 2 + 1)), real = all / 2;
        m_in = lines.kind == Spectrum::RealToHalf ? real : lines.kind == Spectrum::HalfToReal ? half : all;
        m_out = lines.kind == Spectrum::RealToHalf ? half : lines.kind == Spectrum::HalfToReal ? real : all;
    }

    std::unique_ptr<Worker> take() {
        {
            const std::scoped_lock lock(m_mutex);
            if (!m_idle.empty()) {
                std::unique_ptr<Worker> worker = std::move(m_idle.back());
                m_idle.pop_back();
                return worker;
            }
        }
        return std::make_unique<Worker>(m_length, m_stop, m_in, m_out);
    }
    void giveBack(std::unique_ptr<Worker> worker) {
        const std::scoped_lock lock(m_mutex);
        m_idle.push_back(std::move(worker));
    }

  private:
    std::int64_t m_length;
    std::stop_token m_stop;
    std::size_t m_in = 0, m_out = 0;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Worker>> m_idle;
};

template <typename T>
void run(FourierTransform<T>& transform, const FourierLines<T>& lines, const T* x, T* y) {
    using Complex = std::complex<T>;  // an array of two T, as the standard has it
    if (lines.kind == Spectrum::RealToHalf) transform.forwardReal(x, reinterpret_cast<Complex*>(y));
    else if (lines.kind == Spectrum::HalfToReal) transform.inverseReal(reinterpret_cast<const Complex*>(x), y);
    else if (lines.inverse) transform.inverse(reinterpret_cast<const Complex*>(x), reinterpret_cast<Complex*>(y));
    else transform.forward(reinterpret_cast<const Complex*>(x), reinterpret_cast<Complex*>(y));
}

}  // namespace

template <typename T>
base::Result<void> transformLines(const FourierLines<T>& lines, base::ThreadPool& pool, const std::stop_token& stop) {
    if (lines.length < 1 || lines.length > FourierTransform<T>::kMaxLength) {
        return base::runError("a Fourier transform of length " + std::to_string(lines.length) + " is out of range");
    }
    const std::size_t bytes =
        FourierTransform<T>::workBytes(lines.length) + 4 * sizeof(T) * static_cast<std::size_t>(lines.length + 1);
    if (bytes > tensor::memoryLimit()) {
        return base::runError("a Fourier transform of length " + std::to_string(lines.length) + " needs " +
                              std::to_string(bytes) + " bytes, which is more than the memory limit of " +
                              std::to_string(tensor::memoryLimit()) + " bytes");
    }
    constexpr std::int64_t kTogether = 4096;  // numbers that are worth a thread's waking
    auto grain = static_cast<std::size_t>(std::max<std::int64_t>(1, kTogether / lines.length));
    if (bytes > tensor::memoryLimit() / pool.threads()) grain = std::max<std::size_t>(lines.count, 1);
    Workers<T> workers(lines, stop);
    pool.parallelFor(lines.count, grain, [&](std::size_t begin, std::size_t end) {
        if (stop.stop_requested()) return;
        auto worker = workers.take();
        for (std::size_t line = begin; line < end && !stop.stop_requested(); ++line) {
            lines.load(line, worker->x.data());
            run(worker->transform, lines, worker->x.data(), worker->y.data());
            if (!stop.stop_requested()) lines.store(line, worker->y.data());
        }
        workers.giveBack(std::move(worker));
    });
    if (stop.stop_requested()) return base::cancelled();
    return {};
}

template class FourierTransform<float>;
template class FourierTransform<double>;
template base::Result<void> transformLines<float>(const FourierLines<float>&, base::ThreadPool&,
                                                  const std::stop_token&);
template base::Result<void> transformLines<double>(const FourierLines<double>&, base::ThreadPool&,
                                                   const std::stop_token&);

}  // namespace sonde::ops::kernels
