// The geometry of all models at hand, closed, half open and open, by Graphviz and by the layered engine.

#include <QDir>
#include <QTest>

#include "core/document/document.h"
#include "core/zoo/zoo.h"
#include "tests/bench/layout_graphs.h"
#include "tests/core/layout/scene_rules.h"
#include "tests/support/reference_sets.h"

namespace tst_geometry {

using namespace sonde::layout;
using namespace layout_test;
namespace lg = layout_graphs;
using Graph = std::shared_ptr<const sonde::graph::InternalGraph>;

namespace {

/// Sizes as a window has them: by the text, four lines at most.
ItemMetrics metricsOf(const Graph& graph) {
    return [graph](const ItemDescription& what) -> Size {
        std::string name = "some module";
        if (what.expr.valid() && !graph->expr(what.expr).outputs.empty())
            name = graph->node(graph->expr(what.expr).outputs[0]).name;
        if (what.kind == ItemKind::Module) name = graph->scope(what.scope).qualname;
        const double width = std::min(7.0 * static_cast<double>(name.size()) + 20, 320.0);
        return {width, what.open ? 32.0 : what.kind == ItemKind::Stub ? 18.0 : 52.0};
    };
}

Graph opened(const QString& path) {
    const auto document = sonde::document::open(path.toStdString());
    if (!document) qWarning("%s", document.error().text().c_str());
    return document ? (*document)->graph : nullptr;
}

}  // namespace

class TestGeometry : public QObject {
    Q_OBJECT

  private slots:
    void picturesKeepTheRules_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<Graph>("made");
        const QString light = sonde::test::referenceSets() + "/onnx-light";
        for (const QDir& files : {QDir(sonde::test::referenceModels()), QDir(light)}) {
            for (const QString& file : files.entryList({"*.onnx", "*.script.pt", "*.trace.pt", "*.frozen.pt"}))
                QTest::addRow("%s", qPrintable(file)) << files.filePath(file) << Graph();
        }
        if (!QFileInfo::exists(light)) QTest::addRow("onnx-light") << light << Graph();
        for (const auto& model : sonde::zoo::models()) {
            const QString name = QStringLiteral("zoo:") +
                                 QString::fromUtf8(model.name.data(), static_cast<qsizetype>(model.name.size()));
            QTest::addRow("%s", qPrintable(name)) << name << Graph();
        }
        QTest::addRow("transformer") << QString() << lg::transformer(6);
        QTest::addRow("experts") << QString() << lg::mixtureOfExperts(2, 24);
        QTest::addRow("dense") << QString() << lg::dense(2, 12);
        QTest::addRow("chain") << QString() << lg::flatChain(300);
        for (unsigned seed = 0; seed < 6; ++seed)
            QTest::addRow("random %u", seed) << QString() << lg::randomModules(60 + 90 * seed, seed);
    }
    void picturesKeepTheRules() {
        QFETCH(QString, path);
        QFETCH(Graph, made);
        if (!made && !path.startsWith(QStringLiteral("zoo:"))) SONDE_NEEDS_SET("onnx-light", path);
        const Graph graph = made ? made : opened(path);
        QVERIFY(graph);
        const Outline outline(graph);
        SceneOptions options;
        options.metrics = metricsOf(graph);
        options.budget = std::chrono::milliseconds(20'000);
        const std::size_t deepest = greatestDepth(outline);
        for (const Direction direction : {Direction::TopDown, Direction::LeftRight}) {
            for (const std::size_t depth : std::set<std::size_t>{0, deepest / 2, deepest}) {
                for (LayoutWorkers* engine : {&m_graphviz, &m_none}) {
                    ViewState view;
                    view.direction = direction;
                    view.foldFrom = depth == deepest ? 0 : 3;
                    openToDepth(outline, view, depth);
                    LayoutCache cache({{}, false});
                    const auto scene = composeScene(outline, view, options, *engine, cache);
                    QVERIFY(scene);
                    const auto broken = brokenRules(**scene, true, 1000);
                    const std::string where = " depth " + std::to_string(depth) +
                                              (engine == &m_none ? " layered" : " Graphviz") +
                                              (direction == Direction::TopDown ? " down" : " right");
                    if (!broken.empty())
                        QFAIL((std::to_string(broken.size()) + " broken, first: " + broken.front() + where).c_str());
                    QCOMPARE(disorderedPorts(*graph, **scene), std::size_t{0});
                    m_edges += (*scene)->edges.size();
                    ++m_pictures;
                }
            }
        }
    }

    void cleanupTestCase() { qInfo("%zu edges in %zu pictures", m_edges, m_pictures); }

  private:
    LayoutWorkers m_graphviz{{SONDE_BINARY_DIR "/sonde-layout-worker", 2}};
    LayoutWorkers m_none{{"/nowhere", 1}};
    std::size_t m_edges = 0, m_pictures = 0;
};

QTEST_GUILESS_MAIN(TestGeometry)

}  // namespace tst_geometry

#include "tst_geometry.moc"
