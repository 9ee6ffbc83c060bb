#!/usr/bin/env python3
"""Writes linalg.jsonl: calls of ATen's linear algebra in every element type, and what PyTorch gives or says.

    python3 generate_linalg.py > linalg.jsonl      (Debian 12: python3-torch 1.13)

One call a line, as in cases.jsonl; {"error": text} instead of "out" where PyTorch refuses, the first line of its message.
Only results that are unique are compared; singular vectors and eigenvectors are checked by what they multiply to
(tests/core/ops/tst_linalg_decompositions.cpp), so of these calls only values appear here.
"""
import json
import math
import warnings

import torch

warnings.simplefilter("ignore")
torch.manual_seed(11)
inf, nan = math.inf, math.nan
ops = torch.ops.aten
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64", torch.complex128: "c128", torch.int64: "i64",
         torch.int32: "i32", torch.bool: "bool", torch.float16: "f16", torch.uint8: "u8"}
SCALAR = {torch.uint8: 0, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6, torch.float64: 7, torch.complex64: 9, torch.complex128: 10}


def number(v, digits):
    if isinstance(v, (bool, int)):
        return int(v)
    if math.isnan(v) or math.isinf(v):
        return "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"
    return float("%.*g" % (digits, v))


def encode(v):
    if isinstance(v, torch.Tensor):
        digits = 16 if v.dtype in (torch.float64, torch.complex128) else 8
        flat = (torch.view_as_real(v.resolve_conj()) if v.is_complex() else v).contiguous().flatten().tolist()
        return {"t": NAMES[v.dtype], "s": list(v.shape), "v": [number(x, digits) for x in flat]}
    if isinstance(v, torch.dtype):
        return {"i": SCALAR[v]}
    if isinstance(v, bool) or v is None or isinstance(v, str):
        return v
    if isinstance(v, int):
        return {"i": v}
    if isinstance(v, float):
        return number(v, 16)
    return [encode(x) for x in v]


def case(op, *args, only=None, **kw):
    """Calls aten::NAME.OVERLOAD. `only`: the results that are compared; the others are null."""
    line = {"op": op, "in": [encode(a) for a in args], "kw": {k: encode(v) for k, v in kw.items()}}
    base, _, overload = op.partition(".")
    try:
        given = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        out = getattr(getattr(ops, base), overload or "default")(*given, **kw)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        line["out"] = [encode(o) if only is None or i in only else None for i, o in enumerate(outs)]
    except Exception as error:  # noqa: BLE001
        line["error"] = str(error).split("\n")[0]
    print(json.dumps(line, separators=(",", ":")))


def r(*shape, dtype=torch.float32):
    """Eighths, which every element type holds as they are."""
    def part():
        return torch.round(torch.randn(*shape, dtype=torch.float64) * 8) / 8
    return (torch.complex(part(), part()) if dtype.is_complex else part()).to(dtype)


def spread(n, dtype, *batch):
    """Well-conditioned: random numbers and a heavy diagonal that increases."""
    return r(*batch, n, n, dtype=dtype) + torch.diag(torch.arange(1, n + 1).to(dtype) * 4)


def positive(n, dtype, *batch):
    a = r(*batch, n, n, dtype=dtype)
    return a @ a.mH + torch.eye(n, dtype=dtype) * n


def t(v, dtype=torch.float32):
    return torch.tensor(v, dtype=dtype)


