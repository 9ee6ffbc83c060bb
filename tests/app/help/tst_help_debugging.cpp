// The help page about debugging: every command that its table shows is done by the real program, in the order of the
// page, on a model that has the names of the page.

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest>

#include "core/session/debug_commands.h"

namespace tst_help_debugging {

namespace {

/// Commands in backticks, in the table of commands.
QStringList commandsOfPage() {
    QFile file(QStringLiteral(SONDE_SOURCE_DIR "/resources/help/debugging.md"));
    if (!file.open(QIODevice::ReadOnly)) return {};
    QSet<QString> names;
    for (const auto& info : sonde::session::DebugCommands::all())
        names << QString::fromUtf8(info.syntax.data(), static_cast<qsizetype>(info.syntax.size())).section(' ', 0, 0);
    static const QRegularExpression code(QStringLiteral("`([^`]+)`"));
    QStringList commands;
    bool isInTable = false;
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
        if (line.startsWith("## ")) isInTable = line == "## Commands";
        if (!isInTable || !line.startsWith("| `")) continue;
        for (auto all = code.globalMatch(line); all.hasNext();) {
            const QString text = all.next().captured(1);
            if (names.contains(text.section(' ', 0, 0))) commands << text;
        }
    }
    return commands;
}

}  // namespace

class TestHelpDebugging : public QObject {
    Q_OBJECT

  private slots:
    void everyCommandIsDone() {
        const QStringList commands = commandsOfPage();
        QVERIFY2(commands.size() > 25, qPrintable(commands.join('\n')));
        QTemporaryDir folder;  // for what is saved
        const QString model = QStringLiteral("zoo:resnet18?width=0.125&classes=10");
        QProcess process;
        process.setWorkingDirectory(folder.path());
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"run", model, "--out", "reference.npz"});
        QVERIFY(process.waitForFinished(120'000));
        process.start(QStringLiteral(SONDE_BINARY_DIR "/sonde"), {"debug", model});
        process.write(commands.join('\n').toUtf8());
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(120'000));
        const QList<QByteArray> lines = process.readAllStandardOutput().trimmed().split('\n');
        QCOMPARE(lines.size(), commands.size());
        for (qsizetype i = 0; i < lines.size(); ++i)
            QVERIFY2(!QJsonDocument::fromJson(lines[i]).object().contains("error"),
                     (commands[i].toUtf8() + ": " + lines[i]).constData());
    }

    /// No command is missing on the page.
    void everyCommandIsShown() {
        const QStringList shown = commandsOfPage();
        for (const auto& info : sonde::session::DebugCommands::all()) {
            const QString name =
                QString::fromUtf8(info.syntax.data(), static_cast<qsizetype>(info.syntax.size())).section(' ', 0, 0);
            QVERIFY2(!shown.filter(QRegularExpression("^" + name + "( |$)")).isEmpty(), qPrintable(name));
        }
    }
};

QTEST_GUILESS_MAIN(TestHelpDebugging)

}  // namespace tst_help_debugging

#include "tst_help_debugging.moc"
