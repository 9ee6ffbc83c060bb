#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/output_forms.h"
#include "app/verbs/validators.h"
#include "app/verbs/value_readings.h"
#include "core/analysis/compare.h"
#include "core/analysis/profile/profile_json.h"
#include "core/analysis/reference_keys.h"
#include "core/analysis/tensor_stats.h"
#include "core/base/counted_text.h"
#include "core/base/visible_text.h"
#include "core/document/found_nodes.h"
#include "core/document/session_model.h"
#include "core/exec/file_check.h"
#include "core/exec/run_trace.h"
#include "core/graph/operation_count.h"
#include "core/graph/source_files.h"
#include "core/io/npz/npz.h"
#include "core/session/own_code_check.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

struct RunVerbOptions {
    ModelOptions model;
    InputChoice inputs;
    std::vector<std::string> watch, end, queries, expressions;
    std::string keep;  ///< empty: full
    std::size_t budgetMib = 0;
    std::int64_t sample = session::WatchPolicy::kDefaultSample;
    bool watchAll = false;
    bool exact = false;
    std::string out, profile;
    OutputForms forms;
    ValueReadingChoice readings;
    std::size_t threads = 0;
    std::size_t repeat = 1;
};

/// One line of the table of values.
struct Row {
    std::string name;
    std::string qualname;
    tensor::Value value;
    bool computed = true;
    std::string missing = {};                        ///< why it was not computed, where that is known
    const session::WatchSummary* summary = nullptr;  ///< of a value that was not kept
};

std::string valueText(const Row& row) {
    if (!row.computed) return "not computed" + (row.missing.empty() ? "" : ": " + row.missing);
    if (row.summary && !row.summary->stats) return row.summary->type;
    if (!row.summary && (!row.value.isTensor() || row.value.tensor().dtype() == tensor::DType::String))
        return base::visibleText(row.value.text());
    const analysis::TensorStats stats = row.summary ? *row.summary->stats : analysis::tensorStats(row.value.tensor());
    // Of no finite element there is no minimum and no mean.
    const std::string finite = stats.finiteCount() == 0
                                   ? std::string()
                                   : fmt::format("  min {:<11.5g} max {:<11.5g} mean {:<11.5g} std {:<11.5g}",
                                                 stats.minimum, stats.maximum, stats.mean, stats.deviation);
    return fmt::format("{:24}{} nan {} inf {} zero {}", row.summary ? row.summary->type : row.value.typeText(),
                       finite.empty() ? " " : finite, stats.nanCount, stats.infCount, stats.zeroCount);
}

/// The table of values. Made whole before it is printed: what is read for it may turn out to have changed.
std::string tableOf(std::vector<Row> rows) {
    std::size_t nameWidth = 4, qualnameWidth = 6;
    for (Row& row : rows) {
        row.name = base::visibleText(row.name);
        row.qualname = base::visibleText(row.qualname);
        nameWidth = std::max(nameWidth, row.name.size());
        qualnameWidth = std::max(qualnameWidth, row.qualname.size());
    }
    std::string table;
    for (const Row& row : rows)
        table += fmt::format("{:{}}  {:{}}  {}\n", row.name, nameWidth, row.qualname, qualnameWidth, valueText(row));
    return table;
}

class RunVerb {
  public:
    explicit RunVerb(RunVerbOptions& options) : m_options(options), m_session(commandLineWork()) {}

    base::Result<int> run() {
        SONDE_ASSIGN(m_document, m_options.model.load(m_options.inputs.spec,
                                                      {{{"--out", m_options.out}, {"--profile", m_options.profile}}}));
        SONDE_ASSIGN(const auto cases, inputsFor(*m_document, m_options.inputs));
        showIn(m_session, m_document);
        SONDE_TRY(setPoints());
        session::RunSettings settings{m_options.threads, seedOf(*m_document, m_options.inputs), m_options.repeat,
                                      m_options.watchAll, m_options.exact};
        // Runs that are observed do each step by itself, so that each has its own time.
        settings.isObserved = !m_options.profile.empty();
        m_session.runs().setSettings(settings);
        SONDE_TRY(setPolicy());
        SONDE_TRY(addExpressions());
        SONDE_TRY(m_options.forms.check());
        std::optional<base::Error> error;
        for (std::size_t i = 0; i < cases.size() && !error; ++i) {
            m_title = cases.size() == 1       ? ""
                      : cases[i].name.empty() ? fmt::format("case {}\n", i)
                                              : cases[i].name + "\n";
            m_keyPrefix = i == 0 ? "" : fmt::format("case{}.", i);
            SONDE_ASSIGN(error, runCase(cases[i].values));
        }
        // What a failed run computed is kept.
        if (!m_options.out.empty()) {
            SONDE_TRY(graph::checkFiles(m_document->graph));
            SONDE_TRY(io::writeNpz(m_options.out, m_arrays));
        }
        if (error) return std::move(*error);
        return 0;
    }

