#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <unordered_map>

#include "core/analysis/findings/checker.h"

namespace sonde::analysis {

using graph::Expr;
using graph::ExprId;
using graph::NodeId;

namespace {

/// As tools make identifiers and file names of it: one case, no marks.
std::string plainName(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool isKept = std::isalnum(byte) != 0 || byte >= 0x80;
        plain += isKept ? static_cast<char>(std::tolower(byte)) : '_';
    }
    return plain;
}

void findSameOperationNames(const CheckedModel& model, std::vector<Finding>& findings) {
    // The inside of a function that is called twice has its names twice.
    std::unordered_map<std::string, std::vector<ExprId>> byName;
    std::vector<std::string> order;
    for (const ExprId id : model.graph.main().order) {
        const Expr& expr = model.graph.expr(id);
        if (expr.name.empty() || !isComputed(expr) || expr.outputs.empty()) continue;
        std::vector<ExprId>& same = byName[expr.name];
        if (same.size() == 1) order.push_back(expr.name);
        same.push_back(id);
    }
    for (const std::string& name : order) {
        Finding finding{
            {},
            base::Severity::Warning,
            Confidence::High,
            {},
            {},
            fmt::format("{} operations of the file are named '{}': profiles, quantisation tables and edits that go "
                        "by name take one for the other",
                        byName[name].size(), name),
            "give each operation a name of its own"};
        for (const ExprId id : byName[name]) finding.nodes.push_back(model.graph.expr(id).outputs.front());
        findings.push_back(std::move(finding));
    }
}

/// Of inputs, outputs and parameters: names that people and programs use.
void findAlikeNames(const CheckedModel& model, std::vector<Finding>& findings) {
    std::vector<NodeId> named = model.graph.inputs();
    for (const ExprId id : model.graph.main().order)
        if (const Expr& expr = model.graph.expr(id); expr.isParameter && !expr.outputs.empty())
            named.push_back(expr.outputs.front());
    for (const NodeId output : model.graph.outputs()) named.push_back(output);
    std::ranges::sort(named);
    named.erase(std::unique(named.begin(), named.end()), named.end());
    std::unordered_map<std::string, NodeId> known;
    for (const NodeId node : named) {
        const std::string& name = model.graph.node(node).name;
        const auto [first, isNew] = known.try_emplace(plainName(name), node);
        if (isNew || model.graph.node(first->second).name == name) continue;
        findings.push_back(
            {{},
             base::Severity::Info,
             Confidence::Medium,
             {first->second, node},
             {},
             fmt::format("'{}' and '{}' differ only in case or marks: tools that make identifiers or file names "
                         "of them confuse the two",
                         model.graph.node(first->second).name, name),
             "rename one of them before the export"});
    }
}

void findCollisions(const CheckedModel& model, std::vector<Finding>& findings) {
    findSameOperationNames(model, findings);
    findAlikeNames(model, findings);
}

}  // namespace

FindingChecker nameCollisionChecker() {
    return {"name-collision", FindingNeed::File,
            "Operations with one name, and inputs, outputs or parameters whose names differ only in case or marks",
            findCollisions};
}

}  // namespace sonde::analysis
