// Runs whose outputs are compared with those of the model's own code. The code is a function of the test.

#include <QTemporaryDir>
#include <QtTest>

#include <limits>

#include "core/session/own_code_check.h"
#include "core/session/session.h"

namespace tst_own_code_check {

using namespace sonde;
using document::OwnOutputs;
using session::RunState;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Value vectorOf(const std::vector<float>& values) {
    return Value(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values));
}

/// The document with code that gives what the graph gives, with `added` on every element, and counts its calls.
std::shared_ptr<const document::Document> withCode(const document::Document& document, float added, int& calls) {
    auto copy = std::make_shared<document::Document>(document);
    copy->ownCode = [&calls, added, graph = copy->graph](std::span<const Value> inputs,
                                                         const base::WorkContext& work) -> base::Result<OwnOutputs> {
        ++calls;
        exec::Runner runner(1);
        const auto plan = exec::Plan::make(graph, {});
        const exec::Recording recording = runner.run(**plan, {inputs.begin(), inputs.end()}, work);
        OwnOutputs outputs;
        for (const Value& output : recording.outputs) {
            Tensor shifted = *output.tensor().clone();
            for (std::int64_t i = 0; i < shifted.numel(); ++i) shifted.mutableData<float>()[i] += added;
            outputs.values.emplace_back(shifted);
        }
        return outputs;
    };
    return copy;
}

}  // namespace

class TestOwnCodeCheck : public QObject {
    Q_OBJECT

  private slots:
    void outputsAreCompared_data() {
        QTest::addColumn<std::vector<Value>>("graph");
        QTest::addColumn<std::vector<Value>>("code");
        QTest::addColumn<QString>("text");  // empty: the same
        const auto add = [](const char* name, const std::vector<Value>& graph, const std::vector<Value>& code,
                            const char* text) { QTest::newRow(name) << graph << code << QString(text); };
        add("the same", {vectorOf({1, 2})}, {vectorOf({1, 2})}, "");
        add("rounded otherwise", {vectorOf({1, 2})}, {vectorOf({1, 2.0001F})}, "");
        add("an element", {vectorOf({1, 2})}, {vectorOf({1, 3})}, "the output differs by up to 1");
        add("NaN in both", {vectorOf({1, kNaN})}, {vectorOf({1, kNaN})}, "");
        add("NaN in one", {vectorOf({1, kNaN})}, {vectorOf({1, 2})}, "differs");
        add("shapes", {vectorOf({1})}, {vectorOf({1, 2})}, "float32[1] instead of float32[2]");
        add("the second one", {vectorOf({1}), vectorOf({2})}, {vectorOf({1}), vectorOf({4})}, "output 1 differs");
        add("one is missing", {vectorOf({1})}, {vectorOf({1}), vectorOf({1})}, "1 values instead of 2");
        add("in a list", {Value::list({vectorOf({1}), vectorOf({2})})}, {vectorOf({1}), vectorOf({2})}, "");
        add("numbers", {Value::ofInt(3)}, {Value::ofInt(3)}, "");
        add("other numbers", {Value::ofInt(3)}, {Value::ofInt(4)}, "3 instead of 4");
        add("a number as a tensor", {Value(Tensor::of<float>({}, {3.F}))}, {Value::ofInt(3)}, "");
    }
    void outputsAreCompared() {
        QFETCH(std::vector<Value>, graph);
        QFETCH(std::vector<Value>, code);
        QFETCH(QString, text);
        const auto own = [&](std::span<const Value>, const base::WorkContext&) -> base::Result<OwnOutputs> {
            return OwnOutputs{code, {}, false};
        };
        const session::OwnCodeCheck check = session::checkWithOwnCode(own, {}, graph, {});
        QVERIFY(check.doubt.empty());
        QCOMPARE(check.error.has_value(), !text.isEmpty());
        if (check.error) {
            QCOMPARE(check.error->kind, base::ErrorKind::Run);
            QVERIFY2(QString::fromStdString(check.error->what).contains(text), check.error->what.c_str());
        }
    }

    void whatCannotBeComparedIsADoubt() {
        const auto fails = [](std::span<const Value>, const base::WorkContext&) -> base::Result<OwnOutputs> {
            return OwnOutputs{{}, "not supported", false};
        };
        const session::OwnCodeCheck doubted = session::checkWithOwnCode(fails, {}, {}, {});
        QVERIFY(!doubted.error);
        QCOMPARE(doubted.doubt, std::string("not supported"));
        const auto draws = [](std::span<const Value>, const base::WorkContext&) -> base::Result<OwnOutputs> {
            return OwnOutputs{{}, "rand draws random numbers", true};
        };
        const session::OwnCodeCheck random = session::checkWithOwnCode(draws, {}, {}, {});
        QVERIFY(!random.error && random.doubt.empty());
    }

    /// A run that is refuted leaves no values behind.
    void aWrongGraphIsAnError() {
        session::Session session;
        QVERIFY(session.open(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
        int calls = 0;
        session.show(withCode(*session.document(), 10, calls));
        session.runs().run();
        QCOMPARE(calls, 1);
        QCOMPARE(session.runs().state(), RunState::Failed);
        QVERIFY(!session.runs().last().recording);
        QVERIFY(QString::fromStdString(session.runs().last().error->what).contains("the model's own code"));
    }

    /// Once for inputs of the same types, and not where an end point cuts the run short.
    void theFirstRunIsCompared() {
        session::Session session;
        QVERIFY(session.open(SONDE_TEST_DATA "/models/resnet18_slim.onnx"));
        int calls = 0;
        session.show(withCode(*session.document(), 0, calls));
        const graph::NodeId first = session.document()->graph->outputs().front();
        session.setEnd(first, true);
        session.runs().run();
        QCOMPARE(calls, 0);
        session.clearEnds();
        session.runs().run();
        QCOMPARE(session.runs().state(), RunState::Finished);
        QCOMPARE(calls, 1);
        session.runs().run();
        QCOMPARE(session.runs().state(), RunState::Finished);
        QCOMPARE(calls, 1);
    }
};

QTEST_GUILESS_MAIN(TestOwnCodeCheck)

}  // namespace tst_own_code_check

#include "tst_own_code_check.moc"
