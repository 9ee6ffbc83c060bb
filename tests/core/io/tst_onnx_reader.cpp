// What the ONNX reader makes of files: real ones of tests/data, and small ones that are written here field by field.

#include <QTemporaryDir>
#include <QtTest>

#include <cstring>

#include "core/io/onnx/onnx_reader.h"
#include "tests/support/onnx_file.h"

namespace tst_onnx_reader {

using namespace sonde;
using namespace sonde::test::onnxfile;
using graph::Expr;
using graph::ExprKind;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;

class TestOnnxReader : public QObject {
    Q_OBJECT

  private slots:
    void readsAnExportedModel();
    void weightsLieInTheFile();
    void constantNodesHaveValues();
    void namesAreUniqueInBodies();
    void unsortedNodesAreSorted();
    void functionsAreUnfoldedWhereTheyAreCalled();
    void omittedInputsAndOutputsKeepTheirPlace();
    void everyDtypeIsRead_data();
    void everyDtypeIsRead();
    void externalDataIsRead();
    void sparseInitializersBecomeDense();
    void dynamoMetadataGivesModules();
    void slashPathsOfOthersGiveModules();
    void brokenModelsAreErrors_data();
    void brokenModelsAreErrors();
    void cutAndFlippedFilesAreErrorsOrModels();

  private:
    base::Result<io::OnnxModel> readFile(const QString& path) {
        auto file = base::MappedFile::open(path.toStdString());
        if (!file) return file.error();
        return io::readOnnx(*file);
    }
    base::Result<io::OnnxModel> read(const std::string& bytes) {
        const QString path = m_folder.filePath("model.onnx");
        if (!write(path, bytes)) return base::runError("cannot write");
        return readFile(path);
    }
    static const Expr& producer(const graph::InternalGraph& graph, const char* node) {
        return graph.expr(graph.node(graph.findNode(node)).producer);
    }
    static QString data(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + name; }

