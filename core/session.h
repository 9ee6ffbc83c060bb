#pragma once

// One open model as a debugger has it: inputs, points, runs, values, comparisons, problems; no window.

#include "core/session/observer.h"
#include "core/session/session.h"
