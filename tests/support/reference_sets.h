#pragma once

#include <QDir>
#include <QFileInfo>
#include <QString>

namespace sonde::test {

/// The folder of the big reference sets: $SONDE_SHARED, else `shared` beside the clone. May not exist.
inline QString referenceSets() {
    const QString given = qEnvironmentVariable("SONDE_SHARED");
    return given.isEmpty() ? QDir(QStringLiteral(SONDE_SOURCE_DIR)).filePath("../shared") : given;
}

/// The folder with all reference models; the small ones of tests/data if the big sets are not there.
inline QString referenceModels() {
    const QString all = referenceSets() + "/models";
    return QFileInfo::exists(all) ? all : QStringLiteral(SONDE_TEST_DATA) + "/models";
}

}  // namespace sonde::test
