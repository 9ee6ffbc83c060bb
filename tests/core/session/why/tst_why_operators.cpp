// Rules of losses, norms, products of vectors, determinants, fused layers, packed weights and counts, on random shapes;
// and formulas that say what a function computes, with numbers worked by hand.

#include <QRegularExpression>
#include <QtTest>

#include <cmath>
#include <set>

#include "core/base/thread_pool.h"
#include "core/expression/expression.h"
#include "core/ops/dependence/rules.h"
#include "tests/core/session/why/random_call.h"

namespace tst_why_operators {

using namespace sonde;
using tensor::Attributes;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using test::RandomSource;
using Dims = std::vector<std::int64_t>;

namespace {

Value integer(std::int64_t value) { return Value::ofInt(value); }
Value number(double value) { return Value::ofFloat(value); }
Value text(const char* value) { return Value(std::string(value)); }
Value flag(bool value) { return Value::ofBool(value); }
QString aten(std::string_view name, std::vector<Value> inputs, std::size_t outputs = 1) {
    return test::checked("aten", name, std::move(inputs), {}, 0, outputs);
}
QString contrib(std::string_view name, std::vector<Value> inputs, Attributes attributes = {}, std::size_t outputs = 1) {
    return test::checked("com.microsoft", name, std::move(inputs), std::move(attributes), 1, outputs);
}
Tensor whole(const Tensor& x, DType dtype) { return x.cast(dtype).value(); }

/// What a rule says of the first element of a call.
struct Said {
    std::string formula;
    double value = 0;
    bool isByKernel = false;
};
std::optional<Said> said(std::string_view domain, std::string_view name, const std::vector<Value>& inputs,
                         const Attributes& attributes = {}, int version = 0) {
    const ops::OpDef* const op = ops::Registry::all().find(domain, name, version);
    base::ThreadPool pool(1);
    ops::RunEnvironment environment;
    environment.pool = &pool;
    const auto results = ops::call(*op, inputs, attributes, 1, environment, version);
    if (!results) return std::nullopt;
    const auto found = ops::findDependence({op, inputs, &attributes, *results, 0, 0, 0, version}, environment);
    if (!found) return std::nullopt;
    const auto value = session::why::recombined(*found);
    return Said{found->formula, value ? *value : NAN, found->byKernel.has_value()};
}

}  // namespace

class TestWhyOperators : public QObject {
    Q_OBJECT

  private slots:
    void functionsSayWhatTheyCompute() {
        const auto one = [](float x) { return Value(Tensor::of<float>({1}, {x})); };
        const auto gelu = [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); };
        const auto byTanh = [](double x) {
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
        };
        const Attributes tanh{{"approximate", std::string("tanh")}};
        const struct {
            std::optional<Said> is;
            double expected;
        } rows[] = {
            {said("", "Gelu", {one(0.75F)}, {}, 20), gelu(0.75)},
            {said("", "Gelu", {one(-1.5F)}, tanh, 20), byTanh(-1.5)},
            {said("aten", "gelu", {one(0.75F), text("tanh")}), byTanh(0.75)},
            {said("aten", "gelu", {one(-0.25F), text("none")}), gelu(-0.25)},
            {said("com.microsoft", "Gelu", {one(0.5F)}, {}, 1), gelu(0.5)},
            {said("com.microsoft", "BiasGelu", {one(0.5F), one(0.25F)}, {}, 1), gelu(0.75)},
            {said("com.microsoft", "FastGelu", {one(0.5F), one(0.25F)}, {}, 1), byTanh(0.75)},
            {said("com.microsoft", "FastGelu", {one(0.5F)}, {}, 1), byTanh(0.5)},
            {said("com.microsoft", "QuickGelu", {one(0.5F)}, {{"alpha", 2.0}}, 1), 0.5 / (1 + std::exp(-1.0))},
            {said("", "Mod", {one(-5.5F), one(2)}, {{"fmod", std::int64_t{1}}}, 13), -1.5},
            {said("aten", "fmod.Tensor", {one(-5.5F), one(-2)}), -1.5},
            {said("aten", "remainder.Tensor", {one(-5.5F), one(2)}), 0.5},
            {said("", "Mod", {Value(Tensor::of<std::int64_t>({1}, {-7})), Value(Tensor::of<std::int64_t>({1}, {3}))},
                  {}, 13),
             2},
            {said("", "Erf", {one(0.5F)}, {}, 13), 0.5204998778130465},
            {said("aten", "div.Tensor_mode", {one(-7), one(2), text("floor")}), -4},
            {said("aten", "div.Tensor_mode", {one(-7), one(2), text("trunc")}), -3}};
        for (std::size_t i = 0; i < std::size(rows); ++i) {
            QVERIFY2(rows[i].is, qPrintable(QString::number(i)));
            QVERIFY2(!rows[i].is->isByKernel, rows[i].is->formula.c_str());
            QVERIFY2(std::fabs(rows[i].is->value - rows[i].expected) < 1e-6,
                     qPrintable(QString("%1: %2").arg(rows[i].is->formula.c_str()).arg(rows[i].is->value)));
        }
    }

