#include "core/document/optimize.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/document/evaluator.h"
#include "core/document/model_passes.h"
#include "core/graph/memory.h"
#include "core/io/inputs/inputs.h"
#include "core/operators/traits.h"
#include "core/passes/pass.h"
#include "core/passes/shared_memory.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/builtin_graphs.h"
#include "core/trace/traced_module/fuse_conv_bn.h"
#include "core/trace/traced_module/inline_graph.h"
#include "core/trace/traced_module/module_graph.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::document {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using trace::GraphBuilder;
using trace::ModuleGraph;
using trace::Operand;
using trace::Structure;
using trace::TracedExpr;
using trace::TracedModule;
using trace::TracedNode;
using Kind = TracedExpr::Kind;

namespace {

constexpr std::pair<Operand::Kind, Argument::Kind> kContainers[] = {
    {Operand::Kind::List, Argument::Kind::List},
    {Operand::Kind::Tuple, Argument::Kind::Tuple},
    {Operand::Kind::Dict, Argument::Kind::Dict},
    {Operand::Kind::Slice, Argument::Kind::Slice},
};

/// The stored tensor that a graph reads by this path; undefined if there is none.
tensor::Tensor storedTensor(const ModuleGraph& graph, const std::string& path) {
    const auto owner = graph.owner();
    const std::size_t dot = path.rfind('.');
    const trace::Module* module = dot == std::string::npos || !owner ? owner.get() : owner->find(path.substr(0, dot));
    if (!module) return {};
    const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
    for (const trace::Module::NamedSlot& named : module->ownTensors())
        if (named.name == name) return named.slot->value;
    return {};
}

/// A built-in module that returns its one input: an identity, or dropout outside of training.
bool returnsInput(const TracedModule& module) {
    if (module.entries().size() != 1) return false;
    const ModuleGraph& graph = *module.entries().front().graph;
    if (graph.inputs().size() != 2 || graph.outputs().size() != 1) return false;
    if (graph.outputs().front() == graph.inputs()[1]) return graph.body().empty();
    if (graph.body().size() != 1 || graph.body().front()->outputs() != graph.outputs()) return false;
    const TracedExpr& only = *graph.body().front();
    const bool readsInput = !only.args().empty() && only.args()[0].node == graph.inputs()[1];
    const graph::OpKey& op = only.operation().op;
    const operators::OpClass opClass = operators::traitsOf(op.domain, op.name).opClass;
    if (!readsInput || op.domain == "wrap" || graph::memoryEffect(op.domain, op.name).writes) return false;
    if (opClass == operators::OpClass::Identity) return only.args().size() == 1 && only.keywords().empty();
    const Operand* trains = only.args().size() > 2 ? &only.args()[2] : nullptr;
    return opClass == operators::OpClass::Dropout && trains && trains->kind == Operand::Kind::Constant &&
           trains->constant.kind() == tensor::ValueKind::Bool && !trains->constant.toBool();
}

/// What a pass and those that it needs did; by the reports, as counts leave out some changes of nodes (remove-inplace
/// counts a write only if somebody reads what it wrote).
std::size_t changesIn(const std::vector<passes::PassReport>& reports) {
    std::size_t changes = 0;
    for (const passes::PassReport& report : reports) changes += report.changes();
    return changes;
}

/// A graph of a module as one for passes, and back again.
class GraphRewrite {
  public:
    /// `written`: tensors that may be written to; see writtenTensors().
    GraphRewrite(ModuleGraph& graph, trace::BuiltinGraphs& builtins, const std::set<const std::byte*>& written)
        : m_graph(graph), m_builder(graph), m_builtins(builtins), m_written(written) {}

    base::Result<std::size_t> run(const passes::Pass& pass, const base::WorkContext& work) {
        SONDE_TRY(convert());
        if (!m_isConverted) return std::size_t{0};
        passes::PassContext context;
        context.evaluate = passEvaluator();
        const std::string id(pass.id);
        SONDE_ASSIGN(const auto result, passes::runPasses(m_flat, std::span(&id, 1), context, work));
        const std::size_t count = changesIn(result.reports);
        if (count > 0) SONDE_TRY(takeBack(*result.graph));
        return count;
    }

