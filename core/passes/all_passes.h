#pragma once

#include "core/passes/pass.h"

namespace sonde::passes {

// One function for each file; their entries stand in passes.cpp.
base::Result<std::size_t> attrToConstant(Rewrite& rewrite);
base::Result<std::size_t> backwardFoldScale(Rewrite& rewrite);
base::Result<std::size_t> fixInputShape(Rewrite& rewrite);
base::Result<std::size_t> foldConstant(Rewrite& rewrite);
base::Result<std::size_t> fuseAddMul(Rewrite& rewrite);
base::Result<std::size_t> fuseConvBn(Rewrite& rewrite);
base::Result<std::size_t> fuseQuantized(Rewrite& rewrite);
base::Result<std::size_t> mergeDuplicates(Rewrite& rewrite);
base::Result<std::size_t> normElemWise(Rewrite& rewrite);
base::Result<std::size_t> removeDeadCode(Rewrite& rewrite);
base::Result<std::size_t> removeIdentity(Rewrite& rewrite);
base::Result<std::size_t> removeInplacePass(Rewrite& rewrite);
base::Result<std::size_t> removeUnnecessarySlicesPass(Rewrite& rewrite);
base::Result<std::size_t> simplifyArithmetic(Rewrite& rewrite);

}  // namespace sonde::passes
