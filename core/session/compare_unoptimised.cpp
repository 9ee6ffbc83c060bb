// The part of Comparison that compares a dump with its unoptimised graph.

#include "core/session/comparison.h"

namespace sonde::session {

void Comparison::withUnoptimised(const PlainFormMaker& form) {
    tellStarted();
    if (!m_document || !form) return;
    m_again = [this, form] { withUnoptimised(form); };
    m_followsRuns = true;
    whenRun([this, form] {
        begin("the unoptimised graph",
              [document = m_document, given = m_runs.last().inputs, edits = countedEdits(), form,
               tolerances = m_tolerances, threads = m_runs.settings().threads](const base::WorkContext& work) {
                  ComparisonOutcome outcome;
                  auto inputs = edits.edited(given, work);
                  if (!inputs) {
                      outcome.error = std::move(inputs).error();
                      return outcome;
                  }
                  const analysis::MeasuredRun actual{document->graph, std::move(*inputs), edits.values};
                  auto found = differencesFromUnoptimised(*document, actual, form, tolerances, threads, work);
                  if (!found) outcome.error = std::move(found).error();
                  else outcome.differences = std::make_shared<const analysis::RunDifferences>(std::move(*found));
                  outcome.inputValues = given;
                  return outcome;
              });
    });
}

}  // namespace sonde::session
