#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/document/document_types.h"

namespace sonde::exporting {

using document::Document;

/// Where a piece of a model begins and ends.
struct PieceEnds {
    std::vector<graph::NodeId> from;  ///< become inputs of the piece, in this order, after those of the model
    std::vector<graph::NodeId> to;    ///< become its outputs; at least one
    /// A beginning that is no tensor is not one: the piece goes back to the tensors that it is computed from.
    bool mayBeginEarlier = false;
};

/// A part of a model as a model of its own, with the values that it had at its border in one run.
struct Piece {
    std::shared_ptr<const Document> document;  ///< names, modules and weights are those of the whole model
    std::vector<tensor::Value> inputs;         ///< one for each of the graph's inputs
    std::vector<tensor::Value> outputs;        ///< in the order of PieceEnds::to
    std::size_t operations = 0;                ///< what it computes
    std::vector<std::string> earlier = {};     ///< beginnings that the piece goes back behind, as they are no tensors
};

/// Cuts out what `to` needs, back to `from` or the model's inputs, and runs the model once on `inputs` (one value for
/// each of its graph's inputs) for the values at the border. Operations that write in place stay if they write to what
/// the piece has; the file's constants are shared. What a call returns is taken for the call's value, what it is given
/// for that value; a call that a border is inside of stands in the piece as what it computes. Errors (Usage): a node
/// inside of a branch or loop; a border value that is no tensor; an end that is an input, a constant, or also a
/// beginning; a beginning that no end depends on; random operators in between, whose values a piece cannot have. Errors
/// of the run.
base::Result<Piece> cutPiece(const Document& document, const PieceEnds& ends, std::span<const tensor::Value> inputs,
                             std::uint64_t seed = 0, const base::WorkContext& work = {});

}  // namespace sonde::exporting
