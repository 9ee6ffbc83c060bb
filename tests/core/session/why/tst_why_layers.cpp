// Rules of quantised products, of operators on grids, columns, regions and pairs, and of the rarer recurrent cells, on
// random calls.

#include <QtTest>

#include <cmath>
#include <set>
#include <tuple>

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

    /// The elements that differ most come first, each beside the one that it differs from.
    void differencesStandTogether() {
        for (const double p : {0.0, 1.0, 2.0, 3.0, HUGE_VAL}) {
            const Tensor x = Tensor::of<float>({1, 3}, {1, 5, 2}), y = Tensor::of<float>({1, 3}, {2, 1, 2});
            test::RecombinedCall call;
            call.op = ops::Registry::all().find("aten", "cdist", 0);
            QVERIFY(call.op);
            call.inputs = {Value(x), Value(y), Value::ofFloat(p), Value()};
            base::ThreadPool pool(1);
            ops::RunEnvironment environment;
            environment.pool = &pool;
            auto results = ops::call(*call.op, call.inputs, {}, 1, environment, 0);
            QVERIFY2(results, results ? "" : results.error().text().c_str());
            call.results = std::move(*results);
            QCOMPARE(call.problem(), QString());
            const tensor::Attributes none;
            const ops::DependenceQuestion question{call.op, call.inputs, &none, call.results};
            const auto found = ops::findDependence(question, environment);
            QVERIFY2(found, found ? "" : found.error().text().c_str());
            QCOMPARE(found->terms.size(), std::size_t{6});
            double sum = 0;
            for (std::size_t k = 0; k < 6; ++k) {
                const ops::DependenceTerm& term = found->terms[k];
                QCOMPARE(term.pair, static_cast<std::uint32_t>(k / 2 + 1));
                QCOMPARE(term.input, static_cast<std::uint32_t>(k % 2));
                QCOMPARE(term.element, static_cast<std::int64_t>(k / 2));
                sum += term.weight * term.value;
            }
            // A norm is the sum of its arguments by their slopes.
            if (p > 0) QVERIFY(std::fabs(sum - call.results.front().tensor().toDouble(0)) < 1e-6);
        }
    }

    /// [1, 2] · [3, 4] = 11 and (1·3·5 + 2·4·6) = 63: every operand of a list is named.
    void everyOperandOfAnEinsumIsNamed() {
        const Value x(Tensor::of<float>({2}, {1, 2})), y(Tensor::of<float>({2}, {3, 4})),
            z(Tensor::of<float>({2}, {5, 6}));
        for (const auto& [equation, operands, expected] :
             {std::tuple(std::string("i,i->"), std::vector{x, y}, 11.0), {std::string("i,i,i->"), {x, y, z}, 63.0}}) {
            test::RecombinedCall call;
            call.op = ops::Registry::all().find("aten", "einsum", 0);
            QVERIFY(call.op);
            call.inputs = {Value(equation), Value::list(operands), Value()};
            base::ThreadPool pool(1);
            ops::RunEnvironment environment;
            environment.pool = &pool;
            auto results = ops::call(*call.op, call.inputs, {}, 1, environment, 0);
            QVERIFY2(results, results ? "" : results.error().text().c_str());
            call.results = std::move(*results);
            QCOMPARE(call.results.front().tensor().toDouble(0), expected);
            QCOMPARE(call.problem(), QString());
            const tensor::Attributes none;
            const auto found = ops::findDependence({call.op, call.inputs, &none, call.results}, environment);
            QVERIFY2(found, found ? "" : found.error().text().c_str());
            std::set<std::uint32_t> members;
            for (const ops::DependenceTerm& term : found->terms) {
                QCOMPARE(term.input, 1U);
                members.insert(term.member);
                if (term.weightInput == 1) members.insert(term.weightMember);
            }
            QCOMPARE(members.size(), operands.size());
        }
    }

    /// A GRU that resets states before their product: the gates of all units are listed, and name them.
    void resetGatesNameTheirUnits() {
        RandomSource source(3);
        const std::int64_t t = 3, i = 2, h = 4;
        const std::vector<Value> inputs{Value(source.tensor({t, 1, i})), Value(source.tensor({1, 3 * h, i})),
                                        Value(source.tensor({1, 3 * h, h})), Value(source.tensor({1, 6 * h}))};
        const tensor::Attributes attributes{{"hidden_size", h}, {"linear_before_reset", std::int64_t{0}}};
        const ops::OpDef* const op = ops::Registry::all().find("", "GRU", 14);
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const auto results = ops::call(*op, inputs, attributes, 1, environment, 14);
        QVERIFY(results.has_value());
        ops::DependenceQuestion question{op, inputs, &attributes, *results};
        question.element = 2 * h + 1, question.version = 14;  // unit 1 in the last step
        const auto found = ops::findDependence(question, environment);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        std::int64_t unit = 0;
        for (const ops::DependenceTerm& term : found->terms) {
            if (found->parts[term.part].name != "reset") continue;
            QVERIFY(term.isInside && term.input == ops::kNoOperand);
            QCOMPARE(term.element, unit);
            QCOMPARE(term.weight, 0.0);
            // sigmoid(W x + R h + both biases), of the rows of r, which are the second of three
            const auto at = [&](std::size_t input, std::int64_t element) {
                return inputs[input].tensor().toDouble(element);
            };
            const std::int64_t row = h + unit;
            double sum = at(3, row) + at(3, 3 * h + row);
            for (std::int64_t k = 0; k < i; ++k) sum += at(1, row * i + k) * at(0, 2 * i + k);
            for (std::int64_t k = 0; k < h; ++k) sum += at(2, row * h + k) * results->front().tensor().toDouble(h + k);
            QVERIFY(std::fabs(term.value - 1 / (1 + std::exp(-sum))) < 1e-5);
            ++unit;
        }
        QCOMPARE(unit, h);
    }

    void cellsWithOtherActivations() {
        int round = 0;
        for (const char* name : {"HardSigmoid", "Relu", "LeakyRelu", "ThresholdedRelu", "Affine", "ScaledTanh", "Elu",
                                 "Softsign", "Softplus", "Tanh", "Sigmoid"}) {
            RandomSource source(++round);
            const std::int64_t t = 3, b = 2, i = 3, h = 2;
            for (const auto& [cell, gates, functions] :
                 {std::tuple("RNN", 1, 1), std::tuple("GRU", 3, 2), std::tuple("LSTM", 4, 3)}) {
                for (std::int64_t before : {0, 1}) {
                    tensor::Attributes attributes{{"hidden_size", h}, {"linear_before_reset", before}};
                    attributes.set("activations", std::vector<std::string>(static_cast<std::size_t>(functions), name));
                    if (before == 0) attributes.set("activation_alpha", std::vector<double>(3, 0.3));
                    QCOMPARE(test::checked(
                                 "", cell,
                                 {Value(source.tensor({t, b, i})), Value(source.tensor({1, gates * h, i})),
                                  Value(source.tensor({1, gates * h, h})), Value(source.tensor({1, 2 * gates * h}))},
                                 attributes, 14),
                             QString());
                }
            }
        }
    }

    void cellsWithProjections() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t layers = source.between(1, 2), d = source.between(1, 2), t = 3, b = 2, i = 3, h = 4,
                               p = source.between(1, 3);
            const bool isBatchFirst = source.coin(), hasBias = source.coin();
            tensor::ValueList weights;
            for (std::int64_t k = 0; k < layers * d; ++k) {
                weights.emplace_back(source.tensor({4 * h, k < d ? i : d * p}));
                weights.emplace_back(source.tensor({4 * h, p}));
                for (int bias = 0; hasBias && bias < 2; ++bias) weights.emplace_back(source.tensor({4 * h}));
                weights.emplace_back(source.tensor({p, h}));
            }
            const Value states =
                Value::list({Value(source.tensor({layers * d, b, p})), Value(source.tensor({layers * d, b, h}))});
            QCOMPARE(
                test::checked("aten", "lstm.input",
                              {Value(source.tensor(isBatchFirst ? Shape{b, t, i} : Shape{t, b, i})), states,
                               Value::list(weights), Value::ofBool(hasBias), Value::ofInt(layers), Value::ofFloat(0),
                               Value::ofBool(false), Value::ofBool(d == 2), Value::ofBool(isBatchFirst)},
                              {}, 0, 3),
                QString());
        }
    }

    void spectra() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const bool isInverse = source.coin(), isOneSided = source.coin();
            const std::int64_t parts = isInverse ? 2 : source.between(1, 2), axis = source.between(0, 1);
            const Shape shape{source.between(2, 5), source.between(2, 5), parts};
            const Value length = source.coin() ? Value(Tensor::scalar<std::int64_t>(source.between(2, 6))) : Value();
            QCOMPARE(test::checked("", "DFT",
                                   {Value(source.tensor(shape)), length, Value(Tensor::scalar<std::int64_t>(axis))},
                                   {{"inverse", std::int64_t{isInverse}}, {"onesided", std::int64_t{isOneSided}}}, 20),
                     QString());
        }
    }

    void movedTapsAndSamples() {
        for (int round = 0; round < kRounds; ++round) {
            RandomSource source(round);
            const std::int64_t groups = source.between(1, 2), offsetGroups = source.between(1, 2), k = 2, out = 3;
            std::vector<Value> inputs{
                Value(source.tensor({2, 4, 4, 5})), Value(source.tensor({2 * groups, 4 / groups, k, k})),
                Value(source.tensor({2, offsetGroups * k * k * 2, out, out + 1})), Value(), Value()};
            if (source.coin()) inputs[3] = Value(source.tensor({2 * groups}));
            if (source.coin()) inputs[4] = Value(source.tensor({2, offsetGroups * k * k, out, out + 1}));
            QCOMPARE(
                test::checked("", "DeformConv", inputs,
                              {{"group", groups}, {"offset_group", offsetGroups}, {"kernel_shape", Ints{k, k}}}, 19),
                QString());
            tensor::Attributes attributes{{"output_height", source.between(1, 3)},
                                          {"output_width", source.between(1, 3)},
                                          {"sampling_ratio", source.between(0, 2)},
                                          {"spatial_scale", 0.5},
                                          {"mode", std::string(source.coin() ? "max" : "avg")}};
            const int version = source.coin() ? 16 : 10;
            if (version == 16 && source.coin())
                attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
            QCOMPARE(test::checked("", "RoiAlign",
                                   {Value(source.tensor({2, 2, 5, 6})),
                                    Value(Tensor::of<float>({2, 4}, {1, 2, 7, 9, -3, 0, 14, 5})), ints({1, 0})},
                                   attributes, version),
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
