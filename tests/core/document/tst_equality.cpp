// The equality contract over all models at hand: with one file and input every value has the same bits, whatever is
// watched, wherever a run ends, however it is stepped and by however many threads; and a run fails the same way or not
// at all. SONDE_ALL_MODELS=1 (.ci/long) adds the models with more than 12 million parameters, which take minutes.

#include <QDir>
#include <QRegularExpression>
#include <QtTest>

#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/exec/runner.h"
#include "core/io/inputs/inputs.h"
#include "core/zoo/zoo.h"
#include "tests/support/reference_sets.h"

namespace tst_equality {

using namespace sonde;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using exec::Runner;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

namespace {

/// Looks at every step, so that each runs by itself.
class Stepper final : public exec::RunObserver {};

constexpr std::int64_t kMaxParameters = 12'000'000;

std::int64_t parameterCount(const InternalGraph& graph) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const auto& constant = graph.node(NodeId(i)).constant;
        if (constant && constant->isTensor()) count += constant->tensor().numel();
    }
    return count;
}

/// Up to 20 nodes that are computed, from all of the graph, bodies included.
std::vector<NodeId> endsOf(const InternalGraph& graph) {
    std::vector<NodeId> computed;
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        if (expr.kind == graph::ExprKind::Input) continue;
        for (NodeId node : expr.outputs) {
            if (!graph.node(node).constant) computed.push_back(node);
        }
    }
    std::vector<NodeId> ends;
    constexpr std::size_t kEnds = 20;
    const std::size_t count = std::min(kEnds, computed.size());
    for (std::size_t i = 0; i < count; ++i) ends.push_back(computed[i * computed.size() / count]);
    return ends;
}

/// Weights without a program; torch.save of a whole module from before version 1.6.
bool hasNoProgram(const QString& model) { return model.endsWith(".state_dict.pt") || model.endsWith(".legacy.pt"); }

std::string errorOf(const Recording& recording) { return recording.error ? recording.error->text() : std::string(); }

}  // namespace

class TestEquality : public QObject {
    Q_OBJECT

  private slots:
    void everyWayGivesTheSameBits_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("tracer");
        for (const zoo::ModelEntry& entry : zoo::models()) {
            const std::string name = "zoo:" + std::string(entry.name);
            QTest::addRow("%s", name.c_str()) << QString::fromStdString(name) << QString();
            QTest::addRow("%s, traced-module", name.c_str())
                << QString::fromStdString(name) << QStringLiteral("traced-module");
        }
        // The default of the flag is false: its recorded specialisation does not hold.
        QTest::newRow("a specialisation that does not hold")
            << QStringLiteral("zoo:flag") << QStringLiteral("module-path test_flag=true");
        const QString folder = test::referenceModels();
        for (const QString& file : QDir(folder).entryList({"*.onnx", "*.pt"}, QDir::Files))
            QTest::addRow("%s", qPrintable(file)) << folder + '/' + file << QString();
    }
    void everyWayGivesTheSameBits() {
        QFETCH(QString, model);
        QFETCH(QString, tracer);
        document::OpenOptions options;
        options.tracer = tracer.section(' ', 0, 0).toStdString();
        if (const QString concrete = tracer.section(' ', 1); !concrete.isEmpty())
            options.concrete.emplace_back(concrete.section('=', 0, 0).toStdString(),
                                          concrete.section('=', 1).toStdString());
        const auto document = document::open(model.toStdString(), options);
        if (!document) {
            QVERIFY2(hasNoProgram(model), document.error().text().c_str());
            return;
        }
        const std::shared_ptr<const InternalGraph> graph = (*document)->graph;
        if (parameterCount(*graph) > kMaxParameters && !qEnvironmentVariableIsSet("SONDE_ALL_MODELS")) return;
        const QString reference = QString(model).replace(
            QRegularExpression("(\\.(script|trace|frozen|legacy|nograd\\.trace))?\\.(onnx|pt)$"), ".npz");
        const std::string spec =
            model.startsWith("zoo:") || !QFile::exists(reference) ? std::string() : reference.toStdString();
        const auto cases = io::makeInputs(spec, document::inputInfos(**document), {});
        QVERIFY2(cases, cases ? "" : cases.error().text().c_str());
        m_graph = graph;
        m_inputs = cases->front().values;

        PlanOptions all;
        all.watchAll = true;
        const Recording expected = run(all, 1, true);  // each step by itself
        const std::string error = errorOf(expected);
        for (std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
            agrees(run({}, threads), expected, error, "plain");
            agrees(run(all, threads), expected, error, "all watched");
            if (QTest::currentTestFailed()) return;
        }
        for (NodeId end : endsOf(*graph)) {
            PlanOptions cut;
            cut.end = {end};
            const std::size_t threads = 1 + end.index() % 2;
            const Recording recording = run(cut, threads, end.index() % 3 == 0);
            const std::string where = graph->node(end).name;
            // What comes before the end fails as it does without it; what comes after it does not run.
            if (recording.error) QVERIFY2(errorOf(recording) == error, (where + ": " + errorOf(recording)).c_str());
            if (recording.error || !recording.computed(end)) continue;
            const Value* value = expected.value(end, 0);
            QVERIFY2(value || !error.empty(), where.c_str());
            if (value) QVERIFY2(tensor::identical(recording.outputs.at(0), *value), where.c_str());
        }
    }

  private:
    Recording run(const PlanOptions& options, std::size_t threads, bool stepped = false) {
        Runner runner(threads);
        Stepper stepper;
        exec::RunOptions runOptions;
        if (stepped) runOptions.observer = &stepper;
        return runner.run(*Plan::make(m_graph, options).value(), m_inputs, {}, runOptions);
    }

    void agrees(const Recording& recording, const Recording& expected, const std::string& error, const char* way) {
        QVERIFY2(errorOf(recording) == error,
                 (std::string(way) + ": '" + errorOf(recording) + "', not '" + error + "'").c_str());
        QCOMPARE(recording.outputs.size(), expected.outputs.size());
        for (std::size_t i = 0; i < expected.outputs.size(); ++i)
            QVERIFY2(tensor::identical(recording.outputs[i], expected.outputs[i]), way);
        for (const auto& [node, values] : recording.kept) {
            const auto other = expected.kept.find(node);
            QVERIFY2(other != expected.kept.end() && other->second.size() == values.size(),
                     m_graph->node(node).name.c_str());
            for (std::size_t i = 0; i < values.size(); ++i)
                QVERIFY2(tensor::identical(values[i], other->second[i]),
                         (std::string(way) + " " + m_graph->node(node).name).c_str());
        }
        // The same bad values, wherever both computed.
        for (const auto& [node, bad] : recording.bad) {
            const auto other = expected.bad.find(node);
            QVERIFY2(other != expected.bad.end() && other->second.nan == bad.nan && other->second.inf == bad.inf,
                     m_graph->node(node).name.c_str());
        }
    }

    std::shared_ptr<const InternalGraph> m_graph;
    std::vector<Value> m_inputs;
};

QTEST_GUILESS_MAIN(TestEquality)

}  // namespace tst_equality

#include "tst_equality.moc"
