// The test cases of a dump in the window. Values are worked by hand: of x the small dump computes
// product = x · (1, 2, 3, 4) and sum = product + x, its output ADD.

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QScrollBar>
#include <QTableView>

#include "tests/support/small_dump.h"
#include "tests/support/window_fixture.h"
#include "ui/models/test_case_table_model.h"
#include "ui/panels/test_cases/test_cases_panel.h"
#include "ui/widgets/banner.h"

namespace tst_test_cases_panel {

using namespace sonde;
using namespace sonde::test;
using models::TestCaseTableModel;

class TestTestCasesPanel : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    /// The second case expects half of what is right: 2, 6, 12, 20 of 4, 12, 24, 40.
    void casesAreRunAndWalked() {
        auto dump = exporting::makeDump(productDocument(), {"[1,2,3,4]", "[2,4,6,8]"}, {});
        QVERIFY(dump.has_value());
        for (auto& [input, value] : dump->cases.at(1))
            if (input.ends_with(":expect")) value = Tensor::of<float>({4}, {2, 6, 12, 20});
        QVERIFY(io::dump::writeDump(path("second.dump").toStdString(), *dump));
        open(path("second.dump"));
        QVERIFY(action("run.test_cases")->isEnabled() && action("compare.unoptimised")->isEnabled());
        key(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 30000);
        settle();
        QVERIFY(panel().view()->isVisible());
        QCOMPARE(panel().summary(), QString("1 of 2 outputs of 2 test cases differs from the expected values"));
        QCOMPARE(panel().view()->model()->rowCount(), 2);
        QCOMPARE(cell(0, TestCaseTableModel::Error), QString("0"));
        QCOMPARE(cell(0, TestCaseTableModel::Result), QString("agrees"));
        QCOMPARE(cell(1, TestCaseTableModel::Output), QString("ADD"));
        QCOMPARE(cell(1, TestCaseTableModel::Error), QString("1"));
        QCOMPARE(cell(1, TestCaseTableModel::Allowed), QString("0.0001"));
        QCOMPARE(cell(1, TestCaseTableModel::Result), QString("differs"));
        // A number of six digits is not cut in the bold row of the case that is shown, nor is the last column.
        QFont bold = panel().view()->font();
        bold.setBold(true);
        QVERIFY(panel().view()->columnWidth(TestCaseTableModel::Error) >
                QFontMetrics(bold).horizontalAdvance(QStringLiteral("0.000488281")) + 6);
        QCOMPARE(panel().view()->horizontalScrollBar()->maximum(), 0);
        // The case that fails is the one that is shown, and F7 goes to what differs in it.
        QVERIFY(context().testCases().shown() == std::size_t(1));
        key(Qt::Key_F7);
        QCOMPARE(context().navigation().selection().node, named("ADD"));
        // A click on a case brings its inputs and goes to its output.
        context().navigation().select(named("product"));
        clickRow(0);
        QCOMPARE(context().navigation().selection().node, named("ADD"));
        QVERIFY(context().testCases().shown() == std::size_t(0));
        QCOMPARE(context().runs().lastInputs().at(0).tensor().toDouble(3), 4.0);
        QCOMPARE(context().comparison().differing(), std::size_t(0));
        QVERIFY(panel().view()->isVisible());
    }

    /// Arrows do what a click does; Return comes back to a row after another node was selected. Tab leaves the list.
    void keysWalkTheCases() {
        QCOMPARE(writeProductDump(path("keys.dump").toStdString(), {"[1,2,3,4]", "[2,4,6,8]", "[0,0,0,1]"}),
                 std::string());
        open(path("keys.dump"));
        key(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 30000);
        settle();
        m_window->docks().dock(QStringLiteral("test_cases"))->hide();
        key(Qt::Key_9, Qt::AltModifier | Qt::ShiftModifier);
        QTableView* const view = panel().view();
        QCOMPARE(QApplication::focusWidget(), view);
        QCOMPARE(view->currentIndex().row(), 0);
        context().navigation().select(named("product"));
        press(view, Qt::Key_Down);
        QVERIFY(context().testCases().shown() == std::size_t(1));
        QCOMPARE(context().navigation().selection().node, named("ADD"));
        QCOMPARE(context().runs().lastInputs().at(0).tensor().toDouble(3), 8.0);
        QCOMPARE(QApplication::focusWidget(), view);
        press(view, Qt::Key_Down);
        QVERIFY(context().testCases().shown() == std::size_t(2));
        press(view, Qt::Key_Up);
        QVERIFY(context().testCases().shown() == std::size_t(1));
        context().navigation().select(named("product"));
        settle();
        press(view, Qt::Key_Return);
        QCOMPARE(context().navigation().selection().node, named("ADD"));
        QCOMPARE(view->currentIndex().row(), 1);
        press(view, Qt::Key_Tab);
        QVERIFY(!view->hasFocus());
        QVERIFY(context().testCases().shown() == std::size_t(1));
    }

