#include "core/io/torchscript/views.h"

#include <algorithm>
#include <utility>

#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/source_stack.h"
#include "core/operators/same_tensor.h"
#include "core/operators/traits.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using trace::TraceError;
using trace::TraceErrorKind;
using Path = std::vector<PendingWrite::Level>;

namespace {

/// The root of the tensor as it was when its bases were noted: in the shape from before reform().
TensorCell& rawRoot(TensorCell& cell) {
    TensorCell* at = &cell;
    while (at->base) at = at->base.get();
    return *at;
}

/// "node 'add_' (operation 3, code/__torch__.py:7)", or what can be said of a value.
std::string placeOf(const Var& var) {
    if (!var.isProxy() || !var.tracer().recording().recordedGraph() ||
        var.node().index() >= var.tracer().recording().recordedGraph()->nodeCount())
        return {};
    const graph::InternalGraph& graph = *var.tracer().recording().recordedGraph();
    std::string text = var.tracer().recording().placeOf(var.node());
    const graph::SourcePlace place = graph.expr(graph.node(var.node()).producer).source.place();
    if (!place.file.empty() && text.ends_with(')'))
        text.insert(text.size() - 1, ", " + place.file + ':' + std::to_string(place.line));
    return text;
}

/// The tensor is read, and its root cannot be known.
[[noreturn]] void refuse(const TensorCell& cell, const TensorCell& written) {
    const std::string shown = placeOf(cell.var), here = SourceFrame::where();
    const std::string writer = written.lostTo.empty() ? placeOf(written.lastWrite) : written.lostTo;
    std::string text = (shown.empty() ? "a tensor" : shown) + " is read";
    if (!here.empty()) text += " at " + here;
    text +=
        " after " + (writer.empty() ? "an operator in place" : writer) +
        " wrote to a tensor whose memory it shows, or not: that only a run knows. Not supported; write to a clone()";
    throw TraceError(TraceErrorKind::ControlFlow, text);
}

/// The sharer that was written since; null: none.
const TensorCell* writtenSharer(const TensorCell& root) {
    for (const Sharer& sharer : root.sharers) {
        const TensorCell& other = rawRoot(*sharer.root);
        if (other.version != sharer.version) return &other;
        if (const TensorCell* deeper = writtenSharer(other)) return deeper;
    }
    return nullptr;
}

void checkRoot(const TensorCell& cell, const TensorCell& root) {
    if (root.isLost) refuse(cell, root);
    if (const TensorCell* written = writtenSharer(root)) refuse(cell, *written);
}

/// A pending write put in level by level. The views on the way take it up.
Var putAlong(const PendingWrite& write, std::size_t level, const Var& base, int version) {
    const PendingWrite::Level& at = write.path[level];
    if (level + 1 == write.path.size()) {
        // The view's own value is all of it: where the step changes nothing, it is the base's.
        if (at.step->kind == ViewStep::Kind::Same && !write.isAssignment) return write.value;
        return putBack(*at.step, base, write.value);
    }
    const Var before = at.before.isNone() ? cutAgain(*at.step, base) : at.before;
    const Var now = putAlong(write, level + 1, before, version);
    if (const CellPtr view = at.view.lock()) {
        Region::noteChange(*view, true);
        view->var = now;
        view->seen = version;
        view->chain = nullptr;
    }
    return putBack(*at.step, base, now);
}

/// The root takes up what was written through a view.
void flush(TensorCell& root) {
    if (!root.pending) return;
    const std::shared_ptr<const PendingWrite> write = root.pending;
    Region::noteChange(root, true);
    root.pending = nullptr;
    root.chain = nullptr;
    root.var = putAlong(*write, 0, root.var, root.version);
}

/// In the shape from before reform().
void refreshRaw(TensorCell& cell) {
    TensorCell& root = rawRoot(cell);
    checkRoot(cell, root);
    std::vector<TensorCell*> outdated;  // innermost first
    TensorCell* at = &cell;
    for (; at->base && at->seen != root.version; at = at->base.get()) outdated.push_back(at);
    if (!at->base) flush(root);
    for (std::size_t i = outdated.size(); i-- > 0;) {
        TensorCell& view = *outdated[i];
        if (view.seen == root.version) continue;  // it was on the way of the write
        Region::noteChange(view, true);
        view.chain = nullptr;
        view.var = cutAgain(*view.step, view.base->var);
        view.seen = root.version;
    }
}

Path pathTo(TensorCell& view, const TensorCell& root) {
    Path path;
    for (TensorCell* at = &view; at->base; at = at->base.get()) {
        const bool isAtHand = at->seen == root.version && !(at->chain && at->chain->extended);
        path.push_back({at->step, at->weak_from_this(), isAtHand ? at->var : Var()});
    }
    std::ranges::reverse(path);
    return path;
}

/// PyTorch refuses to write to what may have several elements in one place.
void checkWritable(const TensorCell& view) {
    for (const TensorCell* at = &view; at; at = at->base.get()) {
        if (!at->repeats && !(at->base && mayRepeat(*at->step, at->base->var, at->var))) continue;
        const std::string place = placeOf(at->var), here = SourceFrame::where();
        throw TraceError(TraceErrorKind::Runtime,
                         (place.empty() ? "an expanded tensor" : place) + " is written" +
                             (here.empty() ? "" : " at " + here) +
                             ": unsupported operation: more than one element of the written-to tensor refers to a "
                             "single memory location. Please clone() the tensor before performing the operation.");
    }
}

/// What may share the root's memory cannot be known after a write to it; what the root holds can.
void loseSharers(TensorCell& root, const Var& by) {
    for (const Sharer& sharer : std::vector<Sharer>(root.sharers)) lose(rawRoot(*sharer.root), by);
    agreeWithSharers(root);
}

/// Notes a write to the tensor. For an assignment `value` need not have the tensor's shape and type.
void note(TensorCell& cell, const Var& value, bool isAssignment) {
    ++runState().writes;
    beforeWrite(cell);
    TensorCell& root = rawRoot(cell);
    checkWritable(cell);
    for (TensorCell* at = &cell; at; at = at->base.get()) at->isArgumentWritten = true;
    ModuleState::noteWritten(root);
    const bool replaces = root.pending && !root.pending->isAssignment && !isAssignment &&
                          root.pending->path.back().view.lock().get() == &cell;
    if (&cell != &root && !replaces) flush(root);
    Region::noteChange(root);
    if (&cell == &root) {
        root.var = value;
        root.chain = nullptr;
        root.pending = nullptr;
        root.version = nextVersion();
    } else {
        Path path = replaces ? root.pending->path : pathTo(cell, root);
        root.pending = std::make_shared<const PendingWrite>(PendingWrite{value, std::move(path), isAssignment});
        root.version = nextVersion();
        if (!isAssignment) {
            Region::noteChange(cell, true);
            cell.var = value;
            cell.seen = root.version;
            cell.chain = nullptr;
        }
    }
    root.lastWrite = value;
    loseSharers(root, value);
}

}  // namespace

