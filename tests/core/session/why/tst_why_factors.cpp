// Rules of what matrices are taken apart into, of powers and exponentials, of losses of labels, differences, quantised
// layers with a state, and of torchvision's sampling, on random shapes.

#include <QtTest>

#include <cmath>

#include "tests/core/session/why/random_call.h"

namespace tst_why_factors {

using namespace sonde;
using tensor::Attributes;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using test::RandomSource;

namespace {

Value integer(std::int64_t value) { return Value::ofInt(value); }
Value number(double value) { return Value::ofFloat(value); }
Value flag(bool value) { return Value::ofBool(value); }
QString aten(std::string_view name, std::vector<Value> inputs, std::size_t outputs = 1) {
    return test::checked("aten", name, std::move(inputs), {}, 0, outputs);
}
QString vision(std::string_view name, std::vector<Value> inputs) {
    return test::checked("torchvision", name, std::move(inputs), {}, 0, 1);
}
Value bytes(RandomSource& source, const Shape& shape, DType dtype) {
    const double low = dtype == DType::UInt8 ? 0 : -128;
    return Value(source.tensor(shape, low, low + 255).cast(dtype).value());
}

/// Square matrices far from singular, symmetric if they are to be.
Tensor squares(RandomSource& source, std::int64_t batch, std::int64_t n, bool isSymmetric) {
    Tensor a = source.tensor({batch, n, n});
    float* const data = a.mutableData<float>();
    for (std::int64_t i = 0; i < batch * n * n; ++i) {
        const std::int64_t row = i / n % n, column = i % n, turned = i / (n * n) * n * n + column * n + row;
        if (isSymmetric && column > row) data[i] = data[turned];
    }
    for (std::int64_t i = 0; i < batch * n; ++i) data[i * n + i % n] += static_cast<float>(8 + 2 * (i % n));
    return a;
}

}  // namespace

class TestWhyFactors : public QObject {
    Q_OBJECT

  private slots:
    void symmetricMatrices() {
        for (int round = 0; round < 20; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 4), b = source.between(1, 2);
            const Value a(squares(source, b, n, true));
            for (const char* name : {"linalg_cholesky", "cholesky", "linalg_cholesky_ex"})
                QCOMPARE(aten(name, {a, flag(source.coin())}), QString());
            const Value side(std::string(source.coin() ? "L" : "U"));
            QCOMPARE(aten("linalg_eigvalsh", {a, side}), QString());
            QCOMPARE(aten("linalg_eigh", {a, side}, 2), QString());
            QCOMPARE(aten("cholesky_solve", {Value(source.tensor({b, n, 2})), a, flag(source.coin())}), QString());
        }
    }

