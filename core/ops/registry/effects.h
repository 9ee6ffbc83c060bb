#pragma once

#include <string_view>

#include "core/ops/registry/registry.h"

namespace sonde::ops {

/// An operator with an effect does something besides making its outputs: it checks a value and may end the run, or
/// changes memory that others read. It runs in every plan that comes to it, whether anybody reads its outputs or not.
/// Sonde's own say so in their traits (core/operators); others beside their definition. For all versions of a name;
/// with the overload for ATen.
void addEffect(std::string_view domain, std::string_view name);
bool hasEffect(const OpDef& op);
/// An operator of PyTorch that the registry lacks, and that may write to what it is given: by its name in place
/// (`_foreach_add_`), or of a library of its own (`mylib.write`). A run must not go past it as if it were not there.
bool mayWriteUnknown(std::string_view domain, std::string_view name);

}  // namespace sonde::ops
