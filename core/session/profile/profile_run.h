#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/profile/run_profile.h"
#include "core/analysis/run_edits.h"
#include "core/document/document_types.h"

namespace sonde::session {

struct ProfileRequest {
    std::vector<tensor::Value> inputs;  ///< in the order of the graph's inputs, before edits
    std::size_t threads = 0;            ///< 0: one per processor
    std::uint64_t seed = 0;
    std::size_t repeat = 1;      ///< runs; the last one is what is told, with what the others left in memory
    bool isFused = false;        ///< as a plain run does it; else each operation by itself, with a time of its own
    bool isExact = false;        ///< see RunSettings::exact
    bool measuresLimits = true;  ///< see analysis::machineLimits()
    analysis::RunEdits edits = {};
};

/// Runs a model in a runner of its own and tells where time and memory went. Blocks, on any thread. Errors: those of
/// the run (Cancelled, Run …).
base::Result<std::shared_ptr<const analysis::RunProfile>> profileRun(const document::Document& document,
                                                                     const ProfileRequest& request,
                                                                     const base::WorkContext& work = {});

/// What a profile says, for people: the total, the slowest nodes and modules, the peak and what it is made of.
/// `lines`: of each table.
std::string profileText(const analysis::RunProfile& profile, std::size_t lines = 15);

}  // namespace sonde::session
