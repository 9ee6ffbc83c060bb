#pragma once

#include <algorithm>
#include <cassert>
#include <complex>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/tensor/dtype.h"
#include "core/tensor/float_types.h"
#include "core/tensor/shape.h"
#include "core/tensor/storage.h"

namespace sonde::tensor {

/// The C++ type of an element in memory → its DType.
template <typename T>
inline constexpr DType dtypeOf = DType::Undefined;
template <>
inline constexpr DType dtypeOf<float> = DType::Float32;
template <>
inline constexpr DType dtypeOf<double> = DType::Float64;
template <>
inline constexpr DType dtypeOf<std::uint8_t> = DType::UInt8;
template <>
inline constexpr DType dtypeOf<std::int8_t> = DType::Int8;
template <>
inline constexpr DType dtypeOf<std::uint16_t> = DType::UInt16;
template <>
inline constexpr DType dtypeOf<std::int16_t> = DType::Int16;
template <>
inline constexpr DType dtypeOf<std::uint32_t> = DType::UInt32;
template <>
inline constexpr DType dtypeOf<std::int32_t> = DType::Int32;
template <>
inline constexpr DType dtypeOf<std::uint64_t> = DType::UInt64;
template <>
inline constexpr DType dtypeOf<std::int64_t> = DType::Int64;
template <>
inline constexpr DType dtypeOf<bool> = DType::Bool;
template <>
inline constexpr DType dtypeOf<Half> = DType::Float16;
template <>
inline constexpr DType dtypeOf<BFloat16> = DType::BFloat16;
template <>
inline constexpr DType dtypeOf<std::complex<float>> = DType::Complex64;
template <>
inline constexpr DType dtypeOf<std::complex<double>> = DType::Complex128;

/// dtype, shape, strides (in elements, may be 0 or negative) and shared storage. A cheap handle: copies share the data.
/// Kernels read contiguous tensors; views made by permute/slice/expand are made contiguous where a kernel needs it.
class Tensor {
  public:
    Tensor() = default;  ///< dtype Undefined, no storage: not a value

    /// Not initialised, contiguous. Error if the shape overflows or is larger than the memory limit.
    static base::Result<Tensor> allocate(DType dtype, Shape shape);
    static base::Result<Tensor> zeros(DType dtype, Shape shape);
    /// On given storage; the caller has checked that it is large enough.
    static Tensor onStorage(DType dtype, Shape shape, std::vector<std::int64_t> strides,
                            std::shared_ptr<Storage> storage, std::int64_t offsetElements = 0);
    static Tensor onStorage(DType dtype, Shape shape, std::shared_ptr<Storage> storage);

    /// Small tensors in code and tests. The number of values must equal the shape's.
    template <typename T>
    static Tensor of(Shape shape, std::span<const T> values);
    template <typename T>
    static Tensor of(Shape shape, std::initializer_list<T> values) {
        return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
    }
    template <typename T>
    static Tensor of(Shape shape, const std::vector<T>& values) {
        return of<T>(std::move(shape), std::span<const T>(values));
    }
    template <typename T>
    static Tensor scalar(T value) {
        return of<T>(Shape{}, std::span<const T>(&value, 1));
    }
    static Tensor ofStrings(Shape shape, std::vector<std::string> values);

    bool defined() const { return m_storage != nullptr; }
    DType dtype() const { return m_dtype; }
    const Shape& shape() const { return m_shape; }
    std::size_t rank() const { return m_shape.rank(); }
    std::int64_t dim(std::size_t axis) const { return m_shape[axis]; }
    std::int64_t numel() const { return m_numel; }
    std::size_t sizeBytes() const { return static_cast<std::size_t>(m_numel) * itemSize(m_dtype); }
    const std::vector<std::int64_t>& strides() const { return m_strides; }
    bool isContiguous() const;
    const std::shared_ptr<Storage>& storage() const { return m_storage; }
    std::int64_t offsetElements() const { return m_offset; }
    /// "float32[1,64,56,56]".
    std::string typeText() const;

    /// First element. T must be the dtype's C++ type, or an unsigned byte for the one-byte types without one.
    template <typename T>
    const T* data() const {
        return reinterpret_cast<const T*>(bytes());
    }
    /// Writable: owned storage only (asserts).
    template <typename T>
    T* mutableData() {
        return reinterpret_cast<T*>(mutableBytes());
    }
    template <typename T>
    std::span<const T> span() const {
        return {data<T>(), static_cast<std::size_t>(m_numel)};
    }
    template <typename T>
    std::span<T> mutableSpan() {
        return {mutableData<T>(), static_cast<std::size_t>(m_numel)};
    }
    const std::byte* bytes() const;
    std::byte* mutableBytes();
    /// Elements of a String tensor in row-major order (contiguous tensors only).
    std::span<const std::string> strings() const;
    std::span<std::string> mutableStrings();

    // Views: same storage, no copy.
    /// Same elements, other dim sizes (numel must agree); copies first if not contiguous.
    base::Result<Tensor> reshaped(Shape shape) const;
    Tensor permuted(std::span<const std::size_t> axes) const;
    Tensor transposed(std::size_t a, std::size_t b) const;
    /// Elements start, start+step, … (count of them) of an axis. Step may be negative. The caller checks the bounds.
    Tensor sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) const;
    Tensor selected(std::size_t axis, std::int64_t index) const;  ///< the axis is gone
    Tensor unsqueezed(std::size_t axis) const;
    /// Broadcast view with stride 0; error if the shapes do not go together.
    base::Result<Tensor> expanded(const Shape& shape) const;

    /// This tensor if contiguous, else a copy.
    base::Result<Tensor> contiguous() const;
    base::Result<Tensor> clone() const;
    /// Converted copy (this tensor itself if the dtype is the same). Float to integer truncates toward zero; to a
    /// narrow float rounds to nearest even; anything to bool is != 0; strings convert by their text.
    base::Result<Tensor> cast(DType dtype) const;

    /// One element by row-major logical index, as a number (NaN for strings; the real part of a complex number).
    double toDouble(std::int64_t index) const;
    std::int64_t toInt64(std::int64_t index) const;
    /// As a person reads it: "3.14", "true", "'text'", "1+2j".
    std::string elementText(std::int64_t index, int precision = 6) const;
    /// Where a row-major logical index lies, in elements from data<T>().
    std::int64_t elementOffset(std::int64_t index) const;

  private:
    DType m_dtype = DType::Undefined;
    Shape m_shape;
    std::vector<std::int64_t> m_strides;
    std::int64_t m_offset = 0;  ///< in elements from the storage's start
    std::int64_t m_numel = 0;
    std::shared_ptr<Storage> m_storage;
};

/// Same dtype, shape and elements; NaN equals NaN.
bool identical(const Tensor& a, const Tensor& b);

template <typename T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
    Tensor tensor = allocate(dtypeOf<T>, std::move(shape)).value();
    assert(static_cast<std::size_t>(tensor.numel()) == values.size());
    std::copy(values.begin(), values.end(), tensor.mutableData<T>());
    return tensor;
}

}  // namespace sonde::tensor
