// Convolutions with constant weights, a bias and a relu behind them, as the executor calls them, against the definition
// summed in float64: whole images as the matrix, gathered columns that fill our tiles and such that do not.

#include <QtTest>

#include <cmath>

#include "core/ops/kernels/epilogue.h"
#include "core/ops/registry/registry.h"
#include "tests/support/random_tensor.h"

namespace tst_convolutions {

using namespace sonde;
using ops::kernels::Epilogue;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

class Heap : public ops::OutputAllocator {
  public:
    base::Result<Tensor> allocate(std::size_t, tensor::DType dtype, const Shape& shape) override {
        return Tensor::allocate(dtype, shape);
    }
};

/// A square image and window.
struct Case {
    std::int64_t batch, in, out, size, kernel, stride, pad, groups;

    std::int64_t outSize() const { return (size + 2 * pad - kernel) / stride + 1; }
    tensor::Attributes attributes(const ops::OpDef& op) const {
        return ops::completeAttributes(op, {{"strides", std::vector<std::int64_t>{stride, stride}},
                                            {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}},
                                            {"group", groups}})
            .value();
    }
};

/// max(0, bias + Σ w·x) at element i of the result, and the sum of the magnitudes.
std::pair<double, double> defined(const Case& c, std::int64_t i, const Tensor& x, const Tensor& w, const Tensor& bias) {
    const std::int64_t side = c.outSize(), ox = i % side, oy = i / side % side, o = i / (side * side) % c.out,
                       n = i / (side * side * c.out), groupIn = c.in / c.groups;
    double sum = bias.toDouble(o), size = std::fabs(sum);
    for (std::int64_t channel = 0; channel < groupIn; ++channel) {
        for (std::int64_t t = 0; t < c.kernel * c.kernel; ++t) {
            const std::int64_t iy = oy * c.stride + t / c.kernel - c.pad, ix = ox * c.stride + t % c.kernel - c.pad;
            if (iy < 0 || ix < 0 || iy >= c.size || ix >= c.size) continue;
            const std::int64_t from = o / (c.out / c.groups) * groupIn + channel;
            const double product = x.toDouble(((n * c.in + from) * c.size + iy) * c.size + ix) *
                                   w.toDouble((o * groupIn + channel) * c.kernel * c.kernel + t);
            sum += product;
            size += std::fabs(product);
        }
    }
    return {std::max(sum, 0.0), size};
}

}  // namespace

class TestConvolutions : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void equalTheDefinition_data();
    void equalTheDefinition();
};

void TestConvolutions::equalTheDefinition_data() {
    QTest::addColumn<QVector<int>>("sizes");
    const auto row = [](const char* name, const QVector<int>& sizes) { QTest::newRow(name) << sizes; };
    // N C K H kernel stride pad groups
    row("the image is the matrix", {1, 64, 96, 14, 1, 1, 0, 1});
    row("blocks of rows and of columns", {1, 40, 300, 24, 1, 1, 0, 1});
    row("more columns than a block has", {1, 24, 9, 130, 1, 1, 0, 1});
    row("a column more than half a tile, several blocks of depth", {1, 800, 40, 9, 1, 1, 0, 1});
    row("a few columns", {1, 50, 31, 2, 1, 1, 0, 1});
    row("several strips of columns", {1, 300, 30, 40, 1, 1, 0, 1});
    row("several strips of a window's columns", {1, 90, 30, 25, 3, 1, 1, 1});
    row("two images in groups", {2, 24, 36, 9, 1, 1, 0, 3});
    row("one output", {1, 70, 33, 1, 1, 1, 0, 1});
    row("every other pixel", {1, 64, 80, 14, 1, 2, 0, 1});
    row("every other pixel, odd size", {2, 20, 30, 15, 1, 2, 0, 2});
    row("every third pixel of a border", {1, 20, 30, 16, 1, 3, 1, 1});
    row("7x7 outputs", {1, 48, 40, 14, 3, 2, 1, 1});
    row("7x7 outputs, groups", {2, 48, 40, 14, 3, 2, 1, 4});
    row("5x5 outputs", {1, 20, 30, 9, 5, 1, 0, 1});
    row("all of the image", {1, 20, 30, 3, 3, 1, 0, 1});
    row("full tiles", {1, 30, 20, 16, 3, 2, 1, 1});
    row("14x14 outputs", {1, 20, 33, 28, 3, 2, 1, 1});
    row("depthwise, 7x7", {2, 20, 20, 7, 3, 1, 1, 20});
    row("depthwise, 14x14", {1, 20, 20, 14, 3, 1, 1, 20});
    row("depthwise, rows of several vectors", {1, 5, 5, 59, 3, 1, 1, 5});
    row("depthwise, no padding", {1, 5, 5, 35, 3, 1, 0, 5});
    row("depthwise, every other pixel", {1, 5, 5, 75, 3, 2, 1, 5});
    row("depthwise, every other pixel, no padding", {1, 5, 5, 34, 3, 2, 0, 5});
    row("depthwise, one pixel", {1, 3, 3, 1, 3, 1, 1, 3});
    row("depthwise, more padding than a vector has", {1, 3, 3, 2, 3, 1, 40, 3});
    row("depthwise, every other of much padding", {1, 3, 3, 2, 3, 2, 40, 3});
    row("depthwise, two outputs of each channel", {2, 6, 12, 18, 3, 1, 1, 6});
    row("depthwise, every third pixel", {1, 5, 5, 30, 3, 3, 1, 5});
    row("depthwise, 5x5", {1, 5, 5, 30, 5, 1, 2, 5});
}

