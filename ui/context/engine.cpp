#include "ui/context/engine.h"

#include <filesystem>
#include <utility>

#include "core/session/session.h"
#include "ui/context/background.h"
#include "ui/context/comparison.h"
#include "ui/context/given_inputs.h"
#include "ui/context/messages.h"
#include "ui/context/open_model.h"

namespace sonde::context {

Engine::Engine(session::Session& session, OpenModel& model, Comparison& comparison, Messages& messages)
    : m_session(session), m_comparison(comparison), m_messages(messages) {
    connect(&model, &OpenModel::documentLeft, &m_job, &Job::abandon);
    connect(&m_job, &Job::progressed, this, &Engine::progressed);
}

Engine::~Engine() = default;

void Engine::compare(const QString& library, bool allowNative) {
    if (!m_session.document()) return;
    m_error.reset();
    if ((m_error = missingInput(m_session))) {
        m_messages.report(*m_error);
        return Q_EMIT changed();
    }
    ort::EngineOptions options;
    options.library = library.toStdString();
    options.allowNative = allowNative;
    options.threads = m_session.runs().settings().threads;
    using Values = base::Result<std::shared_ptr<const session::EngineValues>>;
    m_job.start(
        [document = m_session.document(), inputs = m_session.inputs().values(), options](const base::WorkContext& work)
            -> Values { return session::engineValues(*document, inputs, options, work); },
        [this](Values values) {
            if (values) {
                freeLater(std::exchange(m_values, std::move(*values)));
                m_graph = m_session.document()->graph;
                for (const std::string& note : m_values->notes)
                    m_messages.report(Message{base::Severity::Info, QString::fromStdString(note), {}, {}, {}});
                m_comparison.withFile(QString::fromStdString(m_values->file));
            } else {
                m_error = std::move(values).error();
                if (m_error->kind != base::ErrorKind::Cancelled) m_messages.report(*m_error);
            }
            Q_EMIT changed();
        });
    Q_EMIT changed();
}

bool Engine::isCompared() const {
    return m_values && m_comparison.isKnown() && m_session.document() &&
           m_graph.lock() == m_session.document()->graph &&
           m_comparison.title().toStdString() == std::filesystem::path(m_values->file).stem().string();
}

QString Engine::file() const { return isCompared() ? QString::fromStdString(m_values->file) : QString(); }

std::int64_t Engine::elapsedNs(graph::NodeId node) const {
    if (!isCompared()) return 0;
    const auto found = m_values->elapsedNs.find(node);
    return found == m_values->elapsedNs.end() ? 0 : found->second;
}

}  // namespace sonde::context
