#include "ui/models/module_tree_model.h"

#include <algorithm>

#include "ui/context/count_text.h"
#include "ui/context/open_model.h"
#include "ui/models/node_text.h"
#include "ui/models/short_text.h"

namespace {

/// "11.7 M": three digits are enough to compare; the tool tip has them all.
QString shortCount(std::int64_t count) {
    if (count < 10000) return sonde::context::countText(count);
    const bool millions = count >= 1000000;
    return QString::number(static_cast<double>(count) / (millions ? 1e6 : 1e3), 'g', count >= 1000000000 ? 5 : 3) +
           (millions ? QStringLiteral(" M") : QStringLiteral(" k"));
}

}  // namespace

namespace sonde::models {

ModuleTreeModel::ModuleTreeModel(context::OpenModel& opened, QObject* parent)
    : QAbstractItemModel(parent), m_opened(opened) {
    const auto take = [this] {
        beginResetModel();
        m_tree = m_opened.isOpen() ? m_opened.document()->modules : nullptr;
        // The tree is the whole model's, whichever of its graphs is shown.
        m_current = QString();
        m_points.clear();
        m_pointsBelow.clear();
        m_rootName.clear();
        if (const auto& whole = m_opened.whole())
            m_rootName = shown(whole->graph->name.empty() ? whole->title : whole->graph->name);
        reset();
        endResetModel();
    };
    connect(&opened, &context::OpenModel::documentOpened, this, take);
    connect(&opened, &context::OpenModel::documentClosed, this, take);
    take();
}

void ModuleTreeModel::reset() {
    m_rows.clear();
    m_counts.reset();
    if (!m_tree) return;
    m_counts = context::countsOf(m_opened.whole() ? m_opened.whole() : m_opened.document());
    const auto& modules = m_tree->modules();
    m_rows.assign(modules.size(), 0);
    for (std::size_t i = 0; i < modules.size(); ++i) {
        for (std::size_t k = 0; k < modules[i].children.size(); ++k)
            m_rows[modules[i].children[k]] = static_cast<int>(k);
    }
}

const analysis::ModuleSums& ModuleTreeModel::sums(std::size_t module) const {
    static const analysis::ModuleSums none;
    return m_counts && module < m_counts->ofModule.size() ? m_counts->ofModule[module] : none;
}

QModelIndex ModuleTreeModel::indexOf(const QString& qualname) const {
    if (!m_tree) return {};
    const auto found = m_tree->find(qualname.toStdString());
    return found ? createIndex(m_rows[*found], 0, static_cast<quintptr>(*found)) : QModelIndex();
}

/// The module's row and those above it.
QModelIndexList ModuleTreeModel::pathOf(const QString& qualname) const {
    QModelIndexList path;
    if (qualname.isNull()) return path;
    for (QModelIndex index = indexOf(qualname); index.isValid(); index = parent(index)) path << index;
    return path;
}

void ModuleTreeModel::setCurrent(const QString& qualname) {
    if (qualname == m_current && qualname.isNull() == m_current.isNull()) return;
    const QModelIndexList before = pathOf(m_current);
    m_current = qualname;
    for (const QModelIndexList& path : {before, pathOf(m_current)})
        for (const QModelIndex& index : path) Q_EMIT dataChanged(index, index, {CurrentRole});
}

void ModuleTreeModel::setPoints(QHash<QString, Points> points) {
    if (points == m_points) return;
    QHash<QString, QString> below;
    for (auto one = points.cbegin(); one != points.cend(); ++one) {
        QString module = one.key();
        while (!module.isEmpty()) {
            module.truncate(std::max<qsizetype>(module.lastIndexOf(QLatin1Char('.')), 0));
            if (QString& icon = below[module]; icon.isEmpty() || icon.endsWith(QLatin1String("-off"))) icon = one->icon;
        }
    }
    const QStringList before = m_points.keys() + m_pointsBelow.keys();
    m_points = std::move(points);
    m_pointsBelow = std::move(below);
    for (const QStringList& names : {before, m_points.keys() + m_pointsBelow.keys()})
        for (const QString& name : names)
            if (const QModelIndex row = indexOf(name); row.isValid())
                Q_EMIT dataChanged(row, row, {PointRole, PointBelowRole, Qt::ToolTipRole});
}

QString ModuleTreeModel::qualname(const QModelIndex& index) const {
    return index.isValid() ? data(index, QualnameRole).toString() : QString();
}

QModelIndex ModuleTreeModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    if (!parent.isValid()) return createIndex(row, column, quintptr{0});
    const auto& children = m_tree->module(parent.internalId()).children;
    return createIndex(row, column, static_cast<quintptr>(children[static_cast<std::size_t>(row)]));
}

