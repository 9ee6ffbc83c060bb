// Rules of quantised products, of operators on grids, columns, regions and pairs, and of the rarer recurrent cells, on
// random calls.

#include <QtTest>

#include "tests/core/session/why/random_call.h"

namespace tst_why_layers {

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

/// Integers by chance, of a dtype.
Value bytes(RandomSource& source, const Shape& shape, DType dtype, double low, double high) {
    return Value(source.tensor(shape, low, high).cast(dtype).value());
}
Value unsignedBytes(RandomSource& source, const Shape& shape) { return bytes(source, shape, DType::UInt8, 0, 256); }
Value signedBytes(RandomSource& source, const Shape& shape) { return bytes(source, shape, DType::Int8, -128, 128); }
Value number(RandomSource& source, double low, double high) { return Value(source.tensor({}, low, high)); }

}  // namespace

class TestWhyLayers : public QObject {
    Q_OBJECT

  private slots:
    void quantisedConvolutions() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const auto rank = static_cast<std::size_t>(source.between(1, 2));
            const std::int64_t groups = source.between(1, 2), in = groups * source.between(1, 2),
                               out = groups * source.between(1, 2);
            Shape x{source.between(1, 2), in}, w{out, in / groups};
            Ints strides, dilations, pads;
            for (std::size_t d = 0; d < rank; ++d) {
                w.push_back(source.between(1, 3)), x.push_back(source.between(6, 8));
                strides.push_back(source.between(1, 2)), dilations.push_back(source.between(1, 2));
            }
            for (std::size_t d = 0; d < 2 * rank; ++d) pads.push_back(source.between(0, 1));
            const tensor::Attributes attributes{
                {"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", groups}};
            const Shape perChannel = source.coin() ? Shape{out} : Shape{};
            const bool hasZeros = source.coin();
            QCOMPARE(test::checked("", "ConvInteger",
                                   {unsignedBytes(source, x), signedBytes(source, w),
                                    hasZeros ? unsignedBytes(source, {}) : Value(),
                                    hasZeros ? signedBytes(source, perChannel) : Value()},
                                   attributes, 10),
                     QString());
            const Value bias = source.coin() ? bytes(source, {out}, DType::Int32, -4000, 4000) : Value();
            QCOMPARE(test::checked(
                         "", "QLinearConv",
                         {unsignedBytes(source, x), number(source, 0.01, 0.1), unsignedBytes(source, {}),
                          signedBytes(source, w), Value(source.tensor(perChannel, 0.01, 0.1)),
                          signedBytes(source, perChannel), number(source, 0.5, 2), unsignedBytes(source, {}), bias},
                         attributes, 10),
                     QString());
        }
    }

    void quantisedProducts() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t m = source.between(1, 4), k = source.between(1, 5), n = source.between(1, 4),
                               batch = source.between(1, 2);
            const Shape rows = source.coin() ? Shape{m} : Shape{}, columns = source.coin() ? Shape{n} : Shape{};
            QCOMPARE(test::checked("", "MatMulInteger",
                                   {unsignedBytes(source, {batch, m, k}), signedBytes(source, {k, n}),
                                    unsignedBytes(source, rows), signedBytes(source, columns)},
                                   {}, 10),
                     QString());
            QCOMPARE(test::checked("", "QLinearMatMul",
                                   {unsignedBytes(source, {m, k}), Value(source.tensor(rows, 0.01, 0.1)),
                                    unsignedBytes(source, rows), signedBytes(source, {k, n}),
                                    Value(source.tensor(columns, 0.01, 0.1)), signedBytes(source, columns),
                                    number(source, 0.5, 2), unsignedBytes(source, {})},
                                   {}, 10),
                     QString());
        }
    }

    void lines() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const Shape x = source.shape(4, 1, 4);
            QCOMPARE(test::checked("", "MeanVarianceNormalization", {Value(source.tensor(x))}, {}, 13), QString());
            QCOMPARE(test::checked("", "MeanVarianceNormalization", {Value(source.tensor(x))},
                                   {{"axes", Ints{source.between(-4, -2), 3}}}, 13),
                     QString());
            const tensor::Attributes along{{"axis", source.between(0, 3)}};
            QCOMPARE(test::checked("", "Hardmax", {Value(source.tensor(x))}, along, 13), QString());
            QCOMPARE(test::checked("", "Hardmax", {Value(source.tensor(x))}, along, 11), QString());
            const std::int64_t dim = source.between(-3, 2);
            Shape even = source.shape(3, 1, 4);
            even[static_cast<std::size_t>((dim + 3) % 3)] *= 2;
            QCOMPARE(test::checked("aten", "glu", {Value(source.tensor(even)), Value::ofInt(dim)}), QString());
        }
    }

    void grids() {
        for (const char* mode : {"linear", "nearest", "cubic"}) {
            for (const char* padding : {"zeros", "border", "reflection"}) {
                RandomSource source(1);
                const Shape x{2, 3, source.between(2, 4), source.between(2, 5)};
                QCOMPARE(test::checked("", "GridSample",
                                       {Value(source.tensor(x)), Value(source.tensor({2, 2, 3, 2}, -1.3, 1.3))},
                                       {{"mode", std::string(mode)},
                                        {"padding_mode", std::string(padding)},
                                        {"align_corners", source.between(0, 1)}},
                                       20),
                         QString());
            }
        }
        RandomSource source(2);
        QCOMPARE(test::checked(
                     "", "GridSample",
                     {Value(source.tensor({1, 2, 3, 2, 4})), Value(source.tensor({1, 2, 2, 1, 3}, -1.2, 1.2))}, {}, 20),
                 QString());
        for (const std::int64_t mode : {0, 1, 2})
            QCOMPARE(test::checked("aten", "grid_sampler_2d",
                                   {Value(source.tensor({1, 2, 4, 3})), Value(source.tensor({1, 3, 2, 2}, -1.2, 1.2)),
                                    Value::ofInt(mode), Value::ofInt(source.between(0, 2)), Value::ofBool(true)}),
                     QString());
    }

    void rotatedPairs() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t batches = source.between(1, 2), heads = source.between(1, 3),
                               rows = source.between(1, 4), size = 2 * source.between(1, 4),
                               part = source.coin() ? 0 : size, half = (part == 0 && size > 2 ? size - 2 : size) / 2;
            const std::int64_t rotated = 2 * half;
            const bool isPacked = source.coin(), hasPositions = source.coin();
            const Shape x = isPacked ? Shape{batches, rows, heads * size} : Shape{batches, heads, rows, size};
            const Shape cache = hasPositions ? Shape{9, half} : Shape{batches, rows, half};
            QCOMPARE(
                test::checked(
                    "", "RotaryEmbedding",
                    {Value(source.tensor(x)), Value(source.tensor(cache)), Value(source.tensor(cache)),
                     hasPositions ? Value(source.indices({batches, rows}, 9)) : Value()},
                    {{"interleaved", source.between(0, 1)}, {"num_heads", heads}, {"rotary_embedding_dim", rotated}},
                    23),
                QString());
        }
    }

    void columns() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t channels = source.between(1, 3), batches = source.between(1, 2);
            Ints block, strides, dilations, image, before, places;
            for (std::size_t d = 0; d < 2; ++d) {
                block.push_back(source.between(1, 3)), strides.push_back(source.between(1, 3));
                dilations.push_back(source.between(1, 2)), before.push_back(source.between(0, 1));
                places.push_back(source.between(2, 3));
                // As large as so many places need, with a rest that no place reaches.
                image.push_back((places[d] - 1) * strides[d] + (block[d] - 1) * dilations[d] + 1 - 2 * before[d] +
                                source.between(0, strides[d] - 1));
            }
            if (image[0] < 1 || image[1] < 1) continue;
            const Shape columns{batches, channels * block[0] * block[1], places[0] * places[1]};
            QCOMPARE(test::checked("", "Col2Im", {Value(source.tensor(columns)), ints(image), ints(block)},
                                   {{"strides", strides},
                                    {"dilations", dilations},
                                    {"pads", Ints{before[0], before[1], before[0], before[1]}}},
                                   18),
                     QString());
            const bool isSingle = source.coin();
            QCOMPARE(test::checked(
                         "aten", "col2im",
                         {Value(source.tensor(isSingle ? Shape{columns[1], columns[2]} : columns)), test::list(image),
                          test::list(block), test::list(dilations), test::list(before), test::list(strides)}),
                     QString());
            QCOMPARE(test::checked("aten", "im2col",
                                   {Value(source.tensor({batches, channels, image[0], image[1]})), test::list(block),
                                    test::list(dilations), test::list(before), test::list(strides)}),
                     QString());
        }
    }

    void pairs() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t i = source.between(1, 4), j = source.between(1, 4), k = source.between(1, 3);
            Shape left = source.shape(static_cast<std::size_t>(source.between(0, 2)), 1, 3), right = left;
            left.push_back(i), right.push_back(j);
            QCOMPARE(
                test::checked("aten", "bilinear",
                              {Value(source.tensor(left)), Value(source.tensor(right)), Value(source.tensor({k, i, j})),
                               source.coin() ? Value(source.tensor({k})) : Value()}),
                QString());
            const Shape batch = source.shape(static_cast<std::size_t>(source.between(0, 2)), 1, 3);
            Shape a = source.narrower(batch), b = batch;
            a.push_back(j), a.push_back(i), b.push_back(k), b.push_back(i);
            for (const double p : {0.0, 1.0, 2.0, 3.0, HUGE_VAL})
                QCOMPARE(test::checked("aten", "cdist",
                                       {Value(source.tensor(a)), Value(source.tensor(b)), Value::ofFloat(p)}),
                         QString());
        }
    }

    void cutsAndRegions() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const Shape x = source.shape(3, 1, 5);
            QCOMPARE(test::checked("", "CenterCropPad",
                                   {Value(source.tensor(x)), ints({source.between(1, 6), source.between(1, 6)})},
                                   {{"axes", Ints{2, source.between(0, 1)}}}, 18),
                     QString());
            std::vector<float> rois;
            for (std::int64_t r = 0; r < 3; ++r)
                for (const std::int64_t one : {source.between(0, 1), source.between(0, 6), source.between(0, 6),
                                               source.between(4, 14), source.between(4, 14)})
                    rois.push_back(static_cast<float>(one));
            QCOMPARE(
                test::checked(
                    "", "MaxRoiPool", {Value(source.tensor({2, 3, 6, 7})), Value(Tensor::of<float>({3, 5}, rois))},
                    {{"pooled_shape", Ints{source.between(1, 3), source.between(1, 3)}}, {"spatial_scale", 0.5}}, 1),
                QString());
        }
    }

    void cellsWithPeepholesAndLimits() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t d = source.between(1, 2), t = 3, b = 2, i = 3, h = 2;
            const auto state = [&] { return Value(source.tensor({d, b, h})); };
            for (const auto& [name, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
                std::vector<Value> inputs{Value(source.tensor({t, b, i})),
                                          Value(source.tensor({d, gates * h, i})),
                                          Value(source.tensor({d, gates * h, h})),
                                          Value(source.tensor({d, 2 * gates * h})),
                                          Value(),
                                          state()};
                if (gates == 4) inputs.push_back(state()), inputs.push_back(Value(source.tensor({d, 3 * h})));
                tensor::Attributes attributes{{"direction", std::string(d == 2 ? "bidirectional" : "reverse")},
                                              {"hidden_size", h},
                                              {"linear_before_reset", source.between(0, 1)}};
                if (source.coin()) attributes.set("clip", 0.6);
                if (gates == 4) attributes.set("input_forget", source.between(0, 1));
                QCOMPARE(test::checked("", name, inputs, attributes, 14), QString());
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestWhyLayers)

}  // namespace tst_why_layers

#include "tst_why_layers.moc"
