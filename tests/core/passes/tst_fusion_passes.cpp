// Passes of TracedModule (traced-module.md, "Passes") in the vocabularies of ONNX and of recorded models. What is
// computed before and after is worked out by hand, or computed by the graph as it was.

#include <QTemporaryDir>
#include <QtTest>

#include <cstring>

#include "core/document/document.h"
#include "core/document/model_passes.h"
#include "core/io/npz/npz.h"
#include "core/nn/activation.h"
#include "core/nn/containers.h"
#include "core/nn/conv.h"
#include "core/nn/normalization.h"
#include "core/trace/module_path_tracer.h"
#include "tests/core/passes/graph_maker.h"
#include "tests/support/script_archive.h"

namespace tst_fusion_passes {

using namespace sonde;
using namespace sonde::test;
using passes::PassReport;

namespace {

/// The same program in two vocabularies.
struct Program : Maker {
    bool isOnnx;
    explicit Program(bool onnx) : isOnnx(onnx) {}

    NodeId binary(const std::string& name, const char* python, const char* onnxName, NodeId x, double c,
                  bool constantFirst = false) {
        if (!isOnnx) {
            const std::string op = std::string("prim::") + python;
            return constantFirst ? call(name, op, c, x) : call(name, op, x, c);
        }
        const NodeId constantNode = constant(name + "_c", Tensor::scalar<float>(static_cast<float>(c)));
        return constantFirst ? onnx(name, onnxName, constantNode, x) : onnx(name, onnxName, x, constantNode);
    }
    NodeId add(const std::string& name, NodeId x, double c, bool first = false) {
        return binary(name, "add", "Add", x, c, first);
    }
    NodeId sub(const std::string& name, NodeId x, double c, bool first = false) {
        return binary(name, "sub", "Sub", x, c, first);
    }
    NodeId mul(const std::string& name, NodeId x, double c, bool first = false) {
        return binary(name, "mul", "Mul", x, c, first);
    }
    NodeId div(const std::string& name, NodeId x, double c, bool first = false) {
        return binary(name, "truediv", "Div", x, c, first);
    }
    NodeId neg(const std::string& name, NodeId x) {
        return isOnnx ? typed(onnx(name, "Neg", x)) : typed(call(name, "prim::neg", x));
    }
    NodeId relu(const std::string& name, NodeId x) {
        return isOnnx ? onnx(name, "Relu", x) : call(name, "aten::relu", x);
    }
    NodeId plus(const std::string& name, NodeId a, NodeId b) {
        return isOnnx ? onnx(name, "Add", a, b) : call(name, "aten::add.Tensor", a, b);
    }
    /// 1x1 convolution of one channel: w x + b.
    NodeId conv(const std::string& name, NodeId x, float w, float b) {
        const NodeId weight = constant(name + "_weight", Tensor::of<float>({1, 1, 1, 1}, {w}));
        const NodeId bias = constant(name + "_bias", Tensor::of<float>({1}, {b}));
        return isOnnx ? onnx(name, "Conv", x, weight, bias) : call(name, "aten::conv2d", x, weight, bias);
    }
    NodeId norm(const std::string& name, NodeId x) {
        const NodeId gamma = constant(name + "_gamma", Tensor::of<float>({1}, {2}));
        const NodeId beta = constant(name + "_beta", Tensor::of<float>({1}, {0.5F}));
        const NodeId mean = constant(name + "_mean", Tensor::of<float>({1}, {1}));
        const NodeId variance = constant(name + "_var", Tensor::of<float>({1}, {4}));
        if (isOnnx) return onnx(name, "BatchNormalization", x, gamma, beta, mean, variance);
        return call(name, "aten::batch_norm", x, gamma, beta, mean, variance, false, 0.1, 1e-5, false);
    }
    NodeId typed(NodeId node) { return node; }
    /// Types are known wherever ONNX models have them.
    void end(Argument structure) {
        result(std::move(structure));
        for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
            if (!graph.node(NodeId(i)).type.isTensor())
                graph.setType(NodeId(i), tensor::TypeInfo::tensor(tensor::DType::Float32));
        }
    }
    void end(NodeId node) { end(arg(node)); }
};

Value image() { return tensorOf({1, 1, 2, 2}, {-1, 0, 1, 3}); }

passes::PassContext verified(const Value& input) {
    passes::PassContext context;
    context.evaluate = document::passEvaluator();
    context.compare = document::outputComparer({{input}});
    return context;
}

/// Runs passes, each compared on the input.
passes::PassResult pass(const InternalGraph& graph, const std::vector<std::string>& ids, const Value& input) {
    auto result = passes::runPasses(graph, ids, verified(input));
    if (!result) qFatal("%s", result.error().text().c_str());
    return std::move(*result);
}

std::size_t operations(const InternalGraph& graph, std::string_view part) {
    std::size_t count = 0;
    for (ExprId id : graph.recursiveOrder(graph.mainId())) {
        const std::string& name = graph.expr(id).op.name;
        count += name == part || name.starts_with(std::string(part) + '.') ? 1 : 0;
    }
    return count;
}

bool allClose(const Value& a, const std::vector<double>& b, double tolerance = 1e-4) {
    const std::vector<double> x = numbers(a);
    if (x.size() != b.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::abs(x[i] - b[i]) > tolerance) return false;
    }
    return true;
}

