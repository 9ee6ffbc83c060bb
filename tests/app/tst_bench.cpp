// sonde bench with plans that compute values again, and against a number.

#include <QFile>
#include <QTemporaryDir>
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

    void curve() {
        QTemporaryDir folder;
        const QString plot = folder.filePath("curve.svg");
        const QStringList command{"bench", "zoo:resnet18_slim", "--sweep", "batch=1:4:x2", "--repeat", "1"};
        const auto table = test::runSonde(command + QStringList{"--plot", plot});
        QCOMPARE(table.status, 0);
        const QStringList lines = table.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 5);  // head, three points, growth
        QCOMPARE(lines[0].simplified(), "batch threads median ms min ms max ms values memory");
        for (int i = 0; i < 3; ++i) QCOMPARE(lines[i + 1].simplified().section(' ', 0, 0), QString::number(1 << i));
        QVERIFY2(lines[4].contains("memory of values as batch^1.00"), qPrintable(lines[4]));
        QFile file(plot);
        QVERIFY(file.open(QFile::ReadOnly) && file.readAll().startsWith("<svg "));
        const auto root = nlohmann::json::parse(test::runSonde(command + QStringList{"--json"}).out.toStdString());
        QCOMPARE(root["points"].size(), std::size_t{3});
        QCOMPARE(root["points"][2]["value_bytes"].get<std::int64_t>(),
                 4 * root["points"][0]["value_bytes"].get<std::int64_t>());
        // Without --sweep there is nothing to draw, and plans that save memory have tables of their own.
        QCOMPARE(test::runSonde({"bench", "zoo:seed", "--plot", plot}).status, 2);
        QCOMPARE(test::runSonde(command + QStringList{"--sublinear"}).status, 2);
    }
};

QTEST_GUILESS_MAIN(TestBench)

}  // namespace tst_bench

#include "tst_bench.moc"
