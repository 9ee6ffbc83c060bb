// Tensors that share memory. An in-place operator makes a new value, and every name of the memory has to mean it: a
// view that was written is put into its base (setitem, or the step turned round), a base that was written is cut again.
// Both are done when something uses, so that a graph has no nodes for what nobody sees.

#include "core/io/torchscript/views.h"

#include <algorithm>
#include <map>

#include "core/graph/memory.h"
#include "core/io/torchscript/dense.h"
#include "core/io/torchscript/language.h"
#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/python_index.h"
#include "core/io/torchscript/region.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using operators::ViewForm;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;

namespace {

constexpr trace::Function kSetItem{"setitem", "setitem", "operator.setitem", true, "prim"};

using Step = std::shared_ptr<const ViewStep>;

Step makeStep(ViewStep::Kind kind, std::string name = {}, std::vector<Var> arguments = {}, std::size_t item = 0) {
    return std::make_shared<const ViewStep>(ViewStep{kind, std::move(name), std::move(arguments), item});
}

ViewForm formOf(const ViewStep& step) { return operators::traitsOf("aten", step.name).form; }

/// A write to the view can be put into its base by an operator: see put().
bool canBePut(ViewForm form) {
    if (operators::keepsOrder(form)) return form != ViewForm::AtLeast;
    switch (form) {
        case ViewForm::Transpose:
        case ViewForm::Permute:
        case ViewForm::MoveDim:
        case ViewForm::Narrow:
        case ViewForm::Slice:
        case ViewForm::Select:
        case ViewForm::Diagonal:
        case ViewForm::AsReal:
        case ViewForm::AsComplex:
        case ViewForm::Expand: return true;
        default: return false;
    }
}

Var everything() { return Var::slice({}, {}, {}); }
bool isEverything(const Var& part) {
    return part.kind() == Var::Kind::Slice &&
           std::ranges::all_of(part.items(), [](const Var& bound) { return bound.isNone(); });
}

/// A part for one dimension, counted from the front or from the back.
std::vector<Var> partsFor(std::int64_t dim, Var part) {
    std::vector<Var> parts;
    if (dim < 0) parts.push_back(Var::ellipsis());
    for (std::int64_t i = 0; i < dim; ++i) parts.push_back(everything());
    parts.push_back(std::move(part));
    for (std::int64_t i = dim; i < -1; ++i) parts.push_back(everything());
    return parts;
}

constexpr std::int64_t kMaxRank = 64;

/// The parts of slice(x, dim, start, end, step), select(x, dim, index), narrow(x, dim, start, length).
std::optional<std::vector<Var>> indexParts(ViewForm form, const std::vector<Var>& in) {
    const Var dimension = in.empty() ? Var(0) : in[0];
    if (!isWhole(dimension) || dimension.toInt() > kMaxRank || dimension.toInt() < -kMaxRank) return std::nullopt;
    const auto bound = [&](std::size_t i, std::int64_t otherwise) {
        return i >= in.size() || (isWhole(in[i]) && in[i].toInt() == otherwise) ? Var() : in[i];
    };
    if (form == ViewForm::Select)
        return in.size() == 2 ? std::optional(partsFor(dimension.toInt(), in[1])) : std::nullopt;
    if (form == ViewForm::Narrow) {
        if (in.size() != 3 || !isWhole(in[1]) || !isWhole(in[2])) return std::nullopt;
        return partsFor(dimension.toInt(), Var::slice(in[1], Var(in[1].toInt() + in[2].toInt()), {}));
    }
    return partsFor(dimension.toInt(), Var::slice(bound(1, 0), bound(2, kToTheEnd), bound(3, 1)));
}

/// What an index on base[first] means on the base itself, if the dimensions that it cuts are still whole.
std::optional<std::vector<Var>> composed(const std::vector<Var>& first, const std::vector<Var>& second) {
    const auto counts = [](const Var& part) {
        return part.kind() == Var::Kind::Slice || isWhole(part) || part.isProxy();
    };
    if (!std::ranges::all_of(first, counts) || !std::ranges::all_of(second, counts)) return std::nullopt;
    std::vector<Var> result = first;
    std::size_t at = 0;
    for (const Var& part : second) {
        while (at < result.size() && result[at].kind() != Var::Kind::Slice) ++at;
        if (at == result.size()) result.push_back(part);
        else if (isEverything(result[at])) result[at] = part;
        else if (!isEverything(part)) return std::nullopt;
        ++at;
    }
    return result;
}

Var call(const std::string& name, std::vector<Var> arguments) {
    std::vector<ScriptValue> values;
    for (const Var& argument : arguments) values.push_back(fromVar(argument));
    return toVar(callOperator(name, std::move(values), {}));
}

/// Element `item` of chunk, split and unbind as an index.
std::vector<Var> itemParts(const ViewStep& step, const Var& base) {
    const Var item(static_cast<std::int64_t>(step.item));
    const std::vector<Var>& in = step.arguments;
    const ViewForm form = formOf(step);
    const std::size_t dimAt = form == ViewForm::Unbind ? 0 : 1;
    const Var dim = in.size() > dimAt ? in[dimAt] : Var(0);
    if (!isWhole(dim) || dim.toInt() > kMaxRank || dim.toInt() < -kMaxRank)
        throw TraceError(TraceErrorKind::Runtime, step.name + " along a dimension that only a run knows");
    if (form == ViewForm::Unbind) return partsFor(dim.toInt(), item);
    if (in[0].kind() == Var::Kind::List || (in[0].kind() == Var::Kind::Value && in[0].value().isListLike())) {
        const std::vector<Var> lengths = in[0].iterate();
        Var start(0);
        for (std::size_t i = 0; i < step.item && i < lengths.size(); ++i) start = start + lengths[i];
        return partsFor(dim.toInt(), Var::slice(start, start + lengths.at(std::min(step.item, lengths.size() - 1))));
    }
    Var length = in[0];
    if (form == ViewForm::Chunk) {
        const Var extent = call("size", {base, dim});
        length = floordiv(extent + in[0] - Var(1), in[0]);
    }
    const Var start = length * item;
    return partsFor(dim.toInt(), Var::slice(start, start + length));
}

Var cut(const ViewStep& step, const Var& base) {
    switch (step.kind) {
        case ViewStep::Kind::Same: return base;
        case ViewStep::Kind::Index: return trace::callFunction(kGetItem, {base, pythonIndex(step.arguments)});
        case ViewStep::Kind::Item: return trace::callFunction(kGetItem, {base, pythonIndex(itemParts(step, base))});
        case ViewStep::Kind::Call: break;
    }
    std::vector<Var> arguments = step.arguments;
    arguments.insert(arguments.begin(), base);
    return call(step.name, std::move(arguments));
}

std::vector<std::int64_t> inverseOf(const Var& permutation) {
    const std::vector<Var> dims = permutation.iterate();
    const auto rank = static_cast<std::int64_t>(dims.size());
    std::vector<std::int64_t> inverse(dims.size());
    for (std::int64_t i = 0; i < rank; ++i) {
        const std::int64_t dim = dims[static_cast<std::size_t>(i)].toInt();
        const std::int64_t at = dim < 0 ? dim + rank : dim;
        if (at < 0 || at >= rank)
            throw TraceError(TraceErrorKind::Value, "permute() got a dimension that is not there");
        inverse[static_cast<std::size_t>(at)] = i;
    }
    return inverse;
}

/// The base with the view replaced by `value`.
Var put(const ViewStep& step, const Var& base, const Var& value) {
    switch (step.kind) {
        case ViewStep::Kind::Same: return call("copy_", {base, value});
        case ViewStep::Kind::Index: return trace::callFunction(kSetItem, {base, pythonIndex(step.arguments), value});
        case ViewStep::Kind::Item:
            return trace::callFunction(kSetItem, {base, pythonIndex(itemParts(step, base)), value});
        case ViewStep::Kind::Call: break;
    }
    const std::vector<Var>& in = step.arguments;
    const auto with = [&](std::vector<Var> first) {
        first.insert(first.end(), in.begin(), in.end());
        return first;
    };
    switch (formOf(step)) {
        case ViewForm::Transpose: return call(step.name, with({value}));
        case ViewForm::Permute: return call("permute", {value, Var(inverseOf(in.at(0)))});
        case ViewForm::MoveDim: return call(step.name, {value, in.at(1), in.at(0)});
        case ViewForm::Narrow: return call("slice_scatter", {base, value, in.at(0), in.at(1), in.at(1) + in.at(2)});
        case ViewForm::Slice: return call("slice_scatter", with({base, value}));
        case ViewForm::Diagonal: return call("diagonal_scatter", with({base, value}));
        case ViewForm::AsReal: return call("view_as_complex", {value});
        case ViewForm::AsComplex: return call("view_as_real", {value});
        case ViewForm::Expand:
            throw TraceError(TraceErrorKind::Runtime, "in-place change of a tensor whose elements share memory");
        default:
            return call(
                "view_as",
                {value, base});  // view, reshape, squeeze, unsqueeze, unflatten: the same elements in the same order
    }
}

/// A pending write with the value of a view of that path, put in level by level.
Var putAlong(const std::vector<Step>& path, std::size_t level, const Var& base, const Var& value, bool isAssignment) {
    const ViewStep& step = *path[level];
    if (level + 1 < path.size())
        return put(step, base, putAlong(path, level + 1, cut(step, base), value, isAssignment));
    // The view's own value is all of it: where the step changes nothing, it is the base's.
    if (step.kind == ViewStep::Kind::Same && !isAssignment) return value;
    return put(step, base, value);
}

[[noreturn]] void refuse() {
    throw TraceError(TraceErrorKind::Runtime,
                     "not supported: use of a tensor whose memory may have been changed in place through another one");
}

}  // namespace

