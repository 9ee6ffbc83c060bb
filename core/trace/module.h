#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/module_tree.h"
#include "core/trace/error.h"
#include "core/trace/var.h"

namespace sonde::trace {

/// One parameter of a module's forward.
struct ForwardParameter {
    std::string name;
    std::optional<tensor::Value> fallback;  ///< default value; none: must be given
    bool keywordOnly = false;
    bool isTensor = false;  ///< declared as one: helps to choose operators while tracing
    /// Takes what is left (Python's *args): positional arguments as a tuple or, if keywordOnly (**kwargs), named ones
    /// as a dict. Stands after the parameters of its kind; nothing left is an empty one.
    bool collects = false;
    /// An edit has added it to a traced module (TracedModule::bound).
    bool isAdded = false;
};

/// Arguments as a call has them.
struct CallArguments {
    std::vector<Var> positional;
    Keywords keywords;
};
/// One value per parameter, as Module::bound gives them, as arguments of a call: what a parameter collects comes one by
/// one, names in the order of their letters.
CallArguments spread(std::span<const ForwardParameter> parameters, std::span<const Var> values);
/// The way back from settled arguments to one value per parameter.
std::vector<Var> gathered(std::span<const ForwardParameter> parameters, const CallArguments& arguments);

/// A module's tensor as a member of its class. Reading it while a tracer runs makes a get_attr node (parameters) or
/// gives the tensor itself (buffers, plain tensors).
class Attribute {
  public:
    Attribute() = default;
    explicit Attribute(std::shared_ptr<Slot> slot) : m_slot(std::move(slot)) {}
    bool defined() const { return m_slot != nullptr; }
    const tensor::Tensor& value() const { return m_slot->value; }
    void setValue(tensor::Tensor value);
    const std::shared_ptr<Slot>& slot() const { return m_slot; }
    operator Var() const { return read(); }  // NOLINT: a weight is used like any other operand
    /// None for an attribute that the module does not have (a layer without bias).
    Var read() const;

  private:
    std::shared_ptr<Slot> m_slot;
};

/// A node of a model's own hierarchy: named children, parameters and buffers in the order of registration, and a
/// forward that works on values and on proxies alike.
class Module : public std::enable_shared_from_this<Module> {
  public:
    struct Child {
        std::string name;
        std::shared_ptr<Module> module;
    };
    struct NamedSlot {
        std::string name;
        std::shared_ptr<Slot> slot;
    };

    virtual ~Module();
    Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// "Conv2d": what listings and the window show.
    virtual std::string className() const = 0;
    /// Comes with the library: a leaf for tracers. Sequential is the one library module that is not.
    virtual bool isLibrary() const { return false; }
    /// Parameters of forward in order; `input` alone unless a module says otherwise.
    virtual std::vector<ForwardParameter> signature() const;
    /// Computes. `in` holds one Var for each parameter of the signature, defaults filled in.
    virtual Var forward(std::span<const Var> in);
    /// The forward that the present call means, to be called later.
    virtual std::function<Var(std::span<const Var>)> forwardFunction() {
        return [self = shared_from_this()](std::span<const Var> in) { return self->forward(in); };
    }
    /// Which forward the present call means; a module may have several ("forward1" of an archive).
    virtual std::string forwardName() const { return "forward"; }
    /// Calls the forward of that name. Throws AttributeError if there is none.
    virtual Var callForward(std::string_view name, std::vector<Var> args, Keywords keywords);
    /// What forward returns is a tensor (not a tuple, a list …): helps to choose operators while tracing.
    virtual bool makesTensor() const { return true; }
    /// "in_channels=3, out_channels=64": as a person writes the constructor's arguments; may be empty.
    virtual std::string extraText() const { return {}; }

