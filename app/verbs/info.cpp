#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/graph/missing_data.h"
#include "core/session/model_info.h"
#include "core/session/read_inputs.h"

namespace sonde::app {

namespace {

struct InfoOptions {
    ModelOptions model;
    InputChoice inputs;
    std::size_t threads = 0;
    int depth = 0;
    bool nodes = false, json = false;
};

/// Whether not even the rank of an input is known, so that nothing can be told of what the model does with it.
bool hasOpenRank(const document::Document& document) {
    return std::ranges::any_of(document.inputs, [&](const document::NamedNode& input) {
        const tensor::TypeInfo& type = document.graph->node(input.node).type;
        return (type.isTensor() || !type.kind) && !type.shape;
    });
}

/// The input that a run takes where none is given: "x: float32[1,12]". Without one the request stays as it is.
void takeUsualInput(const document::Document& document, const InputChoice& choice, session::ModelInfoRequest& request) {
    auto cases = session::readCases(document, {{}, choice.image, request.seed}, commandLineWork());
    if (!cases || cases->empty()) return;
    request.inputs = std::move(cases->front().values);
    request.inputsAre = "the input that a run takes by itself";
    for (std::size_t i = 0; i < document.inputs.size() && i < request.inputs.size(); ++i)
        request.inputsAre += (i == 0 ? " (" : ", ") + document.inputs[i].name + ": " + request.inputs[i].typeText();
    request.inputsAre += ')';
}

base::Result<int> printInfo(InfoOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load(options.inputs.spec));
    session::ModelInfoRequest request;
    request.threads = options.threads;
    request.seed = seedOf(*document, options.inputs);
    if (!options.inputs.spec.empty()) {
        SONDE_ASSIGN(auto cases, inputsFor(*document, options.inputs));
        if (cases.empty()) return base::usageError("no input is given", options.inputs.spec);
        if (cases.size() > 1) printWarning("the cost is that of the first of several inputs", cases.front().name);
        request.inputs = std::move(cases.front().values);
    } else if (hasOpenRank(*document) && graph::checkComplete(document->graph)) {
        takeUsualInput(*document, options.inputs, request);
    }
    auto info = session::modelInfo(*document, request, commandLineWork());
    // A model that does not run on that is summarised all the same.
    const bool isUsual = options.inputs.spec.empty() && !request.inputs.empty();
    if (isUsual && !commandLineWork().cancelled() && (!info || !info->cost.total.hasMultiplyAdds())) {
        request.inputs.clear();
        info = session::modelInfo(*document, request, commandLineWork());
    }
    if (!info) return std::move(info).error();
    const std::string text = options.json ? session::modelInfoJson(*document, *info, options.nodes)
                                          : session::modelInfoText(*document, *info, options.depth);
    fmt::print("{}", text);
    return 0;
}

}  // namespace

Verb infoVerb() {
    return {
        "info", "Summarise a model: file, inputs, outputs, parameters, buffers, cost, operators",
        "sonde info model.onnx --json", [](CLI::App& command) {
            auto options = std::make_shared<InfoOptions>();
            options->model.addTo(command);
            options->model.needsValues = false;
            options->inputs.addTo(command);
            command.add_option("--depth", options->depth,
                               "List the cost of modules down to this depth: 1 for those directly in the model");
            command.add_flag("--nodes", options->nodes, "With --json: the cost of each operation, too");
            command.add_flag("--json", options->json, "One JSON object instead of text");
            addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
            addThreads(command, options->threads);
            command.footer(
                "Tied weights are initializers or parameters that several operators or modules share: they count once.\n"
                "Equal or transposed copies are separate tensors, and each of them counts.\n\n"
                "macs counts the multiply-adds of convolutions, matrix products, attention and recurrent layers, flops two for\n"
                "each of them and one for any other operation on a number. Without --input-data both are expressions where the\n"
                "model leaves dimensions open. With it they are those of this input; a model whose cost depends on the data\n"
                "runs once. Operators without a rule are listed as not counted. Activations are those of one iteration of a\n"
                "loop, the other figures those of all iterations.\n\n"
                "The SHA-256 reads the whole file and its external data: a terminal shows how far it is.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return printInfo(*options); });
        }};
}

}  // namespace sonde::app
