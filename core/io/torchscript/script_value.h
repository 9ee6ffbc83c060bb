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
using CellPtr = std::shared_ptr<TensorCell>;

/// A change of a view that the tensor it is cut out of does not show yet.
struct PendingWrite {
    /// A view on the way from that tensor to the written one.
    struct Level {
        std::shared_ptr<const ViewStep> step;
        std::weak_ptr<TensorCell> view;
        Var before;  ///< what it was before the write; none if that is not at hand
    };
    Var value;                  ///< what the written view holds; for an assignment anything that fits it
    std::vector<Level> path;    ///< outermost first; the last one is the written view
    bool isAssignment = false;  ///< `value` is spread over the view and takes its type
};

/// Memory that a tensor may show as well, or not, and its version when the tensor was known to fit it.
struct Sharer {
    CellPtr root;
    int version;
};

/// What changes of a tensor while a script runs.
struct TensorState {
    Var var;
    int version = 0;  ///< of a root: another one after each write to its memory, by whatever name
    int seen = 0;     ///< of a view: the version of its root that `var` shows
    std::shared_ptr<const PendingWrite> pending;  ///< of a root: the last of these writes, if `var` lacks it
    std::vector<Sharer> sharers;                  ///< of a root
    Var lastWrite;                                ///< of a root: what the last operator in place gave
    bool isLost = false;                          ///< of a root: nobody knows what it holds
    std::string lostTo;                           ///< of a lost root: who wrote to it, if that was no operator
    CellPtr form;                       ///< the view that it is since an operator gave it another shape in place
    std::shared_ptr<IndexChain> chain;  ///< null: no index, or one that cannot be extended
};

/// A tensor as a variable's content: names share it, so that an in-place operator changes what all of them see.
/// A view knows its base and how it was cut out of it; the one at the end of these bases is its root, with memory of
/// its own. A write is noted at the root; views are cut again when they are next read (views.h). Where only a run knows
/// whether two tensors share memory, one of which was written, reading the other is an error, never a wrong number.
struct TensorCell : TensorState, std::enable_shared_from_this<TensorCell> {
    CellPtr base;
    std::shared_ptr<const ViewStep> step;  ///< of a view
    /// Of a root: others that have it assigned to a part of them, and have not taken that up.
    std::vector<std::weak_ptr<TensorCell>> readers;
    bool mayBeOther = false;                  ///< another name may mean this very tensor: contiguous()
    bool repeats = false;                     ///< several elements may be one place in memory, whatever the steps say
    bool isArgumentWritten = false;           ///< of an argument of forward: changed in place
    bool isDense = false;                     ///< see dense.h
    bool mayBeNumber = false;                 ///< a constant of the archive: see takeConstantsAsNumbers
    std::shared_ptr<const trace::Slot> slot;  ///< of a module's own tensor
    std::uint64_t serial = nextSerial();
};

/// What a container holds. Containers in containers are let go level by level down to a certain depth, what lies deeper
/// one after the other: a script makes a list in a list in a list … deeper than any stack.
template <typename Items>
class Parts : public Items {
  public:
    using Items::Items;
    Parts() = default;
    Parts(Items items) : Items(std::move(items)) {}
    Parts(const Parts&) = default;
    Parts(Parts&&) noexcept = default;
    Parts& operator=(const Parts&) = default;
    Parts& operator=(Parts&&) noexcept = default;
    ~Parts();
};
using PartList = std::vector<ScriptValue>;
using PartPairs = std::vector<std::pair<ScriptValue, ScriptValue>>;
using PartsByName = std::map<std::string, ScriptValue>;

struct ListValue {
    Parts<PartList> items;
    /// A proxy if only a run knows the elements (a loop that appends); `items` is empty then.
    Var symbolic = {};
    bool ofTensors = false;  ///< of a symbolic list: its elements are tensors
    CellPtr memory = {};     ///< of a symbolic list: stands for whatever memory its elements show
    Var node = {};           ///< the node that made just this list, if such nodes are recorded
    std::uint64_t serial = nextSerial();
};
struct TupleValue {
    Parts<PartList> items;
    const ClassDef* type = nullptr;  ///< of a named tuple
    Var node = {};
};
struct DictValue {
    Parts<PartPairs> items;
    Var node = {};
    std::uint64_t serial = nextSerial();
};
/// An instance of a plain class.
struct InstanceValue {
    std::string typeName;
    const ClassDef* type = nullptr;
    Parts<PartsByName> attributes;
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

extern template class Parts<PartList>;
extern template class Parts<PartPairs>;
extern template class Parts<PartsByName>;

/// Throws TraceError where a value nests so deeply that going on into it would leave the stack.
void checkNesting();

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
/// The value of a key; null if the dict lacks it. Throws like equalValues.
ScriptValue* entryOf(DictValue& dict, const ScriptValue& key);
/// dict[key] = value: a key that the dict has keeps its place.
void setEntry(DictValue& dict, ScriptValue key, ScriptValue value);

}  // namespace sonde::io::script