QModelIndex ModuleTreeModel::parent(const QModelIndex& index) const {
    if (!index.isValid() || index.internalId() == 0) return {};
    const std::size_t parent = m_tree->module(index.internalId()).parent;
    return createIndex(m_rows[parent], 0, static_cast<quintptr>(parent));
}

int ModuleTreeModel::rowCount(const QModelIndex& parent) const {
    if (!m_tree) return 0;
    if (!parent.isValid()) return 1;
    return parent.column() == 0 ? static_cast<int>(m_tree->module(parent.internalId()).children.size()) : 0;
}

int ModuleTreeModel::columnCount(const QModelIndex&) const { return ColumnCount; }

QVariant ModuleTreeModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const std::size_t id = index.internalId();
    const graph::ModuleInfo& module = m_tree->module(id);
    const QString qualname = module.qualname.empty() ? QStringLiteral("") : QString::fromStdString(module.qualname);
    if (role == QualnameRole) return qualname;
    if (role == SeverityRole && !module.failure.empty()) return static_cast<int>(base::Severity::Error);
    if (role == MutedRole) return !module.visited;
    if (role == CurrentRole) {
        if (m_current.isNull()) return {};
        if (qualname == m_current) return 1;
        const bool isAbove = qualname.isEmpty() || m_current.startsWith(qualname + QLatin1Char('.'));
        return isAbove ? QVariant(2) : QVariant();
    }
    if (role == PointRole && index.column() == NameColumn) {
        const auto own = m_points.constFind(qualname);
        return own != m_points.cend() ? own->icon : m_pointsBelow.value(qualname);
    }
    if (role == PointBelowRole) return !m_points.contains(qualname);
    if (role == Qt::ToolTipRole) {
        QString text = module.qualname.empty() ? tr("The whole model") : shown(module.qualname);
        if (!module.moduleClass.empty()) text += QLatin1Char('\n') + shown(module.moduleClass);
        const analysis::ModuleSums& sums = this->sums(id);
        if (sums.parameters.elements > 0)
            text += QLatin1Char('\n') + tr("Parameters: %1").arg(context::storedText(sums.parameters));
        if (sums.tied > 0)
            text += QLatin1Char('\n') + tr("%1 of them are tied to another module and count once in a total")
                                            .arg(context::countText(sums.tied));
        if (sums.buffers.elements > 0)
            text += QLatin1Char('\n') + tr("Buffers: %1").arg(context::storedText(sums.buffers));
        if (!module.failure.empty())
            text += QLatin1Char('\n') + tr("Could not be traced: %1").arg(shown(module.failure));
        if (!module.visited)
            text += QLatin1Char('\n') + (module.note.empty() ? tr("Never called while tracing") : shown(module.note));
        for (const QString& point : m_points.value(qualname).texts) text += QLatin1Char('\n') + point;
        if (!m_points.contains(qualname) && m_pointsBelow.contains(qualname))
            text += QLatin1Char('\n') + tr("Breakpoints in modules inside");
        if (module.inferred) text += QLatin1Char('\n') + tr("Inferred from names or repeated structure");
        return text;
    }
    if (role == Qt::TextAlignmentRole) return alignment(index.column() == ParametersColumn);
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case NameColumn:
            return id == 0 ? m_rootName : oneLine(qualname.mid(qualname.lastIndexOf(QLatin1Char('.')) + 1));
        case ClassColumn: return shortClass(module.moduleClass);
        case ParametersColumn:
            return sums(id).parameters.elements == 0 ? QString() : shortCount(sums(id).parameters.elements);
        default: return {};
    }
}

QVariant ModuleTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole) return alignment(section == ParametersColumn);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case NameColumn: return tr("Module");
        case ClassColumn: return tr("Class");
        case ParametersColumn: return tr("Params");
        default: return {};
    }
}

ModuleFilter::ModuleFilter(QObject* parent) : QSortFilterProxyModel(parent) { setRecursiveFilteringEnabled(true); }

void ModuleFilter::setFilter(const QString& text) {
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

bool ModuleFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (m_words.isEmpty()) return true;
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    const QString qualname = index.data(QualnameRole).toString();
    const QString moduleClass = index.siblingAtColumn(ModuleTreeModel::ClassColumn).data().toString();
    return std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) {
        return qualname.contains(word, Qt::CaseInsensitive) || moduleClass.contains(word, Qt::CaseInsensitive);
    });
}

}  // namespace sonde::models
