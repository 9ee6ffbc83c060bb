// The built-in models against what torch.fx and torchvision say of the same models: listings, tables, types of values,
// numbers of parameters, and values with the weights of the reference archives.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/document/tracer_robust.h"
#include "core/io/inputs/inputs.h"
#include "core/io/npz/npz.h"
#include "core/trace/listing.h"
#include "core/trace/module_path_tracer.h"
#include "core/zoo/zoo.h"
#include "tests/support/reference_sets.h"

namespace tst_zoo {

using namespace sonde;

namespace {

QByteArray fileContent(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QStringList lines(const QString& path) {
    QStringList result = QString::fromUtf8(fileContent(path)).split('\n');
    if (!result.isEmpty() && result.last().isEmpty()) result.removeLast();
    return result;
}

/// A built-in model and the reference model that it is, if its settings make it so.
struct Reference {
    const char* file;   ///< NAME of NAME.fx.txt
    const char* model;  ///< as the reference was built
};
constexpr Reference kReferences[] = {
    {"resnet18", "resnet18"},
    {"resnet18_slim", "resnet18_slim"},
    {"mobilenet_v3_small", "mobilenet_v3_small?width=0.5&classes=100"},
    {"squeezenet1_1", "squeezenet1_1?width=0.5&classes=100"},
    {"shufflenet_v2_x0_5", "shufflenet_v2_x0_5?classes=100"},
    {"vit_small", "vit_small"},
    {"unet_small", "unet_small"},
    {"lstm_classifier", "lstm_classifier"},
    {"gpt_mini", "gpt_mini"},
    {"mlp_functional", "mlp_functional"},
    {"shared_twice", "shared_twice"},
    {"nested_containers", "nested_containers"},
};

void addReferences() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("model");
    for (const Reference& reference : kReferences) QTest::newRow(reference.file) << reference.file << reference.model;
}

std::shared_ptr<const document::Document> opened(const QString& model, const QString& weights = {}) {
    document::OpenOptions options;
    options.weights = weights.toStdString();
    auto document = document::open("zoo:" + model.toStdString(), options);
    if (!document) qWarning("%s", document.error().text().c_str());
    return document ? *document : nullptr;
}

/// The names of nodes in an argument list of the reference, in order: "(add, slice(None, 6, None), 'dim')" → add.
QStringList nodeNames(QString text, const QSet<QString>& known) {
    text.remove(QRegularExpression("'[^']*'"));
    QStringList result;
    auto words = QRegularExpression("[A-Za-z_][A-Za-z_0-9]*").globalMatch(text);
    while (words.hasNext()) {
        const QString word = words.next().captured();
        if (known.contains(word)) result.append(word);
    }
    return result;
}

std::vector<graph::ExprId> visibleExprs(const graph::InternalGraph& graph) { return graph.main().order; }

}  // namespace

class TestZoo : public QObject {
    Q_OBJECT

  private slots:
    void listingIsThatOfFx_data() { addReferences(); }
    /// The plain name, too, whatever its widths are.
    void listingIsThatOfFx() {
        QFETCH(QString, file);
        QFETCH(QString, model);
        const QByteArray expected = fileContent(test::referenceModels() + '/' + file + ".fx.txt");
        QVERIFY(!expected.isEmpty());
        QStringList names{model};
        if (file != "mobilenet_v3_small") names.append(file);  // at full width one block has no shortcut
        for (const QString& name : names) {
            const auto document = opened(name);
            QVERIFY(document);
            QCOMPARE(QByteArray::fromStdString(trace::originListing(*document->graph)), expected);
        }
    }

