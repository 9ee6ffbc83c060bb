// Called modules, branches and loops: what they write to tensors from outside comes out as further outputs.

#include <algorithm>

#include "core/passes/inplace_walk.h"
#include "core/passes/vocabulary.h"

namespace sonde::passes {

namespace {

bool isBranch(const Expr& expr) {
    return expr.op.domain == "prim" && (opClassOf(expr) == OpClass::If || opClassOf(expr) == OpClass::Conditional);
}
bool callsBody(const Expr& expr) { return expr.op.name.empty(); }

/// Who called the body would see it.
TensorMemory::Trouble reformedInside(ExprId by) {
    return {by, "the shape of a tensor from outside is changed in place inside a call or a branch", "take a view"};
}

/// The nodes that the inputs of the bodies stand for, one by one; not given for loops, whose inputs are other ones in
/// each iteration.
std::vector<NodeId> boundNodes(const Expr& expr, const std::vector<NodeId>& inputs) {
    if (callsBody(expr)) return inputs;
    if (opClassOf(expr) != OpClass::Conditional || expr.arguments.size() < 4) return {};
    // The operands are the last argument; a constant among them is bound to nothing.
    std::size_t next = 0;
    for (std::size_t i = 0; i < 3; ++i) expr.arguments[i].forEachNode([&](NodeId) { ++next; });
    std::vector<NodeId> bound;
    for (const Argument& operand : expr.arguments[3].items)
        bound.push_back(operand.kind == Argument::Kind::Node ? inputs.at(next++) : NodeId{});
    return bound;
}

/// The nodes that a loop begins with, for the `count` inputs of its body: carried values stand last among both. Its
/// trip count, its condition and carried values may be constants, which no node stands for.
std::vector<NodeId> carriedNodes(const Expr& expr, const std::vector<NodeId>& inputs, std::size_t count) {
    std::vector<NodeId> bound(count);
    std::size_t next = 0;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
        const std::size_t behind = expr.arguments.size() - i;
        const bool isCarried = i >= 2 && behind <= count && expr.arguments[i].kind == Argument::Kind::Node;
        if (isCarried) bound[count - behind] = inputs.at(next);
        expr.arguments[i].forEachNode([&](NodeId) { ++next; });
    }
    return bound;
}

}  // namespace

base::Result<void> InplaceWalk::walkBodies(Frame& frame, ExprId id, const std::vector<NodeId>& inputs) {
    const Expr expr = m_graph.expr(id);
    const bool repeats = !callsBody(expr) && !isBranch(expr);
    std::vector<NodeId> bound = boundNodes(expr, inputs);
    std::vector<Frame> inner(callsBody(expr) ? 1 : expr.bodies.size());
    for (std::size_t i = 0; i < inner.size(); ++i) {
        inner[i].body = expr.bodies[i];
        inner[i].owner = id;
        inner[i].outer = &frame;
        inner[i].repeats = repeats;
        if (repeats) {
            bound = carriedNodes(expr, inputs, m_graph.body(expr.bodies[i]).inputs.size());
        }
        SONDE_TRY(bindInputs(inner[i], bound));
        SONDE_TRY(walkBody(inner[i]));
    }
    return repeats ? leaveLoop(frame, id, inner) : bringOut(frame, id, inner);
}

base::Result<void> InplaceWalk::bindInputs(Frame& inner, const std::vector<NodeId>& arguments) {
    const std::vector<NodeId> inputs = m_graph.body(inner.body).inputs;
    for (std::size_t i = 0; i < inputs.size() && i < arguments.size(); ++i) {
        if (!arguments[i].valid()) continue;
        SONDE_ASSIGN(const Id outer, objectOf(*inner.outer, arguments[i]));
        SONDE_ASSIGN(const Id object, addEntry(inner, outer, inputs[i], true));
        inner.memory.addName(inputs[i], object);
    }
    return {};
}

