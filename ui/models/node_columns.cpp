#include "ui/models/node_columns.h"

#include <QCoreApplication>
#include <QHash>
#include <QLocale>

#include <algorithm>
#include <cmath>

#include "core/analysis/model_summary.h"
#include "core/analysis/node_measures.h"
#include "core/session/model_info.h"
#include "ui/context/comparison.h"
#include "ui/context/count_text.h"
#include "ui/context/engine.h"
#include "ui/context/model_counts.h"
#include "ui/context/precision.h"
#include "ui/context/profile.h"
#include "ui/context/value_measures.h"
#include "ui/context/weight_measures.h"
#include "ui/models/node_stats.h"
#include "ui/models/node_text.h"

namespace sonde::models {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;

const std::vector<NodeColumn>& nodeColumns() {
    static const std::vector<NodeColumn> columns{
        {QStringLiteral("number"), QStringLiteral("#"), false, false, false, 56},
        {QStringLiteral("name"), QStringLiteral("Node"), false, false, false, 200},
        {QStringLiteral("module"), QStringLiteral("Module"), false, false, true, 200},
        {QStringLiteral("class"), QStringLiteral("Class"), false, false, true, 110},
        {QStringLiteral("op"), QStringLiteral("Operator"), false, false, true, 130},
        {QStringLiteral("category"), QStringLiteral("Category"), false, false, true, 100},
        {QStringLiteral("shape"), QStringLiteral("Shape"), false, false, false, 140},
        {QStringLiteral("dtype"), QStringLiteral("Type"), false, false, true, 70},
        {QStringLiteral("elements"), QStringLiteral("Elements"), true, true, true, 90},
        {QStringLiteral("bytes"), QStringLiteral("Memory"), true, true, true, 80},
        {QStringLiteral("parameters"), QStringLiteral("Parameters"), true, true, true, 90},
        {QStringLiteral("readers"), QStringLiteral("Consumers"), true, false, true, 90},
        {QStringLiteral("time"), QStringLiteral("Time"), true, true, true, 90},
        {QStringLiteral("mean"), QStringLiteral("Mean"), true, false, true, 80, NodeColumn::Source::Values, true},
        {QStringLiteral("deviation"), QStringLiteral("Std"), true, false, true, 80, NodeColumn::Source::Values},
        {QStringLiteral("minimum"), QStringLiteral("Min"), true, false, true, 80, NodeColumn::Source::Values, true},
        {QStringLiteral("maximum"), QStringLiteral("Max"), true, false, true, 80, NodeColumn::Source::Values, true},
        {QStringLiteral("bad"), QStringLiteral("NaN, Inf"), true, true, true, 70, NodeColumn::Source::Values},
        {QStringLiteral("zeros"), QStringLiteral("Zeros"), true, false, true, 70, NodeColumn::Source::Values},
        {QStringLiteral("difference"), QStringLiteral("Difference"), true, false, true, 90,
         NodeColumn::Source::Comparison, false, true},
        {QStringLiteral("relative"), QStringLiteral("Relative"), true, false, true, 90, NodeColumn::Source::Comparison,
         false, true},
        {QStringLiteral("weight_zeros"), QStringLiteral("Weight zeros"), true, false, true, 80,
         NodeColumn::Source::Weights},
        {QStringLiteral("weight_outliers"), QStringLiteral("Weight outliers"), true, true, true, 80,
         NodeColumn::Source::Weights},
        {QStringLiteral("weight_deviation"), QStringLiteral("Weight std"), true, false, true, 80,
         NodeColumn::Source::Weights},
        {QStringLiteral("flops"), QStringLiteral("FLOPs"), true, true, true, 90, NodeColumn::Source::Graph, false,
         true},
        {QStringLiteral("traffic"), QStringLiteral("Traffic"), true, true, true, 90, NodeColumn::Source::Graph, false,
         true},
        {QStringLiteral("intensity"), QStringLiteral("Intensity"), true, false, true, 80, NodeColumn::Source::Graph,
         false, true},
        {QStringLiteral("activation"), QStringLiteral("Activation"), true, true, true, 90},
        {QStringLiteral("field"), QStringLiteral("Field"), true, false, true, 70},
        {QStringLiteral("depth"), QStringLiteral("Depth"), true, false, true, 70},
        {QStringLiteral("engine_time"), QStringLiteral("Engine Time"), true, true, false, 90,
         NodeColumn::Source::Comparison},
        {QStringLiteral("precision"), QStringLiteral("Lower Precision"), true, false, true, 110,
         NodeColumn::Source::Precision, false, true},
        {QStringLiteral("profile_time"), QStringLiteral("Profiled Time"), true, true, true, 100,
         NodeColumn::Source::Profile},
        {QStringLiteral("profile_memory"), QStringLiteral("Profiled Memory"), true, true, true, 100,
         NodeColumn::Source::Profile},
        {QStringLiteral("profile_intensity"), QStringLiteral("Profiled Intensity"), true, false, true, 100,
         NodeColumn::Source::Profile, false, true},
        {QStringLiteral("flop_rate"), QStringLiteral("FLOP Rate"), true, false, true, 100, NodeColumn::Source::Profile,
         false, true},
        {QStringLiteral("byte_rate"), QStringLiteral("Byte Rate"), true, false, true, 100, NodeColumn::Source::Profile,
         false, true},
        {QStringLiteral("attributes"), QStringLiteral("Attributes"), false, false, false, 240},
        {QStringLiteral("source"), QStringLiteral("Source"), false, false, false, 160},
        {QStringLiteral("note"), QStringLiteral("Note"), false, false, false, 200},
    };
    return columns;
}

namespace {

std::optional<double> ofStats(int column, const analysis::TensorStats& stats) {
    const auto finite = [&](double number) { return stats.finiteCount() > 0 ? std::optional(number) : std::nullopt; };
    switch (column) {
        case MeanColumn: return finite(stats.mean);
        case DeviationColumn: return finite(stats.deviation);
        case MinimumColumn: return finite(stats.minimum);
        case MaximumColumn: return finite(stats.maximum);
        case BadColumn: return static_cast<double>(stats.nanCount + stats.infCount);
        default:
            return stats.count > 0 ? 100.0 * static_cast<double>(stats.zeroCount) / static_cast<double>(stats.count)
                                   : 0.0;
    }
}

/// What the summary knows of one node. Costs are of operations, by their first result; where sizes are open there is no
/// number yet.
std::optional<double> ofSummary(int column, const graph::Node& node, const session::ModelInfo& info) {
    // The summary of the graph before a run is shown until that of the run is there.
    if (node.id.index() >= info.graph->nodeCount()) return std::nullopt;
    if (column == FieldColumn) return info.fields.sizeOf(*info.graph, node.id);
    const std::size_t expr = node.producer.index();
    if (column == DepthColumn) {
        const std::size_t depth =
            node.id.index() < info.structure.depths.size() ? info.structure.depths[node.id.index()] : 0;
        return depth > 0 ? std::optional(static_cast<double>(depth)) : std::nullopt;
    }
    if (node.outputIndex > 0 || expr >= info.cost.ofExpr.size()) return std::nullopt;
    const analysis::ExprCost& cost = info.cost.ofExpr[expr];
    if (cost.part != analysis::CostPart::Counted) return std::nullopt;
    if (column == IntensityColumn) return cost.sum.intensity();
    tensor::SymbolicSum sum = column == FlopsColumn     ? cost.sum.flops
                              : column == TrafficColumn ? cost.sum.bytesRead
                                                        : cost.sum.activationBytes;
    if (column == TrafficColumn) sum.add(cost.sum.bytesWritten);
    const auto number = sum.constant();
    return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

/// What was measured of one operation, by its first result. What its kernel did for others is its own; theirs is none.
std::optional<double> ofProfile(int column, const graph::Node& node, const analysis::RunProfile& profile) {
    if (node.outputIndex > 0) return std::nullopt;
    const analysis::ProfiledExpr* const entry = profile.of(node.producer);
    if (!entry || entry->doneWith.valid()) return std::nullopt;
    switch (column) {
        case ProfiledTimeColumn: return static_cast<double>(entry->selfNs) / 1e6;
        case ProfiledMemoryColumn: return static_cast<double>(entry->memory.valueBytes);
        case ProfiledIntensityColumn: return entry->isOwner ? std::nullopt : entry->cost.intensity();
        case FlopRateColumn: return entry->isOwner ? std::nullopt : entry->cost.flopRate(entry->costNs());
        default: return entry->isOwner ? std::nullopt : entry->cost.byteRate(entry->costNs());
    }
}

/// The result of a called module is that of an operation inside of it, and what comes in was made outside.
bool isCountedElsewhere(const graph::InternalGraph& graph, const graph::Node& node) {
    const Expr& producer = graph.expr(node.producer);
    if (producer.kind == graph::ExprKind::Input) return producer.body != graph.mainId();
    return producer.kind == graph::ExprKind::CallModule && !producer.bodies.empty();
}

/// Ids are in settings and scripts and stay; scripts may use the words of the titles, which the help lists.
const QHash<QString, QString>& idsOfWords() {
    static const QHash<QString, QString> ids{{QStringLiteral("std"), QStringLiteral("deviation")},
                                             {QStringLiteral("min"), QStringLiteral("minimum")},
                                             {QStringLiteral("max"), QStringLiteral("maximum")},
                                             {QStringLiteral("consumers"), QStringLiteral("readers")}};
    return ids;
}

}  // namespace

QString nodeColumnWord(const QString& id) { return idsOfWords().key(id, id); }

int nodeColumnIndex(const QString& word) {
    const QString id = idsOfWords().value(word, word);
    const auto& columns = nodeColumns();
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const NodeColumn& column) { return column.id == id; });
    return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

QString nodeColumnText(int column, double number) {
    switch (column) {
        case TimeColumn:
        case ProfiledTimeColumn:
        case EngineTimeColumn: return QStringLiteral("%1 ms").arg(number, 0, 'f', 3);
        case MeanColumn:
        case DeviationColumn:
        case MinimumColumn:
        case WeightDeviationColumn:
        case MaximumColumn: return numberText(number);
        case WeightZerosColumn:
        case ZerosColumn: return QStringLiteral("%1 %").arg(number, 0, 'f', 1);
        case DifferenceColumn:
        case RelativeColumn:
        case PrecisionColumn: return QString::number(number, 'g', 3);
        case ProfiledIntensityColumn:
        case IntensityColumn: return QString::number(number, 'g', 4);
        case FlopRateColumn: return QStringLiteral("%1 GFLOP/s").arg(number / 1e9, 0, 'g', 4);
        case ByteRateColumn: return QStringLiteral("%1 GB/s").arg(number / 1e9, 0, 'g', 4);
        case FieldColumn:
            if (std::isinf(number)) return QStringLiteral("all");
            return context::countText(static_cast<qint64>(number));
        case TrafficColumn:
        case ActivationColumn:
        case ProfiledMemoryColumn:
        case BytesColumn: return QLocale::c().formattedDataSize(static_cast<qint64>(number), 1);
        default: return context::countText(static_cast<qint64>(number));
    }
}

QString ColumnSum::text(int column) const {
    const QString title = nodeColumns()[static_cast<std::size_t>(column)].title.toLower();
    if (unknown == 0) return known > 0 ? title + u' ' + nodeColumnText(column, known) : QString();
    const QString missing = unknown == 1 ? QStringLiteral("1 node unknown")
                                         : QStringLiteral("%1 nodes unknown").arg(context::countText(unknown));
    return known > 0 ? QStringLiteral("%1 at least %2, %3").arg(title, nodeColumnText(column, known), missing)
                     : QStringLiteral("%1 not known").arg(title);
}

void NodeMeasures::addTo(ColumnSum& sum, int column, NodeId id) const {
    if (const std::optional<double> known = number(column, id)) {
        sum.known += *known;
        return;
    }
    if (column != BytesColumn) return;
    // Of a tensor whose dim sizes are open; after a run its value tells.
    const graph::Node& node = graph().node(id);
    const bool mayBeTensor = (!node.type.kind || node.type.isTensor()) && node.type.dtype != tensor::DType::String;
    if (mayBeTensor && !isCountedElsewhere(graph(), node) && !m_runs.value(id)) ++sum.unknown;
}

void NodeMeasures::reset() {
    m_parameters.clear();
    m_times.clear();
}

const std::vector<std::int64_t>& NodeMeasures::parameters() const {
    if (m_parameters.empty()) m_parameters = context::countsOf(m_opened.document())->ofExpr;
    return m_parameters;
}

/// Of every operation without what is inside of it: sums count nothing twice.
const std::vector<std::int64_t>& NodeMeasures::times() const {
    if (!m_times.empty()) return m_times;
    const exec::Recording& recording = *m_runs.recording();
    m_times.assign(graph().exprCount(), 0);
    for (const ExprId id : graph().recursiveOrder(graph().mainId())) {
        const Expr& expr = graph().expr(id);
        const std::int64_t took = recording.elapsedNs(id);
        m_times[id.index()] += took;
        if (expr.body != graph().mainId()) m_times[graph().body(expr.body).owner.index()] -= took;
    }
    for (std::int64_t& time : m_times) time = std::max<std::int64_t>(time, 0);
    return m_times;
}

/// Statistics are computed in a run of their own, which may get farther than the one that is shown.
const analysis::TensorStats* NodeMeasures::measured(NodeId id) const {
    return m_runs.wasReached(id) ? m_statistics.of(id) : nullptr;
}

std::optional<double> NodeMeasures::number(int column, NodeId id) const {
    const graph::Node& node = graph().node(id);
    const auto known = [](std::optional<std::int64_t> count) {
        return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
    };
    switch (column) {
        case NumberColumn: return id.value;
        case MeanColumn:
        case DeviationColumn:
        case MinimumColumn:
        case MaximumColumn:
        case BadColumn:
        case ZerosColumn: {
            const analysis::TensorStats* stats = measured(id);
            return stats ? ofStats(column, *stats) : std::nullopt;
        }
        case DifferenceColumn:
        case RelativeColumn: {
            const analysis::NodeDifference* found = m_comparison.of(id);
            if (!found) return std::nullopt;
            return column == DifferenceColumn ? found->maxAbsolute : found->maxRelative;
        }
        case WeightZerosColumn:
        case WeightOutliersColumn:
        case WeightDeviationColumn: {
            const auto measures = context::weightMeasuresOf(m_opened.document());
            if (!measures || node.outputIndex > 0) return std::nullopt;
            const std::vector<double>& numbers = column == WeightZerosColumn      ? measures->zeros
                                                 : column == WeightOutliersColumn ? measures->outliers
                                                                                  : measures->deviation;
            const double number =
                node.producer.index() < numbers.size() ? numbers[node.producer.index()] : std::nan("");
            return std::isnan(number) ? std::nullopt : std::optional(number);
        }
        case FlopsColumn:
        case TrafficColumn:
        case IntensityColumn:
        case ActivationColumn:
        case FieldColumn:
        case DepthColumn: return m_opened.summary() ? ofSummary(column, node, *m_opened.summary()) : std::nullopt;
        case EngineTimeColumn:
            if (!m_engine || node.outputIndex > 0 || m_engine->elapsedNs(id) == 0) return std::nullopt;
            return static_cast<double>(m_engine->elapsedNs(id)) / 1e6;
        case PrecisionColumn: return m_precision ? m_precision->relativeError(id) : std::nullopt;
        case ProfiledTimeColumn:
        case ProfiledMemoryColumn:
        case ProfiledIntensityColumn:
        case FlopRateColumn:
        case ByteRateColumn: {
            const auto profile = context::profileOf(m_opened.document());
            return profile ? ofProfile(column, node, *profile) : std::nullopt;
        }
        case ElementsColumn:
            if (isCountedElsewhere(graph(), node)) return std::nullopt;
            return known(analysis::elementCount(node, m_runs.value(id)));
        case BytesColumn:
            if (isCountedElsewhere(graph(), node)) return std::nullopt;
            return known(analysis::byteCount(node, m_runs.value(id)));
        case ReadersColumn: return static_cast<double>(node.users.size());
        case ParametersColumn:
            if (node.outputIndex > 0) return std::nullopt;
            return static_cast<double>(parameters()[node.producer.index()]);
        case TimeColumn:
            if (node.outputIndex > 0 || !m_runs.recording() || m_runs.recording()->elapsedNs(node.producer) == 0)
                return std::nullopt;
            return static_cast<double>(times()[node.producer.index()]) / 1e6;
        default: return std::nullopt;
    }
}

QString NodeMeasures::text(int column, NodeId id) const {
    const graph::Node& node = graph().node(id);
    const Expr& expr = graph().expr(node.producer);
    switch (column) {
        case NameColumn: return shown(node.name);
        case ModuleColumn: return moduleText(expr);
        case ClassColumn: return shortClass(expr.moduleClass);
        case OperatorColumn: return operatorText(expr);
        case CategoryColumn: {
            const ops::OpDef* def = analysis::definitionOf(expr);
            return def ? shown(ops::name(def->category)) : QString();
        }
        case ShapeColumn: return shapeText(node, m_runs.value(id));
        case DTypeColumn: return dtypeText(node, m_runs.value(id));
        case AttributesColumn: {
            QStringList parts;
            for (const tensor::Attribute& attribute : expr.attributes.items())
                parts << shown(attribute.name) + u'=' + shown(tensor::text(attribute.value, 40));
            return parts.join(QStringLiteral(", "));
        }
        case SourceColumn: return expr.source.empty() ? QString() : shown(expr.source.text());
        default: {
            const std::optional<double> known = number(column, id);
            if (!known || (column == ParametersColumn && *known == 0)) return {};
            return column == NumberColumn ? QString::number(id.value) : nodeColumnText(column, *known);
        }
    }
}

bool NodeMeasures::isBad(int column, NodeId id) const {
    const NodeColumn::Source source = nodeColumns()[static_cast<std::size_t>(column)].source;
    if (source == NodeColumn::Source::Precision || column == EngineTimeColumn) return false;
    if (source == NodeColumn::Source::Comparison) {
        const analysis::NodeDifference* found = m_comparison.of(id);
        return found && !found->ok;
    }
    const analysis::TensorStats* stats = source == NodeColumn::Source::Values ? measured(id) : nullptr;
    return stats && stats->finiteCount() < stats->count;
}

QString NodeMeasures::staleReason(int column) const {
    const bool isOfRun =
        column == TimeColumn || nodeColumns()[static_cast<std::size_t>(column)].source == NodeColumn::Source::Values;
    return isOfRun ? m_runs.staleReason() : QString();
}

QString NodeMeasures::comparisonNote() const {
    if (m_comparison.isStale()) return QStringLiteral("the comparison is stale");
    return m_comparison.isKnown() ? QStringLiteral("nothing was compared")
                                  : QStringLiteral("use Run \u203a Compare first");
}

QString NodeMeasures::basisOf(int column) const {
    const bool isOfComparison =
        nodeColumns()[static_cast<std::size_t>(column)].source == NodeColumn::Source::Comparison;
    return isOfComparison && !m_comparison.isStale() ? m_comparison.editsText() : QString();
}

bool NodeMeasures::isOfOpenSizes(int column) const {
    if (column < FlopsColumn || column > ActivationColumn || !m_opened.summary()) return false;
    const analysis::CostSum& total = m_opened.summary()->cost.total;
    const bool isOfFlops = column == FlopsColumn || column == IntensityColumn;
    return !(isOfFlops ? total.flops : column == TrafficColumn ? total.bytesRead : total.activationBytes).constant();
}

QString NodeMeasures::graphNote(int column) const {
    if (column < FlopsColumn || column > DepthColumn) return QStringLiteral("no data");
    return m_opened.summary() ? QStringLiteral("sizes are open: run once") : QStringLiteral("being computed");
}

QString NodeMeasures::group(int column, NodeId id) const {
    if (column != ModuleColumn) return text(column, id);
    const Expr& expr = graph().expr(graph().node(id).producer);
    if (!expr.qualname || expr.qualname->empty()) return {};
    // "layers.3" of "layers.3.attn.q": a number alone is no name.
    const QString whole = shown(*expr.qualname);
    const QStringList parts = whole.split(u'.');
    bool number = false;
    if (parts.size() > 1) parts[1].toInt(&number);
    return number ? parts[0] + u'.' + parts[1] : parts[0];
}

}  // namespace sonde::models
