#include "core/trace/memory.h"

#include <algorithm>
#include <numeric>

#include "core/graph/memory.h"
#include "core/operators/same_tensor.h"
#include "core/trace/at_once.h"
#include "core/trace/error.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr const char* kMayShare =
    "shares memory with a tensor that was changed in place, or not: that depends on layouts or types which only a run knows";

bool sameGeometry(const Tensor& a, const Tensor& b) {
    return a.storage() == b.storage() && a.offsetElements() == b.offsetElements() && a.dtype() == b.dtype() &&
           a.shape() == b.shape() && a.strides() == b.strides();
}

/// Row-major positions in the storage, counted from `first`.
Tensor positionsOf(const Tensor& tensor, std::int64_t first) {
    Tensor positions = Tensor::zeros(tensor::DType::Int64, tensor.shape()).value();
    auto* at = positions.mutableData<std::int64_t>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) at[i] = tensor.offsetElements() + tensor.elementOffset(i) - first;
    return positions;
}

Var rebuilt(const Var& container, std::vector<Var> items) {
    switch (container.kind()) {
        case Var::Kind::List: return Var::list(std::move(items));
        case Var::Kind::Tuple: return Var::tuple(std::move(items));
        case Var::Kind::Slice: return Var::slice(items[0], items[1], items[2]);
        default: break;
    }
    std::vector<std::pair<Value, Var>> entries;
    for (std::size_t i = 0; i < items.size(); ++i) entries.emplace_back(container.keys()[i], std::move(items[i]));
    return Var::dict(std::move(entries));
}

}  // namespace

void visitProxies(const Var& var, const std::function<void(const Var&)>& visit) {
    if (var.isProxy()) visit(var);
    else if (var.kind() != Var::Kind::Value)
        std::ranges::for_each(var.items(), [&](const Var& item) { visitProxies(item, visit); });
}

void Memory::clear() {
    m_cells.clear();
    m_slots.clear();
    m_slotOf.clear();
    m_lifted.clear();
    m_rawWritten.clear();
    m_packed.clear();
    m_undo.clear();
    m_changed.clear();
    m_reformed.clear();
    m_serial = 0;
}

void Memory::refuse(NodeId node, const std::string& what) const {
    throw TraceError(TraceErrorKind::Runtime, m_recording.placeOf(node) + " " + what);
}

void Memory::refuse(const Cell& cell, const std::string& what) const {
    const Cell* named = &cell;
    while (!named->node.valid() && named->base) named = named->base.get();
    refuse(named->node, what);
}

// --- cells ----------------------------------------------------------------------------------------------------------

void Memory::bind(NodeId node, CellPtr cell) {
    m_undo.emplace_back(m_recording.recordedExprs(), [this, node, before = m_cells[node]] { m_cells[node] = before; });
    m_cells[node] = std::move(cell);
}

void Memory::change(const CellPtr& cell) {
    m_undo.emplace_back(m_recording.recordedExprs(), [cell, before = *cell] { *cell = before; });
    m_changed.push_back(cell);
}

void Memory::takeBack(std::size_t exprs) {
    while (!m_undo.empty() && m_undo.back().first > exprs) {
        m_undo.back().second();
        m_undo.pop_back();
    }
}

Memory::CellPtr Memory::makeCell(NodeId node) {
    auto cell = std::make_shared<Cell>();
    cell->node = node;
    cell->serial = ++m_serial;
    return cell;
}

Memory::CellPtr Memory::findCell(NodeId node) const {
    if (const auto found = m_cells.find(node); found != m_cells.end() && found->second) return found->second;
    const auto slot = m_slotOf.find(node);
    if (slot == m_slotOf.end()) return nullptr;
    const auto known = m_slots.find(slot->second.get());
    return known == m_slots.end() ? nullptr : known->second;
}

Memory::CellPtr Memory::cellOf(NodeId node) {
    if (CellPtr known = findCell(node)) {
        // As long as nothing is written each body reads a module's tensor by a node of its own.
        if (known->slot && known->version == 0) known->node = node;
        return known;
    }
    CellPtr cell = makeCell(node);
    if (const auto slot = m_slotOf.find(node); slot != m_slotOf.end()) {
        cell->slot = slot->second;
        rememberSlot(slot->second, cell);
    } else {
        bind(node, cell);
    }
    return cell;
}

