#include "core/analysis/weights/filters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "core/analysis/call_arguments.h"
#include "core/analysis/weight_positions.h"
#include "core/graph/traits.h"
#include "core/ops/registry/registry.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using operators::OpClass;
using operators::Trait;
using tensor::Shape;

namespace {

/// The argument of that name of an operator of PyTorch, as a constant; null if it is none.
const tensor::Value* constantNamed(const Expr& expr, std::string_view name) {
    const auto constantOf = [](const Argument& argument) {
        return argument.kind == Argument::Kind::Constant ? &argument.constant : nullptr;
    };
    for (const auto& [keyword, argument] : expr.keywords)
        if (keyword == name) return constantOf(argument);
    const ops::OpDef* def = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
    if (!def) return nullptr;
    const auto at = std::ranges::find(def->parameters, name, &ops::Parameter::name) - def->parameters.begin();
    const auto index = static_cast<std::size_t>(at);
    return index < def->parameters.size() && index < expr.arguments.size() ? constantOf(expr.arguments[index])
                                                                           : nullptr;
}

std::int64_t groupsOf(const Expr& expr) {
    if (expr.op.domain != "aten") return expr.attributes.getInt("group", 1);
    const tensor::Value* groups = constantNamed(expr, "groups");
    return groups ? CallArguments::integer(*groups).value_or(1) : 1;
}

/// Nothing: the operator does not say.
std::optional<bool> isTransposed(const Expr& expr) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.opClass == OpClass::ConvTranspose) return true;
    if (traits.opClass != OpClass::Conv) return std::nullopt;
    if (!traits.is(Trait::MayTranspose)) return false;
    const tensor::Value* transposed = constantNamed(expr, "transposed");
    return transposed && transposed->isNumber() ? std::optional(transposed->number() != 0) : std::nullopt;
}

std::int64_t product(const Shape& shape, std::size_t begin) {
    std::int64_t count = 1;
    for (std::size_t axis = begin; axis < shape.rank(); ++axis) count *= shape[axis];
    return count;
}

std::optional<FilterLayout> ofConvolution(const Expr& expr, std::size_t index, const Shape& shape) {
    const WeightPosition position = weightPosition(expr, index);
    const bool isKernel =
        shape.rank() >= 3 && index > 0 && (position == WeightPosition::Weight || position == WeightPosition::Quantized);
    const std::optional<bool> transposed = isKernel ? isTransposed(expr) : std::nullopt;
    if (!transposed) return std::nullopt;
    const std::int64_t groups = groupsOf(expr);
    if (groups < 1 || shape[0] % groups != 0) return std::nullopt;
    if (!*transposed) return FilterLayout{groups, 1, shape[0] / groups, product(shape, 1)};
    return FilterLayout{groups, shape[0] / groups, shape[1], product(shape, 2)};
}

std::optional<FilterLayout> ofProduct(const Expr& expr, std::size_t index, const Shape& shape) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (shape.rank() != 2 || traits.packedBits > 0) return std::nullopt;
    // addmm of PyTorch has them behind what is added, Gemm before it.
    const std::size_t left = traits.opClass == OpClass::AddMatrixProduct && expr.op.domain == "aten" ? 1 : 0;
    const bool isRight = index > left;
    const bool isRows = traits.opClass == OpClass::Linear && expr.op.domain == "aten";
    const bool isFlipped = expr.attributes.getInt(isRight ? "transB" : "transA", 0) != 0;
    if (isRows || isRight == isFlipped) return FilterLayout{1, 1, shape[0], shape[1]};
    return FilterLayout{1, shape[0], shape[1], 1};
}

}  // namespace

std::optional<FilterLayout> filterLayout(const Expr& expr, std::size_t index, const Shape& shape) {
    if (shape.numel() == 0) return std::nullopt;
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.is(Trait::Convolves)) return ofConvolution(expr, index, shape);
    return traits.is(Trait::Multiplies) ? ofProduct(expr, index, shape) : std::nullopt;
}

FilterCollector::FilterCollector(const FilterLayout& layout)
    : m_layout(layout), m_hashes(static_cast<std::size_t>(layout.count()), 0x9e3779b97f4a7c15),
      m_largest(m_hashes.size(), 0.0F), m_isZero(m_hashes.size(), true) {}

void FilterCollector::add(std::span<const double> piece) {
    const std::int64_t inner = m_layout.inner, filters = m_layout.filters;
    std::size_t at = 0;
    while (at < piece.size()) {
        const std::int64_t row = m_at / inner;  // of [groups, outer, filters]
        const std::int64_t filter = row / filters / m_layout.outer * filters + row % filters;
        const auto run = std::min(static_cast<std::size_t>(inner - m_at % inner), piece.size() - at);
        const auto index = static_cast<std::size_t>(filter);
        std::uint64_t hash = m_hashes[index];
        double largest = m_largest[index];
        bool isZero = m_isZero[index];
        for (const double x : piece.subspan(at, run)) {
            hash = (hash ^ std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x)) * 0xff51afd7ed558ccd;  // both zeros are one
            hash ^= hash >> 32;
            largest = std::max(largest, std::abs(x));
            isZero = isZero && x == 0;
        }
        m_hashes[index] = hash;
        m_largest[index] = static_cast<float>(largest);
        m_isZero[index] = isZero;
        at += run;
        m_at += static_cast<std::int64_t>(run);
    }
}

bool FilterCollector::areEqual(const WeightReader& reader, std::size_t a, std::size_t b) const {
    const auto filters = static_cast<std::size_t>(m_layout.filters);
    std::vector<double> x(static_cast<std::size_t>(std::min<std::int64_t>(m_layout.inner, 4096))), y(x.size());
    const auto place = [&](std::size_t filter, std::int64_t outer) {
        const auto group = static_cast<std::int64_t>(filter / filters),
                   own = static_cast<std::int64_t>(filter % filters);
        return ((group * m_layout.outer + outer) * m_layout.filters + own) * m_layout.inner;
    };
    for (std::int64_t outer = 0; outer < m_layout.outer; ++outer)
        for (std::int64_t at = 0; at < m_layout.inner; at += static_cast<std::int64_t>(x.size())) {
            const auto count = std::min(x.size(), static_cast<std::size_t>(m_layout.inner - at));
            reader.read(place(a, outer) + at, std::span(x).first(count));
            reader.read(place(b, outer) + at, std::span(y).first(count));
            if (!std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count), y.begin())) return false;
        }
    return true;
}

FilterFigures FilterCollector::finish(const WeightReader& reader, const std::stop_token& stop) const {
    FilterFigures figures;
    figures.largest = m_largest;
    std::unordered_multimap<std::uint64_t, std::size_t> known;
    for (std::size_t i = 0; i < m_hashes.size() && !stop.stop_requested(); ++i) {
        if (m_isZero[i]) {
            figures.zero.push_back(i);
            continue;
        }
        // Filters of other groups read other channels.
        const auto groupOf = [this](std::size_t filter) { return filter / static_cast<std::size_t>(m_layout.filters); };
        const auto [begin, end] = known.equal_range(m_hashes[i]);
        const auto same = std::find_if(begin, end, [&](const auto& entry) {
            return groupOf(i) == groupOf(entry.second) && areEqual(reader, i, entry.second);
        });
        if (same != end) figures.duplicates.emplace_back(i, same->second);
        else known.emplace(m_hashes[i], i);
    }
    return figures;
}

}  // namespace sonde::analysis
