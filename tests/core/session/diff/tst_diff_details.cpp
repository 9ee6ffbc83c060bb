// Small differences of two models, each worked by hand: what only one of them has, where an operation has moved, and
// the share that is matched.

#include <QtTest>

#include "core/document/document.h"
#include "core/session/diff/model_diff.h"
#include "core/tensor/ellipsis_value.h"
#include "tests/core/passes/graph_maker.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/written_models.h"

namespace tst_diff_details {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;

namespace {

constexpr int kFloat = 1;

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloat, dims, test::floatBytes(values));
}

/// Of x of [1, 4]; y is the result.
Graph graphOf(std::vector<Node> nodes, std::vector<std::string> constants = {}) {
    return {.nodes = std::move(nodes),
            .inputs = {valueInfo("x", kFloat, {1, 4})},
            .outputs = {valueInfo("y", kFloat, {1, 4})},
            .initializers = std::move(constants)};
}

using graph::Argument;

Argument sliceOf(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                 std::optional<std::int64_t> step = {}) {
    const auto part = [](std::optional<std::int64_t> number) {
        return Argument::of(number ? tensor::Value::ofInt(*number) : tensor::Value());
    };
    return Argument::container(Argument::Kind::Slice, {part(start), part(stop), part(step)});
}
Argument partsOf(std::vector<Argument> parts) { return Argument::container(Argument::Kind::Tuple, std::move(parts)); }

}  // namespace

class TestDiffDetails : public QObject {
    Q_OBJECT

  private slots:
    void attributesOfOneModelAreTold();
    void constantsAreCompared();
    void anInputIsNoConstant();
    void keywordsAreCompared();
    void moreInputsAreTold();
    void resultsOfOneOperationAreApart();
    void anotherModuleIsAMove();
    void theMatchedShareIsThatOfTheNodes();
    void oneOfThreeBranchesIsNew_data();
    void oneOfThreeBranchesIsNew();
    void elementsFindTensorsInOtherForms();
    void tensorsFilledWithOneNumberAreNotFound();
    void usersComeBeforeElements();
    void otherElementTypesAreTold();
    void opsetsAndTypesAreFacts();
    void valuesGoByTheNamesOfInputs();
    void windowsPadAlike();
    void indicesAreCompared_data();
    void indicesAreCompared();
    void unsqueezedWeightsAreTheSame();
    void sizesOfTheOtherModelAreFolded();

  private:
    std::shared_ptr<const document::Document> open(const std::string& bytes) { return m_models.open(bytes); }
    ModelDiff diffOf(const std::string& first, const std::string& second,
                     const session::ModelDiffRequest& request = {}) {
        const auto diff = session::modelDiff(*open(first), *open(second), request);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return *diff;
    }
    static QStringList textsOf(const std::vector<session::NodeChange>& changes) {
        QStringList texts;
        for (const session::NodeChange& change : changes) texts << QString::fromStdString(change.what);
        return texts;
    }

    test::WrittenModels m_models;
};

void TestDiffDetails::attributesOfOneModelAreTold() {
    const std::string plain = model(graphOf({{"LeakyRelu", {"x"}, {"y"}}})),
                      steep = model(graphOf({{"LeakyRelu", {"x"}, {"y"}, "", "", {floatAttribute("alpha", 0.5F)}}}));
    QCOMPARE(textsOf(diffOf(plain, steep).structure.changed), QStringList{QStringLiteral("alpha: not set -> 0.5")});
    QCOMPARE(textsOf(diffOf(steep, plain).structure.changed), QStringList{QStringLiteral("alpha: 0.5 -> not set")});
}

/// The upper bound of a clip is a constant of the file and no parameter.
void TestDiffDetails::constantsAreCompared() {
    const auto clip = [](float most) {
        return model(
            graphOf({{"Clip", {"x", "low", "high"}, {"y"}}}, {floats("low", {}, {0}), floats("high", {}, {most})}));
    };
    const ModelDiff diff = diffOf(clip(6), clip(7));
    QCOMPARE(diff.structure.changed.size(), std::size_t{1});
    const QString what = QString::fromStdString(diff.structure.changed.front().what);
    QVERIFY2(what.startsWith(QStringLiteral("argument 2: ")) && what.contains(u'6') && what.contains(u'7'),
             qPrintable(what));
    QVERIFY(diff.parameters.isEqual());
    QVERIFY(diffOf(clip(6), clip(6)).isEqual());
}

