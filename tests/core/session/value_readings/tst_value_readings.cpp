// Values as lines of text. Numbers by hand.

#include <QtTest>

#include <cmath>
#include <complex>

#include "core/session/value_readings/value_readings.h"

namespace tst_value_readings {

using namespace sonde;
using session::readingLines;
using tensor::Shape;
using tensor::Tensor;

class TestValueReadings : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void attentionNamesTheLargestKeys();
    void tokensHaveTheirProbability();
    void deadChannelsAreTold();
    void rowsByTheirComponents();
    void filtersHaveTheirRange();
    void soundHasItsFrequencies();
    void bitsOfIntegers();
    void otherNumbers();
    void longValuesEnd();
    void whatIsNotThereIsRefused();

  private:
    static QStringList lines(const session::ReadValue& value, std::string_view id) {
        const auto found = readingLines(value, id);
        if (!found) return {QString::fromStdString("error: " + found.error().what)};
        QStringList texts;
        for (const std::string& line : *found) texts << QString::fromStdString(line);
        return texts;
    }
};

void TestValueReadings::attentionNamesTheLargestKeys() {
    // Two heads of two queries and three keys.
    const Tensor heads =
        Tensor::of<float>(Shape{1, 2, 2, 3}, {1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F, 0, 0.25F, 0.75F});
    const QStringList found = lines({heads}, "attention");
    QCOMPARE(found.size(), 5);
    QVERIFY2(found[0].startsWith("2 heads, 2 queries, 3 keys"), qPrintable(found[0]));
    // Entropies 0 and 1 bit: 0.5 on the mean.
    QVERIFY2(found[1].startsWith("head 0,0  0.50 bits  query 0  0 100.0 %"), qPrintable(found[1]));
    QVERIFY2(found[4].startsWith("head 0,1  1.16 bits  query 1  2 75.0 %   1 25.0 %"), qPrintable(found[4]));
}

void TestValueReadings::tokensHaveTheirProbability() {
    // Logits 0 but for ln 7 at the last: 7 of 14.
    std::vector<float> logits(8, 0);
    logits.back() = std::log(7.0F);
    const QStringList found = lines({Tensor::of<float>(Shape{1, 8}, logits)}, "tokens");
    QCOMPARE(found.size(), 2);
    QVERIFY2(found[0].startsWith("logits of 8 tokens"), qPrintable(found[0]));
    QVERIFY2(found[1].startsWith("0  7 50.0 %  0 7.1 %  1 7.1 %"), qPrintable(found[1]));
}

void TestValueReadings::deadChannelsAreTold() {
    const QStringList found = lines({Tensor::of<float>(Shape{1, 2, 2}, {0, 0, 0, -3})}, "sparsity");
    QCOMPARE(found.size(), 3);
    QCOMPARE(found[0], QStringLiteral("2 channels along axis 1, 1 dead; 75.0 % of all elements are zero"));
    QVERIFY2(found[1].startsWith("channel 0  100.0 % zero") && found[1].endsWith("dead"), qPrintable(found[1]));
    QVERIFY(lines({Tensor::of<float>(Shape{1, 1, 2}, {0, 1})}, "sparsity")[0].startsWith("1 channel along axis 1, 0"));
    QVERIFY2(found[2].contains("50.0 % zero") && found[2].contains("largest |x| 3"), qPrintable(found[2]));
}

void TestValueReadings::rowsByTheirComponents() {
    // On a line: the first component has all of the variance; the mean is (1, 0).
    const QStringList found = lines({Tensor::of<float>(Shape{3, 2}, {0, 0, 1, 0, 2, 0})}, "pca");
    QCOMPARE(found.size(), 4);
    QVERIFY2(found[0].contains("explain 100.0 % and 0.0 %"), qPrintable(found[0]));
    QVERIFY2(found[2].startsWith("row 1  0"), qPrintable(found[2]));
}

void TestValueReadings::filtersHaveTheirRange() {
    // Squares 9 + 16 + 0 + 0 and 4 · 1.
    const QStringList found = lines({Tensor::of<float>(Shape{2, 1, 2, 2}, {3, -4, 0, 0, 1, 1, 1, NAN})}, "filters");
    QCOMPARE(found.size(), 3);
    QCOMPARE(found[0],
             QStringLiteral("2 filters of 1 x 2 x 2 elements (inputs, rows, columns); range, mean and L2 norm"));
    QVERIFY2(found[1].startsWith("filter 0  -4 to 3  mean -0.25  L2 norm 5"), qPrintable(found[1]));
    QVERIFY2(found[2].startsWith("filter 1  1 to 1   mean 1      L2 norm 1.7321"), qPrintable(found[2]));
    QVERIFY2(found[2].endsWith("1 NaN or infinite"), qPrintable(found[2]));
    QVERIFY(lines({Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4})}, "filters").front().startsWith("error: "));
}

