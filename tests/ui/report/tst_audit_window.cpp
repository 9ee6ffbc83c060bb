// An audit in the real window: findings are looked for, shown on the canvas, accepted and taken back, and kept in the
// session file; the dialog writes the report.

#include <QDialogButtonBox>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>

#include "core/document/document.h"
#include "core/session/findings/acceptances.h"
#include "core/session/read_inputs.h"
#include "core/session/report/audit_report.h"
#include "tests/support/finding_networks.h"
#include "tests/support/hover.h"
#include "tests/support/window_fixture.h"
#include "ui/canvas/canvas_marks.h"
#include "ui/context/findings.h"
#include "ui/dialogs/report_dialog.h"
#include "ui/panels/findings/findings_panel.h"
#include "ui/report/graph_pictures.h"
#include "ui/window/window_dialogs.h"

namespace tst_audit_window {

using namespace sonde;
using namespace sonde::test;
using models::FindingTableModel;

namespace {

/// Nothing reads e0 to e3: four findings that call for the same thing.
std::string unreadOnes() {
    std::vector<onnxfile::Node> nodes;
    std::string last = "x";
    for (int i = 0; i < 4; ++i) {
        const std::string next = i == 3 ? "y" : "r" + std::to_string(i);
        nodes.push_back({"Relu", {last}, {next}});
        nodes.push_back({"Exp", {last}, {"e" + std::to_string(i)}});
        last = next;
    }
    return findingnetworks::chain(nodes, {1, 4}, {1, 4});
}

}  // namespace

class TestAuditWindow : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
        m_model = m_files.filePath(QStringLiteral("unread.onnx"));
        QVERIFY(onnxfile::write(m_model, unreadOnes()));
        open(m_model);
    }
    void cleanup() { closeWindow(); }
    void thePanelComesWithFindings();
    void aRowSelectsAllItsNodes();
    void figuresHaveFormulas();
    void acceptedOnesAreKeptInTheSessionFile();
    void acceptedOnesAreInTheReport();
    void aCleanModelTakesNoRoom();
    void findingsAreOfOneModel();
    void theDialogWritesReports();
    void theReportIsThatOfTheCommand_data();
    void theReportIsThatOfTheCommand();

  private:
    panels::FindingsPanel* panel() {
        return qobject_cast<panels::FindingsPanel*>(m_window->docks().panel(QStringLiteral("findings")));
    }
    QTableView* view() { return panel()->view(); }
    QString cell(int row, int column) { return view()->model()->index(row, column).data().toString(); }
    void look() {
        QSignalSpy finished(&context().findings(), &context::Findings::finished);
        key(Qt::Key_L, Qt::AltModifier | Qt::ShiftModifier);
        if (finished.isEmpty()) QVERIFY(finished.wait(30000));
        settle();
    }
    void clickRow(int row) {
        QTRY_VERIFY(!view()->visibleRegion().isEmpty());
        click(view()->viewport(), view()->visualRect(view()->model()->index(row, FindingTableModel::Finding)).center());
    }
    canvas::ItemFlags flagsOf(const char* name) {
        const graph::NodeId found = context().model().document()->findNode(name).value_or(graph::NodeId());
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(found).producer);
        return item ? canvas()->marks().of(item) : canvas::ItemFlags{0};
    }
    QToolButton* count() { return m_window->findChild<QToolButton*>(QStringLiteral("findings")); }

    QTemporaryDir m_files;
    QString m_model;
};

