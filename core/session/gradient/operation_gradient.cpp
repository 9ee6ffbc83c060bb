#include "core/session/gradient/operation_gradient.h"

#include <algorithm>

#include "core/export/lowering/lowering.h"
#include "core/operators/names.h"
#include "core/passes/gradient.h"
#include "core/session/gradient/complex_forms.h"
#include "core/session/gradient/own_forms.h"
#include "core/tensor/complex_pairs.h"

namespace sonde::session::gradient {

using graph::Argument;
using graph::Expr;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

/// Tensors up to this size that nothing is differentiated by are constants of the graph, whose elements rules may read:
/// axes, sizes, scales.
constexpr std::int64_t kMaxConstant = 4096, kMaxFloatingConstant = 64;

bool isFloating(const Value& value) { return value.isTensor() && tensor::isFloating(value.tensor().dtype()); }
bool isComplex(const Value& value) { return value.isTensor() && tensor::isComplex(value.tensor().dtype()); }

/// The operation alone as a graph of ONNX operators, with what computes its gradients behind it.
class SmallGraph {
  public:
    SmallGraph(const DoneOperation& operation, const std::unordered_set<NodeId>& wanted, bool areOthersConstant)
        : m_operation(operation), m_expr(*operation.expr), m_wanted(wanted), m_areOthersConstant(areOthersConstant) {}

    /// What the operation is in ONNX operators. Empty if it worked, else why not.
    std::string write() {
        if (const auto same = sameOperator(m_expr); same && !isOfComplex()) return copy(*same);
        if (const auto own = ownRule(); own && !isOfComplex()) return keep(*own);
        if (isLowered()) return lower();
        return isOfComplex() ? "there is no rule for its derivative on complex numbers" : copy(m_expr.op);
    }

    base::Result<Gradients> gradients(const std::vector<Value>& given, exec::Runner& runner,
                                      const base::WorkContext& work) {
        std::vector<passes::NodeGradient> seeds;
        for (std::size_t i = 0; i < m_results.size() && i < given.size(); ++i) addSeeds(m_results[i], given[i], seeds);
        std::vector<NodeId> xs;
        for (const Leaf& leaf : m_leaves) xs.push_back(leaf.input);
        SONDE_ASSIGN(const std::vector<NodeId> made, passes::appendGradients(m_graph, seeds, xs));
        exec::PlanOptions options;
        for (const NodeId node : made)
            if (node.valid()) options.end.push_back(node);
        Gradients found;
        if (options.end.empty()) return found;
        std::vector<Value> inputs;
        for (const NodeId input : m_graph.inputs()) inputs.push_back(m_values.at(input));
        const std::vector<NodeId> ends = options.end;
        SONDE_ASSIGN(const auto plan,
                     exec::Plan::make(std::make_shared<const InternalGraph>(std::move(m_graph)), std::move(options)));
        exec::RunOptions quiet;
        quiet.countsBad = false;
        exec::Recording recording = runner.run(*plan, inputs, work, quiet);
        if (recording.error) return std::move(*recording.error);
        std::size_t next = 0;
        for (std::size_t i = 0; i < m_leaves.size(); ++i) {
            if (!made[i].valid()) continue;
            SONDE_TRY(keep(found, m_leaves[i], recording.outputs[next++]));
        }
        return found;
    }

  private:
    /// A tensor of an input, or of a list of them.
    struct Leaf {
        NodeId node;                    ///< of the model
        std::vector<std::size_t> path;  ///< where in its value
        NodeId input;                   ///< of this graph
        bool isPair = false;            ///< it stands for complex numbers
    };

