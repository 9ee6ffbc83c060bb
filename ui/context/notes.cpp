#include "ui/context/notes.h"

#include "core/session/session.h"

namespace sonde::context {

using graph::NodeId;

namespace {

constexpr int kTypingMs = 300;  ///< after the last key: marks and files follow pauses, not letters

}  // namespace

Notes::Notes(session::Session& session) : m_session(session) {
    m_soon.setSingleShot(true);
    m_soon.setInterval(kTypingMs);
    connect(&m_soon, &QTimer::timeout, this, &Notes::flush);
}

const std::vector<session::Notes::Entry>& Notes::all() const { return m_session.notes().entries(); }

QString Notes::of(NodeId node) const { return QString::fromStdString(m_session.notes().of(node)); }

void Notes::set(NodeId node, const QString& text) {
    if (m_typed && m_typed->first == node) m_typed.reset();
    m_session.setNote(node, text.toStdString());
}

void Notes::type(NodeId node, const QString& text) {
    if (m_typed && m_typed->first != node) flush();
    m_typed = {node, text};
    m_soon.start();
}

void Notes::flush() {
    m_soon.stop();
    if (const auto typed = std::exchange(m_typed, std::nullopt)) set(typed->first, typed->second);
}

void Notes::reset() {
    m_soon.stop();
    m_typed.reset();
}

}  // namespace sonde::context
