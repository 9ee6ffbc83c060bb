// Statistics, outliers, histograms and filters of weights: numpy's and torch's values (tests/data/weights).

#include <QtTest>

#include "core/analysis/weights/weight_figures.h"
#include "tests/support/weight_cases.h"

namespace tst_weight_figures {

using namespace sonde;
using namespace sonde::test;
using analysis::FilterLayout;
using analysis::WeightFigures;
using analysis::WeightReader;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

QByteArray differences(const WeightFigures& figures, const QJsonObject& expected, double tolerance = 1e-9) {
    QByteArray text;
    const auto compare = [&](const char* what, double found, const QJsonValue& wanted) {
        if (!wanted.isUndefined() && !isNear(found, wanted.toDouble(), tolerance))
            text += QByteArray(what) + " is " + QByteArray::number(found, 'g', 17) + ", not " +
                    QByteArray::number(wanted.toDouble(), 'g', 17) + "; ";
    };
    const auto whole = [](std::int64_t count) { return static_cast<double>(count); };
    compare("count", whole(figures.count), expected["count"]);
    compare("nan", whole(figures.nan), expected["nan"]);
    compare("inf", whole(figures.inf), expected["inf"]);
    compare("zero", whole(figures.zero), expected["zero"]);
    compare("min", figures.minimum, expected["min"]);
    compare("max", figures.maximum, expected["max"]);
    compare("std", figures.deviation, expected["std"]);
    // The sum of numbers of both signs is as exact as the largest of them.
    if (std::abs(figures.mean - expected["mean"].toDouble()) > tolerance * std::max(figures.maximum, -figures.minimum))
        text += "mean is another; ";
    if (figures.hasQuartiles != expected.contains("quartiles")) return text + "quartiles are missing, or are there; ";
    if (!figures.hasQuartiles) return text;
    for (std::size_t i = 0; i < 3; ++i)
        compare("quartile", figures.quartiles[i], expected["quartiles"].toArray()[static_cast<int>(i)]);
    compare("fence", figures.lowFence, expected["fences"].toArray()[0]);
    compare("fence", figures.highFence, expected["fences"].toArray()[1]);
    compare("outliers", whole(figures.outliers), expected["outliers"]);
    return text;
}

/// An element at the edge of two bins may be in either.
bool areBinsNear(const WeightFigures& figures, const QJsonArray& expected) {
    double moved = 0;
    for (std::size_t i = 0; i < analysis::kWeightBins; ++i)
        moved += std::abs(static_cast<double>(figures.histogram[i]) - expected[static_cast<int>(i)].toDouble());
    return moved <= 2 + 1e-5 * static_cast<double>(figures.count);
}

}  // namespace

class TestWeightFigures : public QObject {
    Q_OBJECT

  private slots:
    void areNumpys_data();
    void areNumpys();
    void viewsInAnotherOrderAreTheSame();
    void quantisedOnesAreRealNumbers();
    void filtersAreThoseOfTheOperation_data();
    void filtersAreThoseOfTheOperation();
    void filtersOfGroupsAreComparedWithinThem();
    void groupsThatAreNoIntegerAreOne();
    void stringsAndNoTensorHaveNone();
    void cancelledOnesEnd();
    void sharedBinsCountWhatIsOutside();
};

void TestWeightFigures::areNumpys_data() {
    QTest::addColumn<QJsonObject>("expected");
    const QJsonArray cases = weightCases()["statistics"].toArray();
    QVERIFY(cases.size() >= 18);
    for (const QJsonValue& each : cases) QTest::newRow(each["name"].toString().toUtf8().constData()) << each.toObject();
}