bool mayBeView(const std::string& op, const std::vector<ScriptValue>& arguments) {
    const operators::Traits& traits = operators::traitsOf("aten", op);
    const bool trains =
        traits.is(operators::Trait::Random) && arguments.size() >= 3 && arguments[2].isNumber() && truth(arguments[2]);
    return !trains && traits.mayBeView();
}

Step viewStep(const std::string& op, const std::vector<ScriptValue>& arguments) {
    const operators::Traits& traits = operators::traitsOf("aten", op);
    const ViewForm form = traits.form;
    if (form == ViewForm::Same || (traits.is(operators::Trait::Random) && traits.mayBeView()))
        return makeStep(ViewStep::Kind::Same);
    const bool dense = !arguments.empty() && isDense(arguments[0]);
    if (form == ViewForm::Contiguous && dense && givesDense(op, arguments)) return makeStep(ViewStep::Kind::Same);
    const bool isItem = operators::cutsList(form);
    const bool isSure = canBePut(form) && traits.memory.sharing == graph::Sharing::View;
    const bool isReshape = dense && operators::keepsOrder(form);
    if (!isItem && !isReshape && !isSure) return nullptr;
    std::vector<Var> rest;
    for (std::size_t i = 1; i < arguments.size(); ++i) rest.push_back(toVar(withoutNodes(arguments[i])));
    if (isItem) return makeStep(ViewStep::Kind::Item, op, std::move(rest));
    if (operators::cutsPart(form)) {
        if (auto parts = indexParts(form, rest)) {
            if (std::ranges::all_of(*parts, isEverything)) return makeStep(ViewStep::Kind::Same);
            return makeStep(ViewStep::Kind::Index, {}, std::move(*parts));
        }
        if (form == ViewForm::Select) return nullptr;
    }
    // view(x, dtype) keeps the bytes, not the elements.
    if (form == ViewForm::NewShape && isSure && (rest.size() != 1 || isWhole(rest[0]))) return nullptr;
    return makeStep(ViewStep::Kind::Call, op, std::move(rest));
}

