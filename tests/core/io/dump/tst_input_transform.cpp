// Input transforms: expressions of arrays as numpy computes them. All values are worked by hand.

#include <QtTest>

#include <cmath>
#include <vector>

#include "core/io/dump/input_transform.h"

namespace tst_input_transform {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

using Numbers = std::vector<double>;

namespace {

/// [[[1, 2, 3], [6, -1, 0.5]]]
Tensor data() { return Tensor::of<float>({1, 2, 3}, {1, 2, 3, 6, -1, 0.5F}); }

base::Result<Tensor> computed(const QString& expression) {
    return io::dump::transformed(expression.toStdString(), data());
}

}  // namespace

class TestInputTransform : public QObject {
    Q_OBJECT

  private slots:
    void expressionsAreNumpys_data() {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<Shape>("shape");
        QTest::addColumn<Numbers>("expected");
        const Shape same{1, 2, 3};
        const auto row = [](const char* expression, const Shape& shape, const Numbers& expected) {
            QTest::newRow(expression) << QString(expression) << shape << expected;
        };
        row("data", same, {1, 2, 3, 6, -1, 0.5});
        row("np.mean(data, axis=2)", {1, 2}, {2, 5.5 / 3});
        row("np.mean(data, axis=(0, 2), keepdims=True)", {1, 2, 1}, {2, 5.5 / 3});
        row("np.std(data, 1)", {1, 3}, {2.5, 1.5, 1.25});
        row("data.max(axis=-1)", {1, 2}, {3, 6});
        row("np.min(data)", {}, {-1});
        row("-data.min()", {}, {1});
        row("np.transpose(data, (0, 2, 1))", {1, 3, 2}, {1, 6, 2, -1, 3, 0.5});
        row("data.transpose(2, 0, 1)", {3, 1, 2}, {1, 6, 2, -1, 3, 0.5});
        row("data.transpose((0, -1, 1))", {1, 3, 2}, {1, 6, 2, -1, 3, 0.5});
        row("np.transpose(data)", {3, 2, 1}, {1, 6, 2, -1, 3, 0.5});
        // A fraction is cut, 255 + 1 wraps, 0.1 is rounded to the nearest float16.
        row("(data * 1.5).astype(np.int32)", same, {1, 3, 4, 9, -1, 0});
        row("np.astype(data + 254, 'uint8')", same, {255, 0, 1, 4, 253, 254});
        row("(0 * data + 0.1).astype(dtype=\"float16\")", same, Numbers(6, 1638.0 / 16384));
        row("data.astype(bool)", same, Numbers(6, 1));
        row("(data > 1) * data", same, {0, 2, 3, 6, 0, 0});
        row("data >= 1", same, {1, 1, 1, 1, 0, 0});
        row("data == 1", same, {1, 0, 0, 0, 0, 0});
        row("data != 1", same, {0, 1, 1, 1, 1, 1});
        row("data <= 1", same, {1, 0, 0, 0, 1, 1});
        row("data < 1", same, {0, 0, 0, 0, 1, 1});
        row("data - [1, 2, 3]", same, {0, 0, 0, 5, -3, -2.5});
        row("(data - np.array([[1], [2]])) / [[2], [4]]", same, {0, 0.5, 1, 1, -0.75, -0.375});
        row("np.clip(data, None, 2)", same, {1, 2, 2, 2, -1, 0.5});
        row("data.clip(0, [1, 2, 2])", same, {1, 2, 2, 1, 0, 0.5});
        row("2 ** -1 ** 2", {}, {0.5});
        row("np.abs(data) * 2e-1 + True", same, {1.2, 1.4, 1.6, 2.2, 1.2, 1.1});
        row("np.log(np.exp(data)) - np.sqrt(data ** 2) ", same, {0, 0, 0, 0, -2, 0});
        row("data[", {}, {});
    }

    void expressionsAreNumpys() {
        QFETCH(QString, expression);
        QFETCH(Shape, shape);
        QFETCH(Numbers, expected);
        const auto result = computed(expression);
        if (expected.empty()) {
            QVERIFY(!result.has_value());
            return;
        }
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(result->shape().text(), shape.text());
        QCOMPARE(static_cast<std::size_t>(result->numel()), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double got = result->toDouble(static_cast<std::int64_t>(i));
            QVERIFY2(std::abs(got - expected[i]) < 1e-6, qPrintable(QString("%1: %2").arg(i).arg(got)));
        }
    }

