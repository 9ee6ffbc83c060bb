#pragma once

#include <cmath>
#include <cstdint>

namespace sonde::ops {

/// A small generator with good mixing: the same seed gives the same numbers everywhere (SplitMix64: Steele, Lea, Flood,
/// "Fast splittable pseudorandom number generators", 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}

    std::uint64_t bits() {
        m_state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = m_state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    /// In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// Mean 0, variance 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(6.283185307179586477 * uniform());
    }

  private:
    std::uint64_t m_state;
};

}  // namespace sonde::ops