  private:
    // --- to a graph for passes ---
    base::Result<void> convert() {
        for (TracedNode* input : m_graph.inputs()) {
            if (!input->isModule())
                pair(input, m_flat.addInput(m_flat.mainId(), input->name(), input->type(), input->name(),
                                            m_flat.main().order.size()));
        }
        for (TracedExpr* expr : m_graph.body()) SONDE_TRY(convert(*expr));
        std::vector<Argument> results;
        for (TracedNode* output : m_graph.outputs()) results.push_back(argumentOf(Operand(output)));
        m_flat.setResult(m_flat.mainId(), Argument::container(Argument::Kind::Tuple, std::move(results)));
        return {};
    }

    base::Result<void> convert(TracedExpr& expr) {
        const bool isModule = !expr.outputs().empty() && expr.outputs().front()->isModule();
        if (isModule) return {};
        Expr made;
        if (expr.kind() == Kind::GetAttr || expr.kind() == Kind::Constant) {
            made.kind = expr.kind() == Kind::GetAttr ? ExprKind::GetAttr : ExprKind::Constant;
            made.target = expr.target();
            made.isParameter = expr.kind() == Kind::GetAttr;
        } else {
            SONDE_TRY(convertCall(expr, made));
        }
        std::vector<std::string> names;
        for (const TracedNode* node : expr.outputs()) names.push_back(node->name());
        // What gives nothing still is there for its effect.
        if (names.empty()) names.push_back("effect " + std::to_string(m_exprs.size()));
        const ExprId id = m_flat.addExpr(std::move(made), names);
        m_exprs[id.index()] = &expr;
        for (std::size_t i = 0; i < expr.outputs().size(); ++i) pair(expr.outputs()[i], m_flat.expr(id).outputs[i]);
        if (expr.kind() == Kind::Constant) m_flat.setConstant(m_flat.expr(id).outputs.front(), expr.constant());
        if (expr.kind() == Kind::GetAttr) {
            tensor::Tensor stored = storedTensor(m_graph, expr.target());
            if (stored.defined() && !m_written.contains(stored.bytes()))
                m_flat.setConstant(m_flat.expr(id).outputs.front(), tensor::Value(std::move(stored)));
        }
        return {};
    }

    base::Result<void> convertCall(TracedExpr& expr, Expr& made) {
        const trace::TracedOperation& operation = expr.operation();
        const bool isModuleCall = expr.isModuleCall();
        for (std::size_t i = isModuleCall ? 1 : 0; i < expr.args().size(); ++i)
            made.arguments.push_back(argumentOf(expr.args()[i]));
        for (const auto& [name, operand] : expr.keywords()) made.keywords.emplace_back(name, argumentOf(operand));
        // Without an operator it is opaque to passes.
        made.kind = isModuleCall ? ExprKind::CallModule : ExprKind::CallFunction;
        made.target = isModuleCall ? "module" : operation.target;
        if (isModuleCall) {
            const auto owner = expr.inputs().front()->owner();
            const bool isPlain = owner && owner->isLibrary() && !expr.innerGraph() && made.arguments.size() == 1 &&
                                 made.keywords.empty() && expr.outputs().size() == 1;
            if (!isPlain) return {};
            SONDE_ASSIGN(const auto inside, m_builtins.of(owner));
            const auto traced = std::dynamic_pointer_cast<TracedModule>(inside);
            if (!traced || !returnsInput(*traced)) return {};
            made.kind = ExprKind::CallFunction;
            made.op = {"aten", "dropout", 0};
            made.arguments.push_back(Argument::of(tensor::Value::ofFloat(0)));
            made.arguments.push_back(Argument::of(tensor::Value::ofBool(false)));
            return {};
        }
        const bool isPlain = operation.op.domain != "wrap" && operation.outputs == 1 &&
                             (expr.outputs().empty() || expr.outDef().isNode());
        if (!isPlain) return {};
        made.op = operation.op;
        if (operation.isMethod) made.kind = ExprKind::CallMethod;
        else if (expr.kind() == Kind::Apply) made.kind = ExprKind::Apply;
        if (operation.swapped && made.arguments.size() > 1) std::swap(made.arguments[0], made.arguments[1]);
        return {};
    }

