// Loops whose passes only a run knows: recorded as prim::Loop with a body. What the body changes goes around: variables
// that it assigns, and what it changes in place. The latter is found by recording the body, and recording it again if
// it changed something that was not known to go around.

#include <algorithm>
#include <map>

#include "core/io/torchscript/control_flow.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/views.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::TypeInfo;
using tensor::ValueKind;
using trace::Tracer;
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
    };
    std::vector<Leaf> leaves;

    void add(const std::string& name, const ScriptValue& value) {
        if (const std::vector<ScriptValue>* parts = itemsOf(value)) {
            for (const ScriptValue& part : *parts) add(name, part);
        } else if (value.dict()) {
            for (const auto& [key, part] : value.dict()->items) add(name, part);
        } else if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) {
            for (const auto& [attribute, part] : (*instance)->attributes) add(attribute, part);
        } else if (isLeaf(value)) {
            leaves.push_back({isUninitialized(value) ? Var() : toVar(value), value.cell() != nullptr, name});
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
        if (like.isSymbolicList()) {
            auto list = std::make_shared<ListValue>();
            list->symbolic = var;
            list->ofTensors = like.list()->ofTensors;
            return list;
        }
        return like.cell() ? makeCell(var) : ScriptValue(var);
    }

    /// What a variable has become after one pass: as many leaves as before, of the same structure.
    static void collect(const ScriptValue& like, const ScriptValue& now, std::vector<Var>& into) {
        if (const std::vector<ScriptValue>* parts = itemsOf(like)) {
            const std::vector<ScriptValue>* current = itemsOf(now);
            if (!current || current->size() != parts->size())
                refuseFlow("a variable of a loop changes its structure from pass to pass");
            for (std::size_t i = 0; i < parts->size(); ++i) collect((*parts)[i], (*current)[i], into);
        } else if (like.dict()) {
            if (!now.dict() || now.dict()->items.size() != like.dict()->items.size())
                refuseFlow("a dict of a loop changes its keys from pass to pass");
            for (std::size_t i = 0; i < like.dict()->items.size(); ++i)
                collect(like.dict()->items[i].second, now.dict()->items[i].second, into);
        } else if (const auto* instance = like.as<std::shared_ptr<InstanceValue>>()) {
            const auto* current = now.as<std::shared_ptr<InstanceValue>>();
            if (!current || (*current)->attributes.size() != (*instance)->attributes.size())
                refuseFlow("an object of a loop changes its attributes from pass to pass");
            for (const auto& [name, part] : (*instance)->attributes) collect(part, (*current)->attributes[name], into);
        } else if (isLeaf(like)) {
            into.push_back(isUninitialized(now) ? Var() : toVar(now));
        } else if (!(like.plain() && now.plain() && sameVar(*like.plain(), *now.plain())) &&
                   like.data.index() == now.data.index()) {
            refuseFlow("a variable of a loop that is " + typeName(like) + " changes from pass to pass");
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
    std::vector<std::shared_ptr<ListValue>> lists;
    std::vector<std::shared_ptr<DictValue>> dicts;
    std::vector<std::shared_ptr<InstanceValue>> instances;

    /// True: something was not known yet.
    bool learn(const Region::Changes& changes) {
        bool isNew = false;
        const auto add = [&isNew](auto& known, const auto& object) {
            if (std::ranges::find(known, object) != known.end()) return;
            known.push_back(object);
            isNew = true;
        };
        for (const Region::Cell& entry : changes.cells) {
            if (entry.isWritten && !entry.stale) add(cells, entry.cell);
        }
        for (const Region::List& entry : changes.lists) add(lists, entry.list);
        for (const Region::Dict& entry : changes.dicts) add(dicts, entry.dict);
        for (const Region::Instance& entry : changes.instances) add(instances, entry.instance);
        return isNew;
    }
};

/// One recording of a loop: its variables in the order in which they go around.
class LoopRecording {
  public:
    LoopRecording(const ChangedThings& things, std::vector<std::string> names,
                  const std::unordered_map<std::string, ScriptValue>& env)
        : m_things(things), m_names(std::move(names)) {
        for (const std::string& name : m_names) add(name, env.at(name));
        for (const auto& list : things.lists) m_listLeaves.push_back(addLeaf("list", toVar(list), false));
        for (const auto& cell : things.cells) m_cellLeaves.push_back(addLeaf("tensor", toVar(cell), true));
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
            ++cell.version;
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
    }

    /// What everything has become after one pass.
    void collect(std::unordered_map<std::string, ScriptValue>& env, std::vector<Var>& results) const {
        std::size_t at = 0;
        for (const std::string& name : m_names) Carried::collect(m_before[at++], env[name], results);
        for (const auto& list : m_things.lists) results.push_back(toVar(list));
        for (const auto& cell : m_things.cells) results.push_back(toVar(cell));
        for (const auto& dict : m_things.dicts) Carried::collect(m_before[at++], dict, results);
        for (const auto& instance : m_things.instances) Carried::collect(m_before[at++], instance, results);
    }

  private:
    void add(const std::string& name, const ScriptValue& value) {
        m_before.push_back(value);
        m_carried.add(name, value);
    }
    std::size_t addLeaf(const std::string& name, Var initial, bool isTensor) {
        m_carried.leaves.push_back({std::move(initial), isTensor, name});
        return m_carried.leaves.size() - 1;
    }
    /// A list whose elements only a run knows.
    static void become(const std::shared_ptr<ListValue>& list, const Var& var) {
        Region::noteChange(list);
        list->ofTensors = list->ofTensors || (!list->items.empty() && list->items.front().cell());
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

}  // namespace

void Interpreter::recordLoop(const Statement& statement, const Var& trips, const Var& condition, Environment& env) {
    Tracer& tracer = *Tracer::active();
    settleAll(env);
    ChangedThings things;
    std::vector<std::string> names;
    for (const std::string& name : assignedNames(statement.body)) {
        if (env.contains(name)) names.push_back(name);
    }
    // Lists that the source appends to are known at once.
    std::vector<std::string> appended;
    appendedNames(statement.body, appended);
    for (const std::string& name : appended) {
        const auto found = env.find(name);
        const auto* list = found == env.end() ? nullptr : found->second.as<std::shared_ptr<ListValue>>();
        if (!list || std::ranges::find(names, name) != names.end() ||
            std::ranges::find(things.lists, *list) != things.lists.end())
            continue;
        things.lists.push_back(*list);
    }
    while (true) {
        const auto sizes = m_sizes;
        countStatement();
        LoopRecording recording(things, names, env);
        std::vector<Var> arguments{trips, condition};
        for (const Carried::Leaf& leaf : recording.leaves()) arguments.push_back(leaf.initial);
        const graph::ExprId owner = tracer.beginControl("Loop", arguments);
        tracer.enterBody(owner, "body");
        const Var index = tracer.bodyInput("i", kindOnly(ValueKind::Int), false);
        tracer.bodyInput("condition", kindOnly(ValueKind::Bool), false);
        std::vector<Var> inputs;
        for (const Carried::Leaf& leaf : recording.leaves())
            inputs.push_back(tracer.bodyInput(leaf.name, plainType(leaf.initial), leaf.isTensor));
        Environment inner = env;
        std::vector<Var> results;
        Region::Changes changes;
        bool more = false;
        {
            Region region;
            recording.distribute(inputs, inner);
            if (statement.kind == Statement::Kind::For) assign(statement.targets.front(), index, inner);
            ScriptValue returned;
            if (run(statement.body, inner, returned) == Flow::Return) refuseFlow("a loop returns");
            results.push_back(statement.kind == Statement::Kind::While ? toVar(evaluate(statement.value, inner))
                                                                       : Var(true));
            region.settle();
            ChangedThings seen = things;
            more = seen.learn(region.changes());
            if (!more) recording.collect(inner, results);
            changes = region.takeBack();
            if (more) things.learn(changes);
        }
        tracer.leaveBody();
        if (more || recording.leaves().empty()) tracer.abandon(owner);
        if (more) {
            m_sizes = sizes;
            continue;
        }
        for (const Region::Cell& entry : changes.cells) {
            if (!entry.stale) continue;
            Region::noteChange(*entry.cell);
            entry.cell->stale = true;
        }
        if (recording.leaves().empty()) return;
        std::vector<Var> outputs;
        for (std::size_t i = 0; i < recording.leaves().size(); ++i)
            outputs.push_back(tracer.controlOutput(owner, i, recording.leaves()[i].isTensor));
        tracer.setBodyResults(owner, 0, results);
        recording.distribute(outputs, env);
        return;
    }
}

}  // namespace sonde::io::script
