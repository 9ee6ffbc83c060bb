// Presentation mode in the real window, by the keys of a keyboard and of a presenter's remote, and by the mouse.

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QMenuBar>
#include <QStatusBar>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>

#include <algorithm>
#include <cmath>

#include "tests/support/branched_convolutions.h"
#include "tests/support/window_fixture.h"
#include "ui/context/lessons.h"
#include "ui/panels/outputs/output_view.h"
#include "ui/panels/outputs/outputs_panel.h"
#include "ui/window/presentation.h"
#include "ui/window/presentation_bar.h"
#include "ui/window/window_docks.h"

namespace tst_presentation {

using namespace sonde;
using window::PresentationOverlay;

class TestPresentation : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow({1280, 720});
    }
    void cleanup() { closeWindow(); }
    void oneKeyLeavesGraphAndValue();
    void platesAreForWorkAtADesk();
    void theRemoteWalksInFlowOrder();
    void theOutputIsShownInItsForm();
    void sharesAndNotesAreReadInANarrowPane();
    void theOutputOfATraceIsShownInItsForm();
    void theWalkGoesOnFromWhatIsClicked();
    void theWalkLeavesOutTheBranchThatWasNotTaken();
    void theLayerIsInTheSpotlight();
    void linesAreDrawnAndErased();
    void thePointerFollowsTheMouse();
    void blackHidesEverything();
    void everythingIsAsItWasBefore();
    void aLessonKeepsItsColumn();
    void aModelThatClosesEndsIt();
    void escapeEndsItWhereverTheKeyboardIs();
    void itsKeysDoNothingElsewhere();
    void aFittedViewIsFittedAgain();
    void thePaneGrowsWithTheWindow();

  private:
    window::Presentation& presentation() { return m_window->presentation(); }
    void begin() {
        key(Qt::Key_F4);
        QVERIFY(presentation().isOn());
    }
    QString title() { return presentation().bar()->titleText(); }
    QString place() { return presentation().bar()->placeText(); }
    void press(Qt::Key which) {
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : canvas(), which);
        QCoreApplication::processEvents();
        settle();
    }
};

void TestPresentation::oneKeyLeavesGraphAndValue() {
    open(file("resnet18_slim.onnx"));
    run();
    const double before = theme::Theme::instance().textScale();
    begin();
    QVERIFY(m_window->menuBar()->isHidden());
    QVERIFY(m_window->statusBar()->isHidden());
    for (QToolBar* bar : m_window->findChildren<QToolBar*>()) QCOMPARE(bar->isVisible(), bar == presentation().bar());
    for (QDockWidget* dock : m_window->findChildren<QDockWidget*>())
        QCOMPARE(dock->isVisible(), dock->objectName() == QLatin1String("dock.tensor_viewer"));
    QVERIFY(theme::Theme::instance().textScale() > 1.3 * before);
    // Graph and value share the window.
    const int value = m_window->docks().dock(QStringLiteral("tensor_viewer"))->width();
    QVERIFY2(value > 450 && value < 640, qPrintable(QString::number(value)));
    QVERIFY(canvas()->width() > 600);
    QCOMPARE(title(), QStringLiteral("Input x"));
    QCOMPARE(place(), QStringLiteral("1 of 11"));
    QCOMPARE(presentation().bar()->factsText(), QStringLiteral("float32 1×3×64×64"));
}

/// Neither the count of what is hidden nor the path of modules lies over the graph.
void TestPresentation::platesAreForWorkAtADesk() {
    const auto hasPlate = [this] {
        const QList<QLabel*> labels = canvas()->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [](const QLabel* label) {
            return (label->accessibleName() == QStringLiteral("Hidden nodes") ||
                    label->accessibleName() == QStringLiteral("Path of modules")) &&
                   label->isVisible();
        });
    };
    open(file("resnet18_slim.onnx"));
    QVERIFY(hasPlate());
    begin();
    for (int i = 0; i < 11; ++i, press(Qt::Key_PageDown)) QVERIFY2(!hasPlate(), qPrintable(title()));
    key(Qt::Key_F4);
    settle();
    QVERIFY(hasPlate());
}