for d in (torch.float32, torch.complex128):
    a, s3, p, tall, wide, b = spread(4, d), spread(3, d, 2), positive(4, d), r(5, 3, dtype=d), r(3, 5, dtype=d), r(4, 2, dtype=d)
    batch = spread(3, d, 2, 1)
    for op in "linalg_det det linalg_slogdet slogdet logdet linalg_inv inverse linalg_inv_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex _lu_with_info".split():
        if d.is_complex and "lu" in op:
            continue  # LAPACK takes another pivot among complex numbers of nearly one size
        for x in (a, s3, batch):
            case(op, x)
    for op in "_linalg_det _linalg_slogdet".split():
        case(op, a, only={0, 1} if "slog" in op else {0})
    if not d.is_complex:
        for x in (tall, wide):
            for op in "linalg_lu linalg_lu_factor_ex".split():
                case(op, x)
            case("lu_unpack", *ops.linalg_lu_factor_ex(x)[:2])
        case("lu_unpack", *ops.linalg_lu_factor_ex(a)[:2], False, True)
        case("lu_unpack", *ops.linalg_lu_factor_ex(a)[:2], True, False)
    lu, piv = ops.linalg_lu_factor(s3)
    for left in (True, False):
        for adjoint in (True, False):
            case("linalg_lu_solve", lu, piv, r(3, 3, dtype=d), left=left, adjoint=adjoint)
    case("lu_solve", r(2, 3, 2, dtype=d), lu, piv)
    case("linalg_lu_solve", lu[0], piv[0], r(4, 3, 1, dtype=d))
    case("linalg_solve", a, b)
    case("linalg_solve", a, b[:, 0].clone())
    case("linalg_solve", s3, r(2, 3, dtype=d))
    case("linalg_solve", s3, r(3, 2, dtype=d))
    case("linalg_solve", batch, r(4, 3, 2, dtype=d))
    case("linalg_solve", a, r(2, 4, dtype=d), left=False)
    case("linalg_solve_ex", a, b)
    case("_linalg_solve_ex", a, b, only={0, 3})
    for upper in (True, False):
        case("linalg_solve_triangular", a, b, upper=upper)
        case("linalg_solve_triangular", s3, r(2, 3, dtype=d), upper=upper, left=False)
        case("linalg_solve_triangular", batch, r(4, 3, 2, dtype=d), upper=upper, unitriangular=True)
        for transpose in (True, False):
            case("triangular_solve", b, a, upper, transpose, upper)
        case("linalg_cholesky", p, upper=upper)
        case("cholesky", p, upper)
        case("linalg_cholesky_ex", positive(3, d, 2), upper=upper)
        factor = torch.linalg.cholesky(p, upper=upper)
        case("cholesky_solve", b, factor, upper)
        case("cholesky_solve", r(2, 4, 1, dtype=d), factor, upper)
        case("_cholesky_solve_helper", b, factor, upper)
        case("cholesky_inverse", factor, upper)
    for x in (a, tall, wide, r(2, 4, 3, dtype=d)):
        case("geqrf", x)
        for mode in ("reduced", "complete", "r"):
            case("linalg_qr", x, mode)
        case("qr", x)
        case("qr", x, False)
    v, tau = ops.geqrf(tall)
    case("linalg_householder_product", v, tau)
    case("orgqr", v, tau[:2].clone())
    for transpose in (True, False):
        case("ormqr", v, tau, r(5, 2, dtype=d), True, transpose)
        case("ormqr", v, tau, r(2, 5, dtype=d), False, transpose)
    for x in (a, tall, wide, r(2, 3, 2, dtype=d)):
        for op in "linalg_svd svd _linalg_svd".split():
            case(op, x, only={1})
        case("linalg_svdvals", x)
        case("linalg_pinv.atol_rtol_float", x)
        case("linalg_pinv", x, 0.4)
        case("pinverse", x)
        case("linalg_matrix_rank", x, 3.0)
        case("linalg_matrix_rank.atol_rtol_float", x)
        case("linalg_matrix_rank.atol_rtol_float", x, rtol=0.5)
        case("linalg_lstsq", x, r(*x.shape[:-1], 2, dtype=d))
        if x.shape[-2] > x.shape[-1] and x.dim() == 3:
            case("linalg_lstsq", x, r(2, 3, dtype=d), driver="gelsd")
        for driver in ("gels", "gelsy", "gelsd", "gelss"):
            case("linalg_lstsq", x, r(*x.shape[:-1], 2, dtype=d), driver=driver)
    case("svd", tall, False, False)
    case("_linalg_svd", tall, False, False)
    real = torch.float64 if d in (torch.float64, torch.complex128) else torch.float32
    case("linalg_pinv.rcond_tensor", s3, t([0.5, 0.1], real))
    case("linalg_pinv.atol_rtol_tensor", s3, atol=t([2.0, 9.0], real))
    case("linalg_matrix_rank.tol_tensor", s3, t([9.0, 2.0], real))
    case("linalg_matrix_rank.atol_rtol_tensor", s3, atol=t(1.0, real), rtol=t([0.9, 0.1], real))
    case("linalg_pinv.atol_rtol_float", p, hermitian=True)
    case("linalg_matrix_rank.atol_rtol_float", p - 6 * torch.eye(4, dtype=d), atol=2.0, hermitian=True)
    for uplo in "LU":
        case("linalg_eigh", s3, uplo, only={0})
        case("linalg_eigvalsh", s3, uplo)
        case("_linalg_eigh", a, uplo, False)
        case("symeig", a, True, uplo == "U", only={0})
        case("symeig", a, False, uplo == "U")
    case("_symeig_helper", a, True, True, only={0})
    sym = r(4, 4, dtype=d)
    sym.diagonal().zero_()
    for hermitian in (True, False):
        x = (sym + sym.mH if hermitian else sym + sym.mT).contiguous()
        for op in "linalg_ldl_factor linalg_ldl_factor_ex".split():
            case(op, x, hermitian=hermitian)
        ld, pivots = ops.linalg_ldl_factor(x, hermitian=hermitian)
        case("linalg_ldl_solve", ld, pivots, b, hermitian=hermitian)
        case("linalg_ldl_solve", ld, pivots, r(2, 4, 1, dtype=d), hermitian=hermitian)
    for x in (a / 8, s3 / 4, 3 * torch.eye(2, dtype=d), torch.zeros(2, 2, dtype=d)):
        case("linalg_matrix_exp", x)
        case("matrix_exp", x)
    for n in (0, 1, 3, 6, -1, -2):
        case("linalg_matrix_power", s3, n)
        case("matrix_power", a, n)
    cube = r(2, 3, 4, dtype=d)
    for order in (1, -1, 2, -2, inf, -inf):
        case("linalg_matrix_norm", cube, order)
        case("linalg_matrix_norm", cube, order, [2, 0], True)
        case("linalg_norm", cube, order, [0, 1])
        case("linalg_norm", tall, order)
        case("linalg_cond", a, order)
    for order in ("fro", "nuc"):
        case("linalg_matrix_norm.str_ord", cube, order)
        case("linalg_matrix_norm.str_ord", cube, order, [0, 2], True)
        case("linalg_norm.ord_str", cube, order, [0, 1])
        case("linalg_norm.ord_str", tall, order)
        case("linalg_cond.p_str", a, order)
    case("linalg_cond", s3)
    case("linalg_cond", tall)
    for order in (0, 1, 2, 3, 0.5, -1, inf, -inf):
        case("linalg_vector_norm", cube, order)
        case("linalg_vector_norm", cube, order, [0, 2], True)
        case("linalg_norm", cube, order, [1])
        case("norm.Scalar", cube, order)
        case("norm.ScalarOpt_dim", cube, order, [1])
    case("linalg_norm", cube)
    case("linalg_norm", cube, None, [0, 1], True)
    case("norm.ScalarOpt_dim", cube, None, [0, 1], True)
    case("nuclear_norm", tall, True)
    case("nuclear_norm.dim", cube, [0, 1], True)
    case("frobenius_norm", cube)
    case("frobenius_norm.dim", cube, [0, 1])
    case("linalg_vander", r(3, dtype=d))
    case("linalg_vander", r(2, 3, dtype=d), N=4)
    case("vander", r(3, dtype=d), 4, True)
    case("vander", r(3, dtype=d))
    case("linalg_vecdot", cube, cube.flip(0).contiguous())
    case("linalg_vecdot", cube, r(2, 3, 4, dtype=d), dim=1)
    if not d.is_complex:  # Debian's PyTorch 1.13 gives 0 for complex numbers
        case("vdot", r(4, dtype=d), r(4, dtype=d))
    case("linalg_cross", r(2, 3, dtype=d), r(1, 3, dtype=d))
    case("cross", r(3, 3, dtype=d), r(3, 3, dtype=d))
    case("cross", r(2, 3, dtype=d), r(2, 3, dtype=d), 1)
    case("linalg_multi_dot", [r(2, 5, dtype=d), r(5, 3, dtype=d), r(3, 4, dtype=d), r(4, 1, dtype=d)])
    case("linalg_multi_dot", [r(5, dtype=d), r(5, 3, dtype=d), r(3, dtype=d)])
    case("chain_matmul", [r(2, 5, dtype=d), r(5, 3, dtype=d), r(3, 4, dtype=d)])
    case("linalg_tensorinv", spread(6, d).reshape(2, 3, 6), 2)
    case("linalg_tensorinv", spread(6, d).reshape(6, 2, 3), 1)
    case("linalg_tensorsolve", spread(6, d).reshape(2, 3, 6), r(2, 3, dtype=d))
    case("linalg_tensorsolve", spread(6, d).reshape(2, 6, 3), r(2, 3, dtype=d), [1])
    for op in ("mH", "mT", "adjoint"):
        case(op, cube)
    case("matrix_H", tall)
    case("linalg_diagonal", cube, offset=1)

    # nothing in it
    e0, e3, e20, e03 = torch.zeros(0, 0, dtype=d), torch.zeros(3, 0, 0, dtype=d), torch.zeros(2, 0, dtype=d), torch.zeros(0, 3, dtype=d)
    none = torch.zeros(0, 2, 2, dtype=d)
    for op in ("linalg_det det linalg_slogdet logdet linalg_inv inverse linalg_inv_ex linalg_cholesky linalg_cholesky_ex cholesky_inverse linalg_eigh linalg_eigvalsh symeig linalg_eig "
               "linalg_eigvals linalg_matrix_exp linalg_ldl_factor linalg_ldl_factor_ex linalg_cond linalg_lu_factor_ex linalg_lu linalg_qr geqrf linalg_svd svd linalg_svdvals _linalg_svd "
               "linalg_pinv.atol_rtol_float linalg_matrix_rank.atol_rtol_float linalg_norm nuclear_norm frobenius_norm linalg_matrix_norm.str_ord").split():
        for x in (e0, e3, none):
            case(op, x)
    for op in ("linalg_lu linalg_lu_factor_ex linalg_qr geqrf qr linalg_svd svd linalg_svdvals linalg_pinv.atol_rtol_float linalg_matrix_rank.atol_rtol_float").split():
        for x in (e20, e03):
            case(op, x)
    case("linalg_qr", e20, "complete")
    case("linalg_qr", e03, "complete")
    case("linalg_solve", e0, torch.zeros(0, 3, dtype=d))
    case("linalg_solve", a, torch.zeros(4, 0, dtype=d))
    case("linalg_solve", none, torch.zeros(0, 2, dtype=d))
    case("linalg_solve_triangular", e0, torch.zeros(0, 2, dtype=d), upper=True)
    case("cholesky_solve", torch.zeros(0, 2, dtype=d), e0)
    case("linalg_lstsq", e20, torch.ones(2, 1, dtype=d))
    case("linalg_lstsq", e03, torch.zeros(0, 1, dtype=d))
    case("linalg_lstsq", torch.zeros(0, 3, 2, dtype=d), torch.zeros(0, 3, 1, dtype=d))
    case("linalg_householder_product", torch.zeros(3, 0, dtype=d), torch.zeros(0, dtype=d))
    case("linalg_householder_product", r(3, 2, dtype=d), torch.zeros(0, dtype=d))
    case("linalg_vector_norm", torch.zeros(0, dtype=d))
    case("linalg_vector_norm", torch.zeros(0, dtype=d), inf)
    case("norm.Scalar", torch.zeros(0, dtype=d), inf)
    case("linalg_vander", torch.zeros(0, dtype=d), N=3)

