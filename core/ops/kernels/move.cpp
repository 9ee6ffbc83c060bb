#include "core/ops/kernels/move.h"

#include <algorithm>
#include <cstring>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"
#include "core/tensor/strided.h"

namespace sonde::ops::kernels {

namespace {

std::int64_t product(const Shape& shape, std::size_t from, std::size_t to) {
    std::int64_t count = 1;
    for (std::size_t i = from; i < to; ++i) count *= shape[i];
    return count;
}

/// target[j] = source[j] for `count` elements; strings are assigned.
struct Mover {
    DType dtype;
    std::size_t item;
    const std::byte* source = nullptr;
    std::byte* target = nullptr;
    const std::string* sourceText = nullptr;
    std::string* targetText = nullptr;

    Mover(const Tensor& from, Tensor& to) : dtype(from.dtype()), item(tensor::itemSize(from.dtype())) {
        if (dtype == DType::String) {
            sourceText = from.strings().data();
            targetText = to.mutableStrings().data();
        } else {
            source = from.bytes();
            target = to.mutableBytes();
        }
    }
    void operator()(std::int64_t from, std::int64_t to, std::int64_t count) const {
        if (count <= 0) return;
        if (dtype == DType::String) std::copy(sourceText + from, sourceText + from + count, targetText + to);
        else
            std::memcpy(target + static_cast<std::size_t>(to) * item, source + static_cast<std::size_t>(from) * item,
                        static_cast<std::size_t>(count) * item);
    }
};

base::Result<std::vector<std::int64_t>> indexList(const Tensor& indices, std::int64_t dimSize) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(indices.numel()));
    for (std::int64_t i = 0; i < indices.numel(); ++i) {
        std::int64_t at = indices.dtype() == DType::Int64   ? indices.data<std::int64_t>()[i]
                          : indices.dtype() == DType::Int32 ? indices.data<std::int32_t>()[i]
                                                            : indices.toInt64(i);
        if (at < -dimSize || at >= dimSize)
            return opError("index " + std::to_string(at) + " is outside a dimension of size " +
                           std::to_string(dimSize));
        result[static_cast<std::size_t>(i)] = at < 0 ? at + dimSize : at;
    }
    return result;
}

}  // namespace

base::Result<void> concat(KernelContext& context, std::span<const Tensor> parts, std::size_t axis) {
    Shape shape = parts[0].shape();
    std::int64_t total = 0;
    for (const Tensor& part : parts) {
        bool fits = part.rank() == shape.rank() && part.dtype() == parts[0].dtype();
        for (std::size_t i = 0; fits && i < shape.rank(); ++i) fits = i == axis || part.dim(i) == shape[i];
        if (!fits)
            return opError("cannot join " + parts[0].typeText() + " and " + part.typeText() + " along axis " +
                           std::to_string(axis));
        if (__builtin_add_overflow(total, part.dim(axis), &total)) return opError("the result is too large");
    }
    shape[axis] = total;
    SONDE_ASSIGN(Tensor out, context.output(parts[0].dtype(), shape));
    if (out.numel() == 0) return {};
    const std::int64_t outer = product(shape, 0, axis), inner = product(shape, axis + 1, shape.rank());
    // Stretches of the result one behind the other: where each part's begins, for every index before the axis again.
    std::vector<Mover> movers;
    std::vector<std::int64_t> begins;
    std::int64_t offset = 0;
    for (const Tensor& part : parts) {
        movers.emplace_back(part, out);
        begins.push_back(offset);
        offset += part.dim(axis) * inner;
    }
    const std::int64_t run = total * inner;
    const Epilogue* epilogue = out.dtype() == DType::Float32 ? Epilogue::of(out) : nullptr;
    constexpr std::size_t kPiece = 16384;  // elements that stay in the cache for those that follow
    context.pool().parallelFor(static_cast<std::size_t>(outer * run), kPiece, [&](std::size_t begin, std::size_t end) {
        const auto last = static_cast<std::int64_t>(end);
        for (auto at = static_cast<std::int64_t>(begin); at < last;) {
            const std::int64_t row = at / run, inside = at % run;
            const auto part =
                static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), inside) - begins.begin() - 1);
            const std::int64_t length = parts[part].dim(axis) * inner;
            const std::int64_t count = std::min(begins[part] + length - inside, last - at);
            movers[part](row * length + inside - begins[part], at, count);
            at += count;
        }
        if (epilogue) epilogue->apply(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end - begin));
    });
    return {};
}

