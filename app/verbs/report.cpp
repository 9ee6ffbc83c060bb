#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/finding_request.h"
#include "app/verbs/options.h"
#ifdef SONDE_WITH_UI
#include "app/verbs/render_picture.h"
#endif
#include "core/io/session_file/session_file.h"
#include "core/session/report/make_report.h"

namespace sonde::app {

namespace {

struct ReportOptions {
    ModelOptions model;
    FindingChoice choice;
    std::string output;
    std::vector<std::string> watch, expand;
};

/// Pictures of the graph; none where none can be drawn, with the reason.
base::Result<void> addPictures(session::ReportContent& content,
                               const std::shared_ptr<const document::Document>& document,
                               const std::vector<std::string>& expand) {
#ifdef SONDE_WITH_UI
    GraphPictures pictures(document);
    auto whole = pictures.svg({}, commandLineWork());
    if (whole) content.pictures.push_back({"The model", std::move(*whole)});
    else if (whole.error().kind == base::ErrorKind::Cancelled) return whole.error();
    else content.picturesNote = "The graph is not drawn: " + whole.error().what;
    for (const std::string& qualname : expand) {
        SONDE_ASSIGN(auto one, pictures.svg(qualname, commandLineWork()));
        content.pictures.push_back({"Module " + qualname, std::move(one)});
    }
#else
    (void)document;
    if (!expand.empty())
        return base::usageError("this build of Sonde draws no graphs", "--expand", "build it with the window");
    content.picturesNote = "The graph is not drawn: this build of Sonde has no window.";
#endif
    return {};
}

base::Result<void> addValues(session::ReportContent& content, const document::Document& document,
                             const session::FindingRequest& request, const std::vector<graph::NodeId>& watched,
                             const std::string& spec) {
    if (request.cases.empty()) {
        content.valuesNote = "The model was not run: " + request.withoutCases;
        return {};
    }
    auto values = session::reportedValues(document, request.cases.front(), watched, request.seed, request.threads,
                                          commandLineWork());
    if (!values && values.error().kind == base::ErrorKind::Cancelled) return values.error();
    if (!values) {
        content.valuesNote = "The run failed: " + values.error().text();
        return {};
    }
    content.values = std::move(*values);
    const std::string source = !spec.empty() ? spec : document.session ? "of the session" : "random numbers";
    content.inputData = fmt::format("{}, seed {}", source, request.seed);
    if (request.cases.size() > 1) content.valuesNote = fmt::format("The first of {} inputs.", request.cases.size());
    return {};
}

base::Result<int> writeReport(ReportOptions& options) {
    if (std::filesystem::path(options.output).extension() != ".html")
        return base::usageError("unknown report format", options.output, "the file's name must end in .html");
    SONDE_ASSIGN(const auto document, options.model.load(options.choice.inputs.spec, {{{"--output", options.output}}}));
    SONDE_ASSIGN(const auto watched, nodesFor(*document, options.watch));
    SONDE_ASSIGN(const session::FindingRequest request, findingRequest(document, options.choice));
    session::ModelInfoRequest about;
    if (!request.cases.empty()) about.inputs = request.cases.front();
    about.seed = request.seed;
    about.threads = request.threads;
    SONDE_ASSIGN(const session::ModelInfo info, session::modelInfo(*document, about, commandLineWork()));
    SONDE_ASSIGN(const session::FindingReport findings,
                 session::findFindings(*document, info, request, commandLineWork()));
    session::ReportContent content{info, findings, {}, {}, {}, {}, {}};
    SONDE_TRY(addValues(content, *document, request, watched, options.choice.inputs.spec));
    SONDE_TRY(addPictures(content, document, options.expand));
    SONDE_TRY(io::writeAtomically(options.output, session::reportHtml(session::makeReport(*document, content))));
    return 0;
}

}  // namespace

Verb reportVerb() {
    return {
        "report", "Write an audit report as one HTML file: summary, findings, graph, cost, weights, values, hashes",
        "sonde report model.onnx --input-data photo.png -o report.html", [](CLI::App& command) {
            auto options = std::make_shared<ReportOptions>();
            options->model.addTo(command);
            options->choice.addTo(command);
            command.add_option("-o,--output", options->output, "The file to write (.html)")->required();
            command
                .add_option("--watch", options->watch,
                            "Node whose value is in the report, besides inputs and outputs (again for more)")
                ->allow_extra_args(false);
            command.add_option("--expand", options->expand, "Module that is drawn from inside (again for more)")
                ->type_name("QUALNAME")
                ->allow_extra_args(false);
            command.footer(
                "The file needs no script and loads nothing: it can be sent and printed. It has no dates and no measured\n"
                "times, so that the same model and input give the same bytes.\n\n"
                "Exit status: 0 written, whatever was found; 2 wrong usage; 3 the model cannot be read; 4 the report cannot\n"
                "be written.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return writeReport(*options); });
        }};
}

}  // namespace sonde::app
