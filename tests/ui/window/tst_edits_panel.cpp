// What if, in the real window: values typed into the table and the panel by keys and clicks, what follows from them,
// and the way back. Expected values are worked out by hand from the operators.

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>

#include <algorithm>

#include "core/io/npz/npy.h"
#include "tests/support/help_page.h"
#include "tests/support/linear_network.h"
#include "tests/support/window_fixture.h"
#include "ui/panels/edits/edit_form.h"
#include "ui/panels/edits/edits_panel.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/labels.h"
#include "ui/window/script.h"

namespace tst_edits_panel {

using namespace sonde;
using models::EditTableModel;
using Numbers = std::vector<double>;

class TestEditsPanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        m_folder = std::make_unique<QTemporaryDir>();
        test::writeLinearNetwork(path("linear.onnx").toStdString());
        openWindow({1400, 900});
        openLinear(path("linear.onnx"));
    }
    void cleanup() { closeWindow(); }

    void aCellIsTyped();
    void theFirstEditShowsTheList();
    void f2EditsACell();
    void anOpenEditorGoesWithItsValue();
    void whatDoesNotFitIsSaidThere();
    void theFormDoesEachOperation();
    void returnInTheOperationApplies();
    void theFormShowsErrorsAtTheirField();
    void theListSwitchesAndRemoves();
    void theCanvasMarksThem();
    void baselineAndDifferenceAreShown();
    void watchedValuesTellTheirChange();
    void weightsAreEdited();
    void runsAreWithAndWithoutThem();
    void aSessionFileBringsThemBack();
    void theEditedModelIsSaved();
    void savingTakesTheBannerOfAFailureAway();
    void scriptsEdit();
    void theHelpPageIsTrue();

  private:
    QString path(const char* name) { return m_folder->filePath(QLatin1String(name)); }
    void openLinear(const QString& model) {
        open(model);
        if (QTest::currentTestFailed()) return;
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[1,-2],[3,4]]"), {}});
        settle();
    }
    panels::EditsPanel* panel() {
        return static_cast<panels::EditsPanel*>(m_window->docks().panel(QStringLiteral("edits")));
    }
    panels::TensorViewerPanel* tensorPanel() {
        return static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    void select(const char* name) {
        context().navigation().navigateTo(named(name));
        settle();
    }
    /// What the tensor panel shows of a node.
    Numbers shown(const char* name) {
        select(name);
        const tensor::Tensor& tensor = tensorPanel()->viewer()->tensor();
        Numbers numbers;
        for (std::int64_t i = 0; tensor.defined() && i < tensor.numel(); ++i) numbers.push_back(tensor.toDouble(i));
        return numbers;
    }
    QTableView* table() {
        tensorPanel()->viewer()->setCurrentView(QStringLiteral("table"));
        for (auto* view : tensorPanel()->viewer()->findChildren<QTableView*>())
            if (view->isVisible()) return view;
        return nullptr;
    }
    /// Types into the editor that a cell has opened.
    void typeIntoCell(const QString& text) {
        auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
        QVERIFY(editor);
        editor->selectAll();
        QTest::keyClicks(editor, text);
        QTest::keyClick(editor, Qt::Key_Return);
        QCoreApplication::processEvents();  // the view takes it later
        settle();
    }
    void doubleClick(int row, int column) {
        QTableView* const view = table();
        QVERIFY(view);
        const QPoint at = view->visualRect(view->model()->index(row, column)).center();
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, at);
        QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, at);
    }
    void editCell(const char* name, int row, int column, const QString& text) {
        select(name);
        doubleClick(row, column);
        if (!QTest::currentTestFailed()) typeIntoCell(text);
    }
    template <typename Widget>
    Widget* part(const char* name) {
        return panel()->findChild<Widget*>(QLatin1String(name));
    }
    void fill(const char* field, const QString& text) {
        auto* line = part<QLineEdit>(field);
        line->setFocus();
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Delete);
        QTest::keyClicks(line, text);
    }
    void typeForm(const QString& node, const QString& slice, const char* operation, const QString& argument) {
        key(Qt::Key_5, Qt::AltModifier | Qt::ShiftModifier);  // shows the panel
        fill("editNode", node);
        fill("editSlice", slice);
        QComboBox* const box = panel()->form()->operationBox();
        box->setCurrentIndex(box->findData(QLatin1String(operation)));
        if (!part<QLineEdit>("editArgument")->isHidden()) fill("editArgument", argument);
        QTest::mouseClick(part<QPushButton>("editApply"), Qt::LeftButton);
        settle();
    }
    QString cell(int row, int column) { return panel()->model().index(row, column).data().toString(); }
    QString play(const QString& text) {
        window::Script script(*m_window, {}, text, m_folder->path());
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        if (finished.isEmpty() && !finished.wait(60000)) return QStringLiteral("not finished");
        return script.error() ? QString::fromStdString(script.error()->what) : QString();
    }
    void undo() { key(Qt::Key_Z, Qt::ControlModifier); }
    canvas::ItemFlags flagsOf(const char* name) {
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
        return item ? canvas()->marks().of(item) : canvas::ItemFlags{0};
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

/// Of a plain run. What depends on it is other, the rest is not, and undo gives the picture that there was.
void TestEditsPanel::aCellIsTyped() {
    run();
    QVERIFY(!panel()->hasContent());
    QCOMPARE(shown("y"), (Numbers{1, -2, 3, 4}));
    editCell("y", 0, 1, QStringLiteral("5"));
    QCOMPARE(tensorPanel()->viewer()->pointedText(), QStringLiteral("[0, 1] = 5"));
    QCOMPARE(shown("y"), (Numbers{1, 5, 3, 4}));
    QCOMPARE(shown("z"), (Numbers{1, 5, 3, 4}));
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
    QCOMPARE(shown("t"), (Numbers{-1, 2, -3, -4}));
    QVERIFY(panel()->hasContent());
    QTRY_VERIFY(panel()->isVisible());
    QCOMPARE(cell(0, EditTableModel::Value), QStringLiteral("y[0, 1]"));
    QCOMPARE(cell(0, EditTableModel::Change), QStringLiteral("= 5"));
    QVERIFY2(context().debugger().placeText().contains(QStringLiteral("counterfactual, 1 edit")),
             qPrintable(context().debugger().placeText()));
    undo();
    QCOMPARE(panel()->model().rowCount(), 0);
    QCOMPARE(shown("s"), (Numbers{11, 20, 13, 24}));
    QCOMPARE(tensorPanel()->viewer()->pointedText(), QStringLiteral("[0, 1] = 20"));
    QVERIFY(!context().debugger().placeText().contains(QStringLiteral("counterfactual")));
    key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
}

/// Not the timeline of the run that it begins. Later ones leave in front what the user has put there.
void TestEditsPanel::theFirstEditShowsTheList() {
    const auto isInFront = [this](const char* name) {
        const QWidget* const seen = m_window->docks().panel(QLatin1String(name));
        return seen->isVisible() && !seen->visibleRegion().isEmpty();
    };
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    QTRY_VERIFY(m_window->docks().panel(QStringLiteral("timeline"))->window()->isVisible() && isInFront("edits"));
    settle();
    QVERIFY(!m_window->docks().dock(QStringLiteral("timeline"))->isHidden());
    QVERIFY(isInFront("edits"));
    m_window->docks().dock(QStringLiteral("timeline"))->raise();
    QTRY_VERIFY(isInFront("timeline"));
    editCell("y", 0, 0, QStringLiteral("6"));
    QCOMPARE(panel()->model().rowCount(), 2);
    settle();
    QVERIFY(isInFront("timeline"));
}

/// In the table, although F2 goes to the next bookmark elsewhere. An expression may be typed, too.
void TestEditsPanel::f2EditsACell() {
    run();
    context().navigation().toggleBookmark(context().navigation().selectionOf(QString()));
    select("t");
    context().navigation().toggleBookmark(context().navigation().selection());
    select("y");
    QTableView* const view = table();
    QVERIFY(view);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(view->model()->index(1, 0)).center());
    QTest::keyClick(view, Qt::Key_F2);
    typeIntoCell(QStringLiteral("y[0, 0] * 7"));
    QCOMPARE(context().navigation().selection().node, named("y"));
    QCOMPARE(shown("s"), (Numbers{11, 20, 17, 24}));
}

