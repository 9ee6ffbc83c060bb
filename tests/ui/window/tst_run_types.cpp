// After a run the window shows the dim sizes of that run, on edges, in tables and details; nothing moves because of it.

#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

#include "core/exec/runner.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"
#include "ui/models/node_columns.h"
#include "ui/models/roles.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/window_canvases.h"

namespace tst_run_types {

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
    void edgesHaveTheDimSizesOfTheRun() {
        MainWindow window;
        window.resize(1400, 900);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        InspectorContext& context = window.context();
        QSignalSpy opened(&context.model(), &context::OpenModel::documentOpened),
            changed(&context.model(), &context::OpenModel::typesChanged);
        window.open(QStringLiteral(SONDE_TEST_DATA "/models/shared_twice.trace.pt"));
        QVERIFY(opened.wait(30000));
        QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 30000);
        const graph::NodeId norm = context.model().graph().findNode("norm");
        QVERIFY(norm.valid());
        QVERIFY(!context.model().graph().node(norm).type.staticShape());
        const std::vector<layout::SceneItem> before = window.canvases().active()->view().scene()->items;

        run(window, QStringLiteral("#rand(0,1,7,12)"));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(context.model().graph().node(norm).type.text(), std::string("float32[7,12]"));
        QVERIFY(!context.model().document()->graph->node(norm).type.staticShape());
        QVERIFY2(labels(window).contains(QStringLiteral("float32[7,12]")), qPrintable(labels(window).join(u'\n')));
        QVERIFY(!labels(window).contains(QStringLiteral("float32")));
        QVERIFY2(window.canvases().active()->text().twin().contains(QStringLiteral("float32[7,12]")),
                 qPrintable(window.canvases().active()->text().twin()));
        context.navigation().select(context.navigation().selectionOf(norm));
        QTRY_VERIFY(window.findChild<panels::NodeDetailsPanel*>()->text().contains(QStringLiteral("7×12")));
        const std::vector<layout::SceneItem>& after = window.canvases().active()->view().scene()->items;
        QCOMPARE(after.size(), before.size());
        for (std::size_t i = 0; i < after.size(); ++i) QVERIFY(after[i].rect == before[i].rect);

