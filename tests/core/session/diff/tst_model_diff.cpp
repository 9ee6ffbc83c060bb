// Differences that were planted in generated networks are found, and no others; exports of one network are equal,
// whatever they name.

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <functional>

#include "core/document/document.h"
#include "core/session/diff/model_diff.h"
#include "core/session/diff/sequence.h"
#include "core/session/read_inputs.h"
#include "tests/support/onnx_file.h"

namespace tst_model_diff {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;

namespace {

constexpr int kFloat = 1;
constexpr std::int64_t kWidth = 4;

std::string floats(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    return rawTensor(name, kFloat, dims,
                     std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
}

/// Residual blocks: y = x + relu(x·w + b), each with weights of its own; then a softmax.
struct Network {
    int blocks = 6;
    std::function<std::string(const std::string&)> name = [](const std::string& own) { return own; };
    std::function<void(Graph&)> edit = [](Graph&) {};
    bool areBranchesTurned = false;  ///< the operands of the sums are computed in another order

    Graph graph() const {
        Graph graph{.nodes = {},
                    .inputs = {valueInfo(name("x"), kFloat, {1, kWidth})},
                    .outputs = {valueInfo(name("y"), kFloat, {1, kWidth})}};
        std::string last = name("x");
        for (int i = 0; i < blocks; ++i) {
            const auto of = [&](const char* what) { return name(what + std::to_string(i)); };
            std::vector<float> w(kWidth * kWidth), b(kWidth);
            for (std::size_t k = 0; k < w.size(); ++k) w[k] = static_cast<float>(k % 5) * 0.25F + static_cast<float>(i);
            for (std::size_t k = 0; k < b.size(); ++k) b[k] = static_cast<float>(k) - static_cast<float>(i);
            graph.initializers.push_back(floats(of("w"), {kWidth, kWidth}, w));
            graph.initializers.push_back(floats(of("b"), {kWidth}, b));
            std::vector<Node> left{{"MatMul", {last, of("w")}, {of("product")}},
                                   {"Add", {of("product"), of("b")}, {of("sum")}},
                                   {"Relu", {of("sum")}, {of("relu")}}};
            std::vector<Node> right{{"Tanh", {last}, {of("tanh")}}};
            if (areBranchesTurned) std::swap(left, right);
            graph.nodes.insert(graph.nodes.end(), left.begin(), left.end());
            graph.nodes.insert(graph.nodes.end(), right.begin(), right.end());
            graph.nodes.push_back({"Add", {of("relu"), of("tanh")}, {of("block")}});
            last = of("block");
        }
        graph.nodes.push_back({"Softmax", {last}, {name("y")}, "", "", {intAttribute("axis", 1)}});
        edit(graph);
        return graph;
    }
};

Node& nodeOf(Graph& graph, const std::string& output) {
    for (Node& node : graph.nodes)
        if (node.outputs.front() == output) return node;
    qFatal("no node %s", output.c_str());
}

std::size_t indexOf(const Graph& graph, const std::string& output) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (graph.nodes[i].outputs.front() == output) return i;
    qFatal("no node %s", output.c_str());
}

/// All consumers of `from`, but for `except`, read `to`.
void redirect(Graph& graph, const std::string& from, const std::string& to, const std::string& except) {
    for (Node& node : graph.nodes)
        if (node.outputs.front() != except) std::ranges::replace(node.inputs, from, to);
}

}  // namespace

class TestModelDiff : public QObject {
    Q_OBJECT

  private slots:
    void otherNamesAreNoDifference_data();
    void otherNamesAreNoDifference();
    void plantedDifferencesAreFound_data();
    void plantedDifferencesAreFound();
    void weightsAreComparedByElement();
    void transposedOnesAreFoundByTheirElements();
    void exportsOfOneNetworkMatch_data();
    void exportsOfOneNetworkMatch();
    void layersOfTwoVocabulariesAreCompared();
    void valuesAreComparedOnOneInput();
    void missingIsNotEmpty();
    void exportsOfOneNetworkHaveEqualValues_data();
    void exportsOfOneNetworkHaveEqualValues();
    void factsAreListed();
    void figuresOfTheCostHaveNodes();
    void sequences();

