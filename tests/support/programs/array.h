#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// Tensors on plain arrays, after PyTorch's pages "Tensor Views", "Tensor.view" and "Broadcasting semantics". Nothing
/// of Sonde is used here: what it computes is compared with this.
namespace sonde::test::programs {

using Ints = std::vector<std::int64_t>;

/// Not a program: PyTorch refuses it, or what it does is not modelled.
struct Invalid : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// PyTorch raises, and whoever runs the program must not give values.
struct Raises : Invalid {
    using Invalid::Invalid;
};

/// Element types, each promoted by those behind it.
enum class Type : std::uint8_t { Int64, Float16, Float32, Float64 };

inline Type promoted(Type a, Type b) { return std::max(a, b); }

/// The number as an element holds it: the nearest one, halves to even; integers are cut off.
inline double rounded(Type type, double value) {
    if (std::isnan(value)) throw Invalid("not a number");  // what functions make of it is not modelled
    switch (type) {
        case Type::Float64: return value;
        case Type::Float32: return static_cast<double>(static_cast<float>(value));
        case Type::Int64:
            if (!(std::abs(value) < 1e15)) throw Invalid("no integer");
            return std::trunc(value);
        case Type::Float16: break;
    }
    if (!std::isfinite(value) || value == 0) return value;
    // 11 bits, fewer below 2^-14; from 65520 on infinite.
    const int exponent = std::max(std::ilogb(value), -14) - 10;
    const double nearest = std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
    return std::abs(nearest) > 65504 ? std::copysign(INFINITY, value) : nearest;
}

inline std::int64_t product(const Ints& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

inline Ints denseStrides(const Ints& shape) {
    Ints strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

/// Calls visit(index) for every index of a shape, last dimension fastest.
template <typename Visit>
void forEachIndex(const Ints& shape, Visit&& visit) {
    Ints index(shape.size(), 0);
    for (std::int64_t n = product(shape); n > 0; --n) {
        visit(static_cast<const Ints&>(index));
        for (std::size_t d = shape.size(); d-- > 0;) {
            if (++index[d] < shape[d]) break;
            index[d] = 0;
        }
    }
}

/// A tensor: a window on memory that others may share.
struct Array {
    std::shared_ptr<std::vector<double>> memory;
    std::int64_t offset = 0;
    Ints shape;
    Ints strides;
    Type type = Type::Float32;
    bool isLayoutKnown =
        true;  ///< false: which strides PyTorch gives it is not modelled, so whether reshape copies is not known

    static Array dense(Ints shape, Type type = Type::Float32) {
        Array made;
        made.type = type;
        made.memory = std::make_shared<std::vector<double>>(static_cast<std::size_t>(product(shape)), 0.0);
        made.strides = denseStrides(shape);
        made.shape = std::move(shape);
        return made;
    }

    std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
    std::int64_t count() const { return product(shape); }
    double& at(const Ints& index) const {
        std::int64_t place = offset;
        for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
        return (*memory)[static_cast<std::size_t>(place)];
    }
    void set(const Ints& index, double value) const { at(index) = rounded(type, value); }
    std::vector<double> values() const {
        std::vector<double> all;
        forEachIndex(shape, [&](const Ints& index) { all.push_back(at(index)); });
        return all;
    }
    bool isContiguous() const {
        std::int64_t expected = 1;
        for (std::size_t d = shape.size(); d-- > 0;) {
            if (shape[d] == 1) continue;
            if (strides[d] != expected) return false;
            expected *= shape[d];
        }
        return true;
    }
    /// Two elements are one place in memory: such a tensor cannot be written.
    bool overlapsItself() const {
        std::vector<std::int64_t> places;
        forEachIndex(shape, [&](const Ints& index) { places.push_back(&at(index) - memory->data()); });
        std::sort(places.begin(), places.end());
        return std::adjacent_find(places.begin(), places.end()) != places.end();
    }
    std::size_t dim(std::int64_t d) const {
        if (d < 0) d += rank();
        if (d < 0 || d >= rank()) throw Invalid("dimension out of range");
        return static_cast<std::size_t>(d);
    }
    Array window(Ints newShape, Ints newStrides, std::int64_t newOffset) const {
        Array view = *this;
        view.shape = std::move(newShape);
        view.strides = std::move(newStrides);
        view.offset = newOffset;
        return view;
    }
};

inline Array copied(const Array& x, Type type) {
    Array made = Array::dense(x.shape, type);
    std::size_t next = 0;
    forEachIndex(x.shape, [&](const Ints& index) { (*made.memory)[next++] = rounded(type, x.at(index)); });
    made.isLayoutKnown = x.isLayoutKnown && x.isContiguous();
    return made;
}

inline Array copied(const Array& x) { return copied(x, x.type); }

// Views.

inline Array sliced(const Array& x, std::int64_t d, std::int64_t start, std::int64_t stop, std::int64_t step) {
    const std::size_t at = x.dim(d);
    const std::int64_t size = x.shape[at];
    const auto bounded = [size](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size); };
    start = bounded(start);
    stop = std::max(start, bounded(stop));
    Array view = x;
    view.offset += start * x.strides[at];
    view.shape[at] = (stop - start + step - 1) / step;
    view.strides[at] *= step;
    if (view.shape[at] == 0) throw Invalid("an empty slice");  // PyTorch has them; the programs do without
    return view;
}

inline Array selected(const Array& x, std::int64_t d, std::int64_t i) {
    const std::size_t at = x.dim(d);
    if (i < 0) i += x.shape[at];
    if (i < 0 || i >= x.shape[at]) throw Invalid("index out of range");
    Array view = x;
    view.offset += i * x.strides[at];
    view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(at));
    view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(at));
    return view;
}