    /// The result is seen whole however narrow the window is; names give way. The case of the window is selected.
    void resultsAreSeenInNarrowWindows() {
        QCOMPARE(writeProductDump(path("narrow.dump").toStdString(), {"[1,2,3,4]", "[2,4,6,8]"}, {}, 0.5F),
                 std::string());
        open(path("narrow.dump"));
        key(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 30000);
        settle();
        QTableView* const view = panel().view();
        QFont bold = view->font();
        bold.setBold(true);
        const int word = QFontMetrics(bold).horizontalAdvance(QStringLiteral("differs"));
        for (const int width : {1400, 800, 640, 1400}) {
            m_window->resize(width, 600);
            settle();
            QCoreApplication::processEvents();
            const QRect place = view->visualRect(view->model()->index(0, TestCaseTableModel::Result));
            QVERIFY2(view->viewport()->rect().contains(place), qPrintable(QString::number(width)));
            QVERIFY(place.width() > word + 6);
            QCOMPARE(view->horizontalScrollBar()->maximum(), 0);
        }
        QVERIFY(view->columnWidth(TestCaseTableModel::Output) >= 100);  // where there is room
        const auto tip = [view](int row) {
            return view->model()->index(row, TestCaseTableModel::Case).data(Qt::ToolTipRole).toString();
        };
        QVERIFY(tip(0).contains(QStringLiteral("The window has the inputs of this case")));
        QCOMPARE(tip(1), QStringLiteral("1"));
        QVERIFY(!view->model()->index(0, TestCaseTableModel::Case).data(Qt::FontRole).isValid());
        QVERIFY(view->selectionModel()->isRowSelected(0));
    }

    /// An input that a case has given is named after it, until something else is chosen for it.
    void inputsNameTheirCase() {
        QCOMPARE(writeProductDump(path("named.dump").toStdString(), {"[1,2,3,4]", "[2,4,6,8]"}), std::string());
        open(path("named.dump"));
        m_window->docks().show(QStringLiteral("inputs"));
        const QString name = context().inputs().all().front().name;
        auto* const editor = m_window->findChild<QFrame*>(QStringLiteral("input.") + name);
        QVERIFY(editor);
        auto* const source = editor->findChild<QComboBox*>();
        const int choices = source->count();
        key(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 30000);
        settle();
        QCOMPARE(source->currentText(), QString("Test case 0"));
        QVERIFY(source->width() >= source->fontMetrics().horizontalAdvance(source->currentText()) + 16);
        clickRow(1);
        QCOMPARE(source->currentText(), QString("Test case 1"));
        m_window->docks().show(QStringLiteral("inputs"));
        QStringList told;
        for (const QLabel* label : editor->findChildren<QLabel*>()) told << label->text();
        QVERIFY2(told.contains("Given: float32[4]"), qPrintable(told.join('|')));
        context().inputs().setSpec(name, {"[0,0,0,1]", {}});
        settle();
        QCOMPARE(source->currentText(), QString("Numbers"));
        QCOMPARE(source->count(), choices);
    }

    /// The key says what is missing, and how to get it.
    void otherModelsHaveNone() {
        open(QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.onnx"));
        QVERIFY(!action("compare.unoptimised")->isEnabled());
        saysThatThereAreNone("mlp_functional.onnx");
        QCOMPARE(writeProductDump(path("bare.dump").toStdString(), {}), std::string());
        open(path("bare.dump"));
        QVERIFY(action("compare.unoptimised")->isEnabled());
        saysThatThereAreNone("bare.dump");
    }

    void resultsGoWithTheModel() {
        QCOMPARE(writeProductDump(path("good.dump").toStdString(), {"[1,2,3,4]"}), std::string());
        open(path("good.dump"));
        key(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_COMPARE_WITH_TIMEOUT(panel().view()->model()->rowCount(), 1, 30000);
        settle();
        open(QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.onnx"));
        QCOMPARE(panel().view()->model()->rowCount(), 0);
        QVERIFY(!panel().view()->isVisible());
    }

  private:
    void saysThatThereAreNone(const char* model) {
        key(Qt::Key_F5, Qt::ControlModifier | Qt::ShiftModifier);
        auto* const banner = m_window->findChild<widgets::Banner*>();
        QVERIFY(banner && banner->isVisible());
        QCOMPARE(banner->text(), QString("the model has no test cases (%1)").arg(model));
        QCOMPARE(banner->hint(),
                 QString("dumps written with inputs have them; set the inputs in the Inputs panel; File \u203a Export "
                         "Model (Ctrl+J) adds them under Test cases"));
        QCOMPARE(panel().view()->model()->rowCount(), 0);
    }
    QString path(const char* name) const { return m_files.filePath(QLatin1String(name)); }
    panels::TestCasesPanel& panel() {
        return *qobject_cast<panels::TestCasesPanel*>(m_window->docks().panel(QStringLiteral("test_cases")));
    }
    QAction* action(const char* id) { return m_window->actions().action(QLatin1String(id)); }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    QString cell(int row, int column) { return panel().view()->model()->index(row, column).data().toString(); }
    void clickRow(int row) {
        QTableView* const view = panel().view();
        click(view->viewport(), view->visualRect(view->model()->index(row, 1)).center());
        settle();
    }

    void press(QWidget* view, Qt::Key which) {
        QTest::keyClick(view, which);
        QCoreApplication::processEvents();
        settle();
    }

    QTemporaryDir m_files;
};

QTEST_MAIN(TestTestCasesPanel)

}  // namespace tst_test_cases_panel

#include "tst_test_cases_panel.moc"
