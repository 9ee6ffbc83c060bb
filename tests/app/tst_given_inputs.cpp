// What is given for a model's inputs on the command line: archives, numbers as text, and what contradicts the model.

#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_given_inputs {

using namespace sonde;
using io::NamedTensor;
using tensor::Tensor;
using test::Outcome;
using test::runSonde;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

QString model(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + name; }

}  // namespace

class TestGivenInputs : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void anArrayOfAnotherNameIsTaken();
    void undecidedArraysAreRefusedWithBothLists();
    void arraysFillEveryInput();
    void floatsOfAReferenceGetTheInputsType();
    void numbersAreText_data();
    void numbersAreText();
    void contradictionsAreRefused_data();
    void contradictionsAreRefused();
    void otherSizesOfTracedModelsStay_data();
    void otherSizesOfTracedModelsStay();
    void initializersAreNotAskedFor();
    void integerInputsTakeIntegersAlone();
    void slipsAreToldAsWhatTheyAre_data();
    void slipsAreToldAsWhatTheyAre();
    void numbersOfADumpAreOneCase();
    void dumpsOfTheHelpAreWritten();
    void comparisonsOfNothingFail();
    void differencesFromZeroAreInfinite();
    void runsCountOperations();
    void integersOfAReferenceAreEqual();
    void fixedValuesNeedNotBeGiven();
    void unknownNamesAreTold();
    void otherRanksAreToldWhereARunFails();
    void casesThatFitAreCompared();
    void countsAreAboveZero();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    QString write(const char* name, const std::vector<NamedTensor>& arrays) const {
        return io::writeNpz(path(name).toStdString(), arrays) ? path(name) : QString();
    }
    QTemporaryDir m_folder;
    QString m_double;  ///< y = input + input, input float32[N,3,1,2]
    QString m_two;     ///< y = a * b: a float32[N,2], b float32[N,2]; flag bool[], n int64[] are only passed through
};

void TestGivenInputs::initTestCase() {
    using namespace test::onnxfile;
    m_double = path("double.onnx");
    Graph graph;
    graph.nodes = {Node{"Add", {"input", "input"}, {"y"}}};
    graph.inputs = {valueInfo("input", kFloat, {-1, 3, 1, 2})};
    graph.outputs = {valueInfo("y", kFloat, {-1, 3, 1, 2})};
    QVERIFY(test::onnxfile::write(m_double, test::onnxfile::model(graph)));
    m_two = path("two.onnx");
    Graph two;
    two.nodes = {Node{"Mul", {"a", "b"}, {"y"}}, Node{"Identity", {"flag"}, {"f"}}, Node{"Identity", {"n"}, {"m"}}};
    two.inputs = {valueInfo("a", kFloat, {-1, 2}), valueInfo("b", kFloat, {-1, 2}), valueInfo("flag", kBool, {}),
                  valueInfo("n", kInt64, {})};
    two.outputs = {valueInfo("y", kFloat, {-1, 2}), valueInfo("f", kBool, {}), valueInfo("m", kInt64, {})};
    QVERIFY(test::onnxfile::write(m_two, test::onnxfile::model(two)));
}

void TestGivenInputs::anArrayOfAnotherNameIsTaken() {
    const std::vector<float> values{1, 2, 3, 4, 5, 6}, twice{2, 4, 6, 8, 10, 12};
    const QString file =
        write("image.npz", {{"in.image", Tensor::of<float>({1, 3, 1, 2}, values)},
                            {"out.y", Tensor::of<float>({1, 3, 1, 2}, twice)},
                            {"case1.in.image", Tensor::of<float>({2, 3, 1, 2}, std::vector<float>(12, 1))},
                            {"case1.out.y", Tensor::of<float>({2, 3, 1, 2}, std::vector<float>(12, 2))}});
    const Outcome run = runSonde({"run", m_double, "--input-data", file, "--out", path("values.npz")});
    QVERIFY2(run.status == 0, qPrintable(run.err));
    QVERIFY2(run.err.contains("sonde: note: array 'in.image' is used for input 'input'\n"), qPrintable(run.err));
    const auto written = io::NpzFile::open(path("values.npz").toStdString());
    QCOMPARE(written->read("out.y")->toDouble(5), 12.0);
    const Outcome check = runSonde({"check", m_double, file});
    QVERIFY2(check.status == 0, qPrintable(check.err + check.out));
    QVERIFY2(check.err.contains("note: array 'in.image' is used for input 'input'"), qPrintable(check.err));
    QVERIFY2(check.out.contains("2 values in 2 cases compared, 0 failed"), qPrintable(check.out));
}