base::Result<Tensor> packed(base::ThreadPool& pool, const Tensor& view) {
    if (view.isContiguous()) return view;
    if (view.dtype() == DType::String || view.rank() < 2 || view.numel() < 65536) return view.clone();
    SONDE_ASSIGN(Tensor copy, Tensor::allocate(view.dtype(), view.shape()));
    // One thread for each piece of the outermost dimensions.
    std::size_t split = 0;
    std::int64_t pieces = 1;
    while (split + 1 < view.rank() && pieces < static_cast<std::int64_t>(pool.threads()) * 4)
        pieces *= view.dim(split++);
    const std::int64_t piece = view.numel() / pieces;
    const std::size_t item = tensor::itemSize(view.dtype());
    const auto dims = std::span(view.shape().dims()).subspan(split);
    const auto strides = std::span(view.strides()).subspan(split);
    pool.parallelFor(static_cast<std::size_t>(pieces), 1, [&](std::size_t begin, std::size_t end) {
        for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
            const std::int64_t from = view.elementOffset(p * piece);
            tensor::copyStrided(view.bytes() + from * static_cast<std::int64_t>(item), dims, strides, item,
                                copy.mutableBytes() + p * piece * static_cast<std::int64_t>(item));
        }
    });
    return copy;
}

void copyInto(base::ThreadPool& pool, const Tensor& source, Tensor target) {
    if (source.numel() == 0) return;
    const std::size_t last = source.rank();
    const std::int64_t run = last ? source.dim(last - 1) : 1;
    const std::int64_t runs = source.numel() / run;
    const std::int64_t targetStep = last ? target.strides()[last - 1] : 1,
                       sourceStep = last ? source.strides()[last - 1] : 1;
    const auto grain = static_cast<std::size_t>(16384 / run + 1);
    if (source.dtype() == DType::String) {
        for (std::int64_t i = 0; i < source.numel(); ++i) {
            target.storage()->strings()[static_cast<std::size_t>(target.offsetElements() + target.elementOffset(i))] =
                source.storage()
                    ->strings()[static_cast<std::size_t>(source.offsetElements() + source.elementOffset(i))];
        }
        return;
    }
    tensor::dispatchSize(source.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* from = source.data<T>();
        T* to = target.mutableData<T>();
        pool.parallelFor(static_cast<std::size_t>(runs), grain, [&](std::size_t begin, std::size_t end) {
            for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end); ++r) {
                const T* in = from + source.elementOffset(r * run);
                T* out = to + target.elementOffset(r * run);
                for (std::int64_t i = 0; i < run; ++i) out[i * targetStep] = in[i * sourceStep];
            }
        });
    });
}

base::Result<void> gather(KernelContext& context, const Tensor& x, const Tensor& indices, std::size_t axis) {
    SONDE_ASSIGN(const std::vector<std::int64_t> at, indexList(indices, x.dim(axis)));
    Shape shape;
    for (std::size_t i = 0; i < axis; ++i) shape.push_back(x.dim(i));
    for (std::int64_t dimSize : indices.shape()) shape.push_back(dimSize);
    for (std::size_t i = axis + 1; i < x.rank(); ++i) shape.push_back(x.dim(i));
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), shape));
    if (out.numel() == 0) return {};
    const std::int64_t outer = product(x.shape(), 0, axis), inner = product(x.shape(), axis + 1, x.rank());
    const Mover move(x, out);
    const auto count = static_cast<std::int64_t>(at.size());
    context.pool().parallelFor(
        static_cast<std::size_t>(outer * count), static_cast<std::size_t>(16384 / inner + 1),
        [&](std::size_t begin, std::size_t end) {
            for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
                move((i / count * x.dim(axis) + at[static_cast<std::size_t>(i % count)]) * inner, i * inner, inner);
            }
        });
    return {};
}

