// Runs at a lower precision: small networks whose roundings are written out here.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/session/diff/quantised_model.h"
#include "core/session/precision/precision.h"
#include "tests/core/session/edits/edited_file.h"
#include "tests/core/session/gradient/small_net.h"
#include "tests/support/linear_network.h"
#include "tests/support/onnx_file.h"

namespace tst_precision {

using namespace sonde;
using namespace sonde::test::gradients;
using graph::Argument;
using graph::NodeId;
using session::precision::NumberType;
using session::precision::SimulationOptions;
using tensor::Tensor;
using tensor::Value;

namespace {

Tensor floats(const Dims& shape, const std::vector<float>& values) {
    return Tensor::of<float>(tensor::Shape(shape), values);
}
/// The nearest number with 11 bits (float16) or 8 bits (bfloat16), ties to even; of what is normal in either.
float to(NumberType type, float x) {
    const int bits = type == NumberType::Float16 ? 11 : 8;
    int exponent = 0;
    const double part = std::frexp(double{x}, &exponent);
    return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(part, bits)), exponent - bits));
}

/// x [2,3] times the stored weights w [3,2], as "product"; then its square, as "loss".
struct Net : SmallNet {
    std::vector<float> x{0.1F, -1.3F, 1.7F, 300.7F, 0.3333F, -5.123F}, w{1.1F, -0.7F, 0.05F, 3.3F, 100.3F, -0.013F};
    NodeId product;
    std::shared_ptr<const document::Document> document;

    Net() {
        const NodeId a = input("x", floats({2, 3}, x));
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.isParameter = true;
        expr.body = graph.mainId();
        expr.scope = graph.rootScope();
        const std::string name = "w";
        const NodeId weights = graph.expr(graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        const Value value(floats({3, 2}, w));
        graph.setType(weights, tensor::TypeInfo::of(value));
        graph.setConstant(weights, value);
        product = call({"", "MatMul", 13}, {Argument::of(a), Argument::of(weights)}).front();
        (void)graph.rename(product, "product");
        graph.setType(product, tensor::TypeInfo::of(Value(floats({2, 2}, {0, 0, 0, 0}))));
        const NodeId square = call({"", "Mul", 14}, {Argument::of(product), Argument::of(product)}).front();
        graph.setType(square, graph.node(product).type);
        document = finish(square);
    }
    session::precision::Request request() const {
        session::precision::Request made;
        made.inputs = inputs;
        return made;
    }
    /// What the graph gives for the nodes, as others read them.
    std::vector<Value> values(const session::precision::Simulation& simulation,
                              const std::vector<NodeId>& nodes) const {
        std::vector<NodeId> read;
        for (const NodeId node : nodes) read.push_back(simulation.readAs(node));
        const auto plan = exec::Plan::make(simulation.graph, {.end = read});
        exec::Runner runner(1);
        return plan ? runner.run(**plan, inputs, {}).outputs : std::vector<Value>{};
    }
};

session::precision::Simulation simulated(const Net& net, const SimulationOptions& options) {
    return session::precision::simulate(
        net.document->graph, session::precision::chosenBy(*net.document->graph, options.queries).value(), options);
}

}  // namespace

class TestPrecision : public QObject {
    Q_OBJECT

  private slots:
    void roundsInputsWeightsAndResults_data();
    void roundsInputsWeightsAndResults();
    void quantisesByTensorAndByChannel();
    void channelsAreThoseOfTheResult_data();
    void channelsAreThoseOfTheResult();
    void changesNothingWithoutOperations();
    void int8LeavesBiasesAlone();
    void comparesIterationsInTurn();
    void roundsOnlyWhereAsked();
    void tellsWhereTheErrorBegins();
    void refusesUnknownTypesAndQueries();
    void lossesBehindNaNAreNone();
    void comparesWithAQuantisedModel();
    void comparesWhatOtherOperatorsGive();
    void editsAreCalledByTheirValue();
};

void TestPrecision::roundsInputsWeightsAndResults_data() {
    QTest::addColumn<int>("type");
    QTest::newRow("float16") << static_cast<int>(NumberType::Float16);
    QTest::newRow("bfloat16") << static_cast<int>(NumberType::BFloat16);
}

