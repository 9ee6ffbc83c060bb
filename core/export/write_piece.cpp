#include "core/export/write_piece.h"

#include <algorithm>

#include "core/base/replaced_file.h"
#include "core/document/document.h"
#include "core/export/form_check.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/export/write_export.h"
#include "core/graph/source_files.h"
#include "core/io/npz/npz.h"

namespace sonde::exporting {

namespace {

using tensor::Value;

/// How far the outputs of the ONNX form are from those in the model.
base::Result<double> verified(const Piece& piece, const std::shared_ptr<const graph::InternalGraph>& written,
                              std::span<const Value> inputs, const base::WorkContext& work) {
    std::vector<std::string> names;
    for (const document::NamedNode& output : piece.document->outputs) names.push_back(output.name);
    const auto check = checkForm(written, inputs, piece.outputs, names, work);
    if (!check) return base::Error(check.error()).withNote("the piece was run alone");
    if (!check->problem) return check->maxAbsolute;
    base::Error error{base::ErrorKind::Comparison, "alone the piece " + *check->problem, piece.document->location};
    if (check->areValues)
        error.hint =
            "operations outside of it write to memory that it reads: begin or end elsewhere, or cut with --pass "
            "remove-inplace";
    return error;
}

/// Renames the node, and another one that has the name.
void takeName(graph::InternalGraph& graph, graph::NodeId node, const std::string& name) {
    if (const graph::NodeId other = graph.findNode(name); other.valid() && other != node) {
        std::string free = name + "_inner";
        while (graph.findNode(free).valid()) free += '_';
        (void)graph.rename(other, free);
    }
    (void)graph.rename(node, name);
}

/// What an operator of ONNX that hands on its input is called, and since when.
constexpr std::string_view kIdentity = "Identity";
constexpr int kIdentityVersion = 13;

/// The outputs of the ONNX form under the names that they have in the model; one that stands for several gets an
/// Identity for each further one.
std::shared_ptr<const graph::InternalGraph> withOutputNames(const std::shared_ptr<const graph::InternalGraph>& graph,
                                                            const std::vector<document::NamedNode>& outputs) {
    std::vector<graph::NodeId> nodes = graph->outputs();
    const auto hasName = [&](std::size_t i) { return graph->node(nodes[i]).name == outputs[i].name; };
    bool areNamed = nodes.size() == outputs.size();
    for (std::size_t i = 0; areNamed && i < nodes.size(); ++i) areNamed = hasName(i);
    if (areNamed || nodes.size() != outputs.size()) return graph;
    auto made = std::make_shared<graph::InternalGraph>(*graph);
    int version = kIdentityVersion;
    for (const graph::ExprId id : made->main().order)
        if (made->expr(id).op.domain.empty() && made->expr(id).op.version > 0) version = made->expr(id).op.version;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const graph::ExprKind kind = made->expr(made->node(nodes[i]).producer).kind;
        const bool isFirst = std::find(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes[i]) ==
                             nodes.begin() + static_cast<std::ptrdiff_t>(i);
        if (isFirst && kind != graph::ExprKind::Input && kind != graph::ExprKind::Constant) {
            takeName(*made, nodes[i], outputs[i].name);
            continue;
        }
        graph::Expr identity;
        identity.op = {"", std::string(kIdentity), version};
        identity.target = kIdentity;
        identity.body = made->mainId();
        identity.scope = made->rootScope();
        identity.arguments = {graph::Argument::of(nodes[i])};
        std::string name = outputs[i].name + "_copy";
        while (made->findNode(name).valid()) name += '_';
        const graph::NodeId copy = made->expr(made->addExpr(std::move(identity), std::span(&name, 1))).outputs.front();
        made->setType(copy, made->node(nodes[i]).type);
        takeName(*made, copy, outputs[i].name);
        nodes[i] = copy;
    }
    std::vector<graph::Argument> results;
    for (const graph::NodeId node : nodes) results.push_back(graph::Argument::of(node));
    made->setResult(made->mainId(), results.size() == 1
                                        ? results.front()
                                        : graph::Argument::container(graph::Argument::Kind::Tuple, std::move(results)));
    return graph::withFiles(std::move(made), graph::filesOf(graph));
}

}  // namespace

namespace {

/// The values beside the place where they go, until the model is there too: there are both files or none.
class PieceValues {
  public:
    explicit PieceValues(std::filesystem::path path) : m_path(std::move(path)) {}
    PieceValues(const PieceValues&) = delete;
    PieceValues& operator=(const PieceValues&) = delete;
    ~PieceValues() {
        std::error_code ignored;
        if (!m_part.empty()) std::filesystem::remove(m_part, ignored);
    }

    base::Result<void> write(std::span<const io::NamedTensor> arrays) {
        SONDE_ASSIGN(m_place, base::placeToReplace(m_path));
        m_part = m_place;
        m_part += ".part";
        // Of what cannot be written the file counts that was asked for.
        if (auto written = io::writeNpz(m_part, arrays); !written)
            return base::Error(written.error()).at(m_path.string());
        return {};
    }
    base::Result<void> move() {
        std::error_code code;
        std::filesystem::rename(m_part, m_place, code);
        if (code) return base::runError("the file cannot be written", m_path.string());
        m_part.clear();
        return {};
    }

  private:
    std::filesystem::path m_path, m_place, m_part;
};

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
    made.graph = withOutputNames(made.graph, piece.document->outputs);
    const std::vector<Value> inputs = inputsOfForm(*piece.document->graph, piece.inputs, *made.graph);
    SONDE_TRY(verified(piece, made.graph, inputs, work));

    Document written = *piece.document;
    written.graph = made.graph;
    std::vector<io::NamedTensor> arrays;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].isTensor())
            arrays.emplace_back("in." + made.graph->node(made.graph->inputs()[i]).name, inputs[i].tensor());
    for (std::size_t i = 0; i < piece.outputs.size(); ++i)
        arrays.emplace_back("out." + made.graph->node(made.graph->outputs()[i]).name, piece.outputs[i].tensor());
    PieceValues values(result.values);
    SONDE_TRY(values.write(arrays));
    SONDE_ASSIGN(const WrittenExport model, writeExport(written, ExportChoice{ExportFormat::Onnx}, path, inputs, work));
    if (const auto moved = values.move(); !moved) {
        std::error_code ignored;
        for (const std::filesystem::path& file : model.files) std::filesystem::remove(file, ignored);
        return moved.error();
    }
    // As whoever opens the file has it: with the types that it declares another kernel may be the best one.
    SONDE_ASSIGN(const auto opened, document::open(path.string(), {}, work));
    SONDE_ASSIGN(result.maxAbsolute, verified(piece, opened->graph, inputs, work));
    result.inputs = inputs.size();
    result.outputs = piece.outputs.size();
    result.operations = piece.operations;
    result.notes = std::move(made.notes);
    result.notes.insert(result.notes.end(), model.notes.begin(), model.notes.end());
    return result;
}

}  // namespace sonde::exporting
