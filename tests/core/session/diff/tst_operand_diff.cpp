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
    void optionalOperandsHavePlaces();
    void numbersAreComparedToTheLastBit();
    void whatModelsGiveIsCompared_data();
    void whatModelsGiveIsCompared();
    void valuesOfOneNameAreToldByTheirOperators();
    void inputsThatChangedPlacesAreTold_data();
    void inputsThatChangedPlacesAreTold();
    void inputsOfAnotherTypeAreTold();
    void exchangedSummandsAreNoDifference();
    void attributesSayOneThingInManyWays_data();
    void attributesSayOneThingInManyWays();
    void valuesOfOutputsAreCompared();
    void branchesAreToldApart();
    void repeatedArithmeticIsNoDifference();
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

/// A lower limit is no upper one.
void TestOperandDiff::optionalOperandsHavePlaces() {
    test::WrittenModels models;
    const auto clip = [&](const std::vector<std::string>& operands) {
        return models.open(model(Graph{.nodes = {{"Clip", operands, {"y"}}},
                                       .inputs = {valueInfo("x", kFloat, {4})},
                                       .outputs = {valueInfo("y", kFloat, {4})},
                                       .initializers = {rawTensor("k", kFloat, {}, test::floatBytes({0.5F}))}}));
    };
    const auto diff = session::modelDiff(*clip({"x", "k"}), *clip({"x", "", "k"}));
    QVERIFY(diff);
    QCOMPARE(diff->structure.changed.size(), 1U);
    QCOMPARE(QString::fromStdString(diff->structure.changed.front().what),
             QStringLiteral("min: k -> not set; max: not set -> k"));
    QVERIFY(session::modelDiff(*clip({"x", "", "k"}), *clip({"x", "", "k"}))->isEqual());
}

void TestOperandDiff::numbersAreComparedToTheLastBit() {
    test::WrittenModels models;
    const auto graph = [&](const Node& node, float k) {
        return models.open(model(Graph{.nodes = {node},
                                       .inputs = {valueInfo("x", kFloat, {4})},
                                       .outputs = {valueInfo("y", kFloat, {4})},
                                       .initializers = {rawTensor("k", kFloat, {}, test::floatBytes({k}))}}));
    };
    const Node product{"Mul", {"x", "k"}, {"y"}};
    const auto scaled = session::modelDiff(*graph(product, 1), *graph(product, 1.00000012F));
    QVERIFY(scaled);
    QCOMPARE(scaled->structure.changed.size(), 1U);
    QVERIFY2(scaled->structure.changed.front().what.starts_with("argument 1: 1 -> 1.0000001"),
             scaled->structure.changed.front().what.c_str());
    const auto leaky = [&](float alpha) {
        return graph({"LeakyRelu", {"x"}, {"y"}, "", "", {floatAttribute("alpha", alpha)}}, 1);
    };
    const auto slope = session::modelDiff(*leaky(0.1F), *leaky(0.10000002F));
    QVERIFY(slope);
    QCOMPARE(slope->structure.changed.size(), 1U);
    QCOMPARE(QString::fromStdString(slope->structure.changed.front().what), QStringLiteral("alpha: 0.1 -> 0.10000002"));
    QVERIFY(session::modelDiff(*leaky(0.01F), *graph({"LeakyRelu", {"x"}, {"y"}}, 1))->isEqual());  // the default
}

