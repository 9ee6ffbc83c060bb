// Gradients of com.microsoft's operators, of transforms and of rarer ones against central differences: see
// difference_case.h.

#include <QtTest>

#include <functional>

#include "tests/core/session/gradient/difference_case.h"

namespace tst_gradient_contrib {

using namespace sonde;
using namespace sonde::test::gradients;
using namespace sonde::test::gradients::differences;
using graph::Argument;
using graph::NodeId;
using tensor::Attributes;
using tensor::Tensor;
using tensor::Value;

namespace {

using Row = std::function<void(const char*, Case)>;

/// By position an input that is differentiated by, a constant, or nothing.
using Inputs = std::function<std::vector<Argument>(const Nodes&)>;

/// In float32 where the operator has no float64.
Case contrib(const std::string& op, std::vector<Dims> shapes, const Inputs& inputs, Attributes attributes = {},
             std::size_t outputs = 1, bool isFloat32 = false) {
    Case made{std::move(shapes),
              [=](SmallNet& net, const Nodes& xs) {
                  return onnx(net, op, 1, inputs(xs), attributes, outputs, "com.microsoft");
              },
              -1, 1};
    made.isFloat32 = isFloat32;
    return made;
}

std::vector<Argument> all(const Nodes& xs) {
    std::vector<Argument> arguments;
    for (const NodeId x : xs) arguments.push_back(on(x));
    return arguments;
}

Argument int32s(const Dims& shape, const std::vector<std::int32_t>& values) {
    return Argument::of(Value(Tensor::of<std::int32_t>(tensor::Shape(shape), values)));
}
Argument bytes(const Dims& shape, int seed) {
    std::int64_t count = 1;
    for (const std::int64_t dim : shape) count *= dim;
    std::vector<std::uint8_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<std::uint8_t>((i * 37 + seed * 101) % 256));
    return Argument::of(Value(Tensor::of<std::uint8_t>(tensor::Shape(shape), values)));
}
Argument floats(const Dims& shape, int seed, double low = 0.1, double high = 1) {
    return Argument::of(Value(spread(shape, seed, low, high).cast(tensor::DType::Float32).value()));
}

const Argument kNothing = Argument::omitted();

void addActivations(const Row& row) {
    row("BiasGelu", contrib("BiasGelu", {{2, 3, 4}, {4}}, all));
    row("FastGelu", contrib("FastGelu", {{2, 3, 4}, {4}}, all));
    row("FastGelu without bias", contrib("FastGelu", {{2, 4}}, all));
    row("Gelu", contrib("Gelu", {{2, 4}}, all));
    row("QuickGelu", contrib("QuickGelu", {{2, 4}}, all, {{"alpha", 1.3}}));
    row("BiasAdd", contrib("BiasAdd", {{2, 3, 4}, {4}, {2, 3, 4}}, all));
    row("GatedAdd", contrib("GatedAdd", {{2, 3}, {2, 3}, {2, 3}}, all));
    row("BiasSplitGelu", contrib("BiasSplitGelu", {{2, 3, 8}, {8}}, all));
    row("BiasSoftmax", contrib("BiasSoftmax", {{2, 3, 4}, {1, 3, 4}}, all,
                               {{"axis", std::int64_t{2}}, {"is_inner_broadcast", std::int64_t{0}}}));
    row("BiasSoftmax, inner", contrib("BiasSoftmax", {{2, 3, 2, 2}, {2, 2, 2}}, all,
                                      {{"axis", std::int64_t{2}}, {"is_inner_broadcast", std::int64_t{1}}}));
    row("GemmFastGelu", contrib("GemmFastGelu", {{2, 3}, {3, 4}, {4}}, all, {}, 1, true));
    row("ComplexMul", contrib("ComplexMul", {{2, 3, 2}, {3, 2}}, all));
    row("ComplexMulConj", contrib("ComplexMulConj", {{2, 3, 2}, {2, 3, 2}}, all));
    for (const char* metric : {"euclidean", "sqeuclidean"})
        row(qPrintable(QString("CDist %1").arg(metric)),
            contrib("CDist", {{3, 4}, {2, 4}}, all, {{"metric", std::string(metric)}}));
}

void addProducts(const Row& row) {
    const Attributes turned{{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 0.7}};
    row("FusedMatMul", contrib("FusedMatMul", {{2, 3, 4}, {4, 2}}, all, {{"alpha", 1.5}}));
    row("FusedMatMul, turned", contrib("FusedMatMul", {{2, 4, 3}, {2, 5, 4}}, all, turned));
    row("FusedMatMul, batch moved",
        contrib("FusedMatMul", {{3, 2, 4}, {2, 4, 2}}, all, {{"transBatchA", std::int64_t{1}}}));
    row("FusedMatMulActivation", contrib("FusedMatMulActivation", {{2, 3}, {3, 4}}, all,
                                         {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.2}}));
    row("FusedGemm", contrib("FusedGemm", {{2, 3}, {4, 3}, {4}}, all,
                             {{"transB", std::int64_t{1}}, {"beta", 0.5}, {"activation", std::string("Tanh")}}));
    row("FusedConv", contrib("FusedConv", {{1, 2, 4, 4}, {3, 2, 3, 3}, {3}, {1, 3, 4, 4}}, all,
                             {{"pads", Dims{1, 1, 1, 1}}, {"activation", std::string("Sigmoid")}}));
    row("FusedConv clipped",
        contrib("FusedConv", {{1, 2, 5}, {2, 2, 2}, {2}}, all,
                {{"activation", std::string("Clip")}, {"activation_params", std::vector<double>{-0.4, 0.6}}}));
    row("NhwcFusedConv", contrib("NhwcFusedConv", {{1, 4, 3, 2}, {3, 2, 2, 2}, {3}}, all,
                                 {{"activation", std::string("Tanh")}, {"strides", Dims{2, 1}}}));
    const Attributes packed{{"K", std::int64_t{32}}, {"N", std::int64_t{3}}, {"block_size", std::int64_t{16}}};
    row("MatMulNBits", contrib(
                           "MatMulNBits", {{2, 32}},
                           [](const Nodes& xs) {
                               return std::vector<Argument>{on(xs[0]), bytes({3, 2, 8}, 1), floats({3, 2}, 2)};
                           },
                           packed, 1, true));
    row("MatMulBnb4", contrib(
                          "MatMulBnb4", {{2, 32}},
                          [](const Nodes& xs) {
                              return std::vector<Argument>{on(xs[0]), bytes({48}, 1), floats({6}, 2)};
                          },
                          [&] {
                              Attributes own = packed;
                              own.set("quant_type", std::int64_t{1});
                              return own;
                          }(),
                          1, true));
}