base::Result<InplaceWalk::Id> InplaceWalk::capture(Frame& inner, NodeId node) {
    SONDE_ASSIGN(const Id outer, objectOf(*inner.outer, node));
    SONDE_ASSIGN(const Id object, addEntry(inner, outer, node, false));
    inner.memory.addName(node, object);
    return object;
}

/// A tensor of the frame around. Bound: `node` has its content; else it is a name that may have been written to since.
base::Result<InplaceWalk::Id> InplaceWalk::addEntry(Frame& inner, Id outer, NodeId node, bool isBound) {
    for (const Entry& entry : inner.entries) {
        if (entry.outer == outer) return entry.object;
    }
    TensorMemory& around = inner.outer->memory;
    const Id outerStorage = around.storageIdOfObject(outer);
    const Id object = inner.memory.addFresh(node, around.storage(outerStorage).origin);
    const Id storage = inner.memory.storageIdOfObject(object);
    const Id root = inner.memory.placeOf(object);
    inner.memory.place(root).isPacked = around.place(around.placeOf(outer)).isPacked;
    inner.memory.place(root).mayOverlap = around.place(around.placeOf(outer)).mayOverlap;
    for (const Entry& entry : inner.entries) {
        const Id other = around.storageIdOfObject(entry.outer);
        const std::vector<Id>& linked = around.storage(outerStorage).perhapsSame;
        if (other == outerStorage || std::ranges::find(linked, other) != linked.end())
            inner.memory.link(storage, inner.memory.storageIdOfObject(entry.object));
    }
    if (!isBound && around.storage(outerStorage).version > 0) {
        Cursor cursor = Cursor::before(m_rewrite, inner.owner);
        SONDE_ASSIGN(const NodeId now, contentOf(*inner.outer, outer, cursor));
        inner.memory.wrote(root, now, around.storage(outerStorage).lastWrite);
    }
    inner.entries.push_back({object, outer, inner.memory.storage(storage).version});
    return object;
}

const InplaceWalk::Entry* InplaceWalk::entryOf(const Frame& inner, Id storage) const {
    for (const Entry& entry : inner.entries) {
        if (inner.memory.storageIdOfObject(entry.object) == storage) return &entry;
    }
    return nullptr;
}

/// A called module, or branches of which one is taken.
base::Result<void> InplaceWalk::bringOut(Frame& frame, ExprId id, std::vector<Frame>& inner) {
    const std::size_t count = m_graph.expr(id).outputs.size();
    std::vector<Id> written;
    std::map<Id, Trouble> lost;
    for (const Frame& each : inner) {
        for (const Entry& entry : each.entries) {
            const TensorMemory::Storage& storage = each.memory.storage(each.memory.storageIdOfObject(entry.object));
            if (const ExprId by = each.memory.place(each.memory.placeOf(entry.object)).reformedBy; by.valid())
                lost.try_emplace(entry.outer, reformedInside(by));
            if (storage.version == entry.version) continue;
            if (!each.memory.isCurrent(each.memory.place(storage.root)))
                lost.try_emplace(entry.outer, *storage.trouble);
            if (std::ranges::find(written, entry.outer) == written.end()) written.push_back(entry.outer);
        }
    }
    for (const auto& [outer, trouble] : lost) {
        frame.memory.loseOthers(frame.memory.storageIdOfObject(outer), trouble);
        frame.memory.lose(frame.memory.storageIdOfObject(outer), trouble);
    }
    std::vector<std::vector<NodeId>> finals(inner.size());
    std::vector<Id> exported;
    for (Id outer : written) {
        if (lost.contains(outer)) continue;
        for (std::size_t i = 0; i < inner.size(); ++i) {
            SONDE_ASSIGN(const NodeId content, finalContent(frame, inner[i], id, outer));
            finals[i].push_back(content);
        }
        exported.push_back(outer);
    }
    const bool isModule = callsBody(m_graph.expr(id));
    if (!exported.empty()) {
        for (std::size_t i = 0; i < inner.size(); ++i) addResults(inner[i], isModule, finals[i]);
    }
    for (Id outer : exported) {
        const std::string name = m_graph.node(frame.memory.place(frame.memory.placeOf(outer)).original).name;
        const NodeId output = m_graph.addOutput(id, m_rewrite.freeName(name + "_written"));
        m_rewrite.say(output, "what " + m_graph.node(m_rewrite.output(id)).name + " wrote to " + name);
        frame.memory.addName(output, outer);
        SONDE_TRY(writeObject(frame, id, outer, output));
    }
    return takeBodyResults(frame, id, inner, count);
}

