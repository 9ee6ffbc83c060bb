#pragma once

#include <QByteArray>
#include <QFile>
#include <QTemporaryDir>
#include <QtGlobal>

#include <memory>
#include <string>

#include "core/document/document.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// A model file; one that cannot be opened ends the test.
inline std::shared_ptr<const document::Document> openedModel(const std::string& path) {
    const auto document = document::open(path, {});
    if (!document) qFatal("%s", document.error().text().c_str());
    return *document;
}

/// The small models of tests/data, with a slash behind.
inline const std::string kSmallModels = SONDE_TEST_DATA "/models/";

/// The bytes of a file; one that cannot be read ends the test.
inline std::string bytesOfFile(const std::string& path) {
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no %s", path.c_str());
    return file.readAll().toStdString();
}

/// Opens ONNX models from bytes, each by a file of its own, which stays as long as this does. A model that cannot be
/// opened ends the test.
class WrittenModels {
  public:
    std::shared_ptr<const document::Document> open(const std::string& bytes) {
        const QString path = m_folder.filePath(QStringLiteral("m%1.onnx").arg(m_count++));
        if (!onnxfile::write(path, bytes)) qFatal("cannot write");
        return openedModel(path.toStdString());
    }

  private:
    QTemporaryDir m_folder;
    int m_count = 0;
};

}  // namespace sonde::test
