// The commands of window scripts about audits: what is accepted, and the report.

#include <QPushButton>

#include <algorithm>

#include "ui/context/findings.h"
#include "ui/dialogs/report_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/report_writer.h"
#include "ui/window/script_verbs.h"
#include "ui/window/window_dialogs.h"

namespace sonde::window {

using base::Result;
using base::usageError;

/// ID REASON: every finding of the id; without a reason it is taken back.
Result<void> ScriptVerbs::acceptFinding(const QString& line) {
    const QString id = line.section(u' ', 0, 0), reason = line.section(u' ', 1).trimmed();
    context::Findings& findings = m_window.context().findings();
    if (!findings.isKnown()) return usageError("nobody has looked for findings yet", {}, "findings does that");
    bool isFound = false;
    // The groups are others after each change.
    for (std::size_t i = 0; i < findings.groups().size(); ++i) {
        const session::FindingGroup& group = findings.groups()[i];
        if (QString::fromStdString(group.id) != id) continue;
        isFound = true;
        if (group.accepted.has_value() != reason.isEmpty()) continue;
        if (reason.isEmpty()) findings.takeBack(static_cast<int>(i));
        else findings.accept(static_cast<int>(i), reason);
    }
    return isFound ? Result<void>() : usageError("there is no such finding", id.toStdString());
}

/// FILE and words: module=QUALNAME, compare=MODEL, profile. Without a file the dialog is shown.
Result<void> ScriptVerbs::writeReport(const QString& line) {
    const QStringList words = line.split(u' ', Qt::SkipEmptyParts);
    m_window.dialogs().showReport();
    dialogs::ReportDialog* const dialog = m_window.dialogs().reportDialog();
    if (!dialog) return usageError("the report dialog did not open");
    dialogs::ReportChoice choice = dialog->choice();
    bool hasFile = false;
    const QStringList modules = reportModules(m_window.context().model());
    for (const QString& word : words) {
        if (word == QLatin1String("profile")) choice.measuresTimes = true;
        else if (word.startsWith(QLatin1String("compare="))) choice.other = word.mid(8);
        else if (word.startsWith(QLatin1String("module="))) {
            if (!modules.contains(word.mid(7)))
                return usageError("no module '" + word.mid(7).toStdString() + "' was called in this model");
            choice.modules << word.mid(7);
        } else {
            choice.path = inFolder(word);
            hasFile = true;
        }
    }
    dialog->setChoice(choice);
    if (!hasFile) return {};
    auto* ending = new QObject(dialog);
    connect(dialog, &dialogs::ReportDialog::failed, ending, [this](const base::Error& error) { m_loadError = error; });
    connect(dialog, &dialogs::ReportDialog::written, ending, &QObject::deleteLater);
    dialog->write(true);
    return {};
}

}  // namespace sonde::window
