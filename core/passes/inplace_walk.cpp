#include "core/passes/inplace_walk.h"

#include <algorithm>

#include "core/operators/same_tensor.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

using graph::MemoryEffect;
using graph::Sharing;

bool isPlainCopy(const Expr& expr) {
    const OpClass opClass = opClassOf(expr);
    return (opClass == OpClass::Copy || opClass == OpClass::Fill) && traitsOf(expr).is(Trait::InPlace) &&
           expr.arguments.size() > 1 && expr.keywords.empty();
}

bool isProgramInput(const Expr& expr) {
    return expr.kind == ExprKind::Input || expr.kind == ExprKind::GetAttr || expr.kind == ExprKind::Constant;
}

NodeId firstNode(const Expr& expr) {
    return !expr.arguments.empty() && expr.arguments[0].kind == Argument::Kind::Node ? expr.arguments[0].node
                                                                                     : NodeId{};
}

bool isZeroOrNone(const InternalGraph& graph, const Argument* argument) {
    return !argument || intOf(graph, argument) == 0 ||
           (constantOf(graph, argument) && constantOf(graph, argument)->isNone());
}

}  // namespace

base::Result<void> InplaceWalk::run() {
    Frame frame;
    frame.body = m_graph.mainId();
    SONDE_TRY(walkBody(frame));
    overwriteCopies(frame);
    return {};
}

base::Result<void> InplaceWalk::walkBody(Frame& frame) {
    frame.result = m_graph.body(frame.body).result;
    const std::vector<ExprId> order = m_graph.body(frame.body).order;
    for (ExprId id : order) {
        if (!m_graph.isErased(id)) SONDE_TRY(walkExpr(frame, id));
    }
    const std::vector<ExprId>& last = m_graph.body(frame.body).order;
    if (last.empty() || frame.result.kind == Argument::Kind::Omitted) return {};
    Cursor cursor = Cursor::behind(m_rewrite, last.back());
    SONDE_ASSIGN(Argument now, resolved(frame, frame.result, cursor));
    m_graph.setResult(frame.body, std::move(now));
    return {};
}

base::Result<void> InplaceWalk::walkExpr(Frame& frame, ExprId id) {
    const std::vector<NodeId> inputs = m_graph.expr(id).inputs;
    SONDE_TRY(resolveReads(frame, id));
    if (!m_graph.expr(id).bodies.empty()) return walkBodies(frame, id, inputs);
    return takeResults(frame, id, inputs);
}

/// The expr reads what its arguments hold now.
base::Result<void> InplaceWalk::resolveReads(Frame& frame, ExprId id) {
    const Expr& expr = m_graph.expr(id);
    if (expr.inputs.empty()) return {};
    // An element of a list is what was put in: the list itself need not be known any more.
    const NodeId first = firstNode(expr);
    if (traitsOf(expr).form == ViewForm::Index && (frame.held.contains(first) || frame.elements.contains(first)))
        return {};
    Cursor cursor = Cursor::before(m_rewrite, id);
    std::vector<Argument> arguments = expr.arguments;
    auto keywords = expr.keywords;
    const std::vector<NodeId> before = expr.inputs;
    // What is overwritten as a whole need not be known.
    const OpClass opClass = opClassOf(expr);
    const bool overwrites = traitsOf(expr).is(Trait::InPlace) &&
                            (opClass == OpClass::Copy || opClass == OpClass::Fill || opClass == OpClass::Zero);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        auto now = resolved(frame, arguments[i], cursor);
        if (!now && i == 0 && overwrites && graph::writtenArgument(m_graph, m_graph.expr(id))) {
            // But its shape: unsqueeze_ and the like may have given it another one.
            const TensorMemory::Place& place = frame.memory.place(frame.memory.placeOf(frame.memory.objectOf(first)));
            if (place.reformedBy.valid()) arguments[i] = Argument::of(place.original);
            continue;
        }
        SONDE_TRY(now);
        arguments[i] = std::move(*now);
    }
    for (auto& [name, argument] : keywords) {
        SONDE_ASSIGN(argument, resolved(frame, std::move(argument), cursor));
    }
    m_graph.setArguments(id, std::move(arguments), std::move(keywords));
    return {};
}

