#include "core/trace/memory_rules.h"

#include <algorithm>

#include "core/graph/memory.h"
#include "core/operators/same_tensor.h"
#include "core/trace/operator_call.h"
#include "core/trace/recording.h"

namespace sonde::trace {

using tensor::ValueKind;

namespace {

using operators::Density;
using operators::OpClass;
using operators::Trait;
using operators::Traits;
using operators::ViewForm;

const Traits& traitsOf(const OperatorCall& call) { return operators::traitsOf(call.domain, call.op); }

bool isNumber(const Var& var, std::int64_t number) {
    return var.kind() == Var::Kind::Value && var.value().kind() == tensor::ValueKind::Int &&
           var.value().toInt() == number;
}
bool isNumberOrOmitted(const Var* var, std::int64_t number) { return !var || var->isNone() || isNumber(*var, number); }

bool gathers(ValueKind kind) { return kind == ValueKind::Tensor || kind == ValueKind::List || kind == ValueKind::Bool; }

/// Of one part of an index that is known: a number shows a part, and so does a tensor that is one; masks and lists
/// copy.
Link linkOfIndex(const tensor::Value& index) {
    if (index.kind() == ValueKind::Tuple) {
        Link result = Link::View;
        for (const tensor::Value& part : index.items()) {
            if (part.kind() == ValueKind::Tuple || linkOfIndex(part) == Link::None) result = Link::None;
        }
        return result;
    }
    if (index.isTensor() && index.tensor().rank() == 0 && index.tensor().dtype() != tensor::DType::Bool)
        return Link::View;
    return gathers(index.kind()) ? Link::None : Link::View;
}

/// What the parts of an index say together, proxies included.
Link linkOfIndex(const Var& index, const Recording* recording) {
    switch (index.kind()) {
        case Var::Kind::Value: return linkOfIndex(index.value());
        case Var::Kind::Slice: return Link::View;
        case Var::Kind::Proxy: {
            const auto kind = recording->kindOf(index.node());
            return !kind ? Link::Conditional : gathers(*kind) ? Link::None : Link::View;
        }
        case Var::Kind::Tuple: break;
        default: return Link::None;
    }
    Link result = Link::View;
    for (const Var& part : index.items()) {
        const Link one = part.kind() == Var::Kind::Tuple ? Link::None : linkOfIndex(part, recording);
        if (one == Link::None) return one;
        if (one == Link::Conditional) result = one;
    }
    return result;
}

Link linkOfAttribute(const OperatorCall& call) {
    const bool isText = call.arguments.size() > 1 && call.arguments[1].kind() == Var::Kind::Value &&
                        call.arguments[1].value().kind() == ValueKind::String;
    if (!isText) return Link::Conditional;
    const std::string& name = call.arguments[1].value().toString();
    // x.real of a tensor that is not complex is x.
    static constexpr std::string_view kUncertain[] = {"real", "grad"};
    if (std::ranges::find(kUncertain, name) != std::end(kUncertain)) return Link::Conditional;
    const Traits& traits = operators::traitsOf("aten", operators::operatorOfAttribute(name));
    if (traits.form == ViewForm::Same) return Link::Same;
    return traits.mayBeView() ? Link::View : Link::None;
}

const tensor::Value* numberOf(const Var* var) {
    return var && var->kind() == Var::Kind::Value && var->value().isNumber() ? &var->value() : nullptr;
}

Link linkOfDropout(const OperatorCall& call) {
    const tensor::Value *p = numberOf(call.argument(1, "p")), *trains = numberOf(call.argument(2, "train"));
    switch (operators::sharingOfDropout(p ? std::optional(p->number()) : std::nullopt,
                                        trains ? std::optional(trains->number() != 0) : std::nullopt)) {
        case graph::Sharing::View: return Link::Same;
        case graph::Sharing::Fresh: return Link::None;
        default: return Link::Conditional;
    }
}

/// cartesian_prod([x]) is x, einsum("ij->ji", [x]) shows it; of several tensors they make a new one.
Link linkOfOnlyTensor(const OperatorCall& call) {
    for (const Var& argument : call.arguments) {
        if (argument.isProxy()) return Link::Conditional;
        if (argument.kind() == Var::Kind::List || argument.kind() == Var::Kind::Tuple)
            return argument.items().size() == 1 ? Link::Conditional : Link::None;
        if (argument.kind() != Var::Kind::Value) continue;
        const tensor::Value& value = argument.value();
        if (value.isListLike()) return value.items().size() == 1 ? Link::Conditional : Link::None;
        if (value.kind() == ValueKind::String && operators::sumsLetters(value.toString())) return Link::None;
    }
    return Link::None;
}

}  // namespace

bool mayGiveItself(const OperatorCall& call) { return operators::mayReturnItsArgument(call.domain, call.op); }

bool keepsAll(const OperatorCall& call) {
    const Traits& traits = traitsOf(call);
    if (traits.opClass == OpClass::GetAttr) return call.arguments.size() > 1 && linkOfAttribute(call) == Link::Same;
    return traits.form == ViewForm::Same || traits.form == ViewForm::Contiguous ||
           (traits.opClass == OpClass::Dropout && !traits.is(Trait::InPlace));
}

Link linkOf(const OperatorCall& call, const Recording* recording, bool isPacked) {
    const Traits& traits = traitsOf(call);
    if (traits.form == ViewForm::Index)
        return call.arguments.size() > 1 ? linkOfIndex(call.arguments[1], recording) : Link::Conditional;
    if (traits.opClass == OpClass::GetAttr) return linkOfAttribute(call);
    if (traits.opClass == OpClass::Dropout && traits.mayBeView()) return linkOfDropout(call);
    if (operators::returnsItsOnlyTensor(call.domain, call.op)) return linkOfOnlyTensor(call);
    if (traits.form == ViewForm::Same) return Link::Same;
    const graph::MemoryEffect& effect = traits.memory;
    if (effect.reforms) return Link::Reform;
    if (effect.writes) return Link::Write;
    if (effect.sharing == graph::Sharing::View) return effect.isList ? Link::Parts : Link::View;
    if (effect.sharing != graph::Sharing::MaybeView) return Link::None;
    const bool isContiguous = traits.form == ViewForm::Contiguous;
    const bool isPlain = call.keywords.empty() && (!isContiguous || call.arguments.size() == 1);
    if (isPlain && isPacked && isContiguous) return Link::Same;
    return isPlain && isPacked && operators::keepsOrder(traits.form) ? Link::View : Link::Conditional;
}

bool takesLeadingPart(const OperatorCall& call) {
    switch (traitsOf(call).form) {
        case ViewForm::Index: {
            const Var& index = call.arguments.at(1);
            if (index.kind() == Var::Kind::Slice) return isNumberOrOmitted(&index.items()[2], 1);
            return index.kind() == Var::Kind::Value && index.value().kind() == tensor::ValueKind::Int;
        }
        case ViewForm::Select:
        case ViewForm::Narrow:
        case ViewForm::Unbind: return isNumberOrOmitted(call.argument(1, "dim"), 0);
        case ViewForm::Slice:
            return isNumberOrOmitted(call.argument(1, "dim"), 0) && isNumberOrOmitted(call.argument(4, "step"), 1);
        case ViewForm::Chunk:
        case ViewForm::Split: return isNumberOrOmitted(call.argument(2, "dim"), 0);
        default: return false;
    }
}

bool keepsMemory(const Traits& traits) {
    if (!traits.memory.reforms || traits.memory.writes) return false;
    return traits.form == ViewForm::Unsqueeze || traits.form == ViewForm::Squeeze || traits.form == ViewForm::Transpose;
}

bool mayOverlap(const OperatorCall& call) { return traitsOf(call).is(Trait::Overlaps); }
bool keepsOrder(const OperatorCall& call) { return operators::keepsOrder(traitsOf(call).form); }
bool makesPacked(const OperatorCall& call) { return traitsOf(call).density == Density::Always; }
bool keepsPacked(const OperatorCall& call) { return traitsOf(call).density == Density::LikeArguments; }

}  // namespace sonde::trace
