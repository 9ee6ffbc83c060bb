#include "core/ops/support/promotion.h"

#include <array>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

int kindRank(DType dtype) {
    if (dtype == DType::Undefined) return -1;
    if (dtype == DType::Bool) return 0;
    if (tensor::isInteger(dtype)) return 1;
    if (tensor::isFloating(dtype)) return 2;
    return tensor::isComplex(dtype) ? 3 : 4;
}

DType numberType(tensor::ValueKind kind) {
    switch (kind) {
        case tensor::ValueKind::Bool: return DType::Bool;
        case tensor::ValueKind::Int: return DType::Int64;
        case tensor::ValueKind::Float: return DType::Float32;
        default: return DType::Undefined;
    }
}

/// The three groups of operands, each already promoted within itself.
struct Groups {
    std::array<DType, 3> best{DType::Undefined, DType::Undefined, DType::Undefined};

    void meet(std::size_t group, DType dtype) {
        best[group] = best[group] == DType::Undefined ? dtype : promotedTypes(best[group], dtype);
    }
    DType result() const {
        DType dtype = best[0];
        for (std::size_t i = 1; i < 3; ++i) {
            if (kindRank(best[i]) > kindRank(dtype)) dtype = best[i];
        }
        return dtype;
    }
};

}  // namespace

DType promotedTypes(DType a, DType b) {
    if (a == b) return a;
    if (kindRank(a) != kindRank(b)) return kindRank(a) > kindRank(b) ? a : b;
    if (tensor::isFloating(a) && tensor::itemSize(a) == tensor::itemSize(b))
        return DType::Float32;  // float16 and bfloat16
    if (tensor::isInteger(a) && tensor::isSigned(a) != tensor::isSigned(b)) {
        const DType sign = tensor::isSigned(a) ? a : b, plain = tensor::isSigned(a) ? b : a;
        if (tensor::itemSize(sign) > tensor::itemSize(plain)) return sign;
        switch (tensor::itemSize(plain)) {
            case 1: return DType::Int16;
            case 2: return DType::Int32;
            default: return DType::Int64;
        }
    }
    return tensor::itemSize(a) >= tensor::itemSize(b) ? a : b;
}

DType promoted(std::span<const Value> values) {
    Groups groups;
    for (const Value& value : values) {
        if (value.isTensor()) groups.meet(value.tensor().rank() > 0 ? 0 : 1, value.tensor().dtype());
        else if (value.isNumber()) groups.meet(2, numberType(value.kind()));
    }
    return groups.result();
}

DType promotedTypes(std::span<const TypeInfo> types) {
    Groups groups;
    // Whether a tensor has dimensions matters only beside tensors of another dtype.
    DType only = DType::Undefined;
    bool isOne = true, isRankOpen = false;
    for (const TypeInfo& type : types) {
        if (!type.kind) return DType::Undefined;
        if (type.isTensor()) {
            if (type.dtype == DType::Undefined) return DType::Undefined;
            isOne = isOne && (only == DType::Undefined || only == type.dtype);
            only = type.dtype;
            isRankOpen = isRankOpen || !type.shape;
            groups.meet(type.shape && type.shape->empty() ? 1 : 0, type.dtype);
        } else {
            const DType number = numberType(*type.kind);
            if (number != DType::Undefined) groups.meet(2, number);
        }
    }
    return isRankOpen && !isOne ? DType::Undefined : groups.result();
}

base::Result<Tensor> asTensor(const Value& value, DType dtype) {
    if (value.isTensor()) return value.tensor().cast(dtype);
    if (!value.isNumber()) return opError("expected a tensor or a number, but found " + value.typeText());
    if (value.kind() == tensor::ValueKind::Int) return Tensor::scalar<std::int64_t>(value.toInt()).cast(dtype);
    return Tensor::scalar<double>(value.number()).cast(dtype);
}

base::Result<std::pair<Tensor, Tensor>> promotedPair(const Value& a, const Value& b) {
    const Value both[] = {a, b};
    const DType dtype = promoted(both);
    if (dtype == DType::Undefined) return opError("cannot combine " + a.typeText() + " and " + b.typeText());
    SONDE_ASSIGN(Tensor x, asTensor(a, dtype));
    SONDE_ASSIGN(Tensor y, asTensor(b, dtype));
    return std::pair(std::move(x), std::move(y));
}

namespace {

// c10/core/ScalarType.h
constexpr std::array<DType, 16> kTorchTypes = {DType::UInt8,     DType::Int8,      DType::Int16,      DType::Int32,
                                               DType::Int64,     DType::Float16,   DType::Float32,    DType::Float64,
                                               DType::Undefined, DType::Complex64, DType::Complex128, DType::Bool,
                                               DType::Undefined, DType::Undefined, DType::Undefined,  DType::BFloat16};

}  // namespace

std::optional<DType> dtypeFromTorch(std::int64_t scalarType) {
    if (scalarType < 0 || scalarType >= static_cast<std::int64_t>(kTorchTypes.size())) return std::nullopt;
    const DType dtype = kTorchTypes[static_cast<std::size_t>(scalarType)];
    return dtype == DType::Undefined ? std::nullopt : std::optional(dtype);
}

std::int64_t torchFromDType(DType dtype) {
    for (std::size_t i = 0; i < kTorchTypes.size(); ++i) {
        if (kTorchTypes[i] == dtype) return static_cast<std::int64_t>(i);
    }
    return -1;
}

}  // namespace sonde::ops
