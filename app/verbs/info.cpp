#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/verb.h"
#include "app/verbs/options.h"
#include "core/analysis/model_summary.h"
#include "core/analysis/parameters.h"

namespace sonde::app {

namespace {

using Json = nlohmann::ordered_json;

struct InfoOptions {
    ModelOptions model;
    bool json = false;
};

/// What a model is, as far as it is known without a run.
struct Info {
    const document::Document& document;
    analysis::ModelCounts counts;
    analysis::ModelSummary summary;

    explicit Info(const document::Document& of)
        : document(of), counts(analysis::countParameters(*of.graph, *of.modules, of.original.get())),
          summary(analysis::summaryOf(*of.graph)) {}

    std::string property(const std::string& name) const {
        for (const auto& [key, value] : document.properties)
            if (key == name) return value;
        return {};
    }

    std::optional<std::uintmax_t> fileBytes() const {
        std::error_code code;
        const std::uintmax_t bytes = std::filesystem::file_size(document.location, code);
        return code ? std::nullopt : std::optional(bytes);
    }
};

Json listOf(const graph::InternalGraph& graph, const std::vector<document::NamedNode>& values) {
    Json list = Json::array();
    for (const document::NamedNode& value : values)
        list.push_back({{"name", value.name}, {"type", graph.node(value.node).type.text()}});
    return list;
}

void printJson(const Info& info) {
    const document::Document& document = info.document;
    Json file{{"path", document.location}};
    if (const auto bytes = info.fileBytes()) file["bytes"] = *bytes;
    file["format"] = document.format;
    if (const std::string producer = info.property("producer"); !producer.empty()) file["producer"] = producer;
    const Json root{{"format", "sonde-info"},
                    {"version", 1},
                    {"file", file},
                    {"inputs", listOf(*document.graph, document.inputs)},
                    {"outputs", listOf(*document.graph, document.outputs)},
                    {"parameters", info.counts.parameters.elements},
                    {"buffers", info.counts.buffers.elements},
                    {"parameter_bytes", info.counts.parameters.bytes},
                    {"operators", info.summary.operators},
                    {"unsupported", info.summary.unsupported},
                    {"modules", document.modules->modules().size()},
                    {"nodes", info.summary.nodes}};
    fmt::print("{}\n", root.dump(2, ' ', false, Json::error_handler_t::replace));
}

void printStored(const char* title, const analysis::StoredSum& sum) {
    fmt::print("{:12} {}", title, sum.elements);
    if (sum.tensors > 0)
        fmt::print(" in {} tensors, {} of {}", sum.tensors, analysis::bytesText(sum.bytes), analysis::dtypesText(sum));
    fmt::print("\n");
}

/// Inputs that need not be given, and what they are then.
void printDefaults(const document::Document& document) {
    for (const graph::NodeId node : document.graph->inputs()) {
        const graph::Expr& input = document.graph->expr(document.graph->node(node).producer);
        const bool isListed =
            std::ranges::find(document.inputs, node, &document::NamedNode::node) != document.inputs.end();
        const bool isPlain =
            !input.arguments.empty() && input.arguments.front().kind == graph::Argument::Kind::Constant;
        if (!isListed && isPlain)
            fmt::print("{:12} {}: {}, not required\n", "input", input.target, input.arguments.front().constant.text());
    }
}

void printText(const Info& info) {
    const document::Document& document = info.document;
    fmt::print("{} ({})\n", document.title, document.format);
    for (const auto& [key, value] : document.properties) fmt::print("{:12} {}\n", key, value);
    for (const auto& input : document.inputs)
        fmt::print("{:12} {}: {}\n", "input", input.name, document.graph->node(input.node).type.text());
    printDefaults(document);
    for (const auto& output : document.outputs)
        fmt::print("{:12} {}: {}\n", "output", output.name, document.graph->node(output.node).type.text());
    printStored("parameters", info.counts.parameters);
    if (info.counts.unread.elements > 0)
        fmt::print("{:12} {} of them are not used by any operation\n", "", info.counts.unread.elements);
    if (info.counts.parameters.elements == 0) {
        if (const std::size_t computed = analysis::countComputedWeights(*document.graph))
            fmt::print("{:12} {} weights are computed in the graph and not stored\n", "", computed);
    }
    printStored("buffers", info.counts.buffers);
    printStored("constants", info.counts.constants);
    const auto all = info.counts.parameters.elements + info.counts.buffers.elements + info.counts.constants.elements;
    if (all != info.counts.parameters.elements) fmt::print("{:12} {} elements in all of these\n", "stored", all);
    std::int64_t tied = 0;
    for (const analysis::StoredTensor& tensor : info.counts.tensors) {
        if (tensor.kind != analysis::StoredKind::Parameter || !tensor.isTied()) continue;
        if (tied++ < 20) fmt::print("{:12} {}, counted once\n", "tied", fmt::join(tensor.names, " = "));
    }
    if (tied > 20) fmt::print("{:12} and {} more\n", "", tied - 20);
    fmt::print("{:12} {}\n{:12} {}\n", "modules", document.modules->modules().size(), "nodes", info.summary.nodes);
    for (const auto& [op, count] : info.summary.operators)
        fmt::print("{:>12} {}{}\n", count, op, info.summary.unsupported.contains(op) ? "  (cannot be run)" : "");
}

}  // namespace

Verb infoVerb() {
    return {
        "info", "Summarise a model: inputs, outputs, parameters, buffers, operators", "sonde info model.onnx --json",
        [](CLI::App& command) {
            auto options = std::make_shared<InfoOptions>();
            options->model.addTo(command);
            command.add_flag("--json", options->json, "One JSON object instead of text");
            command.footer(
                "Tied weights are initializers or parameters that several operators or modules share: they count once.\n"
                "Equal or transposed copies are separate tensors, and each of them counts.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options]() -> base::Result<int> {
                SONDE_ASSIGN(const auto document, options->model.load());
                const Info info(*document);
                options->json ? printJson(info) : printText(info);
                return 0;
            });
        }};
}

}  // namespace sonde::app
