// The command of window scripts that exports the model.

#include <QPushButton>
#include <QRegularExpression>
#include <QSet>

#include <algorithm>
#include <optional>

#include "ui/dialogs/export_dialog.h"
#include "ui/window/main_window.h"
#include "ui/window/script_verbs.h"
#include "ui/window/window_dialogs.h"

namespace sonde::window {

using base::Result;
using base::usageError;

namespace {

/// Words between blanks. What follows the `=`, or all of it, can be quoted: to="my model.onnx".
Result<QStringList> exportWords(const QString& how) {
    static const QRegularExpression word(QStringLiteral("([^\\s=\"]+=)?\"([^\"]*)\"(?=\\s|$)|\\S+"));
    QStringList words;
    for (auto each = word.globalMatch(how); each.hasNext();) {
        const QRegularExpressionMatch match = each.next();
        const bool isQuoted = match.capturedStart(2) >= 0;
        const QString plain = match.captured();
        if (!isQuoted && (plain.startsWith(u'"') || plain.section(u'=', 1).startsWith(u'"')))
            return usageError("a quotation mark has no counterpart", plain.toStdString());
        words << (isQuoted ? match.captured(1) + match.captured(2) : plain);
    }
    return words;
}

Result<void> openBeside(const dialogs::ExportDialog& dialog) {
    auto* button = dialog.findChild<QPushButton*>(QStringLiteral("beside"));
    if (!button->isEnabled()) return usageError("nothing was exported", {}, "export to=FILE comes first");
    button->click();
    return {};
}

/// A format, preset=ID, or an option as the command line has it.
/// `given`: options of this command so far. What is given once for each item begins anew in each command.
Result<void> apply(const QString& word, exporting::ExportChoice& choice, QSet<QString>& given) {
    const std::string key = word.section(u'=', 0, 0).toStdString(), value = word.section(u'=', 1).toStdString();
    if (key == "preset") {
        const exporting::ExportPreset* preset = exporting::findExportPreset(choice.format, value);
        if (!preset)
            return usageError("the format has no such preset", value,
                              "it has " + exporting::exportPresetIds(choice.format));
        choice = exporting::withPreset(choice, *preset);
        return {};
    }
    const auto& formats = exporting::exportFormats();
    const auto info = std::ranges::find(formats, word.toStdString(), &exporting::ExportFormatInfo::id);
    if (info != formats.end()) {
        choice.format = info->format;
        return {};
    }
    const exporting::ExportOption* const option = exporting::findExportOption(key);
    const bool isFurther = given.contains(QString::fromStdString(key));
    given.insert(QString::fromStdString(key));
    if (isFurther && option && option->oneEach && word.contains(u'='))
        return choice.set(key, option->text(choice.settings) + '\n' + value);
    const auto done = choice.setSpelled(word.toStdString());
    if (done || word.contains(u'=')) return done;
    const base::Error& error = done.error();
    return usageError(error.what, error.where.empty() ? key : error.where,
                      (error.hint.empty() ? "" : error.hint + "; ") +
                          "formats are dump, onnx and traced-module; a file name with blanks is quoted: "
                          "to=\"my model.onnx\"");
}

}  // namespace

/// Words: a format, preset=ID, options (OPTION=VALUE, enable_nchw88), to=FILE, beside. `beside` alone opens what was
/// written last.
Result<void> ScriptVerbs::exportModel(const QString& how) {
    SONDE_ASSIGN(QStringList words, exportWords(how));
    m_window.dialogs().showExport();
    dialogs::ExportDialog* dialog = m_window.dialogs().exportDialog();
    if (!dialog) return usageError("the export dialog did not open");
    const bool isBeside = words.removeAll(QStringLiteral("beside")) > 0;
    if (isBeside && words.isEmpty()) return openBeside(*dialog);
    exporting::ExportChoice choice = dialog->exports().choice();
    std::optional<QString> file;
    QSet<QString> given;
    for (const QString& word : words) {
        if (word.startsWith(QLatin1String("to="))) file = word.mid(3);
        else SONDE_TRY(apply(word, choice, given));
    }
    if (isBeside && !file) return usageError("beside needs a file that is written", {}, "to=FILE names it");
    dialog->setChoice(choice);
    return file ? writeExport(*file, isBeside) : Result<void>();
}

Result<void> ScriptVerbs::writeExport(const QString& file, bool isBeside) {
    if (file.isEmpty()) return usageError("export needs a file after to=");
    dialogs::ExportDialog* dialog = m_window.dialogs().exportDialog();
    context::Exports& exports = dialog->exports();
    const QString path = inFolder(file);
    SONDE_TRY(exports.check(exports.choice().format));
    SONDE_TRY(exports.checkPath(path));
    dialog->setPath(path);
    if (!dialog->findChild<QPushButton*>(QStringLiteral("write"))->isEnabled())
        return usageError("the model cannot be exported now", file.toStdString());
    // What came of it is known when it has ended.
    auto* ending = new QObject(dialog);
    connect(&exports, &context::Exports::failed, ending, [this, ending](const base::Error& error) {
        m_loadError = error;
        ending->deleteLater();
    });
    // A preview that gives way to the writing ends, too, before anything is written.
    connect(&exports, &context::Exports::written, ending, [this, dialog, ending, isBeside] {
        if (!isBeside) return ending->deleteLater();
        connect(&dialog->exports(), &context::Exports::ended, ending, [this, dialog, ending] {
            ending->deleteLater();
            if (const auto opened = openBeside(*dialog); !opened) m_loadError = opened.error();
        });
    });
    dialog->write(true);
    return {};
}

}  // namespace sonde::window
