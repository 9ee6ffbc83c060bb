#pragma once

// Modules and tracers: from a forward to a graph.

#include "core/trace/attempt.h"
#include "core/trace/concrete_run.h"
#include "core/trace/control_recorder.h"
#include "core/trace/custom_cond.h"
#include "core/trace/custom_proxy.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/error.h"
#include "core/trace/listing.h"
#include "core/trace/module.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/record.h"
#include "core/trace/robust_tracer.h"
#include "core/trace/traced_module.h"
#include "core/trace/tracer.h"
#include "core/trace/var.h"
