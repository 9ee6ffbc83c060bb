// Gradients of operators with several outputs, of norms over windows and of attention: against central differences
// (difference_case.h), and by formula where results are only kept in float32.

#include <QtTest>

#include <array>
#include <functional>
#include <optional>

#include "tests/core/session/gradient/difference_case.h"

namespace tst_gradient_layers {

using namespace sonde;
using namespace sonde::test::gradients;
using namespace sonde::test::gradients::differences;

namespace {

using Row = std::function<void(const char*, Case)>;

/// Only some outputs of an operator that takes all inputs.
Case outputsOf(const std::string& op, int version, std::vector<Dims> shapes, Attributes attributes, std::size_t outputs,
               std::vector<std::size_t> used) {
    return {std::move(shapes), [=](SmallNet& net, const Nodes& xs) {
                std::vector<Argument> arguments(xs.size());
                std::transform(xs.begin(), xs.end(), arguments.begin(), on);
                const Nodes all = onnx(net, op, version, arguments, attributes, outputs);
                Nodes some;
                for (const std::size_t i : used) some.push_back(all[i]);
                return some;
            }};
}

void addSeveralOutputs(const Row& row) {
    const Attributes thirds{{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{3}}};
    row("Split, the middle part", outputsOf("Split", 18, {{2, 6}}, thirds, 3, {1}));
    row("Split, two parts", outputsOf("Split", 18, {{2, 6}}, thirds, 3, {0, 2}));
    row("chunk, the first part",
        {{{2, 5}}, [](SmallNet& net, const Nodes& xs) {
             const NodeId list = net.call({"aten", "chunk", 0}, {on(xs[0]), integer(2), integer(1)}).front();
             return net.call({"prim", "getitem", 0}, {on(list), integer(0)});
         }});
    const Attributes training{{"training_mode", std::int64_t{1}}, {"momentum", 0.7}};
    const std::vector<Dims> batch{{3, 2, 2}, {2}, {2}, {2}, {2}};
    row("BatchNormalization in training", outputsOf("BatchNormalization", 15, batch, training, 1, {0}));
    row("BatchNormalization, running statistics", outputsOf("BatchNormalization", 15, batch, training, 3, {1, 2}));
    row("BatchNormalization, all outputs", outputsOf("BatchNormalization", 15, batch, training, 3, {0, 1, 2}));
    row("batch_norm in training", {{{3, 2, 2}, {2}, {2}}, [](SmallNet& net, const Nodes& xs) {
                                       return net.call({"aten", "batch_norm", 0},
                                                       {on(xs[0]), on(xs[1]), on(xs[2]), none(), none(), flag(true),
                                                        number(0.1), number(1e-5), flag(false)});
                                   }});
    row("Dropout that is not training",
        {{{2, 3}}, [](SmallNet& net, const Nodes& xs) {
             const auto constant = [](Tensor value) { return Argument::of(Value(std::move(value))); };
             return Nodes{
                 onnx(net, "Dropout", 13,
                      {on(xs[0]), constant(Tensor::scalar<float>(0.5F)), constant(Tensor::scalar<bool>(false))}, {}, 2)
                     .front()};
         }});
}

void addNorms(const Row& row) {
    for (const std::int64_t p : {1, 2, 3}) {
        row(qPrintable(QString("LpPool %1").arg(p)),
            plain("LpPool", 18, {{1, 2, 4, 5}},
                  {{"kernel_shape", Dims{2, 3}}, {"strides", Dims{2, 1}}, {"pads", Dims{1, 0, 0, 1}}, {"p", p}}, -1,
                  1.3));
        row(qPrintable(QString("GlobalLpPool %1").arg(p)),
            plain("GlobalLpPool", 2, {{2, 2, 2, 3}}, {{"p", p}}, -1, 1.3));
    }
    row("LpPool with holes, the last window hanging over",
        plain("LpPool", 18, {{1, 1, 8}},
              {{"kernel_shape", Dims{2}}, {"dilations", Dims{2}}, {"strides", Dims{3}}, {"ceil_mode", std::int64_t{1}}},
              -1, 1.3));
    for (const Dims& size : {Dims{2, 7}, Dims{5, 2}, Dims{3, 4}})
        row(qPrintable(QString("CenterCropPad to %1x%2").arg(size[0]).arg(size[1])),
            {{{3, 4}}, [=](SmallNet& net, const Nodes& xs) {
                 return onnx(net, "CenterCropPad", 18, {on(xs[0]), int64s(size)});
             }});
}

/// Q, K, V, and what else there is, by name of the case.
void addAttention(const Row& row) {
    const std::vector<Dims> heads{{2, 2, 3, 4}, {2, 2, 4, 4}, {2, 2, 4, 3}},
        grouped{{1, 4, 3, 2}, {1, 2, 4, 2}, {1, 2, 4, 3}};
    row("Attention", plain("Attention", 23, heads, {}, -1, 1));
    row("Attention, causal, capped, scaled",
        plain("Attention", 23, heads, {{"is_causal", std::int64_t{1}}, {"softcap", 0.8}, {"scale", 1.3}}, -1, 1));
    row("Attention of groups of heads", plain("Attention", 23, grouped, {}, -1, 1));
    row("Attention, packed heads", plain("Attention", 23, {{2, 3, 8}, {2, 4, 4}, {2, 4, 6}},
                                         {{"q_num_heads", std::int64_t{4}}, {"kv_num_heads", std::int64_t{2}}}, -1, 1));
    row("Attention with numbers added", plain("Attention", 23, {heads[0], heads[1], heads[2], {3, 4}}, {}, -1, 1));
    row("Attention in a window",
        plain("Attention", 23, heads, {{"left_window_size", std::int64_t{1}}, {"right_window_size", std::int64_t{0}}},
              -1, 1));
    row("Attention with a mask, a row of which sees nothing",
        {heads,
         [](SmallNet& net, const Nodes& xs) {
             const Argument mask = Argument::of(Value(Tensor::of<bool>(
                 {3, 4}, {true, false, true, true, false, false, false, false, true, true, false, true})));
             return onnx(net, "Attention", 23, {on(xs[0]), on(xs[1]), on(xs[2]), mask});
         },
         -1, 1});
    row("Attention with its past",
        {{{1, 2, 2, 3}, {1, 2, 2, 3}, {1, 2, 2, 2}, {1, 2, 3, 3}, {1, 2, 3, 2}},
         [](SmallNet& net, const Nodes& xs) {
             return onnx(net, "Attention", 23,
                         {on(xs[0]), on(xs[1]), on(xs[2]), Argument::omitted(), on(xs[3]), on(xs[4])},
                         {{"is_causal", std::int64_t{1}}}, 3);
         },
         -1,
         1});
    for (const std::int64_t mode : {0, 1, 2, 3})
        row(qPrintable(QString("Attention, scores of step %1").arg(mode)),
            {heads,
             [=](SmallNet& net, const Nodes& xs) {
                 const Nodes all = onnx(net, "Attention", 23, {on(xs[0]), on(xs[1]), on(xs[2])},
                                        {{"qk_matmul_output_mode", mode}, {"softcap", 1.5}}, 4);
                 return Nodes{all[0], all[3]};
             },
             -1, 1});
    for (const std::int64_t interleaved : {0, 1}) {
        row(qPrintable(QString("RotaryEmbedding %1").arg(interleaved)),
            plain("RotaryEmbedding", 23, {{2, 3, 2, 4}, {2, 2, 2}, {2, 2, 2}}, {{"interleaved", interleaved}}, -1, 1));
        row(qPrintable(QString("RotaryEmbedding %1 of a part, packed, by position").arg(interleaved)),
            {{{2, 2, 18}, {5, 2}, {5, 2}},
             [=](SmallNet& net, const Nodes& xs) {
                 const Argument positions = Argument::of(Value(Tensor::of<std::int64_t>({2, 2}, {4, 1, 0, 1})));
                 return onnx(net, "RotaryEmbedding", 23, {on(xs[0]), on(xs[1]), on(xs[2]), positions},
                             {{"interleaved", interleaved},
                              {"num_heads", std::int64_t{3}},
                              {"rotary_embedding_dim", std::int64_t{4}}});
             },
             -1,
             1});
    }
}

/// Of ONNX Runtime's own domain; invalid ones among `which` are left out.
Nodes contrib(SmallNet& net, const char* op, const std::vector<std::optional<NodeId>>& which, Attributes attributes,
              std::size_t outputs) {
    std::vector<Argument> arguments;
    for (const auto& node : which) arguments.push_back(node ? on(*node) : Argument::omitted());
    return onnx(net, op, 1, arguments, std::move(attributes), outputs, "com.microsoft");
}

void addContrib(const Row& row) {
    using Some = std::optional<NodeId>;
    for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
        const bool hasBeta = std::string(op).find("Simplified") == std::string::npos;
        for (const bool isBroadcast : {false, true}) {
            row(qPrintable(QString("%1 %2").arg(op).arg(isBroadcast)),
                {{{2, 2, 4}, isBroadcast ? Dims{1, 2, 4} : Dims{2, 2, 4}, {4}, {4}, {4}},
                 [=](SmallNet& net, const Nodes& xs) {
                     std::vector<Some> inputs{xs[0], xs[1], xs[2], xs[3]};
                     if (hasBeta) inputs.emplace_back(xs[4]);
                     const Nodes all = contrib(net, op, inputs, {{"epsilon", 1e-3}}, 4);
                     // The last input counts in both.
                     return Nodes{onnx(net, "Add", 14, {on(all[0]), on(xs[4])}).front(), all[3]};
                 }});
        }
    }
    const auto heads = [&](const char* name, std::vector<Dims> shapes, std::vector<int> order, Attributes more,
                           std::size_t outputs, const std::vector<std::int32_t>& mask) {
        more.set("num_heads", std::int64_t{2});
        Case one{std::move(shapes),
                 [=](SmallNet& net, const Nodes& xs) {
                     std::vector<Some> inputs;
                     for (const int at : order)
                         inputs.push_back(at < 0 ? Some() : Some(xs[static_cast<std::size_t>(at)]));
                     if (!mask.empty()) {
                         const Argument hides = Argument::of(Value(Tensor::of<std::int32_t>({2, 3}, mask)));
                         std::vector<Argument> arguments{on(xs[0]), on(xs[1]), on(xs[2]), Argument::omitted(), hides};
                         return onnx(net, "MultiHeadAttention", 1, arguments, more, outputs, "com.microsoft");
                     }
                     return contrib(net, "MultiHeadAttention", inputs, more, outputs);
                 },
                 -1, 1};
        one.isFloat32 = true;
        row(name, std::move(one));
    };
    const Dims q{2, 2, 4}, k{2, 3, 4}, v{2, 3, 6};
    heads("MultiHeadAttention", {q, k, v}, {0, 1, 2}, {}, 1, {});
    heads("MultiHeadAttention with a bias", {q, k, v, {14}}, {0, 1, 2, 3}, {{"scale", 0.7}}, 1, {});
    heads("MultiHeadAttention, numbers added", {q, k, v, {1, 2, 2, 3}}, {0, 1, 2, -1, -1, 3}, {}, 1, {});
    heads("MultiHeadAttention with its past", {q, k, v, {2, 2, 2, 2}, {2, 2, 2, 3}}, {0, 1, 2, -1, -1, -1, 3, 4},
          {{"unidirectional", std::int64_t{1}}}, 3, {});
    heads("MultiHeadAttention of an encoder", {q, {2, 2, 3, 2}, {2, 2, 3, 3}}, {0, 1, 2}, {}, 1, {});
    heads("MultiHeadAttention, hidden keys", {q, k, v}, {0, 1, 2}, {}, 1, {1, 0, 1, 1, 1, 0});
}

void addCrops(const Row& row) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
        const Attributes attributes{{"mode", std::string(mode)},
                                    {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                                    {"extrapolation_value", 2.5}};
        row(qPrintable(QString("Resize %1, cropped").arg(mode)),
            {{{1, 2, 3, 4}}, [=](SmallNet& net, const Nodes& xs) {
                 const Argument region =
                     Argument::of(Value(Tensor::of<float>({8}, {0, 0, 0.2F, -0.3F, 1, 1, 0.9F, 1.4F})));
                 return onnx(net, "Resize", 13, {on(xs[0]), region, Argument::omitted(), int64s({1, 2, 5, 4})},
                             attributes);
             }});
        row(qPrintable(QString("Resize %1, cropped along two axes").arg(mode)),
            {{{2, 3, 4}}, [=](SmallNet& net, const Nodes& xs) {
                 Attributes some = attributes;
                 some.set("axes", Dims{2, 1});
                 const Argument region = Argument::of(Value(Tensor::of<float>({4}, {0.1F, 0, 0.8F, 0.7F}))),
                                scales = Argument::of(Value(Tensor::of<float>({2}, {1.5F, 1})));
                 return onnx(net, "Resize", 18, {on(xs[0]), region, scales}, some);
             }});
    }
}