TensorCell& shown(TensorCell& cell) {
    TensorCell* at = &cell;
    while (at->form) at = at->form.get();
    return *at;
}

TensorCell& rootOf(TensorCell& cell) { return rawRoot(shown(cell)); }

namespace {

/// The view begins where its base begins in memory.
bool keepsStart(const ViewStep& step) {
    if (step.kind == ViewStep::Kind::Same) return true;
    if (step.kind != ViewStep::Kind::Call) return false;
    using operators::ViewForm;
    const ViewForm form = operators::traitsOf("aten", step.name).form;
    return operators::keepsOrder(form) || form == ViewForm::Transpose || form == ViewForm::Permute ||
           form == ViewForm::MoveDim || form == ViewForm::Expand;
}

}  // namespace

ScriptValue storageOf(const ScriptValue& tensor, bool isStartGiven) {
    TensorCell* at = &shown(*tensor.cell());
    bool isKnown = true;
    for (; at->base; at = at->base.get()) isKnown = isKnown && (isStartGiven || keepsStart(*at->step));
    const bool isDense = at->isDense || (at->slot && at->slot->value.isContiguous());
    if (isKnown && at->sharers.empty()) {
        if (isDense) return at->shared_from_this();
        throw TraceError(TraceErrorKind::Runtime, std::string("a tensor ") + operators::kUnknownLayoutText);
    }
    throw TraceError(TraceErrorKind::Runtime,
                     "a tensor is seen through other strides, and where it begins in the memory that it shows is not "
                     "known: not supported; call clone() on it before, or say where in its storage to begin");
}

