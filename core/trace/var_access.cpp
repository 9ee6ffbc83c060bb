// What a program asks of a var and does with it: a value answers at once, a proxy through its tracer.

#include "core/base/counted_text.h"
#include "core/operators/traits.h"
#include "core/tensor/slice_value.h"
#include "core/trace/at_once.h"
#include "core/trace/error.h"
#include "core/trace/memory.h"
#include "core/trace/record.h"
#include "core/trace/tracer.h"
#include "core/trace/var.h"

namespace sonde::trace {

using tensor::Value;
using tensor::ValueKind;

Var Var::ofSlot(std::shared_ptr<const Slot> slot) {
    Var var(slot->value);
    WriteProtection::noteRead(slot->value);
    var.m_slot = std::move(slot);
    return var;
}

Tracer* Var::findTracer() const {
    if (m_kind == Kind::Proxy) return m_tracer;
    if (m_kind == Kind::Value) {
        Tracer* active = Tracer::active();
        return active && active->memory().isLifted(value()) ? active : nullptr;
    }
    if (m_items) {
        for (const Var& item : *m_items) {
            if (Tracer* tracer = item.findTracer()) return tracer;
        }
    }
    return nullptr;
}

Var Var::inTrace() const {
    if (m_kind != Kind::Value) return *this;
    Tracer* tracer = findTracer();
    return tracer ? tracer->memory().current(*this) : *this;
}

Value Var::toValue() const {
    if (m_kind == Kind::Value && findTracer()) {
        throw TraceError(TraceErrorKind::Type,
                         "the value of a tensor that the trace has written to is not known while tracing");
    }
    if (m_kind == Kind::Value) return value();
    if (m_kind == Kind::Proxy) refuse("value");
    tensor::ValueList items;
    for (const Var& item : *m_items) items.push_back(item.toValue());
    switch (m_kind) {
        case Kind::List: return Value::list(std::move(items));
        case Kind::Tuple: return Value::tuple(std::move(items));
        case Kind::Slice: return Value::object(std::make_shared<tensor::SliceValue>(items[0], items[1], items[2]));
        default: break;
    }
    tensor::ValueDict dict;
    for (std::size_t i = 0; i < items.size(); ++i) dict.emplace_back((*m_keys)[i], std::move(items[i]));
    return Value::dict(std::move(dict));
}

namespace {

std::string_view kindText(Var::Kind kind) {
    switch (kind) {
        case Var::Kind::Value: return "a value";
        case Var::Kind::Proxy: return "a symbolic variable";
        case Var::Kind::List: return "a list";
        case Var::Kind::Tuple: return "a tuple";
        case Var::Kind::Dict: return "a dict";
        case Var::Kind::Slice: return "a slice";
    }
    return "a variable";
}

}  // namespace

void Var::refuse(std::string_view what) const {
    const bool isLater = m_kind == Kind::Proxy && what == "value";
    std::string text = isLater ? std::string("the value of a symbolic variable is not known while tracing")
                               : std::string(kindText(m_kind)) + " has no " + std::string(what);
    throw TraceError(TraceErrorKind::Type, text);
}

void Var::setTensor(tensor::Tensor tensor) const {
    if (hasProxy()) {
        throw TraceError(TraceErrorKind::Type, "the tensor of a symbolic variable cannot be replaced while tracing");
    }
    if (!m_tensor) {
        const std::string text = m_kind == Kind::Value ? value().typeText() : std::string(kindText(m_kind));
        throw TraceError(TraceErrorKind::Type, text + " is not a tensor: it cannot be replaced by another");
    }
    *m_tensor = tensor::Value(std::move(tensor));
}

bool Var::toBool() const {
    if (m_kind == Kind::Value && value().isTensor() && findTracer()) return inTrace().toBool();
    if (m_kind == Kind::Proxy) {
        if (const auto value = m_tracer->valueOf(m_node, KnownUse::Bool)) return Var(*value).toBool();
        throw m_tracer->refusal(TraceErrorKind::ControlFlow, kControlFlowText);
    }
    if (m_kind != Kind::Value) return !m_items->empty();
    switch (value().kind()) {
        case ValueKind::None: return false;
        case ValueKind::Int:
        case ValueKind::Float:
        case ValueKind::Bool: return value().number() != 0;
        case ValueKind::String: return !value().toString().empty();
        case ValueKind::Dict: return !value().dictItems().empty();
        case ValueKind::Tensor:
            if (value().tensor().numel() == 1) return value().tensor().toDouble(0) != 0;
            throw TraceError(TraceErrorKind::Runtime, "the bool value of a tensor with " +
                                                          std::to_string(value().tensor().numel()) +
                                                          " elements is ambiguous");
        default: return !value().isListLike() || !value().items().empty();
    }
}

std::int64_t Var::toInt() const {
    if (m_kind == Kind::Value && value().isTensor() && findTracer()) return inTrace().toInt();
    if (m_kind == Kind::Proxy) {
        if (const auto value = m_tracer->valueOf(m_node, KnownUse::Int)) return Var(*value).toInt();
        throw m_tracer->refusal(TraceErrorKind::IntConversion, "'Proxy' object cannot be interpreted as an integer");
    }
    if (m_kind == Kind::Value) {
        if (value().kind() == ValueKind::Int) return value().toInt();
        if (value().isNumber()) return static_cast<std::int64_t>(value().number());
        if (value().isTensor() && value().tensor().numel() == 1) return value().tensor().toInt64(0);
    }
    throw TraceError(TraceErrorKind::Type, toValue().typeText() + " cannot be interpreted as an integer");
}

double Var::toFloat() const {
    if (m_kind == Kind::Value && value().isTensor() && findTracer()) return inTrace().toFloat();
    if (m_kind == Kind::Proxy) {
        if (const auto value = m_tracer->valueOf(m_node, KnownUse::Float)) return Var(*value).toFloat();
        throw m_tracer->refusal(TraceErrorKind::IntConversion, "a symbolic variable cannot be interpreted as a number");
    }
    if (m_kind == Kind::Value) {
        if (value().isNumber()) return value().number();
        if (value().isTensor() && value().tensor().numel() == 1) return value().tensor().toDouble(0);
    }
    throw TraceError(TraceErrorKind::Type, toValue().typeText() + " cannot be interpreted as a number");
}

std::size_t Var::length() const {
    if (m_kind == Kind::Proxy) {
        if (const auto value = m_tracer->valueOf(m_node, KnownUse::Length)) return Var(*value).length();
        throw m_tracer->refusal(TraceErrorKind::Length,
                                "'len' is not supported in symbolic tracing by default: the length is not known");
    }
    if (m_kind != Kind::Value) return m_items->size();
    if (value().isListLike()) return value().items().size();
    if (value().kind() == ValueKind::Dict) return value().dictItems().size();
    if (value().kind() == ValueKind::String) return value().toString().size();
    if (value().isTensor() && value().tensor().rank() > 0) return static_cast<std::size_t>(value().tensor().dim(0));
    throw TraceError(TraceErrorKind::Type, value().typeText() + " has no length");
}

std::vector<Var> Var::iterate() const {
    if (m_kind == Kind::Proxy) {
        if (const auto value = m_tracer->valueOf(m_node, KnownUse::Iteration)) return unpack(Var(*value).length());
        throw m_tracer->refusal(TraceErrorKind::Iteration, kIterationText);
    }
    const bool isDict = m_kind == Kind::Dict || (m_kind == Kind::Value && value().kind() == ValueKind::Dict);
    return isDict ? std::vector<Var>(keys().begin(), keys().end()) : unpack(length());
}

const std::vector<Var>& Var::itemsOfValue() const {
    std::vector<Var> items;
    if (m_kind == Kind::Value && value().isListLike()) {
        items.assign(value().items().begin(), value().items().end());
    } else if (m_kind == Kind::Value && value().kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value().dictItems()) items.emplace_back(item);
    } else {
        throw TraceError(
            TraceErrorKind::Type,
            (m_kind == Kind::Proxy ? std::string("a symbolic variable") : value().typeText()) + " has no items");
    }
    m_items = std::make_shared<const std::vector<Var>>(std::move(items));
    return *m_items;
}

