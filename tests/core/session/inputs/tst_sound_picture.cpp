// Waveform and spectrogram: expected are tones whose frequencies and levels are known.

#include <QtTest>

#include <cmath>
#include <limits>
#include <numbers>

#include "core/session/sound/sound_picture.h"

namespace tst_sound_picture {

using namespace sonde;
using session::SoundPicture;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

Tensor tone(double hertz, int rate, std::int64_t samples, double level = 0.5) {
    Tensor made = *Tensor::allocate(DType::Float32, Shape{1, samples});
    const double step = 2 * std::numbers::pi * hertz / rate;
    for (std::int64_t i = 0; i < samples; ++i)
        made.mutableData<float>()[i] = static_cast<float>(level * std::sin(step * static_cast<double>(i)));
    return made;
}

}  // namespace

class TestSoundPicture : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aToneIsAtItsFrequency_data();
    void aToneIsAtItsFrequency();
    void levelsAreDecibels();
    void aToneThatBeginsLate();
    void theWaveHasItsPeaks();
    void silenceAndBadNumbers();
    void otherValuesAreRefused();
    void shortOnesAndLongOnes();
    void badNumbersAreNoPeaks();
    void soundsAreLongAndFew();
};

void TestSoundPicture::badNumbersAreNoPeaks() {
    Tensor sound = Tensor::zeros(DType::Float32, Shape{4}).value();
    float* const data = sound.mutableData<float>();
    data[0] = std::nanf(""), data[1] = 0.5F, data[2] = std::numeric_limits<float>::infinity(), data[3] = data[0];
    const auto picture = session::soundPicture(sound, 0, 2);
    QVERIFY(picture);
    QCOMPARE(picture->wave, (std::vector<std::pair<float, float>>{{0.5F, 0.5F}, {0, 0}}));
}

void TestSoundPicture::soundsAreLongAndFew() {
    const auto may = [](const Shape& shape, DType type = DType::Float32) {
        return session::mayBeSound(Tensor::zeros(type, shape).value());
    };
    QVERIFY(may(Shape{16000}));
    QVERIFY(may(Shape{1, 2, 16000}, DType::Int16));
    QVERIFY(!may(Shape{255}));
    QVERIFY(!may(Shape{80, 3000}));
    QVERIFY(!may(Shape{1, 1, 1, 16000}));
    QVERIFY(!may(Shape{16000}, DType::Bool));
    QVERIFY(!may(Shape{0, 16000}));
    QVERIFY(!session::mayBeSound(Tensor()));
}

void TestSoundPicture::aToneIsAtItsFrequency_data() {
    QTest::addColumn<double>("hertz");
    QTest::addColumn<int>("rate");
    QTest::newRow("440 at 16000") << 440. << 16000;
    QTest::newRow("3000 at 8000") << 3000. << 8000;
    QTest::newRow("10000 at 44100") << 10000. << 44100;
}

void TestSoundPicture::aToneIsAtItsFrequency() {
    QFETCH(double, hertz);
    QFETCH(int, rate);
    const auto picture = session::soundPicture(tone(hertz, rate, rate), rate, 300);
    QVERIFY2(picture, picture ? "" : picture.error().text().c_str());
    QCOMPARE(picture->samples, std::int64_t{rate});
    QCOMPARE(picture->seconds(), 1.0);
    QVERIFY(picture->columns > 30 && picture->columns <= 300);
    const double width = rate / (2.0 * static_cast<double>(picture->bins - 1));  // of a bin, in Hz
    for (std::int64_t column = 0; column < picture->columns; ++column) {
        std::int64_t loudest = 0;
        for (std::int64_t bin = 0; bin < picture->bins; ++bin)
            if (picture->at(bin, column) > picture->at(loudest, column)) loudest = bin;
        QVERIFY(std::abs(static_cast<double>(loudest) * width - hertz) <= width);
        QVERIFY(picture->at(loudest, column) > -3);
    }
}

