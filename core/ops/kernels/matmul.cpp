#include "core/ops/kernels/matmul.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/half_sums.h"
#include "core/ops/kernels/numbers.h"
#include "core/ops/support/shapes.h"
#include "core/tensor/dispatch.h"

namespace sonde::ops::kernels {

base::Result<std::unique_ptr<PreparedState>> prepareRight(const Value& matrix, bool transposed,
                                                          RunEnvironment& environment) {
    if (!matrix.isTensor() || matrix.tensor().rank() != 2) return std::unique_ptr<PreparedState>();
    const DType dtype = matrix.tensor().dtype();
    if (dtype != DType::Float32 && !isNarrow(dtype)) return std::unique_ptr<PreparedState>();
    SONDE_ASSIGN(const Tensor packable, matrix.tensor().contiguous());
    SONDE_ASSIGN(const Tensor m, packable.cast(DType::Float32));
    const std::int64_t rows = m.dim(0), columns = m.dim(1);
    if (m.numel() == 0) return std::unique_ptr<PreparedState>();
    auto packed = std::make_unique<PackedRight>();
    if (transposed)
        packed->matrix = PackedMatrix::right({m.data<float>(), 1, columns}, columns, rows, *environment.pool);
    else packed->matrix = PackedMatrix::right({m.data<float>(), columns, 1}, rows, columns, *environment.pool);
    if (isNarrow(dtype)) packed->matrix.narrow(dtype);
    return std::unique_ptr<PreparedState>(std::move(packed));
}

namespace {

/// Leading dimensions, then [rows, columns].
struct Operand {
    Shape lead;
    std::int64_t rows, columns;
};

Operand operandOf(const Shape& shape, bool left) {
    Operand operand{{}, 1, 1};
    if (shape.rank() == 1) {
        (left ? operand.columns : operand.rows) = shape[0];
        return operand;
    }
    for (std::size_t i = 0; i + 2 < shape.rank(); ++i) operand.lead.push_back(shape[i]);
    operand.rows = shape[shape.rank() - 2];
    operand.columns = shape[shape.rank() - 1];
    return operand;
}

/// Where the matrix of a batch begins, in elements, for an operand whose leading dimensions are broadcast.
std::int64_t batchOffset(std::int64_t batch, const Shape& full, const Tensor& operand) {
    std::int64_t offset = 0;
    const std::size_t own = operand.rank() > 2 ? operand.rank() - 2 : 0;
    for (std::size_t i = 0; i < full.rank(); ++i) {
        const std::size_t axis = full.rank() - 1 - i;
        const std::int64_t at = batch % full[axis];
        batch /= full[axis];
        if (i < own && operand.dim(own - 1 - i) != 1) offset += at * operand.strides()[own - 1 - i];
    }
    return offset;
}

/// The last two dimensions; a vector is a row on the left side and a column on the right one.
template <typename T>
MatrixView<T> matrixOf(const Tensor& operand, std::int64_t offset, bool left) {
    const std::vector<std::int64_t>& strides = operand.strides();
    const T* data = operand.data<T>() + offset;
    if (operand.rank() == 1) return left ? MatrixView<T>{data, 0, strides[0]} : MatrixView<T>{data, strides[0], 1};
    return {data, strides[operand.rank() - 2], strides[operand.rank() - 1]};
}

/// Calls f with the tag of the type that products of a dtype are computed in; false if there are none. Signed integers
/// are their bits: a product modulo 2^32 or 2^64 is the same.
template <typename F>
bool dispatchProduct(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Float32: f(tensor::TypeTag<float>{}); return true;
        case DType::Float64: f(tensor::TypeTag<double>{}); return true;
        case DType::Complex64: f(tensor::TypeTag<std::complex<float>>{}); return true;
        case DType::Complex128: f(tensor::TypeTag<std::complex<double>>{}); return true;
        case DType::Int32:
        case DType::UInt32: f(tensor::TypeTag<std::uint32_t>{}); return true;
        case DType::Int64:
        case DType::UInt64: f(tensor::TypeTag<std::uint64_t>{}); return true;
        default: return false;
    }
}

/// What a dtype without products of its own is computed in: float16 and bfloat16 in float32, short integers in 32 bits,
/// of which the lower ones are theirs.
std::optional<DType> widerType(DType dtype) {
    if (isNarrow(dtype)) return DType::Float32;
    if (tensor::isInteger(dtype) && tensor::itemSize(dtype) < 4) return DType::Int32;
    return std::nullopt;
}

/// Operands may be any views; the left one is contiguous if its batches are taken as one matrix (`flat`).
template <typename T>
void batched(KernelContext& context, const Tensor& a, const Tensor& b, Tensor& c, const Operand& left,
             const Operand& right, const Shape& lead, bool flat = false) {
    const std::int64_t m = left.rows, k = left.columns, n = right.columns;
    const std::int64_t batches = lead.numel();
    const Epilogue* epilogue = Epilogue::of(c);
    const auto one = [&](std::int64_t batch) {
        const std::int64_t x = batchOffset(batch, lead, a), y = batchOffset(batch, lead, b);
        T* z = c.mutableData<T>() + batch * m * n;
        GemmCall<T> call;
        call.m = m, call.n = n, call.k = k;
        call.left = flat ? MatrixView<T>{a.data<T>(), k, 1} : matrixOf<T>(a, x, true);
        call.right = matrixOf<T>(b, y, false);
        call.c = z;
        call.ldc = n;
        call.epilogue = epilogue;
        call.inHalf = sumsInHalf(context);
        call.offset = batch * m * n;
        call.stop = &context.environment().stop;
        gemm(call, context.pool());
    };
    // Many small products: one thread each (the inner loops then run in place); few large ones: each on all threads.
    if (batches > 1) {
        context.pool().parallelFor(static_cast<std::size_t>(batches), 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t batch = begin; batch < end && !context.cancelled(); ++batch)
                one(static_cast<std::int64_t>(batch));
        });
    } else if (batches == 1) {
        one(0);
    }
}

