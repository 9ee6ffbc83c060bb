// Parallel branches that do the same, in another order in the second file: which is which is said by modules, then by
// weights, and by position only where nothing else differs.

#include <QtTest>

#include "core/session/diff/model_diff.h"
#include "core/session/diff/node_pairs.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/written_models.h"

namespace tst_parallel_branches {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::ModelDiff;

namespace {

constexpr int kFloat = 1;

/// x·w, a relu and a tanh for each branch, "a" to "c": all in a concatenation, in the order of `order`.
struct Branches {
    std::string order = "abc";
    std::string prefix;            ///< of all names
    std::string modules = "abc";   ///< of which the names of the branches are in the file; "": none
    bool areWeightsNamed = false;  ///< "a.weight" in place of numbers
    std::string weights = "abc";   ///< whose the elements of a, b and c are
    float added = 0;               ///< to all elements, and as many times more as the row: trained further
    bool isLongerBehind = false;   ///< an operation more behind the concatenation
    std::string longer = {};       ///< a branch with one operation more

    std::string bytes() const {
        std::vector<Node> nodes;
        std::vector<std::string> stored, results;
        int number = 0;
        for (const char branch : order) {
            const std::string own(1, branch);
            const auto of = [&](const char* op) {
                return modules.find(branch) == std::string::npos ? std::string() : "/" + own + "/" + op;
            };
            const std::string w = areWeightsNamed ? own + ".weight" : prefix + "w" + std::to_string(number++);
            std::vector<float> elements(16);
            for (std::size_t i = 0; i < elements.size(); ++i)
                elements[i] = static_cast<float>(i % 5) +
                              static_cast<float>(weights[static_cast<std::size_t>(branch - 'a')]) +
                              added * static_cast<float>(i / 4 + 1);
            stored.push_back(rawTensor(w, kFloat, {4, 4}, test::floatBytes(elements)));
            const std::string m = prefix + own + "_m", r = prefix + own + "_r", t = prefix + own + "_t";
            // The activations are in no module: only what they are between tells whose they are.
            nodes.push_back({"MatMul", {"x", w}, {m}, of("MatMul")});
            nodes.push_back({"Relu", {m}, {r}});
            nodes.push_back({"Tanh", {r}, {t}});
            results.push_back(t);
            if (longer == own) {
                nodes.push_back({"Sigmoid", {t}, {t + "s"}});
                results.back() = t + "s";
            }
        }
        nodes.push_back({"Concat", results, {isLongerBehind ? "c" : "y"}, "", "", {intAttribute("axis", 1)}});
        if (isLongerBehind) nodes.push_back({"Softmax", {"c"}, {"y"}, "", "", {intAttribute("axis", 1)}});
        return model(Graph{.nodes = nodes,
                           .inputs = {valueInfo("x", kFloat, {1, 4})},
                           .outputs = {valueInfo("y", kFloat, {1, 4 * static_cast<std::int64_t>(order.size())})},
                           .initializers = stored});
    }
};

}  // namespace

class TestParallelBranches : public QObject {
    Q_OBJECT

  private slots:
    void areFoundInAnotherOrder_data();
    void areFoundInAnotherOrder();
    void modulesComeBeforeWeights();
    void positionDecidesWhereNothingElseDiffers();
    void layersOfAChainGoByTheirModules();
    void namesOfShiftedLayersAreNotTrusted();
    void resultsInAnotherOrderAreFound();

  private:
    /// "a_r=q_r …" of the second model's names without the prefix "q".
    QString pairsOf(const std::string& first, const std::string& second) {
        m_first = m_models.open(first);
        m_second = m_models.open(second);
        const auto diff = session::modelDiff(*m_first, *m_second);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        m_diff = *diff;
        const auto pairs = session::nodePairs(*m_first->graph, *m_second->graph, m_diff.pairs, m_diff.parameters);
        QStringList texts;
        for (const graph::ExprId id : m_first->graph->recursiveOrder(m_first->graph->mainId())) {
            if (!session::isDiffOperation(m_first->graph->expr(id))) continue;
            const graph::NodeId node = m_first->graph->expr(id).outputs.front(), other = pairs.ofFirst[node.index()];
            texts << QString::fromStdString(m_first->graph->node(node).name + '=' +
                                            (other.valid() ? m_second->graph->node(other).name : std::string()));
        }
        return texts.join(u' ');
    }

