// Writes that only another name of the same memory shows: CustomTracer().trace() keeps their effect, and so does every
// pass that keeps values. Expected numbers are what the same program gives in PyTorch, worked by hand.

#include <QtTest>

#include "core/document/evaluator.h"
#include "core/document/model_passes.h"
#include "core/nn/containers.h"
#include "core/nn/functional.h"
#include "core/passes/inplace.h"
#include "core/passes/pass.h"
#include "core/trace/custom_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_live_writes {

using namespace sonde;
using nn::Var;
using test::Custom;
using trace::CustomTracer;

namespace {

using Numbers = std::vector<double>;
using In = std::span<const Var>;
using GraphPtr = trace::Tracer::GraphPtr;

Var cloned(const Var& x) { return x.method("clone"); }
Var addTo(const Var& x, const Var& number) { return x.method("add_", {number}, {}, "add_.Scalar"); }
Var narrowed(const Var& x, int start, int length) { return x.method("narrow", {Var(0), Var(start), Var(length)}, {}); }
Var shaped(const Var& x, std::vector<std::int64_t> shape) { return x.method("view", {Var(shape)}, {}); }

struct Pattern {
    const char* name;
    Custom::Forward forward;
    Numbers expected;  ///< of 1 2
};

/// An earlier view is read behind a write to its base, or the base behind a write through a view.
const std::vector<Pattern>& patterns() {
    // clang-format off
    static const std::vector<Pattern> all{
        {"slice", [](Custom&, In in) { const Var c = cloned(in[0]), v = c[Var::slice(0, 2)]; addTo(c, 1); return v; }, {2, 3}},
        {"view", [](Custom&, In in) { const Var c = cloned(in[0]), v = shaped(c, {2, 1}); addTo(c, 1); return v; }, {2, 3}},
        {"unsqueeze", [](Custom&, In in) { const Var c = cloned(in[0]), v = nn::unsqueeze(c, 0); addTo(c, 1); return v; }, {2, 3}},
        {"expand", [](Custom&, In in) { const Var c = cloned(in[0]), v = nn::expand(c, {2, 2}); addTo(c, 1); return v; }, {2, 3, 2, 3}},
        {"chunk", [](Custom&, In in) { const Var c = cloned(in[0]), v = nn::chunk(c, 2, 0)[Var(1)]; addTo(c, 1); return v; }, {3}},
        {"split", [](Custom&, In in) { const Var c = cloned(in[0]), v = c.method("split", {1, 0}, {}, "split.Tensor")[Var(0)]; addTo(c, 1); return v; }, {2}},
        {"unbind", [](Custom&, In in) { const Var c = cloned(in[0]), v = c.method("unbind", {0}, {}, "unbind.int")[Var(1)]; addTo(c, 1); return v; }, {3}},
        {"detach", [](Custom&, In in) { const Var c = cloned(in[0]), v = c.method("detach"); addTo(c, 1); return v; }, {2, 3}},
        {"transpose", [](Custom&, In in) { const Var c = cloned(in[0]), v = shaped(c, {1, 2}).method("t"); addTo(c, 1); return v; }, {2, 3}},
        {"reshape", [](Custom&, In in) { const Var c = cloned(in[0]), v = nn::reshape(c, {2, 1}); addTo(c, 1); return v; }, {2, 3}},
        {"contiguous", [](Custom&, In in) { const Var c = cloned(in[0]), v = nn::contiguous(c); addTo(c, 1); return v; }, {2, 3}},
        {"setitem", [](Custom&, In in) { const Var c = cloned(in[0]), v = c[Var::slice(0, 2)]; c.withItem(0, 7); return v; }, {7, 2}},
        {"index of a view", [](Custom&, In in) { const Var c = cloned(in[0]), v = c[Var::slice(0, 2)]; v.withItem(1, 7); return c; }, {1, 7}},
        {"through a slice", [](Custom&, In in) { const Var c = cloned(in[0]); addTo(narrowed(c, 1, 1), 5); return c; }, {1, 7}},
        {"through a view", [](Custom&, In in) { const Var c = cloned(in[0]); addTo(shaped(c, {2, 1}), 5); return c; }, {6, 7}},
        {"through two views", [](Custom&, In in) { const Var c = cloned(in[0]); addTo(nn::unsqueeze(c, 0)[Var::tuple({0, 1})], 5); return c; }, {1, 7}},
        {"through a chunk", [](Custom&, In in) { const Var c = cloned(in[0]); addTo(nn::chunk(c, 2, 0)[Var(1)], 5); return c; }, {1, 7}},
        {"through detach, read by a slice", [](Custom&, In in) { const Var c = cloned(in[0]), v = c[Var::slice(1, 2)]; addTo(c.method("detach"), 5); return v; }, {7}},
        {"one view, read by another", [](Custom&, In in) { const Var c = cloned(in[0]), a = c[Var::slice(0, 1)], b = c[Var::slice(0, 2)]; addTo(a, 5); return b; }, {6, 2}},
        {"the result of a write", [](Custom&, In in) { const Var c = cloned(in[0]), r = addTo(c, 1); addTo(c, 1); return r; }, {3, 4}},
        {"an input", [](Custom&, In in) { const Var v = in[0][Var::slice(0, 1)]; addTo(in[0], 1); return v; }, {2}},
        {"a value between", [](Custom&, In in) { const Var c = cloned(in[0]), before = c + Var(0); addTo(c, 1); return before + c; }, {3, 5}},
    };
    // clang-format on
    return all;
}

std::vector<tensor::Value> oneTwo() { return {test::floats({2}, {1, 2})}; }

GraphPtr traced(const std::shared_ptr<nn::Module>& module) {
    const trace::EvaluatorScope scope(document::kernelEvaluator());
    auto graph = CustomTracer().trace(module);
    if (!graph) qWarning("%s", graph.error().text().c_str());
    return graph ? *graph : nullptr;
}

GraphPtr recorded(const std::shared_ptr<nn::Module>& module) {
    const trace::EvaluatorScope scope(document::kernelEvaluator());
    return CustomTracer().traceCustom(module, {.removeInPlace = false}).value();
}

/// A module that adds to its input and gives something else.
std::shared_ptr<Custom> writer() {
    return test::custom("Writer", [](Custom&, In in) {
        addTo(in[0], 10);
        return in[0] * 2;
    });
}

std::size_t countOf(const graph::InternalGraph& graph, std::string_view op) {
    std::size_t count = 0;
    for (graph::ExprId id : graph.main().order) count += graph.expr(id).op.name.starts_with(op);
    return count;
}

}  // namespace