/// x + 1 and x + x.
void TestDiffDetails::anInputIsNoConstant() {
    const std::string one = floats("k", {1}, {1});
    const ModelDiff diff = diffOf(model(graphOf({{"Add", {"x", "k"}, {"y"}}}, {one})),
                                  model(graphOf({{"Add", {"x", "x"}, {"y"}}}, {one})));
    QCOMPARE(textsOf(diff.structure.changed), QStringList{QStringLiteral("input 1: k -> x")});
}

/// y = x + alpha·x, of PyTorch, with another alpha.
void TestDiffDetails::keywordsAreCompared() {
    const auto sum = [](std::int64_t alpha) {
        test::Maker maker;
        const auto x = maker.floats("x", {4});
        graph::Expr expr;
        expr.kind = graph::ExprKind::CallFunction;
        expr.op = {"aten", "add.Tensor", 0};
        expr.target = "add";
        expr.arguments = {test::arg(x), test::arg(x)};
        expr.keywords.emplace_back("alpha", test::arg(alpha));
        const std::string name = "y";
        maker.result(maker.graph.expr(maker.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front());
        return maker;
    };
    const test::Maker first = sum(1), second = sum(2);
    const auto pairs = session::pairOperations(first.graph, second.graph);
    const session::StructureDiff diff = session::structureDiff(first.graph, second.graph, pairs);
    QCOMPARE(textsOf(diff.changed), QStringList{QStringLiteral("alpha: 1 -> 2")});
    QCOMPARE(diff.matched(), 1.0);
}

void TestDiffDetails::moreInputsAreTold() {
    const auto largest = [](std::vector<std::string> inputs) {
        return model(graphOf({{"Relu", {"x"}, {"a"}}, {"Tanh", {"x"}, {"b"}}, {"Max", std::move(inputs), {"y"}}}));
    };
    QCOMPARE(textsOf(diffOf(largest({"a", "b"}), largest({"a", "b", "x"})).structure.changed),
             QStringList{QStringLiteral("inputs: 2 -> 3")});
}

/// The second file subtracts the first half from the second one.
void TestDiffDetails::resultsOfOneOperationAreApart() {
    const auto halves = [](const char* from, const char* taken) {
        return model(
            Graph{{{"Split", {"x"}, {"s", "t"}, "", "", {intAttribute("axis", 1)}}, {"Sub", {from, taken}, {"y"}}},
                  {valueInfo("x", kFloat, {1, 4})},
                  {valueInfo("y", kFloat, {1, 2})}});
    };
    QCOMPARE(textsOf(diffOf(halves("s", "t"), halves("t", "s")).structure.changed),
             QStringList{QStringLiteral("input 0: s -> t; input 1: t -> s")});
}

/// The tanh is the first operation of b in one file, and the last one of a in the other.
void TestDiffDetails::anotherModuleIsAMove() {
    const auto inModule = [](const char* tanh) {
        const std::vector<float> weights(16, 0.5F), others(16, 0.25F);
        return model(graphOf({{"MatMul", {"x", "v"}, {"m"}, "/a/MatMul"},
                              {"Relu", {"m"}, {"r"}, "/a/Relu"},
                              {"Tanh", {"r"}, {"t"}, tanh},
                              {"MatMul", {"t", "w"}, {"n"}, "/b/MatMul"},
                              {"Sigmoid", {"n"}, {"y"}, "/b/Sigmoid"}},
                             {floats("v", {4, 4}, weights), floats("w", {4, 4}, others)}));
    };
    const ModelDiff diff = diffOf(inModule("/b/Tanh"), inModule("/a/Tanh"));
    QCOMPARE(textsOf(diff.structure.moved), QStringList{QStringLiteral("module: b -> a")});
    QVERIFY(diff.structure.changed.empty() && diff.structure.added.empty() && diff.structure.removed.empty());
    // A module that only has another name holds what it held.
    const auto renamed = [](const std::string& module) {
        return model(graphOf({{"Relu", {"x"}, {"r"}, "/" + module + "/Relu"}, {"Tanh", {"r"}, {"y"}, "/b/Tanh"}}));
    };
    QVERIFY(diffOf(renamed("a"), renamed("c")).structure.isEqual());
}

/// Three operations against five: six of the eight values have a counterpart.
void TestDiffDetails::theMatchedShareIsThatOfTheNodes() {
    const ModelDiff diff =
        diffOf(model(graphOf({{"Relu", {"x"}, {"a"}}, {"Tanh", {"a"}, {"b"}}, {"Sigmoid", {"b"}, {"y"}}})),
               model(graphOf({{"Relu", {"x"}, {"a"}},
                              {"Exp", {"a"}, {"e"}},
                              {"Tanh", {"e"}, {"b"}},
                              {"Sigmoid", {"b"}, {"s"}},
                              {"Sqrt", {"s"}, {"y"}}})));
    QCOMPARE(diff.structure.comparedNodes, std::size_t{8});
    QCOMPARE(diff.structure.matchedNodes, std::size_t{6});
    QCOMPARE(diff.structure.added.size(), std::size_t{2});
}

void TestDiffDetails::oneOfThreeBranchesIsNew_data() {
    QTest::addColumn<bool>("hasWeights");
    QTest::addColumn<bool>("haveSameElements");
    QTest::newRow("by elements of weights") << true << true;
    QTest::newRow("by names of weights") << true << false;
    QTest::newRow("by modules") << false << false;
}

/// The new branch is the first one, the others have changed places, and a tanh follows all: neither order nor structure
/// tells which is new, but the weights of each, or its module.
void TestDiffDetails::oneOfThreeBranchesIsNew() {
    QFETCH(const bool, hasWeights);
    QFETCH(const bool, haveSameElements);
    const auto branches = [&](const std::string& names, bool isSecond) {
        std::vector<Node> nodes;
        std::vector<std::string> weights, results;
        for (const char name : names) {
            const std::string result = std::string(isSecond ? "second_" : "first_") + name;
            std::vector<float> elements(16);
            for (std::size_t i = 0; i < elements.size(); ++i)
                elements[i] = static_cast<float>(i % 7) + static_cast<float>(name) +
                              (isSecond && !haveSameElements ? static_cast<float>(i) : 0.0F);
            const std::string weight = haveSameElements && isSecond ? result + "_w" : std::string(1, name);
            const std::string module = hasWeights ? "" : std::string("/") + name + "/Relu";
            if (hasWeights) nodes.push_back({"MatMul", {"x", weight}, {result}});
            else nodes.push_back({"Relu", {"x"}, {result}, module});
            if (hasWeights) weights.push_back(floats(weight, {4, 4}, elements));
            results.push_back(result);
        }
        nodes.push_back({"Concat", results, {isSecond ? "c" : "y"}, "", "", {intAttribute("axis", 1)}});
        if (isSecond) nodes.push_back({"Tanh", {"c"}, {"y"}});
        return model(Graph{.nodes = nodes,
                           .inputs = {valueInfo("x", kFloat, {1, 4})},
                           .outputs = {valueInfo("y", kFloat, {1, 4 * static_cast<std::int64_t>(names.size())})},
                           .initializers = weights});
    };
    const auto a = open(branches("pq", false)), b = open(branches("oqp", true));
    const auto diff = session::modelDiff(*a, *b);
    QVERIFY(diff);
    QStringList added;
    for (const graph::NodeId node : diff->structure.added) added << QString::fromStdString(b->graph->node(node).name);
    QCOMPARE(added, (QStringList{"second_o", "y"}));
    QVERIFY(diff->structure.removed.empty());
}

/// The second file reshapes what it stores, so that no operation that reads it has a counterpart.
void TestDiffDetails::elementsFindTensorsInOtherForms() {
    std::vector<float> elements(16);
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i * i % 11);
    const auto product = [&](const std::vector<std::int64_t>& dims) {
        std::string shape(16, '\0');
        shape[0] = shape[8] = 4;
        return model(graphOf({{"Reshape", {"v", "shape"}, {"t"}}, {"MatMul", {"x", "t"}, {"y"}}},
                             {floats("v", dims, elements), rawTensor("shape", 7, {2}, shape)}));
    };
    const std::string plain = model(graphOf({{"MatMul", {"x", "w"}, {"y"}}}, {floats("w", {4, 4}, elements)}));
    const ModelDiff same = diffOf(plain, product({4, 4}));
    QCOMPARE(same.parameters.equal, std::size_t{1});
    QCOMPARE(same.parameters.renamed, std::size_t{1});
    QVERIFY(same.parameters.added.empty() && same.parameters.removed.empty());
    const ModelDiff squeezed = diffOf(plain, product({4, 1, 4}));
    QVERIFY(squeezed.parameters.added.empty() && squeezed.parameters.removed.empty());
    QCOMPARE(squeezed.parameters.changed.size(), std::size_t{1});
    QCOMPARE(squeezed.parameters.changed.front().what, std::string("shape: [4,4] -> [4,1,4]"));
}