    void losses() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const Shape shape = source.shape(static_cast<std::size_t>(source.between(1, 3)));
            const Value x(source.tensor(shape)), y(source.tensor(source.narrower(shape))), how = integer(round % 3);
            for (const char* name : {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div"})
                QCOMPARE(aten(name, {x, name[0] == 'k' ? Value(source.tensor(shape, 0.1, 1)) : y, how}), QString());
            QCOMPARE(aten("kl_div", {x, Value(source.tensor(shape)), how, flag(true)}), QString());
            const Value p(source.tensor(shape, 0.05, 0.95)), q(source.tensor(shape, 0, 1));
            const Value weight = source.coin() ? Value(source.tensor(source.narrower(shape), 0, 2)) : Value();
            QCOMPARE(aten("binary_cross_entropy", {p, q, weight, how}), QString());
            const Value positive = source.coin() ? Value(source.tensor(source.narrower(shape), 0, 2)) : Value();
            QCOMPARE(aten("binary_cross_entropy_with_logits", {x, q, weight, positive, how}), QString());
        }
    }

    void lossesOfLabels() {
        constexpr const char* kReductions[] = {"none", "mean", "sum"};
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            Shape labels = source.shape(static_cast<std::size_t>(source.between(1, 3)), 1, 3), scores = labels;
            const std::int64_t classes = source.between(2, 4);
            Dims dims = scores.dims();
            dims.insert(dims.begin() + 1, classes);
            scores = Shape(dims);
            const Value x(source.tensor(scores)), target(source.indices(labels, classes));
            const Value weight = source.coin() ? Value(source.tensor({classes}, 0.2, 2)) : Value();
            const Value ignored = integer(source.coin() ? (target.tensor().toInt64(0) + 1) % classes : -100);
            for (const char* name : {"nll_loss_nd", "cross_entropy_loss"})
                QCOMPARE(aten(name, {x, target, weight, integer(round % 3), ignored}), QString());
            for (const char* name : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
                QCOMPARE(test::checked(
                             "", name, {x, target, weight},
                             {{"reduction", std::string(kReductions[round % 3])}, {"ignore_index", ignored.toInt()}},
                             13, name[0] == 'S' ? 2 : 1),
                         QString());
        }
    }

