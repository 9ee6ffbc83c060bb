// What a bisection runs two models on if nothing is given, and what it says of values that prove little.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/session/bisection/bisection.h"
#include "core/session/bisection/default_inputs.h"
#include "core/session/session.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_default_inputs {

using namespace sonde;
using namespace sonde::session;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

constexpr int kFloat = 1, kInt32 = 6, kInt64 = 7;

std::string rows(const std::string& name, const std::vector<std::vector<float>>& table) {
    std::vector<float> all;
    for (const auto& row : table) all.insert(all.end(), row.begin(), row.end());
    return onnx::rawTensor(name, kFloat, {static_cast<std::int64_t>(table.size()), 2}, test::floatBytes(all));
}

/// y = words[ids] + kinds[cast(kind)] + shift: ids [4] of 5 words, kind int32 [4] of 3 kinds, an offset without table.
std::string words(float changed = 0) {
    const onnx::Graph graph{
        {{"Gather", {"words", "ids"}, {"w"}},
         {"Cast", {"kind"}, {"k"}, "", "", {onnx::intAttribute("to", kInt64)}},
         {"Unsqueeze", {"k", "first"}, {"u"}},
         {"Squeeze", {"u", "first"}, {"s"}},
         {"Gather", {"kinds", "s"}, {"g"}},
         {"Add", {"w", "g"}, {"sum"}},
         {"Cast", {"shift"}, {"f"}, "", "", {onnx::intAttribute("to", kFloat)}},
         {"Add", {"sum", "f"}, {"y"}}},
        {onnx::valueInfo("ids", kInt64, {4}), onnx::valueInfo("kind", kInt32, {4}),
         onnx::valueInfo("shift", kInt64, {1})},
        {onnx::valueInfo("y", kFloat, {4, 2})},
        {rows("words", {{1, 2}, {3 + changed, 4}, {5 + changed, 6}, {7 + changed, 8}, {9 + changed, 1}}),
         rows("kinds", {{1, 1}, {2, 2}, {3, 3}}), onnx::rawTensor("first", kInt64, {1}, std::string(8, '\0'))}};
    return onnx::model(graph);
}

}  // namespace