void TestGivenInputs::undecidedArraysAreRefusedWithBothLists() {
    const Tensor image = Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
    const QString file = write("undecided.npz", {{"in.image", image}, {"in.photo", image}, {"out.y", image}});
    for (const QStringList& verb :
         {QStringList{"run", m_double, "--input-data", file}, QStringList{"check", m_double, file}}) {
        const Outcome outcome = runSonde(verb);
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains(
                     "sonde: error: the file has no array for input 'input' (expected key 'in.input' or 'input')"),
                 qPrintable(outcome.err));
        QVERIFY2(
            outcome.err.contains(
                "hint: inputs without an array: input float32[N,3,1,2]; arrays without an input: in.image float32[1,3,1,2], in.photo float32[1,3,1,2]"),
            qPrintable(outcome.err));
    }
}

void TestGivenInputs::arraysFillEveryInput() {
    const Tensor row = Tensor::of<float>({1, 2}, {3, 4});
    const QString file = write(
        "all.npz",
        {{"in.a", row}, {"b", row}, {"in.flag", Tensor::scalar<bool>(true)}, {"n", Tensor::scalar<std::int64_t>(7)}});
    for (const QString& spec : {file, "b:" + file, "n:" + file + ";a:[[1,1]]"}) {
        const Outcome outcome = runSonde({"run", m_two, "--input-data", spec, "--out", path("filled.npz")});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
        const auto written = io::NpzFile::open(path("filled.npz").toStdString());
        QCOMPARE(written->read("out.y")->toDouble(1), spec.contains(';') ? 4.0 : 16.0);
        QCOMPARE(written->read("out.m")->toInt64(0), std::int64_t{7});
        QCOMPARE(written->read("out.f")->toInt64(0), std::int64_t{1});
    }
}

void TestGivenInputs::floatsOfAReferenceGetTheInputsType() {
    const QString file = write("float64.npz", {{"input", Tensor::of<double>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6})},
                                               {"out.y", Tensor::of<double>({1, 3, 1, 2}, {2, 4, 6, 8, 10, 12})}});
    const Outcome check = runSonde({"check", m_double, file});
    QVERIFY2(check.status == 0, qPrintable(check.err + check.out));
}

void TestGivenInputs::numbersAreText_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<int>("status");
    QTest::newRow("all") << "a:[[1,2]];b:[[-0.5,1e1]];flag:true;n:16000" << 0;
    QTest::newRow("two rows") << "a:[[1,2],[3,4]];b:#rand(0,1);flag:0;n:-1" << 0;
    QTest::newRow("fraction") << "a:[[1,2]];b:[[1,2]];flag:true;n:1.5" << 2;
    QTest::newRow("no bool") << "a:[[1,2]];b:[[1,2]];flag:2;n:1" << 2;
    QTest::newRow("ragged") << "a:[[1,2],[3]];b:[[1,2]];flag:true;n:1" << 2;
    QTest::newRow("out of range") << "a:[[1,2]];b:[[1,2]];flag:true;n:1e400" << 2;
    QTest::newRow("two batches") << "a:[[1,2],[3,4]];b:[[1,2]];flag:true;n:1" << 2;
}

void TestGivenInputs::numbersAreText() {
    QFETCH(QString, spec);
    QFETCH(int, status);
    const Outcome outcome = runSonde({"run", m_two, "--input-data", spec});
    QVERIFY2(outcome.status == status, qPrintable(outcome.err));
    if (status == 2) QVERIFY2(outcome.err.startsWith("sonde: error: "), qPrintable(outcome.err));
    if (spec.contains("16000")) QVERIFY2(outcome.out.contains("mean 16000"), qPrintable(outcome.out));
}