inline Array permuted(const Array& x, const Ints& dims) {
    Array view = x;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        view.shape[i] = x.shape[x.dim(dims[i])];
        view.strides[i] = x.strides[x.dim(dims[i])];
    }
    return view;
}

inline Array transposed(const Array& x, std::int64_t a, std::int64_t b) {
    Ints dims(x.shape.size());
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[x.dim(a)], dims[x.dim(b)]);
    return permuted(x, dims);
}

inline Array unsqueezed(const Array& x, std::int64_t d) {
    if (d < 0) d += x.rank() + 1;
    if (d < 0 || d > x.rank()) throw Invalid("dimension out of range");
    const auto at = static_cast<std::ptrdiff_t>(d);
    Array view = x;
    const std::int64_t stride =
        d < x.rank() ? x.shape[static_cast<std::size_t>(d)] * x.strides[static_cast<std::size_t>(d)] : 1;
    view.shape.insert(view.shape.begin() + at, 1);
    view.strides.insert(view.strides.begin() + at, stride);
    return view;
}

inline Array squeezed(const Array& x, std::int64_t d) {
    const std::size_t at = x.dim(d);
    return x.shape[at] == 1 ? selected(x, d, 0) : x;
}

inline Array expanded(const Array& x, const Ints& shape) {
    if (shape.size() < x.shape.size()) throw Invalid("expand to fewer dimensions");
    const std::size_t lead = shape.size() - x.shape.size();
    Ints strides(shape.size(), 0);
    for (std::size_t i = 0; i < x.shape.size(); ++i) {
        if (x.shape[i] == shape[lead + i]) strides[lead + i] = x.strides[i];
        else if (x.shape[i] != 1) throw Invalid("shapes do not broadcast");
    }
    return x.window(shape, strides, x.offset);
}

/// The strides with which the same memory has another shape; none if the elements, taken in order, are not where any
/// strides would have them, so that it has to be copied.
inline std::optional<Ints> viewStrides(const Array& x, const Ints& shape) {
    if (product(shape) != x.count()) throw Invalid("another number of elements");
    std::vector<std::int64_t> places;
    forEachIndex(x.shape, [&](const Ints& index) { places.push_back(&x.at(index) - x.memory->data()); });
    const Ints dense = denseStrides(shape);
    Ints strides(shape.size(), 1);
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] > 1) strides[d] = places[static_cast<std::size_t>(dense[d])] - places.front();
    }
    const Array candidate = x.window(shape, strides, x.offset);
    std::size_t next = 0;
    bool fits = true;
    forEachIndex(shape,
                 [&](const Ints& index) { fits = fits && &candidate.at(index) - x.memory->data() == places[next++]; });
    return fits ? std::optional(strides) : std::nullopt;
}

/// -1 is what is left.
inline Ints resolvedShape(const Array& x, Ints shape) {
    std::int64_t known = 1;
    for (std::int64_t each : shape) known *= each == -1 ? 1 : each;
    for (std::int64_t& each : shape) {
        if (each == -1) each = x.count() / known;
    }
    return shape;
}

