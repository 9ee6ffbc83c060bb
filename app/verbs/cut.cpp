#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/base/visible_text.h"
#include "core/export/write_piece.h"
#include "core/graph/operation_count.h"

namespace sonde::app {

namespace {

struct CutOptions {
    ModelOptions model;
    InputChoice inputs;
    std::vector<std::string> from, to;
    std::string output;
};

base::Result<int> cut(CutOptions& options) {
    const std::string values = exporting::pieceValuesPath(options.output).string();
    if (values == options.output)
        return base::usageError("the piece's values are written to " + values, "--output",
                                "name a file that ends in .onnx");
    SONDE_ASSIGN(const auto document,
                 options.model.load(
                     options.inputs.spec,
                     {{{"--output", options.output}, {"--output", options.output + ".data"}, {"--output", values}}}));
    exporting::PieceEnds ends;
    SONDE_ASSIGN(ends.from, nodesFor(*document, options.from));
    SONDE_ASSIGN(ends.to, nodesFor(*document, options.to));
    SONDE_ASSIGN(const auto cases, inputsFor(*document, options.inputs));
    if (cases.size() > 1)
        printWarning("the piece has the values of the first of " + std::to_string(cases.size()) + " inputs");
    SONDE_ASSIGN(const exporting::Piece piece,
                 exporting::cutPiece(*document, ends, cases.front().values, seedOf(*document, options.inputs),
                                     commandLineWork()));
    SONDE_ASSIGN(const exporting::WrittenPiece written,
                 exporting::writePiece(piece, options.output, commandLineWork()));
    for (const base::Diagnostic& note : written.notes) printWarning(note.what, note.where);
    for (const document::NamedNode& input : piece.document->inputs)
        fmt::print("in.{}  {}\n", base::visibleText(input.name),
                   base::visibleText(piece.document->graph->node(input.node).type.text()));
    for (const document::NamedNode& output : piece.document->outputs)
        fmt::print("out.{}  {}\n", base::visibleText(output.name),
                   base::visibleText(piece.document->graph->node(output.node).type.text()));
    fmt::print("{} of {} operations in {}, values in {}; run alone, its outputs differ by {:.3g} at most\n",
               written.operations, graph::operationCount(*document->graph), written.model.string(),
               written.values.string(), written.maxAbsolute);
    return 0;
}

}  // namespace

Verb cutVerb() {
    return {"cut", "Write a part of a model as a model of its own, with the values at its border",
            "sonde cut resnet18.onnx --from layer1: --to layer2: --input-data photo.png -o layer2.onnx",
            [](CLI::App& command) {
                auto options = std::make_shared<CutOptions>();
                options->model.addTo(command);
                command
                    .add_option("--from", options->from,
                                "Node whose value becomes an input of the piece (again for more); without, the piece "
                                "begins at the model's inputs")
                    ->allow_extra_args(false);
                command
                    .add_option("--to", options->to, "Node whose value becomes an output of the piece (again for more)")
                    ->required()
                    ->allow_extra_args(false);
                options->inputs.addTo(command);
                addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
                command
                    .add_option("-o,--output", options->output,
                                "The ONNX file to write; its inputs and outputs are written to an .npz of the same "
                                "name beside it, for `sonde check`")
                    ->required();
                return std::function<base::Result<int>()>([options] { return cut(*options); });
            }};
}

}  // namespace sonde::app
