// What was said by hand of two models counts, is stored with names, and the rows for lists hold all that the JSON has.

#include <QtTest>

#include "core/document/document.h"
#include "core/session/diff/difference_rows.h"
#include "core/session/diff/node_pairs.h"
#include "core/session/diff/stored_pairs.h"
#include "core/session/session_state.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/written_models.h"

namespace tst_pairs_by_hand {

using namespace sonde;
using namespace sonde::test::onnxfile;
using graph::NodeId;
using session::DifferenceRow;

namespace {

/// p = relu(x), q = relu(x·w), y = p + q; in the second form the operator of q is another one.
std::string network(const std::string& op, const std::string& p, const std::string& q, float weight = 3) {
    return model(Graph{{{"Relu", {"x"}, {p}}, {"Mul", {"x", "w"}, {"m"}}, {op, {"m"}, {q}}, {"Add", {p, q}, {"y"}}},
                       {valueInfo("x", 1, {1, 2})},
                       {valueInfo("y", 1, {1, 2})},
                       {rawTensor("w", 1, {1, 2}, test::floatBytes({2, weight}))}});
}

}  // namespace

class TestPairsByHand : public QObject {
    Q_OBJECT

  private slots:
    void pairsCount();
    void whatIsApartStaysApart();
    void whatIsApartIsListedBetweenFormats();
    void pairsAreStored();
    void rowsHoldAll();

  private:
    std::shared_ptr<const document::Document> open(const std::string& bytes) { return m_models.open(bytes); }
    static NodeId node(const document::Document& document, const char* name) {
        const auto found = document.findNode(name);
        if (!found) qFatal("no node %s", name);
        return *found;
    }
    static session::NodePairs paired(const document::Document& a, const document::Document& b,
                                     const session::PairsByHand& byHand) {
        session::ModelDiffRequest request;
        request.byHand = byHand;
        const auto diff = session::modelDiff(a, b, request);
        if (!diff) qFatal("%s", diff.error().text().c_str());
        return session::nodePairs(*a.graph, *b.graph, diff->pairs, diff->parameters);
    }

