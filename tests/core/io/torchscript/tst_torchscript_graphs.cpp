// The graphs of TorchScript archives, node by node: as torch.fx lists them, as the archive has them, and with the
// control flow that only a run decides.

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

#include <map>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/npz/npz.h"
#include "core/trace/listing.h"
#include "tests/support/reference_sets.h"

namespace tst_torchscript_graphs {

using namespace sonde;
using graph::Expr;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;
using tensor::ValueKind;

namespace {

std::string modelPath(const QString& name) { return (test::referenceModels() + '/' + name).toStdString(); }

QStringList table(const QString& name) {
    QFile file(test::referenceModels() + '/' + name);
    if (!file.open(QIODevice::ReadOnly)) return {};
    QStringList lines = QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts);
    lines.removeFirst();
    return lines;
}

using DocumentPtr = std::shared_ptr<const document::Document>;

DocumentPtr open(const QString& name, const document::OpenOptions& options = {}) {
    auto opened = document::open(modelPath(name), options);
    if (!opened) qWarning("%s", opened.error().text().c_str());
    return opened ? *opened : nullptr;
}

/// Every value of a run on the inputs of case 0.
exec::Recording runAll(const document::Document& document, const QString& npzName) {
    const auto npz = io::NpzFile::open(modelPath(npzName));
    std::vector<Value> inputs;
    for (const document::NamedNode& input : document.inputs) {
        auto value = npz ? (*npz).read("in." + input.name) : base::Result<tensor::Tensor>(npz.error());
        if (value) inputs.emplace_back(std::move(*value));
    }
    const auto plan = exec::Plan::make(document.graph, {.watchAll = true});
    exec::Runner runner(1);
    return runner.run(**plan, inputs);
}

/// Types as torch prints them: "Float[1,20]", "int", "List[Tensor]".
QString torchType(const Value& value) {
    static const std::map<tensor::DType, const char*> names{
        {tensor::DType::Float32, "Float"}, {tensor::DType::Float64, "Double"}, {tensor::DType::Float16, "Half"},
        {tensor::DType::Int64, "Long"},    {tensor::DType::Bool, "Bool"},      {tensor::DType::UInt8, "Byte"}};
    const auto elements = [&] {
        QStringList parts;
        for (const Value& item : value.items()) parts << (item.isTensor() ? QStringLiteral("Tensor") : torchType(item));
        return parts;
    };
    switch (value.kind()) {
        case ValueKind::Tensor: {
            QStringList dims;
            for (std::int64_t dim : value.tensor().shape()) dims << QString::number(dim);
            return names.at(value.tensor().dtype()) + QString("[") + dims.join(',') + ']';
        }
        case ValueKind::Int: return "int";
        case ValueKind::Float: return "float";
        case ValueKind::List:
            return "List[" + (elements().isEmpty() ? QStringLiteral("int") : elements().first()) + ']';
        case ValueKind::Tuple: return "Tuple[" + elements().join(", ") + ']';
        case ValueKind::Dict: return "Dict[str, Tensor]";
        default: return "?";
    }
}

QString withoutName(const QString& output) { return output.section(':', 1); }

const Expr* findExpr(const InternalGraph& graph, std::string_view op, std::size_t nth = 0) {
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (graph.expr(id).op.name == op && nth-- == 0) return &graph.expr(id);
    }
    return nullptr;
}

}  // namespace

class TestTorchScriptGraphs : public QObject {
    Q_OBJECT

