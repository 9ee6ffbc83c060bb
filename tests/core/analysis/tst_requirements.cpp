// What layers require of the inputs of archives, whose files say nothing about them. Expected: the models' sources in
// tests/data/models/generate and the inputs in their .npz files; of graphs by hand torch's formulas of output sizes,
// backwards.

#include <QDir>
#include <QtTest>

#include <functional>

#include "core/analysis/requirements.h"
#include "core/document/document.h"
#include "core/document/document_json.h"
#include "core/document/input_infos.h"
#include "core/io/inputs/inputs.h"
#include "tests/core/passes/graph_maker.h"
#include "tests/support/reference_sets.h"

namespace tst_requirements {

using namespace sonde;
using test::arg;
using test::list;
using test::Maker;

namespace {

tensor::Value weights(const tensor::Shape& shape) {
    return tensor::Value(tensor::Tensor::zeros(tensor::DType::Float32, shape).value());
}

/// A layer with weights of zero.
graph::NodeId conv(Maker& maker, const std::string& name, graph::NodeId x, const tensor::Shape& weight,
                   std::int64_t stride = 1, std::int64_t padding = 0) {
    const std::vector<graph::Argument> each(weight.rank() - 2, arg(stride)), pads(weight.rank() - 2, arg(padding)),
        ones(weight.rank() - 2, arg(1));
    const std::string op = "aten::conv" + std::to_string(weight.rank() - 2) + "d";
    return maker.call(name, op, x, maker.constant(name + "_w", weights(weight).tensor()), test::none(), list(each),
                      list(pads), list(ones), 1);
}
graph::NodeId linear(Maker& maker, const std::string& name, graph::NodeId x, std::int64_t from, std::int64_t to) {
    return maker.call(name, "aten::linear", x, maker.constant(name + "_w", weights({to, from}).tensor()));
}
graph::NodeId pool2(Maker& maker, const std::string& name, graph::NodeId x) {
    return maker.call(name, "aten::max_pool2d", x, list({arg(2), arg(2)}));
}

}  // namespace

class TestRequirement : public QObject {
    Q_OBJECT

  private slots:
    void archives_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QString>("first");  // what a first run is given
        const auto add = [](const char* file, const char* type, const char* first) {
            QTest::newRow(file) << type << first;
        };
        add("resnet18_slim.trace.pt", "float32[x.0,3,x.2,x.3]", "[1,3,224,224]");  // Conv2d(3, …)
        add("resnet18_slim.script.pt", "float32[x.0,3,x.2,x.3]", "[1,3,224,224]");
        add("unet_small.frozen.pt", "float32[image.0,3,image.2,image.3]", "[1,3,224,224]");
        add("vit_small.script.pt", "float32[x.0,3,32,32]", "[1,3,32,32]");  // asserts its height and width
        add("vit_small.trace.pt", "float32[x.0,3,x.2,x.3]",
            "[1,3,32,32]");  // 17 positions: a token and 4x4 patches of 8x8
        add("vit_small.nograd.trace.pt", "float32[x.0,3,x.2,x.3]", "[1,3,32,32]");
        add("lstm_classifier.trace.pt", "int64[tokens.0,tokens.1]", "[1,1]");   // Embedding, then LSTM on [N,L,E]
        add("lstm_classifier.script.pt", "int64[tokens.0,tokens.1]", "[1,1]");  // adds a batch where there is none
        add("gpt_mini.trace.pt", "int64[idx.0,idx.1]", "[1,1]");  // size(1), and at most [B,T,C] behind Embedding
        add("gpt_mini.script.pt", "int64[idx.0,idx.1]", "[1,1]");
        add("control_flow.script.pt", "float32[x.0,8]", "[1,8]");  // Linear(8) in both branches
        add("shared_twice.trace.pt", "float32", "[1,12]");         // Linear(12): any rank
        add("shared_twice.script.pt", "float32", "[1,12]");
        add("mlp_functional.trace.pt", "float32", "[1,12]");  // x + 1 + 2, Linear(12), indexed by two
        add("mlp_functional.script.pt", "float32", "[1,12]");
        add("script_features.script.pt", "float32", "[1,6]");  // Linear(6) in a loop that is unrolled
    }
    void archives() {
        QFETCH(QString, type);
        QFETCH(QString, first);
        const QString path = QDir(test::referenceModels()).filePath(QTest::currentDataTag());
        SONDE_NEEDS_SET("models", path);
        const auto document = document::open(path.toStdString());
        QVERIFY2(document.has_value(), qPrintable(path));
        const document::NamedNode& input = (*document)->inputs.front();
        QCOMPARE(QString::fromStdString((*document)->graph->node(input.node).type.text()), type);
        const io::InputInfo info = document::inputInfos(**document).front();
        QCOMPARE(QString::fromStdString(io::usualShape(info.type, info.usual).text()), first);
        QVERIFY(input.isRequired);
        const std::string json = document::documentJson(**document);
        QCOMPARE(json.find("\"demanded_inputs\":[\"" + input.name + "\"]") != std::string::npos, input.isRequired);
    }

