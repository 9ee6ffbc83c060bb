// What is told of a debugged run beside its steps: what has happened at a place, in which iterations a value is
// written; how nodes are known again; problems as JUnit XML.

#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <fstream>

#include "core/session/debug/accesses.h"
#include "core/session/debug/snapshot.h"
#include "core/session/problem_report.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_debug_snapshots {

using namespace sonde;
using session::Session;
using session::debug::Item;
using session::debug::ItemId;
using session::debug::Snapshot;
using session::debug::Target;
namespace onnx = test::onnxfile;

class TestDebugSnapshots : public QObject {
    Q_OBJECT

  private slots:
    /// y = x + x, z = |y|, w = z + y.
    void aPlaceHasWhatCameBefore() {
        QTemporaryDir folder;
        const std::string path = folder.filePath(QStringLiteral("three.onnx")).toStdString();
        const onnx::Graph file{{{"Add", {"x", "x"}, {"y"}}, {"Abs", {"y"}, {"z"}}, {"Add", {"z", "y"}, {"w"}}},
                               {onnx::valueInfo("x", 1, {2})},
                               {onnx::valueInfo("w", 1, {2})},
                               {}};
        std::ofstream(path, std::ios::binary) << onnx::model(file);
        Session session;
        QVERIFY(session.open(path));
        session.runs().giveValues({tensor::Tensor::of<float>({2}, std::vector<float>{-1, 2})});
        session::Debugger& debugger = session.debugger();
        const auto at = [&] { return session::debug::snapshotAt(*debugger.run(), debugger.place()); };
        const auto isComputed = [&](const Snapshot& snapshot, const char* name) {
            return bool(snapshot.recording->computedNodes[session.document()->graph->findNode(name).index()]);
        };
        debugger.step(Target::Kind::Into);
        QCOMPARE(at().position, std::size_t{1});
        QCOMPARE(at().total, std::size_t{3});
        QVERIFY(!isComputed(at(), "y"));
        debugger.step(Target::Kind::Into);
        QCOMPARE(at().position, std::size_t{2});
        QVERIFY(isComputed(at(), "y") && !isComputed(at(), "z"));
        debugger.resume();
        QCOMPARE(at().position, std::size_t{3});
        QVERIFY(isComputed(at(), "w"));
        debugger.step(Target::Kind::Into, session::debug::Direction::Back);  // w is known, and counts
        QCOMPARE(at().position, std::size_t{3});
        QVERIFY(isComputed(at(), "w"));
    }

    void iterationsWriteWhatALoopCarries() {
        Session session;
        QVERIFY(session.open(SONDE_TEST_DATA "/models/control_flow.onnx"));
        const auto cases = session.readCases({SONDE_TEST_DATA "/models/control_flow.npz", "bgr", 0});
        QVERIFY(cases && !cases->empty());
        session.runs().giveValues(cases->front().values);
        session.debugger().restart();
        const graph::InternalGraph& graph = *session.document()->graph;
        const auto& timeline = session.debugger().timeline();
        std::vector<ItemId> iterations;
        for (ItemId item = 0; item < timeline.size(); ++item)
            if (timeline[item].kind == Item::Kind::Body && timeline[item].iteration >= 0) iterations.push_back(item);
        QVERIFY(iterations.size() > 1);
        const graph::Expr& loop = graph.expr(timeline[iterations.front()].expr);
        std::erase_if(iterations, [&](ItemId item) { return timeline[item].expr != loop.id; });  // of the other loop
        session::debug::AccessItems found;
        found.add(timeline, session::debug::Accesses::of(graph, graph.body(loop.bodies.front()).inputs.back()));
        QCOMPARE(found.writes, iterations);
    }

    void nodesOfTheSameGraphAreFoundByName() {
        Session session;
        QVERIFY(session.open(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
        const graph::InternalGraph& graph = *session.document()->graph;
        const session::IdentityIndex index(graph);
        for (const graph::ExprId id : graph.main().order)
            for (const graph::NodeId node : graph.expr(id).outputs) {
                const auto found = index.find(index.of(node));
                QCOMPARE(found.node, node);
                QCOMPARE(found.by, session::FoundBy::Name);
            }
    }

    void xmlHasAnyText() {
        auto graph = std::make_shared<graph::InternalGraph>();
        analysis::Problem problem;
        problem.node = graph->addInput(graph->mainId(), "a<b>&\"c\"", {});
        problem.qualname = "layer<0>";
        problem.message = "x < 1 && y > \"2\"";
        problem.advice = "use <eps> & more";
        const session::ProblemReport report{"m & <n>", graph, {problem}};
        QXmlStreamReader xml(QString::fromStdString(report.junit()));
        QString suite, name, className, message, text;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement) continue;
            const auto value = [&](const char* key) { return xml.attributes().value(QLatin1String(key)).toString(); };
            if (xml.name() == u"testsuite") suite = value("name");
            if (xml.name() == u"testcase") className = value("classname"), name = value("name");
            if (xml.name() == u"failure") message = value("message"), text = xml.readElementText();
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QCOMPARE(suite, QStringLiteral("m & <n>"));
        QCOMPARE(className, QStringLiteral("layer<0>"));
        QVERIFY2(name.startsWith("a<b>&\"c\""), qPrintable(name));
        QCOMPARE(message, QStringLiteral("x < 1 && y > \"2\""));
        QCOMPARE(text, QStringLiteral("use <eps> & more"));
    }
};

QTEST_GUILESS_MAIN(TestDebugSnapshots)

}  // namespace tst_debug_snapshots

#include "tst_debug_snapshots.moc"
