// What PyTorch refuses: indices outside of what they index, and writes whose elements meet in memory. At once, under
// every tracer, recorded and made values by remove-inplace alike: the same refusal, or where PyTorch computes, its
// numbers (worked by hand). Beside each refusal there is a neighbour that is allowed.

#include <QtTest>

#include "core/graph/purify.h"
#include "core/operators/names.h"
#include "core/passes/inplace.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/robust_tracer.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/core/trace/in_place_programs.h"
#include "tests/core/trace/refused_indices.h"

namespace tst_refused_programs {

using namespace sonde;
using namespace sonde::test;
using namespace sonde::test::in_place;
using namespace sonde::test::refused;
using nn::Var;
using tensor::Value;

namespace {

Var part(const Var& c, std::int64_t from, std::int64_t to) { return c[Var::slice(from, to)]; }

const std::vector<Case>& overlapCases() {
    static const std::vector<Case> list{
        {"neighbours meet",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(part(c, 0, 3), part(c, 1, 4));
             return c;
         },
         {},
         kMeets},
        {"halves do not",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(part(c, 0, 2), part(c, 2, 4));
             return c;
         },
         {4, 6, 3, 4}},
        {"the result of the write alone is read",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return add_(part(c, 0, 3), part(c, 1, 4));
         },
         {},
         kMeets},
        {"all but the last, all but the first",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c[Var::slice(Var(), -1)].method("copy_", {c[Var::slice(1, Var())]}, {}, "copy_");
             return c;
         },
         {},
         kMeets},
        {"the first two, the last two",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c[Var::slice(Var(), 2)].method("copy_", {c[Var::slice(-2, Var())]}, {}, "copy_");
             return c;
         },
         {3, 4, 3, 4},
         nullptr,
         true},
        {"itself",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c, c);
             return c;
         },
         {2, 4, 6, 8}},
        {"the same view twice",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::view(c, {2, 2}), nn::view(c, {2, 2}));
             return c;
         },
         {2, 4, 6, 8}},
        {"all of it as a view of the same shape",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return c.method("mul_", {nn::view(c, {4})}, {}, "mul_.Tensor");
         },
         {1, 4, 9, 16}},
        {"into all of it as a part",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             part(c, 0, 4).method("sub_", {c}, {}, "sub_.Tensor");
             return c;
         },
         {0, 0, 0, 0}},
        {"one part by two operators",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             part(c, 0, 2).method("mul_", {nn::narrow(c, 0, 0, 2)}, {}, "mul_.Tensor");
             return c;
         },
         {1, 4, 3, 4}},
        {"all rows",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return c.method("mul_", {c[Var::slice(0, 2)]}, {}, "mul_.Tensor");
         },
         {1, 4, 9, 16}},
        {"squeezed, with nothing to squeeze",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.method("squeeze").method("sub_", {c}, {}, "sub_.Tensor");
             return c;
         },
         {0, 0, 0, 0}},
        {"transposed there and back",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return add_(c, nn::transpose(nn::transpose(c, 0, 1), 0, 1));
         },
         {2, 4, 6, 8}},
        {"in two rows",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return add_(c, nn::view(c, {2, 2}));
         },
         {},
         kMeets},
        {"in one row",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return add_(nn::view(c, {1, 4}), c);
         },
         {},
         kMeets},
        {"the first row of it",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return add_(c, c[Var(0)]);
         },
         {},
         kMeets},
        {"strides over what was made of a transposed matrix",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             return nn::relu(nn::transpose(clone(in[0]), 0, 1))
                 .method("as_strided", {Var(std::vector<std::int64_t>{4}), Var(std::vector<std::int64_t>{1})}, {});
         },
         {},
         "the order of its elements in memory is not known"},
        {"strides over what was made of a matrix",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             return nn::relu(in[0] + 1).method(
                 "as_strided", {Var(std::vector<std::int64_t>{4}), Var(std::vector<std::int64_t>{1})}, {});
         },
         {2, 3, 4, 5}},
        {"a matrix and its transpose",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c, nn::transpose(c, 0, 1));
             return c;
         },
         {},
         kMeets},
        {"its diagonal and a column",
         floats({2, 2}, {1, 2, 3, 4}),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(c[Var::tuple({all(), Var(0)})], method(c, "diagonal", {}, "diagonal"));
             return c;
         },
         {},
         kMeets},
        {"item assignment from a neighbour",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(Var::slice(0, 3), part(c, 1, 4));
             return c;
         },
         {},
         kMeets},
        {"item assignment from itself",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(Var::slice(1, 3), part(c, 1, 3));
             return c;
         },
         {1, 2, 3, 4}},
        {"assignment by a tensor of indices from the same tensor",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(longs({0, 1}), part(c, 2, 4));
             return c;
         },
         {},
         kMeets},
        {"a gathered part is a copy",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.withItem(Var::slice(0, 2), c[longs({1, 2})]);
             return c;
         },
         {2, 3, 3, 4}},
        {"index_add_ from itself",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             c.method("index_add_", {0, longs({0, 1, 2, 3}), c}, {}, "index_add_");
             return c;
         },
         {},
         kMeets},
        {"out= that is half an operand",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             trace::callFunction({"add.Tensor", "add", "torch.add"}, {part(c, 0, 3), 1}, {{"out", part(c, 1, 4)}});
             return c;
         },
         {},
         kMeets},
        {"out= that is the operand",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             trace::callFunction({"exp.out", "exp", "torch.exp"}, {c * 0 + 0}, {{"out", c}});
             return c;
         },
         {1, 1, 1, 1}},
        {"chunks of one call",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             const Var parts = nn::chunk(c, 2, 0);
             add_(parts[0], parts[1]);
             return c;
         },
         {4, 6, 3, 4}},
        {"a chunk and a slice of it",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::chunk(c, 2, 0)[Var(0)], part(c, 1, 3));
             return c;
         },
         {},
         kMeets},
        {"an expanded tensor",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::expand(nn::unsqueeze(c, 0), {3, 4}), 1);
             return c;
         },
         {},
         kRepeats},
        {"an expanded tensor, its own result read",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             return add_(nn::expand(nn::unsqueeze(c, 0), {3, 4}), 1);
         },
         {},
         kRepeats},
        {"expanded to its own shape",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             add_(nn::expand(c, {4}), 1);
             return c;
         },
         {2, 3, 4, 5},
         nullptr,
         true},
        {"filled through an expanded view",
         tensor4(),
         [](Custom&, In in) {
             const Var c = clone(in[0]);
             method(nn::expand(nn::unsqueeze(c, 0), {3, 4}), "fill_", {1}, "fill_.Scalar");
             return c;
         },
         {},
         kRepeats},
        {"in a branch of a module",
         tensor4(),
         [](Custom& self, In in) {
             const Var c = clone(in[0]);
             self.at("shift")(c);
             return c;
         },
         {},
         kMeets},
    };
    return list;
}

