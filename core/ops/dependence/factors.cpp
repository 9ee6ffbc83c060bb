// What matrices are taken apart into, their powers and exponentials, and what is solved with factors: sums of elements
// of one matrix, by weights that its other elements act through.

#include <map>
#include <tuple>

#include "core/ops/dependence/heads.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

/// The matrix of a batch that a call is about, in float64.
struct OwnMatrix {
    std::size_t input = 0;
    std::int64_t rows = 0, columns = 0;
    std::int64_t first = 0;  ///< its first element in the input
    Tensor wide;             ///< [rows, columns]

    std::int64_t element(std::int64_t i, std::int64_t j) const { return first + i * columns + j; }
};

base::Result<Tensor> matrixOf(const Tensor& x, std::int64_t batch) {
    const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
    SONDE_ASSIGN(const Tensor whole, x.contiguous());
    const std::int64_t count = whole.numel() / std::max<std::int64_t>(rows * columns, 1);
    if (batch >= count) return opError("the matrices do not match the result");
    SONDE_ASSIGN(const Tensor flat, whole.reshaped(Shape{count, rows, columns}));
    SONDE_ASSIGN(const Tensor own, flat.selected(0, batch).cast(DType::Float64));
    return own.contiguous();
}

/// `batch`: the indices in front of those of the matrix.
base::Result<OwnMatrix> ownMatrix(const ElementCall& call, std::size_t input, const std::vector<std::int64_t>& batch) {
    const Tensor& x = call.context.in(input);
    if (x.rank() < 2 || tensor::isComplex(x.dtype())) return opError("there is no formula for " + x.typeText());
    const Shape batches(std::span(x.shape().dims()).first(x.rank() - 2));
    const std::int64_t number = broadcastElement(batch, batches);
    if (number < 0) return opError("the matrices do not match the result");
    OwnMatrix made{input, x.dim(x.rank() - 2), x.dim(x.rank() - 1), 0, {}};
    made.first = number * made.rows * made.columns;
    SONDE_ASSIGN(made.wide, matrixOf(x, number));
    return made;
}

std::vector<std::int64_t> batchOf(const ElementCall& call, std::size_t own) {
    return {call.at.begin(), call.at.end() - static_cast<std::ptrdiff_t>(std::min(own, call.at.size()))};
}

/// "sum(w * x)" of elements of a matrix by their weights; the others have none.
using Weights = std::map<std::pair<std::int64_t, std::int64_t>, double>;
base::Result<Dependence> weighedElements(const ElementCall& call, const OwnMatrix& matrix, const Weights& weights) {
    SONDE_TRY(checkTerms(matrix.rows * matrix.columns));
    Dependence dependence;
    dependence.formula = "sum(w * x)";
    const std::uint32_t part = dependence.listPart("x", "w"), others = dependence.listPart("other");
    for (const auto& [at, weight] : weights) {
        addElement(dependence, part, call, matrix.input, matrix.element(at.first, at.second));
        dependence.terms.back().weight = weight;
    }
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        for (std::int64_t j = 0; j < matrix.columns; ++j) {
            if (weights.contains({i, j})) continue;
            addElement(dependence, others, call, matrix.input, matrix.element(i, j));
            dependence.terms.back().weight = 0;
        }
    }
    return dependence;
}

double at(const Tensor& matrix, std::int64_t i, std::int64_t j) {
    return matrix.toDouble(i * matrix.dim(matrix.rank() - 1) + j);
}

base::Result<Tensor> inverseOf(const ElementCall& call, const Tensor& matrix) {
    return invokeAten(call.context, "linalg_inv", {Value(matrix)});
}

/// An output of the call, computed if nobody has it; of that batch, in float64 [rows, columns].
base::Result<Tensor> factorOf(const ElementCall& call, std::size_t output, std::int64_t batch) {
    std::vector<Value> outputs(call.outputs.begin(), call.outputs.end());
    if (output >= outputs.size() || !outputs[output].isTensor()) {
        SONDE_ASSIGN(outputs, ops::call(call.op, callInputs(call), call.context.attributes(), call.op.outputs.size(),
                                        call.context.environment(), call.context.version()));
    }
    if (output >= outputs.size() || !outputs[output].isTensor()) return opError("a factor is not known");
    return matrixOf(outputs[output].tensor(), batch);
}

bool isSet(const ElementCall& call, std::string_view name, bool fallback) {
    const Value* const given = argumentOf(call, name);
    return given && given->isNumber() ? given->number() != 0 : fallback;
}

std::int64_t batchNumber(const OwnMatrix& matrix) {
    return matrix.first / std::max<std::int64_t>(matrix.rows * matrix.columns, 1);
}

}  // namespace

