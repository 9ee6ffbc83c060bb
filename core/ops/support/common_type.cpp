#include "core/ops/support/common_type.h"

namespace sonde::ops {

using tensor::Dim;
using tensor::TypeInfo;

namespace {

/// One type for all elements of lists that differ in length; an empty list fits any other.
void joinElements(const TypeInfo& a, const TypeInfo& b, std::vector<TypeInfo>& into) {
    for (const TypeInfo* list : {&a, &b}) {
        for (const TypeInfo& element : list->elements) {
            if (into.empty()) into.push_back(element);
            else into.front() = commonType(into.front(), element);
        }
    }
}

}  // namespace

TypeInfo commonType(const TypeInfo& a, const TypeInfo& b) {
    TypeInfo result;
    if (a.kind != b.kind) return result;
    result.kind = a.kind;
    if (a.dtype == b.dtype) result.dtype = a.dtype;
    const bool isSequence = a.kind == tensor::ValueKind::Sequence;
    if (a.elements == b.elements || (isSequence && b.elements.empty())) {
        result.elements = a.elements;
    } else if (isSequence && a.elements.empty()) {
        result.elements = b.elements;
    } else if (a.elements.size() == b.elements.size()) {
        for (std::size_t i = 0; i < a.elements.size(); ++i)
            result.elements.push_back(commonType(a.elements[i], b.elements[i]));
    } else if (a.kind == tensor::ValueKind::List) {
        joinElements(a, b, result.elements);
    }
    if (!a.shape || !b.shape || a.shape->size() != b.shape->size()) return result;
    result.shape = a.shape;
    for (std::size_t i = 0; i < a.shape->size(); ++i) {
        if ((*a.shape)[i] != (*b.shape)[i]) (*result.shape)[i] = Dim{};
    }
    return result;
}

}  // namespace sonde::ops
