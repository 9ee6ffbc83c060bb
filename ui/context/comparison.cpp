#include "ui/context/comparison.h"

#include <QStringList>

namespace sonde::context {

Comparison::Comparison(session::Comparison& comparison) : m_of(comparison) {
    connect(&m_watch, &FileWatch::touched, this, &Comparison::checkFiles);
}

QString Comparison::runText() const {
    return isKnown() && !isStale() && compared() > 0
               ? tr("compared with %1").arg(QString::fromStdString(m_of.referenceText()))
               : QString();
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
    if (m_isOfOther && !m_of.isStale()) return tr("another run is debugged");
    return QString::fromStdString(m_of.staleReason());
}

void Comparison::setOfOther(bool isOther) {
    if (isOther == m_isOfOther) return;
    m_isOfOther = isOther;
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
