#include <algorithm>
#include <set>

#include "core/base/unicode.h"
#include "core/passes/optimize_order.h"
#include "core/passes/pass.h"

namespace sonde::passes {

namespace {

constexpr int kMaxSweeps = 100;

std::string plain(std::string_view text) {
    std::string result = base::lowerCase(text);
    std::erase_if(result, [](char c) { return c == '-' || c == '_'; });
    return result;
}

class PassRun {
  public:
    PassRun(const InternalGraph& graph, const PassContext& context, const base::WorkContext& work)
        : m_context(context), m_work(work) {
        m_result.graph = std::make_shared<InternalGraph>(graph);
    }

    base::Result<void> run(const Pass& pass) {
        if (const std::string reason = disabledBy(pass); !reason.empty()) {
            skip(pass, reason);
            return {};
        }
        for (std::string_view id : pass.required) {
            const Pass* required = findPass(id).value();
            // What ran in this call need not run again, unless something changed since.
            const bool done = std::any_of(m_result.reports.begin(), m_result.reports.end(),
                                          [&](const PassReport& report) { return report.pass == id; });
            if (!done || !required->runOnce) SONDE_TRY(run(*required));
        }
        return apply(pass);
    }

    PassResult take() { return std::move(m_result); }

  private:
    std::string disabledBy(const Pass& pass) const {
        const auto isDisabled = [this](std::string_view id) {
            return std::any_of(m_context.disabled.begin(), m_context.disabled.end(),
                               [&](const std::string& each) { return findPass(each).value()->id == id; });
        };
        if (isDisabled(pass.id)) return "it is disabled";
        for (std::string_view id : pass.required) {
            const std::string inner = disabledBy(*findPass(id).value());
            if (!inner.empty()) return "it requires " + std::string(id) + ", which is disabled";
        }
        return {};
    }

    void skip(const Pass& pass, const std::string& reason) {
        PassReport report;
        report.pass = pass.id;
        report.description = pass.description;
        report.skipped = reason;
        m_result.diagnostics.push_back(
            {base::Severity::Warning, "pass " + report.pass + " is skipped: " + reason, {}, {}});
        m_result.reports.push_back(std::move(report));
    }

    base::Result<void> apply(const Pass& pass) {
        if (m_work.cancelled()) return base::cancelled("before pass " + std::string(pass.id));
        m_work.report("pass " + std::string(pass.id));
        auto changed = std::make_shared<InternalGraph>(*m_result.graph);
        Notes notes;
        Rewrite rewrite(*changed, notes, &m_context.evaluate);
        std::size_t count = 0;
        for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
            auto applied = pass.run(rewrite);
            if (!applied) return std::move(applied).error().withNote("in pass " + std::string(pass.id));
            count += *applied;
            if (pass.runOnce || *applied == 0 || m_work.cancelled()) break;
        }
        if (auto valid = changed->validate(); !valid) {
            return base::runError("pass " + std::string(pass.id) + " broke the graph: " + valid.error().what,
                                  valid.error().where);
        }
        PassReport report = difference(*m_result.graph, *changed, notes, pass.id, pass.description);
        report.count = count;
        if (pass.keepsValues && m_context.compare && !report.empty()) {
            auto same = m_context.compare(m_result.graph, changed);
            if (!same) return std::move(same).error().withNote("after pass " + std::string(pass.id));
            report.compared = *same;
        }
        m_result.reports.push_back(std::move(report));
        m_result.graph = std::move(changed);
        return {};
    }

    const PassContext& m_context;
    const base::WorkContext& m_work;
    PassResult m_result;
};

}  // namespace

base::Result<const Pass*> findPass(std::string_view name) {
    std::string known;
    for (const Pass& pass : passes()) {
        if (plain(pass.id) == plain(name) || (!pass.alias.empty() && plain(pass.alias) == plain(name))) return &pass;
        known += (known.empty() ? "" : ", ") + std::string(pass.id);
    }
    return base::usageError(std::string(name) + " is not found", "pass", "passes: " + known);
}

base::Result<PassResult> runPasses(const InternalGraph& graph, std::span<const std::string> ids,
                                   const PassContext& context, const base::WorkContext& work) {
    std::vector<const Pass*> wanted;
    for (const std::string& id : ids) {
        SONDE_ASSIGN(const Pass* pass, findPass(id));
        wanted.push_back(pass);
    }
    for (const std::string& id : context.disabled) SONDE_TRY(findPass(id));
    PassRun run(graph, context, work);
    for (const Pass* pass : wanted) SONDE_TRY(run.run(*pass));
    return run.take();
}

std::vector<std::string> optimizeOrder(const std::vector<std::string>& enabled) {
    std::vector<std::string> asked, order;
    for (const std::string& name : enabled)
        if (const auto pass = findPass(name)) asked.emplace_back((*pass)->id);
    const auto has = [](const std::vector<std::string>& ids, std::string_view id) {
        return std::find(ids.begin(), ids.end(), id) != ids.end();
    };
    const bool folds = has(asked, "backward-fold-scale");
    if (has(asked, "fuse-conv-bn") || folds) order.emplace_back("fuse-conv-bn");
    if (has(asked, "fuse-add-mul")) order.emplace_back("fuse-add-mul");
    if (folds) {
        order.emplace_back("backward-fold-scale");
        order.emplace_back("fuse-add-mul");
    }
    for (const std::string& id : asked)
        if (!has(order, id)) order.push_back(id);
    return order;
}

base::Diagnostic forcedFuseConvBn() {
    return {base::Severity::Warning, "pass fuse-conv-bn also runs: backward-fold-scale requires it", {}, {}};
}

base::Result<PassResult> optimize(const InternalGraph& graph, std::vector<std::string> enabled,
                                  const PassContext& context, const base::WorkContext& work) {
    std::set<std::string_view> asked;
    for (const std::string& name : enabled) {
        SONDE_ASSIGN(const Pass* pass, findPass(name));
        asked.insert(pass->id);
    }
    SONDE_ASSIGN(PassResult result, runPasses(graph, optimizeOrder(enabled), context, work));
    if (asked.contains("backward-fold-scale") && !asked.contains("fuse-conv-bn"))
        result.diagnostics.insert(result.diagnostics.begin(), forcedFuseConvBn());
    return result;
}

}  // namespace sonde::passes
