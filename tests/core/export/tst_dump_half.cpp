// Dumps in float16: what is computed in float32 and rounded once (enable_io16xc32), and what is rounded after each step
// (enable_ioc16); branches and loops. Expected values are worked by hand from the format of float16, which has 11
// significant bits.

#include <QtTest>

#include "core/export/dump.h"
#include "tests/core/export/document_maker.h"

namespace tst_dump_half {

using namespace sonde;
using namespace sonde::test;
using tensor::DType;
using tensor::Shape;

namespace {

using Model = DocumentMaker;

/// The one output of a dump with the option.
base::Result<Tensor> computed(const document::Document& document, const std::string& option,
                              std::vector<Value> inputs) {
    exporting::DumpOptions options;
    SONDE_TRY(options.inference.set(option, true));
    SONDE_ASSIGN(const io::dump::DumpFile dump, exporting::makeDump(document, {}, options));
    SONDE_ASSIGN(const auto plan, exec::Plan::make(dump.graph, {}));
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(*plan, inputs);
    if (recording.error) return *recording.error;
    return recording.outputs.front().tensor();
}

/// 1 and then 3 times 2^-11, half of float16's distance to the next number above 1: each sum by itself is rounded back
/// to 1, all together are 1 + 3 · 2^-11, half way between 1 + 2^-10 and 1 + 2^-9. Ties go to the even one.
constexpr float kStep = 0x1p-11F;
constexpr double kRoundedOnce = 1 + 0x1p-9, kRoundedEachTime = 1;
const std::vector<float> kTerms{1, kStep, kStep, kStep};

}  // namespace

class TestDumpHalf : public QObject {
    Q_OBJECT

  private slots:
    void sumsAreRoundedOnceOrEachTime_data();
    void sumsAreRoundedOnceOrEachTime();
    void branchesExchangeHalves();
    void loopsExchangeHalves();
    void castsAreOfTheModelsOpset();
};

void TestDumpHalf::sumsAreRoundedOnceOrEachTime_data() {
    QTest::addColumn<QString>("op");
    for (const char* op : {"Conv", "ConvTranspose", "MatMul", "Gemm", "ReduceSum"}) QTest::newRow(op) << QString(op);
}

void TestDumpHalf::sumsAreRoundedOnceOrEachTime() {
    QFETCH(QString, op);
    Model model;
    NodeId y;
    Shape shape{1, 4};
    const auto ones = [&](const Shape& of) { return model.constant("w", Tensor::of<float>(of, {1, 1, 1, 1})); };
    if (op == "Conv" || op == "ConvTranspose") {
        // Four channels of one pixel; the transposed one has weights [4, 1, 1, 1].
        shape = {1, 4, 1, 1};
        y = model.onnx("y", op.toStdString(), model.floats("x", shape),
                       ones(op == "Conv" ? Shape{1, 4, 1, 1} : Shape{4, 1, 1, 1}));
    } else if (op == "ReduceSum") {
        y = model.onnx("y", "ReduceSum", model.floats("x", shape),
                       model.constant("axes", Tensor::of<std::int64_t>({1}, {1})));
    } else {
        y = model.onnx("y", op.toStdString(), model.floats("x", shape), ones({4, 1}));
    }
    const document::Document& document = model.done({y});
    const std::vector<Value> inputs{Value(Tensor::of<float>(shape, kTerms))};
    const auto once = computed(document, "enable_io16xc32", inputs);
    QVERIFY2(once.has_value(), once ? "" : once.error().text().c_str());
    QCOMPARE(once->dtype(), DType::Float16);
    QCOMPARE(once->toDouble(0), kRoundedOnce);
    const auto each = computed(document, "enable_ioc16", inputs);
    QVERIFY2(each.has_value(), each ? "" : each.error().text().c_str());
    QCOMPARE(each->dtype(), DType::Float16);
    QCOMPARE(each->toDouble(0), kRoundedEachTime);
}

/// if c: x + 0.5 else: exp(x)
void TestDumpHalf::branchesExchangeHalves() {
    for (const bool taken : {true, false}) {
        Model model;
        const NodeId c = model.input("c", tensor::TypeInfo::tensor(DType::Bool, Shape{}));
        const NodeId x = model.floats("x", {2});
        const NodeId half = model.constant("half", Tensor::scalar(0.5F));
        const NodeId y = model.onnx("y", "If", c);
        const ExprId owner = model.graph.node(y).producer;
        const struct {
            const char *label, *name, *op;
            std::vector<Argument> arguments;
        } branches[] = {{"then_branch", "sum", "Add", {arg(x), arg(half)}}, {"else_branch", "power", "Exp", {arg(x)}}};
        for (const auto& branch : branches) {
            const graph::BodyId body = model.graph.addBody(owner, branch.label);
            model.graph.mutableExpr(owner).attributes.set(branch.label,
                                                          tensor::BodyRef{model.graph.expr(owner).bodies.size() - 1});
            Expr expr;
            expr.op = {"", branch.op, 17};
            expr.target = branch.op;
            expr.arguments = branch.arguments;
            expr.body = body;
            const std::string name = branch.name;
            const ExprId id = model.graph.addExpr(std::move(expr), std::span(&name, 1));
            model.graph.setResult(body, arg(model.graph.expr(id).outputs.front()));
        }
        const std::vector<Value> inputs{Value(Tensor::scalar(taken)), Value(Tensor::of<float>({2}, {0, 1}))};
        const auto result = computed(model.done({y}), "enable_io16xc32", inputs);
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->typeText(), std::string("float16[2]"));
        QCOMPARE(result->toDouble(1), taken ? 1.5 : 2.71875);  // the nearest float16 to e
    }
}

