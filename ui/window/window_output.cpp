#include "ui/window/window_output.h"

#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMainWindow>
#include <QPointer>
#include <QStatusBar>

#include "core/session/output_check.h"
#include "core/session/saved_values.h"
#include "ui/canvas/export.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/dialogs/print_dialog.h"
#include "ui/dialogs/text_dialog.h"
#include "ui/widgets/progress_strip.h"
#include "ui/window/last_folder.h"
#include "ui/window/recent_files.h"
#include "ui/window/window_canvases.h"

namespace sonde::window {

using canvas::GraphCanvas;
using context::Message;

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

base::Result<void> writePages(const canvas::CanvasSnapshot& shown, const QString& path, const canvas::Paging& paging,
                              const base::WorkContext& work) {
    SONDE_ASSIGN(const canvas::CanvasSnapshot onPage, canvas::forPage(shown, work));
    return canvas::exportPages(*onPage.painter, onPage.marks, onPage.area, path, paging, work);
}

dialogs::PrintSource printSource(const canvas::CanvasSnapshot& shown, const canvas::Paging& paging) {
    const bool isEmpty = !shown.painter || shown.area.isEmpty();
    dialogs::PrintSource source;
    source.preview = [=](const QSizeF& page, const base::WorkContext& work) -> dialogs::PrintSource::Preview {
        if (isEmpty) return {};
        const auto onPage = canvas::forPage(shown, work);
        if (!onPage) return {};
        canvas::PagePictures made =
            canvas::pagePictures(*onPage->painter, onPage->marks, onPage->area, page, paging, work);
        return {std::move(made.pictures), made.pages};
    };
    source.print = [=](QPrinter& printer, const base::WorkContext& work) {
        if (isEmpty) return;
        if (const auto onPage = canvas::forPage(shown, work))
            canvas::paintPages(printer, *onPage->painter, onPage->marks, onPage->area, paging, work);
    };
    source.writePdf = [=](const QString& path, const base::WorkContext& work) {
        return isEmpty ? noPicture(work) : writePages(shown, path, paging, work);
    };
    return source;
}

}  // namespace

WindowOutput::WindowOutput(QMainWindow& window, context::InspectorContext& context, const WindowCanvases& canvases)
    : m_window(window), m_context(context), m_canvases(canvases) {}

/// Painting a large graph takes seconds: it is done in the background, each file by itself.
void WindowOutput::write(const QString& file, Work work) {
    if (const auto checked = checkOutput(file); !checked) return m_context.messages().reportSaving(checked, {});
    auto* job = new context::Job(this);
    auto* progress = new widgets::ProgressStrip;
    m_window.statusBar()->addWidget(progress, 1);
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
        Q_EMIT busyChanged();
    });
    progress->start(tr("Saving %1").arg(QFileInfo(file).fileName()));
    Q_EMIT busyChanged();
    job->start(std::move(work), [this, file](const base::Result<void>& written) {
        if (!written && written.error().kind == base::ErrorKind::Cancelled)
            return m_context.messages().report(
                Message{base::Severity::Info, tr("Saving the graph was cancelled"), file, {}, {}});
        m_context.messages().reportSaving(written, {base::Severity::Info, tr("Graph saved"), file, {}, {}});
    });
}

base::Result<void> WindowOutput::checkOutput(const QString& file) const {
    return session::checkOutput(m_context.session(), std::filesystem::path(file.toStdU16String()));
}

void WindowOutput::cancel() {
    for (context::Job* job : m_writers) job->cancel();
}

void WindowOutput::exportTo(const QString& file) {
    const canvas::CanvasSnapshot shown = m_canvases.active()->snapshot();
    if (!shown.painter) return write(file, noPicture);
    write(file, [shown, file](const base::WorkContext& work) -> base::Result<void> {
        SONDE_ASSIGN(const canvas::CanvasSnapshot onPage, canvas::forPage(shown, work));
        return canvas::exportScene(*onPage.painter, onPage.marks, file, 2.0, work);
    });
}

void WindowOutput::exportPagesTo(const QString& file) {
    const canvas::CanvasSnapshot shown = m_canvases.active()->snapshot();
    if (!shown.painter) return write(file, noPicture);
    canvas::Paging paging;
    paging.onePage = false;
    write(file, [shown, file, paging](const base::WorkContext& work) { return writePages(shown, file, paging, work); });
}

