#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/session/model_info.h"

namespace sonde::app {

namespace {

struct InfoOptions {
    ModelOptions model;
    InputChoice inputs;
    std::size_t threads = 0;
    int depth = 0;
    bool nodes = false, json = false;
};

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
    }
    SONDE_ASSIGN(const session::ModelInfo info, session::modelInfo(*document, request, commandLineWork()));
    const std::string text = options.json ? session::modelInfoJson(*document, info, options.nodes)
                                          : session::modelInfoText(*document, info, options.depth);
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
