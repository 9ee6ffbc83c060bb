// Session files on the command line: saved by `sonde debug`, opened by every verb, moved to another folder, and
// hostile.

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/support/onnx_file.h"
#include "tests/support/run_sonde.h"

namespace tst_session_verbs {

using sonde::test::Outcome;
using sonde::test::runSonde;

namespace {

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& content) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
}

/// A folder with the model, its data and a session that was saved in `sonde debug`.
struct Saved {
    QTemporaryDir home;
    QString folder, session;

    explicit Saved(const QByteArray& commands) {
        QDir(home.path()).mkdir("work");
        folder = home.filePath("work");
        session = folder + "/s.sonde";
        for (const char* name : {"mlp_functional.onnx", "mlp_functional.npz"})
            QFile::copy(QStringLiteral(SONDE_TEST_DATA "/models/") + name, folder + '/' + name);
        debug(folder + "/mlp_functional.onnx", commands + "save " + session.toUtf8() + "\n",
              {"--input-data", folder + "/mlp_functional.npz", "--seed", "5"});
    }
    static QList<QJsonObject> debug(const QString& model, const QByteArray& commands, const QStringList& options = {}) {
        QProcess process;
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), QStringList{"debug", model} + options);
        process.write(commands);
        process.closeWriteChannel();
        process.waitForFinished(120'000);
        QList<QJsonObject> answers;
        for (const QByteArray& line : process.readAllStandardOutput().split('\n'))
            if (!line.isEmpty()) answers << QJsonDocument::fromJson(line).object();
        return answers;
    }
    QJsonObject json() const { return QJsonDocument::fromJson(contentOf(session)).object(); }
    void change(const QString& group, const QString& key, const QJsonValue& value) const {
        // "format" comes first in a session file: what follows it is in any order.
        QJsonObject all = json();
        QJsonObject part = all.value(group).toObject();
        part.insert(key, value);
        all.insert(group, part);
        all.remove("format");
        const QByteArray rest = QJsonDocument(all).toJson(QJsonDocument::Compact);
        write(session, "{\"format\":\"sonde-session\"," + rest.mid(1));
    }
    /// Names of the model's operations that can be computed, from the graph as JSON.
    QStringList nodes() const {
        const Outcome traced = runSonde({"trace", folder + "/mlp_functional.onnx", "--format", "json"});
        QStringList names;
        for (const QJsonValue node : QJsonDocument::fromJson(traced.out.toUtf8()).object().value("nodes").toArray())
            if (node.toObject().value("kind").toString() == u"Apply") names << node.toObject().value("name").toString();
        return names;
    }
};

}  // namespace

class TestSessionVerbs : public QObject {
    Q_OBJECT

  private slots:
    void debugSavesAndRestores() {
        Saved plain("");
        const QString node = plain.nodes().value(2);
        QVERIFY(!node.isEmpty());
        const QByteArray name = node.toUtf8();
        Saved saved("watch " + name + "\nbreak nan\nbreak " + name + " if 1 > 0\nlog " + name + " mean(`" + name +
                    "`)\nexpression max(`" + name + "`)\nnote " + name + " look here\n");
        const QJsonObject json = saved.json();
        QCOMPARE(json.value("format").toString(), QStringLiteral("sonde-session"));
        const QJsonObject model = json.value("model").toObject();
        QCOMPARE(model.value("path").toString(), QStringLiteral("mlp_functional.onnx"));
        QCOMPARE(model.value("sha256").toString().toLatin1(),
                 QCryptographicHash::hash(contentOf(saved.folder + "/mlp_functional.onnx"), QCryptographicHash::Sha256)
                     .toHex());
        QCOMPARE(json.value("input_data").toObject().value("spec").toString(), QStringLiteral("mlp_functional.npz"));
        QCOMPARE(json.value("seed").toInt(), 5);

        const auto answers =
            Saved::debug(saved.session, "breakpoints\nnotes\nrun\nsave " + saved.session.toUtf8() + "\n");
        QCOMPARE(answers.size(), 4);
        const QJsonArray points = answers[0].value("breakpoints").toArray();
        QCOMPARE(points.size(), 3);
        QCOMPARE(points[0].toObject().value("at").toString(), QStringLiteral("nan"));
        QVERIFY(points[1].toObject().contains("if") && points[2].toObject().contains("log"));
        QCOMPARE(answers[1].value("notes").toArray().at(0).toObject().value("text").toString(),
                 QStringLiteral("look here"));
        QCOMPARE(answers[2].value("current").toString(), node);  // it stops there, on the inputs of the file
        QVERIFY(answers[3].contains("saved"));
        QVERIFY(saved.json() == json);  // saved again it is the same
    }

