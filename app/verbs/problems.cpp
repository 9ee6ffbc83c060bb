#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/tolerances.h"
#include "app/verbs/validators.h"
#include "core/session/problem_search.h"

namespace sonde::app {

namespace {

struct ProblemsOptions {
    ModelOptions model;
    InputChoice inputs;
    std::string reference;
    std::vector<std::string> accepted;
    std::string junit;
    ToleranceChoice tolerances;
    std::size_t threads = 0;
    bool json = false;
};

base::Result<int> findProblems(ProblemsOptions& options) {
    VerbFiles files{{{"--junit", options.junit}}};
    if (!options.reference.empty()) files.inputData = {options.reference};
    const std::string& example = options.inputs.spec.empty() ? options.reference : options.inputs.spec;
    SONDE_ASSIGN(const auto document, options.model.load(example, files));
    session::ProblemSearch search{{}, options.reference};
    if (options.reference.empty() || !options.inputs.spec.empty()) {
        SONDE_ASSIGN(search.cases, inputsFor(*document, options.inputs));
    }
    SONDE_ASSIGN(auto accepted, nodesFor(*document, options.accepted));
    session::Session session(commandLineWork());
    showIn(session, document);
    for (const graph::NodeId node : session.problems().accepted()) accepted.push_back(node);
    session.problems().restoreAccepted(std::move(accepted));
    session.runs().setSettings({options.threads, seedOf(*document, options.inputs)});
    if (options.tolerances.isGiven() || !document->session)
        session.comparison().setTolerances(options.tolerances.tolerances());
    SONDE_ASSIGN(const session::ProblemReport report, session::findAllProblems(session, search));
    fmt::print("{}", options.json ? report.json() : report.text());
    if (!options.junit.empty()) SONDE_TRY(session::writeText(report.junit(), options.junit));
    return report.errorCount() > 0 ? 1 : 0;
}

}  // namespace

Verb problemsVerb() {
    return {
        "problems",
        "Run a model and list failures, NaN and infinity by the nodes that produced them first; with a reference also where values depart from it",
        "sonde problems model.onnx reference.npz --json", [](CLI::App& command) {
            auto options = std::make_shared<ProblemsOptions>();
            options->model.addTo(command);
            command.add_option("REFERENCE", options->reference,
                               "Reference values (.npz): each of its cases is run and compared");
            options->inputs.addTo(command);
            command
                .add_option("--accept", options->accepted,
                            "Node whose NaN and infinity are intended, as in masks (again for more)")
                ->allow_extra_args(false);
            options->tolerances.addTo(command);
            command.add_flag("--json", options->json, "Print one JSON object");
            command.add_option("--junit", options->junit, "Also write the problems as JUnit XML");
            addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
            addThreads(command, options->threads);
            return std::function<base::Result<int>()>([options] { return findProblems(*options); });
        }};
}

}  // namespace sonde::app
