// The panel Profile in the window: it comes when a profile was asked for by its key, and its rows, points and bars lead
// to nodes on the canvas, which lead back.

#include <QAction>
#include <QDockWidget>
#include <QListWidget>
#include <QTabWidget>
#include <QTableView>

#include "tests/support/hover.h"
#include "tests/support/window_fixture.h"
#include "ui/canvas/coloring.h"
#include "ui/models/node_columns.h"
#include "ui/models/roles.h"
#include "ui/panels/profile/profile_panel.h"

namespace tst_profile_panel {

using namespace sonde;
using panels::ProfilePanel;
using panels::ProfileTableModel;

class TestProfilePanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    void itComesWithAProfileAndGoesWithTheModel() {
        open(QStringLiteral("zoo:blocks_net"));
        QVERIFY(!panel()->isVisible());
        profile();
        QTRY_VERIFY(panel()->isVisible());
        QVERIFY2(panel()->summary().contains(QStringLiteral("peak")), qPrintable(panel()->summary()));
        open(QStringLiteral("zoo:seed"));
        QVERIFY(!panel()->profile());
        QTRY_VERIFY(!panel()->isVisible());
    }

    /// A click on a row selects its node; selecting another node selects its row.
    void rowsLeadToNodesAndBack() {
        open(QStringLiteral("zoo:blocks_net"));
        profile();
        QTableView* const nodes = panel()->nodes();
        QVERIFY(nodes->model()->rowCount() > 4);
        // The slowest first.
        double last = 1e18;
        for (int row = 0; row < nodes->model()->rowCount(); ++row) {
            const double self = nodes->model()->index(row, ProfileTableModel::Self).data(models::SortRole).toDouble();
            QVERIFY(self <= last);
            last = self;
        }
        const QModelIndex second = nodes->model()->index(1, 0);
        nodes->scrollTo(second);
        QTest::mouseClick(nodes->viewport(), Qt::LeftButton, {}, nodes->visualRect(second).center());
        QTRY_COMPARE(context().navigation().selection().node.value, second.data(models::NodeRole).toUInt());
        settle();
        const QModelIndex third = nodes->model()->index(2, 0);
        graph::NodeId node;
        node.value = third.data(models::NodeRole).toUInt();
        context().navigation().select(node);
        QTRY_COMPARE(nodes->selectionModel()->selectedRows().value(0).row(), 2);
    }

    /// A row that is current already, a line of what the peak is made of, a module in the timeline.
    void everyFigureLeadsToItsNodes() {
        open(QStringLiteral("zoo:blocks_net"));
        profile();
        QTableView* const nodes = panel()->nodes();
        const QModelIndex first = nodes->model()->index(0, 0);
        const auto clickFirst = [&] {
            nodes->scrollTo(first);
            QTest::mouseClick(nodes->viewport(), Qt::LeftButton, {}, nodes->visualRect(first).center());
            settle();
            return context().navigation().selection().node.value;
        };
        QCOMPARE(clickFirst(), first.data(models::NodeRole).toUInt());
        context().navigation().clearSelection();
        QCOMPARE(clickFirst(), first.data(models::NodeRole).toUInt());

        QVERIFY(panel()->showTab(QStringLiteral("memory")));
        settle();
        QListWidget* alive = nullptr;
        for (QListWidget* const each : panel()->findChildren<QListWidget*>())
            if (each->isVisible()) alive = each;
        QVERIFY(alive);
        QListWidgetItem* line = nullptr;
        graph::ExprId maker;
        for (int row = 0; row < alive->count() && !line; ++row) {
            maker.value = alive->item(row)->data(models::ExprRole).toUInt();
            if (maker.valid()) line = alive->item(row);
        }
        QVERIFY(line);
        alive->scrollToItem(line);
        QVERIFY(test::hovered(alive->viewport(), alive->visualItemRect(line).center()).contains(u"peak"));
        context().navigation().clearSelection();
        QTest::mouseClick(alive->viewport(), Qt::LeftButton, {}, alive->visualItemRect(line).center());
        settle();
        QCOMPARE(context().navigation().selection().expr, maker);

        QVERIFY(panel()->showTab(QStringLiteral("timeline")));
        panels::ProfilePlot* const plot = panel()->plot(2);
        QTRY_VERIFY(plot->isVisible() && plot->width() > 100);
        QPoint at(-1, -1);
        for (int y = 4; y < plot->height() && at.x() < 0; y += 8)
            for (int x = 4; x < plot->width() && at.x() < 0; x += 4)
                if (plot->scopeAt(QPointF(x, y)).valid() &&
                    context().model().graph().scope(plot->scopeAt(QPointF(x, y))).parent.valid())
                    at = QPoint(x, y);
        QVERIFY(at.x() >= 0);
        QVERIFY(test::hovered(plot, at).contains(QStringLiteral("end")));
        const graph::ScopeId call = plot->scopeAt(at);
        QTest::mouseClick(plot, Qt::LeftButton, {}, at);
        settle();
        QCOMPARE(context().navigation().selection().kind, context::Selection::Kind::Scope);
        QCOMPARE(context().navigation().selection().scope, call);
    }

