#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/internal_graph.h"
#include "core/trace/traced_module/structure.h"

namespace sonde::trace {

class Module;
class ModuleGraph;
class TracedExpr;

/// Scale and zero point of a quantised tensor: q = round(x / scale) + zeroPoint.
struct QuantParams {
    double scale = 1;
    std::int64_t zeroPoint = 0;
    std::string mode;   ///< "symmetric", "asymmetric"
    std::string dtype;  ///< "qint8" …
    bool operator==(const QuantParams&) const = default;
};

/// A value of a ModuleGraph (traced-module.md, "Graphs, expressions and nodes"). Owned by its graph; addresses are
/// stable, also of nodes that were removed from it.
class TracedNode {
  public:
    std::uint64_t id() const { return m_id; }
    const std::string& name() const { return m_name; }
    /// Makes the name an identifier. Errors: in use in this graph, or empty.
    base::Result<void> setName(std::string_view name);
    /// "Net_block0_conv1_out": with the graph's name in front.
    std::string fullName() const;
    /// "Net.block0.conv1.[out]"; not unique for operations.
    const std::string& qualname() const { return m_qualname; }
    TracedExpr& expr() const { return *m_expr; }
    /// Exprs that read it, with multiplicity, in the order of linking.
    const std::vector<TracedExpr*>& users() const { return m_users; }
    ModuleGraph& graph() const { return *m_graph; }  ///< top_graph in MegEngine
    /// Of an inner graph's input: the nodes of the calling graph, one for each call.
    const std::vector<TracedNode*>& actualNodes() const { return m_actual; }

    bool isModule() const { return m_isModule; }
    /// A number, or a list of numbers, that the size of a tensor decides; neither a tensor nor a module.
    bool isNumber() const { return !m_isModule && m_type.kind && !m_type.isTensor(); }
    /// A weight or a constant: the same in every run.
    bool isFixed() const;
    /// Class of a module node: "Conv2d"; "Module" for modules that were traced, too.
    const std::string& moduleType() const { return m_moduleType; }
    /// The live module of a module node; null if its path leads nowhere any more.
    std::shared_ptr<Module> owner() const;

    /// Of tensor nodes: dtype and shape as recorded.
    const tensor::TypeInfo& type() const { return m_type; }
    std::string device() const { return m_isModule ? "" : "cpu"; }
    const std::optional<QuantParams>& quantParams() const { return m_quantParams; }
    /// Only bound while the graph is being edited.
    const std::optional<tensor::Value>& value() const { return m_value; }

  private:
    friend class ModuleGraph;
    friend class GraphBuilder;
    std::uint64_t m_id = 0;
    std::string m_name;
    std::string m_qualname;
    TracedExpr* m_expr = nullptr;
    std::vector<TracedExpr*> m_users;
    ModuleGraph* m_graph = nullptr;
    std::vector<TracedNode*> m_actual;
    bool m_isModule = false;
    std::string m_moduleType;
    tensor::TypeInfo m_type;
    std::optional<QuantParams> m_quantParams;
    std::optional<tensor::Value> m_value;
};

/// What a CallFunction, CallMethod or Apply expr executes and how it was called in the model.
struct TracedOperation {
    graph::OpKey op;          ///< domain "wrap": a wrapped function of that name
    std::string display;      ///< the function's own name as given by the caller: "add"
    std::string target;       ///< "operator.add", "torch.nn.functional.relu"
    bool isMethod = false;    ///< was called as a method
    bool swapped = false;     ///< `1 - x` is x.__rsub__(1): the first two arguments change places for the operator
    std::size_t outputs = 1;  ///< values that the operator gives
};

/// One operation of a ModuleGraph (traced-module.md, "Graphs, expressions and nodes"). Owned by its graph.
class TracedExpr {
  public:
    enum class Kind : std::uint8_t { Input, GetAttr, CallMethod, CallFunction, Apply, Constant };

