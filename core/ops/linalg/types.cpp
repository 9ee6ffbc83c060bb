#include "core/ops/linalg/types.h"

namespace sonde::ops::linalg {

Dims MatrixType::with(std::initializer_list<Dim> last) const {
    Dims dims = batch;
    dims.insert(dims.end(), last);
    return dims;
}

std::optional<MatrixType> matrixType(const InferContext& context, Name input) { return matrixType(context.in(input)); }

std::optional<MatrixType> matrixType(const TypeInfo& type) {
    const auto& shape = type.shape;
    if (!shape || shape->size() < 2) return std::nullopt;
    return MatrixType{Dims(shape->begin(), shape->end() - 2), (*shape)[shape->size() - 2], shape->back()};
}

void setType(InferContext& context, std::size_t output, DType dtype, std::optional<Dims> dims) {
    context.set(output, TypeInfo::tensor(dtype, std::move(dims)));
}

std::optional<bool> knownFlag(const InferContext& context, Name input) {
    const Value& value = context.constant(input);
    return value.isNumber() ? std::optional(value.number() != 0) : std::nullopt;
}

base::Result<void> inferPerMatrix(InferContext& context) {
    const auto a = matrixType(context.in(kOperand));
    setType(context, 0, context.in(kOperand).dtype, a ? std::optional(a->batch) : std::nullopt);
    return {};
}

base::Result<void> inferSolution(InferContext& context, Name matrix, Name right) {
    const auto a = matrixType(context, matrix), b = matrixType(context, right);
    std::optional<Dims> dims;
    if (a && b) {
        SONDE_ASSIGN(const Dims batch, broadcastDims(a->batch, b->batch));
        dims = MatrixType{batch, b->rows, b->cols}.with({b->rows, b->cols});
    }
    setType(context, 0, context.in(right).dtype, std::move(dims));
    return {};
}

}  // namespace sonde::ops::linalg
