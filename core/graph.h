#pragma once

// Graphs of a model, with the tree of its modules.

#include "core/graph/guard.h"
#include "core/graph/ids.h"
#include "core/graph/internal_graph.h"
#include "core/graph/module_tree.h"
#include "core/graph/scope_output.h"
#include "core/graph/source_files.h"
#include "core/graph/traits.h"
