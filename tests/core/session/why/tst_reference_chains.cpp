// Chains along what differs from a reference. Forty generated networks with a finite fault each, a quarter of whose
// nodes the reference does not have: from the element of the output that is farthest off, the chain ends at the fault.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/session/chain_reference.h"
#include "core/session/debug_commands.h"
#include "core/session/model_reference.h"
#include "tests/support/followed_chain.h"
#include "tests/support/linear_network.h"
#include "tests/support/planted_networks.h"

namespace tst_reference_chains {

using namespace sonde;
using namespace sonde::test;

namespace {

constexpr int kNetworks = 40;

std::optional<tensor::Tensor> outputOf(const QString& model, const tensor::Tensor& image) {
    session::Session session;
    if (!session.open(model.toStdString())) return std::nullopt;
    session.runs().giveValues({tensor::Value(image)});
    session.runs().run();
    const auto& recording = session.runs().last().recording;
    if (!recording || recording->outputs.empty()) return std::nullopt;
    return recording->outputs.front().tensor();
}

/// Some networks give the same whatever comes in: their units are never active behind the fault.
bool hasEffect(int index) {
    PlantedNetwork network(index);
    const QTemporaryDir files;
    const QString right = files.filePath("right.onnx"), wrong = files.filePath("wrong.onnx");
    if (!onnxfile::write(right, network.model(false)) || !onnxfile::write(wrong, network.model(true))) return false;
    const auto expected = outputOf(right, network.image()), found = outputOf(wrong, network.given());
    return expected && found && !tensor::identical(tensor::Value(*expected), tensor::Value(*found));
}

/// The networks whose fault makes no NaN, and is so found by comparing only.
std::vector<int> finiteFaults() {
    std::vector<int> indices;
    for (int i = 0; static_cast<int>(indices.size()) < kNetworks; ++i)
        if (PlantedNetwork(i).needsReference() && hasEffect(i)) indices.push_back(i);
    return indices;
}

/// The chain of the output's element that is farthest from the reference's. `reference`: .npz, or a model.
std::optional<FollowedChain> follow(const QString& model, const tensor::Tensor& image, const QString& reference,
                                    const tensor::Tensor& right) {
    const auto farthest = [&](const tensor::Tensor& output) {
        std::int64_t element = 0;
        const auto off = [&](std::int64_t i) { return std::fabs(output.toDouble(i) - right.toDouble(i)); };
        for (std::int64_t i = 1; i < right.numel(); ++i)
            if (off(i) > off(element)) element = i;
        return element;
    };
    return followedChain(model.toStdString(), image, farthest, [&](const auto& view, const auto& place, auto& reader) {
        return session::followChain(view, place, reader, {nullptr, reference.toStdString()}, true);
    });
}

}  // namespace

namespace {

/// s = relu(x · w) + c with c = [10, 20]: of x = [[1, 2], [3, 4]].
struct Linear {
    QTemporaryDir folder;
    session::Session session;
    session::DebugCommands commands{session};

    Linear() {
        const std::string path = folder.filePath("linear.onnx").toStdString();
        writeLinearNetwork(path);
        if (!session.open(path)) return;
        session.runs().giveValues({tensor::Value(tensor::Tensor::of<float>({2, 2}, {1, 2, 3, 4}))});
        (void)commands.answer("run");
    }
    QJsonObject answer(const QString& line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line.toStdString()))).object();
    }
};
QString nodesOf(const QJsonObject& answer) {
    QStringList nodes;
    for (const QJsonValue& hop : answer["chain"].toArray()) nodes << hop["node"].toString();
    return nodes.join(' ');
}

}  // namespace

