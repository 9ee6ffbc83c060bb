// What if: set, edit, undo and redo of `sonde debug`. Expected values are worked out by hand from the operators.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/io/npz/npy.h"
#include "core/session/debug_commands.h"
#include "core/session/edits/changed_elements.h"
#include "core/session/session_state.h"
#include "tests/support/onnx_file.h"

namespace tst_edit_commands {

using namespace sonde;
using session::DebugCommands;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

std::string floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// y = x · w, z = relu(y), s = z + c, t = -x; x float32[2,2], w the identity, c = [10, 20].
std::string linearModel() {
    const onnx::Graph graph{
        {{"MatMul", {"x", "w"}, {"y"}}, {"Relu", {"y"}, {"z"}}, {"Neg", {"x"}, {"t"}}, {"Add", {"z", "c"}, {"s"}}},
        {onnx::valueInfo("x", 1, {2, 2})},
        {onnx::valueInfo("s", 1, {2, 2}), onnx::valueInfo("t", 1, {2, 2})},
        {onnx::rawTensor("w", 1, {2, 2}, floats({1, 0, 0, 1})), onnx::rawTensor("c", 1, {2}, floats({10, 20}))}};
    return onnx::model(graph);
}

struct Prompt {
    QTemporaryDir folder;
    Session session;
    DebugCommands commands{session};

