#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/script_value.h"
#include "core/trace/live_object.h"

namespace sonde::trace {
class Module;
class Tracer;
}  // namespace sonde::trace

namespace sonde::io::script {

/// What a model changes of itself while it runs: attributes that it assigns, buffers that it writes, lists and objects
/// that it has. It begins with the outermost call and ends with it, so that each run starts from what the file holds.
class ModuleState {
  public:
    /// Makes one for as long as it lives, unless there is one for the same trace already.
    class Scope {
      public:
        Scope();
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        std::unique_ptr<ModuleState> m_own;
        ModuleState* m_before;
        bool* m_objectsBefore;
    };
    static ModuleState* current();
    ~ModuleState();
    /// A tensor that points at others (sharers, form), which may point back: cut loose when the state ends, so that
    /// all of them go.
    static void noteLinks(TensorCell& cell);

    /// Puts back what was known when it was made, unless keep() was called. (What a region restores is not its task.)
    class Attempt {
      public:
        explicit Attempt(ModuleState& state);
        ~Attempt();
        Attempt(const Attempt&) = delete;
        Attempt& operator=(const Attempt&) = delete;
        void keep() { m_isKept = true; }

      private:
        ModuleState& m_state;
        std::unordered_map<const ScriptModule*, std::shared_ptr<InstanceValue>> m_assigned;
        std::unordered_map<const trace::Slot*, std::shared_ptr<TensorCell>> m_written;
        std::size_t m_joined;
        bool m_isKept = false;
    };

    /// The value that was assigned, or null.
    const ScriptValue* find(const ScriptModule& module, const std::string& name) const;
    /// `before`: what the attribute is otherwise.
    void assign(const ScriptModule& module, const std::string& name, ScriptValue value, const ScriptValue& before);
    /// Every attribute that was assigned.
    void visitAssigned(
        const std::function<void(const ScriptModule&, const std::string&, const ScriptValue&)>& visit) const;
    /// The run's own copy of a list, dict or object that a module holds; anything else as it is.
    ScriptValue ownCopy(const ScriptValue& stored);
    /// A tensor of a module that has been written in place, or null.
    std::shared_ptr<TensorCell> find(const trace::Slot& slot) const;
    /// The tensor of a module as it is now.
    CellPtr tensorOf(const std::shared_ptr<const trace::Slot>& slot);
    /// A tensor of a module that was read, or became known as one: what shares its memory sees writes to it.
    void noteRead(const std::shared_ptr<TensorCell>& cell);
    /// Called before a write to the root.
    static void noteWritten(TensorCell& root);
    bool hasChanged() const { return m_isChanged || !m_written.empty() || !m_assigned.empty(); }
    /// What is not any more what the file holds, of the module and those below it: "tensor 'n'". Empty: nothing.
    std::string changedPart(trace::Module& module) const;

    NodeMemory& nodes() { return m_nodes; }

  private:
    const trace::Tracer* m_tracer = nullptr;
    std::unordered_map<const ScriptModule*, std::shared_ptr<InstanceValue>> m_assigned;
    std::unordered_map<const trace::Slot*, std::shared_ptr<TensorCell>> m_written;
    std::unordered_map<const tensor::Storage*, std::vector<std::weak_ptr<TensorCell>>> m_read;
    std::vector<std::weak_ptr<TensorCell>> m_joined;        ///< reads that became views of the written tensor
    std::vector<std::weak_ptr<TensorCell>> m_linked;        ///< see noteLinks
    std::unordered_map<const void*, ScriptValue> m_copies;  ///< by what the module holds
    bool m_isChanged = false;                               ///< one of these copies
    NodeMemory m_nodes;
};

/// An object of a script on its way from one module to the other.
class ScriptObject final : public trace::LiveObject {
  public:
    explicit ScriptObject(ScriptValue value) : m_value(std::move(value)) {}
    std::string typeName() const override { return script::typeName(m_value); }
    const ScriptValue& value() const { return m_value; }

  private:
    ScriptValue m_value;
};

/// While it lives toVar makes ScriptObjects of what could not leave the script.
class ObjectsPass {
  public:
    ObjectsPass();
    ~ObjectsPass();
    ObjectsPass(const ObjectsPass&) = delete;
    ObjectsPass& operator=(const ObjectsPass&) = delete;
    static bool active();

  private:
    bool m_before;
};

}  // namespace sonde::io::script