    test::WrittenModels m_models;
};

/// Both relus are turned round by hand, though everything else says otherwise; the rest follows from the rules.
void TestPairsByHand::pairsCount() {
    const auto a = open(network("Relu", "p", "q")), b = open(network("Relu", "p2", "q2"));
    const NodeId p = node(*a, "p"), q = node(*a, "q"), p2 = node(*b, "p2"), q2 = node(*b, "q2");
    const auto plain = paired(*a, *b, {});
    QCOMPARE(plain.ofFirst[p.index()], p2);
    QCOMPARE(plain.ofFirst[q.index()], q2);
    QCOMPARE(plain.ofFirst[node(*a, "x").index()], node(*b, "x"));
    QCOMPARE(plain.ofFirst[node(*a, "w").index()], node(*b, "w"));
    const auto turned = paired(*a, *b, {{{p, q2}}, {}});
    QCOMPARE(turned.ofFirst[p.index()], q2);
    QCOMPARE(turned.ofSecond[q2.index()], p);
    QCOMPARE(turned.ofFirst[node(*a, "y").index()], node(*b, "y"));
    // What was said later counts.
    QCOMPARE(paired(*a, *b, {{{p, q2}, {p, p2}}, {}}).ofFirst[p.index()], p2);
    // A value that no operation makes has none.
    QCOMPARE(paired(*a, *b, {{{node(*a, "x"), q2}}, {}}).ofSecond[q2.index()], q);
}

void TestPairsByHand::whatIsApartStaysApart() {
    const auto a = open(network("Relu", "p", "q")), b = open(network("Sigmoid", "p2", "q2"));
    const NodeId q = node(*a, "q"), q2 = node(*b, "q2");
    QCOMPARE(paired(*a, *b, {}).ofFirst[q.index()], q2);  // another operator between the same neighbours
    session::ModelDiffRequest request;
    request.byHand.apart = {{q, q2}};
    const auto diff = session::modelDiff(*a, *b, request);
    QVERIFY(diff);
    QCOMPARE(diff->structure.removed, std::vector{q});
    QCOMPARE(diff->structure.added, std::vector{q2});
    QVERIFY(diff->structure.changed.empty());
}

/// Also where the rest of their module has counterparts.
void TestPairsByHand::whatIsApartIsListedBetweenFormats() {
    const auto a = document::open(SONDE_TEST_DATA "/models/vit_small.onnx", {}),
               b = document::open(SONDE_TEST_DATA "/models/vit_small.trace.pt", {});
    QVERIFY(a && b);
    const NodeId ours = node(**a, "/encoder/Add_output_0"), theirs = node(**b, "add");
    QCOMPARE(paired(**a, **b, {}).ofFirst[ours.index()], theirs);
    session::ModelDiffRequest request;
    request.byHand.apart = {{ours, theirs}};
    const auto diff = session::modelDiff(**a, **b, request);
    QVERIFY(diff);
    QCOMPARE(diff->structure.removed, std::vector{ours});
    QVERIFY(std::ranges::count(diff->structure.added, theirs) == 1);
}

void TestPairsByHand::pairsAreStored() {
    const auto a = open(network("Relu", "p", "q")), b = open(network("Relu", "p2", "q2"));
    io::SessionFile file;
    file.model.path = "m0.onnx";
    file.compared.model = "other/m1.onnx";
    file.compared.pairs = {session::storedPair(*a->graph, *b->graph, {node(*a, "p"), node(*b, "q2")}, false),
                           session::storedPair(*a->graph, *b->graph, {node(*a, "q"), node(*b, "q2")}, true)};
    const auto read = io::parseSession(io::sessionText(file));
    QVERIFY2(read, read ? "" : read.error().text().c_str());
    QVERIFY(read->compared == file.compared);
    QCOMPARE(read->compared.pairs[0].a.name, std::string("p"));
    std::vector<std::string> lost;
    const auto byHand = session::pairsByHand(read->compared.pairs, *a->graph, *b->graph, lost);
    QVERIFY(byHand == (session::PairsByHand{{{node(*a, "p"), node(*b, "q2")}}, {{node(*a, "q"), node(*b, "q2")}}}));
    QVERIFY(lost.empty());
    // In another model there is no such node, which is told.
    (void)session::pairsByHand(read->compared.pairs, *a->graph, *open(network("Exp", "r", "s"))->graph, lost);
    QCOMPARE(lost.size(), std::size_t{2});
    QVERIFY(lost[0].find("'q2'") != std::string::npos);
    // Hostile files.
    for (const char* bad : {R"({"model": 3, "pairs": []})", R"({"pairs": []})",
                            R"({"model": "m", "pairs": [{"a": 1}]})", R"({"model": "m", "pairs": [], "more": 1})"}) {
        const std::string text = R"({"format": "sonde-session", "version": 1, "model": {"path": "m"}, )"
                                 R"("comparison": {"side_by_side": )" +
                                 std::string(bad) + "}}";
        QVERIFY2(!io::parseSession(text), bad);
    }
}

void TestPairsByHand::rowsHoldAll() {
    const auto a = open(network("Relu", "p", "q")), b = open(network("Sigmoid", "p2", "q2", 7));
    session::ModelDiffRequest request;
    request.inputs = {tensor::Value(tensor::Tensor::of<float>({1, 2}, {1, 1}))};
    request.byHand.apart = {{node(*a, "p"), node(*b, "p2")}};
    const auto diff = session::modelDiff(*a, *b, request);
    QVERIFY(diff);
    QStringList found;
    for (const DifferenceRow& row : session::differenceRows(*a, *b, *diff))
        found << QString::fromStdString(std::string(session::name(row.kind)) + ' ' + row.first + '|' + row.second);
    QVERIFY2(found.contains("removed p|") && found.contains("added |p2"), qPrintable(found.join('\n')));
    QVERIFY(found.contains("changed q|q2"));
    QVERIFY(found.contains("parameter w|w"));
    QVERIFY(found.contains("value m|m"));
    QVERIFY(found.indexOf("removed p|") < found.indexOf("changed q|q2"));  // as the program has them
    QVERIFY(found.indexOf("parameter w|w") > found.indexOf("changed q|q2"));
    for (const DifferenceRow& row : session::differenceRows(*a, *b, *diff)) {
        if (row.kind != DifferenceRow::Kind::Parameter) continue;
        QCOMPARE(row.maxAbs.value(), 4.0);
        QCOMPARE(row.a, node(*a, "w"));
        QCOMPARE(row.b, node(*b, "w"));
    }
}

QTEST_APPLESS_MAIN(TestPairsByHand)

}  // namespace tst_pairs_by_hand

#include "tst_pairs_by_hand.moc"
