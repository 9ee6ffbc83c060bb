#include "ui/panels/profile/profile_table_model.h"

#include <array>
#include <unordered_map>

#include "core/analysis/parameters.h"
#include "ui/models/roles.h"
#include "ui/models/short_text.h"

namespace sonde::panels {

using analysis::ProfiledExpr;
using analysis::ProfiledModule;

namespace {

struct ColumnText {
    const char* title;
    const char* formula;  ///< of the tool tip
};

constexpr std::array<ColumnText, ProfileTableModel::ColumnCount> kColumns{{
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Name"), QT_TRANSLATE_NOOP("ProfileTableModel", "Node or module")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Kind"), QT_TRANSLATE_NOOP("ProfileTableModel", "Operator or class")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Self"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "Time without what runs inside of it")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Self %"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "self time / time of the run")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Total"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "Time with what runs inside of it: Σ self of all parts")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Runs"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "How often it ran; of a module its operations")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "FLOP/s"),
     QT_TRANSLATE_NOOP("ProfileTableModel",
                       "FLOPs / self time, of calls, branches and loops / total time; a multiply-add counts as 2")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Bytes/s"),
     QT_TRANSLATE_NOOP("ProfileTableModel",
                       "(bytes read + bytes written) / self time, of calls, branches and loops / total time")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Intensity"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "FLOPs / (bytes read + bytes written)")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Threads"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "time that threads worked / (threads × self time)")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Values"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "Memory taken for tensors while it ran")},
    {QT_TRANSLATE_NOOP("ProfileTableModel", "Difference"),
     QT_TRANSLATE_NOOP("ProfileTableModel", "self time − time in the other profile")},
}};

QString said(const char* text) { return ProfileTableModel::tr(text); }

}  // namespace

QString profileTimeText(double ns) {
    if (std::abs(ns) >= 1e9) return QStringLiteral("%1 s").arg(ns / 1e9, 0, 'f', 2);
    if (std::abs(ns) >= 1e6) return QStringLiteral("%1 ms").arg(ns / 1e6, 0, 'f', 2);
    return QStringLiteral("%1 µs").arg(ns / 1e3, 0, 'f', 1);
}

QString profileBytesText(double bytes) {
    return QString::fromStdString(analysis::bytesText(static_cast<std::int64_t>(bytes)));
}

QString profileRateText(double perSecond, const QString& unit) {
    return QStringLiteral("%1 G%2/s").arg(perSecond / 1e9, 0, 'f', perSecond < 1e10 ? 2 : 1).arg(unit);
}

void ProfileTableModel::setProfile(std::shared_ptr<const analysis::RunProfile> profile,
                                   std::shared_ptr<const analysis::ProfileComparison> compared) {
    beginResetModel();
    m_profile = std::move(profile);
    m_rows.clear();
    if (m_profile && m_kind == Rows::Nodes) {
        std::unordered_map<std::string, double> others;
        if (compared)
            for (const analysis::ComparedNode& node : compared->nodes) others[node.names.back()] = node.otherNs;
        for (const ProfiledExpr& entry : m_profile->exprs) {
            Row row{entry.expr, entry.module, {}};
            if (const auto found = others.find(m_profile->nameOf(entry.expr)); found != others.end())
                row.otherNs = found->second;
            m_rows.push_back(row);
        }
    } else if (m_profile) {
        for (std::size_t i = 0; i < m_profile->modules.size(); ++i)
            if (m_profile->modules[i].operations > 0) m_rows.push_back({{}, i, {}});
    }
    endResetModel();
}

int ProfileTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int ProfileTableModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(ColumnCount); }

graph::ExprId ProfileTableModel::exprOf(int row) const {
    return row >= 0 && row < rowCount() ? m_rows[static_cast<std::size_t>(row)].expr : graph::ExprId();
}
QString ProfileTableModel::moduleOf(int row) const {
    if (row < 0 || row >= rowCount()) return {};
    return models::shown(m_profile->tree->module(m_rows[static_cast<std::size_t>(row)].module).qualname);
}
int ProfileTableModel::rowOf(graph::ExprId expr) const {
    for (std::size_t i = 0; i < m_rows.size(); ++i)
        if (expr.valid() && m_rows[i].expr == expr) return static_cast<int>(i);
    return -1;
}

