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

/// Counts up with everything that a script makes: older than a branch is what has a lower number than its beginning.
std::uint64_t nextSerial();

/// How a tensor was cut out of another one: x[:, :6] is one step of Python's, two of the archive's.
struct IndexChain {
    Var base;
    std::vector<Var> index;
    bool extended =
        false;          ///< the node now stands for the longer index; who still needs the shorter one records it anew
    std::string place;  ///< text of the source that it stands for; empty if that is not known
};

struct ViewStep;
struct TensorCell;

/// A change of a view that its base does not show yet.
struct PendingWrite {
    Var value;  ///< what the view holds; for an assignment anything that fits it
    std::vector<std::shared_ptr<const ViewStep>> path;  ///< from the base to the view
    std::weak_ptr<TensorCell> writer;                   ///< the view, if it holds `value`
    bool isAssignment = false;                          ///< `value` is spread over the view and takes its type
};

/// A tensor as a variable's content: names share it, so that an in-place operator changes what all of them see.
/// A view knows its base and how it was cut out of it. After a change of either the other one is made anew when it is
/// next read (views.h). What cannot be made anew is stale; reading it is an error, never a wrong number.
struct TensorCell : std::enable_shared_from_this<TensorCell> {
    Var var;
    std::shared_ptr<TensorCell> base;
    std::shared_ptr<const ViewStep> step;  ///< of a view; null: whether it shares the base's memory is not known
    std::shared_ptr<const PendingWrite> pending;
    int version = 0;
    int baseVersion = 0;
    bool stale = false;
    bool isReformed = false;                  ///< no longer in the form that its views were cut from
    bool isArgumentWritten = false;           ///< of an argument of forward: changed in place
    bool isDense = false;                     ///< see dense.h
    std::shared_ptr<const trace::Slot> slot;  ///< of a module's own tensor
    std::uint64_t serial = nextSerial();
    std::shared_ptr<IndexChain> chain;  ///< null: no index, or one that cannot be extended
};

struct ListValue {
    std::vector<ScriptValue> items;
    /// A proxy if only a run knows the elements (a loop that appends); `items` is empty then.
    Var symbolic = {};
    bool ofTensors = false;  ///< of a symbolic list: its elements are tensors
    Var node = {};           ///< the node that made just this list, if such nodes are recorded
    std::uint64_t serial = nextSerial();
};
struct TupleValue {
    std::vector<ScriptValue> items;
    const ClassDef* type = nullptr;  ///< of a named tuple
    Var node = {};
};
struct DictValue {
    std::vector<std::pair<ScriptValue, ScriptValue>> items;
    Var node = {};
    std::uint64_t serial = nextSerial();
};
/// An instance of a plain class.
struct InstanceValue {
    std::string typeName;
    const ClassDef* type = nullptr;
    std::map<std::string, ScriptValue> attributes;
    std::uint64_t serial = nextSerial();
};
/// A dotted path that is no variable: "torch.add", "ops.prim.device", "__torch__.own_models.Box".
struct GlobalValue {
    std::string path;
};

/// What a variable of the interpreter holds. Plain: none, number, string, or a proxy that is no tensor.
struct ScriptValue {
    std::variant<Var, std::shared_ptr<TensorCell>, std::shared_ptr<ListValue>, std::shared_ptr<TupleValue>,
                 std::shared_ptr<DictValue>, std::shared_ptr<InstanceValue>, std::shared_ptr<ScriptModule>, GlobalValue>
        data;

    ScriptValue() = default;
    template <typename T>
    requires std::constructible_from<decltype(data), T&&> ScriptValue(T&& value) : data(std::forward<T>(value)) {}

    template <typename T>
    const T* as() const {
        return std::get_if<T>(&data);
    }
    const Var* plain() const { return as<Var>(); }
    TensorCell* cell() const {
        return as<std::shared_ptr<TensorCell>>() ? as<std::shared_ptr<TensorCell>>()->get() : nullptr;
    }
    ListValue* list() const {
        return as<std::shared_ptr<ListValue>>() ? as<std::shared_ptr<ListValue>>()->get() : nullptr;
    }
    TupleValue* tuple() const {
        return as<std::shared_ptr<TupleValue>>() ? as<std::shared_ptr<TupleValue>>()->get() : nullptr;
    }
    DictValue* dict() const {
        return as<std::shared_ptr<DictValue>>() ? as<std::shared_ptr<DictValue>>()->get() : nullptr;
    }
    bool isNone() const { return plain() && plain()->isNone(); }
    bool isString() const {
        return plain() && plain()->kind() == Var::Kind::Value && plain()->value().kind() == tensor::ValueKind::String;
    }
    bool isNumber() const { return plain() && plain()->kind() == Var::Kind::Value && plain()->value().isNumber(); }
    bool isProxy() const { return plain() && plain()->isProxy(); }
    bool isSymbolicList() const { return list() && list()->symbolic.isProxy(); }
};

/// A variable of the language before its first assignment: whatever it meets where branches join is what comes out.
inline constexpr const char* kUninitialized = "<uninitialized>";
inline bool isUninitialized(const ScriptValue& value) {
    return value.as<GlobalValue>() && value.as<GlobalValue>()->path == kUninitialized;
}

/// Whether an index is a number that is known here.
inline bool isWhole(const Var& var) {
    return var.kind() == Var::Kind::Value && var.value().kind() == tensor::ValueKind::Int;
}

ScriptValue makeList(std::vector<ScriptValue> items);
ScriptValue makeTuple(std::vector<ScriptValue> items, const ClassDef* type = nullptr);

ScriptValue makeCell(Var tensor);
/// Tensors get cells, containers their shared forms.
ScriptValue fromVar(const Var& var);
/// The way back. Throws TraceError for modules, instances, and tensors that an in-place operator made stale.
Var toVar(const ScriptValue& value);
/// The value with containers that know no node.
ScriptValue withoutNodes(const ScriptValue& value);
/// "Tensor", "int", "List": for messages.
std::string typeName(const ScriptValue& value);
/// Python's equality of numbers, strings, none and containers of them. Throws for tensors and proxies.
bool equalValues(const ScriptValue& a, const ScriptValue& b);

}  // namespace sonde::io::script
