// Broken archives that were traced (tests/support/broken_files.h).

#include "tests/support/broken_files.h"

namespace tst_broken_traces {

using namespace sonde;

class TestBrokenTraces : public QObject {
    Q_OBJECT

  private slots:
    void openingSurvives_data() {
        test::addFileRows([](const QString& file) { return file.endsWith(".pt") && !file.endsWith(".script.pt"); });
    }
    void openingSurvives() {
        QFETCH(QString, file);
        const QByteArray wrong = test::openBroken(file, m_folder);
        QVERIFY2(wrong.isEmpty(), wrong.constData());
    }

  private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestBrokenTraces)

}  // namespace tst_broken_traces

#include "tst_broken_traces.moc"