# The other two element types.
for d in (torch.float64, torch.complex64):
    a, p, tall, b = spread(4, d), positive(4, d), r(5, 3, dtype=d), r(4, 2, dtype=d)
    for op in "linalg_det linalg_slogdet logdet linalg_inv linalg_pinv.atol_rtol_float linalg_matrix_exp linalg_eigvalsh linalg_svdvals linalg_qr geqrf linalg_cond linalg_norm linalg_vander".split():
        case(op, a)
    for op in "linalg_cholesky linalg_cholesky_ex cholesky_inverse linalg_eigvalsh linalg_matrix_rank.atol_rtol_float linalg_ldl_factor".split():
        case(op, p)
    case("linalg_solve", a, b)
    case("linalg_solve_triangular", a, b, upper=True)
    case("cholesky_solve", b, p)
    case("linalg_matrix_power", a, -3)
    for driver in ("gels", "gelsy", "gelsd"):
        case("linalg_lstsq", tall, r(5, 2, dtype=d), driver=driver)
    for order in (1, -2, inf):
        case("linalg_matrix_norm", tall, order)
    case("linalg_vector_norm", tall, 3, [0])
    case("linalg_multi_dot", [r(2, 5, dtype=d), r(5, 3, dtype=d), r(3, 4, dtype=d)])

