#include "core/analysis/infer_types.h"

namespace sonde::analysis {

using tensor::Dim;
using tensor::DType;
using tensor::TypeInfo;

namespace {

constexpr std::size_t kLongExpression = 40;

bool disagree(const Dim& a, const Dim& b) { return a.known() && b.known() && a.value != b.value; }

Dim merged(const Dim& declared, const Dim& inferred) {
    if (declared.known()) return declared;
    if (inferred.known() || declared.symbol.empty()) return inferred;
    return !inferred.symbol.empty() && inferred.symbol.size() <= kLongExpression ? inferred : declared;
}

}  // namespace

bool disagree(const TypeInfo& a, const TypeInfo& b) {
    if (a.kind && b.kind && *a.kind != *b.kind) return true;
    for (std::size_t i = 0; i < a.elements.size() && a.elements.size() == b.elements.size(); ++i) {
        if (disagree(a.elements[i], b.elements[i])) return true;
    }
    if (a.dtype != DType::Undefined && b.dtype != DType::Undefined && a.dtype != b.dtype) return true;
    if (!a.shape || !b.shape) return false;
    if (a.shape->size() != b.shape->size()) return true;
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
        if (disagree((*a.shape)[i], (*b.shape)[i])) return true;
    }
    return false;
}

TypeInfo merged(const TypeInfo& declared, const TypeInfo& inferred) {
    TypeInfo result = declared;
    if (!result.kind) result.kind = inferred.kind;
    if (result.dtype == DType::Undefined) result.dtype = inferred.dtype;
    if (result.elements.empty()) {
        result.elements = inferred.elements;
    } else if (result.elements.size() == inferred.elements.size()) {
        for (std::size_t i = 0; i < result.elements.size(); ++i)
            result.elements[i] = merged(result.elements[i], inferred.elements[i]);
    }
    if (!result.shape) {
        result.shape = inferred.shape;
    } else if (inferred.shape && inferred.shape->size() == result.shape->size()) {
        for (std::size_t i = 0; i < result.shape->size(); ++i)
            (*result.shape)[i] = merged((*result.shape)[i], (*inferred.shape)[i]);
    }
    return result;
}

TypeInfo stacked(TypeInfo element, Dim count, std::int64_t axis) {
    if (!element.isTensor() || !element.shape) return element;
    const auto at = tensor::normalizedAxis(axis, element.shape->size() + 1);
    if (!at) {
        element.shape.reset();
        return element;
    }
    element.shape->insert(element.shape->begin() + static_cast<std::ptrdiff_t>(*at), std::move(count));
    return element;
}

TypeInfo kindOf(tensor::ValueKind kind) {
    TypeInfo type;
    type.kind = kind;
    return type;
}

}  // namespace sonde::analysis
