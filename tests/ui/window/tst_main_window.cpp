// The real window, driven by mouse and keys. Run twice: drawn in memory, and under an X server.

#include <QAbstractButton>
#include <QApplication>
#include <QDockWidget>
#include <QLineEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/models/node_search.h"
#include "ui/panels/module_tree/module_tree_panel.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/watch_list/watch_list_panel.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/slice_bar.h"
#include "ui/window/main_window.h"
#include "ui/window/panel_table.h"
#include "ui/window/script.h"
#include "ui/window/search_bar.h"
#include "ui/window/start_page.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_docks.h"

namespace tst_main_window {

using namespace sonde;
using context::InspectorContext;
using context::RunState;
using context::Selection;
using window::MainWindow;

class TestMainWindow : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void everyPanelStandsEmptyAndFilled();
    void startPageOffersSamples();
    void clickSelectsAndF9Watches();
    void f5RunsAndTheWatchListShowsValues();
    void aLiveInputRunsByItself();
    void endPointStopsTheRun();
    void doubleClickExpandsAndCollapses();
    void searchJumpsAndExpands();
    void treeAndCanvasAreInStep();
    void themeToggles();
    void aBrokenFileShowsABanner();
    void stateIsRestored();
    void scriptFailureNamesTheLine();
    void scriptTakesAPicture();
    void theWindowAnswersWhileItWorks();
    void headsStandOverTheirCells();
    void controlsOfTheViewerAreWholeInSmallWindows();

  private:
    static QString modelFile() { return QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"); }
    InspectorContext& context() { return m_window->context(); }
    canvas::GraphCanvas* canvas() { return m_window->canvases().active(); }
    void makeWindow();
    void openModel();
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 60000); }
    graph::NodeId firstOf(const char* op) {
        return models::searchNodes(context().model(), context().runs(), context().points(),
                                   QStringLiteral("op:") + QLatin1String(op))
            .nodes.front();
    }
    /// A place on a box that is its title if it is open, beside the edge that comes in at the middle.
    static QPoint middle(const QRectF& rect) {
        return QPointF(rect.left() + rect.width() * 0.35, rect.top() + std::min(rect.height() / 2, 4.0)).toPoint();
    }

    QTemporaryDir m_settings;
    std::unique_ptr<MainWindow> m_window;
};

void TestMainWindow::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
    theme::Theme::instance().install(*qApp);
    theme::Theme::instance().setReducedMotion(true);
}

void TestMainWindow::init() {
    QSettings().clear();
    makeWindow();
}

void TestMainWindow::cleanup() {
    m_window.reset();
    theme::Theme::instance().setMode(theme::Theme::Mode::Light);
}

void TestMainWindow::makeWindow() {
    m_window = std::make_unique<MainWindow>();
    m_window->resize(1400, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    m_window->activateWindow();
}

void TestMainWindow::openModel() {
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    m_window->open(modelFile());
    QVERIFY(opened.wait(30000));
    settle();
    canvas()->navigation().fit();
    settle();
}

void TestMainWindow::everyPanelStandsEmptyAndFilled() {
    for (const panels::PanelInfo& info : window::panelTable()) {
        QVERIFY2(m_window->docks().panel(info.id), qPrintable(info.id));
        m_window->docks().show(info.id);
        QVERIFY(!m_window->docks().dock(info.id)->isHidden());
        QVERIFY(!m_window->docks().dock(info.id)->grab().isNull());
    }
    openModel();
    for (const panels::PanelInfo& info : window::panelTable()) {
        m_window->docks().show(info.id);
        QVERIFY(!m_window->docks().dock(info.id)->grab().isNull());
    }
}

void TestMainWindow::startPageOffersSamples() {
    auto* page = m_window->findChild<window::StartPage*>();
    QVERIFY(page->isVisible());
    auto* sample = page->findChild<QAbstractButton*>(QStringLiteral("sample-resnet18"));
    QVERIFY2(sample, "the samples of resources/samples are offered");
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    QTest::mouseClick(sample, Qt::LeftButton);
    QVERIFY(opened.wait(30000));
    settle();
    QVERIFY(!page->isVisible());
    QVERIFY(context().inputs().all().front().spec.source.endsWith(QLatin1String("chelsea.png")));
    QVERIFY(context().inputs().all().front().value.has_value());
}

void TestMainWindow::clickSelectsAndF9Watches() {
    openModel();
    const graph::NodeId conv = firstOf("Conv");
    const QRectF box = canvas()->view().rectOf(context().model().graph().node(conv).producer);
    QVERIFY(!box.isEmpty());
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, middle(box));
    QVERIFY(!context().navigation().selection().isNone());
    QTest::keyClick(canvas(), Qt::Key_F9);
    QCOMPARE(context().points().watched().size(), std::size_t{1});
    QTest::keyClick(canvas(), Qt::Key_F9);
    QVERIFY(context().points().watched().empty());
    auto* details = qobject_cast<panels::NodeDetailsPanel*>(m_window->docks().panel(QStringLiteral("details")));
    QVERIFY2(details->text().contains(QStringLiteral("conv1")), qPrintable(details->text()));
}

