// Origins before carriers, what was accepted left out, and the sentence for the status.

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/analysis/problems.h"
#include "core/analysis/problems/contradictions.h"

namespace tst_problems {

using namespace sonde;
using analysis::Problem;
using analysis::ProblemKind;
using analysis::ProblemRole;
using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using tensor::DType;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const BodyId kMain(std::size_t{0});

NodeId apply(InternalGraph& graph, const std::string& op, const std::string& output, const std::vector<NodeId>& inputs,
             const std::string& qualname = "", std::optional<double> epsilon = {}) {
    Expr expr;
    expr.op = graph::OpKey{"", op, 17};
    expr.target = op;
    expr.body = kMain;
    expr.qualname = qualname;
    for (NodeId input : inputs) expr.arguments.push_back(Argument::of(input));
    if (epsilon) expr.attributes.set("epsilon", *epsilon);
    return graph.expr(graph.addExpr(std::move(expr), std::span<const std::string>(&output, 1))).outputs.front();
}

/// masked = mask - 1 / mask (infinite where mask is 0: -inf); scores = x + masked; best = max(scores, x);
/// difference = masked - masked (inf - inf is NaN); root = sqrt(x).
struct Masked {
    std::shared_ptr<InternalGraph> graph = std::make_shared<InternalGraph>();
    NodeId x, mask, masked, scores, root, last;

    Masked() {
        x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Float32));
        mask = graph->addInput(kMain, "mask", TypeInfo::tensor(DType::Float32));
        masked = apply(*graph, "Log", "masked", {mask}, "attention.mask");
        scores = apply(*graph, "Add", "scores", {x, masked}, "attention");
        root = apply(*graph, "Sqrt", "root", {x}, "norm");
        last = apply(*graph, "Mul", "last", {scores, root});
        graph->setResult(kMain, Argument::of(last));
    }

    exec::Recording run(std::vector<float> xs, std::vector<float> masks) const {
        exec::Runner runner(1);
        const auto count = static_cast<std::int64_t>(xs.size());
        return runner.run(
            *exec::Plan::make(graph, {}).value(),
            std::vector<Value>{Value(Tensor::of<float>({count}, xs)), Value(Tensor::of<float>({count}, masks))});
    }
    std::string text(const exec::Recording& recording, std::vector<NodeId> accepted = {}) const {
        std::string all;
        for (const Problem& problem : analysis::findProblems(*graph, recording, accepted)) {
            all += (all.empty() ? "" : ", ") + graph->node(problem.node).name + " " + std::string(name(problem.kind)) +
                   " " + std::string(name(problem.role));
        }
        return all;
    }
};

}  // namespace

class TestProblems : public QObject {
    Q_OBJECT

  private slots:
    void nothingIsWrongWithFiniteValues() {
        const Masked model;
        const exec::Recording recording = model.run({1, 4}, {1, 1});
        QCOMPARE(model.text(recording), std::string());
        QCOMPARE(analysis::summarizeBad(*model.graph, recording).text(*model.graph), std::string());
    }

    void originsComeBeforeCarriers() {
        const Masked model;
        // log 0 = -inf; sqrt -1 = NaN; x + -inf carries.
        const exec::Recording recording = model.run({1, -1}, {0, 1});
        QCOMPARE(model.text(recording),
                 std::string("masked inf origin, root nan origin, scores inf carrier, last nan carrier"));
        QCOMPARE(
            analysis::summarizeBad(*model.graph, recording).text(*model.graph),
            std::string(
                "NaN in 2 nodes, first produced by norm (Sqrt); Inf in 3 nodes, first produced by attention.mask (Log)"));
        const auto problems = analysis::findProblems(*model.graph, recording);
        QCOMPARE(problems[0].severity, base::Severity::Warning);  // it may be a mask
        QCOMPARE(problems[1].severity, base::Severity::Error);
        QCOMPARE(problems[1].message, std::string("1 element is NaN"));
        QVERIFY(problems[1].advice.starts_with("its input has negative elements; clamp it"));
        QCOMPARE(problems[2].severity, base::Severity::Info);
    }

    void whatIsAcceptedIsNoProblemNorWhatCarriesIt() {
        const Masked model;
        const exec::Recording recording = model.run({1, 4}, {0, 1});
        QCOMPARE(model.text(recording), std::string("masked inf origin, scores inf carrier, last inf carrier"));
        QCOMPARE(model.text(recording, {model.masked}), std::string());
        const analysis::BadSummary summary = analysis::summarizeBad(*model.graph, recording, std::vector{model.masked});
        QCOMPARE(summary.text(*model.graph), std::string());
        QCOMPARE(summary.accepted, std::size_t{3});
        // -inf · 0 is NaN: made of what was accepted, and accepted by nobody.
        const exec::Recording worse = model.run({0, 4}, {0, 1});
        QCOMPARE(model.text(worse, {model.masked}), std::string("last nan origin"));
        QCOMPARE(model.text(worse, {model.masked, model.last}), std::string());
    }

