#include "core/session/edits/edits.h"

#include <algorithm>

#include "core/document/session_model.h"
#include "core/exec/differing_values.h"
#include "core/session/edits/edit_application.h"
#include "core/session/edits/selection.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

namespace {

/// Values that are only made to try an edit on are no larger.
constexpr std::int64_t kMaxTried = std::int64_t{1} << 24;

/// A value of the type that a node is known to have; none if that is not known, or large.
std::optional<Value> exampleOf(const graph::Node& node) {
    const auto shape = node.type.isTensor() ? node.type.staticShape() : std::nullopt;
    if (!shape || node.type.dtype == tensor::DType::Undefined || node.type.dtype == tensor::DType::String ||
        shape->numel() > kMaxTried)
        return std::nullopt;
    auto zeros = tensor::Tensor::zeros(node.type.dtype, *shape);
    if (!zeros) return std::nullopt;
    return Value(std::move(*zeros));
}

}  // namespace

base::Result<void> Edits::add(NodeId target, Edit edit, const Present& present, EditPlace& place,
                              const base::WorkContext& work) {
    place = {};
    if (!m_document) return base::usageError("no model is open");
    if (m_entries.size() >= kMaxEdits)
        return base::usageError("there are " + std::to_string(kMaxEdits) + " edits", {}, "undo some");
    edit.target = identities().of(target);
    Entry entry{edit, {}};
    SONDE_ASSIGN(const ReadyEdit ready, ReadyEdit::make(*m_document, std::move(edit), target, place));
    if (ready.target() == ReadyEdit::Target::Weight) {
        SONDE_ASSIGN(entry.weight, editedWeight(ready, m_entries.size(), work, place));
    } else {
        SONDE_TRY(tryOut(ready, present, work, place));
    }
    entry.ready = ready;
    m_done.push_back({Change::Kind::Add, m_entries.size()});
    m_entries.push_back(std::move(entry));
    m_undone.clear();
    changed();
    return {};
}

// --- undo and redo --------------------------------------------------------------------------------------------------

bool Edits::undo(const base::WorkContext& work) { return replay(m_done, m_undone, true, work); }
bool Edits::redo(const base::WorkContext& work) { return replay(m_undone, m_done, false, work); }

bool Edits::replay(std::vector<Change>& from, std::vector<Change>& to, bool isUndo, const base::WorkContext& work) {
    if (from.empty()) return false;
    Change change = std::move(from.back());
    from.pop_back();
    perform(change, isUndo);
    const std::size_t first = change.index;
    to.push_back(std::move(change));
    makeWeights(first, work);
    changed();
    return true;
}

/// Does a change of the list, or what undoes it.
void Edits::perform(Change& change, bool isUndo) {
    const auto at = m_entries.begin() + static_cast<std::ptrdiff_t>(change.index);
    if (change.kind == Change::Kind::Switch) {
        at->edit.isEnabled = !at->edit.isEnabled;
    } else if ((change.kind == Change::Kind::Add) == isUndo) {
        change.entry = std::move(*at);
        m_entries.erase(at);
    } else {
        m_entries.insert(at, std::move(*change.entry));
        change.entry.reset();
    }
}

bool Edits::remove(std::size_t index, const base::WorkContext& work) {
    if (index >= m_entries.size()) return false;
    m_undone.clear();
    m_undone.push_back({Change::Kind::Remove, index});
    return redo(work);
}

bool Edits::withdraw(std::size_t index, const base::WorkContext& work) {
    if (index >= m_entries.size()) return false;
    m_undone.clear();
    forget(index);
    m_entries.erase(m_entries.begin() + static_cast<std::ptrdiff_t>(index));
    makeWeights(index, work);
    changed();
    return true;
}

/// Takes what was done with an edit out of the history, and counts the others without it.
void Edits::forget(std::size_t index) {
    std::size_t at = index;  // where the edit was when a change had been made, from the last one back
    for (std::size_t i = m_done.size(); i-- > 0;) {
        Change& change = m_done[i];
        const bool isOwn = change.index == at && change.kind != Change::Kind::Remove;
        const bool isAdded = change.kind == Change::Kind::Add;
        if (isOwn) {
            m_done.erase(m_done.begin() + static_cast<std::ptrdiff_t>(i));
            if (isAdded) return;
            continue;
        }
        if (isAdded && change.index < at) --at;
        else if (change.kind == Change::Kind::Remove && change.index <= at) ++at;
        else if (change.index > at) --change.index;
    }
}

