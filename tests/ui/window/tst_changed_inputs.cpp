// Values of other inputs than those that are given now: files that were read and changed since, references that
// changed, inputs that were changed and not run. What is shown says so, and running or comparing again brings what is
// right.

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStatusBar>

#include "core/io/npz/npz.h"
#include "tests/support/changing_file.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/comparison.h"
#include "ui/models/watch_list_model.h"
#include "ui/panels/comparison/comparison_panel.h"
#include "ui/panels/node_details/node_details_panel.h"
#include "ui/panels/operators/operators_panel.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/labels.h"

namespace tst_changed_inputs {

using namespace sonde;
using context::Comparison;
using context::RunState;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// twice = x + x; last = −twice.
std::string doubled(const std::vector<std::int64_t>& shape) {
    test::onnxfile::Graph graph;
    graph.nodes = {{"Add", {"x", "x"}, {"twice"}}, {"Neg", {"twice"}, {"last"}}};
    graph.inputs = {test::onnxfile::valueInfo("x", 1, shape)};
    graph.outputs = {test::onnxfile::valueInfo("last", 1, shape)};
    return test::onnxfile::model(graph);
}

Tensor filled(std::vector<float> values) {
    return Tensor::of<float>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

class TestChangedInputs : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        m_folder = std::make_unique<QTemporaryDir>();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void aDecodedInputIsReadAnew_data();
    void aDecodedInputIsReadAnew();
    void aDeletedInputStopsTheRun();
    void valuesOfOtherInputsSaySo();
    void timesOfOtherInputsSaySo();
    void aChangedReferenceMakesTheComparisonStale();
    void whatCannotBeComparedMarksWhatIsKnown();
    void theToleranceIsTheModels();
    void inputsThatDifferAreTold();
    void namesThatFitNothingAreTold();
    void otherShapesAreTold();
    void aComparisonSurvivesReloading();

  private:
    QString path(const char* name) const { return m_folder->filePath(QLatin1String(name)); }
    void openDoubled(const std::vector<std::int64_t>& shape = {2}, const char* name = "model.onnx") {
        QVERIFY(test::onnxfile::write(path(name), doubled(shape)));
        open(path(name));
    }
    void give(const QString& source) {
        context().inputs().setSpec(QStringLiteral("x"), {source, {}});
        settle();
    }
    bool writeArrays(const char* name, const std::vector<io::NamedTensor>& arrays) const {
        return io::writeNpz(path(name).toStdString(), arrays).has_value();
    }
    bool writeReference(std::vector<float> x, std::vector<float> twice) const {
        return writeArrays("reference.npz", {{"in.x", filled(std::move(x))}, {"node.twice", filled(std::move(twice))}});
    }
    void compare(const QString& with) {
        context().comparison().withFile(with);
        QTRY_VERIFY_WITH_TIMEOUT(!context().comparison().isActive(), 30000);
        settle();
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    double last(int index = 0) { return context().runs().value(named("last"))->tensor().toDouble(index); }
    QString statusText() {
        QStringList texts;
        for (const auto* label : m_window->statusBar()->findChildren<widgets::ElidedLabel*>()) texts << label->text();
        return texts.join(u'\n');
    }
    QString tensorTitle() {
        QStringList texts;
        for (const auto* label :
             m_window->docks().panel(QStringLiteral("tensor_viewer"))->findChildren<widgets::ElidedLabel*>())
            texts << label->text();
        return texts.join(u'\n');
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestChangedInputs::aDecodedInputIsReadAnew_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("archive") << QStringLiteral("x.npz");
    QTest::newRow("picture") << QStringLiteral("x.png");
}

void TestChangedInputs::aDecodedInputIsReadAnew() {
    QFETCH(QString, name);
    openDoubled({1, 3, 8, 8});
    const QString source = m_folder->filePath(name);
    const auto write = [&](int level) {
        if (!name.endsWith(QLatin1String("png"))) {
            const Tensor x = Tensor::of<float>(Shape{1, 3, 8, 8}, std::vector<float>(192, static_cast<float>(level)));
            return writeArrays("x.npz", {{"x", x}});
        }
        QImage picture(8, 8, QImage::Format_RGB888);
        picture.fill(QColor(level, level, level));
        return picture.save(source);
    };
    QVERIFY(write(10));
    context::InputSpec spec{source, {}};
    spec.image.preset = QStringLiteral("rgb");
    context().inputs().setSpec(QStringLiteral("x"), spec);
    settle();
    run();
    const double before = last();
    QVERIFY(write(200));
    context().inputs().checkFiles();
    QVERIFY2(context().runs().staleReason().contains(name), qPrintable(context().runs().staleReason()));
    run();
    QVERIFY(last() != before);
    QVERIFY(context().runs().staleReason().isEmpty());
    // What the file holds, as a window that never knew another content reads it.
    const double now = last();
    give(QStringLiteral("#zeros"));
    context().inputs().setSpec(QStringLiteral("x"), spec);
    settle();
    run();
    QCOMPARE(last(), now);
}

void TestChangedInputs::aDeletedInputStopsTheRun() {
    openDoubled();
    QVERIFY(writeArrays("x.npz", {{"x", filled({1, 2})}}));
    give(path("x.npz"));
    run();
    QCOMPARE(last(), -2.0);
    QVERIFY(QFile::remove(path("x.npz")));
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    key(Qt::Key_F5);
    QTRY_VERIFY(!finished.isEmpty());
    settle();
    QCOMPARE(context().runs().state(), RunState::Failed);
    QVERIFY(!context().runs().value(named("last")));
    QVERIFY2(m_window->banner()->text().contains(QStringLiteral("input file is gone")),
             qPrintable(m_window->banner()->text()));
    context().navigation().clearSelection();
    QVERIFY2(statusText().contains(QStringLiteral("Not run: input file is gone")), qPrintable(statusText()));
}

/// Inputs that were changed and not run: every place that shows a value of the last run says so, until the next.
void TestChangedInputs::valuesOfOtherInputsSaySo() {
    openDoubled();
    give(QStringLiteral("[1,2]"));
    context().points().setWatched(named("twice"), true);
    context().navigation().select(named("twice"));
    run();
    models::WatchListModel watches(context().model(), context().points(), context().runs(), context().inputs(),
                                   models::WatchListModel::Kind::Watches);
    const auto watched = [&] { return watches.index(0, models::WatchListModel::ValueColumn).data().toString(); };
    auto* details = qobject_cast<panels::NodeDetailsPanel*>(m_window->docks().panel(QStringLiteral("details")));
    const auto saysStale = [&] {
        return QList<bool>{
            watched().startsWith(QStringLiteral("stale")), tensorTitle().contains(QStringLiteral("Stale")),
            details->text().contains(QStringLiteral("stale")), statusText().contains(QStringLiteral("Stale"))};
    };
    QCOMPARE(saysStale(), QList<bool>({false, false, false, false}));
    give(QStringLiteral("[3,4]"));
    QCOMPARE(context().runs().staleReason(), QStringLiteral("the inputs were changed"));
    QCOMPARE(saysStale(), QList<bool>({true, true, true, true}));
    // The input itself is what was given, and a comparison would begin with a run.
    QVERIFY(!context().runs().isStale(named("x")));
    run();
    QCOMPARE(saysStale(), QList<bool>({false, false, false, false}));
    QCOMPARE(last(), -6.0);
}

void TestChangedInputs::timesOfOtherInputsSaySo() {
    using models::OperatorTableModel;
    openDoubled();
    give(QStringLiteral("[1,2]"));
    run();
    m_window->docks().show(QStringLiteral("operators"));
    auto* panel = qobject_cast<panels::OperatorsPanel*>(m_window->docks().panel(QStringLiteral("operators")));
    QTRY_VERIFY_WITH_TIMEOUT(panel->model().rowCount() == 2, 30000);
    const auto isMarked = [&](int column) { return panel->model().index(0, column).data(models::MutedRole).toBool(); };
    const auto heading = [&] {
        for (const auto* label : panel->findChildren<widgets::ElidedLabel*>())
            if (label->text().contains(QStringLiteral("operators"))) return label->text();
        return QString();
    };
    QTRY_VERIFY2_WITH_TIMEOUT(heading().contains(QStringLiteral("time ")), qPrintable(heading()), 30000);
    QVERIFY(!isMarked(OperatorTableModel::Time) && !heading().contains(QStringLiteral("stale")));
    give(QStringLiteral("[3,4]"));
    QVERIFY(isMarked(OperatorTableModel::Time) && isMarked(OperatorTableModel::Share));
    QVERIFY(!isMarked(OperatorTableModel::Count));
    QVERIFY2(heading().endsWith(QStringLiteral(" ms (stale: the inputs were changed)")), qPrintable(heading()));
    const QString tip = panel->model().index(0, OperatorTableModel::Time).data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.endsWith(QStringLiteral("Of the last run: the inputs were changed")), qPrintable(tip));
    m_window->docks().show(QStringLiteral("nodes"));
    auto* table = m_window->docks().panel(QStringLiteral("nodes"));
    QTRY_VERIFY_WITH_TIMEOUT(
        std::ranges::any_of(table->findChildren<widgets::ElidedLabel*>(),
                            [](const auto* label) {
                                return label->text().endsWith(QStringLiteral(" ms (stale: the inputs were changed)"));
                            }),
        30000);
    run();
    QTRY_VERIFY_WITH_TIMEOUT(!isMarked(OperatorTableModel::Time), 30000);
}

void TestChangedInputs::aChangedReferenceMakesTheComparisonStale() {
    openDoubled();
    Comparison& comparison = context().comparison();
    QVERIFY(writeReference({1, 2}, {2, 4}));
    compare(path("reference.npz"));
    QCOMPARE(comparison.summary(), QStringLiteral("1 value agrees with reference.npz"));
    QVERIFY(!comparison.isStale());
    // Rewritten with another input and another value.
    QVERIFY(writeReference({3, 4}, {6, 9}));
    QTRY_VERIFY(comparison.isStale());
    QCOMPARE(comparison.staleReason(), QStringLiteral("reference.npz changed on disk"));
    run();
    QCOMPARE(last(), -6.0);
    QVERIFY(comparison.isStale());
    key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!comparison.isActive() && !comparison.isStale(), 30000);
    QCOMPARE(comparison.summary(), QStringLiteral("1 of 1 value differs from reference.npz"));
    QCOMPARE(comparison.of(named("twice"))->maxAbsolute, 1.0);
    // Again without a run between.
    QVERIFY(writeReference({5, 5}, {10, 10}));
    key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE_WITH_TIMEOUT(comparison.summary(), QStringLiteral("1 value agrees with reference.npz"), 30000);
    QVERIFY(!comparison.isStale());
    // Cut off: what was known is marked, and nothing waits for ever.
    QCOMPARE(::truncate(path("reference.npz").toLocal8Bit().constData(), 20), 0);
    QTRY_VERIFY(comparison.isStale());
    key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!comparison.isActive(), 30000);
    QVERIFY(comparison.isStale());
}