std::optional<double> ProfileTableModel::number(const Row& row, int column) const {
    const bool isNode = row.expr.valid();
    const ProfiledExpr* const node =
        isNode ? &m_profile->exprs[static_cast<std::size_t>(&row - m_rows.data())] : nullptr;
    const ProfiledModule& module = m_profile->modules[row.module];
    const std::int64_t self = isNode ? node->selfNs : module.selfNs, total = isNode ? node->totalNs : module.totalNs;
    const analysis::MeasuredCost& cost = isNode ? node->cost : module.cost;
    const std::int64_t costNs = isNode ? node->costNs() : module.totalNs;
    switch (column) {
        case Self: return static_cast<double>(self);
        case Share:
            return m_profile->totalNs > 0 ? std::optional(100.0 * double(self) / double(m_profile->totalNs))
                                          : std::nullopt;
        case Total: return static_cast<double>(total);
        case Count: return isNode ? double(node->count) : double(module.operations);
        case Flops: return cost.flopRate(costNs);
        case Bytes: return cost.byteRate(costNs);
        case Intensity: return cost.intensity();
        case Threads: return isNode && node->selfNs > 0 ? std::optional(100 * node->threadUse) : std::nullopt;
        case Values: return isNode ? double(node->memory.valueBytes) : double(module.valueBytes);
        case Other: return row.otherNs ? std::optional(double(self) - *row.otherNs) : std::nullopt;
        default: return std::nullopt;
    }
}

QString ProfileTableModel::name(const Row& row) const {
    if (row.expr.valid()) return models::shown(m_profile->nameOf(row.expr));
    const std::string& qualname = m_profile->tree->module(row.module).qualname;
    return qualname.empty() ? tr("(root)") : models::shown(qualname);
}

QString ProfileTableModel::kind(const Row& row) const {
    return row.expr.valid() ? models::shown(analysis::operatorTitle(m_profile->graph->expr(row.expr)))
                            : models::shown(m_profile->tree->module(row.module).moduleClass);
}

QString ProfileTableModel::toolTip(const Row& row, int column) const {
    QString text = name(row) + QLatin1Char('\n') + said(kColumns[static_cast<std::size_t>(column)].formula);
    if (!row.expr.valid()) return text;
    const ProfiledExpr& node = m_profile->exprs[static_cast<std::size_t>(&row - m_rows.data())];
    if (node.doneWith.valid())
        text +=
            QLatin1Char('\n') +
            tr("done by the kernel of %1, whose time contains it").arg(models::shown(m_profile->nameOf(node.doneWith)));
    if (column == Flops && node.cost.flops)
        text += QStringLiteral("\n%1 FLOPs / %2")
                    .arg(*node.cost.flops, 0, 'g', 6)
                    .arg(profileTimeText(double(node.costNs())));
    if (column == Bytes && node.cost.bytes)
        text +=
            QStringLiteral("\n%1 / %2").arg(profileBytesText(*node.cost.bytes), profileTimeText(double(node.costNs())));
    if (column == Intensity && node.cost.flops && node.cost.bytes)
        text += QStringLiteral("\n%1 / %2").arg(*node.cost.flops, 0, 'g', 6).arg(*node.cost.bytes, 0, 'g', 6);
    return text;
}

QVariant ProfileTableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    if (role == Qt::ToolTipRole) return toolTip(row, column);
    if (role == Qt::TextAlignmentRole) return models::alignment(column > Kind);
    if (role == models::NodeRole && row.expr.valid()) {
        const graph::Expr& expr = m_profile->graph->expr(row.expr);
        return expr.outputs.empty() ? QVariant() : QVariant(expr.outputs.front().value);
    }
    if (role != Qt::DisplayRole && role != models::SortRole) return {};
    if (column == Name) return name(row);
    if (column == Kind) return kind(row);
    const auto value = number(row, column);
    if (role == models::SortRole) return value ? QVariant(*value) : QVariant(-1e300);
    if (!value) return {};
    switch (column) {
        case Self:
        case Total: return profileTimeText(*value);
        case Other: return (*value > 0 ? QStringLiteral("+") : QString()) + profileTimeText(*value);
        case Share: return QStringLiteral("%1 %").arg(*value, 0, 'f', 1);
        case Threads: return QStringLiteral("%1 %").arg(*value, 0, 'f', 0);
        case Count: return QString::number(static_cast<qint64>(*value));
        case Flops: return *value > 0 ? profileRateText(*value, QStringLiteral("FLOP")) : QString();
        case Bytes: return *value > 0 ? profileRateText(*value, QStringLiteral("B")) : QString();
        case Intensity: return QString::number(*value, 'f', *value < 10 ? 2 : 1);
        case Values: return profileBytesText(*value);
        default: return {};
    }
}

QVariant ProfileTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::DisplayRole) return said(kColumns[static_cast<std::size_t>(section)].title);
    if (role == Qt::ToolTipRole) return said(kColumns[static_cast<std::size_t>(section)].formula);
    if (role == Qt::TextAlignmentRole) return models::alignment(section > Kind);
    return {};
}

}  // namespace sonde::panels
