#include "core/ops/kernels/half_sums.h"

#include <algorithm>
#include <vector>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/kernels/gemm.h"

namespace sonde::ops::kernels {

namespace {

constexpr std::int64_t kColumns = 256, kDepth = 64;

/// Columns [n0, n0 + width) of the right factor for k in [k0, k0 + depth).
void gatherColumns(const GemmCall<float>& call, std::int64_t k0, std::int64_t depth, std::int64_t n0,
                   std::int64_t width, float* target) {
    if (call.rightSource) return (*call.rightSource)(k0, depth, n0, width, target);
    for (std::int64_t k = 0; k < depth; ++k) {
        const float* row = call.right.data + (k0 + k) * call.right.rowStride + n0 * call.right.columnStride;
        for (std::int64_t j = 0; j < width; ++j) target[k * width + j] = row[j * call.right.columnStride];
    }
}

}  // namespace

bool sumsInHalf(const KernelContext& context) {
    return context.inputCount() > 0 && context.value(std::size_t{0}).isTensor() &&
           context.in(std::size_t{0}).dtype() == DType::Float16 &&
           context.attributes().getString(kComputeMode, "") == kComputeInHalf;
}

void roundToHalf(std::span<float> values) {
    for (float& value : values) value = nearestHalf(value);
}

void productInHalf(const GemmCall<float>& call, base::ThreadPool& pool) {
    const auto blocks = static_cast<std::size_t>((call.n + kColumns - 1) / kColumns);
    pool.parallelFor(blocks, 1, [&](std::size_t begin, std::size_t end) {
        std::vector<float> right(static_cast<std::size_t>(kColumns * kDepth));
        std::vector<float> sums(static_cast<std::size_t>(call.m * kColumns));
        for (auto block = static_cast<std::int64_t>(begin); block < static_cast<std::int64_t>(end); ++block) {
            const std::int64_t n0 = block * kColumns, width = std::min(kColumns, call.n - n0);
            std::ranges::fill(sums, 0.0F);
            for (std::int64_t k0 = 0; k0 < call.k; k0 += kDepth) {
                if (call.stop && call.stop->stop_requested()) return;
                const std::int64_t depth = std::min(kDepth, call.k - k0);
                gatherColumns(call, k0, depth, n0, width, right.data());
                for (std::int64_t i = 0; i < call.m; ++i) {
                    float* sum = sums.data() + i * kColumns;
                    for (std::int64_t k = 0; k < depth; ++k) {
                        const float a = call.left.data[i * call.left.rowStride + (k0 + k) * call.left.columnStride];
                        const float* b = right.data() + k * width;
                        for (std::int64_t j = 0; j < width; ++j) sum[j] = nearestHalf(sum[j] + nearestHalf(a * b[j]));
                    }
                }
            }
            for (std::int64_t i = 0; i < call.m; ++i) {
                float* c = call.c + i * call.ldc + n0;
                for (std::int64_t j = 0; j < width; ++j) {
                    float value = sums[static_cast<std::size_t>(i * kColumns + j)];
                    if (call.rowBias) value = nearestHalf(value + call.rowBias[i]);
                    if (call.columnBias) value = nearestHalf(value + call.columnBias[n0 + j]);
                    c[j] = call.accumulate ? nearestHalf(value + c[j]) : value;
                }
                if (call.epilogue) call.epilogue->apply(call.offset + i * call.ldc + n0, width);
            }
        }
    });
}

}  // namespace sonde::ops::kernels
