// Scripts written as ONNX files from one case: the file gives PyTorch's values for it and for another case
// (tests/data/written_scripts.jsonl, made by written_scripts.py with PyTorch).

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/export/form_check.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/io/onnx/onnx_writer.h"
#include "tests/support/json_values.h"
#include "tests/support/script_archive.h"

namespace tst_written_scripts {

using namespace sonde;
using tensor::Value;

class TestWrittenScripts : public QObject {
    Q_OBJECT

  private slots:
    void filesGiveTorchsValues_data();
    void filesGiveTorchsValues();
    void randomNumbersAreDrawnAnew();
    void branchesThatNeverEndAreGivenUp();
    void longChainsOfBranchesAreQuick();
    void differencesFromTheModelAreTold();

  private:
    std::shared_ptr<const document::Document> opened(const std::string& code);
    QTemporaryDir m_folder;
};

namespace {

/// int64 beyond 2^53 too.
Value valueIn(const QJsonValue& json) {
    const QJsonObject object = json.toObject();
    if (object["t"].toString() != "i64") return test::valueIn(json);
    std::vector<std::int64_t> dims, numbers;
    for (const QJsonValue& dim : object["s"].toArray()) dims.push_back(dim.toInteger());
    for (const QJsonValue& number : object["v"].toArray()) numbers.push_back(number.toInteger());
    return Value(tensor::Tensor::of<std::int64_t>(tensor::Shape(dims), numbers));
}

std::vector<Value> valuesIn(const QJsonValue& list) {
    std::vector<Value> values;
    for (const QJsonValue& value : list.toArray()) values.push_back(valueIn(value));
    return values;
}

/// Whole numbers exactly, and numbers of Python as tensors.
QString difference(const Value& found, Value wanted) {
    if (wanted.kind() == tensor::ValueKind::Int) wanted = Value(tensor::Tensor::scalar<std::int64_t>(wanted.toInt()));
    if (wanted.kind() == tensor::ValueKind::Float) wanted = Value(tensor::Tensor::scalar<double>(wanted.number()));
    const QString problem = test::difference(found, wanted);
    if (!problem.isEmpty() || !found.isTensor() || !tensor::isInteger(wanted.tensor().dtype())) return problem;
    for (std::int64_t i = 0; i < wanted.tensor().numel(); ++i) {
        const std::int64_t a = found.tensor().toInt64(i), b = wanted.tensor().toInt64(i);
        if (a != b) return QString("element %1 is %2 instead of %3").arg(i).arg(a).arg(b);
    }
    return {};
}

std::string moduleOf(const std::string& body) {
    return "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
           "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n" +
           body;
}

}  // namespace

std::shared_ptr<const document::Document> TestWrittenScripts::opened(const std::string& code) {
    const std::string path = m_folder.filePath("script.pt").toStdString();
    test::writeScript(path, code);
    auto document = document::open(path);
    if (!document) qFatal("%s", document.error().text().c_str());
    return *document;
}

void TestWrittenScripts::filesGiveTorchsValues_data() {
    QTest::addColumn<QJsonObject>("line");
    QFile file(QStringLiteral(SONDE_TEST_DATA "/written_scripts.jsonl"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (line.isEmpty()) continue;
        const QJsonObject object = QJsonDocument::fromJson(line).object();
        QTest::newRow(qPrintable(object["name"].toString())) << object;
    }
}

void TestWrittenScripts::filesGiveTorchsValues() {
    QFETCH(QJsonObject, line);
    const auto document = opened(line["code"].toString().toStdString());
    const auto made = exporting::onnxGraph(*document, valuesIn(line["in"]));
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    QStringList notes;
    for (const base::Diagnostic& note : made->notes) notes << QString::fromStdString(note.what);
    QVERIFY2(notes.size() == line["notes"].toInt(), qPrintable(notes.join('\n')));
    const std::string path = m_folder.filePath("script.onnx").toStdString();
    const auto written = io::writeOnnx(path, *made->graph);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());
    const auto again = document::open(path);
    QVERIFY2(again.has_value(), again ? "" : again.error().text().c_str());
    for (const document::NamedNode& output : (*again)->outputs)
        QVERIFY2((*again)->graph->node(output.node).type.shape, output.name.c_str());
    const auto plan = exec::Plan::make((*again)->graph, {});
    QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());
    exec::Runner runner(1);
    for (const auto& [in, out] : {std::pair("in", "out"), std::pair("in2", "out2")}) {
        if (!line.contains(in)) continue;
        const exec::Recording recording = runner.run(**plan, valuesIn(line[in]), {});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const std::vector<Value> expected = valuesIn(line[out]);
        QCOMPARE(recording.outputs.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const QString problem = difference(recording.outputs[i], expected[i]);
            QVERIFY2(problem.isEmpty(), qPrintable(QString("%1, result %2 %3").arg(out).arg(i).arg(problem)));
        }
    }
}

