// The keys of the whole window, panels included: none that desktops and consoles take before any program hears them, no
// two alike, and the same in help, README and table.

#include <QRegularExpression>
#include <QtTest>

#include "tests/support/source_tree.h"
#include "ui/actions/action_registry.h"
#include "ui/window/panel_table.h"

namespace tst_window_keys {

using namespace sonde;
using actions::ActionInfo;
using actions::ActionRegistry;

class TestWindowKeys : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void noKeyBelongsToTheDesktop();
    void noTwoActionsShareAKey();
    void pagesNameOnlyKeysThatAreThere();
    void theKeyPageHasEveryAction();

  private:
    std::unique_ptr<ActionRegistry> m_registry;
};

void TestWindowKeys::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_window_keys"));
    QStandardPaths::setTestModeEnabled(true);
    QSettings().clear();
    m_registry = std::make_unique<ActionRegistry>();
    for (const panels::PanelInfo& info : window::panelTable()) {
        ActionInfo row;
        row.id = QStringLiteral("panel.") + info.id;
        row.text = info.title;
        row.menu = QStringLiteral("Panels");
        row.shortcuts = info.shortcut;
        m_registry->add(row);
    }
}

/// X servers change consoles with Ctrl+Alt+F1 … F12, GNOME, KDE and Xfce change desktops with Ctrl+Alt+arrows; on most
/// desktops Ctrl+Alt+T opens a terminal, Ctrl+Alt+L locks the screen, Ctrl+Alt+D shows the desktop, Ctrl+Alt+Delete
/// ends the session and Alt+F-keys are those of the window's frame; the Meta key is the desktop's altogether.
void TestWindowKeys::noKeyBelongsToTheDesktop() {
    const QSet<int> letters{Qt::Key_T, Qt::Key_L, Qt::Key_D, Qt::Key_Delete, Qt::Key_Backspace, Qt::Key_Tab};
    for (const QString& id : m_registry->ids())
        for (const QKeySequence& keys : m_registry->defaultShortcuts(id)) {
            const int key = keys[0].key();
            const Qt::KeyboardModifiers modifiers = keys[0].keyboardModifiers();
            const bool arrow = key == Qt::Key_Left || key == Qt::Key_Right || key == Qt::Key_Up ||
                               key == Qt::Key_Down || key == Qt::Key_Home || key == Qt::Key_End ||
                               key == Qt::Key_PageUp || key == Qt::Key_PageDown;
            const bool function = key >= Qt::Key_F1 && key <= Qt::Key_F35;
            const bool ctrlAlt = modifiers.testFlag(Qt::ControlModifier) && modifiers.testFlag(Qt::AltModifier);
            const bool shifted = modifiers.testFlag(Qt::ShiftModifier);
            const QByteArray what = (id + ": " + keys.toString()).toLocal8Bit();
            QVERIFY2(!ctrlAlt || !(arrow || function), what.constData());
            QVERIFY2(!ctrlAlt || shifted || !letters.contains(key), what.constData());
            QVERIFY2(modifiers != Qt::AltModifier ||
                         !(function || key == Qt::Key_Space || key == Qt::Key_Tab || key == Qt::Key_Escape),
                     what.constData());
            QVERIFY2(!modifiers.testFlag(Qt::MetaModifier), what.constData());
        }
}

void TestWindowKeys::noTwoActionsShareAKey() {
    for (const QString& id : m_registry->ids())
        for (const QKeySequence& key : m_registry->defaultShortcuts(id))
            QVERIFY2(m_registry->conflicts(id, key).isEmpty(),
                     qPrintable(id + " and " + m_registry->conflicts(id, key).join(' ') + ": " + key.toString()));
}

/// "Ctrl+Shift+Up", "Shift+F8", "F5" in the README and the help are keys of some action, unless the mouse is meant.
void TestWindowKeys::pagesNameOnlyKeysThatAreThere() {
    QSet<QString> known;
    for (const QString& id : m_registry->ids())
        for (const QKeySequence& key : m_registry->defaultShortcuts(id))
            known << key.toString(QKeySequence::PortableText);
    static const QRegularExpression named(QStringLiteral(
        R"(\b((?:Ctrl\+|Alt\+|Shift\+)+(?:F\d+|Page (?:Up|Down)|Pg(?:Up|Down)|[A-Z][a-z]+|[a-z]+|[^\s`|)])|F\d{1,2}\b))"));
    static const QRegularExpression mouse(QStringLiteral(R"(\+(wheel|drag|click)$)"));
    QStringList pages = test::sourceFiles({"resources/help"}, {"*.md"});
    pages << QStringLiteral("README.md");
    int found = 0;
    for (const QString& page : pages) {
        for (const QString& line : test::sourceLines(page)) {
            QRegularExpressionMatchIterator each = named.globalMatch(line);
            while (each.hasNext()) {
                QString key = each.next().captured(1);
                key.replace(QStringLiteral("Page Up"), QStringLiteral("PgUp"))
                    .replace(QStringLiteral("Page Down"), QStringLiteral("PgDown"));
                key.replace(QStringLiteral("Escape"), QStringLiteral("Esc"));
                if (mouse.match(key).hasMatch()) continue;
                const QString normal =
                    QKeySequence::fromString(key, QKeySequence::PortableText).toString(QKeySequence::PortableText);
                QVERIFY2(known.contains(normal), qPrintable(page + " names " + key + ": " + line));
                ++found;
            }
        }
    }
    QVERIFY(found > 150);
}

/// Actions that the window binds are on the page of keys with their keys; see tst_help_keys for the reverse.
void TestWindowKeys::theKeyPageHasEveryAction() {
    const QString page = test::sourceLines(QStringLiteral("resources/help/keys.md")).join(u'\n');
    QString bound;
    for (const QString& file : test::sourceFiles({"ui/window"}, {"*.cpp"}))
        bound += test::sourceLines(file).join(u'\n');
    int rows = 0;
    for (const ActionInfo& info : actions::actionTable()) {
        if (!bound.contains(u'"' + info.id + u'"') || info.id.startsWith(QStringLiteral("go.walk")) ||
            info.id.startsWith(QStringLiteral("go.bookmark_")))
            continue;
        const QString row = QStringLiteral("| `") + QString(info.shortcuts).replace(u' ', QStringLiteral("`, `")) +
                            QStringLiteral("` | ") + info.toolTip + QStringLiteral(" |");
        QVERIFY2(page.contains(row), qPrintable(info.id + ": " + row));
        ++rows;
    }
    QVERIFY(rows > 70);
}

QTEST_MAIN(TestWindowKeys)

}  // namespace tst_window_keys

#include "tst_window_keys.moc"
