// Dumps: static graphs with test cases. Numbers in names are those of the acceptance cases of the reference page on
// dumps.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/infer.h"
#include "core/analysis/profile.h"
#include "core/exec/runner.h"
#include "core/export/dump.h"
#include "core/io/dump/input_transform.h"
#include "core/io/npz/npy.h"
#include "tests/core/passes/graph_maker.h"
#include "tests/support/reference_sets.h"

namespace tst_dump {

using namespace sonde;
using namespace sonde::test;

namespace {

/// A document of a graph made by hand: inputs of float32 [4], and one operator on them.
document::Document documentOf(const char* op, std::size_t inputs) {
    auto graph = std::make_shared<InternalGraph>();
    document::Document document;
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < inputs; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        const NodeId node = graph->addInput(graph->mainId(), name,
                                            tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{4}), name);
        document.inputs.push_back({name, node});
        arguments.push_back(Argument::of(node));
    }
    graph::Expr expr;
    expr.kind = graph::ExprKind::CallFunction;
    expr.op = {"aten", op, 0};
    expr.target = op;
    expr.arguments = std::move(arguments);
    expr.body = graph->mainId();
    expr.scope = graph->rootScope();
    const std::string name = "result";
    const NodeId output = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
    graph->setResult(graph->mainId(), Argument::of(output));
    document.outputs.push_back({"out", output});
    document.graph = graph;
    return document;
}

