// The expression language: what its texts mean, and which column its errors name. Values of arrays are worked by hand
// after numpy's rules; those of numbers are Python's own (tests/data/expression/generate.py).

#include <QtTest>

#include <cmath>
#include <limits>
#include <map>

#include "core/base/number_text.h"
#include "core/expression/expression.h"
#include "tests/support/source_tree.h"

namespace tst_expression {

using namespace sonde;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// What the expressions of this file name.
const std::map<std::string, Value, std::less<>>& values() {
    static const std::map<std::string, Value, std::less<>> all{
        {"x", Tensor::of<float>({2, 3}, {1, 2, 3, 6, -1, 0.5F})},
        {"y", Tensor::of<float>({3}, {10, 20, 30})},
        {"bad", Tensor::of<float>({4}, {1, static_cast<float>(kNan), static_cast<float>(kInf), -2})},
        {"u", Tensor::of<std::uint8_t>({3}, {200, 3, 0})},
        {"i", Tensor::of<std::int8_t>({3}, {-128, -7, 7})},
        {"l", Tensor::of<std::int64_t>({2}, {(std::int64_t{1} << 53) + 1, -3})},
        {"ul", Tensor::of<std::uint64_t>({2}, {std::uint64_t{1} << 63, 5})},
        {"h", Tensor::of<tensor::Half>({2}, {tensor::Half(60000), tensor::Half(1)})},
        {"bf", Tensor::of<tensor::BFloat16>({2}, {tensor::BFloat16(1.5F), tensor::BFloat16(-2)})},
        {"d", Tensor::of<double>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
        {"b", Tensor::of<bool>({3}, {true, false, true})},
        {"c", Tensor::of<std::complex<float>>({2}, {{3, 4}, {0, -1}})},
        {"none", Tensor::of<float>({0, 3}, {})},
        {"one", Tensor::of<float>({1, 1}, {7})},
        {"words", Tensor::ofStrings({2}, {"a", "b"})},
        {"two", Value::ofInt(2)},
        {"half", Value::ofFloat(0.5)},
        {"pair", Value::tuple({Value::ofInt(4), Tensor::of<float>({2}, {1, 2})})},
        {"layer1.0/conv`", Tensor::of<float>({1}, {5})},
        {"größe", Value::ofInt(3)},
        {"and", Value::ofInt(9)},
    };
    return all;
}

base::Result<Value> named(std::string_view name) {
    const auto found = values().find(name);
    if (found == values().end()) return base::usageError("the name '" + std::string(name) + "' is not defined");
    return found->second;
}

base::Result<Value> computed(const QString& text) {
    auto parsed = expression::parse(text.toStdString());
    if (!parsed) return parsed.error();
    return expression::evaluate(*parsed, named);
}

QString numberText(double number) {
    return std::isnan(number) ? QStringLiteral("nan") : QString::fromStdString(base::roundedText(number, 9));
}

/// "float32[2] 1 2", "int 3", "True", "(int 1, float32[2] 1 2)", "'float32'", "None".
QString shown(const Value& value) {
    switch (value.kind()) {
        case ValueKind::None: return QStringLiteral("None");
        case ValueKind::Bool: return value.toBool() ? QStringLiteral("True") : QStringLiteral("False");
        case ValueKind::Int: return QStringLiteral("int %1").arg(value.toInt());
        case ValueKind::Float: return "float " + numberText(value.toFloat());
        case ValueKind::String: return "'" + QString::fromStdString(value.toString()) + "'";
        case ValueKind::Tensor: {
            QStringList parts{QString::fromStdString(value.tensor().typeText())};
            for (std::int64_t i = 0; i < value.tensor().numel(); ++i) parts << numberText(value.tensor().toDouble(i));
            return parts.join(u' ');
        }
        default: break;
    }
    QStringList parts;
    for (const Value& item : value.items()) parts << shown(item);
    return "(" + parts.join(QStringLiteral(", ")) + ")";
}

void addRow(const char* text, const char* expected) { QTest::newRow(text) << QString(text) << QString(expected); }

}  // namespace

class TestExpression : public QObject {
    Q_OBJECT

