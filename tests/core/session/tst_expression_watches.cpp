// Expressions that are computed after each run, and the history of runs. Values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_expression_watches {

using namespace sonde;
using graph::NodeId;
using session::ExpressionResult;
using session::ExpressionWatches;
using session::Measure;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

class Counted : public session::Observer {
  public:
    int changes = 0;
    void expressionsChanged() override { ++changes; }
};

class TestExpressionWatches : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// y = x + x, z = y * y, w = z + x, of x float32[N].
    std::string squares(const std::string& y = "y") const {
        const onnx::Graph graph{{{"Add", {"x", "x"}, {y}}, {"Mul", {y, y}, {"z"}}, {"Add", {"z", "x"}, {"w"}}},
                                {onnx::valueInfo("x", 1, {-1})},
                                {onnx::valueInfo("w", 1, {-1})},
                                {}};
        const std::string path = m_folder.filePath("squares.onnx").toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        return path;
    }
    static void runOn(Session& session, const std::vector<float>& x) {
        session.runs().giveValues({Tensor::of<float>({static_cast<std::int64_t>(x.size())}, x)});
        session.runs().run();
    }
    static const ExpressionResult& resultOf(const Session& session, int id) {
        static const ExpressionResult none;
        const auto* entry = session.expressionWatches().find(id);
        return entry && entry->result ? *entry->result : none;
    }
    static QString textOf(const Session& session, int id) {
        return QString::fromStdString(resultOf(session, id).text());
    }

  private slots:
    void resultsComeWithEachRun();
    void resultsOfALastRunComeAtOnce();
    void errorsNameTheirColumn();
    void operandsAreNotKept();
    void seriesAreThoseOfTheLastRuns();
    void pinsOutliveAnExport();
    void whatIsRestoredIsWhatWasKept();
};

void TestExpressionWatches::resultsComeWithEachRun() {
    session::InlineExecutor executor;
    Counted observer;
    Session session(executor, &observer);
    QVERIFY(session.open(squares()));
    auto& watches = session.expressionWatches();
    const int largest = *watches.add("max(y)");
    const int isLarge = *watches.add("any(z > 50)");
    const int all = *watches.add("z - x");
    QVERIFY(!watches.find(largest)->result);
    observer.changes = 0;
    runOn(session, {1, 2, 3});
    QVERIFY(observer.changes > 0);
    QCOMPARE(resultOf(session, largest).scalar, std::optional(6.0));
    QCOMPARE(resultOf(session, isLarge).scalar, std::optional(0.0));
    QCOMPARE(resultOf(session, all).value.tensor().toDouble(2), 33.0);
    QVERIFY(resultOf(session, all).stats.has_value());
    QCOMPARE(resultOf(session, all).stats->minimum, 3.0);
    QCOMPARE(textOf(session, largest), QStringLiteral("6"));
    runOn(session, {1, 2, 4});
    QCOMPARE(resultOf(session, largest).scalar, std::optional(8.0));
    QCOMPARE(textOf(session, isLarge), QStringLiteral("true"));

    QVERIFY(watches.setEnabled(largest, false));
    QVERIFY(!watches.find(largest)->result);
    QVERIFY(watches.setText(isLarge, "min(w)"));
    QCOMPARE(resultOf(session, isLarge).scalar, std::optional(5.0));
    QVERIFY(watches.remove(all));
    QVERIFY(!watches.find(all) && !watches.remove(all) && !watches.setText(all, "1"));
    watches.clear();
    QVERIFY(watches.entries().empty());
}

void TestExpressionWatches::resultsOfALastRunComeAtOnce() {
    Session session;
    QVERIFY(session.open(squares()));
    runOn(session, {1, 2, 3});
    const int id = *session.expressionWatches().add("sum(z) + x[0]");
    QCOMPARE(resultOf(session, id).scalar, std::optional(4.0 + 16 + 36 + 1));
    // That was no run.
    QCOMPARE(session.history().runs().size(), std::size_t(1));
}

void TestExpressionWatches::errorsNameTheirColumn() {
    Session session;
    QVERIFY(session.open(squares()));
    auto& watches = session.expressionWatches();
    const int unread = *watches.add("max(y");
    QVERIFY(resultOf(session, unread).error.has_value());
    QCOMPARE(resultOf(session, unread).column, std::optional<std::size_t>(6));
    const int unknown = *watches.add("1 + yy");
    runOn(session, {1});
    QCOMPARE(resultOf(session, unknown).column, std::optional<std::size_t>(5));
    QCOMPARE(textOf(session, unknown), QStringLiteral("there is no node 'yy'"));
    QCOMPARE(resultOf(session, unread).column, std::optional<std::size_t>(6));
    // What a run does not compute has no value.
    const int late = *watches.add("sum(w)");
    session.setEnd(session.document()->graph->findNode("y"), true);
    session.runs().run();
    QVERIFY2(textOf(session, late).contains(u"'w' is not known"), qPrintable(textOf(session, late)));
    for (std::size_t i = watches.entries().size(); i < ExpressionWatches::kMaxWatches; ++i) QVERIFY(watches.add("1"));
    QVERIFY(!watches.add("1"));
}