base::Result<Tensor> widened(const Tensor& x, DType dtype) {
    SONDE_ASSIGN(const Tensor packed, x.contiguous());
    return packed.cast(dtype);
}

base::Result<Tensor> narrowed(KernelContext& context, DType dtype, std::size_t index) {
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor narrow, outputs[index].tensor().cast(dtype));
    outputs[index] = Value(narrow);
    context.setOutputs(std::move(outputs));
    return narrow;
}

}  // namespace

base::Result<Shape> matmulShape(const Shape& a, const Shape& b) {
    if (a.rank() == 0 || b.rank() == 0) return opError("a scalar has no matrix product");
    const Operand left = operandOf(a, true), right = operandOf(b, false);
    if (left.columns != right.rows)
        return opError("matrices " + a.text() + " and " + b.text() + " do not fit: " + std::to_string(left.columns) +
                       " columns, " + std::to_string(right.rows) + " rows");
    SONDE_ASSIGN(Shape shape, broadcast(left.lead, right.lead));
    if (a.rank() > 1) shape.push_back(left.rows);
    if (b.rank() > 1) shape.push_back(right.columns);
    return shape;
}

namespace {

/// What was packed of a narrow right factor, if it is to be used: where every step is rounded to float16 it is not.
const PackedMatrix* packedRight(const KernelContext& context, const Tensor& b) {
    const auto* packed = context.prepared<PackedRight>();
    return packed && isNarrow(b.dtype()) && b.rank() == 2 && !sumsInHalf(context) ? &packed->matrix : nullptr;
}

/// c = a·packed; `b` is the same matrix, if it is there in float32.
void multiplyPacked(KernelContext& context, const Tensor& a, const PackedMatrix& packed, const MatrixView<float>& b,
                    Tensor& c) {
    GemmCall<float> call;
    call.m = a.numel() / packed.depth();
    call.n = packed.dimSize();
    call.k = packed.depth();
    call.left = {a.data<float>(), call.k, 1};
    call.right = b;
    call.rightPacked = &packed;
    call.c = c.mutableData<float>();
    call.ldc = call.n;
    call.inHalf = sumsInHalf(context);
    call.stop = &context.environment().stop;
    call.epilogue = Epilogue::of(c);
    gemm(call, context.pool());
}

/// a of float32 times what was packed of b.
base::Result<void> timesPacked(KernelContext& context, const Tensor& a, const Tensor& b, const PackedMatrix& packed,
                               std::size_t index) {
    SONDE_ASSIGN(const Shape shape, matmulShape(a.shape(), b.shape()));
    SONDE_ASSIGN(Tensor c, context.output(index, DType::Float32, shape));
    if (c.numel() > 0) multiplyPacked(context, a, packed, {}, c);
    return {};
}

}  // namespace

