// Reports as pages: everything is on them, tables have their head on each, and the same report gives the same bytes.

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include "ui/report/page_flow.h"
#include "ui/report/report_blocks_painter.h"
#include "ui/report/report_pdf.h"
#include "ui/report/svg_picture.h"

namespace tst_report_pdf {

using namespace sonde;
using namespace sonde::report;

class TestReportPdf : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void textsLongerThanAPageGoOn();
    void columnsTakeTheWidth();
    void tallPicturesGoOverPages();
    void picturesAreCutBetweenBoxes();
    void allOfItIsThere();
    void theSameBytes();
    void itCanBeCancelled();

  private:
    static session::Report report(int rows) {
        session::ReportTable table{"Many rows", {{"name"}, {"count", true}}, {}, "and more"};
        for (int i = 0; i < rows; ++i) table.rows.push_back({"row" + std::to_string(i), std::to_string(i * 7)});
        session::Report report{"model.onnx", "Audit report", "SHA-256 0123abcd", "Sonde", {}};
        report.sections.push_back({"one",
                                   "First section",
                                   {session::ReportText{"A sentence."}, table,
                                    session::ReportChart{"Bars", {{"long", 4, "4"}, {"short", 1, "1"}}, ""}}});
        session::ReportFinding finding{"warning",         "dead-unit", "low",   "relu",
                                       "Why it matters.", "Do this.",  "meant", {}};
        report.sections.push_back(
            {"two",
             "Second section",
             {session::ReportFindings{{finding}, {}},
              session::ReportPicture{"A picture",
                                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 20\">"
                                     "<rect width=\"40\" height=\"20\" fill=\"#336699\"/></svg>"}}});
        return report;
    }
    /// By pdftotext of Debian's poppler-utils; empty where that is not installed.
    QString textOf(const QByteArray& pdf) const {
        const QString tool = QStandardPaths::findExecutable(QStringLiteral("pdftotext"));
        QFile file(m_folder.filePath("r.pdf"));
        if (tool.isEmpty() || !file.open(QIODevice::WriteOnly)) return {};
        file.write(pdf);
        file.close();
        QProcess process;
        process.start(tool, {"-layout", file.fileName(), "-"});
        return process.waitForFinished(20000) ? QString::fromUtf8(process.readAllStandardOutput()) : QString();
    }

    QTemporaryDir m_folder;
};

void TestReportPdf::textsLongerThanAPageGoOn() {
    PageFlow flow(QRectF(0, 0, 4000, 1000));
    flow.addLines(brokenLines(QStringLiteral("word ").repeated(1000), pageFont(PageFont::Body), flow.width()), {});
    QVERIFY(flow.page() > 2);
    QVERIFY(flow.room() >= 0);
    // One word without a place to break it is broken anywhere.
    const Lines lines = brokenLines(QString(500, u'x'), pageFont(PageFont::Body), 800);
    QVERIFY(lines.count() > 5);
    for (int i = 0; i < lines.count(); ++i) QVERIFY(lines.layout->lineAt(i).naturalTextWidth() <= 801);
}

/// A row that is taller than the page is not lost, and none reaches out of its page.
void TestReportPdf::columnsTakeTheWidth() {
    PageFlow flow(QRectF(0, 0, 3000, 1500));
    session::ReportTable table{"", {{"a"}, {"b"}, {"c", true}}, {}, ""};
    table.rows.push_back({std::string(4000, 'x'), "short", "1"});
    table.rows.push_back({"z", "short", "2"});
    addTable(flow, table);
    QVERIFY(flow.page() > 1);
    QVERIFY(flow.y() <= flow.area().bottom() + 1);
}

