// Lessons in the real window: the list, the steps by keys and clicks, the graph in step with the text, questions.

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>

#include "core/lessons/views.h"
#include "tests/support/branched_convolutions.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/lessons.h"
#include "ui/panels/lesson/lesson_panel.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"

namespace tst_lesson_panel {

using namespace sonde;

class TestLessonPanel : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow({1280, 720});
    }
    void cleanup() { closeWindow(); }
    void theListOpensALesson();
    void stepsGoByKeysWithTheGraph();
    void numbersComeWithTheRun();
    void answersAreChecked();
    void aStepsEditsEndWithIt();
    void theListOfEditsIsNotShownForAStep();
    void aRefusedEditIsToldWithItsLine();
    void aModelThatLacksSomethingIsTold();
    void withoutALessonThereIsNoPanel();
    void aFileThatIsNoLessonIsTold();
    void theBranchThatIsTakenIsMeant();
    void eachViewCanBeShown();
    void aRunThatFailedIsSaid();
    void theValueHasRoomInSmallWindows();
    void textAndValueHaveAColumnEachInALowWindow();
    void soundIsNoStripe();

  private:
    panels::LessonPanel* panel() {
        return static_cast<panels::LessonPanel*>(m_window->docks().panel(QStringLiteral("lesson")));
    }
    context::Lessons& lessons() { return context::lessonsOf(context()); }
    QDockWidget* dock() { return m_window->docks().dock(QStringLiteral("lesson")); }
    void openList() {
        key(Qt::Key_F1, Qt::AltModifier | Qt::ShiftModifier);
        QVERIFY(dock()->isVisible());
    }
    /// By the list, with the keyboard.
    void choose(int row) {
        openList();
        panel()->list()->setCurrentRow(row);
        QTest::keyClick(panel()->list(), Qt::Key_Return);
        settle();
    }
    void step(Qt::Key which) {
        key(which, Qt::AltModifier);
        settle();
    }
    QWidget* question(int index) { return panel()->findChild<QWidget*>(QStringLiteral("question%1").arg(index)); }
    QString verdict(int index) {
        QCoreApplication::processEvents();
        settle();
        auto* label = question(index)->findChild<QLabel*>(QStringLiteral("verdict"));
        return label->isHidden() ? QString() : label->text();
    }
};

void TestLessonPanel::theListOpensALesson() {
    open(file("resnet18_slim.onnx"));
    QVERIFY(!dock()->isVisible());
    openList();
    QCOMPARE(panel()->list()->count(), 6);
    QCOMPARE(panel()->list()->item(0)->text(), QStringLiteral("How a convolution sees"));
    QCOMPARE(panel()->list()->item(5)->text(), QStringLiteral("Hunting a NaN"));
    QVERIFY(panel()->list()->hasFocus());
    QTest::keyClick(panel()->list(), Qt::Key_Down);
    QTest::keyClick(panel()->list(), Qt::Key_Return);
    settle();
    QCOMPARE(panel()->titleText(), QStringLiteral("Why residual connections"));
    QCOMPARE(panel()->progressText(), QStringLiteral("1 of 4"));
    QVERIFY2(dock()->height() > 250 && dock()->width() > 330, qPrintable(QString::number(dock()->height())));
}

void TestLessonPanel::stepsGoByKeysWithTheGraph() {
    open(file("resnet18_slim.onnx"));
    choose(0);
    QVERIFY(context().runs().recording() != nullptr);
    QCOMPARE(context().navigation().selection().node, lessons().lesson().node("input"));
    step(Qt::Key_PageDown);
    QCOMPARE(panel()->progressText(), QStringLiteral("2 of 6"));
    QCOMPARE(context().navigation().selection().node, lessons().lesson().node("weight"));
    step(Qt::Key_PageDown);
    QCOMPARE(context().navigation().selection().node, node("/conv1/Conv_output_0"));
    QVERIFY(canvas()->rect().contains(rectOf(canvas(), node("/conv1/Conv_output_0")).center().toPoint()));
    step(Qt::Key_PageDown);
    auto* viewer = static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QCOMPARE(viewer->viewer()->currentView(), QStringLiteral("channels"));
    step(Qt::Key_PageDown);
    step(Qt::Key_PageDown);
    QCOMPARE(panel()->progressText(), QStringLiteral("6 of 6"));
    QVERIFY(!m_window->actions().action(QStringLiteral("lesson.next"))->isEnabled());
    step(Qt::Key_PageUp);
    QCOMPARE(panel()->progressText(), QStringLiteral("5 of 6"));
}