  private slots:
    void numbersArePythons();
    void valuesAreNumpys_data();
    void valuesAreNumpys();
    void problemsNameTheColumn_data();
    void problemsNameTheColumn();
    void namesAreThoseOfTheText();
    void namesInBackticks();
    void conditionsAreOneElement();
    void errorsOfNamesAreToldAtTheName();
    void cancelledBetweenOperations();
    void functionsAreListed();
};

/// Every operator, precedence and chain, as Python evaluates them.
void TestExpression::numbersArePythons() {
    int count = 0;
    for (const QString& line : test::sourceLines(QStringLiteral("tests/data/expression/scalars.tsv"))) {
        const QStringList parts = line.split(u'\t');
        if (parts.size() < 3) continue;
        const base::Result<Value> result = computed(parts[0]);
        ++count;
        if (parts[1] == u"error") {
            QVERIFY2(!result.has_value(),
                     qPrintable(parts[0] + " has the value " + (result ? shown(*result) : QString())));
            continue;
        }
        QVERIFY2(result.has_value(), qPrintable(parts[0] + ": " + (result ? "" : result.error().text().c_str())));
        const char* kind = tensor::name(result->kind()).data();
        QVERIFY2(parts[1] == QLatin1String(kind), qPrintable(parts[0] + " is of kind " + kind));
        if (parts[1] == u"int") QVERIFY2(result->toInt() == parts[2].toLongLong(), qPrintable(parts[0]));
        else if (parts[1] == u"bool") QVERIFY2(result->toBool() == (parts[2] == u"True"), qPrintable(parts[0]));
        else QVERIFY2(result->toFloat() == parts[2].toDouble(), qPrintable(parts[0] + ": " + shown(*result)));
    }
    QCOMPARE(count, 600);
}

void TestExpression::valuesAreNumpys_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("expected");
    // Of the issue.
    addRow("has_nan(x)", "False");
    addRow("has_nan(bad)", "True");
    addRow("max(abs(x)) > 1e4", "bool[] 0");
    addRow("std(x) < 1e-6", "bool[] 0");
    addRow("mean(abs(x - y))", "float32[] 18.083334");  // 108.5 / 6
    addRow("d[0, :, 1]", "float64[2] 2 4");
    addRow("shape(x)[0] != 1", "True");
    addRow("x == x", "bool[2,3] 1 1 1 1 1 1");
    addRow("bad == bad", "bool[4] 1 0 1 1");
    addRow("-x ** 2", "float32[2,3] -1 -4 -9 -36 -1 -0.25");
    addRow("not has_nan(bad) and two or half", "float 0.5");
    addRow("where(x > 0, x, 0)", "float32[2,3] 1 2 3 6 0 0.5");
    addRow("x.mean(axis=1)", "float32[2] 2 1.83333337");
    // Broadcasting and dtypes.
    addRow("x + y", "float32[2,3] 11 22 33 16 19 30.5");
    addRow("x[:, :1] * y[0:2][:, None]", "float32[2,1] 10 120");
    addRow("u * 2", "uint8[3] 144 6 0");
    addRow("u + i", "int16[3] 72 -4 7");
    addRow("u / 2", "float64[3] 100 1.5 0");
    addRow("u // 7", "uint8[3] 28 0 0");
    addRow("i // 3", "int8[3] -43 -3 2");
    addRow("i % 3", "int8[3] 1 2 1");
    addRow("i % -3", "int8[3] -2 -1 -2");
    addRow("i // 0", "int8[3] 0 0 0");
    addRow("i // -1", "int8[3] -128 7 -7");
    addRow("-i", "int8[3] -128 7 -7");
    addRow("abs(i)", "int8[3] -128 7 7");
    addRow("~i", "int8[3] 127 6 -8");
    addRow("~u", "uint8[3] 55 252 255");
    addRow("~b", "bool[3] 0 1 0");
    addRow("u & 12 | 1", "uint8[3] 9 1 1");
    addRow("u ^ 255", "uint8[3] 55 252 255");
    addRow("b ^ True", "bool[3] 0 1 0");
    addRow("b + b", "bool[3] 1 0 1");
    addRow("b * 2", "int64[3] 2 0 2");
    addRow("b ** b", "int8[3] 1 1 1");
    addRow("b * x", "float32[2,3] 1 0 3 6 -0 0.5");
    addRow("u * half", "float64[3] 100 1.5 0");
    addRow("x * half", "float32[2,3] 0.5 1 1.5 3 -0.5 0.25");
    addRow("h * 2", "float16[2] inf 2");
    addRow("h + 0.0001", "float16[2] 60000 1");
    addRow("h > 1e5", "bool[2] 0 0");
    addRow("h * 2 > 1e5", "bool[2] 1 0");
    addRow("bf + 1", "float64[2] 2.5 -1");
    addRow("l + 1", "int64[2] 9.00719925e+15 -2");
    addRow("l[0] - 9007199254740992", "int64[] 1");
    addRow("l == 9007199254740993", "bool[2] 1 0");
    addRow("ul > -1", "bool[2] 1 1");
    addRow("ul > l", "bool[2] 1 1");
    addRow("l < ul[1]", "bool[2] 0 1");
    addRow("l == ul", "bool[2] 0 0");
    addRow("ul > 9223372036854775807", "bool[2] 1 0");
    addRow("u < 300", "bool[3] 1 1 1");
    addRow("x == 0.1", "bool[2,3] 0 0 0 0 0 0");
    addRow("x * 0 + 0.1 == 0.1", "bool[2,3] 1 1 1 1 1 1");
    addRow("x % 1", "float32[2,3] 0 0 0 0 0 0.5");
    addRow("-x // 4", "float32[2,3] -1 -1 -1 -2 0 -1");
    addRow("y / 0", "float32[3] inf inf inf");
    addRow("y % inf", "float32[3] 10 20 30");
    addRow("-y // inf", "float32[3] -1 -1 -1");
    addRow("x - [1, 2, 3]", "float64[2,3] 0 0 0 5 -3 -2.5");
    addRow("[[1, 2], [3, 4.5]] * 2", "float64[2,2] 2 4 6 9");
    addRow("none + 1", "float32[0,3]");
    addRow("2 ** [1, 2, 3]", "int64[3] 2 4 8");
    addRow("maximum(bad, 0)", "float32[4] 1 nan inf 0");
    addRow("minimum(0, bad)", "float32[4] 0 nan 0 -2");
    // Statistics.
    addRow("mean(x, 0)", "float32[3] 3.5 0.5 1.75");
    addRow("x.max(axis=-1)", "float32[2] 3 6");
    addRow("min(x, axis=(0, 1))", "float32[] -1");
    addRow("max(bad)", "float32[] nan");
    addRow("min(i)", "int8[] -128");
    addRow("max(b)", "bool[] 1");
    addRow("sum(u)", "uint64[] 203");
    addRow("sum(i)", "int64[] -128");
    addRow("sum(b)", "int64[] 2");
    addRow("prod(y)", "float32[] 6000");
    addRow("sum(x, 1, keepdims=True)", "float32[2,1] 6 5.5");
    addRow("mean(d, axis=(0, 2))", "float64[2] 3.5 5.5");
    addRow("var(y)", "float32[] 66.6666641");
    addRow("std(d, axis=0)", "float64[2,2] 2 2 2 2");
    addRow("mean(u)", "float64[] 67.6666667");
    addRow("mean(x > 0)", "float64[] 0.833333333");
    addRow("mean(none)", "float32[] nan");
    addRow("sum(none)", "float32[] 0");
    addRow("sum(none, axis=0)", "float32[3] 0 0 0");
    addRow("median(x)", "float32[] 1.5");
    addRow("median(y)", "float32[] 20");
    addRow("median(bad)", "float32[] nan");
    addRow("median(u)", "float64[] 3");
    addRow("norm([3, 4])", "float64[] 5");
    addRow("norm(x, axis=1)", "float32[2] 3.7416575 6.10327768");
    addRow("any(x < 0)", "bool[] 1");
    addRow("all(x, axis=0)", "bool[3] 1 1 1");
    addRow("all(bad > 0)", "bool[] 0");
    addRow("argmax(x)", "int64[] 3");
    addRow("argmin(x, axis=1)", "int64[2] 0 1");
    addRow("bad.argmax()", "int64[] 1");
    addRow("count_nonzero(u)", "int 2");
    // Elements.
    addRow("sqrt(u)", "float16[3] 14.140625 1.73242188 0");
    addRow("exp(0 * x)", "float32[2,3] 1 1 1 1 1 1");
    addRow("exp([-1000, 1000])", "float64[2] 0 inf");
    addRow("log(x[0, :1])", "float32[1] 0");
    addRow("log2([8, 0.25])", "float64[2] 3 -2");
    addRow("log10(1000)", "float64[] 3");
    addRow("round([0.5, 1.5, -2.5, 2.6])", "float64[4] 0 2 -2 3");
    addRow("round([1.25, 3.14159], 1)", "float64[2] 1.2 3.1");
    addRow("floor(-1.5)", "float64[] -2");
    addRow("ceil(u)", "uint8[3] 200 3 0");
    addRow("trunc([-1.5, 1.5])", "float64[2] -1 1");
    addRow("sign(x)", "float32[2,3] 1 1 1 1 -1 1");
    addRow("sign(i)", "int8[3] -1 -1 1");
    addRow("sigmoid(0 * y)", "float32[3] 0.5 0.5 0.5");
    addRow("tanh(0)", "float64[] 0");
    addRow("round(erf([0, 0.5, -2]), 9)", "float64[3] 0 0.520499878 -0.995322265");  // of tables
    // Of PyTorch 1.13, in float64.
    addRow("round(digamma([1, -0.5, 7]), 9)", "float64[3] -0.577215665 0.036489974 1.87278433");
    addRow("round(lgamma([0.5, 5]), 9)", "float64[2] 0.572364943 3.17805383");
    addRow("round(erfinv([0.5, -0.9]), 9)", "float64[2] 0.476936276 -1.16308715");
    addRow("round(i0([0, 1, -2]), 9)", "float64[3] 1 1.26606588 2.2795853");
    addRow("round(logit([0.25, 0.999], 0.01), 9)", "float64[2] -1.09861229 4.59511985");
    addRow("round(logaddexp([1, 1000], [2, 1000]), 9)", "float64[2] 2.31326169 1000.69315");
    addRow("round(logaddexp2(1, 2), 9)", "float64[] 2.5849625");
    addRow("round(xlogy([0, 2], [0, 3]), 9)", "float64[2] 0 2.19722458");
    addRow("round(atan2([1, -1], -1), 9)", "float64[2] 2.35619449 -2.35619449");
    addRow("hypot(3, [4, 0])", "float64[2] 5 3");
    addRow("round([asin(0.5), acos(0.5), atan(2)], 9)", "float64[3] 0.523598776 1.04719755 1.10714872");
    addRow("round(angle([-1, 2]), 9)", "float64[2] 3.14159265 0");
    addRow("copysign([1, -2], -0.0)", "float64[2] -1 -2");
    addRow("fmax(nan, [1, nan])", "float64[2] 1 nan");
    addRow("fmin(2, [1, 3])", "float64[2] 1 2");
    addRow("heaviside([-1, 0, 2], 0.5)", "float64[3] 0 0.5 1");
    addRow("nextafter(float32(1), 2) > 1", "bool[] 1");
    addRow("nan_to_num([nan, inf, 1], 5, 7)", "float64[3] 5 7 1");
    addRow("nan_to_num(bad, posinf=9)[1:3]", "float32[2] 0 9");
    addRow("isclose([1, nan], [1.000001, nan])", "bool[2] 1 0");
    addRow("isclose([1, nan], [2, nan], equal_nan=True)", "bool[2] 0 1");
    addRow("signbit([0.0, -0.0, -1])", "bool[3] 0 1 1");
    addRow("astype(float32(1 / 3), 'float64') * 3 - 1", "float64[] 2.98023224e-08");
    addRow("dtype(float32([1, 2]))", "'float32'");
    addRow("isnan(bad)", "bool[4] 0 1 0 0");
    addRow("isinf(bad)", "bool[4] 0 0 1 0");
    addRow("isfinite(bad)", "bool[4] 1 0 0 1");
    addRow("isfinite(u)", "bool[3] 1 1 1");
    addRow("has_inf(bad)", "True");
    addRow("has_nan(u)", "False");
    addRow("has_nan(bf)", "False");
    addRow("has_inf(c)", "False");
    addRow("abs(c)", "float32[2] 5 1");
    addRow("real(c)", "float32[2] 3 0");
    addRow("c.imag", "float32[2] 4 -1");
    addRow("imag(y)", "float32[3] 0 0 0");
    addRow("allclose(x, x + 1e-7)", "bool[] 1");
    addRow("allclose(y, y + 1)", "bool[] 0");
    addRow("allclose([1, inf], [1, inf])", "bool[] 1");
    addRow("allclose([1], [inf])", "bool[] 0");
    addRow("allclose(bad, bad)", "bool[] 0");
    addRow("allclose(u, u - 1, 0, 1)", "bool[] 0");  // 0 - 1 is 255 in uint8
    addRow("clip(x, 0, None)", "float32[2,3] 1 2 3 6 0 0.5");
    addRow("u.clip(1, 100)", "uint8[3] 100 3 1");
    addRow("where(b, 1, 2.5)", "float64[3] 1 2.5 1");
    addRow("where(b, y, u)", "float32[3] 10 3 30");
    addRow("where(True, x, 0)[0]", "float32[3] 1 2 3");
    // Shapes and indices.
    addRow("shape(d)", "(int 2, int 2, int 2)");
    addRow("x.shape == (2, 3)", "True");
    addRow("shape(two)", "()");
    addRow("shape(words)", "(int 2)");
    addRow("shape(x)[-1]", "int 3");
    addRow("shape(d)[1:]", "(int 2, int 2)");
    addRow("x.size", "int 6");
    addRow("ndim(d)", "int 3");
    addRow("x.dtype", "'float32'");
    addRow("dtype(bf) == 'bfloat16'", "True");
    addRow("dtype(x) == np.float16", "False");
    addRow("x.T", "float32[3,2] 1 6 2 -1 3 0.5");
    addRow("transpose(d, (2, 0, 1))[0]", "float64[2,2] 1 3 5 7");
    addRow("d.transpose(2, 0, 1)[1]", "float64[2,2] 2 4 6 8");
    addRow("reshape(x, (3, -1))", "float32[3,2] 1 2 3 6 -1 0.5");
    addRow("x.T.reshape(6)", "float32[6] 1 6 2 -1 3 0.5");
    addRow("x.T.flatten()", "float32[6] 1 6 2 -1 3 0.5");
    addRow("squeeze(one)", "float32[] 7");
    addRow("squeeze(one, 0)", "float32[1] 7");
    addRow("x[1]", "float32[3] 6 -1 0.5");
    addRow("x[-1, -1]", "float32[] 0.5");
    addRow("x[..., 0]", "float32[2] 1 6");
    addRow("d[..., None].shape", "(int 2, int 2, int 2, int 1)");
    addRow("x[::-1, ::2]", "float32[2,2] 6 0.5 1 3");
    addRow("y[5:]", "float32[0]");
    addRow("y[-2:9]", "float32[2] 20 30");
    addRow("y[:-4:-1]", "float32[3] 30 20 10");
    addRow("x[x > 1]", "float32[3] 2 3 6");
    addRow("x[:, b]", "float32[2,2] 1 3 6 0.5");
    addRow("d[d[0] > 2]", "float64[2,2] 5 6 7 8");
    addRow("y[[2, 0, -1]]", "float32[3] 30 10 30");
    addRow("x[:, [[1]]].shape", "(int 2, int 1, int 1)");
    // An integer beside an array counts as one; apart from it, the array's axes come first.
    addRow("x[1, [2, 0]]", "float32[2] 0.5 6");
    addRow("x[[1, 0], 1]", "float32[2] -1 2");
    addRow("x[0, b]", "float32[2] 1 3");
    addRow("x[None][0, 1, [[0], [2]]]", "float32[2,1] 6 0.5");
    addRow("x[None][0, :, [0, 2]]", "float32[2,2] 1 6 3 0.5");
    addRow("y[argmax(y)]", "float32[] 30");
    addRow("c[0]", "complex64[] 3");
    addRow("pair[0] + pair[1]", "float32[2] 5 6");
    addRow("bf[1:]", "bfloat16[1] -2");
    addRow("astype(x, 'int8')", "int8[2,3] 1 2 3 6 -1 0");
    addRow("(u + 0.5).astype(int)", "int64[3] 200 3 0");
    addRow("x.astype(np.bool)", "bool[2,3] 1 1 1 1 1 1");
    addRow("x.astype(bool)", "bool[2,3] 1 1 1 1 1 1");
    addRow("array([u, u]).max(axis=0) * 2", "uint8[3] 144 6 0");
    // Words and truth.
    addRow("two and half", "float 0.5");
    addRow("0 or x[0, 0]", "float32[] 1");
    addRow("not one", "False");
    addRow("False and undefined", "False");
    addRow("0 < x[0, 0] < 1", "bool[] 0");
    addRow("0 < x[0, 0] <= 1 < 2", "True");
    addRow("None == None", "True");
    addRow("x == None", "False");
    addRow("shape(x) != (2, 3)", "False");
    addRow("np.pi > 3.14 and np.e < 2.72", "True");
    addRow("inf > np.inf or nan == nan", "False");
    addRow("größe * 2", "int 6");
    addRow("`layer1.0/conv\\``[0]", "float32[] 5");
    addRow("`and` + 1", "int 10");
    addRow(" \t1\n+\r1 ", "int 2");
    addRow("np.mean(x) == mean(x)", "bool[] 1");
}

