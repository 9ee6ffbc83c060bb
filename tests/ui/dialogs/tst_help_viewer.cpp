// The pages of the help as people see them: no column is so narrow that code breaks inside of a word.

#include <QListWidget>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextTable>
#include <QtTest>

#include "ui/dialogs/help_tables.h"
#include "ui/dialogs/help_viewer.h"
#include "ui/theme/theme.h"

namespace tst_help_viewer {

using namespace sonde;

namespace {

QString textOf(const QTextTable& table, int row, int column) {
    QTextCursor cursor = table.cellAt(row, column).firstCursorPosition();
    cursor.setPosition(table.cellAt(row, column).lastCursorPosition().position(), QTextCursor::KeepAnchor);
    return cursor.selectedText().replace(QChar::ParagraphSeparator, u'\n');
}

QList<QTextTable*> tablesOf(const QTextDocument& page) {
    QList<QTextTable*> tables;
    for (QTextFrame* frame : page.rootFrame()->childFrames())
        if (auto* table = qobject_cast<QTextTable*>(frame)) tables << table;
    return tables;
}

}  // namespace

class TestHelpViewer : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { theme::Theme::instance().install(*qApp); }
    void wideTablesAreFolded();
    void pagesFitBesideTheirList_data();
    void pagesFitBesideTheirList();
    void itFitsIntoASmallWindow();
    void pagesTakeTheColoursOfTheTheme();
};

void TestHelpViewer::wideTablesAreFolded() {
    const QString call = QStringLiteral("`%1`").arg(QString(60, u'f'));
    QTextDocument page;
    page.setMarkdown(
        "| Their | C++ | command line | window |\n| --- | --- | --- | --- |\n| `tm(x)` | " + call +
        " | `sonde run a b` | **Run** (F5) |\n| `wrap(f)` | `trace::wrap` | – | – |\n| `none` | – | – | – |"
        "\n\nText.\n\n| a | b | c |\n| --- | --- | --- |\n| `1` | 2 | – |\n");
    dialogs::foldWideTables(page);
    const QList<QTextTable*> tables = tablesOf(page);
    QCOMPARE(tables.size(), 2);
    QCOMPARE(tables[0]->columns(), 2);
    QCOMPARE(tables[0]->rows(), 4);
    QCOMPARE(textOf(*tables[0], 0, 0), QStringLiteral("Their"));
    QCOMPARE(textOf(*tables[0], 0, 1), QStringLiteral("C++, command line, window"));
    QCOMPARE(textOf(*tables[0], 1, 0), QStringLiteral("tm(x)"));
    QCOMPARE(textOf(*tables[0], 1, 1), "C++: " + QString(60, u'f') + "\ncommand line: sonde run a b\nwindow: Run (F5)");
    QCOMPARE(textOf(*tables[0], 2, 1), QStringLiteral("C++: trace::wrap"));
    QCOMPARE(textOf(*tables[0], 3, 1), QStringLiteral("–"));
    // Code stays code, and bold text bold.
    const QTextBlock first = tables[0]->cellAt(1, 1).firstCursorPosition().block();
    auto piece = first.begin();
    QVERIFY(!piece.fragment().charFormat().fontFixedPitch());
    QVERIFY((++piece).fragment().charFormat().fontFixedPitch());
    // One that fits stays as it is.
    QCOMPARE(tables[1]->columns(), 3);
    QCOMPARE(textOf(*tables[1], 1, 2), QStringLiteral("–"));
}

void TestHelpViewer::pagesFitBesideTheirList_data() {
    QTest::addColumn<QString>("page");
    for (const QString& page : dialogs::HelpViewer::pageIds()) QTest::newRow(qPrintable(page)) << page;
}

void TestHelpViewer::pagesFitBesideTheirList() {
    QFETCH(QString, page);
    QWidget window;
    window.resize(1280, 720);
    dialogs::HelpViewer help(&window);
    help.showPage(page);
    help.show();
    QVERIFY(QTest::qWaitForWindowExposed(&help));
    QVERIFY(help.browser()->toPlainText().size() > 100);
    QCOMPARE(help.browser()->horizontalScrollBar()->maximum(), 0);
    // No line of code ends inside of a word that a line of its own would hold.
    QTextDocument& document = *help.browser()->document();
    for (const QTextTable* table : tablesOf(document))
        for (int column = 0; column < table->columns(); ++column)
            for (int row = 0; row < table->rows(); ++row)
                for (QTextBlock block = table->cellAt(row, column).firstCursorPosition().block();
                     block.isValid() && block.position() <= table->cellAt(row, column).lastPosition();
                     block = block.next()) {
                    const QTextLayout& layout = *block.layout();
                    for (int line = 0; line + 1 < layout.lineCount(); ++line) {
                        const int end = layout.lineAt(line).textStart() + layout.lineAt(line).textLength();
                        const bool isInWord =
                            block.text().at(end - 1).isLetterOrNumber() && block.text().at(end).isLetterOrNumber();
                        QVERIFY2(!isInWord, qPrintable(block.text()));
                    }
                }
}

void TestHelpViewer::itFitsIntoASmallWindow() {
    QWidget window;
    window.resize(800, 600);
    const dialogs::HelpViewer help(&window);
    QVERIFY(help.width() <= 800 && help.height() <= 600);
}

void TestHelpViewer::pagesTakeTheColoursOfTheTheme() {
    dialogs::HelpViewer help;
    help.showPage(QStringLiteral("from-torch-fx"));
    for (const auto mode : {theme::Theme::Mode::Dark, theme::Theme::Mode::HighContrast, theme::Theme::Mode::Light}) {
        theme::Theme::instance().setMode(mode);
        QCOMPARE(help.pages()->currentItem()->text(), QStringLiteral("Coming from torch.fx"));
        const QTextTableCell cell = tablesOf(*help.browser()->document()).front()->cellAt(1, 1);
        const QTextFragment caption = cell.firstCursorPosition().block().begin().fragment();
        QCOMPARE(caption.text(), QStringLiteral("C++: "));
        QCOMPARE(caption.charFormat().foreground().color(), theme::color(theme::ColorRole::MutedText));
    }
}

QTEST_MAIN(TestHelpViewer)

}  // namespace tst_help_viewer

#include "tst_help_viewer.moc"
