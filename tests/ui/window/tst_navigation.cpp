// Finding one's way in the real window: folded blocks, cones, hiding, bookmarks, colours, help, files that change.
// Driven by keys and clicks.

#include <QAction>
#include <QApplication>
#include <QFile>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QtTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/models/node_search.h"
#include "ui/panels/instances/instances_panel.h"
#include "ui/panels/node_table/node_table_panel.h"
#include "ui/panels/operators/operators_panel.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"
#include "ui/window/focus_bar.h"
#include "ui/window/main_window.h"
#include "ui/window/search_bar.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_docks.h"
#include "ui/window/window_links.h"

namespace tst_navigation {

using namespace sonde;
using context::InspectorContext;
using context::RunState;
using window::MainWindow;

class TestNavigation : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void blocksFoldAndKeysShowTheOthers();
    void valuesOfBlocksStandSideBySide();
    void conesHaveADepthSlider();
    void theBarOfAFilterCoversNoNode_data();
    void theBarOfAFilterCoversNoNode();
    void hidingIsCountedAndUndone();
    void pathsBetweenTwoNodes();
    void whatOneIsLedToIsShown();
    void bookmarksSurviveReopening();
    void coloursByTime();
    void operatorTableSelects();
    void tableTotalsEqualTheirSums();
    void f1ShowsTheOperator();
    void helpCanBeSearched();
    void wrongQueriesShowThePlace();
    void aChangedFileIsOfferedForReloading();
    void linkedWindowsSelectTheSame();
    void everyPassOfALoopCanBeChosen();
    void theTakenBranchIsMarked();
    void selectionStaysInViewInASmallerWindow();

  private:
    static QString file(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }
    static QString transformer() { return QStringLiteral("zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4"); }
    InspectorContext& context() { return m_window->context(); }
    canvas::GraphCanvas* canvas() { return m_window->canvases().active(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 60000); }
    void open(const QString& model);
    void run();
    void key(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        m_window->activateWindow();
        canvas()->setFocus();
        QTest::keyClick(canvas(), which, modifiers);
        settle();
    }
    std::vector<graph::NodeId> find(const char* query) {
        return models::searchNodes(context().model(), context().runs(), context().points(), QLatin1String(query)).nodes;
    }
    std::size_t shownExprs() {
        std::size_t count = 0;
        for (const layout::SceneItem& item : canvas()->view().scene()->items)
            count += item.what.kind == layout::ItemKind::Expr;
        return count;
    }

    QTemporaryDir m_settings;
    std::unique_ptr<MainWindow> m_window;
};

void TestNavigation::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
    theme::Theme::instance().install(*qApp);
    theme::Theme::instance().setReducedMotion(true);
}

