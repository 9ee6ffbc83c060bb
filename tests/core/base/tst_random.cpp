// The generator of random numbers: the first values of SplitMix64 for the seed 1234567, as published with the
// algorithm's implementations (https://prng.di.unimi.it/splitmix64.c,
// https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64).

#include <QtTest>

#include "core/base/random.h"

namespace tst_random {

using sonde::base::Random;

class TestRandom : public QObject {
    Q_OBJECT

  private slots:
    void isSplitMix64() {
        Random random(1234567);
        for (const std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
                                             4593380528125082431ULL, 16408922859458223821ULL})
            QCOMPARE(quint64{random.bits()}, quint64{expected});
    }

    /// Of 100,000 numbers mean and variance are 1/2 and 1/12, 0 and 1, within five standard errors.
    void numbersAreDistributedAsTheySay() {
        constexpr int kCount = 100'000;
        Random random(1);
        double sum = 0, squares = 0, normalSum = 0, normalSquares = 0;
        for (int i = 0; i < kCount; ++i) {
            const double u = random.uniform(), n = random.normal();
            QVERIFY(u >= 0 && u < 1);
            sum += u, squares += (u - 0.5) * (u - 0.5), normalSum += n, normalSquares += n * n;
        }
        QVERIFY(std::abs(sum / kCount - 0.5) < 5 * std::sqrt(1.0 / 12 / kCount));
        QVERIFY(std::abs(squares / kCount - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / kCount));
        QVERIFY(std::abs(normalSum / kCount) < 5 / std::sqrt(double{kCount}));
        QVERIFY(std::abs(normalSquares / kCount - 1) < 5 * std::sqrt(2.0 / kCount));
    }
};

QTEST_APPLESS_MAIN(TestRandom)

}  // namespace tst_random

#include "tst_random.moc"
