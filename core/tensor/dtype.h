#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sonde::tensor {

/// Element types, numbered as in ONNX's TensorProto.DataType (onnx.proto).
/// In memory every element has at least one byte: int4, uint4, int2, uint2 and float4 are stored one to a byte and are
/// packed only in files. Strings are not raw bytes: see Tensor::strings().
enum class DType : std::uint8_t {
    Undefined = 0,
    Float32 = 1,
    UInt8 = 2,
    Int8 = 3,
    UInt16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Float64 = 11,
    UInt32 = 12,
    UInt64 = 13,
    Complex64 = 14,
    Complex128 = 15,
    BFloat16 = 16,
    Float8E4M3FN = 17,
    Float8E4M3FNUZ = 18,
    Float8E5M2 = 19,
    Float8E5M2FNUZ = 20,
    UInt4 = 21,
    Int4 = 22,
    Float4E2M1 = 23,
    Float8E8M0 = 24,
    UInt2 = 25,
    Int2 = 26,
};
inline constexpr int kDTypeCount = 27;

/// "float32", "int64", "bfloat16", "float8_e4m3fn" …: the names of numpy and ml_dtypes. "?" for Undefined.
std::string_view name(DType dtype);
/// The inverse of name(); also accepts "float", "double", "half", "long", "int" and "bool_".
std::optional<DType> dtypeFromName(std::string_view name);
/// Bytes of one element in memory; 0 for String and Undefined.
std::size_t itemSize(DType dtype);
/// Bits of one element in a file: 4 for Int4, 2 for UInt2, 8 * itemSize otherwise.
std::size_t bitsInFile(DType dtype);

bool isFloating(DType dtype);  ///< float16 to float64, bfloat16, float8, float4
bool isInteger(DType dtype);   ///< signed and unsigned integers of any width; not bool
bool isSigned(DType dtype);    ///< has negative values
bool isComplex(DType dtype);

}  // namespace sonde::tensor
