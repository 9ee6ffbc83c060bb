#include <QtTest>

#include <limits>

#include "core/base/count_text.h"

namespace tst_count_text {

using sonde::base::countText;

class TestCountText : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void digitsAreGroupedByThree() {
        QCOMPARE(countText(0), std::string("0"));
        QCOMPARE(countText(999), std::string("999"));
        QCOMPARE(countText(1000), std::string("1,000"));
        QCOMPARE(countText(33333), std::string("33,333"));
        QCOMPARE(countText(1048576), std::string("1,048,576"));
        QCOMPARE(countText(-123), std::string("-123"));
        QCOMPARE(countText(-123456), std::string("-123,456"));
        QCOMPARE(countText(std::numeric_limits<std::int64_t>::min()), std::string("-9,223,372,036,854,775,808"));
    }
};

QTEST_GUILESS_MAIN(TestCountText)

}  // namespace tst_count_text

#include "tst_count_text.moc"
