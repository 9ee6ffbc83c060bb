#pragma once

// The front door: opens models of every format, with their inputs, references and weights.

#include "core/document/document.h"
#include "core/document/document_json.h"
#include "core/document/evaluator.h"
#include "core/document/input_infos.h"
#include "core/document/native_library.h"
#include "core/document/optimize.h"
#include "core/document/reference.h"
#include "core/document/repeated_trace.h"
#include "core/document/test_cases.h"
#include "core/document/tracers.h"
#include "core/document/weights.h"