/// Remotes send Page Up and Page Down.
void TestPresentation::theRemoteWalksInFlowOrder() {
    open(file("resnet18_slim.onnx"));
    run();
    begin();
    QStringList titles{title()};
    for (int i = 0; i < 10; ++i) {
        press(Qt::Key_PageDown);
        titles << title();
        // What is shown of the graph is what is shown of the values.
        const QRectF shown = presentation().overlay()->spot();
        QVERIFY2(QRectF(m_window->rect()).contains(shown) && shown.width() > 150, qPrintable(title()));
    }
    QCOMPARE(titles, QStringList({"Input x", "Conv — conv1", "Relu — relu", "MaxPool — maxpool", "layer1", "layer2",
                                  "layer3", "layer4", "GlobalAveragePool — avgpool", "Flatten", "Gemm — fc"}));
    press(Qt::Key_PageDown);
    QCOMPARE(place(), QStringLiteral("11 of 11"));
    press(Qt::Key_PageUp);
    QCOMPARE(title(), QStringLiteral("Flatten"));
    press(Qt::Key_Home);
    QCOMPARE(title(), QStringLiteral("Input x"));
    press(Qt::Key_End);
    QCOMPARE(title(), QStringLiteral("Gemm — fc"));
}

/// The last layer of a classifier: classes in large letters in place of a table of numbers.
void TestPresentation::theOutputIsShownInItsForm() {
    open(file("resnet18_slim.onnx"));
    begin();
    QDockWidget *value = m_window->docks().dock(QStringLiteral("tensor_viewer")),
                *outputs = m_window->docks().dock(QStringLiteral("outputs"));
    press(Qt::Key_End);
    QVERIFY(value->isVisible() && !outputs->isVisible());  // there is none before a run
    run();
    QTRY_VERIFY(outputs->isVisible() && !value->isVisible());
    const auto* panel = static_cast<panels::OutputsPanel*>(m_window->docks().panel(QStringLiteral("outputs")));
    QCOMPARE(panel->formBox()->itemText(0), QStringLiteral("Auto: Classes"));
    QTableView* list = panel->view()->list();
    QVERIFY(list->isVisible() && list->model()->rowCount() == 5);
    QVERIFY(list->rowHeight(0) > 1.3 * list->fontMetrics().height());
    press(Qt::Key_PageUp);
    QTRY_VERIFY(value->isVisible() && !outputs->isVisible());
    press(Qt::Key_PageDown);
    QTRY_VERIFY(outputs->isVisible());
    key(Qt::Key_F4);
    settle();
    QVERIFY(!outputs->isHidden());
    QVERIFY(!value->titleBarWidget() && !outputs->titleBarWidget());
    QVERIFY(list->rowHeight(0) < 1.6 * list->fontMetrics().height());
}

/// Of a narrow pane the indices go before shares are cut; what the weights are is read to its end.
void TestPresentation::sharesAndNotesAreReadInANarrowPane() {
    open(QStringLiteral("zoo:resnet18_slim"));
    m_window->resize(800, 600);
    begin();
    run();
    press(Qt::Key_End);
    const auto* panel = static_cast<panels::OutputsPanel*>(m_window->docks().panel(QStringLiteral("outputs")));
    QTableView* list = panel->view()->list();
    QTRY_VERIFY(list->isVisible() && list->model()->rowCount() == 5);
    settle();
    QTRY_VERIFY2(list->horizontalHeader()->length() <= list->viewport()->width(),
                 qPrintable(QString::number(list->horizontalHeader()->length())));
    const QAbstractItemView& view = *list;
    QVERIFY(list->columnWidth(1) >= view.sizeHintForColumn(1));
    const auto* const notes = panel->findChild<QLabel*>(QStringLiteral("outputLargeNotes"));
    QVERIFY(notes && notes->isVisible() && notes->text().startsWith(QLatin1String("random weights")));
    QVERIFY2(notes->height() >= notes->heightForWidth(notes->width()), qPrintable(QString::number(notes->height())));
    key(Qt::Key_F4);
    settle();
    QVERIFY(!notes->isVisible());
}

/// There the output is a node behind the last layer.
void TestPresentation::theOutputOfATraceIsShownInItsForm() {
    open(QStringLiteral("zoo:resnet18_slim"));
    begin();
    run();
    press(Qt::Key_End);
    QTRY_VERIFY(m_window->docks().dock(QStringLiteral("outputs"))->isVisible());
    const auto* panel = static_cast<panels::OutputsPanel*>(m_window->docks().panel(QStringLiteral("outputs")));
    QCOMPARE(panel->formBox()->itemText(0), QStringLiteral("Auto: Classes"));
    QTRY_VERIFY(panel->view()->list()->isVisible() && panel->view()->list()->model()->rowCount() == 5);
}

