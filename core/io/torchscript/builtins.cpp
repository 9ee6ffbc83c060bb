// Operators on numbers, strings, lists, dicts and on what a tensor's own description says. None of them makes a node.

#include "core/io/torchscript/builtins.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/counted_text.h"
#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/views.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;

bool hasTensorOrProxy(const ScriptValue& value) {
    checkNesting();
    if (value.cell() || value.isProxy()) return true;
    const std::vector<ScriptValue>* items = itemsOf(value);
    return items && std::ranges::any_of(*items, hasTensorOrProxy);
}

std::size_t checkedIndex(std::int64_t index, std::size_t size) {
    const auto count = static_cast<std::int64_t>(size);
    if (index < -count || index >= count)
        fail(TraceErrorKind::Value,
             "index " + std::to_string(index) + " is out of range for " + base::countedText(count, "element"));
    return static_cast<std::size_t>(index < 0 ? index + count : index);
}

namespace {

/// int op int stays an int (with wrap-around), else float.
bool arithmetic(Arguments& in, ScriptValue& out, std::int64_t (*ints)(std::uint64_t, std::uint64_t),
                double (*floats)(double, double)) {
    if (in.size() < 2 || !in[0].isNumber() || !in[1].isNumber()) return false;
    if (isInt(in[0]) && isInt(in[1])) {
        out = Var(ints(static_cast<std::uint64_t>(intOf(in[0])), static_cast<std::uint64_t>(intOf(in[1]))));
    } else {
        out = Var(floats(numberOf(in[0]), numberOf(in[1])));
    }
    return true;
}

bool compare(Arguments& in, ScriptValue& out, bool (*decide)(int)) {
    if (in.size() != 2) return false;
    if (isInt(in[0]) && isInt(in[1])) {  // exact beyond 2^53
        const std::int64_t a = intOf(in[0]), b = intOf(in[1]);
        out = Var(decide(a < b ? -1 : a > b ? 1 : 0));
        return true;
    }
    if (in[0].isNumber() && in[1].isNumber()) {
        const double a = numberOf(in[0]);
        const double b = numberOf(in[1]);
        out = Var(!(std::isnan(a) || std::isnan(b)) && decide(a < b ? -1 : a > b ? 1 : 0));
        return true;
    }
    if (!in[0].isString() || !in[1].isString()) return false;
    out = Var(decide(stringOf(in[0]).compare(stringOf(in[1]))));
    return true;
}

bool equality(Arguments& in, ScriptValue& out, bool wanted) {
    if (in.size() != 2 || hasTensorOrProxy(in[0]) || hasTensorOrProxy(in[1])) return false;
    out = Var(equalValues(in[0], in[1]) == wanted);
    return true;
}

std::int64_t floorDivided(std::int64_t a, std::int64_t b) {
    if (b == 0) fail(TraceErrorKind::Value, "integer division by zero");
    if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

std::int64_t floorRemainder(std::int64_t a, std::int64_t b) {
    if (b == 0) fail(TraceErrorKind::Value, "integer remainder by zero");
    if (b == -1) return 0;
    const std::int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

bool add(Arguments& in, ScriptValue& out) {
    if (in.size() == 2 && in[0].isString() && in[1].isString()) {
        if (stringOf(in[0]).size() + stringOf(in[1]).size() > kMaxElements)
            fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
        countCharacters(stringOf(in[0]).size() + stringOf(in[1]).size());
        out = Var(stringOf(in[0]) + stringOf(in[1]));
        return true;
    }
    if (in.size() == 2 && in[0].list() && in[1].list()) {
        countElements(in[0].list()->items.size() + in[1].list()->items.size());
        std::vector<ScriptValue> items = in[0].list()->items;
        items.insert(items.end(), in[1].list()->items.begin(), in[1].list()->items.end());
        if (items.size() > kMaxElements) fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
        out = makeList(std::move(items));
        return true;
    }
    return arithmetic(
        in, out, [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a + b); },
        [](double a, double b) { return a + b; });
}

bool mul(Arguments& in, ScriptValue& out) {
    if (in.size() == 2 && in[1].list() && isInt(in[0])) std::swap(in[0], in[1]);
    if (in.size() == 2 && in[0].isString() && in[1].isNumber() && isInt(in[1])) {
        const std::size_t times = static_cast<std::size_t>(std::max<std::int64_t>(intOf(in[1]), 0));
        if (!stringOf(in[0]).empty() && times > kMaxElements / stringOf(in[0]).size())
            fail(TraceErrorKind::Runtime, "a string exceeds the size limit");
        countCharacters(times * stringOf(in[0]).size());
        std::string text;
        for (std::size_t i = 0; i < times && !stringOf(in[0]).empty(); ++i) text += stringOf(in[0]);
        out = Var(std::move(text));
        return true;
    }
    if (in.size() == 2 && in[0].list() && isInt(in[1])) {
        const std::vector<ScriptValue>& part = in[0].list()->items;
        const std::int64_t times = std::max<std::int64_t>(intOf(in[1]), 0);
        if (!part.empty() && static_cast<std::uint64_t>(times) > kMaxElements / part.size())
            fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
        countElements(static_cast<std::size_t>(times) * part.size());
        std::vector<ScriptValue> items;
        for (std::int64_t i = 0; i < times && !part.empty(); ++i) items.insert(items.end(), part.begin(), part.end());
        out = makeList(std::move(items));
        return true;
    }
    return arithmetic(
        in, out, [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a * b); },
        [](double a, double b) { return a * b; });
}

/// A float of ints too: aten::pow.int.
bool power(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber()) return false;
    out = Var(std::pow(numberOf(in[0]), numberOf(in[1])));
    return true;
}