  private:
    /// What the command line says takes the place of what a session file has.
    base::Result<void> setPoints() {
        if (m_options.watchAll || !m_options.watch.empty() || !m_options.queries.empty()) m_session.clearWatched();
        if (!m_options.end.empty()) m_session.clearEnds();
        SONDE_TRY(setWatches());
        SONDE_TRY(m_options.readings.watch(m_session));
        for (const std::string& query : m_options.queries)
            SONDE_TRY(m_session.addWatchGroup({session::WatchGroup::Kind::Query, query}));
        SONDE_TRY(setPassWatches());
        SONDE_ASSIGN(const auto ends, nodesFor(*m_document, m_options.end));
        for (const graph::NodeId node : ends) m_session.setEnd(node, true);
        return {};
    }

    base::Result<void> setPolicy() {
        const bool isGiven = !m_options.keep.empty() || m_options.budgetMib != 0;
        if (!isGiven && m_document->session && m_document->session->file.policy) return {};
        const auto keep = session::watchKeep(m_options.keep.empty() ? "full" : m_options.keep);
        if (!keep) return base::usageError("'" + m_options.keep + "' is not full, sample or statistics", "--keep");
        // Without a budget all that was asked for is kept.
        const std::size_t budget = m_options.budgetMib == 0
                                       ? session::WatchPolicy::kNoBudget
                                       : std::min(m_options.budgetMib, session::WatchPolicy::kNoBudget >> 20) << 20;
        m_session.runs().setPolicy({*keep, budget, m_options.sample});
        return {};
    }

    /// What is no expression is told before anything runs.
    base::Result<void> addExpressions() {
        for (const std::string& text : m_options.expressions) {
            SONDE_ASSIGN(const auto parsed, expression::parse(text));
            for (const std::string& name : parsed.names()) SONDE_TRY(m_document->findNode(name));
            SONDE_TRY(m_session.expressionWatches().add(text));
        }
        return {};
    }

    /// Where "NODE@PASS" has its @; npos: it is a whole node. A name wins that has an @ of its own.
    std::size_t passAt(const std::string& text) const {
        const std::size_t at = text.rfind('@');
        const bool hasPass = at != std::string::npos && at > 0 && at + 1 < text.size() &&
                             text.find_first_not_of("0123456789.", at + 1) == std::string::npos &&
                             !m_document->findNode(text);
        return hasPass ? at : std::string::npos;
    }

    base::Result<void> setWatches() {
        for (const std::string& text : m_options.watch) {
            if (passAt(text) != std::string::npos) continue;
            SONDE_ASSIGN(const auto nodes, document::findNodes(*m_document, text));
            for (const graph::NodeId node : nodes) m_session.setWatched(node, true);
        }
        return {};
    }

    /// After all else that is watched: of a node that is watched as a whole, every iteration is shown.
    base::Result<void> setPassWatches() {
        for (const std::string& text : m_options.watch) {
            const std::size_t at = passAt(text);
            if (at == std::string::npos) continue;
            SONDE_ASSIGN(const graph::NodeId node, m_document->findNode(text.substr(0, at)));
            const bool isWhole =
                m_options.watchAll || (m_session.points().keeps(node) && !m_chosenPasses.contains(node));
            if (!isWhole) m_chosenPasses[node].push_back(text.substr(at + 1));
            m_session.setWatched(node, true);
        }
        return {};
    }