    void pair(TracedNode* node, NodeId id) {
        m_flat.setType(id, node->type());
        m_ids[node] = id;
        m_nodes[id.index()] = node;
    }

    Argument argumentOf(const Operand& operand) {
        if (operand.kind == Operand::Kind::Constant) return Argument::of(operand.constant);
        if (operand.kind == Operand::Kind::Node) {
            const auto found = m_ids.find(operand.node);
            m_isConverted = m_isConverted && found != m_ids.end();
            return found == m_ids.end() ? Argument::omitted() : Argument::of(found->second);
        }
        std::vector<Argument> items;
        for (const Operand& item : operand.items) items.push_back(argumentOf(item));
        const auto kind =
            std::ranges::find(kContainers, operand.kind, &std::pair<Operand::Kind, Argument::Kind>::first);
        return Argument::container(kind->second, std::move(items), operand.keys);
    }

    // --- and back ---
    base::Result<void> takeBack(const InternalGraph& after) {
        std::set<std::size_t> kept;
        std::size_t place = 0;  ///< in the body, for the next expr that is new
        for (const ExprId id : after.main().order) {
            const Expr& expr = after.expr(id);
            if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output) continue;
            const auto before = m_exprs.find(id.index());
            TracedExpr* stands = before == m_exprs.end() ? nullptr : before->second;
            if (stands && isSame(expr, m_flat.expr(id))) {
                SONDE_TRY(takeArguments(*stands, expr, m_flat.expr(id)));
                kept.insert(id.index());
            } else {
                SONDE_ASSIGN(stands, replaced(stands, after, expr, place));
            }
            const auto at = std::ranges::find(m_graph.body(), stands);
            place = static_cast<std::size_t>(at - m_graph.body().begin()) + 1;
        }
        SONDE_TRY(takeResults(after));
        for (const auto& [id, expr] : m_exprs)
            if (!kept.contains(id) && !m_gone.contains(expr)) m_builder.remove(*expr);
        m_graph.compile();
        return m_graph.validate();
    }

    /// The operation is what it was, whatever its arguments are now.
    static bool isSame(const Expr& a, const Expr& b) {
        return a.kind == b.kind && a.op.domain == b.op.domain && a.op.name == b.op.name && a.target == b.target &&
               a.arguments.size() == b.arguments.size() && a.keywords.size() == b.keywords.size();
    }

    base::Result<void> takeArguments(TracedExpr& stands, const Expr& after, const Expr& before) {
        if (stands.kind() == Kind::GetAttr || stands.kind() == Kind::Constant) return {};
        // Its own arguments with other nodes in them; those that passes have changed otherwise are new.
        std::vector<Operand> args = stands.args();
        auto keywords = stands.keywords();
        const std::size_t first = stands.isModuleCall() ? 1 : 0;
        const bool isSwapped = stands.operation().swapped && after.arguments.size() > 1;
        for (std::size_t i = 0; i + first < args.size() && i < after.arguments.size(); ++i) {
            const std::size_t from = isSwapped && i < 2 ? 1 - i : i;
            if (sameArgument(after.arguments[from], before.arguments[from])) continue;
            SONDE_ASSIGN(args[i + first], operandOf(after.arguments[from]));
        }
        for (std::size_t i = 0; i < keywords.size(); ++i) {
            if (sameArgument(after.keywords[i].second, before.keywords[i].second)) continue;
            SONDE_ASSIGN(keywords[i].second, operandOf(after.keywords[i].second));
        }
        m_builder.setArguments(stands, std::move(args), std::move(keywords));
        return {};
    }