bool extreme(Arguments& in, ScriptValue& out, bool largest) {
    Arguments items = in;
    if (in.size() == 1 && itemsOf(in[0])) items = *itemsOf(in[0]);
    if (items.empty() || !std::ranges::all_of(items, [](const ScriptValue& v) { return v.isNumber(); })) return false;
    if (std::ranges::all_of(items, isInt)) {
        std::int64_t best = intOf(items[0]);
        for (const ScriptValue& item : items)
            best = largest ? std::max(best, intOf(item)) : std::min(best, intOf(item));
        out = Var(best);
        return true;
    }
    // Of an int and a float a float.
    double best = numberOf(items[0]);
    for (const ScriptValue& item : items) {
        if (largest ? numberOf(item) > best : numberOf(item) < best) best = numberOf(item);
    }
    out = Var(best);
    return true;
}

bool length(Arguments& in, ScriptValue& out) {
    if (in.size() != 1) return false;
    if (itemsOf(in[0])) out = Var(itemsOf(in[0])->size());
    else if (in[0].dict()) out = Var(in[0].dict()->items.size());
    else if (in[0].isString()) out = Var(stringOf(in[0]).size());
    else if (tensorOf(in[0])) out = Var(toVar(in[0]).length());
    else if (in[0].isProxy() || in[0].cell()) out = Var(toVar(in[0]).length());
    else return false;
    return true;
}

bool raise(Arguments& in, ScriptValue&) {
    const std::string text = in.empty() ? "" : textOf(in[0]);
    const std::string type = in.size() > 1 ? textOf(in[1]) : "";
    if (type.ends_with("ValueError")) fail(TraceErrorKind::Value, text);
    if (type.ends_with("IndexError")) fail(TraceErrorKind::Value, "IndexError: " + text);
    if (text.starts_with("AssertionError: ")) fail(TraceErrorKind::Assertion, text.substr(16));
    fail(TraceErrorKind::Runtime, text);
}

bool number1(Arguments& in, ScriptValue& out, double (*compute)(double), bool toInt) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    const double result = compute(numberOf(in[0]));
    out = toInt && std::abs(result) < 9.2e18 ? Var(static_cast<std::int64_t>(result)) : Var(result);
    return true;
}

bool negative(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    out = isInt(in[0]) ? Var(static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(intOf(in[0]))))
                       : Var(-numberOf(in[0]));
    return true;
}

bool absolute(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber()) return false;
    out = isInt(in[0]) ? Var(intOf(in[0]) < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(intOf(in[0])))
                                              : intOf(in[0]))
                       : Var(std::abs(numberOf(in[0])));
    return true;
}

bool quantified(Arguments& in, ScriptValue& out, bool all) {
    if (in.size() != 1 || !itemsOf(in[0]) || hasTensorOrProxy(in[0])) return false;
    bool result = all;
    for (const ScriptValue& item : *itemsOf(in[0])) result = all ? result && toBool(item) : result || toBool(item);
    out = Var(result);
    return true;
}

bool isSame(Arguments& in, ScriptValue& out, bool wanted) {
    if (in.size() != 2) return false;
    const bool same = in[0].isNone() || in[1].isNone() ? in[0].isNone() && in[1].isNone()
                                                       : !hasTensorOrProxy(in[0]) && equalValues(in[0], in[1]);
    out = Var(same == wanted);
    return true;
}

