#include "core/tensor/tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/number_text.h"
#include "core/tensor/cast.h"
#include "core/tensor/dispatch.h"
#include "core/tensor/strided.h"

namespace sonde::tensor {

base::Result<Tensor> Tensor::allocate(DType dtype, Shape shape) {
    const std::optional<std::int64_t> count = shape.checkedNumel();
    if (!count) return base::runError("a tensor of shape " + shape.text() + " cannot exist");
    if (dtype == DType::Undefined) return base::runError("a tensor needs a dtype");
    const std::size_t item = dtype == DType::String ? sizeof(std::string) : itemSize(dtype);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(*count), item, &bytes) || bytes > memoryLimit()) {
        return base::runError("a tensor of " + std::string(name(dtype)) + shape.text() +
                              " is more than the memory limit of " + std::to_string(memoryLimit()) + " bytes");
    }
    if (dtype == DType::String) {
        return onStorage(dtype, std::move(shape),
                         Storage::ofStrings(std::vector<std::string>(static_cast<std::size_t>(*count))));
    }
    SONDE_ASSIGN(std::shared_ptr<Storage> storage, Storage::allocate(bytes));
    return onStorage(dtype, std::move(shape), std::move(storage));
}

base::Result<Tensor> Tensor::zeros(DType dtype, Shape shape) {
    SONDE_ASSIGN(Tensor tensor, allocate(dtype, std::move(shape)));
    if (dtype != DType::String) std::memset(tensor.mutableBytes(), 0, tensor.sizeBytes());
    return tensor;
}

Tensor Tensor::onStorage(DType dtype, Shape shape, std::vector<std::int64_t> strides, std::shared_ptr<Storage> storage,
                         std::int64_t offsetElements) {
    assert(strides.size() == shape.rank());
    Tensor tensor;
    tensor.m_dtype = dtype;
    tensor.m_numel = shape.numel();
    tensor.m_shape = std::move(shape);
    tensor.m_strides = std::move(strides);
    tensor.m_offset = offsetElements;
    tensor.m_storage = std::move(storage);
    return tensor;
}

Tensor Tensor::onStorage(DType dtype, Shape shape, std::shared_ptr<Storage> storage) {
    std::vector<std::int64_t> strides = shape.contiguousStrides();
    return onStorage(dtype, std::move(shape), std::move(strides), std::move(storage));
}

Tensor Tensor::ofStrings(Shape shape, std::vector<std::string> values) {
    assert(static_cast<std::size_t>(shape.numel()) == values.size());
    return onStorage(DType::String, std::move(shape), Storage::ofStrings(std::move(values)));
}

bool Tensor::isContiguous() const {
    std::int64_t step = 1;
    for (std::size_t i = rank(); i-- > 0;) {
        if (m_shape[i] != 1 && m_strides[i] != step) return m_numel == 0;
        step *= m_shape[i];
    }
    return true;
}

std::string Tensor::typeText() const { return std::string(name(m_dtype)) + m_shape.text(); }

const std::byte* Tensor::bytes() const {
    assert(m_storage);
    return m_storage->data() + m_offset * static_cast<std::int64_t>(itemSize(m_dtype));
}

std::byte* Tensor::mutableBytes() {
    assert(m_storage && m_storage->writable());
    return m_storage->mutableData() + m_offset * static_cast<std::int64_t>(itemSize(m_dtype));
}

std::span<const std::string> Tensor::strings() const {
    assert(m_dtype == DType::String && isContiguous());
    return {m_storage->strings().data() + m_offset, static_cast<std::size_t>(m_numel)};
}

std::span<std::string> Tensor::mutableStrings() {
    assert(m_dtype == DType::String && isContiguous());
    return {m_storage->strings().data() + m_offset, static_cast<std::size_t>(m_numel)};
}

base::Result<Tensor> Tensor::reshaped(Shape shape) const {
    const std::optional<std::int64_t> count = shape.checkedNumel();
    if (!count || *count != m_numel) {
        return base::runError("cannot view " + typeText() + " as " + shape.text() + ": the number of elements differs");
    }
    SONDE_ASSIGN(const Tensor source, contiguous());
    std::vector<std::int64_t> strides = shape.contiguousStrides();
    return onStorage(m_dtype, std::move(shape), std::move(strides), source.m_storage, source.m_offset);
}

Tensor Tensor::permuted(std::span<const std::size_t> axes) const {
    assert(axes.size() == rank());
    Tensor view = *this;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        view.m_shape[i] = m_shape[axes[i]];
        view.m_strides[i] = m_strides[axes[i]];
    }
    return view;
}

Tensor Tensor::transposed(std::size_t a, std::size_t b) const {
    Tensor view = *this;
    std::swap(view.m_shape[a], view.m_shape[b]);
    std::swap(view.m_strides[a], view.m_strides[b]);
    return view;
}

Tensor Tensor::sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step) const {
    assert(axis < rank() && count >= 0);
    Tensor view = *this;
    if (count > 0) view.m_offset += start * m_strides[axis];
    view.m_shape[axis] = count;
    view.m_strides[axis] *= step;
    view.m_numel = view.m_shape.numel();
    return view;
}

