// The help page of expressions: its examples are computed, its functions are those that there are.

#include <QRegularExpression>
#include <QtTest>

#include "core/base/number_text.h"
#include "core/expression/expression.h"
#include "tests/support/source_tree.h"

namespace tst_expression_help {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;

namespace {

base::Result<Value> namedOnThePage(std::string_view name) {
    if (name == "x") return Tensor::of<float>({2, 3}, {1, 2, 3, 6, -1, 0.5F});
    if (name == "y") return Tensor::of<float>({3}, {10, 20, 30});
    if (name == "u") return Tensor::of<std::uint8_t>({3}, {200, 3, 0});
    return base::usageError("there is no node '" + std::string(name) + "'");
}

QString elementText(const Tensor& tensor, std::int64_t index) {
    if (tensor.dtype() == tensor::DType::Bool) return tensor.toInt64(index) != 0 ? "True" : "False";
    return QString::fromStdString(base::roundedText(tensor.toDouble(index), 6));
}

/// As the page shows it: [[1, 2], [3, 4]].
QString textOf(const Tensor& tensor, std::size_t axis = 0, std::int64_t index = 0) {
    if (axis == tensor.rank()) return elementText(tensor, index);
    QStringList parts;
    for (std::int64_t i = 0; i < tensor.dim(axis); ++i) parts << textOf(tensor, axis + 1, index * tensor.dim(axis) + i);
    return '[' + parts.join(QStringLiteral(", ")) + ']';
}

QString textOf(const Value& value) {
    if (value.isTensor()) return textOf(value.tensor());
    if (value.kind() == ValueKind::Bool) return value.toBool() ? "True" : "False";
    if (value.isNumber()) return QString::fromStdString(base::roundedText(value.number(), 6));
    QStringList parts;
    for (const Value& item : value.items()) parts << textOf(item);
    return '(' + parts.join(QStringLiteral(", ")) + ')';
}

/// The cells of the rows of the page's table with this first title, without backticks around them.
QList<QStringList> rowsOf(const QString& title) {
    static const QRegularExpression bar(QStringLiteral(R"((?<!\\)\|)"));
    QList<QStringList> rows;
    bool isInside = false;
    for (const QString& line : test::sourceLines(QStringLiteral("resources/help/expressions.md"))) {
        if (!line.startsWith(u'|')) isInside = false;
        if (isInside && !line.startsWith(u"| ---")) {
            QStringList cells = line.split(bar).mid(1);
            for (QString& cell : cells) cell = cell.trimmed().replace(QStringLiteral("\\|"), QStringLiteral("|"));
            rows << cells;
        }
        if (line.startsWith("| " + title + " |")) isInside = true;
    }
    return rows;
}

QString unquoted(QString cell) { return cell.remove(u'`'); }

}  // namespace

class TestExpressionHelp : public QObject {
    Q_OBJECT

  private slots:
    void examplesHaveTheValuesOfThePage();
    void functionsAreThoseOfThePage();
    void limitsAreThoseOfThePage();
};

void TestExpressionHelp::examplesHaveTheValuesOfThePage() {
    const QList<QStringList> rows = rowsOf(QStringLiteral("expression"));
    QVERIFY(rows.size() > 20);
    for (const QStringList& row : rows) {
        const auto parsed = expression::parse(unquoted(row[0]).toStdString());
        QVERIFY2(parsed.has_value(), qPrintable(row[0]));
        const auto value = expression::evaluate(*parsed, namedOnThePage);
        QVERIFY2(value.has_value(), qPrintable(row[0]));
        QVERIFY2(textOf(*value) == unquoted(row[1]), qPrintable(row[0] + " is " + textOf(*value)));
    }
    const auto failed = expression::evaluate(*expression::parse("1 + max(yy)"), namedOnThePage);
    QCOMPARE(expression::errorColumn(failed.error()), std::optional<std::size_t>(9));
}

void TestExpressionHelp::functionsAreThoseOfThePage() {
    QStringList onThePage, known;
    for (const QStringList& row : rowsOf(QStringLiteral("function"))) onThePage << unquoted(row[0]) + ": " + row[1];
    for (const expression::FunctionInfo& each : expression::functions())
        known << QString::fromUtf8(each.signature.data(), each.signature.size()) + (each.isMethod ? " ·" : "") + ": " +
                     QString::fromUtf8(each.summary.data(), each.summary.size());
    QCOMPARE(onThePage, known);
}

void TestExpressionHelp::limitsAreThoseOfThePage() {
    const QString page = test::sourceLines(QStringLiteral("resources/help/expressions.md")).join(u' ');
    const QLocale english(QLocale::English, QLocale::UnitedStates);
    QVERIFY(page.contains(english.toString(static_cast<qlonglong>(expression::kMaxResultElements)) + " elements"));
    QVERIFY(page.contains(QStringLiteral("%1 GiB").arg(expression::kMaxResultBytes >> 30)));
    QVERIFY(expression::parse(std::string(65'535, ' ') + "1").has_value());
    QVERIFY(!expression::parse(std::string(65'536, ' ') + "1").has_value());
    QVERIFY(page.contains(u"65,536 bytes"));
}

QTEST_GUILESS_MAIN(TestExpressionHelp)

}  // namespace tst_expression_help

#include "tst_expression_help.moc"
