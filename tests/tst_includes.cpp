// Holds every include of core, ui and app against the table of folders, so that the picture of the architecture
// (CONTRIBUTING.md, "Where things are") cannot drift from the code.

#include <QFileInfo>
#include <QHash>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

#include "tests/support/include_graph.h"
#include "tests/support/source_tree.h"

namespace tst_includes {

using sonde::test::sourceFiles;
using sonde::test::sourceLines;
using sonde::test::sourcePath;

namespace {

/// One folder and what it may include directly; what its targets may include follows.
struct Rule {
    const char* folder;
    QStringList mayInclude;
};

// clang-format off
const QStringList kCore{"core/base",   "core/tensor", "core/operators", "core/ops",          "core/graph",    "core/trace",
                        "core/expression",
                        "core/nn",     "core/zoo",    "core/exec",         "core/analysis", "core/io",
                        "core/passes", "core/layout", "core/layout/engine", "core/io/torchscript",
                        "core/io/traced_module", "core/io/dump"};
// clang-format on
const QStringList kUi{"ui/context", "ui/models", "ui/theme",   "ui/actions", "ui/widgets",
                      "ui/canvas",  "ui/report", "ui/dialogs", "ui/panels"};

const QList<Rule>& rules() {
    static const QList<Rule> table{
        {"core/base", {}},
        {"core/tensor", {"core/base"}},
        {"core/expression", {"core/tensor"}},
        {"core/operators", {"core/tensor"}},
        {"core/ops", {"core/tensor", "core/operators"}},
        {"core/graph", {"core/tensor", "core/operators"}},
        {"core/trace", {"core/graph"}},
        {"core/nn", {"core/trace"}},
        {"core/zoo", {"core/nn"}},
        {"core/passes", {"core/graph"}},
        {"core/exec", {"core/graph", "core/ops"}},
        {"core/analysis", {"core/exec", "core/expression"}},
        {"core/io", {"core/graph"}},
        // An archive's classes are modules for the tracers, and its code calls operators by their schemas.
        {"core/io/torchscript", {"core/io", "core/trace", "core/ops"}},
        // A traced module is saved with its graphs.
        {"core/io/traced_module", {"core/io", "core/trace"}},
        // Values and types look alike in both files: how is written down once.
        {"core/io/dump", {"core/expression", "core/io", "core/io/traced_module"}},
        {"core/layout/engine", {"core/base"}},
        {"core/layout", {"core/graph", "core/layout/engine"}},
        {"core/document", kCore},
        {"core/export", {"core/document"}},
        {"core/ort", {"core/export"}},
        {"core/lessons", {"core/analysis"}},
        {"core/session", {"core/document", "core/export", "core/ort", "core/lessons"}},
        {"ui/context", {"core/session", "core/export", "core/ort"}},
        {"ui/models", {"ui/context"}},
        {"ui/theme", {}},
        {"ui/actions", {"ui/theme"}},
        {"ui/widgets", {"ui/theme"}},
        {"ui/canvas", {"ui/models", "ui/theme"}},
        {"ui/report", {"ui/canvas"}},
        {"ui/panels", {"ui/models", "ui/theme", "ui/actions", "ui/widgets"}},
        {"ui/dialogs", {"ui/models", "ui/theme", "ui/actions", "ui/widgets"}},
        {"ui/window", kUi},
        {"app", {"ui/window", "core/session", "core/export", "core/ort"}},
    };
    return table;
}

/// The rule's folder that holds the file: the longest that fits, so that core/layout/engine comes before core/layout.
/// core/exec.h, the umbrella of core/exec, belongs to it.
QString folderOf(const QString& file) {
    QString best;
    for (const Rule& rule : rules()) {
        const QString folder = QString::fromLatin1(rule.folder);
        const bool isInside = file.startsWith(folder + u'/') || file == folder + QLatin1String(".h");
        if (isInside && folder.size() > best.size()) best = folder;
    }
    return best;
}

/// `ui/panels/watch_list/watch_list_panel.cpp` -> `watch_list`; empty for files that belong to no one panel.
QString panelOf(const QString& file) {
    const QStringList parts = file.split(u'/');
    return parts.size() > 3 && file.startsWith(QLatin1String("ui/panels/")) ? parts.at(2) : QString();
}

/// core/exec.h: for programs outside, includes from all of core/exec what they may use, and nobody here includes it
/// (tst_public_headers).
bool isUmbrella(const QString& file) {
    return file.count(u'/') == 1 && file.startsWith(QLatin1String("core/")) && file.endsWith(QLatin1String(".h"));
}

struct Include {
    QString file;
    int line = 0;
    QString target;
    bool quoted = false;

