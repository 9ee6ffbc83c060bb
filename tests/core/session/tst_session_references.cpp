// Files that a model was compared with, in its session file: stored relative to its folder, offered again when it is
// opened, and read only where the session may read.

#include <QTemporaryDir>
#include <QtTest>

#include <filesystem>
#include <fstream>
#include <memory>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"
#include "core/session/session_state.h"
#include "tests/support/onnx_file.h"

namespace tst_session_references {

using namespace sonde;
using session::Session;
namespace fs = std::filesystem;
namespace onnx = test::onnxfile;

namespace {

/// y = x + x of float32[2], or another operator.
void writeModel(const fs::path& path, const char* op = "Add") {
    const onnx::Graph graph{
        {{op, {"x", "x"}, {"y"}}}, {onnx::valueInfo("x", 1, {2})}, {onnx::valueInfo("y", 1, {2})}, {}};
    std::ofstream(path, std::ios::binary) << onnx::model(graph);
}

/// x = (1, 2) and y = `y`.
void writeReference(const fs::path& path, std::vector<float> y) {
    const std::vector<io::NamedTensor> arrays{{"in.x", tensor::Tensor::of<float>({2}, {1, 2})},
                                              {"out.y", tensor::Tensor::of<float>({2}, y)}};
    QVERIFY(io::writeNpz(path, arrays).has_value());
}

}  // namespace

class TestSessionReferences : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_home;
    fs::path m_work;  ///< a folder in it

    std::string inWork(const char* name) const { return (m_work / name).string(); }
    /// What the file says, as it is stored.
    static std::vector<std::string> stored(const std::string& path) {
        const auto file = io::readSession(path);
        return file ? file->references : std::vector<std::string>{"cannot be read"};
    }

  private slots:
    void init() {
        m_home = std::make_unique<QTemporaryDir>();
        m_work = fs::canonical(m_home->path().toStdString()) / "work";
        fs::create_directory(m_work);
        writeModel(m_work / "m.onnx");
        writeReference(m_work / "right.npz", {2, 4});
        writeReference(m_work / "wrong.npz", {2, 5});
    }

    void theLastOneComesFirst() {
        Session session;
        QVERIFY(session.open(inWork("m.onnx")));
        QVERIFY(session.comparison().references().empty());
        for (const char* name : {"right.npz", "wrong.npz", "right.npz"}) session.comparison().withFile(inWork(name));
        const std::vector<std::string> expected{inWork("right.npz"), inWork("wrong.npz")};
        QCOMPARE(session.comparison().references(), expected);
        // What is no file is not noted.
        QVERIFY(!session.comparison().setBaseline().empty());
        session.comparison().withBaseline();
        QCOMPARE(session.comparison().title(), std::string("the baseline"));
        QCOMPARE(session.comparison().references(), expected);
        // Nor one that could not be compared with.
        session.comparison().withFile(inWork("none.npz"));
        QCOMPARE(session.comparison().references(), expected);
    }

    /// Its values are in a file that goes again, and of the inputs that there are.
    void anotherEngineKeepsTheInputs() {
        const fs::path folder = m_work / "sonde-ort-AbCdEf";
        fs::create_directory(folder);
        writeReference(folder / "ONNX Runtime 1.4.9.npz", {2, 4});
        Session session;
        QVERIFY(session.open(inWork("m.onnx")));
        QVERIFY(session.inputs().set("x", {"[1, 2]", {}}));
        session.inputs().read();
        const std::string given = session.inputs().inputData();
        session.comparison().withFile((folder / "ONNX Runtime 1.4.9.npz").string());
        QVERIFY(session.comparison().isKnown() && !session.comparison().isStale());
        QCOMPARE(session.inputs().inputData(), given);
        QCOMPARE(session.comparison().title(), std::string("ONNX Runtime 1.4.9"));
        QCOMPARE(session.comparison().compared(), std::size_t{1});
        QCOMPARE(session.comparison().differing(), std::size_t{0});
        QVERIFY(session.comparison().references().empty());
    }

