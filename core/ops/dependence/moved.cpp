// Operators that compute nothing: each element is one of an input, or a constant.

#include <algorithm>

#include "core/operators/moved_elements.h"
#include "core/ops/dependence/leaves.h"
#include "core/ops/dependence/region.h"
#include "core/ops/dependence/rules.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops::dependence {

namespace {

constexpr std::int64_t kMaxIndexed = std::int64_t{1} << 25;  ///< elements that are numbered, 8 bytes each

/// Tensors that are numbered through, from 1 on.
struct Numbered {
    std::vector<MovedElements::Source> sources;
    std::int64_t next = 1;

    base::Result<Tensor> number(std::size_t input, std::size_t member, const Tensor& tensor, DType dtype) {
        if (tensor.numel() > kMaxIndexed || next + tensor.numel() > kMaxIndexed)
            return opError(tensor.typeText() + " has too many elements to find where one comes from");
        SONDE_ASSIGN(Tensor indices, Tensor::allocate(DType::Int64, tensor.shape()));
        for (std::int64_t i = 0; i < tensor.numel(); ++i) indices.mutableData<std::int64_t>()[i] = next + i;
        sources.push_back({input, member, next, tensor.numel(), tensor});
        next += tensor.numel();
        return indices.cast(dtype);
    }
};

bool isListed(std::string_view names, std::string_view name) {
    while (!names.empty()) {
        const std::string_view one = names.substr(0, names.find(' '));
        if (one == name) return true;
        names.remove_prefix(std::min(one.size() + 1, names.size()));
    }
    return false;
}

bool isMoved(const ElementCall& call, std::size_t input) {
    const std::vector<Formal>& formals = call.op.inputs;
    if (!call.text.empty()) {
        const std::size_t formal = std::min(input, formals.empty() ? 0 : formals.size() - 1);
        return !formals.empty() && isListed(call.text, formals[formal].name);
    }
    if (operators::onlyMovesElements(call.op.domain, call.op.name))
        return operators::movesElementsOf(call.op.domain, call.op.name, input);
    return input == 0;
}

/// A value with numbers in place of its elements. `member`: of its first leaf, then of what comes after it.
base::Result<Value> numberedValue(const Value& value, std::size_t input, std::size_t& member, Numbered& numbered,
                                  DType dtype) {
    if (value.isTensor()) {
        SONDE_ASSIGN(Tensor indices, numbered.number(input, member++, value.tensor(), dtype));
        return Value(std::move(indices));
    }
    if (!value.isListLike()) {
        ++member;
        return value;
    }
    tensor::ValueList items;
    for (const Value& item : value.items()) {
        SONDE_ASSIGN(Value inside, numberedValue(item, input, member, numbered, dtype));
        items.push_back(std::move(inside));
    }
    return value.kind() == tensor::ValueKind::Tuple      ? Value::tuple(std::move(items))
           : value.kind() == tensor::ValueKind::Sequence ? Value::sequence(std::move(items))
                                                         : Value::list(std::move(items));
}

/// The inputs with numbers in place of what is moved.
base::Result<std::vector<Value>> numberedInputs(const ElementCall& call, Numbered& numbered, DType dtype) {
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) {
        const Value& value = call.context.value(i);
        if (isMoved(call, i) && value.isNumber()) {
            inputs.push_back(Value::ofInt(0));  // a fill value
        } else if (isMoved(call, i)) {
            std::size_t member = 0;
            SONDE_ASSIGN(Value indices, numberedValue(value, i, member, numbered, dtype));
            inputs.push_back(std::move(indices));
        } else {
            inputs.push_back(value);
        }
    }
    return inputs;
}

/// By element of the result the number of what it is.
base::Result<Tensor> numbersOf(const ElementCall& call, Numbered& numbered, DType dtype) {
    SONDE_ASSIGN(const std::vector<Value> inputs, numberedInputs(call, numbered, dtype));
    Attributes attributes = call.context.attributes();
    if (attributes.has("value")) attributes.set("value", 0.0);  // what Pad fills with
    SONDE_ASSIGN(const std::vector<Value> results, ops::call(call.op, inputs, attributes, call.context.outputCount(),
                                                             call.context.environment(), call.context.version()));
    if (call.output >= results.size()) return opError("there is no such output");
    const Value* result = &results[call.output];
    if (const Value* const leaf = ops::leafOf(*result, call.member)) result = leaf;
    if (!result->isTensor() || result->tensor().numel() != call.result.numel())
        return opError("the operator gave " + result->typeText() + " for indices");
    return result->tensor().cast(DType::Int64);
}

/// An element of these is two numbers, which the kernel may take apart or put together.
bool hasComplexNumbers(const ElementCall& call) {
    bool isComplex = tensor::isComplex(call.result.dtype());
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) {
        const Value& value = call.context.value(i);
        isComplex = isComplex || (value.isTensor() && tensor::isComplex(value.tensor().dtype()));
    }
    return isComplex;
}

}  // namespace