const std::vector<Value>& Var::keysOfValue() const {
    if (m_kind != Kind::Value || value().kind() != ValueKind::Dict) {
        throw TraceError(
            TraceErrorKind::Type,
            (m_kind == Kind::Value ? value().typeText() : std::string("a variable that is no dict")) + " has no keys");
    }
    std::vector<Value> keys;
    for (const auto& [key, item] : value().dictItems()) keys.push_back(key);
    m_keys = std::make_shared<const std::vector<Value>>(std::move(keys));
    return *m_keys;
}

std::vector<Var> Var::unpack(std::size_t n) const {
    if (m_kind != Kind::Proxy && length() != n) {
        throw TraceError(TraceErrorKind::Value,
                         std::to_string(length()) + " values where " + std::to_string(n) + " are expected");
    }
    std::vector<Var> result;
    result.reserve(n);
    for (std::size_t i = 0; i < n; ++i) result.push_back((*this)[Var(i)]);
    return result;
}

namespace {

constexpr Function kGetItem{"getitem", "getitem", "operator.getitem", false, "prim"};
constexpr Function kGetAttr{"getattr", "getattr", "builtins.getattr", false, "prim"};

std::size_t elementIndex(const Var& index, std::size_t size) {
    std::int64_t i = index.toInt();
    if (i < 0) i += static_cast<std::int64_t>(size);
    if (i < 0 || i >= static_cast<std::int64_t>(size)) {
        throw TraceError(TraceErrorKind::Value, "index " + std::to_string(index.toInt()) + " is out of range for " +
                                                    base::countedText(static_cast<std::int64_t>(size), "element"));
    }
    return static_cast<std::size_t>(i);
}

}  // namespace