void TestPresentation::theWalkGoesOnFromWhatIsClicked() {
    open(file("resnet18_slim.onnx"));
    begin();
    press(Qt::Key_PageDown);
    const QRectF relu = rectOf(canvas(), node("/relu/Relu_output_0"));
    QVERIFY(relu.intersects(canvas()->rect()));
    click(canvas(), relu.center());
    QCOMPARE(title(), QStringLiteral("Relu — relu"));
    press(Qt::Key_PageDown);
    press(Qt::Key_PageDown);
    QCOMPARE(title(), QStringLiteral("layer1"));
    // An open module is walked through from inside.
    press(Qt::Key_Return);
    QCOMPARE(place().section(u' ', -1).toInt(), 12);
    QCOMPARE(title(), QStringLiteral("layer1.0"));
    press(Qt::Key_PageDown);
    QCOMPARE(title(), QStringLiteral("layer1.1"));
    // The buttons do what the keys do.
    const QList<QToolButton*> buttons = presentation().bar()->findChildren<QToolButton*>();
    const auto previous = std::find_if(buttons.begin(), buttons.end(), [this](const QToolButton* button) {
        return button->defaultAction() == m_window->actions().action(QStringLiteral("present.previous"));
    });
    QVERIFY(previous != buttons.end());
    QTest::mouseClick(*previous, Qt::LeftButton);
    settle();
    QCOMPARE(title(), QStringLiteral("layer1.0"));
}

/// Once a run has decided; before that nobody knows.
void TestPresentation::theWalkLeavesOutTheBranchThatWasNotTaken() {
    const QString path = m_settings.filePath(QStringLiteral("branches.onnx"));
    QVERIFY(test::writeConvolutionsInBranches(path));
    open(path);
    m_window->actions().action(QStringLiteral("view.expand_all"))->trigger();
    settle();
    begin();
    const auto isStop = [this](const char* name) {
        return std::ranges::any_of(presentation().walk(),
                                   [&](const session::WalkStop& stop) { return stop.value == node(name); });
    };
    QVERIFY(isStop("taken") && isStop("other"));
    run();
    QVERIFY(isStop("taken") && !isStop("other"));
    press(Qt::Key_End);
    QCOMPARE(place().section(u' ', 0, 0), place().section(u' ', -1));
}

void TestPresentation::theLayerIsInTheSpotlight() {
    open(file("resnet18_slim.onnx"));
    begin();
    press(Qt::Key_PageDown);
    const QRectF spot = presentation().overlay()->spot();
    const QPoint corner = canvas()->mapTo(m_window.get(), QPoint());
    QCOMPARE(spot, rectOf(canvas(), node("/conv1/Conv_output_0")).translated(corner));
    const QPoint beside(corner.x() + canvas()->width() / 2, static_cast<int>(spot.top()) - 60);
    const auto contrast = [&] {  // of what is beside the spotlight: the darkest pixel above it
        const QImage picture = m_window->grab().toImage();
        int darkest = 255;
        for (int y = corner.y() + 60; y < beside.y(); ++y)
            for (int x = beside.x() - 150; x < beside.x() + 150; ++x)
                darkest = std::min(darkest, qGray(picture.pixel(x, y)));
        return 255 - darkest;
    };
    const int dimmed = contrast();
    press(Qt::Key_S);
    QVERIFY(presentation().overlay()->spot().isEmpty());
    QVERIFY2(contrast() > 2 * dimmed && dimmed > 0, qPrintable(QString::number(dimmed)));
    press(Qt::Key_S);
    QCOMPARE(presentation().overlay()->spot(), spot);
}

void TestPresentation::linesAreDrawnAndErased() {
    open(file("resnet18_slim.onnx"));
    begin();
    const graph::NodeId selected = context().navigation().selection().node;
    press(Qt::Key_D);
    PresentationOverlay* overlay = presentation().overlay();
    QTest::mousePress(overlay, Qt::LeftButton, {}, {200, 200});
    QTest::mouseMove(overlay, {320, 240});
    QTest::mouseMove(overlay, {420, 200});
    QTest::mouseRelease(overlay, Qt::LeftButton, {}, {420, 200});
    QCOMPARE(overlay->lines().size(), std::size_t{1});
    QVERIFY(overlay->lines().front().size() >= 3);
    QCOMPARE(context().navigation().selection().node, selected);
    const QColor ink = theme::color(theme::ColorRole::ErrorMark);
    QCOMPARE(m_window->grab().toImage().pixelColor(320, 240), ink);
    // Each layer has its own drawing.
    press(Qt::Key_PageDown);
    QVERIFY(overlay->lines().empty());
    press(Qt::Key_PageUp);
    QCOMPARE(overlay->lines().size(), std::size_t{1});
    press(Qt::Key_E);
    QVERIFY(overlay->lines().empty());
    press(Qt::Key_PageDown);
    press(Qt::Key_PageUp);
    QVERIFY(overlay->lines().empty());
    press(Qt::Key_D);
    QCOMPARE(overlay->tool(), PresentationOverlay::Tool::None);
}

