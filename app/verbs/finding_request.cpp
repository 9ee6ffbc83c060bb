#include "app/verbs/finding_request.h"

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

#include "app/interrupt.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/document/session_model.h"
#include "core/session/sweep/sweep_inputs.h"

namespace sonde::app {

void FindingChoice::addTo(CLI::App& command) {
    inputs.addTo(command);
    command.add_option("--accept", accepted, "Findings that are accepted, with reasons (JSON)");
    addSeed(command, inputs.seed, "Seed of random inputs and operators");
    addThreads(command, threads);
}

namespace {

/// Of an archive by itself all cases, as a sweep has them; else what the text gives.
base::Result<std::vector<std::vector<tensor::Value>>> casesFor(const document::Document& document,
                                                               const InputChoice& choice) {
    const session::InputData data{choice.spec, choice.image, seedOf(document, choice)};
    SONDE_ASSIGN(std::vector<std::vector<tensor::Value>> values,
                 session::readArchiveCases(document, data, commandLineWork()));
    if (!values.empty()) return values;
    SONDE_ASSIGN(std::vector<io::InputCase> cases, inputsFor(document, choice));
    for (io::InputCase& one : cases) values.push_back(std::move(one.values));
    return values;
}

}  // namespace

base::Result<session::FindingRequest> findingRequest(const std::shared_ptr<const document::Document>& document,
                                                     const FindingChoice& choice) {
    session::FindingRequest request;
    request.seed = seedOf(*document, choice.inputs);
    request.threads = choice.threads;
    if (document->session) {
        SONDE_ASSIGN(request.acceptances, session::acceptancesOf(document->session->file));
        session::Session session(commandLineWork());
        showIn(session, document);
        request.acceptedValues = session.problems().accepted();
    }
    if (!choice.accepted.empty()) {
        auto accepted = session::readAcceptances(choice.accepted);
        if (!accepted) {
            // The model can be read: what is wrong is the argument, as with --labels of `sonde sweep`.
            base::Error error = accepted.error();
            if (error.kind == base::ErrorKind::Unreadable) error.kind = base::ErrorKind::Usage;
            return error;
        }
        request.acceptances.insert(request.acceptances.begin(), accepted->begin(), accepted->end());
    }
    auto cases = casesFor(*document, choice.inputs);
    if (!cases && !choice.inputs.spec.empty()) return cases.error();
    if (!cases) request.withoutCases = cases.error().what + " (--input-data gives values)";
    else request.cases = std::move(*cases);
    return request;
}

}  // namespace sonde::app
