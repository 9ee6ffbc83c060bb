// A session without a window: opening, giving inputs, watching, ending, running, cancelling, running again, with events
// in order. Values are those of tests/data/models, which PyTorch computed, or worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <limits>
#include <thread>

#include "core/analysis/difference.h"
#include "core/graph/source_files.h"
#include "core/io/npz/npz.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_session {

using namespace sonde;
using graph::NodeId;
using session::RunState;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

std::string model(const char* name) { return std::string(SONDE_TEST_DATA "/models/") + name; }

bool isClose(const tensor::Value* actual, const Tensor& expected) {
    return actual && actual->isTensor() && expected.defined() && actual->tensor().shape() == expected.shape() &&
           analysis::difference(actual->tensor(), expected, {1e-3, 1e-4, 0}).ok;
}

/// Writes down what it is told, in order.
struct Diary : session::Observer {
    QStringList events;
    std::function<void()> onRunStarted;

    void documentLeft() override { events << "left"; }
    void documentOpened() override { events << "opened"; }
    void fileChanged(const base::Error&, bool isNew) override { events << (isNew ? "file changed" : "still changed"); }
    void watchChanged() override { events << "watch"; }
    void endChanged() override { events << "end"; }
    void inputsChanged() override { events << "inputs"; }
    void inputsRead() override { events << "read"; }
    void runStarted() override {
        events << "started";
        if (onRunStarted) onRunStarted();
    }
    void typesChanged() override { events << "types"; }
    void runFinished() override { events << "finished"; }
    void valueArrived(NodeId) override { events << "value"; }
    void problemsChanged() override { events << "problems"; }
    void comparisonChanged() override { events << "comparison"; }
    void told(const session::Notice& notice) override { events << QString::fromStdString(notice.what); }
    void failed(const base::Error& error) override { events << QString::fromStdString(error.what); }

    QStringList take() { return std::exchange(events, {}); }
};

/// y = x + x, z = log(y), w = z + y, of x float32[N].
std::string logsModel(const char* first = "y") {
    const onnx::Graph graph{{{"Add", {"x", "x"}, {first}}, {"Log", {first}, {"z"}}, {"Add", {"z", first}, {"w"}}},
                            {onnx::valueInfo("x", 1, {-1})},
                            {onnx::valueInfo("w", 1, {-1})},
                            {}};
    return onnx::model(graph);
}

tensor::Value floats(std::vector<float> values) {
    return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

bool writeArrays(const std::string& file, const std::vector<io::NamedTensor>& arrays) {
    return io::writeNpz(file, arrays).has_value();
}

std::vector<float> numbers(const tensor::Value* value) {
    if (!value || !value->isTensor()) return {};
    const base::Result<Tensor> whole = value->tensor().contiguous();
    if (!whole) return {};
    return {whole->data<float>(), whole->data<float>() + whole->numel()};
}

}  // namespace

class TestSession : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string write(const char* name, const std::string& bytes) const {
        const std::string path = m_folder.filePath(QLatin1String(name)).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    NodeId node(const Session& session, const char* name) const { return session.document()->graph->findNode(name); }

  private Q_SLOTS:
    void valuesAreThoseOfPyTorch();
    void nothingBeyondTheEndIsComputed();
    void valuesAreComputedAgain();
    void eventsComeInOrder();
    void aMissingInputIsRefused();
    void aRefusalEndsWithWhatWasRefused();
    void whatNobodyNeedsMayBeMissing();
    void aFailedRunKeepsWhatItComputed();
    void typesAreThoseOfTheInputs();
    void badValuesAreFoundAndAccepted();
    void stopComesFromAnotherThread();
    void anObserverMayRunAgain();
    void aChangedFileLeavesNoValues();
    void changedInputsMakeARunStale();
    void anArchiveOfOneInputNamesTheOthers();
    void pointsOutliveATrace();
    void whatCannotBeOpenedLeavesTheModel();
};

