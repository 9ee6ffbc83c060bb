// ATen's random numbers: moments of the distributions, as probability theory has them.

#include <QtTest>

#include <algorithm>
#include <cmath>

#include "core/ops/registry/registry.h"

namespace tst_aten_random {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::int64_t kCount = 100'000;

/// The numbers of a call, drawn with the seed.
std::vector<double> draw(std::string_view op, const std::vector<Value>& given, std::uint64_t seed = 3) {
    const ops::OpDef* row = ops::Registry::all().find("aten", op, 0);
    if (!row) return {};
    std::vector<Value> inputs = given;
    for (std::size_t i = inputs.size(); i < row->parameters.size(); ++i)
        inputs.push_back(row->parameters[i].fallback.value_or(Value()));
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    environment.seed = seed;
    const auto results = ops::call(*row, inputs, {}, 1, environment);
    if (!results) return {};
    std::vector<double> numbers;
    const Tensor& tensor = results->front().tensor();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers.push_back(tensor.toDouble(i));
    return numbers;
}

Value emptyOf(DType dtype = DType::Float64) { return Value(*Tensor::zeros(dtype, Shape{kCount})); }

double meanOf(const std::vector<double>& x) {
    double sum = 0;
    for (double v : x) sum += v;
    return sum / static_cast<double>(x.size());
}

double deviationOf(const std::vector<double>& x) {
    const double mean = meanOf(x);
    double sum = 0;
    for (double v : x) sum += (v - mean) * (v - mean);
    return std::sqrt(sum / static_cast<double>(x.size()));
}

}  // namespace

class TestAtenRandom : public QObject {
    Q_OBJECT

  private slots:
    void meanAndDeviation_data() {
        QTest::addColumn<QByteArray>("op");
        QTest::addColumn<QList<double>>("arguments");
        QTest::addColumn<double>("mean");
        QTest::addColumn<double>("deviation");
        QTest::newRow("uniform") << QByteArray("uniform_") << QList<double>{-1, 3} << 1.0 << 4 / std::sqrt(12.0);
        QTest::newRow("normal") << QByteArray("normal_") << QList<double>{2, 0.5} << 2.0 << 0.5;
        QTest::newRow("exponential") << QByteArray("exponential_") << QList<double>{4} << 0.25 << 0.25;
        QTest::newRow("geometric") << QByteArray("geometric_") << QList<double>{0.25} << 4.0 << std::sqrt(12.0);
        QTest::newRow("log normal") << QByteArray("log_normal_") << QList<double>{0, 0.25} << std::exp(0.03125)
                                    << std::sqrt((std::exp(0.0625) - 1) * std::exp(0.0625));
        QTest::newRow("integers") << QByteArray("random_.from") << QList<double>{-2, 3} << 0.0 << std::sqrt(2.0);
        QTest::newRow("integers to") << QByteArray("random_.to") << QList<double>{2} << 0.5 << 0.5;
    }
    void meanAndDeviation() {
        QFETCH(QByteArray, op);
        QFETCH(QList<double>, arguments);
        QFETCH(double, mean);
        QFETCH(double, deviation);
        std::vector<Value> inputs{emptyOf()};
        for (double argument : arguments) inputs.push_back(Value::ofFloat(argument));
        const std::vector<double> numbers = draw(op.toStdString(), inputs);
        QCOMPARE(numbers.size(), static_cast<std::size_t>(kCount));
        // Five standard errors of the mean; the deviation to 3 %.
        QVERIFY2(std::fabs(meanOf(numbers) - mean) < 5 * deviation / std::sqrt(double(kCount)),
                 qPrintable(QString::number(meanOf(numbers))));
        QVERIFY2(std::fabs(deviationOf(numbers) / deviation - 1) < 0.03,
                 qPrintable(QString::number(deviationOf(numbers))));
    }

    /// A Cauchy distribution has no mean; half of it lies within its width of the median.
    void cauchy() {
        const std::vector<double> numbers = draw("cauchy_", {emptyOf(), Value::ofFloat(1), Value::ofFloat(2)});
        const auto inside =
            std::count_if(numbers.begin(), numbers.end(), [](double v) { return std::fabs(v - 1) < 2; });
        QVERIFY2(std::fabs(static_cast<double>(inside) / kCount - 0.5) < 0.01, qPrintable(QString::number(inside)));
    }

    void normalOfEachElement() {
        const std::vector<double> numbers =
            draw("normal.Tensor_Tensor",
                 {Value(Tensor::of<double>({3}, {0, 100, 200})), Value(Tensor::of<double>({2, 1}, {0.001, 0}))});
        QCOMPARE(numbers.size(), std::size_t{6});
        for (std::size_t i = 0; i < 6; ++i) {
            const double mean = 100.0 * static_cast<double>(i % 3);
            QVERIFY(i < 3 ? std::fabs(numbers[i] - mean) < 0.01 && numbers[i] != mean : numbers[i] == mean);
        }
        QCOMPARE(draw("normal.Tensor_float", {emptyOf(), Value::ofFloat(2)}).size(), static_cast<std::size_t>(kCount));
        QVERIFY(std::fabs(deviationOf(draw("normal.Tensor_float", {emptyOf(), Value::ofFloat(2)})) - 2) < 0.05);
        QVERIFY(std::fabs(meanOf(draw("normal.float_Tensor", {Value::ofFloat(7), emptyOf()})) - 7) < 1e-12);
        QVERIFY(draw("normal.Tensor_float", {emptyOf(), Value::ofFloat(-1)}).empty());
    }

    void theSeedDecides() {
        const std::vector<Value> inputs{emptyOf(), Value::ofFloat(1)};
        QCOMPARE(draw("exponential_", inputs, 1), draw("exponential_", inputs, 1));
        QVERIFY(draw("exponential_", inputs, 1) != draw("exponential_", inputs, 2));
    }

    void impossibleDistributionsAreErrors() {
        QVERIFY(draw("exponential_", {emptyOf(), Value::ofFloat(0)}).empty());
        QVERIFY(draw("geometric_", {emptyOf(), Value::ofFloat(1.5)}).empty());
    }
};

QTEST_GUILESS_MAIN(TestAtenRandom)

}  // namespace tst_aten_random

#include "tst_aten_random.moc"