    NodeId addInput(const Value& value) {
        const NodeId node =
            m_graph.addInput(m_graph.mainId(), "x" + std::to_string(m_values.size()), TypeInfo::of(value));
        m_values[node] = value;
        return node;
    }
    NodeId addConstant(const Value& value) {
        Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.body = m_graph.mainId();
        expr.scope = m_graph.rootScope();
        const std::string name = "c" + std::to_string(m_graph.nodeCount());
        const NodeId node = m_graph.expr(m_graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        m_graph.setType(node, TypeInfo::of(value));
        m_graph.setConstant(node, value);
        return node;
    }

    /// What stands for a value of the model; `node` is that of the value, or of the list that it is in.
    Argument standIn(NodeId node, const Value& value, std::vector<std::size_t> path = {}) {
        if (isComplex(value)) return pairsFor(node, value.tensor(), std::move(path));
        if (value.isTensor()) {
            const bool isWanted = isFloating(value) && m_wanted.contains(node);
            if (!isWanted && m_areOthersConstant) return Argument::of(value);
            const std::int64_t limit = isFloating(value) ? kMaxFloatingConstant : kMaxConstant;
            if (!isWanted && value.tensor().numel() <= limit)
                return isLowered() ? Argument::of(value) : Argument::of(addConstant(value));
            const NodeId input = addInput(value);
            if (isWanted) m_leaves.push_back({node, std::move(path), input});
            return Argument::of(input);
        }
        if (!value.isListLike()) return Argument::of(value);
        std::vector<Argument> items;
        for (std::size_t i = 0; i < value.items().size(); ++i) {
            path.push_back(i);
            items.push_back(standIn(node, value.items()[i], path));
            path.pop_back();
        }
        const bool isConstant =
            std::ranges::all_of(items, [](const Argument& item) { return item.kind == Argument::Kind::Constant; });
        return isConstant ? Argument::of(value) : Argument::container(Argument::Kind::List, std::move(items));
    }
    /// Complex numbers as pairs of real ones.
    Argument pairsFor(NodeId node, const Tensor& complex, std::vector<std::size_t> path) {
        const Value pairs(tensor::pairsOf(complex));
        const bool isWanted = m_wanted.contains(node),
                   isConstant = !isWanted && (m_areOthersConstant || complex.numel() <= kMaxFloatingConstant);
        const NodeId made = isConstant ? addConstant(pairs) : addInput(pairs);
        if (isWanted) m_leaves.push_back({node, std::move(path), made, true});
        m_pairs.insert(made);
        return Argument::of(made);
    }
    Argument standIn(const Argument& argument) {
        if (argument.kind == Argument::Kind::Constant && holdsComplex(argument.constant))
            return standIn(NodeId(), argument.constant);
        if (argument.kind == Argument::Kind::Node) {
            const auto known = m_standIns.find(argument.node);
            if (known != m_standIns.end()) return known->second;
            const auto value = m_operation.inputs.find(argument.node);
            Argument made =
                value == m_operation.inputs.end() ? Argument::omitted() : standIn(argument.node, value->second);
            m_standIns[argument.node] = made;
            return made;
        }
        Argument made = argument;
        for (Argument& item : made.items) item = standIn(item);
        const bool isList = made.kind == Argument::Kind::List || made.kind == Argument::Kind::Tuple;
        const bool isConstant = isList && std::ranges::all_of(made.items, [](const Argument& item) {
                                    return item.kind == Argument::Kind::Constant;
                                });
        if (!isConstant) return made;
        tensor::ValueList items;
        for (const Argument& item : made.items) items.push_back(item.constant);
        return Argument::of(made.kind == Argument::Kind::List ? Value::list(std::move(items))
                                                              : Value::tuple(std::move(items)));
    }

    bool isLowered() const { return m_expr.op.domain == "aten" || m_expr.op.domain == "prim"; }

    /// The key of an operator with a schema that has a rule of its own in its vocabulary (linear algebra).
    std::optional<graph::OpKey> ownRule() const {
        if (m_expr.op.domain != "aten" && m_expr.op.domain != "torchvision") return std::nullopt;
        Expr asked;
        asked.op = m_expr.op;
        asked.op.name =
            operators::isInPlaceName(asked.op.name) ? operators::outOfPlaceName(asked.op.name) : asked.op.name;
        if (!passes::hasGradientRule(asked)) return std::nullopt;
        return asked.op;
    }

    /// Such an operator as it is, with all arguments of its schema.
    std::string keep(const graph::OpKey& op) {
        Expr made;
        made.kind = graph::ExprKind::Apply;
        made.op = op;
        made.target = m_expr.target;
        for (const Argument& argument : boundArguments()) {
            Argument given = standIn(argument);
            if (given.kind == Argument::Kind::Constant && given.constant.isTensor())
                given = Argument::of(addConstant(given.constant));
            made.arguments.push_back(std::move(given));
        }
        return place(std::move(made));
    }

    /// An ONNX operator as it is; those of com.microsoft too.
    std::string copy(const graph::OpKey& op) {
        if (!m_expr.bodies.empty()) return "it contains graphs";
        Expr made;
        made.kind = graph::ExprKind::Apply;
        made.op = op;
        made.target = m_expr.target;
        made.attributes = m_expr.attributes;
        for (const Argument& argument : m_expr.arguments) {
            Argument given = standIn(argument);
            if (given.kind == Argument::Kind::Constant)
                given = given.constant.isTensor() ? Argument::of(addConstant(given.constant)) : Argument::omitted();
            if (given.kind == Argument::Kind::List) return "it reads a list";
            made.arguments.push_back(std::move(given));
        }
        return place(std::move(made));
    }

    /// Adds an operation, whose results are those of the call. Empty if it can be differentiated.
    std::string place(Expr made) {
        made.body = m_graph.mainId();
        made.scope = m_graph.rootScope();
        std::vector<std::string> names;
        for (std::size_t i = 0; i < m_expr.outputs.size(); ++i) names.push_back("y" + std::to_string(i));
        const std::vector<NodeId> outputs = m_graph.expr(m_graph.addExpr(std::move(made), names)).outputs;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (i < m_operation.outputs.size() && m_operation.outputs[i].isTensor())
                m_graph.setType(outputs[i], TypeInfo::of(m_operation.outputs[i]));
            m_results.push_back(Argument::of(outputs[i]));
        }
        if (!passes::hasGradientRule(m_graph.expr(m_graph.node(outputs.front()).producer)))
            return "there is no rule for its derivative";
        return {};
    }

