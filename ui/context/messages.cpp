#include "ui/context/messages.h"

#include "core/session/session.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

void Messages::report(const Message& given) {
    Message message = given;
    if (message.node.valid() && m_session.document()) message.graph = m_session.document()->graph;
    if (m_all.size() >= kMaxCount) m_all.erase(m_all.begin());
    m_all.push_back(message);
    Q_EMIT messageReported(message);
    if (message.severity == base::Severity::Error) Q_EMIT bannerRequested(message);
}

Message Messages::messageOf(const base::Error& error) const {
    Message message{base::Severity::Error,
                    QString::fromStdString(error.what),
                    windowPlace(error.where),
                    windowHint(error.hint),
                    {}};
    if (!error.notes.empty()) message.text += QStringLiteral(" — ") + QString::fromStdString(error.notes.front());
    if (m_session.document()) message.node = m_session.runs().graph()->findNode(error.where);
    return message;
}

void Messages::report(const base::Error& error) { report(messageOf(error)); }

void Messages::reportSaving(const base::Result<void>& written, const Message& saved) {
    if (written) clearSavingBanner();
    Message message = written ? saved : messageOf(written.error());
    message.isOfSaving = true;
    report(message);
}

graph::NodeId Messages::nodeOf(const Message& message) const {
    return m_session.document() && message.graph.lock() == m_session.document()->graph ? message.node : graph::NodeId();
}

}  // namespace sonde::context
