// Drawings as inputs, and noise on any input. Expected pixels are those of areas computed by hand.

#include <QtTest>

#include <cmath>

#include "core/io/inputs/drawing.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/named_files.h"
#include "core/io/inputs/noise.h"
#include "core/io/npz/npz.h"

namespace tst_drawn_inputs {

using namespace sonde;
using io::Drawing;
using io::Noise;
using io::Stroke;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;

namespace {

io::InputInfo picture(std::vector<std::int64_t> dims, DType dtype = DType::Float32) {
    return {"x", TypeInfo::tensor(dtype, tensor::Shape(std::move(dims)))};
}

io::InputOptions withPreset(const char* preset) {
    io::InputOptions options;
    options.image = io::findImagePreset(preset)->options;
    return options;
}

double sumOf(const Tensor& tensor) {
    double sum = 0;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) sum += tensor.toDouble(i);
    return sum;
}

QString whatOf(const base::Error& error) { return QString::fromStdString(error.what); }

}  // namespace

class TestDrawnInputs : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void textsAreReadAndWritten();
    void badTextsAreRefused_data();
    void badTextsAreRefused();
    void tooMuchIsRefused();
    void aLineCoversItsArea();
    void edgesAreSmooth();
    void anEraserTakesAway();
    void theColourOfThePen();
    void itFollowsLayoutAndPreset();
    void whatTakesNoPictureIsRefused();
    void noiseIsSeededAndBounded();
    void noiseStaysInTheRange();
    void noiseIsOnWhatIsGiven();
    void noiseOnIntegersIsRefused();
    void badNoiseIsRefused_data();
    void badNoiseIsRefused();
    void noiseIsTakenOffAndPutOn();
    void pathsAreFoundUnderNoise();
    void noiseOnAnArchive();
};

void TestDrawnInputs::textsAreReadAndWritten() {
    const std::string text = "#draw(black|60,100,200,300,400|e120,-20,1500)";
    const auto drawing = io::parseDrawing(text);
    QVERIFY(drawing);
    const Drawing expected{false, {{false, 60, {{100, 200}, {300, 400}}}, {true, 120, {{-20, 1500}}}}};
    QCOMPARE(*drawing == expected, true);
    QCOMPARE(io::drawingItem(expected), text);
    QVERIFY(io::parseDrawing("#draw(white)")->strokes.empty());
}

void TestDrawnInputs::badTextsAreRefused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("where");
    QTest::newRow("no end") << "#draw(white|1,2,3"
                            << "bad #draw specification"
                            << "#draw(white|1,2,3";
    QTest::newRow("pen") << "#draw(red|1,2,3)"
                         << "'red' is no pen of a drawing"
                         << "#draw";
    QTest::newRow("size") << "#draw(white|0,2,3)"
                          << "'0' is no number of a stroke"
                          << "#draw, stroke 1";
    QTest::newRow("place") << "#draw(white|1,2,3|1,2,4000)"
                           << "'4000' is no number of a stroke"
                           << "#draw, stroke 2";
    QTest::newRow("odd") << "#draw(white|1,2,3,4)"
                         << "'' is no number of a stroke"
                         << "#draw, stroke 1";
    QTest::newRow("word") << "#draw(white|1,2,b)"
                          << "'b' is no number of a stroke"
                          << "#draw, stroke 1";
    QTest::newRow("empty stroke") << "#draw(white||1,2,3)"
                                  << "'' is no number of a stroke"
                                  << "#draw, stroke 1";
    QTest::newRow("huge") << "#draw(white|99999999999,2,3)"
                          << "'99999999999' is no number of a stroke"
                          << "#draw, stroke 1";
}

void TestDrawnInputs::badTextsAreRefused() {
    QFETCH(QString, text);
    QFETCH(QString, what);
    QFETCH(QString, where);
    const auto given = io::makeInputs(text.toStdString(), {picture({1, 1, 4, 4})});
    QVERIFY(!given);
    QCOMPARE(whatOf(given.error()), what);
    QCOMPARE(QString::fromStdString(given.error().where), where);
}