void TestOperandDiff::whatModelsGiveIsCompared_data() {
    QTest::addColumn<QStringList>("first");
    QTest::addColumn<QStringList>("second");
    QTest::addColumn<QString>("what");
    QTest::newRow("the same") << QStringList{"p", "q"} << QStringList{"p", "q"} << "";
    QTest::newRow("another order") << QStringList{"p", "q"} << QStringList{"q", "p"} << "output 0: p -> q";
    QTest::newRow("one of them") << QStringList{"p", "q"} << QStringList{"q"} << "output p: none in the second model";
    QTest::newRow("one more") << QStringList{"p"} << QStringList{"p", "q"} << "output q: none in the first model";
    QTest::newRow("another operation's") << QStringList{"p"} << QStringList{"q"} << "output 0: p -> q";
    QTest::newRow("another result") << QStringList{"s"} << QStringList{"t"} << "output 0: s -> t";
}
void TestOperandDiff::whatModelsGiveIsCompared() {
    QFETCH(const QStringList, first);
    QFETCH(const QStringList, second);
    QFETCH(const QString, what);
    test::WrittenModels models;
    const auto open = [&](const QStringList& names) {
        std::vector<std::string> outputs;
        for (const QString& name : names)
            outputs.push_back(valueInfo(name.toStdString(), kFloat, {name == "s" || name == "t" ? 2 : 4}));
        return models.open(
            model(Graph{.nodes = {{"Relu", {"x"}, {"p"}}, {"Exp", {"x"}, {"q"}}, {"Split", {"q"}, {"s", "t"}}},
                        .inputs = {valueInfo("x", kFloat, {4})},
                        .outputs = outputs}));
    };
    const auto diff = session::modelDiff(*open(first), *open(second));
    QVERIFY(diff);
    QCOMPARE(diff->isEqual(), what.isEmpty());
    if (!what.isEmpty()) QCOMPARE(QString::fromStdString(diff->structure.changed.front().what), what);
}

void TestOperandDiff::valuesOfOneNameAreToldByTheirOperators() {
    test::WrittenModels models;
    const auto open = [&](const char* p, const char* q) {
        return models.open(model(Graph{.nodes = {{p, {"x"}, {"p"}}, {q, {"x"}, {"q"}}},
                                       .inputs = {valueInfo("x", kFloat, {4})},
                                       .outputs = {valueInfo("p", kFloat, {4}), valueInfo("q", kFloat, {4})}}));
    };
    const auto diff = session::modelDiff(*open("Relu", "Exp"), *open("Exp", "Relu"));
    QVERIFY(diff);
    QVERIFY(!diff->isEqual());
    QStringList texts;
    for (const session::NodeChange& change : diff->structure.changed) texts << QString::fromStdString(change.what);
    texts.sort();
    QCOMPARE(texts, (QStringList{"output 0: p (Relu) -> p (Exp)", "output 1: q (Exp) -> q (Relu)"}));
}

void TestOperandDiff::inputsThatChangedPlacesAreTold_data() {
    QTest::addColumn<QStringList>("first");
    QTest::addColumn<QStringList>("second");
    QTest::addColumn<QStringList>("what");
    QTest::newRow("the same") << QStringList{"x", "q"} << QStringList{"x", "q"} << QStringList{};
    QTest::newRow("another order") << QStringList{"x", "q"} << QStringList{"q", "x"}
                                   << QStringList{"input 0: x -> q", "input 1: q -> x"};
    QTest::newRow("one more behind") << QStringList{"x", "q"} << QStringList{"x", "q", "z"} << QStringList{};
    QTest::newRow("one more, and another order")
        << QStringList{"x", "q"} << QStringList{"z", "q", "x"} << QStringList{"input 0: x -> q", "input 1: q -> x"};
    QTest::newRow("other names") << QStringList{"x", "q"} << QStringList{"a", "b"} << QStringList{};
}
void TestOperandDiff::inputsThatChangedPlacesAreTold() {
    QFETCH(const QStringList, first);
    QFETCH(const QStringList, second);
    QFETCH(const QStringList, what);
    test::WrittenModels models;
    const auto open = [&](const QStringList& names) {
        std::vector<std::string> inputs;
        for (const QString& name : names) inputs.push_back(valueInfo(name.toStdString(), kFloat, {4}));
        const bool isNamed = names.contains("x");
        return models.open(model(Graph{.nodes = {{"Sub", {isNamed ? "x" : "a", isNamed ? "q" : "b"}, {"y"}}},
                                       .inputs = inputs,
                                       .outputs = {valueInfo("y", kFloat, {4})}}));
    };
    const auto diff = session::modelDiff(*open(first), *open(second));
    QVERIFY(diff);
    QStringList texts;
    for (const session::NodeChange& change : diff->structure.changed) texts << QString::fromStdString(change.what);
    texts.sort();
    QCOMPARE(texts, what);
    QCOMPARE(diff->isEqual(), what.isEmpty());
}