void TestAuditWindow::thePanelComesWithFindings() {
    QVERIFY(!m_window->docks().dock(QStringLiteral("findings"))->isVisible());
    QVERIFY(!count()->isVisible());
    QVERIFY(!(flagsOf("e1") & canvas::kFinding));
    look();
    QTRY_VERIFY(m_window->docks().dock(QStringLiteral("findings"))->isVisible());
    QCOMPARE(view()->model()->rowCount(), 1);
    QCOMPARE(cell(0, FindingTableModel::Finding), QStringLiteral("unused-output"));
    QCOMPARE(cell(0, FindingTableModel::Count), QStringLiteral("4"));
    QCOMPARE(cell(0, FindingTableModel::Nodes), QStringLiteral("e0, e1, e2 and 1 more"));
    QVERIFY(flagsOf("e1") & canvas::kFinding);
    QVERIFY(!(flagsOf("r1") & canvas::kFinding));
    QVERIFY(count()->isVisible());
    QVERIFY(count()->text().startsWith(QStringLiteral("4 findings")));
}

void TestAuditWindow::aRowSelectsAllItsNodes() {
    look();
    clickRow(0);
    QCOMPARE(context().navigation().selectedNodes().size(), std::size_t{4});
    QVERIFY(panel()->details().contains(QStringLiteral("What to do: ")));
    QVERIFY(panel()->details().contains(QStringLiteral("e3")));
}

/// What the mouse shows that rests on each cell: the cell, and what it is.
void TestAuditWindow::figuresHaveFormulas() {
    look();
    clickRow(0);  // the panel is in front
    const std::pair<int, const char*> said[] = {
        {FindingTableModel::Severity, "info: to be known"},
        {FindingTableModel::Confidence, "follows from the file"},
        {FindingTableModel::Finding, "An operation whose results nothing reads"},
        {FindingTableModel::Count, "Findings of one id, severity, confidence and advice are one row"},
        {FindingTableModel::Nodes, "select all of them"},
        {FindingTableModel::Message, "An operation whose results nothing reads"}};
    for (const auto& [column, formula] : said) {
        const QString tip = hovered(view(), view()->model()->index(0, column));
        QVERIFY2(tip.startsWith(cell(0, column)) && tip.contains(QLatin1String(formula)), qPrintable(tip));
    }
}

/// Accepted by the mouse, and in the file that the dialog writes: with its reason, and counted apart.
void TestAuditWindow::acceptedOnesAreInTheReport() {
    look();
    clickRow(0);
    auto* reason = panel()->findChild<QLineEdit*>(QStringLiteral("reason"));
    click(reason, reason->rect().center());
    QVERIFY(reason->hasFocus());
    QTest::keyClicks(reason, QStringLiteral("kept for a probe <b>"));
    auto* accept = panel()->findChild<QPushButton*>(QStringLiteral("acceptFinding"));
    click(accept, accept->rect().center());
    QCOMPARE(cell(0, FindingTableModel::Severity), QStringLiteral("accepted"));
    key(Qt::Key_W, Qt::AltModifier | Qt::ShiftModifier);
    dialogs::ReportDialog* const dialog = m_window->dialogs().reportDialog();
    auto* path = dialog->findChild<QLineEdit*>(QStringLiteral("path"));
    path->selectAll();
    QTest::keyClicks(path, m_files.filePath(QStringLiteral("accepted.html")));
    QSignalSpy written(dialog, &dialogs::ReportDialog::written);
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("write")), Qt::LeftButton);
    QVERIFY2(written.count() > 0 || written.wait(60000), qPrintable(dialog->told()));
    QFile read(m_files.filePath(QStringLiteral("accepted.html")));
    QVERIFY(read.open(QIODevice::ReadOnly));
    const QString html = QString::fromUtf8(read.readAll());
    QVERIFY(html.contains(QStringLiteral("kept for a probe &lt;b&gt;")));
    QVERIFY(!html.contains(QStringLiteral("probe <b>")));
}