    QByteArray describe(const QString& why) const {
        return QStringLiteral("%1:%2 includes %3: %4").arg(file).arg(line).arg(target, why).toUtf8();
    }
};

QList<Include> includesBelow(const QStringList& folders) {
    // \x22 is ": moc takes a quote in this literal for the end of a string, and does not see the namespace.
    static const QRegularExpression pattern(QStringLiteral(R"(^\s*#\s*include\s*([<\x22])([^>\x22]+)[>\x22])"));
    QList<Include> found;
    for (const QString& file : sourceFiles(folders, {"*.h", "*.cpp", "*.in"})) {
        int number = 0;
        for (const QString& line : sourceLines(file)) {
            ++number;
            const QRegularExpressionMatch match = pattern.match(line);
            if (match.hasMatch()) found << Include{file, number, match.captured(2), match.captured(1) == u"\""};
        }
    }
    return found;
}

/// Adds what the targets may include, until nothing changes.
void addIndirect(QHash<QString, QSet<QString>>& table) {
    for (bool changed = true; changed;) {
        changed = false;
        for (QSet<QString>& targets : table) {
            const QSet<QString> before = targets;
            for (const QString& target : before) targets.unite(table.value(target));
            changed |= targets != before;
        }
    }
}

/// CONTRIBUTING.md, "Where things are", row by row: `core/exec` | … | graph, ops. A name without a slash is a folder of
/// the same top-level folder or itself such a folder: "core" and "all of core" are everything in it, "all above" the
/// rows of the same top-level folder that come before.
QHash<QString, QSet<QString>> writtenTable() {
    static const QRegularExpression row(QStringLiteral(R"(^\| `((?:core|ui|app)(?:/[\w/]+)?)` \|[^|]*\| ([^|]*) \|$)"));
    QHash<QString, QStringList> cells;
    QStringList rows;
    for (const QString& line : sourceLines(QStringLiteral("CONTRIBUTING.md"))) {
        const QRegularExpressionMatch match = row.match(line);
        if (!match.hasMatch()) continue;
        rows << match.captured(1);
        cells[rows.last()] = match.captured(2).split(QStringLiteral(", "));
    }
    QHash<QString, QSet<QString>> table;
    for (auto it = cells.cbegin(); it != cells.cend(); ++it) {
        QSet<QString>& targets = table[it.key()];
        for (QString name : it.value()) {
            if (name == u"\u2013" || name == u"Qt") continue;
            if (name == u"all above") {
                for (const QString& above : rows.first(rows.indexOf(it.key())))
                    if (above.section(u'/', 0, 0) == it.key().section(u'/', 0, 0)) targets << above;
                continue;
            }
            name.remove(QStringLiteral("all of "));
            if (name != u"core" && name != u"ui") {
                targets << (name.contains(u'/') && (name.startsWith(u"core/") || name.startsWith(u"ui/"))
                                ? name
                                : it.key().section(u'/', 0, 0) + u'/' + name);
                continue;
            }
            for (const QString& folder : cells.keys())
                if (folder.startsWith(name + u'/') && folder != it.key()) targets << folder;
        }
    }
    return table;
}

QString listed(const QSet<QString>& folders) {
    QStringList names = folders.values();
    names.sort();
    return names.join(QStringLiteral(", "));
}

}  // namespace

class TestIncludes : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase();
    void everyFolderHasARule();
    void includesAreRootedAtTheRepository();
    void foldersIncludeOnlyWhatTheTableAllows();
    void theTableItselfHasNoCycle();
    void contributingHasTheSameTable();
    void noPanelIncludesAnother();
    void theLayoutHelperKnowsNoGraph();
    void coreHasNoQt();
    void modelsAndContextHaveNoWidgets();
    void eigenStaysOutOfHeaders();
    void headersIncludeEachOtherWithoutCycles();
    void unitsAndFoldersHaveNoCycles();
    void cyclesAreFound_data();
    void cyclesAreFound();

  private:
    QHash<QString, QSet<QString>> m_allowed;  ///< transitive closure of the table
    QList<Include> m_includes;
};

void TestIncludes::initTestCase() {
    for (const Rule& rule : rules()) {
        m_allowed[rule.folder] = QSet<QString>(rule.mayInclude.begin(), rule.mayInclude.end());
    }
    addIndirect(m_allowed);
    m_includes = includesBelow({"core", "ui", "app"});
    QVERIFY(!m_includes.isEmpty());
}

