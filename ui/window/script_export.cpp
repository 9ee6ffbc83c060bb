// The command of window scripts that exports the model.

#include <QPushButton>

#include "ui/dialogs/export_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/script_verbs.h"
#include "ui/window/window_dialogs.h"

namespace sonde::window {

using base::Result;
using base::usageError;

/// Words: a format, preset=ID, OPTION=VALUE; to=FILE with the rest of the line; beside alone.
Result<void> ScriptVerbs::exportModel(const QString& how) {
    m_window.dialogs().showExport();
    dialogs::ExportDialog* dialog = m_window.dialogs().exportDialog();
    if (!dialog) return usageError("the export dialog did not open");
    if (how == u"beside") {
        auto* button = dialog->findChild<QPushButton*>(QStringLiteral("beside"));
        if (!button->isEnabled()) return usageError("nothing was exported", {}, "export to=FILE comes first");
        button->click();
        return {};
    }
    exporting::ExportChoice choice = dialog->exports().choice();
    const auto file = how.indexOf(QLatin1String("to="));
    for (const QString& word : how.left(file).split(u' ', Qt::SkipEmptyParts)) {
        const std::string key = word.section(u'=', 0, 0).toStdString(), value = word.section(u'=', 1).toStdString();
        if (key == "preset") {
            const exporting::ExportPreset* preset = exporting::findExportPreset(choice.format, value);
            if (!preset) return usageError("the format has no such preset", value);
            choice = exporting::withPreset(choice, *preset);
        } else if (word.contains(u'=')) {
            SONDE_TRY(choice.set(key, value));
        } else {
            const auto& formats = exporting::exportFormats();
            const auto info = std::ranges::find(formats, key, &exporting::ExportFormatInfo::id);
            if (info == formats.end()) return usageError("no such format", key, "dump, onnx or traced-module");
            choice.format = info->format;
        }
    }
    dialog->setChoice(choice);
    return file < 0 ? Result<void>() : writeExport(how.mid(file + 3).trimmed());
}

Result<void> ScriptVerbs::writeExport(const QString& file) {
    if (file.isEmpty()) return usageError("export needs a file after to=");
    dialogs::ExportDialog* dialog = m_window.dialogs().exportDialog();
    connect(&dialog->exports(), &context::Exports::failed, this,
            [this](const base::Error& error) { m_loadError = error; });
    const QString path = inFolder(file);
    SONDE_TRY(dialog->exports().checkPath(path));
    dialog->setPath(path);
    dialog->write(true);
    return {};
}

}  // namespace sonde::window