void TestAuditWindow::acceptedOnesAreKeptInTheSessionFile() {
    const QString session = m_files.filePath(QStringLiteral("s.sonde"));
    context().sessionFiles().saveAs(session);
    settle();
    look();
    clickRow(0);
    auto* reason = panel()->findChild<QLineEdit*>(QStringLiteral("reason"));
    auto* accept = panel()->findChild<QPushButton*>(QStringLiteral("acceptFinding"));
    // Without a reason nothing is accepted.
    QVERIFY(!accept->isEnabled());
    QTest::keyClicks(reason, QStringLiteral("probes"));
    QVERIFY(accept->isEnabled());
    QTest::mouseClick(accept, Qt::LeftButton);
    settle();
    QCOMPARE(cell(0, FindingTableModel::Severity), QStringLiteral("accepted"));
    QVERIFY(panel()->details().contains(QStringLiteral("Accepted: probes")));
    QVERIFY(!(flagsOf("e1") & canvas::kFinding));
    QVERIFY(!count()->isVisible());
    const auto stored = [&] {
        QFile file(session);
        if (!file.open(QIODevice::ReadOnly)) return QJsonArray();
        return QJsonDocument::fromJson(file.readAll())[QLatin1String(session::kAcceptedFindingsKey)].toArray();
    };
    QTRY_COMPARE(stored().size(), 1);
    QCOMPARE(stored().first()["reason"].toString(), QStringLiteral("probes"));
    QCOMPARE(stored().first()["nodes"].toArray(), (QJsonArray{"e0", "e1", "e2", "e3"}));
    // Opened again, it still is.
    closeWindow();
    openWindow();
    open(session);
    look();
    QCOMPARE(cell(0, FindingTableModel::Severity), QStringLiteral("accepted"));
    clickRow(0);
    accept = panel()->findChild<QPushButton*>(QStringLiteral("acceptFinding"));
    QVERIFY(accept->text().contains(QStringLiteral("Back")));
    QTest::mouseClick(accept, Qt::LeftButton);
    settle();
    QVERIFY(cell(0, FindingTableModel::Severity) != QStringLiteral("accepted"));
    QVERIFY(flagsOf("e1") & canvas::kFinding);
    QTRY_COMPARE(stored().size(), 0);
}

void TestAuditWindow::aCleanModelTakesNoRoom() {
    QVERIFY(onnxfile::write(m_files.filePath(QStringLiteral("clean.onnx")),
                            findingnetworks::chain({{"Tanh", {"x"}, {"y"}}}, {1, 4}, {1, 4})));
    open(m_files.filePath(QStringLiteral("clean.onnx")));
    look();
    QVERIFY2(context().findings().groups().empty(), context().findings().report()->text().c_str());
    QVERIFY(!panel()->hasContent());
    QVERIFY(!m_window->docks().dock(QStringLiteral("findings"))->isVisible());
    QVERIFY(!count()->isVisible());
}

void TestAuditWindow::findingsAreOfOneModel() {
    look();
    QVERIFY(panel()->hasContent());
    open(QStringLiteral("zoo:resnet18_slim"));
    QVERIFY(!context().findings().isKnown());
    QVERIFY(!panel()->hasContent());
    QVERIFY(!count()->isVisible());
}