void Memory::rememberSlot(const std::shared_ptr<const Slot>& slot, const CellPtr& cell) {
    m_undo.emplace_back(m_recording.recordedExprs(), [this, key = slot.get()] { m_slots.erase(key); });
    m_slots[slot.get()] = cell;
}

Memory::CellPtr Memory::cellOf(const Var& var) {
    if (var.isProxy()) return cellOf(var.node());
    if (var.kind() == Var::Kind::Value && var.value().isTensor()) return lift(var);
    throw TraceError(TraceErrorKind::Type, "only a tensor can be changed in place");
}

/// A tensor that is a value becomes a node, and with it whatever else shows its storage.
Memory::CellPtr Memory::lift(const Var& var) {
    const Tensor& tensor = var.value().tensor();
    const tensor::Storage* storage = tensor.storage().get();
    if (!m_lifted.contains(storage)) {
        const std::shared_ptr<const Slot> slot = var.slot() ? var.slot() : m_recording.slotOn(*storage);
        Lifted lifted;
        const std::size_t bytes = tensor::itemSize(tensor.dtype());
        if (slot) {
            lifted.whole = slot->value;
        } else if (tensor.isContiguous() && tensor.sizeBytes() == storage->sizeBytes()) {
            lifted.whole = tensor;
        } else {
            const auto count = static_cast<std::int64_t>(storage->sizeBytes() / std::max<std::size_t>(bytes, 1));
            lifted.whole = Tensor::onStorage(tensor.dtype(), tensor::Shape{count}, tensor.storage());
        }
        if (slot && m_slots.contains(slot.get())) {
            lifted.cell = m_slots[slot.get()];
        } else {
            const NodeId node = m_recording.nodeOfValue(slot ? Var::ofSlot(slot) : Var(lifted.whole));
            lifted.cell = makeCell(node);
            bind(node, lifted.cell);
            lifted.cell->slot = slot;
            if (slot) rememberSlot(slot, lifted.cell);
            if (lifted.whole.isContiguous()) markPacked(node);
        }
        m_undo.emplace_back(m_recording.recordedExprs(), [this, storage] { m_lifted.erase(storage); });
        m_lifted.emplace(storage, std::move(lifted));
    }
    return liftedCell(tensor);
}

Memory::CellPtr Memory::liftedCell(const Tensor& tensor) {
    Lifted& lifted = m_lifted.at(tensor.storage().get());
    if (sameGeometry(tensor, lifted.whole)) return lifted.cell;
    for (const auto& [known, cell] : lifted.views) {
        if (sameGeometry(known, tensor)) return cell;
    }
    if (tensor.dtype() != lifted.whole.dtype() || !lifted.whole.isContiguous()) refuse(lifted.cell->node, kMayShare);
    CellPtr cell = makeCell(NodeId());
    cell->base = lifted.cell;
    cell->cut = std::make_shared<const Cut>(Cut{{}, {}, positionsOf(tensor, lifted.whole.offsetElements())});
    cell->baseVersion = -1;
    cell->overlaps = repeatsElements(tensor);
    lifted.views.emplace_back(tensor, cell);
    return cell;
}

void Memory::noteRawWrite(const Var& var) {
    const Tensor& tensor = var.value().tensor();
    m_rawWritten.try_emplace(tensor.storage().get(), tensor);
}

bool Memory::isLifted(const Value& value) const {
    if (m_lifted.empty() && m_rawWritten.empty()) return false;
    if (value.isTensor()) {
        const tensor::Storage* storage = value.tensor().storage().get();
        return m_lifted.contains(storage) || m_rawWritten.contains(storage);
    }
    return value.isListLike() &&
           std::ranges::any_of(value.items(), [this](const Value& item) { return isLifted(item); });
}

// --- reading --------------------------------------------------------------------------------------------------------