namespace {

void collectRoots(const ScriptValue& value, std::vector<CellPtr>& roots, int depth) {
    if (depth > 20) return;  // objects may hold each other
    const auto add = [&](TensorCell& root) {
        if (std::ranges::find(roots, &root, &CellPtr::get) == roots.end()) roots.push_back(root.shared_from_this());
    };
    if (TensorCell* cell = value.cell()) {
        add(rootOf(*cell));
    } else if (value.isProxy()) {
        if (const ListOfParts* parts = partsOf(*value.plain())) add(rootOf(*parts->cell));
        if (const CellPtr tensor = knownTensorOf(*value.plain())) add(rootOf(*tensor));
    } else if (const ListValue* list = value.list()) {
        if (list->memory) add(*list->memory);
        for (const ScriptValue& item : list->items) collectRoots(item, roots, depth + 1);
    } else if (const TupleValue* tuple = value.tuple()) {
        for (const ScriptValue& item : tuple->items) collectRoots(item, roots, depth + 1);
    } else if (const DictValue* dict = value.dict()) {
        for (const auto& [key, item] : dict->items) collectRoots(item, roots, depth + 1);
    } else if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) {
        for (const auto& [name, item] : (*instance)->attributes) collectRoots(item, roots, depth + 1);
    }
}

}  // namespace

void noteOtherName(const ScriptValue& value) {
    checkNesting();
    if (TensorCell* cell = value.cell()) shown(*cell).mayBeOther = true;
    if (const CellPtr tensor = value.isProxy() ? knownTensorOf(*value.plain()) : nullptr)
        shown(*tensor).mayBeOther = true;
    if (!value.list()) return;
    for (const ScriptValue& item : value.list()->items) noteOtherName(item);
}

bool mayRepeatElements(const ScriptValue& value) {
    checkNesting();
    if (value.list()) return std::ranges::any_of(value.list()->items, mayRepeatElements);
    if (value.tuple()) return std::ranges::any_of(value.tuple()->items, mayRepeatElements);
    for (const TensorCell* at = value.cell() ? &shown(*value.cell()) : nullptr; at; at = at->base.get()) {
        if (at->repeats || (at->base && mayRepeat(*at->step, at->base->var, at->var))) return true;
    }
    return false;
}

void takeUp(TensorCell& cell) {
    for (TensorCell* at = &shown(cell); at; at = at->base.get()) {
        const TensorCell& root = rawRoot(*at);
        // What is not known is an error when it is read.
        if (!root.isLost && !writtenSharer(root)) refreshRaw(*at);
    }
}

std::vector<CellPtr> rootsIn(const ScriptValue& value) {
    std::vector<CellPtr> roots;
    collectRoots(value, roots, 0);
    return roots;
}

std::vector<CellPtr> withSharers(std::span<const CellPtr> roots) {
    std::vector<CellPtr> all;
    std::vector<CellPtr> next(roots.begin(), roots.end());
    while (!next.empty()) {
        const CellPtr each = rawRoot(*next.back()).shared_from_this();
        next.pop_back();
        if (std::ranges::find(all, each) != all.end()) continue;
        all.push_back(each);
        for (const Sharer& sharer : each->sharers) next.push_back(sharer.root);
    }
    return all;
}

void setBase(TensorCell& view, const CellPtr& base, Step step) {
    const CellPtr whole = shown(*base).shared_from_this();
    if (!step) {
        const CellPtr root = rawRoot(*whole).shared_from_this();
        mayShare(view, {&root, 1});
        return;
    }
    view.base = whole;
    view.step = std::move(step);
    while (view.base->base) {
        Step both = merged(*view.base->step, view.step);
        if (!both) break;
        view.step = std::move(both);
        view.base = view.base->base;
    }
    view.seen = rawRoot(view).version;
}

void mayShare(TensorCell& cell, std::span<const CellPtr> roots) {
    TensorCell& root = rootOf(cell);
    for (const CellPtr& other : roots) {
        if (other.get() == &root || std::ranges::find(root.sharers, other, &Sharer::root) != root.sharers.end())
            continue;
        Region::noteChange(root, true);
        ModuleState::noteLinks(root);
        root.sharers.push_back({other, rawRoot(*other).version});
    }
}

ScriptValue makeUncertain(Var tensor, std::span<const CellPtr> roots) {
    ScriptValue made = makeCell(std::move(tensor));
    mayShare(*made.cell(), roots);
    return made;
}

