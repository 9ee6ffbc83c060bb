#pragma once

#include "core/tensor/value.h"

namespace sonde::trace {

/// An object of a program while it runs, which may hold proxies: modules hand it to each other, but it cannot be part
/// of a graph. Using it as an argument of an operation throws TraceError.
class LiveObject : public tensor::ObjectBase {};

}  // namespace sonde::trace