/// What is typed for one value does not become another one's.
void TestEditsPanel::anOpenEditorGoesWithItsValue() {
    run();
    select("y");
    doubleClick(0, 0);
    QPointer<QWidget> editor = QApplication::focusWidget();
    QVERIFY(qobject_cast<QLineEdit*>(editor));
    QTest::keyClicks(editor, QStringLiteral("7"));
    select("z");
    QTRY_VERIFY(!editor);
    // Who leaves a cell means what is in it.
    for (const auto& entry : context().edits().all())
        QCOMPARE(context::Edits::titleOf(entry), QStringLiteral("y[0, 0]"));
}

void TestEditsPanel::whatDoesNotFitIsSaidThere() {
    run();
    editCell("y", 0, 0, QStringLiteral("nothing + 1"));
    QVERIFY2(tensorPanel()->errorText().contains(QStringLiteral("nothing")), qPrintable(tensorPanel()->errorText()));
    QVERIFY(context().edits().all().empty());
    QCOMPARE(shown("y"), (Numbers{1, -2, 3, 4}));
    select("z");
    QVERIFY(tensorPanel()->errorText().isEmpty());  // of another selection
    editCell("y", 0, 0, QStringLiteral("s[0, 0]"));
    QVERIFY2(tensorPanel()->errorText().contains(QStringLiteral("later")), qPrintable(tensorPanel()->errorText()));
}