void TestChangedInputs::whatCannotBeComparedMarksWhatIsKnown() {
    openDoubled();
    Comparison& comparison = context().comparison();
    QVERIFY(writeReference({1, 2}, {2, 4}));
    compare(path("reference.npz"));
    compare(path("missing.npz"));
    QVERIFY(comparison.isStale());
    QCOMPARE(comparison.staleReason(), QStringLiteral("it could not be compared with missing.npz"));
    run();  // on the same inputs: still not what was asked for
    QVERIFY(comparison.isStale());
    auto* panel = qobject_cast<panels::ComparisonPanel*>(m_window->docks().panel(QStringLiteral("comparison")));
    QVERIFY2(panel->summary().startsWith(QStringLiteral("Stale")), qPrintable(panel->summary()));
}

/// It is remembered with the model, said wherever it counts, and given up with one button; another model begins with
/// the usual one.
void TestChangedInputs::theToleranceIsTheModels() {
    openDoubled();
    Comparison& comparison = context().comparison();
    QVERIFY(writeReference({1, 2}, {2, 4.2F}));
    compare(path("reference.npz"));
    QCOMPARE(comparison.differing(), std::size_t{1});
    QWidget* panel = m_window->docks().panel(QStringLiteral("comparison"));
    auto* field = panel->findChild<QLineEdit*>(QStringLiteral("tolerance"));
    auto* reset = panel->findChild<QPushButton*>(QStringLiteral("usualTolerance"));
    QVERIFY(reset->isHidden());
    field->setText(QStringLiteral("0.5"));
    Q_EMIT field->editingFinished();
    QTRY_COMPARE_WITH_TIMEOUT(comparison.summary(), QStringLiteral("1 value agrees with reference.npz (tolerance 0.5)"),
                              30000);
    QVERIFY(!reset->isHidden());
    openDoubled({3}, "other.onnx");
    QVERIFY(comparison.hasUsualTolerances());
    QVERIFY(reset->isHidden());
    QCOMPARE(field->text(), QStringLiteral("0.0001"));
    closeWindow();
    openWindow();
    openDoubled();
    QCOMPARE(context().comparison().tolerances().float32, 0.5);
    m_window->docks()
        .panel(QStringLiteral("comparison"))
        ->findChild<QPushButton*>(QStringLiteral("usualTolerance"))
        ->click();
    QVERIFY(context().comparison().hasUsualTolerances());
}

