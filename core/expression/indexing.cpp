#include "core/expression/indexing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace sonde::expression {

namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

constexpr std::int64_t kMaxInteger = std::int64_t{1} << 53;
constexpr std::size_t kMaxRank = 64;

struct Range {
    std::int64_t start, count, step;
};

/// Python's slice of a sequence of a size.
Range rangeOf(const IndexItem& slice, std::int64_t size) {
    const std::int64_t step = slice.step.isNone() ? 1 : integerFrom(slice.step, "the step of a slice");
    if (step == 0) throw Problem{"the step of a slice cannot be 0"};
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto bound = [&](const Value& value, std::int64_t otherwise) {
        if (value.isNone()) return otherwise;
        const std::int64_t given = integerFrom(value, "a bound of a slice");
        return std::clamp(given < 0 ? given + size : given, low, high);
    };
    const std::int64_t start = bound(slice.start, step > 0 ? low : high);
    const std::int64_t stop = bound(slice.stop, step > 0 ? high : low);
    const std::int64_t distance = step > 0 ? stop - start : start - stop, stride = std::abs(step);
    return {start, distance <= 0 ? 0 : (distance + stride - 1) / stride, step};
}

std::int64_t positionIn(const Value& value, std::int64_t size, std::string_view of) {
    const std::int64_t given = integerFrom(value, "an index");
    const std::int64_t position = given < 0 ? given + size : given;
    if (position < 0 || position >= size)
        throw Problem{"index " + std::to_string(given) + " is out of bounds for " + std::string(of) + " of size " +
                      std::to_string(size)};
    return position;
}

Value indexedSequence(const Value& value, std::span<const IndexItem> items) {
    const tensor::ValueList& all = value.items();
    const auto size = static_cast<std::int64_t>(all.size());
    if (items.size() != 1 || items[0].kind == IndexItem::Kind::Ellipsis)
        throw Problem{"a list or tuple takes one index or slice"};
    if (items[0].kind == IndexItem::Kind::Value)
        return all[static_cast<std::size_t>(positionIn(items[0].value, size, "a list or tuple"))];
    const Range range = rangeOf(items[0], size);
    tensor::ValueList some;
    for (std::int64_t i = 0; i < range.count; ++i)
        some.push_back(all[static_cast<std::size_t>(range.start + i * range.step)]);
    return value.kind() == ValueKind::Tuple ? Value::tuple(std::move(some)) : Value::list(std::move(some));
}

bool isBoolIndex(const IndexItem& item) {
    return item.kind == IndexItem::Kind::Value &&
           (item.value.kind() == ValueKind::Bool ||
            (item.value.isTensor() && item.value.tensor().dtype() == DType::Bool));
}
/// Arrays and lists; an array of one integer and rank 0 is an int.
bool isArrayIndex(const IndexItem& item) {
    if (item.kind != IndexItem::Kind::Value) return false;
    return isBoolIndex(item) || item.value.isListLike() || (item.value.isTensor() && item.value.tensor().rank() > 0);
}

/// Where a mask is set, in its own order: int64.
Tensor setPositions(Workspace& workspace, const Tensor& mask) {
    const std::span<const bool> bits = mask.span<bool>();
    Tensor positions = workspace.allocate(DType::Int64, Shape{std::ranges::count(bits, true)});
    std::int64_t* next = positions.mutableData<std::int64_t>();
    for (std::size_t i = 0; i < bits.size(); ++i)
        if (bits[i]) *next++ = static_cast<std::int64_t>(i);
    return positions;
}

