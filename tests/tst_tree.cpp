// Facts about the tree that reviews forget: what stands at the top, where colours and keys may be written, that no
// unfinished word is left, that every operator file and every test does what its name says.

#include "tests/support/source_tree.h"

#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

using sonde::test::sourceFiles;
using sonde::test::sourceLines;
using sonde::test::sourcePath;

namespace {

/// "file:line: text" of every line below `folders` that matches, comments left out if wanted.
QStringList linesThatMatch(const QStringList& folders, const QRegularExpression& pattern, bool codeOnly) {
    static const QRegularExpression comment(QStringLiteral(R"((^|\s)//.*$)"));
    QStringList found;
    for (const QString& file : sourceFiles(folders, {"*.h", "*.cpp"})) {
        int number = 0;
        for (QString line : sourceLines(file)) {
            ++number;
            if (codeOnly) line.remove(comment);
            if (pattern.match(line).hasMatch())
                found << QStringLiteral("%1:%2: %3").arg(file).arg(number).arg(line.trimmed());
        }
    }
    return found;
}

QString text(const QString& file) { return sourceLines(file).join(u'\n'); }

}  // namespace

class TestTree : public QObject {
    Q_OBJECT

  private slots:
    void topLevelIsFixed();
    void scriptsCanBeExecuted();
    void ciRunsTheSameTestsAsUsers();
    void coloursStandInTheThemeAlone();
    void keysStandInTheActionTableAlone();
    void nothingIsUnfinishedByItsOwnWords();
    void everyOperatorFileDefinesItsOperators();
    void everyTestAsserts();
    void testsAreSkippedOnlyForMissingReferenceSets();
    void noFileIsTooLongToRead();
    void nothingOpensTheNetwork();
    void linksInPagesLeadSomewhere();
    void coreLinksNoWidgets();
};

void TestTree::topLevelIsFixed() {
    const QSet<QString> expected{"CMakeLists.txt",
                                 "CMakePresets.json",
                                 "app",
                                 "core",
                                 "ui",
                                 "resources",
                                 "tests",
                                 "installer",
                                 "README.md",
                                 "CHANGELOG.md",
                                 "CONTRIBUTING.md",
                                 "LICENSE",
                                 ".clang-format",
                                 ".clang-tidy",
                                 ".gitignore",
                                 ".ci"};
    // What a user's tools leave beside the sources is not ours to judge.
    const QRegularExpression ignored(
        QStringLiteral(R"(^(build.*|\.git|\.cache|\.vscode|\.idea|.*\.user|compile_commands\.json)$)"));
    QSet<QString> seen;
    for (const QString& entry :
         QDir(sourcePath(".")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)) {
        if (!ignored.match(entry).hasMatch()) seen << entry;
    }
    const QStringList extra = (seen - expected).values();
    const QStringList missing = (expected - seen).values();
    QVERIFY2(extra.isEmpty(), qPrintable("does not belong here: " + extra.join(u' ')));
    QVERIFY2(missing.isEmpty(), qPrintable("missing: " + missing.join(u' ')));
}

void TestTree::scriptsCanBeExecuted() {
    for (const char* script :
         {"installer/start.sh", "installer/test.sh", "installer/deps.sh", "installer/build.sh", "installer/skipped.sh", ".ci/run", ".ci/long"}) {
        QVERIFY2(QFileInfo(sourcePath(script)).isExecutable(), script);
    }
}

void TestTree::ciRunsTheSameTestsAsUsers() { QVERIFY(text(".ci/run").contains("./installer/test.sh")); }

void TestTree::coloursStandInTheThemeAlone() {
    const QRegularExpression colour(
        QStringLiteral(R"(QColor(\s+\w+)?\s*[({]\s*(0x|\d|Qt::|u?")|qRgba?\(\s*(0x|\d)|"#[0-9a-fA-F]{3,8}\b|)"
                       R"(\bQt::(dark)?(red|green|blue|cyan|magenta|yellow|gray|black|white)\b|\bQt::lightGray\b)"));
    QStringList found = linesThatMatch({"ui", "app"}, colour, true);
    found.removeIf([](const QString& line) { return line.startsWith(u"ui/theme/"); });
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
}

void TestTree::keysStandInTheActionTableAlone() {
    const QRegularExpression key(
        QStringLiteral(R"(\bQt::Key_\w+|QKeySequence\(\s*["uQ]|QStringLiteral\("(Ctrl|Shift|Alt)\+)"));
    QStringList found = linesThatMatch({"ui", "app"}, key, true);
    // What a control answers to while it has the focus is its own: any key in a reusable control, elsewhere those that
    // every control of its kind has.
    const QRegularExpression own(
        QStringLiteral(R"(\bQt::Key_(Left|Right|Up|Down|Home|End|PageUp|PageDown|Return|Enter|Space|Escape)\b)"));
    // A panel brings its own key along: its PanelInfo is its row in the table of panels.
    const QRegularExpression panelKey(QStringLiteral(R"(QStringLiteral\("Alt\+(Shift\+)?\d"\))"));
    found.removeIf([&](const QString& line) {
        if (line.startsWith(u"ui/actions/")) return true;
        if (line.startsWith(u"ui/panels/") && panelKey.match(line).hasMatch()) return true;
        if (line.startsWith(u"ui/widgets/") && line.contains(u"case Qt::Key_")) return true;
        return !key.match(QString(line).remove(own)).hasMatch();
    });
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
}