    void tableIsThatOfFx_data() { addReferences(); }
    /// index, name, op, target, module; the nodes that each reads; and the inferred types, for inputs of the same size.
    void tableIsThatOfFx() {
        QFETCH(QString, file);
        QFETCH(QString, model);
        const QStringList expected = lines(test::referenceModels() + '/' + file + ".fx.tsv");
        QVERIFY(expected.size() > 2);
        const auto document = opened(model);
        QVERIFY(document);
        const graph::InternalGraph& graph = *document->graph;
        const QStringList actual = QString::fromStdString(trace::originTable(graph)).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(actual.size(), expected.size());
        const auto exprs = visibleExprs(graph);
        QCOMPARE(exprs.size(), static_cast<std::size_t>(expected.size() - 1));

        QSet<QString> names;
        for (const QString& line : expected.mid(1)) names.insert(line.section('\t', 1, 1));
        const bool sameInput =
            QString::fromStdString(graph.node(graph.inputs().front()).type.text()) == expected[1].section('\t', 7, 7);
        for (int i = 0; i < expected.size(); ++i) {
            const QStringList cells = expected[i].split('\t');
            QCOMPARE(actual[i], cells.mid(0, 5).join('\t'));
            if (i == 0) continue;
            const graph::Expr& expr = graph.expr(exprs[static_cast<std::size_t>(i - 1)]);
            QStringList read;
            for (graph::NodeId input : expr.inputs) read.append(QString::fromStdString(graph.node(input).name));
            // An in-place operation's result is what later nodes read here; in fx they read its receiver.
            if (file != "mlp_functional") QCOMPARE(read, nodeNames(cells[5], names) + nodeNames(cells[6], names));
            const tensor::TypeInfo& type = graph.node(expr.outputs.front()).type;
            const bool known = type.isTensor() && type.staticShape() && expr.kind != graph::ExprKind::Output;
            if (sameInput && known) QCOMPARE(QString::fromStdString(type.text()), cells[7]);
        }
    }

    void weightsOfAnArchiveGiveItsValues_data() {
        QTest::addColumn<QString>("archive");
        QTest::addColumn<QString>("npz");
        QTest::addColumn<QString>("model");
        for (const Reference& reference : kReferences) {
            for (const char* form : {".trace.pt", ".script.pt"}) {
                const QString file = reference.file;
                if (file == "resnet18" && form == std::string_view(".script.pt")) continue;  // was not made
                QTest::addRow("%s%s", reference.file, form) << file + form << file + ".npz" << reference.model;
            }
        }
        QTest::newRow("control_flow") << "control_flow.script.pt"
                                      << "control_flow.npz"
                                      << "control_flow";
        QTest::newRow("robust_nested") << "robust_nested.script.pt"
                                       << "robust_nested.npz"
                                       << "robust_nested";
        QTest::newRow("state dict") << "mlp_functional.state_dict.pt"
                                    << "mlp_functional.npz"
                                    << "mlp_functional";
        QTest::newRow("state dict, old form") << "mlp_functional.legacy.pt"
                                              << "mlp_functional.npz"
                                              << "mlp_functional";
        QTest::newRow("onnx initializers") << "squeezenet1_1.onnx"
                                           << "squeezenet1_1.npz"
                                           << "squeezenet1_1?width=0.5&classes=100";
    }
    void weightsOfAnArchiveGiveItsValues() {
        QFETCH(QString, archive);
        QFETCH(QString, npz);
        QFETCH(QString, model);
        const QString folder = test::referenceModels() + '/';
        SONDE_NEEDS_SET("models", folder + archive);
        const auto document = opened(model, folder + archive);
        QVERIFY(document);
        const auto reference = io::NpzFile::open((folder + npz).toStdString());
        QVERIFY(reference);
        analysis::ComparedModel compared;
        compared.graph = document->graph;
        for (const document::NamedNode& input : document->inputs) compared.inputs.emplace_back(input.name, input.node);
        for (const document::NamedNode& output : document->outputs)
            compared.outputs.emplace_back(output.name, output.node);
        exec::Runner runner(1);
        const auto cases = analysis::compare(
            compared, {reference->keys(), [&](const std::string& key) { return reference->read(key); }}, {1e-3, 1e-4},
            runner);
        QVERIFY2(cases, cases ? "" : cases.error().text().c_str());
        QVERIFY(!cases->empty());
        for (const analysis::ComparedCase& result : *cases) {
            QVERIFY2(!result.error, result.error ? result.error->text().c_str() : "");
            if (const auto* wrong = result.firstDiverging()) {
                QFAIL(qPrintable(QString("%1: %2 differs by %3 %4")
                                     .arg(QString::fromStdString(result.label), QString::fromStdString(wrong->name))
                                     .arg(wrong->maxAbsolute)
                                     .arg(QString::fromStdString(wrong->note))));
            }
            QVERIFY(!result.values.empty());
            // The output of nested_containers is a dictionary: its entries are compared as outputs, and "mean" is one
            // of them.
            for (const std::string& key : result.unmatched)
                QVERIFY2(key.starts_with("node.output.") || key == "node.mean", key.c_str());
        }
    }