void TestPresentation::thePointerFollowsTheMouse() {
    open(file("resnet18_slim.onnx"));
    begin();
    press(Qt::Key_S);
    press(Qt::Key_P);
    QTest::mouseMove(presentation().overlay(), {900, 300});
    QCoreApplication::processEvents();
    const QColor there = m_window->grab().toImage().pixelColor(900, 300),
                 ink = theme::color(theme::ColorRole::ErrorMark);
    QVERIFY(std::abs(there.red() - ink.red()) < 60 && there.green() < 120);
    // Drawing takes its place.
    press(Qt::Key_D);
    QCOMPARE(presentation().overlay()->tool(), PresentationOverlay::Tool::Pen);
    QVERIFY(!m_window->actions().action(QStringLiteral("present.pointer"))->isChecked());
}

/// The key of remotes is B or a full stop.
void TestPresentation::blackHidesEverything() {
    open(file("resnet18_slim.onnx"));
    begin();
    for (const Qt::Key which : {Qt::Key_B, Qt::Key_Period}) {
        press(which);
        QVERIFY(presentation().overlay()->isBlack());
        const QImage picture = m_window->grab().toImage();
        for (const QPoint at : {QPoint(5, 5), QPoint(640, 360), QPoint(1270, 710)})
            QCOMPARE(picture.pixelColor(at), QColor(Qt::black));
        press(which);
        QVERIFY(!presentation().overlay()->isBlack());
    }
    press(Qt::Key_B);
    QTest::mouseClick(presentation().overlay(), Qt::LeftButton);
    QVERIFY(!presentation().overlay()->isBlack());
    press(Qt::Key_B);
    press(Qt::Key_PageDown);
    QVERIFY(!presentation().overlay()->isBlack());
    QCOMPARE(place(), QStringLiteral("2 of 11"));
}

void TestPresentation::everythingIsAsItWasBefore() {
    open(file("resnet18_slim.onnx"));
    run();
    const graph::NodeId conv = node("/layer1/layer1.0/conv1/Conv_output_0");
    context().navigation().navigateTo(conv);
    settle();
    m_window->docks().show(QStringLiteral("nodes"));
    settle();
    canvas()->view().zoomIn();
    settle();
    const auto camera = canvas()->view().camera();
    const auto view = canvas()->state().view();
    const bool canGoBack = context().navigation().canGoBack();
    QMap<QString, QRect> panels;  // where they are; none if they are hidden
    for (QDockWidget* dock : m_window->findChildren<QDockWidget*>())
        panels[dock->objectName()] = dock->isHidden() ? QRect() : dock->geometry();
    const QStringList wishes = m_window->docks().wishes();
    const QSize size = m_window->size();
    const QImage picture = m_window->grab().toImage();
    const double scale = theme::Theme::instance().textScale();
    begin();
    QVERIFY(m_window->grab().toImage() != picture);
    press(Qt::Key_Home);
    for (int i = 0; i < 5; ++i) press(Qt::Key_PageDown);
    press(Qt::Key_D);
    canvas()->view().zoomOut();
    canvas()->state().expandToDepth(0);
    settle();
    key(Qt::Key_F4);
    QVERIFY(!presentation().isOn());
    settle();
    QCOMPARE(theme::Theme::instance().textScale(), scale);
    for (QDockWidget* dock : m_window->findChildren<QDockWidget*>()) {
        const QRect was = panels[dock->objectName()], now = dock->geometry();
        QVERIFY2(dock->isHidden() == was.isNull(), qPrintable(dock->objectName()));
        // Qt shares what is left of a column in whole pixels: one may be the neighbour's.
        if (!was.isNull())
            QVERIFY2(std::abs(was.top() - now.top()) <= 1 && std::abs(was.height() - now.height()) <= 1 &&
                         was.left() == now.left() && was.width() == now.width(),
                     qPrintable(dock->objectName()));
    }
    for (QToolBar* bar : m_window->findChildren<QToolBar*>()) QVERIFY(bar->isVisible());
    QCOMPARE(m_window->docks().wishes(), wishes);
    QCOMPARE(m_window->size(), size);
    QCOMPARE(context().navigation().selection().node, conv);
    QCOMPARE(context().navigation().canGoBack(), canGoBack);
    QVERIFY(canvas()->state().view() == view);
    QCOMPARE(canvas()->view().camera().centre, camera.centre);
    QCOMPARE(canvas()->view().camera().scale, camera.scale);
    QVERIFY(!m_window->menuBar()->isHidden());
    QVERIFY(!m_window->statusBar()->isHidden());
    QVERIFY(!m_window->findChild<PresentationOverlay*>());
    QVERIFY(!m_window->findChild<window::PresentationBar*>());
}