void TestReportPdf::tallPicturesGoOverPages() {
    const auto pagesOf = [](int height) {
        PageFlow flow(QRectF(0, 0, 5000, 7000));
        BlocksPainter{flow}(session::ReportPicture{
            "P", "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 " + std::to_string(height) + "\"/>"});
        return flow.page();
    };
    QCOMPARE(pagesOf(500), 1);
    QVERIFY(pagesOf(4000) > 2);
    // However tall, not a book of it.
    QVERIFY(pagesOf(100'000) <= 11);
    // What is wider than a page is not shrunk until nobody can read it: two parts of it.
    const auto widthOf = [](int width) {
        PageFlow flow(QRectF(0, 0, 5000, 7000));
        BlocksPainter{flow}(session::ReportPicture{
            "P", "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) + " 800\"/>"});
        return flow.page();
    };
    QCOMPARE(widthOf(400), 1);
    // On 500 points 900 units are as wide as a page if text of 9 units has 5 points.
    QCOMPARE(widthOf(890), 1);
    QCOMPARE(widthOf(920), 2);
}

/// Lines may be cut, boxes and texts are not where it can be helped.
void TestReportPdf::picturesAreCutBetweenBoxes() {
    const auto box = [](int x, int y, int width, int height, const char* fill) {
        return QStringLiteral("<rect x=\"%1\" y=\"%2\" width=\"%3\" height=\"%4\" fill=\"%5\" stroke=\"#000000\"/>")
            .arg(x)
            .arg(y)
            .arg(width)
            .arg(height)
            .arg(QLatin1String(fill))
            .toStdString();
    };
    const auto picture = SvgPicture::read("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 400\">" +
                                          box(0, 0, 100, 400, "#eeeeee") + box(10, 60, 20, 25, "#336699") +
                                          box(60, 90, 20, 40, "#336699") + box(0, 50, 90, 60, "none") + "</svg>");
    QVERIFY(picture);
    // Between y = 85 and y = 90; the outline and the box around all are no reason.
    const double y = picture->quietCut(Qt::Vertical, 60, 110);
    QVERIFY2(y > 85 && y < 90, qPrintable(QString::number(y)));
    const double x = picture->quietCut(Qt::Horizontal, 15, 65);
    QVERIFY2(x > 30 && x < 60, qPrintable(QString::number(x)));
    // Where nothing stands all of the room is taken.
    QCOMPARE(picture->quietCut(Qt::Vertical, 200, 300), 300.0);
}

void TestReportPdf::allOfItIsThere() {
    const auto pdf = reportPdf(report(300));
    QVERIFY(pdf && pdf->startsWith("%PDF-"));
    const QString text = textOf(*pdf);
    // Of Debian's poppler-utils, which only .ci/run installs: nothing else here reads the text of a PDF.
    if (QStandardPaths::findExecutable(QStringLiteral("pdftotext")).isEmpty()) QSKIP("pdftotext is not installed");
    QVERIFY2(!text.isEmpty(), "pdftotext reads no text");
    const QStringList pages = text.split(u'\f', Qt::SkipEmptyParts);
    QVERIFY(pages.size() >= 4);
    for (qsizetype i = 0; i < pages.size(); ++i) {
        QVERIFY2(pages[i].contains(QStringLiteral("page %1 of %2").arg(i + 1).arg(pages.size())), qPrintable(pages[i]));
        QVERIFY(pages[i].contains(u"model.onnx") && pages[i].contains(u"SHA-256 0123abcd"));
        // The head of the table is on each page that has rows of it.
        const bool hasRows = pages[i].contains(QRegularExpression(QStringLiteral("row\\d+ +\\d+")));
        if (hasRows) QVERIFY2(pages[i].contains(QRegularExpression("name +count")), qPrintable(pages[i]));
    }
    for (int i = 0; i < 300; ++i)
        QVERIFY2(text.contains(QRegularExpression(QStringLiteral("row%1 +%2\\n").arg(i).arg(i * 7))), qPrintable(text));
    for (const char* part :
         {"First section", "A sentence.", "Bars", "Second section", "dead-unit: relu", "Why it matters.",
          "What to do: Do this.", "Accepted: meant", "confidence: low", "A picture"})
        QVERIFY2(text.contains(QLatin1String(part)), part);
    // The contents say where sections are.
    QVERIFY(pages.first().contains(QRegularExpression("Second section +" + QString::number(pages.size()))));
}

void TestReportPdf::theSameBytes() {
    const auto first = reportPdf(report(60)), second = reportPdf(report(60));
    QVERIFY(first && second);
    QVERIFY(*first == *second);
    QVERIFY(*first != *reportPdf(report(61)));
}

void TestReportPdf::itCanBeCancelled() {
    std::stop_source stop;
    stop.request_stop();
    const auto pdf = reportPdf(report(60), base::WorkContext{stop.get_token(), {}});
    QVERIFY(!pdf);
    QCOMPARE(pdf.error().kind, base::ErrorKind::Cancelled);
}

QTEST_MAIN(TestReportPdf)

}  // namespace tst_report_pdf

#include "tst_report_pdf.moc"