    /// Also another model, and in the folder that the file is moved to.
    void reopeningOffersTheSameComparison() {
        writeModel(m_work / "other.onnx", "Mul");
        {
            Session session;
            QVERIFY(session.open(inWork("m.onnx")));
            session.comparison().withFile(inWork("other.onnx"));
            session.comparison().withFile(inWork("wrong.npz"));
            QCOMPARE(session.comparison().differing(), std::size_t{1});
            QVERIFY(session::saveSession(session, inWork("s.sonde")).has_value());
        }
        const std::vector<std::string> names{"wrong.npz", "other.onnx"};
        QCOMPARE(stored(inWork("s.sonde")), names);
        const fs::path moved = m_work.parent_path() / "moved";
        fs::rename(m_work, moved);
        Session session;
        QVERIFY(session.open((moved / "s.sonde").string()));
        const std::vector<std::string> lost = session::restoreSession(session);
        QVERIFY2(lost.empty(), lost.empty() ? "" : lost.front().c_str());
        QVERIFY(session.comparison().canRepeat() && !session.comparison().isKnown());
        session.comparison().again();
        QCOMPARE(session.comparison().title(), std::string("wrong.npz"));
        QCOMPARE(session.comparison().differing(), std::size_t{1});
        QVERIFY(session::saveSession(session, moved / "s.sonde").has_value());
        QCOMPARE(stored((moved / "s.sonde").string()), names);
        // In another folder the paths are absolute.
        const fs::path elsewhere = moved.parent_path() / "t.sonde";
        QVERIFY(session::saveSession(session, elsewhere).has_value());
        QCOMPARE(stored(elsewhere.string()).front(), std::string("moved/wrong.npz"));
        fs::create_directory(m_work);
        QVERIFY(session::saveSession(session, m_work / "u.sonde").has_value());
        QCOMPARE(stored(inWork("u.sonde")).front(), (moved / "wrong.npz").string());
    }

    /// Absolute, by "..", through a link: not offered without consent, and kept in the file all the same.
    void outsideOfTheFolderIsNotOffered() {
        writeReference(m_work.parent_path() / "outside.npz", {2, 5});
        fs::create_symlink(m_work.parent_path() / "outside.npz", m_work / "link.npz");
        for (const std::string& name : {(m_work.parent_path() / "outside.npz").string(), std::string("../outside.npz"),
                                        std::string("link.npz")}) {
            Session first;
            QVERIFY(first.open(inWork("m.onnx")));
            QVERIFY(session::saveSession(first, inWork("s.sonde")).has_value());
            auto file = io::readSession(inWork("s.sonde"));
            QVERIFY(file.has_value());
            file->references = {name, "right.npz"};
            QVERIFY(io::writeSession(inWork("s.sonde"), *file).has_value());

            Session session;
            QVERIFY(session.open(inWork("s.sonde")));
            const std::vector<std::string> lost = session::restoreSession(session);
            QCOMPARE(lost.size(), std::size_t{1});
            QVERIFY2(lost.front().find("outside of the session's folder") != std::string::npos, lost.front().c_str());
            QVERIFY(!session.comparison().canRepeat());
            session.comparison().again();
            QVERIFY(!session.comparison().isKnown());
            QVERIFY(session::saveSession(session, inWork("s.sonde")).has_value());
            QCOMPARE(stored(inWork("s.sonde")).size(), std::size_t{2});

            Session allowed;
            document::OpenOptions options;
            options.allowOutside = true;
            QVERIFY(allowed.open(inWork("s.sonde"), options));
            QVERIFY(session::restoreSession(allowed).empty());
            allowed.comparison().again();
            QCOMPARE(allowed.comparison().differing(), std::size_t{1});
        }
    }

    /// An input that nobody agreed to read stays in the file when a run was given random numbers for it.
    void aWithheldInputStaysInTheFile() {
        writeReference(m_work.parent_path() / "outside.npz", {2, 5});
        Session first;
        QVERIFY(first.open(inWork("m.onnx")));
        QVERIFY(session::saveSession(first, inWork("s.sonde")).has_value());
        auto file = io::readSession(inWork("s.sonde"));
        QVERIFY(file.has_value());
        file->inputs = {{"x", "../outside.npz#in.x", "bgr", true}};
        QVERIFY(io::writeSession(inWork("s.sonde"), *file).has_value());
        const auto sourceAfter = [&](const char* given, bool isAllowed) {
            Session session;
            document::OpenOptions options;
            options.allowOutside = isAllowed;
            if (!session.open(inWork("s.sonde"), options)) return std::string("not opened");
            (void)session::restoreSession(session);
            session.inputs().restore("x", {given, {}});
            if (!session::saveSession(session, inWork("t.sonde"))) return std::string("not saved");
            const auto saved = io::readSession(inWork("t.sonde"));
            return saved && saved->inputs.size() == 1 ? saved->inputs.front().source : std::string("none");
        };
        const std::string outside = (m_work.parent_path() / "outside.npz").string() + "#in.x";
        QCOMPARE(sourceAfter("#rand(0,1)", false), outside);
        QCOMPARE(sourceAfter("[3,4]", false), std::string("[3,4]"));  // that is a choice
        QCOMPARE(sourceAfter("#rand(0,1)", true), std::string("#rand(0,1)"));
    }