  private slots:
    /// Every archive whose program has the steps that fx saw. Not among them: traces of gpt_mini, vit_small and
    /// lstm_classifier (tracing computes what fx records: sizes, assertions, the elements of tuples), and the frozen
    /// one.
    void listingEqualsFx_data() {
        QTest::addColumn<QString>("archive");
        QTest::addColumn<QString>("tracer");
        for (const char* archive : {"resnet18.trace",           "resnet18_slim.trace",       "resnet18_slim.script",
                                    "mobilenet_v3_small.trace", "mobilenet_v3_small.script", "squeezenet1_1.trace",
                                    "squeezenet1_1.script",     "shufflenet_v2_x0_5.script", "shufflenet_v2_x0_5.trace",
                                    "unet_small.trace",         "unet_small.script",         "shared_twice.trace",
                                    "shared_twice.script",      "nested_containers.trace",   "nested_containers.script",
                                    "mlp_functional.trace",     "mlp_functional.script",     "gpt_mini.script",
                                    "lstm_classifier.script",   "vit_small.script"}) {
            QTest::newRow(archive) << QString(archive) << QString();
            QTest::newRow(qPrintable(QString(archive) + " module-path"))
                << QString(archive) << QStringLiteral("module-path");
        }
    }
    void listingEqualsFx() {
        QFETCH(QString, archive);
        QFETCH(QString, tracer);
        SONDE_NEEDS_SET("models", QString::fromStdString(modelPath(archive + ".pt")));
        document::OpenOptions options;
        options.tracer = tracer.toStdString();
        const DocumentPtr document = open(archive + ".pt", options);
        QVERIFY(document);
        const auto valid = document->graph->validate();
        QVERIFY2(valid, valid ? "" : valid.error().text().c_str());
        QFile expected(test::referenceModels() + '/' + archive.section('.', 0, 0) + ".fx.txt");
        QVERIFY(expected.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromStdString(trace::originListing(*document->graph)), QString::fromUtf8(expected.readAll()));
        compareTable(*document, archive.section('.', 0, 0));
    }

    /// Kinds, modules, and the types that a run on the example input gives. A tuple that a module returns, and its
    /// taking apart, has no module in torch's graph; here it has the one that it is written in.
    void graphWithoutLeavesEqualsAten_data() {
        QTest::addColumn<QString>("model");
        for (const QString& file : QDir(test::referenceModels()).entryList({"*.aten.tsv"})) {
            const QString model = file.section('.', 0, 0);
            QTest::newRow(qPrintable(model)) << model;
        }
    }
    void graphWithoutLeavesEqualsAten() {
        QFETCH(QString, model);
        SONDE_NEEDS_SET("models", QString::fromStdString(modelPath(model + ".trace.pt")));
        document::OpenOptions options;
        options.leaves = {"none"};
        const DocumentPtr document = open(model + ".trace.pt", options);
        QVERIFY(document);
        QVERIFY(document->graph->validate());
        const exec::Recording recording = runAll(*document, model + ".npz");
        if (recording.error) QFAIL(recording.error->text().c_str());

        const QStringList expected = table(model + ".aten.tsv");
        qsizetype row = 0;
        for (graph::ExprId id : document->graph->main().order) {
            const Expr& expr = document->graph->expr(id);
            if (expr.op.name.empty()) continue;  // inputs, reads of weights, the output
            QVERIFY2(row < expected.size(), expr.op.name.c_str());
            const QStringList cells = expected[row++].split('\t');
            const QString kind = QString::fromStdString(expr.op.name).section('.', 0, 0);
            QCOMPARE(kind, cells[1].section("::", 1));
            const bool isTuple = kind.startsWith("Tuple");
            if (!isTuple) QCOMPARE(QString::fromStdString(expr.qualname.value_or("None")), cells.value(3));
            QStringList types;
            for (NodeId node : expr.outputs) types << torchType(*recording.value(node));
            QStringList wanted;
            for (const QString& output : cells[2].split(QRegularExpression(",(?=[^\\[\\]]*:)")))
                wanted << withoutName(output);
            QCOMPARE(types.join(" | ") + " of " + kind, wanted.join(" | ") + " of " + kind);
        }
        QCOMPARE(row, expected.size());
    }

    /// Both branches of the If and the bodies of both loops are there, can be run, and can be looked into.
    void controlFlowIsRecorded() {
        const DocumentPtr document = open("control_flow.script.pt");
        QVERIFY(document);
        const InternalGraph& graph = *document->graph;
        QVERIFY(graph.validate());
        QVERIFY(!findExpr(graph, "If", 100));
        const Expr* branch = findExpr(graph, "If");
        QVERIFY(branch);
        QCOMPARE(branch->bodies.size(), 2U);
        QCOMPARE(graph.body(branch->bodies[0]).label, std::string("then"));
        QCOMPARE(graph.body(branch->bodies[1]).label, std::string("else"));
        QVERIFY(graph.findNode("if_1/then/up").valid());
        QVERIFY(graph.findNode("if_1/else/down").valid());
        for (std::size_t i : {0U, 1U}) {
            const Expr* loop = findExpr(graph, "Loop", i);
            QVERIFY(loop);
            QCOMPARE(loop->bodies.size(), 1U);
        }
        QVERIFY(!findExpr(graph, "Loop", 2));
        for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) QVERIFY(!graph.expr(id).callable);