void TestGivenInputs::contradictionsAreRefused_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    const QString four = write("four.npz", {{"in.input", Tensor::of<float>({1, 4, 1, 2}, std::vector<float>(8, 1))},
                                            {"out.y", Tensor::of<float>({1}, {1})}});
    const QString channels =
        "sonde: error: input 'input' expects float32[N,3,1,2], got float32[1,4,1,2] (dimension 1: 3 declared, 4 given)";
    QTest::newRow("run, random") << QStringList{"run", m_double, "--input-data", "#rand(0,1,1,4,1,2)"} << channels;
    QTest::newRow("run, archive") << QStringList{"run", m_double, "--input-data", four} << channels;
    QTest::newRow("check") << QStringList{"check", m_double, four} << channels;
    QTest::newRow("bench") << QStringList{"bench", m_double, "--input-data", four} << channels;
    QTest::newRow("rank") << QStringList{"run", m_double, "--input-data", "#rand(0,1,3,1,2)"}
                          << "(rank: 4 declared, 3 given)";
    QTest::newRow("one symbol") << QStringList{"run", m_two, "--input-data", "a:{2,2};b:{3,2};flag:1;n:1"}
                                << "(dimension 0: N is 2 in input 'a', 3 given)";
    QTest::newRow("layers") << QStringList{"run", "zoo:resnet18", "--input-data", "#rand(0,1,1,4,64,64)"}
                            << "(dimension 1: 3 required by its layers, 4 given)";
}

void TestGivenInputs::contradictionsAreRefused() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    const Outcome outcome = runSonde(arguments);
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains(says), qPrintable(outcome.err));
}

void TestGivenInputs::otherSizesOfTracedModelsStay_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("built-in model") << QStringList{"run", "zoo:resnet18", "--input-data", "#rand(0,1,2,3,64,96)"};
    QTest::newRow("archive") << QStringList{"run", model("unet_small.trace.pt"), "--input-data",
                                            "#rand(0,1,2,3,32,32)"};
    QTest::newRow("archive traced by an example")
        << QStringList{"run",          model("unet_small.trace.pt"), "--example", "#rand(0,1,1,3,64,64)",
                       "--input-data", "#rand(0,1,2,3,32,32)"};
}

void TestGivenInputs::otherSizesOfTracedModelsStay() {
    QFETCH(QStringList, arguments);
    const Outcome outcome = runSonde(arguments);
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
}

void TestGivenInputs::initializersAreNotAskedFor() {
    using namespace test::onnxfile;
    Graph graph;
    graph.nodes = {Node{"Mul", {"input", "scale"}, {"y"}}};
    graph.inputs = {valueInfo("input", kFloat, {-1, 2}), valueInfo("scale", kFloat, {2})};
    graph.outputs = {valueInfo("y", kFloat, {-1, 2})};
    const float two[] = {2, 2};
    graph.initializers = {rawTensor("scale", kFloat, {2}, std::string(reinterpret_cast<const char*>(two), sizeof two))};
    QVERIFY(test::onnxfile::write(path("scaled.onnx"), test::onnxfile::model(graph)));
    const QString file = write("scaled.npz", {{"in.image", Tensor::of<float>({1, 2}, {1, 5})},
                                              {"in.scale", Tensor::of<float>({2}, {3, 3})},
                                              {"out.y", Tensor::of<float>({1, 2}, {2, 10})}});
    const Outcome outcome = runSonde({"check", path("scaled.onnx"), file});
    QVERIFY2(outcome.status == 0, qPrintable(outcome.err + outcome.out));
    QVERIFY2(outcome.err.contains("note: array 'in.image' is used for input 'input'"), qPrintable(outcome.err));
    QVERIFY2(outcome.err.contains("note: array 'in.scale' is not used: the model has its own value for that input"),
             qPrintable(outcome.err));
}

/// What a conversion or #rand makes is held against the dtype as numbers are.
void TestGivenInputs::integerInputsTakeIntegersAlone() {
    using namespace test::onnxfile;
    constexpr int kUInt8 = 2;
    Graph graph;
    graph.nodes = {Node{"Identity", {"pixels"}, {"y"}}};
    graph.inputs = {valueInfo("pixels", kUInt8, {1, 4, 4, 3})};
    graph.outputs = {valueInfo("y", kUInt8, {1, 4, 4, 3})};
    QVERIFY(test::onnxfile::write(path("pixels.onnx"), test::onnxfile::model(graph)));
    const QString photo = QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/chelsea.png");
    for (const char* preset : {"imagenet", "unit", "signed"}) {
        const Outcome outcome =
            runSonde({"run", path("pixels.onnx"), "--input-data", photo, "--image", QLatin1String(preset)});
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains("but the input is uint8[1,4,4,3] (input 'pixels': "), qPrintable(outcome.err));
    }
    QCOMPARE(runSonde({"run", path("pixels.onnx"), "--input-data", photo, "--image", "rgb"}).status, 0);
    const Outcome random = runSonde({"run", path("pixels.onnx"), "--input-data", "#rand(0,1000)"});
    QCOMPARE(random.status, 2);
    QVERIFY2(random.err.contains("input 'pixels' expects uint8[1,4,4,3], got #rand(0,1000) (999 is outside"),
             qPrintable(random.err));
}