void addCells(const Row& row) {
    const auto cell = [&](const char* name, const char* op, std::int64_t gates, std::size_t outputs, Attributes more,
                          bool hasLengths) {
        more.set("hidden_size", std::int64_t{2});
        more.set("direction", std::string("bidirectional"));
        const bool isByBatch = more.getInt("layout", 0) != 0;
        const Dims x = isByBatch ? Dims{2, 3, 3} : Dims{3, 2, 3};
        row(name, {{x, {2, gates * 2, 3}, {2, gates * 2, 2}, {2, gates * 4}, {2, 2, 2}},
                   [=](SmallNet& net, const Nodes& xs) {
                       const Argument lengths = hasLengths ? Argument::of(Value(Tensor::of<std::int32_t>({2}, {3, 1})))
                                                           : Argument::omitted();
                       return onnx(net, op, 14, {on(xs[0]), on(xs[1]), on(xs[2]), on(xs[3]), lengths, on(xs[4])}, more,
                                   outputs);
                   },
                   -1,
                   1});
    };
    for (const auto& [op, gates, outputs] :
         {std::tuple("RNN", 1, 2), std::tuple("GRU", 3, 2), std::tuple("LSTM", 4, 3)}) {
        const auto named = [op = op](const char* what) { return QString("%1, %2").arg(op, what).toStdString(); };
        const auto count = static_cast<std::size_t>(outputs);
        cell(named("sequences of other lengths").c_str(), op, gates, count, {}, true);
        cell(named("batches first").c_str(), op, gates, count, {{"layout", std::int64_t{1}}}, true);
        cell(named("clipped").c_str(), op, gates, count, {{"clip", 0.3}}, false);
    }
    cell("LSTM, coupled gates", "LSTM", 4, 3, {{"input_forget", std::int64_t{1}}}, false);
}

}  // namespace

