#include "ui/window/search_bar.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::window {

using context::InspectorContext;

namespace {

constexpr int kWidth = 420;
constexpr int kMostRows = 10;

}  // namespace

SearchBar::SearchBar(InspectorContext& context, QWidget* parent)
    : QFrame(parent), m_context(context), m_field(new widgets::SearchField(this)), m_results(context), m_list(new QListView(this)) {
    setObjectName(QStringLiteral("searchBar"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    m_field->setPlaceholderText(tr("Name, module or operator — also op:Conv, module:layer1, #12"));
    m_list->setModel(&m_results);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setUniformItemSizes(true);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setAccessibleName(tr("Nodes found"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kTight, theme::kTight, theme::kTight, theme::kTight);
    column->setSpacing(theme::kTight);
    column->addWidget(m_field);
    column->addWidget(m_list);

    connect(m_field, &widgets::SearchField::textChanged, this, [this](const QString& text) { search(text); });
    connect(m_field, &widgets::SearchField::nextRequested, this, &SearchBar::next);
    connect(m_field, &widgets::SearchField::previousRequested, this, &SearchBar::previous);
    connect(m_field, &widgets::SearchField::left, this, &SearchBar::dismiss);
    connect(m_list, &QListView::clicked, this, [this](const QModelIndex& index) { go(index.row()); });
    connect(m_list, &QListView::activated, this, [this](const QModelIndex& index) { go(index.row()); });
    connect(&context, &InspectorContext::searchHitsChanged, this, &SearchBar::refresh);
    connect(&context, &InspectorContext::documentClosed, this, &SearchBar::dismiss);
    if (parent) parent->installEventFilter(this);
    m_field->lineEdit()->installEventFilter(this);
    refresh();
    hide();
}

void SearchBar::activate(const QString& text) {
    if (!text.isNull()) m_field->setText(text);
    show();
    raise();
    place();
    m_field->activate();
    if (!m_field->text().isEmpty() && m_context.searchHits().empty()) search(m_field->text());
}

void SearchBar::dismiss() {
    if (isHidden()) return;
    hide();
    m_context.setSearchHits({}, -1);
    Q_EMIT dismissed();
}

int SearchBar::search(const QString& text) {
    if (!m_context.hasModel()) return 0;
    if (m_field->text() != text) m_field->setText(text);
    std::vector<graph::NodeId> hits = models::searchNodes(m_context.graph(), text);
    const int count = static_cast<int>(hits.size());
    m_context.setSearchHits(std::move(hits), -1);
    if (count > 0) go(0);
    return count;
}

void SearchBar::go(int hit) {
    const std::vector<graph::NodeId>& hits = m_context.searchHits();
    if (hits.empty()) return;
    const int count = static_cast<int>(hits.size());
    const int at = ((hit % count) + count) % count;
    const graph::NodeId node = hits[static_cast<std::size_t>(at)];
    m_context.setSearchHits(hits, at);
    m_context.navigateTo(node);
}

void SearchBar::next() { go(m_context.currentHit() + 1); }
void SearchBar::previous() { go(m_context.currentHit() < 0 ? -1 : m_context.currentHit() - 1); }

void SearchBar::refresh() {
    const int count = static_cast<int>(m_context.searchHits().size());
    m_field->setHits(m_context.currentHit(), m_field->text().isEmpty() ? -1 : count);
    m_list->setVisible(count > 0);
    if (count > 0 && m_context.currentHit() >= 0) m_list->setCurrentIndex(m_results.index(m_context.currentHit()));
    place();
}

void SearchBar::place() {
    if (!parentWidget()) return;
    const int row = std::max(18, m_list->sizeHintForRow(0));
    const int rows = std::min<int>(kMostRows, m_results.rowCount());
    m_list->setFixedHeight(rows * row + 4);
    const int width = std::min(kWidth, parentWidget()->width() - 2 * theme::kSmall);
    resize(width, layout()->sizeHint().height());
    move(parentWidget()->width() - width - theme::kSmall, theme::kSmall);
}

bool SearchBar::eventFilter(QObject* watched, QEvent* event) {
    if (watched == parent() && event->type() == QEvent::Resize) place();
    if (watched == m_field->lineEdit() && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            key == Qt::Key_Down ? next() : previous();
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

void SearchBar::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return dismiss();
    QFrame::keyPressEvent(event);
}

}  // namespace sonde::window
