#include "core/trace/traced_module/traced_module_tracer.h"

#include <algorithm>

#include "core/trace/at_once.h"
#include "core/trace/memory.h"
#include "core/trace/pending_error.h"
#include "core/trace/traced_module/ordered_dict.h"
#include "core/trace/traced_module/quantizer.h"

namespace sonde::trace {

using graph::NodeId;
using tensor::Value;
using tensor::ValueKind;
using Kind = TracedExpr::Kind;

namespace {

std::string joined(const std::string& prefix, std::string_view name) {
    return prefix.empty() ? std::string(name) : name.empty() ? prefix : prefix + '.' + std::string(name);
}

/// Lists and dicts of modules have no forward; they only hold what their owner calls.
bool isContainer(const Module& module) {
    const std::string name = module.className();
    return name == "ModuleList" || name == "ModuleDict";
}

}  // namespace

TracedModuleTracer::TracedModuleTracer(const TraceModuleOptions& options)
    : Tracer(static_cast<Recording&>(*this)), m_options(options) {
    memory().setSizes({[this](NodeId node) { return dimsOf(node); },
                       [this](NodeId node, std::size_t axis) { keepSize(node, axis); }});
}

// --- frames ---------------------------------------------------------------------------------------------------------

std::optional<std::string> TracedModuleTracer::Frame::pathOf(const Module& module) {
    if (const auto read = lastRead.find(&module); read != lastRead.end()) return read->second;
    return paths.of(&module);
}

std::string TracedModuleTracer::pathInModel(const std::string& qualname) const {
    const std::string& top = m_modules.front().graph->root().qualname();
    return qualname.size() > top.size() && qualname.starts_with(top) ? qualname.substr(top.size() + 1) : std::string();
}

void TracedModuleTracer::enter(std::shared_ptr<Module> source, std::shared_ptr<TracedModule> target,
                               ModuleGraph& graph) {
    if (m_modules.size() > kMaxModuleDepth) {
        throw TraceError(TraceErrorKind::Depth,
                         "modules call each other more than " + std::to_string(kMaxModuleDepth) + " deep");
    }
    m_modules.emplace_back(std::move(source), std::move(target), graph);
}

void TracedModuleTracer::beginEditing(ModuleGraph& graph) {
    const auto owner = graph.owner();
    enter(owner, owner, graph);
    frame().paths.complete();
}

std::shared_ptr<TracedModule> TracedModuleTracer::shellOf(Module& module, bool isTop) {
    const auto* traced = dynamic_cast<const TracedModule*>(&module);
    const bool isQat = traced ? traced->isQat() : isRegisteredQat(module.className());
    auto shell = std::make_shared<TracedModule>(module.className(), module.signature(), isTop, isQat);
    const PausedTracing paused;
    for (const Module::NamedSlot& named : module.ownTensors()) shell->addSlot(named.name, named.slot);
    for (const Module::Child& child : module.children()) {
        shell->addChild(child.name,
                        isContainer(*child.module) ? shellOf(*child.module, false) : settledQuantizer(child.module));
    }
    m_shells.insert(shell.get());
    return shell;
}

std::shared_ptr<TracedModule> TracedModuleTracer::tracedChild(const std::string& path, Module& module) {
    std::shared_ptr<TracedModule>& child = m_children[{frame().target.get(), path}];
    if (child) return child;
    child = shellOf(module, false);
    // Modules on the way that are not called themselves become shells, so that the original stays as it is.
    const PausedTracing paused;
    Module* parent = frame().target.get();
    std::size_t begin = 0;
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
        const std::string name = path.substr(begin, dot - begin);
        Module* next = parent->child(name);
        const bool isEdited = frame().source == frame().target && dynamic_cast<const TracedModule*>(next);
        if (!m_shells.contains(next) && !isEdited) {
            auto made = shellOf(*next, false);
            parent->addChild(name, made);
            next = made.get();
        }
        parent = next;
        begin = dot + 1;
    }
    parent->addChild(path.substr(begin), child);
    return child;
}

// --- the top --------------------------------------------------------------------------------------------------------

