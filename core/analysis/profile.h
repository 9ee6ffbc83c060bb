#pragma once

#include <filesystem>
#include <string>

#include "core/exec/recording.h"

namespace sonde::analysis {

/// A recording's times in the Trace Event Format that chrome://tracing and Perfetto read ("JSON Object Format";
/// complete events, microseconds): one event for each expr that ran, with its operator, qualname and state. Beside the
/// events, under "profiler", the sums by operator: how many ran, their time in nanoseconds, and the bytes of their
/// results as far as known.
std::string profileJson(const graph::InternalGraph& graph, const exec::Recording& recording);
base::Result<void> writeProfile(const std::filesystem::path& path, const graph::InternalGraph& graph,
                                const exec::Recording& recording);

}  // namespace sonde::analysis
