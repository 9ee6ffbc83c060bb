#pragma once

#include "core/layout/engine/box_graph.h"

namespace sonde::layout {

/// Puts equal open boxes that come one after another in one column. A line that goes straight from box to box drifts
/// aside with every box whose ports in and out are not in line, and a deep model would be drawn as a slope: where the
/// whole picture can be cut between two rows, what is below is moved instead, and the lines in the cut bend. Top-down.
void alignEqual(const BoxGraph& graph, BoxLayout& layout);

}  // namespace sonde::layout