class TestLiveWrites : public QObject {
    Q_OBJECT

  private slots:
    void everyNameSeesTheWrite_data() {
        QTest::addColumn<int>("pattern");
        for (std::size_t i = 0; i < patterns().size(); ++i) QTest::newRow(patterns()[i].name) << static_cast<int>(i);
    }

    void everyNameSeesTheWrite() {
        QFETCH(int, pattern);
        const Pattern& each = patterns()[static_cast<std::size_t>(pattern)];
        const auto module = test::custom("Net", each.forward);
        const GraphPtr graph = traced(module);
        QVERIFY(graph);
        QVERIFY(graph->validate());
        QCOMPARE(test::resultOf(graph, oneTwo()), each.expected);
        // As it was recorded: each pass that keeps values, then the removal.
        const GraphPtr raw = recorded(module);
        passes::PassContext context;
        context.evaluate = document::passEvaluator();
        for (const passes::Pass& pass : passes::passes()) {
            if (!pass.keepsValues) continue;
            const std::vector<std::string> ids{std::string(pass.id), "remove-inplace"};
            const auto changed = passes::runPasses(*raw, ids, context);
            QVERIFY2(changed, changed ? "" : changed.error().text().c_str());
            QVERIFY2(test::resultOf(changed->graph, oneTwo()) == each.expected, ids.front().c_str());
        }
    }

