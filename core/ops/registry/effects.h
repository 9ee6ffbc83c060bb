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

}  // namespace sonde::ops