        run(window, QStringLiteral("#rand(0,1,7,12)"));
        QCOMPARE(changed.count(), 1);
        run(window, QStringLiteral("#rand(0,1,2,3,12)"));
        QCOMPARE(changed.count(), 2);
        QCOMPARE(context.model().graph().node(norm).type.text(), std::string("float32[2,3,12]"));
        QTRY_VERIFY(window.findChild<panels::NodeDetailsPanel*>()->text().contains(QStringLiteral("2×3×12")));
    }

    /// What a run's values decide is known after it: the sequence that a loop fills (robust_nested.npz: logits [1,4]),
    /// and the lists whose items the archive leaves open (gpt_mini.fx.tsv: width 48).
    void valuesDecideDimSizes_data() {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("type");
        QTest::newRow("robust_nested.onnx")
            << QStringLiteral("#rand(0,1,1,3,24,24)") << QStringLiteral("logits") << QStringLiteral("float32[1,4]");
        QTest::newRow("gpt_mini.script.pt")
            << QStringLiteral("#rand(0,9,1,7)") << QStringLiteral("chunk") << QStringLiteral("list(float32[1,7,48])");
    }
    void valuesDecideDimSizes() {
        QFETCH(QString, source);
        QFETCH(QString, name);
        QFETCH(QString, type);
        MainWindow window;
        InspectorContext& context = window.context();
        QSignalSpy opened(&context.model(), &context::OpenModel::documentOpened),
            changed(&context.model(), &context::OpenModel::typesChanged);
        window.open(QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(QTest::currentDataTag()));
        QVERIFY(opened.wait(30000));
        QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 30000);
        const graph::NodeId node = context.model().graph().findNode(name.toStdString());
        QVERIFY(node.valid());
        QVERIFY(context.model().graph().node(node).type.text() != type.toStdString());
        run(window, source);
        QCOMPARE(QString::fromStdString(context.model().graph().node(node).type.text()), type);
        // The same once more: nothing new is known.
        QCOMPARE(changed.count(), 1);
        run(window, source);
        QCOMPARE(changed.count(), 1);
    }

    /// The table's memory after a run of a model with open dim sizes is that of the values that the run has.
    void memoryIsThatOfTheRun_data() {
        QTest::addColumn<QString>("source");
        QTest::newRow("resnet18_slim.onnx") << QStringLiteral("#rand(0,1,3,3,64,64)");
        QTest::newRow("ch_ppocr_mobile_v2.0_cls_infer.onnx") << QStringLiteral("#rand(0,1,1,3,48,192)");
        for (const char* file :
             {"mlp_functional.trace.pt", "vit_small.trace.pt", "gpt_mini.trace.pt", "lstm_classifier.trace.pt",
              "unet_small.script.pt", "shared_twice.script.pt", "nested_containers.trace.pt", "unet_small.trace.pt"})
            QTest::newRow(file) << QString();
    }
    void memoryIsThatOfTheRun() {
        QFETCH(QString, source);
        MainWindow window;
        window.resize(1400, 900);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        InspectorContext& context = window.context();
        QSignalSpy opened(&context.model(), &context::OpenModel::documentOpened);
        const QString sample =
            QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/") + QLatin1String(QTest::currentDataTag());
        window.open(QFile::exists(sample)
                        ? sample
                        : QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(QTest::currentDataTag()));
        QVERIFY(opened.wait(30000));
        QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 30000);
        run(window, source.isEmpty() ? context.inputs().all().front().spec.source : source);
        std::vector<tensor::Value> inputs;
        for (const context::ModelInput& input : context.inputs().all()) inputs.push_back(*input.value);
        exec::PlanOptions options;
        options.watchAll = true;
        exec::Runner runner(1);
        const exec::Recording recording =
            runner.run(**exec::Plan::make(context.model().document()->graph, options), inputs);
        QVERIFY(!recording.error);

        const QAbstractItemModel* table = window.findChild<QTableView*>(QStringLiteral("nodeTable"))->model();
        QStringList wrong;
        for (int row = 0; row < table->rowCount(); ++row) {
            const auto number = [&](int column) {
                return table->index(row, column).data(models::ExportRole).toString();
            };
            const graph::NodeId node(table->index(row, models::NumberColumn).data(models::NodeRole).toUInt());
            const graph::Expr& producer = context.model().graph().expr(context.model().graph().node(node).producer);
            const bool isCounted =
                producer.kind != graph::ExprKind::CallModule && producer.body == context.model().graph().mainId();
            const tensor::Value* value = recording.value(node);
            if (!isCounted || !value || !value->isTensor()) continue;
            const std::int64_t elements = value->tensor().numel(),
                               bytes = elements * static_cast<std::int64_t>(tensor::itemSize(value->tensor().dtype()));
            if (number(models::ElementsColumn) == QString::number(elements) &&
                number(models::BytesColumn) == QString::number(bytes))
                continue;
            wrong << QString::fromStdString(context.model().graph().node(node).name) + u' ' +
                         number(models::BytesColumn) + u' ' + QString::number(bytes);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    }

  private:
    void run(MainWindow& window, const QString& source) {
        InspectorContext& context = window.context();
        context.inputs().setSpec(context.inputs().all().front().name, {source, {}});
        QSignalSpy finished(&context.runs(), &context::Runs::runFinished);
        context.runs().run();
        QVERIFY(finished.wait(30000));
        QCOMPARE(context.runs().state(), context::RunState::Finished);
        QTRY_VERIFY_WITH_TIMEOUT(window.isIdle(), 30000);
    }

    static QStringList labels(MainWindow& window) {
        QStringList texts;
        for (const layout::SceneEdge& edge : window.canvases().active()->view().scene()->edges)
            texts << canvas::edgeText(window.context().model().graph(), edge);
        return texts;
    }

    QTemporaryDir m_settings;
};

QTEST_MAIN(TestRunTypes)

}  // namespace tst_run_types

#include "tst_run_types.moc"
