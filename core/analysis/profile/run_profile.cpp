#include "core/analysis/profile/run_profile.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/analysis/parameters.h"
#include "core/exec/run_trace.h"

namespace sonde::analysis {

using exec::RunTrace;
using graph::ExprId;
using graph::ScopeId;

namespace {

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<double> rate(const std::optional<double>& amount, std::int64_t ns) {
    return amount && ns > 0 ? std::optional(*amount * 1e9 / static_cast<double>(ns)) : std::nullopt;
}

MeasuredCost measured(const ExprCost& cost) {
    if (cost.part != CostPart::Counted && cost.part != CostPart::Owner) return {};
    const auto number = [](const tensor::SymbolicSum& sum) -> std::optional<double> {
        const auto constant = sum.constant();
        return constant ? std::optional(static_cast<double>(*constant)) : std::nullopt;
    };
    MeasuredCost measured;
    if (cost.sum.hasFlops()) measured.flops = number(cost.sum.flops);
    if (cost.sum.hasBytes()) measured.bytes = sum(number(cost.sum.bytesRead), number(cost.sum.bytesWritten));
    return measured;
}

std::string millisecondsText(std::int64_t ns) { return std::to_string((ns + 500'000) / 1'000'000) + " ms"; }

class ProfileMaker {
  public:
    ProfileMaker(const ProfileSource& source, const RunTrace& trace, MemoryProfile memory,
                 const exec::Recording& recording)
        : m_graph(*source.graph), m_trace(trace), m_recording(recording) {
        m_profile.memory = std::move(memory);
        m_profile.model = source.model;
        m_profile.graph = source.graph;
        m_profile.tree = source.tree;
        m_profile.threads = source.threads;
        m_profile.isFused = source.isFused;
        m_profile.growthBytes = source.growthBytes;
    }

    RunProfile make() {
        m_profile.totalNs = m_trace.endNs() - m_trace.beginNs();
        const ModelCost cost = costOfModel(m_graph, *m_profile.tree, &m_trace.bodyRuns());
        for (const ExprId id : m_graph.recursiveOrder(m_graph.mainId())) addExpr(id, cost);
        setRows();
        for (const ProfiledExpr& entry : m_profile.exprs) giveToDoer(entry);
        std::ranges::stable_sort(m_profile.exprs, {}, &ProfiledExpr::startNs);
        setRows();
        sumModules();
        m_profile.betweenNs = m_profile.totalNs;
        for (const ProfiledExpr& entry : m_profile.exprs) m_profile.betweenNs -= entry.selfNs;
        addSpans();
        for (const auto& work : std::exchange(m_profile.memory.work, {}))
            m_profile.work.push_back({work.thread, sinceStart(work.beginNs), sinceStart(work.endNs)});
        m_profile.missingWork = m_profile.memory.missingWork;
        m_profile.missingSteps = m_trace.stepCount() - m_trace.steps().size();
        addNotes(cost);
        return std::move(m_profile);
    }

  private:
    std::int64_t sinceStart(std::int64_t ns) const { return ns - m_trace.beginNs(); }

    void addExpr(ExprId id, const ModelCost& cost) {
        const RunTrace::Sum& sums = m_trace.sums()[id.index()];
        const ExprId doneWith = m_recording.doneWith(m_graph, id);
        const bool isDone = m_recording.state(id) != exec::ExprState::NotReached;
        if (sums.count == 0 && !(doneWith.valid() && isDone)) return;
        const graph::Expr& expr = m_graph.expr(id);
        if (expr.kind == graph::ExprKind::Output) return;
        ProfiledExpr entry;
        entry.expr = id;
        entry.module = m_profile.tree->find(expr.qualname.value_or("")).value_or(0);
        entry.count = sums.count;
        entry.totalNs = sums.totalNs;
        entry.selfNs = sums.selfNs;
        entry.startNs = sums.count > 0 ? sinceStart(sums.firstNs) : m_recording.startNs(id);
        entry.endNs = sums.count > 0 ? sinceStart(sums.lastNs) : entry.startNs;
        entry.memory = m_profile.memory.ofExpr[id.index()];
        entry.cost = measured(cost.ofExpr[id.index()]);
        entry.isOwner = cost.ofExpr[id.index()].part == CostPart::Owner;
        entry.doneWith = sums.count == 0 ? doneWith : ExprId();
        const double threadNs = static_cast<double>(m_profile.threads) * static_cast<double>(entry.selfNs);
        if (threadNs > 0) {
            const auto work = static_cast<double>(entry.selfNs + m_profile.memory.workNs[id.index()]);
            entry.threadUse = std::min(1.0, work / threadNs);
        }
        m_profile.exprs.push_back(std::move(entry));
    }

    void setRows() {
        m_profile.rowOf.assign(m_graph.exprCount(), 0);
        for (std::size_t i = 0; i < m_profile.exprs.size(); ++i)
            m_profile.rowOf[m_profile.exprs[i].expr.index()] = static_cast<std::uint32_t>(i + 1);
    }

    /// What a kernel did for others too is part of what it reached.
    void giveToDoer(const ProfiledExpr& entry) {
        if (!entry.doneWith.valid()) return;
        const std::uint32_t row = m_profile.rowOf[entry.doneWith.index()];
        if (row == 0) return;
        MeasuredCost& cost = m_profile.exprs[row - 1].cost;
        cost.flops = sum(cost.flops, entry.cost.flops);
    }

    void sumModules() {
        m_profile.modules.resize(m_profile.tree->modules().size());
        for (ProfiledModule& module : m_profile.modules) module.cost = {0.0, 0.0};
        for (const ProfiledExpr& entry : m_profile.exprs) {
            ProfiledModule& module = m_profile.modules[entry.module];
            module.selfNs += entry.selfNs;
            ++module.ownOperations;
            module.valueBytes += entry.memory.valueBytes;
            // Of what contains others the others count; and what a doer was given is its own already.
            const bool isOwner = !m_graph.expr(entry.expr).bodies.empty();
            if (!isOwner && !entry.doneWith.valid()) module.cost.add(entry.cost);
        }
        for (ProfiledModule& module : m_profile.modules) {
            module.totalNs = module.selfNs;
            module.operations = module.ownOperations;
        }
        for (std::size_t i = m_profile.modules.size(); i-- > 1;) {
            ProfiledModule& parent = m_profile.modules[m_profile.tree->module(i).parent];
            parent.totalNs += m_profile.modules[i].totalNs;
            parent.operations += m_profile.modules[i].operations;
            parent.valueBytes += m_profile.modules[i].valueBytes;
            parent.cost.add(m_profile.modules[i].cost);
        }
    }

    // --- the timeline ---------------------------------------------------------------------------------------------

    /// Scopes of an expr from the outermost, without the root's.
    std::vector<ScopeId> scopesOf(ExprId expr) const {
        std::vector<ScopeId> scopes;
        for (ScopeId scope = m_graph.expr(expr).scope; scope.valid() && m_graph.scope(scope).parent.valid();
             scope = m_graph.scope(scope).parent)
            scopes.push_back(scope);
        std::ranges::reverse(scopes);
        return scopes;
    }

    void addSpans() {
        std::vector<std::size_t> open;  // spans of scopes that go on
        std::vector<std::uint32_t> depthOf(m_trace.steps().size(), 0);
        for (std::size_t i = 0; i < m_trace.steps().size(); ++i) {
            const RunTrace::Step& step = m_trace.steps()[i];
            const bool isInner = step.parent != RunTrace::kNone;
            if (!isInner) {
                const std::vector<ScopeId> scopes = scopesOf(step.expr);
                std::size_t same = 0;
                while (same < open.size() && same < scopes.size() && m_profile.spans[open[same]].scope == scopes[same])
                    ++same;
                open.resize(same);
                for (std::size_t level = same; level < scopes.size(); ++level) {
                    open.push_back(m_profile.spans.size());
                    m_profile.spans.push_back({{},
                                               scopes[level],
                                               sinceStart(step.beginNs),
                                               sinceStart(step.endNs),
                                               static_cast<std::uint32_t>(level)});
                }
                for (const std::size_t span : open) m_profile.spans[span].endNs = sinceStart(step.endNs);
                depthOf[i] = static_cast<std::uint32_t>(open.size());
            } else {
                depthOf[i] = depthOf[step.parent] + 1;
            }
            if (m_graph.expr(step.expr).kind == graph::ExprKind::Output) continue;
            m_profile.spans.push_back({step.expr, {}, sinceStart(step.beginNs), sinceStart(step.endNs), depthOf[i]});
        }
    }

    /// Of the stored weights that the operations read, each once.
    std::int64_t weightBytes() const {
        std::set<const tensor::Storage*> counted;
        std::int64_t bytes = 0;
        for (const ProfiledExpr& entry : m_profile.exprs) {
            for (const graph::NodeId input : m_graph.expr(entry.expr).inputs) {
                const auto& constant = m_graph.node(input).constant;
                if (!constant || !constant->isTensor() || !constant->tensor().storage()) continue;
                const tensor::Storage* const storage = constant->tensor().storage().get();
                if (counted.insert(storage).second) bytes += static_cast<std::int64_t>(storage->sizeBytes());
            }
        }
        return bytes;
    }

    void addNotes(const ModelCost& cost) {
        const std::int64_t before = weightBytes() - m_profile.memory.peak.of(base::MemoryKind::Weights);
        if (before > (std::int64_t{1} << 20))
            m_profile.notes.push_back("stored weights of " + bytesText(before) +
                                      " were in memory before the run and are not in the peak");
        if (m_profile.missingSteps > 0)
            m_profile.notes.push_back("the timeline has the first " + std::to_string(m_trace.steps().size()) + " of " +
                                      std::to_string(m_trace.stepCount()) + " steps; the sums have all");
        if (m_profile.missingWork > 0)
            m_profile.notes.push_back("the timeline lacks " + std::to_string(m_profile.missingWork) +
                                      " later pieces of work of the other threads; the use of threads counts them");
        // A run with as much to take down is slower than a plain one.
        if (m_trace.readNs() > 0)
            m_profile.notes.push_back("of the run's time " + millisecondsText(m_trace.readNs()) +
                                      " were spent on the profile itself, in no operation's own time");
        for (const auto& [name, count] : cost.notCounted)
            m_profile.notes.push_back("the FLOPs of " + std::to_string(count) + " × " + name + " are not known");
        if (m_recording.error) m_profile.notes.push_back("the run did not come to its end: " + m_recording.error->what);
    }

    const graph::InternalGraph& m_graph;
    const RunTrace& m_trace;
    const exec::Recording& m_recording;
    RunProfile m_profile;
};

}  // namespace

void MeasuredCost::add(const MeasuredCost& other) {
    // Of a sum of parts what is known: its notes tell what is not.
    flops = flops.value_or(0) + other.flops.value_or(0);
    bytes = bytes.value_or(0) + other.bytes.value_or(0);
}

std::optional<double> MeasuredCost::intensity() const {
    return flops && bytes && *bytes > 0 ? std::optional(*flops / *bytes) : std::nullopt;
}
std::optional<double> MeasuredCost::flopRate(std::int64_t ns) const { return rate(flops, ns); }
std::optional<double> MeasuredCost::byteRate(std::int64_t ns) const { return rate(bytes, ns); }

const ProfiledExpr* RunProfile::of(ExprId expr) const {
    const std::uint32_t row = expr.valid() && expr.index() < rowOf.size() ? rowOf[expr.index()] : 0;
    return row == 0 ? nullptr : &exprs[row - 1];
}

std::string RunProfile::nameOf(ExprId id) const {
    if (!id.valid()) return {};
    const graph::Expr& expr = graph->expr(id);
    if (!expr.outputs.empty()) return graph->node(expr.outputs.front()).name;
    return expr.name.empty() ? expr.target : expr.name;
}

RunProfile profileOf(const ProfileSource& source, ProfiledRun& run, const exec::Recording& recording) {
    run.trace.readRest();
    return ProfileMaker(source, run.trace, run.memory.take(), recording).make();
}

}  // namespace sonde::analysis
