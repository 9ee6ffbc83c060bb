// The real program with a session file, killed with SIGKILL while it works: the file on disk is whole and has all that
// was done. And that the program opens one that it is started with.

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>

#include "core/io/session_file/session_file.h"

namespace tst_killed_session {

using namespace sonde;

namespace {

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class TestKilledSession : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_home;
    QString m_session;

    QJsonArray list(const char* key) const {
        return QJsonDocument::fromJson(contentOf(m_session)).object().value(QLatin1String(key)).toArray();
    }
    void write(const QString& name, const QByteArray& content) const {
        QFile file(m_home->filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(content);
    }
    void start(QProcess& process, const QStringList& arguments) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("QT_QPA_PLATFORM", "offscreen");
        for (const char* name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME"})
            environment.insert(name, m_home->filePath("config"));
        process.setProcessEnvironment(environment);
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), arguments);
        QVERIFY(process.waitForStarted());
    }
    static void kill(QProcess& process) {
        ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitStatus(), QProcess::CrashExit);
    }

  private Q_SLOTS:
    /// A folder with a model, and a session of it with a note.
    void init() {
        m_home = std::make_unique<QTemporaryDir>();
        m_session = m_home->filePath("s.sonde");
        QDir(m_home->path()).mkdir("config");
        QVERIFY(QFile::copy(SONDE_TEST_DATA "/models/mlp_functional.onnx", m_home->filePath("m.onnx")));
        QProcess debug;
        start(debug, {"debug", m_home->filePath("m.onnx")});
        debug.write("note /Relu_output_0 look here\nsave " + m_session.toUtf8() + "\n");
        debug.closeWriteChannel();
        QVERIFY(debug.waitForFinished(60'000));
        QVERIFY(QFile::exists(m_session));
    }

    void nothingIsLost_data() {
        QTest::addColumn<int>("waitMs");
        for (const int waitMs : {0, 7, 40, 111}) QTest::newRow(std::to_string(waitMs).c_str()) << waitMs;
    }
    void nothingIsLost() {
        QFETCH(int, waitMs);
        // What is shown changes on and on, and is written each time.
        QByteArray script = "watch /Relu_output_0\nbreak /Relu_output_0 if max(`/Relu_output_0`) > 0\nwait\n";
        for (int i = 0; i < 2'000; ++i) script += "direction right\nwait\ndirection down\nwait\n";
        write("script.txt", script);
        QProcess process;
        start(process, {"window", m_session, "--size", "800x600", "--script", m_home->filePath("script.txt")});
        QTRY_VERIFY_WITH_TIMEOUT(list("breakpoints").size() == 1 && list("watch_points").size() == 1, 60'000);
        QTest::qWait(waitMs);  // anywhere in what follows
        QVERIFY(process.state() == QProcess::Running);
        kill(process);

        const auto read = io::readSession(m_session.toStdString());
        QVERIFY2(read.has_value(), read ? "" : read.error().text().c_str());
        QCOMPARE(read->watched.size(), std::size_t{1});
        QCOMPARE(read->watched.front().name, std::string("/Relu_output_0"));
        QCOMPARE(read->breakpoints.size(), std::size_t{1});
        QCOMPARE(read->breakpoints.front().where, std::string("`/Relu_output_0`"));
        QCOMPARE(read->breakpoints.front().expression, std::string("max(`/Relu_output_0`) > 0"));
        QCOMPARE(read->notes.size(), std::size_t{1});
        QCOMPARE(read->notes.front().text, std::string("look here"));
    }

    /// Its name comes into the settings when it is open: that a window shows it.
    void theProgramOpensIt() {
        QProcess process;
        start(process, {m_session});
        const auto isNoted = [this] {
            QDirIterator files(m_home->filePath("config"), {"*.conf", "*.ini"}, QDir::Files,
                               QDirIterator::Subdirectories);
            while (files.hasNext())
                if (contentOf(files.next()).contains("s.sonde")) return true;
            return false;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isNoted(), 60'000);
        QCOMPARE(process.state(), QProcess::Running);
        kill(process);
        QVERIFY2(process.readAllStandardError().isEmpty(), "nothing went wrong");
    }
};

QTEST_GUILESS_MAIN(TestKilledSession)

}  // namespace tst_killed_session

#include "tst_killed_session.moc"
