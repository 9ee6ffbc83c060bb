// Fifty generated networks with one fault each: the session and the search of `sonde problems` name the right node, and
// nothing in the networks without a fault. References are the values of these.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <algorithm>

#include "core/session/problem_search.h"
#include "tests/support/planted_networks.h"

namespace tst_planted_faults {

using namespace sonde;
using namespace sonde::test;
using analysis::Problem;
using analysis::ProblemKind;
using analysis::ProblemRole;

class TestPlantedFaults : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theRightNodeIsFound_data() { addNetworks(); }
    void theRightNodeIsFound();
    void theSearchFindsIt_data() { addNetworks(); }
    void theSearchFindsIt();
    void aRightNetworkHasNoProblem_data() { addNetworks(); }
    void aRightNetworkHasNoProblem();

  private:
    static void addNetworks() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < kPlantedCount; ++i) QTest::addRow("%d, %s", i, nameOf(PlantedNetwork(i).fault())) << i;
    }
    /// Writes both networks and the reference.
    void make(PlantedNetwork& network) {
        m_right = m_files.filePath(QStringLiteral("right.onnx"));
        m_wrong = m_files.filePath(QStringLiteral("wrong.onnx"));
        m_reference = m_files.filePath(QStringLiteral("reference.npz"));
        m_given = m_files.filePath(QStringLiteral("given.npz"));
        QVERIFY(onnxfile::write(m_right, network.model(false)));
        QVERIFY(onnxfile::write(m_wrong, network.model(true)));
        session::Session session;
        QVERIFY(session.open(m_right.toStdString()));
        const auto arrays = network.reference(session);
        QVERIFY(arrays.size() > 2);
        QVERIFY(io::writeNpz(m_reference.toStdString(), arrays));
        const std::vector<io::NamedTensor> given{{"in.x", network.given()}};
        QVERIFY(io::writeNpz(m_given.toStdString(), given));
    }
    static QString text(const session::ProblemReport& report) { return QString::fromStdString(report.text()); }

    QTemporaryDir m_files;
    QString m_right, m_wrong, m_reference, m_given;
};

/// NaN that is made of infinity, as after an overflow, has an origin of its own, and comes later.
static bool isConsequence(const Problem& problem) {
    return problem.kind == ProblemKind::Nan && problem.advice.find("its inputs contain infinity") != std::string::npos;
}

static void checkOrigins(const graph::InternalGraph& graph, const std::vector<Problem>& problems,
                         const std::string& expected, const QString& all) {
    QVERIFY(!problems.empty());
    QVERIFY2(problems.front().role == ProblemRole::Origin, qPrintable(all));
    QVERIFY2(graph.node(problems.front().node).name == expected,
             qPrintable("expected " + QString::fromStdString(expected) + "\n" + all));
    QVERIFY(!problems.front().message.empty() && !problems.front().advice.empty());
    for (const Problem& problem : problems)
        if (problem.role == ProblemRole::Origin && graph.node(problem.node).name != expected)
            QVERIFY2(isConsequence(problem), qPrintable("a false origin\n" + all));
}

void TestPlantedFaults::theRightNodeIsFound() {
    QFETCH(int, index);
    PlantedNetwork network(index);
    make(network);
    session::Session session;
    QVERIFY(session.open(m_wrong.toStdString()));
    QVERIFY(session.runs().give("x", {m_given.toStdString(), {}}));
    session.runs().run();
    QCOMPARE(session.runs().state(), session::RunState::Finished);
    if (network.needsReference()) {
        QVERIFY(session.problems().withDivergence().empty());
        session.comparison().withFile(m_reference.toStdString());
    }
    const session::ProblemReport report{"", session.document()->graph, session.problems().withDivergence()};
    checkOrigins(*report.graph, report.problems, network.faultyNode(), text(report));
    if (network.fault() == Fault::HalfOverflow) QVERIFY(report.problems.front().kind == ProblemKind::Overflow);
}

void TestPlantedFaults::theSearchFindsIt() {
    QFETCH(int, index);
    PlantedNetwork network(index);
    make(network);
    session::Session session;
    QVERIFY(session.open(m_wrong.toStdString()));
    session::ProblemSearch search;
    if (network.needsReference()) search.reference = m_reference.toStdString();
    if (network.isInInput() || !network.needsReference())
        search.cases = session.readCases({"x:" + m_given.toStdString() + "#in.x"}).value();
    const auto report = session::findAllProblems(session, search);
    QVERIFY(report);
    checkOrigins(*report->graph, report->problems, network.faultyNode(), text(*report));

    const QJsonArray rows =
        QJsonDocument::fromJson(QByteArray::fromStdString(report->json())).object().value("problems").toArray();
    QCOMPARE(rows.size(), static_cast<qsizetype>(report->problems.size()));
    QCOMPARE(rows.first().toObject().value("node").toString(), QString::fromStdString(network.faultyNode()));
    QCOMPARE(rows.first().toObject().value("role").toString(), QStringLiteral("origin"));
    QXmlStreamReader xml(QString::fromStdString(report->junit()));
    int cases = 0;
    while (!xml.atEnd())
        if (xml.readNext() == QXmlStreamReader::StartElement && xml.name() == u"testcase") ++cases;
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    QCOMPARE(cases, static_cast<int>(report->problems.size()));
}

void TestPlantedFaults::aRightNetworkHasNoProblem() {
    QFETCH(int, index);
    PlantedNetwork network(index);
    make(network);
    session::Session session;
    QVERIFY(session.open(m_right.toStdString()));
    const auto report = session::findAllProblems(session, {{}, m_reference.toStdString()});
    QVERIFY(report);
    QVERIFY2(report->problems.empty(), qPrintable(text(*report)));
    QVERIFY(session.problems().withDivergence().empty());
}

QTEST_GUILESS_MAIN(TestPlantedFaults)

}  // namespace tst_planted_faults

#include "tst_planted_faults.moc"
