// A sweep goes on whatever one input is, counts what it says it counts, and what is mistaken for what.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/document/document.h"
#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/session/sweep/sweep_classes.h"
#include "core/session/sweep/sweep_output.h"
#include "tests/support/onnx_file.h"

namespace tst_sweep {

using namespace sonde;
using namespace sonde::test::onnxfile;
using session::SweepRow;
using tensor::Tensor;

namespace {

/// y = x + x of any [N,3].
std::string twice() {
    return model({.nodes = {{"Add", {"x", "x"}, {"y"}}},
                  .inputs = {valueInfo("x", 1, {-1, 3})},
                  .outputs = {valueInfo("y", 1, {-1, 3})}});
}

SweepRow rowOf(const std::string& label, std::int64_t predicted) {
    SweepRow row;
    row.label = label;
    row.predicted = {predicted};
    if (!label.empty()) row.samples = {{label, predicted}};
    return row;
}

}  // namespace

class TestSweep : public QObject {
    Q_OBJECT

  private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void casesOfDifferentShapes();
    void casesAreInNaturalOrder();
    void conditionsThatOneInputLacks();
    void confusion();
    void notANumberIsWrong();
    void emptyAndUnreadableFolders();
    void aDamagedArchiveIsOneRow();
    void labelsAreText();
    void marksBeforeLabelsAreNoLabels();
    void emptyLabelsTakeNoMemory();
    void quotedNamesAreRead();
    void titlesAreNoInputs();
    void recordingsAreNoCases();

