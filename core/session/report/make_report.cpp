#include "core/session/report/make_report.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/analysis/problem.h"
#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/one_line.h"
#include "core/base/version.h"
#include "core/session/findings/finding_groups.h"
#include "core/session/report/report_blocks.h"
#include "core/session/report/report_weights.h"

namespace sonde::session {

using tensor::SymbolicSum;

namespace {

using Column = ReportTable::Column;

constexpr int kMaxReportDepth = 2;
constexpr const char* kInfoCommand = "sonde info --json";  // where all of a table is that is cut here
constexpr std::size_t kMaxNamed = 5;                       // of one finding

/// "4.089 G", "3,072", "1024*N".
std::string reportSum(const SymbolicSum& sum) {
    const auto number = sum.constant();
    if (!number) return sum.text();
    constexpr std::pair<double, const char*> kUnits[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    for (const auto& [unit, letter] : kUnits)
        if (static_cast<double>(*number) >= unit)
            return fmt::format("{:.4g} {}", static_cast<double>(*number) / unit, letter);
    return base::countText(*number);
}

/// A sum of nothing is no zero: what is not known is told as such.
std::string reportSum(const SymbolicSum& sum, bool isKnown) { return isKnown ? reportSum(sum) : "not known"; }

std::string reportBytes(const SymbolicSum& sum) {
    const auto number = sum.constant();
    return number ? analysis::bytesText(*number) : sum.text();
}
std::string reportBytes(const SymbolicSum& sum, bool isKnown) { return isKnown ? reportBytes(sum) : "not known"; }

/// Where a file is on somebody's machine is no fact about the model.
std::string fileName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool isInTables(const std::string& title) {
    return title == "input" || title == "output" || title == "dimension" || title == "data file";
}

/// The lines that the command and the panel show, so that one figure is one text everywhere.
ReportSection summarySection(const document::Document& document, const ReportContent& content) {
    const ModelInfo& info = content.info;
    std::vector<std::vector<std::string>> rows;
    for (InfoLine& line : modelInfoLines(document, info)) {
        // Operators, inputs and outputs are in tables, and where data files are is no fact about the model.
        if (line.isCount || isInTables(line.title)) continue;
        rows.push_back({line.title.empty() ? "model" : std::move(line.title), std::move(line.text)});
    }
    for (const ModelFile& each : info.file.external)
        rows.push_back({"data file", fmt::format("{}, {} bytes", fileName(each.path), each.bytes)});
    std::vector<std::string> unsupported(info.summary.unsupported.begin(), info.summary.unsupported.end());
    rows.push_back({"cannot be run", joinedText(unsupported, unsupported.size())});
    const auto counted = [](std::size_t count, const char* unit) {
        return base::countedText(static_cast<std::int64_t>(count), unit);
    };
    rows.push_back({"findings", fmt::format("{} ({}, {}), {} accepted", content.findings.openCount(),
                                            counted(content.findings.count(base::Severity::Error), "error"),
                                            counted(content.findings.count(base::Severity::Warning), "warning"),
                                            content.findings.acceptedCount())});
    ReportSection section{"summary", "Summary", {factTable(std::move(rows))}};
    ReportTable values{"Inputs and outputs", {{""}, {"name"}, {"type"}}, {}, {}};
    for (const document::NamedNode& each : document.inputs)
        values.rows.push_back({"input", each.name, document.graph->node(each.node).type.text()});
    for (const document::NamedNode& each : document.outputs)
        values.rows.push_back({"output", each.name, document.graph->node(each.node).type.text()});
    cutRows(values, kInfoCommand);
    section.blocks.emplace_back(std::move(values));
    if (!info.dimensions.empty()) {
        ReportTable open{"Open dimensions", {{"name"}, {"size", true}, {"of"}, {"outputs that depend on it"}}, {}, {}};
        for (const analysis::DynamicDimension& each : info.dimensions)
            open.rows.push_back({each.name, each.size ? std::to_string(*each.size) : "open",
                                 joinedText(each.inputs, each.inputs.size()),
                                 joinedText(each.outputs, each.outputs.size())});
        cutRows(open, kInfoCommand);
        section.blocks.emplace_back(std::move(open));
    }
    return section;
}

/// Errors have lines, and begin in lower case.
std::string sentence(std::string text) {
    text = base::oneLine(std::move(text));
    if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

ReportFinding reportFinding(const FindingReport& report, const FindingGroup& group) {
    ReportFinding one{std::string(analysis::severityName(group.severity)),
                      group.id,
                      std::string(analysis::name(group.confidence)),
                      namedText(group.names, kMaxNamed),
                      group.message,
                      group.advice,
                      group.accepted.value_or(std::string()),
                      {}};
    if (group.count() == 1) return one;
    one.message = fmt::format("{} findings: {}.", group.count(), group.description);
    for (const std::size_t index : group.members) {
        const analysis::Finding& finding = report.findings[index].finding;
        one.each.emplace_back(joinedText(analysis::namesOf(*report.graph, finding), kMaxNamed), finding.message);
    }
    if (const std::string common = takeCommonEnd(one.each); !common.empty()) one.message += " Each: " + common + ".";
    return one;
}

ReportSection findingsSection(const ReportContent& content) {
    ReportSection section{"findings", "Findings", {}};
    ReportFindings all;
    for (const FindingGroup& group : groupsOf(content.findings))
        all.findings.push_back(reportFinding(content.findings, group));
    const bool isCut = std::ranges::any_of(content.findings.findings, [&](const ReportedFinding& each) {
        return analysis::namesOf(*content.findings.graph, each.finding).size() > kMaxNamed;
    });
    if (isCut) all.note = "`sonde findings --json` lists every name where some are cut here. ";
    std::size_t more = 0;
    for (const auto& [id, count] : content.findings.leftOut) more += count;
    if (more > 0) all.note += fmt::format("and {} more, which `sonde findings --json` counts by kind", more);
    const bool isAllChecked = content.findings.notChecked.empty();
    if (all.findings.empty())
        section.blocks.emplace_back(
            ReportText{isAllChecked ? "Nothing was found." : "Nothing was found by the checks that could be made."});
    else section.blocks.emplace_back(std::move(all));
    if (!content.findings.notChecked.empty())
        section.blocks.emplace_back(ReportText{
            "Not checked: " + joinedText(content.findings.notChecked, content.findings.notChecked.size()) + "."});
    for (const std::string& note : content.findings.notes) section.blocks.emplace_back(ReportText{sentence(note)});
    return section;
}

ReportSection graphSection(const ReportContent& content) {
    ReportSection section{"graph", "Graph", {}};
    if (!content.picturesNote.empty()) section.blocks.emplace_back(ReportText{content.picturesNote});
    for (const ReportPicture& picture : content.pictures) section.blocks.emplace_back(picture);
    return section;
}

int depthOf(const std::string& qualname) {
    return qualname.empty() ? 0 : 1 + static_cast<int>(std::ranges::count(qualname, '.'));
}

ReportSection costSection(const document::Document& document, const ModelInfo& info) {
    ReportSection section{"cost", "Cost", {}};
    section.blocks.emplace_back(ReportText{
        "Multiply-adds are those of convolutions, matrix products, attention and recurrent layers; FLOPs are two for each of "
        "them and one for any other operation on a number. The figures are of: " +
        info.costBasis + "."});
    const analysis::CostSum& total = info.cost.total;
    const auto peak = info.cost.peakActivationBytes;
    section.blocks.emplace_back(factTable(
        {{"multiply-adds", reportSum(total.multiplyAdds, total.hasMultiplyAdds())},
         {"FLOPs", reportSum(total.flops, total.hasFlops())},
         {"bytes read", reportBytes(total.bytesRead, total.hasBytes())},
         {"bytes written", reportBytes(total.bytesWritten, total.hasBytes())},
         {"intensity", total.intensity() ? fmt::format("{:.4g} FLOPs by byte", *total.intensity()) : std::string()},
         {"activations", reportBytes(total.activationBytes, total.hasActivations())},
         {"activations at once", peak ? analysis::bytesText(*peak) : std::string()}}));
    ReportTable modules{"By module",
                        {{"module"},
                         {"class"},
                         {"parameters", true},
                         {"multiply-adds", true},
                         {"FLOPs", true},
                         {"bytes read", true},
                         {"bytes written", true},
                         {"activations", true}},
                        {},
                        {}};
    std::vector<ReportChart::Bar> bars, parameters;
    for (std::size_t i = 0; i < document.modules->modules().size(); ++i) {
        const graph::ModuleInfo& module = document.modules->module(i);
        const analysis::CostSum& cost = info.cost.ofModule[i];
        if (depthOf(module.qualname) > kMaxReportDepth) continue;
        modules.rows.push_back({module.qualname.empty() ? "(model)" : module.qualname, module.moduleClass,
                                base::countText(info.counts.ofModule[i].parameters.elements),
                                reportSum(cost.multiplyAdds, cost.hasMultiplyAdds()),
                                reportSum(cost.flops, cost.hasFlops()), reportBytes(cost.bytesRead, cost.hasBytes()),
                                reportBytes(cost.bytesWritten, cost.hasBytes()),
                                reportBytes(cost.activationBytes, cost.hasActivations())});
        if (depthOf(module.qualname) != 1) continue;
        bars.push_back(
            {module.qualname, static_cast<double>(cost.flops.constant().value_or(0)), reportSum(cost.flops)});
        const std::int64_t elements = info.counts.ofModule[i].parameters.elements;
        parameters.push_back({module.qualname, static_cast<double>(elements), base::countText(elements)});
    }
    cutRows(modules, kInfoCommand);
    if (!bars.empty()) section.blocks.emplace_back(barChart("FLOPs by module", std::move(bars)));
    if (!parameters.empty()) section.blocks.emplace_back(barChart("Parameters by module", std::move(parameters)));
    section.blocks.emplace_back(std::move(modules));
    std::map<std::string, SymbolicSum> byOperator;
    for (std::size_t i = 0; i < info.cost.ofExpr.size(); ++i)
        if (info.cost.ofExpr[i].part == analysis::CostPart::Counted)
            byOperator[analysis::operatorTitle(info.graph->expr(graph::ExprId(i)))].add(info.cost.ofExpr[i].sum.flops);
    bars.clear();
    for (const auto& [name, sum] : byOperator)
        bars.push_back({name, static_cast<double>(sum.constant().value_or(0)), reportSum(sum)});
    section.blocks.emplace_back(barChart("FLOPs by operator", std::move(bars)));
    for (const std::string& assumption : info.cost.assumptions) section.blocks.emplace_back(ReportText{assumption});
    if (!info.cost.notCounted.empty()) {
        std::vector<std::string> names;
        for (const auto& [name, count] : info.cost.notCounted) names.push_back(fmt::format("{} ({})", name, count));
        section.blocks.emplace_back(ReportText{"Not counted: " + joinedText(names, names.size()) + "."});
    }
    return section;
}

ReportSection operatorsSection(const ModelInfo& info) {
    ReportTable table{"", {{"operator"}, {"domain"}, {"version", true}, {"count", true}, {""}}, {}, {}};
    for (const analysis::OperatorUse& use : info.structure.operators)
        table.rows.push_back({use.name, use.domain.empty() ? "ai.onnx" : use.domain,
                              use.version > 0 ? std::to_string(use.version) : std::string(), std::to_string(use.count),
                              use.isUnsupported ? "cannot be run" : ""});
    cutRows(table, kInfoCommand);
    return {"operators", "Operators", {std::move(table)}};
}

std::string shortNumber(double value) { return base::roundedText(value, 6); }

ReportSection valuesSection(const ReportContent& content) {
    ReportSection section{"values", "Values on the input", {}};
    if (!content.valuesNote.empty()) section.blocks.emplace_back(ReportText{sentence(content.valuesNote)});
    if (content.values.empty()) return section;
    section.blocks.emplace_back(ReportText{"Input data: " + content.inputData});
    ReportTable table{"",
                      {{""},
                       {"name"},
                       {"type"},
                       {"min", true},
                       {"max", true},
                       {"mean", true},
                       {"std", true},
                       {"zero", true},
                       {"NaN", true},
                       {"Inf", true}},
                      {},
                      {}};
    ReportTable hashes{"SHA-256 of their elements", {{""}, {"name"}, {"SHA-256"}}, {}, {}};
    for (const ReportedValue& value : content.values) {
        const analysis::TensorStats& stats = value.stats;
        const bool hasFigures = !value.sha256.empty() && stats.finiteCount() > 0;
        const auto figure = [&](double number) { return hasFigures ? shortNumber(number) : std::string(); };
        table.rows.push_back({value.kind, value.name, value.type, figure(stats.minimum), figure(stats.maximum),
                              figure(stats.mean), figure(stats.deviation), std::to_string(stats.zeroCount),
                              std::to_string(stats.nanCount), std::to_string(stats.infCount)});
        if (!value.sha256.empty()) hashes.rows.push_back({value.kind, value.name, value.sha256});
    }
    cutRows(table, "sonde run --out FILE.npz");
    cutRows(hashes, "sonde run --out FILE.npz");
    section.blocks.emplace_back(std::move(table));
    section.blocks.emplace_back(std::move(hashes));
    return section;
}

ReportSection versionsSection(const ReportContent& content) {
    const FileFacts& file = content.info.file;
    std::vector<std::vector<std::string>> rows{{"Sonde", SONDE_CORE_VERSION}};
    if (file.file) rows.push_back({fileName(file.path), "SHA-256 " + file.file->sha256});
    for (const ModelFile& each : file.external) rows.push_back({fileName(each.path), "SHA-256 " + each.sha256});
    for (const std::string& name : file.functions) rows.push_back({"function", name});
    for (const auto& [key, value] : file.properties) rows.push_back({key, value});
    for (const auto& [key, value] : file.metadata) rows.push_back({"metadata " + key, value});
    ReportTable table = factTable(std::move(rows));
    cutRows(table, kInfoCommand);
    return {"versions", "Versions and hashes", {std::move(table)}};
}

}  // namespace

Report makeReport(const document::Document& document, const ReportContent& content) {
    const FileFacts& file = content.info.file;
    Report report{document.title, "Audit report", {}, fmt::format("Sonde {}", SONDE_CORE_VERSION), {}};
    if (file.file && !file.file->sha256.empty()) report.source = "SHA-256 " + file.file->sha256;
    report.sections.push_back(summarySection(document, content));
    report.sections.push_back(findingsSection(content));
    report.sections.push_back(graphSection(content));
    report.sections.push_back(costSection(document, content.info));
    report.sections.push_back(operatorsSection(content.info));
    report.sections.push_back(weightsSection(document, content.info));
    report.sections.push_back(valuesSection(content));
    if (content.comparison) report.sections.push_back(comparisonSection(document, content.info, *content.comparison));
    if (content.profile) report.sections.push_back(profileSection(*content.profile));
    report.sections.push_back(versionsSection(content));
    return report;
}

}  // namespace sonde::session
