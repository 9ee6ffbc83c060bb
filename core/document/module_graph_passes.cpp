#include "core/document/module_graph_passes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/base/unicode.h"
#include "core/document/model_passes.h"
#include "core/graph/memory.h"
#include "core/operators/traits.h"
#include "core/trace/traced_module.h"

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

/// A graph of a module as one for passes, and back again.
class GraphRewrite {
  public:
    /// `written`: tensors that may be written to; see writtenTensors().
    /// `layers`: calls of these are operations with weights that passes may change; null: they are opaque.
    GraphRewrite(ModuleGraph& graph, trace::BuiltinGraphs& builtins, const std::set<const std::byte*>& written,
                 trace::LayerModules* layers)
        : m_graph(graph), m_builder(graph), m_builtins(builtins), m_written(written), m_layers(layers) {}

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
    /// What a layer's operation had before the pass.
    struct LayerArguments {
        std::vector<Argument> arguments;
        std::vector<std::pair<std::string, Argument>> keywords;
    };

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
        const bool isLayer = m_pending.has_value();
        std::vector<std::string> names;
        for (const TracedNode* node : expr.outputs()) names.push_back(node->name());
        // What gives nothing still is there for its effect.
        if (names.empty()) names.push_back("effect " + std::to_string(m_exprs.size()));
        const ExprId id = m_flat.addExpr(std::move(made), names);
        m_exprs[id.index()] = &expr;
        if (isLayer) m_layerCalls.emplace(id.index(), *std::exchange(m_pending, std::nullopt));
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
            if (!traced) return {};
            if (!returnsInput(*traced)) return convertLayer(expr, made);
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

    /// What a layer's module does, with its tensors as constants of the graph.
    base::Result<void> convertLayer(TracedExpr& expr, Expr& made) {
        if (!m_layers) return {};
        SONDE_ASSIGN(const auto layer, m_layers->of(expr));
        if (!layer) return {};
        const bool isFixed = std::ranges::none_of(
            layer->stored, [this](const auto& read) { return m_written.contains(read.second->value.bytes()); });
        const auto isKnown = [&](const Operand& operand) {
            return operand.kind != Operand::Kind::Node || operand.node == layer->input ||
                   std::ranges::any_of(layer->stored, [&](const auto& read) { return read.first == operand.node; });
        };
        const trace::TracedOperation& operation = layer->operation->operation();
        const auto& keywords = layer->operation->keywords();
        if (!isFixed || operation.swapped || operation.outputs != 1 ||
            !std::ranges::all_of(layer->operation->args(), isKnown) ||
            !std::ranges::all_of(keywords, [&](const auto& each) { return isKnown(each.second); }))
            return {};
        std::map<const TracedNode*, NodeId> inside{{layer->input, made.arguments.front().node}};
        for (const auto& [node, slot] : layer->stored) {
            Expr constant;
            constant.kind = ExprKind::Constant;
            constant.target = expr.inputs().front()->name() + '.' + node->name();
            constant.isParameter = true;
            const std::string name = expr.inputs().front()->name() + '_' + node->name();
            const NodeId stored = m_flat.expr(m_flat.addExpr(std::move(constant), std::span(&name, 1))).outputs.front();
            m_flat.setConstant(stored, tensor::Value(slot->value));
            m_flat.setType(stored, tensor::TypeInfo::of(tensor::Value(slot->value)));
            m_ofLayers.insert(m_flat.node(stored).producer.index());
            inside[node] = stored;
        }
        made.kind = ExprKind::CallFunction;
        made.target = operation.target;
        made.op = operation.op;
        made.arguments.clear();
        for (const Operand& operand : layer->operation->args()) made.arguments.push_back(argumentOf(operand, inside));
        for (const auto& [name, operand] : keywords) made.keywords.emplace_back(name, argumentOf(operand, inside));
        m_pending = LayerArguments{made.arguments, made.keywords};
        return {};
    }

    void pair(TracedNode* node, NodeId id) {
        m_flat.setType(id, node->type());
        m_ids[node] = id;
        m_nodes[id.index()] = node;
    }

