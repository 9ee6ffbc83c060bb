#include "ui/panels/comparison/comparison_panel.h"

#include <QCheckBox>
#include <QDoubleValidator>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/context/comparison.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/table_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {

using context::Comparison;
using context::InspectorContext;
using models::DifferenceTableModel;

ComparisonPanel::ComparisonPanel(context::OpenModel& opened, context::Navigation& navigation,
                                 context::Comparison& comparison, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_comparison(comparison), m_model(opened, comparison),
      m_stack(new QStackedWidget(this)), m_view(makeTableView(tr("Differences"), m_stack)),
      m_summary(new widgets::ElidedLabel), m_remarks(new widgets::ElidedLabel),
      m_empty(new widgets::EmptyState(QStringLiteral("compare"), {}, {}, {}, m_stack)),
      m_all(new QCheckBox(tr("All values"))), m_tolerance(new QLineEdit), m_reset(new QPushButton(tr("Use 1e-4"))),
      m_again(new QPushButton(tr("Compare Again"))) {
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("differenceTable"));
    m_view->sortByColumn(DifferenceTableModel::Order, Qt::AscendingOrder);
    static constexpr int kWidths[] = {36, 150, 110, 90, 78, 92, 92, 72, 72, 200};
    setColumnWidths(m_view, kWidths);
    m_all->setObjectName(QStringLiteral("allValues"));
    m_all->setToolTip(tr("List every value that was compared, not only those that differ"));
    m_again->setObjectName(QStringLiteral("compareAgain"));
    m_tolerance->setObjectName(QStringLiteral("tolerance"));
    m_tolerance->setAccessibleName(tr("Tolerance of float32 values"));
    m_tolerance->setToolTip(
        tr("A float32 value differs if its error exceeds this fraction of its maximum magnitude.\n"
           "Other types scale with it: float16 by 100, bfloat16 by 800. Integers must be equal."));
    auto* number = new QDoubleValidator(0, 1, 20, m_tolerance);
    number->setLocale(QLocale::c());
    m_tolerance->setValidator(number);
    m_tolerance->setFixedWidth(theme::kLarge * 4);
    m_reset->setObjectName(QStringLiteral("usualTolerance"));
    m_reset->setToolTip(tr("This model has its own tolerance; restore the default tolerances of the element types"));
    m_summary->setElideMode(Qt::ElideRight);

    m_remarks->setElideMode(Qt::ElideRight);
    m_remarks->hide();

    auto* page = new QWidget;
    m_top = new QBoxLayout(QBoxLayout::LeftToRight);
    m_top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    m_top->setSpacing(theme::kSmall);
    m_top->addWidget(m_summary, 1);
    auto* top = new QHBoxLayout;
    top->setSpacing(theme::kSmall);
    top->addWidget(m_all);
    auto* label = new QLabel(tr("&Tolerance"));
    label->setBuddy(m_tolerance);
    top->addWidget(label);
    top->addWidget(m_tolerance);
    top->addWidget(m_reset);
    top->addWidget(m_again);
    m_top->addLayout(top);
    auto* inner = new QVBoxLayout(page);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(0);
    inner->addLayout(m_top);
    auto* below = new QHBoxLayout;
    below->setContentsMargins(theme::kSmall, 0, theme::kSmall, 0);
    below->addWidget(m_remarks);
    inner->addLayout(below);
    inner->addWidget(m_view);
    m_empty->setContent(
        QStringLiteral("compare"), tr("No comparison"),
        tr("Use Run \u203a Compare to compare every value with a reference file, a baseline run or another model.\n"
           "In PyTorch, two lines with sonde_capture.py write the reference file: see the help page Command line."),
        {});
    m_stack->addWidget(m_empty);
    m_stack->addWidget(page);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    connect(m_all, &QCheckBox::toggled, this, [this](bool all) { m_model.setShowsAll(all); });
    connect(m_tolerance, &QLineEdit::editingFinished, this, &ComparisonPanel::takeTolerance);
    connect(&comparison, &Comparison::started, this, &ComparisonPanel::giveTyped);
    connect(m_reset, &QPushButton::clicked, this, [this] { m_comparison.setTolerances({}); });
    connect(&comparison, &Comparison::changed, this, &ComparisonPanel::showTolerance);
    connect(&opened, &context::OpenModel::documentOpened, this, &ComparisonPanel::showTolerance);
    connect(m_again, &QPushButton::clicked, &comparison,
            [&comparison] { comparison.isActive() ? comparison.cancel() : comparison.again(); });
    connect(&m_model, &QAbstractItemModel::modelReset, this, &ComparisonPanel::refresh);
    connect(&navigation, &context::Navigation::selectionChanged, this, &ComparisonPanel::follow);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) {
                if (m_following || !current.isValid() || !m_opened.isOpen()) return;
                graph::NodeId node;
                node.value = current.data(models::NodeRole).toUInt();
                m_navigation.navigateTo(node);
            });
    setFocusProxy(m_view);
    showTolerance();
    refresh();
}