void TestExpression::valuesAreNumpys() {
    QFETCH(QString, text);
    QFETCH(QString, expected);
    const base::Result<Value> result = computed(text);
    QVERIFY2(result.has_value(), result ? "" : result.error().text().c_str());
    QCOMPARE(shown(*result), expected);
}

void TestExpression::problemsNameTheColumn_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("column");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* text, int column, const char* says) {
        QTest::newRow(text) << QString(text) << column << QString(says);
    };
    row("", 1, "is expected");
    row("x +", 4, "is expected");
    row("x + * 2", 5, "is expected");
    row("(x", 3, "')' is missing");
    row("x[0", 4, "']' is missing");
    row("[1, 2", 6, "']' is missing");
    row("x[]", 2, "an index is missing");
    row("x y", 3, "'y' is not expected");
    row("x = 1", 3, "'=' is not expected");
    row("x $ 1", 3, "'$' is not expected");
    row("größe + $", 9, "'$' is not expected");
    row("1 + `x", 5, "the backtick has no counterpart");
    row("``", 1, "empty");
    row("1 + 'float32", 5, "the quote has no counterpart");
    row("x.astype('float')[0", 20, "']' is missing");
    row("x.astype('floaty')", 11, "a dtype is expected");
    row("4x", 1, "neither a number nor a name");
    row("99999999999999999999", 1, "does not fit into int64");
    row("1e999", 1, "does not fit into float64");
    row("x.", 2, "a function is expected");
    row("layer1.0.conv", 7, "is not expected");
    row("layer1.conv", 7, "'conv' is not defined");
    row("1 + relu(x)", 5, "'relu' is not defined; known are mean, std");
    row("x.relu()", 2, "relu is not defined; known are mean, std, min, max, clip");
    row("np.load('x')", 1, "np.load is not defined");
    row("np.x", 1, "'x' is not defined");
    row("x.exp()", 2, "write np.exp");
    row("x.mean", 2, "without arguments");
    row("mean()", 1, "mean needs 'a'");
    row("2 * mean(x, 0, True)", 5, "mean takes fewer arguments");
    row("mean(x, axes=0)", 1, "no parameter 'axes'");
    row("mean(x, a=x)", 1, "'a' twice");
    row("mean(axis=0, x)", 14, "without a name comes after");
    row("x and", 6, "is expected");
    row("and x", 1, "'and' is not expected");
    // While it is computed.
    row("1 + unknown", 5, "the name 'unknown' is not defined");
    row("x + y[:2]", 3, "shapes [2,3] and [2] cannot be broadcast");
    row("x + [[1], [2, 3]]", 3, "different lengths");
    row("mean(x, axis=2)", 1, "axis 2 is out of bounds");
    row("mean(x, axis=(0, -2))", 1, "is given twice");
    row("mean(x, axis=0.5)", 1, "an axis must be an integer");
    row("x[2]", 2, "index 2 is out of bounds for axis 0 of size 2");
    row("x[0, 7]", 2, "index 7 is out of bounds for axis 1 of size 3");
    row("x[None, 0, ..., 7]", 2, "index 7 is out of bounds for axis 1 of size 3");
    row("x[0][0, 0]", 5, "has too few axes for 2 indices");
    row("x[0.5]", 2, "an index must be an integer");
    row("x[::0]", 2, "cannot be 0");
    row("x[..., ...]", 2, "'...' once");
    row("x[x[0] > 0]", 2, "a mask of shape [3] does not fit");
    row("x[[0], [0]]", 2, "an index takes one array");
    row("shape(x)[5]", 9, "out of bounds");
    row("two[0]", 4, "only arrays, lists and tuples have items");
    row("1 / 0", 3, "division by zero");
    row("0 ** -1", 3, "division by zero");
    row("2 ** 64", 3, "does not fit into int64");
    row("9223372036854775807 + 1", 21, "does not fit into int64");
    row("u + 300", 3, "300 is out of bounds for uint8");
    row("u ** -i", 3, "negative integer powers");
    row("b - b", 3, "does not subtract bools");
    row("-b", 1, "does not negate bools");
    row("x & x", 3, "need integers or bools");
    row("~x", 1, "needs integers or bools");
    row("0 < x < 1", 7, "cannot be chained");
    row("x and x", 1, "is ambiguous");
    row("not x", 1, "is ambiguous");
    row("c + 1", 3, "complex numbers");
    row("words + 1", 7, "not text");
    row("x + None", 3, "a number or an array is expected");
    row("x + np.float32", 3, "a number or an array is expected");
    row("max(none)", 1, "there are no elements");
    row("clip(x, None, None)", 1, "clip needs a bound");
    row("x.astype(3)", 2, "astype needs a dtype");
    row("transpose(x, (0,))", 1, "transpose needs 2 axes, not 1");
    row("reshape(x, (4, -1))", 1, "cannot be reshaped");
    row("reshape(x, (-1, -1))", 1, "-1 once");
    row("squeeze(x, 0)", 1, "more than one element");
}