/// conv -> norm -> relu as leaf modules of the library; statistics that are not trivial.
std::shared_ptr<nn::Sequential> block() {
    auto conv = std::make_shared<nn::Conv2d>(2, 3, 3, nn::ConvOptions{.padding = 1, .bias = false});
    auto norm = std::make_shared<nn::BatchNorm2d>(3);
    auto set = [](nn::Module& module, const char* name, std::vector<float> values) {
        for (const auto& slot : module.ownTensors()) {
            if (slot.name == name) slot.slot->value = Tensor::of<float>(slot.slot->value.shape(), values);
        }
    };
    std::vector<float> weight(3 * 2 * 9);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) - 3;
    set(*conv, "weight", weight);
    set(*norm, "weight", {1, -2, 0.5F});
    set(*norm, "bias", {0, 1, 2});
    set(*norm, "running_mean", {3, -1, 0});
    set(*norm, "running_var", {4, 1, 9});
    return std::make_shared<nn::Sequential>(
        std::vector<std::shared_ptr<nn::Module>>{conv, norm, std::make_shared<nn::ReLU>()});
}

/// A scripted archive: a 1x1 convolution of one channel, 3 x + 1, and a norm, (x - 1) / 2 * 2 + 0.5, that raises where
/// the condition holds.
void writeCheckedNorm(const std::filesystem::path& path, const std::string& condition) {
    namespace pickle = test::pickle;
    const std::string convClass = "__torch__.torch.nn.modules.conv", normClass = "__torch__.torch.nn.modules.batchnorm";
    const auto slot = [](const char* name, const char* key, std::vector<int> sizes, std::vector<int> strides) {
        return pickle::text(name) + pickle::tensor(key, "FloatStorage", 1, 0, sizes, strides);
    };
    const auto bytes = [](float value) {
        std::string text(sizeof value, '\0');
        std::memcpy(text.data(), &value, sizeof value);
        return text;
    };
    const std::string conv = slot("weight", "0", {1, 1, 1, 1}, {1, 1, 1, 1}) + slot("bias", "1", {1}, {1});
    const std::string norm = slot("weight", "2", {1}, {1}) + slot("bias", "3", {1}, {1}) +
                             slot("running_mean", "4", {1}, {1}) + slot("running_var", "5", {1}, {1});
    test::Records more{
        {"code/__torch__/torch/nn/modules/conv.py",
         "class Conv2d(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n  __buffers__ = []\n"
         "  weight : Tensor\n  bias : Tensor\n  def forward(self: __torch__.torch.nn.modules.conv.Conv2d,\n"
         "    input: Tensor) -> Tensor:\n    return torch.conv2d(input, self.weight, self.bias, [1, 1], [0, 0], [1, 1])\n"},
        {"code/__torch__/torch/nn/modules/batchnorm.py",
         "class BatchNorm2d(Module):\n  __parameters__ = [\"weight\", \"bias\", ]\n"
         "  __buffers__ = [\"running_mean\", \"running_var\", ]\n  weight : Tensor\n  bias : Tensor\n"
         "  running_mean : Tensor\n  running_var : Tensor\n"
         "  def forward(self: __torch__.torch.nn.modules.batchnorm.BatchNorm2d,\n    input: Tensor) -> Tensor:\n"
         "    _0 = (self)._check(input, )\n"
         "    return torch.batch_norm(input, self.weight, self.bias, self.running_mean, self.running_var, False, 0.1, "
         "0.00001, False)\n"
         "  def _check(self: __torch__.torch.nn.modules.batchnorm.BatchNorm2d,\n    input: Tensor) -> NoneType:\n"
         "    if " +
             condition +
             ":\n      ops.prim.RaiseException(\"refused\", \"builtins.ValueError\")\n    else:\n      pass\n"
             "    return None\n"}};
    for (std::size_t i = 0; const float value : {3.0F, 1.0F, 2.0F, 0.5F, 1.0F, 4.0F})
        more.emplace_back("data/" + std::to_string(i++), bytes(value));
    test::writeScript(path,
                      "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                      "  c : __torch__.torch.nn.modules.conv.Conv2d\n"
                      "  n : __torch__.torch.nn.modules.batchnorm.BatchNorm2d\n"
                      "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                      "    return (self.n).forward((self.c).forward(x, ), )\n",
                      pickle::text("c") + pickle::instance(convClass, "Conv2d", conv) + pickle::text("n") +
                          pickle::instance(normClass, "BatchNorm2d", norm),
                      std::move(more));
}

}  // namespace