void TestLessonPanel::numbersComeWithTheRun() {
    open(file("resnet18_slim.onnx"));
    choose(0);
    QTRY_VERIFY2(
        !panel()->stepText().contains(u'…') && panel()->stepText().contains(QStringLiteral("float32[1,3,64,64]")),
        qPrintable(panel()->stepText()));
    step(Qt::Key_PageDown);
    step(Qt::Key_PageDown);
    QTRY_VERIFY2(panel()->stepText().contains(QStringLiteral("/conv1/Conv_output_0[0, ")),
                 qPrintable(panel()->stepText()));
    const QString before = panel()->stepText();
    // Another input, another number.
    context().inputs().setSpec(context().inputs().all().front().name, {QStringLiteral("#rand(5,9)"), {}});
    run();
    QTRY_VERIFY(panel()->stepText() != before);
    QVERIFY(panel()->stepText().contains(QStringLiteral("/conv1/Conv_output_0[0, ")));
}

void TestLessonPanel::answersAreChecked() {
    open(file("resnet18_slim.onnx"));
    choose(0);
    step(Qt::Key_PageDown);
    auto* number = question(0)->findChild<QLineEdit*>();
    number->setFocus();
    QTest::keyClicks(number, QStringLiteral("12"));
    QTest::keyClick(number, Qt::Key_Return);
    QTRY_COMPARE(verdict(0), QStringLiteral("Not yet."));
    number->selectAll();
    QTest::keyClicks(number, QStringLiteral("147"));
    QTest::mouseClick(question(0)->findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY2(verdict(0).startsWith(QStringLiteral("Right: 147.")), qPrintable(verdict(0)));
    number->selectAll();
    QTest::keyClicks(number, QStringLiteral("many"));
    QTest::keyClick(number, Qt::Key_Return);
    QTRY_COMPARE(verdict(0), QStringLiteral("Not checked: 'many' is no number."));
    step(Qt::Key_PageDown);
    step(Qt::Key_PageDown);
    const auto choices = question(0)->findChildren<QRadioButton*>();
    QCOMPARE(choices.size(), 3);
    choices[0]->click();
    QTRY_COMPARE(verdict(0), QStringLiteral("Not yet."));
    choices[1]->click();
    QTRY_VERIFY(verdict(0).startsWith(QStringLiteral("Right.")));
    step(Qt::Key_PageDown);
    step(Qt::Key_PageDown);
    // A click on the graph, then the button.
    auto* check = question(0)->findChild<QPushButton*>();
    const graph::NodeId relu = node("/relu/Relu_output_0");
    context().navigation().reveal(context().navigation().selectionOf(relu));
    settle();
    click(canvas(), rectOf(canvas(), relu).center());
    QCOMPARE(context().navigation().selection().node, relu);
    QTest::mouseClick(check, Qt::LeftButton);
    QTRY_COMPARE(verdict(0), QStringLiteral("Not yet."));
    const graph::NodeId next = lessons().lesson().node("next");
    context().navigation().reveal(context().navigation().selectionOf(next));
    settle();
    click(canvas(), rectOf(canvas(), next).center());
    QTest::mouseClick(check, Qt::LeftButton);
    QTRY_VERIFY(verdict(0).startsWith(QStringLiteral("Right.")));
}

void TestLessonPanel::aStepsEditsEndWithIt() {
    open(file("resnet18_slim.onnx"));
    choose(1);
    for (int i = 0; i < 3; ++i) step(Qt::Key_PageDown);
    QCOMPARE(context().edits().all().size(), std::size_t{1});
    QTRY_VERIFY2(panel()->stepText().contains(QStringLiteral("by at most 0:")), qPrintable(panel()->stepText()));
    // The user's own stay.
    session::Edit own;
    own.kind = session::Edit::Kind::Scale;
    own.number = 2;
    context().edits().add(node("/conv1/Conv_output_0"), own);
    QTRY_COMPARE(context().edits().all().size(), std::size_t{2});
    settle();
    step(Qt::Key_PageUp);
    QTRY_COMPARE(context().edits().all().size(), std::size_t{1});
    QVERIFY(context().edits().all().front().edit.kind == session::Edit::Kind::Scale);
    context().edits().remove(0);
    QTRY_VERIFY(context().edits().all().empty());
    settle();
    step(Qt::Key_PageDown);
    QTRY_COMPARE(context().edits().all().size(), std::size_t{1});
    QTRY_VERIFY(panel()->stepText().contains(QStringLiteral("by at most 0:")));
    key(Qt::Key_F4, Qt::AltModifier | Qt::ShiftModifier);
    QTRY_VERIFY(context().edits().all().empty());
    QVERIFY(!lessons().isOpen());
    // The run that showed them goes, too, and with it the timeline.
    QTRY_VERIFY(!context().debugger().isShown());
    settle();
    QVERIFY(!m_window->docks().dock(QStringLiteral("timeline"))->isVisible());
    QVERIFY(context().runs().recording() != nullptr);
}

/// It would name the node that is to be found.
void TestLessonPanel::theListOfEditsIsNotShownForAStep() {
    open(file("resnet18_slim.onnx"));
    choose(5);
    step(Qt::Key_PageDown);
    step(Qt::Key_PageDown);
    QTRY_COMPARE(context().edits().all().size(), std::size_t{1});
    settle();
    const auto* const list = m_window->docks().panel(QStringLiteral("edits"));
    QVERIFY(!list || !list->isVisible() || list->visibleRegion().isEmpty());
}

void TestLessonPanel::aRefusedEditIsToldWithItsLine() {
    QFile text(m_settings.filePath(QStringLiteral("own.md")));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(
        "# Own\n\n```sonde\nbind a: first kind relu\n```\n\n## One\n\nText.\n\n```sonde\nrun\n"
        "set $a[0,0,0,0] = foo\n```\n");
    text.close();
    open(file("resnet18_slim.onnx"));
    QSignalSpy failed(&lessons(), &context::Lessons::failed);
    QVERIFY(panel()->perform(text.fileName()));
    QTRY_COMPARE(failed.size(), 1);
    const QString where = QString::fromStdString(failed.front().front().value<base::Error>().where);
    QVERIFY2(where.startsWith(text.fileName() + QStringLiteral(", line 13")), qPrintable(where));
}

void TestLessonPanel::aModelThatLacksSomethingIsTold() {
    open(file("lstm_classifier.onnx"));
    choose(0);
    QVERIFY2(panel()->stepText().contains(
                 QStringLiteral("the lesson needs a convolution in floating point, which the model has not")),
             qPrintable(panel()->stepText()));
    QVERIFY(panel()->progressText().isEmpty());
    // Another model: the lesson begins.
    open(file("resnet18_slim.onnx"));
    QTRY_COMPARE(panel()->progressText(), QStringLiteral("1 of 6"));
}

void TestLessonPanel::withoutALessonThereIsNoPanel() {
    open(file("resnet18_slim.onnx"));
    QVERIFY(!dock()->isVisible());
    for (const char* id : {"lesson.next", "lesson.previous", "lesson.close"})
        QVERIFY(!m_window->actions().action(QLatin1String(id))->isEnabled());
    choose(0);
    QVERIFY(dock()->isVisible());
    key(Qt::Key_F4, Qt::AltModifier | Qt::ShiftModifier);
    QTRY_VERIFY(!dock()->isVisible());
    // Without the list.
    QVERIFY(panel()->perform(QStringLiteral("convolution")));
    settle();
    QVERIFY(dock()->isVisible());
    QCOMPARE(panel()->progressText(), QStringLiteral("1 of 6"));
    lessons().close();
    QTRY_VERIFY(!dock()->isVisible());
}

void TestLessonPanel::aFileThatIsNoLessonIsTold() {
    open(file("resnet18_slim.onnx"));
    QSignalSpy failed(&lessons(), &context::Lessons::failed);
    lessons().open(file("resnet18_slim.npz"));
    QCOMPARE(failed.size(), 1);
    QVERIFY(!lessons().isOpen());
    QVERIFY(!panel()->perform(QStringLiteral("nothing")));
    QVERIFY(panel()->perform(QStringLiteral("residual")));
    // The panel says what the model lacks; a script must not go on.
    QVERIFY(!panel()->perform(QStringLiteral("attention")));
    QVERIFY(lessons().isOpen());
}

/// Without a run before: what its first step runs tells.
void TestLessonPanel::theBranchThatIsTakenIsMeant() {
    const QString path = m_settings.filePath(QStringLiteral("branches.onnx"));
    QVERIFY(test::writeConvolutionsInBranches(path));
    open(path);
    choose(0);
    QTRY_VERIFY(context().runs().recording() != nullptr);
    settle();
    QCOMPARE(lessons().lesson().node("conv"), node("taken"));
    QCOMPARE(panel()->progressText().section(u' ', 0, 0), QStringLiteral("1"));
    step(Qt::Key_PageDown);
    step(Qt::Key_PageDown);
    QCOMPARE(context().navigation().selection().node, node("taken"));
    QTRY_VERIFY2(panel()->stepText().contains(QStringLiteral("taken[0, ")), qPrintable(panel()->stepText()));
}

/// The words of lessons are those of the views.
void TestLessonPanel::eachViewCanBeShown() {
    QStringList words, views;
    for (const std::string_view word : lessons::viewWords()) words << QString::fromStdString(std::string(word));
    for (const panels::TensorViewInfo& view : panels::tensorViews()) views << panels::viewWord(view);
    QCOMPARE(words, views);
    open(file("gpt_mini.onnx"));
    choose(3);
    auto* viewer = static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QTRY_COMPARE(viewer->viewer()->currentView(), QStringLiteral("heat_map"));
}

/// Reads 2 rows of 3 numbers into 5 columns: the run fails, and with a good input it does not.
void TestLessonPanel::aRunThatFailedIsSaid() {
    namespace onnx = test::onnxfile;
    onnx::Graph graph{{{"Relu", {"x"}, {"r"}}, {"Reshape", {"r", "shape"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {-1, 3}), onnx::valueInfo("shape", 7, {2})},
                      {onnx::valueInfo("y", 1, {-1, -1})}};
    const QString path = m_settings.filePath(QStringLiteral("fails.onnx"));
    QVERIFY(onnx::write(path, onnx::model(graph)));
    QFile text(m_settings.filePath(QStringLiteral("own.md")));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write(
        "# Own\n\n```sonde\nbind r: first kind relu\n```\n\n## One\n\nThe largest is {{max($r)}}.\n\n```sonde\nrun\n```\n");
    text.close();
    open(path);
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("#rand(0,1,2,3)"), {}});
    context().inputs().setSpec(QStringLiteral("shape"), {QStringLiteral("[5,5]"), {}});
    QVERIFY(panel()->perform(text.fileName()));
    settle();
    QTRY_VERIFY2(panel()->stepText().startsWith(QStringLiteral("The run failed: ")), qPrintable(panel()->stepText()));
    QVERIFY2(panel()->stepText().contains(QStringLiteral("The largest is")), qPrintable(panel()->stepText()));
    context().inputs().setSpec(QStringLiteral("shape"), {QStringLiteral("[3,2]"), {}});
    run();
    QTRY_VERIFY2(panel()->stepText().startsWith(QStringLiteral("The largest is 0.")), qPrintable(panel()->stepText()));
}