void TestMainWindow::f5RunsAndTheWatchListShowsValues() {
    openModel();
    context().points().setWatched(firstOf("Relu"), true);
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    QTest::keyClick(canvas(), Qt::Key_F5);
    QVERIFY(finished.wait(60000));
    QVERIFY(context().runs().state() == RunState::Finished);
    auto* list = qobject_cast<panels::WatchListPanel*>(m_window->docks().panel(QStringLiteral("watches")));
    const QAbstractItemModel* shown = list->watches()->view()->model();
    QCOMPARE(shown->rowCount(), 1);
    QTRY_COMPARE(shown->index(0, models::WatchListModel::MinColumn).data().toString(),
                 QStringLiteral("0"));  // of a Relu
    QVERIFY(!shown->index(0, models::WatchListModel::ShapeColumn).data().toString().isEmpty());
    QVERIFY(!shown->index(0, models::WatchListModel::ValueColumn).data().toString().isEmpty());
    settle();
}

void TestMainWindow::aLiveInputRunsByItself() {
    openModel();
    const graph::NodeId input = context().inputs().all().front().node;
    context().points().setWatched(input, true);
    context().runs().setLive(true);
    context::InputSpec spec;
    for (const double value : {2.0, 5.0}) {
        QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
        spec.source = QStringLiteral("#rand(%1,%1,1,3,64,64)").arg(value);  // an interval of one number
        context().inputs().setSpec(context().inputs().all().front().name, spec);
        QVERIFY(finished.wait(60000));
        const tensor::Value* kept = context().runs().recording()->value(input);
        QVERIFY(kept);
        QCOMPARE(kept->tensor().toDouble(0), value);
    }
    context().runs().setLive(false);
    settle();
}

void TestMainWindow::endPointStopsTheRun() {
    openModel();
    const graph::NodeId relu = firstOf("Relu");
    context().navigation().navigateTo(relu);
    settle();
    QTest::keyClick(canvas(), Qt::Key_F9, Qt::ShiftModifier);
    QVERIFY(context().points().isEnd(relu));
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    QTest::keyClick(canvas(), Qt::Key_F5);
    QVERIFY(finished.wait(60000));
    QVERIFY(context().runs().wasReached(relu));
    QVERIFY(context().runs().value(relu));
    QVERIFY(!context().runs().wasReached(context().model().graph().outputs().front()));
    settle();
}

