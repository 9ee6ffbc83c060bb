// Documents written in each format by a choice: what the file computes is what the model does.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/exec/runner.h"
#include "core/export/write_export.h"
#include "core/graph/module_tree.h"
#include "tests/core/export/document_maker.h"
#include "tests/support/small_dump.h"

namespace tst_write_export {

using namespace sonde;
using namespace sonde::exporting;
using sonde::test::Tensor;
using sonde::test::Value;

namespace {

std::vector<double> resultOf(const document::Document& document, const Value& input) {
    const auto plan = exec::Plan::make(document.graph, {});
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, std::vector<Value>{input});
    std::vector<double> numbers;
    if (recording.error || recording.outputs.empty()) return numbers;
    const Tensor result = recording.outputs.front().tensor();
    for (std::int64_t i = 0; i < result.numel(); ++i) numbers.push_back(result.toDouble(i));
    return numbers;
}

}  // namespace

class TestWriteExport : public QObject {
    Q_OBJECT

  private slots:
    void everyFormatComputesTheSame_data();
    void everyFormatComputesTheSame();
    void aDumpHasWhatWasChosen();
    void theExampleDecidesShapes();
    void anOnnxFileHasWhatWasChosen();
    void passesRunBeforeTheModelIsWritten();
    void standardOperatorsHaveTheirAttributesAlone();
    void sequencesAreNoConstants();
    void aTracedModuleNeedsOne();
    void whatCannotBeWritten();

  private:
    std::string path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)).toStdString(); }

    QTemporaryDir m_folder;
};

void TestWriteExport::everyFormatComputesTheSame_data() {
    QTest::addColumn<int>("format");
    for (const ExportFormatInfo& info : exportFormats())
        QTest::newRow(std::string(info.id).c_str()) << static_cast<int>(info.format);
}

/// product = x · (1, 2, 3, 4), out = product + x.
void TestWriteExport::everyFormatComputesTheSame() {
    QFETCH(int, format);
    const ExportChoice choice{static_cast<ExportFormat>(format), {}};
    document::Document document = test::productDocument();
    Tensor input = Tensor::of<float>({4}, {10, 20, 30, 40});
    std::vector<double> expected{20, 60, 120, 200};
    if (choice.format == ExportFormat::TracedModule) {
        const auto traced = document::open("zoo:seed", {.tracer = "traced-module"});
        QVERIFY2(traced.has_value(), traced ? "" : traced.error().text().c_str());
        document = **traced;
        input = Tensor::of<float>({1}, {5});
        expected = resultOf(document, input);
        QCOMPARE(expected.size(), std::size_t(1));
    }
    const std::string file = path("model.file");
    const std::vector<Value> inputs{input};
    const auto written = writeExport(document, choice, file, inputs);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    QCOMPARE(written->files, std::vector<std::filesystem::path>{file});
    QVERIFY(written->graph != nullptr);
    const auto opened = document::open(file);
    QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
    QCOMPARE(resultOf(**opened, input), expected);
}

void TestWriteExport::aDumpHasWhatWasChosen() {
    ExportChoice choice;
    QVERIFY(choice.set("arg-names", "data") && choice.set("output-names", "result") &&
            choice.set("user-info", "release 3") && choice.set("input-data", "[1,2,3,4]\n[0,0,0,1]") &&
            choice.set("strip-info-file", path("needed.json")));
    const auto written = writeExport(test::productDocument(), choice, path("chosen.dump"));
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    QCOMPARE(written->files.size(), std::size_t(2));
    QCOMPARE(written->outputNames, std::vector<std::string>{"result"});
    const auto file = io::dump::readDump(path("chosen.dump"));
    QVERIFY(file.has_value());
    QCOMPARE(file->cases.size(), std::size_t(2));
    QCOMPARE(file->metadata->userInfo, std::string("release 3"));
    QFile needed(m_folder.filePath("needed.json"));
    QVERIFY(needed.open(QIODevice::ReadOnly));
    const auto json = nlohmann::json::parse(needed.readAll().toStdString());
    QCOMPARE(json["hash"].get<std::uint64_t>(), written->dump.contentHash);
    // Appended, the first stays what it was.
    QVERIFY(choice.set("append", "true"));
    const auto again = writeExport(test::productDocument(), choice, path("chosen.dump"));
    QVERIFY(again.has_value());
    QCOMPARE(static_cast<std::uint64_t>(QFile(m_folder.filePath("chosen.dump")).size()),
             written->dump.totalBytes + again->dump.totalBytes);
}