# What is refused.
one, sing, zero, rect, vec = torch.eye(2), t([[1.0, 2.0], [2.0, 4.0]]), torch.zeros(2, 2), torch.ones(2, 3), torch.ones(2)
mixed = torch.stack([one, sing, zero])
for op in "linalg_inv inverse linalg_cholesky cholesky linalg_lu_factor".split():
    for x in (sing, zero, mixed):
        case(op, x)
for op in "linalg_inv_ex linalg_cholesky_ex linalg_lu_factor_ex".split():
    case(op, mixed, check_errors=True)
    case(op, mixed, only={1 if op != "linalg_lu_factor_ex" else 2})
for op in ("linalg_inv linalg_inv_ex linalg_det linalg_slogdet logdet linalg_cholesky linalg_cholesky_ex cholesky_inverse linalg_eigh linalg_eigvalsh linalg_eig linalg_eigvals symeig linalg_matrix_exp "
           "linalg_ldl_factor_ex").split():
    case(op, rect)
    case(op, torch.zeros(2, 0))
    case(op, vec)
for op in "linalg_svd linalg_svdvals linalg_qr geqrf linalg_lu linalg_lu_factor linalg_cond linalg_matrix_norm.str_ord mT mH".split():
    case(op, vec)
for op in "linalg_inv linalg_det linalg_slogdet logdet linalg_cholesky linalg_svd linalg_qr linalg_vector_norm linalg_norm".split():
    case(op, torch.ones(2, 2, dtype=torch.int64))
