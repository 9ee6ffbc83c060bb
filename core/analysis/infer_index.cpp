#include "core/analysis/infer_index.h"

#include <algorithm>
#include <limits>

namespace sonde::analysis {

using tensor::Dim;
using tensor::Symbolic;

namespace {

const Symbolic kZeroDimSize = Symbolic::of(std::int64_t{0});

/// Python's rule for a bound: counted from the end if negative, then cut to 0 … dimension. Unknown if its sign is.
Symbolic clamped(const Symbolic& bound, const Symbolic& dimSize) {
    if (!bound.known() || !dimSize.known()) return {};
    const auto number = bound.constant();
    if (number == std::numeric_limits<std::int64_t>::max()) return dimSize;  // torch's "up to the end"
    if (number && *number < 0) return larger(dimSize + bound, kZeroDimSize);
    return larger(bound, kZeroDimSize) == bound ? smaller(bound, dimSize) : Symbolic();
}

Dim rangeDimSize(const Dim& dim, const IndexPart& part) {
    const bool isWhole = !part.start && !part.stop && !part.step;
    if (isWhole) return dim;
    const Symbolic dimSize = Symbolic::of(dim);
    const Symbolic start = part.start ? clamped(*part.start, dimSize) : kZeroDimSize;
    const Symbolic stop = part.stop ? clamped(*part.stop, dimSize) : dimSize;
    const auto step = part.step ? part.step->constant() : std::optional<std::int64_t>(1);
    if (!start.known() || !stop.known() || !step || *step < 1) return {};
    return ceilDiv(larger(stop - start, kZeroDimSize), Symbolic::of(*step)).dim();
}

bool takesAxis(const IndexPart& part) {
    return part.kind == IndexPart::Kind::Select || part.kind == IndexPart::Kind::Range;
}

}  // namespace

std::optional<Dims> indexedDims(const Dims& dims, const std::vector<IndexPart>& parts) {
    const auto used = static_cast<std::size_t>(std::ranges::count_if(parts, takesAxis));
    if (used > dims.size()) return std::nullopt;
    Dims result;
    std::size_t axis = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        switch (parts[i].kind) {
            case IndexPart::Kind::Select: ++axis; break;
            case IndexPart::Kind::Range:
                result.push_back(rangeDimSize(dims[axis], parts[i]));
                ++axis;
                break;
            case IndexPart::Kind::NewAxis: result.push_back(Dim::of(1)); break;
            case IndexPart::Kind::Ellipsis: {
                const auto behind = static_cast<std::size_t>(
                    std::count_if(parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end(), takesAxis));
                while (axis + behind < dims.size()) result.push_back(dims[axis++]);
                break;
            }
        }
    }
    while (axis < dims.size()) result.push_back(dims[axis++]);
    return result;
}

}  // namespace sonde::analysis