    /// Equal, and each node in it stands for the node that it stood for.
    bool sameArgument(const Argument& a, const Argument& b) const {
        if (a.kind != b.kind || a.items.size() != b.items.size() || a.keys.size() != b.keys.size()) return false;
        if (a.kind == Argument::Kind::Node) return a.node == b.node && !m_replaced.contains(a.node.index());
        if (a.kind == Argument::Kind::Constant && !tensor::identical(a.constant, b.constant)) return false;
        for (std::size_t i = 0; i < a.items.size(); ++i)
            if (!sameArgument(a.items[i], b.items[i])) return false;
        return true;
    }

    base::Result<Operand> operandOf(const Argument& argument) const {
        if (argument.kind == Argument::Kind::Constant) return Operand(argument.constant);
        if (argument.kind == Argument::Kind::Node) {
            const auto found = m_nodes.find(argument.node.index());
            if (found != m_nodes.end()) return Operand(found->second);
        }
        const auto kind =
            std::ranges::find(kContainers, argument.kind, &std::pair<Operand::Kind, Argument::Kind>::second);
        if (kind == std::end(kContainers))
            return base::usageError("a pass made an argument that a traced module cannot hold", m_graph.qualname());
        std::vector<Operand> items;
        for (const Argument& item : argument.items) {
            SONDE_ASSIGN(Operand made, operandOf(item));
            items.push_back(std::move(made));
        }
        return Operand::container(kind->first, std::move(items), argument.keys);
    }

    /// An expr of the pass's making at a place in the body; `before`, if there is one, goes.
    base::Result<TracedExpr*> replaced(TracedExpr* before, const InternalGraph& after, const Expr& expr,
                                       std::size_t place) {
        if (expr.outputs.size() != 1)
            return base::usageError("a pass made an operation that a traced module cannot hold", m_graph.qualname());
        const graph::Node& node = after.node(expr.outputs.front());
        std::string name = node.name;
        TracedNode* old = before && !before->outputs().empty() ? before->outputs().front() : nullptr;
        if (before) {
            place = static_cast<std::size_t>(std::ranges::find(m_graph.body(), before) - m_graph.body().begin());
            m_builder.remove(*before);
            m_gone.insert(before);
        }
        TracedExpr* made = nullptr;
        TracedNode* output = nullptr;
        if (node.constant) {
            output = m_builder.addConstant(*node.constant, name, m_graph.qualname() + ".[const_tensor]");
            made = &output->expr();
        } else {
            SONDE_ASSIGN(made, call(expr, node));
            output = made->outputs().front();
        }
        m_builder.moveTail(m_graph.body().size() - 1, place);
        if (node.type.isTensor() || node.type.kind) GraphBuilder::setType(*output, node.type);
        m_nodes[expr.outputs.front().index()] = output;
        m_replaced.insert(expr.outputs.front().index());
        if (old) m_builder.redirect(*old, *output, 0, true);
        return made;
    }

    base::Result<TracedExpr*> call(const Expr& expr, const graph::Node& node) {
        std::vector<Operand> args;
        for (const Argument& argument : expr.arguments) {
            SONDE_ASSIGN(Operand operand, operandOf(argument));
            args.push_back(std::move(operand));
        }
        std::vector<std::pair<std::string, Operand>> keywords;
        for (const auto& [name, argument] : expr.keywords) {
            SONDE_ASSIGN(Operand operand, operandOf(argument));
            keywords.emplace_back(name, std::move(operand));
        }
        const bool isOperator = expr.target.starts_with("operator.");
        const std::string function = expr.target.substr(expr.target.rfind('.') + 1);
        const bool isMethod = isOperator || expr.kind == ExprKind::CallMethod;
        const Kind kind = isMethod ? Kind::CallMethod : expr.kind == ExprKind::Apply ? Kind::Apply : Kind::CallFunction;
        const std::string tag = isMethod ? "method_" : kind == Kind::Apply ? "def_" : "func_";
        trace::TracedOperation operation{expr.op, function, expr.target, expr.kind == ExprKind::CallMethod, false, 1};
        TracedExpr* made = m_builder.addCall(kind, isOperator ? "__" + function + "__" : function, std::move(args),
                                             std::move(keywords), std::move(operation));
        Structure structure;
        structure.kind = node.type.kind && !node.type.isTensor() ? Structure::Kind::Number : Structure::Kind::Tensor;
        GraphBuilder::setOutDef(*made, std::move(structure));
        m_builder.addOutput(*made, node.name, m_graph.qualname() + ".[" + tag + function + ']');
        return made;
    }

