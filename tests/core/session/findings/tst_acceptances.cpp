// Files of accepted findings, and the list of them in a session file.

#include <QTemporaryDir>
#include <QtTest>

#include "core/session/findings/acceptances.h"

namespace tst_acceptances {

using namespace sonde;

class TestAcceptances : public QObject {
    Q_OBJECT

  private slots:
    void filesAreRead();
    void wrongOnesAreRefused_data();
    void wrongOnesAreRefused();
    void sessionFilesKeepTheirList();
};

void TestAcceptances::filesAreRead() {
    const auto read = session::parseAcceptances(
        R"({"format":"sonde-accepted","version":1,"accepted":[
            {"id":"dead-unit","nodes":["relu_1","relu_2"],"reason":"pruned"},{"id":"old-opset","reason":"known"}]})");
    QVERIFY2(read, read ? "" : read.error().text().c_str());
    QCOMPARE(read->size(), std::size_t{2});
    QCOMPARE((*read)[0].id, std::string("dead-unit"));
    QVERIFY((*read)[0].nodes == (std::vector<std::string>{"relu_1", "relu_2"}));
    QCOMPARE((*read)[0].reason, std::string("pruned"));
    QVERIFY(!(*read)[1].nodes);

    QTemporaryDir folder;
    QFile file(folder.filePath("accepted.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"format\":\"sonde-accepted\",\"version\":1,\"accepted\":[]}");
    file.close();
    const auto empty = session::readAcceptances(file.fileName().toStdString());
    QVERIFY(empty && empty->empty());
    const auto missing = session::readAcceptances(folder.filePath("none.json").toStdString());
    QVERIFY(!missing);
    QVERIFY(QString::fromStdString(missing.error().where).endsWith(u"none.json"));
}

void TestAcceptances::wrongOnesAreRefused_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("error");
    const auto one = [](const char* item) {
        return QStringLiteral(R"({"format":"sonde-accepted","version":1,"accepted":[%1]})").arg(QLatin1String(item));
    };
    QTest::newRow("no JSON") << "{\"format\":"
                             << "no JSON at byte 11";
    QTest::newRow("another format") << R"({"format":"sonde-session","version":1})"
                                    << "its format is not 'sonde-accepted'";
    QTest::newRow("a list") << "[]"
                            << "its format is not 'sonde-accepted'";
    QTest::newRow("another version") << R"({"format":"sonde-accepted","version":2,"accepted":[]})"
                                     << "the version of the file of accepted findings is not 1";
    QTest::newRow("no list") << R"({"format":"sonde-accepted","version":1})"
                             << "accepted is missing";
    QTest::newRow("unknown key") << R"({"format":"sonde-accepted","version":1,"accepted":[],"more":1})"
                                 << "more is no known key";
    QTest::newRow("no object") << one("3") << "accepted[0] is no object";
    QTest::newRow("no id") << one(R"({"reason":"r"})") << "accepted[0].id is missing";
    QTest::newRow("no such id") << one(R"({"id":"dead-units","reason":"r"})")
                                << "accepted[0].id: there is no finding 'dead-units'";
    QTest::newRow("no reason") << one(R"({"id":"dead-unit"})") << "accepted[0].reason is missing or empty";
    QTest::newRow("blank reason") << one(R"({"id":"dead-unit","reason":" "})")
                                  << "accepted[0].reason is missing or empty";
    QTest::newRow("nodes are no list") << one(R"({"id":"dead-unit","nodes":"x","reason":"r"})")
                                       << "accepted[0].nodes is no list";
    QTest::newRow("a node is no text") << one(R"({"id":"dead-unit","nodes":[1],"reason":"r"})")
                                       << "accepted[0].nodes[0] is no text";
    QTest::newRow("no nodes in the list")
        << one(R"({"id":"dead-unit","nodes":[],"reason":"r"})") << "accepted[0].nodes is empty";
    QTest::newRow("unknown key of an item")
        << one(R"({"id":"dead-unit","reason":"r","node":"x"})") << "accepted[0].node is no known key";
    QTest::newRow("deep") << QString(100'000, u'[') << "it is nested too deep";
}

void TestAcceptances::wrongOnesAreRefused() {
    QFETCH(QString, text);
    QFETCH(QString, error);
    const auto read = session::parseAcceptances(text.toStdString());
    QVERIFY(!read);
    const bool isDeep = text.startsWith(u"[[[");
    // What is nested too deep may also be found to be no JSON.
    QVERIFY2(read.error().what.find(error.toStdString()) != std::string::npos ||
                 (isDeep && read.error().what.starts_with("no JSON")),
             read.error().what.c_str());
}

void TestAcceptances::sessionFilesKeepTheirList() {
    const std::string text =
        R"({"format":"sonde-session","version":1,"model":{"path":"zoo:resnet18"},
            "accepted_findings":[{"id":"training-mode","nodes":["drop"],"reason":"Monte Carlo dropout"}]})";
    const auto file = io::parseSession(text);
    QVERIFY2(file, file ? "" : file.error().text().c_str());
    const auto accepted = session::acceptancesOf(*file);
    QVERIFY(accepted);
    QCOMPARE(accepted->size(), std::size_t{1});
    QCOMPARE(accepted->front().reason, std::string("Monte Carlo dropout"));
    // And they are in it when it is written again.
    const auto again = io::parseSession(io::sessionText(*file));
    QVERIFY(again);
    QCOMPARE(session::acceptancesOf(*again)->front().id, std::string("training-mode"));
    QVERIFY(session::acceptancesOf({})->empty());

    auto broken = *file;
    broken.others[session::kAcceptedFindingsKey] = R"([{"id":"training-mode"}])";
    const auto refused = session::acceptancesOf(broken);
    QVERIFY(!refused);
    QCOMPARE(refused.error().what, std::string("accepted_findings[0].reason is missing or empty"));
}

QTEST_APPLESS_MAIN(TestAcceptances)

}  // namespace tst_acceptances

#include "tst_acceptances.moc"
