// Curves: their ranges, the keys that a model has, what is measured at each point, and the picture.

#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <cmath>
#include <fstream>

#include "core/document/document.h"
#include "core/session/curve/curve.h"
#include "tests/support/onnx_file.h"

namespace tst_curve {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::Curve;
using session::CurvePoint;
using session::CurveRange;

class TestCurve : public QObject {
    Q_OBJECT

  private slots:
    void ranges_data();
    void ranges();
    void refusedRanges_data();
    void refusedRanges();
    void valuesGrowWithTheirSize();
    void settingsAreModelsOfTheirOwn();
    void watchedValuesStay();
    void refusedKeys();
    void exponents();
    void picture();

  private:
    base::Result<Curve> measured(const std::string& model, const std::string& range, const std::string& inputs = {}) {
        session::CurveRequest request;
        request.model = model;
        auto parsed = CurveRange::parse(range);
        if (!parsed) return parsed.error();
        request.range = *parsed;
        request.inputs.spec = inputs;
        request.threads = 1;
        request.repeat = 1;
        m_opened.clear();
        request.open = [this](const std::string& name) {
            m_opened.push_back(name);
            return document::open(name);
        };
        return session::measureCurve(request, [](const CurvePoint&) {});
    }
    std::vector<std::string> m_opened;
};

void TestCurve::ranges_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QList<double>>("at");
    QTest::newRow("plain") << "batch=1:8:3" << QList<double>{1, 4, 7};
    QTest::newRow("both ends") << "n=2:6:2" << QList<double>{2, 4, 6};
    QTest::newRow("by one") << "n=1:3" << QList<double>{1, 2, 3};
    QTest::newRow("tenths") << "width=0.1:0.3:0.1" << QList<double>{0.1, 0.2, 0.3};
    QTest::newRow("down") << "n=3:1:-1" << QList<double>{3, 2, 1};
    QTest::newRow("doubled") << "x.0=1:20:x2" << QList<double>{1, 2, 4, 8, 16};
    QTest::newRow("halved") << "n=8:1:x0.5" << QList<double>{8, 4, 2, 1};
    QTest::newRow("one") << "n=5:5:1" << QList<double>{5};
    QTest::newRow("none watched") << "watches=0:4:4" << QList<double>{0, 4};
}

void TestCurve::ranges() {
    QFETCH(QString, text);
    QFETCH(QList<double>, at);
    const auto range = CurveRange::parse(text.toStdString());
    QVERIFY2(range.has_value(), range ? "" : range.error().what.c_str());
    QCOMPARE(QString::fromStdString(range->key), text.section('=', 0, 0));
    QCOMPARE(range->at.size(), static_cast<std::size_t>(at.size()));
    for (qsizetype i = 0; i < at.size(); ++i) QVERIFY(std::abs(range->at[static_cast<std::size_t>(i)] - at[i]) < 1e-12);
}

void TestCurve::refusedRanges_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("why");
    QTest::newRow("no key") << "1:8:1"
                            << "it has no KEY=";
    QTest::newRow("empty key") << "=1:8:1"
                               << "it has no KEY=";
    QTest::newRow("one number") << "n=4"
                                << "it takes two or three numbers";
    QTest::newRow("four numbers") << "n=1:2:3:4"
                                  << "it takes two or three numbers";
    QTest::newRow("a word") << "n=1:many:1"
                            << "'many' is no number";
    QTest::newRow("nothing") << "n=1::1"
                             << "'' is no number";
    QTest::newRow("infinite") << "n=1:inf:1"
                              << "'inf' is no number";
    QTest::newRow("no step") << "n=1:8:0"
                             << "its step never gets from the first number to the last";
    QTest::newRow("away") << "n=1:8:-1"
                          << "its step never gets from the first number to the last";
    QTest::newRow("factor of 1") << "n=1:8:x1"
                                 << "its step never gets from the first number to the last";
    QTest::newRow("factor of 0") << "n=0:8:x2"
                                 << "its step never gets from the first number to the last";
    QTest::newRow("too many") << "n=1:1e9:1"
                              << "it has more than 1000 points";
}

void TestCurve::refusedRanges() {
    QFETCH(QString, text);
    QFETCH(QString, why);
    const auto range = CurveRange::parse(text.toStdString());
    QVERIFY(!range);
    QCOMPARE(range.error().exitStatus(), 2);
    QVERIFY2(QString::fromStdString(range.error().what).endsWith(why), range.error().what.c_str());
}

/// y = relu(x + x) of [N,3] floats: while relu runs there are two values of 12·N bytes, unless it is done in place.
void TestCurve::valuesGrowWithTheirSize() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("twice.onnx").toStdString();
    std::ofstream(path, std::ios::binary) << model({.nodes = {{"Add", {"x", "x"}, {"s"}}, {"Relu", {"s"}, {"y"}}},
                                                    .inputs = {valueInfo("x", 1, {-1, 3})},
                                                    .outputs = {valueInfo("y", 1, {-1, 3})}});
    for (const char* key : {"batch", "x.0"}) {
        const auto curve = measured(path, std::string(key) + "=1000:4000:x2");
        QVERIFY2(curve.has_value(), curve ? "" : curve.error().text().c_str());
        QCOMPARE(curve->points.size(), std::size_t{3});
        QCOMPARE(m_opened.size(), std::size_t{1});
        for (std::size_t i = 0; i < 3; ++i) {
            const CurvePoint& point = curve->points[i];
            // One value or two; memory comes in blocks that may be somewhat larger.
            const double values = static_cast<double>(point.valueBytes) / (12 * point.at);
            QVERIFY2(values >= 1 && values < 2.2, qPrintable(QString::number(values)));
            const double grown = static_cast<double>(point.valueBytes) /
                                 static_cast<double>(curve->points[0].valueBytes) / static_cast<double>(1 << i);
            QVERIFY2(grown > 0.9 && grown < 1.1, qPrintable(QString::number(grown)));
            QCOMPARE(point.threads, std::size_t{1});
            QVERIFY(point.minNs > 0 && point.minNs <= point.medianNs && point.medianNs <= point.maxNs);
        }
    }
    // The second dimension is the model's.
    const auto fixed = measured(path, "x.1=2:3:1");
    QVERIFY(!fixed);
    QCOMPARE(fixed.error().exitStatus(), 2);
    QVERIFY2(fixed.error().text().find("at x.1=2") != std::string::npos, fixed.error().text().c_str());
}

