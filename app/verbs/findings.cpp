#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/finding_request.h"
#include "app/verbs/options.h"

namespace sonde::app {

namespace {

struct FindingsOptions {
    ModelOptions model;
    FindingChoice choice;
    bool json = false;
    bool list = false;
};

base::Result<int> printFindings(FindingsOptions& options) {
    if (options.list) {
        fmt::print("{}", options.json ? session::findingListJson() : session::findingListText());
        return 0;
    }
    if (options.model.model.empty()) return base::usageError("MODEL is missing", {}, "or give --list");
    SONDE_ASSIGN(const auto document, options.model.load(options.choice.inputs.spec));
    SONDE_ASSIGN(const session::FindingRequest request, findingRequest(document, options.choice));
    session::ModelInfoRequest aboutModel;
    aboutModel.hashes = false;
    SONDE_ASSIGN(const session::ModelInfo info, session::modelInfo(*document, aboutModel, commandLineWork()));
    SONDE_ASSIGN(const session::FindingReport report,
                 session::findFindings(*document, info, request, commandLineWork()));
    printNotes(report.notes);
    fmt::print("{}", options.json ? report.json() : report.text());
    return report.count(base::Severity::Error) > 0 ? 1 : 0;
}

}  // namespace

Verb findingsVerb() {
    return {
        "findings", "List what an auditor must know of a model: faults, losses, leftovers",
        "sonde findings model.onnx --input-data photo.png --accept accepted.json", [](CLI::App& command) {
            auto options = std::make_shared<FindingsOptions>();
            options->model.addTo(command);
            options->model.needsValues = false;
            command.get_option("MODEL")->required(false);
            options->choice.addTo(command);
            command.add_flag("--list", options->list,
                             "Print the ids of all findings, whether they need a run, and what they are");
            command.add_flag("--json", options->json, "Print one JSON object");
            command.footer(
                "The model runs once on each input, and values are looked at while it runs: none is kept. Where its batch\n"
                "is open, it runs twice more, on one sample and on two. Without values for its inputs the findings about\n"
                "values are left out, which is told.\n\n"
                "FILE of --accept: {\"format\":\"sonde-accepted\",\"version\":1,\"accepted\":[\n"
                "  {\"id\":\"dead-unit\",\"nodes\":[\"relu_3\"],\"reason\":\"pruned on purpose\"}]}\n"
                "Without nodes every finding of the id is accepted. A session file (.sonde) has the same list under\n"
                "\"accepted_findings\".\n\n"
                "Exit status: 0 done; 1 there is a finding of severity error that is not accepted; 2 wrong usage; 3 the\n"
                "model cannot be read.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return printFindings(*options); });
        }};
}

}  // namespace sonde::app