void TestEditsPanel::theFormDoesEachOperation() {
    run();
    typeForm(QStringLiteral("y"), QStringLiteral("0"), "zero", {});
    QCOMPARE(shown("y"), (Numbers{0, 0, 3, 4}));
    typeForm(QStringLiteral("y"), QStringLiteral("1, :"), "scale", QStringLiteral("0.5"));
    QCOMPARE(shown("y"), (Numbers{0, 0, 1.5, 2}));
    typeForm(QStringLiteral("y"), {}, "swap", QStringLiteral("1 0 1"));
    QCOMPARE(shown("y"), (Numbers{0, 0, 2, 1.5}));
    typeForm(QStringLiteral("y"), {}, "remove", QStringLiteral("1 0"));
    QCOMPARE(shown("y"), (Numbers{0, 0, 0, 1.5}));
    const auto row = tensor::Tensor::of<float>({2}, {6, 7});
    QVERIFY(io::writeNpyFile(path("row.npy").toStdString(), row));
    typeForm(QStringLiteral("y"), QStringLiteral("0"), "load", path("row.npy"));
    QCOMPARE(shown("s"), (Numbers{16, 27, 10, 21.5}));
    typeForm(QStringLiteral("x"), QStringLiteral("0, 0"), "=", QStringLiteral("9"));
    QCOMPARE(shown("t"), (Numbers{-9, 2, -3, -4}));
    typeForm(QStringLiteral("t"), {}, "noise", QStringLiteral("0.5 7"));
    const Numbers noisy = shown("t");
    QVERIFY(noisy != (Numbers{-9, 2, -3, -4}));
    QCOMPARE(panel()->model().rowCount(), 7);
    QCOMPARE(cell(5, EditTableModel::Kind), QStringLiteral("input"));
    for (int i = 0; i < 7; ++i) undo();
    QCOMPARE(shown("s"), (Numbers{11, 20, 13, 24}));
    QCOMPARE(shown("t"), (Numbers{-1, 2, -3, -4}));
    for (int i = 0; i < 7; ++i) key(Qt::Key_Y, Qt::ControlModifier);
    QCOMPARE(shown("t"), noisy);  // the seed is the edit's
}

/// Some operations have no field behind it.
void TestEditsPanel::returnInTheOperationApplies() {
    run();
    select("y");
    key(Qt::Key_I, Qt::ControlModifier | Qt::ShiftModifier);
    QComboBox* const box = panel()->form()->operationBox();
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(box));
    box->setCurrentIndex(box->findData(QStringLiteral("zero")));
    QTest::keyClick(box, Qt::Key_Return);
    settle();
    QCOMPARE(panel()->model().rowCount(), 1);
    QCOMPARE(shown("y"), (Numbers{0, 0, 0, 0}));
}

