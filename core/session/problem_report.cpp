#include "core/session/problem_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>

#include "core/base/visible_text.h"
#include "core/base/xml_text.h"
#include "core/session/problem_json.h"

namespace sonde::session {

using analysis::Problem;

namespace {

using base::xmlText;

std::string placeOf(const Problem& problem) {
    return problem.qualname.empty() ? problem.operatorName : problem.qualname + " (" + problem.operatorName + ")";
}

std::string testCaseOf(const ProblemReport& report, const Problem& problem) {
    const bool isError = problem.severity == base::Severity::Error;
    const std::string body = isError
                                 ? fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", name(problem.kind),
                                               xmlText(problem.message), xmlText(problem.advice))
                                 : fmt::format("<system-out>{}</system-out>", xmlText(problem.message));
    return fmt::format("  <testcase classname=\"{}\" name=\"{} {}\">\n    {}\n  </testcase>\n",
                       problem.qualname.empty() ? "(root)" : xmlText(problem.qualname), xmlText(report.nameOf(problem)),
                       name(problem.kind), body);
}

}  // namespace

std::string ProblemReport::nameOf(const Problem& problem) const {
    return problem.node.valid() ? graph->node(problem.node).name : std::string();
}

std::size_t ProblemReport::errorCount() const {
    return static_cast<std::size_t>(std::ranges::count(problems, base::Severity::Error, &Problem::severity));
}

std::string ProblemReport::text() const {
    std::string all;
    for (const Problem& problem : problems) {
        const std::string line =
            fmt::format("{:7}  {:10}  {:7}  {}  {}: {}{}{}", analysis::severityName(problem.severity),
                        name(problem.kind), name(problem.role), nameOf(problem), placeOf(problem), problem.message,
                        problem.advice.empty() ? "" : "; ", problem.advice);
        all += base::visibleText(line) + "\n";
    }
    return all + fmt::format("{} {}, errors: {}\n", problems.size(), problems.size() == 1 ? "problem" : "problems",
                             errorCount());
}

std::string ProblemReport::json() const {
    const nlohmann::ordered_json root{
        {"format", "sonde-problems"}, {"version", 1}, {"problems", problemsJson(*graph, problems)}};
    return root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string ProblemReport::junit() const {
    std::string all = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
                      fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n", xmlText(title),
                                  std::max<std::size_t>(problems.size(), 1), errorCount());
    if (problems.empty()) all += "  <testcase name=\"no problems\"/>\n";
    for (const Problem& problem : problems) all += testCaseOf(*this, problem);
    return all + "</testsuite>\n";
}

base::Result<void> ProblemReport::write(const std::string& path) const {
    return writeText(path.ends_with(".xml") ? junit() : path.ends_with(".json") ? json() : text(), path);
}

base::Result<void> writeText(const std::string& text, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.flush();
    if (!file) return base::runError("the file cannot be written", path);
    return {};
}

}  // namespace sonde::session
