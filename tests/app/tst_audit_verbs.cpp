// `sonde info`, `sonde diff` and `sonde sweep`: the real program, its exit status, and what it writes.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_audit_verbs {

using namespace sonde;
using namespace sonde::test;
using namespace sonde::test::onnxfile;
using tensor::Tensor;

namespace {

constexpr int kFloat = 1;

QString data(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }

QJsonObject jsonOf(const Outcome& outcome) { return QJsonDocument::fromJson(outcome.out.toUtf8()).object(); }

/// h = x + x, y = h·h, both [N,2].
std::string squares() {
    return model({.nodes = {{"Add", {"x", "x"}, {"h"}}, {"Mul", {"h", "h"}, {"y"}}},
                  .inputs = {valueInfo("x", kFloat, {-1, 2})},
                  .outputs = {valueInfo("y", kFloat, {-1, 2})}});
}

}  // namespace

class TestAuditVerbs : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init();
    void infoCountsForTheGivenInput();
    void diffHasTheStatusOfDiff();
    void ownExportsAreNoDifference_data();
    void ownExportsAreNoDifference();
    void sweepWritesATable();
    void sweepTakesCasesOfAnArchive();
    void findingsLookAtAllCasesOfAnArchive();
    void sweepGoesOnAfterABadFile();
    void conditionsAreCheckedFirst();
    void labelsGiveAnAccuracy();
    void namesOfClassesAreNoLabels();
    void missingLabelsAreTold();
    void pairsByHandCount();
    void labelsOfBatches();
    void numberedFirstCases();
    void picturesBecomeInputs();
    void interruptedSweepsKeepTheirRows();

  private:
    QString path(const QString& name) const { return m_folder->filePath(name); }
    QByteArray read(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void array(const QString& name, const std::vector<float>& values) const {
        QVERIFY(io::writeNpyFile(path(name).toStdString(),
                                 Tensor::of<float>({static_cast<std::int64_t>(values.size() / 2), 2}, values)));
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestAuditVerbs::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(write(path("m.onnx"), squares()));
    QVERIFY(QDir(m_folder->path()).mkpath("in/deep"));
}

void TestAuditVerbs::infoCountsForTheGivenInput() {
    const QJsonObject open = jsonOf(runSonde({"info", path("m.onnx"), "--json"}));
    QCOMPARE(open["cost"].toObject()["flops"].toString(), QStringLiteral("4*N"));
    const Outcome outcome = runSonde({"info", path("m.onnx"), "--json", "--nodes", "--input-data", "#rand(0,1,7,2)"});
    QCOMPARE(outcome.status, 0);
    const QJsonObject given = jsonOf(outcome);
    QCOMPARE(given["macs"].toInt(-1), 0);
    QCOMPARE(given["cost"].toObject()["flops"].toInt(), 28);
    QCOMPARE(given["by_node"].toArray().size(), 2);
    QVERIFY(runSonde({"info", path("m.onnx")}).out.contains(QLatin1String("FLOPs        4*N, a multiply-add is 2\n")));
}

void TestAuditVerbs::ownExportsAreNoDifference_data() {
    QTest::addColumn<QString>("name");
    // Tables of which a part is stored; three weights in one; GELU and attention in other operators; stacking.
    for (const char* name : {"gpt_mini", "vit_small", "mlp_functional", "resnet18_slim", "unet_small"})
        QTest::newRow(name) << name;
}

/// What `sonde save` writes of a model is that model.
void TestAuditVerbs::ownExportsAreNoDifference() {
    QFETCH(const QString, name);
    const QString model = QStringLiteral("zoo:") + name;
    QCOMPARE(runSonde({"save", model, "-o", path("own.onnx")}).status, 0);
    const Outcome outcome = runSonde({"diff", model, path("own.onnx")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
    QVERIFY2(outcome.out.contains(QLatin1String("nodes: 100.0 % ")), qPrintable(outcome.out));
}

void TestAuditVerbs::diffHasTheStatusOfDiff() {
    const Outcome same = runSonde({"diff", data("resnet18_slim.onnx"), data("resnet18_slim.onnx"), "--json"});
    QVERIFY2(same.status == 0, qPrintable(same.err + same.out));
    QCOMPARE(jsonOf(same)["format"].toString(), QStringLiteral("sonde-diff"));
    QCOMPARE(jsonOf(same)["matched"].toDouble(), 1.0);
    const Outcome other = runSonde({"diff", "zoo:resnet18_slim", "zoo:resnet18_slim?classes=10", "--json"});
    QCOMPARE(other.status, 1);
    const QJsonArray changed = jsonOf(other)["parameters"].toObject()["changed"].toArray();
    QVERIFY(!changed.isEmpty());
    const Outcome values = runSonde({"diff", path("m.onnx"), path("m.onnx"), "--input-data", "#rand(0,1,7,2)"});
    QVERIFY2(values.status == 0 && values.out.contains(QLatin1String("values: 2 compared, 0 differ")),
             qPrintable(values.out));
    QCOMPARE(runSonde({"diff", path("m.onnx"), path("none.onnx")}).status, 3);
    QCOMPARE(runSonde({"diff", path("m.onnx")}).status, 2);
    QCOMPARE(runSonde({"diff", path("m.onnx"), data("vit_small.onnx"), "--input-data", "x:#zeros;z:#zeros"}).status, 2);
}

void TestAuditVerbs::pairsByHandCount() {
    const Outcome plain = runSonde({"diff", path("m.onnx"), path("m.onnx"), "--unpair", "h=h", "--json"});
    QCOMPARE(plain.status, 1);
    QCOMPARE(jsonOf(plain)["nodes"].toObject()["removed"].toArray(), QJsonArray{"h"});
    QCOMPARE(jsonOf(plain)["nodes"].toObject()["added"].toArray(), QJsonArray{"h"});
    QVERIFY(write(path("o.onnx"), model({.nodes = {{"Exp", {"x"}, {"e=f"}}, {"Mul", {"e=f", "e=f"}, {"y"}}},
                                         .inputs = {valueInfo("x", kFloat, {-1, 2})},
                                         .outputs = {valueInfo("y", kFloat, {-1, 2})}})));
    const Outcome paired = runSonde({"diff", path("m.onnx"), path("o.onnx"), "--pair", "h=e=f", "--json"});
    QCOMPARE(paired.status, 1);
    QCOMPARE(jsonOf(paired)["matched"].toDouble(), 1.0);
    QCOMPARE(jsonOf(paired)["nodes"].toObject()["changed"].toArray().first().toObject()["b"].toString(),
             QStringLiteral("e=f"));
    for (const char* bad : {"h", "h=none", "none=y"})
        QCOMPARE(runSonde({"diff", path("m.onnx"), path("m.onnx"), "--pair", bad}).status, 2);
    const QStringList same{"diff", path("m.onnx"), path("m.onnx"), "--pair", "h=h"};
    for (const auto& [more, what] : {std::pair(QStringList{"--pair", "h=y"}, "'h' is paired with two nodes (--pair)"),
                                     std::pair(QStringList{"--pair", "y=h"}, "'h' is paired with two nodes (--pair)"),
                                     std::pair(QStringList{"--unpair", "h=h"}, "are paired and parted")}) {
        const Outcome outcome = runSonde(same + more);
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains(QLatin1String(what)), qPrintable(outcome.err));
    }
}

/// Of 1 and 3, h is 2 and 6, y 4 and 36.
void TestAuditVerbs::sweepWritesATable() {
    array("in/10.npy", {1, 3});
    array("in/2.npy", {0, -1});
    array("in/deep/a.npy", {std::numeric_limits<float>::quiet_NaN(), 1, std::numeric_limits<float>::infinity(), 2});
    QVERIFY(write(path("in/notes.txt"), "no input"));
    const Outcome outcome = runSonde({"sweep", path("m.onnx"), path("in"), "--watch", "h", "--watch", "y", "--where",
                                      "max(h) < 5", "-o", path("t.csv")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QCOMPARE(read("t.csv"),
             QByteArray("input,h.min,h.max,h.mean,h.std,h.nan,h.inf,y.min,y.max,y.mean,y.std,y.nan,y.inf,condition\n"
                        "2.npy,-2,0,-1,1,0,0,0,4,2,2,0,0,true\n"
                        "10.npy,2,6,4,2,0,0,4,36,20,16,0,0,false\n"
                        "deep/a.npy,2,4,3,1,1,1,4,16,10,6,1,1,false\n"));
    QVERIFY(outcome.out.contains(QLatin1String("condition is false for 2 inputs (h)\n  10.npy\n")));
    QVERIFY2(outcome.err.contains(QLatin1String("notes.txt")), qPrintable(outcome.err));
    // The same on standard output, and as JSON.
    const Outcome printed = runSonde({"sweep", path("m.onnx"), path("in"), "--watch", "h"});
    QVERIFY(printed.out.startsWith(QLatin1String("input,h.min,h.max,h.mean,h.std,h.nan,h.inf\n2.npy,-2,0,-1,1,0,0\n")));
    const QJsonObject json = jsonOf(runSonde({"sweep", path("m.onnx"), path("in"), "--where", "max(h) < 5", "--json"}));
    QCOMPARE(json["nodes"].toArray(), (QJsonArray{"y"}));
    QCOMPARE(json["rows"].toArray()[1].toObject()["values"].toObject()["y"].toObject()["max"].toDouble(), 36.0);
    QCOMPARE(json["broken"].toArray()[0].toObject(), (QJsonObject{{"input", "10.npy"}, {"nodes", QJsonArray{"h"}}}));
}

void TestAuditVerbs::sweepTakesCasesOfAnArchive() {
    std::vector<io::NamedTensor> cases;
    for (int i = 0; i < 12; ++i)
        cases.emplace_back((i == 0 ? "" : "case" + std::to_string(i) + ".") + std::string("in.x"),
                           Tensor::of<float>({1, 2}, {static_cast<float>(i), 0}));
    QVERIFY(io::writeNpz(path("cases.npz").toStdString(), cases));
    const QString out = runSonde({"sweep", path("m.onnx"), path("cases.npz")}).out;
    const QStringList lines = out.split(u'\n');
    QCOMPARE(lines.size(), 1 + 12 + 1);
    QVERIFY(lines[1].startsWith(QLatin1String("case0,0,0,")));
    QVERIFY(lines[12].startsWith(QLatin1String("case11,0,484,")));  // (2·11)²
    QVERIFY(QFile::copy(path("cases.npz"), path("in/cases.npz")));
    QVERIFY(runSonde({"sweep", path("m.onnx"), path("in")}).out.contains(QLatin1String("\ncases.npz#case11,0,484,")));
}

/// A channel that is zero in each of 12 cases with 4 rows; in one alone there are too few rows to say so.
void TestAuditVerbs::findingsLookAtAllCasesOfAnArchive() {
    const Graph graph{.nodes = {{"Relu", {"x"}, {"y"}}},
                      .inputs = {valueInfo("x", kFloat, {-1, 2})},
                      .outputs = {valueInfo("y", kFloat, {-1, 2})}};
    QVERIFY(write(path("relu.onnx"), model(graph)));
    std::vector<io::NamedTensor> cases;
    for (int i = 0; i < 12; ++i) {
        const auto x = static_cast<float>(i + 1);
        cases.emplace_back((i == 0 ? "" : "case" + std::to_string(i) + ".") + std::string("in.x"),
                           Tensor::of<float>({4, 2}, {x, 0, 2 * x, -1, 3 * x, 0, 4 * x, -2}));
    }
    QVERIFY(io::writeNpz(path("cases.npz").toStdString(), cases));
    const QString all = runSonde({"findings", path("relu.onnx"), "--input-data", path("cases.npz")}).out;
    QVERIFY2(all.contains(QLatin1String("are zero in all 48 positions of 12 inputs")), qPrintable(all));
    const QString one = runSonde({"findings", path("relu.onnx"), "--input-data", path("cases.npz#case3")}).out;
    QVERIFY2(!one.contains(QLatin1String("dead-unit")), qPrintable(one));
}

void TestAuditVerbs::sweepGoesOnAfterABadFile() {
    array("in/a.npy", {1, 3});
    QVERIFY(write(path("in/b.npy"), "damaged"));
    QVERIFY(write(path("in/c.png"), "damaged"));
    QVERIFY(io::writeNpyFile(path("in/d.npy").toStdString(), Tensor::of<float>({1, 3}, {1, 2, 3})));
    array("in/e, \"f\".npy", {2, 2});
    const Outcome outcome = runSonde({"sweep", path("m.onnx"), path("in"), "-o", path("t.csv")});
    QCOMPARE(outcome.status, 1);
    QCOMPARE(read("t.csv"), QByteArray("input,y.min,y.max,y.mean,y.std,y.nan,y.inf\na.npy,4,36,20,16,0,0\n"
                                       "b.npy,,,,,,\nc.png,,,,,,\nd.npy,,,,,,\n\"e, \"\"f\"\".npy\",16,16,16,0,0,0\n"));
    for (const char* name : {"b.npy", "c.png", "d.npy"})
        QCOMPARE(outcome.err.count(QStringLiteral("sonde: warning: %1: ").arg(QLatin1String(name))), 1);
    QVERIFY(outcome.out.contains(QLatin1String("5 inputs, 3 failed")));
    QCOMPARE(runSonde({"sweep", path("m.onnx"), path("nowhere")}).status, 2);
    QCOMPARE(runSonde({"sweep", path("m.onnx"), path("in/deep")}).status, 2);
    QCOMPARE(runSonde({"sweep", path("m.onnx"), path("in"), "-o", path("in/a.npy")}).status, 2);
}

void TestAuditVerbs::conditionsAreCheckedFirst() {
    array("in/a.npy", {1, 3});
    for (const auto& [condition, column] :
         {std::pair("max(h) <", "column 9"), std::pair("h > nowhere", "column 5"), std::pair("h + 1", "column 1")}) {
        const Outcome outcome = runSonde({"sweep", path("m.onnx"), path("in"), "--where", condition, "--json"});
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains(QLatin1String(column)), qPrintable(outcome.err));
    }
    QCOMPARE(runSonde({"sweep", path("m.onnx"), path("in"), "--watch", "nowhere"}).status, 2);
    // Whether it is true is known of a value only. What cannot be read goes before, and is no table.
    QVERIFY(write(path("in/a.aa.npy"), "damaged"));
    const Outcome vague = runSonde({"sweep", path("m.onnx"), path("in"), "--where", "h", "-o", path("vague.csv")});
    QCOMPARE(vague.status, 2);
    QVERIFY(!QFile::exists(path("vague.csv")));
    const Outcome printed = runSonde({"sweep", path("m.onnx"), path("in"), "--where", "h"});
    QCOMPARE(printed.out, QString());
    QVERIFY(write(path("vague.csv"), "of before"));
    QCOMPARE(runSonde({"sweep", path("m.onnx"), path("in"), "--where", "h", "-o", path("vague.csv")}).status, 2);
    QCOMPARE(read("vague.csv"), QByteArray("of before"));
    for (const QStringList& wrong :
         {QStringList{"--where", ""}, QStringList{"--seed", "-1"}, QStringList{"--seed", "99999999999999999999999"}}) {
        const Outcome outcome = runSonde(QStringList{"sweep", path("m.onnx"), path("in")} + wrong);
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains(wrong.front()), qPrintable(outcome.err));
    }
}

void TestAuditVerbs::labelsGiveAnAccuracy() {
    array("in/a.npy", {1, 3});   // 1
    array("in/b.npy", {-4, 3});  // 0
    array("in/c.npy", {1, 0});   // 0
    QVERIFY(write(path("labels.csv"), "input,label\na.npy,1\nb,1\nin/none.npy,0\nc.npy,0\n"));
    const Outcome outcome =
        runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.csv"), "-o", path("t.csv")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QVERIFY2(outcome.out.contains(QLatin1String("accuracy 66.67 % (2 of 3)")), qPrintable(outcome.out));
    const QList<QByteArray> lines = read("t.csv").split('\n');
    QVERIFY(lines[0].endsWith(",label,predicted"));
    QVERIFY(lines[1].endsWith(",1,1") && lines[2].endsWith(",1,0") && lines[3].endsWith(",0,0"));
    QVERIFY(write(path("labels.txt"), "1\n0\n0\n"));
    const QJsonObject json =
        jsonOf(runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.txt"), "--json"}));
    QCOMPARE(json["accuracy"].toDouble(), 1.0);
    QVERIFY(write(path("labels.txt"), "1\n0\n0\n1\n"));
    QCOMPARE(runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.txt")}).status, 2);
}

/// A prediction is an index: a name would count as a mistake. A first line with a name is a heading.
void TestAuditVerbs::namesOfClassesAreNoLabels() {
    array("in/a.npy", {1, 3});
    array("in/b.npy", {-4, 3});
    const auto sweep = [this](const char* labels) {
        if (!write(path("labels.csv"), labels)) qFatal("no file");
        return runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.csv")});
    };
    for (const char* labels : {"a.npy,1\nb.npy,cat\n", "1\ncat\n", "b.npy,cat\n", "cat\n"}) {
        const Outcome outcome = sweep(labels);
        QVERIFY2(outcome.status == 2, labels);
        QVERIFY2(outcome.err.contains(QLatin1String("label 'cat' is not the index of a class (")),
                 qPrintable(outcome.err));
    }
    QVERIFY(sweep("1\ncat\n").err.contains(QLatin1String("line 2)")));
    for (const char* labels : {"file,class\na.npy,1\nb.npy,0\n", "class\n1\n0\n"}) {
        const Outcome outcome = sweep(labels);
        QVERIFY2(outcome.err.contains(QLatin1String("accuracy 100 % (2 of 2)")) ||
                     outcome.out.contains(QLatin1String("accuracy 100 % (2 of 2)")),
                 qPrintable(outcome.err + outcome.out));
    }
}

/// b has a line without label, c none at all; in order the second line is empty, or the last one is missing.
void TestAuditVerbs::missingLabelsAreTold() {
    array("in/a.npy", {1, 3});
    array("in/b.npy", {-4, 3});
    array("in/c.npy", {1, 0});
    QVERIFY(write(path("labels.csv"), "a.npy,0\nb.npy,\n"));
    const Outcome named = runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.csv")});
    QCOMPARE(named.status, 1);
    QVERIFY2(named.err.contains(QLatin1String("warning: b.npy: line 2 of the labels has no label")),
             qPrintable(named.err));
    QVERIFY(named.err.contains(QLatin1String("warning: c.npy: the labels have no line for this input")));
    QVERIFY(named.err.contains(QLatin1String("0: 0 % of 1, taken for 1 (1)")));
    QVERIFY(named.out.contains(QLatin1String("\nb.npy,36,64,")));  // values are there
    QVERIFY(write(path("labels.txt"), "1\n\n0\n\n"));
    const Outcome ordered = runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.txt"), "--json"});
    QCOMPARE(ordered.status, 1);
    const QJsonObject json = jsonOf(ordered);
    QCOMPARE(json["accuracy"].toDouble(), 1.0);
    QCOMPARE(json["unlabelled"].toInt(), 1);
    QCOMPARE(json["rows"][1]["label_error"].toString(), QStringLiteral("the line of its label is empty"));
    QVERIFY(write(path("labels.txt"), "1\n0\n"));
    const Outcome shorter = runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.txt")});
    QCOMPARE(shorter.status, 1);
    QVERIFY2(shorter.err.contains(QLatin1String("c.npy: the labels end before this input: there are 2")),
             qPrintable(shorter.err));
}

/// A batch has a label for each sample, or is not judged. Lines for no input, for one twice, and classes that the
/// output has not are told with their lines.
void TestAuditVerbs::labelsOfBatches() {
    array("in/a.npy", {1, 3});                                                                            // 1
    QVERIFY(io::writeNpyFile(path("in/b.npy").toStdString(), Tensor::of<float>({2, 2}, {1, 3, -4, 3})));  // 1, 0
    const auto sweep = [this](const char* labels) {
        if (!write(path("labels.csv"), labels)) qFatal("no file");
        return runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("labels.csv")});
    };
    const Outcome each = sweep("a.npy,1\nb.npy,1 1\n");
    QVERIFY2(each.status == 0 && each.err.contains(QLatin1String("accuracy 66.67 % (2 of 3)")), qPrintable(each.err));
    QVERIFY2(each.out.contains(QLatin1String(",1 1,1 0\n")), qPrintable(each.out));
    const Outcome one = sweep("a.npy,1\nb.npy,1\n");
    QCOMPARE(one.status, 1);
    QVERIFY2(one.err.contains(QLatin1String("b.npy: line 2 of the labels has 1 label for 2 samples of output 'y'")) &&
                 one.err.contains(QLatin1String("accuracy 100 % (1 of 1)")),
             qPrintable(one.err));
    const Outcome strange = sweep("a.npy,2\nb.npy,0 -1\nc.npy,0\n");
    QCOMPARE(strange.status, 1);
    for (const char* text : {"a.npy: label 2 in line 1 of the labels is no class of output 'y': they are 0 to 1",
                             "b.npy: label -1 in line 2 of the labels",
                             "line 3 of the labels is for 'c.npy', which is no input of the sweep", "no accuracy"})
        QVERIFY2(strange.err.contains(QLatin1String(text)), qPrintable(strange.err));
    const Outcome twice = sweep("a.npy,1\nb.npy,1 0\na.npy,0\n");
    QCOMPARE(twice.status, 2);
    QVERIFY2(twice.err.contains(QLatin1String("line 1 has a label for 'a.npy' already")) &&
                 twice.err.contains(QLatin1String("labels.csv, line 3")),
             qPrintable(twice.err));
    QVERIFY(io::writeNpyFile(path("l.npy").toStdString(), Tensor::of<std::int64_t>({2, 1}, {1, 1})));
    const Outcome rows = runSonde({"sweep", path("m.onnx"), path("in"), "--labels", path("l.npy")});
    QVERIFY2(rows.err.contains(QLatin1String("row 2 of the labels has 1 label for 2 samples")), qPrintable(rows.err));
}

/// As the help tells: the cases of an archive, of which the first may be numbered.
void TestAuditVerbs::numberedFirstCases() {
    const std::vector<io::NamedTensor> cases{{"case0.in.x", Tensor::of<float>({1, 2}, {1, 0})},
                                             {"case1.in.x", Tensor::of<float>({1, 2}, {3, 0})}};
    QVERIFY(io::writeNpz(path("cases.npz").toStdString(), cases));
    const Outcome outcome = runSonde({"sweep", path("m.onnx"), path("cases.npz")});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    QVERIFY(outcome.out.contains(QLatin1String("\ncase0,0,4,")) &&
            outcome.out.contains(QLatin1String("\ncase1,0,36,")));
    for (const char* which : {"", "#case0", "#case1"})
        QCOMPARE(runSonde({"run", path("m.onnx"), "--input-data", path("cases.npz") + QLatin1String(which)}).status, 0);
}

/// Pixels of one colour: red first divides by 255 with "unit".
void TestAuditVerbs::picturesBecomeInputs() {
    const Graph graph{.nodes = {{"ReduceMax", {"x"}, {"y"}, "", "", {intsAttribute("axes", {2, 3})}}},
                      .inputs = {valueInfo("x", kFloat, {1, 3, 8, 8})},
                      .outputs = {valueInfo("y", kFloat, {1, 3, 1, 1})}};
    QVERIFY(write(path("p.onnx"), model(graph)));
    for (int i = 0; i < 3; ++i) {
        std::string image = "P6 5 7 255\n";
        for (int pixel = 0; pixel < 35; ++pixel) image += {static_cast<char>(51 * i), '\0', '\xff'};
        QVERIFY(write(path(QStringLiteral("in/%1.ppm").arg(i)), image));
    }
    const Outcome outcome = runSonde({"sweep", path("p.onnx"), path("in"), "--image", "unit"});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    const QStringList lines = outcome.out.split(u'\n');
    QCOMPARE(lines.size(), 5);
    for (int i = 0; i < 3; ++i) {
        const QStringList cells = lines[i + 1].split(u',');
        QCOMPARE(cells[0], QStringLiteral("%1.ppm").arg(i));
        QVERIFY(std::abs(cells[3].toDouble() - (0.2 * i + 1) / 3) < 1e-6);
    }
}

void TestAuditVerbs::interruptedSweepsKeepTheirRows() {
    for (int i = 0; i < 3000; ++i) array(QStringLiteral("in/%1.npy").arg(i), {static_cast<float>(i), 1});
    QProcess process;
    process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"),
                  {"sweep", path("m.onnx"), path("in"), "-o", path("t.csv")});
    QTRY_VERIFY_WITH_TIMEOUT(read("t.csv").count('\n') > 20, 60'000);
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(60'000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    const QByteArray table = read("t.csv");
    // A machine that is quick enough was done before.
    QVERIFY(process.exitCode() == 5 || table.count('\n') == 3001);
    QVERIFY(table.endsWith('\n'));
    for (const QByteArray& line : table.trimmed().split('\n')) QCOMPARE(line.count(','), 6);
}

QTEST_GUILESS_MAIN(TestAuditVerbs)

}  // namespace tst_audit_verbs

#include "tst_audit_verbs.moc"
