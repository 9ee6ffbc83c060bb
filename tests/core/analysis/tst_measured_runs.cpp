// Statistics and differences of whole runs, and pairs of nodes of two graphs: on sums that can be worked by hand.

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/analysis/match.h"
#include "core/analysis/measured_runs.h"
#include "core/ops/kernels/float_kernels.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/written_models.h"

namespace tst_measured_runs {

using namespace sonde;
using analysis::MeasuredRun;
using graph::NodeId;
using tensor::Shape;
using tensor::Tensor;

namespace {

struct Sums {
    std::shared_ptr<graph::InternalGraph> graph = std::make_shared<graph::InternalGraph>();
    NodeId x;

    explicit Sums(const char* input = "x") {
        x = graph->addInput(graph->mainId(), input, tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{4}));
    }
    NodeId add(const char* op, std::vector<NodeId> inputs, std::string name, std::string qualname) {
        graph::Expr expr;
        expr.op = {"", op, 13};
        expr.target = op;
        expr.qualname = std::move(qualname);
        for (const NodeId in : inputs) expr.arguments.push_back(graph::Argument::of(in));
        return graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
    }
    NodeId parameter(std::string name, Tensor value) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.isParameter = true;
        expr.body = graph->mainId();
        expr.scope = graph->rootScope();
        const tensor::TypeInfo type = tensor::TypeInfo::tensor(value.dtype(), value.shape());
        const NodeId node = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
        graph->setType(node, type);
        graph->setConstant(node, tensor::Value(std::move(value)));
        return node;
    }
    void finish(NodeId result) { graph->setResult(graph->mainId(), graph::Argument::of(result)); }
};

tensor::Value floats(std::vector<float> values) {
    return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

/// y = x + x if c, else x * x; no shape is known.
struct Branches : Sums {
    NodeId c, y, sum, product;
    Branches() {
        c = graph->addInput(graph->mainId(), "c", tensor::TypeInfo::tensor(tensor::DType::Bool));
        y = add("If", {c}, "y", "");
        const graph::ExprId owner = graph->node(y).producer;
        sum = inside(owner, "then_branch", "Add", "sum", 0);
        product = inside(owner, "else_branch", "Mul", "product", 1);
        finish(y);
    }

  private:
    NodeId inside(graph::ExprId owner, const char* branch, const char* op, std::string name, std::uint32_t place) {
        const graph::BodyId body = graph->addBody(owner, branch);
        graph::Expr expr;
        expr.op = {"", op, 13};
        expr.target = op;
        expr.body = body;
        expr.arguments = {graph::Argument::of(x), graph::Argument::of(x)};
        const NodeId node = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
        graph->setResult(body, graph::Argument::of(node));
        graph->mutableExpr(owner).attributes.set(branch, tensor::BodyRef{place});
        return node;
    }
};

/// y = x + x; z = log(y); w = z + y.
struct Logs : Sums {
    NodeId y, z, w;
    Logs() {
        y = add("Add", {x, x}, "y", "a");
        z = add("Log", {y}, "z", "a");
        w = add("Add", {z, y}, "w", "b");
        finish(w);
    }
};

}  // namespace

class TestMeasuredRuns : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everyValueIsMeasured();
    void differencesNameTheFirst();
    void firstOnesAndInheritedOnes();
    void inALoopTheFirstIterationTells();
    void nanOnOneSideDiffers();
    void whatOneRunComputedDiffers();
    void equalRunsAgree();
    void aKeptReferenceIsNotRunAgain();
    void otherShapesAreTold();
    void statisticsOfLargeTensors();
    void deviationFarFromZero();
    void momentsOfEachInstructionSet();
    void statisticsTogether();
    void nodesArePairedByNameThenByPlace();
    void modulesOfOtherExportersArePaired();
    void aFoldedLayerIsPairedWithWhatItHasTakenIn();
    void namesAloneDoNotPairOtherOperatorsOfOtherRanks();
    void conditionsOfOtherChecksAreNotPaired();
};

