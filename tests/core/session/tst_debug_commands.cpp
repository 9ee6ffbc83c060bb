// The commands of `sonde debug`: what each answers, by its contract, and what happens to texts that are no commands.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <random>

#include "core/io/npz/npz.h"
#include "core/session/debug_commands.h"
#include "tests/support/onnx_file.h"

namespace tst_debug_commands {

using namespace sonde;
using session::DebugCommands;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

/// y = x + x, z = log(y), w = z + y, of x float32[N]; z is called "z/1" in the file, which is no identifier.
std::string logsModel() {
    const onnx::Graph graph{{{"Add", {"x", "x"}, {"y"}}, {"Log", {"y"}, {"z/1"}}, {"Add", {"z/1", "y"}, {"w"}}},
                            {onnx::valueInfo("x", 1, {-1})},
                            {onnx::valueInfo("w", 1, {-1})},
                            {}};
    return onnx::model(graph);
}

/// A session on that model, and its commands.
struct Prompt {
    QTemporaryDir folder;
    Session session;
    DebugCommands commands{session};

    explicit Prompt(std::vector<float> x = {1, 2}) {
        const std::string path = folder.filePath(QStringLiteral("logs.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << logsModel();
        if (!session.open(path)) return;
        session.runs().giveValues({Tensor::of<float>({static_cast<std::int64_t>(x.size())}, x)});
    }

    QJsonObject answer(std::string_view line) {
        const std::string text = commands.answer(line);
        if (text.find('\n') != std::string::npos) return {};
        return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
    }
    QString state(std::string_view line) { return answer(line).value("state").toString(); }
    QString current(std::string_view line) { return answer(line).value("current").toString(); }
};

}  // namespace

class TestDebugCommands : public QObject {
    Q_OBJECT

  private slots:
    void commandsMove() {
        Prompt prompt;
        const QJsonObject first = prompt.answer("step");
        QCOMPARE(first.value("state").toString(), QStringLiteral("stopped"));
        QCOMPARE(first.value("current").toString(), QStringLiteral("y"));
        QCOMPARE(prompt.current("step into"), QStringLiteral("z/1"));
        QCOMPARE(prompt.current("step over back"), QStringLiteral("y"));
        QCOMPARE(prompt.current("to w"), QStringLiteral("w"));
        QCOMPARE(prompt.current("to `z/1` back"), QStringLiteral("z/1"));
        QCOMPARE(prompt.state("step out"), QStringLiteral("finished"));
        QVERIFY(prompt.answer("continue").value("current").isNull());
        QCOMPARE(prompt.current("continue back"), QStringLiteral("y"));
        QCOMPARE(prompt.state("run"), QStringLiteral("finished"));
        QCOMPARE(prompt.current("  step \t back \r"), QStringLiteral("w"));
    }

    void theTimelineIsListed() {
        Prompt prompt({1, -1});
        QCOMPARE(prompt.answer("timeline").value("timeline").toObject().value("steps").toInt(-1), 0);
        QCOMPARE(prompt.state("run"), QStringLiteral("finished"));
        const QJsonObject timeline = prompt.answer("timeline").value("timeline").toObject();
        QCOMPARE(timeline.value("steps").toInt(), 3);
        const QJsonArray rows = timeline.value("rows").toArray();
        QCOMPARE(rows.size(), 3);
        const QJsonObject log = rows.at(1).toObject();
        QCOMPARE(log.value("position").toInt(), 1);
        QCOMPARE(log.value("name").toString(), QStringLiteral("z/1"));
        QCOMPARE(log.value("operator").toString(), QStringLiteral("Log"));
        QCOMPARE(log.value("kind").toString(), QStringLiteral("operation"));
        QCOMPARE(log.value("events").toArray(), (QJsonArray{"nan"}));
        QCOMPARE(log.value("begin_ns"), rows.at(0).toObject().value("end_ns"));
        QCOMPARE(rows.at(2).toObject().value("end_ns"), timeline.value("elapsed_ns"));
        const QJsonObject part = prompt.answer("timeline 1 1").value("timeline").toObject();
        QCOMPARE(part.value("rows").toArray(), (QJsonArray{rows.at(1)}));
        QVERIFY(prompt.answer("timeline 9").value("timeline").toObject().value("rows").toArray().isEmpty());
        QCOMPARE(prompt.answer("timeline -1").value("column").toInt(), 10);
        // y = x + x is read by the logarithm and the sum.
        const QJsonObject reads = prompt.answer("reads y").value("reads").toObject();
        QCOMPARE(reads.value("positions").toArray(), (QJsonArray{1, 2}));
        QCOMPARE(reads.value("count").toInt(), 2);
        QCOMPARE(prompt.answer("writes y").value("writes").toObject().value("positions").toArray(), (QJsonArray{0}));
        QCOMPARE(prompt.answer("writes x").value("writes").toObject().value("count").toInt(-1), 0);
    }

