// Two values beside each other in the tensor panel, in the real window: looked at in one way, blinking, and their
// difference. Expected values are worked out by hand.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QWheelEvent>

#include "core/io/npz/npz.h"
#include "tests/support/linear_network.h"
#include "tests/support/scan_network.h"
#include "tests/support/window_fixture.h"
#include "ui/panels/tensor_viewer/paired_value.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/tensor_viewer/value_pair.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/widgets/labels.h"
#include "ui/window/script.h"

namespace tst_two_panes {

using namespace sonde;
using Numbers = std::vector<double>;
using Mode = panels::ValuePair::Mode;

class TestTwoPanes : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        m_folder = std::make_unique<QTemporaryDir>();
        test::writeLinearNetwork(path("linear.onnx").toStdString());
        openWindow({1400, 900});
        open(path("linear.onnx"));
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[1,-2],[3,4]]"), {}});
        settle();
    }
    void cleanup() { closeWindow(); }

    void theBaselineIsBeside();
    void theFirstSaysWhatItShows();
    void whatHasNoDifferenceSaysSo();
    void aReceptiveFieldLeavesBothAlike();
    void bothAreReachedInASmallWindow();
    void bothAreLookedAtInOneWay();
    void theSecondTakesTheLookOfTheFirst();
    void everyLookIsShared();
    void theyBlinkAndDiffer();
    void aPinnedNodeIsBeside();
    void theReferenceIsBeside();
    void instancesAreBeside();
    void smallWindowsKeepTheirSize();
    void theRangeIsThatOfBoth();
    void whatCannotBeComparedIsSaid();
    void theDifferenceHasItsOwnRange();
    void theReferenceIsOfTheCaseThatIsShown();
    void whoeverBlinkedTheFirstStays();
    void theLastChoiceCounts();
    void loopsShowTheSameIteration();
    void noViewKeepsTheWindowWide();

  private:
    QString path(const char* name) { return m_folder->filePath(QLatin1String(name)); }
    panels::TensorViewerPanel* panel() {
        return static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    }
    panels::ValuePair* pair() { return panel()->pair(); }
    static Numbers numbersOf(const panels::TensorViewer* viewer) {
        Numbers numbers;
        for (std::int64_t i = 0; viewer->tensor().defined() && i < viewer->tensor().numel(); ++i)
            numbers.push_back(viewer->tensor().toDouble(i));
        return numbers;
    }
    Numbers first() { return numbersOf(pair()->first()); }
    Numbers second() { return numbersOf(pair()->second()); }
    panels::TensorViewer* apart() {
        return pair()->findChild<panels::TensorViewer*>(QStringLiteral("differenceViewer"));
    }
    void select(const char* name) {
        context().navigation().navigateTo(context().model().graph().findNode(name));
        settle();
    }
    QString play(const QString& text) {
        window::Script script(*m_window, {}, text, m_folder->path());
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        if (finished.isEmpty() && !finished.wait(60000)) return QStringLiteral("not finished");
        return script.error() ? QString::fromStdString(script.error()->what) : QString();
    }
    void twoPanes() { key(Qt::Key_I, Qt::AltModifier | Qt::ShiftModifier); }
    void nextMode() { key(Qt::Key_M, Qt::AltModifier | Qt::ShiftModifier); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestTwoPanes::theBaselineIsBeside() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\n")), QString());
    QVERIFY(!pair()->hasSecond());
    twoPanes();
    QVERIFY(pair()->hasSecond());
    QCOMPARE(first(), (Numbers{11, 25, 13, 24}));
    QTRY_COMPARE(second(), (Numbers{11, 20, 13, 24}));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Differ by up to 5 in 1 of 4 elements"));
    QVERIFY(pair()->first()->isVisible() && pair()->second()->isVisible());
    select("t");
    QTRY_COMPARE(second(), (Numbers{-1, 2, -3, -4}));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Both are equal"));
    // Without edits there is nothing beside it; with them again there is.
    key(Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!pair()->hasSecond());
    key(Qt::Key_Y, Qt::ControlModifier);
    QTRY_VERIFY(pair()->hasSecond());
    QTest::mouseClick(panel()->findChild<QToolButton*>(QStringLiteral("twoPanes")), Qt::LeftButton);
    QVERIFY(!pair()->hasSecond());
}

