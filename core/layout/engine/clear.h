#pragma once

#include "core/layout/engine/rows.h"

namespace sonde::layout {

/// Leads edges that run through boxes which are not theirs round them: through the gaps between rows, and inside rows
/// through the free place closest to where they ran. Top-down. `rows` is the row of each box. Edges stay as they are
/// where rows overlap.
void clearEdges(const BoxGraph& graph, BoxLayout& layout, const std::vector<Row>& rows);

}  // namespace sonde::layout
