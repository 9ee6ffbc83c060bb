// Comparisons of a run with edits: what is counted, in which nodes, where it begins, and what becomes of it when edits
// change. Expected values are worked out by hand: y = x · w, z = relu(y), s = z + c, t = -x of x = [[1, 2], [3, 4]], w
// the identity, c = [10, 20].

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/export/write_export.h"
#include "core/graph/edit_origin.h"
#include "core/io/npz/npz.h"
#include "core/session/bisection/bisection.h"
#include "core/session/edits/edit_line.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"
#include "tests/support/linear_network.h"

namespace tst_compared_edits {

using namespace sonde;
using graph::NodeId;
using tensor::Tensor;

namespace {

Tensor square(const std::vector<float>& values) { return Tensor::of<float>({2, 2}, values); }

struct Listener : session::Observer {
    int runs = 0, made = 0;
    std::vector<session::Notice> notices;
    void runStarted() override { ++runs; }
    void comparisonMade() override { ++made; }
    void told(const session::Notice& notice) override { notices.push_back(notice); }
};

/// The open model with reference values of a plain run.
struct Opened {
    QTemporaryDir folder;
    Listener listener;
    session::Session session;

    Opened() {
        session.setObserver(&listener);
        sonde::test::writeLinearNetwork(file("linear.onnx"));
        sonde::test::writeLinearNetwork(file("other.onnx"), {1, 5, 0, 1});
        write("plain.npz", {{"in.x", square({1, 2, 3, 4})},
                            {"node.y", square({1, 2, 3, 4})},
                            {"node.z", square({1, 2, 3, 4})},
                            {"out.s", square({11, 22, 13, 24})},
                            {"out.t", square({-1, -2, -3, -4})}});
        QVERIFY(session.open(file("linear.onnx")));
        session.runs().giveValues({tensor::Value(square({1, 2, 3, 4}))});
        session.runs().run();
    }
    std::string file(const char* name) const { return folder.filePath(QString::fromLatin1(name)).toStdString(); }
    void write(const char* name, const std::vector<io::NamedTensor>& values) const {
        QVERIFY(io::writeNpz(file(name), values).has_value());
    }
    void edit(const char* line) {
        std::size_t column = 1;
        auto read = session::parseSet(line, column);
        QVERIFY2(read, line);
        session::EditPlace place;
        const auto done = session.addEdit(named(read->node), read->edit, place);
        QVERIFY2(done, done ? "" : done.error().text().c_str());
    }
    NodeId named(const std::string& name) const { return session.document()->graph->findNode(name); }
    const session::Comparison& comparison() const { return session.comparison(); }
    /// The largest difference of a node; -1 if nothing is known of it.
    double largest(const char* node) const {
        const analysis::NodeDifference* const found = comparison().of(named(node));
        return found ? found->maxAbsolute : -1;
    }
};

}  // namespace

class TestComparedEdits : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyNodeIsThatOfTheEditedRun();
    void anEditedInputIsTheOrigin();
    void anEditOfAWeightBeginsWhereItIsUsed();
    void whatDrawsOnTheRunCounts();
    void aBisectionNamesTheEditedNode();
    void aBisectionAgainstASavedEditEndsAtIt();
    void sequencesCountThem();
    void otherModelsGetTheEditedInputs();
    void theBaselineIsWithoutThem();
    void otherEditsMakeItStale();
    void itFollowsInPlace();
    void itDoesNotFollowOtherInputs();
    void whoAsksIsTold();
    void theyCanBeLeftOut();
};