    /// Another one as exports to ONNX have it.
    std::string lower() {
        const std::string name =
            operators::isInPlaceName(m_expr.op.name) ? operators::outOfPlaceName(m_expr.op.name) : m_expr.op.name;
        const std::string plainName = name.substr(0, name.find('.'));
        const exporting::LoweringRule rule = exporting::findLowering(plainName);
        const bool isComplexCall = isOfComplex() || isComplexForm(plainName);
        if (!rule && !isComplexCall && !hasOwnForm(name)) return "there is no rule for its derivative";
        std::vector<Argument> arguments;
        std::vector<Value> values;
        for (const Argument& argument : boundArguments()) {
            arguments.push_back(standIn(argument));
            values.push_back(valueOf(argument));
        }
        exporting::Known known;
        Expr placed = m_expr;
        placed.scope = m_graph.rootScope();
        if (isComplexCall)
            return lowerComplex({m_graph, known, placed, plainName, std::move(arguments), std::move(values),
                                 m_operation.outputs, m_pairs});
        exporting::LoweredCall call(m_graph, known, placed, std::move(arguments), m_operation.outputs, "y");
        try {
            m_results = ownForm(call, name);
            if (m_results.empty() && rule) m_results = rule(call);
            if (m_results.empty()) return "there is no rule for its derivative";
        } catch (const exporting::NoLowering& problem) {
            return problem.why.empty() ? "there is no rule for its derivative" : problem.why;
        }
        return {};
    }

    std::string lowerComplex(const ComplexCall& call) {
        try {
            m_results = complexForm(call);
        } catch (const exporting::NoLowering& problem) {
            return "there is no rule for its derivative on complex numbers" +
                   (problem.why.empty() ? "" : ": " + problem.why);
        }
        return {};
    }

    bool isOfComplex() const {
        const auto isComplexInput = [](const auto& input) { return holdsComplex(input.second); };
        const auto isComplexArgument = [](const Argument& argument) {
            return argument.kind == Argument::Kind::Constant && holdsComplex(argument.constant);
        };
        return std::ranges::any_of(m_operation.outputs, holdsComplex) ||
               std::ranges::any_of(m_operation.inputs, isComplexInput) ||
               std::ranges::any_of(m_expr.arguments, isComplexArgument);
    }

    Value valueOf(const Argument& argument) const {
        if (argument.kind == Argument::Kind::Constant) return argument.constant;
        const auto known =
            argument.kind == Argument::Kind::Node ? m_operation.inputs.find(argument.node) : m_operation.inputs.end();
        return known == m_operation.inputs.end() ? Value() : known->second;
    }

    /// In the order of the schema, keywords and defaults in their places.
    std::vector<Argument> boundArguments() const {
        std::vector<Argument> bound = m_expr.arguments;
        const ops::OpDef* op = ops::Registry::all().find(m_expr.op.domain, m_expr.op.name, m_expr.op.version);
        if (!op) return bound;
        for (std::size_t i = bound.size(); i < op->parameters.size(); ++i) {
            const auto& parameter = op->parameters[i];
            const auto given = std::ranges::find(
                m_expr.keywords, parameter.name, [](const auto& keyword) -> const auto& { return keyword.first; });
            bound.push_back(given != m_expr.keywords.end() ? given->second
                            : parameter.fallback           ? Argument::of(*parameter.fallback)
                                                           : Argument::omitted());
        }
        return bound;
    }

