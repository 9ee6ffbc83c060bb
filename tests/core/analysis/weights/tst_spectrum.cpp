// Singular values and ranks of weights: numpy's (tests/data/weights).

#include <QtTest>

#include "core/analysis/weights/spectrum.h"
#include "tests/support/weight_cases.h"

namespace tst_spectrum {

using namespace sonde;
using namespace sonde::test;
using analysis::FilterLayout;
using analysis::Spectrum;
using analysis::SpectrumMethod;
using analysis::WeightReader;
using tensor::Shape;
using tensor::Tensor;

namespace {

QByteArray differences(const Spectrum& found, const QJsonObject& expected) {
    const std::vector<double> sigma = numbersIn(expected["sigma"]);
    if (found.values.size() != sigma.size()) return "there are " + QByteArray::number(found.values.size());
    for (std::size_t i = 0; i < sigma.size(); ++i)
        if (std::abs(found.values[i] - sigma[i]) > 1e-6 * sigma[0])
            return "value " + QByteArray::number(i) + " is " + QByteArray::number(found.values[i], 'g', 12);
    if (!isNear(found.effectiveRank, expected["effective"].toDouble(), 1e-6)) return "the effective rank";
    if (!isNear(found.stableRank, expected["stable"].toDouble(), 1e-6)) return "the stable rank";
    if (found.numericalRank != expected["numerical"].toInteger()) return "the numerical rank";
    if (found.effectiveRankHigh != found.effectiveRank || found.isRankOpen) return "all values are known";
    return {};
}

/// [60, 5] · [5, 50]
std::vector<double> productOfRank5() {
    const std::vector<double> a = generatedNumbers(300, 11), b = generatedNumbers(250, 12);
    std::vector<double> product(3000, 0);
    for (std::size_t i = 0; i < 60; ++i)
        for (std::size_t k = 0; k < 5; ++k)
            for (std::size_t j = 0; j < 50; ++j) product[i * 50 + j] += a[i * 5 + k] * b[k * 50 + j];
    return product;
}

}  // namespace

class TestSpectrum : public QObject {
    Q_OBJECT

