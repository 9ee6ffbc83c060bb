// What operators want of their input that keep its shape or make another of it.

#include <algorithm>

#include "core/analysis/demand/demands.h"
#include "core/operators/names.h"

namespace sonde::analysis::demand {

using graph::Argument;
using graph::Expr;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxAxis = static_cast<std::int64_t>(kHighestRank);
/// All extents but that of one axis, as far as it is sure which they are.
Demand except(const Demand& y, std::int64_t axis) {
    Demand x = y.rankShifted(0);
    const auto at = y.rank ? tensor::normalizedAxis(axis, *y.rank) : std::nullopt;
    const auto count = static_cast<std::int64_t>(y.rank ? *y.rank : axis < 0 ? y.back.size() : y.front.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t each = y.rank || axis >= 0 ? i : -1 - i;
        if (y.rank ? !at || *at != static_cast<std::size_t>(i) : each != axis) x.put(each, y.at(each));
    }
    return x;
}

/// x of a y that has lost `axes` of it (counted in x). A rank that is only usual makes its extents likely.
Demand beforeLosing(const Demand& y, const Ints& axes) {
    Demand x = y.rankShifted(static_cast<int>(axes.size()));
    Demand ranked = y;
    if (!ranked.rank && y.usualRank > 0) ranked.rank = y.usualRank;
    if (!ranked.rank) return x;
    const std::size_t rank = *ranked.rank + axes.size();
    std::vector<bool> isLost(rank, false);
    for (const std::int64_t axis : axes) {
        const auto at = tensor::normalizedAxis(axis, rank);
        if (!at || isLost[*at]) return x;
        isLost[*at] = true;
    }
    std::int64_t from = 0;
    for (std::size_t i = 0; i < rank; ++i) {
        if (isLost[i]) continue;
        const Extent extent = ranked.at(from++);
        x.put(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(y.rank ? 0 : rank),
              y.rank ? extent : extent.softened());
    }
    return x;
}

/// The number whose power is `product`; -1: there is none.
std::int64_t root(std::int64_t product, std::size_t power) {
    const auto raised = [&](std::int64_t base) {
        std::int64_t result = 1;
        for (std::size_t i = 0; i < power && result <= product; ++i) result *= base;
        return result;
    };
    std::int64_t low = 1, high = power == 1 ? product : std::int64_t{1} << 16;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (raised(middle) < product) low = middle + 1;
        else high = middle;
    }
    return raised(low) == product ? low : -1;
}

}  // namespace

bool Demands::collectShaped(const Expr& expr, const Traits& traits, const Demand& result) {
    if (collectCut(expr, traits, result)) return true;
    const Argument& x = expr.arguments.front();
    const OpClass opClass = traits.opClass;
    const bool hasNumber = expr.arguments.size() < 2 || m_facts.isNumber(expr.arguments[1]);
    const bool keepsInt = opClass == OpClass::Add || opClass == OpClass::Sub || opClass == OpClass::Mul;
    const bool keepsType = keepsInt && expr.arguments.size() > 1 && m_facts.integer(expr.arguments[1]);
    if (traits.is(Trait::KeepsShape) && traits.is(Trait::KeepsDType)) want(x, result);
    else if (keepsType) want(x, result);
    else if (traits.is(Trait::KeepsShape)) want(x, result.withoutType());
    else if (isOperation(traits) && hasNumber) want(x, result.withoutType());
    else if (isOperation(traits)) wantBroadcast(expr, result);
    else if (traits.is(Trait::KeepsChannels)) wantPooled(expr, traits, result);
    else if (opClass == OpClass::Concat) wantJoined(expr, result);
    else if (opClass == OpClass::Sum || opClass == OpClass::Mean || opClass == OpClass::Reduce)
        wantReduced(expr, result);
    else if (opClass == OpClass::Shape && operators::overloadOf(expr.op.name) == "int") wantExtent(expr);
    else if (opClass == OpClass::Shape) wantUnpacked(expr);
    else if (traits.is(Trait::KeepsRank)) want(x, result.rankShifted(0));
    else if (opClass == OpClass::BatchMatrixProduct) {
        Demand demand;
        demand.rank = 3;
        want(x, demand);
    } else return false;
    return true;
}

