// Texts that are too deep, too long or garbage, and expressions that ask for too much: each ends with an error.

#include <QtTest>

#include <random>

#include "core/expression/expression.h"

namespace tst_expression_limits {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

base::Result<Value> computedOf(std::string_view text, const Tensor& x, const expression::Limits& limits = {}) {
    auto parsed = expression::parse(text);
    if (!parsed) return parsed.error();
    return expression::evaluate(
        *parsed, [&](std::string_view) -> base::Result<Value> { return x; }, {}, limits);
}

std::string repeated(const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
}

}  // namespace

class TestExpressionLimits : public QObject {
    Q_OBJECT

  private slots:
    void deepTextsEnd_data();
    void deepTextsEnd();
    void largeResultsAreRefused();
    void memoryOfAllResultsIsLimited();
    void memoryIsFreedAlongTheWay();
    void garbageNeverCrashes();
};

void TestExpressionLimits::deepTextsEnd_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("isFine");
    const auto row = [](const char* name, const std::string& text, bool isFine) {
        QTest::newRow(name) << QString::fromStdString(text) << isFine;
    };
    row("brackets", repeated("(", 100) + "1" + repeated(")", 100), false);
    row("some brackets", repeated("(", 99) + "1" + repeated(")", 99), true);
    row("open brackets", repeated("(", 60'000), false);
    row("lists", repeated("[", 60'000), false);
    row("signs", repeated("-", 60'000) + "1", false);
    row("not", repeated("not ", 10'000) + "1", false);
    row("powers", "1" + repeated("**1", 10'000), false);
    row("calls", repeated("abs(", 5000) + "x" + repeated(")", 5000), false);
    row("indices", "x" + repeated("[0]", 10'000), false);
    row("members", "x" + repeated(".T", 20'000), false);
    row("long sum", "1" + repeated("+1", 20'000), false);
    row("sum", "1" + repeated("+1", 400), true);
    row("long and", "1" + repeated(" and 1", 5000), true);
    row("long list", "[1" + repeated(",1", 20'000) + "]", true);
    row("long list in too long a text", "[1" + repeated(",1", 40'000) + "]", false);
    row("new axes", "x[" + repeated("None,", 1000) + "]", false);
    row("slices", "x[" + repeated(":,", 1000) + "]", false);
    row("deep list", repeated("[", 34) + "1" + repeated("]", 34) + " + 1", false);
}

void TestExpressionLimits::deepTextsEnd() {
    QFETCH(QString, text);
    QFETCH(bool, isFine);
    const auto result = computedOf(text.toStdString(), Tensor::of<float>({2}, {1, 2}));
    QVERIFY2(result.has_value() == isFine, result ? "" : result.error().text().c_str());
    if (!isFine) QVERIFY(expression::errorColumn(result.error()).has_value());
    if (!isFine) QVERIFY2(result.error().text().size() < 600, "the whole text is repeated");
}

void TestExpressionLimits::largeResultsAreRefused() {
    const Tensor row = *Tensor::zeros(DType::UInt8, {1, 1 << 14});
    for (const char* text : {"x + x.T", "where(x.T, x, 0)", "x == x.T", "maximum(x, transpose(x))"}) {
        const auto square = computedOf(text, row);
        QVERIFY2(!square.has_value(), text);
        QVERIFY2(square.error().what.find("[16384,16384] is too large") != std::string::npos,
                 square.error().what.c_str());
    }
    // Views of any size are free.
    QVERIFY(computedOf("x.T[::-1, None]", row).has_value());
    const auto repeatedRows = computedOf("x[[" + repeated("0,", 9000) + "]]", row);
    QVERIFY(!repeatedRows.has_value());
    QVERIFY(repeatedRows.error().what.find("[9000,16384] is too large") != std::string::npos);
}

void TestExpressionLimits::memoryOfAllResultsIsLimited() {
    const Tensor x = *Tensor::zeros(DType::Float32, {1 << 16});  // 256 KiB
    const expression::Limits limits{expression::kMaxResultElements, (std::size_t{1} << 20) + 1024};
    QVERIFY(computedOf("(x + 1) * (x + 2)", x, limits).has_value());
    const auto all = computedOf("[x + 1, x + 2, x + 3, x + 4, x + 5]", x, limits);
    QVERIFY(!all.has_value());
    QCOMPARE(all.error().text(), std::string("the arrays of the expression take more than 1 MiB (column 32 of "
                                             "'[x + 1, x + 2, x + 3, x + 4, x + 5]')"));
}

void TestExpressionLimits::memoryIsFreedAlongTheWay() {
    const Tensor x = *Tensor::zeros(DType::Float32, {1 << 16});
    const expression::Limits limits{expression::kMaxResultElements, std::size_t{1} << 20};
    const auto sum = computedOf("x" + repeated(" + 1", 100), x, limits);
    QVERIFY2(sum.has_value(), sum ? "" : sum.error().text().c_str());
    QCOMPARE(sum->tensor().toDouble(7), 100.0);
    QVERIFY(computedOf("max(x + 1) + max(x + 2) + max(x + 3) + max(x + 4) + max(x + 5)", x, limits).has_value());
}

/// Random words of the language, and random bytes: a value or an error with a column in the text.
void TestExpressionLimits::garbageNeverCrashes() {
    static const std::vector<std::string> words{"x",        "x",      "1",
                                                "0",        "-1",     "2.5",
                                                "True",     "None",   "(",
                                                ")",        "[",      "]",
                                                ",",        ":",      ".",
                                                "...",      "+",      "-",
                                                "*",        "/",      "//",
                                                "%",        "**",     "&",
                                                "|",        "^",      "~",
                                                "<",        ">=",     "==",
                                                "and",      "or",     "not",
                                                "mean(",    "x.max(", "axis=",
                                                "where(",   "shape(", "x.T",
                                                "abs",      "np",     "np.",
                                                "'int8'",   "`a b`",  "reshape(",
                                                "astype(",  "x[",     "::",
                                                "[0, 1]",   "x > 0",  "9223372036854775807",
                                                "ü",        "`",      "\"",
                                                "\xff",     "=",      "1e300",
                                                "squeeze(", "1e-320", "round("};
    std::mt19937 random(16);
    const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 6, -1, 0.5F});
    int values = 0, errors = 0;
    for (int i = 0; i < 30'000; ++i) {
        std::string text;
        const std::size_t length = 1 + random() % 12;
        for (std::size_t k = 0; k < length; ++k) {
            if (random() % 20 == 0) text += static_cast<char>(random());
            else text += words[random() % words.size()] + (random() % 3 == 0 ? " " : "");
        }
        const auto result = computedOf(text, x);
        ++(result ? values : errors);
        if (result) continue;
        const std::size_t column = expression::errorColumn(result.error()).value_or(0);
        QVERIFY2(column >= 1 && column <= text.size() + 1, text.c_str());
    }
    QVERIFY2(values > 300 && errors > 300, qPrintable(QStringLiteral("%1 values").arg(values)));
}

QTEST_GUILESS_MAIN(TestExpressionLimits)

}  // namespace tst_expression_limits

#include "tst_expression_limits.moc"