  private slots:
    void isNumpys_data();
    void isNumpys();
    void largestOnesByProjection();
    void zerosAndOneColumn();
    void whatHasNoneIsRefused();
    void isCancelled();
};

void TestSpectrum::isNumpys_data() {
    QTest::addColumn<Tensor>("weight");
    QTest::addColumn<QList<int>>("layout");
    QTest::addColumn<QString>("name");
    QTest::addColumn<SpectrumMethod>("method");
    QTest::newRow("small") << weightOf(generatedNumbers(2800, 9), {40, 70}) << QList<int>{} << "small"
                           << SpectrumMethod::Whole;
    QTest::newRow("by the Gram matrix") << weightOf(generatedNumbers(450'000, 10), {900, 500}) << QList<int>{} << "tall"
                                        << SpectrumMethod::Gram;
    QTest::newRow("wide, by the Gram matrix")
        << weightOf(generatedNumbers(450'000, 10), {900, 500}).transposed(0, 1).contiguous().value() << QList<int>{}
        << "tall" << SpectrumMethod::Gram;
    QTest::newRow("of rank 5") << weightOf(productOfRank5(), {60, 50}) << QList<int>{} << "low"
                               << SpectrumMethod::Whole;
    QTest::newRow("kernel") << weightOf(generatedNumbers(216, 14), {8, 3, 3, 3}) << QList<int>{1, 1, 8, 27} << "kernel"
                            << SpectrumMethod::Whole;
    QTest::newRow("transposed convolution") << weightOf(generatedNumbers(48, 7), {4, 3, 2, 2}) << QList<int>{1, 4, 3, 4}
                                            << "transposed" << SpectrumMethod::Whole;
    QTest::newRow("product") << weightOf(generatedNumbers(2800, 9), {40, 70}) << QList<int>{1, 40, 70, 1} << "small"
                             << SpectrumMethod::Whole;
}

void TestSpectrum::isNumpys() {
    QFETCH(Tensor, weight);
    QFETCH(QList<int>, layout);
    QFETCH(QString, name);
    QFETCH(SpectrumMethod, method);
    std::optional<FilterLayout> filters;
    if (!layout.isEmpty()) filters = FilterLayout{layout[0], layout[1], layout[2], layout[3]};
    const auto found = analysis::spectrumOf(WeightReader(weight), weight.shape(), filters);
    QVERIFY2(found, found ? "" : found.error().text().c_str());
    QCOMPARE(found->method, method);
    QCOMPARE(differences(*found, weightCases()["spectra"].toObject()[name].toObject()), QByteArray());
    QVERIFY(isNear(found->energy(), 1.0));
    if (filters) QCOMPARE(found->rows, filters->count());
}

/// The largest values are those of all, and the effective rank of all is between the limits.
void TestSpectrum::largestOnesByProjection() {
    std::vector<double> values = generatedNumbers(60'000, 13);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] /= 1 + static_cast<double>(i / 200) / 10;
    const Tensor weight = weightOf(values, {300, 200});
    const QJsonObject expected = weightCases()["spectra"].toObject()["decay"].toObject();
    analysis::SpectrumOptions options;
    options.maxWhole = 100;
    options.leading = 24;
    const auto found = analysis::spectrumOf(WeightReader(weight), weight.shape(), std::nullopt, options);
    QVERIFY(found);
    QCOMPARE(found->method, SpectrumMethod::Randomised);
    QCOMPARE(found->values.size(), std::size_t{24});
    const std::vector<double> sigma = numbersIn(expected["sigma"]);
    for (std::size_t i = 0; i < 24; ++i)
        QVERIFY2(isNear(found->values[i], sigma[i], 0.005),
                 QByteArray::number(found->values[i] / sigma[i]).constData());
    double known = 0, all = 0;
    for (std::size_t i = 0; i < sigma.size(); ++i) (i < 24 ? known : all) += sigma[i] * sigma[i];
    QVERIFY(isNear(found->energy(), known / (known + all), 0.01));
    QVERIFY(isNear(found->stableRank, expected["stable"].toDouble(), 0.01));
    QVERIFY(found->effectiveRank < expected["effective"].toDouble());
    QVERIFY(found->effectiveRankHigh > expected["effective"].toDouble());
    QVERIFY(found->effectiveRankHigh < 200);
    QVERIFY(found->isRankOpen);
    const auto again = analysis::spectrumOf(WeightReader(weight), weight.shape(), std::nullopt, options);
    QVERIFY(again && again->values == found->values);
}

void TestSpectrum::zerosAndOneColumn() {
    const Tensor zeros = weightOf(std::vector<double>(12, 0), {3, 4});
    const auto none = analysis::spectrumOf(WeightReader(zeros), zeros.shape(), std::nullopt);
    QVERIFY(none);
    QCOMPARE(none->effectiveRank, 0.0);
    QCOMPARE(none->stableRank, 0.0);
    QCOMPARE(none->numericalRank, std::int64_t{0});
    const Tensor column = weightOf({3, 4}, {2, 1});
    const auto one = analysis::spectrumOf(WeightReader(column), column.shape(), std::nullopt);
    QVERIFY(one);
    QVERIFY(isNear(one->values.front(), 5));
    QVERIFY(isNear(one->effectiveRank, 1));
    // A dimension of the batch in front is of no rows: σ of diag(3, 2, 1) in [1, 3, 4].
    const Tensor batched = weightOf({3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0}, {1, 3, 4});
    const auto rows = analysis::spectrumOf(WeightReader(batched), batched.shape(), std::nullopt);
    QVERIFY(rows);
    QCOMPARE(rows->rows, std::int64_t{3});
    QCOMPARE(rows->cols, std::int64_t{4});
    QCOMPARE(rows->matrix, std::string("dimension 1 by the others"));
    QVERIFY(isNear(rows->values[0], 3) && isNear(rows->values[1], 2) && isNear(rows->values[2], 1));
    QCOMPARE(one->matrix, std::string("rows by columns"));
    // Their squares are no float32 and no double.
    const Tensor huge = weightOf({3e200, 0, 0, 4e-200}, {2, 2}, tensor::DType::Float64);
    const auto wide = analysis::spectrumOf(WeightReader(huge), huge.shape(), std::nullopt);
    QVERIFY(wide);
    QVERIFY(isNear(wide->values.front(), 3e200));
    QVERIFY(isNear(wide->stableRank, 1));
}

void TestSpectrum::whatHasNoneIsRefused() {
    const auto refused = [](const Tensor& weight) {
        const auto found = analysis::spectrumOf(WeightReader(weight), weight.shape(), std::nullopt);
        return found ? QString() : QString::fromStdString(found.error().what);
    };
    QVERIFY(refused(weightOf({1, 2, 3}, {3})).contains("1 dimension"));
    QVERIFY(refused(weightOf({}, {0, 3})).contains("no elements"));
    QVERIFY(refused(weightOf({1, NAN, 0, 2}, {2, 2})).contains("NaN"));
    QVERIFY(refused(weightOf({1, INFINITY, 0, 2}, {2, 2})).contains("infinite"));
}

void TestSpectrum::isCancelled() {
    const Tensor weight = weightOf(generatedNumbers(450'000, 10), {900, 500});
    for (const std::size_t after : {std::size_t{0}, std::size_t{256}}) {
        std::stop_source stop;
        base::WorkContext work{stop.get_token(), [&](const base::Progress& progress) {
                                   if (progress.done >= after) stop.request_stop();
                               }};
        const auto found = analysis::spectrumOf(WeightReader(weight), weight.shape(), std::nullopt, {}, work);
        QVERIFY(!found);
        QCOMPARE(found.error().kind, base::ErrorKind::Cancelled);
    }
}

QTEST_GUILESS_MAIN(TestSpectrum)

}  // namespace tst_spectrum

#include "tst_spectrum.moc"
