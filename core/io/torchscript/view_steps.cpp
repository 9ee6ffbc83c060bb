// How a view is cut out of its base, cut again, and turned round for what was written through it.

#include "core/io/torchscript/view_steps.h"

#include <algorithm>

#include "core/graph/memory.h"
#include "core/io/torchscript/dense.h"
#include "core/io/torchscript/language.h"
#include "core/io/torchscript/python_index.h"
#include "core/operators/same_tensor.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using operators::ViewForm;
using trace::TraceError;
using trace::TraceErrorKind;

namespace {

constexpr trace::Function kSetItem{"setitem", "setitem", "operator.setitem", true, "prim"};

Step makeStep(ViewStep::Kind kind, std::string name = {}, std::vector<Var> arguments = {}, std::size_t item = 0) {
    return std::make_shared<const ViewStep>(ViewStep{kind, std::move(name), std::move(arguments), item});
}

ViewForm formOf(const ViewStep& step) { return operators::traitsOf("aten", step.name).form; }

/// A write to the view can be put into its base by an operator: see putBack().
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

/// Counted from the back, the end of a dimension is no number.
Var endOfNarrow(const Var& start, const Var& length) {
    const bool isToTheEnd =
        isWhole(start) && isWhole(length) && start.toInt() < 0 && start.toInt() + length.toInt() >= 0;
    return isToTheEnd ? Var() : start + length;
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
        return partsFor(dimension.toInt(), Var::slice(in[1], endOfNarrow(in[1], in[2]), {}));
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

/// cartesian_prod([x]) is x, einsum("ij->ji", [x]) shows it; of several tensors they make a new one.
operators::Sharing sharingOfOnlyTensor(const std::vector<ScriptValue>& arguments) {
    for (const ScriptValue& argument : arguments) {
        if (argument.isString() && operators::sumsLetters(argument.plain()->value().toString())) break;
        if (argument.isProxy() || argument.isSymbolicList()) return operators::Sharing::MaybeView;
        if (argument.list() || argument.tuple()) {
            const std::size_t count = argument.list() ? argument.list()->items.size() : argument.tuple()->items.size();
            return count == 1 ? operators::Sharing::MaybeView : operators::Sharing::Fresh;
        }
    }
    return operators::Sharing::Fresh;
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
        const Var dimSize = call("size", {base, dim});
        length = floordiv(dimSize + in[0] - Var(1), in[0]);
    }
    const Var start = length * item;
    return partsFor(dim.toInt(), Var::slice(start, start + length));
}

std::vector<std::int64_t> inverseOf(const Var& permutation) {
    const std::vector<Var> dims = permutation.iterate();
    const auto rank = static_cast<std::int64_t>(dims.size());
    std::vector<std::int64_t> inverse(dims.size());
    for (std::int64_t i = 0; i < rank; ++i) {
        const std::int64_t dim = dims[static_cast<std::size_t>(i)].toInt();
        const std::int64_t at = dim < 0 ? dim + rank : dim;
        if (at < 0 || at >= rank)
            throw TraceError(TraceErrorKind::Value, "permute() got a dimension that does not exist");
        inverse[static_cast<std::size_t>(at)] = i;
    }
    return inverse;
}

}  // namespace

Var cutAgain(const ViewStep& step, const Var& base) {
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

Var putBack(const ViewStep& step, const Var& base, const Var& value) {
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
        case ViewForm::Narrow:
            return call("slice_scatter", {base, value, in.at(0), in.at(1), endOfNarrow(in.at(1), in.at(2))});
        case ViewForm::Slice: return call("slice_scatter", with({base, value}));
        case ViewForm::Diagonal: return call("diagonal_scatter", with({base, value}));
        case ViewForm::AsReal: return call("view_as_complex", {value});
        case ViewForm::AsComplex: return call("view_as_real", {value});
        default:
            return call(
                "view_as",
                {value, base});  // view, reshape, squeeze …, an expand that repeats nothing: the same elements in order
    }
}

bool mayRepeat(const ViewStep& step, const Var& base, const Var& view) {
    if (step.kind != ViewStep::Kind::Call || formOf(step) != ViewForm::Expand) return false;
    if (base.isProxy() || view.isProxy())
        return !base.isProxy() || !view.isProxy() || view.tracer().recording().mayRepeat(view.node(), base.node());
    return view.value().tensor().numel() != base.value().tensor().numel();
}

Step merged(const ViewStep& first, const Step& second) {
    if (first.kind == ViewStep::Kind::Same) return second;
    if (second->kind == ViewStep::Kind::Same) return std::make_shared<const ViewStep>(first);
    if (first.kind != ViewStep::Kind::Index || second->kind != ViewStep::Kind::Index) return nullptr;
    auto parts = composed(first.arguments, second->arguments);
    return parts ? makeStep(ViewStep::Kind::Index, {}, std::move(*parts)) : nullptr;
}

operators::Sharing sharingOf(const std::string& op, const std::vector<ScriptValue>& arguments) {
    const operators::Traits& traits = operators::traitsOf("aten", op);
    if (operators::returnsItsOnlyTensor("aten", op)) return sharingOfOnlyTensor(arguments);
    if (!traits.mayBeView() || traits.opClass != operators::OpClass::Dropout) return traits.memory.sharing;
    const auto known = [&](std::size_t i) { return i < arguments.size() && arguments[i].isNumber(); };
    return operators::sharingOfDropout(known(1) ? std::optional(arguments[1].plain()->toFloat()) : std::nullopt,
                                       known(2) ? std::optional(toBool(arguments[2])) : std::nullopt);
}

bool mayBeView(const std::string& op, const std::vector<ScriptValue>& arguments) {
    const operators::Sharing sharing = sharingOf(op, arguments);
    return sharing == operators::Sharing::View || sharing == operators::Sharing::MaybeView;
}

Step viewStep(const std::string& op, const std::vector<ScriptValue>& arguments) {
    const operators::Traits& traits = operators::traitsOf("aten", op);
    const ViewForm form = traits.form;
    const bool isSame =
        traits.opClass == operators::OpClass::Dropout && sharingOf(op, arguments) == operators::Sharing::View;
    if (form == ViewForm::Same || isSame) return makeStep(ViewStep::Kind::Same);
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

}  // namespace sonde::io::script