    QTemporaryDir m_folder;
};

void TestOnnxReader::readsAnExportedModel() {
    const auto model = readFile(data("resnet18_slim.onnx"));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const graph::InternalGraph& graph = model->graph;
    QVERIFY(graph.validate().has_value());
    // Written by torch.onnx.export: 49 nodes, dynamic batch, input x float32[N,3,64,64].
    std::size_t operations = 0;
    std::size_t parameters = 0;
    for (graph::ExprId id : graph.main().order) {
        const Expr& expr = graph.expr(id);
        operations += expr.kind == ExprKind::Apply ? 1 : 0;
        parameters += expr.isParameter ? 1 : 0;
    }
    QCOMPARE(operations, std::size_t{49});
    QCOMPARE(graph.inputs().size(), std::size_t{1});
    QCOMPARE(graph.node(graph.inputs()[0]).name, std::string("x"));
    const tensor::TypeInfo& type = graph.node(graph.inputs()[0]).type;
    QCOMPARE(type.dtype, DType::Float32);
    QVERIFY(!(*type.shape)[0].known());
    QCOMPARE((*type.shape)[3].value, std::int64_t{64});
    QCOMPARE(graph.node(graph.outputs()[0]).name, std::string("y"));
    const Expr& conv = producer(graph, "/layer1/layer1.0/conv1/Conv_output_0");
    QCOMPARE(conv.op.name, std::string("Conv"));
    QCOMPARE(conv.op.version, 16);
    QCOMPARE(conv.name, std::string("/layer1/layer1.0/conv1/Conv"));
    QCOMPARE(conv.qualname.value(), std::string("layer1.0.conv1"));
    QCOMPARE(conv.attributes.getInts("kernel_shape"), (std::vector<std::int64_t>{3, 3}));
    // 21 convolutions with folded batch norms have weight and bias, fc has both too: 20 + 1 convolutions in ResNet-18.
    QCOMPARE(parameters, std::size_t{2 * 20 + 2});
    const auto relu = producer(graph, "/layer1/layer1.0/relu_1/Relu_output_0");
    QCOMPARE(relu.qualname.value(), std::string("layer1.0.relu"));
    QCOMPARE(graph.scope(relu.scope).call, 1);
    QVERIFY(model->modules.find("layer4.1.conv2").has_value());
}

void TestOnnxReader::weightsLieInTheFile() {
    const auto file = base::MappedFile::open(data("resnet18_slim.onnx").toStdString());
    const auto model = io::readOnnx(*file);
    QVERIFY(model.has_value());
    std::size_t inPlace = 0;
    std::size_t copied = 0;
    for (std::size_t i = 0; i < model->graph.nodeCount(); ++i) {
        const auto& constant = model->graph.node(NodeId(i)).constant;
        if (!constant || !constant->isTensor()) continue;
        const std::byte* at = constant->tensor().bytes();
        const std::byte* begin = (*file)->bytes().data();
        const bool inside = at >= begin && at < begin + (*file)->sizeBytes();
        QCOMPARE(reinterpret_cast<std::uintptr_t>(at) % 4, std::uintptr_t{0});
        (inside ? inPlace : copied) += 1;
    }
    QVERIFY(inPlace + copied > 0);
    QVERIFY2(inPlace > 0, "no weight was used in place");
}

void TestOnnxReader::constantNodesHaveValues() {
    // The weights are Constant nodes; there are no initializers.
    const auto model =
        readFile(QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/ch_ppocr_mobile_v2.0_cls_infer.onnx"));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    std::size_t constants = 0;
    for (graph::ExprId id : model->graph.main().order) {
        const Expr& expr = model->graph.expr(id);
        QVERIFY(!expr.isParameter);
        if (expr.op.name != "Constant") continue;
        QVERIFY(model->graph.node(expr.outputs[0]).constant.has_value());
        QVERIFY(expr.attributes.has("value"));
        ++constants;
    }
    QVERIFY(constants > 50);
    QCOMPARE(model->graph.inputs().size(), std::size_t{1});
}

void TestOnnxReader::namesAreUniqueInBodies() {
    Graph branch{{{"Relu", {"x"}, {"inner"}}}, {}, {valueInfo("inner", 1, {2})}};
    Graph other{{{"Neg", {"x"}, {"inner"}}}, {}, {valueInfo("inner", 1, {2})}};
    const auto model = read(test::onnxfile::model(
        {{{"If",
           {"c"},
           {"y"},
           "choose",
           "",
           {graphAttribute("then_branch", branch.bytes()), graphAttribute("else_branch", other.bytes())}}},
         {valueInfo("c", 9, {}), valueInfo("x", 1, {2})},
         {valueInfo("y", 1, {2})}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const Expr& choose = producer(model->graph, "y");
    QCOMPARE(choose.bodies.size(), std::size_t{2});
    QCOMPARE(model->graph.body(choose.bodies[0]).label, std::string("then_branch"));
    QVERIFY(model->graph.findNode("inner").valid());
    QVERIFY(model->graph.findNode("inner~2").valid());
    // Captured values are the outer nodes themselves.
    QCOMPARE(producer(model->graph, "inner~2").inputs[0], model->graph.findNode("x"));
}

void TestOnnxReader::unsortedNodesAreSorted() {
    const auto model =
        read(test::onnxfile::model({{{"Neg", {"b"}, {"c"}}, {"Abs", {"x"}, {"a"}}, {"Relu", {"a"}, {"b"}}},
                                    {valueInfo("x", 1, {2})},
                                    {valueInfo("c", 1, {2})}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    std::vector<std::string> order;
    for (graph::ExprId id : model->graph.main().order) {
        if (model->graph.expr(id).kind == ExprKind::Apply) order.push_back(model->graph.expr(id).op.name);
    }
    QCOMPARE(order, (std::vector<std::string>{"Abs", "Relu", "Neg"}));
    QCOMPARE(model->diagnostics.size(), std::size_t{1});
}

void TestOnnxReader::functionsAreUnfoldedWhereTheyAreCalled() {
    const Function scale{
        "Scale",
        "own",
        {"a", "b"},
        {"r"},
        {{"Mul", {"a", "b"}, {"m"}}, {"Softmax", {"m"}, {"r"}, "", "", {referenceAttribute("axis", "which", 2)}}},
        {"which"}};
    const auto model =
        read(test::onnxfile::model({{{"Scale", {"x", "w"}, {"y"}, "first", "own", {intAttribute("which", 1)}},
                                     {"Scale", {"y", "w"}, {"z"}, "second", "own", {}}},
                                    {valueInfo("x", 1, {2, 2})},
                                    {valueInfo("z", 1, {2, 2})},
                                    {rawTensor("w", 1, {1}, std::string(4, '\0'))}},
                                   {scale}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const Expr& first = producer(model->graph, "y");
    QCOMPARE(first.op.name, std::string("Softmax"));
    QCOMPARE(first.attributes.getInt("axis", -5), std::int64_t{1});
    QVERIFY(!producer(model->graph, "z").attributes.has("axis"));
    QCOMPARE(model->graph.scope(first.scope).qualname, std::string("first"));
    QCOMPARE(model->graph.scope(first.scope).moduleClass, std::string("Scale"));
    QVERIFY(model->graph.findNode("first/m").valid());
    QVERIFY(model->graph.findNode("second/m").valid());
}

void TestOnnxReader::omittedInputsAndOutputsKeepTheirPlace() {
    const auto model =
        read(test::onnxfile::model({{{"Clip", {"x", "", "x"}, {"y"}}, {"Three", {"x"}, {"a", "", "b"}, "t"}},
                                    {valueInfo("x", 1, {})},
                                    {valueInfo("y", 1, {}), valueInfo("b", 1, {})}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const Expr& clip = producer(model->graph, "y");
    QCOMPARE(clip.arguments.size(), std::size_t{3});
    QCOMPARE(clip.arguments[1].kind, graph::Argument::Kind::Omitted);
    QCOMPARE(model->graph.node(model->graph.findNode("b")).outputIndex, std::size_t{2});
}

void TestOnnxReader::everyDtypeIsRead_data() {
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QByteArray>("raw");
    QTest::addColumn<QList<double>>("values");
    QTest::newRow("float32") << 1 << QByteArray("\0\0\x80\x3f\0\0\0\xc0", 8) << QList<double>{1, -2};
    QTest::newRow("uint8") << 2 << QByteArray("\xff\x01", 2) << QList<double>{255, 1};
    QTest::newRow("int8") << 3 << QByteArray("\xff\x01", 2) << QList<double>{-1, 1};
    QTest::newRow("int16") << 5 << QByteArray("\xfe\xff\x02\0", 4) << QList<double>{-2, 2};
    QTest::newRow("int64") << 7 << QByteArray("\xff\xff\xff\xff\xff\xff\xff\xff\5\0\0\0\0\0\0\0", 16)
                           << QList<double>{-1, 5};
    QTest::newRow("bool") << 9 << QByteArray("\1\0", 2) << QList<double>{1, 0};
    QTest::newRow("float16") << 10 << QByteArray("\0\x3c\0\xc0", 4) << QList<double>{1, -2};
    QTest::newRow("bfloat16") << 16 << QByteArray("\x80\x3f\0\xc0", 4) << QList<double>{1, -2};
    QTest::newRow("uint4") << 21 << QByteArray("\xa3", 1) << QList<double>{3, 10};  // lower half first
    QTest::newRow("int4") << 22 << QByteArray("\xf3", 1) << QList<double>{3, -1};
}

void TestOnnxReader::everyDtypeIsRead() {
    QFETCH(int, dtype);
    QFETCH(QByteArray, raw);
    QFETCH(QList<double>, values);
    const auto model = read(test::onnxfile::model({{{"Identity", {"w"}, {"y"}}},
                                                   {},
                                                   {valueInfo("y", dtype, {2})},
                                                   {rawTensor("w", dtype, {2}, raw.toStdString())}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const tensor::Tensor& w = model->graph.node(model->graph.findNode("w")).constant->tensor();
    QCOMPARE(int(w.dtype()), dtype);
    for (int i = 0; i < 2; ++i) QCOMPARE(w.toDouble(i), values[i]);
}

void TestOnnxReader::externalDataIsRead() {
    const auto file = [](const Pairs& external) {
        return test::onnxfile::model(
            {{{"Identity", {"w"}, {"y"}}}, {}, {valueInfo("y", 1, {2})}, {externalTensor("w", {2}, external)}});
    };
    QVERIFY(write(m_folder.filePath("weights.bin"), std::string("skip\0\0\x80\x3f\0\0\0\xc0", 12)));
    const auto model = read(file({{"location", "weights.bin"}, {"offset", "4"}, {"length", "8"}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const tensor::Tensor& w = model->graph.node(model->graph.findNode("w")).constant->tensor();
    QCOMPARE(w.toDouble(0), 1.0);
    QCOMPARE(w.toDouble(1), -2.0);

    const auto refused = [&](const Pairs& external) {
        const auto broken = read(file(external));
        return !broken && broken.error().exitStatus() == 3 &&
               QString::fromStdString(broken.error().where).contains("'w'");
    };
    QVERIFY(refused({{"location", "../weights.bin"}, {"length", "8"}}));
    QVERIFY(refused({{"location", "/etc/passwd"}, {"length", "8"}}));
    QVERIFY(refused({{"location", "weights.bin"}, {"offset", "8"}, {"length", "8"}}));
    QVERIFY(refused({{"location", "weights.bin"}, {"offset", "99999999999999999999"}}));
    QVERIFY(refused({{"location", "weights.bin"}, {"offset", "4"}, {"length", "4"}}));
    QVERIFY(refused({{"location", "nothing.bin"}, {"length", "8"}}));
    QVERIFY(QFile::link("/etc/hostname", m_folder.filePath("link.bin")));
    QVERIFY(refused({{"location", "link.bin"}, {"length", "8"}}));
}

void TestOnnxReader::sparseInitializersBecomeDense() {
    std::string sparse;
    protozero::pbf_writer writer(sparse);
    writer.add_message(1, rawTensor("w", 1, {2}, std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
    writer.add_message(2, rawTensor("", 7, {2}, std::string("\1\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0", 16)));
    writer.add_int64(3, 2);
    writer.add_int64(3, 3);
    Graph graph{{{"Identity", {"w"}, {"y"}}}, {}, {valueInfo("y", 1, {2, 3})}};
    graph.sparse = {sparse};
    const auto model = read(test::onnxfile::model(graph));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const tensor::Tensor& w = model->graph.node(model->graph.findNode("w")).constant->tensor();
    QCOMPARE(w.shape(), (Shape{2, 3}));
    const double expected[] = {0, 1, 0, 0, 0, -2};
    for (int i = 0; i < 6; ++i) QCOMPARE(w.toDouble(i), expected[i]);
}

void TestOnnxReader::dynamoMetadataGivesModules() {
    const auto metadata = [](const char* scopes, const char* classes) {
        return Pairs{
            {"pkg.torch.onnx.name_scopes", scopes},
            {"pkg.torch.onnx.class_hierarchy", classes},
            {"pkg.torch.onnx.stack_trace",
             "File \"/a/net.py\", line 12, in forward\n    x = self.conv(x)\nFile \"/b/conv.py\", line 463, in forward\n    y"}};
    };
    const auto model = read(test::onnxfile::model(
        {{{"Relu",
           {"x"},
           {"a"},
           "node_relu",
           "",
           {},
           metadata(
               "['', 'layer1', 'layer1.0', 'relu']",
               "['Net', 'torch.nn.modules.container.Sequential', 'torch.nn.modules.activation.ReLU', 'aten.relu.default']")},
          {"Relu",
           {"a"},
           {"b"},
           "node_relu_1",
           "",
           {},
           metadata(
               "['', 'layer1', 'layer1.0@1', 'relu_1']",
               "['Net', 'torch.nn.modules.container.Sequential', 'torch.nn.modules.activation.ReLU', 'aten.relu.default']")}},
         {valueInfo("x", 1, {2})},
         {valueInfo("b", 1, {2})}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    const Expr& first = producer(model->graph, "a");
    const Expr& second = producer(model->graph, "b");
    QCOMPARE(first.qualname.value(), std::string("layer1.0"));
    QCOMPARE(first.moduleClass, std::string("torch.nn.modules.activation.ReLU"));
    QCOMPARE(second.qualname.value(), std::string("layer1.0"));
    QCOMPARE(model->graph.scope(second.scope).call, 1);
    QVERIFY(first.scope != second.scope);
    QCOMPARE(model->graph.scope(first.scope).parent, model->graph.scope(second.scope).parent);
    QCOMPARE(first.source.place().file, std::string("/b/conv.py"));
    QCOMPARE(first.source.place().line, 463);
    QCOMPARE(model->modules.module(0).moduleClass, std::string("Net"));
}

void TestOnnxReader::slashPathsOfOthersGiveModules() {
    const auto model =
        read(test::onnxfile::model({{{"MatMul", {"x", "model/dense_1/kernel:0"}, {"a"}, "model/dense_1/MatMul"},
                                     {"Relu", {"a"}, {"b"}, "Relu__7"}},
                                    {valueInfo("x", 1, {1})},
                                    {valueInfo("b", 1, {1})},
                                    {rawTensor("model/dense_1/kernel:0", 1, {1}, std::string(4, '\0'))}}));
    QVERIFY2(model.has_value(), model ? "" : model.error().text().c_str());
    QCOMPARE(producer(model->graph, "a").qualname.value(), std::string("model.dense_1"));
    QCOMPARE(producer(model->graph, "b").qualname.value(), std::string(""));
    QCOMPARE(model->modules.module(*model->modules.find("model.dense_1")).parameters.size(), std::size_t{1});
}

void TestOnnxReader::brokenModelsAreErrors_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const std::vector<std::string> x{valueInfo("x", 1, {2})};
    const auto row = [](const char* name, const Graph& graph, const char* says,
                        const std::vector<Function>& functions = {}) {
        QTest::newRow(name) << QByteArray::fromStdString(test::onnxfile::model(graph, functions)) << says;
    };
    row("cycle", {{{"Relu", {"b"}, {"a"}, "one"}, {"Relu", {"a"}, {"b"}, "two"}}, x, {valueInfo("b", 1, {2})}},
        "cycle");
    row("reads itself", {{{"Relu", {"a"}, {"a"}, "one"}}, x, {valueInfo("a", 1, {2})}}, "cycle");
    row("two make one", {{{"Relu", {"x"}, {"a"}, "one"}, {"Neg", {"x"}, {"a"}, "two"}}, x, {valueInfo("a", 1, {2})}},
        "two nodes produce 'a'");
    row("makes an input", {{{"Relu", {"x"}, {"x"}, "one"}}, x, {valueInfo("x", 1, {2})}}, "cycle");
    row("missing input", {{{"Relu", {"nowhere"}, {"a"}, "one"}}, x, {valueInfo("a", 1, {2})}}, "'nowhere'");
    row("missing output", {{{"Relu", {"x"}, {"a"}}}, x, {valueInfo("b", 1, {2})}}, "output 'b'");
    row("two inputs", {{{"Relu", {"x"}, {"a"}}}, {x[0], x[0]}, {valueInfo("a", 1, {2})}}, "two inputs");
    row("no operator", {{{"", {"x"}, {"a"}, "one"}}, x, {valueInfo("a", 1, {2})}}, "no operator");
    row("too little data",
        {{{"Relu", {"w"}, {"a"}}}, {}, {valueInfo("a", 1, {2})}, {rawTensor("w", 1, {1000, 1000, 1000}, "1234")}},
        "4 bytes");
    row("impossible shape",
        {{{"Relu", {"w"}, {"a"}}}, {}, {valueInfo("a", 1, {2})}, {rawTensor("w", 1, {1ll << 40, 1ll << 40}, "1234")}},
        "shape");
    row("negative shape", {{{"Relu", {"w"}, {"a"}}}, {}, {valueInfo("a", 1, {2})}, {rawTensor("w", 1, {-1}, "1234")}},
        "shape");
    row("unknown dtype", {{{"Relu", {"w"}, {"a"}}}, {}, {valueInfo("a", 1, {2})}, {rawTensor("w", 77, {1}, "1234")}},
        "type 77");
    row("function calls itself", {{{"F", {"x"}, {"a"}, "", "own"}}, x, {valueInfo("a", 1, {2})}}, "calls itself",
        {{"F", "own", {"i"}, {"o"}, {{"F", {"i"}, {"o"}, "", "own"}}}});
    // Each of these functions calls the one before twice: 2^70 nodes.
    std::vector<Function> laughs{{"L0", "own", {"i"}, {"o"}, {{"Relu", {"i"}, {"o"}}}}};
    for (int i = 1; i < 50; ++i) {
        const std::string before = "L" + std::to_string(i - 1);
        laughs.push_back({"L" + std::to_string(i),
                          "own",
                          {"i"},
                          {"o"},
                          {{before, {"i"}, {"m"}, "", "own"}, {before, {"m"}, {"o"}, "", "own"}}});
    }
    row("billion laughs", {{{"L49", {"x"}, {"a"}, "", "own"}}, x, {valueInfo("a", 1, {2})}}, "expand to more", laughs);
    Graph deep{{{"Relu", {"x"}, {"y"}}}, {}, {valueInfo("y", 1, {2})}};
    for (int i = 0; i < 100; ++i)
        deep = {{{"If", {"x"}, {"y"}, "", "", {graphAttribute("then_branch", deep.bytes())}}},
                {},
                {valueInfo("y", 1, {2})}};
    deep.inputs = x;
    row("deep", deep, "deep");
}

void TestOnnxReader::brokenModelsAreErrors() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    const auto model = read(bytes.toStdString());
    QVERIFY(!model);
    QCOMPARE(model.error().exitStatus(), 3);
    QVERIFY2(QString::fromStdString(model.error().text()).contains(says), model.error().text().c_str());
    QVERIFY(QString::fromStdString(model.error().where).contains("model.onnx"));
}

void TestOnnxReader::cutAndFlippedFilesAreErrorsOrModels() {
    QFile file(data("control_flow.onnx"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const std::string bytes = file.readAll().toStdString();
    std::size_t errors = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 37) {
        const auto model = read(bytes.substr(0, i));
        if (model) continue;
        QCOMPARE(model.error().exitStatus(), 3);
        ++errors;
    }
    QVERIFY(errors > 100);
    std::uint32_t random = 7;
    for (int i = 0; i < 500; ++i) {
        random = random * 1664525u + 1013904223u;
        std::string flipped = bytes;
        const std::size_t at = (random >> 3) % bytes.size();
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random & 7)));
        const auto model = read(flipped);
        if (model) QVERIFY(model->graph.validate().has_value());
        else QCOMPARE(model.error().exitStatus(), 3);
    }
}

QTEST_APPLESS_MAIN(TestOnnxReader)

}  // namespace tst_onnx_reader

#include "tst_onnx_reader.moc"
