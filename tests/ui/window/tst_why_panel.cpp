// "Why this value" in the real window, by clicks and keys, on tiny networks that the test writes: terms, hops and
// shares are worked by hand.

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextDocument>
#include <QToolButton>
#include <QtTest>

#include <limits>

#include "core/io/npz/npy.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "tests/support/window_network.h"
#include "ui/context/why.h"
#include "ui/panels/problems/problems_panel.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/why/why_panel.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/widgets/number_text.h"

namespace tst_why_panel {

using namespace sonde;
using models::WhyTermModel;
namespace onnx = test::onnxfile;

class TestWhyPanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow({1400, 900});
    }
    void cleanup() { closeWindow(); }

    void aKeyShowsTheTerms();
    void aTermLeadsBackToTheInput();
    void theLargestTermsAreFollowed();
    void aClickInTheViewerAsksAgain();
    void theFieldIsDrawnOverTheInput();
    void hopsAreMarkedOnTheCanvas();
    void nanLeadsToItsOrigin();
    void anOperatorWithoutARuleListsItsInputs();
    void anEmptyTensorSaysSo();
    void withoutARunThereIsAButton();
    void aDebuggedRunIsLookedInto();
    void anotherRunGivesOtherNumbers();
    void closingForgetsAll();
    void theWeightOfATermIsGoneOnFrom();
    void anEditedElementSaysWhatItIsWithout();
    void longNamesKeepTheirEnds();
    void aLowPanelHasItsTextBesideTheTerms();
    void aWideWindowCanBecomeSmall();
    void smallPartsHaveDigits();
    void aLongFormulaLeavesRoomForTheTerms();

  private:
    static std::vector<float> counting(std::size_t count) {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
        return values;
    }
    void openModel(const std::string& bytes, const tensor::Tensor& x) {
        const QString model = m_folder.filePath(QStringLiteral("model%1.onnx").arg(++m_models));
        QVERIFY(onnx::write(model, bytes));
        open(model);
        give(x);
    }
    void give(const tensor::Tensor& x) {
        const QString file = m_folder.filePath(QStringLiteral("x%1.npy").arg(++m_models));
        QVERIFY(io::writeNpyFile(file.toStdString(), x));
        context().inputs().setSpec(QStringLiteral("x"), {file, {}});
        settle();
    }
    void openWindows() { openModel(test::windowNetwork(), tensor::Tensor::of<float>({1, 1, 6, 6}, counting(36))); }
    void select(const char* name) {
        context().navigation().navigateTo(named(name));
        settle();
    }
    void ask() { key(Qt::Key_Y, Qt::ControlModifier | Qt::ShiftModifier); }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    panels::WhyPanel* panel() { return static_cast<panels::WhyPanel*>(m_window->docks().panel(QStringLiteral("why"))); }
    panels::TensorViewer* viewer() {
        return static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")))
            ->viewer();
    }
    QString cell(int row, int column) { return panel()->model().index(row, column).data().toString(); }
    int rows() { return panel()->model().rowCount(); }
    void press(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        panel()->view()->setFocus();
        QTest::keyClick(panel()->view(), which, modifiers);
        settle();
    }
    void choose(int row) { panel()->view()->setCurrentIndex(panel()->model().index(row, 0)); }

    QTemporaryDir m_folder;
    int m_models = 0;
};