namespace {

/// Flat position in x of each element of `indices`' shape, with the axis taken from the index.
base::Result<std::vector<std::int64_t>> elementPositions(const Tensor& x, const Tensor& indices, std::size_t axis) {
    if (indices.rank() != x.rank())
        return opError("indices " + indices.typeText() + " must have the rank of " + x.typeText());
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != axis && indices.dim(i) > x.dim(i))
            return opError("indices " + indices.typeText() + " do not match " + x.typeText());
    }
    SONDE_ASSIGN(std::vector<std::int64_t> at, indexList(indices, x.dim(axis)));
    const std::vector<std::int64_t> steps = x.shape().contiguousStrides();
    for (std::size_t i = 0; i < at.size(); ++i) {
        auto rest = static_cast<std::int64_t>(i);
        std::int64_t position = at[i] * steps[axis];
        for (std::size_t d = x.rank(); d-- > 0;) {
            if (d != axis) position += rest % indices.dim(d) * steps[d];
            rest /= indices.dim(d);
        }
        at[i] = position;
    }
    return at;
}

template <typename T>
T combined(Reduction reduction, const T& old, const T& update) {
    switch (reduction) {
        case Reduction::None: return update;
        case Reduction::Add: return static_cast<T>(old + update);
        case Reduction::Mul: return static_cast<T>(old * update);
        case Reduction::Max: return old > update ? old : update;
        case Reduction::Min: return old < update ? old : update;
    }
    return update;
}

/// out[positions[i]·size + j] ∘= updates[i·size + j]
base::Result<void> scatterRuns(const std::vector<std::int64_t>& positions, std::int64_t size, const Tensor& updates,
                               Tensor& out, Reduction reduction) {
    if (reduction == Reduction::None) {
        const Mover move(updates, out);
        for (std::size_t i = 0; i < positions.size(); ++i)
            move(static_cast<std::int64_t>(i) * size, positions[i] * size, size);
        return {};
    }
    if (!tensor::dispatchNumbers(out.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            for (std::size_t i = 0; i < positions.size(); ++i) {
                for (std::int64_t j = 0; j < size; ++j) {
                    T& old = out.mutableData<T>()[positions[i] * size + j];
                    old = combined(reduction, old, updates.data<T>()[static_cast<std::int64_t>(i) * size + j]);
                }
            }
        })) {
        return opError("a reduction is not defined for " + out.typeText());
    }
    return {};
}

base::Result<Tensor> copyToOutput(KernelContext& context, const Tensor& x) {
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), x.shape()));
    if (x.numel() > 0) Mover(x, out)(0, 0, x.numel());
    return out;
}

}  // namespace

base::Result<Reduction> reductionOf(const std::string& name) {
    if (name == "none" || name.empty()) return Reduction::None;
    if (name == "add") return Reduction::Add;
    if (name == "mul") return Reduction::Mul;
    if (name == "max") return Reduction::Max;
    if (name == "min") return Reduction::Min;
    return opError("reduction '" + name + "' is not supported");
}

base::Result<void> gatherElements(KernelContext& context, const Tensor& x, const Tensor& indices, std::size_t axis) {
    SONDE_ASSIGN(const std::vector<std::int64_t> positions, elementPositions(x, indices, axis));
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), indices.shape()));
    if (out.numel() == 0) return {};
    const Mover move(x, out);
    for (std::size_t i = 0; i < positions.size(); ++i) move(positions[i], static_cast<std::int64_t>(i), 1);
    return {};
}

