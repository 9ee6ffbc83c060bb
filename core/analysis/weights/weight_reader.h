#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "core/tensor/tensor.h"

namespace sonde::analysis {

/// What the integers of a quantised weight stand for: real = (stored − zero point)·scale, with a scale for each index
/// of an axis, for each `block` of such indices, or one for all.
struct WeightScale {
    std::vector<double> scales;
    std::vector<double> zeros;  ///< as many, or none: 0
    std::int64_t dim = 1;       ///< size of the axis
    std::int64_t inner = 1;     ///< elements of the dimensions after it
    std::int64_t block = 1;     ///< indices of the axis with one scale
    bool isBlocked = false;     ///< scales [outer, ⌈dim/block⌉, inner]; else [dim] or one
};

/// Reads the elements of a stored tensor as real numbers in row-major order, some at a time: memory does not grow with
/// the tensor. Complex elements are read as their magnitude. Thread-safe.
class WeightReader {
  public:
    explicit WeightReader(tensor::Tensor tensor, std::shared_ptr<const WeightScale> scale = nullptr);

    /// Elements that can be read: none of a tensor without numbers (strings, no value).
    std::int64_t count() const { return m_count; }
    /// Elements first … first + out.size() − 1; the caller checks the bounds.
    void read(std::int64_t first, std::span<double> out) const;
    /// visit(piece, index of its first element) for all, in order. False if it was asked to stop before the end.
    bool forEachPiece(const std::stop_token& stop,
                      const std::function<void(std::span<const double> piece, std::int64_t first)>& visit) const;

  private:
    void applyScale(std::int64_t first, std::span<double> out) const;

    tensor::Tensor m_tensor;
    std::shared_ptr<const WeightScale> m_scale;
    std::int64_t m_count = 0;
    bool m_isContiguous = false;
};

}  // namespace sonde::analysis