void addNormalisations(const Row& row) {
    for (const std::int64_t last : {0, 1})
        for (const std::int64_t activation : {0, 1}) {
            const Dims x = last != 0 ? Dims{2, 2, 3, 4} : Dims{2, 4, 2, 3};
            const Attributes by{
                {"groups", std::int64_t{2}}, {"channels_last", last}, {"activation", activation}, {"epsilon", 0.01}};
            row(qPrintable(QString("GroupNorm %1 %2").arg(last).arg(activation)),
                contrib("GroupNorm", {x, {4}, {4}}, all, by, 1, true));
            row(qPrintable(QString("SkipGroupNorm %1 %2").arg(last).arg(activation)),
                contrib("SkipGroupNorm", {x, {4}, {4}, x, {4}}, all, by, 2, true));
        }
    row("SkipGroupNorm, skip of channels",
        contrib("SkipGroupNorm", {{2, 2, 2, 4}, {4}, {4}, {2, 4}}, all,
                {{"groups", std::int64_t{2}}, {"activation", std::int64_t{0}}, {"epsilon", 0.01}}, 1, true));
    row("GatedRMSNorm", contrib("GatedRMSNorm", {{2, 6}, {3}, {2, 6}}, all, {{"epsilon", 0.01}}, 1, true));
    row("LayerNormalization",
        contrib("LayerNormalization", {{2, 4}, {4}, {4}}, all, {{"axis", std::int64_t{-1}}, {"epsilon", 0.01}}));
    row("EmbedLayerNormalization", contrib(
                                       "EmbedLayerNormalization", {{5, 4}, {3, 4}, {2, 4}, {4}, {4}},
                                       [](const Nodes& xs) {
                                           return std::vector<Argument>{int32s({2, 3}, {1, 4, 0, 2, 2, 3}),
                                                                        int32s({2, 3}, {0, 1, 1, 0, 0, 1}),
                                                                        on(xs[0]),
                                                                        on(xs[1]),
                                                                        on(xs[2]),
                                                                        on(xs[3]),
                                                                        on(xs[4])};
                                       },
                                       {{"epsilon", 0.01}}, 1, true));
}