void TestIncludes::everyFolderHasARule() {
    for (const QString& file : sourceFiles({"core", "ui", "app"}, {"*.h", "*.cpp"})) {
        QVERIFY2(!folderOf(file).isEmpty(), qPrintable(file + ": its folder is not in the table"));
    }
}

void TestIncludes::includesAreRootedAtTheRepository() {
    for (const Include& include : m_includes) {
        if (!include.quoted || include.target.endsWith(QLatin1String(".moc"))) continue;
        QVERIFY2(QFileInfo::exists(sourcePath(include.target)),
                 include.describe("not a path from the root of the repository").constData());
    }
}

void TestIncludes::foldersIncludeOnlyWhatTheTableAllows() {
    for (const Include& include : m_includes) {
        if (!include.quoted || isUmbrella(include.file)) continue;
        const QString from = folderOf(include.file);
        const QString to = folderOf(include.target);
        if (from.isEmpty() || to.isEmpty() || from == to) continue;
        QVERIFY2(m_allowed.value(from).contains(to), include.describe(from + " may not include " + to).constData());
    }
}

void TestIncludes::theTableItselfHasNoCycle() {
    for (auto it = m_allowed.cbegin(); it != m_allowed.cend(); ++it) {
        QVERIFY2(!it.value().contains(it.key()), qPrintable(it.key() + " reaches itself"));
    }
}

void TestIncludes::contributingHasTheSameTable() {
    QHash<QString, QSet<QString>> written = writtenTable();
    addIndirect(written);
    QStringList differences;
    for (auto it = m_allowed.cbegin(); it != m_allowed.cend(); ++it) {
        if (!written.contains(it.key())) differences << it.key() + " is missing in CONTRIBUTING.md";
        else if (written[it.key()] != it.value())
            differences << QStringLiteral("%1 may include [%2], CONTRIBUTING.md says [%3]")
                               .arg(it.key(), listed(it.value()), listed(written[it.key()]));
    }
    for (auto it = written.cbegin(); it != written.cend(); ++it)
        if (!m_allowed.contains(it.key())) differences << it.key() + " of CONTRIBUTING.md has no rule here";
    QVERIFY2(differences.isEmpty(), qPrintable(differences.join(u'\n')));
}

void TestIncludes::noPanelIncludesAnother() {
    for (const Include& include : m_includes) {
        const QString from = panelOf(include.file);
        const QString to = panelOf(include.target);
        if (from.isEmpty() || to.isEmpty()) continue;
        QVERIFY2(from == to, include.describe("panels meet only in the context").constData());
    }
}

void TestIncludes::theLayoutHelperKnowsNoGraph() {
    for (const Include& include : m_includes) {
        if (!include.quoted || include.file != u"app/layout_worker_main.cpp") continue;
        const QString to = folderOf(include.target);
        QVERIFY2(to == u"core/layout/engine" || to == u"core/base",
                 include.describe("the helper process is small: engine and base only").constData());
    }
}

void TestIncludes::coreHasNoQt() {
    for (const Include& include : m_includes) {
        if (!include.file.startsWith(QLatin1String("core/"))) continue;
        QVERIFY2(include.quoted || !include.target.startsWith(u'Q'), include.describe("no Qt in core").constData());
    }
}

void TestIncludes::modelsAndContextHaveNoWidgets() {
    static const QRegularExpression widgets(QStringLiteral(
        "^(QtWidgets.*|QWidget|QApplication|QGraphics.*|Q\\w+View|Q\\w+Widget|Q\\w+Dialog|Q\\w+Button|Q\\w+Box|"
        "Q\\w+Layout|Q\\w*Label|QLineEdit|QMenu.*|QDock.*|QMainWindow|QStyle.*|QStyledItemDelegate)$"));
    for (const Include& include : m_includes) {
        const QString from = folderOf(include.file);
        if (include.quoted || (from != u"ui/models" && from != u"ui/context")) continue;
        QVERIFY2(!widgets.match(include.target).hasMatch(), include.describe("no Widgets here").constData());
    }
}

void TestIncludes::eigenStaysOutOfHeaders() {
    static const QRegularExpression eigen(QStringLiteral("(^|/)Eigen/"));
    QStringList sources;
    for (const Include& include : m_includes) {
        if (!eigen.match(include.target).hasMatch()) continue;
        QVERIFY2(include.file.startsWith(QLatin1String("core/")),
                 include.describe("tensor arithmetic belongs to core").constData());
        QVERIFY2(include.file.endsWith(QLatin1String(".cpp")), include.describe("Eigen only in .cpp").constData());
        sources << include.file;
    }
    // The rule is about something: README and the package list name Eigen because core computes with it.
    QVERIFY2(!sources.isEmpty(), "no file includes Eigen");
}