/// All panels may show the baseline, or the difference from it.
void TestTwoPanes::theFirstSaysWhatItShows() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\n")), QString());
    const auto* title = pair()->findChild<widgets::ElidedLabel*>(QStringLiteral("firstTitle"));
    QVERIFY(title);
    QCOMPARE(title->text(), QStringLiteral("With the edits"));
    QCOMPARE(play(QStringLiteral("show difference\n")), QString());
    QTRY_COMPARE(first(), (Numbers{0, 5, 0, 0}));
    QCOMPARE(title->text(), QStringLiteral("Difference"));
    QCOMPARE(play(QStringLiteral("show baseline\n")), QString());
    QTRY_COMPARE(title->text(), QStringLiteral("Baseline"));
    QCOMPARE(play(QStringLiteral("show value\n")), QString());
    QTRY_COMPARE(title->text(), QStringLiteral("With the edits"));
}

/// A difference less the baseline means nothing, as the baseline less itself.
void TestTwoPanes::whatHasNoDifferenceSaysSo() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\nshow difference\n")), QString());
    auto* const button = pair()->findChild<QToolButton*>(QStringLiteral("paneDifference"));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("The first pane holds a difference"));
    QVERIFY(!button->isEnabled());
    QCOMPARE(button->toolTip(), pair()->differenceText());
    QVERIFY(play(QStringLiteral("panes difference\n")).contains(QStringLiteral("The first pane holds a difference")));
    QCOMPARE(play(QStringLiteral("show baseline\n")), QString());
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Both panes hold the baseline"));
    QVERIFY(!button->isEnabled());
    QCOMPARE(play(QStringLiteral("show value\npanes difference\n")), QString());
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Differ by up to 5 in 1 of 4 elements"));
    QVERIFY(button->isEnabled() && button->isChecked() && apart()->isVisible());
    // The mode stays; meanwhile both are seen.
    QCOMPARE(play(QStringLiteral("show baseline\n")), QString());
    QTRY_VERIFY(!apart()->isVisible() && pair()->first()->isVisible() && pair()->second()->isVisible());
    QCOMPARE(play(QStringLiteral("show value\n")), QString());
    QTRY_VERIFY(apart()->isVisible() && !pair()->first()->isVisible());
}

/// What is said of it is below both; they have the same room and the same zoom.
void TestTwoPanes::aReceptiveFieldLeavesBothAlike() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect y\nview heatmap\nbeside baseline\nwhy s[0, 1]\n"
                                 "select y\n")),
             QString());
    QTRY_VERIFY(pair()->first()->overlayText().contains(QStringLiteral("Receptive field of s[0, 1]")));
    auto* const legend = pair()
                             ->findChild<QWidget*>(QStringLiteral("sharedLegend"))
                             ->findChild<QLabel*>(QStringLiteral("overlayLegend"));
    QTRY_VERIFY(legend && legend->isVisible());
    for (const panels::TensorViewer* viewer : {pair()->first(), pair()->second()})
        QVERIFY(legend->mapTo(pair(), QPoint()).y() >= viewer->mapTo(pair(), QPoint(0, viewer->height())).y());
    const auto map = [](panels::TensorViewer* viewer) { return viewer->findChild<widgets::HeatMapView*>(); };
    QTRY_VERIFY(map(pair()->second()) && map(pair()->second())->isVisible());
    QTRY_COMPARE(map(pair()->first())->size(), map(pair()->second())->size());
    QCOMPARE(map(pair()->first())->zoom(), map(pair()->second())->zoom());
    // Alone the value has it again.
    QCOMPARE(play(QStringLiteral("beside off\n")), QString());
    QTRY_VERIFY(legend->isVisible() && pair()->first()->isAncestorOf(legend));
}