    /// "auto" is what the session has; another form is what is asked for.
    void runShowsOutputsAsTheSessionDoes() {
        Saved saved("");
        const auto shown = [&saved](const char* form) {
            const Outcome run = runSonde({"run", saved.session, "--show", form});
            return run.status == 0 ? run.out : run.err;
        };
        QVERIFY2(shown("auto").contains("score  float32[3,16]  classes\n"), qPrintable(shown("auto")));
        QJsonObject all = saved.json();
        all.remove("format");
        all.insert("outputs", QJsonArray{QJsonObject{{"name", "score"}, {"form", "table"}}});
        write(saved.session,
              "{\"format\":\"sonde-session\"," + QJsonDocument(all).toJson(QJsonDocument::Compact).mid(1));
        QVERIFY2(shown("auto").contains("score  float32[3,16]  table\n"), qPrintable(shown("auto")));
        QVERIFY2(shown("classes").contains("score  float32[3,16]  classes\n"), qPrintable(shown("classes")));
    }

    /// The session file is no file of the model: it may change while the model is open.
    void savingDoesNotChangeTheModel() {
        Saved saved("");
        const QString node = saved.nodes().value(2);
        const QByteArray name = node.toUtf8();
        const auto answers = Saved::debug(saved.session, "note " + name + " new\nsave " + saved.session.toUtf8() +
                                                             "\nbreak " + name + "\nrun\nstats " + name + "\n");
        QCOMPARE(answers.size(), 5);
        QVERIFY(answers[1].contains("saved"));
        QCOMPARE(answers[3].value("current").toString(), node);
        QVERIFY2(answers[4].contains("value"), qPrintable(answers[4].value("error").toString()));
    }

    /// The input of the file, not numbers at random.
    void loadAndRunTakesItsInputs() {
        const QString demo = QStringLiteral(SONDE_SOURCE_DIR "/resources/demos/find-the-nan");
        QTemporaryDir home;
        const QString a = home.filePath("a.txt"), b = home.filePath("b.txt");
        QCOMPARE(runSonde({"load-and-run", demo + ".sonde", "--iter", "1", "--io_dump", a}).status, 0);
        const Outcome named =
            runSonde({"load-and-run", demo + ".onnx", "--input", demo + ".npy", "--iter", "1", "--io_dump", b});
        QVERIFY2(named.status == 0, qPrintable(named.err));
        QVERIFY(contentOf(a).contains("nan"));
        QCOMPARE(contentOf(a), contentOf(b));
    }

    void everyVerbTakesIt() {
        Saved plain("");
        const QByteArray name = plain.nodes().value(2).toUtf8();
        Saved saved("watch " + name + "\n");
        const QString npz = saved.folder + "/mlp_functional.npz", onnx = saved.folder + "/mlp_functional.onnx";
        const Outcome run = runSonde({"run", saved.session});
        QVERIFY2(run.status == 0, qPrintable(run.err));
        QVERIFY2(run.out.contains(QString::fromUtf8(name)), qPrintable(run.out));
        // The same values as of the model with these inputs.
        QCOMPARE(run.out.section('\n', 0, 1),
                 runSonde({"run", onnx, "--input-data", npz, "--watch", name}).out.section('\n', 0, 1));
        const Outcome other = runSonde({"run", saved.session, "--watch", plain.nodes().value(3)});
        QVERIFY(other.status == 0 && !other.out.startsWith(QString::fromUtf8(name) + ' '));
        QCOMPARE(runSonde({"trace", saved.session}).out, runSonde({"trace", onnx}).out);
        const QString out = saved.home.filePath("out");
        for (const QStringList& line : QList<QStringList>{{"info", saved.session, "--json"},
                                                          {"check", saved.session, npz},
                                                          {"problems", saved.session},
                                                          {"bench", saved.session, "--repeat", "1"},
                                                          {"dump", saved.session, "-o", out + ".mgb"},
                                                          {"save", saved.session, "-o", out + ".onnx"},
                                                          {"render", saved.session, "-o", out + ".svg"}}) {
            const Outcome outcome = runSonde(line);
            QVERIFY2(outcome.status == 0, qPrintable(line.join(' ') + '\n' + outcome.err));
        }
        const Outcome overwritten = runSonde({"save", saved.session, "-o", saved.session});
        QCOMPARE(overwritten.status, 2);
    }

