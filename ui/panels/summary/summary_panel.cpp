#include "ui/panels/summary/summary_panel.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QPainter>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/panels/row_delegate.h"
#include "ui/panels/table_view.h"
#include "ui/theme/elided_text.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/labels.h"

namespace sonde::panels {

using context::InspectorContext;
using models::SummaryModel;

namespace {

/// Characters of a text that make a column of its own worth it.
constexpr int kMinTextColumn = 22;

/// Rows that select something have a sign for it. Where there is no room for two columns the title is before the text:
/// "opset: ai.onnx 16".
class SummaryDelegate : public RowDelegate {
  public:
    using RowDelegate::RowDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        RowDelegate::paint(painter, option, index);
        if (!hasSign(index)) return;
        const int size = signSize(option);
        const bool isSelected = option.state.testFlag(QStyle::State_Selected);
        theme::icon(QStringLiteral("go-to"),
                    isSelected ? theme::ColorRole::AccentSoftText : theme::ColorRole::MutedText)
            .paint(painter, QRect(option.rect.right() - size - 1, option.rect.center().y() - size / 2, size, size));
    }

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        RowDelegate::initStyleOption(option, index);
        if (index.column() != SummaryModel::Text) return;
        const auto* const view = qobject_cast<const QTableView*>(parent());
        const QString title = view->isColumnHidden(SummaryModel::Title)
                                  ? index.siblingAtColumn(SummaryModel::Title).data().toString()
                                  : QString();
        const int room = option->rect.width() - theme::kSmall - (hasSign(index) ? signSize(*option) + 1 : 0);
        option->text = summaryLine(title, index.data().toString(), room, QFontMetrics(option->font));
    }

  private:
    static bool hasSign(const QModelIndex& index) {
        const auto* const model = qobject_cast<const SummaryModel*>(index.model());
        return index.column() == SummaryModel::Text && model && model->leads(index.row());
    }
    static int signSize(const QStyleOptionViewItem& option) {
        return std::min(option.rect.height() - 2, theme::kIconSize) * 3 / 4;
    }
};

}  // namespace

QString summaryLine(QString title, QString text, int room, const QFontMetrics& metrics) {
    const QString colon = title.isEmpty() ? QString() : QStringLiteral(": ");
    const auto width = [&](const QString& shown) { return metrics.horizontalAdvance(title + colon + shown); };
    if (const qsizetype exact = text.indexOf(QStringLiteral(" (")); exact > 0 && width(text) > room)
        text.truncate(exact);
    // A hash begins with a digit, too, and is no figure.
    static const QRegularExpression number(QStringLiteral("^[0-9][0-9.,]*(?=[ *]|$)"));
    const QString found = number.match(text).captured(), figure = found + QStringLiteral("\u2026");
    if (!title.isEmpty() && !found.isEmpty() && width(figure) > room)
        title = theme::elidedText(title, Qt::ElideRight, room - metrics.horizontalAdvance(colon + figure), metrics);
    return theme::elidedText(title + colon + text, Qt::ElideRight, room, metrics);
}

