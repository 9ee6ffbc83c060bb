// The part of MainWindow that takes the graph away: onto paper, as pages, as text; and what is written on nodes.

#include <QFileDialog>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSettings>
#include <QStatusBar>

#include "ui/canvas/card_labels.h"
#include "ui/canvas/export.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"
#include "ui/context/stored.h"
#include "ui/dialogs/labels_dialog.h"
#include "ui/dialogs/print_dialog.h"
#include "ui/dialogs/text_dialog.h"
#include "ui/widgets/progress_strip.h"
#include "ui/window/main_window.h"
#include "ui/window/recent_files.h"

namespace sonde::window {

namespace {

canvas::Paging pagingOf(const dialogs::PrintChoice& choice) {
    canvas::Paging paging;
    paging.onePage = choice.onePage;
    paging.landscape = choice.landscape;
    paging.scale = choice.scale;
    paging.size = choice.size;
    return paging;
}

base::Result<void> noPicture(const base::WorkContext&) {
    return base::usageError("there is no graph to save yet", {}, "open a model and wait for its layout");
}

dialogs::PrintSource printSource(const canvas::GraphCanvas::Snapshot& shown, const canvas::Paging& paging) {
    const bool isEmpty = !shown.painter || shown.area.isEmpty();
    dialogs::PrintSource source;
    source.preview = [=](const QSizeF& page, const base::WorkContext& work) -> dialogs::PrintSource::Preview {
        if (isEmpty) return {};
        canvas::PagePictures made = canvas::pagePictures(*shown.painter, shown.marks, shown.area, page, paging, work);
        return {std::move(made.pictures), made.pages};
    };
    source.print = [=](QPrinter& printer, const base::WorkContext& work) {
        if (!isEmpty) canvas::paintPages(printer, *shown.painter, shown.marks, shown.area, paging, work);
    };
    source.writePdf = [=](const QString& path, const base::WorkContext& work) {
        return isEmpty ? noPicture(work)
                       : canvas::exportPages(*shown.painter, shown.marks, shown.area, path, paging, work);
    };
    return source;
}

}  // namespace

/// Painting a large graph takes seconds: it is done in the background, each file by itself.
void MainWindow::write(const QString& file, std::function<base::Result<void>(const base::WorkContext&)> work) {
    auto* job = new context::Job(this);
    auto* progress = new widgets::ProgressStrip;
    statusBar()->addWidget(progress, 1);
    m_writers.push_back(job);
    connect(progress, &widgets::ProgressStrip::cancelRequested, job, &context::Job::cancel);
    connect(job, &context::Job::progressed, progress, [progress](const base::Progress& now) {
        progress->setProgress(QString::fromStdString(now.what), static_cast<qint64>(now.done),
                              static_cast<qint64>(now.total));
    });
    connect(job, &context::Job::finished, this, [this, job, progress] {
        std::erase(m_writers, job);
        progress->deleteLater();
        job->deleteLater();
        refreshActions();
    });
    progress->start(tr("Saving %1").arg(QFileInfo(file).fileName()));
    refreshActions();
    job->start(std::move(work), [this, file](const base::Result<void>& written) {
        if (written)
            m_context.messages().report(context::Message{base::Severity::Info, tr("Graph saved"), file, {}, {}});
        else if (written.error().kind == base::ErrorKind::Cancelled)
            m_context.messages().report(
                context::Message{base::Severity::Info, tr("Saving the graph was cancelled"), file, {}, {}});
        else m_context.messages().report(written.error());
    });
}

void MainWindow::cancelWork() {
    if (m_context.runs().isRunning()) return m_context.runs().cancel();
    for (context::Job* job : m_writers) job->cancel();
}

void MainWindow::exportTo(const QString& file) {
    const canvas::GraphCanvas::Snapshot shown = canvas()->snapshot();
    if (!shown.painter) return write(file, noPicture);
    write(file, [shown, file](const base::WorkContext& work) {
        return canvas::exportScene(*shown.painter, shown.marks, file, 2.0, work);
    });
}

void MainWindow::exportPagesTo(const QString& file) {
    const canvas::GraphCanvas::Snapshot shown = canvas()->snapshot();
    if (!shown.painter) return write(file, noPicture);
    canvas::Paging paging;
    paging.onePage = false;
    write(file, [shown, file, paging](const base::WorkContext& work) {
        return canvas::exportPages(*shown.painter, shown.marks, shown.area, file, paging, work);
    });
}

void MainWindow::exportPages() {
    auto* dialog = new QFileDialog(this, tr("Export PDF on Pages"),
                                   context::stored(QStringLiteral("files/folder")).toString(), tr("PDF file (*.pdf)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("pdf"));
    dialog->selectFile(QFileInfo(shortLocation(m_context.loader().location())).completeBaseName() +
                       QStringLiteral("-pages.pdf"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) { exportPagesTo(file); });
    dialog->open();
}

void MainWindow::printPicture() {
    if (!canvas()->view().scene()) return;
    auto* dialog = new dialogs::PrintDialog(
        {},
        [shown = QPointer(canvas())](const dialogs::PrintChoice& choice) {
            return printSource(shown ? shown->snapshotForPaper(choice.whole) : canvas::GraphCanvas::Snapshot(),
                               pagingOf(choice));
        },
        this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showText() {
    // Of one canvas for as long as it is open, whichever is the active one by then.
    canvas::GraphCanvas* shown = canvas();
    const auto title = [this] {
        return m_context.model().isOpen() ? QString::fromStdString(m_context.model().document()->title) : QString();
    };
    auto* dialog = new dialogs::TextDialog(title(), shown->text().twin(), shown->text().currentLine(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(shown, &canvas::GraphCanvas::sceneChanged, dialog, [shown, dialog, title] {
        dialog->setTitle(title());
        dialog->setText(shown->text().twin());
    });
    connect(dialog, &dialogs::TextDialog::lineChosen, shown,
            [shown](int line) { shown->navigation().goTo(shown->text().itemOfLine(line)); });
    connect(shown, &QObject::destroyed, dialog, &QObject::deleteLater);
    dialog->show();
}

void MainWindow::showLabels() {
    const auto example = [this](const context::LabelRules& rules) -> QStringList {
        if (!m_context.model().isOpen()) return {};
        const graph::InternalGraph& graph = m_context.model().graph();
        // The selected operation; else the first that does something.
        graph::ExprId shown = m_context.navigation().selection().expr;
        for (const graph::ExprId id : graph.main().order) {
            if (shown.valid()) break;
            const graph::Expr& expr = graph.expr(id);
            if (!layout::Outline::isConstant(expr) && expr.kind != graph::ExprKind::Input &&
                expr.kind != graph::ExprKind::Output)
                shown = id;
        }
        if (!shown.valid()) return {};
        if (const auto labels = canvas::makeCardLabels(rules, &m_context)) {
            const QStringList lines = canvas::labelLines(*labels, graph, shown);
            if (!lines.isEmpty()) return lines;
        }
        layout::ItemDescription what;
        what.kind = layout::ItemKind::Expr;
        what.expr = shown;
        const canvas::ItemText text = canvas::itemText(graph, what);
        QStringList lines{text.title, text.qualname, text.name};
        lines.removeAll(QString());
        return lines;
    };
    auto* dialog = new dialogs::LabelsDialog(m_context.settings().labelRules(), example, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &dialogs::LabelsDialog::chosen, this, [this](const context::LabelRules& rules) {
        context::storeLater([rules](QSettings& settings) { context::writeLabelRules(settings, rules); });
        m_context.settings().setLabelRules(rules);
    });
    dialog->open();
}

}  // namespace sonde::window