/// Views and copies in other shapes or of parts.
bool Demands::collectCut(const Expr& expr, const Traits& traits, const Demand& result) {
    switch (traits.form) {
        case ViewForm::Slice:
        case ViewForm::Narrow: wantSliced(expr, result); return true;
        case ViewForm::Select: wantSelected(expr, result); return true;
        case ViewForm::Permute: wantPermuted(expr, result); return true;
        case ViewForm::Transpose: wantTransposed(expr, result); return true;
        case ViewForm::Flatten: wantFlattened(expr, result); return true;
        case ViewForm::NewShape: wantViewed(expr, result); return true;
        case ViewForm::Unsqueeze: wantUnsqueezed(expr, result); return true;
        default: return false;
    }
}

/// size(x, i): there is such a dimension.
void Demands::wantExtent(const Expr& expr) {
    const auto axis = m_facts.integer(Facts::argument(expr, "dim"));
    if (!axis || *axis < -kMaxAxis || *axis >= kMaxAxis) return;
    Demand demand;
    demand.leastRank = static_cast<std::size_t>(*axis < 0 ? -*axis : *axis + 1);
    want(expr.arguments.front(), demand);
}

/// Neither side has more dimensions than the result. What a constant side does not stretch the other one has to bring.
void Demands::wantBroadcast(const Expr& expr, const Demand& result) {
    for (std::size_t i = 0; i < 2 && i < expr.arguments.size(); ++i) {
        if (const auto constant = m_facts.shapeOf(expr.arguments[1 - i])) {
            want(expr.arguments[i], broadcastOver(*constant, result));
            continue;
        }
        Demand demand;
        demand.mostRank = result.rank.value_or(result.mostRank);
        demand.usualRank = result.rank.value_or(result.usualRank);
        const auto count = static_cast<std::int64_t>(result.rank ? *result.rank : result.back.size());
        for (std::int64_t axis = -1; axis >= -count; --axis) demand.put(axis, result.at(axis).softened());
        want(expr.arguments[i], demand);
    }
}

/// The table of positions [1, T, C] tells how long its sequences are.
Demand Demands::broadcastOver(const Ints& constant, const Demand& result) const {
    Demand demand;
    if (result.rank && constant.size() < *result.rank) demand.rank = result.rank;
    demand.mostRank = result.rank.value_or(result.mostRank);
    demand.usualRank = std::max(result.usualRank, constant.size());
    const std::size_t count = std::max(result.rank ? *result.rank : result.back.size(), constant.size());
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t axis = -1 - static_cast<std::int64_t>(i);
        const std::int64_t extent = i < constant.size() ? constant[constant.size() - 1 - i] : 1;
        demand.put(axis, extent > 1 ? Extent::likely(extent, extent) : result.at(axis));
    }
    return demand;
}

/// Enlarging takes batches alone; pooling a single sample as well.
void Demands::wantPooled(const Expr& expr, const Traits& traits, const Demand& result) {
    const std::size_t axes = traits.spatialDims;
    Demand demand;
    demand.dtype = result.dtype;
    demand.rank = traits.opClass == OpClass::Resample ? std::optional(axes + 2) : result.rank;
    demand.usualRank = axes + 2;
    for (std::int64_t i = 0; demand.rank && i < 2; ++i) demand.put(i, result.at(i));
    if (traits.is(Trait::SlidesWindow)) {
        const Ints kernel = m_facts.integersFor(Facts::argument(expr, "kernel_size"), axes);
        Ints stride = m_facts.integersFor(Facts::argument(expr, "stride"), axes);
        const Ints padding = m_facts.integersFor(Facts::argument(expr, "padding"), axes);
        const Ints dilation = m_facts.integersFor(Facts::argument(expr, "dilation"), axes);
        if (stride.empty()) stride = kernel;
        for (std::size_t i = 0; i < axes && !kernel.empty() && !padding.empty(); ++i) {
            const std::int64_t axis = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(axes);
            demand.put(axis, beforeWindow(result.at(axis),
                                          {kernel[i], stride[i], padding[i], dilation.empty() ? 1 : dilation[i]}));
        }
    }
    want(expr.arguments.front(), demand);
}

void Demands::wantPermuted(const Expr& expr, const Demand& result) {
    const Ints order = m_facts.integers(Facts::argument(expr, "dims"));
    if (order.empty()) return;
    Demand demand, ranked = result;
    demand.dtype = result.dtype;
    demand.rank = ranked.rank = order.size();
    for (std::size_t i = 0; i < order.size(); ++i)
        demand.put(std::clamp(order[i], -kMaxAxis - 1, kMaxAxis), ranked.at(static_cast<std::int64_t>(i)));
    want(expr.arguments.front(), demand);
}

