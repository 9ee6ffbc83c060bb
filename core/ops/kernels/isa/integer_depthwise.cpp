// A channel of bytes under a window: sums of 32 bits, and from these, while they are in registers, bytes again.
//
//     sum[o] = start + Σ_t Σ_l weights[t][l] · x[offsets[t] + stride·o + l]
//
// The picture lies in memory with its border, the outputs of all its rows behind each other: vectors run across the
// ends of rows, so that small pictures fill them too. A step t is what one instruction multiplies and adds: four bytes
// (vpdpbusd of AVX512_VNNI, before which vpermb of AVX512_VBMI brings the four together) or two 16-bit elements
// (pmaddwd).

#include "core/ops/kernels/float_kernels.h"
#include "core/ops/kernels/isa/integer_vectors.h"

namespace sonde::ops::kernels::SONDE_ISA {

namespace {

/// Sums as they are.
struct StoredSums {
    std::int32_t* y;
    __attribute__((always_inline)) void operator()(std::ptrdiff_t at, const Ints& sums) const {
        std::memcpy(y + at, &sums, sizeof(sums));
    }
    __attribute__((always_inline)) void operator()(std::ptrdiff_t at, const Ints& even, const Ints& odd) const {
        for (int i = 0; i < kWidth; ++i) y[at + 2 * i] = even[i], y[at + 2 * i + 1] = odd[i];
    }
};

struct StoredBytes {
    RequantisedVector requantised;
    Vector factor;
    std::uint8_t* y;
    StoredBytes(const Requantisation& by, std::uint8_t* y) : requantised(by), factor(by.factor - Vector{}), y(y) {}
    __attribute__((always_inline)) void operator()(std::ptrdiff_t at, const Ints& sums) const {
        storeBytes(y + at, requantised(sums, factor));
    }
    __attribute__((always_inline)) void operator()(std::ptrdiff_t at, const Ints& even, const Ints& odd) const {
        storeBytes(y + at, requantised(even, factor), requantised(odd, factor));
    }
};

inline __attribute__((always_inline)) Ints loadPairs(const std::int16_t* x) {
    Ints v;
    std::memcpy(&v, x, sizeof(v));
    return v;
}

/// Two vectors of outputs. With stride 1 the pairs from x[0] on belong to even outputs, those from x[1] on to odd ones.
template <int stride, typename Store>
void eachOfPairs(const BytePlane& p, const Store& store) {
    constexpr std::ptrdiff_t kSecond = stride == 1 ? 1 : 2 * kWidth;
    for (std::ptrdiff_t o = 0; o < p.outputs; o += std::ptrdiff_t{2} * kWidth) {
        Ints first = everywhere(p.start), second = first;
        const std::int16_t* const x = static_cast<const std::int16_t*>(p.x) + stride * o;
        for (std::ptrdiff_t t = 0; t < p.steps; ++t) {
            const Ints weights = everywhere(p.weights[t]);
            first = addPairs(first, loadPairs(x + p.offsets[t]), weights);
            second = addPairs(second, loadPairs(x + p.offsets[t] + kSecond), weights);
        }
        if constexpr (stride == 1) store(o, first, second);
        else store(o, first), store(o + kWidth, second);
    }
}

void sumPairs(const BytePlane& p, std::int32_t* y) {
    p.stride == 1 ? eachOfPairs<1>(p, StoredSums{y}) : eachOfPairs<2>(p, StoredSums{y});
}

void requantisePairs(const BytePlane& p, const Requantisation& by, std::uint8_t* y) {
    p.stride == 1 ? eachOfPairs<1>(p, StoredBytes(by, y)) : eachOfPairs<2>(p, StoredBytes(by, y));
}

/// Row `index` of the picture, null outside of it.
inline const std::uint8_t* rowOf(const BorderedRows& p, std::ptrdiff_t index) {
    const std::ptrdiff_t row = p.top + index * p.step;
    return row < 0 || row >= p.height ? nullptr : p.x + row * p.width;
}

void placePairs(const BorderedRows& p, void* target) {
    auto* y = static_cast<std::int16_t*>(target);
    const std::ptrdiff_t begin = p.left >= 0 ? 0 : p.left <= -p.count ? p.count : -p.left, room = p.width - p.left;
    const std::ptrdiff_t end = room <= begin ? begin : room < p.count ? room : p.count;
    const int flip = p.form.isSigned ? 128 : 0;  // (byte ^ 128) − 128 is the byte with its sign
    const int zero = p.form.zero + flip;
    const auto border = static_cast<std::int16_t>((p.border ^ flip) - zero);
    for (std::ptrdiff_t r = 0; r < p.rows; ++r, y += p.count) {
        const std::uint8_t* const x = rowOf(p, r);
        const std::ptrdiff_t first = x ? begin : p.count;
        for (std::ptrdiff_t i = 0; i < first; ++i) y[i] = border;
        for (std::ptrdiff_t i = first; i < end; ++i) y[i] = static_cast<std::int16_t>((x[p.left + i] ^ flip) - zero);
        for (std::ptrdiff_t i = x ? end : p.count; i < p.count; ++i) y[i] = border;
    }
}

#if defined(__AVX512F__)

#define SONDE_BYTES __attribute__((target("avx512vnni,avx512vbmi")))

/// `vectors` of outputs from o on: each step's weights are loaded once for all.
template <int vectors, int stride, typename Store>
SONDE_BYTES inline void blockOfBytes(const BytePlane& p, const __m512i& neighbours, std::ptrdiff_t o,
                                     const Store& store) {
    const std::uint8_t* const x = static_cast<const std::uint8_t*>(p.x) + stride * o;
    __m512i sums[vectors];
    for (__m512i& sum : sums) sum = _mm512_set1_epi32(p.start);
    for (std::ptrdiff_t t = 0; t < p.steps; ++t) {
        const __m512i weights = _mm512_set1_epi32(p.weights[t]);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            const __m512i bytes = _mm512_loadu_si512(x + p.offsets[t] + v * kWidth * stride);
            sums[v] = _mm512_dpbusd_epi32(sums[v], _mm512_permutexvar_epi8(neighbours, bytes), weights);
        }
    }
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(o + v * kWidth, reinterpret_cast<Ints>(sums[v]));
}

template <int stride, typename Store>
SONDE_BYTES void eachOfBytes(const BytePlane& p, const Store& store) {
    constexpr int kAtOnce = 4;
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i neighbours = _mm512_add_epi32(_mm512_mullo_epi32(lanes, _mm512_set1_epi32(stride * 0x01010101)),
                                                _mm512_set1_epi32(0x03020100));  // stride·lane + 0, 1, 2, 3
    std::ptrdiff_t o = 0;
    for (; p.outputs - o > (kAtOnce - 1) * kWidth; o += kAtOnce * kWidth)
        blockOfBytes<kAtOnce, stride>(p, neighbours, o, store);
    for (; o < p.outputs; o += kWidth) blockOfBytes<1, stride>(p, neighbours, o, store);
}

void sumBytes(const BytePlane& p, std::int32_t* y) {
    p.stride == 1 ? eachOfBytes<1>(p, StoredSums{y}) : eachOfBytes<2>(p, StoredSums{y});
}

void requantiseSums(const BytePlane& p, const Requantisation& by, std::uint8_t* y) {
    p.stride == 1 ? eachOfBytes<1>(p, StoredBytes(by, y)) : eachOfBytes<2>(p, StoredBytes(by, y));
}

inline __mmask64 lanesBelow(std::ptrdiff_t n) {
    return n <= 0 ? 0 : n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

void placeBytes(const BorderedRows& p, void* target) {
    const __m512i border = _mm512_set1_epi8(static_cast<char>(p.border)),
                  flip = _mm512_set1_epi8(static_cast<char>(p.form.flip));
    for (std::ptrdiff_t r = 0; r < p.rows; ++r) {
        const std::uint8_t* const x = rowOf(p, r);
        auto* const y = static_cast<std::uint8_t*>(target) + r * p.count;
        for (std::ptrdiff_t i = 0; i < p.count; i += 64) {
            const std::ptrdiff_t at = p.left + i;
            const __mmask64 inside = x ? lanesBelow(p.width - at) & ~lanesBelow(-at) : 0;
            _mm512_storeu_si512(y + i, _mm512_xor_si512(_mm512_mask_loadu_epi8(border, inside, x + at), flip));
        }
    }
}

#endif

void joinRows(const std::uint8_t* x, std::ptrdiff_t pitch, std::ptrdiff_t rows, std::ptrdiff_t columns,
              std::uint8_t* y) {
#if defined(__AVX512F__)
    const __mmask64 last = lanesBelow((columns - 1) % 64 + 1);
    for (std::ptrdiff_t r = 0; r < rows; ++r, x += pitch, y += columns) {
        std::ptrdiff_t i = 0;
        for (; i + 64 < columns; i += 64) _mm512_storeu_si512(y + i, _mm512_loadu_si512(x + i));
        _mm512_mask_storeu_epi8(y + i, last, _mm512_loadu_si512(x + i));
    }
#else
    for (std::ptrdiff_t r = 0; r < rows; ++r, x += pitch, y += columns)
        std::memcpy(y, x, static_cast<std::size_t>(columns));
#endif
}

}  // namespace

void addIntegerDepthwise(FloatKernels& table) {
    table.byteWindows = {2, placePairs, sumPairs, requantisePairs, joinRows};
#if defined(__AVX512F__)
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi"))
        table.byteWindows = {4, placeBytes, sumBytes, requantiseSums, joinRows};
#endif
}

}  // namespace sonde::ops::kernels::SONDE_ISA
