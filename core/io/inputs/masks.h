#pragma once

#include "core/io/inputs/input_info.h"

namespace sonde::io {

/// A tensor of bools or integers called "attention_mask" or the like: 1 for what counts, as tokenizers write it. By
/// default such an input is 1 everywhere, so that it hides nothing.
bool isMask(const InputInfo& input);

}  // namespace sonde::io
