// Where values depart from a reference: origins, what is inherited, stretches without reference values, operations that
// are computed again on the reference's own inputs, and contradictions of shapes.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

#include "core/io/npz/npz.h"
#include "core/session/problem_search.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_divergence {

using namespace sonde;
using namespace sonde::test;
using analysis::Problem;
using analysis::ProblemKind;
using analysis::ProblemRole;
using tensor::Tensor;

namespace {

Tensor row(std::vector<float> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return Tensor::of<float>({count}, values);
}

/// a = |x|; b = √a; c = exp b; d = c · b; y = −d.
std::string chain() {
    onnxfile::Graph graph;
    graph.nodes = {{"Abs", {"x"}, {"a"}},
                   {"Sqrt", {"a"}, {"b"}},
                   {"Exp", {"b"}, {"c"}},
                   {"Mul", {"c", "b"}, {"d"}},
                   {"Neg", {"d"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
    return onnxfile::model(graph);
}

const float kE = std::exp(1.0F), kE2 = std::exp(2.0F);

}  // namespace

class TestDivergence : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theFirstOtherOutputIsTheOrigin();
    void aSecondFaultIsFoundBehindTheFirst();
    void aStretchIsNamed();
    void whatIsAmplifiedIsTold();
    void everyCaseIsCompared();
    void theGivenInputIsTheOrigin();
    void aShapeThatContradictsIsTold();
    void aLoopIsNoOriginOfWhatIsMadeInside();

  private:
    /// On x = (1, −4): a = (1, 4), b = (1, 2), c = (e, e²), d = (e, 2e²).
    std::vector<Problem> problems(std::vector<io::NamedTensor> arrays, const std::vector<float>& given = {},
                                  const std::string& model = chain()) {
        const QString file = m_files.filePath(QStringLiteral("chain.onnx"));
        if (!onnxfile::write(file, model)) return {};
        if (!m_session.open(file.toStdString())) return {};
        session::ProblemSearch search;
        if (!arrays.empty()) {
            arrays.insert(arrays.begin(), {"in.x", row({1, -4})});
            search.reference = m_files.filePath(QStringLiteral("reference.npz")).toStdString();
            if (!io::writeNpz(search.reference, arrays)) return {};
        }
        if (!given.empty()) search.cases = {{"given", {tensor::Value(row(given))}}};
        auto report = session::findAllProblems(m_session, search);
        if (!report) return {};
        m_text = QString::fromStdString(report->text());
        return report->problems;
    }
    std::string name(const Problem& problem) { return m_session.document()->graph->node(problem.node).name; }

    QTemporaryDir m_files;
    session::Session m_session;
    QString m_text;
};

/// The reference's c is (e, 8): exp is not what made it.
void TestDivergence::theFirstOtherOutputIsTheOrigin() {
    const auto found = problems({{"node.a", row({1, 4})},
                                 {"node.b", row({1, 2})},
                                 {"node.c", row({kE, 8})},
                                 {"node.d", row({kE, 16})},
                                 {"out.y", row({-kE, -16})}});
    QVERIFY2(found.size() == 3, qPrintable(m_text));
    QCOMPARE(name(found[0]), std::string("c"));
    QCOMPARE(found[0].role, ProblemRole::Origin);
    QCOMPARE(found[0].kind, ProblemKind::Divergence);
    QVERIFY(found[0].message.starts_with(
        "same inputs, other output: differs from the reference by up to 0.611, while b agrees"));
    for (const std::size_t i : {1, 2}) {
        QCOMPARE(found[i].role, ProblemRole::Carrier);
        QCOMPARE(found[i].severity, base::Severity::Info);
    }
    QVERIFY2(found[1].message.ends_with("inherited from c"), found[1].message.c_str());
}

/// d is 3·c·b in the reference: from its own c and b our product is another one as well.
void TestDivergence::aSecondFaultIsFoundBehindTheFirst() {
    const auto found = problems({{"node.b", row({1, 2})},
                                 {"node.c", row({kE, 8})},
                                 {"node.d", row({3 * kE, 48})},
                                 {"out.y", row({-3 * kE, -48})}});
    QVERIFY2(found.size() == 3, qPrintable(m_text));
    QCOMPARE(name(found[0]), std::string("c"));
    QCOMPARE(name(found[1]), std::string("d"));
    QCOMPARE(found[1].role, ProblemRole::Origin);
    QVERIFY2(found[1].message.find("reference = 3 * x") == std::string::npos, "two elements tell no scale");
    QVERIFY2(found[1].message.find("from the reference's own inputs") != std::string::npos, found[1].message.c_str());
    QCOMPARE(found[2].role, ProblemRole::Carrier);
}

void TestDivergence::aStretchIsNamed() {
    const auto found = problems({{"node.a", row({1, 4})}, {"node.d", row({kE, 99})}});
    QVERIFY2(found.size() == 1, qPrintable(m_text));
    QCOMPARE(name(found[0]), std::string("d"));
    QVERIFY2(found[0].message.find("one of 3 operations is the origin, between a (agrees) and this node: b, c, d") !=
                 std::string::npos,
             found[0].message.c_str());
}

/// The reference's b is off by less than the tolerance, and its c is that of its own b. Nothing else is to blame for
/// what `sonde check` fails.
void TestDivergence::whatIsAmplifiedIsTold() {
    const float x = 1e4F;  // √x = 100, exp(100·1.00005 − 90) …
    onnxfile::Graph graph;
    graph.nodes = {{"Sqrt", {"x"}, {"b"}}, {"Mul", {"b", "b"}, {"s"}}, {"Sub", {"s", "x"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
    const QString file = m_files.filePath(QStringLiteral("difference.onnx"));
    QVERIFY(onnxfile::write(file, onnxfile::model(graph)));
    QVERIFY(m_session.open(file.toStdString()));
    // 100.005² = 10001.00…: y = 1, and 0 from 100.
    const float b = 100.005F, s = b * b;
    session::ProblemSearch search{{}, m_files.filePath(QStringLiteral("near.npz")).toStdString()};
    const std::vector<io::NamedTensor> arrays{
        {"in.x", row({x, x})}, {"node.b", row({b, b})}, {"node.s", row({s, s})}, {"out.y", row({s - x, s - x})}};
    QVERIFY(io::writeNpz(search.reference, arrays));
    analysis::Tolerances tolerances;
    tolerances.float32 = 2e-4;
    m_session.comparison().setTolerances(tolerances);
    const auto report = session::findAllProblems(m_session, search);
    m_session.comparison().setTolerances({});
    QVERIFY(report);
    QCOMPARE(report->problems.size(), std::size_t{1});
    QCOMPARE(report->problems[0].severity, base::Severity::Error);
    QVERIFY2(report->problems[0].message.find("are amplified here") != std::string::npos,
             report->problems[0].message.c_str());
    QCOMPARE(report->errorCount(), std::size_t{1});
}

void TestDivergence::everyCaseIsCompared() {
    const auto found = problems({{"node.b", row({1, 2})},
                                 {"case1.in.x", row({4, 9})},
                                 {"case1.node.b", row({2, 5})},
                                 {"case2.in.x", row({9, 1})},
                                 {"case2.node.b", row({7, 1})},
                                 {"case3.in.x", row({1, 2, 3})},
                                 {"case3.node.b", row({1, 2, 3})}});
    QVERIFY2(found.size() == 2, qPrintable(m_text));
    QVERIFY(!found[0].node.valid() || !found[1].node.valid());  // case3 does not fit [2]
    const Problem& unfit = found[0].node.valid() ? found[1] : found[0];
    const Problem& other = found[0].node.valid() ? found[0] : found[1];
    QCOMPARE(unfit.kind, ProblemKind::Shape);
    QVERIFY(unfit.message.starts_with("case3 of the reference does not fit the model"));
    QCOMPARE(name(other), std::string("b"));
    QVERIFY2(other.message.ends_with("(in case1, case2)"), other.message.c_str());
}

/// x is 10 times that of the reference; nothing else is wrong.
void TestDivergence::theGivenInputIsTheOrigin() {
    const auto found = problems({{"node.a", row({1, 4})}, {"node.b", row({1, 2})}}, {10, -40});
    QVERIFY2(found.size() == 3, qPrintable(m_text));
    QCOMPARE(name(found[0]), std::string("x"));
    QCOMPARE(found[0].role, ProblemRole::Origin);
    QCOMPARE(found[0].severity, base::Severity::Error);
    QCOMPARE(found[1].role, ProblemRole::Carrier);
    QVERIFY2(found[1].message.ends_with("inherited from x"), found[1].message.c_str());
}

/// The file says that y is [3]; it is [2].
void TestDivergence::aShapeThatContradictsIsTold() {
    onnxfile::Graph graph;
    graph.nodes = {{"Abs", {"x"}, {"a"}}, {"Sqrt", {"a"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {3})};
    const auto found = problems({}, {1, 4}, onnxfile::model(graph));
    QVERIFY2(found.size() == 1, qPrintable(m_text));
    QCOMPARE(name(found[0]), std::string("y"));
    QCOMPARE(found[0].kind, ProblemKind::Shape);
    QCOMPARE(found[0].severity, base::Severity::Warning);
    QVERIFY2(found[0].message.find("dimension 0 is 2 instead of 3") != std::string::npos, found[0].message.c_str());
}

/// s = 2 s + 1, twice; the reference has 2 s − 1: its second product is another one because s is.
void TestDivergence::aLoopIsNoOriginOfWhatIsMadeInside() {
    constexpr int kFloat = 1, kInt64 = 7, kBool = 9;
    onnxfile::Graph body;
    body.nodes = {
        {"Mul", {"s", "two"}, {"product"}}, {"Add", {"product", "one"}, {"next"}}, {"Identity", {"c"}, {"on"}}};
    body.inputs = {onnxfile::valueInfo("i", kInt64, {}), onnxfile::valueInfo("c", kBool, {}),
                   onnxfile::valueInfo("s", kFloat, {2})};
    body.outputs = {onnxfile::valueInfo("on", kBool, {}), onnxfile::valueInfo("next", kFloat, {2})};
    onnxfile::Graph graph;
    graph.nodes = {{"Loop", {"count", "", "x"}, {"y"}, "", "", {onnxfile::graphAttribute("body", body.bytes())}}};
    graph.inputs = {onnxfile::valueInfo("x", kFloat, {2})};
    graph.outputs = {onnxfile::valueInfo("y", kFloat, {2})};
    graph.initializers = {onnxfile::rawTensor("two", kFloat, {1}, floatBytes({2})),
                          onnxfile::rawTensor("one", kFloat, {1}, floatBytes({1})),
                          onnxfile::rawTensor("count", kInt64, {}, std::string("\2\0\0\0\0\0\0\0", 8))};
    const auto found = problems({{"node.product.pass0", row({2, -8})},
                                 {"node.product.pass1", row({2, -18})},
                                 {"node.next.pass0", row({1, -9})},
                                 {"node.next.pass1", row({1, -19})},
                                 {"out.y", row({1, -19})}},
                                {}, onnxfile::model(graph));
    QVERIFY2(found.size() == 3, qPrintable(m_text));
    QCOMPARE(name(found[0]), std::string("next"));
    QCOMPARE(found[0].role, ProblemRole::Origin);
    for (const Problem& problem : {found[1], found[2]}) QCOMPARE(problem.role, ProblemRole::Carrier);
    const Problem& loop = name(found[1]) == "y" ? found[1] : found[2];
    QVERIFY2(loop.message.ends_with("made inside of it by next"), loop.message.c_str());
}

QTEST_GUILESS_MAIN(TestDivergence)

}  // namespace tst_divergence

#include "tst_divergence.moc"
