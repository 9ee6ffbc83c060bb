#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace sonde::analysis {

/// Eigenvalues of a symmetric matrix [size, size], smallest first, from its lower triangle (the elements below the
/// diagonal of each column), which it destroys. Householder's reduction to a tridiagonal matrix by panels, as LAPACK's
/// dsytrd and dlatrd do (Golub and Van Loan, Matrix Computations, 8.3.1): Eigen's goes column by column and cannot be
/// cancelled. Errors: Cancelled; Run, if the iteration on the tridiagonal matrix does not converge.
base::Result<std::vector<double>> symmetricValues(std::span<double> columns, std::int64_t size,
                                                  const base::WorkContext& work);

}  // namespace sonde::analysis