base::Result<Tensor> matmul(KernelContext& context, const Tensor& leftOperand, const Tensor& rightOperand,
                            std::size_t index) {
    Tensor a = leftOperand, b = rightOperand;
    if (a.dtype() != b.dtype())
        return opError("matrices " + a.typeText() + " and " + b.typeText() + " must have one dtype");
    if (const auto wider = widerType(a.dtype())) {
        SONDE_ASSIGN(const Tensor x, widened(a, *wider));
        if (const PackedMatrix* const packed = packedRight(context, b); packed && x.rank() > 0 && packed->depth() > 0) {
            SONDE_TRY(timesPacked(context, x, b, *packed, index));
        } else {
            SONDE_ASSIGN(const Tensor y, widened(b, *wider));
            SONDE_TRY(matmul(context, x, y, index));
        }
        return narrowed(context, a.dtype(), index);
    }
    // Packing reads views of matrices as they are; batches that are taken as one matrix must lie side by side.
    if (!a.isContiguous() && b.rank() == 2) {
        SONDE_ASSIGN(a, a.contiguous());
    }
    SONDE_ASSIGN(const Shape shape, matmulShape(a.shape(), b.shape()));
    const Operand left = operandOf(a.shape(), true), right = operandOf(b.shape(), false);
    SONDE_ASSIGN(const Shape lead, broadcast(left.lead, right.lead));
    SONDE_ASSIGN(Tensor c, context.output(index, a.dtype(), shape));
    if (c.numel() == 0) return c;
    const auto* packed = context.prepared<PackedRight>();
    if (packed && b.rank() == 2 && a.dtype() == DType::Float32 && left.columns > 0) {
        multiplyPacked(context, a, packed->matrix, matrixOf<float>(b, 0, false), c);
        return c;
    }
    // One right factor for all batches: the rows of all batches are one matrix.
    if (b.rank() == 2 && a.rank() > 2) {
        const Operand flat{{}, a.numel() / std::max<std::int64_t>(left.columns, 1), left.columns};
        if (left.columns > 0 && dispatchProduct(a.dtype(), [&](auto tag) {
                batched<typename decltype(tag)::type>(context, a, b, c, flat, right, Shape{}, true);
            })) {
            return c;
        }
    }
    const bool defined = dispatchProduct(
        a.dtype(), [&](auto tag) { batched<typename decltype(tag)::type>(context, a, b, c, left, right, lead); });
    if (!defined) return opError("a matrix product is not defined for " + a.typeText());
    return c;
}

namespace {

bool isWhole(double value) { return value == std::nearbyint(value) && std::fabs(value) < 0x1p53; }

/// alpha·A'·B' + beta·C of integers with whole factors; everything wraps.
base::Result<void> integerProduct(KernelContext& context, const Tensor& a, const Tensor& b, const Tensor* c,
                                  const GemmOptions& options) {
    const auto turned = [](const Tensor& x, bool turn) { return turn ? x.transposed(0, 1) : x; };
    SONDE_ASSIGN(Tensor y, matmul(context, turned(a, options.transposeA), turned(b, options.transposeB)));
    if (!c && options.alpha == 1) return {};
    SONDE_ASSIGN(const Tensor added, c ? c->expanded(y.shape()) : base::Result<Tensor>(y));
    SONDE_ASSIGN(const Tensor full, added.contiguous());
    const auto alpha = static_cast<std::uint64_t>(static_cast<std::int64_t>(options.alpha));
    const auto beta = c ? static_cast<std::uint64_t>(static_cast<std::int64_t>(options.beta)) : std::uint64_t{0};
    tensor::dispatchIntegers(y.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        T* values = y.mutableData<T>();
        for (std::int64_t i = 0; i < y.numel(); ++i) {
            values[i] = static_cast<T>(alpha * static_cast<std::uint64_t>(values[i]) +
                                       beta * static_cast<std::uint64_t>(full.data<T>()[i]));
        }
    });
    return {};
}

}  // namespace

