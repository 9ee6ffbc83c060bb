#pragma once

#include <cstdint>
#include <string>

#include "core/base/progress.h"
#include "core/document/document_types.h"

namespace sonde::session::outputs {

/// What is known of where a model's weights come from.
enum class WeightOrigin : std::uint8_t {
    Unknown,        ///< a file does not say it
    Random,         ///< of a built-in model without a file of weights: drawn when it was opened
    LooksUntrained  ///< most kernels are as PyTorch initialises them (finding suspicious-initialisation)
};

/// Random or Unknown: what can be told without looking at the weights.
WeightOrigin knownOrigin(const document::Document& document);

/// Looks at the weights, too, if they have at most kMaxLookedAtBytes. Linear in their bytes; blocks, on any thread.
inline constexpr std::int64_t kMaxLookedAtBytes = std::int64_t{256} << 20;
WeightOrigin lookedAtOrigin(const document::Document& document, const base::WorkContext& work = {});

/// What to say of it beside names; empty of Unknown.
std::string originText(WeightOrigin origin);

}  // namespace sonde::session::outputs
