// The passes panel in the real window: applying, the report, the graph before and after.

#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>
#include <QtTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/window/main_window.h"
#include "ui/window/window_docks.h"

namespace tst_passes_panel {

using namespace sonde;
using context::InspectorContext;
using window::MainWindow;

class TestPassesPanel : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_settings.isValid());
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
    }
    void init() {
        QSettings().clear();
        m_window = std::make_unique<MainWindow>();
        m_window->resize(1300, 900);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    }
    void cleanup() { m_window.reset(); }
    void beforeAndAfter_data();
    void beforeAndAfter();
    void withoutPassesThereIsNothingBefore();

  private:
    InspectorContext& context() { return m_window->context(); }
    QWidget* panel() { return m_window->docks().panel(QStringLiteral("passes")); }
    void waitForModel(const std::function<void()>& act) {
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        act();
        QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 60000);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 60000);
    }
    template <typename Button>
    void press(const char* title) {
        for (Button* button : panel()->findChildren<Button*>())
            if (button->text() == QLatin1String(title)) return QTest::mouseClick(button, Qt::LeftButton);
        QFAIL(title);
    }
    int normCalls() {
        int count = 0;
        for (const graph::ExprId id : context().model().graph().main().order) {
            const graph::Expr& expr = context().model().graph().expr(id);
            count += expr.moduleClass.ends_with("BatchNorm2d") || expr.op.name == "BatchNormalization" ? 1 : 0;
        }
        return count;
    }

    QTemporaryDir m_settings;
    std::unique_ptr<MainWindow> m_window;
};

void TestPassesPanel::beforeAndAfter_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<int>("norms");  // He et al. 2016: one after each convolution
    QTest::newRow("a module that was traced") << QStringLiteral("zoo:resnet18_slim") << 20;
    QTest::newRow("an archive") << QStringLiteral(SONDE_TEST_DATA "/models/unet_small.trace.pt") << 0;
}

void TestPassesPanel::beforeAndAfter() {
    QFETCH(QString, model);
    QFETCH(int, norms);
    waitForModel([&] { m_window->open(model); });
    m_window->docks().show(QStringLiteral("passes"));
    const int before = normCalls();
    if (norms) QCOMPARE(before, norms);
    QVERIFY(before > 0);
    auto* passes = panel()->findChild<QListWidget*>();
    for (int i = 0; i < passes->count(); ++i)
        passes->item(i)->setCheckState(
            passes->item(i)->data(Qt::UserRole) == QLatin1String("fuse-conv-bn") ? Qt::Checked : Qt::Unchecked);
    waitForModel([&] { press<QPushButton>("Apply"); });
    auto* report = panel()->findChild<QTreeWidget*>();
    QCOMPARE(report->topLevelItemCount(), 1);
    QTreeWidgetItem* pass = report->topLevelItem(0);
    QCOMPARE(pass->text(0), QStringLiteral("fuse-conv-bn"));
    QCOMPARE(normCalls(), before - (norms ? norms : before));
    QVERIFY(pass->childCount() >= before);

    // A removed node is shown in the graph before, with its mark; one that changed in the graph after.
    QTreeWidgetItem *removed = nullptr, *changed = nullptr;
    for (int i = 0; i < pass->childCount(); ++i) {
        if (!removed && pass->child(i)->text(0).endsWith(QLatin1String("removed")) &&
            pass->child(i)->text(2).endsWith(QLatin1String("BatchNorm2d")))
            removed = pass->child(i);
        if (!changed && pass->child(i)->text(0).endsWith(QLatin1String("changed"))) changed = pass->child(i);
    }
    QVERIFY(removed && changed);
    waitForModel([&] { report->setCurrentItem(removed); });
    QCOMPARE(context().model().shownGraph(), context().model().graphBeforePasses());
    QCOMPARE(normCalls(), before);
    QCOMPARE(QString::fromStdString(context().model().graph().node(context().navigation().selection().node).name),
             removed->text(1));
    QVERIFY(!context().model().passMarks().empty());
    waitForModel([&] { report->setCurrentItem(changed); });
    QCOMPARE(context().model().shownGraph(), 0);
    waitForModel([&] { press<QToolButton>("Before"); });
    QCOMPARE(normCalls(), before);
    QCOMPARE(report->currentItem(), changed);
    // Both can be run.
    for (int graph : {1, 0}) {
        if (context().model().shownGraph() != graph) waitForModel([&] { context().loader().showGraph(graph); });
        // An archive does not say what its input looks like.
        context().inputs().setSpec(context().inputs().all().front().name, {QStringLiteral("#rand(0,1,1,3,64,64)"), {}});
        QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
        context().runs().run();
        QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 60000);
        QCOMPARE(context().runs().state(), context::RunState::Finished);
    }
}

void TestPassesPanel::withoutPassesThereIsNothingBefore() {
    waitForModel([&] { m_window->open(QStringLiteral("zoo:resnet18_slim")); });
    QCOMPARE(context().model().graphBeforePasses(), -1);
    for (QToolButton* button : panel()->findChildren<QToolButton*>())
        if (button->text() == QLatin1String("Before")) QVERIFY(!button->isEnabled());
    QVERIFY(context().model().passMarks().empty());
}

QTEST_MAIN(TestPassesPanel)

}  // namespace tst_passes_panel

#include "tst_passes_panel.moc"
