// Loops whose passes only a run knows: recorded as prim::Loop with a body. What the body changes goes around: variables
// that it assigns, and what it changes in place. The latter is found by recording the body, and recording it again if
// it changed something that was not known to go around.

#include <algorithm>
#include <map>
#include <set>

#include "core/io/torchscript/control_flow.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/views.h"
#include "core/trace/control_recorder.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::TypeInfo;
using tensor::ValueKind;
using trace::ControlRecorder;
using Kind = Expression::Kind;

namespace {

/// Variables whose lists a block appends to.
void appendedNames(const std::vector<Statement>& body, std::vector<std::string>& names) {
    for (const Statement& statement : body) {
        const Expression& call = statement.value;
        if (call.kind == Kind::Call && call.parts.size() > 1 && call.parts[0].kind == Kind::Attribute &&
            call.parts[0].text == "append" && call.parts[1].kind == Kind::Name) {
            names.push_back(call.parts[1].text);
        }
        appendedNames(statement.body, names);
        appendedNames(statement.orElse, names);
    }
}

/// A loop's variables as single values: what goes into the body and comes out of it.
class Carried {
  public:
    struct Leaf {
        Var initial;
        bool isTensor;
        std::string name;
        std::vector<CellPtr> roots = {};  ///< of what it is before the loop
    };
    std::vector<Leaf> leaves;

    void add(const std::string& name, const ScriptValue& value) {
        checkNesting();
        if (const std::vector<ScriptValue>* parts = itemsOf(value)) {
            for (const ScriptValue& part : *parts) add(name, part);
        } else if (value.dict()) {
            for (const auto& [key, part] : value.dict()->items) add(name, part);
        } else if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) {
            for (const auto& [attribute, part] : (*instance)->attributes) add(attribute, part);
        } else if (isLeaf(value)) {
            noteOtherName(value);
            leaves.push_back(
                {isUninitialized(value) ? Var() : toVar(value), value.cell() != nullptr, name, rootsIn(value)});
        }
    }

    /// The same structure with other values at its leaves.
    static ScriptValue rebuilt(const ScriptValue& like, const std::vector<Var>& vars, std::size_t& next) {
        if (const std::vector<ScriptValue>* parts = itemsOf(like)) {
            std::vector<ScriptValue> items;
            for (const ScriptValue& part : *parts) items.push_back(rebuilt(part, vars, next));
            return like.tuple() ? makeTuple(std::move(items), like.tuple()->type) : makeList(std::move(items));
        }
        if (like.dict()) {
            auto dict = std::make_shared<DictValue>();
            for (const auto& [key, part] : like.dict()->items) dict->items.emplace_back(key, rebuilt(part, vars, next));
            return dict;
        }
        if (const auto* instance = like.as<std::shared_ptr<InstanceValue>>()) {
            auto made = std::make_shared<InstanceValue>(InstanceValue{(*instance)->typeName, (*instance)->type, {}});
            for (const auto& [name, part] : (*instance)->attributes) made->attributes[name] = rebuilt(part, vars, next);
            return made;
        }
        if (!isLeaf(like)) return like;
        const Var var = vars[next++];
        if (like.isSymbolicList()) return makeSymbolicList(var, like.list()->ofTensors, {});
        return like.cell() ? makeCell(var) : ScriptValue(var);
    }

