// Operators of one run draw numbers of their own, which the run's seed decides and nothing else that is run or watched.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/document/evaluator.h"
#include "core/exec/runner.h"
#include "core/nn/functional.h"
#include "core/trace/robust_tracer.h"
#include "tests/core/trace/traced_text.h"
#include "tests/support/script_archive.h"

namespace tst_random_numbers {

using namespace sonde;
using graph::Argument;
using graph::InternalGraph;
using graph::NodeId;
using nn::Var;
using tensor::Tensor;
using tensor::Value;
using test::Custom;
using In = std::span<const Var>;
using Numbers = std::vector<double>;

namespace {

constexpr std::int64_t kCount = 8;

NodeId drawn(InternalGraph& graph, const std::string& name, NodeId like, std::optional<double> seed = {}) {
    graph::Expr expr;
    expr.op = {"", "RandomUniformLike", 17};
    expr.target = "RandomUniformLike";
    expr.body = graph.mainId();
    expr.arguments = {Argument::of(like)};
    if (seed) expr.attributes.set("seed", *seed);
    return graph.expr(graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
}

/// Two draws without a seed, two with one seed.
struct Draws {
    std::shared_ptr<InternalGraph> graph = std::make_shared<InternalGraph>();
    std::vector<NodeId> nodes;

    Draws() {
        const NodeId x = graph->addInput(graph->mainId(), "x", tensor::TypeInfo::tensor(tensor::DType::Float32));
        nodes = {drawn(*graph, "a", x), drawn(*graph, "b", x), drawn(*graph, "c", x, 3), drawn(*graph, "d", x, 3)};
        std::vector<Argument> results;
        for (const NodeId node : nodes) results.push_back(Argument::of(node));
        graph->setResult(graph->mainId(), Argument::container(Argument::Kind::Tuple, std::move(results)));
    }
};

Numbers numbersOf(const Value& value) {
    Numbers numbers;
    if (value.isTensor()) {
        for (std::int64_t i = 0; i < value.tensor().numel(); ++i) numbers.push_back(value.tensor().toDouble(i));
    } else if (value.isListLike()) {
        for (const Value& item : value.items()) std::ranges::copy(numbersOf(item), std::back_inserter(numbers));
    }
    return numbers;
}

exec::Recording run(const std::shared_ptr<const InternalGraph>& graph, exec::PlanOptions plan = {},
                    std::uint64_t seed = 0) {
    exec::RunOptions options;
    options.seed = seed;
    exec::Runner runner(1);
    const std::vector<Value> inputs{Value(Tensor::of<float>({kCount}, std::vector<float>(kCount, 1)))};
    return runner.run(*exec::Plan::make(graph, std::move(plan)).value(), inputs, {}, options);
}

}  // namespace

class TestRandomNumbers : public QObject {
    Q_OBJECT

  private slots:
    void operatorsDrawOtherNumbers() {
        const Draws draws;
        const exec::Recording recording = run(draws.graph);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(recording.outputs.size(), std::size_t{4});
        std::vector<Numbers> each;
        for (const Value& output : recording.outputs) each.push_back(numbersOf(output));
        for (std::size_t i = 0; i < kCount; ++i) QVERIFY(each[0][i] != each[1][i]);
        QVERIFY(each[0] != each[2]);
        QCOMPARE(each[2], each[3]);  // ONNX: equal seeds, equal numbers
    }

    void onlyTheSeedDecides() {
        const Draws draws;
        const Numbers plain = numbersOf(run(draws.graph).outputs.at(1));
        QCOMPARE(numbersOf(run(draws.graph, {.watchAll = true}).outputs.at(1)), plain);
        QVERIFY(numbersOf(run(draws.graph, {}, 1).outputs.at(1)) != plain);
        // Without the draw before it.
        const exec::Recording alone = run(draws.graph, {.watch = {draws.nodes[1]}, .end = {draws.nodes[1]}});
        QCOMPARE(numbersOf(*alone.value(draws.nodes[1])), plain);
    }

    void iterationsDrawOtherNumbers() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("m.pt").toStdString();
        test::writeScript(path,
                          "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                          "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                          "    ys = annotate(List[Tensor], [])\n    for i in range(torch.size(x, 0)):\n"
                          "      _0 = torch.append(ys, torch.rand_like(x))\n    return torch.stack(ys)\n",
                          {}, {});
        const auto opened = document::open(path);
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
        const exec::Recording recording = run((*opened)->graph);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const Numbers all = numbersOf(recording.outputs.at(0));
        QCOMPARE(all.size(), std::size_t{kCount * kCount});
        QCOMPARE(std::set<double>(all.begin(), all.end()).size(), all.size());
    }

    /// A module that runs on values is part of the run.
    void modulesOnValuesDrawWithTheRun() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = test::custom("Net", [](Custom& self, In in) { return self.at("opaque").call({in[0]}, {}); });
        net->addChild("opaque", test::custom("Opaque", [](Custom&, In in) -> Var {
                          const trace::Function rand{"rand_like", "rand_like", "torch.rand_like"};
                          const Var first = trace::callFunction(rand, {in[0]});
                          if (nn::sum(in[0]) > 0) return nn::stack({first, trace::callFunction(rand, {in[0]})}, 0);
                          return first;
                      }));
        trace::RobustTracer tracer;
        const auto graph = tracer.traceRobust(net);
        const Numbers zero = numbersOf(run(graph).outputs.at(0)), again = numbersOf(run(graph).outputs.at(0)),
                      one = numbersOf(run(graph, {}, 1).outputs.at(0));
        QCOMPARE(zero.size(), std::size_t{2 * kCount});
        QCOMPARE(std::set<double>(zero.begin(), zero.end()).size(), zero.size());
        QCOMPARE(again, zero);
        QVERIFY(one != zero);
    }
};

QTEST_GUILESS_MAIN(TestRandomNumbers)

}  // namespace tst_random_numbers

#include "tst_random_numbers.moc"