    Kind kind() const { return m_kind; }
    std::uint64_t id() const { return m_id; }
    ModuleGraph& graph() const { return *m_graph; }
    const std::vector<TracedNode*>& inputs() const { return m_inputs; }  ///< with multiplicity
    const std::vector<TracedNode*>& outputs() const { return m_outputs; }
    /// Input: parameter. GetAttr: dotted path from the input module. CallMethod: method, "__call__" for modules.
    /// CallFunction: the function's name with the last part of its module, "functional.relu". Apply: the operator.
    const std::string& target() const { return m_target; }
    const std::vector<Operand>& args() const { return m_args; }
    const std::vector<std::pair<std::string, Operand>>& keywords() const { return m_keywords; }
    /// Every argument by its parameter's name (by its number where the name is not known).
    std::vector<std::pair<std::string, Operand>> namedArgs() const;
    /// Position among the leaves and value of each constant.
    std::vector<std::pair<std::size_t, tensor::Value>> constants() const;
    CallStructure argDef() const;
    /// What the operation returns, with a leaf for each output.
    const Structure& outDef() const { return m_outDef; }
    Operand returnValue() const;
    /// Of a call of a traced module: its graph for this structure of arguments; null for built-in modules.
    const std::shared_ptr<ModuleGraph>& innerGraph() const { return m_inner; }
    bool isModuleCall() const {
        return m_kind == Kind::CallMethod && m_target == "__call__" && !m_inputs.empty() && m_inputs[0]->isModule();
    }
    /// Which forward of the module is called: "forward", and in archives also "forward1" …
    const std::string& forwardName() const { return m_forwardName; }
    const TracedOperation& operation() const { return m_operation; }
    const tensor::Value& constant() const { return m_constant; }                        ///< of a tensor Constant
    const std::shared_ptr<Module>& constantModule() const { return m_constantModule; }  ///< of a module Constant

    /// Of tensor methods, functions and calls of built-in modules. Errors: another kind of expr, an unknown name, a
    /// node of another graph, an argument of a kind that cannot take the place of what it was (a module for a tensor, a
    /// text for a number).
    base::Result<void> setArguments(std::vector<Operand> args,
                                    std::vector<std::pair<std::string, Operand>> keywords = {});
    base::Result<void> setArgument(std::string_view name, Operand value);
    /// Errors: nodes of another graph, a kind that changes, a producer of the new node that is not earlier.
    base::Result<void> replaceInputs(const std::vector<std::pair<TracedNode*, TracedNode*>>& replacements);
    /// compile() keeps the expr although nothing needs it.
    void disableRemove() { m_mayRemove = false; }
    void enableRemove() { m_mayRemove = true; }
    bool mayRemove() const { return m_mayRemove; }

    /// "%2:\tadd_out = x.__add__(1, )". `format`: "" names, "i" %2_add_out, "p" Net_add_out, "ip" %2_Net_add_out.
    std::string text(std::string_view format = {}) const;

  private:
    friend class ModuleGraph;
    friend class GraphBuilder;
    base::Result<void> checkReplacement(const TracedNode& before, const TracedNode& after) const;
    /// `before`: null for an argument that was not given.
    base::Result<void> checkKind(std::string_view name, const Operand* before, const Operand& after) const;
    base::Result<void> checkKinds(const std::vector<Operand>& args,
                                  const std::vector<std::pair<std::string, Operand>>& keywords) const;

    Kind m_kind = Kind::Input;
    std::uint64_t m_id = 0;
    ModuleGraph* m_graph = nullptr;
    std::vector<TracedNode*> m_inputs;
    std::vector<TracedNode*> m_outputs;
    std::string m_target;
    std::vector<Operand> m_args;
    std::vector<std::pair<std::string, Operand>> m_keywords;
    Structure m_outDef;
    std::shared_ptr<ModuleGraph> m_inner;
    std::string m_forwardName = "forward";
    TracedOperation m_operation;
    tensor::Value m_constant;
    std::shared_ptr<Module> m_constantModule;
    bool m_mayRemove = true;
};

/// "%2_Net_add_out" and so on; see TracedExpr::text.
std::string nodeText(const TracedNode& node, std::string_view format);

}  // namespace sonde::trace
