// Branches of cond that write in place, under the custom tracer.

#include <QtTest>

#include "core/document/evaluator.h"
#include "core/nn/functional.h"
#include "core/trace/custom_cond.h"
#include "core/trace/custom_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_custom_branches {

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using In = std::span<const Var>;

class TestCustomBranches : public QObject {
    Q_OBJECT

  private slots:
    /// A branch may write to its operands, and not to what it captures: nobody would see that.
    void writesToWhatABranchCaptures() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto traced = [](bool captures) {
            const auto net = custom("Net", [captures](Custom&, In in) {
                const Var c = in[0].method("clone"), other = in[0].method("clone");
                const trace::NamedFunction writes{"writes", [captures, c](In operands) {
                                                      return (captures ? c : operands[0]).method("add_", {1}, {}) * 1;
                                                  }};
                const trace::NamedFunction plain{"plain", [](In operands) { return operands[0] * 1; }};
                const Var y = trace::cond(nn::sum(in[0]) > 0, writes, plain, Var::list({captures ? other : c}));
                return nn::cat({c, y}, 0);
            });
            return trace::CustomTracer().traceCustom(net, {});
        };
        const auto refused = traced(true);
        QVERIFY(!refused);
        const std::string text = refused.error().text();
        QVERIFY2(text.find("node 'clone' (operation 1)") != std::string::npos, text.c_str());
        QVERIFY2(text.find("branch 'writes' of cond") != std::string::npos, text.c_str());
        const auto graph = traced(false);
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().text().c_str());
        const exec::Recording recording = runGraph(*graph, {floats({2}, {1, 2})});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(numbers(recording.outputs.at(0)), (std::vector<double>{2, 3, 2, 3}));
    }

    /// The diagonal of x.expand(2, 2) is x itself: what is written to it shows in every row, and no scatter says so.
    void writesToWhatRepeatsElements() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = custom("Net", [](Custom&, In in) {
            const trace::NamedFunction same{"same", [](In operands) { return operands[0]; }};
            const Var c = in[0].method("expand", {Var::list({2, 2})}, {});
            const Var y = trace::cond(nn::sum(c) > 0, same, same, Var::list({c}));
            y.method("diagonal").method("zero_");
            return y + 1;
        });
        const auto refused = trace::CustomTracer().traceCustom(net, {});
        QVERIFY(!refused);
        const std::string text = refused.error().text();
        QVERIFY2(text.find("may show one element several times") != std::string::npos, text.c_str());
    }
};

QTEST_GUILESS_MAIN(TestCustomBranches)

}  // namespace tst_custom_branches

#include "tst_custom_branches.moc"
