#include "core/ops/attention/heads.h"

#include "core/ops/kernels/move.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

base::Result<HeadLayout> headLayoutOf(const Tensor& x, std::int64_t heads) {
    if (x.rank() == 4) return HeadLayout{x.dim(0), x.dim(1), x.dim(2), x.dim(3), false};
    if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0)
        return opError(std::to_string(heads) + " heads do not match " + x.typeText());
    return HeadLayout{x.dim(0), heads, x.dim(1), x.dim(2) / heads, true};
}

base::Result<Tensor> unpackedHeads(const Tensor& x, const HeadLayout& layout) {
    if (!layout.packed) return x;
    SONDE_ASSIGN(const Tensor split, x.reshaped(Shape{layout.batches, layout.rows, layout.heads, layout.size}));
    return split.transposed(1, 2).contiguous();
}

base::Result<Tensor> appendedHeads(const Tensor& past, const Tensor& current) {
    Shape shape = current.shape();
    if (past.dtype() != current.dtype() || past.rank() != 4 || past.dim(0) != shape[0] || past.dim(1) != shape[1] ||
        past.dim(3) != shape[3]) {
        return opError("the past " + past.typeText() + " does not match " + current.typeText());
    }
    shape[2] += past.dim(2);
    SONDE_ASSIGN(Tensor whole, Tensor::allocate(current.dtype(), shape));
    base::ThreadPool alone(1);
    kernels::copyInto(alone, past, whole.sliced(2, 0, past.dim(2)));
    kernels::copyInto(alone, current, whole.sliced(2, past.dim(2), current.dim(2)));
    return whole;
}

base::Result<Tensor> rotatedHeads(const Tensor& x, const HeadLayout& layout, const Rotation& rotation) {
    const std::int64_t rotated = rotation.rotated, half = rotated / 2;
    if (rotated < 0 || rotated > layout.size || rotated % 2)
        return opError("a rotated part of " + std::to_string(rotated) + " does not fit a head of " +
                       std::to_string(layout.size));
    const std::int64_t entries = half > 0 ? rotation.cosines.numel() / half : 0;
    SONDE_ASSIGN(const Tensor in, wide(x));
    SONDE_ASSIGN(Tensor out, in.clone());
    const kernels::Heads<const double> from = headsOf(in.data<double>(), layout);
    const kernels::Heads<double> to = headsOf(out.mutableData<double>(), layout);
    for (std::int64_t b = 0; b < layout.batches; ++b) {
        for (std::int64_t s = 0; s < layout.rows; ++s) {
            const std::int64_t entry = rotation.positions[static_cast<std::size_t>(b * layout.rows + s)];
            if (half > 0 && (entry < 0 || entry >= entries))
                return opError("position " + std::to_string(entry) + " is outside the cache");
            for (std::int64_t h = 0; h < layout.heads; ++h) {
                const std::int64_t at = b * from.batch + h * from.head + s * from.row;
                for (std::int64_t i = 0; i < half; ++i) {
                    const std::int64_t first = at + (rotation.interleaved ? 2 * i : i),
                                       second = at + (rotation.interleaved ? 2 * i + 1 : i + half);
                    const double c = rotation.cosines.data<double>()[entry * half + i],
                                 sn = rotation.sines.data<double>()[entry * half + i];
                    to.data[first] = c * from.data[first] - sn * from.data[second];
                    to.data[second] = sn * from.data[first] + c * from.data[second];
                }
            }
        }
    }
    return out.cast(x.dtype());
}

}  // namespace sonde::ops
