// What a session file in the window must not lose: inputs that a comparison replaces, what another program has written,
// a file that is write-protected, the second canvas, a question that was not answered.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>

#include <filesystem>

#include "core/io/session_file/session_file.h"
#include "tests/support/window_fixture.h"
#include "ui/widgets/banner.h"

namespace tst_session_conflicts {

using namespace sonde;
using widgets::Banner;

class TestSessionConflicts : public test::WindowFixture {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_home;

    QString path(const char* name) const { return m_home->filePath(QLatin1String(name)); }
    QString session() const { return path("work/s.sonde"); }
    QJsonObject json() const {
        QFile read(session());
        return read.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(read.readAll()).object() : QJsonObject();
    }
    QString inputSource() const {
        return json().value("inputs").toArray().first().toObject().value("source").toString();
    }
    int noteCount() const { return static_cast<int>(json().value("notes").toArray().size()); }
    QPushButton* bannerButton() {
        for (auto* button : m_window->banner()->findChildren<QPushButton*>())
            if (button->isVisible() && !button->text().isEmpty()) return button;
        return nullptr;
    }
    /// The model in a folder, open in the window, with a session.
    void save() {
        QVERIFY(QDir(m_home->path()).mkdir("work"));
        QVERIFY(QFile::copy(file("mlp_functional.onnx"), path("work/mlp.onnx")));
        openWindow();
        open(path("work/mlp.onnx"));
        context().sessionFiles().saveAs(session());
        QTRY_VERIFY(QFile::exists(session()));
        settle();
    }
    /// As another program does it.
    void changeElsewhere() {
        auto read = io::readSession(session().toStdString());
        QVERIFY(read.has_value());
        read->seed = 77;
        QVERIFY(io::writeSession(session().toStdString(), *read).has_value());
    }
    void watch() {
        context().navigation().navigateTo(node("op:Relu"));
        key(Qt::Key_F9);
    }

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        context::waitUntilStored();
        QSettings().clear();
        m_home = std::make_unique<QTemporaryDir>();
    }
    void cleanup() { closeWindow(); }

    void comparingKeepsTheInput() {
        save();
        QVERIFY(QFile::copy(file("mlp_functional.npz"), path("ref.npz")));
        QVERIFY(QFile::copy(file("mlp_functional.npz"), path("work/own.npz")));
        const QString input = context().inputs().all().front().name;
        context().inputs().setSpec(input, {path("work/own.npz"), {}});
        QTRY_VERIFY(inputSource().startsWith("own.npz"));
        const QString given = inputSource();
        context().comparison().withFile(path("ref.npz"));
        QTRY_VERIFY(context().comparison().isKnown() && !context().comparison().isActive());
        settle();
        QVERIFY(context().inputs().find(input)->spec.source.startsWith(path("ref.npz")));
        QTRY_COMPARE(json().value("comparison").toObject().value("references").toArray().size(), 1);
        QCOMPARE(inputSource(), given);
        // Nor is the reference what the settings remember of the model.
        closeWindow();
        openWindow();
        open(path("work/mlp.onnx"));
        QVERIFY(context().inputs().find(input)->spec.source.startsWith(path("work/own.npz")));
    }

    void anotherProgramsChangesAreNotOverwritten() {
        save();
        changeElsewhere();
        QSignalSpy told(&context().sessionFiles(), &context::SessionFiles::changedElsewhere);
        watch();
        QTRY_COMPARE(told.size(), 1);
        settle();
        QCOMPARE(json().value("seed").toInt(), 77);
        QCOMPARE(json().value("watch_points").toArray().size(), 0);
        QVERIFY(m_window->banner()->isVisible());
        QVERIFY(m_window->banner()->text().contains("s.sonde"));
        run();  // does not answer the question
        QVERIFY(m_window->banner()->isVisible());
        // Reload takes what the file has.
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        QVERIFY(bannerButton());
        QTest::mouseClick(bannerButton(), Qt::LeftButton);
        QVERIFY(opened.wait(30000));
        settle();
        QVERIFY(!m_window->banner()->isVisible());
        QVERIFY(!context().points().isWatched(node("op:Relu")));
        QCOMPARE(context().session().runs().settings().seed, std::uint64_t{77});
        // From then on it is written again.
        const qsizetype before = told.size();
        watch();
        QTRY_COMPARE(json().value("watch_points").toArray().size(), 1);
        QCOMPARE(json().value("seed").toInt(), 77);
        QCOMPARE(told.size(), before);
    }

