#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/model_cost.h"
#include "core/analysis/profile/machine_limits.h"
#include "core/analysis/profile/memory_profile.h"
#include "core/exec/recording.h"
#include "core/graph/module_tree.h"

namespace sonde::analysis {

/// FLOPs and bytes of what was measured; empty where they are not known (analysis::ModelCost).
struct MeasuredCost {
    std::optional<double> flops, bytes;

    void add(const MeasuredCost& other);
    std::optional<double> intensity() const;  ///< FLOPs by byte
    /// FLOPs or bytes by second; empty without time.
    std::optional<double> flopRate(std::int64_t ns) const;
    std::optional<double> byteRate(std::int64_t ns) const;
};

/// All the times of one operation together. Nanoseconds; starts and ends from the run's start.
struct ProfiledExpr {
    graph::ExprId expr;
    std::size_t module = 0;  ///< index in the tree
    std::int64_t count = 0;
    std::int64_t totalNs = 0;
    std::int64_t selfNs = 0;  ///< totalNs without what ran inside of it
    std::int64_t startNs = 0, endNs = 0;
    /// Of its threads' time the part that they worked, 0 to 1: (selfNs + Σ work of the other threads) / (threads ·
    /// selfNs). The thread that runs the model counts as working.
    double threadUse = 0;
    ExprMemory memory;
    MeasuredCost cost;       ///< of itself, of all inside of it, and of those that its kernel did too
    bool isOwner = false;    ///< a call, a branch or a loop: what it takes is that of the operations inside
    graph::ExprId doneWith;  ///< the operation whose kernel did this one's work; its time is in that one's

    /// The time that `cost` took.
    std::int64_t costNs() const { return isOwner ? totalNs : selfNs; }
};

/// A module with everything below it; self: its own operations only.
struct ProfiledModule {
    std::int64_t totalNs = 0, selfNs = 0;
    std::size_t operations = 0, ownOperations = 0;  ///< that ran
    std::int64_t valueBytes = 0;
    MeasuredCost cost;
};

/// A piece of the timeline: an operation, or a module's call (a scope with operations that ran one after the other).
struct ProfileSpan {
    graph::ExprId expr;
    graph::ScopeId scope;  ///< only if there is no expr
    std::int64_t beginNs = 0, endNs = 0;
    std::uint32_t depth = 0;
};
/// A thread of the pool worked on a piece of a loop.
struct ProfileWork {
    std::size_t thread = 0;
    std::int64_t beginNs = 0, endNs = 0;
};

/// One run of a model: where the time went, what was in memory and why.
struct RunProfile {
    std::string model;                                  ///< title
    std::shared_ptr<const graph::InternalGraph> graph;  ///< with the types of the run
    std::shared_ptr<const graph::ModuleTree> tree;
    std::size_t threads = 0;
    bool isFused = false;  ///< as a plain run: element-wise operations in the kernel before them
    std::int64_t totalNs = 0;
    std::int64_t betweenNs = 0;           ///< totalNs − Σ selfNs: choosing, checking, keeping
    std::vector<ProfiledExpr> exprs;      ///< that ran, in the order of their starts
    std::vector<std::uint32_t> rowOf;     ///< by ExprId: index in `exprs` + 1; 0: it did not run
    std::vector<ProfiledModule> modules;  ///< by index in the tree
    MemoryProfile memory;
    std::vector<ProfileSpan> spans;  ///< by begin, outer before inner
    std::vector<ProfileWork> work;   ///< of the threads besides the one that runs the model
    std::size_t missingSteps = 0;    ///< that are in sums, not in `spans`
    std::size_t missingWork = 0;     ///< pieces that are in sums, not in `work`
    std::vector<std::string> notes;  ///< what is not known or left out
    std::optional<MachineLimits> limits;
    std::size_t growthBytes = 0;  ///< of VmHWM while it ran: what the system says; 0: it does not tell

    /// Null if it did not run.
    const ProfiledExpr* of(graph::ExprId expr) const;
    std::string nameOf(graph::ExprId expr) const;  ///< of its first result, as nodes are named everywhere
};

/// What a profile is made from.
struct ProfileSource {
    std::string model;
    std::shared_ptr<const graph::InternalGraph> graph;  ///< with the types of the run, see typedFor()
    std::shared_ptr<const graph::ModuleTree> tree;
    std::size_t threads = 1;
    bool isFused = false;
    std::size_t growthBytes = 0;
};

/// A run is traced for its profile while `trace` is current (exec::RunTrace::Scope): of a loop with any number of
/// iterations in bounded memory.
struct ProfiledRun {
    MemoryReplay memory;
    exec::RunTrace trace{memory};
};

RunProfile profileOf(const ProfileSource& source, ProfiledRun& run, const exec::Recording& recording);

}  // namespace sonde::analysis
