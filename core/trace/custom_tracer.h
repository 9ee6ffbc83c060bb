#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "core/trace/custom_cond.h"
#include "core/trace/custom_proxy.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/record.h"

namespace sonde::trace {

/// What a CustomTracer is made with (custom-trace.md, "Options").
struct CustomTracerOptions {
    /// Modules and functions that become one call when an argument is symbolic (see AutowrapFunction).
    std::set<std::string> autowrapModules{"math"};
    std::set<std::string> autowrapFunctions;
    /// Questions for the sizes of parameters are answered while tracing.
    bool paramShapesConstant = false;
    /// By class, exactly: whether such a module with that path is a leaf. Leaves of the library stay leaves.
    std::map<std::string, std::function<bool(const Module&, const std::string&)>> moduleLeaves;
    /// What makes the graph pure instead of graph::purified: removes slices that do nothing, and, if asked for,
    /// in-place operations (custom-trace.md, "Writes become values").
    std::function<base::Result<Tracer::GraphPtr>(const graph::InternalGraph&, bool removeInPlace)> purify;
};

/// What one trace is made with.
struct CustomTraceOptions {
    /// Values of all parameters of forward. They only annotate the placeholders (attributes example_value and val);
    /// every parameter stays symbolic. A container is taken apart: one placeholder per leaf.
    std::optional<ConcreteArguments> concrete;
    bool removeInPlace = true;
    /// Registered functions become attributes of the root.
    bool updateModel = true;
    /// Parameters with a fixed value, which the graph checks as with other tracers; the others stay symbolic. Not
    /// beside containers in `concrete`.
    ConcreteArguments fixed = {};
};

/// Records what fx refuses (custom-trace.md): lengths, `x[i] = v`, in-place operations, concatenation of a list of
/// unknown length, conditions with two branch functions, sizes of parameters. Then every value is a node of its own.
///
/// In-place operations and setitem are recorded as they come: later uses of their receiver still refer to the node from
/// before. Then they are made values, by default. Without `removeInPlace` the graph is good for looking at; a run of it
/// refuses writes that it would not see.
class CustomTracer : public ModulePathTracer {
  public:
    explicit CustomTracer(CustomTracerOptions options = {}) : m_options(std::move(options)) {}

    /// traceCustom with the defaults: in-place operations are removed; `concrete` annotates.
    base::Result<GraphPtr> trace(std::shared_ptr<Module> root, const ConcreteArguments& concrete = {});
    base::Result<GraphPtr> trace(std::function<Var(std::span<const Var>)> function,
                                 std::vector<ForwardParameter> parameters);
    /// Errors: parameters that `concrete` lacks or does not know (AssertionError), what forward did that cannot be
    /// followed, what the passes refuse.
    base::Result<GraphPtr> traceCustom(std::shared_ptr<Module> root, const CustomTraceOptions& options = {});
    /// Of a function: an empty module is made, which holds its constants after the trace; it is root().
    base::Result<GraphPtr> traceCustom(std::function<Var(std::span<const Var>)> function,
                                       std::vector<ForwardParameter> parameters,
                                       const CustomTraceOptions& options = {});

    /// Keeps a function under `_cb_NAME_FUNCTION_I`, I the first number from 0 that is free, and records its get_attr
    /// node.
    Var registerCallable(const std::string& name, const NamedFunction& function);
    const std::map<std::string, NamedFunction>& callables() const { return m_callables; }
    /// The module that was traced in place of the root because containers were taken apart, or null.
    const std::shared_ptr<Module>& tracedModel() const { return m_tracedModel; }
    const CustomTracerOptions& options() const { return m_options; }

    /// One call of a function that cannot take symbolic values.
    Var recordCallable(const std::string& name, const Module::KeptFunction& function, std::vector<Var> arguments);
    Var recordCond(const Var& predicate, const NamedFunction& trueFunction, const NamedFunction& falseFunction,
                   const Var& operands);
    /// Of a symbolic number; nothing else is known of a node.
    std::optional<InstanceKind> instanceKind(graph::NodeId node) const;
    std::string nameOf(graph::NodeId node) { return graph().node(node).name; }
    /// The parameter that a get_attr node reads; null if it reads none.
    const tensor::Tensor* parameterValue(graph::NodeId node);
    void setInstanceKind(graph::NodeId node, InstanceKind kind) { m_kinds[node] = kind; }

    bool recordsSetItem() const override { return true; }
    std::optional<Var> answer(std::string_view name, bool isCall, const std::vector<Var>& arguments) override;

  protected:
    bool isLeafModule(const Module& module, std::string_view path) const override;
    /// The inside of a leaf or a branch is not for the passes.
    bool followsInPlace() const override { return !recorder().bodies().isInMain(); }
    std::optional<tensor::Value> known(graph::NodeId node, KnownUse use) override;

  private:
    base::Result<GraphPtr> traceAndPurify(const std::shared_ptr<Module>& root, const CustomTraceOptions& options);
    void recordBranch(graph::ExprId owner, const std::string& label, const NamedFunction& function,
                      const std::vector<Var>& operands);
    void checkCaptured(const std::string& branch);
    base::Result<void> finishGraph(const std::shared_ptr<Module>& root, const CustomTraceOptions& options);

    CustomTracerOptions m_options;
    std::map<std::string, NamedFunction> m_callables;
    std::shared_ptr<Module> m_tracedModel;
    std::unordered_map<graph::NodeId, InstanceKind> m_kinds;
};

/// A function of plain numbers in a module of functions ("math"): with a symbolic argument it is one call, if the
/// tracer autowraps it or its module; else it is called with what it is given.
class AutowrapFunction {
  public:
    AutowrapFunction(std::string module, std::string name, Module::KeptFunction function)
        : m_module(std::move(module)), m_name(std::move(name)), m_function(std::move(function)) {}
    Var operator()(std::vector<Var> arguments) const;

  private:
    std::string m_module;
    std::string m_name;
    Module::KeptFunction m_function;
};

/// For as long as it lives `cat` is CustomProxy::cat and cond() records, on this thread. Tracing does it by itself.
class ReplacedFunctions {
  public:
    ReplacedFunctions();

  private:
    FunctionSwap m_cat;
    FunctionSwap m_cond;
};

}  // namespace sonde::trace