    /// The reference that the session was compared with last is that of `check`.
    void checkTakesTheReferenceOfTheSession() {
        Saved saved("");
        Outcome outcome = runSonde({"check", saved.session});
        QVERIFY2(outcome.status == 2 && outcome.err.contains("was not compared"), qPrintable(outcome.err));
        const auto withReference = [&](const QString& file) {
            saved.change("comparison", "references", QJsonArray{"other.onnx", file});
            return runSonde({"check", saved.session});
        };
        outcome = withReference("mlp_functional.npz");
        QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
        QCOMPARE(outcome.out, runSonde({"check", saved.session, saved.folder + "/mlp_functional.npz"}).out);
        outcome = withReference(SONDE_TEST_DATA "/models/mlp_functional.npz");
        QVERIFY2(outcome.status == 3 && outcome.err.contains("hint: --allow-outside"), qPrintable(outcome.err));
        QCOMPARE(runSonde({"check", saved.session, "--allow-outside"}).status, 0);
        outcome = runSonde({"check", saved.folder + "/mlp_functional.onnx"});
        QVERIFY2(outcome.status == 2 && outcome.err.contains("REFERENCE is required"), qPrintable(outcome.err));
    }

    /// What is open and which way it flows is as the session was left, unless an option says otherwise.
    void renderShowsWhatTheSessionShows() {
        QTemporaryDir home;
        const QString model = home.filePath("m.onnx"), session = home.filePath("s.sonde");
        QVERIFY(QFile::copy(SONDE_TEST_DATA "/models/resnet18_slim.onnx", model));
        Saved::debug(model, "save " + session.toUtf8() + "\n");
        const auto render = [&](const QString& what, const QStringList& options = {}) {
            const QString file = home.filePath("r.dot");
            const Outcome outcome = runSonde(QStringList{"render", what, "-o", file} + options);
            if (outcome.status != 0) qWarning("%s", qPrintable(outcome.err));
            return contentOf(file);
        };
        QCOMPARE(render(session), render(model));  // nothing is said of a view
        QJsonObject all = QJsonDocument::fromJson(contentOf(session)).object();
        all.insert("view", QJsonObject{{"open", "\t0\nlayer2\t0\nlayer2.0\t0"},
                                       {"leftRight", "true"},
                                       {"secondCanvas/open", "\t0"},
                                       {"secondCanvas/leftRight", "false"}});
        all.remove("format");
        write(session, "{\"format\":\"sonde-session\"," + QJsonDocument(all).toJson(QJsonDocument::Compact).mid(1));
        const QByteArray shown = render(session);
        QCOMPARE(shown, render(model, {"--expand", "layer2.0", "--direction", "right"}));
        QVERIFY(shown != render(model));
        QCOMPARE(render(session, {"--direction", "down"}), render(model, {"--expand", "layer2.0"}));
        QCOMPARE(render(session, {"--depth", "0"}), render(model, {"--depth", "0", "--direction", "right"}));
        QCOMPARE(render(session, {"--expand", "layer1.0", "--direction", "down"}),
                 render(model, {"--expand", "layer1.0"}));
    }

