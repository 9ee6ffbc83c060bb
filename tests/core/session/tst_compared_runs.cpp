// Comparisons of a session's runs: with reference values that PyTorch computed (tests/data/models), with a baseline,
// with another model; when they become stale and when they are made again.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"

namespace tst_compared_runs {

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

/// y = x + x, f = y[i], w = f + f; e = relu(y) comes behind f and needs nothing of it. With i beyond y's end f fails.
std::string takesOne() {
    onnx::Graph graph;
    graph.nodes = {
        {"Add", {"x", "x"}, {"y"}}, {"Gather", {"y", "i"}, {"f"}}, {"Relu", {"y"}, {"e"}}, {"Add", {"f", "f"}, {"w"}}};
    graph.inputs = {onnx::valueInfo("x", 1, {-1}), onnx::valueInfo("i", 7, {1})};
    graph.outputs = {onnx::valueInfo("w", 1, {1}), onnx::valueInfo("e", 1, {-1})};
    return onnx::model(graph);
}
tensor::Value index(std::int64_t at) { return Tensor::of<std::int64_t>({1}, std::vector<std::int64_t>{at}); }

/// Keeps what it is told.
struct Listener : session::Observer {
    std::vector<session::Notice> notices;
    std::vector<base::Error> errors;
    void told(const session::Notice& notice) override { notices.push_back(notice); }
    void failed(const base::Error& error) override { errors.push_back(error); }
};

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
    void casesThatAgreeAreCounted();
    void aCaseMayFail();
    void whatIsGivenAtTheStartIsUsed();
    void theBaselineIsComparedAgain();
    void anotherModelIsComparedByNames();
    void toleranceDecides();
    void anotherFileMakesItStale();
    void whatCannotBeComparedIsTold();
    void theBaselineOfAFormerFileIsRefused();
    void theBaselineOfAFormerInputIsRefused();
    void aBaselineMayHaveFailed();
    void theBaselineSaysWhatItIs();
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
    // Of all its cases, as check() counts them.
    const auto checked = session.check(model("mlp_functional.npz"));
    QVERIFY(checked && checked->cases.size() > 1);
    std::size_t values = 0;
    for (const analysis::ComparedCase& one : checked->cases) values += one.values.size();
    QCOMPARE(found.summary(), std::to_string(values) + " values in " + std::to_string(checked->cases.size()) +
                                  " cases agree with mlp_functional.npz");
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

/// w = 3x, y = 2x: three cases of two, one and two values.
void TestComparedRuns::casesThatAgreeAreCounted() {
    Listener listener;
    Session session;
    session.setObserver(&listener);
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("cases.npz").toStdString();
    QVERIFY(writeArrays(file, {{"in.x", Tensor::of<float>({1}, {1})},
                               {"out.w", Tensor::of<float>({1}, {3})},
                               {"node.y", Tensor::of<float>({1}, {2})},
                               {"case1.in.x", Tensor::of<float>({1}, {5})},
                               {"case1.out.w", Tensor::of<float>({1}, {15})},
                               {"case2.in.x", Tensor::of<float>({2}, {5, 6})},
                               {"case2.node.y", Tensor::of<float>({2}, {10, 12})},
                               {"case2.out.w", Tensor::of<float>({2}, {15, 18})}}));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().summary(), std::string("5 values in 3 cases agree with cases.npz"));
    QCOMPARE(session.comparison().comparedInAll(), std::size_t(5));
    QCOMPARE(session.comparison().compared(), std::size_t(2));  // those of the case that is shown
    QCOMPARE(session.comparison().remarks(), std::string());
    QCOMPARE(listener.notices.back().what, session.comparison().summary());
    QVERIFY(listener.notices.back().isDifference);
    QCOMPARE(listener.notices.back().severity, base::Severity::Info);
}

