#include "ui/context/comparison.h"

#include <QStringList>

#include "core/session/edits/edit_count.h"

namespace sonde::context {

Comparison::Comparison(session::Comparison& comparison) : m_of(comparison) {
    comparison.setFollowsEdits(true);
    connect(&m_watch, &FileWatch::touched, this, &Comparison::checkFiles);
}

QString Comparison::editsText() const {
    return editCount() == 0 ? QString()
                            : tr("with %1").arg(QString::fromStdString(session::editCountText(editCount())));
}

QString Comparison::runText() const {
    if (!isKnown() || isStale() || compared() == 0) return {};
    const QString text = tr("compared with %1").arg(QString::fromStdString(m_of.referenceText()));
    return editCount() == 0 ? text : QStringLiteral("%1, %2").arg(text, editsText());
}

void Comparison::setTolerances(const analysis::Tolerances& tolerances) {
    if (m_of.setTolerances(tolerances)) Q_EMIT tolerancesChanged();
}

std::optional<double> Comparison::keptTolerance() const {
    return tolerances().fixed || hasUsualTolerances() ? std::nullopt : std::optional(tolerances().float32);
}

void Comparison::restoreTolerance(std::optional<double> float32) {
    analysis::Tolerances tolerances;
    if (float32 && *float32 >= 0) tolerances.float32 = *float32;
    m_of.restoreTolerances(tolerances);
}

void Comparison::keepRun() {
    if (const std::string text = m_of.setBaseline(); !text.empty()) Q_EMIT runKept(QString::fromStdString(text));
}

void Comparison::again() {
    if (m_of.canRepeat()) m_of.again();
    else Q_EMIT nothingToRepeat();
}

QString Comparison::staleReason() const {
    return m_of.isStale() ? QString::fromStdString(m_of.staleReason()) : otherReason();
}

/// Of a run with the same inputs and edits all that was compared holds, however it came to its end.
QString Comparison::otherReason() const {
    if (m_shown.isUnfinished) return tr("the debugged run has not come to its end");
    if (editCount() > 0 && !m_shown.hasEdits) return tr("what is shown is without the edits");
    if (editCount() == 0 && m_shown.hasEdits) return tr("what is shown is with edits");
    return {};
}

void Comparison::setShownRun(const ShownRun& shown) {
    if (shown == m_shown) return;
    m_shown = shown;
    if (m_of.isKnown()) Q_EMIT changed();
}

void Comparison::follow() {
    if (m_watched != m_of.files()) {
        m_watched = m_of.files();
        QStringList paths;
        for (const auto& file : m_watched) paths << QString::fromStdString(file->path().string());
        m_watch.watch({}, paths);
    }
    Q_EMIT changed();
}

}  // namespace sonde::context
