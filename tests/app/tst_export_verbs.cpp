// Exports on the command line: what a preview prints, options of ONNX files, and the window's script command.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "tests/support/run_sonde.h"
#include "tests/support/small_dump.h"

namespace tst_export_verbs {

using namespace sonde;
using test::Outcome;
using test::runSonde;

class TestExportVerbs : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { QCOMPARE(test::writeProductDump(path("model.dump").toStdString(), {}), std::string()); }
    void aPreviewWritesNothing();
    void aPreviewForPrograms();
    void aPreviewHasALineForPasses();
    void aPreviewThatFails();
    void optionsOfOnnxFiles();
    void theWindowExports();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

    QTemporaryDir m_folder;
};

/// The model has two operations on four weights.
void TestExportVerbs::aPreviewWritesNothing() {
    const Outcome outcome =
        runSonde({"dump", path("model.dump"), "--preview", "--option", "enable_ioc16", "--input-data", "[1,2,3,4]"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QStringList lines = outcome.out.split(u'\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.front().simplified(), QStringLiteral("form operations weights file largest error time"));
    QVERIFY(lines.at(1).simplified().startsWith(QStringLiteral("model.dump 2 16 bytes")));
    QVERIFY(lines.at(2).simplified().startsWith(QStringLiteral("As it is 2 16 bytes")));
    QVERIFY2(outcome.out.contains(QStringLiteral("float16[4] instead of float32[4]")), qPrintable(outcome.out));
    for (const char* verb : {"dump", "save"}) {
        const Outcome both = runSonde({verb, path("model.dump"), "--preview", "-o", path("none.dump")});
        QCOMPARE(both.status, 2);
        QVERIFY2(both.err.contains(QStringLiteral("--preview")) && both.err.contains(QStringLiteral("--out")),
                 qPrintable(both.err));
        const Outcome json = runSonde({verb, path("model.dump"), "--json", "-o", path("none.dump")});
        QCOMPARE(json.status, 2);
        QVERIFY2(json.err.contains(QStringLiteral("--preview")) && json.err.contains(QStringLiteral("--json")),
                 qPrintable(json.err));
    }
    QVERIFY(!QFile::exists(path("none.dump")));
}

void TestExportVerbs::aPreviewForPrograms() {
    const Outcome outcome = runSonde({"save", path("model.dump"), "--preview", "--json"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const auto json = nlohmann::json::parse(outcome.out.toStdString());
    QCOMPARE(json["model"]["operations"].get<int>(), 2);
    QCOMPARE(json["forms"].size(), std::size_t(1));
    QCOMPARE(json["forms"][0]["max_error"].get<double>(), 0.0);
    QVERIFY(json["forms"][0]["file_bytes"].get<int>() > 16);
    QVERIFY(json["forms"][0]["run_ms"].get<double>() > 0);
}

/// Two norms go into the convolutions before them; the rows before the pass have them.
void TestExportVerbs::aPreviewHasALineForPasses() {
    const Outcome outcome = runSonde(
        {"save", "zoo:blocks_net", "--preview", "--json", "--pass", "FuseConvBn", "--input-data", "#rand(0,1)"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const auto json = nlohmann::json::parse(outcome.out.toStdString());
    QCOMPARE(json["forms"].size(), std::size_t(2));
    QCOMPARE(json["forms"][0]["label"].get<std::string>(), std::string("As it is"));
    QCOMPARE(json["forms"][1]["label"].get<std::string>(), std::string("Passes: FuseConvBn"));
    QCOMPARE(json["model"]["operations"].get<int>(), 8);
    QCOMPARE(json["forms"][0]["operations"].get<int>(), 8);
    QCOMPARE(json["forms"][1]["operations"].get<int>(), 6);
    QVERIFY(json["forms"][1]["max_error"].get<double>() < 1e-4);
    QCOMPARE(runSonde({"save", "zoo:blocks_net", "--preview", "--pass", "no-such-pass"}).status, 2);
}

void TestExportVerbs::aPreviewThatFails() {
    QCOMPARE(runSonde({"dump", path("model.dump"), "--preview", "--option", "enable_magic"}).status, 2);
    QCOMPARE(runSonde({"dump", path("model.dump"), "--preview", "--arg-names", "a,b,c"}).status, 2);
    QCOMPARE(runSonde({"save", path("model.dump")}).status, 2);
    QCOMPARE(runSonde({"dump", path("model.dump")}).status, 2);
    const Outcome outcome = runSonde({"dump", path("model.dump"), "-o", path("x.dump"), "--keep-var-name", "7"});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains(QStringLiteral("'7' is not one of 0, 1, 2")), qPrintable(outcome.err));
}

void TestExportVerbs::optionsOfOnnxFiles() {
    const Outcome saved = runSonde({"save", path("model.dump"), "-o", path("model.onnx"), "--ir-version", "8",
                                    "--no-modules", "--inline-limit", "0"});
    QVERIFY2(saved.status == 0, qPrintable(saved.err));
    QVERIFY(QFile::exists(path("model.onnx.data")));
    // The first field of a ModelProto is its ir_version.
    QFile model(path("model.onnx"));
    QVERIFY(model.open(QIODevice::ReadOnly));
    QCOMPARE(model.read(2), QByteArray("\x08\x08"));
    QCOMPARE(runSonde({"save", path("model.dump"), "-o", path("model.onnx"), "--ir-version", "3"}).status, 2);
}

void TestExportVerbs::theWindowExports() {
    if (!runSonde({"--help"}).out.contains(QStringLiteral("\n  window "))) {
        QVERIFY(!runSonde({"--help"}).out.contains(QStringLiteral("screenshot")));
        return;  // a build without the window
    }
    QFile script(path("steps.txt"));
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write(QStringLiteral("export dump preset=as-it-is user-info=mine to=%1\nwait\nscreenshot %2\n"
                                "export beside\nwait\nquit\n")
                     .arg(path("window.dump"), path("window.png"))
                     .toUtf8());
    script.close();
    const Outcome outcome = runSonde({"window", path("model.dump"), "--script", path("steps.txt")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QVERIFY(QFile::exists(path("window.png")));
    QVERIFY(runSonde({"info", path("window.dump")}).out.contains(QStringLiteral("mine")));
    const auto play = [&](const QByteArray& line) {
        if (!script.open(QIODevice::WriteOnly)) return Outcome{};
        script.write(line + "\n");
        script.close();
        return runSonde({"window", path("model.dump"), "--script", path("steps.txt")});
    };
    // As the help has it, and with blanks in the name.
    const Outcome beside =
        play("export dump preset=as-it-is to=\"" + path("my model.dump").toUtf8() + "\" beside\nwait");
    QVERIFY2(beside.status == 0, qPrintable(beside.err));
    QVERIFY(QFile::exists(path("my model.dump")));
    // Options of the optimisation as `sonde dump --option` has them.
    const Outcome packed = play(
        "export dump enable_io16xc32 enable_nchw88=true no-metadata to=" + path("packed.dump").toUtf8() + "\nwait");
    QVERIFY2(packed.status == 0 && QFile::exists(path("packed.dump")), qPrintable(packed.err));
    const Outcome magic = play("wait\nexport dump enable_magic");
    QCOMPARE(magic.status, 2);
    QVERIFY2(magic.err.contains(QStringLiteral("enable_magic")) && magic.err.contains(QStringLiteral("line 2")),
             qPrintable(magic.err));
    // The dialog has closed, so its file cannot be opened once more.
    const Outcome twice = play("export dump to=\"" + path("my model.dump").toUtf8() + "\" beside\nwait\nexport beside");
    QCOMPARE(twice.status, 2);
    QVERIFY2(twice.err.contains(QStringLiteral("nothing was exported")), qPrintable(twice.err));
    const Outcome preset = play("export onnx preset=half");
    QCOMPARE(preset.status, 2);
    QVERIFY2(preset.err.contains(QStringLiteral("as-it-is, optimised, older")), qPrintable(preset.err));
    const Outcome module = play("export traced-module to=none.sondetm");
    QCOMPARE(module.status, 2);
    QVERIFY2(module.err.contains(QStringLiteral("only traced modules")), qPrintable(module.err));
    QCOMPARE(play("export dump to=my model.dump").status, 2);
    QCOMPARE(play("export dump to=\"my model.dump").status, 2);
    QCOMPARE(play("export dump beside").status, 2);
    QVERIFY(!QFile::exists(path("none.sondetm")) && !QFile::exists(path("my")));
}

QTEST_GUILESS_MAIN(TestExportVerbs)

}  // namespace tst_export_verbs

#include "tst_export_verbs.moc"