    /// Of each cell and each head of both tables: what it is of, and how it is made.
    void everyFigureHasAFormula() {
        open(QStringLiteral("zoo:blocks_net"));
        profile();
        for (const char* tab : {"nodes", "modules"}) {
            QVERIFY(panel()->showTab(QLatin1String(tab)));
            QTableView* table = nullptr;
            for (QTableView* const each : panel()->findChildren<QTableView*>())
                if (each->isVisible() && each->model()->columnCount() == ProfileTableModel::ColumnCount) table = each;
            QVERIFY(table && table->model()->rowCount() > 1);
            for (int column = 0; column < ProfileTableModel::ColumnCount; ++column) {
                const QString formula = table->model()->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString();
                QVERIFY2(!formula.isEmpty(), qPrintable(QString::number(column)));
                for (int row = 0; row < table->model()->rowCount(); ++row) {
                    const QModelIndex cell = table->model()->index(row, column);
                    const QString name = table->model()->index(row, 0).data().toString();
                    const QString tip = cell.data(Qt::ToolTipRole).toString();
                    QVERIFY2(tip.startsWith(name) && tip.contains(formula), qPrintable(tip));
                }
            }
            // The same where the mouse rests on it.
            const QModelIndex self = table->model()->index(1, ProfileTableModel::Self);
            QCOMPARE(test::hovered(table, self), self.data(Qt::ToolTipRole).toString());
        }
    }

    void pointsOfTheRooflineLeadToNodes() {
        open(QStringLiteral("zoo:blocks_net"));
        profile();
        QVERIFY(panel()->showTab(QStringLiteral("roofline")));
        panels::ProfilePlot* const plot = panel()->plot(4);
        QTRY_VERIFY(plot->isVisible() && plot->width() > 100);
        graph::ExprId expr;  // one that no other covers
        QPoint at;
        for (const auto& entry : panel()->profile()->exprs) {
            const QPointF point = plot->positionOf(entry.expr);
            if (!point.isNull() && plot->exprAt(point) == entry.expr) expr = entry.expr, at = point.toPoint();
        }
        QVERIFY(expr.valid());
        QVERIFY(plot->factsAt(at).contains(QString::fromStdString(panel()->profile()->nameOf(plot->exprAt(at)))));
        const graph::ExprId clicked = plot->exprAt(at);
        QTest::mouseClick(plot, Qt::LeftButton, {}, at);
        settle();
        const graph::NodeId selected = context().navigation().selection().node;
        QVERIFY(selected.valid());
        QCOMPARE(context().model().graph().node(selected).producer, clicked);
    }

    void memoryIsExplainedWhereTheMouseIs() {
        open(QStringLiteral("zoo:blocks_net"));
        profile();
        QVERIFY(panel()->showTab(QStringLiteral("memory")));
        panels::ProfilePlot* const plot = panel()->plot(3);
        QTRY_VERIFY(plot->isVisible() && plot->width() > 60);
        const QString facts = plot->factsAt(QPointF(plot->width() - 20, 20));
        QVERIFY2(facts.contains(QStringLiteral("= Σ of:")), qPrintable(facts));
    }

    /// Saved, read again and compared: nothing is left over, and the column of differences comes.
    void savedProfilesAreCompared() {
        open(QStringLiteral("zoo:blocks_net"));
        QVERIFY(!panel()->save(QStringLiteral("none.json")));
        profile();
        const QString file = m_files.path() + QStringLiteral("/profile.json");
        QVERIFY(panel()->nodes()->isColumnHidden(ProfileTableModel::Other));
        QVERIFY(panel()->save(file));
        QTRY_VERIFY(m_window->isIdle());
        QVERIFY(QFile::exists(file));
        QVERIFY(panel()->compareWith(file));
        QTRY_VERIFY(!panel()->nodes()->isColumnHidden(ProfileTableModel::Other));
        const QModelIndex cell = panel()->nodes()->model()->index(0, ProfileTableModel::Other);
        QCOMPARE(cell.data(models::SortRole).toDouble(), 0.0);
    }