void TestTree::nothingIsUnfinishedByItsOwnWords() {
    const QRegularExpression word(
        QStringLiteral(R"(TODO|FIXME|XXX|HACK|\bnot (yet )?implemented\b|\bdummy\b|\bfor now\b)"));
    const QStringList found = linesThatMatch({"app", "core", "ui"}, word, false);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
}

void TestTree::everyOperatorFileDefinesItsOperators() {
    const QDir ops(sourcePath("core/ops"));
    const QStringList files = ops.entryList({"*.cpp"}, QDir::Files);
    for (const QString& file : files) {
        const QString function = QStringLiteral("void define_%1(Registry&").arg(QFileInfo(file).baseName());
        QVERIFY2(text("core/ops/" + file).contains(function), qPrintable(file + " lacks " + function));
    }
}

void TestTree::everyTestAsserts() {
    const QRegularExpression assertion(QStringLiteral(R"(\bQ(COMPARE|VERIFY|TRY_|FAIL))"));
    const QStringList tests = sourceFiles({"tests"}, {"tst_*.cpp"});
    QVERIFY(tests.size() >= 2);
    for (const QString& test : tests) QVERIFY2(assertion.match(text(test)).hasMatch(), qPrintable(test));
}

void TestTree::testsAreSkippedOnlyForMissingReferenceSets() {
    const QString skip = QStringLiteral("QSK") + QStringLiteral("IP(");
    const QString sets = QStringLiteral("tests/support/reference_sets.h"), variable = QStringLiteral("SONDE_") + QStringLiteral("SHARED");
    QVERIFY(text(sets).contains(variable));
    for (const QString& test : sourceFiles({"tests"}, {"*.cpp", "*.h"})) {
        const QString body = text(test);
        // … or a tool that is no part of the set-up and only looks at what was made, or what takes so long that it is asked for.
        const bool reason = body.contains(u"findExecutable") || body.contains(u"qEnvironmentVariableIsSet");
        QVERIFY2(!body.contains(skip) || test == sets || reason, qPrintable(test));
        // What runs a second time with the sets is found by who includes that header: no other file may look for them.
        const bool looks = body.contains(variable) || body.contains(QStringLiteral("../") + QStringLiteral("shared"));
        QVERIFY2(!looks || test == sets, qPrintable(test + " looks for the large sets without " + sets));
        QVERIFY2(!body.contains(QStringLiteral("QEXPECT_F") + QStringLiteral("AIL")), qPrintable(test));
    }
}

void TestTree::noFileIsTooLongToRead() {
    for (const QString& file : sourceFiles({"app", "core", "ui", "tests"}, {"*.h", "*.cpp"})) {
        const auto lines = sourceLines(file).size();
        QVERIFY2(lines <= 601, qPrintable(QStringLiteral("%1 has %2 lines: split it by meaning").arg(file).arg(lines)));
    }
}

void TestTree::nothingOpensTheNetwork() {
    // Sockets between the program and its own helpers are no network.
    const QRegularExpression network(QStringLiteral(
        R"(#\s*include\s*<(Q(Network|Tcp|Udp|Ssl|WebSocket|Host)\w*|netinet/\w+\.h|arpa/\w+\.h|netdb\.h|curl/.*)>|)"
        R"(\b(AF|PF)_INET6?\b|\bgetaddrinfo\b)"));
    const QStringList found = linesThatMatch({"app", "core", "ui"}, network, false);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
}

void TestTree::linksInPagesLeadSomewhere() {
    static const QRegularExpression link(QStringLiteral(R"(\]\(([^)#:]+)\))"));
    QStringList pages = sourceFiles({"resources", "tests/data/models"}, {"*.md"});
    pages << "README.md"
          << "CONTRIBUTING.md"
          << "CHANGELOG.md";
    QStringList broken;
    for (const QString& page : pages) {
        const QDir folder = QFileInfo(sourcePath(page)).dir();
        QRegularExpressionMatchIterator links = link.globalMatch(text(page));
        while (links.hasNext()) {
            const QString target = links.next().captured(1);
            if (!folder.exists(target)) broken << page + ": " + target;
        }
    }
    QVERIFY2(broken.isEmpty(), qPrintable(broken.join(u'\n')));
}

void TestTree::coreLinksNoWidgets() {
    // A test of core is the library and Qt Test: what the loader would need shows whether a window came along.
    QProcess readelf;
    readelf.start("readelf", {"-d", QCoreApplication::applicationFilePath()});
    QVERIFY2(readelf.waitForFinished(), "readelf comes with the compiler");
    const QString needed = QString::fromLocal8Bit(readelf.readAllStandardOutput());
    QVERIFY(needed.contains("libQt6Test"));
    for (const char* library : {"libQt6Widgets", "libQt6Gui", "libQt6Svg"})
        QVERIFY2(!needed.contains(library), library);
}

QTEST_GUILESS_MAIN(TestTree)
#include "tst_tree.moc"