void TestIncludes::headersIncludeEachOtherWithoutCycles() {
    QHash<QString, QStringList> edges;
    for (const Include& include : m_includes) {
        if (include.quoted) edges[include.file] << include.target;
    }
    enum class Mark { Open, Done };
    QHash<QString, Mark> marks;
    QStringList path;
    const std::function<bool(const QString&)> visit = [&](const QString& file) {
        path << file;
        marks[file] = Mark::Open;
        for (const QString& next : edges.value(file)) {
            const auto mark = marks.constFind(next);
            if (mark == marks.cend() ? !visit(next) : *mark == Mark::Open) {
                if (mark != marks.cend()) path << next;
                return false;
            }
        }
        marks[file] = Mark::Done;
        path.removeLast();
        return true;
    };
    for (const QString& file : edges.keys()) {
        if (marks.contains(file)) continue;
        QVERIFY2(visit(file), qPrintable("a cycle: " + path.join(" -> ")));
    }
}

void TestIncludes::unitsAndFoldersHaveNoCycles() {
    sonde::test::IncludeGraph units;
    for (const Include& include : m_includes)
        if (include.quoted && !include.target.endsWith(QLatin1String(".moc")) && !isUmbrella(include.file))
            sonde::test::addInclude(units, include.file, include.line, include.target);
    QVERIFY(units.size() > 500);
    const QString cycles = sonde::test::cyclesText(units) + sonde::test::cyclesText(sonde::test::folderGraph(units));
    QVERIFY2(cycles.isEmpty(), qPrintable(cycles));
}

/// Cycles that are planted: the check above is worth what it finds.
void TestIncludes::cyclesAreFound_data() {
    QTest::addColumn<QStringList>("includes");  // "file target"
    QTest::addColumn<QList<QStringList>>("units");
    QTest::addColumn<QList<QStringList>>("folders");
    const QList<QStringList> none;
    QTest::newRow("none") << QStringList{"core/a/x.h core/a/y.h", "core/a/x.cpp core/a/x.h", "core/a/y.cpp core/b/z.h"}
                          << none << none;
    // No header includes itself by a detour, but neither unit can be understood without the other.
    QTest::newRow("through a source") << QStringList{"core/a/x.h core/a/y.h", "core/a/y.cpp core/a/x.h"}
                                      << QList<QStringList>{{"core/a/x", "core/a/y"}} << none;
    QTest::newRow("a source alone closes none")
        << QStringList{"core/a/x.h core/a/y.h", "core/a/z.cpp core/a/x.h", "core/a/z.cpp core/a/y.h"} << none << none;
    QTest::newRow("of three and of two") << QStringList{"core/a/p.cpp core/a/q.h", "core/a/q.cpp core/a/r.h",
                                                        "core/a/r.cpp core/a/p.h", "core/a/p.cpp core/b/s.h",
                                                        "core/b/s.cpp core/b/t.h", "core/b/t.h core/b/s.h"}
                                         << QList<QStringList>{{"core/b/s", "core/b/t"},
                                                               {"core/a/p", "core/a/q", "core/a/r"}}
                                         << none;
    QTest::newRow("folders") << QStringList{"core/a/sub/x.h core/a/y.h", "core/a/z.cpp core/a/sub/x.h"} << none
                             << QList<QStringList>{{"core/a", "core/a/sub"}};
    QTest::newRow("the front of a folder belongs to it")
        << QStringList{"core/a/sub/x.h core/a/y.h", "core/a/sub.cpp core/a/sub/x.h"} << none << none;
    QTest::newRow("a generated source") << QStringList{"core/a/x.cpp.in core/b/y.h", "core/b/y.cpp core/a/x.h"}
                                        << QList<QStringList>{{"core/a/x", "core/b/y"}}
                                        << QList<QStringList>{{"core/a", "core/b"}};
}

void TestIncludes::cyclesAreFound() {
    QFETCH(QStringList, includes);
    QFETCH(QList<QStringList>, units);
    QFETCH(QList<QStringList>, folders);
    sonde::test::IncludeGraph graph;
    for (const QString& include : includes)
        sonde::test::addInclude(graph, include.section(u' ', 0, 0), 1, include.section(u' ', 1));
    QCOMPARE(sonde::test::cyclesOf(graph), units);
    QCOMPARE(sonde::test::cyclesOf(sonde::test::folderGraph(graph)), folders);
}

QTEST_APPLESS_MAIN(TestIncludes)

}  // namespace tst_includes

#include "tst_includes.moc"