void TestSession::valuesAreThoseOfPyTorch() {
    Session session;
    QVERIFY(session.open(model("mlp_functional.onnx")));
    const std::string input = session.inputs().all().front().name;
    QVERIFY(session.runs().give(input, {model("mlp_functional.npz")}));
    QVERIFY(session.inputs().areRead());
    auto npz = io::NpzFile::open(model("mlp_functional.npz"));
    QVERIFY(npz);
    std::size_t compared = 0;
    for (const std::string& key : npz->keys())
        if (key.starts_with("node.")) session.setWatched(node(session, key.c_str() + 5), true);
    QVERIFY(!session.points().watched.nodes().empty());
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Finished);
    for (const NodeId watched : session.points().watched.nodes()) {
        const std::string key = "node." + session.document()->graph->node(watched).name;
        QVERIFY2(isClose(session.values().of(watched), *npz->read(key)), key.c_str());
        ++compared;
    }
    QVERIFY(compared >= 3);
    const document::NamedNode& output = session.document()->outputs.front();
    QVERIFY(isClose(session.values().of(output.node), *npz->read("out." + output.name)));
}

void TestSession::nothingBeyondTheEndIsComputed() {
    Session session;
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    session.runs().giveValues({floats({1, 2})});
    session.setEnd(node(session, "z"), true);
    session.runs().run();
    QCOMPARE(session.runs().last().ranCount(), std::size_t(2));
    QVERIFY(session.runs().wasReached(node(session, "z")) && !session.runs().wasReached(node(session, "w")));
    QVERIFY(!session.values().of(node(session, "w")));
    const std::vector<float> z = numbers(session.values().of(node(session, "z")));
    QCOMPARE(z.size(), std::size_t(2));
    QVERIFY(std::abs(z[0] - std::log(2.0F)) < 1e-6F && std::abs(z[1] - std::log(4.0F)) < 1e-6F);
    // Once, without a point of its own.
    session.clearEnds();
    session.runs().runTo(node(session, "y"));
    QCOMPARE(session.runs().last().ranCount(), std::size_t(1));
    QVERIFY(session.points().ends.nodes().empty());
}

void TestSession::valuesAreComputedAgain() {
    Diary diary;
    Session session;
    session.setObserver(&diary);
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    session.runs().giveValues({floats({1, 3})});
    session.runs().run();
    QVERIFY(!session.values().of(node(session, "y")));  // nobody kept it
    diary.take();
    session.values().request(node(session, "y"));
    QCOMPARE(diary.take(), QStringList{"value"});
    QCOMPARE(numbers(session.values().of(node(session, "y"))), (std::vector<float>{2, 6}));
    // What was computed again is of that run alone.
    session.runs().giveValues({floats({5, 5})});
    session.runs().run();
    QVERIFY(!session.values().of(node(session, "y")));
    session.setWatched(node(session, "y"), true);  // asks for it at once
    QCOMPARE(numbers(session.values().of(node(session, "y"))), (std::vector<float>{10, 10}));
}

void TestSession::eventsComeInOrder() {
    Diary diary;
    Session session;
    session.setObserver(&diary);
    const std::string path = write("logs.onnx", logsModel());
    QVERIFY(session.open(path));
    QCOMPARE(diary.take(), QStringList{"opened"});
    session.setWatched(node(session, "y"), true);
    session.setWatched(node(session, "y"), true);  // is watched already
    session.setEnd(node(session, "w"), true);
    QCOMPARE(diary.take(), (QStringList{"watch", "end"}));
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    QCOMPARE(diary.take(), (QStringList{"inputs", "inputs", "read"}));
    session.runs().run();
    QCOMPARE(diary.take(), (QStringList{"started", "problems", "types", "finished"}));
    session.runs().run();  // the types are the same
    QCOMPARE(diary.take(), (QStringList{"started", "problems", "finished"}));
    session.runs().setLive(true);
    QCOMPARE(diary.take(), (QStringList{"started", "problems", "finished"}));
    QVERIFY(session.runs().give("x", {"[4,5]"}));
    QCOMPARE(diary.take(), (QStringList{"inputs", "started", "inputs", "read", "problems", "finished"}));
    QVERIFY(session.open(path));
    QCOMPARE(diary.take(), (QStringList{"left", "opened"}));
    session.close();
    QCOMPARE(diary.take(), QStringList{"left"});
    QVERIFY(!session.document());
}

void TestSession::aMissingInputIsRefused() {
    Diary diary;
    Session session;
    session.setObserver(&diary);
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    QVERIFY(!session.runs().give("nobody", {"[1]"}));
    QVERIFY(session.runs().give("x", {"/nowhere/x.npy"}));
    diary.take();
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Failed);
    QVERIFY(session.runs().refusal().has_value());
    QVERIFY(!session.runs().last().recording);
    QCOMPARE(diary.take(), (QStringList{"started", "inputs", "read", "finished"}));
    QVERIFY(session.runs().give("x", {"[[1,2],[3,4]]"}));  // rank 2, and the model declares 1
    QVERIFY(!session.runs().refusal());                    // it was of another file
    QCOMPARE(session.runs().state(), RunState::NotRun);
    session.runs().run();
    QVERIFY(session.runs().refusal().has_value());
    QVERIFY(session.runs().give("x", {"[1,2]"}));
    session.runs().run();
    QVERIFY(!session.runs().refusal());
    QCOMPARE(session.runs().state(), RunState::Finished);
}