inline Array viewed(const Array& x, const Ints& shape) {
    if (!x.isLayoutKnown) throw Invalid("strides are not modelled");
    const Ints resolved = resolvedShape(x, shape);
    const auto strides = viewStrides(x, resolved);
    if (!strides) throw Invalid("view size is not compatible with input tensor's size and stride");
    return x.window(resolved, *strides, x.offset);
}

inline Array contiguous(const Array& x) {
    if (!x.isLayoutKnown) throw Invalid("strides are not modelled");
    if (x.isContiguous()) return x;
    Array made = copied(x);
    made.isLayoutKnown = true;
    return made;
}

inline Array reshaped(const Array& x, const Ints& shape) {
    if (!x.isLayoutKnown) throw Invalid("strides are not modelled");
    const Ints resolved = resolvedShape(x, shape);
    if (const auto strides = viewStrides(x, resolved)) return x.window(resolved, *strides, x.offset);
    Array made = contiguous(x);
    made.strides = denseStrides(resolved);
    made.shape = resolved;
    return made;
}

inline Array diagonalOf(const Array& x) {
    if (x.rank() < 2) throw Invalid("diagonal of fewer than two dimensions");
    Array view = x;
    const std::int64_t size = std::min(x.shape[0], x.shape[1]), stride = x.strides[0] + x.strides[1];
    view.shape.erase(view.shape.begin(), view.shape.begin() + 2);
    view.strides.erase(view.strides.begin(), view.strides.begin() + 2);
    view.shape.push_back(size);
    view.strides.push_back(stride);
    return view;
}

// New tensors.

inline Ints broadcastShape(const Ints& a, const Ints& b) {
    Ints shape(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1,
                           right = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (left != right && left != 1 && right != 1) throw Invalid("shapes do not broadcast");
        shape[shape.size() - 1 - i] = left == 1 ? right : left;
    }
    return shape;
}

using Unary = std::function<double(double)>;
using Binary = std::function<double(double, double)>;

/// A tensor with a number: fractions make integers float32.
inline Type typeWithNumber(const Array& x) { return x.type == Type::Int64 ? Type::Float32 : x.type; }

/// Tensors of no dimensions count only if the others are of a lower kind: integers.
inline Type typeOf(const Array& a, const Array& b) {
    const auto isFloat = [](const Array& x) { return x.type != Type::Int64; };
    if ((a.rank() == 0) == (b.rank() == 0)) return promoted(a.type, b.type);
    const Array &whole = a.rank() == 0 ? b : a, &one = a.rank() == 0 ? a : b;
    return isFloat(one) && !isFloat(whole) ? one.type : whole.type;
}

inline Array mapped(const Array& x, Type type, const Unary& function) {
    Array made = copied(x, type);
    for (double& each : *made.memory) each = rounded(type, function(each));
    return made;
}
inline Array mapped(const Array& x, const Unary& function) { return mapped(x, x.type, function); }

inline Array combined(const Array& a, const Array& b, const Binary& function) {
    const Ints shape = broadcastShape(a.shape, b.shape);
    const Type type = typeOf(a, b);
    const Array left = expanded(a, shape), right = expanded(b, shape);
    Array made = Array::dense(shape, type);
    std::size_t next = 0;
    forEachIndex(shape, [&](const Ints& index) {
        (*made.memory)[next++] = rounded(type, function(rounded(type, left.at(index)), rounded(type, right.at(index))));
    });
    made.isLayoutKnown = a.isLayoutKnown && b.isLayoutKnown && a.isContiguous() && b.isContiguous();
    return made;
}

inline Array summed(const Array& x, std::int64_t d) {
    const std::size_t at = x.dim(d);
    Ints shape = x.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at));
    Array made = Array::dense(shape, x.type);
    forEachIndex(x.shape, [&](Ints index) {
        const double value = x.at(index);
        index.erase(index.begin() + static_cast<std::ptrdiff_t>(at));
        made.at(index) += value;
    });
    for (double& each : *made.memory) each = rounded(x.type, each);
    made.isLayoutKnown = x.isLayoutKnown && x.isContiguous();
    return made;
}