    void norms() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const Shape shape = source.shape(3, 1, 4);
            const Value x(source.tensor(shape));
            const double powers[] = {0, 1, 2, 3, INFINITY, -INFINITY, 0.5};
            const Value p = number(powers[round % 7]);
            const Value dims = test::list(source.coin() ? Dims{1} : Dims{0, 2});
            QCOMPARE(aten("linalg_vector_norm", {x, p, dims, flag(source.coin())}), QString());
            QCOMPARE(aten("norm.ScalarOpt_dim", {x, p, dims, flag(source.coin())}), QString());
            QCOMPARE(aten("norm.Scalar", {x, p}), QString());
            QCOMPARE(aten("frobenius_norm", {x}), QString());
            QCOMPARE(aten("dist", {x, Value(source.tensor(source.narrower(shape))), p}), QString());
            QCOMPARE(aten("pairwise_distance", {x, Value(source.tensor(shape)), p, number(1e-6), flag(source.coin())}),
                     QString());
            QCOMPARE(aten("cosine_similarity", {x, Value(source.tensor(shape)), integer(source.between(-3, 2))}),
                     QString());
            QCOMPARE(aten("renorm", {x, number(2), integer(1), number(1.5)}), QString());
            QCOMPARE(aten("_weight_norm", {x, Value(source.tensor({shape[0], 1, 1})), integer(0)}), QString());
            QCOMPARE(aten("nansum", {x, dims, flag(source.coin())}), QString());
            QCOMPARE(aten("nanmean", {x, dims, flag(source.coin())}), QString());
            QCOMPARE(aten("aminmax", {x, integer(1), flag(source.coin())}, 2), QString());
            QCOMPARE(aten("var_mean.dim", {x, test::list({0, 2}), flag(false), flag(source.coin())}, 2), QString());
        }
    }

    void productsOfVectors() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 4), m = source.between(1, 4), k = source.between(1, 4),
                               b = source.between(1, 3);
            const auto tensor = [&](const Shape& shape) { return Value(source.tensor(shape)); };
            const auto factor = [&] { return number(static_cast<double>(source.between(-2, 3)) / 2); };
            QCOMPARE(aten("outer", {tensor({n}), tensor({m})}), QString());
            QCOMPARE(aten("addr", {tensor(source.narrower({n, m})), tensor({n}), tensor({m}), factor(), factor()}),
                     QString());
            QCOMPARE(aten("addbmm",
                          {tensor(source.narrower({n, m})), tensor({b, n, k}), tensor({b, k, m}), factor(), factor()}),
                     QString());
            QCOMPARE(aten("inner", {tensor({b, n, k}), tensor({m, k})}), QString());
            QCOMPARE(aten("vdot", {tensor({n}), tensor({n})}), QString());
            QCOMPARE(aten("linalg_vecdot", {tensor({b, n, m}), tensor({1, n, m}), integer(1)}), QString());
            QCOMPARE(aten("tensordot", {tensor({n, k, b}), tensor({b, m, k}), test::list({1, 2}), test::list({2, 0})}),
                     QString());
            QCOMPARE(aten("kron", {tensor({n, m}), tensor(source.coin() ? Shape{k} : Shape{b, k, n})}), QString());
            QCOMPARE(aten("linalg_cross", {tensor({n, 3, m}), tensor({n, 3, 1}), integer(1)}), QString());
            QCOMPARE(aten("cross", {tensor({3, n}), tensor({3, n})}), QString());
            QCOMPARE(aten("trace", {tensor({n, m})}), QString());
            QCOMPARE(aten("linalg_multi_dot", {Value::list({tensor({n, m}), tensor({m, k}), tensor({k, b})})}),
                     QString());
        }
    }

    void matrices() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 4), m = source.between(1, 3), b = source.between(1, 2);
            // Far from singular.
            Tensor a = source.tensor({b, n, n});
            for (std::int64_t i = 0; i < b * n; ++i) a.mutableData<float>()[i * n + i % n] += 4;
            QCOMPARE(test::checked("", "Det", {Value(a)}, {}, 22), QString());
            QCOMPARE(aten("linalg_slogdet", {Value(a)}, 2), QString());
            QCOMPARE(aten("logdet", {Value(a)}), QString());
            QCOMPARE(aten("linalg_inv", {Value(a)}), QString());
            QCOMPARE(contrib("Inverse", {Value(a)}), QString());
            const Value right(source.tensor({b, n, m})), left(source.tensor({b, m, n}));
            QCOMPARE(aten("linalg_solve", {Value(a), right, flag(true)}), QString());
            QCOMPARE(aten("linalg_solve", {Value(a), left, flag(false)}), QString());
            QCOMPARE(aten("linalg_solve_triangular",
                          {Value(a), right, flag(source.coin()), flag(true), flag(source.coin())}),
                     QString());
        }
    }

    void fusedLayers() {
        constexpr const char* kActivations[] = {"", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Clip"};
        for (int round = 0; round < 28; ++round) {
            RandomSource source(round);
            const std::int64_t groups = source.between(1, 2), in = source.between(1, 2), out = source.between(1, 2);
            const Dims kernel{source.between(1, 3), source.between(1, 2)}, strides{source.between(1, 2), 1},
                dilations{1, source.between(1, 2)}, pads{source.between(0, 1), 0, 1, source.between(0, 1)};
            const std::int64_t h = source.between(4, 6), w = source.between(4, 6);
            const auto size = [&](std::int64_t whole, std::size_t d) {
                return (whole + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilations[d] - 1) / strides[d] + 1;
            };
            Attributes by{{"group", groups}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}};
            const std::string activation = kActivations[round % 7];
            if (!activation.empty()) by.set("activation", activation);
            if (activation == "Clip" || activation == "HardSigmoid")
                by.set("activation_params", std::vector<double>{-0.25, 0.5});
            const Value weights(source.tensor({groups * out, in, kernel[0], kernel[1]})),
                bias(source.tensor({groups * out}));
            const Shape y{1, groups * out, size(h, 0), size(w, 1)}, last{1, y[2], y[3], y[1]};
            QCOMPARE(contrib("FusedConv",
                             {Value(source.tensor({1, groups * in, h, w})), weights, bias,
                              source.coin() ? Value(source.tensor(y)) : Value()},
                             by),
                     QString());
            QCOMPARE(contrib("NhwcFusedConv",
                             {Value(source.tensor({1, h, w, groups * in})), weights, bias,
                              source.coin() ? Value(source.tensor(last)) : Value()},
                             by),
                     QString());
            const std::int64_t groupsOf = source.between(1, 2), channels = groupsOf * source.between(1, 3),
                               isLast = source.between(0, 1);
            const Shape x = isLast != 0 ? Shape{2, 2, 3, channels} : Shape{2, channels, 2, 3};
            const Attributes normal{{"groups", groupsOf},
                                    {"channels_last", isLast},
                                    {"activation", source.between(0, 1)},
                                    {"epsilon", 1e-3}};
            const Value gamma(source.tensor({channels})), beta(source.tensor({channels}));
            QCOMPARE(contrib("GroupNorm", {Value(source.tensor(x)), gamma, beta}, normal), QString());
            const Value skip(source.tensor(source.coin() ? x : Shape{2, channels}));
            QCOMPARE(contrib("SkipGroupNorm",
                             {Value(source.tensor(x)), gamma, beta, skip, Value(source.tensor({channels}))}, normal, 2),
                     QString());
        }
    }

    void quantisedPairs() {
        for (int round = 0; round < 40; ++round) {
            RandomSource source(round);
            const DType dtype = source.coin() ? DType::UInt8 : DType::Int8;
            const Shape shape = source.shape(3, 1, 4);
            const auto bytes = [&](const Shape& of) {
                const double low = dtype == DType::UInt8 ? 0 : -128;
                return Value(whole(source.tensor(of, low, low + 255), dtype));
            };
            // Steps that make ties of many.
            const auto scale = [&](std::int64_t times) {
                return Value(Tensor::scalar<float>(0.05F * static_cast<float>(times)));
            };
            const std::vector<Value> pair{bytes(shape), scale(1),  bytes({}), bytes(source.narrower(shape)),
                                          scale(3),     bytes({}), scale(2),  bytes({})};
            std::vector<Value> turned = pair;
            std::swap(turned[0], turned[3]);
            for (const char* name : {"QLinearAdd", "QLinearMul"}) {
                QCOMPARE(contrib(name, pair), QString());
                QCOMPARE(contrib(name, turned), QString());
            }
            QCOMPARE(contrib("QLinearLeakyRelu", {pair[0], pair[1], pair[2], pair[6], pair[7]}, {{"alpha", 0.3}}),
                     QString());
            QCOMPARE(contrib("MulInteger", {pair[0], pair[2], pair[3], pair[5]}), QString());
        }
    }

    void packedWeights() {
        for (int round = 0; round < 12; ++round) {
            RandomSource source(round);
            const std::int64_t bits = round % 3 == 0   ? 8
                                      : round % 3 == 1 ? 4
                                                       : 2,
                               n = source.between(1, 4), blocks = 2, block = 16, k = blocks * block;
            const Value packed(whole(source.tensor({n, blocks, block * bits / 8}, 0, 255), DType::UInt8));
            const Value zeros = source.coin()
                                    ? Value(whole(source.tensor({n, (blocks * bits + 7) / 8}, 0, 255), DType::UInt8))
                                    : Value();
            QCOMPARE(contrib("MatMulNBits",
                             {Value(source.tensor({2, source.between(1, 3), k})), packed,
                              Value(source.tensor({n, blocks}, 0.1, 1)), zeros, Value(),
                              source.coin() ? Value(source.tensor({n})) : Value()},
                             {{"K", k}, {"N", n}, {"bits", bits}, {"block_size", block}}),
                     QString());
        }
    }

    void groupsOfQueries() {
        for (int round = 0; round < 24; ++round) {
            RandomSource source(round);
            const std::int64_t keyHeads = source.between(1, 2), heads = keyHeads * source.between(1, 2), size = 4,
                               rows = source.between(1, 3), past = round % 3, room = past + rows;
            const std::int32_t length = static_cast<std::int32_t>(past + rows);
            const auto cache = [&] { return past > 0 ? Value(source.tensor({2, keyHeads, room, size})) : Value(); };
            Attributes by{{"num_heads", heads}, {"kv_num_heads", keyHeads}};
            if (source.coin()) by.set("local_window_size", std::int64_t{2});
            if (source.coin()) by.set("smooth_softmax", std::int64_t{1});
            const Value pastKey = cache(), pastValue = cache();
            const Value last(Tensor::of<std::int32_t>({2}, {length - 1, length - 1})),
                all(Tensor::of<std::int32_t>({1}, {length}));
            QCOMPARE(contrib("GroupQueryAttention",
                             {Value(source.tensor({2, rows, heads * size})),
                              Value(source.tensor({2, rows, keyHeads * size})),
                              Value(source.tensor({2, rows, keyHeads * size})), pastKey, pastValue, last, all},
                             by, 3),
                     QString());
            QCOMPARE(contrib("GroupQueryAttention",
                             {Value(source.tensor({2, rows, (heads + 2 * keyHeads) * size})), Value(), Value(), pastKey,
                              pastValue, last, all},
                             by, 3),
                     QString());
        }
    }

    /// All that is declared, of which element-wise rules show the text or a call: `print` knows what it says.
    void everyFormulaCanBeTyped() {
        static const QRegularExpression call(QStringLiteral(R"((\w+)\()"));
        std::set<QString> known, unknown;
        for (const expression::FunctionInfo& function : expression::functions())
            known.insert(QString::fromUtf8(function.name.data(), static_cast<qsizetype>(function.name.size())));
        std::size_t formulas = 0;
        for (const ops::OpDef* const op : ops::Registry::all().rows()) {
            const ops::DeclaredDependence declared = ops::dependenceOf(*op);
            if (!declared) continue;
            QString text = QString::fromUtf8(declared.text.data(), static_cast<qsizetype>(declared.text.size()));
            if (text.isEmpty() && declared.rule == ops::dependence::elementWise)
                text = QString::fromStdString(std::string(op->name.substr(0, op->name.find('.')))) + "(x)";
            for (auto each = call.globalMatch(text); each.hasNext();) {
                const QString name = each.next().captured(1);
                if (!known.contains(name)) unknown.insert(QString::fromStdString(std::string(op->name)) + ": " + name);
            }
            if (declared.rule != ops::dependence::elementWise) continue;
            ++formulas;
            for (QString part : text.split(QStringLiteral(" : "))) {
                if (part.startsWith(QStringLiteral("= "))) part.remove(0, 2);
                const auto parsed = expression::parse(part.toStdString());
                if (!parsed) unknown.insert(part);
            }
        }
        QVERIFY(formulas > 300);
        QVERIFY2(unknown.empty(), qPrintable(QStringList(unknown.begin(), unknown.end()).join(QStringLiteral("\n"))));
    }

    /// Bits of integers, and inverses without anything that is no term: the third row's cofactors by hand.
    void bitsAndInversesAreSaidInTheirTerms() {
        const auto whole = [](std::int32_t x) { return Value(Tensor::of<std::int32_t>({1}, {x})); };
        auto bits = said("aten", "bitwise_and.Tensor", {whole(12), whole(10)});
        QVERIFY(bits && bits->isByKernel);
        QCOMPARE(bits->formula, std::string("x & y"));
        QCOMPARE(bits->value, 8.0);
        bits = said("", "BitShift",
                    {Value(Tensor::of<std::uint8_t>({1}, {200})), Value(Tensor::of<std::uint8_t>({1}, {3}))},
                    {{"direction", std::string("RIGHT")}}, 11);
        QVERIFY(bits);
        QCOMPARE(bits->formula, std::string("x // 2 ** y"));
        QCOMPARE(bits->value, 25.0);
        const auto inverse = said("aten", "linalg_inv", {Value(Tensor::of<float>({2, 2}, {4, 7, 2, 6}))});
        QVERIFY(inverse);
        QCOMPARE(inverse->formula, std::string("w[0] / sum(w * x)"));
        QVERIFY(std::abs(inverse->value - 0.6) < 1e-6);
    }

    void signalsAndBags() {
        for (int round = 0; round < 16; ++round) {
            RandomSource source(round);
            const std::int64_t length = source.between(2, 6), hop = source.between(1, 3), total = source.between(6, 12),
                               parts = source.between(1, 2);
            const Value step(Tensor::scalar<std::int64_t>(hop)), frame(Tensor::scalar<std::int64_t>(length));
            QCOMPARE(test::checked("", "STFT",
                                   {Value(source.tensor({2, total, parts})), step,
                                    source.coin() ? Value(source.tensor({length})) : Value(), frame},
                                   {{"onesided", std::int64_t{parts == 1 ? 1 : 0}}}, 17),
                     QString());
            const std::int64_t rows = source.between(2, 5), count = source.between(2, 6), mode = round % 3;
            const Value indices(source.indices({count}, rows)),
                offsets(Tensor::of<std::int64_t>({2}, {0, source.between(0, count)}));
            const Value weights = mode == 0 && source.coin() ? Value(source.tensor({count})) : Value();
            QCOMPARE(aten("embedding_bag", {Value(source.tensor({rows, 3})), indices, offsets, flag(false),
                                            integer(mode), flag(false), weights, flag(false)}),
                     QString());
            QCOMPARE(aten("bincount", {indices, source.coin() ? Value(source.tensor({count})) : Value(), integer(4)}),
                     QString());
            QCOMPARE(aten("one_hot", {indices, integer(rows)}), QString());
            const Value sorted = Value(Tensor::of<float>({4}, {-1, -0.5F, 0.25F, 1.5F}));
            QCOMPARE(aten("bucketize.Tensor", {Value(source.tensor({2, 3})), sorted, flag(false), flag(source.coin())}),
                     QString());
            const Value x(source.tensor({3, 4}));
            QCOMPARE(aten("quantile.scalar", {x, number(0.37), integer(1), flag(source.coin()), text("linear")}),
                     QString());
            QCOMPARE(aten("quantile",
                          {x, Value(Tensor::of<float>({2}, {0.2F, 0.9F})), Value(), flag(false), text("midpoint")}),
                     QString());
            QCOMPARE(aten("median", {x}), QString());
            QCOMPARE(test::checked("", "Unique", {x}, {}, 11), QString());
        }
    }

    void cells() {
        for (int round = 0; round < 12; ++round) {
            RandomSource source(round);
            const std::int64_t n = source.between(1, 3), inputs = source.between(1, 4), hidden = source.between(1, 3);
            for (const auto& cell : {std::pair("lstm_cell", 4), std::pair("gru_cell", 3), std::pair("rnn_tanh_cell", 1),
                                     std::pair("rnn_relu_cell", 1)}) {
                const auto name = cell.first;
                const auto gates = cell.second;
                const Value h(source.tensor({n, hidden})), c(source.tensor({n, hidden}));
                const bool hasBias = source.coin();
                const auto bias = [&] { return hasBias ? Value(source.tensor({gates * hidden})) : Value(); };
                QCOMPARE(aten(name,
                              {Value(source.tensor({n, inputs})), gates == 4 ? Value::list({h, c}) : h,
                               Value(source.tensor({gates * hidden, inputs})),
                               Value(source.tensor({gates * hidden, hidden})), bias(), bias()},
                              gates == 4 ? 2 : 1),
                         QString());
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestWhyOperators)

}  // namespace tst_why_operators

#include "tst_why_operators.moc"
