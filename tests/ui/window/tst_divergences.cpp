// Going through differences by keys, and what is said where there is none to go to; a reference file that holds more,
// or something else, than the model has.

#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QStatusBar>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/canvas/coloring.h"
#include "ui/context/comparison.h"
#include "ui/panels/comparison/comparison_panel.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/widgets/labels.h"

namespace tst_divergences {

using namespace sonde;
using namespace sonde::test;
using tensor::Tensor;

namespace {

/// a = relu(x); b = −x; c = |x|; y = a + b + c.
std::string branches() {
    onnxfile::Graph graph;
    graph.nodes = {{"Relu", {"x"}, {"a"}},
                   {"Neg", {"x"}, {"b"}},
                   {"Abs", {"x"}, {"c"}},
                   {"Add", {"a", "b"}, {"ab"}},
                   {"Add", {"ab", "c"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
    return onnxfile::model(graph);
}

Tensor pair(float first, float second) { return Tensor::of<float>({2}, {first, second}); }

}  // namespace

class TestDivergences : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        const QString model = m_files.filePath(QStringLiteral("branches.onnx"));
        QVERIFY(onnxfile::write(model, branches()));
        open(model);
    }
    void cleanup() { closeWindow(); }
    void theWorstComesFirst();
    void theFirstComesFirst();
    void aTypedToleranceIsUsed();
    void theSummaryTellsOfOtherCases();
    void keysWithoutADifferenceAreAnswered();
    void whatHasNoCounterpartIsNamed();
    void onlyTheSameComparisonFailsAgain();
    void theTopOfTheScaleIsNamed();
    void differencesAreNoProblems();
    void casesThatAgreeAreCounted();
    void theBaselineOfAFailureSaysSo();

  private:
    context::Comparison& comparison() { return context().comparison(); }
    QString npz(const char* name, const std::vector<io::NamedTensor>& arrays) {
        const QString path = m_files.filePath(QLatin1String(name));
        return io::writeNpz(path.toStdString(), arrays) ? path : QString();
    }
    /// x = (1, −2).
    void compare(const char* name, std::vector<io::NamedTensor> arrays) {
        arrays.insert(arrays.begin(), {"in.x", pair(1, -2)});
        comparison().withFile(npz(name, arrays));
        QTRY_VERIFY_WITH_TIMEOUT(!comparison().isActive(), 30000);
        settle();
    }
    QString status() {
        for (const auto* label : m_window->statusBar()->findChildren<widgets::ElidedLabel*>())
            if (label->isVisible()) return label->text();
        return {};
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }

    QTemporaryDir m_files;
};

void TestDivergences::theWorstComesFirst() {
    // Off by 0.5, 8 and 2.
    compare("far.npz", {{"node.a", pair(1.5, 0)}, {"node.b", pair(-1, 10)}, {"node.c", pair(3, 2)}});
    const auto goes = [this](Qt::Key which, Qt::KeyboardModifiers modifiers, const char* to) {
        key(which, modifiers);
        return context().navigation().selection().node == named(to);
    };
    QVERIFY(goes(Qt::Key_F7, Qt::NoModifier, "a"));
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "b"));
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "c"));
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "a"));
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "b"));
    // Only presses in a row go on: not after another command that came to the same node, not after a selection.
    QVERIFY(goes(Qt::Key_F7, Qt::NoModifier, "c"));
    QVERIFY(goes(Qt::Key_F7, Qt::ShiftModifier, "b"));
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "b"));
    context().navigation().select(named("c"));
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "b"));
    compare("other.npz", {{"node.a", pair(9, 0)}, {"node.b", pair(-1, 3)}});
    QVERIFY(goes(Qt::Key_F7, Qt::ControlModifier, "a"));
}

