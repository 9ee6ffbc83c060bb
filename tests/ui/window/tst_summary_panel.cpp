// The summary beside a model: what `sonde info` says, nodes of its figures, copies, and colours by its measures. Driven
// by clicks and keys in the real window.

#include <QClipboard>
#include <QDockWidget>
#include <QGuiApplication>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTableView>

#include "core/session/model_info.h"
#include "tests/support/hover.h"
#include "tests/support/window_fixture.h"
#include "ui/canvas/coloring.h"
#include "ui/models/node_columns.h"
#include "ui/panels/summary/summary_panel.h"

namespace tst_summary_panel {

using namespace sonde;

class TestSummaryPanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow({1280, 720});
    }
    void cleanup() { closeWindow(); }
    void itComesWithAModel();
    void costIsInSight();
    void figuresLeadToTheirNodes();
    void linesWithoutNodesOfferNone();
    void figuresHaveFormulas();
    void copiesAreThoseOfTheCommand();
    void aRunGivesNumbersForOpenSizes();
    void nodesAreColouredByItsMeasures();
    void openSizesAreToldInTheLegend();
    void narrowPanelsHaveOneColumn();
    void aLineKeepsItsTitleOrItsFigure();

  private:
    QDockWidget* dock() { return m_window->docks().dock(QStringLiteral("summary")); }
    panels::SummaryPanel& panel() {
        return static_cast<panels::SummaryPanel&>(*m_window->docks().panel(QStringLiteral("summary")));
    }
    QString text(int row) { return panel().model().index(row, models::SummaryModel::Text).data().toString(); }
    /// The first row with this title, or whose text begins with it; -1 if there is none.
    int find(const QString& title) {
        for (int i = 0; i < panel().model().rowCount(); ++i)
            if (panel().model().index(i, models::SummaryModel::Title).data().toString() == title ||
                text(i).startsWith(title))
                return i;
        return -1;
    }
    int row(const QString& title) {
        const int found = find(title);
        if (found < 0) qFatal("no row %s", qPrintable(title));
        return found;
    }
    QPoint placeOf(int row) {
        const QModelIndex index = panel().model().index(row, models::SummaryModel::Text);
        panel().view()->scrollTo(index);
        return panel().view()->visualRect(index).center();
    }
    std::vector<std::string> selected() {
        std::vector<std::string> names;
        for (const graph::NodeId node : context().navigation().selectedNodes())
            names.push_back(context().model().graph().node(node).name);
        return names;
    }
    void press(const char* action) {
        activate();
        const auto keys = m_window->actions().shortcuts(QLatin1String(action)).front();
        QTest::keyClick(canvas(), keys[0].key(), keys[0].keyboardModifiers());
        settle();
    }
};

void TestSummaryPanel::itComesWithAModel() {
    QVERIFY(dock()->isHidden());
    open(file("resnet18_slim.onnx"));
    QVERIFY(!dock()->isHidden() && !dock()->visibleRegion().isEmpty());
    QVERIFY(m_window->docks().dock(QStringLiteral("details"))->isHidden());
    // From the file: 20 convolutions, 713,796 parameters (torchvision's network with a quarter of the width).
    QCOMPARE(text(0), QStringLiteral("resnet18_slim.onnx (ONNX)"));
    QVERIFY(text(row("parameters")).startsWith(QStringLiteral("713,796 in 42 tensors")));
    QCOMPARE(panel().model().index(row("Conv"), models::SummaryModel::Title).data().toString(), QStringLiteral("20"));
    QTRY_VERIFY(text(find("SHA-256")).size() == 64);
    context().loader().close();
    settle();
    QVERIFY(dock()->isHidden());
}

/// Parameters, multiply-adds and memory are what people look for: without scrolling, in a window of a small screen too.
void TestSummaryPanel::costIsInSight() {
    closeWindow();
    QSettings().clear();  // nothing is known of another window
    openWindow({1280, 720});
    open(file("resnet18_slim.onnx"));
    QTRY_VERIFY(panel().model().rowCount() > 0 && !context().summary().isHashing());
    const QTableView& view = *panel().view();
    for (const char* title : {"parameters", "multiply-adds", "FLOPs", "bytes read", "activations"}) {
        const QModelIndex line = panel().model().index(row(QLatin1String(title)), models::SummaryModel::Text);
        QTRY_VERIFY2(view.viewport()->rect().contains(view.visualRect(line)),
                     qPrintable(QStringLiteral("%1 at %2 of %3")
                                    .arg(QLatin1String(title))
                                    .arg(view.visualRect(line).bottom())
                                    .arg(view.viewport()->height())));
    }
}

