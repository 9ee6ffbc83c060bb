// Decompositions by what they multiply to, in all four element types, and examples of PyTorch's documentation.

#include <QtTest>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "core/ops/registry/registry.h"

namespace tst_linalg_decompositions {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Complex = std::complex<double>;

namespace {

base::Result<std::vector<Value>> tryCall(const char* name, std::vector<Value> inputs, std::stop_token stop = {}) {
    base::ThreadPool pool(2);
    ops::RunEnvironment environment{&pool, std::move(stop), 0, false};
    const ops::OpDef* op = ops::Registry::all().find("aten", name, 0);
    if (!op) return base::runError("no such operator");
    return ops::call(*op, inputs, {}, std::max<std::size_t>(op->outputs.size(), 1), environment);
}

std::vector<Value> call(const char* name, std::vector<Value> inputs) {
    auto results = tryCall(name, std::move(inputs));
    if (!results) qFatal("%s", results.error().text().c_str());
    return std::move(*results);
}

Tensor first(const char* name, std::vector<Value> inputs) { return call(name, std::move(inputs)).front().tensor(); }

/// A matrix, multiplied in the plainest way.
struct Plain {
    std::int64_t rows = 0, cols = 0;
    std::vector<Complex> v;

    Plain(std::int64_t m, std::int64_t n) : rows(m), cols(n), v(static_cast<std::size_t>(m * n)) {}
    Complex& at(std::int64_t i, std::int64_t j) { return v[static_cast<std::size_t>(i * cols + j)]; }
    Complex at(std::int64_t i, std::int64_t j) const { return v[static_cast<std::size_t>(i * cols + j)]; }
};

/// The matrices of a tensor [..., m, n].
std::vector<Plain> matrices(const Tensor& x) {
    const Tensor wide = x.contiguous()->cast(DType::Complex128).value();
    const std::int64_t m = x.dim(x.rank() - 2), n = x.dim(x.rank() - 1);
    std::vector<Plain> all;
    for (std::int64_t i = 0; i < wide.numel(); i += m * n) {
        Plain& plain = all.emplace_back(m, n);
        std::copy_n(wide.data<Complex>() + i, m * n, plain.v.begin());
    }
    return all;
}

/// Vectors [..., k] as diagonal matrices of m × n.
std::vector<Plain> diagonals(const Tensor& x, std::int64_t m, std::int64_t n) {
    const Tensor wide = x.contiguous()->cast(DType::Complex128).value();
    const std::int64_t k = x.dim(x.rank() - 1);
    std::vector<Plain> all;
    for (std::int64_t i = 0; i < wide.numel(); i += k) {
        Plain& plain = all.emplace_back(m, n);
        for (std::int64_t j = 0; j < k; ++j) plain.at(j, j) = wide.data<Complex>()[i + j];
    }
    return all;
}

Plain operator*(const Plain& a, const Plain& b) {
    Plain c(a.rows, b.cols);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            for (std::int64_t k = 0; k < a.cols; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
        }
    }
    return c;
}

Plain adjoint(const Plain& a) {
    Plain c(a.cols, a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.cols; ++j) c.at(j, i) = std::conj(a.at(i, j));
    }
    return c;
}

Plain identity(std::int64_t n) {
    Plain c(n, n);
    for (std::int64_t i = 0; i < n; ++i) c.at(i, i) = 1;
    return c;
}

double distance(const Plain& a, const Plain& b) {
    if (a.rows != b.rows || a.cols != b.cols) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < a.v.size(); ++i) {
        const double d = std::abs(a.v[i] - b.v[i]);
        largest = std::isnan(d) ? INFINITY : std::max(largest, d);
    }
    return largest;
}

bool isTriangle(const Plain& a, bool upper) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.cols; ++j) {
            if ((upper ? i > j : i < j) && a.at(i, j) != Complex(0)) return false;
        }
    }
    return true;
}

/// Uniform from −1 to 1, also in the imaginary part of complex ones.
Tensor random(DType dtype, std::vector<std::int64_t> shape, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Complex> numbers(static_cast<std::size_t>(Shape(shape).numel()));
    for (Complex& z : numbers) z = {uniform(generator), tensor::isComplex(dtype) ? uniform(generator) : 0};
    return Tensor::of<Complex>(Shape(std::move(shape)), numbers).cast(dtype).value();
}

