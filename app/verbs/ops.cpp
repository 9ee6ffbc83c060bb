#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/verb.h"
#include "core/ops/registry/registry.h"

namespace sonde::app {

namespace {

/// The dtypes of all inputs together: "float32 float64 int64", or "any".
std::string dtypes(const ops::OpDef& op) {
    ops::DTypeSet set = 0;
    for (const ops::Formal& input : op.inputs) set |= input.dtypes;
    if (op.inputs.empty() || set == ops::kAnyDType) return "any";
    std::string result;
    for (int i = 1; i < tensor::kDTypeCount; ++i) {
        const auto dtype = static_cast<tensor::DType>(i);
        if (set & ops::bit(dtype)) result += (result.empty() ? "" : " ") + std::string(tensor::name(dtype));
    }
    return result;
}

base::Result<int> list(const std::string& filter) {
    for (const ops::OpDef* op : ops::Registry::all().rows()) {
        const std::string title =
            (op->domain.empty() ? "ai.onnx" : std::string(op->domain)) + "::" + std::string(op->name);
        if (!filter.empty() && title.find(filter) == std::string::npos) continue;
        fmt::print("{:44} {:>3}  {}  [{}]{}\n", title, op->since, op->summary, dtypes(*op),
                   op->deprecated ? "  deprecated" : "");
    }
    return 0;
}

}  // namespace

Verb opsVerb() {
    return {"ops", "List the known operators: domain, name, first version, summary, dtypes", "sonde ops --filter Conv",
            [](CLI::App& command) {
                auto filter = std::make_shared<std::string>();
                command.add_option("--filter", *filter, "Only operators whose name contains this");
                return std::function<base::Result<int>()>([filter] { return list(*filter); });
            }};
}

}  // namespace sonde::app
