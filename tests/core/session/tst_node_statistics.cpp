// Statistics of all nodes in a session, without a window. Values are worked by hand: y = x + x, z = log(y), w = z + y
// of x float32[2].

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <utility>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_node_statistics {

using namespace sonde;
using graph::NodeId;
using session::Activity;
using session::RunState;
using session::Session;
namespace onnx = test::onnxfile;

namespace {

class Told : public session::Observer {
  public:
    void statisticsChanged() override { ++changes; }
    void failed(const base::Error& error) override { errors.push_back(error.what); }
    int changes = 0;
    std::vector<std::string> errors;
};

/// Holds statistics back until they are let go; everything else is done at once.
class HoldingExecutor : public session::InlineExecutor {
  public:
    void start(Activity activity, Task task) override {
        if (activity != Activity::Statistics) return InlineExecutor::start(activity, std::move(task));
        m_held = std::move(task);
    }
    void abandon(Activity activity) override {
        if (activity == Activity::Statistics) m_held = nullptr;
    }
    bool isActive(Activity activity) const override {
        return activity == Activity::Statistics ? m_held != nullptr : InlineExecutor::isActive(activity);
    }
    bool letGo() {
        if (!m_held) return false;
        const Deliver deliver = std::exchange(m_held, nullptr)({});
        deliver();
        return true;
    }

  private:
    Task m_held;
};

}  // namespace

class TestNodeStatistics : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string modelFile() const {
        const onnx::Graph graph{{{"Add", {"x", "x"}, {"y"}}, {"Log", {"y"}, {"z"}}, {"Add", {"z", "y"}, {"w"}}},
                                {onnx::valueInfo("x", 1, {-1})},
                                {onnx::valueInfo("w", 1, {-1})},
                                {}};
        const std::string path = m_folder.filePath("logs.onnx").toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        return path;
    }
    static const analysis::TensorStats* of(const Session& session, const char* name) {
        return session.statistics().of(session.document()->graph->findNode(name));
    }

  private Q_SLOTS:
    void everyNodeOfTheLastRunHasThem();
    void aRunThatFollowsBringsThemAgain();
    void theyGoWithTheModel();
    void cancelLeavesNone();
    void aNewRunDropsThoseOfTheLast();
};

void TestNodeStatistics::everyNodeOfTheLastRunHasThem() {
    Told told;
    Session session;
    session.setObserver(&told);
    QVERIFY(session.open(modelFile()));
    QVERIFY(session.runs().give("x", {"[1,0]"}));
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Finished);
    QVERIFY(!session.statistics().isKnown() && told.changes == 0);  // nobody has asked
    session.statistics().compute();
    QVERIFY(session.statistics().isKnown() && !session.statistics().isActive());
    QCOMPARE(told.changes, 1);
    // y = (2, 0), of which the run kept nothing.
    const analysis::TensorStats* y = of(session, "y");
    QVERIFY(y);
    QCOMPARE(y->count, std::int64_t(2));
    QCOMPARE(y->zeroCount, std::int64_t(1));
    QCOMPARE(y->minimum, 0.0);
    QCOMPARE(y->maximum, 2.0);
    QCOMPARE(y->mean, 1.0);
    QCOMPARE(y->deviation, 1.0);
    // z = (log 2, -inf): infinite elements are counted and left out.
    const analysis::TensorStats* z = of(session, "z");
    QVERIFY(z);
    QCOMPARE(z->infCount, std::int64_t(1));
    QVERIFY(std::abs(z->mean - std::log(2.0)) < 1e-6);
    QVERIFY(!session.statistics().of(NodeId()));
    session.statistics().compute();  // they are known
    QCOMPARE(told.changes, 1);
    QVERIFY(told.errors.empty());
}

void TestNodeStatistics::aRunThatFollowsBringsThemAgain() {
    Told told;
    Session session;
    session.setObserver(&told);
    QVERIFY(session.open(modelFile()));
    session.statistics().compute();  // there is no run yet: its end brings them
    QVERIFY(!session.statistics().isKnown());
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    session.runs().run();
    QVERIFY(of(session, "y"));
    QCOMPARE(of(session, "y")->mean, 3.0);
    QVERIFY(session.runs().give("x", {"[3,5]"}));
    told.changes = 0;
    session.runs().run();
    QVERIFY(of(session, "y"));
    QCOMPARE(of(session, "y")->mean, 8.0);
    QCOMPARE(told.changes, 2);  // gone, and there again
}

void TestNodeStatistics::theyGoWithTheModel() {
    Session session;
    QVERIFY(session.open(modelFile()));
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    session.runs().run();
    session.statistics().compute();
    QVERIFY(session.statistics().isKnown());
    QVERIFY(session.open(modelFile()));
    QVERIFY(!session.statistics().isKnown());
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Finished);
    QVERIFY(!session.statistics().isKnown());  // of this model nobody has asked
}

void TestNodeStatistics::cancelLeavesNone() {
    Told told;
    HoldingExecutor executor;
    Session session(executor, &told);
    QVERIFY(session.open(modelFile()));
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    session.runs().run();
    for (const bool stopsAll : {false, true}) {
        told.changes = 0;
        session.statistics().compute();
        QVERIFY(session.statistics().isActive());
        if (stopsAll) session.stop();
        else session.statistics().cancel();
        QVERIFY(executor.letGo());
        QVERIFY(!session.statistics().isKnown() && !session.statistics().isActive());
        QCOMPARE(told.changes, 1);
        QVERIFY(told.errors.empty());  // who cancels need not be told
    }
    session.statistics().compute();
    QVERIFY(executor.letGo());
    QCOMPARE(of(session, "y")->mean, 3.0);
}

void TestNodeStatistics::aNewRunDropsThoseOfTheLast() {
    HoldingExecutor executor;
    Session session(executor);
    QVERIFY(session.open(modelFile()));
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    session.runs().run();
    session.statistics().compute();
    QVERIFY(session.runs().give("x", {"[3,5]"}));
    session.runs().run();  // what was begun is abandoned; the end of the run begins anew
    QVERIFY(executor.letGo());
    QCOMPARE(of(session, "y")->mean, 8.0);
    QVERIFY(!executor.letGo());
}

QTEST_MAIN(TestNodeStatistics)

}  // namespace tst_node_statistics

#include "tst_node_statistics.moc"