base::Result<Argument> InplaceWalk::resolved(Frame& frame, Argument argument, Cursor& cursor) {
    std::optional<base::Error> failed;
    argument.forEachNode([&](NodeId& node) {
        if (failed) return;
        const auto now = read(frame, node, cursor);
        if (!now) failed = now.error();
        else node = *now;
    });
    if (failed) return *failed;
    return argument;
}

base::Result<InplaceWalk::Id> InplaceWalk::objectOf(Frame& frame, NodeId node) {
    const Id known = frame.memory.objectOf(node);
    if (known != kNone) return known;
    if (!frame.outer) return frame.memory.addFresh(node, m_graph.node(node).producer);
    return capture(frame, node);
}

/// The node that has what `node` means now.
base::Result<NodeId> InplaceWalk::read(Frame& frame, NodeId node, Cursor& cursor) {
    SONDE_ASSIGN(const Id object, objectOf(frame, node));
    const TensorMemory::Storage& storage = frame.memory.storageOfObject(object);
    const TensorMemory::Place& place = frame.memory.place(frame.memory.placeOf(object));
    if (storage.version == 0 && !place.reformedBy.valid()) return node;
    const ExprId last = storage.version == 0 ? place.reformedBy : storage.lastWrite;
    SONDE_ASSIGN(const NodeId now, contentOf(frame, object, cursor));
    if (now == node) return now;
    m_effective.insert(last);
    if (m_said.insert(now).second)
        m_rewrite.say(now, "later uses of " + m_graph.node(node).name + " read what was written to it");
    return now;
}

base::Result<NodeId> InplaceWalk::contentOf(Frame& frame, Id object, Cursor& cursor) {
    return readPlace(frame, frame.memory.placeOf(object), cursor);
}

base::Result<NodeId> InplaceWalk::readPlace(Frame& frame, Id id, Cursor& cursor) {
    // From the nearest place whose content is known outwards.
    std::vector<Id> stale;
    Id at = id;
    for (; !frame.memory.isCurrent(frame.memory.place(at)); at = frame.memory.place(at).parent) {
        stale.push_back(at);
        if (frame.memory.place(at).parent == kNone)
            return impossible(*frame.memory.storage(frame.memory.place(at).storage).trouble);
    }
    NodeId now = frame.memory.place(at).current;
    for (std::size_t i = stale.size(); i-- > 0;) {
        const std::size_t first = m_graph.exprCount();
        now = takenAgain(cursor, frame.memory.place(stale[i]).steps, now);
        for (std::size_t made = first; made < m_graph.exprCount(); ++made) m_inserted.emplace_back(made);
        frame.memory.setCurrent(stale[i], now);
    }
    return now;
}

/// What the expr makes: new memory, views, or what it wrote.
base::Result<void> InplaceWalk::takeResults(Frame& frame, ExprId id, const std::vector<NodeId>& inputs) {
    const Expr& expr = m_graph.expr(id);
    if (expr.outputs.empty()) return {};
    const bool isAttribute = expr.kind == ExprKind::GetAttr || expr.kind == ExprKind::Constant;
    if (isAttribute) return takeAttribute(frame, id);
    if (expr.kind == ExprKind::Input) {
        if (frame.memory.objectOf(expr.outputs.front()) != kNone) return {};  // bound by the caller
        const Id object = frame.memory.addFresh(expr.outputs.front(), id);
        frame.memory.place(frame.memory.placeOf(object)).isPacked = true;  // runs are given dense tensors
        return {};
    }
    const MemoryEffect effect = graph::memoryEffect(m_graph, expr);
    const bool isOpaque = expr.callable || (expr.op.name.empty() && expr.kind != ExprKind::Output);
    const NodeId first = inputs.empty() ? NodeId{} : inputs.front();
    if (const Argument* written = graph::writtenArgument(m_graph, expr);
        written && written->kind == Argument::Kind::Node) {
        // By the node that the program named, not by what is read in its place now.
        const bool isOut = written != &expr.arguments.front();
        if (!isOut || expr.keywords.size() == 1) {
            const NodeId target = isOut ? inputs.back() : first;
            SONDE_TRY(checkOverlap(frame, id, target, inputs));
            return write(frame, id, target);
        }
    }
    if (effect.reforms && first.valid()) return reform(frame, id, first);
    if (isOpaque || effect.sharing == Sharing::MaybeView || effect.sharing == Sharing::Holds ||
        expr.kind == ExprKind::Output) {
        return takeUncertain(frame, id, inputs);
    }
    if (effect.sharing == Sharing::View && first.valid() && expr.outputs.size() == 1)
        return takeView(frame, id, first, effect.isList);
    const bool isPacked = isPackedResult(frame, expr, inputs);
    for (NodeId output : m_graph.expr(id).outputs) {
        const Id object = frame.memory.addFresh(output, id);
        frame.memory.place(frame.memory.placeOf(object)).isPacked = isPacked;
    }
    return {};
}