void TestWeightFigures::areNumpys() {
    QFETCH(QJsonObject, expected);
    const auto dtype = tensor::dtypeFromName(expected["dtype"].toString().toStdString());
    QVERIFY(dtype.has_value());
    const auto seed = static_cast<std::uint64_t>(expected["generated"].toInteger());
    const std::vector<double> values =
        seed > 0 ? generatedNumbers(seed, seed, expected["cubed"].toBool()) : numbersIn(expected["values"]);
    const Tensor weight = weightOf(values, {static_cast<std::int64_t>(values.size())}, *dtype);
    const WeightFigures figures = analysis::weightFigures(WeightReader(weight), std::nullopt);
    QCOMPARE(differences(figures, expected), QByteArray());
    if (expected.contains("histogram")) QVERIFY(areBinsNear(figures, expected["histogram"].toArray()));
}

void TestWeightFigures::viewsInAnotherOrderAreTheSame() {
    const Tensor plain = weightOf(generatedNumbers(300, 3), {20, 15});
    const Tensor turned = plain.transposed(0, 1);
    const WeightFigures a = analysis::weightFigures(WeightReader(plain), FilterLayout{1, 1, 20, 15});
    const WeightFigures b = analysis::weightFigures(WeightReader(turned), FilterLayout{1, 15, 20, 1});
    QCOMPARE(b.minimum, a.minimum);
    QCOMPARE(b.maximum, a.maximum);
    QVERIFY(b.quartiles == a.quartiles);
    QVERIFY(b.histogram == a.histogram);
    QVERIFY(b.filters.largest == a.filters.largest);
    QVERIFY(std::abs(b.deviation - a.deviation) < 1e-12);
}

void TestWeightFigures::quantisedOnesAreRealNumbers() {
    const QJsonObject cases = weightCases()["quantised"].toObject();
    const QJsonObject channels = cases["channels"].toObject(), whole = cases["whole"].toObject();
    auto scale = std::make_shared<analysis::WeightScale>();
    scale->scales = numbersIn(channels["scales"]);
    scale->zeros = numbersIn(channels["zeros"]);
    scale->dim = 4;
    scale->inner = 6;
    const Tensor perChannel = weightOf(numbersIn(channels["stored"]), {4, 2, 3}, DType::Int8);
    QCOMPARE(differences(analysis::weightFigures(WeightReader(perChannel, scale), std::nullopt), channels, 1e-6),
             QByteArray());
    auto one = std::make_shared<analysis::WeightScale>();
    one->scales = {whole["scale"].toDouble()};
    one->zeros = {whole["zero_point"].toDouble()};
    const Tensor perTensor = weightOf(numbersIn(whole["stored"]), {4, 2, 3}, DType::UInt8);
    QCOMPARE(differences(analysis::weightFigures(WeightReader(perTensor, one), std::nullopt), whole, 1e-6),
             QByteArray());
    // A scale for each two of five rows, and each of two columns: worked by hand.
    auto blocked = std::make_shared<analysis::WeightScale>();
    blocked->scales = {1, 10, 2, 20, 3, 30};
    blocked->dim = 5;
    blocked->inner = 2;
    blocked->block = 2;
    blocked->isBlocked = true;
    std::vector<double> read(10);
    WeightReader(weightOf(std::vector<double>(10, 1), {5, 2}, DType::Int8), blocked).read(0, read);
    QVERIFY(read == (std::vector<double>{1, 10, 1, 10, 2, 20, 2, 20, 3, 30}));
}

void TestWeightFigures::filtersAreThoseOfTheOperation_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QList<int>>("layout");
    QTest::newRow("convolution") << "conv" << QList<int>{1, 1, 6, 18};
    QTest::newRow("transposed convolution of two groups") << "transposed" << QList<int>{2, 2, 3, 4};
    QTest::newRow("product") << "product" << QList<int>{1, 5, 7, 1};
}

