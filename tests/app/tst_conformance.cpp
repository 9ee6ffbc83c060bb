// The ONNX backend cases, by the verb that users have. Known exceptions are in tests/data with their reasons.

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/io/onnx/onnx_writer.h"
#include "tests/support/reference_sets.h"

namespace tst_conformance {

class TestConformance : public QObject {
    Q_OBJECT

  private slots:
    void everyCasePassesOrIsAKnownException() {
        const QString cases = sonde::test::referenceSets() + "/onnx-conformance";
        SONDE_NEEDS_SET("onnx-conformance", cases);
        const QString exceptions = QStringLiteral(SONDE_TEST_DATA "/conformance_exceptions.txt");
        QProcess process;
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"),
                      {"conformance", cases, "--failures", "--exceptions", exceptions});
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

    /// Every model, written as a file again, still passes its case.
    void everyCasePassesAfterSaving() {
        const QString cases = sonde::test::referenceSets() + "/onnx-conformance";
        SONDE_NEEDS_SET("onnx-conformance", cases);
        QTemporaryDir copies;
        QDirIterator models(cases, {"model.onnx"}, QDir::Files, QDirIterator::Subdirectories);
        int count = 0;
        while (models.hasNext()) {
            const QFileInfo model(models.next());
            const QString folder = copies.filePath(model.dir().dirName());
            QVERIFY(QDir().mkpath(folder));
            QVERIFY(QFile::link(model.dir().filePath("test_data_set_0"), folder + "/test_data_set_0"));
            const auto document = sonde::document::open(model.filePath().toStdString());
            QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
            const auto written = sonde::io::writeOnnx((folder + "/model.onnx").toStdString(), *(*document)->graph);
            QVERIFY2(written.has_value(),
                     qPrintable(model.filePath() + ": " + (written ? "" : written.error().text().c_str())));
            ++count;
        }
        QProcess process;
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"conformance", copies.path(), "--failures"});
        QVERIFY(process.waitForFinished(400'000));
        const QByteArray output = process.readAllStandardOutput();
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, output.right(4000));
        QVERIFY2(output.trimmed().endsWith(QByteArray::number(count) + " passed, 0 failed, 0 skipped"),
                 output.right(200));
    }
};

QTEST_GUILESS_MAIN(TestConformance)

}  // namespace tst_conformance

#include "tst_conformance.moc"