std::shared_ptr<Custom> netOf(const Case& each) {
    const auto net = custom("Net", each.forward);
    net->addChild("shift", custom("Shift", [](Custom&, In in) {
                      add_(part(in[0], 0, 3), part(in[0], 1, 4));
                      return in[0];
                  }));
    return net;
}

Value copyOf(const Value& value) { return Value(*value.tensor().clone()); }

/// Numbers, or why there are none.
struct Outcome {
    Numbers numbers;
    std::string why;
};

Outcome runOf(const std::shared_ptr<const graph::InternalGraph>& graph, const Value& input) {
    const auto plan = exec::Plan::make(graph, {});
    if (!plan) return {{}, plan.error().text()};
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, std::vector<Value>{copyOf(input)});
    if (recording.error) return {{}, recording.error->text()};
    return {numbers(recording.outputs.at(0)), {}};
}

template <typename Graph>
Outcome outcome(const base::Result<Graph>& graph, const Value& input) {
    if (!graph) return {{}, graph.error().text()};
    return runOf(*graph, input);
}

/// What some tracers do not take at all.
bool isOtherRefusal(const std::string& why) {
    return why.find("does not support item assignment") != std::string::npos ||
           why.find("with out= is not supported") != std::string::npos ||
           why.find("in-place through view not supported") != std::string::npos ||
           why.find("a module that runs on values cannot do that") != std::string::npos ||
           why.find("sizes that are not known while tracing") != std::string::npos;
}