bool Memory::isCurrent(const Cell& cell) {
    if (!cell.stale.empty()) return false;
    const auto isSame = [](const auto& entry) {
        return entry.first->version == entry.second && isCurrent(*entry.first);
    };
    if (!std::ranges::all_of(cell.perhaps, isSame)) return false;
    return !cell.base || (cell.baseVersion == cell.base->version && isCurrent(*cell.base));
}

NodeId Memory::refresh(const CellPtr& cell) {
    if (!cell->stale.empty()) refuse(*cell, cell->stale);
    const bool isChanged = std::ranges::any_of(cell->perhaps, [](const auto& entry) {
        return entry.first->version != entry.second || !isCurrent(*entry.first);
    });
    if (isChanged) refuse(*cell, kMayShare);
    if (cell->version > 0 && cell->node.valid() && !m_recording.isReachable(cell->node))
        refuse(cell->node, "was changed in place by another module: not supported by this tracer");
    if (!cell->base) return cell->node;
    if (cell->node.valid() && isCurrent(*cell) && m_recording.isReachable(cell->node)) return cell->node;
    const NodeId base = refresh(cell->base);
    const bool isUnchanged = cell->baseVersion == cell->base->version;
    if (isUnchanged && cell->node.valid()) return cell->node;
    const Var made = cutAgain(*cell->cut, Var::proxy(m_tracer, base));
    if (!made.isProxy()) refuse(base, "cannot be cut again after it was changed in place");
    if (cell->node.valid() && isPacked(cell->node)) markPacked(made.node());
    // What is cut inside of a branch or a called module is not there outside of it.
    if (cell->node.valid() && !m_recording.isRecordedHere(cell->node)) return made.node();
    m_undo.emplace_back(m_recording.recordedExprs(), [cell, before = *cell] { *cell = before; });
    cell->node = made.node();
    cell->baseVersion = cell->base->version;
    if (!isUnchanged) ++cell->version;  // else it is cut for the first time
    bind(made.node(), cell);
    return cell->node;
}

NodeId Memory::current(NodeId node) {
    if (WritesAsValues::isOn()) return node;
    const CellPtr cell = findCell(node);
    const bool isRead = !cell || (cell->slot && cell->version == 0);
    return isRead ? node : refresh(cell);
}

bool Memory::isWritten(const Slot& slot) const {
    const auto known = m_slots.find(&slot);
    return known != m_slots.end() && (known->second->version > 0 || !known->second->stale.empty());
}

bool Memory::isAnySlotWritten() const {
    return std::ranges::any_of(m_slots, [this](const auto& entry) { return isWritten(*entry.first); });
}

Var Memory::current(const Var& var) {
    switch (var.kind()) {
        case Var::Kind::Proxy: {
            if (&var.tracer() != &m_tracer) return var;
            const NodeId node = current(var.node());
            return node == var.node() ? var : Var::proxy(m_tracer, node);
        }
        case Var::Kind::Value: {
            const Value& value = var.value();
            if (var.slot() && isWritten(*var.slot()))
                return Var::proxy(m_tracer, refresh(m_slots.at(var.slot().get())));
            if (!isLifted(value)) return var;
            if (value.isTensor() && !m_lifted.contains(value.tensor().storage().get())) {
                const Tensor& written = m_rawWritten.at(value.tensor().storage().get());
                if (sameGeometry(written, value.tensor())) return var;
                throw TraceError(
                    TraceErrorKind::Runtime,
                    "a constant of the program is read through another view than it was written through: not supported by this tracer");
            }
            if (value.isTensor()) return Var::proxy(m_tracer, refresh(liftedCell(value.tensor())));
            std::vector<Var> items;
            for (const Value& item : value.items()) items.push_back(current(Var(item)));
            return value.kind() == tensor::ValueKind::Tuple ? Var::tuple(std::move(items))
                                                            : Var::list(std::move(items));
        }
        default: break;
    }
    if (!var.hasProxy()) return var;
    std::vector<Var> items;
    for (const Var& item : var.items()) items.push_back(current(item));
    return rebuilt(var, std::move(items));
}

// --- calls ----------------------------------------------------------------------------------------------------------

Var Memory::record(OperatorCall call) {
    return m_recording.record(call.kind, {call.domain, call.op, 0}, call.target, call.display,
                              std::move(call.arguments), std::move(call.keywords), call.makesTensor, call.outputs);
}

