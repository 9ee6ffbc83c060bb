#pragma once

// Passes that change a graph.

#include "core/passes/gradient.h"
#include "core/passes/pass.h"
#include "core/passes/report.h"