for op in "linalg_inv linalg_slogdet".split():
    case(op, torch.ones(2, 2, dtype=torch.float16))
case("linalg_matrix_power", rect, 2)
case("linalg_matrix_power", vec, 2)
case("linalg_matrix_power", sing, -1)
case("linalg_matrix_power", t([[1, 2], [3, 4]], torch.int64), 5)
case("linalg_solve", sing, vec)
case("linalg_solve", mixed, vec)
case("linalg_solve_ex", sing, vec, only={1})
case("linalg_solve_ex", sing, vec, check_errors=True)
case("linalg_solve", rect, vec)
case("linalg_solve", vec, vec)
case("linalg_solve", one, t(1.0))
case("linalg_solve", one, torch.ones(3, 1))
case("linalg_solve", one, torch.ones(3))
case("linalg_solve", one, vec, left=False)
case("linalg_solve", one, vec.double())
case("linalg_solve", mixed, torch.ones(4, 2, 1))
case("linalg_solve", one.long(), vec.long())
LU, P = ops.linalg_lu_factor(t([[2.0, 1.0], [1.0, 3.0]]))
case("linalg_lu_solve", LU, P, vec)
case("linalg_lu_solve", LU, P.long(), one)
case("linalg_lu_solve", LU, torch.stack([P, P]), one)
case("linalg_lu_solve", LU, P, one.double())
case("linalg_lu_solve", LU, P, torch.ones(3, 1))
case("lu_unpack", LU, P.long())
case("lu_unpack", vec, P)
case("linalg_lu", one, pivot=False)
case("linalg_lu_factor", one, pivot=False)
case("linalg_solve_triangular", one, vec, upper=True)
case("linalg_solve_triangular", one, torch.ones(3, 1), upper=True)
case("linalg_solve_triangular", rect, one, upper=True)
case("linalg_solve_triangular", zero, one, upper=False)
case("triangular_solve", vec, one)
case("triangular_solve", torch.ones(3, 1), one)
case("cholesky_solve", vec, one)
case("cholesky_solve", one, vec)
case("cholesky_solve", torch.ones(3, 1), one)
case("linalg_qr", one, "all")
case("linalg_svd", one, driver="gesvd")
case("linalg_eigh", one, "X")
case("linalg_lstsq", torch.ones(3, 2), torch.ones(3, 1), driver="gesv")
case("linalg_lstsq", t([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), torch.ones(3, 1), driver="gels")
case("linalg_lstsq", vec, vec)
case("linalg_lstsq", torch.ones(3, 2), vec)
case("linalg_lstsq", torch.ones(3, 2), torch.ones(2, 1))
case("linalg_lstsq", torch.ones(3, 2), torch.ones(3, 1).double())
case("linalg_lstsq", torch.ones(3, 2), torch.ones(2, 3, 1))
case("linalg_lstsq", torch.ones(3, 2), t(1.0))
case("linalg_householder_product", rect, vec)
case("linalg_householder_product", torch.ones(3, 2), torch.ones(3))
case("linalg_householder_product", torch.ones(3, 2), vec.double())
case("linalg_householder_product", torch.ones(2, 3, 2), vec)
case("linalg_householder_product", vec, vec)
case("ormqr", torch.ones(3, 2), vec, one)
case("ormqr", torch.ones(3, 2), torch.ones(3), torch.ones(3, 2))
case("ormqr", torch.ones(3, 2), vec, vec)
case("ormqr", torch.ones(2, 3, 2), torch.ones(2, 2), torch.ones(3, 2))
LD, Q = ops.linalg_ldl_factor(t([[0.0, 1.0], [1.0, 0.0]]))
case("linalg_ldl_solve", LD, Q.float(), one)
case("linalg_ldl_solve", LD, Q[:1].clone(), one)
case("linalg_ldl_solve", LD, Q, torch.ones(3, 1))
case("linalg_ldl_solve", LD, Q.long(), one)
case("linalg_ldl_factor_ex", mixed, only={1, 2})
for order in (3, 0):
    case("linalg_matrix_norm", one, order)
    case("linalg_cond", one, order)
case("linalg_matrix_norm.str_ord", one, "max")
case("linalg_cond.p_str", one, "max")
case("linalg_matrix_norm", torch.ones(2, 2, 2), 1, [0, 0])
case("linalg_matrix_norm", torch.ones(2, 2, 2), 1, [0])
case("linalg_matrix_norm", one, 1, dtype=torch.float64)
case("linalg_matrix_norm", one.double(), 1, dtype=torch.float32)
case("linalg_norm", torch.ones(2, 2, 2), 2, [0, 1, 2])
case("linalg_norm", torch.ones(2, 2, 2), 2)
case("linalg_norm.ord_str", vec, "fro")
case("linalg_vector_norm", vec, dtype=torch.float64)
case("linalg_vector_norm", vec, dtype=torch.complex64)
case("linalg_vector_norm", vec, dtype=torch.float16)
case("linalg_vector_norm", torch.zeros(0), -1)
case("linalg_vector_norm", t(-3.0))
case("norm.Scalar", t([1, 2], torch.int64))
case("norm.ScalarOpt_dtype", t([1, 2], torch.int64), None, dtype=torch.float32)
case("norm.ScalarOpt_dim_dtype", vec, 3, [0], True, dtype=torch.float64)
case("nuclear_norm", vec)
case("nuclear_norm", torch.ones(2, 2, 2))
case("nuclear_norm.dim", one, [0])
case("frobenius_norm.dim", torch.ones(2, 2, 2), [0, 1, 2])
for op in ("linalg_cond",):
    for order in (1, -1, inf, -inf):
        case(op, mixed, order)
        case(op, rect, order)
case("linalg_cond.p_str", mixed, "fro")
case("linalg_cond.p_str", rect, "nuc")
case("linalg_tensorinv", torch.ones(2, 3, 4), 2)
case("linalg_tensorinv", torch.ones(2, 2), 0)
case("linalg_tensorsolve", torch.ones(2, 3, 5), torch.ones(2, 3))
case("linalg_tensorsolve", sing, vec)
case("linalg_vander", t([1, 2, 3], torch.int32), N=2)
case("linalg_vander", t([True, False], torch.bool))
case("linalg_vander", t([1.0, 2.0], torch.float16), N=2)
case("linalg_vander", vec, N=1)
case("linalg_vander", t(1.0))
case("vander", t([1, 2, 3], torch.int64), 4, True)
case("vander", one)
case("vander", vec, -1)
case("vander", vec, 0)
case("linalg_vecdot", t([1, 2], torch.int64), t([1, 2], torch.int64))
case("linalg_vecdot", vec, vec.to(torch.complex64))
case("linalg_vecdot", torch.ones(2, 3), torch.ones(3))
case("linalg_matmul", t([[1, 2], [3, 4]]), t([[5, 6], [7, 8]]))
case("linalg_matmul", t([1, 2, 3], torch.int64), t([[1, 0], [0, 1], [1, 1]], torch.int64))
case("linalg_matmul", t([[[1, 2]], [[3, 4]]], torch.float64), t([[1, -1], [2, 1]], torch.float64))
case("linalg_matmul", t([[1 + 2j]], torch.complex64), t([[3 - 1j]], torch.complex64))
case("linalg_cross", one, one)
case("linalg_cross", torch.ones(2, 3), torch.ones(3))
case("linalg_cross", t([1, 2, 3], torch.int64), t([3, 2, 1], torch.int64))
case("cross", one, one)
case("linalg_multi_dot", [vec])
case("linalg_multi_dot", [torch.ones(3, 3), torch.ones(3), torch.ones(3, 3)])
case("linalg_multi_dot", [torch.ones(2, 3), torch.ones(4, 4)])
case("linalg_multi_dot", [torch.ones(2, 3, 1), torch.ones(4, 4)])
case("linalg_multi_dot", [torch.ones(3), torch.ones(3)])
case("chain_matmul", [])
case("chain_matmul", [one])
case("chain_matmul", [vec, one])
case("matrix_H", torch.ones(2, 2, 2))
case("logdet", t([[0.0, 1.0], [1.0, 0.0]]))
case("logdet", sing)
case("_linalg_check_errors", t([0, 2], torch.int32), "linalg.inv", is_matrix=False)

# Not a number, and infinity.
bad = t([[nan, 1.0], [1.0, 2.0]])
for op in "linalg_det linalg_slogdet linalg_inv linalg_lu_factor_ex linalg_cholesky linalg_svd linalg_svdvals linalg_eig linalg_qr".split():
    case(op, bad)
case("linalg_solve", bad, vec)
case("linalg_matrix_rank.atol_rtol_float", bad)
case("linalg_cond", bad, 1)