/// z[0, 1] = 9: s[0, 1] = 29. What comes before, and beside it, is as in the reference.
void TestComparedEdits::everyNodeIsThatOfTheEditedRun() {
    Opened opened;
    opened.session.comparison().withFile(opened.file("plain.npz"));
    QCOMPARE(opened.comparison().differing(), std::size_t(0));
    QCOMPARE(opened.comparison().editCount(), std::size_t(0));
    opened.edit("z[0, 1] = 9");
    opened.session.comparison().again();
    QVERIFY(!opened.comparison().isStale());
    QCOMPARE(opened.comparison().editCount(), std::size_t(1));
    QCOMPARE(opened.comparison().compared(), std::size_t(4));
    QCOMPARE(opened.comparison().diverging(), (std::vector<NodeId>{opened.named("z"), opened.named("s")}));
    QCOMPARE(opened.largest("y"), 0.0);
    QCOMPARE(opened.largest("z"), 7.0);
    QCOMPARE(opened.largest("s"), 7.0);
    QCOMPARE(opened.largest("t"), 0.0);
    QCOMPARE(QString::fromStdString(opened.comparison().summary()),
             QString("2 of 4 values differ from plain.npz (with 1 edit)"));
    QCOMPARE(QString::fromStdString(opened.listener.notices.back().what),
             QString("2 of 4 values differ from plain.npz (with 1 edit)"));
    // The origin is the edited value, not what adds to it.
    const auto& problems = opened.comparison().divergence();
    QCOMPARE(problems.size(), std::size_t(2));
    QCOMPARE(problems[0].node, opened.named("z"));
    QVERIFY(problems[0].role == analysis::ProblemRole::Origin);
    QCOMPARE(problems[1].node, opened.named("s"));
    QVERIFY(problems[1].role == analysis::ProblemRole::Carrier);
}

/// x[0, 1] = 3 is not the reference's x; y, z, s and t hand it on.
void TestComparedEdits::anEditedInputIsTheOrigin() {
    Opened opened;
    opened.edit("x[0, 1] = 3");
    opened.session.comparison().withFile(opened.file("plain.npz"));
    QCOMPARE(opened.comparison().differing(), std::size_t(4));
    QCOMPARE(opened.largest("t"), 1.0);
    const auto& problems = opened.comparison().divergence();
    QVERIFY(!problems.empty());
    QCOMPARE(problems.front().node, opened.named("x"));
    const auto origins = std::ranges::count(problems, analysis::ProblemRole::Origin, &analysis::Problem::role);
    QCOMPARE(static_cast<int>(origins), 1);
    // The session's input is the reference's own.
    QVERIFY(tensor::identical(opened.session.runs().last().inputs.front().tensor(), square({1, 2, 3, 4})));
}

/// w[0, 1] = 5: y = [[1, 7], [3, 19]].
void TestComparedEdits::anEditOfAWeightBeginsWhereItIsUsed() {
    Opened opened;
    opened.edit("w[0, 1] = 5");
    opened.session.comparison().withFile(opened.file("plain.npz"));
    QCOMPARE(opened.comparison().firstDiverging(), opened.named("y"));
    QCOMPARE(opened.largest("y"), 15.0);
    const auto& problems = opened.comparison().divergence();
    QCOMPARE(problems.size(), std::size_t(3));
    QCOMPARE(problems.front().node, opened.named("y"));
    QVERIFY(problems.front().role == analysis::ProblemRole::Origin);
    // It is computed again from the reference's own y, which gives the reference's z.
    QVERIFY(problems[1].role == analysis::ProblemRole::Carrier);
}

/// z[0] = y[0] * 2 = [2, 4] has no form as a model.
void TestComparedEdits::whatDrawsOnTheRunCounts() {
    Opened opened;
    opened.edit("z[0] = y[0] * 2");
    opened.session.comparison().withFile(opened.file("plain.npz"));
    QVERIFY(!opened.comparison().error());
    QCOMPARE(opened.largest("z"), 2.0);
    QCOMPARE(opened.largest("s"), 2.0);
    QCOMPARE(opened.comparison().differing(), std::size_t(2));
}

/// Each frame has them: with x[0, 0] = 7 all frames have s[0, 0] = 17.
void TestComparedEdits::sequencesCountThem() {
    Opened opened;
    const auto frames = [](const std::vector<float>& values) { return Tensor::of<float>({2, 2, 2}, values); };
    opened.write("seq.npz", {{"in.x", square({1, 2, 3, 4})},
                             {"out.s", square({17, 22, 13, 24})},
                             {"seq.in.x", frames({1, 2, 3, 4, 5, 6, 7, 8})},
                             {"seq.out.s", frames({17, 22, 13, 24, 17, 26, 17, 28})}});
    opened.session.comparison().withFile(opened.file("seq.npz"));
    QVERIFY(QString::fromStdString(opened.comparison().summary()).contains("seq differs"));
    opened.edit("x[0, 0] = 7");
    opened.session.comparison().again();
    QCOMPARE(QString::fromStdString(opened.comparison().summary()),
             QString("2 values in 2 cases agree with seq.npz (with 1 edit)"));
}