void TestMeasuredRuns::everyValueIsMeasured() {
    const Logs g;
    exec::Runner runner(1);
    // y = {2, 0, -2, 6}: log gives ln 2, -Inf, NaN, ln 6
    const auto found = analysis::measureRun({g.graph, {floats({1, 0, -1, 3})}}, runner);
    QVERIFY(found);
    QVERIFY(!found->error);
    const auto& y = found->ofNode[g.y.index()];
    QVERIFY(y.has_value());
    QCOMPARE(y->count, std::int64_t{4});
    QCOMPARE(y->zeroCount, std::int64_t{1});
    QCOMPARE(y->mean, 1.5);
    QCOMPARE(y->minimum, -2.0);
    QCOMPARE(y->maximum, 6.0);
    QCOMPARE(y->deviation, std::sqrt((0.25 + 2.25 + 12.25 + 20.25) / 4));
    const auto& z = found->ofNode[g.z.index()];
    QCOMPARE(z->nanCount, std::int64_t{1});
    QCOMPARE(z->infCount, std::int64_t{1});
    QVERIFY(std::abs(z->maximum - std::log(6.0)) < 1e-6);
    QVERIFY(!found->ofNode[g.x.index()]);  // what is given is not computed
}

void TestMeasuredRuns::differencesNameTheFirst() {
    const Logs g;
    exec::Runner runner(1);
    const auto found =
        analysis::compareRuns({g.graph, {floats({1, 2, 3, 4})}}, {g.graph, {floats({1, 2, 3, 5})}}, {}, runner, {}, 1);
    QVERIFY(found);
    QCOMPARE(found->compared, std::size_t{3});
    QCOMPARE(found->differing, std::size_t{3});
    QVERIFY(found->firstDiverging == g.y);
    const auto& y = found->ofNode[g.y.index()];  // 8 against 10
    QCOMPARE(y->maxAbsolute, 2.0);
    QCOMPARE(y->maxRelative, 0.2);
    QVERIFY(!y->ok);
    QVERIFY(std::abs(found->ofNode[g.z.index()]->maxAbsolute - std::log(10.0 / 8.0)) < 1e-6);
}

/// y differs first, z and w because y does; v, of x² that agrees, is first again: what differs beside it is none of its
/// inputs.
void TestMeasuredRuns::firstOnesAndInheritedOnes() {
    Sums a, b;
    const auto build = [](Sums& g, const char* first, const char* last) {
        const NodeId y = g.add(first, {g.x}, "y", "a"), z = g.add("Neg", {y}, "z", "a"),
                     q = g.add("Mul", {g.x, g.x}, "q", "b"), v = g.add(last, {q}, "v", "b");
        g.finish(g.add("Add", {z, v}, "w", "b"));
    };
    build(a, "Abs", "Sqrt");
    build(b, "Neg", "Neg");
    exec::Runner runner(1);
    const tensor::Value x = floats({1, 2, 3, 4});
    const auto found = analysis::compareRuns({a.graph, {x}}, {b.graph, {x}}, {}, runner);
    QVERIFY(found);
    QStringList rows;
    for (const NodeId node : found->diverging)
        rows << QString::fromStdString(a.graph->node(node).name) +
                    (found->ofNode[node.index()]->isInherited ? " inherited" : " first");
    QCOMPARE(rows, (QStringList{"y first", "z inherited", "v first", "w inherited"}));
    QVERIFY(found->firstDiverging == a.graph->findNode("y"));
    QCOMPARE(found->ofNode[a.graph->findNode("z").index()]->cosine, -1.0);  // -|x| against x
}