void setBase(TensorCell& view, const std::shared_ptr<TensorCell>& base, Step step) {
    view.base = base;
    view.step = std::move(step);
    while (view.step && view.base->base && view.base->step) {
        const ViewStep& first = *view.base->step;
        const ViewStep& second = *view.step;
        if (first.kind == ViewStep::Kind::Index && second.kind == ViewStep::Kind::Index) {
            auto parts = composed(first.arguments, second.arguments);
            if (!parts) break;
            view.step = makeStep(ViewStep::Kind::Index, {}, std::move(*parts));
        } else if (second.kind == ViewStep::Kind::Same) {
            view.step = view.base->step;
        } else if (first.kind != ViewStep::Kind::Same) {
            break;
        }
        view.base = view.base->base;
    }
    view.baseVersion = view.base->version;
}

void refresh(TensorCell& cell) {
    if (cell.stale) refuse();
    const bool isWriter = cell.base && cell.base->pending && cell.base->pending->writer.lock().get() == &cell;
    if (cell.base && !isWriter) {
        TensorCell& base = *cell.base;
        refresh(base);
        if (cell.baseVersion != base.version) {
            if (!cell.step || base.isReformed) refuse();
            Region::noteChange(cell, true);
            cell.chain = nullptr;
            cell.pending = nullptr;  // the base had it, too
            cell.var = cut(*cell.step, base.var);
            cell.baseVersion = base.version;
            ++cell.version;
        }
    }
    if (!cell.pending) return;
    const std::shared_ptr<const PendingWrite> write = cell.pending;
    const std::shared_ptr<TensorCell> writer = write->path.size() == 1 ? write->writer.lock() : nullptr;
    Region::noteChange(cell, true);
    cell.pending = nullptr;
    cell.chain = nullptr;
    cell.var = putAlong(write->path, 0, cell.var, write->value, write->isAssignment);
    ++cell.version;
    if (!writer || writer->baseVersion != cell.version - 1) return;
    Region::noteChange(*writer, true);
    writer->baseVersion = cell.version;  // it has this already
}