void TestExpressionWatches::operandsAreNotKept() {
    Session session;
    QVERIFY(session.open(squares()));
    const NodeId z = session.document()->graph->findNode("z");
    const int id = *session.expressionWatches().add("sum(z)");
    session.runs().setPolicy({session::WatchKeep::Full, 0, 10});
    runOn(session, {1, 2});
    QCOMPARE(resultOf(session, id).scalar, std::optional(20.0));
    QVERIFY(session.runs().last().recording->kept.empty());
    QVERIFY(session.runs().watchedValues().operands.empty());
    // Watched too, it is: as far as the budget goes.
    session.setWatched(z, true);
    session.runs().run();
    QCOMPARE(resultOf(session, id).scalar, std::optional(20.0));
    QVERIFY(session.runs().last().recording->kept.empty());
    QVERIFY(session.runs().summary(z) && !session.runs().summary(z)->sample.defined());
    session.runs().setPolicy({});
    session.runs().run();
    QCOMPARE(session.runs().last().recording->iterations(z), std::size_t(1));
}

void TestExpressionWatches::seriesAreThoseOfTheLastRuns() {
    Session session;
    QVERIFY(session.open(squares()));
    const NodeId y = session.document()->graph->findNode("y");
    session.setWatched(y, true);
    const int id = *session.expressionWatches().add("y[0]");
    session.expressionWatches().setHistoryLimit(3);
    for (const float x : {1.F, 2.F, 3.F, 4.F}) runOn(session, {x, 0});
    const std::vector<std::optional<double>> expected{4.0, 6.0, 8.0};
    QCOMPARE(session.history().of(id), expected);
    QCOMPARE(session.history().of(y, Measure::Maximum), expected);
    QCOMPARE(session.history().of(y, Measure::Zero), (std::vector<std::optional<double>>{1.0, 1.0, 1.0}));
    QCOMPARE(session.history().runs().front().number, std::uint64_t(2));
    session.expressionWatches().setText(id, "y[1]");
    QVERIFY(!session.history().of(id).front().has_value());
    session.expressionWatches().setHistoryLimit(0);
    QCOMPARE(session.history().runs().size(), std::size_t(2));
    QVERIFY(session.open(squares()));
    QVERIFY(session.history().runs().empty());
}

void TestExpressionWatches::pinsOutliveAnExport() {
    Session session;
    QVERIFY(session.open(squares()));
    auto& watches = session.expressionWatches();
    const int id = *watches.add("max(x)", session.document()->graph->findNode("y"));
    QVERIFY(session.open(squares("other")));
    QCOMPARE(watches.find(id)->pin, session.document()->graph->findNode("other"));
    QVERIFY(session.open("zoo:gpt_mini"));
    QVERIFY(!watches.find(id)->pin.valid());
    QVERIFY(session.open(squares("other")));
    QCOMPARE(watches.find(id)->pin, session.document()->graph->findNode("other"));
    session.close();
    QVERIFY(watches.entries().empty());
}

void TestExpressionWatches::whatIsRestoredIsWhatWasKept() {
    Session session;
    QVERIFY(session.open(squares()));
    auto& watches = session.expressionWatches();
    (void)watches.add("max(y)", session.document()->graph->findNode("z"));
    watches.setEnabled(*watches.add("max("), false);
    const std::vector<session::ExpressionWatch> kept = watches.all();
    QCOMPARE(kept.size(), std::size_t(2));
    Session other;
    QVERIFY(other.open(squares("renamed")));
    other.expressionWatches().restore(kept);
    const auto& entries = other.expressionWatches().entries();
    QCOMPARE(entries.size(), std::size_t(2));
    QCOMPARE(entries[0].pin, other.document()->graph->findNode("z"));
    QVERIFY(!entries[1].isEnabled && entries[1].result->error);
    runOn(other, {2});
    QVERIFY(entries[0].result && entries[0].result->error);  // the node is called otherwise here
}

QTEST_GUILESS_MAIN(TestExpressionWatches)

}  // namespace tst_expression_watches

#include "tst_expression_watches.moc"