/// The panel scrolls; at its end both are seen whole, and large enough to tell their elements.
void TestTwoPanes::bothAreReachedInASmallWindow() {
    closeWindow();
    openWindow({800, 600});
    open(path("linear.onnx"));
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[1,-2],[3,4]]"), {}});
    settle();
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect y\nview heatmap\nbeside baseline\nwhy s[0, 1]\n"
                                 "select y\npanel tensor_viewer\n")),
             QString());
    QTRY_VERIFY(!pair()->first()->overlayText().isEmpty());
    QWidget* at = pair();
    while (at && !qobject_cast<QScrollArea*>(at)) at = at->parentWidget();
    auto* const area = qobject_cast<QScrollArea*>(at);
    QVERIFY(area);
    area->verticalScrollBar()->setValue(area->verticalScrollBar()->maximum());
    QCoreApplication::processEvents();
    for (const auto* viewer : {pair()->first(), pair()->second()}) {
        const auto* const map = viewer->findChild<widgets::HeatMapView*>();
        const QRect place(map->mapTo(area->viewport(), QPoint()), map->size());
        QVERIFY2(
            area->viewport()->rect().contains(place),
            qPrintable(
                QStringLiteral("%1 to %2 of %3").arg(place.top()).arg(place.bottom()).arg(area->viewport()->height())));
        QVERIFY2(map->height() >= 64, qPrintable(QString::number(map->height())));
    }
}

/// With all that is about an element beside them.
void TestTwoPanes::smallWindowsKeepTheirSize() {
    closeWindow();
    openWindow({800, 600});
    open(path("linear.onnx"));
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[1,-2],[3,4]]"), {}});
    settle();
    for (const char* step :
         {"run\n", "select s\n", "set y[0, 1] = 5\n", "beside baseline\n", "gradient\n", "select s\n", "panes blink\n",
          "panes difference\n", "panel timeline\n", "panel edits\n"}) {
        QCOMPARE(play(QLatin1String(step)), QString());
        settle();
        QVERIFY2(
            m_window->size() == QSize(800, 600),
            qPrintable(
                QStringLiteral("%1%2 %3").arg(QLatin1String(step)).arg(m_window->width()).arg(m_window->height())));
    }
}

void TestTwoPanes::bothAreLookedAtInOneWay() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\nview heatmap\n")), QString());
    QCOMPARE(pair()->second()->currentView(), QStringLiteral("heat_map"));
    // A range that fits fits both: 11 to 25.
    for (const auto* viewer : {pair()->first(), pair()->second()}) {
        QCOMPARE(viewer->shown().range.low, 11.0);
        QCOMPARE(viewer->shown().range.high, 25.0);
    }
    pair()->first()->setSlice({1, 0, {0, 0}});
    QCOMPARE(pair()->second()->shown().slice, (widgets::Slice{1, 0, {0, 0}}));
    pair()->second()->setSlice({0, 1, {0, 0}});
    QCOMPARE(pair()->first()->shown().slice, (widgets::Slice{0, 1, {0, 0}}));
    pair()->second()->rangeControl()->setLogarithmic(true);
    QVERIFY(pair()->first()->shown().range.logarithmic);
    auto* left = pair()->first()->findChild<widgets::HeatMapView*>();
    auto* right = pair()->second()->findChild<widgets::HeatMapView*>();
    QVERIFY(left && right && left != right);
    left->setZoom(left->zoom() * 3, QPointF(5, 5));
    QVERIFY(!right->isFitted());
    QCOMPARE(right->zoom(), left->zoom());
    QCOMPARE(right->place().scroll, left->place().scroll);
    right->fit();
    QVERIFY(left->isFitted());
}