void TestAuditWindow::theDialogWritesReports() {
    open(QStringLiteral("zoo:resnet18_slim"));
    key(Qt::Key_W, Qt::AltModifier | Qt::ShiftModifier);
    dialogs::ReportDialog* const dialog = m_window->dialogs().reportDialog();
    QVERIFY(dialog);
    auto* path = dialog->findChild<QLineEdit*>(QStringLiteral("path"));
    auto* write = dialog->findChild<QPushButton*>(QStringLiteral("write"));
    const auto type = [&](const QString& text) {
        path->selectAll();
        QTest::keyClicks(path, text);
    };
    type(m_files.filePath(QStringLiteral("r.txt")));
    QVERIFY(!write->isEnabled());
    auto* modules = dialog->findChild<QListWidget*>(QStringLiteral("modules"));
    const auto found = modules->findItems(QStringLiteral("layer1.0"), Qt::MatchExactly);
    QCOMPARE(found.size(), 1);
    found.front()->setCheckState(Qt::Checked);
    for (const char* name : {"r.html", "r.pdf"}) {
        const QString file = m_files.filePath(QLatin1String(name));
        type(file);
        QVERIFY(write->isEnabled());
        QSignalSpy written(dialog, &dialogs::ReportDialog::written);
        QTest::mouseClick(write, Qt::LeftButton);
        QVERIFY2(written.count() > 0 || written.wait(60000), qPrintable(dialog->told()));
        QVERIFY(dialog->told().contains(file));
        QFile read(file);
        QVERIFY(read.open(QIODevice::ReadOnly));
        const QByteArray bytes = read.readAll();
        QVERIFY(file.endsWith(QLatin1String(".pdf")) ? bytes.startsWith("%PDF-") : bytes.contains("Module layer1.0"));
    }
    // A file that is there is replaced when asked for again.
    dialog->reject();
    key(Qt::Key_W, Qt::AltModifier | Qt::ShiftModifier);
    dialogs::ReportDialog* const again = m_window->dialogs().reportDialog();
    again->setChoice({m_files.filePath(QStringLiteral("r.html")), {}, {}, false});
    QSignalSpy written(again, &dialogs::ReportDialog::written);
    QTest::mouseClick(again->findChild<QPushButton*>(QStringLiteral("write")), Qt::LeftButton);
    QVERIFY(again->told().contains(QStringLiteral("exists")));
    QCOMPARE(written.count(), 0);
    QTest::mouseClick(again->findChild<QPushButton*>(QStringLiteral("write")), Qt::LeftButton);
    QVERIFY(written.count() > 0 || written.wait(60000));
}

void TestAuditWindow::theReportIsThatOfTheCommand_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("fixed sizes") << "zoo:resnet18_slim";
    QTest::newRow("integers, open sizes") << QStringLiteral(SONDE_TEST_DATA "/models/gpt_mini.onnx");
    QTest::newRow("several inputs") << QStringLiteral(SONDE_TEST_DATA "/models/mlp_functional.onnx");
}

/// Nobody chose inputs: the file is byte for byte that of `sonde report MODEL -o FILE`, which asks for this.
void TestAuditWindow::theReportIsThatOfTheCommand() {
    QFETCH(const QString, model);
    open(model);
    const QString file = m_files.filePath(QLatin1String(QTest::currentDataTag()) + QStringLiteral(".html"));
    key(Qt::Key_W, Qt::AltModifier | Qt::ShiftModifier);
    dialogs::ReportDialog* const dialog = m_window->dialogs().reportDialog();
    dialog->setChoice({file, {}, {}, false});
    QSignalSpy written(dialog, &dialogs::ReportDialog::written);
    QTest::mouseClick(dialog->findChild<QPushButton*>(QStringLiteral("write")), Qt::LeftButton);
    QVERIFY2(written.count() > 0 || written.wait(60000), qPrintable(dialog->told()));
    QFile read(file);
    QVERIFY(read.open(QIODevice::ReadOnly));

    const auto document = document::open(model.toStdString(), {});
    QVERIFY(document);
    session::AuditRequest request;
    const auto cases = session::readCases(**document, {{}, {}, 0}, {});
    QVERIFY(cases);
    request.findings.cases.push_back(cases->front().values);
    report::GraphPictures pictures(*document);
    request.picture = [&](const std::string& qualname, const base::WorkContext& work) {
        return pictures.svg(qualname, work);
    };
    const auto made = session::auditReport(**document, request);
    QVERIFY(made);
    const QByteArray expected = QByteArray::fromStdString(session::reportHtml(*made)), bytes = read.readAll();
    const auto lines = bytes.split('\n'), others = expected.split('\n');
    for (qsizetype i = 0; i < std::min(lines.size(), others.size()); ++i) QCOMPARE(lines[i], others[i]);
    QVERIFY(bytes == expected);
}

QTEST_MAIN(TestAuditWindow)

}  // namespace tst_audit_window

#include "tst_audit_window.moc"
