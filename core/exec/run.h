#pragma once

// Everything that running a graph takes, for programs that embed the engine.

#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/exec/runner.h"
