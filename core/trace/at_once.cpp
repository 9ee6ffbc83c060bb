#include "core/trace/at_once.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "core/base/counted_text.h"
#include "core/graph/memory.h"
#include "core/operators/overlap.h"
#include "core/operators/same_tensor.h"
#include "core/tensor/casting.h"
#include "core/trace/error.h"
#include "core/trace/memory_rules.h"
#include "core/trace/operator_call.h"
#include "core/trace/thread_state.h"

namespace sonde::trace {

using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

[[noreturn]] void fail(const std::string& text) { throw TraceError(TraceErrorKind::Runtime, text); }

const Tensor* tensorOf(const Var& var) {
    return var.kind() == Var::Kind::Value && var.value().isTensor() ? &var.value().tensor() : nullptr;
}

template <typename Visit>
void visitTensors(const Value& value, Visit&& visit) {
    if (value.isTensor()) visit(value.tensor());
    if (value.isListLike()) std::ranges::for_each(value.items(), [&](const Value& item) { visitTensors(item, visit); });
    if (value.kind() == tensor::ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) visitTensors(item, visit);
    }
}

/// Strides with which `base` shows its elements in row-major order in another shape; none if it cannot without a copy.
std::optional<std::vector<std::int64_t>> stridesFor(const Tensor& base, const Shape& shape) {
    if (base.numel() != shape.numel() || base.numel() == 0) return std::nullopt;
    // Runs of the base's dimensions that lie one after the other, each cut into dimensions of the new shape, from the
    // back.
    std::vector<std::int64_t> strides(shape.rank(), 1);
    auto next = static_cast<std::ptrdiff_t>(shape.rank()) - 1;
    std::int64_t count = 1;
    std::int64_t stride = base.rank() == 0 ? 1 : base.strides().back();
    for (auto axis = static_cast<std::ptrdiff_t>(base.rank()) - 1; axis >= 0; --axis) {
        const auto at = static_cast<std::size_t>(axis);
        count *= base.dim(at);
        const bool joins = axis > 0 && (base.dim(at - 1) == 1 || base.strides()[at - 1] == count * stride);
        if (joins) continue;
        std::int64_t taken = 1;
        while (next >= 0 && (taken < count || shape[static_cast<std::size_t>(next)] == 1)) {
            strides[static_cast<std::size_t>(next)] = taken * stride;
            taken *= shape[static_cast<std::size_t>(next--)];
        }
        if (taken != count) return std::nullopt;
        if (axis > 0) stride = base.strides()[at - 1];
        count = 1;
    }
    return strides;
}

/// The part of `base` whose elements have these numbers in row-major order, if strides can say it.
std::optional<Tensor> partOf(const Tensor& base, const Tensor& numbers) {
    const Tensor packed = numbers.contiguous().value();
    const auto placeOf = [&](std::int64_t i) { return base.elementOffset(packed.data<std::int64_t>()[i]); };
    std::vector<std::int64_t> strides(numbers.rank(), 1);
    std::int64_t step = 1;
    for (std::size_t axis = numbers.rank(); axis-- > 0;) {
        if (numbers.dim(axis) > 1) strides[axis] = placeOf(step) - placeOf(0);
        step *= numbers.dim(axis);
    }
    const Tensor part =
        Tensor::onStorage(base.dtype(), numbers.shape(), strides, base.storage(), base.offsetElements() + placeOf(0));
    for (std::int64_t i = 0; i < numbers.numel(); ++i) {
        if (part.elementOffset(i) + placeOf(0) != placeOf(i)) return std::nullopt;
    }
    return part;
}

Value evaluated(const Function& function, std::span<const Value> values,
                std::span<const std::pair<std::string, Value>> named) {
    const auto evaluator = EvaluatorScope::current();
    if (!evaluator)
        fail("'" + std::string(function.display) + "' would have to be computed at once, and there is no evaluator");
    auto results = evaluator->evaluate({std::string(function.domain), std::string(function.op), 0}, values, named,
                                       function.outputs);
    if (!results) fail(results.error().text());
    return function.outputs == 1 ? std::move(results->front()) : Value::tuple(std::move(*results));
}

struct CallValues {
    std::vector<Value> arguments;
    std::vector<std::pair<std::string, Value>> keywords;

