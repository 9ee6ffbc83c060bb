// The headers that are installed (core/public_headers.cmake): a chosen set that holds together, with one umbrella for
// each folder of core. tests/install builds a foreign project with them.

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

#include "tests/support/source_tree.h"

namespace tst_public_headers {

using sonde::test::sourceFiles;
using sonde::test::sourceLines;
using sonde::test::sourcePath;

namespace {

/// "core/exec/plan.h" of every header in the list.
QStringList publicHeaders() {
    static const QRegularExpression header(QStringLiteral(R"([\w/]+\.h\b)"));
    QStringList headers;
    bool isInside = false;
    for (const QString& line : sourceLines(QStringLiteral("core/public_headers.cmake"))) {
        isInside = isInside || line.startsWith(QLatin1String("set(SONDE_PUBLIC_HEADERS"));
        for (auto match = header.globalMatch(isInside ? line : QString()); match.hasNext();)
            headers << QStringLiteral("core/") + match.next().captured();
    }
    return headers;
}

struct Includes {
    QStringList own;    ///< "core/base/result.h"
    QStringList other;  ///< <vector>
};

Includes includesOf(const QString& file) {
    // \x22 is ": moc takes a quote in this literal for the end of a string, and does not see the namespace.
    static const QRegularExpression include(QStringLiteral(R"(^\s*#\s*include\s*([<\x22])([^>\x22]+)[>\x22])"));
    Includes found;
    for (const QString& line : sourceLines(file)) {
        const QRegularExpressionMatch match = include.match(line);
        if (match.hasMatch()) (match.captured(1) == u"\"" ? found.own : found.other) << match.captured(2);
    }
    return found;
}

/// The folders directly in core.
QStringList folders() { return QDir(sourcePath(QStringLiteral("core"))).entryList(QDir::Dirs | QDir::NoDotAndDotDot); }

QString umbrellaOf(const QString& folder) { return QStringLiteral("core/%1.h").arg(folder); }

}  // namespace

class TestPublicHeaders : public QObject {
    Q_OBJECT

  private slots:
    void theListIsThere();
    void everyFolderHasAnUmbrella();
    void whatIsIncludedIsInstalled();
    void nothingIsInstalledThatNoUmbrellaLeadsTo();
    void onlyTheStandardLibraryIsNeeded();
    void ourOwnCodeIncludesWhatItUses();
};

void TestPublicHeaders::theListIsThere() {
    const QStringList headers = publicHeaders();
    QVERIFY(headers.size() > 100);
    QCOMPARE(QSet<QString>(headers.begin(), headers.end()).size(), headers.size());
    for (const QString& header : headers) QVERIFY2(QFileInfo::exists(sourcePath(header)), qPrintable(header));
    QVERIFY(headers.size() < sourceFiles({"core"}, {"*.h"}).size());
}

void TestPublicHeaders::everyFolderHasAnUmbrella() {
    const QStringList headers = publicHeaders();
    for (const QString& folder : folders()) {
        const QString umbrella = umbrellaOf(folder);
        QVERIFY2(headers.contains(umbrella), qPrintable(umbrella + " is not in the list"));
        const Includes includes = includesOf(umbrella);
        QVERIFY2(!includes.own.isEmpty(), qPrintable(umbrella));
        for (const QString& target : includes.own)
            QVERIFY2(target.startsWith(QStringLiteral("core/%1/").arg(folder)), qPrintable(umbrella + ": " + target));
    }
}

void TestPublicHeaders::whatIsIncludedIsInstalled() {
    const QStringList headers = publicHeaders();
    for (const QString& header : headers)
        for (const QString& target : includesOf(header).own)
            QVERIFY2(headers.contains(target),
                     qPrintable(header + " includes " + target + ", which is not in the list"));
}

void TestPublicHeaders::nothingIsInstalledThatNoUmbrellaLeadsTo() {
    QStringList waiting;
    for (const QString& folder : folders()) waiting << umbrellaOf(folder);
    QSet<QString> reached;
    while (!waiting.isEmpty()) {
        const QString header = waiting.takeLast();
        if (reached.contains(header)) continue;
        reached << header;
        waiting << includesOf(header).own;
    }
    for (const QString& header : publicHeaders()) QVERIFY2(reached.contains(header), qPrintable(header));
}

/// And POSIX's. The installed package names what the library is linked with; its headers need none of that.
void TestPublicHeaders::onlyTheStandardLibraryIsNeeded() {
    for (const QString& header : publicHeaders())
        for (const QString& target : includesOf(header).other)
            QVERIFY2(
                target == u"sys/types.h" || QRegularExpression(QStringLiteral("^[a-z_0-9]+$")).match(target).hasMatch(),
                qPrintable(header + " includes <" + target + '>'));
}

void TestPublicHeaders::ourOwnCodeIncludesWhatItUses() {
    QSet<QString> umbrellas{"core/exec/run.h"};
    for (const QString& folder : folders()) umbrellas << umbrellaOf(folder);
    for (const QString& file : sourceFiles({"core", "ui", "app"}, {"*.h", "*.cpp"})) {
        if (umbrellas.contains(file)) continue;
        for (const QString& target : includesOf(file).own)
            QVERIFY2(!umbrellas.contains(target), qPrintable(file + " includes the umbrella " + target));
    }
}

QTEST_APPLESS_MAIN(TestPublicHeaders)

}  // namespace tst_public_headers

#include "tst_public_headers.moc"
