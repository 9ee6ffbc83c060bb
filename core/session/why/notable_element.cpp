#include "core/session/why/notable_element.h"

#include <cmath>

#include "core/ops/dependence/leaves.h"
#include "core/ops/dependence/region.h"

namespace sonde::session::why {

using tensor::Tensor;

std::optional<std::vector<std::int64_t>> notableIndex(const Tensor& tensor, const std::stop_token& stop) {
    if (!tensor.defined() || tensor.numel() == 0 || tensor.dtype() == tensor::DType::String ||
        tensor::isComplex(tensor.dtype()))
        return std::nullopt;
    // NaN stands above infinity, infinity above all others.
    const auto rank = [](double value) {
        const double size = std::isnan(value) ? 2 : std::isinf(value) ? 1 : 0;
        return std::pair(size, size > 0 ? 0 : std::fabs(value));
    };
    std::int64_t best = 0;
    auto largest = rank(tensor.toDouble(0));
    for (std::int64_t i = 1; i < tensor.numel() && largest.first < 2; ++i) {
        if ((i & 0xffff) == 0 && stop.stop_requested()) break;
        if (const auto here = rank(tensor.toDouble(i)); here > largest) largest = here, best = i;
    }
    return ops::dependence::indexOf(best, tensor.shape());
}

base::Result<void> findElement(Place& place, Reader& reader, const std::stop_token& stop) {
    if (!place.index.empty()) return {};
    SONDE_ASSIGN(const tensor::Value value, reader.value(place.node));
    const tensor::Value* found = &value;
    if (value.isListLike()) {
        std::size_t member = place.member.value_or(0);
        const std::size_t count = ops::leafCount(value);
        while (!place.member && member + 1 < count && !ops::leafOf(value, member)->isTensor()) ++member;
        if (member >= count) return {};
        place.member = member;
        found = ops::leafOf(value, member);
    }
    if (!found->isTensor()) return {};
    if (found->tensor().numel() == 0) return base::usageError("the value " + found->typeText() + " has no elements");
    if (auto index = notableIndex(found->tensor(), stop)) place.index = std::move(*index);
    return {};
}

}  // namespace sonde::session::why