Var TracedModuleTracer::traceTop(const std::shared_ptr<Module>& module, std::vector<Var> args,
                                 const Keywords& keywords) {
    Value result;
    const CallArguments arguments = settled(*module, std::move(args), keywords);
    CallStructure structure;
    structure.positional.emplace_back().kind = Structure::Kind::Module;
    for (const Var& var : arguments.positional) structure.positional.push_back(Structure::of(var));
    for (const auto& [name, var] : arguments.keywords) structure.keywords.emplace_back(name, Structure::of(var));
    auto top = shellOf(*module, true);
    const std::string name = module->installedAs().empty() ? module->className() : module->installedAs();
    recordGraph(module, top, identifierOf(name), name, nullptr, arguments, structure, result);
    callModel({}, module->className(), [&] { pendingError().throwIfCaught(); });
    GraphBuilder(*top->entries().front().graph).renumber();
    m_top = std::move(top);
    return Var(std::move(result));
}

CallArguments TracedModuleTracer::settled(Module& module, std::vector<Var> arguments, const Keywords& keywords) const {
    return spread(module.signature(), module.bound(std::move(arguments), keywords));
}

const TracedModule::Entry& TracedModuleTracer::recordGraph(const std::shared_ptr<Module>& source,
                                                           const std::shared_ptr<TracedModule>& target,
                                                           std::string name, std::string qualname, ModuleGraph* parent,
                                                           const CallArguments& arguments,
                                                           const CallStructure& structure, Value& result) {
    auto graph = std::make_shared<ModuleGraph>();
    GraphBuilder builder(*graph);
    builder.place(std::move(name), qualname, parent, target);
    // While the arguments are still those of the caller their values are taken from its frame.
    const std::string forwardName = source->forwardName();
    enter(source, target, *graph);
    struct Leave {
        std::vector<Frame>& frames;
        std::size_t depth;
        ~Leave() { frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(depth), frames.end()); }
    } leave{m_modules, m_modules.size() - 1};
    frame().reads[""] = builder.addInput("self", qualname, "self", true, "Module");

    const std::vector<ForwardParameter> parameters = source->signature();
    std::vector<Var> in = gathered(parameters, arguments);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        std::size_t leaf = 0;
        in[i] = inputsOf(in[i], parameters[i].name, false, leaf);
    }
    const MemoryMark mark = memory().mark();
    const Progress before = progress();
    Var returned;
    try {
        returned = callModel(pathInModel(frame().graph->qualname()), source->className(),
                             [&] { return source->forwardFunction()(in); });
    } catch (...) {
        // The graph has no end. Where something was written or decided in it, a caller that catches this would go on
        // without that.
        if (progress() != before) pendingError().note();
        throw;
    }
    // Nothing uses what the whole program was given after its end.
    if (parent) m_effects[graph.get()] = takeEffects(mark, returned);
    result = valueIn(returned);
    return finishGraph(source->className(), forwardName, target, graph, structure, returned);
}

const TracedModule::Entry& TracedModuleTracer::finishGraph(const std::string& className, const std::string& forwardName,
                                                           const std::shared_ptr<TracedModule>& target,
                                                           const std::shared_ptr<ModuleGraph>& graph,
                                                           const CallStructure& structure, const Var& returned) {
    const Operand operand = operandOf(returned);
    std::vector<TracedNode*> outputs;
    // What a model returns is tensors; a caller inside of it takes a constant for what it is.
    const bool mayBeConstant = m_options.isPart || graph->parent();
    const std::function<void(const Operand&)> check = [&](const Operand& item) {
        const bool isNumber = item.kind == Operand::Kind::Node && item.node->isNumber();
        if ((item.kind == Operand::Kind::Constant && !mayBeConstant) || isNumber) {
            throw refusal(TraceErrorKind::Assertion,
                          className + " doesn't support " + (isNumber ? item.node->name() : pythonText(item.constant)) +
                              " in return values: only tensors can be results of a traced module");
        }
        if (item.kind == Operand::Kind::Node) outputs.push_back(item.node);
        std::ranges::for_each(item.items, check);
    };
    check(operand);
    GraphBuilder(*graph).setOutputs(std::move(outputs));
    graph->compile();
    target->addEntry({forwardName, structure, graph, Structure::of(operand)});
    return target->entries().back();
}

