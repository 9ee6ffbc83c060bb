// The talk from a picture to a decision that comes with the samples, done in the window from the start page.

#include <QDir>
#include <QFile>
#include <QImage>
#include <QTemporaryDir>

#include "tests/support/window_fixture.h"
#include "ui/window/samples.h"
#include "ui/window/script.h"

namespace tst_talk {

using namespace sonde;

class TestTalk : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    void everyStepWorks_data() {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("isCopied");
        QTest::newRow("1280x720") << QSize(1280, 720) << false;
        QTest::newRow("800x600") << QSize(800, 600) << false;
        QTest::newRow("1024x768, a copy in another folder") << QSize(1024, 768) << true;
    }
    void everyStepWorks() {
        QFETCH(QSize, size);
        QFETCH(bool, isCopied);
        m_window->resize(size);
        QFile file(window::resourcePath(QStringLiteral("samples/talk.txt")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        const qsizetype pictures = text.count(QStringLiteral("\nscreenshot "));
        QVERIFY(pictures >= 15);
        const QTemporaryDir folder;
        window::Script script(*m_window, {}, text, folder.path());
        script.readFrom(isCopied ? folder.path() : window::resourcePath(QStringLiteral("samples")));
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        QVERIFY(!finished.isEmpty() || finished.wait(300000));
        QVERIFY2(!script.error(), script.error() ? script.error()->text().c_str() : "");
        const QStringList made = QDir(folder.path()).entryList({QStringLiteral("*.png")}, QDir::Files, QDir::Name);
        QCOMPARE(made.size(), pictures);
        QImage before;
        for (const QString& name : made) {
            const QImage picture(folder.filePath(name));
            QVERIFY2(picture.size() == m_window->size() && picture != before, qPrintable(name));
            before = picture;
        }
    }
};

QTEST_MAIN(TestTalk)

}  // namespace tst_talk

#include "tst_talk.moc"
