#include "core/analysis/findings/stored_weights.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/graph/traits.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using operators::OpClass;
using operators::Trait;
using tensor::DType;
using tensor::Tensor;

namespace {

bool isWeightPosition(WeightPosition position) {
    return position == WeightPosition::Weight || position == WeightPosition::Embedding ||
           position == WeightPosition::Statistic || position == WeightPosition::Affine;
}

bool isRead(DType dtype) {
    return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

/// The dimension of a kernel that its filters are counted by; nothing if that is not known, or it is no kernel.
std::optional<std::size_t> filterAxis(const Expr& expr, std::size_t index, const Tensor& tensor) {
    const operators::Traits& traits = graph::traitsOf(expr);
    if (traits.is(Trait::Convolves)) {
        const bool isKernel = index == 1 && tensor.rank() >= 3;
        // Transposed ones have their filters in dimension 1, and aten's convolution says so by an argument.
        if (!isKernel || traits.opClass != OpClass::Conv || traits.is(Trait::MayTranspose)) return std::nullopt;
        return 0;
    }
    if (!traits.is(Trait::Multiplies) || tensor.rank() != 2) return std::nullopt;
    if (traits.opClass == OpClass::Linear && expr.op.domain == "aten") return 0;
    const bool isRight = index > 0;
    const bool isTransposed = expr.attributes.getInt(isRight ? "transB" : "transA", 0) != 0;
    return isRight == isTransposed ? 0 : 1;
}

std::uint64_t hashOfRow(std::span<const float> row) {
    std::uint64_t hash = 0x9e3779b97f4a7c15;
    for (const float x : row) {
        std::uint32_t bits = 0;
        const float one = x == 0 ? 0.0F : x;  // both zeros are one
        std::memcpy(&bits, &one, sizeof bits);
        hash = (hash ^ bits) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32;
    }
    return hash;
}

void readFigures(StoredWeight& weight, std::span<const float> elements) {
    double minimum = INFINITY, maximum = -INFINITY, squares = 0;
    for (const float x : elements) {
        if (!std::isfinite(x)) {
            ++(std::isnan(x) ? weight.nan : weight.inf);
            continue;
        }
        weight.zero += x == 0 ? 1 : 0;
        weight.denormal += x != 0 && std::abs(x) < FLT_MIN ? 1 : 0;
        minimum = std::min(minimum, static_cast<double>(x));
        maximum = std::max(maximum, static_cast<double>(x));
        squares += static_cast<double>(x) * x;
    }
    weight.count = static_cast<std::int64_t>(elements.size());
    const std::int64_t finite = weight.count - weight.nan - weight.inf;
    if (finite == 0) return;
    weight.minimum = minimum;
    weight.maximum = maximum;
    weight.rms = std::sqrt(squares / static_cast<double>(finite));
}

/// `kernel` [filters, fanIn].
void readFilters(StoredWeight& weight, std::span<const float> kernel, std::size_t filters) {
    const std::size_t size = kernel.size() / filters;
    weight.isKernel = true;
    weight.fanIn = static_cast<std::int64_t>(size);
    std::unordered_multimap<std::uint64_t, std::size_t> known;
    for (std::size_t i = 0; i < filters; ++i) {
        const auto row = kernel.subspan(i * size, size);
        float largest = 0;
        for (const float x : row) largest = std::max(largest, std::abs(x));
        weight.largest.push_back(largest);
        if (std::ranges::all_of(row, [](float x) { return x == 0; })) {
            weight.zeroFilters.push_back(i);
            continue;
        }
        const std::uint64_t hash = hashOfRow(row);
        const auto [begin, end] = known.equal_range(hash);
        const auto same = std::find_if(begin, end, [&](const auto& entry) {
            return std::ranges::equal(kernel.subspan(entry.second * size, size), row);
        });
        if (same != end) weight.duplicates.emplace_back(i, same->second);
        else known.emplace(hash, i);
    }
}

/// Nothing if it cannot be read.
std::optional<StoredWeight> readWeight(const InternalGraph& graph, ExprId reader, std::size_t index,
                                       const Argument& argument, WeightPosition position) {
    const Tensor& stored = graph.node(argument.node).constant->tensor();
    StoredWeight weight{argument.node, reader, index, position, stored.dtype(), stored.shape()};
    const std::optional<std::size_t> axis = filterAxis(graph.expr(reader), index, stored);
    Tensor ordered = stored;
    if (axis == std::size_t{1}) ordered = stored.transposed(0, 1);
    const auto floats = ordered.cast(DType::Float32);
    if (!floats) return std::nullopt;
    const auto whole = floats->contiguous();
    if (!whole) return std::nullopt;
    readFigures(weight, whole->span<float>());
    const bool hasFilters = axis && whole->numel() > 0;
    if (hasFilters) readFilters(weight, whole->span<float>(), static_cast<std::size_t>(whole->shape()[0]));
    return weight;
}

}  // namespace

double StoredWeight::magnitude() const { return std::max(std::abs(minimum), std::abs(maximum)); }

std::vector<StoredWeight> storedWeights(const InternalGraph& graph, const base::WorkContext& work) {
    std::vector<StoredWeight> weights;
    std::set<std::tuple<const tensor::Storage*, std::int64_t, std::int64_t>> known;
    const auto take = [&](ExprId id, std::size_t index, const Argument& argument, std::string_view keyword) {
        if (argument.kind != Argument::Kind::Node) return;
        const auto& constant = graph.node(argument.node).constant;
        if (!constant || !constant->isTensor() || !isRead(constant->tensor().dtype())) return;
        const Tensor& tensor = constant->tensor();
        if (!tensor.defined() || tensor.numel() == 0) return;
        const WeightPosition position = weightPosition(graph.expr(id), index, keyword);
        if (!isWeightPosition(position)) return;
        if (!known.emplace(tensor.storage().get(), tensor.offsetElements(), tensor.numel()).second) return;
        if (auto weight = readWeight(graph, id, index, argument, position)) weights.push_back(std::move(*weight));
    };
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (work.cancelled()) break;
        const Expr& expr = graph.expr(id);
        if (isStored(expr) || expr.op.name.empty()) continue;
        for (std::size_t i = 0; i < expr.arguments.size(); ++i) take(id, i, expr.arguments[i], {});
        for (const auto& [keyword, argument] : expr.keywords) take(id, expr.arguments.size(), argument, keyword);
    }
    return weights;
}

}  // namespace sonde::analysis
