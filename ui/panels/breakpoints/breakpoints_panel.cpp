#include "ui/panels/breakpoints/breakpoints_panel.h"

#include <QAction>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "core/expression/expression.h"
#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"
#include "ui/context/window_hint.h"
#include "ui/panels/row_delegate.h"
#include "ui/panels/table_view.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/widgets/colored_label.h"
#include "ui/widgets/empty_state.h"

namespace sonde::panels {

using context::InspectorContext;
using models::BreakpointTableModel;

namespace {

/// Rows with the icon of their kind, in the colour of the text.
class BreakpointDelegate : public RowDelegate {
  public:
    using RowDelegate::RowDelegate;

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        RowDelegate::initStyleOption(option, index);
        if (index.column() != BreakpointTableModel::Place) return;
        option->icon = theme::icon(index.data(BreakpointTableModel::kIconRole).toString());
        option->features |= QStyleOptionViewItem::HasDecoration;
    }
};

/// The expression that an error is of, with the letter at its column underlined.
QString underlinedAt(const base::Error& error) {
    const auto column = expression::errorColumn(error);
    const QString where = context::windowPlace(error.where);
    const qsizetype open = where.indexOf(QLatin1String(" of '"));
    if (!column || open < 0 || !where.endsWith(u'\'')) return {};
    // Columns count code points.
    const auto text = where.mid(open + 5, where.size() - open - 6).toUcs4();
    const auto part = [&](qsizetype from, qsizetype count) {
        const QList<uint> piece = text.mid(from, count);
        return QString::fromUcs4(reinterpret_cast<const char32_t*>(piece.constData()), piece.size()).toHtmlEscaped();
    };
    const qsizetype at = std::min(static_cast<qsizetype>(*column) - 1, text.size());
    const QString marked = at < text.size() ? part(at, 1) : QStringLiteral("&nbsp;");
    return part(0, at) + QStringLiteral("<u><b>") + marked + QStringLiteral("</b></u>") + part(at + 1, -1);
}

}  // namespace

BreakpointsPanel::BreakpointsPanel(context::OpenModel& opened, context::Navigation& navigation,
                                   context::Breakpoints& breakpoints, QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_breakpoints(breakpoints), m_model(breakpoints),
      m_stack(new QStackedWidget(this)), m_view(makeTableView(tr("Breakpoints"), m_stack)), m_where(new QLineEdit),
      m_expression(new QLineEdit), m_isLog(new QCheckBox(tr("&Log"))), m_add(new QPushButton(tr("&Add"))),
      m_error(new widgets::ColoredLabel(theme::ColorRole::Error)) {
    m_view->setModel(&m_model);
    m_view->setSortingEnabled(false);
    m_view->setItemDelegate(new BreakpointDelegate(m_view));
    m_view->setObjectName(QStringLiteral("breakpointTable"));
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
    static constexpr int kWidths[] = {190, 210, 50, 60, 110, 160};
    setColumnWidths(m_view, kWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_where->setObjectName(QStringLiteral("breakpointPlace"));
    m_where->setPlaceholderText(tr("node, module, op:Relu, nan, inf \u2026"));
    m_where->setAccessibleName(tr("Where to stop"));
    m_where->setToolTip(
        tr("A node, a module, op:OPERATOR, or nan, inf, overflow, zero; empty: where the condition becomes true"));
    m_expression->setObjectName(QStringLiteral("breakpointCondition"));
    m_expression->setPlaceholderText(tr("condition: max(abs(conv1)) > 1e4"));
    m_expression->setAccessibleName(tr("Condition, or value to log"));
    m_isLog->setObjectName(QStringLiteral("breakpointIsLog"));
    m_isLog->setToolTip(tr("Write the value down each time, and do not stop"));
    m_add->setObjectName(QStringLiteral("breakpointAdd"));
    m_error->setObjectName(QStringLiteral("breakpointError"));
    m_error->setTextFormat(Qt::RichText);
    m_error->setWordWrap(true);
    m_error->setMargin(theme::kTight);
    m_error->hide();

    const auto action = [this](const QString& text, const QKeySequence& key, void (BreakpointsPanel::*act)()) {
        auto* made = new QAction(text, m_view);
        made->setShortcut(key);
        made->setShortcutContext(Qt::WidgetShortcut);
        connect(made, &QAction::triggered, this, act);
        m_view->addAction(made);
    };
    action(tr("&Enable or Disable"), Qt::Key_Space, &BreakpointsPanel::setEnabledSelected);
    action(tr("Edit &Condition"), Qt::Key_Return, &BreakpointsPanel::editCondition);
    action(tr("&Remove"), QKeySequence::Delete, &BreakpointsPanel::removeSelected);
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);

    auto* top = new QHBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->setSpacing(theme::kSmall);
    top->addWidget(m_where, 2);
    top->addWidget(m_expression, 3);
    top->addWidget(m_isLog);
    top->addWidget(m_add);
    m_stack->addWidget(
        new widgets::EmptyState(QStringLiteral("breakpoint"), tr("No breakpoints"),
                                tr("Select a node and press Ctrl+Shift+B, or type above where the run is to stop.")));
    m_stack->addWidget(m_view);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(top);
    column->addWidget(m_stack, 1);
    column->addWidget(m_error);

    connect(m_add, &QPushButton::clicked, this, &BreakpointsPanel::add);
    connect(m_where, &QLineEdit::returnPressed, this, &BreakpointsPanel::add);
    connect(m_expression, &QLineEdit::returnPressed, this, &BreakpointsPanel::add);
    connect(m_isLog, &QCheckBox::toggled, this, [this](bool isLog) {
        m_expression->setPlaceholderText(isLog ? tr("value: mean(conv1)") : tr("condition: max(abs(conv1)) > 1e4"));
    });
    connect(&m_model, &BreakpointTableModel::refused, this, [this](const base::Error& error) {
        m_isTypedError = true;
        showError(&error);
    });
    connect(&m_model, &BreakpointTableModel::accepted, this, &BreakpointsPanel::showErrorOfRow);
    connect(&breakpoints, &context::Breakpoints::changed, this, &BreakpointsPanel::refresh);
    for (const auto signal : {&context::OpenModel::documentOpened, &context::OpenModel::documentClosed})
        connect(&opened, signal, this, &BreakpointsPanel::refresh);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& row) {
        showErrorOfRow();
        goTo(row);
    });
    connect(m_view, &QTableView::clicked, this, &BreakpointsPanel::goTo);
    setFocusProxy(m_view);
    refresh();
}