void TestValueReadings::soundHasItsFrequencies() {
    // A second at 8,000 Hz: silence, then 0.5 sin(2 pi 1000 t).
    std::vector<float> samples(8000, 0);
    for (std::size_t i = 4000; i < samples.size(); ++i)
        samples[i] = static_cast<float>(0.5 * std::sin(2 * 3.14159265358979 * 1000 * static_cast<double>(i) / 8000));
    session::ReadValue sound{Tensor::of<float>(Shape{1, 8000}, samples)};
    sound.rate = 8000;
    const QStringList found = lines(sound, "sound");
    QCOMPARE(found.size(), 33);
    QVERIFY2(found[0].startsWith("8,000 samples at 8,000 Hz, 1 s;"), qPrintable(found[0]));
    QVERIFY2(found[1].startsWith("0.000 s  0 to 0") && found[1].contains("silent"), qPrintable(found[1]));
    QVERIFY2(found[31].startsWith("0.938 s  -0.5 to 0.5  1000.0 Hz"), qPrintable(found[31]));
    sound.rate = 0;
    const QStringList unknown = lines(sound, "sound");
    QVERIFY2(unknown[31].startsWith("sample 7,500  -0.5 to 0.5  0.1250 of the rate"), qPrintable(unknown[31]));
    QVERIFY(lines({Tensor::of<float>(Shape{2}, {1, 2})}, "sound").front().startsWith("error: "));
}

void TestValueReadings::bitsOfIntegers() {
    const QStringList found = lines({Tensor::of<std::int8_t>(Shape{2}, {5, -3})}, "bits");
    QCOMPARE(found.size(), 3);
    QCOMPARE(found[1], QStringLiteral("[0]  5   00000101"));
    QCOMPARE(found[2], QStringLiteral("[1]  -3  11111101"));
}

void TestValueReadings::otherNumbers() {
    const QStringList found =
        lines({Tensor::of<std::complex<float>>(Shape{1}, {std::complex<float>(3, 4)})}, "magnitude");
    QCOMPARE(found.size(), 2);
    QVERIFY2(found[1].startsWith("[0]  5  of "), qPrintable(found[1]));
    analysis::Quantization by;
    by.scale = Tensor::of<float>(Shape{}, {0.5F});
    by.zeroPoint = Tensor::of<std::uint8_t>(Shape{}, {128});
    const QStringList real = lines({Tensor::of<std::uint8_t>(Shape{2}, {128, 131}), &by}, "real-values");
    QVERIFY2(real[0].contains("scale 0.5, zero point 128"), qPrintable(real[0]));
    QCOMPARE(real[2], QStringLiteral("[1]  1.5  of 131"));
}

void TestValueReadings::longValuesEnd() {
    const Tensor many = Tensor::zeros(tensor::DType::Int32, Shape{2000}).value();
    const QStringList found = lines({many}, "bits");
    QCOMPARE(found.size(), qsizetype(session::kMaxReadingLines + 2));
    QCOMPARE(found.back(), QStringLiteral("and 1,488 more"));
}

void TestValueReadings::whatIsNotThereIsRefused() {
    const Tensor numbers = Tensor::of<float>(Shape{2, 2}, {1, 2, 3, 4});
    QCOMPARE(lines({numbers}, "heads").front(), QStringLiteral("error: a value cannot be read as 'heads'"));
    const auto refused = readingLines({numbers}, "bits");
    QVERIFY(!refused);
    QCOMPARE(refused.error().kind, base::ErrorKind::Usage);
    QCOMPARE(refused.error().hint, std::string("readings of it are sparsity, pca"));
    QVERIFY(lines({numbers}, "real-values").front().startsWith("error: "));
    QVERIFY(lines({Tensor::of<float>(Shape{}, {1})}, "pca").front().startsWith("error: "));
    QVERIFY(lines({Tensor()}, "sparsity").front().startsWith("error: "));
}

QTEST_GUILESS_MAIN(TestValueReadings)

}  // namespace tst_value_readings

#include "tst_value_readings.moc"