    base::Result<void> takeResults(const InternalGraph& after) {
        std::vector<TracedNode*> outputs;
        for (const Argument& result : after.main().result.items) {
            SONDE_ASSIGN(const Operand operand, operandOf(result));
            if (operand.kind != Operand::Kind::Node)
                return base::usageError("a result of a traced module became a constant", m_graph.qualname());
            outputs.push_back(operand.node);
        }
        m_builder.setOutputs(std::move(outputs));
        return {};
    }

    ModuleGraph& m_graph;
    GraphBuilder m_builder;
    trace::BuiltinGraphs& m_builtins;
    const std::set<const std::byte*>& m_written;
    bool m_isConverted = true;  ///< passes can read all of it
    InternalGraph m_flat;
    std::map<const TracedNode*, NodeId> m_ids;
    std::map<std::size_t, TracedExpr*> m_exprs;  ///< by the index of their exprs for passes
    std::map<std::size_t, TracedNode*> m_nodes;
    std::set<std::size_t> m_replaced;  ///< indices of nodes whose TracedNode is another one than before
    std::set<const TracedExpr*> m_gone;
};

enum class Reach { OwnGraphs, BuiltinsToo };

/// All graphs of a module and of those that were traced below it, each once; with Reach::BuiltinsToo also those of
/// built-in modules that have graphs.
void collectGraphs(const TracedModule& module, Reach reach, std::vector<std::shared_ptr<ModuleGraph>>& graphs,
                   std::set<const TracedModule*>& seen) {
    if ((module.isLibrary() && reach == Reach::OwnGraphs) || !seen.insert(&module).second) return;
    for (const TracedModule::Entry& entry : module.entries()) graphs.push_back(entry.graph);
    for (const trace::Module::Child& child : module.children())
        if (const auto* traced = dynamic_cast<const TracedModule*>(child.module.get()))
            collectGraphs(*traced, reach, graphs, seen);
}

/// Where stored tensors begin that the module, as a whole, may write to: they have no value that can be relied on.
base::Result<std::set<const std::byte*>> writtenTensors(const std::shared_ptr<TracedModule>& module) {
    SONDE_ASSIGN(const auto inlined, trace::inlineTracedModule(module));
    const InternalGraph& whole = *inlined.graph;
    const passes::SharedMemory memory(whole);
    std::set<const std::byte*> written;
    for (const ExprId id : whole.recursiveOrder(whole.mainId())) {
        const Expr& expr = whole.expr(id);
        for (const NodeId node : expr.outputs) {
            const auto& constant = whole.node(node).constant;
            if (constant && constant->isTensor() && memory.isWritten(node)) written.insert(constant->tensor().bytes());
        }
    }
    return written;
}

/// Runs a pass on each graph by itself, calls of modules being opaque, and puts what it made of them back. Weights
/// count as known unless the module may write to them. Needs an EvaluatorScope. After an error the module is to be
/// thrown away.
base::Result<void> runInGraphs(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass, Reach reach,
                               const base::WorkContext& work) {
    std::vector<std::shared_ptr<ModuleGraph>> graphs;
    std::set<const TracedModule*> seen;
    collectGraphs(*module, reach, graphs, seen);
    SONDE_ASSIGN(const auto written, writtenTensors(module));
    trace::BuiltinGraphs builtins(*module);
    for (const auto& each : graphs) {
        if (work.cancelled()) return base::cancelled("in pass " + std::string(pass.id));
        SONDE_TRY(GraphRewrite(*each, builtins, written).run(pass, work));
    }
    return {};
}

/// The same within built-in modules: they get the graphs that a file has of them, and these are changed.
base::Result<void> runInBuiltins(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                 const base::WorkContext& work) {
    SONDE_TRY(trace::BuiltinGraphs(*module).replaceBelow(*module));
    return runInGraphs(module, pass, Reach::BuiltinsToo, work);
}

