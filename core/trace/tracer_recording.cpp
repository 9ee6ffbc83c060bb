// One trace: the parameters of the root, its forward, the modules that it calls, and what is recorded of each.

#include <algorithm>
#include <utility>

#include "core/trace/at_once.h"
#include "core/trace/live_object.h"
#include "core/trace/memory.h"
#include "core/trace/tracer.h"

namespace sonde::trace {

using graph::Argument;
using graph::BodyId;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::NodeId;
using tensor::Value;

namespace {

/// Leaves in leaves: each is a body inside of the body of the one before, over which runs and readers recurse.
constexpr std::size_t kMaxBodies = 200;

/// A function as a module, so that it can be traced; its constants land there.
class FunctionModule final : public Module {
  public:
    FunctionModule(std::function<Var(std::span<const Var>)> function, std::vector<ForwardParameter> parameters)
        : m_function(std::move(function)), m_parameters(std::move(parameters)) {}
    std::string className() const override { return "Function"; }
    std::vector<ForwardParameter> signature() const override { return m_parameters; }
    Var forward(std::span<const Var> in) override { return m_function(in); }

  private:
    std::function<Var(std::span<const Var>)> m_function;
    std::vector<ForwardParameter> m_parameters;
};

template <typename T>
class Restore {
  public:
    explicit Restore(T& place) : m_place(place), m_before(place) {}
    ~Restore() { m_place = std::move(m_before); }
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;