void TestNavigation::init() {
    QSettings().clear();
    m_window = std::make_unique<MainWindow>();
    m_window->resize(1400, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    m_window->activateWindow();
}

void TestNavigation::cleanup() {
    m_window.reset();
    theme::Theme::instance().setMode(theme::Theme::Mode::Light);
}

void TestNavigation::open(const QString& model) {
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    m_window->open(model);
    QVERIFY(opened.wait(30000));
    settle();
}

void TestNavigation::run() {
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    key(Qt::Key_F5);
    if (finished.isEmpty()) QVERIFY(finished.wait(60000));
    QCOMPARE(context().runs().state(), RunState::Finished);
    settle();
}

void TestNavigation::blocksFoldAndKeysShowTheOthers() {
    open(transformer());
    context().canvases().active().expandToDepth(9);
    settle();
    QCOMPARE(canvas()->view().scene()->foldedBlocks, 4u);
    QVERIFY2(canvas()->text().hidden().contains("in 4 repeated blocks"), qPrintable(canvas()->text().hidden()));
    QVERIFY2(canvas()->text().twin().contains(QStringLiteral("\u00d7 5")), qPrintable(canvas()->text().twin()));
    const std::vector<graph::NodeId> norms = find("class:LayerNorm name:/ln_1$/");
    QCOMPARE(norms.size(), std::size_t{5});
    context().navigation().navigateTo(norms[0]);
    settle();
    key(Qt::Key_PageDown, Qt::ControlModifier);
    QVERIFY(context().navigation().selection().node == norms[1]);
    QVERIFY(canvas()->view().rectOf(context().navigation().selection().expr).isValid());
    key(Qt::Key_PageUp, Qt::ControlModifier);
    key(Qt::Key_PageUp, Qt::ControlModifier);
    QVERIFY(context().navigation().selection().node == norms[4]);
    const std::size_t folded = shownExprs();
    key(Qt::Key_F, Qt::ControlModifier | Qt::AltModifier);
    QCOMPARE(canvas()->view().scene()->foldedBlocks, 0u);
    QVERIFY(shownExprs() > 2 * folded);
    key(Qt::Key_F, Qt::ControlModifier | Qt::AltModifier);
    QCOMPARE(shownExprs(), folded);
}

void TestNavigation::valuesOfBlocksStandSideBySide() {
    open(transformer());
    run();
    const std::vector<graph::NodeId> norms = find("class:LayerNorm name:/ln_1$/");
    context().navigation().navigateTo(norms[2]);
    settle();
    m_window->docks().show(QStringLiteral("instances"));
    auto* panel = qobject_cast<panels::InstancesPanel*>(m_window->docks().panel(QStringLiteral("instances")));
    QCOMPARE(panel->model().rowCount(), 5);
    auto* compute = panel->findChild<QPushButton*>(QStringLiteral("computeValues"));
    if (compute->isVisible()) QTest::mouseClick(compute, Qt::LeftButton);
    const auto mean = [&](int row) {
        return panel->model().index(row, models::InstanceTableModel::Mean).data().toString();
    };
    for (int row = 0; row < 5; ++row) QTRY_VERIFY_WITH_TIMEOUT(!mean(row).isEmpty(), 10000);
    // A normalised value: mean about 0, deviation about 1 (the weights of the built-in model are ones).
    for (int row = 0; row < 5; ++row) {
        QVERIFY(std::abs(mean(row).toDouble()) < 1e-3);
        QVERIFY(std::abs(panel->model().index(row, models::InstanceTableModel::Deviation).data().toString().toDouble() -
                         1) < 0.05);
    }
    panel->view()->scrollToTop();
    QTest::mouseClick(panel->view()->viewport(), Qt::LeftButton, {},
                      panel->view()->visualRect(panel->view()->model()->index(4, 0)).center());
    settle();
    QVERIFY(context().navigation().selection().node == norms[4]);
}

void TestNavigation::conesHaveADepthSlider() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    const std::size_t all = shownExprs();
    const std::vector<graph::NodeId> convs = find("op:Conv");
    context().navigation().select(convs[3]);
    key(Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(m_window->canvases().focusBar()->isVisible());
    const std::size_t needed = shownExprs();
    QVERIFY(needed < all);
    QVERIFY(m_window->canvases().focusBar()->text().contains(
        QStringLiteral("%1 hidden").arg(canvas()->view().scene()->filteredExprs)));
    QVERIFY(canvas()->view().scene()->filteredExprs >= all - needed &&
            canvas()->view().scene()->filteredExprs <= all - needed + 1);  // and the output
    QSlider* slider = m_window->canvases().focusBar()->depthSlider();
    slider->setFocus();
    slider->setValue(3);
    settle();
    // Conv, Relu, Add, and what the addition reads: the block's second Conv and the MaxPool before the block
    QCOMPARE(shownExprs(), std::size_t{5});
    QTest::keyClick(slider, Qt::Key_Left);
    settle();
    QCOMPARE(shownExprs(), std::size_t{3});
    key(Qt::Key_H, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!m_window->canvases().focusBar()->isVisible());
    QCOMPARE(shownExprs(), all);
}

void TestNavigation::theBarOfAFilterCoversNoNode_data() {
    QTest::addColumn<int>("width");
    for (const int width : {800, 1280, 1400}) QTest::addRow("%d", width) << width;
}

/// All of it is on the window, above the canvas, and every node of a fitted graph below it.
void TestNavigation::theBarOfAFilterCoversNoNode() {
    QFETCH(int, width);
    m_window->resize(width, 800);
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    context().navigation().select(find("op:Conv").back());
    key(Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
    key(Qt::Key_Space);
    const window::FocusBar* const bar = m_window->canvases().focusBar();
    QVERIFY(bar->isVisible());
    const auto place = [this](const QWidget* widget) {
        return QRect(widget->mapTo(m_window.get(), QPoint()), widget->size());
    };
    QVERIFY(!place(bar).intersects(place(canvas())));
    QVERIFY(place(bar).bottom() < place(canvas()).top());
    QCOMPARE(place(bar).left(), place(canvas()).left());
    QVERIFY(bar->width() <= canvas()->width());
    for (const QWidget* part : bar->findChildren<QWidget*>())
        if (part->isVisible()) QVERIFY2(bar->rect().contains(part->geometry()), qPrintable(part->objectName()));
    for (const layout::ItemId item : canvas()->view().visibleItems())
        QVERIFY(QRectF(canvas()->rect()).contains(canvas()->view().itemRect(item)));
}

void TestNavigation::hidingIsCountedAndUndone() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    const std::size_t all = shownExprs();
    const std::size_t relus = find("op:Relu").size();
    context().navigation().select(find("op:Relu").front());
    key(Qt::Key_H, Qt::ControlModifier | Qt::AltModifier);
    QCOMPARE(shownExprs(), all - relus);
    QCOMPARE(canvas()->view().scene()->filteredExprs, static_cast<std::uint32_t>(relus));
    QVERIFY(canvas()->text().hidden().contains(QStringLiteral("%1 filtered out").arg(relus)));
    key(Qt::Key_Escape);
    QCOMPARE(shownExprs(), all);
}

void TestNavigation::pathsBetweenTwoNodes() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    // From the first addition to the next one: both convolutions' way and the short cut.
    const std::vector<graph::NodeId> adds = find("op:Add");
    context().navigation().selectMany({adds[0], adds[1]});
    key(Qt::Key_J, Qt::ControlModifier | Qt::AltModifier);
    // Add, Relu, Conv, Relu, Conv, Add (normalisation is folded into the convolutions of this file)
    QCOMPARE(shownExprs(), std::size_t{6});
}

