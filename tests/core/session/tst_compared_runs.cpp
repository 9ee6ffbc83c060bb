// Comparisons of a session's runs: with reference values that PyTorch computed (tests/data/models), with a baseline,
// with another model; when they become stale and when they are made again.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/io/npz/npz.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

using namespace sonde;
using graph::NodeId;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

std::string model(const char* name) { return std::string(SONDE_TEST_DATA "/models/") + name; }

tensor::Value floats(std::vector<float> values) {
    return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

bool writeArrays(const std::string& file, const std::vector<io::NamedTensor>& arrays) {
    return io::writeNpz(file, arrays).has_value();
}

/// y = x OPERATOR x, w = y + x, of x float32[N].
std::string twoSteps(const char* op) {
    const onnx::Graph graph{{{op, {"x", "x"}, {"y"}}, {"Add", {"y", "x"}, {"w"}}},
                            {onnx::valueInfo("x", 1, {-1})},
                            {onnx::valueInfo("w", 1, {-1})},
                            {}};
    return onnx::model(graph);
}

/// The largest difference of a node; -1 if it was not compared.
double largest(const Session& session, NodeId node) {
    const analysis::NodeDifference* const found = session.comparison().of(node);
    return found ? found->maxAbsolute : -1;
}

}  // namespace

class TestComparedRuns : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string write(const char* name, const std::string& bytes) const {
        const std::string path = m_folder.filePath(QLatin1String(name)).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }
    NodeId node(const Session& session, const char* name) const { return session.document()->graph->findNode(name); }

  private Q_SLOTS:
    void aReferenceGivesItsInputs();
    void aReferenceThatDiffersNamesTheFirst();
    void checkComparesEveryCase();
    void theShownCaseIsNamed();
    void severalOtherCasesAreCounted();
    void whatIsGivenAtTheStartIsUsed();
    void theBaselineIsComparedAgain();
    void anotherModelIsComparedByNames();
    void toleranceDecides();
    void anotherFileMakesItStale();
    void whatCannotBeComparedIsTold();
    void theBaselineOfAFormerFileIsRefused();
    void outputsByPositionAreTold();
};

void TestComparedRuns::aReferenceGivesItsInputs() {
    Session session;
    QVERIFY(session.open(model("mlp_functional.onnx")));
    session.comparison().withFile(model("mlp_functional.npz"));
    const session::Comparison& found = session.comparison();
    QVERIFY(found.isKnown() && !found.isStale());
    QCOMPARE(found.title(), "mlp_functional.npz");
    QVERIFY(found.compared() >= 3);
    QCOMPARE(found.differing(), std::size_t(0));
    QVERIFY(QString::fromStdString(found.summary()).endsWith("values agree with mlp_functional.npz"));
    // The session's run is that of the reference.
    QCOMPARE(session.runs().state(), session::RunState::Finished);
    const auto npz = io::NpzFile::open(model("mlp_functional.npz"));
    const std::string input = session.inputs().all().front().name;
    QCOMPARE(session.inputs().all().front().spec.source, model("mlp_functional.npz"));
    QVERIFY(tensor::identical(session.runs().last().inputs.front().tensor(), *npz->read("in." + input)));
}

void TestComparedRuns::aReferenceThatDiffersNamesTheFirst() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("two.npz").toStdString();
    // y = 2x is right, w = 3x is not.
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({2}, {1, 2})},
                               {"node.y", Tensor::of<float>({2}, {2, 4})},
                               {"out.w", Tensor::of<float>({2}, {3, 7})}}));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().differing(), std::size_t(1));
    QCOMPARE(session.comparison().firstDiverging(), node(session, "w"));
    QCOMPARE(session.comparison().diverging(), std::vector<NodeId>{node(session, "w")});
    QVERIFY(largest(session, node(session, "y")) == 0);
    QCOMPARE(largest(session, node(session, "w")), 1.0);
}

void TestComparedRuns::checkComparesEveryCase() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("cases.npz").toStdString();
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({1}, {1})},
                               {"out.w", Tensor::of<float>({1}, {3})},
                               {"case1.in.x", Tensor::of<float>({1}, {5})},
                               {"case1.out.w", Tensor::of<float>({1}, {14})}}));
    const auto found = session.check(file);
    QVERIFY(found);
    QCOMPARE(found->cases.size(), std::size_t(2));
    QVERIFY(found->cases[0].ok() && !found->cases[1].ok());
    QVERIFY(!session.runs().last().recording);  // the session's own run is not touched
    session.comparison().setTolerances(analysis::Tolerance{0, 1, 0});
    QVERIFY(session.check(file)->cases[1].ok());
}