    Prompt() {
        const std::string path = folder.filePath(QStringLiteral("linear.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << linearModel();
        if (!session.open(path)) return;
        session.runs().giveValues({Tensor::of<float>({2, 2}, {1, -2, 3, 4})});
    }
    QJsonObject answer(std::string_view line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
    QJsonArray value(std::string_view line) { return answer(line).value("value").toArray(); }
    QString error(std::string_view line) { return answer(line).value("error").toString(); }
    int column(std::string_view line) { return answer(line).value("column").toInt(); }
};

QJsonArray rows(double a, double b, double c, double d) { return {QJsonArray{a, b}, QJsonArray{c, d}}; }

}  // namespace

class TestEditCommands : public QObject {
    Q_OBJECT

  private slots:
    /// The contract: dependants show the other value, undo gives the baseline's again.
    void dependantsFollow() {
        Prompt prompt;
        QCOMPARE(prompt.answer("run").value("state").toString(), QStringLiteral("finished"));
        QCOMPARE(prompt.value("print s"), rows(11, 20, 13, 24));
        const QJsonObject set = prompt.answer("set y[0, 1] = 5");
        QCOMPARE(set.value("state").toString(), QStringLiteral("finished"));
        QVERIFY(set.value("current").isNull());
        QCOMPARE(set.value("counterfactual").toInt(), 3);  // y, z, s
        QCOMPARE(prompt.value("print y"), rows(1, 5, 3, 4));
        QCOMPARE(prompt.value("print z"), rows(1, 5, 3, 4));
        QCOMPARE(prompt.value("print s"), rows(11, 25, 13, 24));
        QCOMPARE(prompt.value("print t"), rows(-1, 2, -3, -4));
        QCOMPARE(prompt.answer("stats s").value("max").toDouble(), 25.0);
        QCOMPARE(prompt.value("baseline s"), rows(11, 20, 13, 24));
        const QJsonObject difference = prompt.answer("difference s").value("difference").toObject();
        QCOMPARE(difference.value("max_abs").toDouble(), 5.0);
        QCOMPARE(difference.value("changed").toInt(), 1);
        QCOMPARE(difference.value("elements").toInt(), 4);
        QCOMPARE(prompt.answer("undo").value("state").toString(), QStringLiteral("finished"));
        QCOMPARE(prompt.value("print s"), rows(11, 20, 13, 24));
        QVERIFY(!prompt.answer("redo").contains("error"));
        QCOMPARE(prompt.value("print s"), rows(11, 25, 13, 24));
    }

    void problemsAreThoseOfTheEdit() {
        Prompt prompt;
        (void)prompt.answer("run");
        QVERIFY(prompt.answer("problems").value("problems").toArray().isEmpty());
        (void)prompt.answer("set y[1] = nan");
        const QJsonArray problems = prompt.answer("problems").value("problems").toArray();
        QCOMPARE(problems.size(), 3);
        QCOMPARE(problems.at(0).toObject().value("node").toString(), QStringLiteral("y"));
        (void)prompt.answer("undo");
        QVERIFY(prompt.answer("problems").value("problems").toArray().isEmpty());
    }

    /// Before a run, in the midst of one, and several of them.
    void editsAreMadeAtAnyTime() {
        Prompt prompt;
        QVERIFY(!prompt.answer("set y = 0").contains("error"));
        QCOMPARE(prompt.answer("step").value("current").toString(), QStringLiteral("y"));
        QCOMPARE(prompt.value("print y"), rows(0, 0, 0, 0));
        QCOMPARE(prompt.answer("step").value("current").toString(), QStringLiteral("z"));
        const QJsonObject set = prompt.answer("set y[:, 0] = y[:, 0] + 7");
        QCOMPARE(set.value("current").toString(), QStringLiteral("z"));
        QCOMPARE(set.value("state").toString(), QStringLiteral("stopped"));
        QCOMPARE(prompt.value("print y"), rows(7, 0, 7, 0));
        QVERIFY(prompt.answer("print s").contains("error"));
        (void)prompt.answer("continue");
        QCOMPARE(prompt.value("print s"), rows(17, 20, 17, 20));
        QCOMPARE(prompt.value("baseline s"), rows(11, 20, 13, 24));
        (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print s"), rows(10, 20, 10, 20));
        (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print s"), rows(11, 20, 13, 24));
        QCOMPARE(prompt.error("undo"), QStringLiteral("there is no edit to undo"));
        (void)prompt.answer("redo");
        QCOMPARE(prompt.value("print s"), rows(10, 20, 10, 20));
        (void)prompt.answer("set z = 1");
        QCOMPARE(prompt.error("redo"), QStringLiteral("there is no edit to redo"));
        QCOMPARE(prompt.value("print s"), rows(11, 21, 11, 21));
        QCOMPARE(prompt.answer("run").value("state").toString(), QStringLiteral("finished"));
        QCOMPARE(prompt.value("print s"), rows(11, 21, 11, 21));
        QCOMPARE(prompt.answer("edits").value("edits").toArray().size(), 2);
    }

    void weightsAndInputsAreEdited() {
        Prompt prompt;
        (void)prompt.answer("run");
        QVERIFY(!prompt.answer("set w[0] = [2, 3]").contains("error"));
        // [1,-2]·[[2,3],[0,1]] = [2, 1]; [3,4]·… = [6, 13]
        QCOMPARE(prompt.value("print y"), rows(2, 1, 6, 13));
        QCOMPARE(prompt.value("print w"), rows(2, 3, 0, 1));
        QVERIFY(!prompt.answer("set w = w * 2").contains("error"));
        QCOMPARE(prompt.value("print y"), rows(4, 2, 12, 26));
        QVERIFY(!prompt.answer("set x[1, :] = 0").contains("error"));
        QCOMPARE(prompt.value("print x"), rows(1, -2, 0, 0));
        QCOMPARE(prompt.value("print t"), (rows(-1, 2, -0.0, -0.0)));
        QCOMPARE(prompt.value("print y"), rows(4, 2, 0, 0));
        for (int i = 0; i < 3; ++i) (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print y"), rows(1, -2, 3, 4));
        QCOMPARE(prompt.value("print w"), rows(1, 0, 0, 1));
        QCOMPARE(prompt.value("print t"), rows(-1, 2, -3, -4));
    }

    void operationsAreApplied() {
        Prompt prompt;
        (void)prompt.answer("run");
        const auto now = [&](std::string_view edit) {
            const QJsonObject answer = prompt.answer(edit);
            if (answer.contains("error")) return QJsonArray{answer.value("error")};
            const QJsonArray value = prompt.value("print y");
            (void)prompt.answer("undo");
            return value;
        };
        QCOMPARE(now("edit y zero"), rows(0, 0, 0, 0));
        QCOMPARE(now("edit y[0] zero"), rows(0, 0, 3, 4));
        QCOMPARE(now("edit y[..., 1] scale -0.5"), rows(1, 1, 3, -2));
        QCOMPARE(now("edit y swap 0 0 1"), rows(3, 4, 1, -2));
        QCOMPARE(now("edit y swap -1 0 1"), rows(-2, 1, 4, 3));
        QCOMPARE(now("edit y remove 1 0"), rows(0, -2, 0, 4));
        QCOMPARE(now("edit y remove 0 1 of 2"), rows(1, -2, 0, 0));
        QCOMPARE(now("edit y[y < 0] scale 10"), rows(1, -20, 3, 4));
        QCOMPARE(now("set y[y > 2] = [8, 9]"), rows(1, -2, 8, 9));
        QCOMPARE(now("set y[1, [1, 0]] = [8, 9]"), rows(1, -2, 9, 8));
        QCOMPARE(now("set y = y + x"), rows(2, -4, 6, 8));
        QCOMPARE(now("set y[1] = c"), rows(1, -2, 10, 20));
        QCOMPARE(now("set y[:, ::-1] = [[1, 2], [3, 4]]"), rows(2, 1, 4, 3));
        const std::string file = prompt.folder.filePath(QStringLiteral("row.npy")).toStdString();
        QVERIFY(io::writeNpyFile(file, Tensor::of<double>({2}, {0.5, 6})).has_value());
        QCOMPARE(now("edit y load " + file), rows(0.5, 6, 0.5, 6));
        // Noise: the same for the same seed, another one for another, none of deviation 0.
        QCOMPARE(now("edit y noise 0"), rows(1, -2, 3, 4));
        QVERIFY(now("edit y noise 1 5") != rows(1, -2, 3, 4));
        QCOMPARE(now("edit y noise 1 5"), now("edit y noise 1 5"));
        QVERIFY(now("edit y noise 1 5") != now("edit y noise 1 6"));
    }

    void whatIsNoNumberIsNeitherScaledNorNoisy() {
        const auto refusal = [](session::Edit::Kind kind, const Tensor& value) {
            session::Edit edit;
            edit.kind = kind;
            edit.number = 0.5;
            const auto made = session::changedElements(edit, value);
            return made ? QString() : QString::fromStdString(made.error().what);
        };
        QCOMPARE(refusal(session::Edit::Kind::Scale, Tensor::of<bool>({2}, {true, false})),
                 QStringLiteral("scale is for numbers, but the value is bool[2]"));
        QCOMPARE(refusal(session::Edit::Kind::Noise, Tensor::of<std::int64_t>({2}, {1, 2})),
                 QStringLiteral("noise is for floating-point numbers, but the value is int64[2]"));
        QVERIFY(refusal(session::Edit::Kind::Scale, Tensor::of<std::int64_t>({2}, {1, 2})).contains("factor of 0.5"));
    }

    /// As numbers that are set: what the dtype cannot hold is refused, with the element.
    void scaledIntegersStayInTheirRange() {
        const auto scaled = [](const Tensor& value, double factor) {
            session::Edit edit;
            edit.kind = session::Edit::Kind::Scale;
            edit.number = factor;
            return session::changedElements(edit, *value.clone());
        };
        const auto small = Tensor::of<std::int8_t>({2, 2}, {42, -43, 0, 74});
        const auto made = scaled(small, -1);
        QVERIFY(made);
        QVERIFY(
            tensor::identical(tensor::Value(*made), tensor::Value(Tensor::of<std::int8_t>({2, 2}, {-42, 43, 0, -74}))));
        const auto refused = scaled(small, 3);
        QVERIFY(!refused);
        QCOMPARE(QString::fromStdString(refused.error().what),
                 QStringLiteral("element 1 of the value, -43, times 3 is outside of the range of int8"));
        QVERIFY(!scaled(Tensor::of<std::uint8_t>({1}, {1}), -1));
        QVERIFY(scaled(Tensor::of<std::uint8_t>({1}, {0}), -1));
        QVERIFY(!scaled(Tensor::of<std::int64_t>({1}, {std::int64_t{1} << 62}), 2));
        QVERIFY(scaled(Tensor::of<std::int64_t>({1}, {-(std::int64_t{1} << 62)}), 2));
        QVERIFY(!scaled(Tensor::of<std::uint64_t>({1}, {std::uint64_t{1} << 63}), 2));
        QVERIFY(scaled(Tensor::of<std::uint64_t>({1}, {(std::uint64_t{1} << 63) - 1}), 2));
    }

    /// Each names the place, and changes nothing.
    void errorsChangeNothing_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<int>("column");
        QTest::addColumn<QString>("part");
        QTest::newRow("no node") << "set q = 1" << 5 << "q";
        QTest::newRow("nothing") << "set" << 4 << "missing";
        QTest::newRow("no sign") << "set y 1" << 7 << "'='";
        QTest::newRow("no expression") << "set y =" << 8 << "missing";
        QTest::newRow("bad expression") << "set y = 1 +" << 12 << "expected";
        QTest::newRow("bad name") << "set y = 1 + qq" << 13 << "qq";
        QTest::newRow("later") << "set y = s" << 9 << "later";
        QTest::newRow("later, of a weight") << "set w = x" << 9 << "weight";
        QTest::newRow("later, of an input") << "set x = y" << 9 << "input";
        QTest::newRow("open slice") << "set y[0 = 1" << 6 << "']'";
        QTest::newRow("empty slice") << "set y[] = 1" << 7 << "empty";
        QTest::newRow("bad slice") << "set y[0, +] = 1" << 11 << "expected";
        QTest::newRow("bad name in a slice") << "set y[0, qq] = 1" << 10 << "qq";
        QTest::newRow("out of bounds") << "set y[5] = 1" << 7 << "'y[5]': index 5 is out of bounds";
        QTest::newRow("too many") << "set y[0, 0, 0] = 1" << 7 << "y[0, 0, 0]";
        QTest::newRow("other shape") << "set y[0] = [1, 2, 3]" << 12
                                     << "int64[3] cannot be broadcast to the slice, float32[2]";
        QTest::newRow("no edit") << "edit y upside" << 8 << "upside";
        QTest::newRow("no factor") << "edit y scale" << 13 << "factor";
        QTest::newRow("factor that no file holds") << "edit y scale nan" << 14 << "no finite number";
        QTest::newRow("negative deviation") << "edit y noise -1" << 14 << "standard deviation is -1";
        QTest::newRow("no deviation") << "edit y noise nan" << 14 << "standard deviation is nan";
        QTest::newRow("no axis") << "edit y swap 4 0 1" << 13 << "axis 4";
        QTest::newRow("no index") << "edit y remove 0 7" << 15 << "index 7";
        QTest::newRow("no parts") << "edit y remove 0 0 of 3" << 15 << "3 equal parts";
        QTest::newRow("one index") << "edit y swap 0 1" << 16 << "two indices";
        QTest::newRow("no file") << "edit y load nowhere.npy" << 13 << "nowhere.npy";
        QTest::newRow("more") << "edit y zero 1" << 13 << "unexpected";
    }
    void errorsChangeNothing() {
        QFETCH(QString, line);
        QFETCH(int, column);
        QFETCH(QString, part);
        Prompt prompt;
        (void)prompt.answer("run");
        (void)prompt.answer("set z[0] = 1");
        const QJsonArray before = prompt.value("print s");
        const QJsonObject answer = prompt.answer(line.toStdString());
        const QString error = answer.value("error").toString();
        QVERIFY2(error.contains(part), qPrintable(error));
        QVERIFY2(answer.value("column").toInt() == column,
                 qPrintable(error + QString::number(answer.value("column").toInt())));
        QCOMPARE(answer.value("state").toString(), QStringLiteral("finished"));
        QCOMPARE(prompt.answer("edits").value("edits").toArray().size(), 1);
        QCOMPARE(prompt.value("print s"), before);
    }

    void sessionFilesKeepThem() {
        Prompt prompt;
        (void)prompt.answer("run");
        const std::string npy = prompt.folder.filePath(QStringLiteral("row.npy")).toStdString();
        QVERIFY(io::writeNpyFile(npy, Tensor::of<float>({2}, {0.5, 6})).has_value());
        for (const std::string& edit :
             {std::string("set w[0] = [2, 3]"), std::string("set y[y > 5] = y[y > 5] - 1"),
              std::string("edit z[0] scale 0.25"), std::string("edit z noise 0.5 9"),
              std::string("edit y swap 0 0 1 of 2"), std::string("set x[0, 0] = -1"), "edit t[1] load " + npy})
            QVERIFY2(!prompt.answer(edit).contains("error"), edit.c_str());
        const QJsonArray s = prompt.value("print s"), t = prompt.value("print t");
        const QJsonArray edits = prompt.answer("edits").value("edits").toArray();
        QCOMPARE(edits.size(), 7);
        const std::string path = prompt.folder.filePath(QStringLiteral("edited.sonde")).toStdString();
        QVERIFY(!prompt.answer("save " + path).contains("error"));
        Session again;
        QVERIFY(again.open(path).has_value());
        QCOMPARE(session::restoreSession(again), std::vector<std::string>());
        again.runs().giveValues({Tensor::of<float>({2, 2}, {1, -2, 3, 4})});
        DebugCommands commands(again);
        const auto answer = [&](std::string_view line) {
            return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
        };
        QCOMPARE(answer("edits").value("edits").toArray(), edits);
        (void)answer("run");
        QCOMPARE(answer("print s").value("value").toArray(), s);
        QCOMPARE(answer("print t").value("value").toArray(), t);
        QCOMPARE(answer("baseline s").value("value").toArray(), rows(11, 20, 13, 24));
        for (int i = 0; i < 7; ++i) QVERIFY(!answer("undo").contains("error"));
        QCOMPARE(answer("print s").value("value").toArray(), rows(11, 20, 13, 24));
        QCOMPARE(answer("print t").value("value").toArray(), rows(-1, 2, -3, -4));
    }
};

QTEST_GUILESS_MAIN(TestEditCommands)

}  // namespace tst_edit_commands

#include "tst_edit_commands.moc"