Var Memory::call(OperatorCall call) {
    const auto out = std::ranges::find_if(
        call.keywords, [](const auto& entry) { return entry.first == "out" && !entry.second.isNone(); });
    const bool isPackedBase =
        !call.arguments.empty() && call.arguments[0].isProxy() && isPacked(current(call.arguments[0]).node());
    const Link link = linkOf(call, &m_recording, isPackedBase);
    if (operators::readsWholeStorage(call.domain, call.op) && !call.arguments.empty() && call.arguments[0].isProxy()) {
        // It counts in the storage, of which a view may show any part; a packed one begins where it counts from.
        const CellPtr shown = findCell(call.arguments[0].node());
        const Var* const start = call.argument(3, "storage_offset");
        const bool isView = shown && (shown->base || !shown->perhaps.empty());
        if (!isView && !isPackedBase) refuse(current(call.arguments[0].node()), operators::kUnknownLayoutText);
        if (isView && (!isPackedBase || (start && !start->isNone())))
            refuse(*shown,
                   "is seen through other strides, and where it begins in its storage is not known: not "
                   "supported; call clone() on it before");
    }
    CellPtr target;  // before anything else: it may be a value that becomes a node
    if (out != call.keywords.end()) target = cellOf(out->second);
    else if (link == Link::Write || link == Link::Reform) target = cellOf(call.arguments.at(0));
    if (target && link != Link::Reform)
        checkOverlap(call, target, out != call.keywords.end() ? &out->second : &call.arguments.front());
    for (Var& argument : call.arguments) argument = current(argument);
    for (auto& [name, argument] : call.keywords) argument = current(argument);
    if (out != call.keywords.end()) return writeOut(std::move(call), target);
    if (link == Link::Write) return write(std::move(call), target);
    if (link == Link::Reform) return reform(std::move(call), target);
    OperatorCall made = call;
    const Var result = record(std::move(call));
    noteResult(made, link, result);
    return result;
}

Var Memory::write(OperatorCall call, const CellPtr& target) {
    checkWritable(*target, call.display);
    const Var result = record(std::move(call));
    if (result.isProxy()) wrote(target, result.node());
    return result;
}

/// f(..., out=c): c is what f gives, in c's type.
Var Memory::writeOut(OperatorCall call, const CellPtr& target) {
    checkWritable(*target, call.display + " with out");
    const Var out = Var::proxy(m_tracer, refresh(target));
    std::erase_if(call.keywords, [](const auto& entry) { return entry.first == "out"; });
    call.op = functionalOverload({call.domain, call.op, 0}, call.arguments);
    const std::string display = call.display;
    const Var made = record(std::move(call));
    const Function kWriteOut{"write_out", display, "write_out", true, "prim"};
    const Var result = record(OperatorCall(graph::ExprKind::CallFunction, kWriteOut, {made, out}, {}));
    if (result.isProxy()) wrote(target, result.node());
    return result;
}

/// unsqueeze_ and the like: from now on all names of the tensor mean a view of what it was. It is recorded as that
/// view, under the name that the program gave it: what is cut out of the tensor as it was finds it as it was.
Var Memory::reform(OperatorCall call, const CellPtr& target) {
    refresh(target);
    const operators::Traits& traits = operators::traitsOf(call.domain, call.op);
    const std::string display = call.display;
    if (!keepsMemory(traits)) refuse(target->node, "gets new memory from " + display + ": not supported");
    call.op = operators::outOfPlaceName(call.op);
    if (target->slot)
        refuse(target->node, "is a tensor of a module, whose shape " + display + " would change: not supported");
    if (mayBeSameObject(target))
        refuse(target->node, "is reshaped in place by " + display +
                                 ", and may be an alias of a tensor that is used elsewhere: not supported");
    const Var result = record(call);
    if (!result.isProxy()) return result;
    OperatorCall view = call;
    view.display = view.target = graph::withoutOverload(call.op);
    CellPtr cell = makeCell(result.node());
    cell->base = target;
    cell->baseVersion = target->version;
    cell->cut = std::make_shared<const Cut>(Cut{std::move(view), {}, {}});
    cell->overlaps = target->overlaps;
    cell->isReform = true;
    m_undo.emplace_back(m_recording.recordedExprs(), [this] { m_reformed.pop_back(); });
    m_reformed.push_back(target);
    if (isPacked(target->node) && operators::keepsOrder(traits.form)) markPacked(result.node());
    std::vector<NodeId> names;
    for (const auto& [node, known] : m_cells) {
        if (known == target) names.push_back(node);
    }
    for (const NodeId node : names) bind(node, cell);
    bind(result.node(), cell);
    return result;
}