void Demands::wantTransposed(const Expr& expr, const Demand& result) {
    const auto a = m_facts.integer(Facts::argument(expr, "dim0")), b = m_facts.integer(Facts::argument(expr, "dim1"));
    Demand demand = result.rankShifted(0), ranked = result;
    if (!ranked.rank) ranked.rank = m_facts.rankOf(expr.arguments.front());
    if (ranked.rank && a && b) {
        std::vector<Extent> extents = ranked.extents();
        const auto one = tensor::normalizedAxis(*a, extents.size()), other = tensor::normalizedAxis(*b, extents.size());
        if (!one || !other) return;
        std::swap(extents[*one], extents[*other]);
        for (std::size_t i = 0; i < extents.size(); ++i) demand.put(static_cast<std::int64_t>(i), extents[i]);
    }
    want(expr.arguments.front(), demand);
}

/// What is joined with something known brings the rest: patches beside a class token.
void Demands::wantJoined(const Expr& expr, const Demand& result) {
    const std::vector<Argument>& items = expr.arguments.front().items;
    const auto dim = m_facts.integer(Facts::argument(expr, "dim"));
    Demand ranked = result;
    for (std::size_t i = 0; i < items.size() && !ranked.rank; ++i) ranked.rank = m_facts.rankOf(items[i]);
    Demand demand;
    demand.rank = ranked.rank;
    if (!dim || *dim < -kMaxAxis || *dim >= kMaxAxis) {
        for (const Argument& item : items) want(item, demand);
        return;
    }
    demand = except(ranked.withoutType(), *dim);
    std::int64_t rest = ranked.at(*dim).number();
    std::size_t open = items.size(), opens = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::int64_t extent = m_facts.extentOf(items[i], *dim);
        rest -= std::clamp<std::int64_t>(extent, 0, kMaxExtent);
        if (extent < 0) {
            open = i;
            ++opens;
        }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        Demand each = demand;
        if (i == open && opens == 1 && rest > 0) each.put(*dim, Extent::likely(rest, rest));
        want(items[i], each);
    }
}

/// flatten(x, 1) of feature maps [N, C, H, W] before a linear layer, flatten(x, 2) of patches.
void Demands::wantFlattened(const Expr& expr, const Demand& result) {
    const auto start = m_facts.integer(Facts::argument(expr, "start_dim")),
               end = m_facts.integer(Facts::argument(expr, "end_dim"));
    Demand demand;
    demand.dtype = result.dtype;
    if (start && *start >= 0 && *start < kMaxAxis) demand.leastRank = static_cast<std::size_t>(*start + 1);
    want(expr.arguments.front(), demand);
    if (!start || *start < 1 || *start >= kMaxAxis || end != -1) return;
    Demand ranked = result;
    ranked.rank = static_cast<std::size_t>(*start + 1);
    std::int64_t features = ranked.at(-1).number();
    for (std::int64_t axis = 1; axis < *start; ++axis) {
        const std::int64_t extent = m_facts.extentOf(expr.arguments.front(), axis);
        if (extent <= 0 || extent > kMaxExtent || features > kMaxExtent) return;
        features *= extent;
    }
    wantReshaped(expr.arguments.front(), features, *ranked.rank);
}

/// x.view(x.size(0), -1), x.reshape(n, 64, h * w)
void Demands::wantViewed(const Expr& expr, const Demand& result) {
    const Argument& x = expr.arguments.front();
    Demand demand;
    demand.dtype = result.dtype;
    want(x, demand);
    if (expr.arguments.size() < 2) return;
    std::vector<std::optional<std::int64_t>> sizes;
    for (const Argument& item : expr.arguments[1].items) sizes.push_back(m_facts.integer(item));
    if (expr.arguments[1].items.empty()) {
        for (const std::int64_t size : m_facts.integers(expr.arguments[1])) sizes.emplace_back(size);
    }
    if (sizes.size() < 2 || sizes.size() > kHighestRank || sizes.front().value_or(1) > 1)
        return;  // the first is the batch
    Demand ranked = result;
    ranked.rank = sizes.size();
    std::int64_t features = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        const std::int64_t size =
            sizes[i].value_or(-1) > 0 ? *sizes[i] : ranked.at(static_cast<std::int64_t>(i)).number();
        if (size <= 0 || size > kMaxExtent || features > kMaxExtent) return;
        features *= size;
    }
    wantReshaped(x, features, sizes.size());
}