/// The one that fails is shown; of the others is told what came of them.
void TestComparedRuns::aCaseMayFail() {
    Session session;
    QVERIFY(session.open(write("fails.onnx", takesOne())));
    const std::string file = m_folder.filePath("cases.npz").toStdString();
    const Tensor x = Tensor::of<float>({2}, {1, 2});
    std::vector<io::NamedTensor> arrays{{"in.x", x},
                                        {"in.i", index(1).tensor()},
                                        {"out.w", Tensor::of<float>({1}, {8})},
                                        {"out.e", Tensor::of<float>({2}, {2, 4})},
                                        {"case1.in.x", x},
                                        {"case1.in.i", index(5).tensor()},
                                        {"case1.out.w", Tensor::of<float>({1}, {8})}};
    QVERIFY(writeArrays(file, arrays));
    session.comparison().withFile(file);
    QCOMPARE(session.comparison().compared(), std::size_t(0));
    QCOMPARE(session.comparison().summary(),
             std::string("Compared with cases.npz: 2 values agree in 1 case; case1 failed"));
    QCOMPARE(session.comparison().remarks(), std::string("case1 is shown; case 0 agrees"));
    // One that differs, and values before the failure.
    arrays[2].second = Tensor::of<float>({1}, {9});
    arrays.emplace_back("case1.node.y", Tensor::of<float>({2}, {2, 5}));
    QVERIFY(writeArrays(file, arrays));
    session.comparison().withFile(file);
    QVERIFY2(session.comparison().remarks().find("case 0 is shown; case1 failed: ") == 0,
             session.comparison().remarks().c_str());
    QVERIFY2(session.comparison().remarks().ends_with(" (1 of 1 value before that differs, first y)"),
             session.comparison().remarks().c_str());
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

void TestComparedRuns::theBaselineOfAFormerInputIsRefused() {
    Listener listener;
    Session session;
    session.setObserver(&listener);
    QVERIFY(session.open(write("two.onnx", twoSteps("Add"))));
    const std::string file = m_folder.filePath("x.npy").toStdString();
    const auto given = [&](std::vector<float> x) {
        return io::writeNpyFile(file, floats(std::move(x)).tensor()) && session.runs().give("x", {file});
    };
    QVERIFY(given({1, 2}));
    session.runs().run();
    session.comparison().setBaseline();
    session.comparison().withBaseline();
    QVERIFY(listener.errors.empty() && session.comparison().isKnown());
    session.comparison().clear();
    QVERIFY(given({3, 4}));
    session.runs().run();
    session.comparison().withBaseline();
    QCOMPARE(listener.errors.size(), std::size_t(1));
    QCOMPARE(listener.errors.front().what, std::string("the baseline is of the input file before it changed on disk"));
    QCOMPARE(listener.errors.front().where, file);
    QCOMPARE(listener.errors.front().hint, std::string("Set the baseline again"));
    session.comparison().setBaseline();
    session.comparison().withBaseline();
    QCOMPARE(listener.errors.size(), std::size_t(1));
    QCOMPARE(session.comparison().differing(), std::size_t(0));
}

/// Only what comes before the failure, in the order of the program, has something to be compared with.
void TestComparedRuns::aBaselineMayHaveFailed() {
    Listener listener;
    Session session;
    session.setObserver(&listener);
    QVERIFY(session.open(write("fails.onnx", takesOne())));
    session.runs().giveValues({floats({1, 2}), index(5)});
    session.runs().run();
    QCOMPARE(session.runs().state(), session::RunState::Failed);
    session.comparison().setBaseline();
    // With itself: the run failed, which was told of that run.
    session.comparison().withBaseline();
    QCOMPARE(session.comparison().compared(), std::size_t(1));
    QVERIFY(largest(session, node(session, "y")) == 0 && largest(session, node(session, "f")) == -1 &&
            largest(session, node(session, "e")) == -1 && largest(session, node(session, "w")) == -1);
    QCOMPARE(session.comparison().summary(),
             std::string("Compared with the baseline up to the end of the run: 0 of 1 value differ"));
    QVERIFY(listener.errors.empty());
    // With a run that came to its end: it is the baseline that failed, and that is said of it.
    session.runs().giveValues({floats({1, 2}), index(0)});
    session.runs().run();
    QCOMPARE(session.runs().state(), session::RunState::Finished);
    QVERIFY(!session.comparison().isStale());
    QCOMPARE(session.comparison().compared(), std::size_t(1));
    QVERIFY2(
        session.comparison().summary().starts_with("Compared with the baseline up to its failure: 0 of 1 value differ"),
        session.comparison().summary().c_str());
    QVERIFY2(session.comparison().remarks().starts_with("the baseline failed: "),
             session.comparison().remarks().c_str());
    QVERIFY(listener.errors.empty());
}

void TestComparedRuns::theBaselineSaysWhatItIs() {
    Listener listener;
    Session session;
    session.setObserver(&listener);
    QCOMPARE(session.comparison().setBaseline(), std::string());
    QVERIFY(session.open(write("fails.onnx", takesOne())));
    QCOMPARE(session.comparison().setBaseline(), std::string("Baseline set to the present inputs"));
    session.runs().giveValues({floats({1, 2}), index(0)});
    session.runs().run();
    QCOMPARE(session.comparison().setBaseline(), std::string("Baseline set to this run"));
    QCOMPARE(listener.notices.back().severity, base::Severity::Info);
    session.runs().giveValues({floats({1, 2}), index(5)});
    session.runs().run();
    QCOMPARE(session.comparison().setBaseline(),
             std::string("Baseline set to a run that failed: Only values that it computed before that can be compared "
                         "with it"));
    QCOMPARE(listener.notices.back().severity, base::Severity::Warning);
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

}  // namespace tst_compared_runs

#include "tst_compared_runs.moc"
