// State of a thread is passed along where that can be done. What is left in core stands in this list, with the reason,
// and says it where it is declared.

#include <QMap>
#include <QRegularExpression>
#include <QtTest>

#include "tests/support/source_tree.h"

namespace tst_thread_state {

using sonde::test::sourceFiles;
using sonde::test::sourceLines;

namespace {

struct Variables {
    const char* file;
    int count;
    const char* reason;
};

// clang-format off
constexpr Variables kVariables[] = {
    {"core/base/activity_log.cpp", 2, "memory is taken where no log is passed"},
    {"core/base/current_stop.cpp", 1, "code of models is handed no WorkContext"},
    {"core/base/mapped_file.cpp", 1, "readers map files many calls below whoever opens a model"},
    {"core/base/stack_room.cpp", 1, "the end of the thread's own stack, asked for once"},
    {"core/base/thread_pool.cpp", 1, "whether the thread works on a chunk"},
    {"core/exec/run_trace.cpp", 1, "runs begin behind calls that pass no trace"},
    {"core/io/torchscript/run_state.cpp", 1, "Module::forward takes values only"},
    {"core/ops/kernels/epilogue.cpp", 1, "kernels ask for it behind calls that pass no epilogue"},
    {"core/ops/kernels/scratch.h", 2, "working memory that stays with the thread: fresh memory costs page faults"},
    {"core/tensor/storage.cpp", 1, "tensors allocate where no limit is passed"},
    {"core/trace/error.cpp", 1, "belongs to the exception that is on its way"},
    {"core/trace/thread_state.cpp", 1, "operators of a model's forward have no place for it"},
};
// clang-format on

bool isDeclaration(const QString& line) {
    return line.section(QStringLiteral("//"), 0, 0).contains(QLatin1String("thread_local"));
}

/// How often each file declares one.
QMap<QString, int> declarations(const QStringList& files) {
    QMap<QString, int> found;
    for (const QString& file : files)
        for (const QString& line : sourceLines(file))
            if (isDeclaration(line)) ++found[file];
    return found;
}

/// The comment before a line: the nearest block of comment lines at most 10 lines above.
QString commentBefore(const QStringList& lines, qsizetype at) {
    const auto isComment = [&lines](qsizetype i) { return lines[i].trimmed().startsWith(QLatin1String("//")); };
    qsizetype last = at - 1;
    while (last >= 0 && last >= at - 10 && !isComment(last)) --last;
    QString text;
    for (; last >= 0 && isComment(last); --last) text.prepend(lines[last]);
    return text;
}

}  // namespace

class TestThreadState : public QObject {
    Q_OBJECT

  private slots:
    void everyVariableIsInTheList();
    void everyVariableSaysWhy();
    void declarationsAreFound();
};

void TestThreadState::everyVariableIsInTheList() {
    QMap<QString, int> expected;
    for (const Variables& variables : kVariables) expected[QString::fromLatin1(variables.file)] = variables.count;
    QCOMPARE(declarations(sourceFiles({"core"}, {"*.h", "*.cpp", "*.in"})), expected);
    QVERIFY(declarations(sourceFiles({"ui", "app"}, {"*.h", "*.cpp"})).isEmpty());
}

void TestThreadState::everyVariableSaysWhy() {
    for (const Variables& variables : kVariables) {
        const QString file = QString::fromLatin1(variables.file);
        const QStringList lines = sourceLines(file);
        for (qsizetype i = 0; i < lines.size(); ++i) {
            if (!isDeclaration(lines[i])) continue;
            const QString comment = commentBefore(lines, i);
            QVERIFY2(comment.contains(QLatin1String("thread")),
                     qPrintable(QStringLiteral("%1:%2 does not say why it is of a thread").arg(file).arg(i + 1)));
        }
    }
}

void TestThreadState::declarationsAreFound() {
    QVERIFY(isDeclaration(QStringLiteral("thread_local int depth = 0;")));
    QVERIFY(isDeclaration(QStringLiteral("    static inline thread_local std::size_t s_parts = 0;  // parts")));
    QVERIFY(!isDeclaration(QStringLiteral("// a thread_local variable would do")));
    QCOMPARE(commentBefore({"/// of the", "/// thread", "int* at() {", "    thread_local int x;"}, 3),
             QStringLiteral("/// of the/// thread"));
    QCOMPARE(commentBefore({"int* at() {", "    thread_local int x;"}, 1), QString());
}

QTEST_APPLESS_MAIN(TestThreadState)

}  // namespace tst_thread_state

#include "tst_thread_state.moc"
