// Every command of `sonde debug` that tells of values, in a run with an edit: it counts the edit, or says that it does
// not. Expected values are worked out by hand: y = x · w, z = relu(y), s = z + c, t = -x of x = [[1, 2], [3, 4]], w the
// identity, c = [10, 20].

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <set>

#include "core/io/npz/npz.h"
#include "core/session/debug_commands.h"
#include "tests/support/linear_network.h"

namespace tst_commands_with_edits {

using namespace sonde;
using namespace sonde::test;
using tensor::Tensor;

namespace {

const QString kWeight = QStringLiteral("set w[0, 1] = 5"),  // y = [[1, 7], [3, 19]], s = [[11, 27], [13, 39]]
    kValue = QStringLiteral("set z[0, 1] = 9"),             // s = [[11, 29], [13, 24]]
    kInput = QStringLiteral("set x[0, 1] = 3");             // s = [[11, 23], [13, 24]]

struct Prompt {
    QTemporaryDir folder;
    session::Session session;
    session::DebugCommands commands{session};

    Prompt() {
        const std::string path = file("linear.onnx");
        writeLinearNetwork(path);
        writeLinearNetwork(file("other.onnx"), {1, 5, 0, 1});
        const Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
        const auto writes = [&](const char* name, const std::vector<float>& s) {
            const std::vector<std::pair<std::string, Tensor>> values{{"in.x", x},
                                                                     {"out.s", Tensor::of<float>({2, 2}, s)}};
            return io::writeNpz(file(name), values).has_value();
        };
        if (!writes("plain.npz", {11, 22, 13, 24}) || !writes("weight.npz", {11, 27, 13, 39}) ||
            !writes("value.npz", {11, 29, 13, 24}) || !writes("input.npz", {11, 23, 13, 24}) || !session.open(path))
            return;
        session.runs().giveValues({tensor::Value(x)});
    }
    std::string file(const char* name) const { return folder.filePath(QString::fromLatin1(name)).toStdString(); }
    QJsonObject answer(QString line) {
        line.replace(QStringLiteral("FOLDER"), folder.path());
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line.toStdString()))).object();
    }
};

/// "contributions/0/largest": keys and positions.
QJsonValue at(const QJsonObject& answer, const QString& path) {
    QJsonValue value = answer;
    for (const QString& part : path.split(u'/')) {
        bool isPosition = false;
        const int position = part.toInt(&isPosition);
        value = isPosition && value.isArray() ? value.toArray().at(position) : value.toObject().value(part);
    }
    return value;
}

QString shown(const QJsonObject& answer) {
    return QString::fromUtf8(QJsonDocument(answer).toJson(QJsonDocument::Compact)).left(600);
}

bool isSame(const QJsonValue& value, const QVariant& expected) {
    if (expected.typeId() == QMetaType::Double || expected.typeId() == QMetaType::Int)
        return value.isDouble() && std::fabs(value.toDouble() - expected.toDouble()) < 1e-4;
    return value.toVariant() == expected;
}

}  // namespace