/// What was chosen before there was a second one.
void TestTwoPanes::theSecondTakesTheLookOfTheFirst() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nview heatmap\n")), QString());
    pair()->first()->setSlice({1, 0, {0, 0}});
    pair()->first()->rangeControl()->setLogarithmic(true);
    QCOMPARE(play(QStringLiteral("beside baseline\n")), QString());
    QTRY_COMPARE(pair()->second()->currentView(), QStringLiteral("heat_map"));
    QCOMPARE(pair()->second()->shown().slice, (widgets::Slice{1, 0, {0, 0}}));
    QVERIFY(pair()->second()->shown().range.logarithmic);
}

/// Whichever of the three it is chosen in. Ends of the range are not those of the difference.
void TestTwoPanes::everyLookIsShared() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\nview heatmap\n")), QString());
    QTRY_VERIFY(apart()->tensor().defined());
    pair()->second()->setCurrentView(QStringLiteral("table"));
    for (const auto* viewer : {pair()->first(), pair()->second(), apart()})
        QCOMPARE(viewer->currentView(), QStringLiteral("table"));
    apart()->setCurrentView(QStringLiteral("heat_map"));
    apart()->setSlice({1, 0, {0, 0}});
    for (const auto* viewer : {pair()->first(), pair()->second()}) {
        QCOMPARE(viewer->currentView(), QStringLiteral("heat_map"));
        QCOMPARE(viewer->shown().slice, (widgets::Slice{1, 0, {0, 0}}));
    }
    apart()->rangeControl()->setLogarithmic(true);
    QVERIFY(!pair()->first()->shown().range.logarithmic);
    widgets::RangeState range = pair()->first()->shown().range;
    range.low = -3, range.high = 30, range.autofit = false, range.map = QStringLiteral("viridis");
    pair()->first()->rangeControl()->setState(range);
    QCOMPARE(pair()->second()->shown().range, range);
    QCOMPARE(pair()->second()->shown().colorMap, pair()->first()->shown().colorMap);
    QCOMPARE(apart()->shown().range.high, 5.0);
    pair()->second()->rangeControl()->setLocked(true);
    select("z");  // 1, 5, 3, 4
    for (const auto* viewer : {pair()->first(), pair()->second()}) {
        QCOMPARE(viewer->shown().range.low, -3.0);
        QCOMPARE(viewer->shown().range.high, 30.0);
    }
}

void TestTwoPanes::theyBlinkAndDiffer() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\n")), QString());
    nextMode();
    QCOMPARE(pair()->mode(), Mode::Blink);
    QTRY_VERIFY(pair()->second()->isVisible() && !pair()->first()->isVisible());
    QTRY_VERIFY(pair()->first()->isVisible() && !pair()->second()->isVisible());
    nextMode();
    QCOMPARE(pair()->mode(), Mode::Difference);
    QVERIFY(!pair()->first()->isVisible() && !pair()->second()->isVisible());
    QTRY_COMPARE(numbersOf(apart()), (Numbers{0, 5, 0, 0}));
    QVERIFY(apart()->isVisible());
    QTest::mouseClick(pair()->findChild<QToolButton*>(QStringLiteral("paneSide")), Qt::LeftButton);
    QVERIFY(pair()->first()->isVisible() && pair()->second()->isVisible());
}

void TestTwoPanes::aPinnedNodeIsBeside() {
    run();
    select("y");
    key(Qt::Key_N, Qt::AltModifier | Qt::ShiftModifier);
    QVERIFY(!pair()->hasSecond());
    select("s");
    QVERIFY(pair()->hasSecond());
    QCOMPARE(first(), (Numbers{11, 20, 13, 24}));
    QTRY_COMPARE(second(), (Numbers{1, -2, 3, 4}));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Differ by up to 22 in 4 of 4 elements"));
    QVERIFY(panel()->besideBox()->isVisible());
    panel()->besideBox()->setFocus();
    QTest::keyClick(panel()->besideBox(), Qt::Key_Home);
    QVERIFY(!pair()->hasSecond());
}