QString BreakpointsPanel::errorText() const { return m_error->isHidden() ? QString() : m_error->text(); }

void BreakpointsPanel::refresh() {
    const bool hasAny = m_model.rowCount() > 0;
    m_stack->setCurrentIndex(hasAny ? 1 : 0);
    setFocusProxy(hasAny ? static_cast<QWidget*>(m_view) : m_where);
    m_add->setEnabled(m_opened.isOpen());
    setHasContent(hasAny && m_opened.isOpen());
    if (!m_isTypedError) showErrorOfRow();
}

void BreakpointsPanel::add() {
    const auto added = m_breakpoints.add(m_where->text(), m_expression->text(), m_isLog->isChecked());
    m_isTypedError = !added;
    if (!added) {
        showError(&added.error());
        (expression::errorColumn(added.error()) ? m_expression : m_where)->setFocus();
        return;
    }
    m_where->clear();
    m_expression->clear();
    m_isLog->setChecked(false);
    showErrorOfRow();
}

void BreakpointsPanel::showError(const base::Error* error) {
    m_error->setVisible(error != nullptr);
    if (!error) return;
    const QString marked = underlinedAt(*error);
    const auto column = expression::errorColumn(*error);
    QString text = QString::fromStdString(error->what).toHtmlEscaped();
    if (column)
        text += tr(" (column %1)").arg(*column) + QStringLiteral(": <code>") + marked + QStringLiteral("</code>");
    if (const QString hint = context::windowHint(error->hint); !hint.isEmpty())
        text += QStringLiteral(" \u2014 ") + hint.toHtmlEscaped();
    m_error->setText(text);
}

/// Why the current row's expression could not be computed the last time.
void BreakpointsPanel::showErrorOfRow() {
    m_isTypedError = false;
    const auto* point = m_breakpoints.find(m_model.idOf(m_view->currentIndex().row()));
    if (!point || !point->error) {
        point = nullptr;
        for (const auto& one : m_breakpoints.all())
            if (one.error && !point) point = &one;
    }
    showError(point && point->error ? &*point->error : nullptr);
}

std::vector<int> BreakpointsPanel::selectedIds() const {
    std::vector<int> ids;
    for (const QModelIndex& row : m_view->selectionModel()->selectedRows()) ids.push_back(m_model.idOf(row.row()));
    return ids;
}

void BreakpointsPanel::removeSelected() {
    for (const int id : selectedIds()) m_breakpoints.remove(id);
}

void BreakpointsPanel::setEnabledSelected() {
    for (const int id : selectedIds())
        if (const auto* point = m_breakpoints.find(id)) m_breakpoints.setEnabled(id, !point->isEnabled);
}