class TestGradientLayers : public QObject {
    Q_OBJECT

  private slots:
    void agreesWithDifferences_data() {
        QTest::addColumn<std::shared_ptr<Case>>("one");
        const Row row = [](const char* name, Case one) {
            QTest::newRow(name) << std::make_shared<Case>(std::move(one));
        };
        addSeveralOutputs(row);
        addNorms(row);
        addAttention(row);
        addContrib(row);
        addCrops(row);
        addCells(row);
    }
    void agreesWithDifferences() {
        QFETCH(std::shared_ptr<Case>, one);
        const QString wrong = wrongDerivative(*one);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }

    /// Mean m and r = 1/sqrt(var + ε) of a row x of n are float32, too coarse for differences. The sum of both has the
    /// derivative 1/n − r³·(x − m)/n.
    void statisticsOfLayerNormalization() {
        SmallNet net;
        const Tensor x = spread({2, 4}, 0);
        const Nodes inputs{net.input("x", x), net.input("scale", spread({4}, 1)), net.input("b", spread({4}, 2))};
        const Nodes all = onnx(net, "LayerNormalization", 17, {on(inputs[0]), on(inputs[1]), on(inputs[2])}, {}, 3);
        const NodeId both = onnx(net, "Add", 14, {on(all[1]), on(all[2])}).front();
        const auto document =
            net.finish(onnx(net, "ReduceSum", 13, {on(both)}, {{"keepdims", std::int64_t{0}}}).front());
        const auto found = differentiate(document, net.inputs);
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        const Tensor& gradient = found->gradients.front().gradient;
        for (std::int64_t row = 0; row < 2; ++row) {
            double mean = 0, variance = 0;
            for (std::int64_t i = 0; i < 4; ++i) mean += x.toDouble(row * 4 + i) / 4;
            for (std::int64_t i = 0; i < 4; ++i) variance += std::pow(x.toDouble(row * 4 + i) - mean, 2) / 4;
            const double r = 1 / std::sqrt(variance + 1e-5);
            for (std::int64_t i = 0; i < 4; ++i) {
                const double expected = 0.25 - std::pow(r, 3) * (x.toDouble(row * 4 + i) - mean) / 4;
                QVERIFY(std::abs(gradient.toDouble(row * 4 + i) - expected) < 1e-5);
            }
        }
    }

