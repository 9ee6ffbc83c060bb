#include "core/session/comparison.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/ort/work_folder.h"
#include "core/session/edits/edit_count.h"

namespace sonde::session {

using analysis::NodeDifference;
using graph::NodeId;

// What is known of a comparison, and when it becomes stale. compare_runs.cpp makes it.

std::vector<InputSpec> Comparison::specs() const {
    std::vector<InputSpec> specs;
    for (const Input& input : m_inputSource.all()) specs.push_back(input.spec);
    return specs;
}

std::string Comparison::referenceText() const { return m_shownCase.empty() ? m_title : m_shownCase + " of " + m_title; }

namespace {

std::string countOf(std::size_t number, const char* what) {
    return base::countText(static_cast<std::int64_t>(number)) + " " + what + (number == 1 ? "" : "s");
}

/// "3 of 40 values differ"
std::string differText(std::size_t differing, std::size_t compared) {
    return base::countText(static_cast<std::int64_t>(differing)) + " of " + countOf(compared, "value") +
           (differing == 1 ? " differs" : " differ");
}

}  // namespace

/// What was compared with the title, and how much of it differs.
std::string Comparison::comparedText() const {
    const auto agreeText = [](std::size_t values) { return values == 1 ? " agrees" : " agree"; };
    const bool isOther = m_known->isReferenceError;
    if (compared() == 0 && m_known->error && m_cases.compared > 0) {
        // The case that is shown failed before anything could be compared; the others have something to say.
        const std::string what = m_cases.differing > 0
                                     ? differText(m_cases.differing, m_cases.compared)
                                     : countOf(m_cases.compared, "value") + agreeText(m_cases.compared);
        return "Compared with " + m_title + ": " + what + " in " + countOf(m_cases.count - 1, "case") + "; " +
               m_shownCase + " failed";
    }
    if (compared() == 0 && m_known->error)
        return isOther ? "Nothing was compared: " + m_title + " failed first"
                       : "Nothing was compared with " + m_title + ": the run failed first";
    if (compared() == 0) return "Nothing was compared: no node has a counterpart in " + m_title;
    const std::string differ = differText(differing(), compared());
    if (m_known->error)
        return "Compared with " + m_title + (isOther ? " up to its failure: " : " up to the end of the run: ") + differ;
    if (differing() > 0) return differ + " from " + m_title;
    const bool isOfAll = m_cases.count > 1 && m_otherCases.empty();
    const std::size_t values = isOfAll ? m_cases.compared : compared();
    return countOf(values, "value") + (isOfAll ? " in " + countOf(m_cases.count, "case") : "") + agreeText(values) +
           " with " + m_title;
}

std::string Comparison::summary() const {
    std::string text = comparedText();
    std::string inputs;
    for (const NodeId node : differingInputs())
        inputs += (inputs.empty() ? "" : ", ") + m_document->graph->node(node).name;
    if (!inputs.empty()) text += ", which was run on other values of " + inputs;
    if (!m_differingCases.empty()) text += (differing() > 0 || m_known->error ? "; " : ", but ") + m_differingCases;
    if (!m_tolerances.fixed && !hasDefaultTolerances())
        text += " (tolerance " + base::roundedText(m_tolerances.float32, 6) + ")";
    if (m_editCount > 0) text += " (with " + editCountText(m_editCount) + ")";
    return text;
}

std::string Comparison::remarks() const {
    if (!m_known) return {};
    std::string text = analysis::remarksOn(*m_document->graph, *m_known);
    // The window's own run says for itself why it failed.
    if (m_known->isReferenceError)
        text = m_title + " failed: " + m_known->error->what + (text.empty() ? "" : "; ") + text;
    if (m_otherCases.empty()) return text;
    return m_shownCase + " is shown; " + m_otherCases + (text.empty() ? "" : "; ") + text;
}

const NodeDifference* Comparison::lastOf(NodeId node) const {
    if (!m_known || !node.valid() || node.index() >= m_known->ofNode.size()) return nullptr;
    const auto& found = m_known->ofNode[node.index()];
    return found ? &*found : nullptr;
}

const std::vector<NodeId>& Comparison::diverging() const {
    static const std::vector<NodeId> none;
    return m_known ? m_known->diverging : none;
}

const std::vector<analysis::Problem>& Comparison::divergence() const {
    static const std::vector<analysis::Problem> none;
    return isKnown() && !isStale() ? m_divergence : none;
}

const std::vector<NodeId>& Comparison::differingInputs() const {
    static const std::vector<NodeId> none;
    return m_known ? m_known->differingInputs : none;
}

std::vector<NodeId> Comparison::worstFirst() const {
    std::vector<NodeId> nodes = diverging();
    const auto worse = [this](NodeId a, NodeId b) {
        const NodeDifference &one = *lastOf(a), &other = *lastOf(b);
        if (std::isinf(one.maxAbsolute) != std::isinf(other.maxAbsolute)) return std::isinf(one.maxAbsolute);
        return one.maxAbsolute > other.maxAbsolute;
    };
    std::stable_sort(nodes.begin(), nodes.end(), worse);
    return nodes;
}

// --- tolerances -----------------------------------------------------------------------------------------------------

bool Comparison::hasDefaultTolerances() const { return m_tolerances == analysis::Tolerances(); }

bool Comparison::setTolerances(const analysis::Tolerances& tolerances) {
    if (tolerances == m_tolerances) return false;
    m_tolerances = tolerances;
    const bool isCurrent = isKnown() && !isStale();
    if (isKnown()) makeStaleForGood("the tolerance was changed");
    else m_observer.comparisonChanged();
    // One with a reference would take its inputs again, in place of what the user has given since. One that starts
    // takes these.
    if ((isCurrent || m_followsRuns) && !m_isStarting) again();
    return true;
}

// --- what happens meanwhile -----------------------------------------------------------------------------------------

void Comparison::bind(std::shared_ptr<const document::Document> document,
                      std::shared_ptr<const document::Document> whole) {
    m_document = std::move(document);
    m_whole = std::move(whole);
    if (m_document && m_document->location != m_leftModel) m_again = nullptr;
    if (m_whole && m_whole->location != m_leftFile) m_references.clear();
}

/// What was compared goes with its model; should the same be opened again, it can be compared again.
void Comparison::documentLeft() {
    m_executor.abandon(Activity::Compare);
    m_leftModel = m_document ? m_document->location : std::string();
    m_leftFile = m_whole ? m_whole->location : std::string();
    m_afterRun = nullptr;
    m_title.clear();
    m_shownCase.clear();
    m_otherCases.clear();
    m_differingCases.clear();
    m_cases = {};
    m_editCount = 0;
    m_runReason.clear();
    m_lastingReason.clear();
    m_inputs.clear();
    m_specs.clear();
    m_divergence.clear();
    m_files.clear();
    if (!m_known) return;
    m_known.reset();
    m_observer.comparisonChanged();
}

void Comparison::clear() {
    m_again = nullptr;
    m_followsRuns = false;
    documentLeft();
}

void Comparison::again() {
    if (const auto again = m_again) again();
}

/// Nobody asked for it.
void Comparison::repeat() {
    const bool was = std::exchange(m_isRepeating, true);
    again();
    m_isRepeating = was;
}

void Comparison::restoreReferences(std::vector<std::string> files, bool canRepeat) {
    m_references = std::move(files);
    if (canRepeat && !m_references.empty()) m_again = [this, path = m_references.front()] { withFile(path); };
}

/// Before the others. Those that were compared with long ago are forgotten.
void Comparison::noteReference(const std::string& path) {
    if (ort::WorkFolder::holds(path)) return;  // nobody finds it again
    constexpr std::size_t kMaxNoted = 20;
    std::error_code ignored;
    const std::string noted =
        path.starts_with("zoo:") ? path : std::filesystem::absolute(path, ignored).lexically_normal().string();
    std::erase(m_references, noted);
    m_references.insert(m_references.begin(), noted);
    if (m_references.size() > kMaxNoted) m_references.resize(kMaxNoted);
}

void Comparison::checkFiles() {
    if (!isKnown()) return;
    for (const auto& file : m_files)
        if (file->hasChanged()) return makeStaleForGood(file->path().filename().string() + " changed on disk");
}

void Comparison::inputsChanged() {
    if (!isKnown() || m_afterRun) return;
    if (specs() != m_specs) makeStale("the inputs were changed");
    else if (const std::string reason = m_runs.staleReason(); !reason.empty()) makeStale(reason);
}

/// What was compared had other edits. Made again by itself it needs no run: that would take the place of the run with
/// edits that is looked at.
void Comparison::editsChanged() {
    const bool isGoingOn = m_executor.isActive(Activity::Compare);
    if ((!isKnown() && !isGoingOn) || (m_editCount == 0 && !isGoingOn && !m_edits.planned())) return;
    makeStaleForGood("the edits were changed");
    if (!m_followsEdits || m_afterRun || !m_again || !hasPresentRun()) return;
    repeat();
}

/// A run on the same inputs has the same values: what was compared holds for it. Of a run on others it is made again,
/// unless what it was compared with belongs to its own inputs.
void Comparison::runFinished() {
    if (m_runs.isRunning()) return;  // who was told of this run has begun another one
    checkFiles();
    const bool isFinished = m_runs.state() == RunState::Finished;
    if (const auto then = std::exchange(m_afterRun, nullptr)) {
        if (m_runs.last().recording && (isFinished || m_runs.state() == RunState::Failed)) return then();
        makeStale("the run did not finish");
        m_observer.comparisonChanged();
        return;
    }
    if (!isKnown()) return;
    if (isFinished && same(m_runs.last().inputs, m_inputs)) {
        m_specs = specs();
        m_runReason.clear();
        m_observer.comparisonChanged();
    } else if (isFinished && m_followsRuns) {
        tellStarted();  // the run was asked for: what is typed is meant for it
        repeat();
    } else {
        makeStale(isFinished ? "the model was run on different inputs" : "the run did not finish");
    }
}

void Comparison::makeStale(const std::string& reason) {
    if (!isKnown() || m_runReason == reason) return;
    m_runReason = reason;
    m_observer.comparisonChanged();
}

void Comparison::makeStaleForGood(const std::string& reason) {
    if (!isKnown() || m_lastingReason == reason) return;
    m_lastingReason = reason;
    m_observer.comparisonChanged();
}

}  // namespace sonde::session