/// w = 3x: case 0 is right, case1 off by 1 and case2 by 4; the sequence is off in its second frame.
void TestComparedRuns::theShownCaseIsNamed() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("cases.npz").toStdString();
    std::vector<io::NamedTensor> arrays{
        {"in.x", Tensor::of<float>({1}, {1})},       {"out.w", Tensor::of<float>({1}, {3})},
        {"case1.in.x", Tensor::of<float>({1}, {5})}, {"case1.out.w", Tensor::of<float>({1}, {14})},
        {"case2.in.x", Tensor::of<float>({1}, {6})}, {"case2.out.w", Tensor::of<float>({1}, {14})}};
    QVERIFY(writeArrays(file, arrays));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().summary(), std::string("1 of 1 value differs from cases.npz; case2 differs"));
    QCOMPARE(session.comparison().remarks(),
             std::string("case1 is shown; case2 differs (1 of 1 value, first out.w), case 0 agrees"));
    QCOMPARE(largest(session, node(session, "w")), 1.0);
    QCOMPARE(session.runs().last().inputs.front().tensor().toDouble(0), 5.0);
    // Cases that agree are shown although the sequence does not, and that is said.
    arrays = {arrays[0], arrays[1]};
    arrays.emplace_back("seq.in.x", Tensor::of<float>({2, 1}, {1, 2}));
    arrays.emplace_back("seq.out.w", Tensor::of<float>({2, 1}, {3, 7}));
    QVERIFY(writeArrays(file, arrays));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().summary(), std::string("1 value agrees with cases.npz, but seq differs"));
    QCOMPARE(session.comparison().remarks(),
             std::string("case 0 is shown; seq differs (1 of 1 value, first out.w: frame 1)"));
    // One case has no name.
    QVERIFY(writeArrays(file, {arrays[0], arrays[1]}));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().summary(), std::string("1 value agrees with cases.npz"));
    QCOMPARE(session.comparison().remarks(), std::string());
}

/// w = 3x: case 0 differs, and of three others two.
void TestComparedRuns::severalOtherCasesAreCounted() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("cases.npz").toStdString();
    std::vector<io::NamedTensor> arrays;
    for (const auto& [prefix, w] : {std::pair{"", 4.F}, {"case1.", 3.F}, {"case2.", 5.F}, {"case3.", 6.F}}) {
        arrays.emplace_back(std::string(prefix) + "in.x", Tensor::of<float>({1}, {1}));
        arrays.emplace_back(std::string(prefix) + "out.w", Tensor::of<float>({1}, {w}));
    }
    QVERIFY(writeArrays(file, arrays));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().summary(),
             std::string("1 of 1 value differs from cases.npz; 2 of 3 other cases differ"));
}

/// Who is told that a comparison starts gives another tolerance and other inputs: it is made once, with these.
void TestComparedRuns::whatIsGivenAtTheStartIsUsed() {
    class Giving : public session::Observer {
      public:
        void comparisonStarted() override {
            ++started;
            if (give) give();
        }
        void told(const session::Notice& notice) override { notices.push_back(notice.what); }
        std::function<void()> give;
        int started = 0;
        std::vector<std::string> notices;
    };
    session::InlineExecutor executor;
    Giving observer;
    Session session(executor, &observer);
    QVERIFY(session.open(write("two.onnx", twoSteps("Mul"))));
    session.runs().giveValues({floats({1, 2})});
    session.runs().run();
    session.comparison().setBaseline();
    session.runs().giveValues({floats({1, 2.25F})});
    observer.notices.clear();
    // y = x² is 5.0625 instead of 4: 0.21 of the largest magnitude.
    observer.give = [&session] { session.comparison().setTolerances(analysis::Tolerance{0, 0, 0.5}); };
    session.comparison().withBaseline();
    QCOMPARE(observer.started, 1);
    QCOMPARE(session.comparison().differing(), std::size_t(0));
    QCOMPARE(observer.notices.size(), std::size_t(1));
    // The inputs come from there too: 5, y = 25.
    observer.give = [&session] { QVERIFY(session.runs().give("x", {"[1,5]"})); };
    session.comparison().again();
    QCOMPARE(observer.started, 2);
    QCOMPARE(session.comparison().differing(), std::size_t(2));
    QCOMPARE(largest(session, node(session, "y")), 21.0);
}

void TestComparedRuns::theBaselineIsComparedAgain() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Mul"))));
    session.runs().giveValues({floats({1, 2})});
    session.runs().run();
    session.comparison().setBaseline();
    session.comparison().withBaseline();
    QCOMPARE(session.comparison().differing(), std::size_t(0));
    // Of other inputs it is made again: y = x², w = x² + x.
    session.runs().giveValues({floats({1, 3})});
    QVERIFY(session.comparison().isStale());
    QCOMPARE(session.comparison().staleReason(), "the inputs were changed");
    session.runs().run();
    QVERIFY(!session.comparison().isStale());
    QCOMPARE(largest(session, node(session, "y")), 5.0);
    QCOMPARE(largest(session, node(session, "w")), 6.0);
    QCOMPARE(session.comparison().worstFirst().front(), node(session, "w"));
    QCOMPARE(session.comparison().differingInputs(), std::vector<NodeId>{node(session, "x")});
    // It outlives the model that it is of.
    QVERIFY(session.open(write("other.onnx", twoSteps("Add"))));
    QVERIFY(!session.comparison().isKnown() && session.comparison().hasBaseline());
    session.runs().giveValues({floats({2, 2})});
    session.comparison().withBaseline();
    QCOMPARE(session.comparison().compared(), std::size_t(2));  // y and w; inputs are told apart
}

