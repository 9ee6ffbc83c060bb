// Models that are as they should be have no finding of severity error, on the inputs that come with them.

#include <QDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/session/findings/find_findings.h"
#include "core/session/read_inputs.h"
#include "tests/support/reference_sets.h"

namespace tst_findings_models {

using namespace sonde;

class TestFindingsModels : public QObject {
    Q_OBJECT

  private slots:
    void cleanModelsHaveNoErrors_data();
    void cleanModelsHaveNoErrors();
};

void TestFindingsModels::cleanModelsHaveNoErrors_data() {
    QTest::addColumn<QString>("path");
    const QDir folder(test::referenceModels());
    for (const QString& name : folder.entryList({"*.onnx", "*.trace.pt", "*.script.pt"}, QDir::Files, QDir::Name))
        QTest::newRow(qPrintable(name)) << folder.filePath(name);
}

void TestFindingsModels::cleanModelsHaveNoErrors() {
    QFETCH(QString, path);
    const auto opened = document::open(path.toStdString(), {});
    QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
    const document::Document& document = **opened;
    session::FindingRequest request;
    const QFileInfo file(path);
    const QString values = file.dir().filePath(file.fileName().section(u'.', 0, 0) + ".npz");
    // silero_vad_v5 and others have a version in their names.
    const QString whole = file.dir().filePath(file.completeBaseName() + ".npz");
    session::InputData data;
    if (QFileInfo::exists(whole)) data.spec = whole.toStdString();
    else if (QFileInfo::exists(values)) data.spec = values.toStdString();
    const auto cases = session::readCases(document, data);
    QVERIFY2(cases, cases ? "" : cases.error().text().c_str());
    for (const io::InputCase& one : *cases) request.cases.push_back(one.values);
    session::ModelInfoRequest about;
    about.hashes = false;
    const auto info = session::modelInfo(document, about);
    QVERIFY(info);
    const auto report = session::findFindings(document, *info, request);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY2(report->count(base::Severity::Error) == 0, report->text().c_str());
    // The values were looked at.
    QVERIFY(std::ranges::find(report->notChecked, "nan") == report->notChecked.end());
}

QTEST_APPLESS_MAIN(TestFindingsModels)

}  // namespace tst_findings_models

#include "tst_findings_models.moc"
