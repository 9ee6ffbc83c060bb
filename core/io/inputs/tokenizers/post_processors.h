#pragma once

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

/// "post_processor" of a tokenizer.json, for one text. A new one is a row of the table at the end of
/// post_processors.cpp.
base::Result<Template> readPostProcessor(const JsonPlace& place);

}  // namespace sonde::io
