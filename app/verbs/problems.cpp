#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/base/visible_text.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

struct ProblemsOptions {
    ModelOptions model;
    InputChoice inputs;
    std::vector<std::string> accepted;
    std::string junit;
    std::size_t threads = 0;
    bool json = false;
};

std::string_view severityName(base::Severity severity) {
    return severity == base::Severity::Error ? "error" : severity == base::Severity::Warning ? "warning" : "info";
}

/// Text as an attribute of XML; control characters, which XML does not allow, are written out.
std::string xml(std::string_view text) {
    std::string escaped;
    for (const char c : base::visibleText(text)) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            default: escaped += c;
        }
    }
    return escaped;
}

class ProblemsVerb {
  public:
    explicit ProblemsVerb(ProblemsOptions& options) : m_options(options) {}

    base::Result<int> run() {
        SONDE_ASSIGN(m_document, m_options.model.load(m_options.inputs.spec, {{{"--junit", m_options.junit}}}));
        SONDE_ASSIGN(const auto cases, inputsFor(*m_document, m_options.inputs));
        SONDE_ASSIGN(auto accepted, nodesFor(*m_document, m_options.accepted));
        session::Session session(commandLineWork());
        session.show(m_document);
        session.problems().restoreAccepted(std::move(accepted));
        session::RunSettings settings{m_options.threads, m_options.inputs.seed};
        settings.isObserved = false;
        session.runs().setSettings(settings);
        for (const io::InputCase& one : cases) {
            session.runs().giveValues(one.values);
            session.runs().run();
            const session::Run& run = session.runs().last();
            // What no operation is to blame for (inputs that do not fit, Ctrl+C) is no problem of a node.
            if (run.error && (!run.recording || run.recording->failures.empty())) return *run.error;
            const auto& found = session.problems().all();
            m_problems.insert(m_problems.end(), found.begin(), found.end());
        }
        m_options.json ? printJson() : printTable();
        if (!m_options.junit.empty()) SONDE_TRY(writeJunit());
        return errorCount() > 0 ? 1 : 0;
    }

  private:
    std::string nameOf(const analysis::Problem& problem) const {
        return problem.node.valid() ? m_document->graph->node(problem.node).name : std::string();
    }

    std::size_t errorCount() const {
        return static_cast<std::size_t>(
            std::ranges::count(m_problems, base::Severity::Error, &analysis::Problem::severity));
    }

    void printTable() const {
        for (const analysis::Problem& problem : m_problems) {
            // Names are the model's, and may hold anything.
            const std::string line = fmt::format(
                "{:7}  {:8}  {:7}  {}  {}: {}{}{}", severityName(problem.severity), name(problem.kind),
                name(problem.role), nameOf(problem),
                problem.qualname.empty() ? problem.operatorName : problem.qualname + " (" + problem.operatorName + ")",
                problem.message, problem.advice.empty() ? "" : "; ", problem.advice);
            fmt::print("{}\n", base::visibleText(line));
        }
        fmt::print("{} {}, errors: {}\n", m_problems.size(), m_problems.size() == 1 ? "problem" : "problems",
                   errorCount());
    }

    void printJson() const {
        nlohmann::ordered_json root{
            {"format", "sonde-problems"}, {"version", 1}, {"problems", nlohmann::ordered_json::array()}};
        for (const analysis::Problem& problem : m_problems) {
            root["problems"].push_back({{"kind", name(problem.kind)},
                                        {"role", name(problem.role)},
                                        {"severity", severityName(problem.severity)},
                                        {"node", nameOf(problem)},
                                        {"qualname", problem.qualname},
                                        {"operator", problem.operatorName},
                                        {"message", problem.message},
                                        {"advice", problem.advice}});
        }
        fmt::print("{}\n", root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    /// One test case for each problem, failed if it is an error; one that passed if there is none.
    base::Result<void> writeJunit() const {
        std::ofstream file(m_options.junit);
        file << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             << fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", xml(m_document->title),
                            std::max<std::size_t>(m_problems.size(), 1), errorCount());
        if (m_problems.empty()) file << "  <testcase name=\"no problems\"/>\n";
        for (const analysis::Problem& problem : m_problems) {
            const bool isError = problem.severity == base::Severity::Error;
            const std::string said =
                isError ? fmt::format("<failure message=\"{}\">{}</failure>", xml(problem.message), xml(problem.advice))
                        : fmt::format("<system-out>{}</system-out>", xml(problem.message));
            file << fmt::format("  <testcase classname=\"{}\" name=\"{} {}\">\n    {}\n  </testcase>\n",
                                problem.qualname.empty() ? "(root)" : xml(problem.qualname), xml(nameOf(problem)),
                                name(problem.kind), said);
        }
        file << "</testsuite>\n";
        file.flush();
        if (!file) return base::runError("the file cannot be written", m_options.junit);
        return {};
    }

    ProblemsOptions& m_options;
    std::shared_ptr<const document::Document> m_document;
    std::vector<analysis::Problem> m_problems;
};

}  // namespace

Verb problemsVerb() {
    return {"problems", "Run a model and list failures, NaN and infinity by the nodes that produced them first",
            "sonde problems model.onnx --input-data photo.png --json", [](CLI::App& command) {
                auto options = std::make_shared<ProblemsOptions>();
                options->model.addTo(command);
                options->inputs.addTo(command);
                command
                    .add_option("--accept", options->accepted,
                                "Node whose NaN and infinity are intended, as in masks (again for more)")
                    ->allow_extra_args(false);
                command.add_flag("--json", options->json, "Print one JSON object");
                command.add_option("--junit", options->junit, "Also write the problems as JUnit XML");
                command.add_option("--seed", options->inputs.seed, "Seed of random inputs and operators");
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return ProblemsVerb(*options).run(); });
            }};
}

}  // namespace sonde::app