    CallValues(const std::vector<Var>& given, const Keywords& named) {
        for (const Var& argument : given) arguments.push_back(argument.toValue());
        for (const auto& [name, argument] : named) keywords.emplace_back(name, argument.toValue());
    }
    bool uses(const Tensor& tensor) const {
        bool found = false;
        const auto compare = [&](const Tensor& argument) { found = found || argument.storage() == tensor.storage(); };
        for (const Value& value : arguments) visitTensors(value, compare);
        for (const auto& [name, value] : keywords) visitTensors(value, compare);
        return found;
    }
};

/// Whatever a result shares with an argument is copied.
Value withOwnMemory(const Value& result, const CallValues& call) {
    if (result.isTensor()) {
        if (!call.uses(result.tensor())) return result;
        auto copy = result.tensor().clone();
        if (!copy) fail(copy.error().text());
        return Value(std::move(*copy));
    }
    if (!result.isListLike() || result.kind() == tensor::ValueKind::Sequence) return result;
    tensor::ValueList items;
    for (const Value& item : result.items()) items.push_back(withOwnMemory(item, call));
    return result.kind() == tensor::ValueKind::Tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

/// Numbers for the elements of a tensor, and of all tensors in a list.
Value numbered(const Value& value) {
    if (value.isTensor()) {
        Tensor numbers = Tensor::zeros(tensor::DType::Int64, value.tensor().shape()).value();
        std::iota(numbers.mutableData<std::int64_t>(), numbers.mutableData<std::int64_t>() + numbers.numel(), 0);
        return Value(std::move(numbers));
    }
    if (!value.isListLike()) return value;
    tensor::ValueList items;
    for (const Value& item : value.items()) items.push_back(numbered(item));
    return value.kind() == tensor::ValueKind::Tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

/// A view as the kernel gave it shows a copy: the same part of the base itself.
Value asView(const Value& result, const Tensor& base, const Function& function, const CallValues& call,
             std::optional<std::size_t> item) {
    if (result.isListLike()) {
        tensor::ValueList items;
        for (std::size_t i = 0; i < result.items().size(); ++i)
            items.push_back(asView(result.items()[i], base, function, call, i));
        return result.kind() == tensor::ValueKind::Tuple ? Value::tuple(std::move(items))
                                                         : Value::list(std::move(items));
    }
    if (!result.isTensor() || result.tensor().storage() == base.storage() || result.tensor().numel() == 0)
        return result;
    const Tensor& copy = result.tensor();
    if (copy.dtype() != base.dtype()) return result;
    const operators::ViewForm form = operators::traitsOf(function.domain, function.op).form;
    const bool conjugates = form == operators::ViewForm::Conjugate || form == operators::ViewForm::Adjoint;
    if (form == operators::ViewForm::Contiguous || (conjugates && tensor::isComplex(base.dtype()))) return result;
    if (operators::keepsOrder(form)) {
        if (const auto strides = stridesFor(base, copy.shape())) {
            return Value(
                Tensor::onStorage(base.dtype(), copy.shape(), *strides, base.storage(), base.offsetElements()));
        }
        return result;
    }
    std::vector<Value> arguments = call.arguments;
    arguments.front() = numbered(arguments.front());
    const Value part = evaluated(function, arguments, call.keywords);
    const Value& own = item ? part.items().at(*item) : part;
    if (!own.isTensor() || own.tensor().dtype() != tensor::DType::Int64) return result;
    const auto view = partOf(base, own.tensor());
    return view ? Value(*view) : result;
}

bool showsAllOf(const Value& value, const Tensor& tensor) {
    if (!value.isTensor() || value.tensor().storage() != tensor.storage() ||
        value.tensor().offsetElements() != tensor.offsetElements() || value.tensor().dtype() != tensor.dtype() ||
        value.tensor().shape() != tensor.shape())
        return false;
    // The stride of an axis with one element says nothing.
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
        if (tensor.dim(axis) > 1 && value.tensor().strides()[axis] != tensor.strides()[axis]) return false;
    }
    return true;
}

/// The operator takes tensors in a list, and each of its results may show the one at its position.
bool takesList(const OperatorCall& called) {
    const operators::ViewForm form = operators::traitsOf(called.domain, called.op).form;
    const bool isOne = operators::returnsItsOnlyTensor(called.domain, called.op);
    if (!isOne && form != operators::ViewForm::Broadcast && form != operators::ViewForm::AtLeast) return false;
    return std::ranges::any_of(called.arguments, [](const Var& argument) {
        return argument.kind() == Var::Kind::Value ? argument.value().isListLike()
                                                   : argument.kind() != Var::Kind::Slice;
    });
}

/// What an operator makes of tensors in a list that it may return, or views of them: broadcast_tensors, meshgrid,
/// cartesian_prod of one. Each result shows the tensor at its position.
Var viewsOfList(const Function& function, const OperatorCall& called, const CallValues& call, const Value& result) {
    const auto list = std::ranges::find_if(call.arguments, &Value::isListLike);
    const Var& held = called.arguments[static_cast<std::size_t>(list - call.arguments.begin())];
    std::vector<Value> arguments = call.arguments;
    arguments[static_cast<std::size_t>(list - call.arguments.begin())] = numbered(*list);
    const Value parts = evaluated(function, arguments, call.keywords);
    const auto shown = [&](const Value& made, const Value& part, std::size_t i) {
        if (i >= list->items().size() || !list->items()[i].isTensor() || !made.isTensor()) return Var(made);
        const Tensor& base = list->items()[i].tensor();
        const auto view = part.isTensor() && part.tensor().dtype() == tensor::DType::Int64 && part.tensor().numel() > 0
                              ? partOf(base, part.tensor())
                              : std::nullopt;
        if (!view) return Var(made);
        const bool isItself = mayGiveItself(called) && showsAllOf(Value(*view), base);
        return isItself && held.kind() != Var::Kind::Value ? held.items()[i] : Var(Value(*view));
    };
    if (!result.isListLike()) return shown(result, parts, 0);
    std::vector<Var> items;
    for (std::size_t i = 0; i < result.items().size(); ++i)
        items.push_back(shown(result.items()[i], parts.items()[i], i));
    return Var::list(std::move(items));
}

bool hasOtherLayout(const Tensor& tensor) {
    const auto& known = threadState().otherLayouts;
    const auto found = known.find(tensor.storage().get());
    return found != known.end() && found->second.lock() == tensor.storage();
}

/// PyTorch gives results the order in memory that their arguments have, where those are permuted; ours are packed.
void noteLayout(const Value& result, const OperatorCall& called, const CallValues& call) {
    if (makesPacked(called)) return;
    bool isPacked = keepsPacked(called);
    const auto look = [&](const Tensor& argument) {
        isPacked = isPacked && argument.isContiguous() && !hasOtherLayout(argument);
    };
    for (const Value& value : call.arguments) visitTensors(value, look);
    for (const auto& [name, value] : call.keywords) visitTensors(value, look);
    if (isPacked) return;
    constexpr std::size_t kMinSweep = 256;
    auto& known = threadState().otherLayouts;
    // Those of tensors that are gone go when there are twice as many.
    if (known.size() >= kMinSweep && std::has_single_bit(known.size()))
        std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    visitTensors(result, [&](const Tensor& made) {
        if (made.rank() > 1) known.insert_or_assign(made.storage().get(), made.storage());
    });
}

/// as_strided counts in the tensor's storage.
Value strided(const OperatorCall& called, const Tensor& base) {
    if (hasOtherLayout(base)) fail(std::string("a tensor ") + operators::kUnknownLayoutText);
    const Var *size = called.argument(1, "size"), *stride = called.argument(2, "stride"),
              *offset = called.argument(3, "storage_offset");
    if (!size || !stride) fail(called.display + ": size and stride are missing");
    std::vector<std::int64_t> dims, strides;
    for (const Var& dim : size->iterate()) dims.push_back(dim.toInt());
    for (const Var& step : stride->iterate()) strides.push_back(step.toInt());
    const std::int64_t first = offset && !offset->isNone() ? offset->toInt() : base.offsetElements();
    const auto count = static_cast<std::int64_t>(base.storage()->sizeBytes() / tensor::itemSize(base.dtype()));
    std::int64_t last = first;
    bool isInside = dims.size() == strides.size() && first >= 0, isEmpty = false;
    for (std::size_t i = 0; i < dims.size() && isInside; ++i) {
        isInside = dims[i] >= 0 && strides[i] >= 0 && (dims[i] <= 1 || strides[i] <= (count - last) / (dims[i] - 1));
        isEmpty = isEmpty || dims[i] == 0;
        if (isInside && dims[i] > 0) last += (dims[i] - 1) * strides[i];
    }
    if (!isInside || (!isEmpty && last >= count))
        fail(called.display + ": the strides lead out of the tensor's storage of " +
             base::countedText(count, "element"));
    return Value(Tensor::onStorage(base.dtype(), Shape(dims), strides, base.storage(), first));
}

void copyInto(const Tensor& source, Tensor target) {
    const Tensor packed = source.contiguous().value();
    std::byte* base = target.mutableBytes();
    const std::size_t item = tensor::itemSize(target.dtype());
    if (target.isContiguous()) {
        std::memmove(base, packed.bytes(), packed.sizeBytes());
        return;
    }
    for (std::int64_t i = 0; i < target.numel(); ++i) {
        std::memcpy(base + target.elementOffset(i) * static_cast<std::int64_t>(item),
                    packed.bytes() + static_cast<std::size_t>(i) * item, item);
    }
}

void checkWritable(const Tensor& tensor, std::string_view operation) {
    if (repeatsElements(tensor)) fail(operators::kRepeatText);
    if (WriteProtection::covers(tensor)) {
        fail(
            std::string(operation) +
            " changes a tensor of the caller or of a module in place: a module that runs on values cannot do that in a graph");
    }
    if (!tensor.storage()->writable() || tensor.dtype() == tensor::DType::String)
        fail(std::string(operation) + " would change the memory of a file; clone() the tensor before");
}

/// Every element of a piece of memory once: no gaps, no element twice.
bool isDense(const Tensor& tensor) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
        if (tensor.dim(axis) > 1) axes.push_back(axis);
    }
    std::ranges::sort(axes, {}, [&](std::size_t axis) { return tensor.strides()[axis]; });
    std::int64_t expected = 1;
    for (const std::size_t axis : axes) {
        if (tensor.strides()[axis] != expected) return false;
        expected *= tensor.dim(axis);
    }
    return true;
}

