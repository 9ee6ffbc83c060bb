// The help page of keys is written for people and must say what the action table says.

#include <QHash>
#include <QRegularExpression>
#include <QtTest>

#include "tests/support/source_tree.h"
#include "ui/actions/action_table.h"

namespace tst_help_keys {

using namespace sonde;

namespace {

const QString kPage = QStringLiteral("resources/help/keys.md");

/// "| `Ctrl+W`, `Ctrl+F4` | Close the model |" -> "Ctrl+W Ctrl+F4" and "Close the model".
struct Row {
    QString keys;
    QString description;
};

QList<Row> rowsOfThePage() {
    static const QRegularExpression rowPattern(QStringLiteral(R"(^\| (`.+`) \| (.+) \|$)"));
    QList<Row> rows;
    for (const QString& line : test::sourceLines(kPage)) {
        const QRegularExpressionMatch match = rowPattern.match(line);
        if (!match.hasMatch() || match.captured(1).contains(QChar(0x2026))) continue;  // "Ctrl+1 … Ctrl+9"
        QString keys = match.captured(1);
        keys.replace(QStringLiteral("`, `"), QStringLiteral(" ")).remove(QLatin1Char('`'));
        rows << Row{keys, match.captured(2)};
    }
    return rows;
}

}  // namespace

class TestHelpKeys : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyKeyOnThePageIsAnActions();
    void noRowStandsTwice();
};

void TestHelpKeys::everyKeyOnThePageIsAnActions() {
    const QList<Row> rows = rowsOfThePage();
    QVERIFY(rows.size() > 20);
    for (const Row& row : rows) {
        bool found = false;
        for (const actions::ActionInfo& info : actions::actionTable())
            found = found || (info.shortcuts == row.keys && info.toolTip == row.description);
        QVERIFY2(found, qPrintable(row.keys + QStringLiteral(": ") + row.description));
    }
}

void TestHelpKeys::noRowStandsTwice() {
    QSet<QString> seen;
    for (const Row& row : rowsOfThePage()) {
        QVERIFY2(!seen.contains(row.keys + row.description), qPrintable(row.description));
        seen << row.keys + row.description;
    }
}

QTEST_GUILESS_MAIN(TestHelpKeys)

}  // namespace tst_help_keys

#include "tst_help_keys.moc"
