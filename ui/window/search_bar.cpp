#include "ui/window/search_bar.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <utility>

#include "ui/context/window_hint.h"
#include "ui/models/short_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

namespace sonde::window {

namespace {

constexpr int kWidth = 420;
constexpr int kMaxRows = 10;
constexpr int kMinRest = 8;         ///< characters: less of an operator and a module says nothing
constexpr int kComparedRows = 150;  ///< above and below one, whose names it must not read like

/// A hit: its name at the left, then operator and module as far as there is room. Names of one model begin alike and
/// differ at their ends, so one that does not fit is cut where it still differs from those around it, and module paths
/// are cut at their beginning.
class HitDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& given, const QModelIndex& index) const override {
        QStyleOptionViewItem option = given;
        initStyleOption(&option, index);
        option.text.clear();
        const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
        style->drawControl(QStyle::CE_ItemViewItem, &option, painter, option.widget);
        const bool selected = option.state & QStyle::State_Selected;
        const bool active = option.state & QStyle::State_Active;
        const QPalette::ColorGroup group = active ? QPalette::Active : QPalette::Inactive;
        const QColor ink = option.palette.color(group, selected ? QPalette::HighlightedText : QPalette::Text);
        const QColor faint = selected ? ink : theme::color(theme::ColorRole::MutedText);
        const QRect row = option.rect.adjusted(theme::kTight, 0, -theme::kTight, 0);
        const QFontMetrics metrics(option.font);
        const QString name = index.data(Qt::EditRole).toString();
        const QString from = index.data(models::OperatorRole).toString() + QStringLiteral("  ") +
                             index.data(models::QualnameRole).toString();
        // The name tells rows apart, and the module is most of the name again: it has what is left.
        const int gap = 2 * theme::kSmall;
        const int left = std::min(metrics.horizontalAdvance(name), row.width() - 1);
        const int rest = row.width() - left - gap;
        painter->save();
        painter->setFont(option.font);
        painter->setPen(ink);
        const auto fits = [&](const QString& text) { return metrics.horizontalAdvance(text) <= left + 1; };
        const QString told = models::fittedApart(name, namesBeside(index), fits);
        painter->drawText(QRect(row.left(), row.top(), left + 2, row.height()), Qt::AlignVCenter | Qt::AlignLeft,
                          told.isEmpty() ? metrics.elidedText(name, Qt::ElideMiddle, left + 1) : told);
        painter->setPen(faint);
        if (rest >= kMinRest * metrics.averageCharWidth())
            painter->drawText(row.adjusted(left + gap, 0, 0, 0), Qt::AlignVCenter | Qt::AlignRight,
                              metrics.elidedText(from, Qt::ElideLeft, rest));
        painter->restore();
    }

  private:
    /// Those that may be seen together with it, or soon.
    static QStringList namesBeside(const QModelIndex& index) {
        QStringList names;
        for (int row = index.row() - kComparedRows; row <= index.row() + kComparedRows; ++row)
            if (const QModelIndex other = index.siblingAtRow(row); other.isValid() && row != index.row())
                names << other.data(Qt::EditRole).toString();
        return names;
    }
};

}  // namespace

