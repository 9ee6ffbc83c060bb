// Matrix products of every dtype against the definition: floats and complex numbers summed in long double, integers
// modulo 2^64. Tolerance of floats: K·ε of the sum of the magnitudes of an element's products.

#include <QtTest>

#include <array>
#include <atomic>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "core/ops/kernels/gemm.h"
#include "core/ops/registry/registry.h"
#include "core/tensor/dispatch.h"

namespace tst_products {

using namespace sonde;
using ops::kernels::GemmCall;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;
template <typename T>
using RealOf = decltype(std::abs(T{}));

/// Numbers that use all bits of an integer, and floats in [−1, 1].
template <typename T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> reals(-1, 1);
    std::vector<T> values(count);
    for (T& value : values) {
        if constexpr (std::is_integral_v<T>) value = static_cast<T>(engine());
        else if constexpr (kIsComplex<T>)
            value = T(static_cast<RealOf<T>>(reals(engine)), static_cast<RealOf<T>>(reals(engine)));
        else value = static_cast<T>(reals(engine));
    }
    return values;
}

template <typename T>
Tensor tensorOf(Shape shape, unsigned seed) {
    const auto count = static_cast<std::size_t>(shape.numel());
    return Tensor::of<T>(std::move(shape), numbers<T>(count, seed));
}

base::Result<Tensor> call(const char* domain, const char* name, std::vector<Value> inputs,
                          const tensor::Attributes& attributes = {}, std::size_t threads = 2,
                          std::stop_token stop = {}) {
    base::ThreadPool pool(threads);
    ops::RunEnvironment environment{&pool, std::move(stop), 0, false};
    auto results = ops::call(*ops::Registry::all().find(domain, name, 0), inputs, attributes, 1, environment);
    if (!results) return std::move(results).error();
    return results->front().tensor().contiguous();
}

/// Σ_p a(p)·b(p) as T, and whether `value` is it.
template <typename T, typename A, typename B>
bool isSum(T value, std::int64_t k, A a, B b) {
    if constexpr (std::is_integral_v<T>) {
        std::uint64_t sum = 0;
        for (std::int64_t p = 0; p < k; ++p) sum += static_cast<std::uint64_t>(a(p)) * static_cast<std::uint64_t>(b(p));
        return value == static_cast<T>(sum);
    } else {
        using Exact = std::complex<long double>;
        Exact sum = 0;
        long double size = 0;
        for (std::int64_t p = 0; p < k; ++p) {
            sum += Exact(a(p)) * Exact(b(p));
            size += std::abs(Exact(a(p)) * Exact(b(p)));
        }
        const long double tolerance = static_cast<long double>(std::numeric_limits<RealOf<T>>::epsilon()) *
                                      static_cast<long double>(std::max<std::int64_t>(k, 4)) * size;
        return std::abs(Exact(value) - sum) <= tolerance;
    }
}

/// The product of two batches of matrices of rank 3, element by element.
template <typename T>
bool isProduct(const Tensor& y, const Tensor& a, const Tensor& b) {
    const auto at = [](const Tensor& x, std::int64_t i, std::int64_t r, std::int64_t c) {
        return x.data<T>()[(x.dim(0) == 1 ? 0 : i) * x.strides()[0] + r * x.strides()[1] + c * x.strides()[2]];
    };
    for (std::int64_t i = 0; i < y.dim(0); ++i) {
        for (std::int64_t r = 0; r < y.dim(1); ++r) {
            for (std::int64_t c = 0; c < y.dim(2); ++c) {
                if (!isSum(
                        at(y, i, r, c), a.dim(2), [&](std::int64_t p) { return at(a, i, r, p); },
                        [&](std::int64_t p) { return at(b, i, p, c); })) {
                    qWarning("element %lld, %lld, %lld of %s by %s", static_cast<long long>(i),
                             static_cast<long long>(r), static_cast<long long>(c), a.typeText().c_str(),
                             b.typeText().c_str());
                    return false;
                }
            }
        }
    }
    return true;
}

template <typename F>
void eachType(F f) {
    f(float{}), f(double{}), f(std::complex<float>{}), f(std::complex<double>{});
    f(std::int8_t{}), f(std::uint8_t{}), f(std::int16_t{}), f(std::uint16_t{});
    f(std::int32_t{}), f(std::uint32_t{}), f(std::int64_t{}), f(std::uint64_t{});
}

}  // namespace

