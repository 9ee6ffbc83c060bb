// Why a value is what it is where it goes through tables, masks, branches, loops and modules with several results.
// Small networks whose numbers are worked by hand.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <limits>

#include "core/session/debug_commands.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_why_structure {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return onnx::rawTensor(name, kFloat, dims, test::floatBytes(values));
}

/// A model that was run on inputs, and what `sonde debug` answers.
struct Run {
    QTemporaryDir folder;
    session::Session session;
    session::DebugCommands commands{session};

    Run(const onnx::Graph& graph, std::vector<Value> inputs) {
        const QString path = folder.filePath(QStringLiteral("model.onnx"));
        if (!onnx::write(path, onnx::model(graph)) || !session.open(path.toStdString())) return;
        session.runs().giveValues(std::move(inputs));
        answer("run");
    }
    Run(const std::string& model, std::vector<Value> inputs) {
        if (!session.open(model)) return;
        session.runs().giveValues(std::move(inputs));
        answer("run");
    }
    QJsonObject answer(std::string_view line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
    /// "NODE value iteration" of each element of a chain, and its end.
    QStringList chain(std::string_view element) {
        const QJsonObject found = answer("chain " + std::string(element));
        QStringList hops;
        for (const QJsonValue& each : found.value("chain").toArray()) {
            const QJsonObject hop = each.toObject();
            QString text = hop.value("node").toString() + " " + QString::number(hop.value("value").toDouble());
            for (const QJsonValue& i : hop.value("iteration").toArray()) text += " " + QString::number(i.toInt());
            hops << text;
        }
        return hops << found.value("end").toString() + found.value("error").toString();
    }
    /// Of the only input that has any.
    double shareOf(const QJsonObject& found, const QString& input) {
        const QJsonArray inputs = found.value("contributions").toArray();
        if (inputs.size() != 1 || inputs[0].toObject().value("node").toString() != input) return -1;
        return inputs[0].toObject().value("share").toDouble();
    }
};

/// y = x doubled `trips` times.
onnx::Graph doubled(std::int64_t trips) {
    const onnx::Graph body{
        {{"Mul", {"carried", "two"}, {"next"}}, {"Identity", {"cond"}, {"again"}}},
        {onnx::valueInfo("i", kInt64, {}), onnx::valueInfo("cond", kBool, {}), onnx::valueInfo("carried", kFloat, {2})},
        {onnx::valueInfo("again", kBool, {}), onnx::valueInfo("next", kFloat, {2})}};
    return {{{"Loop", {"trips", "", "x"}, {"y"}, "", "", {onnx::graphAttribute("body", body.bytes())}}},
            {onnx::valueInfo("x", kFloat, {2})},
            {onnx::valueInfo("y", kFloat, {2})},
            {onnx::rawTensor("trips", kInt64, {}, {reinterpret_cast<const char*>(&trips), sizeof trips}),
             floats("two", {}, {2})}};
}

}  // namespace