void TestWeightFigures::filtersAreThoseOfTheOperation() {
    QFETCH(QString, name);
    QFETCH(QList<int>, layout);
    const QJsonObject expected = weightCases()["filters"].toObject()[name].toObject();
    const std::vector<double> values = numbersIn(expected["values"]);
    const WeightFigures figures =
        analysis::weightFigures(WeightReader(weightOf(values, {static_cast<std::int64_t>(values.size())})),
                                FilterLayout{layout[0], layout[1], layout[2], layout[3]});
    QJsonArray zero, duplicate;
    for (const std::size_t filter : figures.filters.zero) zero.append(static_cast<int>(filter));
    for (const auto& [filter, first] : figures.filters.duplicates)
        duplicate.append(QJsonArray{static_cast<int>(filter), static_cast<int>(first)});
    QCOMPARE(zero, expected["zero"].toArray());
    QCOMPARE(duplicate, expected["duplicate"].toArray());
    QVERIFY(!zero.isEmpty() && !duplicate.isEmpty());
}

/// Filters of another group read other channels: filter 2 is no duplicate of filter 0.
void TestWeightFigures::filtersOfGroupsAreComparedWithinThem() {
    const WeightFigures figures =
        analysis::weightFigures(WeightReader(weightOf({1, 2, 3, 4, 1, 2, 1, 2}, {4, 2})), FilterLayout{2, 1, 2, 2});
    QVERIFY(figures.filters.duplicates == (std::vector<std::pair<std::size_t, std::size_t>>{{3, 2}}));
}

/// Dumps may say 2.0 or True where an integer belongs.
void TestWeightFigures::groupsThatAreNoIntegerAreOne() {
    const auto countOf = [](const tensor::Value& groups) {
        graph::Expr expr;
        expr.op = {"aten", "conv2d", 0};
        for (std::uint32_t i = 0; i < 2; ++i) expr.arguments.push_back(graph::Argument::of(graph::NodeId(i)));
        expr.keywords.emplace_back("groups", graph::Argument::of(groups));
        const auto layout = analysis::filterLayout(expr, 1, {4, 3, 1, 1});
        return layout ? layout->groups : 0;
    };
    QCOMPARE(countOf(tensor::Value::ofInt(2)), std::int64_t{2});
    QCOMPARE(countOf(tensor::Value::ofFloat(2)), std::int64_t{1});
    QCOMPARE(countOf(tensor::Value::ofBool(true)), std::int64_t{1});
}

void TestWeightFigures::stringsAndNoTensorHaveNone() {
    QCOMPARE(WeightReader(Tensor::ofStrings({2}, {"a", "b"})).count(), std::int64_t{0});
    QCOMPARE(WeightReader(Tensor()).count(), std::int64_t{0});
    QVERIFY(!analysis::weightFigures(WeightReader(Tensor()), std::nullopt).hasQuartiles);
}

void TestWeightFigures::cancelledOnesEnd() {
    std::stop_source stop;
    stop.request_stop();
    const WeightReader reader(weightOf(generatedNumbers(20'000, 1), {20'000}));
    int pieces = 0;
    QVERIFY(!reader.forEachPiece(stop.get_token(), [&pieces](std::span<const double>, std::int64_t) { ++pieces; }));
    QCOMPARE(pieces, 0);
    // In the middle: after the piece that asks for it.
    std::stop_source later;
    QVERIFY(!reader.forEachPiece(later.get_token(), [&](std::span<const double>, std::int64_t) {
        ++pieces;
        later.request_stop();
    }));
    QCOMPARE(pieces, 1);
}

void TestWeightFigures::sharedBinsCountWhatIsOutside() {
    analysis::BinnedWeights bins{std::vector<std::int64_t>(4), 0, 0};
    const std::vector<double> values{-3, -1, -0.75, -0.25, 0.1, 0.6, 1, 7, NAN};
    analysis::addToBins(bins, WeightReader(weightOf(values, {9})), -1, 1);
    QVERIFY(bins.counts == (std::vector<std::int64_t>{2, 1, 1, 2}));
    QCOMPARE(bins.below, std::int64_t{1});
    QCOMPARE(bins.above, std::int64_t{1});
}

QTEST_GUILESS_MAIN(TestWeightFigures)

}  // namespace tst_weight_figures

#include "tst_weight_figures.moc"
