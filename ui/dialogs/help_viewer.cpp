#include "ui/dialogs/help_viewer.h"

#include <QAbstractTextDocumentLayout>
#include <QDir>
#include <QFile>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QListWidget>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextTable>
#include <QVBoxLayout>

#include <algorithm>

#include "core/ops/registry/registry.h"
#include "ui/context/text.h"
#include "ui/dialogs/help_tables.h"
#include "ui/dialogs/operator_help.h"
#include "ui/theme/theme.h"
#include "ui/widgets/search_field.h"

// Resources of a static library must be asked for by name, outside any namespace.
static void initHelpResources() { Q_INIT_RESOURCE(help); }

namespace sonde::dialogs {
namespace {

const QString kFolder = QStringLiteral(":/help/");
constexpr int kPagesWidth = 220;

/// Names of their files; the page where the help begins first.
QStringList pageFiles() {
    initHelpResources();
    const QString first = QStringLiteral("start.md");
    QStringList files = QDir(kFolder).entryList({QStringLiteral("*.md")});
    files.removeAll(first);
    files.prepend(first);
    return files;
}

/// The first heading of a page.
QString titleOf(const QString& file) {
    QFile page(kFolder + file);
    if (!page.open(QIODevice::ReadOnly)) return file;
    const QString line = QString::fromUtf8(page.readLine()).trimmed();
    return line.startsWith(QLatin1Char('#')) ? line.mid(1).trimmed() : file;
}

/// Tables with single lines, and room above headings: what Markdown leaves to whoever shows it.
void setType(QTextDocument& page) {
    constexpr double kOverHeading = theme::kLarge;
    for (QTextFrame* frame : page.rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (!table) continue;
        QTextTableFormat format = table->format();
        format.setBorder(1);
        format.setBorderCollapse(true);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderBrush(theme::color(theme::ColorRole::StrongBorder));
        format.setCellSpacing(0);
        format.setCellPadding(theme::kTight);
        table->setFormat(format);
    }
    for (QTextBlock block = page.begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        if (format.headingLevel() < 2 || format.topMargin() == kOverHeading) continue;
        format.setTopMargin(kOverHeading);
        QTextCursor(block).setBlockFormat(format);
    }
}

/// What an item of the list is of.
enum ItemRole { FileRole = Qt::UserRole, DomainRole, NameRole };

}  // namespace

HelpViewer::HelpViewer(QWidget* parent)
    : QDialog(parent), m_search(new widgets::SearchField), m_pages(new QListWidget), m_browser(new QTextBrowser) {
    setWindowTitle(tr("Sonde Help"));
    const QSize wanted(1060, 700), least(560, 440);
    resize(parent ? wanted.boundedTo((parent->window()->size() - QSize(40, 40)).expandedTo(least)) : wanted);
    for (const QString& file : pageFiles()) {
        auto* item = new QListWidgetItem(titleOf(file), m_pages);
        item->setData(FileRole, file);
    }
    addOperators();
    m_search->setNavigable(false);
    m_search->setPlaceholderText(tr("Search help and operators"));
    connect(m_search, &widgets::SearchField::textChanged, this, &HelpViewer::search);
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(theme::kTight, theme::kTight, 0, 0);
    column->setSpacing(theme::kTight);
    column->addWidget(m_search);
    column->addWidget(m_pages);
    m_pages->setAccessibleName(tr("Pages"));
    m_pages->setUniformItemSizes(true);
    m_pages->setFrameShape(QFrame::NoFrame);
    m_browser->setFrameShape(QFrame::NoFrame);
    m_browser->setOpenLinks(false);  // pages only: nothing is fetched and no program is started
    m_browser->document()->setDocumentMargin(theme::kLarge);
    auto* split = new QSplitter;
    split->addWidget(left);
    split->addWidget(m_browser);
    split->setStretchFactor(1, 1);
    split->setSizes({kPagesWidth, width() - kPagesWidth});
    split->setHandleWidth(1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(split);
    connect(m_pages, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) { showItem(item); });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &HelpViewer::refresh);
    connect(m_browser, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        const QString file = link.path().section(QLatin1Char('/'), -1);
        if (file.endsWith(QLatin1String(".md"))) showPage(file.chopped(3));
        if (link.hasFragment()) showHeading(link.fragment());
    });
    m_search->focusProxy()->installEventFilter(this);
    m_pages->setCurrentRow(0);
}

