// Making and taking apart lists, tuples and dicts, and logic on plain values: nodes of programs in the scripted
// language.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/prim_row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

tensor::ValueList inputsOf(KernelContext& context) {
    tensor::ValueList items;
    for (std::size_t i = 0; i < context.inputCount(); ++i) items.push_back(context.value(i));
    return items;
}

template <ValueKind kind>
base::Result<void> construct(KernelContext& context) {
    context.setOutput(kind == ValueKind::List ? Value::list(inputsOf(context)) : Value::tuple(inputsOf(context)));
    return {};
}

template <ValueKind kind>
base::Result<void> inferConstruct(InferContext& context) {
    TypeInfo type;
    type.kind = kind;
    tensor::ValueList items;
    bool known = true;
    for (std::size_t i = 0; i < context.inputCount(); ++i) {
        type.elements.push_back(context.in(i));
        items.push_back(context.constant(i));
        known = known && !items.back().isNone();
    }
    context.set(std::move(type));
    if (known)
        context.setKnown(kind == ValueKind::List ? Value::list(std::move(items)) : Value::tuple(std::move(items)));
    return {};
}

/// key, value, key, value …
base::Result<void> constructDict(KernelContext& context) {
    tensor::ValueDict entries;
    for (std::size_t i = 0; i + 1 < context.inputCount(); i += 2)
        entries.emplace_back(context.value(i), context.value(i + 1));
    context.setOutput(Value::dict(std::move(entries)));
    return {};
}

base::Result<void> unpack(KernelContext& context) {
    if (!context.value("whole").isListLike()) return opError(context.value("whole").typeText() + " has no elements");
    const tensor::ValueList& items = context.value("whole").items();
    if (items.size() != context.outputCount()) {
        return opError(std::to_string(items.size()) + " elements for " + std::to_string(context.outputCount()) +
                       " names");
    }
    for (std::size_t i = 0; i < items.size(); ++i) context.setOutput(i, items[i]);
    return {};
}

base::Result<void> inferUnpack(InferContext& context) {
    const TypeInfo& type = context.in("whole");
    const bool each = type.kind == ValueKind::Tuple && type.elements.size() == context.outputCount();
    for (std::size_t i = 0; i < context.outputCount(); ++i) {
        if (each || (type.kind == ValueKind::List && type.elements.size() == context.outputCount()))
            context.set(i, type.elements[i]);
        else if (type.kind == ValueKind::List && type.elements.size() == 1) context.set(i, type.elements[0]);
    }
    return {};
}

/// A number as a tensor without dimensions: int64, float64 or bool.
base::Result<void> numberToTensor(KernelContext& context) {
    const Value& number = context.value("a");
    if (number.isTensor()) context.setOutput(number);
    else if (number.kind() == ValueKind::Int) context.setOutput(Value(Tensor::scalar<std::int64_t>(number.toInt())));
    else if (number.kind() == ValueKind::Bool) context.setOutput(Value(Tensor::scalar<bool>(number.toBool())));
    else if (number.isNumber()) context.setOutput(Value(Tensor::scalar<double>(number.number())));
    else return opError(number.typeText() + " is not a number");
    return {};
}

base::Result<void> inferNumberToTensor(InferContext& context) {
    if (const auto number = context.elements("a"); number && number->size() == 1) context.setElements(*number);
    const std::optional<ValueKind> kind = context.in("a").kind;
    if (kind == ValueKind::Int) context.set(TypeInfo::tensor(DType::Int64, Shape{}));
    else if (kind == ValueKind::Float) context.set(TypeInfo::tensor(DType::Float64, Shape{}));
    else if (kind == ValueKind::Bool) context.set(TypeInfo::tensor(DType::Bool, Shape{}));
    return {};
}

base::Result<bool> boolOf(const Value& value) {
    if (value.isNone()) return false;
    if (value.kind() == ValueKind::String) return !value.toString().empty();
    if (value.isListLike()) return !value.items().empty();
    SONDE_ASSIGN(const double number, numberOf(value));
    return number != 0;
}

template <int op>  ///< 0 and, 1 or, 2 xor
base::Result<void> logic(KernelContext& context) {
    const Value& a = context.value("a");
    const Value& b = context.value("b");
    if (a.kind() == ValueKind::Int && b.kind() == ValueKind::Int) {
        const std::int64_t bits = op == 0   ? a.toInt() & b.toInt()
                                  : op == 1 ? a.toInt() | b.toInt()
                                            : a.toInt() ^ b.toInt();
        context.setOutput(Value::ofInt(bits));
        return {};
    }
    SONDE_ASSIGN(const bool x, boolOf(a));
    SONDE_ASSIGN(const bool y, boolOf(b));
    context.setOutput(Value::ofBool(op == 0 ? x && y : op == 1 ? x || y : x != y));
    return {};
}

