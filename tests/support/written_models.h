#pragma once

#include <QTemporaryDir>
#include <QtGlobal>

#include <memory>
#include <string>

#include "core/document/document.h"
#include "tests/support/onnx_file.h"

namespace sonde::test {

/// Opens ONNX models from bytes, each by a file of its own, which stays as long as this does. A model that cannot be
/// opened ends the test.
class WrittenModels {
  public:
    std::shared_ptr<const document::Document> open(const std::string& bytes) {
        const QString path = m_folder.filePath(QStringLiteral("m%1.onnx").arg(m_count++));
        if (!onnxfile::write(path, bytes)) qFatal("cannot write");
        const auto document = document::open(path.toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    }

  private:
    QTemporaryDir m_folder;
    int m_count = 0;
};

}  // namespace sonde::test
