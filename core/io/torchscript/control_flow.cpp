// Branches on values that only a run knows: recorded as prim::If with two bodies.

#include "core/io/torchscript/control_flow.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/node_memory.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/views.h"
#include "core/trace/control_recorder.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using trace::ControlRecorder;
using trace::TraceError;
using trace::TraceErrorKind;
using Kind = Expression::Kind;

void refuseFlow(const std::string& text) { throw TraceError(TraceErrorKind::ControlFlow, text); }

bool sameVar(const Var& a, const Var& b) {
    if (a.isProxy() || b.isProxy()) return a.isProxy() && b.isProxy() && a.node() == b.node();
    if (a.kind() != Var::Kind::Value || b.kind() != Var::Kind::Value) return false;
    if (a.slot() || b.slot()) return a.slot() == b.slot();
    return !a.value().isTensor() && !b.value().isTensor() && tensor::identical(a.value(), b.value());
}

namespace {

void collectAssigned(const std::vector<Statement>& body, std::vector<std::string>& names) {
    for (const Statement& statement : body) {
        for (const Expression& target : statement.targets) {
            if (target.kind == Kind::Name && std::ranges::find(names, target.text) == names.end())
                names.push_back(target.text);
        }
        collectAssigned(statement.body, names);
        collectAssigned(statement.orElse, names);
    }
}

/// Bounded: objects may hold each other.
void settle(const ScriptValue& value, int depth) {
    if (depth > 20) return;
    if (value.cell()) takeUp(*value.cell());
    if (value.list()) {
        for (const ScriptValue& item : value.list()->items) settle(item, depth + 1);
    } else if (value.tuple()) {
        for (const ScriptValue& item : value.tuple()->items) settle(item, depth + 1);
    } else if (value.dict()) {
        for (const auto& [key, item] : value.dict()->items) settle(item, depth + 1);
    } else if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) {
        for (const auto& [name, item] : (*instance)->attributes) settle(item, depth + 1);
    }
}

}  // namespace

std::vector<std::string> assignedNames(const std::vector<Statement>& body) {
    std::vector<std::string> names;
    collectAssigned(body, names);
    return names;
}

void settleAll(const std::unordered_map<std::string, ScriptValue>& variables) {
    std::vector<std::string> names;  // in an order that is the same each time
    for (const auto& [name, value] : variables) names.push_back(name);
    std::ranges::sort(names);
    for (const std::string& name : names) settle(variables.at(name), 0);
}

namespace {

/// Joins what the two branches of an If left behind.
class Join {
  public:
    Join(ControlRecorder& control, graph::ExprId owner, std::array<Region::Changes, 2>& changes)
        : m_control(control), m_owner(owner), m_changes(changes) {}

    ScriptValue values(const ScriptValue& a, const ScriptValue& b) {
        checkNesting();
        if (isUninitialized(a) && isUninitialized(b)) return a;
        if (isUninitialized(a) && b.plain() && b.plain()->kind() == Var::Kind::Value) return b;
        if (isUninitialized(b) && a.plain() && a.plain()->kind() == Var::Kind::Value) return a;
        if (a.plain() && b.plain() && sameVar(*a.plain(), *b.plain())) return a;
        if (a.cell() && b.cell() && (a.cell() == b.cell() || isSameTensor(*a.cell(), *b.cell()))) return a;
        if (a.list() && a.list() == b.list()) return a;
        if (a.dict() && a.dict() == b.dict()) return a;
        if (a.tuple() && b.tuple() && a.tuple()->items.size() == b.tuple()->items.size()) {
            return makeTuple(items(a.tuple()->items, b.tuple()->items), a.tuple()->type);
        }
        if (a.list() && b.list() && !a.isSymbolicList() && !b.isSymbolicList() &&
            a.list()->items.size() == b.list()->items.size()) {
            return makeList(items(a.list()->items, b.list()->items));
        }
        if (a.dict() && b.dict() && sameKeys(*a.dict(), *b.dict())) {
            auto joined = std::make_shared<DictValue>();
            for (std::size_t i = 0; i < a.dict()->items.size(); ++i) {
                joined->items.emplace_back(a.dict()->items[i].first,
                                           values(a.dict()->items[i].second, b.dict()->items[i].second));
            }
            return joined;
        }
        const auto* first = a.as<std::shared_ptr<InstanceValue>>();
        const auto* second = b.as<std::shared_ptr<InstanceValue>>();
        if (first && second && (*first == *second || (*first)->typeName == (*second)->typeName))
            return instances(*first, *second);
        if (const auto* module = a.as<std::shared_ptr<ScriptModule>>();
            module && b.as<std::shared_ptr<ScriptModule>>() && *module == *b.as<std::shared_ptr<ScriptModule>>()) {
            return a;
        }
        return output(a, b);
    }

