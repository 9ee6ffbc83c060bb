#include <QtTest>

#include <ctime>
#include <random>

#include "core/analysis/found_groups.h"

namespace tst_found_groups {

using namespace sonde;
using analysis::FoundGroup;
using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;

namespace {

struct Maker {
    InternalGraph graph;
    std::vector<ExprId> exprs;
    int count = 0;

    NodeId input() { return graph.addInput(graph.mainId(), "x" + std::to_string(count++), {}); }
    NodeId weight(std::string name = {}) {
        Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.isParameter = true;
        expr.body = graph.mainId();
        if (name.empty()) name = "w" + std::to_string(count++);
        return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
    }
    NodeId op(const std::string& type, const std::vector<NodeId>& inputs) {
        Expr expr;
        expr.op = {"", type, 17};
        expr.target = type;
        expr.body = graph.mainId();
        for (NodeId node : inputs) expr.arguments.push_back(Argument::of(node));
        const std::string name = "t" + std::to_string(count++);
        exprs.push_back(graph.addExpr(std::move(expr), std::span<const std::string>(&name, 1)));
        return graph.expr(exprs.back()).outputs.front();
    }
    NodeId dense(NodeId x) { return op("Add", {op("MatMul", {x, weight()}), weight()}); }

    /// A layer of a transformer with the norms in front, 28 operations (21 and 7); all layers read one mask.
    NodeId layer(NodeId x, NodeId mask) {
        const NodeId normed = op("LayerNormalization", {x, weight(), weight()});
        const auto heads = [&] { return op("Transpose", {op("Reshape", {dense(normed), weight()})}); };
        const NodeId q = heads(), k = heads(), v = heads();
        const NodeId scores = op("Softmax", {op("Add", {op("MatMul", {q, k}), mask})});
        const NodeId mixed = op("Reshape", {op("MatMul", {scores, v}), weight()});
        const NodeId middle = op("Add", {x, dense(mixed)});
        const NodeId wide = op("Gelu", {dense(op("LayerNormalization", {middle, weight(), weight()}))});
        return op("Add", {middle, dense(wide)});
    }

    QStringList paths() const {
        const std::vector<FoundGroup> groups = analysis::findGroups(graph, exprs);
        QStringList result;
        for (const FoundGroup& group : groups) {
            result << (group.parent ? result[static_cast<qsizetype>(*group.parent)] + "." : QString()) +
                          QString::fromStdString(group.name);
        }
        return result;
    }
};

}  // namespace

class TestFoundGroups : public QObject {
    Q_OBJECT

  private slots:
    void layersOfATransformerAreFound() {
        Maker m;
        const NodeId mask = m.op("Cast", {m.input()});
        NodeId x = m.op("Gather", {m.weight(), m.input()});
        for (int i = 0; i < 12; ++i) x = m.layer(x, mask);
        m.op("MatMul", {m.op("LayerNormalization", {x, m.weight(), m.weight()}), m.weight()});

        QStringList expected{"layers"};
        for (int i = 0; i < 12; ++i) {
            const QString layer = "layers." + QString::number(i);
            expected << layer << layer + ".attention" << layer + ".mlp";
        }
        QCOMPARE(m.paths(), expected);
        const std::vector<FoundGroup> groups = analysis::findGroups(m.graph, m.exprs);
        QCOMPARE(groups[0].title, std::string("12 layers"));
        QCOMPARE(groups[1].title, std::string("layer"));
        // Every operation of a layer is in it, once.
        QCOMPARE(groups[2].exprs.size(), std::size_t{21});
        QCOMPARE(groups[3].exprs.size(), std::size_t{7});
    }