void TestPrecision::roundsInputsWeightsAndResults() {
    QFETCH(int, type);
    const auto as = static_cast<NumberType>(type);
    const Net net;
    const auto found = net.values(simulated(net, {as, false, {}}), {net.product, net.document->outputs[0].node});
    QCOMPARE(found.size(), std::size_t{2});
    for (std::size_t row = 0; row < 2; ++row) {
        for (std::size_t column = 0; column < 2; ++column) {
            double sum = 0;
            for (std::size_t k = 0; k < 3; ++k)
                sum += double{to(as, net.x[row * 3 + k])} * double{to(as, net.w[k * 2 + column])};
            // The products of two numbers of 11 bits are exact in float32, and three of them leave it nothing to round
            // that matters here.
            const float product = to(as, static_cast<float>(sum));
            const auto at = static_cast<std::int64_t>(row * 2 + column);
            QCOMPARE(static_cast<float>(found[0].tensor().toDouble(at)), product);
            QCOMPARE(static_cast<float>(found[1].tensor().toDouble(at)), to(as, product * product));
        }
    }
}

void TestPrecision::quantisesByTensorAndByChannel() {
    const Net net;
    for (const bool perChannel : {false, true}) {
        const auto found = net.values(simulated(net, {NumberType::Int8, perChannel, {"product"}}), {net.product});
        QCOMPARE(found.size(), std::size_t{1});
        const auto quantised = [](float x, float largest) {
            const float scale = largest / 127;
            return std::nearbyint(x / scale) * scale;
        };
        std::vector<float> exact;
        for (std::size_t row = 0; row < 2; ++row) {
            for (std::size_t column = 0; column < 2; ++column) {
                float sum = 0;
                for (std::size_t k = 0; k < 3; ++k) {
                    // The largest of w is 100.3; of its second column 3.3. That of x is 300.7.
                    const float largest = perChannel && column == 1 ? 3.3F : 100.3F;
                    sum += quantised(net.x[row * 3 + k], 300.7F) * quantised(net.w[k * 2 + column], largest);
                }
                exact.push_back(sum);
            }
        }
        float largest = 0;
        for (const float value : exact) largest = std::max(largest, std::abs(value));
        for (std::int64_t i = 0; i < 4; ++i) {
            const double expected = quantised(exact[static_cast<std::size_t>(i)], largest);
            QVERIFY2(std::abs(found[0].tensor().toDouble(i) - expected) <= 1e-5 * largest,
                     qPrintable(QString("%1 instead of %2").arg(found[0].tensor().toDouble(i)).arg(expected)));
        }
    }
}

