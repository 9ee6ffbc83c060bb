// Convolutions and pools: elements under a window.

#include "core/ops/dependence/windows.h"

#include <algorithm>

#include "core/operators/traits.h"
#include "core/ops/dependence/region.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

using Index = std::vector<std::int64_t>;

/// With one dimension more in front if there are `rank` - 1.
Index withBatch(Index index, std::size_t rank, std::int64_t value) {
    if (index.size() + 1 == rank) index.insert(index.begin(), value);
    return index;
}

/// Where the input is that a tap of the window meets on an axis; -1: in the padding, or between two.
std::int64_t inputAt(const Window& window, std::size_t axis, std::int64_t output, std::int64_t tap, std::int64_t size,
                     bool isTransposed) {
    if (!isTransposed) {
        const std::int64_t at = output * window.stride[axis] - window.padBegin[axis] + tap * window.dilation[axis];
        return at >= 0 && at < size ? at : -1;
    }
    const std::int64_t scaled = output + window.padBegin[axis] - tap * window.dilation[axis];
    if (scaled < 0 || scaled % window.stride[axis] != 0) return -1;
    return scaled / window.stride[axis] < size ? scaled / window.stride[axis] : -1;
}

/// Adds the elements under a pool's window, given for each axis of the image.
base::Result<Dependence> pooledRegion(const ElementCall& call, const std::vector<Index>& positions,
                                      const Pooling& pooling, double divisor) {
    const Tensor& x = call.context.in(kOperand);
    const std::size_t rank = positions.size() + 2;
    const Shape shape(withBatch(x.shape().dims(), rank, 1));
    const Index at = withBatch(call.at, rank, 0);
    Shape window;
    for (const Index& axis : positions) window.push_back(static_cast<std::int64_t>(axis.size()));
    const Region taps = Region::all(window);
    SONDE_TRY(checkTerms(taps.count()));
    Dependence dependence;
    dependence.formula = pooling.formula;
    const std::uint32_t part = dependence.listPart("x");
    forEach(taps, window, [&](const Index& tap, std::int64_t) {
        Index index{at[0], at[1]};
        for (std::size_t d = 0; d < positions.size(); ++d)
            index.push_back(positions[d][static_cast<std::size_t>(tap[d])]);
        addElement(dependence, part, call, kOperand, elementAt(index, shape));
    });
    dependence.number("divisor", divisor);
    dependence.number("p", pooling.p);
    if (pooling.formula == "max(x)") weighChosen(dependence, part, true);
    if (pooling.formula == "sum(x) / divisor")
        for (DependenceTerm& term : dependence.terms) term.weight = 1 / divisor;
    return dependence;
}

base::Result<std::size_t> imageRank(const ElementCall& call, std::size_t spatialRank) {
    const std::size_t rank = call.context.in(kOperand).rank();
    if (rank != spatialRank + 2 && rank != spatialRank + 1) return opError("the window does not match the input");
    if (call.at.size() != rank) return opError("the result does not match the input");
    return rank;
}

}  // namespace

base::Result<Dependence> convolved(const ElementCall& call, const Convolution& convolution) {
    const Tensor &x = call.context.in(convolution.x), &w = call.context.in(convolution.w);
    const Window& window = convolution.window;
    const std::size_t rank = w.rank();
    if (rank != window.rank() + 2 || (x.rank() != rank && x.rank() + 1 != rank) || convolution.groups < 1)
        return opError("the weights do not match the input");
    const auto channelsFirst = [&](Index index) {
        if (convolution.hasLastChannels) std::rotate(index.begin() + 1, index.end() - 1, index.end());
        return index;
    };
    const Shape shape(channelsFirst(withBatch(x.shape().dims(), rank, 1)));
    const Index at = channelsFirst(withBatch(call.at, rank, 0));
    if (at.size() != rank) return opError("the result does not match the input");
    const auto elementOf = [&](Index index) {
        if (!convolution.hasLastChannels) return elementAt(index, shape);
        std::rotate(index.begin() + 1, index.begin() + 2, index.end());
        return elementAt(index, x.shape());
    };
    // Weights: [K, C / groups, kernel…], transposed ones [C, K / groups, kernel…].
    const std::int64_t outputs = convolution.isTransposed ? w.dim(1) : w.dim(0) / convolution.groups;
    const std::int64_t inputs = convolution.isTransposed ? w.dim(0) / convolution.groups : w.dim(1);
    if (outputs < 1 || inputs < 1) return opError("the groups do not match the weights");
    const std::int64_t group = at[1] / outputs;
    if ((group + 1) * inputs > shape[1]) return opError("the groups do not match the input");
    const Shape kernel(window.kernel);
    const Region taps = Region::all(kernel);
    SONDE_TRY(checkTerms(taps.count() * inputs));
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w");
    for (std::int64_t c = 0; c < inputs; ++c) {
        forEach(taps, kernel, [&](const Index& tap, std::int64_t) {
            Index index{at[0], group * inputs + c};
            for (std::size_t d = 0; d < window.rank(); ++d)
                index.push_back(inputAt(window, d, at[d + 2], tap[d], shape[d + 2], convolution.isTransposed));
            if (std::ranges::find(index, -1) != index.end()) return;
            addElement(dependence, part, call, convolution.x, elementOf(index));
            DependenceTerm& term = dependence.terms.back();
            Index weight = convolution.isTransposed ? Index{group * inputs + c, at[1] % outputs} : Index{at[1], c};
            weight.insert(weight.end(), tap.begin(), tap.end());
            term.weightInput = static_cast<std::uint32_t>(convolution.w);
            term.weightElement = elementAt(weight, w.shape());
            term.weight = w.toDouble(term.weightElement);
        });
    }
    if (!convolution.hasBias) return dependence;
    if (at[1] >= call.context.in(convolution.bias).numel()) return opError("the bias does not match the weights");
    dependence.formula += " + bias";
    addElement(dependence, dependence.part("bias"), call, convolution.bias, at[1]);
    return dependence;
}