    base::Result<std::optional<base::Error>> runCase(const std::vector<tensor::Value>& inputs) {
        m_session.runs().giveValues(inputs);
        analysis::ProfiledRun traced;
        {
            const exec::RunTrace::Scope scope(m_options.profile.empty() ? nullptr : &traced.trace);
            m_session.runs().run();
        }
        const session::Run& run = m_session.runs().last();
        if (run.plan) fmt::print("{}", m_title);
        if (!run.recording) return *run.error;
        SONDE_TRY(report(run));
        if (!run.error && m_options.forms.isAsked()) SONDE_TRY(m_options.forms.print(m_session));
        if (!run.error) SONDE_TRY(m_options.readings.print(m_session, m_options.forms.vocabulary));
        if (!run.doubt.empty()) printWarning(session::doubtText(run.doubt));
        if (!m_options.profile.empty()) SONDE_TRY(writeProfile(run, traced));
        return run.error;
    }

    /// Dim sizes that the file leaves open are known by now: so are bytes.
    base::Result<void> writeProfile(const session::Run& run, analysis::ProfiledRun& traced) const {
        const analysis::ProfileSource source{m_document->title, m_session.runs().graph(), m_document->modules,
                                             run.threads};
        return analysis::writeTraceEvents(m_options.profile, analysis::profileOf(source, traced, *run.recording));
    }

