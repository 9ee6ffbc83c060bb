// A call that runs on values may write or raise: whether anybody reads its result or not, it stays, and a pass that
// takes an error away is found out.

#include <QtTest>

#include "core/document/model_passes.h"
#include "core/nn/functional.h"
#include "core/passes/pass.h"
#include "core/trace/robust_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_opaque_calls {

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using In = std::span<const Var>;
using GraphPtr = std::shared_ptr<const graph::InternalGraph>;

namespace {

/// y = 2x, then a call of a module that depends on the data, then y + 1.
std::shared_ptr<Custom> netWith(Custom::Forward inner) {
    const auto net = custom("Net", [](Custom& self, In in) {
        const Var y = in[0] * 2;
        self.at("opaque").call({y}, {});
        return y + 1;
    });
    net->addChild("opaque", custom("Opaque", std::move(inner)));
    return net;
}

std::shared_ptr<Custom> raising() {
    return netWith([](Custom&, In in) -> Var {
        if (!(nn::sum(in[0]) > 0).toBool()) throw std::runtime_error("negative sum");
        return in[0];
    });
}

std::shared_ptr<Custom> writing() {
    return netWith([](Custom&, In in) {
        if (nn::sum(in[0]) > 0) in[0].method("add_", {100}, {}, "add_.Scalar");
        return in[0] * 0;
    });
}

GraphPtr traced(const std::shared_ptr<Custom>& net) {
    trace::RobustTracer tracer;
    return tracer.traceRobust(net);
}

GraphPtr after(const GraphPtr& graph, const std::string& pass) {
    passes::PassContext context;
    context.evaluate = document::passEvaluator();
    const std::vector<std::string> ids{pass};
    auto made = passes::runPasses(*graph, ids, context);
    if (!made) qWarning("%s", made.error().text().c_str());
    return made ? GraphPtr(made->graph) : nullptr;
}

const tensor::Value kBelow = floats({2}, {-1, -2}), kAbove = floats({2}, {1, 2});

}  // namespace

class TestOpaqueCalls : public QObject {
    Q_OBJECT

  private slots:
    void passesKeepThem_data() {
        QTest::addColumn<QString>("pass");
        for (const passes::Pass& pass : passes::passes()) {
            if (pass.keepsValues)
                QTest::newRow(std::string(pass.id).c_str()) << QString::fromStdString(std::string(pass.id));
        }
    }

    void passesKeepThem() {
        QFETCH(QString, pass);
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = raising();
        const GraphPtr graph = traced(net);
        QVERIFY(runGraph(graph, {kBelow}).error.has_value());
        const GraphPtr changed = after(graph, pass.toStdString());
        QVERIFY(changed);
        const exec::Recording recording = runGraph(changed, {kBelow});
        QVERIFY(recording.error.has_value());
        QVERIFY2(recording.error->what.find("negative sum") != std::string::npos, recording.error->what.c_str());
        QCOMPARE(resultOf(changed, {kAbove}), (std::vector<double>{3, 5}));
        // PyTorch gives 103 and 105: what is not known must not become 3 and 5.
        const auto writer = writing();
        const GraphPtr writes = after(traced(writer), pass.toStdString());
        if (writes) QVERIFY(runGraph(writes, {kAbove}).error.has_value());
    }

    /// The comparison behind a pass runs both graphs: an error that has gone is a difference.
    void lostErrorsAreDifferences() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = raising();
        const GraphPtr graph = traced(net);
        auto without = std::make_shared<graph::InternalGraph>(*graph);
        for (const graph::ExprId id : graph->main().order) {
            if (graph->expr(id).callable) without->erase(id);
        }
        const auto differs = document::outputComparer({{kBelow}}, {})(graph, without);
        QVERIFY(!differs.has_value());
        QVERIFY2(differs.error().text().find("negative sum") != std::string::npos, differs.error().text().c_str());
        const auto same = document::outputComparer({{kAbove}}, {})(graph, without);
        QVERIFY(same.has_value() && *same);
    }
};

QTEST_GUILESS_MAIN(TestOpaqueCalls)

}  // namespace tst_opaque_calls

#include "tst_opaque_calls.moc"