class TestProducts : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void areTheDefinition_data();
    void areTheDefinition();
    void viewsAreReadAsTheyAre();
    void vectorsAndScaledSums();
    void constantRightFactors();
    void integersWrap();
    void bytesAddUpIn32Bits();
    void halvesAddUpInFloat();
    void sameBitsOnAnyThreads();
    void blocksEndBetweenGroups_data();
    void blocksEndBetweenGroups();
    void stopBetweenBlocks();
};

void TestProducts::areTheDefinition_data() {
    QTest::addColumn<QVector<int>>("sizes");  // batches of A and of B, m, k, n
    for (const QVector<int>& sizes : QVector<QVector<int>>{{1, 1, 1, 1, 1},
                                                           {1, 1, 3, 4, 5},
                                                           {2, 1, 7, 9, 6},
                                                           {1, 3, 5, 33, 17},
                                                           {4, 4, 16, 16, 16},
                                                           {1, 1, 1, 70, 300},
                                                           {1, 1, 300, 70, 1},
                                                           {1, 1, 65, 31, 129},
                                                           {1, 1, 260, 20, 300},
                                                           {1, 1, 20, 900, 24},
                                                           {2, 2, 3, 0, 4},
                                                           {0, 1, 3, 4, 5},
                                                           {1, 1, 0, 4, 5}}) {
        QByteArray name;
        for (int size : sizes) name += QByteArray::number(size) + ' ';
        QTest::newRow(name) << sizes;
    }
}

void TestProducts::areTheDefinition() {
    QFETCH(QVector<int>, sizes);
    eachType([&](auto zero) {
        using T = decltype(zero);
        const Tensor a = tensorOf<T>(Shape{sizes[0], sizes[2], sizes[3]}, 1),
                     b = tensorOf<T>(Shape{sizes[1], sizes[3], sizes[4]}, 2);
        const auto y = call("", "MatMul", {Value(a), Value(b)});
        QVERIFY2(y || std::is_integral_v<T> || kIsComplex<T>, y ? "" : y.error().text().c_str());
        const auto z = call("aten", "matmul", {Value(a), Value(b)});
        QVERIFY2(z, z ? "" : z.error().text().c_str());
        QCOMPARE(z->dtype(), a.dtype());
        QCOMPARE(z->dim(0), static_cast<std::int64_t>(sizes[0] == 1 ? sizes[1] : sizes[0]));
        QVERIFY2(isProduct<T>(*z, a, b), a.typeText().c_str());
        if (y) QVERIFY(tensor::identical(*y, *z));
    });
}

/// Transposed, stepped, reversed, repeated: the strides of both operands.
void TestProducts::viewsAreReadAsTheyAre() {
    eachType([&](auto zero) {
        using T = decltype(zero);
        const Tensor base = tensorOf<T>(Shape{3, 40, 40}, 3);
        const Tensor turned = base.transposed(1, 2), stepped = base.sliced(2, 1, 19, 2).sliced(1, 0, 19, 1),
                     reversed = base.sliced(2, 18, 19, -1).sliced(1, 5, 19, 1);
        const Tensor repeated = base.sliced(1, 0, 1).expanded(Shape{3, 19, 40}).value().sliced(2, 0, 19, 1),
                     corner = base.sliced(1, 0, 19).sliced(2, 0, 19);
        const Tensor turnedCorner = turned.sliced(1, 0, 19).sliced(2, 0, 19);
        const std::vector<Tensor> views{corner, turnedCorner, stepped, reversed, repeated};
        for (const Tensor& a : views) {
            for (const Tensor& b : views) {
                const auto y = call("aten", "bmm", {Value(a), Value(b)});
                QVERIFY2(y, y ? "" : y.error().text().c_str());
                QVERIFY(isProduct<T>(*y, a, b));
            }
        }
    });
}

