// The part of InspectorContext that notices files which change while their model is open.

#include "core/graph/source_files.h"
#include "ui/context/inspector_context.h"

namespace sonde::context {

void InspectorContext::watchFiles() {
    m_fileHasChanged = false;
    QStringList paths;
    for (const auto& file : graph::filesOf(m_document->graph)) paths += QString::fromStdString(file->path().string());
    m_fileWatch.watch(QString::fromStdString(m_document->location), paths);
}

bool InspectorContext::fileHasChanged() const {
    return m_document && (m_fileHasChanged || base::anyKnownChanged(graph::filesOf(m_document->graph)));
}

bool InspectorContext::checkFiles() {
    if (!m_document) return true;
    if (m_fileHasChanged) return false;
    const auto files = graph::checkFiles(m_document->graph);
    if (files) return true;
    m_fileHasChanged = true;
    m_peekJob.abandon();
    m_peekWanted.clear();
    m_peeked.clear();
    m_recording.reset();
    m_outputNodes.clear();
    m_runInputs.clear();
    if (m_runState != RunState::NotRun && !isRunning()) m_runState = RunState::Failed;
    report(Message{base::Severity::Warning,
                   QString::fromStdString(files.error().what),
                   QString::fromStdString(files.error().where),
                   tr("Reload the model to see values again"),
                   {}});
    Q_EMIT fileChanged();
    // Everybody who shows values looks for them again, and finds none.
    if (!isRunning()) Q_EMIT runFinished();
    return false;
}

}  // namespace sonde::context