class TestFusionPasses : public QObject {
    Q_OBJECT

    void vocabularies() {
        QTest::addColumn<bool>("onnx");
        QTest::newRow("recorded") << false;
        QTest::newRow("ONNX") << true;
    }

  private Q_SLOTS:
    void case24_normElemWise_data() { vocabularies(); }
    void case24_normElemWise() {
        QFETCH(bool, onnx);
        Program p(onnx);
        const NodeId x = p.floats("x", {4});
        p.end(p.div("b", p.sub("a", x, 3), 4));  // (x - 3) / 4
        const auto result = pass(p.graph, {"NormElemWise"}, tensorOf({4}, {1, 2, 3, 7}));
        QCOMPARE(operations(*result.graph, onnx ? "Add" : "add"), std::size_t(1));
        QCOMPARE(operations(*result.graph, onnx ? "Mul" : "mul"), std::size_t(1));
        QCOMPARE(operations(*result.graph, onnx ? "Sub" : "sub") + operations(*result.graph, onnx ? "Div" : "truediv"),
                 std::size_t(0));
        if (!onnx) {
            QCOMPARE(QString::fromStdString(text(*result.graph)),
                     QString("add = add(x, -3)\nmul = mul(add, 0.25)\nreturn mul\n"));
        }
        QVERIFY(result.reports[0].compared);
        QVERIFY(allClose(run(*result.graph, {tensorOf({4}, {1, 2, 3, 7})}).at(0), {-0.5, -0.25, 0, 1}));
        QCOMPARE(result.reports[0].went.size() >= 2, true);
    }

    void case24_constantsStandSecond_data() { vocabularies(); }
    void case24_constantsStandSecond() {
        QFETCH(bool, onnx);
        Program p(onnx);
        const NodeId x = p.floats("x", {2});
        const NodeId a = p.sub("a", x, 10, true);  // 10 - x = neg(x) + 10
        const NodeId b = p.div("b", a, 16, true);  // 16 / a = pow(a, -1) * 16
        const NodeId c = p.div("c", b, 1, true);   // 1 / b keeps its factor
        p.end(p.add("d", c, 1, true));
        const auto result = pass(p.graph, {"norm-elem-wise"}, tensorOf({2}, {2, 6}));
        QCOMPARE(operations(*result.graph, onnx ? "Pow" : "pow"), std::size_t(2));
        QCOMPARE(operations(*result.graph, onnx ? "Neg" : "neg"), std::size_t(1));
        QCOMPARE(operations(*result.graph, onnx ? "Mul" : "mul"), std::size_t(2));
        QVERIFY(allClose(run(*result.graph, {tensorOf({2}, {2, 6})}).at(0), {1.5, 1.25}));
    }