void TestSummaryPanel::figuresLeadToTheirNodes() {
    open(file("resnet18_slim.onnx"));
    QTRY_VERIFY(panel().model().rowCount() > 0 && !context().summary().isHashing());
    // One click reads, two select.
    const int pooling = row("MaxPool"), depth = row("depth");
    const QPoint place = placeOf(pooling);
    QTest::mouseClick(panel().view()->viewport(), Qt::LeftButton, {}, place);
    QVERIFY(context().navigation().selection().isNone());
    QTest::mouseDClick(panel().view()->viewport(), Qt::LeftButton, {}, place);
    settle();
    QCOMPARE(selected().size(), std::size_t{1});
    QCOMPARE(context().model().graph().expr(context().navigation().selection().expr).op.name, std::string("MaxPool"));
    // The keyboard does the same.
    m_window->docks().show(QStringLiteral("summary"));
    QVERIFY(panel().view()->hasFocus());
    panel().view()->setCurrentIndex(panel().model().index(depth, 0));
    QTest::keyClick(panel().view(), Qt::Key_Return);
    settle();
    // 4 + 8·5 + 3 operations in a network whose norms are folded: convolution, ReLU, pool; blocks of two convolutions,
    // a ReLU between, a sum and a ReLU; pool, flatten, product.
    QCOMPARE(selected().size(), std::size_t{3 + 8 * 5 + 3});
    // All that is computed: these and three convolutions of the shortcuts. The batch is open for all of it and the
    // input.
    const auto select = [&](const char* title) {
        panel().view()->setFocus();
        panel().view()->setCurrentIndex(panel().model().index(row(QLatin1String(title)), 0));
        QTest::keyClick(panel().view(), Qt::Key_Return);
        settle();
        return selected().size();
    };
    QCOMPARE(select("nodes"), std::size_t{46 + 3});
    QCOMPARE(select("dimension"), std::size_t{46 + 3 + 1});
}

/// A line of the whole file has nothing to select, and does not offer it.
void TestSummaryPanel::linesWithoutNodesOfferNone() {
    open(file("resnet18_slim.onnx"));
    QTRY_VERIFY(panel().model().rowCount() > 0 && !context().summary().isHashing());
    const QAction* const select = panel().view()->actions().front();
    panel().view()->setCurrentIndex(panel().model().index(row(QStringLiteral("depth")), 0));
    QVERIFY(select->isEnabled());
    const int hash = row(QStringLiteral("SHA-256"));
    panel().view()->setCurrentIndex(panel().model().index(hash, 0));
    QVERIFY(!select->isEnabled());
    // The sign at the right of a line is of those that lead somewhere.
    const auto inkAtRight = [&](int line) {
        const QModelIndex index = panel().model().index(line, models::SummaryModel::Text);
        panel().view()->setCurrentIndex({});
        panel().view()->scrollTo(index);
        const QRect cell = panel().view()->visualRect(index);
        const QImage image = panel().view()->viewport()->grab(cell).toImage();
        const QColor paper = image.pixelColor(image.width() - 1, 0);
        for (int y = 0; y < image.height(); ++y)
            for (int x = image.width() - 12; x < image.width(); ++x)
                if (image.pixelColor(x, y) != paper) return true;
        return false;
    };
    QVERIFY(inkAtRight(row(QStringLiteral("Conv"))));
    QVERIFY(!inkAtRight(row(QStringLiteral("file size"))));
}

void TestSummaryPanel::figuresHaveFormulas() {
    open(file("resnet18_slim.onnx"));
    QTRY_VERIFY(!context().summary().isHashing());  // whose row moves those below it
    for (const char* title : {"parameters", "depth", "multiply-adds", "FLOPs", "bytes read", "activations", "field"}) {
        const QModelIndex index = panel().model().index(row(QLatin1String(title)), models::SummaryModel::Text);
        const QStringList lines = index.data(Qt::ToolTipRole).toString().split(u'\n');
        QCOMPARE(lines.size(), 3);  // the figure, how it is made, what it leads to
        QVERIFY(lines[2].contains(QStringLiteral("Return")));
        // The same where the mouse rests on it.
        QCOMPARE(test::hovered(panel().view(), index), index.data(Qt::ToolTipRole).toString());
    }
    const QModelIndex field = panel().model().index(row(QStringLiteral("field")), models::SummaryModel::Text);
    QVERIFY(test::hovered(panel().view(), field).contains(QString::fromUtf8("r = 1 + \u03a3 (k \u2212 1)\u00b7d")));
}

void TestSummaryPanel::copiesAreThoseOfTheCommand() {
    open(file("gpt_mini.onnx"));
    QTRY_VERIFY(!context().summary().isHashing() && !context().summary().lines().empty());
    const auto& document = *context().model().document();
    const auto info = session::modelInfo(document);
    QVERIFY(info);
    QGuiApplication::clipboard()->clear();
    press("file.copy_summary");
    QTRY_COMPARE(QGuiApplication::clipboard()->text(), QString::fromStdString(session::modelInfoText(document, *info)));
    press("file.copy_summary_json");
    QTRY_COMPARE(QGuiApplication::clipboard()->text(), QString::fromStdString(session::modelInfoJson(document, *info)));
    QCOMPARE(QJsonDocument::fromJson(QGuiApplication::clipboard()->text().toUtf8())["format"].toString(),
             QStringLiteral("sonde-info"));
}

