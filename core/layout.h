#pragma once

// Pictures of graphs: what is shown, where it is, and export to DOT.

#include "core/layout/cache.h"
#include "core/layout/dot_export.h"
#include "core/layout/outline.h"
#include "core/layout/scene.h"
#include "core/layout/view_state.h"
#include "core/layout/workers.h"
