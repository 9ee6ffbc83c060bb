// Broken ONNX files (tests/support/broken_files.h).

#include "tests/support/broken_files.h"

namespace tst_broken_onnx {

using namespace sonde;

class TestBrokenOnnx : public QObject {
    Q_OBJECT

  private slots:
    void openingSurvives_data() {
        test::addFileRows([](const QString& file) { return file.endsWith(".onnx"); });
    }
    void openingSurvives() {
        QFETCH(QString, file);
        const QByteArray wrong = test::openBroken(file, m_folder);
        QVERIFY2(wrong.isEmpty(), wrong.constData());
    }

  private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestBrokenOnnx)

}  // namespace tst_broken_onnx

#include "tst_broken_onnx.moc"
