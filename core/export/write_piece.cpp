#include "core/export/write_piece.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/analysis/difference.h"
#include "core/exec/runner.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/export/write_export.h"
#include "core/io/npz/npz.h"

namespace sonde::exporting {

namespace {

using tensor::Value;

/// The piece's values in the order of the inputs that its ONNX form has. Numbers became constants of it.
std::vector<Value> inputsOf(const Piece& piece, const graph::InternalGraph& written) {
    std::vector<Value> values;
    const graph::InternalGraph& source = *piece.document->graph;
    for (const graph::NodeId node : written.inputs()) {
        const graph::NodeId original = source.findNode(written.node(node).name);
        const auto at = std::ranges::find(source.inputs(), original) - source.inputs().begin();
        values.push_back(piece.inputs[static_cast<std::size_t>(at)]);
    }
    return values;
}

/// How far the outputs of the ONNX form are from those in the model.
base::Result<double> verified(const Piece& piece, const std::shared_ptr<const graph::InternalGraph>& written,
                              std::span<const Value> inputs, const base::WorkContext& work) {
    SONDE_ASSIGN(const auto plan, exec::Plan::make(written, {}));
    exec::Runner runner;
    const exec::Recording recording = runner.run(*plan, inputs, work);
    if (recording.error) return base::Error(*recording.error).withNote("the piece was run alone");
    double largest = 0;
    for (std::size_t i = 0; i < piece.outputs.size(); ++i) {
        const tensor::Tensor& expected = piece.outputs[i].tensor();
        const std::string& name = piece.document->outputs[i].name;
        if (i >= recording.outputs.size() || !recording.outputs[i].isTensor())
            return base::runError("the piece does not give output '" + name + "'", piece.document->title);
        const tensor::Tensor& actual = recording.outputs[i].tensor();
        if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape())
            return base::Error{base::ErrorKind::Comparison,
                               "alone the piece gives " + actual.typeText() + " as '" + name + "', in the model " +
                                   expected.typeText(),
                               piece.document->location};
        const analysis::Difference difference =
            analysis::difference(actual, expected, analysis::Tolerances{}.of(expected.dtype()));
        if (!difference.ok)
            return base::Error{base::ErrorKind::Comparison,
                               fmt::format("alone the piece gives other values as '{}': largest difference {:.6g}",
                                           name, difference.maxAbsolute),
                               piece.document->location,
                               "operations outside of it write to memory that it reads: begin or end elsewhere, or cut "
                               "with --pass remove-inplace"};
        largest = std::max(largest, difference.maxAbsolute);
    }
    return largest;
}

}  // namespace

std::filesystem::path pieceValuesPath(const std::filesystem::path& model) {
    return std::filesystem::path(model).replace_extension(".npz");
}

base::Result<WrittenPiece> writePiece(const Piece& piece, const std::filesystem::path& path,
                                      const base::WorkContext& work) {
    WrittenPiece result;
    result.model = path;
    result.values = pieceValuesPath(path);
    if (result.model == result.values)
        return base::usageError("the piece's values are written to this file", result.values.string(),
                                "name a file that ends in .onnx");
    SONDE_ASSIGN(OnnxGraph made, onnxGraph(*piece.document, piece.inputs, work));
    const std::vector<Value> inputs = inputsOf(piece, *made.graph);
    SONDE_ASSIGN(result.maxAbsolute, verified(piece, made.graph, inputs, work));

    Document written = *piece.document;
    written.graph = made.graph;
    SONDE_ASSIGN(const WrittenExport model, writeExport(written, ExportChoice{ExportFormat::Onnx}, path, inputs, work));
    std::vector<io::NamedTensor> arrays;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].isTensor())
            arrays.emplace_back("in." + made.graph->node(made.graph->inputs()[i]).name, inputs[i].tensor());
    for (std::size_t i = 0; i < piece.outputs.size(); ++i)
        arrays.emplace_back("out." + made.graph->node(made.graph->outputs()[i]).name, piece.outputs[i].tensor());
    SONDE_TRY(io::writeNpz(result.values, arrays));
    result.inputs = inputs.size();
    result.outputs = piece.outputs.size();
    result.operations = piece.operations;
    result.notes = std::move(made.notes);
    result.notes.insert(result.notes.end(), model.notes.begin(), model.notes.end());
    return result;
}

}  // namespace sonde::exporting