Tensor floats(std::vector<float> values) {
    Tensor made = *Tensor::allocate(tensor::DType::Float32, tensor::Shape{static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, made.mutableSpan<float>().begin());
    return made;
}

exec::Recording runOn(const io::dump::DumpFile& file, std::vector<Value> inputs) {
    const auto plan = exec::Plan::make(file.graph, {});
    exec::Runner runner(1);
    return runner.run(**plan, inputs);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

class TestDump : public QObject {
    Q_OBJECT

  private slots:
    void case1ASumHasThreeOperationsAndReadsBack() {
        const auto dump = exporting::makeDump(documentOf("add.Tensor", 2), {}, {});
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(dump->graph->main().order.size(), std::size_t(3));
        QCOMPARE(dump->outputNames, std::vector<std::string>{"ADD"});
        const QTemporaryDir folder;
        const std::string path = folder.filePath("sum.dump").toStdString();
        const auto info = io::dump::writeDump(path, *dump);
        QVERIFY2(info.has_value(), info ? "" : info.error().text().c_str());
        const auto again = io::dump::readDump(path);
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        QCOMPARE(again->graph->node(again->graph->inputs()[0]).name, std::string("arg_0"));
        QCOMPARE(again->graph->node(again->graph->inputs()[1]).name, std::string("arg_1"));
        const exec::Recording recording = runOn(*again, {Value(floats({1, 2, 3, 4})), Value(floats({10, 20, 30, 40}))});
        QVERIFY(!recording.error);
        QCOMPARE(recording.outputs[0].tensor().toDouble(3), 44.0);
    }

    void case2WhatIsCapturedIsAConstant() {
        document::Document document;
        Maker maker;
        const NodeId x = maker.floats("x", {4});
        const NodeId a = maker.constant("a", floats({1, 2, 3, 4}));
        maker.result(maker.call("y", "aten::mul.Tensor", x, a));
        document.inputs.push_back({"x", x});
        document.graph = std::make_shared<InternalGraph>(maker.graph);
        exporting::DumpOptions options;
        options.optimize = false;
        const auto dump = exporting::makeDump(document, {}, options);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(dump->graph->inputs().size(), std::size_t(1));
        const auto mul = std::ranges::find(dump->graph->main().order, std::string("mul.Tensor"),
                                           [&](graph::ExprId id) { return dump->graph->expr(id).op.name; });
        QVERIFY(mul != dump->graph->main().order.end());
        // x · (1, 2, 3, 4), by hand: the constant is on its side of the product, and its result is what the dump gives.
        const exec::Recording recording = runOn(*dump, {Value(floats({2, 3, 5, 7}))});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(recording.outputs.size(), std::size_t(1));
        QVERIFY(tensor::identical(recording.outputs[0].tensor(), floats({2, 6, 15, 28})));
        QVERIFY(tensor::identical(dump->graph->node(dump->graph->expr(*mul).arguments[1].node).constant->tensor(),
                                  floats({1, 2, 3, 4})));
    }

    void case3WrongNumbersOfNamesAndUnknownOptions() {
        exporting::DumpOptions options;
        options.argNames = {"one"};
        const auto names = exporting::makeDump(documentOf("add.Tensor", 2), {}, options);
        QVERIFY(!names.has_value() && holds(names.error().what, "wrong number of arg_names, should be 2 values"));
        options.argNames.clear();
        options.outputNames = {"x", "y"};
        const auto outputs = exporting::makeDump(documentOf("add.Tensor", 2), {}, options);
        QVERIFY(!outputs.has_value() &&
                holds(outputs.error().what, "wrong number of output_names, should be 1 values"));
        const auto unknown = io::dump::InferenceOptions().set("enable_everything", true);
        QVERIFY(!unknown.has_value());
        QCOMPARE(unknown.error().what, std::string("unknown options: ['enable_everything']"));
    }

    void case4NumbersAreNoInputs() {
        document::Document document = documentOf("exp", 1);
        InternalGraph graph = *document.graph;
        tensor::TypeInfo number;
        number.kind = tensor::ValueKind::Int;
        graph.setType(document.inputs[0].node, number);
        document.graph = std::make_shared<InternalGraph>(graph);
        const auto dump = exporting::makeDump(document, {}, {});
        QVERIFY(!dump.has_value());
        QCOMPARE(dump.error().what, std::string("Only support tensor type args when capture_as_const is enabled"));
    }

    /// The module is the document itself: only its data is an input.
    void case5TheModuleIsNoInput() {
        const auto document = document::open(SONDE_TEST_DATA "/models/lstm_classifier.trace.pt");
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        exporting::DumpOptions options;
        options.argNames = {"data"};
        const auto dump = exporting::makeDump(**document, {}, options);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(dump->graph->inputs().size(), std::size_t(1));
        QCOMPARE(dump->graph->node(dump->graph->inputs()[0]).name, std::string("data"));
    }

    void case6ScalarsHaveOneDimension() {
        document::Document document = documentOf("exp", 1);
        InternalGraph graph = *document.graph;
        graph.setType(document.inputs[0].node, tensor::TypeInfo::tensor(tensor::DType::Float32, tensor::Shape{}));
        document.graph = std::make_shared<InternalGraph>(graph);
        const auto dump = exporting::makeDump(document, {"#rand(0,1)"}, {});
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        for (const auto& [name, value] : dump->cases[0]) QCOMPARE(value.shape().text(), std::string("[1]"));
        QCOMPARE(dump->graph->node(dump->graph->findNode("arg_0")).type.text(), std::string("float32[1]"));
        const auto inputs = exporting::inputsOfCase(*dump->graph, dump->cases[0]);
        QVERIFY(inputs.has_value() && !runOn(*dump, *inputs).error);
    }

    void case7LevelsOfArithmetic() {
        const auto dumped = [](int level, auto&& build, std::vector<float> values) {
            document::Document document;
            Maker maker;
            const NodeId x = maker.floats("x", {static_cast<std::int64_t>(values.size())});
            maker.result(build(maker, x));
            document.inputs.push_back({"x", x});
            base::Diagnostics findings;
            analysis::inferTypes(maker.graph, findings);
            document.graph = std::make_shared<InternalGraph>(maker.graph);
            exporting::DumpOptions options;
            options.optLevel = level;
            const io::dump::DumpFile dump = *exporting::makeDump(document, {}, options);
            return std::pair(runOn(dump, {Value(floats(values))}).outputs[0].tensor().toDouble(0),
                             dump.graph->main().order.size());
        };
        const auto quotient = [](Maker& maker, NodeId x) {
            return maker.call("q", "aten::div.Tensor", maker.call("y", "aten::mul.Scalar", x, 2),
                              maker.call("z", "aten::mul.Scalar", x, 2));
        };
        QVERIFY(std::isnan(dumped(0, quotient, {0, 1}).first));
        QCOMPARE(dumped(1, quotient, {0, 1}).first, 1.0);
        const auto there = [](Maker& maker, NodeId x) {
            return maker.call("y", "aten::add.Scalar", maker.call("l", "aten::log", maker.call("e", "aten::exp", x)),
                              1);
        };
        const auto before = dumped(0, there, {2, 3}), after = dumped(1, there, {2, 3});
        QCOMPARE(after.second + 2, before.second);
        QCOMPARE(after.first, 3.0);
        const auto sums = [](Maker& maker, NodeId x) {
            return maker.call("l", "aten::log",
                              maker.call("s", "aten::sum.dim_IntList", maker.call("e", "aten::exp", x), 0, false));
        };
        QVERIFY(std::isinf(dumped(0, sums, {1e4F, 0}).first));
        QCOMPARE(dumped(1, sums, {1e4F, 0}).first, 1e4);
        const auto onnx = [](Maker& maker, NodeId x) {
            return maker.onnx("l", "Log",
                              maker.onnx("s", "ReduceSum", maker.onnx("e", "Exp", x),
                                         maker.constant("axes", Tensor::of<std::int64_t>({1}, {0}))));
        };
        QVERIFY(std::isinf(dumped(0, onnx, {1e4F, 0}).first));
        QCOMPARE(dumped(2, onnx, {1e4F, 0}).first, 1e4);
        const auto onnxQuotient = [](Maker& maker, NodeId x) { return maker.onnx("q", "Div", x, x); };
        QCOMPARE(dumped(2, onnxQuotient, {0, 1}).first, 1.0);
    }

    void case12OneRandomSpecIsForAllInputs() {
        const auto dump =
            exporting::makeDump(documentOf("add.Tensor", 2), {"#rand(0,1)", "a:#rand(0,1);b:#rand(2,3)"}, {});
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(dump->cases.size(), std::size_t(2));
        QCOMPARE(dump->cases[0].size(), std::size_t(3));
        exporting::DumpOptions options;
        options.inputTransform = "data";
        QVERIFY(!exporting::makeDump(documentOf("exp", 1), {"#rand(0,1)"}, options).has_value());
    }

    void case13PicturesFitTheInput_data() {
        QTest::addColumn<tensor::Shape>("input");
        QTest::addColumn<QString>("says");
        QTest::newRow("planes") << tensor::Shape{1, 3, 5, 8} << "";
        QTest::newRow("grey, channels last") << tensor::Shape{1, 5, 8, 1} << "";
        QTest::newRow("rank 3") << tensor::Shape{3, 5, 8} << "";
        QTest::newRow("no picture") << tensor::Shape{1, 5, 5, 5} << "can not infer input format from shape";
    }

    /// 20 pixels wide and 10 high: red 200 on the left half, blue 100 on the right.
    void case13PicturesFitTheInput() {
        QFETCH(tensor::Shape, input);
        QFETCH(QString, says);
        const QTemporaryDir folder;
        QFile file(folder.filePath("picture.ppm"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("P6 20 10 255\n");
        for (int i = 0; i < 200; ++i) file.write(i % 20 < 10 ? QByteArray("\xc8\0\0", 3) : QByteArray("\0\0\x64", 3));
        file.close();
        document::Document document = documentOf("exp", 1);
        InternalGraph graph = *document.graph;
        graph.setType(document.inputs[0].node, tensor::TypeInfo::tensor(tensor::DType::Float32, input));
        document.graph = std::make_shared<InternalGraph>(graph);
        exporting::DumpOptions options;
        options.resizeInput = true;
        options.noAssert = true;
        const auto dump = exporting::makeDump(document, {file.fileName().toStdString()}, options);
        if (!says.isEmpty()) {
            QVERIFY(!dump.has_value() && QString::fromStdString(dump.error().text()).contains(says));
            return;
        }
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const Tensor value = dump->cases[0][0].second;
        QCOMPARE(value.shape().text(), input.text());
        // Blue first; grey is 0.299 red + 0.114 blue, rounded.
        const bool grey = value.numel() == 40;
        QCOMPARE(value.toDouble(0), grey ? 60.0 : 0.0);
        QCOMPARE(value.toDouble(7), grey ? 11.0 : 100.0);
        if (!grey) QCOMPARE(value.toDouble(80), 200.0);
    }

    void case14FileDataIsRepeatedAndRandomDataIsNot() {
        document::Document document = documentOf("exp", 1);
        const QTemporaryDir folder;
        const std::string path = folder.filePath("x.npy").toStdString();
        QVERIFY(io::writeNpyFile(path, Tensor::of<float>({1}, {7})).has_value());
        exporting::DumpOptions options;
        options.input.repeat = 3;
        options.noAssert = true;
        const auto dump = exporting::makeDump(document, {path, "#rand(0,1,1)"}, options);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(dump->cases[0][0].second.shape().text(), std::string("[3]"));
        QCOMPARE(dump->cases[1][0].second.shape().text(), std::string("[1]"));
    }

    void case15TransformsAreExpressionsOfData() {
        const Tensor data = floats({1, 2, 3, 6});
        const auto scaled = io::dump::transformed("data / np.std(data)", data);
        QVERIFY2(scaled.has_value(), scaled ? "" : scaled.error().text().c_str());
        // Mean 3, squares 4 1 0 9: the deviation is sqrt(3.5).
        QCOMPARE(scaled->toDouble(3), static_cast<double>(6 / std::sqrt(3.5F)));
        QCOMPARE(io::dump::transformed("-data ** 2 + 2 * (data - 1)", data)->toDouble(2), -9.0 + 4.0);
        QCOMPARE(io::dump::transformed("np.clip(data, 2, 3)", data)->toDouble(0), 2.0);
        const auto bad = io::dump::transformed("data / ", data);
        QVERIFY(!bad.has_value() && holds(bad.error().text(), "column 8"));
        for (const char* text : {"open('x')", "np.load('x')", "__import__('os')", "data.tofile('x')"})
            QVERIFY2(!io::dump::transformed(text, data).has_value(), text);
    }

    /// 200 is no signed byte, 200 - 128 is one: data is transformed as it is in the file.
    void case15TransformsSeeTheFilesOwnType() {
        document::Document document = documentOf("exp", 1);
        InternalGraph graph = *document.graph;
        graph.setType(document.inputs[0].node, tensor::TypeInfo::tensor(tensor::DType::Int8, tensor::Shape{2, 1}));
        document.graph = std::make_shared<InternalGraph>(graph);
        const QTemporaryDir folder;
        const std::string path = folder.filePath("x.npy").toStdString();
        QVERIFY(io::writeNpyFile(path, Tensor::of<std::uint8_t>({1, 2}, {200, 0})).has_value());
        exporting::DumpOptions options;
        options.noAssert = true;
        options.inputTransform = "np.transpose(data) - 128";
        const auto dump = exporting::makeDump(document, {path}, options);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const Tensor value = dump->cases[0][0].second;
        QCOMPARE(value.typeText(), std::string("int8[2,1]"));
        QCOMPARE(value.toInt64(0), std::int64_t{72});
        QCOMPARE(value.toInt64(1), std::int64_t{-128});
        // The shape that comes out must be the input's; a list of cases may hold no random numbers.
        options.inputTransform = "np.mean(data)";
        QVERIFY(!exporting::makeDump(document, {path}, options).has_value());
        QFile list(folder.filePath("list.txt"));
        QVERIFY(list.open(QIODevice::WriteOnly));
        list.write("#rand(0,1)\n");
        list.close();
        const auto random = exporting::makeDump(document, {'@' + list.fileName().toStdString()}, options);
        QVERIFY(!random.has_value() && holds(random.error().text(), "random numbers cannot be resized"));
    }

    void case16TestCasesAreInTheFileAndChecked() {
        const auto dump = exporting::makeDump(documentOf("exp", 1), {"#rand(0,3)"}, {});
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const QTemporaryDir folder;
        const QString path = folder.filePath("exp.dump");
        QVERIFY(io::dump::writeDump(path.toStdString(), *dump).has_value());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.read(12), QByteArray("mgbtest0\x01\0\0\0", 12));
        auto again = io::dump::readDump(path.toStdString());
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        // Upper case comes first.
        QCOMPARE(again->cases[0][0].first, std::string("EXP:expect"));
        QCOMPARE(again->cases[0][1].first, std::string("arg_0"));
        auto inputs = exporting::inputsOfCase(*again->graph, again->cases[0]);
        QVERIFY(inputs.has_value());
        QVERIFY(!runOn(*again, *inputs).error);
        // Another value than expected is an error that says how much.
        for (Value& input : *inputs) {
            if (input.tensor().storage() == again->cases[0][0].second.storage()) input = Value(floats({0, 0, 0, 0}));
        }
        const exec::Recording recording = runOn(*again, *inputs);
        QVERIFY(recording.error && holds(recording.error->text(), "AssertEqual: err="));

        exporting::DumpOptions plain;
        plain.noAssert = true;
        const auto without = exporting::makeDump(documentOf("exp", 1), {"#rand(0,3)"}, plain);
        QVERIFY(without.has_value());
        QCOMPARE(without->graph->inputs().size(), std::size_t(1));
        QCOMPARE(without->cases[0].size(), std::size_t(1));
    }

    void case17TheErrorIsRelativeAboveOne() {
        exporting::DumpOptions options;
        options.maxError = 0.5;
        auto dump = exporting::makeDump(documentOf("detach", 1), {"#rand(0,1)"}, options);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const auto errorOf = [&](std::vector<float> expected, std::vector<float> got) {
            std::vector<Value> inputs;
            for (const NodeId input : dump->graph->inputs()) {
                const bool isExpected = dump->graph->node(input).name.ends_with(":expect");
                inputs.emplace_back(floats(isExpected ? expected : got));
            }
            return runOn(*dump, inputs);
        };
        const exec::Recording recording = errorOf({0, 2, 100, 1}, {0.5, 2, 101, 1});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(recording.outputs[0].tensor().toDouble(0), 0.5);
        QVERIFY(errorOf({0, 0, 0, 0}, {0, 0, 0, std::nanf("")}).error.has_value());
    }

    void case21TwoLayoutsAreAnError() {
        io::dump::InferenceOptions options;
        QVERIFY(options.set("enable_nchw88", true).has_value());
        QVERIFY(!options.set("enable_nchw4", true).has_value());
    }

    void case25TheOptionsAreABitField() {
        io::dump::InferenceOptions options;
        QCOMPARE(options.bits(), std::uint64_t{64});
        QVERIFY(options.set("enable_nchw88", true).has_value());
        QCOMPARE(options.bits(), std::uint64_t{12884901952});
        QVERIFY(options.set("enable_io16xc32", true).has_value());
        QCOMPARE(options.bits(), std::uint64_t{12884901953});
        io::dump::InferenceOptions again;
        const auto names = io::dump::InferenceOptions::names(options.bits());
        QVERIFY(names.has_value());
        for (const std::string& name : *names) QVERIFY(again.set(name, true).has_value());
        QCOMPARE(again.bits(), options.bits());

        exporting::DumpOptions how;
        how.metadata = false;
        QVERIFY(!exporting::makeDump(documentOf("exp", 1), {}, how)->metadata);
        QCOMPARE(*exporting::makeDump(documentOf("exp", 1), {}, {})->metadata->optimizeOptions, std::uint64_t{64});
        how.inference.layout = "nchw88";
        how.metadata = true;
        QCOMPARE(*exporting::makeDump(documentOf("exp", 1), {}, how)->metadata->optimizeOptions,
                 std::uint64_t{12884901952});
    }

    void case26OutputsWithoutNamesAreNumbered() {
        exporting::DumpOptions options;
        options.keepVarName = 0;
        QCOMPARE(exporting::makeDump(documentOf("exp", 1), {}, options)->outputNames,
                 std::vector<std::string>{"unnamed0"});
        io::dump::DumpFile twice = *exporting::makeDump(documentOf("exp", 1), {}, {});
        twice.outputNames = {"y", "y"};
        const QTemporaryDir folder;
        QVERIFY(!io::dump::writeDump(folder.filePath("twice.dump").toStdString(), twice).has_value());
    }

    void case27StripInfoListsWhatIsUsed() {
        std::set<std::string> operators, dtypes, modes;
        exporting::collectStripInfo(*documentOf("exp", 1).graph, operators, dtypes, modes);
        QCOMPARE(operators, std::set<std::string>{"aten::exp"});
        QCOMPARE(dtypes, std::set<std::string>{"float32"});
        QCOMPARE(modes, std::set<std::string>{"EXP"});
    }

    void case28ASecondDumpStandsBehindTheFirst() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("two.dump").toStdString();
        const auto first = io::dump::writeDump(path, *exporting::makeDump(documentOf("exp", 1), {"#rand(0,1)"}, {}));
        QVERIFY(first.has_value());
        QVERIFY(io::dump::writeDump(path, *exporting::makeDump(documentOf("add.Tensor", 2), {}, {}), {.append = true})
                    .has_value());
        std::uint64_t end = 0;
        QVERIFY(io::dump::readDump(path, 0, &end).has_value());
        QCOMPARE(end, first->totalBytes);
        const auto second = io::dump::readDump(path, end);
        QVERIFY2(second.has_value(), second ? "" : second.error().text().c_str());
        QCOMPARE(second->graph->inputs().size(), std::size_t(2));
    }

    void case29BatchNormsInTrainingAreAnError() {
        Maker maker;
        const NodeId x = maker.floats("x", {2, 3});
        const NodeId mean = maker.constant("mean", floats({0, 0, 0})),
                     variance = maker.constant("var", floats({1, 1, 1}));
        maker.result(maker.call("y", "aten::batch_norm", x, none(), none(), mean, variance, true, 0.1, 1e-5, false));
        document::Document document;
        document.inputs.push_back({"x", x});
        document.graph = std::make_shared<InternalGraph>(maker.graph);
        const auto dump = exporting::makeDump(document, {}, {});
        QVERIFY(!dump.has_value());
        QVERIFY2(holds(dump.error().text(), "BatchNorm in training mode") && holds(dump.error().text(), "eval"),
                 dump.error().text().c_str());
    }

    void case30ProfilesHaveTimesByOperator() {
        document::Document document = documentOf("exp", 1);
        InternalGraph graph = *document.graph;
        base::Diagnostics findings;
        analysis::inferTypes(graph, findings);
        document.graph = std::make_shared<InternalGraph>(graph);
        exec::Runner runner(1);
        const auto plan = exec::Plan::make(document.graph, {});
        exec::Recording recording;
        for (int i = 0; i < 3; ++i) recording = runner.run(**plan, std::vector<Value>{Value(floats({1, 2, 3, 4}))});
        const auto profile = nlohmann::json::parse(analysis::profileJson(*document.graph, recording));
        const auto& exp = profile.at("profiler").at("exp");
        QCOMPARE(exp.at("count").get<int>(), 1);
        QVERIFY(exp.at("elapsedNs").get<double>() > 0);
        QCOMPARE(exp.at("bytes").get<int>(), 16);
    }

    void realModelsAreDumpedAndPassTheirCases_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"mlp_functional.trace.pt", "control_flow.script.pt", "unet_small.script.pt",
                                  "gpt_mini.trace.pt", "ch_ppocr_mobile_v2.0_cls_infer.onnx"})
            QTest::newRow(model) << QString(model);
    }
    void realModelsAreDumpedAndPassTheirCases() {
        QFETCH(QString, model);
        const QString base = test::referenceModels() + '/' + model;
        SONDE_NEEDS_SET("models", base);
        const QString npz = test::referenceModels() + '/' +
                            (model.endsWith(".onnx") ? model.chopped(5) : model.section('.', 0, 0)) + ".npz";
        const auto document = document::open(base.toStdString());
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const auto dump = exporting::makeDump(**document, {npz.toStdString()}, {});
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        const QTemporaryDir folder;
        const std::string path = folder.filePath("model.dump").toStdString();
        const auto info = io::dump::writeDump(path, *dump);
        QVERIFY2(info.has_value(), info ? "" : info.error().text().c_str());
        const auto again = io::dump::readDump(path);
        QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
        for (const io::dump::TestCase& test : again->cases) {
            const auto inputs = exporting::inputsOfCase(*again->graph, test);
            QVERIFY2(inputs.has_value(), inputs ? "" : inputs.error().text().c_str());
            const exec::Recording recording = runOn(*again, *inputs);
            QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        }
    }

    void damagedFilesAreErrors() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("exp.dump");
        QVERIFY(io::dump::writeDump(path.toStdString(), *exporting::makeDump(documentOf("exp", 1), {"#rand(0,3)"}, {}))
                    .has_value());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray good = file.readAll();
        const QString broken = folder.filePath("broken.dump");
        for (qsizetype i = 0; i < good.size(); i += 7) {
            for (const bool cut : {true, false}) {
                QByteArray bad = cut ? good.first(i) : good;
                if (!cut) bad[i] = static_cast<char>(bad[i] ^ 0x15);
                QFile out(broken);
                QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
                out.write(bad);
                out.close();
                const auto read = io::dump::readDump(broken.toStdString());
                if (cut) QVERIFY(!read.has_value());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestDump)

}  // namespace tst_dump

#include "tst_dump.moc"