/// unsqueeze_ and the like become the view that they take: `target` means that view from now on, and what was cut out
/// of the tensor before finds it as it was.
base::Result<void> InplaceWalk::reform(Frame& frame, ExprId id, NodeId target) {
    SONDE_ASSIGN(const Id object, objectOf(frame, target));
    const NodeId result = m_rewrite.output(id);
    const Trouble trouble{
        id, m_graph.node(target).name + " is reshaped in place, and may be an alias of a tensor that is used elsewhere",
        "take a view"};
    const Id storage = frame.memory.storageIdOfObject(object);
    if (mayBeSameObject(frame, frame.memory.placeOf(object))) frame.memory.lose(storage, trouble);
    frame.memory.loseOthers(storage, trouble);
    // as_strided_ depends on how the tensor is stored, and stays.
    const graph::OpKey op = m_graph.expr(id).op;
    if (operators::traitsOf(op.domain, op.name).form != operators::ViewForm::Window) {
        m_graph.mutableExpr(id).op.name = operators::outOfPlaceName(op.name);
        m_rewrite.say(result, "a view as a value: later uses of " + m_graph.node(target).name + " read it");
        m_reformed.insert(id);
    }
    frame.memory.reform(object, result, id);
    return {};
}

/// `contiguous` of what is contiguous gives the very tensor, and so do calls that give their argument.
bool InplaceWalk::mayBeSameObject(const Frame& frame, Id place) const {
    const auto isSame = [&](const TensorMemory::Place& each) {
        if (each.parent == kNone) return false;
        if (each.steps.empty()) return true;
        const graph::OpKey& op = m_graph.expr(each.steps.back()).op;
        return operators::mayReturnItsArgument(op.domain, op.name);
    };
    if (isSame(frame.memory.place(place))) return true;
    for (Id id = 0; id < frame.memory.placeCount(); ++id) {
        if (frame.memory.place(id).parent == place && isSame(frame.memory.place(id))) return true;
    }
    return false;
}

base::Result<void> InplaceWalk::takeView(Frame& frame, ExprId id, NodeId source, bool isList) {
    const Expr& expr = m_graph.expr(id);
    const NodeId output = expr.outputs.front();
    if (frame.held.contains(source) || frame.elements.contains(source)) return takeElement(frame, id, source);
    // An element of a list of views is cut out of what the list was cut out of.
    if (const auto list = frame.lists.find(source); list != frame.lists.end()) {
        const Id object = frame.memory.objectOf(source);
        const Id made =
            frame.memory.addView(output, object, {frame.memory.place(frame.memory.placeOf(object)).steps.front(), id});
        frame.memory.place(frame.memory.placeOf(made)).parent = list->second;
        return {};
    }
    SONDE_ASSIGN(const Id base, objectOf(frame, source));
    const bool wasPacked = frame.memory.place(frame.memory.placeOf(base)).isPacked;
    const Id made = frame.memory.addView(output, base, {id});
    const operators::Traits& traits = traitsOf(expr);
    const ViewForm form = traits.form;
    const bool sameOrder = form == ViewForm::Same || form == ViewForm::Contiguous || operators::keepsOrder(form);
    const bool alongFirst = operators::cutsPart(form) && isZeroOrNone(m_graph, argumentOf(expr, 1, "dim"));
    const bool hasStep =
        form == ViewForm::Slice && argumentOf(expr, 4, "step") && intOf(m_graph, argumentOf(expr, 4, "step")) != 1;
    frame.memory.place(frame.memory.placeOf(made)).isPacked =
        wasPacked && !isList && (sameOrder || (alongFirst && !hasStep));
    if (traits.is(Trait::Overlaps)) frame.memory.place(frame.memory.placeOf(made)).mayOverlap = true;
    if (isList) frame.lists[output] = frame.memory.placeOf(base);
    return {};
}

