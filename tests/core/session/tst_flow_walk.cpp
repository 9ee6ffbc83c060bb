// The order in which a presentation walks through a model. Stops are written down by hand from the model's definition.

#include <QtTest>

#include <algorithm>

#include "core/document/document.h"
#include "core/session/flow_walk.h"

namespace tst_flow_walk {

using namespace sonde;
using layout::Outline;
using layout::ViewState;
using session::WalkStop;

class TestFlowWalk : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void closedModulesAreOneStopEach();
    void openModulesAreWalkedThrough();
    void whatIsLeftOutIsNoStop();
    void foldedBlocksAreOneStop();
    void somethingIsFoundAtItsStop();
    void bodiesComeAfterTheirOperation();
    void filesWithWeightsFirstAreWalkedInOrder();
    void whatWasNotComputedIsNoStop();

  private:
    /// "layer1" of a closed module, "layer1.0.relu/Relu" of an operation.
    QStringList names(const ViewState& view) const {
        QStringList all;
        for (const WalkStop& stop : session::flowWalk(*m_outline, view)) all << name(stop);
        return all;
    }
    QString name(const WalkStop& stop) const {
        const graph::InternalGraph& graph = m_outline->graph();
        if (stop.scope.valid()) return QString::fromStdString(graph.scope(stop.scope).qualname);
        const graph::Expr& expr = graph.expr(stop.expr);
        if (expr.kind == graph::ExprKind::Input) return QStringLiteral("input");
        if (expr.kind == graph::ExprKind::Output) return QStringLiteral("output");
        return QString::fromStdString(expr.qualname.value_or("") + "/" + expr.op.name);
    }
    void openZoo(const char* name) {
        const auto opened = document::open(name);
        QVERIFY2(opened, opened ? "" : opened.error().what.c_str());
        m_document = *opened;
        m_outline = std::make_unique<Outline>(m_document->graph);
    }
    graph::ScopeId scope(const char* qualname) const {
        for (const graph::Scope& scope : m_outline->graph().scopes())
            if (scope.qualname == qualname) return scope.id;
        return {};
    }

    std::shared_ptr<const document::Document> m_document;
    std::unique_ptr<Outline> m_outline;
};

void TestFlowWalk::initTestCase() { openZoo("zoo:resnet18"); }

/// resnet18: conv1, bn1, relu, maxpool, layer1 to layer4, avgpool, flatten, fc.
void TestFlowWalk::closedModulesAreOneStopEach() {
    const QStringList all = names({});
    QCOMPARE(all.front(), QStringLiteral("input"));
    QCOMPARE(all.back(), QStringLiteral("output"));
    QCOMPARE(all.filter(QRegularExpression(QStringLiteral("^layer[1-4]$"))),
             QStringList({"layer1", "layer2", "layer3", "layer4"}));
    QCOMPARE(all.size(), 13);
    // A module of one operation is drawn as that operation.
    QVERIFY(all[1].startsWith(u"conv1/"));
    QVERIFY(all[11].startsWith(u"fc/"));
    for (const WalkStop& stop : session::flowWalk(*m_outline, {})) {
        QVERIFY(stop.value.valid());
        QCOMPARE(stop.expr.valid(), !stop.scope.valid());
    }
}

/// layer1 holds two blocks of conv1, bn1, relu, conv2, bn2, the sum, and relu.
void TestFlowWalk::openModulesAreWalkedThrough() {
    ViewState view;
    view.openScopes.insert(scope("layer1"));
    QStringList all = names(view);
    QCOMPARE(all.size(), 14);
    QCOMPARE(all.mid(5, 3), QStringList({"layer1.0", "layer1.1", "layer2"}));
    view.openScopes.insert(scope("layer1.0"));
    all = names(view);
    QCOMPARE(all.size(), 20);
    QStringList modules;
    for (const QString& each : all.mid(5, 8)) modules << each.section(u'/', 0, 0);
    QCOMPARE(modules, QStringList({"layer1.0.conv1", "layer1.0.bn1", "layer1.0.relu", "layer1.0.conv2", "layer1.0.bn2",
                                   "layer1.0", "layer1.0.relu", "layer1.1"}));
}

void TestFlowWalk::whatIsLeftOutIsNoStop() {
    ViewState view;
    auto filtered = std::make_shared<std::vector<bool>>(m_outline->graph().exprCount(), false);
    const graph::ScopeId layer2 = scope("layer2");
    for (std::size_t i = 0; i < filtered->size(); ++i) {
        const graph::ExprId id(i);
        if (m_outline->graph().isErased(id)) continue;
        const graph::Expr& expr = m_outline->graph().expr(id);
        if (m_outline->graph().encloses(layer2, expr.scope) || expr.qualname == "conv1") (*filtered)[i] = true;
    }
    view.filtered = filtered;
    const QStringList all = names(view);
    QCOMPARE(all.size(), 11);
    QVERIFY(!all.contains(QStringLiteral("layer2")));
    QVERIFY(all[1].startsWith(u"bn1/"));
    // Weights are no layers, also where they are drawn.
    view.filtered.reset();
    view.hideConstants = false;
    view.inlineSingles = false;
    for (const QString& each : names(view)) QVERIFY2(!each.contains(QStringLiteral("weight")), qPrintable(each));
}