    /// −∞ − −∞ is NaN: made there, whether the mask was accepted or not, and said by the list and by the sentence
    /// alike.
    void nanOfInfinityIsMadeThere() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Float32));
        const NodeId mask = apply(*graph, "Log", "mask", {x});
        const NodeId gap = apply(*graph, "Sub", "gap", {mask, mask}, "head");
        const NodeId last = apply(*graph, "Neg", "last", {gap});
        graph->setResult(kMain, Argument::of(last));
        exec::Runner runner(1);
        const exec::Recording recording =
            runner.run(*exec::Plan::make(graph, {}).value(), std::vector<Value>{Value(Tensor::of<float>({2}, {0, 1}))});
        for (const std::vector<NodeId>& accepted : {std::vector<NodeId>{}, std::vector<NodeId>{mask}}) {
            const auto problems = analysis::findProblems(*graph, recording, accepted);
            const auto found = std::ranges::find(problems, gap, &Problem::node);
            QVERIFY(found != problems.end());
            QCOMPARE(found->role, ProblemRole::Origin);
            QCOMPARE(found->severity, base::Severity::Error);
            QVERIFY2(found->advice.find("finite") == std::string::npos, found->advice.c_str());
            QVERIFY(found->advice.find("infinity") != std::string::npos);
            QCOMPARE(problems.back().node, last);
            QCOMPARE(problems.back().role, ProblemRole::Carrier);
            QVERIFY(analysis::summarizeBad(*graph, recording, accepted).firstNan == gap);
        }
    }

    void inputsAreOriginsToo() {
        const Masked model;
        const exec::Recording recording = model.run({kInf, 4}, {1, 1});
        QCOMPARE(model.text(recording),
                 std::string("x inf origin, scores inf carrier, root inf carrier, last inf carrier"));
        QCOMPARE(analysis::summarizeBad(*model.graph, recording).text(*model.graph),
                 std::string("Inf in 4 nodes, first in input x"));
    }

    void aFailureIsAProblemOfItsNode() {
        const Masked model;
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(
            *exec::Plan::make(model.graph, {}).value(),
            std::vector<Value>{Value(Tensor::of<float>({2}, {1, 1})), Value(Tensor::of<float>({3}, {1, 1, 1}))});
        QVERIFY(recording.error);
        QCOMPARE(model.text(recording), std::string("scores failure origin"));
        QCOMPARE(recording.failures.at(0).inputTypes, (std::vector<std::string>{"float32[2]", "float32[3]"}));
    }

    void weightsThatAreBadAreNamed() {
        auto graph = std::make_shared<InternalGraph>();
        const NodeId x = graph->addInput(kMain, "x", TypeInfo::tensor(DType::Float32));
        Expr weight;
        weight.kind = graph::ExprKind::Constant;
        weight.body = kMain;
        const std::string name = "bn.running_var";
        const NodeId w =
            graph->expr(graph->addExpr(std::move(weight), std::span<const std::string>(&name, 1))).outputs.front();
        graph->setConstant(w, Value(Tensor::of<float>({2}, {std::nanf(""), 1})));
        const NodeId y = apply(*graph, "Mul", "y", {x, w}, "bn");
        graph->setResult(kMain, Argument::of(y));
        exec::Runner runner(1);
        const exec::Recording recording =
            runner.run(*exec::Plan::make(graph, {}).value(), std::vector<Value>{Value(Tensor::of<float>({2}, {1, 1}))});
        const auto problems = analysis::findProblems(*graph, recording);
        QCOMPARE(problems.size(), std::size_t{1});
        QCOMPARE(problems[0].role, ProblemRole::Origin);
        QCOMPARE(problems[0].message, std::string("1 element is NaN; its weight 'bn.running_var' holds NaN"));
        QVERIFY(problems[0].advice.find("finite") == std::string::npos);
    }

    void adviceIsAboutWhatHappened_data() {
        QTest::addColumn<double>("variance");
        QTest::addColumn<double>("epsilon");
        QTest::addColumn<double>("scale");
        QTest::addColumn<QString>("advice");
        QTest::newRow("negative") << -1.0 << 1e-5 << 1.0 << "its running variance has negative elements";
        QTest::newRow("zero") << 0.0 << 0.0 << 1.0
                              << "its running variance has elements that are zero, and its epsilon is 0";
        QTest::newRow("large scale") << 1.0 << 1e-5 << 3e38
                                     << "its inputs are finite, but its result exceeds the range of float32 (3.4e38): "
                                        "check its scale, its running variance and the magnitude of its input";
    }
    /// (x − 0) · scale / √(variance + ε) + 0 at x = 100.
    void adviceIsAboutWhatHappened() {
        QFETCH(double, variance);
        QFETCH(double, epsilon);
        QFETCH(double, scale);
        QFETCH(QString, advice);
        auto graph = std::make_shared<InternalGraph>();
        const auto type = TypeInfo::tensor(DType::Float32);
        std::vector<NodeId> inputs{graph->addInput(kMain, "x", type)};
        const std::pair<const char*, double> weights[] = {
            {"scale", scale}, {"bias", 0}, {"mean", 0}, {"variance", variance}};
        for (const auto& [label, number] : weights) {
            Expr weight;
            weight.kind = graph::ExprKind::Constant;
            weight.body = kMain;
            const std::string name = label;
            inputs.push_back(
                graph->expr(graph->addExpr(std::move(weight), std::span<const std::string>(&name, 1))).outputs.front());
            graph->setConstant(inputs.back(), Value(Tensor::of<float>({1}, {static_cast<float>(number)})));
        }
        const NodeId y = apply(*graph, "BatchNormalization", "y", inputs, "bn", epsilon);
        graph->setType(y, type);
        graph->setResult(kMain, Argument::of(y));
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(*exec::Plan::make(graph, {}).value(),
                                                     std::vector<Value>{Value(Tensor::of<float>({1, 1}, {100}))});
        const auto problems = analysis::findProblems(*graph, recording);
        QCOMPARE(problems.size(), std::size_t{1});
        QVERIFY2(QString::fromStdString(problems[0].advice).startsWith(advice), problems[0].advice.c_str());
    }

    /// Finite inputs, and more than float32 holds: not the inputs are wrong, their magnitude is.
    void overflowIsNamed() {
        auto graph = std::make_shared<InternalGraph>();
        const auto type = TypeInfo::tensor(DType::Float32);
        const NodeId x = graph->addInput(kMain, "x", type);
        const NodeId y = apply(*graph, "Mul", "y", {x, x});
        graph->setType(y, type);
        graph->setResult(kMain, Argument::of(y));
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(*exec::Plan::make(graph, {}).value(),
                                                     std::vector<Value>{Value(Tensor::of<float>({1}, {1e30F}))});
        const auto problems = analysis::findProblems(*graph, recording);
        QCOMPARE(problems.size(), std::size_t{1});
        QCOMPARE(problems[0].kind, ProblemKind::Overflow);
        QCOMPARE(problems[0].severity, base::Severity::Error);
        QCOMPARE(problems[0].advice,
                 std::string("its inputs are finite, but its result exceeds the range of float32 (3.4e38): "
                             "check the magnitude of its inputs and weights"));
    }

    /// x was guessed to be a vector of 2 and is one of 3: what follows from that contradicts nothing. z, of another
    /// input, does.
    void whatFollowsFromAGuessIsNoProblem() {
        auto graph = std::make_shared<InternalGraph>();
        const auto two = TypeInfo::tensor(DType::Float32, tensor::Shape{2});
        const NodeId x = graph->addInput(kMain, "x", two), w = graph->addInput(kMain, "w", two);
        const NodeId y = apply(*graph, "Abs", "y", {x}), z = apply(*graph, "Abs", "z", {w});
        graph->setType(y, two);
        graph->setType(z, TypeInfo::tensor(DType::Float32, tensor::Shape{1}));
        graph->setResult(kMain, Argument::of(z));
        const std::vector<Value> given{Value(Tensor::of<float>({3}, {1, 2, 3})), Value(Tensor::of<float>({2}, {1, 2}))};
        analysis::Contradictions found(graph);
        found.bindInputs(given);
        found.add(graph->node(y).producer, std::span(&given[0], 1));
        found.add(graph->node(z).producer, std::span(&given[1], 1));
        const auto problems = analysis::findProblems(*graph, exec::Recording(), {}, found.types());
        QCOMPARE(problems.size(), std::size_t{1});
        QCOMPARE(problems[0].node, z);
        QCOMPARE(problems[0].kind, ProblemKind::Shape);
    }
};

QTEST_GUILESS_MAIN(TestProblems)

}  // namespace tst_problems

#include "tst_problems.moc"
