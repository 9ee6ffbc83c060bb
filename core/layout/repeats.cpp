// The part of Outline that finds equal blocks.

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "core/layout/lockstep.h"
#include "core/layout/outline.h"

namespace sonde::layout {

using graph::Argument;
using graph::Expr;
using graph::ExprKind;

namespace {

using Kind = Outline::Kind;

/// What a group is, as numbers: two groups are equal if these are. Values are numbered as they appear, so that names and
/// ids do not count.
class Signature {
  public:
    explicit Signature(const Outline& outline) : m_outline(outline), m_graph(outline.graph()) {}

    std::vector<std::uint64_t> of(GroupId top) {
        m_tokens.clear();
        m_inside.clear();
        m_outside.clear();
        struct Step {
            GroupId group;
            bool leaving;
        };
        std::vector<Step> stack{{top, false}};  // not recursion: groups nest as deep as the file says
        while (!stack.empty()) {
            const Step step = stack.back();
            stack.pop_back();
            if (step.leaving) {
                m_tokens.push_back(1);
                continue;
            }
            const Outline::Group& group = m_outline.group(step.group);
            m_tokens.push_back(2 + static_cast<std::uint64_t>(group.kind));
            if (group.kind == Kind::Module) add(m_graph.scope(group.scope).moduleClass);
            // The body of a call is labelled with the module's own path.
            if (group.kind == Kind::Body && !isCallBody(group.body)) add(m_graph.body(group.body).label);
            stack.push_back({step.group, true});
            // Exprs now, groups in their place on the stack: members are pushed backwards.
            for (auto it = group.members.rbegin(); it != group.members.rend(); ++it)
                if (it->group.valid()) stack.push_back({it->group, false});
            for (const Outline::Member& member : group.members) {
                m_tokens.push_back(member.group.valid() ? 6 : 7);
                if (member.expr.valid()) addExpr(m_graph.expr(member.expr));
            }
        }
        // Wiring last, when everything inside has its number.
        for (const NodeId node : m_read) m_tokens.push_back(number(node));
        m_read.clear();
        return std::move(m_tokens);
    }

  private:
    bool isCallBody(BodyId body) const {
        const ExprId owner = m_graph.body(body).owner;
        return owner.valid() && Outline::isCall(m_graph.expr(owner));
    }

    void add(std::string_view text) { m_tokens.push_back(std::hash<std::string_view>{}(text)); }

    void addExpr(const Expr& expr) {
        m_tokens.push_back(8 + static_cast<std::uint64_t>(expr.kind));
        add(expr.op.domain);
        add(expr.op.name);
        m_tokens.push_back(static_cast<std::uint64_t>(expr.op.version));
        if (expr.kind == ExprKind::CallFunction || expr.kind == ExprKind::CallMethod || expr.kind == ExprKind::Apply) add(expr.target);
        for (const tensor::Attribute& attribute : expr.attributes.items()) {
            add(attribute.name);
            add(tensor::text(attribute.value, 400));
        }
        for (const Argument& argument : expr.arguments) addArgument(argument);
        for (const auto& [name, argument] : expr.keywords) {
            add(name);
            addArgument(argument);
        }
        m_tokens.push_back(expr.outputs.size());
        for (const NodeId output : expr.outputs) {
            const graph::Node& node = m_graph.node(output);
            add(node.type.text());
            // Weights differ, numbers that steer the computation do not.
            if (node.constant && !expr.isParameter) add(node.constant->text(200));
            m_inside.emplace(output, m_inside.size());
        }
    }

    void addArgument(const Argument& argument) {
        m_tokens.push_back(32 + static_cast<std::uint64_t>(argument.kind));
        if (argument.kind == Argument::Kind::Node) m_read.push_back(argument.node);
        if (argument.kind == Argument::Kind::Constant) add(argument.constant.text(200));
        m_tokens.push_back(argument.items.size());
        for (const Argument& item : argument.items) addArgument(item);
        for (const tensor::Value& key : argument.keys) add(key.text(200));
    }