    /// Likewise an edit that loads such a file: it is kept, and does nothing until somebody agrees.
    void aWithheldEditStaysInTheFile() {
        const fs::path row = m_work.parent_path() / "row.npy";
        QVERIFY(io::writeNpyFile(row, tensor::Tensor::of<float>({2}, {7, 8})).has_value());
        Session first;
        QVERIFY(first.open(inWork("m.onnx")));
        session::Edit edit;
        edit.kind = session::Edit::Kind::File;
        edit.text = row.string();
        session::EditPlace place;
        QVERIFY(first.addEdit(first.document()->graph->findNode("y"), edit, place).has_value());
        QVERIFY(session::saveSession(first, inWork("s.sonde")).has_value());
        const auto reopened = [&](const char* file, bool isAllowed) {
            auto session = std::make_unique<Session>();
            document::OpenOptions options;
            options.allowOutside = isAllowed;
            if (session->open(inWork(file), options)) {
                const std::vector<std::string> lost = session::restoreSession(*session);
                const bool isTold =
                    lost.size() == 1 && lost.front().find("outside of the session's folder") != std::string::npos;
                if (isAllowed ? lost.empty() : isTold) return session;
            }
            return std::make_unique<Session>();
        };
        const auto withheld = reopened("s.sonde", false);
        QCOMPARE(withheld->edits().all().size(), std::size_t{1});
        QVERIFY(!withheld->edits().all().front().counts());
        QVERIFY(!withheld->edits().planned());
        QCOMPARE(withheld->edits().withheldFile(), std::optional(row.string()));
        // Nor is it read when the model is opened without the session file, which keeps the edits.
        session::Session other;
        QVERIFY(other.open(inWork("m.onnx")));
        withheld->edits().bind(other.document());
        QVERIFY(!withheld->edits().all().front().counts());
        withheld->edits().bind(withheld->document());
        QVERIFY(session::saveSession(*withheld, inWork("t.sonde")).has_value());
        const auto allowed = reopened("t.sonde", true);
        QCOMPARE(allowed->edits().all().size(), std::size_t{1});
        QVERIFY(allowed->edits().all().front().counts());
        QVERIFY(!allowed->edits().withheldFile());
        QCOMPARE(allowed->edits().all().front().edit.text, row.string());
    }

    /// A comparison gives the model the reference's inputs; those that the user gave are stored.
    void comparingKeepsTheInputs() {
        const std::vector<io::NamedTensor> own{{"x", tensor::Tensor::of<float>({2}, {5, 6})}};
        QVERIFY(io::writeNpz(m_work / "own.npz", own).has_value());
        writeReference(m_work.parent_path() / "outside.npz", {2, 5});
        const std::string outside = (m_work.parent_path() / "outside.npz").string();
        const auto sourceAfter = [&](Session& session) {
            if (!session::saveSession(session, inWork("s.sonde"))) return std::string("not saved");
            const auto file = io::readSession(inWork("s.sonde"));
            return file && file->inputs.size() == 1 ? file->inputs.front().source : std::string("none");
        };
        Session session;
        QVERIFY(session.open(inWork("m.onnx")));
        session.comparison().withFile(outside);  // nothing was given
        QVERIFY(session.comparison().isKnown());
        QCOMPARE(sourceAfter(session), std::string("none"));
        QVERIFY(session.runs().give("x", {inWork("own.npz") + "#x", {}}).has_value());
        QCOMPARE(sourceAfter(session), std::string("own.npz#x"));
        for (const std::string& reference : {outside, inWork("right.npz"), outside}) {
            session.comparison().withFile(reference);
            QVERIFY(session.comparison().isKnown() && !session.comparison().isStale());
            QVERIFY(session.inputs().find("x")->spec.source.starts_with(reference));
            QCOMPARE(sourceAfter(session), std::string("own.npz#x"));
        }
        Session again;
        QVERIFY(again.open(inWork("s.sonde")));
        QVERIFY(session::sessionInputs(*again.document()).has_value());
        // What is given after it is a choice, also the same file for the model as a whole.
        QVERIFY(session.runs().give("x", {"[7,8]", {}}).has_value());
        QCOMPARE(sourceAfter(session), std::string("[7,8]"));
        session.comparison().withFile(inWork("right.npz"));
        session.runs().giveFile(inWork("own.npz"));
        QVERIFY(sourceAfter(session).starts_with("own.npz"));
    }

    void anotherModelHasNone() {
        writeModel(m_work / "other.onnx");
        Session session;
        QVERIFY(session.open(inWork("m.onnx")));
        session.comparison().withFile(inWork("right.npz"));
        QVERIFY(session.open(inWork("m.onnx")));  // the same again
        QCOMPARE(session.comparison().references().size(), std::size_t{1});
        QVERIFY(session.open(inWork("other.onnx")));
        QVERIFY(session.comparison().references().empty());
    }
};

QTEST_GUILESS_MAIN(TestSessionReferences)

}  // namespace tst_session_references

#include "tst_session_references.moc"