base::Result<void> logicalNot(KernelContext& context) {
    SONDE_ASSIGN(const bool value, boolOf(context.value("a")));
    context.setOutput(Value::ofBool(!value));
    return {};
}

void setKind(InferContext& context, ValueKind kind) {
    TypeInfo type;
    type.kind = kind;
    context.set(std::move(type));
}

base::Result<void> inferLogic(InferContext& context) {
    if (!context.in("a").kind || !context.in("b").kind) return {};
    const bool isWhole = context.in("a").kind == ValueKind::Int && context.in("b").kind == ValueKind::Int;
    setKind(context, isWhole ? ValueKind::Int : ValueKind::Bool);
    return {};
}

/// Whether something is None is known as soon as its kind is.
template <bool wanted>
base::Result<void> inferSameness(InferContext& context) {
    setKind(context, ValueKind::Bool);
    const auto &a = context.in("a").kind, &b = context.in("b").kind;
    if (a && b && (*a == ValueKind::None || *b == ValueKind::None))
        context.setKnown(Value::ofBool((*a == *b) == wanted));
    return {};
}

template <bool wanted>
base::Result<void> isSame(KernelContext& context) {
    const Value& a = context.value("a");
    const Value& b = context.value("b");
    const bool same = a.isNone() || b.isNone() ? a.isNone() && b.isNone() : tensor::identical(a, b);
    context.setOutput(Value::ofBool(same == wanted));
    return {};
}

base::Result<void> sequenceLength(KernelContext& context) {
    const Value& value = context.value("a");
    std::int64_t count = 0;
    if (value.isTensor() && value.tensor().rank() > 0) count = value.tensor().dim(0);
    else if (value.isListLike()) count = static_cast<std::int64_t>(value.items().size());
    else if (value.kind() == ValueKind::Dict) count = static_cast<std::int64_t>(value.dictItems().size());
    else if (value.kind() == ValueKind::String) count = static_cast<std::int64_t>(value.toString().size());
    else return opError(value.typeText() + " has no length");
    context.setOutput(Value::ofInt(count));
    return {};
}

/// Of a list whose elements all are known, and of a tensor.
base::Result<void> inferSequenceLength(InferContext& context) {
    setKind(context, ValueKind::Int);
    const TypeInfo& type = context.in("a");
    const bool isWhole = type.kind == ValueKind::Tuple || (type.kind == ValueKind::List && type.elements.size() > 1);
    if (isWhole && (!type.elements.empty() || context.constant("a").isListLike()))
        context.setKnown(Value::ofInt(static_cast<std::int64_t>(type.elements.size())));
    if (type.isTensor() && type.shape && !type.shape->empty())
        context.setElements({tensor::Symbolic::of(type.shape->front())});
    return {};
}

/// sum() of Python: an integer unless a number is a float.
base::Result<void> sumOfNumbers(KernelContext& context) {
    const Value& list = context.value("list");
    if (!list.isListLike()) return opError(list.typeText() + " is not a list of numbers");
    std::uint64_t whole = 0;
    double real = 0;
    bool isReal = false;
    for (const Value& item : list.items()) {
        SONDE_ASSIGN(const double number, numberOf(item));
        real += number;
        if (item.kind() == ValueKind::Int) whole += static_cast<std::uint64_t>(item.toInt());
        else if (item.kind() == ValueKind::Bool) whole += number != 0 ? 1 : 0;
        else isReal = true;
    }
    context.setOutput(isReal ? Value::ofFloat(real) : Value::ofInt(static_cast<std::int64_t>(whole)));
    return {};
}

/// Known by the kind of the elements, of which there may be none.
base::Result<void> inferSumOfNumbers(InferContext& context) {
    const std::vector<TypeInfo>& elements = context.in("list").elements;
    const auto isWhole = [](const TypeInfo& type) {
        return type.kind == ValueKind::Int || type.kind == ValueKind::Bool;
    };
    if (!elements.empty() && std::ranges::all_of(elements, isWhole)) setKind(context, ValueKind::Int);
    return {};
}

/// The list with one more element; the one it was made of stays as it is.
base::Result<void> append(KernelContext& context) {
    if (!context.value("list").isListLike()) return opError(context.value("list").typeText() + " is not a list");
    tensor::ValueList items = context.value("list").items();
    items.push_back(context.value("item"));
    context.setOutput(Value::list(std::move(items)));
    return {};
}

