#include "ui/window/comparison_colors.h"

#include <utility>

#include "ui/context/precision.h"
#include "ui/context/profile.h"
#include "ui/context/weights.h"
#include "ui/models/node_columns.h"

namespace sonde::window {

namespace {

using Source = models::NodeColumn::Source;

bool isFrom(const QString& id, Source source) {
    const int column = models::nodeColumnIndex(id);
    return column >= 0 && models::nodeColumns()[static_cast<std::size_t>(column)].source == source;
}

}  // namespace

ComparisonColors::ComparisonColors(context::InspectorContext& context) : m_context(context) {
    connect(&context.comparison(), &context::Comparison::changed, this, &ComparisonColors::follow);
    connect(&context.precision(), &context::Precision::changed, this, &ComparisonColors::follow);
    connect(&context::profileOf(context), &context::Profile::changed, this, &ComparisonColors::follow);
    connect(&context.model(), &context::OpenModel::documentOpened, this, &ComparisonColors::follow);
    connect(&context.runs(), &context::Runs::runFinished, this, &ComparisonColors::measureIfNeeded);
    connect(&context.model(), &context::OpenModel::documentOpened, this, &ComparisonColors::measureIfNeeded);
    for (const auto signal : {&context::Settings::coloringChanged, &context::Settings::labelsChanged})
        connect(&context.settings(), signal, this, &ComparisonColors::measureIfNeeded);
}

QString ComparisonColors::lastingColumn() const {
    const QString column = m_context.settings().colorBy();
    const bool isOfProcess =
        isFrom(column, Source::Comparison) || isFrom(column, Source::Precision) || isFrom(column, Source::Profile);
    return isOfProcess ? m_before : column;
}

void ComparisonColors::follow() {
    followOne(Source::Comparison, m_context.comparison().isKnown(), m_showsComparison,
              &ComparisonColors::differenceWanted);
    followOne(Source::Precision, m_context.precision().report() != nullptr, m_showsPrecision,
              &ComparisonColors::precisionWanted);
    followOne(Source::Profile, context::profileOf(m_context).report() != nullptr, m_showsProfile, nullptr);
}

void ComparisonColors::followOne(Source source, bool isKnown, bool& wasKnown, void (ComparisonColors::*wanted)()) {
    const QString column = m_context.settings().colorBy();
    const bool isColored = isFrom(column, source);
    if (isKnown == std::exchange(wasKnown, isKnown)) return;
    if (isKnown && !isColored && wanted) {
        m_before = lastingColumn();
        Q_EMIT(this->*wanted)();
    }
    if (!isKnown && isColored)
        m_context.settings().setColorBy(m_before.isEmpty() ? QStringLiteral("category") : m_before);
}

void ComparisonColors::measureIfNeeded() {
    bool isNeeded = isFrom(m_context.settings().colorBy(), Source::Values);
    for (const context::LabelRule& rule : m_context.settings().labelRules())
        for (const QString& line : rule.lines)
            for (const QString& field : context::fieldsIn(line)) isNeeded = isNeeded || isFrom(field, Source::Values);
    if (isNeeded) m_context.valueMeasures().compute();
    if (isFrom(m_context.settings().colorBy(), Source::Weights)) context::weightsOf(m_context).compute();
}

}  // namespace sonde::window
