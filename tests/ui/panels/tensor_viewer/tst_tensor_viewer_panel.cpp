#include <QApplication>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

#include "core/io/npz/npz.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/widgets/empty_state.h"

namespace tst_tensor_viewer_panel {

using namespace sonde;
using namespace sonde::panels;

namespace {

const QString kModel = QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.onnx");
const QString kReference = QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.npz");

}  // namespace

class TestTensorViewerPanel : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-tests"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_tensor_viewer_panel"));
        QSettings().clear();
    }
    void cleanupTestCase() { context::Job::waitForAll(); }

    void withoutAModelItSaysSo() {
        context::InspectorContext inspector;
        TensorViewerPanel panel(inspector.model(), inspector.navigation(), inspector.runs(), inspector.inputs(),
                                inspector.messages(), inspector.comparison(), inspector.why(), inspector.gradients(),
                                inspector.edits(), inspector.debugger(), inspector.second(), inspector.bisection(),
                                inspector.engine(), context::outputsOf(inspector), inspector.session());
        panel.resize(300, 300);
        panel.show();
        QCOMPARE(panel.findChild<widgets::EmptyState*>()->accessibleName(), "No model");
        QVERIFY(!panel.viewer()->isVisible());
        panel.grab();
    }

    void aValueThatWasNotKeptIsComputedWhenLookedAt() {
        context::InspectorContext inspector;
        TensorViewerPanel panel(inspector.model(), inspector.navigation(), inspector.runs(), inspector.inputs(),
                                inspector.messages(), inspector.comparison(), inspector.why(), inspector.gradients(),
                                inspector.edits(), inspector.debugger(), inspector.second(), inspector.bisection(),
                                inspector.engine(), context::outputsOf(inspector), inspector.session());
        panel.resize(400, 500);
        panel.show();
        inspector.loader().open(kModel);
        QTRY_COMPARE(inspector.loader().state(), context::LoadState::Loaded);
        auto* empty = panel.findChild<widgets::EmptyState*>();
        QCOMPARE(empty->accessibleName(), "Nothing selected");
        const graph::InternalGraph& graph = inspector.model().graph();
        const graph::NodeId output = inspector.model().document()->outputs.front().node;
        const graph::NodeId inner = graph.expr(graph.node(output).producer).inputs.front();

        inspector.navigation().select(inner);
        QCOMPARE(panel.node(), inner);
        QCOMPARE(empty->accessibleName(), "No value yet");
        for (const context::ModelInput& input : inspector.inputs().all())
            inspector.inputs().setSpec(input.name, {kReference, {}});
        // The button runs the model as far as the node.
        QTest::mouseClick(empty->findChild<QPushButton*>(), Qt::LeftButton);
        QTRY_VERIFY(panel.viewer()->hasValue());
        QVERIFY(panel.viewer()->isVisible());
        QVERIFY(panel.viewer()->statisticsText().contains("mean"));

        inspector.runs().run();
        QTRY_COMPARE(inspector.runs().state(), context::RunState::Finished);
        QTRY_VERIFY(panel.viewer()->hasValue());

        inspector.navigation().select(output);
        QTRY_VERIFY(panel.viewer()->hasValue());
        const auto reference = io::NpzFile::open(kReference.toStdString());
        QVERIFY(reference.has_value());
        const tensor::Tensor expected =
            reference->read("out." + inspector.model().document()->outputs.front().name).value();
        const tensor::Tensor shown = panel.viewer()->tensor();
        QCOMPARE(shown.shape(), expected.shape());
        for (std::int64_t i = 0; i < expected.numel(); ++i)
            QVERIFY(std::abs(shown.toDouble(i) - expected.toDouble(i)) <= 1e-4 + 1e-3 * std::abs(expected.toDouble(i)));

        inspector.navigation().clearSelection();
        QCOMPARE(empty->accessibleName(), "Nothing selected");
        inspector.loader().close();
        QCOMPARE(empty->accessibleName(), "No model");
    }

    void weightsAreSeenWithoutARun() {
        context::InspectorContext inspector;
        TensorViewerPanel panel(inspector.model(), inspector.navigation(), inspector.runs(), inspector.inputs(),
                                inspector.messages(), inspector.comparison(), inspector.why(), inspector.gradients(),
                                inspector.edits(), inspector.debugger(), inspector.second(), inspector.bisection(),
                                inspector.engine(), context::outputsOf(inspector), inspector.session());
        panel.resize(400, 500);
        panel.show();
        inspector.loader().open(kModel);
        QTRY_COMPARE(inspector.loader().state(), context::LoadState::Loaded);
        const graph::InternalGraph& graph = inspector.model().graph();
        int seen = 0;
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
            const graph::Node& node = graph.node(graph::NodeId(i));
            if (!node.constant) continue;
            inspector.navigation().select(node.id);
            QVERIFY(panel.viewer()->hasValue());
            panel.grab();
            ++seen;
        }
        QVERIFY(seen > 0);
    }

    void selectingEverythingIsNoTrouble() {
        context::InspectorContext inspector;
        TensorViewerPanel panel(inspector.model(), inspector.navigation(), inspector.runs(), inspector.inputs(),
                                inspector.messages(), inspector.comparison(), inspector.why(), inspector.gradients(),
                                inspector.edits(), inspector.debugger(), inspector.second(), inspector.bisection(),
                                inspector.engine(), context::outputsOf(inspector), inspector.session());
        panel.resize(400, 500);
        panel.show();
        inspector.loader().open(QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
        QTRY_COMPARE(inspector.loader().state(), context::LoadState::Loaded);
        const graph::InternalGraph& graph = inspector.model().graph();
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) inspector.navigation().select(graph::NodeId(i));
        for (std::size_t i = 0; i < graph.exprCount(); ++i)
            if (!graph.isErased(graph::ExprId(i))) inspector.navigation().select(graph::ExprId(i));
        for (std::size_t i = 0; i < graph.scopeCount(); ++i) inspector.navigation().select(graph::ScopeId(i));
        inspector.loader().close();
    }

    void thePanelIsInfoEnough() {
        const PanelInfo info = tensorViewerPanel();
        QCOMPARE(info.id, "tensor_viewer");
        QVERIFY(!info.title.isEmpty() && !info.icon.isEmpty() && !info.shortcut.isEmpty());
        context::InspectorContext inspector;
        const std::unique_ptr<QWidget> widget(info.factory(inspector));
        QVERIFY(widget);
    }
};

QTEST_MAIN(TestTensorViewerPanel)

}  // namespace tst_tensor_viewer_panel

#include "tst_tensor_viewer_panel.moc"
