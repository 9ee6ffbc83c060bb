#include "ui/models/summary_model.h"

#include "ui/context/count_text.h"
#include "ui/models/node_text.h"
#include "ui/models/roles.h"

namespace sonde::models {

SummaryModel::SummaryModel(context::Summary& summary, QObject* parent)
    : QAbstractTableModel(parent), m_summary(summary), m_lines(summary.lines()) {
    connect(&summary, &context::Summary::changed, this, [this] {
        beginResetModel();
        m_lines = m_summary.lines();
        endResetModel();
    });
}

const std::vector<graph::NodeId>& SummaryModel::nodes(int row) const {
    static const std::vector<graph::NodeId> none;
    return row >= 0 && row < rowCount() ? m_lines[static_cast<std::size_t>(row)].nodes : none;
}

QString SummaryModel::module(int row) const {
    return row >= 0 && row < rowCount() ? QString::fromStdString(m_lines[static_cast<std::size_t>(row)].module)
                                        : QString();
}

int SummaryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int SummaryModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant SummaryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const session::InfoLine& line = m_lines[static_cast<std::size_t>(index.row())];
    const bool isTitle = index.column() == Title;
    switch (role) {
        case Qt::DisplayRole: {
            if (!isTitle) return shown(line.text);
            // As the command writes it: a title stands once.
            const bool isAgain = index.row() > 0 && !line.isCount &&
                                 m_lines[static_cast<std::size_t>(index.row()) - 1].title == line.title;
            return isAgain ? QString() : line.title.empty() ? tr("model") : shown(line.title);
        }
        case Qt::ToolTipRole: {
            QStringList parts{shown(line.text)};
            if (!line.formula.empty()) parts << QString::fromStdString(line.formula);
            if (!line.nodes.empty())
                parts << tr("Double-click or press Return to select %1")
                             .arg(line.nodes.size() == 1
                                      ? tr("its node")
                                      : tr("its %1 nodes").arg(context::countText(line.nodes.size())));
            else if (!line.module.empty())
                parts << tr("Double-click or press Return to select its module %1").arg(shown(line.module));
            return parts.join(QStringLiteral("\n"));
        }
        case Qt::AccessibleTextRole:
            return isTitle ? shown(line.title) : QString(shown(line.title) + QStringLiteral(": ") + shown(line.text));
        case Qt::TextAlignmentRole: return alignment(isTitle && line.isCount);
        default: return {};
    }
}

}  // namespace sonde::models