/// Two tensors of ones say nothing of each other.
void TestDiffDetails::tensorsFilledWithOneNumberAreNotFound() {
    const std::vector<float> ones(16, 1);
    std::string shape(16, '\0');
    shape[0] = shape[8] = 4;
    const ModelDiff diff = diffOf(model(graphOf({{"MatMul", {"x", "w"}, {"y"}}}, {floats("w", {4, 4}, ones)})),
                                  model(graphOf({{"Reshape", {"v", "shape"}, {"t"}}, {"MatMul", {"x", "t"}, {"y"}}},
                                                {floats("v", {4, 4}, ones), rawTensor("shape", 7, {2}, shape)})));
    QCOMPARE(diff.parameters.equal, std::size_t{0});
    // The products that read them do: what is stored there is what is computed here.
    QCOMPARE(diff.parameters.notes.size(), std::size_t{2});
    QVERIFY(diff.parameters.removed.empty() && diff.parameters.added.empty() && diff.structure.isEqual());
    // Not if it is another number.
    const ModelDiff other =
        diffOf(model(graphOf({{"MatMul", {"x", "w"}, {"y"}}}, {floats("w", {4, 4}, ones)})),
               model(graphOf({{"Neg", {"v"}, {"t"}}, {"MatMul", {"x", "t"}, {"y"}}}, {floats("v", {4, 4}, ones)})));
    QCOMPARE(other.parameters.changed.size(), std::size_t{1});
    QCOMPARE(other.parameters.changed.front().maxAbs.value_or(0), 2.0);
}

