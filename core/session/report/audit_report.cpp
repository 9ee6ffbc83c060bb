#include "core/session/report/audit_report.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/graph/missing_data.h"
#include "core/session/report/make_report.h"

namespace sonde::session {

namespace {

bool isCancelled(const base::Error& error) { return error.kind == base::ErrorKind::Cancelled; }

/// Each once, as the tree of modules has them: the same report in whatever order they were chosen.
std::vector<std::string> inTreeOrder(const graph::ModuleTree& tree, std::vector<std::string> modules) {
    const auto place = [&tree](const std::string& qualname) {
        return std::pair(tree.find(qualname).value_or(tree.modules().size()), qualname);
    };
    std::ranges::sort(modules, {}, place);
    modules.erase(std::unique(modules.begin(), modules.end()), modules.end());
    return modules;
}

base::Result<void> addPictures(ReportContent& content, const document::Document& document, const AuditRequest& request,
                               const base::WorkContext& work) {
    content.picturesNote = request.withoutPictures;
    if (!request.picture) return {};
    work.report("drawing the graph");
    auto whole = request.picture({}, work);
    if (whole) content.pictures.push_back({"The model", std::move(*whole)});
    else if (isCancelled(whole.error())) return whole.error();
    else content.picturesNote = "The graph is not drawn: " + whole.error().what + ".";
    for (const std::string& qualname : inTreeOrder(*document.modules, request.modules)) {
        SONDE_ASSIGN(auto one, request.picture(qualname, work));
        content.pictures.push_back({"Module " + qualname, std::move(one)});
    }
    return {};
}

base::Result<void> addValues(ReportContent& content, const document::Document& document, const AuditRequest& request,
                             const base::WorkContext& work) {
    const FindingRequest& run = request.findings;
    if (run.cases.empty()) {
        content.valuesNote = "The model was not run: " + run.withoutCases;
        return {};
    }
    if (const auto complete = graph::checkComplete(document.graph); !complete) {
        content.valuesNote = "The model was not run: " + complete.error().what;
        return {};
    }
    work.report("running the model");
    auto values = reportedValues(document, run.cases.front(), request.watched, run.seed, run.threads,
                                 base::WorkContext{work.stop, {}});
    if (!values && isCancelled(values.error())) return values.error();
    if (!values) {
        content.valuesNote = "The run failed: " + values.error().text();
        return {};
    }
    content.values = std::move(*values);
    content.inputData = fmt::format(
        "{}, seed {}", request.inputData.empty() ? "random numbers" : withoutFolders(request.inputData), run.seed);
    if (run.cases.size() > 1) content.valuesNote = fmt::format("The first of {} inputs.", run.cases.size());
    return {};
}

base::Result<void> addComparison(ReportContent& content, const document::Document& document,
                                 const AuditRequest& request, const base::WorkContext& work) {
    if (!request.other) return {};
    work.report("comparing the models");
    const base::WorkContext quiet{work.stop, {}};
    const document::Document& other = *request.other;
    SONDE_ASSIGN(ModelInfo about, modelInfo(other, {}, quiet));
    ModelDiffRequest how;
    how.seed = request.findings.seed;
    how.threads = request.findings.threads;
    std::string note;
    if (!request.findings.cases.empty() && document.inputs.size() == other.inputs.size())
        how.inputs = request.findings.cases.front();
    else note = "The models were not run on the same input: values are not compared.";
    SONDE_ASSIGN(ModelDiff diff, modelDiff(document, other, how, quiet));
    content.comparison = ReportedComparison{request.other, std::move(about.file), std::move(diff), std::move(note)};
    return {};
}

base::Result<void> addProfile(ReportContent& content, const document::Document& document, const AuditRequest& request,
                              const base::WorkContext& work) {
    if (!request.measuresTimes || request.findings.cases.empty() || content.values.empty()) return {};
    SONDE_ASSIGN(content.profile, reportedProfile(document, request.findings.cases.front(), request.findings.seed,
                                                  request.findings.threads, work));
    return {};
}

/// What the sizes of the cost are: of values that somebody gave, or of numbers that nobody did.
std::string inputsText(const document::Document& document, const AuditRequest& request) {
    if (!request.inputData.empty()) return "the given input";
    std::string text;
    const std::vector<tensor::Value>& values = request.findings.cases.front();
    for (std::size_t i = 0; i < document.inputs.size() && i < values.size(); ++i)
        text += (i > 0 ? ", " : "") + document.inputs[i].name + " " + tensor::TypeInfo::of(values[i]).text();
    return text.empty() ? "no input" : "random numbers, " + text;
}

}  // namespace

std::string withoutFolders(const std::string& inputData) {
    std::string text;
    bool isQuoted = false, isStart = true;  // of a path
    for (std::size_t i = 0; i < inputData.size(); ++i) {
        const char c = inputData[i];
        if (c == '\'') isQuoted = !isQuoted;
        if (isStart && !isQuoted && c == '/') {
            const std::size_t end = std::min(inputData.find_first_of("#;", i), inputData.size());
            i = inputData.rfind('/', end - 1);
            isStart = false;
            continue;
        }
        isStart = !isQuoted && (c == ':' || c == ';' || c == '@');
        text += c;
    }
    return text;
}

base::Result<Report> auditReport(const document::Document& document, const AuditRequest& request,
                                 const base::WorkContext& work) {
    ModelInfoRequest about;
    if (!request.findings.cases.empty()) {
        about.inputs = request.findings.cases.front();
        about.inputsAre = inputsText(document, request);
    }
    about.seed = request.findings.seed;
    about.threads = request.findings.threads;
    SONDE_ASSIGN(const ModelInfo info, modelInfo(document, about, work));
    SONDE_ASSIGN(const FindingReport findings, findFindings(document, info, request.findings, work));
    ReportContent content{info, findings, {}, {}, {}, {}, {}};
    SONDE_TRY(addValues(content, document, request, work));
    SONDE_TRY(addComparison(content, document, request, work));
    SONDE_TRY(addProfile(content, document, request, work));
    SONDE_TRY(addPictures(content, document, request, work));
    return makeReport(document, content);
}

}  // namespace sonde::session
