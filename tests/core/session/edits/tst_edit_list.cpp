// The list of edits: switched off and on, removed, undone and done again, and changed by work of the executor. Expected
// values are worked out by hand.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/session/debug_commands.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session_state.h"
#include "tests/support/onnx_file.h"

namespace tst_edit_list {

using namespace sonde;
using session::DebugCommands;
using session::Edit;
using session::EditPlace;
using session::Session;
using tensor::Tensor;
namespace onnx = test::onnxfile;

namespace {

std::string floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// y = x · w, z = relu(y); x float32[2,2] is [[1, -2], [3, 4]], w the identity.
struct Prompt {
    QTemporaryDir folder;
    Session session;
    DebugCommands commands{session};

    Prompt() {
        const onnx::Graph graph{{{"MatMul", {"x", "w"}, {"y"}}, {"Relu", {"y"}, {"z"}}},
                                {onnx::valueInfo("x", 1, {2, 2})},
                                {onnx::valueInfo("z", 1, {2, 2})},
                                {onnx::rawTensor("w", 1, {2, 2}, floats({1, 0, 0, 1}))}};
        std::ofstream(path("model.onnx"), std::ios::binary) << onnx::model(graph);
        if (!session.open(path("model.onnx"))) return;
        session.runs().giveValues({Tensor::of<float>({2, 2}, {1, -2, 3, 4})});
    }
    std::string path(const char* name) { return folder.filePath(QLatin1String(name)).toStdString(); }
    QJsonObject answer(std::string_view line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
    QJsonArray value(std::string_view line) { return answer(line).value("value").toArray(); }
    QString error(std::string_view line) { return answer(line).value("error").toString(); }
    QJsonArray edits() { return answer("edits").value("edits").toArray(); }
};

QJsonArray rows(double a, double b, double c, double d) { return {QJsonArray{a, b}, QJsonArray{c, d}}; }

}  // namespace

class TestEditList : public QObject {
    Q_OBJECT

  private slots:
    /// Of two edits of one weight the second is made on what the first leaves, or on the weight itself.
    void weightsFollowTheList() {
        Prompt prompt;
        (void)prompt.answer("run");
        (void)prompt.answer("set w[0] = [2, 3]");
        (void)prompt.answer("set w = w * 2");
        QCOMPARE(prompt.value("print w"), rows(4, 6, 0, 2));
        QCOMPARE(prompt.value("print y"), rows(4, 2, 12, 26));
        const QJsonObject off = prompt.answer("edits off 1");
        QCOMPARE(off.value("edits").toArray().at(0).toObject().value("enabled").toBool(true), false);
        QCOMPARE(prompt.value("print w"), rows(2, 0, 0, 2));
        QCOMPARE(prompt.value("print y"), rows(2, -4, 6, 8));
        (void)prompt.answer("edits on 1");
        QCOMPARE(prompt.value("print y"), rows(4, 2, 12, 26));
        (void)prompt.answer("edits remove 1");
        QCOMPARE(prompt.edits().size(), 1);
        QCOMPARE(prompt.value("print y"), rows(2, -4, 6, 8));
        QCOMPARE(prompt.value("baseline y"), rows(1, -2, 3, 4));
    }

    /// Each of those is taken back, the last one first, and done again.
    /// As if it had not been made, though others were made, removed and switched off around it.
    void withdrawnEditsDoNotComeBack() {
        Prompt prompt;
        (void)prompt.answer("run");
        session::Edits& edits = prompt.session.edits();
        for (const char* line : {"set x[0, 0] = 10", "set x[0, 1] = 20", "set x[1, 0] = 30", "set x[1, 1] = 40"})
            (void)prompt.answer(line);
        (void)prompt.answer("edits off 4");
        (void)prompt.answer("edits off 2");
        (void)prompt.answer("edits remove 1");
        // Now 20 (off), 30, 40 (off): 30 goes for good.
        QVERIFY(edits.withdraw(1));
        QCOMPARE(edits.all().size(), std::size_t{2});
        const auto texts = [&edits] {
            std::string all;
            for (const auto& entry : edits.all())
                all += (all.empty() ? "" : "; ") + session::editText(entry.edit) + (entry.edit.isEnabled ? "" : " off");
            return all;
        };
        QCOMPARE(texts(), std::string("x[0, 1] = 20 off; x[1, 1] = 40 off"));
        const std::string expected[] = {"x[0, 0] = 10; x[0, 1] = 20 off; x[1, 1] = 40 off",
                                        "x[0, 0] = 10; x[0, 1] = 20; x[1, 1] = 40 off",
                                        "x[0, 0] = 10; x[0, 1] = 20; x[1, 1] = 40",
                                        "x[0, 0] = 10; x[0, 1] = 20",
                                        "x[0, 0] = 10",
                                        ""};
        for (const std::string& each : expected) {
            QVERIFY(edits.undo());
            QCOMPARE(texts(), each);
        }
        QVERIFY(!edits.canUndo());
        for (int i = 0; i < 6; ++i) QVERIFY(edits.redo());
        QCOMPARE(texts(), std::string("x[0, 1] = 20 off; x[1, 1] = 40 off"));
        QVERIFY(!edits.canRedo() && !edits.withdraw(2));
    }