    test::WrittenModels m_models;
    std::shared_ptr<const document::Document> m_first, m_second;
    ModelDiff m_diff;
};

void TestParallelBranches::areFoundInAnotherOrder_data() {
    QTest::addColumn<Branches>("first");
    QTest::addColumn<Branches>("second");
    QTest::addColumn<int>("otherWeights");
    const Branches named, nameless{.modules = ""}, weightsNamed{.modules = "", .areWeightsNamed = true};
    const auto turned = [](Branches branches) {
        branches.order = "cab";
        branches.prefix = "q";
        return branches;
    };
    const auto trained = [](Branches branches) {
        branches.added = 0.25F;
        return branches;
    };
    QTest::newRow("by modules and weights") << named << turned(named) << 0;
    QTest::newRow("by modules, trained further") << named << trained(turned(named)) << 3;
    QTest::newRow("by weights") << nameless << turned(nameless) << 0;
    QTest::newRow("by names of weights, trained further") << weightsNamed << trained(turned(weightsNamed)) << 3;
    QTest::newRow("modules renamed in one file") << named << turned(nameless) << 0;
    // What is behind is another, so that no branch is at the place that it was at.
    Branches longer = turned(nameless);
    longer.isLongerBehind = true;
    QTest::newRow("by weights, with a layer more behind") << nameless << longer << 0;
    longer = trained(turned(named));
    longer.isLongerBehind = true;
    QTest::newRow("by modules, trained further, with a layer more behind") << named << longer << 3;
    Branches one = nameless, other = turned(nameless);
    one.longer = other.longer = "b";
    QTest::newRow("branches of other lengths") << one << other << 0;
}

void TestParallelBranches::areFoundInAnotherOrder() {
    QFETCH(const Branches, first);
    QFETCH(const Branches, second);
    QFETCH(const int, otherWeights);
    QString expected;
    for (const char branch : std::string("abc")) {
        for (const char* what : {"_m", "_r", "_t"})
            expected += QStringLiteral("%1%2=q%1%2 ").arg(QLatin1Char(branch)).arg(QLatin1String(what));
        if (first.longer == std::string(1, branch))
            expected += QStringLiteral("%1_ts=q%1_ts ").arg(QLatin1Char(branch));
    }
    expected += second.isLongerBehind ? QStringLiteral("y=c") : QStringLiteral("y=y");
    QCOMPARE(pairsOf(first.bytes(), second.bytes()), expected);
    QCOMPARE(static_cast<int>(m_diff.parameters.changed.size()), otherWeights);
    QVERIFY(m_diff.structure.removed.empty() && m_diff.structure.moved.empty());
    // The concatenation has its inputs in another order, and that is all.
    QCOMPARE(m_diff.structure.changed.size(), std::size_t{1});
    QCOMPARE(m_first->graph->node(m_diff.structure.changed.front().a).name, std::string("y"));
}

/// The elements of a and b were exchanged: the modules are still theirs, and their weights are others.
void TestParallelBranches::modulesComeBeforeWeights() {
    Branches second{.prefix = "q"};
    second.weights = "bac";
    QCOMPARE(pairsOf(Branches().bytes(), second.bytes()),
             QStringLiteral("a_m=qa_m a_r=qa_r a_t=qa_t b_m=qb_m b_r=qb_r b_t=qb_t c_m=qc_m c_r=qc_r c_t=qc_t y=y"));
    QCOMPARE(m_diff.parameters.changed.size(), std::size_t{2});
    QVERIFY(m_diff.structure.isEqual());
}

void TestParallelBranches::positionDecidesWhereNothingElseDiffers() {
    const Branches same{.modules = "", .weights = "aaa"};
    Branches turned = same;
    turned.order = "cab";
    turned.prefix = "q";
    QCOMPARE(pairsOf(same.bytes(), turned.bytes()),
             QStringLiteral("a_m=qc_m a_r=qc_r a_t=qc_t b_m=qa_m b_r=qa_r b_t=qa_t c_m=qb_m c_r=qb_r c_t=qb_t y=y"));
    QVERIFY(m_diff.isEqual());
}

namespace chain {

/// Products by matrices filled with the numbers, each in the module of its name.
std::string bytes(const std::vector<std::pair<std::string, float>>& layers) {
    std::vector<Node> nodes;
    std::vector<std::string> stored;
    std::string last = "x";
    for (const auto& [module, number] : layers) {
        const std::string made = nodes.size() + 1 == layers.size() ? "y" : "m" + std::to_string(nodes.size());
        std::vector<float> elements(16, number);
        elements[5] = 1;
        nodes.push_back({"MatMul", {last, made + "w"}, {made}, "/" + module + "/MatMul"});
        stored.push_back(rawTensor(made + "w", kFloat, {4, 4}, test::floatBytes(elements)));
        last = made;
    }
    return model(Graph{.nodes = nodes,
                       .inputs = {valueInfo("x", kFloat, {1, 4})},
                       .outputs = {valueInfo("y", kFloat, {1, 4})},
                       .initializers = stored});
}

}  // namespace chain

/// Two layers have changed places, and were trained further.
void TestParallelBranches::layersOfAChainGoByTheirModules() {
    QCOMPARE(pairsOf(chain::bytes({{"p", 2}, {"q", 3}, {"r", 4}}), chain::bytes({{"q", 5}, {"p", 6}, {"r", 7}})),
             QStringLiteral("m0=m1 m1=m0 y=y"));
}

/// A layer was put in front: what is 1 now was 0, and its weights say so.
void TestParallelBranches::namesOfShiftedLayersAreNotTrusted() {
    QCOMPARE(
        pairsOf(chain::bytes({{"0", 2}, {"1", 3}, {"2", 4}}), chain::bytes({{"0", 9}, {"1", 2}, {"2", 3}, {"3", 4}})),
        QStringLiteral("m0=m1 m1=m2 y=y"));
    QCOMPARE(m_diff.structure.added.size(), std::size_t{1});
}

/// Two heads, of which the second file gives the other one first.
void TestParallelBranches::resultsInAnotherOrderAreFound() {
    const auto heads = [](const std::string& order) {
        std::vector<Node> nodes{{"Relu", {"x"}, {"r"}}};
        std::vector<std::string> stored, results;
        for (const char head : order) {
            const std::string made = order + head, w = made + "w";
            std::vector<float> elements(16, 1);
            elements[0] = static_cast<float>(head);
            nodes.push_back({"MatMul", {"r", w}, {made}});
            stored.push_back(rawTensor(w, kFloat, {4, 4}, test::floatBytes(elements)));
            results.push_back(valueInfo(made, kFloat, {1, 4}));
        }
        return model(Graph{nodes, {valueInfo("x", kFloat, {1, 4})}, results, stored});
    };
    QCOMPARE(pairsOf(heads("ab"), heads("ba")), QStringLiteral("r=r aba=baa abb=bab"));
    QVERIFY(m_diff.parameters.isEqual());
}

QTEST_APPLESS_MAIN(TestParallelBranches)

}  // namespace tst_parallel_branches

#include "tst_parallel_branches.moc"