  private:
    std::shared_ptr<const document::Document> open(const Graph& graph) {
        const QString path = m_folder.filePath(QStringLiteral("m%1.onnx").arg(m_count++));
        if (!write(path, model(graph))) qFatal("cannot write");
        const auto document = document::open(path.toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    }
    static QJsonObject jsonOf(const document::Document& a, const document::Document& b,
                              const session::ModelDiffRequest& request = {}) {
        const auto diff = session::modelDiff(a, b, request);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return QJsonDocument::fromJson(QByteArray::fromStdString(session::modelDiffJson(a, b, *diff))).object();
    }

    QTemporaryDir m_folder;
    int m_count = 0;
};

void TestModelDiff::otherNamesAreNoDifference_data() {
    QTest::addColumn<bool>("areBranchesTurned");
    QTest::addColumn<bool>("areNumbers");
    QTest::newRow("same names") << false << false;
    QTest::newRow("numbers that the other file has for other nodes") << false << true;
    QTest::newRow("another order of branches") << true << false;
    QTest::newRow("another order and numbers") << true << true;
}

void TestModelDiff::otherNamesAreNoDifference() {
    QFETCH(bool, areBranchesTurned);
    QFETCH(bool, areNumbers);
    const auto numbered = [](int first) {
        auto known = std::make_shared<std::map<std::string, std::string>>();
        return [known, first](const std::string& own) {
            return known->try_emplace(own, std::to_string(first + static_cast<int>(known->size()))).first->second;
        };
    };
    Network first, second;
    second.areBranchesTurned = areBranchesTurned;
    if (areNumbers) {
        first.name = numbered(1);
        second.name = numbered(8);
    }
    const auto a = open(first.graph()), b = open(second.graph());
    const auto diff = session::modelDiff(*a, *b);
    QVERIFY(diff);
    QVERIFY2(diff->isEqual(), session::modelDiffText(*a, *b, *diff).c_str());
    QCOMPARE(diff->structure.matched(), 1.0);
    QCOMPARE(diff->structure.comparedNodes, std::size_t{2 * (6 * 5 + 1)});
    QCOMPARE(diff->parameters.equal, std::size_t{12});
    QCOMPARE(diff->structure.renamed > 0, areNumbers);
    QCOMPARE(jsonOf(*a, *b)["equal"].toBool(), true);
}

void TestModelDiff::plantedDifferencesAreFound_data() {
    QTest::addColumn<std::function<void(Graph&)>>("edit");
    QTest::addColumn<QStringList>("expected");
    using Edit = std::function<void(Graph&)>;
    QTest::newRow("a layer more") << Edit([](Graph& graph) {
        const std::size_t at = indexOf(graph, "relu2") + 1;
        redirect(graph, "relu2", "more", "relu2");
        graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), {"Sigmoid", {"relu2"}, {"more"}});
    }) << QStringList{"+more"};
    QTest::newRow("a layer more of a kind that is there often") << Edit([](Graph& graph) {
        const std::size_t at = indexOf(graph, "block3") + 1;
        redirect(graph, "block3", "more", "block3");
        graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), {"Relu", {"block3"}, {"more"}});
    }) << QStringList{"+more"};
    QTest::newRow("a layer less") << Edit([](Graph& graph) {
        const std::size_t at = indexOf(graph, "tanh4");
        redirect(graph, "tanh4", "block3", "tanh4");
        graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at));
    }) << QStringList{"-tanh4"};
    QTest::newRow("another operator") << Edit([](Graph& graph) { nodeOf(graph, "relu1").op = "Sigmoid"; })
                                      << QStringList{"~relu1 operator: Relu -> Sigmoid"};
    QTest::newRow("another attribute") << Edit([](Graph& graph) {
        nodeOf(graph, "y").attributes = {intAttribute("axis", 0)};
    }) << QStringList{"~y axis: 1 -> 0"};
    QTest::newRow("another input") << Edit([](Graph& graph) { nodeOf(graph, "block4").inputs[1] = "tanh3"; })
                                   << QStringList{"~block4 input 1: tanh4 -> tanh3"};
    QTest::newRow("two operations have changed places") << Edit([](Graph& graph) {
        // sum, relu, then relu, sum.
        const std::size_t at = indexOf(graph, "sum3");
        graph.nodes[at] = {"Relu", {"product3"}, {"first"}};
        graph.nodes[at + 1] = {"Add", {"first", "b3"}, {"second"}};
        redirect(graph, "relu3", "second", "second");
    }) << QStringList{">sum3"};
    QTest::newRow("several at once") << Edit([](Graph& graph) {
        nodeOf(graph, "relu0").op = "Sigmoid";
        nodeOf(graph, "y").attributes = {intAttribute("axis", 0)};
        const std::size_t at = indexOf(graph, "relu4") + 1;
        redirect(graph, "relu4", "more", "relu4");
        graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), {"Exp", {"relu4"}, {"more"}});
    }) << QStringList{"+more", "~relu0 operator: Relu -> Sigmoid", "~y axis: 1 -> 0"};
}