    void conditionsThatCannotBeJudgedAreTold() {
        Prompt prompt({1, 2});
        QVERIFY(!prompt.answer("break y if y").contains("error"));
        const QJsonObject end = prompt.answer("run");
        QCOMPARE(end.value("state").toString(), QStringLiteral("finished"));
        const QJsonArray problems = end.value("breakpoint_problems").toArray();
        QCOMPARE(problems.size(), 1);
        QCOMPARE(problems.at(0).toObject().value("id").toInt(), 1);
        QVERIFY(problems.at(0).toObject().value("problem").toString().contains("ambiguous"));
        QVERIFY(!Prompt().answer("run").contains("breakpoint_problems"));
    }

    void unsignedNumbersAreNotNegative() {
        Prompt prompt;
        const std::string path = prompt.folder.filePath(QStringLiteral("unsigned.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(
            {{{"Identity", {"x"}, {"y"}}}, {onnx::valueInfo("x", 13, {2})}, {onnx::valueInfo("y", 13, {2})}, {}});
        QVERIFY(prompt.session.open(path));
        prompt.session.runs().giveValues({Tensor::of<std::uint64_t>({2}, {18446744073709551615U, 7})});
        (void)prompt.commands.answer("run");
        QVERIFY(prompt.commands.answer("print y").find("[18446744073709551615,7]") != std::string::npos);
        QVERIFY(prompt.commands.answer("print max(y)").find("18446744073709551615") != std::string::npos);
    }

    void stepsAreGoneToByPosition() {
        Prompt prompt;
        (void)prompt.answer("step");
        QCOMPARE(prompt.current("goto 2"), QStringLiteral("w"));
        QCOMPARE(prompt.current("goto 0"), QStringLiteral("y"));
        QCOMPARE(prompt.answer("goto 1").value("position").toInt(), 1);
        QCOMPARE(prompt.state("continue"), QStringLiteral("finished"));
        QCOMPARE(prompt.current("goto 2"), QStringLiteral("w"));
        QVERIFY(prompt.answer("goto 3").contains("error"));
        QVERIFY(prompt.answer("goto -1").contains("error"));
        QVERIFY(prompt.answer("goto w").contains("error"));
        QCOMPARE(prompt.answer("goto 2").value("state").toString(), QStringLiteral("stopped"));
    }

    void memoryIsTold() {
        Prompt prompt;
        (void)prompt.answer("run");
        const QJsonObject memory = prompt.answer("memory").value("memory").toObject();
        QCOMPARE(memory.value("limit_bytes").toDouble(), 1073741824.0);
        QVERIFY(memory.value("bytes").toInt() >= 3 * 8);  // three values of two floats
        QCOMPARE(memory.value("dropped_bytes").toInt(-1), 0);
        prompt.session.debugger().setLimits({0, 0, {}});
        (void)prompt.answer("run");
        const QJsonObject none = prompt.answer("memory").value("memory").toObject();
        QCOMPARE(none.value("bytes").toInt(-1), 0);
        QVERIFY(none.value("dropped_bytes").toInt() >= 3 * 8);
        QCOMPARE(none.value("computed_again").toInt(-1), 0);
        QCOMPARE(prompt.answer("print y").contains("error"), false);
        QVERIFY(prompt.answer("memory").value("memory").toObject().value("computed_again").toInt() > 0);
    }

    void breakpointsAreListed() {
        Prompt prompt;
        QCOMPARE(prompt.answer("break z/1 if max(y) > 3").value("breakpoint").toObject().value("id").toInt(), 1);
        QCOMPARE(prompt.answer("break op:Add").value("breakpoint").toObject().value("id").toInt(), 2);
        QCOMPARE(prompt.answer("log w sum(`z/1`)").value("breakpoint").toObject().value("id").toInt(), 3);
        const QJsonObject stopped = prompt.answer("run");
        QCOMPARE(stopped.value("current").toString(), QStringLiteral("y"));
        QCOMPARE(stopped.value("breakpoints").toArray(), (QJsonArray{2}));
        QVERIFY(!prompt.answer("disable 2").contains("error"));
        QCOMPARE(prompt.answer("continue").value("breakpoints").toArray(), (QJsonArray{1}));
        const QJsonObject end = prompt.answer("continue");
        QCOMPARE(end.value("state").toString(), QStringLiteral("finished"));
        const QJsonObject entry = end.value("log").toArray().at(0).toObject();
        QCOMPARE(entry.value("node").toString(), QStringLiteral("w"));
        // log 2 + log 4
        QVERIFY(std::abs(entry.value("value").toDouble() - 2.0794415) < 1e-5);
        const QJsonArray all = prompt.answer("breakpoints").value("breakpoints").toArray();
        QCOMPARE(all.size(), 3);
        QCOMPARE(all.at(0).toObject().value("hits").toInt(), 1);
        QCOMPARE(all.at(1).toObject().value("enabled").toBool(true), false);
        QCOMPARE(prompt.answer("delete 1").value("state").toString(), QStringLiteral("finished"));
        QVERIFY(prompt.answer("delete 1").contains("error"));
        QCOMPARE(prompt.answer("breakpoints").value("breakpoints").toArray().size(), 2);
    }

    void valuesAreAnswered() {
        Prompt prompt({1, 2, -1});
        QVERIFY(prompt.answer("print x").contains("error"));
        (void)prompt.answer("run");
        const QJsonObject y = prompt.answer("print y");
        QCOMPARE(y.value("value").toArray(), (QJsonArray{2, 4, -2}));
        QCOMPARE(y.value("dtype").toString(), QStringLiteral("float32"));
        QCOMPARE(y.value("shape").toArray(), (QJsonArray{3}));
        QCOMPARE(prompt.answer("print max(y) > 3").value("value").toBool(), true);
        QCOMPARE(prompt.answer("print shape(y)[0]").value("value").toInt(), 3);
        QCOMPARE(prompt.answer("print `z/1`").value("value").toArray().at(2).toString(), QStringLiteral("nan"));
        const QJsonObject stats = prompt.answer("stats z/1").value("value").toObject();
        QCOMPARE(stats.value("nan").toInt(), 1);
        QCOMPARE(stats.value("inf").toInt(), 0);
        QCOMPARE(prompt.answer("stats z/1").value("nan").toInt(), 1);
        QVERIFY(std::abs(stats.value("min").toDouble() - 0.6931472) < 1e-5);
        QVERIFY(std::abs(stats.value("mean").toDouble() - 1.0397208) < 1e-5);
        const QJsonArray problems = prompt.answer("problems").value("problems").toArray();
        QCOMPARE(problems.size(), 2);
        QCOMPARE(problems.at(0).toObject().value("node").toString(), QStringLiteral("z/1"));
        QCOMPARE(problems.at(0).toObject().value("role").toString(), QStringLiteral("origin"));
        QCOMPARE(problems.at(1).toObject().value("role").toString(), QStringLiteral("carrier"));
        // The user, or the session file, said that the logarithm may be NaN: what carries that is no problem either.
        prompt.session.setAccepted(prompt.session.document()->graph->findNode("z/1"), true);
        QVERIFY(prompt.answer("problems").value("problems").toArray().isEmpty());
    }

    /// A run that stops at a module stops before its first node, and says which module it is.
    void aModuleIsStoppedAt() {
        Session session;
        QVERIFY(session.open("zoo:resnet18_slim"));
        DebugCommands commands(session);
        const auto answer = [&](std::string_view line) {
            return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
        };
        QCOMPARE(answer("break layer2").value("breakpoint").toObject().value("at").toString(),
                 QStringLiteral("layer2"));
        const QJsonObject stopped = answer("run");
        QCOMPARE(stopped.value("state").toString(), QStringLiteral("stopped"));
        QCOMPARE(stopped.value("module").toString(), QStringLiteral("layer2"));
        QCOMPARE(stopped.value("reason").toString(), QStringLiteral("breakpoint"));
        QCOMPARE(stopped.value("qualname").toString(), QStringLiteral("layer2.0.conv1"));
        const QJsonObject next = answer("step");
        QCOMPARE(next.value("qualname").toString(), QStringLiteral("layer2.0.bn1"));
        QVERIFY(!next.contains("module"));
        QCOMPARE(answer("continue").value("state").toString(), QStringLiteral("finished"));
    }

    void watchesAreShown() {
        Prompt prompt;
        QCOMPARE(prompt.answer("watch y").value("watches").toArray(), (QJsonArray{"y"}));
        QVERIFY(!prompt.answer("step").contains("watched"));  // y is not computed yet
        const QJsonObject watched = prompt.answer("step").value("watched").toObject();
        QCOMPARE(watched.value("y").toObject().value("value").toArray(), (QJsonArray{2, 4}));
        QVERIFY(prompt.answer("unwatch y").value("watches").toArray().isEmpty());
        QCOMPARE(prompt.answer("end z/1").value("ends").toArray(), (QJsonArray{"z/1"}));
        (void)prompt.answer("run");
        QVERIFY(prompt.answer("print w").contains("error"));
        QVERIFY(!prompt.answer("print `z/1`").contains("error"));
        QVERIFY(prompt.answer("end z/1").value("ends").toArray().isEmpty());
    }

    void moduleAlone() {
        Prompt prompt;
        QVERIFY(prompt.answer("run nothing").contains("error"));
        QVERIFY(prompt.answer("help").value("commands").toArray().size() > 10);
        QVERIFY(!prompt.commands.hasQuit());
        QVERIFY(prompt.answer("quit now").contains("error"));
        QVERIFY(!prompt.commands.hasQuit());
        QCOMPARE(prompt.state("quit"), QStringLiteral("stopped"));
        QVERIFY(prompt.commands.hasQuit());
    }

    /// z = log(2x) and w = z + 2x of x = (1, 2); w is off by 1 in one reference.
    void runsAreCompared() {
        Prompt prompt;
        const auto write = [&](const char* name, float off) {
            const std::string path = prompt.folder.filePath(QLatin1String(name)).toStdString();
            const std::vector<io::NamedTensor> arrays{
                {"in.x", Tensor::of<float>({2}, {1, 2})},
                {"out.w", Tensor::of<float>({2}, {std::log(2.0F) + 2 + off, std::log(4.0F) + 4})}};
            return io::writeNpz(path, arrays) ? path : std::string();
        };
        QCOMPARE(prompt.answer("compare").value("column").toInt(), 8);
        const QJsonObject right = prompt.answer("compare " + write("right.npz", 0)).value("comparison").toObject();
        QCOMPARE(right.value("compared").toInt(), 1);
        QCOMPARE(right.value("differing").toInt(-1), 0);
        QVERIFY(right.value("first").isNull());
        const QJsonObject wrong = prompt.answer("compare " + write("wrong.npz", 1)).value("comparison").toObject();
        QCOMPARE(wrong.value("with").toString(), QStringLiteral("wrong.npz"));
        QCOMPARE(wrong.value("differing").toInt(), 1);
        QCOMPARE(wrong.value("first").toString(), QStringLiteral("w"));
        QCOMPARE(prompt.answer("compare").value("comparison").toObject(), wrong);
        const QJsonObject missing = prompt.answer("compare none.npz");
        QVERIFY(missing.contains("error") && !missing.contains("comparison"));
        QCOMPARE(missing.value("column").toInt(), 9);
        QCOMPARE(prompt.session.comparison().references().size(), std::size_t{2});
    }

    /// Columns count characters from 1, and point to what is wrong.
    void whatIsWrongIsToldWithItsColumn_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<int>("column");
        QTest::newRow("unknown command") << "fly" << 1;
        QTest::newRow("after blanks") << "   fly" << 4;
        QTest::newRow("unknown node") << "to nowhere" << 4;
        QTest::newRow("no node") << "to" << 3;
        QTest::newRow("too much") << "step into forward" << 11;
        QTest::newRow("unknown operator") << "break op:Conv" << 7;
        QTest::newRow("bad condition") << "break y if max(y" << 17;
        QTest::newRow("unknown name in a condition") << "break y if q > 1" << 12;
        QTest::newRow("no condition") << "break y if" << 11;
        QTest::newRow("no expression") << "log y" << 6;
        QTest::newRow("bad expression") << "print 1 +" << 10;
        QTest::newRow("name in an expression") << "print max(q)" << 11;
        QTest::newRow("after more than ASCII") << "print `ä` + q" << 7;
        QTest::newRow("no number") << "delete y" << 8;
        QTest::newRow("another number") << "delete 7" << 8;
        QTest::newRow("too large a number") << "goto 99999999999999999999" << 6;
        QTest::newRow("no module") << "run nowhere" << 5;
        QTest::newRow("no tensor") << "stats nowhere" << 7;
        for (const char* later : {"assign y[0] = 1", "undo", "redo"}) QTest::newRow(later) << later << 1;
    }
    void whatIsWrongIsToldWithItsColumn() {
        QFETCH(QString, line);
        QFETCH(int, column);
        Prompt prompt;
        (void)prompt.answer("break w");
        (void)prompt.answer("run");
        const QJsonObject answer = prompt.answer(line.toStdString());
        QVERIFY2(answer.contains("error"), qPrintable(QString::fromUtf8(QJsonDocument(answer).toJson())));
        QCOMPARE(answer.value("column").toInt(), column);
        // Nothing has changed.
        QCOMPARE(answer.value("state").toString(), QStringLiteral("stopped"));
        QCOMPARE(answer.value("current").toString(), QStringLiteral("w"));
        QCOMPARE(prompt.answer("breakpoints").value("breakpoints").toArray().size(), 1);
    }