void TestNavigation::whatOneIsLedToIsShown() {
    open(file("resnet18_slim.onnx"));
    const std::vector<graph::NodeId> convs = find("op:Conv");
    context().navigation().select(convs[0]);
    key(Qt::Key_I, Qt::ControlModifier | Qt::AltModifier);
    QVERIFY(canvas()->view().scene()->filteredExprs > 0);
    context().navigation().navigateTo(convs[5]);
    settle();
    QCOMPARE(canvas()->view().scene()->filteredExprs, 0u);
    QVERIFY(canvas()->view().rectOf(context().navigation().selection().expr).isValid());
    // In a module that was closed: once it is open the place is at the node and not at its box, and goes back when it
    // closes.
    context().canvases().active().expandToDepth(0);
    settle();
    context().navigation().navigateTo(convs[5]);
    settle();
    const auto current = [this] { return canvas()->view().scene()->item(canvas()->view().currentItem()).what; };
    QCOMPARE(current().expr, context().navigation().selection().expr);
    context().canvases().active().expandToDepth(0);
    settle();
    QVERIFY(current().kind == layout::ItemKind::Module && !current().open);
}

void TestNavigation::bookmarksSurviveReopening() {
    open(file("resnet18_slim.onnx"));
    const std::vector<graph::NodeId> convs = find("op:Conv");
    context().navigation().navigateTo(convs[4]);
    key(Qt::Key_B, Qt::ControlModifier);
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("layer2")));
    key(Qt::Key_B, Qt::ControlModifier);
    const std::string name = context().model().graph().node(convs[4]).name;
    context().loader().close();
    open(file("resnet18_slim.onnx"));
    QCOMPARE(context().navigation().bookmarks().size(), std::size_t{2});
    key(Qt::Key_1, Qt::ControlModifier);
    QCOMPARE(context().model().graph().node(context().navigation().selection().node).name, name);
    key(Qt::Key_F2);
    QCOMPARE(context().navigation().selection().qualname, QStringLiteral("layer2"));
    QVERIFY(m_window->actions().action(QStringLiteral("go.bookmark_2"))->text().contains("layer2"));
    QVERIFY(!m_window->actions().action(QStringLiteral("go.bookmark_3"))->isEnabled());
}

