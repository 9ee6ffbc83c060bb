// The model on many inputs, by keys and clicks: progress, rows, plot, the table as a file, one input made the model's.

#include <QAction>
#include <QCheckBox>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>

#include "core/io/npz/npy.h"
#include "core/session/sweep/sweep_output.h"
#include "tests/support/hover.h"
#include "tests/support/window_fixture.h"
#include "tests/support/window_network.h"
#include "ui/context/sweeps.h"
#include "ui/dialogs/sweep_dialog.h"
#include "ui/panels/sweep/sweep_panel.h"
#include "ui/panels/sweep/sweep_plot.h"
#include "ui/widgets/histogram_plot.h"

namespace tst_sweep_window {

using namespace sonde;
using namespace sonde::test::onnxfile;
using tensor::Tensor;

class TestSweepWindow : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        QVERIFY(write(path("m.onnx"), test::windowNetwork()));
        QVERIFY(QDir(m_files.path()).mkpath(QStringLiteral("in")));
    }
    void cleanup() {
        closeWindow();
        QDir(path("in")).removeRecursively();
    }
    void theDialogStartsIt();
    void rowsPlotAndFilter();
    void theTableIsTheVerbs();
    void figuresHaveFormulas();
    void aClickRunsTheInput();
    void aDoubleClickSelectsTheNode();
    void itCanBeCancelled();
    void faultsAreRows();
    void anotherModelEndsIt();

  private:
    QString path(const char* name) const { return m_files.filePath(QLatin1String(name)); }
    /// All elements of x are `value`: c is 9·value + 0.5, y ten times that where it is positive.
    void input(int number, float value) {
        const std::string file = path("in").toStdString() + "/" + std::to_string(number) + ".npy";
        QVERIFY(io::writeNpyFile(file, Tensor::of<float>({1, 1, 6, 6}, std::vector<float>(36, value))));
    }
    context::Sweeps& sweeps() { return context().sweeps(); }
    panels::SweepPanel* panel() {
        return qobject_cast<panels::SweepPanel*>(m_window->docks().panel(QStringLiteral("sweep")));
    }
    void sweep(const QString& condition = {}) {
        open(path("m.onnx"));
        sweeps().start({path("in"), {QStringLiteral("c"), QStringLiteral("y")}, condition, {}, QStringLiteral("bgr")});
        settle();
        QCoreApplication::processEvents();
    }
    QString cell(int row, int column) { return panel()->view()->model()->index(row, column).data().toString(); }

    QTemporaryDir m_files;
};

void TestSweepWindow::theDialogStartsIt() {
    input(1, 1);
    open(path("m.onnx"));
    key(Qt::Key_I, Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier);
    auto* dialog = m_window->findChild<dialogs::SweepDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    QPushButton* const ok = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
    QVERIFY(!ok->isEnabled());
    dialog->findChild<QLineEdit*>(QStringLiteral("sweepInputs"))->setText(path("in"));
    dialog->findChild<QLineEdit*>(QStringLiteral("sweepWatched"))->setText(QStringLiteral("r, c"));
    QVERIFY(ok->isEnabled());
    QTest::mouseClick(ok, Qt::LeftButton);
    settle();
    QTRY_COMPARE(sweeps().rows().size(), std::size_t{1});
    QCOMPARE(sweeps().sweep().nodes()[0].first, std::string("r"));
    QCOMPARE(sweeps().rows()[0].stats[1]->maximum, 9.5);
    QVERIFY(panel()->isVisible());
}