base::Result<void> scatterElements(KernelContext& context, const Tensor& x, const Tensor& indices,
                                   const Tensor& updates, std::size_t axis, Reduction reduction) {
    if (updates.shape() != indices.shape())
        return opError("updates " + updates.typeText() + " must have the shape of the indices " + indices.typeText());
    SONDE_ASSIGN(const std::vector<std::int64_t> positions, elementPositions(x, indices, axis));
    SONDE_ASSIGN(Tensor out, copyToOutput(context, x));
    return scatterRuns(positions, 1, updates, out, reduction);
}

namespace {

/// Rows of indices to numbers of the slices that they address, and the size of a slice.
base::Result<std::vector<std::int64_t>> slicePositions(const Tensor& x, const Tensor& indices, std::size_t batchDims,
                                                       std::int64_t& sliceSize) {
    const std::size_t depth =
        indices.rank() ? static_cast<std::size_t>(std::max<std::int64_t>(indices.dim(indices.rank() - 1), 0)) : 0;
    bool fits = indices.rank() > batchDims && x.rank() >= batchDims &&
                indices.dim(indices.rank() - 1) <= static_cast<std::int64_t>(x.rank() - batchDims);
    for (std::size_t i = 0; fits && i < batchDims; ++i) fits = x.dim(i) == indices.dim(i);
    if (!fits) return opError("indices " + indices.typeText() + " do not match " + x.typeText());
    const std::int64_t rows = product(indices.shape(), 0, indices.rank() - 1);
    const std::int64_t batches = product(x.shape(), 0, batchDims);
    sliceSize = product(x.shape(), batchDims + depth, x.rank());
    std::vector<std::int64_t> positions(static_cast<std::size_t>(rows));
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t position = batches > 0 ? row / std::max<std::int64_t>(rows / batches, 1) : 0;
        for (std::size_t d = 0; d < depth; ++d) {
            const std::int64_t dimSize = x.dim(batchDims + d);
            std::int64_t at = indices.toInt64(row * static_cast<std::int64_t>(depth) + static_cast<std::int64_t>(d));
            if (at < -dimSize || at >= dimSize)
                return opError("index " + std::to_string(at) + " is outside a dimension of size " +
                               std::to_string(dimSize));
            position = position * dimSize + (at < 0 ? at + dimSize : at);
        }
        positions[static_cast<std::size_t>(row)] = position;
    }
    return positions;
}

}  // namespace

base::Result<void> gatherND(KernelContext& context, const Tensor& x, const Tensor& indices, std::size_t batchDims) {
    std::int64_t size = 0;
    SONDE_ASSIGN(const std::vector<std::int64_t> positions, slicePositions(x, indices, batchDims, size));
    Shape shape;
    for (std::size_t i = 0; i + 1 < indices.rank(); ++i) shape.push_back(indices.dim(i));
    for (std::size_t i = batchDims + static_cast<std::size_t>(indices.dim(indices.rank() - 1)); i < x.rank(); ++i)
        shape.push_back(x.dim(i));
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), shape));
    if (out.numel() == 0) return {};
    const Mover move(x, out);
    for (std::size_t i = 0; i < positions.size(); ++i)
        move(positions[i] * size, static_cast<std::int64_t>(i) * size, size);
    return {};
}

base::Result<void> scatterND(KernelContext& context, const Tensor& x, const Tensor& indices, const Tensor& updates,
                             Reduction reduction) {
    std::int64_t size = 0;
    SONDE_ASSIGN(const std::vector<std::int64_t> positions, slicePositions(x, indices, 0, size));
    if (updates.numel() != static_cast<std::int64_t>(positions.size()) * size)
        return opError("updates " + updates.typeText() + " do not match the indices " + indices.typeText());
    SONDE_ASSIGN(Tensor out, copyToOutput(context, x));
    return scatterRuns(positions, size, updates, out, reduction);
}