SearchBar::SearchBar(context::OpenModel& opened, context::Navigation& navigation, context::Points& points,
                     context::Runs& runs, QWidget* parent)
    : QFrame(parent), m_opened(opened), m_navigation(navigation), m_points(points), m_runs(runs),
      m_field(new widgets::SearchField(this)), m_results(opened, navigation, runs), m_list(new QListView(this)),
      m_problemText(new QLabel(this)) {
    setObjectName(QStringLiteral("searchBar"));
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    m_field->setPlaceholderText(tr("Search: conv, op:Conv and shape:[*,64,*,*], near:#12 …"));
    m_list->setModel(&m_results);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setUniformItemSizes(true);
    m_list->setItemDelegate(new HitDelegate(m_list));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setAccessibleName(tr("Nodes found"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(theme::kTight, theme::kTight, theme::kTight, theme::kTight);
    column->setSpacing(theme::kTight);
    m_problemText->setTextFormat(Qt::RichText);
    m_problemText->setWordWrap(true);
    m_problemText->setContentsMargins(theme::kTight, 0, theme::kTight, theme::kTight);
    column->addWidget(m_field);
    column->addWidget(m_problemText);
    column->addWidget(m_list);

    connect(m_field, &widgets::SearchField::textChanged, this, [this](const QString& text) { search(text); });
    connect(m_field, &widgets::SearchField::nextRequested, this, &SearchBar::next);
    connect(m_field, &widgets::SearchField::previousRequested, this, &SearchBar::previous);
    connect(m_field, &widgets::SearchField::left, this, &SearchBar::dismiss);
    connect(m_list, &QListView::clicked, this, [this](const QModelIndex& index) { go(index.row()); });
    connect(m_list, &QListView::activated, this, [this](const QModelIndex& index) { go(index.row()); });
    connect(&m_navigation, &context::Navigation::searchHitsChanged, this, &SearchBar::refresh);
    connect(&m_opened, &context::OpenModel::documentOpened, this, &SearchBar::followModel);
    connect(&m_opened, &context::OpenModel::documentClosed, this, &SearchBar::followModel);
    if (parent) parent->installEventFilter(this);
    m_field->lineEdit()->installEventFilter(this);
    refresh();
    hide();
}

void SearchBar::activate(const QString& text) {
    const bool isNew = !text.isNull() && text != m_field->text();
    if (isNew) m_field->setText(text);
    show();
    raise();
    place();
    m_field->activate();
    if (!m_field->text().isEmpty() && (isNew || m_navigation.searchHits().empty())) search(m_field->text());
}

void SearchBar::dismiss() {
    if (isHidden()) return;
    hide();
    m_navigation.setSearchHits({}, -1);
    Q_EMIT dismissed();
}

/// What was searched for in another model is nothing to go on with.
void SearchBar::followModel() {
    const std::string location = m_opened.isOpen() ? m_opened.document()->location : std::string();
    if (std::exchange(m_location, location) == location) return;
    m_problem.reset();
    const QSignalBlocker isNoQuery(m_field);
    m_field->setText({});
    dismiss();
}

QString SearchBar::text() const { return m_field->text(); }

int SearchBar::search(const QString& text) {
    if (!m_opened.isOpen()) return 0;
    if (m_field->text() != text) m_field->setText(text);
    models::SearchResult found = models::searchNodes(m_opened, m_runs, m_points, text);
    m_problem = found.problem;
    const int count = static_cast<int>(found.nodes.size());
    m_navigation.setSearchHits(std::move(found.nodes), -1);
    if (count > 0) go(0);
    return count;
}

void SearchBar::go(int hit) {
    const std::vector<graph::NodeId>& hits = m_navigation.searchHits();
    if (hits.empty()) return;
    const int count = static_cast<int>(hits.size());
    const int at = ((hit % count) + count) % count;
    const graph::NodeId node = hits[static_cast<std::size_t>(at)];
    m_navigation.setSearchHits(hits, at);
    m_navigation.navigateTo(node);
}

void SearchBar::next() { go(m_navigation.currentHit() + 1); }
void SearchBar::previous() { go(m_navigation.currentHit() < 0 ? -1 : m_navigation.currentHit() - 1); }

/// The query as it was typed with the wrong part set off, then what is wrong with it.
void SearchBar::showProblem() {
    m_problemText->setVisible(m_problem.has_value());
    if (!m_problem) return m_problemText->clear();
    const QByteArray query = m_field->text().toUtf8();
    const auto at = static_cast<qsizetype>(m_problem->at), length = static_cast<qsizetype>(m_problem->length);
    const auto part = [&](qsizetype from, qsizetype count) {
        return QString::fromUtf8(query.mid(from, count))
            .toHtmlEscaped()
            .replace(QLatin1Char(' '), QStringLiteral("&nbsp;"));
    };
    const QString wrong = length > 0 ? part(at, length) : QStringLiteral("…");
    QString text = QStringLiteral("<code>%1<b><u style='color:%4'>%2</u></b>%3</code><br>%5")
                       .arg(part(0, at), wrong, part(at + length, -1), theme::color(theme::ColorRole::Error).name(),
                            QString::fromStdString(m_problem->what).toHtmlEscaped());
    if (const QString hint = context::windowHint(m_problem->hint); !hint.isEmpty())
        text += QStringLiteral("<br><span style='color:%2'>%1</span>")
                    .arg(hint.toHtmlEscaped(), theme::color(theme::ColorRole::MutedText).name());
    m_problemText->setText(text);
    m_problemText->setAccessibleName(context::windowText(m_problem->error()));
}

void SearchBar::refresh() {
    const int count = static_cast<int>(m_navigation.searchHits().size());
    m_field->setHits(m_navigation.currentHit(), m_field->text().isEmpty() || m_problem ? -1 : count);
    showProblem();
    m_list->setVisible(count > 0);
    if (count > 0 && m_navigation.currentHit() >= 0)
        m_list->setCurrentIndex(m_results.index(m_navigation.currentHit()));
    place();
}

void SearchBar::place() {
    if (!parentWidget()) return;
    const int row = std::max(18, m_list->sizeHintForRow(0));
    const int rows = std::min<int>(kMaxRows, m_results.rowCount());
    m_list->setFixedHeight(rows * row + 4);
    const int width = std::min(kWidth, parentWidget()->width() - 2 * theme::kSmall);
    const int height =
        layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width) : layout()->sizeHint().height();
    resize(width, height);
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