Var TracedModuleTracer::inputsOf(const Var& argument, const std::string& name, bool isContainer, std::size_t& leaf) {
    const bool isTensor = argument.isProxy() || (argument.kind() == Var::Kind::Value && argument.value().isTensor());
    if (isTensor) {
        const std::string own = isContainer ? name + '_' + std::to_string(leaf++) : name;
        Frame& here = frame();
        TracedNode* node =
            GraphBuilder(*here.graph).addInput(own, here.graph->qualname() + ".[" + own + ']', name, false);
        std::optional<Value> value;
        if (!argument.isProxy()) {
            value = argument.value();
        } else {
            value = m_known[argument.node().index()].value;
        }
        if (value) GraphBuilder::setType(*node, tensor::TypeInfo::of(*value));
        const bool isPacked = !argument.isProxy() || memory().isPacked(argument.node());
        const Var input = varOf(node, std::move(value));
        if (isPacked) memory().markPacked(input.node());
        here.inputs.emplace_back(input.node(), argument);
        return input;
    }
    // The same leaves in the same order as in the structure of the arguments.
    const Structure structure = Structure::of(argument);
    if (structure.leafCount() == 0) {
        ++leaf;
        return argument;
    }
    std::vector<Var> leaves;
    if (!takeApart(structure, argument, leaves))
        throw TraceError(TraceErrorKind::Assertion, "argument '" + name + "' changed");
    std::size_t next = 0;
    const std::function<void(const Structure&)> visit = [&](const Structure& part) {
        if (part.kind == Structure::Kind::Tensor) {
            leaves[next] = inputsOf(leaves[next], name, true, leaf);
            ++next;
        } else if (part.kind == Structure::Kind::Constant) {
            ++leaf;
        }
        // Keys of ordered dicts stand among the items, and are no leaves.
        const bool hasKeys = part.kind == Structure::Kind::Custom && part.typeName == OrderedDict::kTypeName;
        for (std::size_t i = hasKeys ? 1 : 0; i < part.items.size(); i += hasKeys ? 2 : 1) visit(part.items[i]);
    };
    visit(structure);
    next = 0;
    return structure.rebuilt(leaves, next);
}

// --- calls of modules -----------------------------------------------------------------------------------------------

bool TracedModuleTracer::isOpaque(const Module& module) const {
    const std::string name = module.className();
    if (m_options.builtins.contains(name) || isRegisteredBuiltin(name)) return true;
    if (dynamic_cast<const Quantizer*>(&module)) return true;
    if (const auto* traced = dynamic_cast<const TracedModule*>(&module)) return traced->isLibrary();
    return !m_options.traceAll && module.isLibrary();
}

void TracedModuleTracer::moduleRead(Module& parent, std::string_view path) {
    if (m_modules.empty()) return;
    const auto base = frame().pathOf(parent);
    if (!base) return;
    const std::string whole = joined(*base, path);
    Module* module = parent.find(path);
    frame().lastRead[module] = whole;
    frame().pendingReads[module].push_back(whole);
    if (!isContainer(*module)) moduleNode(whole);
}

Var TracedModuleTracer::moduleCalled(Module& module, std::vector<Var> arguments, Keywords keywords) {
    if (m_modules.empty()) return traceTop(module.shared_from_this(), std::move(arguments), keywords);
    const auto known = frame().pathOf(module);
    if (!known) return external(module, std::move(arguments), keywords);
    // A module that is replaced by what it is traced into would go before its forward has ended.
    const auto alive = module.shared_from_this();
    std::string path = *known;
    if (std::vector<std::string>& reads = frame().pendingReads[&module]; !reads.empty()) {
        path = std::move(reads.back());
        reads.pop_back();
    }
    if (path.empty())
        throw refusal(TraceErrorKind::NotImplemented,
                      "a module that calls itself cannot be recorded as a traced module");
    CallArguments settledArguments = settled(module, std::move(arguments), keywords);
    // What they are now is known here, and not in the graph of the module.
    for (Var& argument : settledArguments.positional) argument = memory().current(argument);
    for (auto& [name, argument] : settledArguments.keywords) argument = memory().current(argument);
    checkTensors(module);
    if (isOpaque(module)) return callModule(module, moduleNode(path), settledArguments, nullptr, nullptr, std::nullopt);

    TracedNode* callee = moduleNode(path);
    CallStructure structure;
    structure.positional.emplace_back().kind = Structure::Kind::Module;
    for (const Var& var : settledArguments.positional) structure.positional.push_back(Structure::of(operandOf(var)));
    for (const auto& [name, var] : settledArguments.keywords)
        structure.keywords.emplace_back(name, Structure::of(operandOf(var)));

    // While a graph is edited the modules that were traced before keep their graphs.
    auto existing = std::dynamic_pointer_cast<TracedModule>(module.shared_from_this());
    const bool keeps = existing && frame().source == frame().target;
    const std::shared_ptr<TracedModule> child = keeps ? existing : tracedChild(path, module);
    const TracedModule::Entry* entry = child->findEntry(module.forwardName(), structure);
    if (entry) {
        const Structure outDef = entry->outDef;
        const GraphEffects effects = m_effects[entry->graph.get()];
        // What the graph gives beside its result only the graph knows.
        Module& called = effects.anyWrite() ? static_cast<Module&>(*child) : module;
        const Var made = callModule(called, callee, settledArguments, entry->graph.get(), &outDef, std::nullopt);
        if (effects.anyWrite()) checkSameWrites(module, effects, settledArguments, made);
        return applied(effects, settledArguments, made);
    }
    Value result;
    const std::string qualname = callee->qualname();
    GraphBuilder builder(*frame().graph);
    const std::string name = builder.innerName(qualname);
    const TracedModule::Entry made = recordGraph(module.shared_from_this(), child, name, qualname, frame().graph,
                                                 settledArguments, structure, result);
    GraphBuilder::setModuleType(*callee, "Module");
    const GraphEffects effects = m_effects[made.graph.get()];
    return applied(effects, settledArguments,
                   callModule(module, callee, settledArguments, made.graph.get(), &made.outDef, std::move(result)));
}

