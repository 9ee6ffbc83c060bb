#include "core/session/precision/precision.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/document/without_writes.h"
#include "core/session/diff/quantised_model.h"

namespace sonde::app {

namespace {

using session::precision::Report;

struct PrecisionOptions {
    ModelOptions model;
    std::string other, type;
    InputChoice inputs;
    std::vector<std::string> nodes;
    bool perChannel = false, json = false, allNodes = false;
    std::size_t threads = 0, worst = 10;
};

base::Result<void> checkArguments(const PrecisionOptions& options) {
    if (options.other.empty() && options.type.empty())
        return base::usageError("there is nothing to compare the model with", "precision",
                                "give --type float16, bfloat16 or int8, or a quantised MODEL");
    if (!options.other.empty() && (!options.type.empty() || !options.nodes.empty() || options.perChannel))
        return base::usageError("another model and a type to round to are given", "precision",
                                "give one of them: QUANTISED or --type");
    return {};
}

base::Result<int> measurePrecision(PrecisionOptions& options) {
    SONDE_TRY(checkArguments(options));
    const base::WorkContext work = commandLineWork();
    session::precision::SimulationOptions simulation{{}, options.perChannel, options.nodes};
    if (!options.type.empty()) {
        SONDE_ASSIGN(simulation.type, session::precision::numberType(options.type));
    }
    SONDE_ASSIGN(const auto given, options.model.load(options.inputs.spec));
    // What an operation reads must not be what another one wrote to meanwhile.
    SONDE_ASSIGN(const auto document, document::withoutWrites(given, work));
    SONDE_ASSIGN(auto cases, inputsFor(*document, options.inputs));
    if (cases.size() > 1) printWarning(fmt::format("only the first of {} inputs is looked at", cases.size()));
    session::precision::Request request;
    request.inputs = std::move(cases.front().values);
    request.seed = seedOf(*document, options.inputs);
    request.threads = options.threads;
    request.worst = options.worst;
    std::optional<Report> report;
    if (options.other.empty()) {
        SONDE_ASSIGN(report, session::precision::measure(*document, simulation, request, work));
    } else {
        ModelOptions second = options.model;
        second.model = options.other;
        SONDE_ASSIGN(const auto loaded, second.load(options.inputs.spec));
        SONDE_ASSIGN(const auto quantised, document::withoutWrites(loaded, work));
        SONDE_ASSIGN(report, session::measureQuantised(*document, *quantised, request, work));
    }
    if (!options.json) {
        fmt::print("{}", session::precision::reportText(*report, *document, options.allNodes));
        return 0;
    }
    using Json = nlohmann::ordered_json;
    Json object{{"format", "sonde-precision"}, {"version", 1}};
    object["type"] = options.type.empty() ? Json(nullptr) : Json(options.type);
    object["other"] = options.other.empty() ? Json(nullptr) : Json(options.other);
    session::precision::addReport(object, *report, *document->graph);
    fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    return 0;
}

}  // namespace

Verb precisionVerb() {
    return {"precision", "Where the error of a lower precision, or of a quantised model, begins and how it grows",
            "sonde precision resnet18.onnx --type int8 --per-channel --input-data photo.png", [](CLI::App& command) {
                auto options = std::make_shared<PrecisionOptions>();
                options->model.addTo(command);
                command.add_option("QUANTISED", options->other,
                                   "The same model, quantised: compared with MODEL value by value");
                command.add_option("--type", options->type,
                                   "Round to float16, bfloat16 or int8: what each chosen operation reads, weights too, "
                                   "and what it gives");
                command
                    .add_option("--nodes", options->nodes,
                                "Round only at operations whose results this query finds (again for more), as in the "
                                "window's search: op:Conv, layer1")
                    ->allow_extra_args(false);
                command.add_flag("--per-channel", options->perChannel,
                                 "int8: a scale for each output channel of a weight");
                options->inputs.addTo(command);
                addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
                command.add_option("--worst", options->worst, "How many nodes the lists have")
                    ->check(nonNegativeInteger())
                    ->capture_default_str();
                command.add_flag("--all", options->allNodes, "List every node, in execution order");
                command.add_flag("--json", options->json, "Print one JSON object");
                addThreads(command, options->threads);
                command.footer(
                    "Both runs have the same inputs. For each value: the largest absolute and relative difference and\n"
                    "the ratio of signal to noise, 10 log10(sum r^2 / sum (a - r)^2), with that of the inputs it was\n"
                    "computed from. Operations that only move elements are not rounded.\n"
                    "float16, bfloat16: to the nearest number, ties to even. int8: to the nearest multiple of\n"
                    "max|x| / 127, symmetric, with the maximum of the value itself; biases stay as they are. Between\n"
                    "rounding its inputs and its result an operation computes, and accumulates, in float32.\n"
                    "What is quantised and dequantised at once is compared as it comes out.\n\n" +
                    command.get_footer());
                return std::function<base::Result<int>()>([options] { return measurePrecision(*options); });
            }};
}

}  // namespace sonde::app