/// What may be a view, a list of other values, or what only a run can tell.
base::Result<void> InplaceWalk::takeUncertain(Frame& frame, ExprId id, const std::vector<NodeId>& inputs) {
    const Expr& expr = m_graph.expr(id);
    const operators::Traits& traits = traitsOf(expr);
    const bool isContiguous = traits.form == ViewForm::Contiguous;
    const MemoryEffect effect = graph::memoryEffect(m_graph, expr);
    if (effect.sharing == Sharing::MaybeView && expr.outputs.size() == 1 && !inputs.empty() && !expr.callable) {
        SONDE_ASSIGN(const Id base, objectOf(frame, inputs.front()));
        if ((isContiguous || operators::keepsOrder(traits.form)) &&
            frame.memory.place(frame.memory.placeOf(base)).isPacked)
            return takeView(frame, id, inputs.front(), false);
    }
    std::vector<NodeId> items;
    for (const Argument& argument : expr.arguments) {
        if (argument.kind == Argument::Kind::Node) items.push_back(argument.node);
    }
    std::vector<Id> storages;
    bool mayOverlap = traits.is(Trait::Overlaps);
    for (NodeId input : inputs) {
        SONDE_ASSIGN(const Id object, objectOf(frame, input));
        storages.push_back(frame.memory.storageIdOfObject(object));
        mayOverlap = mayOverlap || frame.memory.place(frame.memory.placeOf(object)).mayOverlap;
    }
    const bool isPacked = isContiguous || traits.form == ViewForm::Flatten;
    for (NodeId output : m_graph.expr(id).outputs) {
        const Id object = frame.memory.addFresh(output, id);
        frame.memory.place(frame.memory.placeOf(object)).isPacked = isPacked;
        frame.memory.place(frame.memory.placeOf(object)).mayOverlap = mayOverlap && !isContiguous;
        for (Id storage : storages) frame.memory.link(frame.memory.storageIdOfObject(object), storage);
        if (traits.opClass == OpClass::Construct || traits.opClass == OpClass::ConstructTuple)
            frame.held[output] = items;
    }
    return {};
}

/// An element of a list or tuple: what was put in, or one object for each position.
base::Result<void> InplaceWalk::takeElement(Frame& frame, ExprId id, NodeId holder) {
    const Expr& expr = m_graph.expr(id);
    const NodeId output = expr.outputs.front();
    const auto index = intOf(m_graph, argumentOf(expr, 1));
    const auto held = frame.held.find(holder);
    if (held != frame.held.end() && index && *index >= 0 && static_cast<std::size_t>(*index) < held->second.size()) {
        SONDE_ASSIGN(const Id item, objectOf(frame, held->second[static_cast<std::size_t>(*index)]));
        frame.memory.addName(output, item);
        return {};
    }
    if (index && frame.elements.contains(holder)) {
        const auto known = frame.elements[holder].find(*index);
        if (known != frame.elements[holder].end()) frame.memory.addName(output, known->second);
        else frame.elements[holder][*index] = frame.memory.addFresh(output, id);
        return {};
    }
    return takeUncertain(frame, id, {holder});
}