    /// What a variable has become after one pass: as many leaves as before, of the same structure.
    static void collect(const ScriptValue& like, const ScriptValue& now, std::vector<ScriptValue>& into) {
        if (const std::vector<ScriptValue>* parts = itemsOf(like)) {
            const std::vector<ScriptValue>* current = itemsOf(now);
            if (!current || current->size() != parts->size())
                refuseFlow("a variable of a loop changes its structure between iterations");
            for (std::size_t i = 0; i < parts->size(); ++i) collect((*parts)[i], (*current)[i], into);
        } else if (like.dict()) {
            if (!now.dict() || now.dict()->items.size() != like.dict()->items.size())
                refuseFlow("a dict of a loop changes its keys between iterations");
            for (std::size_t i = 0; i < like.dict()->items.size(); ++i)
                collect(like.dict()->items[i].second, now.dict()->items[i].second, into);
        } else if (const auto* instance = like.as<std::shared_ptr<InstanceValue>>()) {
            const auto* current = now.as<std::shared_ptr<InstanceValue>>();
            if (!current || (*current)->attributes.size() != (*instance)->attributes.size())
                refuseFlow("an object of a loop changes its attributes between iterations");
            for (const auto& [name, part] : (*instance)->attributes) collect(part, (*current)->attributes[name], into);
        } else if (isLeaf(like)) {
            noteOtherName(now);
            into.push_back(now);
        } else if (!(like.plain() && now.plain() && sameVar(*like.plain(), *now.plain())) &&
                   like.data.index() == now.data.index()) {
            refuseFlow("a variable of a loop that is " + typeName(like) + " changes between iterations");
        } else if (like.data.index() != now.data.index()) {
            refuseFlow("a variable of a loop is " + typeName(like) + " first and " + typeName(now) + " later");
        }
    }

  private:
    static const std::vector<ScriptValue>* itemsOf(const ScriptValue& value) {
        if (value.list() && !value.isSymbolicList()) return &value.list()->items;
        return value.tuple() ? &value.tuple()->items : nullptr;
    }
    /// None and strings stay what they are; everything else that is one value goes around the loop.
    static bool isLeaf(const ScriptValue& value) {
        if (value.cell() || value.isSymbolicList() || isUninitialized(value)) return true;
        return value.plain() && (value.isProxy() || value.isNumber());
    }
};

TypeInfo plainType(const Var& initial) {
    TypeInfo type;
    if (initial.kind() == Var::Kind::Value && initial.value().isNumber()) type.kind = initial.value().kind();
    return type;
}

TypeInfo kindOnly(ValueKind kind) {
    TypeInfo type;
    type.kind = kind;
    return type;
}

/// What the body of a loop changed in place although nobody had said so: it has to go around as well.
struct ChangedThings {
    std::vector<std::shared_ptr<TensorCell>> cells;
    std::vector<std::shared_ptr<TensorCell>> lost;  ///< which only a run knows after the first pass
    std::vector<std::shared_ptr<ListValue>> lists;
    std::vector<std::shared_ptr<DictValue>> dicts;
    std::vector<std::shared_ptr<InstanceValue>> instances;

    /// True: something was not known yet. `isLost`: of a changed tensor, whether nobody knows what it holds.
    bool learn(const Region::Changes& changes, bool (*isLost)(const Region::Cell&)) {
        bool isNew = false;
        const auto add = [&isNew](auto& known, const auto& object) {
            if (std::ranges::find(known, object) != known.end()) return;
            known.push_back(object);
            isNew = true;
        };
        for (const Region::Cell& entry : changes.cells) {
            if (isLost(entry)) add(lost, entry.cell);
            else if (entry.isWritten && std::ranges::find(lost, entry.cell) == lost.end()) add(cells, entry.cell);
        }
        for (const auto& cell : lost) std::erase(cells, cell);
        for (const Region::List& entry : changes.lists) add(lists, entry.list);
        for (const Region::Dict& entry : changes.dicts) add(dicts, entry.dict);
        for (const Region::Instance& entry : changes.instances) add(instances, entry.instance);
        return isNew;
    }
};

