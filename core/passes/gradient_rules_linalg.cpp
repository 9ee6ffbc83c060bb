// Derivatives of PyTorch's linear algebra on real matrices, as torch.autograd has them: operators that ONNX has not.

#include <limits>

#include "core/passes/gradient_rules.h"

namespace sonde::passes {

namespace {

using graph::Expr;
using graph::NodeId;
using tensor::Tensor;
using Dims = std::vector<std::int64_t>;

/// Products and parts of matrices of batches that all have one rank.
class Matrices {
  public:
    Matrices(GradientBuilder& b, const Expr& e, std::size_t input = 0)
        : m_b(b), m_x(inputOf(e, input)), m_dims(b.dimSizesOf(m_x)) {
        if (!m_dims || m_dims->size() < 2) b.fail("the dimensions of the matrices of " + e.op.name + " are unknown");
    }
    bool areKnown() const { return m_dims && m_dims->size() >= 2; }
    NodeId x() const { return m_x; }
    std::int64_t rows() const { return (*m_dims)[m_dims->size() - 2]; }
    std::int64_t columns() const { return m_dims->back(); }

    NodeId product(NodeId left, NodeId right) const { return m_b.op("MatMul", {left, right}); }
    NodeId product(NodeId left, NodeId middle, NodeId right) const { return product(product(left, middle), right); }
    NodeId turned(NodeId x) const {
        Dims order;
        for (std::size_t i = 0; i < m_dims->size(); ++i) order.push_back(static_cast<std::int64_t>(i));
        std::swap(order[order.size() - 1], order[order.size() - 2]);
        return m_b.op("Transpose", {x}, {{"perm", order}});
    }
    /// The lower (or upper) triangle from a diagonal on.
    NodeId triangle(NodeId x, bool isUpper, std::int64_t diagonal = 0) const {
        return m_b.op("Trilu", {x, m_b.constant(Tensor::scalar<std::int64_t>(diagonal))},
                      {{"upper", std::int64_t{isUpper}}});
    }
    NodeId inverse(NodeId x) const { return m_b.foreign("com.microsoft", "Inverse", {x}).front(); }
    NodeId half(NodeId x) const { return m_b.mul(x, m_b.number(0.5, m_x)); }
    NodeId unit(std::int64_t size) const { return m_b.constant(unitMatrix(size, m_b.graph().node(m_x).type.dtype)); }
    /// With known dimensions, for what is to be differentiated.
    NodeId square(NodeId x, std::int64_t size) const {
        Dims dims = *m_dims;
        dims[dims.size() - 1] = dims[dims.size() - 2] = size;
        return m_b.sized(x, dims);
    }
    /// The first rows or columns.
    NodeId part(NodeId x, std::int64_t axis, std::int64_t count) const {
        return m_b.op("Slice", {x, m_b.integers({0}), m_b.integers({count}), m_b.integers({axis})});
    }
    /// x less its transpose.
    NodeId skewed(NodeId x) const { return m_b.sub(x, turned(x)); }
    /// 1 / (values[j] − values[i]), and 0 on the diagonal.
    NodeId overDifferences(NodeId x, NodeId values, std::int64_t size) const {
        Tensor beyond = Tensor::zeros(tensor::DType::Float64, tensor::Shape{size, size}).value();
        for (std::int64_t i = 0; i < size; ++i)
            beyond.mutableData<double>()[i * size + i] = std::numeric_limits<double>::infinity();
        const NodeId apart = m_b.sub(m_b.unsqueezed(values, -2), m_b.unsqueezed(values, -1));
        return m_b.div(x, m_b.add(apart, m_b.castLike(m_b.constant(beyond), m_x)));
    }

  private:
    GradientBuilder& m_b;
    NodeId m_x;
    std::optional<Dims> m_dims;
};

NodeId gradientOfOutput(const GradientBuilder& b, const Expr& e, std::size_t output) {
    return output < e.outputs.size() ? b.gradientOf(e.outputs[output]) : NodeId();
}
/// Two summands, of which one may not be there.
NodeId summed(GradientBuilder& b, NodeId x, NodeId y) { return !x.valid() ? y : !y.valid() ? x : b.add(x, y); }

/// A = L·Lᵀ: dA = L⁻ᵀ·½(P + strict lower part of P, turned)·L⁻¹, P the lower part of Lᵀ·dL.
void choleskyRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const bool isUpper = argumentOf(e, 1, 0) != 0;
    const auto lower = [&](NodeId x) { return isUpper ? m.turned(x) : x; };
    const NodeId l = lower(e.outputs.front()), g = lower(gradientOf(b, e));
    const NodeId part = m.triangle(m.product(m.turned(l), g), false),
                 whole = m.half(b.add(part, m.turned(m.triangle(part, false, -1)))), inverse = m.inverse(l);
    b.give(m.x(), m.product(m.turned(inverse), whole, inverse));
}

/// −Yᵀ·g·Yᵀ of Y = X⁻¹.
void invertedRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const NodeId turned = m.turned(e.outputs.front());
    b.give(m.x(), b.op("Neg", {m.product(turned, gradientOf(b, e), turned)}));
}

