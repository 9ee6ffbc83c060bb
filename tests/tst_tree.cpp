// Facts about the tree that reviews forget: what stands at the top, where colours and keys may be written, that no
// unfinished word is left, that every operator file and every test does what its name says.

#include <QDirIterator>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

#include "tests/support/source_tree.h"
#include "tests/support/test_functions.h"

namespace tst_tree {

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

/// Files whose comments may cite pages. This one has the patterns, and the one that finds the large sets their place.
QStringList citingFiles() {
    QStringList files = sourceFiles({"app", "core", "ui", "tests", "resources", "installer"},
                                    {"*.h", "*.cpp", "*.py", "*.sh", "*.txt", "*.cmake", "*.in"});
    files << ".ci/run"
          << ".ci/long"
          << ".ci/format"
          << ".ci/tidy"
          << ".ci/capture"
          << "CMakeLists.txt";
    files.removeAll("tests/tst_tree.cpp");
    files.removeAll("tests/support/reference_sets.h");
    return files;
}

/// The part behind "//" or "#" of each line that has one.
QStringList commentsOf(const QString& file) {
    static const QRegularExpression cpp(QStringLiteral(R"((?:^|[\s;{})])//.*$)")),
        script(QStringLiteral(R"((?:^|\s)#(?!include|pragma|define|if|else|endif).*$)"));
    const bool isCpp = file.endsWith(u".h") || file.endsWith(u".cpp");
    QStringList comments;
    for (const QString& line : sourceLines(file))
        if (const QRegularExpressionMatch match = (isCpp ? cpp : script).match(line); match.hasMatch())
            comments << match.captured();
    return comments;
}

/// The page that a comment of `file` means by `name`; empty if there is none.
QString pageOf(const QString& file, const QString& name) {
    for (const QString& page :
         {QStringLiteral("resources/reference/") + name, name, QFileInfo(file).path() + u'/' + name})
        if (QFileInfo::exists(sourcePath(page))) return page;
    return {};
}

QSet<QString> headings(const QString& page) {
    QSet<QString> titles;
    for (const QString& line : sourceLines(page))
        if (line.startsWith(u'#'))
            titles << QString(line).remove(QRegularExpression(QStringLiteral("^#+ +"))).trimmed();
    return titles;
}

/// The headers of tests/ that a test includes, those of headers too, and the sources beside them.
void collectTestHeaders(const QString& file, QStringList& headers) {
    static const QRegularExpression include(QStringLiteral(R"(#include "(tests/[^"]+))"));
    for (QRegularExpressionMatchIterator all = include.globalMatch(text(file)); all.hasNext();) {
        const QString header = all.next().captured(1);
        if (headers.contains(header)) continue;
        headers << header;
        collectTestHeaders(header, headers);
        const QString source = QString(header).replace(QStringLiteral(".h"), QStringLiteral(".cpp"));
        if (QFileInfo::exists(sourcePath(source))) headers << source;
    }
}

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
    void everyTestHasANamespaceOfItsOwn();
    void everyTestAsserts();
    void testsThatAssertNothingAreFound();
    void testsAreSkippedOnlyForMissingReferenceSets();
    void noFileIsTooLongToRead();
    void testDataStaysSmall();
    void nothingOpensTheNetwork();
    void linksInPagesLeadSomewhere();
    void commentsCitePagesOfTheRepository();
    void commentsCiteNoUnnamedReference();
    void theWindowHasOneWordForEachThing();
    void messagesUseTheTermsOfTheField();
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
                                 ".git-blame-ignore-revs",
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
         {"installer/start.sh", "installer/test.sh", "installer/deps.sh", "installer/build.sh", "installer/skipped.sh",
          ".ci/run", ".ci/long", ".ci/format", ".ci/tidy", ".ci/capture"}) {
        QVERIFY2(QFileInfo(sourcePath(script)).isExecutable(), script);
    }
}

void TestTree::ciRunsTheSameTestsAsUsers() {
    const QString run = text(".ci/run");
    for (const char* step : {"./installer/test.sh", ".ci/format", ".ci/tidy", "cmake --build --preset without-window"})
        QVERIFY2(run.contains(QLatin1String(step)), step);
}

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
    // every control of its kind has. An unknown key is none.
    const QRegularExpression own(QStringLiteral(
        R"(\bQt::Key_(unknown|Left|Right|Up|Down|Home|End|PageUp|PageDown|Return|Enter|Space|Escape)\b)"));
    // A panel brings its own key along: its PanelInfo is its row in the table of panels.
    const QRegularExpression panelKey(QStringLiteral(R"(QStringLiteral\("Alt\+(Shift\+)?[\dA-Z]"\))"));
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
    QStringList found = linesThatMatch({"app", "core", "ui"}, word, false);
    // PyTorch's own message, word for word.
    found.removeIf(
        [](const QString& line) { return line.contains(u"LU without pivoting is not implemented on the CPU"); });
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

void TestTree::everyTestHasANamespaceOfItsOwn() {
    // Tests of a folder are compiled together: outside there are only comments and what the preprocessor reads.
    for (const QString& test : sourceFiles({"tests"}, {"tst_*.cpp"})) {
        const QString name = QFileInfo(test).baseName();
        const QStringList lines = sourceLines(test);
        const auto begin = lines.indexOf("namespace " + name + " {"),
                   end = lines.lastIndexOf("}  // namespace " + name);
        QVERIFY2(begin >= 0 && end > begin, qPrintable(test + " has no namespace " + name));
        for (qsizetype i = 0; i < lines.size(); ++i) {
            const QString& line = lines[i];
            const bool outside = i < begin || i > end;
            if (!outside || line.isEmpty() || line.startsWith(u'#') || line.startsWith(QStringLiteral("//"))) continue;
            QFAIL(qPrintable(QStringLiteral("%1:%2: not in namespace %3").arg(test).arg(i + 1).arg(name)));
        }
    }
}

void TestTree::everyTestAsserts() {
    QStringList silent;
    qsizetype functions = 0;
    for (const QString& test : sourceFiles({"tests"}, {"tst_*.cpp"})) {
        QStringList headers;
        collectTestHeaders(test, headers);
        QStringList texts;
        for (const QString& header : headers) texts << text(header);
        const QString source = text(test);
        for (const QString& name : sonde::test::functionsThatAssertNothing(source, texts)) silent << test + ": " + name;
        const qsizetype count = sonde::test::testFunctionsOf(sonde::test::codeOnly(source)).size();
        QVERIFY2(count > 0, qPrintable(test + " has no test functions"));
        functions += count;
    }
    QVERIFY2(silent.isEmpty(), qPrintable("these test functions cannot fail:\n" + silent.join(u'\n')));
    QVERIFY2(functions > 1000, "the pattern finds functions");
}

void TestTree::testsThatAssertNothingAreFound() {
    const auto found = sonde::test::functionsThatAssertNothing(QStringLiteral(R"code(
        struct Model { void same(int x) const { QCOMPARE(x, 1'000); } };
        #define CHECK(x) check(x, "}")
        class TestSample : public QObject {
            Q_OBJECT
          private slots:
            void initTestCase() {}
            void direct() { QTRY_VERIFY(one); }
            void onlyInAComment() { run(); /* QVERIFY(true) */ }  // QVERIFY(true);
            void onlyInALiteral() { run("QVERIFY(true)"); }
            void behindAQuote() { if (c == u'"' || c == '\'') QVERIFY(c); }
            void byAMacro() { CHECK(1); }
            void byAMethod() { model.same(1); }
            void byAMethodOfOthers() { other.check(1); }
            void byALambda() {
                const auto holds = [&](int x) { QVERIFY(x); };
                for (int i : {1, 2}) holds(i);
            }
            void below_data() { QTest::addColumn<int>("x"); }
            void below();
            void byAHeader() { open<int>("x"); }
            void nothing() { if (one) { two(); } }

          private:
            void isNoTest() {}
        };
        void TestSample::below() { nothing(); deeper(); }
        void deeper() { CHECK(2); }
    )code"),
                                                               {QStringLiteral(R"code(
        inline void check(int x, const char*) { QVERIFY(x); }
        template <typename T> void open(const char* name) { return check(name != nullptr); }
    )code")});
    QCOMPARE(found.join(u' '), QStringLiteral("onlyInAComment onlyInALiteral byAMethodOfOthers nothing"));
}

void TestTree::testsAreSkippedOnlyForMissingReferenceSets() {
    const QString skip = QStringLiteral("QSK") + QStringLiteral("IP(");
    const QString sets = QStringLiteral("tests/support/reference_sets.h"),
                  variable = QStringLiteral("SONDE_") + QStringLiteral("SHARED");
    QVERIFY(text(sets).contains(variable));
    for (const QString& test : sourceFiles({"tests"}, {"*.cpp", "*.h"})) {
        const QString body = text(test);
        // … or a tool that is no part of the set-up and only looks at what was made, or what takes so long that it is
        // asked for.
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

/// A clone is quick and its tests still mean something: what is larger belongs to the reference sets.
void TestTree::testDataStaysSmall() {
    qint64 bytes = 0;
    QDirIterator files(sourcePath(QStringLiteral("tests/data")), QDir::Files | QDir::Hidden,
                       QDirIterator::Subdirectories);
    while (files.hasNext()) bytes += QFileInfo(files.next()).size();
    QVERIFY(bytes > 0);
    QVERIFY2(bytes <= 15'000'000, qPrintable(QStringLiteral("tests/data has %1 bytes").arg(bytes)));
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

void TestTree::commentsCitePagesOfTheRepository() {
    // "page.md" and "page.md, "Section"": of resources/reference, from the top, or beside the file.
    static const QRegularExpression citation(QStringLiteral(R"re(([\w./-]*\w\.md)(?:, "([^"]+)")?)re"));
    const QSet<QString> published{"docs/ContribOperators.md", "docs/IR.md", "Changelog.md",  // ONNX and ONNX Runtime
                                  "torch/csrc/jit/OVERVIEW.md", "torch/csrc/jit/docs/serialization.md"};
    QStringList broken;
    int cited = 0, sections = 0;
    for (const QString& file : citingFiles()) {
        for (const QString& comment : commentsOf(file)) {
            QRegularExpressionMatchIterator found = citation.globalMatch(comment);
            while (found.hasNext()) {
                const QRegularExpressionMatch match = found.next();
                const QString name = match.captured(1), section = match.captured(2);
                if (published.contains(name)) continue;
                ++cited;
                const QString page = pageOf(file, name);
                if (page.isEmpty()) broken << file + ": there is no page " + name;
                else if (!section.isEmpty() && !headings(page).contains(section))
                    broken << file + ": " + page + " has no section \"" + section + '"';
                sections += section.isEmpty() ? 0 : 1;
            }
        }
    }
    QVERIFY2(broken.isEmpty(), qPrintable(broken.join(u'\n')));
    QVERIFY2(cited >= 40 && sections >= 30, "the pattern finds citations");
}

void TestTree::commentsCiteNoUnnamedReference() {
    // "reference 2, c5", "(c4)", "W1", "the design page": labels of pages that a reader of the repository does not
    // have.
    static const QRegularExpression label(QStringLiteral(
        R"(\b[Rr]eference \d|\((?:[bc]\d{1,2}|W\d{1,2})(?:, (?:[bc]\d{1,2}|W\d{1,2}))*\)|\b(?:trace-dump|robust-tracer|custom-tracer|module-path-tracer) [bc]\d|)"
        R"(\bdesign page\b|\b(?:case|cases) \d+ of the reference\b|\.\./shared)"));
    QStringList found;
    for (const QString& file : citingFiles())
        for (const QString& comment : commentsOf(file))
            if (label.match(comment).hasMatch()) found << file + ": " + comment.trimmed();
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
    QVERIFY(label.match("/// as in (reference 2, c5)").hasMatch() && label.match("// the output (c4).").hasMatch());
}

void TestTree::theWindowHasOneWordForEachThing() {
    // Baseline, Upstream, Consumers, Repeated Blocks, Std, Min, Max, Expand, Portrait, matches, Colormap: these are
    // others for them.
    const QRegularExpression word(QStringLiteral(
        R"re("(Rea&?ders|De&?viation|Mi&?nimum|Ma&?ximum|Read by)"|)re"
        R"re("[^"]*\b([Ww]hat (it )?needs( it)?|[Kk]ept run|[Ee]qual &?[Bb]locks?|[Uu]sual colours|[Aa]s usual|Upright|[Nn]o hits|%1 hits|)re"
        R"re([Ee]ven about|[Cc]olour map|Open All|Close All|went|came|pictures? of the graph)\b[^"]*")re"));
    const QStringList found = linesThatMatch({"ui"}, word, true);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
}

void TestTree::messagesUseTheTermsOfTheField() {
    // Others for incompatible, size limit, does not exist, empty, again, out of memory, invalid, optionally, count.
    const QRegularExpression word(QStringLiteral(
        R"re("[^"]*\b(goe?s? together|beyond bounds|(is|are) not there|of nothing|anew|no memory left|nonsense|)re"
        R"re(looks? at|whoever|which who|as it should be|if wished|how many)\b[^"]*"|"[^"]*\bcannot be")re"));
    const QStringList found = linesThatMatch({"app", "core"}, word, true);
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
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

}  // namespace tst_tree

#include "tst_tree.moc"