class TestWhyStructure : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// y[p] = 3 table[ids[p]]: what a word gives comes from the word.
    void embeddingsLeadToTheTokens() {
        Run run({{{"Gather", {"table", "ids"}, {"word"}},
                  {"ReduceSum", {"word", "axes"}, {"y"}, "", "", {onnx::intAttribute("keepdims", 0)}}},
                 {onnx::valueInfo("ids", kInt64, {2})},
                 {onnx::valueInfo("y", kFloat, {2})},
                 {floats("table", {3, 2}, {1, 2, 3, 4, 5, 6}),
                  onnx::rawTensor("axes", kInt64, {1}, std::string("\1\0\0\0\0\0\0\0", 8))}},
                {Value(Tensor::of<std::int64_t>({2}, {2, 0}))});
        const QJsonObject why = run.answer("why word[0, 1]");
        QCOMPARE(why.value("value").toDouble(), 6.0);
        QCOMPARE(why.value("recombined").toDouble(), 6.0);
        const QJsonArray terms = why.value("terms").toArray();
        QCOMPARE(terms.size(), 2);
        QCOMPARE(terms[0].toObject().value("node").toString(), QStringLiteral("table"));
        QCOMPARE(terms[0].toObject().value("index").toArray(), (QJsonArray{2, 1}));
        QCOMPARE(terms[1].toObject().value("node").toString(), QStringLiteral("ids"));
        QCOMPARE(terms[1].toObject().value("index").toArray(), (QJsonArray{0}));
        QCOMPARE(terms[1].toObject().value("part").toString(), QStringLiteral("index"));
        QCOMPARE(terms[1].toObject().value("value").toDouble(), 2.0);
        QCOMPARE(terms[1].toObject().value("weight").toDouble(), 0.0);
        QCOMPARE(run.chain("y[0]"), (QStringList{"y 11", "word 6", "ids 2", "an input of the model"}));
        const QJsonArray field = run.answer("field y[1]").value("field").toArray();
        QCOMPARE(field.size(), 1);
        QCOMPARE(field[0].toObject().value("begin").toArray(), (QJsonArray{1}));
        QCOMPARE(field[0].toObject().value("end").toArray(), (QJsonArray{2}));
        const QJsonObject shares = run.answer("contributions y[0]");
        QCOMPARE(run.shareOf(shares, "ids"), 1.0);
        QCOMPARE(shares.value("constants").toDouble(), 0.0);
    }

    /// softmax(x + mask): what the mask takes out has no part in what is left, and stands last.
    void masksTakeNoPart() {
        const float out = -std::numeric_limits<float>::infinity();
        Run run({{{"Add", {"x", "mask"}, {"masked"}}, {"Softmax", {"masked"}, {"y"}}},
                 {onnx::valueInfo("x", kFloat, {1, 3})},
                 {onnx::valueInfo("y", kFloat, {1, 3})},
                 {floats("mask", {1, 3}, {0, 0, out})}},
                {Value(Tensor::of<float>({1, 3}, {1, 3, 9}))});
        const QJsonArray terms = run.answer("why y[0, 1]").value("terms").toArray();
        QCOMPARE(terms.size(), 4);
        QCOMPARE(terms[0].toObject().value("value").toDouble(), 3.0);
        QCOMPARE(terms[3].toObject().value("value").toString(), QStringLiteral("-inf"));
        QCOMPARE(terms[3].toObject().value("weight").toDouble(), 0.0);
        QCOMPARE(run.chain("y[0, 1]").at(2), QStringLiteral("x 3"));
        // x[1] itself, and both by their parts of the sum of exponentials.
        const double part = 1 / (1 + std::exp(-2.0)), other = 1 - part;
        const double expected = (3 + 3 * part) / (3 + 3 * part + other);
        const QJsonObject shares = run.answer("contributions y[0, 1]");
        QCOMPARE(run.shareOf(shares, "x"), 1.0);
        const QJsonArray largest = shares.value("contributions").toArray()[0].toObject().value("largest").toArray();
        QCOMPARE(largest.size(), 2);
        QCOMPARE(largest[0].toObject().value("index").toArray(), (QJsonArray{0, 1}));
        QVERIFY(std::fabs(largest[0].toObject().value("share").toDouble() - expected) < 1e-6);
        // Of an element that is infinite itself the infinite term is all.
        QCOMPARE(run.chain("masked[0, 2]").last(), QStringLiteral("a weight of the model"));
    }

    /// A batch inside of the rows: y[0] is made of the rows 0 and 2, which lie around row 1. That is a box with a gap,
    /// and what is said of x is more than what reaches.
    void gapsAreNotExact() {
        const std::string three = onnx::rawTensor("three", kInt64, {2},
                                                  std::string("\4\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 16)),
                          back = onnx::rawTensor("back", kInt64, {3},
                                                 std::string("\2\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 24));
        const onnx::Graph graph{
            {{"Reshape", {"x", "three"}, {"flat"}},
             {"Mul", {"flat", "two"}, {"scaled"}},
             {"Reshape", {"scaled", "back"}, {"again"}},
             {"ReduceSum", {"again", "axes"}, {"y"}, "", "", {onnx::intAttribute("keepdims", 0)}}},
            {onnx::valueInfo("x", kFloat, {2, 2, 1})},
            {onnx::valueInfo("y", kFloat, {2, 1})},
            {three, back, floats("two", {1}, {2}), onnx::rawTensor("axes", kInt64, {1}, std::string(8, '\0'))}};
        Run run(graph, {Value(Tensor::of<float>({2, 2, 1}, {1, 2, 3, 4}))});
        const QJsonObject gap = run.answer("field y[0, 0]").value("field").toArray().at(0).toObject();
        QCOMPARE(gap.value("exact").toBool(), false);
        // All of the middle dimension: no gap.
        const QJsonObject one = run.answer("field again[0, 1, 0]").value("field").toArray().at(0).toObject();
        QCOMPARE(one.value("exact").toBool(), true);
        QCOMPARE(one.value("begin").toArray(), (QJsonArray{0, 1, 0}));
        QCOMPARE(one.value("end").toArray(), (QJsonArray{1, 2, 1}));
    }

    /// What an edit sets is not what the formula gives, and no fault of the operation.
    void editsAreNamed() {
        Run run({{{"Neg", {"x"}, {"a"}}, {"Abs", {"a"}, {"y"}}},
                 {onnx::valueInfo("x", kFloat, {2})},
                 {onnx::valueInfo("y", kFloat, {2})},
                 {}},
                {Value(Tensor::of<float>({2}, {1, 3}))});
        run.answer("set a[1] = 7");
        const QJsonObject why = run.answer("why a[1]");
        QCOMPARE(why.value("value").toDouble(), 7.0);
        QCOMPARE(why.value("recombined").toDouble(), -3.0);
        QVERIFY(why.value("note").toString().contains("an edit changes the element"));
        QVERIFY(!run.answer("why a[0]").contains("note"));
        QCOMPARE(run.answer("chain y[1] against baseline").value("end").toString(),
                 QStringLiteral("an edit makes the difference"));
        run.answer("set a[0] = nan");
        QCOMPARE(run.answer("chain y[0] against none").value("end").toString(),
                 QStringLiteral("NaN is set by an edit"));
        const QJsonObject problem = run.answer("problems").value("problems").toArray().at(0).toObject();
        QCOMPARE(problem.value("node").toString(), QStringLiteral("a"));
        QVERIFY(problem.value("advice").toString().contains("an edit changes this value"));
    }

    void branchesAreEntered() {
        const onnx::Graph negative{{{"Neg", {"x"}, {"a"}}}, {}, {onnx::valueInfo("a", kFloat, {2})}};
        const onnx::Graph positive{{{"Abs", {"x"}, {"b"}}}, {}, {onnx::valueInfo("b", kFloat, {2})}};
        Run run({{{"ReduceSum", {"x"}, {"sum"}, "", "", {onnx::intAttribute("keepdims", 0)}},
                  {"Greater", {"sum", "zero"}, {"c"}},
                  {"If",
                   {"c"},
                   {"z"},
                   "",
                   "",
                   {onnx::graphAttribute("then_branch", positive.bytes()),
                    onnx::graphAttribute("else_branch", negative.bytes())}},
                  {"Identity", {"z"}, {"y"}}},
                 {onnx::valueInfo("x", kFloat, {2})},
                 {onnx::valueInfo("y", kFloat, {2})},
                 {floats("zero", {}, {0})}},
                {Value(Tensor::of<float>({2}, {-5, 2}))});
        QCOMPARE(run.chain("y[0]"), (QStringList{"y 5", "z 5", "a 5", "x -5", "an input of the model"}));
        QCOMPARE(run.shareOf(run.answer("contributions y[0]"), "x"), 1.0);
        // All of x decides on the branch.
        QCOMPARE(run.answer("field y[0]").value("field").toArray()[0].toObject().value("end").toArray(),
                 (QJsonArray{2}));
    }

    /// Back through all iterations, to what the loop was given.
    void loopsAreFollowedBack() {
        Run run(doubled(3), {Value(Tensor::of<float>({2}, {1, 5}))});
        QCOMPARE(run.chain("y[1]"), (QStringList{"y 40", "next 40 2", "carried 20 2", "next 20 1", "carried 10 1",
                                                 "next 10 0", "carried 5 0", "x 5", "an input of the model"}));
        const QJsonObject shares = run.answer("contributions y[1]");
        QVERIFY(std::fabs(shares.value("unexplained").toDouble()) < 1e-9);
        QVERIFY(std::fabs(run.shareOf(shares, "x") + shares.value("constants").toDouble() - 1) < 1e-9);
        // 40 = 20 · 2: 20 of 22, and so on.
        const double expected = 20.0 / 22 * 10 / 12 * 5 / 7;
        QVERIFY2(std::fabs(run.shareOf(shares, "x") - expected) < 1e-9,
                 qPrintable(QString::number(run.shareOf(shares, "x"), 'g', 12)));
        // Of one iteration the shares are known: |5 * 2| is shared by the product's two terms.
        Run once(doubled(1), {Value(Tensor::of<float>({2}, {1, 5}))});
        QCOMPARE(once.chain("y[1]").last(), QStringLiteral("an input of the model"));
        QVERIFY(once.shareOf(once.answer("contributions y[1]"), "x") > 0.4);
    }

    /// The LSTM of this model is a module that gives a tuple, which the model takes apart.
    void modulesWithSeveralResultsAreEntered() {
        std::vector<std::int64_t> words;
        for (std::int64_t i = 1; i <= 30; ++i) words.push_back(i);
        Run run("zoo:lstm_classifier", {Value(Tensor::of<std::int64_t>({2, 15}, words))});
        const QStringList chain = run.chain("mean[0, 3]");
        QCOMPARE(chain.at(2).section(' ', 0, 0), QStringLiteral("lstm"));
        QCOMPARE(chain.at(3).section(' ', 0, 0), QStringLiteral("lstm/lstm"));
        QVERIFY2(chain.size() > 5 && chain.at(4).startsWith(QStringLiteral("lstm/lstm")), qPrintable(chain.join(u';')));
        const QJsonObject shares = run.answer("contributions mean[0, 3]");
        QVERIFY(shares.value("unexplained").toDouble() < 0.9);
    }
};

QTEST_GUILESS_MAIN(TestWhyStructure)

}  // namespace tst_why_structure

#include "tst_why_structure.moc"
