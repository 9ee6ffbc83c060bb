#include <array>
#include <fmt/format.h>
#include <map>

#include "core/analysis/findings/checker.h"
#include "core/analysis/problem.h"
#include "core/base/counted_text.h"

namespace sonde::analysis {

namespace {

/// Operators that a later opset took away (ONNX's Changelog).
struct Deprecated {
    std::string_view domain, name;
    int since = 0;
    std::string_view instead;
};
constexpr std::array kDeprecated{
    Deprecated{"", "Upsample", 10, "Resize"},
    Deprecated{"", "Scatter", 11, "ScatterElements"},
    Deprecated{"", "GroupNormalization", 21, "GroupNormalization of opset 21, with scale and bias by channel"},
    Deprecated{"ai.onnx.ml", "TreeEnsembleClassifier", 5, "TreeEnsemble"},
    Deprecated{"ai.onnx.ml", "TreeEnsembleRegressor", 5, "TreeEnsemble"},
    // Experimental ones, which never were in a release.
    Deprecated{"", "Affine", 1, "Mul and Add"},
    Deprecated{"", "Crop", 1, "Slice"},
    Deprecated{"", "DynamicSlice", 1, "Slice"},
    Deprecated{"", "ImageScaler", 1, "Mul and Add"},
    Deprecated{"", "ParametricSoftplus", 1, "Softplus and Mul"},
    Deprecated{"", "Scale", 1, "Mul"},
    Deprecated{"", "ScaledTanh", 1, "Tanh and Mul"},
};

/// From this opset on broadcasting, and with it every runtime of today, is as it is now.
constexpr std::int64_t kOldestCommon = 7, kOldOpset = 11;

void findDeprecated(const CheckedModel& model, std::vector<Finding>& findings) {
    std::map<const Deprecated*, std::vector<graph::NodeId>> found;
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const graph::Expr& expr = model.graph.expr(id);
        for (const Deprecated& row : kDeprecated) {
            const bool isSame = expr.op.name == row.name && expr.op.domain == row.domain;
            // What has that name later is another one.
            const bool isLater = row.since > 20 && expr.op.version >= row.since;
            if (isSame && !isLater && !expr.outputs.empty()) found[&row].push_back(expr.outputs.front());
        }
    }
    for (auto& [row, nodes] : found) {
        const auto count = static_cast<std::int64_t>(nodes.size());
        const std::string where = base::countedText(count, "operation");
        const std::string since = row->since == 1 ? "never was in a release of ONNX"
                                                  : fmt::format("is deprecated since opset {}", row->since);
        findings.push_back(
            {{},
             base::Severity::Warning,
             Confidence::High,
             std::move(nodes),
             {},
             fmt::format(
                 "{} {} {}: runtimes may drop it, and the model cannot be moved to a newer opset", where,
                 count == 1 ? fmt::format("calls {}, which", row->name) : fmt::format("call {}, which", row->name),
                 since),
             fmt::format("export again with a newer opset, which has {}", row->instead)});
    }
}

void findOldOpset(const CheckedModel& model, std::vector<Finding>& findings) {
    for (const auto& [domain, version] : model.opsets) {
        if (domain != "ai.onnx" && !domain.empty()) continue;
        if (version >= kOldOpset) continue;
        const bool isTooOld = version < kOldestCommon;
        findings.push_back(
            {{},
             isTooOld ? base::Severity::Warning : base::Severity::Info,
             Confidence::High,
             {},
             {},
             fmt::format("the file imports opset {} of ai.onnx: {}", version,
                         isTooOld ? "common runtimes begin with opset 7, and operators broadcast by other "
                                    "rules before"
                                  : "operators have changed since, and tools for newer opsets do not take it"),
             "export again with opset 17 or newer"});
    }
}

}  // namespace

FindingChecker deprecatedOperatorChecker() {
    return {"deprecated-operator", FindingNeed::File, "Operators of ONNX that a later opset took away", findDeprecated};
}

FindingChecker oldOpsetChecker() {
    return {"old-opset", FindingNeed::File, "An opset of ONNX that is too old for runtimes or tools of today",
            findOldOpset};
}

}  // namespace sonde::analysis