void TestSweepWindow::rowsPlotAndFilter() {
    for (int i = 1; i <= 12; ++i) input(i, static_cast<float>(i));
    sweep(QStringLiteral("max(c) < 50"));
    QVERIFY2(panel()->summary().startsWith(QStringLiteral("12 inputs")), qPrintable(panel()->summary()));
    QVERIFY(panel()->summary().contains(QStringLiteral("7 break the condition")));  // 6 … 12: 54.5 and more
    QCOMPARE(panel()->view()->model()->rowCount(), 12);
    QCOMPARE(cell(1, 0), QStringLiteral("2.npy"));
    QCOMPARE(cell(1, 1), QStringLiteral("18.5"));
    QCOMPARE(cell(9, 0), QStringLiteral("10.npy"));  // as people count
    panel()->brokenBox()->click();
    QTRY_COMPARE(panel()->view()->model()->rowCount(), 7);
    panel()->brokenBox()->click();
    QTRY_COMPARE(panel()->view()->model()->rowCount(), 12);
    // Sorted by a number, not by its text.
    panel()->view()->sortByColumn(1, Qt::DescendingOrder);
    QCOMPARE(cell(0, 0), QStringLiteral("12.npy"));
    // 12 numbers, one in each of 12 of the bins.
    quint64 total = 0;
    for (const quint64 count : panel()->plot()->histogram()->data().counts) total += count;
    QCOMPARE(total, quint64{12});
    QCOMPARE(panel()->plot()->histogram()->data().low, 9.5);
    QCOMPARE(panel()->plot()->histogram()->data().high, 108.5);
    panel()->plot()->showColumn(7 + 1);  // y.max
    QCOMPARE(panel()->plot()->histogram()->data().high, 1085.0);
}

void TestSweepWindow::theTableIsTheVerbs() {
    for (int i = 1; i <= 3; ++i) input(i, static_cast<float>(i) / 3);
    sweep(QStringLiteral("max(c) < 5"));
    QVERIFY(sweeps().saveTo(path("table.csv")));
    QFile file(path("table.csv"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray written = file.readAll();
    // The verb's own calls.
    session::SweepRequest request;
    const document::Document& document = *context().model().document();
    request.watch = {*document.findNode("c"), *document.findNode("y")};
    request.condition = "max(c) < 5";
    const auto made = session::Sweep::make(context().model().document(), std::move(request));
    QVERIFY(made);
    std::string text = session::sweepCsvTitle(*made);
    const auto inputs = session::sweepInputs(path("in").toStdString());
    QVERIFY(inputs);
    QVERIFY(made->run(inputs->inputs, [&](const session::SweepRow& row) { text += session::sweepCsvRow(*made, row); }));
    QCOMPARE(written, QByteArray::fromStdString(text));
    QVERIFY(written.startsWith("input,c.min,"));
    // Not onto an input.
    QVERIFY(!sweeps().saveTo(path("m.onnx")));
}

/// c is 9·2 + 0.5 everywhere.
void TestSweepWindow::figuresHaveFormulas() {
    input(2, 2);
    sweep(QStringLiteral("max(c) < 5"));
    const char* const formulas[] = {"Smallest", "Largest", "\u03a3x / n", "(x \u2212 \u03bc)\u00b2", "NaN", "infinite"};
    for (int which = 0; which < 6; ++which) {
        const QString tip = test::hovered(panel()->view(), panel()->view()->model()->index(0, 1 + which));
        QVERIFY2(tip.startsWith(QStringLiteral("2.npy\n") + cell(0, 1 + which) + u'\n'), qPrintable(tip));
        QVERIFY2(tip.contains(QString::fromUtf8(formulas[which])), qPrintable(tip));
    }
    const QString condition = test::hovered(panel()->view(), panel()->view()->model()->index(0, 13));
    QCOMPARE(condition, QStringLiteral("false\nmax(c) < 5"));
}

void TestSweepWindow::aDoubleClickSelectsTheNode() {
    input(1, 1);
    sweep();
    QTableView* view = panel()->view();
    const QModelIndex figure = view->model()->index(0, 7 + 2);  // y.mean
    view->scrollTo(figure);
    const QPoint place = view->visualRect(figure).center();
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, place);
    QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, place);
    settle();
    QCOMPARE(context().navigation().selection().node, *context().model().document()->findNode("y"));
}

void TestSweepWindow::aClickRunsTheInput() {
    for (int i = 1; i <= 3; ++i) input(i, static_cast<float>(i));
    sweep();
    QTableView* view = panel()->view();
    const QModelIndex row = view->model()->index(2, 0);
    view->scrollTo(row);
    click(view->viewport(), view->visualRect(row).center());
    settle();
    QTRY_COMPARE(context().runs().state(), context::RunState::Finished);
    QCOMPARE(context().inputs().all().front().spec.source, path("in/3.npy"));
    const tensor::Value* y = context().runs().value(*context().model().document()->findNode("y"));
    QVERIFY(y);
    QCOMPARE(y->tensor().toDouble(0), 275.0);
}