void TestTwoPanes::theReferenceIsBeside() {
    using tensor::Tensor;
    const std::vector<io::NamedTensor> arrays{{"in.x", Tensor::of<float>({2, 2}, {1, -2, 3, 4})},
                                              {"out.s", Tensor::of<float>({2, 2}, {11, 20, 13, 20})}};
    QVERIFY(io::writeNpz(path("reference.npz").toStdString(), arrays));
    QVERIFY(play(QStringLiteral("run\nselect s\nbeside reference\n")).contains(QStringLiteral("no such value")));
    QCOMPARE(play(QStringLiteral("compare reference.npz\nselect s\nbeside reference\n")), QString());
    QCOMPARE(first(), (Numbers{11, 20, 13, 24}));
    QTRY_COMPARE(second(), (Numbers{11, 20, 13, 20}));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Differ by up to 4 in 1 of 4 elements"));
    select("z");
    QTRY_VERIFY(pair()->second()->tensor().defined() == false);
}

void TestTwoPanes::instancesAreBeside() {
    open(QStringLiteral("zoo:resnet18?width=0.125&classes=10"));
    run();
    // The first convolution of the second block of a stage; its counterpart is in the first one.
    graph::NodeId inBlock;
    const graph::InternalGraph& graph = context().model().graph();
    for (std::size_t i = 0; i < graph.nodeCount() && !inBlock.valid(); ++i)
        if (context().model().outline()->counterparts(graph::NodeId(i)).size() > 1) inBlock = graph::NodeId(i);
    QVERIFY(inBlock.valid());
    context().navigation().navigateTo(inBlock);
    settle();
    twoPanes();
    QVERIFY(pair()->hasSecond());
    QTRY_VERIFY(pair()->second()->tensor().defined());
    QVERIFY(panel()->paired()->choice().node != inBlock);
    QTRY_VERIFY(!pair()->differenceText().isEmpty());
}

/// y is [1, 7, 3, 4] with the edit, [1, -2, 3, 4] without: one end of the range is of either. Alone it has its own
/// again.
void TestTwoPanes::theRangeIsThatOfBoth() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 7\nselect y\nbeside baseline\nview heatmap\n")), QString());
    QTRY_COMPARE(second(), (Numbers{1, -2, 3, 4}));
    for (const auto* viewer : {pair()->first(), pair()->second()}) {
        QTRY_COMPARE(viewer->shown().range.low, -2.0);
        QCOMPARE(viewer->shown().range.high, 7.0);
    }
    QCOMPARE(play(QStringLiteral("beside off\n")), QString());
    QCOMPARE(pair()->first()->shown().range.low, 1.0);
    QCOMPARE(pair()->first()->shown().range.high, 7.0);
}

/// Of other shapes, or where there is no value: the title, or the line above, says why.
void TestTwoPanes::whatCannotBeComparedIsSaid() {
    using tensor::Tensor;
    QVERIFY(io::writeNpz(path("s.npz").toStdString(), {{{"in.x", Tensor::of<float>({2, 2}, {1, -2, 3, 4})},
                                                        {"out.s", Tensor::of<float>({2, 2}, {11, 20, 13, 24})}}}));
    QCOMPARE(play(QStringLiteral("run\nselect s\nbeside c\n")), QString());
    QTRY_COMPARE(second(), (Numbers{10, 20}));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("The shapes differ"));
    QVERIFY(!apart()->tensor().defined());
    QCOMPARE(play(QStringLiteral("compare s.npz\nset z[0] = 1\nselect s\nbeside reference\n")), QString());
    QTRY_COMPARE(second(), (Numbers{11, 20, 13, 24}));
    const auto* title = pair()->findChild<widgets::ElidedLabel*>(QStringLiteral("firstTitle"));
    QCOMPARE(title->text(), QStringLiteral("s, with the edits"));
    select("t");
    QTRY_VERIFY(!pair()->second()->tensor().defined());
    const auto* secondTitle = pair()->findChild<widgets::ElidedLabel*>(QStringLiteral("secondTitle"));
    QVERIFY(secondTitle);
    QTRY_VERIFY2(secondTitle->text().startsWith(QStringLiteral("Reference: ")) &&
                     !secondTitle->text().contains(QStringLiteral("Computing")),
                 qPrintable(secondTitle->text()));
    QCOMPARE(title->text(), QStringLiteral("t"));  // the edit does not reach it
    QCOMPARE(pair()->differenceText(), secondTitle->text());
}

