// Runs graphs: on values at once, or under a tracer, which then records what is run.

#include <algorithm>
#include <unordered_map>

#include "core/trace/traced_module.h"
#include "core/trace/traced_module/interpretation.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using tensor::Value;
using Kind = TracedExpr::Kind;

namespace {

/// "block0.conv1" of the node whose qualname is "Net.block0.conv1".
std::string pathInModel(const TracedNode& module) {
    const std::string& top = module.graph().root().qualname();
    const std::string& qualname = module.qualname();
    return qualname.size() > top.size() && qualname.starts_with(top) ? qualname.substr(top.size() + 1) : std::string();
}

/// One run of one graph.
class Interpreter {
  public:
    Interpreter(const ModuleGraph& graph, Module& self) : m_graph(graph), m_self(self) {
        for (const TracedNode* output : graph.outputs()) ++m_uses[output];
        for (const TracedExpr* expr : graph.body()) {
            for (const TracedNode* input : expr->inputs()) ++m_uses[input];
        }
        m_follower = dynamic_cast<InterpretationFollower*>(Tracer::active());
    }

    std::vector<Var> run(std::span<const Var> tensors, std::vector<std::pair<const TracedNode*, Value>>& watched) {
        const std::vector<TracedNode*>& inputs = m_graph.inputs();
        if (tensors.size() + 1 != inputs.size()) {
            throw TraceError(TraceErrorKind::Assertion, "the graph " + m_graph.name() + " takes " +
                                                            std::to_string(inputs.size() - 1) + " tensors, not " +
                                                            std::to_string(tensors.size()));
        }
        // The graph has a value for each write.
        const WritesAsValues values;
        m_watched = &watched;
        m_missing = m_graph.endPoints().size();
        setModule(inputs.front(), m_self.shared_from_this());
        for (std::size_t i = 0; i < tensors.size(); ++i) set(inputs[i + 1], tensors[i]);
        const bool hasEnd = !m_graph.endPoints().empty();
        for (const TracedExpr* expr : m_graph.body()) {
            if (hasEnd && m_missing == 0) break;
            execute(*expr);
        }
        std::vector<Var> results;
        for (const TracedNode* node : hasEnd ? m_graph.endPoints() : m_graph.outputs()) {
            results.push_back(node->isModule() ? Var(Value::object(std::make_shared<ModuleValue>(m_modules.at(node))))
                                               : m_values.at(node));
        }
        return results;
    }

  private:
    void produced(const TracedNode* node) {
        m_missing -= static_cast<std::size_t>(std::ranges::count(m_graph.endPoints(), node));
    }

    void set(const TracedNode* node, const Var& value) {
        m_values.insert_or_assign(node, value);
        if (m_follower) m_follower->produced(*node, value);
        if (m_graph.watchPoints().contains(node) && !value.hasProxy()) watch(node, value.toValue());
        produced(node);
    }

    void setModule(const TracedNode* node, std::shared_ptr<Module> module) {
        if (m_graph.watchPoints().contains(node)) watch(node, Value::object(std::make_shared<ModuleValue>(module)));
        m_modules.insert_or_assign(node, std::move(module));
        produced(node);
    }

    void watch(const TracedNode* node, Value value) {
        std::erase_if(*m_watched, [&](const auto& entry) { return entry.first == node; });
        m_watched->emplace_back(node, std::move(value));
    }

    /// A value goes with its last use.
    void release(const TracedExpr& expr) {
        for (const TracedNode* input : expr.inputs()) {
            if (--m_uses[input] == 0 && std::ranges::find(m_graph.endPoints(), input) == m_graph.endPoints().end())
                m_values.erase(input);
        }
    }

    void execute(const TracedExpr& expr) {
        if (m_follower) m_follower->before(expr);
        switch (expr.kind()) {
            case Kind::Input: return;
            case Kind::GetAttr: read(expr); break;
            case Kind::Constant:
                if (expr.constantModule()) {
                    setModule(expr.outputs().front(), expr.constantModule());
                } else {
                    set(expr.outputs().front(), Var(expr.constant()));
                }
                break;
            default:
                if (isGuard(expr)) checkGuard(expr, argument(expr.args().front()));
                else if (isAssertion(expr)) call(expr);
                else setOutputs(expr, call(expr));
        }
        if (m_follower) m_follower->after(expr);
        release(expr);
    }

    void read(const TracedExpr& expr) {
        Module& base = *m_modules.at(expr.inputs().front());
        const TracedNode* output = expr.outputs().front();
        const std::string& path = expr.target();
        if (output->isModule()) {
            setModule(output, base.use(path).shared_from_this());
            return;
        }
        const std::size_t dot = path.rfind('.');
        Module* owner = dot == std::string::npos ? &base : base.find(std::string_view(path).substr(0, dot));
        const std::string name = dot == std::string::npos ? path : path.substr(dot + 1);
        if (owner) {
            for (const Module::NamedSlot& named : owner->ownTensors()) {
                if (named.name != name) continue;
                set(output, Attribute(named.slot).read());
                return;
            }
        }
        throw TraceError(TraceErrorKind::Attribute, "'" + base.className() + "' has no attribute '" + path + "'");
    }