    void robustListingIsThatOfTheReference_data() {
        QTest::addColumn<QString>("model");
        for (const char* model : {"control_flow", "robust_nested"}) QTest::newRow(model) << QString(model);
    }
    void robustListingIsThatOfTheReference() {
        QFETCH(QString, model);
        document::OpenOptions options;
        options.tracer = "robust";
        const auto document = document::open("zoo:" + model.toStdString(), options);
        QVERIFY(document);
        QCOMPARE(QByteArray::fromStdString(document::collectionListing(**document)),
                 fileContent(test::referenceModels() + '/' + model + ".robust.txt"));
    }

    void examplesHaveTheNodesOfTheReference_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("tracer");
        QTest::addColumn<QString>("names");
        // clang-format off
        // Robust tracer, W1 to W4; module-path tracer, W2; custom tracer, W2 with the flag off; the rest by its naming rule.
        QTest::newRow("flag") << "flag" << "" << "x test_flag_1 eq _assert conv output";
        QTest::newRow("iterating") << "iterating" << "" << "input_1 _0 output";
        QTest::newRow("branching") << "branching" << "" << "x stem cf head output";
        QTest::newRow("keywords") << "keywords" << "" << "x mask_1 _assert_is_none scale_1 eq _assert mode_1 eq_1 _assert_1 l mul output";
        QTest::newRow("block_alias") << "block_alias" << "module-path"
                                     << "x a_lin a_w mul a_b add relu a_plain add_1 seq_0 seq_1_lin seq_1_w mul_1 seq_1_b add_2 relu_1 seq_1_plain "
                                        "add_3 a_lin_1 mul_2 a_b_1 add_4 relu_2 a_plain_1 add_5 flatten _tensor_constant0 add_6 output";
        QTest::newRow("in_place") << "in_place" << "module-path" << "x clone add_ add__1 add output";
        QTest::newRow("in_place, pure") << "in_place" << "custom" << "x clone add_ add__1 add output";
        QTest::newRow("item_assignment") << "item_assignment" << "" << "x mul setitem add output";
        QTest::newRow("slice_assignment") << "slice_assignment" << "" << "x clone getitem mul setitem add output";
        QTest::newRow("mask_assignment") << "mask_assignment" << "" << "x to setitem output";
        QTest::newRow("conditional") << "conditional" << "" << "x sum_1 gt _cb_cond_true_fn_0 _cb_cond_false_fn_0 condcc output";
        QTest::newRow("seed") << "seed" << "module-path" << "x add add_1 output";
        QTest::newRow("param_linear") << "param_linear" << "module-path" << "x param add linear relu output";
        QTest::newRow("blocks_net") << "blocks_net" << "module-path" << "x block0_conv1 block0_bn1 relu add block1_conv1 block1_bn1 relu_1 add_1 output";
        // clang-format on
    }
    void examplesHaveTheNodesOfTheReference() {
        QFETCH(QString, model);
        QFETCH(QString, tracer);
        QFETCH(QString, names);
        document::OpenOptions options;
        options.tracer = tracer.toStdString();
        const auto document = document::open("zoo:" + model.toStdString(), options);
        QVERIFY(document);
        QStringList actual;
        for (const graph::ExprId id : (*document)->graph->main().order) {
            for (const graph::NodeId node : (*document)->graph->expr(id).outputs)
                actual.append(QString::fromStdString((*document)->graph->node(node).name));
        }
        QCOMPARE(actual.join(' '), names);
    }