void TestWhyPanel::aKeyShowsTheTerms() {
    openWindows();
    QVERIFY(!panel()->hasContent());
    run();
    select("y");
    ask();
    QVERIFY(panel()->hasContent());
    QTRY_VERIFY(panel()->isVisible() && !panel()->visibleRegion().isEmpty());
    QCOMPARE(panel()->trailText(), QStringLiteral("y[0, 0]"));
    // 1·63.5 + 2·81.5 + 3·171.5 + 4·189.5
    QVERIFY2(panel()->formulaText().contains(QStringLiteral("y[0, 0] = 1499")), qPrintable(panel()->formulaText()));
    QVERIFY(panel()->formulaText().contains(QStringLiteral("sum(w * x)")));
    QCOMPARE(rows(), 4);
    const QStringList elements{"f[0, 3]", "f[0, 2]", "f[0, 1]", "f[0, 0]"}, weights{"4", "3", "2", "1"},
        values{"189.5", "171.5", "81.5", "63.5"}, products{"758", "514.5", "163", "63.5"};
    for (int row = 0; row < 4; ++row) {
        QCOMPARE(cell(row, WhyTermModel::Element), elements[row]);
        QCOMPARE(cell(row, WhyTermModel::Part), QStringLiteral("x"));
        QCOMPARE(cell(row, WhyTermModel::Weight), weights[row]);
        QCOMPARE(cell(row, WhyTermModel::Value), values[row]);
        QCOMPARE(cell(row, WhyTermModel::Product), products[row]);
    }
    const auto bar = [&](int row) {
        return panel()->model().index(row, WhyTermModel::Product).data(WhyTermModel::kBarRole).toDouble();
    };
    QCOMPARE(bar(0), 1.0);
    QCOMPARE(bar(3), 63.5 / 758);
    QVERIFY2(panel()->noteText().contains(QStringLiteral("4 terms recombine to 1499")),
             qPrintable(panel()->noteText()));
    // x has 1494 / 1499 of it, the biases the rest: 36 elements less the last row and column.
    QVERIFY2(panel()->noteText().contains(QStringLiteral("25 elements of x (99.7 %)")),
             qPrintable(panel()->noteText()));
    QVERIFY(panel()->noteText().contains(QStringLiteral("weights and constants (0.3 %)")));
}

void TestWhyPanel::aTermLeadsBackToTheInput() {
    openWindows();
    run();
    select("y");
    ask();
    choose(0);
    press(Qt::Key_Return);
    QCOMPARE(panel()->trailText(), QStringLiteral("y[0, 0] \u203a f[0, 3]"));
    QCOMPARE(context().navigation().selection().node, named("f"));
    QCOMPARE(cell(0, WhyTermModel::Element), QStringLiteral("r[0, 0, 1, 1]"));
    // With the mouse from here on.
    const auto doubleClick = [&] {
        QTableView* const view = panel()->view();
        const QPoint place = view->visualRect(panel()->model().index(0, 0)).center();
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, place);
        QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, place);
        settle();
    };
    doubleClick();
    QCOMPARE(context().navigation().selection().node, named("r"));
    QVERIFY(panel()->formulaText().contains(QStringLiteral("maximum(x, 0) = maximum(189.5, 0)")));
    doubleClick();
    QVERIFY(panel()->formulaText().contains(QStringLiteral("sum(w * x) + bias = 189 + 0.5")));
    QCOMPARE(rows(), 10);
    QCOMPARE(cell(0, WhyTermModel::Element), QStringLiteral("x[0, 0, 4, 4]"));
    doubleClick();
    QCOMPARE(context().navigation().selection().node, named("x"));
    QVERIFY2(panel()->noteText().contains(QStringLiteral("an input of the model")), qPrintable(panel()->noteText()));
    QCOMPARE(rows(), 0);
    // The viewer points at the element.
    QTRY_VERIFY2(viewer()->pointedText().contains(QStringLiteral("28")), qPrintable(viewer()->pointedText()));
    QVERIFY(panel()->findChild<QToolButton*>(QStringLiteral("whyBack"))->isEnabled());
    QVERIFY(!panel()->findChild<QToolButton*>(QStringLiteral("whyForward"))->isEnabled());
    press(Qt::Key_H, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("c"));
    QCOMPARE(rows(), 10);
    QTest::mouseClick(panel()->findChild<QToolButton*>(QStringLiteral("whyBack")), Qt::LeftButton);
    settle();
    QCOMPARE(context().navigation().selection().node, named("r"));
    press(Qt::Key_J, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("c"));
    // The bias, through the row of its term.
    for (int row = 0; row < rows(); ++row)
        if (cell(row, WhyTermModel::Part) == QStringLiteral("bias")) choose(row);
    press(Qt::Key_Return);
    QVERIFY(panel()->noteText().contains(QStringLiteral("a weight of the model")) ||
            panel()->noteText().contains(QStringLiteral("a constant")));
    // y, f, r, c and the bias: the way that was gone back from is forgotten.
    QCOMPARE(panel()->why().trail().size(), std::size_t{5});
    QVERIFY2(!panel()->trailText().contains(QStringLiteral("x[0, 0, 4, 4]")), qPrintable(panel()->trailText()));
}