class TestReferenceChains : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theyEndAtAFiniteFault_data() {
        QTest::addColumn<int>("index");
        for (const int i : finiteFaults()) QTest::addRow("%d, %s", i, nameOf(PlantedNetwork(i).fault())) << i;
    }
    void theyEndAtAFiniteFault() {
        QFETCH(int, index);
        PlantedNetwork network(index);
        QTemporaryDir files;
        const QString right = files.filePath("right.onnx"), wrong = files.filePath("wrong.onnx"),
                      npz = files.filePath("right.npz");
        QVERIFY(onnxfile::write(right, network.model(false)));
        QVERIFY(onnxfile::write(wrong, network.model(true)));
        session::Session session;
        QVERIFY(session.open(right.toStdString()));
        const auto values = network.reference(session);
        QVERIFY(!values.empty() && values.back().first == "out.y");
        QVERIFY(io::writeNpz(npz.toStdString(), values));
        const auto found = follow(wrong, network.given(), npz, values.back().second);
        QVERIFY(found);
        QVERIFY2(found->chain.isOrigin && found->nodes.back() == network.faultyNode(),
                 (network.faultyNode() + " is not the end of " + found->text()).c_str());
        QCOMPARE(found->chain.references.size(), found->nodes.size());
        QVERIFY(found->chain.references.back());
        // The right model instead of its values: it has the weights too, and so the one that is another there.
        if (network.isInInput()) return;
        const auto beside = follow(wrong, network.given(), right, values.back().second);
        QVERIFY(beside && beside->nodes.size() > 1);
        const bool isAtWeight = beside->nodes.back() != network.faultyNode();
        QVERIFY2(beside->chain.isOrigin && beside->nodes.end()[isAtWeight ? -2 : -1] == network.faultyNode(),
                 (network.faultyNode() + " is not the end of " + beside->text()).c_str());
        QVERIFY2(!isAtWeight || beside->chain.end.starts_with("a weight"), beside->text().c_str());
    }

    /// Of a run with edits the run without them is the reference.
    void anEditIsTheOrigin_data() {
        QTest::addColumn<QString>("edit");
        QTest::addColumn<QString>("element");
        QTest::addColumn<QString>("nodes");
        QTest::newRow("value") << "set y[1, 0] = 9"
                               << "s[1, 0]"
                               << "s z y";
        QTest::newRow("weight") << "set w[0, 1] = 5"
                                << "s[0, 1]"
                                << "s z y w";
        QTest::newRow("input") << "set x[0, 1] = 3"
                               << "s[0, 1]"
                               << "s z y x";
    }
    void anEditIsTheOrigin() {
        QFETCH(QString, edit);
        QFETCH(QString, element);
        QFETCH(QString, nodes);
        Linear linear;
        QVERIFY(!linear.answer(edit).contains("error"));
        const QJsonObject answer = linear.answer("chain " + element);
        QVERIFY2(!answer.contains("error"), qPrintable(answer["error"].toString()));
        QCOMPARE(nodesOf(answer), nodes);
        QCOMPARE(answer["origin"].toString(), nodes.section(' ', -1));
        QCOMPARE(answer["chain"][0]["reference"].isDouble(), true);
        QVERIFY(answer["chain"][0]["reference"] != answer["chain"][0]["value"]);
        // Without a reference as before, to the input.
        QCOMPARE(nodesOf(linear.answer("chain " + element + " against none")), QString("s z y x"));
    }
    /// Another model of the same network on the same inputs; named, or after a comparison with it.
    void anotherModelIsAReference() {
        Linear linear;
        const QString other = linear.folder.filePath("other.onnx");
        writeLinearNetwork(other.toStdString(), {1, 5, 0, 1});
        for (const bool isCompared : {false, true}) {
            if (isCompared) QVERIFY(!linear.answer("compare " + other).contains("error"));
            const QJsonObject answer = linear.answer("chain s[0, 1]" + (isCompared ? QString() : " against " + other));
            QVERIFY2(!answer.contains("error"), qPrintable(answer["error"].toString()));
            QCOMPARE(nodesOf(answer), QString("s z y w"));
            QCOMPARE(answer["origin"].toString(), QString("w"));
            QCOMPARE(answer["chain"][0]["reference"].toDouble(), 1 * 5 + 2 * 1 + 20.0);
            QCOMPARE(answer["chain"][3]["reference"].toDouble(), 5.0);
        }
        const QJsonObject same = linear.answer("chain s[0, 0] against " + other);
        QVERIFY2(same["error"].toString().contains("does not differ"), qPrintable(same["error"].toString()));
        QVERIFY(linear.answer("chain s[0, 1] against none.onnx").contains("error"));
    }
    /// The other model is run once for all questions about the same inputs; of other inputs, or when its file is
    /// another one, again.
    void anotherModelIsRunOnce() {
        Linear linear;
        const QString other = linear.folder.filePath("other.onnx");
        writeLinearNetwork(other.toStdString(), {1, 5, 0, 1});
        const auto& cache = session::ModelReferenceCache::shared();
        cache->clear();
        const auto ask = [&] {
            return linear.answer("chain s[0, 1] against " + other)["chain"][0]["reference"].toDouble();
        };
        QCOMPARE(ask(), 27.0);
        const auto first = cache->take();
        QVERIFY(first && first->run);
        cache->give(first);
        QCOMPARE(ask(), 27.0);
        const auto second = cache->take();
        QVERIFY(second == first);
        // In use by somebody else: it is run for this question, too.
        QCOMPARE(ask(), 27.0);
        QVERIFY(!linear.answer("set x[0, 0] = 2").contains("error"));
        QCOMPARE(ask(), 32.0);
        writeLinearNetwork(other.toStdString(), {1, 6, 0, 1});
        QCOMPARE(ask(), 34.0);
    }

    /// y = If(z < sum(x)) x + x else x · x, for a z of 100 or, edited, of 0: what tells the branch is followed.
    void anotherBranchComesOfItsCondition() {
        namespace onnx = onnxfile;
        onnx::Graph taken, other, graph;
        taken.nodes = {{"Add", {"x", "x"}, {"twice"}}};
        taken.outputs = {onnx::valueInfo("twice", 1, {2})};
        other.nodes = {{"Mul", {"x", "x"}, {"square"}}};
        other.outputs = {onnx::valueInfo("square", 1, {2})};
        graph.nodes = {
            {"ReduceSum", {"x"}, {"sum"}, "", "", {onnx::intAttribute("keepdims", 0)}},
            {"Mul", {"h", "k"}, {"z"}},
            {"Less", {"z", "sum"}, {"c"}},
            {"If",
             {"c"},
             {"y"},
             "",
             "",
             {onnx::graphAttribute("then_branch", taken.bytes()), onnx::graphAttribute("else_branch", other.bytes())}}};
        graph.inputs = {onnx::valueInfo("x", 1, {2}), onnx::valueInfo("h", 1, {})};
        graph.outputs = {onnx::valueInfo("y", 1, {2})};
        const float ten = 10;
        graph.initializers = {onnx::rawTensor("k", 1, {}, std::string(reinterpret_cast<const char*>(&ten), 4))};
        const QTemporaryDir folder;
        const QString path = folder.filePath("branch.onnx");
        QVERIFY(onnx::write(path, onnx::model(graph)));
        session::Session session;
        QVERIFY(session.open(path.toStdString()));
        session.runs().giveValues({tensor::Tensor::of<float>({2}, {3, 4}), tensor::Tensor::scalar<float>(10)});
        session::DebugCommands commands{session};
        const auto answer = [&](const char* line) {
            return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
        };
        QVERIFY(!answer("run").contains("error"));
        QVERIFY(!answer("set z = 0").contains("error"));
        const QJsonObject chain = answer("chain y[0]");
        QCOMPARE(nodesOf(chain), QString("y c z"));
        QCOMPARE(chain["end"].toString(), QString("an edit makes the difference"));
        QCOMPARE(chain["origin"].toString(), QString("z"));
    }

    /// An element that does not differ is followed along its largest terms, unless a reference was named.
    void withoutADifferenceTheLargestTermsCount() {
        Linear linear;
        QVERIFY(linear.answer("chain s[0, 0] against baseline")["error"].toString().contains("no baseline"));
        QVERIFY(!linear.answer("set y[1, 0] = 9").contains("error"));
        const QJsonObject answer = linear.answer("chain s[0, 0]");
        QCOMPARE(nodesOf(answer), QString("s z y x"));
        QVERIFY(answer["origin"].isNull());
        const QJsonObject refused = linear.answer("chain s[0, 0] against baseline");
        QVERIFY2(refused["error"].toString().contains("does not differ"), qPrintable(refused["error"].toString()));
        QCOMPARE(linear.answer("chain s[0, 0] against none.npz")["error"].toString(), QString("no such file"));
        QVERIFY(linear.answer("chain s[0, 0] along baseline").contains("error"));
    }
};

QTEST_GUILESS_MAIN(TestReferenceChains)

}  // namespace tst_reference_chains

#include "tst_reference_chains.moc"