void addAttention(const Row& row) {
    const Attributes two{{"num_heads", std::int64_t{2}}};
    const auto with = [&](Attributes more) {
        more.set("num_heads", std::int64_t{2});
        return more;
    };
    const Dims x{2, 3, 4}, w{4, 12}, bias{12};
    row("Attention", contrib("Attention", {x, w, bias}, all, two, 1, true));
    row("Attention, unidirectional, with its past",
        contrib(
            "Attention", {x, w, bias, {2, 2, 2, 2, 2}},
            [](const Nodes& xs) {
                return std::vector<Argument>{on(xs[0]), on(xs[1]), on(xs[2]), kNothing, on(xs[3])};
            },
            with({{"unidirectional", std::int64_t{1}}, {"scale", 0.6}}), 2, true));
    row("Attention, values of their own size",
        contrib("Attention", {x, {4, 14}, {14}}, all, with({{"qkv_hidden_sizes", Dims{4, 4, 6}}}), 1, true));
    for (const auto& [name, mask] :
         {std::pair("keys", int32s({2, 3}, {1, 1, 0, 1, 0, 1})), std::pair("lengths", int32s({2}, {2, 3})),
          std::pair("ends and starts", int32s({4}, {3, 2, 1, 0})),
          std::pair("rows", int32s({2, 3, 3}, {1, 1, 1, 0, 1, 1, 1, 0, 1,  //
                                               1, 1, 0, 1, 1, 1, 0, 0, 1}))})
        row(qPrintable(QString("Attention, masked by %1").arg(name)),
            contrib(
                "Attention", {x, w, bias, {1, 2, 3, 3}},
                [mask = mask](const Nodes& xs) {
                    return std::vector<Argument>{on(xs[0]), on(xs[1]), on(xs[2]), mask, kNothing, on(xs[3])};
                },
                two, 1, true));
    row("MultiHeadAttention, all in one", contrib("MultiHeadAttention", {{2, 3, 2, 3, 2}}, all, two, 1, true));
    row("MultiHeadAttention, keys and values in one",
        contrib("MultiHeadAttention", {{2, 2, 4}, {2, 3, 2, 2, 2}}, all, two, 1, true));
    row("MultiHeadAttention, all in rows",
        contrib(
            "MultiHeadAttention", {{2, 3, 12}, {12}},
            [](const Nodes& xs) {
                return std::vector<Argument>{on(xs[0]), kNothing, kNothing, on(xs[1])};
            },
            two, 1, true));
}

