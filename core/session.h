#pragma once

// One open model as a debugger has it: inputs, points, runs, values, comparisons, problems; no window.

#include "core/session/debug/accesses.h"
#include "core/session/debug_commands.h"
#include "core/session/edits/edit_line.h"
#include "core/session/edits/edited_model.h"
#include "core/session/export_preview.h"
#include "core/session/expressions.h"
#include "core/session/load_and_run/load_and_run.h"
#include "core/session/observer.h"
#include "core/session/session.h"