/// The one element of a tensor as a number of its kind.
base::Result<void> item(KernelContext& context) {
    if (!context.value("a").isTensor()) {
        context.setOutput(context.value("a"));
        return {};
    }
    const Tensor& x = context.in("a");
    if (x.numel() != 1) return opError(x.typeText() + " is not one number");
    if (x.dtype() == DType::Bool) context.setOutput(Value::ofBool(x.toInt64(0) != 0));
    else if (tensor::isFloating(x.dtype())) context.setOutput(Value::ofFloat(x.toDouble(0)));
    else context.setOutput(Value::ofInt(x.toInt64(0)));
    return {};
}

base::Result<void> inferItem(InferContext& context) {
    const TypeInfo& type = context.in("a");
    if (!type.isTensor()) {
        context.set(type);
    } else if (type.dtype != DType::Undefined) {
        setKind(context, type.dtype == DType::Bool        ? ValueKind::Bool
                         : tensor::isFloating(type.dtype) ? ValueKind::Float
                                                          : ValueKind::Int);
    }
    if (const auto number = context.elements("a");
        number && number->size() == 1 && !tensor::isFloating(type.dtype) && type.dtype != DType::Bool)
        context.setElements(*number);
    return {};
}

base::Result<void> contains(KernelContext& context) {
    const Value& whole = context.value("whole");
    const auto same = [&](const Value& item) { return tensor::identical(item, context.value("item")); };
    bool found = false;
    if (whole.isListLike()) found = std::ranges::any_of(whole.items(), same);
    else if (whole.kind() == ValueKind::Dict)
        found = std::ranges::any_of(whole.dictItems(), [&](const auto& entry) { return same(entry.first); });
    else return opError(whole.typeText() + " has no elements");
    context.setOutput(Value::ofBool(found));
    return {};
}

template <bool largest>
base::Result<void> extreme(KernelContext& context) {
    const Value &first = context.value("a"), &second = context.value("b");
    if (first.kind() == ValueKind::Int && second.kind() == ValueKind::Int) {  // exact beyond 2^53
        context.setOutput((largest ? second.toInt() > first.toInt() : second.toInt() < first.toInt()) ? second : first);
        return {};
    }
    SONDE_ASSIGN(const double a, numberOf(first));
    SONDE_ASSIGN(const double b, numberOf(second));
    const Value& taken = (largest ? b > a : b < a) ? second : first;
    // TorchScript: of an int and a float a float.
    const bool isFloat = first.kind() == ValueKind::Float || second.kind() == ValueKind::Float;
    context.setOutput(isFloat && taken.kind() == ValueKind::Int ? Value::ofFloat(taken.number()) : taken);
    return {};
}

template <bool largest>
base::Result<void> inferExtreme(InferContext& context) {
    const auto &a = context.in("a").kind, &b = context.in("b").kind;
    if (!a || a != b) return {};
    setKind(context, *a);
    const auto one = context.elements("a"), other = context.elements("b");
    if (*a == ValueKind::Int && one && other && one->size() == 1 && other->size() == 1) {
        context.setElements({largest ? larger(one->front(), other->front()) : smaller(one->front(), other->front())});
    }
    return {};
}

template <ValueKind kind>
base::Result<void> inferKind(InferContext& context) {
    TypeInfo type;
    type.kind = kind;
    context.set(std::move(type));
    return {};
}

}  // namespace