void TestNavigation::coloursByTime() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    run();
    const QImage before = canvas()->grab().toImage();
    key(Qt::Key_5, Qt::ControlModifier | Qt::AltModifier);
    QCOMPARE(context().settings().colorBy(), QStringLiteral("time"));
    QVERIFY(canvas()->overlays().legendVisible());
    QVERIFY(canvas()->grab().toImage() != before);
    key(Qt::Key_1, Qt::ControlModifier | Qt::AltModifier);
    QCOMPARE(context().settings().colorBy(), QStringLiteral("category"));
}

void TestNavigation::operatorTableSelects() {
    open(file("resnet18_slim.onnx"));
    m_window->docks().show(QStringLiteral("operators"));
    auto* panel = qobject_cast<panels::OperatorsPanel*>(m_window->docks().panel(QStringLiteral("operators")));
    QTRY_VERIFY(panel->view()->model()->rowCount() > 0);
    for (int row = 0; row < panel->view()->model()->rowCount(); ++row) {
        const QModelIndex name = panel->view()->model()->index(row, 0);
        if (name.data().toString() != u"Conv") continue;
        QCOMPARE(name.siblingAtColumn(models::OperatorTableModel::Count).data().toString(), QStringLiteral("20"));
        panel->view()->scrollTo(name);
        QTest::mouseClick(panel->view()->viewport(), Qt::LeftButton, {}, panel->view()->visualRect(name).center());
        settle();
        QCOMPARE(context().navigation().selectedNodes().size(), std::size_t{20});  // ResNet-18 has 20 convolutions
        return;
    }
    QFAIL("there is no row for Conv");
}

void TestNavigation::tableTotalsEqualTheirSums() {
    open(file("resnet18_slim.onnx"));
    auto* panel = qobject_cast<panels::NodeTablePanel*>(m_window->docks().panel(QStringLiteral("nodes")));
    QTemporaryDir folder;
    const QString csv = folder.filePath(QStringLiteral("nodes.csv"));
    QVERIFY(panel->writeCsv(csv));
    QFile written(csv);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QStringList lines = QString::fromUtf8(written.readAll()).split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), panel->view()->model()->rowCount() + 1);
    QCOMPARE(lines.front().section(u',', 0, 1), QStringLiteral("#,Node"));
    std::int64_t parameters = 0;
    for (std::size_t i = 0; i < context().model().graph().nodeCount(); ++i) {
        const graph::Node& node = context().model().graph().node(graph::NodeId(i));
        if (context().model().graph().expr(node.producer).isParameter && !node.users.empty())
            parameters += node.constant->tensor().shape().numel();
    }
    double sum = 0;
    for (int row = 0; row < panel->view()->model()->rowCount(); ++row)
        sum += panel->view()->model()->index(row, models::ParametersColumn).data(models::ExportRole).toDouble();
    QVERIFY2(std::abs(sum - static_cast<double>(parameters)) < 1,
             qPrintable(QStringLiteral("%1 %2").arg(sum).arg(parameters)));
}

void TestNavigation::f1ShowsTheOperator() {
    open(file("resnet18_slim.onnx"));
    context().navigation().navigateTo(find("op:Conv").front());
    key(Qt::Key_F1);
    auto* help = m_window->findChild<dialogs::HelpViewer*>();
    QVERIFY(help && help->isVisible());
    const QString page = help->browser()->toPlainText();
    QVERIFY2(page.contains("ai.onnx::Conv") && page.contains("kernel_shape") && page.contains("[7, 7]") &&
                 page.contains("float32"),
             qPrintable(page));
    QVERIFY(page.contains("This model imports version"));
    help->close();
    key(Qt::Key_Escape);
    key(Qt::Key_F1);
    QVERIFY(!help->browser()->toPlainText().contains("ai.onnx::Conv"));
}

