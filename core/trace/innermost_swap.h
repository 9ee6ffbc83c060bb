#pragma once

namespace sonde::trace {

class FunctionSwap;

/// The swap that was made last on this thread and is in force; null: there is none.
const FunctionSwap*& innermostSwap();

}  // namespace sonde::trace
