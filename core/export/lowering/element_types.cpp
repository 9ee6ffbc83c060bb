#include <algorithm>
#include <array>

#include "core/export/lowering/lowering.h"

namespace sonde::exporting {

namespace {

/// Operators that version 18 of ONNX does not have for some element types, or that no kernel of ONNX Runtime takes, and
/// one that does.
struct Widened {
    std::string_view op;
    std::array<DType, 5> from;  ///< Undefined: no more
    DType to;
};
constexpr std::array<DType, 5> kNarrow{DType::Bool, DType::Int8, DType::Int16, DType::UInt8, DType::UInt16},
    kBool{DType::Bool}, kHalf{DType::Float16, DType::BFloat16};
constexpr std::array<DType, 5> kShort{DType::Bool, DType::Int16, DType::UInt16};
constexpr Widened kWidened[] = {
    {"Greater", kBool, DType::Int32},
    {"GreaterOrEqual", kBool, DType::Int32},
    {"Less", kBool, DType::Int32},
    {"LessOrEqual", kBool, DType::Int32},
    {"Max", kNarrow, DType::Int32},
    {"Min", kNarrow, DType::Int32},
    {"ReduceMax", kShort, DType::Int32},
    {"ReduceMin", kShort, DType::Int32},
    {"ReduceSum", kNarrow, DType::Int32},
    {"ReduceProd", kNarrow, DType::Int32},
    {"ReduceMean", kNarrow, DType::Int32},
    {"ReduceL1", kNarrow, DType::Int32},
    {"ReduceL2", kNarrow, DType::Int32},
    {"MatMul", kNarrow, DType::Int32},
    {"Gemm", kNarrow, DType::Int32},
    {"Einsum", kNarrow, DType::Int32},
    {"Clip", {DType::Int16, DType::UInt16}, DType::Int32},
    {"Pow", kNarrow, DType::Int32},
    {"Neg", {DType::UInt8, DType::UInt16}, DType::Int32},
    {"IsInf", kHalf, DType::Float32},
};

}  // namespace

DType computedAs(std::string_view op, DType dtype) {
    for (const Widened& each : kWidened)
        if (each.op == op && dtype != DType::Undefined && std::ranges::find(each.from, dtype) != each.from.end())
            return each.to;
    return dtype;
}

}  // namespace sonde::exporting