/// None of the file's weights is what this run drew, and each run of it draws others. The model: x + randn + randint +
/// randperm, all of four.
void TestWrittenScripts::randomNumbersAreDrawnAnew() {
    using graph::Argument;
    auto graph = std::make_shared<graph::InternalGraph>();
    const Value zeros(tensor::Tensor::zeros(tensor::DType::Float32, {4}).value());
    graph::NodeId sum = graph->addInput(graph->mainId(), "x", tensor::TypeInfo::of(zeros), "x");
    const Value four = Value::ofInt(4), sizes = Value::list({four});
    const auto call = [&](const char* name, const std::vector<Argument>& arguments) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::CallFunction;
        expr.body = graph->mainId();
        expr.scope = graph->rootScope();
        expr.op = {"aten", name, 0};
        expr.arguments = arguments;
        const std::string output = "y" + std::to_string(graph->main().order.size());
        return graph->expr(graph->addExpr(std::move(expr), std::span(&output, 1))).outputs.front();
    };
    const Argument drawn[] = {Argument::of(call("randn", {Argument::of(sizes)})),
                              Argument::of(call("randint", {Argument::of(Value::ofInt(5)), Argument::of(sizes)})),
                              Argument::of(call("randperm", {Argument::of(four)}))};
    for (const Argument& each : drawn)
        sum = call("add.Tensor", {Argument::of(sum), each, Argument::of(Value::ofInt(1))});
    graph->setResult(graph->mainId(), Argument::of(sum));
    document::Document document;
    document.graph = graph;

    const std::vector<Value> inputs{zeros};
    const auto made = exporting::onnxGraph(document, inputs);
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    QVERIFY(made->notes.empty());
    QVERIFY(made->results.empty());
    const auto plan = exec::Plan::make(made->graph, {});
    QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());
    std::set<double> first;
    for (int run = 0; run < 2; ++run) {
        exec::RunOptions options;
        options.seed = static_cast<std::uint64_t>(run);
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(**plan, inputs, {}, options);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QVERIFY(recording.outputs[0].tensor().shape() == tensor::Shape{4});
        first.insert(recording.outputs[0].tensor().toDouble(0));
    }
    QCOMPARE(first.size(), std::size_t{2});
}

/// The branch that was not taken is run to see what it does; a loop in it may have no end.
void TestWrittenScripts::branchesThatNeverEndAreGivenUp() {
    const auto document =
        opened(moduleOf("    s = torch.sum(x)\n"
                        "    if bool(torch.gt(s, 0)):\n"
                        "      y = x\n"
                        "    else:\n"
                        "      y0 = x\n"
                        "      _0 = bool(torch.ne(torch.sum(x), 0))\n"
                        "      _1 = _0\n"
                        "      while _1:\n"
                        "        y1 = torch.sub(y0, 1)\n"
                        "        _2 = bool(torch.ne(torch.sum(y1), 0))\n"
                        "        _1, y0 = _2, y1\n"
                        "      y = y0\n"
                        "    return y\n"));
    const tensor::Tensor x = tensor::Tensor::of<float>({2}, std::vector<float>{0.25F, 0.5F});
    const auto made = exporting::onnxGraph(*document, std::vector<Value>{Value(x)});
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    QCOMPARE(made->notes.size(), std::size_t{1});
    QVERIFY2(made->notes[0].what.find("the branch that was taken is fixed") != std::string::npos,
             made->notes[0].what.c_str());
}

/// Each of 24 branches returns another shape, so none can be an If: that is found out once for each of them.
void TestWrittenScripts::longChainsOfBranchesAreQuick() {
    constexpr int kBranches = 24;
    std::string body = "    k = int(torch.select(x, 0, 0))\n", indent = "    ";
    std::string ends;
    for (int i = 0; i < kBranches; ++i) {
        const std::string name = "y" + std::to_string(i);
        body += indent + "if torch.eq(k, " + std::to_string(i) + "):\n" + indent + "  " + name +
                " = torch.slice(x, 0, None, " + std::to_string(i + 1) + ")\n" + indent + "else:\n";
        indent += "  ";
        ends = indent + name + " = " + (i + 1 < kBranches ? "y" + std::to_string(i + 1) : "x") + "\n" + ends;
    }
    const auto document = opened(moduleOf(body + ends + "    return y0\n"));
    const tensor::Tensor x = tensor::Tensor::of<float>({40}, std::vector<float>(40, 99.0F));
    QElapsedTimer timer;
    timer.start();
    const auto made = exporting::onnxGraph(*document, std::vector<Value>{Value(x)});
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    QVERIFY2(timer.elapsed() < 30'000, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!made->notes.empty());
}

/// What `sonde save` says of a file whose outputs are not the model's.
void TestWrittenScripts::differencesFromTheModelAreTold() {
    const auto document = opened(moduleOf("    return torch.add(x, 1)\n"));
    const std::vector<Value> inputs{Value(tensor::Tensor::of<float>({2}, std::vector<float>{1, 2}))};
    const auto made = exporting::onnxGraph(*document, inputs);
    QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
    QCOMPARE(made->results.size(), std::size_t{1});
    const std::vector<std::string> names{"y"};
    const auto problemOf = [&](const Value& expected) {
        const auto check = exporting::checkForm(made->graph, inputs, std::vector<Value>{expected}, names, {});
        return check ? check->problem.value_or("") : check.error().text();
    };
    QCOMPARE(problemOf(made->results[0]), std::string());
    QCOMPARE(problemOf(Value(tensor::Tensor::of<float>({2}, std::vector<float>{2, 3.5F}))),
             std::string("gives other values as 'y': largest difference 0.5"));
    QCOMPARE(problemOf(Value(tensor::Tensor::of<float>({1}, std::vector<float>{2}))),
             std::string("gives float32[2] as 'y', in the model float32[1]"));
}

QTEST_GUILESS_MAIN(TestWrittenScripts)

}  // namespace tst_written_scripts

#include "tst_written_scripts.moc"
