// Acceptance cases of TracedModule: tracing, ids, names, texts, watch and end points. Numbers are those of part (d) of its
// reference; expected ids, names and values are written there.

#include <QtTest>

#include "tests/support/traced_models.h"

using namespace sonde;
using namespace sonde::test;
using trace::ModuleGraph;
using trace::traceModule;
using trace::TracedModule;
using trace::TracedNode;

namespace {

std::shared_ptr<TracedModule> traced(const std::shared_ptr<trace::Module>& module, std::vector<Value> args,
                                     std::vector<std::pair<std::string, Value>> keywords = {}) {
    auto result = traceModule(module, std::move(args), std::move(keywords));
    if (!result) qFatal("%s", result.error().text().c_str());
    return *result;
}

ModuleGraph& graphOf(const std::shared_ptr<TracedModule>& module) { return **module->graph(); }

TracedNode* named(const ModuleGraph& graph, const std::string& name) {
    for (TracedNode* node : graph.nodes(false)) {
        if (node->name() == name) return node;
    }
    qFatal("no node %s", name.c_str());
}

template <typename Range>
std::string names(const Range& nodes) {
    std::string result;
    for (const TracedNode* node : nodes) result += (result.empty() ? "" : " ") + node->name();
    return result;
}

}  // namespace

#define COMPARE_TEXT(actual, expected) QCOMPARE(QString::fromStdString(actual), QString::fromUtf8(expected))

class TestTracedModule : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void case01_seed() {
        const auto module = traced(seed(), {vec({0})});
        ModuleGraph& graph = graphOf(module);
        COMPARE_TEXT(nodeList(graph), "0 self, 1 x, 2 add_out, 3 add_out_1");
        COMPARE_TEXT(graph.text(), "Seed.Graph (self, x) {\n\t%2:\tadd_out = x.__add__(1, )\n\t%3:\tadd_out_1 = add_out.__add__(2, )\n"
                                   "\treturn add_out_1\n}\n");
        TracedNode* add = *graph.nodeById({2}).asUnique();
        module->setWatchPoints({add});
        QCOMPARE(numbers(*module->run({vec({0})})), std::vector<double>{3});
        QCOMPARE(module->watchNodeValue().size(), 1U);
        QCOMPARE(numbers(*module->watchNodeValue()[0].value), std::vector<double>{1});
        module->clearWatchPoints();
        QVERIFY(module->watchNodeValue().empty());
        QVERIFY(module->setEndPoints({add}));
        const Value ended = *module->run({vec({0})});
        QCOMPARE(ended.kind(), tensor::ValueKind::List);
        QCOMPARE(ended.items().size(), 1U);
        QCOMPARE(numbers(ended.items()[0]), std::vector<double>{1});
        module->clearEndPoints();
        QCOMPARE(numbers(*module->run({vec({0})})), std::vector<double>{3});
    }

    void case02_w2() {
        const auto module = traced(myModule(), {ramp({3, 4})});
        COMPARE_TEXT(nodeList(graphOf(module)), "0 self, 1 x, 2 linear, 3 param, 4 add_out, 5 linear_out, 6 relu_out");
        COMPARE_TEXT(graphOf(module).text(),
                     "MyModule.Graph (self, x) {\n\t%2:\tlinear = getattr(self, \"linear\") -> (Linear)\n"
                     "\t%3:\tparam = getattr(self, \"param\") -> (Tensor)\n\t%4:\tadd_out = x.__add__(param, )\n"
                     "\t%5:\tlinear_out = linear(add_out, )\n\t%6:\trelu_out = nn.relu(linear_out, )\n\treturn relu_out\n}\n");
    }

    void case02_w3() {
        const auto block = traced(myBlock(), {netInput()});
        COMPARE_TEXT(nodeList(graphOf(block)), "0 self, 1 x, 2 conv1, 3 conv1_out, 4 bn1, 5 bn1_out, 6 relu_out, 7 add_out, 8 nothing, "
                                               "9 nothing_out, 10 self, 11 x");
        COMPARE_TEXT(named(graphOf(block), "nothing_out")->expr().innerGraph()->name(), "MyBlock_nothing");
        const auto module = traced(net(), {netInput()});
        ModuleGraph& graph = graphOf(module);
        QCOMPARE(graph.nodes().asCount(), 34U);
        QCOMPARE(graph.exprs().asCount(), 34U);
        COMPARE_TEXT(nodeList(graph, false), "0 self, 1 x, 2 block0, 3 block0_out, 16 block1, 17 block1_out, 30 nothing, 31 nothing_out");
        COMPARE_TEXT(nodeList(*named(graph, "block0_out")->expr().innerGraph()),
                     "4 self, 5 x, 6 conv1, 7 conv1_out, 8 bn1, 9 bn1_out, 10 relu_out, 11 add_out, 12 nothing, 13 nothing_out, 14 self, 15 x");
        QCOMPARE(named(*named(graph, "block1_out")->expr().innerGraph(), "self")->id(), 18U);
        QCOMPARE(named(*named(graph, "nothing_out")->expr().innerGraph(), "x")->id(), 33U);
        QVERIFY(graph.validate());
    }

  private:
    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestTracedModule)
#include "tst_traced_module.moc"