TracedModuleTracer::Progress TracedModuleTracer::progress() const {
    const MemoryMark mark = memory().mark();
    return {mark.changes, mark.reforms, m_guarded.size() + m_guardedCaptures.size() + m_guardedSizes.size()};
}

/// A module that is no part of the one that is traced: a built-in one is kept as a constant, another one's forward is
/// recorded where it is called.
Var TracedModuleTracer::external(Module& module, std::vector<Var> arguments, const Keywords& keywords) {
    const CallArguments settledArguments = settled(module, std::move(arguments), keywords);
    if (!isOpaque(module)) {
        return callModel({}, module.className(),
                         [&] { return module.forwardFunction()(gathered(module.signature(), settledArguments)); });
    }
    TracedNode* node = GraphBuilder(*frame().graph)
                           .addModuleConstant(module.shared_from_this(), "const_module",
                                              frame().graph->qualname() + ".[const_module]");
    return callModule(module, node, settledArguments, nullptr, nullptr, std::nullopt);
}

Value TracedModuleTracer::runPaused(Module& module, const CallArguments& arguments) {
    std::vector<Var> in;
    std::vector<Value> values;
    for (const Var& argument : gathered(module.signature(), arguments)) values.push_back(valueIn(argument));
    for (const Value& value : values) in.emplace_back(value);
    const auto function = module.forwardFunction();
    const PausedTracing paused;
    const WritesAsValues changes(false);
    const WriteProtection protection(values);
    return function(in).toValue();
}

Var TracedModuleTracer::callModule(Module& module, TracedNode* callee, const CallArguments& arguments,
                                   ModuleGraph* inner, const Structure* outDef, std::optional<Value> result) {
    const auto unknown = [&](const Var& var) { return hasUnknown(var); };
    const bool isUnknown =
        std::ranges::any_of(arguments.positional, unknown) ||
        std::ranges::any_of(arguments.keywords, [&](const auto& entry) { return hasUnknown(entry.second); });
    if (!result && !isUnknown) {
        result = callModel(pathInModel(callee->qualname()), module.className(),
                           [&] { return runPaused(module, arguments); });
    }

    std::vector<Operand> args{Operand(callee)};
    for (const Var& var : arguments.positional) args.push_back(operandOf(var));
    std::vector<std::pair<std::string, Operand>> named;
    for (const auto& [name, var] : arguments.keywords) named.emplace_back(name, operandOf(var));
    GraphBuilder builder(*frame().graph);
    TracedExpr* call = builder.addCall(Kind::CallMethod, "__call__", std::move(args), std::move(named), {});
    GraphBuilder::setForwardName(*call, module.forwardName());
    if (inner) builder.setInner(*call, inner->shared_from_this());

    const std::string base = callee->name() + "_out";
    const std::string qualname = callee->qualname() + ".[out]";
    if (!result) {
        if (outDef && outDef->leafCount() != 1) {
            throw refusal(TraceErrorKind::Runtime, "the values of '" + module.className() + "' are not known");
        }
        return unknownOutput(*call, base, qualname);
    }
    Structure structure;
    const Var made = outputsOf(*call, *result, base, qualname, structure);
    GraphBuilder::setOutDef(*call, std::move(structure));
    if (!inner) shareWithArguments(made, arguments);
    if (const auto* quantizer = dynamic_cast<const Quantizer*>(&module)) {
        for (TracedNode* node : call->outputs()) GraphBuilder::setQuantParams(*node, quantizer->quantParams());
    }
    return made;
}