base::Result<Dependence> choleskyFactor(const ElementCall& call) {
    if (call.output != 0) return opError("what tells whether it worked has no formula");
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, 2)));
    const bool isUpper = isSet(call, "upper", false);
    std::int64_t i = call.at[call.at.size() - 2], j = call.at.back();
    if (isUpper) std::swap(i, j);
    if (j > i) return constantElement(0);
    SONDE_ASSIGN(Tensor factor, matrixOf(call.result, batchNumber(matrix)));
    if (isUpper) {
        SONDE_ASSIGN(factor, factor.transposed(0, 1).contiguous());
    }
    // L = A·L⁻ᵀ, where the rows of L⁻¹ end on the diagonal.
    SONDE_ASSIGN(const Tensor inverse, inverseOf(call, factor));
    Weights weights;
    for (std::int64_t k = 0; k <= j; ++k) weights[isUpper ? std::pair(k, i) : std::pair(i, k)] = at(inverse, j, k);
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> orthogonalFactor(const ElementCall& call) {
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, 2)));
    const std::int64_t i = call.at[call.at.size() - 2], j = call.at.back(), batch = batchNumber(matrix);
    SONDE_ASSIGN(const Tensor q, factorOf(call, 0, batch));
    Weights weights;
    if (call.output == 1) {  // R = Qᵀ·A
        if (q.numel() == 0) return opError("without Q the elements of R have no formula");
        for (std::int64_t k = 0; k < matrix.rows; ++k) weights[{k, j}] = at(q, k, i);
        return weighedElements(call, matrix, weights);
    }
    SONDE_ASSIGN(const Tensor r, factorOf(call, 1, batch));
    const std::int64_t n = std::min(matrix.rows, matrix.columns);
    if (j >= n) return opError("a column that only completes Q has no formula");
    // The first columns of A are Q's times a square R.
    SONDE_ASSIGN(const Tensor square, r.sliced(0, 0, n).sliced(1, 0, n).contiguous());
    SONDE_ASSIGN(const Tensor inverse, inverseOf(call, square));
    for (std::int64_t k = 0; k <= j; ++k) weights[{i, k}] = at(inverse, k, j);
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> triangularFactor(const ElementCall& call) {
    if (call.output == 0) return opError("which rows are exchanged has no formula");
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, 2)));
    const std::int64_t i = call.at[call.at.size() - 2], j = call.at.back(), batch = batchNumber(matrix),
                       n = std::min(matrix.rows, matrix.columns);
    SONDE_ASSIGN(const Tensor l, factorOf(call, 1, batch));
    SONDE_ASSIGN(const Tensor u, factorOf(call, 2, batch));
    std::vector<std::int64_t> rowOf;  // of A, that stands in a row of L·U
    if (isSet(call, "pivot", true)) {
        SONDE_ASSIGN(const Tensor p, factorOf(call, 0, batch));
        for (std::int64_t row = 0; row < matrix.rows; ++row)
            for (std::int64_t k = 0; k < matrix.rows; ++k)
                if (at(p, k, row) != 0) rowOf.push_back(k);
    } else {
        for (std::int64_t row = 0; row < matrix.rows; ++row) rowOf.push_back(row);
    }
    if (static_cast<std::int64_t>(rowOf.size()) != matrix.rows) return opError("the rows are not known");
    const bool isLower = call.output == 1;
    if (isLower ? j > i : j < i) return constantElement(0);
    if (isLower && i == j) return constantElement(1);
    // L = A·U⁻¹ and U = L⁻¹·A of the square parts, with the rows exchanged.
    SONDE_ASSIGN(const Tensor square, (isLower ? u : l).sliced(0, 0, n).sliced(1, 0, n).contiguous());
    SONDE_ASSIGN(const Tensor inverse, inverseOf(call, square));
    Weights weights;
    for (std::int64_t k = 0; k <= (isLower ? j : i); ++k) {
        if (isLower) weights[{rowOf[static_cast<std::size_t>(i)], k}] = at(inverse, k, j);
        else weights[{rowOf[static_cast<std::size_t>(k)], j}] = at(inverse, i, k);
    }
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> symmetricEigen(const ElementCall& call) {
    const bool isValue = call.output == 0;
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, isValue ? 1 : 2)));
    const std::int64_t n = matrix.rows, batch = batchNumber(matrix), k = call.at.back();
    const Value* const triangle = argumentOf(call, "UPLO");
    const bool isUpper = triangle && triangle->toString() == "U";
    SONDE_ASSIGN(const std::vector<Value> both,
                 invoke(call.context, "aten", "linalg_eigh",
                        {Value(matrix.wide), Value(std::string(isUpper ? "U" : "L"))}, {}, 2));
    Tensor vectors = both[1].tensor(), values = both[0].tensor();
    if (!isValue) {  // which sign they have is the call's own
        SONDE_ASSIGN(vectors, factorOf(call, 1, batch));
    }
    Weights weights;
    const auto add = [&](std::int64_t i, std::int64_t j, double weight) {
        const bool isStored = isUpper ? j >= i : j <= i;
        weights[isStored ? std::pair(i, j) : std::pair(j, i)] += weight;
    };
    if (isValue) {  // vᵀ·A·v
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j) add(i, j, at(vectors, i, k) * at(vectors, j, k));
    } else {  // A·v / λ
        const double value = values.toDouble(k);
        if (value == 0) return opError("a vector of the eigenvalue 0 has no formula");
        const std::int64_t row = call.at[call.at.size() - 2];
        for (std::int64_t j = 0; j < n; ++j) add(row, j, at(vectors, j, k) / value);
    }
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> singularFactor(const ElementCall& call) {
    const bool isAlone = call.op.outputs.size() == 1, isValue = isAlone || call.output == 1;
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, isValue ? 1 : 2)));
    const std::int64_t batch = batchNumber(matrix);
    const std::vector<Value> asked{Value(matrix.wide), Value::ofBool(false)};
    SONDE_ASSIGN(const std::vector<Value> own, invoke(call.context, "aten", "linalg_svd", asked, {}, 3));
    Tensor u = own[0].tensor(), v = own[2].tensor();  // the vectors of v are its rows
    const Tensor& s = own[1].tensor();
    const bool isTurned = call.text == "columns";  // the last output has vectors in columns
    if (!isValue) {                                // which sign they have is the call's own
        SONDE_ASSIGN(u, factorOf(call, 0, batch));
        SONDE_ASSIGN(v, factorOf(call, 2, batch));
        if (isTurned) {
            SONDE_ASSIGN(v, v.transposed(0, 1).contiguous());
        }
    }
    Weights weights;
    if (isValue) {  // uᵀ·A·v
        const std::int64_t k = call.at.back();
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (std::int64_t j = 0; j < matrix.columns; ++j) weights[{i, j}] = at(u, i, k) * at(v, k, j);
        return weighedElements(call, matrix, weights);
    }
    const bool isLeft = call.output == 0;
    const std::int64_t first = call.at[call.at.size() - 2], last = call.at.back(),
                       k = isLeft || isTurned ? last : first, place = isLeft || isTurned ? first : last;
    if (k >= s.numel() || s.toDouble(k) == 0) return opError("a vector of the singular value 0 has no formula");
    const double value = s.toDouble(k);
    if (isLeft)  // A·v / s
        for (std::int64_t j = 0; j < matrix.columns; ++j) weights[{place, j}] = at(v, k, j) / value;
    else  // Aᵀ·u / s
        for (std::int64_t i = 0; i < matrix.rows; ++i) weights[{i, place}] = at(u, i, k) / value;
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> pseudoInverse(const ElementCall& call) {
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, 2)));
    SONDE_ASSIGN(const Tensor inverse, matrixOf(call.result, batchNumber(matrix)));
    // P = P·Pᵀ·Aᵀ
    const std::int64_t i = call.at[call.at.size() - 2], j = call.at.back();
    Weights weights;
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
        double weight = 0;
        for (std::int64_t m = 0; m < matrix.rows; ++m) weight += at(inverse, i, m) * at(inverse, k, m);
        weights[{j, k}] = weight;
    }
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> nuclearNorm(const ElementCall& call) {
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, {}));
    const std::vector<Value> asked{Value(matrix.wide), Value::ofBool(false)};
    SONDE_ASSIGN(const std::vector<Value> parts, invoke(call.context, "aten", "linalg_svd", asked, {}, 3));
    const Tensor &u = parts[0].tensor(), &v = parts[2].tensor();
    Weights weights;  // U·Vᴴ
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (std::int64_t j = 0; j < matrix.columns; ++j)
            for (std::int64_t k = 0; k < parts[1].tensor().numel(); ++k) weights[{i, j}] += at(u, i, k) * at(v, k, j);
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> matrixPower(const ElementCall& call) {
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, 2)));
    SONDE_ASSIGN(const std::int64_t n, intOf(call.context.value(call.op.position("n"))));
    if (n == 0) return constantElement(call.result.toDouble(call.element));
    // A·Aⁿ⁻¹
    SONDE_ASSIGN(const Tensor rest,
                 invokeAten(call.context, "linalg_matrix_power", {Value(matrix.wide), Value::ofInt(n - 1)}));
    Weights weights;
    for (std::int64_t k = 0; k < matrix.rows; ++k)
        weights[{call.at[call.at.size() - 2], k}] = at(rest, k, call.at.back());
    return weighedElements(call, matrix, weights);
}