    void anythingIsAnsweredByOneLine() {
        Prompt prompt;
        QVERIFY(prompt.commands.answer("").empty());
        QVERIFY(prompt.commands.answer("   \t").empty());
        QVERIFY(prompt.commands.answer("# a comment").empty());
        std::mt19937 engine(11);
        const std::vector<std::string> words{"run", "step",  "back",   "to",    "y",       "`z/1`", "break",
                                             "if",  "log",   "max(",   "print", ")",       "[0]",   "watch",
                                             "end", "stats", "op:Add", "nan",   "delete",  "1",     "`",
                                             "\\",  "#2",    "over",   "out",   "continue"};
        for (int i = 0; i < 3'000; ++i) {
            std::string line;
            if (i % 3 == 0) {
                for (std::size_t k = engine() % 60; k > 0; --k) line += static_cast<char>(engine() % 256);
                std::erase(line, '\n');
            } else {
                for (std::size_t k = 1 + engine() % 5; k > 0; --k) line += words[engine() % words.size()] + " ";
            }
            const std::string answer = prompt.commands.answer(line);
            if (answer.empty()) continue;
            QVERIFY(answer.find('\n') == std::string::npos);
            const QJsonObject json = QJsonDocument::fromJson(QByteArray::fromStdString(answer)).object();
            QVERIFY2(json.contains("state") && json.contains("current"), line.c_str());
        }
        const std::string longLine = "print " + std::string(1'000'000, '(');
        QVERIFY(prompt.answer(longLine).contains("error"));
        QVERIFY(prompt.answer("print " + std::string(60'000, '(')).contains("error"));
    }
};

QTEST_GUILESS_MAIN(TestDebugCommands)

}  // namespace tst_debug_commands

#include "tst_debug_commands.moc"