void TestEditsPanel::theFormShowsErrorsAtTheirField() {
    run();
    typeForm(QStringLiteral("nobody"), {}, "zero", {});
    QVERIFY2(panel()->form()->errorText().contains(QStringLiteral("nobody")), qPrintable(panel()->form()->errorText()));
    typeForm(QStringLiteral("y"), QStringLiteral("0, 7"), "zero", {});
    QVERIFY2(panel()->form()->errorText().contains(QStringLiteral("slice, column")),
             qPrintable(panel()->form()->errorText()));
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(part<QLineEdit>("editSlice")));
    typeForm(QStringLiteral("y"), {}, "=", QStringLiteral("1 + oops"));
    QVERIFY2(panel()->form()->errorText().contains(QStringLiteral("change, column 5")),
             qPrintable(panel()->form()->errorText()));
    auto* argument = part<QLineEdit>("editArgument");
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(argument));
    QCOMPARE(argument->cursorPosition(), 4);
    typeForm(QStringLiteral("y"), {}, "scale", QStringLiteral("much"));
    QVERIFY2(panel()->form()->errorText().contains(QStringLiteral("change, column 1")),
             qPrintable(panel()->form()->errorText()));
    QVERIFY(context().edits().all().empty());
    typeForm(QStringLiteral("y"), {}, "scale", QStringLiteral("2"));
    QVERIFY(panel()->form()->errorText().isEmpty());
    QCOMPARE(shown("y"), (Numbers{2, -4, 6, 8}));
    // It is gone with what is done next, in the form or not.
    typeForm(QStringLiteral("y"), QStringLiteral("0, 7"), "zero", {});
    QVERIFY(!panel()->form()->errorText().isEmpty());
    context().edits().undo();
    QTRY_VERIFY(panel()->form()->errorText().isEmpty());
    typeForm(QStringLiteral("nobody"), {}, "zero", {});
    QVERIFY(!panel()->form()->errorText().isEmpty());
    editCell("z", 1, 0, QStringLiteral("0"));
    QTRY_VERIFY(panel()->form()->errorText().isEmpty());
    editCell("z", 1, 0, QStringLiteral("nothing + 1"));
    QVERIFY(!tensorPanel()->errorText().isEmpty());
    context().edits().undo();
    QTRY_VERIFY(tensorPanel()->errorText().isEmpty());
}

void TestEditsPanel::theListSwitchesAndRemoves() {
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    editCell("z", 1, 0, QStringLiteral("0"));
    QCOMPARE(shown("s"), (Numbers{11, 25, 10, 24}));
    QTRY_VERIFY(panel()->isVisible());
    QTableView* const view = panel()->view();
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(panel()->model().index(0, 1)).center());
    settle();
    QCOMPARE(context().navigation().selection().node, named("y"));  // a row leads to its node
    QTest::keyClick(view, Qt::Key_Space);
    settle();
    QCOMPARE(shown("s"), (Numbers{11, 20, 10, 24}));
    view->setFocus();
    view->selectRow(0);
    QTest::keyClick(view, Qt::Key_Space);
    settle();
    QCOMPARE(shown("s"), (Numbers{11, 25, 10, 24}));
    view->setFocus();
    view->selectRow(1);
    QTest::keyClick(view, Qt::Key_Delete);
    settle();
    QCOMPARE(panel()->model().rowCount(), 1);
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
    undo();
    QCOMPARE(shown("s"), (Numbers{11, 25, 10, 24}));
}

