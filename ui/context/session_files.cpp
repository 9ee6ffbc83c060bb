#include "ui/context/session_files.h"

#include <QFileInfo>

#include <utility>

#include "core/session/session_state.h"
#include "ui/context/canvases.h"
#include "ui/context/messages.h"
#include "ui/context/open_model.h"
#include "ui/context/remembered.h"
#include "ui/context/text.h"

namespace sonde::context {

namespace {

/// Changes that come together are one write; a process that is killed loses no more than so many milliseconds.
constexpr int kGatherMs = 20;

std::filesystem::path folderOf(const QString& path) { return QFileInfo(path).absolutePath().toStdString(); }

void storeView(io::SessionFile& file, const graph::InternalGraph& graph, const CanvasState& canvas, int number) {
    for (auto& [key, value] : viewTexts(graph, canvas.view(), number)) file.view[key] = std::move(value);
}

void dropView(io::SessionFile& file, const graph::InternalGraph& graph, const CanvasState& canvas, int number) {
    for (const auto& [key, value] : viewTexts(graph, canvas.view(), number)) file.view.erase(key);
}

/// Whether a file is there that has something else. Blocks.
bool isOther(const std::filesystem::path& path, const io::SessionFile& expected) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return false;
    const auto there = io::readSession(path);
    return !there || !(*there == expected);
}

}  // namespace

SessionFiles::SessionFiles(session::Session& session, OpenModel& model, Canvases& canvases, Messages& messages)
    : m_session(session), m_model(model), m_canvases(canvases), m_messages(messages) {
    m_timer.setSingleShot(true);
    m_timer.setInterval(kGatherMs);
    connect(&m_timer, &QTimer::timeout, this, &SessionFiles::write);
}

void SessionFiles::setPath(const QString& path) {
    if (path == m_path) return;
    m_path = path;
    Q_EMIT pathChanged();
}

void SessionFiles::adopt(const QString& path) {
    m_timer.stop();
    setPath(path);
}

void SessionFiles::noteOpened() {
    if (m_path.isEmpty() || !m_model.isOpen()) return;
    // A model that was found elsewhere: the file is to say where.
    const auto& document = m_session.document();
    m_changedElsewhere.clear();
    if (document->session) m_onDisk = OnDisk{m_path, document->session->file};
    if (!document->session || !document->options.sessionModel.empty()) return;
    m_timer.stop();
    m_written = Written{m_path, document, now(folderOf(m_path))};
}

void SessionFiles::saveAs(const QString& path) {
    if (!m_model.isOpen() || path.isEmpty()) return;
    const QString named = path.endsWith(QLatin1String(".sonde")) ? path : path + QStringLiteral(".sonde");
    m_before = m_path;
    m_isNew = true;
    setPath(QFileInfo(named).absoluteFilePath());
    // Who was told that it has changed, or names another file, means to overwrite it.
    if (m_path != m_before || m_path == m_changedElsewhere) m_onDisk.reset();
    flush();
}

void SessionFiles::saveSoon() {
    if (!m_path.isEmpty() && m_model.isOpen()) m_timer.start();
}

void SessionFiles::flush() {
    if (!m_isNew && !m_timer.isActive()) return;
    m_timer.stop();
    write();
}

io::SessionFile SessionFiles::now(const std::filesystem::path& folder) const {
    io::SessionFile file = session::sessionFileOf(m_session, folder);
    const CanvasState &first = m_canvases.at(0), &second = m_canvases.at(1);
    if (!first.isFirst()) storeView(file, m_model.graph(), first, 0);
    if (!second.isFirst() && second.view() != first.view()) storeView(file, m_model.graph(), second, 1);
    else if (!second.isFirst()) dropView(file, m_model.graph(), second, 1);  // shows the same as the first
    if (m_canvases.split().isEmpty()) file.view.erase(kSplitKey);
    else file.view[kSplitKey] = m_canvases.split().toStdString();
    return file;
}

void SessionFiles::write() {
    if (m_path.isEmpty() || !m_model.isOpen()) return;
    // A part of the model is shown for a while; points of it are not those of the file.
    if (m_model.document() != m_model.whole()) return;
    const std::filesystem::path folder = folderOf(m_path);
    Task task{m_path, folder, m_session.document(), now(folder)};
    // Much of what is told of changes nothing that a file has.
    const bool isSame = m_written && m_written->path == task.path && m_written->document.lock() == task.document &&
                        m_written->file == task.file;
    if (isSame && !m_isNew) return;
    m_written = Written{task.path, task.document, task.file};
    if (m_job.isActive()) m_pending = std::move(task);
    else start(std::move(task));
}

void SessionFiles::start(Task task) {
    std::optional<io::SessionFile::Model> known;
    if (m_refDocument.lock() == task.document && m_refFolder == task.folder) known = m_modelRef;
    m_refDocument = task.document;
    m_refFolder = task.folder;
    m_modelRef.reset();
    std::optional<io::SessionFile> expected;
    if (m_onDisk && m_onDisk->path == task.path) expected = m_onDisk->file;
    const QString path = task.path;
    m_job.start(
        [task = std::move(task), known, expected](const base::WorkContext&) mutable -> base::Result<Outcome> {
            if (!known) {
                SONDE_ASSIGN(known, document::sessionModelOf(*task.document, task.folder));
            }
            task.file.model = *known;
            const std::filesystem::path file = task.path.toStdString();
            if (expected && isOther(file, *expected)) return Outcome{*known, {}};
            SONDE_TRY(io::writeSession(file, task.file));
            SONDE_ASSIGN(auto written, io::parseSession(io::sessionText(task.file)));
            return Outcome{*known, std::move(written)};
        },
        [this, path](base::Result<Outcome> outcome) { finish(path, std::move(outcome)); });
}

void SessionFiles::finish(const QString& path, base::Result<Outcome> outcome) {
    const bool isNew = std::exchange(m_isNew, false);
    if (outcome) m_modelRef = std::move(outcome->model);
    if (outcome && outcome->written) {
        m_onDisk = OnDisk{path, std::move(*outcome->written)};
        if (std::exchange(m_hasFailed, false)) m_messages.clearSavingBanner();
        if (!std::exchange(m_changedElsewhere, {}).isEmpty()) Q_EMIT overwritten();
    } else if (outcome) {
        m_written.reset();
        if (std::exchange(m_changedElsewhere, path) != path)
            m_messages.report(Message{
                base::Severity::Warning, tr("%1 was changed elsewhere: it is not overwritten").arg(path), {}, {}, {}});
        Q_EMIT changedElsewhere(path);
    } else {
        m_written.reset();
        m_hasFailed = true;
        m_messages.reportSaving(std::move(outcome).error(), {});
        if (isNew) setPath(m_before);
    }
    if (auto next = std::exchange(m_pending, {})) start(std::move(*next));
}

}  // namespace sonde::context