void TestGivenInputs::slipsAreToldAsWhatTheyAre_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    const QString others = "a:[[1,2]];b:[[1,2]];";
    QTest::newRow("unknown input")
        << QStringList{m_double, "y:[1,2]"}
        << "error: the model has no input 'y' ('y:[1,2]')\nhint: write NAME:DATA; required inputs: input; data paths: y:[1,2]\n";
    QTest::newRow("unknown input with a file")
        << QStringList{m_double, "y:photo.png"} << "error: the model has no input 'y'";
    QTest::newRow("bool") << QStringList{m_two, others + "n:1;flag:yes"}
                          << "error: input 'flag' expects bool[], got 'yes'\nhint: write flag:true or flag:false\n";
    QTest::newRow("number") << QStringList{m_two, others + "flag:true;n:0x10"}
                            << "error: input 'n' expects int64[], got '0x10'\nhint: write a number";
    QTest::newRow("neither") << QStringList{m_two, "a:hello;b:[[1,2]];flag:true;n:1"}
                             << "error: 'hello' is neither numbers nor a file that exists (input 'a')";
    QTest::newRow("a text alone") << QStringList{m_two, "a:'hello';b:[[1,2]];flag:true;n:1"}
                                  << "error: a text needs the file of its tokenizer (input 'a')\nhint: write "
                                     "prompt.txt#tokenizer.json, or 'Hello world'#vocab.txt\n";
    QTest::newRow("fixed value")
        << QStringList{"zoo:flag", "test_flag:True"}
        << "error: the model has its own value for input 'test_flag' ('test_flag:True')\nhint: required inputs: x; initializers are part of the "
           "model; a parameter of a forward takes another value if the model is traced with --concrete test_flag=VALUE";
    QTest::newRow("limits") << QStringList{m_double, "#rand(5,1)"} << "error: min 5 is above max 1 (#rand(5,1))";
}

void TestGivenInputs::slipsAreToldAsWhatTheyAre() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    const Outcome outcome = runSonde({"run", arguments[0], "--input-data", arguments[1]});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains(says), qPrintable(outcome.err));
}

void TestGivenInputs::numbersOfADumpAreOneCase() {
    const Outcome dump = runSonde({"dump", m_double, "-o", path("numbers.dump"), "--input-data",
                                   "[[[[1,2]],[[3,4]],[[5,6]]]]", "--input-data", "input:[[[[0,0]],[[0,0]],[[0,0]]]]"});
    QVERIFY2(dump.status == 0, qPrintable(dump.err));
    const Outcome checked = runSonde({"dump", "--check", path("numbers.dump")});
    QVERIFY2(checked.status == 0 && checked.out.contains("2 cases, 0 failed"), qPrintable(checked.err + checked.out));
}

/// Every command of the help's section on dumps, with files of the folder for its names.
void TestGivenInputs::dumpsOfTheHelpAreWritten() {
    QFile help(QStringLiteral(SONDE_SOURCE_DIR "/resources/help/command-line.md"));
    QVERIFY(help.open(QIODevice::ReadOnly));
    const QString page = QString::fromUtf8(help.readAll());
    const qsizetype begin = page.indexOf("## Dumps"), end = page.indexOf("\n## ", begin);
    QVERIFY(begin > 0 && end > begin);
    const QString section = page.mid(begin, end - begin);
    int commands = 0;
    for (const QString& line : section.split('\n')) {
        if (!line.startsWith("    sonde ")) continue;
        QStringList arguments = QProcess::splitCommand(QString(line).replace('\'', '"'));
        arguments.removeFirst();
        for (QString& argument : arguments) {
            if (argument == "model.pt") argument = QStringLiteral("zoo:resnet18_slim");
            if (argument == "model.onnx") argument = m_double;
            if (argument.endsWith(".png")) argument = QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/chelsea.png");
            if (argument.endsWith(".dump")) argument = m_folder.filePath(argument);
        }
        const Outcome outcome = runSonde(arguments);
        QVERIFY2(outcome.status == 0, qPrintable(line + '\n' + outcome.err + outcome.out));
        ++commands;
    }
    QVERIFY(commands >= 2);
}

