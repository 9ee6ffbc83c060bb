#include "ui/context/settings.h"

#include "ui/context/stored.h"

namespace sonde::context {
namespace {

const QString kLeaves = QStringLiteral("tracing/leaves");
const QString kGroups = QStringLiteral("tracing/groups");

}  // namespace

QStringList Settings::registeredLeaves() { return stored(kLeaves).toStringList(); }

void Settings::setRegisteredLeaves(const QStringList& classes) { store(kLeaves, classes); }

bool Settings::findsGroups() { return stored(kGroups, true).toBool(); }

void Settings::setFindsGroups(bool finds) { store(kGroups, finds); }

void Settings::setColorBy(const QString& column) {
    if (column == m_colorBy) return;
    m_colorBy = column;
    Q_EMIT coloringChanged();
}

void Settings::setEdgeWidths(bool bySize) {
    if (bySize == m_edgeWidths) return;
    m_edgeWidths = bySize;
    Q_EMIT coloringChanged();
}

void Settings::setShowsAttributes(bool shown) {
    if (shown == m_showsAttributes) return;
    m_showsAttributes = shown;
    Q_EMIT labelsChanged();
}

void Settings::setShowsNames(bool shown) {
    if (shown == m_showsNames) return;
    m_showsNames = shown;
    Q_EMIT labelsChanged();
}

void Settings::setLabelRules(const LabelRules& rules) {
    if (rules == m_labelRules) return;
    m_labelRules = rules;
    Q_EMIT labelsChanged();
}

}  // namespace sonde::context