void check(const Case& each, const char* way, const Outcome& outcome, bool mayRefuse) {
    const QString text =
        QStringLiteral("%1: %2 values, %3").arg(way).arg(outcome.numbers.size()).arg(outcome.why.c_str());
    if (each.refusal) {
        const bool isSaid = outcome.why.find(each.refusal) != std::string::npos;
        QVERIFY2(outcome.numbers.empty() && (isSaid || (mayRefuse && isOtherRefusal(outcome.why))), qPrintable(text));
    } else if (outcome.numbers != each.expected) {
        QVERIFY2(mayRefuse && outcome.numbers.empty() && !outcome.why.empty(), qPrintable(text));
    }
}

base::Result<trace::Tracer::GraphPtr> withoutWrites(const graph::InternalGraph& graph) {
    return graph::purified(graph, true);
}

}  // namespace

class TestRefusedPrograms : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void indices_data() { rows(indexCases()); }
    void indices() { everyWay(indexCases()); }
    void overlaps_data() { rows(overlapCases()); }
    void overlaps() { everyWay(overlapCases()); }

  private:
    static void rows(const std::vector<Case>& cases) {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < cases.size(); ++i)
            QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(i).arg(cases[i].name))) << static_cast<int>(i);
    }

    static void everyWay(const std::vector<Case>& cases) {
        QFETCH(int, index);
        const Case& each = cases[static_cast<std::size_t>(index)];
        const Value& x = each.input;
        Outcome atOnce;
        try {
            atOnce.numbers = numbers(netOf(each)->call({Var(copyOf(x))}, {}).toValue());
        } catch (const trace::TraceError& error) {
            atOnce.why = error.message();
        }
        check(each, "at once", atOnce, false);

        trace::ModulePathTracer modulePath;
        const auto followed = modulePath.trace(netOf(each));
        check(each, "module path", outcome(followed, x), true);
        if (followed) check(each, "module path, writes removed", outcome(withoutWrites(**followed), x), true);

        trace::RobustTracer robust;
        const auto net = netOf(each);
        const auto graph = robust.traceRobust(net);
        const bool isEmpty = graph->nodeCount() == 0;
        check(each, "robust", isEmpty ? Outcome{{}, *robust.failureMessage(*net)} : runOf(graph, x), true);

        const auto traced = trace::traceModule(netOf(each), {copyOf(x)});
        Outcome ran{{}, traced ? "" : traced.error().text()};
        if (traced) {
            const auto result = (*traced)->run({copyOf(x)});
            ran = result ? Outcome{numbers(*result), {}} : Outcome{{}, result.error().text()};
        }
        check(each, "traced module", ran, each.mayRefuse);

        for (const bool removes : {true, false}) {
            trace::CustomTracer custom;
            trace::CustomTraceOptions options;
            options.removeInPlace = removes;
            const auto recorded = custom.traceCustom(netOf(each), options);
            Outcome ofCustom = outcome(recorded, x);
            // As it is recorded a run may say instead that remove-inplace comes first.
            if (!removes && ofCustom.why.find("is read later through another node") != std::string::npos)
                ofCustom = outcome(withoutWrites(**recorded), x);
            check(each, removes ? "custom" : "custom, writes kept", ofCustom, true);
        }
    }

    std::unique_ptr<trace::EvaluatorScope> m_scope;
};

QTEST_GUILESS_MAIN(TestRefusedPrograms)

}  // namespace tst_refused_programs

#include "tst_refused_programs.moc"