void TestModelDiff::plantedDifferencesAreFound() {
    QFETCH(std::function<void(Graph&)>, edit);
    QFETCH(QStringList, expected);
    Network first, second;
    second.edit = edit;
    const auto a = open(first.graph()), b = open(second.graph());
    const QJsonObject json = jsonOf(*a, *b);
    const QJsonObject nodes = json["nodes"].toObject();
    QStringList found;
    for (const QJsonValue& name : nodes["added"].toArray()) found << '+' + name.toString();
    for (const QJsonValue& name : nodes["removed"].toArray()) found << '-' + name.toString();
    for (const QJsonValue& change : nodes["changed"].toArray())
        found << '~' + change["a"].toString() + ' ' + change["what"].toString();
    for (const QJsonValue& change : nodes["moved"].toArray()) found << '>' + change["a"].toString();
    QCOMPARE(found, expected);
    QVERIFY(json["matched"].toDouble() > 0.95);
    QCOMPARE(json["equal"].toBool(), false);
    QCOMPARE(json["parameters"]["changed"].toArray().size(), 0);
    // The other way round nothing else is found.
    const QJsonObject turned = jsonOf(*b, *a)["nodes"].toObject();
    QCOMPARE(turned["added"].toArray(), nodes["removed"].toArray());
    QCOMPARE(turned["removed"].toArray(), nodes["added"].toArray());
    QCOMPARE(turned["changed"].toArray().size(), nodes["changed"].toArray().size());
    QCOMPARE(turned["moved"].toArray().size(), nodes["moved"].toArray().size());
}

/// b2 is 0−2, 1−2, 2−2, 3−2: its last element becomes 3 in place of 1; w1 is doubled; b5 has another shape.
void TestModelDiff::weightsAreComparedByElement() {
    Network first, second;
    second.edit = [](Graph& graph) {
        graph.initializers[2 * 2 + 1] = floats("b2", {kWidth}, {-2, -1, 0, 3});
        graph.initializers[5 * 2 + 1] = floats("b5", {1, kWidth}, {-5, -4, -3, -2});
        std::vector<float> w(kWidth * kWidth);
        for (std::size_t k = 0; k < w.size(); ++k) w[k] = 2 * (static_cast<float>(k % 5) * 0.25F + 1);
        graph.initializers[1 * 2] = floats("w1", {kWidth, kWidth}, w);
    };
    const auto a = open(first.graph()), b = open(second.graph());
    const QJsonObject json = jsonOf(*a, *b);
    const QJsonArray changed = json["parameters"]["changed"].toArray();
    QCOMPARE(changed.size(), 3);
    QCOMPARE(changed[0]["name"].toString(), QStringLiteral("w1"));
    QCOMPARE(changed[0]["max_abs"].toDouble(), 2.0);  // 1 + 4·0.25
    QCOMPARE(changed[0]["max_rel"].toDouble(), 1.0);
    QCOMPARE(changed[1]["name"].toString(), QStringLiteral("b2"));
    QCOMPARE(changed[1]["max_abs"].toDouble(), 2.0);
    QCOMPARE(changed[1]["max_rel"].toDouble(), 2.0);
    QCOMPARE(changed[2]["name"].toString(), QStringLiteral("b5"));
    QCOMPARE(changed[2]["what"].toString(), QStringLiteral("shape: [4] -> [1,4]"));
    QCOMPARE(json["parameters"]["equal"].toInt(), 9);
    QCOMPARE(json["nodes"]["added"].toArray().size() + json["nodes"]["removed"].toArray().size() +
                 json["nodes"]["changed"].toArray().size(),
             0);
}

