// A comparison while there are edits, in the real window: what it counts, where it says so, and that it follows the
// edits or says why not. So do the other panels that compute something. Expected values are worked out by hand:
// y = x · w, z = relu(y), s = z + c, t = -x of x = [[1, -2], [3, 4]], w the identity, c = [10, 20].

#include <QLabel>
#include <QTableView>

#include "core/io/npz/npz.h"
#include "core/session/edits/edit_line.h"
#include "tests/support/linear_network.h"
#include "tests/support/window_fixture.h"
#include "ui/context/bisection.h"
#include "ui/context/outputs.h"
#include "ui/context/precision.h"
#include "ui/context/sweeps.h"
#include "ui/panels/bisection/bisection_panel.h"
#include "ui/panels/comparison/comparison_panel.h"
#include "ui/panels/outputs/outputs_panel.h"
#include "ui/panels/precision/precision_panel.h"
#include "ui/panels/profile/profile_panel.h"

namespace tst_edited_comparison {

using namespace sonde;
using tensor::Tensor;

class TestEditedComparison : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        m_folder = std::make_unique<QTemporaryDir>();
        test::writeLinearNetwork(path("linear.onnx").toStdString());
        write("plain.npz", {{"in.x", square({1, -2, 3, 4})},
                            {"node.y", square({1, -2, 3, 4})},
                            {"node.z", square({1, 0, 3, 4})},
                            {"out.s", square({11, 20, 13, 24})},
                            {"out.t", square({-1, 2, -3, -4})}});
        openWindow({1400, 900});
        open(path("linear.onnx"));
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[1,-2],[3,4]]"), {}});
        settle();
    }
    void cleanup() { closeWindow(); }

    void itFollowsTheEdits();
    void itIsOfWhatIsShown();
    void askedForItShowsTheEditedRun();
    void theSecondPaneHasTheReference();
    void outputsAreThoseThatAreShown();
    void theProfileCountsThem();
    void theSweepCountsThem();
    void bisectionCountsThem();
    void precisionCountsThem();
    void whatHasNoModelIsNamed();

  private:
    static Tensor square(const std::vector<float>& values) { return Tensor::of<float>({2, 2}, values); }
    QString path(const char* name) const { return m_folder->filePath(QLatin1String(name)); }
    void write(const char* name, const std::vector<io::NamedTensor>& values) const {
        QVERIFY(io::writeNpz(path(name).toStdString(), values).has_value());
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    template <typename Panel>
    Panel* panel(const char* id) {
        return static_cast<Panel*>(m_window->docks().panel(QLatin1String(id)));
    }
    QString compared() { return panel<panels::ComparisonPanel>("comparison")->summary(); }
    void edit(const QString& line) {
        const auto read = context().edits().readLine(line, true);
        QVERIFY2(read, qPrintable(line));
        context().edits().add(read->first, read->second);
        settle();
    }
    void compare(const char* name) {
        context().comparison().withFile(path(name));
        settle();
    }
    bool isMarked(const char* name) {
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
        return item && (canvas()->marks().of(item) & canvas::kDiffers);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

/// In the background, after an edit and its undo and redo: the panel, the marks on the canvas, the numbers of nodes.
void TestEditedComparison::itFollowsTheEdits() {
    compare("plain.npz");
    QCOMPARE(compared(), QStringLiteral("4 values agree with plain.npz"));
    edit(QStringLiteral("z[0, 1] = 9"));
    QVERIFY(context().edits().isCounterfactual());
    QVERIFY2(!context().comparison().isStale(), qPrintable(context().comparison().staleReason()));
    QCOMPARE(compared(), QStringLiteral("2 of 4 values differ from plain.npz (with 1 edit)"));
    QCOMPARE(context().comparison().runText(), QStringLiteral("compared with plain.npz, with 1 edit"));
    QVERIFY(!isMarked("y") && isMarked("z") && isMarked("s") && !isMarked("t"));
    QCOMPARE(context().comparison().of(named("s"))->maxAbsolute, 9.0);
    edit(QStringLiteral("x[1, 1] = 0"));
    QCOMPARE(compared(), QStringLiteral("4 of 4 values differ from plain.npz (with 2 edits)"));
    context().edits().undo();
    settle();
    QCOMPARE(compared(), QStringLiteral("2 of 4 values differ from plain.npz (with 1 edit)"));
    context().edits().undo();
    settle();
    QCOMPARE(compared(), QStringLiteral("4 values agree with plain.npz"));
    QVERIFY(!isMarked("z") && !isMarked("s"));
    QVERIFY2(!context().comparison().isStale(), qPrintable(context().comparison().staleReason()));
    context().edits().redo();
    settle();
    QCOMPARE(compared(), QStringLiteral("2 of 4 values differ from plain.npz (with 1 edit)"));
    QVERIFY(context().edits().isCounterfactual());
}

/// What is shown without the edits is not what was compared.
void TestEditedComparison::itIsOfWhatIsShown() {
    compare("plain.npz");
    edit(QStringLiteral("z[0, 1] = 9"));
    context().debugger().setShown(context::ShownValues::Baseline);
    settle();
    QCOMPARE(context().comparison().staleReason(), QStringLiteral("what is shown is without the edits"));
    QVERIFY(!isMarked("s"));
    QVERIFY(context().comparison().runText().isEmpty());
    context().debugger().setShown(context::ShownValues::Counterfactual);
    settle();
    QVERIFY(isMarked("s"));
    key(Qt::Key_F5, Qt::AltModifier | Qt::ShiftModifier);  // the baseline
    QVERIFY2(compared().startsWith(QStringLiteral("Stale, what is shown is without the edits:")),
             qPrintable(compared()));
    QVERIFY(!isMarked("s"));
    key(Qt::Key_F5);
    QCOMPARE(compared(), QStringLiteral("2 of 4 values differ from plain.npz (with 1 edit)"));
    QVERIFY(isMarked("s"));
}

/// Asked for while nothing was run, and on other inputs than the present ones.
void TestEditedComparison::askedForItShowsTheEditedRun() {
    edit(QStringLiteral("z[0, 1] = 9"));
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[0,0],[0,0]]"), {}});
    settle();
    compare("plain.npz");
    QVERIFY(context().edits().isCounterfactual());
    QCOMPARE(compared(), QStringLiteral("2 of 4 values differ from plain.npz (with 1 edit)"));
    QVERIFY(isMarked("s"));
}

void TestEditedComparison::theSecondPaneHasTheReference() {
    compare("plain.npz");
    edit(QStringLiteral("z[0, 1] = 9"));
    // What the problems panel lists begins at the edit.
    const auto& problems = context().session().comparison().divergence();
    QVERIFY(!problems.empty());
    QCOMPARE(problems.front().node, named("z"));
}

/// s and t are fetched for it, whether they are looked at or not.
void TestEditedComparison::outputsAreThoseThatAreShown() {
    auto* outputs = panel<panels::OutputsPanel>("outputs");
    const auto first = [this] {
        const auto& all = context::outputsOf(context()).all();
        QString text;
        for (const std::string& line :
             all.empty() ? std::vector<std::string>() : session::outputs::textLines(all.front()))
            text += QString::fromStdString(line) + u'\n';
        return text;
    };
    run();
    const QString plain = first();
    QVERIFY(!outputs->notes().contains(QStringLiteral("edit")));
    edit(QStringLiteral("z = 100"));
    QTRY_VERIFY(outputs->notes().contains(QStringLiteral("Shown: with 1 edit")));
    QTRY_VERIFY(first() != plain);
    context().debugger().setShown(context::ShownValues::Baseline);
    settle();
    QTRY_VERIFY(outputs->notes().contains(QStringLiteral("Shown: without the edits")));
    QTRY_COMPARE(first(), plain);
    context().debugger().setShown(context::ShownValues::Difference);
    settle();
    QTRY_VERIFY(outputs->notes().contains(QStringLiteral("Shown: difference made by 1 edit")));
    context().edits().undo();
    settle();
    QTRY_VERIFY(!outputs->notes().contains(QStringLiteral("edit")));
    QTRY_COMPARE(first(), plain);
}

void TestEditedComparison::theProfileCountsThem() {
    auto* profile = panel<panels::ProfilePanel>("profile");
    edit(QStringLiteral("z[0, 1] = 9"));
    QVERIFY(profile->start());
    QTRY_VERIFY(profile->profile());
    settle();
    QVERIFY2(profile->summary().contains(QStringLiteral("with 1 edit")), qPrintable(profile->summary()));
    QVERIFY(context().edits().isCounterfactual());  // what was looked at still is
    context().edits().undo();
    settle();
    QVERIFY2(profile->summary().contains(QStringLiteral("the edits have changed since then")),
             qPrintable(profile->summary()));
}

/// s[0, 1] = 29 of every input.
void TestEditedComparison::theSweepCountsThem() {
    edit(QStringLiteral("z[0, 1] = 9"));
    QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("many")));
    write("many/a.npz", {{"in.x", square({1, 1, 1, 1})}});
    write("many/b.npz", {{"in.x", square({2, 2, 2, 2})}});
    context::SweepChoice choice;
    choice.inputs = path("many");
    choice.watched = QStringList{QStringLiteral("s")};
    context().sweeps().start(choice);
    QTRY_COMPARE(context().sweeps().rows().size(), std::size_t(2));
    settle();
    for (const session::SweepRow& row : context().sweeps().rows()) {
        QVERIFY2(!row.error, row.error ? row.error->text().c_str() : "");
        QCOMPARE(row.stats.front()->maximum, 29.0);
    }
    QVERIFY2(context().sweeps().text().endsWith(QStringLiteral("with 1 edit")), qPrintable(context().sweeps().text()));
    context().edits().undo();
    settle();
    QVERIFY2(context().sweeps().text().endsWith(QStringLiteral("with 1 edit, changed since then")),
             qPrintable(context().sweeps().text()));
}

