#include "core/analysis/findings/stored_weights.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <set>
#include <tuple>

#include "core/analysis/weights/filters.h"

namespace sonde::analysis {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
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

void readFilters(StoredWeight& weight, const FilterLayout& layout, const Tensor& stored, const std::stop_token& stop) {
    const WeightReader reader(stored);
    FilterCollector collector(layout);
    reader.forEachPiece(stop, [&collector](std::span<const double> piece, std::int64_t) { collector.add(piece); });
    FilterFigures figures = collector.finish(reader, stop);
    weight.isKernel = true;
    weight.fanIn = layout.fanIn();
    weight.largest = std::move(figures.largest);
    weight.zeroFilters = std::move(figures.zero);
    weight.duplicates = std::move(figures.duplicates);
}

/// Nothing if it cannot be read.
std::optional<StoredWeight> readWeight(const InternalGraph& graph, ExprId reader, std::size_t index,
                                       const Argument& argument, WeightPosition position, const std::stop_token& stop) {
    const Tensor& stored = graph.node(argument.node).constant->tensor();
    StoredWeight weight{argument.node, reader, index, position, stored.dtype(), stored.shape()};
    const auto floats = stored.cast(DType::Float32);
    if (!floats) return std::nullopt;
    const auto whole = floats->contiguous();
    if (!whole) return std::nullopt;
    readFigures(weight, whole->span<float>());
    const std::optional<FilterLayout> layout = filterLayout(graph.expr(reader), index, stored.shape());
    if (layout) readFilters(weight, *layout, stored, stop);
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
        if (auto weight = readWeight(graph, id, index, argument, position, work.stop))
            weights.push_back(std::move(*weight));
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
