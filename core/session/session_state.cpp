#include "core/session/session_state.h"

#include <algorithm>
#include <functional>

#include "core/io/image/image.h"
#include "core/io/inputs/text_item.h"
#include "core/session/outputs/choice.h"

namespace sonde::session {

namespace fs = std::filesystem;
using io::SessionFile;

namespace {

SessionFile::Node storedNode(const NodeIdentity& identity) {
    return {identity.name, identity.qualname, identity.text()};
}

NodeIdentity identityOf(const SessionFile::Node& node) {
    NodeIdentity identity = node.identity.empty() ? NodeIdentity() : NodeIdentity::of(node.identity);
    // What can be read in the file counts.
    if (identity.name != node.name || identity.qualname != node.qualname) identity = {};
    identity.name = node.name;
    identity.qualname = node.qualname;
    return identity;
}

template <typename T, typename Function>
auto mapped(const std::vector<T>& items, Function function) {
    std::vector<decltype(function(items.front()))> all;
    all.reserve(items.size());
    for (const T& item : items) all.push_back(function(item));
    return all;
}

/// Each item of an input specification without its input's name, in place of it what `change` makes of it.
std::string changedItems(const document::Document& document, const std::string& spec,
                         const std::function<std::string(const std::string&)>& change) {
    if (spec.starts_with('@')) return change(spec);
    std::string text;
    for (const std::string_view each : io::splitSpecification(spec)) {
        const std::string item(each);
        std::size_t name = 0;  // the longest that fits, with its colon
        for (const document::NamedNode& input : document.inputs)
            if (item.size() > input.name.size() && item.starts_with(input.name) && item[input.name.size()] == ':')
                name = std::max(name, input.name.size() + 1);
        text += (text.empty() ? "" : ";") + item.substr(0, name) + change(item.substr(name));
    }
    return text;
}

/// What the file has for an input whose own file was not read, because nobody agreed to read outside of the folder, and
/// that a run was given random numbers for instead. Else null. Of an input that something was chosen for.
const SessionFile::Input* withheldRow(const Session& session, const SessionFile& file, const Input& input) {
    const auto& opened = session.document()->session;
    const std::string& source = input.chosen()->source;
    if (!opened || (!source.starts_with("#rand") && !source.starts_with("#zeros"))) return nullptr;
    const auto stored = std::ranges::find(opened->file.inputs, input.name, &SessionFile::Input::name);
    if (stored == opened->file.inputs.end() || document::checkItem(*opened, stored->source)) return nullptr;
    // As it is named from the folder that the file is written to.
    const auto row = std::ranges::find(file.inputs, input.name, &SessionFile::Input::name);
    return row == file.inputs.end() ? nullptr : &*row;
}

/// What was given for the rows; if nothing was, what the file has.
void storeInputs(const Session& session, const fs::path& folder, SessionFile& file) {
    std::vector<SessionFile::Input> rows;
    for (const Input& input : session.inputs().all()) {
        const InputSpec* const chosen = input.chosen();
        if (!chosen) continue;
        if (const SessionFile::Input* withheld = withheldRow(session, file, input)) {
            rows.push_back(*withheld);
            continue;
        }
        rows.push_back(
            {input.name, document::storedItem(chosen->source, folder), chosen->image.preset, chosen->image.resize});
    }
    if (!rows.empty()) file.inputData.clear(), file.inputs = std::move(rows);
    file.seed = session.runs().settings().seed;
}

void storePoints(const Session& session, const graph::InternalGraph& graph, SessionFile& file) {
    file.watched = mapped(session.points().watched.identities(graph), storedNode);
    file.ends = mapped(session.points().ends.identities(graph), storedNode);
    file.groups = mapped(session.points().groups.all(), [](const WatchGroup& group) {
        return SessionFile::Group{std::string(name(group.kind)), group.text, group.call};
    });
    file.policy.reset();
    if (const WatchPolicy& policy = session.runs().policy(); !(policy == WatchPolicy()))
        file.policy = SessionFile::Policy{std::string(name(policy.keep)), policy.budgetBytes,
                                          static_cast<std::uint64_t>(policy.sampleElements)};
    file.expressions = mapped(session.expressionWatches().all(), [](const ExpressionWatch& watch) {
        SessionFile::Expression stored{watch.text, {}, watch.isEnabled};
        if (watch.pin) stored.pin = storedNode(*watch.pin);
        return stored;
    });
    file.notes = mapped(session.notes().all(graph), [](const Notes::Kept& note) {
        return SessionFile::Note{storedNode(note.identity), note.text};
    });
}

/// Files of edits are in the session's folder, or by their whole path.
void storeEdits(const Session& session, const fs::path& folder, SessionFile& file) {
    file.edits = mapped(session.edits().all(), [&](const Edits::Entry& entry) {
        const Edit& edit = entry.edit;
        const bool isFile = edit.kind == Edit::Kind::File;
        return SessionFile::Edit{storedNode(edit.target),
                                 edit.slice,
                                 std::string(name(edit.kind)),
                                 isFile ? document::storedPath(edit.text, folder) : edit.text,
                                 edit.number,
                                 edit.seed,
                                 edit.axis,
                                 edit.indices,
                                 edit.parts,
                                 edit.isEnabled};
    });
}

void restoreEdits(Session& session, const document::OpenedSession& opened, std::vector<std::string>& lost) {
    std::vector<Edit> edits;
    for (const SessionFile::Edit& stored : opened.file.edits) {
        const auto kind = editKind(stored.operation);
        if (!kind) {
            lost.push_back("edit of '" + stored.node.name + "': there is no operation '" + stored.operation + "'");
            continue;
        }
        Edit edit{identityOf(stored.node),
                  stored.slice,
                  *kind,
                  stored.text,
                  stored.number,
                  stored.seed,
                  stored.axis,
                  stored.indices,
                  stored.parts,
                  stored.isEnabled};
        if (*kind == Edit::Kind::File) {
            const fs::path path =
                fs::path(stored.text).is_absolute() ? fs::path(stored.text) : opened.folder / stored.text;
            edit.text = path.string();
        }
        edits.push_back(std::move(edit));
    }
    for (std::string& line : session.edits().restore(std::move(edits))) lost.push_back(std::move(line));
}

void storeBreakpoints(const Session& session, SessionFile& file) {
    file.breakpoints = mapped(session.debugger().savedBreakpoints(), [](const debug::SavedBreakpoint& point) {
        return SessionFile::Breakpoint{point.where,     point.expression, point.isLog,
                                       point.isEnabled, point.qualname,   point.ignored};
    });
}

bool isBuiltIn(const std::string& reference) { return reference.starts_with("zoo:"); }

void storeComparison(const Session& session, const fs::path& folder, SessionFile& file) {
    file.references = mapped(session.comparison().references(), [&](const std::string& reference) {
        return isBuiltIn(reference) ? reference : document::storedPath(reference, folder);
    });
    const analysis::Tolerances& tolerances = session.comparison().tolerances();
    file.tolerances = {};
    if (tolerances.float32 != analysis::Tolerances::kFloat32) file.tolerances.float32 = tolerances.float32;
    if (!tolerances.fixed) return;
    file.tolerances.relative = tolerances.fixed->relative;
    file.tolerances.absolute = tolerances.fixed->absolute;
}

void restoreComparison(Session& session, const SessionFile& file) {
    analysis::Tolerances tolerances;
    if (file.tolerances.float32) tolerances.float32 = *file.tolerances.float32;
    if (file.tolerances.relative || file.tolerances.absolute) {
        tolerances.fixed.emplace();
        if (file.tolerances.relative) tolerances.fixed->relative = *file.tolerances.relative;
        if (file.tolerances.absolute) tolerances.fixed->absolute = *file.tolerances.absolute;
        tolerances.integers = analysis::Tolerance{0, file.tolerances.absolute.value_or(0)};
    }
    session.comparison().restoreTolerances(tolerances);
}

/// With the last one it can be compared again, if the session may read it.
void restoreReferences(Session& session, const document::OpenedSession& opened, std::vector<std::string>& lost) {
    const std::vector<std::string>& stored = opened.file.references;
    std::vector<std::string> files = mapped(stored, [&](const std::string& reference) {
        return isBuiltIn(reference) ? reference : (opened.folder / reference).lexically_normal().string();
    });
    const bool mayRead = files.empty() || isBuiltIn(files.front()) || opened.allowsOutside ||
                         document::isInFolder(files.front(), opened.folder);
    session.comparison().restoreReferences(std::move(files), mayRead);
    if (!mayRead)
        lost.push_back("comparison with '" + stored.front() + "': the file is outside of the session's folder");
}

void restoreBreakpoints(Session& session, const SessionFile& file, std::vector<std::string>& lost) {
    const auto saved = mapped(file.breakpoints, [](const SessionFile::Breakpoint& point) {
        return debug::SavedBreakpoint{point.where, point.qualname,  point.expression,
                                      point.isLog, point.isEnabled, static_cast<std::size_t>(point.ignored)};
    });
    for (const base::Error& error : session.debugger().restoreBreakpoints(saved))
        lost.push_back("breakpoint" + (error.where.empty() ? std::string() : " '" + error.where + "'") + ": " +
                       error.what);
    for (const debug::Breakpoint& point : session.debugger().breakpoints().all())
        if (point.isMissing) lost.push_back("breakpoint '" + point.text + "': the model has nothing like it");
}

/// What is shown of the outputs is read where they are shown; what is wrong with it is told at once.
void tellRefusedOutputs(const SessionFile& file, std::vector<std::string>& lost) {
    if (const auto choices = outputs::choicesOf(file); !choices) lost.push_back(choices.error().what);
}

void restoreWatches(Session& session, const SessionFile& file, std::vector<std::string>& lost) {
    std::vector<WatchGroup> groups;
    for (const SessionFile::Group& group : file.groups) {
        if (const auto kind = watchGroupKind(group.kind)) groups.push_back({*kind, group.text, group.call});
        else lost.push_back("watched group '" + group.text + "': there is no kind '" + group.kind + "'");
    }
    session.restoreWatchGroups(std::move(groups));
    for (const WatchGroups::Entry& entry : session.points().groups.entries())
        if (entry.error) lost.push_back("watched group '" + entry.group.text + "': " + entry.error->what);
    if (file.policy) {
        if (const auto keep = watchKeep(file.policy->keep))
            session.runs().setPolicy({*keep, file.policy->budgetBytes, static_cast<std::int64_t>(file.policy->sample)});
        else lost.push_back("watch_policy.keep: there is no '" + file.policy->keep + "'");
    }
    session.expressionWatches().restore(mapped(file.expressions, [](const SessionFile::Expression& stored) {
        ExpressionWatch watch{stored.text, {}, stored.isEnabled};
        if (stored.pin) watch.pin = identityOf(*stored.pin);
        return watch;
    }));
}

/// A row for each input; where the file has input data of the command line, what that says of it.
std::vector<SessionFile::Input> rowsOf(const document::Document& document, const SessionFile& file) {
    if (file.inputData.empty()) return file.inputs;
    std::vector<SessionFile::Input> rows;
    for (const std::string_view each : io::splitSpecification(file.inputData)) {
        const std::string item(each);
        const document::NamedNode* named = nullptr;
        for (const document::NamedNode& input : document.inputs)
            if (item.starts_with(input.name + ':') && (!named || input.name.size() > named->name.size()))
                named = &input;
        if (named) rows.push_back({named->name, item.substr(named->name.size() + 1), file.inputPreset, true});
        else
            for (const document::NamedNode& input : document.inputs)
                rows.push_back({input.name, item, file.inputPreset, true});
    }
    return rows;
}

}  // namespace

SessionFile sessionFileOf(const Session& session, const fs::path& folder) {
    const graph::InternalGraph& graph = *session.document()->graph;
    SessionFile file = session.fileBase();
    const std::optional<fs::path>& before = session.fileFolder();
    const auto moved = [&](const std::string& item) {
        return document::storedItem(before ? document::itemOf(item, *before) : item, folder);
    };
    for (SessionFile::Input& input : file.inputs) input.source = moved(input.source);
    if (std::string& other = file.compared.model; !other.empty() && !isBuiltIn(other))
        other = document::storedPath((before.value_or(fs::path()) / other).lexically_normal().string(), folder);
    outputs::moveChoices(file, before, folder);
    if (!file.inputData.empty()) file.inputData = changedItems(*session.document(), file.inputData, moved);
    storeInputs(session, folder, file);
    storePoints(session, graph, file);
    storeBreakpoints(session, file);
    storeEdits(session, folder, file);
    storeComparison(session, folder, file);
    file.accepted.clear();
    if (const auto& accepted = session.problems().accepted(); !accepted.empty()) {
        const IdentityIndex index(graph);
        for (const graph::NodeId node : accepted) file.accepted.push_back(storedNode(index.of(node)));
    }
    return file;
}

base::Result<void> saveSession(const Session& session, const fs::path& path) {
    if (!session.document()) return base::usageError("no model is open");
    std::error_code error;
    const fs::path folder = fs::absolute(path, error).lexically_normal().parent_path();
    SessionFile file = sessionFileOf(session, folder);
    SONDE_ASSIGN(file.model, document::sessionModelOf(*session.whole(), folder));
    return io::writeSession(path, file);
}

std::vector<std::string> restoreSession(Session& session) {
    std::vector<std::string> lost;
    const auto& document = session.document();
    if (!document || !document->session) return lost;
    const SessionFile& file = document->session->file;
    session.setFileBase(file, document->session->folder);
    session.restorePoints(mapped(file.watched, identityOf), mapped(file.ends, identityOf));
    restoreWatches(session, file, lost);
    session.restoreNotes(mapped(file.notes, [](const SessionFile::Note& note) {
        return Notes::Kept{identityOf(note.node), note.text};
    }));
    if (!file.accepted.empty()) {
        const IdentityIndex index(*document->graph);
        std::vector<graph::NodeId> accepted;
        for (const SessionFile::Node& node : file.accepted) {
            if (const auto found = index.find(identityOf(node)); found.node.valid()) accepted.push_back(found.node);
            else lost.push_back("accepted node '" + node.name + "': the model has none like it");
        }
        session.problems().restoreAccepted(std::move(accepted));
    }
    restoreComparison(session, file);
    restoreReferences(session, *document->session, lost);
    restoreEdits(session, *document->session, lost);
    RunSettings settings = session.runs().settings();
    settings.seed = file.seed;
    session.runs().setSettings(settings);
    restoreBreakpoints(session, file, lost);
    tellRefusedOutputs(file, lost);
    for (const NodeIdentity& missing : session.points().watched.missing())
        lost.push_back("watch point '" + missing.name + "': the model has no node like it");
    for (const NodeIdentity& missing : session.points().ends.missing())
        lost.push_back("end point '" + missing.name + "': the model has no node like it");
    return lost;
}

base::Result<std::vector<std::pair<std::string, InputSpec>>> sessionInputs(const document::Document& document) {
    std::vector<std::pair<std::string, InputSpec>> rows;
    if (!document.session) return rows;
    const document::OpenedSession& opened = *document.session;
    for (const SessionFile::Input& input : rowsOf(document, opened.file)) {
        SONDE_TRY(document::checkItem(opened, input.source));
        if (!io::findImagePreset(input.preset))
            return base::unreadable("there is no conversion of images '" + input.preset + "'", opened.path.string());
        InputSpec spec{document::itemOf(input.source, opened.folder), {input.resize, input.preset}};
        // As one text of several inputs a ';' would end it.
        if (spec.isFile() && spec.source.find(';') != std::string::npos)
            return base::unreadable("the name of a file contains ';': " + input.source, opened.path.string());
        rows.emplace_back(input.name, std::move(spec));
    }
    return rows;
}

base::Result<std::vector<io::InputCase>> readSessionCases(const document::Document& document,
                                                          std::optional<std::uint64_t> seed,
                                                          const base::WorkContext& work) {
    if (!document.session) return readCases(document, {{}, "bgr", seed.value_or(0)}, work);
    const document::OpenedSession& opened = *document.session;
    const SessionFile& file = opened.file;
    if (!file.inputData.empty() || file.inputs.empty()) {
        if (!io::findImagePreset(file.inputPreset))
            return base::unreadable("there is no conversion of images '" + file.inputPreset + "'",
                                    opened.path.string());
        base::Result<void> allowed;
        const std::string spec = changedItems(document, file.inputData, [&](const std::string& item) {
            if (auto checked = document::checkItem(opened, item); !checked && allowed) allowed = std::move(checked);
            return document::itemOf(item, opened.folder);
        });
        SONDE_TRY(allowed);
        return readCases(document, {spec, file.inputPreset, seed.value_or(file.seed)}, work);
    }
    SONDE_ASSIGN(const auto rows, sessionInputs(document));
    Session reading(work);
    reading.show(std::shared_ptr<const document::Document>(std::shared_ptr<const void>(), &document));
    for (const auto& [name, spec] : rows) reading.inputs().restore(name, spec);
    const ReadInputsResult read = readInputs(document, reading.inputs().all(), std::nullopt, work);
    io::InputCase one;
    one.notes = read.notes;
    for (const ReadInput& input : read.inputs) {
        if (!input.value) return input.value.error();
        if (input.conflict) return *input.conflict;
        one.values.push_back(*input.value);
        if (!input.note.empty()) one.notes.push_back(input.note);
    }
    return std::vector{std::move(one)};
}

}  // namespace sonde::session
