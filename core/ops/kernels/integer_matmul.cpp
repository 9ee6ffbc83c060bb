#include "core/ops/kernels/integer_matmul.h"

#include "core/ops/kernels/matmul.h"
#include "core/ops/kernels/quantized_values.h"

namespace sonde::ops::kernels {

namespace {

constexpr std::int64_t kMaxSum = 32768;  ///< products of bytes, whose sum is below 2^31

struct Sides {
    std::int64_t batches = 1, m = 1, k = 1, n = 1;

    Sides(const Tensor& a, const Tensor& b) {
        k = a.dim(a.rank() - 1);
        n = b.rank() > 1 ? b.dim(b.rank() - 1) : 1;
        m = a.rank() > 1 ? a.dim(a.rank() - 2) : 1;
        for (std::size_t i = 0; i + 2 < a.rank(); ++i) (b.rank() > 2 ? batches : m) *= a.dim(i);
    }
};

/// Matrix number `batch` of b, which is contiguous but for a matrix that is turned.
PackedIntegers packedOnce(const Tensor& b, std::int64_t batch, const Sides& sides, std::span<const std::int32_t> zeros,
                          base::ThreadPool& pool) {
    const ByteMatrix matrix{bytesOf(b) + batch * sides.k * sides.n, b.dtype() == DType::Int8, b.strides()[b.rank() - 2],
                            b.strides()[b.rank() - 1]};
    return PackedIntegers::right(matrix, sides.k, sides.n, zeros, PackedLifetime::OneCall, pool);
}

}  // namespace

base::Result<std::unique_ptr<PreparedState>> prepareRightIntegers(const Value& matrix, const Value& zeros,
                                                                  bool isTransposed, RunEnvironment& environment) {
    if (!matrix.isTensor() || !isByte(matrix.tensor().dtype()) || matrix.tensor().rank() != 2 ||
        matrix.tensor().numel() == 0) {
        return std::unique_ptr<PreparedState>();
    }
    SONDE_ASSIGN(const Tensor b, matrix.tensor().contiguous());
    const std::vector<std::int32_t> points = zeroPoints(zeros);
    const std::int64_t k = b.dim(isTransposed ? 1 : 0), n = b.dim(isTransposed ? 0 : 1);
    if (points.size() != 1 && static_cast<std::int64_t>(points.size()) != n) return std::unique_ptr<PreparedState>();
    auto state = std::make_unique<PackedRightIntegers>();
    state->hasZeros = zeros.isTensor();
    const ByteMatrix bytes{bytesOf(b), b.dtype() == DType::Int8, isTransposed ? 1 : n, isTransposed ? k : 1};
    state->matrix = PackedIntegers::right(bytes, k, n, points, PackedLifetime::Kept, *environment.pool);
    return std::unique_ptr<PreparedState>(std::move(state));
}

bool fitsIntegers(const IntegerMatmul& call) {
    const Tensor &a = call.a, &b = call.b;
    if (!isByte(a.dtype()) || !isByte(b.dtype()) || a.rank() < 1 || b.rank() < 2 || a.numel() == 0 || b.numel() == 0)
        return false;
    if (!matmulShape(a.shape(), b.shape()) || !a.isContiguous() || (!b.isContiguous() && b.rank() > 2)) return false;
    const Sides sides(a, b);
    if (sides.k > kMaxSum) return false;
    if (b.rank() > 2) {
        if (a.rank() != b.rank()) return false;
        for (std::size_t i = 0; i + 2 < a.rank(); ++i)
            if (a.dim(i) != b.dim(i)) return false;
    }
    const auto fits = [](const Value& zeros, std::int64_t count, bool oneMatrix) {
        return !zeros.isTensor() || zeros.tensor().numel() == 1 || (oneMatrix && zeros.tensor().numel() == count);
    };
    return fits(call.zeroA, sides.m, a.rank() == 2) && fits(call.zeroB, sides.n, b.rank() == 2);
}

void integerMatmul(KernelContext& context, const IntegerMatmul& call, const decltype(IntegerCall::finish)& finish) {
    const Sides sides(call.a, call.b);
    const std::vector<std::int32_t> zerosA = zeroPoints(call.zeroA), zerosB = zeroPoints(call.zeroB);
    const auto* prepared = call.b.rank() == 2 ? context.prepared<PackedRightIntegers>() : nullptr;
    if (prepared && prepared->hasZeros != call.zeroB.isTensor()) prepared = nullptr;  // these were not constant
    const auto one = [&](std::int64_t batch) {
        const PackedIntegers left = PackedIntegers::left(
            {bytesOf(call.a) + batch * sides.m * sides.k, call.a.dtype() == DType::Int8, sides.k, 1}, sides.m, sides.k,
            1, zerosA, PackedLifetime::OneCall, context.pool());
        PackedIntegers right;
        if (!prepared) right = packedOnce(call.b, batch, sides, zerosB, context.pool());
        IntegerCall product;
        product.left = &left;
        product.right = prepared ? &prepared->matrix : &right;
        product.finish = [&](std::int64_t row, std::int64_t n0, std::int64_t count, const std::int32_t* sums,
                             std::int32_t offset) { finish(batch * sides.m + row, n0, count, sums, offset); };
        product.stop = context.environment().stop;
        integerProduct(product, context.pool());
    };
    if (sides.batches == 1) return one(0);
    context.pool().parallelFor(static_cast<std::size_t>(sides.batches), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t batch = begin; batch < end && !context.cancelled(); ++batch)
            one(static_cast<std::int64_t>(batch));
    });
}

base::Result<Tensor> integerMatmul(KernelContext& context, const IntegerMatmul& call) {
    SONDE_ASSIGN(const Shape shape, matmulShape(call.a.shape(), call.b.shape()));
    SONDE_ASSIGN(Tensor y, context.output(std::size_t{0}, DType::Int32, shape));
    const std::int64_t n = call.b.dim(call.b.rank() - 1);
    auto* const data = y.mutableData<std::int32_t>();
    integerMatmul(context, call,
                  [&](std::int64_t row, std::int64_t n0, std::int64_t count, const std::int32_t* sums,
                      std::int32_t offset) { addOffset(sums, offset, data + row * n + n0, count); });
    return y;
}

}  // namespace sonde::ops::kernels
