#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/tensor/value.h"

namespace sonde::tensor {

/// One dim size of a shape that may not be known before a run: a number, a symbol ("N", "batch"), or nothing known.
struct Dim {
    std::int64_t value = -1;  ///< -1: not known
    std::string symbol;       ///< only when value is -1; may be empty

    static Dim of(std::int64_t dimSize) { return Dim{dimSize, {}}; }
    static Dim named(std::string symbol) { return Dim{-1, std::move(symbol)}; }
    bool known() const { return value >= 0; }
    bool operator==(const Dim&) const = default;
};

/// What is known about a value before it exists. Nothing of it has to be known.
struct TypeInfo {
    std::optional<ValueKind> kind;
    DType dtype = DType::Undefined;         ///< of a tensor; Undefined: not known
    std::optional<std::vector<Dim>> shape;  ///< of a tensor; none: not even the rank is known
    std::vector<TypeInfo> elements;         ///< of a tuple (each), list, sequence or optional (one), dict (key, value)

    static TypeInfo tensor(DType dtype, std::optional<std::vector<Dim>> shape = std::nullopt);
    static TypeInfo tensor(DType dtype, const Shape& shape);
    static TypeInfo of(const Value& value);
    bool isTensor() const { return kind == ValueKind::Tensor; }
    /// The shape if every dim size is a number.
    std::optional<Shape> staticShape() const;
    /// "float32[N,64,56,56]", "float32", "[N,64]", "sequence(float32)", "?" if nothing is known.
    std::string text() const;
    /// "[N,64,56,56]" or "" if the rank is not known.
    std::string shapeText() const;
    bool operator==(const TypeInfo&) const = default;
};

}  // namespace sonde::tensor