/// s = x; 11 times: s = s + 1. From 2048 on float16 knows even numbers only: 2047 + 1 is 2048, 2048 + 1 is 2048 again.
void TestDumpHalf::loopsExchangeHalves() {
    Model model;
    const NodeId x = model.floats("x", {1});
    const NodeId count = model.constant("count", Tensor::scalar<std::int64_t>(11));
    const NodeId one = model.constant("one", Tensor::scalar(1.0F));
    const NodeId y = model.make(ExprKind::Apply, "y", "Loop", {arg(count), Argument::omitted(), arg(x)});
    const ExprId owner = model.graph.node(y).producer;
    const graph::BodyId body = model.graph.addBody(owner, "body");
    model.graph.mutableExpr(owner).attributes.set("body", tensor::BodyRef{0});
    model.graph.addInput(body, "i", tensor::TypeInfo::tensor(DType::Int64, Shape{}));
    const NodeId condition = model.graph.addInput(body, "go", tensor::TypeInfo::tensor(DType::Bool, Shape{}));
    const NodeId state = model.graph.addInput(body, "s", tensor::TypeInfo::tensor(DType::Float32, Shape{1}));
    Expr sum;
    sum.op = {"", "Add", 17};
    sum.target = "Add";
    sum.arguments = {arg(state), arg(one)};
    sum.body = body;
    const std::string name = "sum";
    const ExprId id = model.graph.addExpr(std::move(sum), std::span(&name, 1));
    model.graph.setResult(body, tuple({arg(condition), arg(model.graph.expr(id).outputs.front())}));
    const document::Document& document = model.done({y});
    for (const char* option : {"enable_io16xc32", "enable_ioc16"}) {
        const auto result = computed(document, option, {Value(Tensor::of<float>({1}, {2040}))});
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->typeText(), std::string("float16[1]"));
        QCOMPARE(result->toDouble(0), 2048.0);
    }
}

/// An ONNX file has one opset for all its operators: a dump with casts of another could not be saved as one.
void TestDumpHalf::castsAreOfTheModelsOpset() {
    Model model;
    const document::Document& document = model.done({model.onnx("y", "Relu", model.floats("x", {2}))});
    exporting::DumpOptions options;
    QVERIFY(options.inference.set("enable_io16xc32", true).has_value());
    const auto dump = exporting::makeDump(document, {}, options);
    QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
    int casts = 0;
    for (const ExprId id : dump->graph->main().order) {
        const graph::OpKey& op = dump->graph->expr(id).op;
        casts += op.name == "Cast";
        if (!op.name.empty()) QCOMPARE(op.version, 17);
    }
    QVERIFY(casts > 0);
}

QTEST_GUILESS_MAIN(TestDumpHalf)

}  // namespace tst_dump_half

#include "tst_dump_half.moc"