// --- nodes ----------------------------------------------------------------------------------------------------------

TracedNode* TracedModuleTracer::moduleNode(const std::string& path) {
    Frame& here = frame();
    if (const auto known = here.reads.find(path); known != here.reads.end()) return known->second;
    if (here.source == here.target && path.empty()) return here.graph->inputs().front();
    Module* module = here.source->find(path);
    if (!module)
        throw refusal(TraceErrorKind::Name,
                      "no path leads to the module '" + path + "': a name on the way has a dot in it");
    const bool wasTraced = dynamic_cast<const TracedModule*>(module) && !isOpaque(*module);
    TracedNode* self = here.graph->inputs().front();
    TracedNode* node = GraphBuilder(*here.graph)
                           .addGetAttr(self, path, here.graph->qualname() + '.' + path, path, true,
                                       wasTraced ? "Module" : module->className());
    here.reads[path] = node;
    if (onNode) onNode(*node);
    return node;
}

TracedNode* TracedModuleTracer::slotNode(const Slot& slot, const std::string& path) {
    Frame& here = frame();
    if (const auto known = here.reads.find(path); known != here.reads.end()) return known->second;
    TracedNode* self = here.graph->inputs().front();
    TracedNode* node =
        GraphBuilder(*here.graph).addGetAttr(self, path, here.graph->qualname() + '.' + path, path, false);
    GraphBuilder::setType(*node, tensor::TypeInfo::tensor(slot.value.dtype(), slot.value.shape()));
    here.reads[path] = node;
    if (onNode) onNode(*node);
    return node;
}

TracedNode* TracedModuleTracer::constantNode(const tensor::Tensor& tensor) {
    Frame& here = frame();
    for (const auto& [known, node] : here.constants) {
        if (known.storage() == tensor.storage() && known.offsetElements() == tensor.offsetElements() &&
            known.shape() == tensor.shape() && known.strides() == tensor.strides()) {
            return node;
        }
    }
    TracedNode* node = GraphBuilder(*here.graph)
                           .addConstant(Value(tensor), "const_tensor", here.graph->qualname() + ".[const_tensor]");
    here.constants.emplace_back(tensor, node);
    if (onNode) onNode(*node);
    return node;
}

Var TracedModuleTracer::varOf(TracedNode* node, std::optional<Value> value) {
    m_known.push_back({node, std::move(value)});
    if (onNode) onNode(*node);
    return Var::proxy(*this, NodeId(m_known.size() - 1));
}

TracedNode* TracedModuleTracer::nodeOf(const Var& var) const {
    if (!var.isProxy() || &var.tracer() != this) return nullptr;
    const NodeId node = current(var.node());
    return m_known[node.index()].node;
}

Operand TracedModuleTracer::operandOf(const Value& value) {
    if (value.isTensor()) return Operand(constantNode(value.tensor()));
    if (!containsTensor(value)) return Operand(value);
    std::vector<Operand> items;
    std::vector<Value> keys;
    if (value.kind() == ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) {
            keys.push_back(key);
            items.push_back(operandOf(item));
        }
        return Operand::container(Operand::Kind::Dict, std::move(items), std::move(keys));
    }
    for (const Value& item : value.items()) items.push_back(operandOf(item));
    return Operand::container(value.kind() == ValueKind::Tuple ? Operand::Kind::Tuple : Operand::Kind::List,
                              std::move(items));
}