using ChangeModule = base::Result<std::shared_ptr<TracedModule>> (*)(const TracedModule&);

/// Passes that change modules and the graphs that call them; others run in each graph by itself.
const std::map<std::string_view, ChangeModule>& modulePasses() {
    static const std::map<std::string_view, ChangeModule> passes{{"fuse-conv-bn", trace::fuseConvBn}};
    return passes;
}

/// How many changes a pass would make in the whole graph, which it does not make in the graphs of the modules.
base::Result<std::size_t> changesLeft(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                      const base::WorkContext& work) {
    SONDE_ASSIGN(const auto inlined, trace::inlineTracedModule(module));
    InternalGraph whole(*inlined.graph);
    for (const ExprId id : whole.recursiveOrder(whole.mainId())) {
        Expr& expr = whole.mutableExpr(id);
        // What is a constant in its graph is read like an attribute in the whole.
        if (expr.kind == ExprKind::GetAttr && expr.target.starts_with("_tensor_constant"))
            expr.kind = ExprKind::Constant;
    }
    passes::PassContext context;
    context.evaluate = passEvaluator();
    const std::string id(pass.id);
    SONDE_ASSIGN(const auto result, passes::runPasses(whole, std::span(&id, 1), context, work));
    return changesIn(result.reports);
}

/// A pass that finds something to do in the whole graph would report what the module does not do.
base::Result<void> checkNothingLeft(const std::shared_ptr<TracedModule>& module, const passes::Pass& pass,
                                    const base::WorkContext& work) {
    SONDE_ASSIGN(const std::size_t changes, changesLeft(module, pass, work));
    if (changes == 0) return {};
    const std::string id(pass.id);
    return base::Error(base::usageError("pass " + id + " makes " + std::to_string(changes) +
                                            " changes that a traced module cannot hold with its hierarchy",
                                        module->className()))
        .withHint("save the changed graph as ONNX: sonde save MODEL -o FILE.onnx --pass " + id);
}

/// Results on random inputs of the recorded types; without such types nothing is compared.
base::Result<void> checkSameResults(TracedModule& before, TracedModule& after, const base::WorkContext& work) {
    if (before.entries().size() != 1) return {};
    std::vector<io::InputInfo> infos;
    for (const trace::TracedNode* node : before.entries().front().graph->inputs()) {
        if (node->isModule()) continue;
        if (!node->type().isTensor() || !node->type().shape) return {};
        infos.push_back({node->name(), node->type()});
    }
    SONDE_ASSIGN(const auto cases, io::makeInputs({}, infos, {}, work));
    if (cases.empty() || infos.size() != before.signature().size()) return {};
    const auto expected = before.run(cases.front().values);
    if (!expected) return {};  // other inputs than the example's may lead elsewhere
    SONDE_ASSIGN(const auto actual, after.run(cases.front().values));
    auto same = trace::compareResults(*expected, actual, 1e-4);
    if (!same) return base::runError("the optimised module returns another result: " + same.error().what);
    return {};
}

}  // namespace

base::Result<std::shared_ptr<TracedModule>> optimize(const TracedModule& module, const std::vector<std::string>& passes,
                                                     const base::WorkContext& work) {
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    const auto original = module.clone();
    std::shared_ptr<TracedModule> made = original;
    for (const std::string& name : passes) {
        SONDE_ASSIGN(const passes::Pass* pass, passes::findPass(name));
        if (work.cancelled()) return base::cancelled("before pass " + std::string(pass->id));
        if (const auto own = modulePasses().find(pass->id); own != modulePasses().end()) {
            SONDE_ASSIGN(made, own->second(*made));
        } else {
            made = made->clone();
            SONDE_TRY(runInGraphs(made, *pass, Reach::OwnGraphs, work));
            SONDE_ASSIGN(const std::size_t left, changesLeft(made, *pass, work));
            if (left > 0) SONDE_TRY(runInBuiltins(made, *pass, work));
        }
        SONDE_TRY(checkNothingLeft(made, *pass, work));
    }
    SONDE_TRY(checkSameResults(*original, *made, work));
    return made;
}

}  // namespace sonde::document