    void modulesWriteToWhatTheyAreGiven() {
        const auto net = test::custom("Net", [](Custom& self, In in) {
            const Var c = cloned(in[0]), v = c[Var::slice(1, 2)];
            const Var doubled = self.at("writer")(v);
            return nn::cat({c, doubled}, 0);
        });
        net->addChild("writer", writer());
        QCOMPARE(test::resultOf(traced(net), oneTwo()), (Numbers{1, 12, 24}));
        // As a leaf the module is one call, which gives what it wrote as a second output.
        CustomTracer tracer;
        tracer.addLeafClass("Writer");
        const auto leaf = tracer.trace(net);
        QVERIFY2(leaf, leaf ? "" : leaf.error().text().c_str());
        QVERIFY2(test::oneLine(**leaf).find("getitem_written") != std::string::npos, test::oneLine(**leaf).c_str());
        QCOMPARE(test::resultOf(*leaf, oneTwo()), (Numbers{1, 12, 24}));
    }

    void branchesWriteToTheirOperands() {
        const trace::NamedFunction writes{"writes", [](In in) {
                                              addTo(in[0], 10);
                                              return in[0] * 2;
                                          }};
        const trace::NamedFunction reads{"reads", [](In in) { return in[0] * 3; }};
        const auto net = test::custom("Net", [=](Custom&, In in) {
            const Var c = cloned(in[0]);
            const Var chosen = trace::cond(nn::sum(c) > Var(0), writes, reads, Var::list({c}));
            return nn::cat({c, chosen}, 0);
        });
        const GraphPtr graph = traced(net);
        QCOMPARE(test::resultOf(graph, oneTwo()), (Numbers{11, 12, 22, 24}));
        QCOMPARE(test::resultOf(graph, {test::floats({2}, {-1, -2})}), (Numbers{-1, -2, -3, -6}));
    }

    void attributesAreOneTensorInEveryBody() {
        const auto net = test::custom("Net", [](Custom& self, In in) {
            addTo(self.tensor("scale"), 1);
            return in[0] * self.tensor("scale") + self.at("inner")(in[0]);
        });
        const auto inner = test::custom("Inner", [](Custom& self, In in) { return in[0] * self.tensor("same"); });
        const tensor::Tensor shared = tensor::Tensor::of<float>({2}, std::vector<float>{3, 4});
        net->addParameter("scale", shared);
        inner->addParameter("same", shared);
        net->addChild("inner", inner);
        QCOMPARE(test::resultOf(traced(net), oneTwo()), (Numbers{8, 20}));
        CustomTracer tracer;
        tracer.addLeafClass("Inner");
        QCOMPARE(test::resultOf(tracer.trace(net).value(), oneTwo()), (Numbers{8, 20}));
    }

    void whatCannotBeKnownIsRefusedWhereItIsRead() {
        const auto expandedWrite = [](bool reads) {
            return test::custom("Net", [reads](Custom&, In in) {
                const Var c = cloned(in[0]), v = nn::reshape(nn::reshape(in[0], {1, 2}).method("t"), {-1});
                addTo(c, 1);
                addTo(v, 5);
                return reads ? in[0] + c : c;
            });
        };
        const trace::EvaluatorScope scope(document::kernelEvaluator());
        QCOMPARE(test::resultOf(CustomTracer().trace(expandedWrite(false)).value(), oneTwo()), (Numbers{2, 3}));
        const auto refused = CustomTracer().trace(expandedWrite(true));
        QVERIFY(!refused);
        QVERIFY2(refused.error().what.starts_with("(inplace) whether"), refused.error().what.c_str());
        QVERIFY2(refused.error().where.starts_with("node 'add__1', operation "), refused.error().where.c_str());
        const GraphPtr raw = recorded(expandedWrite(true));
        graph::InternalGraph copy = *raw;
        const std::string before = graph::printed(copy);
        QCOMPARE(passes::removeInplace(copy, {.fail = false}).value(), std::int64_t{-1});
        QCOMPARE(graph::printed(copy), before);
    }

