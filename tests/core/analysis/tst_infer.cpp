#include <QtTest>

#include "core/analysis/infer.h"

namespace tst_infer {

using namespace sonde;
using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

/// A graph of ONNX operators, version 17.
struct Maker {
    InternalGraph graph;
    base::Diagnostics findings;

    NodeId input(const std::string& name, std::vector<Dim> dims, DType dtype = DType::Float32) {
        return graph.addInput(graph.mainId(), name, TypeInfo::tensor(dtype, std::move(dims)));
    }
    NodeId constant(const std::string& name, Tensor value, BodyId body = BodyId(std::size_t{0})) {
        Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.body = body;
        const NodeId node =
            graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
        graph.setConstant(node, Value(std::move(value)));
        return node;
    }
    NodeId ints(const std::string& name, const std::vector<std::int64_t>& values) {
        return constant(name, Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
    }
    NodeId number(const std::string& name, std::int64_t value) {
        return constant(name, Tensor::scalar<std::int64_t>(value));
    }
    NodeId op(const std::string& type, const std::string& name, const std::vector<NodeId>& inputs,
              tensor::Attributes attributes = {}, BodyId body = BodyId(std::size_t{0})) {
        Expr expr;
        expr.op = {"", type, 17};
        expr.target = type;
        expr.body = body;
        expr.attributes = std::move(attributes);
        for (NodeId node : inputs) expr.arguments.push_back(Argument::of(node));
        return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
    }
    void infer() { analysis::inferTypes(graph, findings); }
    QString type(NodeId node) const { return QString::fromStdString(graph.node(node).type.text()); }
};

tensor::Attributes with(const std::string& name, tensor::AttributeValue value) {
    tensor::Attributes attributes;
    attributes.set(name, std::move(value));
    return attributes;
}

using Ints = std::vector<std::int64_t>;
const Dim kN = Dim::named("N"), kH = Dim::named("H"), kW = Dim::named("W"), kT = Dim::named("T");

}  // namespace

/// Expected types were worked by hand.
class TestInfer : public QObject {
    Q_OBJECT

  private slots:
    void windowsKeepExpressions() {
        Maker m;
        const NodeId x = m.input("x", {kN, Dim::of(3), kH, kW});
        const NodeId w = m.constant("w", Tensor::zeros(DType::Float32, {64, 3, 7, 7}).value());
        tensor::Attributes strided = with("strides", Ints{2, 2});
        strided.set("pads", Ints{3, 3, 3, 3});
        const NodeId stem = m.op("Conv", "stem", {x, w}, strided);
        tensor::Attributes pool = with("kernel_shape", Ints{3, 3});
        pool.set("strides", Ints{2, 2});
        pool.set("pads", Ints{1, 1, 1, 1});
        const NodeId pooled = m.op("MaxPool", "pooled", {stem}, pool);
        tensor::Attributes same = with("kernel_shape", Ints{2, 2});
        same.set("strides", Ints{2, 2});
        same.set("auto_pad", std::string("SAME_UPPER"));
        const NodeId averaged = m.op("AveragePool", "averaged", {pooled}, same);
        const NodeId flat = m.op("Flatten", "flat", {averaged});
        m.infer();
        QCOMPARE(m.type(stem), QString("float32[N,64,(H+1)//2,(W+1)//2]"));
        QCOMPARE(m.type(pooled), QString("float32[N,64,(H+3)//4,(W+3)//4]"));
        QCOMPARE(m.type(averaged), QString("float32[N,64,(H+7)//8,(W+7)//8]"));
        QCOMPARE(m.type(flat), QString("float32[N,64*((H+7)//8)*((W+7)//8)]"));
        QVERIFY(m.findings.empty());
    }

    /// x.view(x.size(0) * 2, -1, 8) as exporters write it.
    void shapesAreFollowedThroughComputations() {
        Maker m;
        const NodeId x = m.input("x", {kN, kT, Dim::of(64)});
        const NodeId shape = m.op("Shape", "shape", {x});
        const NodeId first = m.op("Gather", "first", {shape, m.number("zero", 0)});
        const NodeId twice = m.op("Mul", "twice", {first, m.number("two", 2)});
        const NodeId unsqueezed = m.op("Unsqueeze", "unsqueezed", {twice, m.ints("axes", {0})});
        const NodeId target = m.op("Concat", "target", {unsqueezed, m.ints("open", {-1}), m.ints("eight", {8})},
                                   with("axis", std::int64_t{0}));
        const NodeId y = m.op("Reshape", "y", {x, target});
        const NodeId steps = m.op("Gather", "steps", {shape, m.number("one", 1)});
        const NodeId range = m.op("Range", "range", {m.number("from", 0), steps, m.number("by", 1)});
        const NodeId last = m.op("Sub", "last", {steps, m.number("less", 1)});
        const NodeId end = m.op("Unsqueeze", "end", {last, m.ints("axes2", {0})});
        const NodeId cut = m.op("Slice", "cut", {x, m.ints("starts", {0}), end, m.ints("on", {1})});
        const NodeId mask =
            m.op("ConstantOfShape", "mask", {m.op("Slice", "front", {shape, m.ints("s", {0}), m.ints("e", {2})})});
        const NodeId wide = m.op("Expand", "wide", {m.constant("seven", Tensor::scalar<float>(7)), shape});
        m.infer();
        QCOMPARE(m.type(y), QString("float32[2*N,4*T,8]"));
        QCOMPARE(m.type(range), QString("int64[T]"));
        QCOMPARE(m.type(cut), QString("float32[N,T-1,64]"));
        QCOMPARE(m.type(mask), QString("float32[N,T]"));
        QCOMPARE(m.type(wide), QString("float32[N,T,64]"));
        QVERIFY(m.findings.empty());
    }