void TestSweepWindow::itCanBeCancelled() {
    // A network that takes milliseconds for each of many inputs: all of them take seconds.
    constexpr std::size_t kInputs = 3000;
    const QString image = path("image.npy");
    QVERIFY(io::writeNpyFile(image.toStdString(),
                             Tensor::of<float>({1, 3, 64, 64}, std::vector<float>(std::size_t{3} * 64 * 64, 0.5F))));
    for (std::size_t i = 0; i < kInputs; ++i)
        QVERIFY(QFile::link(image, path("in") + QStringLiteral("/%1.npy").arg(i)));
    open(QStringLiteral("zoo:resnet18_slim"));
    sweeps().start({path("in"), {}, {}, {}, QStringLiteral("bgr")});
    QTRY_VERIFY_WITH_TIMEOUT(!sweeps().rows().empty(), 60000);
    QVERIFY(sweeps().isActive());
    auto* cancel = panel()->findChild<QToolButton*>(QStringLiteral("cancelSweep"));
    QVERIFY(cancel->isVisible());
    QVERIFY(panel()->summary().contains(QStringLiteral("a second")));
    QTest::mouseClick(cancel, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!sweeps().isActive(), 60000);
    settle();
    const std::size_t rows = sweeps().rows().size();
    QVERIFY(rows > 0 && rows < kInputs);
    QVERIFY2(panel()->summary().contains(QStringLiteral("cancelled")), qPrintable(panel()->summary()));
    QCOMPARE(static_cast<std::size_t>(panel()->view()->model()->rowCount()), rows);
    // What is there can be saved: a heading and a line for each.
    QVERIFY(sweeps().saveTo(path("part.csv")));
    QFile table(path("part.csv"));
    QVERIFY(table.open(QIODevice::ReadOnly));
    QCOMPARE(static_cast<std::size_t>(table.readAll().count('\n')), rows + 1);
    QTRY_VERIFY(cancel->isHidden());
}

void TestSweepWindow::faultsAreRows() {
    input(1, 1);
    QVERIFY(write(path("in/2.npy"), "damaged"));
    QVERIFY(write(path("labels.csv"), "1.npy,0\n"));
    open(path("m.onnx"));
    sweeps().start({path("in"), {}, {}, path("labels.csv"), QStringLiteral("bgr")});
    settle();
    QTRY_COMPARE(sweeps().rows().size(), std::size_t{2});
    QVERIFY2(panel()->summary().contains(QStringLiteral("1 failed")), qPrintable(panel()->summary()));
    QVERIFY(panel()->summary().contains(QStringLiteral("accuracy 100 % (1 of 1)")));
    const int last = panel()->view()->model()->columnCount() - 1;
    QVERIFY2(cell(1, last).contains(QStringLiteral("2.npy")), qPrintable(cell(1, last)));
    // The reason is in sight without that column, and whichever cell of the row is pointed at.
    QVERIFY2(panel()->summary().contains(QStringLiteral("2.npy: ")), qPrintable(panel()->summary()));
    const QString tip = panel()->view()->model()->index(1, 1).data(Qt::ToolTipRole).toString();
    QVERIFY2(tip.startsWith(QStringLiteral("2.npy\n")) && tip.contains(cell(1, last)), qPrintable(tip));
    panel()->plot()->showView(QStringLiteral("classes"));
    QCOMPARE(panel()->plot()->classText(), QStringLiteral("0: 100 % of 1"));
    // What cannot begin is told in one line.
    sweeps().start({path("in"), {}, QStringLiteral("max(none) > 1"), {}, QStringLiteral("bgr")});
    settle();
    QVERIFY2(sweeps().failure().contains(QStringLiteral("none")), qPrintable(sweeps().failure()));
    sweeps().start({path("nowhere"), {}, {}, {}, QStringLiteral("bgr")});
    settle();
    QVERIFY(!sweeps().failure().isEmpty());
}

void TestSweepWindow::anotherModelEndsIt() {
    input(1, 1);
    sweep();
    QVERIFY(panel()->hasContent());
    open(path("m.onnx"));
    QVERIFY(!panel()->hasContent());
    QVERIFY(sweeps().rows().empty());
}

QTEST_MAIN(TestSweepWindow)

}  // namespace tst_sweep_window

#include "tst_sweep_window.moc"