/// A tenth of the level is 20 dB less; both tones are in the middle of a bin of 512 at 16,000 Hz.
void TestSoundPicture::levelsAreDecibels() {
    Tensor sum = tone(1000, 16000, 16000, 0.5);
    const Tensor soft = tone(4000, 16000, 16000, 0.05);
    for (std::int64_t i = 0; i < 16000; ++i) sum.mutableData<float>()[i] += soft.data<float>()[i];
    const auto picture = session::soundPicture(sum, 16000, 100);
    QVERIFY(picture);
    QCOMPARE(picture->bins, std::int64_t{257});
    const std::int64_t column = picture->columns / 2;
    QVERIFY(std::abs(picture->at(32, column)) < 0.2);
    QVERIFY(std::abs(picture->at(128, column) + 20) < 0.2);
    QVERIFY(picture->at(200, column) < -60);
}

void TestSoundPicture::aToneThatBeginsLate() {
    Tensor sound = tone(2000, 16000, 16000);
    std::fill_n(sound.mutableData<float>(), 8000, 0.0F);
    const auto picture = session::soundPicture(sound, 16000, 200);
    QVERIFY(picture);
    QCOMPARE(picture->at(64, picture->columns / 4), SoundPicture::kFloor);
    QVERIFY(picture->at(64, 3 * picture->columns / 4) > -1);
}

void TestSoundPicture::theWaveHasItsPeaks() {
    Tensor sound = *Tensor::zeros(DType::Float32, Shape{1, 2, 1000});
    sound.mutableData<float>()[505] = 0.75F;
    sound.mutableData<float>()[506] = -0.25F;
    sound.mutableData<float>()[1500] = 9;  // of the second channel
    const auto picture = session::soundPicture(sound, 0, 100);
    QVERIFY(picture);
    QCOMPARE(picture->channels, std::int64_t{2});
    QCOMPARE(picture->wave.size(), std::size_t{100});
    QCOMPARE(picture->wave[50], (std::pair{-0.25F, 0.75F}));
    QCOMPARE(picture->wave[49], (std::pair{0.0F, 0.0F}));
    QCOMPARE(picture->seconds(), 0.0);
}

void TestSoundPicture::silenceAndBadNumbers() {
    Tensor sound = *Tensor::zeros(DType::Float32, Shape{2000});
    auto picture = session::soundPicture(sound, 16000, 50);
    QVERIFY(picture);
    for (const float one : picture->decibels) QCOMPARE(one, SoundPicture::kFloor);
    sound.mutableData<float>()[100] = std::numeric_limits<float>::quiet_NaN();
    picture = session::soundPicture(sound, 16000, 50);
    QVERIFY(picture);
    for (const float one : picture->decibels) QCOMPARE(one, SoundPicture::kFloor);
}

void TestSoundPicture::otherValuesAreRefused() {
    const std::vector<Tensor> others{*Tensor::zeros(DType::Bool, Shape{5}), *Tensor::zeros(DType::Float32, Shape{}),
                                     *Tensor::zeros(DType::Float32, Shape{0}),
                                     *Tensor::zeros(DType::Float32, Shape{1, 1, 1, 5})};
    for (const Tensor& other : others) {
        const auto picture = session::soundPicture(other, 16000, 50);
        QVERIFY(!picture);
        QCOMPARE(picture.error().what, std::string("the value is no recording"));
    }
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!session::soundPicture(*Tensor::zeros(DType::Float32, Shape{5}), 16000, 50, stop.get_token()));
}

void TestSoundPicture::shortOnesAndLongOnes() {
    const auto one = session::soundPicture(Tensor::of<std::int16_t>({1}, {5}), 16000, 50);
    QVERIFY(one);
    QCOMPARE(one->columns, std::int64_t{1});
    QCOMPARE(one->wave.size(), std::size_t{1});
    const auto many = session::soundPicture(tone(100, 1000, 100'000), 1000, 1'000'000);
    QVERIFY(many);
    QVERIFY(many->columns <= SoundPicture::kMaxColumns);
}

QTEST_APPLESS_MAIN(TestSoundPicture)

}  // namespace tst_sound_picture

#include "tst_sound_picture.moc"