/// The first case agrees, so that the second one is run and shown: s = [[11, 21], [11, 21]] of ones.
void TestTwoPanes::theReferenceIsOfTheCaseThatIsShown() {
    using tensor::Tensor;
    QVERIFY(io::writeNpz(path("cases.npz").toStdString(),
                         {{{"in.x", Tensor::of<float>({2, 2}, {1, -2, 3, 4})},
                           {"out.s", Tensor::of<float>({2, 2}, {11, 20, 13, 24})},
                           {"case1.in.x", Tensor::of<float>({2, 2}, {1, 1, 1, 1})},
                           {"case1.out.s", Tensor::of<float>({2, 2}, {11, 21, 11, 29})}}}));
    QCOMPARE(play(QStringLiteral("run\ncompare cases.npz\nselect s\nbeside reference\n")), QString());
    QCOMPARE(first(), (Numbers{11, 21, 11, 21}));
    QTRY_COMPARE(second(), (Numbers{11, 21, 11, 29}));
    QTRY_COMPARE(pair()->differenceText(), QStringLiteral("Differ by up to 8 in 1 of 4 elements"));
    // What the case lacks is not taken from another one.
    select("x");
    QTRY_COMPARE(second(), (Numbers{1, 1, 1, 1}));
}

/// 0 to 5, while both values have 11 to 25.
void TestTwoPanes::theDifferenceHasItsOwnRange() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\nview heatmap\n")), QString());
    QCOMPARE(play(QStringLiteral("panes difference\n")), QString());
    QTRY_COMPARE(numbersOf(apart()), (Numbers{0, 5, 0, 0}));
    QTRY_COMPARE(apart()->shown().range.high, 5.0);
    QCOMPARE(apart()->shown().range.low, -5.0);  // even about zero, as a difference has a sign
    QCOMPARE(pair()->first()->shown().range.high, 25.0);
    QVERIFY(!pair()->findChild<QWidget*>(QStringLiteral("sharedControls"))->isVisible());
    QCOMPARE(play(QStringLiteral("panes side\n")), QString());
    QVERIFY(pair()->findChild<QWidget*>(QStringLiteral("sharedControls"))->isVisible());
}

void TestTwoPanes::whoeverBlinkedTheFirstStays() {
    QCOMPARE(play(QStringLiteral("run\nset y[0, 1] = 5\nselect s\nbeside baseline\npanes blink\n")), QString());
    QTRY_VERIFY(pair()->second()->isVisible());
    QCOMPARE(play(QStringLiteral("beside off\n")), QString());
    QVERIFY(pair()->first()->isVisible() && !pair()->second()->isVisible());
    QCOMPARE(play(QStringLiteral("beside baseline\npanes difference\npanes side\n")), QString());
    // For longer than a blink: nothing goes on.
    QTest::qWait(900);
    QVERIFY(pair()->first()->isVisible() && pair()->second()->isVisible());
}

/// Whichever of both is read first.
void TestTwoPanes::theLastChoiceCounts() {
    using tensor::Tensor;
    QVERIFY(io::writeNpz(path("other.npz").toStdString(), {{{"in.x", Tensor::of<float>({2, 2}, {1, -2, 3, 4})},
                                                            {"out.s", Tensor::of<float>({2, 2}, {0, 0, 0, 0})}}}));
    QCOMPARE(play(QStringLiteral("compare other.npz\nset y[0, 1] = 5\nselect s\n")), QString());
    using Kind = panels::PairedValue::Choice::Kind;
    panel()->paired()->choose({Kind::Reference, {}});
    panel()->paired()->choose({Kind::Baseline, {}});
    QTRY_COMPARE(second(), (Numbers{11, 20, 13, 24}));
    settle();
    QCOMPARE(second(), (Numbers{11, 20, 13, 24}));
    panel()->paired()->choose({Kind::Reference, {}});
    QTRY_COMPARE(second(), (Numbers{0, 0, 0, 0}));
}