/// X of A·X = B, or of X·A = B, where A is `matrix`; B may be a vector.
std::vector<NodeId> solvedForm(GradientBuilder& b, const Expr& e, const Matrices& m, NodeId matrix, NodeId right,
                               bool isLeft) {
    const NodeId inverse = m.square(m.inverse(matrix), m.rows());
    const auto dims = b.dimSizesOf(right), own = b.dimSizesOf(m.x());
    if (!dims || !own) {
        b.fail("the dimensions of the right side of " + e.op.name + " are unknown");
        return {};
    }
    // As PyTorch tells: one vector, or one for each matrix of the batch.
    const bool isVector =
        dims->size() == 1 || (dims->size() + 1 == own->size() && std::equal(dims->begin(), dims->end(), own->begin()));
    if (!isVector) return {isLeft ? m.product(inverse, right) : m.product(right, inverse)};
    Dims column = *dims, row = *own;
    column.push_back(1), row.back() = 1;
    const NodeId product = b.sized(m.product(inverse, b.sized(b.unsqueezed(right, -1), column)), row);
    return {b.op("Squeeze", {product, b.integers({-1})})};
}

/// (A, B, left)
void solveRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    b.through(e, [&] { return solvedForm(b, e, m, m.x(), inputOf(e, 1), argumentOf(e, 2, 1) != 0); });
}

/// The triangle of a matrix that counts, with ones on its diagonal if it is said to have them.
NodeId ownTriangle(GradientBuilder& b, const Matrices& m, bool isUpper, bool hasOnes) {
    const NodeId part = m.square(m.triangle(m.x(), isUpper, hasOnes ? (isUpper ? 1 : -1) : 0), m.rows());
    return hasOnes ? m.square(b.add(part, m.unit(m.rows())), m.rows()) : part;
}

/// (A, B, upper, left, unitriangular)
void solveTriangleRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    b.through(e, [&] {
        const NodeId matrix = ownTriangle(b, m, argumentOf(e, 2, 0) != 0, argumentOf(e, 4, 0) != 0);
        return solvedForm(b, e, m, matrix, inputOf(e, 1), argumentOf(e, 3, 1) != 0);
    });
}
/// (B, A, upper, transpose, unitriangular)
void olderTriangleRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e, 1);
    if (!m.areKnown()) return;
    b.through(e, [&] {
        NodeId matrix = ownTriangle(b, m, argumentOf(e, 2, 1) != 0, argumentOf(e, 4, 0) != 0);
        if (argumentOf(e, 3, 0) != 0) matrix = m.square(m.turned(matrix), m.rows());
        std::vector<NodeId> results = solvedForm(b, e, m, matrix, inputOf(e, 0), true);
        results.push_back(b.op("Identity", {m.x()}));  // a clone of A
        return results;
    });
}

/// L·Lᵀ of a factor's triangle.
NodeId squaredFactor(const Matrices& m, bool isUpper) {
    const NodeId l = m.square(m.triangle(m.x(), isUpper), m.rows()), turned = m.square(m.turned(l), m.rows());
    return m.square(isUpper ? m.product(turned, l) : m.product(l, turned), m.rows());
}
/// (B, L, upper)
void solvedByCholeskyRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e, 1);
    if (!m.areKnown()) return;
    b.through(e, [&] { return solvedForm(b, e, m, squaredFactor(m, argumentOf(e, 2, 0) != 0), inputOf(e, 0), true); });
}
/// (L, upper)
void choleskyInverseRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    b.through(e, [&]() -> std::vector<NodeId> {
        return {m.square(m.inverse(squaredFactor(m, argumentOf(e, 1, 0) != 0)), m.rows())};
    });
}

/// (A, n): products by repeated squaring.
void matrixPowerRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    std::int64_t n = argumentOf(e, 1, 1);
    if (!m.areKnown() || n == 0) return;  // a constant
    b.through(e, [&]() -> std::vector<NodeId> {
        NodeId power = n < 0 ? m.square(m.inverse(m.x()), m.rows()) : m.square(b.op("Identity", {m.x()}), m.rows()),
               result;
        for (std::int64_t rest = n < 0 ? -n : n; rest > 0; rest /= 2) {
            if (rest % 2 == 1) result = result.valid() ? m.square(m.product(result, power), m.rows()) : power;
            if (rest > 1) power = m.square(m.product(power, power), m.rows());
        }
        return {result};
    });
}

