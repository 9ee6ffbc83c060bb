#include "ui/window/report_writer.h"

#include <QFileInfo>

#include <algorithm>
#include <set>

#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/io/session_file/session_file.h"
#include "core/session/default_spec.h"
#include "core/session/output_check.h"
#include "core/session/report/audit_report.h"
#include "ui/context/findings.h"
#include "ui/report/graph_pictures.h"
#include "ui/report/report_pdf.h"

namespace sonde::window {

namespace {

constexpr int kMaxListedModules = 2000;

struct ReportTask {
    context::FindingInputs inputs;
    session::AuditRequest request;
    dialogs::ReportChoice choice;

    base::Result<void> write(const base::WorkContext& work);
};

/// As `sonde report` gets it: without inputs that have what they had when the model was opened.
std::string chosenInputs(const session::Session& session) {
    std::string text;
    const auto infos = document::inputInfos(*session.document());
    const std::vector<session::Input>& inputs = session.inputs().all();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const session::InputSpec& spec = inputs[i].spec;
        const bool isDefault = i < infos.size() && spec == session::defaultSpec(infos[i]);
        if (!isDefault && !spec.source.empty()) text += (text.empty() ? "" : ";") + inputs[i].name + ":" + spec.source;
    }
    return text;
}

base::Result<void> ReportTask::write(const base::WorkContext& work) {
    const document::Document& document = *inputs.document;
    request.findings = inputs.request(work);
    if (!choice.other.isEmpty()) {
        work.report("opening the other model");
        SONDE_ASSIGN(request.other, document::open(choice.other.toStdString(), {}, base::WorkContext{work.stop, {}}));
    }
    report::GraphPictures pictures(inputs.document);
    request.picture = [&pictures](const std::string& qualname, const base::WorkContext& drawing) {
        return pictures.svg(qualname, drawing);
    };
    SONDE_ASSIGN(const session::Report made, session::auditReport(document, request, work));
    std::string bytes;
    if (choice.path.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        SONDE_ASSIGN(const QByteArray pdf, report::reportPdf(made, work));
        bytes = pdf.toStdString();
    } else {
        bytes = session::reportHtml(made);
    }
    if (work.cancelled()) return base::cancelled("writing the report");
    return io::writeAtomically(choice.path.toStdString(), bytes);
}

}  // namespace

QStringList reportModules(const context::OpenModel& model) {
    QStringList modules;
    if (!model.isOpen()) return modules;
    std::set<std::string> known;
    for (const graph::Scope& scope : model.graph().scopes())
        if (!scope.qualname.empty() && known.insert(scope.qualname).second)
            modules << QString::fromStdString(scope.qualname);
    std::ranges::stable_sort(modules, {}, [](const QString& qualname) { return qualname.count(u'.'); });
    return modules.mid(0, kMaxListedModules);
}

QString reportInputs(const context::InspectorContext& context) {
    const QString given = QString::fromStdString(context.session().inputs().inputData());
    if (given.isEmpty()) return QObject::tr("The model has no inputs");
    return QObject::tr("Of the inputs as they are now: %1").arg(given);
}

base::Result<dialogs::ReportDialog::Work> reportWork(context::InspectorContext& context,
                                                     const dialogs::ReportChoice& choice) {
    if (!context.model().isOpen()) return base::usageError("no model is open");
    const QString suffix = QFileInfo(choice.path).suffix().toLower();
    if (suffix != QLatin1String("html") && suffix != QLatin1String("pdf"))
        return base::usageError("unknown report format", choice.path.toStdString(),
                                "the file's name must end in .html or .pdf");
    SONDE_TRY(session::checkOutput(context.session(), choice.path.toStdString()));
    auto task = std::make_shared<ReportTask>();
    task->inputs = context::findingInputs(context.session());
    task->choice = choice;
    task->request.inputData = chosenInputs(context.session());
    task->request.measuresTimes = choice.measuresTimes;
    task->request.watched = context.points().watched();
    for (const QString& qualname : choice.modules) task->request.modules.push_back(qualname.toStdString());
    return dialogs::ReportDialog::Work([task](const base::WorkContext& work) { return task->write(work); });
}

}  // namespace sonde::window
