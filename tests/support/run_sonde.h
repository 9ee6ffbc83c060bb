#pragma once

#include <QProcess>
#include <QStringList>

namespace sonde::test {

/// What a run of the real program left.
struct Outcome {
    int status = -1;  ///< the exit status; -1: it did not end in time, -2: it crashed
    QString out;
    QString err;
};

inline QString sondeProgram() { return QStringLiteral(SONDE_BINARY_DIR "/sonde"); }

/// `program`: the real one or a copy of it.
inline Outcome runProgram(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    Outcome outcome;
    if (!process.waitForFinished(120'000)) return outcome;
    outcome.status = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    outcome.out = QString::fromUtf8(process.readAllStandardOutput());
    outcome.err = QString::fromUtf8(process.readAllStandardError());
    return outcome;
}

inline Outcome runSonde(const QStringList& arguments) { return runProgram(sondeProgram(), arguments); }

}  // namespace sonde::test