/// Slices of `axis` of x at the positions (int64), whose axes are in the place
/// of that one.
Tensor taken(Workspace& workspace, const Tensor& x, std::size_t axis, const Tensor& positions) {
    Shape all;
    for (std::size_t i = 0; i < axis; ++i) all.push_back(x.dim(i));
    for (const std::int64_t dimSize : positions.shape()) all.push_back(dimSize);
    for (std::size_t i = axis + 1; i < x.rank(); ++i) all.push_back(x.dim(i));
    if (all.rank() > kMaxRank) throw Problem{"an array of rank " + std::to_string(all.rank()) + " is too large"};
    Tensor result = workspace.allocate(x.dtype(), all);
    const Tensor source = workspace.contiguous(x);
    std::int64_t outer = 1;
    std::size_t inner = tensor::itemSize(x.dtype());
    for (std::size_t i = 0; i < axis; ++i) outer *= x.dim(i);
    for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= static_cast<std::size_t>(x.dim(i));
    if (result.sizeBytes() == 0) return result;
    std::byte* into = result.mutableBytes();
    for (std::int64_t i = 0; i < outer; ++i) {
        const std::byte* rows = source.bytes() + static_cast<std::size_t>(i * x.dim(axis)) * inner;
        for (const std::int64_t position : positions.span<std::int64_t>()) {
            std::memcpy(into, rows + static_cast<std::size_t>(position) * inner, inner);
            into += inner;
        }
    }
    return result;
}

/// x[mask] and x[[0, 2]] with the array at `axis`.
Tensor indexedByArray(Workspace& workspace, const Tensor& x, std::size_t axis, const Value& by) {
    const Tensor index = workspace.contiguous(arrayOf(workspace, by));
    if (index.dtype() == DType::Bool) {
        // The axes of the mask become one.
        Shape flat;
        std::int64_t covered = 1;
        for (std::size_t i = 0; i < x.rank(); ++i) {
            const bool isInside = i >= axis && i < axis + index.rank();
            if (isInside && x.dim(i) != index.dim(i - axis))
                throw Problem{"a mask of shape " + index.shape().text() + " does not fit an array of shape " +
                              x.shape().text()};
            if (i == axis + index.rank()) flat.push_back(covered);
            if (isInside) covered *= x.dim(i);
            else flat.push_back(x.dim(i));
        }
        if (axis + index.rank() == x.rank()) flat.push_back(covered);
        return taken(workspace, workspace.reshape(x, flat), axis, setPositions(workspace, index));
    }
    if (!tensor::isInteger(index.dtype()) && index.numel() > 0) throw Problem{"an index must be an integer or a bool"};
    Tensor positions = workspace.allocate(DType::Int64, index.shape());
    for (std::int64_t i = 0; i < index.numel(); ++i)
        positions.mutableData<std::int64_t>()[i] = positionIn(Value::ofInt(index.toInt64(i)), x.dim(axis), "an axis");
    return taken(workspace, x, axis, positions);
}

/// How many axes of the array an item takes.
std::size_t axesOf(const IndexItem& item) {
    if (item.kind == IndexItem::Kind::Slice) return 1;
    if (item.kind == IndexItem::Kind::Ellipsis || item.value.isNone()) return 0;
    if (isBoolIndex(item)) return item.value.isTensor() ? item.value.tensor().rank() : 0;
    return 1;
}

bool isIntIndex(const IndexItem& item) {
    return item.kind == IndexItem::Kind::Value && !item.value.isNone() && !isArrayIndex(item);
}

/// Whether something else is between an array and the integers beside it: numpy puts the array's axes first then.
bool isArrayApart(const std::vector<IndexItem>& items) {
    const auto isAdvanced = [](const IndexItem& item) { return isIntIndex(item) || isArrayIndex(item); };
    if (std::ranges::none_of(items, isIntIndex)) return false;
    const auto first = std::ranges::find_if(items, isAdvanced);
    const auto last = std::find_if(items.rbegin(), items.rend(), isAdvanced).base();
    return !std::all_of(first, last, isAdvanced);
}