void TestOperandDiff::inputsOfAnotherTypeAreTold() {
    constexpr int kDouble = 11;
    test::WrittenModels models;
    const auto open = [&](int type, std::int64_t rows) {
        return models.open(model(Graph{.nodes = {{"Relu", {"x"}, {"y"}}},
                                       .inputs = {valueInfo("x", type, {rows, 3})},
                                       .outputs = {valueInfo("y", type, {rows, 3})}}));
    };
    const auto diff = session::modelDiff(*open(kFloat, 2), *open(kDouble, 2));
    QVERIFY(diff);
    QCOMPARE(diff->structure.changed.size(), 1U);
    QCOMPARE(QString::fromStdString(diff->structure.changed.front().what),
             QStringLiteral("input 0: float32[2,3] -> float64[2,3]"));
    QVERIFY(session::modelDiff(*open(kFloat, 2), *open(kFloat, 4))->isEqual());
}

/// Layers h and g by the weights w and v, which have each other's names in the second file.
void TestOperandDiff::exchangedSummandsAreNoDifference() {
    test::WrittenModels models;
    const auto diffOf = [&](const char* op) {
        const auto layers = [&](const char* one, const char* other) {
            return models.open(
                network({{"MatMul", {"x", "w"}, {one}}, {"MatMul", {"x", "v"}, {other}}, {op, {"h", "g"}, {"y"}}}));
        };
        return session::modelDiff(*layers("h", "g"), *layers("g", "h"));
    };
    QVERIFY(diffOf("Add")->isEqual());
    const auto difference = diffOf("Sub");
    QVERIFY(difference);
    QCOMPARE(difference->structure.changed.size(), 1U);
    QCOMPARE(QString::fromStdString(difference->structure.changed.front().what),
             QStringLiteral("input 0: h -> g (named h there); input 1: g -> h (named g there)"));
}

void TestOperandDiff::attributesSayOneThingInManyWays_data() {
    QTest::addColumn<Node>("first");
    QTest::addColumn<Node>("second");
    QTest::addColumn<int>("opset");  // of the second; the first has 11
    QTest::addColumn<QString>("what");
    const auto add = [](const char* name, const Node& first, const Node& second, int version, const char* what) {
        QTest::newRow(name) << first << second << version << QString(what);
    };
    const auto einsum = [](const char* equation) {
        return Node{"Einsum", {"x", "q"}, {"y"}, "", "", {stringAttribute("equation", equation)}};
    };
    add("letters", einsum("ij,jk->ik"), einsum("ab, bc -> ac"), 12, "");
    add("other letters", einsum("ij,jk->ik"), einsum("ab,bc->ca"), 12, "equation: 'ij,jk->ik' -> 'ab,bc->ca'");
    add("an input that says another number", {"ReduceSum", {"x"}, {"y"}, "", "", {intsAttribute("axes", {1})}},
        {"ReduceSum", {"x", "zero"}, {"y"}}, 13, "axes: [1] -> ");
    add("an input that says the same", {"ReduceSum", {"x"}, {"y"}, "", "", {intsAttribute("axes", {0})}},
        {"ReduceSum", {"x", "zero"}, {"y"}}, 13, "");
    add("a region without elements", {"Resize", {"x", "empty", "scales"}, {"y"}},
        {"Resize", {"x", "", "scales"}, {"y"}}, 13, "");
}
void TestOperandDiff::attributesSayOneThingInManyWays() {
    QFETCH(const Node, first);
    QFETCH(const Node, second);
    QFETCH(const int, opset);
    QFETCH(const QString, what);
    constexpr int kInt64 = 7;
    test::WrittenModels models;
    const auto open = [&](const Node& node, int version) {
        return models.open(model(Graph{.nodes = {node},
                                       .inputs = {valueInfo("x", kFloat, {4, 4}), valueInfo("q", kFloat, {4, 4})},
                                       .outputs = {valueInfo("y", kFloat, {})},
                                       .initializers = {rawTensor("zero", kInt64, {1}, std::string(8, '\0')),
                                                        rawTensor("empty", kFloat, {0}, {}),
                                                        rawTensor("scales", kFloat, {2}, test::floatBytes({2, 2}))}},
                                 {}, {test::onnxfile::opset("", version)}));
    };
    const auto diff = session::modelDiff(*open(first, first.op == "Einsum" ? opset : 11), *open(second, opset));
    QVERIFY(diff);
    QString told;
    for (const session::NodeChange& change : diff->structure.changed) told += QString::fromStdString(change.what);
    QVERIFY2(what.isEmpty() ? told.isEmpty() : told.startsWith(what), qPrintable(told));
}