/// A + Aᴴ, plus `shift` on the diagonal.
Tensor hermitian(DType dtype, std::int64_t n, double shift, unsigned seed) {
    const Plain a = matrices(random(dtype, {n, n}, seed)).front(), mirrored = adjoint(a);
    std::vector<Complex> numbers(a.v);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += mirrored.v[i];
    for (std::int64_t i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i * n + i)] += shift;
    return Tensor::of<Complex>({n, n}, numbers).cast(dtype).value();
}

double tolerance(const Tensor& x) {
    return x.dtype() == DType::Float64 || x.dtype() == DType::Complex128 ? 1e-11 : 1e-4;
}

Tensor floats(std::vector<std::int64_t> shape, std::vector<double> values) {
    return Tensor::of<double>(Shape(std::move(shape)), values).cast(DType::Float32).value();
}

constexpr DType kTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

/// Nothing, or the first element that is not as printed to about five digits.
QString differenceTo(const Tensor& found, const std::vector<double>& wanted) {
    if (found.numel() != static_cast<std::int64_t>(wanted.size())) return QString::fromStdString(found.typeText());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double value = found.toDouble(static_cast<std::int64_t>(i));
        const bool isNear = std::abs(value - wanted[i]) < 6e-5 * std::max(1.0, std::abs(wanted[i]));
        if (!isNear) return QString("element %1 is %2 instead of %3").arg(i).arg(value).arg(wanted[i]);
    }
    return {};
}

#define COMPARE_NEAR(found, ...) QCOMPARE(differenceTo(found, __VA_ARGS__), QString())

}  // namespace

class TestLinalgDecompositions : public QObject {
    Q_OBJECT

  private:
    /// Element type and shape, in all kinds: square, tall, wide, a batch, large enough for blocked algorithms.
    static void shapeRows() {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<QList<int>>("shape");
        for (DType dtype : kTypes) {
            for (const QList<int>& shape :
                 {QList<int>{1, 1}, {4, 4}, {7, 3}, {3, 7}, {2, 3, 5, 4}, {40, 40}, {50, 20}, {20, 50}}) {
                QString text;
                for (int dim : shape) text += QString("%1 ").arg(dim);
                QTest::addRow("%s %s", std::string(tensor::name(dtype)).c_str(), qPrintable(text))
                    << static_cast<int>(dtype) << shape;
            }
        }
    }
    static Tensor sample() {
        QFETCH(int, dtype);
        QFETCH(QList<int>, shape);
        return random(static_cast<DType>(dtype), {shape.begin(), shape.end()}, 5);
    }
    static void typeRows() {
        QTest::addColumn<int>("dtype");
        for (DType dtype : kTypes)
            QTest::addRow("%s", std::string(tensor::name(dtype)).c_str()) << static_cast<int>(dtype);
    }
    static DType type() {
        QFETCH(int, dtype);
        return static_cast<DType>(dtype);
    }

  private Q_SLOTS:
    void luMultipliesToA_data() { shapeRows(); }
    void luMultipliesToA() {
        const Tensor a = sample();
        const std::vector<Value> lu = call("linalg_lu", {a});
        const auto as = matrices(a), ps = matrices(lu[0].tensor()), ls = matrices(lu[1].tensor()),
                   us = matrices(lu[2].tensor());
        for (std::size_t i = 0; i < as.size(); ++i) {
            QVERIFY(distance(ps[i] * ls[i] * us[i], as[i]) < tolerance(a));
            QVERIFY(isTriangle(ls[i], false) && isTriangle(us[i], true));
            for (const Complex& factor : ls[i].v) QVERIFY(std::abs(factor) < 1 + 1e-6);  // each pivot was the largest
            QVERIFY(distance(ps[i] * adjoint(ps[i]), identity(ps[i].rows)) == 0);
        }
    }

    void qrMultipliesToA_data() { shapeRows(); }
    void qrMultipliesToA() {
        const Tensor a = sample();
        for (const char* mode : {"reduced", "complete"}) {
            const std::vector<Value> qr = call("linalg_qr", {a, Value(std::string(mode))});
            const auto as = matrices(a), qs = matrices(qr[0].tensor()), rs = matrices(qr[1].tensor());
            for (std::size_t i = 0; i < as.size(); ++i) {
                QVERIFY(distance(qs[i] * rs[i], as[i]) < tolerance(a));
                QVERIFY(distance(adjoint(qs[i]) * qs[i], identity(qs[i].cols)) < tolerance(a));
                QVERIFY(isTriangle(rs[i], true));
                QCOMPARE(qs[i].cols, *mode == 'c' ? as[i].rows : std::min(as[i].rows, as[i].cols));
            }
        }
    }

