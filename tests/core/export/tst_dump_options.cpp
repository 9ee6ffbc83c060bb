// What a dump holds beside its graph, and where it is written: streams, formats, priorities, user info, outputs that
// are dicts and numbers. Expected values are worked by hand; rules are those of the reference page on dumps.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <sstream>

#include "core/analysis/infer.h"
#include "core/document/document.h"
#include "core/export/dump.h"
#include "core/export/export_options.h"
#include "core/io/npz/npy.h"
#include "tests/core/passes/graph_maker.h"

namespace tst_dump_options {

using namespace sonde;
using namespace sonde::test;

namespace {

/// A graph made by hand as a document.
struct Made : Maker {
    document::Document document;

    const document::Document& done(Argument structure) {
        result(std::move(structure));
        base::Diagnostics findings;
        analysis::inferTypes(graph, findings);
        for (const NodeId node : graph.inputs()) document.inputs.push_back({graph.node(node).name, node});
        for (const NodeId node : graph.outputs()) document.outputs.push_back({graph.node(node).name, node});
        document.graph = std::make_shared<InternalGraph>(graph);
        return document;
    }
};

/// y = exp(x) of x float32[2].
document::Document exponential() {
    Made made;
    return made.done(arg(made.call("y", "aten::exp", made.floats("x", {2}))));
}

/// relu(conv(x, w) + b) in ONNX operators; w has one weight of 2, b is 1.
document::Document convolution() {
    Made made;
    const NodeId x = made.floats("x", {1, 1, 2, 2});
    const NodeId w = made.constant("w", Tensor::of<float>({1, 1, 1, 1}, {2}));
    const NodeId b = made.constant("b", Tensor::of<float>({1}, {1}));
    return made.done(arg(made.onnx("y", "Relu", made.onnx("c", "Conv", x, w, b))));
}

std::vector<Value> run(const io::dump::DumpFile& dump, std::vector<Value> inputs) {
    const auto plan = exec::Plan::make(dump.graph, {});
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, inputs);
    if (recording.error) qWarning("%s", recording.error->text().c_str());
    return recording.error ? std::vector<Value>{} : recording.outputs;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t countOf(const InternalGraph& graph, const std::string& op) {
    std::size_t count = 0;
    for (const ExprId id : graph.main().order) count += graph.expr(id).op.name == op ? 1 : 0;
    return count;
}

/// A pipe: bytes one after the other, and no position.
class Pipe : public std::streambuf {
  public:
    std::string bytes;

  protected:
    int_type overflow(int_type c) override {
        bytes += static_cast<char>(c);
        return c;
    }
    int_type underflow() override {
        if (m_read == bytes.size()) return traits_type::eof();
        setg(&bytes[m_read], &bytes[m_read], &bytes[m_read] + 1);
        ++m_read;
        return traits_type::to_int_type(*gptr());
    }

  private:
    std::size_t m_read = 0;
};

}  // namespace

class TestDumpOptions : public QObject {
    Q_OBJECT

