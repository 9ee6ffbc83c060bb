#include "ui/panels/module_tree/module_tree_panel.h"

#include <QHeaderView>
#include <QScopedValueRollback>
#include <QTreeView>
#include <QVBoxLayout>

#include "ui/panels/copy_rows.h"
#include "ui/panels/row_delegate.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::panels {
namespace {

constexpr int kClassWidth = 84;

}  // namespace

using context::InspectorContext;
using context::Selection;
using models::ModuleTreeModel;

ModuleTreePanel::ModuleTreePanel(InspectorContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_model(context), m_filter(new widgets::SearchField(this)),
      m_view(new QTreeView(this)) {
    m_filter->setNavigable(false);
    m_filter->setPlaceholderText(tr("Filter modules"));
    m_proxy.setSourceModel(&m_model);
    m_view->setModel(&m_proxy);
    m_view->setObjectName(QStringLiteral("moduleTree"));
    m_view->setAccessibleName(tr("Modules of the model"));
    m_view->setItemDelegate(new RowDelegate(m_view));
    m_view->setUniformRowHeights(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setExpandsOnDoubleClick(false);
    m_view->setTextElideMode(Qt::ElideMiddle);  // what tells encoder_layer_3 from encoder_layer_4 is at the end
    m_view->header()->setStretchLastSection(false);
    m_view->header()->setSectionResizeMode(ModuleTreeModel::NameColumn, QHeaderView::Stretch);
    m_view->header()->setSectionResizeMode(ModuleTreeModel::ClassColumn, QHeaderView::Interactive);
    m_view->header()->setSectionResizeMode(ModuleTreeModel::ParametersColumn, QHeaderView::ResizeToContents);
    m_view->header()->resizeSection(ModuleTreeModel::ClassColumn, kClassWidth);
    m_view->header()->setMinimumSectionSize(40);
    m_view->setIndentation(12);
    copyRowsOnShortcut(m_view);

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(theme::kSmall, theme::kTight, theme::kSmall, theme::kTight);
    top->addWidget(m_filter);
    column->addLayout(top);
    column->addWidget(m_view);

    connect(m_filter, &widgets::SearchField::textChanged, this, [this](const QString& text) {
        m_proxy.setFilter(text);
        text.isEmpty() ? m_view->expandToDepth(0) : m_view->expandAll();
        follow(m_context.selection());
    });
    connect(m_filter, &widgets::SearchField::left, m_view, [this] { m_view->setFocus(); });
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &ModuleTreePanel::choose);
    connect(m_view, &QTreeView::clicked, this, &ModuleTreePanel::choose);
    connect(m_view, &QTreeView::activated, this, &ModuleTreePanel::toggleInCanvas);
    connect(&context, &InspectorContext::selectionChanged, this, &ModuleTreePanel::follow);
    connect(&context, &InspectorContext::documentOpened, this, [this] { m_view->expandToDepth(0); });
    m_view->expandToDepth(0);
    setFocusProxy(m_view);
}

void ModuleTreePanel::follow(const Selection& selection) {
    const QScopedValueRollback guard(m_following, true);
    if (selection.isNone() || selection.qualname.isNull()) {
        m_view->selectionModel()->clearSelection();
        return;
    }
    const QModelIndex index = m_proxy.mapFromSource(m_model.indexOf(selection.qualname));
    if (!index.isValid()) return;
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index);
}

void ModuleTreePanel::choose(const QModelIndex& index) {
    if (m_following || !index.isValid()) return;
    const Selection selection = m_context.selectionOf(index.data(models::QualnameRole).toString());
    if (selection == m_context.selection()) return;
    m_context.navigateTo(selection);
}

/// In a narrow panel the names need the room; the class is in the tool tip and in the details.
void ModuleTreePanel::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    constexpr int kCharacters = 18;
    const int left = width() - kClassWidth - m_view->header()->sectionSize(ModuleTreeModel::ParametersColumn);
    m_view->setColumnHidden(ModuleTreeModel::ClassColumn, left < kCharacters * fontMetrics().averageCharWidth());
}

void ModuleTreePanel::toggleInCanvas(const QModelIndex& index) {
    const Selection selection = m_context.selectionOf(index.data(models::QualnameRole).toString());
    if (selection.kind != Selection::Kind::Scope) return;
    m_context.setExpanded(selection.scope, !m_context.isExpanded(selection.scope));
    m_context.reveal(selection);
}

PanelInfo moduleTreePanel() {
    return {
        QStringLiteral("modules"), QObject::tr("Modules"),
        QStringLiteral("tree"),    PanelArea::Left,
        QStringLiteral("Alt+1"),   [](InspectorContext& context) -> QWidget* { return new ModuleTreePanel(context); }};
}

}  // namespace sonde::panels