/// The weights of two layers were exchanged: each layer has other weights than it had.
void TestDiffDetails::usersComeBeforeElements() {
    std::vector<float> one(16), other(16);
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = static_cast<float>(i), other[i] = static_cast<float>(i * 2);
    const auto layers = [](const char* first, const char* second, const std::vector<float>& v,
                           const std::vector<float>& w) {
        return model(
            graphOf({{"MatMul", {"x", first}, {"m"}}, {"Relu", {"m"}, {"r"}}, {"MatMul", {"r", second}, {"y"}}},
                    {floats(first, {4, 4}, v), floats(second, {4, 4}, w)}));
    };
    const ModelDiff diff = diffOf(layers("a", "b", one, other), layers("p", "q", other, one));
    QCOMPARE(diff.parameters.equal, std::size_t{0});
    QCOMPARE(diff.parameters.changed.size(), std::size_t{2});
    for (const session::ParameterChange& change : diff.parameters.changed) QCOMPARE(change.maxAbs, std::optional(15.0));
}

/// 3 became 3.5: a half, a sixth of 3.
void TestDiffDetails::otherElementTypesAreTold() {
    constexpr int kDouble = 11;
    const std::vector<double> values{1, 2, 3.5, 4};
    const std::string wide(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    const auto sum = [](int type, const std::string& weight) {
        return model(Graph{.nodes = {{"MatMul", {"x", "w"}, {"y"}}},
                           .inputs = {valueInfo("x", type, {1, 4})},
                           .outputs = {valueInfo("y", type, {1, 1})},
                           .initializers = {weight}});
    };
    const ModelDiff diff =
        diffOf(sum(kFloat, floats("w", {4, 1}, {1, 2, 3, 4})), sum(kDouble, rawTensor("w", kDouble, {4, 1}, wide)));
    QCOMPARE(diff.parameters.changed.size(), std::size_t{1});
    QCOMPARE(diff.parameters.changed.front().what, std::string("float32 -> float64"));
    QCOMPARE(diff.parameters.changed.front().maxAbs, std::optional(0.5));
    QCOMPARE(diff.parameters.changed.front().maxRel, std::optional(0.5 / 3));
}

void TestDiffDetails::opsetsAndTypesAreFacts() {
    const auto ofWidth = [](std::int64_t width, std::int64_t version) {
        Graph graph{.nodes = {{"Relu", {"x"}, {"y"}}},
                    .inputs = {valueInfo("x", kFloat, {1, width})},
                    .outputs = {valueInfo("y", kFloat, {1, width})}};
        return model(graph, {}, {opset("", version)});
    };
    const ModelDiff diff = diffOf(ofWidth(4, 16), ofWidth(8, 17));
    QStringList facts;
    for (const session::FactChange& fact : diff.metadata)
        facts << QString::fromStdString(fact.name + ": " + session::FactChange::text(fact.a) + " -> " +
                                        session::FactChange::text(fact.b));
    QVERIFY2(facts.contains(QStringLiteral("opset ai.onnx: 16 -> 17")), qPrintable(facts.join(u'\n')));
    QVERIFY2(facts.contains(QStringLiteral("input x: float32[1,4] -> float32[1,8]")), qPrintable(facts.join(u'\n')));
    QVERIFY2(facts.contains(QStringLiteral("output y: float32[1,4] -> float32[1,8]")), qPrintable(facts.join(u'\n')));
    QVERIFY(diff.isEqual());  // facts are no differences
}

/// The second file has its inputs in another order: d = a − b of both is the same, if values go by name.
void TestDiffDetails::valuesGoByTheNamesOfInputs() {
    const auto difference = [](const char* one, const char* other) {
        return model(Graph{{{"Sub", {"a", "b"}, {"d"}}},
                           {valueInfo(one, kFloat, {1, 2}), valueInfo(other, kFloat, {1, 2})},
                           {valueInfo("d", kFloat, {1, 2})}});
    };
    session::ModelDiffRequest request;
    request.inputs = {tensor::Value(tensor::Tensor::of<float>({1, 2}, {5, 6})),
                      tensor::Value(tensor::Tensor::of<float>({1, 2}, {1, 1}))};
    const ModelDiff diff = diffOf(difference("a", "b"), difference("b", "a"), request);
    QVERIFY(diff.values);
    QCOMPARE(diff.values->compared, std::size_t{1});
    QVERIFY(diff.values->changed.empty());
    // Other names go by position: −4 and −5 against 4 and 5.
    const auto turned = model(Graph{{{"Sub", {"q", "p"}, {"d"}}},
                                    {valueInfo("p", kFloat, {1, 2}), valueInfo("q", kFloat, {1, 2})},
                                    {valueInfo("d", kFloat, {1, 2})}});
    const ModelDiff other = diffOf(difference("a", "b"), turned, request);
    QVERIFY(other.values);
    QCOMPARE(other.values->changed.size(), std::size_t{1});
    QCOMPARE(other.values->changed.front().maxAbs, 10.0);
    QCOMPARE(other.values->changed.front().maxRel, 2.0);
}

/// 5 elements, windows of 3 in steps of 2: SAME gives 3 of them with (3 − 1)·2 + 3 − 5 = 2 elements of padding.
void TestDiffDetails::windowsPadAlike() {
    const auto pooled = [](const std::string& padding, std::int64_t size) {
        return model({.nodes = {{"MaxPool",
                                 {"x"},
                                 {"y"},
                                 "",
                                 "",
                                 {intsAttribute("kernel_shape", {3}), intsAttribute("strides", {2}), padding}}},
                      .inputs = {valueInfo("x", kFloat, {1, 2, size})},
                      .outputs = {valueInfo("y", kFloat, {1, 2, 3})}});
    };
    const std::string upper = stringAttribute("auto_pad", "SAME_UPPER");
    QVERIFY(diffOf(pooled(upper, 5), pooled(intsAttribute("pads", {1, 1}), 5)).isEqual());
    // Of 6 elements it is 1, behind them.
    QVERIFY(diffOf(pooled(upper, 6), pooled(intsAttribute("pads", {0, 1}), 6)).isEqual());
    QVERIFY(!diffOf(pooled(upper, 6), pooled(intsAttribute("pads", {1, 0}), 6)).isEqual());
    QVERIFY(diffOf(pooled(stringAttribute("auto_pad", "SAME_LOWER"), 6), pooled(intsAttribute("pads", {1, 0}), 6))
                .isEqual());
    QVERIFY(!diffOf(pooled(upper, 5), pooled(intsAttribute("pads", {0, 2}), 5)).isEqual());
}

void TestDiffDetails::indicesAreCompared_data() {
    QTest::addColumn<Argument>("first");
    QTest::addColumn<Argument>("second");
    QTest::addColumn<QString>("what");
    const Argument all = sliceOf({}, {}), zero = test::arg(std::int64_t{0});
    const auto add = [](const char* name, const Argument& first, const Argument& second, const char* what) {
        QTest::addRow("%s", name) << first << second << what;
    };
    add("x[:, 0], x[:, -1]", partsOf({all, zero}), partsOf({all, test::arg(std::int64_t{-1})}),
        "index: [:, 0] -> [:, -1]");
    add("x[:, 1:4], x[:, 2:5]", partsOf({all, sliceOf(1, 4)}), partsOf({all, sliceOf(2, 5)}),
        "index: [:, 1:4] -> [:, 2:5]");
    add("x[:, 0:3], x[:, :, 0:3]", partsOf({all, sliceOf(0, 3)}), partsOf({all, all, sliceOf(0, 3)}),
        "index: [:, :3] -> [:, :, :3]");
    add("x[1:], x[:1]", sliceOf(1, {}), sliceOf({}, 1), "index: [1:] -> [:1]");
    add("x[::2], x[1::2]", sliceOf({}, {}, 2), sliceOf(1, {}, 2), "index: [::2] -> [1::2]");
    add("x[0], x[0, :]", partsOf({zero}), partsOf({zero, all}), "");
    add("x[1:], x[1:max:1]", sliceOf(1, {}), partsOf({sliceOf(1, INT64_MAX, 1)}), "");
    const Argument dots = Argument::of(tensor::Value::object(std::make_shared<tensor::EllipsisValue>()));
    add("x[..., 0], x[:, :, 0]", partsOf({dots, zero}), partsOf({all, all, zero}), "");
    add("x[..., 0], x[:, 0]", partsOf({dots, zero}), partsOf({all, zero}), "index: [:, :, 0] -> [:, 0]");
    add("x[0, ...], x[0]", partsOf({zero, dots}), zero, "");
    add("the same", partsOf({all, zero}), partsOf({all, zero}), "");
}

void TestDiffDetails::indicesAreCompared() {
    QFETCH(Argument, first);
    QFETCH(Argument, second);
    QFETCH(QString, what);
    const auto taken = [](const Argument& index) {
        test::Maker maker;
        const auto x = maker.floats("x", {4, 6, 8});
        graph::Expr expr;
        expr.kind = graph::ExprKind::CallFunction;
        expr.op = {"prim", "getitem", 0};
        expr.target = "getitem";
        expr.arguments = {test::arg(x), index};
        const std::string name = "y";
        maker.result(maker.graph.expr(maker.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front());
        return maker;
    };
    const test::Maker a = taken(first), b = taken(second);
    const auto pairs = session::pairOperations(a.graph, b.graph);
    const auto diff = session::structureDiff(a.graph, b.graph, pairs);
    QCOMPARE(textsOf(diff.changed), what.isEmpty() ? QStringList() : QStringList{what});
}

/// One export stores the slope as [4, 1], the other as [4], and reshapes it in each run.
void TestDiffDetails::unsqueezedWeightsAreTheSame() {
    const auto scaled = [](bool isFolded, std::vector<float> slopes) {
        const std::string one = rawTensor("axes", 7, {1}, std::string("\1\0\0\0\0\0\0\0", 8));
        std::vector<Node> nodes{{"PRelu", {"x", "s"}, {"y"}}};
        if (!isFolded) nodes.insert(nodes.begin(), Node{"Unsqueeze", {"w", "axes"}, {"s"}});
        return model({.nodes = std::move(nodes),
                      .inputs = {valueInfo("x", kFloat, {1, 4, 2})},
                      .outputs = {valueInfo("y", kFloat, {1, 4, 2})},
                      .initializers = isFolded ? std::vector{floats("s", {4, 1}, slopes)}
                                               : std::vector{floats("w", {4}, slopes), one}});
    };
    const std::vector<float> slopes{0.1F, 0.2F, 0.3F, 0.4F}, others{0.1F, 0.2F, 0.3F, 0.5F};
    QVERIFY(diffOf(scaled(true, slopes), scaled(false, slopes)).parameters.isEqual());
    QVERIFY(!diffOf(scaled(true, slopes), scaled(false, others)).parameters.isEqual());
}

/// Of a batch of 2 the size is a constant; of any batch it is asked for.
void TestDiffDetails::sizesOfTheOtherModelAreFolded() {
    const auto longs = [](const char* name, std::vector<std::int64_t> values, std::vector<std::int64_t> dims) {
        return rawTensor(name, 7, dims, {reinterpret_cast<const char*>(values.data()), values.size() * 8});
    };
    const auto flat = [&](std::int64_t batch, std::int64_t stored) {
        std::vector<Node> nodes{{"Reshape", {"x", "shape"}, {"r"}}, {"Relu", {"r"}, {"y"}}};
        std::vector<std::string> constants{longs("shape", {stored, -1}, {2})};
        if (batch < 0) {
            const std::vector<Node> sizes{{"Shape", {"x"}, {"s"}},
                                          {"Gather", {"s", "zero"}, {"n"}},
                                          {"Unsqueeze", {"n", "zeros"}, {"n1"}},
                                          {"Concat", {"n1", "rest"}, {"shape"}, "", "", {intAttribute("axis", 0)}}};
            nodes.insert(nodes.begin(), sizes.begin(), sizes.end());
            constants = {longs("zero", {0}, {}), longs("zeros", {0}, {1}), longs("rest", {-1}, {1})};
        }
        return model({.nodes = std::move(nodes),
                      .inputs = {valueInfo("x", kFloat, {batch, 3, 4})},
                      .outputs = {valueInfo("y", kFloat,
                                            batch < 0 ? std::vector<std::int64_t>{-1, 12}
                                                      : std::vector<std::int64_t>{stored, 24 / stored})},
                      .initializers = constants});
    };
    const ModelDiff same = diffOf(flat(2, 2), flat(-1, 0));
    QVERIFY(same.structure.isEqual());
    QVERIFY(same.structure.added.empty());
    const ModelDiff other = diffOf(flat(2, 1), flat(-1, 0));
    QVERIFY(!other.structure.isEqual());
}

QTEST_APPLESS_MAIN(TestDiffDetails)

}  // namespace tst_diff_details

#include "tst_diff_details.moc"
