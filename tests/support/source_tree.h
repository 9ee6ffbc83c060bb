#pragma once

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QString>
#include <QStringList>

namespace sonde::test {

/// The repository as the tests that read source code see it. Paths are relative to its root.
inline QString sourcePath(const QString& relative) { return QDir(QStringLiteral(SONDE_SOURCE_DIR)).filePath(relative); }

/// Every file below `folders` whose name matches one of `patterns` ("*.cpp"), sorted.
inline QStringList sourceFiles(const QStringList& folders, const QStringList& patterns) {
    const QDir root(QStringLiteral(SONDE_SOURCE_DIR));
    QStringList files;
    for (const QString& folder : folders) {
        QDirIterator it(root.filePath(folder), patterns, QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext()) files << root.relativeFilePath(it.next());
    }
    files.sort();
    return files;
}

/// The lines of a source file; none if it cannot be read.
inline QStringList sourceLines(const QString& relative) {
    QFile file(sourcePath(relative));
    if (!file.open(QIODevice::ReadOnly)) return {};
    return QString::fromUtf8(file.readAll()).split(u'\n');
}

}  // namespace sonde::test