base::Result<MovedElements> movedElements(const ElementCall& call) {
    if (call.context.has("accumulate") && call.context.value("accumulate").number() != 0)
        return opError("elements that are added have no formula");
    // Kernels that take no integers find their way with floats, which hold indices exactly.
    base::Result<Tensor> numbers = opError("");
    for (const DType dtype : {DType::Int64, DType::Float64, DType::Float32}) {
        Numbered numbered;
        numbers = numbersOf(call, numbered, dtype);
        if (!numbers || (dtype == DType::Float32 && numbered.next >= (1 << 24))) continue;
        SONDE_ASSIGN(Tensor whole, std::move(numbers)->contiguous());
        return MovedElements{std::move(whole), std::move(numbered.sources)};
    }
    if (!numbers && hasComplexNumbers(call))
        return opError("what is taken out of complex numbers, or put together to them, has no formula");
    if (!numbers) return std::move(numbers).error();
    return opError("the input has too many elements to find where one comes from");
}

base::Result<Dependence> moved(const ElementCall& call) {
    SONDE_ASSIGN(const MovedElements all, movedElements(call));
    const auto source = all.sourceOf(call.element);
    if (!source) return constantElement(call.result.toDouble(call.element));
    const Tensor& tensor = ops::leafOf(call.context.value(source->input), source->member)->tensor();
    return sourceElement(call, source->input, source->member, source->element, tensor.toDouble(source->element));
}

base::Result<Dependence> gathered(const ElementCall& call) {
    const Tensor& table = call.context.in(kLeft);
    const std::size_t at = call.op.position("indices") < call.context.inputCount() ? call.op.position("indices")
                                                                                   : call.op.position("index");
    if (at >= call.context.inputCount() || !call.context.value(at).isTensor())
        return opError("the indices are missing");
    const Tensor& indices = call.context.in(at);
    std::int64_t given = 0;
    if (!call.text.empty()) {
        given = call.context.attributes().getInt(call.text, 0);
        if (const std::size_t p = call.op.position(Name(call.text)); p < call.context.inputCount()) {
            SONDE_ASSIGN(given, intOf(call.context.value(p)));
        }
    }
    SONDE_ASSIGN(const std::size_t axis, axisOf(given, table.rank()));
    // [in front of the axis, dimensions of the indices, behind the axis]
    const bool keepsAxis = indices.rank() == 0 && call.at.size() == table.rank();  // index_select with one number
    const std::size_t rank = keepsAxis ? 1 : indices.rank();
    if (call.at.size() + 1 != table.rank() + rank) return opError("the result does not match the indices");
    const auto begin = call.at.begin() + static_cast<std::ptrdiff_t>(axis);
    const std::int64_t position =
        elementAt({begin, begin + static_cast<std::ptrdiff_t>(indices.rank())}, indices.shape());
    std::int64_t row = indices.toInt64(position);
    if (row < 0) row += table.dim(axis);
    std::vector<std::int64_t> index(call.at.begin(), begin);
    index.push_back(row);
    index.insert(index.end(), begin + static_cast<std::ptrdiff_t>(rank), call.at.end());
    if (row < 0 || row >= table.dim(axis)) return opError("the index is out of range");
    const std::int64_t element = elementAt(index, table.shape());
    Dependence dependence = sourceElement(call, kLeft, 0, element, table.toDouble(element));
    // It takes no part in the value, but tells which one it is.
    addElement(dependence, dependence.part("index"), call, at, position);
    dependence.terms.back().weight = 0;
    return dependence;
}

base::Result<Dependence> selected(const ElementCall& call) {
    const bool isPosition = call.output == 1 || call.op.outputs.size() == 1;
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < call.context.inputCount(); ++i) inputs.push_back(call.context.value(i));
    Tensor positions = call.result;
    if (!isPosition) {
        SONDE_ASSIGN(const std::vector<Value> results, ops::call(call.op, inputs, call.context.attributes(), 2,
                                                                 call.context.environment(), call.context.version()));
        if (results.size() < 2 || !results[1].isTensor() || results[1].tensor().numel() != call.result.numel())
            return opError("the operator gave no positions");
        positions = results[1].tensor();
    }
    const Tensor& x = call.context.in(kOperand);
    std::int64_t given = call.context.attributes().getInt(call.text, -1);
    if (const std::size_t p = call.op.position(Name(call.text)); p < inputs.size()) {
        SONDE_ASSIGN(given, intOf(inputs[p]));
    }
    std::int64_t element = 0;
    if (x.rank() > 0) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(given, x.rank()));
        std::vector<std::int64_t> index = call.at;
        if (index.size() + 1 == x.rank()) index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis), 0);
        index[axis] = positions.toInt64(call.element);
        element = elementAt(index, x.shape());
        if (element < 0 || element >= x.numel()) return opError("the position is out of range");
    }
    Dependence made = sourceElement(call, kOperand, 0, element, x.toDouble(element));
    if (!isPosition) return made;
    // The element that stands there chose it, and has no part in the number.
    made.formula = "position";
    made.number("position", call.result.toDouble(call.element));
    made.terms.back().weight = 0;
    return made;
}