    void case24_fuseAddMul_data() { vocabularies(); }
    void case24_fuseAddMul() {
        QFETCH(bool, onnx);
        Program p(onnx);  // (2 + (x + 1)) * 4 * 0.25 is x + 3
        const NodeId x = p.floats("x", {2});
        p.end(p.mul("d", p.mul("c", p.add("b", p.add("a", x, 1), 2, true), 4), 0.25));
        const auto result = pass(p.graph, {"FuseAddMul"}, tensorOf({2}, {1, -1}));
        QCOMPARE(operations(*result.graph, onnx ? "Add" : "add"), std::size_t(1));
        QCOMPARE(operations(*result.graph, onnx ? "Mul" : "mul"), std::size_t(0));
        if (!onnx) QVERIFY2(text(*result.graph).find("(x, 3)") != std::string::npos, text(*result.graph).c_str());
        QVERIFY(allClose(run(*result.graph, {tensorOf({2}, {1, -1})}).at(0), {4, 2}));
        QCOMPARE(result.reports.back().pass, std::string("fuse-add-mul"));
        QVERIFY(result.reports.back().compared);
        const auto& came = result.reports.back().came;  // in ONNX with its constant
        QCOMPARE(came.size(), std::size_t(onnx ? 2 : 1));
        QVERIFY(came.back().origins.size() >= 2);  // stands for both additions
    }

    void case24_negations_data() { vocabularies(); }
    void case24_negations() {
        QFETCH(bool, onnx);
        Program twice(onnx);
        const NodeId x = twice.floats("x", {2});
        twice.end(twice.neg("b", twice.neg("a", x)));
        const auto nothing = pass(twice.graph, {"fuse-add-mul"}, tensorOf({2}, {1, -1}));
        QCOMPARE(QString::fromStdString(text(*nothing.graph)), QString("return x\n"));
        Program tripled(onnx);
        const NodeId y = tripled.floats("y", {2});
        tripled.end(tripled.neg("b", tripled.mul("a", y, 3)));
        const auto result = pass(tripled.graph, {"fuse-add-mul"}, tensorOf({2}, {1, -1}));
        QCOMPARE(operations(*result.graph, onnx ? "Neg" : "neg"), std::size_t(0));
        QVERIFY(allClose(run(*result.graph, {tensorOf({2}, {1, -1})}).at(0), {-3, 3}));
        if (!onnx) QVERIFY2(text(*result.graph).find("(y, -3)") != std::string::npos, text(*result.graph).c_str());
    }

    /// A whole number plus 0.0 is a float: where the type is not known, the sum stays.
    void sumsOfUnknownTypesStay() {
        Program p(false);
        const NodeId x = p.floats("x", {2});
        p.result(arg(p.call("sum", "prim::add", p.call("whole", "aten::to.dtype", x, 4), 0.0)));
        const auto result = pass(p.graph, {"fuse-add-mul"}, tensorOf({2}, {1, -1}));
        QCOMPARE(text(*result.graph), text(p.graph));
        QCOMPARE(run(*result.graph, {tensorOf({2}, {1, -1})}).at(0).tensor().dtype(), tensor::DType::Float32);
    }

    void vectorsAreNotTouched() {
        Maker m;
        const NodeId x = m.floats("x", {2});
        const NodeId v = m.constant("v", Tensor::of<float>({2}, {1, 2}));
        m.result(m.onnx("b", "Add", m.onnx("a", "Add", x, v), v));
        const auto result = pass(m.graph, {"fuse-add-mul"}, tensorOf({2}, {1, -1}));
        QCOMPARE(text(*result.graph), text(m.graph));
        QVERIFY(result.reports.back().empty());
    }

    void case24_fuseConvBn_data() { vocabularies(); }
    void case24_fuseConvBn() {
        QFETCH(bool, onnx);
        Program p(onnx);  // 3x + 1 normalised: (3x + 1 - 1) / 2 * 2 + 0.5 = 3x + 0.5
        const NodeId x = p.floats("x", {1, 1, 2, 2});
        p.end(p.relu("relu", p.norm("bn", p.conv("conv", x, 3, 1))));
        const auto result = pass(p.graph, {"FuseConvBn"}, image());
        QVERIFY(result.reports[0].compared);
        QCOMPARE(result.reports[0].count, std::size_t(1));
        QVERIFY(!result.graph->findNode("bn").valid());
        QVERIFY(!result.graph->findNode("bn_mean").valid());  // nobody reads the statistics any more
        QVERIFY(allClose(run(*result.graph, {image()}).at(0), {0, 0.5, 3.5, 9.5}));
        const Expr& conv = result.graph->expr(result.graph->node(result.graph->findNode("conv")).producer);
        QCOMPARE(conv.origins.size(), std::size_t(2));
        const PassReport& report = result.reports[0];
        const auto went =
            std::find_if(report.went.begin(), report.went.end(), [](const auto& each) { return each.name == "bn"; });
        QVERIFY(went != report.went.end());
        QCOMPARE(went->replacedByName, std::string("conv"));
    }