/// What a tensor from outside holds when the body is through.
base::Result<NodeId> InplaceWalk::finalContent(Frame& frame, Frame& inner, ExprId id, Id outer) {
    for (const Entry& entry : inner.entries) {
        if (entry.outer != outer) continue;
        const TensorMemory::Place& root =
            inner.memory.place(inner.memory.storage(inner.memory.storageIdOfObject(entry.object)).root);
        return root.current;
    }
    Cursor cursor = Cursor::before(m_rewrite, id);
    return contentOf(frame, outer, cursor);
}

/// Results behind those that a body has. A call with one output gives a structure: as one of several results it is a
/// node.
void InplaceWalk::addResults(Frame& inner, bool isModule, const std::vector<NodeId>& more) {
    Argument result = m_graph.body(inner.body).result;
    std::vector<Argument> items;
    const bool isOne = m_graph.expr(inner.owner).outputs.size() == 1;
    if (result.kind == Argument::Kind::Node) {
        items.push_back(std::move(result));
    } else if (!isModule || !isOne) {
        items = std::move(result.items);
    } else {
        Expr structure;
        structure.kind = ExprKind::Output;
        structure.target = "output";
        structure.arguments = {std::move(result)};
        Cursor cursor = Cursor::behind(m_rewrite, m_graph.body(inner.body).order.back());
        items.push_back(Argument::of(
            m_rewrite.output(cursor.insert(std::move(structure), "output", "the result next to the written tensors"))));
    }
    for (NodeId node : more) items.push_back(Argument::of(node));
    m_graph.setResult(inner.body, Argument::container(Argument::Kind::Tuple, std::move(items)));
}

/// What the first `count` outputs, which the program had before, share memory with.
base::Result<void> InplaceWalk::takeBodyResults(Frame& frame, ExprId id, std::vector<Frame>& inner, std::size_t count) {
    const std::vector<NodeId> outputs = m_graph.expr(id).outputs;
    const bool isModule = callsBody(m_graph.expr(id));
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<NodeId> results;
        for (const Frame& each : inner) {
            const Argument& result = each.result;
            const bool isWhole = result.kind == Argument::Kind::Node;
            const bool isItem = !isWhole && (!isModule || count > 1) && k < result.items.size() &&
                                result.items[k].kind == Argument::Kind::Node;
            results.push_back(isWhole ? result.node : isItem ? result.items[k].node : NodeId{});
        }
        if (inner.size() == 1 && results.front().valid()) {
            SONDE_TRY(takeBodyResult(frame, id, inner.front(), results.front(), outputs[k]));
            continue;
        }
        // One of several tensors, or several at once.
        const Id object = frame.memory.addFresh(outputs[k], id);
        bool sharesNothing = true;
        for (std::size_t i = 0; i < inner.size(); ++i) {
            std::vector<NodeId> nodes{results[i]};
            if (!results[i].valid()) {
                nodes.clear();
                inner[i].result.forEachNode([&](NodeId node) { nodes.push_back(node); });
            }
            std::set<Id> seen;
            for (NodeId node : nodes) {
                SONDE_ASSIGN(const Id result, objectOf(inner[i], node));
                const Id storage = inner[i].memory.storageIdOfObject(result);
                const bool isOwn = !entryOf(inner[i], storage) && inner[i].memory.storage(storage).perhapsSame.empty();
                sharesNothing = sharesNothing && isOwn && seen.insert(storage).second;
                linkResult(frame, inner[i], storage, object);
                if (inner[i].memory.place(inner[i].memory.placeOf(result)).mayOverlap)
                    frame.memory.place(frame.memory.placeOf(object)).mayOverlap = true;
            }
        }
        if (!results.front().valid() && sharesNothing) frame.elements[outputs[k]] = {};
    }
    return {};
}

