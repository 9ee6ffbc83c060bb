// What operators want of their input that keep its shape or make another of it.

#include <algorithm>

#include "core/analysis/requirements/requirements.h"
#include "core/operators/names.h"

namespace sonde::analysis::requirement {

using graph::Argument;
using graph::Expr;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxAxis = static_cast<std::int64_t>(kHighestRank);
/// All dimensions but that of one axis, as far as it is sure which they are.
Requirement except(const Requirement& y, std::int64_t axis) {
    Requirement x = y.rankShifted(0);
    const auto at = y.rank ? tensor::normalizedAxis(axis, *y.rank) : std::nullopt;
    const auto count = static_cast<std::int64_t>(y.rank ? *y.rank : axis < 0 ? y.back.size() : y.front.size());
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t each = y.rank || axis >= 0 ? i : -1 - i;
        if (y.rank ? !at || *at != static_cast<std::size_t>(i) : each != axis) x.put(each, y.at(each));
    }
    return x;
}

/// x of a y that has lost `axes` of it (counted in x). A rank that is only usual makes its dimensions likely.
Requirement beforeLosing(const Requirement& y, const Ints& axes) {
    Requirement x = y.rankShifted(static_cast<int>(axes.size()));
    Requirement ranked = y;
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
        const DimSize dimSize = ranked.at(from++);
        x.put(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(y.rank ? 0 : rank),
              y.rank ? dimSize : dimSize.softened());
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

bool Requirements::collectShaped(const Expr& expr, const Traits& traits, const Requirement& result) {
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
    else if (opClass == OpClass::Shape && operators::overloadOf(expr.op.name) == "int") wantDimSize(expr);
    else if (opClass == OpClass::Shape) wantUnpacked(expr);
    else if (traits.is(Trait::KeepsRank)) want(x, result.rankShifted(0));
    else if (opClass == OpClass::BatchMatrixProduct) {
        Requirement requirement;
        requirement.rank = 3;
        want(x, requirement);
    } else return false;
    return true;
}

/// Views and copies in other shapes or of parts.
bool Requirements::collectCut(const Expr& expr, const Traits& traits, const Requirement& result) {
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
void Requirements::wantDimSize(const Expr& expr) {
    const auto axis = m_facts.integer(Facts::argument(expr, "dim"));
    if (!axis || *axis < -kMaxAxis || *axis >= kMaxAxis) return;
    Requirement requirement;
    requirement.leastRank = static_cast<std::size_t>(*axis < 0 ? -*axis : *axis + 1);
    want(expr.arguments.front(), requirement);
}

/// Neither side has more dimensions than the result. What a constant side does not stretch the other one has to bring.
void Requirements::wantBroadcast(const Expr& expr, const Requirement& result) {
    for (std::size_t i = 0; i < 2 && i < expr.arguments.size(); ++i) {
        if (const auto constant = m_facts.shapeOf(expr.arguments[1 - i])) {
            want(expr.arguments[i], broadcastOver(*constant, result));
            continue;
        }
        Requirement requirement;
        requirement.mostRank = result.rank.value_or(result.mostRank);
        requirement.usualRank = result.rank.value_or(result.usualRank);
        const auto count = static_cast<std::int64_t>(result.rank ? *result.rank : result.back.size());
        for (std::int64_t axis = -1; axis >= -count; --axis) requirement.put(axis, result.at(axis).softened());
        want(expr.arguments[i], requirement);
    }
}

/// The table of positions [1, T, C] tells how long its sequences are.
Requirement Requirements::broadcastOver(const Ints& constant, const Requirement& result) const {
    Requirement requirement;
    if (result.rank && constant.size() < *result.rank) requirement.rank = result.rank;
    requirement.mostRank = result.rank.value_or(result.mostRank);
    requirement.usualRank = std::max(result.usualRank, constant.size());
    const std::size_t count = std::max(result.rank ? *result.rank : result.back.size(), constant.size());
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t axis = -1 - static_cast<std::int64_t>(i);
        const std::int64_t dimSize = i < constant.size() ? constant[constant.size() - 1 - i] : 1;
        requirement.put(axis, dimSize > 1 ? DimSize::likely(dimSize, dimSize) : result.at(axis));
    }
    return requirement;
}

/// Enlarging takes batches alone; pooling a single sample as well.
void Requirements::wantPooled(const Expr& expr, const Traits& traits, const Requirement& result) {
    const std::size_t axes = traits.spatialDims;
    Requirement requirement;
    requirement.dtype = result.dtype;
    requirement.rank = traits.opClass == OpClass::Resample ? std::optional(axes + 2) : result.rank;
    requirement.usualRank = axes + 2;
    for (std::int64_t i = 0; requirement.rank && i < 2; ++i) requirement.put(i, result.at(i));
    if (traits.is(Trait::SlidesWindow)) {
        const Ints kernel = m_facts.integersFor(Facts::argument(expr, "kernel_size"), axes);
        Ints stride = m_facts.integersFor(Facts::argument(expr, "stride"), axes);
        const Ints padding = m_facts.integersFor(Facts::argument(expr, "padding"), axes);
        const Ints dilation = m_facts.integersFor(Facts::argument(expr, "dilation"), axes);
        if (stride.empty()) stride = kernel;
        for (std::size_t i = 0; i < axes && !kernel.empty() && !padding.empty(); ++i) {
            const std::int64_t axis = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(axes);
            requirement.put(axis, beforeWindow(result.at(axis),
                                               {kernel[i], stride[i], padding[i], dilation.empty() ? 1 : dilation[i]}));
        }
    }
    want(expr.arguments.front(), requirement);
}

void Requirements::wantPermuted(const Expr& expr, const Requirement& result) {
    const Ints order = m_facts.integers(Facts::argument(expr, "dims"));
    if (order.empty()) return;
    Requirement requirement, ranked = result;
    requirement.dtype = result.dtype;
    requirement.rank = ranked.rank = order.size();
    for (std::size_t i = 0; i < order.size(); ++i)
        requirement.put(std::clamp(order[i], -kMaxAxis - 1, kMaxAxis), ranked.at(static_cast<std::int64_t>(i)));
    want(expr.arguments.front(), requirement);
}

void Requirements::wantTransposed(const Expr& expr, const Requirement& result) {
    const auto a = m_facts.integer(Facts::argument(expr, "dim0")), b = m_facts.integer(Facts::argument(expr, "dim1"));
    Requirement requirement = result.rankShifted(0), ranked = result;
    if (!ranked.rank) ranked.rank = m_facts.rankOf(expr.arguments.front());
    if (ranked.rank && a && b) {
        std::vector<DimSize> dimSizes = ranked.dimSizes();
        const auto one = tensor::normalizedAxis(*a, dimSizes.size()),
                   other = tensor::normalizedAxis(*b, dimSizes.size());
        if (!one || !other) return;
        std::swap(dimSizes[*one], dimSizes[*other]);
        for (std::size_t i = 0; i < dimSizes.size(); ++i) requirement.put(static_cast<std::int64_t>(i), dimSizes[i]);
    }
    want(expr.arguments.front(), requirement);
}

/// What is joined with something known brings the rest: patches beside a class token.
void Requirements::wantJoined(const Expr& expr, const Requirement& result) {
    const std::vector<Argument>& items = expr.arguments.front().items;
    const auto dim = m_facts.integer(Facts::argument(expr, "dim"));
    Requirement ranked = result;
    for (std::size_t i = 0; i < items.size() && !ranked.rank; ++i) ranked.rank = m_facts.rankOf(items[i]);
    Requirement requirement;
    requirement.rank = ranked.rank;
    if (!dim || *dim < -kMaxAxis || *dim >= kMaxAxis) {
        for (const Argument& item : items) want(item, requirement);
        return;
    }
    requirement = except(ranked.withoutType(), *dim);
    std::int64_t rest = ranked.at(*dim).number();
    std::size_t open = items.size(), opens = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::int64_t dimSize = m_facts.dimSizeOf(items[i], *dim);
        rest -= std::clamp<std::int64_t>(dimSize, 0, kMaxDimSize);
        if (dimSize < 0) {
            open = i;
            ++opens;
        }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        Requirement each = requirement;
        if (i == open && opens == 1 && rest > 0) each.put(*dim, DimSize::likely(rest, rest));
        want(items[i], each);
    }
}

