#pragma once

#include "core/analysis/quantization.h"
#include "core/session/tokens/token_names.h"

namespace sonde::session {

/// A value of a run, with what is known around it.
struct ReadValue {
    tensor::Tensor tensor;
    const analysis::Quantization* quantization = nullptr;  ///< null: none is known
    const TokenNames* tokens = nullptr;                    ///< null: none are known
    int rate = 0;                                          ///< samples per second of a recording; 0: not known
};

}  // namespace sonde::session