/// Float16 is written for the shapes that the model is run on: 4 elements are declared, so another count is refused.
void TestWriteExport::theExampleDecidesShapes() {
    const auto document = document::open("zoo:seed");
    QVERIFY(document.has_value());
    ExportChoice choice;
    QVERIFY(choice.set("enable_io16xc32", "true"));
    for (const std::int64_t size : {3, 7}) {
        const std::vector<Value> inputs{
            Tensor::of<float>({size}, std::vector<float>(static_cast<std::size_t>(size), 2))};
        const auto written = writeExport(**document, choice, path("sized.dump"), inputs);
        QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
        const auto opened = document::open(path("sized.dump"));
        QVERIFY(opened.has_value());
        QCOMPARE((*opened)->graph->node((*opened)->inputs.front().node).type.shape->front().value, size);
        QCOMPARE(written->notes.size(), std::size_t(1));
        QVERIFY(written->notes[0].what.find("[" + std::to_string(size) + "]") != std::string::npos);
        // Refused at the input, not within.
        const auto infos = document::requiredInputInfos(**opened);
        QVERIFY(infos.front().required && infos.front().required->shape->front().value == size);
    }
}

void TestWriteExport::anOnnxFileHasWhatWasChosen() {
    const std::vector<Value> inputs{Tensor::of<float>({4}, {1, 2, 3, 4})};
    ExportChoice choice{ExportFormat::Onnx, {}};
    const auto property = [&](const char* name) {
        const auto opened = document::open(path("chosen.onnx"));
        if (!opened) return std::string("unreadable");
        for (const auto& [key, value] : (*opened)->properties)
            if (key == name) return value;
        return std::string();
    };
    QVERIFY(writeExport(test::productDocument(), choice, path("chosen.onnx"), inputs).has_value());
    QCOMPARE(property("IR version"), std::string("10"));
    QVERIFY((*document::open(path("chosen.onnx")))->modules->find("block").has_value());
    QVERIFY(choice.set("ir-version", "8") && choice.set("modules", "false"));
    QVERIFY(writeExport(test::productDocument(), choice, path("chosen.onnx"), inputs).has_value());
    QCOMPARE(property("IR version"), std::string("8"));
    QVERIFY(!(*document::open(path("chosen.onnx"), {.groups = false}))->modules->find("block").has_value());
}

void TestWriteExport::passesRunBeforeTheModelIsWritten() {
    const auto document = document::open("zoo:resnet18?width=0.125&classes=4");
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    const std::vector<Value> inputs{Value(*Tensor::allocate(tensor::DType::Float32, {1, 3, 32, 32}))};
    const auto norms = [&](const char* preset) {
        const ExportChoice choice = withPreset({ExportFormat::Onnx, {}}, *findExportPreset(ExportFormat::Onnx, preset));
        const auto written = writeExport(**document, choice, path("net.onnx"), inputs);
        if (!written) return -1;
        int count = 0;
        for (const graph::ExprId id : written->graph->recursiveOrder(written->graph->mainId()))
            count += written->graph->expr(id).op.name == "BatchNormalization";
        return count;
    };
    QCOMPARE(norms("as-it-is"), 20);
    QCOMPARE(norms("optimised"), 0);
}