/// Which memory the variables of a loop may share, from one pass to the next: with what is older than the loop, and
/// with each other.
class LoopMemory {
  public:
    /// Notes it for what goes into the body, or comes out of the loop.
    void noteFor(const std::vector<ScriptValue>& leaves, const std::vector<Carried::Leaf>& initial) const {
        std::map<std::pair<std::size_t, std::size_t>, CellPtr> between;
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            TensorCell* cell = leaves[i].list() ? leaves[i].list()->memory.get() : leaves[i].cell();
            if (leaves[i].isProxy() && !initial[i].roots.empty()) cell = tensorOf(*leaves[i].plain()).get();
            if (!cell) continue;
            mayShare(*cell, initial[i].roots);
            if (i >= m_outer.size()) continue;
            mayShare(*cell, m_outer[i]);
            for (const std::size_t other : m_with[i]) {
                CellPtr& both = between[std::minmax(i, other)];
                if (!both) both = std::make_shared<TensorCell>();
                mayShare(*cell, {&both, 1});
            }
        }
    }

    /// What a pass has made of it. True: something was not known yet.
    bool learn(const std::vector<ScriptValue>& inputs, const std::vector<ScriptValue>& results,
               const std::vector<Carried::Leaf>& initial, const Region& region) {
        m_outer.resize(results.size());
        m_with.resize(results.size());
        std::vector<std::vector<CellPtr>> all;
        for (const ScriptValue& result : results) all.push_back(withSharers(rootsIn(result)));
        bool isNew = false;
        for (std::size_t i = 0; i < results.size(); ++i) {
            for (const CellPtr& root : all[i]) {
                const bool isKnown = contains(initial[i].roots, root) || contains(m_outer[i], root);
                if (isKnown || !region.isOlder(*root)) continue;
                m_outer[i].push_back(root);
                isNew = true;
            }
            for (std::size_t j = 0; j < results.size(); ++j) {
                if (i == j || !(meet(all[i], all[j]) || meet(all[i], rootsIn(inputs[j])))) continue;
                isNew = m_with[i].insert(j).second || isNew;
                isNew = m_with[j].insert(i).second || isNew;
            }
        }
        return isNew;
    }

  private:
    static bool contains(const std::vector<CellPtr>& roots, const CellPtr& root) {
        return std::ranges::find(roots, root) != roots.end();
    }
    static bool meet(const std::vector<CellPtr>& a, const std::vector<CellPtr>& b) {
        return std::ranges::find_first_of(a, b) != a.end();
    }
    std::vector<std::vector<CellPtr>> m_outer;  ///< by leaf
    std::vector<std::set<std::size_t>> m_with;
};

Var resultOf(const ScriptValue& leaf) { return isUninitialized(leaf) ? Var() : toVar(leaf); }

/// One recording of a loop: its variables in the order in which they go around.
class LoopRecording {
  public:
    /// `names`: variables that get other values; those whose tensor stays the same one go around as that tensor.
    LoopRecording(const ChangedThings& things, std::vector<std::string> names,
                  const std::unordered_map<std::string, ScriptValue>& env)
        : m_things(things), m_names(std::move(names)) {
        for (const std::string& name : m_names) add(name, env.at(name));
        for (const auto& list : things.lists) m_listLeaves.push_back(addLeaf("list", list, false));
        for (const auto& cell : things.cells) {
            m_cellLeaves.push_back(m_carried.leaves.size());
            m_carried.leaves.push_back({contentOf(*cell), true, "tensor", {cell}});
        }
        for (const auto& dict : things.dicts) {
            auto copy = std::make_shared<DictValue>();
            copy->items = dict->items;
            add("dict", copy);
        }
        for (const auto& instance : things.instances) {
            add("object", std::make_shared<InstanceValue>(
                              InstanceValue{instance->typeName, instance->type, instance->attributes}));
        }
    }
    const std::vector<Carried::Leaf>& leaves() const { return m_carried.leaves; }
    /// The leaf is a tensor that was written, whatever names it has.
    bool isTensorItself(std::size_t leaf) const { return std::ranges::find(m_cellLeaves, leaf) != m_cellLeaves.end(); }

    /// Everything gets the values `vars`: the inputs of the body inside, the outputs of the loop after it.
    void distribute(const std::vector<Var>& vars, std::unordered_map<std::string, ScriptValue>& env) {
        std::size_t next = 0;
        std::size_t at = 0;
        for (const std::string& name : m_names) env[name] = Carried::rebuilt(m_before[at++], vars, next);
        for (std::size_t i = 0; i < m_things.lists.size(); ++i) become(m_things.lists[i], vars[m_listLeaves[i]]);
        for (std::size_t i = 0; i < m_things.cells.size(); ++i) {
            TensorCell& cell = *m_things.cells[i];
            Region::noteChange(cell);
            cell.var = vars[m_cellLeaves[i]];
            cell.pending = nullptr;
            cell.chain = nullptr;
            cell.version = nextVersion();
        }
        next += m_things.lists.size() + m_things.cells.size();
        for (const auto& dict : m_things.dicts) {
            Region::noteChange(dict);
            dict->items = Carried::rebuilt(m_before[at++], vars, next).dict()->items;
        }
        for (const auto& instance : m_things.instances) {
            Region::noteChange(instance);
            const ScriptValue made = Carried::rebuilt(m_before[at++], vars, next);
            instance->attributes = (*made.as<std::shared_ptr<InstanceValue>>())->attributes;
        }
        for (const auto& cell : m_things.lost) lose(*cell, cell->lastWrite, cell->lostTo);
        for (const auto& cell : m_things.cells) agreeWithSharers(*cell);
    }