Var Var::operator[](const Var& index) const {
    const bool plainIndex = index.m_kind == Kind::Value && index.value().isNumber();
    if (plainIndex && (m_kind == Kind::List || m_kind == Kind::Tuple))
        return (*m_items)[elementIndex(index, m_items->size())];
    if (plainIndex && m_kind == Kind::Value && value().isListLike()) {
        return Var(value().items()[elementIndex(index, value().items().size())]);
    }
    if (m_kind == Kind::Dict && index.m_kind == Kind::Value) {
        for (std::size_t i = 0; i < m_keys->size(); ++i) {
            if (tensor::identical((*m_keys)[i], index.value())) return (*m_items)[i];
        }
        throw TraceError(TraceErrorKind::Key, index.value().text());
    }
    return callFunction(kGetItem, {*this, index});
}

Var Var::attr(std::string_view name) const {
    if (isProxy()) {
        if (const auto known = m_tracer->answer(name, false, {*this})) return *known;
    }
    return callFunction(kGetAttr, {*this, Var(std::string(name))});
}

Var Var::withItem(const Var& index, const Var& value) const {
    constexpr Function kSetItem{"setitem", "setitem", "operator.setitem", false, "prim"};
    const bool isContainer = m_kind == Kind::List || m_kind == Kind::Tuple || m_kind == Kind::Dict;
    if (isContainer) throw TraceError(TraceErrorKind::Type, "only items of tensors can be assigned");
    if (isProxy() && !WritesAsValues::isOn() && !m_tracer->recordsSetItem()) {
        throw TraceError(TraceErrorKind::Type,
                         "'Proxy' object does not support item assignment: " + m_tracer->recording().placeOf(m_node));
    }
    return callFunction(kSetItem, {*this, index, value});
}

Var Var::method(std::string_view name, std::vector<Var> args, Keywords keywords, std::string_view op) const {
    args.insert(args.begin(), *this);
    const std::string_view called = op.empty() ? name : op;
    const operators::Traits& traits = operators::traitsOf("aten", called);
    const bool asksForm = traits.query != operators::ShapeQuery::None || traits.opClass == operators::OpClass::Shape;
    return callMethod(Function{called, name, name, !asksForm}, std::move(args), std::move(keywords));
}

Var Var::method(std::string_view name) const { return method(name, {}, {}); }

namespace {

/// Two tensors go to the aten operator at once; anything else is decided by the values that meet in a run.
Var binary(std::string_view display, std::string_view target, std::string_view aten, const Var& a, const Var& b) {
    const auto isTensor = [](const Var& v) {
        return v.isProxy() ? v.tracer().recording().isTensor(v.node())
                           : v.kind() == Var::Kind::Value && v.value().isTensor();
    };
    if (!aten.empty() && isTensor(a) && isTensor(b)) return callFunction(Function{aten, display, target}, {a, b});
    Function function{display, display, target, isTensor(a) || isTensor(b), "prim"};
    return callFunction(function, {a, b});
}

}  // namespace

Var operator+(const Var& a, const Var& b) { return binary("add", "operator.add", "add.Tensor", a, b); }
Var operator-(const Var& a, const Var& b) { return binary("sub", "operator.sub", "sub.Tensor", a, b); }
Var operator*(const Var& a, const Var& b) { return binary("mul", "operator.mul", "mul.Tensor", a, b); }
Var operator/(const Var& a, const Var& b) { return binary("truediv", "operator.truediv", "div.Tensor", a, b); }
Var operator>(const Var& a, const Var& b) { return binary("gt", "operator.gt", {}, a, b); }
Var operator<(const Var& a, const Var& b) { return binary("lt", "operator.lt", {}, a, b); }
Var operator>=(const Var& a, const Var& b) { return binary("ge", "operator.ge", {}, a, b); }
Var operator<=(const Var& a, const Var& b) { return binary("le", "operator.le", {}, a, b); }
Var operator==(const Var& a, const Var& b) { return binary("eq", "operator.eq", {}, a, b); }
Var operator!=(const Var& a, const Var& b) { return binary("ne", "operator.ne", {}, a, b); }
Var matmul(const Var& a, const Var& b) { return callFunction({"matmul", "matmul", "operator.matmul"}, {a, b}); }
Var floordiv(const Var& a, const Var& b) { return binary("floordiv", "operator.floordiv", {}, a, b); }
Var remainder(const Var& a, const Var& b) { return binary("mod", "operator.mod", {}, a, b); }
Var power(const Var& a, const Var& b) { return binary("pow", "operator.pow", {}, a, b); }

Var operator-(const Var& a) {
    const bool isTensor = a.isProxy() && a.tracer().recording().isTensor(a.node());
    return callFunction(Function{"neg", "neg", "operator.neg", isTensor, "prim"}, {a});
}

}  // namespace sonde::trace