/// On one thread and on several, with the same bits.
void TestConvolutions::equalTheDefinition() {
    QFETCH(QVector<int>, sizes);
    const Case c{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7]};
    const Tensor x = test::randomTensor(Shape{c.batch, c.in, c.size, c.size}, 1),
                 w = test::randomTensor(Shape{c.out, c.in / c.groups, c.kernel, c.kernel}, 2),
                 bias = test::randomTensor(Shape{c.out}, 3);
    const Value inputs[] = {Value(x), Value(w), Value(bias)}, constants[] = {Value(), Value(w), Value(bias)};
    const ops::OpDef& op = *ops::Registry::all().find("", "Conv", 11);
    const tensor::Attributes attributes = c.attributes(op), none;
    Heap heap;
    std::optional<Tensor> first;
    for (std::size_t threads : {1, 2, 3, 5}) {
        base::ThreadPool pool(threads);
        ops::RunEnvironment environment{&pool, {}, 0, true};
        const auto prepared = op.prepare(ops::Constants(constants, op), attributes, environment);
        QVERIFY(prepared);
        Epilogue::Link link;
        link.op = ops::Registry::all().find("", "Relu", 14);
        link.inputs = {Value()};
        link.ownInputs = {0};
        link.attributes = &none;
        Epilogue epilogue({link}, heap);
        const Epilogue::Scope scope(&epilogue);
        const auto results =
            ops::callPrepared(op, inputs, attributes, 1, environment, 11, prepared.value().get(), nullptr, nullptr);
        QVERIFY2(results, results ? "" : results.error().text().c_str());
        QCOMPARE(epilogue.bound(), std::size_t{1});
        const Tensor& y = epilogue.result(0);
        QCOMPARE(y.shape().text(), (Shape{c.batch, c.out, c.outSize(), c.outSize()}).text());
        if (first) QVERIFY2(tensor::identical(*first, y), qPrintable(QString::number(threads)));
        else first = y;
    }
    const std::int64_t step = std::max<std::int64_t>(first->numel() / 5000, 1);
    for (std::int64_t i = 0; i < first->numel(); i += step) {
        const auto [want, size] = defined(c, i, x, w, bias);
        const double tolerance = 1e-7 * size * std::sqrt(static_cast<double>(c.in * c.kernel * c.kernel)) + 1e-7;
        QVERIFY2(std::fabs(first->toDouble(i) - want) <= tolerance, qPrintable(QString::number(i)));
    }
}

QTEST_APPLESS_MAIN(TestConvolutions)

}  // namespace tst_convolutions

#include "tst_convolutions.moc"
