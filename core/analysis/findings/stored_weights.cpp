#include "core/analysis/findings/stored_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "core/analysis/findings/observed_values.h"
#include "core/analysis/weights/filters.h"
#include "core/graph/traits.h"

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

/// Adds elements up, piece by piece.
class FigureCollector {
  public:
    explicit FigureCollector(StoredWeight& weight) : m_weight(weight), m_normal(smallestNormal(weight.dtype)) {}

    void add(std::span<const double> piece) {
        for (const double x : piece) {
            if (!std::isfinite(x)) {
                ++(std::isnan(x) ? m_weight.nan : m_weight.inf);
                continue;
            }
            m_weight.zero += x == 0 ? 1 : 0;
            m_weight.denormal += x != 0 && std::abs(x) < m_normal ? 1 : 0;
            m_minimum = std::min(m_minimum, x);
            m_maximum = std::max(m_maximum, x);
            m_squares += x * x;
        }
        m_weight.count += static_cast<std::int64_t>(piece.size());
    }
    void finish() {
        const std::int64_t finite = m_weight.count - m_weight.nan - m_weight.inf;
        if (finite == 0) return;
        m_weight.minimum = m_minimum;
        m_weight.maximum = m_maximum;
        m_weight.rms = std::sqrt(m_squares / static_cast<double>(finite));
    }

  private:
    StoredWeight& m_weight;
    double m_normal;
    double m_minimum = INFINITY, m_maximum = -INFINITY, m_squares = 0;
};

/// Where a stored tensor is read: at the input of the operation, or behind the cast that this is (weights in float16
/// that are computed with in float32).
struct ReadAt {
    ExprId expr;
    std::size_t index;
    WeightPosition position;
};
std::optional<ReadAt> behindCasts(const InternalGraph& graph, ExprId id, std::size_t index, std::string_view keyword) {
    constexpr int kMaxCasts = 8;
    for (int casts = 0; casts <= kMaxCasts; ++casts) {
        const Expr& expr = graph.expr(id);
        const WeightPosition position = weightPosition(expr, index, keyword);
        const bool isCast = graph::traitsOf(expr).opClass == operators::OpClass::Cast && index == 0;
        if (!isCast || expr.outputs.size() != 1) return ReadAt{id, index, position};
        const graph::NodeId cast = expr.outputs.front();
        const Expr* reader = nullptr;
        for (const ExprId user : graph.node(cast).users) {
            const auto& arguments = graph.expr(user).arguments;
            const auto at = std::ranges::find_if(arguments, [cast](const Argument& argument) {
                return argument.kind == Argument::Kind::Node && argument.node == cast;
            });
            if (at == arguments.end()) continue;
            reader = &graph.expr(user);
            index = static_cast<std::size_t>(at - arguments.begin());
            break;
        }
        if (!reader) return std::nullopt;
        id = reader->id;
        keyword = {};
    }
    return std::nullopt;
}

StoredWeight readWeight(const InternalGraph& graph, ExprId expr, std::size_t index, const Argument& argument,
                        WeightPosition position, const std::stop_token& stop) {
    const Tensor& stored = graph.node(argument.node).constant->tensor();
    StoredWeight weight{argument.node, expr, index, position, stored.dtype(), stored.shape()};
    const std::optional<FilterLayout> layout = filterLayout(graph.expr(expr), index, stored.shape());
    const WeightReader reader(stored);
    FigureCollector all(weight);
    std::optional<FilterCollector> filters;
    if (layout) filters.emplace(*layout);
    reader.forEachPiece(stop, [&](std::span<const double> piece, std::int64_t) {
        all.add(piece);
        if (filters) filters->add(piece);
    });
    all.finish();
    if (!filters) return weight;
    FilterFigures figures = filters->finish(reader, stop);
    weight.isKernel = true;
    weight.fanIn = layout->fanIn();
    weight.largest = std::move(figures.largest);
    weight.zeroFilters = std::move(figures.zero);
    weight.duplicates = std::move(figures.duplicates);
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
        const auto read = behindCasts(graph, id, index, keyword);
        if (!read || !isWeightPosition(read->position)) return;
        if (!known.emplace(tensor.storage().get(), tensor.offsetElements(), tensor.numel()).second) return;
        weights.push_back(readWeight(graph, read->expr, read->index, argument, read->position, work.stop));
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
