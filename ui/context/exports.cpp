#include "ui/context/exports.h"

#include <QDir>
#include <QFileInfo>

#include "core/export/write_export.h"
#include "core/session/output_check.h"
#include "core/session/read_inputs.h"
#include "core/session/session.h"
#include "ui/context/option_labels.h"
#include "ui/context/stored.h"
#include "ui/context/text.h"

namespace sonde::context {

namespace {

using exporting::ExportChoice;

const QString kChoiceKey = QStringLiteral("export/choice");

std::filesystem::path filePath(const QString& path) { return {path.toStdU16String()}; }

/// Of the format: what belongs to one model is not for the next one.
ExportChoice withoutModel(ExportChoice choice) {
    for (const exporting::ExportOption& option : exporting::exportOptions())
        if (option.ofModel) (void)option.set(choice.settings, option.defaultText());
    return choice;
}

}  // namespace

Exports::Exports(session::Session& session, QObject* parent) : QObject(parent), m_session(session) {
    const auto last = exporting::exportChoiceFrom(stored(kChoiceKey).toString().toStdString());
    if (last && check(last->format)) m_choice = *last;
    for (Job* job : {&m_previewJob, &m_writeJob}) {
        connect(job, &Job::progressed, this, &Exports::progressed);
        connect(job, &Job::finished, this, [this] {
            if (!isPreviewing() && !isWriting()) Q_EMIT ended();
        });
    }
}

Exports::~Exports() {
    m_previewJob.abandon();
    m_writeJob.cancel();
}

void Exports::setChoice(const ExportChoice& choice) {
    const bool isSame = choice == m_choice;
    m_choice = choice;
    if (isSame) return;
    store(kChoiceKey, QString::fromStdString(exporting::toJson(withoutModel(choice))));
    m_previewJob.abandon();
    m_problem.reset();
    m_preview.reset();
    Q_EMIT previewChanged();
}

base::Result<void> Exports::check(exporting::ExportFormat format) const {
    if (!m_session.document()) return base::usageError("no model is open");
    return exporting::checkExport(*m_session.document(), format);
}

base::Result<void> Exports::checkPath(const QString& path) const {
    if (path.trimmed().isEmpty()) return base::usageError("no file is named");
    if (QFileInfo(path).isDir()) return base::usageError("this is a folder", path.toStdString());
    SONDE_TRY(session::checkOutput(m_session, filePath(path)));
    const std::string& list = m_choice.settings.stripInfoFile;
    if (m_choice.format != exporting::ExportFormat::Dump || list.empty()) return {};
    if (document::isSameFile(filePath(path), list))
        return base::usageError("the list of operators would replace the model", list, "choose another file");
    return session::checkOutput(m_session, list);
}

QString Exports::suggestedPath(const QString& folder) const {
    const QString suffix = u'.' + text(exporting::infoOf(m_choice.format).suffix);
    QString name = QStringLiteral("model");
    QDir place(folder);
    if (const auto& document = m_session.document()) {
        const QFileInfo file(QString::fromStdString(document->location));
        if (file.isFile()) place = file.absoluteDir();
        // "zoo:resnet18?width=0.5" is no name of a file.
        name = QString::fromStdString(document->title).section(u'?', 0, 0).section(u':', -1);
        name = QFileInfo(name).completeBaseName();
    }
    QString path = place.absoluteFilePath(name + suffix);
    if (!checkPath(path)) path = place.absoluteFilePath(name + QStringLiteral("_export") + suffix);
    return path;
}

QString Exports::inputData() const { return QString::fromStdString(m_session.inputs().inputData()); }

QString Exports::commandLine(const QString& path) const {
    if (!m_session.document()) return {};
    const document::Document& document = *m_session.document();
    return QString::fromStdString(exporting::commandLineOf(m_choice, document.location, path.toStdString(),
                                                           m_session.inputs().inputData(), document.options));
}

/// What the session has, read on the worker where it has not been read yet.
std::function<base::Result<std::vector<tensor::Value>>(const base::WorkContext&)> Exports::inputReader() const {
    const session::Inputs& inputs = m_session.inputs();
    return [given = inputs.areAllGiven() ? inputs.values() : std::vector<tensor::Value>(),
            isGiven = inputs.areAllGiven(), spec = inputs.inputData(), document = m_session.document()](
               const base::WorkContext& work) -> base::Result<std::vector<tensor::Value>> {
        if (isGiven) return given;
        SONDE_ASSIGN(const auto cases, session::readCases(*document, {spec}, work));
        return cases.front().values;
    };
}

void Exports::makePreview() {
    m_preview.reset();
    m_problem.reset();
    if (const auto checked = check(m_choice.format); !checked) {
        m_previewJob.abandon();
        m_problem = checked.error();
        Q_EMIT previewChanged();
        return;
    }
    Q_EMIT previewChanged();
    Q_EMIT begun(tr("Measuring"));
    m_previewJob.start(
        [document = m_session.document(), choice = m_choice, read = inputReader(),
         threads = m_session.runs().settings().threads](
            const base::WorkContext& work) -> base::Result<session::ExportPreview> {
            SONDE_ASSIGN(const std::vector<tensor::Value> inputs, read(work));
            const auto forms = exporting::exportForms(document, choice, inputs);
            return session::previewExport(*document, inputs, forms, threads, work);
        },
        [this](base::Result<session::ExportPreview> made) {
            if (made) m_preview = std::make_shared<const session::ExportPreview>(std::move(made).value());
            else m_problem = made.error();
            Q_EMIT previewChanged();
        });
}

void Exports::write(const QString& path) {
    if (const auto checked = check(m_choice.format); !checked) return Q_EMIT failed(checked.error());
    if (const auto checked = checkPath(path); !checked) return Q_EMIT failed(checked.error());
    m_previewJob.abandon();
    Q_EMIT begun(tr("Writing %1").arg(QFileInfo(path).fileName()));
    m_writeJob.start(
        [document = m_session.document(), choice = m_choice, read = inputReader(),
         file = filePath(path)](const base::WorkContext& work) -> base::Result<exporting::WrittenExport> {
            SONDE_ASSIGN(const std::vector<tensor::Value> inputs, read(work));
            return exporting::writeExport(*document, choice, file, inputs, work);
        },
        [this, path](const base::Result<exporting::WrittenExport>& made) {
            if (!made) return Q_EMIT failed(made.error());
            QStringList notes;
            for (const base::Diagnostic& note : made->notes) notes << withOptionLabels(note.what);
            Q_EMIT written(path, notes);
        });
}

void Exports::cancel() {
    m_previewJob.cancel();
    m_writeJob.cancel();
}

}  // namespace sonde::context