void TestProducts::vectorsAndScaledSums() {
    eachType([&](auto zero) {
        using T = decltype(zero);
        const Tensor matrix = tensorOf<T>(Shape{1, 9, 300}, 4), vector = tensorOf<T>(Shape{300}, 5);
        const Tensor rows = matrix.selected(0, 0), row = matrix.selected(1, 2).selected(0, 0);
        const auto mv = call("aten", "mv", {Value(rows), Value(vector)});
        const auto dot = call("aten", "dot", {Value(row), Value(vector)});
        QVERIFY(mv && dot);
        QCOMPARE(mv->shape().text(), std::string("[9]"));
        QCOMPARE(dot->rank(), std::size_t{0});
        const auto inVector = [&](std::int64_t p) { return vector.data<T>()[p]; };
        QVERIFY(isSum(
            dot->data<T>()[0], 300, [&](std::int64_t p) { return row.data<T>()[p]; }, inVector));
        for (std::int64_t i = 0; i < 9; ++i)
            QVERIFY(isSum(
                mv->data<T>()[i], 300, [&](std::int64_t p) { return rows.data<T>()[i * 300 + p]; }, inVector));
        // A linear layer reads the weights [n, k] along their rows.
        const auto layer = call("aten", "linear", {Value(vector.unsqueezed(0)), Value(rows)});
        QVERIFY2(layer, layer ? "" : layer.error().text().c_str());
        for (std::int64_t i = 0; i < 9; ++i)
            QVERIFY(isSum(
                layer->data<T>()[i], 300, [&](std::int64_t p) { return rows.data<T>()[i * 300 + p]; }, inVector));
    });
    // 2·A·B + 3·C
    const Tensor a = Tensor::of<std::int64_t>(Shape{2, 2}, {1, 2, 3, 4}),
                 b = Tensor::of<std::int64_t>(Shape{2, 1}, {5, 6}), c = Tensor::of<std::int64_t>(Shape{1}, {7});
    const auto y = call("aten", "addmm", {Value(c), Value(a), Value(b), Value::ofInt(3), Value::ofInt(2)});
    QVERIFY2(y, y ? "" : y.error().text().c_str());
    QCOMPARE(std::vector<std::int64_t>(y->span<std::int64_t>().begin(), y->span<std::int64_t>().end()),
             (std::vector<std::int64_t>{55, 99}));
    const auto turned = call("", "Gemm", {Value(a), Value(Tensor::of<std::int64_t>(Shape{1, 2}, {5, 6})), Value(c)},
                             {{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}});
    QVERIFY2(turned, turned ? "" : turned.error().text().c_str());
    QCOMPARE(std::vector<std::int64_t>(turned->span<std::int64_t>().begin(), turned->span<std::int64_t>().end()),
             (std::vector<std::int64_t>{30, 41}));
}

/// PyTorch's int64 wraps: (2^62)·4 = 0, (2^63 − 1)·2 = −2. Nothing goes through float64, which has 53 bits.
/// Constant factors are packed; one row of the other takes them as they are in memory.
void TestProducts::constantRightFactors() {
    base::ThreadPool pool(2);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const ops::OpDef& op = *ops::Registry::all().find("", "MatMul", 13);
    for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{1, 700, 300}, {1, 1, 1}, {3, 700, 300}, {40, 70, 1}}) {
        const Tensor a = tensorOf<float>({1, m, k}, 1), stored = tensorOf<float>({k, n}, 2),
                     turned = tensorOf<float>({n, k}, 3).transposed(0, 1);
        for (const Tensor& b : {stored, turned}) {
            const Value inputs[] = {Value(a), Value(b)}, constants[] = {Value(), Value(b)};
            const auto prepared = op.prepare(ops::Constants(constants, op), {}, environment);
            QVERIFY(prepared && prepared.value());
            const auto y =
                ops::callPrepared(op, inputs, {}, 1, environment, 13, prepared.value().get(), nullptr, nullptr);
            QVERIFY(y && y->front().tensor().shape() == (Shape{1, m, n}));
            QVERIFY(isProduct<float>(y->front().tensor(), a, b.unsqueezed(0)));
        }
    }
}