SummaryPanel::SummaryPanel(context::OpenModel& opened, context::Navigation& navigation, context::Summary& summary,
                           QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_summary(summary), m_model(summary),
      m_stack(new QStackedWidget(this)), m_empty(new widgets::EmptyState(QStringLiteral("info"), tr("No model"))),
      m_view(makeTableView(tr("Summary"), m_stack)), m_state(new widgets::ElidedLabel({}, this)) {
    m_view->setModel(&m_model);
    m_view->setObjectName(QStringLiteral("summaryTable"));
    m_view->setItemDelegate(new SummaryDelegate(m_view));
    m_view->setSortingEnabled(false);  // in the order of the command
    // More lines matter more here than room between them.
    m_view->verticalHeader()->setMinimumSectionSize(1);
    m_view->verticalHeader()->setDefaultSectionSize(m_view->fontMetrics().height() + theme::kTight / 2);
    m_view->horizontalHeader()->hide();
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->setTextElideMode(Qt::ElideRight);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // the tool tip has all of a long line
    m_state->setColorRole(theme::ColorRole::MutedText);
    m_state->setContentsMargins(theme::kSmall, 0, theme::kSmall, 0);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_view);
    // In a small window a few lines and the bar beside them are enough to read the others.
    m_stack->setMinimumHeight(3 * m_view->verticalHeader()->defaultSectionSize());
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_stack, 1);
    column->addWidget(m_state);
    connect(&summary, &context::Summary::changed, this, &SummaryPanel::refresh);
    connect(&opened, &context::OpenModel::documentOpened, this, &SummaryPanel::refresh);
    connect(&opened, &context::OpenModel::documentClosed, this, &SummaryPanel::refresh);
    connect(&summary, &context::Summary::textMade, this,
            [](const QString& text) { QGuiApplication::clipboard()->setText(text); });
    // Not activated(), which some desktops tell of one click: that is for reading here.
    connect(m_view, &QTableView::doubleClicked, this, &SummaryPanel::choose);
    auto* select = new QAction(tr("&Select Nodes"), m_view);
    select->setShortcuts({QKeySequence(Qt::Key_Return), QKeySequence(Qt::Key_Enter)});
    select->setShortcutContext(Qt::WidgetShortcut);
    connect(select, &QAction::triggered, this, [this] { choose(m_view->currentIndex()); });
    m_view->insertAction(m_view->actions().value(0), select);
    const auto enable = [this, select] { select->setEnabled(m_model.leads(m_view->currentIndex().row())); };
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, select, enable);
    connect(&m_model, &QAbstractItemModel::modelReset, select, enable);
    enable();
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    setFocusProxy(m_view);
    refresh();
}

void SummaryPanel::refresh() {
    const bool has = m_opened.isOpen() && m_model.rowCount() > 0;
    setHasContent(m_opened.isOpen());
    m_stack->setCurrentIndex(has ? 1 : 0);
    if (!has) {
        const QString title = !m_opened.isOpen()               ? tr("No model")
                              : !m_summary.failure().isEmpty() ? tr("No summary")
                                                               : tr("Summarising\u2026");
        m_empty->setContent(QStringLiteral("info"), title, m_summary.failure());
    }
    m_state->setText(tr("Reading the files for their SHA-256\u2026"));
    m_state->setVisible(has && m_summary.isHashing());
    arrangeColumns();
}

void SummaryPanel::arrangeColumns() {
    m_view->setColumnHidden(SummaryModel::Title, false);
    m_view->resizeColumnToContents(SummaryModel::Title);
    const int text = m_view->viewport()->width() - m_view->columnWidth(SummaryModel::Title);
    m_view->setColumnHidden(SummaryModel::Title, text < kMinTextColumn * m_view->fontMetrics().averageCharWidth());
}

void SummaryPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    arrangeColumns();
}

void SummaryPanel::choose(const QModelIndex& row) {
    if (!m_opened.isOpen()) return;
    const std::vector<graph::NodeId> nodes = m_model.nodes(row.row());  // a copy: what is selected may make other rows
    if (nodes.empty()) {
        if (const QString module = m_model.module(row.row()); !module.isEmpty())
            m_navigation.navigateTo(m_navigation.selectionOf(module));
        return;
    }
    m_navigation.selectMany(nodes);
    m_navigation.setSearchHits(nodes, 0);
    m_navigation.reveal(m_navigation.selectionOf(nodes.front()));
}

void SummaryPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("file.copy_summary"), this, [this] { m_summary.makeText(false); });
    host.actions.bind(QStringLiteral("file.copy_summary_json"), this, [this] { m_summary.makeText(true); });
    for (const char* id : {"file.copy_summary", "file.copy_summary_json"})
        m_view->addAction(host.actions.action(QLatin1String(id)));
}

PanelInfo summaryPanel() {
    PanelInfo info{QStringLiteral("summary"),
                   QObject::tr("Summary"),
                   QStringLiteral("info"),
                   PanelArea::Left,
                   QStringLiteral("Alt+Shift+S"),
                   [](InspectorContext& context) -> Panel* {
                       return new SummaryPanel(context.model(), context.navigation(), context.summary());
                   }};
    info.size = {0, 230};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<SummaryPanel&>(panel).join(host); };
    return info;
}

}  // namespace sonde::panels
