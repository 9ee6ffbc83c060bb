// The ONNX backend cases, by the verb that users have. Known exceptions stand in tests/data with their reasons.

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QtTest>

#include "tests/support/reference_sets.h"

class TestConformance : public QObject {
    Q_OBJECT

  private slots:
    void everyCasePassesOrIsAKnownException() {
        const QString cases = sonde::test::referenceSets() + "/onnx-conformance";
        if (!QDir(cases).exists()) QSKIP("the conformance cases are not there (SONDE_SHARED)");
        const QString exceptions = QStringLiteral(SONDE_TEST_DATA "/conformance_exceptions.txt");
        QProcess process;
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"conformance", cases, "--failures", "--exceptions", exceptions});
        QVERIFY(process.waitForFinished(400'000));
        const QByteArray output = process.readAllStandardOutput();
        const QByteArray last = output.trimmed().split('\n').last();
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, output.right(4000));

        // The list may only shrink: whatever passes must leave it.
        QFile list(exceptions);
        QVERIFY(list.open(QIODevice::ReadOnly));
        int listed = 0;
        for (const QByteArray& line : list.readAll().split('\n')) {
            if (line.isEmpty() || line.startsWith('#')) continue;
            QVERIFY2(line.contains('#'), line + " has no reason");
            ++listed;
        }
        QVERIFY2(last.endsWith(QByteArray::number(listed) + " skipped"), last);
        QVERIFY2(last.split(' ').first().toInt() >= 1488, last);
    }
};

QTEST_GUILESS_MAIN(TestConformance)
#include "tst_conformance.moc"