/// other.onnx has w[0, 1] = 5. With the same edited inputs and weights both are the same.
void TestComparedEdits::otherModelsGetTheEditedInputs() {
    Opened opened;
    opened.session.comparison().withFile(opened.file("other.onnx"));
    QCOMPARE(opened.comparison().differing(), std::size_t(3));
    opened.edit("w[0, 1] = 5");
    opened.edit("x[1, 1] = -6");
    opened.session.comparison().again();
    QCOMPARE(opened.comparison().differing(), std::size_t(0));
    QVERIFY(opened.comparison().differingInputs().empty());
    QVERIFY(QString::fromStdString(opened.comparison().summary()).endsWith("agree with other.onnx (with 2 edits)"));
}

void TestComparedEdits::theBaselineIsWithoutThem() {
    Opened opened;
    opened.edit("y[1, 0] = 30");
    const QString said = QString::fromStdString(opened.session.comparison().setBaseline());
    QCOMPARE(said, QString("Baseline set to this run (without the 1 edit)"));
    opened.session.comparison().withBaseline();
    QCOMPARE(opened.largest("y"), 27.0);
    QCOMPARE(opened.comparison().differing(), std::size_t(3));
}

/// Whether one is added, switched off or taken back. The list as it was makes nothing right again by itself.
void TestComparedEdits::otherEditsMakeItStale() {
    Opened opened;
    opened.session.comparison().withFile(opened.file("plain.npz"));
    opened.edit("z[0, 1] = 9");
    QVERIFY(opened.comparison().isStale());
    QCOMPARE(QString::fromStdString(opened.comparison().staleReason()), QString("the edits were changed"));
    QVERIFY(opened.comparison().of(opened.named("z")) == nullptr);
    QVERIFY(opened.comparison().divergence().empty());
    opened.session.comparison().again();
    QVERIFY(!opened.comparison().isStale());
    QVERIFY(opened.session.edits().setEnabled(0, false));
    QVERIFY(opened.comparison().isStale());
    opened.session.comparison().again();
    QCOMPARE(opened.comparison().differing(), std::size_t(0));
    QCOMPARE(opened.comparison().editCount(), std::size_t(0));
    // One that is off is none: what was compared stays as it is.
    QVERIFY(opened.session.edits().remove(0));
    QVERIFY(!opened.comparison().isStale());
}

/// By itself, and without a plain run, which would end what is looked at.
void TestComparedEdits::itFollowsInPlace() {
    Opened opened;
    opened.session.comparison().setFollowsEdits(true);
    opened.session.comparison().withFile(opened.file("plain.npz"));
    opened.session.debugger().resume();
    const int runs = opened.listener.runs;
    opened.edit("z[0, 1] = 9");
    QVERIFY(!opened.comparison().isStale());
    QCOMPARE(opened.comparison().differing(), std::size_t(2));
    opened.edit("y[1, 1] = 0");
    QCOMPARE(opened.comparison().differing(), std::size_t(3));
    QCOMPARE(opened.comparison().editCount(), std::size_t(2));
    QVERIFY(opened.session.edits().undo());
    QCOMPARE(opened.comparison().differing(), std::size_t(2));
    QVERIFY(opened.session.edits().undo());
    QCOMPARE(opened.comparison().differing(), std::size_t(0));
    QCOMPARE(opened.comparison().editCount(), std::size_t(0));
    QVERIFY(!opened.comparison().isStale());
    QVERIFY(opened.session.edits().redo());
    QCOMPARE(opened.comparison().differing(), std::size_t(2));
    QCOMPARE(opened.listener.runs, runs);
    QVERIFY(opened.session.debugger().hasBegun());
}

