#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

namespace sonde::ops::linalg {

/// The real type of an element: float for std::complex<float>.
template <typename T>
struct RealPart {
    using type = T;
};
template <typename T>
struct RealPart<std::complex<T>> {
    using type = T;
};
template <typename T>
using Real = typename RealPart<T>::type;

/// A dense matrix in memory of somebody else, stored by columns without gaps: the form that Eigen works on.
template <typename T>
struct Matrix {
    T* data = nullptr;
    std::int64_t rows = 0, cols = 0;

    bool empty() const { return rows == 0 || cols == 0; }
    T& operator()(std::int64_t row, std::int64_t col) const { return data[col * rows + row]; }
    /// As an Eigen::Map. The .cpp that includes Eigen names it: no header does.
    template <typename Map>
    Map as() const {
        return Map(data, rows, cols);
    }
    operator Matrix<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols}; }
};

}  // namespace sonde::ops::linalg