enum class StorageOverlap : std::uint8_t { None, Same, Partial };

/// How the memory of two tensors meets. (PyTorch does not look at tensors with gaps, and what a write then gives
/// depends on the order of its loops: here they are compared element by element.)
StorageOverlap overlapOf(const Tensor& written, const Tensor& read) {
    if (written.storage() != read.storage() || written.numel() == 0 || read.numel() == 0) return StorageOverlap::None;
    const bool isSame = written.shape() == read.shape() && written.strides() == read.strides() &&
                        written.offsetElements() == read.offsetElements();
    if (isSame) return StorageOverlap::Same;
    const auto item = static_cast<std::int64_t>(tensor::itemSize(written.dtype())),
               otherItem = static_cast<std::int64_t>(tensor::itemSize(read.dtype()));
    if (isDense(written) && isDense(read)) {
        const std::int64_t begin = written.offsetElements() * item, otherBegin = read.offsetElements() * otherItem;
        return begin < otherBegin + read.numel() * otherItem && otherBegin < begin + written.numel() * item
                   ? StorageOverlap::Partial
                   : StorageOverlap::None;
    }
    std::unordered_set<std::int64_t> places;
    for (std::int64_t i = 0; i < written.numel(); ++i)
        places.insert((written.offsetElements() + written.elementOffset(i)) * item);
    bool meets = false, isInStep = written.shape() == read.shape();
    for (std::int64_t i = 0; i < read.numel(); ++i) {
        const std::int64_t at = (read.offsetElements() + read.elementOffset(i)) * otherItem;
        meets = meets || places.contains(at);
        isInStep = isInStep && at == (written.offsetElements() + written.elementOffset(i)) * item;
    }
    return !meets ? StorageOverlap::None : isInStep ? StorageOverlap::Same : StorageOverlap::Partial;
}