/// There is no run of them that it could be made of.
void TestComparedEdits::itDoesNotFollowOtherInputs() {
    Opened opened;
    opened.session.comparison().setFollowsEdits(true);
    opened.session.comparison().withFile(opened.file("other.onnx"));
    opened.session.runs().giveValues({tensor::Value(square({0, 0, 0, 1}))});
    const int runs = opened.listener.runs;
    opened.edit("z[0, 1] = 9");
    QCOMPARE(opened.listener.runs, runs);
    QVERIFY(opened.comparison().isStale());
}

void TestComparedEdits::whoAsksIsTold() {
    Opened opened;
    opened.session.comparison().setFollowsEdits(true);
    opened.session.comparison().withFile(opened.file("plain.npz"));
    QCOMPARE(opened.listener.made, 1);
    opened.edit("z[0, 1] = 9");
    QCOMPARE(opened.listener.made, 1);
    opened.session.comparison().again();
    QCOMPARE(opened.listener.made, 2);
}

void TestComparedEdits::theyCanBeLeftOut() {
    Opened opened;
    opened.edit("z[0, 1] = 9");
    opened.session.comparison().setCountsEdits(false);
    opened.session.comparison().withFile(opened.file("plain.npz"));
    QCOMPARE(opened.comparison().differing(), std::size_t(0));
    QCOMPARE(opened.comparison().editCount(), std::size_t(0));
    QCOMPARE(QString::fromStdString(opened.comparison().summary()), QString("4 values agree with plain.npz"));
}

/// Not an operation that the edit was written as.
/// In a file that was saved with the edit: not at what reads the edited value.
void TestComparedEdits::aBisectionAgainstASavedEditEndsAtIt() {
    using namespace session::bisection;
    for (const char* line : {"y[0, 1] = 7", "s[1] = 0"}) {
        Opened opened;
        opened.edit(line);
        const auto edited = session::editedDocument(*opened.session.document(), opened.session.edits());
        QVERIFY2(edited, edited ? "" : edited.error().text().c_str());
        const std::string path = opened.file("edited.onnx");
        QVERIFY(exporting::writeExport(**edited, {exporting::ExportFormat::Onnx, {}}, path, {}).has_value());
        const auto saved = document::open(path);
        QVERIFY2(saved, saved ? "" : saved.error().text().c_str());
        const std::vector<tensor::Value> inputs{tensor::Value(square({1, 2, 3, 4}))};
        const auto found = bisect({opened.session.document(), inputs}, OtherModel{*saved});
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QVERIFY(found->found.differs);
        QCOMPARE(found->found.node, opened.named(std::string(1, *line)));
        QCOMPARE(found->found.operations.size(), std::size_t{1});
        // So does a comparison of all values.
        Opened plain;
        plain.session.comparison().withFile(path);
        QVERIFY(!plain.comparison().diverging().empty());
        QCOMPARE(plain.comparison().diverging().front(), plain.named(std::string(1, *line)));
    }
}

void TestComparedEdits::aBisectionNamesTheEditedNode() {
    using namespace session::bisection;
    Opened opened;
    opened.edit("y[0, 1] = 7");
    const auto edited = session::editedDocument(*opened.session.document(), opened.session.edits());
    QVERIFY2(edited, edited ? "" : edited.error().text().c_str());
    const std::vector<tensor::Value> inputs{tensor::Value(square({1, 2, 3, 4}))};
    const auto found = bisect({*edited, inputs}, OtherModel{opened.session.document()});
    QVERIFY2(found, found ? "" : found.error().text().c_str());
    QVERIFY(found->found.differs);
    const QString text = QString::fromStdString(outcomeText(*found, nullptr));
    QVERIFY2(text.startsWith("y (by its edit) differs\n"), qPrintable(text));
    QVERIFY2(text.contains("\n  the edit of y  Where"), qPrintable(text));
    nlohmann::ordered_json json;
    addOutcome(json, *found, nullptr);
    QCOMPARE(json["edit"].get<std::string>(), std::string("y"));
    // The model's own operations are named as ever.
    QVERIFY(graph::editedNodeOf(opened.session.document()->graph->expr(graph::ExprId(std::size_t{1}))).empty());
}

QTEST_GUILESS_MAIN(TestComparedEdits)

}  // namespace tst_compared_edits

#include "tst_compared_edits.moc"