void addRotations(const Row& row) {
    const auto positions = [](const Dims& shape, const std::vector<std::int64_t>& values) {
        return Argument::of(Value(Tensor::of<std::int64_t>(tensor::Shape(shape), values)));
    };
    for (const std::int64_t interleaved : {0, 1}) {
        const Attributes by{{"interleaved", interleaved}, {"num_heads", std::int64_t{2}}};
        row(qPrintable(QString("RotaryEmbedding %1").arg(interleaved)),
            contrib(
                "RotaryEmbedding", {{2, 3, 8}, {6, 2}, {6, 2}},
                [=](const Nodes& xs) {
                    return std::vector<Argument>{on(xs[0]), positions({2, 3}, {0, 3, 5, 1, 1, 2}), on(xs[1]),
                                                 on(xs[2])};
                },
                by, 1, true));
        row(qPrintable(QString("RotaryEmbedding from one position %1").arg(interleaved)),
            contrib(
                "RotaryEmbedding", {{1, 2, 3, 4}, {6, 2}, {6, 2}},
                [=](const Nodes& xs) {
                    return std::vector<Argument>{on(xs[0]), positions({1}, {2}), on(xs[1]), on(xs[2])};
                },
                {{"interleaved", interleaved}}, 1, true));
    }
    const auto grouped = [&](const char* name, std::vector<Dims> shapes, const std::vector<int>& order, Attributes more,
                             std::int32_t past, std::int32_t rows, std::size_t outputs) {
        more.set("num_heads", std::int64_t{4}), more.set("kv_num_heads", std::int64_t{2});
        row(name, contrib(
                      "GroupQueryAttention", std::move(shapes),
                      [=](const Nodes& xs) {
                          std::vector<Argument> arguments;
                          for (const int at : order)
                              arguments.push_back(at >= 0    ? on(xs[static_cast<std::size_t>(at)])
                                                  : at == -1 ? kNothing
                                                  : at == -2 ? int32s({2}, {past + rows - 1, past + rows - 1})
                                                             : int32s({1}, {past + rows}));
                          return arguments;
                      },
                      more, outputs, true));
    };
    const Dims q{2, 3, 16}, kv{2, 3, 8}, cache{2, 2, 2, 4}, table{8, 2};
    grouped("GroupQueryAttention", {q, kv, kv}, {0, 1, 2, -1, -1, -2, -3}, {}, 0, 3, 1);
    grouped("GroupQueryAttention with its past", {q, kv, kv, cache, cache}, {0, 1, 2, 3, 4, -2, -3}, {{"scale", 0.4}},
            2, 3, 3);
    grouped("GroupQueryAttention, all in one", {{2, 3, 32}}, {0, -1, -1, -1, -1, -2, -3},
            {{"local_window_size", std::int64_t{2}}}, 0, 3, 1);
    grouped("GroupQueryAttention, rotated", {q, kv, kv, cache, cache, table, table}, {0, 1, 2, 3, 4, -2, -3, 5, 6},
            {{"do_rotary", std::int64_t{1}}, {"softcap", 2.0}}, 2, 3, 3);
}

void addPicks(const Row& row) {
    row("Trilu", contrib("Trilu", {{3, 3}}, all, {{"upper", std::int64_t{0}}}));
    row("ExpandDims", contrib("ExpandDims", {{2, 3}}, [](const Nodes& xs) {
            return std::vector<Argument>{on(xs[0]), Argument::of(Value(Tensor::scalar<std::int32_t>(1)))};
        }));
    row("UnfoldTensor", contrib("UnfoldTensor", {{2, 6}}, all,
                                {{"dim", std::int64_t{1}}, {"size", std::int64_t{3}}, {"step", std::int64_t{2}}}));
    row("TorchEmbedding", contrib("TorchEmbedding", {{4, 3}}, [](const Nodes& xs) {
            return std::vector<Argument>{on(xs[0]), int64s({2, 0, 2})};
        }));
    row("GatherND", contrib("GatherND", {{3, 4}}, [](const Nodes& xs) {
            const Argument at = Argument::of(Value(Tensor::of<std::int64_t>({2, 2}, {2, 1, 0, 3})));
            return std::vector<Argument>{on(xs[0]), at};
        }));
}

void addEquations(const Row& row) {
    for (const char* equation : {"iij->j", "ii->i", "ii->", "iij,jk->ik", "iji,j->j", "bii,bij->bj"}) {
        const std::string text = equation;
        std::vector<Dims> shapes(1);
        for (const char letter : text.substr(0, text.find("->"))) {
            if (letter == ',') shapes.emplace_back();
            else shapes.back().push_back(letter == 'i' ? 3 : letter == 'j' ? 2 : letter == 'k' ? 4 : 2);
        }
        row(qPrintable(QString("Einsum %1").arg(equation)), plain("Einsum", 12, shapes, {{"equation", text}}));
    }
}

