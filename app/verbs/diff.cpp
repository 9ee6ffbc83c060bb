#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/tolerances.h"
#include "app/verbs/validators.h"
#include "core/session/diff/model_diff.h"
#include "core/session/diff/stored_pairs.h"

namespace sonde::app {

namespace {

struct DiffOptions {
    ModelOptions model;
    std::string other;
    InputChoice inputs;
    ToleranceChoice tolerances;
    std::vector<std::string> pairs, apart;  ///< A=B
    std::size_t threads = 0;
    bool json = false;
};

/// "A=B": a node of either model. A name may hold "=": the first place where both sides are nodes counts.
base::Result<session::PairsByHand::Pair> pairOf(const document::Document& first, const document::Document& second,
                                                const std::string& text, const char* option) {
    std::optional<base::Error> unknown;
    for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
        const auto a = first.findNode(text.substr(0, at)), b = second.findNode(text.substr(at + 1));
        if (a && b) return session::PairsByHand::Pair{*a, *b};
        if (!unknown) unknown = a ? b.error() : a.error();
    }
    if (unknown) return *unknown;
    return base::usageError("a pair is NODE=NODE, a node of each model: '" + text + "'", option);
}

base::Result<std::vector<session::PairsByHand::Pair>> pairsOf(const document::Document& first,
                                                              const document::Document& second,
                                                              const std::vector<std::string>& texts,
                                                              const char* option) {
    std::vector<session::PairsByHand::Pair> pairs;
    for (const std::string& text : texts) {
        SONDE_ASSIGN(const session::PairsByHand::Pair pair, pairOf(first, second, text, option));
        pairs.push_back(pair);
    }
    return pairs;
}

/// A node has one counterpart, and a pair is made or parted.
base::Result<void> checkPairs(const document::Document& first, const document::Document& second,
                              const std::vector<session::PairsByHand::Pair>& same,
                              const std::vector<session::PairsByHand::Pair>& apart) {
    const auto nameOf = [&](const session::PairsByHand::Pair& pair, bool isFirst) {
        return "'" + (isFirst ? first.graph->node(pair.first).name : second.graph->node(pair.second).name) + "'";
    };
    for (auto one = same.begin(); one != same.end(); ++one) {
        if (std::ranges::find(apart, *one) != apart.end())
            return base::usageError(nameOf(*one, true) + " and " + nameOf(*one, false) + " are paired and parted",
                                    "--pair, --unpair", "leave out one of them");
        for (auto other = same.begin(); other != one; ++other) {
            const bool isFirst = one->first == other->first;
            if (*one == *other || (!isFirst && one->second != other->second)) continue;
            return base::usageError(nameOf(*one, isFirst) + " is paired with two nodes", "--pair",
                                    "a node has one counterpart");
        }
    }
    return {};
}

base::Result<int> printDiff(DiffOptions& options) {
    SONDE_ASSIGN(const auto first, options.model.load(options.inputs.spec));
    options.model.model = options.other;
    SONDE_ASSIGN(const auto second, options.model.load(options.inputs.spec));
    session::ModelDiffRequest request;
    request.tolerances = options.tolerances.tolerances();
    request.seed = seedOf(*first, options.inputs);
    request.threads = options.threads;
    std::vector<std::string> lost;
    request.byHand =
        session::pairsByHand(session::storedPairsWith(*first, options.other), *first->graph, *second->graph, lost);
    for (const std::string& line : lost) printWarning(line, first->location);
    SONDE_ASSIGN(const auto same, pairsOf(*first, *second, options.pairs, "--pair"));
    SONDE_ASSIGN(const auto apart, pairsOf(*first, *second, options.apart, "--unpair"));
    SONDE_TRY(checkPairs(*first, *second, same, apart));
    request.byHand.same.insert(request.byHand.same.end(), same.begin(), same.end());
    request.byHand.apart.insert(request.byHand.apart.end(), apart.begin(), apart.end());
    if (!options.inputs.spec.empty()) {
        SONDE_ASSIGN(auto cases, inputsFor(*first, options.inputs));
        if (cases.empty()) return base::usageError("no input is given", options.inputs.spec);
        if (cases.size() > 1) printWarning("the models run on the first of several inputs", cases.front().name);
        if (first->inputs.size() != second->inputs.size())
            return base::usageError(fmt::format("the models have {} and {} inputs: they cannot run on the same values",
                                                first->inputs.size(), second->inputs.size()),
                                    options.inputs.spec, "leave out --input-data");
        request.inputs = std::move(cases.front().values);
    }
    SONDE_ASSIGN(const session::ModelDiff diff, session::modelDiff(*first, *second, request, commandLineWork()));
    fmt::print("{}", options.json ? session::modelDiffJson(*first, *second, diff)
                                  : session::modelDiffText(*first, *second, diff));
    return diff.isEqual() ? 0 : 1;
}

}  // namespace

Verb diffVerb() {
    return {
        "diff", "Compare two models: structure, parameters, cost, metadata, values", "sonde diff old.onnx new.onnx",
        [](CLI::App& command) {
            auto options = std::make_shared<DiffOptions>();
            options->model.addTo(command);
            command.add_option("OTHER", options->other, "The model to compare with: file or zoo:NAME")->required();
            options->inputs.addTo(command);
            options->tolerances.addTo(command);
            command
                .add_option(
                    "--pair", options->pairs,
                    "A=B: node A of the first model is node B of the second, whatever they are (again for more)")
                ->allow_extra_args(false);
            command
                .add_option("--unpair", options->apart, "A=B: these are not each other's counterpart (again for more)")
                ->allow_extra_args(false);
            command.add_flag("--json", options->json, "One JSON object instead of text");
            addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
            addThreads(command, options->threads);
            command.footer(
                "Nodes are matched by structure first, so that two exports of one network with other names are equal.\n"
                "matched is the part of the operations of both models that have a counterpart in the other one.\n"
                "A session file that compares its model side by side with OTHER brings the pairs that were made there.\n"
                "Where two files write a layer in other operators, both models run on the same random numbers, if they are\n"
                "not too large: what computes other values has changed, and what leads to the same values has not.\n"
                "With --input-data both models run on the same values, and the values of matched nodes are compared\n"
                "as `sonde check` compares them, the first model being the reference.\n\n"
                "Exit status: 0 if structure, parameters and values are the same, 1 if they differ (as of diff and of\n"
                "sonde check), 2 wrong usage, 3 a model cannot be read. Other names, metadata and cost alone are no\n"
                "difference; neither are values within the tolerance.\n\n" +
                command.get_footer());
            return std::function<base::Result<int>()>([options] { return printDiff(*options); });
        }};
}

}  // namespace sonde::app