/// The second stores v = wᵀ and transposes it: no operation that reads it has a counterpart.
void TestModelDiff::transposedOnesAreFoundByTheirElements() {
    const auto of = [](const char* name, bool isTurned) {
        std::vector<float> values(kWidth * kWidth);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[isTurned ? k % kWidth * kWidth + k / kWidth : k] = static_cast<float>(k * k % 7);
        return floats(name, {kWidth, kWidth}, values);
    };
    const std::vector<std::string> x{valueInfo("x", kFloat, {1, kWidth})}, y{valueInfo("y", kFloat, {1, kWidth})};
    const auto a =
        open({.nodes = {{"MatMul", {"x", "w"}, {"y"}}}, .inputs = x, .outputs = y, .initializers = {of("w", false)}});
    const auto b = open({.nodes = {{"Transpose", {"v"}, {"t"}}, {"MatMul", {"x", "t"}, {"y"}}},
                         .inputs = x,
                         .outputs = y,
                         .initializers = {of("v", true)}});
    const QJsonObject parameters = jsonOf(*a, *b)["parameters"].toObject();
    QCOMPARE(parameters["equal"].toInt(), 1);
    QCOMPARE(parameters["added"].toArray().size() + parameters["removed"].toArray().size(), 0);
}

void TestModelDiff::exportsOfOneNetworkMatch_data() {
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    for (const char* name : {"vit_small", "gpt_mini", "nested_containers", "shared_twice", "unet_small",
                             "lstm_classifier", "mlp_functional", "control_flow"}) {
        const auto isThere = [&](const char* form) {
            return QFileInfo::exists(QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name) +
                                     QLatin1String(form));
        };
        for (const char* other : {".trace.pt", ".script.pt"})
            if (isThere(".onnx") && isThere(other))
                QTest::addRow("%s%s", name, other) << QLatin1String(name) + ".onnx" << QLatin1String(name) + other;
        if (!isThere(".trace.pt") || !isThere(".script.pt")) continue;
        QTest::addRow("%s, trace and script", name)
            << QLatin1String(name) + ".trace.pt" << QLatin1String(name) + ".script.pt";
    }
}

void TestModelDiff::exportsOfOneNetworkMatch() {
    QFETCH(QString, first);
    QFETCH(QString, second);
    const auto file = [](const QString& name) {
        const auto document = document::open((QStringLiteral(SONDE_TEST_DATA "/models/") + name).toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    };
    const auto a = file(first), b = file(second);
    const auto diff = session::modelDiff(*a, *b);
    QVERIFY(diff);
    QVERIFY2(diff->structure.matched() > 0.95, session::modelDiffText(*a, *b, *diff).c_str());
    // A script has checks and arithmetic that a trace has not: where any of it is listed, not all is matched.
    const bool isListed = !diff->structure.added.empty() || !diff->structure.removed.empty();
    QVERIFY2(!isListed || diff->structure.matchedOfAll() < 1, session::modelDiffText(*a, *b, *diff).c_str());
    QVERIFY2(diff->structure.moved.empty(), session::modelDiffText(*a, *b, *diff).c_str());
    // What the one computes and the other has as a number (sizes of parts, a scale) is no change.
    QVERIFY2(diff->structure.changed.empty(), session::modelDiffText(*a, *b, *diff).c_str());
    QVERIFY2(diff->parameters.isEqual(), session::modelDiffText(*a, *b, *diff).c_str());
}

/// An ONNX file one of whose activations is another one is not the archive that it came from, though every operation
/// has its counterpart.
void TestModelDiff::layersOfTwoVocabulariesAreCompared() {
    const std::string folder = SONDE_TEST_DATA "/models/";
    const auto archive = document::open(folder + "unet_small.trace.pt", {});
    QVERIFY(archive);
    QFile file(QString::fromStdString(folder) + QStringLiteral("unet_small.onnx"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QByteArray bytes = file.readAll();
    const auto changesOf = [&](const QByteArray& model) {
        QTemporaryDir there;
        const QString path = there.filePath(QStringLiteral("changed.onnx"));
        QFile changed(path);
        if (!changed.open(QIODevice::WriteOnly) || changed.write(model) < 0) qFatal("not written");
        changed.close();
        const auto opened = document::open(path.toStdString(), {});
        if (!opened) qFatal("%s", opened.error().text().c_str());
        const auto diff = session::modelDiff(**opened, **archive);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        QStringList changes;
        for (const session::NodeChange& change : diff->structure.changed)
            changes << QString::fromStdString(change.what);
        return changes;
    };
    QCOMPARE(changesOf(bytes), QStringList());
    // op_type "Relu" of four letters becomes "Tanh".
    const qsizetype at = bytes.indexOf("\"\x04Relu");
    QVERIFY(at > 0);
    bytes.replace(at + 2, 4, "Tanh");
    const QStringList changes = changesOf(bytes);
    QCOMPARE(changes.size(), 1);
    QVERIFY2(changes.front().startsWith(u"operator: Tanh -> aten::relu"), qPrintable(changes.front()));
}

void TestModelDiff::valuesAreComparedOnOneInput() {
    Network first, same, other;
    same.name = [](const std::string& own) { return "other_" + own; };
    other.edit = [](Graph& graph) { graph.initializers[3 * 2 + 1] = floats("b3", {kWidth}, {-3, -2, -1, 9}); };
    const auto a = open(first.graph()), b = open(same.graph()), c = open(other.graph());
    session::ModelDiffRequest request;
    request.inputs = {tensor::Value(tensor::Tensor::of<float>({1, kWidth}, {0.5F, -1, 2, 0}))};
    const QJsonObject json = jsonOf(*a, *b, request);
    QCOMPARE(json["values"]["compared"].toInt(), 6 * 5 + 1);
    QCOMPARE(json["values"]["changed"].toArray().size(), 0);
    QVERIFY(json["values"]["first_diverging"].isNull());
    QCOMPARE(json["equal"].toBool(), true);
    const QJsonObject changed = jsonOf(*a, *c, request);
    QCOMPARE(changed["values"]["first_diverging"].toString(), QStringLiteral("sum3"));
    QCOMPARE(changed["values"]["changed"][0]["max_abs"].toDouble(), 9.0);  // 0 became 9
    QCOMPARE(changed["equal"].toBool(), false);
}

/// The archives and the ONNX exports of one network give the same values. What they write in other forms (a shape as
/// one tensor or as a number, a loop's results in another order) is no difference; a result of the model would be.
void TestModelDiff::exportsOfOneNetworkHaveEqualValues_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"control_flow", "robust_nested", "gpt_mini", "vit_small"}) QTest::newRow(name) << name;
}