void TestExpression::problemsNameTheColumn() {
    QFETCH(QString, text);
    QFETCH(int, column);
    QFETCH(QString, says);
    const base::Result<Value> result = computed(text);
    QVERIFY2(!result.has_value(), qPrintable(result ? shown(*result) : QString()));
    const QString told = QString::fromStdString(result.error().text());
    QVERIFY2(told.contains(says), qPrintable(told));
    QVERIFY2(told.contains(QStringLiteral("column %1 of").arg(column)), qPrintable(told));
    QCOMPARE(static_cast<int>(expression::errorColumn(result.error()).value_or(0)), column);
    QCOMPARE(result.error().kind, base::ErrorKind::Usage);
}

void TestExpression::namesAreThoseOfTheText() {
    const auto names = [](const char* text) { return expression::parse(text)->names(); };
    QCOMPARE(names("mean(b) + a.max() * b[i] - `x.y` + np.pi + inf"), (std::vector<std::string>{"b", "a", "i", "x.y"}));
    QCOMPARE(names("where(True, 1, None)"), std::vector<std::string>());
    QCOMPARE(names("shape(shape)"), std::vector<std::string>{"shape"});
    QCOMPARE(expression::parse(" a ")->text(), std::string(" a "));
}

void TestExpression::namesInBackticks() {
    const std::map<std::string, std::string> expected{
        {"conv1", "conv1"}, {"größe", "größe"}, {"/conv/out", "`/conv/out`"},
        {"1", "`1`"},       {"not", "`not`"},   {"a`\\b", "`a\\`\\\\b`"},
        {"inf", "`inf`"},   {"max", "max"},     {"a b", "`a b`"}};
    for (const auto& [name, text] : expected) {
        QCOMPARE(expression::quoted(name), text);
        QCOMPARE(expression::parse(expression::quoted(name))->names(), std::vector<std::string>{name});
    }
}