  private:
    T& m_place;
    T m_before;
};

}  // namespace

Tracer::Tracer() : m_memory(std::make_unique<Memory>(*this)) {}
Tracer::~Tracer() = default;

void Tracer::begin(std::shared_ptr<Module> root) {
    m_root = std::move(root);
    m_graph = std::make_shared<graph::InternalGraph>();
    m_graph->name = m_root->className();
    m_graph->mutableScope(m_graph->rootScope()).moduleClass = m_root->className();
    m_frames.clear();
    m_frames.push_back({m_graph->mainId(), m_graph->rootScope(), {}, {}, {}, false});
    m_currentModule.clear();
    m_currentClass = m_root->className();
    m_callDepth = 0;
    m_paths.clear();
    m_slotPaths.clear();
    m_calls.clear();
    m_visited.clear();
    m_failures.clear();
    m_flatResult = false;
    m_isTensor.clear();
    m_memory->clear();
    m_constants.clear();
    m_leftBodies.clear();
    m_site = nullptr;
    for (const auto& [path, module] : namedModules(*m_root)) m_paths.emplace(module, path);
    for (const NamedTensor& named : namedTensors(*m_root)) m_slotPaths.emplace(named.slot.get(), named.path);
    if (m_follower) m_follower->began(*this, *m_graph);
}

base::Result<Tracer::GraphPtr> Tracer::trace(std::function<Var(std::span<const Var>)> function,
                                             std::vector<ForwardParameter> parameters) {
    return trace(std::make_shared<FunctionModule>(std::move(function), std::move(parameters)));
}

base::Result<Tracer::GraphPtr> Tracer::trace(std::shared_ptr<Module> root, const ConcreteArguments& concrete) {
    return recordedBy(std::move(root), [&] { finish(m_root->forward(placeholders(concrete))); });
}

base::Result<Tracer::GraphPtr> Tracer::traceOpaque(std::shared_ptr<Module> root, const ConcreteArguments& concrete) {
    return recordedBy(std::move(root), [&] {
        const CallArguments given = spread(m_root->signature(), placeholders(concrete));
        const Var result =
            record(ExprKind::CallModule, {}, {}, {}, given.positional, given.keywords, m_root->makesTensor());
        recordInside(*m_root, {}, m_graph->node(result.node()).producer, given.positional, given.keywords);
        finish(result);
    });
}

/// Everything that a root does while it is traced happens in here: what it throws, of whatever type, is the error.
base::Result<Tracer::GraphPtr> Tracer::recordedBy(std::shared_ptr<Module> root,
                                                  const std::function<void()>& recordAll) {
    m_failure.reset();
    m_raised.reset();
    try {
        if (!root) throw TraceError(TraceErrorKind::Value, "there is no module to trace");
        SONDE_TRY(checkHierarchy(*root));
        begin(std::move(root));
        const ActiveTracer active(*this);
        callModel({}, m_currentClass, [&] {
            recordAll();
            throwIfCaught();
        });
        SONDE_TRY(checkHierarchy(*m_root));  // a forward may have added children
    } catch (...) {
        m_failure = TraceError::ofCurrentException();
        return m_failure->toError({});
    }
    return m_graph;
}

std::vector<Var> Tracer::placeholders(const ConcreteArguments& concrete) {
    std::vector<Var> result;
    for (const ForwardParameter& parameter : m_root->signature()) {
        const auto given = concrete.find(parameter.name);
        // With an example, what has a plain default is settled here, and the graph checks it: models ask whether it is
        // None, compare its text, and the like.
        const bool isSettled =
            m_follower && given == concrete.end() && parameter.fallback && !parameter.fallback->isTensor();
        if (isSettled) {
            result.push_back(specialised(parameter, *parameter.fallback));
        } else if (given == concrete.end() || given->second.isTensor()) {
            result.push_back(placeholder(parameter, parameter.name));
        } else {
            result.push_back(specialised(parameter, given->second));
        }
    }
    return result;
}

Var Tracer::placeholder(const ForwardParameter& parameter, const std::string& candidate) {
    Argument fallback;
    if (parameter.fallback) fallback = toArgument(Var(*parameter.fallback));
    const std::string name = m_frames.back().names.unique(nameCandidate(candidate));
    const NodeId node = m_graph->addInput(m_graph->mainId(), name, {}, candidate, m_graph->main().order.size());
    const ExprId expr = m_graph->node(node).producer;
    m_graph->mutableExpr(expr).moduleClass = m_currentClass;
    if (parameter.fallback) m_graph->setArguments(expr, {std::move(fallback)});
    m_isTensor.resize(m_graph->nodeCount(), false);
    m_isTensor[node.index()] = parameter.isTensor;
    m_memory->markPacked(node);  // what a model is run on is in memory as it is read from files
    if (m_follower) m_follower->inputMade(node);
    return Var::proxy(*this, node);
}

Var Tracer::specialised(const ForwardParameter& parameter, const Value& value) {
    if (value.isListLike() || value.kind() == tensor::ValueKind::Dict) {
        m_flatResult = true;
        std::size_t count = 0;
        const std::function<Var(const Value&)> leaves = [&](const Value& item) -> Var {
            std::vector<Var> items;
            if (item.kind() == tensor::ValueKind::Dict) {
                std::vector<std::pair<Value, Var>> entries;
                for (const auto& [key, entry] : item.dictItems()) entries.emplace_back(key, leaves(entry));
                return Var::dict(std::move(entries));
            }
            if (!item.isListLike()) {
                return placeholder({parameter.name, std::nullopt, false},
                                   parameter.name + '_' + std::to_string(++count));
            }
            for (const Value& entry : item.items()) items.push_back(leaves(entry));
            return item.kind() == tensor::ValueKind::Tuple ? Var::tuple(std::move(items)) : Var::list(std::move(items));
        };
        return leaves(value);
    }
    const Var given = placeholder(parameter, parameter.name + "_1");
    std::string text = value.isNone() ? "None" : value.text();
    if (value.kind() == tensor::ValueKind::Float && text.find_first_not_of("-0123456789") == std::string::npos)
        text += ".0";
    const std::string message =
        parameter.name + " has been specialized to have value " + text + " but got another value";
    if (value.isNone()) {
        callFunction(Function{"_assert_is_none", "_assert_is_none", "_assert_is_none", false, "prim"},
                     {given, message});
    } else {
        const Var equal = given == Var(value);
        callFunction(Function{"_assert", "_assert", "torch._assert", false, "prim"}, {equal, message});
    }
    return Var(value);
}

namespace {

void collectLeaves(Argument argument, std::vector<Argument>& into) {
    using Kind = Argument::Kind;
    if (argument.kind != Kind::List && argument.kind != Kind::Tuple && argument.kind != Kind::Dict) {
        into.push_back(std::move(argument));
        return;
    }
    for (Argument& item : argument.items) collectLeaves(std::move(item), into);
}

}  // namespace

void Tracer::finish(const Var& result) {
    Argument structure = toArgument(result);
    if (m_flatResult) {
        std::vector<Argument> leaves;
        collectLeaves(std::move(structure), leaves);
        structure = Argument::container(Argument::Kind::List, std::move(leaves));
    }
    m_graph->setResult(m_graph->mainId(), structure);
    Expr output;
    output.kind = ExprKind::Output;
    output.target = "output";
    output.arguments = {std::move(structure)};
    output.body = m_graph->mainId();
    output.scope = m_graph->rootScope();
    const std::string name = m_frames.back().names.unique("output");
    m_graph->addExpr(std::move(output), std::span(&name, 1));
}

Var Tracer::moduleCalled(Module& module, std::vector<Var> arguments, Keywords keywords) {
    const std::string* path = pathOf(module);
    if (!path) throw refusal(TraceErrorKind::Name, "module is not installed as a submodule");
    if (m_callDepth >= kMaxModuleDepth) {
        throw refusal(TraceErrorKind::Depth,
                      "modules call each other more than " + std::to_string(kMaxModuleDepth) + " deep");
    }
    if (m_frames.size() > kMaxBodies)
        throw refusal(TraceErrorKind::Depth,
                      "leaves are inside of each other more than " + std::to_string(kMaxBodies) + " deep");
    const Restore restoreDepth(m_callDepth);
    ++m_callDepth;
    const bool insideOfLeaf = m_frames.size() > 1;
    m_visited.insert(*path);
    if (!insideOfLeaf) moduleSeen(module);
    const Restore restoreModule(m_currentModule);
    const Restore restoreClass(m_currentClass);
    m_currentModule = *path;
    m_currentClass = module.className();
    if (isLeafModule(module, *path)) return callLeaf(module, *path, std::move(arguments), std::move(keywords));
    const std::size_t mark = m_graph->exprCount();
    const std::optional<TraceError> raisedBefore = m_raised;
    try {
        return callThrough(module, *path, arguments, keywords);
    } catch (...) {
        const TraceError error = TraceError::ofCurrentException();
        if (insideOfLeaf || !absorbs(module, error)) throw;
        m_raised = raisedBefore;
        m_failures.emplace(*path, error.message());
    }
    abandon(mark);
    return callLeaf(module, *path, std::move(arguments), std::move(keywords));
}

Var Tracer::callThrough(Module& module, const std::string& path, std::vector<Var> arguments, Keywords keywords) {
    const std::size_t depth = m_frames.size();
    const graph::ScopeId caller = m_frames.back().scope;
    m_frames.back().scope = m_graph->addScope(caller, path, m_currentClass, m_calls[path]++);
    struct Leave {
        std::vector<Frame>& frames;
        std::size_t depth;
        graph::ScopeId scope;
        ~Leave() {
            frames.resize(depth);
            frames.back().scope = scope;
        }
    } leave{m_frames, depth, caller};
    return callModel(path, m_currentClass, [&] {
        const Var result = module.forward(module.bound(std::move(arguments), keywords));
        throwIfCaught();
        return result;
    });
}

TraceError Tracer::refusal(TraceErrorKind kind, const std::string& text) {
    TraceError error(kind, text);
    if (!m_raised) m_raised = error;
    return error;
}

void Tracer::noteRaised() {
    if (!m_raised) m_raised = TraceError::ofCurrentException();
}

void Tracer::throwIfCaught() {
    if (!m_raised) return;
    const TraceError raised = *std::exchange(m_raised, std::nullopt);
    const bool isForeign = raised.isOwnException();
    throw TraceError(isForeign ? TraceErrorKind::Runtime : raised.kind(),
                     (isForeign ? raised.message() : raised.what()) +
                         (raised.module().empty() ? std::string() : ", thrown in " + raised.module()) +
                         ": the model's own code caught this and went on, which a trace cannot follow");
}

Var Tracer::callLeaf(Module& module, const std::string& path, std::vector<Var> arguments, Keywords keywords) {
    const Var result = record(ExprKind::CallModule, {}, path, path, arguments, keywords, module.makesTensor());
    recordInside(module, path, m_graph->node(result.node()).producer, arguments, keywords);
    return result;
}

Var Tracer::insideOf(const Var& outer, BodyId body, const std::string& name,
                     std::vector<std::pair<NodeId, Var>>& inputs) {
    if (outer.isProxy()) {
        Frame& frame = m_frames.back();
        const std::string unique = frame.prefix + frame.names.unique(nameCandidate(name));
        const NodeId input = m_graph->addInput(body, unique, m_graph->node(current(outer.node())).type, name);
        Expr& expr = m_graph->mutableExpr(m_graph->node(input).producer);
        expr.scope = frame.scope;
        expr.moduleClass = m_currentClass;
        m_isTensor.resize(m_graph->nodeCount(), false);
        m_isTensor[input.index()] = isTensor(outer.node());
        if (m_memory->isPacked(current(outer.node()))) m_memory->markPacked(input);
        inputs.emplace_back(input, outer);
        if (m_follower) m_follower->inputBound(input, current(outer.node()));
        return Var::proxy(*this, input);
    }
    if (outer.kind() == Var::Kind::Value || !outer.hasProxy()) return outer;
    std::vector<Var> items;
    std::vector<std::pair<Value, Var>> entries;
    for (std::size_t i = 0; i < outer.items().size(); ++i) {
        Var item = insideOf(outer.items()[i], body, name, inputs);
        if (outer.kind() == Var::Kind::Dict) {
            entries.emplace_back(outer.keys()[i], std::move(item));
        } else {
            items.push_back(std::move(item));
        }
    }
    switch (outer.kind()) {
        case Var::Kind::Dict: return Var::dict(std::move(entries));
        case Var::Kind::Slice: return Var::slice(items[0], items[1], items[2]);
        case Var::Kind::Tuple: return Var::tuple(std::move(items));
        default: return Var::list(std::move(items));
    }
}

void Tracer::abandon(std::size_t firstExpr) {
    for (std::size_t i = m_graph->exprCount(); i-- > firstExpr;) {
        const ExprId id(i);
        if (m_graph->isErased(id)) continue;
        for (BodyId inner : m_graph->expr(id).bodies) m_graph->setResult(inner, Argument::omitted());
        m_graph->mutableExpr(id).bodies.clear();
        m_graph->erase(id);
    }
    // Cached reads among the erased exprs are gone, too.
    for (Frame& frame : m_frames) {
        std::erase_if(frame.parameters,
                      [&](const auto& entry) { return m_graph->isErased(m_graph->node(entry.second).producer); });
    }
    m_memory->takeBack(firstExpr);
}

ExprId Tracer::addExpr(Expr expr, std::string_view candidate, std::size_t outputs) {
    Frame& frame = m_frames.back();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < outputs; ++i) {
        names.push_back(inMainBody() ? makeName(frame.names, candidate)
                                     : frame.prefix + frame.names.unique(nameCandidate(candidate)));
    }
    expr.body = frame.body;
    expr.scope = frame.scope;
    if (m_site) expr.source = m_site->source();
    const ExprId id = m_graph->addExpr(std::move(expr), names);
    m_isTensor.resize(m_graph->nodeCount(), false);
    return id;
}