    Var argument(const Operand& operand) const {
        switch (operand.kind) {
            case Operand::Kind::Node: return m_values.at(operand.node);
            case Operand::Kind::Constant: return Var(operand.constant);
            default: break;
        }
        std::vector<Var> items;
        for (const Operand& item : operand.items) items.push_back(argument(item));
        switch (operand.kind) {
            case Operand::Kind::List: return Var::list(std::move(items));
            case Operand::Kind::Tuple: return Var::tuple(std::move(items));
            case Operand::Kind::Slice: return Var::slice(items[0], items[1], items[2]);
            default: break;
        }
        std::vector<std::pair<Value, Var>> entries;
        for (std::size_t i = 0; i < items.size(); ++i) entries.emplace_back(operand.keys[i], std::move(items[i]));
        return Var::dict(std::move(entries));
    }

    Var call(const TracedExpr& expr) const {
        Keywords keywords;
        for (const auto& [name, operand] : expr.keywords()) keywords.emplace_back(name, argument(operand));
        std::vector<Var> args;
        const bool isModuleCall = expr.isModuleCall();
        for (std::size_t i = isModuleCall ? 1 : 0; i < expr.args().size(); ++i)
            args.push_back(argument(expr.args()[i]));
        if (isModuleCall) {
            Module& module = *m_modules.at(expr.inputs().front());
            return callModel(pathInModel(*expr.inputs().front()), module.className(), [&] {
                return module.callForward(expr.forwardName(), std::move(args), std::move(keywords));
            });
        }

        const TracedOperation& operation = expr.operation();
        if (operation.swapped && args.size() > 1) std::swap(args[0], args[1]);
        if (operation.op.domain == "wrap")
            return WrappedFunction(operation.op.name).call(std::move(args), std::move(keywords));
        const bool makesTensor = expr.outputs().empty() || !expr.outputs().front()->isNumber();
        const Function function{operation.op.name, operation.display,   operation.target,
                                makesTensor,       operation.op.domain, operation.outputs};
        return operation.isMethod ? callMethod(function, std::move(args), std::move(keywords))
                                  : callFunction(function, std::move(args), std::move(keywords));
    }

    void setOutputs(const TracedExpr& expr, const Var& result) {
        std::vector<Var> leaves;
        if (!takeApart(expr.outDef(), result, leaves) && !asEndPoints(expr, result, leaves)) {
            throw TraceError(TraceErrorKind::Assertion,
                             "'" + expr.text() + "' returns a different structure than in the trace: " +
                                 Structure::of(result).text() + " instead of " + expr.outDef().text());
        }
        for (std::size_t i = 0; i < leaves.size(); ++i) set(expr.outputs()[i], leaves[i]);
        guardParts(expr, result);
    }

    /// The called module has end points of its own: it gives a list of them.
    static bool asEndPoints(const TracedExpr& expr, const Var& result, std::vector<Var>& leaves) {
        if (!expr.innerGraph() || expr.innerGraph()->endPoints().empty()) return false;
        leaves = result.unpack(expr.innerGraph()->endPoints().size());
        if (leaves.size() == expr.outputs().size()) return true;
        throw TraceError(TraceErrorKind::Assertion,
                         "'" + expr.text() + "' has " + std::to_string(expr.outputs().size()) +
                             " outputs, and the end points of its module are " + std::to_string(leaves.size()));
    }

    const ModuleGraph& m_graph;
    Module& m_self;
    InterpretationFollower* m_follower = nullptr;
    std::unordered_map<const TracedNode*, std::size_t> m_uses;
    std::unordered_map<const TracedNode*, Var> m_values;
    std::unordered_map<const TracedNode*, std::shared_ptr<Module>> m_modules;
    std::vector<std::pair<const TracedNode*, Value>>* m_watched = nullptr;
    std::size_t m_missing = 0;
};

}  // namespace

std::vector<Var> ModuleGraph::interpret(Module& self, std::span<const Var> tensors) {
    return Interpreter(*this, self).run(tensors, m_watched);
}

base::Result<std::vector<Value>> ModuleGraph::eval(const std::vector<Value>& tensors) {
    const auto self = owner();
    if (!self) return base::usageError("the module of the graph no longer exists", m_name);
    try {
        std::vector<Value> values;
        const std::vector<Var> in(tensors.begin(), tensors.end());
        for (const Var& var : interpret(*self, in)) values.push_back(var.toValue());
        return values;
    } catch (...) {
        return TraceError::ofCurrentException().toRunError(m_name);
    }
}

}  // namespace sonde::trace
