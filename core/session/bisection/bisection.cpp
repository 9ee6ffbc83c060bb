#include "core/session/bisection/bisection.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/analysis/compared_values.h"
#include "core/analysis/model_target.h"
#include "core/document/without_writes.h"
#include "core/export/piece.h"
#include "core/graph/source_files.h"
#include "core/ort/target.h"
#include "core/ort/work_folder.h"
#include "core/session/bisection/default_inputs.h"
#include "core/session/bisection/edits_in_part.h"
#include "core/session/bisection/reference_target.h"
#include "core/session/precision/bisect_target.h"

namespace sonde::session::bisection {

using analysis::BisectModel;
using document::Document;
using graph::NodeId;
using tensor::Value;

namespace {

/// One search: the targets differ in what is run, and on what.
class Search {
  public:
    Search(const Request& request, const base::WorkContext& work)
        : m_request(request), m_work(work), m_runner(request.threads) {}

    base::Result<Outcome> run(const Target& target) {
        m_outcome.seed = m_request.seed;
        m_outcome.inputs = m_request.inputs;
        // What is given to an operation must not be what another one wrote to meanwhile.
        SONDE_ASSIGN(m_outcome.document, document::withoutWrites(m_request.document, m_work));
        SONDE_TRY(std::visit([this](const auto& one) { return search(one); }, target));
        SONDE_TRY(graph::checkFiles(m_outcome.document->graph));
        const analysis::Bisection& found = m_outcome.found;
        // What the model is compared with has its edits too, unless it is another one or what was recorded.
        if (found.differs && m_outcome.edit.empty() && (m_outcome.likeness || m_outcome.isReference)) {
            SONDE_ASSIGN(m_outcome.edit, editInPart(m_outcome.document->graph, found.from, found.node));
        }
        if (found.differs && m_outcome.edit.empty()) m_outcome.edit = editedWeight();
        noteUnreadEdits(*m_outcome.document);
        if (!m_outcome.found.differs)
            for (std::string& note : notesOnZeros(*m_outcome.document->graph, m_outcome.inputs))
                m_outcome.found.notes.push_back(std::move(note));
        return std::move(m_outcome);
    }

  private:
    BisectModel model() const { return {m_outcome.document->graph, m_outcome.inputs, m_outcome.seed}; }

    base::Result<void> bisect(const BisectModel& model, analysis::BisectTarget& target) {
        SONDE_ASSIGN(m_outcome.found, analysis::bisect(model, target, m_request.tolerances, m_runner, m_work));
        return {};
    }

    void noteUnreadEdits(const Document& document) {
        for (std::string& note : notesOnUnreadEdits(document)) m_outcome.found.notes.push_back(std::move(note));
    }

    /// Of weights that both models have an edit of only those that differ.
    std::string editedWeight() const {
        if (m_outcome.isReference) return editedWeightIn(*m_outcome.document->graph, m_outcome.found.operations);
        for (const DifferingWeight& weight : m_outcome.weights)
            if (!weight.edit.empty()) return weight.edit;
        return {};
    }

    base::Result<void> search(const OtherModel& other) {
        SONDE_ASSIGN(const auto document, document::withoutWrites(other.document, m_work));
        const bool areNamesakes = document->title == m_outcome.document->title;
        const auto titleOf = [&](const Document& one) { return areNamesakes ? one.location : one.title; };
        BisectModel own = model();
        own.title = m_outcome.title = titleOf(*m_outcome.document);
        BisectModel second{document->graph, {}, own.seed, {}, titleOf(*document)};
        SONDE_ASSIGN(second.inputs, analysis::inputsLike(own, *document->graph, second.title));
        analysis::ModelTarget target(*own.graph, second, m_runner);
        SONDE_TRY(bisect(own, target));
        SONDE_TRY(graph::checkFiles(document->graph));
        m_outcome.likeness = likenessOf(*own.graph, *document->graph, target);
        m_outcome.other = m_outcome.ran = document->title;
        noteUnreadEdits(*document);
        if (!m_outcome.found.differs) return {};
        const NodeId node = target.counterpart(m_outcome.found.node);
        m_outcome.otherNode = document->graph->node(node).name;
        std::vector<NodeId> from;
        for (const NodeId each : m_outcome.found.from) from.push_back(target.counterpart(each));
        m_outcome.weights = differingWeights(*own.graph, m_outcome.found.operations, *document->graph,
                                             [&](NodeId each) { return target.counterpart(each); });
        // What the part begins with is there what it ends with: the first model alone has the edit between them.
        const bool isOwnEdit = !m_outcome.found.operations.empty() && std::ranges::find(from, node) != from.end();
        if (!isOwnEdit) {
            SONDE_ASSIGN(m_outcome.edit, editInPart(document->graph, from, node));
        }
        if (!hasPiece(m_outcome))
            m_outcome.found.notes.emplace_back("what differs is an input, before anything reads it: there is no piece");
        return {};
    }