void TestDrawnInputs::tooMuchIsRefused() {
    std::string text = "#draw(white|60";
    for (int i = 0; i < 50'001; ++i) text += ",1,1";
    QVERIFY(whatOf(io::parseDrawing(text + ")").error()).contains("more than 50000 points"));
    text = "#draw(white";
    for (int i = 0; i < 10'001; ++i) text += "|1,1,1";
    QVERIFY(whatOf(io::parseDrawing(text + ")").error()).contains("more than 10000 strokes"));
}

/// A line of thickness t and length l with round ends covers l * t + pi * t * t / 4.
void TestDrawnInputs::aLineCoversItsArea() {
    const Drawing drawing{true, {{false, 100, {{200, 500}, {700, 500}}}}};
    for (const int side : {28, 100, 224, 800}) {
        const io::Image image = io::drawnImage(drawing, side, side);
        double covered = 0;
        for (std::size_t i = 0; i < image.rgb.size(); i += 3) covered += image.rgb[i] / 255.0;
        const double expected = (0.5 * 0.1 + std::numbers::pi * 0.01 / 4) * side * side;
        QVERIFY2(std::abs(covered - expected) < 0.03 * expected,
                 qPrintable(QStringLiteral("%1: %2, %3").arg(side).arg(covered).arg(expected)));
    }
    // Rows 13 and 14 of 28 are in the middle of it, at 2.8 pixels thickness.
    const io::Image image = io::drawnImage(drawing, 28, 28);
    const auto at = [&](int x, int y) { return image.rgb[static_cast<std::size_t>(3 * (28 * y + x))]; };
    QCOMPARE(int(at(14, 13)), 255);
    QCOMPARE(int(at(14, 14)), 255);
    QCOMPARE(int(at(14, 10)), 0);
    QCOMPARE(int(at(2, 14)), 0);
}

void TestDrawnInputs::edgesAreSmooth() {
    // From 12.6 to 15.4: 0.4 of rows 12 and 15.
    const io::Image image = io::drawnImage({true, {{false, 100, {{200, 500}, {700, 500}}}}}, 28, 28);
    for (const int y : {12, 15}) {
        const int edge = image.rgb[static_cast<std::size_t>(3 * (28 * y + 14))];
        QVERIFY2(std::abs(edge - 0.4 * 255) < 12, qPrintable(QString::number(edge)));
    }
}

void TestDrawnInputs::anEraserTakesAway() {
    const io::Image image =
        io::drawnImage({true, {{false, 300, {{100, 500}, {900, 500}}}, {true, 400, {{500, 500}}}}}, 40, 40);
    QCOMPARE(int(image.rgb[3 * (40 * 20 + 20)]), 0);
    QCOMPARE(int(image.rgb[3 * (40 * 20 + 5)]), 255);
}

void TestDrawnInputs::theColourOfThePen() {
    const io::Image white = io::drawnImage({true, {{false, 200, {{500, 500}}}}}, 20, 30);
    const io::Image black = io::drawnImage({false, {{false, 200, {{500, 500}}}}}, 20, 30);
    QCOMPARE(white.width, 20);
    QCOMPARE(white.height, 30);
    QCOMPARE(white.rgb.size(), std::size_t{20 * 30 * 3});
    for (std::size_t i = 0; i < white.rgb.size(); ++i) QVERIFY(std::abs(white.rgb[i] + black.rgb[i] - 255) <= 1);
}

void TestDrawnInputs::itFollowsLayoutAndPreset() {
    const std::string whole = "#draw(white|1000,0,500,1000,500)";
    const auto first = io::giveInput(whole, picture({1, 3, 8, 6}), 0, withPreset("imagenet"));
    QVERIFY2(first, first ? "" : first.error().text().c_str());
    QCOMPARE(first->value.typeText(), std::string("float32[1,3,8,6]"));
    const float red = (1 - 0.485F) / 0.229F, blue = (1 - 0.406F) / 0.225F;
    QVERIFY(std::abs(first->value.tensor().toDouble(8 * 6 / 2 + 3) - red) < 1e-5);
    QVERIFY(std::abs(first->value.tensor().toDouble(2 * 8 * 6 + 8 * 6 / 2 + 3) - blue) < 1e-5);
    const auto grey = io::giveInput(whole, picture({1, 4, 4, 1}), 0, withPreset("unit"));
    QVERIFY2(grey, grey ? "" : grey.error().text().c_str());
    QCOMPARE(grey->value.typeText(), std::string("float32[1,4,4,1]"));
    QCOMPARE(sumOf(grey->value.tensor()), 16.0);
    // Height and width that the model leaves open.
    const io::InputInfo open{
        "x", TypeInfo::tensor(DType::Float32,
                              std::vector{tensor::Dim::named("N"), tensor::Dim::of(1), tensor::Dim{}, tensor::Dim{}})};
    const auto usual = io::giveInput(whole, open, 0);
    QVERIFY2(usual, usual ? "" : usual.error().text().c_str());
    QCOMPARE(usual->value.typeText(), std::string("float32[1,1,224,224]"));
    const auto bytes = io::giveInput(whole, picture({1, 1, 4, 4}, DType::UInt8), 0);
    QVERIFY2(bytes, bytes ? "" : bytes.error().text().c_str());
    QCOMPARE(sumOf(bytes->value.tensor()), 16.0 * 255);
}

void TestDrawnInputs::whatTakesNoPictureIsRefused() {
    const auto given = io::giveInput("#draw(white|60,1,1)", picture({4, 5}), 0);
    QVERIFY(!given);
    QCOMPARE(whatOf(given.error()), QString("the input float32[4,5] takes no drawing"));
}

void TestDrawnInputs::noiseIsSeededAndBounded() {
    const auto make = [](const char* item, std::size_t index = 0) {
        const auto given = io::giveInput(item, picture({1, 1000}), index);
        return given ? given->value.tensor() : Tensor();
    };
    const Tensor one = make("#zeros+noise(0.5,7)"), again = make("#zeros+noise(0.5,7)");
    QVERIFY(one.defined());
    QVERIFY(tensor::identical(one, again));
    QVERIFY(!tensor::identical(one, make("#zeros+noise(0.5,8)")));
    QVERIFY(!tensor::identical(one, make("#zeros+noise(0.5)")));
    QVERIFY(!tensor::identical(one, make("#zeros+noise(0.5,7)", 1)));
    QVERIFY(tensor::identical(make("#zeros+noise(0,7)"), make("#zeros")));
    double low = 0, high = 0, squares = 0;
    for (std::int64_t i = 0; i < 1000; ++i) {
        const double element = one.toDouble(i);
        low = std::min(low, element), high = std::max(high, element), squares += element * element;
    }
    QVERIFY(low >= -0.5 && low < -0.45 && high < 0.5 && high > 0.45);
    QVERIFY(std::abs(squares / 1000 - 0.25 / 3) < 0.01);  // the variance of a uniform distribution
}

/// The largest float32 is 3.4e38.
void TestDrawnInputs::noiseStaysInTheRange() {
    const auto given = io::giveInput("#zeros+noise(1e39,7)", picture({1, 100}), 0);
    QVERIFY(!given);
    QVERIFY2(given.error().text().find("with the noise element ") == 0, given.error().text().c_str());
    QVERIFY(io::giveInput("#zeros+noise(1e38,7)", picture({1, 100}), 0));
    QVERIFY(io::giveInput("[[inf,1]]+noise(1,7)", picture({1, 2}), 0));
}

void TestDrawnInputs::noiseIsOnWhatIsGiven() {
    const auto sum = io::giveInput("[[1,2,3]]+noise(0.001,3)", picture({1, 3}), 0);
    QVERIFY2(sum, sum ? "" : sum.error().text().c_str());
    for (std::int64_t i = 0; i < 3; ++i) {
        const double off = sum->value.tensor().toDouble(i) - static_cast<double>(i + 1);
        QVERIFY(off != 0 && std::abs(off) < 0.0011);
    }
    const auto drawn = io::giveInput("#draw(white)+noise(1)", picture({1, 1, 4, 4}, DType::Float16), 0);
    QVERIFY2(drawn, drawn ? "" : drawn.error().text().c_str());
    QCOMPARE(drawn->value.typeText(), std::string("float16[1,1,4,4]"));
    QVERIFY(sumOf(drawn->value.tensor()) != 0);
    const auto shaped = io::makeInputs("#rand(0,1,2,3)+noise(0.1)", {{"x", TypeInfo::tensor(DType::Float32)}});
    QVERIFY2(shaped, shaped ? "" : shaped.error().text().c_str());
    QCOMPARE(shaped->front().values.front().typeText(), std::string("float32[2,3]"));
}

void TestDrawnInputs::noiseOnIntegersIsRefused() {
    const auto given = io::giveInput("[1,2]+noise(1)", picture({2}, DType::Int64), 0);
    QVERIFY(!given);
    QCOMPARE(whatOf(given.error()), QString("noise is added to floats only, and the value is int64[2]"));
    QCOMPARE(given.error().where, std::string("input 'x'"));
    QVERIFY(!io::takesNoise(TypeInfo::tensor(DType::Int64)));
    QVERIFY(io::takesNoise(TypeInfo::tensor(DType::BFloat16)));
}

void TestDrawnInputs::badNoiseIsRefused_data() {
    QTest::addColumn<QString>("noise");
    for (const char* noise : {"+noise()", "+noise(-1)", "+noise(x)", "+noise(inf)", "+noise(nan)", "+noise(1,)",
                              "+noise(1,-2)", "+noise(1,2,3)", "+noise(1,1.5)"})
        QTest::newRow(noise) << QString(noise);
}

void TestDrawnInputs::badNoiseIsRefused() {
    QFETCH(QString, noise);
    const auto given = io::giveInput("#zeros" + noise.toStdString(), picture({2}), 0);
    QVERIFY(!given);
    QCOMPARE(whatOf(given.error()), QString("bad +noise specification"));
    QCOMPARE(QString::fromStdString(given.error().where), noise);
}

void TestDrawnInputs::noiseIsTakenOffAndPutOn() {
    QCOMPARE(io::withNoise("a.png", {0.25, 7}), std::string("a.png+noise(0.25,7)"));
    QCOMPARE(io::withNoise("a.png+noise(1,2)", {0.25, 0}), std::string("a.png+noise(0.25)"));
    QCOMPARE(io::withNoise("a.png+noise(1,2)", {}), std::string("a.png"));
    QCOMPARE(io::withoutNoise("'a+noise(1)'#vocab.txt+noise(1)"), std::string_view("'a+noise(1)'#vocab.txt+noise(1)"));
    const auto noise = io::noiseOf("a.png+noise(0.25,7)");
    QVERIFY(noise && *noise);
    QVERIFY((**noise == Noise{0.25, 7}));
    QTemporaryDir folder;
    const std::string path = folder.filePath("b+noise(1)").toStdString();
    QVERIFY(QFile(QString::fromStdString(path)).open(QIODevice::WriteOnly));
    QCOMPARE(io::withoutNoise(path), std::string_view(path));  // what a file is called
}

void TestDrawnInputs::pathsAreFoundUnderNoise() {
    using Paths = std::vector<std::pair<std::size_t, std::size_t>>;
    QCOMPARE(io::pathsInItem("a.png+noise(1)"), (Paths{{0, 5}}));
    QCOMPARE(io::pathsInItem("a.wav#16000+noise(1)"), (Paths{{0, 5}}));
    QCOMPARE(io::pathsInItem("#draw(white|60,1,1)"), Paths{});
    const auto named = io::filesNamedIn("x:a.png+noise(1)");
    QVERIFY(std::ranges::find(named, std::filesystem::path("a.png")) != named.end());
}

void TestDrawnInputs::noiseOnAnArchive() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("a.npz").toStdString();
    const std::vector<io::NamedTensor> arrays{{"in.x", Tensor::of<float>({2}, {1, 2})},
                                              {"in.n", Tensor::of<std::int64_t>({1}, {5})}};
    QVERIFY(io::writeNpz(path, arrays));
    const std::vector<io::InputInfo> inputs{picture({2}), {"n", TypeInfo::tensor(DType::Int64, tensor::Shape{1})}};
    const std::vector<std::string> specs{path + "+noise(0.1)", "x:" + path + "+noise(0.1)",
                                         "x:" + path + "#x+noise(0.1);n:[5]"};
    for (const std::string& spec : specs) {
        const auto made = io::makeInputs(spec, inputs);
        QVERIFY2(made, made ? "" : (spec + ": " + made.error().text()).c_str());
        const double first = made->front().values[0].tensor().toDouble(0);
        QVERIFY(first != 1 && std::abs(first - 1) < 0.1);
        QCOMPARE(made->front().values[1].tensor().toInt64(0), std::int64_t{5});
    }
}

QTEST_MAIN(TestDrawnInputs)

}  // namespace tst_drawn_inputs

#include "tst_drawn_inputs.moc"
