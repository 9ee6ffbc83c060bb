#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sys/resource.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
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
        constexpr std::size_t kWarmUp = 3;
        for (std::size_t i = 0; i < kWarmUp + m_options.repeat; ++i) {
            const session::RunResult result = session::doRun(task, commandLineWork());
            if (result.run.error) return *result.run.error;
            const exec::Recording& recording = *result.run.recording;
            if (i == 0) {
                m_plan = task.plan = result.run.plan;
                m_threads = result.run.threads;
                findJoined(recording);
            }
            if (i < kWarmUp) continue;
            m_totals.push_back(recording.totalNs);
            m_perExpr.resize(recording.elapsed.size());
            for (std::size_t e = 0; e < recording.elapsed.size(); ++e) m_perExpr[e].push_back(recording.elapsed[e]);
        }
        m_options.json ? printJson() : printTable();
        return 0;
    }

  private:
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
        fmt::print("{} on {} threads, {} runs{}\n", m_document->title, m_threads, m_options.repeat,
                   m_options.watchAll ? ", every node watched" : "");
        fmt::print("median {:.3f} ms, min {:.3f}, max {:.3f}; peak memory {:.0f} MB\n", milliseconds(median(m_totals)),
                   milliseconds(*std::min_element(m_totals.begin(), m_totals.end())),
                   milliseconds(*std::max_element(m_totals.begin(), m_totals.end())), peakMegabytes());
        const std::vector<Hot> hot = hottest();
        for (std::size_t i = 0; i < std::min<std::size_t>(hot.size(), 10); ++i) {
            const graph::Expr& expr = m_document->graph->expr(hot[i].expr);
            fmt::print("  {:8.3f} ms  {:20}  {}\n", milliseconds(hot[i].medianNs),
                       expr.op.name.empty() ? expr.target : expr.op.name, shownAs(hot[i].expr));
        }
    }

    void printJson() const {
        nlohmann::ordered_json root{{"model", m_document->location},
                                    {"threads", m_threads},
                                    {"runs", m_options.repeat},
                                    {"watch_all", m_options.watchAll},
                                    {"median_ms", milliseconds(median(m_totals))},
                                    {"min_ms", milliseconds(*std::min_element(m_totals.begin(), m_totals.end()))},
                                    {"max_ms", milliseconds(*std::max_element(m_totals.begin(), m_totals.end()))},
                                    {"peak_rss_mb", peakMegabytes()}};
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
                command.add_option("--threads", options->threads, "Number of threads; 0: one per processor");
                command.add_option("--repeat", options->repeat, "Number of timed runs")
                    ->check(CLI::PositiveNumber)
                    ->capture_default_str();
                command.add_flag("--watch-all", options->watchAll, "Keep the value of every node");
                command.add_flag("--exact", options->exact,
                                 "Use no optimisation that rounds differently from the definition");
                command.add_flag("--json", options->json, "One JSON object instead of the table");
                return std::function<base::Result<int>()>([options] { return Bench(*options).run(options->model); });
            }};
}

}  // namespace sonde::app