    base::Result<void> report(const session::Run& run) {
        const exec::Recording& recording = *run.recording;
        const graph::InternalGraph& graph = *m_document->graph;
        std::vector<Row> rows;
        for (const session::Input& input : m_session.inputs().all())
            if (input.value) analysis::addValue(*input.value, key("in", input.name), m_arrays);
        for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
            for (graph::NodeId node : graph.expr(id).outputs) {
                if (isReported(node)) addNode(node, recording, rows);
            }
        }
        for (std::size_t i = 0; i < recording.outputs.size() && run.plan->options().end.empty(); ++i) {
            const bool named = i < m_document->outputs.size();
            const std::string name = named ? m_document->outputs[i].name : std::to_string(i);
            rows.push_back({"out." + name, qualnameText(graph, graph.outputs()[i]), recording.outputs[i], true});
            analysis::addValue(recording.outputs[i], key("out", name), m_arrays);
        }
        const std::string table = tableOf(rows);
        if (auto changed = exec::FileCheck(m_document->graph, run.inputs).changed()) return std::move(*changed);
        fmt::print("{}", table);
        SONDE_TRY(reportExpressions());
        if (const std::string kept = m_session.runs().watchedValues().text(); !kept.empty()) printWarning(kept);
        printBranches(recording);
        tellProblems();
        printCounts(run);
        return {};
    }

    static std::ptrdiff_t operationsIn(const graph::InternalGraph& graph, graph::BodyId body) {
        return std::ranges::count_if(graph.recursiveOrder(body),
                                     [&graph](graph::ExprId id) { return graph::isOperation(graph.expr(id)); });
    }

    /// Operations as the window counts them; a call of several counts once, and the line says so.
    static void printCounts(const session::Run& run) {
        const graph::InternalGraph& graph = run.plan->graph();
        std::size_t all = 0, ran = 0;
        bool hasInside = false;
        for (const graph::ExprId id : run.plan->steps()) {
            const graph::Expr& expr = graph.expr(id);
            if (expr.kind == graph::ExprKind::Output) continue;
            ++all;
            ran += run.recording->state(id) == exec::ExprState::Done ? 1 : 0;
            for (const graph::BodyId body : expr.bodies) hasInside = hasInside || operationsIn(graph, body) != 1;
        }
        fmt::print("{} of {} operations{} ran in {:.3f} ms on {}\n", ran, all, hasInside ? " of the main graph" : "",
                   static_cast<double>(run.recording->totalNs) / 1e6,
                   base::countedText(static_cast<std::int64_t>(run.threads), "thread"));
    }

    bool isReported(graph::NodeId node) const {
        const exec::PlanOptions& options = m_session.runs().last().plan->options();
        // The plan has nodes of expressions, too.
        const auto holds = [node](const std::vector<graph::NodeId>& nodes) {
            return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
        };
        const graph::Expr& producer = m_document->graph->expr(m_document->graph->node(node).producer);
        const bool isWeight = producer.kind == graph::ExprKind::Constant && producer.isParameter;
        return m_session.points().keeps(node) || holds(options.end) || (options.watchAll && !isWeight);
    }

    void addNode(graph::NodeId node, const exec::Recording& recording, std::vector<Row>& rows) {
        const graph::InternalGraph& graph = *m_document->graph;
        const std::string& name = graph.node(node).name;
        const exec::PlanOptions& options = m_session.runs().last().plan->options();
        const tensor::Value* value = recording.value(node);
        if (value && !recording.passOf(node, 0).empty()) {
            addPasses(node, recording, rows);
            return;
        }
        if (const session::WatchSummary* const summary = m_session.runs().summary(node); summary && !value) {
            rows.push_back({name, qualnameText(graph, node), {}, true, {}, summary});
            addSummary(*summary, name);
            return;
        }
        const auto end = std::find(options.end.begin(), options.end.end(), node);
        const auto position = static_cast<std::size_t>(end - options.end.begin());
        if (!value && end != options.end.end() && position < recording.outputs.size())
            value = &recording.outputs[position];
        rows.push_back({name, qualnameText(graph, node), value ? *value : tensor::Value(), value != nullptr,
                        value ? std::string() : missingText(node, recording)});
        if (!value) return;
        analysis::addValue(*value, key("node", name), m_arrays);
    }

    /// By the keys of a reference file for `check`; the sample's is its own.
    void addSummary(const session::WatchSummary& summary, const std::string& name) {
        if (!summary.stats) return;
        const auto rank = static_cast<std::int64_t>(summary.shape.size());
        const analysis::TensorStats& stats = *summary.stats;
        m_arrays.emplace_back(key("node", name) + ".shape", tensor::Tensor::of<std::int64_t>({rank}, summary.shape));
        m_arrays.emplace_back(
            key("node", name) + ".stats",
            tensor::Tensor::of<double>({4}, {stats.mean, stats.deviation, stats.minimum, stats.maximum}));
        if (summary.sample.defined()) m_arrays.emplace_back(key("sample", name), summary.sample);
    }

    std::string missingText(graph::NodeId node, const exec::Recording& recording) const {
        const graph::ExprId producer = m_document->graph->node(node).producer;
        if (recording.failure(producer)) return "it failed";
        // A branch may not have been taken.
        const bool isInBranch = m_document->graph->expr(producer).body != m_document->graph->mainId();
        const bool hasEnded = !recording.error && !m_session.runs().last().plan->options().end.empty();
        return hasEnded && !isInBranch ? "the run ended at its end points" : std::string();
    }

    /// Inside loops there is one value for each pass: those chosen by NODE@PASS, or all.
    void addPasses(graph::NodeId node, const exec::Recording& recording, std::vector<Row>& rows) {
        const std::string& name = m_document->graph->node(node).name;
        const std::string qualname = qualnameText(*m_document->graph, node);
        const auto chosen = m_chosenPasses.find(node);
        if (chosen != m_chosenPasses.end()) {
            for (const std::string& pass : chosen->second) {
                const auto iteration = recording.iterationOf(node, pass);
                const tensor::Value value = iteration ? *recording.value(node, *iteration) : tensor::Value();
                rows.push_back({name + "@" + pass, qualname, value, iteration.has_value()});
                if (iteration) analysis::addPass(recording, node, *iteration, key("node", name), m_arrays);
            }
            return;
        }
        for (std::size_t i = 0; i < recording.iterations(node); ++i) {
            const std::string pass = recording.passText(node, i);
            rows.push_back({name + "@" + pass, qualname, *recording.value(node, i), true});
        }
        analysis::addKept(*m_document->graph, recording, node, key("node", name), m_arrays);
    }

    /// "EXPRESSION = VALUE", a line each; the array of expression N is expr.N of --out, from 0.
    base::Result<void> reportExpressions() {
        std::size_t number = 0;
        for (const auto& entry : m_session.expressionWatches().entries()) {
            const std::string name = key("expr", std::to_string(number++));
            if (!entry.result) continue;
            if (entry.result->error) {
                printWarning(entry.result->error->what, entry.result->error->where);
                continue;
            }
            fmt::print("{} = {}\n", base::visibleText(entry.text), base::visibleText(entry.result->text()));
            if (!entry.result->value.isNone()) analysis::addValue(entry.result->value, name, m_arrays);
        }
        return {};
    }

    /// Which branch an If took, each time that it ran.
    void printBranches(const exec::Recording& recording) const {
        const graph::InternalGraph& graph = *m_document->graph;
        for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) {
            const std::vector<std::size_t>& taken = recording.branches(id);
            const graph::Expr& expr = graph.expr(id);
            if (taken.empty() || expr.outputs.empty() ||
                std::none_of(expr.outputs.begin(), expr.outputs.end(),
                             [this](graph::NodeId node) { return isReported(node); })) {
                continue;
            }
            std::string text;
            constexpr std::size_t kMaxPrinted = 8;
            for (std::size_t i = 0; i < taken.size() && i < kMaxPrinted; ++i) {
                const std::string& label = graph.body(expr.bodies[taken[i]]).label;
                text += (i ? ", " : "") + (label.empty() ? fmt::format("branch {}", taken[i]) : label);
            }
            if (taken.size() > kMaxPrinted) text += fmt::format(" and {} more", taken.size() - kMaxPrinted);
            fmt::print("{} took {}\n", graph.node(expr.outputs.front()).name, text);
        }
    }

    /// On standard error: values that are NaN or infinite, and what only --watch asked for and could not be computed.
    void tellProblems() const {
        const graph::InternalGraph& graph = *m_document->graph;
        const session::Problems& problems = m_session.problems();
        std::fflush(stdout);
        if (const std::string bad = problems.summary().text(graph); !bad.empty()) {
            printWarning(bad);
        }
        for (const analysis::Problem& problem : problems.all()) {
            const bool wentOn =
                problem.kind == analysis::ProblemKind::Failure && problem.severity == base::Severity::Warning;
            if (wentOn)
                printWarning(problem.message,
                             analysis::placeText(graph, problem.node) + ", watched only: the run continued without it");
        }
    }

    std::string key(const char* kind, const std::string& name) const { return m_keyPrefix + kind + "." + name; }

    RunVerbOptions& m_options;
    session::Session m_session;
    std::shared_ptr<const document::Document> m_document;
    std::vector<io::NamedTensor> m_arrays;
    std::string m_title;                                                         ///< of one of several cases
    std::string m_keyPrefix;                                                     ///< of its arrays
    std::unordered_map<graph::NodeId, std::vector<std::string>> m_chosenPasses;  ///< of watched nodes: "2", "2.0"
};

}  // namespace

