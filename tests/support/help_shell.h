#pragma once

#include <QProcess>

#include "tests/support/help_page.h"

// Runs what help pages show.

namespace sonde::test {

/// The shown lines are in the output, those between two "…" without a line in between.
inline bool isShown(const QStringList& shown, const QStringList& output) {
    if (shown.isEmpty()) return true;
    const QString all = u'\n' + output.join(u'\n') + u'\n';
    qsizetype from = 0;
    for (const QString& part : (u'\n' + shown.join(u'\n') + u'\n').split(QStringLiteral("\n…\n"))) {
        QString lines = part;
        if (!lines.startsWith(u'\n')) lines.prepend(u'\n');
        if (!lines.endsWith(u'\n')) lines.append(u'\n');
        const qsizetype found = all.indexOf(lines, from);
        if (found < 0) return false;
        from = found + lines.size() - 1;
    }
    return true;
}

struct ShellOutcome {
    int status = -1;
    QStringList lines;
};

/// Runs a line as a shell does, with the program of this build.
inline ShellOutcome runInShell(const QString& line, const QString& folder) {
    QProcess shell;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"),
                       QStringLiteral(SONDE_BINARY_DIR ":") + environment.value(QStringLiteral("PATH")));
    shell.setProcessEnvironment(environment);
    shell.setWorkingDirectory(folder);
    shell.start(QStringLiteral("sh"), {QStringLiteral("-c"), line});
    ShellOutcome outcome;
    if (!shell.waitForFinished(300'000)) return outcome;
    if (shell.exitStatus() == QProcess::NormalExit) outcome.status = shell.exitCode();
    const QByteArray written = shell.readAllStandardOutput() + shell.readAllStandardError();
    for (const QString& text : QString::fromUtf8(written).split(u'\n')) outcome.lines << text.simplified();
    return outcome;
}

/// What is wrong with a command of a page that is run in a folder: its exit status, or an output that is not the one
/// shown. Empty: nothing.
inline QString problemOf(const HelpCommand& command, const QString& folder) {
    const ShellOutcome outcome = runInShell(command.line, folder);
    const QString printed = outcome.lines.join(u'\n');
    if (outcome.status != command.status)
        return command.line + QStringLiteral(": exit status %1\n").arg(outcome.status) + printed;
    if (!isShown(command.output, outcome.lines))
        return command.line + QStringLiteral(": the page shows\n") + command.output.join(u'\n') +
               QStringLiteral("\nbut it gives\n") + printed;
    return {};
}

}  // namespace sonde::test