QString WindowOutput::baseName() const {
    return QFileInfo(shortLocation(m_context.loader().location())).completeBaseName();
}

void WindowOutput::askForFile(const QString& title, const QString& filter, const QString& suffix, const QString& name,
                              const std::function<void(const QString&)>& chosen) {
    auto* dialog = new QFileDialog(&m_window, title, lastFolder(), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(suffix);
    if (!name.isEmpty()) dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, this, chosen);
    dialog->open();
}

void WindowOutput::exportGraph(const QString& suffix) {
    askForFile(tr("Export Graph"), tr("%1 file (*.%2)").arg(suffix.toUpper(), suffix), suffix,
               baseName() + QLatin1Char('.') + suffix, [this](const QString& file) {
                   keepFolder(file);
                   exportTo(file);
               });
}

void WindowOutput::exportPages() {
    askForFile(tr("Export PDF on Pages"), tr("PDF file (*.pdf)"), QStringLiteral("pdf"),
               baseName() + QStringLiteral("-pages.pdf"), [this](const QString& file) { exportPagesTo(file); });
}

void WindowOutput::saveValues() {
    if (!m_context.runs().recording()) return;
    const auto values = session::savedValues(m_context.session());
    const QString stale = m_context.runs().staleReason();
    const QString ofLastRun =
        stale.isEmpty() ? QString() : tr("These are the inputs and values of the last run; since then %1").arg(stale);
    askForFile(tr("Save Values"), tr("NumPy archive (*.npz)"), QStringLiteral("npz"), {},
               [this, values, ofLastRun](const QString& file) {
                   keepFolder(file);
                   saveTo(file, values, ofLastRun);
               });
}

/// In the background: values may be hundreds of megabytes.
void WindowOutput::saveTo(const QString& file, const std::vector<io::NamedTensor>& values, const QString& remark) {
    if (const auto checked = checkOutput(file); !checked) return m_context.messages().reportSaving(checked, {});
    auto* job = new context::Job(this);
    job->start(
        [values, path = file.toStdString()](const base::WorkContext&) { return io::writeNpz(path, values); },
        [this, job, file, remark](const base::Result<void>& written) {
            m_context.messages().reportSaving(written, {base::Severity::Info, tr("Values saved"), file, remark, {}});
            job->deleteLater();
        });
}

void WindowOutput::print() {
    if (!m_canvases.active()->view().scene()) return;
    auto* dialog = new dialogs::PrintDialog(
        {},
        [this, shown = QPointer(m_canvases.active())](const dialogs::PrintChoice& choice) {
            dialogs::PrintSource source =
                printSource(shown ? shown->snapshotForPaper(choice.whole) : canvas::CanvasSnapshot(), pagingOf(choice));
            // The file is written on a worker, which must not ask the session.
            source.writePdf = [files = session::filesRead(m_context.session()), write = std::move(source.writePdf)](
                                  const QString& path, const base::WorkContext& work) -> base::Result<void> {
                SONDE_TRY(document::checkOutput(std::filesystem::path(path.toStdU16String()), {}, files));
                return write(path, work);
            };
            return source;
        },
        &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void WindowOutput::showText() {
    // Of one canvas for as long as it is open, whichever is the active one by then.
    GraphCanvas* shown = m_canvases.active();
    const auto title = [this] {
        return m_context.model().isOpen() ? QString::fromStdString(m_context.model().document()->title) : QString();
    };
    auto* dialog = new dialogs::TextDialog(title(), shown->text().twin(), shown->text().currentLine(), &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(shown, &GraphCanvas::sceneChanged, dialog, [shown, dialog, title] {
        dialog->setTitle(title());
        dialog->setText(shown->text().twin());
    });
    connect(dialog, &dialogs::TextDialog::lineChosen, shown,
            [shown](int line) { shown->navigation().goTo(shown->text().itemOfLine(line)); });
    connect(shown, &QObject::destroyed, dialog, &QObject::deleteLater);
    dialog->show();
}

void WindowOutput::copyPicture() { QGuiApplication::clipboard()->setImage(m_canvases.active()->picture()); }

}  // namespace sonde::window
