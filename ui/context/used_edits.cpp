#include "ui/context/used_edits.h"

#include <QCoreApplication>

#include "core/session/edits/edit_count.h"

namespace sonde::context {

UsedEdits::UsedEdits(const session::Edits& edits) : m_count(session::countingEdits(edits)), m_number(edits.number()) {}

bool UsedEdits::areOthers(const session::Edits& now) const {
    return m_number != now.number() && (m_count > 0 || session::countingEdits(now) > 0);
}

QString UsedEdits::text(const session::Edits& now) const {
    const auto tr = [](const char* text) { return QCoreApplication::translate("UsedEdits", text); };
    const QString count = QString::fromStdString(session::editCountText(m_count));
    if (!areOthers(now)) return m_count > 0 ? tr("with %1").arg(count) : QString();
    return m_count > 0 ? tr("with %1, changed since then").arg(count) : tr("without the present edits");
}

QString UsedEdits::changedText(const session::Edits& now) const {
    return areOthers(now) ? QCoreApplication::translate("UsedEdits", "the edits have changed since then") : QString();
}

}  // namespace sonde::context
