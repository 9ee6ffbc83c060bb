// What is a lesson and what is not, with the line that an error names; and what its names are bound to.

#include <QtTest>

#include "core/graph/internal_graph.h"
#include "core/lessons/binding.h"
#include "core/lessons/shipped.h"

namespace tst_lesson_format {

using namespace sonde;
using lessons::Action;
using lessons::Lesson;
using lessons::LessonProblem;
using lessons::Question;

namespace {

const char* const kLesson = R"(# A title

What it is *about*,
in a paragraph.

More.

```sonde
# a comment
bind conv: last kind convolution | a convolution
maybe next: first query op:relu and rank>=2 after $conv
bind input: input 1 of $conv
```

## First

The mean of {{name $conv}} is {{ mean($conv) }}.

```sonde
run
select $conv
focus $conv 3
set $input[0, 1:] = $conv * 2
show channels
formula $conv[0, 1]
```

```cpp
## no step, {{1 + 1}}
```

## Second

```question
ask: How many,
and why?
answer: $conv.shape[0]
tolerance: 2 %
because: So.
```
```question
ask: Which?
[ ] one
[x] two
   lines
```
```question
ask: Click it.
node: kind relu after $next
```
)";

}  // namespace

class TestLessonFormat : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void everythingIsRead();
    void errorsNameTheLine_data();
    void errorsNameTheLine();
    void limitsHold();
    void lineEndsOfOtherSystems();
    void shippedLessonsAreLessons();
    void textIsFilled();
    void theExampleOfTheHelpPageIsOne();
};

void TestLessonFormat::everythingIsRead() {
    LessonProblem problem;
    const std::optional<Lesson> lesson = lessons::parse(kLesson, problem);
    QVERIFY2(lesson.has_value(), problem.what.c_str());
    QCOMPARE(lesson->title, std::string("A title"));
    QCOMPARE(lesson->summary, std::string("What it is *about*, in a paragraph."));
    QCOMPARE(lesson->bindings.size(), std::size_t{3});
    QCOMPARE(lesson->bindings[0].purpose, std::string("a convolution"));
    QVERIFY(lesson->bindings[0].pick == lessons::BindingRule::Pick::Last);
    QVERIFY(lesson->bindings[1].isOptional);
    QCOMPARE(lesson->bindings[1].source.text, std::string("op:relu and rank>=2"));
    QCOMPARE(lesson->bindings[1].source.after, std::string("conv"));
    QCOMPARE(lesson->bindings[2].source.position, std::size_t{1});
    QCOMPARE(lesson->steps.size(), std::size_t{2});
    const lessons::Step& first = lesson->steps[0];
    QCOMPARE(first.names, (std::vector<std::string>{"conv", "input"}));
    QCOMPARE(first.actions.size(), std::size_t{5});
    QVERIFY(first.actions[0].kind == Action::Kind::Run);
    QCOMPARE(first.actions[2].number, 3);
    QCOMPARE(first.actions[3].text, std::string("$input[0, 1:] = $conv * 2"));
    QCOMPARE(first.actions[3].line, std::size_t{23});
    QCOMPARE(first.blocks.size(), std::size_t{3});
    QCOMPARE(first.blocks[1].text, std::string("$conv[0, 1]"));
    QVERIFY(first.blocks[2].text.find("## no step") != std::string::npos);
    const lessons::Step& second = lesson->steps[1];
    QCOMPARE(second.questions.size(), std::size_t{3});
    QCOMPARE(second.questions[0].ask, std::string("How many, and why?"));
    QCOMPARE(second.questions[0].tolerance, 0.02);
    QVERIFY(second.questions[1].kind == Question::Kind::Choice);
    QCOMPARE(second.questions[1].choices[1].text, std::string("two lines"));
    QVERIFY(second.questions[1].choices[1].isRight);
    QVERIFY(second.questions[2].kind == Question::Kind::Node);
    QCOMPARE(second.names, (std::vector<std::string>{"conv", "next"}));
}