/// Whatever was selected before it was compared. From what is selected afterwards F7 goes on.
void TestDivergences::theFirstComesFirst() {
    const auto goes = [this](const char* to) {
        key(Qt::Key_F7);
        return context().navigation().selection().node == named(to);
    };
    context().navigation().select(named("b"));
    compare("far.npz", {{"node.a", pair(1.5, 0)}, {"node.b", pair(-1, 10)}, {"node.c", pair(3, 2)}});
    QVERIFY(goes("a"));
    QVERIFY(goes("b"));
    compare("other.npz", {{"node.a", pair(9, 0)}, {"node.b", pair(-1, 3)}});
    context().navigation().select(named("a"));
    QVERIFY(goes("b"));
    // Of a comparison that is stale F7 says so, and what repeats it.
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[5,6]"), {}});
    settle();
    QVERIFY(context().comparison().isStale());
    QVERIFY(goes("a"));
    QVERIFY2(status().startsWith(QStringLiteral("The comparison is stale, ")) && status().contains("Ctrl+Shift+F7"),
             qPrintable(status()));
}

/// Typed and not confirmed: the comparison uses what the field shows, or the field shows what it uses.
void TestDivergences::aTypedToleranceIsUsed() {
    compare("near.npz", {{"node.a", pair(1.05F, 0)}});
    QCOMPARE(comparison().differing(), std::size_t{1});
    QWidget* const panel = m_window->docks().panel(QStringLiteral("comparison"));
    auto* const field = panel->findChild<QLineEdit*>(QStringLiteral("tolerance"));
    QVERIFY(field && field->isVisible());
    const auto typeAndRepeat = [&](const char* text) {
        activate();
        field->setFocus();
        QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(field, QLatin1String(text));
        QTest::keyClick(field, Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!comparison().isActive(), 30000);
        settle();
        QVERIFY(field->hasFocus());
    };
    typeAndRepeat("0.1");
    QCOMPARE(comparison().tolerances().float32, 0.1);
    QCOMPARE(comparison().differing(), std::size_t{0});
    QCOMPARE(comparison().summary(), QStringLiteral("1 value agrees with near.npz (tolerance 0.1)"));
    QCOMPARE(field->text(), QStringLiteral("0.1"));
    for (const char* noTolerance : {"7", "1e-", "0,5", ""}) {
        typeAndRepeat(noTolerance);
        QCOMPARE(comparison().tolerances().float32, 0.1);
        QVERIFY2(field->text() == QStringLiteral("0.1"), noTolerance);
    }
    // Of a run, too, that a comparison follows.
    comparison().keepRun();
    key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1.5,-2]"), {}});
    settle();
    field->setFocus();
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field, QStringLiteral("0.5"));
    QTest::keyClick(field, Qt::Key_F5);
    QTRY_COMPARE_WITH_TIMEOUT(comparison().tolerances().float32, 0.5, 30000);
    settle();
    QVERIFY(!comparison().isStale());
    QCOMPARE(comparison().differing(), std::size_t{0});
}

void TestDivergences::theSummaryTellsOfOtherCases() {
    compare("cases.npz", {{"out.y", pair(1, 4)}, {"case1.in.x", pair(1, 1)}, {"case1.out.y", pair(1, 9)}});
    const QString differs = QStringLiteral("1 of 1 value differs from cases.npz");
    QCOMPARE(comparison().summary(), differs);
    compare("cases.npz", {{"node.a", pair(1, 0)},
                          {"seq.in.x", Tensor::of<float>({1, 2}, {1, -2})},
                          {"seq.out.y", Tensor::of<float>({1, 2}, {1, 5})}});
    auto* panel = qobject_cast<panels::ComparisonPanel*>(m_window->docks().panel(QStringLiteral("comparison")));
    QCOMPARE(panel->summary(), QStringLiteral("1 value agrees with cases.npz, but seq differs"));
    QVERIFY2(status().contains(QStringLiteral("seq differs")), qPrintable(status()));
    key(Qt::Key_F7);
    QVERIFY2(status().startsWith(QStringLiteral("1 value agrees with cases.npz, but seq differs")),
             qPrintable(status()));
}

