#pragma once

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// Inference for operators of torch that have no rule of their own: the kernel runs on made-up numbers of the shapes
/// that are known, and what it gives has the types of the outputs. Dimensions that are not known get trial sizes; an
/// dimension of the result that follows them as a sum or as a product is written in their symbols, any other one that
/// changes stays open. What only the schema tells (a number, a list) is set even where nothing can be tried. Bounded in
/// memory; leaves the outputs open where dimensions depend on the data.
void inferByTrial(const OpDef& op, InferContext& context);

/// Gives every row of domains aten and prim that has a kernel and no inference this one. Called last.
void defineTrials(Registry& registry);

}  // namespace sonde::ops