    /// What a tensor that both branches may have written holds after them.
    Var joined(const Var& a, const Var& b) { return sameVar(a, b) ? a : output(makeCell(a), makeCell(b)).cell()->var; }

    std::map<std::string, ScriptValue> attributes(const std::map<std::string, ScriptValue>& a,
                                                  const std::map<std::string, ScriptValue>& b) {
        std::map<std::string, ScriptValue> joined;
        for (const auto& [name, value] : a) {
            if (const auto other = b.find(name); other != b.end()) joined[name] = values(value, other->second);
        }
        return joined;
    }

    void finish() {
        if (m_results[0].empty()) {
            m_control.abandon(m_owner);
            return;
        }
        for (std::size_t i = 0; i < 2; ++i) m_control.setResults(m_owner, i, m_results[i]);
        // Now that everything has the version that it has behind the branches.
        for (const auto& [made, roots] : m_made) mayShare(*made, roots);
    }

  private:
    std::vector<ScriptValue> items(const std::vector<ScriptValue>& a, const std::vector<ScriptValue>& b) {
        std::vector<ScriptValue> joined;
        for (std::size_t i = 0; i < a.size(); ++i) joined.push_back(values(a[i], b[i]));
        return joined;
    }

    ScriptValue instances(const std::shared_ptr<InstanceValue>& a, const std::shared_ptr<InstanceValue>& b) {
        if (a == b) return a;
        return std::make_shared<InstanceValue>(
            InstanceValue{a->typeName, a->type, attributes(a->attributes, b->attributes)});
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
            m_control.resumeBody(m_owner, i);
            Var result;
            {
                const Region::Again state(m_changes[i]);
                const Region reading;
                if (!isUninitialized(*both[i])) result = toVar(*both[i]);
            }
            m_control.leaveBody();
            m_results[i].push_back(std::move(result));
        }
        const auto mayBeTensor = [](const ScriptValue& value) { return value.cell() || isUninitialized(value); };
        const bool isTensor = mayBeTensor(a) && mayBeTensor(b);
        const Var joined = m_control.output(m_owner, m_results[0].size() - 1, isTensor);
        std::vector<CellPtr> roots = rootsIn(a);
        std::ranges::copy(rootsIn(b), std::back_inserter(roots));
        noteOtherName(a);
        noteOtherName(b);
        if (!isTensor && !a.list() && !b.list()) {
            // A tensor or None: what the one shows is written through the other.
            if (!roots.empty()) m_made.emplace_back(tensorOf(joined), std::move(roots));
            return joined;
        }
        bool ofTensors = false;
        for (const ScriptValue* value : both) {
            const ListValue* part = value->list();
            ofTensors =
                ofTensors || (part && (part->ofTensors || (!part->items.empty() && part->items.front().cell())));
        }
        ScriptValue made = isTensor ? makeCell(joined) : makeSymbolicList(joined, ofTensors, {});
        if (isTensor) made.cell()->repeats = mayRepeatElements(a) || mayRepeatElements(b);
        m_made.emplace_back(isTensor ? *made.as<CellPtr>() : made.list()->memory, std::move(roots));
        return made;
    }

    /// The same part of the same memory.
    static bool isSameTensor(TensorCell& a, TensorCell& b) {
        const bool isSameSlot = a.slot && a.slot == b.slot;
        return sameVar(shown(a).var, shown(b).var) && (isSameSlot || &rootOf(a) == &rootOf(b));
    }

    ControlRecorder& m_control;
    graph::ExprId m_owner;
    std::array<Region::Changes, 2>& m_changes;  ///< what the branches did to what is older than they are
    std::array<std::vector<Var>, 2> m_results;
    std::vector<std::pair<CellPtr, std::vector<CellPtr>>> m_made;  ///< what one of two tensors became, and their roots
};

/// What changed in place in either branch changes after the If, too.
class JoinedChanges {
  public:
    JoinedChanges(Join& join, const std::array<Region::Changes, 2>& changes) : m_join(join), m_changes(changes) {}

    void run() {
        for (std::size_t i = 0; i < 2; ++i) {
            for (const Region::Cell& entry : m_changes[i].cells) {
                if (entry.isWritten) cell(entry.cell);
            }
            for (const Region::List& entry : m_changes[i].lists) list(entry.list);
            for (const Region::Dict& entry : m_changes[i].dicts) dict(entry.dict);
            for (const Region::Instance& entry : m_changes[i].instances) instance(entry.instance);
        }
        for (const CellPtr& cell : m_written) agreeWithSharers(*cell);
    }

  private:
    template <typename Entry, typename Member, typename Object>
    static const Entry* find(const std::vector<Entry>& entries, Member member, const Object& object) {
        const auto found = std::ranges::find(entries, object, member);
        return found == entries.end() ? nullptr : &*found;
    }