    /// The canvas has the colours of what was measured, and what it had before when the model goes.
    void nodesAreColouredByTheProfile() {
        open(QStringLiteral("zoo:blocks_net"));
        const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                            context().comparison());
        const auto press = [this](const char* id) {
            activate();
            const auto keys = m_window->actions().shortcuts(QLatin1String(id)).front();
            QTest::keyClick(canvas(), keys[0].key(), keys[0].keyboardModifiers());
            settle();
        };
        press("view.color_profile_time");
        QCOMPARE(context().settings().colorBy(), QStringLiteral("profile_time"));
        const canvas::Coloring without(measures, QStringLiteral("profile_time"), theme::Scheme::Light);
        QVERIFY(!without.isKnown());
        QVERIFY2(without.noteText().contains(QStringLiteral("Profile This Run")), qPrintable(without.noteText()));
        profile();
        const analysis::RunProfile& found = *panel()->profile();
        const std::pair<const char*, models::NodeColumnIndex> columns[] = {
            {"profile_time", models::ProfiledTimeColumn},
            {"profile_memory", models::ProfiledMemoryColumn},
            {"profile_intensity", models::ProfiledIntensityColumn},
            {"flop_rate", models::FlopRateColumn},
            {"byte_rate", models::ByteRateColumn}};
        for (const auto& [id, column] : columns) {
            press((std::string("view.color_") + id).c_str());
            QCOMPARE(context().settings().colorBy(), QLatin1String(id));
            const canvas::Coloring coloring(measures, QLatin1String(id), theme::Scheme::Light);
            QVERIFY2(coloring.isKnown() && coloring.isNumeric(), id);
            int known = 0;
            for (const analysis::ProfiledExpr& entry : found.exprs) {
                const graph::Expr& expr = found.graph->expr(entry.expr);
                if (expr.outputs.empty() || entry.doneWith.valid() || entry.isOwner) continue;
                const auto number = measures.number(column, expr.outputs.front());
                std::optional<double> expected;
                if (column == models::ProfiledTimeColumn) expected = double(entry.selfNs) / 1e6;
                if (column == models::ProfiledMemoryColumn) expected = double(entry.memory.valueBytes);
                if (column == models::ProfiledIntensityColumn) expected = entry.cost.intensity();
                if (column == models::FlopRateColumn) expected = entry.cost.flopRate(entry.selfNs);
                if (column == models::ByteRateColumn) expected = entry.cost.byteRate(entry.selfNs);
                QCOMPARE(number.has_value(), expected.has_value());
                if (!number) continue;
                QCOMPARE(*number, *expected);
                ++known;
            }
            QVERIFY2(known > 3, id);
        }
        open(QStringLiteral("zoo:seed"));
        QCOMPARE(context().settings().colorBy(), QStringLiteral("category"));
    }

    /// The timeline has no axis at its left: its ends are below the ends of its bars, and whole.
    void theEndsOfTheTimelineAreBelowIt() {
        open(QStringLiteral("zoo:blocks_net"));
        profile();
        auto* const plot = panel()->findChild<panels::SpanPlot*>();
        QVERIFY(plot);
        plot->resize(900, 160);
        const QImage image = plot->grab().toImage().convertToFormat(QImage::Format_RGB32);
        const QRgb ground = theme::color(theme::ColorRole::PlotBackground).rgb();
        int left = image.width(), right = -1;
        for (int y = image.height() - 14; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                if (image.pixel(x, y) != ground) left = std::min(left, x), right = std::max(right, x);
        QVERIFY2(left < 10, qPrintable(QString::number(left)));
        QVERIFY2(right > image.width() - 20 && right < image.width() - 2, qPrintable(QString::number(right)));
    }

  private:
    ProfilePanel* panel() const { return m_window->findChild<ProfilePanel*>(); }
    void profile() {
        key(Qt::Key_F6, Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(panel()->profile(), 60000);
        settle();
    }
    QTemporaryDir m_files;
};

QTEST_MAIN(TestProfilePanel)

}  // namespace tst_profile_panel

#include "tst_profile_panel.moc"