void TestExpression::conditionsAreOneElement() {
    const auto met = [](const char* text) { return expression::isTrue(*expression::parse(text), named); };
    QVERIFY(*met("max(x) == 6"));
    QVERIFY(!*met("max(x) > 6"));
    QVERIFY(*met("one"));
    QVERIFY(!*met("two - 2"));
    QVERIFY(*met("nan"));
    for (const char* text : {"x > 0", "none", "shape(x)", "None", "x.dtype", "c[0]"}) {
        const auto result = met(text);
        QVERIFY2(!result.has_value(), text);
        QCOMPARE(static_cast<int>(expression::errorColumn(result.error()).value_or(0)), 1);
    }
    QVERIFY(!expression::isTrue(expression::Expression(), named).has_value());
}

void TestExpression::errorsOfNamesAreToldAtTheName() {
    int asked = 0;
    const expression::Names names = [&](std::string_view) -> base::Result<Value> {
        ++asked;
        return base::runError("its value was not kept", "somewhere", "watch it");
    };
    const auto result = expression::evaluate(*expression::parse("1 + max(a)"), names);
    QVERIFY(!result.has_value());
    QCOMPARE(result.error().text(), std::string("its value was not kept (column 9 of '1 + max(a)')"));
    QCOMPARE(result.error().hint, std::string("watch it"));
    QCOMPARE(asked, 1);
    // Each name is resolved once.
    asked = 0;
    const expression::Names ones = [&](std::string_view) -> base::Result<Value> {
        ++asked;
        return Value::ofInt(1);
    };
    QCOMPARE(expression::evaluate(*expression::parse("a + a * a"), ones)->toInt(), 2);
    QCOMPARE(asked, 1);
}