    /// Of sum(x · detach(x)) it is detach(x), of sum(detach(x)) nothing: torch.autograd.
    void nothingComesThroughDetach() {
        for (const bool hasOther : {true, false}) {
            SmallNet net;
            const Tensor numbers = spread({4}, 0);
            const NodeId x = net.input("x", numbers);
            const NodeId cut = net.call({"aten", "detach", 0}, {on(x)}).front();
            const NodeId both = hasOther ? onnx(net, "Mul", 14, {on(x), on(cut)}).front() : cut;
            const auto document =
                net.finish(onnx(net, "ReduceSum", 13, {on(both)}, {{"keepdims", std::int64_t{0}}}).front());
            const auto found = differentiate(document, net.inputs);
            QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
            QCOMPARE(found->gradients.front().isReached, hasOther);
            for (std::int64_t i = 0; i < 4; ++i)
                QCOMPARE(found->gradients.front().gradient.toDouble(i), hasOther ? numbers.toDouble(i) : 0.0);
            const std::string said = "no gradient comes through '" + document->graph->node(cut).name + "' (detach)";
            QCOMPARE(found->notes, std::vector<std::string>{said});
        }
    }

    /// Of a determinant of 0 it is that of the other elements: d det / d a = d of [[a, b], [c, d]].
    void aSingularDeterminantHasOne() {
        SmallNet net;
        const NodeId x = net.input("x", Tensor::of<double>({2, 2}, {1, 2, 3, 6}));
        const auto document = net.finish(onnx(net, "Det", 11, {on(x)}).front());
        const auto found = differentiate(document, net.inputs);
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        const std::array<double, 4> expected{6, -3, -2, 1};
        for (std::int64_t i = 0; i < 4; ++i)
            QCOMPARE(found->gradients.front().gradient.toDouble(i), expected[static_cast<std::size_t>(i)]);
    }