void TestNavigation::helpCanBeSearched() {
    dialogs::HelpViewer help;
    help.showOperators();
    help.search(QStringLiteral("ai.onnx::LayerNormalization"));
    QCOMPARE(help.pages()->currentItem()->text(), QStringLiteral("ai.onnx::LayerNormalization"));
    QVERIFY(help.browser()->toPlainText().contains("epsilon"));
    help.search(QStringLiteral("dropped by nobody"));
    help.search({});
    QVERIFY(!help.pages()->item(0)->isHidden());
}

void TestNavigation::wrongQueriesShowThePlace() {
    open(file("resnet18_slim.onnx"));
    key(Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(m_window->searchBar()->search(QStringLiteral("op:Conv and shpae:[1]")), 0);
    QVERIFY(m_window->searchBar()->problem());
    QCOMPARE(m_window->searchBar()->problem()->at, std::size_t{12});
    QVERIFY(QString::fromStdString(m_window->searchBar()->problem()->hint).contains("shape"));
    QVERIFY(m_window->searchBar()->search(QStringLiteral("op:Conv and shape:[*,16,...]")) > 0);
    QVERIFY(!m_window->searchBar()->problem());
}

void TestNavigation::aChangedFileIsOfferedForReloading() {
    QTemporaryDir folder;
    const QString copy = folder.filePath(QStringLiteral("model.onnx"));
    QVERIFY(QFile::copy(file("resnet18_slim.onnx"), copy));
    open(copy);
    const graph::NodeId conv = find("op:Conv")[6];
    const std::string name = context().model().graph().node(conv).name;
    context().points().setWatched(conv, true);
    context().navigation().navigateTo(conv);
    settle();
    const QRectF place = canvas()->view().rectOf(context().navigation().selection().expr);
    QSignalSpy changed(&context().model(), &context::OpenModel::fileChanged);
    // As exporters do: another file takes its place.
    const QString other = folder.filePath(QStringLiteral("new.onnx"));
    QVERIFY(QFile::copy(file("resnet18_slim.onnx"), other));
    QFile grown(other);
    QVERIFY(grown.open(QIODevice::Append));
    grown.write(QByteArray("\x32\x01x", 3));  // ModelProto.doc_string = "x"
    grown.close();
    QVERIFY(QFile::remove(copy) && QFile::rename(other, copy));
    QVERIFY(changed.wait(10000));
    QTRY_VERIFY(m_window->banner()->isVisible());

    auto* reload = m_window->banner()->findChild<QPushButton*>();
    QVERIFY(reload && reload->isVisible());
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    QTest::mouseClick(reload, Qt::LeftButton);
    QVERIFY(opened.wait(30000));
    settle();
    QCOMPARE(context().model().graph().node(context().navigation().selection().node).name, name);
    QCOMPARE(context().points().watched().size(), std::size_t{1});
    const QRectF again = canvas()->view().rectOf(context().navigation().selection().expr);
    QVERIFY2((again.topLeft() - place.topLeft()).manhattanLength() < 4,
             qPrintable(QStringLiteral("%1 %2").arg(again.x() - place.x()).arg(again.y() - place.y())));
}

void TestNavigation::linkedWindowsSelectTheSame() {
    open(file("resnet18_slim.onnx"));
    std::unique_ptr<MainWindow> other(m_window->openBeside());
    other->setAttribute(Qt::WA_DeleteOnClose, false);
    QTRY_VERIFY(other->context().model().isOpen());
    const graph::NodeId conv = find("op:Conv")[7];
    context().navigation().navigateTo(conv);
    QCOMPARE(other->context().navigation().selection().node, conv);
    QTRY_VERIFY_WITH_TIMEOUT(other->isIdle(), 60000);
    // Another model in it: what has the same path.
    QSignalSpy opened(&other->context().model(), &context::OpenModel::documentOpened);
    other->open(QStringLiteral("zoo:resnet18_slim"));
    QVERIFY(opened.wait(30000));
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("layer3")));
    QCOMPARE(other->context().navigation().selection().qualname, QStringLiteral("layer3"));
    m_window->links().setLinked(false);
    context().navigation().navigateTo(context().navigation().selectionOf(QStringLiteral("layer1")));
    QCOMPARE(other->context().navigation().selection().qualname, QStringLiteral("layer3"));
}

