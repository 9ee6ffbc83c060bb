// sonde bench with plans that compute values again.

#include <QTest>

#include <nlohmann/json.hpp>

#include "tests/support/run_sonde.h"

namespace tst_bench {

using namespace sonde;

class TestBench : public QObject {
    Q_OBJECT

  private slots:
    void lessMemory_data() {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("sublinear") << QStringList{"--sublinear"};
        QTest::newRow("dtr") << QStringList{"--dtr", "24KB", "--dtr-minimum", "0"};
    }
    void lessMemory() {
        QFETCH(QStringList, options);
        const QStringList command = QStringList{"bench", "zoo:nested_containers", "--repeat", "1"} + options;
        const auto table = test::runSonde(command);
        QCOMPARE(table.status, 0);
        QVERIFY2(table.out.contains("outputs are equal bit for bit"), qPrintable(table.out));
        // Why large limits may do nothing in small models.
        QCOMPARE(table.out.contains("values of less than 0 bytes stay (--dtr-minimum)"), options.front() == "--dtr");
        const auto root = nlohmann::json::parse(test::runSonde(command + QStringList{"--json"}).out.toStdString());
        const auto& less = root["less_memory"];
        QCOMPARE(less["method"].get<std::string>(), options.front().mid(2).toStdString());
        QVERIFY(less["is_same"].get<bool>());
        QVERIFY(less["peak_bytes"].get<std::int64_t>() > 0);
        QVERIFY(less["peak_bytes"].get<std::int64_t>() <= less["peak_bytes_before"].get<std::int64_t>());
    }

    void oneOfTheTwo() {
        QCOMPARE(test::runSonde({"bench", "zoo:seed", "--sublinear", "--dtr", "1MB"}).status, 2);
        for (const QStringList& wrong :
             {QStringList{"--dtr", "0"}, QStringList{"--dtr", "1.5MB"}, QStringList{"--repeat", "0"},
              QStringList{"--dtr-minimum", "1KB"}, QStringList{"--threads", "40000"}, QStringList{"--threads", "-1"}}) {
            const auto outcome = test::runSonde(QStringList{"bench", "zoo:seed"} + wrong);
            QCOMPARE(outcome.status, 2);
            QVERIFY2(outcome.err.size() < 200, qPrintable(outcome.err));
        }
    }
};

QTEST_GUILESS_MAIN(TestBench)

}  // namespace tst_bench

#include "tst_bench.moc"
