#pragma once

#include <QDir>
#include <QFileInfo>
#include <QString>

namespace sonde::test {

/// The folder of the large reference sets: $SONDE_SHARED, else `shared` beside the clone. May not exist. This header
/// alone knows the place: tests that include it are labelled `large-sets` and run a second time by .ci/run, with the
/// sets.
inline QString referenceSets() {
    const QString given = qEnvironmentVariable("SONDE_SHARED");
    return given.isEmpty() ? QDir(QStringLiteral(SONDE_SOURCE_DIR)).filePath("../shared") : given;
}

/// The folder with all reference models; the small ones of tests/data if the large sets are not there.
inline QString referenceModels() {
    const QString all = referenceSets() + "/models";
    return QFileInfo::exists(all) ? all : QStringLiteral(SONDE_TEST_DATA) + "/models";
}

}  // namespace sonde::test

/// Skips a test function, or the row of it that runs, if a file or folder of a large set is missing. `set` is a
/// literal: "models", "onnx-light", "onnx-conformance". A plain clone has none of them, and passes without; .ci/run
/// runs these tests again with the sets, where none may be skipped. installer/test.sh counts the reasons.
#define SONDE_NEEDS_SET(set, path)                                                           \
    do {                                                                                     \
        if (!QFileInfo::exists(path)) QSKIP("the large set " set " is not in SONDE_SHARED"); \
    } while (false)