  private slots:
    void streamsHoldWhatFilesHold();
    void streamsBeginWhereTheyStand();
    void pipesHaveNoPosition();
    void userInfoIsAnyBytes_data();
    void userInfoIsAnyBytes();
    void dictOutputsAreSortedByKey();
    void namesAreUnique();
    void numbersAreTensorsOfRank0();
    void prioritiesAreKept();
    void oldFormatHasNoConvBias();
    void formatsAndVersionsAreChecked();
    void newerVersionsAreTried();
    void randomCasesDiffer();
    void otherSizesAreTold_data();
    void otherSizesAreTold();
    void optionsOfADumpAreKept();
    void oneOfTwoLayoutsCounts();
    void arraysAreNotResized_data();
    void arraysAreNotResized();
    void anArgumentMayHaveNoName();
    void oldFormatHasNoVersionOfItsOwn();
};

void TestDumpOptions::streamsHoldWhatFilesHold() {
    const auto dump = *exporting::makeDump(exponential(), {"[1,2]"}, {});
    const QTemporaryDir folder;
    const std::string path = folder.filePath("exp.dump").toStdString();
    const auto written = io::dump::writeDump(path, dump);
    QVERIFY(written.has_value());
    std::ostringstream stream;
    const auto info = io::dump::writeDump(stream, dump);
    QVERIFY2(info.has_value(), info ? "" : info.error().text().c_str());
    QCOMPARE(info->totalBytes, written->totalBytes);
    QCOMPARE(info->contentHash, written->contentHash);
    std::ifstream file(path, std::ios::binary);
    QVERIFY(stream.str() == std::string(std::istreambuf_iterator<char>(file), {}));
}

void TestDumpOptions::streamsBeginWhereTheyStand() {
    std::stringstream stream;
    stream << "12345";
    QVERIFY(io::dump::writeDump(stream, *exporting::makeDump(exponential(), {"[1,2]"}, {})).has_value());
    const auto middle = static_cast<std::streamoff>(stream.tellp());
    exporting::DumpOptions options;
    options.outputNames = {"second"};
    QVERIFY(io::dump::writeDump(stream, *exporting::makeDump(convolution(), {}, options)).has_value());
    stream << "rest";
    stream.seekg(5);
    const auto first = io::dump::readDump(stream);
    QVERIFY2(first.has_value(), first ? "" : first.error().text().c_str());
    QCOMPARE(static_cast<std::streamoff>(stream.tellg()), middle);
    QCOMPARE(first->cases.size(), std::size_t(1));
    QCOMPARE(first->cases[0].back().second.toDouble(1), 2.0);
    QCOMPARE(reinterpret_cast<std::uintptr_t>(first->cases[0].back().second.bytes()) % sizeof(float), std::size_t{0});
    const auto second = io::dump::readDump(stream);
    QVERIFY2(second.has_value(), second ? "" : second.error().text().c_str());
    QCOMPARE(second->outputNames, std::vector<std::string>{"second"});
    // relu(2 x + 1)
    const auto outputs = run(*second, {Value(Tensor::of<float>({1, 1, 2, 2}, {0, 1, -1, 3}))});
    QVERIFY(outputs.size() == 1 &&
            tensor::identical(outputs[0].tensor(), Tensor::of<float>({1, 1, 2, 2}, {1, 3, 0, 7})));
    std::string rest;
    stream >> rest;
    QCOMPARE(rest, std::string("rest"));
    stream.clear();
    stream.seekg(7);
    QVERIFY(!io::dump::readDump(stream).has_value());
}

void TestDumpOptions::pipesHaveNoPosition() {
    Pipe pipe;
    std::iostream stream(&pipe);
    const auto written = io::dump::writeDump(stream, *exporting::makeDump(convolution(), {}, {}));
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    QCOMPARE(pipe.bytes.size(), static_cast<std::size_t>(written->totalBytes));
    const auto read = io::dump::readDump(stream);
    QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
    QCOMPARE(run(*read, {Value(Tensor::of<float>({1, 1, 2, 2}, {0, 1, -1, 3}))}).size(), std::size_t(1));
}

void TestDumpOptions::userInfoIsAnyBytes_data() {
    QTest::addColumn<QByteArray>("info");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("text") << QByteArray("release 3") << QByteArray("release 3");
    QTest::newRow("JSON") << QByteArray(R"({"a": [1, null], "b": "\u00e9"})")
                          << QByteArray(R"({"a": [1, null], "b": "\u00e9"})");
    QTest::newRow("UTF-8") << QByteArray("\xc3\xa9\n") << QByteArray("\xc3\xa9\n");
    QTest::newRow("bytes") << QByteArray("\x00\xff\x0a\x80", 4) << QByteArray("0x00ff0a80");
    QTest::newRow("nothing") << QByteArray() << QByteArray();
}

void TestDumpOptions::userInfoIsAnyBytes() {
    QFETCH(QByteArray, info);
    QFETCH(QByteArray, text);
    exporting::DumpOptions options;
    options.userInfo = info.toStdString();
    std::stringstream stream;
    QVERIFY(io::dump::writeDump(stream, *exporting::makeDump(exponential(), {}, options)).has_value());
    const auto read = io::dump::readDump(stream);
    QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
    QCOMPARE(read->metadata->userInfo, info.toStdString());
    QCOMPARE(io::dump::userInfoText(*read->metadata), text.toStdString());
}

/// {"b": exp(x), "a": -x} has the outputs a, b.
void TestDumpOptions::dictOutputsAreSortedByKey() {
    Made made;
    const NodeId x = made.floats("x", {2});
    const NodeId b = made.call("first", "aten::exp", x), a = made.call("second", "aten::neg", x);
    const auto& document = made.done(Argument::container(Argument::Kind::Dict, {arg(b), arg(a)},
                                                         {Value(std::string("b")), Value(std::string("a"))}));
    const auto dump = exporting::makeDump(document, {"[1,2]"}, {});
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(dump->outputNames, (std::vector<std::string>{"a", "b"}));
    for (const auto& [name, value] : dump->cases.front()) {
        if (name == "a:expect") QCOMPARE(value.toDouble(0), -1.0);
        if (name == "b:expect") QVERIFY(std::abs(value.toDouble(0) - M_E) < 1e-6);
    }
    exporting::DumpOptions options;
    options.noAssert = true;
    const auto plain = exporting::makeDump(document, {}, options);
    const auto outputs = run(*plain, {Value(Tensor::of<float>({2}, {3, 4}))});
    QCOMPARE(outputs.size(), std::size_t(2));
    QCOMPARE(outputs[0].tensor().toDouble(1), -4.0);
    options.outputNames = {"x", "y"};
    const auto named = exporting::makeDump(document, {}, options);
    QVERIFY(!named.has_value() && holds(named.error().text(), "TypeError"));
}

/// Test cases know inputs, expected values and outputs by name.
void TestDumpOptions::namesAreUnique() {
    const auto errorOf = [](const document::Document& document, const std::vector<std::string>& cases,
                            std::vector<std::string> arguments, std::vector<std::string> outputs) {
        exporting::DumpOptions options;
        options.argNames = std::move(arguments);
        options.outputNames = std::move(outputs);
        const auto dump = exporting::makeDump(document, cases, options);
        return dump ? std::string() : dump.error().what;
    };
    const document::Document one = exponential();
    QCOMPARE(errorOf(one, {"[1,2]"}, {"a"}, {"a"}), std::string("an input and an output are called 'a'"));
    QCOMPARE(errorOf(one, {"[1,2]"}, {"y:expect"}, {"y"}),
             std::string("an input and an expected value are called 'y:expect'"));
    QCOMPARE(errorOf(one, {}, {"y:expect"}, {"y"}), std::string());
    QCOMPARE(errorOf(one, {"[1,2]"}, {"y"}, {"x"}), std::string());  // the other way round than in the model
    Made made;
    const NodeId a = made.floats("a", {2}), b = made.floats("b", {2});
    const document::Document& two = made.done(arg(made.call("y", "aten::mul.Tensor", a, b)));
    QCOMPARE(errorOf(two, {}, {"same", "same"}, {}), std::string("two are called 'same', each an input"));
    QCOMPARE(errorOf(two, {}, {"b", "a"}, {}), std::string());
}

/// x.shape[0], 0.5 and x.
void TestDumpOptions::numbersAreTensorsOfRank0() {
    Made made;
    const NodeId x = made.floats("x", {2, 3});
    const NodeId size = made.call("size", "aten::size.int", x, 0);
    tensor::TypeInfo number;
    number.kind = tensor::ValueKind::Int;
    made.graph.setType(size, number);
    const auto& document = made.done(tuple({arg(size), arg(0.5), arg(true), arg(made.call("y", "aten::neg", x))}));
    const auto dump = exporting::makeDump(document, {"#rand(0,1)"}, {});
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(dump->outputNames.size(), std::size_t(4));
    std::vector<std::string> types;
    for (const auto& [name, value] : dump->cases.front())
        if (name.ends_with(":expect"))
            types.push_back(value.typeText() + (value.numel() == 1 ? value.elementText(0) : ""));
    QVERIFY(std::ranges::find(types, "int64[]2") != types.end());
    QVERIFY(std::ranges::find(types, "float32[]0.5") != types.end());
    QVERIFY(std::ranges::find(types, "float32[2,3]") != types.end());
    QVERIFY(std::ranges::any_of(types, [](const std::string& type) { return type.starts_with("bool[]"); }));
    const auto inputs = exporting::inputsOfCase(*dump->graph, dump->cases.front());
    QCOMPARE(run(*dump, *inputs).size(), std::size_t(4));
}

void TestDumpOptions::prioritiesAreKept() {
    for (const bool keeps : {true, false}) {
        exporting::DumpOptions options;
        options.names.priorities = keeps;
        std::stringstream stream;
        const auto dump = *exporting::makeDump(convolution(), {}, options);
        QVERIFY(io::dump::writeDump(stream, dump, {options.names}).has_value());
        const auto read = io::dump::readDump(stream);
        QVERIFY(read.has_value());
        // Operations only, in the order in which they run; each has its own number.
        QCOMPARE(read->priorities.size(), std::size_t(keeps ? 2 : 0));
        if (!keeps) continue;
        QVERIFY(read->priorities[0].second > 0 && read->priorities[0].second < read->priorities[1].second);
        QVERIFY(read->graph->findNode(read->priorities[1].first).valid());
    }
}

void TestDumpOptions::oldFormatHasNoConvBias() {
    for (const bool changes : {true, false}) {
        exporting::DumpOptions options;
        QVERIFY(options.inference.set("enable_fuse_conv_bias_nonlinearity", true).has_value());
        options.format = "FBS";
        options.noChangeGraph = !changes;
        const auto dump = exporting::makeDump(convolution(), {}, options);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(countOf(*dump->graph, "ConvBias"), std::size_t(changes ? 0 : 1));
        QCOMPARE(countOf(*dump->graph, "Relu"), std::size_t(changes ? 1 : 0));
        std::stringstream stream;
        QVERIFY(io::dump::writeDump(stream, *dump).has_value());
        const auto read = io::dump::readDump(stream);
        QVERIFY(read && read->format == io::dump::DumpFormat::Fbs);
        QCOMPARE(read->modelVersion, 1);
        // What was requested stays in the bit field, what was done beside it.
        QCOMPARE(*read->metadata->optimizeOptions, std::uint64_t{64 + 4});
        QCOMPARE(read->metadata->applied.size(), std::size_t(1));
        QCOMPARE(read->metadata->applied[0].first, std::string("enable_fuse_conv_bias_nonlinearity"));
        QCOMPARE(read->metadata->applied[0].second, std::size_t(1));
        const auto outputs = run(*read, {Value(Tensor::of<float>({1, 1, 2, 2}, {0, 1, -1, 3}))});
        QVERIFY(outputs.size() == 1 &&
                tensor::identical(outputs[0].tensor(), Tensor::of<float>({1, 1, 2, 2}, {1, 3, 0, 7})));
    }
}

void TestDumpOptions::formatsAndVersionsAreChecked() {
    const auto refusal = [](const exporting::DumpOptions& options) {
        const auto dump = exporting::makeDump(exponential(), {}, options);
        return dump ? std::string() : dump.error().text() + " " + dump.error().hint;
    };
    exporting::DumpOptions options;
    options.format = "FBS_V3";
    QVERIFY(holds(refusal(options), "'FBS_V3' is no format of dumps"));
    options.format = "FBS_V2";
    options.compatOlderVersion = "8.14";
    QVERIFY(holds(refusal(options), "add --dump-format FBS"));
    options.format = "FBS";
    options.noChangeGraph = true;
    QVERIFY(holds(refusal(options), "leave out --no-change-graph"));
    options.noChangeGraph = false;
    const auto dump = exporting::makeDump(exponential(), {}, options);
    QVERIFY(dump && dump->metadata->compatibleWith == "8.14");
    options.compatOlderVersion = "8.13";
    QVERIFY(holds(refusal(options), "version 8.13"));
    std::ostringstream stream;
    io::dump::WriteOptions how;
    how.modelVersion = 3;
    const auto written = io::dump::writeDump(stream, *exporting::makeDump(exponential(), {}, {}), how);
    QVERIFY(!written.has_value() && holds(written.error().text(), "version 3 of the format"));
    QVERIFY(stream.str().empty());
}

/// A reader meeting a newer version warns and tries.
void TestDumpOptions::newerVersionsAreTried() {
    std::ostringstream stream;
    QVERIFY(io::dump::writeDump(stream, *exporting::makeDump(exponential(), {}, {})).has_value());
    std::string bytes = stream.str();
    const std::size_t at = bytes.find(R"("version":2)");
    QVERIFY(at != std::string::npos);
    bytes[at + 10] = '9';
    const QTemporaryDir folder;
    const std::string path = folder.filePath("new.dump").toStdString();
    std::ofstream(path, std::ios::binary) << bytes;
    const auto read = io::dump::readDump(path);
    QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
    QCOMPARE(read->notes.size(), std::size_t(1));
    QVERIFY(holds(read->notes[0].what, "version 9"));
    const auto document = document::open(path);
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    QVERIFY(std::ranges::any_of((*document)->diagnostics,
                                [](const base::Diagnostic& each) { return holds(each.what, "version 9"); }));
}

/// Each case has numbers of its own, and the same ones in each dump.
void TestDumpOptions::randomCasesDiffer() {
    const QTemporaryDir folder;
    const std::string list = folder.filePath("list.txt").toStdString();
    std::ofstream(list) << "#rand(0,1)\n\n#rand(0,1)\n";
    const std::vector<std::string> data{"#rand(0,1)", "@" + list, "#rand(0,1)"};
    const auto dump = *exporting::makeDump(exponential(), data, {});
    const auto again = *exporting::makeDump(exponential(), data, {});
    const auto one = *exporting::makeDump(exponential(), {"#rand(0,1)"}, {});
    QCOMPARE(dump.cases.size(), std::size_t(4));
    for (std::size_t i = 0; i < dump.cases.size(); ++i) {
        QVERIFY(tensor::identical(dump.cases[i][0].second, again.cases[i][0].second));
        for (std::size_t k = 0; k < i; ++k)
            QVERIFY(!tensor::identical(dump.cases[i][0].second, dump.cases[k][0].second));
    }
    QVERIFY(tensor::identical(one.cases[0][0].second, dump.cases[0][0].second));
}

void TestDumpOptions::otherSizesAreTold_data() {
    QTest::addColumn<QString>("data");
    QTest::addColumn<int>("notes");
    QTest::newRow("the same") << "[[1,2]]" << 0;
    QTest::newRow("another batch is silent") << "[[1,2],[3,4]]" << 0;
    QTest::newRow("another size behind it") << "[[1,2,3]]" << 1;
}

/// Rule c1: a difference in dimensions after the first is a warning.
void TestDumpOptions::otherSizesAreTold() {
    QFETCH(QString, data);
    QFETCH(int, notes);
    Made made;
    const document::Document& document = made.done(arg(made.call("y", "aten::exp", made.floats("x", {1, 2}))));
    const auto dump = exporting::makeDump(document, {data.toStdString()}, {});
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(static_cast<int>(dump->notes.size()), notes);
    if (notes == 0) return;
    QCOMPARE(dump->notes[0].what, std::string("the data is float32[1,3], the input float32[1,2]"));
    QCOMPARE(dump->notes[0].where, std::string("case 0, input 'x'"));
    QVERIFY(dump->notes[0].severity == base::Severity::Warning);
}

/// Bits of the reference page: 0 io16xc32, 2 conv_bias_nonlinearity, 6 grain.
void TestDumpOptions::optionsOfADumpAreKept() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("first.dump").toStdString();
    exporting::DumpOptions options;
    options.userInfo = "first";
    QVERIFY(options.inference.set("enable_fuse_conv_bias_nonlinearity", true).has_value());
    QVERIFY(io::dump::writeDump(path, *exporting::makeDump(convolution(), {}, options)).has_value());
    const auto document = document::open(path);
    QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
    exporting::DumpOptions second;
    QVERIFY(second.inference.set("enable_io16xc32", true).has_value());
    const auto dump = exporting::makeDump(**document, {}, second);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    QCOMPARE(*dump->metadata->optimizeOptions, std::uint64_t{64 + 4 + 1});
    QCOMPARE(dump->metadata->applied.size(), std::size_t(2));
    QCOMPARE(dump->metadata->applied[0].first, std::string("enable_fuse_conv_bias_nonlinearity"));
    QCOMPARE(dump->metadata->applied[1].first, std::string("enable_io16xc32"));
    QCOMPARE(dump->metadata->userInfo, std::string());
    second.optimize = false;
    const auto asItIs = exporting::makeDump(**document, {}, second);
    QCOMPARE(*asItIs->metadata->optimizeOptions, std::uint64_t{64 + 4});
}

