// Two models with the same operators and the same tensors, of which one reads other ones: layers with each other's
// weights, operands the other way round. What does not mind the order of its operands is equal.

#include <QtTest>

#include "core/session/diff/model_diff.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/written_models.h"

namespace tst_operand_diff {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;

namespace {

constexpr int kFloat = 1, kBool = 9;

std::string matrix(const std::string& name, float from) {
    std::vector<float> elements(16);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = from + static_cast<float>(i % 5);
    return rawTensor(name, kFloat, {4, 4}, test::floatBytes(elements));
}

/// Of x, q and a condition c, with weights w and v.
std::string network(const std::vector<Node>& nodes) {
    return model(
        Graph{.nodes = nodes,
              .inputs = {valueInfo("x", kFloat, {4, 4}), valueInfo("q", kFloat, {4, 4}), valueInfo("c", kBool, {4, 4})},
              .outputs = {valueInfo("y", kFloat, {4, 4})},
              .initializers = {matrix("w", 1), matrix("v", 2)}});
}

}  // namespace

class TestOperandDiff : public QObject {
    Q_OBJECT

  private slots:
    void otherOperandsAreTold_data();
    void otherOperandsAreTold();
    void functionsOfOtherOpsetsAreRun();
};

void TestOperandDiff::otherOperandsAreTold_data() {
    using Nodes = std::vector<Node>;
    QTest::addColumn<std::vector<Node>>("first");
    QTest::addColumn<std::vector<Node>>("second");
    QTest::addColumn<QString>("what");  // of the first change; empty: they are equal
    const auto layers = [](const std::string& one, const std::string& other) {
        return Nodes{{"MatMul", {"x", one}, {"a"}}, {"Relu", {"a"}, {"r"}}, {"MatMul", {"r", other}, {"y"}}};
    };
    QTest::newRow("each other's weights") << layers("w", "v") << layers("v", "w") << "input 1: w -> v";
    QTest::newRow("the same weights") << layers("w", "v") << layers("w", "v") << "";
    const auto one = [](const char* op, const std::vector<std::string>& operands) {
        return Nodes{{op, operands, {"y"}}};
    };
    QTest::newRow("inputs turned around")
        << one("Sub", {"x", "q"}) << one("Sub", {"q", "x"}) << "input 0: x -> q; input 1: q -> x";
    QTest::newRow("one input twice") << one("Sub", {"x", "q"}) << one("Sub", {"x", "x"}) << "input 1: q -> x";
    QTest::newRow("a sum has no order") << one("Add", {"x", "q"}) << one("Add", {"q", "x"}) << "";
    QTest::newRow("a sum of one twice") << one("Add", {"x", "q"}) << one("Add", {"x", "x"}) << "input 1: q -> x";
    QTest::newRow("branches of a choice")
        << one("Where", {"c", "x", "q"}) << one("Where", {"c", "q", "x"}) << "input 1: x -> q; input 2: q -> x";
}

void TestOperandDiff::otherOperandsAreTold() {
    QFETCH(const std::vector<Node>, first);
    QFETCH(const std::vector<Node>, second);
    QFETCH(const QString, what);
    test::WrittenModels models;
    const auto a = models.open(network(first)), b = models.open(network(second));
    const auto diff = session::modelDiff(*a, *b);
    QVERIFY(diff);
    QCOMPARE(diff->isEqual(), what.isEmpty());
    QVERIFY(diff->parameters.isEqual());
    if (!what.isEmpty()) QCOMPARE(QString::fromStdString(diff->structure.changed.front().what), what);
}

/// Softmax over axis 1 is over axes 1 and 2 together before opset 13; Relu is the same in all.
void TestOperandDiff::functionsOfOtherOpsetsAreRun() {
    test::WrittenModels models;
    const auto differs = [&models](const char* op, const std::vector<std::string>& attributes) {
        const auto open = [&](int version) {
            return models.open(model(Graph{.nodes = {{op, {"x"}, {"y"}, "", "", attributes}},
                                           .inputs = {valueInfo("x", kFloat, {2, 2, 4})},
                                           .outputs = {valueInfo("y", kFloat, {2, 2, 4})}},
                                     {}, {opset("", version)}));
        };
        const auto diff = session::modelDiff(*open(11), *open(15));
        return diff && !diff->isEqual();
    };
    QVERIFY(differs("Softmax", {intAttribute("axis", 1)}));
    QVERIFY(!differs("Softmax", {intAttribute("axis", 2)}));
    QVERIFY(!differs("Relu", {}));
}

QTEST_APPLESS_MAIN(TestOperandDiff)

}  // namespace tst_operand_diff

#include "tst_operand_diff.moc"
