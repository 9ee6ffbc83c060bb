#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/exec/recompute_options.h"

namespace sonde::document {

/// A switch that the optimisation level decides unless it is set (dump.md, "Options of a trace").
enum class OptSwitch : std::uint8_t { Unset = 0, Off = 1, On = 2 };
std::string_view name(OptSwitch value);  ///< "UNSET", "OFF", "ON"

/// What fused operations may contain. This engine fuses element-wise operators to the operator before them, and neither
/// of these: the switches are kept and printed, and have no effect.
struct GraphOptConfig {
    OptSwitch jitFuseDimshuffle = OptSwitch::Unset;
    OptSwitch jitFuseReduce = OptSwitch::Unset;

    std::string text() const;  ///< "jit_fuse_dimshuffle=UNSET, jit_fuse_reduce=ON"
};

/// How a function is recorded and run, with MegEngine's names and defaults (dump.md, "Options of a trace").
struct TraceOptions {
    /// The recording call computes nothing while the function runs; then what was recorded is run. The function cannot
    /// read data: only what follows from the dtypes and shapes of the inputs is known.
    bool symbolic = false;
    /// Tensors that the function takes from outside of it are constants: another value is another program. All
    /// positional arguments and all outputs must be tensors. Required to dump.
    bool captureAsConst = false;
    /// Calls record and compare, and run nothing: they return no values. Implies captureAsConst and symbolic.
    bool recordOnly = false;
    /// 0: as recorded; 1: arithmetic is simplified; 2: constants are folded as well, norms join their convolutions, and
    /// duplicates, identities and dead code go; 3 and above: element-wise operators are fused to the one before them.
    /// Below 3 each operator runs by itself. Negative: as the positive level, and each run is compared with one of what
    /// was recorded (1e-4 absolute and relative).
    int optLevel = 2;
    GraphOptConfig graphOptConfig;
    /// Shapes that the function reads are nodes; off: they are integers of the recording, and other shapes of the
    /// inputs are other programs.
    bool symbolicShape = true;
    /// Runs of the compiled form leave times (RepeatedTrace::getProfile).
    bool profiling = false;
    /// The function is called once. Later calls run its recording on the new inputs; guards stop them where the
    /// function would decide otherwise.
    bool withoutHost = false;
    /// Later calls replay what was recorded, operator by operator, instead of compiling it: optLevel has no effect.
    bool imperative = false;

    /// The compiled form computes values again instead of keeping them (dump.md, "Less memory"): checkpoints in
    /// segments, or eviction under a limit; one of the two. It is made for the shapes of the first compiled call.
    std::optional<exec::SublinearOptions> sublinearMemoryConfig;
    std::optional<exec::DtrOptions> dtrConfig;

    /// Usage errors: both of them, values that they do not take, or one of them where nothing is compiled.
    base::Result<void> check() const;
    bool isSymbolic() const { return symbolic || recordOnly; }
    bool capturesConstants() const { return captureAsConst || recordOnly; }
    int level() const { return optLevel < 0 ? -optLevel : optLevel; }
};

/// A property of the document of a recorded function: the level of its TraceOptions, without its sign.
inline constexpr std::string_view kOptLevelProperty = "opt_level";

/// From this level on element-wise operators are fused.
inline constexpr int kFusingLevel = 3;

/// The passes that a level runs, in order (ids of passes::passes()).
std::vector<std::string> passesOfLevel(int level);

}  // namespace sonde::document
