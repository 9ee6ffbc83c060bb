#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/inputs/inputs.h"

namespace sonde::io {

/// Values for inputs in the grammar of load-and-run's --input (dump.md, "Load and run"): items NAME:DATA, separated by
/// ';'. Without NAME it is "data", or the only input. DATA:
///   a.npy               an array
///   a.json              an object {"NAME": {"shape": [2,3], "type": "float32", "raw": [numbers]}} for any number of
///                       inputs; types float32 (float), int32 (int), int8, uint8; numbers are rounded for integers
///   a.ppm, a.pgm        the bytes of a picture, red first, as [1,H,W,3], or [1,H,W,1] of a grey one
///   [1,2,3], 1,2,3      numbers; dimensions of size 1 are added in front where the input has more
///   {2,3}               only a shape: every byte is 1
/// and what else giveInput() takes. Values are converted to the dtype of the input.
///
/// One value for each input, none where nothing is given; behind them one for each of `others`, which must be named.
/// Errors (Usage): no such input, an input that is given twice, data that cannot be read or contradicts what the model
/// declares.
base::Result<std::vector<tensor::Value>> toolInputs(std::string_view text, const std::vector<InputInfo>& inputs,
                                                    const InputOptions& options = {},
                                                    const std::vector<InputInfo>& others = {});

}  // namespace sonde::io
