#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/document/document_types.h"

namespace sonde::session::bisection {

/// Rows of the smallest table that the integers of an input choose from, directly or after they were moved or
/// converted: one of an embedding, or of another lookup. Nothing: they reach none whose rows are known.
std::optional<std::int64_t> tableRows(const graph::InternalGraph& graph, graph::NodeId input);

/// Input data for a model that nothing is given for, as a specification (io::makeInputs): the usual one, but for
/// integers that choose from a table, which are drawn from all its rows: "ids:#rand(0,96);mask:#rand(0,1)". Empty:
/// there are none of these, and the usual one does.
std::string defaultInputs(const document::Document& document);

/// What the usual inputs, with 0 in place of integers, leave out: "input 'ids' is 0 everywhere, which is row 0 of 96:
/// …" for each that chooses from a table with further rows. Elsewhere 0 is as good as another number.
std::vector<std::string> notesOnDefaults(const graph::InternalGraph& graph, const std::vector<tensor::Value>& inputs);

/// "input 'ids' is 0 everywhere: that …" for each input of integers whose elements are all 0: two models that agree on
/// that may differ on all others.
std::vector<std::string> notesOnZeros(const graph::InternalGraph& graph, const std::vector<tensor::Value>& inputs);

}  // namespace sonde::session::bisection