/// Layout 3 is NCHW88, 4 is NCHW44.
void TestDumpOptions::oneOfTwoLayoutsCounts() {
    const std::uint64_t nchw88 = std::uint64_t{3} << 32, nchw44 = std::uint64_t{4} << 32;
    QCOMPARE(io::dump::InferenceOptions::bothBits(nchw88 | 1, nchw44 | 64), nchw44 | 65);
    QCOMPARE(io::dump::InferenceOptions::bothBits(nchw88 | 64, 66), nchw88 | 66);
}

void TestDumpOptions::arraysAreNotResized_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<bool>("isList");
    QTest::newRow("alone") << "" << false;
    QTest::newRow("by name") << "x:" << false;
    QTest::newRow("in a list") << "" << true;
}

/// trace-dump: with #rand or array files resize_input is an error.
void TestDumpOptions::arraysAreNotResized() {
    QFETCH(QString, before);
    QFETCH(bool, isList);
    const QTemporaryDir folder;
    const std::string array = folder.filePath("x.npy").toStdString();
    QVERIFY(io::writeNpyFile(array, Tensor::of<float>({2}, {1, 2})).has_value());
    std::string data = before.toStdString() + array;
    if (isList) {
        const std::string list = folder.filePath("list.txt").toStdString();
        std::ofstream(list) << "[1,2]\r\n" << data << "\n";
        data = "@" + list;
    }
    exporting::DumpOptions options;
    QVERIFY(exporting::makeDump(exponential(), {data}, options).has_value());
    options.resizeInput = true;
    const auto dump = exporting::makeDump(exponential(), {data}, options);
    QVERIFY(!dump.has_value());
    QCOMPARE(dump.error().kind, base::ErrorKind::Usage);
    QCOMPARE(dump.error().what, std::string("only images can be resized, and this file is an array"));
    QCOMPARE(dump.error().where, array);
}