void TestChangedInputs::inputsThatDifferAreTold() {
    openDoubled();
    Comparison& comparison = context().comparison();
    give(QStringLiteral("[1,2]"));
    run();
    comparison.keepRun();
    give(QStringLiteral("[3,4]"));
    run();
    comparison.withKeptRun();
    QTRY_VERIFY_WITH_TIMEOUT(comparison.isKnown() && !comparison.isActive(), 30000);
    QCOMPARE(comparison.differing(), std::size_t{2});
    for (const graph::NodeId node : comparison.diverging()) QVERIFY(comparison.of(node)->isInherited);
    QCOMPARE(comparison.summary(),
             QStringLiteral("2 of 2 values differ from the baseline, which was run on other values of x"));
}

void TestChangedInputs::namesThatFitNothingAreTold() {
    openDoubled();
    QVERIFY(writeArrays("reference.npz", {{"in.x", filled({1, 2})}, {"node.other", filled({1, 2})}}));
    compare(path("reference.npz"));
    QVERIFY(!context().comparison().isKnown());
    QVERIFY2(m_window->banner()->text().contains(QStringLiteral("nothing was compared")),
             qPrintable(m_window->banner()->text()));
    QVERIFY2(m_window->banner()->hint().contains(QStringLiteral("node.other")), qPrintable(m_window->banner()->hint()));
}

void TestChangedInputs::otherShapesAreTold() {
    openDoubled();
    QVERIFY(writeReference({1, 2}, {2, 4, 6}));
    compare(path("reference.npz"));
    context().navigation().select(named("twice"));
    settle();
    const QString text =
        qobject_cast<panels::NodeDetailsPanel*>(m_window->docks().panel(QStringLiteral("details")))->text();
    QVERIFY2(text.contains(QStringLiteral("shape [2] instead of [3]")), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("Max error")), qPrintable(text));
}

void TestChangedInputs::aComparisonSurvivesReloading() {
    openDoubled();
    Comparison& comparison = context().comparison();
    key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(context().messages().all().back().text, QStringLiteral("Nothing was compared yet"));
    QVERIFY(writeReference({1, 2}, {2, 4}));
    compare(path("reference.npz"));
    QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
    key(Qt::Key_R, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), 30000);
    settle();
    QVERIFY(!comparison.isKnown());
    key(Qt::Key_F7, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(comparison.isKnown() && !comparison.isStale(), 30000);
    QCOMPARE(comparison.title(), QStringLiteral("reference.npz"));
}

QTEST_MAIN(TestChangedInputs)

}  // namespace tst_changed_inputs

#include "tst_changed_inputs.moc"