/// The text scrolls; a value that is a strip shows nothing.
void TestLessonPanel::theValueHasRoomInSmallWindows() {
    closeWindow();
    openWindow({800, 600});
    open(file("resnet18_slim.onnx"));
    choose(0);
    const auto* const value = m_window->docks().dock(QStringLiteral("tensor_viewer"));
    for (int i = 0; i < 3; ++i) {
        step(Qt::Key_PageDown);
        const auto isHalf = [&] { return value->isVisible() && value->height() >= dock()->height(); };
        QTRY_VERIFY2(isHalf(), qPrintable(QStringLiteral("%1, %2").arg(dock()->height()).arg(value->height())));
        QVERIFY(dock()->height() > 150);
    }
    // A larger window gives the lesson more.
    const int small = dock()->height();
    m_window->resize(1280, 1000);
    settle();
    QTRY_VERIFY2(dock()->height() > small && value->height() >= 300,
                 qPrintable(QStringLiteral("%1, %2").arg(dock()->height()).arg(value->height())));
}

/// One above the other the text had 150 pixels. What was at the sides comes back.
void TestLessonPanel::textAndValueHaveAColumnEachInALowWindow() {
    closeWindow();
    openWindow({800, 600});
    open(file("resnet18_slim.onnx"));
    const auto* const modules = m_window->docks().dock(QStringLiteral("modules"));
    QVERIFY(modules->isVisible());
    choose(0);
    step(Qt::Key_PageDown);
    const auto* const value = m_window->docks().dock(QStringLiteral("tensor_viewer"));
    QTRY_VERIFY2(dock()->height() > 400 && value->height() > 400,
                 qPrintable(QStringLiteral("%1, %2").arg(dock()->height()).arg(value->height())));
    QVERIFY2(dock()->width() >= 240, qPrintable(QString::number(dock()->width())));
    QVERIFY(!modules->isVisible());
    QVERIFY(canvas()->width() > 250 && canvas()->height() > 400);
    // What the user asks for comes.
    m_window->docks().show(QStringLiteral("modules"));
    settle();
    QVERIFY(modules->isVisible() && dock()->isVisible());
    key(Qt::Key_F4, Qt::AltModifier | Qt::ShiftModifier);
    settle();
    QTRY_VERIFY(!dock()->isVisible() && modules->isVisible());
    for (const char* panel : {"summary", "inputs", "details"})
        QVERIFY2(!m_window->docks().dock(QLatin1String(panel))->isHidden(), panel);
    QVERIFY(modules->width() < 200);
}

/// y = conv(x [1,1,288]) to two channels: "show channels" has no pictures to show.
void TestLessonPanel::soundIsNoStripe() {
    namespace onnx = test::onnxfile;
    onnx::Graph graph{{{"Conv", {"x", "w"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {1, 1, 288})},
                      {onnx::valueInfo("y", 1, {1, 2, 280})},
                      {onnx::rawTensor("w", 1, {2, 1, 9}, test::floatBytes(std::vector<float>(18, 0.5F)))}};
    const QString path = m_settings.filePath(QStringLiteral("sound.onnx"));
    QVERIFY(onnx::write(path, onnx::model(graph)));
    open(path);
    choose(0);
    auto* viewer = static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QTRY_COMPARE(viewer->viewer()->currentView(), QStringLiteral("line"));
    step(Qt::Key_PageDown);
    QTRY_COMPARE(viewer->viewer()->shown().plane.shape().text(), std::string("[2,9]"));
}

QTEST_MAIN(TestLessonPanel)

}  // namespace tst_lesson_panel

#include "tst_lesson_panel.moc"