    /// Half the height by way of floating-point scales, as older exporters computed it.
    void sizesAreFollowedThroughFloats() {
        Maker m;
        const NodeId x = m.input("x", {Dim::of(1), Dim::of(3), kH, kW});
        const NodeId spatial =
            m.op("Slice", "spatial", {m.op("Shape", "shape", {x}), m.ints("s", {2}), m.ints("e", {4})});
        const NodeId real = m.op("Cast", "real", {spatial}, with("to", std::int64_t{1}));
        const NodeId half =
            m.op("Floor", "half", {m.op("Mul", "scaled", {real, m.constant("by", Tensor::of<float>({1}, {0.5F}))})});
        const NodeId sizes = m.op("Concat", "sizes",
                                  {m.ints("front", {1, 3}), m.op("Cast", "whole", {half}, with("to", std::int64_t{7}))},
                                  with("axis", std::int64_t{0}));
        const NodeId none = m.constant("none", Tensor::zeros(DType::Float32, {0}).value());
        const NodeId y = m.op("Resize", "y", {x, none, none, sizes});
        m.infer();
        QCOMPARE(m.type(y), QString("float32[1,3,H//2,W//2]"));
    }

    void branchesAreUnifiedUnlessOneIsCertain() {
        for (const bool isCertain : {false, true}) {
            Maker m;
            const NodeId x = m.input("x", {kN, isCertain ? Dim::of(1) : kT, Dim::of(8)});
            const NodeId second = m.op("Gather", "second", {m.op("Shape", "shape", {x}), m.number("one", 1)});
            const NodeId isOne = m.op("Equal", "is_one", {second, m.number("same", 1)});
            tensor::Attributes attributes = with("then_branch", tensor::BodyRef{0});
            attributes.set("else_branch", tensor::BodyRef{1});
            const NodeId y = m.op("If", "y", {isOne}, attributes);
            const ExprId owner = m.graph.node(y).producer;
            const BodyId one = m.graph.addBody(owner, "then_branch"), other = m.graph.addBody(owner, "else_branch");
            m.graph.setResult(
                one, Argument::of(m.op("Squeeze", "squeezed",
                                       {x, m.constant("axis", Tensor::of<std::int64_t>({1}, {1}), one)}, {}, one)));
            m.graph.setResult(other, Argument::of(m.op("Relu", "kept", {x}, {}, other)));
            m.infer();
            QCOMPARE(m.type(y), QString(isCertain ? "float32[N,8]" : "float32"));
            QVERIFY(m.findings.empty());
        }
    }

    /// Grows along one axis in each pass, keeps the other, and stacks one row a pass.
    void loopsKeepWhatHoldsInEveryPass() {
        Maker m;
        const NodeId x = m.input("x", {kT, Dim::of(8)});
        const NodeId trips = m.op("Gather", "trips", {m.op("Shape", "shape", {x}), m.number("zero", 0)});
        const NodeId yes = m.constant("yes", Tensor::scalar<bool>(true));
        Expr loop;
        loop.op = {"", "Loop", 17};
        loop.target = "Loop";
        loop.body = m.graph.mainId();
        loop.arguments = {Argument::of(trips), Argument::of(yes), Argument::of(x)};
        loop.attributes.set("body", tensor::BodyRef{0});
        const std::vector<std::string> names{"grown", "rows"};
        const ExprId owner = m.graph.addExpr(std::move(loop), names);
        const BodyId body = m.graph.addBody(owner, "body");
        const NodeId pass = m.graph.addInput(body, "pass", {});
        const NodeId condition = m.graph.addInput(body, "condition", {});
        const NodeId carried = m.graph.addInput(body, "carried", {});
        const NodeId more = m.op("Concat", "more", {carried, x}, with("axis", std::int64_t{0}), body);
        const NodeId row = m.op("Gather", "row", {x, pass}, with("axis", std::int64_t{0}), body);
        const NodeId again = m.op("Identity", "again", {condition}, {}, body);
        m.graph.setResult(body, Argument::container(Argument::Kind::Tuple,
                                                    {Argument::of(again), Argument::of(more), Argument::of(row)}));
        m.infer();
        QCOMPARE(m.type(carried), QString("float32[?,8]"));
        QCOMPARE(m.type(m.graph.findNode("grown")), QString("float32[?,8]"));
        QCOMPARE(m.type(m.graph.findNode("rows")), QString("float32[T,8]"));
        QVERIFY(m.findings.empty());
    }