    /// Dtypes and values are those of numpy 2 for np.array([200, 3, 0], np.uint8): 400 - 256 is 144.
    void bytesAreComputedAsBytes_data() {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<QString>("type");
        QTest::addColumn<Numbers>("expected");
        const auto row = [](const char* expression, const char* type, const Numbers& expected) {
            QTest::newRow(expression) << QString(expression) << QString(type) << expected;
        };
        row("data * 2", "uint8[3]", {144, 6, 0});
        row("data - 128", "uint8[3]", {72, 131, 128});
        row("data + data", "uint8[3]", {144, 6, 0});
        row("-data", "uint8[3]", {56, 253, 0});
        row("data ** 2", "uint8[3]", {64, 9, 0});
        row("data * True", "uint8[3]", {200, 3, 0});
        row("data / 2", "float64[3]", {100, 1.5, 0});
        row("data * 2.0", "float64[3]", {400, 6, 0});
        row("data * 1e0", "float64[3]", {200, 3, 0});
        row("data * [2]", "int64[3]", {400, 6, 0});
        row("data.astype(np.int16) * 2", "int16[3]", {400, 6, 0});
        row("data.astype(np.int16) * 200", "int16[3]", {-25536, 600, 0});
        row("data - data.astype('int8')", "int16[3]", {256, 0, 0});
        row("data * data.astype('float16')", "float16[3]", {40000, 9, 0});
        row("(data > 100) * 2", "int64[3]", {2, 0, 0});
        row("(data > 1) + (data > 100)", "bool[3]", {1, 1, 0});
        row("data < 300", "bool[3]", {1, 1, 1});
        row("data.max() + 100", "uint8[]", {44});
        row("np.mean(data) * 3", "float64[]", {203});
        row("np.sqrt(data)", "float16[3]", {14.140625, 1.732421875, 0});
        row("np.clip(data, 1, 100)", "uint8[3]", {100, 3, 1});
        row("np.clip(data, 0.5, 100)", "float64[3]", {100, 3, 0.5});
        row("np.transpose(data) * 2", "uint8[3]", {144, 6, 0});
        row("np.array([data, data]).max(axis=0) * 2", "uint8[3]", {144, 6, 0});
        row("data + 300", "300 is out of bounds for uint8", {});
        row("data * -1", "-1 is out of bounds for uint8", {});
        row("data.astype('int8') ** -1", "negative integer powers", {});
        row("(data > 1) - (data > 2)", "does not subtract bools", {});
        // 200 times 2^53.
        row("data.astype('int64') * 9007199254740992", "int64[3]", {0x1.9p60, 0x1.8p54, 0});
    }

    void bytesAreComputedAsBytes() {
        QFETCH(QString, expression);
        QFETCH(QString, type);
        QFETCH(Numbers, expected);
        const Tensor bytes = Tensor::of<std::uint8_t>({3}, {200, 3, 0});
        const auto result = io::dump::transformed(expression.toStdString(), bytes);
        if (expected.empty()) {
            QVERIFY(!result.has_value());
            QVERIFY2(QString::fromStdString(result.error().text()).contains(type), result.error().text().c_str());
            return;
        }
        QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
        QCOMPARE(QString::fromStdString(result->typeText()), type);
        for (std::size_t i = 0; i < expected.size(); ++i)
            QCOMPARE(result->toDouble(static_cast<std::int64_t>(i)), expected[i]);
    }

    void errorsNameTheColumn_data() {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* expression, int column, const char* says) {
            QTest::newRow(expression) << QString(expression) << column << QString(says);
        };
        row("data / ", 8, "expected");
        row("data + x", 8, "'x' is not defined");
        row("1 + np.load('x')", 5, "np.load is not defined; known are mean, std, min, max, abs");
        row("data.tofile('x')", 5, "tofile is not defined");
        row("data.astype('x')", 14, "a dtype is expected");
        row("open('x')", 1, "'open' is not defined");
        row("__import__('os')", 1, "'__import__' is not defined");
        row("data.exp()", 5, "write np.exp");
        row("1 + np.mean(data, axis=3)", 5, "axis 3 is out of bounds for an array of rank 3");
        row("np.mean(data, axis=0.5)", 1, "an axis must be an integer");
        row("np.mean(data, 0, True)", 1, "mean takes fewer arguments");
        row("np.mean(data, dtype=1)", 1, "mean has no parameter 'dtype'");
        row("np.clip(data, 1)", 1, "clip needs 'a_max'");
        row("np.transpose(data, (0, 1))", 1, "transpose needs 3 axes, not 2");
        row("np.transpose(data, (0, 1, 1))", 1, "axis 1 is given twice");
        row("data.astype(3)", 5, "astype needs a dtype");
        row("data + [1, 2]", 6, "shapes [1,2,3] and [2] cannot be broadcast");
        row("data + [[1], [2, 3]]", 6, "different lengths");
        row("0 < data < 1", 10, "cannot be chained");
        row("data ** None", 6, "a number or an array is expected");
        row("np.float32", 1, "a number or an array is expected");
        row("np.mean", 1, "'mean' is not defined");
        row("(data", 6, "')' is missing");
    }

    void errorsNameTheColumn() {
        QFETCH(QString, expression);
        QFETCH(int, column);
        QFETCH(QString, says);
        const auto result = computed(expression);
        QVERIFY(!result.has_value());
        const QString text = QString::fromStdString(result.error().text());
        QVERIFY2(text.contains(says), qPrintable(text));
        QVERIFY2(text.contains(QString("column %1 of").arg(column)), qPrintable(text));
    }

    /// Neither the depth of an expression nor the size of what it computes is without limit.
    void largeExpressionsAreErrors() {
        const std::string deep = std::string(100'000, '(') + "1" + std::string(100'000, ')');
        for (const std::string& each : {deep, std::string(100'000, '-') + "1", std::string(100'000, '[')})
            QVERIFY(!io::dump::transformed(each, data()).has_value());
        const Tensor row = *Tensor::zeros(DType::UInt8, {1, 1 << 14});
        const auto square = io::dump::transformed("data + np.transpose(data)", row);
        QVERIFY(!square.has_value());
        QVERIFY(square.error().text().find("[16384,16384] is too large") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestInputTransform)

}  // namespace tst_input_transform

#include "tst_input_transform.moc"