/// `contiguous` of what is contiguous gives the very tensor, and so do calls that give their argument: another shape of
/// the one would be that of the other.
bool Memory::mayBeSameObject(const CellPtr& cell) const {
    const auto isSame = [](const Cell& view, const CellPtr& base) {
        if (std::ranges::any_of(view.perhaps, [&](const auto& entry) { return !base || entry.first == base; }))
            return true;
        return view.base && (!base || view.base == base) && view.cut && !view.cut->positions &&
               (mayGiveItself(view.cut->call) || view.cut->call.op == kAlias.op);
    };
    return isSame(*cell, nullptr) ||
           std::ranges::any_of(m_cells, [&](const auto& entry) { return entry.second && isSame(*entry.second, cell); });
}

/// A body must not give a tensor from outside another shape: its caller would have to see that.
void Memory::checkReforms(const Mark& mark, const std::vector<NodeId>& inputs) const {
    constexpr const char* kWhat =
        "changes its shape in place inside a called module or a branch, where the caller would see it: not supported";
    for (std::size_t i = mark.reforms; i < m_reformed.size(); ++i) {
        if (m_reformed[i]->serial <= mark.serial) refuse(m_reformed[i]->node, kWhat);
    }
    for (const NodeId input : inputs) {
        const CellPtr cell = findCell(input);
        if (cell && cell->isReform) refuse(input, kWhat);
    }
}

void Memory::checkWritable(const Cell& cell, const std::string& operation) const {
    if (!cell.overlaps) return;
    refuse(cell,
           "is written by " + operation +
               ": unsupported operation: more than one element of the written-to tensor refers to a single memory "
               "location. Please clone() the tensor before performing the operation.");
}

void Memory::set(const CellPtr& cell, NodeId node) {
    change(cell);
    if (cell->node.valid() && isPacked(cell->node)) markPacked(node);
    cell->node = node;
    ++cell->version;
    bind(node, cell);
}

void Memory::wrote(const CellPtr& target, NodeId node) {
    if (target->node.valid() && !m_recording.isReachable(target->node))
        refuse(node, "changes a tensor of another module in place: not supported by this tracer");
    set(target, node);
    for (CellPtr cell = target; cell; cell = cell->base) {
        for (const auto& [other, version] : cell->perhaps) makeStale(other);
        const CellPtr base = cell->base;
        if (!base) return;
        if (!base->node.valid()) refresh(base);
        const Var whole = putBack(*cell->cut, Var::proxy(m_tracer, base->node), Var::proxy(m_tracer, cell->node));
        if (!whole.isProxy()) refuse(node, "cannot be put into what it was cut out of");
        set(base, whole.node());
        cell->baseVersion = base->version;
    }
}

void Memory::makeStale(const CellPtr& cell) {
    for (CellPtr at = cell; at; at = at->base) {
        change(at);
        at->stale = kMayShare;
        for (const auto& [other, version] : at->perhaps) {
            if (other->stale.empty()) makeStale(other);
        }
    }
}

void Memory::assign(const Var& tensor, const Var& value) {
    const CellPtr cell = cellOf(tensor);
    refresh(cell);
    checkWritable(*cell, "a called module");
    wrote(cell, value.node());
}

void Memory::assignSlot(const std::shared_ptr<const Slot>& slot, const Var& value) { takeOver(slotCell(slot), value); }

Memory::CellPtr Memory::slotCell(const std::shared_ptr<const Slot>& slot) {
    CellPtr& cell = m_slots[slot.get()];
    if (!cell) cell = makeCell(NodeId());
    cell->slot = slot;
    return cell;
}

}  // namespace sonde::trace
