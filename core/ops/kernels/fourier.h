#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "core/base/result.h"
#include "core/base/thread_pool.h"

namespace sonde::ops::kernels {

/// Discrete Fourier transforms of one length N, X[k] = Σ_n x[n]·e^(−2πi·k·n/N), inverse with the other sign; neither is
/// divided by N. O(N log N) for every N: mixed radix where no prime factor is above 13 (Eigen's KissFFT), else
/// Bluestein's algorithm. Computes in T, float or double. One object serves one thread at a time. Throws
/// std::bad_alloc.
template <typename T>
class FourierTransform {
  public:
    using Complex = std::complex<T>;
    static constexpr std::int64_t kMaxLength = std::int64_t{1} << 26;

    /// 1 ≤ length ≤ kMaxLength. Once `stop` asks for it, a long transform ends early and leaves its output undefined.
    explicit FourierTransform(std::int64_t length, std::stop_token stop = {});
    ~FourierTransform();
    FourierTransform(const FourierTransform&) = delete;
    FourierTransform& operator=(const FourierTransform&) = delete;

    /// Bytes that one object takes at most, for a length in range.
    static std::size_t workBytes(std::int64_t length);

    // x[N] → y[N]; they may not overlap.
    void forward(const Complex* x, Complex* y);
    void inverse(const Complex* x, Complex* y);

    /// x[N] → the first N/2 + 1 elements of its transform; the others mirror them.
    void forwardReal(const T* x, Complex* half);
    /// N/2 + 1 elements → y[N], the inverse transform of them and their mirror images. The imaginary parts of the first
    /// element and (N even) of the last do not count.
    void inverseReal(const Complex* half, T* y);

  private:
    class MixedRadix;
    class Bluestein;

    std::int64_t m_length;
    std::unique_ptr<MixedRadix> m_mixedRadix;  ///< this or the next
    std::unique_ptr<Bluestein> m_bluestein;
    std::unique_ptr<Complex[]> m_line, m_spectrum;  ///< of real transforms that go through complex ones
};

enum class Spectrum : std::uint8_t { Complex, RealToHalf, HalfToReal };

/// `count` transforms of one length, each loaded from and stored to where the caller has it. Complex numbers are pairs
/// of T.
template <typename T>
struct FourierLines {
    std::size_t count = 0;
    std::int64_t length = 1;
    Spectrum kind = Spectrum::Complex;
    bool inverse = false;  ///< of Complex; the other two are what their names say
    /// Writes all of line number `line`: 2·length numbers, length (RealToHalf), or 2·(length/2 + 1) (HalfToReal).
    std::function<void(std::size_t line, T* x)> load;
    /// Reads the result: 2·length numbers, 2·(length/2 + 1) (RealToHalf), or length (HalfToReal).
    std::function<void(std::size_t line, const T* y)> store;
};

/// Runs them on the pool's threads; ends with base::cancelled() between two transforms, or within a long one. load and
/// store are called from several threads, each line once. Where the memory limit (tensor::memoryLimit) leaves no room
/// for a transform on each thread, one works at a time. Errors: a length outside of [1, FourierTransform::kMaxLength],
/// or one whose transform alone is more than that limit.
template <typename T>
base::Result<void> transformLines(const FourierLines<T>& lines, base::ThreadPool& pool, const std::stop_token& stop);

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;
extern template base::Result<void> transformLines<float>(const FourierLines<float>&, base::ThreadPool&,
                                                         const std::stop_token&);
extern template base::Result<void> transformLines<double>(const FourierLines<double>&, base::ThreadPool&,
                                                          const std::stop_token&);

}  // namespace sonde::ops::kernels