    void svdMultipliesToA_data() { shapeRows(); }
    void svdMultipliesToA() {
        const Tensor a = sample();
        for (bool full : {false, true}) {
            const std::vector<Value> parts = call("linalg_svd", {a, Value::ofBool(full)});
            const auto as = matrices(a), us = matrices(parts[0].tensor()), vs = matrices(parts[2].tensor());
            const auto ss = diagonals(parts[1].tensor(), us[0].cols, vs[0].rows);
            for (std::size_t i = 0; i < as.size(); ++i) {
                QVERIFY(distance(us[i] * ss[i] * vs[i], as[i]) < tolerance(a));
                QVERIFY(distance(adjoint(us[i]) * us[i], identity(us[i].cols)) < tolerance(a));
                QVERIFY(distance(vs[i] * adjoint(vs[i]), identity(vs[i].rows)) < tolerance(a));
                QCOMPARE(us[i].cols, full ? as[i].rows : std::min(as[i].rows, as[i].cols));
                for (std::int64_t k = 1; k < std::min(as[i].rows, as[i].cols); ++k)
                    QVERIFY(ss[i].at(k - 1, k - 1).real() >= ss[i].at(k, k).real());
                QVERIFY(ss[i].at(0, 0).real() >= 0);
            }
        }
    }

    /// A·A⁺·A = A, A⁺·A·A⁺ = A⁺ and both products Hermitian (Penrose 1955), also without full rank.
    void pseudoInverseIsPenroses_data() { shapeRows(); }
    void pseudoInverseIsPenroses() {
        Tensor a = sample();
        if (a.dim(a.rank() - 1) > 1) {
            // The last column is the first.
            const Tensor copy = a.clone().value();
            const std::size_t last = a.rank() - 1;
            std::vector<Value> columns{Value(copy.sliced(last, 0, a.dim(last) - 1)), Value(copy.sliced(last, 0, 1))};
            a = first("cat", {Value::list(columns), Value::ofInt(-1)});
        }
        const auto as = matrices(a), inverses = matrices(first("linalg_pinv.atol_rtol_float", {a}));
        for (std::size_t i = 0; i < as.size(); ++i) {
            const Plain left = as[i] * inverses[i], right = inverses[i] * as[i];
            double largest = 1;
            for (const Complex& z : inverses[i].v) largest = std::max(largest, std::abs(z));
            const double near = 30 * tolerance(a) * largest;
            QVERIFY(distance(left * as[i], as[i]) < near);
            QVERIFY(distance(right * inverses[i], inverses[i]) < near);
            QVERIFY(distance(left, adjoint(left)) < near && distance(right, adjoint(right)) < near);
        }
    }

    void choleskyMultipliesToA_data() { typeRows(); }
    void choleskyMultipliesToA() {
        for (std::int64_t n : {1, 5, 60}) {
            const Tensor a = hermitian(type(), n, static_cast<double>(3 * n), 3);
            for (bool upper : {false, true}) {
                const Plain factor = matrices(first("linalg_cholesky", {a, Value::ofBool(upper)})).front();
                QVERIFY(isTriangle(factor, upper));
                QVERIFY(distance(upper ? adjoint(factor) * factor : factor * adjoint(factor), matrices(a).front()) <
                        100 * tolerance(a));
            }
        }
    }

    void symmetricEigenvectorsMultiplyToA_data() { typeRows(); }
    void symmetricEigenvectorsMultiplyToA() {
        for (std::int64_t n : {1, 2, 6, 40}) {
            const Tensor a = hermitian(type(), n, 0, 9);
            for (const char* triangle : {"L", "U"}) {
                // The other triangle is not read.
                Plain given = matrices(a).front();
                for (std::int64_t i = 0; i < n; ++i) {
                    for (std::int64_t j = 0; j < n; ++j) {
                        if (*triangle == 'L' ? i < j : i > j) given.at(i, j) = std::numeric_limits<double>::quiet_NaN();
                    }
                }
                const Tensor half = Tensor::of<Complex>({n, n}, given.v).cast(type()).value();
                const std::vector<Value> parts = call("linalg_eigh", {half, Value(std::string(triangle))});
                const Plain v = matrices(parts[1].tensor()).front(), w = diagonals(parts[0].tensor(), n, n).front();
                QVERIFY(distance(v * w * adjoint(v), matrices(a).front()) < 10 * tolerance(a));
                QVERIFY(distance(adjoint(v) * v, identity(n)) < tolerance(a));
                for (std::int64_t k = 1; k < n; ++k) QVERIFY(w.at(k - 1, k - 1).real() <= w.at(k, k).real());
                QVERIFY(!tensor::isComplex(parts[0].tensor().dtype()));
            }
        }
    }