    void everyChangeIsUndone() {
        Prompt prompt;
        (void)prompt.answer("run");
        (void)prompt.answer("set y = 5");
        (void)prompt.answer("set z[0] = 1");
        (void)prompt.answer("edits off 1");
        QCOMPARE(prompt.value("print z"), rows(1, 1, 3, 4));
        (void)prompt.answer("edits remove 2");
        QCOMPARE(prompt.value("print z"), rows(1, 0, 3, 4));
        (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print z"), rows(1, 1, 3, 4));
        (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print z"), rows(1, 1, 5, 5));
        (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print z"), rows(5, 5, 5, 5));
        (void)prompt.answer("undo");
        QCOMPARE(prompt.value("print z"), rows(1, 0, 3, 4));
        QCOMPARE(prompt.error("undo"), QStringLiteral("there is no edit to undo"));
        for (int i = 0; i < 4; ++i) QVERIFY(!prompt.answer("redo").contains("error"));
        QCOMPARE(prompt.value("print z"), rows(1, 0, 3, 4));
        QCOMPARE(prompt.edits().size(), 1);
        QCOMPARE(prompt.error("redo"), QStringLiteral("there is no edit to redo"));
    }

    void wrongNumbersChangeNothing() {
        Prompt prompt;
        (void)prompt.answer("set y = 5");
        for (const char* line : {"edits off 0", "edits off 2", "edits remove x", "edits on"})
            QVERIFY2(prompt.error(line).contains("no edit of that number"), line);
        QCOMPARE(prompt.answer("edits off 2").value("column").toInt(), 11);
        QVERIFY(prompt.error("edits away 1").contains("no edits 'away'"));
        QVERIFY(prompt.error("edits off 1 2").contains("unexpected"));
        QCOMPARE(prompt.edits().size(), 1);
        QVERIFY(!prompt.edits().at(0).toObject().contains("enabled"));
    }

    /// What is switched off is kept as such, and is not in a model that is written.
    void aSwitchedOffEditIsKept() {
        Prompt prompt;
        (void)prompt.answer("set w = 7");
        (void)prompt.answer("set y[0] = 9");
        (void)prompt.answer("edits off 1");
        QVERIFY(session::saveSession(prompt.session, prompt.path("kept.sonde")));
        Session again;
        QVERIFY(again.open(prompt.path("kept.sonde")));
        QVERIFY(session::restoreSession(again).empty());
        QCOMPARE(again.edits().all().size(), 2U);
        QVERIFY(!again.edits().all()[0].edit.isEnabled);
        QVERIFY(again.edits().all()[1].edit.isEnabled);
        const auto edited = session::editedDocument(*again.document(), again.edits());
        QVERIFY2(edited, edited ? "" : edited.error().what.c_str());
        const graph::InternalGraph& graph = *(*edited)->graph;
        QCOMPARE(graph.node(graph.findNode("w")).constant->tensor().toDouble(0), 1.0);
        QVERIFY(graph.findNode("y_before_edits").valid());
    }

    /// As the window does it. With the executor that is there by default all is done when the call returns.
    void editsAreChangedByTheExecutor() {
        Prompt prompt;
        const auto add = [&prompt](const char* slice, const char* text) {
            Edit edit;
            edit.kind = Edit::Kind::Expression;
            edit.slice = slice;
            edit.text = text;
            const graph::NodeId node = *prompt.session.document()->findNode("y");
            std::optional<base::Result<void>> result;
            prompt.session.changeEdits(
                [node, edit](session::Edits& edits, const session::Edits::Present& present, EditPlace& place,
                             const base::WorkContext& work) { return edits.add(node, edit, present, place, work); },
                [&result](base::Result<void> changed, const EditPlace&) { result = std::move(changed); });
            return result;
        };
        auto before = add("1", "8");  // without a run
        QVERIFY(before && *before);
        (void)prompt.answer("run");
        QCOMPARE(prompt.value("print y"), rows(1, -2, 8, 8));
        auto made = add("0, 1", "6");
        QVERIFY(made && *made);
        QCOMPARE(prompt.value("print z"), rows(1, 6, 8, 8));
        QCOMPARE(prompt.answer("edits").value("state").toString(), QStringLiteral("finished"));
        auto refused = add("0, 2", "6");
        QVERIFY(refused && !*refused);
        QCOMPARE(prompt.edits().size(), 2);
        QCOMPARE(prompt.value("print z"), rows(1, 6, 8, 8));
        QCOMPARE(prompt.answer("edits").value("state").toString(), QStringLiteral("finished"));
    }
};

QTEST_GUILESS_MAIN(TestEditList)

}  // namespace tst_edit_list

#include "tst_edit_list.moc"