    /// Graphs by hand: what a first run gives them, and that they run on it.
    void firstRuns_data() {
        using Build = std::function<graph::NodeId(Maker&, graph::NodeId)>;
        QTest::addColumn<Build>("build");
        QTest::addColumn<QString>("first");
        const auto add = [](const char* name, const char* first, Build build) {
            QTest::newRow(name) << build << first;
        };
        add("a linear layer", "[1,5]",
            [](Maker& m, graph::NodeId x) { return linear(m, "y", m.call("s", "aten::mul.Scalar", x, 0.5), 5, 2); });
        add("x @ w", "[1,6]", [](Maker& m, graph::NodeId x) {
            return m.call("y", "aten::matmul", x, m.constant("w", weights({6, 4}).tensor()));
        });
        add("the mean over time", "[1,1,7]", [](Maker& m, graph::NodeId x) {
            return linear(m, "y", m.call("t", "aten::mean.dim", x, list({arg(1)}), false), 7, 2);
        });
        add("the first token", "[1,1,7]",
            [](Maker& m, graph::NodeId x) { return linear(m, "y", m.call("t", "aten::select.int", x, 1, 0), 7, 2); });
        add("a row of pixels", "[1,784]", [](Maker& m, graph::NodeId x) {
            return linear(m, "y", m.call("f", "aten::flatten.using_ints", x, 1, -1), 784, 2);
        });
        // 28 → 26 → 24 → 12: 64 · 12 · 12 = 9216
        add("flattened feature maps", "[1,1,28,28]", [](Maker& m, graph::NodeId x) {
            const graph::NodeId maps = pool2(m, "p", conv(m, "b", conv(m, "a", x, {32, 1, 3, 3}), {64, 32, 3, 3}));
            return linear(m, "y", m.call("f", "aten::flatten.using_ints", maps, 1, -1), 9216, 10);
        });
        // 32 → 28 → 14 → 10 → 5: 16 · 5 · 5 = 400
        add("viewed feature maps", "[1,3,32,32]", [](Maker& m, graph::NodeId x) {
            const graph::NodeId maps = pool2(
                m, "q",
                m.call("r", "aten::relu", conv(m, "b", pool2(m, "p", conv(m, "a", x, {6, 3, 5, 5})), {16, 6, 5, 5})));
            return linear(m, "y", m.call("v", "aten::view", maps, list({arg(-1), arg(400)})), 400, 10);
        });
        // (28 − 1) · 8 + 8 = 224, and up to 231 gives 28: the roundest is taken
        add("the roundest size", "[1,3,224,224]", [](Maker& m, graph::NodeId x) {
            return linear(m, "y", m.call("f", "aten::flatten.using_ints", conv(m, "a", x, {2, 3, 8, 8}, 8), 1, -1),
                          2 * 28 * 28, 10);
        });
        add("a table of positions", "[1,12]", [](Maker& m, graph::NodeId x) {
            const graph::NodeId rows =
                m.call("e", "aten::embedding", m.constant("table", weights({50, 16}).tensor()), x);
            const graph::NodeId sum =
                m.call("s", "aten::add.Tensor", rows, m.constant("positions", weights({1, 12, 16}).tensor()), 1);
            return linear(m, "y", m.call("f", "aten::flatten.using_ints", sum, 1, -1), 12 * 16, 3);
        });
        // (1 − 1) · 4 + 9 = 9 elements
        add("one window's length", "[1,2,9]", [](Maker& m, graph::NodeId x) { return conv(m, "y", x, {4, 2, 9}, 4); });
        add("a dimension that is added", "[1,9]", [](Maker& m, graph::NodeId x) {
            return conv(m, "y", m.call("u", "aten::unsqueeze", x, 1), {4, 1, 9}, 4);
        });
        // 3 · 2 · … : (1 − 1) + 3 = 3, · 2 = 6, + 2 = 8
        add("windows in three dimensions", "[1,3,8,8,8]", [](Maker& m, graph::NodeId x) {
            return conv(
                m, "b",
                m.call("p", "aten::max_pool3d", conv(m, "a", x, {4, 3, 3, 3, 3}), list({arg(2), arg(2), arg(2)})),
                {4, 4, 3, 3, 3});
        });
        add("100 steps of 8 channels", "[1,4,100]", [](Maker& m, graph::NodeId x) {
            return linear(m, "y", m.call("f", "aten::flatten.using_ints", conv(m, "a", x, {8, 4, 3}, 1, 1), 1, -1), 800,
                          2);
        });
        add("elements that are taken", "[1,4]", [](Maker& m, graph::NodeId x) {
            return m.make(graph::ExprKind::CallFunction, "y", "prim::getitem",
                          {arg(x), test::tuple({test::all(), test::cut(arg(3), test::none())})});
        });
        // 49 tokens of 8: 7 · 7 patches of 4 · 4 pixels
        add("patches as tokens", "[1,3,28,28]", [](Maker& m, graph::NodeId x) {
            const graph::NodeId tokens =
                m.call("t", "aten::transpose.int",
                       m.call("f", "aten::flatten.using_ints", conv(m, "p", x, {8, 3, 4, 4}, 4), 2, -1), 1, 2);
            return m.call("y", "aten::add.Tensor", tokens, m.constant("positions", weights({1, 49, 8}).tensor()), 1);
        });
    }
    void firstRuns() {
        using Build = std::function<graph::NodeId(Maker&, graph::NodeId)>;
        QFETCH(Build, build);
        QFETCH(QString, first);
        Maker maker;
        const graph::NodeId x = maker.input("x");
        maker.result(build(maker, x));
        (void)analysis::requireInputTypes(maker.graph);
        const io::InputInfo input{"x", maker.graph.node(x).type, true, analysis::usualDimSizes(maker.graph).front()};
        QCOMPARE(QString::fromStdString(io::usualShape(input.type, input.usual).text()), first);
        std::string error;
        const auto value = io::makeInput("#rand(0,1)", input, 0);
        QVERIFY(value.has_value());
        QCOMPARE(test::run(maker.graph, {*value}, &error).size(), std::size_t{1});
        QCOMPARE(error, std::string());
    }