inline Array joined(const std::vector<Array>& parts, std::int64_t d) {
    const std::size_t at = parts.front().dim(d);
    Ints shape = parts.front().shape;
    shape[at] = 0;
    for (const Array& part : parts) {
        Ints other = part.shape;
        if (other.size() != shape.size()) throw Invalid("cat of different ranks");
        shape[at] += other[at];
        other[at] = shape[at];
        if (other != shape) throw Invalid("cat of different shapes");
    }
    Type type = parts.front().type;
    for (const Array& part : parts) type = promoted(type, part.type);
    Array made = Array::dense(shape, type);
    std::int64_t start = 0;
    for (const Array& part : parts) {
        forEachIndex(part.shape, [&](Ints index) {
            const double value = part.at(index);
            index[at] += start;
            made.set(index, value);
        });
        start += part.shape[at];
        made.isLayoutKnown = made.isLayoutKnown && part.isContiguous() && part.isLayoutKnown;
    }
    return made;
}

// Writes.

inline void checkWritable(const Array& x) {
    if (x.overlapsItself())
        throw Invalid("more than one element of the written-to tensor refers to a single memory location");
}

/// The result of arithmetic goes into a tensor of the same kind.
inline void checkCast(Type from, Type to) {
    if (from != Type::Int64 && to == Type::Int64) throw Raises("result type can't be cast to the desired output type");
}

/// x = function(x) in place, computed in a type that x must be able to take.
inline void apply(const Array& x, Type type, const Unary& function) {
    checkWritable(x);
    checkCast(type, x.type);
    forEachIndex(x.shape,
                 [&](const Ints& index) { x.set(index, rounded(type, function(rounded(type, x.at(index))))); });
}
inline void apply(const Array& x, const Unary& function) { apply(x, x.type, function); }

/// No gaps between the elements, and none twice.
inline bool isDense(const Array& x) {
    std::vector<std::int64_t> places;
    forEachIndex(x.shape, [&](const Ints& index) { places.push_back(&x.at(index) - x.memory->data()); });
    std::sort(places.begin(), places.end());
    for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i] != places[i - 1] + 1) return false;
    }
    return true;
}

/// The writer may read the very elements that it writes, or others. PyTorch raises at a part of them if neither tensor
/// has gaps; else what it gives depends on the order of its loops.
inline void checkOverlap(const Array& x, const Array& other) {
    if (x.memory != other.memory) return;
    std::vector<std::int64_t> written, read;
    forEachIndex(x.shape, [&](const Ints& index) { written.push_back(&x.at(index) - x.memory->data()); });
    forEachIndex(other.shape, [&](const Ints& index) { read.push_back(&other.at(index) - other.memory->data()); });
    if (x.shape == other.shape && written == read) return;
    const bool meets = std::any_of(read.begin(), read.end(), [&](std::int64_t place) {
        return std::find(written.begin(), written.end(), place) != written.end();
    });
    if (!meets) return;
    if (isDense(x) && isDense(other))
        throw Raises("some elements of the input tensor and the written-to tensor refer to a single memory location");
    throw Invalid("the written-to tensor and an argument share memory");
}

/// x = function(x, other) in place, computed in `type`; other is broadcast to x.
inline void apply(const Array& x, const Array& other, Type type, const Binary& function) {
    checkWritable(x);
    checkCast(type, x.type);
    checkOverlap(x, other);
    const Array values = expanded(copied(other), x.shape);
    forEachIndex(x.shape, [&](const Ints& index) {
        x.set(index, rounded(type, function(rounded(type, x.at(index)), rounded(type, values.at(index)))));
    });
}
/// As arithmetic does it.
inline void apply(const Array& x, const Array& other, const Binary& function) {
    apply(x, other, typeOf(x, other), function);
}
/// The number where the mask, a tensor of its own, is above 0.
inline void fillWhere(const Array& x, const Array& mask, double number) {
    checkWritable(x);
    const Array values = expanded(copied(mask), x.shape);
    forEachIndex(x.shape, [&](const Ints& index) {
        if (values.at(index) > 0) x.set(index, number);
    });
}
/// The elements of other, in x's type.
inline void assign(const Array& x, const Array& other, bool readsNumberFirst = false) {
    checkWritable(x);
    if (!readsNumberFirst) checkOverlap(x, other);
    const Array values = expanded(copied(other), x.shape);
    forEachIndex(x.shape, [&](const Ints& index) { x.set(index, values.at(index)); });
}

}  // namespace sonde::test::programs