void addSignals(const Row& row) {
    const auto scalar = [](std::int64_t value) { return Argument::of(Value(Tensor::scalar<std::int64_t>(value))); };
    for (const std::int64_t inverse : {0, 1})
        for (const std::int64_t length : {3, 5, 7}) {
            const Attributes by{{"axis", std::int64_t{1}}, {"inverse", inverse}};
            row(qPrintable(QString("DFT inverse %1, of %2").arg(inverse).arg(length)),
                {{{2, 5, 2}}, [=](SmallNet& net, const Nodes& xs) {
                     return onnx(net, "DFT", 17, {on(xs[0]), scalar(length)}, by);
                 }});
            row(qPrintable(QString("DFT along an input's axis, inverse %1, of %2").arg(inverse).arg(length)),
                {{{2, 5, 3, 2}}, [=](SmallNet& net, const Nodes& xs) {
                     return onnx(net, "DFT", 20, {on(xs[0]), scalar(length), scalar(1)}, {{"inverse", inverse}});
                 }});
        }
    for (const std::int64_t size : {4, 5})
        row(qPrintable(QString("DFT, one-sided, of %1").arg(size)),
            plain("DFT", 17, {{2, size, 1}}, {{"axis", std::int64_t{1}}, {"onesided", std::int64_t{1}}}));
    for (const std::int64_t onesided : {0, 1})
        row(qPrintable(QString("STFT %1").arg(onesided)),
            {{{2, 9, 1}, {4}}, [=](SmallNet& net, const Nodes& xs) {
                 return onnx(net, "STFT", 17, {on(xs[0]), scalar(2), on(xs[1]), scalar(4)}, {{"onesided", onesided}});
             }});
    for (const std::int64_t aligned : {0, 1}) {
        row(qPrintable(QString("AffineGrid %1").arg(aligned)),
            {{{2, 2, 3}}, [=](SmallNet& net, const Nodes& xs) {
                 return onnx(net, "AffineGrid", 20, {on(xs[0]), int64s({2, 1, 3, 4})}, {{"align_corners", aligned}});
             }});
        row(qPrintable(QString("AffineGrid of volumes %1").arg(aligned)),
            {{{1, 3, 4}}, [=](SmallNet& net, const Nodes& xs) {
                 return onnx(net, "AffineGrid", 20, {on(xs[0]), int64s({1, 1, 2, 3, 2})}, {{"align_corners", aligned}});
             }});
    }
    row("MaxUnpool",
        {{{1, 1, 2, 2}}, [](SmallNet& net, const Nodes& xs) {
             const Argument at = Argument::of(Value(Tensor::of<std::int64_t>({1, 1, 2, 2}, {5, 7, 8, 15})));
             return onnx(net, "MaxUnpool", 11, {on(xs[0]), at},
                         {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}});
         }});
    row("SwiGLU", plain("SwiGLU", 28, {{2, 3}, {2, 3}}, {{"alpha", 1.2}}, -1, 1));
    row("Affine", plain("Affine", 1, {{2, 3}}, {{"alpha", 1.2}, {"beta", 0.5}}));
    row("ScaledTanh", plain("ScaledTanh", 1, {{2, 3}}, {{"alpha", 1.2}, {"beta", 0.5}}));
    row("ParametricSoftplus", plain("ParametricSoftplus", 1, {{2, 3}}, {{"alpha", 1.2}, {"beta", 0.5}}));
}

}  // namespace

class TestGradientContrib : public QObject {
    Q_OBJECT

  private slots:
    void agreesWithDifferences_data() {
        QTest::addColumn<std::shared_ptr<Case>>("one");
        const Row row = [](const char* name, Case one) {
            QTest::newRow(name) << std::make_shared<Case>(std::move(one));
        };
        for (const auto add : {addActivations, addProducts, addNormalisations, addAttention, addRotations, addPicks,
                               addEquations, addSignals})
            add(row);
    }
    void agreesWithDifferences() {
        QFETCH(std::shared_ptr<Case>, one);
        const QString wrong = wrongDerivative(*one);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
};

QTEST_GUILESS_MAIN(TestGradientContrib)

}  // namespace tst_gradient_contrib

#include "tst_gradient_contrib.moc"
