#pragma once

#include "core/layout/compose/layout_draft.h"

namespace sonde::layout::compose {

/// Orders the ports in the borders of boxes as their values are read: where two values come together in one consumer,
/// directly or through other operations, that of the earlier argument stands first. Values that come into an open box
/// are read inside it, those that leave a module in the level around it. Where nothing says otherwise they are in the
/// order of first use. Linear in the levels' edges for readers of few arguments, and for each module with several
/// values.
void orderPorts(LayoutDraft& draft);

}  // namespace sonde::layout::compose
