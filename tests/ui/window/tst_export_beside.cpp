// Pictures are written in the background: it goes on, the file is what was shown when it was asked for, and what is
// cancelled leaves nothing behind.

#include <QAction>
#include <QDir>
#include <QFile>
#include <QTimer>

#include <algorithm>

#include "tests/support/window_fixture.h"
#include "ui/context/job.h"
#include "ui/dialogs/print_dialog.h"
#include "ui/widgets/progress_strip.h"

namespace tst_export_beside {

using namespace sonde;

class TestExportBeside : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        m_folder = std::make_unique<QTemporaryDir>();
    }
    void cleanup() { closeWindow(); }
    void theWindowGoesOn_data() { formats(); }
    void theWindowGoesOn();
    void cancelLeavesNothing_data() { formats(); }
    void cancelLeavesNothing();
    void cancelKeepsTheFileThatWasThere();
    void closingTheWindowLeavesNothing();
    void theFileIsWhatWasShown();
    void severalAtOnce();
    void printingGoesOnBeside();
    void whatCannotBeWrittenIsTold();

  private:
    void formats() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"all.svg", "all.png", "all.pdf", "pages.pdf"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    /// Some thousand items.
    void openLarge() {
        open(QStringLiteral("zoo:densenet121"));
        context().canvases().active().expandToDepth(9);
        settle();
    }
    void save(const QString& name) {
        name.startsWith(QLatin1String("pages")) ? m_window->output().exportPagesTo(path(name))
                                                : m_window->output().exportTo(path(name));
    }
    QString path(const QString& name) const { return m_folder->filePath(name); }
    /// Also what begins with a dot, or is there for a while only.
    QStringList files() const {
        return QDir(m_folder->path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    }
    QByteArray bytes(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    bool isTold(const QString& text) {
        const auto& messages = context().messages().all();
        return std::any_of(messages.begin(), messages.end(),
                           [&](const context::Message& message) { return message.text.contains(text); });
    }
    QAction* cancel() { return m_window->actions().action(QStringLiteral("run.cancel")); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestExportBeside::theWindowGoesOn() {
    QFETCH(QString, name);
    openLarge();
    save(name);
    // Asked for and not yet done: the call does not paint.
    QVERIFY(!m_window->isIdle());
    QVERIFY(files().isEmpty());
    QVERIFY(cancel()->isEnabled());
    int turns = 0;
    QTimer timer;
    connect(&timer, &QTimer::timeout, this, [&] { turns += m_window->isIdle() ? 0 : 1; });
    timer.start(0);
    settle();
    QVERIFY(turns > 0);
    QCOMPARE(files(), QStringList(name));
    QVERIFY(bytes(name).size() > 10000);
    QVERIFY(isTold(QStringLiteral("Graph saved")));
    QVERIFY(!cancel()->isEnabled());
}

void TestExportBeside::cancelLeavesNothing() {
    QFETCH(QString, name);
    openLarge();
    save(name);
    cancel()->trigger();
    settle();
    QCOMPARE(files(), QStringList());
    QVERIFY(isTold(QStringLiteral("Saving the graph was cancelled")));
    QVERIFY(!isTold(QStringLiteral("Graph saved")));
}

void TestExportBeside::cancelKeepsTheFileThatWasThere() {
    openLarge();
    QFile before(path(QStringLiteral("all.png")));
    QVERIFY(before.open(QIODevice::WriteOnly));
    before.write("older");
    before.close();
    save(QStringLiteral("all.png"));
    // By the button of its own line
    const auto strips = m_window->findChildren<widgets::ProgressStrip*>();
    const auto active = std::find_if(strips.begin(), strips.end(),
                                     [](const widgets::ProgressStrip* strip) { return strip->isActive(); });
    QVERIFY(active != strips.end());
    Q_EMIT(*active)->cancelRequested();
    settle();
    QCOMPARE(files(), QStringList(QStringLiteral("all.png")));
    QCOMPARE(bytes(QStringLiteral("all.png")), QByteArray("older"));
}

void TestExportBeside::closingTheWindowLeavesNothing() {
    openLarge();
    save(QStringLiteral("all.png"));
    closeWindow();
    context::Job::waitForAll();
    QCOMPARE(files(), QStringList());
}

void TestExportBeside::theFileIsWhatWasShown() {
    openLarge();
    save(QStringLiteral("calm.svg"));
    settle();
    save(QStringLiteral("stirred.svg"));
    context().canvases().active().expandToDepth(0);
    theme::Theme::instance().setMode(theme::Theme::Mode::Dark);
    open(QStringLiteral("zoo:seed"));
    settle();
    QVERIFY(!bytes(QStringLiteral("calm.svg")).isEmpty());
    QVERIFY(bytes(QStringLiteral("calm.svg")) == bytes(QStringLiteral("stirred.svg")));
}

void TestExportBeside::severalAtOnce() {
    open(file("resnet18_slim.onnx"));
    save(QStringLiteral("first.pdf"));
    settle();
    for (const char* name : {"a.pdf", "b.pdf", "c.svg", "d.png"}) save(QLatin1String(name));
    settle();
    QVERIFY(bytes(QStringLiteral("first.pdf")) == bytes(QStringLiteral("a.pdf")));
    QVERIFY(bytes(QStringLiteral("first.pdf")) == bytes(QStringLiteral("b.pdf")));
    QCOMPARE(files().size(), 5);
}

void TestExportBeside::printingGoesOnBeside() {
    openLarge();
    m_window->actions().action(QStringLiteral("file.print"))->trigger();
    auto* print = m_window->findChild<dialogs::PrintDialog*>();
    QVERIFY(print);
    QCOMPARE(print->pages(), 0);  // still being painted
    QTRY_COMPARE_WITH_TIMEOUT(print->pages(), 1, 30000);
    print->printToPdf(path(QStringLiteral("print.pdf")));
    QVERIFY(files().isEmpty());
    delete print;
    context::Job::waitForAll();
    QCOMPARE(files(), QStringList());
}

void TestExportBeside::whatCannotBeWrittenIsTold() {
    open(QStringLiteral("zoo:seed"));
    m_window->output().exportTo(QStringLiteral("/nonexistent/folder/picture.svg"));
    settle();
    QVERIFY(isTold(QStringLiteral("cannot be written")));
    m_window->output().exportTo(path(QStringLiteral("picture.bmp")));
    settle();
    QVERIFY(isTold(QStringLiteral("unknown output format 'bmp'")));
}

QTEST_MAIN(TestExportBeside)

}  // namespace tst_export_beside

#include "tst_export_beside.moc"