/// The batch of the file is open: the cost is an expression in it, and a number once a run has given it.
void TestSummaryPanel::aRunGivesNumbersForOpenSizes() {
    open(file("resnet18_slim.onnx"));
    QVERIFY(text(row("multiply-adds")).contains(QStringLiteral("batch")));
    run();
    QTRY_VERIFY(!text(row("multiply-adds")).contains(QStringLiteral("batch")));
    QCOMPARE(text(row("cost")), QStringLiteral("for the sizes of the last run"));
    QTRY_VERIFY(text(find("SHA-256")).size() == 64);
}

void TestSummaryPanel::nodesAreColouredByItsMeasures() {
    open(QStringLiteral("zoo:resnet18"));
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    const graph::InternalGraph& graph = context().model().graph();
    const graph::NodeId conv = graph.findNode("conv1/conv2d"), last = graph.outputs().front();
    // 112·112·64 results of 3·7·7 products, two FLOPs each; 7×7 pixels; float32 results; conv1 is the first operation.
    QCOMPARE(measures.number(models::FlopsColumn, conv), std::optional(2.0 * 112 * 112 * 64 * 3 * 49));
    QCOMPARE(measures.number(models::FieldColumn, conv), std::optional(7.0));
    QCOMPARE(measures.number(models::ActivationColumn, conv), std::optional(4.0 * 112 * 112 * 64));
    QCOMPARE(measures.number(models::DepthColumn, conv), std::optional(1.0));
    QCOMPARE(measures.number(models::FieldColumn, last), std::optional(224.0));
    for (const char* id : {"flops", "traffic", "intensity", "activation", "field", "depth"}) {
        press((std::string("view.color_") + id).c_str());
        QCOMPARE(context().settings().colorBy(), QLatin1String(id));
        const canvas::Coloring coloring(measures, QLatin1String(id), theme::Scheme::Light);
        QVERIFY2(coloring.isKnown() && coloring.isNumeric(), id);
    }
}

/// Where the batch is open a reshape's zero is no scale: the legend says what to do instead.
void TestSummaryPanel::openSizesAreToldInTheLegend() {
    open(file("resnet18_slim.onnx"));
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison());
    for (const char* id : {"flops", "traffic", "intensity", "activation"}) {
        const canvas::Coloring coloring(measures, QLatin1String(id), theme::Scheme::Light);
        QVERIFY2(!coloring.isKnown(), id);
        QCOMPARE(coloring.noteText(), QStringLiteral("sizes are open: run once"));
    }
    run();
    QTRY_VERIFY(canvas::Coloring(measures, QStringLiteral("flops"), theme::Scheme::Light).isKnown());
}

/// In a small window titles and texts share lines, which end where the panel does, and a tool tip has all of each.
void TestSummaryPanel::narrowPanelsHaveOneColumn() {
    open(file("resnet18_slim.onnx"));
    QVERIFY(!panel().view()->isColumnHidden(models::SummaryModel::Title));
    const auto lines = [this] {
        QTableView& view = *panel().view();
        return view.viewport()->height() / std::max(1, view.rowHeight(0));
    };
    QVERIFY2(lines() >= 8, qPrintable(QString::number(lines())));
    closeWindow();
    openWindow({800, 600});
    open(file("resnet18_slim.onnx"));
    QTableView& view = *panel().view();
    QVERIFY(!panel().visibleRegion().isEmpty());  // no tab behind the inputs
    QVERIFY(view.isColumnHidden(models::SummaryModel::Title));
    QVERIFY(view.columnWidth(models::SummaryModel::Text) <= view.viewport()->width());
    QVERIFY2(lines() >= 4, qPrintable(QString::number(lines())));
    QTRY_VERIFY(find("SHA-256") >= 0);  // read in the background
    const QModelIndex hash = panel().model().index(row("SHA-256"), models::SummaryModel::Text);
    QVERIFY(hash.data(Qt::ToolTipRole).toString().contains(text(hash.row())));
}

/// Of a figure its title gives way; a hash that begins with a digit is none.
void TestSummaryPanel::aLineKeepsItsTitleOrItsFigure() {
    const QFontMetrics metrics(panel().view()->font());
    const auto line = [&](const char* title, const QString& text, const char* shown) {
        return panels::summaryLine(QLatin1String(title), text, metrics.horizontalAdvance(QLatin1String(shown)),
                                   metrics);
    };
    const QString hash = QStringLiteral("836d200182955a36") + QString(48, QLatin1Char('0'));
    QVERIFY2(line("SHA-256", hash, "SHA-256: 836d200182").startsWith(QStringLiteral("SHA-256: 836d")),
             qPrintable(line("SHA-256", hash, "SHA-256: 836d200182")));
    QVERIFY(line("", hash, "836d200182955a").startsWith(QStringLiteral("836d")));
    QCOMPARE(line("FLOPs", QStringLiteral("1.814 G (1,814,073,344)"), "FLOPs: 1.814 G.."),
             QStringLiteral("FLOPs: 1.814 G"));
    const QString figure = line("multiply-adds", QStringLiteral("11072000*batch"), "multiply: 11072000.");
    QVERIFY2(figure.startsWith(QStringLiteral("mult")) && figure.contains(QStringLiteral(": 11072000")),
             qPrintable(figure));
}

QTEST_MAIN(TestSummaryPanel)

}  // namespace tst_summary_panel

#include "tst_summary_panel.moc"
