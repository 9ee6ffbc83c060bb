#pragma once

#include <span>
#include <vector>

#include "core/analysis/compared_values.h"

namespace sonde::analysis {

/// Which rows of a case are of other nodes of the reference than their names say, where the reference was recorded by
/// another tool, which counts names up ("add_1") in another way. What agrees is none, nor what has the name of its
/// module. Of the others these are:
///  - what has another shape;
///  - what differs although all that is computed from it and has a sure name, the model's outputs among that, agrees;
///  - what differs, or has no value, if all outputs of the case agree;
///  - what differs and is counted up from the same name as one of those: the numbers are shifted.
/// Linear in the graph and the rows. Of a run that came to its end.
std::vector<bool> namesOfOthers(const graph::InternalGraph& graph, std::span<const ComparedValue> values);

}  // namespace sonde::analysis
