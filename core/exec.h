#pragma once

// Plans of runs, runs, and what they record.

#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/exec/run.h"
#include "core/exec/runner.h"