/// NaN on one side is a difference, at the same places on both it is none.
/// s = 2 s + 1 in three iterations; with 2 s − 1 the product is another one from iteration 1 on, as its input is.
void TestMeasuredRuns::inALoopTheFirstIterationTells() {
    using namespace test::onnxfile;
    static constexpr int kFloat = 1, kInt64 = 7, kBool = 9;
    test::WrittenModels models;
    const auto open = [&](const char* op) {
        const Graph body{.nodes = {{"Mul", {"s", "two"}, {"product"}},
                                   {op, {"product", "one"}, {"next"}},
                                   {"Identity", {"c"}, {"on"}}},
                         .inputs = {valueInfo("i", kInt64, {}), valueInfo("c", kBool, {}), valueInfo("s", kFloat, {1})},
                         .outputs = {valueInfo("on", kBool, {}), valueInfo("next", kFloat, {1})}};
        const auto number = [](const char* name, float value) {
            return rawTensor(name, kFloat, {1}, test::floatBytes({value}));
        };
        return models.open(
            model(Graph{.nodes = {{"Loop", {"count", "", "x"}, {"y"}, "", "", {graphAttribute("body", body.bytes())}}},
                        .inputs = {valueInfo("x", kFloat, {1})},
                        .outputs = {valueInfo("y", kFloat, {1})},
                        .initializers = {number("two", 2), number("one", 1),
                                         rawTensor("count", kInt64, {}, std::string("\3\0\0\0\0\0\0\0", 8))}}));
    };
    const auto first = open("Add"), second = open("Sub");
    exec::Runner runner(1);
    const auto found = analysis::compareRuns({first->graph, {floats({1})}}, {second->graph, {floats({1})}}, {}, runner);
    QVERIFY(found);
    const auto of = [&](const char* name) { return found->ofNode[first->graph->findNode(name).index()]; };
    QVERIFY(of("product") && of("next") && of("y"));
    QCOMPARE(of("next")->iteration, std::optional<std::size_t>(0));
    QCOMPARE(of("product")->iteration, std::optional<std::size_t>(1));
    QVERIFY(!of("next")->isInherited);
    QVERIFY(of("product")->isInherited);
    QVERIFY(of("y")->isInherited);
}

void TestMeasuredRuns::nanOnOneSideDiffers() {
    const Logs g;
    exec::Runner runner(1);
    const auto both =
        analysis::compareRuns({g.graph, {floats({1, 1, -1, 3})}}, {g.graph, {floats({1, 1, -1, 3})}}, {}, runner);
    QCOMPARE(both->differing, std::size_t{0});
    const auto one = analysis::compareRuns({g.graph, {floats({1, 1, -1e-30F, 3e4F})}},
                                           {g.graph, {floats({1, 1, 1e-30F, 3e4F})}}, {}, runner);
    QVERIFY(one->firstDiverging == g.z);
    QVERIFY(std::isinf(one->ofNode[g.z.index()]->maxAbsolute));
    QVERIFY(one->ofNode[g.y.index()]->ok);
}

/// 2 + 2 = 2 * 2: the results of both branches are the same, and nothing in them is.
void TestMeasuredRuns::whatOneRunComputedDiffers() {
    const Branches model;
    const tensor::Value twos = floats({2, 2, 2, 2});
    exec::Runner runner(1);
    const auto found = analysis::compareRuns({model.graph, {twos, Tensor::scalar(true)}},
                                             {model.graph, {twos, Tensor::scalar(false)}}, {}, runner);
    QVERIFY(found && !found->error);
    QVERIFY(found->ofNode[model.y.index()]->ok);
    const auto& sum = found->ofNode[model.sum.index()];
    const auto& product = found->ofNode[model.product.index()];
    QVERIFY(sum && !sum->ok && !sum->isMeasured);
    QCOMPARE(sum->remarks(), std::string("computed in this run only"));
    QVERIFY(product && !product->ok && !product->isMeasured);
    QCOMPARE(product->remarks(), std::string("computed in the reference only"));
    QCOMPARE(found->compared, std::size_t{3});
    QCOMPARE(found->differing, std::size_t{2});
}

void TestMeasuredRuns::equalRunsAgree() {
    const Logs g;
    exec::Runner runner(1);
    // NaN equals NaN, and infinity infinity.
    const MeasuredRun run{g.graph, {floats({1, 0, -1, 3})}};
    const auto found = analysis::compareRuns(run, run, {}, runner);
    QVERIFY(found);
    QCOMPARE(found->differing, std::size_t{0});
    QVERIFY(!found->firstDiverging.valid());
}

namespace {

/// z = y without a change, by code that counts how often it runs.
struct Counted : Sums {
    class Count : public graph::Callable {
      public:
        explicit Count(int& calls) : m_calls(calls) {}
        base::Result<std::vector<tensor::Value>> call(std::span<const tensor::Value> arguments) const override {
            ++m_calls;
            return std::vector<tensor::Value>{arguments.front()};
        }

      private:
        int& m_calls;
    };

