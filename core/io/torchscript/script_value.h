#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/io/torchscript/syntax.h"
#include "core/trace/var.h"

namespace sonde::io::script {

using trace::Var;

class ScriptModule;
struct ScriptValue;

/// A tensor as a variable's content: names share it, so that an in-place operator changes what all of them see.
/// A view knows its base: changing one makes the other stale, and reading something stale is an error, never a wrong number.
struct TensorCell {
    Var var;
    std::shared_ptr<TensorCell> base;
    int version = 0;
    int baseVersion = 0;
    bool stale = false;
};

struct ListValue {
    std::vector<ScriptValue> items;
};
struct TupleValue {
    std::vector<ScriptValue> items;
    const ClassDef* type = nullptr;  ///< of a named tuple
};
struct DictValue {
    std::vector<std::pair<ScriptValue, ScriptValue>> items;
};
/// An instance of a plain class.
struct InstanceValue {
    std::string typeName;
    const ClassDef* type = nullptr;
    std::map<std::string, ScriptValue> attributes;
};
/// A dotted path that is no variable: "torch.add", "ops.prim.device", "__torch__.own_models.Box".
struct GlobalValue {
    std::string path;
};

/// What a variable of the interpreter holds. Plain: none, number, string, or a proxy that is no tensor.
struct ScriptValue {
    std::variant<Var, std::shared_ptr<TensorCell>, std::shared_ptr<ListValue>, std::shared_ptr<TupleValue>, std::shared_ptr<DictValue>,
                 std::shared_ptr<InstanceValue>, std::shared_ptr<ScriptModule>, GlobalValue>
        data;

    ScriptValue() = default;
    template <typename T>
        requires std::constructible_from<decltype(data), T&&>
    ScriptValue(T&& value) : data(std::forward<T>(value)) {}

    template <typename T>
    const T* as() const { return std::get_if<T>(&data); }
    const Var* plain() const { return as<Var>(); }
    TensorCell* cell() const { return as<std::shared_ptr<TensorCell>>() ? as<std::shared_ptr<TensorCell>>()->get() : nullptr; }
    ListValue* list() const { return as<std::shared_ptr<ListValue>>() ? as<std::shared_ptr<ListValue>>()->get() : nullptr; }
    TupleValue* tuple() const { return as<std::shared_ptr<TupleValue>>() ? as<std::shared_ptr<TupleValue>>()->get() : nullptr; }
    DictValue* dict() const { return as<std::shared_ptr<DictValue>>() ? as<std::shared_ptr<DictValue>>()->get() : nullptr; }
    bool isNone() const { return plain() && plain()->isNone(); }
    bool isString() const { return plain() && plain()->kind() == Var::Kind::Value && plain()->value().kind() == tensor::ValueKind::String; }
    bool isNumber() const { return plain() && plain()->kind() == Var::Kind::Value && plain()->value().isNumber(); }
    bool isProxy() const { return plain() && plain()->isProxy(); }
};

ScriptValue makeList(std::vector<ScriptValue> items);
ScriptValue makeTuple(std::vector<ScriptValue> items, const ClassDef* type = nullptr);

/// Tensors get cells, containers their shared forms.
ScriptValue fromVar(const Var& var);
/// The way back. Throws TraceError for modules, instances, and tensors that an in-place operator made stale.
Var toVar(const ScriptValue& value);
/// "Tensor", "int", "List": for messages.
std::string typeName(const ScriptValue& value);
/// Python's equality of numbers, strings, none and containers of them. Throws for tensors and proxies.
bool equalValues(const ScriptValue& a, const ScriptValue& b);

}  // namespace sonde::io::script