    void case25_aConvolutionThatIsAResultIsNotFused_data() { vocabularies(); }
    void case25_aConvolutionThatIsAResultIsNotFused() {
        QFETCH(bool, onnx);
        Program p(onnx);
        const NodeId x = p.floats("x", {1, 1, 2, 2});
        const NodeId c = p.conv("conv", x, 3, 1);
        p.end(tuple({arg(c), arg(p.norm("bn", c))}));
        const auto result = pass(p.graph, {"fuse-conv-bn"}, image());
        QCOMPARE(result.reports[0].count, std::size_t(0));
        QCOMPARE(text(*result.graph), text(p.graph));
    }

    void modulesAreFused() {
        trace::ModulePathTracer tracer;
        const auto graph = tracer.trace(block());
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().text().c_str());
        std::vector<float> values(2 * 25);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 11) - 5;
        const Value input = tensorOf({1, 2, 5, 5}, values);
        const std::vector<double> before = numbers(run(**graph, {input}).at(0));
        QCOMPARE(before.size(), std::size_t(75));
        const auto result = pass(**graph, {"fuse-conv-bn"}, input);
        QVERIFY(result.reports[0].compared);
        QCOMPARE(result.reports[0].count, std::size_t(1));
        QVERIFY(allClose(run(*result.graph, {input}).at(0), before));
        std::size_t norms = 0;
        for (ExprId id : result.graph->main().order)
            norms += result.graph->expr(id).moduleClass == "BatchNorm2d" ? 1 : 0;
        QCOMPARE(norms, std::size_t(0));
        // Output node takes the conv output's name, and stands for both.
        const Expr& conv = result.graph->expr(result.graph->node(result.graph->findNode("_0")).producer);
        QCOMPARE(conv.origins.size(), std::size_t(2));
    }

    /// What a scripted norm asks of its input before: the shape is nobody's result, and values decide more.
    void normsThatCheckTheirInput_data() {
        QTest::addColumn<QByteArray>("condition");
        QTest::addColumn<int>("fused");
        QTest::newRow("rank") << QByteArray("torch.ne(torch.dim(input), 4)") << 1;
        QTest::newRow("size") << QByteArray("torch.lt(torch.size(input, 2), 1)") << 1;
        QTest::newRow("sizes") << QByteArray("torch.lt(torch.mul(torch.size(input, 2), torch.size(input, 3)), 2)") << 1;
        QTest::newRow("values") << QByteArray("bool(torch.gt(torch.sum(input), 100))") << 0;
        QTest::newRow("weights") << QByteArray("bool(torch.gt(torch.sum(self.weight), 100))") << 0;
    }
    void normsThatCheckTheirInput() {
        QFETCH(QByteArray, condition);
        QFETCH(int, fused);
        const QTemporaryDir folder;
        const std::string file = folder.filePath("checked.pt").toStdString();
        writeCheckedNorm(file, condition.toStdString());
        const auto document = document::open(file);
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const auto result = pass(*(*document)->graph, {"fuse-conv-bn"}, image());
        QCOMPARE(result.reports[0].count, static_cast<std::size_t>(fused));
        QCOMPARE(operations(*result.graph, "batch_norm"), static_cast<std::size_t>(1 - fused));
        QVERIFY(allClose(run(*result.graph, {image()}).at(0), {-2.5, 0.5, 3.5, 9.5}));
    }

    /// Every norm of a scripted model asks for the rank; values of PyTorch.
    void scriptedModelsAreFused() {
        const std::string models = SONDE_TEST_DATA "/models/unet_small";
        const auto document = document::open(models + ".script.pt");
        const auto values = io::NpzFile::open(models + ".npz");
        QVERIFY(document && values);
        const std::size_t norms = operations(*(*document)->graph, "batch_norm");
        QVERIFY(norms > 5);
        const auto result = passes::runPasses(*(*document)->graph, std::vector<std::string>{"fuse-conv-bn"});
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->reports[0].count, norms);
        QCOMPARE(operations(*result->graph, "batch_norm"), std::size_t(0));
        const auto array = [&](std::string_view kind) -> Tensor {
            for (const std::string& key : values->keys())
                if (key.starts_with(kind)) return *values->read(key);
            return {};
        };
        const Value output = run(*result->graph, {Value(array("in."))}).at(0);
        QVERIFY(allClose(output.isListLike() ? output.items().front() : output, numbers(Value(array("out.")))));
    }

    void case24_backwardFoldScale_data() { vocabularies(); }
    void case24_backwardFoldScale() {
        QFETCH(bool, onnx);
        Program p(onnx);  // x = relu(conv); y = (x + 3) + (x + 4); y * 3
        const NodeId in = p.floats("in", {1, 1, 2, 2});
        const NodeId x = p.relu("relu", p.conv("conv", in, 2, 1));
        p.end(p.mul("m", p.plus("y", p.add("a", x, 3), p.add("b", x, 4)), 3));
        const auto result = pass(p.graph, {"BackwardFoldScale"}, image());
        const PassReport& report = result.reports.back();
        QCOMPARE(report.pass, std::string("backward-fold-scale"));
        QCOMPARE(report.count, std::size_t(1));
        QVERIFY(report.compared);
        QCOMPARE(operations(*result.graph, onnx ? "Mul" : "mul"), std::size_t(0));
        const auto weight = result.graph->node(result.graph->findNode("conv_weight")).constant;
        QCOMPARE(numbers(*weight), (std::vector<double>{6}));
        QCOMPARE(numbers(*result.graph->node(result.graph->findNode("conv_bias")).constant), (std::vector<double>{3}));
        if (!onnx) {
            QVERIFY2(text(*result.graph).find("a = add(relu, 9)") != std::string::npos, text(*result.graph).c_str());
            QVERIFY(text(*result.graph).find("b = add(relu, 12)") != std::string::npos);
        }
        // 2x + 1 of -1, 0, 1, 3 through relu is 0, 1, 3, 7.
        QVERIFY(allClose(run(*result.graph, {image()}).at(0), {21, 27, 39, 63}));
    }

    void case24_whatBlocksAScale_data() { vocabularies(); }
    void case24_whatBlocksAScale() {
        QFETCH(bool, onnx);
        Program negative(onnx);
        const NodeId a = negative.floats("in", {1, 1, 2, 2});
        negative.end(negative.mul("m", negative.relu("relu", negative.conv("conv", a, 2, 1)), -3));
        QCOMPARE(pass(negative.graph, {"backward-fold-scale"}, image()).reports.back().count, std::size_t(0));
        Program sigmoid(onnx);
        const NodeId b = sigmoid.floats("in", {1, 1, 2, 2});
        const NodeId c = sigmoid.conv("conv", b, 2, 1);
        sigmoid.end(
            sigmoid.mul("m", onnx ? sigmoid.onnx("s", "Sigmoid", c) : sigmoid.call("s", "aten::sigmoid", c), 3));
        QCOMPARE(pass(sigmoid.graph, {"backward-fold-scale"}, image()).reports.back().count, std::size_t(0));
        Program vector(onnx);
        const NodeId d = vector.floats("in", {1, 1, 2, 2});
        const NodeId v = vector.constant("v", Tensor::of<float>({1, 1, 1, 2}, {1, 2}));
        const NodeId e = vector.conv("conv", d, 2, 1);
        vector.end(onnx ? vector.onnx("m", "Mul", e, v) : vector.call("m", "aten::mul.Tensor", e, v));
        QCOMPARE(pass(vector.graph, {"backward-fold-scale"}, image()).reports.back().count, std::size_t(0));
        Program plain(onnx);  // without relu a negative factor may go back
        const NodeId f = plain.floats("in", {1, 1, 2, 2});
        plain.end(plain.mul("m", plain.conv("conv", f, 2, 1), -3));
        QCOMPARE(pass(plain.graph, {"backward-fold-scale"}, image()).reports.back().count, std::size_t(1));
    }

    void case25_factorsThatDifferAndResults_data() { vocabularies(); }
    void case25_factorsThatDifferAndResults() {
        QFETCH(bool, onnx);
        Program two(onnx);  // c * 2 + c * 3
        const NodeId a = two.floats("in", {1, 1, 2, 2});
        const NodeId c = two.conv("conv", a, 2, 1);
        two.end(two.plus("y", two.mul("d", c, 2), two.mul("e", c, 3)));
        const auto first = pass(two.graph, {"backward-fold-scale"}, image());
        QCOMPARE(first.reports.back().count, std::size_t(0));
        QVERIFY(allClose(run(*first.graph, {image()}).at(0), {-5, 5, 15, 35}));
        Program shown(onnx);  // return c, c * 2
        const NodeId b = shown.floats("in", {1, 1, 2, 2});
        const NodeId d = shown.conv("conv", b, 2, 1);
        shown.end(tuple({arg(d), arg(shown.mul("m", d, 2))}));
        const auto second = pass(shown.graph, {"backward-fold-scale"}, image());
        QCOMPARE(second.reports.back().count, std::size_t(0));
        QVERIFY(allClose(run(*second.graph, {image()}).at(0), {-1, 1, 3, 7}));
    }

    void optimizeRunsInTheReferencesOrder() {
        Program p(false);
        const NodeId in = p.floats("in", {1, 1, 2, 2});
        const NodeId x = p.relu("relu", p.norm("bn", p.conv("conv", in, 2, 1)));
        p.end(p.mul("m", p.mul("k", x, 2), 3));
        const auto result = passes::optimize(p.graph, {"BackwardFoldScale"}, verified(image()));
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        std::vector<std::string> order;
        for (const PassReport& report : result->reports) order.push_back(report.pass);
        QCOMPARE(order,
                 (std::vector<std::string>{"fuse-conv-bn", "norm-elem-wise", "backward-fold-scale", "fuse-add-mul"}));
        QCOMPARE(result->diagnostics.size(), std::size_t(1));  // FuseConvBn was forced on
        QCOMPARE(operations(*result->graph, "mul"), std::size_t(0));
        QCOMPARE(operations(*result->graph, "batch_norm"), std::size_t(0));
        QVERIFY(!passes::optimize(p.graph, {"Nope"}));
    }

    void attributesBecomeConstantsAndConstantsAreFolded() {
        Maker m;
        const NodeId x = m.floats("x", {2});
        const NodeId w = m.constant("w", Tensor::of<float>({2}, {1, 2}), ExprKind::GetAttr);
        const NodeId twice = m.call("twice", "aten::mul.Scalar", w, 2);
        const NodeId sum = m.call("sum", "aten::add.Scalar", twice, 1);
        m.result(m.call("y", "aten::add.Tensor", x, sum));
        const auto constants = pass(m.graph, {"AttrToConstant"}, tensorOf({2}, {0, 0}));
        QCOMPARE(constants.graph->expr(constants.graph->node(constants.graph->findNode("w")).producer).kind,
                 ExprKind::Constant);
        const auto folded = pass(m.graph, {"FlodConstant"}, tensorOf({2}, {0, 0}));  // MegEngine's spelling
        QCOMPARE(folded.reports.size(), std::size_t(2));
        QCOMPARE(folded.reports[0].pass, std::string("attr-to-constant"));
        QCOMPARE(QString::fromStdString(text(*folded.graph)), QString("y = add.Tensor(x, sum)\nreturn y\n"));
        QCOMPARE(numbers(*folded.graph->node(folded.graph->findNode("sum")).constant), (std::vector<double>{3, 5}));
        QVERIFY(!folded.graph->findNode("w").valid());
    }

    void knownShapesAreFixed() {
        Maker m;
        const NodeId x = m.floats("x", {2, 3});
        const NodeId shape = m.onnx("shape", "Shape", x);
        m.result(m.onnx("y", "Reshape", x, shape));
        const auto result = pass(m.graph, {"FixInputShape"}, counting({2, 3}));
        QVERIFY(result.reports[0].compared);
        QCOMPARE(numbers(*result.graph->node(result.graph->findNode("shape")).constant), (std::vector<double>{2, 3}));
        Maker open;
        const NodeId y = open.input("y", tensor::TypeInfo::tensor(tensor::DType::Float32));
        open.result(open.onnx("shape", "Shape", y));
        QVERIFY(pass(open.graph, {"fix-input-shape"}, counting({2})).reports[0].empty());
    }

    void identitiesDuplicatesAndDeadCodeGo() {
        Maker m;
        const NodeId x = m.floats("x", {3});
        const NodeId same = m.onnx("same", "Identity", m.onnx("drop", "Dropout", x));
        const NodeId a = m.onnx("a", "Relu", same);
        const NodeId b = m.onnx("b", "Relu", x);
        m.onnx("dead", "Exp", m.onnx("deader", "Neg", a));
        m.result(m.onnx("y", "Add", a, b));
        const auto result =
            pass(m.graph, {"remove-identity", "merge-duplicates", "remove-dead-code"}, tensorOf({3}, {-1, 2, 3}));
        QCOMPARE(QString::fromStdString(text(*result.graph)), QString("a = Relu(x)\ny = Add(a, a)\nreturn y\n"));
        for (const PassReport& report : result.reports) QVERIFY(report.compared);
        QCOMPARE(result.reports[0].went.size(), std::size_t(2));
        QCOMPARE(result.reports[0].went[1].replacedByName, std::string("x"));
        QCOMPARE(result.reports[1].went[0].replacedByName, std::string("a"));
        QCOMPARE(result.reports[2].went.size(), std::size_t(2));
    }

    /// ops.mylib.write(x): nobody knows what it does, so it is no dead code, although nobody reads its result.
    void operatorsOfALibraryStay() {
        Maker m;
        const NodeId x = m.floats("x", {3});
        const NodeId own = m.call("own", "aten::mylib.write", m.call("a", "aten::neg", x));
        m.graph.mutableExpr(m.graph.node(own).producer).target = "torch.mylib.write";
        m.call("dead", "aten::amax", x, 0);
        m.call("dead_1", "aten::add.Scalar", x, 1);
        m.result(x);
        const std::vector<std::string> ids{"remove-dead-code"};
        const auto result = passes::runPasses(m.graph, ids, {});
        QVERIFY(result.has_value());
        QVERIFY(result->graph->findNode("own").valid() && result->graph->findNode("a").valid());
        QVERIFY(!result->graph->findNode("dead").valid() && !result->graph->findNode("dead_1").valid());
    }

    void passesThatAreDisabledOrUnknown() {
        Program p(false);
        const NodeId in = p.floats("in", {1, 1, 2, 2});
        p.end(p.mul("m", p.relu("relu", p.conv("conv", in, 2, 1)), 3));
        passes::PassContext context;
        context.disabled = {"NormElemWise"};
        const std::vector<std::string> ids{"backward-fold-scale"};
        const auto result = passes::runPasses(p.graph, ids, context);
        QVERIFY(result.has_value());
        QCOMPARE(result->diagnostics.size(), std::size_t(1));
        QVERIFY(result->diagnostics[0].what.find("skipped") != std::string::npos);
        QCOMPARE(text(*result->graph), text(p.graph));
        const auto unknown = passes::findPass("Nope");
        QVERIFY(!unknown);
        QCOMPARE(unknown.error().what, std::string("Nope is not found"));
        for (const passes::Pass& each : passes::passes()) {
            QVERIFY(!each.description.empty() && each.run);
            for (std::string_view required : each.required) QVERIFY(passes::findPass(required));
        }
    }

    void aWrongPassIsFoundOut() {
        Program p(false);
        const NodeId x = p.floats("x", {2});
        p.end(p.add("a", x, 1));
        InternalGraph other = p.graph;
        const ExprId id = other.node(other.findNode("a")).producer;
        other.setArguments(id, {arg(x), arg(2.0)});
        const auto compare = document::outputComparer({{tensorOf({2}, {1, 2})}});
        QVERIFY(compare(std::make_shared<const InternalGraph>(p.graph), std::make_shared<const InternalGraph>(p.graph))
                    .value());
        QVERIFY(!compare(std::make_shared<const InternalGraph>(p.graph), std::make_shared<const InternalGraph>(other)));
    }
};

QTEST_APPLESS_MAIN(TestFusionPasses)

}  // namespace tst_fusion_passes

#include "tst_fusion_passes.moc"