/// What a dump says of sums in float16 is no attribute of ONNX's operators, and checkers refuse it.
void TestWriteExport::standardOperatorsHaveTheirAttributesAlone() {
    const auto source = document::open("zoo:resnet18?width=0.125&classes=4");
    QVERIFY2(source.has_value(), source ? "" : source.error().text().c_str());
    const std::vector<Value> inputs{Value(*Tensor::zeros(tensor::DType::Float32, {1, 3, 32, 32}))};
    ExportChoice dump;
    QVERIFY(dump.settings.dump.inference.set("enable_ioc16", true).has_value());
    QVERIFY(writeExport(**source, dump, path("half.dump"), inputs).has_value());
    const auto marked = [](const graph::InternalGraph& graph) {
        return std::ranges::count_if(graph.main().order,
                                     [&](graph::ExprId id) { return graph.expr(id).attributes.has("compute_mode"); });
    };
    const auto half = document::open(path("half.dump"));
    QVERIFY(half && marked(*(*half)->graph) > 0);
    const auto written = writeExport(**half, {ExportFormat::Onnx, {}}, path("half.onnx"), inputs);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    const auto saved = document::open(path("half.onnx"));
    QVERIFY2(saved.has_value(), saved ? "" : saved.error().text().c_str());
    QCOMPARE(marked(*(*saved)->graph), std::ptrdiff_t(0));
    QCOMPARE((*saved)->graph->node((*saved)->graph->outputs()[0]).type.dtype, tensor::DType::Float16);
}

/// An empty sequence is made from constants alone, and ONNX has no constant for it: x in a sequence, and out of it.
void TestWriteExport::sequencesAreNoConstants() {
    test::DocumentMaker maker;
    const auto x = maker.floats("x", {2});
    const auto sequence = maker.onnx("s", "SequenceInsert", maker.onnx("empty", "SequenceEmpty"), x);
    const document::Document& document =
        maker.done({maker.op("y", "ConcatFromSequence", {test::arg(sequence)}, {{"axis", std::int64_t{0}}})});
    ExportChoice choice{ExportFormat::Onnx, {}};
    choice.settings.passes = {"fold-constant"};
    const auto written = writeExport(document, choice, path("sequence.onnx"));
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    const auto saved = document::open(path("sequence.onnx"));
    QVERIFY2(saved.has_value(), saved ? "" : saved.error().text().c_str());
    QCOMPARE(resultOf(**saved, Tensor::of<float>({2}, {3, 4})), (std::vector<double>{3, 4}));
}

void TestWriteExport::aTracedModuleNeedsOne() {
    const ExportChoice choice{ExportFormat::TracedModule, {}};
    const auto written = writeExport(test::productDocument(), choice, path("none.tm"));
    QVERIFY(!written);
    QCOMPARE(written.error().kind, base::ErrorKind::Usage);
    QVERIFY(!checkExport(test::productDocument(), ExportFormat::TracedModule));
    QVERIFY(checkExport(test::productDocument(), ExportFormat::Dump).has_value());
    QVERIFY(!QFile::exists(m_folder.filePath("none.tm")));
}

void TestWriteExport::whatCannotBeWritten() {
    const std::vector<Value> inputs{Tensor::of<float>({4}, {1, 2, 3, 4})};
    for (const ExportFormat format : {ExportFormat::Dump, ExportFormat::Onnx}) {
        const auto written = writeExport(test::productDocument(), {format, {}}, "/proc/none/model", inputs);
        QVERIFY(!written);
        QCOMPARE(written.error().kind, base::ErrorKind::Run);
    }
    std::stop_source stop;
    stop.request_stop();
    base::WorkContext work;
    work.stop = stop.get_token();
    const auto cancelled = writeExport(test::productDocument(), {}, path("cancelled.dump"), inputs, work);
    QVERIFY(!cancelled);
    QCOMPARE(cancelled.error().kind, base::ErrorKind::Cancelled);
    QVERIFY(!QFile::exists(m_folder.filePath("cancelled.dump")));
}

QTEST_GUILESS_MAIN(TestWriteExport)

}  // namespace tst_write_export

#include "tst_write_export.moc"