namespace {

/// alpha·A'·B' + beta·C of float32 or float64; B may be of another dtype where it is packed.
base::Result<void> wideProduct(KernelContext& context, const Tensor& a, const Tensor& b, const Tensor* c,
                               const GemmOptions& options) {
    const std::int64_t m = a.dim(options.transposeA ? 1 : 0), k = a.dim(options.transposeA ? 0 : 1);
    const std::int64_t n = b.dim(options.transposeB ? 0 : 1);
    if (b.dim(options.transposeB ? 1 : 0) != k)
        return opError("matrices " + a.typeText() + " and " + b.typeText() + " do not match");
    const Shape shape{m, n};
    SONDE_ASSIGN(Tensor y, context.output(a.dtype(), shape));
    // Nothing of the product is left: C alone, with its own factor.
    const double factor = options.alpha == 0 ? options.beta : options.beta / options.alpha;
    if (options.alpha == 0 && !c) std::memset(y.mutableBytes(), 0, y.sizeBytes());
    // The usual bias: a row that is added to every row.
    const bool isRow = c && (c->rank() == 1 || c->rank() == 2) && c->numel() == n && c->dim(c->rank() - 1) == n &&
                       c->isContiguous() && options.alpha == 1 && options.beta == 1;
    if (c && !isRow) {
        // C, broadcast and scaled, is what the product is added to.
        SONDE_ASSIGN(const Tensor view, c->expanded(shape));
        SONDE_ASSIGN(const Tensor full, view.contiguous());
        tensor::dispatchFloating(a.dtype(), [&](auto tag) {
            using T = typename decltype(tag)::type;
            for (std::int64_t i = 0; i < y.numel(); ++i)
                y.mutableData<T>()[i] = static_cast<T>(factor) * full.data<T>()[i];
        });
    }
    if (options.alpha == 0) return {};
    const auto* packed = context.prepared<PackedRight>();
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        GemmCall<T> call;
        call.m = m, call.n = n, call.k = k;
        call.left = options.transposeA ? MatrixView<T>{a.data<T>(), 1, m} : MatrixView<T>{a.data<T>(), k, 1};
        if (b.dtype() == a.dtype())
            call.right = options.transposeB ? MatrixView<T>{b.data<T>(), 1, k} : MatrixView<T>{b.data<T>(), n, 1};
        if constexpr (std::is_same_v<T, float>) {
            if (packed) call.rightPacked = &packed->matrix;
        }
        call.c = y.mutableData<T>();
        call.ldc = n;
        if (isRow) call.columnBias = c->data<T>();
        call.accumulate = c != nullptr && !isRow;
        call.inHalf = sumsInHalf(context);
        if (options.alpha == 1) call.epilogue = Epilogue::of(y);
        call.stop = &context.environment().stop;
        gemm(call, context.pool());
        if (options.alpha == 1) return;
        for (std::int64_t i = 0; i < y.numel(); ++i) call.c[i] *= static_cast<T>(options.alpha);
    };
    if (a.dtype() == DType::Float32) run(0.0F);
    else run(0.0);
    return {};
}

}  // namespace

