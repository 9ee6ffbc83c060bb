#include "ui/models/why_term_model.h"

#include <algorithm>
#include <cmath>

#include "ui/models/short_text.h"

namespace sonde::models {

using context::Why;
using session::why::Explanation;
using session::why::Term;

namespace {

QString whyNumber(double value) {
    if (std::isnan(value)) return QStringLiteral("NaN");
    if (std::isinf(value)) return value > 0 ? QStringLiteral("Inf") : QStringLiteral("-Inf");
    return QString::number(value, 'g', 6);
}

}  // namespace

WhyTermModel::WhyTermModel(Why& why, QObject* parent) : QAbstractTableModel(parent), m_why(why) {
    connect(&why, &Why::changed, this, &WhyTermModel::follow);
}

/// Rows stay while what reaches the element is still being followed.
void WhyTermModel::follow() {
    const Why::Hop* const hop = m_why.current();
    const Seen now{m_why.position(), m_why.trail().size(), hop && hop->explanation.has_value()};
    if (now == m_seen) return;
    beginResetModel();
    m_seen = now;
    endResetModel();
}

const Explanation* WhyTermModel::explanation() const {
    const Why::Hop* const hop = m_why.current();
    return hop && hop->explanation ? &*hop->explanation : nullptr;
}

bool WhyTermModel::listsInputs() const {
    const Explanation* const found = explanation();
    return found && found->terms.empty() && found->termCount == 0 && found->formula.empty();
}

int WhyTermModel::rowCount(const QModelIndex& parent) const {
    const Explanation* const found = explanation();
    if (parent.isValid() || !found) return 0;
    if (listsInputs()) return static_cast<int>(found->inputs.size());
    return static_cast<int>(found->terms.size()) + (found->restCount() > 0 ? 1 : 0);
}

int WhyTermModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

std::optional<Why::Place> WhyTermModel::placeOf(int row) const {
    const Explanation* const found = explanation();
    if (!found || row < 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(row);
    if (listsInputs()) {
        if (at >= found->inputs.size()) return std::nullopt;
        return Why::Place{found->inputs[at], {}, {}};
    }
    if (at >= found->terms.size() || !found->terms[at].place.node.valid()) return std::nullopt;
    return found->terms[at].place;
}

std::optional<Why::Place> WhyTermModel::weightPlaceOf(int row) const {
    const Explanation* const found = explanation();
    if (!found || row < 0 || static_cast<std::size_t>(row) >= found->terms.size()) return std::nullopt;
    return found->terms[static_cast<std::size_t>(row)].weightPlace;
}

QVariant WhyTermModel::number(int row, int column) const {
    const Explanation* const found = explanation();
    if (!found || listsInputs()) return {};
    const auto at = static_cast<std::size_t>(row);
    if (at >= found->terms.size()) return column == Product ? QVariant(found->restSum) : QVariant();
    const Term& term = found->terms[at];
    switch (column) {
        case Weight: return term.weight;
        case Value: return term.value;
        case Product: return term.contribution();
        default: return {};
    }
}

QString WhyTermModel::text(int row, int column) const {
    const Explanation* const found = explanation();
    if (!found) return {};
    const auto at = static_cast<std::size_t>(row);
    if (column >= Weight) {
        const QVariant shown = number(row, column);
        return shown.isValid() ? whyNumber(shown.toDouble()) : QString();
    }
    if (listsInputs())
        return column == Element ? oneLine(m_why.text({found->inputs[at], {}, {}})) : tr("input of the operation");
    if (at >= found->terms.size()) return column == Element ? tr("%1 more").arg(found->restCount()) : tr("the rest");
    const Term& term = found->terms[at];
    if (column == Part) return oneLine(QString::fromStdString(term.part));
    if (term.place.node.valid()) return oneLine(m_why.text(term.place));
    return term.place.index.empty() ? tr("inside the operator")
                                    : tr("inside the operator, unit %1").arg(term.place.index.front());
}

QVariant WhyTermModel::data(const QModelIndex& index, int role) const {
    const Explanation* const found = explanation();
    if (!found || index.row() >= rowCount()) return {};
    const auto at = static_cast<std::size_t>(index.row());
    switch (role) {
        case Qt::DisplayRole: return text(index.row(), index.column());
        case Qt::TextAlignmentRole: return alignment(index.column() >= Weight);
        case Qt::ToolTipRole: {
            if (listsInputs() || at >= found->terms.size()) return text(index.row(), index.column());
            const Term& term = found->terms[at];
            QString tip = text(index.row(), Element);
            if (term.weightPlace)
                tip += QLatin1Char('\n') + tr("Weight: %1").arg(oneLine(m_why.text(*term.weightPlace)));
            if (term.place.node.valid())
                tip += QLatin1Char('\n') + tr("Double-click or press Return to go on from there");
            return tip;
        }
        case SortRole: {
            const QVariant shown = number(index.row(), index.column());
            return shown.isValid() ? shown : QVariant(text(index.row(), index.column()));
        }
        case NodeRole: {
            const auto place = placeOf(index.row());
            return place ? QVariant(place->node.value) : QVariant();
        }
        case MutedRole: return !listsInputs() && at >= found->terms.size();
        case kBarRole: {
            if (index.column() != Product || found->terms.empty()) return {};
            const double largest = std::fabs(found->terms.front().contribution());
            const double shown = number(index.row(), Product).toDouble();
            if (!std::isfinite(largest) || !std::isfinite(shown)) return {};
            const double scale = std::max(largest, std::fabs(found->restSum));
            return scale > 0 ? QVariant(std::clamp(shown / scale, -1.0, 1.0)) : QVariant();
        }
        default: return {};
    }
}

QVariant WhyTermModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section >= Weight);
    static const char* const kTips[] = {
        QT_TR_NOOP("The element that takes part, and where it is"), QT_TR_NOOP("Its name in the formula"),
        QT_TR_NOOP("What it is multiplied by"), QT_TR_NOOP("Its value"),
        QT_TR_NOOP("How much of it is in the element; bars are relative to the largest")};
    static const char* const kTitles[] = {QT_TR_NOOP("Element"), QT_TR_NOOP("Part"), QT_TR_NOOP("Weight"),
                                          QT_TR_NOOP("Value"), QT_TR_NOOP("Weight \u00d7 value")};
    if (role == Qt::ToolTipRole) return tr(kTips[section]);
    return role == Qt::DisplayRole ? QVariant(tr(kTitles[section])) : QVariant();
}

}  // namespace sonde::models