bool logic(Arguments& in, ScriptValue& out, bool (*decide)(bool, bool),
           std::int64_t (*bits)(std::int64_t, std::int64_t)) {
    if (in.size() != 2 || !isInt(in[0]) || !isInt(in[1])) return false;
    const bool areBools =
        in[0].plain()->value().kind() == ValueKind::Bool && in[1].plain()->value().kind() == ValueKind::Bool;
    out = areBools ? Var(decide(toBool(in[0]), toBool(in[1]))) : Var(bits(intOf(in[0]), intOf(in[1])));
    return true;
}

/// What a value tensor says of itself; proxies become nodes instead.
bool size(Arguments& in, ScriptValue& out) {
    const tensor::Tensor* tensor = in.empty() ? nullptr : tensorOf(in[0]);
    if (!tensor) return false;
    if (in.size() > 1) {
        out = Var(tensor->dim(checkedIndex(intOf(in[1]), tensor->rank())));
        return true;
    }
    std::vector<ScriptValue> dims;
    for (std::int64_t dim : tensor->shape()) dims.emplace_back(Var(dim));
    out = makeList(std::move(dims));
    return true;
}

bool ofTensor(Arguments& in, ScriptValue& out, Var (*read)(const tensor::Tensor&)) {
    const tensor::Tensor* tensor = in.empty() ? nullptr : tensorOf(in[0]);
    if (!tensor) return false;
    out = read(*tensor);
    return true;
}

/// c10::ScalarType.
std::int64_t scalarType(tensor::DType dtype) {
    using tensor::DType;
    switch (dtype) {
        case DType::UInt8: return 0;
        case DType::Int8: return 1;
        case DType::Int16: return 2;
        case DType::Int32: return 3;
        case DType::Int64: return 4;
        case DType::Float16: return 5;
        case DType::Float32: return 6;
        case DType::Float64: return 7;
        case DType::Complex64: return 9;
        case DType::Complex128: return 10;
        case DType::Bool: return 11;
        case DType::BFloat16: return 15;
        default: return 6;
    }
}

bool item(Arguments& in, ScriptValue& out) {
    const tensor::Tensor* tensor = in.empty() ? nullptr : tensorOf(in[0]);
    if (!tensor) return false;
    if (tensor->numel() != 1) fail(TraceErrorKind::Value, "only a tensor with one element is a number");
    if (tensor->dtype() == tensor::DType::Bool) out = Var(tensor->toInt64(0) != 0);
    else if (tensor::isFloating(tensor->dtype())) out = Var(tensor->toDouble(0));
    else out = Var(tensor->toInt64(0));
    return true;
}

/// Nested lists of numbers.
bool toList(const tensor::Tensor& tensor, ScriptValue& out) {
    if (tensor.numel() > static_cast<std::int64_t>(kMaxElements))
        fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
    if (tensor.rank() == 0) {
        if (tensor.dtype() == tensor::DType::Bool) out = Var(tensor.toInt64(0) != 0);
        else if (tensor::isFloating(tensor.dtype())) out = Var(tensor.toDouble(0));
        else out = Var(tensor.toInt64(0));
        return true;
    }
    std::vector<ScriptValue> items;
    for (std::int64_t i = 0; i < tensor.dim(0); ++i) {
        items.emplace_back();
        toList(tensor.selected(0, i), items.back());
    }
    out = makeList(std::move(items));
    return true;
}

template <typename T>
bool constant(ScriptValue& out, T value) {
    out = Var(value);
    return true;
}

/// x.data: another tensor that shows all of x.
bool dataOf(Arguments& in, ScriptValue& out) {
    if (in.size() != 1) return false;
    out = in[0];
    if (!in[0].cell()) return true;
    const Var var = toVar(in[0]);
    if (EagerRun::current()) {
        out = makeCell(Var(var.value()));
        return true;
    }
    out = makeCell(var);
    out.cell()->isDense = in[0].cell()->isDense;
    setBase(*out.cell(), *in[0].as<CellPtr>(), std::make_shared<const ViewStep>());
    return true;
}

bool pass(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || in[0].cell()) return false;
    out = in[0];
    return true;
}

/// A number is a number already; of a tensor it becomes one.
bool asNumber(Arguments& in, ScriptValue& out) { return pass(in, out) || item(in, out); }