base::Result<Dependence> addedColumns(const ElementCall& call, const Window& window) {
    const Tensor& columns = call.context.in(kOperand);
    const std::size_t rank = window.rank() + 2, own = rank - 1;
    const Index at = withBatch(call.at, rank, 0);
    if (at.size() != rank || columns.rank() < 2) return opError("the columns do not match the image");
    const Shape& image = call.result.shape();
    const Shape grid = window.outputShape(1, 1, std::span(image.dims()).subspan(image.rank() - own + 1));
    const Shape positions(std::span(grid.dims()).subspan(2)), kernel(window.kernel);
    const Region taps = Region::all(kernel);
    SONDE_TRY(checkTerms(taps.count()));
    Dependence dependence;
    dependence.formula = "sum(x)";
    const std::uint32_t part = dependence.listPart("x");
    const std::int64_t channels = image[image.rank() - own], count = taps.count(), places = positions.numel();
    if (channels * count * places * (at[0] + 1) > columns.numel()) return opError("the columns do not match the image");
    forEach(taps, kernel, [&](const Index& tap, std::int64_t row) {
        Index position;
        for (std::size_t d = 0; d < window.rank(); ++d)
            position.push_back(inputAt(window, d, at[d + 2], tap[d], positions[d], true));
        if (std::ranges::find(position, -1) != position.end()) return;
        const std::int64_t line = (at[0] * channels + at[1]) * count + row;
        addElement(dependence, part, call, kOperand, line * places + elementAt(position, positions));
    });
    return dependence;
}

base::Result<Dependence> pooled(const ElementCall& call, const Window& window, const Pooling& pooling) {
    if (call.output != 0) return opError("the position of an element has no formula");
    SONDE_ASSIGN(const std::size_t rank, imageRank(call, window.rank()));
    const Shape& shape = call.context.in(kOperand).shape();
    std::vector<Index> positions(window.rank());
    std::int64_t counted = 1;
    for (std::size_t d = 0; d < window.rank(); ++d) {
        const std::size_t axis = rank - window.rank() + d;
        for (std::int64_t tap = 0; tap < window.kernel[d]; ++tap) {
            const std::int64_t at = inputAt(window, d, call.at[axis], tap, shape[axis], false);
            if (at >= 0) positions[d].push_back(at);
        }
        // In ceil mode a window may hang over the padding, which does not count there.
        const std::int64_t start = call.at[axis] * window.stride[d] - window.padBegin[d];
        const std::int64_t end = std::min(start + window.span(d), shape[axis] + window.padEnd[d]);
        counted *= pooling.countsPadding
                       ? std::max<std::int64_t>(0, (end - start + window.dilation[d] - 1) / window.dilation[d])
                       : static_cast<std::int64_t>(positions[d].size());
    }
    const std::int64_t divisor = pooling.divisor > 0 ? pooling.divisor : std::max<std::int64_t>(counted, 1);
    return pooledRegion(call, positions, pooling, static_cast<double>(divisor));
}

base::Result<Dependence> pooledCell(const ElementCall& call, const Pooling& pooling) {
    if (call.output != 0) return opError("the position of an element has no formula");
    const Shape &shape = call.context.in(kOperand).shape(), &result = call.result.shape();
    if (call.at.size() != shape.rank()) return opError("the result does not match the input");
    // [N, C, D…]; of ATen also [C, D…], whose operators say how many dimensions an image has.
    const std::size_t named = operators::traitsOf(call.op.domain, call.op.name).spatialDims;
    const std::size_t spatial = named > 0 ? named : shape.rank() - 2;
    SONDE_ASSIGN(const std::size_t rank, imageRank(call, spatial));
    std::vector<Index> positions(spatial);
    double count = 1;
    for (std::size_t d = 0; d < spatial; ++d) {
        const std::size_t axis = rank - spatial + d;
        const std::int64_t cells = std::max<std::int64_t>(result[axis], 1);
        const std::int64_t begin = call.at[axis] * shape[axis] / cells,
                           end = ((call.at[axis] + 1) * shape[axis] + cells - 1) / cells;
        for (std::int64_t at = begin; at < end; ++at) positions[d].push_back(at);
        count *= static_cast<double>(end - begin);
    }
    return pooledRegion(call, positions, pooling, count);
}

}  // namespace sonde::ops::dependence
