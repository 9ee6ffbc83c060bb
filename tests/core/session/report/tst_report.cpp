// Reports as HTML: well-formed, complete, escaped, without anything to load, and the same bytes for the same content.

#include <QProcess>
#include <QSet>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "core/document/document.h"
#include "core/session/findings/find_findings.h"
#include "core/session/read_inputs.h"
#include "core/session/report/audit_report.h"
#include "core/session/report/make_report.h"
#include "core/session/report/report_blocks.h"
#include "core/session/report/report_weights.h"
#include "tests/support/finding_networks.h"

namespace tst_report {

using namespace sonde;
using namespace sonde::session;

namespace {

/// Elements with their attributes and texts, in order; fails the test if it is no XML.
struct ReadHtml {
    explicit ReadHtml(const std::string& html) {
        QXmlStreamReader reader(QByteArray::fromStdString(html));
        while (!reader.atEnd()) {
            reader.readNext();
            if (reader.isStartElement()) {
                names << reader.name().toString();
                for (const QXmlStreamAttribute& attribute : reader.attributes())
                    attributes << attribute.name().toString() + u'=' + attribute.value().toString();
            } else if (reader.isCharacters() && !reader.isWhitespace()) {
                texts << reader.text().toString();
            }
        }
        if (reader.hasError())
            error = QStringLiteral("%1 (line %2)").arg(reader.errorString()).arg(reader.lineNumber());
    }
    QStringList names, attributes, texts;
    QString error;
};

}  // namespace

class TestReport : public QObject {
    Q_OBJECT

  private slots:
    void textsAreEscaped();
    void foldersOfInputsAreNotTold();
    void tablesAndChartsAreWritten();
    void onlyThePictureOfAFileIsTaken();
    void equalFindingsAreListed();
    void whatAllFindingsSayIsToldOnce();
    void widePicturesStayLegible();
    void tallPicturesHavePartsOnPaper();
    void itIsStrictHtml();
    void aModelHasAllSections();
    void anotherModelIsCompared();
    void factsAreThoseOfTheSummary();
    void tensorsOfAModuleShareARow();
    void theLargestTensorsAreListed();
    void timesAreMeasuredOnlyIfAsked();

  private:
    std::shared_ptr<const document::Document> open(std::string_view id) {
        for (const test::FindingNetwork& network : test::findingNetworks()) {
            const QString path = m_folder.filePath("m.onnx");
            if (id != network.id || !test::onnxfile::write(path, network.model(true))) continue;
            if (auto document = document::open(path.toStdString(), {})) return *document;
        }
        qFatal("no network");
    }

    /// The table of tensors, and its rows as "module | tensors | type | elements | bytes | note".
    static std::pair<ReportTable, QStringList> tensorTable(const document::Document& document) {
        const auto info = session::modelInfo(document);
        if (!info) qFatal("%s", info.error().text().c_str());
        const ReportSection section = weightsSection(document, *info);
        const auto& table = std::get<ReportTable>(section.blocks.back());
        QStringList rows;
        for (const std::vector<std::string>& row : table.rows) {
            QStringList cells;
            for (const std::string& cell : row) cells << QString::fromStdString(cell);
            rows << cells.join(QStringLiteral(" | "));
        }
        return {table, rows};
    }