void TestWhyPanel::theLargestTermsAreFollowed() {
    openWindows();
    run();
    select("y");
    ask();
    key(Qt::Key_Y, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(panel()->why().trail().size(), std::size_t{5});
    QCOMPARE(panel()->why().position(), 4);
    QCOMPARE(context().navigation().selection().node, named("x"));
    QVERIFY2(panel()->trailText().endsWith(QStringLiteral("x[0, 0, 4, 4]")), qPrintable(panel()->trailText()));
    QVERIFY(panel()->trailText().startsWith(QStringLiteral("y[0, 0] \u203a \u2026 1 \u2026 \u203a r[0, 0, 1, 1]")));
    key(Qt::Key_H, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("c"));
    key(Qt::Key_J, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("x"));
}

void TestWhyPanel::aClickInTheViewerAsksAgain() {
    openWindows();
    run();
    select("c");
    viewer()->setCurrentView(QStringLiteral("table"));
    settle();
    auto* table = viewer()->findChild<QTableView*>();
    QVERIFY(table && table->isVisible());
    const auto pick = [&](int row, int column) {
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                          table->visualRect(table->model()->index(row, column)).center());
        settle();
    };
    pick(1, 0);
    QVERIFY(!panel()->hasContent());  // nobody has asked
    ask();
    QCOMPARE(panel()->trailText(), QStringLiteral("c[0, 0, 1, 0]"));
    QVERIFY(panel()->formulaText().contains(QStringLiteral("= 171.5")));
    pick(0, 1);
    QCOMPARE(panel()->trailText(), QStringLiteral("c[0, 0, 0, 1]"));
    QVERIFY(panel()->formulaText().contains(QStringLiteral("= 81.5")));
    // A pixel of the heat map likewise.
    viewer()->setCurrentView(QStringLiteral("heat_map"));
    settle();
    auto* map = viewer()->findChild<widgets::HeatMapView*>();
    QVERIFY(map && map->isVisible());
    QTest::mouseClick(map->viewport(), Qt::LeftButton, {}, map->cellRect(0, 0).center().toPoint());
    settle();
    QCOMPARE(panel()->trailText(), QStringLiteral("c[0, 0, 0, 0]"));
}

void TestWhyPanel::theFieldIsDrawnOverTheInput() {
    openWindows();
    run();
    select("f");
    viewer()->setCurrentView(QStringLiteral("table"));
    settle();
    viewer()->showElement({}, {0, 1});
    ask();
    QCOMPARE(panel()->trailText(), QStringLiteral("f[0, 1]"));
    select("x");
    viewer()->setCurrentView(QStringLiteral("heat_map"));
    settle();
    auto* map = viewer()->findChild<widgets::HeatMapView*>();
    QVERIFY(map && map->isVisible() && map->overlay());
    // The window at row 0, column 2.
    QCOMPARE(map->overlay()->row, 0);
    QCOMPARE(map->overlay()->column, 2);
    QCOMPARE(map->overlay()->rows, 3);
    QCOMPARE(map->overlay()->columns, 3);
    // Its elements have 2, 3, 4, 8 … 16 of 81.5: the tint is relative to the largest, 16.
    QVERIFY(map->overlay()->part);
    QCOMPARE(map->overlay()->part(2, 4), 1.0);
    QVERIFY(std::abs(map->overlay()->part(0, 2) - 2.0 / 16) < 1e-6);
    QCOMPARE(map->overlay()->part(5, 5), 0.0);
    QVERIFY2(viewer()->overlayText().contains(QStringLiteral("Receptive field of f[0, 1]: 1\u00d71\u00d73\u00d73 of")),
             qPrintable(viewer()->overlayText()));
    QVERIFY(viewer()->overlayText().contains(QStringLiteral("99.4 % in all")));  // 81 of 81.5
    QVERIFY(viewer()->overlayText().contains(QStringLiteral("at [0, 0, 2, 4]")));
    auto* tint = viewer()->findChild<QToolButton*>(QStringLiteral("overlaySwitch"));
    QVERIFY(tint->isVisible());
    QTest::mouseClick(tint, Qt::LeftButton);
    settle();
    QVERIFY(map->overlay() && !map->overlay()->part);
    select("y");
    QVERIFY(viewer()->overlayText().isEmpty());
}