void define_prim_structure(Registry& registry) {
    registry.add(primRow("ListConstruct", "a list of its inputs", Category::Sequence)
                     .anyIn("items", Arity::Variadic)
                     .out("list")
                     .runs(construct<ValueKind::List>, inferConstruct<ValueKind::List>));
    registry.add(primRow("TupleConstruct", "a tuple of its inputs", Category::Sequence)
                     .anyIn("items", Arity::Variadic)
                     .out("tuple")
                     .runs(construct<ValueKind::Tuple>, inferConstruct<ValueKind::Tuple>));
    registry.add(primRow("DictConstruct", "a dict of alternating keys and values", Category::Sequence)
                     .anyIn("entries", Arity::Variadic)
                     .out("dict")
                     .runs(constructDict, inferKind<ValueKind::Dict>));
    for (const std::string_view name : {"ListUnpack", "TupleUnpack"}) {
        registry.add(primRow(name, "the elements, each an output", Category::Sequence)
                         .anyIn("whole")
                         .out("items", Arity::Variadic)
                         .runs(unpack, inferUnpack));
    }
    registry.add(primRow("NumToTensor", "a number as a tensor without dimensions", Category::Other)
                     .anyIn("a")
                     .out("tensor")
                     .runs(numberToTensor, inferNumberToTensor));
    registry.add(primRow("and_", "both are true (of integers: bit by bit)", Category::Logic)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(logic<0>, inferLogic));
    registry.add(primRow("or_", "one is true (of integers: bit by bit)", Category::Logic)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(logic<1>, inferLogic));
    registry.add(primRow("xor_", "exactly one is true (integers: bit by bit)", Category::Logic)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(logic<2>, inferLogic));
    registry.add(primRow("not_", "whether a is not true", Category::Logic)
                     .anyIn("a")
                     .out("b")
                     .runs(logicalNot, inferKind<ValueKind::Bool>));
    registry.add(primRow("is_", "a is b (None, or equal)", Category::Logic)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(isSame<true>, inferSameness<true>));
    registry.add(primRow("is_not", "a is not b", Category::Logic)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(isSame<false>, inferSameness<false>));
    registry.add(primRow("append", "a list with one more element", Category::Sequence)
                     .anyIn("list")
                     .anyIn("item")
                     .out("longer")
                     .runs(append, inferKind<ValueKind::List>));
    registry.add(primRow("item", "the one element of a tensor as a number", Category::Other)
                     .anyIn("a")
                     .out("number")
                     .runs(item, inferItem));
    registry.add(primRow("contains", "whether an element is there", Category::Logic)
                     .anyIn("whole")
                     .anyIn("item")
                     .out("found")
                     .runs(contains, inferKind<ValueKind::Bool>));
    registry.add(primRow("min", "the smaller of two numbers", Category::Elementwise)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(extreme<false>, inferExtreme<false>));
    registry.add(primRow("max", "the larger of two numbers", Category::Elementwise)
                     .anyIn("a")
                     .anyIn("b")
                     .out("c")
                     .runs(extreme<true>, inferExtreme<true>));
    registry.add(primRow("sum", "the sum of a list of numbers", Category::Reduction)
                     .anyIn("list")
                     .out("total")
                     .runs(sumOfNumbers, inferSumOfNumbers));
    registry.add(primRow("len", "number of elements", Category::Other)
                     .anyIn("a")
                     .out("n")
                     .runs(sequenceLength, inferSequenceLength));
    explain("prim", "ListUnpack TupleUnpack", dependence::moved);
    explain("prim", "ListConstruct TupleConstruct", dependence::moved, "items");
    explain("prim", "append", dependence::moved, "list item");
    explain("prim", "len", dependence::fixed);
    for (const auto& [names, formula] : {std::pair("Abs", "abs(x)"),
                                         std::pair("Ceil", "ceil(x)"),
                                         std::pair("Floor", "floor(x)"),
                                         std::pair("Round", "round(x)"),
                                         std::pair("Exp", "exp(x)"),
                                         std::pair("Log", "log(x)"),
                                         std::pair("Sin", "sin(x)"),
                                         std::pair("Cos", "cos(x)"),
                                         std::pair("Tanh", "tanh(x)"),
                                         std::pair("IsNaN", "isnan(x)"),
                                         std::pair("IsInf", "isinf(x)"),
                                         std::pair("NumToTensor Float item", "x"),
                                         std::pair("Bool", "x != 0"),
                                         std::pair("Int", "trunc(x)"),
                                         std::pair("min", "minimum(x, y)"),
                                         std::pair("max", "maximum(x, y)"),
                                         std::pair("sqrt", "sqrt(x)"),
                                         std::pair("not_", "x == 0"),
                                         std::pair("and_", "= x & y"),
                                         std::pair("or_", "= x | y"),
                                         std::pair("xor_", "= x ^ y"),
                                         std::pair("add", "x + y"),
                                         std::pair("sub", "x - y"),
                                         std::pair("mul", "x * y"),
                                         std::pair("truediv", "x / y"),
                                         std::pair("floordiv", "floor(x / y)"),
                                         std::pair("truncdiv", "trunc(x / y)"),
                                         std::pair("mod", "x - floor(x / y) * y"),
                                         std::pair("pow", "x ** y"),
                                         std::pair("neg", "-x"),
                                         std::pair("eq", "x == y"),
                                         std::pair("ne", "x != y"),
                                         std::pair("lt", "x < y"),
                                         std::pair("le", "x <= y"),
                                         std::pair("gt", "x > y"),
                                         std::pair("ge", "x >= y")})
        explain("prim", names, dependence::elementWise, formula);
}

}  // namespace sonde::ops