/// ViT's encoder has a dozen equal blocks: folded, the first stands for all.
void TestFlowWalk::foldedBlocksAreOneStop() {
    openZoo("zoo:vit_small");
    QVERIFY(!m_outline->runs().empty());
    ViewState view;
    layout::openToDepth(*m_outline, view, 2);
    const qsizetype unfolded = names(view).size();
    const std::size_t instances = m_outline->runs().front().instances.size();
    view.foldFrom = 2;
    const qsizetype folded = names(view).size();
    QVERIFY2(folded < unfolded, qPrintable(QString::number(folded)));
    QVERIFY(unfolded - folded >= static_cast<qsizetype>(instances) - 1);
    openZoo("zoo:resnet18");
}

void TestFlowWalk::somethingIsFoundAtItsStop() {
    const graph::InternalGraph& graph = m_outline->graph();
    const auto walk = session::flowWalk(*m_outline, {});
    const auto inside = m_document->findNode("layer3.1.conv2:");
    QVERIFY(inside);
    const auto at = session::stopOf(walk, graph, graph.node(*inside).producer);
    QVERIFY(at.has_value());
    QCOMPARE(name(walk[*at]), QStringLiteral("layer3"));
    QCOMPARE(session::stopOf(walk, graph, scope("layer3.0")), at);
    ViewState view;
    view.openScopes.insert(scope("layer3"));
    const auto open = session::flowWalk(*m_outline, view);
    const auto first = session::stopOf(open, graph, scope("layer3"));
    QVERIFY(first.has_value());
    QCOMPARE(name(open[*first]), QStringLiteral("layer3.0"));
    QVERIFY(!session::stopOf(walk, graph, graph::ExprId()).has_value());
    QVERIFY(!session::stopOf(walk, graph, graph::ScopeId()).has_value());
}

/// The loop of a recurrent network in ONNX is an operation that owns a body.
void TestFlowWalk::bodiesComeAfterTheirOperation() {
    openZoo(SONDE_TEST_DATA "/models/control_flow.onnx");
    const graph::InternalGraph& graph = m_outline->graph();
    graph::ExprId owner;
    for (std::size_t i = 0; i < graph.exprCount() && !owner.valid(); ++i)
        if (!graph.isErased(graph::ExprId(i)) && !graph.expr(graph::ExprId(i)).bodies.empty()) owner = graph::ExprId(i);
    QVERIFY(owner.valid());
    ViewState view;
    layout::openToDepth(*m_outline, view, 9);
    view.openExprs.insert(owner);
    const auto walk = session::flowWalk(*m_outline, view);
    const auto at = session::stopOf(walk, graph, owner);
    QVERIFY(at.has_value());
    QVERIFY(*at + 1 < walk.size());
    QVERIFY(graph.expr(walk[*at + 1].expr).body != graph.expr(owner).body);
    view.openExprs.erase(owner);
    QVERIFY(session::flowWalk(*m_outline, view).size() < walk.size());
    openZoo("zoo:resnet18");
}

void TestFlowWalk::whatWasNotComputedIsNoStop() {
    const auto relu = m_document->findNode("relu:");
    QVERIFY(relu);
    const auto isRelu = [&](const WalkStop& stop) { return stop.value == *relu; };
    const auto all = session::flowWalk(*m_outline, {});
    const auto left = session::flowWalk(*m_outline, {}, [&](graph::NodeId node) { return node == *relu; });
    QCOMPARE(std::ranges::count_if(all, isRelu), 1);
    QCOMPARE(std::ranges::count_if(left, isRelu), 0);
    QCOMPARE(left.size(), all.size() - 1);
}

/// The initializers of an ONNX file come before all operations, those of `fc` before `flatten`, which has none.
void TestFlowWalk::filesWithWeightsFirstAreWalkedInOrder() {
    openZoo(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
    QStringList all;
    for (const QString& each : names({})) all << each.section(u'/', -1);
    QCOMPARE(all, QStringList({"input", "Conv", "Relu", "MaxPool", "layer1", "layer2", "layer3", "layer4",
                               "GlobalAveragePool", "Flatten", "Gemm"}));
    openZoo("zoo:resnet18");
}

QTEST_MAIN(TestFlowWalk)

}  // namespace tst_flow_walk

#include "tst_flow_walk.moc"