namespace {

/// The input position that an output position shows, or -1 for padding. `first`, `kept`: what negative padding leaves
/// of the axis, around which Wrap goes, as in PyTorch and ONNX Runtime.
std::int64_t sourceIndex(std::int64_t at, std::int64_t dimSize, PadMode mode, std::int64_t first, std::int64_t kept) {
    if (at >= 0 && at < dimSize) return at;
    if (dimSize == 0) return -1;
    switch (mode) {
        case PadMode::Constant: return -1;
        case PadMode::Edge: return at < 0 ? 0 : dimSize - 1;
        case PadMode::Wrap: return first + ((at - first) % kept + kept) % kept;
        case PadMode::Reflect: {
            if (dimSize == 1) return 0;
            const std::int64_t period = 2 * (dimSize - 1);
            const std::int64_t phase = ((at % period) + period) % period;
            return phase < dimSize ? phase : period - phase;
        }
    }
    return -1;
}

}  // namespace

base::Result<void> pad(KernelContext& context, const Tensor& x, std::span<const std::int64_t> before,
                       std::span<const std::int64_t> after, PadMode mode, const Tensor& value) {
    Shape shape = x.shape();
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (__builtin_add_overflow(shape[i], before[i], &shape[i]) ||
            __builtin_add_overflow(shape[i], after[i], &shape[i]) || shape[i] < 0) {
            return opError("padding " + std::to_string(before[i]) + " and " + std::to_string(after[i]) +
                           " leaves nothing of axis " + std::to_string(i) + " of " + x.typeText());
        }
        if (mode != PadMode::Constant && x.dim(i) == 0 && shape[i] > 0)
            return opError("an empty axis has no elements to pad with");
    }
    SONDE_ASSIGN(Tensor out, context.output(x.dtype(), shape));
    if (out.numel() == 0) return {};
    // Source position of every output position, axis by axis.
    std::vector<std::vector<std::int64_t>> source(x.rank());
    for (std::size_t d = 0; d < x.rank(); ++d) {
        const std::int64_t first = std::max<std::int64_t>(0, -before[d]),
                           kept = x.dim(d) - first - std::max<std::int64_t>(0, -after[d]);
        if (mode == PadMode::Wrap && kept <= 0)
            return opError("padding " + std::to_string(before[d]) + " and " + std::to_string(after[d]) +
                           " leaves no elements of axis " + std::to_string(d) + " to wrap around");
        for (std::int64_t i = 0; i < shape[d]; ++i)
            source[d].push_back(sourceIndex(i - before[d], x.dim(d), mode, first, kept));
    }
    const std::vector<std::int64_t> steps = x.shape().contiguousStrides();
    const std::int64_t run = x.rank() ? shape[x.rank() - 1] : 1;
    const auto fill = [&](const auto* in, auto* to, const auto& blank) {
        context.pool().parallelFor(
            static_cast<std::size_t>(out.numel() / run), static_cast<std::size_t>(16384 / run + 1),
            [&](std::size_t begin, std::size_t end) {
                for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end); ++r) {
                    std::int64_t rest = r, offset = 0;
                    bool inside = true;
                    for (std::size_t d = x.rank() ? x.rank() - 1 : 0; d-- > 0;) {
                        const std::int64_t at = source[d][static_cast<std::size_t>(rest % shape[d])];
                        inside = inside && at >= 0;
                        offset += at * steps[d];
                        rest /= shape[d];
                    }
                    for (std::int64_t i = 0; i < run; ++i) {
                        const std::int64_t at = x.rank() ? source.back()[static_cast<std::size_t>(i)] : 0;
                        to[r * run + i] = inside && at >= 0 ? in[offset + at] : blank;
                    }
                }
            });
    };
    if (x.dtype() == DType::String) {
        fill(x.strings().data(), out.mutableStrings().data(),
             value.defined() && value.dtype() == DType::String ? value.strings()[0] : std::string());
        return {};
    }
    tensor::dispatchSize(x.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        fill(x.data<T>(), out.mutableData<T>(), value.defined() ? *value.data<T>() : T{});
    });
    return {};
}

}  // namespace sonde::ops::kernels
