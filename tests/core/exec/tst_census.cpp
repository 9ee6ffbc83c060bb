// NaN and infinity are counted in every value that a run computes, also in those that are overwritten in a row of
// joined steps, and who made them is told from who carries them.

#include <QtTest>

#include <cmath>
#include <limits>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/ops/kernels/finite.h"

namespace tst_census {

using namespace sonde;
using exec::BadValues;
using exec::Plan;
using exec::PlanOptions;
using exec::Recording;
using exec::Runner;
using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
const BodyId kMain(std::size_t{0});

class Watcher final : public exec::RunObserver {};

NodeId apply(InternalGraph& graph, const std::string& op, const std::string& output, const std::vector<NodeId>& inputs,
             BodyId body = kMain) {
    Expr expr;
    expr.op = graph::OpKey{"", op, 17};
    expr.target = op;
    expr.body = body;
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1))).outputs.front();
}

NodeId constant(InternalGraph& graph, const std::string& name, Tensor value) {
    Expr expr;
    expr.kind = graph::ExprKind::Constant;
    expr.body = graph.mainId();
    const NodeId node =
        graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&name, 1))).outputs.front();
    graph.setConstant(node, Value(std::move(value)));
    return node;
}

struct Way {
    const char* name;
    bool watchAll, observed;
    std::size_t threads;
};
constexpr Way kWays[] = {{"plain", false, false, 1},
                         {"two threads", false, false, 2},
                         {"watched", true, false, 1},
                         {"step by step", false, true, 1},
                         {"all", true, true, 2}};

/// The last of some runs of one runner: from the second on it knows which steps had bad values.
Recording run(const std::shared_ptr<const InternalGraph>& graph, const std::vector<Value>& inputs, const Way& way,
              int runs = 1) {
    PlanOptions options;
    options.watchAll = way.watchAll;
    Watcher watcher;
    exec::RunOptions runOptions;
    if (way.observed) runOptions.observer = &watcher;
    Runner runner(way.threads);
    const auto plan = Plan::make(graph, options).value();
    for (; runs > 1; --runs) runner.run(*plan, inputs, {}, runOptions);
    return runner.run(*plan, inputs, {}, runOptions);
}

/// "name: nan inf origin", in the order of nodes.
std::string text(const InternalGraph& graph, const Recording& recording) {
    std::string result;
    for (std::size_t i = 0; i < graph.nodeCount(); ++i) {
        const auto found = recording.bad.find(NodeId(i));
        if (found == recording.bad.end()) continue;
        const BadValues& bad = found->second;
        result += (result.empty() ? "" : ", ") + graph.node(NodeId(i)).name + " " + std::to_string(bad.nan) + " " +
                  std::to_string(bad.inf) + (bad.isOrigin ? " origin" : "");
    }
    return result;
}

struct Model {
    std::shared_ptr<InternalGraph> graph = std::make_shared<InternalGraph>();
    NodeId x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Undefined));
    void ends(NodeId node) { graph->setResult(kMain, Argument::of(node)); }
    void same(const std::vector<Value>& inputs, const std::string& expected) const {
        for (const Way& way : kWays) {
            for (int runs : {1, 2}) {
                const Recording recording = run(graph, inputs, way, runs);
                QVERIFY2(!recording.error, way.name);
                QVERIFY2(text(*graph, recording) == expected,
                         (std::string(way.name) + ": " + text(*graph, recording)).c_str());
            }
        }
    }
};

Tensor identity3() { return Tensor::of<float>({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}); }

}  // namespace

class TestCensus : public QObject {
    Q_OBJECT