    void addSeeds(const Argument& result, const Value& gradient, std::vector<passes::NodeGradient>& seeds) {
        if (gradient.isTensor() && result.kind == Argument::Kind::Node) {
            seeds.push_back(
                {result.node, addInput(isComplex(gradient) ? Value(tensor::pairsOf(gradient.tensor())) : gradient)});
        } else if (gradient.isListLike() && !result.items.empty()) {
            for (std::size_t i = 0; i < result.items.size() && i < gradient.items().size(); ++i)
                addSeeds(result.items[i], gradient.items()[i], seeds);
        }
    }

    base::Result<void> keep(Gradients& found, const Leaf& leaf, const Value& gradient) const {
        Value whole = gradient;
        if (leaf.isPair) {
            SONDE_ASSIGN(Tensor complex, tensor::complexOf(gradient.tensor()));
            whole = Value(std::move(complex));
        }
        // Lists of nones around it, as the node's value is built.
        for (std::size_t depth = leaf.path.size(); depth-- > 0;) {
            const Value* at = &m_operation.inputs.at(leaf.node);
            for (std::size_t i = 0; i < depth; ++i) at = &at->items()[leaf.path[i]];
            tensor::ValueList items(at->items().size());
            items[leaf.path[depth]] = std::move(whole);
            whole = Value::list(std::move(items));
        }
        return addGradient(found[leaf.node], whole);
    }

    const DoneOperation& m_operation;
    const Expr& m_expr;
    const std::unordered_set<NodeId>& m_wanted;
    bool m_areOthersConstant;
    InternalGraph m_graph;
    std::unordered_map<NodeId, Value> m_values;  ///< of this graph's inputs
    std::unordered_map<NodeId, Argument> m_standIns;
    std::unordered_set<NodeId> m_pairs;  ///< nodes of this graph that stand for complex numbers
    std::vector<Leaf> m_leaves;
    std::vector<Argument> m_results;
};

}  // namespace

base::Result<void> addGradient(Value& sum, const Value& more) {
    if (more.isNone()) return {};
    if (sum.isNone()) {
        sum = more;
        return {};
    }
    if (sum.isListLike() && more.isListLike()) {
        tensor::ValueList items(sum.items().begin(), sum.items().end());
        for (std::size_t i = 0; i < items.size() && i < more.items().size(); ++i)
            SONDE_TRY(addGradient(items[i], more.items()[i]));
        sum = Value::list(std::move(items));
        return {};
    }
    if (!sum.isTensor() || !more.isTensor() || sum.tensor().shape() != more.tensor().shape())
        return base::runError("gradients of " + sum.typeText() + " and " + more.typeText() + " have no sum");
    const tensor::DType dtype = sum.tensor().dtype();
    if (tensor::isComplex(dtype)) {
        Value pairs(tensor::pairsOf(sum.tensor()));
        SONDE_ASSIGN(const Tensor other, more.tensor().cast(dtype));
        SONDE_TRY(addGradient(pairs, Value(tensor::pairsOf(other))));
        SONDE_ASSIGN(Tensor made, tensor::complexOf(pairs.tensor()));
        sum = Value(std::move(made));
        return {};
    }
    const bool isWide = dtype == tensor::DType::Float64;
    SONDE_ASSIGN(Tensor left, sum.tensor().cast(isWide ? tensor::DType::Float64 : tensor::DType::Float32));
    SONDE_ASSIGN(left, left.clone());
    SONDE_ASSIGN(Tensor right, more.tensor().cast(left.dtype()));
    SONDE_ASSIGN(right, right.contiguous());
    const auto add = [](auto to, auto from) { std::ranges::transform(to, from, to.begin(), std::plus<>()); };
    isWide ? add(left.mutableSpan<double>(), right.span<double>())
           : add(left.mutableSpan<float>(), right.span<float>());
    SONDE_ASSIGN(Tensor made, left.cast(dtype));
    sum = Value(std::move(made));
    return {};
}

base::Result<Gradients> operationGradient(const DoneOperation& operation, const std::vector<Value>& given,
                                          const std::unordered_set<NodeId>& wanted, exec::Runner& runner,
                                          const base::WorkContext& work) {
    if (auto structure = structureGradient(operation, given, wanted)) return std::move(*structure);
    std::string why;
    // Some exports need constant weights.
    for (const bool areOthersConstant : {false, true}) {
        SmallGraph graph(operation, wanted, areOthersConstant);
        const std::string refusal = graph.write();
        if (refusal.empty()) return graph.gradients(given, runner, work);
        if (why.empty()) why = refusal;
    }
    return base::usageError(why);
}

}  // namespace sonde::session::gradient