        // Case 0 is positive: `up` ran, `down` of the first branch did not. The while loop halves until 0.75 is
        // reached.
        const exec::Recording recording = runAll(*document, "control_flow.npz");
        if (recording.error) QFAIL(recording.error->text().c_str());
        QVERIFY(recording.value(graph.findNode("if_1/then/up")));
        QVERIFY(!recording.value(graph.findNode("if_1/else/down")));
        const auto npz = io::NpzFile::open(modelPath("control_flow.npz"));
        QVERIFY(npz);
        const std::int64_t steps = npz->read("out.steps")->toInt64(0);
        QVERIFY(steps > 1);
        const NodeId halved = graph.findNode("loop/body/mul");
        QVERIFY(halved.valid());
        QCOMPARE(recording.iterations(halved), static_cast<std::size_t>(steps));
        // Each pass halves what the pass before gave.
        const Value* first = recording.value(halved, 0);
        const Value* second = recording.value(halved, 1);
        QCOMPARE(second->tensor().toDouble(3), first->tensor().toDouble(3) / 2);
    }

    /// The loop that appends to a list is a loop, not an opaque call; what it gives is stacked.
    void listsThatGrowInLoopsAreRecorded() {
        const DocumentPtr document = open("robust_nested.script.pt");
        QVERIFY(document);
        for (graph::ExprId id : document->graph->recursiveOrder(document->graph->mainId()))
            QVERIFY(!document->graph->expr(id).callable);
        QVERIFY(findExpr(*document->graph, "Loop"));
        QVERIFY(findExpr(*document->graph, "append"));
    }

    void noScriptBecomesOpaque_data() {
        QTest::addColumn<QString>("archive");
        for (const QString& file :
             QDir(test::referenceModels()).entryList({"*.script.pt", "*.frozen.pt", "*.trace.pt"}))
            QTest::newRow(qPrintable(file)) << file;
    }
    void noScriptBecomesOpaque() {
        QFETCH(QString, archive);
        const DocumentPtr document = open(archive);
        QVERIFY(document);
        for (graph::ExprId id : document->graph->recursiveOrder(document->graph->mainId())) {
            const Expr& expr = document->graph->expr(id);
            // The scripted forms of interpolate and group_norm make lists of as many items as the input has axes, which
            // only a run knows: the inside of these leaves is run in one piece.
            const bool grows = expr.moduleClass.ends_with("Upsample") || expr.moduleClass.ends_with("GroupNorm");
            QVERIFY2(!expr.callable || grows, (expr.target + " " + expr.moduleClass).c_str());
        }
    }

    /// fx refuses conditions on symbolic values; whoever asks for its tracer gets its error.
    void moduleLevelTracersRefuseControlFlow() {
        document::OpenOptions options;
        options.tracer = "module-path";
        const auto document = document::open(modelPath("control_flow.script.pt"), options);
        QVERIFY(!document);
        QCOMPARE(document.error().exitStatus(), 3);
        QVERIFY(QString::fromStdString(document.error().what)
                    .contains("symbolically traced variables cannot be used as inputs to control flow"));
    }

    /// Where an operation is in own_models.py (line numbers of the file in models/generate).
    void sourcesAreKnown_data() {
        QTest::addColumn<QString>("archive");
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("source");
        QTest::newRow("scripted") << "mlp_functional.script.pt"
                                  << "cat"
                                  << "own_models.py:173";
        QTest::newRow("scripted, in a branch") << "control_flow.script.pt"
                                               << "if_1/then/tanh"
                                               << "own_models.py:203";
        QTest::newRow("scripted, in a loop") << "control_flow.script.pt"
                                             << "loop/body/mul"
                                             << "own_models.py:208";
        QTest::newRow("traced") << "mlp_functional.trace.pt"
                                << "cat"
                                << "own_models.py:173";
        QTest::newRow("traced, deeper") << "gpt_mini.trace.pt"
                                        << "softmax"
                                        << "/usr/lib/python3/dist-packages/torch/nn/functional.py:1841";
    }
    void sourcesAreKnown() {
        QFETCH(QString, archive);
        QFETCH(QString, node);
        QFETCH(QString, source);
        const DocumentPtr document = open(archive);
        QVERIFY(document);
        const NodeId id = document->graph->findNode(node.toStdString());
        QVERIFY2(id.valid(), qPrintable(node));
        QCOMPARE(QString::fromStdString(document->graph->expr(document->graph->node(id).producer).source.text()),
                 source);
    }

    /// The calls that lead there, innermost last.
    void stacksAreKnown() {
        const DocumentPtr traced = open("gpt_mini.trace.pt");
        QVERIFY(traced);
        const auto stackOf = [](const DocumentPtr& document, const char* name) {
            const NodeId node = document->graph->findNode(name);
            return node.valid() ? QString::fromStdString(
                                      document->graph->expr(document->graph->node(node).producer).source.place().stack)
                                      .split('\n')
                                : QStringList();
        };
        const QStringList stack = stackOf(traced, "softmax");
        QVERIFY(stack.size() > 3);
        QVERIFY2(stack.last().endsWith("in softmax"), qPrintable(stack.last()));
        QVERIFY(stack[stack.size() - 2].startsWith("own_models.py:"));
        const DocumentPtr scripted = open("gpt_mini.script.pt");
        QVERIFY(scripted);
        const QStringList calls = stackOf(scripted, "softmax");
        QCOMPARE(calls.last().section(" in ", 1), QStringLiteral("softmax"));
        QVERIFY2(calls.size() >= 3 && calls[calls.size() - 2].startsWith("own_models.py:115"),
                 qPrintable(calls.join('\n')));
    }

  private:
    /// These branch on the number of dimensions and loop over it: drawn for what the convolutions before them give, and
    /// asserted.
    void theInsideOfUpsampleAndGroupNormIsDrawn() {
        const struct {
            const char* model;
            const char* node;
        } expected[] = {{"unet_small", "up2_up/upsample_bilinear2d"}, {"nested_containers", "stages_0_1/group_norm"}};
        for (const auto& [model, node] : expected) {
            const DocumentPtr document = open(QString(model) + ".script.pt");
            QVERIFY(document);
            QVERIFY2(document->graph->findNode(node).valid(), node);
            for (graph::ExprId id : document->graph->main().order) QVERIFY(!document->graph->expr(id).callable);
            const Expr* assertion = findExpr(*document->graph, "_assert");
            QVERIFY(assertion);
            const exec::Recording recording = runAll(*document, QString(model) + ".npz");
            QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        }
    }

    /// What an archive keeps of the table that fx prints: names, kinds of nodes (it cannot tell methods from
    /// functions), targets of modules and attributes, originating modules, and the types of the values.
    static void compareTable(const document::Document& document, const QString& model) {
        const QStringList expected = table(model + ".fx.tsv");
        const exec::Recording recording = runAll(document, model + ".npz");
        if (recording.error) QFAIL(recording.error->text().c_str());
        const QStringList ours =
            QString::fromStdString(trace::originTable(*document.graph)).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(ours.size() - 1, expected.size());
        for (qsizetype i = 0; i < expected.size(); ++i) {
            const QStringList want = expected[i].split('\t');
            const QStringList have = ours[i + 1].split('\t');
            QCOMPARE(have[1], want[1]);
            QCOMPARE(QString(have[2]).replace("call_method", "call_function"),
                     QString(want[2]).replace("call_method", "call_function"));
            if (!want[2].startsWith("call_") || want[2] == "call_module") QCOMPARE(have[3], want[3]);
            QCOMPARE(have[4], want[4]);
            const Value* value = recording.value(document.graph->findNode(want[1].toStdString()));
            if (value && value->isTensor()) QCOMPARE(QString::fromStdString(value->typeText()), want[7]);
        }
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptGraphs)

}  // namespace tst_torchscript_graphs

#include "tst_torchscript_graphs.moc"