void TestSession::aRefusalEndsWithWhatWasRefused() {
    const onnx::Graph graph{{{"Add", {"a", "b"}, {"y"}}},
                            {onnx::valueInfo("a", 1, {2}), onnx::valueInfo("b", 1, {2})},
                            {onnx::valueInfo("y", 1, {2})},
                            {}};
    Session session;
    QVERIFY(session.open(write("sum.onnx", onnx::model(graph))));
    QVERIFY(session.runs().give("a", {"[1,2,3]"}));
    session.runs().run();
    QVERIFY(session.runs().refusal() && session.runs().last().error);
    QVERIFY(session.runs().give("b", {"[4,5]"}));  // a is still refused
    QVERIFY(session.runs().refusal().has_value());
    QCOMPARE(session.runs().state(), RunState::Failed);
    QVERIFY(session.runs().give("a", {"[1,2]"}));
    QVERIFY(!session.runs().refusal() && !session.runs().last().error);
    QCOMPARE(session.runs().state(), RunState::NotRun);
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Finished);
    // A run that began and failed, or came to its end, is no refusal: what it left stays.
    QVERIFY(session.runs().give("a", {"[7,8]"}));
    QCOMPARE(session.runs().state(), RunState::Finished);
    QVERIFY(session.runs().last().recording);
}

/// y = a + a, w = y + b, and b has no value.
void TestSession::whatNobodyNeedsMayBeMissing() {
    const onnx::Graph graph{{{"Add", {"a", "a"}, {"y"}}, {"Add", {"y", "b"}, {"w"}}},
                            {onnx::valueInfo("a", 1, {2}), onnx::valueInfo("b", 1, {2})},
                            {onnx::valueInfo("w", 1, {2})},
                            {}};
    Diary diary;
    Session session;
    QVERIFY(session.open(write("needs.onnx", onnx::model(graph))));
    QVERIFY(session.runs().give("a", {"[1,2]"}));
    QVERIFY(session.runs().give("b", {}));
    session.setObserver(&diary);
    session.runs().run();
    QVERIFY(session.runs().refusal().has_value());
    QCOMPARE(session.runs().refusal()->what, std::string("no value for input 'b'"));
    QVERIFY(!session.runs().last().recording);
    QCOMPARE(diary.take(), (QStringList{"started", "inputs", "finished"}));
    // Up to y nobody needs b: what was said of it is taken back.
    session.runs().runTo(node(session, "y"));
    QCOMPARE(session.runs().state(), RunState::Finished);
    QCOMPARE(numbers(session.values().of(node(session, "y"))), (std::vector<float>{2, 4}));
    QVERIFY(!session.runs().refusal() && !session.inputs().find("b")->error);
    session.runs().run();
    QVERIFY(session.runs().refusal().has_value());
    QVERIFY(session.runs().give("b", {"[10,20]"}));
    QVERIFY(!session.runs().refusal());
    session.runs().run();
    QCOMPARE(numbers(session.values().of(node(session, "w"))), (std::vector<float>{12, 24}));
}

void TestSession::aFailedRunKeepsWhatItComputed() {
    const onnx::Graph graph{{{"Add", {"a", "a"}, {"y"}}, {"Add", {"y", "b"}, {"w"}}},
                            {onnx::valueInfo("a", 1, {-1}), onnx::valueInfo("b", 1, {-1})},
                            {onnx::valueInfo("w", 1, {-1})},
                            {}};
    Session session;
    QVERIFY(session.open(write("adds.onnx", onnx::model(graph))));
    session.setWatched(node(session, "y"), true);
    session.runs().giveValues({floats({1, 2}), floats({1, 2, 3})});
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Failed);
    QCOMPARE(session.runs().last().error->kind, base::ErrorKind::Run);
    QCOMPARE(numbers(session.values().of(node(session, "y"))), (std::vector<float>{2, 4}));
    const graph::ExprId failing = session.document()->graph->node(node(session, "w")).producer;
    QVERIFY(session.runs().failure(failing));
    QCOMPARE(session.problems().all().front().kind, analysis::ProblemKind::Failure);
}

