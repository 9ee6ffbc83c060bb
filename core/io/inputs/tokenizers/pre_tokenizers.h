#pragma once

#include "core/io/inputs/tokenizers/json_place.h"
#include "core/io/inputs/tokenizers/pipeline.h"

namespace sonde::io {

/// Words between blanks; every punctuation mark is a word of its own (BERT).
PreTokenizer bertPreTokenizer();
/// Words between blanks.
PreTokenizer blankPreTokenizer();

/// "pre_tokenizer" of a tokenizer.json. A new one is a row of the table at the end of pre_tokenizers.cpp.
base::Result<PreTokenizer> readPreTokenizer(const JsonPlace& place);

}  // namespace sonde::io