void TestLessonFormat::errorsNameTheLine_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("line");
    QTest::addColumn<QString>("what");
    const auto row = [](const char* name, const char* text, int line, const char* what) {
        QTest::newRow(name) << QByteArray(text) << line << QString::fromUtf8(what);
    };
    row("empty", "", 0, "a lesson begins with '# TITLE'");
    row("no title", "\nhello\n", 2, "a lesson begins with '# TITLE'");
    row("two titles", "# a\n## s\n# b\n", 3, "a lesson has one title");
    row("no step", "# a\n\ntext\n", 3, "there is no step");
    row("open block", "# a\n## s\n```sonde\nrun\n", 3, "the block that begins here has no end");
    row("block in block", "# a\n## s\n```sonde\n```sonde\n", 4, "a block begins inside of another one");
    row("unknown action", "# a\n## s\n```sonde\n\nfly\n```\n", 5, "there is no action 'fly'");
    row("unknown view", "# a\n## s\n```sonde\nshow piechart\n```\n", 4, "there is no view 'piechart'");
    row("unbound", "# a\n## s\n\n{{max($x)}}\n", 4, "$x is not bound");
    row("unbound action", "# a\n## s\n```sonde\nselect $x\n```\n", 4, "$x is not bound");
    row("no name", "# a\n## s\n```sonde\nselect x\n```\n", 4, "select needs a name");
    row("late binding", "# a\n## s\n```sonde\nbind x: kind relu\n```\n", 4, "names are bound before the first step");
    row("unknown kind", "# a\n```sonde\nbind x: kind magic\n```\n## s\n", 3, "there is no kind 'magic'");
    row("bad query", "# a\n```sonde\nbind x: query (op:relu\n```\n## s\n", 3, "");
    row("unknown source", "# a\n```sonde\nbind x: node relu\n```\n## s\n", 3, "'node' is none of kind");
    row("twice", "# a\n```sonde\nbind x: kind relu\nbind x: kind relu\n```\n## s\n", 4, "$x is bound already");
    row("too early", "# a\n```sonde\nrun\n```\n## s\n", 3, "'run' comes in a step");
    row("bad expression", "# a\n## s\n{{1 +}}\n", 3, "");
    row("unexpected", "# a\n## s\n```sonde\nrun fast\n```\n", 4, "unexpected 'fast'");
    row("asks nothing", "# a\n## s\n```question\nanswer: 1\n```\n", 3, "the question asks nothing");
    row("no answer", "# a\n## s\n```question\nask: what\n```\n", 3, "a question has one of answer:, node: and choices");
    row("two answers", "# a\n## s\n```question\nask: what\nanswer: 1\n[x] b\n```\n", 3, "a question has one of");
    row("no right choice", "# a\n## s\n```question\nask: what\n[ ] a\n[ ] b\n```\n", 3, "of at least two choices one");
    row("tolerance", "# a\n## s\n```question\nask: what\nanswer: 1\ntolerance: wide\n```\n", 6,
        "'wide' is no tolerance");
    row("no formula", "# a\n## s\n```sonde\nformula conv\n```\n", 4, "formula needs a place");
    row("changes nothing", "# a\n## s\n```sonde\nset 1 = 2\n```\n", 4, "set begins with a name");
}

void TestLessonFormat::errorsNameTheLine() {
    QFETCH(QByteArray, text);
    QFETCH(int, line);
    QFETCH(QString, what);
    LessonProblem problem;
    QVERIFY(!lessons::parse(text.toStdString(), problem));
    QVERIFY2(QString::fromStdString(problem.what).startsWith(what) && !problem.what.empty(), problem.what.c_str());
    QCOMPARE(static_cast<int>(problem.line), line);
}