void TestSession::typesAreThoseOfTheInputs() {
    Session session;
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    const NodeId w = node(session, "w");
    QVERIFY(!session.document()->graph->node(w).type.staticShape());
    session.runs().giveValues({floats({1, 2, 3})});
    session.runs().run();
    const auto graph = session.runs().graph();
    QVERIFY(graph->node(w).type.staticShape() == tensor::Shape{3});
    session.runs().run();
    QCOMPARE(session.runs().graph(), graph);  // the same inputs, the same types
    session.runs().giveValues({floats({1})});
    session.runs().run();
    QVERIFY(session.runs().graph()->node(w).type.staticShape() == tensor::Shape{1});
}

void TestSession::badValuesAreFoundAndAccepted() {
    Diary diary;
    Session session;
    session.setObserver(&diary);
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    session.runs().giveValues({floats({1, -1, 0})});
    session.runs().run();
    const NodeId z = node(session, "z"), w = node(session, "w");
    QVERIFY(session.problems().isBad(z) && session.problems().isBad(w));
    QCOMPARE(session.problems().of(z)->role, analysis::ProblemRole::Origin);
    QCOMPARE(session.problems().of(w)->role, analysis::ProblemRole::Carrier);
    diary.take();
    session.setAccepted(z, true);
    QCOMPARE(diary.take(), QStringList{"problems"});
    QVERIFY(session.problems().bad().empty());
    session.setAccepted(z, false);
    QVERIFY(session.problems().isBad(w));
}

void TestSession::stopComesFromAnotherThread() {
    // A loop of additions that goes on for hours.
    onnx::Graph graph;
    constexpr int kSteps = 4000;
    std::string last = "x";
    for (int i = 0; i < kSteps; ++i) {
        const std::string next = "y" + std::to_string(i);
        graph.nodes.push_back({"MatMul", {last, "x"}, {next}});
        last = next;
    }
    graph.inputs = {onnx::valueInfo("x", 1, {400, 400})};
    graph.outputs = {onnx::valueInfo(last, 1, {400, 400})};
    Session session;
    QVERIFY(session.open(write("long.onnx", onnx::model(graph))));
    session.setWatched(node(session, "y0"), true);
    QVERIFY(session.runs().give("x", {"#rand(0,0,400,400)"}));
    Diary diary;
    session.setObserver(&diary);
    std::jthread other;
    diary.onRunStarted = [&] {
        other = std::jthread([&session](const std::stop_token& over) {
            while (!over.stop_requested()) {
                session.stop();
                std::this_thread::yield();
            }
        });
    };
    session.runs().run();
    other = {};
    QCOMPARE(session.runs().state(), RunState::Cancelled);
    QVERIFY(session.runs().last().ranCount() < kSteps);
    QCOMPARE(diary.events.last(), "finished");
    // What was asked to stop is over: the next run is another one.
    diary.onRunStarted = nullptr;
    session.runs().runTo(node(session, "y1"));
    QCOMPARE(session.runs().state(), RunState::Finished);
}

void TestSession::anObserverMayRunAgain() {
    Diary diary;
    Session session;
    session.setObserver(&diary);
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    session.runs().giveValues({floats({1})});
    diary.onRunStarted = [&] {
        diary.onRunStarted = nullptr;
        session.runs().giveValues({floats({2})});
        session.runs().run();
    };
    session.setWatched(node(session, "y"), true);
    diary.take();
    session.runs().run();
    // The first has begun and was superseded; there is one end.
    QCOMPARE(diary.take(), (QStringList{"started", "inputs", "started", "problems", "types", "finished"}));
    QCOMPARE(numbers(session.values().of(node(session, "y"))), (std::vector<float>{4}));
}

void TestSession::aChangedFileLeavesNoValues() {
    Diary diary;
    Session session;
    session.setObserver(&diary);
    const std::string path = write("logs.onnx", logsModel());
    QVERIFY(session.open(path));
    session.runs().giveValues({floats({1, 2})});
    session.setWatched(node(session, "y"), true);
    session.runs().run();
    QVERIFY(session.values().of(node(session, "y")));
    QVERIFY(session.runs().checkFiles());
    write("logs.onnx", logsModel("other"));
    diary.take();
    QVERIFY(!session.runs().checkFiles());
    QCOMPARE(diary.take(), (QStringList{"file changed", "finished"}));
    QVERIFY(!session.values().of(node(session, "y")));
    QCOMPARE(session.runs().state(), RunState::Failed);
    session.runs().run();
    QCOMPARE(diary.take(), (QStringList{"started", "still changed", "types", "finished"}));
    QCOMPARE(session.runs().last().error->kind, base::ErrorKind::Run);
    QVERIFY(QString::fromStdString(session.runs().last().error->what).contains("changed on disk"));
    QVERIFY(session.open(path));
    session.runs().giveValues({floats({1, 2})});
    session.runs().run();
    QCOMPARE(session.runs().state(), RunState::Finished);
}