void TestMainWindow::doubleClickExpandsAndCollapses() {
    openModel();
    const graph::ScopeId layer = context().navigation().selectionOf(QStringLiteral("layer1")).scope;
    QVERIFY(!context().canvases().active().isExpanded(layer));
    QTest::mouseDClick(canvas(), Qt::LeftButton, {}, middle(canvas()->view().rectOf(layer)));
    QVERIFY(context().canvases().active().isExpanded(layer));
    settle();
    canvas()->navigation().fit();
    settle();
    // Time itself is meant: clicks that follow sooner belong to the first double click.
    QTest::qWait(QApplication::doubleClickInterval() + 50);
    QTest::mouseDClick(canvas(), Qt::LeftButton, {}, middle(canvas()->view().rectOf(layer)));
    QVERIFY(!context().canvases().active().isExpanded(layer));
    settle();
}

void TestMainWindow::searchJumpsAndExpands() {
    openModel();
    QTest::keyClick(m_window.get(), Qt::Key_F, Qt::ControlModifier);
    QVERIFY(m_window->searchBar()->isVisible());
    auto* edit = m_window->searchBar()->findChild<QLineEdit*>();
    QTest::keyClicks(edit, QStringLiteral("layer2.0.conv1"));
    QTRY_COMPARE(context().navigation().selection().qualname, QStringLiteral("layer2.0.conv1"));
    QVERIFY(
        context().canvases().active().isExpanded(context().navigation().selectionOf(QStringLiteral("layer2.0")).scope));
    settle();
    QVERIFY(!canvas()->view().rectOf(context().navigation().selection().expr).isEmpty());
    QTest::keyClick(edit, Qt::Key_Escape);
    QTest::keyClick(edit, Qt::Key_Escape);
    QVERIFY(!m_window->searchBar()->isVisible());
}

void TestMainWindow::treeAndCanvasAreInStep() {
    openModel();
    auto* tree = qobject_cast<panels::ModuleTreePanel*>(m_window->docks().panel(QStringLiteral("modules")));
    context().navigation().select(context().navigation().selectionOf(QStringLiteral("layer3")));
    QCOMPARE(tree->view()->currentIndex().data(models::QualnameRole).toString(), QStringLiteral("layer3"));
    tree->view()->setFocus();
    QTest::keyClick(tree->view(), Qt::Key_Down);
    QVERIFY(context().navigation().selection().isModule());
    QCOMPARE(context().navigation().selection().qualname,
             tree->view()->currentIndex().data(models::QualnameRole).toString());
    settle();
}