/// The edited operation is the part that differs from the file's own model; the inputs are named.
void TestEditedComparison::bisectionCountsThem() {
    auto* bisection = panel<panels::BisectionPanel>("bisection");
    test::writeLinearNetwork(path("same.onnx").toStdString());
    context::Bisection::Wanted wanted;
    wanted.path = path("same.onnx");
    context().bisection().start(wanted);
    settle();
    QVERIFY(context().bisection().outcome() && !context().bisection().outcome()->found.differs);
    QVERIFY2(bisection->steps().contains(QStringLiteral("On inputs x: [[1,-2],[3,4]]")),
             qPrintable(bisection->steps()));
    edit(QStringLiteral("w[0, 1] = 5"));
    QVERIFY2(bisection->finding().contains(QStringLiteral("without the present edits")),
             qPrintable(bisection->finding()));
    context().bisection().start(wanted);
    settle();
    QVERIFY(context().bisection().outcome() && context().bisection().outcome()->found.differs);
    QCOMPARE(context().bisection().nodeOf(context().bisection().outcome()->found.node), named("y"));
    QVERIFY2(bisection->finding().contains(QStringLiteral("(with 1 edit)")), qPrintable(bisection->finding()));
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[[0,0],[0,0]]"), {}});
    settle();
    QVERIFY2(bisection->steps().contains(QStringLiteral("others are given now")), qPrintable(bisection->steps()));
}

