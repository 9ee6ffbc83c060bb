// How the ratio of signal to noise is written: 10 log10(Σ r² / Σ (a − r)²), where one of the sums may be 0.

#include <QtTest>

#include <limits>

#include "ui/context/precision.h"
#include "ui/models/difference_table_model.h"

namespace tst_decibels {

using namespace sonde;

class TestDecibels : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void equalAndOnlyNoiseAreToldApart();
};

void TestDecibels::equalAndOnlyNoiseAreToldApart() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr int kSnr = models::DifferenceTableModel::Snr;
    QCOMPARE(context::decibelText(41.23), QStringLiteral("41.2 dB"));
    QCOMPARE(context::decibelText(kInfinity), QStringLiteral("equal"));
    QCOMPARE(context::decibelText(-kInfinity), QStringLiteral("only noise"));
    QCOMPARE(context::decibelText(std::numeric_limits<double>::quiet_NaN()), QStringLiteral("not finite"));
    QCOMPARE(models::differenceText(kSnr, 41.23), QStringLiteral("41.2 dB"));
    QCOMPARE(models::differenceText(kSnr, kInfinity), QStringLiteral("\u221e dB"));
    QCOMPARE(models::differenceText(kSnr, -kInfinity), QStringLiteral("\u2212\u221e dB"));
}

QTEST_GUILESS_MAIN(TestDecibels)

}  // namespace tst_decibels

#include "tst_decibels.moc"