/// What differs only where the reference is 0 is no relative difference of 0.
void TestGivenInputs::differencesFromZeroAreInfinite() {
    const Tensor image = Tensor::of<float>({1, 3, 1, 2}, {0, 0.5F, 0, 0, 0, 0});
    const Tensor zeros = Tensor::of<float>({1, 3, 1, 2}, {0, 0, 0, 0, 0, 0});
    const Outcome apart = runSonde({"check", m_double, write("zeros.npz", {{"in.input", image}, {"out.y", zeros}})});
    QCOMPARE(apart.status, 1);
    QVERIFY2(QRegularExpression("out\\.y .* 1 +inf +FAIL").match(apart.out).hasMatch(), qPrintable(apart.out));
    const Tensor other = Tensor::of<float>({1, 3, 1, 2}, {0.25F, 2, 0, 0, 0, 0});  // 1 instead of 2; 0 instead of 0.25
    const Outcome half = runSonde({"check", m_double, write("half.npz", {{"in.input", image}, {"out.y", other}})});
    QVERIFY2(QRegularExpression("out\\.y .* 1 +1 +FAIL").match(half.out).hasMatch(), qPrintable(half.out));
}

/// As the window counts them: the output is none.
void TestGivenInputs::runsCountOperations() {
    const Outcome outcome = runSonde({"run", "zoo:resnet18_slim", "--input-data", "#rand(0,1,1,3,32,32)"});
    QVERIFY2(outcome.out.contains("\n69 of 69 operations ran in "), qPrintable(outcome.out));
}

void TestGivenInputs::comparisonsOfNothingFail() {
    const Tensor image = Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
    const Outcome other =
        runSonde({"check", m_double, write("other_key.npz", {{"in.input", image}, {"node.nowhere", image}})});
    QCOMPARE(other.status, 1);
    QVERIFY2(other.err.contains("sonde: error: nothing was compared (") &&
                 other.err.contains("hint: the model has no node or output of these names: node.nowhere"),
             qPrintable(other.err));
    const Outcome none = runSonde({"check", m_double, write("only_inputs.npz", {{"in.input", image}})});
    QCOMPARE(none.status, 1);
    QVERIFY2(none.err.contains("the reference has only inputs"), qPrintable(none.err));
}

/// Off by one in a thousand is no rounding where numbers are integers; where a tolerance is given it holds.
void TestGivenInputs::integersOfAReferenceAreEqual() {
    const QString file = write("integers.npz", {{"in.a", Tensor::of<float>({1, 2}, {1, 2})},
                                                {"in.b", Tensor::of<float>({1, 2}, {1, 2})},
                                                {"in.flag", Tensor::scalar<bool>(true)},
                                                {"in.n", Tensor::scalar<std::int64_t>(100000)},
                                                {"out.m", Tensor::scalar<std::int64_t>(100001)}});
    const Outcome strict = runSonde({"check", m_two, file});
    QCOMPARE(strict.status, 1);
    QVERIFY2(strict.out.contains("1 value in 1 case compared, 1 failed (int64: equal)"), qPrintable(strict.out));
    QCOMPARE(runSonde({"check", m_two, file, "--atol", "1"}).status, 0);
    // A tolerance for floats is none for integers, however large.
    const Outcome relative = runSonde({"check", m_two, file, "--rtol", "0.5"});
    QCOMPARE(relative.status, 1);
    QVERIFY2(relative.out.contains("1 failed (rtol 0.5, atol 0.0001, int64: equal)"), qPrintable(relative.out));
    // Every dtype that was judged is named, the coarser where the reference has another one, which is told.
    const QString mixed = write("mixed.npz", {{"in.a", Tensor::of<float>({1, 2}, {1, 2})},
                                              {"in.b", Tensor::of<float>({1, 2}, {1, 2})},
                                              {"in.flag", Tensor::scalar<bool>(true)},
                                              {"in.n", Tensor::scalar<std::int64_t>(5)},
                                              {"out.y", Tensor::of<double>({1, 2}, {1, 4})},
                                              {"out.m", Tensor::scalar<std::int64_t>(5)}});
    const Outcome both = runSonde({"check", m_two, mixed});
    QCOMPARE(both.status, 0);
    QVERIFY2(both.out.contains("ok  float64 in the reference, float32 in the model\n") &&
                 both.out.contains("0 failed (float32: 0.0001 of the largest magnitude, int64: equal)"),
             qPrintable(both.out));
    const Outcome help = runSonde({"check", "--help"});
    QVERIFY2(!help.out.contains("=0.001") && help.out.contains("not given: 0.001"), qPrintable(help.out));
}

