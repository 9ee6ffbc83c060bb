#include "ui/panels/sweep/sweep_plot.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "core/session/sweep/sweep_output.h"
#include "ui/context/count_text.h"
#include "ui/context/sweeps.h"
#include "ui/models/short_text.h"
#include "ui/models/sweep_table_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/histogram_plot.h"
#include "ui/widgets/line_plot.h"

namespace sonde::panels {

using models::SweepTableModel;

namespace {

constexpr std::size_t kSweepBins = 40;
constexpr std::size_t kMaxClassesShown = 200;
constexpr int kMeanStatistic = 2;

/// A range without width would put everything on one edge.
std::pair<double, double> widened(double low, double high) {
    const double margin = high > low ? 0 : std::max(std::abs(low) * 1e-3, 1e-6);
    return {low - margin, high + margin};
}

}  // namespace

SweepPlot::SweepPlot(context::Sweeps& sweeps, const SweepTableModel& model, QWidget* parent)
    : QWidget(parent), m_sweeps(sweeps), m_model(model), m_node(new QComboBox(this)), m_statistic(new QComboBox(this)),
      m_view(new QComboBox(this)), m_stack(new QStackedWidget(this)), m_line(new widgets::LinePlot(m_stack)),
      m_histogram(new widgets::HistogramPlot(m_stack)), m_classes(new QLabel), m_range(new QLabel(this)) {
    m_node->setObjectName(QStringLiteral("sweepNode"));
    m_node->setAccessibleName(tr("Node"));
    m_node->setToolTip(tr("Node whose statistic is plotted"));
    m_node->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_node->setMinimumContentsLength(8);
    m_statistic->setObjectName(QStringLiteral("sweepStatistic"));
    m_statistic->setAccessibleName(tr("Statistic"));
    m_statistic->setToolTip(tr("Statistic of the node's value, one number for each input"));
    for (int which = 0; which < SweepTableModel::kStatistics; ++which)
        m_statistic->addItem(models::sweepStatisticText(which));
    m_statistic->setCurrentIndex(kMeanStatistic);
    m_view->setObjectName(QStringLiteral("sweepView"));
    m_view->setAccessibleName(tr("Plot"));
    m_view->setToolTip(
        tr("Line: in the order of the inputs. Histogram: how often. Classes: what is mistaken for what"));
    m_view->addItems({tr("Line"), tr("Histogram"), tr("Classes")});
    m_classes->setObjectName(QStringLiteral("sweepClasses"));
    m_classes->setTextFormat(Qt::PlainText);
    m_classes->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_classes->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_classes->setContentsMargins(theme::kSmall, theme::kSmall, theme::kSmall, theme::kSmall);
    auto* scroll = new QScrollArea(m_stack);
    scroll->setWidget(m_classes);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    m_stack->addWidget(m_line);
    m_stack->addWidget(m_histogram);
    m_stack->addWidget(scroll);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, 0);
    top->setSpacing(theme::kTight);
    top->addWidget(m_view);
    top->addWidget(m_node, 1);
    top->addWidget(m_statistic);
    m_range->setToolTip(
        tr("Minimum \u2026 maximum of the statistic, and mean = \u03a3 \u00f7 count, over inputs with a "
           "finite one"));
    m_range->setContentsMargins(theme::kSmall, 0, theme::kSmall, theme::kTight);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(theme::kTight);
    column->addLayout(top);
    column->addWidget(m_stack, 1);
    column->addWidget(m_range);

    connect(&sweeps, &context::Sweeps::reset, this, &SweepPlot::fill);
    connect(&sweeps, &context::Sweeps::rowsAdded, this, &SweepPlot::refresh);
    for (QComboBox* box : {m_node, m_statistic, m_view})
        connect(box, &QComboBox::currentIndexChanged, this, &SweepPlot::refresh);
    fill();
}

void SweepPlot::fill() {
    {
        const QSignalBlocker quiet(m_node);
        m_node->clear();
        if (m_sweeps.isKnown())
            for (const auto& [name, node] : m_sweeps.sweep().nodes()) m_node->addItem(models::shown(name));
    }
    refresh();
}

void SweepPlot::showColumn(int column) {
    const SweepTableModel::Statistic statistic = m_model.statisticOf(column);
    if (statistic.node < 0) return;
    m_node->setCurrentIndex(statistic.node);
    m_statistic->setCurrentIndex(statistic.which);
}

bool SweepPlot::showView(const QString& view) {
    const qsizetype index =
        QStringList{QStringLiteral("line"), QStringLiteral("histogram"), QStringLiteral("classes")}.indexOf(view);
    if (index < 0) return false;
    m_view->setCurrentIndex(static_cast<int>(index));
    return true;
}

void SweepPlot::setCurrentInput(int row) {
    if (row >= 0 && row < static_cast<int>(m_numbers.size())) m_line->setCursorCell(0, row);
}

QString SweepPlot::classText() const { return m_classes->text(); }

void SweepPlot::refresh() {
    m_stack->setCurrentIndex(m_view->currentIndex());
    m_node->setEnabled(m_view->currentIndex() < 2);
    m_statistic->setEnabled(m_view->currentIndex() < 2);
    refreshClasses();
    const SweepTableModel::Statistic statistic{m_node->currentIndex(), m_statistic->currentIndex()};
    const int count = m_model.rowCount();
    m_numbers.assign(static_cast<std::size_t>(count), 0);
    std::vector<double> known;
    double sum = 0;
    for (int row = 0; row < count; ++row) {
        const double number = m_model.number(row, statistic);
        m_numbers[static_cast<std::size_t>(row)] = number;
        if (std::isfinite(number)) known.push_back(number), sum += number;
    }
    const auto [least, most] = std::minmax_element(known.begin(), known.end());
    if (known.empty()) {
        m_line->setField(0, 0, {});
        m_histogram->setData({});
        m_range->setText(m_sweeps.isKnown() && count > 0 ? tr("No numbers") : QString());
        return;
    }
    m_range->setText(tr("%1: %2 \u2026 %3, mean %4")
                         .arg(context::countedText(known.size(), tr("1 input"), tr("%1 inputs")))
                         .arg(*least, 0, 'g', 5)
                         .arg(*most, 0, 'g', 5)
                         .arg(sum / static_cast<double>(known.size()), 0, 'g', 5));
    const auto [low, high] = widened(*least, *most);
    m_line->setScale({low, high, false});
    m_line->setField(1, count, [this](qint64, qint64 column) {
        return column < static_cast<qint64>(m_numbers.size()) ? m_numbers[static_cast<std::size_t>(column)] : 0.0;
    });
    widgets::HistogramData data{low, high, std::vector<quint64>(kSweepBins, 0)};
    for (const double number : known) {
        const auto bin = static_cast<std::size_t>((number - low) / (high - low) * static_cast<double>(kSweepBins));
        ++data.counts[std::min(bin, kSweepBins - 1)];
    }
    m_histogram->setData(std::move(data));
}

void SweepPlot::refreshClasses() {
    if (m_view->currentIndex() != 2) return;
    QStringList lines;
    for (const session::SweepClass& one : m_sweeps.classes()) {
        if (lines.size() == static_cast<qsizetype>(kMaxClassesShown)) break;
        lines << QString::fromStdString(session::sweepClassText(one));
    }
    m_classes->setText(lines.isEmpty() ? tr("There are no labels: give a file with the class of each input")
                                       : lines.join(u'\n'));
}

}  // namespace sonde::panels