    void aWrongDeclarationIsAFindingThatNamesThePlace() {
        Maker m;
        const NodeId x = m.input("x", {kN, Dim::of(3)});
        const NodeId y = m.op("Relu", "y", {x});
        m.graph.setType(y, TypeInfo::tensor(DType::Float32, std::vector<Dim>{kN, Dim::of(4)}));
        m.graph.mutableExpr(m.graph.node(y).producer).qualname = "head.act";
        m.infer();
        QCOMPARE(m.findings.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(m.findings[0].what),
                 QString("the file declares float32[N,4] but its operators return float32[N,3]"));
        QCOMPARE(QString::fromStdString(m.findings[0].where), QString("node 'y', module 'head.act'"));
    }

    void behindAnUnknownOperatorTheRestGoesOn() {
        Maker m;
        const NodeId x = m.input("x", {kN, Dim::of(3)});
        const NodeId odd = m.op("Frobnicate", "odd", {x});
        const NodeId lost = m.op("Relu", "lost", {odd});
        const NodeId product =
            m.op("Gemm", "product", {lost, m.constant("w", Tensor::zeros(DType::Float32, {3, 5}).value())});
        const NodeId kept = m.op("Relu", "kept", {x});
        m.infer();
        QCOMPARE(m.type(odd), QString("?"));
        QCOMPARE(m.graph.node(product).type.shape->size(), std::size_t{2});
        QCOMPARE(m.type(kept), QString("float32[N,3]"));
    }

    void openDimSizesOfInputsGetNames() {
        Maker m;
        const NodeId x = m.input("gpu_0/data", {Dim{}, Dim::of(3)});
        const NodeId y = m.op("Concat", "y", {x, x}, with("axis", std::int64_t{0}));
        m.infer();
        QCOMPARE(m.type(y), QString("float32[2*gpu_0_data.0,3]"));
    }

    /// Expressions do not grow without end: each step doubles and adds, or reshapes. If they did, this would not end.
    void longChainsEnd() {
        Maker m;
        NodeId x = m.input("x", {kN, kT});
        for (int i = 0; i < 4000; ++i) {
            const std::string n = std::to_string(i);
            x = i % 3 == 2 ? m.op("Transpose", "t" + n, {x})
                           : m.op("Concat", "c" + n, {x, x}, with("axis", std::int64_t{i % 2}));
        }
        m.infer();
        QCOMPARE(m.graph.node(x).type.shape->size(), std::size_t{2});
    }

    /// Loops inside loops inside loops: inner ones are not inferred over and over, 4^60 times.
    void deepLoopsEnd() {
        Maker m;
        const NodeId x = m.input("x", {kN});
        const NodeId yes = m.constant("yes", Tensor::scalar<bool>(true));
        const NodeId trips = m.number("trips", 3);
        NodeId carried = x;
        BodyId body = m.graph.mainId();
        std::vector<std::pair<BodyId, NodeId>> open;
        for (int i = 0; i < 60; ++i) {
            const NodeId y =
                m.op("Loop", "y" + std::to_string(i), {trips, yes, carried}, with("body", tensor::BodyRef{0}), body);
            open.emplace_back(body, y);
            body = m.graph.addBody(m.graph.node(y).producer, "body");
            m.graph.addInput(body, "p" + std::to_string(i), {});
            const NodeId condition = m.graph.addInput(body, "q" + std::to_string(i), {});
            carried = m.graph.addInput(body, "c" + std::to_string(i), {});
            open.back().first = body;
            if (i == 59) {
                const NodeId end = m.op("Concat", "end", {carried, carried}, with("axis", std::int64_t{0}), body);
                m.graph.setResult(
                    body, Argument::container(Argument::Kind::Tuple, {Argument::of(condition), Argument::of(end)}));
            }
        }
        for (std::size_t i = 0; i + 1 < open.size(); ++i) {
            const NodeId condition = m.graph.findNode("q" + std::to_string(i));
            m.graph.setResult(open[i].first,
                              Argument::container(Argument::Kind::Tuple,
                                                  {Argument::of(condition), Argument::of(open[i + 1].second)}));
        }
        m.infer();
        QCOMPARE(m.graph.node(m.graph.findNode("y0")).type.dtype, DType::Float32);
    }
};

QTEST_APPLESS_MAIN(TestInfer)

}  // namespace tst_infer

#include "tst_infer.moc"
