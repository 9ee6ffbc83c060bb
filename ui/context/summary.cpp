#include "ui/context/summary.h"

#include <utility>

#include "core/session/session.h"
#include "ui/context/background.h"
#include "ui/context/open_model.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

struct Summary::Found {
    std::shared_ptr<const session::ModelInfo> info;
    std::vector<session::InfoLine> lines;
};

Summary::Summary(session::Session& session, OpenModel& model) : m_session(session), m_model(model) {
    connect(&model, &OpenModel::documentLeft, this, &Summary::forget);
    connect(&model, &OpenModel::documentOpened, this, [this] { begin(false); });
    connect(&model, &OpenModel::documentClosed, this, &Summary::forget);
    connect(&model, &OpenModel::typesChanged, this, [this] {
        if (m_model.isOpen()) begin(false);
    });
}

void Summary::forget() {
    m_job.abandon();
    m_textJob.abandon();
    m_lines.clear();
    m_failure.clear();
    m_isHashing = false;
    m_model.setSummary(nullptr);
    Q_EMIT changed();
}

void Summary::begin(bool withHashes) {
    session::ModelInfoRequest request;
    request.hashes = withHashes;
    // A run does not change the files: what is known of them is taken over.
    const std::shared_ptr<const session::ModelInfo> before = m_model.summary();
    if (m_model.sharedGraph() != m_model.document()->graph) request.typed = m_model.sharedGraph();
    m_isHashing = withHashes;
    m_job.start(
        [document = m_model.document(), request, before](const base::WorkContext& work) -> base::Result<Found> {
            SONDE_ASSIGN(session::ModelInfo info, session::modelInfo(*document, request, work));
            const bool areHashesKnown = before && before->file.file && !before->file.file->sha256.empty();
            if (areHashesKnown && !request.hashes) info.file = before->file;
            Found found;
            found.lines = session::modelInfoLines(*document, info);
            found.info = std::make_shared<const session::ModelInfo>(std::move(info));
            return found;
        },
        [this, withHashes](base::Result<Found> found) { take(std::move(found), withHashes); });
}

void Summary::take(base::Result<Found> found, bool withHashes) {
    m_isHashing = false;
    if (!m_model.isOpen()) return;
    if (!found) {
        m_failure = windowText(found.error());
        Q_EMIT changed();
        return;
    }
    m_failure.clear();
    m_lines = std::move(found->lines);
    const auto& file = found->info->file.file;
    const bool needsHashes = !withHashes && file && file->sha256.empty();
    m_model.setSummary(found->info);
    if (needsHashes) begin(true);
    Q_EMIT changed();
}

void Summary::makeText(bool asJson) {
    const std::shared_ptr<const session::ModelInfo> info = m_model.summary();
    if (!info || !m_model.isOpen()) return;
    m_textJob.start(
        [document = m_model.document(), info, asJson](const base::WorkContext&) {
            return asJson ? session::modelInfoJson(*document, *info) : session::modelInfoText(*document, *info);
        },
        [this](const std::string& text) { Q_EMIT textMade(QString::fromStdString(text)); });
}

}  // namespace sonde::context
