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
            VERIFY_CHECKED("", "Conv", {Value(source.tensor(x)), Value(source.tensor(w)), Value(bias)}, attributes, 11);
            VERIFY_CHECKED("", "Conv", {Value(source.tensor(x)), Value(source.tensor(w))}, attributes, 11);
            VERIFY_CHECKED("", "ConvTranspose",
                           {Value(source.tensor(x)), Value(source.tensor(transposed)), Value(bias)}, attributes, 11);
            const Ints same(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
            const std::string dims = std::to_string(rank) + "d";
            VERIFY_CHECKED("aten", "conv" + dims,
                           {Value(source.tensor(x)), Value(source.tensor(w)), Value(bias), test::list(strides),
                            test::list(same), test::list(dilations), Value::ofInt(groups)});
            VERIFY_CHECKED("aten", "_convolution.deprecated",
                           {Value(source.tensor(x)), Value(source.tensor(transposed)), Value(bias), test::list(strides),
                            test::list(same), test::list(dilations), Value::ofBool(true), test::list(Ints(rank, 0)),
                            Value::ofInt(groups), Value::ofBool(false), Value::ofBool(false), Value::ofBool(false)});
        }
    }

    void convolutionsThatPadThemselves() {
        for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
            test::RandomSource source(7);
            const tensor::Attributes attributes{{"strides", Ints{2, 3}}, {"auto_pad", std::string(mode)}};
            VERIFY_CHECKED("", "Conv", {Value(source.tensor({1, 2, 7, 8})), Value(source.tensor({3, 2, 3, 3}))},
                           attributes, 11);
            VERIFY_CHECKED("", "ConvTranspose",
                           {Value(source.tensor({1, 2, 4, 3})), Value(source.tensor({2, 3, 3, 3}))}, attributes, 11);
        }
        // Without a batch.
        test::RandomSource source(8);
        VERIFY_CHECKED("aten", "conv2d", {Value(source.tensor({2, 7, 8})), Value(source.tensor({3, 2, 3, 3}))});
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
            VERIFY_CHECKED("", "MaxPool", {Value(source.tensor(x))}, attributes, 12);
            VERIFY_CHECKED("", "LpPool", {Value(source.tensor(x))}, attributes, 18);
            tensor::Attributes average = attributes;
            average.set("count_include_pad", counts);
            VERIFY_CHECKED("", "AveragePool", {Value(source.tensor(x))}, average, 19);
            for (const char* name : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
                VERIFY_CHECKED("", name, {Value(source.tensor(x))}, {}, 2);
            const std::string dims = std::to_string(rank) + "d";
            VERIFY_CHECKED("aten", "max_pool" + dims,
                           {Value(source.tensor(x)), test::list(kernel), test::list(strides), test::list(pads),
                            Value::ofInt(1), Value::ofBool(ceil != 0)});
            VERIFY_CHECKED("aten", "avg_pool" + dims,
                           {Value(source.tensor(x)), test::list(kernel), test::list(strides), test::list(pads),
                            Value::ofBool(ceil != 0), Value::ofBool(counts != 0)});
            VERIFY_CHECKED("aten", "adaptive_avg_pool" + dims, {Value(source.tensor(x)), test::list(sizes)});
            VERIFY_CHECKED("aten", "adaptive_max_pool" + dims, {Value(source.tensor(x)), test::list(sizes)});
        }
    }

    void products() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const std::int64_t m = source.between(1, 4), k = source.between(1, 5), n = source.between(1, 4);
            const Shape batch = source.shape(static_cast<std::size_t>(source.between(0, 2)), 1, 3);
            Shape left = source.narrower(batch), right = batch;
            left.push_back(m), left.push_back(k), right.push_back(k), right.push_back(n);
            VERIFY_CHECKED("", "MatMul", {Value(source.tensor(left)), Value(source.tensor(right))}, {}, 13);
            VERIFY_CHECKED("aten", "matmul", {Value(source.tensor({k})), Value(source.tensor(right))});
            VERIFY_CHECKED("aten", "matmul", {Value(source.tensor(right)), Value(source.tensor({n}))});
            const std::int64_t a = source.between(0, 1), b = source.between(0, 1);
            const tensor::Attributes gemm{
                {"transA", a}, {"transB", b}, {"alpha", 0.5}, {"beta", round % 3 == 0 ? 1.0 : 2.0}};
            VERIFY_CHECKED("", "Gemm",
                           {Value(source.tensor(a != 0 ? Shape{k, m} : Shape{m, k})),
                            Value(source.tensor(b != 0 ? Shape{n, k} : Shape{k, n})),
                            Value(source.tensor(source.narrower({m, n})))},
                           gemm, 13);
            VERIFY_CHECKED("aten", "addmm",
                           {Value(source.tensor({n})), Value(source.tensor({m, k})), Value(source.tensor({k, n})),
                            Value::ofFloat(2), Value::ofFloat(0.5)});
            VERIFY_CHECKED(
                "aten", "baddbmm",
                {Value(source.tensor({m, n})), Value(source.tensor({2, m, k})), Value(source.tensor({2, k, n}))});
            VERIFY_CHECKED("aten", "linear",
                           {Value(source.tensor(left)), Value(source.tensor({n, k})),
                            source.coin() ? Value(source.tensor({n})) : Value()});
            VERIFY_CHECKED("", "Einsum", {Value(source.tensor({m, k, 2})), Value(source.tensor({k, n, 2}))},
                           {{"equation", std::string("abz,bcz->ca")}}, 12);
            VERIFY_CHECKED("", "Einsum",
                           {Value(source.tensor({m, k})), Value(source.tensor({k, n})), Value(source.tensor({n}))},
                           {{"equation", std::string("ab,bc,c->a")}}, 12);
        }
    }

    void normalisations() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const std::int64_t c = 2 * source.between(1, 3);
            Shape x{source.between(1, 3), c};
            for (std::int64_t d = source.between(0, 2); d > 0; --d) x.push_back(source.between(2, 4));
            const auto per = [&](double low = -2) { return Value(source.tensor({c}, low)); };
            VERIFY_CHECKED("", "BatchNormalization", {Value(source.tensor(x)), per(), per(), per(), per(0.1)}, {}, 15);
            VERIFY_CHECKED("", "BatchNormalization", {Value(source.tensor(x)), per(), per(), per(), per(0.1)},
                           {{"training_mode", std::int64_t{1}}}, 15);
            VERIFY_CHECKED("aten", "batch_norm",
                           {Value(source.tensor(x)), per(), Value(), per(), per(0.1), Value::ofBool(round % 2 == 0),
                            Value::ofFloat(0.1), Value::ofFloat(1e-3), Value::ofBool(false)});
            VERIFY_CHECKED("", "InstanceNormalization", {Value(source.tensor(x)), per(), per()}, {}, 6);
            VERIFY_CHECKED("", "GroupNormalization", {Value(source.tensor(x)), per(), per()},
                           {{"num_groups", std::int64_t{2}}}, 21);
            VERIFY_CHECKED("aten", "group_norm", {Value(source.tensor(x)), Value::ofInt(2), per(), per()});
            const auto axis = static_cast<std::size_t>(source.between(0, static_cast<std::int64_t>(x.rank()) - 1));
            const Shape tail(std::span(x.dims()).subspan(axis));
            const tensor::Attributes from{{"axis", static_cast<std::int64_t>(axis)}};
            VERIFY_CHECKED("", "LayerNormalization",
                           {Value(source.tensor(x)), Value(source.tensor(tail)), Value(source.tensor(tail))}, from, 17);
            VERIFY_CHECKED("", "RMSNormalization", {Value(source.tensor(x)), Value(source.tensor(tail))}, from, 23);
            VERIFY_CHECKED("aten", "layer_norm",
                           {Value(source.tensor(x)), test::list(tail.dims()), Value(source.tensor(tail)),
                            Value(source.tensor(tail))});
            VERIFY_CHECKED("", "LRN", {Value(source.tensor(x))}, {{"size", source.between(1, 5)}}, 13);
            for (const char* name : {"Softmax", "LogSoftmax"}) {
                VERIFY_CHECKED("", name, {Value(source.tensor(x))}, from, 13);
                VERIFY_CHECKED("", name, {Value(source.tensor(x))}, from, 11);
            }
            VERIFY_CHECKED("aten", "softmax.int", {Value(source.tensor(x)), Value::ofInt(-1)});
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
                VERIFY_CHECKED("", name, {Value(source.tensor(x, 0.1)), over}, {{"keepdims", keeps}}, 18);
            const std::int64_t axis = source.between(0, static_cast<std::int64_t>(x.rank()) - 1);
            VERIFY_CHECKED("", "ArgMax", {Value(source.tensor(x))}, {{"axis", axis}, {"keepdims", keeps}}, 13);
            VERIFY_CHECKED("", "CumSum", {Value(source.tensor(x)), Value(Tensor::scalar<std::int64_t>(axis))},
                           {{"exclusive", source.between(0, 1)}, {"reverse", keeps}}, 14);
            VERIFY_CHECKED(
                "aten", "mean.dim",
                {Value(source.tensor(x)), axes.empty() ? Value() : test::list(axes), Value::ofBool(keeps != 0)});
            VERIFY_CHECKED("aten", "max.dim", {Value(source.tensor(x)), Value::ofInt(axis), Value::ofBool(keeps != 0)});
            if (x[static_cast<std::size_t>(axis)] > 1)
                VERIFY_CHECKED("aten", "var.dim",
                               {Value(source.tensor(x)), test::list({axis}), Value::ofBool(round % 2 == 0),
                                Value::ofBool(keeps != 0)});
            VERIFY_CHECKED("", "TopK", {Value(source.tensor(x)), Value(Tensor::of<std::int64_t>({1}, {1}))},
                           {{"axis", axis}}, 11);
        }
    }

    void elementWise() {
        for (int round = 0; round < kRounds; ++round) {
            test::RandomSource source(round);
            const Shape whole = source.shape(static_cast<std::size_t>(source.between(0, 4)));
            const auto x = [&](double low = -3, double high = 3) { return Value(source.tensor(whole, low, high)); };
            const auto other = [&](double low = -3) { return Value(source.tensor(source.narrower(whole), low, 3)); };
            for (const char* name : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Sum", "Mean", "PRelu"})
                VERIFY_CHECKED("", name, {x(), other()}, {}, 16);
            for (const char* name : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"})
                VERIFY_CHECKED("", name, {x(), other()}, {}, 16);
            VERIFY_CHECKED("", "Pow", {x(0.1), other()}, {}, 15);
            VERIFY_CHECKED("", "Where",
                           {Value(source.tensor(source.narrower(whole)).cast(DType::Bool).value()), x(), other()}, {},
                           16);
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
                VERIFY_CHECKED("", name, {x()}, {}, 22);
            VERIFY_CHECKED(
                "", "Clip",
                {x(), Value(Tensor::scalar<float>(-1)), round % 2 == 0 ? Value() : Value(Tensor::scalar<float>(1))}, {},
                13);
            VERIFY_CHECKED("aten", "add.Tensor", {x(), other(), Value::ofFloat(0.5)});
            VERIFY_CHECKED("aten", "rsub.Scalar", {x(), Value::ofFloat(2)});
            VERIFY_CHECKED("aten", "clamp", {x(), Value::ofFloat(-1), Value()});
            VERIFY_CHECKED("aten", "addcmul", {x(), other(), other(), Value::ofFloat(2)});
            VERIFY_CHECKED(
                "aten", "masked_fill.Scalar",
                {x(), Value(source.tensor(source.narrower(whole)).cast(DType::Bool).value()), Value::ofFloat(9)});
        }
    }
};

QTEST_APPLESS_MAIN(TestWhyRandom)

}  // namespace tst_why_random

#include "tst_why_random.moc"