/// The upper right block of exp([[Aᵀ, g], [0, Aᵀ]]). Al-Mohy and Higham, "Computing the Fréchet derivative of the
/// matrix exponential" (2009).
void matrixExponentialRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const NodeId turned = m.turned(m.x()), g = gradientOf(b, e), zero = b.filled(g, 0);
    const auto beside = [&](NodeId x, NodeId y, std::int64_t axis) { return b.op("Concat", {x, y}, {{"axis", axis}}); };
    const NodeId blocks = beside(beside(turned, g, -1), beside(zero, turned, -1), -2);
    const NodeId exponential = b.foreign("aten", "linalg_matrix_exp", {blocks}).front();
    const NodeId upper = m.part(exponential, -2, m.rows());
    b.give(m.x(), b.op("Slice", {upper, b.integers({m.rows()}), b.integers({2 * m.rows()}), b.integers({-1})}));
}

/// A = V·diag(λ)·Vᵀ: V·(diag(dλ) + Vᵀ·dV / (λj − λi))·Vᵀ. Values alone have the vectors of a call of its own.
void eigenRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const bool isUpper = e.arguments.size() > 1 && e.arguments[1].kind == graph::Argument::Kind::Constant &&
                         e.arguments[1].constant.toString() == "U";
    const NodeId gValues = gradientOfOutput(b, e, 0), gVectors = gradientOfOutput(b, e, 1);
    NodeId vectors = e.outputs.size() > 1 ? e.outputs[1] : NodeId();
    if (!vectors.valid()) vectors = b.foreign("aten", "linalg_eigh", {isUpper ? m.turned(m.x()) : m.x()}, 2)[1];
    const NodeId turned = m.turned(vectors);
    NodeId inner;
    if (gValues.valid()) inner = b.mul(b.unsqueezed(gValues, -1), m.unit(m.rows()));
    if (gVectors.valid())
        inner = summed(b, inner, m.overDifferences(m.product(turned, gVectors), e.outputs[0], m.rows()));
    b.give(m.x(), m.product(vectors, inner, turned));
}

/// A = U·diag(s)·Vᵀ with as many vectors as values.
void singularRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const std::int64_t k = std::min(m.rows(), m.columns());
    const bool isAlone = e.outputs.size() == 1, isTurned = e.op.name == "svd";
    const NodeId gS = gradientOfOutput(b, e, isAlone ? 0 : 1), gU = isAlone ? NodeId() : gradientOfOutput(b, e, 0);
    NodeId gV = isAlone ? NodeId() : gradientOfOutput(b, e, 2);
    const std::vector<NodeId> all = isAlone ? b.foreign("aten", "linalg_svd", {m.x()}, 3) : e.outputs;
    const bool isFull = e.op.name == "linalg_svd" ? argumentOf(e, 1, 1) != 0 : isTurned && argumentOf(e, 1, 1) == 0;
    if (isFull && m.rows() != m.columns() && (gU.valid() || gV.valid()))
        return b.fail("the vectors that complete a square U or V have no derivative");
    const NodeId u = m.part(all[0], -1, k), s = all[1];
    NodeId v = isTurned ? m.part(all[2], -1, k) : m.turned(m.part(all[2], -2, k));  // in columns
    if (gV.valid() && !isTurned) gV = m.turned(gV);
    const NodeId ut = m.turned(u), vt = m.turned(v), row = b.unsqueezed(s, -2), column = b.unsqueezed(s, -1);
    NodeId inner;
    if (gS.valid()) inner = b.mul(b.unsqueezed(gS, -1), m.unit(k));
    const NodeId square = b.mul(s, s);
    if (gU.valid()) inner = summed(b, inner, b.mul(m.overDifferences(m.skewed(m.product(ut, gU)), square, k), row));
    if (gV.valid()) inner = summed(b, inner, b.mul(column, m.overDifferences(m.skewed(m.product(vt, gV)), square, k)));
    NodeId g = m.product(u, inner, vt);
    if (gU.valid() && m.rows() > k) {
        const NodeId over = b.div(gU, row);
        g = b.add(g, m.product(b.sub(over, m.product(u, m.product(ut, over))), vt));
    }
    if (gV.valid() && m.columns() > k) {
        const NodeId over = b.div(m.turned(gV), column);
        g = b.add(g, m.product(u, b.sub(over, m.product(m.product(over, v), vt))));
    }
    b.give(m.x(), g);
}