    /// Two operations on the stem, then stages of 3, 4, 6 and 3 residual blocks, the first of each with a projection.
    void stagesOfResidualBlocksAreFound() {
        Maker m;
        NodeId x = m.op("MaxPool", {m.op("Relu", {m.op("Conv", {m.input(), m.weight()})})});
        for (int count : {3, 4, 6, 3}) {
            for (int i = 0; i < count; ++i) {
                const NodeId inside =
                    m.op("Relu", {m.op("Conv", {m.op("Relu", {m.op("Conv", {x, m.weight()})}), m.weight()})});
                const NodeId branch = m.op("Conv", {inside, m.weight()});
                x = m.op("Relu", {m.op("Add", {branch, i == 0 ? m.op("Conv", {x, m.weight()}) : x})});
            }
        }
        m.op("Gemm", {m.op("GlobalAveragePool", {x}), m.weight()});
        QStringList expected{"stages"};
        int stage = 0;
        for (int count : {3, 4, 6, 3}) {
            const QString name = "stages." + QString::number(stage++);
            expected << name << name + ".block" << name + ".blocks";
            for (int i = 0; i + 1 < count; ++i) expected << name + ".blocks." + QString::number(i);
        }
        QCOMPARE(m.paths(), expected);
    }

    /// Weights that stand in a folder give their block its name.
    void foldersOfWeightsNameBlocks() {
        Maker m;
        NodeId x = m.input();
        for (const char* name : {"fire2", "fire3", "fire4"}) {
            const std::string folder = std::string(name) + "/";
            const NodeId squeezed = m.op("Relu", {m.op("Conv", {x, m.weight(folder + "squeeze")})});
            x = m.op("Concat", {m.op("Conv", {squeezed, m.weight(folder + "one")}),
                                m.op("Conv", {squeezed, m.weight(folder + "three")})});
            x = m.op("Relu", {x});
        }
        QCOMPARE(m.paths(), (QStringList{"blocks", "blocks.fire2", "blocks.fire3", "blocks.fire4"}));
    }

    void chainsWithoutRepeatsStayAsTheyAre() {
        Maker m;
        NodeId x = m.input();
        for (const char* type :
             {"Conv", "Relu", "MaxPool", "Conv", "Tanh", "Flatten", "Gemm", "Sigmoid", "Gemm", "Softmax"})
            x = m.op(type, {x});
        QCOMPARE(m.paths(), QStringList());
    }

    void theOrderOfTheFileDoesNotMatterMuch() {
        Maker m;
        const NodeId mask = m.op("Cast", {m.input()});
        NodeId x = m.op("Gather", {m.weight(), m.input()});
        for (int i = 0; i < 6; ++i) x = m.layer(x, mask);
        const QStringList once = m.paths();
        QCOMPARE(m.paths(), once);
        // As far from each other as dependencies allow: by depth, as some converters write.
        std::vector<std::size_t> depth(m.graph.exprCount(), 0);
        for (ExprId id : m.exprs) {
            for (NodeId input : m.graph.expr(id).inputs)
                depth[id.index()] = std::max(depth[id.index()], depth[m.graph.node(input).producer.index()] + 1);
        }
        std::ranges::stable_sort(m.exprs, [&](ExprId a, ExprId b) { return depth[a.index()] < depth[b.index()]; });
        QCOMPARE(m.paths().filter(QRegularExpression("^layers\\.\\d$")).size(), 6);
    }

    void hundredThousandOperationsAreNoTrouble_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("layers") << 0;
        QTest::newRow("all equal") << 1;
        QTest::newRow("random") << 2;
        QTest::newRow("wide") << 3;
    }
    void hundredThousandOperationsAreNoTrouble() {
        QFETCH(int, kind);
        Maker m;
        std::mt19937 random(1);
        const NodeId first = m.input();
        NodeId x = first;
        while (m.exprs.size() < 100'000) {
            if (kind == 0) x = m.layer(x, first);
            if (kind == 1) x = m.op("Relu", {x});
            if (kind == 2) x = m.op(random() % 2 ? "Relu" : "Tanh", {x});
            if (kind == 3) m.op("Relu", {first});
        }
        const std::clock_t start = std::clock();  // of this process: the machine may be busy
        const std::vector<FoundGroup> groups = analysis::findGroups(m.graph, m.exprs);
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        qInfo("%.3f s, %zu groups", seconds, groups.size());
        if (kind == 0) QVERIFY(groups.size() > 10'000);
    }
};

QTEST_APPLESS_MAIN(TestFoundGroups)

}  // namespace tst_found_groups

#include "tst_found_groups.moc"
