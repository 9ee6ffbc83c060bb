// `sonde findings`: the real program, its exit status, and what it prints.

#include <QCryptographicHash>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/finding_networks.h"
#include "tests/support/run_sonde.h"

namespace tst_findings_verb {

using namespace sonde::test;

class TestFindingsVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void errorsGiveStatusOne();
    void acceptedOnesGiveStatusZero();
    void sessionFilesHoldAcceptedOnes();
    void theListNeedsNoModel();
    void valuesAreLeftOutWithoutInputs();
    void wrongFilesAreOneLine();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    void writeText(const char* name, const QByteArray& text) const {
        QFile file(path(name));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    }
    static QJsonArray findingsOf(const Outcome& outcome) {
        return QJsonDocument::fromJson(outcome.out.toUtf8()).object()["findings"].toArray();
    }

    QTemporaryDir m_folder;
};

void TestFindingsVerb::initTestCase() {
    for (const FindingNetwork& network : findingNetworks())
        if (std::string_view(network.id) == "training-mode" && std::string_view(network.what) == "dropout") {
            QVERIFY(onnxfile::write(path("bad.onnx"), network.model(true)));
            QVERIFY(onnxfile::write(path("good.onnx"), network.model(false)));
        }
}

void TestFindingsVerb::errorsGiveStatusOne() {
    const Outcome bad = runSonde({"findings", path("bad.onnx"), "--json"});
    QCOMPARE(bad.status, 1);
    QCOMPARE(findingsOf(bad).first()["id"].toString(), QStringLiteral("training-mode"));
    QCOMPARE(findingsOf(bad).first()["nodes"].toArray(), (QJsonArray{"y"}));
    const Outcome good = runSonde({"findings", path("good.onnx")});
    QCOMPARE(good.status, 0);
    QVERIFY(good.out.endsWith(u"errors: 0, warnings: 0, accepted: 0\n"));
    const Outcome again = runSonde({"findings", path("bad.onnx"), "--json"});
    QCOMPARE(again.out, bad.out);
}

void TestFindingsVerb::acceptedOnesGiveStatusZero() {
    writeText(
        "ok.json",
        R"({"format":"sonde-accepted","version":1,"accepted":[{"id":"training-mode","nodes":["y"],"reason":"MC dropout"}]})");
    const Outcome outcome = runSonde({"findings", path("bad.onnx"), "--accept", path("ok.json"), "--json"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(findingsOf(outcome).first()["accepted"].toString(), QStringLiteral("MC dropout"));
}

void TestFindingsVerb::sessionFilesHoldAcceptedOnes() {
    QFile model(path("bad.onnx"));
    QVERIFY(model.open(QIODevice::ReadOnly));
    const QByteArray bytes = model.readAll(),
                     hash = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
    writeText("s.sonde", R"({"format":"sonde-session","version":1,"model":{"path":"bad.onnx","sha256":")" + hash +
                             R"(","bytes":)" + QByteArray::number(bytes.size()) +
                             R"(},"accepted_findings":[{"id":"training-mode","reason":"in a session"}]})");
    const Outcome outcome = runSonde({"findings", path("s.sonde"), "--json"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QCOMPARE(findingsOf(outcome).first()["accepted"].toString(), QStringLiteral("in a session"));
}

void TestFindingsVerb::theListNeedsNoModel() {
    const Outcome outcome = runSonde({"findings", "--list"});
    QCOMPARE(outcome.status, 0);
    for (const char* id :
         {"unused-parameter", "dead-unit", "zero-filter", "duplicate-subgraph", "foldable-constant", "redundant-cast",
          "redundant-transpose", "saturation", "constant-output", "float16-overflow"})
        QVERIFY2(outcome.out.contains(QLatin1String(id)), id);
    const Outcome json = runSonde({"findings", "--list", "--json"});
    QCOMPARE(QJsonDocument::fromJson(json.out.toUtf8())["checkers"].toArray().size(), outcome.out.count(u'\n'));
    QCOMPARE(runSonde({"findings"}).status, 2);
}

/// Nothing can be made up for a sequence.
void TestFindingsVerb::valuesAreLeftOutWithoutInputs() {
    const auto sequence = [](const std::string& name) {
        std::string tensor, element, list, type, info;
        protozero::pbf_writer(tensor).add_enum(1, 1);
        protozero::pbf_writer(element).add_message(1, tensor);
        protozero::pbf_writer(list).add_message(1, element);
        protozero::pbf_writer(type).add_message(4, list);
        protozero::pbf_writer writer(info);
        writer.add_string(1, name);
        writer.add_message(2, type);
        return info;
    };
    QVERIFY(onnxfile::write(
        path("sequence.onnx"),
        onnxfile::model({.nodes = {{"SequenceAt", {"x", "i"}, {"y"}}, {"SequenceLength", {"x"}, {"unread"}}},
                         .inputs = {sequence("x")},
                         .outputs = {onnxfile::valueInfo("y", 1, {2})},
                         .initializers = {findingnetworks::longs("i", {}, {0})}})));
    const Outcome outcome = runSonde({"findings", path("sequence.onnx"), "--json"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QVERIFY2(outcome.err.contains(u"the model was not run"), qPrintable(outcome.err + outcome.out));
    QVERIFY2(!findingsOf(outcome).isEmpty(), qPrintable(outcome.out));
    QCOMPARE(findingsOf(outcome).first()["id"].toString(), QStringLiteral("unused-output"));
    // A value that is given and cannot be read is an error.
    QVERIFY(runSonde({"findings", path("sequence.onnx"), "--input-data", "x:none.npy"}).status != 0);
}

void TestFindingsVerb::wrongFilesAreOneLine() {
    writeText("wrong.json", R"({"format":"sonde-accepted","version":1,"accepted":[{"id":"nothing","reason":"r"}]})");
    const Outcome outcome = runSonde({"findings", path("good.onnx"), "--accept", path("wrong.json")});
    QCOMPARE(outcome.status, 2);  // the model can be read; as with --labels of `sonde sweep`
    QVERIFY2(outcome.err.startsWith(u"sonde: error: accepted[0].id: there is no finding 'nothing' ("),
             qPrintable(outcome.err));
    QVERIFY(outcome.err.contains(u"hint: `sonde findings --list`"));
    QCOMPARE(runSonde({"findings", path("good.onnx"), "--accept", path("none.json")}).status, 2);
    QCOMPARE(runSonde({"findings", path("good.onnx"), "--input-data", "none.npy"}).status, 3);
}

QTEST_APPLESS_MAIN(TestFindingsVerb)

}  // namespace tst_findings_verb

#include "tst_findings_verb.moc"