base::Result<void> generalProduct(KernelContext& context, const Tensor& a, const Tensor& b, const Tensor* c,
                                  const GemmOptions& options) {
    if (a.rank() != 2 || b.rank() != 2)
        return opError("needs two matrices, but has " + a.typeText() + " and " + b.typeText());
    if (a.dtype() != b.dtype() || (c && c->dtype() != a.dtype())) {
        return opError("matrices " + a.typeText() + " and " + b.typeText() +
                       (c ? " and what is added, " + c->typeText() + "," : "") + " must have one dtype");
    }
    if (options.beta == 0) c = nullptr;  // not even a NaN of it comes through
    if (tensor::isInteger(a.dtype()) && isWhole(options.alpha) && isWhole(options.beta))
        return integerProduct(context, a, b, c, options);
    if (a.dtype() != DType::Float32 && a.dtype() != DType::Float64) {
        // Narrow floats as float32, integers with broken factors as float64.
        const DType wide = isNarrow(a.dtype()) ? DType::Float32 : DType::Float64;
        SONDE_ASSIGN(const Tensor x, a.cast(wide));
        SONDE_ASSIGN(const Tensor y, b.cast(packedRight(context, b) ? b.dtype() : wide));
        Tensor z;
        if (c) {
            SONDE_ASSIGN(z, c->cast(wide));
        }
        SONDE_TRY(wideProduct(context, x, y, c ? &z : nullptr, options));
        SONDE_TRY(narrowed(context, a.dtype(), 0));
        return {};
    }
    return wideProduct(context, a, b, c, options);
}

namespace {

/// Of types that have products of their own; w may be of another dtype where it is packed.
base::Result<void> wideLinear(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias) {
    const std::int64_t k = x.dim(x.rank() - 1), n = w.rank() == 2 ? w.dim(0) : 1;
    std::vector<std::int64_t> dims = x.shape().dims();
    if (w.rank() == 2) dims.back() = n;
    else dims.pop_back();
    if (bias && bias->numel() != n)
        return opError("bias " + bias->typeText() + " does not match weights " + w.typeText());
    SONDE_ASSIGN(Tensor y, context.output(x.dtype(), Shape(std::move(dims))));
    const auto* packed = context.prepared<PackedRight>();
    const auto run = [&](auto zero) {
        using T = decltype(zero);
        GemmCall<T> call;
        call.m = n > 0 ? y.numel() / n : 0, call.n = n, call.k = k;
        call.left = {x.data<T>(), k, 1};
        if (w.dtype() == x.dtype()) call.right = {w.data<T>(), 1, k};
        if constexpr (std::is_same_v<T, float>) {
            if (packed) call.rightPacked = &packed->matrix;
        }
        call.c = y.mutableData<T>();
        call.ldc = n;
        call.columnBias = bias ? bias->data<T>() : nullptr;
        call.epilogue = Epilogue::of(y);
        call.stop = &context.environment().stop;
        gemm(call, context.pool());
    };
    if (!dispatchProduct(x.dtype(), [&](auto tag) { run(typename decltype(tag)::type{}); }))
        return opError("a linear layer is not defined for " + x.typeText());
    return {};
}

}  // namespace

base::Result<void> linear(KernelContext& context, const Tensor& x, const Tensor& w, const Tensor* bias) {
    if (x.rank() < 1 || w.rank() < 1 || w.rank() > 2 || x.dim(x.rank() - 1) != w.dim(w.rank() - 1)) {
        return opError("a linear layer with weights " + w.typeText() + " cannot take " + x.typeText());
    }
    const bool oneType = w.dtype() == x.dtype() && (!bias || bias->dtype() == x.dtype());
    if (!oneType && !isNarrow(x.dtype())) return opError("input, weights and bias must have the same dtype");
    if (const auto wider = widerType(x.dtype())) {
        SONDE_ASSIGN(const Tensor wideX, x.cast(*wider));
        SONDE_ASSIGN(const Tensor wideW, w.cast(packedRight(context, w) ? w.dtype() : *wider));
        Tensor wideBias;
        if (bias) {
            SONDE_ASSIGN(wideBias, bias->cast(*wider));
        }
        SONDE_TRY(wideLinear(context, wideX, wideW, bias ? &wideBias : nullptr));
        SONDE_TRY(narrowed(context, x.dtype(), 0));
        return {};
    }
    return wideLinear(context, x, w, bias);
}

}  // namespace sonde::ops::kernels