void TestWhyPanel::hopsAreMarkedOnTheCanvas() {
    openWindows();
    run();
    select("y");
    ask();
    choose(0);
    press(Qt::Key_Return);
    const auto marked = [&](const char* name) {
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
        return item && (canvas()->marks().of(item) & canvas::kWhy) != 0;
    };
    QVERIFY(marked("y") && marked("f"));
    QVERIFY(!marked("r") && !marked("x"));
    QTest::mouseClick(panel()->findChild<QToolButton*>(QStringLiteral("whyClose")), Qt::LeftButton);
    settle();
    QVERIFY(!marked("y"));
    QVERIFY(!panel()->hasContent());
}

/// l = log(x) of -1 is NaN; s = 2 l; y adds it up.
void TestWhyPanel::nanLeadsToItsOrigin() {
    onnx::Graph graph{{{"Log", {"x"}, {"l"}}, {"Mul", {"l", "two"}, {"s"}}, {"ReduceSum", {"s"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {1, 3})},
                      {onnx::valueInfo("y", 1, {1, 1})},
                      {onnx::rawTensor("two", 1, {1}, test::floatBytes({2}))}};
    openModel(onnx::model(graph), tensor::Tensor::of<float>({1, 3}, {1, -1, 2}));
    run();
    // From the row of the origin: its menu and its button.
    auto* problems = static_cast<panels::ProblemsPanel*>(m_window->docks().panel(QStringLiteral("problems")));
    QTRY_VERIFY(problems->model().rowCount() > 0);
    m_window->docks().show(QStringLiteral("problems"));
    QTableView* const list = problems->view();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(list->model()->index(0, 0)).center());
    settle();
    QCOMPARE(context().navigation().selection().node, named("l"));
    QVERIFY(list->actions().contains(problems->findChild<QToolButton*>(QStringLiteral("whyProblem"))->defaultAction()));
    QTest::mouseClick(problems->findChild<QToolButton*>(QStringLiteral("whyProblem")), Qt::LeftButton);
    settle();
    // The NaN is the element that stands out.
    QCOMPARE(panel()->trailText(), QStringLiteral("l[0, 1]"));
    QVERIFY2(panel()->noteText().contains(QStringLiteral("NaN is made here")), qPrintable(panel()->noteText()));
    QCOMPARE(cell(0, WhyTermModel::Value), QStringLiteral("-1"));
    // From the output the NaN terms lead there.
    select("y");
    ask();
    QCOMPARE(cell(0, WhyTermModel::Element), QStringLiteral("s[0, 1]"));
    QCOMPARE(cell(0, WhyTermModel::Value), QStringLiteral("NaN"));
    key(Qt::Key_Y, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("l"));
    QVERIFY(panel()->noteText().contains(QStringLiteral("NaN is made here")));
    QVERIFY(!panel()->findChild<QToolButton*>(QStringLiteral("whyEnd"))->isEnabled());
}