void TestDivergences::keysWithoutADifferenceAreAnswered() {
    for (const Qt::KeyboardModifiers modifiers : {Qt::NoModifier, Qt::ShiftModifier, Qt::ControlModifier}) {
        context().navigation().clearSelection();
        const std::size_t before = context().messages().all().size();
        key(Qt::Key_F7, modifiers);
        QCOMPARE(context().messages().all().size(), before + 1);
        QVERIFY(context().messages().all().back().text.startsWith(QStringLiteral("Nothing was compared yet")));
        QVERIFY(context().messages().all().back().text.contains(QStringLiteral("Ctrl+Shift+F")));
        QCOMPARE(status(), context().messages().all().back().text);
    }
    context().navigation().select(named("a"));
    QVERIFY2(status().startsWith(u'a'), qPrintable(status()));
    compare("right.npz", {{"node.a", pair(1, 0)}});
    key(Qt::Key_F7);
    QCOMPARE(context().messages().all().back().text, QStringLiteral("1 value agrees with right.npz"));
    QCOMPARE(status(), QStringLiteral("1 value agrees with right.npz"));
}

void TestDivergences::whatHasNoCounterpartIsNamed() {
    const QString zzz = QStringLiteral("1 reference value has no counterpart in the model: node.zzz"),
                  other =
                      QStringLiteral("1 value has another dtype: c (float64 in the reference, float32 in the model)");
    compare("other.npz",
            {{"node.a", pair(1, 0)}, {"node.c", Tensor::of<double>({2}, {1, 2})}, {"node.zzz", pair(0, 0)}});
    QCOMPARE(comparison().differing(), std::size_t{0});
    QCOMPARE(comparison().remarks(), zzz + QStringLiteral("; ") + other);
    QVERIFY(context().messages().all().back().text.endsWith(comparison().remarks()));
    QCOMPARE(context().messages().all().back().severity, base::Severity::Warning);
    auto* panel = qobject_cast<panels::ComparisonPanel*>(m_window->docks().panel(QStringLiteral("comparison")));
    QCOMPARE(panel->remarks(), comparison().remarks());
    QVERIFY2(status().endsWith(comparison().remarks()), qPrintable(status()));
    context().navigation().select(named("c"));
    settle();
    auto* details = qobject_cast<panels::NodeDetailsPanel*>(m_window->docks().panel(QStringLiteral("details")));
    QVERIFY2(details->text().contains(QStringLiteral("float64 in the reference")), qPrintable(details->text()));
    std::vector<io::NamedTensor> many{{"node.a", pair(1, 0)}};
    for (int i = 0; i < 20; ++i) many.emplace_back("node.n" + std::to_string(i), pair(0, 0));
    compare("many.npz", many);
    QCOMPARE(comparison().remarks(),
             QStringLiteral("20 reference values have no counterpart in the model: node.n0, node.n1, node.n2, node.n3, "
                            "node.n4, node.n5, node.n6, node.n7 and 12 more"));
    compare("right.npz", {{"node.a", pair(1, 0)}});
    QVERIFY(panel->remarks().isEmpty());
}

void TestDivergences::onlyTheSameComparisonFailsAgain() {
    compare("right.npz", {{"node.a", pair(1, 0)}});
    comparison().withFile(npz("wrong.npz", {{"in.other", Tensor::of<float>({1, 2, 3}, std::vector<float>(6, 0))}}));
    QTRY_VERIFY_WITH_TIMEOUT(!comparison().isActive(), 30000);
    QCOMPARE(comparison().staleReason(), QStringLiteral("it could not be compared with wrong.npz"));
}

/// NaN against a number, and another shape, have no finite difference: they are painted like the top, which says so.
void TestDivergences::theTopOfTheScaleIsNamed() {
    const auto high = [this] {
        return canvas::Coloring(models::NodeMeasures(context().model(), context().runs(), context().valueMeasures(),
                                                     context().comparison()),
                                QStringLiteral("difference"), theme::Scheme::Light)
            .highText();
    };
    compare("shape.npz", {{"node.a", Tensor::of<float>({3}, {1, 2, 3})}, {"node.b", pair(-1, 2)}});
    QCOMPARE(high(), QStringLiteral("\u221e"));
    compare("both.npz", {{"node.a", pair(std::nanf(""), 0)}, {"node.b", pair(-1, 10)}});
    QCOMPARE(high(), QStringLiteral("8, \u221e"));
    QVERIFY(std::isnan(comparison().of(named("a"))->cosine));
    compare("finite.npz", {{"node.b", pair(-1, 10)}});
    QCOMPARE(high(), QStringLiteral("8"));
}

