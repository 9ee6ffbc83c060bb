#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/trace/module.h"
#include "core/trace/traced_module/graph_editor.h"
#include "core/trace/traced_module/module_graph.h"

namespace sonde::trace {

class Evaluator;

/// A module made by tracing (traced-module.md): graphs keyed by the structure of their arguments. It has the names,
/// parameters and built-in modules of the one that it was traced from, and in place of each other module that was
/// called a TracedModule.
///
/// Names here and in MegEngine: traceModule trace_module, setWatchPoints set_watch_points, watchNodeValue
/// watch_node_value, setEndPoints set_end_points, registerAsBuiltin register_as_builtin, wrap wrap,
/// TraceModuleOptions::checkExprs enable_expr_checker, ::checkResult disable_default_checker.
///
/// Running needs an EvaluatorScope, like any module; under a tracer it is recorded. Not thread-safe.
class TracedModule final : public Module {
  public:
    /// One structure of arguments with its graph and the structure of its result.
    struct Entry {
        std::string forwardName;  ///< which forward was called: "forward"
        CallStructure argDef;
        std::shared_ptr<ModuleGraph> graph;
        Structure outDef;
    };
    struct Watched {
        const TracedNode* node;
        std::optional<tensor::Value>
            value;  ///< none: not computed in the last call. A module node has an object (ModuleValue)
    };

    TracedModule(std::string className, std::vector<ForwardParameter> parameters, bool isTop, bool isQat = false)
        : m_className(std::move(className)), m_parameters(std::move(parameters)), m_isTop(isTop), m_isQat(isQat) {}

    /// The class that it was traced from.
    std::string className() const override { return m_className; }
    bool isLibrary() const override { return m_isBuiltin; }
    std::vector<ForwardParameter> signature() const override { return m_parameters; }
    bool makesTensor() const override;
    Var forward(std::span<const Var> in) override;
    /// A call without an input that addInputNode() has added is not of a form that this takes (AssertionError); any
    /// other argument that is missing is a TypeError, as for the module that was traced.
    std::vector<Var> bound(std::vector<Var> args, const Keywords& keywords) const override;
    std::string forwardName() const override { return m_forwardName; }
    Var callForward(std::string_view name, std::vector<Var> args, Keywords keywords) override;

    bool isTop() const { return m_isTop; }
    /// The source was made for training with quantisation in mind; flatten keeps it as a call.
    bool isQat() const { return m_isQat; }
    /// Parameters of the traced forward; of top modules only.
    const std::vector<ForwardParameter>* argspec() const { return m_isTop ? &m_parameters : nullptr; }
    const std::vector<Entry>& entries() const { return m_entries; }
    const Entry* findEntry(std::string_view forwardName, const CallStructure& argDef) const;
    /// The only graph. Error: there is none or there are several.
    base::Result<ModuleGraph*> graph() const;

    /// Calls it on values. Errors: arguments of a structure that was not traced, or what failed in the run.
    base::Result<tensor::Value> run(std::vector<tensor::Value> args,
                                    std::vector<std::pair<std::string, tensor::Value>> keywords = {});

    /// Nodes of this or any inner graph whose values are requested; replaces what was set.
    void setWatchPoints(std::vector<TracedNode*> nodes);
    void clearWatchPoints();
    /// In the order in which they were set, with their values of the last call.
    std::vector<Watched> watchNodeValue() const;
    /// When all these exist the call ends and gives a list of their values. Error: a node that is not of a graph of
    /// this module; nothing is changed then.
    base::Result<void> setEndPoints(std::vector<TracedNode*> nodes);
    void clearEndPoints();

    /// A new module without hierarchy (traced-module.md, "Flattening"): calls of traced modules are replaced by their
    /// inside.
    base::Result<std::shared_ptr<TracedModule>> flatten() const;
    /// A copy with graphs of its own; parameters and built-in modules are shared.
    std::shared_ptr<TracedModule> clone() const;

    // For what makes modules: the tracer, flattening, copying and reading.
    void addEntry(Entry entry) { m_entries.push_back(std::move(entry)); }
    void setBuiltin(bool isBuiltin) { m_isBuiltin = isBuiltin; }
    void setTop(bool isTop) { m_isTop = isTop; }
    /// What computed the values of the trace: saving follows built-in modules with it where no EvaluatorScope is. Null
    /// for what no trace has made.
    const std::shared_ptr<const Evaluator>& evaluator() const { return m_evaluator; }
    void setEvaluator(std::shared_ptr<const Evaluator> evaluator) { m_evaluator = std::move(evaluator); }