Var Tracer::record(ExprKind kind, graph::OpKey op, std::string target, std::string_view candidate,
                   std::vector<Var> arguments, Keywords keywords, bool makesTensor, std::size_t outputs) {
    Expr expr;
    expr.kind = kind;
    expr.op = std::move(op);
    expr.target = std::move(target);
    expr.arguments.reserve(arguments.size());
    for (const Var& argument : arguments) expr.arguments.push_back(toArgument(argument));
    for (const auto& [name, argument] : keywords) expr.keywords.emplace_back(name, toArgument(argument));
    expr.qualname = m_currentModule;
    expr.moduleClass = m_currentClass;
    const ExprId id = addExpr(std::move(expr), candidate, outputs);
    std::vector<Var> results;
    for (NodeId node : m_graph->expr(id).outputs) {
        m_isTensor[node.index()] = makesTensor;
        results.push_back(Var::proxy(*this, node));
    }
    if (m_follower && kind != ExprKind::CallModule) m_follower->recorded(id);
    return outputs == 1 ? results.front() : Var::tuple(std::move(results));
}

Argument Tracer::toArgument(const Var& var) {
    switch (var.kind()) {
        case Var::Kind::Proxy:
            if (&var.tracer() != this) throw TraceError(TraceErrorKind::Runtime, "a proxy of another trace is used");
            return Argument::of(current(var.node()));
        case Var::Kind::Value:
            if (const Var now = m_memory->current(var); now.kind() != Var::Kind::Value) return toArgument(now);
            break;
        default: {
            std::vector<Argument> items;
            items.reserve(var.items().size());
            for (const Var& item : var.items()) items.push_back(toArgument(item));
            if (var.kind() == Var::Kind::Dict)
                return Argument::container(Argument::Kind::Dict, std::move(items), var.keys());
            const auto kind = var.kind() == Var::Kind::List    ? Argument::Kind::List
                              : var.kind() == Var::Kind::Tuple ? Argument::Kind::Tuple
                                                               : Argument::Kind::Slice;
            return Argument::container(kind, std::move(items));
        }
    }
    const Value& value = var.value();
    if (value.kind() == tensor::ValueKind::Object && dynamic_cast<const LiveObject*>(value.object().get())) {
        throw TraceError(TraceErrorKind::Type,
                         "an object of class " + value.object()->typeName() + " cannot be part of a graph");
    }
    if (!value.isTensor()) return Argument::of(value);
    if (var.slot()) {
        if (const auto known = m_slotPaths.find(var.slot().get()); known != m_slotPaths.end()) {
            return Argument::of(attributeNode(var.slot(), known->second, false));
        }
        if (var.slot()->kind == Slot::Kind::Parameter) {
            throw TraceError(TraceErrorKind::Name, "parameter is not a member of the traced module");
        }
    }
    auto constant = std::make_shared<Slot>(Slot{Slot::Kind::Plain, value.tensor()});
    return Argument::of(attributeNode(constant, constantPath(value.tensor()), false));
}