/// `target` is changed by the expr, whose result is the same tensor object.
base::Result<void> InplaceWalk::write(Frame& frame, ExprId id, NodeId target) {
    SONDE_ASSIGN(const Id object, objectOf(frame, target));
    const NodeId result = m_rewrite.output(id);
    if (graph::memoryEffect(m_graph, m_graph.expr(id)).reforms) {
        const Id storage = frame.memory.storageIdOfObject(object);
        const Trouble trouble{id, "the memory of " + m_graph.node(target).name + " is replaced by another one", ""};
        frame.memory.loseOthers(storage, trouble);
        frame.memory.lose(storage, trouble);
        frame.memory.addFresh(result, id);
        return {};
    }
    frame.memory.addName(result, object);
    const Id place = frame.memory.placeOf(object);
    if (frame.memory.place(place).mayOverlap && opClassOf(m_graph.expr(id)) == OpClass::SetItem) {
        // Other elements are the written one as well; a value in which it alone is another one would be wrong.
        const Trouble trouble{id, "a part of a tensor is written whose elements share memory", "write to a clone"};
        frame.memory.loseOthers(frame.memory.place(place).storage, trouble);
        frame.memory.lose(frame.memory.place(place).storage, trouble);
        return {};
    }
    SONDE_TRY(writeObject(frame, id, object, result));
    noteCopy(frame, id, frame.memory.storageIdOfObject(object));
    return {};
}

base::Result<void> InplaceWalk::writeObject(Frame& frame, ExprId id, Id object, NodeId result) {
    const Id place = frame.memory.placeOf(object);
    const Id storage = frame.memory.place(place).storage;
    frame.memory.loseOthers(storage, uncertain(id, frame.memory.place(place).original));
    if (frame.memory.place(place).parent != kNone) return writePart(frame, id, place, result);
    frame.memory.wrote(place, result, id);
    return {};
}

/// Why a write through these views may not be put into its storage; nothing: it may.
std::optional<InplaceWalk::Trouble> InplaceWalk::whyNotPart(const Frame& frame, ExprId id,
                                                            const std::vector<Id>& chain) const {
    const Expr& expr = m_graph.expr(id);
    const ExprId origin = frame.memory.storage(frame.memory.place(chain.front()).storage).origin;
    // custom-trace.md, "Writes to parts": low-level copies go to clones and new tensors only.
    if (isPlainCopy(expr) && !isUserLevel(expr) && !isFresh(origin)) {
        return Trouble{id, "Unexpected predecessor: " + operationText(m_graph.expr(origin)),
                       "a part of a clone or of a new tensor can be written"};
    }
    if (!origin.valid() || !isProgramInput(m_graph.expr(origin))) return std::nullopt;
    // custom-trace.md, "Writes to parts".
    for (Id place : chain) {
        const TensorMemory::Steps& steps = frame.memory.place(place).steps;
        if (steps.size() != 1 || cutsPart(m_graph, m_graph.expr(steps.front()))) continue;
        return Trouble{id, "in-place through view not supported: " + operationText(m_graph.expr(steps.front())),
                       "write to the tensor itself, or to a clone of the view"};
    }
    return std::nullopt;
}

/// A write through views: the storage has the result, put in where the views took it out.
base::Result<void> InplaceWalk::writePart(Frame& frame, ExprId id, Id place, NodeId result) {
    std::vector<Id> chain;  // from the written place outwards; the root is not in it
    Id root = place;
    for (; frame.memory.place(root).parent != kNone; root = frame.memory.place(root).parent) chain.push_back(root);
    for (Id each : chain)
        m_writtenViews.insert(frame.memory.place(each).steps.begin(), frame.memory.place(each).steps.end());
    const Id storage = frame.memory.place(root).storage;
    const bool isKnown = frame.memory.isCurrent(frame.memory.place(root));
    const std::optional<InplaceWalk::Trouble> trouble =
        isKnown ? whyNotPart(frame, id, chain) : frame.memory.storage(storage).trouble;
    NodeId renewed;
    if (!trouble) {
        SONDE_ASSIGN(renewed, putInto(frame, id, chain, result));
    }
    if (renewed.valid()) {
        frame.memory.wrote(root, renewed, id);
    } else if (trouble) {
        frame.memory.lose(storage, *trouble);
    } else {
        const TensorMemory::Steps& steps = frame.memory.place(chain.front()).steps;
        const std::string view =
            steps.empty() ? std::string("a module's result") : operationText(m_graph.expr(steps.front()));
        frame.memory.lose(storage, {id, "in-place through view not supported: " + view,
                                    "write to the tensor itself, or to a clone of the view"});
    }
    frame.memory.setCurrent(place, result);
    return {};
}