void BreakpointsPanel::editCondition() {
    const QModelIndex current = m_view->currentIndex();
    if (!current.isValid()) return;
    const QModelIndex cell = current.siblingAtColumn(BreakpointTableModel::Expression);
    m_view->setCurrentIndex(cell);
    m_view->edit(cell);
}

void BreakpointsPanel::goTo(const QModelIndex& index) {
    const QVariant number = index.data(models::NodeRole);
    if (!number.isValid() || !m_opened.isOpen()) return;
    graph::NodeId node;
    node.value = number.toUInt();
    const auto* point = m_breakpoints.find(m_model.idOf(index.row()));
    if (point && point->kind == context::Breakpoints::Point::Kind::Module)
        return m_navigation.navigateTo(m_navigation.selectionOf(QString::fromStdString(point->name)));
    m_navigation.navigateTo(node);
}

/// Begins to type one: the rest is up to the user.
void BreakpointsPanel::enterPlace(const QString& place, bool isLog) {
    m_where->setText(place);
    m_isLog->setChecked(isLog);
    m_expression->setFocus();
}

void BreakpointsPanel::bindEvents(const PanelHost& host) {
    static constexpr std::pair<const char*, const char*> kEvents[] = {
        {"break.nan", "nan"}, {"break.inf", "inf"}, {"break.overflow", "overflow"}, {"break.zero", "zero"}};
    for (const auto& [action, place] : kEvents)
        host.actions.bind(QLatin1String(action), this,
                          [this, place = QLatin1String(place)] { m_breakpoints.togglePlace(place); });
}

void BreakpointsPanel::join(const PanelHost& host) {
    bindEvents(host);
    host.actions.bind(QStringLiteral("break.toggle"), this, [this] { m_breakpoints.toggle(m_navigation.selection()); });
    host.actions.bind(QStringLiteral("break.operator"), this, [this] {
        const QString place = m_breakpoints.operatorOf(m_navigation.selection());
        if (!place.isEmpty()) m_breakpoints.togglePlace(place);
    });
    const auto begin = [this, show = host.show](bool isLog, bool hasPlace) {
        show();
        enterPlace(hasPlace ? m_breakpoints.placeOf(m_navigation.selection()) : QString(), isLog);
    };
    host.actions.bind(QStringLiteral("break.condition"), this, [begin] { begin(false, false); });
    host.actions.bind(QStringLiteral("break.log"), this, [begin] { begin(true, true); });
    host.actions.bind(QStringLiteral("break.edit"), this, [this, show = host.show] {
        const auto points = m_breakpoints.at(m_navigation.selection());
        show();
        const int row = points.empty() ? m_view->currentIndex().row() : m_model.rowOf(points.front()->id);
        if (row < 0) return m_where->setFocus();
        m_view->selectRow(row);
        editCondition();
    });
    host.actions.bind(QStringLiteral("break.delete_all"), this, [this] { m_breakpoints.clear(); });
    connect(&m_breakpoints, &context::Breakpoints::firstAdded, this, host.raise);
    connect(&m_breakpoints, &context::Breakpoints::refused, this, [this, show = host.show](const QString& text) {
        show();
        const base::Error error = base::usageError(text.toStdString());
        m_isTypedError = true;
        showError(&error);
    });
}

base::Result<void> BreakpointsPanel::addLine(const QString& line, bool isLog) {
    const QString text = QStringLiteral(" ") + line;
    const qsizetype at = text.indexOf(isLog ? QStringLiteral(" ") : QStringLiteral(" if "), 1);
    const qsizetype split = text.startsWith(QStringLiteral(" if ")) ? 0 : at;
    const QString where = split < 0 ? text : text.left(split);
    const QString expression = split < 0 ? QString() : text.mid(split + (isLog ? 1 : 4));
    SONDE_TRY(m_breakpoints.add(where, expression, isLog));
    return {};
}

PanelInfo breakpointsPanel() {
    PanelInfo info{QStringLiteral("breakpoints"),
                   QObject::tr("Breakpoints"),
                   QStringLiteral("breakpoint"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+2"),
                   [](InspectorContext& context) -> Panel* {
                       return new BreakpointsPanel(context.model(), context.navigation(), context.breakpoints());
                   }};
    info.size = {0, 190};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<BreakpointsPanel&>(panel).join(host); };
    const auto adds = [](bool isLog) {
        return [isLog](QWidget& panel, const PanelHost&, const QString& line) {
            return static_cast<BreakpointsPanel&>(panel).addLine(line, isLog);
        };
    };
    info.commands = {
        {"break", "[WHERE] [if CONDITION]", "set a breakpoint at a node, module, operator or event", adds(false)},
        {"log", "NODE EXPRESSION", "set a log point", adds(true)}};
    return info;
}

}  // namespace sonde::panels
