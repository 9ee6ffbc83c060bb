#pragma once

// What can be said of a graph and of runs of it: types, parameters, comparisons, problems, profiles, queries.

#include "core/analysis/bad_values.h"
#include "core/analysis/bisect.h"
#include "core/analysis/compare.h"
#include "core/analysis/conformance.h"
#include "core/analysis/infer.h"
#include "core/analysis/match.h"
#include "core/analysis/measured_runs.h"
#include "core/analysis/model_target.h"
#include "core/analysis/node_measures.h"
#include "core/analysis/operator_cost.h"
#include "core/analysis/parameters.h"
#include "core/analysis/problems.h"
#include "core/analysis/profile.h"
#include "core/analysis/query/query.h"
#include "core/analysis/reach.h"
#include "core/analysis/tensor_stats.h"
