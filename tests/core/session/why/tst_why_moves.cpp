// Rules of operators that move elements, resample, look back in time or attend, on random calls.

#include <QtTest>

#include "tests/core/session/why/random_call.h"

namespace tst_why_moves {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using test::RandomSource;
using Ints = std::vector<std::int64_t>;

namespace {

constexpr int kRounds = 25;

Value ints(const Ints& numbers) {
    return Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(numbers.size())}, numbers));
}
Value floats(const std::vector<float>& numbers) {
    return Value(Tensor::of<float>({static_cast<std::int64_t>(numbers.size())}, numbers));
}

}  // namespace

class TestWhyMoves : public QObject {
    Q_OBJECT

  private slots:
    void shapesAndParts() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const Shape x{source.between(1, 3), 2 * source.between(1, 3), source.between(2, 5)};
            const auto value = [&] { return Value(source.tensor(x)); };
            QCOMPARE(test::checked("", "Transpose", {value()}, {{"perm", Ints{2, 0, 1}}}, 13), QString());
            QCOMPARE(test::checked("", "Reshape", {value(), ints({-1, x[1]})}, {}, 14), QString());
            QCOMPARE(test::checked("", "Concat", {value(), value(), value()}, {{"axis", source.between(0, 2)}}, 13),
                     QString());
            QCOMPARE(test::checked("", "Slice", {value(), ints({-1}), ints({-9}), ints({2}), ints({-1})}, {}, 13),
                     QString());
            QCOMPARE(test::checked("", "Split", {value(), ints({1, x[1] - 1})}, {{"axis", std::int64_t{1}}}, 13),
                     QString());
            QCOMPARE(test::checked("", "Expand", {Value(source.tensor(source.narrower(x))), ints(x.dims())}, {}, 13),
                     QString());
            QCOMPARE(test::checked("", "Tile", {value(), ints({2, 1, 3})}, {}, 13), QString());
            QCOMPARE(test::checked("", "Trilu", {value()}, {{"upper", source.between(0, 1)}}, 14), QString());
            for (const char* mode : {"constant", "reflect", "edge", "wrap"})
                QCOMPARE(test::checked("", "Pad", {value(), ints({0, 1, 1, 0, 0, 1}), Value(Tensor::scalar<float>(5))},
                                       {{"mode", std::string(mode)}}, 19),
                         QString());
            QCOMPARE(test::checked("", "DepthToSpace", {Value(source.tensor({1, 4, 2, 3}))},
                                   {{"blocksize", std::int64_t{2}}}, 13),
                     QString());
            QCOMPARE(test::checked("aten", "cat", {Value::list({value(), value()}), Value::ofInt(1)}), QString());
            QCOMPARE(test::checked("aten", "stack", {Value::list({value(), value()}), Value::ofInt(1)}), QString());
            QCOMPARE(test::checked("aten", "permute", {value(), test::list({1, 2, 0})}), QString());
            QCOMPARE(test::checked("aten", "slice.Tensor",
                                   {value(), Value::ofInt(1), Value::ofInt(1), Value(), Value::ofInt(1)}),
                     QString());
            QCOMPARE(test::checked("aten", "chunk", {value(), Value::ofInt(2), Value::ofInt(1)}), QString());
            QCOMPARE(test::checked("aten", "flip", {value(), test::list({0, 2})}), QString());
            QCOMPARE(test::checked("aten", "roll", {value(), test::list({1}), test::list({2})}), QString());
            QCOMPARE(test::checked("aten", "tril", {value()}), QString());
            QCOMPARE(test::checked("aten", "constant_pad_nd", {value(), test::list({1, 2}), Value::ofFloat(3)}),
                     QString());
            QCOMPARE(test::checked("aten", "unfold", {value(), Value::ofInt(2), Value::ofInt(2), Value::ofInt(1)}),
                     QString());
        }
    }

    /// What torch.nn.functional.pad(torch.arange(5.), …, mode='circular') gives, negative numbers too.
    void wrappingGoesAroundWhatIsKept() {
        const std::vector<std::pair<Ints, std::vector<float>>> rows{
            {{-1, 2}, {1, 2, 3, 4, 1, 2}}, {{2, -1}, {2, 3, 0, 1, 2, 3}}, {{-2, -1}, {2, 3}}, {{1, -2}, {2, 0, 1, 2}}};
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const tensor::Attributes wrap{{"mode", std::string("wrap")}};
        const Value x = floats({0, 1, 2, 3, 4});
        const ops::OpDef& op = *ops::Registry::all().find("", "Pad", 19);
        for (const auto& [pads, expected] : rows) {
            const std::vector<Value> inputs{x, ints(pads)};
            const auto results = ops::call(op, inputs, wrap, 1, environment, 19);
            QVERIFY2(results.has_value(), results ? "" : results.error().text().c_str());
            QVERIFY(tensor::identical((*results)[0], floats(expected)));
            QCOMPARE(test::checked("", "Pad", inputs, wrap, 19), QString());
        }
        const auto none = ops::call(op, std::vector<Value>{x, ints({-5, 2})}, wrap, 1, environment, 19);
        QVERIFY(!none);
        QVERIFY(none.error().what.find("to wrap around") != std::string::npos);
    }

    void indices() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const Shape x = source.shape(3, 2, 4);
            const std::int64_t axis = source.between(0, 2), size = x[static_cast<std::size_t>(axis)];
            const Value data(source.tensor(x));
            QCOMPARE(test::checked("", "Gather", {data, Value(source.indices(source.shape(2), size))},
                                   {{"axis", axis - (round % 2 == 0 ? 3 : 0)}}, 13),
                     QString());
            QCOMPARE(test::checked("", "GatherElements", {data, Value(source.indices(x, size))}, {{"axis", axis}}, 13),
                     QString());
            QCOMPARE(test::checked("", "GatherND", {data, Value(source.indices({3, 2}, 2))}, {}, 13), QString());
            for (const char* how : {"none", "add", "mul", "max", "min"}) {
                const tensor::Attributes attributes{{"axis", axis}, {"reduction", std::string(how)}};
                // Indices that occur twice are undefined without a reduction.
                const Value at(std::string(how) == "none" ? Tensor::zeros(DType::Int64, {1, 1, 1}).value()
                                                          : source.indices(x, size));
                QCOMPARE(test::checked("", "ScatterElements", {data, at, Value(source.tensor(at.tensor().shape()))},
                                       attributes, 18),
                         QString());
                QCOMPARE(test::checked("", "ScatterND",
                                       {data, Value(source.indices({4, 1}, 2)), Value(source.tensor({4, x[1], x[2]}))},
                                       {{"reduction", std::string(how)}}, 18),
                         QString());
            }
            QCOMPARE(
                test::checked("aten", "index_select", {data, Value::ofInt(axis), Value(source.indices({5}, size))}),
                QString());
            QCOMPARE(
                test::checked("aten", "embedding", {Value(source.tensor({7, 4})), Value(source.indices({2, 3}, 7))}),
                QString());
            QCOMPARE(test::checked("aten", "scatter_add",
                                   {data, Value::ofInt(axis), Value(source.indices(x, size)), Value(source.tensor(x))}),
                     QString());
            Shape rows = x;
            rows[static_cast<std::size_t>(axis)] = 4;
            QCOMPARE(test::checked("aten", "index_add",
                                   {data, Value::ofInt(axis), Value(source.indices({4}, size)),
                                    Value(source.tensor(rows)), Value::ofFloat(2)}),
                     QString());
            QCOMPARE(test::checked("aten", "gather", {data, Value::ofInt(axis), Value(source.indices(x, size))}),
                     QString());
            QCOMPARE(test::checked(
                         "", "OneHot",
                         {Value(source.indices({2, 3}, 4)), Value(Tensor::scalar<std::int64_t>(4)), floats({-1, 2})},
                         {}, 11),
                     QString());
        }
    }

    void resampling() {
        for (const char* mode : {"nearest", "linear", "cubic"}) {
            for (const char* coordinates : {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"}) {
                RandomSource source(3);
                for (const Ints& size : {Ints{1, 2, 7, 3}, Ints{1, 2, 2, 9}})
                    QCOMPARE(
                        test::checked(
                            "", "Resize", {Value(source.tensor({1, 2, 4, 5})), Value(), Value(), ints(size)},
                            {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}},
                            19),
                        QString());
            }
        }
        RandomSource source(4);
        QCOMPARE(test::checked("", "Upsample", {Value(source.tensor({1, 1, 2, 3})), floats({1, 1, 2, 3})},
                               {{"mode", std::string("linear")}}, 9),
                 QString());
        QCOMPARE(test::checked("aten", "upsample_bilinear2d",
                               {Value(source.tensor({1, 1, 3, 4})), test::list({5, 7}), Value::ofBool(true)}),
                 QString());
        QCOMPARE(test::checked("aten", "upsample_nearest2d", {Value(source.tensor({1, 1, 3, 4})), test::list({5, 7})}),
                 QString());
        QCOMPARE(test::checked("aten", "upsample_bicubic2d",
                               {Value(source.tensor({1, 1, 3, 4})), test::list({5, 7}), Value::ofBool(false)}),
                 QString());
    }

    void recurrentLayers() {
        for (const char* direction : {"forward", "reverse", "bidirectional"}) {
            for (const std::int64_t layout : {0, 1}) {
                RandomSource source(static_cast<int>(layout) + 5);
                const std::int64_t d = std::string(direction) == "bidirectional" ? 2 : 1, t = 4, b = 2, i = 3, h = 2;
                const auto state = [&] { return Value(source.tensor(layout != 0 ? Shape{b, d, h} : Shape{d, b, h})); };
                for (const auto& [name, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
                    for (const std::int64_t before : {0, 1}) {
                        std::vector<Value> inputs{Value(source.tensor(layout != 0 ? Shape{b, t, i} : Shape{t, b, i})),
                                                  Value(source.tensor({d, gates * h, i})),
                                                  Value(source.tensor({d, gates * h, h})),
                                                  Value(source.tensor({d, 2 * gates * h})),
                                                  layout == 0 ? Value(Tensor::of<std::int32_t>({2}, {4, 3})) : Value(),
                                                  state()};
                        if (gates == 4) inputs.push_back(state());
                        QCOMPARE(test::checked("", name, inputs,
                                               {{"direction", std::string(direction)},
                                                {"hidden_size", h},
                                                {"layout", layout},
                                                {"linear_before_reset", before}},
                                               14),
                                 QString());
                    }
                }
            }
        }
    }

    void recurrentLayersOfPyTorch() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t layers = source.between(1, 3), d = source.between(1, 2), t = 4, b = 2, i = 3, h = 2;
            const bool isBatchFirst = source.coin(), hasBias = source.coin();
            for (const auto& [name, gates] : {std::pair("lstm.input", 4), std::pair("gru.input", 3),
                                              std::pair("rnn_tanh.input", 1), std::pair("rnn_relu.input", 1)}) {
                tensor::ValueList weights;
                for (std::int64_t k = 0; k < layers * d; ++k) {
                    weights.emplace_back(source.tensor({gates * h, k < d ? i : d * h}));
                    weights.emplace_back(source.tensor({gates * h, h}));
                    if (hasBias)
                        weights.emplace_back(source.tensor({gates * h})),
                            weights.emplace_back(source.tensor({gates * h}));
                }
                const auto state = [&] { return Value(source.tensor({layers * d, b, h})); };
                const Value states = gates == 4 ? Value::list({state(), state()}) : state();
                QCOMPARE(test::checked(
                             "aten", name,
                             {Value(source.tensor(isBatchFirst ? Shape{b, t, i} : Shape{t, b, i})), states,
                              Value::list(weights), Value::ofBool(hasBias), Value::ofInt(layers), Value::ofFloat(0),
                              Value::ofBool(false), Value::ofBool(d == 2), Value::ofBool(isBatchFirst)}),
                         QString());
            }
        }
    }

    void attention() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t b = source.between(1, 2), keyHeads = source.between(1, 2),
                               heads = keyHeads * source.between(1, 2), q = source.between(1, 4),
                               k = source.between(2, 4), e = source.between(2, 4), v = source.between(2, 5);
            const Value mask = source.coin() ? Value(source.tensor({q, k})) : Value();
            QCOMPARE(test::checked("", "Attention",
                                   {Value(source.tensor({b, heads, q, e})), Value(source.tensor({b, keyHeads, k, e})),
                                    Value(source.tensor({b, keyHeads, k, v})), mask},
                                   {{"is_causal", source.between(0, 1)}}, 23),
                     QString());
            QCOMPARE(test::checked("", "Attention",
                                   {Value(source.tensor({b, q, heads * e})), Value(source.tensor({b, k, keyHeads * e})),
                                    Value(source.tensor({b, k, keyHeads * v}))},
                                   {{"q_num_heads", heads}, {"kv_num_heads", keyHeads}}, 23),
                     QString());
            QCOMPARE(test::checked("aten", "scaled_dot_product_attention",
                                   {Value(source.tensor({b, heads, q, e})), Value(source.tensor({b, heads, k, e})),
                                    Value(source.tensor({b, heads, k, v})), mask, Value::ofFloat(0),
                                    Value::ofBool(mask.isNone() && source.coin())}),
                     QString());
            const std::int64_t size = 2 * heads;
            const Value x(source.tensor({b, k, size}));
            QCOMPARE(test::checked("aten", "_native_multi_head_attention",
                                   {x, x, x, Value::ofInt(size), Value::ofInt(heads),
                                    Value(source.tensor({3 * size, size})), Value(source.tensor({3 * size})),
                                    Value(source.tensor({size, size})), Value(source.tensor({size}))}),
                     QString());
        }
    }

    void quantisation() {
        RandomSource source(1);
        const Value scales(source.tensor({3}, 0.1, 0.5)), zeros(Tensor::of<std::uint8_t>({3}, {3, 128, 250}));
        QCOMPARE(test::checked("", "QuantizeLinear", {Value(source.tensor({2, 3, 4}, -30, 30)), scales, zeros}, {}, 13),
                 QString());
        QCOMPARE(
            test::checked("", "DequantizeLinear",
                          {Value(source.tensor({2, 3, 4}, 0, 255).cast(DType::UInt8).value()), scales, zeros}, {}, 13),
            QString());
    }
};

QTEST_APPLESS_MAIN(TestWhyMoves)

}  // namespace tst_why_moves

#include "tst_why_moves.moc"
