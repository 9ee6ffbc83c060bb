#include "ui/context/model_memory.h"

#include "core/io/inputs/text_input.h"
#include "core/session/session_state.h"
#include "ui/context/canvases.h"
#include "ui/context/comparison.h"
#include "ui/context/inputs.h"
#include "ui/context/remembered.h"
#include "ui/context/runs.h"

namespace sonde::context {

/// Of expressions what is kept of them; results come with every run.
static std::vector<std::tuple<std::string, NodeId, bool>> textsOf(const session::Session& session) {
    std::vector<std::tuple<std::string, NodeId, bool>> texts;
    for (const auto& entry : session.expressionWatches().entries())
        texts.emplace_back(entry.text, entry.pin, entry.isEnabled);
    return texts;
}

void ModelMemory::keepExpressions() {
    auto now = textsOf(m_parts.session);
    if (now == m_expressions) return;
    m_expressions = std::move(now);
    keep();
}

void ModelMemory::recallAll() {
    const auto& [session, model, navigation, canvases, inputs, runs, comparison] = m_parts;
    runs.reset();
    navigation.reset();
    for (const int canvas : {0, 1}) canvases.at(canvas).reset();
    if (!model.isOpen()) return inputs.reset();
    Remembered state = recall(*model.document());
    session.restorePoints(std::move(state.watched), std::move(state.ends));
    session.restoreWatchGroups(std::move(state.groups));
    session.expressionWatches().restore(state.expressionWatches);
    m_expressions = textsOf(session);
    session.restoreNotes(state.keptNotes);
    session.problems().restoreAccepted(std::move(state.accepted));
    comparison.restoreTolerance(state.tolerance);
    std::vector<Selection> bookmarks;
    for (const NodeId node : state.bookmarkedNodes) bookmarks.push_back(navigation.selectionOf(node));
    for (const ScopeId scope : state.bookmarkedScopes) bookmarks.push_back(navigation.selectionOf(scope));
    navigation.reset(std::move(bookmarks));
    canvases.at(0).reset(state.view, state.place);
    canvases.at(1).reset(state.secondView ? state.secondView : state.view, state.secondPlace);
    for (const auto& [name, spec] : state.inputs) session.inputs().restore(name.toStdString(), spec.plain());
    const bool isOfFile = recallFile();
    inputs.reset();
    // Tells of it, and what is told is kept: last, when all else is there. Those of a session file are there already.
    if (!isOfFile) (void)session.debugger().restoreBreakpoints(state.breakpoints);
}

bool ModelMemory::recallFile() {
    const auto& document = m_parts.model.document();
    if (!document->session || m_ofFile.lock() == document) return false;
    m_ofFile = document;
    session::Session& session = m_parts.session;
    for (const std::string& lost : session::restoreSession(session)) Q_EMIT notRestored(QString::fromStdString(lost));
    const auto rows = session::sessionInputs(*document);
    if (!rows) Q_EMIT inputsRefused(rows.error());
    else
        for (const auto& [name, spec] : *rows) session.inputs().restore(name, spec);
    if (const auto withheld = session.edits().withheldFile(); rows && withheld)
        Q_EMIT inputsRefused(base::unreadable("an edit loads a file outside of it: " + *withheld));
    const std::map<std::string, std::string>& texts = document->session->file.view;
    if (const auto split = texts.find(kSplitKey); split != texts.end())
        m_parts.canvases.restoreSplit(QString::fromStdString(split->second));
    const auto view = viewOfTexts(*document->graph, texts, 0);
    if (!view) return true;
    const auto second = viewOfTexts(*document->graph, texts, 1);
    m_parts.canvases.at(0).reset(view);
    m_parts.canvases.at(1).reset(second ? second : view);
    return true;
}

void ModelMemory::keep() {
    const auto& [session, model, navigation, canvases, inputs, runs, comparison] = m_parts;
    if (!model.isOpen()) return;
    Remembered state;
    state.watched = session.points().watched;
    state.ends = session.points().ends;
    state.groups = session.points().groups.all();
    for (const auto& entry : session.expressionWatches().entries())
        state.expressions.push_back({0, entry.text, entry.pin, entry.isEnabled, {}, {}, entry.missingPin});
    state.breakpoints = session.debugger().savedBreakpoints();
    state.notes = session.notes();
    // What the first picture of a model opens is the canvas's to say.
    if (!canvases.at(0).isFirst()) state.view = canvases.at(0).view();
    if (!canvases.at(1).isFirst()) state.secondView = canvases.at(1).view();
    state.accepted = session.problems().accepted();
    state.tolerance = comparison.keptTolerance();
    for (const Selection& bookmark : navigation.bookmarks()) {
        if (bookmark.node.valid()) state.bookmarkedNodes.push_back(bookmark.node);
        else if (bookmark.scope.valid()) state.bookmarkedScopes.push_back(bookmark.scope);
    }
    for (const session::Input& input : session.inputs().all()) {
        // What goes with the text of another input follows it again.
        if (input.isDefault && io::givesText(input.spec.source)) continue;
        // What a comparison gave is not the user's choice.
        const session::InputSpec& kept = input.before ? *input.before : input.spec;
        if (!input.before || !kept.source.empty())
            state.inputs.emplace_back(QString::fromStdString(input.name), InputSpec::from(kept));
    }
    remember(model.document(), std::move(state));
}

}  // namespace sonde::context
