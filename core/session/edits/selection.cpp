#include "core/session/edits/selection.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/expression/syntax.h"

namespace sonde::session {

using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::string_view kBefore = "`=`[";

/// Writes contiguous elements of `itemBytes` to where a view has them.
void scatter(const Tensor& view, const std::byte* from, std::byte* base, std::size_t itemBytes) {
    // As many of the last axes as are one run of memory.
    std::size_t outer = view.rank();
    std::int64_t run = 1;
    while (outer > 0 && (view.strides()[outer - 1] == run || view.dim(outer - 1) == 1)) run *= view.dim(--outer);
    const std::size_t runBytes = static_cast<std::size_t>(run) * itemBytes;
    std::vector<std::int64_t> index(outer, 0);
    std::int64_t offset = view.offsetElements();
    const std::int64_t count = run == 0 ? 0 : view.numel() / run;
    for (std::int64_t i = 0; i < count; ++i, from += runBytes) {
        std::memcpy(base + static_cast<std::size_t>(offset) * itemBytes, from, runBytes);
        for (std::size_t axis = outer; axis-- > 0;) {
            offset += view.strides()[axis];
            if (++index[axis] < view.dim(axis)) break;
            offset -= view.strides()[axis] * view.dim(axis);
            index[axis] = 0;
        }
    }
}

}  // namespace

base::Result<Slice> Slice::parse(std::string_view text, EditPlace& place) {
    Slice slice;
    if (text.find_first_not_of(" \t") == std::string_view::npos) return slice;
    auto parsed = expression::parse(std::string(kBefore) + std::string(text) + ']');
    if (!parsed) {
        place = {EditPlace::Part::Slice, columnOf(parsed.error())};
        return base::usageError(parsed.error().what, {}, parsed.error().hint);
    }
    const expression::Term& root = parsed->root();
    if (root.kind != expression::Term::Kind::Index || root.parts.front().kind != expression::Term::Kind::Name) {
        place = {EditPlace::Part::Slice, 1};
        return base::usageError("'" + std::string(text) + "' is no slice");
    }
    slice.m_expression = std::move(*parsed);
    return slice;
}

std::vector<std::string> Slice::names() const {
    std::vector<std::string> names = m_expression.names();
    std::erase(names, kIndexed);
    return names;
}

std::size_t Slice::columnInside(std::size_t column) { return column > kBefore.size() ? column - kBefore.size() : 1; }

std::size_t Slice::columnOf(const base::Error& error) {
    return columnInside(expression::errorColumn(error).value_or(1));
}

base::Result<Selection> Selection::make(Tensor tensor, const Slice& slice, const expression::Names& names,
                                        const base::WorkContext& work, EditPlace& place) {
    Selection selection;
    selection.m_tensor = selection.m_chosen = tensor;
    if (slice.isEverything()) return selection;
    const auto indexed = [&](const Tensor& of) -> base::Result<Tensor> {
        auto value = expression::evaluate(
            slice.expression(),
            [&](std::string_view name) { return name == Slice::kIndexed ? base::Result<Value>(of) : names(name); },
            work);
        if (value && value->isTensor()) return value->tensor();
        if (!value && value.error().kind == base::ErrorKind::Cancelled) return std::move(value).error();
        place = {EditPlace::Part::Slice, value ? 1 : Slice::columnOf(value.error())};
        return value ? base::usageError("the slice chooses no elements")
                     : base::usageError(value.error().what, {}, value.error().hint);
    };
    SONDE_ASSIGN(selection.m_chosen, indexed(tensor));
    selection.m_isView = selection.m_chosen.storage() == tensor.storage();
    if (selection.m_isView) return selection;
    // Chosen one by one: the same of positions tells which.
    SONDE_ASSIGN(Tensor positions, Tensor::allocate(tensor::DType::Int64, tensor.shape()));
    const auto all = positions.mutableSpan<std::int64_t>();
    std::iota(all.begin(), all.end(), 0);
    SONDE_ASSIGN(const Tensor chosen, indexed(positions));
    SONDE_ASSIGN(selection.m_chosen, chosen.contiguous());
    return selection;
}

base::Result<Tensor> Selection::read() const {
    if (m_isView) return m_chosen.clone();
    SONDE_ASSIGN(Tensor copy, Tensor::allocate(m_tensor.dtype(), m_chosen.shape()));
    const std::size_t itemBytes = tensor::itemSize(m_tensor.dtype());
    std::byte* into = copy.numel() > 0 ? copy.mutableBytes() : nullptr;
    for (const std::int64_t position : m_chosen.span<std::int64_t>()) {
        std::memcpy(into, m_tensor.bytes() + static_cast<std::size_t>(position) * itemBytes, itemBytes);
        into += itemBytes;
    }
    return copy;
}

void Selection::write(const Tensor& from) {
    if (from.numel() == 0) return;
    const std::size_t itemBytes = tensor::itemSize(m_tensor.dtype());
    // Offsets of a view count from the start of the storage.
    std::byte* const first = m_tensor.mutableBytes();
    if (m_isView)
        return scatter(m_chosen, from.bytes(), first - static_cast<std::size_t>(m_tensor.offsetElements()) * itemBytes,
                       itemBytes);
    const std::byte* each = from.bytes();
    for (const std::int64_t position : m_chosen.span<std::int64_t>()) {
        std::memcpy(first + static_cast<std::size_t>(position) * itemBytes, each, itemBytes);
        each += itemBytes;
    }
}

}  // namespace sonde::session
