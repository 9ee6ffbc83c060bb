#include "app/verbs/finding_request.h"

#include <CLI/CLI.hpp>

#include "app/interrupt.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/document/session_model.h"

namespace sonde::app {

void FindingChoice::addTo(CLI::App& command) {
    inputs.addTo(command);
    command.add_option("--accept", accepted, "Findings that are accepted, with reasons (JSON)");
    command.add_option("--seed", inputs.seed, "Seed of random inputs and operators");
    addThreads(command, threads);
}

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
    auto cases = inputsFor(*document, choice.inputs);
    if (!cases && !choice.inputs.spec.empty()) return cases.error();
    if (!cases) request.withoutCases = cases.error().what + " (--input-data gives values)";
    else
        for (io::InputCase& one : *cases) request.cases.push_back(std::move(one.values));
    return request;
}

}  // namespace sonde::app