    void savingOverwritesWhatWasToldOf() {
        save();
        changeElsewhere();
        // Saving is no answer before the question.
        key(Qt::Key_V, Qt::ControlModifier | Qt::AltModifier);
        QTRY_VERIFY(m_window->banner()->isVisible());
        settle();
        QCOMPARE(json().value("seed").toInt(), 77);
        watch();
        settle();
        QCOMPARE(json().value("watch_points").toArray().size(), 0);
        key(Qt::Key_V, Qt::ControlModifier | Qt::AltModifier);
        QTRY_COMPARE(json().value("watch_points").toArray().size(), 1);
        QTRY_VERIFY(!m_window->banner()->isVisible());
        QCOMPARE(json().value("seed").toInt(), 0);
        context().session().setNote(node("op:Relu"), "after");
        QTRY_COMPARE(noteCount(), 1);
    }

    void aProtectedFileStays() {
        save();
        const auto before = json();
        namespace fs = std::filesystem;
        fs::permissions(session().toStdString(), fs::perms(0444));
        watch();
        QTRY_VERIFY(m_window->banner()->isVisible());
        QVERIFY2(m_window->banner()->text().contains("cannot be written"), qPrintable(m_window->banner()->text()));
        settle();
        QCOMPARE(json(), before);
        QCOMPARE(fs::status(session().toStdString()).permissions(), fs::perms(0444));
    }

    void theSecondCanvasIsThereAgain() {
        save();
        m_window->canvases().split(Qt::Vertical);
        context().canvases().at(1).setDirection(layout::Direction::LeftRight);
        settle();
        QTRY_COMPARE(json().value("view").toObject().value("split").toString(), "stacked");
        QTRY_COMPARE(json().value("view").toObject().value("secondCanvas/leftRight").toString(), "true");
        const layout::Direction first = context().canvases().at(0).view().direction;
        closeWindow();
        context::waitUntilStored();
        QSettings().clear();
        openWindow();
        QVERIFY(!m_window->canvases().isSplit());
        open(session());
        QVERIFY(m_window->canvases().isSplit(Qt::Vertical));
        QCOMPARE(context().canvases().at(0).view().direction, first);
        QCOMPARE(context().canvases().at(1).view().direction, layout::Direction::LeftRight);
        QVERIFY(m_window->canvases().at(1)->view().scene());
        m_window->canvases().close(1);
        QTRY_VERIFY(!json().value("view").toObject().contains("split"));
    }

    /// An input outside of the folder is asked for until the user answers or closes the question.
    void theQuestionStaysThroughARun() {
        save();
        QVERIFY(QFile::copy(file("mlp_functional.npz"), path("own.npz")));
        context().inputs().setSpec(context().inputs().all().front().name, {path("own.npz"), {}});
        QTRY_VERIFY(!inputSource().isEmpty());
        settle();
        closeWindow();
        context::waitUntilStored();
        QSettings().clear();
        openWindow();
        open(session());
        QVERIFY(m_window->banner()->isVisible());
        const QString question = m_window->banner()->text();
        run();
        QVERIFY(m_window->banner()->isVisible());
        QCOMPARE(m_window->banner()->text(), question);
        // An error stands before it.
        context().messages().report(base::runError("something else"));
        QVERIFY(m_window->banner()->text() != question);
        m_window->banner()->dismiss();
        QVERIFY(m_window->banner()->isVisible());
        QCOMPARE(m_window->banner()->text(), question);
        m_window->banner()->dismiss();
        QVERIFY(!m_window->banner()->isVisible());
        run();
        QVERIFY(!m_window->banner()->isVisible());
    }
};

QTEST_MAIN(TestSessionConflicts)

}  // namespace tst_session_conflicts

#include "tst_session_conflicts.moc"
