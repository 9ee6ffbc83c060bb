#include "ui/panels/watch_list/watch_history.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <cmath>
#include <limits>

#include "ui/theme/theme.h"
#include "ui/widgets/line_plot.h"

namespace sonde::panels {

using session::Measure;

WatchHistory::WatchHistory(models::WatchListModel& model, QWidget* parent)
    : QWidget(parent), m_model(model), m_measure(new QComboBox(this)), m_title(new QLabel(this)),
      m_numbers(new QLabel(this)), m_plot(new widgets::LinePlot(this)) {
    setObjectName(QStringLiteral("watchHistory"));
    m_measure->setAccessibleName(tr("Measure of the history"));
    for (const auto& [measure, title] : {std::pair{Measure::Mean, tr("Mean")},
                                         {Measure::Minimum, tr("Min")},
                                         {Measure::Maximum, tr("Max")},
                                         {Measure::Deviation, tr("Std")},
                                         {Measure::Nan, tr("NaN")},
                                         {Measure::Inf, tr("Inf")},
                                         {Measure::Zero, tr("Zero")}})
        m_measure->addItem(title, static_cast<int>(measure));
    m_plot->setAccessibleName(tr("History of the last runs"));
    m_title->setTextFormat(Qt::PlainText);
    m_numbers->setTextFormat(Qt::PlainText);
    auto* top = new QHBoxLayout;
    top->addWidget(m_title, 1);
    top->addWidget(m_measure);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    column->setSpacing(theme::kTight);
    column->addLayout(top);
    column->addWidget(m_plot, 1);
    column->addWidget(m_numbers);
    connect(m_measure, &QComboBox::currentIndexChanged, this, &WatchHistory::show);
    connect(m_plot, &widgets::LinePlot::cellHovered, this, [this](qint64, qint64 run, double value) {
        if (run >= 0) m_numbers->setText(tr("run %1: %2").arg(run + 1).arg(models::numberText(value)));
        else show();
    });
    connect(&model, &QAbstractItemModel::dataChanged, this, &WatchHistory::show);
    connect(&model, &QAbstractItemModel::modelReset, this, [this] { setRow(-1); });
    show();
}

void WatchHistory::setRow(int row) {
    m_row = row;
    show();
}

void WatchHistory::show() {
    const bool isOf = m_row >= 0 && m_row < m_model.rowCount();
    const bool isNode = isOf && m_model.row(m_row).kind == models::WatchListModel::Row::Kind::Node;
    m_measure->setEnabled(isNode);
    const auto series = isOf ? m_model.series(m_row, static_cast<Measure>(m_measure->currentData().toInt()))
                             : std::vector<std::optional<double>>();
    m_title->setText(isOf ? m_model.index(m_row, models::WatchListModel::NameColumn).data().toString() : QString());
    double low = std::numeric_limits<double>::infinity(), high = -low;
    std::size_t count = 0;
    for (const auto& value : series) {
        if (!value || !std::isfinite(*value)) continue;
        low = std::min(low, *value);
        high = std::max(high, *value);
        ++count;
    }
    m_numbers->setText(!isOf        ? tr("Select a node or an expression: its last runs are shown here.")
                       : count == 0 ? tr("No run has computed it yet.")
                                    : tr("%1 … %2 in %3 runs, last %4")
                                          .arg(models::numberText(low), models::numberText(high))
                                          .arg(count)
                                          .arg(series.back() ? models::numberText(*series.back()) : tr("none")));
    m_plot->setField(count > 0 ? 1 : 0, static_cast<qint64>(series.size()), [series](qint64, qint64 run) {
        const auto& value = series[static_cast<std::size_t>(run)];
        return value ? *value : std::numeric_limits<double>::quiet_NaN();
    });
    widgets::ValueScale scale;
    scale.low = count == 0 ? 0 : low < high ? low : low - 1;
    scale.high = count == 0 ? 1 : low < high ? high : high + 1;
    m_plot->setScale(scale);
}

}  // namespace sonde::panels
