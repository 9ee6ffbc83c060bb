#pragma once

// Plans of runs, runs, and what they record.

#include "core/exec/dependants.h"
#include "core/exec/plan.h"
#include "core/exec/recompute.h"
#include "core/exec/recording.h"
#include "core/exec/rerun.h"
#include "core/exec/row_memory.h"
#include "core/exec/run.h"
#include "core/exec/runner.h"