/// They have keys of their own; F8 goes to what a run did wrong.
void TestDivergences::differencesAreNoProblems() {
    compare("far.npz", {{"node.a", pair(1.5, 0)}, {"node.b", pair(-1, 10)}});
    QCOMPARE(context().messages().all().back().severity, base::Severity::Warning);
    context().navigation().clearSelection();
    for (const Qt::KeyboardModifiers modifiers : {Qt::NoModifier, Qt::ShiftModifier}) {
        key(Qt::Key_F8, modifiers);
        QVERIFY(!context().navigation().selection().node.valid());
        QCOMPARE(status(), QStringLiteral("No node has a problem"));
    }
    key(Qt::Key_F7);
    QCOMPARE(context().navigation().selection().node, named("a"));
}

/// a = (1, 0), y = (1, 4).
void TestDivergences::casesThatAgreeAreCounted() {
    compare("cases.npz",
            {{"node.a", pair(1, 0)}, {"out.y", pair(1, 4)}, {"case1.in.x", pair(1, 1)}, {"case1.out.y", pair(1, 1)}});
    const QString agree = QStringLiteral("3 values in 2 cases agree with cases.npz");
    QCOMPARE(comparison().summary(), agree);
    auto* panel = qobject_cast<panels::ComparisonPanel*>(m_window->docks().panel(QStringLiteral("comparison")));
    QCOMPARE(panel->summary(), agree);
    QCOMPARE(context().messages().all().back().text, agree);
    QVERIFY(context().messages().all().back().hint.isEmpty());
}

void TestDivergences::theBaselineOfAFailureSaysSo() {
    key(Qt::Key_F5);
    key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(status(), QStringLiteral("Baseline set to this run"));
    onnxfile::Graph graph;
    graph.nodes = {{"Relu", {"x"}, {"a"}}, {"Gather", {"a", "i"}, {"f"}}, {"Neg", {"x"}, {"e"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2}), onnxfile::valueInfo("i", 7, {1})};
    graph.outputs = {onnxfile::valueInfo("f", 1, {1}), onnxfile::valueInfo("e", 1, {2})};
    const QString model = m_files.filePath(QStringLiteral("fails.onnx"));
    QVERIFY(onnxfile::write(model, onnxfile::model(graph)));
    open(model);
    const auto give = [this](const char* name, const char* numbers) {
        context().inputs().setSpec(QLatin1String(name), {QLatin1String(numbers), {}});
        settle();
    };
    give("x", "[1,-2]");
    give("i", "[7]");
    key(Qt::Key_F5);
    QCOMPARE(context().runs().state(), context::RunState::Failed);
    key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    const QString said = QStringLiteral("Baseline set to a run that failed");
    QVERIFY2(status().startsWith(said + u':'), qPrintable(status()));
    QCOMPARE(context().messages().all().back().text, said);
    QCOMPARE(context().messages().all().back().severity, base::Severity::Warning);
    give("i", "[0]");
    key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!comparison().isActive() && comparison().isKnown(), 30000);
    settle();
    QCOMPARE(comparison().compared(), std::size_t{1});
    QVERIFY(comparison().of(named("a")) && !comparison().of(named("e")));
    QVERIFY2(comparison().summary().startsWith(QStringLiteral("Compared with the baseline up to its failure: ")),
             qPrintable(comparison().summary()));
    QVERIFY2(comparison().remarks().startsWith(QStringLiteral("the baseline failed: ")),
             qPrintable(comparison().remarks()));
    // The window's own run did not fail.
    QCOMPARE(context().runs().state(), context::RunState::Finished);
    for (const context::Message& message : context().messages().all())
        QVERIFY2(message.severity != base::Severity::Error || message.isOfRun || message.node.valid(),
                 qPrintable(message.text));
}

QTEST_MAIN(TestDivergences)

}  // namespace tst_divergences

#include "tst_divergences.moc"