void TestProducts::integersWrap() {
    constexpr std::int64_t kBig = (std::int64_t{1} << 62) + 1;
    const Tensor a = Tensor::of<std::int64_t>(Shape{1, 2}, {kBig, 3}),
                 b = Tensor::of<std::int64_t>(Shape{2, 1}, {4, std::numeric_limits<std::int64_t>::max()});
    // 4·(2^62 + 1) + 3·(2^63 − 1) = 2^64 + 3·2^63 + 1
    const std::int64_t wanted = std::numeric_limits<std::int64_t>::min() + 1;
    for (const char* name : {"matmul", "mm"})
        QCOMPARE(call("aten", name, {Value(a), Value(b)})->data<std::int64_t>()[0], wanted);
    const Tensor one = Tensor::of<std::int64_t>(Shape{1}, {1});
    QCOMPARE(call("aten", "addmm", {Value(one), Value(a), Value(b)})->data<std::int64_t>()[0], wanted + 1);
    QCOMPARE(call("", "Gemm", {Value(a), Value(b), Value(one)})->data<std::int64_t>()[0], wanted + 1);
    const Tensor bytes = Tensor::of<std::uint8_t>(Shape{1, 3}, {200, 100, 7});
    QCOMPARE(call("aten", "matmul", {Value(bytes), Value(bytes.transposed(0, 1))})->data<std::uint8_t>()[0],
             static_cast<std::uint8_t>(200 * 200 + 100 * 100 + 49));
    const Tensor small = Tensor::of<std::int8_t>(Shape{2}, {100, 27});
    QCOMPARE(call("aten", "dot", {Value(small), Value(small)})->data<std::int8_t>()[0],
             static_cast<std::int8_t>(static_cast<std::uint8_t>(100 * 100 + 27 * 27)));
}

void TestProducts::bytesAddUpIn32Bits() {
    constexpr std::int64_t k = 40000;  // 40000·255² = 2^31 + 453'516'352
    Tensor a = Tensor::allocate(DType::UInt8, Shape{1, k}).value();
    std::fill_n(a.mutableData<std::uint8_t>(), k, std::uint8_t{255});
    const Tensor b = a.reshaped(Shape{k, 1}).value();
    const auto y = call("", "MatMulInteger", {Value(a), Value(b)});
    QVERIFY2(y, y ? "" : y.error().text().c_str());
    QCOMPARE(y->dtype(), DType::Int32);
    QCOMPARE(y->data<std::int32_t>()[0], static_cast<std::int32_t>(static_cast<std::uint32_t>(k * 255 * 255)));
    // (0 − 3)·(0 − 7) each with zero points 3 and 7
    const Tensor zeros = Tensor::zeros(DType::UInt8, Shape{1, k}).value();
    const auto centred = call("", "MatMulInteger",
                              {Value(zeros), Value(zeros.reshaped(Shape{k, 1}).value()),
                               Value(Tensor::scalar<std::uint8_t>(3)), Value(Tensor::scalar<std::uint8_t>(7))});
    QVERIFY(centred);
    QCOMPARE(centred->data<std::int32_t>()[0], std::int32_t{21 * k});
}

/// 4096 ones: a sum in float16 stays at 2048, where the next number is 2050, one in bfloat16 at 256.
void TestProducts::halvesAddUpInFloat() {
    for (DType dtype : {DType::Float16, DType::BFloat16}) {
        constexpr std::int64_t k = 4096;
        const Tensor ones =
            call("aten", "ones", {Value::list({Value::ofInt(1), Value::ofInt(k)})})->cast(dtype).value();
        const Tensor column = ones.reshaped(Shape{k, 1}).value(), zero = Tensor::zeros(dtype, Shape{1}).value();
        const Value row(ones), turned(column);
        const auto is4096 = [&](const base::Result<Tensor>& y) {
            return y && y->dtype() == dtype && y->toDouble(0) == 4096;
        };
        QVERIFY(is4096(call("", "MatMul", {row, turned})));
        QVERIFY(is4096(call("aten", "mm", {row, turned})));
        QVERIFY(is4096(call("aten", "bmm", {Value(ones.unsqueezed(0)), Value(column.unsqueezed(0))})));
        QVERIFY(is4096(
            call("aten", "dot", {Value(ones.reshaped(Shape{k}).value()), Value(ones.reshaped(Shape{k}).value())})));
        QVERIFY(is4096(call("aten", "addmm", {Value(zero), row, turned})));
        QVERIFY(is4096(call("aten", "linear", {row, row})));
        QVERIFY(is4096(call("", "Gemm", {row, turned, Value(zero)})));
        QVERIFY(is4096(
            call("", "Conv",
                 {Value(ones.reshaped(Shape{1, k, 1, 1}).value()), Value(ones.reshaped(Shape{1, k, 1, 1}).value())})));
        QVERIFY(is4096(call("", "Einsum", {row, row}, {{"equation", std::string("ij,ij->")}})));
    }
}