    void eigenvectorsAreScaledByA_data() { typeRows(); }
    void eigenvectorsAreScaledByA() {
        for (std::int64_t n : {1, 2, 6, 40}) {
            const Tensor a = random(type(), {2, n, n}, 21);
            const std::vector<Value> parts = call("linalg_eig", {a});
            const auto as = matrices(a), vs = matrices(parts[1].tensor()), ws = diagonals(parts[0].tensor(), n, n);
            for (std::size_t i = 0; i < as.size(); ++i) {
                QVERIFY(distance(as[i] * vs[i], vs[i] * ws[i]) < 30 * tolerance(a));
                Complex trace = 0, sum = 0;
                for (std::int64_t k = 0; k < n; ++k) {
                    trace += as[i].at(k, k);
                    sum += ws[i].at(k, k);
                    double length = 0;
                    for (std::int64_t row = 0; row < n; ++row) length += std::norm(vs[i].at(row, k));
                    QVERIFY(std::abs(length - 1) < 10 * tolerance(a));
                }
                QVERIFY(std::abs(trace - sum) < 30 * tolerance(a));
            }
            const Tensor values = first("linalg_eigvals", {a});
            QVERIFY(tensor::isComplex(values.dtype()) && values.shape() == parts[0].tensor().shape());
        }
    }

    /// Also of indefinite matrices with zeros on the diagonal, which need blocks of two.
    void ldlSolvesIndefiniteSystems_data() { typeRows(); }
    void ldlSolvesIndefiniteSystems() {
        for (std::int64_t n : {2, 3, 8, 30}) {
            for (bool zeroDiagonal : {false, true}) {
                Plain a = matrices(hermitian(type(), n, 0, 13)).front();
                for (std::int64_t i = 0; zeroDiagonal && i < n; ++i) a.at(i, i) = 0;
                const Tensor matrix = Tensor::of<Complex>({n, n}, a.v).cast(type()).value(),
                             b = random(type(), {n, 2}, 17);
                const std::vector<Value> parts = call("linalg_ldl_factor", {matrix, Value::ofBool(true)});
                if (zeroDiagonal) QVERIFY(parts[1].tensor().toInt64(0) < 0);
                const Tensor x = first("linalg_ldl_solve", {parts[0], parts[1], b, Value::ofBool(true)});
                QVERIFY(distance(matrices(matrix).front() * matrices(x).front(), matrices(b).front()) <
                        100 * tolerance(b));
            }
        }
    }

    /// e^A·e^−A = 1, and e^(QΛQᴴ) = Q·e^Λ·Qᴴ.
    void exponentialsInvertEachOther_data() { typeRows(); }
    void exponentialsInvertEachOther() {
        const Tensor a = random(type(), {5, 5}, 31);
        const Plain forward = matrices(first("linalg_matrix_exp", {a})).front(),
                    back = matrices(first("linalg_matrix_exp", {first("neg", {a})})).front();
        QVERIFY(distance(forward * back, identity(5)) < 10 * tolerance(a));
        const Tensor symmetric = hermitian(type(), 4, 0, 8);
        const std::vector<Value> parts = call("linalg_eigh", {symmetric, Value(std::string("L"))});
        const Plain v = matrices(parts[1].tensor()).front();
        Plain w = diagonals(parts[0].tensor(), 4, 4).front();
        for (std::int64_t k = 0; k < 4; ++k) w.at(k, k) = std::exp(w.at(k, k));
        QVERIFY(distance(matrices(first("matrix_exp", {symmetric})).front(), v * w * adjoint(v)) < 100 * tolerance(a));
    }

