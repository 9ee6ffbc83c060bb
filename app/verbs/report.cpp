#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/finding_request.h"
#include "app/verbs/options.h"
#ifdef SONDE_WITH_UI
#include "app/verbs/render_application.h"
#include "ui/report/graph_pictures.h"
#include "ui/report/report_pdf.h"
#endif
#include "core/io/session_file/session_file.h"
#include "core/session/report/audit_report.h"

namespace sonde::app {

namespace {

struct ReportOptions {
    ModelOptions model;
    FindingChoice choice;
    std::string output, other;
    std::vector<std::string> watch, modules;
    bool profile = false;
};

base::Result<void> checkFormat(const ReportOptions& options) {
    const std::filesystem::path ending = std::filesystem::path(options.output).extension();
    if (ending != ".html" && ending != ".pdf")
        return base::usageError("unknown report format", options.output, "the file's name must end in .html or .pdf");
#ifndef SONDE_WITH_UI
    if (ending == ".pdf")
        return base::usageError("this build of Sonde has no window and cannot paint PDF files", options.output,
                                "write the report as .html, or build Sonde with the window");
    if (!options.modules.empty())
        return base::usageError("this build of Sonde has no window and draws no graphs", "--module",
                                "leave --module out, or build Sonde with the window");
#endif
    return {};
}

base::Result<session::AuditRequest> auditRequest(ReportOptions& options,
                                                 const std::shared_ptr<const document::Document>& document) {
    session::AuditRequest request;
    SONDE_ASSIGN(request.watched, nodesFor(*document, options.watch));
    SONDE_ASSIGN(request.findings, findingRequest(document, options.choice));
    const std::string& spec = options.choice.inputs.spec;
    request.inputData = spec.empty() && document->session ? "of the session" : spec;
    request.modules = options.modules;
    request.measuresTimes = options.profile;
    if (!options.other.empty()) {
        options.model.model = options.other;
        SONDE_ASSIGN(request.other, options.model.load(spec));
    }
    return request;
}

#ifdef SONDE_WITH_UI
/// A module that is not there is told before anything is computed.
base::Result<void> checkModules(const document::Document& document, const std::vector<std::string>& modules) {
    for (const std::string& qualname : modules)
        if (!document.modules->find(qualname))
            return base::usageError("no module '" + qualname + "' was called in this model", "--module",
                                    "sonde trace MODEL lists the modules of all nodes");
    return {};
}

base::Result<int> writeReport(ReportOptions& options) {
    SONDE_TRY(checkFormat(options));
    SONDE_ASSIGN(const auto document, options.model.load(options.choice.inputs.spec, {{{"--output", options.output}}}));
    SONDE_TRY(checkModules(*document, options.modules));
    SONDE_ASSIGN(session::AuditRequest request, auditRequest(options, document));
    const OffscreenApplication application;
    report::GraphPictures pictures(document);
    request.picture = [&](const std::string& qualname, const base::WorkContext& work) {
        return pictures.svg(qualname, work);
    };
    SONDE_ASSIGN(const session::Report made, session::auditReport(*document, request, commandLineWork()));
    std::string bytes;
    if (std::filesystem::path(options.output).extension() == ".pdf") {
        SONDE_ASSIGN(const QByteArray pdf, report::reportPdf(made, commandLineWork()));
        bytes = pdf.toStdString();
    } else {
        bytes = session::reportHtml(made);
    }
    SONDE_TRY(io::writeAtomically(options.output, bytes));
    return 0;
}
#else
base::Result<int> writeReport(ReportOptions& options) {
    SONDE_TRY(checkFormat(options));
    SONDE_ASSIGN(const auto document, options.model.load(options.choice.inputs.spec, {{{"--output", options.output}}}));
    SONDE_ASSIGN(session::AuditRequest request, auditRequest(options, document));
    request.withoutPictures = "The graph is not drawn: this build of Sonde has no window.";
    SONDE_ASSIGN(const session::Report made, session::auditReport(*document, request, commandLineWork()));
    SONDE_TRY(io::writeAtomically(options.output, session::reportHtml(made)));
    return 0;
}
#endif

}  // namespace

Verb reportVerb() {
    return {
        "report",
        "Write an audit report as one HTML or PDF file: summary, findings, graph, cost, weights, values, hashes",
        "sonde report model.onnx --input-data photo.png -o report.html", [](CLI::App& command) {
            auto options = std::make_shared<ReportOptions>();
            options->model.addTo(command);
            options->model.needsValues = false;
            options->choice.addTo(command);
            command.add_option("-o,--output", options->output, "The file to write (.html or .pdf)")->required();
            command
                .add_option("--watch", options->watch,
                            "Node whose value is in the report, besides inputs and outputs (again for more)")
                ->allow_extra_args(false);
            command
                .add_option("--module,--expand", options->modules, "Module that is drawn from inside (again for more)")
                ->type_name("QUALNAME")
                ->allow_extra_args(false);
            command.add_option("--compare", options->other, "Another model that this one is compared with")
                ->type_name("MODEL");
            command.add_flag("--profile", options->profile,
                             "Measure times, which are others in each report; the model runs four times more");
            command.footer(
                "The file needs no script and loads nothing: it can be sent and printed. It has no dates and, without\n"
                "--profile, no measured times, so that the same model and input give the same bytes.\n\n"
                "Exit status: 0 written, whatever was found; 2 wrong usage; 3 the model cannot be read; 4 the report cannot\n"
                "be written.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return writeReport(*options); });
        }};
}

}  // namespace sonde::app