Operand TracedModuleTracer::operandOf(const Var& var) {
    switch (var.kind()) {
        case Var::Kind::Proxy: {
            if (&var.tracer() != this) throw TraceError(TraceErrorKind::Runtime, "a proxy of another trace is used");
            const NodeId node = current(var.node());
            const Known known = m_known[node.index()];
            if (&known.node->graph() == frame().graph) return Operand(known.node);
            // Captured from a module further out: here it is a constant.
            if (!known.value)
                throw TraceError(TraceErrorKind::Runtime, "'" + known.node->name() + "' is a value of another graph");
            if (known.value->isTensor()) {
                if (m_options.guardsData) guardCaptured(*known.node, *known.value);
                return Operand(constantNode(known.value->tensor()));
            }
            if (!known.value->isNumber())
                throw TraceError(TraceErrorKind::Runtime, "'" + known.node->name() + "' is a value of another graph");
            addGuard(*known.node, plainUseOf(*known.value), *known.value);
            return Operand(*known.value);
        }
        case Var::Kind::Value: {
            if (const Var now = memory().current(var); now.kind() != Var::Kind::Value) return operandOf(now);
            if (!var.value().isTensor() || !var.slot()) {
                if (var.value().kind() == ValueKind::Object)
                    Structure::of(var);  // refuses types that are not registered
                return operandOf(var.value());
            }
            const auto path = frame().paths.of(var.slot().get());
            return Operand(path ? slotNode(*var.slot(), *path) : constantNode(var.value().tensor()));
        }
        default: break;
    }
    std::vector<Operand> items;
    for (const Var& item : var.items()) items.push_back(operandOf(item));
    const Operand::Kind kind = var.kind() == Var::Kind::List    ? Operand::Kind::List
                               : var.kind() == Var::Kind::Tuple ? Operand::Kind::Tuple
                               : var.kind() == Var::Kind::Dict  ? Operand::Kind::Dict
                                                                : Operand::Kind::Slice;
    return Operand::container(kind, std::move(items),
                              var.kind() == Var::Kind::Dict ? var.keys() : std::vector<Value>{});
}

bool TracedModuleTracer::hasUnknown(const Var& var) const {
    const Var now = memory().current(var);
    if (now.isProxy()) return !m_known[now.node().index()].value.has_value();
    if (now.kind() == Var::Kind::Value) return false;
    return std::ranges::any_of(now.items(), [&](const Var& item) { return hasUnknown(item); });
}

Value TracedModuleTracer::valueIn(const Var& given) const {
    const Var var = memory().current(given);
    if (var.kind() == Var::Kind::Value) return var.value();
    if (var.isProxy()) return m_known[var.node().index()].value.value_or(Value());
    std::vector<Var> items;
    for (const Var& item : var.items()) items.emplace_back(valueIn(item));
    switch (var.kind()) {
        case Var::Kind::List: return Var::list(std::move(items)).toValue();
        case Var::Kind::Tuple: return Var::tuple(std::move(items)).toValue();
        case Var::Kind::Slice: return Var::slice(items[0], items[1], items[2]).toValue();
        default: break;
    }
    std::vector<std::pair<Value, Var>> entries;
    for (std::size_t i = 0; i < items.size(); ++i) entries.emplace_back(var.keys()[i], std::move(items[i]));
    return Var::dict(std::move(entries)).toValue();
}

std::optional<Var> TracedModuleTracer::answer(std::string_view name, bool isCall, const std::vector<Var>& arguments) {
    // Who has an evaluator records the question.
    const NodeId node = current(arguments.front().node());
    const std::optional<Value>& value = m_known[node.index()].value;
    if (EvaluatorScope::current() || isCall || !value || !value->isTensor()) return std::nullopt;
    if (name == "ndim") return Var(value->tensor().rank());
    if (name == "shape") return Var(value->tensor().shape().dims());
    return std::nullopt;
}

Var TracedModuleTracer::parameterRead(const std::shared_ptr<const Slot>& slot) {
    if (m_modules.empty()) return Var::ofSlot(slot);
    const auto path = frame().paths.of(slot.get());
    if (!path) return Var::ofSlot(slot);
    const Var read = varOf(slotNode(*slot, *path), Value(slot->value));
    memory().nameSlot(read.node(), slot);
    if (slot->value.isContiguous()) memory().markPacked(read.node());
    return read;
}

void TracedModuleTracer::attributeAssigned(const Module* module, const Slot* slot) {
    if (m_modules.empty() || frame().source == frame().target) return;
    const bool isPart = std::ranges::any_of(
        m_modules, [&](Frame& frame) { return (module && frame.paths.of(module)) || (slot && frame.paths.of(slot)); });
    if (isPart)
        throw refusal(TraceErrorKind::Assertion,
                      "tracing: do not support modify: a forward assigns to an attribute of a module");
}

}  // namespace sonde::trace