    /// What everything has become after one pass.
    std::vector<ScriptValue> collect(std::unordered_map<std::string, ScriptValue>& env) const {
        std::vector<ScriptValue> results;
        std::size_t at = 0;
        for (const std::string& name : m_names) Carried::collect(m_before[at++], env[name], results);
        for (const auto& list : m_things.lists) results.emplace_back(list);
        for (const auto& cell : m_things.cells) results.emplace_back(cell);
        for (const auto& dict : m_things.dicts) Carried::collect(m_before[at++], dict, results);
        for (const auto& instance : m_things.instances) Carried::collect(m_before[at++], instance, results);
        return results;
    }

  private:
    void add(const std::string& name, const ScriptValue& value) {
        m_before.push_back(value);
        m_carried.add(name, value);
    }
    std::size_t addLeaf(const std::string& name, const ScriptValue& initial, bool isTensor) {
        m_carried.leaves.push_back({resultOf(initial), isTensor, name, rootsIn(initial)});
        return m_carried.leaves.size() - 1;
    }
    /// A list whose elements only a run knows.
    static void become(const std::shared_ptr<ListValue>& list, const Var& var) {
        Region::noteChange(list);
        list->ofTensors = list->ofTensors || (!list->items.empty() && list->items.front().cell());
        list->memory = makeSymbolicList(var, list->ofTensors, {}).list()->memory;
        list->items.clear();
        list->symbolic = var;
    }

    const ChangedThings& m_things;
    std::vector<std::string> m_names;
    std::vector<ScriptValue> m_before;
    Carried m_carried;
    std::vector<std::size_t> m_listLeaves;
    std::vector<std::size_t> m_cellLeaves;
};

/// Every assignment to the variable in the block is `x = torch.add_(x, …)` or the like: it stays the tensor that it is.
bool staysTensor(const std::vector<Statement>& body, const std::string& name) {
    return std::ranges::all_of(body, [&](const Statement& statement) {
        const bool isTarget = std::ranges::any_of(statement.targets, [&](const Expression& target) {
            return target.kind == Kind::Name && target.text == name;
        });
        if (isTarget) {
            const Expression& call = statement.value;
            const bool isInPlace =
                statement.kind == Statement::Kind::Assign && statement.targets.size() == 1 && call.kind == Kind::Call &&
                call.parts.size() > 1 && dottedPath(call.parts[0]).starts_with("torch.") &&
                call.parts[0].text.ends_with('_') && call.parts[1].kind == Kind::Name && call.parts[1].text == name;
            if (!isInPlace) return false;
        }
        return staysTensor(statement.body, name) && staysTensor(statement.orElse, name);
    });
}

}  // namespace

/// What is known of a loop from earlier recordings of its body.
struct Interpreter::LoopPlan {
    ChangedThings things;
    LoopMemory memory;
    std::vector<std::string> names;  ///< variables that go around
    std::vector<std::string> kept;   ///< those whose tensor seems to stay the same one

    /// Variables that got another tensor after all. True: there are any.
    bool giveUpKept(const Environment& before, const Environment& after) {
        bool isNew = false;
        for (std::size_t i = kept.size(); i-- > 0;) {
            if (after.at(kept[i]).cell() == before.at(kept[i]).cell()) continue;
            names.push_back(kept[i]);
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
            isNew = true;
        }
        return isNew;
    }
};