class TestDefaultInputs : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Each from the table that it reaches, also when it is moved and converted on the way.
    void integersAreOfTheirTables() {
        const auto document = open("right.onnx", words());
        QVERIFY(document);
        const auto& inputs = document->graph->inputs();
        QCOMPARE(bisection::tableRows(*document->graph, inputs[0]), std::optional<std::int64_t>(5));
        QCOMPARE(bisection::tableRows(*document->graph, inputs[1]), std::optional<std::int64_t>(3));
        QVERIFY(!bisection::tableRows(*document->graph, inputs[2]));
        QCOMPARE(bisection::defaultInputs(*document), std::string("ids:#rand(0,5);kind:#rand(0,3);shift:#rand(0,1)"));
    }
    /// Zeros that are nothing but row 0 of a table are told of, and how to draw from all; an offset of 0 is as good as
    /// another, and so are other numbers.
    void zerosThatAreOneRowAreTold() {
        const auto document = open("right.onnx", words());
        QVERIFY(document);
        const auto notes = [&](std::int32_t kind) {
            return bisection::notesOnDefaults(*document->graph, {Value(Tensor::of<std::int64_t>({4}, {0, 0, 0, 0})),
                                                                 Value(Tensor::of<std::int32_t>({4}, {0, kind, 0, 0})),
                                                                 Value(Tensor::of<std::int64_t>({1}, {0}))});
        };
        const std::string ids =
            "input 'ids' is 0 everywhere, which is row 0 of 5: --input-data \"ids:#rand(0,5)\" draws from all";
        QCOMPARE(notes(0).size(), std::size_t{2});
        QCOMPARE(notes(0).front(), ids);
        QCOMPARE(notes(2), std::vector<std::string>{ids});
    }
    /// Of two tables the smaller one counts; what is looked up in itself has none.
    void theSmallestTableCounts() {
        const onnx::Graph graph{{{"Gather", {"many", "ids"}, {"a"}},
                                 {"Gather", {"few", "ids"}, {"b"}},
                                 {"Add", {"a", "b"}, {"y"}},
                                 {"Gather", {"own", "own"}, {"z"}}},
                                {onnx::valueInfo("ids", kInt64, {4}), onnx::valueInfo("own", kInt64, {4})},
                                {onnx::valueInfo("y", kFloat, {4, 2}), onnx::valueInfo("z", kInt64, {4})},
                                {rows("many", {{1, 2}, {3, 4}, {5, 6}}), rows("few", {{1, 1}, {2, 2}})}};
        const auto document = open("tables.onnx", onnx::model(graph));
        QVERIFY(document);
        QCOMPARE(bisection::tableRows(*document->graph, document->graph->inputs()[0]), std::optional<std::int64_t>(2));
        QVERIFY(!bisection::tableRows(*document->graph, document->graph->inputs()[1]));
    }
    /// What was found needs no such note.
    void aDifferenceNeedsNoNoteOnZeros() {
        const auto model = [](float shift) {
            return onnx::model(
                {{{"Cast", {"n"}, {"f"}, "", "", {onnx::intAttribute("to", kFloat)}}, {"Add", {"f", "shift"}, {"y"}}},
                 {onnx::valueInfo("n", kInt64, {2})},
                 {onnx::valueInfo("y", kFloat, {2})},
                 {onnx::rawTensor("shift", kFloat, {1}, test::floatBytes({shift}))}});
        };
        bisection::Request request;
        request.document = open("one.onnx", model(1));
        request.inputs = {Value(Tensor::of<std::int64_t>({2}, {0, 0}))};
        const auto other = open("two.onnx", model(2));
        QVERIFY(request.document && other);
        const auto outcome = bisection::bisect(request, bisection::OtherModel{other});
        QVERIFY(outcome && outcome->found.differs);
        QVERIFY(outcome->found.notes.empty());
    }
    void withoutTablesTheUsualOnesDo() {
        const onnx::Graph graph{
            {{"Relu", {"x"}, {"y"}}}, {onnx::valueInfo("x", kFloat, {2})}, {onnx::valueInfo("y", kFloat, {2})}, {}};
        const auto document = open("relu.onnx", onnx::model(graph));
        QVERIFY(document && bisection::defaultInputs(*document).empty());
    }

    /// Row 0 is the same in both: only other numbers show the difference.
    void aDifferenceInOtherRowsIsFound() {
        const auto right = open("right.onnx", words()), wrong = open("wrong.onnx", words(1));
        QVERIFY(right && wrong);
        const auto outcome = [&](const std::string& spec) {
            Session session;
            session.show(right);
            const auto cases = session.readCases({spec, "bgr", 0});
            bisection::Request request;
            request.document = right;
            if (cases) request.inputs = cases->front().values;
            return bisection::bisect(request, bisection::OtherModel{wrong});
        };
        const auto zeros = outcome({});
        QVERIFY(zeros && !zeros->found.differs);
        // All three are 0 everywhere, which is said of each.
        for (const char* name : {"'ids'", "'kind'", "'shift'"})
            QVERIFY2(std::ranges::any_of(zeros->found.notes,
                                         [&](const std::string& note) {
                                             return note.find(name) != std::string::npos &&
                                                    note.find("0 everywhere") != std::string::npos;
                                         }),
                     name);
        const auto drawn = outcome(bisection::defaultInputs(*right));
        QVERIFY2(drawn, drawn ? "" : drawn.error().text().c_str());
        QVERIFY(drawn->found.differs);
        QCOMPARE(drawn->document->graph->node(drawn->found.node).name, std::string("w"));
    }

    /// t differs, y = t · 0 does not.
    void whatDiffersAllTheSameIsNamed() {
        const auto model = [](float factor) {
            return onnx::model({{{"Mul", {"x", "factor"}, {"t"}}, {"Mul", {"t", "zero"}, {"y"}}},
                                {onnx::valueInfo("x", kFloat, {2})},
                                {onnx::valueInfo("y", kFloat, {2})},
                                {onnx::rawTensor("factor", kFloat, {1}, test::floatBytes({factor})),
                                 onnx::rawTensor("zero", kFloat, {1}, test::floatBytes({0}))}});
        };
        bisection::Request request;
        request.document = open("two.onnx", model(2));
        request.inputs = {Value(Tensor::of<float>({2}, {1, 2}))};
        const auto other = open("three.onnx", model(3));
        QVERIFY(request.document && other);
        const auto outcome = bisection::bisect(request, bisection::OtherModel{other});
        QVERIFY(outcome && !outcome->found.differs);
        const std::string text = bisection::outcomeText(*outcome, nullptr);
        QVERIFY2(text.find("t differs all the same") != std::string::npos, text.c_str());
        QVERIFY2(text.find("1 differs;") != std::string::npos, text.c_str());
        nlohmann::ordered_json json;
        bisection::addOutcome(json, *outcome, nullptr);
        QCOMPARE(json["steps"][0]["first"].get<std::string>(), std::string("t"));
    }

  private:
    std::shared_ptr<const document::Document> open(const char* name, const std::string& bytes) {
        const QString path = m_files.filePath(QLatin1String(name));
        if (!onnx::write(path, bytes)) return nullptr;
        const auto document = document::open(path.toStdString());
        return document ? *document : nullptr;
    }
    QTemporaryDir m_files;
};

QTEST_GUILESS_MAIN(TestDefaultInputs)

}  // namespace tst_default_inputs

#include "tst_default_inputs.moc"
