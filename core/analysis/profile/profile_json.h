#pragma once

#include <filesystem>
#include <string>

#include "core/analysis/profile/run_profile.h"

namespace sonde::analysis {

/// "values", "blocks", "packed weights" …: how kinds of memory are called everywhere.
std::string_view memoryKindText(base::MemoryKind kind);
/// Who keeps memory alive: "conv1, relu (until layer1_conv1 has read it)".
std::string aliveText(const RunProfile& profile, const AliveMemory& memory);

/// One object: {"format":"sonde-profile","version":1,…} with all figures of nodes, modules and memory. Times in
/// nanoseconds, memory in bytes; what is not known is left out.
std::string profileFiguresJson(const RunProfile& profile);

/// A profile in the Trace Event Format ("JSON Object Format") that chrome://tracing and Perfetto read: the process and
/// its threads named, a complete event (microseconds) for each operation and module call, nested by time, and the
/// memory as a counter. Beside the events the sums by operator under "profiler", as in profileJson(), and the figures
/// of profileFiguresJson() under "profile".
std::string traceEventsJson(const RunProfile& profile);
/// Errors (Run): the file cannot be written.
base::Result<void> writeTraceEvents(const std::filesystem::path& path, const RunProfile& profile);

}  // namespace sonde::analysis
