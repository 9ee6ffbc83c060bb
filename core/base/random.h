#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace sonde::base {

/// A bijection in which each bit of x changes half of all bits: for hashes, and for seeds of streams that are counted.
constexpr std::uint64_t mixBits(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

/// The one generator of random numbers: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014). 64 bits of state, so that every seed is a stream of its own, and the same numbers on
/// every machine. It is what weights of built-in models, random inputs and random operators have always come from:
/// files and tests hold values made of them. PyTorch's and ONNX Runtime's streams are not reproduced; neither promises
/// them between versions.
///
/// A UniformRandomBitGenerator, for std::shuffle and distributions (whose results differ between standard libraries).
class Random {
  public:
    using result_type = std::uint64_t;

    explicit Random(std::uint64_t seed) : m_state(seed) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
    result_type operator()() { return bits(); }

    std::uint64_t bits() { return mixBits(m_state += kStep); }
    /// In [0, 1): 53 bits.
    double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
    /// Mean 0, variance 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// 2^64 divided by the golden ratio, to the nearest odd number: multiples of it are spread evenly.
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

  private:
    std::uint64_t m_state;
};

}  // namespace sonde::base