const BuiltinTable& table() {
    // clang-format off
    static const BuiltinTable builtins{
        {"add", add}, {"mul", mul}, {"pow", power}, {"len", length}, {"prim.RaiseException", raise}, {"size", size}, {"item", item},
        {"neg", negative}, {"abs", absolute}, {"prim.abs", absolute}, {"prim.NumToTensor", pass},
        {"ScalarImplicit", asNumber}, {"IntImplicit", asNumber}, {"FloatImplicit", asNumber},
        {"sub", [](Arguments& in, ScriptValue& out) {
             return arithmetic(in, out, [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }, [](double a, double b) { return a - b; });
         }},
        {"rsub", [](Arguments& in, ScriptValue& out) {
             if (in.size() < 2 || (in.size() > 2 && !(in[2].isNumber() && numberOf(in[2]) == 1))) return false;
             Arguments turned{in[1], in[0]};
             return arithmetic(turned, out, [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }, [](double a, double b) { return a - b; });
         }},
        {"div", [](Arguments& in, ScriptValue& out) {
             if (in.size() != 2 || !in[0].isNumber() || !in[1].isNumber()) return false;
             out = Var(numberOf(in[0]) / numberOf(in[1]));
             return true;
         }},
        {"floordiv", [](Arguments& in, ScriptValue& out) {
             return arithmetic(in, out, [](std::uint64_t a, std::uint64_t b) { return floorDivided(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)); },
                               [](double a, double b) { return std::floor(a / b); });
         }},
        {"floor_divide", [](Arguments& in, ScriptValue& out) {
             return arithmetic(in, out, [](std::uint64_t a, std::uint64_t b) { return floorDivided(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)); },
                               [](double a, double b) { return std::floor(a / b); });
         }},
        {"remainder", [](Arguments& in, ScriptValue& out) {
             return arithmetic(in, out, [](std::uint64_t a, std::uint64_t b) { return floorRemainder(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)); },
                               [](double a, double b) { return std::fmod(b + std::fmod(a, b), b); });
         }},
        {"eq", [](Arguments& in, ScriptValue& out) { return equality(in, out, true); }},
        {"ne", [](Arguments& in, ScriptValue& out) { return equality(in, out, false); }},
        {"lt", [](Arguments& in, ScriptValue& out) { return compare(in, out, [](int c) { return c < 0; }); }},
        {"le", [](Arguments& in, ScriptValue& out) { return compare(in, out, [](int c) { return c <= 0; }); }},
        {"gt", [](Arguments& in, ScriptValue& out) { return compare(in, out, [](int c) { return c > 0; }); }},
        {"ge", [](Arguments& in, ScriptValue& out) { return compare(in, out, [](int c) { return c >= 0; }); }},
        {"prim.min", [](Arguments& in, ScriptValue& out) { return extreme(in, out, false); }},
        {"prim.max", [](Arguments& in, ScriptValue& out) { return extreme(in, out, true); }},
        {"any", [](Arguments& in, ScriptValue& out) { return quantified(in, out, false); }},
        {"all", [](Arguments& in, ScriptValue& out) { return quantified(in, out, true); }},
        {"floor", [](Arguments& in, ScriptValue& out) { return number1(in, out, std::floor, true); }},
        {"ceil", [](Arguments& in, ScriptValue& out) { return number1(in, out, std::ceil, true); }},
        {"round", [](Arguments& in, ScriptValue& out) { return number1(in, out, std::nearbyint, false); }},
        {"__is__", [](Arguments& in, ScriptValue& out) { return isSame(in, out, true); }},
        {"__isnot__", [](Arguments& in, ScriptValue& out) { return isSame(in, out, false); }},
        {"__not__", [](Arguments& in, ScriptValue& out) {
             if (in.size() != 1 || hasTensorOrProxy(in[0])) return false;
             return constant(out, !toBool(in[0]));
         }},
        {"__and__", [](Arguments& in, ScriptValue& out) { return logic(in, out, [](bool a, bool b) { return a && b; }, [](std::int64_t a, std::int64_t b) { return a & b; }); }},
        {"__or__", [](Arguments& in, ScriptValue& out) { return logic(in, out, [](bool a, bool b) { return a || b; }, [](std::int64_t a, std::int64_t b) { return a | b; }); }},
        {"__xor__", [](Arguments& in, ScriptValue& out) { return logic(in, out, [](bool a, bool b) { return a != b; }, [](std::int64_t a, std::int64_t b) { return a ^ b; }); }},
        {"__derive_index", [](Arguments& in, ScriptValue& out) {
             if (in.size() != 3 || hasTensorOrProxy(in[0]) || hasTensorOrProxy(in[1]) || hasTensorOrProxy(in[2])) return false;
             return constant(out, intOf(in[1]) + intOf(in[0]) * intOf(in[2]));
         }},
        {"__range_length", [](Arguments& in, ScriptValue& out) {
             if (in.size() != 3 || !isInt(in[0]) || !isInt(in[1]) || !isInt(in[2])) return false;
             if (intOf(in[2]) == 0) fail(TraceErrorKind::Value, "range() arg 3 must not be zero");
             const std::int64_t span = intOf(in[2]) > 0 ? intOf(in[1]) - intOf(in[0]) : intOf(in[0]) - intOf(in[1]);
             const std::int64_t step = std::abs(intOf(in[2]));
             return constant(out, span <= 0 ? std::int64_t{0} : (span - 1) / step + 1);
         }},
        {"warn", [](Arguments&, ScriptValue& out) { out = ScriptValue(); return true; }},
        {"device", [](Arguments& in, ScriptValue& out) { out = in.empty() ? ScriptValue(Var("cpu")) : in[0]; return true; }},
        {"dim", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(t.rank()); }); }},
        {"numel", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(t.numel()); }); }},
        {"is_floating_point", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(tensor::isFloating(t.dtype())); }); }},
        {"prim.dtype", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(scalarType(t.dtype())); }); }},
        {"prim.shape", size},
        {"prim.device", [](Arguments& in, ScriptValue& out) { return !in.empty() && in[0].cell() && constant(out, "cpu"); }},
        {"prim.is_cuda", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_nested", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_quantized", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_sparse", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.requires_grad", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_meta", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_mkldnn", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_xpu", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_mps", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"prim.is_cpu", [](Arguments&, ScriptValue& out) { return constant(out, true); }},
        {"prim.is_leaf", [](Arguments&, ScriptValue& out) { return constant(out, true); }},
        {"prim.layout", [](Arguments&, ScriptValue& out) { return constant(out, std::int64_t{0}); }},
        {"prim.type", [](Arguments& in, ScriptValue& out) { return !in.empty() && in[0].isString() && constant(out, stringOf(in[0]).substr(0, stringOf(in[0]).find(':'))); }},
        {"prim.ndim", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(t.rank()); }); }},
        {"prim.data", dataOf},
        {"prim.itemsize", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(tensor::itemSize(t.dtype())); }); }},
        {"element_size", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(tensor::itemSize(t.dtype())); }); }},
        {"is_complex", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(tensor::isComplex(t.dtype())); }); }},
        {"is_signed", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(tensor::isSigned(t.dtype())); }); }},
        {"is_contiguous", [](Arguments& in, ScriptValue& out) { return ofTensor(in, out, [](const tensor::Tensor& t) { return Var(t.isContiguous()); }); }},
        {"get_device", [](Arguments&, ScriptValue& out) { return constant(out, std::int64_t{-1}); }},
        {"prim.tolist", [](Arguments& in, ScriptValue& out) {
             const tensor::Tensor* tensor = in.empty() ? nullptr : tensorOf(in[0]);
             return tensor && toList(*tensor, out);
         }},
        {"prim.unchecked_unwrap_optional", pass}, {"prim.Print", [](Arguments&, ScriptValue& out) { out = ScriptValue(); return true; }},
        {"set_grad_enabled", [](Arguments&, ScriptValue& out) { out = ScriptValue(); return true; }},
        {"manual_seed", [](Arguments&, ScriptValue& out) { out = ScriptValue(); return true; }},
        {"Int", asNumber}, {"Float", asNumber}, {"Bool", asNumber},
        {"is_autocast_enabled", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"is_autocast_cpu_enabled", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"is_grad_enabled", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
        {"is_scripting", [](Arguments&, ScriptValue& out) { return constant(out, true); }},
        {"is_tracing", [](Arguments&, ScriptValue& out) { return constant(out, false); }},
    };
    // clang-format on
    return builtins;
}

}  // namespace

bool callBuiltin(const std::string& name, std::vector<ScriptValue>& arguments, ScriptValue& result) {
    // The elements of such a list are not here.
    if (std::ranges::any_of(arguments, &ScriptValue::isSymbolicList)) return false;
    // A name may mean something for numbers, something else for text and lists: each says whether it is meant.
    for (const BuiltinTable* builtins : {&table(), &containerBuiltins(), &textBuiltins(), &mathBuiltins()}) {
        const auto found = builtins->find(name);
        if (found != builtins->end() && found->second(arguments, result)) return true;
    }
    return false;
}

}  // namespace sonde::io::script