/// The output of a call is what its body gives: memory of its own, or a view of what it was given.
base::Result<void> InplaceWalk::takeBodyResult(Frame& frame, ExprId id, Frame& inner, NodeId result, NodeId output) {
    SONDE_ASSIGN(const Id object, objectOf(inner, result));
    std::vector<Id> chain;  // from the result outwards
    Id root = inner.memory.placeOf(object);
    for (; inner.memory.place(root).parent != kNone; root = inner.memory.place(root).parent) chain.push_back(root);
    const Id storage = inner.memory.place(root).storage;
    const Entry* entry = entryOf(inner, storage);
    const bool canBeSaid = entry && std::ranges::all_of(chain, [&](Id place) {
                               return std::ranges::all_of(inner.memory.place(place).steps, [&](ExprId step) {
                                   return isVisible(frame, m_graph.expr(step));
                               });
                           });
    if (!canBeSaid) {
        const Id made = frame.memory.addFresh(output, id);
        frame.memory.place(frame.memory.placeOf(made)).isPacked =
            inner.memory.place(inner.memory.placeOf(object)).isPacked;
        frame.memory.place(frame.memory.placeOf(made)).mayOverlap =
            inner.memory.place(inner.memory.placeOf(object)).mayOverlap;
        linkResult(frame, inner, storage, made);
        return {};
    }
    Id base = entry->outer;
    if (chain.empty()) base = frame.memory.addView(output, base, {});
    for (std::size_t i = chain.size(); i-- > 0;) {
        const TensorMemory::Place place = inner.memory.place(chain[i]);
        base = frame.memory.addView(i == 0 ? output : place.original, base, place.steps);
        // Only the last one has a node that can be seen here.
        if (i > 0) frame.memory.place(frame.memory.placeOf(base)).version = kNone;
    }
    frame.memory.place(frame.memory.placeOf(base)).isPacked = inner.memory.place(inner.memory.placeOf(object)).isPacked;
    frame.memory.place(frame.memory.placeOf(base)).mayOverlap =
        inner.memory.place(inner.memory.placeOf(object)).mayOverlap;
    return {};
}

/// The object may share memory with what the storage of the body may share it with.
void InplaceWalk::linkResult(Frame& frame, const Frame& inner, Id innerStorage, Id object) {
    std::set<Id> seen;
    std::vector<Id> next{innerStorage};
    while (!next.empty()) {
        const Id each = next.back();
        next.pop_back();
        if (!seen.insert(each).second) continue;
        if (const Entry* entry = entryOf(inner, each))
            frame.memory.link(frame.memory.storageIdOfObject(object), frame.memory.storageIdOfObject(entry->outer));
        const std::vector<Id>& linked = inner.memory.storage(each).perhapsSame;
        next.insert(next.end(), linked.begin(), linked.end());
    }
}