    /// l(x) · scale with its default 2, and no mask: l(x) is what the node `l` has.
    void defaultsOfParametersAreTaken_data() {
        QTest::addColumn<QString>("tracer");
        for (const char* tracer : {"", "module-path", "traced-module", "robust", "custom"})
            QTest::newRow(tracer) << tracer;
    }
    void defaultsOfParametersAreTaken() {
        QFETCH(QString, tracer);
        document::OpenOptions options;
        options.tracer = tracer.toStdString();
        const auto opened = document::open("zoo:keywords", options);
        QVERIFY2(opened, opened ? "" : opened.error().text().c_str());
        const document::Document& document = **opened;
        std::vector<tensor::Value> inputs(document.graph->inputs().size());
        inputs.front() = tensor::Tensor::of<float>({2, 4}, {0, 1, -2, 3, 4, 5, 6, 7});
        const auto l = document.findNode("l:");
        QVERIFY2(l, l ? "" : l.error().text().c_str());
        exec::Runner runner(1);
        const exec::Recording recording =
            runner.run(*exec::Plan::make(document.graph, {.watch = {*l}}).value(), inputs);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const tensor::Tensor& layer = recording.value(*l)->tensor();
        const tensor::Tensor& result = recording.outputs.front().tensor();
        for (std::int64_t i = 0; i < 8; ++i) QCOMPARE(result.toDouble(i), 2 * layer.toDouble(i));
    }

