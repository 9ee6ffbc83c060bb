// The part of MainWindow that takes the graph away: onto paper, as pages, as text; and what is written on nodes.

#include <QFileDialog>
#include <QFileInfo>
#include <QPlainTextEdit>
#include <QPointer>
#include <QSettings>

#include "ui/canvas/card_labels.h"
#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/item_text.h"
#include "ui/context/stored.h"
#include "ui/dialogs/labels_dialog.h"
#include "ui/dialogs/print_dialog.h"
#include "ui/dialogs/text_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/recent_files.h"

namespace sonde::window {

namespace {

canvas::Paging pagingOf(const dialogs::PrintChoice& choice) {
    canvas::Paging paging;
    paging.onePage = choice.onePage;
    paging.landscape = choice.landscape;
    paging.scale = choice.scale;
    return paging;
}

}  // namespace

void MainWindow::exportPages() {
    auto* dialog = new QFileDialog(this, tr("Export PDF on Pages"), context::stored(QStringLiteral("files/folder")).toString(), tr("PDF file (*.pdf)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("pdf"));
    dialog->selectFile(QFileInfo(shortLocation(m_context.location())).completeBaseName() + QStringLiteral("-pages.pdf"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        canvas::Paging paging;
        paging.onePage = false;
        const base::Result<void> written = canvas()->exportPages(file, paging);
        if (!written) return m_context.report(written.error());
        m_context.report(context::Message{base::Severity::Info, tr("Picture saved"), file, {}, {}});
    });
    dialog->open();
}

void MainWindow::printPicture() {
    if (!canvas()->scene()) return;
    auto* dialog = new dialogs::PrintDialog({}, [shown = QPointer(canvas())](QPrinter& printer, const dialogs::PrintChoice& choice) {
        return shown ? shown->print(printer, pagingOf(choice), choice.whole) : 0;
    }, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showText() {
    // Of one canvas for as long as it is open, whichever is the active one by then.
    canvas::GraphCanvas* shown = canvas();
    const auto title = [this] { return m_context.hasModel() ? QString::fromStdString(m_context.document()->title) : QString(); };
    auto* dialog = new dialogs::TextDialog(title(), shown->textTwin(), shown->currentLine(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(shown, &canvas::GraphCanvas::sceneChanged, dialog, [shown, dialog, title] {
        dialog->setTitle(title());
        dialog->setText(shown->textTwin());
    });
    connect(dialog, &dialogs::TextDialog::lineChosen, shown, &canvas::GraphCanvas::goToLine);
    connect(shown, &QObject::destroyed, dialog, &QObject::deleteLater);
    dialog->show();
}

void MainWindow::showLabels() {
    const auto example = [this](const context::LabelRules& rules) -> QStringList {
        if (!m_context.hasModel()) return {};
        const graph::InternalGraph& graph = m_context.graph();
        // The selected operation; else the first that does something.
        graph::ExprId shown = m_context.selection().expr;
        for (const graph::ExprId id : graph.main().order) {
            if (shown.valid()) break;
            const graph::Expr& expr = graph.expr(id);
            if (!layout::Outline::isConstant(expr) && expr.kind != graph::ExprKind::Input && expr.kind != graph::ExprKind::Output) shown = id;
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
    auto* dialog = new dialogs::LabelsDialog(m_context.labelRules(), example, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &dialogs::LabelsDialog::chosen, this, [this](const context::LabelRules& rules) {
        context::storeLater([rules](QSettings& settings) { context::writeLabelRules(settings, rules); });
        m_context.setLabelRules(rules);
    });
    dialog->open();
}

}  // namespace sonde::window
