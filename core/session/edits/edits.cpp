#include "core/session/edits/edits.h"

#include <algorithm>

#include "core/exec/dependants.h"
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
    edit.target = IdentityIndex(*m_document->graph).of(target);
    Entry entry{edit, {}};
    SONDE_ASSIGN(const ReadyEdit ready, ReadyEdit::make(*m_document, std::move(edit), target, place));
    if (ready.target() == ReadyEdit::Target::Weight) {
        SONDE_ASSIGN(entry.weight, editedWeight(ready, work, place));
    } else {
        SONDE_TRY(tryOut(ready, present, work, place));
    }
    entry.ready = ready;
    m_entries.push_back(std::move(entry));
    m_undone.clear();
    changed();
    return {};
}

bool Edits::undo() {
    if (m_entries.empty()) return false;
    m_undone.push_back(std::move(m_entries.back()));
    m_entries.pop_back();
    changed();
    return true;
}

bool Edits::redo() {
    if (m_undone.empty()) return false;
    m_entries.push_back(std::move(m_undone.back()));
    m_undone.pop_back();
    changed();
    return true;
}

void Edits::clear() {
    if (m_entries.empty() && m_undone.empty()) return;
    m_entries.clear();
    m_undone.clear();
    changed();
}

void Edits::changed() {
    ++m_number;
    plan();
    m_tellChanged();
}

/// What a weight is after the edits there are and this one.
base::Result<Value> Edits::editedWeight(const ReadyEdit& edit, const base::WorkContext& work, EditPlace& place) const {
    const auto now = [this](NodeId node) {
        for (auto entry = m_entries.rbegin(); entry != m_entries.rend(); ++entry)
            if (entry->ready && !entry->weight.isNone() &&
                std::ranges::find(entry->ready->nodes(), node) != entry->ready->nodes().end())
                return entry->weight;
        return *m_document->graph->node(node).constant;
    };
    std::vector<Value> operands;
    for (const NodeId operand : edit.operands()) operands.push_back(now(operand));
    return edit.apply(now(edit.node()), operands, work, place);
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
        if (!entry.ready) continue;
        const ReadyEdit& ready = *entry.ready;
        switch (ready.target()) {
            case ReadyEdit::Target::Weight:
                for (const NodeId node : ready.nodes()) planned->constants[node] = entry.weight;
                break;
            case ReadyEdit::Target::Input: planned->inputs.push_back(ready.node()); break;
            case ReadyEdit::Target::Computed:
                planned->values.push_back(
                    {ready.node(), ready.operands(), [ready](const Value& value, std::span<const Value> operands) {
                         EditPlace place;
                         return ready.apply(value, operands, {}, place);
                     }});
                break;
        }
    }
    m_planned = planned->empty() ? nullptr : std::move(planned);
    m_reached = m_planned ? exec::dependantsOf(*m_document->graph, *m_planned).nodes : std::vector<bool>();
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
        if (!entry.ready || entry.ready->target() != ReadyEdit::Target::Input) continue;
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

std::vector<std::string> Edits::restore(std::vector<Edit> edits) {
    std::vector<std::string> lost;
    m_entries.clear();
    m_undone.clear();
    ++m_number;
    for (Edit& edit : edits) {
        if (m_entries.size() >= kMaxEdits) break;
        Entry entry{std::move(edit), {}};
        if (const auto problem = makeReady(entry)) lost.push_back("edit '" + editText(entry.edit) + "': " + *problem);
        m_entries.push_back(std::move(entry));
    }
    plan();
    return lost;
}

/// Finds an edit's node in the present document. Why it is not ready; nothing if it is.
std::optional<std::string> Edits::makeReady(Entry& entry) const {
    entry.ready.reset();
    entry.weight = {};
    const auto failed = [&](std::string what) {
        entry.problem = std::move(what);
        return entry.problem;
    };
    if (!m_document) return failed("no model is open");
    const NodeId node = IdentityIndex(*m_document->graph).find(entry.edit.target).node;
    if (!node.valid()) return failed("the model has no node like it");
    EditPlace place;
    auto ready = ReadyEdit::make(*m_document, entry.edit, node, place);
    if (!ready) return failed(ready.error().what);
    if (ready->target() == ReadyEdit::Target::Weight) {
        auto weight = editedWeight(*ready, {}, place);
        if (!weight) return failed(weight.error().what);
        entry.weight = std::move(*weight);
    }
    entry.ready = std::move(*ready);
    entry.problem.clear();
    return std::nullopt;
}

void Edits::bind(std::shared_ptr<const document::Document> document) {
    m_document = std::move(document);
    m_undone.clear();
    ++m_number;
    std::vector<Entry> entries = std::exchange(m_entries, {});
    for (Entry& entry : entries) {
        (void)makeReady(entry);
        m_entries.push_back(std::move(entry));
    }
    plan();
}

}  // namespace sonde::session
