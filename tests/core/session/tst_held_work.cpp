// A session whose work is done elsewhere and arrives later, as in a window: what is told meanwhile, what supersedes
// what, and what nobody waits for any more. The model is worked by hand: y = x + x, w = y + x.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <map>
#include <thread>

#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_held_work {

using namespace sonde;
using graph::NodeId;
using session::Activity;
using session::RunState;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

/// Holds work back until it is let go, does it on another thread, and holds its result back in turn.
class HeldExecutor : public session::Executor {
  public:
    void start(Activity activity, Task task) override {
        m_results.erase(activity);
        m_tasks[activity] = std::move(task);
    }
    void abandon(Activity activity) override {
        m_tasks.erase(activity);
        m_results.erase(activity);
    }
    bool isActive(Activity activity) const override {
        return m_tasks.contains(activity) || m_results.contains(activity);
    }
    void discard(std::shared_ptr<const void> what) override { discarded += what ? 1 : 0; }

    /// False: there is nothing to be done.
    bool work(Activity activity) {
        const auto found = m_tasks.find(activity);
        if (found == m_tasks.end()) return false;
        std::jthread([&] { m_results[activity] = found->second({}); }).join();
        m_tasks.erase(found);
        return true;
    }
    bool deliver(Activity activity) {
        const auto found = m_results.find(activity);
        if (found == m_results.end()) return false;
        const Deliver result = std::move(found->second);
        m_results.erase(found);
        result();
        return true;
    }

    int discarded = 0;

  private:
    std::map<Activity, Task> m_tasks;
    std::map<Activity, Deliver> m_results;
};

tensor::Value floats(std::vector<float> values) {
    return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<float> numbers(const tensor::Value* value) {
    if (!value || !value->isTensor()) return {};
    return {value->tensor().data<float>(), value->tensor().data<float>() + value->tensor().numel()};
}

}  // namespace

class TestHeldWork : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    HeldExecutor m_executor;
    std::unique_ptr<Session> m_session;

    NodeId node(const char* name) const { return m_session->document()->graph->findNode(name); }

  private Q_SLOTS:
    void init();
    void aRunWaitsForItsInputs();
    void progressIsSeenBeforeTheEnd();
    void cancelWhileReadingIsAtOnce();
    void stopIsSeenByTheWork();
    void aNewerRunSupersedes();
    void aClosedDocumentTakesNothing();
};

void TestHeldWork::init() {
    const onnx::Graph graph{{{"Add", {"x", "x"}, {"y"}}, {"Add", {"y", "x"}, {"w"}}},
                            {onnx::valueInfo("x", 1, {-1})},
                            {onnx::valueInfo("w", 1, {-1})},
                            {}};
    const std::string path = m_folder.filePath("sums.onnx").toStdString();
    std::ofstream(path, std::ios::binary) << onnx::model(graph);
    m_executor = {};
    m_session = std::make_unique<Session>(m_executor);
    QVERIFY(m_session->open(path));
    m_session->setWatched(node("y"), true);
}

void TestHeldWork::aRunWaitsForItsInputs() {
    QVERIFY(m_session->runs().give("x", {"[1,2]"}));
    QVERIFY(!m_session->inputs().areRead());
    m_session->runs().run();
    QCOMPARE(m_session->runs().state(), RunState::Running);
    QVERIFY(!m_executor.work(Activity::Run));
    QVERIFY(m_executor.work(Activity::Read) && m_executor.deliver(Activity::Read));
    QVERIFY(m_executor.work(Activity::Run));
    QVERIFY(m_session->runs().isRunning() && !m_session->runs().last().recording);
    QVERIFY(m_executor.deliver(Activity::Run));
    QCOMPARE(m_session->runs().state(), RunState::Finished);
    QCOMPARE(numbers(m_session->values().of(node("w"))), (std::vector<float>{3, 6}));
}

void TestHeldWork::progressIsSeenBeforeTheEnd() {
    m_session->runs().giveValues({floats({1})});
    m_session->runs().run();
    QCOMPARE(m_session->runs().progress().done, std::size_t(0));
    QVERIFY(m_executor.work(Activity::Run));
    QCOMPARE(m_session->runs().progress().done, std::size_t(2));
    QCOMPARE(m_session->runs().progress().total, std::size_t(2));
    const graph::ExprId producer = m_session->document()->graph->node(node("w")).producer;
    QCOMPARE(m_session->runs().exprState(producer), exec::ExprState::Done);
    QVERIFY(!m_session->values().of(node("y")));  // it is not here yet
    QVERIFY(m_executor.deliver(Activity::Run));
    QCOMPARE(m_session->runs().progress().total, std::size_t(0));
}

void TestHeldWork::cancelWhileReadingIsAtOnce() {
    QVERIFY(m_session->runs().give("x", {"[1,2]"}));
    m_session->runs().run();
    m_session->runs().cancel();
    QCOMPARE(m_session->runs().state(), RunState::Cancelled);
    QVERIFY(!m_executor.isActive(Activity::Read) && !m_executor.isActive(Activity::Run));
}

void TestHeldWork::stopIsSeenByTheWork() {
    m_session->runs().giveValues({floats({1})});
    m_session->runs().run();
    std::jthread([this] { m_session->stop(); }).join();
    QVERIFY(m_session->runs().isRunning());  // until the session's thread hears of it
    QVERIFY(m_executor.work(Activity::Run) && m_executor.deliver(Activity::Run));
    QCOMPARE(m_session->runs().state(), RunState::Cancelled);
    QCOMPARE(m_session->runs().last().ranCount(), std::size_t(0));
}

void TestHeldWork::aNewerRunSupersedes() {
    m_session->runs().giveValues({floats({1})});
    m_session->runs().run();
    QVERIFY(m_executor.work(Activity::Run));
    m_session->runs().giveValues({floats({10})});
    m_session->runs().run();
    QVERIFY(!m_executor.deliver(Activity::Run));  // what was done is dropped
    QVERIFY(m_executor.work(Activity::Run) && m_executor.deliver(Activity::Run));
    QCOMPARE(numbers(m_session->values().of(node("y"))), (std::vector<float>{20}));
}

void TestHeldWork::aClosedDocumentTakesNothing() {
    m_session->runs().giveValues({floats({1})});
    m_session->runs().run();
    QVERIFY(m_executor.work(Activity::Run));
    const int before = m_executor.discarded;
    m_session->close();
    QVERIFY(m_executor.discarded > before);  // the model may take long to free
    QVERIFY(!m_executor.deliver(Activity::Run));
    QCOMPARE(m_session->runs().state(), RunState::NotRun);
    QVERIFY(!m_session->values().of(NodeId(0)));
}

QTEST_MAIN(TestHeldWork)

}  // namespace tst_held_work

#include "tst_held_work.moc"