/// In a low window it has the left one.
void TestPresentation::aLessonKeepsItsColumn() {
    closeWindow();
    openWindow({800, 600});
    open(file("resnet18_slim.onnx"));
    context::lessonsOf(context()).open(QStringLiteral("convolution"));
    settle();
    QTRY_VERIFY(m_window->docks().areColumnsLent());
    begin();
    press(Qt::Key_PageDown);
    press(Qt::Key_Escape);
    QVERIFY(!presentation().isOn());
    settle();
    QVERIFY(m_window->docks().areColumnsLent());
    QVERIFY(m_window->docks().dock(QStringLiteral("lesson"))->isVisible());
    QVERIFY(!m_window->docks().dock(QStringLiteral("modules"))->isVisible());
}

void TestPresentation::aModelThatClosesEndsIt() {
    open(file("resnet18_slim.onnx"));
    begin();
    key(Qt::Key_W, Qt::ControlModifier);
    QVERIFY(!presentation().isOn());
    QVERIFY(!m_window->menuBar()->isHidden());
    for (QDockWidget* dock : m_window->findChildren<QDockWidget*>()) QVERIFY(!dock->isVisible());
    QVERIFY(!m_window->actions().action(QStringLiteral("present.toggle"))->isEnabled());
    open(file("mlp_functional.onnx"));
    begin();
    QCOMPARE(place().section(u' ', 0, 0), QStringLiteral("1"));
    m_window->close();
    QVERIFY(!presentation().isOn());
}

void TestPresentation::escapeEndsItWhereverTheKeyboardIs() {
    open(file("resnet18_slim.onnx"));
    run();
    begin();
    key(Qt::Key_Escape);
    QVERIFY(!presentation().isOn());
    begin();
    QWidget* viewer = m_window->docks().panel(QStringLiteral("tensor_viewer"));
    viewer->setFocus();
    QVERIFY(viewer->isAncestorOf(QApplication::focusWidget()));
    press(Qt::Key_PageDown);
    QCOMPARE(place(), QStringLiteral("2 of 11"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(!presentation().isOn());
    settle();
}

/// B, S and Page Down are ordinary keys while nothing is presented.
void TestPresentation::itsKeysDoNothingElsewhere() {
    open(file("resnet18_slim.onnx"));
    for (const QString& id : m_window->actions().ids())
        if (id.startsWith(QStringLiteral("present.")))
            QCOMPARE(m_window->actions().action(id)->isEnabled(), id == QLatin1String("present.toggle"));
    key(Qt::Key_PageDown);
    key(Qt::Key_B);
    QVERIFY(context().navigation().selection().isNone());
    QVERIFY(!m_window->findChild<PresentationOverlay*>());
}

void TestPresentation::aFittedViewIsFittedAgain() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_Space);
    const auto camera = canvas()->view().camera();
    begin();
    press(Qt::Key_PageDown);
    QVERIFY(canvas()->view().camera().scale > camera.scale);
    key(Qt::Key_Escape);
    settle();
    QCOMPARE(canvas()->view().camera().scale, camera.scale);
    QCOMPARE(canvas()->view().camera().centre, camera.centre);
}

/// Graph and value share the window as before, however large it is.
void TestPresentation::thePaneGrowsWithTheWindow() {
    open(file("resnet18_slim.onnx"));
    run();
    begin();
    const auto* const value = m_window->docks().dock(QStringLiteral("tensor_viewer"));
    const auto share = [&] { return static_cast<double>(value->width()) / m_window->width(); };
    const double before = share();
    for (const QSize size : {QSize(1920, 1080), QSize(1500, 800), QSize(1280, 720)}) {
        m_window->resize(size);
        QCoreApplication::processEvents();
        settle();
        QTRY_VERIFY2(std::abs(share() - before) < 0.01, qPrintable(QString::number(share())));
    }
    // One that the user has dragged is kept like that, too.
    m_window->resizeDocks({m_window->docks().dock(QStringLiteral("tensor_viewer"))}, {700}, Qt::Horizontal);
    QTRY_VERIFY2(share() > before + 0.05, qPrintable(QString::number(value->width())));
    const double dragged = share();
    m_window->resize(1600, 900);
    settle();
    QTRY_VERIFY2(std::abs(share() - dragged) < 0.01, qPrintable(QString::number(share())));
}

QTEST_MAIN(TestPresentation)

}  // namespace tst_presentation

#include "tst_presentation.moc"