void TestGivenInputs::fixedValuesNeedNotBeGiven() {
    for (const char* tracer : {"robust", "module-path"}) {
        const Outcome outcome = runSonde({"run", "zoo:flag", "--concrete", "test_flag=True", "--tracer", tracer});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
    }
    const Outcome info = runSonde({"info", "zoo:flag", "--concrete", "test_flag=True"});
    QVERIFY2(info.out.contains("test_flag_1: True, not required"), qPrintable(info.out));
}

/// As in Python they do nothing.
void TestGivenInputs::unknownNamesAreTold() {
    const Outcome parameter = runSonde({"trace", "zoo:flag", "--concrete", "nope=1"});
    QCOMPARE(parameter.status, 0);
    QVERIFY2(parameter.err.contains("warning: the model has no parameter 'nope' (--concrete nope=1)") &&
                 parameter.err.contains("test_flag"),
             qPrintable(parameter.err));
    const Outcome leaf = runSonde({"trace", "zoo:resnet18", "--leaf", "Nope", "--leaf", "none"});
    QCOMPARE(leaf.status, 0);
    QVERIFY2(
        leaf.err.contains("warning: no module is of class 'Nope' (--leaf Nope)") && leaf.err.contains("BasicBlock"),
        qPrintable(leaf.err));
    const Outcome known = runSonde({"trace", "zoo:resnet18", "--leaf", "BasicBlock"});
    QVERIFY2(known.status == 0 && known.err.isEmpty(), qPrintable(known.err));
}

/// An archive does not say what its input is: its layers do, and some of them take a rank less.
void TestGivenInputs::otherRanksAreToldWhereARunFails() {
    const QString file = model("unet_small.script.pt");
    const Outcome outcome = runSonde({"run", file, "--input-data", "#rand(0,1,7)"});
    QCOMPARE(outcome.status, 4);
    QVERIFY2(outcome.err.contains(QRegularExpression("^sonde: error: input 'image' expects float32\\[[^\\]]*\\], got "
                                                     "float32\\[7\\] \\(rank: 4 required by its layers, 1 given\\): ")),
             qPrintable(outcome.err));
}

/// The second case has another rank than the model declares: the first and the third are compared all the same.
void TestGivenInputs::casesThatFitAreCompared() {
    const Tensor one = Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
    const Tensor two = Tensor::of<float>({1, 3, 1, 2}, {2, 4, 6, 8, 10, 12});
    const QString file = write("unfit.npz", {{"in.input", one},
                                             {"out.y", two},
                                             {"case1.in.input", Tensor::of<float>({2}, {1, 2})},
                                             {"case1.out.y", Tensor::of<float>({2}, {2, 4})},
                                             {"case2.in.input", one},
                                             {"case2.out.y", two}});
    const Outcome outcome = runSonde({"check", m_double, file});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.out.contains("2 values in 3 cases compared, 0 failed"), qPrintable(outcome.out));
    QVERIFY2(outcome.out.contains("case 0 ") && outcome.out.contains("case2 "), qPrintable(outcome.out));
    QVERIFY2(outcome.err.contains("rank: 4 declared, 1 given") && outcome.err.contains("case1"),
             qPrintable(outcome.err));
}

void TestGivenInputs::countsAreAboveZero() {
    for (const char* count : {"0", "-1"}) {
        const Outcome outcome = runSonde({"run", m_double, QString("--repeat=") + count});
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains(QString("'%1' is not above 0").arg(count)) && outcome.err.size() < 120,
                 qPrintable(outcome.err));
    }
}

QTEST_APPLESS_MAIN(TestGivenInputs)

}  // namespace tst_given_inputs

#include "tst_given_inputs.moc"