void TestModelDiff::exportsOfOneNetworkHaveEqualValues() {
    QFETCH(const QString, name);
    const QString folder = QStringLiteral(SONDE_TEST_DATA "/models/");
    const auto a = document::open((folder + name + ".onnx").toStdString(), {}),
               b = document::open((folder + name + ".script.pt").toStdString(), {});
    QVERIFY(a && b);
    session::ModelDiffRequest request;
    const auto values = session::readCases(**a, {.spec = (folder + name + ".npz").toStdString()});
    QVERIFY2(values, values ? "" : values.error().text().c_str());
    request.inputs = values->front().values;
    const QJsonObject json = jsonOf(**a, **b, request);
    QVERIFY(json["values"]["compared"].toInt() > 10);
    QVERIFY2(json["values"]["changed"].toArray().isEmpty(),
             QJsonDocument(json["values"].toObject()).toJson().constData());
    // What was not compared is counted.
    if (name == QLatin1String("control_flow")) QVERIFY(json["values"]["other_forms"].toInt() > 0);
}

void TestModelDiff::factsAreListed() {
    Network first, second;
    second.blocks = 7;
    const auto a = open(first.graph()), b = open(second.graph());
    const QJsonObject json = jsonOf(*a, *b);
    QCOMPARE(json["cost"]["parameters"].toObject(), (QJsonObject{{"a", "120"}, {"b", "140"}}));
    QCOMPARE(json["cost"]["macs"].toObject(), (QJsonObject{{"a", "96"}, {"b", "112"}}));
    QCOMPARE(json["metadata"].toObject(), QJsonObject());
    QCOMPARE(json["nodes"]["added"].toArray().size(), 5);
    QCOMPARE(json["parameters"]["added"].toArray(), (QJsonArray{"w6", "b6"}));
    QCOMPARE(json["nodes"]["removed"].toArray().size(), 0);
    // The archive does not say the rank of its input.
    const auto archive = document::open(SONDE_TEST_DATA "/models/shared_twice.trace.pt", {}),
               exported = document::open(SONDE_TEST_DATA "/models/shared_twice.onnx", {});
    QVERIFY(archive && exported);
    const QJsonObject unknown = jsonOf(**archive, **exported);
    QCOMPARE(unknown["cost"]["macs"].toObject(), (QJsonObject{{"a", "not known"}, {"b", "2880"}}));
}