  private:
    friend class ModuleGraph;
    Entry* entryOf(const ModuleGraph& graph);
    void appendTensorParameter(const ModuleGraph& graph, const std::string& name);
    void setTensorParameters(const ModuleGraph& graph, std::vector<ForwardParameter> parameters);
    void pairResult(const ModuleGraph& graph);
    void setResult(const ModuleGraph& graph, Structure structure);
    const Entry& choose(std::span<const Var> in, std::vector<Var>& leaves);
    TraceError noSuchForm(const CallStructure& given) const;

    std::string m_className;
    std::vector<ForwardParameter> m_parameters;
    bool m_isTop;
    bool m_isQat;
    bool m_isBuiltin = false;
    std::string m_forwardName = "forward";
    std::vector<Entry> m_entries;
    std::vector<const TracedNode*> m_watch;
    std::shared_ptr<const Evaluator> m_evaluator;
};

/// A module as a value: what watching a module node gives.
class ModuleValue final : public tensor::ObjectBase {
  public:
    explicit ModuleValue(std::shared_ptr<Module> module) : m_module(std::move(module)) {}
    std::string typeName() const override { return m_module->className(); }
    const std::shared_ptr<Module>& module() const { return m_module; }

  private:
    std::shared_ptr<Module> m_module;
};

/// What may be set for one trace.
struct TraceModuleOptions {
    std::set<std::string, std::less<>>
        builtins;           ///< classes that are opaque beside the library's and the registered ones
    bool traceAll = false;  ///< library modules are traced, too
    bool checkResult =
        true;  ///< the traced module is run on the same inputs; a difference above 1e-7 (relative) is an error
    bool checkExprs = false;  ///< every expr is run again and compared while tracing
    /// A branch, a number or a captured tensor that the values of tensors decide becomes a guard of the graph: a run
    /// that decides otherwise ends there. Without it such decisions are those of the trace for good, as in MegEngine.
    bool guardsData = false;
    /// The module is called by others: None and other constants may be among its results, as they may be in the modules
    /// inside of the one that is traced.
    bool isPart = false;
};

/// Runs a module once on these arguments and gives a top module of what was done. Branches on values are followed and
/// not recorded (but see `guardsData`). Errors: a trace goes on already, what the forward did that cannot be recorded
/// (a result that is no tensor), a result that the traced module does not give again.
base::Result<std::shared_ptr<TracedModule>> traceModule(
    const std::shared_ptr<Module>& module, std::vector<tensor::Value> args,
    std::vector<std::pair<std::string, tensor::Value>> keywords = {}, const TraceModuleOptions& options = {});

/// The same for one of several forwards of a module, on values of any kind.
base::Result<std::shared_ptr<TracedModule>> traceForward(const std::shared_ptr<Module>& module,
                                                         const std::string& forwardName, std::vector<Var> args,
                                                         Keywords keywords, const TraceModuleOptions& options);

/// Modules of exactly this class are opaque: one call, no graph inside. Thread-safe.
void registerAsBuiltin(std::string className);
bool isRegisteredBuiltin(std::string_view className);
/// Modules of this class are quantisation-aware (see TracedModule::isQat).
void registerAsQat(std::string className);
bool isRegisteredQat(std::string_view className);

/// A function of one's own that traces record as one CallFunction of its name.
class WrappedFunction {
  public:
    explicit WrappedFunction(std::string name) : m_name(std::move(name)) {}
    template <typename... Args>
    Var operator()(Args&&... args) const {
        return call({Var(std::forward<Args>(args))...}, {});
    }
    Var call(std::vector<Var> args, Keywords keywords) const;

  private:
    std::string m_name;
};
/// Registers the function under its name, by which traced modules and files find it again. Throws TraceError
/// (AssertionError) while a trace goes on: wrap at namespace scope or at the program's beginning.
WrappedFunction wrap(std::string name, std::function<Var(std::span<const Var>)> function);

}  // namespace sonde::trace
