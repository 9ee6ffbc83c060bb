// The part of InspectorContext that notices files which change while their model is open.

#include "core/graph/source_files.h"
#include "ui/context/inspector_context.h"

namespace sonde::context {

void InspectorContext::watchFiles() {
    QStringList paths;
    for (const auto& file : graph::filesOf(document()->graph)) paths += QString::fromStdString(file->path().string());
    m_fileWatch.watch(QString::fromStdString(document()->location), paths);
}

void InspectorContext::tellOfChangedFile(const base::Error& error, bool isNew) {
    if (isNew)
        report(Message{base::Severity::Warning,
                       QString::fromStdString(error.what),
                       QString::fromStdString(error.where),
                       tr("Reload the model to see values again"),
                       {}});
    Q_EMIT fileChanged();
}

}  // namespace sonde::context
