#pragma once

#include "core/layout/compose/draft.h"

namespace sonde::layout::compose {

/// Orders the ports in the borders of open boxes as their values are read inside: where two values come together in one
/// reader, directly or through other operations, that of the earlier argument stands first. Where nothing says
/// otherwise they stand in the order of first use. Linear in the levels' edges for readers of few arguments.
void orderPortsIn(Draft& draft);

}  // namespace sonde::layout::compose