    int calls = 0;
    NodeId y, z;
    Counted() {
        y = add("Add", {x, x}, "y", "a");
        graph::Expr expr;
        expr.callable = std::make_shared<Count>(calls);
        expr.target = "count";
        expr.arguments.push_back(graph::Argument::of(y));
        std::string name = "z";
        z = graph->expr(graph->addExpr(std::move(expr), std::span(&name, 1))).outputs[0];
        graph->setType(y, graph->node(x).type);
        graph->setType(z, graph->node(x).type);
        finish(z);
    }
};

}  // namespace

/// Only for other inputs, another graph, other nodes, or in parts that are not held at once; what is found is the same.
void TestMeasuredRuns::aKeptReferenceIsNotRunAgain() {
    const Logs actual;
    const Counted other, again;
    exec::Runner runner(1);
    const std::vector<tensor::Value> ones{floats({1, 2, 3, 4})}, others{floats({1, 2, 3, 5})};
    const auto kept = std::make_shared<analysis::KeptRun>();
    const auto compare = [&](const std::vector<tensor::Value>& ours, const std::vector<tensor::Value>& theirs,
                             const Counted& reference, std::int64_t held = analysis::kHeldBytes) {
        const auto found =
            analysis::compareRuns({actual.graph, ours}, {reference.graph, theirs, {}, kept}, {}, runner, {}, held);
        return found && found->ofNode[actual.y.index()] ? found->ofNode[actual.y.index()]->maxAbsolute : -1;
    };
    QCOMPARE(compare(ones, ones, other), 0.0);
    QCOMPARE(other.calls, 1);
    QCOMPARE(compare(others, ones, other), 2.0);  // 10 against 8
    QCOMPARE(compare(ones, ones, other), 0.0);
    QCOMPARE(other.calls, 1);
    QCOMPARE(compare(others, others, other), 0.0);
    QCOMPARE(other.calls, 2);
    QCOMPARE(compare(ones, others, other), 2.0);
    QCOMPARE(other.calls, 2);
    QCOMPARE(compare(ones, others, again), 2.0);  // what another file had
    QCOMPARE(again.calls, 1);
    QVERIFY(compare(ones, others, again, 1) >= 0);
    QVERIFY(again.calls > 1);
    const int calls = again.calls;
    QVERIFY(compare(ones, others, again, 1) >= 0);
    QVERIFY(again.calls > calls);
    // Nodes that are compared: those of a graph that lacks one of them.
    QVERIFY(!kept->find(*again.graph, others, {again.y}));
}

void TestMeasuredRuns::otherShapesAreTold() {
    const Logs g;
    exec::Runner runner(1);
    const auto found =
        analysis::compareRuns({g.graph, {floats({1, 2, 3, 4})}}, {g.graph, {floats({1, 2, 3})}}, {}, runner);
    QVERIFY(found);
    QVERIFY(!found->ofNode[g.y.index()]->ok);
    QCOMPARE(found->ofNode[g.y.index()]->note, std::string("shape [4] instead of [3]"));
}