    void cell(const std::shared_ptr<TensorCell>& changed) {
        if (!m_done.insert(changed.get()).second) return;
        std::array<const TensorState*, 2> states;
        bool isLost = changed->isLost;
        for (std::size_t i = 0; i < 2; ++i) {
            const Region::Cell* entry = find(m_changes[i].cells, &Region::Cell::cell, changed);
            states[i] = entry ? &entry->state : changed.get();
            isLost = isLost || states[i]->isLost || states[i]->pending;
            if (states[i]->form != changed->form)
                refuseFlow(
                    "the shape of a tensor is changed in place inside a branch, where other users of the tensor would see it");
        }
        Region::noteChange(*changed);
        for (const TensorState* state : states) {
            if (!state->lastWrite.isNone()) changed->lastWrite = state->lastWrite;
            if (!state->lostTo.empty()) changed->lostTo = state->lostTo;
        }
        changed->chain = nullptr;
        changed->pending = nullptr;
        if (isLost) {
            lose(*changed, changed->lastWrite, changed->lostTo);
            return;
        }
        changed->var = m_join.joined(states[0]->var, states[1]->var);
        changed->version = nextVersion();
        m_written.push_back(changed);
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
            state->memory = entry ? entry->memory : changed->memory;
            values[i] = state;
        }
        const ScriptValue joined = m_join.values(values[0], values[1]);
        Region::noteChange(changed);
        changed->items = joined.list()->items;
        changed->symbolic = joined.list()->symbolic;
        changed->ofTensors = joined.list()->ofTensors;
        changed->memory = joined.list()->memory;
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
        if (!joined.dict()) refuseFlow("the branches put different keys into a dict");
        Region::noteChange(changed);
        changed->items = joined.dict()->items;
    }

    void instance(const std::shared_ptr<InstanceValue>& changed) {
        if (!m_done.insert(changed.get()).second) return;
        std::array<std::map<std::string, ScriptValue>, 2> states;
        for (std::size_t i = 0; i < 2; ++i) {
            const Region::Instance* entry = find(m_changes[i].instances, &Region::Instance::instance, changed);
            states[i] = entry ? entry->attributes : changed->attributes;
        }
        Region::noteChange(changed);
        changed->attributes = m_join.attributes(states[0], states[1]);
    }

    Join& m_join;
    const std::array<Region::Changes, 2>& m_changes;
    std::set<const void*> m_done;
    std::vector<CellPtr> m_written;
};

}  // namespace

/// Whether gradients are wanted changes no value, nor does what measures.
void Interpreter::enter(const Statement& statement, Environment& env) {
    static constexpr std::string_view kHarmless[] = {
        "torch.autograd.grad_mode.no_grad", "torch.autograd.grad_mode.enable_grad",
        "torch.autograd.grad_mode.inference_mode", "torch.autograd.grad_mode.set_grad_enabled",
        "torch.autograd.profiler.record_function"};
    const std::string type = typeName(evaluate(statement.value, env));
    const std::string name = type.starts_with("__torch__.") ? type.substr(10) : type;
    if (std::ranges::find(kHarmless, name) == std::end(kHarmless))
        fail(
            TraceErrorKind::Runtime,
            "'with' is known for torch.no_grad, torch.enable_grad, torch.inference_mode and record_function, not for " +
                name);
    for (const Expression& target : statement.targets) assign(target, Var(), env);
}

Interpreter::Flow Interpreter::recordIf(const Statement& statement, const ScriptValue& condition, Environment& env,
                                        ScriptValue& result) {
    ControlRecorder control(trace::Tracer::active()->recorder());
    // What the branches start from is the same for both: nothing is left to be taken up in one of them.
    settleAll(env);
    const graph::ExprId owner = control.begin("If", {toVar(condition)});
    std::array<Environment, 2> envs{env, env};
    std::array<ScriptValue, 2> results;
    std::array<Flow, 2> flows{};
    std::array<Region::Changes, 2> changes;
    for (std::size_t i = 0; i < 2; ++i) {
        control.enterBody(owner, i == 0 ? "then" : "else");
        Region region;
        flows[i] = run(i == 0 ? statement.body : statement.orElse, envs[i], results[i]);
        region.settle();
        control.leaveBody();
        changes[i] = region.takeBack();
    }
    if (flows[0] != flows[1]) refuseFlow("one branch returns and the other one does not");

    Join join(control, owner, changes);
    if (flows[0] == Flow::Return) {
        result = join.values(results[0], results[1]);
    } else {
        std::vector<std::string> names;
        for (const std::vector<Statement>* block : {&statement.body, &statement.orElse}) {
            for (const std::string& name : assignedNames(*block)) {
                if (std::ranges::find(names, name) == names.end()) names.push_back(name);
            }
        }
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

}  // namespace sonde::io::script