  private slots:
    void everyDTypeAndLayoutIsCounted() {
        base::ThreadPool pool(2);
        const auto count = [&](const Tensor& tensor) {
            const ops::kernels::BadCount found = ops::kernels::countBad(tensor, pool);
            return std::pair(found.nan, found.inf);
        };
        using Pair = std::pair<std::int64_t, std::int64_t>;
        const Tensor x = Tensor::of<float>({2, 3}, {1, kNan, -kInf, kInf, 0, -3e38F});
        QCOMPARE(count(x), (Pair{1, 2}));
        for (DType dtype : {DType::Float64, DType::Float16, DType::BFloat16}) {
            // -3e38 is outside of float16.
            QCOMPARE(count(x.cast(dtype).value()), (Pair{1, dtype == DType::Float16 ? 3 : 2}));
        }
        QCOMPARE(count(x.transposed(0, 1)), (Pair{1, 2}));
        QCOMPARE(count(x.selected(1, 2)), (Pair{0, 1}));
        QCOMPARE(count(x.sliced(1, 2, 3, -1)), (Pair{1, 2}));
        QCOMPARE(count(x.sliced(1, 0, 2, 2)), (Pair{0, 2}));
        QCOMPARE(count(Tensor::of<float>({1}, {kNan}).expanded({4}).value()), (Pair{4, 0}));
        QCOMPARE(count(Tensor::scalar(kInf)), (Pair{0, 1}));
        QCOMPARE(count(Tensor::of<std::int64_t>({2}, {0x7ff8000000000000LL, 1})), (Pair{0, 0}));
        const std::complex<float> elements[] = {{1, 2}, {kNan, kInf}, {0, -kInf}};
        QCOMPARE(count(Tensor::of<std::complex<float>>({3}, std::span<const std::complex<float>>(elements))),
                 (Pair{1, 1}));
        // Every position of long rows, whatever the vectors' width.
        for (std::int64_t at = 0; at < 200; ++at) {
            std::vector<float> row(200, 3.4e38F);
            row[static_cast<std::size_t>(at)] = at % 2 ? -kInf : -kNan;
            QCOMPARE(count(Tensor::of<float>({200}, row)), (at % 2 ? Pair{0, 1} : Pair{1, 0}));
        }
        std::vector<float> large(1 << 18, 1.0F);
        large.front() = large[100000] = large.back() = kNan;
        QCOMPARE(count(Tensor::of<float>({512, 512}, large)), (Pair{3, 0}));
    }

    void finiteRunsHaveNothing() {
        Model model;
        model.ends(apply(*model.graph, "Relu", "y", {apply(*model.graph, "Exp", "e", {model.x})}));
        model.same({Value(Tensor::of<float>({3}, {-1000, 0, 80}))}, "");
    }

    /// [1 1000 -1]·I = the same; exp = [e inf 1/e]; clip to at most 6 is finite again, and so is what comes after it.
    void whatIsSwallowedInARowOfStepsIsCounted() {
        Model model;
        const NodeId product =
            apply(*model.graph, "MatMul", "product", {model.x, constant(*model.graph, "w", identity3())});
        const NodeId exp = apply(*model.graph, "Exp", "exp", {product});
        const NodeId clip = apply(*model.graph, "Clip", "clip",
                                  {exp, constant(*model.graph, "low", Tensor::scalar(0.0F)),
                                   constant(*model.graph, "high", Tensor::scalar(6.0F))});
        model.ends(apply(*model.graph, "Neg", "y", {clip}));
        model.same({Value(Tensor::of<float>({1, 3}, {1, 1000, -1}))}, "exp 0 1 origin");
    }

    /// sqrt(-1) is NaN; max(NaN, 0) as ONNX's Relu gives NaN again; NaN - NaN too. The weight's infinity makes 0 · inf.
    void originsAreToldFromCarriers() {
        Model model;
        const NodeId root = apply(*model.graph, "Sqrt", "root", {model.x});
        const NodeId twice = apply(*model.graph, "Add", "twice", {root, root});
        const NodeId scaled = apply(*model.graph, "Mul", "scaled",
                                    {model.x, constant(*model.graph, "w", Tensor::of<float>({3}, {1, kInf, 1}))});
        model.ends(apply(*model.graph, "Concat", "y", {twice, scaled}));
        model.graph->mutableExpr(model.graph->node(model.graph->findNode("y")).producer)
            .attributes.set("axis", std::int64_t{0});
        model.same({Value(Tensor::of<float>({3}, {-1, 0, 4}))}, "root 1 0 origin, twice 1 0, scaled 1 0 origin, y 2 0");
        // The input's own NaN; Sqrt makes nothing new of it.
        model.same({Value(Tensor::of<float>({3}, {kNan, 1, 4}))},
                   "x 1 0 origin, root 1 0, twice 1 0, scaled 1 1, y 2 1");
    }