Tensor Tensor::selected(std::size_t axis, std::int64_t index) const {
    Tensor view = sliced(axis, index, 1);
    std::vector<std::int64_t> dims = view.m_shape.dims();
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    view.m_shape = Shape(std::move(dims));
    view.m_strides.erase(view.m_strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return view;
}

Tensor Tensor::unsqueezed(std::size_t axis) const {
    assert(axis <= rank());
    Tensor view = *this;
    const std::int64_t stride = axis < rank() ? m_strides[axis] * std::max<std::int64_t>(m_shape[axis], 1) : 1;
    std::vector<std::int64_t> dims = m_shape.dims();
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    view.m_shape = Shape(std::move(dims));
    view.m_strides.insert(view.m_strides.begin() + static_cast<std::ptrdiff_t>(axis), stride);
    return view;
}

base::Result<Tensor> Tensor::expanded(const Shape& shape) const {
    const std::optional<Shape> result = broadcastShapes(m_shape, shape);
    if (!result || *result != shape || !shape.checkedNumel()) {
        return base::runError("cannot broadcast " + typeText() + " to " + shape.text());
    }
    std::vector<std::int64_t> strides(shape.rank(), 0);
    const std::size_t lead = shape.rank() - rank();
    for (std::size_t i = 0; i < rank(); ++i) {
        strides[lead + i] = m_shape[i] == shape[lead + i] ? m_strides[i] : 0;
    }
    return onStorage(m_dtype, shape, std::move(strides), m_storage, m_offset);
}

base::Result<Tensor> Tensor::contiguous() const {
    if (isContiguous()) return *this;
    return clone();
}

base::Result<Tensor> Tensor::clone() const {
    SONDE_ASSIGN(Tensor copy, allocate(m_dtype, m_shape));
    if (m_numel == 0) return copy;
    if (m_dtype == DType::String) {
        std::span<std::string> out = copy.mutableStrings();
        const std::vector<std::string>& all = m_storage->strings();
        for (std::int64_t i = 0; i < m_numel; ++i) {
            out[static_cast<std::size_t>(i)] = all[static_cast<std::size_t>(m_offset + elementOffset(i))];
        }
    } else {
        copyStrided(bytes(), m_shape.dims(), m_strides, itemSize(m_dtype), copy.mutableBytes());
    }
    return copy;
}

base::Result<Tensor> Tensor::cast(DType dtype) const {
    if (dtype == m_dtype) return *this;
    SONDE_ASSIGN(const Tensor source, contiguous());
    SONDE_ASSIGN(Tensor result, allocate(dtype, m_shape));
    const auto count = static_cast<std::size_t>(m_numel);
    if (dtype == DType::String) {
        std::span<std::string> out = result.mutableStrings();
        const std::size_t item = itemSize(m_dtype);
        for (std::size_t i = 0; i < count; ++i) out[i] = numberText(m_dtype, source.bytes() + i * item);
    } else if (m_dtype == DType::String) {
        const std::span<const std::string> in = source.strings();
        const std::size_t item = itemSize(dtype);
        for (std::size_t i = 0; i < count; ++i) {
            if (!parseNumber(in[i], dtype, result.mutableBytes() + i * item)) {
                return base::runError("the text '" + in[i] + "' is not a number that " + std::string(name(dtype)) +
                                      " can represent");
            }
        }
    } else if (count > 0) {
        castElements(m_dtype, source.bytes(), dtype, result.mutableBytes(), count);
    }
    return result;
}

std::int64_t Tensor::elementOffset(std::int64_t index) const {
    std::int64_t offset = 0;
    for (std::size_t i = rank(); i-- > 0 && index > 0;) {
        offset += index % m_shape[i] * m_strides[i];
        index /= m_shape[i];
    }
    return offset;
}

double Tensor::toDouble(std::int64_t index) const {
    assert(index >= 0 && index < m_numel);
    if (m_dtype == DType::String) return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    castElements(m_dtype, bytes() + elementOffset(index) * static_cast<std::int64_t>(itemSize(m_dtype)), DType::Float64,
                 &value, 1);
    return value;
}

std::int64_t Tensor::toInt64(std::int64_t index) const {
    assert(index >= 0 && index < m_numel);
    if (m_dtype == DType::String) return 0;
    std::int64_t value = 0;
    castElements(m_dtype, bytes() + elementOffset(index) * static_cast<std::int64_t>(itemSize(m_dtype)), DType::Int64,
                 &value, 1);
    return value;
}

std::string Tensor::elementText(std::int64_t index, int precision) const {
    assert(index >= 0 && index < m_numel);
    const std::int64_t offset = elementOffset(index);
    if (m_dtype == DType::String) {
        return "'" + m_storage->strings()[static_cast<std::size_t>(m_offset + offset)] + "'";
    }
    const std::byte* element = bytes() + offset * static_cast<std::int64_t>(itemSize(m_dtype));
    if (m_dtype == DType::Bool) return *reinterpret_cast<const bool*>(element) ? "true" : "false";
    if (isInteger(m_dtype)) return numberText(m_dtype, element);
    if (isComplex(m_dtype)) {
        std::complex<double> value;
        castElements(m_dtype, element, DType::Complex128, &value, 1);
        const std::string imaginary = base::roundedText(value.imag(), precision);
        return base::roundedText(value.real(), precision) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
    }
    return base::roundedText(toDouble(index), precision);
}

bool identical(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape() || a.defined() != b.defined()) return false;
    if (!a.defined() || a.numel() == 0) return true;
    const base::Result<Tensor> x = a.contiguous();
    const base::Result<Tensor> y = b.contiguous();
    if (!x || !y) return false;
    if (a.dtype() == DType::String) return std::ranges::equal(x->strings(), y->strings());
    if (std::memcmp(x->bytes(), y->bytes(), x->sizeBytes()) == 0) return true;
    bool same = false;
    const bool typed = dispatchAll(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        same = std::ranges::equal(x->span<T>(), y->span<T>(),
                                  [](const T& p, const T& q) { return p == q || (p != p && q != q); });
    });
    if (typed) return same;
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        const double p = x->toDouble(i), q = y->toDouble(i);
        if (p != q && !(std::isnan(p) && std::isnan(q))) return false;
    }
    return true;
}

}  // namespace sonde::tensor