void TestCurve::settingsAreModelsOfTheirOwn() {
    const auto curve = measured("zoo:gpt_mini?heads=2&layers=5", "layers=1:3:2", "#rand(0,96)");
    QVERIFY2(curve.has_value(), curve ? "" : curve.error().text().c_str());
    QCOMPARE(m_opened, (std::vector<std::string>{"zoo:gpt_mini?heads=2&layers=5", "zoo:gpt_mini?heads=2&layers=1",
                                                 "zoo:gpt_mini?heads=2&layers=3"}));
    const auto wrong = measured("zoo:gpt_mini", "layers=1.5:2:1", "#rand(0,96)");
    QVERIFY(!wrong && wrong.error().exitStatus() == 2);
}

/// With every value kept there are as many bytes as the values have.
void TestCurve::watchedValuesStay() {
    const auto curve = measured("zoo:resnet18_slim", "watches=0:1000000:x2");
    QVERIFY(!curve && curve.error().exitStatus() == 2);
    const auto watched = measured("zoo:resnet18_slim", "watches=0:60:30");
    QVERIFY2(watched.has_value(), watched ? "" : watched.error().text().c_str());
    QCOMPARE(watched->points.size(), std::size_t{3});
    QVERIFY(watched->points[0].valueBytes < watched->points[1].valueBytes);
    QVERIFY(watched->points[1].valueBytes < watched->points[2].valueBytes);
}

void TestCurve::refusedKeys() {
    const auto none = measured("zoo:resnet18_slim", "sequence=1:4:1");
    QVERIFY(!none);
    QCOMPARE(none.error().exitStatus(), 2);
    QCOMPARE(QString::fromStdString(none.error().what), "the model has no 'sequence' to measure a curve against");
    QCOMPARE(QString::fromStdString(none.error().hint), "it has threads, watches, classes, width, x.0, x.1, x.2, x.3");
    for (const char* range : {"batch=0:2:1", "batch=1.5:2:1", "threads=0:1e6:1e5", "watches=-1:2:1", "x.4=1:2:1"})
        QVERIFY2(!measured("zoo:resnet18_slim", range).has_value(), range);
}

void TestCurve::exponents() {
    Curve curve;
    for (const double at : {1.0, 2.0, 5.0, 9.0}) {
        CurvePoint point;
        point.at = at;
        curve.points.push_back(point);
    }
    const auto of = [&](const std::function<double(double)>& law) {
        return session::growthExponent(curve, [&](const CurvePoint& point) { return law(point.at); });
    };
    QVERIFY(std::abs(*of([](double at) { return 3 * at * std::sqrt(at); }) - 1.5) < 1e-9);
    QVERIFY(std::abs(*of([](double) { return 7; })) < 1e-9);
    QVERIFY(std::abs(*of([](double at) { return 1 / at; }) + 1) < 1e-9);
    QVERIFY(!of([](double) { return 0; }));
    curve.points.resize(1);
    QVERIFY(!of([](double at) { return at; }));
}

/// Places of the dots: x from 0 to 4 over 84 to 620, milliseconds from 0 to 10 over 244 to 44.
void TestCurve::picture() {
    Curve curve{"a <model> & more", "batch", "axis 0 of all inputs", 3, {}};
    for (const int at : {1, 4}) {
        CurvePoint point;
        point.at = at;
        point.medianNs = point.minNs = point.maxNs = at == 1 ? 5'000'000 : 10'000'000;
        point.valueBytes = std::int64_t{1} << 20;
        curve.points.push_back(point);
    }
    const QByteArray svg = QByteArray::fromStdString(session::curveSvg(curve));
    QCOMPARE(svg, QByteArray::fromStdString(session::curveSvg(curve)));
    QXmlStreamReader reader(svg);
    QStringList dots, texts;
    while (!reader.atEnd()) {
        reader.readNext();
        if (!reader.isStartElement()) continue;
        if (reader.name() == QLatin1String("circle"))
            dots += reader.attributes().value("cx").toString() + ' ' + reader.attributes().value("cy").toString();
        if (reader.name() == QLatin1String("text")) texts += reader.readElementText();
    }
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
    QCOMPARE(dots, (QStringList{"218.0 144.0", "620.0 44.0", "218.0 308.0", "620.0 308.0"}));
    QCOMPARE(texts.first(), "a <model> & more: time and memory against axis 0 of all inputs");
    QCOMPARE(texts.count("0"), 4);  // where the axes begin
    QVERIFY(texts.contains("batch") && texts.contains("ms, median of 3 runs, least to most"));
    QVERIFY(session::curveSvg({}).empty());
}

QTEST_GUILESS_MAIN(TestCurve)

}  // namespace tst_curve

#include "tst_curve.moc"
