// Fifty generated networks with one fault each, in the real window: at most three actions lead to the right node.

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include "tests/support/planted_networks.h"
#include "tests/support/window_fixture.h"
#include "ui/context/inputs.h"
#include "ui/panels/problems/problems_panel.h"

namespace tst_planted_window {

using namespace sonde;
using namespace sonde::test;

class TestPlantedWindow : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        prepare();
        openWindow({1280, 800});
    }
    void cleanupTestCase() { closeWindow(); }
    void threeActionsLeadToTheNode_data() {
        QTest::addColumn<int>("index");
        for (int i = 0; i < kPlantedCount; ++i) QTest::addRow("%d, %s", i, nameOf(PlantedNetwork(i).fault())) << i;
    }
    void threeActionsLeadToTheNode();

  private:
    // Each is one action of a person.
    void pressRun() {
        ++m_actions;
        run();
    }
    void compareWith(const QString& file) {
        ++m_actions;
        activate();
        canvas()->setFocus();
        QTest::keyClick(canvas(), Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
        QFileDialog* dialog = nullptr;
        for (auto* each : m_window->findChildren<QFileDialog*>())
            if (each->isVisible()) dialog = each;
        QVERIFY(dialog);
        QVERIFY(dialog->findChild<QLabel*>(QStringLiteral("howToRecord"))->text().contains(u"sonde_capture.record("));
        auto* name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        QVERIFY(name);
        name->setText(file);  // as pasted: typing opens the list of completions
        QPushButton* const choose = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
        QTRY_VERIFY(choose->isEnabled());
        QTest::mouseClick(choose, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown() && !context().comparison().isActive(), 30000);
        settle();
    }
    void pressAlt0() {
        ++m_actions;
        key(Qt::Key_0, Qt::AltModifier);
    }
    void clickFirstRow() {
        ++m_actions;
        QTableView* const view = panel()->view();
        QTRY_VERIFY(view->visibleRegion().boundingRect().height() > 0);
        QVERIFY(view->model()->rowCount() > 0);
        click(view->viewport(), view->visualRect(view->model()->index(0, models::ProblemTableModel::Node)).center());
    }
    panels::ProblemsPanel* panel() {
        return qobject_cast<panels::ProblemsPanel*>(m_window->docks().panel(QStringLiteral("problems")));
    }
    bool isInFront() { return !panel()->view()->visibleRegion().isEmpty(); }

    QTemporaryDir m_files;
    int m_actions = 0;
};

void TestPlantedWindow::threeActionsLeadToTheNode() {
    QFETCH(int, index);
    PlantedNetwork network(index);
    const QString right = m_files.filePath(QStringLiteral("right%1.onnx").arg(index));
    const QString wrong = m_files.filePath(QStringLiteral("wrong%1.onnx").arg(index));
    const QString reference = m_files.filePath(QStringLiteral("reference%1.npz").arg(index));
    const QString given = m_files.filePath(QStringLiteral("given%1.npz").arg(index));
    QVERIFY(onnxfile::write(right, network.model(false)));
    QVERIFY(onnxfile::write(wrong, network.model(true)));
    session::Session session;
    QVERIFY(session.open(right.toStdString()));
    QVERIFY(io::writeNpz(reference.toStdString(), network.reference(session)));
    const std::vector<io::NamedTensor> arrays{{"in.x", network.given()}};
    QVERIFY(io::writeNpz(given.toStdString(), arrays));

    open(wrong);
    context().inputs().setSpec(QStringLiteral("x"), {given, {}});
    settle();
    QVERIFY(!panel()->hasContent());

    m_actions = 0;
    if (network.needsReference()) compareWith(reference);
    else pressRun();
    QVERIFY(panel()->hasContent());
    if (!isInFront()) pressAlt0();
    clickFirstRow();
    QVERIFY2(m_actions <= 3, qPrintable(QString::number(m_actions)));
    const graph::NodeId chosen = context().navigation().selection().node;
    QVERIFY(chosen.valid());
    QCOMPARE(QString::fromStdString(context().model().graph().node(chosen).name),
             QString::fromStdString(network.faultyNode()));
    QVERIFY(panel()->details().contains(QString::fromStdString(panel()->model().problem(0)->advice)));
}

QTEST_MAIN(TestPlantedWindow)

}  // namespace tst_planted_window

#include "tst_planted_window.moc"
