// The help pages for people who come from other systems: every place of the window that they name is there, with its
// key.

#include <QtTest>

#include "tests/support/help_page.h"
#include "ui/actions/action_table.h"
#include "ui/window/panel_table.h"

namespace tst_help_places {

using namespace sonde;
using test::HelpPage;

namespace {

QString plainText(QString text) { return text.remove(u'&').remove(QStringLiteral("…")); }

bool hasKey(const QString& keys, const QString& wanted) {
    return wanted.isEmpty() || keys.split(u' ').contains(wanted);
}

/// "Run ▸ Compare" is a submenu, "Run ▸ Watch Point" an action.
bool isInMenus(const QStringList& path, const QString& key) {
    const QString menu = path.mid(0, path.size() - 1).join(u'/');
    for (const actions::ActionInfo& info : actions::actionTable()) {
        const QString own = info.menu.endsWith(u'-') ? info.menu.chopped(1) : info.menu;
        if (own == path.join(u'/') && key.isEmpty()) return true;
        if (own == menu && plainText(info.text) == path.back() && hasKey(info.shortcuts, key)) return true;
    }
    return false;
}

/// "Panels ▸ Tracing" is a panel, "Panels ▸ Tracing ▸ Trace Again" a control of it: text in the code of the panels.
bool isInPanels(const QStringList& path, const QString& key) {
    for (const panels::PanelInfo& info : window::panelTable()) {
        if (info.title != path.value(1) || !hasKey(info.shortcut, key)) continue;
        if (path.size() == 2) return true;
        for (const QString& file : test::sourceFiles({"ui/panels"}, {"*.cpp"}))
            if (plainText(test::sourceLines(file).join(u'\n')).contains("tr(\"" + path[2] + "\")")) return true;
    }
    return false;
}

/// "Run ▸ Watch Point (F9)".
bool isThere(const QString& place) {
    static const QRegularExpression parts(QStringLiteral(R"(^(.+?)(?: \(([^()]+)\))?$)"));
    const QRegularExpressionMatch match = parts.match(place);
    const QStringList path = match.captured(1).split(QStringLiteral(" ▸ "));
    return path.front() == u"Panels" ? isInPanels(path, match.captured(2)) : isInMenus(path, match.captured(2));
}

}  // namespace

class TestHelpPlaces : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyPlaceIsThere_data() {
        QTest::addColumn<QString>("name");
        const QStringList pages = test::checkedHelpPages()
                                  << QStringLiteral("what-if.md") << QStringLiteral("why-this-value.md");
        for (const QString& name : pages) QTest::newRow(qPrintable(name)) << name;
    }
    void everyPlaceIsThere() {
        QFETCH(QString, name);
        const QStringList places = test::readHelpPage(name).places;
        QVERIFY(places.size() >= 2);
        for (const QString& place : places) QVERIFY2(isThere(place), qPrintable(place));
    }
    void whatIsMissingIsFound() {
        QVERIFY(isThere("Run ▸ Watch Point (F9)") && isThere("Run ▸ Compare") && isThere("Panels ▸ Tracing (Alt+8)"));
        QVERIFY(isThere("Panels ▸ Tracing ▸ Trace Again"));
        QVERIFY(!isThere("Run ▸ Watch Point (F8)") && !isThere("Run ▸ Look") && !isThere("Panels ▸ Tracing (Alt+9)"));
        QVERIFY(!isThere("Panels ▸ Tracing ▸ Trace Twice") && !isThere("Panels ▸ Nothing"));
    }
};

QTEST_MAIN(TestHelpPlaces)

}  // namespace tst_help_places

#include "tst_help_places.moc"
