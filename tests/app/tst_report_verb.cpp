// `sonde report`: the real program writes one file that shows the model, the same in each run.

#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include "tests/support/finding_networks.h"
#include "tests/support/run_sonde.h"

namespace tst_report_verb {

using namespace sonde::test;

class TestReportVerb : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void twoRunsGiveTheSameBytes();
    void modulesAreDrawn();
    void theOrderOfModulesIsNoMatter();
    void pagesAreTheSameBytes();
    void aModuleInAModuleIsOpenToo();
    void anotherModelIsCompared();
    void wrongUsageIsTold();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    QByteArray read(const char* name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static QString errorOf(const QByteArray& html) {
        QXmlStreamReader reader(html);
        while (!reader.atEnd()) reader.readNext();
        return reader.errorString();
    }

    QTemporaryDir m_folder;
};

void TestReportVerb::twoRunsGiveTheSameBytes() {
    for (const FindingNetwork& network : findingNetworks())
        if (std::string_view(network.id) == "zero-filter")
            QVERIFY(onnxfile::write(path("m.onnx"), network.model(true)));
    for (const char* name : {"a.html", "b.html"}) {
        const Outcome outcome = runSonde({"report", path("m.onnx"), "-o", path(name)});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    }
    const QByteArray html = read("a.html");
    QVERIFY2(errorOf(html).isEmpty(), qPrintable(errorOf(html)));
    QVERIFY(html == read("b.html"));
    QVERIFY(html.contains("zero-filter"));
    QVERIFY(!html.contains("<script"));
    // The graph and two charts at most.
    QVERIFY(html.count("<svg") >= 1);
}

void TestReportVerb::modulesAreDrawn() {
    const Outcome outcome = runSonde({"report", "zoo:resnet18_slim", "--input-data", "#rand(0,1,1,3,64,64)", "--expand",
                                      "layer1.0", "--watch", "fc", "-o", path("r.html")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QByteArray html = read("r.html");
    QVERIFY2(errorOf(html).isEmpty(), qPrintable(errorOf(html)));
    QVERIFY(html.contains("Module layer1.0"));
    QVERIFY(html.contains("<td>watched</td><td>fc</td>"));
    QVERIFY(html.contains("FLOPs by module"));
}

/// The window lists the modules of its dialog in an order of its own.
void TestReportVerb::theOrderOfModulesIsNoMatter() {
    const QStringList order{QStringLiteral("layer2.0"), QStringLiteral("layer1"), QStringLiteral("layer2.0"),
                            QStringLiteral("layer1.0")};
    for (const bool isTurned : {false, true}) {
        QStringList arguments{QStringLiteral("report"), QStringLiteral("zoo:resnet18_slim")};
        for (qsizetype i = 0; i < order.size(); ++i)
            arguments << QStringLiteral("--module") << order[isTurned ? order.size() - 1 - i : i];
        const Outcome outcome = runSonde(arguments << QStringLiteral("-o") << path(isTurned ? "y.html" : "x.html"));
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    }
    const QByteArray html = read("x.html");
    QVERIFY(html == read("y.html"));
    QCOMPARE(html.count("Module layer2.0<"), 1);
    QVERIFY(html.indexOf("Module layer1<") < html.indexOf("Module layer1.0<"));
    QVERIFY(html.indexOf("Module layer1.0<") < html.indexOf("Module layer2.0<"));
}

void TestReportVerb::pagesAreTheSameBytes() {
    for (const char* name : {"a.pdf", "b.pdf"}) {
        const Outcome outcome = runSonde({"report", "zoo:resnet18_slim", "--module", "layer1.0", "-o", path(name)});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    }
    const QByteArray pdf = read("a.pdf");
    QVERIFY(pdf.startsWith("%PDF-"));
    QVERIFY(pdf == read("b.pdf"));
    QVERIFY(pdf.count("/Type /Page\n") > 3);
    QVERIFY(!pdf.contains("CreationDate"));
    qputenv("SOURCE_DATE_EPOCH", "86400");
    QCOMPARE(runSonde({"report", "zoo:resnet18_slim", "-o", path("dated.pdf")}).status, 0);
    qunsetenv("SOURCE_DATE_EPOCH");
    QVERIFY(read("dated.pdf").contains("/CreationDate (D:19700102000000Z)"));
}

/// features.1 of the exported MobileNetV3 holds block, and nothing else: block is what is drawn.
void TestReportVerb::aModuleInAModuleIsOpenToo() {
    const Outcome outcome = runSonde({"report", QStringLiteral(SONDE_TEST_DATA "/models/mobilenet_v3_small.onnx"),
                                      "--module", "features.1", "-o", path("f.html")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QByteArray html = read("f.html");
    const qsizetype begin = html.indexOf("Module features.1");
    QVERIFY(begin > 0);
    const QByteArray picture = html.mid(begin, html.indexOf("</svg>", begin) - begin);
    QVERIFY2(picture.contains(">features.1.block.1<"), picture.right(2000).constData());
}

void TestReportVerb::anotherModelIsCompared() {
    const Outcome outcome = runSonde({"report", "zoo:resnet18_slim", "--compare", "zoo:resnet18_slim?classes=10",
                                      "--profile", "-o", path("c.html")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QByteArray html = read("c.html");
    QVERIFY2(errorOf(html).isEmpty(), qPrintable(errorOf(html)));
    QVERIFY(html.contains("they differ"));
    QVERIFY(html.contains("Time by operator"));
}

void TestReportVerb::wrongUsageIsTold() {
    QCOMPARE(runSonde({"report", "zoo:resnet18_slim", "-o", path("r.txt")}).status, 2);
    const Outcome module = runSonde({"report", "zoo:resnet18_slim", "--expand", "none", "-o", path("n.html")});
    QCOMPARE(module.status, 2);
    QVERIFY(module.err.contains(u"no module 'none'"));
    QVERIFY(!QFile::exists(path("n.html")));
    QCOMPARE(runSonde({"report", "zoo:resnet18_slim", "-o", path("none/r.html")}).status, 4);
    QCOMPARE(runSonde({"report", "zoo:resnet18_slim", "--compare", "none.onnx", "-o", path("n.html")}).status, 3);
}

QTEST_APPLESS_MAIN(TestReportVerb)

}  // namespace tst_report_verb

#include "tst_report_verb.moc"