void TestWhyPanel::anOperatorWithoutARuleListsItsInputs() {
    const onnx::Graph graph{
        {{"NonZero", {"x"}, {"y"}}}, {onnx::valueInfo("x", 1, {2, 2})}, {onnx::valueInfo("y", 7, {2, 3})}, {}};
    openModel(onnx::model(graph), tensor::Tensor::of<float>({2, 2}, {0, 1, 2, 3}));
    run();
    select("y");
    ask();
    QVERIFY2(panel()->noteText().contains(QStringLiteral("NonZero does not declare")), qPrintable(panel()->noteText()));
    QVERIFY(panel()->formulaText().contains(QStringLiteral("y[0, 1] = 1")));
    QCOMPARE(rows(), 1);
    QCOMPARE(cell(0, WhyTermModel::Element), QStringLiteral("x"));
    QVERIFY(panel()->noteText().contains(QStringLiteral("no rule or no terms (100.0 %)")));
    choose(0);
    press(Qt::Key_Return);
    QCOMPARE(context().navigation().selection().node, named("x"));
    QCOMPARE(panel()->trailText(), QStringLiteral("y[0, 1] \u203a x[1, 1]"));  // the largest
}

void TestWhyPanel::anEmptyTensorSaysSo() {
    const onnx::Graph graph{
        {{"Relu", {"x"}, {"y"}}}, {onnx::valueInfo("x", 1, {0, 3})}, {onnx::valueInfo("y", 1, {0, 3})}, {}};
    openModel(onnx::model(graph), tensor::Tensor::zeros(tensor::DType::Float32, {0, 3}).value());
    run();
    select("y");
    ask();
    QVERIFY(panel()->why().current() && panel()->why().current()->error);
    QStringList texts;
    for (const QLabel* label : panel()->findChildren<QLabel*>())
        if (label->isVisible()) texts << label->text();
    QVERIFY2(texts.join(u'\n').contains(QStringLiteral("has no elements")), qPrintable(texts.join(u'\n')));
}

void TestWhyPanel::withoutARunThereIsAButton() {
    openWindows();
    select("y");
    ask();
    QPushButton* button = nullptr;
    for (QPushButton* each : panel()->findChildren<QPushButton*>())
        if (each->isVisible()) button = each;
    QVERIFY(button);
    QTest::mouseClick(button, Qt::LeftButton);
    settle();
    QTRY_COMPARE(rows(), 4);
    QCOMPARE(cell(0, WhyTermModel::Product), QStringLiteral("758"));
}

void TestWhyPanel::aDebuggedRunIsLookedInto() {
    openWindows();
    context().debugger().runTo(named("f"));
    QTRY_VERIFY_WITH_TIMEOUT(context().debugger().isStopped() && !context().debugger().isBusy(), 30000);
    settle();
    select("c");
    ask();
    QTRY_COMPARE(rows(), 10);
    QVERIFY(panel()->formulaText().contains(QStringLiteral("= 189.5")));
    select("y");
    ask();
    QTRY_VERIFY(panel()->why().current()->error);  // not computed yet
    key(Qt::Key_F10);
    QTRY_VERIFY(!context().debugger().isBusy());
    settle();
    QTRY_COMPARE(rows(), 4);
}