    /// pytorch.org/docs/1.13: the examples of torch.linalg's pages, with the numbers that they print.
    void examplesOfTheDocumentation() {
        const Tensor b = floats({3, 3}, {-4, -3, -2, -1, 0, 1, 2, 3, 4}), a = b.reshaped({9}).value();
        const double inf = INFINITY;
        const struct {
            double order, vector, matrix;
        } norms[] = {{inf, 4, 9},         {-inf, 0, 2}, {1, 20, 7},       {-1, 0, 6},
                     {2, 7.7460, 7.3485}, {-2, 0, 0},   {3, 5.8480, NAN}, {-3, 0, NAN}};
        for (const auto& row : norms) {
            COMPARE_NEAR(first("linalg_norm", {a, Value::ofFloat(row.order)}), {row.vector});
            if (!std::isnan(row.matrix))
                COMPARE_NEAR(first("linalg_norm", {b, Value::ofFloat(row.order)}), {row.matrix});
        }
        COMPARE_NEAR(first("linalg_norm.ord_str", {b, Value(std::string("fro"))}), {7.7460});

        const Tensor c = floats({3, 3}, {1, 0, -1, 0, 1, 0, 1, 0, 1});
        const std::pair<double, double> conditions[] = {{inf, 2}, {-inf, 1},   {1, 2},
                                                        {-1, 1},  {2, 1.4142}, {-2, 0.7071}};
        for (const auto& [order, wanted] : conditions)
            COMPARE_NEAR(first("linalg_cond", {c, Value::ofFloat(order)}), {wanted});
        COMPARE_NEAR(first("linalg_cond.p_str", {c, Value(std::string("fro"))}), {3.1623});
        COMPARE_NEAR(first("linalg_cond.p_str", {c, Value(std::string("nuc"))}), {9.2426});

        const std::vector<Value> qr = call("linalg_qr", {floats({3, 3}, {12, -51, 4, 6, 167, -68, -4, 24, -41})});
        COMPARE_NEAR(qr[0].tensor(),
                     {-0.85714, 0.39429, 0.33143, -0.42857, -0.90286, -0.03429, 0.28571, -0.17143, 0.94286});
        COMPARE_NEAR(qr[1].tensor(), {-14, -21, 14, 0, -175, 70, 0, 0, -35});

        const double third = std::acos(-1.0) / 3;
        COMPARE_NEAR(first("linalg_matrix_exp", {floats({2, 2}, {0, third, -third, 0})}),
                     {0.5, 0.86603, -0.86603, 0.5});
        COMPARE_NEAR(first("linalg_vander", {floats({4}, {1, 2, 3, 5})}),
                     {1, 1, 1, 1, 1, 2, 4, 8, 1, 3, 9, 27, 1, 5, 25, 125});
        const auto ints = [](Shape shape, std::vector<std::int64_t> values) {
            return Value(Tensor::of<std::int64_t>(std::move(shape), values));
        };
        const Value chain = Value::list(
            {ints({2, 3}, {0, 1, 2, 3, 4, 5}), ints({3, 2}, {0, 1, 2, 3, 4, 5}), ints({2, 2}, {0, 1, 2, 3})});
        COMPARE_NEAR(first("linalg_multi_dot", {chain}), {26, 49, 80, 148});
    }

    /// By hand. [[4,3],[6,3]]: rows exchanged, 4/6 below, 3 − 2/3·3 = 1. [[4,2],[2,3]] = [[2,0],[1,√2]]·its transpose.
    /// Of the turn by 90° the eigenvalues are i and −i. [[3,0],[0,−2]] has singular values 3 and 2.
    void smallCasesByHand() {
        const std::vector<Value> lu = call("linalg_lu_factor", {floats({2, 2}, {4, 3, 6, 3})});
        COMPARE_NEAR(lu[0].tensor(), {6, 3, 0.666667, 1});
        COMPARE_NEAR(lu[1].tensor(), {2, 2});
        COMPARE_NEAR(first("linalg_det", {floats({2, 2}, {4, 3, 6, 3})}), {-6});
        COMPARE_NEAR(first("linalg_inv", {floats({2, 2}, {4, 3, 6, 3})}), {-0.5, 0.5, 1, -0.666667});
        COMPARE_NEAR(first("linalg_cholesky", {floats({2, 2}, {4, 2, 2, 3})}), {2, 0, 1, 1.414214});
        COMPARE_NEAR(first("linalg_svdvals", {floats({2, 2}, {3, 0, 0, -2})}), {3, 2});
        COMPARE_NEAR(first("linalg_eigvalsh", {floats({2, 2}, {2, 1, 1, 2})}), {1, 3});
        const Tensor turn = first("linalg_eigvals", {floats({2, 2}, {0, -1, 1, 0})});
        const auto values = turn.span<std::complex<float>>();
        QVERIFY(std::abs(values[0] * values[1] - 1.0F) < 1e-6F && std::abs(values[0] + values[1]) < 1e-6F);
        // A line through (1,1), (2,2), (3,2): 2/3 + x/2.
        COMPARE_NEAR(first("linalg_lstsq", {floats({3, 2}, {1, 1, 1, 2, 1, 3}), floats({3, 1}, {1, 2, 2})}),
                     {0.666667, 0.5});
    }