/// The content of the storage behind the write; an invalid id if a view cannot be turned round.
base::Result<NodeId> InplaceWalk::putInto(Frame& frame, ExprId id, const std::vector<Id>& chain, NodeId result) {
    const Expr expr = m_graph.expr(id);
    const auto current = [&](Id place) {
        Cursor before = Cursor::before(m_rewrite, id);
        return readPlace(frame, frame.memory.place(place).parent, before);
    };
    ViewChain views;
    bool isCut = true;
    for (Id place : chain) {
        const TensorMemory::Steps& steps = frame.memory.place(place).steps;
        isCut = isCut && steps.size() == 1 && cutsPart(m_graph, m_graph.expr(steps.front()));
        if (isCut) views.push_back(steps.front());
    }
    // copy_ and fill_ have the new content of the region as their argument; of all others it is the result.
    Argument value = isPlainCopy(expr) ? expr.arguments[1] : Argument::of(result);
    auto merged = isCut ? mergedIndex(m_graph, views) : std::nullopt;
    std::vector<NodeId> bases;
    if (merged) {
        SONDE_ASSIGN(const NodeId root, current(chain.back()));
        bases.push_back(root);
    } else {
        if (!isCut) value = Argument::of(result);
        for (Id place : chain) {
            SONDE_ASSIGN(const NodeId base, current(place));
            bases.push_back(base);
        }
    }
    const std::size_t first = m_graph.exprCount();
    Cursor behind = Cursor::behind(m_rewrite, id);
    NodeId made;
    const operators::Traits& traits = traitsOf(expr);
    const bool isTransformation =
        traits.is(Trait::InPlace) && (traits.opClass == OpClass::Exp || traits.opClass == OpClass::Sigmoid);
    if (merged && isTransformation && expr.arguments.size() == 1) {
        Argument function = Argument::of(Value(operators::outOfPlaceName(baseName(expr))));
        Argument step = Argument::container(Argument::Kind::Tuple,
                                            {std::move(function), Argument::container(Argument::Kind::Tuple, {})});
        made = setItem(behind, bases.front(), std::move(*merged),
                       Argument::container(Argument::Kind::Tuple, {std::move(step)}), "setitem_with_transformation");
    } else if (merged) {
        made = setItem(behind, bases.front(), std::move(*merged), std::move(value));
    } else {
        for (std::size_t i = 0; i < chain.size(); ++i) {
            const TensorMemory::Steps& steps = frame.memory.place(chain[i]).steps;
            made = steps.empty() ? value.node : putBack(behind, steps, bases[i], value);
            if (!made.valid()) break;
            value = Argument::of(made);
        }
    }
    for (std::size_t each = first; each < m_graph.exprCount(); ++each) {
        m_inserted.emplace_back(each);
        m_rewrite.addOrigins(ExprId(each), id);
    }
    return made;
}

void InplaceWalk::noteCopy(Frame& frame, ExprId id, Id storage) {
    const Expr& expr = m_graph.expr(id);
    if (frame.outer || !(opClassOf(expr) == OpClass::Copy && traitsOf(expr).is(Trait::InPlace)) ||
        expr.arguments.size() != 2 || !expr.keywords.empty())
        return;
    if (expr.arguments[1].kind != Argument::Kind::Node || !isFresh(frame.memory.storage(storage).origin)) return;
    const Id place = frame.memory.placeOf(frame.memory.objectOf(expr.outputs.front()));
    if (frame.memory.place(place).parent != kNone) return;
    const Id source = frame.memory.objectOf(expr.arguments[1].node);
    const Id sourceStorage = source == kNone ? kNone : frame.memory.storageIdOfObject(source);
    m_copies.push_back({id, storage, sourceStorage, frame.memory.storage(storage).version,
                        sourceStorage == kNone ? 0 : frame.memory.storage(sourceStorage).version});
}