void TestSession::changedInputsMakeARunStale() {
    Session session;
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    const std::string file = m_folder.filePath("x.npz").toStdString();
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({2}, {1, 2})}}));
    QVERIFY(session.runs().give("x", {file}));
    session.setWatched(node(session, "y"), true);
    session.runs().run();
    QCOMPARE(session.runs().staleReason(), "");
    QVERIFY(session.runs().give("x", {"[7,8]"}));
    QCOMPARE(session.runs().staleReason(), "the inputs were changed");
    QVERIFY(session.values().isStale(node(session, "y")));
    QVERIFY(session.runs().give("x", {file}));
    QCOMPARE(session.runs().staleReason(), "");
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({3}, {3, 2, 1})}}));
    session.inputs().checkFiles();
    QCOMPARE(session.runs().staleReason(), "x.npz changed on disk");
    session.runs().run();  // reads it again
    QCOMPARE(numbers(session.values().of(node(session, "y"))), (std::vector<float>{6, 4, 2}));
    QCOMPARE(session.inputs().inputData(), "x:" + file);
}

/// y = a + b; the archive has a, and nothing that could be b.
void TestSession::anArchiveOfOneInputNamesTheOthers() {
    const onnx::Graph graph{{{"Add", {"a", "b"}, {"y"}}},
                            {onnx::valueInfo("a", 1, {2}), onnx::valueInfo("b", 1, {2})},
                            {onnx::valueInfo("y", 1, {2})},
                            {}};
    const std::string file = m_folder.filePath("a.npz").toStdString();
    QVERIFY(writeArrays(
        file, {{"in.a", Tensor::of<float>({2}, {1, 2})}, {"other", Tensor::of<std::int64_t>({1, 2}, {1, 2})}}));
    session::InlineExecutor executor;
    Diary observer;
    Session session(executor, &observer);
    QVERIFY(session.open(write("sum.onnx", onnx::model(graph))));
    QVERIFY(session.runs().give("a", {file}));
    session.inputs().read({});
    const QString told = observer.take().join(u'\n');
    QVERIFY2(told.contains(QStringLiteral("no array for input 'b'")), qPrintable(told));
    // The user's own choice for b is not what the archive lacks.
    QVERIFY(session.runs().give("b", {"[1,1]"}));
    QVERIFY(session.runs().give("a", {file}));
    session.inputs().read({});
    QVERIFY2(!observer.events.join(u'\n').contains(QStringLiteral("no array")),
             qPrintable(observer.events.join(u'\n')));
}

void TestSession::pointsOutliveATrace() {
    Session session;
    QVERIFY(session.open(write("a.onnx", logsModel())));
    session.setWatched(node(session, "y"), true);
    session.setWatched(node(session, "z"), true);
    QVERIFY(session.open(write("b.onnx", logsModel("other"))));
    QCOMPARE(session.points().watched.nodes(), (std::vector<NodeId>{node(session, "other"), node(session, "z")}));
    QVERIFY(session.open("zoo:gpt_mini"));
    QVERIFY(session.points().watched.nodes().empty());
    QCOMPARE(session.points().watched.missing().size(), std::size_t(2));
    QCOMPARE(session.points().watched.missing().front().name, "other");
    QVERIFY(session.open(write("a.onnx", logsModel())));
    QCOMPARE(session.points().watched.nodes(), (std::vector<NodeId>{node(session, "y"), node(session, "z")}));
    session.setWatched(node(session, "y"), false);
    QVERIFY(session.points().watched.missing().empty());
}

void TestSession::whatCannotBeOpenedLeavesTheModel() {
    Session session;
    QVERIFY(session.open(write("logs.onnx", logsModel())));
    const auto document = session.document();
    QVERIFY(!session.open("/nowhere.onnx"));
    QCOMPARE(session.document(), document);
}

QTEST_MAIN(TestSession)

}  // namespace tst_session

#include "tst_session.moc"
