#pragma once

#include <complex>
#include <type_traits>
#include <vector>

#include "core/ops/linalg/matrix.h"

namespace sonde::ops::linalg {

/// The element of double precision. Decompositions of float32 matrices work in it: that takes half the time to compile,
/// as both precisions share what Eigen makes of them, and the result is correctly rounded more often.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, Real<T>>, double, std::complex<double>>;

template <typename T>
constexpr bool isWide = std::is_same_v<T, Wide<T>>;

/// Some numbers in double precision: themselves if they are, otherwise a copy.
template <typename T>
class WideItems {
    using Item = std::remove_const_t<T>;

  public:
    WideItems(T* items, std::int64_t count) : m_items(items) {
        if constexpr (!isWide<Item>) {
            m_copy.resize(static_cast<std::size_t>(count));
            for (std::size_t i = 0; i < m_copy.size(); ++i) m_copy[i] = Wide<Item>(items[i]);
        }
    }

    auto* data() {
        if constexpr (isWide<Item>) return m_items;
        else return m_copy.data();
    }
    /// Rounds the copy back to where it came from.
    void store() const {
        if constexpr (!isWide<Item>) {
            for (std::size_t i = 0; i < m_copy.size(); ++i) m_items[i] = static_cast<Item>(m_copy[i]);
        }
    }

  private:
    T* m_items;
    std::vector<Wide<Item>> m_copy;
};

/// A matrix in double precision, in the same way. Its functions take it by `read()` and `written()`.
template <typename T>
class WideMatrix : public WideItems<T> {
  public:
    explicit WideMatrix(Matrix<T> matrix)
        : WideItems<T>(matrix.data, matrix.rows * matrix.cols), m_rows(matrix.rows), m_cols(matrix.cols) {}

    Matrix<const Wide<std::remove_const_t<T>>> read() { return {this->data(), m_rows, m_cols}; }
    Matrix<Wide<std::remove_const_t<T>>> written() { return {this->data(), m_rows, m_cols}; }

  private:
    std::int64_t m_rows, m_cols;
};

}  // namespace sonde::ops::linalg
