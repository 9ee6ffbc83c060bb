#pragma once

// What everything is built on: results and errors, diagnostics, progress and stopping, threads, mapped files.

#include "core/base/diagnostics.h"
#include "core/base/error.h"
#include "core/base/id.h"
#include "core/base/mapped_file.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/base/thread_pool.h"
#include "core/base/version.h"