void refuseOverlap(const Tensor& written, const Value& argument, bool allowsSame) {
    visitTensors(argument, [&](const Tensor& tensor) {
        const StorageOverlap overlap = overlapOf(written, tensor);
        if (overlap == StorageOverlap::None || (overlap == StorageOverlap::Same && allowsSame)) return;
        fail(operators::kOverlapText);
    });
}

/// x[index] = value: into a view as copy_ does it, into gathered elements as index_put_. One number is read first.
void checkItemOverlap(const std::vector<Var>& arguments) {
    const Tensor* x = tensorOf(arguments.at(0));
    const Tensor* value = tensorOf(arguments.at(2));
    if (!x || !value || value->rank() == 0 || value->storage() != x->storage()) return;
    const Value index = arguments[1].toValue();
    if (graph::sharingOfIndex(index) != graph::Sharing::View) return refuseOverlap(*x, Value(*value), false);
    const Var part =
        callAtOnce(Function{"getitem", "getitem", "getitem", true, "prim"}, {arguments[0], arguments[1]}, {});
    if (tensorOf(part)) refuseOverlap(*tensorOf(part), Value(*value), true);
}

/// PyTorch refuses to write to what it reads through another window (assert_no_partial_overlap of at::TensorIterator).
void checkOverlap(const Function& function, const Var& target, const std::vector<Var>& arguments,
                  const Keywords& keywords) {
    if (operators::traitsOf(function.domain, function.op).opClass == operators::OpClass::SetItem)
        return checkItemOverlap(arguments);
    if (operators::readsNumberFirst(function.op)) return;
    const bool allowsSame = !operators::refusesAnyOverlap(function.op);
    const bool isOut = arguments.empty() || &target != &arguments.front();
    for (std::size_t i = isOut ? 0 : 1; i < arguments.size(); ++i)
        refuseOverlap(*tensorOf(target), arguments[i].toValue(), allowsSame);
    for (const auto& [keyword, argument] : keywords) {
        if (!isOut || keyword != "out") refuseOverlap(*tensorOf(target), argument.toValue(), allowsSame);
    }
}

