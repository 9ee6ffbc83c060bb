// Session files in the window: saved by its action, written as things change, opened again, and what is asked before a
// file of unknown origin reads anything.

#include <QDropEvent>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>

#include "core/io/npz/npy.h"
#include "tests/support/window_fixture.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/labels.h"
#include "ui/window/start_page.h"

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

    /// What `act` does opens the session in the folder, with its watch point.
    void opensBy(const std::function<void()>& act) {
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        act();
        if (QTest::currentTestFailed()) return;
        QVERIFY(opened.size() == 1 || opened.wait(30000));
        settle();
        QCOMPARE(context().sessionFiles().path(), path("work/s.sonde"));
        QVERIFY(m_window->windowTitle().contains("s.sonde"));
        QVERIFY(context().points().isWatched(node("op:Relu")));
        context().loader().close();
    }
    /// A session with a watch point, and a window in which nothing is open.
    void saveWatched() {
        save();
        context().points().setWatched(node("op:Relu"), true);
        QTRY_COMPARE(json(path("work/s.sonde")).value("watch_points").toArray().size(), 1);
        settle();
        closeWindow();
        openWindow();
        QVERIFY(!context().model().isOpen());
    }
    void chooseInDialog(const QString& chosen) {
        auto* dialog = m_window->findChild<QFileDialog*>();
        QVERIFY(dialog);
        Q_EMIT dialog->fileSelected(chosen);
        dialog->close();
        delete dialog;
    }
    void compareWith(const char* name) {
        context().comparison().withFile(path(name));
        QTRY_VERIFY(context().comparison().isKnown() && !context().comparison().isActive());
        settle();
    }

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() {
        while (QWidget* popup = QApplication::activePopupWidget()) popup->close();
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

    void itOpensByDropMenuStartPageAndDialog() {
        saveWatched();
        const auto drop = [this] {
            QMimeData data;
            data.setUrls({QUrl::fromLocalFile(path("work/s.sonde"))});
            QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(m_window.get(), &enter);
            QVERIFY(enter.isAccepted());
            QDropEvent dropped(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
            QCoreApplication::sendEvent(m_window.get(), &dropped);
            QVERIFY(dropped.isAccepted());
        };
        opensBy(drop);
        opensBy([this] {
            auto* page = m_window->findChild<window::StartPage*>();
            QVERIFY(page && page->isVisible());
            for (auto* link : page->findChildren<widgets::LinkLabel*>())
                if (link->isVisible() && link->text().contains("s.sonde"))
                    return QTest::mouseClick(link, Qt::LeftButton, {}, QPoint(6, link->height() / 2));
            QFAIL("the start page has no link to the session");
        });
        opensBy([this] {
            for (auto* recent : m_window->findChildren<QMenu*>()) {
                if (!recent->title().contains("Recent")) continue;
                recent->popup(m_window->mapToGlobal(QPoint(50, 50)));
                QTRY_VERIFY(recent->isVisible());
                QAction* first = recent->actions().first();
                QVERIFY(first->text().contains("s.sonde"));
                QTest::mouseMove(recent, recent->actionGeometry(first).center());
                return QTest::mouseClick(recent, Qt::LeftButton, {}, recent->actionGeometry(first).center());
            }
            QFAIL("the file menu has no recent models");
        });
        opensBy([this] {
            activate();
            QTest::keyClick(m_window.get(), Qt::Key_O, Qt::ControlModifier);
            chooseInDialog(path("work/s.sonde"));
        });
        // In place of another model that is open.
        open(file("control_flow.onnx"));
        opensBy(drop);
    }

    /// Both canvases, and what the file was compared with.
    void whatWasShownAndComparedIsThereAgain() {
        save();
        QVERIFY(QFile::copy(file("mlp_functional.npz"), path("work/ref.npz")));
        context().canvases().at(0).setDirection(layout::Direction::LeftRight);
        context().canvases().at(1).setShowsConstants(true);
        settle();
        compareWith("work/ref.npz");
        const auto references = [this](const char* name) {
            return json(path(name)).value("comparison").toObject().value("references").toArray();
        };
        QTRY_COMPARE(references("work/s.sonde"), QJsonArray{"ref.npz"});
        QTRY_COMPARE(json(path("work/s.sonde")).value("view").toObject().value("leftRight").toString(), "true");
        const auto views = std::array{context().canvases().at(0).view(), context().canvases().at(1).view()};
        QVERIFY(views[0] != views[1]);
        closeWindow();
        // Of another machine: what the settings remember of the model does not help.
        context::waitUntilStored();
        QSettings().clear();
        QVERIFY(QDir(m_home.path()).rename("work", "elsewhere"));
        openWindow();
        open(path("elsewhere/s.sonde"));
        for (const int canvas : {0, 1}) {
            const layout::ViewState& view = context().canvases().at(canvas).view();
            QCOMPARE(view.openScopes, views[static_cast<std::size_t>(canvas)].openScopes);
            QCOMPARE(view.direction, views[static_cast<std::size_t>(canvas)].direction);
            QCOMPARE(view.hideConstants, views[static_cast<std::size_t>(canvas)].hideConstants);
        }
        QVERIFY(!context().comparison().isKnown());
        key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY(context().comparison().isKnown() && !context().comparison().isActive());
        QCOMPARE(context().comparison().title(), QStringLiteral("ref.npz"));
        settle();
        QCOMPARE(references("elsewhere/s.sonde"), QJsonArray{"ref.npz"});
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
        chooseInDialog(file("control_flow.onnx"));
        QTRY_COMPARE(asked.size(), 2);  // another content
        QCOMPARE(asked.last().first().value<context::SessionQuestion>().state, document::SessionModel::State::Changed);
        QVERIFY(!context().model().isOpen());
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        QTRY_VERIFY(bannerButton());
        context().loader().openSession(path("work/s.sonde"), path("m.onnx"));
        QVERIFY(opened.wait(30000));
        settle();
        // It is the file that was named that is written from now on.
        // A note that the settings do not have from another test.
        context().session().setNote(node("op:Relu"), "found elsewhere");
        QTRY_COMPARE(json(path("work/s.sonde")).value("model").toObject().value("path").toString(), path("m.onnx"));
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

    /// Opened without it: the edit is listed, does nothing, and is asked for.
    void aFileOfAnEditIsReadWhenTheUserAgrees() {
        save();
        const graph::NodeId relu = node("op:Relu");
        session::Edit edit;
        edit.kind = session::Edit::Kind::File;
        edit.text = path("one.npy").toStdString();
        QVERIFY(io::writeNpyFile(edit.text, tensor::Tensor::of<float>({1}, {1})));
        context().edits().add(relu, edit, nullptr);
        settle();
        QTRY_COMPARE(json(path("work/s.sonde")).value("edits").toArray().size(), 1);
        closeWindow();
        openWindow();
        QSignalSpy asked(&context().loader(), &context::Loader::sessionQuestioned);
        m_window->open(path("work/s.sonde"));
        QTRY_COMPARE(asked.size(), 1);
        settle();
        QCOMPARE(context().edits().all().size(), std::size_t{1});
        QVERIFY(!context().edits().all().front().counts());
        QTRY_VERIFY(bannerButton());
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        QTest::mouseClick(bannerButton(), Qt::LeftButton);
        QVERIFY(opened.wait(30000));
        settle();
        QCOMPARE(context().edits().all().size(), std::size_t{1});
        QVERIFY(context().edits().all().front().counts());
    }
};

QTEST_MAIN(TestSessionFiles)

}  // namespace tst_session_files

#include "tst_session_files.moc"