    QTemporaryDir m_folder;
};

void TestReport::textsAreEscaped() {
    const std::string bad = "<script>alert('1')</script> & \"x\" \x01";
    Report report{bad, bad, {}};
    report.sections.push_back(
        {"s",
         bad,
         {ReportText{bad}, ReportTable{bad, {{bad, true}}, {{bad}}, bad}, ReportChart{bad, {{bad, 1, bad}}, bad},
          ReportFindings{{{"error", bad, "high", bad, bad, bad, bad}}, bad}}});
    const std::string html = reportHtml(report);
    const ReadHtml read(html);
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    QVERIFY(!read.names.contains(QStringLiteral("script")));
    const QString shown = QString::fromStdString("<script>alert('1')</script> & \"x\" \\x01");
    QVERIFY(read.texts.contains(shown));
    QVERIFY(read.texts.contains(QStringLiteral("Accepted: ") + shown));
    QCOMPARE(html.find('\x01'), std::string::npos);
}

void TestReport::foldersOfInputsAreNotTold() {
    using session::withoutFolders;
    QCOMPARE(withoutFolders("x:/home/a/b.npz#c;y:#rand(0,1)"), std::string("x:b.npz#c;y:#rand(0,1)"));
    QCOMPARE(withoutFolders("/home/a/b.npz"), std::string("b.npz"));
    QCOMPARE(withoutFolders("x:pictures/b.png"), std::string("x:pictures/b.png"));
    QCOMPARE(withoutFolders("ids:'/home/a b'#vocab.txt"), std::string("ids:'/home/a b'#vocab.txt"));
    QCOMPARE(withoutFolders("@/home/a/list.txt"), std::string("@list.txt"));
}

void TestReport::tablesAndChartsAreWritten() {
    Report report{"model", "report", {}};
    report.sections.push_back({"one",
                               "One",
                               {ReportTable{"T", {{"name"}, {"count", true}}, {{"a", "1"}, {"b", "22"}}, "and 3 more"},
                                ReportChart{"C", {{"long", 200, "200"}, {"short", 50, "50"}}, ""}, ReportTable{}}});
    const ReadHtml read(reportHtml(report));
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    QCOMPARE(read.names.count(QStringLiteral("table")), 1);
    QCOMPARE(read.names.count(QStringLiteral("td")), 4);
    QCOMPARE(read.attributes.filter(QStringLiteral("class=number")).size(), 3);
    // A quarter of the longest, which has 480 units.
    QVERIFY(read.attributes.contains(QStringLiteral("width=480.0")));
    QVERIFY(read.attributes.contains(QStringLiteral("width=120.0")));
    QVERIFY(read.attributes.contains(QStringLiteral("href=#one")));
    QVERIFY(read.texts.contains(QStringLiteral("and 3 more")));
}

void TestReport::onlyThePictureOfAFileIsTaken() {
    Report report{"model", "report", {}};
    report.sections.push_back(
        {"g",
         "Graph",
         {ReportPicture{"P", "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><g/></svg>\n"},
          ReportPicture{"broken", "<p>no picture</p>"}}});
    const std::string html = reportHtml(report);
    const ReadHtml read(html);
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    QCOMPARE(read.names.count(QStringLiteral("svg")), 1);
    QCOMPARE(html.find("<?xml"), std::string::npos);
    QCOMPARE(html.find("no picture"), std::string::npos);
}

/// The first ones are in sight, the others behind a line.
void TestReport::equalFindingsAreListed() {
    ReportFinding finding{"info", "dead-unit", "low", "a and more", "8 findings.", "prune", "", {}};
    for (int i = 0; i < 8; ++i) finding.each.emplace_back("relu_" + std::to_string(i), "is dead");
    Report report{"model", "report", {}, {}, {}};
    report.sections.push_back({"f", "Findings", {ReportFindings{{finding}, {}}}});
    const ReadHtml read(reportHtml(report));
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    QCOMPARE(read.names.count(QStringLiteral("li")), 8 + 1);  // one of the contents
    QVERIFY(read.texts.contains(QStringLiteral("relu_7: is dead")));
    QCOMPARE(read.names.count(QStringLiteral("details")), 1);
    QVERIFY(read.texts.contains(QStringLiteral("3 more")));
    // On paper nobody can open them.
    const QString print = QString::fromStdString(reportHtml(report)).section(QStringLiteral("@media print"), 1);
    QVERIFY(print.contains(QStringLiteral("details::details-content { content-visibility: visible;")));
    finding.each.resize(5);
    report.sections.front().blocks = {ReportFindings{{finding}, {}}};
    QVERIFY(!ReadHtml(reportHtml(report)).names.contains(QStringLiteral("details")));
}

void TestReport::whatAllFindingsSayIsToldOnce() {
    using Each = std::vector<std::pair<std::string, std::string>>;
    // From ": " on, never in the middle of what differs.
    Each each{{"a", "4 of 64 channels are zero: they tell nothing"},
              {"b", "1 of 64 channels are zero: they tell nothing"}};
    QCOMPARE(takeCommonEnd(each), std::string("they tell nothing"));
    QCOMPARE(each, (Each{{"a", "4 of 64 channels are zero"}, {"b", "1 of 64 channels are zero"}}));
    each = {{"a", "0: all of it"}, {"b", "0: all of it"}};
    QCOMPARE(takeCommonEnd(each), std::string("0: all of it"));
    QCOMPARE(each, (Each{{"a", ""}, {"b", ""}}));
    // One that is the end of another one is no end of its own.
    each = {{"a", "casts; nothing changes"}, {"b", "nothing changes"}};
    QCOMPARE(takeCommonEnd(each), std::string());
    QCOMPARE(each.front().second, std::string("casts; nothing changes"));
    each = {{"a", "one: alone"}};
    QCOMPARE(takeCommonEnd(each), std::string());

    ReportFinding finding{"info", "dead-unit", "low", "a and more", "6 findings.", "prune", "", {}};
    for (int i = 0; i < 6; ++i) finding.each.emplace_back("relu_" + std::to_string(i), "");
    Report report{"model", "report", {}, {}, {}};
    report.sections.push_back({"f", "Findings", {ReportFindings{{finding}, {}}}});
    const ReadHtml read(reportHtml(report));
    QVERIFY(read.texts.contains(QStringLiteral("relu_5")));
    QCOMPARE(read.attributes.count(QStringLiteral("class=places")), 2);
}

/// A4 with margins is 182 mm wide, 516 points: 1032 units of which the smallest text has 9 would have 4.5 of them.
void TestReport::widePicturesStayLegible() {
    const auto htmlOf = [](const char* width) {
        Report report{"model", "report", {}, {}, {}};
        report.sections.push_back({"g",
                                   "Graph",
                                   {ReportPicture{"P", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                                                           std::string(width) + "\" height=\"90\"></svg>"}}});
        return ReadHtml(reportHtml(report));
    };
    const ReadHtml narrow = htmlOf("900"), wide = htmlOf("1032");
    QVERIFY2(wide.error.isEmpty(), qPrintable(wide.error));
    QVERIFY(narrow.attributes.contains(QStringLiteral("style=min-width: 720px")));
    QVERIFY(narrow.texts.filter(QStringLiteral("points")).isEmpty());
    QCOMPARE(wide.texts.filter(QStringLiteral("its smallest text has 4.5 points")).size(), 1);
    QVERIFY(wide.attributes.contains(QStringLiteral("class=note paper")));
}

/// A picture that one page cannot show legibly is there in parts, each with the end of the one before. Of 600 units in
/// CSS pixels 205 mm are 775, 235 mm are 888.
void TestReport::tallPicturesHavePartsOnPaper() {
    const auto htmlOf = [](const char* height) {
        Report report{"model", "report", {}, {}, {}};
        report.sections.push_back({"g",
                                   "Graph",
                                   {ReportPicture{"P",
                                                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" "
                                                  "height=\"" +
                                                      std::string(height) + "\"></svg>"}}});
        return ReadHtml(reportHtml(report));
    };
    const ReadHtml tall = htmlOf("3000");
    QVERIFY2(tall.error.isEmpty(), qPrintable(tall.error));
    QCOMPARE(tall.attributes.count(QStringLiteral("class=tall")), 1);
    const QStringList parts = tall.attributes.filter(QRegularExpression("^viewBox="));
    QCOMPARE(parts.size(), 4);
    double end = 0;
    for (const QString& part : parts) {
        const QStringList numbers = part.section(u'=', 1).split(u' ');
        const double top = numbers[1].toDouble();
        QVERIFY2(end == 0 ? top == 0 : std::abs(end - 64 - top) < 0.2, qPrintable(part));
        end = top + numbers[3].toDouble();
    }
    QVERIFY(std::abs(end - 3000) < 0.2);
    QCOMPARE(tall.names.count(QStringLiteral("use")), 4);
    for (const QString& link : tall.attributes.filter(QRegularExpression("^href=#picture")))
        QCOMPARE(tall.attributes.count(QStringLiteral("id=") + link.mid(6)), 1);
    // 9 of 900 units are 5.1 points if they have 180 mm.
    QCOMPARE(htmlOf("900").attributes.count(QStringLiteral("class=low")), 1);
    QVERIFY(htmlOf("1000").attributes.filter(QRegularExpression("class=(low|tall)")).isEmpty());
}

/// Ids are there once, links lead to them, tables have heads; and what Debian's tidy says, where it is.
void TestReport::itIsStrictHtml() {
    const auto document = open("zero-filter");
    AuditRequest request;
    request.findings.cases = {readCases(*document, {})->front().values};
    request.withoutPictures = "not drawn";
    const auto report = auditReport(*document, request);
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    const QByteArray html = QByteArray::fromStdString(reportHtml(*report));
    const ReadHtml read(html.toStdString());
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    const QStringList ids = read.attributes.filter(QRegularExpression("^id="));
    QCOMPARE(QSet<QString>(ids.begin(), ids.end()).size(), ids.size());
    for (const QString& link : read.attributes.filter(QRegularExpression("^href=#")))
        QVERIFY2(ids.contains(QStringLiteral("id=") + link.mid(6)), qPrintable(link));
    for (const QString& label : read.attributes.filter(QRegularExpression("^aria-labelledby=")))
        QVERIFY2(ids.contains(QStringLiteral("id=") + label.section(u'=', 1)), qPrintable(label));
    const auto tables = read.names.count(QStringLiteral("table"));
    QVERIFY(tables > 5);
    QCOMPARE(read.names.count(QStringLiteral("thead")), tables);
    QVERIFY(read.attributes.count(QStringLiteral("scope=row")) > 5);
    const QString tidy = QStandardPaths::findExecutable(QStringLiteral("tidy"));
    if (tidy.isEmpty()) return;
    QFile file(m_folder.filePath("r.html"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(html) == html.size());
    file.close();
    QProcess process;
    process.start(tidy, {"-q", "-e", "-utf8", file.fileName()});
    QVERIFY(process.waitForFinished(60'000));
    const QByteArray said = process.readAllStandardError();
    QVERIFY2(process.exitCode() == 0, said.constData());
}

/// A copy of it with another scale in one place.
void TestReport::anotherModelIsCompared() {
    const auto document = open("zero-filter");
    std::string other;
    for (const test::FindingNetwork& network : test::findingNetworks())
        if (std::string_view(network.id) == "zero-filter") other = network.model(false);
    const QString path = m_folder.filePath("other.onnx");
    QVERIFY(test::onnxfile::write(path, other));
    AuditRequest request;
    request.findings.cases = {readCases(*document, {})->front().values};
    request.other = *document::open(path.toStdString(), {});
    const auto report = auditReport(*document, request);
    QVERIFY(report);
    const std::string html = reportHtml(*report);
    const ReadHtml read(html);
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    QVERIFY(read.attributes.contains(QStringLiteral("id=comparison")));
    QVERIFY(read.texts.contains(QStringLiteral("they differ")));
    QVERIFY(read.texts.contains(QStringLiteral("Changed parameters")));
    QVERIFY(read.texts.contains(QStringLiteral("Values that differ")));
    QCOMPARE(reportHtml(*auditReport(*document, request)), html);
}

/// Every line that the panel and the command show, with the same text; and what the cost is of.
void TestReport::factsAreThoseOfTheSummary() {
    const auto document = open("zero-filter");
    AuditRequest request;
    request.findings.cases = {readCases(*document, {})->front().values};
    const auto report = auditReport(*document, request);
    QVERIFY(report);
    const auto& rows = std::get<ReportTable>(report->sections.front().blocks.front()).rows;
    const auto info = modelInfo(*document, {.inputs = request.findings.cases.front()});
    QVERIFY(info);
    std::size_t found = 0;
    for (const InfoLine& line : modelInfoLines(*document, *info)) {
        const bool isElsewhere =
            line.isCount || line.title == "input" || line.title == "output" || line.title == "cost";
        if (isElsewhere || line.title.empty()) continue;
        const std::vector<std::string> row{line.title, line.text};
        QVERIFY2(std::ranges::count(rows, row) == 1, (line.title + ": " + line.text).c_str());
        ++found;
    }
    QVERIFY(found > 10);
    const auto basis = std::ranges::find(rows, "cost", [](const auto& row) { return row.front(); });
    QVERIFY(basis != rows.end());
    QVERIFY2(basis->back().starts_with("for random numbers, "), basis->back().c_str());
    request.inputData = "x.npy";
    const auto given = auditReport(*document, request);
    QVERIFY(given);
    const auto& givenRows = std::get<ReportTable>(given->sections.front().blocks.front()).rows;
    QCOMPARE(std::ranges::count(givenRows, std::vector<std::string>{"cost", "for the given input"}), 1);
}

void TestReport::timesAreMeasuredOnlyIfAsked() {
    const auto document = open("zero-filter");
    AuditRequest request;
    request.findings.cases = {readCases(*document, {})->front().values};
    QVERIFY(!ReadHtml(reportHtml(*auditReport(*document, request))).attributes.contains(QStringLiteral("id=profile")));
    request.measuresTimes = true;
    const ReadHtml read(reportHtml(*auditReport(*document, request)));
    QVERIFY(read.attributes.contains(QStringLiteral("id=profile")));
    QVERIFY(read.texts.contains(QStringLiteral("Time by operator")));
    QVERIFY(read.texts.contains(QStringLiteral("Conv")));
    QVERIFY(read.texts.filter(QRegularExpression("^\\d+\\.\\d{3} ms$")).size() >= 3);
    // As the verb and the panel measure: by itself, also what a plain run fuses; with what holds memory at the peak.
    for (const graph::ExprId id : document->graph->main().order)
        if (const graph::Expr& expr = document->graph->expr(id); !expr.op.name.empty())
            QVERIFY2(read.texts.contains(QString::fromStdString(expr.op.name)), expr.op.name.c_str());
    QVERIFY(read.texts.contains(QStringLiteral("Memory at the peak")));
}

void TestReport::aModelHasAllSections() {
    std::string model;
    for (const test::FindingNetwork& network : test::findingNetworks())
        if (std::string_view(network.id) == "dead-unit") model = network.model(true);
    const QString path = m_folder.filePath("m.onnx");
    QVERIFY(test::onnxfile::write(path, model));
    const auto document = document::open(path.toStdString(), {});
    QVERIFY(document);
    const auto cases = readCases(**document, {});
    QVERIFY(cases);
    const auto html = [&] {
        FindingRequest request;
        request.cases = {cases->front().values};
        request.acceptances = {{"dead-unit", std::nullopt, "pruned on purpose"}};
        const auto info = modelInfo(**document, {.inputs = cases->front().values});
        const auto findings = findFindings(**document, *info, request);
        const auto values = reportedValues(**document, cases->front().values, {}, 0, 0);
        if (!values || !findings) qFatal("no values");
        return reportHtml(makeReport(**document, {*info, *findings, *values, {}, "random", {}, "not drawn"}));
    };
    const std::string first = html();
    const ReadHtml read(first);
    QVERIFY2(read.error.isEmpty(), qPrintable(read.error));
    for (const char* id : {"summary", "findings", "graph", "cost", "operators", "weights", "values", "versions"})
        QVERIFY2(read.attributes.contains(QStringLiteral("id=") + QLatin1String(id)), id);
    QVERIFY(read.texts.contains(QStringLiteral("Accepted: pruned on purpose")));
    // 3·3·3·3 weights and 3 biases; 3·8·8 outputs of 27 multiply-adds each.
    QVERIFY(read.texts.join(u'\n').contains(u"84 in 2 tensors"));
    QVERIFY(read.texts.contains(QStringLiteral("5,184")));
    QVERIFY(read.texts.contains(QStringLiteral("float32[1,3,8,8]")));
    QVERIFY(read.texts.contains(QStringLiteral("float32[3,3,3,3]")));
    // Its batch is 1 in the file.
    QVERIFY(read.texts.join(u'\n').contains(u"A batch of two was not compared with one sample: no input leaves"));
    // Files by name: the same model elsewhere has the same report.
    QVERIFY(read.texts.contains(QStringLiteral("m.onnx")));
    QVERIFY(read.texts.filter(m_folder.path()).isEmpty());
    // Nothing is loaded, run, or dated.
    QVERIFY(!read.names.contains(QStringLiteral("script")) && !read.names.contains(QStringLiteral("link")) &&
            !read.names.contains(QStringLiteral("img")));
    for (const QString& attribute : read.attributes)
        QVERIFY2(!attribute.startsWith(u"href=") || attribute.startsWith(u"href=#"), qPrintable(attribute));
    QVERIFY(QString::fromStdString(first).count(QStringLiteral("url(")) == 0);
    QCOMPARE(html(), first);
}

/// ResNet-18 with a quarter of the width has 20 convolutions, 20 norms and a linear layer. Norms have four vectors of
/// one length, and a counter each, which are told together.
void TestReport::tensorsOfAModuleShareARow() {
    const auto document = document::open("zoo:resnet18_slim", {});
    QVERIFY(document);
    const auto [table, rows] = tensorTable(**document);
    QCOMPARE(rows.size(), 20 + 20 + 2 + 1);
    QCOMPARE(rows[0], QStringLiteral("conv1 | weight | float32[16,3,7,7] | 2,352 | 9.2 KiB | "));
    QCOMPARE(rows[1], QStringLiteral(
                          "bn1 | weight, bias; buffers: running_mean, running_var | float32[16] | 64 | 256 bytes | "));
    QCOMPARE(rows.filter(QStringLiteral("num_batches_tracked")),
             QStringList{QStringLiteral("20 modules | buffer: num_batches_tracked | int64[] | 20 | 160 bytes | ")});
    QVERIFY(rows.contains(QStringLiteral("fc | bias | float32[100] | 100 | 400 bytes | ")));
    QVERIFY(table.note.empty());
}

/// 600 products with weights of 1 to 600 elements: of those that are not listed the sums are told, 1 + … + 100 = 5050.
void TestReport::theLargestTensorsAreListed() {
    using namespace test::onnxfile;
    std::vector<Node> nodes;
    std::vector<std::string> weights;
    for (int i = 1; i <= 600; ++i) {
        const std::string number = std::to_string(i);
        nodes.push_back({"MatMul", {"x", "w" + number}, {i == 600 ? "y" : "p" + number}});
        weights.push_back(rawTensor("w" + number, 1, {1, i}, std::string(static_cast<std::size_t>(i) * 4, '\x3f')));
    }
    const QString path = m_folder.filePath(QStringLiteral("many.onnx"));
    QVERIFY(write(path, model({.nodes = nodes,
                               .inputs = {valueInfo("x", 1, {1, 1})},
                               .outputs = {valueInfo("y", 1, {1, 600})},
                               .initializers = weights})));
    const auto document = document::open(path.toStdString(), {});
    QVERIFY(document);
    const auto [table, rows] = tensorTable(**document);
    QCOMPARE(rows.size(), 500);
    QCOMPARE(rows.front(), QStringLiteral(" | w101 | float32[1,101] | 101 | 404 bytes | "));
    QCOMPARE(rows.back(), QStringLiteral(" | w600 | float32[1,600] | 600 | 2.3 KiB | "));
    QCOMPARE(table.note, std::string("These are the largest; 100 tensors of 5,050 elements and 19.7 KiB more are not "
                                     "listed. `sonde weights` lists all."));
}

QTEST_APPLESS_MAIN(TestReport)

}  // namespace tst_report

#include "tst_report.moc"