void TestLessonFormat::limitsHold() {
    LessonProblem problem;
    QVERIFY(!lessons::parse("# a\n## s\n" + std::string(300'000, 'x'), problem));
    QVERIFY(!lessons::parse("# a\n## s\n" + std::string(5'000, 'x') + "\n", problem));
    QCOMPARE(problem.line, std::size_t{3});
    std::string steps = "# a\n";
    for (int i = 0; i < 100; ++i) steps += "## s\n";
    QVERIFY(lessons::parse(steps, problem));
    QVERIFY(!lessons::parse(steps + "## s\n", problem));
    std::string runs = "# a\n## s\n```sonde\n";
    for (int i = 0; i <= 1000; ++i) runs += "run\n";
    QVERIFY(!lessons::parse(runs + "```\n", problem));
    std::string numbers = "# a\n## s\n";
    for (int i = 0; i <= 500; ++i) numbers += "{{1}}\n";
    QVERIFY(!lessons::parse(numbers, problem));
    QVERIFY(!lessons::parse(std::string("# a\n## s\n\0\n", 11), problem));
}

void TestLessonFormat::lineEndsOfOtherSystems() {
    LessonProblem problem;
    const auto lesson = lessons::parse("\xef\xbb\xbf# a\r\n\r\n## s\r\n```sonde\r\nrun\r\n```\r\n", problem);
    QVERIFY2(lesson.has_value(), problem.what.c_str());
    QCOMPARE(lesson->title, std::string("a"));
    QCOMPARE(lesson->steps[0].actions.size(), std::size_t{1});
}

void TestLessonFormat::shippedLessonsAreLessons() {
    QStringList ids;
    for (const lessons::ShippedLesson& shipped : lessons::shippedLessons()) {
        LessonProblem problem;
        const auto lesson = lessons::parse(shipped.text, problem);
        QVERIFY2(lesson.has_value(),
                 qPrintable(QStringLiteral("%1, line %2: %3")
                                .arg(QString::fromUtf8(shipped.id.data(), qsizetype(shipped.id.size())))
                                .arg(problem.line)
                                .arg(QString::fromStdString(problem.what))));
        QVERIFY(!lesson->summary.empty());
        QVERIFY(lesson->steps.size() >= 3);
        std::size_t questions = 0;
        for (const lessons::Step& step : lesson->steps) questions += step.questions.size();
        QVERIFY(questions >= 3);
        ids << QString::fromStdString(std::string(shipped.id));
    }
    QCOMPARE(ids, QStringList({"convolution", "residual", "normalisation", "attention", "recurrent", "nan"}));
    QVERIFY(!lessons::shippedLesson("none"));
}

void TestLessonFormat::textIsFilled() {
    QStringList parts;
    lessons::forEachPart(
        "a {{b}} c {{d}",
        [&](std::string_view text) { parts << QString::fromUtf8(text.data(), qsizetype(text.size())); },
        [&](std::string_view text) { parts << "<" + QString::fromUtf8(text.data(), qsizetype(text.size())) + ">"; });
    QCOMPARE(parts, QStringList({"a ", "<b>", " c {{d}"}));
    // Found by fuzzing: what is open at the end of a line does not go on in the next one.
    parts.clear();
    lessons::forEachPart(
        "{{1 + 2}\nand {{log(0.0)}}\n",
        [&](std::string_view text) { parts << QString::fromUtf8(text.data(), qsizetype(text.size())); },
        [&](std::string_view text) { parts << "<" + QString::fromUtf8(text.data(), qsizetype(text.size())) + ">"; });
    QCOMPARE(parts, QStringList({"{{1 + 2}\n", "and ", "<log(0.0)>", "\n"}));
    QCOMPARE(lessons::namesIn("max($a) + $b1 - $a $ $1"), (std::vector<std::string>{"a", "b1"}));
    lessons::Placeholder placeholder;
    QVERIFY(lessons::readPlaceholder(" shape $x ", placeholder).empty());
    QVERIFY(placeholder.kind == lessons::Placeholder::Kind::Shape);
    QVERIFY(!lessons::readPlaceholder("shape x", placeholder).empty());
}

/// The first indented block below "A lesson of your own".
void TestLessonFormat::theExampleOfTheHelpPageIsOne() {
    QFile page(QStringLiteral(SONDE_SOURCE_DIR "/resources/help/lessons.md"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(page.readAll()).section(QStringLiteral("## A lesson of your own"), 1);
    QString example;
    for (const QString& line : text.split(u'\n')) {
        if (!line.isEmpty() && !line.startsWith(QStringLiteral("    ")) && !example.isEmpty()) break;
        if (line.startsWith(QStringLiteral("    ")) || !example.isEmpty()) example += line.mid(4) + u'\n';
    }
    LessonProblem problem;
    const auto lesson = lessons::parse(example.toStdString(), problem);
    QVERIFY2(lesson.has_value(), qPrintable(QStringLiteral("line %1: %2").arg(problem.line).arg(problem.what.c_str())));
    QCOMPARE(lesson->title, std::string("What a ReLU does"));
    QCOMPARE(lesson->steps.size(), std::size_t{1});
    QCOMPARE(lesson->steps[0].questions.size(), std::size_t{1});
    QCOMPARE(lesson->bindings.size(), std::size_t{2});
}

QTEST_MAIN(TestLessonFormat)

}  // namespace tst_lesson_format

#include "tst_lesson_format.moc"
