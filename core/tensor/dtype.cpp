#include "core/tensor/dtype.h"

#include <array>

namespace sonde::tensor {

namespace {

enum class Class : std::uint8_t { None, Float, Signed, Unsigned, Complex, Text, Bool };

struct Row {
    std::string_view name;
    std::uint8_t bytes;
    std::uint8_t fileBits;
    Class kind;
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"?", 0, 0, Class::None},
    {"float32", 4, 32, Class::Float},
    {"uint8", 1, 8, Class::Unsigned},
    {"int8", 1, 8, Class::Signed},
    {"uint16", 2, 16, Class::Unsigned},
    {"int16", 2, 16, Class::Signed},
    {"int32", 4, 32, Class::Signed},
    {"int64", 8, 64, Class::Signed},
    {"string", 0, 0, Class::Text},
    {"bool", 1, 8, Class::Bool},
    {"float16", 2, 16, Class::Float},
    {"float64", 8, 64, Class::Float},
    {"uint32", 4, 32, Class::Unsigned},
    {"uint64", 8, 64, Class::Unsigned},
    {"complex64", 8, 64, Class::Complex},
    {"complex128", 16, 128, Class::Complex},
    {"bfloat16", 2, 16, Class::Float},
    {"float8_e4m3fn", 1, 8, Class::Float},
    {"float8_e4m3fnuz", 1, 8, Class::Float},
    {"float8_e5m2", 1, 8, Class::Float},
    {"float8_e5m2fnuz", 1, 8, Class::Float},
    {"uint4", 1, 4, Class::Unsigned},
    {"int4", 1, 4, Class::Signed},
    {"float4_e2m1", 1, 4, Class::Float},
    {"float8_e8m0", 1, 8, Class::Float},
    {"uint2", 1, 2, Class::Unsigned},
    {"int2", 1, 2, Class::Signed},
}};

const Row& row(DType dtype) {
    const auto index = static_cast<std::size_t>(dtype);
    return kRows[index < kRows.size() ? index : 0];
}

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtypeFromName(std::string_view name) {
    for (std::size_t i = 1; i < kRows.size(); ++i) {
        if (kRows[i].name == name) return static_cast<DType>(i);
    }
    if (name == "float") return DType::Float32;
    if (name == "double") return DType::Float64;
    if (name == "half") return DType::Float16;
    if (name == "long") return DType::Int64;
    if (name == "int") return DType::Int32;
    if (name == "bool_") return DType::Bool;
    return std::nullopt;
}

std::size_t itemSize(DType dtype) { return row(dtype).bytes; }
std::size_t bitsInFile(DType dtype) { return row(dtype).fileBits; }
bool isFloating(DType dtype) { return row(dtype).kind == Class::Float; }
bool isInteger(DType dtype) { return row(dtype).kind == Class::Signed || row(dtype).kind == Class::Unsigned; }
bool isSigned(DType dtype) {
    return row(dtype).kind == Class::Signed || isComplex(dtype) || (isFloating(dtype) && dtype != DType::Float8E8M0);
}
bool isComplex(DType dtype) { return row(dtype).kind == Class::Complex; }

}  // namespace sonde::tensor