/// Weights whose channels have the largest magnitudes 1.27 and 127: scales of 0.01 and 1 keep the numbers, while any
/// other choice of channels rounds 0.25 or 0.63 to 0 or 1.
void TestPrecision::channelsAreThoseOfTheResult_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<bool>("isLeft");
    QTest::addColumn<QVector<int>>("shape");
    QTest::addColumn<QVector<float>>("weight");
    QTest::addColumn<QString>("attribute");
    QTest::newRow("MatMul, left") << "MatMul" << true << QVector<int>{2, 2} << QVector<float>{0.25F, 1.27F, 127, 3}
                                  << "";
    QTest::newRow("MatMul, right") << "MatMul" << false << QVector<int>{2, 2} << QVector<float>{0.25F, 127, 1.27F, 3}
                                   << "";
    QTest::newRow("Gemm, left") << "Gemm" << true << QVector<int>{2, 2} << QVector<float>{0.25F, 1.27F, 127, 3} << "";
    QTest::newRow("Gemm, left, transposed")
        << "Gemm" << true << QVector<int>{2, 2} << QVector<float>{0.25F, 127, 1.27F, 3} << "transA";
    QTest::newRow("Gemm, right, transposed")
        << "Gemm" << false << QVector<int>{2, 2} << QVector<float>{0.25F, 1.27F, 127, 3} << "transB";
    // [in, out of a group, 1]: channels of different groups share nothing.
    QTest::newRow("ConvTranspose") << "ConvTranspose" << false << QVector<int>{2, 1, 1} << QVector<float>{0.63F, 127}
                                   << "group";
}
void TestPrecision::channelsAreThoseOfTheResult() {
    QFETCH(QString, op);
    QFETCH(bool, isLeft);
    QFETCH(QVector<int>, shape);
    QFETCH(QVector<float>, weight);
    QFETCH(QString, attribute);
    SmallNet net;
    const bool isConvolution = shape.size() == 3;
    const Dims ofX = isConvolution ? Dims{1, 2, 1} : Dims{2, 2};
    const NodeId x = net.input("x", isConvolution ? floats(ofX, {1, 1}) : floats(ofX, {1, 0, 0, 1}));
    graph::Expr expr;
    expr.kind = graph::ExprKind::Constant;
    expr.isParameter = true;
    expr.body = net.graph.mainId();
    expr.scope = net.graph.rootScope();
    const std::string name = "w";
    const NodeId w = net.graph.expr(net.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
    const Value value(floats(Dims(shape.begin(), shape.end()), {weight.begin(), weight.end()}));
    net.graph.setType(w, tensor::TypeInfo::of(value));
    net.graph.setConstant(w, value);
    tensor::Attributes attributes;
    if (!attribute.isEmpty()) attributes = {{attribute.toStdString(), std::int64_t{isConvolution ? 2 : 1}}};
    std::vector<Argument> arguments{Argument::of(isLeft ? w : x), Argument::of(isLeft ? x : w)};
    const NodeId y = net.call({"", op.toStdString(), 13}, arguments, attributes).front();
    net.graph.setType(y, tensor::TypeInfo::of(Value(floats(isConvolution ? Dims{1, 2, 1} : Dims{2, 2},
                                                           std::vector<float>(isConvolution ? 2 : 4)))));
    const auto document = net.finish(y);
    const auto chosen = session::precision::chosenBy(*document->graph, {});
    QVERIFY(chosen.has_value());
    const auto simulation = session::precision::simulate(document->graph, *chosen, {NumberType::Int8, true, {}});
    const auto plan = exec::Plan::make(simulation.graph, {.end = {document->outputs[0].node}});
    QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());
    exec::Runner runner(1);
    const exec::Recording recording = runner.run(**plan, net.inputs, {});
    QVERIFY(!recording.error && recording.outputs.size() == 1);
    // What the operation itself gives, before its result is rounded: x is the identity or ones.
    const Tensor& found = recording.outputs[0].tensor();
    std::multiset<int> expected, made;
    for (const float number : weight) expected.insert(static_cast<int>(std::lround(number * 100)));
    for (std::int64_t i = 0; i < found.numel(); ++i)
        made.insert(static_cast<int>(std::lround(found.toDouble(i) * 100)));
    QVERIFY2(made == expected, qPrintable(QString("smallest is %1 hundredths").arg(*made.begin())));
}

void TestPrecision::changesNothingWithoutOperations() {
    const Net net;
    const auto simulation = session::precision::simulate(net.document->graph, {}, {});
    QCOMPARE(simulation.graph.get(), net.document->graph.get());
    const auto plain = exec::Plan::make(net.document->graph, {});
    exec::Runner runner(1);
    const auto expected = runner.run(**plain, net.inputs, {}).outputs.at(0);
    QVERIFY(tensor::identical(net.values(simulation, {net.document->outputs[0].node}).at(0), expected));
}