/// What came of it is worth a line of its own where the controls would cut it off.
void ComparisonPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    constexpr int kRoomy = 800;
    m_top->setDirection(width() < kRoomy ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

QString ComparisonPanel::summary() const { return m_summary->text(); }

QString ComparisonPanel::remarks() const { return m_remarks->isHidden() ? QString() : m_remarks->text(); }

void ComparisonPanel::refresh() {
    const Comparison& comparison = m_comparison;
    const bool known = m_opened.isOpen() && comparison.isKnown();
    setHasContent(known);
    m_stack->setCurrentIndex(known ? 1 : 0);
    if (!known) return;
    QString text = comparison.summary();
    if (comparison.isActive()) text = tr("Comparing \u2026");
    else if (comparison.isStale()) text = tr("Stale, %1: %2").arg(comparison.staleReason(), text);
    m_summary->setText(text);
    m_summary->setColorRole(comparison.isStale() ? theme::ColorRole::MutedText : theme::ColorRole::Text);
    m_again->setText(comparison.isActive() ? tr("Cancel") : tr("Compare Again"));
    m_again->setToolTip(comparison.isActive() ? tr("Stop comparing (Shift+Esc)")
                                              : tr("Repeat this comparison (Ctrl+Shift+F7)"));
    const QString remarks = comparison.remarks();
    m_remarks->setText(remarks);
    m_remarks->setVisible(!remarks.isEmpty());
    follow();
}

void ComparisonPanel::follow() {
    const int row = m_opened.isOpen() ? m_model.rowOf(m_navigation.selection().node) : -1;
    m_following = true;
    if (row < 0) m_view->clearSelection();
    else m_view->selectRow(m_proxy.mapFromSource(m_model.index(row, 0)).row());
    m_following = false;
}

/// One that is not the usual one is seen to be so, and can be given up.
void ComparisonPanel::showTolerance() {
    const Comparison& comparison = m_comparison;
    if (!m_tolerance->hasFocus() || !m_tolerance->isModified())
        m_tolerance->setText(QString::number(comparison.tolerances().float32, 'g', 6));
    const bool isUsual = comparison.hasUsualTolerances();
    m_reset->setVisible(!isUsual);
    QFont font = m_tolerance->font();
    font.setBold(!isUsual);
    m_tolerance->setFont(font);
}

void ComparisonPanel::takeTolerance() {
    bool isNumber = false;
    const double number = m_tolerance->text().toDouble(&isNumber);
    if (!isNumber || number < 0) {
        showTolerance();
        return;
    }
    m_tolerance->setModified(false);
    analysis::Tolerances tolerances;
    tolerances.float32 = number;
    m_comparison.setTolerances(tolerances);
}

/// Told before a comparison begins: what is no tolerance gives way to the one that is used.
void ComparisonPanel::giveTyped() {
    if (!m_tolerance->isModified()) return;
    if (m_tolerance->hasAcceptableInput()) return takeTolerance();
    m_tolerance->setModified(false);
    showTolerance();
}

PanelInfo comparisonPanel() {
    PanelInfo info{QStringLiteral("comparison"),
                   QObject::tr("Comparison"),
                   QStringLiteral("compare"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+8"),
                   [](InspectorContext& context) -> Panel* {
                       return new ComparisonPanel(context.model(), context.navigation(), context.comparison());
                   }};
    info.coming = PanelComing::ToFront;
    return info;
}

}  // namespace sonde::panels
