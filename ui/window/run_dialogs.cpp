// The dialogs of a window that begin another run of the model.

#include <QStringList>

#include "ui/context/bisection.h"
#include "ui/context/engine.h"
#include "ui/context/precision.h"
#include "ui/dialogs/bisect_dialog.h"
#include "ui/dialogs/engine_dialog.h"
#include "ui/dialogs/precision_dialog.h"
#include "ui/window/last_folder.h"
#include "ui/window/window_dialogs.h"

namespace sonde::window {

namespace {

template <typename Dialog>
void openDialog(Dialog* dialog) {
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

}  // namespace

/// A query that finds the selected operations by number; empty if nothing is selected.
QString WindowDialogs::selectedQuery() const {
    const context::Navigation& navigation = m_context.navigation();
    if (!m_context.model().isOpen() || navigation.selection().isNone()) return {};
    QStringList numbers;
    for (const graph::ExprId id : navigation.exprsOf(navigation.selection()))
        for (const graph::NodeId node : m_context.model().graph().expr(id).outputs)
            numbers << u'#' + QString::number(node.value);
    return numbers.join(QStringLiteral(" or "));
}

void WindowDialogs::showBisect() {
    if (!m_context.model().isOpen()) return;
    auto* dialog = new dialogs::BisectDialog(selectedQuery(), lastFolder(), &m_window);
    connect(dialog, &dialogs::BisectDialog::chosen, this, [this](const context::Bisection::Wanted& wanted) {
        if (wanted.kind == context::Bisection::Wanted::Kind::File) keepFolder(wanted.path);
        m_context.bisection().start(wanted);
    });
    openDialog(dialog);
}

void WindowDialogs::showPrecision() {
    if (!m_context.model().isOpen()) return;
    auto* dialog = new dialogs::PrecisionDialog(selectedQuery(), lastFolder(), &m_window);
    connect(dialog, &dialogs::PrecisionDialog::chosen, this,
            [this](const context::Precision::Wanted& wanted) { m_context.precision().start(wanted); });
    openDialog(dialog);
}

void WindowDialogs::compareWithEngine() {
    if (!m_context.model().isOpen()) return;
    auto* dialog = new dialogs::EngineDialog(&m_window);
    connect(dialog, &dialogs::EngineDialog::chosen, &m_context.engine(),
            [this](const QString& library) { m_context.engine().compare(library); });
    openDialog(dialog);
}

}  // namespace sonde::window
