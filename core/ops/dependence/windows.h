#pragma once

#include "core/ops/dependence/dependence.h"
#include "core/ops/support/window.h"

namespace sonde::ops::dependence {

/// A convolution as its kernel is called, whichever vocabulary it is from: positions of its inputs in the call.
struct Convolution {
    std::size_t x = 0, w = 1, bias = 2;
    bool hasBias = false;
    Window window;
    std::int64_t groups = 1;
    bool isTransposed = false;
    bool hasLastChannels = false;  ///< x and the result are [N, D…, C]
};
/// sum(w * x) + bias. x [N, C, D…], or without N.
base::Result<Dependence> convolved(const ElementCall& call, const Convolution& convolution);

/// sum(x): an element of the image [N, C, D…] (or without N) that the columns [N, C * taps, places] of the first input
/// add up to.
base::Result<Dependence> addedColumns(const ElementCall& call, const Window& window);

/// What a pool makes of its elements.
struct Pooling {
    std::string_view formula;    ///< of x, and of `divisor` and p
    bool countsPadding = false;  ///< in the divisor
    std::int64_t divisor = 0;    ///< in place of the count; 0: none
    double p = 2;
};
/// The elements of the first input [N, C, D…] (or without N) in a window.
base::Result<Dependence> pooled(const ElementCall& call, const Window& window, const Pooling& pooling);
/// The same for cells of a grid as large as the result.
base::Result<Dependence> pooledCell(const ElementCall& call, const Pooling& pooling);

}  // namespace sonde::ops::dependence
