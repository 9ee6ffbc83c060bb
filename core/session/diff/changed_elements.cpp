#include "core/session/diff/changed_elements.h"

#include <cmath>
#include <vector>

namespace sonde::session::diff {

using tensor::Tensor;

namespace {

/// Of the norm of the difference to that of the tensor.
constexpr double kClose = 0.1;

bool haveSameSizes(const Tensor& a, const Tensor& b) {
    const auto sizes = [](const Tensor& tensor) {
        std::vector<std::int64_t> found;
        for (std::size_t axis = 0; axis < tensor.rank(); ++axis)
            if (tensor.dim(axis) != 1) found.push_back(tensor.dim(axis));
        return found;
    };
    return sizes(a) == sizes(b);
}

bool seemsChanged(const Tensor& ours, const Tensor& theirs) {
    std::int64_t equal = 0;
    double distance = 0, norm = 0;
    for (std::int64_t i = 0; i < ours.numel(); ++i) {
        const double a = ours.toDouble(i), b = theirs.toDouble(i);
        equal += a == b ? 1 : 0;
        distance += (a - b) * (a - b);
        norm += a * a;
    }
    return equal < ours.numel() && (2 * equal >= ours.numel() || distance <= kClose * kClose * norm);
}

}  // namespace

std::optional<analysis::Difference> changedElements(const Tensor& ours, const Tensor& theirs) {
    if (!tensor::isFloating(ours.dtype()) || ours.dtype() != theirs.dtype() || ours.numel() != theirs.numel())
        return std::nullopt;
    std::vector<Tensor> forms;
    if (haveSameSizes(ours, theirs)) forms.push_back(ours);
    if (ours.rank() == 2 && theirs.rank() == 2) {
        const Tensor turned = ours.transposed(0, 1);
        if (turned.shape() == theirs.shape()) forms.push_back(turned);
    }
    for (const Tensor& form : forms) {
        const auto whole = form.contiguous(), other = theirs.contiguous();
        if (!whole || !other) return std::nullopt;
        const auto shaped = whole->reshaped(other->shape());
        if (shaped && seemsChanged(*shaped, *other)) return analysis::difference(*other, *shaped, {});
    }
    return std::nullopt;
}

}  // namespace sonde::session::diff