/// What goes around is found by recording the body, and recording it again when more of it was seen.
void Interpreter::recordLoop(const Statement& statement, const Var& trips, const Var& condition, Environment& env) {
    settleAll(env);
    LoopPlan plan;
    for (const std::string& name : assignedNames(statement.body)) {
        if (!env.contains(name)) continue;
        (env.at(name).cell() && staysTensor(statement.body, name) ? plan.kept : plan.names).push_back(name);
    }
    // Lists that the source appends to are known at once.
    std::vector<std::string> appended;
    appendedNames(statement.body, appended);
    for (const std::string& name : appended) {
        const auto found = env.find(name);
        const auto* list = found == env.end() ? nullptr : found->second.as<std::shared_ptr<ListValue>>();
        if (!list || std::ranges::find(plan.names, name) != plan.names.end() ||
            std::ranges::find(plan.things.lists, *list) != plan.things.lists.end())
            continue;
        plan.things.lists.push_back(*list);
    }
    const auto sizes = m_sizes;
    while (!recordPass(statement, trips, condition, env, plan)) m_sizes = sizes;
}

/// False: more was seen than was known, and nothing is recorded.
bool Interpreter::recordPass(const Statement& statement, const Var& trips, const Var& condition, Environment& env,
                             LoopPlan& plan) {
    countStatement();
    ControlRecorder control(trace::Tracer::active()->recorder());
    LoopRecording recording(plan.things, plan.names, env);
    std::vector<Var> arguments{trips, condition};
    for (const Carried::Leaf& leaf : recording.leaves()) arguments.push_back(leaf.initial);
    const graph::ExprId owner = control.begin("Loop", arguments);
    control.enterBody(owner, "body");
    const Var index = control.input("i", kindOnly(ValueKind::Int), false);
    control.input("condition", kindOnly(ValueKind::Bool), false);
    std::vector<Var> inputs;
    for (const Carried::Leaf& leaf : recording.leaves())
        inputs.push_back(control.input(leaf.name, plainType(leaf.initial), leaf.isTensor));
    Environment inner = env;
    std::vector<Var> results;
    bool more = false;
    {
        Region region;
        recording.distribute(inputs, inner);
        const std::vector<ScriptValue> entering = recording.collect(inner);
        plan.memory.noteFor(entering, recording.leaves());
        const std::uint64_t writes = writeCount();
        if (statement.kind == Statement::Kind::For) assign(statement.targets.front(), index, inner);
        ScriptValue returned;
        if (run(statement.body, inner, returned) == Flow::Return) refuseFlow("a loop returns");
        results.push_back(statement.kind == Statement::Kind::While ? toVar(evaluate(statement.value, inner))
                                                                   : Var(true));
        region.settle();
        ChangedThings seen = plan.things;
        more = seen.learn(region.changes(), [](const Region::Cell& entry) { return entry.cell->isLost; });
        more = plan.giveUpKept(env, inner) || more;
        if (!more) {
            const std::vector<ScriptValue> leaving = recording.collect(inner);
            for (std::size_t i = 0; i < leaving.size(); ++i)
                results.push_back(recording.isTensorItself(i) ? contentOf(*leaving[i].cell()) : resultOf(leaving[i]));
            // As long as nothing is written it does not matter inside what shares memory.
            more = plan.memory.learn(entering, leaving, recording.leaves(), region) && writeCount() != writes;
        } else {
            plan.memory = {};
        }
        const Region::Changes changes = region.takeBack();
        plan.things.learn(changes, [](const Region::Cell& entry) { return entry.state.isLost; });
        for (const Region::Cell& entry : changes.cells) {
            if (entry.state.isLost && entry.cell->lastWrite.isNone()) {
                entry.cell->lastWrite = entry.state.lastWrite;
                entry.cell->lostTo = entry.state.lostTo;
            }
            if (entry.state.form != entry.cell->form)
                refuseFlow(
                    "the shape of a tensor is changed in place inside a loop, where other users of the tensor would see it");
        }
    }
    control.leaveBody();
    if (more || recording.leaves().empty()) control.abandon(owner);
    if (more) return false;
    if (recording.leaves().empty()) return true;
    std::vector<Var> outputs;
    for (std::size_t i = 0; i < recording.leaves().size(); ++i)
        outputs.push_back(control.output(owner, i, recording.leaves()[i].isTensor));
    control.setResults(owner, 0, results);
    recording.distribute(outputs, env);
    plan.memory.noteFor(recording.collect(env), recording.leaves());
    return true;
}

}  // namespace sonde::io::script