    void squareMatrices() {
        for (int round = 0; round < 20; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 4), b = source.between(1, 2);
            const Value a(squares(source, b, n, false));
            QCOMPARE(aten("linalg_matrix_power", {a, integer(source.between(-2, 4))}), QString());
            QCOMPARE(aten("linalg_matrix_exp", {Value(source.tensor({b, n, n}, -1, 1))}), QString());
            QCOMPARE(
                aten("triangular_solve",
                     {Value(source.tensor({b, n, 2})), a, flag(source.coin()), flag(source.coin()), flag(false)}, 2),
                QString());
        }
    }

    void factorsOfAnyMatrix() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 4), m = source.between(1, 4), b = source.between(1, 2);
            const Value a(source.tensor({b, n, m}, 0.5, 2));
            QCOMPARE(aten("linalg_svdvals", {a}), QString());
            QCOMPARE(aten("linalg_svd", {a, flag(false)}, 3), QString());
            QCOMPARE(aten("svd", {a}, 3), QString());
            QCOMPARE(aten("linalg_qr", {Value(squares(source, b, n, false))}, 2), QString());
            QCOMPARE(aten("pinverse", {a}), QString());
            QCOMPARE(aten("nuclear_norm", {Value(source.tensor({n, m})), flag(source.coin())}), QString());
            QCOMPARE(aten("linalg_lstsq", {Value(squares(source, b, n, false)), Value(source.tensor({b, n, 2})),
                                           Value(), Value(std::string("gelsd"))}),
                     QString());
        }
    }

    /// P has no formula, so only L and U.
    void triangularFactors() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 4), m = source.between(1, 4);
            test::RecombinedCall call;
            call.op = ops::Registry::all().find("aten", "linalg_lu", 0);
            call.inputs = {Value(source.tensor({2, n, m}, 0.5, 2)), flag(true)};
            base::ThreadPool pool(1);
            ops::RunEnvironment environment;
            environment.pool = &pool;
            call.results = ops::call(*call.op, call.inputs, {}, 3, environment).value();
            call.results.front() = Value();
            QCOMPARE(call.problem(16), QString());
            QCOMPARE(call.refused, std::size_t{0});
        }
    }

    void lossesOfLabelsAndDifferences() {
        for (int round = 0; round < 18; ++round) {
            RandomSource source(round);
            const Shape shape = source.shape(static_cast<std::size_t>(source.between(1, 3)));
            const Value x(source.tensor(shape)), y(source.tensor(shape)), how = integer(round % 3);
            Tensor sides = source.indices(shape, 2).cast(DType::Float32).value();
            for (float& side : sides.mutableSpan<float>()) side = 2 * side - 1;
            const Value labels(sides), counts(source.indices(shape, 4).cast(DType::Float32).value());
            QCOMPARE(aten("hinge_embedding_loss", {x, labels, number(1.5), how}), QString());
            QCOMPARE(aten("margin_ranking_loss", {x, y, labels, number(0.25), how}), QString());
            QCOMPARE(aten("soft_margin_loss", {x, labels, how}), QString());
            QCOMPARE(aten("poisson_nll_loss", {source.coin() ? x : Value(source.tensor(shape, 0.1, 2)), counts,
                                               flag(true), flag(source.coin()), number(1e-8), how}),
                     QString());
            QCOMPARE(aten("poisson_nll_loss", {Value(source.tensor(shape, 0.1, 2)), counts, flag(false),
                                               flag(source.coin()), number(1e-8), how}),
                     QString());
            const std::int64_t axis = source.between(0, static_cast<std::int64_t>(shape.rank()) - 1);
            Shape more = shape;
            more[static_cast<std::size_t>(axis)] = 3;
            QCOMPARE(aten("diff", {Value(source.tensor(more)), integer(source.between(1, 2)), integer(axis),
                                   source.coin() ? x : Value(), source.coin() ? y : Value()}),
                     QString());
            QCOMPARE(aten("argsort", {x, integer(axis), flag(source.coin())}), QString());
            QCOMPARE(aten("sort", {x, integer(axis), flag(source.coin())}, 2), QString());
        }
    }

    void headsOfBytes() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const DType dtype = source.coin() ? DType::UInt8 : DType::Int8;
            const std::int64_t b = 2, s = source.between(1, 3), in = 3, h = 2, d = 2, past = round % 2 * 2,
                               n = 3 * h * d;
            const bool byColumn = source.coin();
            const auto real = [&](const Shape& shape, double low, double high) {
                return Value(source.tensor(shape, low, high));
            };
            const std::vector<Value> inputs{bytes(source, {b, s, in}, dtype),
                                            bytes(source, {in, n}, dtype),
                                            real({n}, -1, 1),
                                            real({}, 0.01, 0.02),
                                            byColumn ? real({n}, 0.005, 0.01) : real({}, 0.005, 0.01),
                                            Value(),
                                            source.coin() ? bytes(source, {}, dtype) : Value(),
                                            byColumn        ? bytes(source, {n}, dtype)
                                            : source.coin() ? bytes(source, {}, dtype)
                                                            : Value(),
                                            past > 0 ? real({2, b, h, past, d}, -1, 1) : Value()};
            QCOMPARE(test::checked("com.microsoft", "QAttention", inputs,
                                   {{"num_heads", h}, {"unidirectional", source.between(0, 1)}}, 1, 2),
                     QString());
        }
    }

    void layersOfBytes() {
        constexpr const char* kDirections[] = {"forward", "reverse", "bidirectional"};
        for (int round = 0; round < 18; ++round) {
            RandomSource source(round);
            const DType dtype = source.coin() ? DType::UInt8 : DType::Int8;
            const std::int64_t directions = round % 3 == 2 ? 2 : 1, steps = source.between(1, 3), b = 2, in = 2, h = 3;
            const bool hasLengths = source.coin(), hasState = source.coin();
            const auto real = [&](const Shape& shape, double low, double high) {
                return Value(source.tensor(shape, low, high));
            };
            const auto state = [&] { return hasState ? real({directions, b, h}, -1, 1) : Value(); };
            const std::vector<Value> inputs{
                real({steps, b, in}, -1, 1),
                bytes(source, {directions, in, 4 * h}, dtype),
                bytes(source, {directions, h, 4 * h}, dtype),
                source.coin() ? real({directions, 8 * h}, -1, 1) : Value(),
                hasLengths ? Value(Tensor::of<std::int32_t>({2}, {static_cast<std::int32_t>(steps), 1})) : Value(),
                state(),
                state(),
                source.coin() ? real({directions, 3 * h}, -1, 1) : Value(),
                real({directions}, 0.005, 0.01),
                bytes(source, {directions}, dtype),
                real({directions}, 0.005, 0.01),
                bytes(source, {directions}, dtype)};
            QCOMPARE(test::checked("com.microsoft", "DynamicQuantizeLSTM", inputs,
                                   {{"direction", std::string(kDirections[round % 3])}, {"hidden_size", h}}, 1, 3),
                     QString());
        }
    }

    void sampledImages() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t groups = source.between(1, 2), sets = groups, taps = 4, h = source.between(3, 5),
                               stride = source.between(1, 2), pad = source.between(0, 1);
            const std::int64_t size = (h + 2 * pad - 2) / stride + 1;
            const auto tensor = [&](const Shape& shape, double low = -2, double high = 2) {
                return Value(source.tensor(shape, low, high));
            };
            const bool usesMask = source.coin();
            QCOMPARE(vision("deform_conv2d",
                            {tensor({1, 2 * groups, h, h}), tensor({2 * groups, 2, 2, 2}),
                             tensor({1, 2 * sets * taps, size, size}, -1, 1), tensor({1, sets * taps, size, size}),
                             tensor({2 * groups}), integer(stride), integer(stride), integer(pad), integer(pad),
                             integer(1), integer(1), integer(groups), integer(sets), flag(usesMask)}),
                     QString());
            Tensor rois = source.tensor({3, 5}, 0, 2);
            for (int i = 0; i < 3; ++i) {
                float* const row = rois.mutableData<float>() + 5 * i;
                row[0] = static_cast<float>(source.between(0, 1)), row[3] += row[1], row[4] += row[2];
            }
            QCOMPARE(vision("roi_align", {tensor({2, 2, h, h}), Value(rois), number(1), integer(2), integer(2),
                                          integer(source.between(-1, 2)), flag(source.coin())}),
                     QString());
            QCOMPARE(test::checked("com.microsoft", "NhwcMaxPool", {bytes(source, {1, h, h + 1, 3}, DType::UInt8)},
                                   {{"kernel_shape", std::vector<std::int64_t>{2, 3}},
                                    {"strides", std::vector<std::int64_t>{stride, 1}}},
                                   1, 1),
                     QString());
        }
    }
};

QTEST_APPLESS_MAIN(TestWhyFactors)

}  // namespace tst_why_factors

#include "tst_why_factors.moc"
