// What a session keeps in its file beside points and inputs comes back as it was.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/session/session_state.h"
#include "tests/support/onnx_file.h"

namespace tst_session_state {

using namespace sonde;
using session::Session;
namespace onnx = test::onnxfile;

class TestSessionState : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// y = x + x; the node of y is called `name`.
    std::string model(const std::string& name) const {
        const onnx::Graph graph{
            {{"Add", {"x", "x"}, {name}}}, {onnx::valueInfo("x", 1, {2})}, {onnx::valueInfo(name, 1, {2})}, {}};
        const std::string path = m_folder.filePath(QStringLiteral("m.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        return path;
    }

  private slots:
    void policyTolerancesSeedAndNotes() {
        const std::string file = m_folder.filePath(QStringLiteral("s.sonde")).toStdString();
        const session::WatchPolicy policy{session::WatchKeep::Sample, std::size_t{3} << 20, 17};
        {
            Session session;
            QVERIFY(session.open(model("y")));
            session.runs().setPolicy(policy);
            analysis::Tolerances tolerances;
            tolerances.float32 = 0.25;
            session.comparison().setTolerances(tolerances);
            session.setNote(session.document()->graph->findNode("y"),
                            "a\x01"
                            "b\nc\td\x7f");
            QVERIFY(session::saveSession(session, file).has_value());
        }
        Session session;
        QVERIFY(session.open(file));
        QVERIFY(session::restoreSession(session).empty());
        QCOMPARE(session.runs().policy(), policy);
        QCOMPARE(session.comparison().tolerances().float32, 0.25);
        // Control characters do not survive, lines do.
        QVERIFY(session.notes().of(session.document()->graph->findNode("y")).starts_with("ab\nc\td"));
    }

    /// Names are kept in backticks, whatever they hold.
    void breakpointsAtAnyName() {
        const std::string file = m_folder.filePath(QStringLiteral("s.sonde")).toStdString();
        for (const std::string name : {"a`b", "a\\b", "a\\`b\\", "nan", "op:Add"}) {
            Session session;
            QVERIFY(session.open(model(name)));
            std::vector<session::debug::SavedBreakpoint> saved{{"`" + std::string("y") + "`", "", "", false, true, 0}};
            saved.front().where = "`";
            for (const char c : name) saved.front().where += (c == '`' || c == '\\' ? "\\" : "") + std::string(1, c);
            saved.front().where += "`";
            QVERIFY(session.debugger().restoreBreakpoints(saved).empty());
            QCOMPARE(session.debugger().savedBreakpoints().front().where, saved.front().where);
            QVERIFY(session::saveSession(session, file).has_value());
            Session again;
            QVERIFY(again.open(file));
            QVERIFY(session::restoreSession(again).empty());
            const auto& points = again.debugger().breakpoints().all();
            QCOMPARE(points.size(), std::size_t{1});
            QCOMPARE(points.front().kind, session::debug::Breakpoint::Kind::Node);
            QVERIFY2(!points.front().isMissing, name.c_str());
            QCOMPARE(points.front().name, name);
        }
    }

    /// Written by hand: each is told by what it says.
    void whatCannotBeRestoredIsTold() {
        const QString file = m_folder.filePath(QStringLiteral("s.sonde"));
        {
            Session session;
            QVERIFY(session.open(model("y")));
            QVERIFY(session::saveSession(session, file.toStdString()).has_value());
        }
        using Json = nlohmann::ordered_json;
        std::ifstream stored(file.toStdString());
        Json object = Json::parse(stored);
        object["breakpoints"] = Json::array({Json{{"at", "gone"}, {"enabled", true}}});
        object["watch_groups"] = Json::array({Json{{"kind", "query"}, {"text", "((("}}});
        object["outputs"] = Json::array({Json{{"name", "y"}, {"form", "odd"}}});
        std::ofstream(file.toStdString()) << object.dump();
        Session session;
        QVERIFY(session.open(file.toStdString()));
        const std::vector<std::string> lost = session::restoreSession(session);
        QCOMPARE(lost.size(), std::size_t{3});
        for (const char* start : {"breakpoint 'gone': ", "watched group '(((': ", "outputs[0].form: "})
            QVERIFY2(std::ranges::any_of(lost, [&](const std::string& line) { return line.starts_with(start); }),
                     start);
    }
};

QTEST_GUILESS_MAIN(TestSessionState)

}  // namespace tst_session_state

#include "tst_session_state.moc"