bool Edits::setEnabled(std::size_t index, bool isEnabled, const base::WorkContext& work) {
    if (index >= m_entries.size() || m_entries[index].edit.isEnabled == isEnabled) return false;
    m_undone.clear();
    m_undone.push_back({Change::Kind::Switch, index});
    return redo(work);
}

/// What was found in a file, or in another document, can be undone from the last one on.
void Edits::beginHistory() {
    m_done.clear();
    m_undone.clear();
    for (std::size_t i = 0; i < m_entries.size(); ++i) m_done.push_back({Change::Kind::Add, i});
}

/// Made once for a document: it takes as long as a small model runs.
const IdentityIndex& Edits::identities() {
    if (!m_identities) m_identities = std::make_shared<const IdentityIndex>(*m_document->graph);
    return *m_identities;
}

void Edits::clear() {
    if (m_entries.empty() && !canUndo() && !canRedo()) return;
    m_entries.clear();
    beginHistory();
    changed();
}

Edits Edits::quietCopy() const {
    Edits copy = *this;
    copy.m_tellChanged = [] {};
    return copy;
}

void Edits::adopt(Edits changed) {
    m_entries = std::move(changed.m_entries);
    m_done = std::move(changed.m_done);
    m_undone = std::move(changed.m_undone);
    m_identities = std::move(changed.m_identities);
    m_planned = std::move(changed.m_planned);
    m_reached = std::move(changed.m_reached);
    ++m_number;
    m_tellChanged();
}

void Edits::changed() {
    ++m_number;
    plan();
    m_tellChanged();
}

/// What a weight is after the first so many edits and this one.
base::Result<Value> Edits::editedWeight(const ReadyEdit& edit, std::size_t before, const base::WorkContext& work,
                                        EditPlace& place) const {
    const auto now = [this, before](NodeId node) {
        for (std::size_t i = before; i-- > 0;) {
            const Entry& entry = m_entries[i];
            if (entry.counts() && !entry.weight.isNone() &&
                std::ranges::find(entry.ready->nodes(), node) != entry.ready->nodes().end())
                return entry.weight;
        }
        return *m_document->graph->node(node).constant;
    };
    std::vector<Value> operands;
    for (const NodeId operand : edit.operands()) operands.push_back(now(operand));
    return edit.apply(now(edit.node()), operands, work, place);
}

/// After the list has changed at a position, what weights are from there on.
void Edits::makeWeights(std::size_t first, const base::WorkContext& work) {
    for (std::size_t i = first; i < m_entries.size(); ++i) {
        Entry& entry = m_entries[i];
        if (!entry.ready || entry.ready->target() != ReadyEdit::Target::Weight) continue;
        entry.problem.clear();
        EditPlace place;
        auto weight = editedWeight(*entry.ready, i, work, place);
        if (weight) entry.weight = std::move(*weight);
        else entry.problem = weight.error().what;
    }
}

base::Result<void> Edits::tryOut(const ReadyEdit& edit, const Present& present, const base::WorkContext& work,
                                 EditPlace& place) const {
    const graph::InternalGraph& graph = *m_document->graph;
    SONDE_ASSIGN(const Slice slice, Slice::parse(edit.edit().slice, place));
    const bool choosesByValue = !slice.names().empty();
    const auto valueOf = [&](NodeId node) {
        if (const auto& constant = graph.node(node).constant) return std::optional(*constant);
        auto value = present ? present(node) : std::nullopt;
        return value || choosesByValue ? value : exampleOf(graph.node(node));
    };
    const auto value = valueOf(edit.node());
    std::vector<Value> operands;
    for (const NodeId operand : edit.operands()) {
        auto known = valueOf(operand);
        if (!known) return {};
        operands.push_back(std::move(*known));
    }
    if (!value) return {};
    SONDE_TRY(edit.apply(*value, operands, work, place));
    return {};
}

void Edits::plan() {
    auto planned = std::make_shared<exec::Edits>();
    for (const Entry& entry : m_entries) {
        if (!entry.counts()) continue;
        const ReadyEdit& ready = *entry.ready;
        switch (ready.target()) {
            case ReadyEdit::Target::Weight:
                for (const NodeId node : ready.nodes()) planned->constants[node] = entry.weight;
                break;
            case ReadyEdit::Target::Input: planned->inputs.push_back(ready.node()); break;
            case ReadyEdit::Target::Computed:
                planned->values.push_back({ready.node(), ready.operands(), EditApplication{ready}});
                break;
        }
    }
    m_planned = planned->empty() ? nullptr : std::move(planned);
    m_reached = m_planned ? exec::differingValues(*m_document->graph, *m_planned) : std::vector<bool>();
}