    /// The positions that MaxPool and TopK give beside their values have no gradient, and spoil none.
    void positionsHaveNone() {
        for (const bool isPool : {true, false}) {
            SmallNet net;
            const NodeId x = net.input("x", spread({1, 1, 4}, 0));
            const Nodes all =
                isPool ? onnx(net, "MaxPool", 12, {on(x)}, {{"kernel_shape", Dims{2}}, {"strides", Dims{2}}}, 2)
                       : onnx(net, "TopK", 11, {on(x), int64s({2})}, {}, 2);
            const NodeId places = onnx(net, "Cast", 13, {on(all[1])}, {{"to", std::int64_t{11}}}).front();
            const NodeId both = onnx(net, "Add", 14, {on(all[0]), on(places)}).front();
            const auto document =
                net.finish(onnx(net, "ReduceSum", 13, {on(both)}, {{"keepdims", std::int64_t{0}}}).front());
            const auto found = differentiate(document, net.inputs);
            QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
            double sum = 0;
            for (std::int64_t i = 0; i < 4; ++i) sum += found->gradients.front().gradient.toDouble(i);
            QCOMPARE(sum, 2.0);
        }
    }
};

QTEST_GUILESS_MAIN(TestGradientLayers)

}  // namespace tst_gradient_layers

#include "tst_gradient_layers.moc"
