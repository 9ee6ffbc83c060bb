// Rules with random shapes, windows, groups and broadcasts: the formula gives what the kernel gives.

#include <QtTest>

#include "tests/core/session/why/random_call.h"

namespace tst_why_random {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Ints = std::vector<std::int64_t>;

namespace {

constexpr int kRounds = 40;

}  // namespace

class TestWhyRandom : public QObject {
    Q_OBJECT

  private slots:
    void convolutions() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const auto rank = static_cast<std::size_t>(source.between(1, 3));
            const std::int64_t groups = source.between(1, 3), in = groups * source.between(1, 2),
                               out = groups * source.between(1, 2);
            Shape x{source.between(1, 2), in}, w{out, in / groups}, transposed{in, out / groups};
            Ints strides, dilations, pads;
            for (std::size_t d = 0; d < rank; ++d) {
                const std::int64_t kernel = source.between(1, 3);
                w.push_back(kernel), transposed.push_back(kernel);
                x.push_back(source.between(6, 8));
                strides.push_back(source.between(1, 3)), dilations.push_back(source.between(1, 2));
            }
            for (std::size_t d = 0; d < 2 * rank; ++d) pads.push_back(source.between(0, 1));
            const Tensor bias = source.tensor({out});
            const tensor::Attributes attributes{
                {"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", groups}};
            QCOMPARE(test::checked("", "Conv", {Value(source.tensor(x)), Value(source.tensor(w)), Value(bias)},
                                   attributes, 11),
                     QString());
            QCOMPARE(test::checked("", "Conv", {Value(source.tensor(x)), Value(source.tensor(w))}, attributes, 11),
                     QString());
            QCOMPARE(
                test::checked("", "ConvTranspose",
                              {Value(source.tensor(x)), Value(source.tensor(transposed)), Value(bias)}, attributes, 11),
                QString());
            const Ints same(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
            const std::string dims = std::to_string(rank) + "d";
            QCOMPARE(test::checked("aten", "conv" + dims,
                                   {Value(source.tensor(x)), Value(source.tensor(w)), Value(bias), test::list(strides),
                                    test::list(same), test::list(dilations), Value::ofInt(groups)}),
                     QString());
            QCOMPARE(test::checked(
                         "aten", "_convolution.deprecated",
                         {Value(source.tensor(x)), Value(source.tensor(transposed)), Value(bias), test::list(strides),
                          test::list(same), test::list(dilations), Value::ofBool(true), test::list(Ints(rank, 0)),
                          Value::ofInt(groups), Value::ofBool(false), Value::ofBool(false), Value::ofBool(false)}),
                     QString());
        }
    }