void TestWhyPanel::anotherRunGivesOtherNumbers() {
    openWindows();
    run();
    select("y");
    ask();
    choose(0);
    press(Qt::Key_Return);
    give(tensor::Tensor::of<float>({1, 1, 6, 6}, std::vector<float>(36, 1)));
    run();
    // The same hops, of windows of nine ones.
    QTRY_VERIFY2(panel()->formulaText().contains(QStringLiteral("f[0, 3] = 9.5")), qPrintable(panel()->formulaText()));
    press(Qt::Key_H, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY2(panel()->formulaText().contains(QStringLiteral("y[0, 0] = 95")), qPrintable(panel()->formulaText()));
}

void TestWhyPanel::closingForgetsAll() {
    openWindows();
    run();
    select("y");
    ask();
    context().loader().close();
    settle();
    QVERIFY(!panel()->hasContent());
    QVERIFY(!panel()->why().isAsked());
}

/// The largest term is 4 · 189.5.
void TestWhyPanel::theWeightOfATermIsGoneOnFrom() {
    openWindows();
    run();
    select("y");
    ask();
    choose(0);
    press(Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(context().navigation().selection().node, named("w"));
    QCOMPARE(panel()->trailText(), QStringLiteral("y[0, 0] \u203a w[3, 0]"));
    QVERIFY2(panel()->formulaText().startsWith(QStringLiteral("w[3, 0] = 4")), qPrintable(panel()->formulaText()));
}

/// y = 1499; it is 0 by the edit.
void TestWhyPanel::anEditedElementSaysWhatItIsWithout() {
    openWindows();
    run();
    session::Edit edit;
    edit.kind = session::Edit::Kind::Zero;
    context().edits().add(named("y"), edit);
    settle();
    select("y");
    ask();
    QVERIFY2(panel()->formulaText().startsWith(QStringLiteral("y[0, 0] = 0")), qPrintable(panel()->formulaText()));
    QVERIFY2(panel()->noteText().contains(QStringLiteral("Without the edit it is 1499.")),
             qPrintable(panel()->noteText()));
}

/// Of a name that is longer than the panel is wide its middle is left out: nothing is cut at the edge.
void TestWhyPanel::longNamesKeepTheirEnds() {
    const QString name = QStringLiteral("/encoder/layers/") + QString(160, u'n') + QStringLiteral("/Relu_output_0");
    openModel(test::windowNetwork(name.toStdString()), tensor::Tensor::of<float>({1, 1, 6, 6}, counting(36)));
    run();
    m_window->resize(1280, 720);
    settle();
    QVERIFY(panel()->askAt(QStringLiteral("`%1`[0, 0, 1, 1]").arg(name)));
    settle();
    for (const QSize size : {QSize(1280, 720), QSize(800, 600)}) {
        m_window->resize(size);
        settle();
        for (const char* part : {"whyTrail", "whyFormula", "whyNote"}) {
            const auto* const label = panel()->findChild<QLabel*>(QLatin1String(part));
            QTextDocument text;
            text.setDefaultFont(label->font());
            text.setDocumentMargin(0);
            text.setHtml(label->text());
            text.setTextWidth(label->contentsRect().width());
            QVERIFY2(text.idealWidth() <= label->contentsRect().width(), part);
            QVERIFY2(label->toolTip().contains(name), part);
        }
        QVERIFY2(panel()->formulaText().startsWith(QStringLiteral("/encoder/")), qPrintable(panel()->formulaText()));
        QVERIFY(panel()->formulaText().contains(QStringLiteral("Relu_output_0[0, 0, 1, 1] = 189.5")));
    }
}

/// Nothing has to be scrolled to be read.
void TestWhyPanel::aLowPanelHasItsTextBesideTheTerms() {
    openWindows();
    run();
    m_window->resize(1280, 720);
    select("y");
    ask();
    const auto place = [&](QWidget* part) { return QRect(part->mapTo(panel(), QPoint()), part->size()); };
    QWidget* const note = panel()->findChild<QLabel*>(QStringLiteral("whyNote"));
    QTRY_VERIFY2(place(note).right() <= place(panel()->view()).left(),
                 qPrintable(QStringLiteral("%1 x %2").arg(panel()->width()).arg(panel()->height())));
    QVERIFY(panel()->rect().contains(place(note)));
    QVERIFY(panel()->rect().contains(place(panel()->view())));
    QVERIFY(panel()->view()->viewport()->height() >= 4 * panel()->view()->rowHeight(0));
    // The products too: they are in the last column.
    QCOMPARE(panel()->view()->horizontalScrollBar()->maximum(), 0);
    m_window->docks().dock(QStringLiteral("why"))->setFloating(true);
    m_window->docks().dock(QStringLiteral("why"))->resize(700, 600);
    settle();
    QTRY_VERIFY(place(note).top() >= place(panel()->view()).bottom());
}

/// That of a GRU has 20 lines at 800 x 600: it scrolls.
void TestWhyPanel::aLongFormulaLeavesRoomForTheTerms() {
    constexpr int kUnits = 3;
    const std::vector<float> weights(static_cast<std::size_t>(3 * kUnits * kUnits), 0.25F), biases(6 * kUnits, 0.5F);
    onnx::Graph graph;
    graph.inputs = {onnx::valueInfo("x", 1, {4, 1, kUnits})};
    graph.outputs = {onnx::valueInfo("y", 1, {4, 1, 1, kUnits})};
    graph.initializers = {onnx::rawTensor("W", 1, {1, 3 * kUnits, kUnits}, test::floatBytes(weights)),
                          onnx::rawTensor("R", 1, {1, 3 * kUnits, kUnits}, test::floatBytes(weights)),
                          onnx::rawTensor("B", 1, {1, 6 * kUnits}, test::floatBytes(biases))};
    graph.nodes = {{"GRU",
                    {"x", "W", "R", "B"},
                    {"y"},
                    "cell",
                    "",
                    {onnx::intAttribute("hidden_size", kUnits), onnx::intAttribute("linear_before_reset", 1)}}};
    openModel(onnx::model(graph, {}, {onnx::opset("", 17)}), tensor::Tensor::of<float>({4, 1, 3}, counting(12)));
    run();
    m_window->resize(800, 600);
    settle();
    QVERIFY(panel()->askAt(QStringLiteral("y[2, 0, 0, 1]")));
    settle();
    auto* const formula = panel()->findChild<QLabel*>(QStringLiteral("whyFormula"));
    auto* const area = qobject_cast<QScrollArea*>(formula->parentWidget()->parentWidget());
    QVERIFY(area);
    QTRY_VERIFY(area->verticalScrollBar()->maximum() > 0);
    QCOMPARE(area->verticalScrollBar()->maximum() + area->viewport()->height(), formula->height());
    QVERIFY(panel()->formulaText().contains(QStringLiteral("tanh(")));
    QTRY_VERIFY2(panel()->view()->viewport()->height() >= 2 * panel()->view()->rowHeight(0),
                 qPrintable(QString::number(panel()->view()->viewport()->height())));
    QVERIFY(panel()->view()->visibleRegion().boundingRect().height() >= 2 * panel()->view()->rowHeight(0));
}

/// c is 0.5 of the bias and nine times 1e-6 of x: 2e-6 of it each, neither "0.00 %" nor nothing.
void TestWhyPanel::aWideWindowCanBecomeSmall() {
    openWindows();
    run();
    m_window->resize(1920, 1080);
    select("y");
    ask();
    settle();
    m_window->resize(800, 600);
    settle();
    QTRY_COMPARE(m_window->size(), QSize(800, 600));
}

void TestWhyPanel::smallPartsHaveDigits() {
    openModel(test::windowNetwork(), tensor::Tensor::of<float>({1, 1, 6, 6}, std::vector<float>(36, 1e-6F)));
    run();
    QVERIFY(panel()->askAt(QStringLiteral("c[0, 0, 0, 0]")));
    settle();
    QTRY_VERIFY2(panel()->noteText().contains(QStringLiteral("9 elements of x (0.0018 %)")),
                 qPrintable(panel()->noteText()));
    select("x");
    QTRY_VERIFY2(viewer()->overlayText().contains(QStringLiteral("0.0018 % in all, largest 0.00020 % at [0, 0, ")),
                 qPrintable(viewer()->overlayText()));
    QCOMPARE(widgets::percentText(1e-9), QStringLiteral("< 0.0001 %"));
    QCOMPARE(widgets::percentText(0), QStringLiteral("0 %"));
    QCOMPARE(widgets::percentText(0.9966), QStringLiteral("99.7 %"));
}

QTEST_MAIN(TestWhyPanel)

}  // namespace tst_why_panel

#include "tst_why_panel.moc"