void TestNavigation::everyPassOfALoopCanBeChosen() {
    open(file("control_flow.onnx"));
    // A value in the body of a loop that runs more than once.
    run();
    const graph::InternalGraph& graph = context().model().graph();
    graph::NodeId inside;
    for (std::size_t i = 1; i < graph.bodyCount() && !inside.valid(); ++i) {
        const graph::Body& body = graph.body(graph::BodyId(i));
        if (!body.owner.valid() || graph.expr(body.owner).op.name != "Loop") continue;
        for (const graph::ExprId expr : body.order)
            if (graph.expr(expr).kind == graph::ExprKind::Apply &&
                context().runs().recording()->computed(graph.expr(expr).outputs.front()))
                inside = graph.expr(expr).outputs.front();
    }
    QVERIFY(inside.valid());
    context().navigation().navigateTo(inside);
    settle();
    QTRY_VERIFY_WITH_TIMEOUT(context().runs().iterations(inside) > 1, 10000);
    auto* values = qobject_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    QTRY_VERIFY(values->iterationBox()->isVisibleTo(values));
    QCOMPARE(values->iterationBox()->maximum(), static_cast<int>(context().runs().iterations(inside)) - 1);
    QCOMPARE(values->iterationBox()->minimum(), 0);  // as verbs and files count
    QCOMPARE(values->iterationBox()->value(), values->iterationBox()->maximum());
    QVERIFY(context().runs().value(inside, 0) && context().runs().value(inside, 1));
    values->iterationBox()->setFocus();
    QTest::keyClick(values->iterationBox(), Qt::Key_Down);
    QCOMPARE(values->iterationBox()->value(), values->iterationBox()->maximum() - 1);
}

void TestNavigation::theTakenBranchIsMarked() {
    open(file("control_flow.onnx"));
    const graph::InternalGraph& graph = context().model().graph();
    graph::ExprId branch;
    for (const graph::ExprId id : graph.main().order)
        if (graph.expr(id).op.name == "If") branch = id;
    QVERIFY(branch.valid());
    const auto& bodies = graph.expr(branch).bodies;
    QVERIFY(!context().runs().wasTaken(bodies[0]) && !context().runs().wasTaken(bodies[1]));
    run();
    QVERIFY(context().runs().wasTaken(bodies[0]) != context().runs().wasTaken(bodies[1]));
    const graph::BodyId taken = context().runs().wasTaken(bodies[0]) ? bodies[0] : bodies[1];
    const graph::BodyId other = bodies[0] == taken ? bodies[1] : bodies[0];
    const auto ran = [&](graph::BodyId body) {
        for (const graph::ExprId id : graph.body(body).order)
            if (!layout::Outline::isConstant(graph.expr(id)) &&
                context().runs().recording()->state(id) == exec::ExprState::Done)
                return true;
        return false;
    };
    QVERIFY(ran(taken) && !ran(other));
}

void TestNavigation::selectionStaysInViewInASmallerWindow() {
    open(file("resnet18_slim.onnx"));
    context().canvases().active().expandToDepth(9);
    settle();
    canvas()->navigation().fit();
    settle();
    canvas()->view().zoomReset();
    settle();
    // What is at the lower right of the view.
    graph::ExprId corner;
    for (const layout::SceneItem& item : canvas()->view().scene()->items) {
        if (item.what.kind != layout::ItemKind::Expr) continue;
        const QRectF rect = canvas()->view().rectOf(item.what.expr);
        if (QRectF(canvas()->rect()).contains(rect) &&
            (!corner.valid() || rect.bottom() > canvas()->view().rectOf(corner).bottom()))
            corner = item.what.expr;
    }
    QVERIFY(corner.valid());
    context().navigation().select(corner);
    settle();
    const int width = canvas()->width();
    m_window->resize(1000, 620);
    QTRY_VERIFY(canvas()->width() < width);
    settle();
    QVERIFY(QRectF(canvas()->rect()).intersects(canvas()->view().rectOf(corner)));
    QVERIFY(QRectF(canvas()->rect()).contains(canvas()->view().rectOf(corner)));
}

QTEST_MAIN(TestNavigation)

}  // namespace tst_navigation

#include "tst_navigation.moc"