    std::uint64_t number(NodeId node) {
        if (const auto found = m_inside.find(node); found != m_inside.end()) return 2 * found->second;
        const auto [found, isNew] = m_outside.emplace(node, m_outside.size());
        if (isNew) add(m_graph.node(node).type.text());
        return 2 * found->second + 1;
    }

    const Outline& m_outline;
    const InternalGraph& m_graph;
    std::vector<std::uint64_t> m_tokens;
    std::vector<NodeId> m_read;
    std::unordered_map<NodeId, std::uint64_t> m_inside, m_outside;
};

/// Cheap to ask: whether two groups could be equal.
bool alike(const Outline& outline, GroupId a, GroupId b) {
    const Outline::Group &x = outline.group(a), &y = outline.group(b);
    return x.exprs == y.exprs && x.constants == y.constants && x.members.size() == y.members.size() &&
           outline.graph().scope(x.scope).moduleClass == outline.graph().scope(y.scope).moduleClass;
}

/// Whether anything in `second` reads what something in `first` makes.
bool follows(const Outline& outline, GroupId first, GroupId second) {
    const InternalGraph& graph = outline.graph();
    bool reads = false;
    forEachExpr(outline, second, [&](ExprId id) {
        if (reads) return;
        for (const NodeId input : graph.expr(id).inputs) {
            GroupId at = outline.groupOf(graph.node(input).producer);
            while (at.valid() && outline.group(at).depth > outline.group(first).depth) at = outline.group(at).parent;
            // A call's body counts no depth of its own.
            while (at.valid() && at != first && outline.group(at).kind != Kind::Module) at = outline.group(at).parent;
            if (at == first) reads = true;
        }
    });
    return reads;
}

}  // namespace

void Outline::findRuns() {
    m_runOfGroup.assign(m_groups.size(), kNoRun);
    m_instanceOfGroup.assign(m_groups.size(), 0);
    Signature signature(*this);
    for (std::size_t i = 0; i < m_groups.size(); ++i) {
        GroupId last;
        std::vector<std::uint64_t> lastSignature;
        std::vector<GroupId> run;
        const auto close = [&] {
            if (run.size() > 1) {
                for (std::size_t k = 0; k < run.size(); ++k) {
                    m_runOfGroup[run[k].index()] = static_cast<std::uint32_t>(m_runs.size());
                    m_instanceOfGroup[run[k].index()] = static_cast<std::uint32_t>(k);
                }
                m_runs.push_back({GroupId(i), run});
            }
            run.clear();
            last = {};
            lastSignature.clear();
        };
        for (const Member& member : m_groups[i].members) {
            if (member.expr.valid() && isConstant(m_graph->expr(member.expr))) continue;
            const bool module = member.group.valid() && group(member.group).kind == Kind::Module;
            if (module && group(member.group).exprs == group(member.group).constants) continue;
            if (!module || group(member.group).exprs - group(member.group).constants < 2) {
                close();
                continue;
            }
            bool same = last.valid() && alike(*this, last, member.group);
            std::vector<std::uint64_t> now;
            if (same) {
                if (lastSignature.empty()) lastSignature = signature.of(last);
                now = signature.of(member.group);
                same = now == lastSignature && follows(*this, last, member.group);
            }
            if (!same) {
                close();
                run.clear();
            }
            run.push_back(member.group);
            last = member.group;
            lastSignature = std::move(now);
        }
        close();
    }
}

std::vector<NodeId> Outline::counterparts(NodeId node) const {
    std::vector<NodeId> found;
    const ExprId made = m_graph->node(node).producer;
    GroupId at = groupOf(made);
    while (at.valid() && runOf(at) == kNoRun) at = group(at).parent;
    if (!at.valid()) return found;
    for (const GroupId other : m_runs[runOf(at)].instances) {
        NodeId same;
        forEachPair(*this, at, other, [&](const Member& mine, const Member& theirs) {
            if (mine.expr == made && mine.expr.valid()) same = m_graph->expr(theirs.expr).outputs[m_graph->node(node).outputIndex];
        });
        if (same.valid()) found.push_back(same);
    }
    return found;
}

}  // namespace sonde::layout