Value inDType(const Value& value, tensor::DType dtype, std::string_view operation) {
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() == dtype) return value;
    if (!tensor::canCast(tensor.dtype(), dtype)) {
        fail(std::string(operation) + ": result type " + std::string(tensor::name(tensor.dtype())) +
             " can't be cast to the desired output type " + std::string(tensor::name(dtype)));
    }
    auto cast = tensor.cast(dtype);
    if (!cast) fail(cast.error().text());
    return Value(std::move(*cast));
}

/// unsqueeze_ and the like: every name of the tensor sees its new shape.
Var reformAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    const operators::Traits& traits = operators::traitsOf(function.domain, function.op);
    const std::string display(function.display);
    if (traits.form == operators::ViewForm::Same) return arguments.front();
    if (!keepsMemory(traits)) fail(display + " replaces the memory of a tensor: not supported");
    if (arguments.front().slot()) fail(display + " would change the shape of a module's tensor: not supported");
    const std::string op = operators::outOfPlaceName(function.op);
    const Var view = callAtOnce(Function{op, function.display, function.target}, arguments, keywords);
    arguments.front().setTensor(*tensorOf(view));
    return arguments.front();
}

}  // namespace

bool repeatsElements(const Tensor& tensor) {
    for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
        if (tensor.dim(axis) > 1 && tensor.strides()[axis] == 0) return true;
    }
    return false;
}

Var evaluateAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    const CallValues call(arguments, keywords);
    return Var(evaluated(function, call.arguments, call.keywords));
}

Var callAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    const CallValues call(arguments, keywords);
    const Tensor* base =
        call.arguments.empty() || !call.arguments.front().isTensor() ? nullptr : &call.arguments.front().tensor();
    const OperatorCall called(graph::ExprKind::CallFunction, function, arguments, keywords);
    if (base && operators::readsWholeStorage(function.domain, function.op)) return Var(strided(called, *base));
    const Value result = evaluated(function, call.arguments, call.keywords);
    const auto itselfOr = [&](Value made) {
        return mayGiveItself(called) && showsAllOf(made, *base) ? arguments.front() : Var(std::move(made));
    };
    const Link link = linkOf(called, nullptr, base && base->isContiguous());
    if (!base)
        return link != Link::None && takesList(called) ? viewsOfList(function, called, call, result) : Var(result);
    switch (link) {
        case Link::None: {
            Value own = withOwnMemory(result, call);
            noteLayout(own, called, call);
            return Var(std::move(own));
        }
        case Link::Same: return mayGiveItself(called) ? arguments.front() : Var(Value(*base));
        case Link::View:
        case Link::Parts: return itselfOr(asView(result, *base, function, call, std::nullopt));
        default: break;
    }
    const Var* copies = called.argument(3, "copy");
    const operators::ViewForm form = operators::traitsOf(function.domain, function.op).form;
    if (form == operators::ViewForm::Converted && copies && copies->kind() == Var::Kind::Value &&
        copies->value().kind() == tensor::ValueKind::Bool && copies->toBool()) {
        return Var(withOwnMemory(result, call));
    }
    const bool isItself = mayGiveItself(called) && result.isTensor() && result.tensor().storage() == base->storage() &&
                          result.tensor().dtype() == base->dtype() && result.tensor().shape() == base->shape();
    if (isItself) return arguments.front();
    return itselfOr(operators::keepsOrder(form) ? asView(result, *base, function, call, std::nullopt) : result);
}