    /// Sizes that no machine has are no guess.
    void absurdSizesAreNotGuessed() {
        Maker maker;
        const graph::NodeId x = maker.input("x");
        const graph::NodeId taken = maker.call("t", "aten::narrow", x, 0, std::int64_t{1} << 40, 1);
        maker.result(conv(maker, "y", taken, {1, 1, 1}, std::int64_t{1} << 62, std::int64_t{1} << 62));
        (void)analysis::requireInputTypes(maker.graph);
        const tensor::Shape shape =
            io::usualShape(maker.graph.node(x).type, analysis::usualDimSizes(maker.graph).front());
        QVERIFY(shape.checkedNumel().value_or(INT64_MAX) <= std::int64_t{1} << 27);
    }

    /// What the file or the user says is no guess.
    void knownInputsStay() {
        const auto document = document::open("zoo:resnet18_slim");
        QVERIFY(document.has_value());
        QVERIFY(!(*document)->inputs.front().isRequired);
    }

    /// Files may give any argument by name.
    void argumentsByNameSayNothing() {
        using graph::Argument;
        graph::InternalGraph graph;
        const graph::NodeId x = graph.addInput(graph.mainId(), "x", {}, "x");
        const auto add = [&](const char* domain, const char* op, graph::BodyId body, const std::string& name) {
            graph::Expr expr;
            expr.op = {domain, op, 0};
            expr.target = op;
            expr.body = body;
            expr.scope = graph.rootScope();
            if (body == graph.mainId()) expr.arguments = {Argument::of(tensor::Value::ofBool(true))};
            else expr.keywords = {{"self", Argument::of(x)}, {"dim", Argument::of(tensor::Value::ofInt(0))}};
            return graph.addExpr(std::move(expr), std::span(&name, 1));
        };
        const graph::ExprId branch = add("prim", "If", graph.mainId(), "y");
        const graph::BodyId same = graph.addBody(branch, "then"), other = graph.addBody(branch, "else");
        const graph::NodeId batch = graph.expr(add("aten", "unsqueeze", other, "batch")).outputs.front();
        graph.setResult(same, Argument::container(Argument::Kind::Tuple, {Argument::of(x)}));
        graph.setResult(other, Argument::container(Argument::Kind::Tuple, {Argument::of(batch)}));
        QVERIFY(analysis::requireInputTypes(graph).empty());
    }

    /// A layer may take a single sample where a batch is shown: the data decides.
    void guidesDoNotBindTheRank() {
        const tensor::TypeInfo wanted =
            tensor::TypeInfo::tensor(tensor::DType::Float32, std::vector<tensor::Dim>{{}, tensor::Dim::of(3), {}, {}});
        QVERIFY(io::makeInputs("#rand(0,1,3,8,8)", {{"x", wanted, true}}).has_value());
        QVERIFY(!io::makeInputs("#rand(0,1,3,8,8)", {{"x", wanted}}).has_value());
    }
};

QTEST_GUILESS_MAIN(TestRequirement)

}  // namespace tst_requirements

#include "tst_requirements.moc"