/// trace-dump: a null entry of arg_names is no name.
void TestDumpOptions::anArgumentMayHaveNoName() {
    Made made;
    const NodeId a = made.floats("a", {2}), b = made.floats("b", {2}), c = made.floats("c", {2});
    const NodeId ab = made.call("ab", "aten::mul.Tensor", a, b);
    const document::Document& document = made.done(arg(made.call("y", "aten::mul.Tensor", ab, c)));
    exporting::ExportSettings settings;
    const exporting::ExportOption& names = *exporting::findExportOption("arg-names");
    QVERIFY(names.set(settings, "left,,right").has_value());
    QCOMPARE(settings.dump.argNames, (std::vector<std::string>{"left", "", "right"}));
    QCOMPARE(names.text(settings), std::string("left,,right"));
    const auto dump = exporting::makeDump(document, {"left:[1,2];b:[3,4];right:[5,6]"}, settings.dump);
    // Data is given by the names that the inputs have in the model.
    QVERIFY(!dump.has_value());
    const auto given = exporting::makeDump(document, {"a:[1,2];b:[3,4];c:[5,6]"}, settings.dump);
    QVERIFY2(given.has_value(), given ? "" : given.error().text().c_str());
    std::vector<std::string> inputs;
    for (const auto& [name, value] : given->cases.at(0)) inputs.push_back(name);
    QCOMPARE(inputs, (std::vector<std::string>{"left", "b", "right", "MUL:expect"}));
    QVERIFY(names.set(settings, ",,").has_value());
    QCOMPARE(settings.dump.argNames.size(), std::size_t(3));
    QVERIFY(names.set(settings, "").has_value());
    QVERIFY(settings.dump.argNames.empty());
}

/// trace-dump: model_version is the version of FBS_V2, and is ignored for FBS.
void TestDumpOptions::oldFormatHasNoVersionOfItsOwn() {
    exporting::ExportSettings settings;
    const exporting::ExportOption& version = *exporting::findExportOption("model-version");
    QVERIFY(version.set(settings, "7").has_value());
    QVERIFY(version.hasEffect(settings));
    QVERIFY(!exporting::makeDump(exponential(), {}, settings.dump).has_value());
    settings.dump.format = "FBS";
    QCOMPARE(version.whyNoEffect(settings), std::string("with --dump-format FBS"));
    const auto dump = exporting::makeDump(exponential(), {}, settings.dump);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    std::stringstream stream;
    io::dump::WriteOptions how;
    how.modelVersion = 7;
    QVERIFY(io::dump::writeDump(stream, *dump, how).has_value());
    QCOMPARE(io::dump::readDump(stream)->modelVersion, 1);
}

QTEST_GUILESS_MAIN(TestDumpOptions)

}  // namespace tst_dump_options

#include "tst_dump_options.moc"
