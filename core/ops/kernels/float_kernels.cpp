#include "core/ops/kernels/float_kernels.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace sonde::ops::kernels {

namespace baseline {
void fillTable(FloatKernels& table);
}
#if defined(SONDE_X86_KERNELS)
namespace avx2 {
void fillTable(FloatKernels& table);
}
namespace avx512 {
void fillTable(FloatKernels& table);
}
#endif

namespace {

FloatKernels filled(void (*fill)(FloatKernels&)) {
    FloatKernels table;
    fill(table);
    return table;
}

}  // namespace

const FloatKernels* floatKernels(Isa isa) {
    static const FloatKernels plain = filled(baseline::fillTable);
    if (isa == Isa::Baseline) return &plain;
#if defined(SONDE_X86_KERNELS)
    static const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    static const bool hasAvx512 = hasAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                                  __builtin_cpu_supports("avx512cd");
    if (isa == Isa::Avx2 && hasAvx2) {
        static const FloatKernels table = filled(avx2::fillTable);
        return &table;
    }
    if (isa == Isa::Avx512 && hasAvx512) {
        static const FloatKernels table = filled(avx512::fillTable);
        return &table;
    }
#endif
    return nullptr;
}

const FloatKernels& floatKernels() {
    static const FloatKernels* const best = [] {
        // For tests: the loops of an older processor on a newer one.
        const char* const wanted = std::getenv("SONDE_KERNELS");
        for (Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Baseline}) {
            const FloatKernels* table = floatKernels(isa);
            if (table && (!wanted || std::strcmp(wanted, table->name) == 0)) return table;
        }
        for (Isa isa : {Isa::Avx512, Isa::Avx2}) {
            if (const FloatKernels* table = floatKernels(isa)) return table;
        }
        return floatKernels(Isa::Baseline);
    }();
    return *best;
}

}  // namespace sonde::ops::kernels
