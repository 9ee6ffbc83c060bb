#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/region.h"

namespace sonde::trace {
class Tracer;
}

// Calls of modules go through tracers, which know values only. What caller and module share all the same is settled
// here: tensors, views of them, lists, dicts and objects, and what modules own. Either it is followed, or reading it
// behind the call is an error that names the module.

namespace sonde::io::script {

/// Where the operations of a called module go.
enum class CallWay : std::uint8_t {
    Alone,   ///< nobody waits who knows of memory: a root, a module that runs when its turn comes
    Inline,  ///< to where the caller's go: the module works on the caller's own tensors and lists
    Body,    ///< into a body or a graph of its own: a leaf, a traced module
    Values,  ///< none: the module runs on values, from what the file holds, while its caller is traced
};

/// Values of this type of the language may hold tensors.
bool mayHoldTensors(const std::string& type);

/// The caller's side, around a call. The innermost one is the called module's.
class ModuleCall {
  public:
    ModuleCall(ScriptModule& module, const std::vector<ScriptValue>& arguments);
    ~ModuleCall();
    ModuleCall(const ModuleCall&) = delete;
    ModuleCall& operator=(const ModuleCall&) = delete;

    /// A tracer's caller waits for what this thread runs on values.
    static bool isAwaited();
    /// What the call gives, `result` as a value, with the memory that it shows. What the caller has takes what happened
    /// to it. Throws TraceError: the module will run on tensors as the file holds them, which have changed.
    ScriptValue apply(const Var& result);

  private:
    friend class CalledModule;
    /// A tensor of the caller's that the module was given as one of its own.
    struct Given {
        CellPtr inner, outer;
        bool isWritten = false;
    };
    /// How a tensor of the result is cut out of what the caller has. No steps: it is all of it.
    struct Origin {
        CellPtr outer;                                       ///< or
        std::shared_ptr<const trace::Slot> slot;             ///< a tensor of a module
        std::vector<std::shared_ptr<const ViewStep>> steps;  ///< outermost first
    };
    struct Assigned {
        const ScriptModule* module;
        std::string name;
        ScriptValue value;
    };
    /// What the module has done, in terms of what the caller has.
    struct Report {
        CallWay way = CallWay::Alone;
        ScriptValue returned;  ///< tensors and containers are the module's own
        std::vector<Given> given;
        std::unordered_map<const void*, ScriptValue> containers;  ///< the caller's by the module's
        std::unordered_map<const TensorCell*, Origin> origins;    ///< of the result's tensors
        std::unordered_map<const TensorCell*, CellPtr> taken;     ///< parts of the result that are the caller's tensors
        std::vector<CellPtr> roots;                               ///< that the result may show
        std::vector<std::shared_ptr<const trace::Slot>> shownSlots, writtenSlots;
        std::vector<CellPtr> written;  ///< older tensors that are none of the arguments
        /// What stands for tensors of the module's own graph: they are lost, unless the result has them as well.
        std::vector<std::pair<CellPtr, const TensorCell*>> lost;
        std::unordered_map<const TensorCell*, CellPtr> made;  ///< tensors of the result by the module's own
        std::vector<std::pair<std::shared_ptr<ListValue>, std::vector<ScriptValue>>> lists;
        std::vector<std::shared_ptr<ListValue>> unknownLists;
        std::vector<std::pair<std::shared_ptr<DictValue>, std::vector<std::pair<ScriptValue, ScriptValue>>>> dicts;
        std::vector<std::pair<std::shared_ptr<InstanceValue>, std::map<std::string, ScriptValue>>> instances;
        std::vector<Assigned> assigned;
        bool sharesInside = false;  ///< tensors of the result share memory with each other
        bool mayRepeat = false;     ///< several elements of the result may be one place in memory
    };

    CallWay way() const;
    bool givesReturned(const Var& result) const;
    void takeChanges(const Var& result);
    void takeReturned(const ScriptValue& made, const ScriptValue& returned);
    ScriptValue withMemory(ScriptValue made);
    ScriptValue withMemory(ScriptValue made, const ScriptValue* returned, const std::vector<CellPtr>& roots);
    bool isKnownView(TensorCell& made, const ScriptValue* returned);
    std::string name() const;
    void checkStored() const;

    ScriptModule& m_module;
    const std::vector<ScriptValue>& m_arguments;
    trace::Tracer* m_tracer;
    ModuleState* m_state;
    std::size_t m_body;
    std::optional<Report> m_report;
    ModuleCall* m_before;
};

/// The called module's side, around its code. Unless it ends with returned(), everything is as it was.
class CalledModule {
  public:
    /// `arguments`, tensors and containers of the module's own, become the caller's where it works on these. Throws
    /// TraceError: it would run on tensors of its own as the file holds them, which have changed.
    CalledModule(trace::Module& module, std::vector<ScriptValue>& arguments);
    /// What the code has given.
    void returned(const ScriptValue& result);
    /// Lists, dicts or objects that were there before it have changed.
    bool hasChangedContainers() const;
    bool isAlone() const { return m_way == CallWay::Alone; }

  private:
    void shareArguments(std::vector<ScriptValue>& arguments);
    void pair(ScriptValue& inner, const ScriptValue& outer, int depth);
    void pairNode(ScriptValue& inner, const Var& outer, std::size_t parameter);
    void linkMemory();
    void reportRoots(const ScriptValue& result);
    void reportResult(const ScriptValue& value, int depth);
    void reportOrigin(TensorCell& cell);
    void reportChanges();
    void checkOwnObjects() const;
    ScriptValue outside(const ScriptValue& value, int depth);

    ModuleCall* m_call;
    CallWay m_way;
    ModuleCall::Report m_report;
    std::unordered_map<const void*, ScriptValue> m_inner;  ///< containers of the module's own that stand for others
    std::optional<ModuleState::Attempt> m_attempt;
    std::optional<Region> m_region;
};

}  // namespace sonde::io::script