/// Where a loop writes to a tensor that it carries, its next iteration must have that tensor or a new one, and under no
/// other name: it would write to what this one did not. What nobody writes may be carried twice and in other positions.
base::Result<void> InplaceWalk::checkNextIteration(Frame& body) {
    const std::vector<NodeId>& inputs = m_graph.body(body.body).inputs;
    const bool isOne = body.result.kind == Argument::Kind::Node;
    const std::vector<Argument> items = isOne ? std::vector{body.result} : body.result.items;
    struct Carried {
        std::size_t position;  ///< counted from the last one, as that of the input
        Id storage;
    };
    std::vector<Carried> carried;
    for (std::size_t i = 0; i < items.size(); ++i) {
        std::vector<NodeId> nodes;
        items[i].forEachNode([&](NodeId node) { nodes.push_back(node); });
        for (const NodeId node : nodes) {
            SONDE_ASSIGN(const Id object, objectOf(body, node));
            carried.push_back({items.size() - i, body.memory.storageIdOfObject(object)});
        }
    }
    for (const Carried& next : carried) {
        if (next.position > inputs.size()) continue;
        const Id input = body.memory.objectOf(inputs[inputs.size() - next.position]);
        const Id own = input == kNone ? kNone : body.memory.storageIdOfObject(input);
        const Entry* entry = own == kNone ? nullptr : entryOf(body, own);
        if (!entry || body.memory.storage(own).version == entry->version) continue;
        const bool isKnown = std::ranges::any_of(body.memory.mayBeSame(next.storage), [&](Id storage) {
            return (storage != own && entryOf(body, storage)) || std::ranges::any_of(carried, [&](const Carried& each) {
                       return &each != &next && each.storage == storage;
                   });
        });
        if (isKnown) {
            return impossible({body.memory.storage(own).lastWrite,
                               "a loop writes to a tensor that its next iteration has under another name",
                               "write to a clone"});
        }
    }
    return {};
}

/// A loop is walked over once. What it writes to values that it carries is lost to who has them outside; to anything
/// else it must not write: the next iteration would read it.
base::Result<void> InplaceWalk::leaveLoop(Frame& frame, ExprId id, std::vector<Frame>& inner) {
    for (Frame& each : inner) {
        SONDE_TRY(checkNextIteration(each));
        const std::vector<NodeId>& inputs = m_graph.body(each.body).inputs;
        for (const Entry& entry : each.entries) {
            const TensorMemory::Storage& storage = each.memory.storage(each.memory.storageIdOfObject(entry.object));
            if (const ExprId by = each.memory.place(each.memory.placeOf(entry.object)).reformedBy; by.valid())
                return impossible(reformedInside(by));
            if (storage.version == entry.version) continue;
            const Trouble trouble{storage.lastWrite, "a loop writes to a tensor from outside the loop",
                                  "write to a clone"};
            const bool isCarried =
                std::ranges::any_of(inputs, [&](NodeId input) { return each.memory.objectOf(input) == entry.object; });
            if (!isCarried) return impossible(trouble);
            frame.memory.loseOthers(frame.memory.storageIdOfObject(entry.outer), trouble);
            frame.memory.lose(frame.memory.storageIdOfObject(entry.outer), trouble);
        }
    }
    for (NodeId output : m_graph.expr(id).outputs) {
        const Id object = frame.memory.addFresh(output, id);
        for (Frame& each : inner) {
            std::optional<base::Error> failed;
            each.result.forEachNode([&](NodeId node) {
                const auto result = objectOf(each, node);
                if (!result) failed = result.error();
                else linkResult(frame, each, each.memory.storageIdOfObject(*result), object);
            });
            if (failed) return *failed;
        }
    }
    return {};
}

/// Everything but the first argument of a view is known outside of its body.
bool InplaceWalk::isVisible(const Frame& frame, const Expr& step) const {
    bool visible = true;
    const auto check = [&](NodeId node) {
        const BodyId made = m_graph.expr(m_graph.node(node).producer).body;
        bool isAround = false;
        for (const Frame* at = &frame; at; at = at->outer) isAround = isAround || at->body == made;
        visible = visible && isAround;
    };
    for (std::size_t i = 1; i < step.arguments.size(); ++i) step.arguments[i].forEachNode(check);
    for (const auto& [name, argument] : step.keywords) argument.forEachNode(check);
    return visible;
}

}  // namespace sonde::passes