/// A = Q·R of matrices with at least as many rows as columns: (dQ + Q·sym(M))·R⁻ᵀ, sym(M) the
/// upper part of M = dR·Rᵀ − Qᵀ·dQ, mirrored.
void orthogonalRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const NodeId q = e.outputs[0], r = e.outputs[1], gQ = gradientOfOutput(b, e, 0), gR = gradientOfOutput(b, e, 1);
    const auto of = b.dimSizesOf(q);
    if (m.rows() < m.columns() || !of || of->back() != m.columns())
        return b.fail("the derivative of " + e.op.name + " is that of a reduced Q of at least as many rows as columns");
    NodeId inner;
    if (gR.valid()) inner = m.product(gR, m.turned(r));
    if (gQ.valid()) inner = summed(b, inner, b.op("Neg", {m.product(m.turned(q), gQ)}));
    const NodeId upper = m.triangle(inner, true), strict = m.triangle(inner, true, 1);
    NodeId g = m.product(q, b.add(upper, m.turned(strict)));
    if (gQ.valid()) g = b.add(g, gQ);
    b.give(m.x(), m.product(g, m.turned(m.inverse(r))));
}

/// A = P·L·U of square matrices: P·L⁻ᵀ·(strict lower part of Lᵀ·dL + upper part of dU·Uᵀ)·U⁻ᵀ.
void triangularRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    if (m.rows() != m.columns()) return b.fail("the derivative of " + e.op.name + " is that of square matrices");
    const NodeId l = e.outputs[1], u = e.outputs[2], gL = gradientOfOutput(b, e, 1), gU = gradientOfOutput(b, e, 2);
    NodeId inner;
    if (gL.valid()) inner = m.triangle(m.product(m.turned(l), gL), false, -1);
    if (gU.valid()) inner = summed(b, inner, m.triangle(m.product(gU, m.turned(u)), true));
    const NodeId g = m.product(m.turned(m.inverse(l)), inner, m.turned(m.inverse(u)));
    b.give(m.x(), argumentOf(e, 1, 1) != 0 ? m.product(e.outputs[0], g) : g);
}

/// P = A⁺ of constant rank: −Pᵀ·g·Pᵀ + (I − A·P)·gᵀ·P·Pᵀ + Pᵀ·P·gᵀ·(I − P·A).
void pseudoInverseRule(GradientBuilder& b, const Expr& e) {
    const Matrices m(b, e);
    if (!m.areKnown()) return;
    const NodeId a = m.x(), p = e.outputs.front(), g = gradientOf(b, e), pt = m.turned(p), gt = m.turned(g);
    const NodeId first = b.op("Neg", {m.product(pt, g, pt)});
    const NodeId second = m.product(gt, p, pt), third = m.product(pt, p, gt);
    const NodeId beyondRows = b.sub(second, m.product(a, m.product(p, second))),
                 beyondColumns = b.sub(third, m.product(m.product(third, p), a));
    b.give(a, b.add(first, b.add(beyondRows, beyondColumns)));
}

}  // namespace

void addLinalgGradients(GradientRules& rules) {
    rules.insert({{"aten::linalg_cholesky", choleskyRule},
                  {"aten::linalg_cholesky_ex", choleskyRule},
                  {"aten::cholesky", choleskyRule},
                  {"aten::cholesky_inverse", choleskyInverseRule},
                  {"aten::cholesky_solve", solvedByCholeskyRule},
                  {"aten::linalg_inv_ex", invertedRule},
                  {"aten::linalg_solve", solveRule},
                  {"aten::linalg_solve_ex", solveRule},
                  {"aten::_linalg_solve_ex", solveRule},
                  {"aten::linalg_solve_triangular", solveTriangleRule},
                  {"aten::triangular_solve", olderTriangleRule},
                  {"aten::linalg_matrix_exp", matrixExponentialRule},
                  {"aten::matrix_exp", matrixExponentialRule},
                  {"aten::linalg_matrix_power", matrixPowerRule},
                  {"aten::matrix_power", matrixPowerRule},
                  {"aten::linalg_eigh", eigenRule},
                  {"aten::linalg_eigvalsh", eigenRule},
                  {"aten::linalg_svd", singularRule},
                  {"aten::linalg_svdvals", singularRule},
                  {"aten::svd", singularRule},
                  {"aten::linalg_qr", orthogonalRule},
                  {"aten::qr", orthogonalRule},
                  {"aten::linalg_lu", triangularRule},
                  {"aten::linalg_pinv", pseudoInverseRule},
                  {"aten::linalg_pinv.atol_rtol_float", pseudoInverseRule},
                  {"aten::pinverse", pseudoInverseRule}});
}

}  // namespace sonde::passes