std::string Tracer::constantPath(const tensor::Tensor& tensor) {
    for (const Constant& known : m_constants) {
        if (known.tensor.storage() == tensor.storage() && known.tensor.offsetElements() == tensor.offsetElements() &&
            known.tensor.shape() == tensor.shape() && known.tensor.strides() == tensor.strides()) {
            return known.path;
        }
    }
    std::string path = "_tensor_constant" + std::to_string(m_constants.size());
    m_constants.push_back({tensor, path});
    return path;
}

NodeId Tracer::attributeNode(const std::shared_ptr<const Slot>& slot, const std::string& path, bool withOrigin) {
    Expr expr;
    expr.kind = ExprKind::GetAttr;
    expr.target = path;
    expr.isParameter = slot->kind != Slot::Kind::Plain;
    if (withOrigin) {
        expr.qualname = m_currentModule;
        expr.moduleClass = m_currentClass;
    }
    // Inside a leaf the attribute's own name says enough: "conv1/weight".
    std::string_view candidate = path;
    if (m_frames.back().insideLeaf && !m_currentModule.empty() && path.starts_with(m_currentModule + '.')) {
        candidate.remove_prefix(m_currentModule.size() + 1);
    }
    const NodeId node = m_graph->expr(addExpr(std::move(expr), candidate)).outputs.front();
    m_graph->setConstant(node, Value(slot->value));
    m_graph->setType(node, tensor::TypeInfo::tensor(slot->value.dtype(), slot->value.shape()));
    m_isTensor[node.index()] = true;
    if (slot->value.isContiguous()) m_memory->markPacked(node);
    if (m_slotPaths.contains(slot.get())) m_memory->nameSlot(node, slot);
    if (m_follower) m_follower->recorded(m_graph->node(node).producer);
    return node;
}

Var Tracer::parameterRead(const std::shared_ptr<const Slot>& slot) {
    const auto known = m_slotPaths.find(slot.get());
    if (known == m_slotPaths.end() || m_frames.empty()) return Var::ofSlot(slot);
    // One read per parameter in a body: what the main body has read is not read again by the modules it goes through.
    Frame& frame = m_frames.back();
    if (const auto read = frame.parameters.find(slot.get()); read != frame.parameters.end()) {
        return Var::proxy(*this, read->second);
    }
    const NodeId node = attributeNode(slot, known->second, true);
    m_frames.back().parameters.emplace(slot.get(), node);
    return Var::proxy(*this, node);
}

}  // namespace sonde::trace