base::Result<Dependence> matrixExponential(const ElementCall& call) {
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kOperand, batchOf(call, 2)));
    const std::int64_t n = matrix.rows, i = call.at[call.at.size() - 2], j = call.at.back();
    // I + A·φ(A), where φ is the upper right block of the exponential of [[A, I], [0, 0]].
    SONDE_ASSIGN(Tensor blocks, Tensor::zeros(DType::Float64, Shape{2 * n, 2 * n}));
    for (std::int64_t row = 0; row < n; ++row) {
        for (std::int64_t k = 0; k < n; ++k) blocks.mutableData<double>()[row * 2 * n + k] = at(matrix.wide, row, k);
        blocks.mutableData<double>()[row * 2 * n + n + row] = 1;
    }
    SONDE_ASSIGN(const Tensor exponential, invokeAten(call.context, "linalg_matrix_exp", {Value(blocks)}));
    Weights weights;
    for (std::int64_t k = 0; k < n; ++k) weights[{i, k}] = at(exponential, k, n + j);
    SONDE_ASSIGN(Dependence made, weighedElements(call, matrix, weights));
    if (i == j) made.formula = "1 + sum(w * x)";
    return made;
}

namespace {

/// A row of a matrix that B is multiplied with from the left: "sum(w * x)"; what the matrix is of acts through it.
base::Result<Dependence> multiplied(const ElementCall& call, std::size_t right, const OwnMatrix& of,
                                    const Tensor& left) {
    SONDE_ASSIGN(const OwnMatrix b, ownMatrix(call, right, batchOf(call, 2)));
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w"), others = made.listPart("matrix");
    SONDE_TRY(checkTerms(b.rows + of.rows * of.columns));
    for (std::int64_t k = 0; k < b.rows; ++k) {
        addElement(made, part, call, right, b.element(k, call.at.back()));
        made.terms.back().weight = at(left, call.at[call.at.size() - 2], k);
    }
    for (std::int64_t i = 0; i < of.rows * of.columns; ++i) {
        addElement(made, others, call, of.input, of.first + i);
        made.terms.back().weight = 0;
    }
    return made;
}

}  // namespace