/// Sums of 1, 2, 4: 1, 3, 7; the reference has 10, 30, 70.
void TestTwoPanes::loopsShowTheSameIteration() {
    using tensor::Tensor;
    QVERIFY(test::onnxfile::write(path("scan.onnx"), test::scanNetwork(3)));
    open(path("scan.onnx"));
    QVERIFY(io::writeNpz(path("passes.npz").toStdString(), {{{"in.x", Tensor::of<float>({3}, {1, 2, 4})},
                                                             {"node.sum.pass0", Tensor::of<float>({}, {10})},
                                                             {"node.sum.pass1", Tensor::of<float>({}, {30})},
                                                             {"node.sum.pass2", Tensor::of<float>({}, {70})}}}));
    QCOMPARE(play(QStringLiteral("input x [1,2,4]\nwatch sum\nwatch listed\nrun\nselect sum\nbeside listed\n")),
             QString());
    const auto shows = [this](const char* iteration, double own, double other) {
        QCOMPARE(play(QStringLiteral("iteration %1\n").arg(QLatin1String(iteration))), QString());
        QCOMPARE(first(), Numbers{own});
        QTRY_COMPARE(second(), Numbers{other});
    };
    for (const auto& [iteration, sum] : {std::pair("0", 1.0), {"2", 7.0}, {"1", 3.0}}) {
        shows(iteration, sum, sum);
        if (QTest::currentTestFailed()) return;
    }
    QCOMPARE(play(QStringLiteral("compare passes.npz\nselect sum\nbeside reference\n")), QString());
    for (const auto& [iteration, sum] : {std::pair("0", 1.0), {"2", 7.0}, {"1", 3.0}}) {
        shows(iteration, sum, 10 * sum);
        if (QTest::currentTestFailed()) return;
    }
}

/// With the panels that come with a run with edits, whatever the view: a window of 1280 x 720 can be made 800 x 600.
void TestTwoPanes::noViewKeepsTheWindowWide() {
    closeWindow();
    openWindow({1280, 720});
    open(QStringLiteral("zoo:resnet18?width=0.125&classes=10"));
    run();
    const graph::NodeId node = [this] {
        const graph::InternalGraph& graph = context().model().graph();
        for (std::size_t i = 0; i < graph.nodeCount(); ++i)
            if (const auto* value = context().runs().value(graph::NodeId(i)); value && value->isTensor())
                if (value->tensor().rank() == 4 && !graph.node(graph::NodeId(i)).constant) return graph::NodeId(i);
        return graph::NodeId();
    }();
    QVERIFY(node.valid());
    context().navigation().navigateTo(node);
    settle();
    session::Edit edit;
    edit.slice = "0, 0, 0, 0";
    edit.kind = session::Edit::Kind::Scale;
    edit.number = 2;
    context().edits().add(node, edit, nullptr);
    settle();
    QCOMPARE(play(QStringLiteral("beside baseline\npanel tensor_viewer\n")), QString());
    for (const panels::TensorViewInfo& view : panels::tensorViews()) {
        if (!view.accepts(pair()->first()->tensor())) continue;
        m_window->resize(1280, 720);
        pair()->first()->setCurrentView(view.id);
        settle();
        m_window->resize(800, 600);
        settle();
        QVERIFY2(m_window->size() == QSize(800, 600),
                 qPrintable(QStringLiteral("%1: %2 x %3").arg(view.id).arg(m_window->width()).arg(m_window->height())));
    }
}

QTEST_MAIN(TestTwoPanes)

}  // namespace tst_two_panes

#include "tst_two_panes.moc"