Var writeAtOnce(const Function& function, const std::vector<Var>& arguments, const Keywords& keywords) {
    const auto out = std::ranges::find_if(
        keywords, [](const auto& entry) { return entry.first == "out" && !entry.second.isNone(); });
    if (out == keywords.end() && graph::memoryEffect(function.domain, function.op).reforms)
        return reformAtOnce(function, arguments, keywords);
    const Var& target = out == keywords.end() ? arguments.front() : out->second;
    const Tensor* memory = tensorOf(target);
    if (!memory)
        throw TraceError(TraceErrorKind::Type,
                         "only a tensor can be changed in place, not " + target.toValue().typeText());
    checkWritable(*memory, function.display);
    checkOverlap(function, target, arguments, keywords);
    Keywords named = keywords;
    std::erase_if(named, [](const auto& entry) { return entry.first == "out"; });
    const std::string op =
        out == keywords.end()
            ? std::string(function.op)
            : functionalOverload({std::string(function.domain), std::string(function.op), 0}, arguments);
    const Var made =
        evaluateAtOnce(Function{op, function.display, function.target, true, function.domain, 1}, arguments, named);
    if (!tensorOf(made))
        throw TraceError(TraceErrorKind::Type, std::string(function.display) + " does not return a tensor");
    const Value result = inDType(made.value(), memory->dtype(), function.display);
    if (result.tensor().shape() != memory->shape()) {
        fail("output with shape " + memory->shape().text() + " doesn't match the broadcast shape " +
             result.tensor().shape().text());
    }
    copyInto(result.tensor(), *memory);
    return target;
}

std::string functionalOverload(const graph::OpKey& op, const std::vector<Var>& arguments) {
    const std::string base(graph::withoutOverload(op.name));
    const bool isOutForm = operators::isOutOverload(op.name);
    if (!isOutForm && op.name != base) return op.name;
    const auto evaluator = EvaluatorScope::current();
    const bool isScalar =
        arguments.size() > 1 && arguments[1].kind() == Var::Kind::Value && arguments[1].value().isNumber();
    for (const char* overload : {"", isScalar ? ".Scalar" : ".Tensor", isScalar ? ".Tensor_Scalar" : ".Tensor_Tensor",
                                 ".self", ".dim", ".int"}) {
        if (evaluator && !evaluator->parameterNames({op.domain, base + overload, op.version}).empty())
            return base + overload;
    }
    return isOutForm ? base : op.name;
}

WriteProtection::WriteProtection(std::span<const Value> values)
    : m_outer(std::exchange(threadState().protection, this)) {
    for (const Value& value : values) protect(value);
}
WriteProtection::~WriteProtection() { threadState().protection = m_outer; }

void WriteProtection::protect(const Value& value) {
    visitTensors(value, [this](const Tensor& tensor) { m_storages.insert(tensor.storage().get()); });
}

void WriteProtection::noteRead(const Tensor& tensor) {
    if (WriteProtection* const protection = threadState().protection)
        protection->m_storages.insert(tensor.storage().get());
}

bool WriteProtection::covers(const Tensor& tensor) {
    for (const WriteProtection* at = threadState().protection; at; at = at->m_outer) {
        if (at->m_storages.contains(tensor.storage().get())) return true;
    }
    return false;
}

}  // namespace sonde::trace