/// Escape closes the help also from the search, which would take the key to clear itself.
bool HelpViewer::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->matches(QKeySequence::Cancel)) {
        reject();
        return true;
    }
    return QDialog::eventFilter(watched, event);
}

void HelpViewer::addOperators() {
    m_firstOperator = m_pages->count();
    QString last;
    for (const ops::OpDef* def : ops::Registry::all().rows()) {
        const QString title = operatorTitle(def->domain, def->name);
        if (title == std::exchange(last, title)) continue;  // a row for each version
        auto* item = new QListWidgetItem(title, m_pages);
        item->setData(DomainRole, context::text(def->domain));
        item->setData(NameRole, context::text(def->name));
    }
}

/// Links and captions take their colours when a page is read.
void HelpViewer::refresh() {
    if (m_file.isEmpty()) return setType(*m_browser->document());
    const int place = m_browser->verticalScrollBar()->value();
    showFile(m_file);
    m_browser->verticalScrollBar()->setValue(place);
}

void HelpViewer::showItem(QListWidgetItem* item) {
    if (!item) return;
    const QString file = item->data(FileRole).toString();
    if (!file.isEmpty()) return showFile(file);
    showOperatorPage(
        operatorPage(item->data(DomainRole).toString().toStdString(), item->data(NameRole).toString().toStdString()));
}

void HelpViewer::showFile(const QString& file) {
    QFile page(kFolder + file);
    if (!page.open(QIODevice::ReadOnly)) return;
    m_file = file;
    m_browser->setMarkdown(QString::fromUtf8(page.readAll()));
    foldWideTables(*m_browser->document());
    setType(*m_browser->document());
}

void HelpViewer::showOperatorPage(const QString& html) {
    m_file.clear();
    m_browser->setHtml(html);
    setType(*m_browser->document());
}

void HelpViewer::search(const QString& text) {
    QListWidgetItem* first = nullptr;
    for (int i = 0; i < m_pages->count(); ++i) {
        QListWidgetItem* item = m_pages->item(i);
        bool fits = item->text().contains(text, Qt::CaseInsensitive);
        if (!fits && i < m_firstOperator) {
            QFile page(kFolder + item->data(FileRole).toString());
            fits =
                page.open(QIODevice::ReadOnly) && QString::fromUtf8(page.readAll()).contains(text, Qt::CaseInsensitive);
        }
        item->setHidden(!fits);
        if (fits && !first) first = item;
    }
    if (first && m_pages->currentItem() && m_pages->currentItem()->isHidden()) m_pages->setCurrentItem(first);
}

void HelpViewer::showOperator(const graph::InternalGraph& graph, graph::ExprId id) {
    const graph::Expr& expr = graph.expr(id);
    m_search->setText({});
    search({});
    if (expr.op.name.empty()) return showPage(QStringLiteral("canvas"));
    const QString title = operatorTitle(expr.op.domain, expr.op.name);
    const QList<QListWidgetItem*> found = m_pages->findItems(title, Qt::MatchExactly);
    if (!found.isEmpty()) {
        m_pages->setCurrentItem(found.first());
        m_pages->scrollToItem(found.first(), QAbstractItemView::PositionAtCenter);
    }
    showOperatorPage(operatorPage(expr.op.domain, expr.op.name, &expr));
}

void HelpViewer::showOperators() {
    m_search->setText({});
    search({});
    if (m_firstOperator < m_pages->count()) {
        m_pages->setCurrentRow(m_firstOperator);
        m_pages->scrollToItem(m_pages->currentItem(), QAbstractItemView::PositionAtTop);
    }
    m_search->activate();
}

QStringList HelpViewer::pageIds() {
    QStringList ids = pageFiles();
    for (QString& id : ids) id.chop(3);
    return ids;
}

void HelpViewer::showPage(const QString& page) {
    m_pages->setCurrentRow(static_cast<int>(std::max<qsizetype>(0, pageIds().indexOf(page))));
}

bool HelpViewer::showHeading(const QString& heading) {
    for (QTextBlock block = m_browser->document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || block.text().compare(heading, Qt::CaseInsensitive) != 0)
            continue;
        const QRectF place = m_browser->document()->documentLayout()->blockBoundingRect(block);
        m_browser->verticalScrollBar()->setValue(static_cast<int>(place.top()));
        return true;
    }
    return false;
}

}  // namespace sonde::dialogs
