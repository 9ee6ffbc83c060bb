// Branches and loops on values that only a run knows: recorded as prim::If and prim::Loop with bodies.

#include <algorithm>
#include <array>
#include <set>

#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/region.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::TypeInfo;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;
using trace::Tracer;
using Kind = Expression::Kind;

namespace {

[[noreturn]] void refuse(const std::string& text) { throw TraceError(TraceErrorKind::ControlFlow, text); }

void addOnce(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

/// Variables that a block gives values to, in the order of the source.
void assignedNames(const std::vector<Statement>& body, std::vector<std::string>& names) {
    for (const Statement& statement : body) {
        for (const Expression& target : statement.targets) {
            if (target.kind == Kind::Name) addOnce(names, target.text);
        }
        assignedNames(statement.body, names);
        assignedNames(statement.orElse, names);
    }
}

/// Variables whose lists a block appends to.
void appendedNames(const std::vector<Statement>& body, std::vector<std::string>& names) {
    for (const Statement& statement : body) {
        const Expression& call = statement.value;
        if (call.kind == Kind::Call && call.parts.size() > 1 && call.parts[0].kind == Kind::Attribute && call.parts[0].text == "append" &&
            call.parts[1].kind == Kind::Name) {
            addOnce(names, call.parts[1].text);
        }
        appendedNames(statement.body, names);
        appendedNames(statement.orElse, names);
    }
}

bool sameVar(const Var& a, const Var& b) {
    if (a.isProxy() || b.isProxy()) return a.isProxy() && b.isProxy() && a.node() == b.node();
    if (a.kind() != Var::Kind::Value || b.kind() != Var::Kind::Value) return false;
    if (a.slot() || b.slot()) return a.slot() == b.slot();
    return !a.value().isTensor() && !b.value().isTensor() && tensor::identical(a.value(), b.value());
}

/// Joins what the two branches of an If left behind.
class Join {
  public:
    Join(Tracer& tracer, graph::ExprId owner) : m_tracer(tracer), m_owner(owner) {}

    ScriptValue values(const ScriptValue& a, const ScriptValue& b) {
        if (isUninitialized(a) && isUninitialized(b)) return a;
        if (isUninitialized(a) && b.plain() && b.plain()->kind() == Var::Kind::Value) return b;
        if (isUninitialized(b) && a.plain() && a.plain()->kind() == Var::Kind::Value) return a;
        if (a.plain() && b.plain() && sameVar(*a.plain(), *b.plain())) return a;
        if (a.cell() && b.cell() && (a.cell() == b.cell() || sameVar(a.cell()->var, b.cell()->var))) return a;
        if (a.list() && a.list() == b.list()) return a;
        if (a.dict() && a.dict() == b.dict()) return a;
        if (a.tuple() && b.tuple() && a.tuple()->items.size() == b.tuple()->items.size()) {
            return makeTuple(items(a.tuple()->items, b.tuple()->items), a.tuple()->type);
        }
        if (a.list() && b.list() && !a.isSymbolicList() && !b.isSymbolicList() && a.list()->items.size() == b.list()->items.size()) {
            return makeList(items(a.list()->items, b.list()->items));
        }
        if (a.dict() && b.dict() && sameKeys(*a.dict(), *b.dict())) {
            auto joined = std::make_shared<DictValue>();
            for (std::size_t i = 0; i < a.dict()->items.size(); ++i) {
                joined->items.emplace_back(a.dict()->items[i].first, values(a.dict()->items[i].second, b.dict()->items[i].second));
            }
            return joined;
        }
        if (const auto* module = a.as<std::shared_ptr<ScriptModule>>(); module && b.as<std::shared_ptr<ScriptModule>>() &&
                                                                        *module == *b.as<std::shared_ptr<ScriptModule>>()) {
            return a;
        }
        return output(a, b);
    }

    void finish() {
        if (m_results[0].empty()) {
            m_tracer.abandon(m_owner);
            return;
        }
        for (std::size_t i = 0; i < 2; ++i) m_tracer.setBodyResults(m_owner, i, m_results[i]);
    }

  private:
    std::vector<ScriptValue> items(const std::vector<ScriptValue>& a, const std::vector<ScriptValue>& b) {
        std::vector<ScriptValue> joined;
        for (std::size_t i = 0; i < a.size(); ++i) joined.push_back(values(a[i], b[i]));
        return joined;
    }

    static bool sameKeys(const DictValue& a, const DictValue& b) {
        if (a.items.size() != b.items.size()) return false;
        for (std::size_t i = 0; i < a.items.size(); ++i) {
            if (!equalValues(a.items[i].first, b.items[i].first)) return false;
        }
        return true;
    }

    /// One more result of each branch and one more output. Reading may still record something inside of the branch.
    ScriptValue output(const ScriptValue& a, const ScriptValue& b) {
        const std::array<const ScriptValue*, 2> both{&a, &b};
        for (std::size_t i = 0; i < 2; ++i) {
            m_tracer.resumeBody(m_owner, i);
            Var result = isUninitialized(*both[i]) ? Var() : toVar(*both[i]);
            m_tracer.leaveBody();
            m_results[i].push_back(std::move(result));
        }
        const auto mayBeTensor = [](const ScriptValue& value) { return value.cell() || isUninitialized(value); };
        const bool isTensor = mayBeTensor(a) && mayBeTensor(b);
        const Var joined = m_tracer.controlOutput(m_owner, m_results[0].size() - 1, isTensor);
        if (isTensor) return makeCell(joined);
        if (!a.list() && !b.list()) return joined;
        auto list = std::make_shared<ListValue>();
        list->symbolic = joined;
        for (const ScriptValue* value : both) {
            const ListValue* part = value->list();
            list->ofTensors = list->ofTensors || (part && (part->ofTensors || (!part->items.empty() && part->items.front().cell())));
        }
        return list;
    }

    Tracer& m_tracer;
    graph::ExprId m_owner;
    std::array<std::vector<Var>, 2> m_results;
};

/// What changed in place in either branch changes behind the If, too.
class JoinedChanges {
  public:
    JoinedChanges(Join& join, const std::array<Region::Changes, 2>& changes) : m_join(join), m_changes(changes) {}

    void run() {
        for (std::size_t i = 0; i < 2; ++i) {
            for (const Region::Cell& entry : m_changes[i].cells) cell(entry.cell);
            for (const Region::List& entry : m_changes[i].lists) list(entry.list);
            for (const Region::Dict& entry : m_changes[i].dicts) dict(entry.dict);
        }
    }

  private:
    template <typename Entry, typename Member, typename Object>
    static const Entry* find(const std::vector<Entry>& entries, Member member, const Object& object) {
        const auto found = std::ranges::find(entries, object, member);
        return found == entries.end() ? nullptr : &*found;
    }

    void cell(const std::shared_ptr<TensorCell>& changed) {
        if (!m_done.insert(changed.get()).second) return;
        std::array<Var, 2> vars;
        for (std::size_t i = 0; i < 2; ++i) {
            const Region::Cell* entry = find(m_changes[i].cells, &Region::Cell::cell, changed);
            vars[i] = entry ? entry->var : changed->var;
        }
        const ScriptValue joined = m_join.values(makeCell(vars[0]), makeCell(vars[1]));
        Region::noteChange(*changed);
        changed->var = joined.cell()->var;
        changed->chain = nullptr;
        ++changed->version;
    }

    void list(const std::shared_ptr<ListValue>& changed) {
        if (!m_done.insert(changed.get()).second) return;
        std::array<ScriptValue, 2> values;
        for (std::size_t i = 0; i < 2; ++i) {
            const Region::List* entry = find(m_changes[i].lists, &Region::List::list, changed);
            auto state = std::make_shared<ListValue>();
            state->items = entry ? entry->items : changed->items;
            state->symbolic = entry ? entry->symbolic : changed->symbolic;
            state->ofTensors = entry ? entry->ofTensors : changed->ofTensors;
            values[i] = state;
        }
        const ScriptValue joined = m_join.values(values[0], values[1]);
        Region::noteChange(changed);
        changed->items = joined.list()->items;
        changed->symbolic = joined.list()->symbolic;
        changed->ofTensors = joined.list()->ofTensors;
    }

    void dict(const std::shared_ptr<DictValue>& changed) {
        if (!m_done.insert(changed.get()).second) return;
        std::array<ScriptValue, 2> values;
        for (std::size_t i = 0; i < 2; ++i) {
            const Region::Dict* entry = find(m_changes[i].dicts, &Region::Dict::dict, changed);
            auto state = std::make_shared<DictValue>();
            state->items = entry ? entry->items : changed->items;
            values[i] = state;
        }
        const ScriptValue joined = m_join.values(values[0], values[1]);
        if (!joined.dict()) refuse("the branches put different keys into a dict");
        Region::noteChange(changed);
        changed->items = joined.dict()->items;
    }

    Join& m_join;
    const std::array<Region::Changes, 2>& m_changes;
    std::set<const void*> m_done;
};

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
            if (!current || current->size() != parts->size()) refuse("a variable of a loop changes its structure from pass to pass");
            for (std::size_t i = 0; i < parts->size(); ++i) collect((*parts)[i], (*current)[i], into);
        } else if (like.dict()) {
            if (!now.dict() || now.dict()->items.size() != like.dict()->items.size()) refuse("a dict of a loop changes its keys from pass to pass");
            for (std::size_t i = 0; i < like.dict()->items.size(); ++i) collect(like.dict()->items[i].second, now.dict()->items[i].second, into);
        } else if (isLeaf(like)) {
            into.push_back(isUninitialized(now) ? Var() : toVar(now));
        } else if (!(like.plain() && now.plain() && sameVar(*like.plain(), *now.plain())) && like.data.index() == now.data.index()) {
            refuse("a variable of a loop that is " + typeName(like) + " changes from pass to pass");
        } else if (like.data.index() != now.data.index()) {
            refuse("a variable of a loop is " + typeName(like) + " first and " + typeName(now) + " later");
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

/// A list that a loop appends to goes around as one value; afterwards it is again what it was.
class GrownList {
  public:
    GrownList(std::shared_ptr<ListValue> list, std::size_t leaf) : list(std::move(list)), leaf(leaf) {}
    ~GrownList() { restore(); }
    GrownList(GrownList&& other) = default;
    GrownList& operator=(GrownList&&) = delete;

    void begin(const Var& input) {
        m_before = std::make_unique<ListValue>(*list);
        list->ofTensors = list->ofTensors || (!list->items.empty() && list->items.front().cell());
        list->items.clear();
        list->node = {};
        list->symbolic = input;
    }
    void restore() {
        if (!m_before) return;
        m_before->ofTensors = list->ofTensors;
        *list = std::move(*m_before);
        m_before.reset();
    }

    std::shared_ptr<ListValue> list;
    std::size_t leaf;

  private:
    std::unique_ptr<ListValue> m_before;
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

}  // namespace

Interpreter::Flow Interpreter::recordIf(const Statement& statement, const ScriptValue& condition, Environment& env, ScriptValue& result) {
    Tracer& tracer = *Tracer::active();
    const graph::ExprId owner = tracer.beginControl("If", {toVar(condition)});
    std::array<Environment, 2> envs{env, env};
    std::array<ScriptValue, 2> results;
    std::array<Flow, 2> flows{};
    std::array<Region::Changes, 2> changes;
    for (std::size_t i = 0; i < 2; ++i) {
        tracer.enterBody(owner, i == 0 ? "then" : "else");
        Region region(Region::Kind::Branch);
        flows[i] = run(i == 0 ? statement.body : statement.orElse, envs[i], results[i]);
        tracer.leaveBody();
        changes[i] = region.takeBack();
    }
    if (flows[0] != flows[1]) refuse("one branch returns, the other one goes on");

    Join join(tracer, owner);
    if (flows[0] == Flow::Return) {
        result = join.values(results[0], results[1]);
    } else {
        std::vector<std::string> names;
        assignedNames(statement.body, names);
        assignedNames(statement.orElse, names);
        for (const std::string& name : names) {
            const auto a = envs[0].find(name);
            const auto b = envs[1].find(name);
            if (a != envs[0].end() && b != envs[1].end()) env[name] = join.values(a->second, b->second);
        }
    }
    JoinedChanges(join, changes).run();
    join.finish();
    return flows[0];
}

void Interpreter::recordLoop(const Statement& statement, const Var& trips, const Var& condition, Environment& env) {
    Tracer& tracer = *Tracer::active();
    std::vector<std::string> assigned;
    assignedNames(statement.body, assigned);
    std::vector<std::string> appended;
    appendedNames(statement.body, appended);
    std::vector<std::string> names;
    Carried carried;
    for (const std::string& name : assigned) {
        if (!env.contains(name)) continue;
        names.push_back(name);
        carried.add(name, env[name]);
    }
    std::vector<GrownList> grown;
    for (const std::string& name : appended) {
        const auto found = env.find(name);
        const auto* list = found == env.end() ? nullptr : found->second.as<std::shared_ptr<ListValue>>();
        if (!list || std::ranges::find(names, name) != names.end() || std::ranges::find(grown, *list, &GrownList::list) != grown.end()) continue;
        grown.emplace_back(*list, carried.leaves.size());
        carried.leaves.push_back({toVar(found->second), false, name});
    }

    std::vector<Var> arguments{trips, condition};
    for (const Carried::Leaf& leaf : carried.leaves) arguments.push_back(leaf.initial);
    const graph::ExprId owner = tracer.beginControl("Loop", arguments);
    tracer.enterBody(owner, "body");
    Environment inner = env;
    const Var index = tracer.bodyInput("i", kindOnly(ValueKind::Int), false);
    tracer.bodyInput("condition", kindOnly(ValueKind::Bool), false);
    std::vector<Var> inputs;
    for (const Carried::Leaf& leaf : carried.leaves) inputs.push_back(tracer.bodyInput(leaf.name, plainType(leaf.initial), leaf.isTensor));

    std::vector<Var> results;
    {
        Region region(Region::Kind::Loop);
        std::size_t next = 0;
        for (const std::string& name : names) inner[name] = Carried::rebuilt(env[name], inputs, next);
        for (GrownList& entry : grown) {
            region.allow(*entry.list);
            entry.begin(inputs[entry.leaf]);
        }
        if (statement.kind == Statement::Kind::For) assign(statement.targets.front(), index, inner);
        ScriptValue returned;
        if (run(statement.body, inner, returned) == Flow::Return) refuse("a loop returns");
        results.push_back(statement.kind == Statement::Kind::While ? toVar(evaluate(statement.value, inner)) : Var(true));
        for (const std::string& name : names) Carried::collect(env[name], inner[name], results);
        for (GrownList& entry : grown) {
            results.push_back(toVar(entry.list));
            entry.restore();
        }
    }
    tracer.leaveBody();
    if (carried.leaves.empty()) {
        tracer.abandon(owner);
        return;
    }
    std::vector<Var> outputs;
    for (std::size_t i = 0; i < carried.leaves.size(); ++i) outputs.push_back(tracer.controlOutput(owner, i, carried.leaves[i].isTensor));
    tracer.setBodyResults(owner, 0, results);
    std::size_t next = 0;
    for (const std::string& name : names) env[name] = Carried::rebuilt(env[name], outputs, next);
    for (const GrownList& entry : grown) {
        Region::noteChange(entry.list);
        entry.list->items.clear();
        entry.list->symbolic = outputs[entry.leaf];
    }
}

}  // namespace sonde::io::script