    void convolutionsThatPadThemselves() {
        for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
            test::RandomSource source(7);
            const tensor::Attributes attributes{{"strides", Ints{2, 3}}, {"auto_pad", std::string(mode)}};
            QCOMPARE(test::checked("", "Conv", {Value(source.tensor({1, 2, 7, 8})), Value(source.tensor({3, 2, 3, 3}))},
                                   attributes, 11),
                     QString());
            QCOMPARE(
                test::checked("", "ConvTranspose",
                              {Value(source.tensor({1, 2, 4, 3})), Value(source.tensor({2, 3, 3, 3}))}, attributes, 11),
                QString());
        }
        // Without a batch.
        test::RandomSource source(8);
        QCOMPARE(test::checked("aten", "conv2d", {Value(source.tensor({2, 7, 8})), Value(source.tensor({3, 2, 3, 3}))}),
                 QString());
    }

    void pools() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const auto rank = static_cast<std::size_t>(source.between(1, 3));
            Shape x{source.between(1, 2), source.between(1, 3)};
            Ints kernel, strides, pads, sizes;
            for (std::size_t d = 0; d < rank; ++d) {
                kernel.push_back(source.between(2, 3)), strides.push_back(source.between(1, 3)),
                    sizes.push_back(source.between(1, 4));
                x.push_back(source.between(6, 9));
                pads.push_back(source.between(0, 1));
            }
            Ints both = pads;
            both.insert(both.end(), pads.begin(), pads.end());
            const std::int64_t ceil = source.between(0, 1), counts = source.between(0, 1);
            const tensor::Attributes attributes{
                {"kernel_shape", kernel}, {"strides", strides}, {"pads", both}, {"ceil_mode", ceil}};
            QCOMPARE(test::checked("", "MaxPool", {Value(source.tensor(x))}, attributes, 12), QString());
            QCOMPARE(test::checked("", "LpPool", {Value(source.tensor(x))}, attributes, 18), QString());
            tensor::Attributes average = attributes;
            average.set("count_include_pad", counts);
            QCOMPARE(test::checked("", "AveragePool", {Value(source.tensor(x))}, average, 19), QString());
            for (const char* name : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
                QCOMPARE(test::checked("", name, {Value(source.tensor(x))}, {}, 2), QString());
            const std::string dims = std::to_string(rank) + "d";
            QCOMPARE(test::checked("aten", "max_pool" + dims,
                                   {Value(source.tensor(x)), test::list(kernel), test::list(strides), test::list(pads),
                                    Value::ofInt(1), Value::ofBool(ceil != 0)}),
                     QString());
            QCOMPARE(test::checked("aten", "avg_pool" + dims,
                                   {Value(source.tensor(x)), test::list(kernel), test::list(strides), test::list(pads),
                                    Value::ofBool(ceil != 0), Value::ofBool(counts != 0)}),
                     QString());
            QCOMPARE(test::checked("aten", "adaptive_avg_pool" + dims, {Value(source.tensor(x)), test::list(sizes)}),
                     QString());
            QCOMPARE(test::checked("aten", "adaptive_max_pool" + dims, {Value(source.tensor(x)), test::list(sizes)}),
                     QString());
        }
    }

    void products() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const std::int64_t m = source.between(1, 4), k = source.between(1, 5), n = source.between(1, 4);
            const Shape batch = source.shape(static_cast<std::size_t>(source.between(0, 2)), 1, 3);
            Shape left = source.narrower(batch), right = batch;
            left.push_back(m), left.push_back(k), right.push_back(k), right.push_back(n);
            QCOMPARE(test::checked("", "MatMul", {Value(source.tensor(left)), Value(source.tensor(right))}, {}, 13),
                     QString());
            QCOMPARE(test::checked("aten", "matmul", {Value(source.tensor({k})), Value(source.tensor(right))}),
                     QString());
            QCOMPARE(test::checked("aten", "matmul", {Value(source.tensor(right)), Value(source.tensor({n}))}),
                     QString());
            const std::int64_t a = source.between(0, 1), b = source.between(0, 1);
            const tensor::Attributes gemm{
                {"transA", a}, {"transB", b}, {"alpha", 0.5}, {"beta", round % 3 == 0 ? 1.0 : 2.0}};
            QCOMPARE(test::checked("", "Gemm",
                                   {Value(source.tensor(a != 0 ? Shape{k, m} : Shape{m, k})),
                                    Value(source.tensor(b != 0 ? Shape{n, k} : Shape{k, n})),
                                    Value(source.tensor(source.narrower({m, n})))},
                                   gemm, 13),
                     QString());
            QCOMPARE(test::checked("aten", "addmm",
                                   {Value(source.tensor({n})), Value(source.tensor({m, k})),
                                    Value(source.tensor({k, n})), Value::ofFloat(2), Value::ofFloat(0.5)}),
                     QString());
            QCOMPARE(test::checked("aten", "baddbmm",
                                   {Value(source.tensor({m, n})), Value(source.tensor({2, m, k})),
                                    Value(source.tensor({2, k, n}))}),
                     QString());
            QCOMPARE(test::checked("aten", "linear",
                                   {Value(source.tensor(left)), Value(source.tensor({n, k})),
                                    source.coin() ? Value(source.tensor({n})) : Value()}),
                     QString());
            QCOMPARE(test::checked("", "Einsum", {Value(source.tensor({m, k, 2})), Value(source.tensor({k, n, 2}))},
                                   {{"equation", std::string("abz,bcz->ca")}}, 12),
                     QString());
            QCOMPARE(
                test::checked("", "Einsum",
                              {Value(source.tensor({m, k})), Value(source.tensor({k, n})), Value(source.tensor({n}))},
                              {{"equation", std::string("ab,bc,c->a")}}, 12),
                QString());
        }
    }

    void normalisations() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const std::int64_t c = 2 * source.between(1, 3);
            Shape x{source.between(1, 3), c};
            for (std::int64_t d = source.between(0, 2); d > 0; --d) x.push_back(source.between(2, 4));
            const auto per = [&](double low = -2) { return Value(source.tensor({c}, low)); };
            QCOMPARE(test::checked("", "BatchNormalization", {Value(source.tensor(x)), per(), per(), per(), per(0.1)},
                                   {}, 15),
                     QString());
            QCOMPARE(test::checked("", "BatchNormalization", {Value(source.tensor(x)), per(), per(), per(), per(0.1)},
                                   {{"training_mode", std::int64_t{1}}}, 15),
                     QString());
            QCOMPARE(
                test::checked("aten", "batch_norm",
                              {Value(source.tensor(x)), per(), Value(), per(), per(0.1), Value::ofBool(round % 2 == 0),
                               Value::ofFloat(0.1), Value::ofFloat(1e-3), Value::ofBool(false)}),
                QString());
            QCOMPARE(test::checked("", "InstanceNormalization", {Value(source.tensor(x)), per(), per()}, {}, 6),
                     QString());
            QCOMPARE(test::checked("", "GroupNormalization", {Value(source.tensor(x)), per(), per()},
                                   {{"num_groups", std::int64_t{2}}}, 21),
                     QString());
            QCOMPARE(test::checked("aten", "group_norm", {Value(source.tensor(x)), Value::ofInt(2), per(), per()}),
                     QString());
            const auto axis = static_cast<std::size_t>(source.between(0, static_cast<std::int64_t>(x.rank()) - 1));
            const Shape tail(std::span(x.dims()).subspan(axis));
            const tensor::Attributes from{{"axis", static_cast<std::int64_t>(axis)}};
            QCOMPARE(test::checked("", "LayerNormalization",
                                   {Value(source.tensor(x)), Value(source.tensor(tail)), Value(source.tensor(tail))},
                                   from, 17),
                     QString());
            QCOMPARE(
                test::checked("", "RMSNormalization", {Value(source.tensor(x)), Value(source.tensor(tail))}, from, 23),
                QString());
            QCOMPARE(test::checked("aten", "layer_norm",
                                   {Value(source.tensor(x)), test::list(tail.dims()), Value(source.tensor(tail)),
                                    Value(source.tensor(tail))}),
                     QString());
            QCOMPARE(test::checked("", "LRN", {Value(source.tensor(x))}, {{"size", source.between(1, 5)}}, 13),
                     QString());
            for (const char* name : {"Softmax", "LogSoftmax"}) {
                QCOMPARE(test::checked("", name, {Value(source.tensor(x))}, from, 13), QString());
                QCOMPARE(test::checked("", name, {Value(source.tensor(x))}, from, 11), QString());
            }
            QCOMPARE(test::checked("aten", "softmax.int", {Value(source.tensor(x)), Value::ofInt(-1)}), QString());
        }
    }

    void reductions() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const Shape x = source.shape(static_cast<std::size_t>(source.between(1, 4)));
            Ints axes;
            for (std::size_t d = 0; d < x.rank(); ++d)
                if (source.coin())
                    axes.push_back(source.coin() ? static_cast<std::int64_t>(d)
                                                 : static_cast<std::int64_t>(d) - static_cast<std::int64_t>(x.rank()));
            const std::int64_t keeps = source.between(0, 1);
            const Value over = axes.empty()
                                   ? Value()
                                   : Value(Tensor::of<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes));
            for (const char* name : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
                                     "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
                QCOMPARE(test::checked("", name, {Value(source.tensor(x, 0.1)), over}, {{"keepdims", keeps}}, 18),
                         QString());
            const std::int64_t axis = source.between(0, static_cast<std::int64_t>(x.rank()) - 1);
            QCOMPARE(test::checked("", "ArgMax", {Value(source.tensor(x))}, {{"axis", axis}, {"keepdims", keeps}}, 13),
                     QString());
            QCOMPARE(test::checked("", "CumSum", {Value(source.tensor(x)), Value(Tensor::scalar<std::int64_t>(axis))},
                                   {{"exclusive", source.between(0, 1)}, {"reverse", keeps}}, 14),
                     QString());
            QCOMPARE(test::checked("aten", "mean.dim",
                                   {Value(source.tensor(x)), axes.empty() ? Value() : test::list(axes),
                                    Value::ofBool(keeps != 0)}),
                     QString());
            QCOMPARE(test::checked("aten", "max.dim",
                                   {Value(source.tensor(x)), Value::ofInt(axis), Value::ofBool(keeps != 0)}),
                     QString());
            if (x[static_cast<std::size_t>(axis)] > 1)
                QCOMPARE(test::checked("aten", "var.dim",
                                       {Value(source.tensor(x)), test::list({axis}), Value::ofBool(round % 2 == 0),
                                        Value::ofBool(keeps != 0)}),
                         QString());
            QCOMPARE(test::checked("", "TopK", {Value(source.tensor(x)), Value(Tensor::of<std::int64_t>({1}, {1}))},
                                   {{"axis", axis}}, 11),
                     QString());
        }
    }

    void elementWise() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const Shape whole = source.shape(static_cast<std::size_t>(source.between(0, 4)));
            const auto x = [&](double low = -3, double high = 3) { return Value(source.tensor(whole, low, high)); };
            const auto other = [&](double low = -3) { return Value(source.tensor(source.narrower(whole), low, 3)); };
            for (const char* name : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu"})
                QCOMPARE(test::checked("", name, {x(), other()}, {}, 16), QString());
            for (const char* name : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"})
                QCOMPARE(test::checked("", name, {x(), other()}, {}, 16), QString());
            QCOMPARE(test::checked("", "Pow", {x(0.1), other()}, {}, 15), QString());
            QCOMPARE(
                test::checked("", "Where",
                              {Value(source.tensor(source.narrower(whole)).cast(DType::Bool).value()), x(), other()},
                              {}, 16),
                QString());
            for (const char* name : {"Relu",
                                     "LeakyRelu",
                                     "Elu",
                                     "Selu",
                                     "Celu",
                                     "Sigmoid",
                                     "HardSigmoid",
                                     "HardSwish",
                                     "Softplus",
                                     "Softsign",
                                     "Mish",
                                     "Tanh",
                                     "Abs",
                                     "Neg",
                                     "Sign",
                                     "Floor",
                                     "Ceil",
                                     "Round",
                                     "Exp",
                                     "Sin",
                                     "Cos",
                                     "Tan",
                                     "Sinh",
                                     "Cosh",
                                     "Erf",
                                     "Atan",
                                     "Asinh",
                                     "Gelu",
                                     "ThresholdedRelu",
                                     "Shrink",
                                     "Reciprocal"})
                QCOMPARE(test::checked("", name, {x()}, {}, 22), QString());
            QCOMPARE(test::checked("", "Clip",
                                   {x(), Value(Tensor::scalar<float>(-1)),
                                    round % 2 == 0 ? Value() : Value(Tensor::scalar<float>(1))},
                                   {}, 13),
                     QString());
            QCOMPARE(test::checked("aten", "add.Tensor", {x(), other(), Value::ofFloat(0.5)}), QString());
            QCOMPARE(test::checked("aten", "rsub.Scalar", {x(), Value::ofFloat(2)}), QString());
            QCOMPARE(test::checked("aten", "clamp", {x(), Value::ofFloat(-1), Value()}), QString());
            QCOMPARE(test::checked("aten", "addcmul", {x(), other(), other(), Value::ofFloat(2)}), QString());
            QCOMPARE(test::checked("aten", "masked_fill.Scalar",
                                   {x(), Value(source.tensor(source.narrower(whole)).cast(DType::Bool).value()),
                                    Value::ofFloat(9)}),
                     QString());
        }
    }
};

QTEST_APPLESS_MAIN(TestWhyRandom)

}  // namespace tst_why_random

#include "tst_why_random.moc"
