#include "core/session/problem_search.h"

#include <algorithm>
#include <iterator>

#include "core/analysis/divergence.h"

namespace sonde::session {

using analysis::Problem;

namespace {

using ProblemsOfCases = std::vector<std::pair<std::string, std::vector<Problem>>>;

base::Result<void> runCase(Session& session, const std::string& label, const std::vector<tensor::Value>& inputs,
                           ProblemsOfCases& found) {
    session.runs().giveValues(inputs);
    session.runs().run();
    const Run& run = session.runs().last();
    // What no operation is to blame for (inputs that do not fit, Ctrl+C) is no problem of a node.
    if (session.runs().refusal()) return *session.runs().refusal();
    if (run.error && (!run.recording || run.recording->failures.empty())) return *run.error;
    found.emplace_back(label, session.problems().all());
    return {};
}

std::map<std::string, tensor::Tensor> givenTo(const document::Document& document, const ProblemSearch& search) {
    std::map<std::string, tensor::Tensor> given;
    if (search.cases.empty()) return given;
    const std::vector<tensor::Value>& values = search.cases.front().values;
    for (std::size_t i = 0; i < std::min(document.inputs.size(), values.size()); ++i)
        if (const auto value = analysis::asTensor(values[i])) given.emplace("in." + document.inputs[i].name, *value);
    return given;
}

}  // namespace

base::Result<ProblemReport> findAllProblems(Session& session, const ProblemSearch& search) {
    const document::Document& document = *session.document();
    ProblemReport report{document.title, document.graph, {}};
    ProblemsOfCases found;
    std::vector<Problem> divergence;
    if (search.reference.empty()) {
        for (std::size_t i = 0; i < search.cases.size(); ++i)
            SONDE_TRY(runCase(session, "case " + std::to_string(i), search.cases[i].values, found));
    } else {
        SONDE_ASSIGN(const auto compared, session.check(search.reference, givenTo(document, search)));
        SONDE_ASSIGN(divergence, session.findDivergence(compared));
        for (const analysis::ComparedCase& one : compared.cases)
            if (one.inputs.size() == document.graph->inputs().size())
                SONDE_TRY(runCase(session, one.label, one.inputs, found));
    }
    report.problems = analysis::joinCases(*document.graph, found);
    std::ranges::move(divergence, std::back_inserter(report.problems));
    analysis::sortProblems(*document.graph, report.problems);
    return report;
}

}  // namespace sonde::session