void TestProducts::sameBitsOnAnyThreads() {
    eachType([&](auto zero) {
        using T = decltype(zero);
        const Tensor a = tensorOf<T>(Shape{1, 521, 130}, 6), b = tensorOf<T>(Shape{1, 130, 777}, 7);
        const auto one = call("aten", "bmm", {Value(a), Value(b)}, {}, 1);
        QVERIFY(one);
        for (std::size_t threads : {2, 3})
            QVERIFY2(tensor::identical(*one, *call("aten", "bmm", {Value(a), Value(b)}, {}, threads)),
                     a.typeText().c_str());
        const auto part = call("aten", "bmm", {Value(a.sliced(1, 0, 256)), Value(b)}, {}, 2);
        QVERIFY(part);
    });
}

/// Eigen adds up groups of rows and columns, and the last ones in another order. How many threads share the blocks may
/// not show: few rows, few columns, ragged ends, too few numbers for whole groups.
void TestProducts::blocksEndBetweenGroups_data() {
    QTest::addColumn<QVector<int>>("sizes");  // m, k, n
    for (const QVector<int>& sizes : QVector<QVector<int>>{{64, 256, 3136},
                                                           {2, 128, 3000},
                                                           {3, 400, 1500},
                                                           {9, 40, 1537},
                                                           {512, 300, 49},
                                                           {300, 700, 47},
                                                           {1500, 33, 5},
                                                           {97, 153, 211},
                                                           {1030, 16, 95}})
        QTest::addRow("%d %d %d", sizes[0], sizes[1], sizes[2]) << sizes;
}

void TestProducts::blocksEndBetweenGroups() {
    QFETCH(QVector<int>, sizes);
    const auto compare = [&](auto zero, bool turned) {
        using T = decltype(zero);
        const std::int64_t m = sizes[0], k = sizes[1], n = sizes[2];
        const Tensor a = tensorOf<T>(Shape{m, k}, 9),
                     b = turned ? tensorOf<T>(Shape{n, k}, 10).transposed(0, 1) : tensorOf<T>(Shape{k, n}, 10);
        const auto one = call("aten", "mm", {Value(a), Value(b)}, {}, 1);
        QVERIFY(one);
        for (std::size_t threads : {2, 3, 5, 16})
            QVERIFY2(tensor::identical(*one, *call("aten", "mm", {Value(a), Value(b)}, {}, threads)),
                     (a.typeText() + " by " + b.typeText() + ", threads " + std::to_string(threads)).c_str());
        if (m * k * n < 1'000'000) QVERIFY(isProduct<T>(one->unsqueezed(0), a.unsqueezed(0), b.unsqueezed(0)));
    };
    for (bool turned : {false, true}) compare(float{}, turned), compare(double{}, turned);
    compare(std::complex<float>{}, false);
}

void TestProducts::stopBetweenBlocks() {
    // A right factor that is made as it is read, and wants to stop at the second block.
    constexpr std::int64_t n = 64 * 256;
    std::vector<double> a(4), c(static_cast<std::size_t>(2 * n), -1.0);
    std::stop_source source;
    const std::stop_token stop = source.get_token();
    std::atomic<int> blocks = 0;
    const ops::kernels::PanelSource<double> ones = [&](std::int64_t, std::int64_t kc, std::int64_t, std::int64_t nr,
                                                       double* target) {
        std::fill_n(target, kc * nr, 1.0);
        if (++blocks == 2) source.request_stop();
    };
    GemmCall<double> product;
    product.m = 2, product.n = n, product.k = 2;
    product.left = {a.data(), 2, 1};
    product.rightSource = &ones;
    product.c = c.data();
    product.ldc = n;
    product.stop = &stop;
    base::ThreadPool pool(1);
    ops::kernels::gemm(product, pool);
    QCOMPARE(blocks.load(), 2);
    QCOMPARE(c[511], 0.0);
    QCOMPARE(c[512], -1.0);
    eachType([&](auto zero) {
        using T = decltype(zero);
        const Tensor x = tensorOf<T>(Shape{1, 8, 8}, 8);
        const auto y = call("aten", "bmm", {Value(x), Value(x)}, {}, 2, stop);
        QVERIFY(!y);
        QCOMPARE(y.error().kind, base::ErrorKind::Cancelled);
    });
}

QTEST_APPLESS_MAIN(TestProducts)

}  // namespace tst_products

#include "tst_products.moc"
