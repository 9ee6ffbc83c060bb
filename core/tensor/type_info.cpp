#include "core/tensor/type_info.h"

namespace sonde::tensor {

TypeInfo TypeInfo::tensor(DType dtype, std::optional<std::vector<Dim>> shape) {
    TypeInfo type;
    type.kind = ValueKind::Tensor;
    type.dtype = dtype;
    type.shape = std::move(shape);
    return type;
}

TypeInfo TypeInfo::tensor(DType dtype, const Shape& shape) {
    std::vector<Dim> dims;
    dims.reserve(shape.rank());
    for (std::int64_t dimSize : shape) dims.push_back(Dim::of(dimSize));
    return tensor(dtype, std::optional(std::move(dims)));
}

TypeInfo TypeInfo::of(const Value& value) {
    if (value.isTensor()) return tensor(value.tensor().dtype(), value.tensor().shape());
    TypeInfo type;
    type.kind = value.kind();
    switch (value.kind()) {
        case ValueKind::Tuple:
            for (const Value& item : value.items()) type.elements.push_back(of(item));
            break;
        case ValueKind::List:
        case ValueKind::Sequence:
        case ValueKind::Optional:
            if (!value.items().empty()) {
                TypeInfo element = of(value.items().front());
                // One type stands for all: drop the shape where the items differ.
                for (const Value& item : value.items()) {
                    if (element.isTensor() && of(item) != element) element.shape.reset();
                }
                type.elements.push_back(std::move(element));
            }
            break;
        case ValueKind::Dict:
            if (!value.dictItems().empty()) {
                type.elements = {of(value.dictItems().front().first), of(value.dictItems().front().second)};
            }
            break;
        default: break;
    }
    return type;
}

std::optional<Shape> TypeInfo::staticShape() const {
    if (!shape) return std::nullopt;
    std::vector<std::int64_t> dims;
    for (const Dim& dim : *shape) {
        if (!dim.known()) return std::nullopt;
        dims.push_back(dim.value);
    }
    return Shape(std::move(dims));
}

std::string TypeInfo::shapeText() const {
    if (!shape) return {};
    std::string text = "[";
    for (std::size_t i = 0; i < shape->size(); ++i) {
        const Dim& dim = (*shape)[i];
        if (i) text += ',';
        text += dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol;
    }
    return text + "]";
}

std::string TypeInfo::text() const {
    if (!kind) return "?";
    if (*kind == ValueKind::Tensor) {
        if (dtype == DType::Undefined) return shape ? shapeText() : "?";
        return std::string(name(dtype)) + shapeText();
    }
    std::string text(name(*kind));
    if (elements.empty()) return text;
    text += '(';
    for (std::size_t i = 0; i < elements.size(); ++i) text += (i ? ", " : "") + elements[i].text();
    return text + ')';
}

}  // namespace sonde::tensor