/// Feature maps of known channels are as high as wide; a row of features is taken for what it is.
void Demands::wantReshaped(const Argument& x, std::int64_t features, std::size_t rank) {
    if (features <= 0 || features > (std::int64_t{1} << 40)) return;
    const std::optional<std::size_t> from = m_facts.rankOf(x);
    Demand demand;
    if (from && *from > 2) {
        const std::int64_t channels = m_facts.extentOf(x, 1);
        if (channels <= 0 || features % channels != 0 || m_facts.extentOf(x, 2) >= 0) return;
        const std::int64_t side = root(features / channels, *from - 2);
        demand.rank = from;
        for (std::size_t i = 2; i < *from && side > 0; ++i)
            demand.put(static_cast<std::int64_t>(i), Extent::likely(side, side));
    } else if (rank == 2 || from) {
        demand.usualRank = 2;
        demand.put(-1, Extent::likely(features, features));
    }
    want(x, demand);
}

/// slice(x, dim, start, end), narrow(x, dim, start, length): there must be elements to take.
void Demands::wantSliced(const Expr& expr, const Demand& result) {
    const auto dim = m_facts.integer(Facts::argument(expr, "dim")),
               start = m_facts.integer(Facts::argument(expr, "start"));
    const std::int64_t length = m_facts.integer(Facts::argument(expr, "length")).value_or(1);
    if (!dim || *dim < -kMaxAxis || *dim >= kMaxAxis) return want(expr.arguments.front(), result.rankShifted(0));
    Demand demand = except(result, *dim);
    Extent extent;
    const std::int64_t first = start.value_or(0);
    if (first >= 0 && first <= kMaxExtent && length > 0 && length <= kMaxExtent)
        extent.least = first + std::max(length, std::min(result.at(*dim).least, kMaxExtent));
    demand.put(*dim, extent);
    demand.leastRank = std::max(demand.leastRank, static_cast<std::size_t>(*dim < 0 ? -*dim : *dim + 1));
    want(expr.arguments.front(), demand);
}

void Demands::wantSelected(const Expr& expr, const Demand& result) {
    const auto dim = m_facts.integer(Facts::argument(expr, "dim")),
               at = m_facts.integer(Facts::argument(expr, "index"));
    if (!dim || *dim < -kMaxAxis || *dim >= kMaxAxis) return want(expr.arguments.front(), result.rankShifted(1));
    Demand demand = beforeLosing(result, {*dim});
    Extent extent;
    if (at && *at >= 0 && *at <= kMaxExtent) extent.least = *at + 1;
    demand.put(*dim, extent);
    demand.leastRank = std::max(demand.leastRank, static_cast<std::size_t>(*dim < 0 ? -*dim : *dim + 1));
    want(expr.arguments.front(), demand);
}

void Demands::wantUnsqueezed(const Expr& expr, const Demand& result) {
    Demand demand = result.rankShifted(-1);
    const auto dim = m_facts.integer(Facts::argument(expr, "dim"));
    const auto at = dim && result.rank ? tensor::normalizedAxis(*dim, *result.rank) : std::nullopt;
    for (std::size_t i = 0, to = 0; at && i < *result.rank; ++i) {
        if (i != *at) demand.put(static_cast<std::int64_t>(to++), result.at(static_cast<std::int64_t>(i)));
    }
    want(expr.arguments.front(), demand);
}

/// mean(x, [2, 3])
void Demands::wantReduced(const Expr& expr, const Demand& result) {
    const Argument& dim = Facts::argument(expr, "dim");
    Ints axes = m_facts.integers(dim);
    if (const auto one = m_facts.integer(dim)) axes = {*one};
    if (axes.empty() || axes.size() > kHighestRank) return;
    const Value keeps = m_facts.valueOf(Facts::argument(expr, "keepdim"));
    const bool keepsAxes = keeps.isNumber() && keeps.number() != 0;
    Demand demand = keepsAxes ? result.rankShifted(0) : beforeLosing(result, axes);
    demand.dtype = tensor::DType::Undefined;
    for (const std::int64_t axis : axes) {
        if (axis >= -kMaxAxis && axis < kMaxAxis)
            demand.leastRank = std::max(demand.leastRank, static_cast<std::size_t>(axis < 0 ? -axis : axis + 1));
    }
    want(expr.arguments.front(), demand);
}

}  // namespace sonde::analysis::demand
