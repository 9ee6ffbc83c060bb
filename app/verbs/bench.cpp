#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <sys/resource.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/bench_curve.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/analysis/parameters.h"
#include "core/exec/recompute.h"
#include "core/exec/row_memory.h"
#include "core/session/run.h"

namespace sonde::app {

namespace {

struct BenchOptions {
    ModelOptions model;
    InputChoice inputs;
    std::size_t threads = 0;
    std::size_t repeat = 15;
    bool watchAll = false;
    bool exact = false;
    bool json = false;
    bool sublinear = false;
    exec::DtrOptions dtr;
    std::string sweep, plot;

    bool savesMemory() const { return sublinear || dtr.evictionThreshold > 0; }
};

std::int64_t median(std::vector<std::int64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double milliseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

double peakMegabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Expr and its share of the median run, for the table of the slowest.
struct Hot {
    graph::ExprId expr;
    std::int64_t medianNs;
};

/// What became of a plan that computes values again (dump.md, "Less memory").
struct LessMemory {
    std::size_t steps = 0, repeatedSteps = 0;
    std::int64_t bytesBefore = 0, bytes = 0;  ///< peak of values
    std::vector<std::int64_t> totals;         ///< times of its runs
    bool isSame = true;                       ///< all outputs, bit for bit
};

class Bench {
  public:
    explicit Bench(const BenchOptions& options) : m_options(options) {}

    base::Result<int> run(ModelOptions& model) {
        SONDE_ASSIGN(m_document, model.load(m_options.inputs.spec));
        SONDE_ASSIGN(const auto cases, inputsFor(*m_document, m_options.inputs));
        // Runs of no session: a session keeps the values of the last run during the next one, and the memory of two
        // runs would be measured.
        session::RunTask task;
        task.graph = m_document->graph;
        task.points.watchAll = m_options.watchAll;
        task.points.exact = m_options.exact;
        task.inputs = cases.front().values;
        task.runner = std::make_shared<exec::Runner>(m_options.threads);
        for (std::size_t i = 0; i < kWarmUp + m_options.repeat; ++i) {
            const session::RunResult result = session::doRun(task, commandLineWork());
            if (result.run.error) return *result.run.error;
            const exec::Recording& recording = *result.run.recording;
            if (i == 0) {
                m_plan = task.plan = result.run.plan;
                m_threads = result.run.threads;
                m_outputs = recording.outputs;
                findJoined(recording);
            }
            if (i < kWarmUp) continue;
            m_totals.push_back(recording.totalNs);
            m_perExpr.resize(recording.elapsed.size());
            for (std::size_t e = 0; e < recording.elapsed.size(); ++e) m_perExpr[e].push_back(recording.elapsed[e]);
        }
        if (m_options.savesMemory()) SONDE_TRY(saveMemory(task));
        m_options.json ? printJson() : printTable();
        if (m_lessMemory && !m_lessMemory->isSame)
            return base::Error{base::ErrorKind::Comparison, "values that were computed again differ", {}, {}, {}};
        return 0;
    }

  private:
    static constexpr std::size_t kWarmUp = 3;

    /// Runs a plan that computes values again, on the same inputs.
    base::Result<void> saveMemory(session::RunTask task) {
        SONDE_ASSIGN(const exec::Measurement measurement,
                     exec::measure(*task.runner, *m_plan, task.inputs, commandLineWork()));
        SONDE_ASSIGN(const exec::Recomputed made, m_options.sublinear
                                                      ? exec::recomputeSublinear(*m_plan, measurement)
                                                      : exec::recomputeDtr(*m_plan, measurement, m_options.dtr));
        SONDE_ASSIGN(const auto plan, exec::Plan::make(made.graph, m_plan->options()));
        LessMemory less;
        less.steps = m_plan->steps().size();
        less.repeatedSteps = made.repeatedSteps;
        less.bytesBefore = exec::rowMemory(*m_plan, measurement).peakBytes;
        less.bytes = exec::rowMemory(*plan, measurement, true, made.origin).peakBytes;
        task.graph = made.graph;
        task.plan = plan;
        for (std::size_t i = 0; i < kWarmUp + m_options.repeat; ++i) {
            const session::RunResult result = session::doRun(task, commandLineWork());
            if (result.run.error) return *result.run.error;
            const auto& outputs = result.run.recording->outputs;
            less.isSame = less.isSame && std::ranges::equal(outputs, m_outputs, [](const auto& a, const auto& b) {
                              return tensor::identical(a, b);
                          });
            if (i >= kWarmUp) less.totals.push_back(result.run.recording->totalNs);
        }
        m_lessMemory = std::move(less);
        return {};
    }

    static double megabytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

    void printLessMemory() const {
        const LessMemory& less = *m_lessMemory;
        fmt::print("{}: {} of {} steps run again, median {:.3f} ms\n", m_options.sublinear ? "sublinear" : "dtr",
                   less.repeatedSteps, less.steps, milliseconds(median(less.totals)));
        fmt::print("peak of values {:.2f} MB before, {:.2f} MB after{}; outputs {}\n", megabytes(less.bytesBefore),
                   megabytes(less.bytes),
                   !m_options.sublinear && less.bytes > m_options.dtr.evictionThreshold ? " (above the limit)" : "",
                   less.isSame ? "are equal bit for bit" : "differ");
        if (!m_options.sublinear)
            fmt::print("values of less than {} stay (--dtr-minimum)\n",
                       analysis::bytesText(m_options.dtr.evicteeMinimumSize));
    }

    /// Steps whose work was done within another one's: the step of the main body that holds it.
    void findJoined(const exec::Recording& recording) {
        const graph::InternalGraph& graph = *m_document->graph;
        for (graph::ExprId id : m_plan->steps()) {
            graph::ExprId with = recording.doneWith(graph, id);
            if (!with.valid()) continue;
            while (graph.body(graph.expr(with).body).owner.valid()) with = graph.body(graph.expr(with).body).owner;
            m_doneWith[id] = with;
            m_alsoDoes[with].push_back(id);
        }
    }

    std::string nameOf(graph::ExprId id) const {
        const graph::Expr& expr = m_document->graph->expr(id);
        return expr.outputs.empty() ? expr.name : m_document->graph->node(expr.outputs.front()).name;
    }

    /// "conv_1 with relu_1, add_1": everything that the step's time is for.
    std::string shownAs(graph::ExprId id) const {
        std::string text = nameOf(id);
        const auto found = m_alsoDoes.find(id);
        if (found == m_alsoDoes.end()) return text;
        for (std::size_t i = 0; i < found->second.size(); ++i) text += (i ? ", " : " with ") + nameOf(found->second[i]);
        return text;
    }

    std::vector<Hot> hottest() const {
        std::vector<Hot> hot;
        for (graph::ExprId id : m_plan->steps()) hot.push_back({id, median(m_perExpr[id.index()])});
        std::stable_sort(hot.begin(), hot.end(), [](const Hot& a, const Hot& b) { return a.medianNs > b.medianNs; });
        return hot;
    }

    void printTable() const {
        fmt::print("{} on {} thread{}, {} run{}{}\n", m_document->title, m_threads, m_threads == 1 ? "" : "s",
                   m_options.repeat, m_options.repeat == 1 ? "" : "s",
                   m_options.watchAll ? ", every node watched" : "");
        fmt::print("median {:.3f} ms, min {:.3f}, max {:.3f}; peak memory {:.0f} MB\n", milliseconds(median(m_totals)),
                   milliseconds(*std::min_element(m_totals.begin(), m_totals.end())),
                   milliseconds(*std::max_element(m_totals.begin(), m_totals.end())), peakMegabytes());
        if (m_lessMemory) printLessMemory();
        const std::vector<Hot> hot = hottest();
        for (std::size_t i = 0; i < std::min<std::size_t>(hot.size(), 10); ++i) {
            const graph::Expr& expr = m_document->graph->expr(hot[i].expr);
            fmt::print("  {:8.3f} ms  {:20}  {}\n", milliseconds(hot[i].medianNs),
                       expr.op.name.empty() ? expr.target : expr.op.name, shownAs(hot[i].expr));
        }
    }

    void printJson() const {
        nlohmann::ordered_json root{{"format", "sonde-bench"},
                                    {"version", 1},
                                    {"model", m_document->location},
                                    {"threads", m_threads},
                                    {"runs", m_options.repeat},
                                    {"watch_all", m_options.watchAll},
                                    {"median_ms", milliseconds(median(m_totals))},
                                    {"min_ms", milliseconds(*std::min_element(m_totals.begin(), m_totals.end()))},
                                    {"max_ms", milliseconds(*std::max_element(m_totals.begin(), m_totals.end()))},
                                    {"peak_rss_mb", peakMegabytes()}};
        if (m_lessMemory) {
            root["less_memory"] = {{"method", m_options.sublinear ? "sublinear" : "dtr"},
                                   {"steps", m_lessMemory->steps},
                                   {"repeated_steps", m_lessMemory->repeatedSteps},
                                   {"peak_bytes_before", m_lessMemory->bytesBefore},
                                   {"peak_bytes", m_lessMemory->bytes},
                                   {"median_ms", milliseconds(median(m_lessMemory->totals))},
                                   {"is_same", m_lessMemory->isSame}};
        }
        root["nodes"] = nlohmann::ordered_json::array();
        for (const Hot& hot : hottest()) {
            const graph::Expr& expr = m_document->graph->expr(hot.expr);
            root["nodes"].push_back(
                {{"name", nameOf(hot.expr)}, {"op", expr.op.name}, {"median_ms", milliseconds(hot.medianNs)}});
            if (const auto found = m_doneWith.find(hot.expr); found != m_doneWith.end())
                root["nodes"].back()["done_with"] = nameOf(found->second);
        }
        fmt::print("{}\n", root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    const BenchOptions& m_options;
    std::shared_ptr<const document::Document> m_document;
    std::shared_ptr<const exec::Plan> m_plan;
    std::size_t m_threads = 0;
    std::vector<tensor::Value> m_outputs;
    std::optional<LessMemory> m_lessMemory;
    std::map<graph::ExprId, graph::ExprId> m_doneWith;
    std::map<graph::ExprId, std::vector<graph::ExprId>> m_alsoDoes;
    std::vector<std::int64_t> m_totals;
    std::vector<std::vector<std::int64_t>> m_perExpr;
};

}  // namespace

Verb benchVerb() {
    return {"bench", "Measure the time of runs: median, range, memory and the slowest nodes",
            "sonde bench model.onnx --threads 1 --repeat 30", [](CLI::App& command) {
                auto options = std::make_shared<BenchOptions>();
                options->model.addTo(command);
                options->inputs.addTo(command);
                addThreads(command, options->threads);
                command.add_option("--repeat", options->repeat, "Number of timed runs")
                    ->check(aboveZero())
                    ->capture_default_str();
                command.add_flag("--watch-all", options->watchAll, "Keep the value of every node");
                command.add_flag("--exact", options->exact,
                                 "Use no optimisation that rounds differently from the definition");
                auto* sublinear = command.add_flag("--sublinear", options->sublinear,
                                                   "Compute values again instead of keeping them, for a low peak of "
                                                   "memory, and compare");
                auto* dtr = command
                                .add_option("--dtr", options->dtr.evictionThreshold,
                                            "The same where values would take more than BYTES (2MB, 500KB …)")
                                ->transform(wholeBytes())
                                ->check(aboveZero())
                                ->type_name("BYTES")
                                ->excludes(sublinear);
                command
                    .add_option("--dtr-minimum", options->dtr.evicteeMinimumSize,
                                "Values of fewer BYTES always stay (--dtr)")
                    ->transform(wholeBytes())
                    ->type_name("BYTES")
                    ->needs(dtr)
                    ->capture_default_str();
                command.add_flag("--json", options->json, "One JSON object instead of the table");
                auto* sweep =
                    command
                        .add_option("--sweep", options->sweep,
                                    "Measure time and memory against a number: batch=1:8:1, width=0.25:1:0.25, "
                                    "threads=1:4:1, watches=0:64:16, x.1=16:256:x2; KEY is threads, watches, a "
                                    "setting of a built-in model, an open dimension or INPUT.AXIS")
                        ->type_name("KEY=A:B:STEP")
                        ->excludes(sublinear)
                        ->excludes(dtr);
                command.add_option("--plot", options->plot, "Draw the curve of --sweep as an SVG file")
                    ->type_name("FILE")
                    ->needs(sweep);
                return std::function<base::Result<int>()>([options]() -> base::Result<int> {
                    if (options->sweep.empty()) return Bench(*options).run(options->model);
                    return benchCurve({options->sweep, options->plot, options->threads, options->repeat,
                                       options->watchAll, options->exact, options->json},
                                      options->model, options->inputs);
                });
            }};
}

}  // namespace sonde::app
