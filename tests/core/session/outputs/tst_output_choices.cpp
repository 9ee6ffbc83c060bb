// What is chosen for outputs: on the command line, in session files.

#include <QtTest>

#include "core/document/session_model.h"
#include "core/session/outputs/choice.h"
#include "core/session/outputs/show_outputs.h"

namespace tst_output_choices {

using namespace sonde;
using namespace sonde::session::outputs;

class TestOutputChoices : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void commandLine_data();
    void commandLine();
    void commandLineRefuses_data();
    void commandLineRefuses();
    void sessionFileKeeps();
    void sessionFileRefuses_data();
    void sessionFileRefuses();
    void filesAreRelative();
    void filesOutsideAreRefused();
};

void TestOutputChoices::commandLine_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("output");
    QTest::addColumn<QString>("form");
    QTest::addColumn<QString>("options");
    QTest::newRow("form") << "classes"
                          << ""
                          << "classes"
                          << "";
    QTest::newRow("output") << "y=classes:top=3"
                            << "y"
                            << "classes"
                            << "top=3";
    QTest::newRow("automatic") << "auto:sample=2"
                               << ""
                               << ""
                               << "sample=2";
    QTest::newRow("name with =") << "a=b=boxes:xywh"
                                 << "a=b"
                                 << "boxes"
                                 << "xywh";
    QTest::newRow("name with :") << "net:0=auto"
                                 << "net:0"
                                 << ""
                                 << "";
    QTest::newRow("order") << "boxes:threshold=0.25,class=5+,score=4,first=1,rows,pixels,cxcywh,sample=1,top=2"
                           << ""
                           << "boxes"
                           << "top=2,sample=1,cxcywh,pixels,rows,first=1,score=4,class=5+,threshold=0.25";
    QTest::newRow("usual") << "boxes:auto,threshold=0.5"
                           << ""
                           << "boxes"
                           << "";
}

void TestOutputChoices::commandLine() {
    QFETCH(const QString, text);
    QFETCH(const QString, output);
    QFETCH(const QString, form);
    QFETCH(const QString, options);
    const auto choice = parseChoice(text.toStdString());
    QVERIFY2(choice, choice ? "" : choice.error().text().c_str());
    QCOMPARE(QString::fromStdString(choice->output), output);
    QCOMPARE(QString::fromStdString(choice->form), form);
    QCOMPARE(QString::fromStdString(optionsText(*choice)), options);
}

void TestOutputChoices::commandLineRefuses_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::newRow("form") << "clases"
                          << "there is no form 'clases' of outputs";
    QTest::newRow("nothing") << ""
                             << "there is no form '' of outputs";
    QTest::newRow("option") << "boxes:xyzw"
                            << "there is no option 'xyzw' of an output";
    QTest::newRow("value missing") << "classes:top"
                                   << "option 'top' needs a value";
    QTest::newRow("value too much") << "boxes:pixels=1"
                                    << "option 'pixels' has no value";
    QTest::newRow("number") << "classes:top=0"
                            << "top is no integer from 1 to 100: '0'";
    QTest::newRow("threshold") << "boxes:threshold=nan"
                               << "threshold is no number: 'nan'";
    QTest::newRow("where") << "boxes:score="
                           << "score and class need a column, an output or none";
}

void TestOutputChoices::commandLineRefuses() {
    QFETCH(const QString, text);
    QFETCH(const QString, what);
    const auto choice = parseChoice(text.toStdString());
    QVERIFY(!choice);
    QCOMPARE(QString::fromStdString(choice.error().what), what);
    QVERIFY(choice.error().kind == base::ErrorKind::Usage);
}

void TestOutputChoices::sessionFileKeeps() {
    io::SessionFile file;
    file.model.path = "zoo:resnet18";
    Choice first{"y", "classes", "l.txt", {}, 3, 1, {}}, second{"boxes", "boxes", {}, "v.txt", 5, 0, {}}, plain{"z"};
    second.boxes.corners = BoxLayout::Corners::XyWh;
    second.boxes.classes = "labels";
    storeChoices(file, {first, plain, second});
    // What is written is what a reader of the whole file has.
    const auto again = io::parseSession(io::sessionText(file));
    QVERIFY(again);
    QVERIFY(*again == file);
    const auto choices = choicesOf(*again);
    QVERIFY(choices);
    QCOMPARE(choices->size(), std::size_t{2});  // of the default nothing is kept
    QVERIFY((*choices)[0] == first && (*choices)[1] == second);
    storeChoices(file, {plain});
    QVERIFY(file.others.empty());
}

void TestOutputChoices::sessionFileRefuses_data() {
    QTest::addColumn<QString>("json");
    QTest::addColumn<QString>("what");
    QTest::newRow("no list") << "{}"
                             << "outputs is no list";
    QTest::newRow("no object") << "[1]"
                               << "outputs[0] is no object";
    QTest::newRow("no name") << R"([{"form":"classes"}])"
                             << "outputs[0].name is missing or empty";
    QTest::newRow("no text") << R"([{"name":1}])"
                             << "outputs[0].name is no text";
    QTest::newRow("form") << R"([{"name":"y"},{"name":"z","form":"pie"}])"
                          << "outputs[1].form: there is no form 'pie'";
    QTest::newRow("option") << R"([{"name":"y","options":"top=x"}])"
                            << "outputs[0].options: top is no integer from 1 to 100: 'x'";
    QTest::newRow("key") << R"([{"name":"y","color":"red"}])"
                         << "outputs[0].color is no known key";
    QTest::newRow("deep") << "[[[[[[]]]]]]"
                          << "outputs is nested too deep";
    QTest::newRow("no JSON") << "["
                             << "outputs: no JSON at byte 2";
}

void TestOutputChoices::sessionFileRefuses() {
    QFETCH(const QString, json);
    QFETCH(const QString, what);
    const auto choices = parseChoices(json.toStdString());
    QVERIFY(!choices);
    QCOMPARE(QString::fromStdString(choices.error().what), what);
}

void TestOutputChoices::filesAreRelative() {
    io::SessionFile file;
    storeChoices(file, {Choice{"y", {}, "/data/a/l.txt", "sub/v.txt", 5, 0, {}}});
    moveChoices(file, std::filesystem::path("/data/b"), "/data");
    const auto choices = choicesOf(file);
    QVERIFY(choices);
    QCOMPARE(choices->front().labels, std::string("a/l.txt"));
    QCOMPARE(choices->front().vocabulary, std::string("b/sub/v.txt"));
}

void TestOutputChoices::filesOutsideAreRefused() {
    const QTemporaryDir folder;
    auto opened = std::make_shared<document::OpenedSession>();
    opened->folder = folder.path().toStdString();
    storeChoices(opened->file, {Choice{"y", {}, "/etc/passwd", "v.txt", 5, 0, {}},
                                Choice{"z", {}, "../../etc/passwd", {}, 5, 0, {}}});
    document::Document document;
    document.session = opened;
    SessionChoices found = sessionChoices(document);
    QCOMPARE(found.refused.size(), std::size_t{2});
    QCOMPARE(found.choices[0].labels, std::string());
    QCOMPARE(found.choices[0].vocabulary, (opened->folder / "v.txt").string());
    opened->allowsOutside = true;
    found = sessionChoices(document);
    QVERIFY(found.refused.empty());
    QCOMPARE(found.choices[0].labels, std::string("/etc/passwd"));
}

QTEST_GUILESS_MAIN(TestOutputChoices)

}  // namespace tst_output_choices

#include "tst_output_choices.moc"