    /// Calls the module: through the active tracer if there is one, else forward at once.
    template <typename... Args>
    Var operator()(Args&&... args) {
        return call({Var(std::forward<Args>(args))...}, {});
    }
    Var call(std::vector<Var> args, Keywords keywords);
    /// Arguments by position and name → one per parameter of the signature. Throws TypeError as a call would.
    virtual std::vector<Var> bound(std::vector<Var> args, const Keywords& keywords) const;

    /// Functions that a tracer has given the module to keep: branches of conditions, by the names of their get_attr
    /// nodes.
    using KeptFunction = std::function<Var(std::span<const Var>)>;
    const std::map<std::string, KeptFunction>& functions() const { return m_functions; }
    void addFunction(std::string name, KeptFunction function) {
        m_functions.insert_or_assign(std::move(name), std::move(function));
    }

    const std::vector<Child>& children() const { return m_children; }
    const std::vector<NamedSlot>& ownTensors() const { return m_slots; }
    Module* child(std::string_view name) const;
    /// By dotted path, "" is the module itself; null if there is none.
    Module* find(std::string_view path);
    /// The same as a program reads it: the tracer that runs is told, and so `use("conv")(x + weight)` reads conv first.
    /// Throws AttributeError.
    Module& use(std::string_view path);
    /// Path below the module that it was last made a child of, as far as was known then; empty if it never was.
    const std::string& installedAs() const { return m_installedAs; }
    bool isTraining() const { return m_training; }
    virtual void setTraining(bool training);

    /// Registers. A child or slot of that name is replaced in place. Throws TraceError: no module (TypeError), an empty
    /// name (KeyError), for "" is the path of the module itself; while a tracer runs also a module of which this one is
    /// a part (ValueError).
    void addChild(std::string name, std::shared_ptr<Module> module);
    void addSlot(std::string name, std::shared_ptr<Slot> slot);

  protected:
    template <typename M>
    std::shared_ptr<M> add(std::string name, std::shared_ptr<M> module) {
        addChild(std::move(name), module);
        return module;
    }
    Attribute addParameter(std::string name, tensor::Tensor value) {
        return addAttribute(std::move(name), Slot::Kind::Parameter, std::move(value));
    }
    Attribute addBuffer(std::string name, tensor::Tensor value) {
        return addAttribute(std::move(name), Slot::Kind::Buffer, std::move(value));
    }
    /// A tensor that is neither: known to tracers by its path, not part of the state.
    Attribute addPlain(std::string name, tensor::Tensor value) {
        return addAttribute(std::move(name), Slot::Kind::Plain, std::move(value));
    }

  private:
    Attribute addAttribute(std::string name, Slot::Kind kind, tensor::Tensor value);

    std::vector<Child> m_children;
    std::vector<NamedSlot> m_slots;
    std::map<std::string, KeptFunction> m_functions;
    std::string m_installedAs;
    bool m_training = false;
};

/// A parameter or buffer with its path from the root, "layer1.0.conv1.weight".
struct NamedTensor {
    std::string path;
    std::shared_ptr<Slot> slot;
};
/// In registration order, depth first. A shared tensor comes once for each of its paths.
std::vector<NamedTensor> namedTensors(const Module& root);
/// Modules in modules in modules: more levels than this are refused by tracers. What walks over a hierarchy by
/// recursion has room for so many.
inline constexpr std::size_t kMaxModuleDepth = 4000;
/// Error: the hierarchy is deeper than that, or a module is part of itself.
base::Result<void> checkHierarchy(const Module& root);
/// Every module with its first path, depth first, root first.
std::vector<std::pair<std::string, Module*>> namedModules(Module& root);
/// Replaces tensors by name. `take` gives a tensor for a path or an undefined one. Errors: wrong shape or dtype, or (if
/// `strict`) a parameter that was not given.
base::Result<void> loadTensors(Module& root, const std::function<tensor::Tensor(const std::string&)>& take,
                               bool strict);
/// The hierarchy with classes and parameters. Modules registered under several names appear under each.
graph::ModuleTree moduleTree(const Module& root);

}  // namespace sonde::trace
