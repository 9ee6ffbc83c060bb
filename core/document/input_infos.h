#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/io/inputs/inputs.h"

namespace sonde::document {

/// What values of a document's inputs have to be, in the order of Document::inputs; where the file says nothing, with
/// what the layers tell of it.
std::vector<io::InputInfo> inputInfos(const Document& document);

/// The same with what a run requires of values (io::InputInfo::required): the type that the file declares; of a traced
/// model, whose input types are usual or recorded ones, the rank and what its layers cannot do without.
std::vector<io::InputInfo> requiredInputInfos(const Document& document);
/// Values of another rank than the layers take are the model's own affair, unless a run fails: "input 'x' expects
/// float32[x.0,3,x.2,x.3], got float32[7] (rank: 4 required by its layers, 1 given)" of the first such value, in the
/// order of the graph's inputs. Empty if there is none.
std::string otherRank(const Document& document, std::span<const tensor::Value> values);

/// An input of a dump whose operations were written for its sizes (io::dump::kFixedSizes).
bool hasFixedSizes(const graph::InternalGraph& graph, graph::NodeId input);

/// Whether a name is that of an input which needs no value: a parameter with a default, an initializer that the file
/// also lists as an input. For io::InputOptions::hasDefault.
std::function<bool(const std::string& name)> defaultsOf(const Document& document);

/// The type with the dim sizes that a first run takes, if anything tells how many there are.
tensor::TypeInfo usualType(const io::InputInfo& input);

}  // namespace sonde::document
