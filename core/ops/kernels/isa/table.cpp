#include "core/ops/kernels/float_kernels.h"

namespace sonde::ops::kernels::SONDE_ISA {

void addDepthwise(FloatKernels& table);
void addGemm(FloatKernels& table);
void addElementwise(FloatKernels& table);
void addEigenProducts(FloatKernels& table);
void addIntegerDepthwise(FloatKernels& table);
void addIntegers(FloatKernels& table);
void addMoments(FloatKernels& table);
void addQuantizedLoops(FloatKernels& table);
void addRows(FloatKernels& table);
void addWinograd(FloatKernels& table);

void fillTable(FloatKernels& table);

#define SONDE_TEXT_(x) #x
#define SONDE_TEXT(x) SONDE_TEXT_(x)

/// (The table is made by the caller: its constructor is an inline function.)
void fillTable(FloatKernels& table) {
    table.name = SONDE_TEXT(SONDE_ISA);
    addDepthwise(table);
    addGemm(table);
    addElementwise(table);
    addEigenProducts(table);
    addIntegerDepthwise(table);
    addIntegers(table);
    addMoments(table);
    addQuantizedLoops(table);
    addRows(table);
    addWinograd(table);
}

}  // namespace sonde::ops::kernels::SONDE_ISA