/// Relu and Exp of x, given in turn: exp(x) − relu(x) at 2 is e² − 2 = 5.389.
void TestOperandDiff::valuesOfOutputsAreCompared() {
    test::WrittenModels models;
    const auto open = [&](const std::string& one, const std::string& other) {
        return models.open(model(Graph{.nodes = {{"Relu", {"x"}, {one}}, {"Exp", {"x"}, {other}}},
                                       .inputs = {valueInfo("x", kFloat, {1})},
                                       .outputs = {valueInfo("p", kFloat, {1}), valueInfo("q", kFloat, {1})}}));
    };
    session::ModelDiffRequest request;
    request.inputs = {tensor::Value(tensor::Tensor::of<float>({1}, {2.F}))};
    const auto same = session::modelDiff(*open("p", "q"), *open("p", "q"), request);
    QVERIFY(same && same->values && same->values->changed.empty());
    const auto diff = session::modelDiff(*open("p", "q"), *open("q", "p"), request);
    QVERIFY(diff && diff->values);
    QCOMPARE(diff->values->changed.size(), 2U);
    QCOMPARE(QString::fromStdString(diff->values->changed.front().note), QStringLiteral("output 0"));
    QVERIFY(std::abs(diff->values->changed.front().maxAbs - 5.389) < 0.001);
}

/// Relu where c is true and Exp where it is not, and the other way round.
void TestOperandDiff::branchesAreToldApart() {
    test::WrittenModels models;
    const auto choice = [&](const char* yes, const char* no) {
        const auto branch = [](const char* op, const std::string& result) {
            return Graph{.nodes = {{op, {"x"}, {result}}}, .outputs = {valueInfo(result, kFloat, {4})}}.bytes();
        };
        return models.open(model(Graph{.nodes = {{"If",
                                                  {"c"},
                                                  {"y"},
                                                  "",
                                                  "",
                                                  {graphAttribute("then_branch", branch(yes, "t")),
                                                   graphAttribute("else_branch", branch(no, "e"))}}},
                                       .inputs = {valueInfo("x", kFloat, {4}), valueInfo("c", kBool, {})},
                                       .outputs = {valueInfo("y", kFloat, {4})}}));
    };
    QVERIFY(session::modelDiff(*choice("Relu", "Exp"), *choice("Relu", "Exp"))->isEqual());
    const auto diff = session::modelDiff(*choice("Relu", "Exp"), *choice("Exp", "Relu"));
    QVERIFY(diff);
    QVERIFY(!diff->isEqual());
}

/// Two operations that compute the same, either of which may be the counterpart of either.
void TestOperandDiff::repeatedArithmeticIsNoDifference() {
    test::WrittenModels models;
    const auto twice = [&](const char* one, const char* other) {
        return models.open(model(Graph{.nodes = {{"Relu", {"x"}, {"a"}}, {"Relu", {"x"}, {"b"}}},
                                       .inputs = {valueInfo("x", kFloat, {4})},
                                       .outputs = {valueInfo(one, kFloat, {4}), valueInfo(other, kFloat, {4})}}));
    };
    QVERIFY(session::modelDiff(*twice("a", "b"), *twice("a", "b"))->isEqual());
    const auto named = [&](const char* one, const char* other) {
        return models.open(
            model(Graph{.nodes = {{"Relu", {"x"}, {one}}, {"Relu", {"x"}, {other}}, {"Neg", {one}, {"y"}}},
                        .inputs = {valueInfo("x", kFloat, {4})},
                        .outputs = {valueInfo("y", kFloat, {4}), valueInfo(other, kFloat, {4})}}));
    };
    QVERIFY(session::modelDiff(*named("a", "b"), *named("c", "d"))->isEqual());
}

QTEST_APPLESS_MAIN(TestOperandDiff)

}  // namespace tst_operand_diff

#include "tst_operand_diff.moc"
