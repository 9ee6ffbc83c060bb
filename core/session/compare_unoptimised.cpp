// The part of Comparison that compares a dump with its unoptimised graph.

#include "core/session/comparison.h"

namespace sonde::session {

void Comparison::withUnoptimised(const PlainFormMaker& form) {
    tellStarted();
    if (!m_document || !form) return;
    m_again = [this, form] { withUnoptimised(form); };
    m_followsRuns = true;
    whenRun([this, form] {
        const analysis::MeasuredRun actual{m_document->graph, m_runs.last().inputs};
        begin("the unoptimised graph", [document = m_document, actual, form, tolerances = m_tolerances,
                                        threads = m_runs.settings().threads](const base::WorkContext& work) {
            ComparisonOutcome outcome;
            auto found = differencesFromUnoptimised(*document, actual, form, tolerances, threads, work);
            if (!found) outcome.error = std::move(found).error();
            else outcome.differences = std::make_shared<const analysis::RunDifferences>(std::move(*found));
            outcome.inputValues = actual.inputs;
            return outcome;
        });
    });
}

}  // namespace sonde::session