    /// Nothing iterates on what is not a number: it is refused, or comes out again.
    void notANumberEndsEverything_data() { typeRows(); }
    void notANumberEndsEverything() {
        for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            for (std::int64_t n : {2, 20}) {
                std::vector<Complex> numbers(static_cast<std::size_t>(n * n), Complex(1));
                numbers[static_cast<std::size_t>(n)] = bad;
                const Tensor a = Tensor::of<Complex>({n, n}, numbers).cast(type()).value();
                for (const char* name :
                     {"linalg_svd", "linalg_svdvals", "linalg_eig", "linalg_eigvals", "linalg_eigh", "linalg_eigvalsh",
                      "linalg_matrix_rank.atol_rtol_float", "linalg_pinv.atol_rtol_float"}) {
                    QVERIFY2(!tryCall(name, {a}), name);
                }
                for (const char* name : {"linalg_det", "linalg_qr", "linalg_matrix_exp", "linalg_lu_factor_ex",
                                         "linalg_ldl_factor_ex", "linalg_cholesky_ex"}) {
                    QVERIFY2(tryCall(name, {a}), name);
                }
                for (const char* driver : {"gels", "gelsy"})
                    (void)tryCall("linalg_lstsq", {a, a, Value(), Value(std::string(driver))});
                QVERIFY(!tryCall("linalg_lstsq", {a, a, Value(), Value(std::string("gelsd"))}));
            }
        }
    }

    void aCancelledRunStopsBetweenMatrices() {
        std::stop_source stop;
        stop.request_stop();
        const Tensor a = random(DType::Float32, {1000, 3, 3}, 1);
        for (const char* name : {"linalg_svd", "linalg_eig", "linalg_inv", "linalg_cholesky"}) {
            const auto result = tryCall(name, {a}, stop.get_token());
            QVERIFY2(!result && result.error().kind == base::ErrorKind::Cancelled, name);
        }
    }

    /// The results would need more memory than there is.
    void absurdSizesAreErrors() {
        const std::int64_t huge = std::int64_t{1} << 24;
        const Tensor tall = Tensor::zeros(DType::Float32, Shape{huge, 0}).value();
        QVERIFY(!tryCall("linalg_qr", {tall, Value(std::string("complete"))}));
        QVERIFY(!tryCall("linalg_svd", {tall}));
        QVERIFY(!tryCall("linalg_lu", {tall}));
        QVERIFY(!tryCall("linalg_vander", {floats({2}, {1, 2}), Value::ofInt(std::int64_t{1} << 60)}));
        QVERIFY(!tryCall("linalg_ldl_solve", {floats({2, 2}, {1, 0, 0, 1}), Tensor::of<std::int32_t>({2}, {1, 7}),
                                              floats({2, 1}, {1, 1})}));
        QVERIFY(!tryCall("linalg_ldl_solve", {floats({2, 2}, {1, 0, 0, 1}), Tensor::of<std::int32_t>({2}, {1, -2}),
                                              floats({2, 1}, {1, 1})}));
        QVERIFY(!tryCall("linalg_lu_solve", {floats({2, 2}, {1, 0, 0, 1}), Tensor::of<std::int32_t>({2}, {0, 2}),
                                             floats({2, 1}, {1, 1})}));
        QVERIFY(!tryCall("lu_unpack", {floats({2, 2}, {1, 0, 0, 1}), Tensor::of<std::int32_t>({2}, {1, 3})}));
    }
};

QTEST_GUILESS_MAIN(TestLinalgDecompositions)

}  // namespace tst_linalg_decompositions

#include "tst_linalg_decompositions.moc"