namespace {

/// All that is known of it comes from its base.
bool isDerived(const TensorCell& cell) {
    for (const TensorCell* at = &cell; at->base; at = at->base.get()) {
        if (!at->step) return false;
    }
    return cell.base != nullptr;
}

/// What the base and the bases of the base have to take up. A view that may or may not share memory makes them stale.
void announce(TensorCell& view, const Var& value, bool isAssignment) {
    for (TensorCell* at = &view; at; at = at->base.get()) at->isArgumentWritten = true;
    ModuleState::noteWritten(view);
    std::vector<Step> path;
    const std::weak_ptr<TensorCell> writer = isAssignment ? std::weak_ptr<TensorCell>() : view.weak_from_this();
    for (TensorCell* at = &view; at->base; at = at->base.get()) {
        TensorCell& base = *at->base;
        if (!at->step) {
            for (TensorCell* other = &base; other; other = other->base.get()) {
                Region::noteChange(*other);
                other->stale = true;
            }
            return;
        }
        Region::noteChange(base, isDerived(base));
        path.insert(path.begin(), at->step);
        base.pending = std::make_shared<const PendingWrite>(PendingWrite{value, path, writer, isAssignment});
    }
}

}  // namespace

void write(TensorCell& cell, const Var& result) {
    refresh(cell);  // nothing, if the operator has read it
    ModuleState::noteWritten(cell);
    Region::noteChange(cell, isDerived(cell));
    cell.chain = nullptr;
    cell.var = result;
    ++cell.version;
    announce(cell, result, false);
}

void reform(const std::shared_ptr<TensorCell>& cell, const Var& result) {
    // What it was lives on after it: how the one comes from the other is not known.
    auto before = std::make_shared<TensorCell>(*cell);
    before->serial = nextSerial();
    before->stale = false;
    cell->isArgumentWritten = true;
    Region::noteChange(*cell);
    cell->base = std::move(before);
    cell->step = nullptr;
    cell->pending = nullptr;
    cell->baseVersion = cell->base->version;
    cell->chain = nullptr;
    cell->var = result;
    ++cell->version;
    cell->isReformed = true;
    cell->isDense = false;
}

bool assignThrough(TensorCell& view, const Var& value) {
    if (!isDerived(view) || view.step->kind != ViewStep::Kind::Index) return false;
    refresh(*view.base);
    announce(view, value, true);
    return true;
}

void Region::settle() {
    // Taking up may note more cells: by index.
    for (std::size_t i = 0; i < m_before.cells.size(); ++i) {
        const std::shared_ptr<TensorCell> cell = m_before.cells[i].cell;
        if (m_before.cells[i].isWritten && !cell->stale) refresh(*cell);
    }
}

}  // namespace sonde::io::script