    void otherDTypesAndViewsCount() {
        Model model;
        const NodeId root = apply(*model.graph, "Sqrt", "root", {model.x});
        const NodeId turned = apply(*model.graph, "Transpose", "turned", {root});
        model.ends(apply(*model.graph, "Identity", "y", {turned}));
        model.same({Value(Tensor::of<double>({2, 2}, {-1, 1, -2, 3}))}, "root 2 0 origin, turned 2 0, y 2 0");
    }

    /// if c: sqrt(x) else x: what the branch makes, the If carries.
    void branchesCarryWhatTheirBodiesMake() {
        Model model;
        const NodeId c = model.graph->addInput(kMain, "c", TypeInfo::tensor(DType::Bool));
        const NodeId branch = apply(*model.graph, "If", "branch", {c});
        const ExprId owner = model.graph->node(branch).producer;
        const BodyId then = model.graph->addBody(owner, "then_branch"),
                     other = model.graph->addBody(owner, "else_branch");
        model.graph->setResult(then, Argument::of(apply(*model.graph, "Sqrt", "inside", {model.x}, then)));
        model.graph->setResult(other, Argument::of(apply(*model.graph, "Identity", "same", {model.x}, other)));
        model.graph->mutableExpr(owner).attributes.set("then_branch", tensor::BodyRef{0});
        model.graph->mutableExpr(owner).attributes.set("else_branch", tensor::BodyRef{1});
        model.ends(apply(*model.graph, "Neg", "y", {branch}));
        const Value x(Tensor::of<float>({2}, {-1, 1}));
        model.same({x, Value(Tensor::scalar(true))}, "branch 1 0, inside 1 0 origin, y 1 0");
        model.same({x, Value(Tensor::scalar(false))}, "");
    }

    /// One NaN in a picture, and one negative variance: what is counted in passing is what the kept values hold.
    void modelsCountWhatTheirValuesHold_data() {
        QTest::addColumn<QString>("model");
        for (const char* name : {"zoo:resnet18_slim", "zoo:mobilenet_v2", "zoo:unet_small", "zoo:vit_small"})
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void modelsCountWhatTheirValuesHold() {
        QFETCH(QString, model);
        const auto document = document::open(model.toStdString());
        QVERIFY(document);
        const std::shared_ptr<const InternalGraph> graph = (*document)->graph;
        Tensor x = Tensor::allocate(DType::Float32, *graph->node(graph->inputs()[0]).type.staticShape()).value();
        for (std::int64_t i = 0; i < x.numel(); ++i) x.mutableData<float>()[i] = static_cast<float>(i % 17) / 8 - 1;
        x.mutableData<float>()[x.numel() / 2] = kNan;
        x.mutableData<float>()[x.numel() / 3] = kInf;
        const Recording kept = run(graph, {Value(x)}, kWays[2]);
        QVERIFY(!kept.error && !kept.bad.empty());
        std::size_t seen = 0;
        for (const auto& [node, values] : kept.kept) {
            if (graph->node(node).constant || !values.back().isTensor() ||
                values.back().tensor().dtype() != DType::Float32)
                continue;
            const Tensor value = values.back().tensor().contiguous().value();
            std::int64_t nan = 0, inf = 0;
            for (const float element : value.span<float>())
                nan += std::isnan(element) ? 1 : 0, inf += std::isinf(element) ? 1 : 0;
            const auto found = kept.bad.find(node);
            const BadValues counted = found == kept.bad.end() ? BadValues{} : found->second;
            QVERIFY2(counted.nan == nan && counted.inf == inf, graph->node(node).name.c_str());
            ++seen;
        }
        QVERIFY(seen > 20);
        for (const Way& way : kWays) {
            const Recording recording = run(graph, {Value(x)}, way);
            for (std::size_t i = 0; i < graph->nodeCount(); ++i) {
                const NodeId node(i);
                if (!recording.computed(node)) continue;
                const auto expected = kept.bad.find(node), found = recording.bad.find(node);
                QVERIFY2((expected == kept.bad.end()) == (found == recording.bad.end()),
                         graph->node(node).name.c_str());
                if (found == recording.bad.end()) continue;
                QVERIFY2(expected->second.nan == found->second.nan && expected->second.inf == found->second.inf &&
                             expected->second.isOrigin == found->second.isOrigin,
                         (std::string(way.name) + " " + graph->node(node).name).c_str());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestCensus)

}  // namespace tst_census

#include "tst_census.moc"
