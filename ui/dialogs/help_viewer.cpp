#include "ui/dialogs/help_viewer.h"

#include <QDir>
#include <QFile>
#include <QHBoxLayout>
#include <QListWidget>
#include <QSplitter>
#include <QTextBrowser>

#include "ui/theme/theme.h"

// Resources of a static library must be asked for by name, outside any namespace.
static void initHelpResources() { Q_INIT_RESOURCE(help); }

namespace sonde::dialogs {
namespace {

const QString kFolder = QStringLiteral(":/help/");

/// The first heading of a page.
QString titleOf(const QString& file) {
    QFile page(kFolder + file);
    if (!page.open(QIODevice::ReadOnly)) return file;
    const QString line = QString::fromUtf8(page.readLine()).trimmed();
    return line.startsWith(QLatin1Char('#')) ? line.mid(1).trimmed() : file;
}

}  // namespace

HelpViewer::HelpViewer(QWidget* parent) : QDialog(parent), m_pages(new QListWidget), m_browser(new QTextBrowser) {
    initHelpResources();
    setWindowTitle(tr("Sonde Help"));
    resize(860, 640);
    QStringList files = QDir(kFolder).entryList({QStringLiteral("*.md")});
    files.removeAll(QStringLiteral("start.md"));
    files.prepend(QStringLiteral("start.md"));
    for (const QString& file : files) {
        auto* item = new QListWidgetItem(titleOf(file), m_pages);
        item->setData(Qt::UserRole, file);
    }
    m_pages->setAccessibleName(tr("Pages"));
    m_pages->setFrameShape(QFrame::NoFrame);
    m_browser->setFrameShape(QFrame::NoFrame);
    m_browser->setOpenLinks(false);  // pages only: nothing is fetched and no program is started
    m_browser->document()->setDocumentMargin(theme::kLarge);
    auto* split = new QSplitter;
    split->addWidget(m_pages);
    split->addWidget(m_browser);
    split->setStretchFactor(1, 1);
    split->setSizes({180, 680});
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(split);
    connect(m_pages, &QListWidget::currentItemChanged, this, [this](QListWidgetItem* item) {
        if (!item) return;
        QFile page(kFolder + item->data(Qt::UserRole).toString());
        if (page.open(QIODevice::ReadOnly)) m_browser->setMarkdown(QString::fromUtf8(page.readAll()));
    });
    connect(m_browser, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) {
        const QString file = link.path().section(QLatin1Char('/'), -1);
        if (file.endsWith(QLatin1String(".md"))) showPage(file.chopped(3));
        if (link.hasFragment()) m_browser->scrollToAnchor(link.fragment());
    });
    m_pages->setCurrentRow(0);
}

void HelpViewer::showPage(const QString& page) {
    for (int i = 0; i < m_pages->count(); ++i)
        if (m_pages->item(i)->data(Qt::UserRole).toString() == page + QStringLiteral(".md")) return m_pages->setCurrentRow(i);
    m_pages->setCurrentRow(0);
}

}  // namespace sonde::dialogs