/// flatten(x, 1) of feature maps [N, C, H, W] before a linear layer, flatten(x, 2) of patches.
void Requirements::wantFlattened(const Expr& expr, const Requirement& result) {
    const auto start = m_facts.integer(Facts::argument(expr, "start_dim")),
               end = m_facts.integer(Facts::argument(expr, "end_dim"));
    Requirement requirement;
    requirement.dtype = result.dtype;
    if (start && *start >= 0 && *start < kMaxAxis) requirement.leastRank = static_cast<std::size_t>(*start + 1);
    want(expr.arguments.front(), requirement);
    if (!start || *start < 1 || *start >= kMaxAxis || end != -1) return;
    Requirement ranked = result;
    ranked.rank = static_cast<std::size_t>(*start + 1);
    std::int64_t features = ranked.at(-1).number();
    for (std::int64_t axis = 1; axis < *start; ++axis) {
        const std::int64_t dimSize = m_facts.dimSizeOf(expr.arguments.front(), axis);
        if (dimSize <= 0 || dimSize > kMaxDimSize || features > kMaxDimSize) return;
        features *= dimSize;
    }
    wantReshaped(expr.arguments.front(), features, *ranked.rank);
}

/// x.view(x.size(0), -1), x.reshape(n, 64, h * w)
void Requirements::wantViewed(const Expr& expr, const Requirement& result) {
    const Argument& x = expr.arguments.front();
    Requirement requirement;
    requirement.dtype = result.dtype;
    want(x, requirement);
    if (expr.arguments.size() < 2) return;
    std::vector<std::optional<std::int64_t>> sizes;
    for (const Argument& item : expr.arguments[1].items) sizes.push_back(m_facts.integer(item));
    if (expr.arguments[1].items.empty()) {
        for (const std::int64_t size : m_facts.integers(expr.arguments[1])) sizes.emplace_back(size);
    }
    if (sizes.size() < 2 || sizes.size() > kHighestRank || sizes.front().value_or(1) > 1)
        return;  // the first is the batch
    Requirement ranked = result;
    ranked.rank = sizes.size();
    std::int64_t features = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        const std::int64_t size =
            sizes[i].value_or(-1) > 0 ? *sizes[i] : ranked.at(static_cast<std::int64_t>(i)).number();
        if (size <= 0 || size > kMaxDimSize || features > kMaxDimSize) return;
        features *= size;
    }
    wantReshaped(x, features, sizes.size());
}