base::Result<Dependence> solvedByCholesky(const ElementCall& call) {
    SONDE_ASSIGN(const OwnMatrix factor, ownMatrix(call, kRight, batchOf(call, 2)));
    SONDE_ASSIGN(const Tensor inverse, invokeAten(call.context, "cholesky_inverse",
                                                  {Value(factor.wide), Value::ofBool(isSet(call, "upper", false))}));
    return multiplied(call, kLeft, factor, inverse);
}

base::Result<Dependence> solvedByTriangle(const ElementCall& call) {
    SONDE_ASSIGN(OwnMatrix matrix, ownMatrix(call, kRight, batchOf(call, 2)));
    if (call.output == 1) {
        const std::int64_t element = matrix.element(call.at[call.at.size() - 2], call.at.back());
        return sourceElement(call, kRight, 0, element, call.context.in(kRight).toDouble(element));
    }
    const std::int64_t n = matrix.rows;
    const bool isUpper = isSet(call, "upper", true), hasOnes = isSet(call, "unitriangular", false);
    SONDE_ASSIGN(Tensor triangle, matrix.wide.clone());
    for (std::int64_t i = 0; i < n * n; ++i) {
        const std::int64_t row = i / n, column = i % n;
        double& element = triangle.mutableData<double>()[i];
        if (row == column && hasOnes) element = 1;
        if (isUpper ? column < row : column > row) element = 0;
    }
    SONDE_ASSIGN(Tensor inverse, inverseOf(call, triangle));
    if (isSet(call, "transpose", false)) {
        SONDE_ASSIGN(inverse, inverse.transposed(0, 1).contiguous());
    }
    return multiplied(call, kLeft, matrix, inverse);
}

base::Result<Dependence> leastSquares(const ElementCall& call) {
    if (call.output != 0) return opError("only the solution has a formula");
    const std::size_t own = call.context.in(kRight).rank() + 1 == call.context.in(kLeft).rank() ? 1 : 2;
    if (own == 1) return opError("the solution of single right sides has no formula");
    SONDE_ASSIGN(const OwnMatrix matrix, ownMatrix(call, kLeft, batchOf(call, 2)));
    SONDE_ASSIGN(const Tensor inverse, invokeAten(call.context, "pinverse", {Value(matrix.wide)}));
    return multiplied(call, kRight, matrix, inverse);
}

}  // namespace sonde::ops::dependence