void TestExpression::cancelledBetweenOperations() {
    std::stop_source stop;
    base::WorkContext work{stop.get_token(), {}};
    const expression::Names names = [&](std::string_view) -> base::Result<Value> {
        stop.request_stop();
        return Value::ofInt(1);
    };
    const expression::Expression expression = *expression::parse("1 + a + 1");
    const auto result = expression::evaluate(expression, names, work);
    QVERIFY(!result.has_value());
    QCOMPARE(result.error().kind, base::ErrorKind::Cancelled);
    QVERIFY(!expression::errorColumn(result.error()));
    QVERIFY(expression::evaluate(expression, names).has_value());
}

void TestExpression::functionsAreListed() {
    const std::vector<expression::FunctionInfo> all = expression::functions();
    QVERIFY(all.size() > 40);
    for (const expression::FunctionInfo& each : all) {
        QVERIFY2(each.signature.starts_with(std::string(each.name) + "(") && each.signature.ends_with(")"),
                 each.signature.data());
        QVERIFY2(!each.summary.empty() && !each.summary.ends_with('.'), each.signature.data());
        // A method's first argument is what it is called on.
        const std::string first = std::string(each.name) + "()";
        const auto alone = expression::parse(first);
        QVERIFY2(!alone.has_value(), first.c_str());
        QCOMPARE(expression::parse("x." + first).has_value() ||
                     QString::fromStdString(expression::parse("x." + first).error().what).contains(u"needs"),
                 each.isMethod);
    }
}

QTEST_GUILESS_MAIN(TestExpression)

}  // namespace tst_expression

#include "tst_expression.moc"