ScriptValue makeSymbolicList(Var list, bool ofTensors, std::span<const CellPtr> roots) {
    auto made = std::make_shared<ListValue>();
    made->symbolic = std::move(list);
    made->ofTensors = ofTensors;
    made->memory = std::make_shared<TensorCell>();
    made->memory->var = made->symbolic;
    mayShare(*made->memory, roots);
    return made;
}

void agreeWithSharers(TensorCell& root) {
    if (root.sharers.empty()) return;
    Region::noteChange(root, true);
    for (Sharer& sharer : root.sharers) {
        TensorCell& other = rawRoot(*sharer.root);
        agreeWithSharers(other);
        sharer.version = other.version;
    }
}

bool isKnown(TensorCell& cell) {
    const TensorCell& root = rootOf(cell);
    return !root.isLost && !writtenSharer(root);
}

void refresh(TensorCell& cell) { refreshRaw(shown(cell)); }

void Region::settle() {
    // Taking up may note more cells: by index.
    for (std::size_t i = 0; i < m_before.cells.size(); ++i) {
        const CellPtr cell = m_before.cells[i].cell;
        if (!m_before.cells[i].isWritten || cell->isLost) continue;
        TensorCell& root = rawRoot(*cell);
        if (!root.isLost && !writtenSharer(root)) refreshRaw(*cell);
        else lose(*cell, cell->lastWrite, cell->lostTo);
    }
}

Var contentOf(TensorCell& cell) {
    if (!cell.form) return toVar(ScriptValue(cell.shared_from_this()));
    refreshRaw(cell);
    return cell.var;
}

void checkKnown(const ListValue& list) {
    if (list.memory) checkRoot(*list.memory, *list.memory);
}

void write(TensorCell& cell, const Var& result) {
    cell.isArgumentWritten = true;
    refresh(cell);  // nothing, if the operator has read it
    note(shown(cell), result, false);
}

void reform(const CellPtr& cell, const std::string& name, const std::vector<ScriptValue>& arguments,
            const Var& result) {
    refresh(*cell);
    const CellPtr before = shown(*cell).shared_from_this();
    if (before->mayBeOther || !rawRoot(*before).sharers.empty()) {
        const std::string place = placeOf(result);
        throw TraceError(TraceErrorKind::ControlFlow,
                         (place.empty() ? name : place) +
                             " gives a tensor another shape that may be the same one as another name of it "
                             "means: not supported; take a view");
    }
    const ScriptValue made = makeCell(result);
    const auto form = *made.as<CellPtr>();
    // resize_ and the like may give it other memory.
    const operators::Traits& traits = operators::traitsOf("aten", name);
    setBase(*form, before, traits.memory.writes ? nullptr : viewStep(name.substr(0, name.size() - 1), arguments));
    ++runState().writes;
    Region::noteChange(*before);
    cell->isArgumentWritten = true;
    cell->isDense = false;
    ModuleState::noteLinks(*before);
    before->form = form;
}

void beforeWrite(TensorCell& cell) {
    TensorCell& root = rootOf(cell);
    for (const std::weak_ptr<TensorCell>& each : std::exchange(root.readers, {})) {
        if (const CellPtr reader = each.lock()) flush(rawRoot(*reader));
    }
}

bool assignThrough(TensorCell& view, const Var& value, const ScriptValue& source) {
    if (view.form || !view.base || view.step->kind != ViewStep::Kind::Index) return false;
    TensorCell& root = rawRoot(view);
    checkRoot(view, root);
    flush(root);
    note(view, value, true);
    if (source.cell()) rootOf(*source.cell()).readers.push_back(root.weak_from_this());
    return true;
}

void lose(TensorCell& root, const Var& by, const std::string& writer) {
    ModuleState::noteWritten(root);
    Region::noteChange(root);
    root.isArgumentWritten = true;
    const bool wasLost = std::exchange(root.isLost, true);  // tensors of modules may share with each other
    root.lastWrite = by;
    root.lostTo = writer;
    root.version = nextVersion();
    if (wasLost) return;
    for (const Sharer& sharer : std::vector<Sharer>(root.sharers)) lose(rawRoot(*sharer.root), by, writer);
}

std::uint64_t writeCount() { return runState().writes; }
int nextVersion() { return ++runState().versions; }

}  // namespace sonde::io::script
