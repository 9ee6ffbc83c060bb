// Session files in the window: saved by its action, written as things change, opened again, and what is asked before a
// file of unknown origin reads anything.

#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QPushButton>

#include "tests/support/window_fixture.h"
#include "ui/widgets/banner.h"

namespace tst_session_files {

using namespace sonde;

class TestSessionFiles : public test::WindowFixture {
    Q_OBJECT

    QTemporaryDir m_home;

    QString path(const char* name) { return m_home.filePath(QLatin1String(name)); }
    QJsonObject json(const QString& file) {
        QFile read(file);
        return read.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(read.readAll()).object() : QJsonObject();
    }
    /// The model in a folder, open in the window, with a session that was saved by keys.
    void save() {
        QDir(m_home.path()).mkdir("work");
        QVERIFY(QFile::copy(file("mlp_functional.onnx"), path("work/mlp.onnx")));
        openWindow();
        open(path("work/mlp.onnx"));
        key(Qt::Key_V, Qt::ControlModifier | Qt::AltModifier);
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog);
        Q_EMIT dialog->fileSelected(path("work/s.sonde"));
        dialog->close();
        delete dialog;
        settle();
        QTRY_VERIFY(QFile::exists(path("work/s.sonde")));
        settle();
    }
    QPushButton* bannerButton() {
        for (auto* button : m_window->banner()->findChildren<QPushButton*>())
            if (button->isVisible() && !button->text().isEmpty()) return button;
        return nullptr;
    }

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() {
        closeWindow();
        QDir(path("work")).removeRecursively();
        QDir(path("elsewhere")).removeRecursively();
        QFile::remove(path("m.onnx"));
    }

    void itIsWrittenAsThingsChange() {
        save();
        QVERIFY(m_window->windowTitle().contains("s.sonde"));
        QCOMPARE(json(path("work/s.sonde")).value("watch_points").toArray().size(), 0);
        context().navigation().navigateTo(node("op:Relu"));
        key(Qt::Key_F9);
        QTRY_COMPARE(json(path("work/s.sonde")).value("watch_points").toArray().size(), 1);
        QCOMPARE(json(path("work/s.sonde")).value("model").toObject().value("path").toString(),
                 QStringLiteral("mlp.onnx"));
    }

    void aMovedFolderOpensAsItWas() {
        save();
        const graph::NodeId watched = node("op:Relu");
        context().points().setWatched(watched, true);
        context().session().setNote(watched, "look");
        QTRY_COMPARE(json(path("work/s.sonde")).value("notes").toArray().size(), 1);
        closeWindow();
        QVERIFY(QDir(m_home.path()).rename("work", "elsewhere"));
        openWindow();
        open(path("elsewhere/s.sonde"));
        QVERIFY(context().points().isWatched(watched));
        QCOMPARE(QString::fromStdString(context().session().notes().of(watched)), QStringLiteral("look"));
        context().points().setWatched(watched, false);  // what is opened goes on being written
        QTRY_COMPARE(json(path("elsewhere/s.sonde")).value("watch_points").toArray().size(), 0);
    }

    /// Writing the session file is no change of the model: a run has its values.
    void anOpenedSessionRunsAfterAChange() {
        save();
        closeWindow();
        openWindow();
        open(path("work/s.sonde"));
        const graph::NodeId watched = node("op:Relu");
        context().points().setWatched(watched, true);
        QTRY_COMPARE(json(path("work/s.sonde")).value("watch_points").toArray().size(), 1);
        settle();
        QVERIFY(context().session().runs().checkFiles());
        run();
        QVERIFY(context().session().values().of(watched));
        QVERIFY(!context().session().runs().fileHasChanged());
    }

    void aMissingModelIsAskedForAndAWrongOneIsTold() {
        save();
        closeWindow();
        QVERIFY(QFile::rename(path("work/mlp.onnx"), path("m.onnx")));
        openWindow();
        QSignalSpy asked(&context().loader(), &context::Loader::sessionQuestioned);
        m_window->open(path("work/s.sonde"));
        QTRY_COMPARE(asked.size(), 1);
        QTRY_VERIFY(bannerButton());
        QTest::mouseClick(bannerButton(), Qt::LeftButton);
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog);
        dialog->close();
        context().loader().openSession(path("work/s.sonde"), file("control_flow.onnx"));
        QTRY_COMPARE(asked.size(), 2);  // another content
        QVERIFY(!context().model().isOpen());
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        context().loader().openSession(path("work/s.sonde"), path("m.onnx"));
        QVERIFY(opened.wait(30000));
        settle();
    }

    void aFileOutsideIsReadWhenTheUserAgrees() {
        save();
        closeWindow();
        QVERIFY(QFile::rename(path("work/mlp.onnx"), path("m.onnx")));
        QVERIFY(QFile::link(path("m.onnx"), path("work/mlp.onnx")));
        openWindow();
        QSignalSpy asked(&context().loader(), &context::Loader::sessionQuestioned);
        m_window->open(path("work/s.sonde"));
        QTRY_COMPARE(asked.size(), 1);
        QVERIFY(!context().model().isOpen());
        QTRY_VERIFY(bannerButton());
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        QTest::mouseClick(bannerButton(), Qt::LeftButton);
        QVERIFY(opened.wait(30000));
        settle();
    }
};

QTEST_MAIN(TestSessionFiles)

}  // namespace tst_session_files

#include "tst_session_files.moc"