    Argument argumentOf(const Operand& operand) { return argumentOf(operand, m_ids); }
    Argument argumentOf(const Operand& operand, const std::map<const TracedNode*, NodeId>& ids) {
        if (operand.kind == Operand::Kind::Constant) return Argument::of(operand.constant);
        if (operand.kind == Operand::Kind::Node) {
            const auto found = ids.find(operand.node);
            m_isConverted = m_isConverted && found != ids.end();
            return found == ids.end() ? Argument::omitted() : Argument::of(found->second);
        }
        std::vector<Argument> items;
        for (const Operand& item : operand.items) items.push_back(argumentOf(item, ids));
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
            if (expr.kind == ExprKind::Input || expr.kind == ExprKind::Output || m_ofLayers.contains(id.index()))
                continue;
            const auto before = m_exprs.find(id.index());
            TracedExpr* stands = before == m_exprs.end() ? nullptr : before->second;
            if (const auto layer = m_layerCalls.find(id.index()); layer != m_layerCalls.end()) {
                SONDE_TRY(takeLayer(*stands, layer->second, after, expr));
                kept.insert(id.index());
            } else if (stands && isSame(expr, m_flat.expr(id)) && hasSameConstant(after, expr)) {
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

    bool hasSameConstant(const InternalGraph& after, const Expr& expr) const {
        if (expr.kind != ExprKind::Constant) return true;
        const auto &now = after.node(expr.outputs.front()).constant, &was = m_flat.node(expr.outputs.front()).constant;
        return now.has_value() == was.has_value() && (!now || tensor::identical(*now, *was));
    }

    /// The arguments of an operation by their position in its schema; keywords of convolutions are in their names.
    static const Argument* argumentAt(const Expr& expr, std::size_t index, std::string_view name) {
        for (const auto& [keyword, argument] : expr.keywords)
            if (keyword == name) return &argument;
        return index < expr.arguments.size() ? &expr.arguments[index] : nullptr;
    }

    /// An undefined one if the argument is no known tensor.
    static tensor::Tensor tensorAt(const InternalGraph& graph, const Argument* argument) {
        if (!argument || argument->kind != Argument::Kind::Node) return {};
        const auto& constant = graph.node(argument->node).constant;
        return constant && constant->isTensor() ? constant->tensor() : tensor::Tensor();
    }

    /// The module's call goes on, with other weights in the module if the pass gave it some.
    base::Result<void> takeLayer(TracedExpr& stands, const LayerArguments& given, const InternalGraph& after,
                                 const Expr& expr) {
        Expr before = m_flat.expr(expr.id);
        before.arguments = given.arguments;
        before.keywords = given.keywords;
        if (expr.op.domain != before.op.domain || expr.op.name != before.op.name)
            return base::usageError("a pass made another operation of a module's", m_graph.qualname());
        if (!sameArgument(expr.arguments.front(), before.arguments.front())) {
            std::vector<Operand> args = stands.args();
            SONDE_ASSIGN(args[1], operandOf(expr.arguments.front()));
            m_builder.setArguments(stands, std::move(args), stands.keywords());
        }
        if (hasSameTensors(after, expr, before)) return {};
        const tensor::Tensor weight = tensorAt(after, argumentAt(expr, 1, "weight"));
        if (!weight.defined() || !m_layers)
            return base::usageError("a pass made weights that a module cannot hold", m_graph.qualname());
        return m_layers->setWeights(m_graph, stands, weight, tensorAt(after, argumentAt(expr, 2, "bias")));
    }

    bool hasSameTensors(const InternalGraph& after, const Expr& now, const Expr& before) const {
        const auto isSameOne = [&](const Argument& a, const Argument& b) {
            const tensor::Tensor x = tensorAt(after, &a), y = tensorAt(m_flat, &b);
            return x.defined() == y.defined() && (!x.defined() || tensor::identical(x, y));
        };
        return now.arguments.size() == before.arguments.size() && now.keywords.size() == before.keywords.size() &&
               std::equal(now.arguments.begin() + 1, now.arguments.end(), before.arguments.begin() + 1, isSameOne) &&
               std::ranges::equal(now.keywords, before.keywords, [&](const auto& a, const auto& b) {
                   return a.first == b.first && isSameOne(a.second, b.second);
               });
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
        m_builder.addOutput(*made, nameOf(node, function), m_graph.qualname() + ".[" + tag + function + ']');
        return made;
    }

    /// What stands for another node has its name; what a pass has named is named as by a trace (traced-module.md,
    /// "Names").
    std::string nameOf(const graph::Node& node, std::string function) const {
        if (m_flat.findNode(node.name).valid()) return node.name;
        while (function.size() > 1 && function.starts_with('_')) function.erase(0, 1);
        while (function.size() > 1 && function.ends_with('_')) function.pop_back();
        return base::lowerCase(function) + "_out";
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
    trace::LayerModules* m_layers;
    std::optional<LayerArguments> m_pending;             ///< of the call that is being converted, if it is a layer
    std::map<std::size_t, LayerArguments> m_layerCalls;  ///< by the index of their exprs for passes
    std::set<std::size_t> m_ofLayers;                    ///< indices of exprs that stand for tensors of their modules
    bool m_isConverted = true;                           ///< passes can read all of it
    InternalGraph m_flat;
    std::map<const TracedNode*, NodeId> m_ids;
    std::map<std::size_t, TracedExpr*> m_exprs;  ///< by the index of their exprs for passes
    std::map<std::size_t, TracedNode*> m_nodes;
    std::set<std::size_t> m_replaced;  ///< indices of nodes whose TracedNode is another one than before
    std::set<const TracedExpr*> m_gone;
};

}  // namespace

std::size_t changesIn(const std::vector<passes::PassReport>& reports) {
    std::size_t changes = 0;
    for (const passes::PassReport& report : reports) changes += report.changes();
    return changes;
}

base::Result<std::size_t> runPassOn(ModuleGraph& graph, const ModuleGraphContext& context, const passes::Pass& pass,
                                    const base::WorkContext& work) {
    return GraphRewrite(graph, context.builtins, context.written, context.layers).run(pass, work);
}

}  // namespace sonde::document
