// What a var answers that is asked for what only another kind has: an error that names both, at once and in a trace.

#include "core/document/evaluator.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/error.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/traced_module.h"
#include "tests/core/trace/traced_text.h"

namespace tst_var {

using namespace sonde;
using namespace sonde::test;
using tensor::Tensor;
using tensor::Value;
using trace::TraceError;
using trace::Var;

namespace {

using Question = void (*)(const Var&);

std::string refusalOf(Question question, const Var& var) {
    try {
        question(var);
    } catch (const TraceError& error) {
        const std::string text = error.message(), kind = "TypeError: ";
        return text.starts_with(kind) ? text.substr(kind.size()) : text;
    }
    return "answered";
}

Tensor pair(float first, float second) { return Tensor::of<float>({2}, std::vector<float>{first, second}); }

void askValue(const Var& var) { (void)var.value(); }
void askTracer(const Var& var) { (void)&var.tracer(); }
void askNode(const Var& var) { (void)var.node(); }
void setPair(const Var& var) { var.setTensor(pair(8, 9)); }

}  // namespace

class TestVar : public QObject {
    Q_OBJECT

  private slots:
    void otherKindsRefuse_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("name");
        QTest::newRow("list") << static_cast<int>(Var::Kind::List) << "a list";
        QTest::newRow("tuple") << static_cast<int>(Var::Kind::Tuple) << "a tuple";
        QTest::newRow("dict") << static_cast<int>(Var::Kind::Dict) << "a dict";
        QTest::newRow("slice") << static_cast<int>(Var::Kind::Slice) << "a slice";
    }
    void otherKindsRefuse() {
        QFETCH(int, kind);
        QFETCH(QString, name);
        const Var all[] = {Var::list({Var(1)}), Var::tuple({Var(1)}), Var::dict({{Value("k"), Var(1)}}),
                           Var::slice(0, 1)};
        const auto var = std::ranges::find(all, static_cast<Var::Kind>(kind), &Var::kind);
        QVERIFY(var != std::end(all));
        const std::string what = name.toStdString();
        QCOMPARE(refusalOf(askValue, *var), what + " has no value");
        QCOMPARE(refusalOf(askTracer, *var), what + " has no tracer");
        QCOMPARE(refusalOf(askNode, *var), what + " has no node");
        QCOMPARE(refusalOf(setPair, *var), what + " is not a tensor: it cannot be replaced by another");
    }

    void valuesHaveNoNode() {
        for (const Var& var : {Var(), Var(3), Var("text"), Var(pair(1, 2))}) {
            QCOMPARE(refusalOf(askValue, var), std::string("answered"));
            QCOMPARE(refusalOf(askTracer, var), std::string("a value has no tracer"));
            QCOMPARE(refusalOf(askNode, var), std::string("a value has no node"));
        }
        QCOMPARE(refusalOf(setPair, Var(3)), std::string("int is not a tensor: it cannot be replaced by another"));
    }

    /// Every copy of a tensor's var is that tensor.
    void aTensorIsReplaced() {
        const Var x(pair(1, 2)), copy = x;
        setPair(x);
        QCOMPARE(copy.value().tensor().toDouble(1), 9.0);
    }

    void symbolicVariablesRefuse_data() {
        QTest::addColumn<QString>("tracer");
        for (const char* tracer : {"module path", "custom", "traced module"}) QTest::newRow(tracer) << tracer;
    }
    /// Also of a tensor that the trace has written to, which is a node from then on.
    void symbolicVariablesRefuse() {
        QFETCH(QString, tracer);
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        std::vector<std::string> said;
        const auto net = custom("Net", [&said](Custom&, std::span<const Var> in) {
            if (in[0].isProxy()) {
                said = {refusalOf(setPair, in[0].method("clone")), refusalOf(askValue, in[0]),
                        refusalOf(askNode, in[0])};
            }
            return in[0] + 1;
        });
        const Value given(pair(1, 2));
        bool isTraced = false;
        if (tracer == u"module path") isTraced = trace::ModulePathTracer().trace(net).has_value();
        else if (tracer == u"custom") isTraced = trace::CustomTracer().traceCustom(net, {}).has_value();
        else isTraced = trace::traceModule(net, {given}).has_value();
        QVERIFY(isTraced);
        const std::vector<std::string> expected{"the tensor of a symbolic variable cannot be replaced while tracing",
                                                "the value of a symbolic variable is not known while tracing",
                                                "answered"};
        QVERIFY2(said == expected, said.empty() ? "nothing was traced" : said.front().c_str());
    }
};

QTEST_GUILESS_MAIN(TestVar)

}  // namespace tst_var

#include "tst_var.moc"