class TestCommandsWithEdits : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// A command that is not here has to say what it does with edits first.
    void everyCommandIsKnown() {
        std::set<std::string> known{
            // tested below
            "print", "stats", "watch", "expression", "log", "break", "why", "field", "contributions", "chain",
            "gradient", "precision", "problems", "compare", "baseline", "difference", "condition",
            // say nothing of values, or have no run
            "run", "continue", "step", "to", "goto", "timeline", "reads", "writes", "memory", "breakpoints", "ignore",
            "enable", "disable", "delete", "unwatch", "unexpression", "end", "set", "edit", "undo", "redo", "edits",
            "note", "notes", "save", "help", "quit"};
        for (const session::DebugCommandInfo& info : session::DebugCommands::all()) {
            const std::string name(info.syntax.substr(0, info.syntax.find(' ')));
            QVERIFY2(known.contains(name), name.c_str());
        }
    }

    void theyCountTheEdit_data() {
        QTest::addColumn<QString>("edit");
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("path");
        QTest::addColumn<QVariant>("before");  // without the edit
        QTest::addColumn<QVariant>("after");
        const auto row = [](const char* name, const QString& edit, const char* line, const char* path,
                            const QVariant& before, const QVariant& after) {
            QTest::newRow(name) << edit << QString::fromLatin1(line) << QString::fromLatin1(path) << before << after;
        };
        row("print", kWeight, "print s[0, 1]", "value", 22, 27);
        row("stats", kWeight, "stats s", "max", 24, 39);
        row("watch", kValue, "watch s", "watched/s/value/0/1", 22, 29);
        row("expression", kInput, "expression max(s[0])", "expressions/max(s[0])/value", 22, 23);
        row("why", kWeight, "why s[0, 1]", "value", 22, 27);
        row("field of an edited element", kValue, "field s[0, 1]", "field/0/exact", true, false);
        // 5 of 27 come from x[0, 0] times the edited weight.
        row("contributions, weight", kWeight, "contributions s[0, 1]", "contributions/0/share", 2.0 / 22, 7.0 / 27);
        row("contributions, value", kValue, "contributions s[0, 1]", "constants", 20.0 / 22, 1);
        row("chain", kWeight, "chain s[0, 1] against none", "chain/0/value", 22, 27);
        row("chain against the baseline", kWeight, "chain s[0, 1]", "chain/0/reference", QVariant(), 22);
        row("gradient, weight", kWeight, "gradient s[0, 1]", "gradients/0/max", 1, 5);
        row("gradient, overwritten", kValue, "gradient s[0, 1]", "gradients/0/max", 1, 0);
        row("gradient, scaled", "edit z[0] scale 0.5", "gradient s[0, 1]", "gradients/0/max", 1, 0.5);
        row("gradient, swapped", "edit z swap 1 0 1", "gradient s[0, 0]", "gradients/0/largest/0/index/1", 0, 1);
        row("gradient, removed", "edit z remove 1 1", "gradient s[0, 1]", "gradients/0/max", 1, 0);
        row("gradient, noise", "edit z noise 0.5 3", "gradient s[0, 1]", "gradients/0/max", 1, 1);
        // 0.1 is no float16.
        row("precision", "set w[0, 1] = 0.1", "precision float16", "precision/begins", QVariant::fromValue(nullptr),
            "y");
        row("precision says so", kWeight, "precision float16", "precision/edits", QVariant(), 1);
        row("problems", "set y[0, 1] = log(-1)", "problems", "problems/0/kind", QVariant(), "nan");
        row("compare, weight", kWeight, "compare FOLDER/weight.npz", "comparison/differing", 1, 0);
        row("compare, value", kValue, "compare FOLDER/value.npz", "comparison/differing", 1, 0);
        row("compare, input", kInput, "compare FOLDER/input.npz", "comparison/differing", 1, 0);
        row("compare with what it was", kWeight, "compare FOLDER/plain.npz", "comparison/first",
            QVariant::fromValue(nullptr), "s");
        row("compare says so", kWeight, "compare FOLDER/weight.npz", "comparison/summary",
            "1 of 1 value differs from weight.npz", "1 value agrees with weight.npz (with 1 edit)");
        row("compare counts them", kWeight, "compare FOLDER/plain.npz", "comparison/edits", QVariant(), 1);
        row("compare with a model", kWeight, "compare FOLDER/other.onnx", "comparison/differing", 3, 0);
        row("compare with a model, value", kValue, "compare FOLDER/linear.onnx", "comparison/differing", 0, 2);
        row("compare with a model, the first", kValue, "compare FOLDER/linear.onnx", "comparison/first",
            QVariant::fromValue(nullptr), "z");
        row("compare with a model, all values", kValue, "compare FOLDER/linear.onnx", "comparison/compared", 4, 4);
        // z = [[2, 4], [3, 4]], s = [[12, 24], [13, 24]]
        row("compare, computed", "set z[0] = y[0] * 2", "compare FOLDER/plain.npz", "comparison/differing", 0, 1);
        row("baseline", kWeight, "baseline s[0, 1]", "value", 22, 22);
        row("difference", kWeight, "difference s", "difference/max_abs", 0, 15);
    }
    void theyCountTheEdit() {
        QFETCH(QString, edit);
        QFETCH(QString, line);
        QFETCH(QString, path);
        QFETCH(QVariant, before);
        QFETCH(QVariant, after);
        for (const bool isEdited : {false, true}) {
            Prompt prompt;
            QCOMPARE(prompt.answer("run")["state"].toString(), QString("finished"));
            if (isEdited) QVERIFY2(!prompt.answer(edit).contains("error"), qPrintable(edit));
            const QJsonObject answer = prompt.answer(line);
            QVERIFY2(!answer.contains("error"), qPrintable(shown(answer)));
            QVERIFY2(isSame(at(answer, path), isEdited ? after : before), qPrintable(shown(answer)));
        }
    }

    /// Also what stops the run, and what it writes down on the way.
    void breakpointsAndLogPointsSeeIt() {
        Prompt prompt;
        QVERIFY(!prompt.answer(kWeight).contains("error"));
        QVERIFY(!prompt.answer("break s if max(s) > 30").contains("error"));
        QVERIFY(!prompt.answer("log y max(y)").contains("error"));
        const QJsonObject stopped = prompt.answer("run");
        QCOMPARE(stopped["state"].toString(), QString("stopped"));
        QCOMPARE(stopped["current"].toString(), QString("s"));
        QCOMPARE(at(stopped, "log/0/value").toDouble(), 19.0);
    }

    /// Made again it counts the present edits.
    void aComparisonFollowsTheEdits() {
        Prompt prompt;
        QVERIFY(!prompt.answer("run").contains("error"));
        QVERIFY(!prompt.answer(kWeight).contains("error"));
        const QJsonObject first = prompt.answer("compare FOLDER/weight.npz");
        QCOMPARE(at(first, "comparison/differing").toInt(), 0);
        QCOMPARE(at(first, "comparison/differing_without_edits").toInt(), 1);
        QVERIFY(!prompt.answer("edits off 1").contains("error"));
        const QJsonObject again = prompt.answer("compare");
        QCOMPARE(at(again, "comparison/differing").toInt(), 1);
        QCOMPARE(at(again, "comparison/first").toString(), QString("s"));
        QVERIFY(!again["comparison"].toObject().contains("edits"));
        QVERIFY(!prompt.answer("edits on 1").contains("error"));
        QVERIFY(!prompt.answer(kInput).contains("error"));
        // x · w = [[1, 8], [3, 19]].
        const QJsonObject both = prompt.answer("compare");
        QCOMPARE(at(both, "comparison/summary").toString(),
                 QString("1 of 1 value differs from weight.npz (with 2 edits)"));
    }
    /// An edit that has no form as a model is named; it is not left out.
    void whatCannotBeComparedIsSaid() {
        Prompt prompt;
        QVERIFY(!prompt.answer("run").contains("error"));
        QVERIFY(!prompt.answer("set z[0] = y[0] * 2").contains("error"));
        const QString error = prompt.answer("precision float16")["error"].toString();
        QVERIFY2(error.contains("z[0] = y[0] * 2") && error.contains("depends on values of the run"),
                 qPrintable(error));
    }

    /// A weight that an exporter has given another name is found by its module.
    void weightsOfTheModuleAreHinted() {
        Prompt prompt;
        QVERIFY(!prompt.answer("set layer.weight = 0")["hint"].toString().contains("weights of"));
        session::Session session;
        QVERIFY(session.open("zoo:param_linear"));
        const auto wrong = session::ReadyEdit::find(*session.document(), "linear.kernel");
        QVERIFY(!wrong);
        QVERIFY2(wrong.error().hint.starts_with("the weights of linear are "), wrong.error().text().c_str());
    }

    void aGradientThroughComputedElementsIsRefused() {
        Prompt prompt;
        QVERIFY(!prompt.answer("run").contains("error"));
        QVERIFY(!prompt.answer("set z[0] = y[0] * 2").contains("error"));
        const QString error = prompt.answer("gradient s[0, 1]")["error"].toString();
        QVERIFY2(error.contains("z[0] = y[0] * 2") && error.contains("values of the run"), qPrintable(error));
    }
};

QTEST_GUILESS_MAIN(TestCommandsWithEdits)

}  // namespace tst_commands_with_edits

#include "tst_commands_with_edits.moc"