void TestComparedRuns::anotherModelIsComparedByNames() {
    Session session;
    QVERIFY(session.open(write("a.onnx", twoSteps("Add"))));
    session.runs().giveValues({floats({2, 5})});
    session.comparison().withFile(write("b.onnx", twoSteps("Mul")));
    // 2 + 2 = 2 · 2, and 5 + 5 is 15 less than 5 · 5.
    QCOMPARE(largest(session, node(session, "y")), 15.0);
    QCOMPARE(session.comparison().firstDiverging(), node(session, "y"));
    const analysis::NodeDifference* const w = session.comparison().of(node(session, "w"));
    QVERIFY(w && w->isInherited);
}

void TestComparedRuns::toleranceDecides() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Mul"))));
    session.runs().giveValues({floats({1, 100})});
    session.runs().run();
    session.comparison().setBaseline();
    session.runs().giveValues({floats({1.0005F, 100})});
    session.comparison().withBaseline();                         // runs first: the inputs have changed
    QCOMPARE(session.comparison().differing(), std::size_t(0));  // 1e-4 of the largest magnitude, 10,000
    QVERIFY(!session.comparison().setTolerances(analysis::Tolerances()));
    QVERIFY(session.comparison().setTolerances(analysis::Tolerance{0, 1e-6, 0}));
    QVERIFY(!session.comparison().isStale());  // it was made again
    QVERIFY(session.comparison().differing() >= 2);
    QVERIFY(!session.comparison().hasDefaultTolerances());
}

void TestComparedRuns::anotherFileMakesItStale() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("changing.npz").toStdString();
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({1}, {1})}, {"out.w", Tensor::of<float>({1}, {3})}}));
    session.comparison().withFile(file);
    QVERIFY(!session.comparison().isStale());
    QVERIFY(!session.comparison().files().empty());
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({1}, {1})}, {"out.w", Tensor::of<float>({1}, {4})}}));
    session.comparison().checkFiles();
    QCOMPARE(session.comparison().staleReason(), "changing.npz changed on disk");
    QVERIFY(!session.comparison().of(node(session, "w")));
    session.comparison().again();
    QVERIFY(!session.comparison().isStale());
    QCOMPARE(largest(session, node(session, "w")), 1.0);
}

void TestComparedRuns::whatCannotBeComparedIsTold() {
    struct Errors : session::Observer {
        std::vector<base::Error> all;
        void failed(const base::Error& error) override { all.push_back(error); }
    } errors;
    Session session;
    session.setObserver(&errors);
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    session.comparison().withFile("/nowhere.npz");
    QCOMPARE(errors.all.size(), std::size_t(1));
    QVERIFY(!session.comparison().isKnown() && !session.comparison().isActive());
    session.runs().giveValues({floats({1})});
    session.comparison().withFile("/nowhere.onnx");
    QCOMPARE(errors.all.size(), std::size_t(2));
    QVERIFY(session.comparison().canRepeat());
    session.comparison().clear();
    QVERIFY(!session.comparison().canRepeat());
}

void TestComparedRuns::theBaselineOfAFormerFileIsRefused() {
    struct Errors : session::Observer {
        std::vector<base::Error> all;
        void failed(const base::Error& error) override { all.push_back(error); }
    } errors;
    const std::string path = write("changed.onnx", twoSteps("Add"));
    Session session;
    session.setObserver(&errors);
    QVERIFY(session.open(path));
    session.runs().giveValues({floats({1, 2})});
    session.runs().run();
    session.comparison().setBaseline();
    write("changed.onnx", twoSteps("Mul"));
    QVERIFY(session.open(path));
    session.runs().giveValues({floats({1, 2})});
    session.comparison().withBaseline();
    QCOMPARE(errors.all.size(), std::size_t(1));
    QCOMPARE(errors.all.front().what, "the baseline is of the model file before it changed on disk");
    QCOMPARE(errors.all.front().hint, "Set the baseline again");
    QVERIFY(!session.comparison().isKnown());
}

void TestComparedRuns::outputsByPositionAreTold() {
    Session session;
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("named.npz").toStdString();
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({1}, {1})}, {"out.other", Tensor::of<float>({1}, {3})}}));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().summary(), "1 value agrees with named.npz");
    QCOMPARE(session.comparison().remarks(), "out.other is compared with output w (by position)");
}

QTEST_MAIN(TestComparedRuns)
#include "tst_compared_runs.moc"