/// Stored tensors of one dimension stay as they are in int8, and are rounded to the other types.
void TestPrecision::int8LeavesBiasesAlone() {
    for (const NumberType type : {NumberType::Int8, NumberType::Float16}) {
        SmallNet net;
        const NodeId x = net.input("x", floats({1, 2}, {1, 2}));
        net.graph.setType(x, tensor::TypeInfo::of(net.inputs[0]));
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.body = net.graph.mainId();
        expr.scope = net.graph.rootScope();
        const std::string name = "bias";
        const NodeId bias = net.graph.expr(net.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        net.graph.setConstant(bias, Value(floats({2}, {100.3F, 0.013F})));
        net.graph.setType(bias, tensor::TypeInfo::of(*net.graph.node(bias).constant));
        const NodeId y = net.call({"", "Add", 14}, {Argument::of(x), Argument::of(bias)}).front();
        net.graph.setType(y, tensor::TypeInfo::of(net.inputs[0]));
        const auto document = net.finish(y);
        const auto simulation = session::precision::simulate(
            document->graph, session::precision::chosenBy(*document->graph, {}).value(), {type, false, {}});
        const graph::Expr& add = simulation.graph->expr(simulation.graph->node(y).producer);
        QCOMPARE(add.arguments.at(1).node == bias, type == NumberType::Int8);
        QVERIFY(add.arguments.at(0).node != x);
    }
}

/// 1 + 2 four times: 3, 5, 7, 9, which every type holds. Each is compared with the same one of the plain run.
void TestPrecision::comparesIterationsInTurn() {
    namespace onnx = sonde::test::onnxfile;
    const std::int64_t trips = 4;
    const onnx::Graph body{
        {{"Add", {"carried", "x"}, {"next"}}, {"Identity", {"cond"}, {"again"}}},
        {onnx::valueInfo("i", 7, {}), onnx::valueInfo("cond", 9, {}), onnx::valueInfo("carried", 1, {1})},
        {onnx::valueInfo("again", 9, {}), onnx::valueInfo("next", 1, {1})}};
    const onnx::Graph graph{
        {{"Loop", {"trips", "", "start"}, {"y"}, "", "", {onnx::graphAttribute("body", body.bytes())}}},
        {onnx::valueInfo("start", 1, {1}), onnx::valueInfo("x", 1, {1})},
        {onnx::valueInfo("y", 1, {1})},
        {onnx::rawTensor("trips", 7, {}, {reinterpret_cast<const char*>(&trips), sizeof trips})}};
    const QTemporaryDir folder;
    const QString path = folder.filePath("loop.onnx");
    QVERIFY(onnx::write(path, onnx::model(graph)));
    const auto document = document::open(path.toStdString());
    QVERIFY(document.has_value());
    session::precision::Request request;
    request.inputs = {Value(floats({1}, {1})), Value(floats({1}, {2}))};
    const auto report = session::precision::measure(**document, {NumberType::Float16, false, {}}, request);
    QVERIFY2(report.has_value(), report ? "" : report.error().text().c_str());
    QVERIFY(!report->begins.valid());
    const auto next =
        std::ranges::find(report->nodes, (*document)->graph->findNode("next"), &session::precision::NodeError::node);
    QVERIFY(next != report->nodes.end() && next->isRounded);
    QCOMPARE(next->error.maxAbs, 0.0);
}

void TestPrecision::roundsOnlyWhereAsked() {
    const Net net;
    const auto report =
        session::precision::measure(*net.document, {NumberType::Float16, false, {"op=Mul"}}, net.request());
    QVERIFY2(report.has_value(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->chosen, std::size_t{1});
    QCOMPARE(report->nodes.size(), std::size_t{2});
    QCOMPARE(report->nodes[0].node, net.product);
    QCOMPARE(report->nodes[0].error.maxAbs, 0.0);
    QVERIFY(std::isinf(report->nodes[0].error.sqnr));
    QVERIFY(report->nodes[1].error.maxAbs > 0);
    QCOMPARE(report->begins, net.document->outputs[0].node);
}

/// One number: the difference, the ratio, and the decibels from it.
void TestPrecision::tellsWhereTheErrorBegins() {
    SmallNet net;
    const NodeId x = net.input("x", floats({1, 2}, {1.0001F, 4}));
    net.graph.setType(x, tensor::TypeInfo::of(net.inputs[0]));
    const NodeId y = net.call({"", "Neg", 13}, {Argument::of(x)}).front();
    net.graph.setType(y, tensor::TypeInfo::of(net.inputs[0]));
    const auto document = net.finish(y);
    session::precision::Request request;
    request.inputs = net.inputs;
    const auto report = session::precision::measure(*document, {NumberType::BFloat16, false, {}}, request);
    QVERIFY2(report.has_value(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->begins, y);
    const auto& error = report->nodes.at(0);
    const double apart = double{1.0001F} - 1;  // bfloat16 has 8 bits: 1.0001 becomes 1, 4 stays
    QCOMPARE(error.error.maxAbs, apart);
    QCOMPARE(error.error.maxRel, apart / double{1.0001F});
    const double signal = double{1.0001F} * double{1.0001F} + 16;
    QVERIFY(std::abs(error.error.sqnr - 10 * std::log10(signal / (apart * apart))) < 1e-6);
    QVERIFY(std::isinf(error.inputSqnr));
    QCOMPARE(error.channelAxis, std::int64_t{1});
    QCOMPARE(error.channels.at(0).channel, std::int64_t{0});
    QCOMPARE(error.channels.at(1).error.maxAbs, 0.0);
    nlohmann::ordered_json json;
    session::precision::addReport(json, *report, *document->graph);
    QCOMPARE(json["begins"], "loss");
    QCOMPARE(json["nodes"][0]["input_sqnr"], nullptr);
    QVERIFY(session::precision::reportText(*report, *document, false).find("begins at loss") != std::string::npos);
    // Of what should be 0 there is no signal: 10 log10(0).
    session::precision::Report silent = *report;
    silent.nodes[0].error.sqnr = silent.nodes[0].inputSqnr = -std::numeric_limits<double>::infinity();
    QVERIFY(session::precision::reportText(silent, *document, true).find("only noise from only noise") !=
            std::string::npos);
}

/// 4·10⁶ is infinite in float16, and ∞ − ∞ is NaN: what is computed from that loses nothing more, the exponential,
/// which is beside it, does.
void TestPrecision::lossesBehindNaNAreNone() {
    SmallNet net;
    const NodeId x = net.input("x", floats({2}, {1.0001F, 4}));
    const NodeId k = net.input("k", floats({2}, {1e6F, 1e6F}));
    const auto call = [&](const char* name, const std::vector<NodeId>& from) {
        std::vector<Argument> arguments;
        for (const NodeId node : from) arguments.push_back(Argument::of(node));
        const NodeId made = net.call({"", name, 13}, arguments).front();
        net.graph.setType(made, tensor::TypeInfo::of(net.inputs[0]));
        return made;
    };
    net.graph.setType(x, tensor::TypeInfo::of(net.inputs[0]));
    net.graph.setType(k, tensor::TypeInfo::of(net.inputs[0]));
    const NodeId large = call("Mul", {x, k});
    const NodeId none = call("Neg", {call("Sub", {large, large})});
    const NodeId beside = call("Exp", {x});
    const auto document = net.finish(call("Add", {none, beside}));
    session::precision::Request request;
    request.inputs = net.inputs;
    request.worst = 2;
    const auto report = session::precision::measure(*document, {NumberType::Float16, false, {}}, request);
    QVERIFY2(report.has_value(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->growing.size(), std::size_t{2});
    QCOMPARE(report->nodes[report->growing[0]].node, large);
    QCOMPARE(report->nodes[report->growing[1]].node, beside);
    const std::string text = session::precision::reportText(*report, *document, true);
    QVERIFY2(text.find("not finite from not finite") != std::string::npos, text.c_str());
}

void TestPrecision::refusesUnknownTypesAndQueries() {
    QVERIFY(!session::precision::numberType("float12").has_value());
    const Net net;
    QVERIFY(!session::precision::chosenBy(*net.document->graph, {"op:Conv"}).has_value());
    QVERIFY(!session::precision::chosenBy(*net.document->graph, {"op:("}).has_value());
}

/// y = x·2 with x quantised to steps of 0.5 on the way in, and y to steps of 1 on the way out.
void TestPrecision::comparesWithAQuantisedModel() {
    const auto made = [](bool isQuantised) {
        SmallNet net;
        NodeId x = net.input("x", floats({2}, {1.2F, 3}));
        const auto constant = [&](const Value& value) {
            graph::Expr expr;
            expr.kind = graph::ExprKind::Constant;
            expr.body = net.graph.mainId();
            expr.scope = net.graph.rootScope();
            const std::string name = "k" + std::to_string(net.graph.exprCount());
            const NodeId node = net.graph.expr(net.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
            net.graph.setType(node, tensor::TypeInfo::of(value));
            net.graph.setConstant(node, value);
            return Argument::of(node);
        };
        const auto both = [&](NodeId node, float scale) {
            const Argument step = constant(Value(Tensor::scalar<float>(scale))),
                           zero = constant(Value(Tensor::scalar<std::int8_t>(0)));
            const NodeId q = net.call({"", "QuantizeLinear", 13}, {Argument::of(node), step, zero}).front();
            return net.call({"", "DequantizeLinear", 13}, {Argument::of(q), step, zero}).front();
        };
        if (isQuantised) x = both(x, 0.5F);
        NodeId y = net.call({"", "Mul", 14}, {Argument::of(x), constant(Value(Tensor::scalar<float>(2)))}).front();
        if (isQuantised) y = both(y, 1.0F);
        return net.finish(y);
    };
    const auto plain = made(false), quantised = made(true);
    session::precision::Request request;
    request.inputs = {Value(floats({2}, {1.2F, 3}))};
    const auto report = session::measureQuantised(*plain, *quantised, request);
    QVERIFY2(report.has_value(), report ? "" : report.error().text().c_str());
    // 1.2 becomes 1 (steps of 0.5), so y is 2 instead of 2.4; 3 stays.
    QCOMPARE(report->nodes.size(), std::size_t{1});
    QVERIFY(std::abs(report->nodes[0].error.maxAbs - 0.4) < 1e-6);
}

/// Where the quantised model has other operators: x·2 is written as codes of steps of 0.5 read in steps of 1, and −|·|
/// as a difference. Its values are those that the paired operation behind it reads, and the output.
void TestPrecision::comparesWhatOtherOperatorsGive() {
    const auto made = [](bool isQuantised) {
        SmallNet net;
        NodeId x = net.input("x", floats({2}, {1.2F, 3}));
        const auto constant = [&](const Value& value) { return Argument::of(value); };
        const Argument zero = constant(Value(Tensor::scalar<std::int8_t>(0)));
        const auto step = [&](float scale) { return constant(Value(Tensor::scalar<float>(scale))); };
        if (isQuantised) {
            x = net.call({"", "QuantizeLinear", 13}, {Argument::of(x), step(0.5F), zero}).front();
            x = net.call({"", "DequantizeLinear", 13}, {Argument::of(x), step(1), zero}).front();
        } else {
            x = net.call({"", "Mul", 14}, {Argument::of(x), step(2)}).front();
        }
        NodeId y = net.call({"", "Abs", 13}, {Argument::of(x)}).front();
        if (isQuantised) {
            y = net.call({"", "Sub", 14}, {step(0), Argument::of(y)}).front();
            y = net.call({"", "Clip", 13}, {Argument::of(y), step(-100), step(100)}).front();
        } else {
            y = net.call({"", "Neg", 13}, {Argument::of(y)}).front();
        }
        return net.finish(y);
    };
    const auto plain = made(false), quantised = made(true);
    session::precision::Request request;
    request.inputs = {Value(floats({2}, {1.2F, 3}))};
    const auto report = session::measureQuantised(*plain, *quantised, request);
    QVERIFY2(report.has_value(), report ? "" : report.error().text().c_str());
    QCOMPARE(report->nodes.size(), std::size_t{3});
    for (const session::precision::NodeError& node : report->nodes) QVERIFY(std::abs(node.error.maxAbs - 0.4) < 1e-6);
    QCOMPARE(plain->graph->expr(plain->graph->node(report->begins).producer).op.name, std::string("Mul"));
    QVERIFY(std::isinf(report->nodes[0].inputSqnr));
    QVERIFY(std::isfinite(report->nodes[1].inputSqnr));
    QCOMPARE(report->nodes[2].node, plain->outputs.front().node);
    QVERIFY(report->notes.empty());
}

/// What an edit was written as has a name that nobody gave.
void TestPrecision::editsAreCalledByTheirValue() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("model.onnx").toStdString();
    test::writeLinearNetwork(path);
    session::Session session;
    QVERIFY(session.open(path));
    QVERIFY(!test::edits::make(session, "x scale 2.3"));
    const auto edited = session::editedDocument(*session.document(), session.edits());
    QVERIFY(edited && (*edited)->graph->findNode("x_edit").valid());
    session::precision::Request request;
    request.inputs = {Value(floats({2, 2}, {0.1F, 1.3F, -0.7F, 3.3F}))};
    const auto report = session::precision::measure(**edited, {NumberType::Float16, false, {}}, request);
    QVERIFY(report);
    const std::string text = session::precision::reportText(*report, **edited, true);
    QVERIFY2(text.find("begins at the edit of x\n") != std::string::npos && text.find("x_edit") == std::string::npos,
             text.c_str());
    nlohmann::ordered_json json;
    session::precision::addReport(json, *report, *(*edited)->graph);
    QCOMPARE(json["nodes"].at(0).value("edit", ""), std::string("x"));
    QVERIFY(!json["nodes"].at(1).contains("edit"));
}

QTEST_GUILESS_MAIN(TestPrecision)

}  // namespace tst_precision

#include "tst_precision.moc"
