// After a run the window shows the extents of that run, on edges, in tables and details; nothing moves because of it.

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"

using namespace sonde;
using context::InspectorContext;
using window::MainWindow;

class TestRunTypes : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
    }

    /// SharedTwice is linear layers of width 12 (shared_twice.fx.tsv); the traced archive says nothing of its input.
    void edgesHaveTheExtentsOfTheRun() {
        MainWindow window;
        window.resize(1400, 900);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        InspectorContext& context = window.context();
        QSignalSpy opened(&context, &InspectorContext::documentOpened), changed(&context, &InspectorContext::typesChanged);
        window.open(QStringLiteral(SONDE_TEST_DATA "/models/shared_twice.trace.pt"));
        QVERIFY(opened.wait(30000));
        QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 30000);
        const graph::NodeId norm = context.graph().findNode("norm");
        QVERIFY(norm.valid());
        QVERIFY(!context.graph().node(norm).type.staticShape());
        const std::vector<layout::SceneItem> before = window.canvas()->scene()->items;

        run(window, QStringLiteral("#rand(0,1,7,12)"));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(context.graph().node(norm).type.text(), std::string("float32[7,12]"));
        QVERIFY(!context.document()->graph->node(norm).type.staticShape());
        QVERIFY2(labels(window).contains(QStringLiteral("float32[7,12]")), qPrintable(labels(window).join(u'\n')));
        QVERIFY(!labels(window).contains(QStringLiteral("float32")));
        QVERIFY2(window.canvas()->textTwin().contains(QStringLiteral("float32[7,12]")), qPrintable(window.canvas()->textTwin()));
        context.select(context.selectionOf(norm));
        QTRY_VERIFY(window.findChild<panels::NodeDetailsPanel*>()->text().contains(QStringLiteral("7×12")));
        const std::vector<layout::SceneItem>& after = window.canvas()->scene()->items;
        QCOMPARE(after.size(), before.size());
        for (std::size_t i = 0; i < after.size(); ++i) QVERIFY(after[i].rect == before[i].rect);

        run(window, QStringLiteral("#rand(0,1,7,12)"));
        QCOMPARE(changed.count(), 1);
        run(window, QStringLiteral("#rand(0,1,2,3,12)"));
        QCOMPARE(changed.count(), 2);
        QCOMPARE(context.graph().node(norm).type.text(), std::string("float32[2,3,12]"));
        QTRY_VERIFY(window.findChild<panels::NodeDetailsPanel*>()->text().contains(QStringLiteral("2×3×12")));
    }

  private:
    void run(MainWindow& window, const QString& source) {
        InspectorContext& context = window.context();
        context.setInputSpec(context.inputs().front().name, {source, {}});
        QSignalSpy finished(&context, &InspectorContext::runFinished);
        context.run();
        QVERIFY(finished.wait(30000));
        QCOMPARE(context.runState(), context::RunState::Finished);
        QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 30000);
    }

    static QStringList labels(MainWindow& window) {
        QStringList texts;
        for (const layout::SceneEdge& edge : window.canvas()->scene()->edges) texts << canvas::edgeText(window.context().graph(), edge);
        return texts;
    }

    QTemporaryDir m_settings;
};

QTEST_MAIN(TestRunTypes)
#include "tst_run_types.moc"
