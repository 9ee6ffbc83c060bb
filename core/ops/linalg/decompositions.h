#pragma once

#include <cstdint>

#include "core/ops/linalg/matrix.h"

// One matrix at a time, by Eigen, for float, double and complex numbers of both. Every file beside this one
// instantiates one family: they take long to compile, and float32 works in double precision (wide.h) for that reason.
// Shapes are checked by the caller; matrices may be empty. Every iteration in here has a bound or converges for every
// finite matrix; what could iterate on NaN refuses it first.

namespace sonde::ops::linalg {

enum class Transform : std::uint8_t { None, Transpose, Adjoint };

/// P·A = L·U in place, A [m,n], by partial pivoting: L below the diagonal, U on and above it. Row i was swapped with
/// row pivots[i] - 1 (LAPACK's getrf); there are min(m,n). Returns the 1-based index of the first zero on U's diagonal,
/// or 0.
template <typename T>
std::int32_t factorLu(Matrix<T> a, std::int32_t* pivots);
/// B := A⁻¹·B, or A⁻ᴴ·B, from what factorLu made of a square A.
template <typename T>
void solveLu(Matrix<const T> lu, const std::int32_t* pivots, Matrix<T> b, bool adjoint);

struct Triangle {
    bool upper = false;
    bool unit = false;  ///< ones on the diagonal, which is not read
};
/// B := op(A)⁻¹·B. A zero on the diagonal gives infinities.
template <typename T>
void solveTriangular(Matrix<const T> a, Matrix<T> b, Triangle triangle, Transform transform);

/// A = L·Lᴴ in place, from the lower triangle; zeros above. Returns the order of the first leading minor that is not
/// positive, or 0; the rest of the matrix is then unfinished.
template <typename T>
std::int32_t factorCholesky(Matrix<T> a);
/// B := (L·Lᴴ)⁻¹·B.
template <typename T>
void solveCholesky(Matrix<const T> l, Matrix<T> b);

/// A = L·D·Lᵀ (or L·D·Lᴴ) in place, from the lower triangle, with blocks of 1 and 2 on D's diagonal (Bunch and Kaufman
/// 1977, as LAPACK's sytrf and hetrf store it: pivots of a block of 2 are negative and equal). Returns the 1-based
/// index of the first zero block, or 0. Eigen's LDLT has blocks of 1 alone and so takes semidefinite matrices only.
template <typename T>
std::int32_t factorLdl(Matrix<T> a, std::int32_t* pivots, bool hermitian);
/// B := A⁻¹·B from what factorLdl made. Pivots must be in range, negative ones in pairs.
template <typename T>
void solveLdl(Matrix<const T> ld, const std::int32_t* pivots, Matrix<T> b, bool hermitian);

/// A = Q·R in place, A [m,n]: R on and above the diagonal, Householder vectors v below it, Q = Π (I − tau·v·vᴴ)
/// (LAPACK's geqrf); min(m,n) factors in `tau`.
template <typename T>
void factorQr(Matrix<T> a, T* tau);
/// C := Q·C or Qᴴ·C for the Q of the first `count` columns of `vectors` [m,≥count].
template <typename T>
void applyReflectors(Matrix<const T> vectors, const T* tau, std::int64_t count, Matrix<T> c, bool adjoint);

/// A = U·diag(s)·Vᴴ with s decreasing, A [m,n]; U [m,m] or [m,min(m,n)] and V [n,n] or [n,min(m,n)], or neither where u
/// has no data. False if A is not finite.
template <typename T>
bool decomposeSingular(Matrix<const T> a, Real<T>* s, Matrix<T> u, Matrix<T> v);

/// A = V·diag(w)·Vᴴ with w increasing, from the lower triangle of A; V takes A's place if wanted. False if A is not
/// finite or the iteration, 30 steps an eigenvalue at most, does not converge.
template <typename T>
bool decomposeSymmetric(Matrix<T> a, Real<T>* w, bool vectors);

/// A·V = V·diag(w). Columns of V have length 1 and their largest element is real, as LAPACK's geev has it; v without
/// data: values only. A must be finite. False if the iteration, 40 steps an eigenvalue at most, does not converge.
template <typename T>
bool decomposeGeneral(Matrix<const T> a, std::complex<Real<T>>* w, Matrix<std::complex<Real<T>>> v);

/// Σ Aᵏ / k!, by scaling and squaring (Higham 2005). NaN if A is not finite.
template <typename T>
void exponential(Matrix<T> a);

/// C := A·op(B).
template <typename T>
void multiply(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Transform transformB = Transform::None);

/// `SONDE_LINALG_TYPES(X)` at a file's end: X(T) for each element type.
#define SONDE_LINALG_TYPES(instantiate) \
    instantiate(float) instantiate(double) instantiate(std::complex<float>) instantiate(std::complex<double>)

}  // namespace sonde::ops::linalg