/// A seventh block, and a softmax in place of a ReLU, which takes more FLOPs: only those make the figures differ.
void TestModelDiff::figuresOfTheCostHaveNodes() {
    Network first, second;
    second.blocks = 7;
    second.edit = [](Graph& graph) { nodeOf(graph, "relu1").op = "Softmax"; };
    const auto a = open(first.graph()), b = open(second.graph());
    const auto diff = session::modelDiff(*a, *b);
    QVERIFY(diff);
    const auto names = [](const document::Document& document, const std::vector<graph::NodeId>& nodes) {
        QStringList names;
        for (const graph::NodeId node : nodes) names << QString::fromStdString(document.graph->node(node).name);
        names.sort();
        return names.join(u' ');
    };
    QStringList found;
    for (const session::FactChange& fact : diff->cost)
        found << QString::fromStdString(fact.name) + ": " + names(*a, fact.nodesA) + " | " + names(*b, fact.nodesB);
    QVERIFY2(found.contains("parameters:  | b6 w6"), qPrintable(found.join(u'\n')));
    QVERIFY2(found.contains("macs:  | product6"), qPrintable(found.join(u'\n')));
    QVERIFY2(found.contains("flops: relu1 | block6 product6 relu1 relu6 sum6 tanh6"), qPrintable(found.join(u'\n')));
}

void TestModelDiff::sequences() {
    using session::diff::commonSequence;
    using session::diff::longestIncreasing;
    using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
    QVERIFY(longestIncreasing({}).empty());
    QCOMPARE(longestIncreasing({3, 1, 2, 9, 4}), (std::vector<std::size_t>{1, 2, 4}));
    const std::string a = "abcde", b = "xbycez";
    const auto areEqual = [&](std::size_t i, std::size_t j) { return a[i] == b[j]; };
    QVERIFY(commonSequence(a.size(), b.size(), areEqual) == (Pairs{{1, 1}, {2, 3}, {4, 4}}));
    QVERIFY(commonSequence(0, 4, areEqual).empty());
}

/// What a file does not say is null, what it says with an empty text is empty; an initializer that nothing reads is
/// stored; a difference to zero is infinite; counterparts are listed.
void TestModelDiff::missingIsNotEmpty() {
    const auto bytesOf = [](bool isSecond) {
        std::vector<std::string> initializers{floats("w", {2}, {1, isSecond ? 0.5F : 0.0F})};
        if (isSecond) initializers.push_back(floats("left", {2}, {3, 4}));
        std::string bytes = model({.nodes = {{"Mul", {"x", "w"}, {isSecond ? "z" : "y"}}},
                                   .inputs = {valueInfo("x", kFloat, {1, 2})},
                                   .outputs = {valueInfo(isSecond ? "z" : "y", kFloat, {1, 2})},
                                   .initializers = std::move(initializers)});
        protozero::pbf_writer writer(bytes);
        const auto add = [&writer](const char* key, const char* value) {
            std::string pair;
            protozero::pbf_writer inner(pair);
            inner.add_string(1, key);
            inner.add_string(2, value);
            writer.add_message(14, pair);
        };
        add("note", isSecond ? "" : "text");
        if (!isSecond) add("author", "");
        return bytes;
    };
    QTemporaryDir folder;
    const auto open = [&folder](const char* name, const std::string& bytes) {
        const QString path = folder.filePath(QLatin1String(name));
        if (!write(path, bytes)) qFatal("cannot write");
        return document::open(path.toStdString(), {}).value();
    };
    const QJsonObject json = jsonOf(*open("a.onnx", bytesOf(false)), *open("b.onnx", bytesOf(true)));
    const QJsonObject metadata = json["metadata"].toObject();
    QCOMPARE(metadata["metadata note"].toObject(), (QJsonObject{{"a", "text"}, {"b", ""}}));
    QCOMPARE(metadata["metadata author"].toObject(), (QJsonObject{{"a", ""}, {"b", QJsonValue::Null}}));
    QCOMPARE(json["parameters"]["added"].toArray(), QJsonArray{"left"});
    const QJsonObject changed = json["parameters"]["changed"][0].toObject();
    QCOMPARE(changed["max_abs"].toDouble(), 0.5);
    QCOMPARE(changed["max_rel"].toString(), QStringLiteral("inf"));
    QCOMPARE(json["nodes"]["pairs"].toArray(), (QJsonArray{QJsonArray{"y", "z"}}));
    QCOMPARE(json["matched"].toDouble(), 1.0);
}

QTEST_APPLESS_MAIN(TestModelDiff)

}  // namespace tst_model_diff

#include "tst_model_diff.moc"