void TestMainWindow::themeToggles() {
    openModel();  // which also gives the window time to become the active one
    theme::Theme::instance().setMode(theme::Theme::Mode::Light);
    const QColor before = m_window->palette().color(QPalette::Window);
    QTest::keyClick(canvas(), Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(theme::Theme::instance().isDark());
    QVERIFY(m_window->palette().color(QPalette::Window) != before);
}

void TestMainWindow::aBrokenFileShowsABanner() {
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("broken.onnx")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("this is no model at all");
    file.close();
    m_window->open(file.fileName());
    QTRY_VERIFY_WITH_TIMEOUT(m_window->banner()->isVisible(), 20000);
    QVERIFY(!m_window->banner()->text().isEmpty());
    QVERIFY2(!QApplication::activeModalWidget(), "an error is never a modal trap");
}

void TestMainWindow::stateIsRestored() {
    openModel();
    context().points().setWatched(firstOf("Relu"), true);
    m_window->docks().dock(QStringLiteral("log"))->hide();
    m_window->close();
    makeWindow();
    openModel();
    QCOMPARE(context().points().watched().size(), std::size_t{1});
    QVERIFY(m_window->docks().dock(QStringLiteral("log"))->isHidden());
    QVERIFY(!m_window->docks().dock(QStringLiteral("modules"))->isHidden());
}

void TestMainWindow::scriptFailureNamesTheLine() {
    window::Script script(*m_window, modelFile(),
                          QStringLiteral("# comment\n\nexpand layer1\nselect no_such_node\nquit\n"), QDir::tempPath());
    QSignalSpy finished(&script, &window::Script::finished);
    script.start();
    QVERIFY(finished.wait(60000));
    QVERIFY(script.error().has_value());
    QVERIFY2(script.error()->where.find("line 4") != std::string::npos, script.error()->where.c_str());
    QCOMPARE(script.error()->exitStatus(), 2);
}

void TestMainWindow::scriptTakesAPicture() {
    QTemporaryDir folder;
    window::Script script(
        *m_window, modelFile(),
        QStringLiteral("size 1000x700\nexpand depth 1\nwatch #%1\nrun\nzoom fit\nkey Ctrl+Shift+T\nscreenshot a.png\n")
            .arg(0),
        folder.path());
    QSignalSpy finished(&script, &window::Script::finished);
    script.start();
    QVERIFY(finished.wait(100000));
    QVERIFY2(!script.error(), script.error() ? script.error()->text().c_str() : "");
    const QImage picture(folder.filePath(QStringLiteral("a.png")));
    QCOMPARE(picture.size() / picture.devicePixelRatio(), QSize(1000, 700));
    QVERIFY(theme::Theme::instance().isDark());
}

/// Between two beats of the event loop the UI thread may not be away for long. The processor time of the thread is
/// measured and not the wall clock, so that a busy machine does not fail the test.
void TestMainWindow::theWindowAnswersWhileItWorks() {
    double longest = 0;
    const auto threadMs = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
    };
    double last = threadMs();
    QTimer beat;
    connect(&beat, &QTimer::timeout, this, [&] {
        const double now = threadMs();
        longest = std::max(longest, now - last);
        last = now;
    });
    beat.start(0);
    openModel();
    const double opening = std::exchange(longest, 0);
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    context().points().setWatched(firstOf("Relu"), true);
    context().runs().run();
    QVERIFY(finished.wait(60000));
    settle();
    qInfo("longest absence of the UI thread: %.1f ms while opening, %.1f ms while running", opening, longest);
    QVERIFY2(opening < 500 && longest < 500, "the window was away for too long");
}

/// Heads of numbers at the right, as the numbers are.
void TestMainWindow::headsStandOverTheirCells() {
    openModel();
    context().points().setWatched(firstOf("Conv"), true);
    context().runs().run();
    settle();
    int numbers = 0;
    const auto sideOf = [](const QVariant& alignment) { return Qt::Alignment(alignment.toInt()) & Qt::AlignRight; };
    for (const QAbstractItemView* view : m_window->findChildren<QAbstractItemView*>()) {
        const QAbstractItemModel* model = view->model();
        if (!model || model->rowCount() == 0 ||
            (!qobject_cast<const QTableView*>(view) && !qobject_cast<const QTreeView*>(view)))
            continue;
        for (int column = 0; column < model->columnCount(); ++column) {
            const auto cell = sideOf(model->index(0, column).data(Qt::TextAlignmentRole));
            const QVariant head = model->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
            numbers += cell ? 1 : 0;
            QVERIFY2(sideOf(head) == cell,
                     qPrintable(view->accessibleName() + u' ' + model->headerData(column, Qt::Horizontal).toString()));
        }
    }
    QVERIFY(numbers > 12);
}

void TestMainWindow::controlsOfTheViewerAreWholeInSmallWindows() {
    openModel();
    m_window->resize(800, 600);
    context().runs().run();
    settle();
    context().navigation().navigateTo(firstOf("MaxPool"));
    settle();
    auto* panel = qobject_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    panel->viewer()->setCurrentView(QStringLiteral("heat_map"));
    settle();
    const auto* slice = panel->viewer()->findChild<widgets::SliceBar*>();
    QVERIFY(slice && slice->isVisible());
    QTRY_VERIFY2(
        slice->height() >= slice->heightForWidth(slice->width()),
        qPrintable(QStringLiteral("%1 of %2").arg(slice->height()).arg(slice->heightForWidth(slice->width()))));
}

QTEST_MAIN(TestMainWindow)

}  // namespace tst_main_window

#include "tst_main_window.moc"