    /// By hand.
    void examplesHaveTheirValues_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QList<float>>("x");
        QTest::addColumn<QList<float>>("y");
        const QList<float> x{0, 1, -2, 3, 4, 5, 6, 7};
        QTest::newRow("item_assignment") << "item_assignment" << x << QList<float>{6, 6, 6, 6, 9, 11, 13, 15};
        QTest::newRow("slice_assignment") << "slice_assignment" << x << QList<float>{3, 5, 1, 6, 11, 13, 9, 10};
        QTest::newRow("mask_assignment") << "mask_assignment" << x << QList<float>{0, 2, 2, 2, 2, 2, 2, 2};
        QTest::newRow("conditional") << "conditional" << x << QList<float>{0, 2, -4, 6, 8, 10, 12, 14};
        QTest::newRow("conditional, other branch")
            << "conditional" << QList<float>{0, -1, 0, 0, 0, 0, 0, 0} << QList<float>{0, 1, 0, 0, 0, 0, 0, 0};
        QTest::newRow("in_place") << "in_place" << x << QList<float>{10, 11, 8, 13, 14, 15, 16, 17};
        QTest::newRow("seed") << "seed" << QList<float>{4} << QList<float>{7};
    }
    void examplesHaveTheirValues() {
        QFETCH(QString, model);
        QFETCH(QList<float>, x);
        QFETCH(QList<float>, y);
        const auto document = opened(model);
        QVERIFY(document);
        const tensor::Shape shape = zoo::find(model.toStdString())->inputs.front().type.staticShape().value();
        const std::vector<tensor::Value> inputs{
            tensor::Tensor::of<float>(shape, std::vector<float>(x.begin(), x.end()))};
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(*exec::Plan::make(document->graph, {}).value(), inputs);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const std::span<const float> actual = recording.outputs.front().tensor().span<float>();
        QCOMPARE(QList<float>(actual.begin(), actual.end()), y);
    }

    void numbersOfParameters_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<qint64>("parameters");
        // torchvision's documentation of its weights (num_params); GPT-2 and BERT: their model cards' files.
        const std::pair<const char*, qint64> published[] = {
            {"resnet18", 11689512},
            {"resnet34", 21797672},
            {"resnet50", 25557032},
            {"mobilenet_v2", 3504872},
            {"mobilenet_v3_small", 2542856},
            {"squeezenet1_1", 1235496},
            {"densenet121", 7978856},
            {"vgg11", 132863336},
            {"shufflenet_v2_x0_5", 1366792},
            {"vit_b_16", 86567656},
            {"gpt2", 124439808},
            {"bert_base", 109482240},
            // small models of the reference set, counted in PyTorch
            {"resnet18_slim", 714996},
            {"vit_small", 114698},
            {"unet_small", 119659},
            {"lstm_classifier", 19077},
            {"gpt_mini", 62784},
            {"mlp_functional", 496},
            {"control_flow", 144},
            {"robust_nested", 1060},
            {"shared_twice", 336},
            {"nested_containers", 1581},
            {"mobilenet_v3_small?width=0.5&classes=100", 455564},
            {"squeezenet1_1?width=0.5&classes=100", 207492},
            {"shufflenet_v2_x0_5?classes=100", 444292},
        };
        for (const auto& [model, parameters] : published) QTest::newRow(model) << model << parameters;
    }
    void numbersOfParameters() {
        QFETCH(QString, model);
        QFETCH(qint64, parameters);
        const auto module = zoo::makeModel(model.toStdString());
        QVERIFY(module);
        std::set<const trace::Slot*> seen;
        qint64 count = 0;
        for (const trace::NamedTensor& named : trace::namedTensors(**module)) {
            if (named.slot->kind == trace::Slot::Kind::Parameter && seen.insert(named.slot.get()).second)
                count += named.slot->value.numel();
        }
        QCOMPARE(count, parameters);
    }

    /// A description does not contradict the settings.
    void descriptionsFollowTheSettings() {
        const auto text = [](const std::string& name) {
            const auto description = zoo::describe(name);
            return description ? *description : description.error().what;
        };
        QCOMPARE(text("bert_base"),
                 std::string("BERT encoder of base size: 12 layers of width 768, 109.5 million parameters"));
        QCOMPARE(text("bert_base?layers=12"), text("bert_base"));
        QCOMPARE(text("bert_base?layers=1"),
                 std::string("BERT encoder: layers 1, heads 12, dim 768, vocab 30522, positions 512"));
        QCOMPARE(text("resnet18_slim?width=0.5"), std::string("ResNet-18: classes 100, width 0.5"));
        for (const zoo::ModelEntry& entry : zoo::models()) {
            for (const zoo::Setting& setting : entry.settings) {
                const double other = setting.value == setting.most ? setting.least : setting.most;
                const std::string value = QString::number(other, 'g', 10).toStdString();
                const std::string changed =
                    text(std::string(entry.name) + '?' + std::string(setting.name) + '=' + value);
                QVERIFY2(changed.find(std::string(setting.name) + ' ' + value) != std::string::npos, changed.c_str());
                QVERIFY2(!entry.family.empty() && changed.starts_with(entry.family), changed.c_str());
                QVERIFY2(changed.find("parameters") == std::string::npos, changed.c_str());
            }
        }
        const auto document = opened(QStringLiteral("bert_base?layers=1&dim=24&heads=2&vocab=50"));
        QVERIFY(document && document->properties.front().second.starts_with("BERT encoder: layers 1, heads 2, dim 24"));
    }

    void everyModelRuns_data() {
        QTest::addColumn<QString>("model");
        for (const zoo::ModelEntry& entry : zoo::models())
            QTest::newRow(std::string(entry.name).c_str())
                << QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size()));
        // The inputs follow the settings.
        for (const char* chosen :
             {"vit_b_16?image=64&layers=1&dim=64&heads=4&mlp=64", "bert_base?positions=16&layers=1&dim=64&heads=4"}) {
            QTest::newRow(chosen) << chosen;
        }
    }
    void everyModelRuns() {
        QFETCH(QString, model);
        const zoo::ModelEntry& entry = *zoo::find(model.toStdString());
        QVERIFY(!entry.description.empty() && !entry.inputs.empty());
        const auto document = opened(model);
        QVERIFY(document);
        QVERIFY(document->graph->validate());
        QCOMPARE(document->inputs.size(), entry.inputs.size());
        std::vector<io::InputInfo> inputs;
        for (const graph::NodeId input : document->graph->inputs()) {
            inputs.push_back({document->graph->node(input).name, document->graph->node(input).type});
        }
        const auto made =
            io::makeInputs("", {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(entry.inputs.size())});
        QVERIFY2(made, made ? "" : made.error().text().c_str());
        std::vector<tensor::Value> values = made->front().values;
        for (std::size_t i = values.size(); i < inputs.size(); ++i) {
            const graph::Expr& input =
                document->graph->expr(document->graph->node(document->graph->inputs()[i]).producer);
            values.push_back(input.arguments.front().constant);  // its default
        }
        const auto plan = exec::Plan::make(document->graph, {});
        QVERIFY(plan);
        exec::Runner runner(2);
        const exec::Recording recording = runner.run(**plan, values);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
    }

    void unknownModelNamesTheNearest() {
        const auto module = zoo::makeModel("resnet81?classes=3");
        QVERIFY(!module);
        QVERIFY(module.error().what.ends_with("'resnet81'"));
        QVERIFY2(module.error().hint.find("resnet18") != std::string::npos, module.error().hint.c_str());
        QVERIFY(!zoo::makeModel("something_else_entirely").error().hint.empty());
    }

    void settingsAreChecked_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("what");
        QTest::newRow("unknown") << "resnet18?depth=3"
                                 << "no setting 'depth'";
        QTest::newRow("no number") << "resnet18?classes=many"
                                   << "'many' is not a value of the setting 'classes'";
        QTest::newRow("not whole") << "resnet18?classes=2.5"
                                   << "'2.5'";
        QTest::newRow("out of range") << "resnet18?width=1e9"
                                      << "'1e9'";
        QTest::newRow("not a number") << "resnet18?width=nan"
                                      << "'nan'";
        QTest::newRow("no value") << "resnet18?width"
                                  << "''";
        QTest::newRow("none there") << "seed?classes=3"
                                    << "no setting 'classes'";
        QTest::newRow("heads") << "gpt_mini?heads=5"
                               << "dim (48) is not divisible by heads (5)";
        QTest::newRow("patches") << "vit_small?patch=7"
                                 << "image (32) is not divisible by patch (7)";
    }
    void settingsAreChecked() {
        QFETCH(QString, model);
        QFETCH(QString, what);
        const auto module = zoo::makeModel(model.toStdString());
        QVERIFY(!module);
        QVERIFY2(QString::fromStdString(module.error().text()).contains(what), module.error().text().c_str());
        QVERIFY(module.error().where.starts_with("zoo:"));
    }

    void weightsThatDoNotFitAreListed() {
        QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("weights.npz").toStdString();
        const auto write = [&path](std::vector<io::NamedTensor> arrays) { QVERIFY(io::writeNpz(path, arrays)); };
        const auto open = [&path] {
            document::OpenOptions options;
            options.weights = path.string();
            return document::open("zoo:branching", options);
        };
        const tensor::Tensor weight = tensor::Tensor::zeros(tensor::DType::Float32, tensor::Shape{4, 4}).value();
        const tensor::Tensor bias = tensor::Tensor::zeros(tensor::DType::Float32, tensor::Shape{4}).value();
        std::vector<io::NamedTensor> all;
        for (const char* module : {"stem", "cf.a", "cf.b.0", "head", "unused"}) {
            all.emplace_back(std::string(module) + ".weight", weight);
            all.emplace_back(std::string(module) + ".bias", bias);
        }
        write(all);
        QVERIFY(open());

        all[0].first = "trunk.weight";
        all[3].second = weight;
        write(all);
        const auto failed = open();
        QVERIFY(!failed);
        QCOMPARE(failed.error().kind, base::ErrorKind::Unreadable);
        const QString what = QString::fromStdString(failed.error().what);
        QVERIFY2(what.contains("missing: stem.weight; unexpected: trunk.weight"), qPrintable(what));
        QVERIFY2(what.contains("cf.a.bias is float32[4] in the model and float32[4,4] in the file"), qPrintable(what));
    }

    /// Cut short or with a byte changed: an error or other numbers, never a crash.
    void damagedStateDicts_data() {
        QTest::addColumn<QString>("file");
        QTest::newRow("zip") << "mlp_functional.state_dict.pt";
        QTest::newRow("old form") << "mlp_functional.legacy.pt";
    }
    void damagedStateDicts() {
        QFETCH(QString, file);
        QTemporaryDir folder;
        const QByteArray whole = fileContent(test::referenceModels() + '/' + file);
        QVERIFY(!whole.isEmpty());
        const QString path = folder.filePath("weights.pt");
        const auto tryIt = [&path](const QByteArray& content) {
            QFile out(path);
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(content);
            out.close();
            document::OpenOptions options;
            options.weights = path.toStdString();
            const auto opened = document::open("zoo:mlp_functional", options);
            if (!opened) QVERIFY(!opened.error().what.empty());
        };
        for (qsizetype size = 0; size < whole.size(); size += 41) tryIt(whole.first(size));
        for (qsizetype at = 0; at < whole.size(); at += 13) {
            QByteArray changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ 0x55);
            tryIt(changed);
        }
    }

    void weightsAreForBuiltInModels() {
        document::OpenOptions options;
        options.weights = "weights.npz";
        const auto failed = document::open((test::referenceModels() + "/gpt_mini.onnx").toStdString(), options);
        QVERIFY(!failed);
        QCOMPARE(failed.error().kind, base::ErrorKind::Usage);
    }

    void helpPageNamesEveryModel() {
        const QByteArray page = fileContent(QStringLiteral(SONDE_SOURCE_DIR "/resources/help/models.md"));
        for (const zoo::ModelEntry& model : zoo::models()) {
            QVERIFY2(
                page.contains('`' + QByteArray(model.name.data(), static_cast<qsizetype>(model.name.size())) + '`'),
                std::string(model.name).c_str());
        }
    }

    /// A decoder's token sees those before it alone; a masked token of the encoder is seen by nobody.
    void attentionIsMasked_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<bool>("causal");
        QTest::newRow("gpt2") << "gpt2?layers=2&heads=2&dim=16&vocab=50&positions=16" << true;
        QTest::newRow("gpt_mini") << "gpt_mini" << true;
        QTest::newRow("bert_base") << "bert_base?layers=2&heads=2&dim=16&vocab=50&positions=16" << false;
    }
    void attentionIsMasked() {
        QFETCH(QString, model);
        QFETCH(bool, causal);
        const auto document = opened(model);
        QVERIFY(document);
        using tensor::Tensor;
        const auto output = [&](std::int64_t last, std::int64_t seen) {
            std::vector<tensor::Value> values{Tensor::of<std::int64_t>({1, 5}, {3, 1, 4, 1, last})};
            if (!causal) values.emplace_back(Tensor::of<std::int64_t>({1, 5}, {1, 1, 1, 1, seen}));
            exec::Runner runner(1);
            const auto plan = exec::Plan::make(document->graph, {}).value();
            return runner.run(*plan, values).outputs.front().tensor().sliced(1, 0, 4).contiguous().value();
        };
        QVERIFY(tensor::identical(output(5, 0), output(9, 0)));
        if (!causal) QVERIFY(!tensor::identical(output(5, 1), output(9, 1)));
        const Tensor y = output(5, 0);
        for (std::int64_t i = 0; i < y.numel(); ++i) QVERIFY(std::isfinite(y.toDouble(i)));
        QVERIFY(y.toDouble(0) != y.toDouble(1));
    }

    /// A parameter's numbers depend on the seed and its name alone, small or large.
    void weightsFollowTheSeed() {
        const auto weight = [](const char* model, std::uint64_t seed, const char* path) {
            const auto module = zoo::makeModel(model, seed).value();
            for (const trace::NamedTensor& named : trace::namedTensors(*module)) {
                if (named.path == path) return named.slot->value;
            }
            return tensor::Tensor();
        };
        for (const char* path : {"fc.weight", "conv1.weight"}) {
            const tensor::Tensor first = weight("resnet18", 1, path);
            QVERIFY(tensor::identical(first, weight("resnet18", 1, path)));
            QVERIFY(!tensor::identical(first, weight("resnet18", 2, path)));
            double largest = 0;
            for (const float value : first.span<float>())
                largest = std::max(largest, std::abs(static_cast<double>(value)));
            QVERIFY(largest > 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestZoo)

}  // namespace tst_zoo

#include "tst_zoo.moc"