namespace {

/// A dtype that a node has or takes from what it is made of.
tensor::DType knownDType(const InternalGraph& graph, NodeId node) {
    for (int steps = 0; steps < 100; ++steps) {
        const tensor::DType dtype = dtypeOf(graph, node);
        const Expr& expr = graph.expr(graph.node(node).producer);
        const bool keeps = opClassOf(expr) == OpClass::Clone || mutates(expr) || makesView(expr) ||
                           traitsOf(expr).form == ViewForm::Expand;
        if (dtype != tensor::DType::Undefined || !keeps || traitsOf(expr).form == ViewForm::Converted ||
            !firstNode(expr).valid())
            return dtype;
        node = firstNode(expr);
    }
    return tensor::DType::Undefined;
}

}  // namespace

/// copy_(t, v) over a whole clone: later uses read v in t's shape and dtype (custom-trace.md). Only where neither is
/// written later: then the graph means the same whether one takes its writes for values or not.
void InplaceWalk::overwriteCopies(const Frame& main) {
    for (const Copy& copy : m_copies) {
        const bool isLast = main.memory.storage(copy.storage).version == copy.version;
        const bool stays = copy.source == kNone || main.memory.storage(copy.source).version == copy.sourceVersion;
        const Expr expr = m_graph.expr(copy.expr);
        const NodeId target = firstNode(expr), old = expr.outputs.front();
        if (!isLast || !stays || (m_graph.node(old).users.empty() && !m_rewrite.isResult(old))) continue;
        const tensor::DType from = knownDType(m_graph, expr.arguments[1].node), to = knownDType(m_graph, target);
        const bool known = from != tensor::DType::Undefined && to != tensor::DType::Undefined;
        if (!known && isUserLevel(expr)) continue;
        const std::string why = "is what copy_ wrote to " + m_graph.node(target).name;
        Cursor cursor = Cursor::before(m_rewrite, copy.expr);
        const auto call = [&](const std::string& name, Argument value) {
            Expr made;
            made.kind = ExprKind::CallFunction;
            made.op = {"aten", name, 0};
            made.target = "torch." + name;
            made.arguments = {std::move(value), Argument::of(target)};
            return cursor.insert(std::move(made), name, why);
        };
        Argument value = expr.arguments[1];
        if (!known || from != to) value = Argument::of(m_rewrite.output(call("type_as", value)));
        const ExprId made = call("expand_as", std::move(value));
        m_rewrite.addOrigins(made, copy.expr);
        m_rewrite.replace(old, m_rewrite.output(made), "the copy became a value");
        m_rewrite.erase(copy.expr, "the copy became a value");
        if (m_effective.erase(copy.expr)) m_effective.insert(made);
    }
}

bool InplaceWalk::isPackedResult(Frame& frame, const Expr& expr, const std::vector<NodeId>& inputs) {
    const operators::Density density = traitsOf(expr).density;
    if (density != operators::Density::LikeArguments) return density == operators::Density::Always;
    return std::ranges::all_of(inputs, [&](NodeId input) {
        const Id object = frame.memory.objectOf(input);
        return object != kNone && frame.memory.place(frame.memory.placeOf(object)).isPacked;
    });
}

InplaceWalk::Trouble InplaceWalk::uncertain(ExprId id, NodeId node) const {
    return {id, "whether what is read later shares memory with " + m_graph.node(node).name + " is not known",
            "write to a clone"};
}

/// A tensor with memory of its own, made to be written.
bool InplaceWalk::isFresh(ExprId origin) const {
    if (!origin.valid()) return false;
    const Expr& expr = m_graph.expr(origin);
    const OpClass opClass = opClassOf(expr);
    return opClass == OpClass::Clone || opClass == OpClass::Create || mutates(expr);
}

base::Error InplaceWalk::impossible(const Trouble& trouble) const {
    const Expr& expr = m_graph.expr(trouble.write);
    std::string where = "node '" + m_graph.node(expr.outputs.front()).name + "', operation " +
                        std::to_string(m_rewrite.position(trouble.write)) + ", " + operationText(expr);
    if (expr.qualname && !expr.qualname->empty()) where += ", module '" + *expr.qualname + "'";
    return base::runError("(inplace) " + trouble.what, std::move(where), trouble.hint);
}

}  // namespace sonde::passes