namespace {

/// Where each update goes: the elements of the first input, read with the same indices.
base::Result<Tensor> targetsOf(const ElementCall& call, std::string_view reader, const Tensor& indices) {
    const Tensor& data = call.context.in(kOperand);
    Numbered numbered;
    SONDE_ASSIGN(const Tensor numbers, numbered.number(0, 0, data, DType::Int64));
    const bool isAten = call.op.domain == "aten";
    std::vector<Value> inputs{Value(numbers)};
    Attributes attributes;
    if (isAten) inputs.push_back(call.context.value("dim"));
    else if (call.context.attributes().has("axis")) attributes.set("axis", call.context.attributes().getInt("axis", 0));
    inputs.emplace_back(indices);
    SONDE_ASSIGN(const std::vector<Value> results,
                 invoke(call.context, isAten ? "aten" : "", reader, std::move(inputs), attributes));
    return results.front().tensor();
}

struct Combination {
    std::string_view name, formula;
};

}  // namespace

base::Result<Dependence> scattered(const ElementCall& call) {
    // "READER" where an attribute or argument says how elements are combined, else "READER HOW".
    const std::size_t blank = call.text.find(' ');
    const std::string_view reader = call.text.substr(0, blank);
    std::string how(blank == std::string_view::npos ? std::string_view("none") : call.text.substr(blank + 1));
    how = call.context.attributes().getString("reduction", how);
    if (const Value* reduce = argumentOf(call, "reduce")) how = reduce->toString();
    constexpr Combination kCombinations[] = {{"none", "x"},
                                             {"add", "x + sum(update)"},
                                             {"sum", "x + sum(update)"},
                                             {"mul", "x * prod(update)"},
                                             {"prod", "x * prod(update)"},
                                             {"max", "maximum(x, max(update))"},
                                             {"amax", "maximum(x, max(update))"},
                                             {"min", "minimum(x, min(update))"},
                                             {"amin", "minimum(x, min(update))"}};
    const auto* found = std::ranges::find(kCombinations, std::string_view(how), &Combination::name);
    if (found == std::end(kCombinations)) return opError("there is no formula for the reduction '" + how + "'");
    const Value* includesSelf = argumentOf(call, "include_self");
    const bool keepsOwn = !includesSelf || includesSelf->number() != 0;
    const auto inputOf = [&](std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (const std::size_t at = call.op.position(Name(name)); at < call.context.inputCount()) return at;
        return call.context.inputCount();
    };
    const std::size_t updates = inputOf({"updates", "src", "source"}), at = inputOf({"indices", "index"});
    if (updates >= call.context.inputCount() || at >= call.context.inputCount())
        return opError("the updates are missing");
    const Tensor& indices = call.context.in(at);
    SONDE_ASSIGN(const Tensor targets, targetsOf(call, reader, indices));
    const Tensor& source = call.context.in(updates);
    const bool isScaled = call.context.has("alpha");
    const double alpha = isScaled ? call.context.value("alpha").number() : 1;
    Dependence dependence;
    const std::uint32_t own = dependence.part("x"), part = dependence.part("update");
    dependence.parts[part].isList = true;
    for (std::int64_t i = 0; i < targets.numel(); ++i) {
        if (targets.toInt64(i) != call.element + 1) continue;
        const std::int64_t element =
            source.shape() == targets.shape() ? i : elementAt(indexOf(i, targets.shape()), source.shape());
        addElement(dependence, part, call, updates, element);
        dependence.terms.back().weight = alpha;
        SONDE_TRY(checkTerms(static_cast<std::int64_t>(dependence.terms.size())));
    }
    const bool hasUpdates = !dependence.terms.empty();
    if (hasUpdates && found->name == "none") {  // the last one stays
        const DependenceTerm last = dependence.terms.back();
        return sourceElement(call, last.input, 0, last.element, last.value);
    }
    dependence.formula = hasUpdates ? found->formula : "x";
    if (hasUpdates && isScaled && alpha != 1) {
        dependence.formula = "x + sum(w * update)";
        dependence.parts[part].weights = "w";
    }
    if (hasUpdates && !keepsOwn) {
        const std::string inner = dependence.formula;
        const std::size_t open = inner.find(how == "sum"    ? "sum"
                                            : how == "prod" ? "prod"
                                            : how == "amax" ? "max(u"
                                                            : "min(u");
        dependence.formula = inner.substr(open);
        if (how.starts_with("a")) dependence.formula.pop_back();
        return dependence;
    }
    addElement(dependence, own, call, kOperand, call.element);
    return dependence;
}

}  // namespace sonde::ops::dependence

namespace sonde::ops {

std::optional<MovedElements::Element> MovedElements::sourceOf(std::int64_t element) const {
    if (element < 0 || element >= numbers.numel()) return std::nullopt;
    const std::int64_t number = numbers.toInt64(element);
    for (const Source& source : sources)
        if (number >= source.first && number < source.first + source.count)
            return Element{source.input, source.member, number - source.first};
    return std::nullopt;
}

}  // namespace sonde::ops
