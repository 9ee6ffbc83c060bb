#pragma once

#include "core/nn/module.h"
#include "core/zoo/settings.h"

namespace sonde::zoo {

// Small models, each for something that tracing has to get right. They have no settings.

/// Operators and functions rather than modules: arithmetic with numbers, cat, slices, in-place updates, a parameter and
/// a buffer of the root. x [N,12] -> (score [N,16], gate [N]).
std::shared_ptr<nn::Module> mlpFunctional(const Settings& settings);
/// Modules called two and three times, and one registered under two names. x [N,12] -> [N,12].
std::shared_ptr<nn::Module> sharedTwice(const Settings& settings);
/// Lists, dictionaries and sequences of modules inside one another; buffers of many types; a dictionary as the result.
/// image [N,3,H,W] -> {mean [N,3], peak [N,2]}.
std::shared_ptr<nn::Module> nestedContainers(const Settings& settings);
/// Branches and loops on the data; runs as one opaque call. x [N,8] -> (y [N,8], steps [1] int64).
std::shared_ptr<nn::Module> controlFlow(const Settings& settings);
/// Two nested modules whose forward cannot be traced, in a model that can. image [1,3,H,W] -> logits [1,4].
std::shared_ptr<nn::Module> robustNested(const Settings& settings);

}  // namespace sonde::zoo