void TestEditsPanel::theCanvasMarksThem() {
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    QVERIFY(flagsOf("y") & canvas::kEdited);
    QVERIFY(flagsOf("z") & canvas::kWhatIf);
    QVERIFY(!(flagsOf("z") & canvas::kEdited));
    QVERIFY(flagsOf("s") & canvas::kWhatIf);
    QVERIFY(!(flagsOf("t") & (canvas::kWhatIf | canvas::kEdited)));
    // A plain run has none of it, but the edit is there.
    key(Qt::Key_F5, Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY(!(flagsOf("s") & canvas::kWhatIf));
    QVERIFY(flagsOf("y") & canvas::kEdited);
    undo();
    QVERIFY(!(flagsOf("y") & canvas::kEdited));
}

void TestEditsPanel::baselineAndDifferenceAreShown() {
    run();
    QVERIFY(tensorPanel()->shownBox()->isHidden());
    editCell("y", 0, 1, QStringLiteral("5"));
    select("s");
    QVERIFY(tensorPanel()->shownBox()->isVisible());
    const auto title = [this] { return tensorPanel()->findChild<widgets::ElidedLabel*>()->text(); };
    const auto* const change = tensorPanel()->findChild<widgets::ElidedLabel*>(QStringLiteral("changeText"));
    QVERIFY(change && change->isVisible());
    QCOMPARE(change->text(), QStringLiteral("Changed by up to 5 in 1 of 4 elements"));
    QVERIFY(!change->isElided());
    key(Qt::Key_D, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(shown("s"), (Numbers{0, 5, 0, 0}));
    QCOMPARE(shown("z"), (Numbers{0, 5, 0, 0}));
    QCOMPARE(shown("y"), (Numbers{0, 7, 0, 0}));
    QCOMPARE(shown("t"), (Numbers{0, 0, 0, 0}));
    QVERIFY(title().startsWith(QStringLiteral("Difference")));
    QVERIFY(!tensorPanel()->viewer()->isEditable());
    key(Qt::Key_B, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(shown("s"), (Numbers{11, 20, 13, 24}));
    QVERIFY(context().debugger().placeText().contains(QStringLiteral("without the edits")));
    // By the mouse.
    QComboBox* const box = tensorPanel()->shownBox();
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Up);
    settle();
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
    key(Qt::Key_D, Qt::AltModifier | Qt::ShiftModifier);
    undo();
    QCOMPARE(shown("s"), (Numbers{11, 20, 13, 24}));
    QVERIFY(!tensorPanel()->shownBox()->isVisible());
}

void TestEditsPanel::watchedValuesTellTheirChange() {
    context().points().setWatched(named("s"), true);
    context().points().setWatched(named("t"), true);
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    auto* watch = m_window->docks().panel(QStringLiteral("watches"));
    auto* view = watch->findChild<QTableView*>(QStringLiteral("watchTable"));
    QVERIFY(view);
    int column = 0;
    while (column < view->model()->columnCount() &&
           view->model()->headerData(column, Qt::Horizontal).toString() != QStringLiteral("Change"))
        ++column;
    QVERIFY(!view->isColumnHidden(column));
    QStringList changes;
    for (int row = 0; row < view->model()->rowCount(); ++row)
        changes << view->model()->index(row, column).data().toString();
    changes.sort();
    QCOMPARE(changes, (QStringList{QString(), QStringLiteral("\u0394 5 (1 of 4)")}));
    QTRY_VERIFY(canvas()->marks().preview(named("s")));
    QTRY_VERIFY2(canvas()->marks().preview(named("s"))->range.startsWith(QStringLiteral("\u0394 5")),
                 qPrintable(canvas()->marks().preview(named("s"))->range));
    QVERIFY(!canvas()->marks().preview(named("t"))->range.contains(QChar(0x394)));
    undo();
    QVERIFY(view->isColumnHidden(column));
}

/// [1,-2]·[[2,3],[0,1]] = [2, 1]; [3,4]·… = [6, 13]
void TestEditsPanel::weightsAreEdited() {
    run();
    typeForm(QStringLiteral("w"), QStringLiteral("0"), "=", QStringLiteral("[2, 3]"));
    QCOMPARE(cell(0, EditTableModel::Kind), QStringLiteral("weight"));
    QCOMPARE(shown("y"), (Numbers{2, 1, 6, 13}));
    QVERIFY(flagsOf("y") & canvas::kEdited);  // the weight is not drawn
    QCOMPARE(shown("w"), (Numbers{2, 3, 0, 1}));
    key(Qt::Key_B, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(shown("w"), (Numbers{1, 0, 0, 1}));
    key(Qt::Key_V, Qt::AltModifier | Qt::ShiftModifier);
    editCell("w", 1, 0, QStringLiteral("1"));
    QCOMPARE(shown("w"), (Numbers{2, 3, 1, 1}));
    QCOMPARE(shown("y"), (Numbers{0, 1, 10, 13}));
}

void TestEditsPanel::runsAreWithAndWithoutThem() {
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    key(Qt::Key_F5, Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(shown("s"), (Numbers{11, 20, 13, 24}));
    QVERIFY2(panel()->stateText().contains(QStringLiteral("without the edits")), qPrintable(panel()->stateText()));
    key(Qt::Key_F5);
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
    key(Qt::Key_F5, Qt::AltModifier | Qt::ShiftModifier);
    QTest::mouseClick(part<QToolButton>("run.with_edits"), Qt::LeftButton);
    settle();
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
}

void TestEditsPanel::aSessionFileBringsThemBack() {
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    context().edits().setEnabled(0, true);
    context().sessionFiles().saveAs(path("kept.sonde"));
    QTRY_VERIFY(QFile::exists(path("kept.sonde")));
    settle();
    closeWindow();
    openWindow({1400, 900});
    open(path("kept.sonde"));
    QCOMPARE(panel()->model().rowCount(), 1);
    QVERIFY(panel()->hasContent());
    QTRY_VERIFY(panel()->isVisible());
    QVERIFY(flagsOf("y") & canvas::kEdited);
    QVERIFY(panel()->stateText().contains(QStringLiteral("without the edits")));
    key(Qt::Key_F5);
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
    QVERIFY(context().debugger().placeText().contains(QStringLiteral("counterfactual, 1 edit")));
    // Another model has none of them.
    openLinear(file("mlp_functional.onnx"));
    QCOMPARE(panel()->model().rowCount(), 0);
    QVERIFY(!panel()->hasContent());
}

void TestEditsPanel::theEditedModelIsSaved() {
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    QTest::mouseClick(part<QToolButton>("file.save_edited"), Qt::LeftButton);
    auto* dialog = m_window->findChild<QFileDialog*>();
    QVERIFY(dialog);
    Q_EMIT dialog->fileSelected(path("edited.onnx"));
    dialog->close();
    settle();
    QTRY_VERIFY(QFile::exists(path("edited.onnx")));
    settle();
    openLinear(path("edited.onnx"));
    run();
    QVERIFY(!context().edits().isCounterfactual());
    QCOMPARE(shown("s"), (Numbers{11, 25, 13, 24}));
    QCOMPARE(shown("t"), (Numbers{-1, 2, -3, -4}));
}

/// Whatever is written next; an error of something else stays.
void TestEditsPanel::savingTakesTheBannerOfAFailureAway() {
    run();
    editCell("y", 0, 1, QStringLiteral("5"));
    const auto save = [this](const char* name) {
        QSignalSpy told(&context().messages(), &context::Messages::messageReported);
        context().edits().saveModel(path(name));
        QTRY_VERIFY(!told.isEmpty());
    };
    save("missing/edited.onnx");
    QTRY_VERIFY(m_window->banner()->isVisible());
    QCOMPARE(m_window->banner()->severity(), widgets::Banner::Severity::Error);
    save("edited.onnx");
    QTRY_VERIFY(!m_window->banner()->isVisible());
    context().messages().report(base::usageError("something else"));
    QTRY_VERIFY(m_window->banner()->isVisible());
    save("again.onnx");
    QTRY_VERIFY(QFile::exists(path("again.onnx")));
    QVERIFY(m_window->banner()->isVisible());
}

void TestEditsPanel::scriptsEdit() {
    QVERIFY(io::writeNpyFile(path("row.npy").toStdString(), tensor::Tensor::of<float>({2}, {6, 7})));
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nedit z[1] scale 2\nedit y[1] load row.npy\n")), QString());
    QCOMPARE(shown("s"), (Numbers{11, 25, 22, 34}));
    QCOMPARE(play(QStringLiteral("undo\nshow difference\n")), QString());
    QCOMPARE(shown("s"), (Numbers{0, 5, 3, 4}));
    QCOMPARE(play(QStringLiteral("redo\nshow value\n")), QString());
    QCOMPARE(shown("s"), (Numbers{11, 25, 22, 34}));
    QCOMPARE(play(QStringLiteral("baseline\n")), QString());
    QCOMPARE(shown("s"), (Numbers{11, 20, 13, 24}));
    QVERIFY(play(QStringLiteral("set y[9] = 5\n")).contains(QStringLiteral("9")));
    QVERIFY(play(QStringLiteral("set nobody = 5\n")).contains(QStringLiteral("nobody")));
}

/// The lines that the page shows are a script.
void TestEditsPanel::theHelpPageIsTrue() {
    const test::HelpPage page = test::readHelpPage(QStringLiteral("what-if.md"));
    QCOMPARE(page.snippets.size(), 1);
    open(QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan.onnx"));
    QCOMPARE(play(page.snippets.front()), QString());
    QCOMPARE(panel()->model().rowCount(), 2);
    const Numbers stem = shown("stem_out");
    QVERIFY(!stem.empty());
    QVERIFY(std::all_of(stem.begin(), stem.begin() + 4, [](double number) { return number == 0; }));
}

QTEST_MAIN(TestEditsPanel)

}  // namespace tst_edits_panel

#include "tst_edits_panel.moc"