/// 0.1 is no float16; 1 is one.
void TestEditedComparison::precisionCountsThem() {
    context::Precision::Wanted wanted;
    wanted.type = QStringLiteral("float16");
    context().precision().start(wanted);
    settle();
    QVERIFY(context().precision().report() && !context().precision().report()->begins.valid());
    edit(QStringLiteral("w[0, 1] = 0.1"));
    context().precision().start(wanted);
    settle();
    QVERIFY(context().precision().report());
    QCOMPARE(context().precision().report()->begins, named("y"));
    const QString summary = panel<panels::PrecisionPanel>("precision")->summary();
    QVERIFY2(summary.contains(QStringLiteral("(with 1 edit)")), qPrintable(summary));
}

/// An edit that reads the run can be compared, but is no part of a model that could be bisected.
void TestEditedComparison::whatHasNoModelIsNamed() {
    compare("plain.npz");
    edit(QStringLiteral("z[0] = y[0] * 2"));  // [2, -4]
    QCOMPARE(compared(), QStringLiteral("2 of 4 values differ from plain.npz (with 1 edit)"));
    context::Bisection::Wanted wanted;
    wanted.path = path("plain.npz");
    context().bisection().start(wanted);
    settle();
    QVERIFY(!context().bisection().outcome());
    QVERIFY(context().bisection().error());
    QVERIFY(QString::fromStdString(context().bisection().error()->text()).contains(QStringLiteral("z[0] = y[0] * 2")));
}

QTEST_MAIN(TestEditedComparison)

}  // namespace tst_edited_comparison

#include "tst_edited_comparison.moc"