base::Result<std::vector<Value>> Edits::inputs(std::vector<Value> given, const base::WorkContext& work) const {
    if (!m_document) return given;
    const graph::InternalGraph& graph = *m_document->graph;
    const auto positionOf = [&](NodeId node) {
        return static_cast<std::size_t>(std::ranges::find(graph.inputs(), node) - graph.inputs().begin());
    };
    const auto now = [&](NodeId node) {
        if (const auto edited = m_planned->constants.find(node); edited != m_planned->constants.end())
            return edited->second;
        if (const auto& constant = graph.node(node).constant) return *constant;
        const std::size_t position = positionOf(node);
        return position < given.size() ? given[position] : Value();
    };
    for (const Entry& entry : m_entries) {
        if (!entry.counts() || entry.ready->target() != ReadyEdit::Target::Input) continue;
        const std::size_t position = positionOf(entry.ready->node());
        if (position >= given.size() || given[position].isNone()) continue;  // refused, or not needed
        std::vector<Value> operands;
        for (const NodeId operand : entry.ready->operands()) operands.push_back(now(operand));
        EditPlace place;
        SONDE_ASSIGN(given[position], entry.ready->apply(given[position], operands, work, place));
    }
    return given;
}

// --- keeping --------------------------------------------------------------------------------------------------------

namespace {

/// Nobody agreed that the session file may have the edit's file read.
bool isOutside(const document::Document* document, const Edit& edit) {
    if (edit.kind != Edit::Kind::File || !document || !document->session) return false;
    return !document->session->allowsOutside && !document::isInFolder(edit.text, document->session->folder);
}

bool allowsOutside(const document::Document& document) { return document.session && document.session->allowsOutside; }

}  // namespace

std::optional<std::string> Edits::withheldFile() const {
    const auto found = std::ranges::find_if(m_entries, &Entry::isWithheld);
    return found == m_entries.end() ? std::nullopt : std::optional(found->edit.text);
}

std::vector<std::string> Edits::restore(std::vector<Edit> edits) {
    std::vector<std::string> lost;
    m_entries.clear();
    ++m_number;
    for (Edit& edit : edits) {
        if (m_entries.size() >= kMaxEdits) break;
        Entry entry{std::move(edit), {}};
        entry.isWithheld = isOutside(m_document.get(), entry.edit);
        if (const auto problem = makeReady(entry, m_entries.size()))
            lost.push_back("edit '" + editText(entry.edit) + "': " + *problem);
        m_entries.push_back(std::move(entry));
    }
    beginHistory();
    plan();
    return lost;
}

/// Finds an edit's node in the present document. Why it is not ready; nothing if it is.
std::optional<std::string> Edits::makeReady(Entry& entry, std::size_t before) {
    entry.ready.reset();
    entry.weight = {};
    const auto failed = [&](std::string what) {
        entry.problem = std::move(what);
        return entry.problem;
    };
    if (!m_document) return failed("no model is open");
    // Whatever it is traced or opened as later: only consent lets it be read.
    entry.isWithheld = entry.isWithheld && !allowsOutside(*m_document);
    if (entry.isWithheld) return failed("the file is outside of the session's folder");
    const NodeId node = identities().find(entry.edit.target).node;
    if (!node.valid()) return failed("the model has no node like it");
    EditPlace place;
    auto ready = ReadyEdit::make(*m_document, entry.edit, node, place);
    if (!ready) return failed(ready.error().what);
    if (ready->target() == ReadyEdit::Target::Weight) {
        auto weight = editedWeight(*ready, before, {}, place);
        if (!weight) return failed(weight.error().what);
        entry.weight = std::move(*weight);
    }
    entry.ready = std::move(*ready);
    entry.problem.clear();
    return std::nullopt;
}

void Edits::bind(std::shared_ptr<const document::Document> document) {
    m_document = std::move(document);
    m_identities.reset();
    ++m_number;
    std::vector<Entry> entries = std::exchange(m_entries, {});
    for (Entry& entry : entries) {
        (void)makeReady(entry, m_entries.size());
        m_entries.push_back(std::move(entry));
    }
    beginHistory();
    plan();
}

}  // namespace sonde::session