    base::Result<void> search(const LowerPrecision& lower) {
        const BisectModel own = model();
        SONDE_ASSIGN(auto chosen, precision::chosenBy(*own.graph, lower.options.queries));
        const precision::NumberType type = lower.options.type;
        precision::PrecisionTarget target(own, precision::simulate(own.graph, std::move(chosen), lower.options), type,
                                          m_runner);
        SONDE_TRY(bisect(own, target));
        m_outcome.other = m_outcome.ran = precision::name(type);
        return {};
    }

    base::Result<void> search(const OtherEngine& engine) {
        auto folder = std::make_shared<ort::WorkFolder>();
        SONDE_TRY(folder->make());
        SONDE_ASSIGN(m_outcome.document,
                     ort::onnxForm(m_outcome.document, m_outcome.inputs, folder->path(), m_request.hasEdits, m_work));
        m_outcome.folder = std::move(folder);
        ort::EngineTarget target(m_outcome.document, m_outcome.inputs, engine.options);
        SONDE_TRY(bisect(model(), target));
        m_outcome.other = m_outcome.ran = "ONNX Runtime " + target.version();
        return {};
    }

    base::Result<void> search(const ReferenceFile& file) {
        SONDE_ASSIGN(ReferenceCase found,
                     referenceCase(*m_outcome.document, file.path, m_request.tolerances, m_runner, m_work));
        m_outcome.inputs = std::move(found.inputs);
        BisectModel expected = model();
        expected.values = std::move(found.values);
        analysis::ModelTarget target(*expected.graph, model(), m_runner);
        SONDE_TRY(bisect(expected, target));
        SONDE_TRY(base::checkUnchanged(found.files, "reference file"));
        m_outcome.other = std::filesystem::path(file.path).filename().string();
        if (!found.label.empty() && m_outcome.other.find('#') == std::string::npos)
            m_outcome.other += '#' + found.label;
        m_outcome.ran = "the model";
        m_outcome.isReference = true;
        return {};
    }

    const Request& m_request;
    const base::WorkContext& m_work;
    exec::Runner m_runner;
    Outcome m_outcome;
};

}  // namespace

base::Result<Outcome> bisect(const Request& request, const Target& target, const base::WorkContext& work) {
    return Search(request, work).run(target);
}

bool hasPiece(const Outcome& outcome) { return outcome.found.differs && !outcome.found.operations.empty(); }

base::Result<exporting::WrittenPiece> writePiece(const Outcome& outcome, const std::string& path,
                                                 const base::WorkContext& work) {
    if (!outcome.found.differs) return base::usageError("the outputs agree: there is no part that differs");
    if (!hasPiece(outcome)) return base::usageError("what differs is an input: there is no piece to write");
    const Document& document = *outcome.document;
    exporting::PieceEnds ends;
    for (const NodeId node : outcome.found.from) {
        const auto& inputs = document.graph->inputs();
        if (std::ranges::find(inputs, node) == inputs.end()) ends.from.push_back(node);
    }
    ends.to = {outcome.found.node};
    ends.mayBeginEarlier = true;
    SONDE_ASSIGN(const exporting::Piece piece, exporting::cutPiece(document, ends, outcome.inputs, outcome.seed, work));
    SONDE_ASSIGN(exporting::WrittenPiece written, exporting::writePiece(piece, path, work));
    for (const std::string& name : piece.earlier)
        written.notes.push_back(
            {base::Severity::Info, "the piece begins before '" + name + "', which is no tensor", {}, {}});
    return written;
}

std::optional<FarthestElement> farthestElement(const Outcome& outcome) {
    const auto own = analysis::asTensor(outcome.found.own), other = analysis::asTensor(outcome.found.other);
    if (!own || !other || own->shape() != other->shape()) return std::nullopt;
    if (tensor::isComplex(own->dtype()) || own->dtype() == tensor::DType::String) return std::nullopt;
    if (tensor::isComplex(other->dtype()) || other->dtype() == tensor::DType::String) return std::nullopt;
    const auto ownRow = own->contiguous(), otherRow = other->contiguous();
    if (!ownRow || !otherRow) return std::nullopt;
    const tensor::Tensor &a = *ownRow, &b = *otherRow;
    double largest = 0;
    std::int64_t at = -1;
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        const double x = a.toDouble(i), y = b.toDouble(i);
        const bool isSame = x == y || (std::isnan(x) && std::isnan(y));
        const double apart = isSame ? 0 : std::isfinite(x - y) ? std::abs(x - y) : INFINITY;
        if (apart <= largest) continue;
        largest = apart;
        at = i;
    }
    if (at < 0) return std::nullopt;
    FarthestElement found{std::vector<std::int64_t>(a.rank()), a.toDouble(at), b.toDouble(at)};
    for (std::size_t i = a.rank(); i-- > 0; at /= a.dim(i)) found.index[i] = at % a.dim(i);
    return found;
}

}  // namespace sonde::session::bisection