    void partsOfExpandedTensorsAreRefused() {
        // In PyTorch all rows change: they are one row in memory.
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var rows = nn::expand(in[0], {3, 2});
            rows.withItem(Var::tuple({1, 0}), 7);
            return rows;
        });
        const auto refused = CustomTracer().trace(net);
        QVERIFY(!refused);
        QVERIFY2(refused.error().where.starts_with("node 'setitem', operation "), refused.error().where.c_str());
    }

    void plansRefuseWritesThatARunWouldNotSee() {
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var c = cloned(in[0]);
            addTo(c, 2);
            return c + Var(3);
        });
        const auto refused = exec::Plan::make(recorded(net), {});
        QVERIFY(!refused);
        QVERIFY2(refused.error().where.find("'add_'") != std::string::npos, refused.error().where.c_str());
        QVERIFY(refused.error().hint.find("remove-inplace") != std::string::npos);
        // A write whose result alone is read is a value already.
        const auto chained = test::custom("Net", [](Custom&, In in) { return addTo(cloned(in[0]), 2) + Var(3); });
        QCOMPARE(test::resultOf(recorded(chained), oneTwo()), (Numbers{6, 7}));
    }

    void aWriteBetweenEqualExpressionsForbidsMergingThem() {
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var c = cloned(in[0]), before = nn::abs(c);
            addTo(c, 1);
            return nn::cat({before + nn::abs(c), nn::relu(in[0]) + nn::relu(in[0])}, 0);
        });
        const std::vector<std::string> ids{"merge-duplicates", "remove-inplace"};
        const auto changed = passes::runPasses(*recorded(net), ids);
        QVERIFY(changed);
        QCOMPARE(countOf(*changed->graph, "abs"), std::size_t{2});
        QCOMPARE(countOf(*changed->graph, "relu"), std::size_t{1});  // nothing that is written comes near these
        QCOMPARE(test::resultOf(changed->graph, oneTwo()), (Numbers{3, 5, 2, 4}));
    }

    void aCallThatNobodyReadsMayWrite() {
        const auto net = test::custom("Net", [](Custom& self, In in) {
            const Var c = cloned(in[0]);
            nn::relu(self.at("writer")(c));  // dead, but not the call
            return c;
        });
        net->addChild("writer", writer());
        CustomTracer tracer;
        tracer.addLeafClass("Writer");
        const GraphPtr raw = tracer.traceCustom(net, {.removeInPlace = false}).value();
        const std::vector<std::string> ids{"remove-dead-code", "remove-inplace"};
        const auto changed = passes::runPasses(*raw, ids);
        QVERIFY(changed);
        QCOMPARE(test::resultOf(changed->graph, oneTwo()), (Numbers{11, 12}));
    }

    /// The cleanup follows the arguments of dead code: one that was taken back is an error, and no crash.
    void whatWasTakenBackIsNotUsed() {
        const auto net = test::custom("Net", [](Custom&, In in) {
            const Var taken = in[0] + 1;
            trace::Tracer::active()->recorder().eraseUnused(taken.node());
            nn::abs(taken);  // dead
            return cloned(in[0]);
        });
        const auto refused = CustomTracer().trace(net);
        QVERIFY(!refused);
        QVERIFY2(refused.error().text().find("argument is not defined before its use") != std::string::npos,
                 refused.error().text().c_str());
    }

    void constantsThatAreWrittenAreNotFolded() {
        const auto net = test::custom("Net", [](Custom& self, In in) {
            const Var c = self.tensor("c");
            c.method("add_", {in[0]}, {}, "add_.Tensor");
            return nn::abs(c) + in[0];
        });
        net->addParameter("c", tensor::Tensor::of<float>({2}, std::vector<float>{-1, -2}));
        passes::PassContext context;
        context.evaluate = document::passEvaluator();
        const std::vector<std::string> ids{"fold-constant", "remove-inplace"};
        const auto changed = passes::runPasses(*recorded(net), ids, context);
        QVERIFY(changed);
        QCOMPARE(test::resultOf(changed->graph, {test::floats({2}, {10, 20})}), (Numbers{19, 38}));
    }
};

QTEST_GUILESS_MAIN(TestLiveWrites)

}  // namespace tst_live_writes

#include "tst_live_writes.moc"
