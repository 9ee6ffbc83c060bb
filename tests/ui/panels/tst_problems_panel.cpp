// The panel of problems: it comes with the first row, origins are first, keys alone lead to the nodes, and what it
// saves is what the verb prints.

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"
#include "tests/support/window_fixture.h"
#include "ui/context/inputs.h"
#include "ui/panels/problems/problems_panel.h"
#include "ui/widgets/search_field.h"

namespace tst_problems_panel {

using namespace sonde;
using namespace sonde::test;
using models::ProblemTableModel;

namespace {

/// root = √x; scores = log x; sum = root + scores; y = −sum.
std::string twoOrigins() {
    onnxfile::Graph graph;
    graph.nodes = {{"Sqrt", {"x"}, {"root"}},
                   {"Log", {"x"}, {"scores"}},
                   {"Add", {"root", "scores"}, {"sum"}},
                   {"Neg", {"sum"}, {"y"}}};
    graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
    graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
    return onnxfile::model(graph);
}

}  // namespace

class TestProblemsPanel : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        m_model = m_files.filePath(QStringLiteral("two.onnx"));
        QVERIFY(onnxfile::write(m_model, twoOrigins()));
        open(m_model);
        give(QStringLiteral("[-1,4]"));
    }
    void cleanup() { closeWindow(); }
    void itComesWithTheFirstRow();
    void originsAreFirst();
    void keysAloneLeadToTheNode();
    void theFilterHidesRows();
    void rowsAreCopied();
    void acceptedValuesAreNoRows();
    void itSavesWhatTheVerbPrints_data();
    void itSavesWhatTheVerbPrints();

  private:
    panels::ProblemsPanel* panel() {
        return qobject_cast<panels::ProblemsPanel*>(m_window->docks().panel(QStringLiteral("problems")));
    }
    QTableView* view() { return panel()->view(); }
    QString cell(int row, int column) { return view()->model()->index(row, column).data().toString(); }
    void give(const QString& numbers) {
        context().inputs().setSpec(QStringLiteral("x"), {numbers, {}});
        settle();
    }
    QString selected() {
        const graph::NodeId node = context().navigation().selection().node;
        return node.valid() ? QString::fromStdString(context().model().graph().node(node).name) : QString();
    }

    QTemporaryDir m_files;
    QString m_model;
};

void TestProblemsPanel::itComesWithTheFirstRow() {
    QVERIFY(!m_window->docks().dock(QStringLiteral("problems"))->isVisible());
    run();
    QTRY_VERIFY(!view()->visibleRegion().isEmpty());
    give(QStringLiteral("[1,4]"));
    run();
    QVERIFY(!panel()->hasContent());
    QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("problems"))->isVisible());
}

void TestProblemsPanel::originsAreFirst() {
    run();
    QStringList rows;
    for (int row = 0; row < view()->model()->rowCount(); ++row)
        rows << cell(row, ProblemTableModel::Kind) + u' ' + cell(row, ProblemTableModel::Role) + u' ' +
                    cell(row, ProblemTableModel::Node);
    QCOMPARE(rows, (QStringList{"nan origin root", "nan origin scores", "nan carrier sum", "nan carrier y"}));
}

void TestProblemsPanel::keysAloneLeadToTheNode() {
    run();
    key(Qt::Key_0, Qt::AltModifier);
    QCOMPARE(QApplication::focusWidget(), view());
    QTest::keyClick(view(), Qt::Key_Down);
    QCOMPARE(selected(), QStringLiteral("root"));
    QVERIFY(panel()->details().contains(QStringLiteral("its input has negative elements")));
    QTest::keyClick(view(), Qt::Key_Down);
    QCOMPARE(selected(), QStringLiteral("scores"));
    context().navigation().clearSelection();
    QTest::keyClick(view(), Qt::Key_Down);
    QTest::keyClick(view(), Qt::Key_Return);
    QCOMPARE(selected(), QStringLiteral("root"));
    // Where F8 goes the list goes too.
    key(Qt::Key_F8);
    QCOMPARE(selected(), QStringLiteral("scores"));
    QCOMPARE(view()->currentIndex().row(), 1);
}

void TestProblemsPanel::theFilterHidesRows() {
    run();
    auto* filter = panel()->findChild<widgets::SearchField*>();
    auto* field = filter->findChild<QLineEdit*>();
    QTest::keyClicks(field ? static_cast<QWidget*>(field) : filter, QStringLiteral("origin"));
    QTRY_COMPARE(view()->model()->rowCount(), 2);
}

void TestProblemsPanel::rowsAreCopied() {
    run();
    key(Qt::Key_0, Qt::AltModifier);
    QTest::keyClick(view(), Qt::Key_Down);
    QTest::keyClick(view(), Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(view(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QApplication::clipboard()->text().split(u'\n');
    QCOMPARE(lines.size(), 2);
    QVERIFY2(lines[0].startsWith(QStringLiteral("nan\torigin\troot\t")), qPrintable(lines[0]));
    QVERIFY2(lines[1].startsWith(QStringLiteral("nan\torigin\tscores\t")), qPrintable(lines[1]));
}

void TestProblemsPanel::acceptedValuesAreNoRows() {
    run();
    for (const char* name : {"root", "scores"}) {
        context().navigation().select(context().model().graph().findNode(name));
        key(Qt::Key_F8, Qt::ControlModifier);
    }
    QTRY_VERIFY(!panel()->hasContent());
}

void TestProblemsPanel::itSavesWhatTheVerbPrints_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QStringList>("options");
    QTest::newRow("JSON") << "list.json" << QStringList{"--json"};
    QTest::newRow("text") << "list.txt" << QStringList{};
    QTest::newRow("JUnit") << "list.xml" << QStringList{"--junit", "FILE"};
}
void TestProblemsPanel::itSavesWhatTheVerbPrints() {
    QFETCH(QString, file);
    QFETCH(QStringList, options);
    run();
    const QString saved = m_files.filePath(file), printed = m_files.filePath(QStringLiteral("printed.xml"));
    key(Qt::Key_F8, Qt::ControlModifier | Qt::ShiftModifier);
    auto* dialog = panel()->findChild<QFileDialog*>();
    QVERIFY(dialog);
    dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(saved);
    QPushButton* const choose = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save);
    QTRY_VERIFY(choose->isEnabled());
    QTest::mouseClick(choose, Qt::LeftButton);
    QTRY_VERIFY(QFile::exists(saved));
    options.replaceInStrings(QStringLiteral("FILE"), printed);
    const Outcome outcome = runSonde(QStringList{"problems", m_model, "--input-data", "x:[-1,4]"} + options);
    QCOMPARE(outcome.status, 1);
    const auto read = [](const QString& path) {
        QFile opened(path);
        return opened.open(QIODevice::ReadOnly) ? QString::fromUtf8(opened.readAll()) : QString();
    };
    QCOMPARE(read(saved), options.contains(printed) ? read(printed) : outcome.out);
}

QTEST_MAIN(TestProblemsPanel)

}  // namespace tst_problems_panel

#include "tst_problems_panel.moc"