  private:
    std::string path(const char* name) const { return m_folder->filePath(QLatin1String(name)).toStdString(); }
    struct Done {
        session::SweepSummary summary;
        std::vector<SweepRow> rows;
        std::optional<base::Error> error;
    };
    Done run(const std::string& inputs, const std::string& condition = {}) {
        if (!write(QString::fromStdString(path("m.onnx")), twice())) qFatal("cannot write");
        const auto document = document::open(path("m.onnx"), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        session::SweepRequest request;
        request.condition = condition;
        const auto sweep = session::Sweep::make(*document, std::move(request));
        if (!sweep) qFatal("%s", sweep.error().text().c_str());
        const auto found = session::sweepInputs(inputs);
        if (!found) return {{}, {}, found.error()};
        Done done;
        const auto summary = sweep->run(found->inputs, [&done](const SweepRow& row) { done.rows.push_back(row); });
        if (summary) done.summary = *summary;
        else done.error = summary.error();
        return done;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

/// One row fits, one has two samples, two do not fit: each tells why, and the others go on.
void TestSweep::casesOfDifferentShapes() {
    const std::vector<io::NamedTensor> arrays{{"in.x", Tensor::of<float>({1, 3}, {1, 2, 3})},
                                              {"case1.in.x", Tensor::of<float>({1, 2}, {1, 2})},
                                              {"case2.in.x", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                                              {"case3.in.x", Tensor::of<float>({3}, {1, 2, 3})}};
    QVERIFY(io::writeNpz(path("cases.npz"), arrays));
    const Done done = run(path("cases.npz"));
    QVERIFY(!done.error);
    QCOMPARE(done.rows.size(), std::size_t{4});
    QCOMPARE(done.summary.done, std::size_t{4});
    QVERIFY(!done.rows[0].error && !done.rows[2].error);
    QCOMPARE(done.rows[0].stats[0]->maximum, 6.0);
    QCOMPARE(done.rows[2].stats[0]->maximum, 12.0);
    QVERIFY(done.rows[1].error && !done.rows[1].error->what.empty());
    QVERIFY(!done.summary.isComplete());
}

/// The condition reads a sample that the second input has not: that row fails, the third is computed.
/// case2 before case10, whatever the order of the archive.
void TestSweep::casesAreInNaturalOrder() {
    std::vector<io::NamedTensor> arrays;
    for (const char* name : {"case10.in.x", "case2.in.x", "case1.in.x"})
        arrays.push_back({name, Tensor::of<float>({1, 3}, {1, 2, 3})});
    QVERIFY(io::writeNpz(path("cases.npz"), arrays));
    const auto found = session::sweepInputs(path("cases.npz"));
    QVERIFY(found);
    QStringList names;
    for (const session::SweepInput& input : found->inputs) names << QString::fromStdString(input.name);
    QCOMPARE(names, (QStringList{"case1", "case2", "case10"}));
}

void TestSweep::conditionsThatOneInputLacks() {
    std::filesystem::create_directory(path("in"));
    QVERIFY(io::writeNpyFile(path("in/a.npy"), Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
    QVERIFY(io::writeNpyFile(path("in/b.npy"), Tensor::of<float>({1, 3}, {1, 2, 3})));
    QVERIFY(io::writeNpyFile(path("in/c.npy"), Tensor::of<float>({2, 3}, {1, 2, 3, 0, 0, 0})));
    const Done done = run(path("in"), "y[1, 0] > 1");
    QVERIFY2(!done.error, done.error ? done.error->text().c_str() : "");
    QCOMPARE(done.rows.size(), std::size_t{3});
    QVERIFY(done.rows[0].condition == true && done.rows[2].condition == false);
    QVERIFY(done.rows[1].error && !done.rows[1].condition);
    QCOMPARE(done.summary.broken, std::size_t{1});
    QCOMPARE(done.summary.failed, std::size_t{1});
    // Of no input at all: the condition is wrong.
    QVERIFY(run(path("in"), "y[7, 0] > 1").error);
}

void TestSweep::confusion() {
    session::SweepClasses classes;
    QVERIFY(classes.empty() && classes.worst().empty());
    for (int i = 0; i < 8; ++i) classes.add(rowOf("3", i < 6 ? 3 : 5));              // 6 of 8
    for (int i = 0; i < 4; ++i) classes.add(rowOf("5", i < 1 ? 5 : i < 2 ? 9 : 3));  // 1 of 4: 3 twice, 9 once
    classes.add(rowOf("9", 9));                                                      // all
    classes.add(rowOf("cat", 0));                                                    // a name is no index
    classes.add(rowOf("", 4));                                                       // no label
    const auto worst = classes.worst();
    QCOMPARE(worst.size(), std::size_t{4});
    QCOMPARE(worst[0].label, std::string("cat"));
    QCOMPARE(worst[1].label, std::string("5"));
    QCOMPARE(worst[1].count, std::size_t{4});
    QCOMPARE(worst[1].correct, std::size_t{1});
    using Mistakes = std::vector<std::pair<std::int64_t, std::size_t>>;
    QVERIFY(worst[1].mistakes == (Mistakes{{3, 2}, {9, 1}}));
    QCOMPARE(session::sweepClassText(worst[1]), std::string("5: 25 % of 4, taken for 3 (2), 9 (1)"));
    QCOMPARE(worst[2].label, std::string("3"));
    QCOMPARE(worst[3].label, std::string("9"));
}

/// An output that is NaN alone has no class, and is not right.
void TestSweep::notANumberIsWrong() {
    SweepRow nan = rowOf("0", 0);
    nan.predicted.front().reset();
    nan.samples = {{"0", std::nullopt, true}};
    session::SweepSummary summary;
    session::SweepClasses classes;
    for (const SweepRow& row : {rowOf("0", 0), nan}) summary.add(row), classes.add(row);
    QCOMPARE(summary.labelled, std::size_t{2});
    QCOMPARE(summary.correct, std::size_t{1});
    QCOMPARE(classes.worst().front().count, std::size_t{2});
    QVERIFY(classes.worst().front().mistakes.empty());
    QCOMPARE(classes.worst().front().nan, std::size_t{1});
    QCOMPARE(session::sweepClassText(classes.worst().front()), std::string("0: 50 % of 2, 1 output of NaN alone"));
    classes.add(rowOf("0", 3));
    QCOMPARE(session::sweepClassText(classes.worst().front()),
             std::string("0: 33.3 % of 3, taken for 3 (1); 1 output of NaN alone"));
}

void TestSweep::emptyAndUnreadableFolders() {
    std::filesystem::create_directories(path("empty/deep"));
    std::ofstream(path("empty/readme.txt")) << "no picture";
    const Done done = run(path("empty"));
    QVERIFY(done.error);
    QVERIFY(done.error->kind == base::ErrorKind::Usage);
    QVERIFY2(done.error->what.find("neither pictures nor arrays") != std::string::npos, done.error->what.c_str());
    QVERIFY(run(path("nowhere")).error);
}

void TestSweep::aDamagedArchiveIsOneRow() {
    std::filesystem::create_directory(path("in"));
    std::ofstream(path("in/a.npz")) << "no archive";
    std::ofstream(path("in/b.png")) << "no picture";
    std::ofstream(path("in/c.npy"));
    QVERIFY(io::writeNpyFile(path("in/d.npy"), Tensor::of<float>({1, 3}, {1, 2, 3})));
    std::ofstream(path("in/e.npy")) << "x";
    std::filesystem::permissions(path("in/e.npy"), std::filesystem::perms::none);
    const Done done = run(path("in"));
    QVERIFY(!done.error);
    QCOMPARE(done.rows.size(), std::size_t{5});
    for (const std::size_t bad : {0, 1, 2, 4}) {
        QVERIFY2(done.rows[bad].error, done.rows[bad].input.c_str());
        // Each names its file.
        QVERIFY2(done.rows[bad].error->where.find(path("in")) != std::string::npos,
                 done.rows[bad].error->where.c_str());
    }
    QVERIFY(!done.rows[3].error);
}

/// A folder, a model or a picture in place of labels: told in a line, without its bytes.
void TestSweep::labelsAreText() {
    const auto errorOf = [this](const QByteArray& bytes) {
        QFile file(QString::fromStdString(path("labels.csv")));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("cannot write");
        file.close();
        const auto labels = session::SweepLabels::read(path("labels.csv"));
        return labels ? std::string() : labels.error().what;
    };
    QCOMPARE(errorOf("a.npy,1\nb.npy,2\n"), std::string());
    QCOMPARE(errorOf(QByteArray("\x08\x08\x12\x07pytorch\x1a\x06"
                                "1.13.0\n1\n",
                                21)),
             std::string("the labels are no text"));
    QCOMPARE(errorOf("a,1\nb," + QByteArray(500, 'x')),
             "label '" + std::string(60, 'x') + "\u2026' is not the index of a class");
    // No heading: a number that is no index, in front of those that are.
    QCOMPARE(errorOf("0.5\n1\n"), std::string("label '0.5' is not the index of a class"));
    QCOMPARE(errorOf("99999999999999999999\n1\n"),
             std::string("label '99999999999999999999' is not the index of a class"));
    QCOMPARE(errorOf("O\n1\n"), std::string("label 'O' is not the index of a class"));
    // A byte order mark, as editors write it, is no part of the first label; a heading stays one behind it.
    for (const char* text : {"\xEF\xBB\xBF"
                             "3\n1\n",
                             "\xEF\xBB\xBFlabel\n3\n1\n"}) {
        QCOMPARE(errorOf(text), std::string());
        const auto marked = session::SweepLabels::read(path("labels.csv"));
        QCOMPARE(marked->count(), std::size_t{2});
        QCOMPARE(marked->of("a.npy", 0), std::string("3"));
    }
    const auto endless = session::SweepLabels::read("/dev/zero");
    QVERIFY(!endless);
    QCOMPARE(endless.error().what, std::string("the file of labels is longer than 64 MiB"));
    const auto folder = session::SweepLabels::read(m_folder->path().toStdString());
    QVERIFY(!folder);
    QCOMPARE(folder.error().what, std::string("the labels are a folder, not a file"));
}

/// U+FEFF, which spreadsheets write first: the first line is a label, and its name has no mark.
void TestSweep::marksBeforeLabelsAreNoLabels() {
    const auto read = [this](const QByteArray& bytes) {
        QFile file(QString::fromStdString(path("marked.csv")));
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("cannot write");
        file.close();
        const auto labels = session::SweepLabels::read(path("marked.csv"));
        if (!labels) qFatal("%s", labels.error().text().c_str());
        return *labels;
    };
    const session::SweepLabels ordered = read(
        "\xef\xbb\xbf"
        "7\n8\n");
    QCOMPARE(ordered.count(), std::size_t{2});
    QCOMPARE(ordered.of("a.npy", 0), std::string("7"));
    QCOMPARE(read("\xef\xbb\xbf"
                  "a.npy,7\n")
                 .of("a.npy", 0),
             std::string("7"));
    QCOMPARE(read("\xef\xbb\xbf"
                  "input,label\na.npy,7\n")
                 .of("a.npy", 0),
             std::string("7"));
}

/// RFC 4180, "Definition of the CSV Format", 5 to 7: as the table of a sweep is written.
void TestSweep::quotedNamesAreRead() {
    const auto labelOf = [this](const char* line, const char* input) {
        QFile file(QString::fromStdString(path("quoted.csv")));
        if (!file.open(QIODevice::WriteOnly) || file.write(line) < 1) qFatal("cannot write");
        file.close();
        const auto labels = session::SweepLabels::read(path("quoted.csv"));
        if (!labels) qFatal("%s", labels.error().text().c_str());
        return labels->of(input, 0);
    };
    QCOMPARE(labelOf("\"sub dir/\xc3\xbc,\"\"q\"\".npy\",3\n", "sub dir/\xc3\xbc,\"q\".npy"), std::string("3"));
    QCOMPARE(labelOf("\"\"\"q\"\"\",3\n", "\"q\""), std::string("3"));
    QCOMPARE(labelOf("\"a,1.npy\",\"3 4\"\n", "a,1.npy"), std::string("3 4"));
    QCOMPARE(labelOf("\"a\t1.npy\"\t5\n", "a\t1.npy"), std::string("5"));
    // Without quotes: the label is behind the last separator, and a quote within a name is a character.
    QCOMPARE(labelOf("a,1.npy,3\n", "a,1.npy"), std::string("3"));
    QCOMPARE(labelOf("5\" disk.npy,3\n", "5\" disk.npy"), std::string("3"));
    QCOMPARE(labelOf("\"open.npy,3\n", "\"open.npy"), std::string("3"));
}

/// The first line may be a title; one that names an input has a label that is wrong.
void TestSweep::titlesAreNoInputs() {
    QFile file(QString::fromStdString(path("title.csv")));
    if (!file.open(QIODevice::WriteOnly) || file.write("0.npy,cat\n1.npy,2\n") < 1) qFatal("cannot write");
    file.close();
    const auto labels = session::SweepLabels::read(path("title.csv"));
    QVERIFY(labels);
    const auto checked = [&](const char* first) { return labels->checkFor({{first, {}, {}}, {"1.npy", {}, {}}}); };
    QVERIFY(checked("other.npy"));
    for (const char* first : {"0.npy", "in/0.npy"}) {
        const auto refused = checked(first);
        QVERIFY(!refused);
        QCOMPARE(refused.error().what, std::string("label 'cat' is not the index of a class"));
        QVERIFY(refused.error().where.ends_with("title.csv, line 1"));
    }
}

/// seq.in.x is a recording frame by frame beside the cases.
void TestSweep::recordingsAreNoCases() {
    const std::vector<io::NamedTensor> arrays{{"in.x", Tensor::of<float>({1, 3}, {1, 2, 3})},
                                              {"case1.in.x", Tensor::of<float>({1, 3}, {1, 2, 3})},
                                              {"seq.in.x", Tensor::of<float>({2, 1, 3}, {1, 2, 3, 4, 5, 6})}};
    QVERIFY(io::writeNpz(path("frames.npz"), arrays));
    const auto found = session::sweepInputs(path("frames.npz"));
    QVERIFY(found);
    QCOMPARE(found->inputs.size(), std::size_t{2});
    QCOMPARE(found->inputs[1].caseName, std::string("case1"));
}

/// A file of 128 bytes with 2^40 inputs that have no samples each.
void TestSweep::emptyLabelsTakeNoMemory() {
    QByteArray header("{'descr': '<i8', 'fortran_order': False, 'shape': (1099511627776, 0), }");
    header = header.leftJustified(117) + "\n";
    QFile file(QString::fromStdString(path("none.npy")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray("\x93NUMPY\x01\x00\x76\x00", 10) + header);
    file.close();
    const auto labels = session::SweepLabels::read(path("none.npy"));
    QVERIFY(!labels);
    QCOMPARE(labels.error().what, std::string("the file has no labels"));
}

QTEST_APPLESS_MAIN(TestSweep)

}  // namespace tst_sweep

#include "tst_sweep.moc"