/// Several pieces, one of them with NaN and infinity; a view of the same elements gives the same bits.
void TestMeasuredRuns::statisticsOfLargeTensors() {
    constexpr std::int64_t kRows = 401, kColumns = 503;
    std::vector<float> values(kRows * kColumns);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i % 11 == 0 ? 0.0F : static_cast<float>(static_cast<int>(i * 7919 % 20011) - 9000) / 128.0F;
    values[70'000] = std::numeric_limits<float>::quiet_NaN();
    values[70'001] = -std::numeric_limits<float>::infinity();
    values[200'001] = 4711.5F;
    long double sum = 0, squares = 0;
    std::int64_t zeros = 0, finite = 0;
    float low = 0;
    for (const float x : values) {
        if (!std::isfinite(x)) continue;
        sum += x, zeros += x == 0, ++finite;
        low = std::min(low, x);
    }
    for (const float x : values)
        if (std::isfinite(x)) squares += (x - sum / finite) * (x - sum / finite);
    const Tensor x = Tensor::of<float>({kRows, kColumns}, values);
    const analysis::TensorStats stats = analysis::tensorStats(x);
    QCOMPARE(stats.nanCount, std::int64_t{1});
    QCOMPARE(stats.infCount, std::int64_t{1});
    QCOMPARE(stats.zeroCount, zeros);
    QCOMPARE(stats.maximum, 4711.5);
    QCOMPARE(stats.minimum, static_cast<double>(low));
    QVERIFY(std::fabs(stats.mean - static_cast<double>(sum / finite)) < 1e-12);
    QVERIFY(std::fabs(stats.deviation - static_cast<double>(std::sqrt(squares / finite))) < 1e-11);
    base::ThreadPool pool(3);
    const analysis::TensorStats threaded = analysis::tensorStats(x, {}, &pool);
    QVERIFY(threaded.mean == stats.mean && threaded.deviation == stats.deviation && threaded.nanCount == 1);
    const Tensor view = x.transposed(0, 1).contiguous().value().transposed(0, 1);
    QVERIFY(!view.isContiguous());
    const analysis::TensorStats same = analysis::tensorStats(view);  // in another order
    QVERIFY(std::fabs(same.mean - stats.mean) < 1e-12 && std::fabs(same.deviation - stats.deviation) < 1e-11);
    QVERIFY(same.minimum == stats.minimum && same.zeroCount == zeros && same.nanCount == 1 && same.infCount == 1);
    const Tensor part = x.sliced(1, 1, kColumns / 2, 2);
    QVERIFY(!part.isContiguous());
    const analysis::TensorStats ofPart = analysis::tensorStats(part);
    const analysis::TensorStats ofCopy = analysis::tensorStats(part.contiguous().value());
    QVERIFY(ofPart.mean == ofCopy.mean && ofPart.deviation == ofCopy.deviation && ofPart.minimum == ofCopy.minimum);
}

/// The mean is 2²⁴ times the deviation: without a shift Σx² loses it.
void TestMeasuredRuns::deviationFarFromZero() {
    std::vector<float> values(100'003);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 8'388'608.0F : 8'388'609.0F;
    const analysis::TensorStats stats = analysis::tensorStats(Tensor::of<float>({100'003}, values));
    QVERIFY(std::fabs(stats.mean - 8'388'608.5) < 1e-5);
    QVERIFY(std::fabs(stats.deviation - 0.5) < 1e-9);
    QCOMPARE(stats.minimum, 8'388'608.0);
    QCOMPARE(stats.maximum, 8'388'609.0);
}

void TestMeasuredRuns::momentsOfEachInstructionSet() {
    std::vector<float> values(1'003);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = i % 7 == 0 ? -0.0F : static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 3.0F;
    ops::kernels::MomentSums expected;
    ops::kernels::floatKernels(ops::kernels::Isa::Baseline)->moments(values.data(), values.size(), 0.25, expected);
    double sum = 0, squares = 0;
    for (const float x : values) sum += x - 0.25, squares += (x - 0.25) * (x - 0.25);
    QVERIFY(std::fabs(expected.sum - sum) < 1e-9);
    QVERIFY(std::fabs(expected.squares - squares) < 1e-8);
    QCOMPARE(expected.zeros, static_cast<std::size_t>(std::ranges::count(values, 0.0F)));
    QCOMPARE(expected.low, *std::ranges::min_element(values));
    QCOMPARE(expected.high, *std::ranges::max_element(values));
    for (const auto isa : {ops::kernels::Isa::Avx2, ops::kernels::Isa::Avx512}) {
        const ops::kernels::FloatKernels* kernels = ops::kernels::floatKernels(isa);
        if (!kernels) continue;
        ops::kernels::MomentSums sums;
        kernels->moments(values.data(), values.size(), 0.25, sums);
        QVERIFY(sums.sum == expected.sum && sums.squares == expected.squares && sums.zeros == expected.zeros);
        QVERIFY(sums.low == expected.low && sums.high == expected.high);
    }
}

void TestMeasuredRuns::statisticsTogether() {
    const auto of = [](std::vector<float> values) {
        return analysis::tensorStats(Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values));
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const analysis::TensorStats sum = analysis::together(of({1, 2, nan}), of({0, 5}));
    QCOMPARE(sum.count, std::int64_t{5});
    QCOMPARE(sum.nanCount, std::int64_t{1});
    QCOMPARE(sum.zeroCount, std::int64_t{1});
    QCOMPARE(sum.mean, 2.0);  // of 1, 2, 0, 5
    QCOMPARE(sum.minimum, 0.0);
    QCOMPARE(sum.maximum, 5.0);
    QCOMPARE(sum.deviation, std::sqrt((1.0 + 0 + 4 + 9) / 4));
    const analysis::TensorStats bad = analysis::together(of({nan}), of({3, 3}));
    QCOMPARE(bad.mean, 3.0);
    QCOMPARE(bad.deviation, 0.0);
}

void TestMeasuredRuns::nodesArePairedByNameThenByPlace() {
    Sums one("x"), other("input");
    const NodeId a = one.add("Relu", {one.x}, "kept", "m");
    const NodeId b = one.add("Add", {a, a}, "add_1", "m");
    const NodeId c = one.add("Add", {b, a}, "add_2", "m");
    const NodeId d = one.add("Log", {c}, "alone", "n");
    one.finish(d);
    // The exporter gave other names, but for one; "alone" is another operator in another module here.
    const NodeId a2 = other.add("Relu", {other.x}, "kept", "m");
    const NodeId b2 = other.add("Add", {a2, a2}, "17", "m");
    const NodeId c2 = other.add("Add", {b2, a2}, "add_1", "m");
    const NodeId d2 = other.add("Exp", {c2}, "alone", "o");
    other.finish(d2);
    const std::vector<NodeId> match = analysis::matchNodes(*one.graph, *other.graph);
    QVERIFY(match[a.index()] == a2);
    QVERIFY(match[b.index()] == c2);                               // the same name and operator
    QVERIFY(!match[c.index()].valid() || match[c.index()] != c2);  // each is used once
    QVERIFY(match[d.index()] == d2);                               // the same name at last
    QVERIFY(match[one.x.index()] == other.x);
}

/// conv -> bn -> act in one export; in the other the batch normalisation is in the convolution and operators have other
/// names.
void TestMeasuredRuns::modulesOfOtherExportersArePaired() {
    Sums one("x"), other("input");
    const NodeId conv = one.add("_convolution", {one.x}, "4", "conv");
    const NodeId bn = one.add("batch_norm", {conv}, "5", "bn");
    const NodeId act = one.add("relu_", {bn}, "6", "act");
    const NodeId sum = one.add("add_", {act, act}, "7", "");
    one.finish(sum);
    const NodeId conv2 = other.add("Conv", {other.x}, "a", "conv");
    const NodeId act2 = other.add("Relu", {conv2}, "b", "act");
    const NodeId sum2 = other.add("Add", {act2, act2}, "c", "");
    other.finish(sum2);
    const std::vector<NodeId> match = analysis::matchNodes(*one.graph, *other.graph);
    QVERIFY(!match[conv.index()].valid());
    QVERIFY(match[bn.index()] == conv2);
    QVERIFY(match[act.index()] == act2);
    QVERIFY(match[sum.index()] == sum2);
    const std::vector<NodeId> back = analysis::matchNodes(*other.graph, *one.graph);
    QVERIFY(back[conv2.index()] == bn);
    QVERIFY(back[act2.index()] == act);
}

namespace {

/// A convolution of one element, with batch normalisation behind it or in it: w 3, γ 2, β 1, mean 0.5, variance 0.25, ε
/// 0 give 4 (3 x - 0.5) + 1 = 12 x - 1.
struct Layer : Sums {
    NodeId product, norm, act;

    Layer(float weight, const std::optional<float>& bias, bool hasNorm) {
        const auto one = [](float value) { return Tensor::of<float>({1}, {value}); };
        graph->setType(x, tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{1, 1, 2, 2}));
        std::vector<NodeId> inputs{x, parameter("weight", Tensor::of<float>({1, 1, 1, 1}, {weight}))};
        if (bias) inputs.push_back(parameter("bias", one(*bias)));
        product = add("Conv", inputs, "conv", "conv");
        if (hasNorm) {
            norm = add("BatchNormalization",
                       {product, parameter("gamma", one(2)), parameter("beta", one(1)), parameter("mean", one(0.5F)),
                        parameter("variance", one(0.25F))},
                       "bn", "bn");
            graph->mutableExpr(graph->node(norm).producer).attributes.set("epsilon", 0.0);
        }
        act = add("Relu", {hasNorm ? norm : product}, "act", "act");
        finish(act);
    }
    MeasuredRun run() const { return {graph, {tensor::Value(Tensor::of<float>({1, 1, 2, 2}, {1, 2, -3, 0}))}}; }
};

}  // namespace

/// The convolution with the norm in it keeps the name and the module of the plain one, and gives what the norm gives.
void TestMeasuredRuns::aFoldedLayerIsPairedWithWhatItHasTakenIn() {
    const Layer plain(3, {}, true), folded(12, -1, false);
    const std::vector<NodeId> match = analysis::matchNodes(*plain.graph, *folded.graph);
    QVERIFY(!match[plain.product.index()].valid());
    QCOMPARE(match[plain.norm.index()].value, folded.product.value);
    QCOMPARE(match[plain.act.index()].value, folded.act.value);
    const std::vector<NodeId> back = analysis::matchNodes(*folded.graph, *plain.graph);
    QCOMPARE(back[folded.product.index()].value, plain.norm.value);
    QCOMPARE(back[folded.act.index()].value, plain.act.value);
    exec::Runner runner(1);
    const auto found = analysis::compareRuns(plain.run(), folded.run(), {}, runner);
    QVERIFY(found.has_value());
    QVERIFY2(!found->error, found->error ? found->error->text().c_str() : "");
    QCOMPARE(found->compared, 2U);
    QCOMPARE(found->differing, 0U);
    // Without its norm a layer is the same one as long as it has the same weight.
    const Layer bare(3, {}, false);
    QCOMPARE(analysis::matchNodes(*plain.graph, *bare.graph)[plain.product.index()].value, bare.product.value);
    // With a norm on both sides another weight is a difference.
    const Layer other(12, -1, true);
    const auto differing = analysis::compareRuns(plain.run(), other.run(), {}, runner);
    QVERIFY(differing.has_value());
    QCOMPARE(differing->firstDiverging.value, plain.product.value);
}

void TestMeasuredRuns::namesAloneDoNotPairOtherOperatorsOfOtherRanks() {
    Sums one("x"), other("x");
    const NodeId a = one.add("Shape", {one.x}, "getitem", ""), b = other.add("Slice", {other.x}, "getitem", "");
    one.graph->setType(a, tensor::TypeInfo::tensor(tensor::DType::Int64, Shape{}));
    other.graph->setType(b, tensor::TypeInfo::tensor(tensor::DType::Float32, Shape{4}));
    one.finish(one.add("Relu", {one.x}, "y", ""));
    other.finish(other.add("Relu", {other.x}, "y", ""));
    QVERIFY(!analysis::matchNodes(*one.graph, *other.graph)[a.index()].valid());
    other.graph->setType(b, tensor::TypeInfo());  // who knows
    QCOMPARE(analysis::matchNodes(*one.graph, *other.graph)[a.index()].value, b.value);
}

/// x.dim() == 4 is asserted in both; the one asks first whether it is 3.
void TestMeasuredRuns::conditionsOfOtherChecksAreNotPaired() {
    const auto condition = [](Sums& model, const char* name, std::int64_t number) {
        const NodeId rank = model.add("dim", {model.x}, std::string(name) + "_dim", "m");
        const NodeId equal = model.add("eq", {rank}, name, "m");
        model.graph->mutableExpr(model.graph->node(equal).producer)
            .arguments.push_back(graph::Argument::of(tensor::Value::ofInt(number)));
        const NodeId check = model.add("_assert", {equal}, std::string(name) + "_check", "m");
        model.graph->mutableExpr(model.graph->node(check).producer).op.domain = "prim";
        return equal;
    };
    Sums one("x"), other("x"), third("x");
    const NodeId four = condition(one, "eq", 4), three = condition(other, "eq", 3), same = condition(third, "eq", 4);
    condition(other, "eq_1", 4);
    for (Sums* model : {&one, &other, &third}) model->finish(model->add("Relu", {model->x}, "y", ""));
    QVERIFY(!analysis::matchNodes(*one.graph, *other.graph)[four.index()].valid());
    QVERIFY(!analysis::matchNodes(*other.graph, *one.graph)[three.index()].valid());
    QCOMPARE(analysis::matchNodes(*one.graph, *third.graph)[four.index()].value, same.value);
}

QTEST_GUILESS_MAIN(TestMeasuredRuns)

}  // namespace tst_measured_runs

#include "tst_measured_runs.moc"