/// Feature maps of known channels are as high as wide; a row of features is taken for what it is.
void Requirements::wantReshaped(const Argument& x, std::int64_t features, std::size_t rank) {
    if (features <= 0 || features > (std::int64_t{1} << 40)) return;
    const std::optional<std::size_t> from = m_facts.rankOf(x);
    Requirement requirement;
    if (from && *from > 2) {
        const std::int64_t channels = m_facts.dimSizeOf(x, 1);
        if (channels <= 0 || features % channels != 0 || m_facts.dimSizeOf(x, 2) >= 0) return;
        const std::int64_t side = root(features / channels, *from - 2);
        requirement.rank = from;
        for (std::size_t i = 2; i < *from && side > 0; ++i)
            requirement.put(static_cast<std::int64_t>(i), DimSize::likely(side, side));
    } else if (rank == 2 || from) {
        requirement.usualRank = 2;
        requirement.put(-1, DimSize::likely(features, features));
    }
    want(x, requirement);
}

/// slice(x, dim, start, end), narrow(x, dim, start, length): there must be elements to take.
void Requirements::wantSliced(const Expr& expr, const Requirement& result) {
    const auto dim = m_facts.integer(Facts::argument(expr, "dim")),
               start = m_facts.integer(Facts::argument(expr, "start"));
    const std::int64_t length = m_facts.integer(Facts::argument(expr, "length")).value_or(1);
    if (!dim || *dim < -kMaxAxis || *dim >= kMaxAxis) return want(expr.arguments.front(), result.rankShifted(0));
    Requirement requirement = except(result, *dim);
    DimSize dimSize;
    const std::int64_t first = start.value_or(0);
    if (first >= 0 && first <= kMaxDimSize && length > 0 && length <= kMaxDimSize)
        dimSize.least = first + std::max(length, std::min(result.at(*dim).least, kMaxDimSize));
    requirement.put(*dim, dimSize);
    requirement.leastRank = std::max(requirement.leastRank, static_cast<std::size_t>(*dim < 0 ? -*dim : *dim + 1));
    want(expr.arguments.front(), requirement);
}

void Requirements::wantSelected(const Expr& expr, const Requirement& result) {
    const auto dim = m_facts.integer(Facts::argument(expr, "dim")),
               at = m_facts.integer(Facts::argument(expr, "index"));
    if (!dim || *dim < -kMaxAxis || *dim >= kMaxAxis) return want(expr.arguments.front(), result.rankShifted(1));
    Requirement requirement = beforeLosing(result, {*dim});
    DimSize dimSize;
    if (at && *at >= 0 && *at <= kMaxDimSize) dimSize.least = *at + 1;
    requirement.put(*dim, dimSize);
    requirement.leastRank = std::max(requirement.leastRank, static_cast<std::size_t>(*dim < 0 ? -*dim : *dim + 1));
    want(expr.arguments.front(), requirement);
}

void Requirements::wantUnsqueezed(const Expr& expr, const Requirement& result) {
    Requirement requirement = result.rankShifted(-1);
    const auto dim = m_facts.integer(Facts::argument(expr, "dim"));
    const auto at = dim && result.rank ? tensor::normalizedAxis(*dim, *result.rank) : std::nullopt;
    for (std::size_t i = 0, to = 0; at && i < *result.rank; ++i) {
        if (i != *at) requirement.put(static_cast<std::int64_t>(to++), result.at(static_cast<std::int64_t>(i)));
    }
    want(expr.arguments.front(), requirement);
}

/// mean(x, [2, 3])
void Requirements::wantReduced(const Expr& expr, const Requirement& result) {
    const Argument& dim = Facts::argument(expr, "dim");
    Ints axes = m_facts.integers(dim);
    if (const auto one = m_facts.integer(dim)) axes = {*one};
    if (axes.empty() || axes.size() > kHighestRank) return;
    const Value keeps = m_facts.valueOf(Facts::argument(expr, "keepdim"));
    const bool keepsAxes = keeps.isNumber() && keeps.number() != 0;
    Requirement requirement = keepsAxes ? result.rankShifted(0) : beforeLosing(result, axes);
    requirement.dtype = tensor::DType::Undefined;
    for (const std::int64_t axis : axes) {
        if (axis >= -kMaxAxis && axis < kMaxAxis)
            requirement.leastRank =
                std::max(requirement.leastRank, static_cast<std::size_t>(axis < 0 ? -axis : axis + 1));
    }
    want(expr.arguments.front(), requirement);
}

}  // namespace sonde::analysis::requirement
