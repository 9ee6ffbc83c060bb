#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde::tensor {

/// The dim sizes of a tensor, outermost first. Rank 0 is a scalar; a dim size may be 0.
class Shape {
  public:
    Shape() = default;
    Shape(std::initializer_list<std::int64_t> dims) : m_dims(dims) {}
    explicit Shape(std::vector<std::int64_t> dims) : m_dims(std::move(dims)) {}
    explicit Shape(std::span<const std::int64_t> dims) : m_dims(dims.begin(), dims.end()) {}

    std::size_t rank() const { return m_dims.size(); }
    std::int64_t operator[](std::size_t axis) const { return m_dims[axis]; }
    std::int64_t& operator[](std::size_t axis) { return m_dims[axis]; }
    const std::vector<std::int64_t>& dims() const { return m_dims; }
    auto begin() const { return m_dims.begin(); }
    auto end() const { return m_dims.end(); }
    void push_back(std::int64_t dimSize) { m_dims.push_back(dimSize); }
    bool operator==(const Shape&) const = default;

    /// Number of elements, 1 for rank 0. Only for shapes that were checked (every Tensor's is).
    std::int64_t numel() const;
    /// Number of elements, or nothing if a dim size is negative or the product overflows 63 bits.
    std::optional<std::int64_t> checkedNumel() const;
    /// Row-major strides in elements.
    std::vector<std::int64_t> contiguousStrides() const;
    /// "[1,64,56,56]".
    std::string text() const;

  private:
    std::vector<std::int64_t> m_dims;
};

/// numpy's broadcasting of two shapes, or nothing if they do not go together.
std::optional<Shape> broadcastShapes(const Shape& a, const Shape& b);
/// An axis counted from the end if negative, or nothing if outside [-rank, rank-1].
std::optional<std::size_t> normalizedAxis(std::int64_t axis, std::size_t rank);

}  // namespace sonde::tensor
