#include "core/analysis/weights/symmetric_values.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace sonde::analysis {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using SquareMatrix = Eigen::Map<MatrixXd>;

constexpr Index kPanel = 32;

/// Columns of Householder vectors v and of w with A := A − v·wᵀ − w·vᵀ, not yet applied to what is right of the panel.
struct Panel {
    MatrixXd v, w;
};

/// Makes column `k` of the matrix end below its subdiagonal.
void reduceColumn(SquareMatrix& a, Panel& panel, Index k, Index j, VectorXd& diagonal, VectorXd& below) {
    const Index n = a.rows(), rest = n - k - 1;
    auto column = a.col(k).tail(n - k);
    if (j > 0) {
        column.noalias() -= panel.v.block(k, 0, n - k, j) * panel.w.row(k).head(j).transpose();
        column.noalias() -= panel.w.block(k, 0, n - k, j) * panel.v.row(k).head(j).transpose();
    }
    diagonal(k) = column(0);
    if (rest == 0) return;
    VectorXd v = column.tail(rest);
    double tau = 0, beta = 0;
    VectorXd essential(std::max<Index>(rest - 1, 0));
    v.makeHouseholder(essential, tau, beta);
    below(k) = beta;
    v(0) = 1;
    v.tail(rest - 1) = essential;
    panel.v.col(j).tail(rest) = v;
    if (tau == 0) return;
    VectorXd w = a.bottomRightCorner(rest, rest).selfadjointView<Eigen::Lower>() * v;
    if (j > 0) {
        const auto before = panel.v.block(k + 1, 0, rest, j);
        const auto beforeW = panel.w.block(k + 1, 0, rest, j);
        const VectorXd byW = beforeW.transpose() * v, byV = before.transpose() * v;
        w.noalias() -= before * byW;
        w.noalias() -= beforeW * byV;
    }
    w *= tau;
    w -= (tau / 2 * w.dot(v)) * v;
    panel.w.col(j).tail(rest) = w;
}

}  // namespace

base::Result<std::vector<double>> symmetricValues(std::span<double> columns, std::int64_t size,
                                                  const base::WorkContext& work) {
    const Index n = size;
    SquareMatrix matrix(columns.data(), n, n);
    VectorXd diagonal(n), below = VectorXd::Zero(std::max<Index>(n - 1, 0));
    for (Index k = 0; k < n; k += kPanel) {
        if (work.cancelled()) return base::cancelled("singular values");
        work.report("computing singular values", static_cast<std::size_t>(k), static_cast<std::size_t>(n));
        const Index width = std::min(kPanel, n - k), rest = n - k - width;
        Panel panel{MatrixXd::Zero(n, width), MatrixXd::Zero(n, width)};
        for (Index j = 0; j < width; ++j) reduceColumn(matrix, panel, k + j, j, diagonal, below);
        if (rest == 0) break;
        const auto v = panel.v.bottomRows(rest), w = panel.w.bottomRows(rest);
        auto trailing = matrix.bottomRightCorner(rest, rest);
        trailing.triangularView<Eigen::Lower>() -= v * w.transpose();
        trailing.triangularView<Eigen::Lower>() -= w * v.transpose();
    }
    Eigen::SelfAdjointEigenSolver<MatrixXd> solver;
    solver.computeFromTridiagonal(diagonal, below, Eigen::EigenvaluesOnly);
    if (solver.info() != Eigen::Success) return base::runError("the singular values did not converge");
    return std::vector<double>(solver.eigenvalues().begin(), solver.eigenvalues().end());
}

}  // namespace sonde::analysis
