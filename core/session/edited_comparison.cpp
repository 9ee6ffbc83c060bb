#include "core/session/edited_comparison.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/analysis/match.h"
#include "core/analysis/measured_runs.h"
#include "core/analysis/paired_runs.h"
#include "core/base/count_text.h"
#include "core/document/reference.h"
#include "core/session/edits/edit_count.h"
#include "core/session/edits/edited_model.h"

namespace sonde::session {

using analysis::MeasuredRun;
using analysis::RunDifferences;
using document::Document;

namespace {

bool isValuesFile(const std::string& path) {
    std::string suffix = std::filesystem::path(path).extension().string();
    std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return std::tolower(c); });
    return suffix == ".npz";
}

void addFirst(EditedComparison& result, const Document& edited, const RunDifferences& differences) {
    if (!result.first.empty() || !differences.firstDiverging.valid()) return;
    result.first = edited.graph->node(differences.firstDiverging).name;
}

base::Result<void> compareWithValues(EditedComparison& result, const Document& edited, const std::string& path,
                                     const analysis::Tolerances& tolerances, exec::Runner& runner,
                                     const base::WorkContext& work) {
    SONDE_ASSIGN(const auto compared, document::compareWithReference(edited, path, tolerances, runner, {}, work));
    for (const analysis::ComparedCase& one : compared.cases) {
        if (one.error && one.values.empty()) return *one.error;
        const bool isFirst = result.first.empty();
        addFirst(result, edited, analysis::differencesOf(*edited.graph, one));
        if (isFirst && !one.ok() && compared.cases.size() > 1) result.with = one.label + " of " + result.with;
        for (const analysis::ComparedValue& value : one.values) {
            ++result.compared;
            result.differing += value.ok ? 0 : 1;
            if (!value.ok && result.first.empty()) result.first = value.name;
        }
    }
    return {};
}

/// What the nodes of the model with edits are compared with: those of the model as it is, whose nodes are the first of
/// the edited one. Of an edited value it is what comes of the edits that counts, not what was there before.
std::vector<graph::NodeId> counterparts(const Session& session, const Document& edited, const Document& other) {
    std::vector<graph::NodeId> found = analysis::matchNodes(*session.document()->graph, *other.graph);
    found.resize(edited.graph->nodeCount());
    for (const Edits::Entry& entry : session.edits().all()) {
        if (!entry.counts() || entry.ready->target() == ReadyEdit::Target::Weight) continue;
        const graph::NodeId before = entry.ready->node();
        const graph::NodeId after = edited.graph->findNode(session.document()->graph->node(before).name);
        if (!after.valid() || after == before || !found[before.index()].valid()) continue;
        found[after.index()] = found[before.index()];
        found[before.index()] = {};
    }
    return found;
}

base::Result<void> compareWithModel(EditedComparison& result, const Document& edited, const std::string& path,
                                    const Session& session, exec::Runner& runner, const base::WorkContext& work) {
    SONDE_ASSIGN(const auto other, document::open(path, {}, work));
    // What the other model is given are the inputs after edits, so that those alone are no difference.
    SONDE_ASSIGN(const std::vector<tensor::Value> given, session.edits().inputs(session.runs().last().inputs, work));
    const MeasuredRun own{edited.graph, session.runs().last().inputs};
    const MeasuredRun reference{other->graph, inputsFor(*other->graph, {edited.graph, given})};
    SONDE_ASSIGN(const RunDifferences found,
                 analysis::comparePairedRuns(own, reference, counterparts(session, edited, *other),
                                             session.comparison().tolerances(), runner, work, analysis::kHeldBytes));
    if (found.error) return *found.error;
    result.compared = found.compared;
    result.differing = found.differing;
    addFirst(result, edited, found);
    return {};
}

}  // namespace

base::Result<EditedComparison> compareEdited(const Session& session, const std::string& path,
                                             const base::WorkContext& work) {
    EditedComparison result;
    result.edits = countingEdits(session.edits());
    SONDE_ASSIGN(const auto edited, editedDocument(*session.document(), session.edits()));
    const std::string title = std::filesystem::path(path).filename().string();
    result.with = title;
    exec::Runner runner(session.runs().settings().threads);
    const auto done = isValuesFile(path)
                          ? compareWithValues(result, *edited, path, session.comparison().tolerances(), runner, work)
                          : compareWithModel(result, *edited, path, session, runner, work);
    if (!done) return done.error();
    const auto count = [](std::size_t number) { return base::countText(static_cast<std::int64_t>(number)); };
    const std::string values = count(result.compared) + (result.compared == 1 ? " value" : " values");
    result.summary = result.differing == 0 ? values + (result.compared == 1 ? " agrees" : " agree") + " with " + title
                                           : count(result.differing) + " of " + values +
                                                 (result.differing == 1 ? " differs" : " differ") + " from " + title;
    result.summary += " (with " + editCountText(result.edits) + ")";
    return result;
}

}  // namespace sonde::session
