// A model file that changes under a verb that is running: a line, a hint and an exit status, never a crash.

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/changing_file.h"

namespace tst_changed_model {

using namespace sonde;

namespace {

bool isMappedBy(qint64 process, const QString& path) {
    QFile maps(QString("/proc/%1/maps").arg(process));
    return maps.open(QIODevice::ReadOnly) && maps.readAll().contains(path.toLocal8Bit());
}

}  // namespace

class TestChangedModel : public QObject {
    Q_OBJECT

  private slots:
    void aRunningVerbStops_data() {
        QTest::addColumn<QString>("source");
        QTest::addColumn<int>("change");
        for (const char* source : {"resnet18_slim.onnx", "unet_small.trace.pt"})
            for (int change = 0; change < 4; ++change)
                QTest::addRow("%s %d", source, change) << QString(source) << change;
    }
    void aRunningVerbStops() {
        QFETCH(QString, source);
        QFETCH(int, change);
        const QTemporaryDir folder;
        const QString path = folder.filePath(source);
        QFile original(QStringLiteral(SONDE_TEST_DATA "/models/") + source);
        QVERIFY(original.open(QIODevice::ReadOnly));
        const std::string whole = original.readAll().toStdString();
        QVERIFY(test::replaceFile(path, whole));
        QProcess process;
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"bench", path, "--repeat", "1000000"});
        QVERIFY(process.waitForStarted());
        QTRY_VERIFY_WITH_TIMEOUT(isMappedBy(process.processId(), path), 60000);
        // Some moment of opening or running, both of which have to notice; from outside nothing tells which it is.
        QTest::qWait(300);
        const QByteArray name = path.toLocal8Bit();
        switch (change) {
            case 0: QCOMPARE(::truncate(name.constData(), static_cast<off_t>(whole.size() / 2)), 0); break;
            case 1: QVERIFY(test::overwriteFile(path, std::string(whole.size(), '\1'))); break;
            case 2: QVERIFY(test::replaceFile(path, whole)); break;
            default: QCOMPARE(::unlink(name.constData()), 0); break;
        }
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        const QString errors = QString::fromUtf8(process.readAllStandardError());
        QVERIFY2(process.exitCode() == 4 || process.exitCode() == 3, qPrintable(errors));  // 3: it was still opening
        QVERIFY2(errors.contains("sonde: error: model file changed on disk (" + path), qPrintable(errors));
        QVERIFY2(errors.contains("\nhint: "), qPrintable(errors));
        QCOMPARE(process.readAllStandardOutput(), QByteArray());
    }
};

QTEST_GUILESS_MAIN(TestChangedModel)

}  // namespace tst_changed_model

#include "tst_changed_model.moc"