    void aMovedFolderOpens() {
        Saved saved("");
        const auto values = [](const QString& out) {
            return out.split(u'\n').filter(QStringLiteral("out."));
        };  // no time
        const QStringList before = values(runSonde({"run", saved.session}).out);
        QVERIFY(!before.isEmpty());
        QVERIFY(QDir(saved.home.path()).rename("work", "elsewhere"));
        const Outcome moved = runSonde({"run", saved.home.filePath("elsewhere/s.sonde")});
        QVERIFY2(moved.status == 0, qPrintable(moved.err));
        QCOMPARE(values(moved.out), before);
    }

    void aMissingOrOtherModelIsAskedFor() {
        Saved saved("");
        QVERIFY(QFile::rename(saved.folder + "/mlp_functional.onnx", saved.home.filePath("m.onnx")));
        Outcome outcome = runSonde({"info", saved.session});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.err.contains("was not found") && outcome.err.contains("hint: --model FILE"),
                 qPrintable(outcome.err));
        QCOMPARE(runSonde({"info", saved.session, "--model", saved.home.filePath("m.onnx")}).status, 0);
        QVERIFY(QFile::copy(SONDE_TEST_DATA "/models/control_flow.onnx", saved.folder + "/mlp_functional.onnx"));
        outcome = runSonde({"info", saved.session});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.err.contains("is not the one that the session was saved with"), qPrintable(outcome.err));
        QCOMPARE(runSonde({"info", SONDE_TEST_DATA "/models/control_flow.onnx", "--model", "x"}).status, 2);
    }

    /// Absolute paths, "..", links: nothing outside is read, and nobody learns whether it is there.
    void nothingOutsideIsReadUnasked() {
        Saved saved("");
        QVERIFY(QFile::rename(saved.folder + "/mlp_functional.onnx", saved.home.filePath("m.onnx")));
        QVERIFY(QFile::link(saved.home.filePath("m.onnx"), saved.folder + "/link.onnx"));
        for (const QString& path : {saved.home.filePath("m.onnx"), QStringLiteral("../m.onnx"),
                                    QStringLiteral("link.onnx"), QStringLiteral("/etc/passwd")}) {
            saved.change("model", "path", path);
            const Outcome outcome = runSonde({"info", saved.session});
            QCOMPARE(outcome.status, 3);
            QVERIFY2(outcome.err.contains("outside of its folder") && outcome.err.contains("--allow-outside"),
                     qPrintable(outcome.err));
            if (path.contains("passwd")) continue;
            QCOMPARE(runSonde({"info", saved.session, "--allow-outside"}).status, 0);
        }
    }

    void inputsOutsideAreNotReadUnasked() {
        Saved saved("");
        QVERIFY(QFile::rename(saved.folder + "/mlp_functional.npz", saved.home.filePath("in.npz")));
        QFile::link(saved.home.filePath("in.npz"), saved.folder + "/link.npz");
        for (const QString& spec : {QStringLiteral("../in.npz"), saved.home.filePath("in.npz"),
                                    QStringLiteral("link.npz"), QStringLiteral("@list.txt")}) {
            saved.change("input_data", "spec", spec);
            const Outcome outcome = runSonde({"run", saved.session});
            QVERIFY2(outcome.status == 3 && outcome.err.contains("--allow-outside"), qPrintable(outcome.err));
            QCOMPARE(runSonde({"info", saved.session}).status, 0);  // reads no inputs
        }
        saved.change("input_data", "spec", "../in.npz");
        QCOMPARE(runSonde({"run", saved.session, "--allow-outside"}).status, 0);
        QCOMPARE(runSonde({"run", saved.session, "--input-data", "#rand(0,1)"}).status, 0);
    }

    void hostileFilesEndInOneLine() {
        Saved saved("");
        const QByteArray good = contentOf(saved.session);
        saved.change("model", "path", "s.sonde");  // itself
        saved.change("model", "sha256", QString(64, '0'));
        QCOMPARE(runSonde({"info", saved.session}).status, 3);
        for (const QByteArray& bad : {good.left(good.size() / 2), good.left(40) + QByteArray(100'000, '['),
                                      QByteArray(good).replace("1", "-1")}) {
            write(saved.session, bad);
            const Outcome outcome = runSonde({"info", saved.session});
            QCOMPARE(outcome.status, 3);
            QVERIFY2(outcome.err.startsWith("sonde: error: ") && outcome.err.count('\n') <= 2, qPrintable(outcome.err));
        }
    }

    void aLibraryIsNotLoaded() {
        Saved saved("");
        const QByteArray library(
            "\x7f"
            "ELF and no more",
            16);
        write(saved.folder + "/m.so", library);
        saved.change("model", "path", "m.so");
        saved.change("model", "sha256",
                     QString::fromLatin1(QCryptographicHash::hash(library, QCryptographicHash::Sha256).toHex()));
        QCOMPARE(runSonde({"info", saved.session, "--allow-outside"}).status, 3);
    }

    /// Noise is one number for each element: of a value of open size it is written for the size that the session's
    /// inputs give it, without --input-data.
    /// Those that only look at the model, too.
    void verbsWithoutTheEditsWarn() {
        Saved saved("edit `" + Saved("").nodes().value(2).toUtf8() + "` scale 2\n");
        const QString report = saved.home.filePath("report.html");
        for (const QStringList& verb :
             {QStringList{"run", saved.session}, QStringList{"info", saved.session},
              QStringList{"findings", saved.session}, QStringList{"report", saved.session, "-o", report},
              QStringList{"trace", saved.session}}) {
            const Outcome outcome = runSonde(verb);
            const bool warns = outcome.err.contains(
                "warning: this is without the 1 edit of the session: `sonde debug`, `sonde save` and `sonde dump` make "
                "edits");
            QVERIFY2(warns, qPrintable(verb.join(' ') + ": " + outcome.err));
        }
        for (const char* verb : {"save", "dump"}) {
            const Outcome outcome = runSonde({verb, saved.session, "-o", saved.home.filePath(verb)});
            QVERIFY2(!outcome.err.contains("without the"), qPrintable(outcome.err));
        }
    }

    void editsOfOpenSizesAreWrittenWithTheInputsOfTheSession() {
        namespace onnx = sonde::test::onnxfile;
        QTemporaryDir folder;
        const QString model = folder.filePath("open.onnx"), session = folder.filePath("s.sonde");
        const onnx::Graph graph{{{"Neg", {"x"}, {"y"}}, {"Relu", {"y"}, {"z"}}},
                                {onnx::valueInfo("x", 1, {-1, 2})},
                                {onnx::valueInfo("z", 1, {-1, 2})}};
        QVERIFY(onnx::write(model, onnx::model(graph)));
        const auto made = Saved::debug(model, "edit y noise 0.5 3\nsave " + session.toUtf8() + "\n",
                                       {"--input-data", "x:[[1,2],[3,4],[5,6]]"});
        QVERIFY(made.size() == 2 && made[1].contains("saved"));
        const QString edited = folder.filePath("edited.onnx");
        for (const QStringList& verb : {QStringList{"save", session, "-o", edited},
                                        QStringList{"dump", session, "-o", folder.filePath("edited.dump")}}) {
            const Outcome outcome = runSonde(verb);
            QVERIFY2(outcome.status == 0, qPrintable(outcome.err));
            QVERIFY2(outcome.err.contains("written for the shape of the run, [3,2]"), qPrintable(outcome.err));
        }
        // Given inputs come first.
        const Outcome given = runSonde({"save", session, "-o", edited, "--input-data", "x:[[1,2]]"});
        QVERIFY2(given.status == 0 && given.err.contains("[1,2]"), qPrintable(given.err));
    }

    void aReexportedModelHasItsPoints() {
        Saved saved("break " + Saved("").nodes().value(2).toUtf8() + "\n");
        const auto answers = Saved::debug(saved.session, "breakpoints\n",
                                          {"--model", SONDE_TEST_DATA "/models/mlp_functional.trace.pt"});
        QCOMPARE(answers.size(), 1);
        QCOMPARE(answers[0].value("breakpoints").toArray().size(), 1);
    }
};

QTEST_GUILESS_MAIN(TestSessionVerbs)

}  // namespace tst_session_verbs

#include "tst_session_verbs.moc"