Verb runVerb() {
    return {
        "run", "Run a model and show the values of watched nodes",
        "sonde run zoo:resnet18 --input-data photo.png --image imagenet --watch layer1: --end fc --out values.npz",
        [](CLI::App& command) {
            auto options = std::make_shared<RunVerbOptions>();
            options->model.addTo(command);
            options->inputs.addTo(command);
            command
                .add_option(
                    "--watch", options->watch,
                    "Node whose value is kept: name, #number or MODULE:, in loops with @ITERATION for one iteration (again for more)")
                ->allow_extra_args(false);
            command.add_option("--end", options->end, "Node to stop at (again for more)")->allow_extra_args(false);
            command
                .add_option("--watch-query", options->queries,
                            "Query whose nodes are kept, as in the search of the window: \"op:Conv\" (again for more)")
                ->allow_extra_args(false);
            command
                .add_option("--expression", options->expressions,
                            "Expression that is computed after the run: \"max(abs(fc))\" (again for more)")
                ->allow_extra_args(false);
            command.add_option("--keep", options->keep,
                               "What is kept of watched values: full, sample or statistics (default: full)");
            command.add_option("--budget", options->budgetMib,
                               "MiB for watched values; those that do not fit are kept as a sample or statistics");
            command.add_option("--sample", options->sample, "Number of elements of a sample (default: 1000)")
                ->check(aboveZero());
            command.add_flag("--watch-all", options->watchAll, "Keep the value of every node");
            options->forms.addTo(command);
            options->readings.addTo(command);
            command.add_option("--out", options->out, "Write inputs, watched values and outputs to this .npz");
            addThreads(command, options->threads);
            command.add_option("--repeat", options->repeat, "Number of runs")->check(aboveZero());
            command.add_option("--profile", options->profile, "Write the times as a Chrome trace (JSON)");
            addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
            command.add_flag("--exact", options->exact,
                             "Use no optimisation that rounds differently from the definition");
            return std::function<base::Result<int>()>([options] { return RunVerb(*options).run(); });
        }};
}

}  // namespace sonde::app