Tensor indexedTensor(Workspace& workspace, Tensor x, std::vector<IndexItem> items) {
    const auto isEllipsis = [](const IndexItem& item) { return item.kind == IndexItem::Kind::Ellipsis; };
    if (std::ranges::count_if(items, isEllipsis) > 1) throw Problem{"an index takes '...' once"};
    if (std::ranges::none_of(items, isEllipsis)) items.push_back({IndexItem::Kind::Ellipsis, {}, {}, {}, {}});
    if (std::ranges::count_if(items, isArrayIndex) > 1)
        throw Problem{"an index takes one array", "index one after the other: x[mask][:, [0, 2]]"};
    std::size_t needed = 0;
    for (const IndexItem& item : items) needed += axesOf(item);
    if (needed > x.rank())
        throw Problem{"an array of rank " + std::to_string(x.rank()) + " has too few axes for " +
                      std::to_string(needed) + " indices"};
    const std::size_t skipped = x.rank() - needed;
    std::size_t axis = 0, given = 0;  // of what x is by now, and of the array itself
    const IndexItem* array = nullptr;
    std::size_t arrayAxis = 0;
    for (const IndexItem& item : items) {
        if (isEllipsis(item)) {
            axis += skipped;
        } else if (item.kind == IndexItem::Kind::Slice) {
            const Range range = rangeOf(item, x.dim(axis));
            x = x.sliced(axis++, range.count == 0 ? 0 : range.start, range.count, range.step);
        } else if (item.value.isNone()) {
            if (x.rank() >= kMaxRank) throw Problem{"an array of rank " + std::to_string(x.rank()) + " is too large"};
            x = x.unsqueezed(axis++);
        } else if (isArrayIndex(item)) {
            array = &item;
            arrayAxis = axis;
            axis += axesOf(item);
        } else {
            x = x.selected(axis, positionIn(item.value, x.dim(axis), "axis " + std::to_string(given)));
        }
        given += isEllipsis(item) ? skipped : axesOf(item);
    }
    if (!array) return x;
    const Tensor result = indexedByArray(workspace, x, arrayAxis, array->value);
    const std::size_t own = result.rank() + axesOf(*array) - x.rank();
    if (!isArrayApart(items)) return result;
    std::vector<std::size_t> order(result.rank());
    std::iota(order.begin(), order.end(), 0);
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(arrayAxis);
    std::rotate(order.begin(), begin, begin + static_cast<std::ptrdiff_t>(own));
    return result.permuted(order);
}

}  // namespace

std::int64_t integerFrom(const Value& value, std::string_view what) {
    const bool isOne = value.isNumber() ||
                       (value.isTensor() && value.tensor().numel() == 1 && value.tensor().dtype() != DType::String);
    const double number = !isOne ? NAN : value.isNumber() ? value.number() : value.tensor().toDouble(0);
    if (!isOne || number != std::floor(number)) throw Problem{std::string(what) + " must be an integer"};
    return static_cast<std::int64_t>(
        std::clamp(number, -static_cast<double>(kMaxInteger), static_cast<double>(kMaxInteger)));
}

std::vector<std::size_t> axesFrom(const Value& value, std::size_t rank) {
    const tensor::ValueList items = value.isListLike() ? value.items() : tensor::ValueList{value};
    std::vector<std::size_t> axes;
    for (const Value& item : items) {
        const std::int64_t given = integerFrom(item, "an axis");
        const auto axis = tensor::normalizedAxis(given, rank);
        if (!axis)
            throw Problem{"axis " + std::to_string(given) + " is out of bounds for an array of rank " +
                          std::to_string(rank)};
        if (std::ranges::find(axes, *axis) != axes.end())
            throw Problem{"axis " + std::to_string(given) + " is given twice"};
        axes.push_back(*axis);
    }
    return axes;
}

Value indexed(Workspace& workspace, const Value& value, std::span<const IndexItem> items) {
    if (value.isListLike()) return indexedSequence(value, items);
    if (!value.isTensor() || value.tensor().dtype() == DType::String)
        throw Problem{"only arrays, lists and tuples have items, not " + value.typeText()};
    std::vector<IndexItem> spread(items.begin(), items.end());
    // x[(0, 1)] is x[0, 1].
    if (items.size() == 1 && items[0].kind == IndexItem::Kind::Value && items[0].value.kind() == ValueKind::Tuple) {
        spread.clear();
        for (const Value& item : items[0].value.items()) spread.push_back({IndexItem::Kind::Value, item, {}, {}, {}});
    }
    return indexedTensor(workspace, value.tensor(), std::move(spread));
}

}  // namespace sonde::expression
